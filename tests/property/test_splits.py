"""Splits at any offsets yield the messages of the complete log; counting agrees with decoding."""

from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st
from logs import logs
from support import encode

from rdfm import formats
from rdfm._core import DelimiterCounter
from rdfm.errors import DecodeError
from rdfm.formats import Opening

LINE_BREAKS = ("\n", "\r\n", "\r")
EXTRA_LINES = {
    "comment": ("", "# c", " \t", "#@message x", " # @message", "VERSION \"1.1\"", "MESSAGE", "bad",
                "<a:> <b:> <relative> . # @message", "bad # @message", "# see @message", "# \ufffe"),
    "directive": ("", "# c", " \t", "# @message", " MESSAGE # x", "MESSAGE x", "VERSION \"1.1\"", "bad",
                  "VERSION \"1.2-messages\"", "VERSION bad", "MESSAGES", "# MESSAGE"),
}  # fmt: skip
DELIMITER = {"comment": "# @message", "directive": "MESSAGE"}


@st.composite
def texts(draw):
    """Draws the dialect and text of a log with extra lines and mixed line breaks."""
    dialect = draw(st.sampled_from(sorted(DELIMITER)))
    extra_lines = st.lists(st.sampled_from(EXTRA_LINES[dialect]), max_size=2)
    lines = ['VERSION "1.2-messages"'] if dialect == "directive" else []
    for message in draw(logs()):
        for quad in message:
            lines += [*draw(extra_lines), encode("nq", [[quad]]).decode().strip()]
        if dialect == "comment" and message and draw(st.booleans()):
            lines[-1] += DELIMITER[dialect]  # on the line of the quad
        else:
            lines.append(DELIMITER[dialect])
    lines += draw(extra_lines)
    line_breaks = draw(
        st.lists(st.sampled_from(LINE_BREAKS), min_size=len(lines), max_size=len(lines))
    )
    text = "".join(map("".join, zip(lines, line_breaks, strict=True)))
    if draw(st.booleans()):
        text = text.rstrip("\r\n")
    return dialect, text.encode()


def read(data, piece_size, **opening):
    """Returns messages and errors in order.

    A message is (index, position, quads), an error (index, position, reason, skipped bytes).
    """
    decoder, found, pending = formats.nq.decoder({}, Opening(**opening)), [], None
    pieces = iter([data[at : at + piece_size] for at in range(0, len(data), piece_size)])
    finished = False
    while True:
        if pending is not None:
            skipped = decoder.skip_message()
            if skipped is not None:
                found.append((pending.message_index, pending.byte_offset, pending.reason, skipped))
                pending = None
                continue
        else:
            try:
                batch = decoder.next_batch()
            except DecodeError as error:
                pending = error
                continue
            if batch is not None:
                found += [
                    (m.message_index, m.byte_offset, [str(quad) for quad in m]) for m in batch
                ]
                continue
            if finished or decoder.done:
                return found
        data = next(pieces, None)
        if data is None:
            decoder.finish()
            finished = True
        else:
            decoder.feed(data)


def count(data, piece_size, split):
    counter = DelimiterCounter("nq", split=split)
    for at in range(0, len(data), piece_size):
        counter.feed(data[at : at + piece_size])
        if counter.done:
            break
    else:
        counter.finish()
    assert not counter.indivisible
    return counter


@settings(max_examples=120, deadline=None)
@given(texts(), st.lists(st.integers(1, 400), max_size=6), st.sampled_from([1, 2, 3, 7, 4096]))
@example(("comment", b"<a:> <b:> <c:> .\r\n# @message\r\n\r\n# @message"), list(range(1, 48)), 1)
@example(("directive", b'VERSION "1.2-messages"\nMESSAGE\n# c\nMESSAGE\n'), list(range(1, 44)), 2)
def test_splits_yield_the_messages_of_the_complete_log(log, boundaries, piece_size):
    dialect, data = log
    edges = [0, *sorted(set(boundaries)), None]
    splits = [
        ((start, stop, dialect), data[max(start - 1, 0) :]) for start, stop in pairwise(edges)
    ]
    counters = [count(part, piece_size, split) for split, part in splits]
    delimiters, leading, found = 0, 0, []
    for counter in counters:
        leading |= delimiters == 0 and counter.content_first
        delimiters += counter.delimiters
    delimiters = 0
    for (split, part), counter in zip(splits, counters, strict=True):
        first = delimiters + leading if split[0] else 0
        found += read(part, piece_size, split=split, first_message_index=first)
        delimiters += counter.delimiters
    assert found == read(data, 1 << 20)
