"""Changes to datasets: patches, differences, and conversion between messages and patches."""

import gzip
import io
import pickle
import random
from itertools import chain

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import logs_for
from nquads import labels, with_labels
from patches import as_batch as patch_batch
from patches import from_operation
from support import NATIVE, TABLES, as_batch, as_term, assert_same, encode, quads_of

import rdfm
from rdfm import formats, patch
from rdfm.cli.cli_remedies import on_command_line
from rdfm.compare.alignment import aligned
from rdfm.errors import render

PATCH_FORMATS = ("rdf-patch", "rdf-patch-thrift", "jelly-patch")
READ_OPTIONS = {"nt": {"generalized": True}, "nq": {"generalized": True}}
WRITE_OPTIONS = {"jelly": {"generalized": True, "rdf_star": True}}
FEW_EXAMPLES = settings(max_examples=12)


def encoded(name, log):
    return encode(name, log, **WRITE_OPTIONS.get(name, {}))


def read(name, data):
    """Returns the messages of a log, with the blank node labels of the log."""
    with rdfm.open_log(data, name, **READ_OPTIONS.get(name, {})) as log:
        return [quads_of(batch, at) for batch in log.batches() for at in range(len(batch))]


def operations(name, data):
    """Returns the operations of each patch."""
    with rdfm.open_log(data, name, kind="patches") as log:
        found = [
            [from_operation(operation) for operation in batch.operations(at)]
            for batch in log.batches()
            for at in range(len(batch))
        ]
    return found


def generalized(*reads, to):
    """Returns the option that allows generalized quads, if one of the formats requires it."""
    is_needed = set(reads) & {"nt", "nq"} or to in ("jelly", "jelly-patch")
    return {"generalized": True} if is_needed else {}


def diff(old, new, to="rdf-patch", **options):
    """Returns the patches between two logs, or between the messages of `old`, and the summary.

    Logs are given as (format, bytes).
    """
    out = io.BytesIO()
    name, data = old
    assert new is None or new[0] == name
    summary = patch.diff(
        data,
        None if new is None else new[1],
        out,
        from_format=name,
        to=to,
        **{**generalized(name, to=to), **options},
    )
    return out.getvalue(), summary


def apply(dataset, data, name="rdf-patch", to="nq", **options):
    """Returns the dataset that results from patches, and the summary."""
    out = io.BytesIO()
    summary = patch.apply(
        dataset[1],
        data,
        out,
        from_format=dataset[0],
        patch_format=name,
        to=to,
        **{**generalized(dataset[0], to=to), **options},
    )
    return out.getvalue(), summary


def applied(rows, data="", **options):
    """Returns N-Quads changed by RDF Patch rows, as sorted lines."""
    found, summary = apply(("nq", data.encode()), rows.encode(), **options)
    return sorted(found.decode().splitlines()), summary


MESSAGE_FORMATS = (*NATIVE, *TABLES)


# Each patch format with each old and each new format, and each pair of these with one patch format.
DIFFERENCES = [
    (first, second, PATCH_FORMATS[(a + b) % len(PATCH_FORMATS)])
    for a, first in enumerate(MESSAGE_FORMATS)
    for b, second in enumerate(MESSAGE_FORMATS)
]


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second", "name"), DIFFERENCES)
@settings(max_examples=3)
@given(data=st.data())
def test_applying_a_difference_gives_the_new_dataset(first, second, name, data, tmp_path_factory):
    """Blank nodes are compared by the labels that each format assigns when it is read."""
    log = data.draw(logs_for(first, second, boundaries=False))
    quads = log[0]
    old, new = data.draw(st.tuples(*[st.lists(st.sampled_from(quads))] * 2)) if quads else ([], [])
    folder = tmp_path_factory.mktemp("diff")
    suffixes = [formats.find(each).spec.suffixes[0] for each in (first, second)]
    before, after = folder / f"old{suffixes[0]}", folder / f"new{suffixes[1]}"
    before.write_bytes(encoded(first, [old]))
    after.write_bytes(encoded(second, [new]))
    changes = folder / f"changes{formats.find(name).spec.suffixes[0]}"
    result = patch.diff(before, after, changes, **generalized(first, second, to=name))
    out = folder / "out.nq"
    summary = patch.apply(before, changes, out, **generalized(first, to="nq"))
    (found,), (expected,) = read("nq", out.read_bytes()), read(second, after.read_bytes()) or [[]]
    assert set(found) == set(expected)
    assert len(found) == len(set(found)) == summary.quads
    assert (summary.added, summary.deleted) == (result.added, result.deleted)
    assert (summary.without_effect, summary.committed, summary.undone) == (0, 1, 0)
    # The same is true in the format of the new dataset, except for labels that are not kept.
    back = folder / f"back{suffixes[1]}"
    patch.apply(before, changes, back, **generalized(first, to=second))
    (found,) = read(second, back.read_bytes()) or [[]]
    assert_same([found], [list(dict.fromkeys(expected))], order=False)


@pytest.mark.parametrize("name", PATCH_FORMATS)
@given(data=st.data())
def test_differences_are_computed_per_message(name, data):
    old, new = (data.draw(logs_for("nq")) for _ in range(2))
    found, summary = diff(
        ("nq", encoded("nq", old)),
        ("nq", encoded("nq", new)),
        name,
        per_message=True,
        ids=False,
    )
    patches = operations(name, found)
    assert len(patches) == max(len(old), len(new)) == summary.messages
    for at, result in enumerate(patches):
        before, after = (set(log[at]) if at < len(log) else set() for log in (old, new))
        deletes = {operation[1:] for operation in result if operation[0] == "D"}
        adds = {operation[1:] for operation in result if operation[0] == "A"}
        assert (deletes, adds) == (before - after, after - before)
        assert len(result) == len(deletes) + len(adds) + 2


@pytest.mark.slow
@pytest.mark.parametrize("name", PATCH_FORMATS)
@given(data=st.data())
def test_snapshots_are_the_states_between_the_patches(name, data):
    log = data.draw(logs_for("nq"))
    found, summary = diff(("nq", encoded("nq", log)), None, name)
    assert summary.messages == len(log)
    with rdfm.open_log(found, name, kind="patches") as patches:
        earlier_patches = []
        for at, patch_rows in enumerate(patches):
            earlier_patches.append(patch_rows)
            data = formats.find(name).encode(
                rdfm.PatchBatch.from_patches(earlier_patches),
                **(
                    {"rdf_star": True, "generalized": True, "statement_type": "quads"}
                    if name == "jelly-patch"
                    else {}
                ),
            )
            out, _ = apply(("nq", b""), data, name)
            assert set((read("nq", out) or [[]])[0]) == set(log[at])


def shuffled(quads, seed):
    """Returns the quads in another order and with other labels."""
    generator = random.Random(seed)
    quads = list(quads)
    generator.shuffle(quads)
    found = sorted({label for label in labels(quads)})
    generator.shuffle(found)
    names = {
        label: f"n{at}" if generator.random() < 0.5 else found[at] for at, label in enumerate(found)
    }
    if len(set(names.values())) < len(names):
        names = dict(zip(found, sorted(found), strict=True))
    return [with_labels(quad, names.__getitem__) for quad in quads]


@given(data=st.data())
def test_canonical_differences_ignore_the_labels_of_the_new_dataset(data):
    (old,), (new,) = (data.draw(logs_for("nq", boundaries=False)) for _ in range(2))
    relabelled = shuffled(old, data.draw(st.integers(0, 9)))
    _, summary = diff(
        ("nq", encoded("nq", [old])), ("nq", encoded("nq", [relabelled])), canonical=True
    )
    assert (summary.added, summary.deleted) == (0, 0)
    for target in (new, shuffled([*new, *old[: len(old) // 2]], 1)):
        found, _ = diff(
            ("nq", encoded("nq", [old])), ("nq", encoded("nq", [target])), canonical=True
        )
        out, _ = apply(("nq", encoded("nq", [old])), found)
        assert_same(
            [sorted(set((read("nq", out) or [[]])[0]), key=str)],
            [sorted(set(target), key=str)],
            order=False,
        )


@given(data=st.data())
def test_canonical_differences_apply_to_snapshots(data):
    log = data.draw(logs_for("nq"))
    log = [quads for message in log for quads in (message, shuffled(message, 3))]
    found, _ = diff(("nq", encoded("nq", log)), None, canonical=True, ids=False)
    patches = operations("rdf-patch", found)
    assert all(len(result) == 2 for result in patches[1::2])
    for end in range(1, len(patches) + 1):
        batch = patch_batch(patches[:end])
        out, _ = apply(("nq", b""), formats.find("rdf-patch").encode(batch))
        result = (read("nq", out) or [[]])[0]
        assert_same([result], [list(dict.fromkeys(log[end - 1]))], order=False)


def test_canonical_differences_keep_the_labels_of_unchanged_parts():
    old = "_:a <a:p> _:b .\n_:b <a:p> '1' .\n_:c <a:p> '1' .\n_:d <a:q> <<( _:d <a:p> '1' )>> .\n".replace(
        "'", '"'
    )
    new = "_:z <a:p> _:a .\n_:a <a:p> '2' .\n_:b <a:p> '1' .\n_:c <a:q> <<( _:c <a:p> '1' )>> .\n".replace(
        "'", '"'
    )
    quads = [next(iter(formats.nq.decode(text.encode()))).quads for text in (old, new)]
    assert [str(quad) for quad in aligned(*quads)] == [
        "_:z <a:p> _:a_1 .",
        '_:a_1 <a:p> "2" .',
        '_:c <a:p> "1" .',
        '_:d <a:q> <<( _:d <a:p> "1" )>> .',
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", PATCH_FORMATS)
@pytest.mark.parametrize("first", MESSAGE_FORMATS)
@FEW_EXAMPLES
@given(data=st.data())
def test_messages_round_trip_through_patches(first, name, data):
    boundaries = formats.find(first).spec.carries["boundaries"]
    log = data.draw(logs_for(first, boundaries=boundaries))
    source = encoded(first, log)
    as_patches, back = io.BytesIO(), io.BytesIO()
    result = patch.from_log(
        source,
        as_patches,
        ids=False,
        from_format=first,
        to=name,
        **generalized(first, to=name),
    )
    patches = operations(name, as_patches.getvalue())
    found = [[(op[1:]) for op in each if op[0] == "A"] for each in patches]
    messages = read(first, source)
    assert_same(found, messages)
    assert result.messages == len(messages)
    labels_by_message = [set(labels(message)) for message in found]
    assert sum(map(len, labels_by_message)) == len(set().union(*labels_by_message))
    assert all(each[0] == ("TX",) and each[-1] == ("TC",) for each in patches)
    patch.to_log(as_patches.getvalue(), back, from_format=name, to="nq")
    assert_same(read("nq", back.getvalue()), messages)


def apply_to_set(quads, rows):
    """Returns the set of quads after the patches, computed by a simple reference implementation."""
    current = set(quads)
    for patch_rows in rows:
        saved = None
        for code, *quad in patch_rows:
            if code == "A":
                current.add(tuple(quad))
            elif code == "D":
                current.discard(tuple(quad))
            elif code == "TX":
                saved = set(current)
            elif code == "TC":
                saved = None
            elif code == "TA":
                current, saved = saved, None
        if saved is not None:
            current = saved
    return current


def datasets_and_patches(max_patches):
    """Returns a strategy for quads and patches with few terms, so that they often share quads."""
    nodes = [("iri", "a:s"), ("bnode", "b"), ("bnode", "_g0"), ("bnode", "a b")]
    objects = [
        *nodes,
        ("literal", "x", "en", "rtl", "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString"),
        ("triple", nodes[1], nodes[0], nodes[0]),
    ]
    quads = st.tuples(
        st.sampled_from(nodes),
        st.just(nodes[0]),
        st.sampled_from(objects),
        st.sampled_from([None, *nodes[:2]]),
    )
    rows = st.tuples(st.sampled_from("AD"), quads).map(lambda row: (row[0], *row[1]))
    changes = st.lists(rows, max_size=4)
    transactions = st.tuples(changes, st.sampled_from(["TC", "TA"])).map(
        lambda drawn: [("TX",), *drawn[0], (drawn[1],)]
    )
    other_operations = st.sampled_from(
        [[("H", "note", nodes[1])], [("PA", "ex", nodes[0], None)], [("PD", "ex", None)]]
    )
    return st.tuples(
        st.lists(quads, max_size=6),
        st.lists(
            st.lists(changes | transactions | other_operations, max_size=5).map(
                lambda operations: list(chain.from_iterable(operations))
            ),
            max_size=max_patches,
        ),
    )


@pytest.mark.parametrize("name", PATCH_FORMATS)
@given(dataset_and_patches=datasets_and_patches(3), split=st.booleans())
def test_apply_agrees_with_a_reference_implementation(name, dataset_and_patches, split):
    quads, rows = dataset_and_patches
    options = {"headers_first": True} if name != "jelly-patch" else {}
    if name == "jelly-patch":
        options = {"rdf_star": True, "statement_type": "quads"}
    encode_rows = lambda operations: formats.find(name).encode(patch_batch(operations), **options)  # noqa: E731
    data = [encode_rows([each]) for each in rows] if split else [encode_rows(rows)]
    out = io.BytesIO()
    summary = patch.apply(
        encoded("nq", [quads]), data, out, from_format="nq", patch_format=name, to="nq"
    )
    found = (read("nq", out.getvalue()) or [[]])[0]
    expected = apply_to_set(quads, rows)
    assert set(found) == expected
    assert len(found) == len(expected) == summary.quads


# Tests of the counts and errors of `apply`, and of errors in other functions.


def test_apply_counts_changes_and_keeps_the_order_of_quads():
    data = "<a:1> <a:p> <a:o> .\n<a:2> <a:p> <a:o> .\n"
    rows = "TX .\nD <a:1> <a:p> <a:o> .\nA <a:3> <a:p> <a:o> .\nA <a:2> <a:p> <a:o> .\nTC .\nTX .\nA <a:4> <a:p> <a:o> .\nTA .\n"
    found, summary = apply(("nq", data.encode()), rows.encode())
    assert found == b"<a:2> <a:p> <a:o> .\n<a:3> <a:p> <a:o> .\n"
    assert (summary.messages, summary.quads, summary.added, summary.deleted) == (1, 2, 1, 1)
    assert (summary.without_effect, summary.committed, summary.undone, summary.dropped) == (
        1,
        1,
        1,
        {},
    )
    assert summary.seconds > 0


def test_prefixes_are_kept_and_changed():
    data = b"PREFIX a: <http://a/> PREFIX b: <http://b/> a:s a:p a:o ."
    rows = b'PD "b" .\nPA "c" <http://c/> .\nA <http://c/s> <http://a/p> <http://b/o> .\n'
    found, summary = apply(("trig", data), rows, to="trig")
    assert found.decode() == (
        "PREFIX a: <http://a/>\nPREFIX c: <http://c/>\na:s a:p a:o .\nc:s a:p <http://b/o> .\n"
    )
    assert summary.dropped == {}
    found, summary = apply(("trig", data), rows, to="nq")
    assert summary.dropped == {"namespaces": 2}
    found, _ = apply(("trig", data), rows, to="jelly")
    (message,) = rdfm.open_log(found, "jelly")
    assert message.namespaces == {"a": "http://a/", "c": "http://c/"}


def test_the_output_supports_everything_the_inputs_may_contain():
    """Jelly declares its features at the start, so the first patch alone is not sufficient."""
    rows = b'A <a:s> <a:p> "x" .\nZ .\nA <a:s> <a:p> <<( <a:s> <a:p> "x" )>> <a:g> .\n'
    found, _ = apply(("nt", b""), rows, to="jelly")
    assert len(read("jelly", found)[0]) == 2
    log = ("nq", b'<a:s> <a:p> "x" .\n# @message\n<a:s> <a:p> <<( <a:s> <a:p> "x" )>> <a:g> .\n')
    found, _ = diff(log, None, "jelly-patch")
    assert len(operations("jelly-patch", found)) == 2
    out = io.BytesIO()
    patch.from_log(log[1], out, from_format="nq", to="jelly-patch")
    assert len(operations("jelly-patch", out.getvalue())) == 2


CHAIN = b"H id <a:1> .\nTX .\nTC .\nZ .\nH id <a:2> .\nH prev <a:1> .\nTX .\nTC .\n"


def test_the_chain_continues_across_files():
    out = io.BytesIO()
    third_patch = b"H prev <a:2> .\nTX .\nTC .\n"
    options = {"from_format": "nq", "patch_format": "rdf-patch", "to": "nq"}
    patch.apply(b"", [CHAIN, third_patch], out, **options)
    for logs, patch_index, reason in (
        (
            [third_patch, CHAIN, CHAIN, third_patch, third_patch],
            0,
            "prev is <a:2>, but the previous patch has no id",
        ),
        ([third_patch, b"H prev <a:1> .\n"], 0, "prev is <a:1>, but the previous patch has no id"),
        (
            [CHAIN + b"Z .\nH prev <a:1> .\n"],
            2,
            "prev is <a:1>, but the previous patch has the id <a:2>",
        ),
    ):
        with pytest.raises(rdfm.DecodeError, match="chain=False skips this check") as caught:
            patch.apply(b"", logs, out, **options)
        error = caught.value
        assert error.reason == f"the chain of patches is broken: {reason}"
        assert (error.format, error.message_index) == ("rdf-patch", patch_index)
        assert (
            f"line {error.line}, column 1, byte {error.byte_offset}, patch {patch_index})"
            in str(error)
        )
        patch.apply(b"", logs, out, chain=False, **options)


@pytest.mark.parametrize(
    ("rows", "message", "reason", "position"),
    [
        (
            "TX .\nTX .\n",
            0,
            "row 1 of the patch: TX within a transaction; expected TC or TA before it",
            "line 2, column 1, byte 5",
        ),
        (
            "Z .\n  TC .\n",
            1,
            "row 0 of the patch: TC without TX before it",
            "line 2, column 3, byte 6",
        ),
        (
            "H id <a:1> .\n# é\nTX . A <a:é> <a:p> <a:o> . TC . TA .\n",
            0,
            "row 4 of the patch: TA without TX before it",
            "line 3, column 33, byte 51",
        ),
    ],
)
def test_transaction_errors_name_the_row_and_its_position(rows, message, reason, position):
    with pytest.raises(rdfm.DecodeError) as caught:
        applied(rows)
    error = caught.value
    assert (error.reason, error.message_index, error.format) == (reason, message, "rdf-patch")
    assert str(error).endswith(f"rdf-patch: {reason} ({position}, patch {message})")
    for change in (patch.to_log, patch.revert):
        to = "nq" if change is patch.to_log else "rdf-patch"
        with pytest.raises(rdfm.RdfmError) as caught:
            change(rows.encode(), io.BytesIO(), from_format="rdf-patch", to=to)
        assert str(caught.value).endswith(f"rdf-patch: {reason} ({position}, patch {message})")


def test_errors_in_a_long_patch_report_the_line(tmp_path):
    """The patch is decoded in parts, from a compressed file."""
    log = "TX .\n" + "".join(f"A <a:s> <a:p> <a:{n}> .\n" for n in range(50_000)) + "TX .\n"
    (tmp_path / "long.rdfp.gz").write_bytes(gzip.compress(log.encode()))
    with pytest.raises(rdfm.DecodeError) as caught:
        patch.apply(b"", tmp_path / "long.rdfp.gz", io.BytesIO(), from_format="nq", to="nq")
    assert (caught.value.line, caught.value.column) == (50_002, 1)
    assert caught.value.byte_offset == len(log) - 5


def test_errors_about_deletes_in_transactions_have_a_line():
    rows = b"TX .\nD <a:1> <a:p> <a:o> .\nA <a:1> <a:p> <a:o> .\nTC .\n"
    with pytest.raises(rdfm.EncodeError, match="row 1 of the patch: D deletes a quad") as caught:
        patch.to_log(rows, io.BytesIO(), from_format="rdf-patch", to="nq")
    assert "(line 2, column 1, byte 5, patch 0)" in str(caught.value)
    unpickled = pickle.loads(pickle.dumps(caught.value))
    assert (unpickled.line, unpickled.column, unpickled.byte_offset) == (2, 1, 5)


@pytest.mark.parametrize("name", ["rdf-patch-thrift", "jelly-patch"])
def test_errors_in_a_binary_log_have_no_line(name):
    rows = patch_batch(
        [[("TX",), ("D", ("iri", "a:s"), ("iri", "a:p"), ("iri", "a:o"), None), ("TC",)]]
    )
    data = formats.find(name).encode(rows)
    with pytest.raises(rdfm.EncodeError) as caught:
        patch.to_log(data, io.BytesIO(), from_format=name, to="nq")
    assert (caught.value.line, caught.value.column) == (None, None)
    assert "patch 0)" in str(caught.value)


def test_an_error_leaves_no_output(tmp_path):
    old, out = tmp_path / "old.nq", tmp_path / "out.nq"
    old.write_text("<a:s> <a:p> <a:o> .\n")
    out.write_text("as before")
    changes = tmp_path / "changes.rdfp"
    changes.write_text("A <a:s> <a:p> <a:o2> .\nZ .\noops\n")
    with pytest.raises(rdfm.DecodeError) as caught:
        patch.apply(old, changes, out)
    assert caught.value.source == str(changes)
    assert (caught.value.line, caught.value.message_index) == (3, 1)
    assert out.read_text() == "as before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["changes.rdfp", "old.nq", "out.nq"]
    with pytest.raises(rdfm.DecodeError):
        patch.to_log(changes, out, keep_partial=True)
    assert (tmp_path / "out.nq.partial").read_text() == "<a:s> <a:p> <a:o2> .\n"


def test_messages_before_a_delete_are_kept(tmp_path):
    changes, out = tmp_path / "c.rdfp", tmp_path / "out.nq"
    changes.write_text("TX .\nA <a:1> <a:p> <a:o> .\nTC .\nTX .\nD <a:1> <a:p> <a:o> .\nTC .\n")
    with pytest.raises(rdfm.EncodeError, match="D deletes a quad") as caught:
        patch.to_log(changes, out, keep_partial=True)
    assert (caught.value.source, caught.value.format) == (str(changes), "rdf-patch")
    assert not out.exists()
    assert (tmp_path / "out.nq.partial").read_text() == "<a:1> <a:p> <a:o> .\n"


def test_blank_nodes_can_be_separated():
    rows = b"TX .\nA _:a <a:p> <a:o> .\nTC .\nTX .\nA _:a <a:p> <a:o> .\nTC .\n"
    options = {"from_format": "rdf-patch", "to": "nq"}
    with pytest.raises(
        rdfm.EncodeError,
        match="separate_blank_nodes=True treats it as a separate node in each message",
    ) as caught:
        patch.to_log(rows, io.BytesIO(), **options)
    assert "--separate-blank-nodes treats it as a separate node in each message" in render(
        caught.value, on_command_line
    )
    out = io.BytesIO()
    assert patch.to_log(rows, out, separate_blank_nodes=True, **options).messages == 2


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda out: patch.apply(TWO_MESSAGES, b"", out, **APPLY_FORMATS),
            "has several messages, but a dataset is one message",
        ),
        (lambda out: patch.diff(TWO_MESSAGES, b"", out, **DIFF_FORMATS), "has several messages"),
        (lambda out: patch.diff(b"", TWO_MESSAGES, out, **DIFF_FORMATS), "has several messages"),
        (
            lambda out: patch.diff(b"", TWO_MESSAGES, out, canonical=True, **DIFF_FORMATS),
            "has several messages",
        ),
        (
            lambda out: patch.diff(b"", None, out, per_message=True, **DIFF_FORMATS),
            "per_message requires two logs, but only one is given",
        ),
        (
            lambda out: patch.apply(b"", b"", out, **{**APPLY_FORMATS, "to": "rdf-patch"}),
            "RDF Patch supports only patches, but the output contains messages",
        ),
        (
            lambda out: patch.diff(b"", b"", out, **{**DIFF_FORMATS, "to": "nq"}),
            "N-Quads supports only messages, but the output contains patches",
        ),
        (
            lambda out: patch.apply(b"", b"", out, **{**APPLY_FORMATS, "patch_format": "nq"}),
            "contains messages, but patches are expected",
        ),
        (
            lambda out: patch.apply(
                b"", b"", out, **{**APPLY_FORMATS, "from_format": "jelly-patch"}
            ),
            "contains patches, but messages are expected",
        ),
        (
            lambda out: patch.apply(b"", b"", out, skip=1, **APPLY_FORMATS),
            "there is no option 'skip'",
        ),
        (
            lambda out: patch.apply(b"", b"", out, name_table=8, **APPLY_FORMATS),
            "name_table is for writing Jelly",
        ),
        (lambda out: patch.apply(b"", b"", out, chain="perhaps", **APPLY_FORMATS), "chain"),
    ],
)
def test_invalid_arguments_are_rejected(call, text):
    with pytest.raises(rdfm.OptionError) as caught:
        call(io.BytesIO())
    assert text in str(caught.value)


TWO_MESSAGES = b"<a:s> <a:p> <a:o> .\n# @message\n<a:s> <a:p> <a:o> .\n"
APPLY_FORMATS = {"from_format": "nq", "patch_format": "rdf-patch", "to": "nq"}
DIFF_FORMATS = {"from_format": "nq", "to": "rdf-patch"}


def test_a_dataset_in_two_files_is_rejected(tmp_path):
    """Equal blank node labels in different files denote different nodes."""
    for name in "ab":
        (tmp_path / f"{name}.nq").write_text("_:x <a:p> <a:o> .\n")
    with pytest.raises(rdfm.OptionError, match="has several messages"):
        patch.apply(tmp_path, b"", io.BytesIO(), **APPLY_FORMATS)


def test_the_format_of_patches_is_not_detected_by_content():
    with pytest.raises(rdfm.UnknownFormatError) as caught:
        patch.apply(b"", b"TX .\n", io.BytesIO(), to="nq")
    assert "from its suffix; patch_format=" in str(caught.value)
    with pytest.raises(rdfm.UnknownFormatError) as caught:
        patch.to_log(b"TX .\n", io.BytesIO(), to="nq")
    assert "format=" in str(caught.value)


def test_the_message_limit_applies_to_transactions():
    rows = b"TX .\n" + b"A <a:s> <a:p> <a:o> .\n" * 100 + b"TC .\n"
    options = {"from_format": "rdf-patch", "to": "nq"}
    patch.to_log(rows, io.BytesIO(), **options)
    with pytest.raises(rdfm.RdfmError, match="max_message_bytes") as caught:
        patch.to_log(rows, io.BytesIO(), max_message_bytes=500, **options)
    assert caught.value.remedies[0].option == "max_message_bytes"


@pytest.mark.slow
def test_a_patch_may_span_many_batches():
    """Each reader and writer handles a patch in several batches."""
    rows = [
        [
            ("TX",),
            *(
                ("A", ("iri", "a:s"), ("iri", "a:p"), ("literal", str(n), None, None, "a:d"), None)
                for n in range(30_000)
            ),
            ("TC",),
        ]
    ]
    for name in PATCH_FORMATS:
        data = formats.find(name).encode(patch_batch(rows))
        found, summary = apply(("nq", b""), data, name)
        assert (summary.quads, summary.committed, found.count(b"\n")) == (30_000, 1, 30_000)
        result, summary = diff(("nq", b""), ("nq", found), name)
        assert (summary.messages, summary.added) == (1, 30_000)
        assert operations(name, result) == rows
        out, back = io.BytesIO(), io.BytesIO()
        assert patch.to_log(data, out, from_format=name, to="jelly").messages == 1
        options = {"from_format": "jelly", "to": name, "ids": False}
        assert patch.from_log(out.getvalue(), back, **options).messages == 1
        assert operations(name, back.getvalue()) == rows


def test_using_a_busy_dataset_raises_an_error_without_waiting():
    from rdfm import _core

    state = _core.Dataset()
    state.add(as_batch([[(("iri", "a:s"), ("iri", "a:p"), ("iri", "a:o"), None)]]))
    with pytest.raises(RuntimeError, match="in use by another thread"):
        state.batches(lambda batch: len(state))
    assert len(state) == 1


def test_constructed_terms_equal_decoded_terms():
    quad = rdfm.Quad(rdfm.BlankNode("b"), as_term(("iri", "a:p")), rdfm.Literal("x", language="en"))
    data = formats.find("rdf-patch").encode(
        rdfm.PatchBatch.from_patches(
            [[("D", None, quad.subject, quad.predicate, quad.object, None)]]
        )
    )
    found, summary = apply(("nq", f"{quad}\n".encode()), data)
    assert (read("nq", found), summary.deleted) == ([[]], 1)


def test_progress_covers_all_inputs(tmp_path):
    """Progress counts the bytes of all inputs, and their messages or patches."""
    log = b"\n# @message\n".join(b"<a:s> <a:p> <a:%d> ." % n for n in range(4))
    (tmp_path / "a.nq").write_bytes(log)
    changes = b"A <a:s> <a:p> <a:o> .\nZ .\nA <a:s> <a:p> <a:o2> .\n"
    to_messages = {"to": "nq"}
    to_patches = {"to": "rdf-patch"}
    for change, inputs, options, last in (
        (
            patch.apply,
            (b"", changes),
            {**to_messages, "from_format": "nq", "patch_format": "rdf-patch"},
            (2, 2),
        ),
        (patch.to_log, (changes,), {**to_messages, "from_format": "rdf-patch"}, (2, 2)),
        (patch.revert, (changes,), {**to_patches, "from_format": "rdf-patch"}, (2, 2)),
        (patch.from_log, (tmp_path / "a.nq",), to_patches, (4, 4)),
        (patch.diff, (tmp_path / "a.nq", None), to_patches, (4, 4)),
        (
            patch.diff,
            (tmp_path / "a.nq", log),
            {**to_patches, "from_format": "nq", "per_message": True},
            (8, 8),
        ),
    ):
        reports = []
        change(*inputs, io.BytesIO(), progress=reports.append, **options)
        sizes = [
            each.stat().st_size if hasattr(each, "stat") else len(each or b"") for each in inputs
        ]
        assert (reports[-1].messages, reports[-1].quads) == last
        assert reports[-1].bytes_in == reports[-1].bytes_total == sum(sizes)
        assert reports[-1].kind == (
            "messages"
            if "patch_format" not in options and change in (patch.from_log, patch.diff)
            else "patches"
        )


@pytest.mark.parametrize("format", TABLES)
def test_errors_about_patches_in_tables_are_about_patches(format):
    file = io.BytesIO()
    with rdfm.create_log(file, format, kind="patches") as log:
        log.write([])
        log.write([("TC",)])
    with pytest.raises(rdfm.DecodeError, match=rf"^bytes: {format}: .*\(patch 1\)$"):
        patch.apply(
            b"", file.getvalue(), io.BytesIO(), from_format="nq", patch_format=format, to="nq"
        )


def test_errors_about_rows_of_patches_are_about_patches(tmp_path):
    path = tmp_path / "log.parquet"
    with rdfm.create_log(path, kind="patches") as log:
        log.write([("TC",)])
    rows = pyarrow.parquet.read_table(path)
    changed = rows.to_pylist()
    changed[0]["operations"][0]["op"] = "X"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(changed, rows.schema), path)
    with rdfm.open_log(path, kind="patches") as log, pytest.raises(rdfm.DecodeError) as error:
        list(log)
    assert str(error.value).endswith("found 'X' (patch 0)")
