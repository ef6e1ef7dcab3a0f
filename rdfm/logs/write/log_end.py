"""The end of an existing log, for a writer that appends to it.

In: an open file and its format. Out: `Ending`: where and how the log ends, and its header.
Cost: if the last lines show how the log ends, only the head and these lines are read. Of
length-prefixed messages, only the lengths are read. Other logs are decoded once. Memory is bounded
in each case.
Law: a log that ends inside a message is rejected, or shortened to its last complete message. Only
decoders know where messages end.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from rdfm._core import DelimiterCounter, LengthChain
from rdfm.errors import (
    DecodeError,
    OptionError,
    Remedy,
    TruncatedError,
    UnsupportedError,
    spell_option,
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
_BASE = "http://localhost/"
BOM = b"\xef\xbb\xbf"
# The error code of the specification for a remote context that cannot be loaded.
_NO_CONTEXT = "loading remote context failed"
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

    def read_raw(self, start: int = 0) -> Iterator[bytes]:
        """Yield the bytes of the file from an offset on."""
        while start < self.size and (
            piece := os.pread(self.file, min(PIECE_BYTES, self.size - start), start)
        ):
            start += len(piece)
            yield piece

    def read_pieces(self) -> Iterator[bytes]:
        """Yield the log, decompressed.

        Raises:
            DecodeError: If the compressed data is corrupt or incomplete.
        """
        raw = self.read_raw()
        if self.compression is None:
            return raw
        return compressions.decompress(self.compression, raw, self.name)

    def is_empty(self) -> bool:
        """Whether the decompressed log is empty or, in a text format, contains only white space.

        A byte order mark at the start counts as white space.
        """
        pieces = self.read_pieces()
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

    def create_decoder(
        self, split: tuple[int, None, str | None] | None = None, **options: Any
    ) -> Any:
        """Return a decoder that accepts everything that a lenient writer may have written."""
        supported = self.format.spec.options("read")
        defaults = {"lenient": True, "generalized": True, "base": _BASE, **options}
        usable = {name: value for name, value in defaults.items() if name in supported}
        return self.format.decoder(usable, Opening("always", split=split))

    def unfinished_error(
        self, reason: str, *, repairable: bool = True, position: Mapping[str, Any] | None = None
    ) -> TruncatedError:
        """Return the error for a log that ends inside a message, with its position if known."""
        remedies = (REPAIR,) if repairable else ()
        return TruncatedError(
            f"the log ends inside a message: {reason}",
            format=self.format.name,
            source=self.name,
            remedies=remedies,
            **(position or {}),
        )


def find_end(log: StoredLog, *, repair: bool = False, known_end: str = "") -> Ending:
    """Find the end of a log that is not empty.

    Args:
        log: The log.
        repair: Whether to shorten a log that ends inside a message.
        known_end: How the log ends, according to its journal; empty if unknown.

    Raises:
        OptionError: If messages cannot be appended to the log.
        DecodeError: If the log is invalid, or ends inside a message and `repair` is false.
    """
    header = _read_header(log)
    if known_end:
        return Ending(log.size, known_end, header)
    append_rule = log.format.spec.append
    if append_rule == "lengths":
        return _find_end_of_chain(log, header, repair)
    append_point = _find_end_by_tail(log, header, repair) if append_rule == "last line" else None
    append_point = append_point or _find_end_by_decoding(log, repair)
    if append_point.header.get("dialect") == "directive":
        _check_announced(log, append_point.header)
    return append_point


def count_messages(log: StoredLog, ending: Ending) -> int:
    """Return the number of messages of a log.

    Delimiters or lengths are counted if that is sufficient. Other logs are decoded.

    Raises:
        DecodeError: If the log is invalid.
    """
    if ending.messages is not None:
        return ending.messages
    log = replace(log, size=ending.length)
    if _has_length_per_message(log, ending.header):
        return _follow_chain(log)[0].messages
    if log.format.spec.splittable:
        options = {"dialect": ending.header.get("dialect") or "comment"}
        decoder_options = {
            name: options[name] for name in options if name in log.format.spec.options("read")
        }
        counter = DelimiterCounter(log.format.name, log.format.spec.values("read", decoder_options))
        for piece in log.read_pieces():
            counter.feed(piece)
        counter.finish()
        if not counter.indivisible:
            if log.format.spec.append == "lengths":
                return counter.delimiters  # it counts messages
            # No message follows a delimiter at the end.
            return counter.delimiters + counter.content_first - (ending.end == "delimiter")
    counted = _find_end_by_decoding(log).messages
    assert counted is not None
    return counted


def _has_length_per_message(log: StoredLog, header: Mapping[str, Any]) -> bool:
    """Whether each length prefix begins a message. Frames can contain several messages."""
    spec = log.format.spec
    return spec.append == "lengths" and (not spec.splittable or header.get("frames") == "message")


def stored_batches(log: StoredLog, ending: Ending) -> Iterator[AnyBatch]:
    """Yield the messages of a log, in parts.

    Raises:
        DecodeError: If the log is invalid.
    """
    log = replace(log, size=ending.length)
    decoder = log.create_decoder()
    try:
        for piece in log.read_pieces():
            decoder.feed(piece)
            yield from iter(decoder.next_batch, None)
        decoder.finish()
        yield from iter(decoder.next_batch, None)
    except DecodeError as error:
        error.source = log.name
        raise


def _read_header(log: StoredLog) -> Mapping[str, Any]:
    """Return the header of a log, from its first messages.

    Raises:
        OptionError: If messages cannot be appended to the log.
        DecodeError: If the log is not in the format.
    """
    decoder = log.create_decoder()
    for piece in _small_pieces(log.read_pieces()):
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
        for start in range(0, len(piece), TAIL_BYTES):
            yield piece[start : start + TAIL_BYTES]


def _check_announced(log: StoredLog, header: Mapping[str, Any]) -> None:
    """Reject a log whose delimiters are errors because the log does not announce messages."""
    label = header.get("version_label")
    decoder = log.create_decoder(lenient=False)
    decoder.feed(b"MESSAGE\n" if label is None else f'VERSION "{label}"\nMESSAGE\n'.encode())
    decoder.finish()
    _check_decodable(log, decoder)


def _check_decodable(log: StoredLog, decoder: DecoderLike) -> None:
    """Reject a log if a decoder that was fed a part of it reports an error."""
    try:
        decoder.next_batch()
    except DecodeError as error:
        lenient = spell_option("lenient", "true", "read")
        raise OptionError(
            f"cannot append to {log.name}, because readers reject it: {error.reason}; "
            f"convert it to a new log with {lenient} first"
        ) from None


def _check_open(log: StoredLog, decoder: Any) -> None:
    """Reject a log to which no message can be appended."""
    closed = decoder.ending()[1]
    if closed is not None:
        if log.format.spec.append == "lengths":
            chain, size = _follow_chain(log)
            # The log contains only the start of a message, so its content is unknown.
            if chain.end == 0 and not chain.is_malformed and size > 0:
                raise _no_complete_message_error(log)
        raise OptionError(
            f"cannot append to {log.name}, because {closed}; convert it to a log of messages first"
        )


def _may_lack_contexts(log: StoredLog) -> bool:
    """Whether decoding may fail only because remote contexts are not loaded."""
    return "contexts" in log.format.spec.options("read")


# --- formats whose last lines show how they end ---


def _find_end_by_tail(log: StoredLog, header: Mapping[str, Any], repair: bool) -> Ending | None:
    """Find the end from the last lines; return None if the log must be decoded.

    A log that can be read in splits is read from the first delimiter in these lines, if any.
    """
    splittable = log.format.spec.splittable
    # In other formats, the first line may have the context of all lines.
    first = b"" if splittable else _read_first_line(log)
    if first is None:
        return None
    dialect = header.get("dialect") or "comment"
    for start, data in _read_tails(log):
        lines = first + data.partition(b"\n")[2]
        has_delimiter = False
        try:
            if splittable:
                decoded = _decode(log, (data,), split=(start + 1, None, dialect))
                has_delimiter = decoded.end is not None or decoded.problem is not None
            if not has_delimiter:
                decoded = _decode(log, (lines,), dialect=dialect)
        except (DecodeError, OptionError):
            return None  # decoding reports the error and its position
        if decoded.problem is not None:
            if not has_delimiter and (splittable or decoded.complete <= len(first)):
                return None
            before = 0 if has_delimiter else log.size - len(lines)
            return _repair(log, before + decoded.complete, decoded.problem, repair)
        if has_delimiter or decoded.messages > (first != b""):
            line_feed = not data.endswith((b"\n", b"\r"))
            return Ending(log.size, decoded.end or "content", header, line_feed)
    return None


def _read_first_line(log: StoredLog) -> bytes | None:
    """Return the first line of a log; None if it is too long."""
    head = b""
    for piece in log.read_pieces():
        head += piece
        end = head.find(b"\n")
        if end >= 0:
            return head[: end + 1]
        if len(head) > MAX_TAIL_BYTES:
            break
    return None


def _read_tails(log: StoredLog, length: int = TAIL_BYTES) -> Iterator[tuple[int, bytes]]:
    """Yield the last bytes of a log and their offset, more bytes each time, but not all.

    The first part of an uncompressed log has `length` bytes.
    """
    if log.compression is not None:
        tail, start = _read_tail(log.read_pieces())
        if start > 0:
            yield start, tail
        return
    while length < log.size and length <= MAX_TAIL_BYTES:
        start = log.size - length
        yield start, b"".join(log.read_raw(start))
        length *= 4


def _read_tail(pieces: Iterable[bytes]) -> tuple[bytes, int]:
    """Return the last bytes of a log, at most `MAX_TAIL_BYTES`, and their offset."""
    recent_pieces: list[bytes] = []
    recent_bytes = start = 0
    for piece in pieces:
        recent_pieces.append(piece)
        recent_bytes += len(piece)
        while recent_bytes - len(recent_pieces[0]) >= MAX_TAIL_BYTES // 16:
            recent_bytes -= len(recent_pieces[0])
            start += len(recent_pieces.pop(0))
    return b"".join(recent_pieces), start


# --- chains of length-prefixed messages ---


def _find_end_of_chain(log: StoredLog, header: Mapping[str, Any], repair: bool) -> Ending:
    """Find the end of a log of length-prefixed messages."""
    if log.compression is None and _is_complete_after_mark(log):
        return Ending(log.size, "content", header)
    chain, size = _follow_chain(log)
    if chain.is_malformed:
        raise DecodeError(
            "the length prefixes of the messages are corrupt",
            format=log.format.name,
            source=log.name,
            byte_offset=chain.end,
        )
    has_messages = _has_length_per_message(log, header)
    if chain.end == size:
        messages = chain.messages if has_messages else None
        return Ending(log.size, "content", header, messages=messages)
    if repair and not has_messages and log.compression is None:
        _check_last_message(replace(log, size=chain.end))
    reason = f"the last complete message ends {byte_count(size - chain.end)} before the end"
    return _repair(log, chain.end, reason, repair)


def _check_last_message(log: StoredLog) -> None:
    """Reject a log of complete frames that ends inside a message."""
    if _decode(log, log.read_pieces()).end == "content":
        raise log.unfinished_error(
            "its last complete frame has only a part of a message, so the log cannot be repaired; "
            "convert the complete messages to a new log",
            repairable=False,
        )


def _follow_chain(log: StoredLog) -> tuple[LengthChain, int]:
    """Follow the message lengths of a log. Return the chain and the decompressed size."""
    if log.compression is None:
        return follow_lengths(log.file, log.size), log.size
    chain, size = LengthChain(), 0
    for piece in log.read_pieces():
        offset = max(chain.next - size, 0)
        size += len(piece)
        if offset < len(piece):
            chain.feed(piece[offset:])
    if chain.next == size:
        chain.feed(b"")  # skips the rest of the last message
    return chain, size


def _is_complete_after_mark(log: StoredLog) -> bool:
    """Decode the last messages, from a restart mark on, and return whether they are complete.

    Returns False if there is no mark near the end or the data is invalid. In that case, the caller
    reads the log from its start.
    """
    for start, data in _read_tails(log, MARKED_BYTES) if log.format.spec.splittable else ():
        try:
            decoded = _decode(log, (data,), split=(start + 1, None, None))
        except DecodeError:
            return False
        if decoded.problem is not None or decoded.messages > 0:
            return decoded.problem is None
    return False


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


class _DecodedLog(NamedTuple):
    """The result of decoding a log.

    Attributes:
        header: Its header.
        messages: Number of complete messages.
        end: How it ends, as in `Encoder.continue_log`; None if the format has no delimiters.
        problem: Why its last message is incomplete, if it is.
        complete: Offset after the last complete message if there is a problem.
        position: The position of the problem if known, as in `DecodeError`.
    """

    header: Mapping[str, Any]
    messages: int
    end: str | None = None
    problem: str | None = None
    complete: int = 0
    position: Mapping[str, Any] | None = None


def _find_end_by_decoding(log: StoredLog, repair: bool = False) -> Ending:
    """Find the end of a log by decoding it.

    Raises:
        OptionError: If messages cannot be appended to the log.
        DecodeError: If the log is invalid, or ends inside a message and `repair` is false.
    """
    last_byte = b"\n"

    def pieces() -> Iterator[bytes]:
        nonlocal last_byte
        for piece in log.read_pieces():
            last_byte = piece[-1:]
            yield piece

    decoded = _decode(log, pieces())
    if decoded.problem is not None:
        return _repair(log, decoded.complete, decoded.problem, repair, decoded.position)
    line_feed = not log.format.spec.binary and last_byte not in (b"\n", b"\r")
    return Ending(log.size, decoded.end or "content", decoded.header, line_feed, decoded.messages)


def _decode(log: StoredLog, pieces: Iterable[bytes], **options: Any) -> _DecodedLog:
    """Decode a log, or a part of it.

    Decoders report an error as soon as no further bytes can correct it. If an error is found only
    at the end, it may therefore be caused by a truncated word, escape or character.

    Raises:
        OptionError: If messages cannot be appended to the log.
        DecodeError: If the log is invalid before its end.
    """
    decoder = log.create_decoder(**options)
    count = 0
    has_ended = False
    try:
        for piece in pieces:
            decoder.feed(piece)
            count += _count_available(log, decoder)
        decoder.finish()
        has_ended = True
        count += _count_available(log, decoder)
    except DecodeError as error:
        _check_open(log, decoder)
        complete = decoder.ending()[2]
        if complete is not None and (has_ended or isinstance(error, TruncatedError)):
            position = {
                "byte_offset": error.byte_offset,
                "line": error.line,
                "column": error.column,
            }
            return _DecodedLog(decoder.header(), count, None, error.reason, complete, position)
        error.source = log.name
        raise
    _check_open(log, decoder)
    end, _, complete, problem = decoder.ending()
    return _DecodedLog(decoder.header(), count, end, problem, complete or 0)


def _count_available(log: StoredLog, decoder: DecoderLike) -> int:
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


def _repair(
    log: StoredLog,
    length: int,
    reason: str,
    repair: bool,
    position: Mapping[str, Any] | None = None,
) -> Ending:
    """Return the end of a log that is shortened to its complete messages.

    Raises:
        DecodeError: If `repair` is false, or the log has no complete message.
    """
    if length == 0:
        raise _no_complete_message_error(log)
    if not repair:
        raise log.unfinished_error(reason, position=position)
    if log.compression is not None:
        raise UnsupportedError(
            "the log ends inside a message, and compressed logs cannot be repaired; decompress the "
            "log, repair it, and compress it again",
            format=log.format.name,
            source=log.name,
        )
    ending = find_end(replace(log, size=length))
    if ending.messages == 0:
        raise _no_complete_message_error(log)
    return ending


def _no_complete_message_error(log: StoredLog) -> TruncatedError:
    return log.unfinished_error(
        "this is the only message, so a repair would leave an empty log; write the log again",
        repairable=False,
    )
