"""The pages of the HTTP server for browsers."""

import re
import subprocess
from html import unescape
from html.parser import HTMLParser

import pytest
from browser import chromium
from live_logs import append
from web_serve import serve_web

from rdfm.live import topics, web_pages

pytestmark = pytest.mark.slow

HTML = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
EVIL = "<script>alert(1)</script>&\"'"
A = '<http://e/s> <http://e/p> "a" .\n'


def numbered(count):
    return "# @message\n".join(f'<http://e/s> <http://e/p> "{n}" .\n' for n in range(count))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    (folder / "birds.nq").write_text(numbered(45))
    (folder / "birds.ttl").write_text(A)
    (folder / f"{EVIL.replace('/', '')}.nq").write_text(A)
    (folder / "text.nq").write_text(
        '<http://e/s> <http://e/p> "<script>\\u202Ealert(1)</script>" .\n'
    )
    (folder / "sub folder").mkdir()
    (folder / "sub folder/x.nq.gz").write_bytes(b"")
    (folder / ".hidden.nq").write_text(A)
    (folder / "note.txt").write_text("no log")
    (folder / "outside.nq").symlink_to(folder.parent / "outside.nq")
    (folder.parent / "outside.nq").write_text(A)
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with serve_web(folder) as server:
        yield server


class _Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.tags = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("href", "src")]


def page(server, target, **headers):
    reply = server.get(target, Accept=HTML, **headers)
    assert reply.status == 200, reply.text
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    parser = _Links()
    parser.feed(reply.text)
    assert "script" not in parser.tags
    assert all(link.startswith("/") and not link.startswith("//") for link in parser.links)
    return reply.text, parser.links


def messages_on(text):
    return [int(number) for number in re.findall(r'<h3 id="m(\d+)"', text)]


def test_the_index_lists_topics_and_folders(server):
    text, links = page(server, "/")
    assert "/birds" in links
    assert "/birds.ttl" in links  # the short name belongs to the other log
    assert "/sub%20folder/" in links
    assert not [link for link in links if "hidden" in link or "note" in link or "outside" in link]
    assert "alert(1)" in unescape(text)
    for link in links:
        assert server.get(link, Accept=HTML).status == 200
    _, links = page(server, "/sub%20folder/")
    assert "/sub%20folder/x" in links


@pytest.mark.parametrize("target", ["/none/", "/../", "/.hidden/", "/birds/", "/birds.nq/"])
def test_other_folders_do_not_exist(server, target):
    assert server.get(target, Accept=HTML).status == 404


def test_every_link_of_a_page_leads_somewhere(server):
    _, links = page(server, "/birds")
    for link in links:
        if link.endswith("/events"):
            continue
        # A document of one message cannot have 45.
        single = link.endswith(("=rdf-thrift", "=jsonld"))
        assert server.get(link, Accept=HTML).status == (406 if single else 200)


def test_a_page_shows_the_newest_messages_and_links_to_the_others(server):
    text, _ = page(server, "/birds")
    assert "<dd>45</dd>" in text
    assert messages_on(text) == list(range(25, 45))
    seen = messages_on(text)
    while earlier := re.search(r'href="([^"]+)">Earlier', text):
        text, _ = page(server, unescape(earlier[1]))
        seen = messages_on(text) + seen
    assert sorted(set(seen)) == list(range(45))
    text, _ = page(server, "/birds?from=0")
    assert messages_on(text) == list(range(20))
    assert messages_on(page(server, "/birds?from=99")[0]) == []
    assert server.get("/birds?from=x", Accept=HTML).status == 400


@pytest.mark.parametrize("suffix", ["nq", "jelly", "trig.gz"])
def test_new_messages_are_counted(folder, server, suffix):
    path = folder / f"count.{suffix}"
    path.unlink(missing_ok=True)
    for count in range(1, 5):
        append(path, [])
        text, _ = page(server, f"/count.{suffix}")
        assert f"<dd>{count}</dd>" in text
        assert messages_on(text) == list(range(count))
    path.unlink()


def test_text_of_logs_is_escaped(server):
    text, _ = page(server, "/text")
    assert "<script>" not in text
    assert "\u202e" not in text
    assert "&lt;script&gt;" in text


def test_long_messages_are_shortened(folder, server, monkeypatch):
    monkeypatch.setattr(web_pages, "MAX_SHOWN_CHARACTERS", 40)
    (folder / "long.nq").write_text(A * 1000)
    text, _ = page(server, "/long")
    assert "1,000 quads" in text
    assert text.count("&lt;http://e/s&gt;") < 5


def test_a_broken_log_has_a_page_with_its_error(folder, server):
    (folder / "broken.nq").write_text(f"{A}# @message\noops\n")
    text, _ = page(server, "/broken")
    assert 'role="alert"' in text
    assert str(folder) not in text


def test_other_clients_get_no_page(server):
    assert server.get("/birds", Accept="*/*").text == numbered(45)
    assert server.get("/birds", Accept="application/n-quads, text/html;q=0.5").text == numbered(45)
    assert server.get("/birds?format=nq", Accept=HTML).text == numbered(45)


def test_pages_need_the_token(folder, tmp_path):
    (tmp_path / "token").write_text("secret")
    with serve_web(folder, read_token_file=tmp_path / "token") as server:
        assert server.get("/", Accept=HTML).status == 401
        assert server.get("/birds", Accept=HTML).status == 401


def test_links_have_the_prefix_of_the_proxy(folder):
    with serve_web(folder, root_path="/logs") as server:
        _, links = page(server, "/logs/")
        assert all(link.startswith("/logs/") for link in links)
        text, links = page(server, "/logs/birds", X_Forwarded_Proto="https")
        assert all(link.startswith("/logs/") for link in links)
        assert f"https://127.0.0.1:{server.port}/logs/birds" in text


def test_a_long_listing_is_cut(server, monkeypatch):
    monkeypatch.setattr(topics, "MAX_LISTED", 3)
    assert "There are more logs" in page(server, "/")[0]


@pytest.mark.parametrize("width", [360, 1200])
def test_pages_are_shown_without_errors_in_a_browser(server, tmp_path, width):
    for target in ("/", "/birds"):
        command = [
            *(chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--disable-dev-shm-usage", "--enable-logging=stderr", f"--window-size={width},800"),
            *(f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", f"{server.url}{target}"),
        ]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        assert "<main>" in run.stdout
        assert ":CONSOLE" not in run.stderr
