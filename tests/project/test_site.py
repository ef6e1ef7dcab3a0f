"""The site of the docs is complete, and works from files without a network."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools/site"))

import charts
import devtools
import make_targets
import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build/site"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    # A build fails if a link or an anchor has no target.
    make_targets.make("site")


def test_every_page_is_in_the_site():
    pages = {page.relative_to(ROOT / "docs") for page in ROOT.glob("docs/**/*.md")}
    assert all((SITE / page.with_suffix(".html")).exists() for page in pages)
    assert "rdfm convert" in (SITE / "reference-commands.html").read_text("utf-8")
    assert "open_log" in (SITE / "reference-python.html").read_text("utf-8")


def test_pages_load_nothing_from_elsewhere():
    loading = re.compile(
        r"<(?:script|img|iframe)[^>]* src=\"?(https?:)?//|<link[^>]*stylesheet[^>]*http"
    )
    assert [page for page in SITE.rglob("*.html") if loading.search(page.read_text("utf-8"))] == []


def test_the_search_finds_a_page_without_a_server_or_network(tmp_path):
    with devtools.page(tmp_path) as page:
        page.open((SITE / "index.html").as_uri())
        page.evaluate("document.querySelector('[data-md-toggle=search]').click()")
        page.evaluate(
            "(() => { const query = document.querySelector('[data-md-component=search-query]');"
            " query.focus(); query.value = 'trusty';"
            " query.dispatchEvent(new KeyboardEvent('keyup', {key: 'y', bubbles: true})); })()"
        )
        found = page.wait(
            "[...document.querySelectorAll('.md-search-result__link')].map(e => e.href).join(' ')"
        )
        assert "nanopub-check.html" in found
        page.open((SITE / "formats/jelly.html").as_uri())
        assert page.requests
        local = ("file:", "data:", "blob:", "about:")
        assert [url for url in page.requests if not url.startswith(local)] == []


def test_charts_have_the_figures_of_their_tables():
    page = (ROOT / "docs/performance.md").read_text("utf-8")
    tables = charts.TABLE.findall(page)
    assert len(tables) > 3
    assert charts.with_charts(page).count("<svg") == len(tables)
    for table in tables:
        rows = charts.comparisons(table)
        assert len(rows) == table.count("\n") - 2
        svg = ElementTree.fromstring(charts.chart(rows))
        texts = [text.text for text in svg.iter("text")]
        assert texts[::3] == [row.task for row in rows]
        assert texts[1] == f"{rows[0].rate:g} rdfm"
        lengths = [float(bar.get("width")) for bar in svg.iter("rect")]
        assert lengths[0] / max(lengths) == pytest.approx(
            rows[0].rate / max(max(row.rate, row.other_rate) for row in rows), abs=0.01
        )


def test_the_first_page_has_the_figures_of_the_benchmark():
    page = (SITE / "index.html").read_text("utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    for row in re.findall(r"^\| ((?:read|write) .*) \|$", readme, re.MULTILINE):
        task, rate, library, other, _ = (cell.strip() for cell in row.split("|"))
        cells = (task, rate, f"{library} {other}")
        assert "\n".join(f"<td>{text}</td>" for text in cells) in page
