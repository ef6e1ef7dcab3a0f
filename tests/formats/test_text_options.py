"""Options passed as strings are converted according to their kind."""

import pytest

from rdfm import formats
from rdfm.errors import OptionError
from rdfm.formats import FormatSpec, OptionSpec

NQ = formats.nq.spec
JELLY = formats.jelly.spec


@pytest.mark.parametrize(
    ("side", "name", "text", "value"),
    [
        ("read", "delimited", "true", True),
        ("read", "delimited", " FALSE ", False),
        ("read", "max_message_bytes", "64K", 65536),
        ("read", "max_message_bytes", "3m", 3 << 20),
        ("read", "max_message_bytes", "1 GiB", 1 << 30),
        ("read", "frames", "Flat", "flat"),
        ("write", "logical_type", "flat-quads", "flat_quads"),
        ("write", "logical_type", "114", "timestamped_named_graphs"),
        ("write", "stream_name", " 7 ", " 7 "),
        ("write", "prefixes", '{"ex": "http://ex/"}', {"ex": "http://ex/"}),
    ],
)
def test_strings_are_converted_by_option_kind(side, name, text, value):
    assert JELLY.values(side, {name: text}) == {name: value}
    (formats.jelly.Decoder if side == "read" else formats.jelly.Encoder)(**{name: text})


@pytest.mark.parametrize(
    ("side", "name", "text"),
    [
        ("read", "delimited", "yes"),
        ("read", "delimited", "1"),
        ("read", "max_message_bytes", "-1"),
        ("read", "max_message_bytes", "1.5"),
        ("read", "max_message_bytes", "٣"),
        ("read", "max_message_bytes", ""),
        ("write", "prefixes", "ex=http://ex/"),
        ("write", "prefixes", '["ex"]'),
        ("write", "prefixes", '{"ex": 1}'),
    ],
)
def test_an_invalid_value_is_an_error_that_names_the_option(side, name, text):
    with pytest.raises(OptionError, match=f"^{name} must be .*, not "):
        JELLY.values(side, {name: text})


def test_the_error_for_an_unknown_option_lists_the_options():
    with pytest.raises(
        OptionError, match="no option 'parts'; the options for writing N-Quads are dialect, flat"
    ):
        NQ.values("write", {"parts": "true"})


def test_an_option_of_an_unknown_kind_is_rejected():
    with pytest.raises(
        OptionError, match="has the unknown kind 'flag'; the kinds are switch, count"
    ):
        OptionSpec("shout", "flag")
    with pytest.raises(OptionError, match="is not a valid option name"):
        OptionSpec("Shout")
    with pytest.raises(OptionError, match="is a choice, but has no choices"):
        OptionSpec("shout", "choice")
    with pytest.raises(OptionError, match="declares an option twice"):
        FormatSpec("x", "X", reads=[OptionSpec("shout"), OptionSpec("shout")])


def test_sizes_are_powers_of_1024():
    size = OptionSpec("size", "bytes").value
    assert [size(text) for text in ("0", "7", "7k", "7KB", "7 M", "7GiB")] == [
        0, 7, 7 << 10, 7 << 10, 7 << 20, 7 << 30,
    ]  # fmt: skip
