"""The small Jelly-Patch logs of spec-fixtures."""

import importlib.util

import jelly_patch_proto
import pytest
from patches import as_batch, decode
from support import FIXTURES, PIECES

from rdfm import formats


def fixture_maker():
    spec = importlib.util.spec_from_file_location("make", FIXTURES / "jelly-patch" / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_fixtures_are_current():
    generated = list(fixture_maker().generated_files())
    assert len(generated) >= 50
    for path, data in generated:
        assert path.read_bytes() == data, path


@pytest.mark.parametrize("log", list(fixture_maker().logs()), ids=lambda log: log[0])
def test_a_fixture_is_read_as_expected(log):
    _, patches, data = log
    for size in (len(data), *PIECES):
        assert decode(data, size) == patches
    written = formats.find("jelly-patch").encode(
        as_batch(patches), statement_type="quads", generalized=True, rdf_star=True
    )
    assert decode(written, len(written)) == patches
    assert jelly_patch_proto.decode(written) == patches
