"""The HTTP client over a real socket: timeouts, redirects, retries, encodings, interruptions."""

from __future__ import annotations

import gzip
import io
import ipaddress
import pickle
import socket
import threading
import time
import zlib
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PrivateFormat

import rdfm
from rdfm.storage import compression, http
from rdfm.storage import web as files_of_web
from rdfm.storage.addresses import Address, redact_url
from rdfm.storage.files import find_storage
from rdfm.storage.http import HttpError, HttpSettings, open_url

QUICK_SETTINGS = HttpSettings(
    connect_seconds=5, first_byte_seconds=5, idle_seconds=5, tries=3, backoff_seconds=0.01
)
BODY = bytes(range(256)) * 2000
QUADS = b"<a:s> <a:p> <a:o> .\n"


@pytest.fixture
def site():
    with web.site() as opened:
        yield opened


def certificate_of(folder, name):
    """Returns the paths of a new self-signed certificate for 127.0.0.1 and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = folder / f"{name}.pem", folder / f"{name}.key"
    paths[0].write_bytes(certificate.public_bytes(Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return tuple(map(str, paths))


@pytest.fixture
def tls_site(tmp_path):
    """A TLS server, with the paths of its certificate and of another certificate."""
    certificate, key = certificate_of(tmp_path, "own")
    other, _ = certificate_of(tmp_path, "other")
    with web.site(tls=(certificate, key)) as opened:
        opened.certificate, opened.other_certificate = certificate, other
        yield opened


def body_of(url, settings=QUICK_SETTINGS):
    with open_url(url, settings) as response:
        return response.read()


def zstd(data):
    encoder = compression.compressor("zstd")
    return encoder.compress(data) + encoder.flush()


@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize(
    ("encoding", "encoded"),
    [
        ("identity", BODY),
        ("gzip", gzip.compress(BODY)),
        ("x-gzip", gzip.compress(BODY)),
        ("zstd", zstd(BODY)),
        ("gzip, zstd", zstd(gzip.compress(BODY))),
    ],
)
def test_a_body_is_decoded(site, chunked, encoding, encoded):
    url = site.on("/a", web.send(200, encoded, chunked=chunked, Content_Encoding=encoding))
    with open_url(url, QUICK_SETTINGS) as response:
        assert response.read() == BODY
        assert response.read1() == b""
        has_size = encoding == "identity" and not chunked
        assert response.size == (len(BODY) if has_size else None)
    _, _, headers = site.requests[0]
    assert headers["User-Agent"] == f"rdfm/{rdfm.__version__}"
    assert headers["Accept-Encoding"] == "gzip, zstd"


def test_pieces_of_a_bomb_are_small(site):
    bomb = gzip.compress(bytes(1 << 26))
    with open_url(
        site.on("/a", web.send(200, bomb, Content_Encoding="gzip")), QUICK_SETTINGS
    ) as response:
        sizes = [len(piece) for piece in iter(response.read1, b"")]
    assert sum(sizes) == 1 << 26
    assert max(sizes) <= compression.PIECE_BYTES


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, gzip, gzip"])
def test_unsupported_encodings_are_rejected(site, encoding):
    url = site.on("/a", web.send(200, b"x", Content_Encoding=encoding))
    with pytest.raises(HttpError, match=r"content encoding"):
        open_url(url, QUICK_SETTINGS)


def test_a_corrupt_body_is_an_error(site):
    url = site.on("/a.nq", web.send(200, gzip.compress(QUADS)[:-9], Content_Encoding="gzip"))
    with pytest.raises(rdfm.TruncatedError, match=r"a\.nq: the gzip data ends before its end mark"):
        body_of(url)
    with pytest.raises(rdfm.TruncatedError), rdfm.open_log(url) as log:
        list(log)


# --- redirects ---


def test_redirects_are_followed(site):
    site.on("/b", web.send(307, Location="c?d=1#e"))
    site.on("/c", web.send(200, BODY))
    with open_url(
        site.on("/a", web.send(301, Location=f"{site.url}/b")), QUICK_SETTINGS
    ) as response:
        assert response.url == f"{site.url}/c?d=1"
        assert response.read() == BODY


def test_redirects_are_limited(site):
    with pytest.raises(HttpError, match="more than 5 redirects"):
        open_url(site.on("/a", web.send(302, Location="/a")), QUICK_SETTINGS)
    assert len(site.requests) == 6


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("file:///etc/hostname", "only http and https URLs are fetched"),
        ("http://:80/", "the server redirects to an invalid URL"),
        ("ftp://127.0.0.1/x", "only http and https URLs are fetched"),
    ],
)
def test_redirects_to_other_schemes_are_rejected(site, target, text):
    with pytest.raises(HttpError, match=text):
        open_url(site.on("/a", web.send(302, Location=target)), QUICK_SETTINGS)


def test_redirects_from_https_to_http_are_rejected(monkeypatch):
    def send(self, more):
        headers = {"Location": "http://example.org/b"}
        return http.urllib3.HTTPResponse(io.BytesIO(), headers, 302, preload_content=False)

    monkeypatch.setattr(http.Response, "_send", send)
    with pytest.raises(HttpError, match="redirects from https to http are not followed"):
        open_url("https://example.org/a", QUICK_SETTINGS)


def test_secrets_are_sent_only_to_the_first_origin(site):
    with web.site() as other:
        other.on("/b", web.send(302, Location=f"{site.url}/c"))
        site.on("/a", web.send(302, Location=f"{other.url}/b"))
        site.on("/c", web.send(200, b"c"))
        settings = HttpSettings(headers={"X-Key": "secret"}, tries=1)
        host = site.url.removeprefix("http://")
        assert body_of(f"http://me:p%40w@{host}/a", settings) == b"c"
        (_, _, first), (_, _, last) = site.requests
        assert first["X-Key"] == last["X-Key"] == "secret"
        assert first["Authorization"] == last["Authorization"] == "Basic bWU6cEB3"
        ((_, _, other_headers),) = other.requests
        assert "X-Key" not in other_headers
        assert "Authorization" not in other_headers


# --- retries ---


@pytest.mark.parametrize("status", sorted(http._RETRIED_STATUSES))
def test_temporary_errors_are_retried(site, status):
    url = site.on("/a", web.send(status), web.send(status), web.send(200, b"x"))
    assert body_of(url) == b"x"
    assert len(site.requests) == 3


def test_retries_are_limited(site):
    with pytest.raises(HttpError, match=r"503 Service Unavailable \(3 attempts\)") as caught:
        open_url(site.on("/a", web.send(503)), QUICK_SETTINGS)
    assert caught.value.status == 503
    assert len(site.requests) == 3


@pytest.mark.parametrize("use_date", [False, True])
def test_retry_after_is_obeyed(site, use_date, monkeypatch):
    pauses = []
    monkeypatch.setattr(http.time, "sleep", pauses.append)
    after = (
        format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
        if use_date
        else "40"
    )
    url = site.on("/a", web.send(429, Retry_After=after), web.send(200, b"x"))
    assert body_of(url) == b"x"
    assert pauses == [pytest.approx(40, abs=5)]


def test_a_long_retry_after_is_an_error(site):
    url = site.on("/a", web.send(503, Retry_After="86400"))
    with pytest.raises(HttpError, match="the server requests a wait of 86400 s"):
        open_url(url, QUICK_SETTINGS)


@pytest.mark.parametrize(
    ("status", "kind", "text"),
    [
        (404, FileNotFoundError, "not found"),
        (410, FileNotFoundError, "not found"),
        (401, HttpError, "401 Unauthorized; check the credentials"),
        (403, HttpError, "403 Forbidden; check the credentials"),
        (400, HttpError, "the server answered 400 Bad Request"),
        (206, HttpError, "the server answered 206"),
        (304, HttpError, "the server answered 304"),
    ],
)
def test_other_status_codes_are_errors_and_are_not_retried(site, status, kind, text):
    with pytest.raises(kind, match=text):
        open_url(site.on("/a", web.send(status)), QUICK_SETTINGS)
    assert len(site.requests) == 1


# --- timeouts and interrupted transfers ---


def test_a_refused_connection_is_an_error():
    with web.site() as closed:
        url = closed.url
    with pytest.raises(HttpError, match=r"no connection: connection refused \(3 attempts\)"):
        open_url(url, QUICK_SETTINGS)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (socket.EAI_NONAME, r"the host name is unknown \(2 attempts\)"),
        (socket.EAI_AGAIN, r"the host name cannot be resolved \(3 attempts\)"),
    ],
)
def test_host_name_errors_are_retried(monkeypatch, code, text):
    def fail(*_, **__):
        raise socket.gaierror(code, "…")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    with pytest.raises(HttpError, match=text):
        open_url("http://nosuch.example/", QUICK_SETTINGS)


def test_a_trusted_certificate_is_accepted(tls_site, monkeypatch):
    url = tls_site.on("/a", web.send(200, BODY))
    monkeypatch.setenv("SSL_CERT_FILE", tls_site.certificate)
    assert body_of(url) == BODY
    with rdfm.open_log(tls_site.on("/a.nq", web.send(200, QUADS))) as log:
        assert len(list(log)) == 1
    monkeypatch.setenv("SSL_CERT_FILE", tls_site.other_certificate)
    with pytest.raises(HttpError, match="certificate is not accepted"):
        body_of(url)


def test_untrusted_certificate_errors_are_one_sentence(tls_site):
    with pytest.raises(HttpError) as caught:
        open_url(tls_site.on("/a", web.send(200, BODY)), QUICK_SETTINGS)
    assert caught.value.strerror == (
        "the server's certificate is not accepted: self-signed certificate; tls_ca or the environment "
        "variable SSL_CERT_FILE names a file with certificates to trust"
    )
    assert not caught.value.transient
    assert tls_site.requests == []


def test_a_certificate_for_another_host_is_rejected(tls_site, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", tls_site.certificate)
    url = tls_site.on("/a", web.send(200, BODY)).replace("127.0.0.1", "localhost")
    with pytest.raises(HttpError, match=r"not accepted: Hostname mismatch[^;]*$"):
        open_url(url, QUICK_SETTINGS)


def test_a_server_without_encryption_is_reported(site):
    with pytest.raises(HttpError, match="cannot be encrypted; does the server"):
        open_url(site.url.replace("http", "https"), QUICK_SETTINGS)


def test_waiting_for_the_first_byte_has_a_timeout(site):
    release = threading.Event()
    settings = HttpSettings(first_byte_seconds=0.2, tries=1)
    with pytest.raises(HttpError, match=r"no response within 0\.2 s"):
        open_url(site.on("/a", web.send(200, b"x", before=release.wait)), settings)
    release.set()


@pytest.mark.parametrize("connection", ["close", "keep-alive"])
def test_idle_transfers_have_a_timeout(site, connection):
    release = threading.Event()
    pauses = iter([lambda: None, release.wait, release.wait, release.wait])
    url = site.on(
        "/a",
        web.send(200, BODY, between=lambda: next(pauses)(), Connection=connection),
    )
    settings = HttpSettings(first_byte_seconds=30, idle_seconds=0.2, tries=1)
    start = time.monotonic()
    with pytest.raises(HttpError, match=r"no data for 0\.2 s after \d+ bytes"):
        body_of(url, settings)
    assert time.monotonic() - start < 10
    release.set()


def test_a_slow_body_is_read(site):
    url = site.on("/a", web.send(200, BODY, between=lambda: time.sleep(0.1)))
    settings = HttpSettings(idle_seconds=5, tries=1)
    assert body_of(url, settings) == BODY


@pytest.mark.parametrize("chunked", [True, False])
def test_a_truncated_body_is_an_error(site, chunked):
    url = site.on("/a", web.send(200, BODY, chunked=chunked, cut=1000))
    with pytest.raises(HttpError, match="closed early after 1000 bytes"):
        body_of(url)
    assert len(site.requests) == 1


@pytest.mark.parametrize("chunked", [True, False])
def test_a_body_without_its_first_byte_is_requested_again(site, chunked):
    url = site.on("/a", web.send(200, BODY, chunked=chunked, cut=0), web.send(200, BODY))
    assert body_of(url) == BODY


@pytest.mark.parametrize("chunked", [True, False])
def test_a_truncated_body_with_a_strong_tag_is_continued(site, chunked):
    url = site.on("/a", web.ranged(BODY, '"t"', cut=len(BODY) // 3, chunked=chunked))
    assert body_of(url) == BODY
    _, _, headers = site.requests[1]
    assert headers["If-Range"] == '"t"'
    assert headers["Range"] == f"bytes={len(BODY) // 3}-"


def test_a_truncated_body_with_an_encoding_is_continued(site):
    encoded = gzip.compress(BODY)
    url = site.on("/a", web.ranged(encoded, '"t"', cut=len(encoded) // 2, Content_Encoding="gzip"))
    assert body_of(url) == BODY


@pytest.mark.parametrize("tag", ['W/"t"', ""])
def test_a_truncated_body_with_a_weak_tag_is_not_continued(site, tag):
    url = site.on("/a", web.send(200, BODY, cut=1000, ETag=tag))
    with pytest.raises(HttpError, match="does not support resuming"):
        body_of(url)


LAST_MODIFIED = "Sun, 01 Nov 2026 10:00:00 GMT"


def date_headers(seconds):
    """Returns the headers of a file that changed some seconds before the response."""
    return {"Last-Modified": LAST_MODIFIED, "Date": f"Sun, 01 Nov 2026 10:00:{seconds:02} GMT"}


def test_a_truncated_body_with_a_strong_date_is_continued(site):
    first, remaining = BODY[:1000], BODY[1000:]
    span = f"bytes 1000-{len(BODY) - 1}/{len(BODY)}"
    url = site.on(
        "/a",
        web.send(200, BODY, cut=len(first), **date_headers(1)),
        web.send(206, remaining, **{"Content-Range": span, **date_headers(9)}),
    )
    assert body_of(url) == BODY
    _, _, headers = site.requests[1]
    assert (headers["If-Range"], headers["Range"]) == (LAST_MODIFIED, "bytes=1000-")


@pytest.mark.parametrize(
    "headers", [date_headers(0), {**date_headers(1), "ETag": 'W/"t"'}, {"Date": LAST_MODIFIED}]
)
def test_a_truncated_body_with_a_weak_date_is_not_continued(site, headers):
    url = site.on("/a", web.send(200, BODY, cut=1000, **headers))
    with pytest.raises(HttpError, match="does not support resuming; try again"):
        body_of(url)
    assert len(site.requests) == 1


@pytest.mark.parametrize("headers", [{"ETag": '"t"'}, date_headers(1)])
@pytest.mark.parametrize("cuts", [[1000], [1000, 500, 700, 2000, 1000]])
def test_a_server_without_ranges_sends_the_start_again(site, headers, cuts):
    replies = [web.send(200, BODY, cut=cut, **headers) for cut in cuts]
    url = site.on("/a", *replies, web.send(200, BODY, **headers))
    settings = HttpSettings(tries=5, backoff_seconds=0.001)
    assert body_of(url, settings) == BODY


def test_a_body_always_truncated_at_the_same_place_is_an_error(site):
    url = site.on("/a", web.send(200, BODY, cut=1000, ETag='"t"'))
    with pytest.raises(HttpError, match=r"closed early \(3 attempts\)"):
        body_of(url)
    assert len(site.requests) == 3


def test_a_body_that_is_shorter_than_before_is_an_error(site):
    url = site.on(
        "/a", web.send(200, BODY, cut=1000, ETag='"t"'), web.send(200, BODY[:900], ETag='"t"')
    )
    with pytest.raises(HttpError, match="changed while it was read; read it again"):
        body_of(url)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"ETag": '"1"'}, {"ETag": '"2"'}),
        ({"ETag": '"1"'}, {}),
        (date_headers(1), {**date_headers(1), "Last-Modified": "Sun, 01 Nov 2026 10:00:01 GMT"}),
        (date_headers(1), {}),
    ],
)
def test_a_file_that_changes_is_an_error(site, first, second):
    url = site.on("/a", web.send(200, BODY, cut=1000, **first), web.send(200, BODY, **second))
    with pytest.raises(HttpError, match="changed while it was read; read it again"):
        body_of(url)


@pytest.mark.parametrize("span", ["bytes 0-9/10", "lines 1-2", ""])
def test_a_wrong_range_is_an_error(site, span):
    url = site.on(
        "/a",
        web.send(200, BODY, cut=1000, ETag='"1"'),
        web.send(206, b"x" * 10, ETag='"1"', Content_Range=span),
    )
    with pytest.raises(HttpError, match="resumed the transfer at the wrong position"):
        body_of(url)


# --- settings and URLs ---


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"header": {}},
            "idle_seconds, last_event_id, retry, tls_ca, tls_cert, tls_key, not 'header'",
        ),
        ({"headers": ["a: b"]}, "headers must be a dict"),
        ({"headers": {"a b": "c"}}, "'a b' is not the name of a header"),
        ({"headers": {"Host": "c"}}, "the header Host is set by rdfm"),
        ({"headers": {"A": "s\necret"}}, "the value of the header A contains characters"),
        ({"idle_seconds": "5"}, "idle_seconds must be a number, not '5'"),
        ({"idle_seconds": 0}, "idle_seconds must be a number above 0"),
    ],
)
def test_invalid_options_are_rejected(site, options, text):
    with pytest.raises(rdfm.OptionError, match=text) as caught:
        rdfm.open_log(f"{site.url}/a.nq", storage_options=options)
    assert "ecret" not in str(caught.value)
    assert site.requests == []


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("http://", "has no host"),
        ("http://user:pw@/x", "has no host"),
        ("http://a b/", "space or control character"),
        ("http://a:99999/", "Port out of range"),
        ("http://[::1/", "not a valid URL"),
        ("http://" + "ü" * 70 + ".org/", "not a valid URL"),
    ],
)
def test_invalid_urls_are_rejected(url, text):
    with pytest.raises(rdfm.OptionError, match=text) as caught:
        open_url(url)
    assert "pw" not in str(caught.value)


def test_addresses_are_normalized():
    assert Address.parse("HTTP://Ex.org:80").url == "http://ex.org/"
    assert Address.parse("https://bücher.example:8443/é?q=ü").url == (
        "https://xn--bcher-kva.example:8443/%C3%A9?q=%C3%BC"
    )
    assert Address.parse("http://[::1]:8000/x").url == "http://[::1]:8000/x"
    assert Address.parse("https://e.org/a").origin != Address.parse("http://e.org/a").origin


def test_urls_are_shown_without_secrets():
    assert redact_url("https://me:pw@e.org/@x?X-Amz-Signature=1&n=2") == (
        "https://e.org/@x?X-Amz-Signature=…&n=2"
    )


def test_errors_have_no_secrets_and_can_be_pickled(site):
    host = site.url.removeprefix("http://")
    site.on("/a", web.send(500))
    with pytest.raises(HttpError, match="500 Internal Server Error; try again later") as caught:
        open_url(f"http://me:pw@{host}/a?token=s3", HttpSettings(tries=1))
    unpickled = pickle.loads(pickle.dumps(caught.value))
    assert str(unpickled) == str(caught.value)
    assert "pw" not in str(unpickled)
    assert "s3" not in str(unpickled)


def test_a_proxy_is_used(site, monkeypatch):
    host = site.url.removeprefix("http://")
    monkeypatch.setenv("http_proxy", f"http://me:pw@{host}")
    monkeypatch.setenv("no_proxy", "internal.example")
    site.replies["http://example.org/a"] = [web.send(200, b"x")]
    assert body_of("http://example.org/a") == b"x"
    _, path, headers = site.requests[0]
    assert path == "http://example.org/a"
    assert headers["Proxy-Authorization"] == "Basic bWU6cHc="
    with pytest.raises(HttpError, match="the host name is unknown"):
        open_url("http://internal.example/", HttpSettings(tries=1))


def test_unsupported_proxies_are_rejected(monkeypatch):
    monkeypatch.setenv("http_proxy", "socks5://me:pw@127.0.0.1:1")
    with pytest.raises(rdfm.OptionError, match=r"proxy socks5://127\.0\.0\.1:1 is not supported"):
        open_url("http://example.org/")


# --- logs over HTTP ---


@pytest.mark.parametrize(
    ("path", "kind", "format"),
    [
        ("/log", "application/n-quads", "nq"),
        ("/log.ttl", "application/trig; charset=utf-8", "trig"),
        ("/log.trig", "text/plain", "trig"),
        ("/log.trig", "application/octet-stream", "trig"),
        ("/log.nq?x=.ttl", "", "nq"),
        ("/log", "Text/Turtle", "ttl"),
    ],
)
def test_the_response_determines_the_format(site, path, kind, format):
    url = site.on(
        path.partition("?")[0], web.send(200, b"<a:s> <a:p> <a:o> .\n", Content_Type=kind)
    )
    with rdfm.open_log(site.url + path) as log:
        assert log.format == format
        assert len(list(log)) == 1
    _, _, headers = site.requests[0]
    for spec in rdfm.formats.specs():
        assert spec.media_types[0] in headers["Accept"]
    with rdfm.open_log(url, "nt") as log:
        assert log.format == "nt"


def test_the_version_label_of_a_response_announces_messages(site):
    log = b"<a:s> <a:p> <a:o> .\nMESSAGE\n<a:s> <a:p> <a:o> .\n"
    url = site.on(
        "/log", web.send(200, log, Content_Type='application/n-quads; version="1.2-messages"')
    )
    with rdfm.open_log(url) as opened:
        assert opened.header["version_label"] == "1.2-messages"
        assert len(list(opened)) == 2
    with rdfm.open_log(url, dialect="comment") as opened, pytest.raises(rdfm.DecodeError):
        list(opened)


def test_the_parameter_messages_selects_the_comment_dialect(site):
    log = b"<a:s> <a:p> <a:o> .\n# @message\n<a:s> <a:p> <a:o> .\n"
    url = site.on("/log", web.send(200, log, Content_Type="application/trig; messages=rdfm"))
    with rdfm.open_log(url) as opened:
        assert opened.header["dialect"] == "comment"
        assert len(list(opened)) == 2
    with rdfm.open_log(url, dialect="plain") as opened:
        assert len(list(opened)) == 1


def test_credentials_do_not_appear_in_names(site):
    host = site.url.removeprefix("http://")
    site.on("/log.ttl", web.send(200, b"<s> <a:p> <a:o> .\noops"))
    with rdfm.open_log(f"http://me:pw@{host}/log.ttl") as log:
        assert log.source == f"{site.url}/log.ttl"
        with pytest.raises(rdfm.DecodeError) as caught:
            list(log)
    assert "pw" not in str(caught.value)


def test_headers_of_storage_options_are_sent(site):
    site.on("/log.nq", web.send(200, b"<a:s> <a:p> <a:o> .\n"))
    options = {"headers": {"Authorization": "Bearer x"}}
    with rdfm.open_log(f"{site.url}/log.nq", storage_options=options) as log:
        assert len(list(log)) == 1
    assert site.requests[0][2]["Authorization"] == "Bearer x"


def test_headers_of_storage_options_replace_default_headers(site):
    site.on("/log.nq", web.send(200, QUADS))
    options = {"headers": {"user-agent": "me", "ACCEPT": "text/turtle"}}
    rdfm.open_log(f"{site.url}/log.nq", storage_options=options).close()
    _, _, headers = site.requests[0]
    names = [name.lower() for name in headers]
    assert (names.count("user-agent"), names.count("accept")) == (1, 1)
    assert {"me", "text/turtle"} <= set(headers.values())


def test_an_interrupted_transfer_of_a_log_is_continued(site):
    log = b"".join(b"<a:s> <a:p> <a:%d> .\n# @message\n" % number for number in range(5000))
    url = site.on("/log.nq", web.ranged(log, '"t"', cut=50_001))
    with rdfm.open_log(url) as opened:
        assert len(list(opened)) == 5000


def test_messages_before_an_interrupted_transfer_are_delivered(site):
    log = b"".join(b"<a:s> <a:p> <a:%d> .\n# @message\n" % number for number in range(5000))
    url = site.on("/log.nq", web.send(200, log, cut=50_001))
    count = 0
    with rdfm.open_log(url) as opened, pytest.raises(HttpError, match="closed early"):
        for _ in opened:
            count += 1
    assert 0 < count < 5000


def test_a_compressed_file_is_read(site):
    url = site.on(
        "/log.nq.gz",
        web.send(200, gzip.compress(b"<a:s> <a:p> <a:o> .\n"), Content_Type="application/gzip"),
    )
    with rdfm.open_log(url) as log:
        assert log.format == "nq"
        assert len(list(log)) == 1


def test_web_servers_support_the_operations_for_reading(site):
    url = site.on("/a.nq", web.send(200, BODY, Last_Modified="Wed, 21 Oct 2015 07:28:00 GMT"))
    storage, name = find_storage(url)
    file = storage.status(name)
    assert (file.path, file.size, file.modified) == (url, len(BODY), 1445412480.0)
    assert storage.exists(name)
    assert not storage.exists(f"{site.url}/b.nq")
    assert storage.read_file(name) == BODY
    assert storage.find(f"{site.url}/*.nq") == {}
    assert storage.list_names(site.url) == []
    with pytest.raises(rdfm.OptionError, match="does not support folders or writing"):
        storage.open_new(url)


def test_files_that_are_read_whole_have_a_size_limit(site, monkeypatch):
    monkeypatch.setattr(files_of_web, "MAX_WHOLE_BYTES", len(BODY))
    url = site.on("/a", web.send(200, BODY), web.send(200, BODY + b"x", chunked=True))
    assert find_storage(url)[0].read_file(url) == BODY
    with pytest.raises(HttpError, match=f"the file is larger than {len(BODY)} bytes"):
        find_storage(url)[0].read_file(url)


def test_zlib_data_is_not_accepted_as_gzip(site):
    url = site.on("/a", web.send(200, zlib.compress(BODY), Content_Encoding="gzip"))
    with pytest.raises(rdfm.DecodeError, match="gzip data is corrupt"):
        body_of(url)
