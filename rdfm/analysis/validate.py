"""Validation of logs: `validate` reports every error, and data that is legal but suspicious.

In: logs that `open_log` accepts. Out: `Finding`s, in order of discovery, and their counts.
Cost: memory for one batch and the text that it was read from. With shapes, each message is complete
in memory.
Law: an error ends an input only if the rest of it cannot be read, and never affects other inputs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Unpack

from rdfm._core import Checker, MessageBatch, PatchBatch, PatchRules
from rdfm.analysis.log_check import (
    MAX_WARNINGS,
    LogCheck,
    LogState,
    check_settings,
    next_message_offset,
)
from rdfm.analysis.stream_options import find_exceeded_options, read_stream_options
from rdfm.analysis.validate_rules import RULES
from rdfm.errors import (
    EncodeError,
    OptionError,
    spell_option,
    spell_options,
)
from rdfm.logs.input.driver import ReadBatch, ReadError, ReadSettings, Source
from rdfm.logs.input.inputs import Readable, input_list
from rdfm.logs.input.progress import ProgressFunction
from rdfm.logs.positions import Lines

if TYPE_CHECKING:
    from rdfm.analysis.shapes import Shapes
    from rdfm.formats.options_generated import ReadOptions
    from rdfm.message import AnyBatch

__all__ = ["Validation", "validate"]

# Rule and severity of each violation that `PatchRules` reports.
_PATCH_RULES: dict[str, tuple[str, Literal["error", "warning"]]] = {
    "transaction": ("transaction", "error"),
    "unfinished": ("unfinished-transaction", "warning"),
    "chain": ("chain", "error"),
    "chain-of-logs": ("chain", "warning"),
}
_MAX_COLUMNS = 100
# Formats whose logs can also be read as one dataset, by software that does not support messages.
_ONE_DATASET = ("nt", "nq", "ttl", "trig")


def validate(
    inputs: Readable | Iterable[Readable],
    format: str | None = None,
    *,
    strict: bool = False,
    max_errors: int | None = None,
    max_warnings: int = MAX_WARNINGS,
    chain: bool = False,
    options_from: Readable | None = None,
    shapes: Readable | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: ProgressFunction = None,
    **options: Unpack[ReadOptions],
) -> Validation:
    r"""Check logs. Report every error, and data that is legal but suspicious.

    After an error, reading continues with the next line in N-Triples and N-Quads, with the next
    message in other text formats with message boundaries, and with the next log in other formats.

    Args:
        inputs: One or more inputs that `open_log` accepts.
        format: Format of all inputs, such as "nq". By default it is detected for each input from
            the suffix, then from the content.
        strict: Count warnings as errors, and return all of them.
        max_errors: Stop after this number of errors.
        max_warnings: Number of warnings to return for each rule. Further warnings are only counted.
        chain: Report an error if the first patch of a log does not follow the last patch of the
            previous log. By default this is a warning.
        options_from: A Jelly log whose stream options the Jelly inputs must not exceed.
        shapes: A file of SHACL shapes. Each message must conform to them on its own; its data graph
            is the union of its graphs.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        progress: True for a progress bar, or a function to call about ten times per second.
        **options: Options of the decoders. Each log uses the options that its format supports.

    Returns:
        An iterable of findings, with their counts. The logs are read during iteration.

    Raises:
        OptionError: If no format supports an option, or `options_from` or `shapes` cannot be used.
        UnknownFormatError: If the given format does not exist.
        MissingExtraError: If shapes are given, but pyshacl is not installed.

    Example:
        >>> log = b'<http://ex/s> <http://ex/p> "x"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
        >>> checked = validate(log, "nq")
        >>> for found in checked:
        ...     print(found.line, found.column, found.text)
        1 29 'x' is not a valid xsd:integer: expected digits with an optional sign
        >>> checked.errors, checked.warnings, checked.rules
        (0, 1, {'ill-typed-literal': 1})
    """
    input_items = input_list(inputs)
    settings = ReadSettings(
        format,
        options,
        compression,
        storage_options,
        parts="always" if shapes is None else "never",
        strict=len(input_items) == 1,
        checks_marks=True,
        reject_unreadable=True,
        skip_lines=True,
    )
    check_settings(input_items, settings, max_errors, max_warnings, "validate")
    stream_options = None if options_from is None else read_stream_options(options_from)
    loaded_shapes: Shapes | None = None
    if shapes is not None:
        from rdfm.analysis.shapes import Shapes

        loaded_shapes = Shapes(shapes)
    return Validation(
        input_items,
        settings,
        strict=strict,
        max_errors=max_errors,
        max_warnings=max_warnings,
        chain=chain,
        stream_options=stream_options,
        shapes=loaded_shapes,
        progress=progress,
    )


def _folder_prefix(source: Source, settings: ReadSettings) -> str:
    """Return the prefix of IRIs that were resolved against the URL of a local log.

    The result is empty if the log is not a local file, if `base` is given, or if the format does
    not support `base`.
    """
    url = source.input.url or ""
    if settings.options.get("base") is not None or "base" not in source.format.spec.options("read"):
        return ""
    return url.rpartition("/")[0] + "/" if url.startswith("file:") else ""


@dataclass(frozen=True, slots=True)
class JellyColumns:
    """A log in Jelly 1.2, which stores statements by column.

    Attributes:
        source: The file, URL or member of an archive.
        options: Its stream options, such as `{"stream_type": "MESSAGES"}`.
        column_bytes: The size of each column, and of the lookup entries, in bytes.
    """

    source: str
    options: Mapping[str, Any]
    column_bytes: Mapping[str, int]


@dataclass
class _ValidatedLog(LogState):
    """State of the current log."""

    labels: Literal["none", "chosen", "all"] = "none"
    compared: bool = False  # whether its stream options were compared with the given ones
    warned: dict[str, int] = field(default_factory=dict)  # findings of the decoder, by rule
    joined: bool = False  # whether a note about joined logs was reported
    keys: int = 0
    header: Mapping[str, Any] = field(default_factory=dict)  # the last one


@dataclass
class Validation(LogCheck):
    """The findings in logs, and their counts so far. Created by `validate`.

    Iteration reads the logs, and is possible only once. Accessing a count before iteration reads
    all logs.
    """

    _RULES = RULES
    _NAME = "validation"
    _FUNCTION = "validate"

    chain: bool = False
    stream_options: tuple[str, dict[str, Any]] | None = field(default=None, repr=False)
    shapes: Shapes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Initialize the counts and the checkers."""
        super().__post_init__()
        self._patch_rules = PatchRules()
        # With `strict`, warnings are errors, and errors are always reported.
        self._checker = Checker(sys.maxsize if self.strict else self.max_warnings)
        self._counted: dict[str, int] = {}  # counts of the checker so far, by rule
        self._matched = False  # whether the stream options of any log were compared
        self._not_conforming = 0
        self._columns: list[JellyColumns] = []

    @property
    def not_conforming(self) -> int:
        """Number of messages that do not conform to the shapes."""
        self._read()
        return self._not_conforming

    @property
    def columns(self) -> list[JellyColumns]:
        """The stream options of the first 100 logs in Jelly 1.2, and the sizes of their columns."""
        self._read()
        return self._columns

    def summary(self) -> dict[str, Any]:
        """Return the counts as a dictionary that can be serialized as JSON."""
        fields = super().summary()
        stopped = fields.pop("stopped")
        columns = [asdict(log) for log in self._columns]
        return {
            **fields,
            "not_conforming": self._not_conforming,
            **({"columns": columns} if columns else {}),
            "stopped": stopped,
        }

    # --- reading ---

    def _make_log(self, source: Source, lines: Lines | None) -> LogState:
        self._checker.begin_log(_folder_prefix(source, self._settings))
        self._patch_rules.begin_log()
        return _ValidatedLog(source, lines)

    def _finish_log(self, log: LogState) -> None:
        """Count the dropped keys that were not reported."""
        assert isinstance(log, _ValidatedLog)
        if log.keys > 1:
            self._omit("key-without-iri", log.keys - 1)
        if "column_bytes" in log.header and len(self._columns) < _MAX_COLUMNS:
            options = {
                name: value
                for name, value in log.header["options"].items()
                if value not in (None, "")
            }
            sizes = dict(log.header["column_bytes"])
            self._columns.append(JellyColumns(log.source.name, options, sizes))

    def _end(self) -> None:
        """Check that the stream options of at least one log were compared.

        Raises:
            OptionError: If `options_from` is given and no log is in Jelly.
        """
        if self.stream_options is not None and not self._matched and self.ok:
            raise OptionError(
                f"{spell_option('options_from')} applies to {self.stream_options[0]} logs, "
                "but no input is in that format"
            )

    def _report_decode_error(self, log: LogState, item: ReadError) -> None:
        assert isinstance(log, _ValidatedLog)
        self._patch_rules.skip()
        log.header = item.header
        self._compare_options(log, item.header)
        super()._report_decode_error(log, item)

    def _process_item(self, log: LogState, item: ReadBatch) -> None:
        assert isinstance(log, _ValidatedLog)
        log.header = item.header
        self._compare_options(log, item.header)
        super()._process_item(log, item)
        self._check_header(log, item)

    def _inspect(self, log: LogState, batch: AnyBatch, header: Mapping[str, Any]) -> None:
        assert isinstance(log, _ValidatedLog)
        log.labels = _suspicious_labels(log.source, header)
        if isinstance(batch, PatchBatch):
            self._check_patches(log, batch)
        for rule, message_index, byte_offset, text, term_text in self._checker.check(
            batch, log.labels
        ):
            stop = next_message_offset(batch, message_index)
            part = batch.continued and message_index == batch.first_message_index
            start = byte_offset
            if part and byte_offset is not None:
                start = max(byte_offset, log.searched)
            if rule == "redeclared-namespace" and log.lines is not None:
                # Declarations precede their message.
                number = message_index - batch.first_message_index
                start = batch.byte_offset(number - 1) if number else log.searched
            where = self._find_location(log, start, stop, rule, term_text)
            self._add(log, rule, text, message_index=message_index, **where)
        for rule, count in self._checker.counts():
            new_count = count - self._counted.get(rule, 0)
            self._counted[rule] = count
            self._omit(rule, new_count - sum(finding.rule == rule for finding in self._new))
        if self.shapes is not None:
            self._check_shapes(log, batch)

    def _check_patches(self, log: LogState, batch: PatchBatch) -> None:
        """Check the transactions of patches, and the chain of their `prev` and `id` headers."""
        for violation, message_index, row, byte_offset, text in self._patch_rules.check(batch):
            rule, severity = _PATCH_RULES[violation]
            if violation == "chain-of-logs" and self.chain:
                severity = "error"
            if severity == "warning" and not self._returns_warning(rule):
                continue
            line, column = None, None
            if log.lines is not None and byte_offset is not None:
                line, column = log.lines.locate(byte_offset) or (None, None)
            self._add(
                log,
                rule,
                f"row {row} of the patch: {text}",
                severity,
                message_index=message_index,
                byte_offset=byte_offset,
                line=line,
                column=column,
            )

    def _compare_options(self, log: _ValidatedLog, header: Mapping[str, Any]) -> None:
        """Compare the stream options of a log with those of `options_from`."""
        if self.stream_options is None or log.compared or "options" not in header:
            return
        format, expected_options = self.stream_options
        if log.source.format.name != format:
            return
        log.compared = self._matched = True
        for text in find_exceeded_options(header["options"], expected_options):
            self._add(log, "stream-options", text)

    def _check_header(self, log: _ValidatedLog, item: ReadBatch) -> None:
        """Report observations of the decoder, such as comments that look like delimiters."""
        text = "a comment looks like a message delimiter but is not one"
        offsets = item.header.get("look_alike_offsets", ())
        count = item.header.get("look_alikes", 0)
        self._warn_about_findings(
            log, "look-alike", count, [(offset, None, text) for offset in offsets]
        )
        for rule, count, first in item.header.get("warnings", ()):
            self._warn_about_findings(log, rule, count, first)
        if "joined" in item.header and not log.joined:
            log.joined = True
            self._add(log, "joined", item.header["joined"])
        if item.dropped_data.keys:
            if log.keys == 0 and self._returns_warning("key-without-iri"):
                self._add_dropped_key(log, item)
            log.keys += item.dropped_data.keys

    def _warn_about_findings(
        self,
        log: _ValidatedLog,
        rule: str,
        count: int,
        first: Sequence[tuple[int | None, int | None, str]],
    ) -> None:
        """Report the new findings of a decoder, of which the first have an offset, frame and text."""
        for index in range(log.warned.get(rule, 0), count):
            if not self._returns_warning(rule):
                self._omit(rule, count - index - 1)
                break
            byte_offset, frame, text = first[index] if index < len(first) else (None, None, "")
            line, column = None, None
            if log.lines is not None and byte_offset is not None:
                line, column = log.lines.locate(byte_offset) or (None, None)
            where: dict[str, Any] = {
                "byte_offset": byte_offset,
                "frame": frame,
                "line": line,
                "column": column,
            }
            self._add(log, rule, text or RULES[rule].text, **where)
        log.warned[rule] = count

    def _add_dropped_key(self, log: _ValidatedLog, item: ReadBatch) -> None:
        """Report the first dropped key of a log."""
        key = item.dropped_data.key or ""
        where: dict[str, Any] = {}
        if item.batch is not None and len(item.batch):
            key_text = f'"{key[1:-1]}"'.encode()
            where = self._find_location(
                log, item.batch.byte_offset(0), None, "key-without-iri", key_text
            )
        text = f"the key {key} has no IRI and is dropped with its values"
        self._add(log, "key-without-iri", text, **where)

    def _check_shapes(self, log: LogState, batch: AnyBatch) -> None:
        """Report the messages that do not conform to the shapes."""
        if not isinstance(batch, MessageBatch):
            raise OptionError(
                f"{spell_option('shapes')} applies to messages, but {log.source.name} contains {batch.kind}"
            )
        assert self.shapes is not None
        for number, message in enumerate(batch):
            index, byte_offset = batch.message_index(number), batch.byte_offset(number)
            if self._has_enough_errors(index):
                break
            stop = next_message_offset(batch, index)
            try:
                results = self.shapes.results(message)
            except (EncodeError, ValueError) as error:
                text = (
                    f"{error.format} {spell_options(error.reason)}"
                    if isinstance(error, EncodeError)
                    else str(error)
                )
                where = self._find_location(log, byte_offset, stop, "shacl", b"")
                text = f"the message cannot be checked: {text}"
                self._add(log, "shacl", text, message_index=index, **where)
                self._not_conforming += 1
                continue
            self._not_conforming += bool(results)
            for result in results:
                is_warning = result.severity in ("Warning", "Info")
                if is_warning and not self._returns_warning("shacl"):
                    continue
                where = self._find_location(log, byte_offset, stop, "shacl", result.focus.encode())
                self._add(
                    log,
                    "shacl",
                    result.text(),
                    "warning" if is_warning else "error",
                    message_index=index,
                    focus=result.focus,
                    path=result.path,
                    value=result.value,
                    shape=result.shape,
                    constraint=result.constraint,
                    **where,
                )


def _suspicious_labels(
    source: Source, header: Mapping[str, Any]
) -> Literal["none", "chosen", "all"]:
    """Return which blank node labels are suspicious if several messages share them."""
    format = source.format.name
    if format == "jelly":
        logical = str(header.get("options", {}).get("logical_type", ""))
        return "all" if logical.startswith("flat") else "none"
    if format in _ONE_DATASET and header.get("dialect") in (None, "comment"):
        return "chosen"
    return "none"
