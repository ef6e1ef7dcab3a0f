"""Files of patches by Jena and RDFLib, and the small ones of spec-fixtures: read, written and read again."""

import json

import pytest
from rdf_patch import operation_of, patches_of, read_thrift, rows_of_text
from support import FIXTURES, SHARED, as_tuple, needs_shared

import rdfm

NAMES = {"rdfp": "rdf-patch", "rdp": "rdf-patch", "trp": "rdf-patch-thrift"}
RDFLIB = SHARED / "conformance" / "rdf-patch"
JENA = SHARED / "conformance" / "jena"
MANIFEST = JENA / "manifest.json"
ENTRIES = json.loads(MANIFEST.read_text("utf-8"))["files"] if MANIFEST.exists() else []
ENTRIES = [entry for entry in ENTRIES if entry["format"] in NAMES]
FILES = [path for path in sorted(RDFLIB.glob("*.rd*")) if path.suffix[1:] in NAMES]
# Jena does not expand prefixed names, puts a late header to the front, and takes a cut row for the end.
OTHERWISE = {"patchtext-prefixed-names.rdfp", "patchtext-header-late.rdfp"}
FIXTURE_FILES = sorted(
    [*FIXTURES.glob("rdf-patch/*.rd*"), *FIXTURES.glob("rdf-patch-thrift/*.trp")]
)


def operations(log):
    """The patches of a log as tuples."""
    return [
        [(row[0], row[1], *(as_tuple(term) for term in row[2:])) for row in patch.operations]
        for patch in log
    ]


def read(path):
    with rdfm.open_log(path, format=NAMES[path.suffix[1:]]) as log:
        return operations(log)


def in_every_format(path, folder):
    """Written as text and in Thrift and read again, in any order."""
    found = read(path)
    for first, second in (("rdfp", "trp"), ("trp", "rdfp"), ("rdfp", "rdfp"), ("trp", "trp")):
        one, other = folder / f"one.{first}", folder / f"other.{second}"
        rdfm.convert(path, one)
        rdfm.convert(one, other)
        assert read(one) == read(other) == found
    rows = read_thrift((folder / "one.trp").read_bytes())
    assert patches_of(rows) == found
    return found


@pytest.mark.parametrize("path", FIXTURE_FILES, ids=lambda path: path.name)
def test_fixture(path, tmp_path):
    found = in_every_format(path, tmp_path)
    expected = path.with_suffix(".txt")
    if expected.exists():
        assert found == patches_of(rows_of_text(expected.read_text("utf-8")))


@needs_shared("conformance", "rdf-patch")
def test_the_folder_is_whole():
    assert len(FILES) == 16


@needs_shared("conformance", "rdf-patch")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_file_of_others(path, tmp_path):
    found = in_every_format(path, tmp_path)
    lines = [line for line in path.read_text("utf-8").splitlines() if line[:1] not in ("", "#")]
    (patch,) = found
    assert [row[0] for row in patch] == [line.split()[0].rstrip(".") for line in lines]
    for row, line in zip(patch, lines, strict=True):
        if row[0] in ("A", "D"):
            assert row == operation_of(line.replace("<_:bn1>", "_:bn1"))


@needs_shared("conformance", "jena")
def test_the_files_of_jena_are_there():
    assert len(ENTRIES) >= 19


@needs_shared("conformance", "jena")
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["file"])
def test_file_of_jena(entry, tmp_path):
    path = JENA / entry["file"]
    if "error" in entry or "error" in entry["file"]:
        with pytest.raises(rdfm.RdfmError):
            read(path)
        return
    found = in_every_format(path, tmp_path)
    if "expected_patch" in entry and entry["file"] not in OTHERWISE:
        assert found == read(JENA / entry["expected_patch"])
