"""RiverBench packages: `package` writes all distributions of a dataset.

In: a log, and properties that cannot be inferred from its messages. Out: a folder.
Cost: the log is read once, and each message is encoded and compressed three times: flat, in a tar
archive and as Jelly. Memory is bounded by a batch and the statistics, regardless of the log size.
Law: the same log and options give the same bytes. The folder appears under its name when it is
complete.
"""

from __future__ import annotations

import os
import re
import time
from bisect import bisect_right
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from rdfm._core import Iri, MessageBatch, TripleTerm
from rdfm.analysis.log_statistics import LogCollector, LogStatistics
from rdfm.analysis.statistics_rdf import check_iri
from rdfm.errors import DecodeError, EncodeError, OptionError, RdfmError, Remedy
from rdfm.logs.input.driver import Driver, ReadBatch, ReadSettings
from rdfm.logs.input.progress import Progress, ProgressFunction, Reporter, total_bytes
from rdfm.logs.kinds import wrong_kind_error
from rdfm.logs.notes import Notes
from rdfm.logs.read.read_ahead import read_ahead
from rdfm.logs.stages.stage import SkipErrors
from rdfm.logs.write.output import FolderOutput, OutputShape
from rdfm.logs.write.own_input import reject_own_input
from rdfm.logs.write.parts import Part
from rdfm.riverbench.declared import Declared, declare
from rdfm.riverbench.distributions import (
    BOUNDARIES,
    Distribution,
    DistributionWriter,
    FlatWriter,
    JellyWriter,
    SavedFile,
    StreamWriter,
    describe_uncounted,
    package_metadata,
)
from rdfm.riverbench.names import DATASET, FULL, METADATA_FILE, PACKAGE, SIZES

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ReadOptions
    from rdfm.logs.input.inputs import Readable

__all__ = ["Package", "package"]

_SIZE_NAMES = {messages: name for name, messages in SIZES.items()}
_REIFIES = Iri("http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies")
# Remedies for messages that violate a rule.
_REMEDIES = {
    "graphs": Remedy("stage", "stream_type", "datasets", "accepts messages with any graphs"),
    "subject": Remedy("stage", "stream_type", "graphs", "accepts messages with any nodes"),
    "rdf12": Remedy("stage", "rdf12", "true", "declares it"),
}
# Remedies of codecs that do not apply here: Turtle and TriG cannot represent generalized RDF, and
# the formats of the files are fixed.
_INAPPLICABLE = ("generalized", "to")
# Matches an archive file whose name is the number of its message.
_NUMBERED = re.compile(r"(.*)!(?:.*/)?([0-9]+)\.[^/!]+")


@dataclass(frozen=True)
class Package:
    """The result of `package`.

    Attributes:
        messages: Number of messages.
        statements: Number of quads; repeated quads in a message count once.
        distributions: The files with messages.
        statistics: The statistics of all messages, with the fields of `rdfm.Statistics`.
        bytes_in: Bytes read of the log (compressed).
        bytes_out: Bytes written.
        seconds: Duration in seconds.
        repeated: Number of repeated quads in messages, which are written once.
        dropped: Data that flat files do not contain, by name and count.
        notes: Information for readers of the log, one sentence each.
    """

    messages: int
    statements: int
    distributions: tuple[Distribution, ...]
    statistics: LogStatistics
    bytes_in: int
    bytes_out: int
    seconds: float
    dropped: dict[str, int]
    notes: tuple[str, ...] = ()
    repeated: int = 0


def package(
    log: Readable,
    output: str | os.PathLike[str],
    *,
    stream_type: str | None = None,
    metadata: str | os.PathLike[str] | None = None,
    time_property: str | None = None,
    rdf12: bool = False,
    iri: str = DATASET,
    plain_flat: bool = False,
    overwrite: bool = False,
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: ProgressFunction = None,
    **options: Unpack[ReadOptions],
) -> Package:
    """Write a folder with all distributions of a dataset for RiverBench, and their metadata.

    The folder contains flat files (N-Triples or N-Quads), tar archives with a Turtle or TriG file
    for each message, and Jelly files. Of each kind, there are files with the first 10,000, 100,000
    … messages and a file with all messages. The folder also contains samples and
    `package_metadata.ttl`. The quads of each message are sorted, and duplicates are removed.

    Args:
        log: A log that `open_log` accepts. Each message is a stream element.
        output: The folder, which appears when it is complete.
        stream_type: RDF-STaX stream type: "graphs", "subject-graphs", "datasets", "named-graphs" or
            "timestamped-named-graphs". Required without `metadata`. Each message must match
            this type.
        metadata: Metadata file of the dataset's source. It declares the stream type, and may
            declare a time property, subject shapes, the number of messages, and the use of RDF-star
            and generalized RDF.
        time_property: IRI of the property that gives the time of a named graph. It must occur
            exactly once in the default graph.
        rdf12: Accept triple terms and literals with a base direction, and announce flat files as
            `1.2-messages`.
        iri: IRI of the dataset in the metadata.
        plain_flat: Write flat files without message boundaries.
        overwrite: Replace a folder that is not empty: everything in it is removed.
        message_per_file: Read each file of the log as one message, even if it is empty.
        format: Format of the log. Detected by default.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        progress: True for a progress bar, or a function to call about ten times per second.
        **options: Options of the decoder of the format. `generalized` also declares generalized
            RDF.

    Returns:
        The distributions and their statistics.

    Raises:
        DecodeError: If the log is invalid or has no messages, or the metadata file is invalid.
        EncodeError: If a message does not conform to the declared stream type, or cannot be
            written.
        OptionError: If the stream type is not given, an option does not apply, or the folder is not
            empty.
        OSError: If a file cannot be read or written.

    Example:
        >>> import tempfile
        >>> log = b'<http://ex/s> <http://ex/p> "o" .'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     packaged = package(log, f"{folder}/out", stream_type="graphs", format="nt")
        >>> [each.file for each in packaged.distributions]
        ['flat_full.nt.gz', 'stream_full.tar.gz', 'jelly_full.jelly.gz']
    """
    start = time.perf_counter()
    report = Reporter(progress)
    check_iri(iri)
    declared = declare(
        stream_type=None if stream_type is None else PACKAGE["stream_type"].value(stream_type),
        metadata=metadata,
        time_property=time_property,
        rdf12=rdf12,
        generalized=bool(options.get("generalized")),
    )
    if not isinstance(output, (str, os.PathLike)):
        raise OptionError(f"a package is a folder; expected a path, not {type(output).__name__}")
    if os.fspath(output) == "-":
        raise OptionError("a package is a folder, and cannot be written to standard output")
    reject_own_input([log], output, {"metadata": metadata, **options}, PACKAGE, folder=True)
    reading = ReadSettings(
        format,
        options,
        compression,
        storage_options,
        message_per_file=message_per_file,
        hints={"generalized": True} if declared.generalized or declared.rdf12 else {},
    )
    driver = Driver([log], reading)
    path = os.fspath(output)
    has_slash = path.endswith(("/", os.sep))
    folder = OutputShape(path if has_slash else f"{path}/", overwrite=overwrite).open_output()
    assert isinstance(folder, FolderOutput)
    try:
        packaging = _Packaging(folder, declared, plain=plain_flat, report=report)
        packaging.total = None if progress is None else total_bytes([log])
        packaging.read(driver)
        distributions, statistics = packaging.finish(driver.name, iri)
        folder.commit()
    except BaseException as error:
        folder.discard()
        if isinstance(error, RdfmError):
            error.remedies = tuple(
                each for each in error.remedies if each.option not in _INAPPLICABLE
            )
        raise
    finally:
        driver.close()
    return Package(
        messages=packaging.messages,
        statements=int(statistics.series["statements"].sum or 0),
        distributions=tuple(distributions),
        statistics=statistics,
        bytes_in=packaging.bytes_in,
        bytes_out=folder.bytes_written,
        seconds=time.perf_counter() - start,
        dropped=packaging.dropped(),
        notes=(*driver.notes(), *packaging.notes.texts(), *packaging.create_notes()),
        repeated=packaging.repeated,
    )


class _Packaging:
    """A package that is being written.

    Attributes:
        messages: Number of messages so far.
        bytes_in: Bytes of the log read so far.
        repeated: Number of repeated quads so far.
        total: Size of the log, if it is known.
        notes: Notes on the logs.
    """

    def __init__(
        self, folder: FolderOutput, declared: Declared, *, plain: bool, report: Reporter
    ) -> None:
        self.messages = self.bytes_in = self.repeated = self._quads = 0
        self.total: int | None = None
        self.notes = Notes()
        self._folder = folder
        self._declared = declared
        self._report = report
        self._rules = declared.rules()
        self._writers: list[DistributionWriter] = [
            FlatWriter(folder, declared, plain=plain),
            StreamWriter(folder, declared),
            JellyWriter(folder, declared),
        ]
        self._collector = LogCollector(plain=plain)
        self._statistics: dict[str, LogStatistics] = {}
        self._archive, self._number = "", -1  # of the last archive file
        self._unordered: str | None = None
        self._distributions: dict[str, list[Distribution]] = {}

    def read(self, driver: Driver) -> None:
        """Write the messages of a log to the full distributions, and save the partial ones.

        Raises:
            RdfmError, OSError: As in `package`.
        """
        policy = SkipErrors(skip=False)
        items = read_ahead(driver)
        last = None
        # Most of the time is spent in compression, which releases the GIL.
        with ThreadPoolExecutor(len(self._writers), "rdfm-package") as pool:
            try:
                for item in items:
                    for each in policy.process(item):
                        if each.source is not last:
                            last = each.source
                            self._collector.start_log()
                            self._check_order(each.source.name)
                        if not isinstance(each, ReadBatch):
                            continue
                        self.notes.update(each.source, each.header.get("notes", ()))
                        self.bytes_in = each.bytes_in
                        if each.batch is not None:
                            self._add(each, pool)
                        self._report(self._progress)
            finally:
                items.close()

    def finish(self, name: str, iri: str) -> tuple[list[Distribution], LogStatistics]:
        """Complete the distributions, and write the metadata.

        Args:
            name: Name of the log.
            iri: IRI of the dataset.

        Raises:
            DecodeError: If the log is empty, or its number of messages differs from the declared
                number.
        """
        if not self.messages:
            raise DecodeError("contains no messages, but a dataset has at least one", source=name)
        declared_count = self._declared.messages
        if declared_count is not None and declared_count != self.messages:
            remedy = "correct the file"
            if self.messages < declared_count:
                remedy += ", or use the complete log"
            raise DecodeError(
                f"contains {self.messages:,} messages, but {self._declared.source} declares {declared_count:,} "
                f"(rb:hasStreamElementCount); {remedy}",
                source=name,
            )
        self._save(FULL, [writer.finish() for writer in self._writers])
        statistics = self._collector.statistics(top=None)
        self._statistics[FULL] = statistics
        distributions = [
            distribution for group in self._distributions.values() for distribution in group
        ]
        text = package_metadata(self._declared, distributions, self._statistics, iri)
        self._folder.write([Part(METADATA_FILE, text.encode(), True)])
        self._report(self._progress, force=True)
        return distributions, statistics

    def dropped(self) -> dict[str, int]:
        """Return the data that flat files do not contain."""
        return {name: count for name, count in self._writers[0].dropped().items() if count}

    def create_notes(self) -> list[str]:
        """Return notes on the order of the messages, and on names that the metadata omits."""
        notes = [] if self._unordered is None else [self._unordered]
        return [*notes, *describe_uncounted(self._statistics[FULL])]

    def _check_order(self, name: str) -> None:
        """Note the first file of an archive whose number is not above that of the previous file."""
        match = _NUMBERED.fullmatch(name)
        if match is None:
            return
        archive, number = match[1], int(match[2])
        if archive == self._archive and number <= self._number and self._unordered is None:
            self._unordered = (
                f"{name} follows file {self._number}: messages are in archive order, not in the "
                "order of the file numbers"
            )
        self._archive, self._number = archive, number

    def _add(self, item: ReadBatch, pool: ThreadPoolExecutor) -> None:
        """Write the messages of a batch.

        Raises:
            EncodeError: If a message does not conform to the stream type, or cannot be written.
            OptionError: If the log does not contain messages.
        """
        if not isinstance(item.batch, MessageBatch):
            assert item.batch is not None
            raise wrong_kind_error(
                item.source.name, item.batch.kind, "a dataset consists of messages"
            )
        if self._declared.rdf_star and item.source.format.name in ("ttl", "trig"):
            _reject_reifiers(item.source.name, self._declared, item.batch)
        batch, violations = self._rules.apply(item.batch)
        if violations:
            raise _violation_error(item.source.name, self._declared, *violations[0])
        self.repeated += item.batch.quad_count - batch.quad_count
        start = 0
        while start < len(batch):
            end = self._next_boundary() - self.messages + start
            part = batch if start == 0 and end >= len(batch) else batch.slice(start, end)
            self._write(part, item.source.name, pool)
            start = min(end, len(batch))

    def _write(self, batch: MessageBatch, source: str, pool: ThreadPoolExecutor) -> None:
        """Write messages that do not cross a boundary."""
        tasks = [pool.submit(writer.write, batch, source) for writer in self._writers]
        try:
            self._collector.add(batch, source)
        finally:
            errors = [task.exception() for task in tasks]
        for error in errors:
            if error is not None:
                if isinstance(error, EncodeError):
                    error.source = source
                raise error
        self.messages += len(batch)
        self._quads += batch.quad_count
        size = _SIZE_NAMES.get(self.messages)
        if size is not None:
            self._save(size, list(pool.map(lambda writer: writer.save(size), self._writers)))
            self._statistics[size] = self._collector.statistics(top=0)

    def _save(self, size: str, files: list[SavedFile]) -> None:
        for writer, file in zip(self._writers, files, strict=True):
            distribution = Distribution(
                writer.kind, size, self.messages, file.name, file.bytes, file.md5, file.sha1
            )
            self._distributions.setdefault(writer.kind, []).append(distribution)

    def _next_boundary(self) -> int:
        return BOUNDARIES[bisect_right(BOUNDARIES, self.messages)]

    def _progress(self) -> Progress:
        return Progress(self.bytes_in, self.total, self.messages, self._quads)


def _reject_reifiers(source: str, declared: Declared, batch: MessageBatch) -> None:
    """Reject Turtle and TriG in which `<< s p o >>` has another meaning than in RDF-star.

    Raises:
        EncodeError: If a message contains a reifier.
    """
    for index in range(len(batch)):
        if any(
            isinstance(quad.object, TripleTerm) and quad.predicate == _REIFIES
            for quad in batch.quads(index)
        ):
            raise EncodeError(
                "the message contains a reifier (rdf:reifies), as which RDF 1.2 reads << s p o >> in "
                f"Turtle and TriG, but {declared.source} declares RDF-star (rb:usesRdfStar), where "
                "this is a triple term; write a triple term as <<( s p o )>>, which is possible only "
                "for objects",
                source=source,
                message_index=batch.message_index(index),
                remedies=[Remedy("stage", "rdf12", "true", "packages the reifiers")],
            )


def _violation_error(
    source: str, declared: Declared, message: int, rule: str, text: str
) -> EncodeError:
    """Return the error for a message that does not conform to the declared stream type."""
    if rule in ("graphs", "time", "subject"):
        text += f", since the stream type is {declared.stream_type.name}"
    remedy = _REMEDIES.get(rule)
    # No option replaces the stream type or the shapes of a metadata file.
    is_given = declared.source is None or rule == "rdf12"
    return EncodeError(
        f"the message {text}",
        source=source,
        message_index=message,
        remedies=() if remedy is None or not is_given else (remedy,),
    )
