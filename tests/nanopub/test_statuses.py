"""Registry states, and message counters."""

import pytest
import registry_double

import rdfm
from rdfm import nanopub


def test_the_headers_of_a_registry_become_its_state():
    with registry_double.registry(5) as registry:
        registry.headers = {"Test-Instance": "true", "Trust-State-Hash": "null", "Version": None}
        state = nanopub.status(registry.url)
        assert registry.site.requests[0][0] == "HEAD"
    assert state == nanopub.RegistryState(
        url=registry.url,
        status="ready",
        setup_id="4242",
        load_counter=5,
        nanopub_count=5,
        test_instance=True,
        trust_state_counter=7,
        trust_state_hash=None,
        last_trust_state_update="2026-11-01T00:00:00Z",
        coverage_types="all",
        coverage_agents="viaSetting",
        version=None,
    )


def test_a_starting_registry_has_no_status_setup_or_counter():
    with registry_double.registry() as registry:
        registry.headers = {"Status": "null", "Setup-Id": "null"}
        state = nanopub.status(registry.url)
    assert (state.status, state.setup_id, state.load_counter) == (None, None, None)


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("example.org", "is not the URL of a registry; expected https://HOST/"),
        ("http://example.org/", "is not encrypted; use https; allow_http=True allows it"),
        ("http://127.1.example/", "is not encrypted"),
        ("https://example.org/?a=b", "without a query"),
        ("https://example.org/nanopubs.jelly", "is a page of a registry"),
        ("https://example.org/np", "is a page of a registry"),
        ("https:///x", "has no host"),
        (5, "is not the URL"),
    ],
)
def test_invalid_urls_are_rejected(url, text):
    with pytest.raises(rdfm.OptionError, match=text):
        nanopub.status(url)


@pytest.mark.parametrize(
    ("data", "number"),
    [
        (b"\x00", 0),
        (b"\x7f", 127),
        (b"\xac\x02", 300),
        (b"\xff" * 9 + b"\x01", (1 << 64) - 1),
        (b"\x80\x00", 0),
        (b"", None),
        (b"\x80", None),
        (b"\x01\x01", None),
        (b"\xff" * 9 + b"\x02", None),
        (b"\xff" * 10 + b"\x01", None),
    ],
)
def test_a_counter_is_exactly_one_varint(data, number):
    assert nanopub.counter(rdfm.Message([], metadata={"c": data})) == number


def test_a_message_without_metadata_has_no_counter():
    assert nanopub.counter(rdfm.Message([])) is None
    assert nanopub.counter(rdfm.Message([], metadata={"d": b"\x01"})) is None
