"""A transfer is complete or an error, whatever the server sends."""

import json

import pytest
import web
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rdfm
from rdfm import nanopub
from rdfm.storage import contexts
from rdfm.storage.files import find_storage
from rdfm.storage.http import HttpError, HttpSettings, open_url

QUICK = HttpSettings(
    connect_seconds=5, first_byte_seconds=5, idle_seconds=5, tries=3, backoff_seconds=0.001
)
BODY = bytes(range(200))
PARTS = st.lists(
    st.tuples(
        st.integers(1, 200),
        st.one_of(st.integers(0, 200), st.just(200)),
        st.sampled_from(["total", "unknown", "whole"]),
    ),
    max_size=6,
)
DATES = [
    "Fri, 31 Dec 9999 23:59:59 -2359",
    "Sat, 01 Jan 0001 00:00:00 +2359",
    "Sat, 01 Jan 0001 00:00:00 -0000",
    "Fri, 31 Dec 99999 23:59:59 GMT",
    "Fri, 31 Dec 99999999999999999999 23:59:59 GMT",
    "Mon, 01 Jan 2024 00:00:00 +9999999999",
    "Mon, 01 Jan 2024 00:00:00 +9999999999999999999999",
    "Wed, 21 Oct 2015 07:28:00\r\n GMT",
    "0.5",
]
LINK = "; rel=alternate; type=application/ld+json"
# Values that a careless client cannot process, by header.
VALUES = {
    "Content-Type": [
        "application/n-quads; version*=utf-8''1.2-messages",
        "application/n-quads; version*0=1; version*1*=%20; version*=x'y'%ff",
        'application/n-quads; version="1.2-messages',
        "application/n-quads; version*=\x01''x;;=;charset*=hex''41",
        "text/html",
    ],
    "Content-Length": ["5, 5", "5, 6", "-1", "9" * 5000, "\xb2", ""],
    "Content-Encoding": ["gzip", "gzip,,", "x" * 5000, "identity, identity, identity"],
    "Content-Range": ["bytes 5-9/" + "9" * 5000, "bytes */5", "bytes 5-4/9", "bytes 5-\xb2/9"],
    "Transfer-Encoding": ["gzip, chunked", "identity", "chunked"],
    "Date": DATES,
    "Last-Modified": DATES,
    "Retry-After": [*DATES, "9" * 9, "9" * 5000, "\xb2"],
    "ETag": ['"a\r\n b"', '"t\x01"', '"t"'],
    "Link": [f"<http://[::1>{LINK}", f"<http://%zz/>{LINK}", "<" * 60_000],
    "Location": ["http://[::1", "http://[::1]:x/", "http://%zz/", "//\\", "http://a\x7fb/", "?"],
    "Nanopub-Registry-Setup-Id": ["9" * 19, "9" * 5000, "\xb2"],
}
STATUSES = {"Location": 301, "Retry-After": 503}
ANY_TEXT = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n"), max_size=40)
HEADERS = st.lists(
    st.sampled_from(sorted(VALUES)).flatmap(
        lambda name: st.tuples(st.just(name), st.one_of(st.sampled_from(VALUES[name]), ANY_TEXT))
    ),
    min_size=1,
    max_size=4,
)


@pytest.fixture(scope="module")
def site():
    with web.site() as opened:
        yield opened


@settings(max_examples=150)
@given(
    first=st.tuples(st.just(200), st.integers(1, 200), st.sampled_from(["total", "unknown"])),
    parts=PARTS,
)
@example(first=(200, 86, "total"), parts=[(43, 200, "total")])
@example(first=(200, 86, "unknown"), parts=[(43, 200, "unknown")])
@example(first=(200, 199, "unknown"), parts=[(1, 200, "unknown")])
@example(first=(200, 114, "unknown"), parts=[(129, 200, "unknown"), (9, 184, "whole")])
def test_a_transfer_in_any_parts_is_complete_or_an_error(site, first, parts):
    url = site.on("/a", web.partial(BODY, '"t"', [first, *parts]))
    received = b""
    try:
        with open_url(url, QUICK) as response:
            for piece in iter(response.read1, b""):
                received += piece
    except HttpError as error:
        assert "attempts" in str(error)
        assert BODY.startswith(received)
    else:
        assert received == BODY


def read(url):
    with open_url(url, QUICK) as response:
        assert response.media_type
        return response.read()


def read_log(url):
    with rdfm.open_log(url) as log:
        return list(log)


REQUESTS = [
    read,
    read_log,
    lambda url: find_storage(url)[0].status(url),
    lambda url: find_storage(url)[0].read_file(url),
    contexts.fetch,
    nanopub.status,
]


def check_headers(site, status, headers):
    """Sends headers to every kind of request, with a response that is cut, then a complete one."""
    body = b"" if status in (204, 301) else b"<a:s> <a:p> <a:o> .\n"
    lines = [f"{name}: {value}" for name, value in headers]
    if all(name != "Content-Length" for name, _ in headers):
        lines.append(f"Content-Length: {len(body)}")
    head = "\r\n".join([f"HTTP/1.1 {status} OK", *lines, "", ""]).encode("latin-1")
    for request in REQUESTS:
        url = site.on("/", web.raw(head + body[:5]), web.raw(head + body))
        try:
            request(url)
        except (OSError, rdfm.OptionError, rdfm.DecodeError, rdfm.UnknownFormatError) as error:
            assert str(error)


@pytest.mark.parametrize(
    ("name", "value"), [(n, v) for n, values in VALUES.items() for v in values]
)
def test_unusual_values_of_headers_cause_no_crash(site, short_pauses, name, value):
    dates = [("Date", "Wed, 21 Oct 2015 07:29:00 GMT")] if name == "Last-Modified" else []
    check_headers(site, STATUSES.get(name, 200), [(name, value), *dates])


@settings(max_examples=40)
@given(status=st.sampled_from([200, 200, 204, 206, 301, 416, 429, 503]), headers=HEADERS)
def test_no_combination_of_headers_causes_a_crash(site, short_pauses, status, headers):
    check_headers(site, status, headers)


@pytest.fixture(scope="module")
def short_pauses():
    """Makes pauses short, for requests with their own settings."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("time.sleep", lambda _: None)
        patched.setattr(contexts, "MAX_SECONDS", 5)
        yield


def test_an_alternate_context_with_an_invalid_url_is_an_error(site):
    link = '<http://[::1>; rel="alternate"; type="application/ld+json"'
    url = site.on("/c", web.send(200, b"<html>", Content_Type="text/html", Link=link))
    document = json.dumps({"@context": url, "http://e/p": 1}).encode()
    with pytest.raises(rdfm.DecodeError, match=r"Link header contains an invalid URL"):
        list(rdfm.open_log(document, "jsonld", allow_network=True))
