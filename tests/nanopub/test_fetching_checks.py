"""Mirrors whose nanopublications are verified on arrival."""

from __future__ import annotations

import pytest
import registry_double

import rdfm
from rdfm import nanopub
from rdfm.nanopub import fetch, trusty

COUNT = 12
WRONG = {3, 4, COUNT}


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """A registry in which some artifact codes are wrong."""
    monkeypatch.chdir(tmp_path)
    with registry_double.registry(COUNT) as opened:
        for number in set(range(1, COUNT + 20)) - WRONG:
            with rdfm.open_log(registry_double.body([(1, number)]), "jelly") as log:
                (message,) = log
            code = trusty.artifact_code(message, registry_double.code(number))
            opened.codes[number] = code
        yield opened


def counters(log):
    with rdfm.open_log(log) as opened:
        return [rdfm.nanopub.counter(message) for message in opened]


def test_a_wrong_trusty_uri_is_an_error(registry):
    with pytest.raises(nanopub.RejectedError) as caught:
        fetch(registry.url, "m.jelly", check=True)
    text = str(caught.value)
    assert f"the nanopublication {registry_double.code(3)} is rejected: " in text
    assert registry.codes[1] not in text
    assert text.endswith("; rejects=FILE writes it to another log")
    assert counters("m.jelly") == [1, 2]
    assert fetch(registry.url, "m.jelly").messages == COUNT - 2


def test_invalid_nanopublications_go_to_another_log(registry):
    result = fetch(registry.url, "m.jelly", check=True, rejects="wrong.jelly")
    assert (result.messages, result.rejected, result.counter) == (COUNT - 3, 3, COUNT)
    registry.add(5)
    result = fetch(registry.url, "m.jelly", check=True, rejects="wrong.jelly")
    assert (result.messages, result.rejected) == (5, 0)
    assert counters("wrong.jelly") == sorted(WRONG)
    assert counters("m.jelly") == sorted(set(range(1, COUNT + 6)) - WRONG)


def test_rejects_are_not_repeated_after_an_interrupted_run(registry, monkeypatch):
    from rdfm.nanopub import fetching

    def interrupt(self, last, count):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(fetching._Mirror, "_record_appended", interrupt)
        fetch(registry.url, "m.jelly", check=True, rejects="wrong.jelly")
    fetch(registry.url, "m.jelly", check=True, rejects="wrong.jelly")
    assert counters("wrong.jelly") == sorted(WRONG)
    assert counters("m.jelly") == sorted(set(range(1, COUNT + 1)) - WRONG)


def test_a_valid_nanopublication_is_kept_after_one_with_the_same_code_was_rejected(registry):
    fetch(registry.url, "first.jelly", check=True, rejects="others.jelly")
    with rdfm.open_log("first.jelly") as log:
        first = next(iter(log))
    with rdfm.create_log("wrong.nq") as log:
        log.write(list(first)[:-1])
    fetch(registry.url, "m.jelly", check=True, rejects="wrong.nq")
    assert counters("m.jelly") == counters("first.jelly")


def test_rejects_of_a_later_run_may_be_the_first_with_namespaces(registry):
    options = {"check": True, "rejects": "wrong.jelly", "overlap": 0}
    assert fetch(registry.url, "m.jelly", **options).rejected == len(WRONG)
    del registry.codes[COUNT + 1]
    registry.add(1)
    assert fetch(registry.url, "m.jelly", **options).rejected == 1
    assert counters("wrong.jelly") == [*sorted(WRONG), COUNT + 1]
