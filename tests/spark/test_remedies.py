"""Remedies in Spark syntax name Spark options and the conversion options that Spark supports."""

import pytest

from rdfm.conversion.convert_options import STAGES
from rdfm.errors import Remedy
from rdfm.spark.spark_options import FILES, READING, STREAMING, WRITE_ID, WRITING, Options
from rdfm.spark.spark_remedies import render_for_function, render_for_spark


@pytest.mark.parametrize(
    ("option", "value", "spark", "function"),
    [
        ("mode", "PERMISSIVE", '.option("mode", "PERMISSIVE") helps', 'mode="PERMISSIVE" helps'),
        ("ignore_corrupt_files", "true", '.option("ignoreCorruptFiles", "true") helps', None),
        ("path_glob_filter", "PATTERN", '.option("pathGlobFilter", "PATTERN") helps', None),
        ("split_bytes", "0", '.option("splitBytes", "0") helps', None),
        ("compression", "none", '.option("compression", "none") helps', None),
        (
            "max_files_per_trigger",
            None,
            "a larger option maxFilesPerTrigger allows it, helps",
            None,
        ),
        ("on_error", "fail", None, None),
        ("skolemize", "IRI", None, None),
    ],
)
def test_remedies_name_stage_options(option, value, spark, function):
    remedy = Remedy("stage", option, value, "helps")
    assert remedy.render(render_for_spark) == spark
    assert remedy.render(render_for_function) == function


SPARK_OPTIONS = READING | FILES | STREAMING | WRITING | WRITE_ID


@pytest.mark.parametrize("name", STAGES)
def test_conversion_options_are_shown_if_spark_accepts_them(name):
    rendered = Remedy("stage", name, "1", "").render(render_for_spark)
    if rendered is not None:
        spark_name = rendered.split('"')[1]
        options = Options({spark_name: "1"})
        options.pop_texts(SPARK_OPTIONS)
        assert options.remaining == {}


@pytest.mark.parametrize("side", ["read", "write"])
@pytest.mark.parametrize("renderer", [render_for_spark, render_for_function])
def test_python_only_and_undeclared_options_are_omitted(side, renderer):
    assert Remedy(side, "batch_messages", "1", "").render(renderer) is None
    assert Remedy(side, "no_such_option", "1", "").render(renderer) is None
