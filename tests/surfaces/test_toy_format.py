"""A format with two options, declared once, is available in every surface."""

import io
import json
import re
from pathlib import Path

import click
import pytest

import rdfm
from rdfm import MessageBatch, OptionError, Quad, decode_values, encode_values, formats, parse_term
from rdfm.cli.cli_remedies import on_command_line
from rdfm.cli.convert import command
from rdfm.cli.parameters import COMPLETE
from rdfm.cli.run import run
from rdfm.errors import Remedy
from rdfm.formats import FormatSpec, OptionSpec
from rdfm.spark.spark_options import Options
from rdfm.spark.spark_remedies import render_for_spark


class Decoder(formats.Decoder):
    """Reads one message per line: the terms of its only quad, with a separator between them."""

    def __init__(self, *, between=" "):
        self.between = between
        self.reset()

    def reset(self):
        self.rest = ""

    def feed(self, piece):
        self.rest += bytes(piece).decode()

    def finish(self):
        pass

    def next_batch(self):
        if "\n" not in self.rest:
            return None
        line, _, self.rest = self.rest.partition("\n")
        terms = [parse_term(term) for term in line.split(self.between)]
        return MessageBatch.from_messages([[Quad(*terms)]])


class Encoder(formats.Encoder):
    """Writes each quad as a line, which may be repeated."""

    def __init__(self, *, between=" ", times=1):
        self.between, self.times = between, times

    def reset(self):
        pass

    def encode(self, batch, source=None):
        lines = [
            self.between.join(str(term) for term in list(quad)[:3]) for m in batch for quad in m
        ]
        return "".join(f"{line}\n" * self.times for line in lines).encode()

    def finish(self):
        return b""


BETWEEN = OptionSpec("between", "text", "Separator of terms.", default=" ", group="Toy")
TIMES = OptionSpec(
    "times", "count", "How often a message is written.", minimum=1, maximum=9, group="Toy"
)
TOY = formats.Format(
    FormatSpec(
        "toy",
        "Toy",
        suffixes=(".toy",),
        sniff=lambda head, _: head.startswith(b"toy"),
        carries={"graphs": False, "boundaries": True},
        reads=[BETWEEN],
        writes=[BETWEEN, TIMES],
    ),
    Decoder,
    Encoder,
)
QUAD = b"<http://e/s> <http://e/p> <http://e/o> .\n"
LINE = "<http://e/s>;<http://e/p>;<http://e/o>\n"


@pytest.fixture(autouse=True)
def registered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    formats.register(TOY)
    yield
    formats.unregister("toy")


def test_the_registry_contains_the_format():
    assert formats.names()[-1] == "toy"
    assert formats.toy is formats.find(".toy") is formats.by_path("a.toy") is TOY
    assert formats.by_content(b"toy") is TOY


def test_python_functions_accept_the_options():
    with rdfm.create_log("a.toy", between=";", times="2") as log:
        log.write_batch(formats.nq.decode(QUAD))
    assert Path("a.toy").read_text() == LINE * 2
    assert len(list(rdfm.open_log("a.toy", between=";"))) == 2
    assert rdfm.inspect("a.toy", between=";").messages == 2
    with pytest.raises(OptionError, match="times must be a number from 1 to 9, not 10"):
        rdfm.create_log("b.toy", times=10)


def test_a_conversion_distinguishes_options_of_input_and_output():
    summary = rdfm.convert(QUAD, "a.toy", from_format="nq", between=";", times=2)
    assert summary.messages == 1
    with pytest.raises(OptionError, match='from_between=";" applies to the input, or to_between'):
        rdfm.convert("a.toy", "b.toy", between=";")
    rdfm.convert("a.toy", "b.toy", from_between=";", to_between="  ")
    out = io.BytesIO()
    rdfm.convert("a.toy", out, to="nq", between=";", to_dialect="directive")
    assert out.getvalue() == b'VERSION "1.2-messages"\n' + QUAD + b"MESSAGE\n" + QUAD
    with pytest.raises(OptionError, match="the option times is for writing Toy, not N-Quads"):
        rdfm.convert("a.toy", out, to="nq", times=2)


def test_the_command_line_has_the_options(capsys):
    Path("a.nq").write_bytes(QUAD)
    assert run(["convert", "a.nq", "a.toy", "--between", ";", "--times", "2"]) == 0
    assert run(["convert", "a.toy", "b.toy", "--from-between", ";", "--to-times", "3", "-q"]) == 0
    assert Path("b.toy").read_text() == LINE.replace(";", " ") * 6
    assert run(["inspect", "a.toy", "--between", ";", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["messages"] == 2
    assert run(["convert", "a.toy", "c.toy", "--between", ";"]) == 2
    reason = "--from-between ; applies to the input, or --to-between ; applies to the output"
    assert reason in capsys.readouterr().err
    assert run(["formats"]) == 0
    assert re.search(r"^toy +Toy +yes +yes", capsys.readouterr().out, re.M)
    context = click.Context(command, info_name="convert")
    context.meta[COMPLETE] = True
    help = command.get_help(context)
    toy = help[help.index("Toy:") :]
    for flag in ("--from-between TEXT", "--to-between TEXT", "--times N"):
        assert flag in toy


def test_spark_has_the_options():
    assert Options({"Between": ";"}).pop_format_options(formats.specs(), "read") == {"between": ";"}
    assert Options({"times": "3"}).pop_format_options([TOY.spec], "write") == {"times": 3}
    with pytest.raises(OptionError, match="the option times is for writing Toy, not N-Quads"):
        Options({"times": "3"}).pop_format_options([formats.nq.spec], "write")


def test_remedies_name_the_options():
    between = Remedy("read", "between", "TEXT", "helps")
    assert [between.render(renderer) for renderer in (None, on_command_line, render_for_spark)] == [
        "between=TEXT helps",
        "--from-between TEXT helps",
        '.option("between", "TEXT") helps',
    ]
    times = Remedy("write", "times", None, "")
    assert times.render(on_command_line) == "a larger --times allows it"


def test_value_functions_accept_the_options():
    pa = pytest.importorskip("pyarrow")
    quads = decode_values("toy", pa.array([LINE.encode()]), between=";")
    assert pa.array(encode_values("toy", quads, times=2)).to_pylist() == [
        LINE.replace(";", " ").encode() * 2
    ]
