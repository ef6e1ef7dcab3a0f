"""What logs hold, in numbers: `statistics` reads one once; a `Collector` takes batches.

In: a log, as `open_log` takes it. Out: `Statistics`, for people, JSON, RDF and notebooks.
Cost: one batch of memory, and about 20 MB of counts, whatever the log. Law: how messages are cut into batches changes
no number.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from rdfm._core import MessageBatch, StatisticsCounter
from rdfm.errors import DecodeError, OptionError, RdfmError
from rdfm.logs.ahead import ahead
from rdfm.logs.driver import Broken, Driver, Reading, Skipped, Source
from rdfm.logs.input import Readable
from rdfm.logs.notes import Notes
from rdfm.logs.progress import Progress, Reporter, total_bytes
from rdfm.storage.paths import local_path

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ReadOptions
    from rdfm.message import AnyBatch

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

TOP = 10
MAX_PREFIXES = 10_000


@dataclass(frozen=True)
class Series:
    """One number a message.

    Attributes:
        minimum: The smallest; None of no messages.
        maximum: The largest.
        mean: The mean.
        standard_deviation: That of the population.
        sum: All of them added; None where they are ratios.
    """

    minimum: float | None
    maximum: float | None
    mean: float | None
    standard_deviation: float | None
    sum: int | None = None


@dataclass(frozen=True)
class Sizes(Series):
    """One number a message, with how they are distributed.

    Attributes:
        median: Half of the messages have this or less.
        percentiles: `p5`, `p25`, `p50`, `p75`, `p95`, `p99`: the smallest number that so many of a hundred messages
            do not exceed; from 4,096 on at most 0.05 % too small.
        histogram: From, to and how many messages, a bar each, by powers of two.
    """

    median: int | None = None
    percentiles: dict[str, int] = field(default_factory=dict)
    histogram: list[tuple[int, int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Distinct:
    """How many different terms there are in the log.

    Attributes:
        number: The number; an estimate where more than 65,536 terms are different.
        lower: 2 standard deviations below an estimate, else the number.
        upper: 2 standard deviations above.
    """

    number: int
    lower: int
    upper: int


@dataclass(frozen=True)
class Names:
    """The most frequent names and how often each occurs.

    Attributes:
        counts: The names with their numbers, the most frequent first.
        number: How many different names are held: up to 16,384, as they came, of 2 MiB together.
        others: How often others occur, which are not held. None of them occurs more often than this.
    """

    counts: dict[str, int]
    number: int
    others: int


@dataclass(frozen=True)
class Variable:
    """A variable of results.

    Attributes:
        name: Its name, without `?`.
        bound: Rows in which it is bound.
        distinct: Its different terms; None behind the first 256 variables.
    """

    name: str
    bound: int
    distinct: Distinct | None


@dataclass(frozen=True)
class Statistics:
    """What a log holds, in numbers. A message is a dataset: a quad that it repeats counts once, but in `quads`.

    Attributes:
        source: The file's name or URL.
        format: The format's name; of several logs those met, as in `ttl, trig`.
        kind: What the messages are: "messages", "patches" or "results".
        logs: Number of logs: files of a folder, members of an archive; else 1.
        bytes: Bytes read (compressed).
        messages: Number of messages: patches, rows. One that is broken, and what is behind it, does not count.
        empty_messages: Those without quads, operations or bound cells.
        approximate_messages: Those of more than 65,536 different terms or 262,144 different quads, of which some numbers
            are estimates, and repeated quads count in names and occurrences.
        quads: Number of quads, repeated ones included; of patches those added and deleted; of results 0.
        quads_per_message: Quads of each message; of patches operations, of results bound cells.
        bytes_per_message: Bytes of each message as N-Quads without repeated quads, and 8 for its delimiter, whatever
            the format; None of patches and results.
        adds_per_patch: Of patches, quads added by each; None of others.
        deletes_per_patch: Of patches, quads deleted by each; None of others.
        operations: Of patches, the number of operations of each code.
        variables: Of results, the variables.
        series: RiverBench's fifteen statistics, one number a message; of patches without `byte_density`; of results
            none.
        distinct: Different terms of the log: `iris`, `blank_nodes`, `literals`, `simple_literals`,
            `datatype_literals`, `language_literals`, `datatypes`, `subjects`, `predicates`, `objects`, `graphs` and
            `quoted_triples`.
        occurrences: How often terms stand in quads or cells, inside triple terms too.
        datatypes: Datatypes of literals, by occurrences.
        languages: Language tags of literals, by occurrences.
        predicates: Predicates that are IRIs, by quads.
        types: Objects of rdf:type that are IRIs, by quads.
        namespaces: IRIs up to their last `#` or `/`, else up to their last `:`, by occurrences.
        prefixes: The namespaces that the log declares, by name, each as last declared.
        sha256: SHA-256 of the file (compressed), in hexadecimal digits; None unless it was asked for, and of what is
            not one file.
        error: The text of the first error, after which nothing was read; None if there is none.
        notes: What whoever reads the log should know, a sentence each.
    """

    source: str
    format: str
    kind: str
    logs: int
    bytes: int
    messages: int
    empty_messages: int
    approximate_messages: int
    quads: int
    quads_per_message: Sizes
    bytes_per_message: Sizes | None
    adds_per_patch: Sizes | None
    deletes_per_patch: Sizes | None
    operations: dict[str, int]
    variables: tuple[Variable, ...]
    series: dict[str, Series]
    distinct: dict[str, Distinct]
    occurrences: dict[str, int]
    datatypes: Names
    languages: Names
    predicates: Names
    types: Names
    namespaces: Names
    prefixes: dict[str, str]
    sha256: str | None = None
    error: str | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give the statistics as what JSON can hold."""
        return asdict(self)

    def to_rdf(self, iri: str | None = None) -> str:
        """Give the statistics as Turtle, in the words of VoID, DCAT and RiverBench.

        It lists the predicates and classes that `top` names; take the statistics with `top=None` for all.

        Args:
            iri: What is described; a blank node unless given.

        Raises:
            OptionError: `iri` is no absolute IRI, or these are not statistics of messages.
        """
        from rdfm.analysis.report_rdf import turtle

        return turtle(self, iri)

    def to_html(self) -> str:
        """Give the statistics as a page that needs nothing else."""
        from rdfm.analysis.report_html import page

        return page(self)

    def _repr_html_(self) -> str:
        from rdfm.analysis.report_html import fragment

        return fragment(self)


class Collector:
    """Takes the batches of logs, and gives statistics whenever they are wanted.

    Example:
        >>> import rdfm
        >>> collector = Collector()
        >>> with rdfm.open_log(b'<http://ex/s> <http://ex/p> "o" .', "nq") as log:
        ...     for batch in log.batches():
        ...         collector.add(batch)
        >>> collector.statistics().series["statements"].sum
        1
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._counter = StatisticsCounter()
        self._prefixes: dict[str, str] = {}
        self.kind: str | None = None

    def start_log(self) -> None:
        """Say that another log begins, whose blank nodes are other ones."""
        self._counter.start_log()

    def add(self, batch: AnyBatch, source: str = "") -> None:
        """Take the next messages. They may come in parts.

        Args:
            batch: Of the kind of those before it.
            source: The name of its log, for the error.

        Raises:
            OptionError: It is of another kind.
        """
        if self.kind not in (None, batch.kind):
            raise OptionError(
                f"{source or 'the batch'} holds {batch.kind}, and what was read before it are {self.kind}; take"
                " statistics of one kind at a time"
            )
        self.kind = batch.kind
        self._counter.add(batch)
        if isinstance(batch, MessageBatch):
            for _, name, iri in batch.declarations():
                if len(self._prefixes) < MAX_PREFIXES or name in self._prefixes:
                    self._prefixes[name] = iri

    def statistics(self, *, top: int | None = TOP, **about: Any) -> Statistics:
        """Give the statistics of the messages so far; more may follow.

        Args:
            top: How many names of each list to give; None for all that are held.
            **about: What else is known: `source`, `format`, `kind`, `logs`, `bytes`, `sha256`, `error`, `notes`.
        """
        found = self._counter.report(sys.maxsize if top is None else top)
        kind = self.kind or about.pop("kind", "messages")
        about.pop("kind", None)
        sizes = _sizes(found["sizes"])
        terms = found["series"]
        distinct = {
            name.removeprefix("distinct_"): Distinct(*terms[name].pop("unique"))
            for name in list(terms)
            if "unique" in terms[name]
        }
        del terms["distinct_quoted_triples"]
        if kind == "patches":
            del terms["byte_density"]
        quads = {
            "messages": sizes.sum,
            "patches": sum(found["operations"].get(code, 0) for code in "AD"),
        }
        defaults: dict[str, Any] = {"source": "", "format": "", "logs": 1, "bytes": 0}
        return Statistics(
            **(defaults | about),
            kind=kind,
            messages=found["messages"],
            empty_messages=found["empty_messages"],
            approximate_messages=found["approximate_messages"],
            quads=quads.get(kind) or 0,
            quads_per_message=sizes,
            bytes_per_message=_sizes(found["bytes"]) if found["bytes"] else None,
            adds_per_patch=_sizes(found["adds"]) if found["adds"] else None,
            deletes_per_patch=_sizes(found["deletes"]) if found["deletes"] else None,
            operations=found["operations"],
            variables=tuple(
                Variable(each["name"], each["bound"], _distinct(each["unique"]))
                for each in found["variables"]
            ),
            series={} if kind == "results" else {n: Series(**of) for n, of in terms.items()},
            distinct=distinct,
            occurrences=found["occurrences"],
            prefixes=dict(self._prefixes),
            datatypes=Names(**found["datatypes"]),
            languages=Names(**found["languages"]),
            predicates=Names(**found["predicates"]),
            types=Names(**found["types"]),
            namespaces=Names(**found["namespaces"]),
        )


def _sizes(of: dict[str, Any]) -> Sizes:
    return Sizes(**of, median=of["percentiles"].get("p50"))


def _distinct(unique: tuple[int, int, int] | None) -> Distinct | None:
    return None if unique is None else Distinct(*unique)


def _sha256(source: Readable) -> str | None:
    """The checksum of a local file or of bytes; None of what cannot be read again."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return sha256(source).hexdigest()
    path = local_path(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else None
    if path is None or not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def statistics(
    source: Readable,
    format: str | None = None,
    *,
    top: int | None = TOP,
    checksum: bool = False,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[ReadOptions],
) -> Statistics:
    """Read a log to its end, or to its first error, and count what is in it.

    Args:
        source: What `open_log` takes.
        format: Such as "nq"; found from the suffix, then from the content, unless given.
        top: How many names of each list to give, from 0 on; None for all that are held.
        checksum: Compute the SHA-256 of the file, which reads a local file a second time. Other sources have none.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        progress: Called about ten times a second.
        **options: Those of the format's decoder.

    Raises:
        UnknownFormatError: The format cannot be told.
        OptionError: The format takes no such option, `progress` is no function, or logs are of several kinds.
        OSError: The file cannot be read.

    Example:
        >>> found = statistics(b'<http://ex/s> <http://ex/p> "o", "o" .', "ttl")
        >>> found.messages, found.quads, found.series["statements"].sum
        (1, 2, 1)
    """
    if top is not None and top < 0:
        raise OptionError(f"top is a number from 0 on, not {top}")
    tell = Reporter(progress)
    total = total_bytes([source])
    reading = Reading(format, options, compression, storage_options, parts="always")
    driver = Driver([source], reading)
    collector = Collector()
    notes = Notes()
    found: dict[str, None] = {}
    kind = "messages"
    error: str | None = None
    messages = records = done = logs = 0
    last: Source | None = None

    def far() -> Progress:
        return Progress(done, total, messages, records, collector.kind or kind)

    items = ahead(driver)
    try:
        for item in items:
            if item.source is not last:
                last, logs = item.source, logs + 1
                kind = last.format.spec.kinds[0]  # else as the messages say
                collector.start_log()
                if last.input.refusal is None:
                    found.setdefault(last.format.name)
            if isinstance(item, Skipped):
                continue
            notes.update(item.source, item.header.get("notes", ()))
            if isinstance(item, Broken):
                raise item.error
            done = item.bytes_in
            if item.batch is not None:
                collector.add(item.batch, item.source.name)
                messages += len(item.batch) - item.batch.continued
                records += item.batch.record_count
                tell(far)
    except RdfmError as met:
        if not isinstance(met, DecodeError):
            raise
        error = str(met)
    finally:
        items.close()
        driver.close()
    tell(far, force=True)
    return collector.statistics(
        top=top,
        source=last.name if last is not None and not driver.several else driver.name,
        format=", ".join(found) or driver.format or "",
        kind=kind,
        logs=logs if driver.several else 1,
        bytes=done,
        sha256=_sha256(source) if checksum else None,
        error=error,
        notes=(*(() if error else driver.notes()), *notes.texts()),
    )
