"""Statistics as RDF: VoID for the log, DCAT for its file, RiverBench's words for numbers a message.

In: `Statistics` of messages. Out: Turtle, the same on every run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rdfm._core import Iri, Literal
from rdfm.errors import OptionError

if TYPE_CHECKING:
    from rdfm.analysis.statistics import Distinct, Series, Statistics

__all__ = ["check_iri", "turtle"]

_PREFIXES = {
    "rb": "https://w3id.org/riverbench/schema/metadata#",
    "void": "http://rdfs.org/ns/void#",
    "dcterms": "http://purl.org/dc/terms/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "spdx": "http://spdx.org/rdf/terms#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
# RiverBench's classes, in its order, and the series that each is.
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
# Those without a number of different terms in RiverBench, and the one without bounds.
_NOT_UNIQUE = ("blank_nodes", "quoted_triples")
_WITHOUT_BOUNDS = ("datatypes",)


def check_iri(iri: str | None) -> None:
    """Check the IRI of a dataset, if it has one.

    Raises:
        OptionError: It is not an absolute IRI.
    """
    if iri is not None and (":" not in iri or any(ord(c) <= 32 or c in '<>"{}|^`\\' for c in iri)):
        raise OptionError(
            f"iri is an absolute IRI such as http://example.org/log, not '{iri[:40]}'"
        )


def turtle(of: Statistics, iri: str | None) -> str:
    """Give statistics as Turtle.

    Args:
        of: Statistics of messages.
        iri: What is described; a blank node unless given.

    Raises:
        OptionError: `iri` is no absolute IRI, or these are statistics of something else.
    """
    if of.kind != "messages":
        raise OptionError(
            f"{of.source} holds {of.kind}, and statistics as RDF are those of messages; JSON has those of {of.kind}"
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
    statements = of.series["statements"].sum
    facts = [
        f"dcterms:title {Literal(of.source)}",
        f"rb:hasStreamElementCount {of.messages}",
        f"void:triples {statements}",
        f"void:distinctSubjects {of.distinct['subjects'].number}",
        f"void:properties {of.distinct['predicates'].number}",
        f"void:distinctObjects {of.distinct['objects'].number}",
    ]
    if not of.types.others:
        facts.append(f"void:classes {of.types.number}")
    if (file := _file(of)) is not None:
        facts.append(f"dcat:distribution {file}")
    facts += [
        f"void:propertyPartition [ void:property {Iri(name)} ; void:triples {count} ]"
        for name, count in of.predicates.counts.items()
    ]
    facts += [
        f"void:classPartition [ void:class {Iri(name)} ; void:entities {count} ]"
        for name, count in of.types.counts.items()
    ]
    sets = " ,\n".join(
        f"        {_series(name, of.series[series], of.distinct.get(series), series)}"
        for name, series in CLASSES.items()
    )
    facts.append(
        f"rb:hasStatisticsSet [\n      a rb:StatisticsSet ;\n      rb:hasStatistics\n{sets}\n    ]"
    )
    lines.append("    " + " ;\n    ".join(facts) + " .")
    return "\n".join(lines) + "\n"


def _file(of: Statistics) -> str | None:
    """The file as a distribution; None if it was not read to its end."""
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
    if distinct is not None and series not in _NOT_UNIQUE:
        facts.append(f"rb:uniqueCount {distinct.number}")
        if series not in _WITHOUT_BOUNDS:
            facts.append(f"rb:uniqueCountLowerBound {distinct.lower}")
            facts.append(f"rb:uniqueCountUpperBound {distinct.upper}")
    return f"[ {' ; '.join(facts)} ]"


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return f'"{value!r}"^^xsd:double'
