"""What is in a log: `inspect` reads it once and counts.

In: a log, as `open_log` takes it. Out: a `Report`.
Cost: one batch of memory, and the counts of at most `MOST_NAMES` names of each kind.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

from rdfm._core import MessageBatch
from rdfm.errors import RdfmError
from rdfm.formats import FormatModule
from rdfm.logs.input import Input, Readable, files_of, holds_files
from rdfm.logs.log import Codecs, decode, make_codec
from rdfm.logs.notes import Notes
from rdfm.logs.progress import Progress, Reporter, total_bytes

__all__ = ["Report", "inspect"]

TOP = 10
MOST_NAMES = 100_000
MOST_NAMESPACES = 10_000


@dataclass
class Report:
    """What `inspect` found.

    Attributes:
        source: The file's name or URL.
        format: The format's name; of several logs those met, as in `ttl, trig`.
        logs: Number of logs: files of a folder, members of an archive; else 1.
        compression: gzip, zstd, bzip2, xz or None.
        bytes: Bytes read of the file (compressed): all, or those before the first error; of a compressed
            file or an archive as many as had to be read for that.
        decompressed_bytes: Bytes read of the log, up to the first error.
        bytes_total: Bytes of the file or files (compressed), read or not; None where that is not known.
        dialect: How messages are delimited in a text log: comment, directive, plain, or None where
            nothing shows it.
        version_label: The label by which a text log announces its dialect.
        jelly: The stream options of a Jelly log.
        messages: Number of messages.
        empty_messages: Those without quads.
        quads: Number of quads.
        quads_per_message: Smallest, mean and largest; None without messages.
        has_graphs: Whether a quad is in a named graph.
        predicates: The most frequent predicates and their numbers of quads.
        datatypes: The most frequent datatypes of objects and their numbers.
        namespaces: The namespaces in force, each as last declared.
        metadata: The metadata keys and the number of messages that have them.
        dropped_keys: Keys of JSON-LD that no context maps to an IRI, so that they are dropped with their
            values.
        dropped_key: The first of them, quoted; None where there is none.
        fault: The text of the first error, after which nothing was read; None if there is none.
        notes: What whoever reads the log should know, a sentence each; of several logs ten, and the
            number of the others.
    """

    source: str
    format: str
    compression: str | None = None
    bytes: int = 0
    decompressed_bytes: int = 0
    dialect: str | None = None
    version_label: str | None = None
    jelly: dict[str, Any] | None = None
    messages: int = 0
    empty_messages: int = 0
    quads: int = 0
    quads_per_message: tuple[int, float, int] | None = None
    has_graphs: bool = False
    predicates: dict[str, int] = field(default_factory=dict)
    datatypes: dict[str, int] = field(default_factory=dict)
    namespaces: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, int] = field(default_factory=dict)
    dropped_keys: int = 0
    dropped_key: str | None = None
    fault: str | None = None
    logs: int = 1
    bytes_total: int | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give the report as what JSON can hold."""
        return asdict(self)


def inspect(
    source: Readable,
    format: str | None = None,
    *,
    top: int = TOP,
    progress: Callable[[Progress], None] | None = None,
    **options: Any,
) -> Report:
    """Read a log to its end, or to its first error, and say what is in it.

    Args:
        source: What `open_log` takes.
        format: Such as "nq"; found from the suffix, then from the content, unless given.
        top: How many predicates and datatypes to name.
        progress: Called about ten times a second.
        **options: Those of the format's decoder.

    Raises:
        UnknownFormatError: The format cannot be told.
        OptionError: The format takes no such option, or `progress` is no function.
        OSError: The file cannot be read.

    Example:
        >>> report = inspect(b'<http://ex/s> <http://ex/p> "o" .')
        >>> report.format, report.messages, report.predicates
        ('nq', 1, {'http://ex/p': 1})
    """
    tell = Reporter(progress)
    total = total_bytes([source])
    if holds_files(source):
        report = _several(os.fspath(source), files_of(source), format, options, tell, total)  # type: ignore[arg-type]  # a path
    else:
        data = Input(source)
        with contextlib.closing(data):
            if data.is_archive(format):
                report = _several(data.name, [data], format, options, tell, total)
            else:
                report = _one(data, data.format(format), options, tell, total)
    report.predicates = _top(report.predicates, top)
    report.datatypes = _top(report.datatypes, top)
    tell(lambda: Progress(report.bytes, total, report.messages, report.quads), force=True)
    return report


def _one(
    data: Input,
    module: FormatModule,
    options: dict[str, Any],
    tell: Reporter,
    total: int | None,
) -> Report:
    """The report of one log."""
    known = module.FORMAT.decode_options
    defaults = {"parts": True, "base": data.url}
    options = {name: value for name, value in defaults.items() if name in known} | options
    report = Report(data.name, module.FORMAT.name, data.compression, bytes_total=total)
    decoder = make_codec(module.Decoder, module.FORMAT, known, options)
    counts = _Counts(report, module.FORMAT.carries)
    fault = None
    try:
        for batch in decode(decoder, data):
            counts.add(batch)
            tell(lambda: Progress(data.reached, total, report.messages, report.quads))
    except RdfmError as error:
        fault, report.fault = error, str(error)
    header = decoder.header()
    _head(report, header)
    _add_dropped(report, header)
    notes = Notes()
    notes.update(data, header.get("notes", ()))
    report.notes = notes.texts()
    report.bytes, report.decompressed_bytes = _bytes_before(data, fault)
    counts.end()
    return report


def _several(
    name: str,
    inputs: Iterable[Input],
    format: str | None,
    options: dict[str, Any],
    tell: Reporter,
    total: int | None,
) -> Report:
    """The report of a folder, glob or archive."""
    Codecs(format, options).check()
    codecs = Codecs(format, {"parts": True, **options})  # where a format has parts
    report = Report(name, "", logs=0, bytes_total=total)
    counts = _Counts(report, {"metadata": True})
    found: dict[str, None] = {}
    files: list[Input] = []
    notes = Notes()
    data = fault = None
    begun = before = 0  # files, and bytes of those before the last
    try:
        for data in _logs(inputs, format, files):
            while begun < len(files) - 1:
                before += files[begun].bytes_read
                begun += 1
            decoder, module = codecs.decoder(data)
            if data.refusal is None:
                found.setdefault(module.FORMAT.name)
            report.logs += 1
            for batch in decode(decoder, data):
                counts.add(batch)
                done = before + files[-1].reached
                tell(lambda done=done: Progress(done, total, report.messages, report.quads))  # type: ignore[misc]  # called at once
            header = decoder.header()
            _add_dropped(report, header)
            notes.update(data, header.get("notes", ()))
            if report.logs == 1:
                _head(report, header)
    except RdfmError as error:
        fault, report.fault = error, str(error)
    finally:
        for data in files:
            data.close()
    report.notes = notes.texts()
    report.format = ", ".join(found)
    compressed = {data.compression for data in files}
    report.compression = compressed.pop() if len(compressed) == 1 else None
    for file in files:
        read, given = _bytes_before(file, fault if file is data else None)
        report.bytes += read
        report.decompressed_bytes += given
    counts.end()
    return report


def _bytes_before(data: Input, fault: RdfmError | None) -> tuple[int, int]:
    """How much was read of an input (compressed, decompressed), up to the error that ended that."""
    offset = getattr(fault, "offset", None)
    if offset is None or fault is data.fault:  # else it counts in the decompressed log
        return data.bytes_read, data.bytes_given
    given = min(offset, data.bytes_given)
    return given if data.compression is None else data.bytes_read, given


def _logs(inputs: Iterable[Input], format: str | None, files: list[Input]) -> Iterator[Input]:
    """The logs of a folder, glob or archive; `files` gets what is opened for them."""
    for data in inputs:
        files.append(data)
        if data.is_archive(format):
            yield from chain.from_iterable(data.members())
        else:
            yield data
            data.close()


def _head(report: Report, header: Mapping[str, Any]) -> None:
    report.dialect = header.get("dialect")
    report.version_label = header.get("version_label")
    report.jelly = header.get("jelly")


def _add_dropped(report: Report, header: Mapping[str, Any]) -> None:
    report.dropped_keys += header.get("dropped_keys", 0)
    report.dropped_key = report.dropped_key or header.get("dropped_key")


class _Counts:
    """What is added up over the batches."""

    def __init__(self, report: Report, carries: Mapping[str, Any]) -> None:
        self._report = report
        self._carries_metadata = carries.get("metadata", False)
        self._predicates: Counter[str] = Counter()
        self._datatypes: Counter[str] = Counter()
        self._metadata: Counter[str] = Counter()
        self._smallest: int | None = None
        self._largest = 0
        self._open = 0  # quads so far of a message that goes on in the next batch

    def add(self, batch: MessageBatch) -> None:
        if not len(batch):
            return
        report = self._report
        counts = batch.quad_counts()
        report.quads += batch.quad_count
        report.has_graphs |= batch.has_graphs
        if batch.continued:
            counts[0] += self._open
        self._open = counts.pop() if batch.continues else 0
        self._sizes(counts)
        _add(self._predicates, batch.predicate_counts())
        _add(self._datatypes, batch.datatype_counts())
        for _, name, iri in batch.declarations():
            if len(report.namespaces) < MOST_NAMESPACES or name in report.namespaces:
                report.namespaces[name] = iri
        if self._carries_metadata:
            for message in range(len(batch)):
                _add(self._metadata, dict.fromkeys(batch.metadata(message), 1))

    def _sizes(self, counts: Iterable[int]) -> None:
        for count in counts:
            self._report.messages += 1
            self._report.empty_messages += count == 0
            self._largest = max(self._largest, count)
            self._smallest = count if self._smallest is None else min(self._smallest, count)

    def end(self) -> None:
        report = self._report
        if report.messages:
            mean = round((report.quads - self._open) / report.messages, 2)
            report.quads_per_message = (self._smallest or 0, mean, self._largest)
        report.predicates = dict(self._predicates)
        report.datatypes = dict(self._datatypes)
        report.metadata = _top(self._metadata, MOST_NAMES)


def _top(counter: Mapping[str, int], count: int) -> dict[str, int]:
    """The most frequent names; those of equal number by name."""
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0]))[:count])


def _add(counter: Counter[str], counts: dict[str, int]) -> None:
    """Add counts; the rarest names go when there are too many to hold."""
    counter.update(counts)
    if len(counter) > MOST_NAMES:
        kept = counter.most_common(MOST_NAMES // 2)
        counter.clear()
        counter.update(dict(kept))
