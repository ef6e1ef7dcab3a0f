"""NDJSON-LD: what lines mean, what faults say, and how reading goes on behind them."""

import pytest
from support import decode

import rdfm
from rdfm import formats

CONTEXT = b'{"@context": {"@vocab": "http://v/"}}\n'


def objects(data, **options):
    messages, error = decode("ndjsonld", data, **options)
    return [[quad[2][1] for quad in message] for message in messages], error


def test_contexts_replace_each_other_and_local_ones_never_leak():
    data = (
        CONTEXT
        + b'{"@context": {"@vocab": "http://local/"}, "p": 1}\r\n{"p": 2}\n'
        + b'{"@context": {"q": "http://q/"}}\n{"p": 3, "q": 4}\n{"@context": null}\n{"p": 5}'
    )
    messages, error = decode("ndjsonld", data)
    assert error is None
    found = [[quad[1][1] for quad in message] for message in messages]
    assert found == [["http://local/p"], ["http://v/p"], ["http://q/"], []]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a":,}', "expected a JSON value, found ',' (line 3, column 6, byte 52, message 1)"),
        (b"", "a blank line; lenient (--lenient) passes over blank lines (line 3, column 1"),
        (b"[]", "a message is a JSON object"),
        (b'{"a": 1, "a": 2}', "the key 'a' stands twice in an object"),
        (b'{"a": "\xff"}', "invalid UTF-8"),
        (b'{"@id": "x y:z", "a": 1}', "is no IRI"),
        (b'{"@id": "rel", "a": 1}', "is a relative IRI, and no base (--base) or @base is given"),
        (b'{"a": {"@value": "x", "@language": "a_b"}}', "'a_b' is no language tag"),
        (b'{"@id": "_:a b", "a": 1}', "the blank node label 'a b' is none"),
        (b'{"a": {"@value": "x", "@direction": "rtl"}}', "rdf_direction i18n-datatype"),
        (b'{"@type": 1}', "JSON-LD: invalid type value"),
        (b'{"a": ' * 70, "max_depth (--max-depth)"),
    ],
)
def test_a_fault_is_one_sentence_behind_the_messages_before_it(line, reason):
    data = CONTEXT + b'{"p": 0}\n' + line + b"\n"
    found, error = objects(data)
    assert found == [["0"]]
    assert reason in error
    assert "\n" not in error
    decoder = formats.find("ndjsonld").Decoder()
    decoder.feed(data + b'{"p": 9}\n')
    decoder.finish()
    assert len(decoder.next_batch()) == 1
    with pytest.raises(rdfm.DecodeError):
        decoder.next_batch()
    assert decoder.skip_message() == line + b"\n"
    batch = decoder.next_batch()
    assert batch.quads(0)[0].object.value == "9"


def test_after_a_broken_context_messages_are_errors_until_the_next():
    data = b'{"@context": {"@vocab": 1}}\n{"p": 1}\n' + CONTEXT + b'{"p": 2}\n'
    decoder = formats.find("ndjsonld").Decoder()
    decoder.feed(data)
    decoder.finish()
    for reason in ("@vocab", "context message before it"):
        with pytest.raises(rdfm.DecodeError, match=reason):
            decoder.next_batch()
        decoder.skip_message()
    assert decoder.next_batch().quads(0)[0].object.value == "2"


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        ("literal", ("x", "ar", "rtl", None)),
        ("none", ("x", "ar", None, None)),
        ("i18n-datatype", ("x", None, None, "https://www.w3.org/ns/i18n#ar_rtl")),
    ],
)
def test_base_directions_are_kept_or_become_what_is_asked_for(direction, expected):
    data = CONTEXT + b'{"p": {"@value": "x", "@language": "ar", "@direction": "rtl"}}\n'
    batch = formats.find("ndjsonld").decode(data, rdf_direction=direction)
    found = batch.quads(0)[0].object
    datatype = found.datatype.value if found.language is None else None
    assert (found.value, found.language, found.direction, datatype) == expected


def test_a_compound_literal_is_a_node():
    data = CONTEXT + b'{"p": {"@value": "x", "@direction": "rtl"}}\n'
    batch = formats.find("ndjsonld").decode(data, rdf_direction="compound-literal")
    found = {quad.predicate.value.rpartition("#")[2]: quad.object for quad in batch.quads(0)[:2]}
    assert found["value"].value == "x"
    assert found["direction"].value == "rtl"


def test_prefixes_become_namespaces_also_those_of_a_message():
    data = b'{"@context": {"ex": "http://ex/", "t": "ex:t"}}\n{"t": 1}\n'
    data += b'{"@context": {"other": "http://o/#"}, "other:p": 2}\n'
    batch = formats.find("ndjsonld").decode(data)
    assert batch.namespaces(0) == {"ex": "http://ex/"}
    assert batch.namespaces(1) == {"ex": "http://ex/", "other": "http://o/#"}


def test_inspect_tells_how_many_messages_declined():
    data = CONTEXT + b'{"p": 1}\n{"@reverse": {"p": {"@id": "http://x/"}}, "@id": "http://y/"}\n'
    assert rdfm.inspect(data, "ndjsonld").declined == 1
