"""Remote JSON-LD contexts: files, a folder, a cache, and the network only if allowed."""

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import ClassVar
from urllib.parse import quote

import pytest

import rdfm
from rdfm import formats
from rdfm.storage import contexts

URL = "https://example.org/some/c"
CONTEXT = b'{"@context": {"@vocab": "http://v/"}}'
LOG = json.dumps({"@context": URL}).encode() + b'\n{"p": "o"}\n'


def predicates(data=LOG, **options):
    batch = formats.find("ndjsonld").decode(data, **options)
    return [quad.predicate.value for message in batch for quad in message.quads]


def test_an_unavailable_context_is_an_error_with_remedies():
    with pytest.raises(rdfm.DecodeError) as caught:
        predicates()
    for part in (URL, "context={URL: FILE}", "contexts=DIR", "allow_network=True", "line 1"):
        assert part in str(caught.value)


def test_a_local_file_replaces_a_context_url(tmp_path):
    (tmp_path / "c.jsonld").write_bytes(CONTEXT)
    assert predicates(context={URL: str(tmp_path / "c.jsonld")}) == ["http://v/p"]
    with pytest.raises(rdfm.DecodeError, match="cannot be loaded"):
        predicates(context={URL: str(tmp_path / "missing.jsonld")})


@pytest.mark.parametrize(
    "name",
    [
        quote(URL, safe=""),
        f"{quote(URL, safe='')}.jsonld",
        "example.org/some/c",
        "example.org/some/c.json",
        "example.org/some/c/index.jsonld",
    ],
)
def test_files_of_a_folder_are_found_by_several_names(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(CONTEXT)
    assert predicates(contexts=str(tmp_path)) == ["http://v/p"]


def test_the_index_of_a_folder_has_priority_and_cannot_refer_to_files_outside_it(tmp_path):
    (tmp_path / "mine.json").write_bytes(CONTEXT)
    (tmp_path / "index.json").write_text(json.dumps({URL: "mine.json"}))
    assert predicates(contexts=str(tmp_path)) == ["http://v/p"]
    (tmp_path / "index.json").write_text(json.dumps({URL: "../mine.json"}))
    with pytest.raises(rdfm.OptionError, match="outside the folder"):
        predicates(contexts=str(tmp_path))


@pytest.mark.parametrize("path", ["../secret", "a/../../secret", "%2e%2e/secret", "/secret"])
def test_urls_cannot_refer_to_files_outside_the_folder(tmp_path, path):
    (tmp_path / "secret").write_bytes(CONTEXT)
    folder = tmp_path / "folder"
    folder.mkdir()
    assert contexts.ContextLoader(contexts=str(folder))(f"https://example.org/{path}") is None
    assert contexts.ContextLoader(contexts=str(folder))(f"https://../{path}") is None


def test_a_missing_folder_is_rejected(tmp_path):
    with pytest.raises(rdfm.OptionError, match="contexts must be a folder"):
        predicates(contexts=str(tmp_path / "missing"))


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"{", "cannot be used: expected a key"),
        (b"\xff", "not UTF-8"),
        (b"[" * 100, "max_depth"),
        (b"[]", "contains no context"),
        (b"{}", "contains no context"),
        (json.dumps({"@context": URL}).encode(), "refer to each other more than 10 levels deep"),
    ],
)
def test_an_invalid_context_is_an_error(tmp_path, document, reason):
    (tmp_path / "c").write_bytes(document)
    with pytest.raises(rdfm.DecodeError, match=reason):
        predicates(context={URL: str(tmp_path / "c")})


def test_contexts_that_expand_too_much_are_rejected(tmp_path):
    files = {}
    for depth in range(7):
        url = f"https://example.org/{depth}"
        references = (
            [f"https://example.org/{depth + 1}"] * 50 if depth < 6 else [{"a": "http://a/"}]
        )
        (tmp_path / str(depth)).write_text(json.dumps({"@context": references}))
        files[url] = str(tmp_path / str(depth))
    with pytest.raises(
        rdfm.DecodeError, match="define terms, or expand keys to long IRIs, too often"
    ):
        predicates(b'{"@context": "https://example.org/0"}\n', context=files)


class Server(BaseHTTPRequestHandler):
    """Serves a context at `/c`, a page that links to the context at `/page`, and redirects."""

    requests: ClassVar[list[tuple[str, str | None]]] = []
    drips = threading.Semaphore(0)  # released once for each byte of `/drip`

    def do_GET(self):
        self.requests.append((self.path, self.headers.get("Accept")))
        if self.path == "/r":
            self.send_response(302)
            self.send_header("Location", "/c")
            self.end_headers()
            return
        if self.path == "/file":
            self.send_response(302)
            self.send_header("Location", "file:///etc/hostname")
            self.end_headers()
            return
        if self.path == "/drip":
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):
                for _ in range(3):
                    self.drips.acquire(timeout=10)
                    self.wfile.write(b" ")
            return
        page = self.path == "/page"
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if page else "application/ld+json")
        if page:
            self.send_header("Link", '</c>; rel="alternate"; type="application/ld+json"')
        self.end_headers()
        self.wfile.write(b"<html>" if page else CONTEXT)

    def log_message(self, *_):
        pass


@pytest.fixture
def site():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    Server.requests.clear()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("path", ["/c", "/r", "/page"])
def test_a_context_is_fetched_if_allowed_and_then_cached(site, tmp_path, path):
    log = json.dumps({"@context": site + path}).encode() + b'\n{"p": "o"}\n{"p": "o"}\n'
    with pytest.raises(rdfm.DecodeError, match="not available"):
        predicates(log, context_cache=str(tmp_path))
    assert Server.requests == []
    options = {"context_cache": str(tmp_path), "allow_network": True}
    assert predicates(log, **options) == ["http://v/p"] * 2
    requests = list(Server.requests)
    assert requests[0] == (path, contexts.ACCEPT)
    assert predicates(log, context_cache=str(tmp_path)) == ["http://v/p"] * 2
    assert Server.requests == requests


def test_only_http_is_fetched(site, tmp_path):
    loader = contexts.ContextLoader(context_cache=str(tmp_path), allow_network=True)
    for url in (f"{site}/file", "file:///etc/hostname", "ftp://127.0.0.1/x"):
        with pytest.raises(OSError, match=r"only http and https|not allowed"):
            loader(url)


def test_a_slow_context_is_abandoned_in_time(site, monkeypatch):
    seconds = iter([100, 120, 140])  # at the start, and after each piece of the body

    def monotonic():
        Server.drips.release()
        return next(seconds)

    monkeypatch.setattr(contexts, "time", SimpleNamespace(monotonic=monotonic))
    with pytest.raises(OSError, match="took more than 30 seconds"):
        contexts.fetch(f"{site}/drip")
    assert list(seconds) == []


def test_non_ascii_urls_are_percent_encoded(site):
    contexts.fetch(f"{site}/é%20")
    assert Server.requests[-1][0] == "/%C3%A9%20"


def test_the_size_of_contexts_is_limited(site, tmp_path, monkeypatch):
    monkeypatch.setattr(contexts, "MAX_BYTES", 10)
    loader = contexts.ContextLoader(context_cache=str(tmp_path), allow_network=True)
    with pytest.raises(OSError, match="larger than 10 bytes"):
        loader(f"{site}/c")


@pytest.mark.parametrize("folder", ["s3://bucket/contexts", "dbfs:/contexts"])
def test_the_cache_must_be_a_local_folder(folder):
    with pytest.raises(rdfm.OptionError, match=folder):
        rdfm.open_log(LOG, "ndjsonld", context_cache=folder)
