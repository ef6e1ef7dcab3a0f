"""Regrouping options, and the data that regrouping drops."""

import re

import pytest
from support import decoded

import rdfm
from rdfm import formats, regroup
from rdfm.conversion.regroup import make_regrouper

NQ = formats.find("nq")
NANOPUB = "http://www.nanopub.org/nschema#"


@pytest.mark.parametrize(
    ("grouping", "text"),
    [
        ("", "count=N, bytes=N or all, not ''"),
        ("messages", "count=N, bytes=N or all, not 'messages'"),
        ("count", "count=N, bytes=N or all, not 'count'"),
        ("count=", "N of group_by count=N must be a number >= 1"),
        (
            "count=0",
            "count=N must be a number >= 1, such as 1000, 64K or 64M (powers of 1024), not '0'",
        ),
        ("count=-1", "not '-1'"),
        ("bytes=0K", "N of group_by bytes=N must be a number >= 1"),
        ("count=99999999999999999999", "N of group_by count=N must be a number >= 1"),
        ("count=999999999999999999G", "N of group_by count=N must be a number >= 1"),
        ("bytes=x", "not 'x'"),
    ],
)
def test_invalid_groupings_are_rejected(grouping, text):
    with pytest.raises(rdfm.OptionError, match=re.escape(text)):
        make_regrouper(grouping)


HEAD = f"""<x:np> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{NANOPUB}Nanopublication> <x:h> .
<x:np> <{NANOPUB}hasAssertion> <x:a> <x:h> .
"""
STRAY = "<x:s> <x:p> <x:o> <x:other> ."


@pytest.mark.parametrize(
    ("quads", "reason"),
    [
        (f"{HEAD}{STRAY}", "the graph '<x:other>' is not the head of a nanopublication, and"),
        (f"{STRAY}\n{HEAD}", "the graph '<x:other>' is not the head of a nanopublication, and"),
        (f"{HEAD}<x:s> <x:p> <x:o> .", "a quad is in the default graph, expected the head"),
        (f"{HEAD}<x:s> <x:p> <x:o> _:g .", "a quad is in a graph without an IRI, expected the"),
        (f"{HEAD}# @message\n{STRAY}", r"names it (message 1)"),
    ],
)
def test_quads_outside_of_nanopublications_are_an_error(quads, reason):
    batch = NQ.decode(quads.encode())
    with pytest.raises(rdfm.EncodeError, match=re.escape(reason)):
        list(regroup([batch], "nanopub"))


def test_the_memory_for_the_names_of_a_group_is_limited():
    lines = "".join(f"<x:s> <x:p> _:node{number} .\n" for number in range(2000))
    regrouper = make_regrouper("cbd", skolemize="x:y", parts=True, max_message_bytes=100_000)
    regrouper.feed(NQ.decode(lines.encode()))
    with pytest.raises(rdfm.EncodeError, match="a larger max_message_bytes allows it"):
        while regrouper.next_batch() is not None:
            pass


def test_the_skolem_base_must_be_an_absolute_iri():
    with pytest.raises(rdfm.OptionError, match="skolemize"):
        make_regrouper("all", skolemize="example.org")


def test_merged_messages_keep_distinct_nodes():
    log = NQ.decode(b"_:a <x:p> _:_gm1_a .\n# @message\n_:a <x:p> _:a .\n")
    (batch,) = regroup([log], "all")
    (message,) = decoded("nq", NQ.encode(batch))
    assert [quad[0][1] for quad in message] == ["a", "_gm1_a"]
    assert message[0][2] == ("bnode", "_gm0__gm1_a")


def test_dropped_empty_messages_are_counted(tmp_path):
    source = tmp_path / "in.nq"
    source.write_bytes(b"# @message\n# @message\n<x:s> <x:p> <x:o> .\n# @message\n# @message\n")
    summary = rdfm.convert(source, tmp_path / "out.nq", group_by="count=5")
    assert (summary.messages, summary.quads) == (1, 1)
    assert summary.dropped["empty messages"] >= 2


def test_merged_empty_messages_are_counted(tmp_path):
    source, empty = tmp_path / "in.nq", tmp_path / "empty.nq"
    source.write_bytes(b"# @message\n# @message\n<x:s> <x:p> <x:o> .\n# @message\n# @message\n")
    empty.write_bytes(b"# @message\n" * 4)
    for inputs, count in (([source], 2), ([source, source], 4), ([empty], 2), ([empty, source], 5)):
        summary = rdfm.convert(inputs, tmp_path / "out.nq", group_by="all")
        assert (summary.messages, summary.dropped) == (1, {"empty messages": count})
    (tmp_path / "one.nq").write_bytes(b"# @message\n# @message\n")
    summary = rdfm.convert(tmp_path / "one.nq", tmp_path / "out.nq", group_by="all")
    assert (summary.messages, summary.dropped) == (1, {})


def test_namespaces_move_with_the_quads_after_them(tmp_path):
    source = tmp_path / "in.ttl"
    source.write_text(
        "PREFIX a: <http://a/>\na:s a:p a:o .\n# @message\nPREFIX b: <http://b/>\nb:s b:p b:o .\n"
    )
    summary = rdfm.convert(source, tmp_path / "out.ttl", group_by="all")
    text = (tmp_path / "out.ttl").read_text()
    assert summary.messages == 1
    assert "PREFIX b: <http://b/>" in text
    assert "b:s b:p b:o" in text


def test_all_messages_become_one_document(tmp_path):
    source = tmp_path / "in.nq"
    source.write_bytes(b"<x:s> <x:p> _:o .\n# @message\n<x:s> <x:p> _:o .\n")
    summary = rdfm.convert(source, tmp_path / "out.rdf", group_by="all")
    assert summary.messages == 1
    (message,) = decoded("rdfxml", (tmp_path / "out.rdf").read_bytes())
    assert len({quad[2] for quad in message}) == 2


def test_limit_errors_name_the_option(tmp_path):
    lines = b"".join(b'<x:s> <x:p> "%d" .\n# @message\n' % at for at in range(2000))
    with pytest.raises(rdfm.EncodeError, match="max_message_bytes"):
        rdfm.convert(
            lines, tmp_path / "out.rdf", from_format="nq", group_by="all", max_message_bytes=10_000
        )
