"""Spark options: declarations, and spellings of their names."""

from datetime import UTC, datetime

import pytest

from rdfm import formats
from rdfm.errors import OptionError
from rdfm.formats.options_generated import RESERVED
from rdfm.spark.spark_options import (
    FILE_SOURCE,
    FILES,
    READING,
    STREAMING,
    WRITE_ID,
    WRITING,
    Options,
    camel_case,
)

NQ = formats.nq.spec
GROUPS = {
    "reading": READING,
    "files": FILES,
    "streaming": STREAMING,
    "writing": WRITING,
    "write id": WRITE_ID,
}
SPARK_OPTIONS = [(name, spec) for specs in GROUPS.values() for name, spec in specs.items()]


@pytest.mark.parametrize("name", ["maxMessageBytes", "max_message_bytes", "maxmessagebytes"])
def test_case_and_underscores_in_names_are_ignored(name):
    assert Options({name: "1000"}).pop_format_options([NQ], "read") == {"max_message_bytes": 1000}


def test_the_error_for_an_unknown_option_suggests_a_similar_name():
    with pytest.raises(
        OptionError, match=r"no option 'maxmesagebytes'; did you mean maxMessageBytes"
    ):
        Options({"maxmesagebytes": "1"}).pop_format_options([NQ], "read")


def test_an_option_in_two_spellings_is_an_error():
    with pytest.raises(OptionError, match="maxDepth is given twice"):
        Options({"max_depth": "1", "maxDepth": "1"})


def _take(name, spec, text):
    return Options({name: text}).pop_values({name: spec})[name]


@pytest.mark.parametrize(("name", "spec"), SPARK_OPTIONS, ids=[name for name, _ in SPARK_OPTIONS])
def test_a_default_passed_as_a_string_equals_the_default(name, spec):
    default = Options({}).pop_values({name: spec})[name]
    assert default == spec.default
    if default is not None:
        assert _take(name, spec, str(default).lower()) == default or spec.kind == "text"


CHECKED_OPTIONS = [(name, spec) for name, spec in SPARK_OPTIONS if spec.kind != "text"]


@pytest.mark.parametrize(
    ("name", "spec"), CHECKED_OPTIONS, ids=[name for name, _ in CHECKED_OPTIONS]
)
def test_errors_about_invalid_values_use_spark_names(name, spec):
    with pytest.raises(OptionError, match=f"the option {camel_case(name)} (is|must be) "):
        _take(name, spec, "-x")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("mode", "dropmalformed", "DROPMALFORMED"),
        ("compression", "GZIP", "gzip"),
        ("ignore_missing_files", "TRUE", True),
        ("storage_options", '{"anon": true}', {"anon": True}),
        ("split_bytes", "16m", 16 << 20),
        ("modified_after", "2026-06-01T13:00:00", datetime(2026, 6, 1, 13, tzinfo=UTC)),
        ("modified_after", "2026-06-01T15:00:00+02:00", datetime(2026, 6, 1, 13, tzinfo=UTC)),
    ],
)
def test_values_are_parsed_from_strings(name, text, value):
    assert _take(name, (READING | FILES)[name], text) == value


def test_a_compression_level_is_only_valid_for_writing():
    assert _take("compression", WRITING["compression"], "zstd:19") == "zstd:19"
    with pytest.raises(OptionError, match="the option compression must be one of 'auto', "):
        _take("compression", READING["compression"], "zstd:19")


def test_options_that_may_contain_credentials_are_not_shown():
    with pytest.raises(OptionError) as caught:
        _take("storage_options", READING["storage_options"], "secret")
    assert "secret" not in str(caught.value)


def test_spark_option_names_are_reserved():
    assert {*dict(SPARK_OPTIONS), *FILE_SOURCE} <= RESERVED
