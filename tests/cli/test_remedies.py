"""Remedies on the command line: each flag that they name is a flag of `convert`."""

import click
import pytest

from rdfm import formats
from rdfm.cli.app import app
from rdfm.cli.cli_remedies import render_for_command_line
from rdfm.conversion.convert_options import STAGES
from rdfm.errors import Remedy

COMMAND = app.get_command(None, "convert")
FLAGS = {
    flag
    for option in COMMAND.get_params(click.Context(COMMAND))
    for flag in (*option.opts, *option.secondary_opts)
}
OPTIONS = {
    (side, name): option
    for side in ("read", "write")
    for format in formats.built_in()
    for name, option in format.spec.options(side).items()
} | {("stage", name): option for name, option in STAGES.items()}


@pytest.mark.parametrize(("side", "name"), OPTIONS, ids=[" ".join(key) for key in OPTIONS])
def test_each_option_has_a_flag_unless_it_is_python_only(side, name):
    option = OPTIONS[side, name]
    flag = Remedy(side, name, "true", "").render(render_for_command_line)
    negative_flag = Remedy(side, name, "false", "").render(render_for_command_line)
    if option.python_only:
        assert (flag, negative_flag) == (None, None)
        return
    assert flag.strip() in FLAGS
    assert (negative_flag is None) == (not option.off)
    assert negative_flag is None or negative_flag.strip() in FLAGS


@pytest.mark.parametrize(
    ("remedy", "expected"),
    [
        (Remedy("read", "from_base", "IRI", "helps"), "--from-base IRI helps"),
        (Remedy("write", "to_delimited", "false", "helps"), "--to-undelimited helps"),
        (Remedy("stage", "mode", "PERMISSIVE", "helps"), None),
        (Remedy("read", "no_such_option", "true", "helps"), None),
    ],
    ids=lambda value: value.option if isinstance(value, Remedy) else "",
)
def test_a_remedy_without_a_flag_is_not_rendered(remedy, expected):
    assert remedy.render(render_for_command_line) == expected
