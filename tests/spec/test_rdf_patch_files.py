"""Patch files of Jena and RDFLib are read, written and read again."""

import json
from itertools import chain, pairwise

import pytest
import suites
from nquads import read_quads, relabelled
from patch_files import FORMAT_BY_SUFFIX, convert_through_all_formats, read
from rdf_patch import operation_of

import rdfm
from rdfm import patch

RDFLIB = suites.path("conformance", "rdf-patch")
JENA = suites.path("conformance", "jena")
ENTRIES = json.loads((JENA / "manifest.json").read_text("utf-8"))["files"]
JELLY = [
    entry for entry in ENTRIES if entry["format"] == "jelly-patch" and "error" not in entry["file"]
]
ENTRIES = [entry for entry in ENTRIES if entry["format"] in FORMAT_BY_SUFFIX]
FILES = [path for path in sorted(RDFLIB.glob("*.rd*")) if path.suffix[1:] in FORMAT_BY_SUFFIX]
# Jena does not expand prefixed names, moves a late header to the front, and treats a truncated
# row as the end.
READ_DIFFERENTLY_BY_JENA = {"patchtext-prefixed-names.rdfp", "patchtext-header-late.rdfp"}


def test_the_folder_is_complete():
    assert len(FILES) == 16


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_an_rdflib_file_is_read_as_expected(path, tmp_path):
    found = convert_through_all_formats(path, tmp_path)
    lines = [line for line in path.read_text("utf-8").splitlines() if line[:1] not in ("", "#")]
    (patch,) = found
    assert [row[0] for row in patch] == [line.split()[0].rstrip(".") for line in lines]
    for row, line in zip(patch, lines, strict=True):
        if row[0] in ("A", "D"):
            assert row == operation_of(line.replace("<_:bn1>", "_:bn1"))


def test_the_jena_files_are_found():
    assert len(ENTRIES) >= 19


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["file"])
def test_a_jena_file_is_read_as_expected(entry, tmp_path):
    path = JENA / entry["file"]
    if "error" in entry or "error" in entry["file"]:
        with pytest.raises(rdfm.RdfmError):
            read(path)
        return
    found = convert_through_all_formats(path, tmp_path)
    if "expected_patch" in entry and entry["file"] not in READ_DIFFERENTLY_BY_JENA:
        assert found == read(JENA / entry["expected_patch"])


def test_every_patch_in_the_folder_is_tested():
    listed = {entry["file"] for entry in [*ENTRIES, *JELLY]}
    keys = ("expected_patch", "written_patch")
    listed |= {entry[key] for entry in [*ENTRIES, *JELLY] for key in keys if key in entry}
    errors = {"jellypatch-error-no-options", "jellypatch-error-stream-type-unspecified"}
    found = {path.name for path in JENA.iterdir() if path.suffix[1:] in FORMAT_BY_SUFFIX}
    assert {name.partition(".")[0] for name in found - listed} == errors
    assert len(found) == 49


@pytest.mark.parametrize("entry", JELLY, ids=lambda entry: entry["file"])
def test_jelly_files_equal_their_text(entry, tmp_path):
    """Jelly and text contain the same operations, but may divide them into different patches.

    In text, a header after other rows starts a new patch; Jelly-JVM ends each frame with Z if no
    row was written.
    """
    path = JENA / entry["file"]
    found, expected = read(path), read(JENA / entry["expected_patch"])
    assert list(chain(*found)) == list(chain(*expected))
    if "written_patch" in entry:
        assert read(JENA / entry["written_patch"]) == expected
    pairs = [pair for rows in found for pair in pairwise(rows)]
    if any(previous[0] != "H" and row[0] == "H" for previous, row in pairs):
        assert "-star." in entry["file"]
        with pytest.raises(rdfm.EncodeError) as caught:
            rdfm.convert(path, tmp_path / "one.rdfp")
        assert [remedy.option for remedy in caught.value.remedies] == ["headers_first"]
        rdfm.convert(path, tmp_path / "one.jellyp")
        assert read(tmp_path / "one.jellyp") == found
    else:
        assert found == expected == convert_through_all_formats(path, tmp_path)


@pytest.mark.parametrize(
    "entry",
    [entry for entry in ENTRIES if "applied_to_empty" in entry],
    ids=lambda entry: entry["file"],
)
def test_patches_can_be_applied_to_an_empty_dataset(entry, tmp_path):
    target = tmp_path / "now.nq"
    summary = patch.apply(b"", JENA / entry["file"], target, from_format="nq")
    assert summary.quads == entry["applied_quads"]
    expected = read_quads((JENA / entry["applied_to_empty"]).read_text("utf-8"))
    assert relabelled(sorted(read_quads(target.read_text("utf-8")), key=repr)) == relabelled(
        sorted(expected, key=repr)
    )
