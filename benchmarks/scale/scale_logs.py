"""Generates logs like large real datasets, of any size, as a stream.

- In: a kind of log and a number of messages.
- Out: an N-Quads log, the same bytes on every machine; or a copy with a few changed messages.
- Cost: one message in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from generate import TextQuad, iot_messages, nanopub_messages, osm_messages

DELIMITER = "# @message\n"
OSM_NODES = 500


def large_osm_messages(count: int) -> Iterator[list[TextQuad]]:
    """Map data with 15,000 triples per message."""
    nodes = osm_messages(count * OSM_NODES)
    for _ in range(count):
        yield [quad for node in islice(nodes, OSM_NODES) for quad in node]


@dataclass(frozen=True)
class Kind:
    """A kind of log.

    Attributes:
        messages: Generates a number of messages.
        full: Number of messages of the real dataset.
        full_bytes: Approximate size of that many messages.
    """

    messages: Callable[[int], Iterator[list[TextQuad]]]
    full: int
    full_bytes: float


KINDS = {
    "officegraph": Kind(iot_messages, 14_900_000, 11.5e9),
    "nanopubs": Kind(nanopub_messages, 5_000_000, 32e9),
    "osm2rdf": Kind(large_osm_messages, 20_000, 40e9),
}


@dataclass(frozen=True)
class Counts:
    """The contents of a log, counted while it was generated or read as text."""

    messages: int
    quads: int


def write_log(path: Path, kind: str, count: int, *, changes: int = 0) -> Counts:
    """Write a log, in which `changes` evenly spaced messages have one more quad than usual."""
    step = count // changes if changes else 0
    quads = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number, message in enumerate(KINDS[kind].messages(count)):
            if number:
                file.write(DELIMITER)
            if changes and number % step == 0 and number < changes * step:
                subject, _, _, graph = message[0]
                message.append((subject, "<https://scale.example/changed>", '"yes"', graph))
            file.write("".join(" ".join(filter(None, quad)) + " .\n" for quad in message))
            quads += len(message)
    return Counts(count, quads)


class TextCounter:
    """Counts the messages and quads of an N-Quads log, independently of rdfm."""

    def __init__(self, delimiter: str = DELIMITER) -> None:
        self._delimiter = delimiter.encode()
        self._lines = self._delimiters = 0
        self._tail = b""

    def feed(self, piece: bytes) -> None:
        self._lines += piece.count(b"\n")
        window = self._tail + piece
        self._delimiters += window.count(self._delimiter)
        self._tail = window[-(len(self._delimiter) - 1) :]

    def counts(self) -> Counts:
        return Counts(self._delimiters + 1, self._lines - self._delimiters)
