"""Makes the line formats and the binary ones of the fixtures from their expected.txt, without rdfm.

`python spec-fixtures/make.py` writes the files; `made()` gives them, for the test that they are current.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent
sys.path.insert(0, str(FIXTURES.parent / "tests"))

import jelly_proto  # noqa: E402 - found through the line above
import nquads  # noqa: E402
import rdf_binary  # noqa: E402

# What expected.txt does not say.
METADATA = {"metadata": [{"key": b"value", "bytes": b"\x00\xff"}, {"only": b""}, {}]}
NAMESPACES = {
    "prefixes": [
        {"": "http://one.example/", "one": "http://one.example/"},
        {"": "http://two.example/"},
        {"one": "http://two.example/"},
    ]
}


def lines(messages: list[str], delimiter: str, *, leading: bool) -> str:
    """Delimiters stand between messages; more where the first or last message would be lost."""
    text = delimiter.join(messages)
    if leading and not messages[0]:
        text = delimiter + text
    return text if messages[-1] else text + delimiter


def made() -> Iterator[tuple[Path, bytes]]:
    """The files and their bytes."""
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
        nothing: list[dict] = [{}] * len(quads)
        for physical in (1,) if triples else (2, 3):
            writer = jelly_proto.Writer(physical, version)
            metadata = METADATA.get(folder.name, nothing)
            namespaces = NAMESPACES.get(folder.name, nothing)
            for message, entries, names in zip(quads, metadata, namespaces, strict=True):
                writer.message(message, entries, names)
            name = "log" if physical < 3 else "graphs"
            yield folder / f"{name}.jelly", jelly_proto.delimited(writer.frames)
        names = NAMESPACES.get(folder.name, nothing)
        yield folder / "log.rpb", rdf_binary.protobuf_messages(quads, names)
        # Of rows alone, a file is one message.
        for at, message in enumerate(quads):
            for kinds, write, suffix in (
                (rdf_binary.protobuf(), rdf_binary.protobuf_rows, "rpb"),
                (rdf_binary.thrift(), rdf_binary.thrift_rows, "rt"),
            ):
                rows = rdf_binary.rows_of(kinds, message, names[at])
                if message or names[at]:
                    yield folder / f"message-{at}.{suffix}", write(rows)


if __name__ == "__main__":
    for path, data in made():
        path.write_bytes(data)
