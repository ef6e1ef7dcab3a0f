"""Keys that identify nanopublications.

In: the quads of a message. Out: its artifact code, or a hash if it has none.
Cost: usually one quad. Law: messages with different keys are different.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from rdfm._core import Iri, Quad

__all__ = ["compute_key", "is_code"]

_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_NANOPUB = "http://www.nanopub.org/nschema#Nanopublication"
_HASH = "sha256:"
_CODE = re.compile(r"(?<![A-Za-z0-9_-])RA[A-Za-z0-9_-]{43}$")


def compute_key(quads: Iterable[Quad]) -> str:
    """Return the artifact code of a nanopublication, or a hash of a message without one.

    Example:
        >>> compute_key([])[:14]
        'sha256:e3b0c44'
    """
    quads_so_far: list[Quad] = []
    for quad in quads:
        if (
            isinstance(quad.object, Iri)
            and quad.object.value == _NANOPUB
            and isinstance(quad.predicate, Iri)
            and quad.predicate.value == _TYPE
            and isinstance(quad.subject, Iri)
            and (code := _CODE.search(quad.subject.value)) is not None
        ):
            return code[0]
        quads_so_far.append(quad)
    lines = sorted(str(quad) for quad in quads_so_far)
    return f"{_HASH}{hashlib.sha256(chr(10).join(lines).encode()).hexdigest()}"


def is_code(key: str) -> bool:
    """Whether a key is an artifact code."""
    return not key.startswith(_HASH)
