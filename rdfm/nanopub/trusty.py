"""Trusty URIs of nanopublications, module RA.

In: messages. Out: the reasons why they are invalid, or artifact codes.
Cost: a hash of the text of each message, computed in the core without the GIL.
Law: the order and repetition of quads, prefixes and the case of language tags do not matter.
"""

from __future__ import annotations

from collections.abc import Iterable

from rdfm._core import MessageBatch, Quad, artifact_code_of_iri, verify_nanopubs
from rdfm._core import artifact_code as _artifact_code
from rdfm.message import Message

__all__ = ["artifact_code", "find_code", "verify"]


def verify(messages: MessageBatch | Iterable[Message]) -> list[str | None]:
    r"""Check the structure and the trusty URIs of nanopublications, one in each message.

    The four graphs are checked against the nanopublication guidelines, and the artifact code
    against version 1 of the trusty URI specification (module RA). Signatures are not verified; see
    `rdfm.nanopub.check`.

    Args:
        messages: A batch of complete messages, for example from `LogReader.batches`, or an
            iterable of messages. A batch is checked in one call without the GIL.

    Returns:
        For each message: None if it is a nanopublication with a correct artifact code, otherwise
        the first reason why it is not.

    Raises:
        ValueError: If the batch contains a part of a message.
        TypeError: If an item is not a message.

    Example:
        >>> import rdfm
        >>> log = b'<x:s> <x:p> <x:o> <x:g> .\n'
        >>> with rdfm.open_log(log, "nq") as opened:
        ...     verify(opened)
        ['no quad has rdf:type np:Nanopublication, expected one in the head']
    """
    return verify_nanopubs(_as_batch(messages))


def artifact_code(message: Message | Iterable[Quad], code: str | None = None) -> str:
    r"""Compute the artifact code of quads: `RA` and 43 characters.

    As in section "Module RA" of version 1 of the trusty URI specification, quads are sorted and
    written as text, and the text is hashed with SHA-256.

    Args:
        message: A message or quads.
        code: The artifact code to replace with a space in all IRIs, usually the one in the
            nanopublication's IRI. By default nothing is replaced, and IRIs must already contain
            the space.

    Raises:
        ValueError: If the quads have no code, because they contain a blank node, a triple term, a
            literal with a base direction, or an IRI with a tab or a line feed.

    Example:
        >>> import rdfm
        >>> log = b'<x:a> <x:p> "1" <x:g> .\n'
        >>> with rdfm.open_log(log, "nq") as opened:
        ...     artifact_code(next(iter(opened)))
        'RA67IerU2Dxm1DbP20SBF8U3U266xLHMp86YyA7YBAqqE'
    """
    return _artifact_code(MessageBatch.from_messages([message]), 0, code)


def find_code(iri: str) -> str | None:
    """Return the artifact code at the end of an IRI, of any module, or None.

    A code has at least 25 Base64url characters, and is preceded by a character outside that
    alphabet. A file suffix may follow the code (section "Artifact codes" of the trusty URI
    specification).

    Example:
        >>> find_code("http://example.org/n/RAH-UOollyCX32XCS7iHNUded59E3pDpu4wrHPcB-yy-8.trig")
        'RAH-UOollyCX32XCS7iHNUded59E3pDpu4wrHPcB-yy-8'
        >>> find_code("http://example.org/n/1") is None
        True
    """
    return artifact_code_of_iri(iri)


def _as_batch(messages: MessageBatch | Iterable[Message]) -> MessageBatch:
    if isinstance(messages, MessageBatch):
        if messages.continued or messages.continues:
            raise ValueError("the batch contains a part of a message, expected complete messages")
        return messages
    return MessageBatch.from_messages(messages)
