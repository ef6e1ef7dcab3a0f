"""RiverBench names: files, sizes, stream types, IRIs of the metadata, and options of the commands.

RiverBench calls messages stream elements.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from rdfm.formats import OptionSpec
from rdfm.logs.options import CHECKING, READING, WRITING, declare

__all__ = [
    "CHECK",
    "DATASET",
    "FULL",
    "KINDS",
    "METADATA_FILE",
    "PACKAGE",
    "PREFIXES",
    "SAMPLES",
    "SIZES",
    "STREAM_TYPES",
    "Media",
    "StreamType",
    "create_sizes",
    "file_name",
    "identifier",
    "levels",
    "member_name",
    "sample_name",
    "title",
    "weight",
]

METADATA_FILE = "package_metadata.ttl"
# IRI of the dataset in the metadata of a package; a release has another IRI.
DATASET = "https://w3id.org/riverbench/temp#dataset"
PREFIXES = {
    "rb": "https://w3id.org/riverbench/schema/metadata#",
    "rbdoc": "https://w3id.org/riverbench/schema/documentation#",
    "stax": "https://w3id.org/stax/ontology#",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcterms": "http://purl.org/dc/terms/",
    "spdx": "http://spdx.org/rdf/terms#",
    "void": "http://rdfs.org/ns/void#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
# Message counts of partial distributions.
SIZES = {
    "10K": 10_000,
    "100K": 100_000,
    "1M": 1_000_000,
    "10M": 10_000_000,
    "100M": 100_000_000,
    "1B": 1_000_000_000,
}
FULL = "full"
# Indexes of the messages that are written as samples.
SAMPLES = (0, 10, 100, 1000, 10_000)
# Kinds of distributions, in the order of display.
KINDS = ("flat", "stream", "jelly")
_KIND_TITLES = {"flat": "flat", "stream": "stream", "jelly": "Jelly"}


class StreamType(NamedTuple):
    """A grouped RDF-STaX stream type.

    Attributes:
        name: Name of the type as an option value, which is also the name of Jelly's logical type.
        grouped: Local name of the type in the ontology.
        flat: Local name of the corresponding flat stream type.
        graphs: The named graphs of a message: "none", "one" or "any".
    """

    name: str
    grouped: str
    flat: str
    graphs: str

    @property
    def has_triples(self) -> bool:
        """Whether the messages have only a default graph."""
        return self.graphs == "none"


STREAM_TYPES = {
    each.name: each
    for each in (
        StreamType("graphs", "graphStream", "flatTripleStream", "none"),
        StreamType("subject-graphs", "subjectGraphStream", "flatTripleStream", "none"),
        StreamType("datasets", "datasetStream", "flatQuadStream", "any"),
        StreamType("named-graphs", "namedGraphStream", "flatQuadStream", "one"),
        StreamType(
            "timestamped-named-graphs", "timestampedNamedGraphStream", "flatQuadStream", "one"
        ),
    )
}


class Media(NamedTuple):
    """A format of the files of a dataset.

    Attributes:
        format: Name of the format in rdfm, which is also the suffix.
        media_type: Media type of the format.
    """

    format: str
    media_type: str

    @staticmethod
    def for_kind(kind: str, *, triples: bool) -> Media:
        """Return the format of a kind of distribution."""
        if kind == "jelly":
            return Media("jelly", "application/x-jelly-rdf")
        if kind == "flat":
            return (
                Media("nt", "application/n-triples")
                if triples
                else Media("nq", "application/n-quads")
            )
        return Media("ttl", "text/turtle") if triples else Media("trig", "application/trig")


def file_name(kind: str, size: str, *, triples: bool) -> str:
    """Return the name of a distribution's file.

    Example:
        >>> file_name("flat", "10K", triples=True), file_name("stream", "full", triples=False)
        ('flat_10K.nt.gz', 'stream_full.tar.gz')
    """
    suffix = "tar" if kind == "stream" else Media.for_kind(kind, triples=triples).format
    return f"{kind}_{size}.{suffix}.gz"


def identifier(file: str) -> str:
    """Return the identifier of a distribution.

    Example:
        >>> identifier("flat_10K.nt.gz")
        'flat-10k'
    """
    return file.partition(".")[0].lower().replace("_", "-")


def title(kind: str, size: str) -> str:
    """Return the title of a distribution.

    Example:
        >>> title("flat", "10K"), title("jelly", "full")
        ('10K elements flat distribution', 'Full Jelly distribution')
    """
    size_text = "Full" if size == FULL else f"{size} elements"
    return f"{size_text} {_KIND_TITLES[kind]} distribution"


def weight(kind: str, size: str, messages: int) -> int:
    """Return the position of a distribution in the documentation: full first, then by size."""
    smaller = 0 if size == FULL else len(str(messages)) - len(str(SIZES[size])) + 1
    return KINDS.index(kind) + 3 * smaller


def create_sizes(messages: int) -> dict[str, int]:
    """Return the sizes of a dataset's distributions, with their numbers of messages.

    Example:
        >>> create_sizes(10_000)
        {'10K': 10000, 'full': 10000}
    """
    return {name: size for name, size in SIZES.items() if size <= messages} | {FULL: messages}


def levels(messages: int) -> int:
    """Return the number of folder levels in a tar archive with this many messages.

    Example:
        >>> levels(1000), levels(1001), levels(1_000_000), levels(1_000_001)
        (0, 1, 1, 2)
    """
    return max(0, (len(str(messages - 1)) - 1) // 3)


def member_name(number: int, depth: int, suffix: str) -> str:
    """Return the name of a message's file in a tar archive.

    Example:
        >>> member_name(9999, 1, "ttl"), member_name(9_999_999, 2, "trig"), member_name(7, 0, "ttl")
        ('009/0000009999.ttl', '009/999/0009999999.trig', '0000000007.ttl')
    """
    digits = f"{number:010}"
    folders = (digits[-3 * level - 3 : -3 * level] for level in range(depth, 0, -1))
    return "".join(f"{folder}/" for folder in folders) + f"{digits}.{suffix}"


def sample_name(number: int, suffix: str) -> str:
    """Return the name of a sample's file."""
    return f"sample_{number:010}.{suffix}"


_INPUT = "Input"
_DATASET = "Dataset"
_OUTPUT = "Output"

_READING = {option.name: option for option in READING}
_WRITING = {option.name: option for option in WRITING}

PACKAGE: dict[str, OptionSpec] = {
    option.name: option
    for option in declare(
        replace(_READING["from_format"], help="Format of LOG, such as nq (default: detected)."),
        replace(
            _READING["message_per_file"],
            help="Read each file of LOG as one message, even if it is empty.",
        ),
        OptionSpec(
            "stream_type",
            "choice",
            "RDF-STaX stream type, which each message must match. One of "
            + ", ".join(STREAM_TYPES)
            + ".",
            choices=tuple(STREAM_TYPES),
            metavar="TYPE",
            group=_DATASET,
        ),
        OptionSpec(
            "metadata",
            "file",
            "Metadata of the dataset's source (metadata.ttl), which declares the stream type.",
            group=_DATASET,
        ),
        OptionSpec(
            "time_property",
            "iri",
            "Property in the default graph that gives the time of the named graph.",
            group=_DATASET,
        ),
        OptionSpec(
            "rdf12",
            "switch",
            "Accept triple terms and base directions; announce flat files as 1.2-messages.",
            default=False,
            group=_DATASET,
        ),
        OptionSpec(
            "iri",
            "iri",
            "IRI of the dataset in the metadata.",
            default=DATASET,
            group=_DATASET,
        ),
        OptionSpec(
            "plain_flat",
            "switch",
            "Write flat files without message boundaries, as before June 2026.",
            default=False,
            group=_OUTPUT,
        ),
        _WRITING["overwrite"],
    )
}
CHECK: dict[str, OptionSpec] = {
    option.name: option
    for option in declare(
        replace(
            PACKAGE["metadata"],
            help="Metadata of the dataset's source (metadata.ttl), which may declare further rules "
            "for messages.",
        ),
        OptionSpec(
            "sizes",
            help="Check only the distributions of these sizes, such as 10K or 10K,full.",
            metavar="SIZE,…",
            group=_DATASET,
        ),
        *(option for option in CHECKING if option.name in ("strict", "max_errors")),
    )
}
