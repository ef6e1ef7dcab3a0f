"""Splitting a log into files by key: the graph, value or time of each message.

In: batches, and the encoders of logs. Out: `Part`s of the files, one file for each key.
Cost: a constant amount of memory for each key, and an encoder for each open file.
Law: each file has the messages of its key, in order. At most `max_open` files are open; the least
recently used is closed first, and is continued when its key occurs again. The division into batches
affects neither names nor bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from rdfm._core import Encoder, KeySplitter, MessageBatch
from rdfm.errors import EncodeError, OptionError, Remedy, spell_option
from rdfm.formats import FormatSpec
from rdfm.logs import remedies
from rdfm.logs.kinds import wrong_kind_error
from rdfm.logs.write.parts import NamespaceCounter, Part

if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = ["KeyEncoder", "KeyFile", "SplitBy", "default_max_open", "file_name"]

MAX_OPEN = 100
# An xz compressor needs about 100 MB.
MAX_OPEN_XZ = 4
# File systems allow 255. The rest is for the suffixes of journals and partial files.
NAME_BYTES = 240
_KINDS = ("graph", "value", "day", "month")
_HASH_BYTES = 16
# Device names on Windows, reserved with any suffix.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)", re.IGNORECASE)
_TRUNCATED_ESCAPE = re.compile(r"%[0-9A-F]?$")


def default_max_open(compression: str | None) -> int:
    """Return the default maximum number of open files."""
    return MAX_OPEN_XZ if (compression or "").partition(":")[0] == "xz" else MAX_OPEN


class SplitBy(NamedTuple):
    """Settings for splitting a log.

    Attributes:
        kind: "graph", "value", "day" or "month".
        predicate: The predicate of the value or time; None means the default time properties.
        prefixes: Namespaces by prefix, for the predicate.
        max_open: Maximum number of open files.
    """

    kind: str
    predicate: str | None
    prefixes: Mapping[str, str]
    max_open: int

    @classmethod
    def from_options(
        cls,
        key: str | None,
        max_open: int | None = None,
        prefixes: Mapping[str, str] | None = None,
        compression: str | None = None,
    ) -> SplitBy | None:
        """Create the settings from the options; None if the log is not split.

        Raises:
            OptionError: If the key is invalid, or `max_open` is given without a key.
        """
        if key is None:
            if max_open is not None:
                raise OptionError(
                    f"{spell_option('max_open')} limits the open files of a log that is split by key",
                    remedies=[Remedy("stage", "split_by", "KEY", "splits the log")],
                )
            return None
        kind, colon, predicate = key.partition(":")
        is_complete = bool(predicate) if colon else kind != "value"
        if kind not in _KINDS or not is_complete or (kind == "graph" and colon):
            raise OptionError(
                f"{spell_option('split_by')} must be graph, value:PREDICATE, day, day:PREDICATE, month or month:PREDICATE, "
                f"not '{key[:60]}'"
            )
        if max_open is None:
            max_open = default_max_open(compression)
        return cls(kind, predicate or None, prefixes or {}, max_open)

    def create_splitter(self) -> KeySplitter:
        """Return a splitter.

        Raises:
            OptionError: If the predicate is not an IRI.
        """
        try:
            return KeySplitter(self.kind, self.predicate, self.prefixes)
        except OptionError as error:
            raise OptionError(f"{spell_option('split_by')}: {error}") from None


class KeyFile:
    """A file of the folder.

    Attributes:
        name: Its name.
        encoder: Its encoder while the file is open.
        end: The end of the log, for `Encoder.continue_log`, once the file has been closed.
    """

    __slots__ = ("encoder", "end", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.encoder: Any = None
        self.end: str | None = None


class KeyEncoder:
    """Encodes messages as many logs: one for each key."""

    def __init__(
        self, make: Callable[..., Any], format: FormatSpec, suffix: str, split_by: SplitBy
    ) -> None:
        """Initialize with the encoders of logs.

        Args:
            make: Creates an encoder.
            format: The format of the logs.
            suffix: The suffix of the names.
            split_by: Settings for splitting the log.

        Raises:
            OptionError: If the predicate of the key is not an IRI.
        """
        self._create_encoder = make
        self._spare = [make()]  # reports invalid options early
        self._format = format
        self._suffix = suffix
        self._split_by = split_by
        self._splitter = split_by.create_splitter()
        self._files: dict[bytes, KeyFile] = {}
        # File names in use, case-folded.
        self._names = {"other"} | ({"default"} if split_by.kind == "graph" else set())
        self._open: dict[KeyFile, None] = {}  # the least recently used first
        self._multiple_key_count = 0
        self._has_read = False
        self._can_continue = False
        self._source: str | None = None  # the most recent log
        self._namespaces = NamespaceCounter()
        self._dropped: Counter[str] = Counter()
        self._notes: dict[str, None] = {}  # each once, in order

    def encode(self, batch: AnyBatch, /, source: str | None = None) -> list[Part]:
        """Return the parts of a batch of the log `source`.

        Raises:
            EncodeError: If a message cannot be written, or its file cannot be continued;
                `completed` contains the parts before it.
            OptionError: If the batch contains patches or results.
        """
        if not isinstance(batch, MessageBatch):
            raise wrong_kind_error(
                source or "the log", batch.kind, "only messages can be split by key"
            )
        self._namespaces.add(batch)
        keys, multiple_key_count = self._splitter.begin(batch)
        self._multiple_key_count += multiple_key_count
        self._has_read = True
        files = [self._file(key, text) for key, text in keys]
        numbers = {file: number for number, file in enumerate(files)}
        is_open = bytearray(file.encoder is not None for file in files)
        encoders = [file.encoder for file in files]
        parts: list[Part] = []
        start = 0
        try:
            while start < len(batch):
                free_slots = self._split_by.max_open - len(self._open)
                stop, used_numbers = self._splitter.live_run(is_open, free_slots)
                if stop == start:
                    self._check_continuable(batch.message_index(start))
                    number = numbers.get(self._close_oldest(parts))
                    if number is not None:
                        is_open[number], encoders[number] = False, None
                    continue
                for number in used_numbers:
                    if not is_open[number]:
                        encoders[number] = self._begin(files[number], parts)
                        is_open[number] = True
                self._encode(stop, files, encoders, parts, source)
                for number in used_numbers:
                    self._open.pop(files[number], None)
                    self._open[files[number]] = None
                start = stop
        except EncodeError as error:
            error.completed = parts  # type: ignore[assignment]  # as `encode` returns them
            if error.missing_feature == "boundaries":
                error.missing_feature = None  # files of one message are not split by key
                error.remedies += (
                    remedies.format_remedy(
                        "to", ("nq", "jelly"), "writes files of several messages"
                    ),
                )
            raise
        return parts

    def finish(self) -> list[Part]:
        """Return the ends of the open logs.

        Raises:
            OptionError: If no log declared the prefix of the predicate.
        """
        self._check_prefixes()
        parts: list[Part] = []
        for file in self._open:
            data = b""
            if file.end is not None:
                data, _ = file.encoder.pause()
            parts.append(Part(file.name, data + file.encoder.finish(), True))
            self._count(file.encoder)
        self._open.clear()
        return parts

    def _check_prefixes(self) -> None:
        if self._has_read and (undeclared := self._splitter.undeclared()):
            raise OptionError(
                f"no log declares the prefix {undeclared[0]}:; write the full <IRI>",
                remedies=[remedies.PREFIX],
            )

    def dropped(self) -> dict[str, int]:
        """Return counts of the data dropped so far, by name."""
        dropped = sum((Counter(file.encoder.dropped()) for file in self._open), self._dropped)
        return self._namespaces.count_once(dropped)

    def notes(self) -> list[str]:
        """Return notes for readers of the logs, without duplicates."""
        notes = dict(self._notes)
        for file in self._open:
            notes |= dict.fromkeys(file.encoder.notes())
        texts = list(notes)
        if self._multiple_key_count:
            objects = {
                "graph": "graphs",
                "value": "values of the predicate",
                "day": "days",
                "month": "months",
            }
            messages, verb = (
                ("message", "has") if self._multiple_key_count == 1 else ("messages", "have")
            )
            texts.append(
                f"{self._multiple_key_count:,} {messages} {verb} several {objects[self._split_by.kind]}; the first one is used"
            )
        if b"" in self._files:
            texts.append(
                f"the messages without a {self._split_by.kind} are in {self._files[b''].name}"
            )
        return texts

    def _encode(
        self,
        stop: int,
        files: list[KeyFile],
        encoders: list[Any],
        parts: list[Part],
        source: str | None,
    ) -> None:
        """Encode the next messages, whose files are open, and append their parts.

        Raises:
            EncodeError: If a message cannot be written. Earlier parts were appended.
        """
        if all(encoder is None or type(encoder) is Encoder for encoder in encoders):
            pieces, error = self._splitter.encode(stop, encoders)
            parts += [Part(files[number].name, data, False) for number, data in pieces]
            if error is not None:
                raise error
            return
        for number, slice in self._splitter.slices(stop):
            try:
                data = encoders[number].encode(slice, source)
            except EncodeError as error:
                self._add(parts, files[number], error.completed)
                raise
            self._add(parts, files[number], data)

    def _add(self, parts: list[Part], file: KeyFile, data: Any) -> None:
        """Add encoded messages of a file."""
        parts.append(Part(file.name, data, False))

    def _file(self, key: bytes, text: str) -> KeyFile:
        """Return the file of a key."""
        # Long keys are not stored.
        file_key = key if len(key) < 2 * _HASH_BYTES else _hash_key(key)
        file = self._files.get(file_key)
        if file is None:
            name = file_name(text, self._suffix, key)
            is_reserved = not key or (key == b"default" and self._split_by.kind == "graph")
            if not is_reserved:
                if name.removesuffix(self._suffix).casefold() in self._names:
                    name = file_name(text, self._suffix, key, always_hash=True)
                self._names.add(name.removesuffix(self._suffix).casefold())
            file = self._files[file_key] = KeyFile(name)
        return file

    def _begin(self, file: KeyFile, parts: list[Part]) -> Any:
        """Open a file, or continue it; return its encoder."""
        encoder = self._spare.pop() if self._spare else self._create_encoder()
        if file.end is not None:
            encoder.continue_log(file.end)
        parts.append(Part(file.name, b"", False, continued=file.end is not None))
        file.encoder = encoder
        self._open[file] = None
        return encoder

    def _close_oldest(self, parts: list[Part]) -> KeyFile:
        """Close the least recently used file, so that it can be continued; return it."""
        file = next(iter(self._open))
        encoder = file.encoder
        data, file.end = encoder.pause()
        parts.append(Part(file.name, data, True))
        self._count(encoder)
        del self._open[file]
        file.encoder = None
        encoder.reset()
        self._spare.append(encoder)
        return file

    def _count(self, encoder: Any) -> None:
        """Add the counts and notes of an encoder whose file is closed."""
        self._dropped.update(encoder.dropped())
        self._notes |= dict.fromkeys(encoder.notes())

    def _check_continuable(self, message: int) -> None:
        """Check that files can be closed and continued.

        Raises:
            EncodeError: If files cannot be continued.
        """
        if self._can_continue:
            return
        spec = self._format
        reason = spec.not_appended or "the format does not support it"
        if spec.append != "never":
            try:
                self._create_encoder().continue_log("content")
            except OptionError as error:
                reason = str(error)
            else:
                self._can_continue = True
                return
        max_open = self._split_by.max_open
        raise EncodeError(
            f"the log has more than {max_open:,} keys, but {spec.title} files must stay open, since they cannot be "
            f"continued: {reason}",
            format=spec.name,
            message_index=message,
            remedies=[
                Remedy("stage", "max_open", "N", "keeps N files open"),
                remedies.format_remedy("to", ("nq", "jelly"), "writes files that can be continued"),
            ],
        )


def file_name(text: str, suffix: str, key: bytes, *, always_hash: bool = False) -> str:
    """Return a file name that is valid on all systems, and that readers of folders do not skip.

    Letters, digits, `-`, `_` and `.` are kept. Other characters are escaped as in URLs, and so are
    a dot, hyphen or underscore at the start. A long name is truncated and ends with a hash of the key.

    Args:
        text: The readable text of a key.
        suffix: The suffix.
        key: The bytes that identify the key, for the hash.
        always_hash: Whether to add the hash to a short name too.

    Example:
        >>> file_name("http://ex/a b", ".nq", b"")
        'http%3A%2F%2Fex%2Fa%20b.nq'
        >>> file_name("../x", ".nq", b"")
        '%2E.%2Fx.nq'
    """
    name = quote(text, safe="").replace("~", "%7E") or "%"
    if name[0] in ".-_" or _DEVICES.match(name):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    room = NAME_BYTES - len(suffix)
    if always_hash or len(name) > room:
        digest = _hash_key(key).hex()[: 2 * _HASH_BYTES]
        name = f"{_TRUNCATED_ESCAPE.sub('', name[: room - len(digest) - 1])}~{digest}"
    return name + suffix


def _hash_key(key: bytes) -> bytes:
    import hashlib  # costly to import

    return hashlib.sha256(key).digest()
