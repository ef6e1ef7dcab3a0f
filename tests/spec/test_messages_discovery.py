"""The discovery cases of RDF Messages: labels of live streams, as rdfm reads and sends them."""

import json

import pytest
import suites
from live_logs import messages_in
from nquads import isomorphic, read_quads
from sse import encode_event, parse
from web import send, site
from web_serve import serve_web

import rdfm
from rdfm.errors import UnsupportedError

SUITE = suites.path("conformance", "messages")
CASES = {
    case["id"].removeprefix("discovery-"): case
    for case in json.loads((SUITE / "manifest.json").read_text("utf-8"))["cases"]
    if case["kind"] == "discovery"
}
# Transports that rdfm does not support announce messages as it does for events.
SUBPROTOCOLS = {"rdfm.n-triples": "application/n-triples"}
ONCE = {"storage_options": {"follow": False}}


def label(case):
    """Returns the media type of one message; None for frames of Jelly."""
    metadata = case.get("metadata", {})
    if "response" in metadata:
        return SUBPROTOCOLS[metadata["response"].rpartition(" ")[2]]
    headers = metadata.get("headers", metadata.get("properties", {}))
    return headers.get("RDF-Message-Content-Type", headers.get("Content Type"))


def assert_messages(found, case):
    texts = case["expected"]["messages"]
    assert len(found) == len(texts)
    for message, text in zip(found, texts, strict=True):
        assert isomorphic(message, read_quads(text))


def inputs(case):
    return [(SUITE / name).read_bytes() for name in case.get("inputs", [case.get("input")])]


def test_the_cases_are_known():
    assert CASES.keys() == {
        *("kafka", "websocket", "mqtt", "broker", "jelly-grpc"),
        *("sse-jsonld-context", "sse-rejects-binary"),
    }


@pytest.mark.parametrize("name", ["kafka", "websocket", "mqtt", "broker"])
def test_the_label_determines_the_format_of_each_message(name):
    case = CASES[name]
    body = b"".join(encode_event(data.decode().removesuffix("\n")) for data in inputs(case))
    headers = {"Content_Type": "text/event-stream", "RDF_Message_Content_Type": label(case)}
    with site() as web:
        found = messages_in(web.on("/", send(200, body, **headers)), **ONCE)
    assert_messages(found, case)


@pytest.mark.parametrize("name", ["kafka", "websocket", "mqtt", "broker"])
def test_the_server_sends_the_label(name, tmp_path):
    case = CASES[name]
    logs = tmp_path / "logs"
    logs.mkdir()
    files = [str(SUITE / path) for path in case["inputs"]]
    rdfm.convert(files, logs / "a.trig", message_per_file=True)
    with serve_web(logs) as server:
        accept = f"text/event-stream, {label(case)}"
        reply = server.get("/a/events?follow=false", Accept=accept)
        assert reply.headers["rdf-message-content-type"] == label(case)
        found = messages_in(f"{server.url}/a/events?format={case['format']}", **ONCE)
    assert len(parse(reply.body)) == len(files)
    assert_messages(found, case)


@pytest.mark.parametrize("name", ["sse-jsonld-context", "sse-rejects-binary"])
def test_events_have_the_format_and_the_context_of_the_headers(name, tmp_path):
    case = CASES[name]
    headers = {key.replace("-", "_"): value for key, value in case["metadata"]["headers"].items()}
    options = dict(ONCE)
    for url, context in case["metadata"].get("contexts", {}).items():
        (tmp_path / "context.jsonld").write_text(json.dumps(context))
        options["context"] = {url: str(tmp_path / "context.jsonld")}
    (body,) = inputs(case)
    with site() as web:
        url = web.on("/", send(200, body, **headers))
        if case["expected"].get("error"):
            with pytest.raises(UnsupportedError, match="cannot be sent as events"):
                messages_in(url, **options)
        else:
            assert_messages(messages_in(url, **options), case)


def test_the_server_rejects_binary_events(tmp_path):
    # Jelly gRPC sends a message per frame, whatever the logical type is.
    stored = str(SUITE / CASES["jelly-grpc"]["input"])
    rdfm.convert(stored, tmp_path / "a.jelly", from_frames="message", to_frames="message")
    with serve_web(tmp_path) as server:
        assert server.get("/a/events?format=jelly").status == 400
        headers = CASES["sse-rejects-binary"]["metadata"]["headers"]
        reply = server.get("/a", Accept=headers["RDF-Message-Content-Type"])
        assert reply.headers["content-type"] == "application/x-jelly-rdf"
    assert_messages(messages_in(reply.body, format="jelly"), CASES["jelly-grpc"])


def test_frames_of_jelly_are_messages():
    case = CASES["jelly-grpc"]
    assert_messages(messages_in(inputs(case)[0], format="jelly", frames="message"), case)
