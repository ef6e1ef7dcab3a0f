"""The public names, which are part of the API: a change to these lists affects users."""

import ast
import importlib
import importlib.util
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rdfm

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
REFERENCES = ("python", "spark-reference")
MODULES = [
    "rdfm",
    "rdfm.errors",
    "rdfm.formats",
    "rdfm.spark",
    "rdfm.spark.functions",
    "rdfm.patch",
    "rdfm.nanopub",
    "rdfm.analysis",
    "rdfm.riverbench",
]

RDFM_NAMES = [
    "BlankNode",
    "ConversionSummary",
    "ConvertOptions",
    "DecodeError",
    "EncodeError",
    "EntityTable",
    "FilterOptions",
    "Finding",
    "Inspection",
    "InternalError",
    "Iri",
    "LimitError",
    "Literal",
    "LogBusyError",
    "LogDiff",
    "LogReader",
    "LogScan",
    "LogWriter",
    "Message",
    "MessageBatch",
    "MessageDiff",
    "MessageHash",
    "MessageHashes",
    "MissingExtraError",
    "Operation",
    "OptionError",
    "Patch",
    "PatchBatch",
    "Progress",
    "Quad",
    "QueryError",
    "RdfmError",
    "ReadOptions",
    "ResultBatch",
    "ResultReader",
    "Row",
    "Solutions",
    "Split",
    "Statistics",
    "TripleTerm",
    "TruncatedError",
    "UnknownFormatError",
    "UnsupportedError",
    "Validation",
    "ValueDecoder",
    "ValueEncoder",
    "WriteOptions",
    "__version__",
    "ask",
    "construct",
    "convert",
    "create_log",
    "decode_values",
    "diff",
    "encode_values",
    "errors",
    "filter",
    "formats",
    "hash",
    "inspect",
    "open_log",
    "parse_term",
    "plan_splits",
    "query",
    "regroup",
    "scan",
    "scan_polars",
    "select",
    "serve",
    "statistics",
    "table",
    "validate",
]


def test_public_names_are_listed():
    assert sorted(rdfm.__all__) == sorted(RDFM_NAMES)
    for name in rdfm.__all__:
        assert getattr(rdfm, name) is not None


def test_dir_lists_public_names():
    modules = ["analysis", "nanopub", "patch", "riverbench"]
    assert dir(rdfm) == sorted([*RDFM_NAMES, *modules])
    for name in dir(rdfm):
        assert getattr(rdfm, name) is not None
    with pytest.raises(AttributeError, match="module 'rdfm' has no attribute 'find_storage'"):
        getattr(rdfm, "find_storage")  # noqa: B009 - tests `getattr`


IMPORTS = [
    "import rdfm.conversion.convert, rdfm.analysis.inspect, rdfm.analysis.statistics",
    "from rdfm.conversion.convert import convert\nfrom rdfm.analysis.inspect import Inspection",
    "from rdfm import convert, inspect",
    "from rdfm import *\nimport rdfm.conversion.convert",
    "import rdfm\nrdfm.convert\nimport rdfm.conversion.filter, rdfm.conversion.regroup",
]


@pytest.mark.parametrize("imports", IMPORTS)
def test_functions_are_not_shadowed_by_modules_in_any_import_order(imports):
    program = f"""
{imports}
import rdfm, types
assert isinstance(rdfm.convert, types.FunctionType), rdfm.convert
assert isinstance(rdfm.inspect, types.FunctionType), rdfm.inspect
assert isinstance(rdfm.statistics, types.FunctionType), rdfm.statistics
assert isinstance(rdfm.hash, types.FunctionType), rdfm.hash
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


def test_readers_and_writers_have_only_documented_attributes():
    objects = (
        rdfm.open_log(b"", "nq"),
        rdfm.open_log(b"", "rdf-patch", kind="patches"),
        rdfm.open_log(b"?a\n", "results-tsv", kind="results"),
        rdfm.create_log(io.BytesIO(), "nq"),
        rdfm.create_log(io.BytesIO(), "results-tsv", kind="results", variables=["a"]),
        rdfm.Progress(),
    )
    for each in objects:
        doc = "\n".join(base.__doc__ or "" for base in type(each).__mro__)
        for name in vars(each):
            assert name.startswith("_") or re.search(rf"^\s+{name}: ", doc, re.MULTILINE), name
        for base in type(each).__mro__[:-1]:
            for name, member in vars(base).items():
                if not name.startswith("_") and callable(member):
                    assert member.__doc__, name
                    assert "nternal" not in member.__doc__, name


def public_names(module):
    if module.startswith("rdfm.spark"):
        pytest.importorskip("pyspark")
    return importlib.import_module(module).__all__


@pytest.mark.parametrize("module", MODULES)
def test_public_names_are_documented(module):
    pages = [(ROOT / f"docs/{name}.md").read_text("utf-8") for name in REFERENCES]
    code = [part for page in pages for part in re.findall(r"```.*?```|`[^`\n]+`", page, re.DOTALL)]
    documented = {word for part in code for word in re.findall(r"\w+", part)}
    assert not set(public_names(module)) - documented


@pytest.mark.parametrize("module", MODULES)
def test_public_names_exist(module):
    names = public_names(module)
    found = importlib.import_module(module)
    assert len(set(names)) == len(names)
    assert set(names) <= set(dir(found))
    for name in names:
        assert getattr(found, name) is not None


def modules_of_pages():
    """Yields each page, and a module that consists of the Python blocks on the page."""
    spec = importlib.util.spec_from_file_location("check_types", ROOT / "tools/check_types.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    for page in PAGES:
        yield page, ast.parse(tool.module_of(page.read_text("utf-8")))


def names_of_rdfm(tree):
    """Yields the modules and names of rdfm that a module imports or uses as attributes."""
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "rdfm":
                    modules[alias.asname or alias.name] = alias.name
                    modules.setdefault("rdfm", "rdfm")
        elif isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "rdfm":
            for alias in node.names:
                if f"{node.module}.{alias.name}" in MODULES:
                    modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                else:
                    yield node.module, alias.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            module = modules.get(ast.unparse(node.value))
            if module is not None and f"{module}.{node.attr}" not in MODULES:
                yield module, node.attr


def test_documentation_uses_public_names():
    found = {
        (page.name, module, name)
        for page, tree in modules_of_pages()
        for module, name in names_of_rdfm(tree)
    }
    assert ("plugins.md", "rdfm.formats", "register") in found
    assert ("python.md", "rdfm", "convert") in found
    for page, module, name in found:
        assert module in MODULES, (page, module)
        if name not in public_names(module):
            assert module == "rdfm.formats", (page, module, name)
            rdfm.formats.find(name)  # an attribute for each format


def test_analysis_is_loaded_on_first_use():
    program = """
import sys, rdfm.analysis
assert "rdfm.analysis.statistics" not in sys.modules
assert "rdfm._core" not in sys.modules
from rdfm.analysis import Collector
assert Collector.__module__ == "rdfm.analysis.statistics"
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
