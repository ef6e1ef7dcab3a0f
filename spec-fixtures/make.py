"""Generates fixtures from their expected.txt, without rdfm.

The formats are N-Triples, N-Quads, RDF/XML, JSON-LD, YAML-LD and binary formats.
`python spec-fixtures/make.py` writes the files. A test compares them with `generated_files()`.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

FIXTURES = Path(__file__).resolve().parent
sys.path.insert(0, str(FIXTURES.parent / "tests"))

import jelly_proto  # noqa: E402 - found because of the line above
import nquads  # noqa: E402
import rdf_binary  # noqa: E402
import rdf_patch  # noqa: E402
import yaml  # noqa: E402

# Metadata and namespaces of each message, by folder; expected.txt does not contain them.
METADATA = {"metadata": [{"key": b"value", "bytes": b"\x00\xff"}, {"only": b""}, {}]}
NAMESPACES = {
    "prefixes": [
        {"": "http://one.example/", "one": "http://one.example/"},
        {"": "http://two.example/"},
        {"one": "http://two.example/"},
    ]
}
# Folders whose message is also written as Jelly of a flat type, with the number of quads per frame.
# Blank nodes occur in several frames.
FLAT = {"flat": 2}


def lines(messages: list[str], delimiter: str, *, leading: bool) -> str:
    """Joins messages with delimiters.

    If the last message is empty, another delimiter follows it, so that it is not lost. With
    `leading`, a delimiter also precedes an empty first message.
    """
    text = delimiter.join(messages)
    if leading and not messages[0]:
        text = delimiter + text
    return text if messages[-1] else text + delimiter


RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
ITS = "http://www.w3.org/2005/11/its"
# Line ends are escaped, because a document is one line.
ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


def document(message: list[tuple], namespaces: dict[str, str]) -> str:
    """Returns a message as one line of RDF/XML, with one description per triple.

    Each predicate must end with an XML name.
    """
    prefixes = {"rdf": RDF, "its": ITS, **namespaces}
    declared = "".join(
        f" xmlns{':' * bool(name)}{name}={quoteattr(iri)}" for name, iri in prefixes.items()
    )
    body = "".join(map(description, message))
    return f'<rdf:RDF rdf:version="1.2"{declared}>{body}</rdf:RDF>\n'


def description(quad: tuple) -> str:
    """Returns a node element with one property element, which declares its own namespace."""
    subject, predicate, object_ = quad[:3]
    namespace, local = re.fullmatch(r"(.*?)([A-Za-z_][\w.-]*)", predicate[1]).groups()
    about = f"rdf:{'nodeID' if subject[0] == 'bnode' else 'about'}={quoteattr(subject[1])}"
    attributes, text = "", ""
    if object_[0] == "iri":
        attributes = f" rdf:resource={quoteattr(object_[1])}"
    elif object_[0] == "bnode":
        attributes = f" rdf:nodeID={quoteattr(object_[1])}"
    elif object_[0] == "triple":
        attributes, text = ' rdf:parseType="Triple"', description(object_[1:])
    else:
        _, text, language, direction, datatype = object_
        text = "".join(ESCAPES.get(character, character) for character in text)
        if language:
            attributes = f" xml:lang={quoteattr(language)}"
            attributes += f' its:version="2.0" its:dir="{direction}"' if direction else ""
        elif datatype != nquads.XSD_STRING:
            attributes = f" rdf:datatype={quoteattr(datatype)}"
    return (
        f"<rdf:Description {about}><p:{local} xmlns:p={quoteattr(namespace)}{attributes}>{text}</p:{local}>"
        "</rdf:Description>"
    )


def node(quad: tuple) -> dict:
    """Returns a quad as a node object of expanded JSON-LD."""

    def node_reference(term: tuple) -> dict:
        return {"@id": f"_:{term[1]}" if term[0] == "bnode" else term[1]}

    subject, predicate, object_, graph = quad
    if object_[0] == "literal":
        _, text, language, direction, datatype = object_
        value = {"@value": text}
        if language:
            value["@language"] = language
            value |= {"@direction": direction} if direction else {}
        elif datatype != nquads.XSD_STRING:
            value["@type"] = datatype
    else:
        value = node_reference(object_)
    subject_node = {**node_reference(subject), predicate[1]: [value]}
    if graph is None:
        return subject_node
    return {**node_reference(graph), "@graph": [subject_node]}


def json_ld_supports(message: list[tuple]) -> bool:
    """Whether a message contains no triple terms and no generalized quads."""
    return all(
        quad[0][0] in ("iri", "bnode") and quad[1][0] == "iri" and quad[2][0] != "triple"
        for quad in message
    )


def xml_supports(message: str) -> bool:
    """Whether XML allows every character of a message, which is given as N-Quads."""
    return not re.search(r"\\[bf]|\\u00[01]|\\u0000", message)


def flat_jelly(messages: list[list[tuple]], *, triples: bool) -> bytes:
    """Returns the only message of a log as Jelly of a flat type, in several frames."""
    (quads,) = messages
    writer = jelly_proto.Writer(1 if triples else 2, logical=1 if triples else 2)
    for start in range(0, len(quads), FLAT["flat"]):
        writer.message(quads[start : start + FLAT["flat"]])
    return jelly_proto.delimited(writer.frames)


def generated_files() -> Iterator[tuple[Path, bytes]]:
    """Yields the path and content of each file."""
    for expected in sorted(FIXTURES.glob("*/expected.txt")):
        folder = expected.parent
        messages = expected.read_text("utf-8").split("--- message\n")[1:]
        quads = nquads.read_expected(expected)
        triples = all(quad[3] is None for message in quads for quad in message)
        for name in ("nt", "nq") if triples else ("nq",):
            comment = lines(messages, "# @message\n", leading=True)
            directive = 'VERSION "1.2-messages"\n' + lines(messages, "MESSAGE\n", leading=False)
            yield folder / f"comment.{name}", comment.encode()
            yield folder / f"directive.{name}", directive.encode()
        version = 2 if folder.name in NAMESPACES else 1
        no_entries: list[dict] = [{}] * len(quads)
        if triples and all(map(xml_supports, messages)):
            namespaces = NAMESPACES.get(folder.name, no_entries)
            documents = map(document, quads, namespaces)
            yield folder / "log.rdfxml", "".join(documents).encode()
        if all(map(json_ld_supports, quads)):
            objects = [{"@graph": list(map(node, message))} if message else {} for message in quads]
            texts = [json.dumps(each, ensure_ascii=False) for each in objects]
            yield folder / "log.ndjsonld", "".join(f"{text}\n" for text in texts).encode()
            # Values are in quotes, so that every schema of YAML reads them as strings.
            style = {
                "allow_unicode": True,
                "sort_keys": False,
                "width": 10**6,
                "default_style": '"',
            }
            yield folder / "log.yamlld", yaml.safe_dump_all(objects, **style).encode()
            for at, each in enumerate(objects):
                text = json.dumps(each, indent=2)
                yield folder / f"message-{at}.jsonld", f"{text}\n".encode()
        for physical in (1,) if triples else (2, 3):
            writer = jelly_proto.Writer(physical, version)
            metadata = METADATA.get(folder.name, no_entries)
            namespaces = NAMESPACES.get(folder.name, no_entries)
            for message, entries, names in zip(quads, metadata, namespaces, strict=True):
                writer.message(message, entries, names)
            name = "log" if physical < 3 else "graphs"
            yield folder / f"{name}.jelly", jelly_proto.delimited(writer.frames)
        if folder.name in FLAT:
            yield folder / "flat.jelly", flat_jelly(quads, triples=triples)
        names = NAMESPACES.get(folder.name, no_entries)
        yield folder / "log.rpb", rdf_binary.protobuf_messages(quads, names)
        # With the framing `rows`, a file is one message.
        for at, message in enumerate(quads):
            for kinds, write, suffix in (
                (rdf_binary.protobuf(), rdf_binary.protobuf_rows, "rpb"),
                (rdf_binary.thrift(), rdf_binary.thrift_rows, "rt"),
            ):
                rows = rdf_binary.rows_of(kinds, message, names[at])
                if message or names[at]:
                    yield folder / f"message-{at}.{suffix}", write(rows)
    for text in sorted(FIXTURES.glob("rdf-patch-thrift/*.txt")):
        rows = rdf_patch.rows_of_text(text.read_text("utf-8"))
        yield text.with_suffix(".trp"), rdf_binary.thrift_rows(map(rdf_patch.thrift_row, rows))


if __name__ == "__main__":
    for path, data in generated_files():
        path.write_bytes(data)
