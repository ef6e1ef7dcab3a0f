"""Shared test helpers: decoding in several ways, and messages as tuples."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nquads import DIR_LANG_STRING, LANG_STRING, XSD_STRING, isomorphic, relabelled

import rdfm
from rdfm import formats

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "spec-fixtures"
# Table formats, implemented in Python with pyarrow.
TABLES = ("parquet", "arrow")
# Message formats; patch and results formats have separate tests.
NATIVE = tuple(
    name
    for name in formats.names()
    if name not in TABLES and formats.find(name).spec.kinds == ("messages",)
)
# Formats that support several messages per log.
MULTI_MESSAGE_FORMATS = tuple(
    name for name in NATIVE if formats.find(name).spec.carries["boundaries"]
)
# Valid values of text options; files and contexts are read when a codec is created.
OPTION_TEXTS = {"context": "{}", "iri": "http://e/", "file": ".", "text": "x"}
PIECES = (1, 2, 3, 7, 4096)


def as_tuple(term: Any) -> tuple | None:
    """Converts an rdfm term to an `nquads` tuple."""
    if term is None:
        return None
    if isinstance(term, rdfm.Iri):
        return ("iri", term.value)
    if isinstance(term, rdfm.BlankNode):
        return ("bnode", term.value)
    if isinstance(term, rdfm.Literal):
        return ("literal", term.value, term.language, term.direction, term.datatype.value)
    parts = (term.subject, term.predicate, term.object)
    return ("triple", *(as_tuple(part) for part in parts))


def as_term(term: tuple | None) -> Any:
    """Converts an `nquads` tuple to an rdfm term."""
    if term is None:
        return None
    kind = term[0]
    if kind == "iri":
        return rdfm.Iri(term[1])
    if kind == "bnode":
        return rdfm.BlankNode(term[1])
    if kind == "triple":
        return rdfm.TripleTerm(*(as_term(part) for part in term[1:]))
    _, value, language, direction, datatype = term
    if datatype in (XSD_STRING, LANG_STRING, DIR_LANG_STRING):
        return rdfm.Literal(value, language=language, direction=direction)
    return rdfm.Literal(value, datatype=datatype)


def as_batch(messages: list[list[tuple]], first_message_index: int = 0) -> rdfm.MessageBatch:
    """Returns a batch of messages given as tuples."""
    return rdfm.MessageBatch.from_messages(
        [
            [rdfm.Quad(*(as_term(term) for term in quad)) for quad in message]
            for message in messages
        ],
        first_message_index=first_message_index,
    )


def quads_of(batch: rdfm.MessageBatch, message: int) -> list[tuple]:
    return [tuple(as_tuple(term) for term in quad) for quad in batch.quads(message)]


def outcome(make_decoder: Callable[[], Any], data: bytes, size: int) -> tuple[list, str | None]:
    """Decodes the input in pieces of the given size.

    Returns the messages with all their attributes, and the error text.
    """
    decoder = make_decoder()
    found: list = []

    def drain() -> None:
        while (batch := decoder.next_batch()) is not None:
            for at in range(len(batch)):
                quads, metadata = quads_of(batch, at), batch.metadata(at)
                found.append((quads, metadata, batch.namespaces(at), batch.byte_offset(at)))

    try:
        for start in range(0, len(data), size):
            decoder.feed(data[start : start + size])
            drain()
        decoder.finish()
        drain()
    except rdfm.DecodeError as error:
        with pytest.raises(rdfm.DecodeError) as repeated_error:
            decoder.next_batch()
        assert str(repeated_error.value) == str(error)
        return found, str(error)
    return found, None


def decode_every_way(
    make_decoder: Callable[[], Any], data: bytes, pieces: tuple[int, ...] = PIECES
) -> tuple[list[list[tuple]], str | None]:
    """Decodes the input at once and in pieces, and fails on any difference.

    Returns the quads of the messages, and the error text.
    """
    expected, error = outcome(make_decoder, data, max(len(data), 1))
    for size in pieces:
        assert outcome(make_decoder, data, size) == (expected, error), f"in pieces of {size} bytes"
    return [message[0] for message in expected], error


def decode(name: str, data: bytes, **options: Any) -> tuple[list[list[tuple]], str | None]:
    """Calls `decode_every_way` with the decoder of a format."""
    module = formats.find(name)
    return decode_every_way(lambda: module.Decoder(**options), data)


def decoded(name: str, data: bytes, **options: Any) -> list[list[tuple]]:
    """Returns the messages of a valid log, decoded at once."""
    module = formats.find(name)
    found, error = outcome(lambda: module.Decoder(**options), data, max(len(data), 1))
    assert error is None, error
    return [message[0] for message in found]


def encode(name: str, messages: list[list[tuple]], **options: Any) -> bytes:
    """Returns a complete log of messages given as tuples."""
    return formats.find(name).encode(as_batch(messages), **options)


def option_text(option: formats.OptionSpec) -> str:
    """Returns a valid value of an option as a string."""
    if option.choices:
        return option.choices[-1]
    if option.kind in ("count", "bytes"):
        number = 128 if option.name == "name_table" else 8  # the least that Jelly-SPARQL accepts
        return str(max(option.minimum, min(option.maximum, number)))
    return {
        "switch": "true",
        "namespaces": '{"ex": "http://e/"}',
        "files": '{"http://e/": "f"}',
    }.get(option.kind, OPTION_TEXTS.get(option.kind, "x"))


def ordered(*names: str) -> bool:
    """Whether all of these formats keep the order and repetitions of quads."""
    return all(formats.find(name).spec.carries["order"] for name in names)


def assert_same(
    found: list[list[tuple]], expected: list[list[tuple]], *, order: bool = True
) -> None:
    """Checks that logs contain equal messages in the same order, up to blank node labels.

    Without `order`, messages are compared as datasets.
    """
    for at, (ours, theirs) in enumerate(zip(found, expected, strict=False)):
        if order:
            assert relabelled(ours) == relabelled(theirs), f"message {at}"
        else:
            assert isomorphic(ours, theirs), f"message {at}: {ours} {theirs}"
    assert len(found) == len(expected), "the number of messages"
