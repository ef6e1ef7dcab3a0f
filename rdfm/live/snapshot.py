"""A log as it was when a response began: its committed bytes, and their identity.

In: the path of a log, and possibly the tag of an earlier snapshot. Out: the bytes, the messages, and
a tag that identifies the bytes.
Cost: one piece of bytes and one decoder. A tag reads the last 4 KiB before the length.
Law: bytes that are committed later are not part of the snapshot. Two snapshots of a log with equal
tags have equal bytes, if logs only grow between rewrites. A log that was replaced or truncated does
not match its earlier tags.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from rdfm import formats
from rdfm._core import MessageBatch
from rdfm.errors import DecodeError
from rdfm.formats import DecoderLike, FileDecoder, Format, Opening
from rdfm.live.following import PIECE_BYTES, Generation, LogFile
from rdfm.logs.input.driver import ReadSettings
from rdfm.logs.read.seek import seek
from rdfm.storage import compression as compressions

__all__ = ["Snapshot", "Tag"]

HEAD_BYTES = 64 << 10
_TAG = re.compile(r"([0-9a-f]{1,16})-([0-9a-f]{1,16})-([0-9a-f]{1,16})-([0-9a-f]{8})")


class Tag(NamedTuple):
    """The identity of the committed bytes of a log.

    Attributes:
        inode: The inode number of the file.
        length: The committed length in bytes.
        modified: The time of the last change in ns.
        check: The checksum of the last bytes before the length.
    """

    inode: int
    length: int
    modified: int
    check: int

    def __str__(self) -> str:
        """Return the tag as text."""
        return f"{self.inode:x}-{self.length:x}-{self.modified:x}-{self.check:08x}"

    @classmethod
    def parse(cls, text: str) -> Tag | None:
        """Return the tag of a text; None if it is not a tag."""
        match = _TAG.fullmatch(text)
        return None if match is None else cls(*(int(group, 16) for group in match.groups()))


class Snapshot:
    """The committed bytes of a log.

    Attributes:
        path: The path of the log.
        format: Its format.
        tag: The identity of the bytes.
        compression: The compression of the bytes; None if there is none.
    """

    def __init__(self, path: Path) -> None:
        """Open the log.

        Raises:
            OSError: If the log cannot be opened.
            ReplacedError: If the log is being replaced.
        """
        self.path = path
        format = formats.by_path(str(path))
        assert format is not None  # a topic has a format
        self.format: Format = format
        self._file = LogFile(path)
        try:
            inode, length, check = self._file.generation()
            self.tag = Tag(inode, length, self._file.modified, check)
            self.compression = compressions.by_content(
                self._read(0, min(length, compressions.MAGIC_BYTES))
            )
        except BaseException:
            self.close()
            raise

    @property
    def length(self) -> int:
        """Number of bytes."""
        return self.tag.length

    def go_back(self, tag: Tag) -> bool:
        """Go back to an earlier snapshot of the same log. Return whether this is that log."""
        if not self.continues(tag):
            return False
        self.tag = tag
        return True

    def continues(self, tag: Tag) -> bool:
        """Whether this is the log of an earlier tag, which has possibly grown."""
        return tag == self.tag or (
            tag.length < self.length
            and self._file.continues(Generation(tag.inode, tag.length, tag.check))
        )

    def pieces(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Yield stored bytes.

        Raises:
            ReplacedError: If the log was truncated.
        """
        position, stop = start, self.length if stop is None else stop
        while position < stop:
            piece = self._read(position, min(PIECE_BYTES, stop - position))
            position += len(piece)
            yield piece

    def _read(self, start: int, count: int) -> bytes:
        return self._file.read_at(start, count)

    def header(self) -> Mapping[str, Any]:
        """Return what the log declares about itself at its start.

        Raises:
            DecodeError: If the compressed bytes are corrupt.
            ReplacedError: If the log was truncated.
        """
        if self.format.spec.whole_file:
            return {}
        decoder = self.format.decoder({})
        size = 0
        for piece in self.decompressed():
            decoder.feed(piece[:HEAD_BYTES])
            size += len(piece)
            with contextlib.suppress(DecodeError):  # raised where the messages are needed
                if decoder.next_batch() is None and size < HEAD_BYTES and not decoder.header():
                    continue
            break
        return decoder.header()

    def decode(
        self, first: int = 0, options: Mapping[str, Any] | None = None, *, parts: bool = False
    ) -> Iterator[tuple[MessageBatch, Mapping[str, Any]]]:
        """Yield the messages, each batch with the header of the log.

        Args:
            first: A message that is needed. If possible, messages before it are not decoded; their
                numbers are known nevertheless.
            options: Options of the decoder.
            parts: Whether messages may be yielded in parts.

        Raises:
            DecodeError: If the log is invalid. Its earlier messages have been yielded.
            ReplacedError: If the log was truncated.
        """
        format = self.format
        supported = format.spec.options("read")
        values = {name: value for name, value in (options or {}).items() if name in supported}
        opening, start = Opening(), 0
        if first and self.compression is None:
            reading = ReadSettings(format.name, {}, "none")
            split = seek(str(self.path), reading, slice(first, None), numbered=True)
            self._file.size()  # raises an error if another log was searched
            if split is not None and split.start < self.length:
                opening, start = split.opening(format.spec), max(split.start - 1, 0)
        decoder = format.decoder(values, opening._replace(parts="always" if parts else "never"))
        if isinstance(decoder, FileDecoder) and self.compression is None:
            with self.path.open("rb") as file:  # such a file does not grow
                decoder.feed_file(file)
                decoder.finish()
                yield from self._drain(decoder)
            return
        for piece in self.decompressed(start):
            decoder.feed(piece)
            yield from self._drain(decoder)
        decoder.finish()
        yield from self._drain(decoder)

    def decompressed(self, start: int = 0) -> Iterator[bytes]:
        """Yield the bytes from an offset on, decompressed.

        Raises:
            DecodeError: If the compressed bytes are corrupt.
            ReplacedError: If the log was truncated.
        """
        pieces = self.pieces(start)
        if self.compression is None:
            return pieces
        return compressions.decompress(self.compression, pieces, str(self.path))

    def _drain(self, decoder: DecoderLike) -> Iterator[tuple[MessageBatch, Mapping[str, Any]]]:
        """Yield the batches that a decoder has."""
        try:
            while (batch := decoder.next_batch()) is not None:
                yield cast("MessageBatch", batch), decoder.header()
        except DecodeError as error:
            error.source = str(self.path)
            raise

    def count(self) -> int:
        """Return the number of messages.

        Raises:
            DecodeError, ReplacedError: As in `decode`.
        """
        batches = (batch for batch, _ in self.decode(parts=True))
        return sum(len(batch) - batch.continued for batch in batches)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
