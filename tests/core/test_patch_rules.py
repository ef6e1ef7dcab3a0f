"""Patch rules: the order of transactions, and the chain of `id` and `prev`."""

import pytest

from rdfm import Iri, formats, open_log
from rdfm._core import PatchBatch, PatchRules


def violations(*logs, batch_messages=8192):
    """Returns violations in consecutive RDF Patch logs: rule, patch, row, line of the row, text."""
    rules = PatchRules()
    found = []
    for log in logs:
        rules.begin_log()
        decoder = formats.find("rdf-patch").Decoder(batch_messages=batch_messages)
        decoder.feed(log.encode())
        decoder.finish()
        while (batch := decoder.next_batch()) is not None:
            for rule, patch, row, offset, text in rules.check(batch):
                found.append((rule, patch, row, log.encode()[:offset].count(b"\n") + 1, text))
    return found


def patch_with(id="", prev="", rows="TX .\nA <a:s> <a:p> <a:o> .\nTC .\n"):
    """Returns a patch with an optional `id` and `prev`."""
    links = [("id", id), ("prev", prev)]
    return "".join(f"H {key} <a:{value}> .\n" for key, value in links if value) + rows


COMPLETE_CHAIN = [patch_with("1"), patch_with("2", "1"), patch_with("3", "2")]


@pytest.mark.parametrize("size", [1, 2, 8192])
@pytest.mark.parametrize(
    ("patches", "expected"),
    [
        (COMPLETE_CHAIN, []),
        ([], []),
        ([patch_with("5", "4")], []),  # the first patch may follow any other
        (
            [patch_with(), patch_with(), patch_with("1"), patch_with()],
            [],
        ),  # a patch without prev may follow any other
        (
            [*COMPLETE_CHAIN, patch_with("4", "2")],
            [(3, "prev is <a:2>, but the previous patch has the id <a:3>")],
        ),
        (
            [patch_with("1"), patch_with(prev="1"), patch_with(prev="1")],
            [(2, "prev is <a:1>, but the previous patch has no id")],
        ),
        (
            [patch_with("2", "1"), patch_with("2", "1"), patch_with("2", "1")],
            [(patch, "prev is <a:1>, but the previous patch has the id <a:2>") for patch in (1, 2)],
        ),
        # Names are case-insensitive, and their order is irrelevant.
        (["H ID <a:1> .\n", "H Prev <a:1> .\nH id <a:2> .\n", patch_with("3", "2")], []),
        # A literal is not an IRI.
        (
            [patch_with("1"), 'H prev "a:1" .\n'],
            [(1, 'prev is "a:1", but the previous patch has the id <a:1>')],
        ),
        # A patch cannot follow itself, with or without an earlier patch.
        ([patch_with("1", "1")], [(0, "prev is <a:1>, the id of the same patch")]),
        (
            [patch_with("0"), "H prev <a:1> .\nH id <a:1> .\n"],
            [
                (1, "prev is <a:1>, but the previous patch has the id <a:0>"),
                (1, "prev is <a:1>, the id of the same patch"),
            ],
        ),
        ([patch_with("1"), patch_with("1", "1")], [(1, "prev is <a:1>, the id of the same patch")]),
    ],
)
def test_links_between_patches_are_checked(patches, expected, size):
    in_one_log = violations("Z .\n".join(patches), batch_messages=size)
    assert [(patch, text) for _, patch, _, _, text in in_one_log] == expected
    assert {rule for rule, *_ in in_one_log} <= {"chain"}
    in_separate_logs = violations(*patches, batch_messages=size)
    assert [text for *_, text in in_separate_logs] == [text for _, text in expected]
    for rule, patch, _, _, text in in_separate_logs:
        assert (rule, patch) == ("chain" if "same patch" in text else "chain-of-logs", 0)


@pytest.mark.parametrize("size", [1, 2, 8192])
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("TX .\nTC .\nTX .\nTA .\n", []),
        ("TC .\n", [("transaction", 0, 0, 1, "TC without TX before it")]),
        (
            "TX .\nTC .\n# end\nTA .\nTC .\n",
            [
                ("transaction", 0, 2, 4, "TA without TX before it"),
                ("transaction", 0, 3, 5, "TC without TX before it"),
            ],
        ),
        (
            "Z .\nTX . A <a:s> <a:p> <a:o> .\nTX .\nTC .\n",
            [("transaction", 1, 2, 3, "TX within a transaction; expected TC or TA before it")],
        ),
        (
            "TX .\nTC .\nTX .\nA <a:s> <a:p> <a:o> .\nZ .\nTC .\n",
            [
                (
                    "unfinished",
                    0,
                    2,
                    3,
                    "the patch does not end its transaction, which is then undone",
                ),
                ("transaction", 1, 0, 6, "TC without TX before it"),
            ],
        ),
    ],
)
def test_transactions_are_checked(rows, expected, size):
    assert violations(rows, batch_messages=size) == expected


def test_a_patch_after_a_skipped_one_may_have_any_prev():
    rules = PatchRules()
    decode = lambda text: next(iter(batches(text)))  # noqa: E731
    assert rules.check(decode(patch_with("1", rows="TX .\n"))) != []
    rules.skip()
    assert rules.check(decode(patch_with("3", "2"))) == []
    assert [found[0] for found in rules.check(decode(patch_with("5", "4")))] == ["chain"]


def batches(text):
    with open_log(text.encode(), "rdf-patch", kind="patches") as log:
        yield from log.batches()


def test_a_patch_may_span_batches():
    """The parts of a patch count as one link, wherever its header occurs."""
    operations = [("A", None, Iri("a:s"), Iri("a:p"), Iri(f"a:{n}"), None) for n in range(9000)]
    id_of = lambda value: ("H", "id", None, None, Iri(value), None)  # noqa: E731
    prev_of = lambda value: ("H", "prev", None, None, Iri(value), None)  # noqa: E731
    begin, commit = (
        ("TX", None, None, None, None, None),
        ("TC", None, None, None, None, None),
    )
    batch = PatchBatch.from_patches(
        [
            [id_of("a:1"), begin, *operations, commit],
            [*operations, prev_of("a:1"), id_of("a:2")],
            [prev_of("a:2"), begin],
        ]
    )
    data = formats.find("rdf-patch-thrift").encode(batch, headers_first=True)
    for parts in (True, False):
        rules, found, parts_seen = PatchRules(), [], 0
        with open_log(data, "rdf-patch-thrift", kind="patches", parts=parts) as log:
            for each in log.batches():
                parts_seen += each.continued
                found += rules.check(each)
        assert (parts_seen > 0) == parts
        assert [(rule, patch, row) for rule, patch, row, _, _ in found] == [("unfinished", 2, 1)]
        assert rules.links() == 2


def test_a_patch_with_several_prev_headers_counts_as_one_link():
    rules = PatchRules()
    for batch in batches("H prev <a:1> .\nH Prev <a:2> .\nTX .\nTC .\nZ .\nH id <a:3> .\n"):
        assert rules.check(batch) == []
    assert rules.links() == 1
    rules.skip()
    assert rules.links() == 1


def test_long_identifiers_are_truncated():
    ((_, _, _, _, text),) = violations(f"H id <a:{'x' * 1000}> .\nZ .\nH prev <a:2> .\n")
    assert len(text) < 300
    assert text.endswith("…")
