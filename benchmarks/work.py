"""Shared parts of benchmark tasks: the work to time, its input logs, and the rows of the table.

A task takes the data folder and a sample size in messages, and returns a `Work`. The preparation of
its data is not timed. Reading tasks read the bytes of a log in memory. Writing tasks start from the
library's own objects and write into a `NullFile`, on both sides.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

OXIGRAPH_FORMATS = {
    "nt": "N_TRIPLES",
    "nq": "N_QUADS",
    "ttl": "TURTLE",
    "trig": "TRIG",
    "jsonld": "JSON_LD",
    "rdfxml": "RDF_XML",
}
PIECE_BYTES = 1 << 18


@dataclass(frozen=True)
class Work:
    """The work to time.

    Attributes:
        run: Does the work and returns the number of quads.
        log_bytes: Size of the log that is read or written, if known beforehand.
        size: For writing work, returns the number of bytes that the last `run` wrote.
        prepare: Creates the data that the next `run` consumes. Its time is not measured.
    """

    run: Callable[[], int]
    log_bytes: int = 0
    size: Callable[[], int] | None = None
    prepare: Callable[[], None] | None = None


class NullFile(io.RawIOBase):
    """A file to which both sides write. It counts bytes and discards them.

    Attributes:
        size: Bytes written.
    """

    def __init__(self) -> None:
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.size += len(data)
        return len(data)


def writing_work(write: Callable[[IO[bytes]], int]) -> Work:
    """Work that writes a log into a file, and returns the number of quads.

    The output is buffered, as in any file opened by Python, because some libraries write small
    pieces.
    """
    file = NullFile()

    def run() -> int:
        nonlocal file
        file = NullFile()
        with io.BufferedWriter(file, 1 << 16) as out:
            return write(out)

    return Work(run, size=lambda: file.size)


Task = Callable[[Path, int], Work]
Side = TypeVar("Side")


def sample(folder: Path, log: str, messages: int) -> bytes:
    """The first messages of a text log, or the entire log if `messages` is 0."""
    data = (folder / log).read_bytes()
    if messages:
        position = -1
        for _ in range(messages):
            position = data.find(b"# @message", position + 1)
            if position < 0:
                return data
        data = data[:position]
    return data


def batches(
    format: str, data: bytes, *, parts: bool = False, skip_lines: bool = False, **options: Any
) -> Iterator[Any]:
    """Decodes a log in memory, in pieces like a file.

    With `parts`, large messages are divided. `skip_lines` is for logs without invalid lines.
    """
    from rdfm import formats

    opening = formats.Opening("always" if parts else "never", skip_lines=skip_lines)
    decoder = formats.find(format).decoder(options, opening)
    view = memoryview(data)
    for start in range(0, len(data), PIECE_BYTES):
        decoder.feed(view[start : start + PIECE_BYTES])
        while (batch := decoder.next_batch()) is not None:
            yield batch
    decoder.finish()
    while (batch := decoder.next_batch()) is not None:
        yield batch


def translated(log: str, to: str, folder: Path, messages: int, **options: Any) -> bytes:
    """Converts a text log to another format, with options of the encoder."""
    from rdfm import formats

    encoder = formats.find(to).Encoder(**options)
    text = sample(folder, log, messages)
    parts = [encoder.encode(batch) for batch in batches(log.rpartition(".")[2], text)]
    return b"".join([*parts, encoder.finish()])


@dataclass(frozen=True)
class Row(Generic[Side]):
    """A row of the table.

    Attributes:
        name: The name of the measurement.
        ours: The rdfm side.
        peer: The name and side of the peer.
        target: The intended minimum ratio of rdfm's rate to the peer's; 0 for none.
    """

    name: str
    ours: Side
    peer: tuple[str, Side]
    target: float = 0
