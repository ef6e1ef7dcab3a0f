"""Message statistics: `LogCollector` accepts batches, and returns statistics at any time.

In: batches of a log. Out: `LogStatistics`.
Cost: about 20 MB of counts, regardless of the log.
Law: the division of messages into batches does not affect the statistics.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from rdfm._core import MessageBatch, StatisticsCounter
from rdfm.errors import OptionError

if TYPE_CHECKING:
    from rdfm.message import AnyBatch

__all__ = [
    "TOP",
    "Distinct",
    "LogCollector",
    "LogStatistics",
    "Names",
    "Series",
    "Sizes",
    "Variable",
]

TOP = 10
MAX_PREFIXES = 10_000


@dataclass(frozen=True)
class Series:
    """A series of numbers, one for each message.

    Attributes:
        minimum: Smallest number, or `None` if there are no messages.
        maximum: Largest number.
        mean: Arithmetic mean.
        standard_deviation: Standard deviation of the population.
        sum: Sum of the numbers, or `None` if they are ratios.
    """

    minimum: float | None
    maximum: float | None
    mean: float | None
    standard_deviation: float | None
    sum: int | None = None


@dataclass(frozen=True)
class Sizes(Series):
    """A series of numbers, one for each message, and their distribution.

    Attributes:
        median: The 50th percentile, `p50`.
        percentiles: `p5`, `p25`, `p50`, `p75`, `p95` and `p99`: the smallest number that is not
            exceeded in this percentage of messages. Values of 4,096 or more are up to 0.05 % too
            small.
        histogram: Bars by powers of two, each with its lower bound, upper bound and number of
            messages.
    """

    median: int | None = None
    percentiles: dict[str, int] = field(default_factory=dict)
    histogram: list[tuple[int, int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Distinct:
    """Number of distinct terms in the log.

    Attributes:
        number: The number, which is an estimate if there are more than 65,536 distinct terms.
        lower: 2 standard deviations below an estimate, or the exact number.
        upper: 2 standard deviations above an estimate, or the exact number.
    """

    number: int
    lower: int
    upper: int


@dataclass(frozen=True)
class Names:
    """The most frequent names and how often each occurs.

    Attributes:
        counts: The names with their counts, the most frequent first.
        number: Number of distinct names that are counted: at most the first 16,384, with a total
            size of at most 2 MiB.
        others: Total number of occurrences of names that are not counted, and therefore an upper
            bound for each of them.
    """

    counts: dict[str, int]
    number: int
    others: int


@dataclass(frozen=True)
class Variable:
    """A result variable.

    Attributes:
        name: The name, without `?`.
        bound: Number of rows in which the variable is bound.
        distinct: Number of distinct terms, or `None` after the first 256 variables.
    """

    name: str
    bound: int
    distinct: Distinct | None


@dataclass(frozen=True)
class LogStatistics:
    """The fields of `rdfm.Statistics`, which documents them."""

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
        """Return the statistics as a dictionary that can be serialized as JSON."""
        return asdict(self)


class LogCollector:
    """Accepts the batches of logs, and returns statistics at any time.

    Attributes:
        kind: Kind of the messages so far, or `None`.
    """

    _RESULT: ClassVar[type[LogStatistics]] = LogStatistics

    def __init__(self, *, plain: bool = False, first: int = 0) -> None:
        """Create a collector without messages.

        Args:
            plain: Whether the bytes of a message do not include its delimiter.
            first: Number of the first message and of the first log. Collectors that are merged need
                separate ranges of numbers. For example, begin each range at another multiple of
                `1 << 32`.
        """
        self._counter = StatisticsCounter(plain=plain, first=first)
        self._prefixes: dict[str, str] = {}
        self.kind: str | None = None

    def start_log(self) -> None:
        """Start another log, with a separate blank node scope."""
        self._counter.start_log()

    def add(self, batch: AnyBatch, source: str = "") -> None:
        """Add the next messages, which may arrive in parts.

        Args:
            batch: A batch of the same kind as those before it.
            source: Name of the log, for error messages.

        Raises:
            OptionError: If the batch is of a different kind.
        """
        if self.kind not in (None, batch.kind):
            raise _other_kind_error(source, batch.kind, self.kind)
        self.kind = batch.kind
        self._counter.add(batch)
        if isinstance(batch, MessageBatch):
            for _, name, iri in batch.declarations():
                if len(self._prefixes) < MAX_PREFIXES or name in self._prefixes:
                    self._prefixes[name] = iri

    def __getstate__(self) -> dict[str, Any]:
        """Return the counts so far, for another process to merge."""
        return {"kind": self.kind, "prefixes": self._prefixes, "counts": self._counter.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the counts from another process.

        Raises:
            ValueError: If that process ran a different version of rdfm.
        """
        self.kind, self._prefixes = state["kind"], state["prefixes"]
        self._counter = StatisticsCounter()
        self._counter.merge(state["counts"])

    def merge(self, other: LogCollector, source: str = "") -> None:
        """Add the messages of another collector. They must follow the messages of this one.

        Exact numbers equal those of a single collector; estimates may differ within their bounds.

        Args:
            other: A collector with a different `first`. Its last message must be complete.
            source: Name of the logs of `other`, for error messages.

        Raises:
            OptionError: If the messages are of a different kind.
        """
        if other.kind is None:
            return
        if self.kind not in (None, other.kind):
            raise _other_kind_error(source, other.kind, self.kind)
        self.kind = other.kind
        self._counter.merge(other._counter.to_bytes())
        for name, iri in other._prefixes.items():
            if len(self._prefixes) < MAX_PREFIXES or name in self._prefixes:
                self._prefixes[name] = iri

    def statistics(self, *, top: int | None = TOP, **fields: Any) -> Any:
        """Return the statistics of the messages so far. More messages may follow.

        Args:
            top: Number of names to return in each list, or `None` for all that are counted.
            **fields: Other fields: `source`, `format`, `kind`, `logs`, `bytes`, `sha256`, `error`
                and `notes`.
        """
        report = self._counter.report(sys.maxsize if top is None else top)
        kind = self.kind or fields.pop("kind", "messages")
        fields.pop("kind", None)
        sizes = _create_sizes(report["sizes"])
        terms = report["series"]
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
            "patches": sum(report["operations"].get(code, 0) for code in "AD"),
        }
        defaults: dict[str, Any] = {"source": "", "format": "", "logs": 1, "bytes": 0}
        return self._RESULT(
            **(defaults | fields),
            kind=kind,
            messages=report["messages"],
            empty_messages=report["empty_messages"],
            approximate_messages=report["approximate_messages"],
            quads=quads.get(kind) or 0,
            quads_per_message=sizes,
            bytes_per_message=_create_sizes(report["bytes"]) if report["bytes"] else None,
            adds_per_patch=_create_sizes(report["adds"]) if report["adds"] else None,
            deletes_per_patch=_create_sizes(report["deletes"]) if report["deletes"] else None,
            operations=report["operations"],
            variables=tuple(
                Variable(series["name"], series["bound"], _create_distinct(series["unique"]))
                for series in report["variables"]
            ),
            series={}
            if kind == "results"
            else {name: Series(**series) for name, series in terms.items()},
            distinct=distinct,
            occurrences=report["occurrences"],
            prefixes=dict(self._prefixes),
            datatypes=Names(**report["datatypes"]),
            languages=Names(**report["languages"]),
            predicates=Names(**report["predicates"]),
            types=Names(**report["types"]),
            namespaces=Names(**report["namespaces"]),
        )


def _other_kind_error(source: str, kind: str, earlier: str | None) -> OptionError:
    names = (source, "logs") if source else ("the batch", "batches")
    return OptionError(
        f"{names[0]} contains {kind}, but earlier {names[1]} contain {earlier}; "
        "collect statistics of one kind at a time"
    )


def _create_sizes(numbers: dict[str, Any]) -> Sizes:
    return Sizes(**numbers, median=numbers["percentiles"].get("p50"))


def _create_distinct(unique: tuple[int, int, int] | None) -> Distinct | None:
    return None if unique is None else Distinct(*unique)
