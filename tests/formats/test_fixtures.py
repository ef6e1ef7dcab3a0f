"""The small logs of spec-fixtures, in every format, compared with their expected messages."""

import importlib.util

import pytest
from fixture_logs import LOGS, reading_options
from nquads import isomorphic, read_expected
from support import FIXTURES, NATIVE, assert_same, decode

from rdfm import formats

CASES = [path for paths in LOGS.values() for path in paths if path.parent.name != "nanopubs"]


def test_all_fixtures_are_found():
    assert len(CASES) >= 100
    assert {formats.by_path(path.name).name for path in CASES} == set(NATIVE)


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_fixture_is_read_as_expected(path):
    name = formats.by_path(path.name).name
    found, error = decode(name, path.read_bytes(), **reading_options(path))
    assert error is None
    expected = read_expected(path.parent / "expected.txt")
    if path.stem.startswith("message-"):
        expected = [expected[int(path.stem.removeprefix("message-"))]]
    if path.stem == "unordered" or not formats.find(name).spec.carries["order"]:
        assert len(found) == len(expected)
        assert all(map(isomorphic, found, expected))
    else:
        assert_same(found, expected)


def test_generated_fixtures_are_current():
    spec = importlib.util.spec_from_file_location("make_fixtures", FIXTURES / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    generated = list(module.generated_files())
    assert len(generated) >= 70
    for path, data in generated:
        assert path.read_bytes() == data, path
