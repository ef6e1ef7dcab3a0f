"""Chromium reads what `rdfm serve --http` sends: its pages, and events with EventSource.

The screenshots of the pages are in the folder `RDFM_SCREENSHOTS`, if it is set.
"""

import json
import os
from pathlib import Path

import devtools
import pytest
from live_logs import append
from web import send, site
from web_serve import serve_web

import rdfm

pytestmark = pytest.mark.peers

RUN = """axe.run().then(({ violations }) => {
  window.found = JSON.stringify(violations
    .map(({ id, nodes }) => [id, nodes.length, nodes[0].html, nodes[0].failureSummary]));
}); 0"""
LISTEN = """(() => {{
  window.found = [];
  window.source = new EventSource({url});
  source.addEventListener("rdf-message", (event) => found.push([event.data, event.lastEventId]));
}})()"""
LONG = "https://example.org/a/very/long/name/of/a/folder/" + "x" * 150
LOG = "# @message\n".join(
    f'<{LONG}{number}> <http://example.org/weight> "{number} é€😀" .\n' * (number % 3)
    for number in range(1, 47)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    (folder / "sensors.nq").write_text(LOG, "utf-8")
    (folder / f"{'a-long-name-' * 9}.ttl").write_text("<#s> <#p> <#o> .\n")
    (folder / "<b>R&D.nq").write_text("")
    (folder / "invalid.nq").write_text("oops\n")
    (folder / "2026").mkdir()
    rdfm.convert(LOG.encode(), folder / "2026/november.jelly.zst", from_format="nq")
    return folder


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with devtools.page(tmp_path_factory.mktemp("chromium")) as page:
        yield page


PAGES = (
    "/",
    "/sensors",
    "/sensors?from=0",
    "/2026/",
    "/2026/november",
    "/%3Cb%3ER%26D",
    "/invalid",
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_pages_are_accessible_and_fit_the_screen(folder, page, node_modules, scheme, width):
    axe = (node_modules / "axe-core/axe.min.js").read_text("utf-8")
    shots = os.environ.get("RDFM_SCREENSHOTS")
    with serve_web(folder) as server:
        page.set_screen(width, 800, scheme)
        for number, target in enumerate(PAGES):
            page.requests.clear()
            page.open(server.url + target)
            assert {url for url in page.requests if "favicon" not in url} == {server.url + target}
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            if shots is not None:
                page.take_screenshot(Path(shots) / f"{number}-{width}-{scheme}.png")
            page.evaluate(f"{axe}; 0")
            page.evaluate(RUN)
            assert json.loads(page.wait("window.found", 60)) == [], target


@pytest.mark.parametrize("format", ["nq", "jsonld"])
def test_event_source_receives_each_message_once(tmp_path, page, format):
    log = tmp_path / "logs/a.jelly"
    log.parent.mkdir()
    rdfm.convert(LOG.encode(), log, from_format="nq")
    with site() as web:
        start = web.on("/", send(200, b"<!DOCTYPE html>", Content_Type="text/html"))
        page.open(start)
        with serve_web(log.parent, cors=[web.url]) as server:
            url = f"{server.url}/a/events?format={format}"
            page.evaluate(LISTEN.format(url=json.dumps(url)))
            page.wait("found.length >= 46")
            append(log, [])
            page.wait("found.length >= 47")
        append(log, [], [])
        # The browser connects again, and sends the id of the last event.
        with serve_web(log.parent, cors=[web.url], http=server.port):
            page.wait("found.length >= 49")
            append(log, [])
            page.wait("found.length >= 50")
            events = page.evaluate("source.close(), found")
    assert [int(id.rpartition("-")[2]) for _, id in events] == list(range(50))
    with rdfm.open_log(str(log)) as stored:
        expected = [len(message) for message in stored]
    for (data, _), count in zip(events, expected, strict=True):
        if not count:
            assert data == ("{}" if format == "jsonld" else "")
        elif format == "nq":
            assert f"{LONG}" in data
        else:
            assert json.loads(data)["@id"].startswith(LONG)
