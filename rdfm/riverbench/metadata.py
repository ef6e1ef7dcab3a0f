"""The metadata of a package, `package_metadata.ttl`.

In: the files of a package, its statistics and declarations. Out: Turtle, the same on every run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rdfm._core import Iri, Literal, Term
from rdfm.analysis.log_statistics import LogStatistics
from rdfm.analysis.statistics_rdf import series_nodes, void_facts
from rdfm.riverbench.declared import COMMENT, Declared
from rdfm.riverbench.names import FULL, PREFIXES, SIZES, Media, identifier, title, weight

__all__ = ["Distribution", "package_metadata", "uncounted"]


@dataclass(frozen=True)
class Distribution:
    """A file of a package that contains messages.

    Attributes:
        kind: "flat", "stream" or "jelly".
        size: "10K", "100K", … or "full".
        messages: Number of messages.
        file: Name of the file.
        bytes: Size of the file.
        md5: MD5 of the file, in hexadecimal digits.
        sha1: SHA-1 of the file, in hexadecimal digits.
    """

    kind: str
    size: str
    messages: int
    file: str
    bytes: int
    md5: str
    sha1: str


def package_metadata(
    declared: Declared,
    distributions: list[Distribution],
    statistics: Mapping[str, LogStatistics],
    iri: str,
) -> str:
    """Return the metadata as Turtle.

    Args:
        declared: The declared properties.
        distributions: The files.
        statistics: The statistics by size.
        iri: IRI of the dataset.
    """
    lines = [f"PREFIX {name}: <{space}>" for name, space in PREFIXES.items()]
    messages = statistics[FULL].messages
    base = iri.partition("#")[0]
    types = declared.stream_type
    grouped, flat = (
        _usage(local, declared.comments.get(local, ())) for local in (types.grouped, types.flat)
    )
    counts, partitions = void_facts(statistics[FULL])
    lines += _node(
        Iri(iri),
        [
            f"stax:hasStreamTypeUsage {grouped} , {flat}",
            *counts,
            *partitions,
            *(f"{COMMENT} {Literal(f'T{text[1:]}.')}" for text in uncounted(statistics[FULL])),
            *(
                f"dcat:distribution {Iri(f'{base}#{identifier(each.file)}')}"
                for each in distributions
            ),
        ],
    )
    for each in distributions:
        media = Media.of(each.kind, triples=types.has_triples)
        usages = {"flat": flat, "stream": grouped, "jelly": f"{grouped} , {flat}"}[each.kind]
        part = "full" if each.size == FULL else "partial"
        facts = [
            "a rb:Distribution , dcat:Distribution",
            f"dcterms:identifier {Literal(identifier(each.file))}",
            f"dcterms:title {Literal(title(each.kind, each.size))}",
            f"rb:hasFileName {Literal(each.file)}",
            f"rb:hasDistributionType rb:{each.kind}Distribution , rb:{part}Distribution",
            f"rb:hasStreamElementCount {each.messages}",
            f"stax:hasStreamTypeUsage {usages}",
            f"dcat:byteSize {each.bytes}",
            'dcat:compressFormat "application/gzip"',
            f"dcat:mediaType {Literal(media.media_type)}",
            f"spdx:checksum {_checksum('md5', each.md5)} , {_checksum('sha1', each.sha1)}",
            f"rb:hasStatisticsSet {Iri(f'{base}#statistics-{each.size.lower()}')}",
            f"dcat:isDistributionOf {Iri(iri)}",
            f"rbdoc:hasDocWeight {weight(each.kind, each.size, messages)}",
        ]
        if each.kind == "stream":
            facts.append('dcat:packageFormat "application/tar"')
        lines += _node(Iri(f"{base}#{identifier(each.file)}"), facts)
    for size, found in statistics.items():
        place = 0 if size == FULL else len(str(messages)) - len(str(SIZES[size])) + 1
        nodes = " ,\n        ".join(series_nodes(found))
        facts = [
            "a rb:StatisticsSet",
            f"dcterms:title {Literal(f'Statistics for {size} distributions')}",
            f"rbdoc:hasDocWeight {place}",
            f"rb:hasStatistics\n        {nodes}",
        ]
        lines += _node(Iri(f"{base}#statistics-{size.lower()}"), facts)
    return "\n".join(lines) + "\n"


def uncounted(statistics: LogStatistics) -> list[str]:
    """Return a sentence for each kind of name that is not listed completely."""
    return [
        f"the metadata lists the first {names.number:,} {kind}; {names.others:,} more statements have "
        f"other {kind}"
        for kind, names in (("predicates", statistics.predicates), ("classes", statistics.types))
        if names.others
    ]


def _node(subject: Iri, facts: list[str]) -> list[str]:
    return ["", f"{subject}", "    " + " ;\n    ".join(facts) + " ."]


def _usage(local: str, comments: Iterable[Term]) -> str:
    facts = [f"stax:hasStreamType stax:{local}", *(f"{COMMENT} {each}" for each in comments)]
    return f"[ a stax:RdfStreamTypeUsage ; {' ; '.join(facts)} ]"


def _checksum(algorithm: str, value: str) -> str:
    return (
        f"[ a spdx:Checksum ; spdx:algorithm spdx:checksumAlgorithm_{algorithm} ; "
        f"spdx:checksumValue {Literal(value)} ]"
    )
