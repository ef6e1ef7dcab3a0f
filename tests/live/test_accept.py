"""The headers `Accept` and `Accept-Encoding`, and the form of a log that they select."""

import pytest

from rdfm import formats
from rdfm.errors import OptionError
from rdfm.live.accept import MAX_RANGES, choose_coding, parse_accept
from rdfm.live.offers import choose_offer, offer_format, served_formats

COMMENT, DIRECTIVE = "; version=1.2; messages=rdfm", "; version=1.2-messages"


def content_type(accept, stored="nq", **header):
    offer = choose_offer(parse_accept(accept), formats.find(stored), header)
    return None if offer is None else offer.content_type


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, "application/n-quads" + COMMENT),
        ("", "application/n-quads" + COMMENT),
        ("*/*", "application/n-quads" + COMMENT),
        ("nonsense", "application/n-quads" + COMMENT),
        ("application/*", "application/n-quads" + COMMENT),
        ("text/*", "text/turtle" + COMMENT),
        ("application/trig", "application/trig" + COMMENT),
        ("APPLICATION/TRIG", "application/trig" + COMMENT),
        ("application/trig; version=1.2-messages", "application/trig" + DIRECTIVE),
        ('application/trig; version="1.2-messages"', "application/trig" + DIRECTIVE),
        ("application/trig; version=1.2", "application/trig" + COMMENT),
        ("application/trig; messages=rdfm", "application/trig" + COMMENT),
        ("application/trig; charset=utf-8", "application/trig" + COMMENT),
        ("text/turtle;q=0.5, application/trig;q=0.9", "application/trig" + COMMENT),
        ("application/trig;q=0, */*", "application/n-quads" + COMMENT),
        ("application/n-quads;q=0, */*;q=0.1", "application/trig" + COMMENT),
        ("application/x-jelly-rdf", "application/x-jelly-rdf"),
        ("application/x-turtle", "application/x-turtle" + COMMENT),
        ("application/rdfm+xml", "application/rdfm+xml"),
        ("application/ld+json", "application/ld+json"),
        ("application/trig;q=0.9;version=1.2-messages", "application/trig" + COMMENT),
        # What is more specific comes first.
        ("*/*, application/trig", "application/trig" + COMMENT),
        # Of equal preferences, the stored form is sent.
        ("application/trig, application/n-quads", "application/n-quads" + COMMENT),
        ("application/trig;version=1.2-messages, application/trig", "application/trig" + DIRECTIVE),
        ("text/html", None),
        ("application/trig;q=0", None),
        ("application/trig; version=1.1-messages", None),
        ("application/trig; version=2", None),
        ("application/trig; messages=other", None),
        ("application/vnd.apache.parquet", None),
    ],
)
def test_accept_selects_a_format_and_a_dialect(accept, expected):
    assert content_type(accept) == expected


def test_the_stored_dialect_is_preferred_if_the_client_accepts_both():
    both = "application/n-quads;version=1.2-messages, application/n-quads"
    assert content_type(both) == "application/n-quads" + COMMENT
    assert content_type(both, dialect="directive") == "application/n-quads" + DIRECTIVE


def test_a_smaller_version_needs_a_log_that_declares_it():
    asked = "application/n-quads; version=1.1-messages"
    assert content_type(asked, version_label="1.2-messages") is None
    expected = "application/n-quads; version=1.1-messages"
    assert content_type(asked, version_label="1.1-messages") == expected
    asked = "application/n-quads; version=1.2-basic"
    expected = "application/n-quads; version=1.2-basic; messages=rdfm"
    assert content_type(asked, version_label="1.1") == expected


def test_every_format_that_is_sent_can_be_named():
    for format in served_formats():
        assert offer_format(format.name).format is format
    with pytest.raises(OptionError, match="the format must be one of nt, nq"):
        offer_format("parquet")


def test_the_number_of_ranges_is_limited():
    assert len(parse_accept("a/b," * 10_000)) == MAX_RANGES
    assert parse_accept('a/b;x="' + "y," * 100_000)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, "identity"),
        ("", "identity"),
        ("gzip", "gzip"),
        ("x-gzip", "gzip"),
        ("GZIP", "gzip"),
        ("gzip, zstd", "zstd"),
        ("gzip, zstd;q=0.5", "gzip"),
        ("br", "identity"),
        ("*", "zstd"),
        ("*;q=0", None),
        ("identity;q=0", None),
        ("identity;q=0, gzip", "gzip"),
        ("gzip;q=0", "identity"),
        ("gzip;q=0.001, identity;q=1", "identity"),
        ("gzip;q=x", "gzip"),
    ],
)
def test_accept_encoding_selects_a_coding(header, expected):
    assert choose_coding(header, ("zstd", "gzip", "identity")) == expected
