"""What a task is: the work to time, the logs that it begins with, and the rows of the table that compares two sides.

A task takes the folder of the data and a sample size in messages and returns a `Work`. It prepares its data
outside the clock. Reading tasks take the bytes of a log in memory; writing tasks take what the library itself
writes from, and write into a `NullFile`, whichever side it is.
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
    """One thing to time.

    Attributes:
        run: Does it and returns the number of quads.
        log_bytes: Size of the log read or written, if known beforehand.
        size: Gives the size of what `run` wrote last, if it writes.
        prepare: Makes what one `run` uses up, before it and outside the clock.
    """

    run: Callable[[], int]
    log_bytes: int = 0
    size: Callable[[], int] | None = None
    prepare: Callable[[], None] | None = None


class NullFile(io.RawIOBase):
    """Where every side writes: counts bytes and keeps none.

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

    A library whose pieces are small gains by the buffer, as with any file that Python opens.
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
    """A text log, cut after so many messages."""
    data = (folder / log).read_bytes()
    if messages:
        position = -1
        for _ in range(messages):
            position = data.find(b"# @message", position + 1)
            if position < 0:
                return data
        data = data[:position]
    return data


def batches(format: str, data: bytes, *, parts: bool = False, **options: Any) -> Iterator[Any]:
    """The batches of a log in memory, fed as a file would be; parts: large messages in several."""
    from rdfm import formats

    opening = formats.Opening("always" if parts else "never")
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
    """A text log in another format; options are the encoder's."""
    from rdfm import formats

    encoder = formats.find(to).Encoder(**options)
    text = sample(folder, log, messages)
    parts = [encoder.encode(batch) for batch in batches(log.rpartition(".")[2], text)]
    return b"".join([*parts, encoder.finish()])


@dataclass(frozen=True)
class Row(Generic[Side]):
    """A line of a table.

    Attributes:
        name: What is measured.
        ours: Our side.
        peer: Name of the peer, and its side.
        target: The least ratio of our rate to the peer's that we aim at; 0 for none.
    """

    name: str
    ours: Side
    peer: tuple[str, Side]
    target: float = 0
