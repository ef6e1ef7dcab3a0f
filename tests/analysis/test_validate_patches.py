"""Findings of `validate` in patch logs: all errors of `rdfm patch apply`, and open transactions."""

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rdfm
from rdfm import patch

ADD = "A <a:s> <a:p> <a:o> .\n"


def found(*logs, **options):
    """Returns the findings in RDF Patch logs."""
    checked = rdfm.validate([log.encode() for log in logs], "rdf-patch", **options)
    return [
        (each.severity, each.rule, each.message_index, each.line, each.column, each.text)
        for each in checked
    ]


def patch_with(id="", prev="", rows=f"TX .\n{ADD}TC .\n"):
    """Returns a patch with an optional `id` and `prev`."""
    links = [("id", id), ("prev", prev)]
    return "".join(f"H {key} <a:{value}> .\n" for key, value in links if value) + rows


def test_transactions_out_of_order_are_errors():
    log = f"{ADD}TC .\nZ .\nTX .\nTX .\n{ADD}TC .\nTA .\n"
    assert found(log) == [
        ("error", "transaction", 0, 2, 1, "row 1 of the patch: TC without TX before it"),
        (
            "error",
            "transaction",
            1,
            5,
            1,
            "row 1 of the patch: TX within a transaction; expected TC or TA before it",
        ),
        ("error", "transaction", 1, 8, 1, "row 4 of the patch: TA without TX before it"),
    ]


def test_an_unfinished_transaction_is_a_warning_at_its_start():
    assert found(f"TX .\nTC .\n  TX .\n{ADD}Z .\n{ADD}") == [
        (
            "warning",
            "unfinished-transaction",
            0,
            3,
            3,
            "row 2 of the patch: the patch does not end its transaction, which is then undone",
        )
    ]
    checked = rdfm.validate(b"TX .\n", "rdf-patch", strict=True)
    assert not checked.ok


def test_a_broken_chain_is_an_error_in_a_log_and_a_warning_between_logs():
    text = "row 1 of the patch: prev is <a:0>, but the previous patch has the id <a:1>"
    log = f"{patch_with('1')}Z .\n{patch_with('2', '0')}"
    assert found(log) == [("error", "chain", 1, 7, 1, text)]
    separate_logs = patch_with("1"), patch_with("2", "0")
    assert found(*separate_logs) == [("warning", "chain", 0, 2, 1, text)]
    assert found(*separate_logs, chain=True) == [("error", "chain", 0, 2, 1, text)]
    assert found(patch_with("1"), patch_with("2", "1"), patch_with("3", "2")) == []
    same_id = "row 1 of the patch: prev is <a:1>, the id of the same patch"
    assert found(patch_with("0"), patch_with("1", "1"))[-1] == ("error", "chain", 0, 2, 1, same_id)


def test_members_of_an_archive_are_logs(tmp_path):
    with tarfile.open(tmp_path / "log.tar", "w") as archive:
        for name, log in (("1.rdfp", patch_with("1")), ("2.rdfp", patch_with("2", "0"))):
            info = tarfile.TarInfo(name)
            info.size = len(log)
            archive.addfile(info, io.BytesIO(log.encode()))
    (each,) = rdfm.validate(tmp_path / "log.tar", "rdf-patch")
    assert (each.severity, each.rule, each.message_index) == ("warning", "chain", 0)
    assert each.source.endswith("2.rdfp")


def test_a_patch_after_an_invalid_one_may_have_any_prev():
    log = f"{patch_with('1')}Z .\nH id <a:2> .\noops\nZ .\n{patch_with('3', '2')}Z .\n{patch_with('4', '1')}"
    assert [each[:3] for each in found(log)] == [("error", "syntax", 1), ("error", "chain", 3)]


@pytest.mark.parametrize("format", ["rdf-patch-thrift", "jelly-patch"])
def test_binary_logs_are_checked_too(format):
    out = io.BytesIO()
    log = f"{patch_with('1')}Z .\n{patch_with('2', '0')}".encode()
    rdfm.convert(log, out, from_format="rdf-patch", to=format)
    (each,) = rdfm.validate(out.getvalue(), format)
    assert (each.severity, each.rule, each.message_index, each.line) == ("error", "chain", 1, None)


def test_warnings_beyond_max_warnings_are_only_counted():
    log = "Z .\n".join(["TX .\n"] * 30)
    checked = rdfm.validate(log.encode(), "rdf-patch", max_warnings=3)
    assert len(list(checked)) == 3
    assert (checked.warnings, checked.omitted) == (30, {"unfinished-transaction": 27})
    assert checked.rules == {"unfinished-transaction": 30}


ROWS = st.sampled_from(
    [
        *("TX .\n", "TC .\n", "TA .\n", "Z .\n", ADD),
        *("H id <a:1> .\n", "H id <a:2> .\n", "H prev <a:1> .\n", "H Prev <a:2> .\n"),
    ]
)
LOGS = st.lists(st.lists(ROWS, max_size=12).map("".join), min_size=1, max_size=3)


@given(LOGS, st.booleans())
def test_apply_rejects_exactly_the_logs_with_errors(logs, chain):
    """`patch.apply` raises the first error that `validate` finds, with the same position."""
    errors = [
        each
        for each in rdfm.validate([log.encode() for log in logs], "rdf-patch", chain=True)
        if each.severity == "error" and (chain or each.rule != "chain")
    ]
    options = {"from_format": "nq", "patch_format": "rdf-patch", "to": "nq", "chain": chain}
    try:
        patch.apply(b"", [log.encode() for log in logs], io.BytesIO(), **options)
    except rdfm.DecodeError as error:
        first = errors[0]
        position = (first.message_index, first.line, first.column, first.byte_offset)
        assert (error.message_index, error.line, error.column, error.byte_offset) == position
        assert error.reason.rpartition(": ")[2] == first.text.rpartition(": ")[2]
    else:
        assert errors == []


def test_totals_cover_all_logs_even_before_iteration():
    for name, value in (
        ("errors", 1),
        ("warnings", 1),
        ("messages", 2),
        ("records", 3),
        ("logs", 1),
        ("rules", {"transaction": 1, "unfinished-transaction": 1}),
        ("omitted", {}),
        ("not_conforming", 0),
        ("stopped", False),
        ("kind", "patches"),
    ):
        checked = rdfm.validate(b"TC .\nZ .\nH a <a:b> .\nTX .\n", "rdf-patch")
        assert getattr(checked, name) == value
        assert not checked.ok
    checked = rdfm.validate(b"TC .\nZ .\nTC .\n", "rdf-patch")
    first = next(iter(checked))
    assert (first.message_index, checked.errors) == (0, 1)  # so far
    assert rdfm.validate(b"TC .\n", "rdf-patch").summary()["errors"] == 1
