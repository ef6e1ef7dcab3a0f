"""Logs with changing namespaces: output grows with the log, not with the number of namespaces."""

import json
import subprocess
import sys
from itertools import chain

import pyarrow as pa
import pytest

import rdfm
from rdfm import MessageBatch, formats

DELIMITER = "# @message\n"


def log(count: int, statement: str = "p{0}:s p{0}:p 'o' .\n") -> bytes:
    """Returns a log in which each message declares a different prefix."""
    lines = (f"PREFIX p{n}: <http://e/{n}#>\n" + statement.format(n) for n in range(count))
    return DELIMITER.join(lines).encode()


def written(tmp_path, data, name, **options):
    """Returns the output of a conversion; for a folder, the content of all files."""
    path = tmp_path / name
    rdfm.convert(data, f"{path}/" if name.endswith("/") else path, from_format="ttl", **options)
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return b"".join(file.read_bytes() for file in files)


TARGETS = [
    *(
        (f"out{each.spec.suffixes[0]}", {} if each.spec.carries["boundaries"] else {"flat": True})
        for each in formats.built_in()
        if "messages" in each.spec.kinds
    ),
    ("out.ndjsonld", {"context_lines": "every"}),
    ("out.jelly", {"namespaces": True}),
    *((f"out.{name}.tar", {}) for name in ("ttl", "jelly", "rpb", "rdfxml", "ndjsonld", "yamlld")),
    ("folder/", {"to": "ttl"}),
    ("parts/", {"to": "ttl", "split_messages": 3}),
    ("rows/", {"to": "arrow", "split_messages": 100}),
]


@pytest.mark.slow
@pytest.mark.parametrize("statement", ["p{0}:s p{0}:p 'o' .\n", "<http://s> <http://p> {0} .\n"])
@pytest.mark.parametrize(("name", "options"), TARGETS, ids=str)
def test_output_grows_linearly_with_the_log(tmp_path, name, options, statement):
    sizes = []
    for count in (600, 1200, 2400):
        folder = tmp_path / str(count)
        folder.mkdir()
        sizes.append(len(written(folder, log(count, statement), name, **options)))
    # With linear growth, the second increase is about twice the first.
    assert sizes[2] - sizes[1] < 2.5 * max(sizes[1] - sizes[0], 1), sizes


CHANGING = b"""\
PREFIX a: <http://a/>
PREFIX b: <http://b/>
a:s a:p a:o .
# @message
b:s b:p "1"^^b:t .
# @message
PREFIX c: <http://c/>
<http://x/s> b:p c:o .
# @message
c:s b:p 1 .
# @message
a:s b:p c:o .
# @message
PREFIX a: <http://other/>
a:s <http://a/p> "x" .
# @message
PREFIX unused: <http://unused/>
# @message
a:s a:p "x" .
"""
NEEDED = [
    ["a", "b"],
    ["b"],
    ["b", "c"],
    ["b", "c"],
    ["a", "b", "c"],
    ["a"],
    ["unused"],
    ["a"],
]


def test_a_context_line_contains_the_namespaces_of_the_next_message(tmp_path):
    lines = written(tmp_path, CHANGING, "out.ndjsonld").decode().splitlines()
    assert lines == [
        '{"@context":{"a":"http://a/","b":"http://b/"}}',
        '{"@id":"a:s","a:p":{"@id":"a:o"}}',
        '{"@id":"b:s","b:p":{"@value":"1","@type":"b:t"}}',
        '{"@context":{"b":"http://b/","c":"http://c/"}}',
        '{"@id":"http://x/s","b:p":{"@id":"c:o"}}',
        '{"@id":"c:s","b:p":1}',
        '{"@context":{"a":"http://a/","b":"http://b/","c":"http://c/"}}',
        '{"@id":"a:s","b:p":{"@id":"c:o"}}',
        '{"@context":{"a":"http://other/"}}',
        '{"@id":"a:s","http://a/p":"x"}',
        '{"@context":{"unused":"http://unused/"}}',
        "{}",
        '{"@context":{"a":"http://other/"}}',
        '{"@id":"a:s","a:p":"x"}',
    ]


def test_a_context_in_every_message_contains_its_namespaces(tmp_path):
    out = written(tmp_path, CHANGING, "out.ndjsonld", context_lines="every")
    names = [list(json.loads(line).get("@context", {})) for line in out.splitlines()]
    # As long as there are few namespaces and none changes, all are written; later, only those that
    # the message needs. The namespaces of an empty message are written with the next message.
    assert names == [["a", "b"], ["a", "b"], *NEEDED[2:6], [], ["a", "unused"]]


@pytest.mark.parametrize("name", ["ndjsonld", "yamlld", "jelly", "rpb", "ttl", "parquet", "rdfxml"])
@pytest.mark.parametrize("options", [{}, {"context_lines": "every"}], ids=str)
def test_the_messages_are_read_back(tmp_path, name, options):
    if options and not name.endswith("ld"):
        pytest.skip("context_lines is an option of JSON-LD")
    written(tmp_path, CHANGING, f"out.{name}", **options)
    with (
        rdfm.open_log(CHANGING, "ttl") as expected,
        rdfm.open_log(tmp_path / f"out.{name}") as found,
    ):
        for expected_message, found_message in zip(expected, found, strict=True):
            assert sorted(map(str, expected_message.quads)) == sorted(map(str, found_message.quads))


@pytest.mark.parametrize("context_lines", ["first", "every"])
def test_unchanging_namespaces_are_written_as_one_context(tmp_path, context_lines):
    data = b"PREFIX a: <http://a/>\nPREFIX b: <http://b/>\na:s a:p 1 .\n# @message\nb:s b:p 2 .\n"
    context = '"@context":{"a":"http://a/","b":"http://b/"}'
    nodes = ['"@id":"a:s","a:p":1', '"@id":"b:s","b:p":2']
    lines = written(tmp_path, data, "out.ndjsonld", context_lines=context_lines).decode()
    if context_lines == "first":
        assert lines == f"{{{context}}}\n{{{nodes[0]}}}\n{{{nodes[1]}}}\n"
    else:
        assert lines == f"{{{context},{nodes[0]}}}\n{{{context},{nodes[1]}}}\n"


def test_a_context_that_would_change_an_iri_is_reset(tmp_path):
    data = (
        "PREFIX urn: <http://u/>\n<urn:x> urn:p 1 .\n# @message\nPREFIX b: <http://b/>\n"
        "<urn:y> b:p 2 .\n# @message\n<urn:y> b:p 3 .\n# @message\n<urn:x> urn:p 4 .\n"
    )
    out = written(tmp_path, data.encode(), "out.ndjsonld").decode().splitlines()
    assert out == [
        '{"@context":{"urn":"http://u/"}}',
        '{"@context":null,"@id":"urn:x","http://u/p":1}',
        '{"@context":{"b":"http://b/"}}',
        '{"@id":"urn:y","b:p":2}',
        '{"@id":"urn:y","b:p":3}',
        '{"@context":{"urn":"http://u/"}}',
        '{"@context":null,"@id":"urn:x","http://u/p":4}',
    ]


def column(rows):
    rows = pa.record_batch(rows) if not isinstance(rows, pa.Table) else rows
    return [[name for name, _ in row or []] for row in rows["namespaces"].to_pylist()]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_the_namespace_column_contains_declared_and_used_namespaces(size):
    encoder = formats.find("arrow").Encoder()
    with rdfm.open_log(CHANGING, "ttl", batch_messages=size) as source:
        data = b"".join(map(encoder.encode, source.batches())) + encoder.finish()
    assert column(pa.ipc.open_file(data).read_all()) == NEEDED
    with rdfm.open_log(CHANGING, "ttl", batch_messages=size) as source:
        rows = [column(batch.to_arrow(["namespaces"])) for batch in source.batches()]
    assert list(chain(*rows)) == NEEDED
    batch = formats.find("ttl").decode(CHANGING)
    single_rows = [
        column(batch.slice(at, at + 1).to_arrow(["namespaces"])) for at in range(len(batch))
    ]
    assert list(chain(*single_rows)) == NEEDED


@pytest.mark.parametrize("format", ["arrow", "ndjsonld", "ttl"])
def test_messages_written_one_by_one_equal_the_output_of_convert(tmp_path, monkeypatch, format):
    monkeypatch.setattr("rdfm.logs.write.writer.PENDING_MESSAGES", 3)
    converted = written(tmp_path, CHANGING, f"whole.{format}")
    path = tmp_path / f"single.{format}"
    with rdfm.open_log(CHANGING, "ttl") as source, rdfm.create_log(path) as out:
        for message in source:
            out.write(message)
    if format != "arrow":
        assert path.read_bytes() == converted
        return
    assert column(pa.ipc.open_file(path.read_bytes()).read_all()) == NEEDED


def test_unused_namespaces_are_not_repeated_in_each_file(tmp_path):
    declarations = "".join(f"PREFIX p{n}: <http://e/{n}#>\n" for n in range(300))
    data = f"{declarations}p1:s p2:p 1 .\n# @message\nPREFIX own: <http://own/>\np3:s p2:p 2 .\n"
    written(tmp_path, f"{data}# @message\np4:s p2:p 3 .\n".encode(), "out/", to="ttl")
    texts = [path.read_text() for path in sorted((tmp_path / "out").rglob("*.ttl"))]
    assert texts[0].count("PREFIX") == 300
    assert texts[1:] == [
        "PREFIX p2: <http://e/2#>\nPREFIX p3: <http://e/3#>\nPREFIX own: <http://own/>\np3:s p2:p 2 .\n",
        "PREFIX p2: <http://e/2#>\nPREFIX p4: <http://e/4#>\np4:s p2:p 3 .\n",
    ]
    data_with_few = data.replace(
        declarations,
        "PREFIX p1: <http://e/1#>\nPREFIX p2: <http://e/2#>\n" + "PREFIX p9: <http://e/9#>\n",
    )
    data_with_few = data_with_few.replace("p3:s", "p2:s")
    written(tmp_path, data_with_few.encode(), "few/", to="ttl")
    last = sorted((tmp_path / "few").rglob("*.ttl"))[-1].read_text()
    assert last.startswith("PREFIX p1: <http://e/1#>\nPREFIX p2: <http://e/2#>\nPREFIX p9:")


@pytest.mark.parametrize("batch_messages", [1, 1000])
def test_namespaces_count_towards_the_message_limit(batch_messages):
    options = {"max_message_bytes": 100_000, "batch_messages": batch_messages}
    with (
        rdfm.open_log(log(1000), "ttl", **options) as source,
        pytest.raises(
            rdfm.LimitError, match="namespaces in force take more than 100000 bytes"
        ) as error,
    ):
        for _ in source:
            pass
    assert 100 < error.value.message_index < 200
    # Rebinding a prefix does not add to the count.
    log_with_one_prefix = DELIMITER.join(
        f"PREFIX p: <http://e/{n}#>\np:s p:p 1 .\n" for n in range(1000)
    )
    with rdfm.open_log(log_with_one_prefix.encode(), "ttl", **options) as source:
        assert sum(1 for _ in source) == 1000


def test_declarations_lists_the_namespaces_of_a_batch():
    batch = formats.find("ttl").decode(CHANGING)
    assert batch.declarations() == [
        (0, "a", "http://a/"),
        (0, "b", "http://b/"),
        (2, "c", "http://c/"),
        (5, "a", "http://other/"),
        (6, "unused", "http://unused/"),
    ]
    assert batch.has_namespaces(0)
    assert not MessageBatch.from_messages([[]]).has_namespaces(0)
    first = MessageBatch.from_messages([rdfm.Message(namespaces={"a": "http://a/"})])
    second = MessageBatch.from_messages([rdfm.Message(namespaces={"a": "http://a/"})], after=first)
    assert (second.declarations(), second.namespaces(0)) == ([], {"a": "http://a/"})


def test_slices_share_their_namespaces():
    code = (
        "import resource, sys, rdfm\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "kept = []\n"
        "for batch in rdfm.open_log(sys.stdin.buffer.read(), 'trig').batches():\n"
        "    kept += [batch.slice(at, at + 1) for at in range(len(batch))]\n"
        "assert [len(kept[at].namespaces(0)) for at in (0, 1999, 3999)] == [1, 2000, 4000]\n"
    )
    subprocess.run([sys.executable, "-c", code], input=log(4000), check=True, timeout=60)


def test_slices_made_in_any_order_have_the_namespaces_of_their_messages():
    data = log(50) + b"# @message\nPREFIX p7: <http://e/other/>\np7:s p7:p 1 .\n"
    batch = MessageBatch.from_messages(rdfm.open_log(data, "ttl"))
    for start in (40, 3, 50, 7, 8, 0, 49):
        part = batch.slice(start, start + 1)
        assert part.namespaces(0) == batch.namespaces(start)
        assert len(part.namespaces(0)) == min(start + 1, 50)
        assert part.namespaces(0).get("p7") == (
            None if start < 7 else "http://e/other/" if start == 50 else "http://e/7#"
        )
