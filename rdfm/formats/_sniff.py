"""Tells a log's format from its first bytes.

In: up to 4 KiB of the log, decompressed. Out: a yes or no for each format.
Law: N-Quads stands for N-Triples and TriG for Turtle, since they read all of it.
"""

from __future__ import annotations

import re

# Each alternative matches in linear time, whatever the line holds.
_TOKEN = r"""(?x)\s*(?:
    (?P<term><[^<>"{}|^`\s]*>|_:[^\s<>"]*[^\s<>".]|"(?:[^"\\]|\\.)*"(?:@[A-Za-z0-9-]+|\^\^<[^<>\s]*>)?)
    |(?P<open><<\(?)|(?P<close>\)?>>)|(?P<dot>\.\s*(?:\#.*)?$))"""
_LINE_DIRECTIVE = r"""(?x)\s*(?:MESSAGE|VERSION\s+(?:"[^"]*"|'[^']*'))\s*(?:\#.*)?$"""
_BLOCK_DIRECTIVE = r"\s*(?:@prefix\s|@base\s|@version\s|@message\s*\.|(?i:prefix|base)\s+(?:\S*:\s*)?<|(?i:graph)\s+\S)"
_BLOCK_STATEMENT = r"\s*(?:<[^<>\s]*>|_:\S+|\[|\()\s*(?:<[^<>\s]*>|a\s|\[|\]|\{|_:|\"|\()"
_OTHER = r'\s*(?:<\?xml|<!DOCTYPE|<rdf:RDF|\{\s*"|\[\s*[\[{])'
_JSON_LINE = rb'\{\s*"@context"\s*:'
_YAML_KEYWORD = r"""(?:--- )?\s*(?:- )*(["'])@[a-z]+\1:(?:\s|$)"""
_LINE_BYTES = 400  # of a line are looked at for directives


def looks_like_jelly(head: bytes) -> bool:
    """Whether a row of stream options comes first, in a delimited or a bare frame."""
    if _options_row(head, 0):
        return True
    length, at = _varint(head, 0)
    return length is not None and length > 0 and _options_row(head, at, length)


def looks_like_rdf_protobuf(head: bytes) -> bool:
    """Whether a row comes first whose lengths fit each other, alone or in a message."""
    first = len(head) - len(head.lstrip(b"\0"))  # behind empty messages
    length, at = _varint(head, first)
    if not length:
        return False
    if _protobuf_row(head, at, at + length):
        return True
    row = _field(head, at)
    return (
        row is not None
        and row[0] == 0x0A
        and row[2] <= at + length
        and _protobuf_row(head, *row[1:])
    )


def looks_like_rdf_thrift(head: bytes) -> bool:
    """Whether a prefix declaration comes first, or a statement that begins with a term."""
    if head[:2] == b"\x1c\x18":
        name, at = _varint(head, 2)
        if name is None or head[at + name : at + name + 1] != b"\x18":
            return False
        iri, at = _varint(head, at + name + 1)
        return iri is not None and head[at + iri : at + iri + 2] == b"\0\0"
    return head[:2] in (b"\x2c\x1c", b"\x3c\x1c") and head[2:3] in (
        b"\x1c",
        b"\x2c",
        b"\x3c",
        b"\x4c",
        b"\x9c",
        b"\xa6",
        b"\xb7",
        b"\xcc",
    )


def looks_like_nquads(head: bytes) -> bool:
    """Whether every whole line is a statement, a directive or a comment, one statement at least."""
    statements = 0
    for line in _lines(head):
        if _is_statement(line):
            statements += 1
        elif not re.match(_LINE_DIRECTIVE, line[:_LINE_BYTES]):
            return False
    return statements > 0


def looks_like_trig(head: bytes) -> bool:
    """Whether there is a Turtle directive, or something that begins like a Turtle statement."""
    lines = _lines(head)
    if not lines or looks_like_nquads(head):
        return False
    text = "\n".join(lines)
    if re.match(_OTHER, text):
        return False
    directive = any(re.match(_BLOCK_DIRECTIVE, line[:_LINE_BYTES]) for line in lines)
    return directive or bool(re.match(_BLOCK_STATEMENT, text))


def looks_like_rdfxml(head: bytes) -> bool:
    """Whether an XML document begins, whose first element is `rdf:RDF` or which speaks of RDF's namespace."""
    text = head.decode("utf-8-sig", errors="replace").lstrip()
    if not re.match(
        r"<(?:\?xml[\s-]|!DOCTYPE\s|!--|[^\W\d][\w.-]*(?::[^\W\d][\w.-]*)?[\s>])", text
    ):
        return False
    return "<rdf:RDF" in text or "http://www.w3.org/1999/02/22-rdf-syntax-ns#" in text


def looks_like_ndjsonld(head: bytes) -> bool:
    """Whether every whole line is a JSON object, and keywords of JSON-LD are there."""
    lines = [line for line in head.split(b"\n") if line.strip()]
    if len(head) >= 4096 and len(lines) > 1:
        lines.pop()  # cut off by the end of the head
    if not lines or b'"@' not in head:
        return False
    if len(lines) == 1 and len(head) >= 4096:
        return re.match(_JSON_LINE, head) is not None
    return all(_is_json_object(line) for line in lines)


def looks_like_jsonld(head: bytes) -> bool:
    """Whether it begins as a JSON object or array does, and keywords of JSON-LD are there."""
    return b'"@' in head and re.match(rb'\s*(?:\{\s*"|\[\s*\{)', head) is not None


def looks_like_yamlld(head: bytes) -> bool:
    """Whether a YAML mapping has keywords of JSON-LD as keys, and JSON does not begin."""
    lines = [line for line in _lines(head) if not re.match(r"\s*#|---\s*$|%", line)]
    if not lines or re.match(r"(?:--- )?\s*[{\[<]", lines[0]):
        return False
    return any(re.match(_YAML_KEYWORD, line[:_LINE_BYTES]) for line in lines)


def clear_format(head: bytes) -> str | None:
    """The format that whole lines tell, whatever follows; then a live log need not wait for more.

    Lines of triples do not, since Turtle may follow; a quad does, and `@prefix`, and Jelly's options, and
    an element in XML.
    """
    if looks_like_jelly(head):
        return "jelly"
    if looks_like_rdf_protobuf(head):
        return "rdf-protobuf"
    if looks_like_rdf_thrift(head):
        return "rdf-thrift"
    if looks_like_rdfxml(head):
        return "rdfxml"
    whole = head[: max(head.rfind(b"\n"), head.rfind(b"\r", 0, -1)) + 1]
    if looks_like_ndjsonld(whole):
        return "ndjsonld"
    lines = _lines(whole)
    if looks_like_nquads(whole):
        return "nq" if any(_is_statement(line, (4,)) for line in lines) else None
    if any(re.match(_BLOCK_DIRECTIVE, line[:_LINE_BYTES]) for line in lines):
        return "trig" if looks_like_trig(whole) else None
    return None


def _is_statement(line: str, sizes: tuple[int, ...] = (3, 4)) -> bool:
    """Whether a line is three or four terms and a dot."""
    terms = depth = at = 0
    token = re.compile(_TOKEN)
    while match := token.match(line, at):
        at = match.end()
        if match["dot"] is not None:
            return depth == 0 and terms in sizes
        if match["open"]:
            depth += 1
            terms += depth == 1
        elif match["close"]:
            depth -= 1
        elif depth == 0:
            terms += 1
    return False


def _is_json_object(line: bytes) -> bool:
    import json  # needed where JSON is likely

    if not line.lstrip().startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


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


def _field(data: bytes, at: int) -> tuple[int, int, int] | None:
    """Tag, start and end of a length-delimited field with a one-byte tag."""
    if at >= len(data):
        return None
    length, start = _varint(data, at + 1)
    return None if length is None else (data[at], start, start + length)


def _protobuf_row(data: bytes, at: int, end: int) -> bool:
    """Whether what stands there is one row of RDF Protobuf: a field that fills it, and one inside."""
    row = _field(data, at)
    if row is None or row[2] != end or row[0] not in (0x0A, 0x12, 0x1A, 0x22):
        return False
    inner = _field(data, row[1])
    if inner is None or inner[2] > end:
        return False
    if row[0] in (0x12, 0x1A):  # the first term, which is a field that fills it
        term = _field(data, inner[1])
        fields = (0x0A, 0x12, 0x1A, 0x22, 0x32)
        return inner[0] == 0x0A and term is not None and term[2] == inner[2] and term[0] in fields
    if row[0] == 0x0A and inner[0] == 0x0A and inner[2] < end:  # a name, then an IRI
        inner = _field(data, inner[2])
        return inner is not None and inner[0] == 0x12 and inner[2] == end
    return inner[0] == (0x12 if row[0] == 0x0A else 0x0A) and inner[2] == end


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
    # Tags of RdfStreamOptions: small numbers, before them perhaps a length-delimited name.
    if data[inner : inner + 1] == b"\x0a":
        name, inner = _varint(data, inner + 1)
        inner += name or 0
    return data[inner : inner + 1] in (
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
