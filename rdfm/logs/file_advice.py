"""The likely type of a file whose format cannot be determined, for errors.

In: the file's name and, for an input, its first bytes. Out: a sentence with the remedy, or nothing.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from rdfm import formats
from rdfm.errors import Remedy
from rdfm.logs.remedies import format_remedy

__all__ = [
    "Advice",
    "has_unread_suffix",
    "reading_advice",
    "unread_content_text",
    "unsupported_suffix_text",
    "writing_advice",
]

# Ambiguous suffixes, some also used for non-RDF files, with the formats that they may mean.
_AMBIGUOUS = {
    ".json": ("jsonld", "ndjsonld"),
    ".jsonl": ("ndjsonld",),
    ".ndjson": ("ndjsonld",),
    ".yaml": ("yamlld",),
    ".yml": ("yamlld",),
    ".xml": ("rdfxml",),
    ".n3": ("ttl",),
    ".pb": ("rdf-protobuf",),
    ".thrift": ("rdf-thrift",),
    ".pq": ("parquet",),
}
_AMBIGUOUS_RESULTS = {".json": ("results-json",), ".xml": ("results-xml",)}
_COMPRESSIONS = {
    ".br": "Brotli",
    ".lz4": "LZ4",
    ".lz": "lzip",
    ".lzma": "LZMA",
    ".lzo": "LZO",
    ".snappy": "Snappy",
    ".sz": "Snappy",
    ".z": "compress",
}
_ARCHIVES = {".zip": "zip", ".7z": "7z", ".rar": "rar"}
_ZIP = b"PK\x03\x04"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_SUPPORTED = "rdfm supports gzip (.gz), zstd (.zst), bzip2 (.bz2) and xz (.xz)"


class Advice(NamedTuple):
    """Advice about a file whose type is unclear or not supported.

    Attributes:
        text: A sentence about the file.
        remedies: Options that solve the problem.
    """

    text: str
    remedies: tuple[Remedy, ...] = ()


def has_unread_suffix(path: str) -> bool:
    """Return whether a name has the suffix of an unsupported compression or archive format."""
    suffix = _suffix(path)
    return suffix in _COMPRESSIONS or suffix in _ARCHIVES


def writing_advice(path: str, kind: str = "messages") -> Advice | None:
    """Return advice for writing a file with this name.

    Args:
        path: The name.
        kind: The kind of log.

    Example:
        >>> writing_advice("out.nq.br").text
        'Brotli compression (.br) is not supported; rdfm supports gzip (.gz), zstd (.zst), bzip2 (.bz2) and xz (.xz)'
    """
    suffix = _suffix(path)
    names = (_AMBIGUOUS_RESULTS if kind == "results" else _AMBIGUOUS).get(suffix, ())
    if (advice := _ambiguity_advice(suffix, names, "to")) is not None:
        suggested = _find_format(names[0]).suffixes[0]
        return advice._replace(text=f"{advice.text}; use the suffix {suggested}")
    reason = unsupported_suffix_text(path)
    return None if reason is None else Advice(reason)


def unsupported_suffix_text(path: str) -> str | None:
    """Return advice if a name has the suffix of a compression or archive that rdfm does not write.

    Example:
        >>> unsupported_suffix_text("out.nq.gz") is None
        True
    """
    suffix = _suffix(path)
    if (kind := _ARCHIVES.get(suffix)) is not None:
        return (
            f"{kind} archives are not supported; use a tar archive (out.tar.gz) or a folder (out/)"
        )
    return _unsupported_compression_text(suffix)


def reading_advice(path: str, head: bytes) -> Advice | None:
    """Return advice for reading a file with this name and these first bytes."""
    suffix = _suffix(path)
    if (kind := _ARCHIVES.get(suffix)) is not None or head.startswith(_ZIP):
        return Advice(
            f"{kind or 'zip'} archives are not supported; extract the archive first, or convert it to a tar archive"
        )
    if (compression := _unsupported_compression_text(suffix)) is not None:
        return Advice(f"{compression}; decompress the file first")
    if (text := unread_content_text(head)) is not None:
        return Advice(text)
    return _ambiguity_advice(suffix, _AMBIGUOUS.get(suffix, ()), "from_format")


def unread_content_text(head: bytes) -> str | None:
    """Return the reason why content that begins with these bytes is not read in any text format.

    Example:
        >>> unread_content_text(b"<!DOCTYPE html>")
        'the content is an HTML page, not RDF; download the RDF file itself, or extract the RDF from the page'
    """
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:14].lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "the content is an HTML page, not RDF; download the RDF file itself, or extract the RDF from the page"
    encoding = "UTF-16" if head.startswith(_UTF16_MARKS) else None
    if encoding is None and len(head) >= 8:  # without a byte order mark
        nulls = [head[:8:2].count(0), head[1:8:2].count(0)]
        encoding = {(0, 4): "UTF-16LE", (4, 0): "UTF-16BE"}.get((nulls[0], nulls[1]))
    if encoding is None:
        return None
    return f"the text is in {encoding}, but rdfm reads UTF-8; iconv -f {encoding} -t UTF-8 FILE converts it"


def _suffix(path: str) -> str:
    path = path.lower()
    for compressed in formats.COMPRESSION_SUFFIXES:
        path = path.removesuffix(compressed)
    match = re.search(r"[^./\\](\.[^./\\]+)$", path)
    return "" if match is None else match[1]


def _unsupported_compression_text(suffix: str) -> str | None:
    if (name := _COMPRESSIONS.get(suffix)) is None:
        return None
    return f"{name} compression ({suffix}) is not supported; {_SUPPORTED}"


def _ambiguity_advice(
    suffix: str, names: tuple[str, ...], option: Literal["from_format", "to"]
) -> Advice | None:
    if not names:
        return None
    titles = " or ".join(_find_format(name).title for name in names)
    return Advice(
        f"the suffix {suffix} is ambiguous; it may mean {titles}",
        (format_remedy(option, names),),
    )


def _find_format(name: str) -> formats.FormatSpec:
    return formats.find(name).spec
