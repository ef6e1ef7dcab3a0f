"""The site of the docs is complete, and works from files without a network."""

from __future__ import annotations

import re
from pathlib import Path

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
