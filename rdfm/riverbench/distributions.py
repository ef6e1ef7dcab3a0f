"""The files of a package: its metadata, and the same messages as flat files, archives and Jelly.

In: batches of messages, and what a dataset declares. Out: for each kind, a file with all messages,
and files with the first messages; and Turtle, `package_metadata.ttl`.
Cost: each message is encoded and compressed once for each kind. A file with the first messages is a
completed copy of the file so far.
Law: a file with the first messages has the same bytes as if the log ended there. The metadata is the
same on every run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from rdfm import formats
from rdfm._core import Iri, Literal, MessageBatch, Slices, Term
from rdfm.analysis.log_statistics import LogStatistics
from rdfm.analysis.statistics_rdf import series_nodes, void_facts
from rdfm.errors import name_in_errors
from rdfm.logs.write.output import FolderOutput
from rdfm.logs.write.parts import Part
from rdfm.riverbench.declared import COMMENT, Declared
from rdfm.riverbench.names import (
    FULL,
    PREFIXES,
    SAMPLES,
    SIZES,
    Media,
    file_name,
    identifier,
    levels,
    member_name,
    sample_name,
    title,
    weight,
)
from rdfm.storage import archive, compression

__all__ = [
    "BOUNDARIES",
    "Distribution",
    "DistributionWriter",
    "FlatWriter",
    "JellyWriter",
    "SavedFile",
    "StreamWriter",
    "package_metadata",
    "uncounted",
]

# Message counts up to which the folders of a tar archive have the same depth.
_SAME_DEPTH = (1000, 1_000_000, 1_000_000_000)
# Batches are cut at these message counts.
BOUNDARIES = sorted({*SIZES.values(), *_SAME_DEPTH})
_OLD = "stream.old"
_PIECE_BYTES = 1 << 20
# gzip levels. Level 5 takes 30 % less time than level 6. It makes flat files 27 % larger, but
# archives and Jelly files only 1 % to 3 %.
_LEVELS = {"flat": 6, "stream": 5, "jelly": 5}


class SavedFile(NamedTuple):
    """A file of a package.

    Attributes:
        name: Name of the file.
        bytes: Size of the file.
        md5: MD5 of the file, in hexadecimal digits.
        sha1: SHA-1 of the file, in hexadecimal digits.
    """

    name: str
    bytes: int
    md5: str
    sha1: str


class GrowingFile:
    """A gzip file whose current content can be saved as a complete file at any time."""

    def __init__(self, folder: FolderOutput, name: str, level: int) -> None:
        self._folder = folder
        self._name = name
        self._compressor: Any = compression.compressor(f"gzip:{level}")
        self._hashes = [hashlib.md5(usedforsecurity=False), hashlib.sha1(usedforsecurity=False)]
        self._bytes = 0
        folder.write([Part(name, b"", False)])

    def write(self, data: bytes) -> None:
        """Compress and write bytes."""
        self._put(self._compressor.compress(data))

    def save(self, name: str, tail: bytes) -> SavedFile:
        """Save the content so far as a complete file.

        Args:
            name: Name of the copy.
            tail: The last bytes of the copy, which are not added to this file.
        """
        self._folder.copy(self._name, name)
        # Continues after the data compressed so far.
        compressor = self._compressor.copy()
        data = compressor.compress(tail) + compressor.flush()
        self._folder.write([Part(name, data, True, continued=True)])
        hashes = [each.copy() for each in self._hashes]
        return self._saved(name, data, hashes)

    def finish(self, tail: bytes = b"") -> SavedFile:
        """Complete the file."""
        data = self._compressor.compress(tail) + self._compressor.flush()
        self._folder.write([Part(self._name, data, True)])
        return self._saved(self._name, data, self._hashes)

    def _put(self, data: bytes) -> None:
        if data:
            self._folder.write([Part(self._name, data, False)])
            for each in self._hashes:
                each.update(data)
            self._bytes += len(data)

    def _saved(self, name: str, data: bytes, hashes: list[Any]) -> SavedFile:
        for each in hashes:
            each.update(data)
        md5, sha1 = (each.hexdigest() for each in hashes)
        return SavedFile(name, self._bytes + len(data), md5, sha1)


class DistributionWriter(Protocol):
    """Writes the distributions of one kind."""

    kind: str

    def write(self, batch: MessageBatch, source: str) -> None:
        """Write messages. A batch must not cross one of `BOUNDARIES`."""

    def save(self, size: str) -> SavedFile:
        """Save the messages so far as the distribution of a size."""

    def finish(self) -> SavedFile:
        """Complete the full distribution."""

    def dropped(self) -> Mapping[str, int]:
        """Return counts of the data dropped so far, by name."""


class FlatWriter:
    """Writes the flat distributions: N-Triples or N-Quads."""

    kind = "flat"

    def __init__(self, folder: FolderOutput, declared: Declared, *, plain: bool) -> None:
        """Initialize with the folder and the declarations; `plain` omits message boundaries."""
        self._triples = declared.stream_type.has_triples
        label = "1.2-messages" if declared.rdf12 else "1.1-messages"
        options = {"flat": True} if plain else {"dialect": "directive", "version_label": label}
        found = formats.find(Media.of(self.kind, triples=self._triples).format)
        self._encoder: Any = found.encoder(options)
        self._file = GrowingFile(
            folder, file_name(self.kind, FULL, triples=self._triples), _LEVELS[self.kind]
        )

    def write(self, batch: MessageBatch, source: str) -> None:
        """Write messages."""
        self._file.write(self._encoder.encode(batch, source))

    def save(self, size: str) -> SavedFile:
        """Save the messages so far as the distribution of a size."""
        data, _ = self._encoder.pause()  # ends an empty message
        self._file.write(data)
        return self._file.save(file_name(self.kind, size, triples=self._triples), b"")

    def finish(self) -> SavedFile:
        """Complete the full distribution."""
        self._file.write(self._encoder.finish())
        return self._file.finish()

    def dropped(self) -> Mapping[str, int]:
        """Return counts of the data dropped so far, by name."""
        return dict(self._encoder.dropped())


class JellyWriter:
    """Writes the Jelly distributions: a frame for each message."""

    kind = "jelly"

    def __init__(self, folder: FolderOutput, declared: Declared) -> None:
        """Initialize with the folder and the declarations."""
        self._triples = declared.stream_type.has_triples
        options = {
            "physical_type": "triples" if self._triples else "quads",
            "logical_type": declared.stream_type.name.replace("-", "_"),
            "generalized": declared.generalized,
            "rdf_star": declared.rdf12,
            "name_table": 4000,
            "prefix_table": 150,
            "datatype_table": 32,
            "namespaces": False,
            "frames": "message",
            "restart_bytes": 0,  # a compressed file is read from its start
        }
        self._encoder: Any = formats.find("jelly").encoder(options)
        self._file = GrowingFile(
            folder, file_name(self.kind, FULL, triples=self._triples), _LEVELS[self.kind]
        )

    def write(self, batch: MessageBatch, source: str) -> None:
        """Write messages."""
        self._file.write(self._encoder.encode(batch, source))

    def save(self, size: str) -> SavedFile:
        """Save the messages so far as the distribution of a size."""
        return self._file.save(file_name(self.kind, size, triples=self._triples), b"")

    def finish(self) -> SavedFile:
        """Complete the full distribution."""
        return self._file.finish(self._encoder.finish())

    def dropped(self) -> Mapping[str, int]:
        """Return counts of the data dropped so far, by name."""
        return dict(self._encoder.dropped())


class StreamWriter:
    """Writes the stream distributions (tar archives with a file for each message) and the samples.

    The depth of folders depends on the number of messages. If there are more messages than the
    current depth allows, the archive is rewritten with deeper folders.
    """

    kind = "stream"

    def __init__(self, folder: FolderOutput, declared: Declared) -> None:
        """Initialize with the folder and the declarations."""
        self._folder = folder
        self._triples = declared.stream_type.has_triples
        self._suffix = Media.of(self.kind, triples=self._triples).format
        self._encoder: Any = formats.find(self._suffix).encoder({"dialect": "comment"})
        self._slices = Slices()
        self._name = file_name(self.kind, FULL, triples=self._triples)
        self._file = GrowingFile(folder, self._name, _LEVELS[self.kind])
        self._depth = 0
        self._messages = 0
        self._written = 0  # bytes of the archive

    def write(self, batch: MessageBatch, source: str) -> None:
        """Write messages. A batch must not cross one of `BOUNDARIES`."""
        if self._messages in _SAME_DEPTH:
            self._deepen()
        entries: list[bytes] = []
        for at, quads in enumerate(batch.quad_counts()):
            parts = self._slices.take(batch, at, at + 1, True)
            text = b""
            if quads:
                encoded = [self._encoder.encode(part, source) for part in parts]
                text = b"".join([*encoded, self._encoder.finish()])
                self._encoder.reset()
            number = self._messages + at
            if number in SAMPLES:
                self._folder.write([Part(sample_name(number, self._suffix), text, True)])
            entries.append(archive.entry(member_name(number, self._depth, self._suffix), text))
        self._messages += len(batch)
        self._put(b"".join(entries))

    def save(self, size: str) -> SavedFile:
        """Save the messages so far as the distribution of a size."""
        name = file_name(self.kind, size, triples=self._triples)
        return self._file.save(name, archive.end(self._written))

    def finish(self) -> SavedFile:
        """Complete the full distribution. Samples of messages that do not exist are empty."""
        for number in SAMPLES:
            if number >= self._messages:
                self._folder.write([Part(sample_name(number, self._suffix), b"", True)])
        return self._file.finish(archive.end(self._written))

    def dropped(self) -> Mapping[str, int]:
        """Return counts of the data dropped so far, by name."""
        return dict(self._encoder.dropped())

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._written += len(data)

    def _deepen(self) -> None:
        """Rewrite the archive with deeper folders."""
        self._depth = levels(self._messages + 1)
        self._file.finish(archive.end(self._written))
        old = self._folder.staged_path(_OLD)
        with name_in_errors(self._folder.name):
            self._folder.staged_path(self._name).rename(old)
        self._file = GrowingFile(self._folder, self._name, _LEVELS[self.kind])
        self._written = 0
        for number, data in enumerate(_members(old)):
            self._put(archive.entry(member_name(number, self._depth, self._suffix), data))
        with name_in_errors(self._folder.name):
            old.unlink()


def _members(path: Path) -> Iterator[bytes]:
    """Yield the content of each file in an archive."""
    with path.open("rb") as file:
        pieces = iter(lambda: file.read(_PIECE_BYTES), b"")
        for members in archive.members(compression.decompress("gzip", pieces)):
            for member in members:
                yield b"".join(member.pieces)


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
