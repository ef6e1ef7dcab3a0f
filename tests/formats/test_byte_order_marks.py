"""Every text format skips a UTF-8 byte order mark at the start of a log, and only there."""

import codecs
from pathlib import Path

import pytest

import rdfm
from rdfm import formats, plan_splits

FIXTURES = Path(__file__).resolve().parents[2] / "spec-fixtures"
MARK = codecs.BOM_UTF8
FORMATS = [
    name
    for name in formats.names()
    if not formats.find(name).spec.binary and not formats.find(name).spec.needs
]


def text_logs():
    """Yields the text logs of the fixtures, with the names of their formats."""
    for file in sorted(FIXTURES.glob("*/*")):
        suffixes = {name: formats.find(name).spec.suffixes for name in FORMATS}
        name = next((name for name in FORMATS if file.suffix in suffixes[name]), None)
        if name is not None and file.parent.name != "generalized":
            yield pytest.param(file, name, id=f"{file.parent.name}/{file.name}")


LOGS = list(text_logs())


def positions(batches):
    return [batch.byte_offset(number) for batch in batches for number in range(len(batch))]


def batches_of(name, data, size=None):
    """Decodes a log in pieces of this size."""
    options = {"base": "http://e/"} if "base" in formats.find(name).spec.reads else {}
    decoder = formats.find(name).Decoder(**options)
    size = size or max(len(data), 1)
    found = []
    for start in range(0, len(data), size):
        decoder.feed(data[start : start + size])
        while (batch := decoder.next_batch()) is not None:
            found.append(batch)
    decoder.finish()
    while (batch := decoder.next_batch()) is not None:
        found.append(batch)
    return found


def content(batches):
    return [message for batch in batches for message in batch]


def test_every_text_format_has_logs():
    assert {case.values[1] for case in LOGS} == set(FORMATS)


@pytest.mark.parametrize(("file", "name"), LOGS)
def test_a_byte_order_mark_at_the_start_is_skipped(file, name):
    data = file.read_bytes()
    expected = batches_of(name, data)
    for size in (None, 1, 2, 5):
        marked = batches_of(name, MARK + data, size)
        assert content(marked) == content(expected)
        offsets = [0, *(position + len(MARK) for position in positions(expected)[1:])]
        assert positions(marked)[1:] == offsets[1:]
    assert formats.by_content(MARK + data) is formats.by_content(data)


# In CSV the mark is part of a name. YAML allows it before each document.
@pytest.mark.parametrize("name", [n for n in FORMATS if n not in ("results-csv", "yamlld")])
def test_a_byte_order_mark_after_the_start_is_an_error(name):
    file = next(case.values[0] for case in LOGS if case.values[1] == name)
    data = file.read_bytes()
    with pytest.raises(rdfm.DecodeError):
        batches_of(name, MARK + MARK + data)


@pytest.mark.parametrize("suffix", ["nt", "nq"])
def test_splits_of_a_log_with_a_byte_order_mark(tmp_path, suffix):
    path = tmp_path / f"log.{suffix}"
    path.write_bytes(MARK + b"# @message\n<a:s> <a:p> <a:o> .\n" * 2 + b"# @message\n" * 3)
    with rdfm.open_log(path) as log:
        expected = [message.quads for message in log]
    for size in range(1, 100, 7):
        found = []
        for split in plan_splits(path, split_bytes=size, count=True):
            with rdfm.open_log(path, split=split) as log:
                found += [message.quads for message in log]
        assert found == expected
