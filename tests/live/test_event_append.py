"""Streams of events that are appended to a log, in several runs."""

import json
import re
from pathlib import Path

import pytest
from live_logs import append, messages_in
from sse import encode_event as event
from web import send, site
from web_serve import serve_web

import rdfm
from rdfm.errors import DecodeError, OptionError
from rdfm.logs.write import append as appending
from rdfm.storage import event_source

pytestmark = pytest.mark.slow

A = '<http://e/s> <http://e/p> "a" .'
B = '<http://e/s> <http://e/p> "b" .'
LOG = f"{A}\n# @message\n{B}\n# @message\n# @message\n{A}\n{B}\n".encode()
MESSAGES = messages_in(LOG, format="nq")
STREAM = {"Content_Type": "text/event-stream", "RDF_Message_Content_Type": "application/n-quads"}
NAMES = ["m.nq", "m.nq.gz", "m.jelly", "m.trig"]


@pytest.fixture(autouse=True)
def _folder(monkeypatch, tmp_path):
    monkeypatch.setattr(event_source, "DEFAULT_RETRY_SECONDS", 0.01)
    monkeypatch.chdir(tmp_path)


def run(url, log="m.nq", **options):
    return rdfm.convert(url, log, **{"append": True, "follow": False, **options})


def state(log="m.nq"):
    return json.loads(Path(f"{log}.state.json").read_text())


def serve_events(web, *events, path="/events"):
    return web.on(path, send(200, b"".join(events), **STREAM))


def requested_id(web):
    return web.requests[-1][2].get("Last-Event-ID")


@pytest.mark.parametrize("sync", [False, True], ids=["", "sync"])
@pytest.mark.parametrize("name", NAMES)
def test_a_later_run_continues_after_the_last_event(name, sync):
    Path("logs").mkdir()
    Path("logs/a.nq").write_bytes(LOG)
    with serve_web("logs") as server:
        url = f"{server.url}/a/events"
        for take in (1, 2):
            assert run(url, name, take=take, sync=sync).messages == take
        assert messages_in(name) == MESSAGES[:3]
        assert run(url, name, sync=sync).messages == 1
        assert run(url, name, sync=sync).messages == 0
        append(Path("logs/a.nq"), [], [])
        assert run(url, name, sync=sync).messages == 2
    assert messages_in(name) == [*MESSAGES, [], []]
    with rdfm.open_log("logs/a.nq") as original:
        assert len(messages_in(name)) == sum(len(batch) for batch in original.batches())


def test_blank_nodes_are_skolemized_in_messages_of_all_runs():
    with site() as web:
        for number in range(3):
            url = serve_events(web, event("_:a <http://e/p> _:a .", f"{number}"))
            assert run(url, skolemize="http://e").messages == 1
        assert requested_id(web) == "1"
    assert len({quad[0] for message in messages_in("m.nq") for quad in message}) == 3


def test_messages_that_are_not_kept_do_not_hide_others():
    with site() as web:
        url = serve_events(web, event(A, 1), event("oops", 2), event(B, 3), event("oops", 4))
        assert run(url, on_error="skip").messages == 2
        url = serve_events(web, event("oops", 4), event("", 5))
        assert run(url, on_error="skip").messages == 1
        assert requested_id(web) == "3"
    assert messages_in("m.nq") == MESSAGES[:3]


def test_after_an_error_the_next_run_continues_after_the_last_commit():
    with site() as web:
        url = serve_events(web, event(A, 1), event(B, 2), event("oops", 3))
        with pytest.raises(DecodeError):
            run(url)
        assert not Path("m.nq").exists()
        with pytest.raises(DecodeError):
            run(url, sync=True)
        assert messages_in("m.nq") == MESSAGES[:2]
        assert run(serve_events(web, event("", 3))).messages == 1
        assert requested_id(web) == "2"
    assert messages_in("m.nq") == MESSAGES[:3]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("point", ["before", "after"])
def test_the_state_has_the_id_of_the_log_wherever_a_run_stops(name, point, monkeypatch):
    """A run ends before or after each commit, as if it was killed."""
    commits = 0
    publish = appending._AppendedFiles.publish

    class Killed(BaseException):
        pass

    def stop(self, end, *, sync):
        nonlocal commits
        commits += 1
        if point == "after":
            publish(self, end, sync=sync)
        raise Killed

    def leave(self):
        """Roll nothing back."""
        self._close_files()

    events = [event(A, "x"), event(B, "ü€"), event("", "z"), event(f"{A}\n{B}", "last")]
    ids = ["", "x", "ü€", "z", "last"]
    with site() as web:
        count = 0
        while count < len(events):
            url = serve_events(web, *events[count:])
            with monkeypatch.context() as patch:
                patch.setattr(appending._AppendedFiles, "publish", stop)
                patch.setattr(appending._AppendedFiles, "roll_back", leave)
                with pytest.raises(Killed):
                    run(url, name, sync=True)
            expected = ids[count].encode().decode("latin-1") or None
            assert requested_id(web) == expected
            count += point == "after"
            if point == "before":
                assert run(serve_events(web, *events[count:]), name, take=1).messages == 1
                assert requested_id(web) == expected
                count += 1
        assert run(serve_events(web), name).messages == 0
        assert requested_id(web) == "last"
    assert messages_in(name) == MESSAGES
    assert commits >= len(events)


def test_a_lost_state_is_an_error():
    with site() as web:
        run(serve_events(web, event(A, 1)))
        Path("m.nq.state.json").unlink()
        url = serve_events(web, event(B, 2))
        for options in ({}, {"from_end": True}):
            with pytest.raises(
                OptionError, match=r"m\.nq has messages, but .* m\.nq\.state\.json "
            ):
                run(url, **options)
        assert messages_in("m.nq") == MESSAGES[:1]
        assert run(url, last_event_id="1").messages == 1
        assert requested_id(web) == "1"
        assert run(serve_events(web, event("", 3))).messages == 1
        assert requested_id(web) == "2"
    assert messages_in("m.nq") == MESSAGES[:3]


def test_an_existing_log_is_continued_with_the_first_event():
    Path("m.nq").write_text(f"{A}\n")
    with site() as web:
        run(serve_events(web, event(B, 2)), last_event_id="")
        assert requested_id(web) is None
    assert messages_in("m.nq") == MESSAGES[:2]


@pytest.mark.parametrize("change", ["append", "truncate", "replace", "remove"])
def test_a_changed_log_is_an_error(change):
    log = Path("m.nq")
    with site() as web:
        run(serve_events(web, event(A, 1), event(B, 2)))
        if change == "append":
            append(log, [])
        elif change == "truncate":
            log.write_bytes(log.read_bytes()[: len(A) + 1])
        elif change == "replace":
            log.write_bytes(log.read_bytes().replace(b'"a"', b'"c"'))
        else:
            log.unlink()
        before = log.read_bytes() if log.exists() else None
        url = serve_events(web, event("", 3))
        with pytest.raises(OptionError, match="was changed after its last event") as caught:
            run(url)
        assert [remedy.value for remedy in caught.value.remedies] == ["2"]
        assert (log.read_bytes() if log.exists() else None) == before
        assert run(url, last_event_id="2").messages == 1


def test_a_log_belongs_to_one_stream():
    with site() as web:
        run(serve_events(web, event(A, 1)))
        other = serve_events(web, event(B, 1), path="/other")
        with pytest.raises(OptionError, match=f"contains the events of {web.url}/events, not of"):
            run(other)
        # The password is not part of the identity, and is not stored.
        url = serve_events(web, event(B, 2)).replace("://", "://user:secret@")
        assert run(url).messages == 1
    assert "secret" not in Path("m.nq.state.json").read_text()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 10_000,
        '{"version": 2}',
        '{"version": 1, "positions": [{"length": 1}]}',
    ],
)
def test_another_file_is_not_a_state(text):
    Path("m.nq").write_text(f"{A}\n")
    Path("m.nq.state.json").write_text(text)
    with site() as web, pytest.raises(OptionError, match="is not the state of a log"):
        run(serve_events(web, event(A, 1)))


def test_a_document_is_appended_as_before():
    with site() as web:
        url = web.on("/a.nq", send(200, LOG))
        for _ in range(2):
            rdfm.convert(url, "m.nq", append=True)
        assert "Last-Event-ID" not in web.requests[-1][2]
    assert messages_in("m.nq") == MESSAGES * 2
    assert not Path("m.nq.state.json").exists()


def test_streams_without_ids_are_received_at_least_once():
    with site() as web:
        for ids in ((None, None), ("", ""), (1, 1), (1, None)):
            url = serve_events(
                web, *(event(text, id) for text, id in zip((A, B), ids, strict=True))
            )
            log = f"{ids[0]}{ids[1]}.nq"
            assert "at least once" in " ".join(run(url, log).notes)
            assert run(url, log).messages == 2
        assert not run(serve_events(web, event(A, 1), event(B, 2)), "b.nq").notes


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"group_by": "count=2"}, "cannot be appended with group_by"),
        ({"split_by": "day"}, "to a single log only"),
        ({"more": True}, "only without other inputs"),
    ],
)
def test_what_has_no_single_position_is_rejected(options, reason):
    options = dict(options)
    with site() as web:
        url = serve_events(web, event(A, 1))
        inputs = [url, url] if options.pop("more", False) else url
        log = "logs/" if "split_by" in options else "m.nq"
        with pytest.raises(OptionError, match=re.escape(reason)):
            run(inputs, log, **({"to": "nq"} if log == "logs/" else {}), **options)
    assert not Path("m.nq").exists()


def test_the_id_of_the_last_event_is_in_the_header():
    with site() as web:
        url = serve_events(web, event(A, "ä"), event(B, 2))
        with rdfm.open_log(url, storage_options={"follow": False}) as log:
            ids = [log.header["event_id"] for _ in log]
    assert ids == ["ä", "2"]


def test_the_state_is_not_a_log(tmp_path):
    Path("logs").mkdir()
    with site() as web:
        run(serve_events(web, event(A, 1)), "logs/m.nq")
    assert messages_in("logs/") == MESSAGES[:1]
    with serve_web("logs") as server:
        assert server.get("/m.nq.state.json").status == 404
        assert "state" not in server.get("/", Accept="text/html").text
