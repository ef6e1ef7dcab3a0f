"""Fields that a binary format does not define are skipped, and `validate` warns about them."""

from pathlib import Path
from types import SimpleNamespace

import jelly_proto
import pytest
import rdf_binary

import rdfm
from rdfm import formats

FIXTURES = Path(__file__).resolve().parents[2] / "spec-fixtures"
PROTOBUF = b"\xf8\x07\x01"  # field 127, a varint
THRIFT = b"\x05\xfe\x01\x00"  # field 127, an i32
JELLY = jelly_proto.classes()
BINARY = rdf_binary.protobuf()
# The messages of a log, and the logs that consist of such messages.
KINDS = {
    "jelly": (JELLY.RdfStreamFrame, "*/*.jelly"),
    "jelly-patch": (JELLY.RdfPatchFrame, "jelly-patch/*s.jellyp"),
    "rdf-protobuf": (BINARY.RDF_Stream, "*/log.rpb"),
}


def paths(message, path=()):
    """Yields the path of a protobuf message, and of every message in it."""
    yield path
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        for index, each in enumerate(value) if field.is_repeated else [(None, value)]:
            yield from paths(each, (*path, (field.name, index)))


def with_unknown_field(frames, number, path):
    """Returns a log in which the message at a path of a frame has an unknown field."""
    changed = type(frames[number])()
    changed.CopyFrom(frames[number])
    inner = changed
    for name, index in path:
        value = getattr(inner, name)
        inner = value if index is None else value[index]
    inner.MergeFromString(PROTOBUF)
    return jelly_proto.delimited([*frames[:number], changed, *frames[number + 1 :]])


def unknown_fields(log, name):
    """Returns the texts of the warnings about unknown fields."""
    options = {"framing": "messages"} if name == "rdf-protobuf" else {}
    checked = rdfm.validate(log, name, **options)
    found = [each for each in checked if each.rule == "unknown-field"]
    assert [each.severity for each in found] == ["warning"] * len(found)
    return [each.text for each in found]


def content(log, name):
    """Returns the messages, patches or rows of a log."""
    options = {"framing": "messages"} if name == "rdf-protobuf" else {}
    (kind,) = formats.find(name).spec.kinds
    with rdfm.open_log(log, name, kind=kind, **options) as messages:
        return list(messages)


def cases():
    for name, (kind, pattern) in KINDS.items():
        for file in sorted(FIXTURES.glob(pattern)):
            yield pytest.param(name, kind, file, id=f"{file.parent.name}/{file.name}")


@pytest.mark.parametrize(("name", "kind", "file"), list(cases()))
def test_unknown_fields_anywhere_are_skipped_with_one_warning(name, kind, file):
    data = file.read_bytes()
    frames = jelly_proto.read_delimited(kind, data)
    assert unknown_fields(data, name) == []
    expected = content(data, name)
    for number, frame in enumerate(frames):
        for path in paths(frame):
            log = with_unknown_field(frames, number, path)
            (text,) = unknown_fields(log, name)
            assert text.endswith("the first one is field 127"), path
            assert content(log, name) == expected


@pytest.mark.parametrize("suffix", ["rt", "trp", "srt"])
def test_unknown_fields_of_thrift_are_skipped_with_one_warning(suffix):
    names = {"rt": "rdf-thrift", "trp": "rdf-patch-thrift", "srt": "results-thrift"}
    for file in sorted(FIXTURES.glob(f"*/*.{suffix}")):
        data = file.read_bytes()
        assert unknown_fields(data, names[suffix]) == []
        if data:  # the last byte ends the last struct
            log = data[:-1] + THRIFT + data[-1:]
            (text,) = unknown_fields(log, names[suffix])
            assert text.endswith("the first one is field 127"), file
            assert content(log, names[suffix]) == content(data, names[suffix])


def test_unknown_fields_of_results_are_skipped_with_one_warning():
    data = (FIXTURES / "results-protobuf" / "basic.srp").read_bytes()
    tuples = jelly_proto.read_delimited(SimpleNamespace(FromString=bytes), data)
    for number in range(len(tuples)):
        changed = [each + PROTOBUF * (at == number) for at, each in enumerate(tuples)]
        log = b"".join(jelly_proto.varint(len(each)) + each for each in changed)
        (text,) = unknown_fields(log, "results-protobuf")
        assert text.endswith("the first one is field 127")
        assert content(log, "results-protobuf") == content(data, "results-protobuf")
