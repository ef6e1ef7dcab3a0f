"""Statistics as RDF: VoID for the log, DCAT for its file, RiverBench for numbers per message.

In: `Statistics` of messages. Out: Turtle, the same on every run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rdfm._core import Iri, Literal
from rdfm.errors import OptionError
from rdfm.logs.statistics_rdf import check_iri, series_nodes, void_facts

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
