"""Checks of logs: the loop that reads them, and the findings with their positions and counts.

In: inputs that `open_log` accepts. Out: `Finding`s, in the order of discovery.
Cost: memory for the check itself, one batch, and the text of that batch.
Law: an error ends an input only if the rest of it cannot be read, and never affects other inputs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

from rdfm import formats
from rdfm.analysis.finding import READING_RULES, Finding, Rule, reason
from rdfm.errors import (
    LimitError,
    OptionError,
    TruncatedError,
    UnknownFormatError,
    UnsupportedError,
    recommendations,
    spell_option,
    visible,
)
from rdfm.logs.input.driver import (
    Driver,
    Item,
    ReadBatch,
    ReadError,
    ReadSettings,
    SkippedLines,
    Source,
)
from rdfm.logs.input.inputs import Input, Readable, is_folder_or_glob
from rdfm.logs.input.progress import Progress, ProgressFunction, Reporter, total_bytes
from rdfm.logs.journal import byte_count
from rdfm.logs.positions import Lines
from rdfm.message import AnyBatch

__all__ = [
    "MAX_WARNINGS",
    "CheckCounts",
    "LogCheck",
    "LogState",
    "check_settings",
    "next_message_offset",
]

MAX_WARNINGS = 20
# Findings that wait for others before them in the log.
MAX_WAITING = 10_000


def check_settings(
    inputs: list[Readable],
    settings: ReadSettings,
    max_errors: int | None,
    max_warnings: int,
    verb: str,
) -> None:
    """Reject invalid settings of a check, and options that no input supports, before reading.

    Args:
        inputs: The inputs.
        settings: Settings for reading the inputs.
        max_errors: As in `LogCheck`.
        max_warnings: As in `LogCheck`.
        verb: Verb for the check, such as "validate".

    Raises:
        OptionError: If no input is given, an option is unknown to all formats of the inputs, or a
            value is invalid.
        UnknownFormatError: If the given format does not exist.
    """
    if max_errors is not None and max_errors < 1:
        raise OptionError(f"{spell_option('max_errors')} is {max_errors}, expected 1 or more")
    if max_warnings < 0:
        raise OptionError(f"{spell_option('max_warnings')} is {max_warnings}, expected 0 or more")
    if not inputs:
        raise OptionError(f"there is nothing to {verb}")
    _check_options(inputs, settings)


def _check_options(inputs: list[Readable], settings: ReadSettings) -> None:
    """Reject options that no input supports, before anything is read.

    Raises:
        OptionError: If an option is unknown to all formats of the inputs, or its value is invalid.
        UnknownFormatError: If the given format does not exist.
    """
    if settings.format is not None:
        formats.find(settings.format)
    if len(inputs) == 1:
        return  # the driver checks them
    Driver(inputs, settings)
    formats_by_input = []
    for input in inputs:
        path = os.fspath(input) if isinstance(input, (str, os.PathLike)) else None
        formats_by_input.append(
            None if path is None or is_folder_or_glob(path) else formats.by_path(path)
        )
    specs = [format.spec for format in formats_by_input if format is not None]
    if settings.format is None and len(specs) == len(inputs):
        for name in settings.options:
            if not any(name in spec.options("read") for spec in specs):
                raise OptionError(specs[0].unsupported_option_text("read", name))


@dataclass
class LogState:
    """State of the current log.

    Attributes:
        source: The log.
        lines: Line positions of its text; None for a binary log.
        kind: Kind of its messages, as reported by its batches.
        searched: Offset after the text of the previous batch, for messages in parts.
    """

    source: Source
    lines: Lines | None
    kind: str | None = None
    searched: int = 0


@dataclass
class CheckCounts:
    """Counts so far. For their meaning, see the properties of `LogCheck`."""

    logs: int = 0
    messages: int = 0
    records: int = 0
    errors: int = 0
    warnings: int = 0
    rules: dict[str, int] = field(default_factory=dict)
    omitted: dict[str, int] = field(default_factory=dict)
    stopped: bool = False
    kinds: dict[str, None] = field(default_factory=dict)


@dataclass
class LogCheck:
    """A check of logs. Subclasses override `_inspect`, and other methods as needed.

    Iteration reads the logs, and is possible only once. Accessing a count before iteration reads
    all logs.

    Attributes:
        strict: Whether warnings count as errors.
        max_errors: Number of errors after which the check stops.
        max_warnings: Number of warnings to return for each rule. Further warnings are only counted.
        progress: True for a progress bar, or a function to call about ten times per second.
    """

    _RULES: ClassVar[Mapping[str, Rule]] = READING_RULES
    _NAME: ClassVar[str] = "check"
    _FUNCTION: ClassVar[str] = "check"

    _inputs: list[Readable] = field(repr=False)
    _settings: ReadSettings = field(repr=False)
    strict: bool = False
    max_errors: int | None = None
    max_warnings: int = MAX_WARNINGS
    progress: ProgressFunction = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Initialize the counts."""
        self._numbers = CheckCounts()
        self._report = Reporter(self.progress)
        self._total = None if self.progress is None else total_bytes(self._inputs)
        self._log: LogState | None = None
        self._watched: tuple[Input, Lines] | None = None  # of the next log, before `_begin_log`
        self._new: list[Finding] = []
        self._done = 0  # bytes read from the inputs before the current one
        self._begun = False

    @property
    def ok(self) -> bool:
        """Whether there are no errors."""
        return self.errors == 0

    @property
    def logs(self) -> int:
        """Number of logs read, including files in folders and members of archives."""
        return self._read().logs

    @property
    def messages(self) -> int:
        """Number of messages, patches or result rows."""
        return self._read().messages

    @property
    def records(self) -> int:
        """Number of quads (operations for patches, rows for results)."""
        return self._read().records

    @property
    def errors(self) -> int:
        """Number of errors. With `strict`, warnings are included."""
        return self._read().errors

    @property
    def warnings(self) -> int:
        """Number of warnings, including those that were only counted. With `strict`, 0."""
        return self._read().warnings

    @property
    def rules(self) -> dict[str, int]:
        """Number of findings by rule."""
        return self._read().rules

    @property
    def omitted(self) -> dict[str, int]:
        """Number of warnings that were counted but not returned, by rule."""
        return self._read().omitted

    @property
    def stopped(self) -> bool:
        """Whether the check stopped at `max_errors`."""
        return self._read().stopped

    @property
    def kind(self) -> str:
        """The kind of the messages: "messages", "patches" or "results".

        The value is "messages" if there are several kinds.
        """
        kinds = self._read().kinds
        return next(iter(kinds)) if len(kinds) == 1 else "messages"

    def _read(self) -> CheckCounts:
        """Return the counts. If iteration has not started, read all logs first."""
        if not self._begun:
            self.run()
        return self._numbers

    def summary(self) -> dict[str, Any]:
        """Return the counts as a dictionary that can be serialized as JSON."""
        numbers = self._read()
        return {
            "inputs": len(self._inputs),
            "logs": numbers.logs,
            "messages": numbers.messages,
            "records": numbers.records,
            "errors": numbers.errors,
            "warnings": numbers.warnings,
            "rules": numbers.rules,
            "omitted": numbers.omitted,
            "stopped": numbers.stopped,
        }

    def run(self) -> Self:
        """Read all logs for their counts, and return `self`."""
        for _ in self:
            pass
        return self

    def __iter__(self) -> Iterator[Finding]:
        """Yield the findings of all inputs, in the order of the inputs.

        Raises:
            OptionError: If no log has a format that supports one of the options.
            ValueError: If the logs have already been read.
        """
        if self._begun:
            raise ValueError(
                f"a {self._NAME} can be iterated only once; call {self._FUNCTION} again"
            )
        self._begun = True
        errors = 0
        for input in self._inputs:
            for finding in self._check_input(input):
                yield finding
                errors += finding.severity == "error"
                if self.max_errors is not None and errors >= self.max_errors:
                    self._numbers.stopped = True
                    return
        self._end()
        self._report(self._progress, force=True)

    # --- for subclasses ---

    def _make_log(self, source: Source, lines: Lines | None) -> LogState:
        """Return the state of a new log."""
        return LogState(source, lines)

    def _process_item(self, log: LogState, item: ReadBatch) -> None:
        batch = item.batch
        if batch is not None and len(batch):
            self._numbers.messages += len(batch) - batch.continued
            self._numbers.records += batch.record_count
            self._numbers.kinds[batch.kind] = None
            log.kind = batch.kind
            self._inspect(log, batch, item.header)

    def _inspect(self, log: LogState, batch: AnyBatch, header: Mapping[str, Any]) -> None:
        """Add the findings of a batch."""

    def _finish_log(self, log: LogState) -> None:
        """Add the findings that are known at the end of a log."""

    def _end(self) -> None:
        """Finish the check, after all inputs."""

    # --- reading ---

    def _check_input(self, input: Readable) -> Iterator[Finding]:
        """Yield the findings of an input."""
        driver = Driver([input], replace(self._settings, watch=self._record_lines))
        self._log = None
        bytes_in = 0
        counts_before = self.logs, sum(self.rules.values())
        try:
            for item in driver:
                bytes_in = self._process_driver_item(item, bytes_in)
                # Skipped lines are sorted with the findings in their messages, which follow.
                if not isinstance(item, SkippedLines) or len(self._new) >= MAX_WAITING:
                    yield from self._take_findings()
        except (OSError, UnknownFormatError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            self._report_unreadable(driver.name, error)
        finally:
            driver.close()
        self._end_log()
        if (self.logs, sum(self.rules.values())) == counts_before and not self._new:
            text = "contains no logs"
            self._new.append(
                Finding(driver.name, READING_RULES["no-logs"].severity, "no-logs", text)
            )
        for name, count in driver.uncommitted.items():
            text = f"{byte_count(count)} after the last commit were not read"
            self._new.append(
                Finding(name, READING_RULES["uncommitted"].severity, "uncommitted", text)
            )
        yield from self._take_findings()
        self._done += bytes_in

    def _take_findings(self) -> Iterator[Finding]:
        """Yield and count the findings since the last call."""
        findings, self._new = self._new, []
        for finding in sorted(findings, key=_sort_key):
            strict = self.strict and finding.severity == "warning"
            if finding.severity == "error" or strict:
                self._numbers.errors += 1
            else:
                self._numbers.warnings += 1
            self._numbers.rules[finding.rule] = self._numbers.rules.get(finding.rule, 0) + 1
            yield replace(finding, severity="error") if strict else finding

    def _record_lines(self, data: Input, piece: bytes) -> None:
        """Record the line positions of a piece that is about to be decoded."""
        log = self._log
        if log is None or log.source.input is not data:
            if self._watched is None or self._watched[0] is not data:
                self._watched = (data, Lines())
            self._watched[1].feed(piece)
        elif log.lines is not None:
            log.lines.feed(piece)

    def _process_driver_item(self, item: Item, bytes_in: int) -> int:
        """Process an item from the driver.

        Args:
            item: The item.
            bytes_in: Bytes of the input read before the item.

        Returns:
            Bytes of the input read so far.
        """
        if self._log is None or item.source is not self._log.source:
            self._begin_log(item.source)
        log = self._log
        assert log is not None
        if isinstance(item, ReadError):
            self._report_decode_error(log, item)
        elif isinstance(item, SkippedLines):
            for error, _ in item.lines:
                self._report_decode_error(log, ReadError(item.source, error, {}, True))
        elif isinstance(item, ReadBatch):
            self._process_item(log, item)
            if item.batch is not None and len(item.batch) and log.lines is not None:
                log.searched = log.lines.last_piece_start
                start = None if item.batch.continues else item.batch.byte_offset(-1)
                log.lines.forget(log.searched if start is None else start)
            bytes_in = item.bytes_in
            self._report(lambda: self._progress(bytes_in))
        return bytes_in

    def _progress(self, bytes_in: int = 0) -> Progress:
        kind = "messages" if self._log is None else self._log.source.format.spec.kinds[0]
        return Progress(self._done + bytes_in, self._total, self.messages, self.records, kind)

    def _begin_log(self, source: Source) -> None:
        self._end_log()
        watched, self._watched = self._watched, None
        lines = None
        if not source.format.spec.binary:
            lines = watched[1] if watched and watched[0] is source.input else Lines()
        self._log = self._make_log(source, lines)
        self._numbers.logs += source.input.rejection is None

    def _end_log(self) -> None:
        log, self._log = self._log, None
        if log is not None:
            self._finish_log(log)

    # --- findings ---

    def _add(
        self,
        log: LogState,
        rule: str,
        text: str,
        severity: Literal["error", "warning"] | None = None,
        **where: Any,
    ) -> None:
        severity = severity or self._RULES[rule].severity
        kind = log.kind or log.source.format.spec.kinds[0]
        self._new.append(Finding(log.source.name, severity, rule, text, kind=kind, **where))

    def _omit(self, rule: str, count: int) -> None:
        """Count warnings that are not returned."""
        if count <= 0:
            return
        self._numbers.rules[rule] = self._numbers.rules.get(rule, 0) + count
        self._numbers.omitted[rule] = self._numbers.omitted.get(rule, 0) + count
        if self.strict:
            self._numbers.errors += count
        else:
            self._numbers.warnings += count

    def _returns_warning(self, rule: str) -> bool:
        """Whether to return another warning of a rule. If not, the warning is counted."""
        returned_count = self._numbers.rules.get(rule, 0) - self._numbers.omitted.get(rule, 0)
        returned_count += sum(finding.rule == rule for finding in self._new)
        if self.strict or returned_count < self.max_warnings:
            return True
        self._omit(rule, 1)
        return False

    def _has_enough_errors(self, message_index: int = sys.maxsize) -> bool:
        """Whether the number of errors before a message has reached `max_errors`."""
        new = sum(
            (self.strict or finding.severity == "error")
            and (finding.message_index is None or finding.message_index < message_index)
            for finding in self._new
        )
        return self.max_errors is not None and self.errors + new >= self.max_errors

    def _find_location(
        self, log: LogState, start: int | None, stop: int | None, rule: str, usual_spelling: bytes
    ) -> dict[str, Any]:
        """Return the offset, line and column of a term, or of its message if it cannot be found.

        Args:
            log: The log.
            start: Offset of the message, or of the part of it to search; None if the log does not
                consist of bytes.
            stop: Offset of the next message; None if it is not known.
            rule: The rule that the term violates.
            usual_spelling: The term as it is usually written.
        """
        lines = log.lines
        if lines is None or start is None:
            return {"byte_offset": start}
        for spelling in _spellings(rule, usual_spelling):
            if (offset := lines.find(spelling, start, stop)) is not None:
                break
        else:
            offset = lines.message_start(start)
        line, column = lines.locate(offset) or (None, None)
        return {"byte_offset": offset, "line": line, "column": column}

    def _report_decode_error(self, log: LogState, item: ReadError) -> None:
        error = item.error
        rejected = log.source.input.rejection is not None
        if rejected and log.source.input.unreadable:
            rule = "unreadable"
        elif rejected and not log.source.member:
            rule = "unknown-format"
        elif isinstance(error, TruncatedError):
            rule = "truncated"
        elif isinstance(error, LimitError):
            rule = "limit"
        elif isinstance(error, UnsupportedError):
            rule = "unsupported"
        else:
            rule = "syntax"
        if rejected:
            self._add(log, rule, reason(log.source.name, error))
            return
        line, column = error.line, error.column
        if line is None and error.byte_offset is not None and log.lines is not None:
            line, column = log.lines.locate(error.byte_offset) or (None, None)
        self._add(
            log,
            rule,
            reason(log.source.name, error) + recommendations(error.remedies),
            message_index=error.message_index,
            byte_offset=error.byte_offset,
            line=line,
            column=column,
            frame=error.frame,
            row=error.row,
            follows=error.follows,
            error=error,
        )

    def _report_unreadable(self, name: str, error: OSError | UnknownFormatError) -> None:
        """Report an input that cannot be read to its end."""
        if isinstance(error, UnknownFormatError):
            text = reason(name, error) + recommendations(error.remedies)
            self._new.append(Finding(name, "error", "unknown-format", text, error=error))
        else:
            source = name if error.filename is None else visible(str(error.filename))
            text = error.strerror or str(error)
            self._new.append(Finding(source, "error", "unreadable", text))


def _sort_key(finding: Finding) -> tuple[int, int]:
    """Return the sort key of a finding: its byte offset, then its message index.

    Findings without an offset come last.
    """
    offset, index = (
        sys.maxsize if value is None else value
        for value in (finding.byte_offset, finding.message_index)
    )
    return offset, index


def next_message_offset(batch: AnyBatch, message_index: int) -> int | None:
    """Return the offset of the message after this one, or `None` if it is not in the batch."""
    number = message_index - batch.first_message_index + 1
    return batch.byte_offset(number) if number < len(batch) else None


def _spellings(rule: str, spelling: bytes) -> Iterator[bytes]:
    """Yield the possible spellings of a term, the most likely first."""
    if spelling:
        yield spelling
    if rule == "ill-typed-literal":
        yield spelling.removesuffix(b"^^")  # also in JSON
    elif rule in ("relative-iri", "redeclared-namespace"):
        yield b'"%b"' % spelling[1:-1]
    elif rule == "language-tag":
        yield spelling.removeprefix(b'"')
        yield b'"%b"' % spelling.removeprefix(b'"@')
    elif rule == "shared-blank-node":
        yield b'"%b"' % spelling
