"""The event log of `rdfm serve`."""

import contextlib
import io
import json
import os
import re
import threading

import pytest

from rdfm.live import events
from rdfm.live.events import EventLog

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


def written(format, *calls, **settings):
    stream = io.StringIO()
    log = EventLog(stream, format, **settings)
    for level, event, fields in calls:
        log.write(level, event, **fields)
    log.close()
    return stream.getvalue()


def test_text_has_pairs():
    fields = {"topic": "new b", "count": 3, "open": True, "nothing": None, "name": "été"}
    text = written("text", ("info", "start", fields))
    assert re.fullmatch(rf'{TIME} info start topic="new b" count=3 open=true name=été\n', text)


def test_json_has_objects():
    text = written("json", ("error", "error", {"topic": "a\nb", "seconds": 0.5, "nothing": None}))
    found = json.loads(text)
    assert re.fullmatch(TIME, found.pop("time"))
    assert found == {"level": "error", "event": "error", "topic": "a\nb", "seconds": 0.5}


@pytest.mark.parametrize("format", ["text", "json"])
@pytest.mark.parametrize("topic", ["a\nb", "a\x1b[2J", "a\u202eb", "a\u2028b", 'a" b=c', "\ud800"])
def test_an_event_is_one_printable_line(format, topic):
    text = written(format, ("info", "start", {"topic": topic}), ("info", "stop", {}))
    assert len(text.splitlines()) == 2
    assert all(line.isprintable() for line in text.splitlines())


@pytest.mark.parametrize("format", ["text", "json"])
def test_long_fields_are_shortened(format):
    assert len(written(format, ("info", "start", {"topic": "x" * 100_000}))) < 700


def test_errors_only():
    calls = [(level, level, {}) for level in ("info", "warning", "error")]
    assert written("text", *calls, errors_only=True).count("\n") == 1


def test_lines_are_dropped_while_the_stream_blocks(monkeypatch):
    monkeypatch.setattr(events, "MAX_WAITING", 10)
    monkeypatch.setattr(events, "_END_SECONDS", 0.1)
    released = threading.Event()

    class Blocked(io.StringIO):
        def write(self, text):
            released.wait(20)
            return super().write(text)

    stream = Blocked()
    log = EventLog(stream)
    for _ in range(100):
        log.write("info", "start")
    assert 85 <= log.dropped <= 90
    log.close()  # does not wait for long either
    released.set()


def test_a_closed_stream_does_not_end_the_log():
    reading, writing = os.pipe()
    os.close(reading)
    stream = os.fdopen(writing, "w")
    log = EventLog(stream)
    log.write("info", "start")
    log.write("info", "stop")
    log.close()
    assert log.dropped == 2
    with contextlib.suppress(BrokenPipeError):
        stream.close()
