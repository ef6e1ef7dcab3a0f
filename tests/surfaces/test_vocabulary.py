"""The number of a message and its byte have one name each, and one order, on every surface."""

import importlib
import inspect
from dataclasses import fields, is_dataclass

import pytest

import rdfm
from rdfm._core import MessageBatch, PatchBatch, Query, ResultBatch, TypedColumns

KEY = ("source", "message_index", "byte_offset")
AMBIGUOUS = {"offset", "offsets", "position", "index", "index_of", "first_index"}


def names_of(module):
    return [getattr(module, name) for name in module.__all__]


def public_classes():
    modules = [rdfm, *map(importlib.import_module, ("rdfm.errors", "rdfm.analysis", "rdfm.patch"))]
    found = {each for module in modules for each in names_of(module) if inspect.isclass(each)}
    return {*found, MessageBatch, PatchBatch, ResultBatch}


def names_in(a_class):
    """Yields the names of public attributes, and of parameters of public methods."""
    for owner in a_class.__mro__:
        if not owner.__module__.startswith("rdfm"):
            continue
        for name, value in vars(owner).items():
            if name.startswith("_") and name != "__init__":
                continue
            yield name
            if inspect.isroutine(value) or isinstance(value, staticmethod):
                yield from inspect.signature(getattr(owner, name)).parameters
    if is_dataclass(a_class):
        yield from (each.name for each in fields(a_class))


@pytest.mark.parametrize("a_class", sorted(public_classes(), key=lambda each: each.__name__))
def test_classes_name_indexes_and_bytes_in_one_way(a_class):
    assert not set(names_in(a_class)) & AMBIGUOUS


def check_columns(names, *, has):
    assert not set(names) & {*AMBIGUOUS, "message"}
    assert set(has) <= set(names)
    positions = [names.index(name) for name in KEY if name in names]
    assert positions == sorted(positions)


def test_rows_and_json_begin_with_the_key_of_a_message():
    pa = pytest.importorskip("pyarrow")
    from rdfm.formats import rows

    batch, patches = MessageBatch.from_messages([[]]), PatchBatch.from_patches([[]])
    for names in (
        pa.record_batch(batch).schema.names,
        pa.record_batch(patches).schema.names,
        pa.record_batch(batch.to_arrow(rows="quads")).schema.names,
        list(rows.COLUMNS),
        list(rows.QUAD_COLUMNS),
        pa.schema(TypedColumns(Query("SELECT ?s { ?s ?p ?o }").variables)).names,
        nanopub_columns(),
    ):
        check_columns(names, has=KEY[:2])
    every = ["source", "message_index", "byte_offset", "quads", "metadata", "namespaces"]
    with pytest.raises(rdfm.errors.OptionError, match=f"expected one of {', '.join(every)}"):
        batch.to_arrow(["offset"])
    finding = rdfm.Finding("log.nq", "error", "syntax", "text")
    check_columns(list(finding.to_dict()), has=KEY)


def nanopub_columns():
    from rdfm.nanopub.listing import COLUMNS

    return list(COLUMNS)


def test_columns_in_spark_have_the_same_names_and_order():
    pytest.importorskip("pyspark")
    from pyspark.sql.types import StructType

    from rdfm.spark import checks
    from rdfm.spark.queries import evaluation
    from rdfm.spark.readers import side_table
    from rdfm.spark.schema import COLUMNS, default_schema

    check_columns(list(COLUMNS), has=KEY)
    check_columns(default_schema().names, has=["source", "byte_offset"])
    check_columns(default_schema(kind="quads").names, has=KEY[:2])
    for schema in (checks.FINDINGS, checks.HASHES):
        check_columns([part.split()[0].strip("`") for part in schema.split(", ")], has=KEY)
    check_columns(side_table._SCHEMA.names, has=KEY)
    for text in ("SELECT * { ?s ?p ?o }", "ASK { ?s ?p ?o }", "CONSTRUCT WHERE { ?s ?p ?o }"):
        shape = evaluation.SparkQuery.parse(text).shape()
        check_columns(list(shape.known), has=KEY[:2])
        assert isinstance(shape.default, StructType)
