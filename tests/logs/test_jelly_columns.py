"""Jelly 1.2: messages that share frames are appended, joined, counted and read in splits."""

import pytest

import rdfm

S, P = rdfm.Iri("http://e/s"), rdfm.Iri("http://e/p")


def message(number, quads=1):
    return [rdfm.Quad(S, P, rdfm.Literal(f"{number} {n}")) for n in range(quads)]


def write(path, *messages, **options):
    options = {"jelly_version": "1.2", **options}
    with rdfm.create_log(path, **options) as log:
        for each in messages:
            log.write(each)


def sizes(path, **options):
    with rdfm.open_log(path, **options) as log:
        return [len(each) for each in log]


@pytest.mark.parametrize("options", [{}, {"frame_rows": 2}, {"restart_bytes": 1}])
def test_messages_are_appended_in_the_same_version(tmp_path, options):
    path = tmp_path / "log.jelly"
    write(path, message(0), [], message(1, 5), **options)
    for number in range(2, 5):
        with rdfm.create_log(path, append=True) as log:
            log.write(message(number))
            log.write([])
    assert sizes(path) == [1, 0, 5, 1, 0, 1, 0, 1, 0]
    with rdfm.open_log(path) as log:
        assert log.header["options"]["jelly_version"] == 3
        assert "frames" not in log.header


def test_appended_options_must_be_those_of_the_log(tmp_path):
    path = tmp_path / "log.jelly"
    write(path, message(0))
    before = path.read_bytes()
    for options, reason in (
        ({"jelly_version": "1.1"}, "jelly_version=3, but these options need"),
        ({"name_table": 200}, "has name_table=4000"),
        ({"frames": "flat"}, 'need stream_type="flat"'),
    ):
        with pytest.raises(rdfm.OptionError, match=reason):
            rdfm.create_log(path, append=True, **options).close()
    assert path.read_bytes() == before


def test_flat_logs_stay_as_they_are(tmp_path):
    path = tmp_path / "log.jelly"
    write(path, message(0), flat=True)
    with pytest.raises(rdfm.OptionError, match="all its frames are one message"):
        rdfm.create_log(path, append=True).close()


@pytest.mark.parametrize("rows", [1, 3, 8192])
def test_messages_of_a_log_are_counted(tmp_path, rows):
    path = tmp_path / "log.jelly"
    write(path, *(message(n, n % 4) for n in range(30)), frame_rows=rows, restart_bytes=100)
    joined = tmp_path / "joined.jelly"
    joined.write_bytes(path.read_bytes() * 2)
    assert sizes(joined) == [n % 4 for n in range(30)] * 2
    splits = rdfm.plan_splits(joined, split_bytes=200, count=True)
    assert len(splits) > 3
    found = []
    for split in splits:
        with rdfm.open_log(joined, split=split) as log:
            for batch in log.batches():
                assert batch.first_message_index == len(found)
                found.extend(len(each) for each in batch)
    assert found == sizes(joined)


def test_a_log_that_ends_inside_a_message_is_repaired_only_between_messages(tmp_path):
    path = tmp_path / "log.jelly"
    write(path, message(0), message(1, 10), frame_rows=4)
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    with pytest.raises(rdfm.TruncatedError, match="the log ends inside a message") as error:
        rdfm.create_log(path, append=True).close()
    assert [remedy.option for remedy in error.value.remedies] == ["repair"]
    with pytest.raises(rdfm.TruncatedError, match="only a part of a message"):
        rdfm.create_log(path, append=True, repair=True).close()
    assert path.read_bytes() == data[:-1]
    write(path, message(0), frame_rows=4)
    end = path.stat().st_size
    with rdfm.create_log(path, append=True) as log:
        log.write(message(1))
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 1)
    with rdfm.create_log(path, append=True, repair=True) as log:
        log.write(message(2))
    assert path.stat().st_size > end
    assert sizes(path) == [1, 1]


def test_an_older_version_is_written_with_a_note(tmp_path):
    path, older, same = (tmp_path / name for name in ("log.jelly", "older.jelly", "same.jelly"))
    write(path, message(0), message(1))
    summary = rdfm.convert(path, older)
    assert any("the input has Jelly 1.2, a draft" in note for note in summary.notes)
    rdfm.convert(path, same, jelly_version="1.2")
    for log, version in ((older, 2), (same, 3)):
        with rdfm.open_log(log) as opened:
            assert opened.header["options"]["jelly_version"] == version
            assert [len(each) for each in opened] == [1, 1]


@pytest.mark.parametrize(
    ("format", "log", "version"),
    [
        ("nq", "<http://e/s> <http://e/p> <http://e/o> .\n", "unspecified"),
        ("ndjsonld", '{"@id": "http://e/s", "http://e/p": "o"}\n', "1.2-basic"),
    ],
)
def test_the_version_of_rdf_is_derived_from_the_format_of_the_input(tmp_path, format, log, version):
    path = tmp_path / "log.jelly"
    rdfm.convert(log.encode(), path, from_format=format, jelly_version="1.2")
    with rdfm.open_log(path) as opened:
        assert opened.header["options"]["rdf_version"] == version


def test_the_columns_of_a_log_are_inspected(tmp_path):
    path = tmp_path / "log.jelly"
    write(path, message(0), message(1))
    report = rdfm.inspect(path)
    assert report.options["stream_type"] == "messages"
    assert set(report.column_bytes) == {"names", "prefixes", "subjects", "predicates", "objects"}
    assert 0 < sum(report.column_bytes.values()) < path.stat().st_size
    assert rdfm.inspect(tmp_path).column_bytes == report.column_bytes


def varint(data, at):
    """Returns the number that begins at an index, and the index after it."""
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def frame_ends(data):
    """Indices after the frames of a log."""
    ends, at = [], 0
    while at < len(data):
        length, at = varint(data, at)
        at += length
        ends.append(at)
    return ends


def test_a_log_that_was_cut_between_frames_is_noticed(tmp_path):
    path, cut = tmp_path / "log.jelly", tmp_path / "cut.jelly"
    write(path, message(0), message(1, 10), message(2), frame_rows=4)
    data = path.read_bytes()
    findings = []
    for end in frame_ends(data):
        cut.write_bytes(data[:end])
        found = list(rdfm.validate(cut))
        findings.append([finding.rule for finding in found])
        notes = rdfm.convert(cut, tmp_path / "copy.nq").notes
        assert any("may have been cut" in note for note in notes) == bool(found)
    assert findings == [["open-end"]] * (len(findings) - 1) + [[]]
    assert len(findings) == 4


def test_a_log_that_begins_with_many_columns_is_detected(tmp_path):
    """The stream options may follow the columns in their frame."""
    path, other = tmp_path / "log.jelly", tmp_path / "other"
    write(path, message(0, 1000), namespaces=False)
    data = path.read_bytes()
    _, at = varint(data, 0)
    fields = {}
    while at < len(data):
        length, start = varint(data, at + 1)
        fields[data[at]] = data[at : start + length]
        at = start + length
    row, columns = fields[0x0A], fields[0x12]
    frame = columns + row
    assert len(frame) > 4096
    prefix = bytes([len(frame) & 0x7F | 0x80, len(frame) >> 7])
    for log in (frame, prefix + frame):
        other.write_bytes(log)
        assert rdfm.inspect(other).format == "jelly"
        assert sizes(other) == [1000]


def test_validation_returns_the_columns_of_a_log(tmp_path):
    path = tmp_path / "log.jelly"
    write(path, message(0), message(1))
    checked = rdfm.validate(path)
    (log,) = checked.columns
    assert (log.source, log.options["stream_type"]) == (str(path), "messages")
    assert log.column_bytes == rdfm.inspect(path).column_bytes
    assert checked.summary()["columns"][0]["column_bytes"] == log.column_bytes
    rdfm.convert(path, tmp_path / "row.jelly", jelly_version="1.1")
    assert "columns" not in rdfm.validate(tmp_path / "row.jelly").summary()


@pytest.mark.parametrize("options", [{}, {"restart_bytes": 1}, {"frame_rows": 100}])
def test_a_rejected_message_removes_nothing_of_the_messages_before_it(tmp_path, options):
    named_graph = [rdfm.Quad(S, P, S, rdfm.Iri("http://e/g"))]
    for count in (0, 1, 2, 3, 5):
        path = tmp_path / f"{count}.jelly"
        settings = {"physical_type": "triples", "frame_rows": 2, **options}
        with rdfm.create_log(path, jelly_version="1.2", **settings) as log:
            log.write(message(0, 3))
        with (
            pytest.raises(rdfm.EncodeError, match="graph"),
            rdfm.create_log(path, append=True, sync=True, **settings) as log,
        ):
            for number in range(count):
                log.write(message(number, 3))
            log.write(named_graph)
        assert sizes(path) == [3] * (count + 1)
