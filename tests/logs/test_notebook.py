"""Results in notebooks: tables and short texts of bounded size."""

import io
import re
from dataclasses import fields

import pytest

import rdfm
from rdfm.conversion.summary import ConversionSummary

EVIL = "<script>alert(1)</script>\u202e\x07&"
LOG = b'<x:a> <x:p> 1 .\n# @message\n<x:b> <x:p> "<b>" .\n'


def check(html):
    """Checks the size, and that the data adds neither elements nor styles."""
    assert len(html) < 200_000
    tags = set(re.findall(r"</?([a-z]+)", html))
    assert tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "br", "p"}
    assert not re.search(r"<[a-z]+ ", html)  # no attributes, so the notebook decides about colors
    assert "\u202e" not in html
    assert "\x07" not in html


def check_line(text):
    assert len(text) < 350
    assert text.startswith("<")
    assert text.endswith(">")
    assert text.isprintable()


def large(result):
    """Replaces all texts and collections of a result by large ones with markup."""
    for field in fields(result):
        value = getattr(result, field.name)
        if isinstance(value, str):
            object.__setattr__(result, field.name, (EVIL + "\n") * 1000)
        elif isinstance(value, dict):
            object.__setattr__(result, field.name, {EVIL + str(at): at for at in range(5000)})
        elif isinstance(value, tuple) and field.name not in ("counters", "quads_per_message"):
            object.__setattr__(result, field.name, (EVIL * 1000,) * 5000)
        elif isinstance(value, int) and not isinstance(value, bool):
            object.__setattr__(result, field.name, 10**15)
    return result


@pytest.fixture
def logs(tmp_path):
    one, other = tmp_path / "a.trig", tmp_path / "b.trig"
    one.write_bytes(LOG)
    other.write_bytes(LOG.replace(b"1 .", b"2 ."))
    return one, other


def test_an_inspection_is_a_line_and_a_table():
    report = rdfm.inspect(LOG, "trig")
    assert repr(report) == "<Inspection of bytes: trig, 2 messages, 2 quads>"
    html = report._repr_html_()
    check(html)
    assert "<tr><th>messages</th><td>2</td></tr>" in html
    report = large(report)
    check(report._repr_html_())
    check_line(repr(report))


def test_statistics_are_a_line():
    assert repr(rdfm.statistics(LOG, format="trig")) == (
        "<Statistics of bytes: trig, 2 messages, 2 quads>"
    )


def test_a_summary_is_a_line_and_a_table():
    summary = rdfm.convert(LOG, io.BytesIO(), from_format="trig", to="nt")
    assert repr(summary).startswith("<ConversionSummary: 2 messages, 2 quads, 47 bytes to ")
    check(summary._repr_html_())
    assert "<th>quads</th><td>2</td>" in summary._repr_html_()
    huge = large(ConversionSummary(1, 1, 1, 1, 1.0, skipped=1, dropped={"keys": 1}, errors=("x",)))
    check(huge._repr_html_())
    check_line(repr(huge))


def test_a_difference_is_a_line_and_tables(logs):
    difference = rdfm.diff(*logs)
    assert re.fullmatch(
        r"<LogDiff of \S+a\.trig and \S+b\.trig: 1 equal, 1 changed>", repr(difference)
    )
    html = difference._repr_html_()
    check(html)
    assert "&lt;x:a&gt; &lt;x:p&gt; &quot;2&quot;" in html
    same = rdfm.diff(logs[0], logs[0])
    assert "the logs are the same" in same._repr_html_()
    difference.differences[:] = [large(each) for each in difference.differences] * 1000
    check(large(difference)._repr_html_())
    check_line(repr(difference))


def test_solutions_show_the_rows_that_are_buffered_and_read_nothing(logs):
    many = "".join(f'<x:{at}> <x:p> "<b>{at}" .\n' for at in range(100)).encode()
    solutions = rdfm.select("SELECT ?s ?o { ?s ?p ?o }", many, format="nq", types="auto")
    before = solutions._repr_html_()
    check(before)
    assert "not read" in before
    assert "x:0" not in before
    assert solutions.schema.names == ["source", "message_index", "s", "o"]
    html = solutions._repr_html_()
    check(html)
    assert html.count("<tr>") == 21
    assert "&lt;b&gt;0" in html
    assert solutions._repr_html_() == html
    assert solutions.to_arrow().num_rows == 100
    check(solutions._repr_html_())
