"""Inputs and outputs of patch operations, such as applying a patch, with the options of formats.

In: names of logs, and options as for `convert`. Out: logs opened for reading, and one for writing.
Law: an output appears under its name only when it is complete. A log of the wrong kind is rejected.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self, cast

from rdfm import formats
from rdfm._core import MessageBatch, PatchBatch, PatchChain
from rdfm.conversion.convert_options import input_formats, split_options
from rdfm.conversion.target import Target
from rdfm.errors import (
    DecodeError,
    EncodeError,
    LimitError,
    OptionError,
    Remedy,
    UnknownFormatError,
)
from rdfm.formats import FormatSpec, OptionSpec
from rdfm.formats.spec import join_words
from rdfm.logs.input.driver import Driver, ReadBatch, ReadSettings
from rdfm.logs.input.inputs import Input, Readable, is_folder_or_glob
from rdfm.logs.input.progress import Progress, ProgressFunction, Reporter, total_bytes
from rdfm.logs.kinds import wrong_kind_error
from rdfm.logs.positions import Lines
from rdfm.logs.read.reader import LogReader
from rdfm.logs.remedies import format_remedy
from rdfm.logs.stages.stage import Watcher
from rdfm.logs.write.append import AppendSettings
from rdfm.logs.write.output import (
    OutputShape,
    Writable,
    output_format,
    reject_other_format_names,
)
from rdfm.logs.write.own_input import reject_own_input
from rdfm.logs.write.writer import LogWriter
from rdfm.storage import archive

__all__ = ["Inputs", "LazyOutput", "Streams", "locate_errors", "message_batches", "patch_batches"]

_NO_IDS = Remedy("stage", "ids", "false", "writes patches of any size")
_TRIPLE_TERMS = ("no", "object", "anywhere")  # support for triple terms, in increasing order


class Inputs(NamedTuple):
    """Logs that are read in sequence.

    Attributes:
        logs: The logs.
        kind: Expected kind: "messages" or "patches".
        format: Name of their format, if given.
        format_option: Option that sets the format.
    """

    logs: Sequence[Readable]
    kind: str
    format: str | None
    format_option: str = "from_format"


class LineIndex:
    """Line index of patch logs in text formats, to locate rows that are rejected after decoding.

    The logs of an archive are decoded together, so text of several logs may be in memory.
    """

    def __init__(self) -> None:
        """Create an empty index."""
        self._lines: dict[Input, Lines] = {}

    def watch(self, data: Input, piece: bytes) -> None:
        """Add a piece of a log that is about to be decoded."""
        self._lines.setdefault(data, Lines()).feed(piece)

    def locate(self, data: Input | None, offset: int) -> tuple[int, int] | None:
        """Return the line and column of a byte, from 1, or None if the text is not in memory."""
        lines = None if data is None else self._lines.get(data)
        return None if lines is None else lines.locate(offset)

    def discard_before(self, data: Input | None, offset: int | None) -> None:
        """Discard the logs before `data`, and the text of `data` before `offset`.

        If `offset` is None, rows of `data` have no offset, so its text is not needed.
        """
        if data is None or data not in self._lines:
            return
        while (first := next(iter(self._lines))) is not data:
            del self._lines[first]
        self._lines[data].forget(sys.maxsize if offset is None else offset)


class _IndexedLog(LogReader):
    """A log with a line index.

    Attributes:
        lines: Line index of the text.
    """

    lines: LineIndex


class _ProgressMeter:
    """Reports the progress over all inputs, which are read in sequence or alternately."""

    def __init__(self, progress: ProgressFunction, inputs: Sequence[Inputs]) -> None:
        self._report = Reporter(progress)
        self._is_enabled = progress is not None
        logs = [log for item in inputs for log in item.logs]
        self._total = total_bytes(logs) if self._is_enabled else None
        self._bytes: dict[int, int] = {}
        self._kind = inputs[0].kind
        self._counts: dict[str, list[int]] = {}  # messages and records, by kind

    def stage(self, number: int) -> Watcher:
        """Return a stage that counts the data read from the input with this number."""

        def count(item: ReadBatch) -> None:
            if self._is_enabled:
                self._count(number, item)
                self._report(self._progress)

        return Watcher(count, lambda: self._report(self._progress, force=True))

    def _count(self, number: int, item: ReadBatch) -> None:
        self._bytes[number] = item.bytes_in
        if item.batch is not None:
            self._kind = item.batch.kind
            counts = self._counts.setdefault(self._kind, [0, 0])
            counts[0] += len(item.batch) - item.batch.continued
            counts[1] += item.batch.record_count

    def _progress(self) -> Progress:
        messages, records = self._counts.get(self._kind, (0, 0))
        return Progress(sum(self._bytes.values()), self._total, messages, records, self._kind)


class Streams:
    """The inputs and the output of a patch operation, with their options.

    Attributes:
        stages: Options of the operation, as values.
        reads: Options of the inputs, as given.
    """

    def __init__(
        self,
        inputs: Sequence[Inputs],
        output: Writable,
        kind: str,
        options: Mapping[str, Any],
        stages: Mapping[str, OptionSpec],
        progress: ProgressFunction = None,
    ) -> None:
        """Check the options, and the formats that the names of the logs identify.

        Args:
            inputs: The inputs.
            output: The output.
            kind: Kind of the output.
            options: All options given.
            stages: Declarations of the options of the change.
            progress: True for a progress bar, or a function to call about ten times per second.

        Raises:
            OptionError: If an option does not apply, or the output is one of the inputs.
            UnknownFormatError: If a format cannot be detected.
        """
        names = {name: options.get(name) for name in ("from_format", "patch_format")}
        candidates = [
            _input_formats(item._replace(format=names[item.format_option])) for item in inputs
        ]
        self._inputs = list(inputs)
        self._drivers: list[Driver] = []
        self._meter = _ProgressMeter(progress, inputs)
        self._output, self._kind = output, kind
        reject_other_format_names(options, "to")
        self._format = output_format(output, options.get("to"), kind)
        spec = self._format.spec
        if kind not in spec.kinds:
            raise OptionError(
                f"{spec.title} supports only {join_words(list(spec.kinds))}, but the output contains {kind}"
            )
        all_candidates = [spec for specs in candidates for spec in specs]
        options_by_component = split_options(options, all_candidates, self._format.spec, stages)
        self._writes, self._hints = options_by_component.writes, options_by_component.hints
        self.stages, self.reads = options_by_component.stages, options_by_component.reads
        logs = [log for item in inputs for log in item.logs]
        append = self.stages.get("append", False)
        reject_own_input(logs, output, options, stages, append=append)

    def open(self, inputs: Inputs, *, parts: bool = True) -> LogReader:
        """Open logs for reading.

        Raises:
            OptionError: If the logs are of another kind.
            RdfmError, OSError: As in `open_log`.
        """
        number = next(index for index, input in enumerate(self._inputs) if input is inputs)
        inputs = inputs._replace(format=self.stages.get(inputs.format_option))
        specs = _input_formats(inputs)
        supported = {name for spec in specs for name in spec.options("read")}
        lines = LineIndex()
        is_indexed = inputs.kind == "patches" and not all(spec.binary for spec in specs)
        settings = ReadSettings(
            inputs.format,
            {name: value for name, value in self.reads.items() if name in supported},
            parts="always" if parts else "never",
            strict=False,
            hints=self._hints,
            watch=lines.watch if is_indexed else None,
            needs_logs=True,
        )
        driver = Driver(list(inputs.logs), settings)
        self._drivers.append(driver)
        log = _IndexedLog(driver, (self._meter.stage(number),))
        log.lines = lines
        if log._format is not None and inputs.kind not in log._format.spec.kinds:
            log.close()
            raise wrong_kind_error(
                log.source, log._format.spec.kinds[0], f"{inputs.kind} are expected", inputs.kind
            )
        return log

    def notes(self, log: LogWriter[Any]) -> tuple[str, ...]:
        """Return the notes about the inputs and the output.

        The inputs must have been read to the end.
        """
        return (*(note for driver in self._drivers for note in driver.notes()), *log.notes)

    def max_message_bytes(self) -> int:
        """Return the limit for messages and patches of the inputs, in decoded bytes."""
        option = formats.nq.spec.options("read")["max_message_bytes"]
        return int(option.value(self.reads.get("max_message_bytes", option.default)))

    def create(self, *, ids: bool = False) -> LazyOutput:
        """Open the output. With `ids`, its patches get `id` and `prev` headers.

        Raises:
            OptionError: If the log cannot be appended to.
            DecodeError: If the log to append to is invalid.
            OSError: If the output cannot be written.
        """
        stages = self.stages
        appending = AppendSettings.from_options(
            self._format,
            stages.get("append", False),
            stages.get("sync", False),
            stages.get("repair", False),
            stages.get("keep_partial", False),
        )
        shape = OutputShape(
            self._output,
            stages.get("compression"),
            stages.get("split_messages"),
            stages.get("split_bytes"),
            stages.get("overwrite", False),
            appending,
        )
        target = Target(self._output, self._format, self._writes, shape)
        return LazyOutput(
            target, shape, self._kind, self._drivers, stages.get("keep_partial", False), ids=ids
        )


class LazyOutput:
    """An output. Its log is created with the first batch, when the source formats are known.

    Attributes:
        accepts_parts: Whether messages can be written in parts. With ids they cannot, because the
            id of a patch precedes the rows that determine it.
    """

    def __init__(
        self,
        target: Target,
        shape: OutputShape,
        kind: str,
        drivers: Sequence[Driver],
        keep_partial: bool,
        *,
        ids: bool = False,
    ) -> None:
        """Open the output; the log is created later, when `drivers` have opened the inputs."""
        self._kind = kind
        self.accepts_parts = target.accepts_parts and not ids
        self._chain = PatchChain() if ids else None
        self._target = target
        self._drivers = drivers
        self._keep_partial = keep_partial
        self._shape = shape
        self._output = shape.open_output()
        self._log: LogWriter[Any] | None = None
        if self._chain is not None:
            try:
                for batch in shape.continued_batches():
                    self._chain.follow(cast("PatchBatch", batch))
            except BaseException:
                self._output.discard()
                raise

    def count_continued(self) -> int:
        """Return the number of messages in the log that is appended to; 0 for a new log.

        Raises:
            DecodeError: If the log is invalid.
            OSError: If the log cannot be read.
        """
        return self._shape.count_continued()

    def write_patches(self, batch: PatchBatch, sources: Sequence[FormatSpec]) -> None:
        """Write patches, with their ids if requested. The log is created on the first call.

        Raises:
            EncodeError: If a patch cannot be written.
            LimitError: If the patches are too large.
        """
        linked = batch if self._chain is None else self._chain.link(batch)
        if linked is not None:
            self.log(sources).write_batch(linked)

    def log(
        self, sources: Sequence[FormatSpec] = (), *, namespaces: bool = False
    ) -> LogWriter[Any]:
        """Return the log, and create it on the first call.

        Args:
            sources: Formats of the inputs, which determine the features that the log may need.
            namespaces: Whether the first message declares namespaces.
        """
        if self._log is None:
            known = {
                "carries": _all_features(sources),
                "dialect": None,
                "options": {},
                "namespaces": namespaces,
                "flat": False,
            }
            if any(driver.may_be_endless for driver in self._drivers):
                self._shape.commit_each_batch()
            encoder = self._target.encoder(None, known if sources else None)
            self._log = LogWriter(
                self._output,
                self._target.format,
                encoder,
                self._kind,
                keep_partial=self._keep_partial,
            )
        return self._log

    def __enter__(self) -> Self:
        """Return the output."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Complete the output, or discard it after an exception."""
        if (
            isinstance(error, LimitError)
            and error.missing_feature == "parts"
            and self._target.accepts_parts
            and not self.accepts_parts
        ):
            error.remedies += (_NO_IDS,)
        if self._log is not None:
            self._log.__exit__(kind, error, traceback)
        elif kind is not None:
            self._output.discard()
        else:
            self.log().close()


def message_batches(log: LogReader) -> Iterator[MessageBatch]:
    """Return the batches of a message log.

    Raises:
        OptionError: If the log is of another kind.
    """
    return _batches(log, "messages", MessageBatch)


def patch_batches(log: LogReader) -> Iterator[PatchBatch]:
    """Return the batches of a patch log, like `message_batches`."""
    return _batches(log, "patches", PatchBatch)


def _batches(log: LogReader, kind: str, batch_class: type[Any]) -> Iterator[Any]:
    for batch in log.batches():
        if not isinstance(batch, batch_class):
            raise wrong_kind_error(log.source, batch.kind, f"{kind} are expected", kind)
        yield batch
        if len(batch) and isinstance(log, _IndexedLog):
            log.lines.discard_before(log._input, batch.byte_offset(-1))


@contextlib.contextmanager
def locate_errors(log: LogReader) -> Iterator[None]:
    """Add the name of the log, and the position in it, to errors."""
    try:
        yield
    except (DecodeError, EncodeError) as error:
        error.source = error.source or log.source
        if error.format == "patches":
            error.format, error.kind = log.format, "patches"
            is_text = log._format is not None and not log._format.spec.binary
            if is_text and isinstance(log, _IndexedLog) and error.byte_offset is not None:
                position = log.lines.locate(log._input, error.byte_offset)
                error.line, error.column = position or (None, None)
        raise


def _input_formats(inputs: Inputs) -> list[FormatSpec]:
    """Return the formats that the inputs may have.

    Raises:
        UnknownFormatError: If the inputs are patches without a known suffix or format name. The
            format of patches cannot be detected from their content.
    """
    known = input_formats(inputs.logs, inputs.format)
    if known is not None:
        return known
    names = [spec for spec in formats.specs() if inputs.kind in spec.kinds]
    if inputs.kind == "patches":
        for log in inputs.logs:
            path = os.fspath(log) if isinstance(log, (str, os.PathLike)) else None
            has_several_logs = path is not None and (
                is_folder_or_glob(path) or archive.stem(path) is not None
            )
            if path is None or not (has_several_logs or formats.by_path(path)):
                remedy = format_remedy(inputs.format_option, (spec.name for spec in names))
                raise UnknownFormatError(
                    f"cannot detect the format of {path or getattr(log, 'name', 'the input')} from its suffix",
                    remedies=[remedy],
                )
    return names


def _all_features(sources: Sequence[FormatSpec]) -> dict[str, Any]:
    """Return the union of the features of several formats."""
    carries: dict[str, Any] = {}
    for spec in sources:
        for name, value in spec.carries.items():
            if isinstance(value, str):
                value = max(value, carries.get(name, value), key=_TRIPLE_TERMS.index)
            carries[name] = value or carries.get(name, False)
    return carries
