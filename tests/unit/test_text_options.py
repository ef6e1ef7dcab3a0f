"""Options given as text: names in any spelling, values by their kind."""

import pytest

from rdfm import formats
from rdfm.errors import OptionError
from rdfm.formats import Format
from rdfm.formats._options import from_text, size

NQ = formats.find("nq").FORMAT
JELLY = formats.find("jelly").FORMAT


@pytest.mark.parametrize("name", ["maxMessageBytes", "max_message_bytes", "maxmessagebytes"])
def test_a_name_is_compared_without_case_and_underscores(name):
    assert from_text(NQ, "decoder", {name: "1000"}) == {"max_message_bytes": 1000}


@pytest.mark.parametrize(
    ("codec", "name", "text", "value"),
    [
        ("decoder", "delimited", "true", True),
        ("decoder", "delimited", " FALSE ", False),
        ("decoder", "max_frame_bytes", "64K", 65536),
        ("decoder", "max_frame_bytes", "3m", 3 << 20),
        ("decoder", "max_frame_bytes", "1 GiB", 1 << 30),
        ("decoder", "frames", "flat", "flat"),
        ("encoder", "logical_type", "datasets", "datasets"),
        ("encoder", "logical_type", "114", "114"),
        ("encoder", "stream_name", " 7 ", " 7 "),
        ("encoder", "prefixes", '{"ex": "http://ex/"}', {"ex": "http://ex/"}),
    ],
)
def test_a_value_is_converted_by_its_kind_and_fits_the_codec(codec, name, text, value):
    options = from_text(JELLY, codec, {name.upper(): text})
    assert options == {name: value}
    module = formats.find("jelly")
    (module.Decoder if codec == "decoder" else module.Encoder)(**options)


@pytest.mark.parametrize(
    ("codec", "name", "text"),
    [
        ("decoder", "delimited", "yes"),
        ("decoder", "delimited", "1"),
        ("decoder", "max_frame_bytes", "-1"),
        ("decoder", "max_frame_bytes", "1.5"),
        ("decoder", "max_frame_bytes", "٣"),
        ("decoder", "max_frame_bytes", ""),
        ("encoder", "prefixes", "ex=http://ex/"),
        ("encoder", "prefixes", '["ex"]'),
        ("encoder", "prefixes", '{"ex": 1}'),
    ],
)
def test_a_value_that_does_not_fit_is_an_error_that_names_the_option(codec, name, text):
    with pytest.raises(OptionError, match=f"^{name} is .*not '"):
        from_text(JELLY, codec, {name.replace("_", ""): text})


def test_an_unknown_option_is_an_error_that_lists_the_known_ones():
    with pytest.raises(OptionError, match=r"no option 'maxmesagebytes'; known: announced, .*parts"):
        from_text(NQ, "decoder", {"maxmesagebytes": "1"})
    with pytest.raises(OptionError, match="encoder has no option 'parts'"):
        from_text(NQ, "encoder", {"parts": "true"})


def test_an_option_in_two_spellings_is_an_error():
    with pytest.raises(OptionError, match="max_depth is given twice"):
        from_text(NQ, "decoder", {"max_depth": "1", "maxDepth": "1"})


def test_bare_names_are_options_of_text():
    format = Format("x", "X", decode_options=frozenset({"shout"}))
    assert format.decode_options == {"shout": "text"}
    assert from_text(format, "decoder", {"Shout": "loud"}) == {"shout": "loud"}


def test_a_format_of_an_unknown_kind_of_option_is_refused():
    with pytest.raises(OptionError, match="of the kind 'flag'; kinds are switch, number"):
        Format("x", "X", encode_options={"shout": "flag"})


def test_sizes_are_powers_of_1024():
    assert [size(text) for text in ("0", "7", "7k", "7KB", "7 M", "7GiB")] == [
        0, 7, 7 << 10, 7 << 10, 7 << 20, 7 << 30,
    ]  # fmt: skip
