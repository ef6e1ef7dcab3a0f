"""Readers find every file that a writer of folders names."""

import pytest

import rdfm
from rdfm import formats

KEYS = [
    *("_x", "_", "__", ".x", ".", "..", "-x", "-", " x ", "x ", "x.", "a b", "a=b", "k=1", "~", "%"),
    *("a", "A", "ss", "ß", "ı", "i", "I", "\\u0130", "e\\u0301", "\\u00e9", "\\u212b", "\\u00c5"),
    *("con", "CON", "nul.nq", "COM1", "com\\u00b9", "lpt9.x", "aux", "conin$"),
    *("\\u0000", "a\\u0000b", "\\n", "\\t", "/", "../x", "a/b", "\\\\", "*", "[a]", "{a,b}", "?"),
    *("x.append", "x.nq.append", "x.state.json", "x.partial", "x.tmp", "x.tar", "x.gz", "x.zip"),
    *("x" * 300, "x" * 299 + "y", "é" * 150, "é" * 149 + "e", "_" * 300, "other", "default"),
]  # fmt: skip
LOG = "# @message\n".join(
    f'<http://e/{at}> <http://e/p> "{key}" .\n' for at, key in enumerate(KEYS)
)
GRAPHS = [f"http://e/{key}" for key in ("a", "A", "_", "x" * 300, "é", "e%CC%81")] + ["_:x", "x:"]
GRAPH_LOG = "# @message\n".join(
    f"<http://e/s> <http://e/p> <http://e/{at}> <{graph}> .\n".replace("<_:x>", "_:x")
    for at, graph in enumerate(GRAPHS)
)
WRITERS = {
    "value": {"split_by": "value:<http://e/p>"},
    "graph": {"split_by": "graph"},
    "size": {"split_bytes": 1},
    "messages": {"split_messages": 2},
    "each message": {},
}
FORMATS = [
    spec.name for spec in formats.specs() if "messages" in spec.kinds and spec.carries["graphs"]
]

SINGLE = ("rdf-thrift", "jsonld")  # formats of one message


@pytest.mark.parametrize("compression", ["none", "gzip"])
@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("name", FORMATS)
def test_a_written_folder_is_read_completely(tmp_path, name, writer, compression):
    log = (GRAPH_LOG if writer == "graph" else LOG).encode()
    output = f"{tmp_path}/out/"
    options = {**WRITERS[writer], "to": name, "compression": compression}
    if writer == "messages" and name in SINGLE:
        options["split_messages"] = 1
    rdfm.convert(log, output, from_format="nq", **options)
    expected = sorted(_text(message) for message in rdfm.open_log(log, "nq"))
    assert sorted(_text(message) for message in rdfm.open_log(output)) == expected


def _text(message):
    """The quads of a message without labels."""
    return sorted(
        (str(quad.object), None if isinstance(quad.graph, rdfm.BlankNode) else str(quad.graph))
        for quad in message
    )


def test_a_file_with_a_long_name_can_be_appended_to(tmp_path):
    rdfm.convert(LOG.encode(), f"{tmp_path}/out/", from_format="nq", to="nq", **WRITERS["value"])
    for path in (tmp_path / "out").iterdir():
        count = len(list(rdfm.open_log(path)))
        rdfm.convert(b'<http://e/s> <http://e/p> "1" .', path, from_format="nq", append=True)
        assert len(list(rdfm.open_log(path))) == count + 1
