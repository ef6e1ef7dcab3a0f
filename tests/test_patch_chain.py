"""The `id` and `prev` headers that `rdfm.patch` writes, and appending to logs of patches."""

import hashlib
import io
import os
import re
import threading
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import logs_for
from nquads import labels
from patches import as_batch, from_operation
from support import encode

import rdfm
from rdfm import formats, patch
from rdfm._core import PatchChain, PatchRules

PATCH_FORMATS = ("rdf-patch", "rdf-patch-thrift", "jelly-patch")
SOURCES = ("nq", "jelly")
ID = re.compile(r"uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
MESSAGE = b"<a:s> <a:p> <a:o> .\n"


def options_for(source, to):
    """Returns options for logs of every kind of term."""
    needs_generalized = source == "nq" or to == "jelly-patch"
    options = {"generalized": True} if needs_generalized else {}
    return {"from_format": source, "to": to, **options}


def encoded(name, log):
    return encode(name, log, **({"generalized": True, "rdf_star": True} if name == "jelly" else {}))


def from_log(source, data, to="rdf-patch", **options):
    out = io.BytesIO()
    patch.from_log(data, out, **options_for(source, to), **options)
    return out.getvalue()


def diff(source, old, new, to="rdf-patch", **options):
    out = io.BytesIO()
    patch.diff(old, new, out, **options_for(source, to), **options)
    return out.getvalue()


def batches(name, data):
    with rdfm.open_log(data, name, kind="patches") as log:
        return list(log.batches())


def patches(name, data):
    """Returns the rows of each patch."""
    return [
        [from_operation(row) for row in batch.operations(at)]
        for batch in batches(name, data)
        for at in range(len(batch))
    ]


def links(name, data):
    """Returns the `id` and the `prev` of each patch; None if it is missing."""
    found = []
    for rows in patches(name, data):
        headers = {row[1]: row[2][1] for row in rows if row[0] == "H"}
        found.append((headers.get("id"), headers.get("prev")))
    return found


def assert_chain(name, data, count):
    """Checks a log of linked patches with the chain check, and without it."""
    rules = PatchRules()
    assert [found for batch in batches(name, data) for found in rules.check(batch)] == []
    assert rules.links() == max(count - 1, 0)
    found = links(name, data)
    assert len(found) == count
    assert [prev for _, prev in found] == [None, *(id for id, _ in found)][:count]
    assert all(ID.fullmatch(id) for id, _ in found)
    assert len({id for id, _ in found}) == count


def without_links(found):
    return [[row for row in rows if row[0] != "H"] for rows in found]


@pytest.mark.parametrize("to", PATCH_FORMATS)
@pytest.mark.parametrize("source", SOURCES)
@settings(max_examples=25)
@given(data=st.data())
def test_patches_of_a_log_are_a_chain(source, to, data):
    """The other rows are the same as without ids, and the ids are the same in each format."""
    old, new = (data.draw(logs_for("nq")) for _ in range(2))
    old_data, new_data = encoded(source, old), encoded(source, new)
    for write in (
        lambda to, **ids: from_log(source, old_data, to, **ids),
        lambda to, **ids: diff(source, old_data, None, to, **ids),
        lambda to, **ids: diff(source, old_data, new_data, to, per_message=True, **ids),
    ):
        linked = write(to)
        plain = patches(to, write(to, ids=False))
        assert_chain(to, linked, len(plain))
        found = patches(to, linked)
        assert without_links(found) == plain
        headers = ["id", "prev"]
        for at, rows in enumerate(found):
            expected = headers[: 1 + (at > 0)]
            assert [row[1] for row in rows[: len(expected)]] == expected
        assert links(to, linked) == links("rdf-patch", write("rdf-patch"))


@pytest.mark.parametrize("to", ["rdf-patch", "jelly-patch"])
@settings(max_examples=25)
@given(data=st.data())
def test_appending_in_several_runs_gives_the_patches_of_one_run(to, data, tmp_path_factory):
    log = tmp_path_factory.mktemp("append") / "log"
    old, new = (data.draw(logs_for("nq")) for _ in range(2))
    ends = sorted(data.draw(st.lists(st.integers(0, max(len(old), len(new))), max_size=3)))
    runs = [slice(*run) for run in pairwise([0, *ends, max(len(old), len(new))])]
    options = options_for("nq", to)
    if to == "jelly-patch":
        options |= {"rdf_star": True, "stream_type": "frame", "statement_type": "quads"}
    for run in runs:
        patch.from_log(encode("nq", old[run]), log, append=True, **options)
    out = io.BytesIO()
    patch.from_log(encode("nq", old), out, **options)
    assert patches(to, log.read_bytes()) == patches(to, out.getvalue())
    log.unlink()
    for run in runs:
        sides = encode("nq", old[run]), encode("nq", new[run])
        patch.diff(*sides, log, per_message=True, append=True, **options)
    out = io.BytesIO()
    patch.diff(encode("nq", old), encode("nq", new), out, per_message=True, **options)
    assert patches(to, log.read_bytes()) == patches(to, out.getvalue())


def test_an_id_is_the_hash_of_the_other_rows():
    """UUID version 8 of RFC 9562: other bits than version and variant are from the hash."""
    first, second = links("rdf-patch", from_log("nq", MESSAGE + b"# @message\n" + MESSAGE))
    rows = "TX\nA <a:s> <a:p> <a:o>\nTC\n"

    def expected(text):
        digest = hashlib.sha256(text.encode()).hexdigest()
        variant = "89ab"[int(digest[16], 16) % 4]
        parts = digest[:8], digest[8:12], "8" + digest[13:16], variant + digest[17:20]
        return "uuid:" + "-".join((*parts, digest[20:32]))

    assert first == (expected(rows), None)
    assert first[0] == "uuid:4aaeedbe-91c1-844e-aefd-f69843d135c7"
    assert second == (expected(f'H "prev" <{first[0]}>\n' + rows), first[0])


@given(data=st.data())
def test_ids_do_not_depend_on_batches(data):
    log = data.draw(logs_for("nq"))
    expected = links("rdf-patch", from_log("nq", encode("nq", log)))
    chain, found = PatchChain(), []
    for rows in patches("rdf-patch", from_log("nq", encode("nq", log), ids=False)):
        linked = chain.link(as_batch([rows]))
        found += links("rdf-patch", formats.find("rdf-patch").encode(linked))
    assert found == expected


def test_a_single_patch_has_ids_on_request():
    old, new = MESSAGE, b"<a:s> <a:p> <a:t> .\n"
    assert links("rdf-patch", diff("nq", old, new)) == [(None, None)]
    for canonical in (False, True):
        ((id, prev),) = links("rdf-patch", diff("nq", old, new, ids=True, canonical=canonical))
        assert ID.fullmatch(id)
        assert prev is None


def test_differences_of_datasets_are_appended_as_a_chain(tmp_path):
    states = [b"", *(b"_:a <a:p> <a:%d> .\n" % number for number in range(3))]
    log = tmp_path / "log.rdfp"
    for old, new in pairwise(states):
        patch.diff(old, new, log, append=True, from_format="nq")
    assert_chain("rdf-patch", log.read_bytes(), 3)
    out = io.BytesIO()
    patch.apply(b"", log, out, from_format="nq", to="nq")
    assert out.getvalue() == states[-1]


@pytest.mark.parametrize("to", ["rdf-patch", "jelly-patch"])
@pytest.mark.parametrize(
    ("last", "prev"),
    [
        ('H ID <a:1> .\nH id <a:2> .\nH note "x" .', "a:1"),
        ("H id <a:1> .\nTX .\nTC .\nZ .\nH id <a:2> .", "a:2"),
        ("H id <a:1> .\nTX .\nTC .\nZ .\nTX .\nTC .", None),
        ('H id "a" .', "a"),
        ('H id "a"@en .', None),
        ("", None),
    ],
)
def test_the_first_appended_patch_follows_the_last_one(tmp_path, to, last, prev):
    log = tmp_path / "log"
    before = b"" if not last else last.encode() + b"\nTX .\nTC .\n"
    rdfm.convert(io.BytesIO(before), log, from_format="rdf-patch", to=to)
    count = len(links(to, log.read_bytes()))
    patch.from_log(MESSAGE, log, from_format="nq", to=to, append=True)
    found = links(to, log.read_bytes())
    assert len(found) == count + 1
    assert found[-1][1] == prev
    assert ID.fullmatch(found[-1][0])
    rules = PatchRules()
    assert [
        problem for batch in batches(to, log.read_bytes()) for problem in rules.check(batch)
    ] == []
    patch.from_log(MESSAGE, log, from_format="nq", to=to, append=True, ids=False)
    assert links(to, log.read_bytes()) == [*found, (None, None)]


@pytest.mark.parametrize("ids", [True, False])
def test_appended_messages_have_their_own_blank_nodes(tmp_path, ids):
    log = tmp_path / "log.rdfp"
    for _ in range(3):
        patch.from_log(b"_:x <a:p> _:x .\n", log, from_format="nq", append=True, ids=ids)
    found = patches("rdf-patch", log.read_bytes())
    nodes = [set(labels([row[1:] for row in rows if row[0] == "A"])) for rows in found]
    assert len(set().union(*nodes)) == 3


def test_a_log_is_unchanged_if_appending_fails(tmp_path):
    log = tmp_path / "log.rdfp"
    patch.from_log(MESSAGE, log, from_format="nq")
    before = log.read_bytes()
    with pytest.raises(rdfm.DecodeError):
        patch.from_log(MESSAGE + b"# @message\noops\n", log, from_format="nq", append=True)
    assert log.read_bytes() == before
    assert list(tmp_path.iterdir()) == [log]
    log.write_bytes(b"TX .\nA <a:s> .\nTC .\n")
    with pytest.raises(rdfm.DecodeError, match=r"log\.rdfp"):
        patch.from_log(MESSAGE, log, from_format="nq", append=True)
    assert list(tmp_path.iterdir()) == [log]


def test_patches_from_an_input_without_end_are_committed_during_the_run(tmp_path):
    log = tmp_path / "log.rdfp"
    reading, writing = os.pipe()
    arguments = {"from_format": "nq", "append": True}
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", 0) as pipe:
        run = threading.Thread(target=patch.from_log, args=(source, log), kwargs=arguments)
        run.start()
        for count in (1, 2):
            pipe.write(MESSAGE + b"# @message\n")
            deadline = time.monotonic() + 60
            while not log.exists() or len(links("rdf-patch", log)) < count:
                assert time.monotonic() < deadline
                time.sleep(0.02)
        pipe.close()
        run.join()
    assert_chain("rdf-patch", log, 2)


def test_a_patch_with_an_id_is_limited_in_size(tmp_path):
    large = b"".join(b'<a:s> <a:p> "%d%s" .\n' % (number, b"x" * 100) for number in range(9999))
    for write in (
        lambda **options: from_log("nq", large, max_message_bytes=100_000, **options),
        lambda **options: diff("nq", b"", large, max_message_bytes=100_000, **options),
    ):
        with pytest.raises(rdfm.LimitError, match="than 100000 decoded bytes") as raised:
            write(ids=True)
        remedies = [remedy.option for remedy in raised.value.remedies]
        assert remedies == ["max_message_bytes", "ids"]
        assert write(ids=False).count(b"\nA ") == 9999
    # A folder has this limit anyway.
    folder = f"{tmp_path}/out.rdfp/"
    with pytest.raises(rdfm.LimitError) as raised:
        patch.from_log(large, folder, from_format="nq", max_message_bytes=100_000)
    assert [remedy.option for remedy in raised.value.remedies] == ["max_message_bytes"]


def test_patches_that_undo_linked_patches_have_no_old_ids():
    log = from_log("nq", MESSAGE + b"# @message\n<a:s> <a:p> <a:t> .\n")
    ids = [id for id, _ in links("rdf-patch", log)]
    undo = io.BytesIO()
    patch.revert(log, undo, from_format="rdf-patch", to="rdf-patch")
    assert links("rdf-patch", undo.getvalue()) == [(None, ids[-1]), (None, None)]
    formats_of = {"from_format": "nq", "patch_format": "rdf-patch", "to": "nq"}
    done = patch.apply(b"", [log, undo.getvalue()], io.BytesIO(), **formats_of)
    assert (done.quads, done.committed) == (0, 4)
