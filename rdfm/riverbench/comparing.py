"""Compares the metadata of a package with its files and with the expected values.

In: the folder, the facts of the metadata, and the properties or statistics of the files. Out:
findings, or errors as one sentence each.
Cost: each file is read once, for its checksums and the times in an archive.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

from rdfm._core import Iri, Term
from rdfm.analysis.finding import Finding, reason
from rdfm.analysis.log_check import LogCheck
from rdfm.analysis.log_statistics import Distinct, LogStatistics, Series
from rdfm.analysis.statistics_rdf import CLASSES, WITHOUT_BOUNDS, WITHOUT_UNIQUE_COUNT
from rdfm.errors import (
    DecodeError,
    LimitError,
    RdfmError,
    TruncatedError,
    UnsupportedError,
    visible,
)
from rdfm.riverbench.contents import (
    FileReader,
    PlainFileReader,
    announcement,
    same_message,
    time_problem,
)
from rdfm.riverbench.declared import Facts, iri, stream_type_of
from rdfm.riverbench.names import (
    FULL,
    KINDS,
    METADATA_FILE,
    SAMPLES,
    Media,
    StreamType,
    file_name,
    identifier,
    sample_name,
    sizes_of,
    title,
)
from rdfm.storage import compression

__all__ = ["FolderCheck", "PackageFile", "count_errors", "statistics_errors"]

_OTHER_FILES = {METADATA_FILE, *(f"metadata.{suffix}" for suffix in ("ttl", "nt", "rdf", "jelly"))}
_PIECE_BYTES = 1 << 20
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


@dataclass
class PackageFile:
    """A distribution, with its state while the messages are read."""

    name: str
    kind: str
    size: str
    suffix: str  # of the files in an archive
    messages: int
    reader: FileReader
    statistics: Term | None
    differences: int = 0
    misnamed: bool = False


@dataclass
class FolderCheck(LogCheck):
    """A check of a package, with its methods for the metadata and the files that it describes."""

    sizes: frozenset[str] | None = field(default=None, repr=False)

    def _begin(self, given: str | os.PathLike[str]) -> None:
        """Begin the check of a folder."""
        self._folder = Path(given)
        self._shown = visible(os.fspath(given))
        self._unchecked: set[str] = set()  # distributions of other sizes
        self._outside: set[str] = set()  # links to files outside of the folder

    def _note(
        self,
        file: str,
        rule: str,
        text: str,
        severity: Literal["error", "warning"] | None = None,
        **details: Any,
    ) -> None:
        """Add a finding about a file of the package."""
        source = os.path.join(self._shown, file)  # noqa: PTH118 - keeps ./
        self._new.append(
            Finding(source, severity or self._RULES[rule].severity, rule, text, **details)
        )

    def _note_unreadable_file(self, file: str, error: RdfmError | OSError) -> None:
        """Add the finding for a file that cannot be read."""
        rule = "syntax"
        if not isinstance(error, RdfmError):
            self._note(file, "unreadable", error.strerror or str(error))
            return
        for kind, name in (
            (TruncatedError, "truncated"),
            (LimitError, "limit"),
            (UnsupportedError, "unsupported"),
        ):
            if isinstance(error, kind):
                rule = name
        details = {}
        if isinstance(error, DecodeError):
            names = ("message_index", "byte_offset", "line", "column", "frame", "row")
            details = {name: getattr(error, name) for name in names}
        # The formats and dialects of the files are fixed, so only limits can be changed.
        error.remedies = tuple(each for each in error.remedies if each.option.startswith("max_"))
        source = error.source if isinstance(error, DecodeError) else None
        inner = (source or "").rpartition("!")[2] if "!" in (source or "") else ""
        name = f"{file}!{inner}" if inner else file
        text = reason(source or "", error)
        self._note(name, rule, text, error=error, **details)

    def _has_file(self, name: str) -> bool:
        """Whether a file exists in the folder. A link to a file outside of it is a finding."""
        path = self._folder / name
        if path.is_symlink() and not path.resolve().is_relative_to(self._folder.resolve()):
            if name not in self._outside:
                self._outside.add(name)
                text = "a symbolic link to a file outside of the folder, which is not read"
                self._note(name, "unreadable", text)
            return False
        return path.is_file()

    def _read_metadata(self) -> Facts | None:
        """Return the metadata, or `None` with a finding."""
        names = [name for name in (METADATA_FILE, "metadata.ttl") if self._has_file(name)]
        self._metadata = names[0] if names else METADATA_FILE
        if not names:
            text = f"there is no {METADATA_FILE} (in a release, metadata.ttl)"
            self._note(METADATA_FILE, "missing-file", text)
            return None
        try:
            return Facts(self._folder / self._metadata)
        except (RdfmError, OSError) as error:
            self._note_unreadable_file(self._metadata, error)
            return None

    def _dataset(self, facts: Facts) -> Term | None:
        found = facts.subjects("dcat:distribution")
        if len(found) == 1:
            return found[0]
        text = f"{len(found)} datasets have distributions (dcat:distribution), expected one"
        self._note(self._metadata, "metadata", text)
        return None

    def _files(self, facts: Facts, dataset: Term, stream_type: StreamType) -> list[PackageFile]:
        """Check the distributions in the metadata, and return those whose files exist."""
        triples = stream_type.has_triples
        suffix = Media.of("stream", triples=triples).format
        files: list[PackageFile] = []
        full = None
        nodes: dict[tuple[str, str], Term] = {}
        for node in facts.objects(dataset, "dcat:distribution"):
            name = facts.text(node, "rb:hasFileName")
            label = node.value if isinstance(node, Iri) else "a distribution"
            if name is None:
                self._note(self._metadata, "metadata", f"{label} has no rb:hasFileName")
                continue
            kind, _, rest = name.partition("_")
            size = rest.partition(".")[0]
            if kind not in KINDS or name != file_name(kind, size, triples=triples):
                expected = file_name("flat", "10K", triples=triples)
                text = f"'{name[:60]}' is not the name of a distribution, expected one such as {expected}"
                self._note(self._metadata, "metadata", text)
                continue
            nodes[kind, size] = node
            count = facts.number(node, "rb:hasStreamElementCount")
            if size == FULL and isinstance(count, int):
                full = count if full is None else full
        if full is None:
            text = (
                "no full distribution specifies its number of messages (rb:hasStreamElementCount)"
            )
            self._note(self._metadata, "metadata", text)
            return []
        declared = facts.number(dataset, "rb:hasStreamElementCount")
        if declared is not None and declared != full:
            text = f"the dataset has {declared} messages, but the full distribution has {full}"
            self._note(self._metadata, "metadata", text)
        sizes = sizes_of(full)
        if self.sizes is not None and self.sizes.isdisjoint(sizes):
            text = f"the dataset has no distributions of the size {', '.join(sorted(self.sizes))}"
            self._note(self._metadata, "metadata", text)
        for kind in KINDS:
            for size, messages in sizes.items():
                name = file_name(kind, size, triples=triples)
                found = nodes.pop((kind, size), None)
                if self.sizes is not None and size not in self.sizes:
                    self._unchecked.add(name)
                    continue
                if found is None:
                    self._note(self._metadata, "metadata", f"the distribution {name} is not listed")
                    continue
                for text in metadata_errors(
                    facts,
                    found,
                    dataset,
                    kind=kind,
                    size=size,
                    messages=messages,
                    types=stream_type,
                ):
                    self._note(self._metadata, "metadata", f"{name}: {text}")
                if not self._has_file(name):
                    if name not in self._outside:
                        text = "the file is in the metadata, but does not exist"
                        self._note(name, "missing-file", text)
                    continue
                statistics = facts.value(found, "rb:hasStatisticsSet")
                reader = self._reader(kind, self._folder / name, triples)
                files.append(PackageFile(name, kind, size, suffix, messages, reader, statistics))
        for kind, size in nodes:
            name = file_name(kind, size, triples=triples)
            text = f"the distribution {name} is listed, but the dataset has only {full:,} messages"
            self._note(self._metadata, "metadata", text)
        return files

    def _reader(self, kind: str, path: Path, triples: bool) -> FileReader:
        media = Media.of(kind, triples=triples)
        options = self._settings.options
        if kind == "flat":
            if announcement(path) is not None:
                # RiverBench documents the label "1.1", which does not announce messages elsewhere.
                decoder_options = {"dialect": "directive", "announced": "1.1-messages"}
                return FileReader(path, media.format, {**decoder_options, **options}, files=False)
            return PlainFileReader(path, media.format, {"dialect": "plain", **options})
        # In an archive, each file is a message, regardless of its comments.
        decoder_options = {"dialect": "plain"} if kind == "stream" else {}
        return FileReader(
            path, media.format, {**decoder_options, **options}, files=kind == "stream"
        )

    def _check_folder(self, listed: set[str], stream_type: StreamType) -> None:
        """Report missing samples and unlisted files."""
        suffix = Media.of("stream", triples=stream_type.has_triples).format
        samples = {sample_name(number, suffix) for number in SAMPLES}
        existing = {path.name for path in self._folder.iterdir()}
        for name in sorted(samples - existing if self.sizes is None else ()):
            self._note(name, "missing-file", "the sample does not exist")
        for name in sorted(existing - samples - listed - self._unchecked - _OTHER_FILES):
            self._note(name, "unlisted-file", "the file is not in the metadata")

    def _check_copies(self, facts: Facts) -> None:
        """Check that other metadata files have the same triples."""
        for name in sorted(_OTHER_FILES - {self._metadata}):
            if self._has_file(name):
                try:
                    other = Facts(self._folder / name)
                except (RdfmError, OSError) as error:
                    self._note_unreadable_file(name, error)
                    continue
                if self._is_copy(name) and same_message(facts.graph(), other.graph()) is False:
                    text = f"the triples differ from those of {self._metadata}"
                    self._note(name, "metadata", text)

    def _is_copy(self, name: str) -> bool:
        """Whether a file must have the same triples as the metadata (only files of a release)."""
        return self._metadata != METADATA_FILE and name != METADATA_FILE

    def _check_bytes(self, facts: Facts, file: PackageFile) -> Iterator[Finding]:
        """Yield the findings about the size and checksums of a file."""
        node = next(
            node
            for node in facts.subjects("rb:hasFileName")
            if facts.text(node, "rb:hasFileName") == file.name
        )
        hashes = {
            "md5": hashlib.md5(usedforsecurity=False),
            "sha1": hashlib.sha1(usedforsecurity=False),
        }
        size = 0

        def read(data: BinaryIO) -> Iterator[bytes]:
            nonlocal size
            while piece := data.read(_PIECE_BYTES):
                size += len(piece)
                for each in hashes.values():
                    each.update(piece)
                yield piece

        time = None
        try:
            with (self._folder / file.name).open("rb") as data:
                pieces = read(data)
                if file.kind == "stream":
                    with contextlib.suppress(RdfmError):  # reading the messages reports the error
                        time = time_problem(compression.decompress("gzip", pieces))
                for _ in pieces:
                    pass
        except OSError as error:
            self._note_unreadable_file(file.name, error)
            yield from self._found()
            return
        if time is not None:
            self._note(file.name, "layout", time, "warning")
        expected_size = facts.number(node, "dcat:byteSize")
        if expected_size is not None and expected_size != size:
            self._note(
                file.name, "byte-size", f"the file has {size:,} bytes, expected {expected_size:,}"
            )
        for checksum in facts.objects(node, "spdx:checksum"):
            algorithm = facts.text(checksum, "spdx:algorithm") or ""
            name = algorithm.rpartition("_")[2]
            value = facts.text(checksum, "spdx:checksumValue")
            if name in hashes and value is not None and value != hashes[name].hexdigest():
                found = hashes[name].hexdigest()
                self._note(file.name, "checksum", f"the {name} is {found}, expected {value[:64]}")
        yield from self._found()
