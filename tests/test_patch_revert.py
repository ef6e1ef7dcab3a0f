"""Patches that revert other patches."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patches import as_batch, from_operation
from support import quads_of

import rdfm
from rdfm import formats, patch
from rdfm.patch import reverting

PATCH_FORMATS = ("rdf-patch", "rdf-patch-thrift", "jelly-patch")


def revert(*logs, name="rdf-patch", to="rdf-patch", **options):
    """Returns the patches that revert logs, and the summary."""
    out = io.BytesIO()
    encoded_logs = [log.encode() if isinstance(log, str) else log for log in logs]
    summary = patch.revert(encoded_logs, out, from_format=name, to=to, **options)
    return out.getvalue(), summary


def text_of(*logs, **options):
    return revert(*logs, **options)[0].decode()


def apply(data, *logs, name="rdf-patch", **options):
    """Returns the quads that result from patches, as a set."""
    out = io.BytesIO()
    patch.apply(data, list(logs), out, from_format="nq", patch_format=name, to="nq", **options)
    with rdfm.open_log(out.getvalue(), "nq") as log:
        return {quad for batch in log.batches() for quad in quads_of(batch, 0)}


def operations(data, name="rdf-patch"):
    with rdfm.open_log(data, name, kind="patches") as log:
        return [
            [from_operation(operation) for operation in batch.operations(at)]
            for batch in log.batches()
            for at in range(len(batch))
        ]


def test_operations_are_inverted_in_reverse_order():
    log = """\
H id <urn:patch:1> .
TX .
PA "ex" <http://example.org/> .
D <a:s> <a:p> "1" .
A <a:s> <a:p> "2" <a:g> .
TC .
A <a:s> <a:p> "3" .
D <a:s> <a:p> "4" .
H id <urn:patch:2> .
H prev <urn:patch:1> .
TX .
A <a:s> <a:p> "5" .
TC .
"""
    found, summary = revert(log)
    assert (
        found.decode()
        == """\
H prev <urn:patch:2> .
TX .
D <a:s> <a:p> "5" .
TC .
Z .
A <a:s> <a:p> "4" .
D <a:s> <a:p> "3" .
TX .
D <a:s> <a:p> "2" <a:g> .
A <a:s> <a:p> "1" .
PD "ex"  .
TC .
"""
    )
    assert (summary.messages, summary.added, summary.deleted, summary.quads) == (2, 2, 3, 5)
    assert (summary.committed, summary.undone, summary.dropped) == (2, 0, {"headers": 3})


def test_transactions_without_effect_are_omitted():
    log = """\
A <a:s> <a:p> "1" .
TX .
A <a:s> <a:p> "2" .
TA .
TX .
A <a:s> <a:p> "3" .
TC .
TX .
PA "e" <a:> .
D <a:s> <a:p> "4" .
"""
    found, summary = revert(log)
    assert found.decode() == 'TX .\nD <a:s> <a:p> "3" .\nTC .\nD <a:s> <a:p> "1" .\n'
    assert (summary.committed, summary.undone, summary.dropped) == (1, 2, {})


def test_a_patch_without_effect_becomes_an_empty_patch():
    found, summary = revert("TX .\nA <a:s> <a:p> <a:o> .\nTA .\nZ .\nA <a:s> <a:p> <a:o2> .\n")
    assert operations(found) == [[("D", ("iri", "a:s"), ("iri", "a:p"), ("iri", "a:o2"), None)], []]
    assert summary.messages == 2
    assert revert("")[0] == b""


def test_prefixes_get_their_previous_iris_back():
    log = """\
PA "a" <a:1> .
PA "a" <a:2> .
TX .
PA "a" <a:3> .
TA .
PD "a" .
PA "a" <a:4> <a:g> .
PD "b" .
"""
    found, summary = revert(log)
    assert found.decode() == 'PD "a" <a:g> .\nPA "a" "a:2" .\nPA "a" "a:1" .\nPD "a"  .\n'
    assert summary.dropped == {"deletions of prefixes": 1}


def test_the_memory_for_prefixes_is_limited():
    log = "".join(f'PA "p{n}" <a:{n}> .\n' for n in range(100))
    with pytest.raises(
        rdfm.LimitError, match="the prefixes of the patches take more than 3000"
    ) as caught:
        revert(log.encode(), name="rdf-patch", max_message_bytes=3000)
    assert caught.value.remedies[0].option == "max_message_bytes"


def test_a_broken_chain_is_rejected():
    logs = "H id <a:1> .\nTX .\nTC .\n", "H id <a:3> .\nH prev <a:2> .\nTX .\nTC .\n"
    with pytest.raises(
        rdfm.DecodeError, match="prev is <a:2>, but the previous patch has the id <a:1>"
    ):
        revert(*logs)
    assert text_of(*logs, chain=False) == "H prev <a:3> .\nTX .\nTC .\nZ .\nTX .\nTC .\n"


def test_reverting_patches_continue_the_chain():
    log = b"H id <a:1> .\nTX .\nA <a:s> <a:p> <a:o> .\nTC .\nZ .\nH id <a:2> .\nA <a:s> <a:p> <a:p> .\n"
    back = revert(log)[0]
    assert apply(b"", log, back) == set()
    other = b"H id <a:7> .\nTX .\nTC .\n"
    with pytest.raises(rdfm.DecodeError, match="the chain of patches is broken"):
        apply(b"", log, other, back)
    # The id of an earlier patch does not become that of the last one.
    assert text_of("H id <a:1> .\nA <a:s> <a:p> <a:o> .\nZ .\nA <a:s> <a:p> <a:p> .\n").startswith(
        "D"
    )


def test_an_added_quad_that_existed_before_is_deleted():
    """A documented limitation: a patch does not show which operations had no effect."""
    quad = b"<a:s> <a:p> <a:o> .\n"
    back = revert(b"A " + quad)[0]
    assert len(apply(quad, b"A " + quad)) == 1
    assert apply(quad, b"A " + quad, back) == set()


NODES = [("iri", "a:s"), ("bnode", "b"), ("bnode", "a b")]
OBJECTS = [
    *NODES,
    ("literal", "x", "en", "rtl", "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString"),
    ("literal", "1", None, None, "a:d"),
    ("triple", NODES[1], NODES[0], NODES[0]),
]
QUADS = st.tuples(
    st.sampled_from(NODES),
    st.just(NODES[0]),
    st.sampled_from(OBJECTS),
    st.sampled_from([None, *NODES]),
)


@st.composite
def effective_patches(draw):
    """Draws a dataset, and patches in which each operation has an effect."""
    old = draw(st.sets(QUADS, max_size=6))
    current, patches = set(old), []
    for _ in range(draw(st.integers(0, 4))):
        rows = []
        for end in draw(st.lists(st.sampled_from([None, "TC", "TA"]), max_size=4)):
            before = set(current)
            rows += [("TX",)] if end else []
            for quad in draw(st.lists(QUADS, max_size=4)):
                rows.append(("D" if quad in current else "A", *quad))
                current ^= {quad}
            rows += [(end,)] if end else []
            current = before if end == "TA" else current
        patches.append(rows)
    return old, current, patches


def encoded(patches, name):
    options = {"rdf_star": True, "statement_type": "quads"} if name == "jelly-patch" else {}
    return formats.find(name).encode(as_batch(patches), **options)


def as_nquads(quads):
    batch = rdfm.MessageBatch.from_messages([rdfm.Message([as_quad(quad) for quad in quads])])
    return formats.nq.encode(batch)


def as_quad(quad):
    from support import as_term

    return rdfm.Quad(*map(as_term, quad[:3]), None if quad[3] is None else as_term(quad[3]))


@pytest.mark.slow
@pytest.mark.parametrize("name", PATCH_FORMATS)
@pytest.mark.parametrize("memory", [0, 64 << 20])
@given(dataset_and_patches=effective_patches())
def test_reverting_patches_restores_the_dataset(name, memory, dataset_and_patches):
    old, new, patches = dataset_and_patches
    data = encoded(patches, name)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reverting, "MEMORY_BYTES", memory)
        back, summary = revert(data, name=name, to=name)
    assert summary.messages == len(patches)
    base = as_nquads(old)
    assert apply(base, data, name=name) == new
    assert apply(base, data, back, name=name) == old
    # Reverting these patches again yields the original patches without aborted transactions.
    reapplied, _ = revert(back, name=name, to=name)
    assert apply(base, reapplied, name=name) == new
    kept = [row for rows in operations(reapplied, name) for row in rows]
    assert kept == [row for rows in patches for row in without_aborted(rows)]


def without_aborted(rows):
    kept = []
    for row in rows:
        if row == ("TX",):
            start = len(kept)
        if row == ("TA",):
            del kept[start:]
        else:
            kept.append(row)
    return kept


@pytest.mark.slow
@pytest.mark.parametrize("memory", [0, 1 << 20, 64 << 20])
def test_transactions_may_be_larger_than_a_batch(memory, monkeypatch):
    """Stored operations of an aborted transaction are discarded, even from a temporary file."""
    monkeypatch.setattr(reverting, "MEMORY_BYTES", memory)

    def quads(name, count):
        return [
            ("A", ("iri", "a:s"), ("iri", "a:p"), ("iri", f"a:{name}{n}"), None)
            for n in range(count)
        ]

    def as_deleted(operations):
        return [("D", *row[1:]) if row[0] == "A" else row for row in operations][::-1]

    rows = [
        *quads("free", 20_000),
        ("TX",),
        *quads("kept", 20_000),
        ("TC",),
        ("TX",),
        *quads("aborted", 40_000),
        ("TA",),
        *quads("after", 3),
        ("TX",),
        *quads("unfinished", 20_000),
    ]
    small_patch = [("TX",), *quads("small", 2), ("TC",)]
    for name in ("rdf-patch", "rdf-patch-thrift"):
        back, summary = revert(encoded([rows, small_patch], name), name=name, to="jelly-patch")
        first, second = operations(back, "jelly-patch")
        assert first == [("TX",), *as_deleted(quads("small", 2)), ("TC",)]
        assert second == [
            *as_deleted(quads("after", 3)),
            ("TX",),
            *as_deleted(quads("kept", 20_000)),
            ("TC",),
            *as_deleted(quads("free", 20_000)),
        ]
        assert (summary.committed, summary.undone, summary.deleted, summary.added) == (
            2,
            2,
            40_005,
            0,
        )


@pytest.mark.slow
def test_the_temporary_file_has_no_additional_limits(monkeypatch):
    monkeypatch.setattr(reverting, "MEMORY_BYTES", 0)
    deep = "<<( <a:s> <a:p> " * 90 + "<a:o>" + " )>>" * 90
    log = f'A <a:s> <a:p> {deep} .\nA <a:s> <a:p> "{"x" * (65 << 20)}" .\n'
    found, summary = revert(log, max_depth=100, max_message_bytes=1 << 30)
    assert (summary.deleted, len(found)) == (2, len(log))


def test_a_full_disk_names_the_folder_of_temporary_files(monkeypatch):
    import errno
    import tempfile

    def fail(**_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(reverting, "MEMORY_BYTES", 0)
    monkeypatch.setattr(tempfile, "TemporaryFile", fail)
    with pytest.raises(OSError, match="No space left") as caught:
        revert("A <a:s> <a:p> <a:o> .\n")
    assert caught.value.filename == tempfile.gettempdir()


def test_an_error_leaves_no_output(tmp_path):
    (tmp_path / "bad.rdfp").write_text("A <a:s> <a:p> <a:o> .\nZ .\noops\n")
    with pytest.raises(rdfm.DecodeError):
        patch.revert(tmp_path / "bad.rdfp", tmp_path / "undo.rdfp")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.rdfp"]
    with pytest.raises(rdfm.OptionError, match="the output contains patches"):
        patch.revert(b"", tmp_path / "undo.nq", from_format="rdf-patch")
