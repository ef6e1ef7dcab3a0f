"""Topics as documents over HTTP: forms, selections, tags, ranges and codings."""

import gzip
import http.client
import os
import sys

import pytest
from live_logs import append, messages_in
from web_serve import serve_web

import rdfm
from rdfm import formats
from rdfm.live.documents import parse_range
from rdfm.live.offers import served_formats
from rdfm.logs.journal import Commit, Journal

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

pytestmark = pytest.mark.slow

A = '<http://e/s> <http://e/p> "a" .\n'
B = '<http://e/s> <http://e/p> "b" .\n'
G = '<http://e/s> <http://e/p> "g" <http://e/g> .\n'
COMMENT = f"{A}# @message\n{B}# @message\n# @message\n{A}"
DIRECTIVE = COMMENT.replace("# @message", "MESSAGE")
LABEL = "application/n-quads; version=1.2; messages=rdfm"
DIRECTIVE_LABEL = "application/n-quads; version=1.2-messages"


def numbered(count):
    return "# @message\n".join(f'<http://e/s> <http://e/p> "{n:09}" .\n' for n in range(count))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    (folder / "a.nq").write_text(COMMENT)
    (folder / "directive.nq").write_text(f'VERSION "1.2-messages"\n{DIRECTIVE}')
    (folder / "claims.nq").write_text(f'VERSION "1.1-messages"\n{DIRECTIVE}')
    (folder / "graphs.nq").write_text(f"{A}# @message\n{G}")
    (folder / "packed.nq.gz").write_bytes(gzip.compress(COMMENT.encode()))
    (folder / "relative.ttl").write_text("<#s> <p> <> .\n")
    (folder / "empty.nq").write_text("")
    (folder / "big.nq").write_text(numbered(60_000))
    rdfm.convert(COMMENT.encode(), folder / "j.jelly", from_format="nq")
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with serve_web(folder) as server:
        yield server


# --- forms ---


def test_stored_bytes_are_sent_with_a_label(server):
    reply = server.get("/a")
    assert (reply.status, reply.text) == (200, COMMENT)
    assert reply.headers["content-type"] == LABEL
    assert reply.headers["content-length"] == str(len(COMMENT))
    assert reply.headers["vary"] == "Accept, Accept-Encoding"
    assert reply.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("topic", ["a", "a.nq", "directive", "claims", "j", "packed"])
def test_without_a_version_text_has_the_comment_dialect(server, topic):
    reply = server.get(f"/{topic}")
    assert (reply.headers["content-type"], reply.text) == (LABEL, COMMENT)


@pytest.mark.parametrize("topic", ["a", "directive", "claims", "j", "packed"])
def test_a_version_of_messages_selects_the_directive_dialect(server, topic):
    reply = server.get(f"/{topic}", Accept="application/n-quads; version=1.2-messages")
    assert reply.headers["content-type"] == DIRECTIVE_LABEL
    assert reply.text == f'VERSION "1.2-messages"\n{DIRECTIVE}'


def test_a_smaller_version_is_sent_only_if_the_log_declares_it_and_keeps_to_it(server, folder):
    accept = "application/n-quads; version=1.1-messages"
    reply = server.get("/claims", Accept=accept)
    assert reply.headers["content-type"] == "application/n-quads; version=1.1-messages"
    assert reply.text == f'VERSION "1.1-messages"\n{DIRECTIVE}'
    assert server.get("/a", Accept=accept).status == 406
    star = '<http://e/s> <http://e/p> <<( <http://e/a> <http://e/b> "c" )>> .\n'
    (folder / "liar.nq").write_text(f'VERSION "1.1-messages"\n{star}')
    reply = server.get("/liar", Accept=accept)
    assert (reply.status, "version 1.1 does not have" in reply.text) == (406, True)
    reply = server.get("/liar")
    assert (reply.headers["content-type"], reply.text) == (LABEL, star)


@pytest.mark.parametrize("name", [format.name for format in served_formats()])
@pytest.mark.parametrize("topic", ["a", "j", "directive", "packed"])
def test_every_format_is_sent_with_its_label_and_read_again(server, topic, name):
    reply = server.get(f"/{topic}?format={name}")
    expected = messages_in(COMMENT.encode(), format="nq")
    if not formats.find(name).spec.carries["boundaries"]:
        assert reply.status == 406
        reply = server.get(f"/{topic}?format={name}&messages=1")
        expected = expected[1:2]
    assert reply.status == 200
    kind = reply.headers["content-type"].partition(";")[0]
    assert kind in formats.find(name).spec.media_types
    assert messages_in(reply.body, format=name) == expected
    # The client of rdfm detects the format and the dialect from the label.
    select = "" if len(expected) > 1 else "&messages=1"
    assert messages_in(f"{server.url}/{topic}?format={name}{select}") == expected


def test_a_log_that_a_format_cannot_represent_is_not_sent_in_it(server):
    reply = server.get("/graphs?format=ttl")
    assert (reply.status, "graph names" in reply.text) == (406, True)
    assert "--" not in reply.text
    assert server.get("/graphs", Accept="text/turtle").status == 406
    reply = server.get("/graphs", Accept="image/png")
    assert (reply.status, reply.headers["vary"]) == (406, "Accept")
    reply = server.get("/a", Accept="application/rdf+xml")
    assert (reply.status, "is one message" in reply.text) == (406, True)
    assert server.get("/a?messages=1", Accept="application/rdf+xml").status == 200


def test_relative_iris_are_relative_to_the_url_of_the_topic(server):
    url = f"{server.url}/relative"
    expected = f"<{url}#s> <{server.url}/p> <{url}> .\n"
    assert server.get("/relative", Accept="application/n-quads").text == expected


def test_an_empty_log_is_an_empty_document(server):
    reply = server.get("/empty")
    assert (reply.status, reply.body) == (200, b"")
    assert server.get("/empty?format=trig").body == b""
    assert server.get("/empty", Range="bytes=0-").status == 416


def test_head_has_the_headers_of_get(server):
    for target in ("/a", "/j", "/packed", "/a?from=1"):
        head, get = server.request(target, "HEAD"), server.get(target)
        assert (head.status, head.body) == (200, b"")
        for name in ("content-type", "etag", "vary", "accept-ranges", "content-length"):
            assert head.headers.get(name) == get.headers.get(name)
    assert server.request("/none", "HEAD").status == 404


# --- selections ---


@pytest.mark.parametrize("topic", ["a", "directive", "j", "packed"])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("from=0", [0, 1, 2, 3]),
        ("from=1", [1, 2, 3]),
        ("from=4", []),
        ("from=99", []),
        ("limit=0", []),
        ("limit=2", [0, 1]),
        ("from=1&limit=2", [1, 2]),
        ("messages=2", [2]),
        ("messages=-1", [3]),
        ("messages=-2:", [2, 3]),
        ("messages=:-1", [0, 1, 2]),
        ("messages=::2", [0, 2]),
        ("messages=1::2", [1, 3]),
        ("messages=9:", []),
        ("messages=-99:1", [0]),
    ],
)
def test_messages_are_selected(server, topic, query, expected):
    everything = messages_in(COMMENT.encode(), format="nq")
    reply = server.get(f"/{topic}?{query}&format=nq")
    assert reply.status == 200
    assert messages_in(reply.body, format="nq") == [everything[n] for n in expected]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("from=-1", "from must be a number of messages, not '-1'"),
        ("limit=x", "limit must be"),
        ("messages=x", "not"),
        ("messages=4", "there is no message 4"),
        ("messages=-5", "there is no message -5"),
        ("from=1&messages=1", "messages cannot be combined with from and limit"),
        ("format=none", "the format must be one of"),
        ("format=parquet", "the format must be one of"),
        ("form=nq", "the parameter 'form' is unknown"),
    ],
)
def test_invalid_parameters_are_rejected(server, query, reason):
    reply = server.get(f"/a?{query}")
    assert reply.status == 400
    assert reason in reply.text


@pytest.mark.parametrize("first", [0, 1, 30_000, 59_999, 60_000])
def test_messages_in_the_middle_of_a_large_log_are_selected(server, first):
    lines = numbered(60_000).split("# @message\n")
    reply = server.get(f"/big?from={first}&limit=1", Accept="application/n-quads")
    assert reply.text == "".join(lines[first : first + 1])


# --- tags and ranges ---


@pytest.mark.parametrize("first", [0, 1, 10, 141])
@pytest.mark.parametrize("last", ["", 0, 10, 140, 999])
def test_ranges_are_parts_of_the_stored_bytes(server, first, last):
    data = COMMENT.encode()
    reply = server.get("/a", Range=f"bytes={first}-{last}")
    if last != "" and last < first:  # is ignored
        assert (reply.status, reply.body) == (200, data)
    elif first >= len(data):
        assert (reply.status, reply.headers["content-range"]) == (416, f"bytes */{len(data)}")
    else:
        end = len(data) if last == "" else min(last + 1, len(data))
        assert (reply.status, reply.body) == (206, data[first:end])
        assert reply.headers["content-range"] == f"bytes {first}-{end - 1}/{len(data)}"
        assert reply.headers["content-length"] == str(end - first)


def test_other_ranges(server):
    data = COMMENT.encode()
    assert server.get("/a", Range="bytes=-5").body == data[-5:]
    assert server.get("/a", Range="bytes=-999").body == data
    assert server.get("/a", Range="bytes=-0").status == 416
    for ignored in ("bytes=0-1,3-4", "lines=1-2", "bytes=x", "bytes=-", "bytes", "bytes=1-0"):
        assert (server.get("/a", Range=ignored).status, ignored) == (200, ignored)
    # Converted documents have no ranges.
    reply = server.get("/j", Range="bytes=1-2", Accept="application/n-quads")
    assert (reply.status, reply.text) == (200, COMMENT)
    assert parse_range(f"bytes={'9' * 30}-", 10) is None


def test_a_tag_identifies_the_bytes(folder, server):
    path = folder / "tagged.nq"
    path.write_text(COMMENT)
    first = server.get("/tagged")
    tag = first.headers["etag"]
    assert tag.startswith('"')
    reply = server.get("/tagged", If_None_Match=f'"other", {tag}')
    assert (reply.status, reply.body, reply.headers["etag"]) == (304, b"", tag)
    assert server.get("/tagged", If_Match=tag).status == 200
    tags = {
        tag,
        server.get("/tagged?from=1").headers["etag"],
        server.get("/tagged?format=ttl").headers["etag"],
        server.get("/tagged", Accept_Encoding="gzip").headers["etag"],
    }
    append(path, [])
    tags.add(server.get("/tagged").headers["etag"])
    path.write_text(COMMENT.replace("a", "c"))  # the same length
    tags.add(server.get("/tagged").headers["etag"])
    assert len(tags) == 6
    reply = server.get("/tagged", If_None_Match=tag)
    assert (reply.status, reply.text) == (200, COMMENT.replace("a", "c"))
    assert server.get("/tagged", If_Match=tag).status == 412


def test_a_download_is_resumed_after_the_log_has_grown(folder, server):
    path = folder / "growing.nq"
    path.write_text(COMMENT)
    tag = server.get("/growing").headers["etag"]
    append(path, [], [])
    reply = server.get("/growing", Range="bytes=10-", If_Range=tag)
    assert (reply.status, reply.text) == (206, COMMENT[10:])
    assert reply.headers["etag"] == tag
    assert reply.headers["content-range"] == f"bytes 10-{len(COMMENT) - 1}/{len(COMMENT)}"
    grown = path.read_text()
    assert server.get("/growing", Range="bytes=10-").text == grown[10:]
    new = folder / "new"
    new.write_text(grown.replace("a", "d"))
    new.replace(path)
    reply = server.get("/growing", Range="bytes=10-", If_Range=tag)
    assert (reply.status, reply.text) == (200, path.read_text())


def test_a_compressed_download_is_resumed_with_the_same_bytes(folder, server):
    path = folder / "text.nq"
    path.write_text(COMMENT)
    accept = {"Accept_Encoding": "gzip, zstd"}
    first = server.get("/text", **accept)
    append(path, [])
    again = server.get("/text", Range="bytes=5-", If_Range=first.headers["etag"], **accept)
    assert (again.status, again.body) == (200, first.body)
    assert again.headers["etag"] == first.headers["etag"]


# --- content codings ---


def decompressed(reply):
    coding = reply.headers.get("content-encoding", "identity")
    functions = {"gzip": gzip.decompress, "zstd": zstd.decompress, "identity": bytes}
    return coding, functions[coding](reply.body).decode()


@pytest.mark.parametrize("target", ["/a", "/packed", "/j", "/a?from=0"])
@pytest.mark.parametrize("coding", ["gzip", "zstd", "identity"])
def test_bodies_are_compressed_if_the_client_accepts_it(server, target, coding):
    reply = server.get(target, Accept_Encoding=coding, Accept="application/n-quads")
    assert decompressed(reply) == (coding, COMMENT)


def test_a_compressed_log_is_sent_as_it_is_stored(server, folder):
    stored = (folder / "packed.nq.gz").read_bytes()
    reply = server.get("/packed", Accept_Encoding="zstd, gzip")
    assert (reply.headers["content-encoding"], reply.body) == ("gzip", stored)
    reply = server.get("/packed", Accept_Encoding="gzip", Range="bytes=3-7")
    assert (reply.status, reply.body) == (206, stored[3:8])
    assert server.get("/packed", Range="bytes=3-7").status == 200


def test_binary_logs_are_not_compressed_unless_the_client_refuses_them_otherwise(server, folder):
    accept = "application/x-jelly-rdf"
    reply = server.get("/j", Accept_Encoding="gzip", Accept=accept)
    assert reply.body == (folder / "j.jelly").read_bytes()
    reply = server.get("/j", Accept_Encoding="gzip, identity;q=0", Accept=accept)
    assert gzip.decompress(reply.body) == (folder / "j.jelly").read_bytes()


def test_a_client_that_accepts_no_coding_is_rejected(server):
    assert server.get("/a", Accept_Encoding="identity;q=0, br").status == 406


# --- growing and broken logs ---


def test_uncommitted_bytes_are_not_sent(folder, server):
    path = folder / "open.nq"
    path.write_text(A)
    journal = Journal(path)
    with path.open("ab") as file:
        journal.commit(Commit(len(A)), os.open(path, os.O_RDONLY))
        file.write(b"# @message\n<http://e/half")
        file.flush()
        assert server.get("/open").text == A
        assert server.get("/open?format=trig").status == 200
        assert server.get("/open", Range="bytes=0-").text == A
    journal.release()


def test_a_response_ends_at_the_length_of_its_beginning(folder, server):
    path = folder / "long.nq"
    text = numbered(300_000)
    path.write_text(text)
    for headers in ({}, {"Accept": "application/n-quads; version=1.2-messages"}):
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request("GET", "/long", headers=headers)
        response = connection.getresponse()
        start = response.read(1000)
        append(path, [], [])
        body = (start + response.read()).decode()
        expected = text.replace("# @message", "MESSAGE") if headers else text
        assert body.removeprefix('VERSION "1.2-messages"\n') == expected
        connection.close()
        path.write_text(text)


def test_a_broken_log_is_an_error_without_a_path(folder, server):
    (folder / "broken.nq").write_text(f"{A}# @message\noops\n")
    reply = server.get("/broken?format=trig")
    assert reply.status == 500
    assert "broken: expected" in reply.text or "nq: " in reply.text
    assert str(folder) not in reply.text
    assert "message 1" in reply.text
    assert server.get("/broken?limit=1").text == A


def test_a_response_that_cannot_be_completed_is_cut(folder, server):
    lines = numbered(100_000)
    (folder / "late.nq").write_text(f"{lines}# @message\noops\n")
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("GET", "/late?format=trig")
    response = connection.getresponse()
    assert response.status == 200
    with pytest.raises(http.client.IncompleteRead) as cut:
        response.read()
    # What precedes the error was delivered.
    assert b'"000099999"' in cut.value.partial
    connection.close()
