"""Log summaries: `inspect` reads a log once and counts its contents.

In: a log that `open_log` accepts. Out: an `Inspection`.
Cost: memory for one batch, and for the counts of at most 16,384 names (2 MiB) per list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

from rdfm._core import MessageBatch, NameListing, PatchBatch, PatchRules, ResultBatch
from rdfm.errors import DecodeError, OptionError, RdfmError
from rdfm.logs.counters import CounterRange
from rdfm.logs.input.driver import (
    Driver,
    ReadError,
    ReadSettings,
    SkippedData,
    SkippedLines,
    Source,
)
from rdfm.logs.input.inputs import Input, Readable
from rdfm.logs.input.progress import Progress, ProgressFunction, Reporter, total_bytes
from rdfm.logs.notebook import html_fields, log_line
from rdfm.logs.notes import Notes

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ReadOptions
    from rdfm.message import AnyBatch

__all__ = ["Inspection", "inspect"]

TOP = 10
MAX_NAMESPACES = 10_000
# Lists of names in a report.
LISTS = ("predicates", "datatypes", "metadata", "headers")
# Codes of operations, in the order of the report.
CODES = ("H", "TX", "TC", "TA", "PA", "PD", "A", "D")


@dataclass
class Inspection:
    """The result of `inspect`.

    Attributes:
        source: Name or URL of the file.
        format: Name of the format. For several logs, the names of their formats, as in `ttl, trig`.
        compression: "gzip", "zstd", "bzip2" or "xz"; `None` without compression, or if several
            files have different ones.
        bytes: Number of (compressed) bytes read from the file, up to the first error. For a
            compressed file or an archive, the bytes that had to be read to reach the error.
        decompressed_bytes: Number of decompressed bytes read from the log, up to the first error.
        dialect: Dialect of a text log: "comment", "directive", "plain", or `None` if the log does
            not reveal it.
        version_label: The version label that announces the dialect of a text log.
        options: The stream options, if the format has them, as Jelly does.
        column_bytes: In Jelly 1.2, the size of each column in bytes, and of the lookup entries.
        kind: The kind of the messages: "messages", "patches" or "results".
        messages: Number of messages, patches or rows.
        empty_messages: Number of messages without quads or operations.
        quads: Number of quads; for patches, quads added and deleted.
        quads_per_message: Smallest, mean and largest number of quads in a message (operations in a
            patch), or `None` if there are no messages.
        has_graphs: Whether any quad is in a named graph.
        predicates: The most frequent predicates, each with its number of quads.
        datatypes: The most frequent datatypes of objects, with their counts.
        namespaces: The declared prefixes, each with its last IRI.
        metadata: The most frequent metadata keys, each with the number of messages that have it.
        counters: The first and the last counter of nanopublications from a registry: the metadata
            `c` of the first and the last message of all logs. `None` if either has no counter.
        operations: For patches, the number of operations by code.
        headers: For patches, the most frequent header keys, with their counts.
        more: Number of other names that were counted, by list: `predicates`, `datatypes`,
            `metadata` and `headers`.
        others: Number of occurrences of names that were not counted, by list. Only the first 16,384
            names of each list are counted, with a total size of 2 MiB. No uncounted name
            occurs more often than this number.
        links: Number of patches with `prev`.
        broken_links: Number of patches whose `prev` is not the `id` of the previous patch.
        broken_link: The first broken link, with the reason, or `None`.
        misplaced_rows: Number of rows that begin a transaction within another one, or end one that
            has not begun.
        misplaced_row: The first misplaced row, with the reason, or `None`.
        unfinished: Number of transactions that do not end in their patch.
        variables: For results, the names of the variables; otherwise `None`.
        boolean: For the results of an ASK query, the answer; otherwise `None`.
        dropped_keys: Number of JSON-LD keys that no context maps to an IRI. They are dropped with
            their values.
        dropped_key: The first dropped key, quoted, or `None`.
        error: Text of the first error, after which reading stopped, or `None`.
        logs: Number of logs: files of a folder or members of an archive, otherwise 1.
        bytes_total: Total (compressed) size of the files, including unread ones, or `None` if it is
            unknown.
        notes: Information for readers of the log, one sentence each. For several logs, at most ten
            notes and the number of further ones.
    """

    source: str
    format: str
    compression: str | None = None
    bytes: int = 0
    decompressed_bytes: int = 0
    dialect: str | None = None
    version_label: str | None = None
    options: dict[str, Any] | None = None
    column_bytes: dict[str, int] = field(default_factory=dict)
    kind: str = "messages"
    messages: int = 0
    empty_messages: int = 0
    quads: int = 0
    quads_per_message: tuple[int, float, int] | None = None
    has_graphs: bool = False
    predicates: dict[str, int] = field(default_factory=dict)
    datatypes: dict[str, int] = field(default_factory=dict)
    namespaces: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, int] = field(default_factory=dict)
    counters: tuple[int, int] | None = None
    operations: dict[str, int] = field(default_factory=dict)
    headers: dict[str, int] = field(default_factory=dict)
    more: dict[str, int] = field(default_factory=dict)
    others: dict[str, int] = field(default_factory=dict)
    links: int = 0
    broken_links: int = 0
    broken_link: str | None = None
    misplaced_rows: int = 0
    misplaced_row: str | None = None
    unfinished: int = 0
    variables: tuple[str, ...] | None = None
    boolean: bool | None = None
    dropped_keys: int = 0
    dropped_key: str | None = None
    error: str | None = None
    logs: int = 1
    bytes_total: int | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a dictionary that can be serialized as JSON."""
        return asdict(self)

    def __repr__(self) -> str:
        """Return a string such as `<Inspection of a.nq: nq, 3 messages, 5 quads>`."""
        return log_line("Inspection", self)

    def _repr_html_(self) -> str:
        """An HTML table for notebooks."""
        return html_fields(f"Inspection of {self.source}", vars(self))


def inspect(
    source: Readable,
    format: str | None = None,
    *,
    top: int = TOP,
    progress: ProgressFunction = None,
    **options: Unpack[ReadOptions],
) -> Inspection:
    """Read a log to its end, or to its first error, and summarize it.

    Args:
        source: A log that `open_log` accepts.
        format: Format such as "nq". By default it is detected from the suffix, then from the
            content.
        top: Number of names to return in each list: predicates, datatypes, metadata keys and header
            keys.
        progress: True for a progress bar, or a function to call about ten times per second.
        **options: Options of the decoder of the format.

    Raises:
        UnknownFormatError: If the format cannot be detected.
        OptionError: If the format does not support an option, `progress` is not a function, or the
            logs are of several kinds.
        OSError: If the file cannot be read.

    Example:
        >>> report = inspect(b'<http://ex/s> <http://ex/p> "o" .')
        >>> report.format, report.messages, report.predicates
        ('nq', 1, {'http://ex/p': 1})
    """
    if top < 0:
        raise OptionError(f"top is {top}, expected 0 or more")
    report_progress = Reporter(progress)
    total = total_bytes([source])
    driver = Driver([source], ReadSettings(format, options, parts="always"))
    report = Inspection(driver.name, driver.format or "", bytes_total=total)
    counts = _Counts(report)
    notes = Notes()
    files: dict[Input, None] = {}
    format_names: dict[str, None] = {}
    error: RdfmError | None = None
    data: Input | None = None
    logs = 0
    last: Source | None = None
    column_bytes: dict[int, Mapping[str, int]] = {}
    try:
        for item in driver:
            if item.source is not last:
                last, logs = item.source, logs + 1
                data = last.input
                report.kind = last.format.spec.kinds[0]  # until the first batch
                files.update(dict.fromkeys((*driver.opened, *(() if last.member else (data,)))))
                if data.rejection is None:
                    format_names.setdefault(last.format.name)
                if not driver.several:
                    report.source = last.name
            if isinstance(item, SkippedData | SkippedLines):
                continue
            if logs == 1:
                _set_header(report, item.header)
            if "column_bytes" in item.header:
                column_bytes[logs] = item.header["column_bytes"]
            notes.update(item.source, item.header.get("notes", ()))
            if isinstance(item, ReadError):
                raise item.error
            report.dropped_keys += item.dropped_data.keys
            report.dropped_key = report.dropped_key or item.dropped_data.key
            if item.batch is not None:
                counts.add(item.source.name, item.batch)
                done_bytes = item.bytes_in
                report_progress(lambda done_bytes=done_bytes: counts.progress(done_bytes, total))  # type: ignore[misc]  # called at once
    except RdfmError as caught:
        error, report.error = caught, str(caught)
        if not isinstance(caught, DecodeError):
            raise
    finally:
        driver.close()
    for sizes in column_bytes.values():
        for name, size in sizes.items():
            report.column_bytes[name] = report.column_bytes.get(name, 0) + size
    report.logs = logs if driver.several else 1
    report.notes = (*(() if error else driver.notes()), *notes.texts(), *counts.notes())
    report.format = ", ".join(format_names) or report.format
    compressed = {file.compression for file in files}
    report.compression = compressed.pop() if len(compressed) == 1 else None
    for file in files:
        read, bytes_read = _count_bytes_before(file, error if file is data else None)
        report.bytes += read
        report.decompressed_bytes += bytes_read
    counts.end(top)
    report_progress(lambda: counts.progress(report.bytes, total), force=True)
    return report


def _count_bytes_before(data: Input, error: RdfmError | None) -> tuple[int, int]:
    """Return the numbers of compressed and decompressed bytes read before the error."""
    offset = getattr(error, "byte_offset", None)
    if offset is None or error is data.error:  # not an offset in the decompressed log
        return data.bytes_read, data.bytes_given
    decoded_bytes = min(offset, data.bytes_given)
    return decoded_bytes if data.compression is None else data.bytes_read, decoded_bytes


def _set_header(report: Inspection, header: Mapping[str, Any]) -> None:
    report.dialect = header.get("dialect")
    report.version_label = header.get("version_label")
    report.options = header.get("options")


class _Counts:
    """Adds up the counts of batches."""

    def __init__(self, report: Inspection) -> None:
        self._report = report
        self._names = NameListing()
        self._smallest: int | None = None
        self._largest = 0
        self._open = 0  # records so far of a message that continues in the next batch
        self._all_records = 0
        self._rules = PatchRules()
        self._kind: str | None = None
        self._counters = CounterRange()
        # Logs whose variables or answer differ from those of the first log.
        self._differing_logs: dict[str, None] = {}

    def add(self, source: str, batch: AnyBatch) -> None:
        if self._kind not in (None, batch.kind):
            raise OptionError(
                f"{source} contains {batch.kind}, but earlier logs contain {self._kind}; "
                "inspect logs of one kind at a time"
            )
        if isinstance(batch, ResultBatch):
            self._add_results(source, batch)
        elif isinstance(batch, PatchBatch):
            self._add_patches(batch)
        elif len(batch):
            self._add_messages(batch)
        self._report.kind = self._kind = batch.kind

    def _add_results(self, source: str, batch: ResultBatch) -> None:
        report = self._report
        head = batch.variables, batch.boolean
        if self._kind is None:
            report.variables, report.boolean = head
        elif head != (report.variables, report.boolean):
            self._differing_logs[source] = None
        report.messages += len(batch)
        self._all_records += len(batch)

    def notes(self) -> tuple[str, ...]:
        """Return a note if result logs have different variables or answers."""
        if not self._differing_logs:
            return ()
        first, more = next(iter(self._differing_logs)), len(self._differing_logs) - 1
        names = first if not more else f"{first} and {more:,} more"
        return (f"the variables or the answer differ from those of the first log: {names}",)

    def _add_records(self, counts: list[int], batch: MessageBatch | PatchBatch) -> None:
        """Count messages, given the number of records in each."""
        self._report.has_graphs |= batch.has_graphs
        if batch.continued:
            counts[0] += self._open
        self._open = counts.pop() if batch.continues else 0
        self._add_sizes(counts)

    def _add_patches(self, batch: PatchBatch) -> None:
        report = self._report
        for code, count in batch.code_counts():
            report.operations[code] = report.operations.get(code, 0) + count
        report.quads = report.operations.get("A", 0) + report.operations.get("D", 0)
        self._all_records += batch.record_count
        self._names.add(batch)
        for rule, patch, row, _, text in self._rules.check(batch):
            if rule == "unfinished":
                report.unfinished += 1
            elif rule == "transaction":
                report.misplaced_rows += 1
                report.misplaced_row = report.misplaced_row or f"patch {patch}, row {row}: {text}"
            else:
                report.broken_links += 1
                report.broken_link = report.broken_link or f"patch {patch}: {text}"
        report.links = self._rules.links()
        self._add_records(batch.operation_counts(), batch)

    def _add_messages(self, batch: MessageBatch) -> None:
        report = self._report
        self._counters.add(batch)
        report.quads += batch.quad_count
        self._all_records += batch.quad_count
        self._add_records(batch.quad_counts(), batch)
        self._names.add(batch)
        for _, name, iri in batch.declarations():
            if len(report.namespaces) < MAX_NAMESPACES or name in report.namespaces:
                report.namespaces[name] = iri

    def _add_sizes(self, counts: Iterable[int]) -> None:
        for count in counts:
            self._report.messages += 1
            self._report.empty_messages += count == 0
            self._largest = max(self._largest, count)
            self._smallest = count if self._smallest is None else min(self._smallest, count)

    def progress(self, done: int, total: int | None) -> Progress:
        report = self._report
        return Progress(done, total, report.messages, self._all_records, report.kind)

    def end(self, top: int) -> None:
        report = self._report
        if report.messages and report.kind != "results":
            mean = round((self._all_records - self._open) / report.messages, 2)
            report.quads_per_message = (self._smallest or 0, mean, self._largest)
        report.counters = self._counters.bounds
        lists = self._names.report(top)
        for name in LISTS:
            names = lists[name]
            setattr(report, name, names["counts"])
            if omitted_count := names["number"] - len(names["counts"]):
                report.more[name] = omitted_count
            if names["others"]:
                report.others[name] = names["others"]
        report.operations = {
            code: report.operations[code] for code in CODES if code in report.operations
        }
