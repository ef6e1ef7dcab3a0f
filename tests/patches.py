"""Converts patches between the tuples of `jelly_patch_proto` and rdfm operations."""

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st
from logs import logs
from support import as_term, as_tuple

from rdfm import formats
from rdfm._core import PatchBatch

KEYS = ("", "id", "é\n")
PLAIN_KEYS = ("id", "prev")


def as_operation(operation: tuple) -> tuple:
    """Converts a `jelly_patch_proto` tuple to an rdfm operation."""
    code, *rest = operation
    if code in ("A", "D"):
        return (code, None, *map(as_term, rest))
    if code in ("H", "PA", "PD"):
        object_ = as_term(rest[1]) if code != "PD" else None
        graph = as_term(rest[-1]) if code != "H" else None
        return (code, rest[0], None, None, object_, graph)
    return (code, None, None, None, None, None)


def from_operation(operation: tuple) -> tuple:
    """Converts an rdfm operation to a `jelly_patch_proto` tuple."""
    code, name, *terms = operation
    subject, predicate, object_, graph = map(as_tuple, terms)
    return {
        "H": (code, name, object_),
        "PA": (code, name, object_, graph),
        "PD": (code, name, graph),
        "A": (code, subject, predicate, object_, graph),
        "D": (code, subject, predicate, object_, graph),
    }.get(code, (code,))


def as_batch(patches: Iterable[list[tuple]]) -> PatchBatch:
    return PatchBatch.from_patches([list(map(as_operation, patch)) for patch in patches])


def encode(patches: Iterable[list[tuple]], **options: Any) -> bytes:
    """Returns a complete Jelly-Patch log."""
    return formats.find("jelly-patch").encode(as_batch(patches), **options)


def decode(data: bytes, size: int, **options: Any) -> list[list[tuple]]:
    """Returns the patches of a valid log, read in pieces of the given size."""
    decoder = formats.find("jelly-patch").Decoder(**options)
    found: list[list[tuple]] = []

    def drain() -> None:
        while (batch := decoder.next_batch()) is not None:
            for at in range(len(batch)):
                found.append(list(map(from_operation, batch.operations(at))))

    for start in range(0, len(data), size):
        decoder.feed(data[start : start + size])
        drain()
    decoder.finish()
    drain()
    return found


@st.composite
def patches(draw, *, graphs: bool, plain: bool = False) -> list[list[tuple]]:
    """Draws patch logs in which added and deleted quads are mixed with all other operations.

    `plain` restricts the operations to those that all formats support, and puts headers first.
    """
    log = draw(logs(graphs=graphs, generalized=True))
    random = draw(st.randoms(use_true_random=False))
    found = []
    for message in log:
        patch: list[tuple] = []
        in_transaction = False
        iris = [term for quad in message for term in quad if term and term[0] == "iri"]
        for quad in message:
            kind = random.randrange(8)
            if kind == 0:
                patch.append((random.choice(["TC", "TA"]) if in_transaction else "TX",))
                in_transaction = not in_transaction
            elif kind == 1:
                header = ("H", random.choice(PLAIN_KEYS if plain else KEYS), quad[2])
                patch.insert(0 if plain else len(patch), header)
            elif kind == 2 and iris:
                patch.append(("PA", random.choice(["", "ex"]), random.choice(iris), quad[3]))
            elif kind == 3:
                patch.append(("PD", "ex", quad[3]))
            patch.append((random.choice("AD"), *quad))
        if in_transaction:
            patch.append(("TC",))
        found.append(patch)
    return found
