"""The small RDF Patch logs of spec-fixtures, as text and Thrift: read, written and read again."""

import pytest
from patch_files import convert_through_all_formats
from rdf_patch import patches_of, rows_of_text
from support import FIXTURES

FIXTURE_FILES = sorted(
    [*FIXTURES.glob("rdf-patch/*.rd*"), *FIXTURES.glob("rdf-patch-thrift/*.trp")]
)


@pytest.mark.parametrize("path", FIXTURE_FILES, ids=lambda path: path.name)
def test_a_fixture_is_read_as_expected(path, tmp_path):
    found = convert_through_all_formats(path, tmp_path)
    expected = path.with_suffix(".txt")
    if expected.exists():
        assert found == patches_of(rows_of_text(expected.read_text("utf-8")))
