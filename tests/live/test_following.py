"""Stored frames: restart frames, wrong restart marks, and errors that follow valid frames."""

import pytest
from jelly_grpc import PROTO, frames_of, message, numbers
from jelly_proto import Reader, delimited, read_frames
from live_logs import write

import rdfm
from rdfm.live import following
from rdfm.live.following import StoredFrames, describe
from rdfm.logs.write import log_end
from rdfm.storage.jelly_wire import delimited as with_length
from rdfm.storage.jelly_wire import is_marked

COUNT = 300


@pytest.fixture
def frames(tmp_path):
    """The frames of a log. About every tenth frame is a restart frame."""
    write(tmp_path / "all.jelly", [message(n) for n in range(COUNT)], restart_bytes=500)
    found, error = read(opened(tmp_path / "all.jelly"))
    assert error is None
    assert joined(found) == (tmp_path / "all.jelly").read_bytes()
    return found


def opened(path, **settings):
    return StoredFrames(path, describe(path).options, **settings)


def joined(frames):
    return b"".join(map(with_length, frames))


def read(source):
    """Returns the frames up to the end, and the error after them."""
    found = []
    try:
        while frames := source.read():
            found += frames
    except rdfm.DecodeError as error:
        return found, error
    finally:
        source.close()
    return found, None


def numbers_of(frames):
    """Returns the message numbers, as read by a reader that has seen no other frames."""
    reader = Reader()
    parsed = [PROTO.RdfStreamFrame.FromString(frame) for frame in frames]
    return numbers([reader.frame(frame) for frame in read_frames(delimited(parsed))])


def at_end(path, before, after):
    """Opens a log at its end, then appends more frames. Returns the stored frames."""
    path.write_bytes(joined(before))
    source = opened(path, from_end=True)
    assert source.number == len(before)
    with path.open("ab") as log:
        log.write(joined(after))
    return source


@pytest.mark.parametrize("piece", [50, 1 << 18])
@pytest.mark.parametrize("start", [1, 2, 25, 150, COUNT - 1])
def test_reading_begins_at_the_next_restart_frame(tmp_path, frames, start, piece, monkeypatch):
    monkeypatch.setattr(following, "PIECE_BYTES", piece)
    monkeypatch.setattr(log_end, "PIECE_BYTES", piece)
    source = at_end(tmp_path / "a.jelly", frames[:start], frames[start:])
    restarts = [number for number in range(start, COUNT) if is_marked(frames[number])]
    if not restarts:
        assert not source.find_restart(COUNT)
        assert source.number == COUNT
        assert read(source) == ([], None)
        return
    assert not source.find_restart(restarts[0])
    assert source.number == restarts[0]
    assert source.find_restart(COUNT)
    assert source.number == restarts[0]
    found, error = read(source)
    assert (found, error) == (frames[restarts[0] :], None)
    assert numbers_of(found) == list(range(restarts[0], COUNT))


def marked(frame):
    """Returns a frame with a restart mark of the right length, as another program may write it."""
    frame.metadata.clear()
    rows = frame.SerializeToString()
    entry = PROTO.RdfStreamFrame()
    length = (len(rows) + 42).to_bytes(8, "little")
    entry.metadata["rdfm.restart"] = b"\xff\xferdfm restart\x00\x01" + length
    found = entry.SerializeToString() + rows
    assert is_marked(found)
    return found


def second_restart(frames):
    """Returns the index of the second restart frame, and the frame."""
    at = next(number for number in range(1, COUNT) if is_marked(frames[number]))
    return at, PROTO.RdfStreamFrame.FromString(frames[at])


def test_a_frame_with_a_wrong_mark_is_not_sent(tmp_path, frames):
    """The table entry omits its id, so a reader that begins here would assume a different id."""
    at, frame = second_restart(frames)
    next(row for row in frame.rows if row.WhichOneof("row") == "name").name.id = 0
    source = at_end(tmp_path / "a.jelly", frames[:at], [marked(frame), *frames[at + 1 :]])
    assert source.find_restart(COUNT)
    found, error = read(source)
    assert found == []
    assert "the restart mark at byte" in str(error)


def test_a_wrong_mark_detected_later_is_reported_after_the_preceding_frames(tmp_path, frames):
    at, frame = second_restart(frames)
    undecodable = [frames[at + 1]]
    del frame.rows[1:]  # only the options
    valid = [marked(frame), b"", b""]
    source = at_end(tmp_path / "a.jelly", frames[:at], valid + undecodable)
    assert source.find_restart(COUNT)
    found, error = read(source)
    assert found == valid
    assert "the restart mark at byte" in str(error)


def test_the_options_are_moved_to_the_first_frame(tmp_path):
    frames = [PROTO.RdfStreamFrame(), PROTO.RdfStreamFrame(), *frames_of([message(1), message(2)])]
    (tmp_path / "a.jelly").write_bytes(delimited(frames))
    assert describe(tmp_path / "a.jelly").stored
    found, error = read(opened(tmp_path / "a.jelly"))
    assert error is None
    (first,) = PROTO.RdfStreamFrame.FromString(found[0]).rows
    assert first.SerializeToString() == frames[2].rows[0].SerializeToString()
    assert found[1:] == [frame.SerializeToString(deterministic=True) for frame in frames[1:]]
    assert [quads for quads in map(Reader().frame, read_frames(joined(found))) if quads] == [
        message(1),
        message(2),
    ]


@pytest.mark.parametrize(
    ("invalid", "reason"),
    [
        (with_length(b"\x0a\xff\xff"), "first row is damaged"),
        (b"\xff\xff\xff\xff\x7f", "at most 64 MiB"),
        (b"\xff" * 11, "longer than 10 bytes"),
        (with_length(b"\x0a\x04\x0a\x02\x10\x01"), "the stream options change"),
    ],
)
def test_an_invalid_frame_is_reported_after_the_preceding_frames(tmp_path, frames, invalid, reason):
    with (tmp_path / "all.jelly").open("ab") as log:
        log.write(invalid + joined(frames))
    found, error = read(opened(tmp_path / "all.jelly"))
    assert found == frames
    assert reason in str(error)


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("physical_type", 0, "physical type 0 is not allowed"),
        ("version", 0, "the version is 0 or missing"),
        ("version", 9, "version 9 is newer than 3"),
    ],
)
def test_a_log_with_invalid_options_is_an_error(tmp_path, field, value, reason):
    frames = frames_of([message(1)])
    setattr(frames[0].rows[0].options, field, value)
    (tmp_path / "a.jelly").write_bytes(delimited(frames))
    with pytest.raises(rdfm.DecodeError, match=reason):
        describe(tmp_path / "a.jelly")


def test_a_large_frame_is_read_in_few_pieces(tmp_path, monkeypatch):
    text = ("literal", "x" * (20 << 20), None, None, "http://www.w3.org/2001/XMLSchema#string")
    write(tmp_path / "a.jelly", [message(0), [(*message(1)[0][:2], text, None)], message(2)])
    source = opened(tmp_path / "a.jelly")
    pieces = []
    file_read = source._file.read
    monkeypatch.setattr(source._file, "read", lambda n: pieces.append(n) or file_read(n))
    found, error = read(source)
    assert error is None
    assert joined(found) == (tmp_path / "a.jelly").read_bytes()
    assert len(pieces) < 6
