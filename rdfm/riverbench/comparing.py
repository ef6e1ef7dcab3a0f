"""Compares the metadata of a package with the expected values.

In: the facts of the metadata, and the properties or statistics of the files. Out: the errors, one
sentence each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Literal

from rdfm._core import Term
from rdfm.analysis.log_statistics import Distinct, LogStatistics, Series
from rdfm.analysis.statistics_rdf import CLASSES, WITHOUT_BOUNDS, WITHOUT_UNIQUE_COUNT
from rdfm.riverbench.declared import stream_type_of
from rdfm.riverbench.facts import Facts, iri
from rdfm.riverbench.names import FULL, Media, StreamType, file_name, identifier, title

__all__ = ["metadata_errors", "statistics_errors"]

_DIGITS = {"md5": 32, "sha1": 40}
# Relative standard deviation of a HyperLogLog sketch with 2^16 buckets. Errors of up to four
# deviations are accepted.
_SIGMA = 1.04 / math.sqrt(1 << 16)
# Relative tolerance, because means and deviations may be computed in a different order.
_TOLERANCE = 1e-6


def metadata_errors(
    facts: Facts,
    node: Term,
    dataset: Term,
    *,
    kind: str,
    size: str,
    messages: int,
    types: StreamType,
) -> Iterator[str]:
    """Yield the errors in the description of a distribution.

    Args:
        facts: The metadata.
        node: The distribution.
        dataset: The dataset.
        kind: Kind of the distribution.
        size: Size of the distribution, such as "10K".
        messages: Number of messages in the distribution.
        types: Stream types of the dataset.
    """
    media = Media.of(kind, triples=types.has_triples)
    wanted = {
        "dcterms:identifier": identifier(file_name(kind, size, triples=types.has_triples)),
        "dcterms:title": title(kind, size),
        "dcat:compressFormat": "application/gzip",
        "dcat:packageFormat": "application/tar" if kind == "stream" else None,
        "dcat:mediaType": media.media_type,
    }
    for name, value in wanted.items():
        found = facts.objects(node, name)
        shown = ", ".join(str(each.value) for each in found) or "missing"
        if value is None and found:
            yield f"{name} is {shown}, expected none"
        elif value is not None and facts.text(node, name) != value:
            yield f"{name} is {shown}, expected {value}"
    for name in ("rb:Distribution", "dcat:Distribution"):
        if iri(name) not in facts.types(node):
            yield f"the distribution is not an instance of {name}"
    part = "full" if size == FULL else "partial"
    kinds = {iri(f"rb:{kind}Distribution"), iri(f"rb:{part}Distribution")}
    if set(facts.objects(node, "rb:hasDistributionType")) != kinds:
        yield f"rb:hasDistributionType is not rb:{kind}Distribution and rb:{part}Distribution"
    count = facts.number(node, "rb:hasStreamElementCount")
    if count != messages:
        yield f"rb:hasStreamElementCount is {_shown(count)}, expected {messages}"
    if not isinstance(facts.number(node, "dcat:byteSize"), int):
        yield "dcat:byteSize is missing or not an integer"
    if facts.value(node, "dcat:isDistributionOf") != dataset:
        yield "dcat:isDistributionOf is not the dataset"
    sets = len(facts.objects(node, "rb:hasStatisticsSet"))
    if sets != 1:
        yield f"rb:hasStatisticsSet {f'has {sets} values, expected one' if sets else 'is missing'}"
    grouped, flat, _ = stream_type_of(facts, node)
    expected = (types.grouped if kind != "flat" else None, types.flat if kind != "stream" else None)
    if (grouped.grouped if grouped else None, flat) != expected:
        names = " and ".join(f"stax:{name}" for name in expected if name)
        yield f"stax:hasStreamTypeUsage does not have the stream type {names}"
    usages = facts.objects(node, "stax:hasStreamTypeUsage")
    if any(iri("stax:RdfStreamTypeUsage") not in facts.types(each) for each in usages):
        yield "a stream type usage is not an instance of stax:RdfStreamTypeUsage"
    yield from _checksum_errors(facts, node)


def _checksum_errors(facts: Facts, node: Term) -> Iterator[str]:
    """Yield the errors in the syntax of the checksums."""
    found = set()
    for checksum in facts.objects(node, "spdx:checksum"):
        if iri("spdx:Checksum") not in facts.types(checksum):
            yield "a checksum is not an instance of spdx:Checksum"
        algorithm = (facts.text(checksum, "spdx:algorithm") or "").rpartition("_")[2]
        value = facts.text(checksum, "spdx:checksumValue") or ""
        found.add(algorithm)
        digits = _DIGITS.get(algorithm)
        if digits is not None and not re.fullmatch(f"[0-9a-f]{{{digits}}}", value):
            yield f"the {algorithm} '{value[:40]}' does not have {digits} lower-case hexadecimal digits"
    for algorithm in _DIGITS:
        if algorithm not in found:
            yield f"the {algorithm} is missing (spdx:checksum)"


_Problem = tuple[str, Literal["error", "warning"] | None, str]


def count_errors(facts: Facts, dataset: Term, expected: LogStatistics) -> Iterator[str]:
    """Yield the errors in the VoID counts of a dataset, if it has any.

    Args:
        facts: The metadata.
        dataset: The dataset.
        expected: The statistics of all messages.
    """
    statements = expected.series["statements"].sum
    for found in facts.objects(dataset, "void:triples"):
        if found.value != str(statements):
            yield f"void:triples is {found.value}, expected {statements}"
    for name, series in (
        ("void:distinctSubjects", "subjects"),
        ("void:properties", "predicates"),
        ("void:distinctObjects", "objects"),
    ):
        number = facts.number(dataset, name)
        if number is not None and not _is_estimate(number, expected.distinct[series]):
            yield f"{name} is {_shown(number)}, expected {expected.distinct[series].number}"
    for partition, property, count, names in (
        ("void:propertyPartition", "void:property", "void:triples", expected.predicates),
        ("void:classPartition", "void:class", "void:entities", expected.types),
    ):
        for each in facts.objects(dataset, partition):
            term = facts.text(each, property) or ""
            number = facts.number(each, count)
            actual = names.counts.get(term, None if names.others else 0)
            if actual is not None and number != actual:
                yield f"{count} of <{term[:80]}> is {_shown(number)}, expected {actual}"


def statistics_errors(
    facts: Facts, node: Term, expected: LogStatistics, size: str, *, has_density: bool
) -> Iterator[_Problem]:
    """Yield the errors in a statistics set.

    Args:
        facts: The metadata.
        node: The statistics set.
        expected: The statistics of the messages.
        size: Size of the distributions.
        has_density: Whether the byte density of the messages must equal that of the flat file.

    Yields:
        The rule, the severity or `None`, and a sentence.
    """
    name = f"the statistics of the {size} distributions"
    if iri("rb:StatisticsSet") not in facts.types(node):
        yield "metadata", None, f"{name} are not an instance of rb:StatisticsSet"
    nodes: dict[Term, list[Term]] = {}
    for each in facts.objects(node, "rb:hasStatistics"):
        for kind in facts.types(each):
            nodes.setdefault(kind, []).append(each)
    for local, series in CLASSES.items():
        matching = nodes.get(iri(f"rb:{local}"), [])
        if len(matching) != 1:
            count = "no" if not matching else f"{len(matching)} nodes of"
            hint = ", expected one" if matching else ""
            yield "metadata", None, f"{name} have {count} rb:{local}{hint}"
            continue
        found = matching[0]
        if series == "byte_density" and not has_density:
            continue
        severity: Literal["error", "warning"] | None = (
            "warning" if series == "byte_density" else None
        )
        for text in _series_errors(
            facts, found, expected.series[series], expected.distinct.get(series), series
        ):
            yield "statistics", severity, f"rb:{local} of {name}: {text}"


def _series_errors(
    facts: Facts, node: Term, expected: Series, distinct: Distinct | None, series: str
) -> Iterator[str]:
    exact = series != "byte_density"
    for name, value in (
        ("rb:minimum", expected.minimum),
        ("rb:maximum", expected.maximum),
        ("rb:mean", expected.mean),
        ("rb:standardDeviation", expected.standard_deviation),
        ("rb:sum", expected.sum if exact else None),
    ):
        found = facts.number(node, name)
        if value is None:
            if name == "rb:sum" and found is not None:
                yield f"rb:sum is {_shown(found)}, expected none, since the numbers are ratios"
            continue
        if found is None:
            yield f"{name} is missing, expected {_shown(value)}"
        elif not _close(found, value, _scale(name, expected)):
            yield f"{name} is {_shown(found)}, expected {_shown(value)}"
    if distinct is None or series in WITHOUT_UNIQUE_COUNT:
        return
    found = facts.number(node, "rb:uniqueCount")
    if found is None:
        yield f"rb:uniqueCount is missing, expected {distinct.number}"
        return
    if series in WITHOUT_BOUNDS:
        if found != distinct.number and distinct.lower == distinct.upper:
            yield f"rb:uniqueCount is {_shown(found)}, expected {distinct.number}"
        return
    lower = facts.number(node, "rb:uniqueCountLowerBound")
    upper = facts.number(node, "rb:uniqueCountUpperBound")
    if lower is None or upper is None or not lower <= found <= upper:
        yield "rb:uniqueCount is not between its bounds"
        return
    if max(upper - found, found - lower) > 4 * _SIGMA * found + 1:
        yield (
            f"a bound of rb:uniqueCount ({_shown(lower)} or {_shown(upper)}) is more than four "
            f"standard deviations from {_shown(found)}"
        )
    if not _is_estimate(found, distinct):
        yield (
            f"rb:uniqueCount is {_shown(found)}, expected {distinct.number} within the error of the "
            "estimate"
        )


def _is_estimate(found: float, expected: Distinct) -> bool:
    """Whether a number is within the error of an estimate of distinct terms."""
    # The bounds of our number are two standard deviations away; four are accepted.
    return abs(found - expected.number) <= 4 * _SIGMA * expected.number + (
        expected.upper - expected.lower
    )


def _scale(name: str, series: Series) -> float:
    """Return the magnitude to which rounding errors are relative."""
    if name == "rb:standardDeviation":  # a difference of squares
        return max(abs(series.maximum or 0), abs(series.mean or 0))
    return 0.0


def _close(found: float, value: float, scale: float) -> bool:
    if isinstance(found, int) and isinstance(value, int):
        return found == value
    return math.isclose(found, value, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE * scale)


def _shown(number: float | None) -> str:
    if number is None:
        return "missing"
    return str(number) if isinstance(number, int) else f"{number:.6g}"
