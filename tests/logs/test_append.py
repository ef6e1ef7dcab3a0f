"""Appending: rejections, repairs, interrupted runs, and concurrent readers."""

import errno
import gzip
import itertools
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest
import web
from processes import wait_for, wait_until_idle

import rdfm
from rdfm import formats
from rdfm.cli import main
from rdfm.logs import journal
from rdfm.logs.write import append as append_module
from rdfm.logs.write import log_end

S, P = rdfm.Iri("http://e/s"), rdfm.Iri("http://e/p")
LINE = b'<http://e/s> <http://e/p> "%d" .\n'
DELIMITER = b"# @message\n"


def message(number, text=""):
    return [rdfm.Quad(S, P, rdfm.Literal(f"{number}{text}"))]


def patch(number):
    (quad,) = message(number)
    return rdfm.Patch([("A", None, *quad)])


def kind_of(path):
    return formats.by_path(str(path)).spec.kinds[0]


def append(path, *messages, **options):
    kind = "patches" if messages and isinstance(messages[0], rdfm.Patch) else "messages"
    with rdfm.create_log(path, kind=kind, append=True, **options) as log:
        for each in messages:
            log.write(each)


def numbers(path):
    """Returns the number in each message of a log."""
    with rdfm.open_log(path) as log:
        return [int(quad.object.value.split()[0]) for found in log for quad in found]


def journal_of(path):
    return path.with_name(path.name + ".append")


# --- output ---


def test_a_missing_log_is_created_and_an_existing_one_is_continued(tmp_path):
    path = tmp_path / "log.nq"
    for number in range(3):
        append(path, message(number))
    assert path.read_bytes() == DELIMITER.join(LINE % number for number in range(3))
    assert [file.name for file in tmp_path.iterdir()] == ["log.nq"]


def test_a_run_without_messages_changes_nothing(tmp_path):
    for name in ("log.nq", "log.yamlld", "log.trig.gz"):
        path = tmp_path / name
        append(path, message(0))
        before = path.read_bytes()
        append(path)
        assert path.read_bytes() == before


def test_convert_counts_only_appended_messages(tmp_path):
    path = tmp_path / "log.nq"
    append(path, message(0))
    summary = rdfm.convert(LINE % 1, path, from_format="nq", append=True)
    assert (summary.messages, summary.quads) == (1, 1)
    assert summary.bytes_out == len(DELIMITER + LINE % 1)
    assert numbers(path) == [0, 1]


@pytest.mark.parametrize("label", ["1.1-messages", "1.2-messages"])
@pytest.mark.parametrize("suffix", ["nq", "ttl"])
def test_the_dialect_of_the_log_is_kept(tmp_path, suffix, label):
    path = tmp_path / f"log.{suffix}"
    append(path, message(0), dialect="directive", version_label=label)
    append(path, message(1), [])
    append(path, message(2))
    assert path.read_text().count("VERSION") == 1
    assert b"@message" not in path.read_bytes()
    with rdfm.open_log(path) as log:
        assert [len(found) for found in log] == [1, 1, 0, 1]


def test_appended_turtle_declares_its_namespaces(tmp_path):
    path = tmp_path / "log.trig"
    path.write_text("PREFIX e: <http://other/>\nBASE <http://base/>\n<a> e:b e:c .\n")
    append(path, message(1), prefixes={"e": "http://e/"})
    assert path.read_text().endswith('PREFIX e: <http://e/>\n# @message\ne:s e:p "1" .\n')
    with rdfm.open_log(path) as log:
        assert next(iter(list(log)[1])).subject == S


def test_a_context_of_the_log_does_not_apply_to_appended_messages(tmp_path):
    path = tmp_path / "log.ndjsonld"
    path.write_text('{"@context": {"http": "http://wrong/", "@vocab": "http://v/"}}\n{"a": "1"}\n')
    append(path, message(1), context_lines="none")
    append(path, message(2), context_lines="every", prefixes={"http": "http://e/"})
    append(path, message(3), prefixes={"e": "http://e/"})
    with rdfm.open_log(path) as log:
        found = list(log)
    assert [next(iter(each)).predicate for each in found[1:]] == [P, P, P]


def test_a_patch_with_an_open_transaction_is_continued(tmp_path):
    path = tmp_path / "log.rdfp"
    append(path, rdfm.Patch([("TX",), ("A", None, S, P, S)]))
    append(path, rdfm.Patch([("A", None, S, P, P)]))
    assert path.read_text().count("Z .\n") == 1
    with rdfm.open_log(path, kind="patches") as log:
        assert [len(found) for found in log] == [2, 1]


def test_a_symbolic_link_is_kept(tmp_path):
    path = tmp_path / "log.nq"
    append(path, message(0))
    link = tmp_path / "link.nq"
    link.symlink_to(path)
    append(link, message(1))
    assert link.is_symlink()
    assert numbers(path) == [0, 1]


def test_appending_to_a_compressed_log_adds_a_member(tmp_path):
    path = tmp_path / "log.nq.gz"
    append(path, message(0))
    first = path.read_bytes()
    append(path, message(1))
    assert path.read_bytes().startswith(first)
    assert gzip.decompress(path.read_bytes()) == LINE % 0 + DELIMITER + LINE % 1


# --- the end of the log ---


@pytest.mark.parametrize("end", [b"", b"\n", b" # @message", b"\n# @message", b"\n#x\n\n", b"\r\n"])
@pytest.mark.parametrize("suffix", ["nq", "trig"])
def test_text_logs_are_continued_regardless_of_their_end(tmp_path, suffix, end):
    path = tmp_path / f"log.{suffix}"
    path.write_bytes((LINE % 0).strip() + end)
    append(path, message(1))
    append(path, [], message(3))
    with rdfm.open_log(path) as log:
        assert [len(found) for found in log] == [1, 1, 0, 1]


def test_a_long_last_line_is_found(tmp_path, monkeypatch):
    path = tmp_path / "log.nq"
    append(path, message(0), message(1, " " + "x" * 300_000))
    append(path, message(2))
    monkeypatch.setattr(log_end, "MAX_TAIL_BYTES", 1000)  # forces decoding of the entire log
    append(path, message(3, " " + "x" * 300_000))
    append(path, message(4))
    assert numbers(path) == list(range(5))


def test_only_the_last_line_is_read(tmp_path):
    """The middle of this large log is not valid N-Quads."""
    path = tmp_path / "log.nq"
    path.write_bytes(LINE % 0 + DELIMITER + b"oops\n" * 100_000 + DELIMITER + LINE % 1)
    append(path, message(2))
    assert path.read_bytes().endswith(DELIMITER + LINE % 1 + DELIMITER + LINE % 2)


TRUNCATED = {
    "nq": LINE % 0 + DELIMITER + LINE % 1 + b"<http://e/s> <http:",
    "nt": LINE % 0 + DELIMITER + LINE % 1 + b'<http://e/s> <http://e/p> "x',
    "ttl": LINE % 0 + DELIMITER + LINE % 1 + b"<http://e/s> <http://e/p> ",
    "trig": LINE % 0 + DELIMITER + LINE % 1 + b'<http://e/s> <http://e/p> """\n# @message\nx',
    "ndjsonld": b'{"@id": "http://e/s", "http://e/p": "0"}\n{"@id": "http:',
    "rdf-patch": b"A " + LINE % 0 + b"Z .\nTX .\nA " + LINE % 1,
}


@pytest.mark.parametrize("name", TRUNCATED)
def test_a_log_that_ends_inside_a_message_is_rejected_or_repaired(tmp_path, name):
    path = tmp_path / f"log{formats.find(name).spec.suffixes[0]}"
    path.write_bytes(TRUNCATED[name])
    addition = patch(5) if name == "rdf-patch" else message(5)
    with pytest.raises(rdfm.TruncatedError, match=r"ends inside a message: .*repair=True") as error:
        append(path, addition)
    assert str(path) in str(error.value)
    assert path.read_bytes() == TRUNCATED[name]
    assert not journal_of(path).exists()
    with rdfm.create_log(path, kind=kind_of(path), append=True, repair=True) as log:
        log.write(addition)
        (note,) = log.notes
    with rdfm.open_log(path, kind=kind_of(path)) as log:
        assert len(list(log)) == 2
    assert re.search(r": removed \d+ bytes? of an incomplete message$", note)
    if name in ("nq", "nt"):
        assert b"5" in path.read_bytes()
        removed = len(TRUNCATED[name]) - len(LINE % 0 + DELIMITER)
        assert f"removed {removed} bytes" in note


@pytest.mark.parametrize("name", ["jelly", "rdf-protobuf", "rdfxml", "jelly-patch"])
def test_truncated_frames_and_documents_are_repaired(tmp_path, name):
    path = tmp_path / f"log{formats.find(name).spec.suffixes[0]}"
    additions = [patch(n) if name == "jelly-patch" else message(n) for n in range(3)]
    append(path, *additions[:2])
    data = path.read_bytes()
    path.write_bytes(data[:-3])
    with pytest.raises(rdfm.TruncatedError, match="repair=True"):
        append(path, additions[2])
    append(path, additions[2], repair=True)
    with rdfm.open_log(path, kind=kind_of(path)) as log:
        assert len(list(log)) == 2
    assert data.startswith(path.read_bytes()[:20])


def test_a_log_with_one_incomplete_message_is_not_repaired(tmp_path):
    path = tmp_path / "log.nq"
    path.write_bytes(LINE % 0 + b"<http://e")
    with pytest.raises(rdfm.TruncatedError, match="a repair would leave an empty log"):
        append(path, message(1), repair=True)
    assert path.read_bytes() == LINE % 0 + b"<http://e"


# --- truncated logs, and logs with an invalid end ---


QUADS = [
    rdfm.Quad(S, P, rdfm.Literal("é\n'''\"\"\"")),
    rdfm.Quad(rdfm.BlankNode("b"), P, rdfm.Literal("x", language="en")),
    rdfm.Quad(S, P, rdfm.Literal("5", datatype=rdfm.Iri("http://e/dt"))),
]
APPENDABLE = [
    format.name
    for format in formats.specs()
    if format.append != "never" and set(format.kinds) & {"messages", "patches"}
]
TEXT_FORMATS = [name for name in APPENDABLE if not formats.find(name).spec.binary]
PARTIAL_DELIMITERS = tuple(b"\nMESSAGE"[:length] for length in range(2, 8))


def varied_message(name, number):
    """Returns a message with different kinds of terms, or a patch for patch formats."""
    quads = [*message(number), *QUADS]
    if "messages" in formats.find(name).spec.kinds:
        return quads
    return rdfm.Patch([("TX",), *(("A", None, *quad) for quad in quads), ("TC",)])


def read_if_valid(path):
    """Returns the messages, or None if the log is invalid."""
    try:
        with rdfm.open_log(path, kind=kind_of(path)) as log:
            return [list(each) for each in log]
    except rdfm.DecodeError:
        return None


def log_of(folder, name):
    return folder / f"log{formats.find(name).spec.suffixes[0]}"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {}) for name in APPENDABLE),
        *((name, {"dialect": "directive"}) for name in ("nt", "nq", "ttl", "trig")),
    ],
)
def test_a_log_truncated_at_any_byte_is_repaired(tmp_path, name, options):
    path = log_of(tmp_path, name)
    sizes = []
    for count in (2, 3):
        with rdfm.create_log(path, kind=kind_of(path), **options) as log:
            for number in range(count):
                log.write(varied_message(name, number))
        sizes.append(path.stat().st_size)
    data, messages = path.read_bytes(), read_if_valid(path)
    for length in range(sizes[0] + 1, sizes[1]):
        path.write_bytes(data[:length])
        expected = read_if_valid(path)
        try:
            append(path, varied_message(name, 9))
        except rdfm.TruncatedError:
            assert path.read_bytes() == data[:length]
            append(path, varied_message(name, 9), repair=True)
            expected = messages[: len(read_if_valid(path)) - 1]
            # In Turtle, a partial delimiter could also be the start of a name.
            assert len(expected) >= 2 or data[:length].endswith(PARTIAL_DELIMITERS)
        assert read_if_valid(path)[:-1] == expected, length


def test_a_delimiter_inside_a_string_does_not_end_a_log(tmp_path):
    """The string starts before the part of the log that is searched for the last line."""
    text = b"text\n" * (log_end.TAIL_BYTES // 4)
    unclosed = LINE % 0 + DELIMITER + b'<http://e/s> <http://e/p> """' + text + DELIMITER
    patches = b"A " + LINE % 0 + b'Z .\nA <http://e/s> <http://e/p> """' + text + b"Z .\n"
    for suffix, data in {"ttl": unclosed, "trig": unclosed, "rdfp": patches}.items():
        path = tmp_path / f"log.{suffix}"
        path.write_bytes(data)
        addition = patch(5) if suffix == "rdfp" else message(5)
        with pytest.raises(rdfm.TruncatedError, match="ends inside a message"):
            append(path, addition)
        assert path.read_bytes() == data
        append(path, addition, repair=True)
        assert len(read_if_valid(path)) == 2


@pytest.mark.parametrize("suffix", ["jelly", "jelly.gz", "rpb", "rpb.gz"])
def test_a_last_message_larger_than_a_piece_is_kept(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(log_end, "PIECE_BYTES", 100)
    path = tmp_path / f"log.{suffix}"
    options = {"restart_bytes": 0} if "jelly" in suffix else {}
    with rdfm.create_log(path, **options) as log:
        for number in range(2):
            log.write(message(number, " " + random.Random(1).randbytes(3000).hex()))
    append(path, message(2))
    assert numbers(path) == [0, 1, 2]


@pytest.mark.parametrize("name", ["rdfxml", "rdf-protobuf", "jelly", "ndjsonld", "trig"])
def test_a_log_truncated_in_its_first_message_cannot_be_repaired(tmp_path, name):
    path = log_of(tmp_path, name)
    with rdfm.create_log(path) as log:
        log.write(message(0, " " + "x" * 200))
    complete = path.read_bytes()
    for length in (1, 2, 5, len(complete) // 2, len(complete) - 4):
        path.write_bytes(complete[:length])
        with pytest.raises(rdfm.TruncatedError, match="the log ends inside a message"):
            append(path, message(1))
        with pytest.raises(rdfm.TruncatedError, match="a repair would leave an empty log"):
            append(path, message(1), repair=True)
        assert path.read_bytes() == complete[:length]


def test_a_truncated_document_after_long_lines_is_repaired(tmp_path):
    path = tmp_path / "log.rdf"
    append(path, *(message(number, " " + "x" * 2 * log_end.TAIL_BYTES) for number in range(3)))
    path.write_bytes(path.read_bytes()[:-5])
    append(path, message(3), repair=True)
    assert numbers(path) == [0, 1, 3]


def test_a_truncated_xml_document_of_several_lines_is_not_repaired(tmp_path):
    path = tmp_path / "log.rdf"
    append(path, message(0))
    first = path.read_bytes()
    data = first + first.replace(b"><", b">\n<", 1)[:-4]
    path.write_bytes(data)
    with pytest.raises((rdfm.OptionError, rdfm.DecodeError), match=r"several lines|not a message"):
        append(path, message(1), repair=True)
    assert path.read_bytes() == data


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n", b" \n\n"])
@pytest.mark.parametrize("name", TEXT_FORMATS)
def test_a_log_with_only_white_space_is_empty(tmp_path, name, content):
    path = log_of(tmp_path, name)
    path.write_bytes(content)
    append(path, varied_message(name, 0))
    append(path, varied_message(name, 1))
    assert len(read_if_valid(path)) == 2


@pytest.mark.parametrize("start", [b"", b'VERSION "1.2"\n'])
@pytest.mark.parametrize("end", [b"MESSAGE\n", b"MESSAGE\n" + LINE % 1])
@pytest.mark.parametrize("suffix", ["nt", "nq", "ttl", "trig"])
def test_delimiters_without_an_announcement_are_rejected(tmp_path, suffix, start, end):
    path = tmp_path / f"log.{suffix}"
    data = start + LINE % 0 + end
    path.write_bytes(data)
    with pytest.raises(rdfm.OptionError, match=r"does not announce messages.*lenient=True first"):
        append(path, message(2))
    assert path.read_bytes() == data


LOGS = {
    "nt": LINE % 0,
    "nq": LINE % 0,
    "ttl": LINE % 0,
    "trig": LINE % 0,
    "ndjsonld": b'{"@id":"http://e/s","http://e/p":"0"}\n',
    "rdfp": b'A <http://e/s> <http://e/p> "0" .\n',
}


@pytest.mark.parametrize("suffix", LOGS)
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_log_with_a_byte_order_mark_is_continued(tmp_path, suffix, compress):
    path = tmp_path / f"log.{suffix}"
    path.write_bytes(compress(log_end.BOM + LOGS[suffix]))
    append(path, patch(1) if suffix == "rdfp" else message(1))
    with rdfm.open_log(path, kind=kind_of(path)) as log:
        assert len(list(log)) == 2


@pytest.mark.parametrize(
    "line", ['{"@id": 5}', '{"@id": "http://e/s", "http://e/p": {"@value": 1, "@list": []}}']
)
@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("first", ["", '{"@id": "http://e/s", "http://e/p": 1}\n'])
def test_a_last_line_that_is_not_json_ld_is_rejected(tmp_path, first, line, end):
    path = tmp_path / "log.ndjsonld"
    path.write_text(first + line + end)
    with pytest.raises(
        rdfm.DecodeError, match=r"@id must be a string|a value object may contain only"
    ):
        append(path, message(1))
    assert path.read_text() == first + line + end


def test_a_complete_line_of_json_is_not_removed(tmp_path):
    path = tmp_path / "log.ndjsonld"
    before = '{"@id": "http://e/s", "http://e/p": 1}\n{"@id": 5}'
    path.write_text(before)
    with pytest.raises(rdfm.DecodeError, match=r"@id must be a string"):
        append(path, message(1), repair=True)
    assert path.read_text() == before


def test_a_yaml_log_may_end_with_a_document_end_marker_without_a_line_feed(tmp_path):
    path = tmp_path / "log.yamlld"
    append(path, message(0))
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    assert path.read_bytes().endswith(b"\n...")
    append(path, message(1))
    assert numbers(path) == [0, 1]


@pytest.mark.parametrize("dialect", ["comment", "directive"])
def test_the_end_of_a_large_log_is_repaired_without_reading_its_middle(tmp_path, dialect):
    path = tmp_path / "log.nq"
    append(path, message(0), message(1), dialect=dialect)
    delimiter = DELIMITER if dialect == "comment" else b"MESSAGE\n"
    middle = delimiter + b"oops\n" * 100_000 + delimiter
    complete = path.read_bytes() + middle + LINE % 2 + delimiter
    path.write_bytes(complete + LINE % 3 + b"<http://e/s> <htt")
    append(path, message(4), repair=True)
    assert path.read_bytes() == complete + LINE % 4


def test_the_last_line_may_have_a_different_context_than_the_first(tmp_path):
    path = tmp_path / "log.ndjsonld"
    path.write_text(
        '{"@context": {"n": "@id", "p": "http://e/p"}}\n{"n": "http://e/s", "p": 1}\n'
        '{"@context": {"n": "http://e/n"}}\n{"n": 5}\n'
    )
    append(path, message(1))
    assert len(read_if_valid(path)) == 3


# --- rejected targets and data ---


UNSUITABLE_TARGETS = {
    "log.jsonld": "cannot append to .*log.jsonld: in JSON-LD, a document is one message",
    "log.rt": "in RDF Thrift, a log is one message",
    "log.trp": "in RDF Patch Thrift, rows have no lengths",
    "log.parquet": "in Parquet, a file ends with an index of its content",
    "log.arrow": "in Arrow IPC, a file ends with an index",
    "log.nq.tar": "an archive has an end mark",
    "folder/": "it is a folder",
    "https://example.org/log.nq": "cannot append to the URL",
    "/dev/null": "it is a pipe or a device",
}


@pytest.mark.parametrize("name", UNSUITABLE_TARGETS)
def test_unsuitable_targets_are_rejected(tmp_path, name):
    target = name if "://" in name or name.startswith("/") else f"{tmp_path}/{name}"
    with pytest.raises(rdfm.OptionError, match=UNSUITABLE_TARGETS[name]):
        rdfm.convert(LINE % 0, target, from_format="nq", append=True, **format_option(name))
    with pytest.raises(rdfm.OptionError, match=UNSUITABLE_TARGETS[name]):
        kind = "patches" if name == "log.trp" else "messages"
        format = "nq" if format_option(name) else None
        rdfm.create_log(target, format, kind=kind, append=True)
    assert list(tmp_path.iterdir()) == []


def format_option(name):
    return {"to": "nq"} if name in ("folder/", "/dev/null") else {}


def test_a_file_object_cannot_be_appended_to(tmp_path):
    rejected = pytest.raises(rdfm.OptionError, match="is a stream; give the path of a local file")
    with (tmp_path / "log.nq").open("wb") as file, rejected:
        rdfm.create_log(file, "nq", append=True)


@pytest.mark.parametrize("option", ["sync", "repair"])
def test_sync_and_repair_require_append(tmp_path, option):
    with pytest.raises(
        rdfm.OptionError, match=f"{option} applies only when appending; append=True"
    ):
        rdfm.create_log(tmp_path / "log.nq", **{option: True})
    with pytest.raises(
        rdfm.OptionError, match=f"{option} applies only when appending; append=True"
    ):
        rdfm.convert(LINE % 0, tmp_path / "log.nq", from_format="nq", **{option: True})


def test_append_and_overwrite_cannot_be_combined(tmp_path):
    with pytest.raises(rdfm.OptionError, match="use one of them"):
        rdfm.create_log(tmp_path / "log.nq", append=True, overwrite=True)


def test_append_and_keep_partial_cannot_be_combined(tmp_path):
    with pytest.raises(
        rdfm.OptionError, match="keep_partial applies only to new files; sync=True keeps"
    ):
        rdfm.create_log(tmp_path / "log.nq", append=True, keep_partial=True)
    with pytest.raises(
        rdfm.OptionError, match="keep_partial applies only to new files; sync=True keeps"
    ):
        rdfm.convert(
            LINE % 0, tmp_path / "log.nq", from_format="nq", append=True, keep_partial=True
        )


def test_the_log_cannot_be_an_input(tmp_path):
    path = tmp_path / "log.nq"
    append(path, message(0))
    with pytest.raises(rdfm.OptionError, match="is also an input"):
        rdfm.convert(path, path, append=True)


CONTRADICTORY_OPTIONS = [
    (
        "nq",
        {},
        {"dialect": "directive"},
        "dialect is directive, but .* has comment, which cannot change; omit dialect",
    ),
    ("trig", {"dialect": "directive"}, {"dialect": "comment"}, "has directive"),
    ("nq", {}, {"dialect": "plain"}, "dialect is plain"),
    ("nq", {}, {"flat": True}, "flat writes a single message, but .*; omit flat"),
    (
        "nq",
        {},
        {"compression": "gzip"},
        "compression is gzip, but .* has none, which cannot change; omit compression",
    ),
    ("rpb", {}, {"framing": "rows"}, "cannot be appended as rows"),
    ("jelly", {}, {"name_table": 64}, "has name_table=4000, but these options need name_table=64"),
    ("jelly", {}, {"delimited": False}, "only if every frame is"),
    ("jelly", {}, {"flat": True}, "flat writes a single message"),
    ("jelly", {"jelly_version": 1}, {"prefixes": {"e": "http://e/"}}, "need jelly_version=2;"),
]


@pytest.mark.parametrize(("suffix", "log_options", "options", "reason"), CONTRADICTORY_OPTIONS)
def test_options_that_contradict_the_log_are_rejected(
    tmp_path, suffix, log_options, options, reason
):
    path = tmp_path / f"log.{suffix}"
    append(path, message(0), **log_options)
    before = path.read_bytes()
    with pytest.raises(rdfm.OptionError, match=reason):
        append(path, message(1), **options)
    assert path.read_bytes() == before
    assert not journal_of(path).exists()


SINGLE_MESSAGE_LOGS = [
    ("jelly", {"frames": "flat"}, "all its frames are one message"),
    ("jelly", {"delimited": False}, "its only frame has no length prefix"),
    ("rpb", {"framing": "rows"}, "its rows have no message boundaries"),
]


@pytest.mark.parametrize(("suffix", "options", "reason"), SINGLE_MESSAGE_LOGS)
def test_appending_to_single_message_logs_is_rejected(tmp_path, suffix, options, reason):
    path = tmp_path / f"log.{suffix}"
    with rdfm.create_log(path, **options) as log:
        log.write(message(0))
    with pytest.raises(rdfm.OptionError, match=f"because {reason}"):
        append(path, message(1))


@pytest.mark.parametrize("end", ["<!-- the end -->\n", "<!-- a --> <!-- b -->", "\n<!---->\n\n"])
def test_comments_after_the_last_xml_document_are_accepted(tmp_path, end):
    path = tmp_path / "log.rdf"
    append(path, message(0))
    with path.open("a") as file:
        file.write(end)
    append(path, message(1))
    append(path, message(2))
    assert numbers(path) == [0, 1, 2]


def test_a_truncated_comment_is_repaired(tmp_path):
    path = tmp_path / "log.rdf"
    append(path, message(0))
    with path.open("a") as file:
        file.write("<!-- the e")
    with pytest.raises(rdfm.TruncatedError):
        append(path, message(1))
    append(path, message(1), repair=True)
    assert numbers(path) == [0, 1]


def test_a_yaml_log_without_a_final_line_feed_is_repaired(tmp_path):
    path = tmp_path / "log.yamlld"
    append(path, message(0), message(1))
    first = path.read_bytes()
    path.write_bytes(first + b'---\n"@id": http://e/s\nhttp://e/p: birdso')
    with pytest.raises(rdfm.TruncatedError, match=r"no line feed.*; repair=True removes"):
        append(path, message(2))
    append(path, message(2), repair=True)
    assert numbers(path) == [0, 1, 2]
    path.write_bytes(b'"@id": http://e/s\nhttp://e/p: "7"\n')
    append(path, message(8))
    assert numbers(path) == [7, 8]


def test_an_xml_document_of_several_lines_is_rejected(tmp_path):
    path = tmp_path / "log.rdf"
    append(path, message(0))
    path.write_bytes(path.read_bytes().replace(b"><", b">\n<"))
    with pytest.raises(rdfm.OptionError, match="a document of several lines"):
        append(path, message(1))


@pytest.mark.parametrize(
    ("options", "quads", "reason"),
    [
        ({"physical_type": "triples"}, [rdfm.Quad(S, P, S, S)], "does not allow graph names"),
        (
            {"rdf_star": False},
            [rdfm.Quad(S, P, rdfm.TripleTerm(S, P, S))],
            "a triple term, but the header",
        ),
    ],
)
def test_data_that_the_header_cannot_represent_is_rejected(tmp_path, options, quads, reason):
    path = tmp_path / "log.jelly"
    append(path, message(0), **options)
    before = path.read_bytes()
    with pytest.raises(rdfm.EncodeError, match=reason):
        append(path, message(1), quads)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "quads", "remedy"),
    [
        ({"physical_type": "triples"}, [rdfm.Quad(S, P, S, S)], "physical_type"),
        ({"rdf_star": False}, [rdfm.Quad(S, P, rdfm.TripleTerm(S, P, S))], "rdf_star"),
        ({"datatype_table": 0}, [QUADS[2]], "datatype_table"),
    ],
)
def test_remedies_that_would_change_the_header_are_not_recommended(
    tmp_path, options, quads, remedy
):
    path = tmp_path / "log.jelly"
    iris = [rdfm.Quad(S, P, S)]
    append(path, iris, **options)
    with pytest.raises(rdfm.EncodeError, match="write these messages to a new log") as error:
        append(path, quads)
    assert f"{remedy}=" not in str(error.value)
    with pytest.raises(rdfm.EncodeError, match=f"{remedy}"):
        append(tmp_path / "new.jelly", iris, quads, **options)


def test_an_unknown_logical_type_is_rejected(tmp_path):
    path = tmp_path / "log.jelly"
    append(path, message(0))
    data = path.read_bytes().replace(b"\x70\x04", b"\x70\x18")
    path.write_bytes(data)
    assert numbers(path) == [0]
    with pytest.raises(rdfm.OptionError, match="logical type 24, which rdfm does not write"):
        append(path, message(1))
    assert path.read_bytes() == data


def test_a_log_may_be_its_own_options_template(tmp_path):
    path, other = tmp_path / "log.jelly", tmp_path / "other.jelly"
    append(path, message(0))
    append(other, message(0), name_table=64)
    arguments = {"from_format": "nq", "append": True}
    rdfm.convert(LINE % 1, path, options_from=path, **arguments)
    assert numbers(path) == [0, 1]
    with pytest.raises(rdfm.OptionError, match=r"has name_table=4000.*options_from has name_tabl"):
        rdfm.convert(LINE % 2, path, options_from=other, **arguments)
    assert numbers(path) == [0, 1]


def test_split_options_are_rejected_when_appending(tmp_path):
    for option in ("split_messages", "split_bytes"):
        with pytest.raises(rdfm.OptionError, match=f"append and {option} cannot be combined"):
            append(tmp_path / "log.nq", message(0), **{option: 5})


def test_a_single_byte_after_the_last_message_is_rejected(tmp_path):
    path = tmp_path / "log.jelly"
    append(path, message(0))
    path.write_bytes(path.read_bytes() + b"\x05")
    with pytest.raises(
        rdfm.TruncatedError, match="the last complete message ends 1 byte before the end"
    ):
        append(path, message(1))


def test_patches_of_several_runs_equal_patches_of_one_run(tmp_path):
    patches = [patch(0), rdfm.Patch([]), patch(2), rdfm.Patch([])]
    path, single_run = tmp_path / "log.rdfp", tmp_path / "once.rdfp"
    for each in patches:
        append(path, each)
    append(single_run, *patches)
    assert path.read_bytes() == single_run.read_bytes()


def test_namespaces_in_version_1_are_rejected_or_omitted(tmp_path):
    path = tmp_path / "log.jelly"
    append(path, message(0), jelly_version=1)
    log = b'PREFIX e: <http://e/>\ne:s e:p "1" .\n'
    with pytest.raises(rdfm.EncodeError, match=r"Jelly version 1.*namespaces=False"):
        rdfm.convert(log, path, from_format="trig", append=True)
    summary = rdfm.convert(log, path, from_format="trig", append=True, namespaces=False)
    assert summary.dropped == {"namespaces": 1}
    assert numbers(path) == [0, 1]


# --- failures ---


def test_a_failed_run_leaves_the_log_unchanged(tmp_path):
    path = tmp_path / "log.nq"
    append(path, message(0))
    before = path.read_bytes()
    with pytest.raises(rdfm.DecodeError):
        rdfm.convert(LINE % 1 + DELIMITER + b"broken", path, from_format="nq", append=True)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_sync_keeps_the_messages_before_an_error(tmp_path):
    path = tmp_path / "log.nq"
    append(path, message(0))
    with pytest.raises(rdfm.DecodeError):
        rdfm.convert(
            LINE % 1 + DELIMITER + b"broken", path, from_format="nq", append=True, sync=True
        )
    assert numbers(path) == [0, 1]
    assert list(tmp_path.iterdir()) == [path]


def test_a_writer_that_is_never_closed_appends_nothing(tmp_path):
    path = tmp_path / "log.nq"
    append(path, message(0))
    log = rdfm.create_log(path, append=True)
    log.write(message(1))
    log.flush()
    with pytest.warns(
        ResourceWarning, match="was not closed, so the messages appended to it are lost"
    ):
        del log
    assert numbers(path) == [0]
    assert list(tmp_path.iterdir()) == [path]


def test_readers_stop_at_the_committed_length(tmp_path):
    path = tmp_path / "log.nq"
    append(path, message(0))
    size = path.stat().st_size
    with rdfm.create_log(path, append=True) as log:
        log.write(message(1))
        log.flush()
        assert path.stat().st_size > size
        assert numbers(path) == [0]
        assert numbers(tmp_path) == [0]  # the journal is not a log
        assert len(rdfm.plan_splits(path, split_bytes=10)) <= 4
    assert numbers(path) == [0, 1]


def test_earlier_readers_stop_at_the_committed_length(tmp_path):
    path = tmp_path / "log.nq"
    append(path, *(message(number, " " + "x" * 3000) for number in range(700)))
    reader = rdfm.open_log(path)
    messages = iter(reader)
    next(messages)
    with rdfm.create_log(path, append=True) as log:
        log.write(message(700, " " + "x" * 100_000))
        log.flush()
        assert sum(1 for _ in messages) == 699


def test_readers_see_each_batch_if_sync_is_set(tmp_path):
    path = tmp_path / "log.trig"
    with rdfm.create_log(path, append=True, sync=True) as log:
        for number in range(3):
            log.write(message(number))
            log.flush()
            assert numbers(path) == list(range(number + 1))


def test_a_second_writer_is_rejected(tmp_path):
    path = tmp_path / "log.nq"
    with rdfm.create_log(path, append=True) as log:
        log.write(message(0))
        with pytest.raises(rdfm.OptionError, match="in use by another process"):
            rdfm.create_log(path, append=True)
        completed = subprocess.run(
            [sys.executable, "-m", "rdfm", "convert", "-", "-o", path, "--append", "--from", "nq"],
            input=LINE % 1,
            capture_output=True,
            check=False,
        )
        assert completed.returncode == 1, completed.stderr
        assert b"in use by another process" in completed.stderr
    assert numbers(path) == [0]


@pytest.mark.parametrize("replaced", [True, False])
def test_a_log_replaced_or_removed_during_a_run_is_reported(tmp_path, replaced):
    path = tmp_path / "log.nq"
    append(path, message(0))
    log = rdfm.create_log(path, append=True)
    log.write(message(1))
    path.unlink()
    if replaced:
        path.write_bytes(LINE % 7)
    with pytest.raises(rdfm.OptionError, match="was replaced or removed by another program"):
        log.close()
    assert not journal_of(path).exists()
    assert (numbers(path) == [7]) if replaced else not path.exists()


def test_an_unrelated_file_with_the_journal_name_is_kept(tmp_path):
    path = tmp_path / "log.nq"
    journal_of(path).write_text("my notes")
    with pytest.raises(rdfm.OptionError, match="is not the journal of a log"):
        append(path, message(0))
    assert journal_of(path).read_text() == "my notes"


def test_a_journal_of_another_log_is_ignored(tmp_path):
    path = tmp_path / "log.nq"
    append(path, message(0))
    log = rdfm.create_log(path, append=True)
    journal_data = journal_of(path).read_bytes()
    log.discard()
    data = LINE % 7 + DELIMITER + LINE % 8
    path.write_bytes(data)
    journal_of(path).write_bytes(journal_data)
    assert numbers(path) == [7, 8]
    append(path, message(9))
    assert path.read_bytes() == data + DELIMITER + LINE % 9


def simulate_killed_run(path):
    """Leaves a log in which message 0 is committed and message 1 is not."""
    append(path, message(0))
    log = rdfm.create_log(path, append=True)
    journal_data = journal_of(path).read_bytes()
    log.discard()
    path.write_bytes(path.read_bytes() + DELIMITER + LINE % 1)
    journal_of(path).write_bytes(journal_data)


def test_replacing_a_log_removes_the_journal_of_a_killed_run(tmp_path):
    path = tmp_path / "log.nq"
    simulate_killed_run(path)
    assert numbers(path) == [0]
    # The new log begins with the committed bytes.
    with rdfm.create_log(path) as log:
        for number in range(3):
            log.write(message(number))
    assert not journal_of(path).exists()
    assert numbers(path) == [0, 1, 2]


def test_the_journal_of_a_replaced_file_does_not_hide_messages(tmp_path):
    path = tmp_path / "log.nq"
    simulate_killed_run(path)
    other = tmp_path / "other.nq"
    append(other, *(message(number) for number in range(4)))
    other.replace(path)
    before = path.read_bytes()
    assert numbers(path) == [0, 1, 2, 3]
    with pytest.raises(rdfm.OptionError, match=r"replaced or copied.*delete .*log\.nq\.append"):
        append(path, message(4))
    assert path.read_bytes() == before
    journal_of(path).unlink()
    append(path, message(4))
    assert numbers(path) == [0, 1, 2, 3, 4]


def test_a_copied_log_can_be_truncated_to_its_committed_length(tmp_path):
    path = tmp_path / "copy" / "log.nq"
    path.parent.mkdir()
    simulate_killed_run(tmp_path / "log.nq")
    for file in ("log.nq", "log.nq.append"):
        shutil.copy2(tmp_path / file, path.parent)
    with pytest.raises(rdfm.OptionError, match="replaced or copied") as error:
        append(path, message(2))
    length = int(re.search(r"truncate -s (\d+)", str(error.value))[1])
    os.truncate(path, length)
    append(path, message(2))
    assert numbers(path) == [0, 2]
    assert not journal_of(path).exists()


def _fstat_without_inode(file, fstat=os.fstat):
    status = list(fstat(file))
    status[1] = 0
    return os.stat_result(status)


def test_without_inodes_a_log_is_identified_by_its_bytes(tmp_path, monkeypatch):
    path = tmp_path / "log.nq"
    with monkeypatch.context() as context:
        context.setattr(journal.os, "fstat", _fstat_without_inode)
        context.setattr(journal.os.path, "samestat", lambda a, b: True)
        simulate_killed_run(path)
        assert numbers(path) == [0]
        append(path, message(2))
        assert numbers(path) == [0, 2]


def test_a_journal_without_an_inode_hides_nothing_of_a_file_with_an_inode(tmp_path, monkeypatch):
    """It could have been shipped in an archive beside any log with the same beginning."""
    path = tmp_path / "log.nq"
    with monkeypatch.context() as context:
        context.setattr(journal.os, "fstat", _fstat_without_inode)
        context.setattr(journal.os.path, "samestat", lambda a, b: True)
        simulate_killed_run(path)
    before = path.read_bytes()
    assert numbers(path) == [0, 1]
    with pytest.raises(rdfm.OptionError, match="replaced or copied"):
        append(path, message(2))
    assert path.read_bytes() == before


def test_readers_report_the_bytes_that_a_journal_excludes(tmp_path, capfd):
    path = tmp_path / "log.nq"
    simulate_killed_run(path)
    excluded = len(DELIMITER + LINE % 1)
    note = f"{excluded} bytes after the last commit were not read"
    with rdfm.open_log(path) as log:
        assert len(list(log)) == 1
        assert log.uncommitted_bytes == excluded
    summary = rdfm.convert(path, tmp_path / "out.trig")
    assert summary.uncommitted_bytes == excluded
    assert summary.notes == (f"{path}: {note}",)
    assert rdfm.inspect(path).notes == (f"{path}: {note}",)
    report = rdfm.validate(path)
    assert [(finding.rule, finding.text) for finding in report] == [("uncommitted", note)]
    with pytest.raises(SystemExit, match="0"):
        main(["cat", str(path)])
    assert capfd.readouterr().err == f"rdfm: note: {note}\n"
    append(path, message(2))
    with rdfm.open_log(path) as log:
        assert (len(list(log)), log.uncommitted_bytes) == (2, 0)


@pytest.mark.parametrize("create", [os.mkdir, os.mkfifo, lambda path: path.symlink_to("x")])
def test_a_folder_pipe_or_link_with_the_journal_name_is_rejected(tmp_path, create):
    path = tmp_path / "log.nq"
    append(path, message(0))
    create(journal_of(path))
    with pytest.raises(rdfm.OptionError) as error:
        append(path, message(1))
    expected = f"{journal_of(path)} is not the journal of a log; rename it, because appending"
    assert expected in str(error.value)
    assert os.path.lexists(journal_of(path))
    assert numbers(path) == [0]
    with rdfm.create_log(path) as log:
        log.write(message(2))
    assert numbers(path) == [2]


def test_one_byte_is_reported_in_the_singular(tmp_path):
    path = tmp_path / "log.jelly"
    append(path, message(0))
    path.write_bytes(path.read_bytes() + b"\x05")
    with pytest.raises(rdfm.TruncatedError, match="complete message ends 1 byte before the end"):
        append(path, message(1))
    summary = rdfm.convert(LINE % 1, path, from_format="nq", append=True, repair=True)
    assert summary.notes == (f"{path}: removed 1 byte of an incomplete message",)


def test_bytes_removed_after_a_killed_run_are_reported(tmp_path):
    path = tmp_path / "log.nq"
    simulate_killed_run(path)
    removed = len(DELIMITER + LINE % 1)
    summary = rdfm.convert(LINE % 2, path, from_format="nq", append=True)
    assert summary.notes == (f"{path}: removed {removed} bytes after the last commit",)
    assert numbers(path) == [0, 2]


def test_an_invalid_document_at_the_end_is_rejected(tmp_path):
    path = tmp_path / "log.yamlld"
    path.write_text('"@id": http://e/1\nhttp://e/p: 1\n---\n"@id": http://e/2\n"@type": ')
    before = path.read_bytes()
    with pytest.raises(rdfm.DecodeError, match="@type must be a string"):
        append(path, message(0))
    assert path.read_bytes() == before


def test_a_torn_commit_leaves_the_previous_commit(tmp_path):
    path = tmp_path / "log.nq"
    append(path, message(0))
    with path.open("r+b") as file:
        lock = journal.Journal(path)
        lock.commit(journal.Commit(5, "content"), file.fileno())
        lock.commit(journal.Commit(9, "content"), file.fileno())
        lock.release()
        data = journal_of(path).read_bytes()
        assert journal.committed_length(str(path), file.fileno()) == 9
        for length in (1, 40, 100):
            partial = data[: journal.SLOT_BYTES + length] + b"\0" * (journal.SLOT_BYTES - length)
            journal_of(path).write_bytes(partial)
            assert journal.committed_length(str(path), file.fileno()) == 5


# --- killed writers, and full disks ---

WRITER = """
import sys
import rdfm
path, first, sync, text = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "sync", "x" * int(sys.argv[4])
s, p = rdfm.Iri("http://e/s"), rdfm.Iri("http://e/p")
print("begun", flush=True)
with rdfm.create_log(path, append=True, sync=sync) as log:
    print("open", flush=True)
    for number in range(first, 1_000_000):
        log.write([rdfm.Quad(s, p, rdfm.Literal(f"{number} {text}"))])
        log.flush()
        print(number, flush=True)
"""


def kill_writer(path, first, delay, *, sync=True, size=100, lines=0):
    """Kills a process that appends messages, starting at `first`. Returns the last reported number.

    The process is killed `delay` seconds after it has reported `lines` lines.
    """
    command = [sys.executable, "-c", WRITER, str(path), str(first)]
    with subprocess.Popen(
        [*command, "sync" if sync else "", str(size)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"begun\n"
        for _ in range(lines):
            process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        reported = process.stdout.read().split()
    return int(reported[-1]) if reported and reported[-1].isdigit() else first - 1


def kill_writers(path, count, seed):
    generator = random.Random(seed)
    committed = -1
    for _ in range(count):
        first = committed + 1
        reported = kill_writer(path, first, generator.uniform(0, 0.03))
        found = numbers(path) if path.exists() else []
        assert found == list(range(len(found)))
        # The log contains all reported messages and at most one more.
        assert reported <= len(found) - 1 <= reported + 1
        committed = len(found) - 1
    append(path, message(committed + 1))
    assert numbers(path) == list(range(committed + 2))
    assert not journal_of(path).exists()


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["nq", "trig", "jelly", "nq.gz"])
def test_killed_writers_neither_lose_nor_repeat_messages(tmp_path, suffix):
    kill_writers(tmp_path / f"log.{suffix}", 3, seed=suffix)


@pytest.mark.slow
@pytest.mark.skipif("RDFM_KILLS" not in os.environ, reason="set RDFM_KILLS=N to kill N writers")
@pytest.mark.parametrize("suffix", ["nq", "trig", "jelly", "ndjsonld", "rpb", "nq.zst"])
def test_many_killed_writers_neither_lose_nor_repeat_messages(tmp_path, suffix):
    kill_writers(tmp_path / f"log.{suffix}", int(os.environ["RDFM_KILLS"]), seed=suffix)


@pytest.mark.slow
def test_a_killed_writer_appends_nothing_unless_sync_is_set(tmp_path):
    path = tmp_path / "log.nq"
    append(path, message(0))
    assert kill_writer(path, 1, 0.1, sync=False, lines=4) > 1
    assert journal_of(path).exists()
    assert path.stat().st_size > len(LINE % 0)
    assert numbers(path) == [0]
    append(path, message(1))
    assert numbers(path) == [0, 1]


@pytest.mark.parametrize("sync", [False, True])
def test_a_full_disk_keeps_committed_messages(tmp_path, sync):
    path = tmp_path / "log.nq"
    append(path, message(0))
    max_bytes = path.stat().st_size + 1000
    limit = (
        f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({max_bytes}, {max_bytes}))\n"
    )
    completed = subprocess.run(
        [sys.executable, "-c", limit + WRITER, str(path), "1", "sync" if sync else "", "100"],
        capture_output=True,
        check=False,
    )
    assert b"File too large" in completed.stderr
    found = numbers(path)
    assert found == ([0] if not sync else list(range(len(found))))
    assert len(found) > 1 or not sync
    assert list(tmp_path.iterdir()) == [path]
    append(path, message(len(found)))
    assert numbers(path) == list(range(len(found) + 1))


def test_appending_uses_constant_memory(tmp_path):
    """Only the last line of a large file is read."""
    path = tmp_path / "log.nq"
    path.write_bytes(LINE % 0 + DELIMITER)
    with path.open("r+b") as file:
        file.truncate(1 << 32)
        file.seek(1 << 32)
        file.write(b"\n" + LINE % 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    append(path, message(2))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10
    with path.open("rb") as file:
        file.seek(1 << 32)
        assert file.read() == b"\n" + LINE % 1 + DELIMITER + LINE % 2


# --- logs that other programs change ---


def test_a_log_truncated_during_a_run_is_reported(tmp_path):
    path = tmp_path / "log.nq"
    append(path, message(0))
    log = rdfm.create_log(path, append=True, sync=True)
    log.write(message(1))
    log.flush()
    os.truncate(path, 0)
    log.write(message(2))
    with pytest.raises(rdfm.OptionError, match="was truncated by another program; append to it"):
        log.flush()
    log.discard()
    assert path.read_bytes() == b""
    assert not journal_of(path).exists()


@pytest.mark.parametrize("length", [0, 7])
def test_a_log_truncated_just_before_a_write_has_no_gap(tmp_path, monkeypatch, length):
    path = tmp_path / "log.nq"
    append(path, message(0))
    kept = path.read_bytes()[:length]
    write = os.write

    def truncate_and_write(file, data):
        os.truncate(path, length)
        return write(file, data)

    log = rdfm.create_log(path, append=True)
    log.write(message(1))
    with monkeypatch.context() as context:
        context.setattr(append_module.os, "write", truncate_and_write)
        with pytest.raises(rdfm.OptionError, match="was truncated by another program"):
            log.close()
    assert path.read_bytes() == kept
    assert not journal_of(path).exists()


def test_a_log_extended_during_a_run_is_reported(tmp_path):
    path = tmp_path / "log.nq"
    append(path, message(0))
    before = path.read_bytes()
    log = rdfm.create_log(path, append=True)
    log.write(message(1))
    log.flush()
    with path.open("ab") as other:
        other.write(LINE % 7)
    log.write(message(2))
    with pytest.raises(rdfm.OptionError, match="was extended by another program") as error:
        log.close()
    check_repairs(tmp_path, before, LINE % 7, error)


def check_repairs(folder, before, added, error):
    """Checks that the bytes of another program are kept, and that both repairs work."""
    path = folder / "log.nq"
    assert path.read_bytes().startswith(before)
    assert path.read_bytes().endswith(added)
    assert path.read_bytes() != before + added
    with rdfm.open_log(path) as log:
        assert len(list(log)) == 1
    with pytest.raises(rdfm.OptionError, match="was extended by another program") as again:
        append(path, message(1))
    assert str(again.value) == str(error.value)
    changed, found = path.read_bytes(), str(error.value).replace(str(path), "log.nq")
    keep, remove = re.search("latter: (.*); to remove both: (.*)[.] Then delete", found).groups()
    for command, rest in ((keep, before + added), (remove, before)):
        path.write_bytes(changed)
        subprocess.run(command, cwd=folder, shell=True, check=True)
        assert path.read_bytes() == rest
    append(path, message(1))  # nothing is left of the change
    assert not journal_of(path).exists()


@pytest.mark.parametrize("stop", ["discard", "ENOSPC"])
def test_bytes_of_another_program_are_kept_if_a_run_ends(tmp_path, monkeypatch, stop):
    path = tmp_path / "log.nq"
    append(path, message(0))
    before = path.read_bytes()
    log = rdfm.create_log(path, append=True)
    log.write(message(1))
    log.flush()
    write = os.write

    def fail(file, data):
        if len(data) > 9:
            return write(file, data[:9])
        with path.open("ab") as other:
            other.write(LINE % 7)
        raise OSError(errno.ENOSPC, "no space")

    with monkeypatch.context() as context:
        if stop == "ENOSPC":
            context.setattr(append_module.os, "write", fail)
            log.write(message(2))
        else:
            with path.open("ab") as other:
                other.write(LINE % 7)
        with pytest.raises(rdfm.OptionError, match="was extended by another program") as error:
            log.discard() if stop == "discard" else log.close()
    check_repairs(tmp_path, before, LINE % 7, error)


def test_bytes_of_another_program_are_kept_if_they_arrive_during_a_write(tmp_path, monkeypatch):
    path = tmp_path / "log.nq"
    append(path, message(0))
    before = path.read_bytes()
    log = rdfm.create_log(path, append=True)
    log.write(message(1))
    log.flush()
    write = os.write

    def extend_and_write(file, data):
        with path.open("ab") as other:
            other.write(LINE % 7)
        return write(file, data)

    with monkeypatch.context() as context:
        context.setattr(append_module.os, "write", extend_and_write)
        log.write(message(2))
        with pytest.raises(rdfm.OptionError, match="was extended by another program") as error:
            log.close()
    check_repairs(tmp_path, before, LINE % 7, error)


def test_an_interrupted_write_is_removed(tmp_path, monkeypatch):
    path = tmp_path / "log.nq"
    append(path, message(0))
    before = path.read_bytes()
    log = rdfm.create_log(path, append=True)
    log.write(message(1))
    write = os.write

    def interrupt(file, data):
        write(file, data[:9])
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(append_module.os, "write", interrupt)
        with pytest.raises(KeyboardInterrupt):
            log.close()
    assert path.read_bytes() == before
    assert not journal_of(path).exists()


def start_capture(path, *options):
    """Starts a run that appends the messages from a pipe."""
    command = [sys.executable, "-m", "rdfm", "convert", "-", "-o", path, "--from", "nq", *options]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)


def is_open(path):
    """Whether a run has found the end of a log."""
    return journal_of(path).exists() and journal_of(path).stat().st_size > 0


@pytest.mark.slow
@pytest.mark.parametrize("sync", [(), ("--sync",)])
@pytest.mark.parametrize("change", ["rename", "truncate"])
def test_a_run_without_input_notices_that_its_log_changed(tmp_path, change, sync):
    path = tmp_path / "log.nq"
    append(path, message(0))
    with start_capture(path, "--append", "--commit-seconds", "1", *sync) as capture:
        wait_for(lambda: is_open(path))
        if change == "rename":
            path.rename(tmp_path / "log.1")
        else:
            os.truncate(path, 0)
        assert capture.wait(60) == 2  # its input is still open
        assert b"by another program; append to it again" in capture.stderr.read()
    assert not journal_of(path).exists()


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["nq", "jelly", "trig.gz"])
def test_a_capture_is_committed_at_intervals(tmp_path, suffix):
    path = tmp_path / f"log.{suffix}"
    with start_capture(path, "--append", "--commit-seconds", "1") as capture:
        for number in range(3):
            capture.stdin.write(LINE % number + DELIMITER)
            capture.stdin.flush()
            wait_for(lambda: path.exists() and numbers(path) == list(range(number + 1)))  # noqa: B023 - called in this iteration
        capture.kill()
    assert numbers(path) == [0, 1, 2]
    append(path, message(3))
    assert numbers(path) == [0, 1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("signalled", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_commits_the_complete_messages_of_a_capture(tmp_path, signalled):
    path = tmp_path / "log.nq"
    append(path, message(0))
    with start_capture(path, "--append") as capture:
        capture.stdin.write(LINE % 1 + DELIMITER + LINE % 2 + DELIMITER + LINE % 3)
        capture.stdin.flush()
        wait_for(lambda: is_open(path))
        wait_until_idle(capture)
        capture.send_signal(signalled)
        time.sleep(0.05)
        capture.send_signal(signal.SIGHUP)  # as from a terminal that is closed
        assert capture.wait(60) == 130
        assert capture.stderr.read().strip() == b"rdfm: error: interrupted"
    assert numbers(path) == [0, 1, 2]
    assert [file.name for file in tmp_path.iterdir()] == ["log.nq"]


@pytest.mark.slow
@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize("command", ["convert", "patch from-log"])
def test_a_response_without_a_length_may_be_endless(tmp_path, command, chunked):
    path = tmp_path / ("log.nq" if command == "convert" else "log.rdfp")
    body = b"".join(LINE % number + DELIMITER for number in range(4))
    stalled, ended = threading.Event(), threading.Event()
    pieces = itertools.count()

    def stall():
        if next(pieces) == 2:
            stalled.set()
            ended.wait()

    with web.site() as site:
        url = site.on("/log.nq", web.send(200, body, chunked=chunked, between=stall))
        line = [sys.executable, "-m", "rdfm", *command.split(), url, path, "--append"]
        with subprocess.Popen(line, stdin=subprocess.PIPE) as capture:
            assert stalled.wait(60)
            wait_until_idle(capture)
            capture.send_signal(signal.SIGTERM)
            assert capture.wait(60) == 130
        ended.set()
    assert path.exists() == chunked
    if chunked:
        with rdfm.open_log(path, kind=kind_of(path)) as log:
            assert len(list(log)) == 2
    assert len(list(tmp_path.iterdir())) == chunked


@pytest.mark.slow
@pytest.mark.parametrize("sync", [(), ("--sync",)])
def test_the_messages_before_an_incomplete_large_message_are_committed(tmp_path, sync):
    path = tmp_path / "log.nq"
    with start_capture(path, "--append", "--commit-seconds", "1", *sync) as capture:
        capture.stdin.write(LINE % 0 + LINE % 1 + DELIMITER + LINE % 2 * 60_000)
        capture.stdin.flush()
        wait_for(path.exists)
        capture.send_signal(signal.SIGTERM)
        assert capture.wait(60) == 130
    assert path.read_bytes() == LINE % 0 + LINE % 1


DOCUMENT_OF_ONE_LINE = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
    '<rdf:Description rdf:about="http://e/s"><e:p>x</e:p></rdf:Description></rdf:RDF>'
)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("repair", [False, True])
def test_a_log_in_utf_16_is_not_appended_to(tmp_path, encoding, end, repair):
    path = tmp_path / "log.rdf"
    path.write_bytes((DOCUMENT_OF_ONE_LINE + end).encode(encoding))
    before = path.read_bytes()
    with pytest.raises(rdfm.OptionError, match="because it is in UTF-16"):
        rdfm.create_log(path, append=True, repair=repair)
    assert path.read_bytes() == before


def test_a_new_log_does_not_replace_a_file_of_another_program(tmp_path):
    path = tmp_path / "log.nq"
    with (
        pytest.raises(rdfm.OptionError, match="was written by another program"),
        rdfm.create_log(path, append=True) as log,
    ):
        log.write(message(0))
        path.write_bytes(LINE % 1)
    assert path.read_bytes() == LINE % 1
