"""The end of an existing log, for a writer that appends to it.

In: an open file and its format. Out: `Ending`: where and how the log ends, and its header.
Cost: if the last line shows how the log ends, only the head and that line are read. Of
length-prefixed messages, only the lengths are read. Other logs are decoded once. Memory is bounded
in each case.
Law: a log that ends inside a message is rejected, or shortened to its last complete message.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from rdfm._core import DelimiterCounter, LengthChain, last_mark
from rdfm.errors import (
    DecodeError,
    OptionError,
    Remedy,
    TruncatedError,
    UnsupportedError,
    spelled,
)
from rdfm.formats import DecoderLike, Format, Opening
from rdfm.logs.journal import byte_count
from rdfm.storage import compression as compressions

if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = [
    "Ending",
    "StoredLog",
    "count_messages",
    "find_end",
    "follow_lengths",
    "stored_batches",
]

PIECE_BYTES = 1 << 20
# Number of bytes to search for the last line, initially and at most.
TAIL_BYTES = 1 << 16
MAX_TAIL_BYTES = 1 << 26
# Number of bytes to search first for the last mark: more than the distance between marks.
MARKED_BYTES = 5 << 20
# Maximum number of comments and blank lines at the end of a log that are skipped.
MAX_LINES = 1000
# A byte order mark, or `<`, in UTF-16.
_UTF16_STARTS = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_PROBE = b"<rdfm:end> <rdfm:end> <rdfm:end> .\n"
_BASE = "http://localhost/"
_DELIMITER_LINE = {
    "comment": re.compile(rb"[ \t]*#\s*@message[^\r\n]*"),
    "directive": re.compile(rb"[ \t]*(?:(?i:MESSAGE)|@message[ \t]*\.)[ \t]*(?:#[^\r\n]*)?"),
}
BOM = b"\xef\xbb\xbf"
# Lines that end messages, in formats without dialects.
_MESSAGE_ENDS = {"rdf-patch": re.compile(rb"[ \t]*Z[ \t]*\.[ \t]*(?:#[^\r\n]*)?")}
# Last lines that can only be truncated delimiters. In Turtle, they could also start a name.
_PARTIAL_DELIMITERS = {
    "nt": (b"M", b"ME", b"MES", b"MESS", b"MESSA", b"MESSAG"),
    "nq": (b"M", b"ME", b"MES", b"MESS", b"MESSA", b"MESSAG"),
    "yamlld": (b"--", b".."),
    "rdf-patch": (b"Z",),
}
# The error code of the specification for a remote context that cannot be loaded.
_NO_CONTEXT = "loading remote context failed"
_MESSAGE_STARTS = {"yamlld": re.compile(rb"---(?:[ \t][^\r\n]*)?")}
_WHITE_SPACE = re.compile(rb"\s*")
# Lines without a message, in formats with one document per line.
_BLANK_LINE = {"rdfxml": re.compile(rb"\s*(?:<!--(?:[^-]|-(?!-))*-->\s*)*")}
# A line that may belong to a different dialect than that of the head.
_OTHER_DIALECT = re.compile(rb"(?m)^[ \t]*(?:VERSION|MESSAGE)\b")
REPAIR = Remedy("stage", "repair", "true", "removes the incomplete message")


class Ending(NamedTuple):
    """The end of a log.

    Attributes:
        length: Number of bytes to keep. All bytes of the file unless the log was repaired.
        end: How the log ends, as in `Encoder.continue_log`.
        header: The header of the log.
        line_feed: Whether a line feed is missing at the end.
        messages: Number of messages, if it was counted to find the end.
    """

    length: int
    end: str
    header: Mapping[str, Any]
    line_feed: bool = False
    messages: int | None = None


@dataclass(frozen=True)
class StoredLog:
    """An open log.

    Attributes:
        file: Its file descriptor.
        size: Number of bytes to read.
        name: Its name, for errors.
        format: Its format.
        compression: Its compression, if any.
    """

    file: int
    size: int
    name: str
    format: Format
    compression: str | None = None

    def raw(self, start: int = 0) -> Iterator[bytes]:
        """Yield the bytes of the file from an offset on."""
        while start < self.size and (
            piece := os.pread(self.file, min(PIECE_BYTES, self.size - start), start)
        ):
            start += len(piece)
            yield piece

    def pieces(self) -> Iterator[bytes]:
        """Yield the log, decompressed.

        Raises:
            DecodeError: If the compressed data is corrupt or incomplete.
        """
        raw = self.raw()
        if self.compression is None:
            return raw
        return compressions.decompress(self.compression, raw, self.name)

    def is_empty(self) -> bool:
        """Whether the decompressed log is empty or, in a text format, contains only white space.

        A byte order mark at the start counts as white space.
        """
        pieces = self.pieces()
        if self.format.spec.binary:
            return not any(pieces)
        head = b""
        for piece in pieces:
            head += piece
            if len(head) < len(BOM):
                continue
            if head.removeprefix(BOM).strip():
                return False
            head = BOM
        return not head.removeprefix(BOM).strip()

    def decoder(self, **options: Any) -> Any:
        """Return a decoder that accepts everything that a lenient writer may have written."""
        supported = self.format.spec.options("read")
        given = {"lenient": True, "generalized": True, "base": _BASE, **options}
        usable = {name: value for name, value in given.items() if name in supported}
        return self.format.decoder(usable, Opening("always"))

    def unfinished_error(
        self, reason: str, *, repairable: bool = True, at: Mapping[str, Any] | None = None
    ) -> TruncatedError:
        """Return the error for a log that ends inside a message, with its position if known."""
        remedies = (REPAIR,) if repairable else ()
        return TruncatedError(
            f"the log ends inside a message: {reason}",
            format=self.format.name,
            source=self.name,
            remedies=remedies,
            **(at or {}),
        )


def find_end(log: StoredLog, *, repair: bool = False, known: str = "") -> Ending:
    """Find the end of a log that is not empty.

    Args:
        log: The log.
        repair: Whether to shorten a log that ends inside a message.
        known: How the log ends, according to its journal; empty if unknown.

    Raises:
        OptionError: If messages cannot be appended to the log.
        DecodeError: If the log is invalid, or ends inside a message and `repair` is false.
    """
    header = _header(log)
    if known:
        return Ending(log.size, known, header)
    append_rule = log.format.spec.append
    if append_rule == "lengths":
        return _end_of_chain(log, header, repair)
    found = None
    if append_rule == "last line":
        found = _end_by_last_line(log, header, repair)
    found = found or _end_by_decoding(log, repair)
    if found.header.get("dialect") == "directive":
        _check_announced(log, found.header)
    return found


def count_messages(log: StoredLog, ending: Ending) -> int:
    """Return the number of messages of a log.

    Delimiters or lengths are counted if that is sufficient. Other logs are decoded.

    Raises:
        DecodeError: If the log is invalid.
    """
    if ending.messages is not None:
        return ending.messages
    log = replace(log, size=ending.length)
    if log.format.spec.append == "lengths":
        return _chain_and_size(log)[0].messages
    if log.format.spec.splittable:
        dialect = ending.header.get("dialect") or "comment"
        counter = DelimiterCounter(
            log.format.name, log.format.spec.values("read", {"dialect": dialect})
        )
        for piece in log.pieces():
            counter.feed(piece)
        counter.finish()
        if not counter.indivisible:
            # No message follows a delimiter at the end.
            return counter.delimiters + counter.content_first - (ending.end == "delimiter")
    _, _, count, problem = _decode(log, log.pieces())
    if problem is not None:
        raise log.unfinished_error(problem.text, at=problem.at)
    return count


def stored_batches(log: StoredLog, ending: Ending) -> Iterator[AnyBatch]:
    """Yield the messages of a log, in parts.

    Raises:
        DecodeError: If the log is invalid.
    """
    log = replace(log, size=ending.length)
    decoder = log.decoder()
    try:
        for piece in log.pieces():
            decoder.feed(piece)
            yield from iter(decoder.next_batch, None)
        decoder.finish()
        yield from iter(decoder.next_batch, None)
    except DecodeError as error:
        error.source = log.name
        raise


def _header(log: StoredLog) -> Mapping[str, Any]:
    """Return the header of a log, from its first messages.

    Raises:
        OptionError: If messages cannot be appended to the log.
        DecodeError: If the log is not in the format.
    """
    decoder = log.decoder()
    for piece in _small_pieces(log.pieces()):
        decoder.feed(piece)
        try:
            batch = decoder.next_batch()
        except TruncatedError:
            break
        except DecodeError as error:
            if _may_lack_contexts(log):
                break
            error.source = log.name
            raise
        if batch is not None:
            break
    else:
        decoder.finish()
        with contextlib.suppress(DecodeError):  # raised again later, with the remedy
            decoder.next_batch()
    _check_open(log, decoder)
    header: Mapping[str, Any] = decoder.header()
    return header


def _small_pieces(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield pieces of at most `TAIL_BYTES`, so that only the head is decoded."""
    for piece in pieces:
        for at in range(0, len(piece), TAIL_BYTES):
            yield piece[at : at + TAIL_BYTES]


def _check_announced(log: StoredLog, header: Mapping[str, Any]) -> None:
    """Reject a log whose delimiters are errors because the log does not announce messages."""
    label = header.get("version_label")
    decoder = log.decoder(lenient=False)
    decoder.feed(b"MESSAGE\n" if label is None else f'VERSION "{label}"\nMESSAGE\n'.encode())
    decoder.finish()
    _check_accepted(log, decoder)


def _check_accepted(log: StoredLog, decoder: DecoderLike) -> None:
    """Reject a log if a decoder that was fed a part of it reports an error."""
    try:
        decoder.next_batch()
    except DecodeError as error:
        lenient = spelled("lenient", "true", "read")
        raise OptionError(
            f"cannot append to {log.name}, because readers reject it: {error.reason}; "
            f"convert it to a new log with {lenient} first"
        ) from None


def _check_open(log: StoredLog, decoder: Any) -> None:
    """Reject a log to which no message can be appended."""
    _, closed = decoder.ending()
    if closed is not None:
        if log.format.spec.append == "lengths":
            chain, size = _chain_and_size(log)
            # The log contains only the start of a message, so its content is unknown.
            if chain.end == 0 and not chain.is_malformed and size > 0:
                raise _no_complete_message_error(log)
        raise OptionError(
            f"cannot append to {log.name}, because {closed}; convert it to a log of messages first"
        )


def _may_lack_contexts(log: StoredLog) -> bool:
    """Whether decoding may fail only because remote contexts are not loaded."""
    return "contexts" in log.format.spec.options("read")


# --- formats whose last line shows how they end ---


def _end_by_last_line(log: StoredLog, header: Mapping[str, Any], repair: bool) -> Ending | None:
    """Find the end from the last line; return None if the log must be decoded."""
    if "dialect" in log.format.spec.options("read"):
        return _end_of_statements(log, header, repair)
    if log.format.name == "rdfxml" and next(log.pieces(), b"")[:2] in _UTF16_STARTS:
        raise OptionError(
            f"cannot append to {log.name}, because it is in UTF-16; convert it to a new log, which is "
            "in UTF-8"
        )
    tail = _Tail(log)
    import json  # costly to import

    blank = _BLANK_LINE.get(log.format.name, _WHITE_SPACE)
    while True:
        lines = tail.lines()
        last = next(((start, line) for start, line in lines if not blank.fullmatch(line)), None)
        if last is not None and (last[0] > tail.start or tail.start == 0):
            break
        if not tail.grow():
            return None
    start, line = last
    ended = tail.ended
    if log.format.name == "rdfxml":
        return _end_of_documents(log, header, repair, tail, start, line)
    try:
        if not isinstance(json.loads(line), dict):
            raise ValueError("it is not an object")  # handled like invalid JSON
    except (ValueError, RecursionError) as error:
        if not ended:
            return _repaired(log, start, "content", header, "the last line is incomplete", repair)
        raise _not_a_message_error(log, str(error)) from None
    # In most logs, the first line has the context of all lines.
    checked = line if start == 0 else (_first_line(log) or b"") + b"\n" + line
    if (problem := _problem(log, checked)) is not None:
        # The last line may have another context. Decoding the log shows this and other errors.
        *_, problem = _decode(log, log.pieces())
        if problem is not None:
            raise _not_a_message_error(log, problem.text)
    return Ending(log.size, "content", header, not ended)


def _end_of_documents(
    log: StoredLog,
    header: Mapping[str, Any],
    repair: bool,
    tail: _Tail,
    start: int,
    line: bytes,
) -> Ending:
    """Find the end of an RDF/XML log from its last line, which should be a document.

    Raises:
        OptionError: If a document spans several lines.
        DecodeError: If the last line is not a document.
    """
    problem = _problem(log, line, documents=1)
    # A line with the start of a document is either truncated or continues on the next line.
    if start > 0:
        first = _problem(log, _first_line(log) or b"", documents=1)
        if first is not None and first.is_incomplete:
            raise _long_document_error(log)
    if problem is None:
        return Ending(log.size, "content", header, not tail.ended)
    if not problem.is_incomplete:
        raise _not_a_message_error(log, problem.text)
    before = _line_before(tail, start)
    if tail.ended or (before is not None and _problem(log, before, documents=1) is not None):
        raise _long_document_error(log)
    return _repaired(log, start, "content", header, "the last line is incomplete", repair)


def _line_before(tail: _Tail, offset: int) -> bytes | None:
    """Return the last non-blank line before an offset; None if there is none."""
    blank = _BLANK_LINE["rdfxml"]
    while True:
        found = next(
            (
                (start, line)
                for start, line in tail.lines()
                if start < offset and not blank.fullmatch(line)
            ),
            None,
        )
        if found is not None and (found[0] > tail.start or tail.start == 0):
            return found[1]
        if not tail.grow():
            return None


def _long_document_error(log: StoredLog) -> OptionError:
    return OptionError(
        f"cannot append to {log.name}, because it has a document of several lines; convert it to a "
        "new log, which has one document per line"
    )


def _not_a_message_error(log: StoredLog, problem: str) -> DecodeError:
    return DecodeError(
        f"the last line is not a message: {problem}", format=log.format.name, source=log.name
    )


def _problem(log: StoredLog, lines: bytes, documents: int | None = None) -> _Problem | None:
    """Return the problem with lines of a log, if any.

    If `documents` is given, the lines must contain this number of documents.
    """
    try:
        _, _, count, problem = _decode(log, (lines,))
    except DecodeError as error:
        return _Problem(error.reason, is_incomplete=False)
    if problem is None and documents is not None and count != documents:
        return _Problem(f"it has {count} documents", is_incomplete=False)
    return problem


def _first_line(log: StoredLog) -> bytes | None:
    """Return the first line of a log; None if it is too long."""
    head = b""
    for piece in log.pieces():
        head += piece
        end = _LINE_END.search(head)
        if end is not None:
            return head[: end.start()]
        if len(head) > MAX_TAIL_BYTES:
            return None
    return head


def _end_of_statements(log: StoredLog, header: Mapping[str, Any], repair: bool) -> Ending | None:
    """Find the end of a log in N-Triples or N-Quads; return None if the log must be decoded."""
    dialect = header.get("dialect") or "comment"
    tail = _Tail(log)
    while True:
        complete_lines = tail.data if tail.start == 0 else tail.data[_after_line(tail.data) :]
        if header.get("changes_dialect") or (
            dialect == "comment" and _OTHER_DIALECT.search(complete_lines)
        ):
            return None
        for passed, (start, line) in enumerate(tail.lines()):
            if start == tail.start and tail.start > 0:  # the line may start earlier
                break
            if passed == MAX_LINES:
                return None
            try:
                end = _line_kind(log, line, dialect)
            except DecodeError as error:
                if passed > 0 or tail.ended:
                    return None  # decoding reports the error and its position
                return _repair_statements(log, tail, start, dialect, header, error.reason, repair)
            if end is not None:
                return Ending(log.size, end, header, not tail.ended)
        if tail.start == 0:
            return Ending(log.size, "start", header, not tail.ended)
        if not tail.grow():
            return None


def _after_line(data: bytes) -> int:
    """Return the offset after the first line end."""
    found = _LINE_END.search(data)
    return len(data) if found is None else found.end()


def _line_kind(log: StoredLog, line: bytes, dialect: str) -> str | None:
    """Return how a log ends after a line: "content" or "delimiter"; None if the line is neither.

    Raises:
        DecodeError: If the line is invalid.
    """
    if not line.strip():
        return None
    decoder = log.decoder(dialect=dialect)
    decoder.feed(_PROBE + line + b"\n" + _PROBE)
    decoder.finish()
    last = 0
    while (batch := decoder.next_batch()) is not None:
        if len(batch):
            last = len(batch.quads(len(batch) - 1))
    return {1: "delimiter", 2: None}.get(last, "content")


def _repair_statements(
    log: StoredLog,
    tail: _Tail,
    invalid_start: int,
    dialect: str,
    header: Mapping[str, Any],
    reason: str,
    repair: bool,
) -> Ending:
    """Repair a log whose last line is invalid, and return its end: after the last delimiter."""
    if not repair:
        raise log.unfinished_error(reason)
    if _partial_delimiter(log) == invalid_start and dialect == "directive":
        shorter = StoredLog(log.file, invalid_start, log.name, log.format, log.compression)
        before = _end_of_statements(shorter, header, repair=False)
        if before is not None:
            return _repaired(log, invalid_start, before.end, header, reason, repair)
    while True:
        for start, line in tail.lines():
            if start >= invalid_start or (start == tail.start and tail.start > 0):
                continue
            if b"essage" not in line and b"ESSAGE" not in line:
                continue
            try:
                kind = _line_kind(log, line, dialect)
            except DecodeError:
                continue
            if kind == "delimiter":
                after = start + len(line)
                rest = tail.data[after - tail.start :]
                found = _LINE_END.match(rest)
                return _repaired(
                    log, after + (0 if found is None else found.end()), kind, header, reason, repair
                )
        if not tail.grow(unbounded=True):
            raise _no_complete_message_error(log)


class _Tail:
    """The last part of a log, which can be extended to earlier bytes.

    Attributes:
        data: The bytes.
        start: Offset of the first byte in the decompressed log.
    """

    def __init__(self, log: StoredLog) -> None:
        self._log = log
        self._compressed = log.compression is not None
        if self._compressed:
            self.data, self.start = _tail_of(log.pieces())
        else:
            self.start = max(log.size - TAIL_BYTES, 0)
            self.data = b"".join(log.raw(self.start))

    @property
    def ended(self) -> bool:
        """Whether the last line is terminated."""
        return self.data.endswith((b"\n", b"\r"))

    def grow(self, *, unbounded: bool = False) -> bool:
        """Extend the part to earlier bytes. Return False if that is impossible."""
        if self.start == 0 or self._compressed:
            return False
        length = 4 * len(self.data)
        if length > MAX_TAIL_BYTES and not unbounded:
            return False
        self.start = max(self._log.size - length, 0)
        self.data = b"".join(self._log.raw(self.start))
        return True

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines with their offsets, the last one first."""
        stop = len(self.data)
        if self.data.endswith(b"\r\n"):
            stop -= 2
        elif self.ended:
            stop -= 1
        while True:
            # Search backwards for a line end. In a CRLF, the LF is found first.
            before = max(self.data.rfind(b"\n", 0, stop), self.data.rfind(b"\r", 0, stop))
            yield self.start + before + 1, self.data[before + 1 : stop]
            if before < 0:
                return
            stop = before
            if self.data[before : before + 1] == b"\n" and before and self.data[before - 1] == 13:
                stop -= 1


def _tail_of(pieces: Iterable[bytes]) -> tuple[bytes, int]:
    """Return the last bytes of a log, at most `MAX_TAIL_BYTES`, and their offset."""
    kept: list[bytes] = []
    kept_bytes = start = 0
    for piece in pieces:
        kept.append(piece)
        kept_bytes += len(piece)
        while kept_bytes - len(kept[0]) >= MAX_TAIL_BYTES // 16:
            kept_bytes -= len(kept[0])
            start += len(kept.pop(0))
    return b"".join(kept), start


# --- chains of length-prefixed messages ---


def _end_of_chain(log: StoredLog, header: Mapping[str, Any], repair: bool) -> Ending:
    """Find the end of a log of length-prefixed messages."""
    if log.compression is None and _is_complete_after_mark(log):
        return Ending(log.size, "content", header)
    chain, size = _chain_and_size(log)
    if chain.is_malformed:
        raise DecodeError(
            "the length prefixes of the messages are corrupt",
            format=log.format.name,
            source=log.name,
            byte_offset=chain.end,
        )
    if chain.end == size:
        return Ending(log.size, "content", header, messages=chain.messages)
    reason = f"the last complete message ends {byte_count(size - chain.end)} before the end"
    return _repaired(log, chain.end, "content", header, reason, repair)


def _chain_and_size(log: StoredLog) -> tuple[LengthChain, int]:
    """Follow the message lengths of a log. Return the chain and the decompressed size."""
    if log.compression is None:
        return follow_lengths(log.file, log.size), log.size
    chain, size = LengthChain(), 0
    for piece in log.pieces():
        at = max(chain.next - size, 0)
        size += len(piece)
        if at < len(piece):
            chain.feed(piece[at:])
    if chain.next == size:
        chain.feed(b"")  # skips the rest of the last message
    return chain, size


def _is_complete_after_mark(log: StoredLog) -> bool:
    """Decode a log from its last restart mark, and return whether it is complete.

    Returns False if there is no mark near the end or the data is invalid. In that case, the caller
    reads the log from its start.
    """
    length = MARKED_BYTES
    while True:
        start = max(log.size - length, 0)
        data = b"".join(log.raw(start))
        mark = last_mark(log.format.name, data)
        if mark is not None:
            break
        length *= 4
        if start == 0 or length > MAX_TAIL_BYTES:
            return False
    data = data[mark:]
    chain = LengthChain()
    chain.feed(data)
    if chain.is_malformed or chain.end != len(data):
        return False
    decoder = log.decoder()
    decoder.feed(data)
    decoder.finish()
    try:
        while decoder.next_batch() is not None:
            pass
    except DecodeError:
        return False
    return True


def follow_lengths(file: int, size: int) -> LengthChain:
    """Follow the message lengths of an uncompressed log, up to an offset.

    Args:
        file: File descriptor of the log.
        size: The offset, in bytes.
    """
    chain = LengthChain()
    while chain.next < size and not chain.is_malformed:
        piece = os.pread(file, min(PIECE_BYTES, size - chain.next), chain.next)
        if not piece:
            return chain
        chain.feed(piece)
    if chain.next == size:
        chain.feed(b"")  # skips the rest of the last message
    return chain


# --- formats that are decoded ---


def _end_by_decoding(log: StoredLog, repair: bool) -> Ending:
    """Find the end of a log by decoding it."""
    last = b"\n"

    def pieces() -> Iterator[bytes]:
        nonlocal last
        for piece in log.pieces():
            last = piece[-1:]
            yield piece

    end, header, count, error = _decode(log, pieces())
    if header.get("changes_dialect"):
        raise OptionError(
            f"cannot append to {log.name}, because it changes its dialect; convert it first"
        )
    line_feed = not log.format.spec.binary and last not in (b"\n", b"\r")
    if error is None and line_feed and log.format.name == "yamlld":
        if not repair:
            raise TruncatedError(
                "the last line has no line feed, so a word or number may be truncated; add a line feed "
                "if the last message is complete",
                format=log.format.name,
                source=log.name,
                remedies=(REPAIR,),
            )
        error = _Problem("the last line has no line feed", is_incomplete=True)
    if error is None:
        return Ending(log.size, end, header, line_feed, count)
    if not repair:
        raise log.unfinished_error(error.text, at=error.at)
    if log.compression is None:
        for length in _possible_lengths(log, header):
            shorter = StoredLog(log.file, length, log.name, log.format)
            end, header, complete, problem = _decode(shorter, shorter.raw())
            # Before a truncated delimiter, the last message is complete.
            max_complete = count + (length == _partial_delimiter(log))
            if problem is None and 0 < complete <= max_complete:
                return _repaired(log, length, end, header, error.text, repair)
    raise _no_complete_message_error(log)


class _Problem(NamedTuple):
    """A problem with a log or a part of it.

    Attributes:
        text: The reason.
        is_incomplete: Whether more bytes could make the data valid, so that it may be truncated.
        at: The position, if known, as in `DecodeError`.
    """

    text: str
    is_incomplete: bool
    at: Mapping[str, Any] | None = None


def _decode(
    log: StoredLog, pieces: Iterable[bytes]
) -> tuple[str, Mapping[str, Any], int, _Problem | None]:
    """Decode a log. Return its end, header, number of complete messages, and problem.

    Decoders report an error as soon as no further bytes can correct it. If an error is found only
    at the end, it may therefore be caused by a truncated word, escape or character.

    Raises:
        DecodeError: If the log is invalid before its end.
    """
    decoder = log.decoder()
    count = 0
    has_ended = False
    try:
        for piece in pieces:
            decoder.feed(piece)
            count += _drain(log, decoder)
        decoder.finish()
        has_ended = True
        count += _drain(log, decoder)
    except DecodeError as error:
        if has_ended or isinstance(error, TruncatedError):
            at = {"byte_offset": error.byte_offset, "line": error.line, "column": error.column}
            problem = _Problem(error.reason, is_incomplete=True, at=at)
            return "content", decoder.header(), count, problem
        error.source = log.name
        raise
    _check_open(log, decoder)
    end, _ = decoder.ending()
    if end == "inside":
        problem = _Problem("the last transaction has no end", is_incomplete=True)
        return "content", decoder.header(), count - 1, problem
    return end or "content", decoder.header(), count, None


def _drain(log: StoredLog, decoder: DecoderLike) -> int:
    """Read all messages that are available; return their number."""
    count = 0
    while True:
        try:
            batch = decoder.next_batch()
        except TruncatedError:
            raise
        except DecodeError as error:
            # A message whose context is not loaded is skipped.
            lacks_context = _may_lack_contexts(log) and _NO_CONTEXT in error.reason
            if not lacks_context or decoder.skip_message() is None:
                raise
            count += 1
            continue
        if batch is None:
            return count
        count += len(batch) - batch.continued


def _possible_lengths(log: StoredLog, header: Mapping[str, Any]) -> Iterator[int]:
    """Yield the lengths to which an incomplete log may be shortened, the longest first."""
    if log.format.spec.binary:
        yield follow_lengths(log.file, log.size).end
        return
    delimiter_start = _partial_delimiter(log)
    if delimiter_start is not None:
        yield delimiter_start
    name, dialect = log.format.name, header.get("dialect") or "comment"
    ends = _MESSAGE_STARTS.get(name) or _MESSAGE_ENDS.get(name) or _DELIMITER_LINE[dialect]
    tail = _Tail(log)
    shortest = log.size
    while True:
        for start, line in tail.lines():
            if start == tail.start and start > 0:
                break
            if start < shortest and ends.fullmatch(line):
                shortest = start
                stop = start + len(line)
                yield start if name in _MESSAGE_STARTS else stop + _line_end(tail, stop)
        if not tail.grow(unbounded=True):
            return


def _partial_delimiter(log: StoredLog) -> int | None:
    """Return the start of the last line if it can only be a truncated delimiter."""
    tail = _Tail(log)
    start, line = next(tail.lines())
    is_partial = not tail.ended and line.strip() in _PARTIAL_DELIMITERS.get(log.format.name, ())
    return start if is_partial and start > 0 else None


def _line_end(tail: _Tail, offset: int) -> int:
    """Return the length of the line end at an offset."""
    found = _LINE_END.match(tail.data, offset - tail.start)
    return 0 if found is None else len(found[0])


def _repaired(
    log: StoredLog, length: int, end: str, header: Mapping[str, Any], reason: str, repair: bool
) -> Ending:
    """Return the end of a repaired log.

    Raises:
        DecodeError: If `repair` is false, or the log has no complete message.
    """
    if length == 0:
        raise _no_complete_message_error(log)
    if not repair:
        raise log.unfinished_error(reason)
    if log.compression is not None:
        raise UnsupportedError(
            "the log ends inside a message, and compressed logs cannot be repaired; decompress the "
            "log, repair it, and compress it again",
            format=log.format.name,
            source=log.name,
        )
    return Ending(length, end, header)


def _no_complete_message_error(log: StoredLog) -> TruncatedError:
    return log.unfinished_error(
        "this is the only message, so a repair would leave an empty log; write the log again",
        repairable=False,
    )
