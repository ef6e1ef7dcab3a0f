"""Validation of logs: `validate` reports every error, and data that is legal but suspicious.

In: logs, as `open_log` takes them. Out: `Finding`s in the order in which they are found, and
their counts.
Cost: one batch of memory, and the pieces of text that it was read from. With shapes, each message
is kept complete in memory.
Law: an error ends an input only if the rest of it cannot be read, and never affects other inputs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Unpack

from rdfm import formats
from rdfm._core import Checker, MessageBatch, PatchBatch, PatchRules
from rdfm.analysis.findings import RULES, Finding, reason
from rdfm.analysis.stream_options import exceeded_options, read_stream_options
from rdfm.errors import (
    DecodeError,
    EncodeError,
    LimitError,
    OptionError,
    TruncatedError,
    UnknownFormatError,
    UnsupportedError,
    recommendations,
    spelled,
    visible,
)
from rdfm.logs.driver import Broken, Driver, Item, Read, Reading, Source
from rdfm.logs.input import Input, Readable, as_inputs, holds_files
from rdfm.logs.positions import Lines
from rdfm.logs.progress import Progress, Reporter, total_bytes

if TYPE_CHECKING:
    from rdfm.analysis.shapes import Shapes
    from rdfm.formats.options_generated import ReadOptions
    from rdfm.message import AnyBatch

__all__ = ["Validation", "validate"]

MAX_WARNINGS = 20
# Rule and severity of each violation that `PatchRules` reports.
_PATCH_RULES: dict[str, tuple[str, Literal["error", "warning"]]] = {
    "transaction": ("transaction", "error"),
    "unfinished": ("unfinished-transaction", "warning"),
    "chain": ("chain", "error"),
    "chain-of-logs": ("chain", "warning"),
}
# Formats whose logs are also read as one dataset, by readers that do not support messages.
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
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[ReadOptions],
) -> Validation:
    r"""Check logs, and report every error and data that is legal but suspicious.

    After an error, reading continues with the next message in text formats with message
    boundaries, and with the next log in other formats.

    Args:
        inputs: One input that `open_log` accepts, or several.
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
        progress: Called about ten times a second.
        **options: Options of the decoders. Each log takes the options that its format supports.

    Returns:
        An iterable of findings, with their counts. The logs are read during iteration.

    Raises:
        OptionError: No format supports an option, or `options_from` or `shapes` cannot be used.
        UnknownFormatError: The given format does not exist.
        MissingExtraError: Shapes need pyshacl, which is not installed.

    Example:
        >>> log = b'<http://ex/s> <http://ex/p> "x"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
        >>> checked = validate(log, "nq")
        >>> for found in checked:
        ...     print(found.line, found.column, found.text)
        1 29 'x' is not a valid xsd:integer: expected digits with an optional sign
        >>> checked.errors, checked.warnings, checked.rules
        (0, 1, {'ill-typed-literal': 1})
    """
    if max_errors is not None and max_errors < 1:
        raise OptionError(f"{spelled('max_errors')} is {max_errors}, expected 1 or more")
    if max_warnings < 0:
        raise OptionError(f"{spelled('max_warnings')} is {max_warnings}, expected 0 or more")
    given = as_inputs(inputs)
    if not given:
        raise OptionError("there is nothing to validate")
    reading = Reading(
        format,
        options,
        compression,
        storage_options,
        parts="always" if shapes is None else "never",
        strict=len(given) == 1,
        refuse_unreadable=True,
    )
    _check_options(given, reading)
    needed = None if options_from is None else read_stream_options(options_from)
    checked: Shapes | None = None
    if shapes is not None:
        from rdfm.analysis.shapes import Shapes

        checked = Shapes(shapes)
    return Validation(
        given,
        reading,
        strict=strict,
        max_errors=max_errors,
        max_warnings=max_warnings,
        chain=chain,
        stream_options=needed,
        shapes=checked,
        progress=progress,
    )


def _own_folder(source: Source, reading: Reading) -> str:
    """Return the prefix of IRIs that were resolved against the URL of a local log.

    The result is empty if the log is not a local file, if `base` is given, or if the format does
    not support `base`.
    """
    url = source.input.url or ""
    if reading.options.get("base") is not None or "base" not in source.format.spec.options("read"):
        return ""
    return url.rpartition("/")[0] + "/" if url.startswith("file:") else ""


def _check_options(inputs: list[Readable], reading: Reading) -> None:
    """Reject options that no input supports, before anything is read.

    Raises:
        OptionError: An option is unknown to all formats of the inputs, or its value is invalid.
        UnknownFormatError: The given format does not exist.
    """
    if reading.format is not None:
        formats.find(reading.format)
    if len(inputs) == 1:
        return  # the driver checks them
    Driver(inputs, reading)
    found = []
    for given in inputs:
        path = os.fspath(given) if isinstance(given, (str, os.PathLike)) else None
        found.append(None if path is None or holds_files(path) else formats.by_path(path))
    specs = [format.spec for format in found if format is not None]
    if reading.format is None and len(specs) == len(inputs):
        for name in reading.options:
            if not any(name in spec.options("read") for spec in specs):
                raise OptionError(specs[0].refusal("read", name))


@dataclass
class _LogState:
    """State of the current log."""

    source: Source
    lines: Lines | None
    labels: Literal["none", "chosen", "all"] = "none"
    kind: str | None = None  # as reported by its batches
    compared: bool = False  # whether its stream options were compared with the given ones
    look_alikes: int = 0
    large_frames: int = 0
    joined: bool = False  # whether a note about joined logs was reported
    keys: int = 0
    searched: int = 0  # end of the text of the previous batch, for messages in parts


@dataclass
class _Numbers:
    """Counts of a validation so far. `Validation` documents each of them."""

    logs: int = 0
    messages: int = 0
    records: int = 0
    errors: int = 0
    warnings: int = 0
    rules: dict[str, int] = field(default_factory=dict)
    not_conforming: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    stopped: bool = False
    kinds: dict[str, None] = field(default_factory=dict)


@dataclass
class Validation:
    """The findings in logs, and their counts so far. Created by `validate`.

    Iteration reads the logs, and is possible only once. Accessing a count before iteration reads
    all logs.
    """

    _inputs: list[Readable] = field(repr=False)
    _reading: Reading = field(repr=False)
    strict: bool = False
    max_errors: int | None = None
    max_warnings: int = MAX_WARNINGS
    chain: bool = False
    stream_options: tuple[str, dict[str, Any]] | None = field(default=None, repr=False)
    shapes: Shapes | None = field(default=None, repr=False)
    progress: Callable[[Progress], None] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Initialize the counts and the checkers."""
        self._numbers = _Numbers()
        self._patch_rules = PatchRules()
        self._report = Reporter(self.progress)
        self._total = None if self.progress is None else total_bytes(self._inputs)
        # With `strict`, warnings are errors, and errors are always reported.
        self._checker = Checker(sys.maxsize if self.strict else self.max_warnings)
        self._counted: dict[str, int] = {}  # counts of the checker so far, by rule
        self._log: _LogState | None = None
        self._watched: tuple[Input, Lines] | None = None  # of the next log, before `_begin_log`
        self._new: list[Finding] = []
        self._matched = False  # whether the stream options of any log were compared
        self._done = 0  # bytes read of the inputs before the current one
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
        """Number of messages, patches or rows of results."""
        return self._read().messages

    @property
    def records(self) -> int:
        """Number of quads, of operations for patches, or of rows for results."""
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
    def not_conforming(self) -> int:
        """Number of messages that do not conform to the shapes."""
        return self._read().not_conforming

    @property
    def left_out(self) -> dict[str, int]:
        """Number of warnings that were counted but not returned, by rule."""
        return self._read().left_out

    @property
    def stopped(self) -> bool:
        """Whether validation stopped at `max_errors`."""
        return self._read().stopped

    @property
    def kind(self) -> str:
        """The kind of the messages: "messages", "patches" or "results".

        The value is "messages" if there are several kinds.
        """
        kinds = self._read().kinds
        return next(iter(kinds)) if len(kinds) == 1 else "messages"

    def _read(self) -> _Numbers:
        """Return the counts. If iteration has not started, read all logs first."""
        if not self._begun:
            self.run()
        return self._numbers

    def summary(self) -> dict[str, Any]:
        """Return the counts as a dictionary that can be serialized as JSON."""
        names = (
            *("logs", "messages", "records", "errors", "warnings", "rules", "left_out"),
            *("not_conforming", "stopped"),
        )
        numbers = self._read()
        return {"inputs": len(self._inputs), **{name: getattr(numbers, name) for name in names}}

    def run(self) -> Validation:
        """Read all logs for their counts, and return `self`."""
        for _ in self:
            pass
        return self

    def __iter__(self) -> Iterator[Finding]:
        """Yield the findings of all inputs, in the order of the inputs.

        Raises:
            OptionError: No log has a format that supports one of the options, or `options_from` is
                given and no log is in Jelly.
            ValueError: The logs have been read before.
        """
        if self._begun:
            raise ValueError("a validation can be iterated only once; call validate again")
        self._begun = True
        errors = 0
        for given in self._inputs:
            for found in self._input(given):
                yield found
                errors += found.severity == "error"
                if self.max_errors is not None and errors >= self.max_errors:
                    self._numbers.stopped = True
                    return
        if self.stream_options is not None and not self._matched and self.ok:
            raise OptionError(
                f"{spelled('options_from')} is for logs in {self.stream_options[0]}, "
                "but no input has that format"
            )
        self._report(self._progress, force=True)

    # --- reading ---

    def _input(self, given: Readable) -> Iterator[Finding]:
        """Yield the findings of an input."""
        driver = Driver([given], replace(self._reading, watch=self._watch))
        self._log = None
        here = 0
        before = self.logs, sum(self.rules.values())
        try:
            for item in driver:
                here = self._take(item, here)
                yield from self._found()
        except (OSError, UnknownFormatError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            self._unread(driver.name, error)
        finally:
            driver.close()
        self._end_log()
        if (self.logs, sum(self.rules.values())) == before and not self._new:
            text = "it contains no logs"
            self._new.append(Finding(driver.name, RULES["no-logs"].severity, "no-logs", text))
        yield from self._found()
        self._done += here

    def _found(self) -> Iterator[Finding]:
        """Yield and count the findings since the last call."""
        found, self._new = self._new, []
        for each in sorted(found, key=_place):
            strict = self.strict and each.severity == "warning"
            if each.severity == "error" or strict:
                self._numbers.errors += 1
            else:
                self._numbers.warnings += 1
            self._numbers.rules[each.rule] = self._numbers.rules.get(each.rule, 0) + 1
            yield replace(each, severity="error") if strict else each

    def _watch(self, data: Input, piece: bytes) -> None:
        """Record the line positions of a piece that is about to be decoded."""
        log = self._log
        if log is None or log.source.input is not data:
            if self._watched is None or self._watched[0] is not data:
                self._watched = (data, Lines())
            self._watched[1].feed(piece)
        elif log.lines is not None:
            log.lines.feed(piece)

    def _take(self, item: Item, here: int) -> int:
        """Process an item from the driver.

        Args:
            item: The item.
            here: Bytes of the input read before it.

        Returns:
            Bytes of the input read so far.
        """
        if self._log is None or item.source is not self._log.source:
            self._begin_log(item.source)
        log = self._log
        assert log is not None
        if isinstance(item, Broken):
            self._patch_rules.skip()
            self._compare(log, item.header)
            self._broken(log, item.error)
        elif isinstance(item, Read):
            self._compare(log, item.header)
            if item.batch is not None and len(item.batch):
                self._batch(log, item.batch, item.header)
            self._noticed(log, item)
            if item.batch is not None and len(item.batch) and log.lines is not None:
                log.searched = log.lines.last
                continues = item.batch.continues
                log.lines.forget(log.searched if continues else item.batch.position(-1))
            here = item.bytes_in
            self._report(lambda: self._progress(here))
        return here

    def _progress(self, here: int = 0) -> Progress:
        kind = "messages" if self._log is None else self._log.source.format.spec.kinds[0]
        return Progress(self._done + here, self._total, self.messages, self.records, kind)

    def _begin_log(self, source: Source) -> None:
        self._end_log()
        watched, self._watched = self._watched, None
        lines = None
        if not source.format.spec.binary:
            lines = watched[1] if watched and watched[0] is source.input else Lines()
        self._log = _LogState(source, lines)
        self._checker.begin_log(_own_folder(source, self._reading))
        self._patch_rules.begin_log()
        self._numbers.logs += source.input.refusal is None

    def _end_log(self) -> None:
        """Finish the current log, and count the dropped keys that were not reported."""
        log, self._log = self._log, None
        if log is not None and log.keys > 1:
            self._leave_out("key-without-iri", log.keys - 1)

    def _batch(self, log: _LogState, batch: AnyBatch, header: Mapping[str, Any]) -> None:
        self._numbers.messages += len(batch) - batch.continued
        self._numbers.records += batch.record_count
        log.labels = _labels(log.source, header)
        self._numbers.kinds[batch.kind] = None
        log.kind = batch.kind
        if isinstance(batch, PatchBatch):
            self._patches(log, batch)
        for rule, message, position, text, written in self._checker.check(batch, log.labels):
            stop = _end_of(batch, message)
            part = batch.continued and message == batch.first_index
            start = max(position, log.searched) if part else position
            if rule == "redeclared-namespace":  # declarations precede their message
                number = message - batch.first_index
                start = batch.position(number - 1) if number else log.searched
            where = self._where(log, start, stop, rule, written)
            self._add(log, rule, text, message=message, **where)
        for rule, count in self._checker.counts():
            more = count - self._counted.get(rule, 0)
            self._counted[rule] = count
            self._leave_out(rule, more - sum(each.rule == rule for each in self._new))
        if self.shapes is not None:
            self._conforms(log, batch)

    def _patches(self, log: _LogState, batch: PatchBatch) -> None:
        """Check that patches can be applied: transactions, and the chain of `prev` and `id`."""
        for broken, patch, row, offset, text in self._patch_rules.check(batch):
            rule, severity = _PATCH_RULES[broken]
            if broken == "chain-of-logs" and self.chain:
                severity = "error"
            if severity == "warning" and not self._returns_warning(rule):
                continue
            line, column = None, None
            if log.lines is not None:
                line, column = log.lines.at(offset) or (None, None)
            where = {"offset": offset, "line": line, "column": column}
            self._add(
                log, rule, f"row {row} of the patch: {text}", severity, message=patch, **where
            )

    # --- findings ---

    def _add(
        self,
        log: _LogState,
        rule: str,
        text: str,
        severity: Literal["error", "warning"] | None = None,
        **where: Any,
    ) -> None:
        severity = severity or RULES[rule].severity
        kind = log.kind or log.source.format.spec.kinds[0]
        self._new.append(Finding(log.source.name, severity, rule, text, kind=kind, **where))

    def _leave_out(self, rule: str, count: int) -> None:
        """Count warnings that are not returned."""
        if count <= 0:
            return
        self._numbers.rules[rule] = self._numbers.rules.get(rule, 0) + count
        self._numbers.left_out[rule] = self._numbers.left_out.get(rule, 0) + count
        if self.strict:
            self._numbers.errors += count
        else:
            self._numbers.warnings += count

    def _returns_warning(self, rule: str) -> bool:
        """Return whether to return another warning of a rule. If not, count it."""
        returned = self._numbers.rules.get(rule, 0) - self._numbers.left_out.get(rule, 0)
        returned += sum(each.rule == rule for each in self._new)
        if self.strict or returned < self.max_warnings:
            return True
        self._leave_out(rule, 1)
        return False

    def _is_enough(self) -> bool:
        """Whether the number of errors has reached `max_errors`."""
        new = sum(self.strict or each.severity == "error" for each in self._new)
        return self.max_errors is not None and self.errors + new >= self.max_errors

    def _where(
        self, log: _LogState, position: int, stop: int | None, rule: str, written: bytes
    ) -> dict[str, Any]:
        """Return the offset, line and column of a term, or of its message if it is not found."""
        lines = log.lines
        if lines is None:
            return {"offset": position}
        for spelling in _spellings(rule, written):
            if (offset := lines.find(spelling, position, stop)) is not None:
                break
        else:
            offset = lines.message_start(position)
        line, column = lines.at(offset) or (None, None)
        return {"offset": offset, "line": line, "column": column}

    def _broken(self, log: _LogState, error: DecodeError) -> None:
        refused = log.source.input.refusal is not None
        if refused and log.source.input.unreadable:
            rule = "unreadable"
        elif refused and not log.source.member:
            rule = "unknown-format"
        elif isinstance(error, TruncatedError):
            rule = "truncated"
        elif isinstance(error, LimitError):
            rule = "limit"
        elif isinstance(error, UnsupportedError):
            rule = "unsupported"
        else:
            rule = "syntax"
        if refused:
            self._add(log, rule, reason(log.source.name, error))
            return
        line, column = error.line, error.column
        if line is None and error.offset is not None and log.lines is not None:
            line, column = log.lines.at(error.offset) or (None, None)
        self._add(
            log,
            rule,
            reason(log.source.name, error) + recommendations(error.remedies),
            message=error.message_index,
            offset=error.offset,
            line=line,
            column=column,
            frame=error.frame,
            row=error.row,
            follows=error.follows,
            error=error,
        )

    def _unread(self, name: str, error: OSError | UnknownFormatError) -> None:
        """Report an input that cannot be read any further."""
        if isinstance(error, UnknownFormatError):
            text = reason(name, error) + recommendations(error.remedies)
            self._new.append(Finding(name, "error", "unknown-format", text, error=error))
        else:
            source = name if error.filename is None else visible(str(error.filename))
            text = error.strerror or str(error)
            self._new.append(Finding(source, "error", "unreadable", text))

    def _compare(self, log: _LogState, header: Mapping[str, Any]) -> None:
        """Compare the stream options of a log with those of `options_from`."""
        if self.stream_options is None or log.compared or "options" not in header:
            return
        format, given = self.stream_options
        if log.source.format.name != format:
            return
        log.compared = self._matched = True
        for text in exceeded_options(header["options"], given):
            self._add(log, "stream-options", text)

    def _noticed(self, log: _LogState, item: Read) -> None:
        """Report what the decoder noticed, such as comments that look like delimiters."""
        count = item.header.get("look_alikes", 0)
        offsets = item.header.get("look_alike_offsets", ())
        for index in range(log.look_alikes, count):
            if not self._returns_warning("look-alike"):
                self._leave_out("look-alike", count - index - 1)
                break
            offset = offsets[index] if index < len(offsets) else None
            line, column = None, None
            if log.lines is not None and offset is not None:
                line, column = log.lines.at(offset) or (None, None)
            text = "a comment looks like a message delimiter but is not one"
            self._add(log, "look-alike", text, offset=offset, line=line, column=column)
        log.look_alikes = count
        self._large_frames(log, item.header)
        if "joined" in item.header and not log.joined:
            log.joined = True
            self._add(log, "joined", item.header["joined"])
        if item.lost.keys:
            if log.keys == 0 and self._returns_warning("key-without-iri"):
                self._key(log, item)
            log.keys += item.lost.keys

    def _large_frames(self, log: _LogState, header: Mapping[str, Any]) -> None:
        """Report frames that are larger than recommended."""
        count = header.get("large_frames", 0)
        first = header.get("first_large_frames", ())
        for index in range(log.large_frames, count):
            if not self._returns_warning("large-frame"):
                self._leave_out("large-frame", count - index - 1)
                break
            offset, frame, size = first[index] if index < len(first) else (None, None, None)
            what = "the frame" if size is None else f"the frame of {size} bytes"
            text = f"{what} is larger than the recommended 1 MB"
            self._add(log, "large-frame", text, offset=offset, frame=frame)
        log.large_frames = count

    def _key(self, log: _LogState, item: Read) -> None:
        """Report the first dropped key of a log."""
        key = item.lost.key or ""
        where: dict[str, Any] = {}
        if item.batch is not None and len(item.batch):
            written = f'"{key[1:-1]}"'.encode()
            where = self._where(log, item.batch.position(0), None, "key-without-iri", written)
        text = f"the key {key} has no IRI and is dropped with its values"
        self._add(log, "key-without-iri", text, **where)

    def _conforms(self, log: _LogState, batch: AnyBatch) -> None:
        """Report the messages that do not conform to the shapes."""
        if not isinstance(batch, MessageBatch):
            raise OptionError(
                f"{spelled('shapes')} is for messages, and {log.source.name} contains {batch.kind}"
            )
        assert self.shapes is not None
        for number, message in enumerate(batch):
            if self._is_enough():
                break
            index, position = batch.first_index + number, batch.position(number)
            stop = _end_of(batch, index)
            try:
                results = self.shapes.results(message)
            except (EncodeError, ValueError) as error:
                text = error.reason if isinstance(error, EncodeError) else str(error)
                where = self._where(log, position, stop, "shacl", b"")
                text = f"the message cannot be checked: {text}"
                self._add(log, "shacl", text, message=index, **where)
                self._numbers.not_conforming += 1
                continue
            self._numbers.not_conforming += bool(results)
            for result in results:
                mild = result.severity in ("Warning", "Info")
                if mild and not self._returns_warning("shacl"):
                    continue
                where = self._where(log, position, stop, "shacl", result.focus.encode())
                parts = [f"focus node {result.focus}"]
                parts += [f"path {result.path}"] if result.path else []
                parts += [f"value {result.value}"] if result.value else []
                self._add(
                    log,
                    "shacl",
                    f"{result.message}; {', '.join(parts)}",
                    "warning" if mild else "error",
                    message=index,
                    focus=result.focus,
                    path=result.path,
                    value=result.value,
                    shape=result.shape,
                    **where,
                )


def _place(found: Finding) -> int:
    """Return the sort key of a finding: its offset. Findings without an offset come last."""
    return sys.maxsize if found.offset is None else found.offset


def _labels(source: Source, header: Mapping[str, Any]) -> Literal["none", "chosen", "all"]:
    """Return which blank node labels are suspicious if several messages share them."""
    format = source.format.name
    if format == "jelly":
        logical = str(header.get("options", {}).get("logical_type", ""))
        return "all" if logical.startswith("flat") else "none"
    if format in _ONE_DATASET and header.get("dialect") in (None, "comment"):
        return "chosen"
    return "none"


def _end_of(batch: AnyBatch, message: int) -> int | None:
    """Return the offset of the message after `message`, or `None` if it is not in the batch."""
    number = message - batch.first_index + 1
    return batch.position(number) if number < len(batch) else None


def _spellings(rule: str, written: bytes) -> Iterator[bytes]:
    """Yield the possible spellings of a term, the most likely first."""
    if written:
        yield written
    if rule == "ill-typed-literal":
        yield written.removesuffix(b"^^")  # also in JSON
    elif rule in ("relative-iri", "redeclared-namespace"):
        yield b'"%b"' % written[1:-1]
    elif rule == "language-tag":
        yield written.removeprefix(b'"')
        yield b'"%b"' % written.removeprefix(b'"@')
    elif rule == "shared-blank-node":
        yield b'"%b"' % written
