"""Public names are stable: a change of these lists is a change for users."""

import subprocess
import sys

import pytest

import rdfm

NAMES = [
    "Bnode",
    "ConvertOptions",
    "DecodeError",
    "Difference",
    "EncodeError",
    "Finding",
    "InternalError",
    "Iri",
    "LimitError",
    "Literal",
    "LogReader",
    "LogWriter",
    "Message",
    "MessageBatch",
    "MessageDifference",
    "MissingExtraError",
    "Operation",
    "OptionError",
    "Patch",
    "PatchBatch",
    "Progress",
    "Quad",
    "RdfmError",
    "ReadOptions",
    "Report",
    "ResultBatch",
    "ResultReader",
    "ResultWriter",
    "Solutions",
    "Statistics",
    "Summary",
    "TripleTerm",
    "TruncatedError",
    "UnknownFormatError",
    "UnsupportedError",
    "Validation",
    "WriteOptions",
    "__version__",
    "ask",
    "construct",
    "convert",
    "create_log",
    "create_results",
    "diff",
    "errors",
    "formats",
    "inspect",
    "open_log",
    "open_results",
    "parse_term",
    "query",
    "select",
    "statistics",
    "validate",
]


def test_public_names_are_listed():
    assert sorted(rdfm.__all__) == sorted(NAMES)
    for name in rdfm.__all__:
        assert getattr(rdfm, name) is not None


def test_dir_lists_public_names():
    assert dir(rdfm) == sorted([*NAMES, "patch", "regroup", "split", "values"])
    for name in dir(rdfm):
        assert getattr(rdfm, name) is not None
    with pytest.raises(AttributeError, match="module 'rdfm' has no attribute 'storage_of'"):
        getattr(rdfm, "storage_of")  # noqa: B009 - the point


IMPORTS = [
    "import rdfm.conversion.convert, rdfm.analysis.inspect, rdfm.analysis.statistics",
    "from rdfm.conversion.convert import convert\nfrom rdfm.analysis.inspect import Report",
    "from rdfm import convert, inspect",
    "from rdfm import *\nimport rdfm.conversion.convert",
    "import rdfm\nrdfm.convert\nimport rdfm.split, rdfm.values, rdfm.regroup",
]


@pytest.mark.parametrize("imports", IMPORTS)
def test_functions_keep_their_names_for_each_import_order(imports):
    program = f"""
{imports}
import rdfm, types
assert isinstance(rdfm.convert, types.FunctionType), rdfm.convert
assert isinstance(rdfm.inspect, types.FunctionType), rdfm.inspect
assert isinstance(rdfm.statistics, types.FunctionType), rdfm.statistics
assert isinstance(rdfm.query, types.FunctionType), rdfm.query
assert rdfm.convert.__module__ == "rdfm.conversion.convert"
for name in rdfm.__all__:
    getattr(rdfm, name)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_public_names_have_docstrings():
    for name in rdfm.__all__:
        if name != "__version__":
            assert (getattr(rdfm, name).__doc__ or "").strip(), name
