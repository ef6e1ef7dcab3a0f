"""Each option is accepted by its formats in Python, on the command line and in Spark.

Other formats reject it.
"""

import io
import re

import click
import pytest
from support import option_text

import rdfm
from rdfm import OptionError, formats
from rdfm.cli.cli_remedies import on_command_line
from rdfm.cli.convert import command
from rdfm.cli.parameters import COMPLETE
from rdfm.cli.run import run
from rdfm.cli.specs import given
from rdfm.errors import render
from rdfm.spark.spark_options import Options

SIDES = ("read", "write")
ALL_OPTIONS = [
    pytest.param(format.spec, side, option, id=f"{format.name}-{side}-{option.name}")
    for format in formats.built_in()
    for side in SIDES
    for option in format.spec.options(side).values()
]


def arguments_of(option, side):
    """Returns the command-line arguments that set the option for one side."""
    flag = f"--{'from' if side == 'read' else 'to'}-{option.option}"
    if option.kind == "switch":
        return [flag]
    if option.kind == "namespaces":
        return [flag, "ex=http://e/"]
    return [flag, "http://e/=f" if option.kind == "files" else option_text(option)]


def format_without(side, name):
    """Returns a format that does not support the option."""
    return next((each for each in formats.built_in() if name not in each.spec.options(side)), None)


@pytest.mark.parametrize(("spec", "side", "option"), ALL_OPTIONS)
def test_python_accepts_options_as_strings_and_as_values(spec, side, option):
    (value,) = spec.values(side, {option.name: option_text(option)}).values()
    assert spec.values(side, {option.name: value}) == {option.name: value}
    if option.kind != "log":
        format = formats.find(spec.name)
        (format.Decoder if side == "read" else format.Encoder)(**{option.name: value})


@pytest.mark.parametrize(("spec", "side", "option"), ALL_OPTIONS)
def test_spark_accepts_options_in_any_spelling(spec, side, option):
    if option.python_only:
        pytest.skip("only available in Python")
    camel = re.sub("_(.)", lambda found: found[1].upper(), option.name)
    for name in (option.name, camel, camel.lower()):
        values = Options({name: option_text(option)}).pop_format_options([spec], side)
        assert values == spec.values(side, {option.name: option_text(option)})


@pytest.mark.parametrize(("spec", "side", "option"), ALL_OPTIONS)
def test_the_command_line_accepts_options_with_and_without_a_side(spec, side, option):
    if option.python_only:
        pytest.skip("only available in Python")
    arguments = arguments_of(option, side)
    for flag, name in (
        (arguments[0], f"{'from' if side == 'read' else 'to'}_{option.name}"),
        (f"--{option.option}", option.name),
    ):
        context = command.make_context("convert", ["a", "b", flag, *arguments[1:]])
        found = given({key: context.params[key] for key in context.params if key == name})
        assert list(found) == [name]
        assert spec.values(side, {option.name: found[name]})


@pytest.mark.parametrize(("spec", "side", "option"), ALL_OPTIONS)
def test_formats_without_an_option_reject_it_in_the_same_words(
    spec, side, option, capsys, tmp_path, monkeypatch
):
    other = format_without(side, option.name)
    if other is None:
        pytest.skip("every format supports it")
    sentence = str(OptionError(other.spec.unsupported_option_text(side, option.name)))
    assert spec.title in sentence
    codec = other.Decoder if side == "read" else other.Encoder
    with pytest.raises(OptionError, match=f"^{re.escape(sentence)}$"):
        codec(**{option.name: option_text(option)})
    if side == "read" and option.hint:
        return  # a hint, which conversions ignore
    argument = f"{'from' if side == 'read' else 'to'}_{option.name}"
    format_names = (other.name, "nq") if side == "read" else ("nq", other.name)
    with pytest.raises(OptionError, match=f"^{re.escape(sentence)}$"):
        rdfm.convert(
            b"",
            io.BytesIO(),
            from_format=format_names[0],
            to=format_names[1],
            **{argument: option_text(option)},
        )
    if option.python_only:
        return
    with pytest.raises(OptionError, match=f"^{re.escape(sentence)}$"):
        Options({option.name: option_text(option)}).pop_format_options([other.spec], side)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").write_bytes(b"")
    arguments = arguments_of(option, side)
    assert (
        run(
            ["convert", "in", "out", "--from", format_names[0], "--to", format_names[1], *arguments]
        )
        == 2
    )
    expected = render(
        OptionError(other.spec.unsupported_option_text(side, option.name)), on_command_line
    )
    assert capsys.readouterr().err == f"rdfm: error: {expected}\n"


def test_the_error_for_an_option_for_the_other_side_names_that_side():
    reason = r"^the option version_label is for writing N-Triples, .* and TriG, not for reading$"
    with pytest.raises(OptionError, match=reason):
        rdfm.open_log(b"", "nq", version_label="1.2-messages")
    with pytest.raises(OptionError, match=reason):
        rdfm.convert(
            b"", io.BytesIO(), from_format="nq", to="nq", from_version_label="1.2-messages"
        )
    with pytest.raises(OptionError, match=r"^the option base is for reading .*, not for writing$"):
        rdfm.create_log(io.BytesIO(), "jelly", base="http://e/")


def test_a_conversion_ignores_hints_for_other_formats():
    found = {
        name for spec in formats.specs() for name, each in spec.options("read").items() if each.hint
    }
    assert found == {"dialect", "frames"}
    format_names = {"from_format": "ndjsonld", "to": "nq"}
    rdfm.convert(b"", io.BytesIO(), from_dialect="directive", from_frames="flat", **format_names)
    with pytest.raises(OptionError, match=r"^dialect must be one of"):
        rdfm.convert(b"", io.BytesIO(), from_dialect="loud", **format_names)
    for name in found:
        with pytest.raises(OptionError, match=f"^the option {name} is for reading"):
            rdfm.open_log(b"", "ndjsonld", **{name: "flat"})


def test_options_have_the_same_kind_in_every_format():
    for side in SIDES:
        found = {}
        for spec in formats.specs():
            for name, option in spec.options(side).items():
                assert found.setdefault(name, option).kind == option.kind, (spec.name, name)


def test_help_lists_every_option_once_under_its_heading():
    context = click.Context(command, info_name="convert")
    context.meta[COMPLETE] = True
    text = command.get_help(context)
    for spec in formats.specs():
        for side in SIDES:
            for option in spec.options(side).values():
                assert option.python_only or f"-{option.option}" in text, option.name
