"""Skipping lines is the same as reading the log without these lines."""

import io
import re

from hypothesis import example, given
from hypothesis import strategies as st
from logs import logs
from support import encode

import rdfm
from rdfm import formats
from rdfm.errors import DecodeError
from rdfm.formats import Opening
from rdfm.logs.input.splits import Split

LINES = re.compile(rb"[^\r\n]+(?:\r\n|\r|\n)?|\r\n|\r|\n")
JUNK = (
    b"oops",
    b"<http://e/s>",
    b'<a:s> <a:p> "1 .',
    b"<a:s> <a:p> <a:o> . x",
    b"\xff",
    b"_:b",
    b'"',
)


OPTIONS = {"comment": {}, "directive": {"announced": "1.2-messages"}}


def is_bad(line, dialect):
    """Whether a line alone is an error."""
    decoder = formats.nq.decoder(OPTIONS[dialect])
    decoder.feed(line)
    decoder.finish()
    try:
        while decoder.next_batch() is not None:
            pass
    except DecodeError:
        return True
    return False


def may_delimit(line, dialect):
    start = line.lstrip(b" \t")
    return start.startswith((b"MESSAGE", b"VERSION")) or (
        dialect == "comment" and b"@message" in start
    )


@st.composite
def damaged(draw):
    """Draws a dialect, a log with bad lines, and the same log without them."""
    dialect = draw(st.sampled_from(("comment", "directive")))
    text = encode("nq", draw(logs()), dialect=dialect)
    lines: list[bytes] = []
    for line in LINES.findall(text):
        match draw(st.sampled_from(("keep", "keep", "keep", "junk", "change", "cut"))):
            case "junk":
                lines.append(draw(st.sampled_from(JUNK)) + draw(st.sampled_from((b"\n", b"\r\n"))))
            case "change":
                at = draw(st.integers(0, len(line)))
                line = line[:at] + bytes([draw(st.integers(0, 255))]) + line[at + 1 :]
            case "cut" if len(line) > 1:
                line = line[: draw(st.integers(1, len(line)))] + b"\n"
        lines.append(line)
    lines = LINES.findall(b"".join(lines))
    lines = [line for line in lines if not is_bad(line, dialect) or not may_delimit(line, dialect)]
    if not lines or lines[0].startswith(b"\xef"):
        lines.insert(0, b"\n")
    data = b"".join(lines)
    # Removing lines can join a CR and an LF, so the lines are found again.
    lines = LINES.findall(data)
    return dialect, data, b"".join(line for line in lines if not is_bad(line, dialect))


class Trickle(io.BytesIO):
    """A file that returns a few bytes at a time."""

    size = 7

    def read(self, size=-1):
        return super().read(self.size if size < 0 else min(size, self.size))


class Pieces:
    """The batches of a decoder that is fed with small pieces."""

    def __init__(self, decoder, data, size):
        self.decoder = decoder
        self.pieces = [data[at : at + size] for at in range(0, len(data), size)]

    def batches(self):
        decoder = self.decoder
        for piece in (*self.pieces, None):
            if piece is None:
                decoder.finish()
            else:
                decoder.feed(piece)
            batch = True
            while batch is not None or decoder.take_skipped_lines():
                batch = decoder.next_batch()
                if batch is not None:
                    yield batch


def contents(log):
    """Returns index and quads of the messages, with parts joined."""
    messages = []
    for batch in log.batches():
        parts = [(message.message_index, [str(quad) for quad in message]) for message in batch]
        if batch.continued:
            messages[-1][1].extend(parts.pop(0)[1])
        messages += parts
    return messages


@given(damaged(), st.integers(1, 40))
@example(
    ("comment", b"oops\n# @message\n<a:s> <a:p> <a:o> .", b"# @message\n<a:s> <a:p> <a:o> ."), 3
)
def test_skipping_lines_is_reading_the_log_without_them(drawn, size):
    dialect, data, good = drawn
    with rdfm.open_log(good, "nq", **OPTIONS[dialect]) as log:
        expected = contents(log)
    bad = len(LINES.findall(data)) - len(LINES.findall(good))
    source = Trickle(data)
    source.size = size
    options = {**OPTIONS[dialect], "on_error": "skip-line"}
    for log in (
        rdfm.open_log(data, "nq", **options),
        rdfm.open_log(source, "nq", **options),
    ):
        with log:
            assert contents(log) == expected
            assert (log.skipped, log.skipped_lines) == (0, bad)
    opening = Opening("always", batches={"batch_quads": 2}, skip_lines=True)
    decoder = formats.nq.decoder(OPTIONS[dialect], opening)
    assert contents(Pieces(decoder, data, size)) == expected


@given(damaged(), st.lists(st.integers(0, 400), max_size=4))
def test_splits_together_are_the_log_without_its_bad_lines(drawn, offsets):
    dialect, data, good = drawn
    with rdfm.open_log(good, "nq", **OPTIONS[dialect]) as log:
        expected = [quads for _, quads in contents(log)]
    offsets = sorted({0, *(offset for offset in offsets if 0 < offset < len(data))})
    found = []
    for start, stop in zip(offsets, [*offsets[1:], None], strict=True):
        split = Split(start, stop, 0 if start == 0 else None, "nq", dialect)
        if split.whole:
            split = None
        with rdfm.open_log(
            data, "nq", split=split, **OPTIONS[dialect], on_error="skip-line"
        ) as log:
            found += [quads for _, quads in contents(log)]
    assert found == expected


@given(damaged(), st.lists(st.integers(0, 400), max_size=4))
def test_splits_of_a_plain_log_are_the_log_without_its_bad_lines(drawn, offsets):
    _, data, _ = drawn
    lines = [line for line in LINES.findall(data) if b"MESSAGE" not in line.upper()]
    data = b"".join(lines) or b"\n"
    good = b"".join(line for line in LINES.findall(data) if not is_bad(line, "comment"))
    with rdfm.open_log(good, "nq") as log:
        expected = [quad for _, quads in contents(log) for quad in quads]
    offsets = sorted({0, *(offset for offset in offsets if 0 < offset < len(data))})
    found = []
    for start, stop in zip(offsets, [*offsets[1:], len(data) + 1], strict=True):
        split = Split(start, stop, 0, "nq", "plain")
        with rdfm.open_log(data, "nq", split=split, parts=True, on_error="skip-line") as log:
            found += [str(quad) for batch in log.batches() for message in batch for quad in message]
    assert found == expected


@given(damaged(), st.sampled_from((b"oops # @message", b"MESSAGE x", b"VERSION x")))
def test_a_line_that_may_have_been_a_delimiter_ends_its_message(drawn, line):
    """The message is skipped up to the next delimiter."""
    dialect, data, good = drawn
    if not may_delimit(line, dialect):
        return
    delimiter = b"\n# @message\n" if dialect == "comment" else b"\nMESSAGE\n"
    tail = b"<a:s> <a:p> <a:tail> .\n"
    broken = data + delimiter + b"<a:s> <a:p> <a:lost> .\noops\n" + line + delimiter + tail
    with rdfm.open_log(good + delimiter, "nq", **OPTIONS[dialect]) as log:
        expected = [quads for _, quads in contents(log)]
    with rdfm.open_log(broken, "nq", **OPTIONS[dialect], on_error="skip-line") as log:
        found = [quads for _, quads in contents(log)]
        assert log.skipped == 1
    assert found == [*expected, ["<a:s> <a:p> <a:tail> ."]]


def test_a_decoder_returns_the_bytes_of_skipped_lines():
    decoder = formats.nq.decoder({}, Opening(skip_lines=True))
    decoder.feed(b"<a:s> <a:p> <a:o> .\r\n  caf\xe9 \r\n")
    decoder.finish()
    assert decoder.next_batch().record_count == 1
    [(error, line)] = decoder.take_skipped_lines()
    assert (error.line, line) == (2, b"  caf\xe9 ")
