"""Statistics as RDF: VoID for the log, DCAT for its file, RiverBench for numbers per message.

In: `Statistics` of messages. Out: Turtle, the same on every run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rdfm._core import Iri, Literal
from rdfm.errors import OptionError

if TYPE_CHECKING:
    from rdfm.analysis.statistics import Distinct, Series, Statistics

__all__ = [
    "CLASSES",
    "NOT_UNIQUE",
    "WITHOUT_BOUNDS",
    "check_iri",
    "series_nodes",
    "turtle",
    "void_facts",
]

_PREFIXES = {
    "rb": "https://w3id.org/riverbench/schema/metadata#",
    "void": "http://rdfs.org/ns/void#",
    "dcterms": "http://purl.org/dc/terms/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "spdx": "http://spdx.org/rdf/terms#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
# RiverBench's classes, in its order, with the names of their series.
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
# Series without a number of distinct terms in RiverBench, and the one without bounds.
NOT_UNIQUE = ("blank_nodes", "quoted_triples")
WITHOUT_BOUNDS = ("datatypes",)


def check_iri(iri: str | None) -> None:
    """Check the IRI of a dataset, if one is given.

    Raises:
        OptionError: The value is not an absolute IRI.
    """
    if iri is not None and (":" not in iri or any(ord(c) <= 32 or c in '<>"{}|^`\\' for c in iri)):
        raise OptionError(
            f"iri is '{iri[:40]}', expected an absolute IRI such as http://example.org/log"
        )


def turtle(of: Statistics, iri: str | None) -> str:
    """Return statistics as Turtle.

    Args:
        of: Statistics of messages.
        iri: IRI of the dataset. A blank node by default.

    Raises:
        OptionError: `iri` is not an absolute IRI, or these are not statistics of messages.
    """
    if of.kind != "messages":
        raise OptionError(
            f"{of.source} contains {of.kind}, but only statistics of messages can be written as RDF; use JSON"
        )
    check_iri(iri)
    lines = [f"PREFIX {name}: <{space}>" for name, space in _PREFIXES.items()]
    for name, some in (("predicates", of.predicates), ("classes", of.types)):
        if some.others:
            lines.append(f"# {some.others} triples with {name} that are not counted")
        if more := some.number - len(some.counts):
            lines.append(f"# {more} {name} are not listed")
    subject = "[]" if iri is None else str(Iri(iri))
    lines += ["", f"{subject} a void:Dataset ;"]
    counts, partitions = void_facts(of)
    facts = [
        f"dcterms:title {Literal(of.source)}",
        f"rb:hasStreamElementCount {of.messages}",
        *counts,
    ]
    if (file := _file(of)) is not None:
        facts.append(f"dcat:distribution {file}")
    facts += partitions
    sets = " ,\n".join(f"        {node}" for node in series_nodes(of))
    facts.append(
        f"rb:hasStatisticsSet [\n      a rb:StatisticsSet ;\n      rb:hasStatistics\n{sets}\n    ]"
    )
    lines.append("    " + " ;\n    ".join(facts) + " .")
    return "\n".join(lines) + "\n"


def void_facts(of: Statistics) -> tuple[list[str], list[str]]:
    """Return predicates with objects for a dataset in VoID: the counts, and the partitions."""
    counts = [
        f"void:triples {of.series['statements'].sum}",
        f"void:distinctSubjects {of.distinct['subjects'].number}",
        f"void:properties {of.distinct['predicates'].number}",
        f"void:distinctObjects {of.distinct['objects'].number}",
    ]
    if not of.types.others:
        counts.append(f"void:classes {of.types.number}")
    partitions = [
        f"void:propertyPartition [ void:property {Iri(name)} ; void:triples {count} ]"
        for name, count in of.predicates.counts.items()
    ]
    partitions += [
        f"void:classPartition [ void:class {Iri(name)} ; void:entities {count} ]"
        for name, count in of.types.counts.items()
    ]
    return counts, partitions


def series_nodes(of: Statistics) -> list[str]:
    """Return RiverBench's fifteen statistics as blank nodes, in its order."""
    return [
        _series(name, of.series[series], of.distinct.get(series), series)
        for name, series in CLASSES.items()
    ]


def _file(of: Statistics) -> str | None:
    """Return the file as a distribution, or `None` if it was not read to its end."""
    if of.error is not None:
        return None
    facts = ["a dcat:Distribution", f'dcat:byteSize "{of.bytes}"^^xsd:nonNegativeInteger']
    if of.sha256 is not None:
        facts.append(
            "spdx:checksum [ a spdx:Checksum ; spdx:algorithm spdx:checksumAlgorithm_sha256 ;"
            f' spdx:checksumValue "{of.sha256}"^^xsd:hexBinary ]'
        )
    return f"[ {' ; '.join(facts)} ]"


def _series(name: str, of: Series, distinct: Distinct | None, series: str) -> str:
    facts = [f"a rb:{name}"]
    for key, value in (
        ("minimum", of.minimum),
        ("maximum", of.maximum),
        ("mean", of.mean),
        ("standardDeviation", of.standard_deviation),
        ("sum", of.sum),
    ):
        if value is not None:
            facts.append(f"rb:{key} {_number(value)}")
    if distinct is not None and series not in NOT_UNIQUE:
        facts.append(f"rb:uniqueCount {distinct.number}")
        if series not in WITHOUT_BOUNDS:
            facts.append(f"rb:uniqueCountLowerBound {distinct.lower}")
            facts.append(f"rb:uniqueCountUpperBound {distinct.upper}")
    return f"[ {' ; '.join(facts)} ]"


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return f'"{value!r}"^^xsd:double'
