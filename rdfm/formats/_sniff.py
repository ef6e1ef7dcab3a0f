"""Tells a log's format from its first bytes.

In: up to 4 KiB of the log, decompressed. Out: a yes or no for each format.
Law: N-Quads stands for N-Triples and TriG for Turtle, since they read all of it.
"""

from __future__ import annotations

import re

_TERM = (
    r'(?:<[^<>"{}|^`\s]*>|_:[^\s<>"]+|<<.*>>|"(?:[^"\\]|\\.)*"(?:@[A-Za-z0-9-]+|\^\^<[^<>\s]*>)?)'
)
_LINE = re.compile(rf"\s*{_TERM}\s*<[^<>\s]*>\s*{_TERM}\s*{_TERM}?\s*\.\s*(?:#.*)?")
_LINE_DIRECTIVE = re.compile(r'\s*(?:MESSAGE|VERSION\s+(?:"[^"]*"|\'[^\']*\'))\s*(?:#.*)?')
_BLOCK_DIRECTIVE = re.compile(
    r"\s*(?:@prefix\s|@base\s|@version\s|@message\s*\.|(?i:prefix|base)\s+(?:\S*:\s*)?<|(?i:graph)\s+\S)"
)
_BLOCK_STATEMENT = re.compile(
    r"\s*(?:<[^<>\s]*>|_:\S+|\[|\()\s*(?:<[^<>\s]*>|a\s|\[|\]|\{|_:|\"|\()"
)
_OTHER = re.compile(r'\s*(?:<\?xml|<!DOCTYPE|<rdf:RDF|\{\s*"|\[\s*[\[{])')


def looks_like_jelly(head: bytes) -> bool:
    """Whether a row of stream options comes first, in a delimited or a bare frame."""
    if _options_row(head, 0):
        return True
    length, at = _varint(head, 0)
    return length is not None and length > 0 and _options_row(head, at, length)


def looks_like_nquads(head: bytes) -> bool:
    """Whether every whole line is a statement, a directive or a comment, one statement at least."""
    statements = 0
    for line in _lines(head):
        if _LINE.fullmatch(line):
            statements += 1
        elif not _LINE_DIRECTIVE.fullmatch(line):
            return False
    return statements > 0


def looks_like_trig(head: bytes) -> bool:
    """Whether there is a Turtle directive, or something that begins like a Turtle statement."""
    lines = _lines(head)
    text = "\n".join(lines)
    if not lines or _OTHER.match(text) or looks_like_nquads(head):
        return False
    return any(_BLOCK_DIRECTIVE.match(line) for line in lines) or bool(_BLOCK_STATEMENT.match(text))


def _varint(data: bytes, at: int) -> tuple[int | None, int]:
    value = shift = 0
    while at < len(data) and shift < 35:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    return None, at


def _options_row(data: bytes, at: int, frame_length: int | None = None) -> bool:
    """Whether field 1 (a row) that holds just field 1 (the options) begins at `at`."""
    start = at
    if data[at : at + 1] != b"\x0a":
        return False
    row, at = _varint(data, at + 1)
    if row is None or data[at : at + 1] != b"\x0a":
        return False
    if frame_length is not None and at - start + row > frame_length:
        return False
    options, inner = _varint(data, at + 1)
    if options is None or inner - at + options != row:
        return False
    # Tags of RdfStreamOptions: a length-delimited name, or small numbers.
    return data[inner : inner + 1] in (
        b"\x0a",
        b"\x10",
        b"\x18",
        b"\x20",
        b"\x48",
        b"\x50",
        b"\x58",
        b"\x70",
        b"\x78",
    )


def _lines(head: bytes) -> list[str]:
    """The whole lines that are neither blank nor comments; none if the head is no text."""
    text = head.decode("utf-8-sig", errors="replace")
    if "\0" in text:
        return []
    lines = re.split(r"\r\n|\n|\r", text)
    if len(head) >= 4096 and len(lines) > 1:
        lines.pop()  # cut off by the end of the head
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
