"""axe-core finds no serious accessibility error on any page of the site, in light and dark colours."""

import json
from pathlib import Path

import devtools
import make_targets
import pytest

pytestmark = pytest.mark.peers

SITE = Path(__file__).resolve().parents[2] / "build/site"
PREPARE = """(() => {{
  document.body.setAttribute("data-md-color-scheme", "{scheme}");
  const style = document.createElement("style");
  style.textContent = "* {{ transition: none !important }}";
  document.head.append(style);
}})()"""
RUN = """axe.run().then(({ violations }) => {
  window.found = JSON.stringify(violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => [id, nodes.length, nodes[0].html, nodes[0].failureSummary]));
}); 0"""


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_pages_are_accessible(scheme, node_modules, tmp_path):
    make_targets.make("site")
    axe = (node_modules / "axe-core/axe.min.js").read_text("utf-8")
    # A server sends the page 404, whose links are absolute.
    pages = sorted(set(SITE.rglob("*.html")) - {SITE / "404.html"})
    assert len(pages) > 40
    with devtools.page(tmp_path) as page:
        for path in pages:
            page.open(path.as_uri())
            page.evaluate(PREPARE.format(scheme=scheme))
            page.evaluate(f"{axe}; 0")
            page.evaluate(RUN)
            found = page.wait("window.found", 60)
            assert json.loads(found) == [], path.name
