"""Remedies as Spark's users write them: its own options, and those of conversions that it has."""

import pytest

from rdfm.conversion.options import STAGES
from rdfm.errors import Remedy
from rdfm.spark.options import FILES, READING, STREAMING, WRITE_ID, WRITING, Options


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
def test_options_that_are_no_formats(option, value, spark, function):
    remedy = Remedy("stage", option, value, "helps")
    assert remedy.shown("spark") == spark
    assert remedy.shown("function") == function


OWN = READING | FILES | STREAMING | WRITING | WRITE_ID


@pytest.mark.parametrize("name", STAGES)
def test_an_option_of_a_conversion_is_shown_if_spark_takes_what_is_shown(name):
    shown = Remedy("stage", name, "1", "").shown("spark")
    if shown is not None:
        written = shown.split('"')[1]
        given = Options({written: "1"})
        given.texts(OWN)
        assert given.rest == {}


@pytest.mark.parametrize("side", ["read", "write"])
@pytest.mark.parametrize("surface", ["spark", "function"])
def test_options_of_programs_in_python_alone_and_those_that_nobody_declares_are_left_out(
    side, surface
):
    assert Remedy(side, "batch_bytes", "1", "").shown(surface) is None
    assert Remedy(side, "no_such_option", "1", "").shown(surface) is None
