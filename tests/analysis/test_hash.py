"""Hashes of messages: `rdfm.hash`."""

from hashlib import sha256
from pathlib import Path

import pytest
from support import FIXTURES

import rdfm
from rdfm import DecodeError, EncodeError, LimitError, MessageHash, OptionError, formats

LOG = b"""_:a <x:p> _:b .
_:b <x:p> "x" .
_:b <x:p> "x" .
# @message
<x:s> <x:p> <x:o> <x:g> .
# @message
# @message
_:z <x:p> "x" .
_:y <x:p> _:z .
"""
INVALID = b"<x:s> <x:p> oops .\n"
DELIMITER = b"# @message\n"


def hashes_of(log=LOG, format="nq", **options):
    """Returns the hashes of a log."""
    return [each.hash for each in rdfm.hash(log, format, **options)]


FOLDERS = ("basic", "bnodes", "empty-two", "nanopubs")


@pytest.mark.parametrize(
    "path",
    [
        path
        for folder in FOLDERS
        for path in sorted((FIXTURES / folder).glob("log.*"))
        if formats.by_path(path.name) is not None
    ],
    ids=lambda path: f"{path.parent.name}-{path.name}",
)
def test_the_hash_of_a_message_is_that_of_its_canonical_output(path, tmp_path):
    with rdfm.open_log(path) as log:
        messages = list(log)
    hashes = list(rdfm.hash(path))
    assert [each.source for each in hashes] == [str(path)] * len(messages)
    assert [each.message_index for each in hashes] == list(range(len(messages)))
    for each, message in zip(hashes, messages, strict=True):
        assert each.hash == message.canonical_hash()
        if len(message):  # otherwise, the output contains delimiters
            target = tmp_path / "one.nq"
            rdfm.convert(path, target, canonical=True, messages=str(each.message_index))
            assert each.hash == sha256(target.read_bytes()).hexdigest()


def test_messages_that_are_equal_up_to_labels_have_equal_hashes():
    first, second, empty, last = hashes_of()
    assert first == last
    assert len({first, second, empty}) == 3
    assert empty == sha256(b"").hexdigest()


def test_language_tags_are_hashed_as_written():
    lower, upper = hashes_of(b'<x:s> <x:p> "a"@en .\n# @message\n<x:s> <x:p> "a"@EN .\n')
    assert lower != upper


def test_the_hash_of_a_log_is_that_of_its_hashes():
    expected = sha256(b"".join(bytes.fromhex(each) for each in hashes_of())).hexdigest()
    for options in ({}, {"batch_messages": 1}):
        assert rdfm.hash(LOG, "nq", **options).log_hash() == expected
    assert rdfm.hash(LOG, "nq", messages=":0").log_hash() == sha256(b"").hexdigest()


def test_messages_are_numbered_in_each_log_and_selected_over_all_logs(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.nq").write_bytes(LOG)
    hashes = hashes_of()
    found = list(rdfm.hash(tmp_path, messages="3:6"))
    expected = [("a.nq", 3), ("b.nq", 0), ("b.nq", 1)]
    assert [(Path(each.source).name, each.message_index) for each in found] == expected
    assert [each.hash for each in found] == [hashes[index] for _, index in expected]
    assert hashes_of(messages=1) == hashes_of(messages="1") == [hashes[1]]
    assert len(hashes_of(sample="2", seed=1)) == 2


@pytest.mark.parametrize("selected", ["40000:", "-3:", "-1", "39999"])
def test_messages_of_a_large_log_keep_their_indexes(tmp_path, selected):
    path = tmp_path / "large.nq"
    lines = (b'<x:s> <x:p> "%d" .\n# @message\n' % number for number in range(40_003))
    path.write_bytes(b"".join(lines).removesuffix(DELIMITER))
    numbers = range(40_003)
    chosen = numbers[40_000:] if selected == "40000:" else numbers[-3:]
    if ":" not in selected:
        chosen = [numbers[int(selected)]]
    expected = [
        MessageHash(str(path), number, sha256(b'<x:s> <x:p> "%d" .\n' % number).hexdigest())
        for number in chosen
    ]
    assert list(rdfm.hash(path, messages=selected)) == expected


def test_hashes_before_an_error_are_returned():
    with rdfm.hash(LOG + DELIMITER + INVALID + DELIMITER + LOG, "nq") as hashes:
        rows = iter(hashes)
        assert [next(rows).message_index for _ in range(4)] == [0, 1, 2, 3]
        with pytest.raises(DecodeError):
            next(rows)


def test_skipped_messages_keep_their_index_and_are_counted():
    hashes = rdfm.hash(INVALID + DELIMITER + LOG, "nq", on_error="skip")
    assert [each.message_index for each in hashes] == [1, 2, 3, 4]
    assert hashes.skipped == 1


def test_the_error_about_steps_names_the_message():
    clique = "".join(f"_:b{a} <x:p> _:b{b} .\n" for a in range(9) for b in range(9) if a != b)
    log = LOG + DELIMITER + clique.encode()
    text = r"more than 1000 steps; a larger max_steps allows it \(message 4\)"
    rows = iter(rdfm.hash(log, "nq", max_steps=1000))
    assert len([next(rows) for _ in range(4)]) == 4
    with pytest.raises(LimitError, match=text) as caught:
        next(rows)
    assert caught.value.source == "bytes"


def test_messages_without_a_canonical_form_are_an_error():
    with pytest.raises(EncodeError, match="triple term"):
        hashes_of(b"<x:s> <x:p> <<( _:a <x:p> <x:o> )>> .\n")


@pytest.mark.parametrize(
    ("log", "options", "reason"),
    [
        ([], {}, "there is nothing to hash; name a log"),
        (
            LOG,
            {"format": "nq", "messages": "4"},
            "there is no message 4; the last one is message 3",
        ),
        (LOG, {"format": "nq", "seed": 3}, "seed applies to a random sample"),
        (LOG, {"format": "nq", "max_steps": 0}, "max_steps must be a number >= 1"),
        (LOG, {"format": "nq", "loud": True}, "has no option 'loud'|no option"),
        (b"TX .\nTC .\n", {"format": "rdf-patch"}, "only messages have a canonical form"),
    ],
)
def test_invalid_options_and_logs_are_rejected(log, options, reason):
    with pytest.raises(OptionError, match=reason):
        list(rdfm.hash(log, **options))


def test_hashes_can_be_read_once():
    hashes = rdfm.hash(LOG, "nq")
    assert len(list(hashes)) == 4
    for read_again in (hashes.log_hash, hashes.to_arrow, lambda: list(hashes)):
        with pytest.raises(ValueError, match="already been read; hash the log again"):
            read_again()


def test_hashes_are_a_table():
    pytest.importorskip("pyarrow")
    table = rdfm.hash(LOG, "nq").to_arrow()
    rows = [each._asdict() for each in rdfm.hash(LOG, "nq")]
    assert table.to_pylist() == rows
    assert rdfm.hash(b"", "nq").to_arrow().schema == table.schema


def test_progress_reaches_the_end():
    reports = []
    assert len(list(rdfm.hash(LOG, "nq", progress=reports.append))) == 4
    assert (reports[-1].bytes_in, reports[-1].messages, reports[-1].quads) == (len(LOG), 4, 6)
