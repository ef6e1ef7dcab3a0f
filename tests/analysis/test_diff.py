"""Results of `rdfm.diff`, compared with pyoxigraph's canonicalization and rdflib's isomorphism."""

import io
import random

import pytest
import suites
from fixture_logs import LOGS, reading_options
from hypothesis import given
from hypothesis import strategies as st
from samples import generated

import rdfm
from rdfm import BlankNode, Iri, Literal, Message, Quad, formats
from rdfm.errors import Remedy

P = [Iri("http://example.org/p"), Iri("http://example.org/q")]
KINDS = ("changed", "only_a", "only_b")
NO_LIMIT = 1_000_000


def log(*messages, format="nq"):
    """Returns a log of messages, each given as quads separated by `;`."""
    texts = ["".join(f"{quad} .\n" for quad in text.split(";") if quad) for text in messages]
    data = io.BytesIO()
    rdfm.convert("# @message\n".join(texts).encode(), data, from_format="nq", to=format)
    return data.getvalue()


def numbered(*numbers):
    """Returns a log in which each message has one quad, with the given number as its object."""
    return log(*(f'<a:s> <a:p> "{number}"' for number in numbers))


def differences_of(a, b, **options):
    """Returns the kind and indexes of each difference."""
    found = rdfm.diff(a, b, format="nq", **options)
    return [(each.kind, each.message_index_a, each.message_index_b) for each in found]


@pytest.mark.parametrize(
    ("a", "b", "differences"),
    [
        (range(9), range(9), []),
        ([], [], []),
        (range(9), [], [("only_a", at, None) for at in range(9)]),
        (range(9), [*range(4), 99, *range(4, 9)], [("only_b", None, 4)]),
        (range(9), [*range(4), *range(5, 9)], [("only_a", 4, None)]),
        (range(9), [*range(4), 99, *range(5, 9)], [("changed", 4, 4)]),
        (range(9), [*range(9), 99], [("only_b", None, 9)]),
        ([1, 2], [2, 1], [("only_a", 0, None), ("only_b", None, 1)]),
        ([0, 1, 2, 3], [0, 2, 1, 3], [("only_a", 1, None), ("only_b", None, 2)]),
        ([0, 1, 2, 9], [0, 5, 6, 9], [("changed", 1, 1), ("changed", 2, 2)]),
        ([7, 7, 7], [7, 7], [("only_a", 2, None)]),
        ([1, 2, 3], [4, 5, 6], [("changed", at, at) for at in range(3)]),
    ],
)
def test_short_logs_have_the_expected_differences(a, b, differences):
    assert differences_of(numbered(*a), numbered(*b)) == differences


def test_messages_after_an_insertion_are_aligned():
    numbers = list(range(5000))
    other = [*numbers[:1000], *(-at for at in range(1, 301)), *numbers[1000:]]
    del other[4000]
    found = rdfm.diff(numbered(*numbers), numbered(*other), limit=0)
    assert (found.only_a, found.only_b, found.changed, found.equal) == (1, 300, 0, 4999)
    assert not found.differences
    assert not found.same


@pytest.mark.parametrize("window", [1, 10, 1000])
def test_alignment_resumes_within_the_window(window):
    numbers = list(range(300))
    for inserted in (window, 3 * window):
        other = [*numbers[:20], *(-at for at in range(1, inserted + 1)), *numbers[20:]]
        found = rdfm.diff(numbered(*numbers), numbered(*other), window=window)
        assert found.messages_b == 300 + inserted
        if inserted == window:
            assert (found.only_b, found.changed, found.equal) == (inserted, 0, 300)


def test_a_changed_message_next_to_a_new_one_is_reported_as_changed():
    a = log("<a:x> <a:p> <a:y>;<a:x> <a:q> <a:z>", '<a:s> <a:p> "1"')
    b = log("<a:new> <a:p> <a:k>", "<a:x> <a:p> <a:y>;<a:x> <a:q> <a:other>", '<a:s> <a:p> "1"')
    assert differences_of(a, b) == [("only_b", None, 0), ("changed", 0, 1)]
    assert differences_of(b, a) == [("only_a", 0, None), ("changed", 1, 0)]


@pytest.mark.parametrize(
    ("a", "b", "removed", "added"),
    [
        (
            '<a:s> <a:p> "1";<a:s> <a:p> "2"',
            '<a:s> <a:p> "3";<a:s> <a:p> "1"',
            ['<a:s> <a:p> "2" .'],
            ['<a:s> <a:p> "3" .'],
        ),
        # Equal and similar parts are shown with their canonical labels in A.
        (
            '_:x <a:p> "1";_:y <a:q> "2"',
            '_:u <a:p> "1";_:v <a:q> "3"',
            ['_:c14n0 <a:q> "2" .'],
            ['_:c14n0 <a:q> "3" .'],
        ),
        (
            '<a:s> <a:p> _:x;_:x <a:lat> "1";_:x <a:long> "2"',
            '<a:s> <a:p> _:u;_:u <a:lat> "1";_:u <a:long> "3"',
            ['_:c14n0 <a:long> "2" .'],
            ['_:c14n0 <a:long> "3" .'],
        ),
        # RDFC-1.0 does not support triple terms, so A's labels are kept.
        (
            '<a:s> <a:p> <<( _:x <a:p> "1" )>>',
            '<a:s> <a:p> <<( _:u <a:p> "2" )>>',
            ['<a:s> <a:p> <<( _:x <a:p> "1" )>> .'],
            ['<a:s> <a:p> <<( _:x <a:p> "2" )>> .'],
        ),
    ],
)
def test_the_differences_of_a_changed_message_are_listed(a, b, removed, added):
    (found,) = rdfm.diff(log(a), log(b))
    assert (list(found.removed), list(found.added)) == (removed, added)


def test_quads_ordered_makes_the_order_of_quads_significant():
    a, b = log("<a:s> <a:p> <a:x>;<a:s> <a:p> <a:y>"), log("<a:s> <a:p> <a:y>;<a:s> <a:p> <a:x>")
    with_repetition = log("<a:s> <a:p> <a:x>;<a:s> <a:p> <a:x>;<a:s> <a:p> <a:y>")
    assert rdfm.diff(a, b).same
    assert rdfm.diff(a, with_repetition).same
    (found,) = rdfm.diff(a, b, quads="ordered")
    assert (found.removed, found.added) == (("<a:s> <a:p> <a:x> .",), ("<a:s> <a:p> <a:x> .",))
    (found,) = rdfm.diff(a, with_repetition, quads="ordered")
    assert (found.removed, found.added) == ((), ("<a:s> <a:p> <a:x> .",))
    relabelled = [log("_:a <a:p> _:b;_:b <a:p> _:c"), log("_:x <a:p> _:a;_:a <a:p> _:y")]
    assert rdfm.diff(*relabelled, quads="ordered").same


# --- random logs, compared with peer libraries ---


def dataset(draw):
    """Returns quads with few blank nodes and predicates, so that many nodes are similar."""
    nodes = [BlankNode(f"n{at}") for at in range(draw.randint(1, 4))]
    ground = [P[0], Literal("x"), Literal("x", language="en"), Literal(str(draw.randrange(3)))]
    return [
        Quad(
            draw.choice([*nodes, P[0]]),
            draw.choice(P),
            draw.choice(nodes + ground),
            draw.choice([None, None, P[0], nodes[0]]),
        )
        for _ in range(draw.randint(0, 5))
    ]


def relabelled_and_shuffled(draw, quads):
    labels = sorted({term.value for quad in quads for term in quad if isinstance(term, BlankNode)})
    new = dict(zip(labels, draw.sample([f"m{at}" for at in range(9)], len(labels)), strict=True))

    def term(value):
        return BlankNode(new[value.value]) if isinstance(value, BlankNode) else value

    return [Quad(*map(term, quad)) for quad in draw.sample(quads, len(quads))]


def draw_edited_log(draw, messages):
    """Relabels and reorders all messages, and changes, removes, inserts or swaps a few of them."""
    other = [relabelled_and_shuffled(draw, message) for message in messages]
    for _ in range(draw.randint(0, 3)):
        edit = draw.choice(["change", "remove", "insert", "swap"])
        at = draw.randrange(len(other) + 1)
        if edit == "insert":
            other.insert(at, dataset(draw))
        elif edit == "remove":
            del other[at : at + 1]
        elif edit == "swap":
            other[at : at + 2] = other[at : at + 2][::-1]
        elif at < len(other) and other[at]:
            other[at] = [*other[at][1:], Quad(P[0], P[1], Literal(str(draw.randrange(99))))]
    return other


def canonical(message):
    """Returns a message in pyoxigraph's canonical form."""
    import pyoxigraph

    converted = Message(message).to_oxigraph()
    converted.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
    return "".join(sorted(f"{quad}\n" for quad in converted))


def write_log(messages, format, **options):
    file = io.BytesIO()
    with rdfm.create_log(file, format, **options) as out:
        for message in messages:
            out.write(Message(message))
    return file.getvalue()


@pytest.mark.slow
@given(seed=st.integers(0, 1 << 32), batch=st.sampled_from([1, 3, 8192]))
def test_differences_of_random_logs_agree_with_pyoxigraph(seed, batch):
    draw = random.Random(seed)
    a = [dataset(draw) for _ in range(draw.randint(0, 8))]
    b = draw_edited_log(draw, a)
    canonical_logs = [[canonical(message) for message in side] for side in (a, b)]
    logs = [write_log(side, format) for side, format in ((a, "nq"), (b, "jelly"))]
    options = {
        "format_a": "nq",
        "format_b": "jelly",
        "limit": NO_LIMIT,
        "batch_messages": batch,
    }
    found = rdfm.diff(*logs, **options)
    assert found.same == (canonical_logs[0] == canonical_logs[1])
    assert found.equal + found.changed + found.only_a == len(a) == found.messages_a
    assert found.equal + found.changed + found.only_b == len(b) == found.messages_b
    assert [found.changed, found.only_a, found.only_b] == [
        sum(each.kind == kind for each in found) for kind in KINDS
    ]
    for each in found:
        if each.kind == "changed":
            assert (
                canonical_logs[0][each.message_index_a] != canonical_logs[1][each.message_index_b]
            )
    remaining = [
        [
            form
            for at, form in enumerate(side)
            if at not in {getattr(d, f"message_index_{name}") for d in found}
        ]
        for side, name in zip(canonical_logs, "ab", strict=True)
    ]
    assert remaining[0] == remaining[1]
    # The messages are compared as multisets.
    unordered = rdfm.diff(*logs, unordered=True, **options)
    assert unordered.same == (sorted(canonical_logs[0]) == sorted(canonical_logs[1]))
    remaining = [list(side) for side in canonical_logs]
    for each in unordered:
        side, at = (0, each.message_index_a) if each.kind == "only_a" else (1, each.message_index_b)
        remaining[side].remove(canonical_logs[side][at])
    assert sorted(remaining[0]) == sorted(remaining[1])
    assert len(remaining[0]) == unordered.equal


def with_numbered_labels(message):
    """Returns the quads of a message in order, with labels numbered by first occurrence."""
    names = {}

    def term(value):
        return (
            BlankNode(str(names.setdefault(value, len(names))))
            if isinstance(value, BlankNode)
            else value
        )

    return [tuple(map(term, quad)) for quad in message]


@given(seed=st.integers(0, 1 << 32))
def test_differences_of_random_logs_with_ordered_quads_agree_with_list_comparison(seed):
    draw = random.Random(seed)
    a = [dataset(draw) for _ in range(draw.randint(1, 4))]
    b = draw_edited_log(draw, a) if draw.random() < 0.5 else [list(message) for message in a]
    if draw.random() < 0.5:
        b = [with_prefixed_labels(message) for message in b]
    numbered_logs = [[with_numbered_labels(message) for message in side] for side in (a, b)]
    logs = [write_log(side, "nq") for side in (a, b)]
    found = rdfm.diff(*logs, quads="ordered", format="nq", limit=NO_LIMIT)
    assert found.same == (numbered_logs[0] == numbered_logs[1])
    for each in found:
        if each.kind == "changed":
            assert numbered_logs[0][each.message_index_a] != numbered_logs[1][each.message_index_b]
            assert each.removed or each.added


def with_prefixed_labels(quads):
    def term(value):
        return BlankNode(f"z{value.value}") if isinstance(value, BlankNode) else value

    return [Quad(*map(term, quad)) for quad in quads]


@given(seed=st.integers(0, 1 << 32))
def test_differences_of_random_messages_agree_with_rdflib(seed):
    from rdflib.compare import isomorphic

    draw = random.Random(seed)
    graphs = [[quad for quad in dataset(draw) if quad.graph is None]]
    graphs.append(
        relabelled_and_shuffled(draw, graphs[0]) if draw.random() < 0.5 else dataset(draw)
    )
    graphs[1] = [quad for quad in graphs[1] if quad.graph is None]
    theirs = isomorphic(*(Message(each).to_rdflib().default_graph for each in graphs))
    ours = rdfm.diff(*(write_log([each], "nt") for each in graphs), format="nt")
    assert ours.same == theirs


# --- metadata and namespaces ---


def with_metadata(*values):
    file = io.BytesIO()
    with rdfm.create_log(file, "jelly") as out:
        for value in values:
            out.write(Message([Quad(P[0], P[0], P[0])], metadata={"k": value}))
    return file.getvalue()


def test_metadata_is_compared_if_both_logs_have_it():
    a, b = with_metadata(b"1", b"2"), with_metadata(b"1", b"3")
    (found,) = rdfm.diff(a, b)
    assert (found.kind, found.message_index_a, found.metadata) == (
        "changed",
        1,
        {"k": (b"2", b"3")},
    )
    assert (found.removed, found.added) == ((), ())
    assert rdfm.diff(a, b, ignore_metadata=True).same
    assert not rdfm.diff(a, b, unordered=True).same
    assert rdfm.diff(a, b, unordered=True, ignore_metadata=True).same
    text = io.BytesIO()
    rdfm.convert(b, text, to="trig")
    other = rdfm.diff(a, text.getvalue(), format_b="trig")
    assert other.same
    assert other.notes == ("metadata is not compared: TriG has none",)
    assert rdfm.diff(a, text.getvalue(), format_b="trig", ignore_metadata=True).notes == ()


def test_namespaces_are_reported_once():
    a = b"@prefix ex: <http://e/> .\n" + b'ex:s ex:p "1" .\n# @message\n' * 3
    b = (
        b"@prefix ex: <http://e/> . @prefix no: <http://n/> .\n"
        + b'ex:s ex:p "1" .\n# @message\n' * 3
    )
    found = rdfm.diff(a, b, format="ttl", namespaces=True)
    assert [(each.message_index_a, each.namespaces) for each in found] == [
        (0, {"no": (None, "http://n/")})
    ]
    assert found.equal == 2
    assert found.notes == ("the quads are the same: only namespaces differ",)
    assert found.remedies == ()
    redeclared = a.replace(b"# @message\nex:s", b"# @message\n@prefix ex: <http://e/> .\nex:s", 1)
    assert rdfm.diff(a, redeclared, format="ttl", namespaces=True).same


def test_namespaces_are_compared_only_on_request():
    a = b"@prefix ex: <http://e/> .\nex:s ex:p 1 .\n# @message\nex:s ex:p 2 .\n"
    b = b"@prefix no: <http://e/> .\nno:s no:p 1 .\n# @message\nno:s no:p 2 .\n"
    found = rdfm.diff(a, b, format="ttl")
    assert (found.same, found.equal) == (True, 2)
    assert found.notes == ("namespaces differ but were not compared",)
    assert [remedy.render() for remedy in found.remedies] == ["namespaces=True compares them"]
    assert rdfm.diff(a, a, format="ttl").notes == ()
    assert not rdfm.diff(a, b, format="ttl", namespaces=True).same
    # This also applies to changed messages, including those beyond the limit.
    other = b.replace(b" 1 ", b" 3 ").replace(b" 2 ", b" 4 ")
    assert rdfm.diff(a, other, format="ttl", limit=0).notes == found.notes
    assert rdfm.diff(a, b, format="ttl", unordered=True).notes == ()
    with pytest.raises(rdfm.OptionError, match="namespaces cannot be combined with unordered"):
        rdfm.diff(a, b, format="ttl", unordered=True, namespaces=True)
    note = "namespaces are not compared: N-Triples has none"
    assert rdfm.diff(b"", a, format_a="nt", format_b="ttl").notes == ()
    assert rdfm.diff(b"", a, format_a="nt", format_b="ttl", namespaces=True).notes == (note,)


def test_the_limit_does_not_affect_namespace_counts():
    a = b"@prefix ex: <http://e/> .\nex:s ex:p 1 .\n# @message\nex:s ex:p 2 .\n"
    b = b"@prefix no: <http://e/> .\nno:s no:p 3 .\n# @message\nno:s no:p 2 .\n"
    for limit in (0, 10):
        found = rdfm.diff(a, b, format="ttl", namespaces=True, limit=limit)
        assert (found.changed, found.equal) == (1, 1)


@pytest.mark.parametrize(
    "intermediate_format", ["nq", "jelly", "rdfxml", "ndjsonld", "rdf-protobuf"]
)
def test_a_round_trip_has_no_differences(intermediate_format):
    graphs = "".join(
        f"@prefix this{n}: <http://n/{n}/> .\n<http://n/{n}/s> <http://p/q> [ a this{n}:T ] .\n# @message\n"
        for n in range(20)
    )
    first_output, second_output = io.BytesIO(), io.BytesIO()
    rdfm.convert(graphs.encode(), first_output, from_format="trig", to=intermediate_format)
    rdfm.convert(first_output.getvalue(), second_output, from_format=intermediate_format, to="trig")
    assert rdfm.diff(
        graphs.encode(), first_output.getvalue(), format_a="trig", format_b=intermediate_format
    ).same
    assert rdfm.diff(graphs.encode(), second_output.getvalue(), format="trig").same


def test_a_changed_namespace_is_reported_for_its_message():
    a = b"@prefix ex: <http://e/> .\n<a:s> <a:p> 1 .\n# @message\n<a:s> <a:p> 2 .\n"
    b = a.replace(b"# @message\n", b"# @message\n@prefix ex: <http://f/> .\n")
    found = rdfm.diff(a, b, format="ttl", namespaces=True)
    assert [(each.message_index_a, each.namespaces) for each in found] == [
        (1, {"ex": ("http://e/", "http://f/")})
    ]


# --- patches, results and logs of different kinds ---


def test_patches_are_compared_in_order_and_by_label():
    a = b"TX .\nA _:a <a:p> <a:o> .\nTC .\n"
    renamed, moved = a.replace(b"_:a", b"_:b"), b"TX .\nTC .\nA _:a <a:p> <a:o> .\n"
    assert rdfm.diff(a, a, format="rdf-patch").same
    (found,) = rdfm.diff(a, renamed, format="rdf-patch")
    assert found.removed == ("A _:a <a:p> <a:o> .",)
    assert found.added == ("A _:b <a:p> <a:o> .",)
    assert not rdfm.diff(a, moved, format="rdf-patch").same
    jelly = io.BytesIO()
    rdfm.convert(a, jelly, from_format="rdf-patch", to="jelly-patch")
    assert rdfm.diff(a, jelly.getvalue(), format_a="rdf-patch", format_b="jelly-patch").same


def results(variables, *rows, boolean=None):
    from rdfm import ResultBatch

    converted = ResultBatch.from_rows(rows, variables, boolean=boolean)
    return formats.results_json.encode(converted)


def test_results_are_compared_as_rows():
    one, two = Literal("1"), Literal("2")
    a = results(["x", "y"], (one, two), (two, None))
    swapped_columns = results(["y", "x"], (two, one), (None, two))
    reordered = results(["x", "y"], (two, None), (one, two))
    assert rdfm.diff(a, swapped_columns, format="results-json").same
    found = rdfm.diff(a, reordered, format="results-json")
    assert [each.removed + each.added for each in found] == [('?x="1" ?y="2"',)] * 2
    assert found.kind == "results"
    assert rdfm.diff(a, reordered, format="results-json", unordered=True).same
    other = results(["x", "z"], (one, two))
    found = rdfm.diff(a, other, format="results-json")
    assert found.head == ("-variables: ?x ?y", "+variables: ?x ?z")
    assert not found.same
    true, false = results([], boolean=True), results([], boolean=False)
    assert rdfm.diff(true, true, format="results-json").same
    assert rdfm.diff(true, false, format="results-json").head == (
        "-answer: true",
        "+answer: false",
    )


def test_logs_of_different_kinds_are_rejected(tmp_path):
    (tmp_path / "a.srj").write_bytes(results(["x"]))
    (tmp_path / "a.nq").write_bytes(numbered(1))
    (tmp_path / "a.rdfp").write_bytes(b"")
    for a, b, kinds in (("a.nq", "a.srj", "results"), ("a.srj", "a.rdfp", "patches")):
        with pytest.raises(rdfm.OptionError, match=f"{b} contains {kinds}, and .*{a} contains"):
            rdfm.diff(tmp_path / a, tmp_path / b)


# --- inputs, limits, errors ---


def test_folders_and_archives_are_compared_as_one_log(tmp_path):
    log = numbered(*range(7))
    rdfm.convert(log, str(tmp_path / "parts") + "/", from_format="nq", to="ttl")
    rdfm.convert(log, tmp_path / "parts.tar.gz", from_format="nq", to="trig")
    (tmp_path / "whole.nq").write_bytes(log)
    assert rdfm.diff(tmp_path / "whole.nq", tmp_path / "parts").same
    assert rdfm.diff(tmp_path / "parts.tar.gz", tmp_path / "parts").equal == 7
    next(iter(sorted((tmp_path / "parts").rglob("*.ttl"))[3:])).write_text('<a:s> <a:p> "x" .')
    (found,) = rdfm.diff(tmp_path / "parts.tar.gz", tmp_path / "parts")
    assert (found.message_index_a, found.message_index_b) == (3, 3)
    assert found.source_b.endswith("3.ttl")


def test_undecided_pairs_are_counted_as_different():
    pairs = [(i, j) for i in range(9) for j in range(9) if i != j]
    reordered = sorted(pairs, key=lambda pair: pair[::-1])
    cliques = [
        log(";".join(f"_:{name}{i} <a:p> _:{name}{j}" for i, j in each))
        for name, each in (("x", pairs), ("y", reordered))
    ]
    for unordered, count in ((False, 1), (True, 2)):
        found = rdfm.diff(*cliques, max_steps=100, unordered=unordered)
        assert (found.undecided, found.changed, found.equal, found.same) == (count, 0, 0, False)
        assert {each.kind for each in found} == {"undecided"}
        assert rdfm.diff(*cliques, unordered=unordered).same


def strongly_regular(rooks, messages):
    """Returns messages that need a search: 16 indistinguishable blank nodes with 6 edges each."""
    steps = {(1, 0), (3, 0), (0, 1), (0, 3), (1, 1), (3, 3)}
    edges = [
        f"_:n{i} <a:p> _:n{j}"
        for i in range(16)
        for j in range(16)
        for columns, rows in [((i // 4 - j // 4) % 4, (i - j) % 4)]
        if ((columns == 0) != (rows == 0) if rooks else (columns, rows) in steps)
    ]
    assert len(edges) == 96
    return log(*[";".join(edges)] * messages)


@pytest.mark.slow
def test_max_total_steps_limits_all_pairs_together():
    a, b = strongly_regular(True, 4), strongly_regular(False, 4)
    found = rdfm.diff(a, b, max_total_steps=500_000)
    assert 0 < found.changed < 4
    assert found.undecided == 4 - found.changed
    assert found.remedies == (Remedy("stage", "max_total_steps", None, ""),)
    assert (rdfm.diff(a, b).changed, rdfm.diff(a, b).undecided) == (4, 0)
    found = rdfm.diff(a, b, max_steps=100_000)
    assert found.undecided == 4
    assert found.remedies == (Remedy("stage", "max_steps", None, ""),)
    found = rdfm.diff(a, b, max_total_steps=0, unordered=True)
    assert (found.undecided, found.same) == (8, False)
    # Pairs that can be decided in linear time are never undecided.
    twins = [log(*["_:a <a:p> _:b;_:b <a:p> _:a;_:c <a:p> _:d;_:d <a:p> _:c"] * 500)] * 2
    for unordered in (False, True):
        assert rdfm.diff(*twins, max_total_steps=0, unordered=unordered).equal == 500


def test_an_error_names_its_log_and_message(tmp_path):
    (tmp_path / "a.nq").write_bytes(numbered(1, 2, 3))
    (tmp_path / "b.nq").write_bytes(numbered(1, 2) + b"# @message\noops\n")
    with pytest.raises(rdfm.DecodeError) as caught:
        rdfm.diff(tmp_path / "a.nq", tmp_path / "b.nq")
    assert caught.value.source == str(tmp_path / "b.nq")
    assert caught.value.message_index == 2


def test_an_unordered_diff_reads_files_twice_and_rejects_streams():
    a, b = numbered(1, 2, 3), numbered(3, 2, 4)
    with pytest.raises(rdfm.OptionError, match="can be read only once"):
        rdfm.diff(io.BytesIO(a), b, unordered=True)
    found = rdfm.diff(io.BytesIO(a), b, unordered=True, limit=0, format="nq")
    assert (found.only_a, found.only_b, found.equal) == (1, 1, 2)
    assert differences_of(a, b, unordered=True) == [("only_a", 0, None), ("only_b", None, 2)]


def test_the_limit_bounds_the_stored_differences():
    for unordered in (False, True):
        found = rdfm.diff(
            numbered(*range(50)), numbered(*range(100, 150)), limit=7, unordered=unordered
        )
        assert len(found) == len(found.differences) == 7
        assert found.count == (100 if unordered else 50)


def test_the_first_differences_of_unordered_logs_are_stored():
    a, b = numbered(*range(90), *range(90)), numbered(*range(90))
    assert differences_of(a, b, unordered=True, limit=4) == [
        ("only_a", at, None) for at in range(4)
    ]
    assert differences_of(b, a, unordered=True, limit=4) == [
        ("only_b", None, at) for at in range(4)
    ]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"quads": "sorted"}, "quads must be one of 'set', 'ordered'"),
        ({"limit": -1}, "limit must be a number >= 0"),
        ({"window": 0}, "window must be a number from 1 to 100000"),
        ({"max_steps": "lots"}, "max_steps must be a number >= 1"),
        ({"format": "nq", "format_b": "nt"}, "a format for both logs cannot be combined"),
        ({"name_table": 8}, "the option name_table is for writing Jelly"),
        ({"progress": 1}, "progress must be a function"),
        ({"rdf_direction": "none", "format": "nq"}, "rdf_direction is for reading"),
    ],
)
def test_invalid_options_are_rejected(options, text):
    with pytest.raises(rdfm.OptionError, match=text):
        rdfm.diff(numbered(1), numbered(1), **options)


def test_progress_is_reported(tmp_path):
    (tmp_path / "a.nq").write_bytes(numbered(*range(100)))
    calls = []
    rdfm.diff(tmp_path / "a.nq", tmp_path / "a.nq", progress=calls.append)
    assert calls[-1].bytes_total == 2 * (tmp_path / "a.nq").stat().st_size


def assert_same_after_a_conversion(path, folder, **options):
    """Checks that a log and its conversion have no differences, in either direction."""
    other = folder / "other.jelly"
    generalized = {"generalized": True} if path.parent.name == "generalized" else {}
    rdfm.convert(path, other, on_error="fail", **generalized)
    for pair in ((path, other), (other, path)):
        found = rdfm.diff(*pair, quads="ordered", **options)
        assert found.same, (path, found.differences[:1])
    other.unlink()


@pytest.mark.parametrize("folder", LOGS)
def test_fixtures_are_equal_after_conversion(folder, tmp_path):
    for path in LOGS[folder]:
        assert_same_after_a_conversion(path, tmp_path, **reading_options(path))


@pytest.mark.suites
@pytest.mark.parametrize(
    "folder", ["jelly", "logs", "nanopubs", "riverbench/nanopubs", "riverbench/officegraph"]
)
def test_real_logs_are_equal_after_conversion(folder, tmp_path):
    files = sorted(path for path in suites.path("data", folder).iterdir() if path.is_file())
    assert files
    for path in files:
        assert_same_after_a_conversion(path, tmp_path)


def assert_lost_and_changed_messages_are_found(path, folder):
    """Removes a message, adds a quad to another message, and checks that both are found."""
    with rdfm.open_log(path, frames="message") as source:
        messages = [Message(message.quads) for message in source]
    lost, changed = len(messages) // 3, len(messages) // 2
    other = list(messages)
    other[changed] = Message([*other[changed].quads, Quad(P[0], P[0], P[0])])
    del other[lost]
    with rdfm.create_log(folder / "other.nq") as out:
        for message in other:
            out.write(message)
    found = rdfm.diff(path, folder / "other.nq", frames="message")
    assert [(each.kind, each.message_index_a, each.message_index_b) for each in found] == [
        ("only_a", lost, None),
        ("changed", changed, changed - 1),
    ]
    assert found.differences[1].added == (str(Quad(P[0], P[0], P[0])),)


def test_lost_and_changed_messages_are_found(tmp_path):
    """Each frame is a message with observations of a sensor; the messages differ in a few quads."""
    log = "# @message\n".join(generated("iot", 200)).encode()
    rdfm.convert(log, tmp_path / "iot.jelly.gz", from_format="nq")
    assert_lost_and_changed_messages_are_found(tmp_path / "iot.jelly.gz", tmp_path)


@pytest.mark.suites
def test_lost_and_changed_messages_in_a_real_log_are_found(tmp_path):
    path = suites.path("data", "jelly", "assist-iot-weather_100kt.jelly.gz")
    assert_lost_and_changed_messages_are_found(path, tmp_path)


def test_compression_and_storage_options_work_as_in_open_log():
    import gzip

    log = b'<a:s> <a:p> "1" .\n'
    compressed = gzip.compress(log)
    assert rdfm.diff(compressed, compressed, format="nq", compression="gzip").same
    assert rdfm.statistics(compressed, "nq", compression="gzip").quads == 1
    for function in (
        lambda **options: rdfm.diff(log, log, **options),
        lambda **options: rdfm.statistics(log, **options),
    ):
        with pytest.raises(rdfm.OptionError, match="storage_options apply to URLs"):
            function(format="nq", storage_options={"anon": True})
