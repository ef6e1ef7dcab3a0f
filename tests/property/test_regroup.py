"""Regrouping agrees with a simple implementation that uses all quads at once."""

import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import logs
from nquads import labels, map_terms
from support import as_batch, assert_same, quads_of

import rdfm
from rdfm import regroup
from rdfm.conversion.regroup import make_regrouper

GROUPINGS = (
    "message",
    "subject",
    "graph",
    "cbd",
    "count=1",
    "count=3",
    "bytes=1",
    "bytes=150",
    "all",
)
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
NP = "http://www.nanopub.org/nschema#"
LINKS = ("hasAssertion", "hasProvenance", "hasPublicationInfo")


def tagged(log):
    """Yields all quads, with the index of their message in blank node labels."""
    for at, message in enumerate(log):
        for quad in message:

            def tag(term, at=at):
                return ("bnode", f"{at}.{term[1]}") if term[0] == "bnode" else term

            yield map_terms(quad, tag)


def text_bytes(term):
    if term is None:
        return 0
    if term[0] == "triple":
        return sum(map(text_bytes, term[1:]))
    if term[0] != "literal":
        return len(term[1].encode())
    _, lexical, language, _, datatype = term
    suffix = language or ("" if datatype.endswith("XMLSchema#string") else datatype)
    return len(lexical.encode()) + len(suffix.encode())


def expected(log, grouping):
    """Returns the messages that the simple implementation creates."""
    quads = list(tagged(log))
    name, _, number = grouping.partition("=")
    if name == "message":
        rest = iter(quads)
        return [list(itertools.islice(rest, len(message))) for message in log]
    if name == "all":
        return [quads] if log else []
    if name in ("subject", "graph"):
        part = 0 if name == "subject" else 3
        return [list(group) for _, group in itertools.groupby(quads, lambda quad: quad[part])]
    if name == "cbd":
        return descriptions(quads)
    original_quads = [quad for message in log for quad in message]
    groups, size = [], int(number)
    for quad, original in zip(quads, original_quads, strict=True):
        if not groups or size <= 0:
            groups.append([])
            size = int(number)
        groups[-1].append(quad)
        size -= 1 if name == "count" else sum(map(text_bytes, original))
    return groups


def descriptions(quads):
    """Returns concise bounded descriptions of consecutive quads."""
    groups = []
    for quad in quads:
        objects = {each[2] for each in groups[-1] if each[2][0] == "bnode"} if groups else set()
        if not groups or quad[0] not in (groups[-1][0][0], *objects):
            groups.append([])
        groups[-1].append(quad)
    return groups


def nanopubs(quads):
    """Returns the nanopublications before the first error, and whether there is an error."""
    groups = []
    group_of_label = {}
    for quad in quads:
        head = groups[-1][0][3] if groups else None
        if not groups or quad[3] not in (head, *graphs_in_head(groups[-1])):
            if groups and not is_declared(groups[-1]):
                return groups[:-1], True
            if quad[3] is None or quad[3][0] != "iri":
                return groups, True
            groups.append([])
        groups[-1].append(quad)
        for label in labels_of(quad):
            if group_of_label.setdefault(label, len(groups)) != len(groups):
                return groups[:-1], True
    if groups and not is_declared(groups[-1]):
        return groups[:-1], True
    return groups, False


def graphs_in_head(group):
    head = [quad for quad in group if quad[3] == group[0][3]]
    links = [("iri", NP + name) for name in LINKS]
    return [quad[2] for quad in head if quad[1] in links and quad[2][0] == "iri"]


def is_declared(group):
    declared = [("iri", TYPE), ("iri", NP + "Nanopublication"), group[0][3]]
    return any([*quad[1:]] == declared for quad in group)


@st.composite
def nanopub_logs(draw):
    """Messages with quads of nanopublications; some quads are missing or in another place."""
    quads = []
    for number in range(draw(st.integers(0, 3))):
        subject, names = ("iri", f"x:{number}"), [("iri", f"x:{number}#{name}") for name in LINKS]
        head = ("iri", f"x:{number}#head")
        links = [
            (subject, ("iri", NP + name), graph, head)
            for name, graph in zip(LINKS, names, strict=True)
        ]
        declared = (subject, ("iri", TYPE), ("iri", NP + "Nanopublication"), head)
        node = ("bnode", draw(st.sampled_from(["a", f"b{number}"])))
        contents = [(node, ("iri", "x:p"), subject, graph) for graph in names]
        quads += [*draw(st.permutations([declared, *links])), *contents]
    for _ in range(draw(st.integers(0, 2)) if quads else 0):
        moved = quads.pop(draw(st.integers(0, len(quads) - 1)))
        if draw(st.booleans()):
            graph = draw(st.sampled_from([None, ("bnode", "g"), ("iri", "x:g"), moved[3]]))
            quads.insert(draw(st.integers(0, len(quads))), (*moved[:3], graph))
        if not quads:
            break
    cuts = sorted(draw(st.sets(st.integers(0, len(quads)), max_size=3)))
    return [quads[start:end] for start, end in itertools.pairwise([0, *cuts, len(quads)])]


def shares_bnodes(groups):
    """Whether a blank node occurs in two messages."""
    found = [set(itertools.chain.from_iterable(map(labels_of, group))) for group in groups]
    return any(one & other for one, other in itertools.combinations(found, 2))


def labels_of(quad):
    return set(labels([quad]))


def messages(batches):
    """Returns the messages of batches, with parts joined."""
    found = []
    for batch in batches:
        for at in range(len(batch)):
            if at == 0 and batch.continued:
                found[-1] += quads_of(batch, 0)
            else:
                found.append(quads_of(batch, at))
    return found


def slices(batch, sizes):
    """Yields consecutive slices of the batch; the sizes repeat."""
    start = 0
    for size in itertools.cycle(sizes):
        if start >= len(batch):
            return
        yield batch.slice(start, start + size)
        start += size


@pytest.mark.parametrize("grouping", GROUPINGS)
@given(log=logs(generalized=True), sizes=st.lists(st.integers(1, 3), min_size=1, max_size=3))
def test_messages_consist_of_consecutive_quads(grouping, log, sizes):
    expected_messages = expected(log, grouping)
    found = []
    reason = None
    try:
        for batch in regroup(slices(as_batch(log), sizes), grouping):
            found += messages([batch])
    except rdfm.EncodeError as error:
        reason = str(error)
    if grouping != "message" and shares_bnodes(expected_messages):
        assert reason is not None
        assert "would be in two messages" in reason
        expected_messages = expected_messages[: len(found)]
    else:
        assert reason is None
    assert_same(found, expected_messages)


@given(log=nanopub_logs(), sizes=st.lists(st.integers(1, 3), min_size=1, max_size=3))
def test_nanopublications_consist_of_a_head_and_the_graphs_that_it_names(log, sizes):
    expected_messages, has_error = nanopubs(list(tagged(log)))
    found = []
    reason = None
    try:
        for batch in regroup(slices(as_batch(log), sizes), "nanopub"):
            found += messages([batch])
    except rdfm.EncodeError as error:
        reason = str(error)
    assert (reason is not None) == has_error, reason
    assert_same(found, expected_messages)


@given(
    log=st.lists(
        st.lists(
            st.tuples(
                st.sampled_from([("iri", "x:a"), ("iri", "x:b"), ("bnode", "a"), ("bnode", "b")]),
                st.just(("iri", "x:p")),
                st.sampled_from([("iri", "x:a"), ("bnode", "a"), ("bnode", "b"), ("bnode", "c")]),
                st.none(),
            ),
            max_size=6,
        ),
        max_size=3,
    ),
    sizes=st.lists(st.integers(1, 3), min_size=1, max_size=3),
)
def test_descriptions_contain_the_blank_nodes_of_their_root(log, sizes):
    expected_messages = descriptions(list(tagged(log)))
    base = "https://skolem.example"  # so that every division is possible
    found = messages(regroup(slices(as_batch(log), sizes), "cbd", skolemize=base))
    assert list(map(len, found)) == list(map(len, expected_messages))


def test_equal_triple_terms_are_one_subject_unless_they_contain_blank_nodes():
    def log(term):
        subject = ("triple", term, ("iri", "http://e/p"), ("iri", "http://e/o"))
        return [
            [(subject, ("iri", "http://e/p"), ("iri", f"http://e/{at}"), None)] for at in range(3)
        ]

    for term, count in ((("iri", "http://e/s"), 1), (("bnode", "b"), 3)):
        for size in (1, 2, 3):
            found = messages(regroup(slices(as_batch(log(term)), [size]), "subject"))
            assert len(found) == count


@pytest.mark.parametrize("grouping", GROUPINGS)
@given(log=logs(), sizes=st.lists(st.integers(1, 3), min_size=1, max_size=3))
def test_skolem_iris_identify_nodes_of_their_message(grouping, log, sizes):
    """Equal IRIs mean equal nodes, regardless of which messages are split."""
    base = "https://skolem.example"
    found = messages(regroup(slices(as_batch(log), sizes), grouping, skolemize=base))
    expected_messages = expected(log, grouping)
    names = {}

    def as_bnode(term):
        if term[0] != "iri" or not term[1].startswith(base):
            return term
        assert term[1].startswith(f"{base}/.well-known/genid/")
        return ("bnode", term[1])

    assert [len(message) for message in found] == [len(message) for message in expected_messages]
    for ours, theirs in zip(
        itertools.chain(*found), itertools.chain(*expected_messages), strict=True
    ):
        for one, other in zip(_bnodes(map_terms(ours, as_bnode)), _bnodes(theirs), strict=True):
            assert names.setdefault(one, other) == other
    assert len(set(names.values())) == len(names)


def _bnodes(quad):
    found = []

    def collect(term):
        if term[0] == "bnode":
            found.append(term[1])
        return term

    map_terms(quad, collect)
    return found


@given(log=logs(generalized=True))
def test_batch_sizes_do_not_change_the_result(log):
    batch = as_batch(log)
    for grouping in GROUPINGS:
        outcomes = []
        for sizes in ([1], [2, 1], [9]):
            found = []
            with contextlib.suppress(rdfm.EncodeError):
                for part in regroup(slices(batch, sizes), grouping):
                    found += messages([part])
            outcomes.append(found)
        assert outcomes[0] == outcomes[1] == outcomes[2]


@pytest.mark.parametrize("grouping", ["subject", "cbd", "count=3", "all"])
def test_a_log_larger_than_the_message_limit_is_regrouped_in_parts(grouping):
    lines = [f'<x:{at // 4}> <x:p> "{at}" .\n'.encode() for at in range(40_000)]
    decoder = rdfm.formats.nq.decoder(
        {"max_message_bytes": 1_000_000}, rdfm.formats.Opening("always")
    )
    regrouper = make_regrouper(grouping, parts=True, max_message_bytes=1_000_000)
    sizes = []
    for start in range(0, len(lines), 5000):
        decoder.feed(b"".join(lines[start : start + 5000]))
        while (batch := decoder.next_batch()) is not None:
            regrouper.feed(batch)
            sizes += batch_sizes(regrouper)
    decoder.finish()
    while (batch := decoder.next_batch()) is not None:
        regrouper.feed(batch)
        sizes += batch_sizes(regrouper)
    regrouper.finish()
    sizes += batch_sizes(regrouper)
    assert sum(quads for quads, _ in sizes) == 40_000
    message_count = sum(count for _, count in sizes)
    assert (
        message_count
        == {
            "subject": 10_000,
            "cbd": 10_000,
            "count=3": 13_334,
            "all": 1,
        }[grouping]
    )


def batch_sizes(regrouper):
    found = []
    while (batch := regrouper.next_batch()) is not None:
        found.append((batch.quad_count, len(batch) - batch.continued))
    return found
