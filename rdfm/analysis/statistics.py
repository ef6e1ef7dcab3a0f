"""Log statistics: `statistics` reads a log once, and a `Collector` accepts batches.

In: a log that `open_log` accepts. Out: `Statistics`, also as JSON, RDF or HTML.
Cost: memory for one batch and about 20 MB of counts, regardless of the size of the log.
Law: the division of messages into batches does not change any number.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from rdfm.analysis.log_statistics import (
    TOP,
    Distinct,
    LogCollector,
    LogStatistics,
    Names,
    Series,
    Sizes,
    Variable,
)
from rdfm.errors import DecodeError, OptionError, RdfmError
from rdfm.logs.input.driver import (
    Driver,
    ReadError,
    ReadSettings,
    SkippedData,
    SkippedLines,
    Source,
)
from rdfm.logs.input.inputs import Readable
from rdfm.logs.input.progress import Progress, ProgressFunction, Reporter, total_bytes
from rdfm.logs.notebook import log_line
from rdfm.logs.notes import Notes
from rdfm.logs.read.read_ahead import read_ahead
from rdfm.storage.paths import local_path
from rdfm.storage.pipes import open_to_read

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ReadOptions

__all__ = [
    "Collector",
    "Distinct",
    "Names",
    "Series",
    "Sizes",
    "Statistics",
    "Variable",
    "statistics",
]


@dataclass(frozen=True, repr=False)
class Statistics(LogStatistics):
    """Statistics of a log.

    A message is a dataset, so a repeated quad in a message counts once, except in `quads`.

    Attributes:
        source: Name or URL of the file.
        format: Name of the format. For several logs, the names of their formats, as in `ttl, trig`.
        kind: The kind of the messages: "messages", "patches" or "results".
        logs: Number of logs: files of a folder or members of an archive, otherwise 1.
        bytes: Number of bytes read (compressed).
        messages: Number of messages, patches or rows. An invalid message, and messages after it,
            are not counted.
        empty_messages: Number of messages without quads, operations or bound cells.
        approximate_messages: Number of messages with more than 65,536 distinct terms or 262,144
            distinct quads. Some of their numbers are estimates, and their repeated quads are
            counted in names and occurrences.
        quads: Number of quads, including repeated ones. For patches, quads added and deleted; for
            results, 0.
        quads_per_message: Quads per message. For patches, operations; for results, bound cells.
        bytes_per_message: Bytes per message as N-Quads without repeated quads, plus 8 for the
            delimiter, regardless of the format of the log. `None` for patches and results.
        adds_per_patch: For patches, quads added by each patch; otherwise `None`.
        deletes_per_patch: For patches, quads deleted by each patch; otherwise `None`.
        operations: For patches, the number of operations by code.
        variables: For results, the variables.
        series: The fifteen RiverBench statistics, with one number for each message. For patches,
            without `byte_density`; for results, empty.
        distinct: Distinct terms of the log: `iris`, `blank_nodes`, `literals`, `simple_literals`,
            `datatype_literals`, `language_literals`, `datatypes`, `subjects`, `predicates`,
            `objects`, `graphs` and `quoted_triples`.
        occurrences: Number of occurrences of terms in quads or cells, including those in triple
            terms.
        datatypes: Datatypes of literals, by occurrences.
        languages: Language tags of literals, by occurrences.
        predicates: Predicates that are IRIs, by quads.
        types: Objects of `rdf:type` that are IRIs, by quads.
        namespaces: IRIs up to their last `#` or `/`, otherwise up to their last `:`, by
            occurrences.
        prefixes: Prefixes that the log declares, each with its last IRI.
        sha256: SHA-256 of the file (compressed), in hexadecimal. `None` if it was not
            requested, or if the source is not a single file or bytes.
        error: Text of the first error, after which reading stopped, or `None`.
        notes: Information for readers of the log, one sentence each.
    """

    def to_rdf(self, iri: str | None = None) -> str:
        """Return the statistics as Turtle, in the VoID, DCAT and RiverBench vocabularies.

        The result lists only the predicates and classes that are in the statistics. To include all
        that are counted, collect the statistics with `top=None`.

        Args:
            iri: IRI of the dataset. A blank node by default.

        Raises:
            OptionError: If `iri` is not an absolute IRI, or the statistics are not of messages.
        """
        from rdfm.analysis.report_rdf import turtle

        return turtle(self, iri)

    def to_html(self) -> str:
        """Return the statistics as a self-contained HTML page."""
        from rdfm.analysis.report_html import page

        return page(self)

    def __repr__(self) -> str:
        """Return a string such as `<Statistics of a.nq: nq, 3 messages, 5 quads>`."""
        return log_line("Statistics", self)

    def _repr_html_(self) -> str:
        from rdfm.analysis.report_html import fragment

        return fragment(self)


class Collector(LogCollector):
    """Computes statistics from batches. The statistics are available at any time.

    Example:
        >>> import rdfm
        >>> collector = Collector()
        >>> with rdfm.open_log(b'<http://ex/s> <http://ex/p> "o" .', "nq") as log:
        ...     for batch in log.batches():
        ...         collector.add(batch)
        >>> collector.statistics().series["statements"].sum
        1
    """

    _RESULT = Statistics

    def statistics(self, *, top: int | None = TOP, **fields: Any) -> Statistics:
        """Return the statistics of all batches added so far. More batches may follow.

        Args:
            top: Number of names to return in each list, or `None` for all that are counted.
            **fields: Other fields: `source`, `format`, `kind`, `logs`, `bytes`, `sha256`, `error`
                and `notes`.
        """
        statistics: Statistics = super().statistics(top=top, **fields)
        return statistics


def _compute_sha256(source: Readable) -> str | None:
    """Return the SHA-256 of a local file or of bytes, or `None` for other sources."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return sha256(source).hexdigest()
    path = local_path(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else None
    if path is None or not Path(path).is_file():
        return None
    with open_to_read(path) as file:
        return file_digest(file, "sha256").hexdigest()


def statistics(
    source: Readable,
    format: str | None = None,
    *,
    top: int | None = TOP,
    checksum: bool = False,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: ProgressFunction = None,
    **options: Unpack[ReadOptions],
) -> Statistics:
    """Read a log to its end, or to its first error, and return its statistics.

    Args:
        source: A log that `open_log` accepts.
        format: Format such as "nq". By default it is detected from the suffix, then from the
            content.
        top: Number of names to return in each list, at least 0, or `None` for all that are counted.
        checksum: Compute the SHA-256 of a local file or of bytes. A local file is read a second
            time. Other sources do not have a checksum.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        progress: True for a progress bar, or a function to call about ten times per second.
        **options: Options of the decoder of the format.

    Raises:
        UnknownFormatError: If the format cannot be detected.
        OptionError: If the format does not support an option, `progress` is not a function, or the
            logs are of several kinds.
        OSError: If the file cannot be read.

    Example:
        >>> found = statistics(b'<http://ex/s> <http://ex/p> "o", "o" .', "ttl")
        >>> found.messages, found.quads, found.series["statements"].sum
        (1, 2, 1)
    """
    if top is not None and top < 0:
        raise OptionError(f"top is {top}, expected 0 or more")
    report_progress = Reporter(progress)
    total = total_bytes([source])
    settings = ReadSettings(format, options, compression, storage_options, parts="always")
    driver = Driver([source], settings)
    collector = Collector()
    notes = Notes()
    format_names: dict[str, None] = {}
    kind = "messages"
    error: str | None = None
    messages = records = done_bytes = logs = 0
    last: Source | None = None

    def current() -> Progress:
        return Progress(done_bytes, total, messages, records, collector.kind or kind)

    items = read_ahead(driver)
    try:
        for item in items:
            if item.source is not last:
                last, logs = item.source, logs + 1
                kind = last.format.spec.kinds[0]  # until the first batch
                collector.start_log()
                if last.input.rejection is None:
                    format_names.setdefault(last.format.name)
            if isinstance(item, SkippedData | SkippedLines):
                continue
            notes.update(item.source, item.header.get("notes", ()))
            if isinstance(item, ReadError):
                raise item.error
            done_bytes = item.bytes_in
            if item.batch is not None:
                collector.add(item.batch, item.source.name)
                messages += len(item.batch) - item.batch.continued
                records += item.batch.record_count
                report_progress(current)
    except RdfmError as caught:
        if not isinstance(caught, DecodeError):
            raise
        error = str(caught)
    finally:
        items.close()
        driver.close()
    report_progress(current, force=True)
    return collector.statistics(
        top=top,
        source=last.name if last is not None and not driver.several else driver.name,
        format=", ".join(format_names) or driver.format or "",
        kind=kind,
        logs=logs if driver.several else 1,
        bytes=done_bytes,
        sha256=_compute_sha256(source) if checksum else None,
        error=error,
        notes=(*(() if error else driver.notes()), *notes.texts()),
    )
