"""Statistics as RDF: the parts that describe messages, in the vocabularies VoID and RiverBench.

In: statistics of messages. Out: Turtle fragments, the same on every run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rdfm._core import Iri
from rdfm.errors import OptionError, spell_option

if TYPE_CHECKING:
    from rdfm.analysis.log_statistics import Distinct, LogStatistics, Series

__all__ = [
    "CLASSES",
    "WITHOUT_BOUNDS",
    "WITHOUT_UNIQUE_COUNT",
    "check_iri",
    "create_series_nodes",
    "create_void_facts",
]

# The statistics classes in RiverBench order, each with the name of its series in rdfm.
CLASSES = {
    "IriCountStatistics": "iris",
    "BlankNodeCountStatistics": "blank_nodes",
    "LiteralCountStatistics": "literals",
    "SimpleLiteralCountStatistics": "simple_literals",
    "DatatypeLiteralCountStatistics": "datatype_literals",
    "LanguageLiteralCountStatistics": "language_literals",
    "DatatypeCountStatistics": "datatypes",
    "AsciiControlCharacterCountStatistics": "ascii_control_characters",
    "QuotedTripleCountStatistics": "quoted_triples",
    "SubjectCountStatistics": "subjects",
    "PredicateCountStatistics": "predicates",
    "ObjectCountStatistics": "objects",
    "GraphCountStatistics": "graphs",
    "StatementCountStatistics": "statements",
    "ByteDensityStatistics": "byte_density",
}
# Series whose distinct count is not in RiverBench, and series whose distinct count has no bounds.
WITHOUT_UNIQUE_COUNT = ("blank_nodes", "quoted_triples")
WITHOUT_BOUNDS = ("datatypes",)


def check_iri(iri: str | None) -> None:
    """Check the IRI of a dataset, if one is given.

    Raises:
        OptionError: If the value is not an absolute IRI.
    """
    if iri is not None and (":" not in iri or any(ord(c) <= 32 or c in '<>"{}|^`\\' for c in iri)):
        raise OptionError(
            f"{spell_option('iri')} is '{iri[:40]}', expected an absolute IRI such as http://example.org/log"
        )


def create_void_facts(statistics: LogStatistics) -> tuple[list[str], list[str]]:
    """Return the predicates and objects that describe a dataset in VoID: counts and partitions."""
    counts = [
        f"void:triples {statistics.series['statements'].sum}",
        f"void:distinctSubjects {statistics.distinct['subjects'].number}",
        f"void:properties {statistics.distinct['predicates'].number}",
        f"void:distinctObjects {statistics.distinct['objects'].number}",
    ]
    if not statistics.types.others:
        counts.append(f"void:classes {statistics.types.number}")
    partitions = [
        f"void:propertyPartition [ void:property {Iri(name)} ; void:triples {count} ]"
        for name, count in statistics.predicates.counts.items()
    ]
    partitions += [
        f"void:classPartition [ void:class {Iri(name)} ; void:entities {count} ]"
        for name, count in statistics.types.counts.items()
    ]
    return counts, partitions


def create_series_nodes(statistics: LogStatistics) -> list[str]:
    """Return the fifteen RiverBench statistics as blank nodes, in RiverBench order."""
    return [
        _series(name, statistics.series[series], statistics.distinct.get(series), series)
        for name, series in CLASSES.items()
    ]


def _series(name: str, numbers: Series, distinct: Distinct | None, series: str) -> str:
    facts = [f"a rb:{name}"]
    for key, value in (
        ("minimum", numbers.minimum),
        ("maximum", numbers.maximum),
        ("mean", numbers.mean),
        ("standardDeviation", numbers.standard_deviation),
        ("sum", numbers.sum),
    ):
        if value is not None:
            facts.append(f"rb:{key} {_number(value)}")
    if distinct is not None and series not in WITHOUT_UNIQUE_COUNT:
        facts.append(f"rb:uniqueCount {distinct.number}")
        if series not in WITHOUT_BOUNDS:
            facts.append(f"rb:uniqueCountLowerBound {distinct.lower}")
            facts.append(f"rb:uniqueCountUpperBound {distinct.upper}")
    return f"[ {' ; '.join(facts)} ]"


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return f'"{value!r}"^^xsd:double'
