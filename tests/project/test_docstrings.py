"""Examples in docstrings print what they show, and every public name is documented."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import rdfm

MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(rdfm.__path__, "rdfm.")
    if name not in ("rdfm._core", "rdfm.__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_print_what_they_show(name):
    module = importlib.import_module(name)
    assert module.__doc__
    assert doctest.testmod(module).failed == 0


def test_public_names_are_documented():
    for name in rdfm.__all__:
        value = getattr(rdfm, name)
        if not isinstance(value, str):
            assert inspect.getdoc(value), name


@pytest.mark.parametrize(
    "name",
    [
        "open_log",
        "create_log",
        "convert",
        "diff",
        "hash",
        "inspect",
        "validate",
        "query",
        "select",
        "construct",
        "ask",
        "LogReader.to_arrow",
        "Solutions.to_pandas",
        "ResultReader.to_polars",
        "formats.find",
        "formats.Format",
    ],
)
def test_main_functions_have_examples(name):
    value = rdfm
    for part in name.split("."):
        value = getattr(value, part)
    assert ">>>" in inspect.getdoc(value)
