"""File splits: planning, reading, restart marks and errors."""

import bz2
import gzip
import pickle
from itertools import pairwise

import jelly_proto
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from members import MEMBERS, cut, join, rdfm_member, unsized_frame, zstd

import rdfm
from rdfm import Split, formats, plan_splits
from rdfm.errors import DecodeError, OptionError, TruncatedError, UnsupportedError

QUAD = '<http://ex/s> <http://ex/p> "%d" .\n'
COUNT = 3000
COMMENT_LOG = "".join(QUAD % n + "# @message\n" for n in range(COUNT)).encode()
DIRECTIVE_LOG = COMMENT_LOG.replace(b"# @message", b"MESSAGE")
VERSION_LINE = b'VERSION "1.2-messages"\n'
SPLIT_BYTES = 10_000


def read(source, splits, **options):
    """Returns the messages of all splits: index, position and literal."""
    found = []
    for split in splits:
        with rdfm.open_log(source, split=split, **options) as log:
            found += [(m.message_index, m.byte_offset, [q.object.value for q in m]) for m in log]
    return found


def read_without_splits(source, **options):
    with rdfm.open_log(source, **options) as log:
        return [(m.message_index, m.byte_offset, [q.object.value for q in m]) for m in log]


@pytest.fixture(params=["comment", "directive", "leading"])
def path(request, tmp_path):
    path = tmp_path / "log.nq"
    data = {
        "comment": COMMENT_LOG,
        "directive": VERSION_LINE + DIRECTIVE_LOG,
        "leading": b"# @message\n" + COMMENT_LOG,
    }
    path.write_bytes(data[request.param])
    return path


@pytest.mark.parametrize("url", [False, True])
def test_counted_splits_yield_the_complete_log(path, url):
    source = f"file:{path}" if url else path
    splits = plan_splits(source, split_bytes=SPLIT_BYTES, count=True)
    assert len(splits) == round(path.stat().st_size / SPLIT_BYTES)
    assert (splits[0].start, splits[-1].stop) == (0, None)
    assert all(a.stop == b.start for a, b in pairwise(splits))
    assert read(source, pickle.loads(pickle.dumps(splits))) == read_without_splits(path)


def test_uncounted_splits_number_messages_from_zero_and_keep_positions(path):
    splits = plan_splits(path, split_bytes=SPLIT_BYTES)
    assert {split.first_message_index for split in splits[1:]} == {None}
    found = read(path, splits)
    assert [message[1:] for message in found] == [
        message[1:] for message in read_without_splits(path)
    ]
    assert [message[0] for message in found].count(0) == len(splits)


def test_reading_a_split_reads_only_its_range(tmp_path):
    path = tmp_path / "log.nq"
    path.write_bytes(COMMENT_LOG * 100)
    split = Split(6 << 20, (6 << 20) + 1000, format="nq", dialect="comment")
    with rdfm.open_log(path, split=split) as log:
        assert 0 < sum(1 for _ in log) < 40
        assert log._input.bytes_read <= 1 << 20


@pytest.mark.parametrize(
    ("name", "data", "options"),
    [
        ("log.nq", COMMENT_LOG[: COMMENT_LOG.rindex(b"<http://ex/s", 0, SPLIT_BYTES)], {}),
        ("log.nq.gz", gzip.compress(COMMENT_LOG, 0), {}),
        ("log.nq.zst", unsized_frame(COMMENT_LOG) * 2, {}),
        ("log.nq.zst", zstd.compress(COMMENT_LOG), {}),
        ("log.nq.bz2", bz2.compress(COMMENT_LOG) * 2, {}),
        ("log.nq", COMMENT_LOG, {"dialect": "plain"}),
        ("log.nq", COMMENT_LOG.replace(b"# @message\n", b""), {}),
        ("log.ttl", COMMENT_LOG, {}),
        (
            "log.nq",
            COMMENT_LOG[: COMMENT_LOG.index(b"# @") + 11]
            + b'VERSION "1.2-messages"\n'
            + COMMENT_LOG,
            {},
        ),
        (
            "log.jelly",
            formats.find("jelly").encode(formats.find("nq").decode(COMMENT_LOG), restart_bytes=0),
            {},
        ),
    ],
)
def test_unsuitable_logs_are_not_split(tmp_path, name, data, options):
    path = tmp_path / name
    path.write_bytes(data)
    (split,) = plan_splits(path, split_bytes=SPLIT_BYTES, count=True, **options)
    assert split.whole
    assert split.first_message_index == 0
    assert read(path, [split], **options) == read_without_splits(path, **options)


def test_a_file_object_is_not_read_by_planning(tmp_path):
    path = tmp_path / "log.nq"
    path.write_bytes(COMMENT_LOG)
    with path.open("rb") as file:
        assert [split.whole for split in plan_splits(file, split_bytes=SPLIT_BYTES)] == [True]
        assert file.tell() == 0
        with pytest.raises(OptionError, match="does not support random access"):
            rdfm.open_log(file, split=Split(5, 9, format="nq"))


def test_bytes_are_split():
    splits = plan_splits(COMMENT_LOG, "nq", split_bytes=SPLIT_BYTES, count=True)
    assert len(splits) > 5
    assert read(COMMENT_LOG, splits) == read_without_splits(COMMENT_LOG, format="nq")


def test_urls_are_split_if_their_storage_can_seek():
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://splits/log.nq", "wb") as file:
        file.write(COMMENT_LOG)
    url = "memory://splits/log.nq"
    splits = plan_splits(url, split_bytes=SPLIT_BYTES, count=True, storage_options={})
    assert len(splits) > 5
    assert read(url, splits) == read_without_splits(COMMENT_LOG, format="nq")


def test_a_log_that_changes_its_dialect_has_no_counted_splits(tmp_path):
    path = tmp_path / "log.nq"
    path.write_bytes(COMMENT_LOG * 20 + VERSION_LINE + DIRECTIVE_LOG)
    (split,) = plan_splits(path, split_bytes=SPLIT_BYTES, count=True)
    assert split.whole


@pytest.mark.slow
def test_a_log_that_changes_its_dialect_is_rejected_in_splits(tmp_path):
    path = tmp_path / "log.nq"
    path.write_bytes(COMMENT_LOG * 20 + VERSION_LINE + DIRECTIVE_LOG)
    splits = plan_splits(path, split_bytes=SPLIT_BYTES)
    assert len(splits) > 50
    with pytest.raises(UnsupportedError, match="read it in one piece"):
        read(path, splits)


def test_an_error_in_a_split_has_its_position_in_the_file(tmp_path):
    path = tmp_path / "log.nq"
    path.write_bytes(COMMENT_LOG + b"bad\n")
    for count, index in ((True, COUNT), (False, None)):
        splits = plan_splits(path, split_bytes=SPLIT_BYTES, count=count)
        with pytest.raises(DecodeError) as caught:
            read(path, splits[-1:])
        error = caught.value
        assert (error.byte_offset, error.message_index, error.line) == (
            len(COMMENT_LOG),
            index,
            None,
        )
        assert str(error).startswith(f"{path}: nq: expected a statement")


def test_plan_accepts_the_options_of_the_decoder(path):
    with pytest.raises(OptionError, match="no option 'lenint'"):
        plan_splits(path, split_bytes=SPLIT_BYTES, lenint=True)
    with pytest.raises(OptionError, match="split_bytes"):
        plan_splits(path, split_bytes=0)


def test_splits_are_not_format_options(path):
    for name in ("split", "first_message_index"):
        assert name not in formats.find("nq").spec.reads
    with pytest.raises(OptionError, match="no option 'first_message_index'"):
        rdfm.open_log(path, first_message_index=3)


def test_only_uncompressed_line_formats_have_splits():
    split = Split(5, 9, format="trig")
    with pytest.raises(OptionError, match="trig logs cannot be split"):
        rdfm.open_log(COMMENT_LOG, split=split)
    with pytest.raises(OptionError, match="compressed with gzip"):
        rdfm.open_log(COMMENT_LOG, compression="gzip", split=split)


def test_storage_options_apply_only_to_urls(path):
    with pytest.raises(OptionError, match="storage_options apply to URLs"):
        rdfm.open_log(path, storage_options={"key": "x"})
    pytest.importorskip("fsspec")
    with pytest.raises(OptionError, match="cannot read memory://"):
        rdfm.open_log("memory://x.nq", storage_options={"protocol": "s"})


def test_errors_are_skipped_in_the_split_that_contains_their_message(tmp_path):
    path = tmp_path / "log.nq"
    path.write_bytes(COMMENT_LOG.replace(b'"1234" .', b'"1234').replace(b'"2000" .', b'"2000'))
    found, skipped = [], []
    for split in plan_splits(path, split_bytes=SPLIT_BYTES, count=True):
        with rdfm.open_log(path, split=split) as log:
            while True:
                try:
                    for message in log:
                        found.append(message.message_index)
                    break
                except DecodeError as error:
                    skipped.append((error.message_index, log.skip_message()))
    assert found == [index for index in range(COUNT) if index not in (1234, 2000)]
    assert skipped == [(n, (QUAD % n).replace('" .', "").encode()) for n in (1234, 2000)]


def test_a_split_in_another_dialect_cannot_be_skipped():
    data = VERSION_LINE + DIRECTIVE_LOG
    with rdfm.open_log(data, split=Split(0, SPLIT_BYTES, format="nq", dialect="comment")) as log:
        with pytest.raises(UnsupportedError, match="read it in one piece"):
            list(log)
        with pytest.raises(UnsupportedError, match="read it in one piece"):
            log.skip_message()


def test_a_message_larger_than_splits_is_read_in_parts_by_one_split():
    data = b"".join((QUAD % n).encode() for n in range(20_000)) + b"# @message\n" + COMMENT_LOG
    splits = plan_splits(data, "nq", split_bytes=20_000)
    sizes = []
    parts = 0
    for split in splits:
        with rdfm.open_log(data, split=split, parts=True) as log:
            for batch in log.batches():
                counts = batch.quad_counts()
                if batch.continued:
                    parts += 1
                    sizes[-1] += counts.pop(0)
                sizes += counts
    assert sizes == [20_000] + [1] * COUNT
    assert parts > 0


PLAIN_LOG = "".join(f'_:b{n % 7} <http://ex/p> "{n}" .\r\n' for n in range(COUNT)).encode()


def read_quads(source, splits, **options):
    """Returns the quads of all splits: message index, terms."""
    found = []
    for split in splits:
        with rdfm.open_log(source, split=split, rows="quads", **options) as log:
            for batch in log.batches():
                table = pa.record_batch(batch).to_pylist()
                found += [(row["message_index"], row["subject"], row["object"]) for row in table]
    return found


@pytest.mark.parametrize("options", [{}, {"dialect": "plain"}, {"dialect": "comment"}])
def test_a_plain_log_is_split_at_line_ends_for_quad_rows(tmp_path, options):
    path = tmp_path / "dump.nq"
    path.write_bytes(PLAIN_LOG)
    splits = plan_splits(path, rows="quads", split_bytes=SPLIT_BYTES, count=True, **options)
    assert len(splits) == round(path.stat().st_size / SPLIT_BYTES)
    assert {split.first_message_index for split in splits} == {0}
    expected = [(0, f"_:b{n % 7}", f'"{n}"') for n in range(COUNT)]
    assert read_quads(path, pickle.loads(pickle.dumps(splits)), **options) == expected
    assert [split.whole for split in plan_splits(path, split_bytes=SPLIT_BYTES)] == [True]


def test_a_split_of_lines_rejects_delimiters(tmp_path):
    path = tmp_path / "dump.nq"
    for delimiter in (VERSION_LINE, b"MESSAGE\n", b"# @message\n"):
        path.write_bytes(PLAIN_LOG * 50 + delimiter + PLAIN_LOG)
        splits = plan_splits(path, rows="quads", split_bytes=100 * SPLIT_BYTES)
        assert len(splits) > 1
        with pytest.raises(UnsupportedError, match="read it in one piece") as caught:
            read_quads(path, splits)
        assert caught.value.byte_offset == 50 * len(PLAIN_LOG)
    assert len(read_quads(path, splits, dialect="plain")) == 51 * COUNT


def test_an_empty_log_has_one_split(tmp_path):
    path = tmp_path / "dump.nq"
    path.write_bytes(b"# comment\n" * 5000)
    assert [s.whole for s in plan_splits(path, rows="quads", split_bytes=SPLIT_BYTES)] == [True]


@pytest.fixture
def jelly(tmp_path):
    path = tmp_path / "log.jelly"
    source = tmp_path / "source.nq"
    source.write_bytes(COMMENT_LOG)
    rdfm.convert(source, path, restart_bytes=2000)
    return path


def test_splits_of_jelly_with_restart_marks_yield_the_complete_log(jelly):
    splits = plan_splits(jelly, split_bytes=5000, count=True)
    assert len(splits) == round(jelly.stat().st_size / 5000) > 3
    assert read(jelly, pickle.loads(pickle.dumps(splits))) == read_without_splits(jelly)
    found = read(jelly, plan_splits(jelly, split_bytes=5000))
    assert [message[1:] for message in found] == [
        message[1:] for message in read_without_splits(jelly)
    ]
    with rdfm.open_log(jelly, messages="-1:") as log:
        assert [m.quads[0].object.value for m in log] == [str(COUNT - 1)]


@pytest.mark.parametrize("options", [{"restart_bytes": 0}, {"frames": "flat"}])
def test_jelly_without_marks_is_one_split(jelly, tmp_path, options):
    path = tmp_path / "other.jelly"
    rdfm.convert(jelly, path, **{f"to_{k}" if k == "frames" else k: v for k, v in options.items()})
    assert len(plan_splits(path, split_bytes=5000)) == 1


def test_converting_jelly_adds_marks(jelly, tmp_path):
    rdfm.convert(jelly, tmp_path / "none.jelly", restart_bytes=0)
    rdfm.convert(tmp_path / "none.jelly", tmp_path / "marked.jelly", restart_bytes=2000)
    assert (tmp_path / "marked.jelly").read_bytes() == jelly.read_bytes()


def varint(number):
    data = bytearray()
    while number >= 0x80:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*data, number])


def frames_of(log):
    """Returns the frames of a log, without their lengths."""
    found = []
    while log:
        length, size = 0, 0
        while True:
            byte = log[size]
            length |= (byte & 0x7F) << (7 * size)
            size += 1
            if byte < 0x80:
                break
        found.append(log[size : size + length])
        log = log[size + length :]
    return found


def delimited(frame):
    return varint(len(frame)) + frame


MARK = b"\x7a\x28\x0a\x0crdfm.restart\x12\x18\xff\xferdfm restart\x00\x01"


def with_wrong_mark(log):
    """Adds a mark to a frame that depends on earlier frames.

    Returns the log and the offset of the mark.
    """
    frames = frames_of(log)
    number = next(n for n in range(len(frames) - 5, 0, -1) if not frames[n].startswith(MARK))
    length = len(MARK) + 8 + len(frames[number])
    frames[number] = MARK + length.to_bytes(8, "little") + frames[number]
    data = [delimited(frame) for frame in frames]
    return b"".join(data), sum(map(len, data[:number]))


@pytest.fixture
def wrong_mark(jelly):
    """A log with a wrong mark, and the offset of the mark."""
    data, offset = with_wrong_mark(jelly.read_bytes())
    jelly.write_bytes(data)
    return jelly, offset


def test_an_error_at_a_wrong_mark_names_the_mark_and_the_remedy(wrong_mark):
    path, offset = wrong_mark
    size = path.stat().st_size
    (split,) = [s for s in plan_splits(path, split_bytes=1) if s.start == offset]
    assert size > split.start
    with rdfm.open_log(path, split=split) as log, pytest.raises(rdfm.UnsupportedError) as caught:
        list(log)
    text = str(caught.value)
    assert f"the restart mark at byte {offset} is wrong: its frame begins with a " in text
    assert "row, expected the stream options" in text
    assert text.partition("; ")[2].startswith("marks=False reads the log from its start")


def test_without_marks_a_log_is_read_from_its_start(wrong_mark, monkeypatch):
    path, offset = wrong_mark
    monkeypatch.setattr("rdfm.logs.read.seek.BACKWARD_BYTES", 1)
    monkeypatch.setattr("rdfm.logs.read.seek.FORWARD_BYTES", offset)
    last = f"{COUNT - 1}:"
    with rdfm.open_log(path, messages=last) as log, pytest.raises(rdfm.UnsupportedError):
        list(log)
    with rdfm.open_log(path, messages=last, marks=False) as log:
        assert [m.quads[0].object.value for m in log] == [str(COUNT - 1)]
    assert len(plan_splits(path, split_bytes=5000, marks=False)) == 1
    assert read(path, plan_splits(path, split_bytes=5000, marks=False)) == read_without_splits(path)


def test_validate_warns_about_wrong_marks(wrong_mark):
    path, offset = wrong_mark
    checked = rdfm.validate(path)
    (found,) = [finding for finding in checked if finding.rule == "wrong-mark"]
    assert (found.byte_offset, found.severity) == (offset, "warning")
    rdfm.convert(path, path.with_name("new.jelly"))
    assert "wrong-mark" not in rdfm.validate(path.with_name("new.jelly")).run().rules


class PlainWriter(jelly_proto.Writer):
    """Writes lookup entries without ids, as other libraries do."""

    def entry(self, table, value):
        first_row = len(self.rows)
        number = super().entry(table, value)
        for row in self.rows[first_row:]:
            getattr(row, table).id = 0
        return number


def test_a_new_stream_in_a_split_begins_with_empty_tables(jelly):
    writer = PlainWriter(physical=2)
    term = ("iri", "http://other/s")
    writer.message([(term, term, ("literal", "x", "", "", jelly_proto.XSD_STRING), None)])
    size = jelly.stat().st_size
    with jelly.open("ab") as file:
        file.write(jelly_proto.delimited(writer.frames))
    splits = plan_splits(jelly, split_bytes=5000, count=True, joins="new")
    assert len(splits) > 3
    assert splits[-1].start < size
    found = read(jelly, splits, joins="new")
    assert found == read_without_splits(jelly, joins="new")
    assert [values for _, _, values in found][-2:] == [[str(COUNT - 1)], ["x"]]


COMPRESSED_KINDS = [
    ("gzip", ["rdfm"]),
    ("gzip", ["bgzf"]),
    ("gzip", ["rdfm", "bgzf", "rdfm", "rdfm", "unsized"]),
    ("zstd", ["rdfm"]),
    ("zstd", ["checksum", "skippable"]),
    ("zstd", ["rdfm", "rdfm", "rdfm", "unsized"]),
]
JELLY_LOG = formats.find("jelly").encode(formats.find("nq").decode(COMMENT_LOG), restart_bytes=900)
LOGS = {"nq": COMMENT_LOG, "leading.nq": b"# @message\n" + COMMENT_LOG, "jelly": JELLY_LOG}


@pytest.mark.parametrize("suffix", LOGS)
@pytest.mark.parametrize(("compression", "kinds"), COMPRESSED_KINDS)
def test_compressed_logs_are_split_at_members(tmp_path, suffix, compression, kinds):
    path = tmp_path / f"log.{suffix}.{'gz' if compression == 'gzip' else 'zst'}"
    log = LOGS[suffix]
    path.write_bytes(join(compression, kinds, cut(log, 2000)))
    expected = read_without_splits(path)
    assert len(expected) == COUNT
    splits = plan_splits(path, split_bytes=1, count=True)
    is_mixed = "unsized" in kinds
    assert len(splits) == len(kinds) if is_mixed else len(splits) >= len(log) // 2000
    assert read(path, pickle.loads(pickle.dumps(splits))) == expected
    assert all(split.first_member and split.compression == compression for split in splits)
    found = read(path, plan_splits(path, split_bytes=path.stat().st_size // 3))
    assert [message[1:] for message in found] == [message[1:] for message in expected]
    with pytest.raises(OptionError, match="cannot be split"):
        rdfm.open_log(path, split=splits[-1], compression="bzip2")


@given(
    counts=st.lists(st.integers(0, 3), max_size=20),
    compression=st.sampled_from(list(MEMBERS)),
    member=st.integers(1, 60),
    data=st.data(),
)
def test_compressed_logs_are_split_anywhere(counts, compression, member, data):
    log = "# @message\n".join(QUAD % count * count for count in counts).encode()
    kinds = data.draw(st.lists(st.sampled_from(list(MEMBERS[compression])), min_size=1))
    packed = join(compression, kinds, cut(log, member))
    expected = read_without_splits(packed, format="nq") if packed else []
    for split_bytes in (1, data.draw(st.integers(1, max(len(packed), 1)))):
        splits = plan_splits(packed, "nq", split_bytes=split_bytes, count=True)
        assert read(packed, splits, format="nq") == expected


def test_members_of_bytes_and_of_plain_logs_are_found():
    packed = rdfm_member("zstd")(COMMENT_LOG[:5000]) + rdfm_member("zstd")(COMMENT_LOG[5000:])
    splits = plan_splits(packed, "nq", split_bytes=100)
    assert [split.start for split in splits] == [0, 5001]
    plain = b"".join(QUAD.encode() % number for number in range(COUNT))
    packed = join("gzip", ["rdfm"], cut(plain, 3001))
    splits = plan_splits(packed, "nq", rows="quads", split_bytes=100)
    assert len(splits) > 20
    rows = [
        row["quads"] if "quads" in row else row["object"]
        for split in splits
        for row in pa.table(rdfm.open_log(packed, "nq", split=split, rows="quads")).to_pylist()
    ]
    assert rows == [f'"{number}"' for number in range(COUNT)]


@pytest.mark.parametrize("compression", MEMBERS)
def test_an_appended_log_is_split(tmp_path, compression, monkeypatch):
    monkeypatch.setattr("rdfm.storage.compression.BLOCK_BYTES", 10_000)
    path = tmp_path / f"log.nq.{'gz' if compression == 'gzip' else 'zst'}"
    for _ in range(3):
        rdfm.convert(COMMENT_LOG, path, from_format="nq", append=True)
    assert len(plan_splits(path, split_bytes=1)) > 3 * len(COMMENT_LOG) // 10_000
    assert read(path, plan_splits(path, split_bytes=1, count=True)) == read_without_splits(path)


@pytest.mark.parametrize("compression", MEMBERS)
def test_damage_in_a_split_is_an_error(tmp_path, compression):
    path = tmp_path / f"log.nq.{'gz' if compression == 'gzip' else 'zst'}"
    packed = join(compression, ["rdfm"], cut(COMMENT_LOG, 20_000))
    path.write_bytes(packed)
    splits = plan_splits(path, split_bytes=1)
    for split in splits:
        start = split.first_member.file_offset
        damaged = packed[: start + 40] + b"\xff" * 30 + packed[start + 70 :]
        path.write_bytes(damaged)
        with pytest.raises(DecodeError):
            read(path, [split])
    path.write_bytes(packed[:-9])
    with pytest.raises(TruncatedError):
        read(path, splits)
