"""What the files of a package contain: their messages, which are read side by side, and their layout.

In: the files of a package. Out: batches and differences between files; the messages on which most
of the full files agree (`Content`), with their statistics; and errors in the layout: stream options,
announcements and times in archives, one sentence each.
Cost: memory for one batch of each file, a sort of each message, and the counts of the statistics.
Law: each file is read once, and an invalid file does not affect others. If one of three files has a
wrong, missing or extra message, the others determine the content.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rdfm._core import Comparer, MessageBatch, Quad, StreamRules
from rdfm.analysis.log_statistics import LogCollector, LogStatistics
from rdfm.compare.isomorphism import MAX_STEPS
from rdfm.errors import RdfmError
from rdfm.logs.input.driver import Driver, ReadBatch, ReadError, ReadSettings
from rdfm.riverbench.declared import Declared
from rdfm.riverbench.names import FULL, SAMPLES, StreamType

__all__ = [
    "Content",
    "FileReader",
    "MessageDifference",
    "PlainFileReader",
    "Replacement",
    "Violation",
    "announcement_problems",
    "find_replacements",
    "option_problems",
    "read_announcement",
    "replace_messages",
    "same_message",
    "time_problem",
]

_UNDECIDED = 8
# As for `rdfm diff`.
_MAX_TOTAL_STEPS = 50 * MAX_STEPS
_HEAD_BYTES = 4096
_ANNOUNCEMENT = re.compile(
    rb"""(?:[ \t\r]*(?:\#[^\n]*)?\n)*[ \t]*(?:VERSION|@version)\s*["']([^"'\n]*)"""
)
_DIRECTED = "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString"
_LABELS = ("1.1", "1.1-messages", "1.2-messages")
_BLOCK = 512
_Problem = tuple[Literal["error", "warning"], str]


class MessageDifference(NamedTuple):
    """A message of a file that differs from that of another file.

    Attributes:
        message_index: Index of the message.
        undecided: Whether the comparison took too many steps. If so, the messages may be the same.
        message: The message of this file.
    """

    message_index: int
    undecided: bool
    message: MessageBatch


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
        reading = ReadSettings(
            format, options, message_per_file=files, parts=self._PARTS, strict=False
        )
        self._driver = Driver([path], reading)
        self._items = iter(self._driver)
        self._batch: MessageBatch | None = None
        self._position = 0  # the next message of the batch
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
        batch = (
            self._batch
            if self._position == 0
            else self._batch.slice(self._position, len(self._batch))
        )
        self._batch = None
        self.messages += len(batch)
        return batch

    def count_rest(self) -> None:
        """Read the remaining messages."""
        while self.next_batch() is not None:
            pass

    def compare(self, other: MessageBatch) -> Iterator[MessageDifference]:
        """Yield differences from the next messages of another file, up to the end of this one."""
        position = 0
        while position < len(other) and self._fill():
            batch = self._batch
            assert batch is not None
            length = min(len(other) - position, len(batch) - self._position)
            same, _, difference = self._comparer.run(other, position, batch, self._position, length)
            self._advance(same)
            position += same
            if same < length:
                message = batch.slice(self._position, self._position + 1)
                yield MessageDifference(self.messages, bool(difference & _UNDECIDED), message)
                self._advance(1)
                position += 1

    def take_names(self) -> list[str]:
        """Return and clear the names of the archive members, one for each message."""
        names, self._names = self._names, []
        return names

    def _advance(self, messages: int) -> None:
        self._position += messages
        self.messages += messages

    def _fill(self) -> bool:
        """Read until there is a message; return false at the end."""
        while self._batch is None or self._position >= len(self._batch):
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
            elif isinstance(item, ReadBatch):
                self.bytes_in = item.bytes_in
                if not self.header and not self._files:
                    self.header = item.header
                if isinstance(item.batch, MessageBatch) and len(item.batch):
                    self._batch, self._position = item.batch, 0
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
        position = 0
        while position < len(batch):
            same, _, difference = self._comparer.run(
                other, position, batch, position, len(batch) - position
            )
            self.messages += same
            position += same
            if position < len(batch):
                message = batch.slice(position, position + 1)
                yield MessageDifference(self.messages, bool(difference & _UNDECIDED), message)
                self.messages += 1
                position += 1

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


def read_announcement(path: Path) -> str | None:
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
    match = _ANNOUNCEMENT.match(head)
    return None if match is None else match[1].decode("utf-8", "replace")


class Violation(NamedTuple):
    """A message that does not conform to the declared stream type.

    Attributes:
        message_index: Index of the message.
        rule: The rule, as in `StreamRules`.
        text: Description of the violation, which follows the words "the message".
    """

    message_index: int
    rule: str
    text: str


class Replacement(NamedTuple):
    """A message on which two files agree, but which differs in the file being read.

    Attributes:
        files: The positions of the two files.
        message: The message of these files.
    """

    files: tuple[int, int]
    message: MessageBatch


class Content:
    """Collects the samples and statistics of a package from its messages.

    Attributes:
        messages: Number of messages so far.
        records: Number of distinct quads, summed over messages.
        samples: Messages that are samples of the package, by index.
        statistics: Statistics by size.
    """

    def __init__(self, rules: StreamRules, sizes: Mapping[str, int], *, plain: bool) -> None:
        """Initialize without messages.

        Args:
            rules: The rules of the stream type.
            sizes: Numbers of messages of the partial distributions, by size.
            plain: Whether the flat files lack message boundaries.
        """
        self.messages = self.records = 0
        self.samples: dict[int, MessageBatch] = {}
        self.statistics: dict[str, LogStatistics] = {}
        self._rules = rules
        self._sizes = {size: end for size, end in sizes.items() if size != FULL}
        self._collector = LogCollector(plain=plain)

    def add(self, batch: MessageBatch, source: str) -> Iterator[Violation]:
        """Add the next messages, and yield the violations of the stream type.

        Args:
            batch: The messages.
            source: Name of the file of the messages.
        """
        start, end = self.messages, self.messages + len(batch)
        ordered, problems = self._rules.apply(batch)
        for number in SAMPLES:
            if start <= number < end:
                self.samples[number] = batch.slice(number - start, number - start + 1)
        piece_start = start
        for size, stop in self._sizes.items():
            if start < stop <= end:
                self._collector.add(ordered.slice(piece_start - start, stop - start), source)
                self.statistics[size] = self._collector.statistics(top=None)
                piece_start = stop
        self._collector.add(ordered.slice(piece_start - start, end - start), source)
        self.messages = end
        self.records += ordered.quad_count
        for index, rule, text in problems:
            # In an archive, messages are numbered separately in each file.
            yield Violation(start + index - batch.first_message_index, rule, text)

    def finish(self) -> None:
        """Complete the statistics."""
        self.statistics[FULL] = self._collector.statistics(top=None)

    def uses_rdf12(self, size: str) -> bool:
        """Whether the messages of a size contain triple terms or base directions."""
        statistics = self.statistics.get(size)
        if statistics is None:
            return False
        return self.has_triple_terms(size) or _DIRECTED in statistics.datatypes.counts

    def has_triple_terms(self, size: str) -> bool:
        """Whether the messages of a size contain triple terms."""
        statistics = self.statistics.get(size)
        return statistics is not None and bool(statistics.occurrences.get("quoted_triples"))


def find_replacements(differences: list[dict[int, MessageDifference]]) -> dict[int, Replacement]:
    """Return the messages that are the same in two files, but differ in the file being read.

    Args:
        differences: For each other full file, its differences from the batch, by position in the
            batch.
    """
    result: dict[int, Replacement] = {}
    for (first, first_found), (second, second_found) in combinations(enumerate(differences), 2):
        for position in sorted(first_found.keys() & second_found.keys()):
            if first_found[position].undecided or second_found[position].undecided:
                continue
            if same_message(first_found[position].message, second_found[position].message):
                result.setdefault(
                    position, Replacement((first, second), first_found[position].message)
                )
    return result


def replace_messages(
    batch: MessageBatch, replaced: Mapping[int, Replacement]
) -> Iterator[MessageBatch]:
    """Yield the messages of a batch, with the replacements applied."""
    position = 0
    for number in sorted(replaced):
        if position < number:
            yield batch.slice(position, number)
        yield replaced[number].message
        position = number + 1
    if position < len(batch):
        yield batch if position == 0 else batch.slice(position, len(batch))


def option_problems(
    options: Mapping[str, Any],
    stream_type: StreamType,
    declared: Declared | None,
    *,
    triple_terms: bool,
) -> Iterator[_Problem]:
    """Yield the errors and warnings about the stream options of a Jelly file.

    Args:
        options: The options.
        stream_type: The declared stream type.
        declared: The declared properties, if the metadata has them.
        triple_terms: Whether the messages contain triple terms.
    """
    expected = {
        "physical_type": "triples" if stream_type.has_triples else "quads",
        "logical_type": stream_type.name,
        "name_table": 4000,
        "prefix_table": 150,
        "datatype_table": 32,
    }
    for name, value in expected.items():
        option_value = options.get(name)
        value_text = (
            option_value.replace("_", "-") if isinstance(option_value, str) else option_value
        )
        if value_text != value:
            is_size = name.endswith("table")
            text = f"the stream option {name} is {value_text}, expected {value}"
            yield "warning" if is_size else "error", text
    flags = {"rdf_star": triple_terms, "generalized": False}
    if declared is not None:
        flags = {"rdf_star": declared.rdf12, "generalized": declared.generalized}
    for name, needed in flags.items():
        feature = "triple terms" if name == "rdf_star" else "generalized RDF"
        value_text = str(bool(options.get(name))).lower()
        if needed and value_text == "false":
            reason = f"the dataset declares {feature}" if declared else "there are triple terms"
            yield "error", f"the stream option {name} is false, but {reason}"
        elif declared is not None and not needed and value_text == "true":
            yield (
                "warning",
                f"the stream option {name} is true, but the dataset does not declare {feature}",
            )


def announcement_problems(
    label: str | None, *, rdf12: bool, is_declared: bool
) -> Iterator[_Problem]:
    """Yield the errors and warnings about the announcement of a flat file.

    Args:
        label: The label; `None` without an announcement, empty if the file cannot be read.
        rdf12: Whether the messages contain triple terms or base directions.
        is_declared: Whether the metadata or the Jelly files allow them.
    """
    if not label:
        return
    if label not in _LABELS:
        yield (
            "error",
            f"the file is announced as '{label[:40]}', expected 1.1-messages or 1.2-messages",
        )
    elif rdf12 and label != "1.2-messages":
        yield (
            "error",
            f"the file is announced as '{label}', but contains triple terms or base directions, "
            "expected 1.2-messages",
        )
    elif label == "1.2-messages" and not rdf12 and not is_declared:
        yield (
            "warning",
            "the file is announced as '1.2-messages', but RDF 1.2 is neither used nor declared, "
            "expected 1.1-messages",
        )


def time_problem(pieces: Iterable[bytes]) -> str | None:
    """Return a warning about the first file of an archive whose modification time is not 0.

    Invalid archives are not reported here, because reading their messages reports them.

    Args:
        pieces: The uncompressed archive.
    """
    data = bytearray()
    skip = 0
    for piece in pieces:
        if skip >= len(piece):
            skip -= len(piece)
            continue
        data += memoryview(piece)[skip:]
        skip = offset = 0
        while len(data) - offset >= _BLOCK:
            name = bytes(data[offset : offset + 100]).rstrip(b"\0")
            size = _parse_octal(data[offset + 124 : offset + 136])
            time = _parse_octal(data[offset + 136 : offset + 148])
            if not name or size is None:  # the end, or not an archive
                return None
            if time != 0 and data[offset + 156] in b"0\0":
                time_text = "not a number" if time is None else time
                file = name.decode("utf-8", "replace")[:80]
                return f"the modification time of {file} is {time_text}, expected 0"
            offset += _BLOCK + -(-size // _BLOCK) * _BLOCK
        skip = max(offset - len(data), 0)
        del data[:offset]
    return None


def _parse_octal(field: bytearray) -> int | None:
    """Return the number in a field of a header; `None` if it is not octal."""
    try:
        return int(bytes(field).strip(b" \0") or b"0", 8)
    except ValueError:
        return None
