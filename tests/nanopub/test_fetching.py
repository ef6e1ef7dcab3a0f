"""Registry mirrors: appended messages, and failures of the registry and of the process."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import registry_double
import web

import rdfm
from rdfm import nanopub
from rdfm.nanopub import counter, fetch, fetching, trusty
from rdfm.nanopub import state as states
from rdfm.storage.addresses import HttpError

COUNT = 60
SUFFIXES = {
    "nq": ".nq",
    "trig": ".trig",
    "jelly": ".jelly",
    "ndjsonld": ".ndjsonld",
    "yamlld": ".yamlld",
}


@pytest.fixture
def registry(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fetching, "FIRST_WAIT_SECONDS", 0.02)
    monkeypatch.setattr(fetching, "MAX_WAIT_SECONDS", 0.02)
    with registry_double.registry(COUNT) as opened:
        yield opened


def numbers(log):
    """Returns the numbers of the nanopublications in a log, in log order."""
    weight = rdfm.Iri("http://example.org/weight")
    with rdfm.open_log(log) as opened:
        return [
            int(next(quad.object.value for quad in message if quad.predicate == weight))
            for message in opened
        ]


def correct_code(number):
    """Returns the artifact code that matches the content of a nanopublication."""
    with rdfm.open_log(registry_double.body([(1, number)]), "jelly") as log:
        return trusty.artifact_code(next(iter(log)), registry_double.code(number))


def is_complete(registry, log="m.jelly"):
    """Checks that a log contains each nanopublication once, and that its state is correct."""
    state = json.loads(Path(f"{log}.state.json").read_text())
    assert state["length"] == Path(log).stat().st_size
    assert state["counter"] == max(registry.stored)
    assert not Path(f"{log}.append").exists()
    assert sorted(numbers(log)) == list(range(1, len(registry.stored) + 1))
    return True


@pytest.mark.parametrize(
    "name",
    [f"m{suffix}" for suffix in SUFFIXES.values()]
    + ["m.nq.gz", "m.jelly.zst", "m.pb.xz", "m.trig.bz2"],
)
def test_further_runs_append_only_new_nanopublications(registry, name):
    options = {"to": "rdf-protobuf"} if ".pb" in name else {}
    result = fetch(registry.url, name, **options)
    assert (result.messages, result.counter, result.load_counter) == (COUNT, COUNT, COUNT)
    registry.add(7, gap=5)
    result = fetch(registry.url, name, **options)
    assert (result.messages, result.counter) == (7, COUNT + 12)
    assert fetch(registry.url, name, **options).messages == 0
    with rdfm.open_log(name, options.get("to")) as log:
        assert [len(message) for message in log] == [8] * (COUNT + 7)
    assert registry.requested_counters == [-1, -1, -1]  # the log is shorter than the overlap


def test_messages_equal_those_of_the_registry(registry):
    fetch(registry.url, "m.jelly")
    with rdfm.open_log(registry_double.body(sorted(registry.stored.items())), "jelly") as log:
        expected = list(log)
    with rdfm.open_log("m.jelly") as log:
        found = list(log)
    assert [list(message) for message in found] == [list(message) for message in expected]
    assert [message.metadata for message in found] == [message.metadata for message in expected]
    assert [counter(message) for message in found] == list(range(1, COUNT + 1))
    assert found[0].namespaces["dct"] == registry_double.DCT


def test_only_the_overlap_is_requested_again(registry):
    fetch(registry.url, "m.jelly", overlap=10)
    fetch(registry.url, "m.jelly", overlap=20)  # only the last 10 are known
    registry.add(30)
    fetch(registry.url, "m.jelly", overlap=20)
    fetch(registry.url, "m.jelly", overlap=20)
    fetch(registry.url, "m.jelly", overlap=0)
    assert registry.requested_counters == [-1, COUNT - 10, COUNT - 10, COUNT + 10, COUNT + 30]
    assert is_complete(registry)


def test_nanopublications_with_late_counters_are_appended_once(registry):
    registry.hidden = {COUNT - 3, COUNT - 1}
    assert fetch(registry.url, "m.jelly").messages == COUNT - 2
    registry.hidden = {COUNT - 1}
    assert fetch(registry.url, "m.jelly").messages == 1
    registry.hidden = set()
    registry.add(2)
    assert fetch(registry.url, "m.jelly").messages == 3
    assert fetch(registry.url, "m.jelly").messages == 0
    assert is_complete(registry)


def test_the_same_nanopublication_with_another_counter_is_dropped(registry):
    registry.stored[COUNT + 1] = COUNT
    result = fetch(registry.url, "m.jelly")
    assert (result.messages, result.duplicates) == (COUNT, 1)


# --- bodies that end early ---


@pytest.mark.parametrize("share", [0, 0.01, 0.5, 0.999])
@pytest.mark.parametrize("fault", ["closing_early", "truncated"])
def test_a_body_that_ends_early_is_continued(registry, fault, share):
    registry.faults = [getattr(registry, fault)(share)] * 2
    notes = []
    result = fetch(registry.url, "m.jelly", notify=notes.append)
    assert result.messages == COUNT
    assert is_complete(registry)
    if fault == "truncated":
        assert result.retries == len(notes) == 2


def test_a_body_that_always_ends_early_is_an_error(registry, monkeypatch):
    monkeypatch.setattr(fetching, "MAX_ATTEMPTS", 2)
    fetch(registry.url, "m.jelly")
    registry.add(5)
    registry.faults = [registry.truncated(0)] * 9
    with pytest.raises(HttpError, match=f"at counter {COUNT}, but .* to {COUNT + 5} .2 attempts."):
        fetch(registry.url, "m.jelly")
    registry.faults = []
    assert fetch(registry.url, "m.jelly").messages == 5
    assert is_complete(registry)


def test_an_empty_body_appends_nothing(registry):
    fetch(registry.url, "m.jelly", overlap=0)
    assert fetch(registry.url, "m.jelly", overlap=0).messages == 0
    assert is_complete(registry)


def test_a_slow_body_is_appended_as_it_arrives(registry):
    registry.faults = [registry.slow(0.3)]
    sizes = []
    fetch(registry.url, "m.jelly", progress=lambda _: sizes.append(len(numbers("m.jelly"))))
    assert sizes[0] < COUNT
    assert sizes[-1] == COUNT
    assert is_complete(registry)


@pytest.mark.parametrize("status", [500, 502, 503])
def test_server_errors_are_retried(registry, status):
    registry.faults = [registry.with_status(status, Retry_After="0")] * 2
    fetch(registry.url, "m.jelly")
    assert is_complete(registry)


def test_waiting_for_the_first_byte_has_a_timeout(registry, monkeypatch):
    release = threading.Event()
    registry.site.replies["/nanopubs.jelly"] = [web.send(200, b"", before=release.wait)]
    monkeypatch.setattr("rdfm.storage.http.time.sleep", lambda _: None)
    with pytest.raises(HttpError, match=r"no response within 0\.2 s"):
        fetch(registry.url, "m.jelly", first_byte_timeout=0.2)
    release.set()


# --- invalid responses ---


def with_counters(*counters):
    return registry_double.body(
        [(counter_value, number + 1) for number, counter_value in enumerate(counters)]
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (with_counters(1, 2, 2), "counter 2 after 2, but counters must increase"),
        (with_counters(1, 3, 2), "counter 2 after 3, but counters must increase"),
        (with_counters(1, 61), "counter 61, but the registry has counters up to 60"),
        (with_counters(2**63 - 1), f"counter {2**63 - 1}, but the registry has counters up to 60"),
        (with_counters(1, 2**64 - 1), "but the registry has counters up to 60"),
        (registry_double.body([(1, 1)], counters=False), "has no counter"),
    ],
)
@pytest.mark.parametrize("before", [0, 40])
def test_invalid_counters_are_an_error(registry, body, text, before):
    if before:
        registry.hidden = set(range(before, COUNT + 1))
        fetch(registry.url, "m.jelly", overlap=before)
        registry.hidden = set()
    registry.faults = [registry.replaced_by(body)]
    with pytest.raises(HttpError, match=text):
        fetch(registry.url, "m.jelly", overlap=before)
    fetch(registry.url, "m.jelly")
    assert is_complete(registry)


def test_nanopublications_that_are_stored_during_a_request_are_appended(registry):
    old = registry.state()

    def fault(handler, data):
        registry.add(3)
        data = registry_double.body([(number, number) for number in range(1, COUNT + 4)])
        web.send(200, data, Content_Type=registry.media_type, **old)(handler)

    registry.faults = [fault]
    assert fetch(registry.url, "m.jelly").messages == COUNT + 3
    assert is_complete(registry)


@pytest.mark.parametrize("has_counters", [True, False])
def test_frames_of_columns_are_read_like_frames_of_rows(registry, has_counters):
    numbered = [(number, number) for number in range(1, COUNT + 1)]
    with rdfm.open_log(registry_double.body(numbered, counters=has_counters), "jelly") as log:
        encoder = rdfm.formats.jelly.Encoder(jelly_version="1.2")
        body = b"".join(map(encoder.encode, log.batches())) + encoder.finish()
    registry.faults = [registry.replaced_by(body)]
    if has_counters:
        assert fetch(registry.url, "m.jelly").messages == COUNT
        assert is_complete(registry)
    else:
        with pytest.raises(HttpError, match="has no counter"):
            fetch(registry.url, "m.jelly")


def test_invalid_jelly_is_an_error(registry):
    registry.faults = [registry.replaced_by(b"\x05hello" * 9)]
    with pytest.raises(rdfm.DecodeError, match=r"nanopubs\.jelly\?afterCounter=-1: jelly: "):
        fetch(registry.url, "m.jelly")


def test_a_frame_of_two_gigabytes_is_an_error(registry):
    registry.faults = [registry.replaced_by(b"\xff\xff\xff\xff\x07" + bytes(1 << 20))]
    with pytest.raises(rdfm.LimitError, match="frame"):
        fetch(registry.url, "m.jelly")


@pytest.mark.parametrize("kind", ["text/html", "application/octet-stream", ""])
def test_an_unexpected_media_type_is_an_error(registry, kind):
    registry.media_type = kind
    with pytest.raises(
        HttpError, match=f"is {kind or 'missing'}, expected application/x-jelly-rdf"
    ):
        fetch(registry.url, "m.jelly")


def test_redirects_are_followed(registry):
    with web.site() as other:
        other.on("/", web.send(301, Location=registry.url))
        other.on("/nanopubs.jelly", web.send(307, Location=f"{registry.url}nanopubs.jelly"))
        assert fetch(f"{other.url}/", "m.jelly").messages == COUNT


@pytest.mark.parametrize("name", ["Status", "Setup-Id", "Load-Counter"])
def test_a_missing_header_is_an_error(registry, name):
    registry.headers[name] = None
    with pytest.raises(HttpError, match=f"has no header Nanopub-Registry-{name}; expected the URL"):
        fetch(registry.url, "m.jelly")


@pytest.mark.parametrize("value", ["-1", "x", "9" * 20])
def test_an_invalid_header_is_an_error(registry, value):
    registry.headers["Load-Counter"] = value
    with pytest.raises(HttpError, match=r"Load-Counter is '.*', expected a number"):
        fetch(registry.url, "m.jelly")


@pytest.mark.parametrize("status", ["null", "launching", "coreLoading", "coreReady"])
def test_fetch_waits_for_a_starting_registry(registry, status):
    registry.headers["Status"] = status
    notes = []

    def become_ready(note):
        notes.append(note)
        if len(notes) == 3:
            registry.headers["Status"] = "updating"

    assert fetch(registry.url, "m.jelly", notify=become_ready).messages == COUNT
    assert f"its status is {status}, expected ready or updating" in notes[0]


def test_an_empty_registry_is_an_error_after_the_waiting_time(registry):
    registry.stored.clear()
    with pytest.raises(HttpError, match=r"not ready after 0\.1 s: it is empty"):
        fetch(registry.url, "m.jelly", wait=0.1)
    with pytest.raises(HttpError, match="not ready: it is empty"):
        fetch(registry.url, "m.jelly", wait=0)
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("option", ["overlap", "wait", "interval"])
@pytest.mark.parametrize("value", [-1, "5", True, float("nan")])
def test_invalid_numbers_are_rejected(registry, option, value):
    with pytest.raises(rdfm.OptionError, match=f"{option} must be a number >= 0, not"):
        fetch(registry.url, "m.jelly", follow=option == "interval", **{option: value})


def test_an_interval_requires_the_option_follow(registry):
    with pytest.raises(rdfm.OptionError, match="follow=True polls the registry"):
        fetch(registry.url, "m.jelly", interval=5)
    assert registry.site.requests == []


@pytest.mark.parametrize("name", ["m.nt", "m.ttl", "m.rdf"])
def test_a_format_without_graphs_is_rejected_before_any_request(registry, name):
    with pytest.raises(rdfm.OptionError, match="does not support named graphs, which every nano"):
        fetch(registry.url, name)
    assert registry.site.requests == []
    assert list(Path().iterdir()) == []


def test_test_instances_need_an_option(registry):
    registry.headers["Test-Instance"] = "true"
    with pytest.raises(rdfm.OptionError, match="is a test instance; test_instance=True allows it"):
        fetch(registry.url, "m.jelly")
    assert fetch(registry.url, "m.jelly", test_instance=True).messages == COUNT


# --- restarts, states and other registries ---


def test_a_registry_that_was_set_up_again_needs_a_new_log(registry):
    fetch(registry.url, "m.jelly")
    registry.headers["Setup-Id"] = "7"
    with pytest.raises(
        nanopub.RegistryResetError, match=r"was set up again: its setup id is 7.*restart=True"
    ):
        fetch(registry.url, "m.jelly")
    assert fetch(registry.url, "m.jelly", restart=True).messages == COUNT
    assert is_complete(registry)


def test_lower_counters_need_a_new_log(registry):
    fetch(registry.url, "m.jelly")
    for number in range(COUNT // 2, COUNT):
        del registry.stored[number + 1]
    with pytest.raises(
        nanopub.RegistryResetError, match=f"has counters up to {COUNT // 2}, .* lost data"
    ):
        fetch(registry.url, "m.jelly")
    fetch(registry.url, "m.jelly", restart=True)
    assert is_complete(registry)


def test_a_restart_keeps_the_log_until_the_registry_is_ready(registry):
    fetch(registry.url, "m.jelly")
    registry.headers["Status"] = "launching"
    with pytest.raises(HttpError):
        fetch(registry.url, "m.jelly", restart=True, wait=0)
    with pytest.raises(rdfm.OptionError):
        fetch(registry.url, "m.jelly", restart=True, name_table=3)
    assert is_complete(registry)


@pytest.mark.parametrize("name", SUFFIXES)
def test_a_lost_state_is_rebuilt_from_the_log(registry, name):
    log = f"m{SUFFIXES[name]}"
    notes = []
    fetch(registry.url, log)
    registry.add(10)
    Path(f"{log}.state.json").unlink()
    result = fetch(registry.url, log, overlap=20, notify=notes.append)
    assert is_complete(registry, log)
    assert (result.counter, result.messages, len(notes)) == (COUNT + 10, 10, 1)
    assert notes[0].startswith(f"{log} has no state; ")
    # Without counters, all nanopublications are requested again.
    assert (registry.requested_counters[-1] == -1) == (name != "jelly")
    assert fetch(registry.url, log).messages == 0


@pytest.mark.parametrize("overlap", [0, 100])
def test_a_log_with_counters_is_read_in_constant_memory(tmp_path, overlap):
    log = tmp_path / "log.jelly"
    generator = random.Random(1)
    counters = sorted(range(8000), key=lambda number: number + generator.random() * overlap)
    with rdfm.create_log(log) as writer:
        writer.write([])  # without a counter, as all messages of other programs
        for number in counters:
            quad = rdfm.Quad(
                rdfm.Iri("http://e/s"), rdfm.Iri("http://e/p"), rdfm.Literal(str(number))
            )
            metadata = {"c": bytes([number & 127 | 128, number >> 7])}
            writer.write(rdfm.Message([quad], metadata=metadata))
    found, keys = states.read_counters(str(log), "jelly", overlap)
    assert len(found) <= 2 * (overlap + 1000)
    assert not keys
    assert set(range(8000 - overlap, 8000)) <= set(found.values())
    assert 7999 in found.values()


def test_an_invalid_state_can_be_removed(registry):
    fetch(registry.url, "m.jelly")
    Path("m.jelly.state.json").write_text("[" * 100_000)
    with pytest.raises(nanopub.MirrorError, match="not the state of a mirror; remove it"):
        fetch(registry.url, "m.jelly")
    Path("m.jelly.state.json").unlink()
    assert fetch(registry.url, "m.jelly").messages == 0


def test_a_log_with_the_counters_of_another_registry_is_rejected(registry):
    fetch(registry.url, "m.jelly")
    Path("m.jelly.state.json").unlink()
    before = Path("m.jelly").read_bytes()
    registry.stored[COUNT] = 99
    with pytest.raises(nanopub.MirrorError, match="the counter 60 is a different one in http"):
        fetch(registry.url, "m.jelly")
    del registry.stored[COUNT]
    with pytest.raises(nanopub.RegistryResetError, match="the registry lost data"):
        fetch(registry.url, "m.jelly")
    assert Path("m.jelly").read_bytes() == before
    assert not Path("m.jelly.state.json").exists()


def test_a_log_without_counters_and_artifact_codes_is_rejected(registry):
    Path("m.nq").write_text("<a:s> <a:p> <a:o> <a:g> .\n")
    with pytest.raises(nanopub.MirrorError, match=r"its state m\.nq\.state\.json does not"):
        fetch(registry.url, "m.nq")
    assert [path.name for path in Path().iterdir()] == ["m.nq"]


def test_a_log_that_is_shorter_than_its_state_is_rejected(registry):
    fetch(registry.url, "m.jelly")
    os.truncate("m.jelly", 100)
    with pytest.raises(nanopub.MirrorError, match=r"has 100 bytes, but .* according to its state"):
        fetch(registry.url, "m.jelly")


def test_a_log_that_was_replaced_is_rejected(registry):
    fetch(registry.url, "m.nq")
    Path("m.nq").write_text(Path("m.nq").read_text().replace("bird", "fish"))
    with pytest.raises(
        nanopub.MirrorError, match=r"m\.nq does not match its state .*: the content was"
    ):
        fetch(registry.url, "m.nq")


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"version": 1}', '{"version": 2, "registry": "x", "setup_id": "y"}']
)
def test_an_invalid_state_is_rejected(registry, text):
    fetch(registry.url, "m.jelly")
    Path("m.jelly.state.json").write_text(text)
    with pytest.raises(
        nanopub.MirrorError, match=r"m\.jelly\.state\.json is not the state of a mi"
    ):
        fetch(registry.url, "m.jelly")


def test_a_log_of_another_registry_is_rejected(registry):
    fetch(registry.url, "m.jelly")
    with pytest.raises(rdfm.OptionError, match=f"m.jelly mirrors {registry.url}, not http"):
        fetch(f"{registry.url}other/", "m.jelly")


def test_messages_from_other_writers_stay_in_the_log(registry):
    fetch(registry.url, "m.nq")
    before = Path("m.nq").read_bytes()
    Path("more.nq").write_text("<a:s> <http://example.org/weight> '1000' .".replace("'", '"'))
    rdfm.convert("more.nq", "m.nq", append=True)
    registry.add(3)
    assert fetch(registry.url, "m.nq").messages == 3
    assert Path("m.nq").read_bytes().startswith(before)
    assert numbers("m.nq") == [*range(1, COUNT + 1), 1000, COUNT + 1, COUNT + 2, COUNT + 3]


def test_a_run_that_commits_nothing_does_not_bind_the_log_to_its_registry(registry):
    registry.faults = [registry.replaced_by(b"\x05hello" * 9)]
    with pytest.raises(rdfm.DecodeError):
        fetch(registry.url, "m.jelly")
    with registry_double.registry(3) as other:
        assert fetch(other.url, "m.jelly").messages == 3


# --- following a registry, concurrent processes ---


def test_a_registry_is_followed(registry):
    rounds = []

    def report(result):
        rounds.append(result.messages)
        registry.add(2)
        if len(rounds) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(registry.url, "m.jelly", follow=True, interval=0.01, report=report)
    assert rounds == [COUNT, 2, 2, 2]
    assert fetch(registry.url, "m.jelly").messages == 2
    assert is_complete(registry)


def test_following_survives_a_registry_that_fails_for_a_while(registry, monkeypatch):
    monkeypatch.setattr("rdfm.storage.http.time.sleep", lambda _: None)
    notes, rounds = [], []
    failures = [registry.with_status(503)] * 5

    def report(result):
        rounds.append(result.messages)
        registry.add(2)
        if len(rounds) == 1:
            registry.faults = list(failures)
        if len(rounds) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(
            registry.url,
            "m.jelly",
            follow=True,
            interval=0.01,
            report=report,
            notify=notes.append,
        )
    assert rounds == [COUNT, 2, 2]
    assert notes == ["503 Service Unavailable (5 attempts); trying again in 0.01 s"]


def test_following_reports_nanopublications_that_precede_a_failure(registry, monkeypatch):
    monkeypatch.setattr(fetching, "MAX_ATTEMPTS", 1)
    registry.faults = [registry.truncated(0.5), registry.truncated(0)]
    results = []

    def report(result):
        results.append(result.messages)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(registry.url, "m.jelly", follow=True, interval=0.01, report=report)
    assert results == [COUNT]


def test_following_ends_if_the_registry_rejects_requests(registry):
    def report(_):
        registry.faults = [registry.with_status(403)]
        registry.add(1)

    with pytest.raises(HttpError, match="403 Forbidden; check the credentials"):
        fetch(registry.url, "m.jelly", follow=True, interval=0.01, report=report)


def test_late_counters_are_found_while_nothing_else_changes(registry, monkeypatch):
    registry.hidden = {COUNT - 3}
    registry.headers["Nanopub-Count"] = "60"  # an estimate that does not change
    polls = []
    state = registry_double.RegistryDouble.state

    def count_poll(self):
        polls.append(len(registry.requested_counters))
        if len(polls) == 12:
            registry.hidden = set()
        if len(polls) > 200:
            raise AssertionError
        return state(self)

    monkeypatch.setattr(registry_double.RegistryDouble, "state", count_poll)

    def report(result):
        if result.messages == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(registry.url, "m.jelly", follow=True, interval=0.001, report=report)
    assert is_complete(registry)
    assert len(registry.requested_counters) < 10  # not at each poll


def test_notes_about_retries_have_no_remedy(registry):
    registry.faults = [registry.closing_early(0.5)]
    notes = []
    fetch(registry.url, "m.jelly", notify=notes.append)
    (note,) = notes
    assert re.fullmatch(
        r"the connection was closed early after \d+ bytes; trying again in 0\.01 s", note
    )


def test_a_second_writer_is_rejected(registry):
    def progress(_):
        with pytest.raises(
            rdfm.errors.LogBusyError, match=r"m\.jelly is in use by another process"
        ):
            fetch(registry.url, "m.jelly")

    fetch(registry.url, "m.jelly", progress=progress)
    assert is_complete(registry)


def test_the_state_is_not_read_as_a_log(registry):
    Path("folder").mkdir()
    fetch(registry.url, "folder/m.jelly")
    with rdfm.open_log("folder") as log:
        assert len(list(log)) == COUNT


@pytest.mark.parametrize("name", ["m.jelly", "m.trig", "m.nq.gz"])
@pytest.mark.parametrize("stop", range(1, 5))
def test_a_run_that_stops_before_its_state_is_saved_is_continued(registry, name, stop, monkeypatch):
    monkeypatch.setattr(fetching, "SAVE_SECONDS", -1)  # after each batch
    registry.faults = [registry.slow(0.05)]
    save, saves = states.MirrorState.save, []

    def interrupt_save(self, log):
        saves.append(self)
        if len(saves) >= stop:
            raise KeyboardInterrupt
        save(self, log)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(states.MirrorState, "save", interrupt_save)
        fetch(registry.url, name)
    registry.add(3)
    fetch(registry.url, name)
    assert is_complete(registry, name)


def test_a_continued_run_may_stop_again(registry, monkeypatch):
    monkeypatch.setattr(fetching, "SAVE_SECONDS", -1)
    settle = fetching._Mirror._record_appended

    def stop_at(number):
        count = []

        def call(self, last, size):
            count.append(size)
            if len(count) == number:
                raise KeyboardInterrupt
            settle(self, last, size)

        return call

    for number, saves in ((3, False), (2, True)):
        registry.faults = [registry.slow(0.1)]
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(fetching._Mirror, "_record_appended", stop_at(number))
            if not saves:
                states.MirrorState(registry.url, "4242").save("m.trig")
                patch.setattr(states.MirrorState, "save", lambda *_: None)
            fetch(registry.url, "m.trig", overlap=1)
    state = states.MirrorState.load("m.trig")
    assert 0 < state.counter < len(numbers("m.trig"))
    fetch(registry.url, "m.trig", overlap=1)
    assert is_complete(registry, "m.trig")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loses_state", [False, True])
@pytest.mark.parametrize("log", ["m.trig", "m.jelly"])
def test_runs_that_stop_anywhere_neither_lose_nor_repeat_messages(
    registry, seed, log, loses_state, monkeypatch
):
    monkeypatch.setattr(fetching, "SAVE_SECONDS", -1)
    generator = random.Random(seed)
    steps = [
        (fetching._Mirror, "_write"),
        (fetching._Mirror, "_record_appended"),
        (states.MirrorState, "save"),
    ]

    def with_random_stops(function):
        def call(*args):
            draw = generator.random()
            if draw < 0.1:
                raise KeyboardInterrupt
            function(*args)
            if draw > 0.9:
                raise KeyboardInterrupt

        return call

    stops = 0
    for _ in range(12):
        registry.add(20)
        registry.faults = [registry.slow(0.01)]
        with monkeypatch.context() as patch:
            for owner, name in steps:
                patch.setattr(owner, name, with_random_stops(getattr(owner, name)))
            try:
                fetch(registry.url, log, overlap=10)
            except KeyboardInterrupt:
                stops += 1
        if loses_state and generator.random() < 0.4:
            Path(f"{log}.state.json").unlink(missing_ok=True)
    assert stops > 6
    fetch(registry.url, log, overlap=10)
    assert is_complete(registry, log)


def test_a_setup_between_two_requests_is_detected(registry):
    fetch(registry.url, "m.jelly")
    registry.add(1)
    reply = registry.reply

    def reply_after_setup(handler, data):
        registry.headers["Setup-Id"] = "7"
        reply(handler, data)

    registry.faults = [reply_after_setup]
    with pytest.raises(nanopub.RegistryResetError, match="was set up again"):
        fetch(registry.url, "m.jelly")
    assert len(numbers("m.jelly")) == COUNT


def test_credentials_are_not_stored(registry):
    host = registry.url.removeprefix("http://")
    result = fetch(f"http://me:pw@{host}", "m.jelly")
    assert result.registry == registry.url
    assert "pw@" not in Path("m.jelly.state.json").read_text()
    assert registry.site.requests[-1][2]["Authorization"].startswith("Basic ")


def test_an_interrupted_batch_is_not_repeated(registry, monkeypatch):
    sizes = []
    write = fetching._Mirror._write

    def interrupt_after_write(self, batch):
        write(self, batch)
        sizes.append(len(batch))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(fetching._Mirror, "_write", interrupt_after_write)
        fetch(registry.url, "m.jelly")
    assert sizes[0] > 0
    assert fetch(registry.url, "m.jelly").messages == COUNT - sizes[0]
    assert is_complete(registry)


@pytest.mark.slow
@pytest.mark.parametrize("checks", [False, True], ids=["", "check"])
@pytest.mark.parametrize("name", ["m.jelly", "m.nq.zst"])
def test_a_killed_run_is_continued(registry, name, checks):
    kills = int(os.environ.get("RDFM_KILLS", "4"))
    generator = random.Random(name)
    options = ["--check", "--rejects", "wrong.jelly"] if checks else []

    def committed_numbers():
        """Checks that the logs are readable and disjoint. Returns their numbers."""
        logs = [log for log in (name, "wrong.jelly") if Path(log).exists()]
        found = [number for log in logs for number in numbers(log)]
        assert len(found) == len(set(found))
        return found

    for _ in range(kills):
        registry.add(40)
        # Every third code is wrong.
        registry.codes = {
            number: correct_code(number) for number in registry.stored.values() if number % 3
        }
        registry.faults = [registry.slow(0.05)]
        command = [sys.executable, "-m", "rdfm", "nanopub", "fetch", registry.url, "-o", name]
        process = subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL)
        bodies = len(registry.requested_counters)
        while len(registry.requested_counters) == bodies and process.poll() is None:
            time.sleep(0.005)
        time.sleep(generator.random() * 0.3)
        process.send_signal(signal.SIGKILL)
        process.wait()
        committed_numbers()
    registry.faults = []
    fetch(registry.url, name, check=checks, rejects="wrong.jelly" if checks else None)
    if not checks:
        assert is_complete(registry, name)
        return
    assert sorted(committed_numbers()) == sorted(registry.stored.values())
    assert all(number % 3 == 0 for number in numbers("wrong.jelly"))
    assert all(number % 3 for number in numbers(name))
