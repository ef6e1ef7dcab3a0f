"""Live streams as inputs and outputs, with a server that shares no code with rdfm."""

import contextlib
import os
import threading
import time

import grpc
import pytest
from jelly_grpc import PROTO, Server, frames_of, message
from jelly_proto import Reader, delimited
from nquads import isomorphic
from support import as_batch, quads_of

import rdfm
from rdfm.storage import live
from rdfm.storage.live import LiveAddress, LiveError, LiveSettings

MESSAGES = [message(n) for n in range(50)]
GRAPH = ("iri", "http://example.org/g")


def url(server, topic="t"):
    return f"grpc://localhost:{server.port}/{topic}"


def read(source, **options):
    """Returns the messages of a log, and the error after these messages or None."""
    found = []
    try:
        with rdfm.open_log(source, **options) as log:
            for batch in log.batches():
                found += [quads_of(batch, n) for n in range(len(batch))]
    except (rdfm.RdfmError, OSError) as error:
        return found, error
    return found, None


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(live, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.delenv("RDFM_GRPC_TOKEN", raising=False)


@pytest.mark.parametrize("physical", [1, 2, 3])
def test_a_topic_is_read_like_a_log(physical):
    messages = [*MESSAGES, [], message(1, None if physical == 1 else GRAPH)]
    with Server(frames_of(messages, physical=physical)) as server:
        found, error = read(url(server, "a%20b/%C3%A9"))
        assert server.topics == ["a b/é"]
    assert error is None
    assert len(found) == len(messages)
    assert all(map(isomorphic, found, messages))


def test_the_start_and_the_end_are_requested_by_metadata():
    with Server(frames_of(MESSAGES)) as server:
        read(url(server))
        read(url(server), storage_options={"follow": False, "from_end": True})
        first, second = server.metadata
    assert not any(name.startswith("rdfm-") for name in first)
    assert (second["rdfm-follow"], second["rdfm-start"]) == ("false", "end")


def test_the_token_is_sent(monkeypatch):
    with Server(frames_of(MESSAGES)) as server:
        read(url(server), storage_options={"token": "abc", "headers": {"X-Own": "1"}})
        monkeypatch.setenv("RDFM_GRPC_TOKEN", "def\n")
        read(url(server))
        assert [each.get("authorization") for each in server.metadata] == [
            "Bearer abc",
            "Bearer def",
        ]
        assert server.metadata[0]["x-own"] == "1"


@pytest.mark.parametrize("breaks", [[0], [1], [20], [20, 30], [30, 10, 45], [50], [7] * 4])
def test_a_lost_connection_is_resumed_at_the_next_message(breaks):
    with Server(frames_of(MESSAGES), break_after=breaks) as server:
        found, error = read(url(server), storage_options={"retry": 5})
        assert len(server.topics) == len(breaks) + 1
    assert error is None
    assert found == MESSAGES


@pytest.mark.parametrize("physical", [1, 2, 3])
def test_blank_nodes_and_graphs_survive_a_reconnection(physical):
    node = ("bnode", "b0")
    messages = [
        [(node, ("iri", f"http://e/{n % 3}/p{n}"), node, None if physical == 1 else GRAPH)]
        for n in range(40)
    ]
    frames = frames_of(messages, physical=physical)
    with Server(frames, break_after=[13]) as server:
        found, error = read(url(server), storage_options={"retry": 1})
    assert error is None
    assert all(map(isomorphic, found, messages))


def test_without_retry_a_lost_connection_is_an_error_after_earlier_messages():
    with Server(frames_of(MESSAGES), break_after=[20]) as server:
        found, error = read(url(server))
    assert found == MESSAGES[:20]
    assert isinstance(error, LiveError)
    assert "interrupted" in str(error)


def test_retry_limits_consecutive_attempts():
    with Server(frames_of(MESSAGES), break_after=[5, 0, 0, 8, 0, 0]) as server:
        assert read(url(server), storage_options={"retry": 3}) == (MESSAGES, None)
    with Server(frames_of(MESSAGES), break_after=[5, 0, 0, 0]) as server:
        found, error = read(url(server), storage_options={"retry": 2})
    assert found == MESSAGES[:5]
    assert error is not None


def test_changed_options_after_a_reconnection_are_an_error():
    server = Server(frames_of(MESSAGES), break_after=[20])
    with server, rdfm.open_log(url(server), storage_options={"retry": 2}) as log:
        batches = log.batches()
        count = 0
        while count < 20:
            count += len(next(batches))
            server.frames = frames_of(MESSAGES, physical=3)
        with pytest.raises(
            (rdfm.DecodeError, OSError), match="stream options after reconnecting are"
        ):
            while True:
                count += len(next(batches))


def test_a_flat_stream_is_not_continued():
    with Server(frames_of(MESSAGES, physical=1, logical=1), break_after=[20]) as server:
        _, error = read(url(server), storage_options={"retry": 5})
    assert "a flat stream cannot be continued" in str(error)


def test_a_stream_must_begin_with_options():
    with Server(frames_of(MESSAGES)[1:]) as server:
        _, error = read(url(server))
    assert "does not begin with stream options" in str(error)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("NOT_FOUND", "no such topic"),
        ("UNAUTHENTICATED", "RDFM_GRPC_TOKEN"),
        ("PERMISSION_DENIED", "no such topic"),
        ("UNIMPLEMENTED", "has no Jelly gRPC service"),
        ("RESOURCE_EXHAUSTED", "no such topic"),
    ],
)
def test_a_rejection_is_reported_in_one_sentence(code, text):
    with Server() as server:
        server.refusal = (grpc.StatusCode[code], "no such topic")
        _, error = read(url(server))
        assert isinstance(error, LiveError)
        assert error.code == code
        assert text in str(error)
        with pytest.raises(LiveError, match=text):
            rdfm.convert(delimited(frames_of(MESSAGES)), url(server), from_format="jelly")


def test_messages_are_published(tmp_path):
    with Server() as server:
        summary = rdfm.convert(
            delimited(frames_of(MESSAGES)), url(server, "a%20b"), from_format="jelly"
        )
        frames = server.published[0]
    assert summary.messages == 50
    assert frames[0].rows[0].options.stream_name == "a b"
    reader = Reader()
    assert [reader.frame(frame) for frame in frames] == MESSAGES
    assert not any(frame.metadata for frame in frames)


def test_messages_are_sent_when_they_are_written():
    with Server() as server:
        with rdfm.create_log(url(server)) as log:
            for number in range(3):
                log.write_batch(as_batch([message(number)]))
                log.flush()
                deadline = time.monotonic() + 10
                while not server.published or len(server.published[0]) <= number:
                    assert time.monotonic() < deadline
                    time.sleep(0.005)
        assert len(server.published[0]) == 3


@pytest.mark.parametrize("compression", [None, "gzip", "none"])
def test_frames_may_be_compressed(compression):
    with Server() as server:
        with rdfm.create_log(url(server), compression=compression) as log:
            log.write_batch(as_batch(MESSAGES))
        reader = Reader()
        assert [reader.frame(frame) for frame in server.published[0]] == MESSAGES


def test_writers_wait_for_a_slow_server():
    batch = as_batch([[(*message(n)[0][:2], ("literal", f"{n}" * 20_000, None, None, "http://www.w3.org/2001/XMLSchema#string"), None)] for n in range(10)])  # fmt: skip
    with Server() as server:
        server.proceed.clear()
        finished = threading.Event()

        def write():
            with rdfm.create_log(url(server)) as log:
                for _ in range(400):
                    log.write_batch(batch)
            finished.set()

        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        time.sleep(1)
        assert not finished.is_set()  # the writer waits for the server
        server.proceed.set()
        thread.join(60)
        assert len(server.published[0]) == 4000


def test_a_server_that_ends_a_publication_early_is_an_error():
    with Server() as server:
        server.accept = 3
        with (
            pytest.raises(LiveError, match="the server ended the stream early"),
            rdfm.create_log(url(server)) as log,
        ):
            log.write_batch(as_batch([message(number) for number in range(5000)]))


def test_a_stream_that_is_shorter_after_a_reconnection_is_an_error():
    server = Server(frames_of(MESSAGES), break_after=[20])
    with server, rdfm.open_log(url(server), storage_options={"retry": 2}) as log:
        batches = log.batches()
        next(batches)
        server.frames = server.frames[:10]
        with pytest.raises(rdfm.DecodeError, match="ended 10 messages before the point"):
            list(batches)


def test_an_exception_cancels_the_publication():
    with Server() as server:
        with pytest.raises(KeyError), rdfm.create_log(url(server)) as log:
            log.write_batch(as_batch(MESSAGES))
            raise KeyError
        with contextlib.suppress(IndexError):
            assert len(server.published[0]) <= 50


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("grpc:///topic", "has no host"),
        ("grpc://localhost/topic", "has no port"),
        ("grpc://localhost:x/topic", "not a valid URL"),
        ("grpc://me:secret@localhost:1/topic", "a token does not belong in the URL"),
        ("grpc://localhost:1/a?b", "as %3F and %23"),
        ("grpc://localhost:1/%FF", "not valid UTF-8"),
    ],
)
def test_invalid_urls_are_rejected(address, text):
    for function in (rdfm.open_log, rdfm.create_log):
        with pytest.raises(rdfm.OptionError, match=text) as failed:
            function(address)
        assert "secret" not in str(failed.value)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"frobnicate": 1}, "storage_options of grpc and grpcs URLs are"),
        ({"last_event_id": "5"}, "last_event_id is for streams of events"),
        ({"retry": -1}, "retry has an invalid value"),
        ({"retry": True}, "retry has an invalid value"),
        ({"follow": "yes"}, "follow has an invalid value"),
        ({"retry": 1, "from_end": True}, "remove one of them"),
        ({"tls_cert": "a"}, "must be used together"),
        ({"tls_ca": "a"}, "write grpcs"),
    ],
)
def test_invalid_settings_are_rejected(options, text):
    with pytest.raises(rdfm.OptionError, match=text):
        rdfm.open_log("grpc://localhost:1/a", storage_options=options)


def test_options_that_live_streams_do_not_support_are_rejected():
    target = "grpc://localhost:1/a"
    for options, text in (
        ({"format": "nq"}, "live streams are in Jelly, not nq"),
        ({"compression": "zstd"}, "compresses with gzip, not zstd"),
        ({"append": True}, "omit append"),
        ({"split_messages": 1}, "not a folder"),
        ({"overwrite": True}, "not a folder"),
        ({"dialect": "comment"}, "dialect"),
    ):
        with pytest.raises(rdfm.OptionError, match=text):
            rdfm.create_log(target, **options)


def test_a_stream_name_that_is_not_the_topic_is_rejected():
    with (
        Server() as server,
        pytest.raises(rdfm.OptionError, match="the topic is 't'"),
        rdfm.create_log(url(server), stream_name="other") as log,
    ):
        log.write_batch(as_batch(MESSAGES))


def test_a_topic_may_have_the_suffix_of_a_format():
    with Server(frames_of(MESSAGES)) as server:
        assert read(url(server, "sensors.nq"))[0] == MESSAGES


def test_addresses_have_defaults():
    assert LiveAddress.parse("grpcs://example.org/t").port == 443
    assert LiveAddress.parse("grpc://[::1]:90").target == "[::1]:90"
    assert LiveAddress.parse("grpc://h:90/").topic == ""


def test_settings_hide_the_token():
    assert "abc" not in repr(LiveSettings.from_options({"token": "abc", "headers": {"a": "abc"}}))


def test_the_error_for_a_missing_extra_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "grpc", None)
    for function in (rdfm.open_log, rdfm.create_log):
        with pytest.raises(rdfm.MissingExtraError, match="rdfm\\[grpc\\]"):
            function("grpc://localhost:1/a")


def test_a_forked_process_does_not_publish():
    with Server() as server:
        log = rdfm.create_log(url(server))
        log._output._process = os.getpid() + 1
        with pytest.raises(PermissionError):
            log.write([])
        log._output._process = os.getpid()
        log.discard()


def test_the_receipt_message_is_empty():
    assert PROTO.RdfStreamReceived().SerializeToString() == b""
