"""HTML reports are self-contained, escape markup from logs, and fit the width of a browser."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from browser import render_page

import rdfm
from rdfm.analysis.statistics import Distinct

MARKUP = "<script>alert(1)</script>\"'&<img src=http://evil.example/x>"

LOG = "".join(
    f"<http://example.org/thing/{number}> <http://example.org/ns#p{number % 7}>"
    f' "{number}"@en-{number % 30} <http://example.org/g> .\n'
    + ("# @message\n" if number % (1 + number % 9) == 0 else "")
    for number in range(2000)
)
LONG = "http://example.org/" + "x" * 3000


def page_of(text: str = LOG, format: str = "nq") -> str:
    return rdfm.statistics(text.encode(), format).to_html()


class Checker(HTMLParser):
    """Collects open elements, the names of all elements, and links."""

    VOID = ("meta", "link", "rect", "line")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [
            value or "" for name, value in attrs if name in ("src", "href", "xlink:href")
        ]
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in self.VOID or (tag == "rect" and self.get_starttag_text()[-2] != "/"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (LOG, "nq"),
        ("", "nq"),
        ("<urn:s> oops", "nq"),
        ("TX .\nA <urn:s> <urn:p> <urn:o> .\nTC .\n", "rdf-patch"),
        ("?a\t?b\n<urn:s>\t1\n", "results-tsv"),
    ],
)
def test_a_page_is_well_formed_and_self_contained(text, format):
    page = page_of(text, format)
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert checker.tags.isdisjoint({"script", "img", "iframe", "object", "embed", "audio", "video"})
    assert checker.links == ["data:,"]
    assert not re.search(r"url\(|@import", page)
    assert "None" not in page
    assert "nan" not in page


def test_text_from_logs_is_escaped(tmp_path):
    path = tmp_path / "<b>&.srj"
    path.write_text("x")
    cells = [rdfm.Literal(MARKUP, language="en"), rdfm.Literal("x", datatype=f"urn:{MARKUP}")]
    with rdfm.create_log(path, kind="results", variables=[MARKUP, "b"]) as out:
        out.write(cells)
    page = rdfm.statistics(path).to_html()
    assert "<script" not in page
    assert "<img" not in page
    assert "<b>&.srj" not in page
    assert "&lt;script&gt;" in page
    assert "&lt;b&gt;&amp;.srj" in page


def test_direction_overrides_are_shown_as_replacement_characters():
    page = page_of("<urn:s> <urn:p\u202ereversed> <urn:o> .")
    assert "\u202e" not in page
    assert "urn:p\N{REPLACEMENT CHARACTER}reversed" in page


def test_notebooks_embed_a_fragment():
    html = rdfm.statistics(LOG.encode(), "nq")._repr_html_()
    assert html.startswith("<style>")
    assert html.rstrip().endswith("</main>")
    assert "<html" not in html
    # No CSS rule applies to the rest of the notebook.
    rules = re.findall(r"([^{}]+)\{", re.search(r"<style>(.*?)</style>", html, re.S)[1])
    selectors = [part.strip() for rule in rules for part in rule.split(",") if "@media" not in rule]
    assert all(selector.startswith(".rdfm-stats") for selector in selectors)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1100])
def test_a_page_fits_the_width_of_a_browser(tmp_path, width, dark):
    text = LOG + f"<{LONG}> <{LONG}> <{LONG}> <urn:{'y' * 900}> .\n"
    found = render_page(page_of(text), tmp_path, width=width, dark=dark)
    assert found["console"] == []
    assert found["resources"] == []
    assert found["scripts"] == 0
    assert found["width"] <= width
    assert found["widest"] <= width
    assert found["charts"] > 10
    assert "2,001" in found["text"]
    assert "Predicates" in found["text"]
    channels = [list(map(int, re.findall(r"\d+", found[name])[:3])) for name in ("ink", "card")]
    ink, card = (sum(channel) / 3 for channel in channels)
    assert (ink > card) == dark
    assert abs(ink - card) > 120


def in_notebook(found):
    """Returns a notebook cell with its own styles, which allow line breaks anywhere."""
    return (
        "<!DOCTYPE html><html><head><style>"
        ".cell { font: 14px sans-serif; margin-left: 90px; overflow-wrap: anywhere; word-break: break-all }"
        f"</style></head><body><div class='cell'>{found._repr_html_()}</div></body></html>"
    )


@pytest.mark.parametrize(
    ("width", "exponent"), [(320, 5), (320, 13), (600, 8), (1200, 5), (1200, 13)]
)
def test_numbers_are_not_wrapped(tmp_path, width, exponent):
    found = rdfm.statistics(LOG.encode(), "nq")
    number = 68 * 10 ** (exponent - 1)
    large_report = replace(
        found,
        messages=number,
        quads=number,
        distinct={name: Distinct(number, number - 1, number + 1) for name in found.distinct},
        predicates=replace(found.predicates, counts={"urn:p": number}),
    )
    for page in (large_report.to_html(), *([in_notebook(large_report)] if width >= 600 else [])):
        layout = render_page(page, tmp_path, width=width)
        assert f"{number:,}" in layout["text"]
        assert layout["wrapped"] == []
        assert layout["widest"] <= width


def test_a_browser_shows_errors_and_empty_logs(tmp_path):
    found = render_page(page_of("<urn:s> oops"), tmp_path, width=360)
    assert "Reading stopped at the first error" in found["text"]
    assert found["console"] == []
    assert found["width"] <= 360
