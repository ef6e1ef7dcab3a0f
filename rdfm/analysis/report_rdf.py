"""Statistics as RDF: VoID for the log, DCAT for its file, and RiverBench for numbers per message.

In: `Statistics` of messages. Out: Turtle, the same on every run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rdfm._core import Iri, Literal
from rdfm.analysis.statistics_rdf import check_iri, create_series_nodes, create_void_facts
from rdfm.errors import OptionError

if TYPE_CHECKING:
    from rdfm.analysis.statistics import Statistics

__all__ = ["turtle"]

_PREFIXES = {
    "rb": "https://w3id.org/riverbench/schema/metadata#",
    "void": "http://rdfs.org/ns/void#",
    "dcterms": "http://purl.org/dc/terms/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "spdx": "http://spdx.org/rdf/terms#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


def turtle(statistics: Statistics, iri: str | None) -> str:
    """Return statistics as Turtle.

    Args:
        statistics: Statistics of messages.
        iri: IRI of the dataset. A blank node by default.

    Raises:
        OptionError: If `iri` is not an absolute IRI, or the statistics are not of messages.
    """
    if statistics.kind != "messages":
        raise OptionError(
            f"{statistics.source} contains {statistics.kind}, but only statistics of messages can be written as RDF; use JSON"
        )
    check_iri(iri)
    lines = [f"PREFIX {name}: <{space}>" for name, space in _PREFIXES.items()]
    for name, names in (("predicates", statistics.predicates), ("classes", statistics.types)):
        if names.others:
            lines.append(f"# {names.others} triples with {name} that are not counted")
        if more := names.number - len(names.counts):
            lines.append(f"# {more} {name} are not listed")
    subject = "[]" if iri is None else str(Iri(iri))
    lines += ["", f"{subject} a void:Dataset ;"]
    counts, partitions = create_void_facts(statistics)
    facts = [
        f"dcterms:title {Literal(statistics.source)}",
        f"rb:hasStreamElementCount {statistics.messages}",
        *counts,
    ]
    if (file := _file(statistics)) is not None:
        facts.append(f"dcat:distribution {file}")
    facts += partitions
    sets = " ,\n".join(f"        {node}" for node in create_series_nodes(statistics))
    facts.append(
        f"rb:hasStatisticsSet [\n      a rb:StatisticsSet ;\n      rb:hasStatistics\n{sets}\n    ]"
    )
    lines.append("    " + " ;\n    ".join(facts) + " .")
    return "\n".join(lines) + "\n"


def _file(statistics: Statistics) -> str | None:
    """Return the file as a distribution, or `None` if it was not read completely."""
    if statistics.error is not None:
        return None
    facts = ["a dcat:Distribution", f'dcat:byteSize "{statistics.bytes}"^^xsd:nonNegativeInteger']
    if statistics.sha256 is not None:
        facts.append(
            "spdx:checksum [ a spdx:Checksum ; spdx:algorithm spdx:checksumAlgorithm_sha256 ;"
            f' spdx:checksumValue "{statistics.sha256}"^^xsd:hexBinary ]'
        )
    return f"[ {' ; '.join(facts)} ]"
