"""NDJSON-LD: the meaning of lines, errors, and resuming after an error."""

import json

import pytest
from support import decode

import rdfm
from rdfm import formats

CONTEXT = b'{"@context": {"@vocab": "http://v/"}}\n'


def objects(data, **options):
    messages, error = decode("ndjsonld", data, **options)
    return [[quad[2][1] for quad in message] for message in messages], error


def test_contexts_replace_each_other_and_local_contexts_do_not_leak():
    data = (
        CONTEXT
        + b'{"@context": {"@vocab": "http://local/"}, "p": 1}\r\n{"p": 2}\n'
        + b'{"@context": {"q": "http://q/"}}\n{"p": 3, "q": 4}\n{"@context": null}\n{"p": 5}'
    )
    messages, error = decode("ndjsonld", data)
    assert error is None
    found = [[quad[1][1] for quad in message] for message in messages]
    assert found == [["http://local/p"], ["http://v/p"], ["http://q/"], []]


def test_a_context_may_be_an_array():
    context = b'{"@context": [{"v": "http://v/"}, {"q": {"@reverse": "v:r"}}]}\n'
    messages, error = decode("ndjsonld", context + b'{"@id": "v:a", "q": {"@id": "v:b"}}\n')
    assert error is None
    assert [[term and term[1] for term in quad] for quad in messages[0]] == [
        ["http://v/b", "http://v/r", "http://v/a", None]
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a":,}', "expected a JSON value, found ',' (line 3, column 6, byte 52, message 1)"),
        (b"", "found a blank line; lenient=True skips blank lines (line 3, column 1"),
        (
            b"[]",
            "expected an object ({…}), found an array; to write several nodes as one message, use",
        ),
        (b"7", "expected an object ({…}), found a number (line 3, column 1"),
        (b'{"a": 1, "a": 2}', "the key 'a' occurs twice in an object"),
        (b'{"a": "\xff"}', "invalid UTF-8"),
        (b'{"@id": "x y:z", "a": 1}', "is not an IRI"),
        (
            b'{"@id": "rel", "a": 1}',
            "is a relative IRI, and no base or @base is given; lenient=True",
        ),
        (b'{"a": {"@value": "x", "@language": "a_b"}}', "'a_b' is not a valid language tag"),
        (b'{"@id": "_:a b", "a": 1}', "the blank node label 'a b' is invalid"),
        (
            b'{"a": {"@value": "x", "@direction": "rtl"}}',
            'rdf_direction="i18n-datatype" or "compound-literal" keeps the direction',
        ),
        (b'{"@type": 1}', "JSON-LD: invalid type value"),
        (b'{"a": ' * 70, "a larger max_depth allows it"),
    ],
)
def test_an_error_follows_the_messages_before_it(line, reason):
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


def test_messages_after_an_invalid_context_are_errors_until_the_next_context():
    data = b'{"@context": {"@vocab": 1}}\n{"p": 1}\n' + CONTEXT + b'{"p": 2}\n'
    decoder = formats.find("ndjsonld").Decoder()
    decoder.feed(data)
    decoder.finish()
    for reason in ("@vocab", "preceding context message"):
        with pytest.raises(rdfm.DecodeError, match=reason):
            decoder.next_batch()
        decoder.skip_message()
    assert decoder.next_batch().quads(0)[0].object.value == "2"


def test_a_context_after_a_byte_order_mark_is_never_ignored_silently():
    """Joining files with byte order marks puts a mark inside the log."""
    preceding = CONTEXT + b'{"p": 1}\n'
    marked = b'\xef\xbb\xbf{"@context": {"p": "http://other/p"}}\n{"p": 2}\n'
    messages, error = decode("ndjsonld", preceding + marked, lenient=True)
    assert error is None
    assert [quad[1][1] for quad in messages[-1]] == ["http://other/p"]
    decoder = formats.find("ndjsonld").Decoder()
    decoder.feed(preceding + marked)
    decoder.finish()
    assert len(decoder.next_batch()) == 1
    for reason in (
        "a byte order mark after the start of the log; lenient=True skips it",
        "preceding context message",
    ):
        with pytest.raises(rdfm.DecodeError, match=reason):
            decoder.next_batch()
        decoder.skip_message()
    assert decoder.next_batch() is None


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        ("literal", ("x", "ar", "rtl", None)),
        ("none", ("x", "ar", None, None)),
        ("i18n-datatype", ("x", None, None, "https://www.w3.org/ns/i18n#ar_rtl")),
    ],
)
def test_rdf_direction_determines_how_base_directions_are_read(direction, expected):
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


def test_prefixes_of_logs_and_messages_become_namespaces():
    data = b'{"@context": {"ex": "http://ex/", "t": "ex:t"}}\n{"t": 1}\n'
    data += b'{"@context": {"other": "http://o/#"}, "other:p": 2}\n'
    batch = formats.find("ndjsonld").decode(data)
    assert batch.namespaces(0) == {"ex": "http://ex/"}
    assert batch.namespaces(1) == {"ex": "http://ex/", "other": "http://o/#"}


def test_keys_without_an_iri_are_counted_with_an_example(tmp_path):
    """Neither keys below a dropped key nor keys mapped to null are counted."""
    data = b'{"@context": {"p": "http://v/p", "no": null}}\n'
    data += b'{"p": 1, "no": 2, "name": {"p": 3, "other": 4}}\n{"p": [{"other": 5, "@foo": 6}]}\n'
    report = rdfm.inspect(data, "ndjsonld")
    assert (report.dropped_keys, report.dropped_key) == (3, "'name'")
    out = tmp_path / "out.nq"
    summary = rdfm.convert(data, out, from_format="ndjsonld")
    assert (summary.dropped, summary.dropped_key) == ({"keys": 3}, "'name'")


@pytest.mark.slow
@pytest.mark.parametrize(
    "entry",
    [
        '"k%d":1',
        '"k%d":null',
        '"k%d":{"@value":null}',
        '"http://e/%d":{"@type":"k%d","@value":null}',
        '"http://e/%d":{"@type":"t","@id":"http://e/%d"}',
        '"http://e/%d":{"@value":"x","@type":"t"}',
        '"http://e/%d":{"@id":"p:x"}',
    ],
)
def test_a_long_vocabulary_repeated_by_many_keys_exceeds_the_limit(entry):
    context = {"@vocab": f"http://v/{'x' * 200_000}/", "p": f"http://p/{'x' * 200_000}/"}
    entries = ",".join(entry.replace("%d", str(at)) for at in range(50_000))
    line = f'{{"@context":{json.dumps(context)},{entries}}}'.encode()
    with pytest.raises(rdfm.LimitError):
        formats.find("ndjsonld").decode(line, max_message_bytes=8 << 20)


def test_a_scoped_context_is_relative_to_its_document(tmp_path):
    """A relative URL identifies a different context in each document, even if nested."""
    for name in "ab":
        folder = tmp_path / "r" / name
        folder.mkdir(parents=True)
        term = {"@id": "http://e/p", "@context": "s.jsonld"}
        (folder / "c.jsonld").write_text(json.dumps({"@context": {"p": term}}))
        (folder / "s.jsonld").write_text(json.dumps({"@context": {"q": f"http://e/{name}"}}))
    lines = [{"@context": f"http://r/{name}/c.jsonld"} for name in "ab"]
    message = {"@id": "http://e/s", "p": {"q": 1}}
    data = b"".join(
        json.dumps(line).encode() + b"\n" for line in (lines[0], message, lines[1], message)
    )
    batch = formats.find("ndjsonld").decode(data, contexts=str(tmp_path))
    found = [{quad.predicate.value for quad in message.quads} for message in batch]
    assert found == [{"http://e/p", "http://e/a"}, {"http://e/p", "http://e/b"}]


@pytest.mark.parametrize(
    "nodes",
    [
        b'{"@id": "v:a", "k": {"@id": "v:a", "v:p": 1}, "v:q": 2}',
        b'{"@id": "v:b", "k": {"@id": "v:a", "v:p": 1}}, {"@id": "v:a", "v:q": 2}',
        b'{"k": {"@id": "v:a", "@graph": {"@id": "v:b", "v:p": 1}}}, {"@id": "v:a", "v:q": 2}',
        b'{"k": {"@reverse": {"v:p": {"@id": "v:b"}}}}, {"@id": "v:a", "v:q": 2}',
        b'{"k": [{"m": {"@id": "v:a", "v:p": 1}}], "m": 3}, {"@id": "v:a", "v:q": 2}',
    ],
)
@pytest.mark.parametrize("context", [b'"v:x"', b'["v:x", {"n": "v:n"}]', b'{"n": "v:n"}', None])
def test_dropping_a_key_does_not_drop_other_nodes(nodes, context, tmp_path):
    document = b'{"@index": "i", "@included": [' + nodes + b"]}"
    remote = tmp_path / "x.jsonld"
    remote.write_text('{"@context": {"o": "v:o"}}')
    if context:
        document = b'{"@context": ' + context + b", " + document[1:]
    messages, error = decode("ndjsonld", document, context={"v:x": str(remote)})
    assert error is None
    integer = ("literal", "2", None, None, "http://www.w3.org/2001/XMLSchema#integer")
    assert [[quad[:2] for quad in message] for message in messages] == [
        [(("iri", "v:a"), ("iri", "v:q"))]
    ]
    assert messages[0][0][2][:2] == integer[:2]


def test_a_key_is_dropped_only_if_the_active_context_does_not_define_it():
    line = (
        b'{"@context": {"x": {"@id": "v:x", "@context": {"@vocab": "v:"}}}, "@index": "i", '
        b'"@included": [{"@id": "v:b", "k": {"@id": "v:a", "v:p": 1}}, {"@id": "v:a", "v:q": 2}]}'
    )
    assert objects(line) == ([["2"]], None)


@pytest.mark.slow
def test_contexts_of_one_message_share_memory():
    """Without shared tables, each context would copy the log's context."""
    terms = ", ".join(f'"t{at}": "http://e/{at}"' for at in range(20_000))
    nodes = ", ".join(
        f'{{"@context": {{"t{at}": "http://x/{at}"}}, "t{at}": 1}}' for at in range(4000)
    )
    log = f'{{"@context": {{{terms}}}}}\n{{"t1": [{nodes}]}}\n'
    found, error = objects(log.encode())
    assert error is None
    assert found[0].count("1") == 4000


def test_a_json_literal_is_kept_regardless_of_its_keys():
    """Outside JSON literals, each of these keys has a meaning in JSON-LD."""
    text = (
        '{"@context":{"@protected":true,"b":"x:b"},'
        '"c":{"@direction":"rtl","@value":"\\"@language\\""},"d":[1.5,1e+21,null]}'
    )
    line = f'{{"@id": "v:a", "v:p": {{"@type": "@json", "@value": {text}}}}}'
    (message,), error = decode("ndjsonld", line.encode())
    assert error is None
    assert message[0][2][1] == text
    found, error = objects(b'{"@id": "v:a", "v:p": {"@type": "@json", "@value": [1e400]}}')
    assert found == []
    assert "exceeds the range of doubles" in error
