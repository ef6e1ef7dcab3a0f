"""The messages of the files in a package. Several files can be read side by side.

In: a file of a package. Out: batches, and differences from the messages of another file.
Cost: memory for one batch of each file. Law: each file is read once, and an invalid file does not
affect others.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rdfm._core import Comparer, MessageBatch, Quad
from rdfm.compare.isomorphism import MAX_STEPS
from rdfm.errors import RdfmError
from rdfm.logs.input.driver import Driver, Read, ReadError, Reading

__all__ = ["FileReader", "MessageDifference", "PlainFileReader", "announcement", "same_message"]

_UNDECIDED = 8
# As for `rdfm diff`.
_MAX_TOTAL_STEPS = 50 * MAX_STEPS
_HEAD_BYTES = 4096
_ANNOUNCEMENT = re.compile(
    rb"""(?:[ \t\r]*(?:\#[^\n]*)?\n)*[ \t]*(?:VERSION|@version)\s*["']([^"'\n]*)"""
)


class MessageDifference(NamedTuple):
    """A message of a file that differs from that of another file.

    Attributes:
        message: Index of the message.
        undecided: Whether the comparison took too many steps. If so, the messages may be the same.
        found: The message of this file.
    """

    message: int
    undecided: bool
    found: MessageBatch


class FileReader:
    """The messages of a file.

    Attributes:
        path: Path of the file.
        messages: Number of messages so far.
        ended: Whether all messages were returned, or the file is corrupt.
        error: The error at which reading stopped, if the file is corrupt.
        header: The header of the log.
        named: Number of archive members read so far.
        bytes_in: Bytes of the file read so far.
    """

    def __init__(self, path: Path, format: str, options: Mapping[str, Any], *, files: bool) -> None:
        """Open a file.

        Args:
            path: The file.
            format: Format of the file or, for an archive, of the files in it.
            options: Options of the decoder.
            files: Whether the file is an archive with a file for each message.
        """
        self.path = path
        self.messages = 0
        self.ended = False
        self.error: RdfmError | OSError | None = None
        self.header: Mapping[str, Any] = {}
        self.named = self.bytes_in = 0
        self._names: list[str] = []
        self._files = files
        reading = Reading(format, options, message_per_file=files, parts=self._PARTS, strict=False)
        self._driver = Driver([path], reading)
        self._items = iter(self._driver)
        self._batch: MessageBatch | None = None
        self._at = 0  # the next message of the batch
        # Only pairs with highly symmetric blank nodes use up steps.
        self._comparer = Comparer("sets", max_steps=MAX_STEPS, max_total_steps=_MAX_TOTAL_STEPS)

    _PARTS: Any = "never"

    def close(self) -> None:
        """Close the file."""
        self._driver.close()

    def next_batch(self) -> MessageBatch | None:
        """Return the next messages, or `None` at the end."""
        if not self._fill():
            return None
        assert self._batch is not None
        batch = self._batch if self._at == 0 else self._batch.slice(self._at, len(self._batch))
        self._batch = None
        self.messages += len(batch)
        return batch

    def count_rest(self) -> None:
        """Read the remaining messages."""
        while self.next_batch() is not None:
            pass

    def compare(self, other: MessageBatch) -> Iterator[MessageDifference]:
        """Yield differences from the next messages of another file, up to the end of this one."""
        at = 0
        while at < len(other) and self._fill():
            batch = self._batch
            assert batch is not None
            length = min(len(other) - at, len(batch) - self._at)
            same, _, difference = self._comparer.run(other, at, batch, self._at, length)
            self._advance(same)
            at += same
            if same < length:
                found = batch.slice(self._at, self._at + 1)
                yield MessageDifference(self.messages, bool(difference & _UNDECIDED), found)
                self._advance(1)
                at += 1

    def take_names(self) -> list[str]:
        """Return and clear the names of the archive members, one for each message."""
        names, self._names = self._names, []
        return names

    def _advance(self, messages: int) -> None:
        self._at += messages
        self.messages += messages

    def _fill(self) -> bool:
        """Read until there is a message; return false at the end."""
        while self._batch is None or self._at >= len(self._batch):
            self._batch = None
            if self.ended:
                return False
            try:
                item = next(self._items, None)
            except (RdfmError, OSError) as error:
                self.error, self.ended = error, True
                return False
            if item is None:
                self.ended = True
            elif isinstance(item, ReadError):
                self.error, self.ended = item.error, True
            elif isinstance(item, Read):
                self.bytes_in = item.bytes_in
                if not self.header and not self._files:
                    self.header = item.header
                if isinstance(item.batch, MessageBatch) and len(item.batch):
                    self._batch, self._at = item.batch, 0
                    if self._files:
                        self._names.append(item.source.name.rpartition("!")[2])
                        self.named += 1
        return True


class PlainFileReader(FileReader):
    """The statements of a flat file without message boundaries.

    A message of the other file with n distinct quads corresponds to n statements.
    """

    _PARTS = "always"

    def __init__(self, path: Path, format: str, options: Mapping[str, Any]) -> None:
        """Open a file."""
        super().__init__(path, format, options, files=False)
        self._quads = self._read_quads()

    def count_rest(self) -> None:
        """Count the remaining statements as one message."""
        if next(self._quads, None) is not None:
            self.messages += 1
            for _ in self._quads:
                pass
        self.ended = True

    def compare(self, other: MessageBatch) -> Iterator[MessageDifference]:
        """Yield differences from the next messages of another file, up to the end of this one."""
        messages: list[list[Quad]] = []
        for number in range(len(other)):
            count = len(set(other.quads(number)))
            quads: dict[Quad, None] = {}
            while len(quads) < count and (quad := next(self._quads, None)) is not None:
                quads[quad] = None
            if len(quads) < count and (self.ended or not quads):
                self.ended = True
                break
            messages.append(list(quads))
        batch = MessageBatch.from_messages(messages)
        at = 0
        while at < len(batch):
            same, _, difference = self._comparer.run(other, at, batch, at, len(batch) - at)
            self.messages += same
            at += same
            if at < len(batch):
                found = batch.slice(at, at + 1)
                yield MessageDifference(self.messages, bool(difference & _UNDECIDED), found)
                self.messages += 1
                at += 1

    def _read_quads(self) -> Iterator[Quad]:
        while self._fill():
            assert self._batch is not None
            for message in range(len(self._batch)):
                yield from self._batch.quads(message)
            self._batch = None


def same_message(one: MessageBatch, other: MessageBatch) -> bool | None:
    """Whether two batches contain the same single message; `None` if that is undecided."""
    comparer = Comparer("sets", max_steps=MAX_STEPS, max_total_steps=_MAX_TOTAL_STEPS)
    same, _, difference = comparer.run(one, 0, other, 0, 1)
    return None if difference & _UNDECIDED else same == 1


def announcement(path: Path) -> str | None:
    """Return the version label at the start of a compressed flat file, or `None` if there is none.

    Returns an empty label for a file that is empty or cannot be read, so that reading the file
    reports the error.
    """
    try:
        with path.open("rb") as file:
            head = zlib.decompressobj(31).decompress(file.read(_HEAD_BYTES), _HEAD_BYTES)
    except (OSError, zlib.error):
        return ""
    if not head:
        return ""
    found = _ANNOUNCEMENT.match(head)
    return None if found is None else found[1].decode("utf-8", "replace")
