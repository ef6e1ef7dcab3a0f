"""Reading logs with errors: skipped messages and lines are counted, and reading ends."""

import io
import tarfile
from itertools import islice

import pytest

import rdfm
from rdfm.errors import OptionError
from rdfm.logs.input.driver import Driver, ReadError, ReadSettings
from rdfm.logs.input.splits import Split

LINE = b"<a:s> <a:p> <a:o> .\n"
LOG = LINE + b"oops\n# @message\n" + LINE + b"bad\n" + LINE


def test_messages_are_skipped_and_counted():
    with rdfm.open_log(LOG + b"# @message\n" + LINE, "nq", on_error="skip") as log:
        assert [(message.message_index, len(message)) for message in log] == [(2, 1)]
        assert (log.skipped, log.skipped_lines, len(log.errors)) == (2, 0, 2)


def test_lines_are_skipped_and_counted():
    with rdfm.open_log(LOG, "nq", on_error="skip-line") as log:
        assert [(message.message_index, len(message)) for message in log] == [(0, 1), (1, 2)]
        assert (log.skipped, log.skipped_lines) == (0, 2)
        assert [error.partition("found ")[2][:6] for error in log.errors] == ["'oops'", "'bad' "]
    with rdfm.open_log(LOG, "nq", on_error="skip-line", messages="1:") as log:
        assert [len(message) for message in log] == [2]


def test_lines_of_archive_members_are_skipped():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name in ("a.nq", "b.nt"):
            member = tarfile.TarInfo(name)
            member.size = len(LOG)
            archive.addfile(member, io.BytesIO(LOG))
    with rdfm.open_log(file.getvalue(), on_error="skip-line") as log:
        assert [len(message) for message in log] == [1, 2, 1, 2]
        assert log.skipped_lines == 4


@pytest.mark.parametrize(
    ("format", "title"), [("trig", "TriG"), ("jelly", "Jelly"), ("rdfp", "RDF Patch")]
)
def test_other_formats_do_not_skip_lines(format, title):
    expected = (
        rf'^on_error="skip-line" is for N-Triples and N-Quads, but bytes is in {title}.*; '
        'on_error="skip" skips complete messages$'
    )
    with pytest.raises(OptionError, match=expected):
        rdfm.open_log(LINE, format, on_error="skip-line")


def test_an_unknown_value_is_rejected():
    with pytest.raises(
        OptionError, match="on_error must be 'fail', 'skip' or 'skip-line', not 'no'"
    ):
        rdfm.open_log(LINE, "nq", on_error="no")


def test_a_message_of_which_parts_were_returned_is_an_error():
    log = rdfm.open_log(
        LINE * 20_000 + b"oops # @message\n", "nq", parts=True, on_error="skip-line"
    )
    with pytest.raises(rdfm.DecodeError, match="earlier parts of this message have been processed"):
        list(log.batches())


def test_reading_ends_if_skipping_fails():
    """In a split, the text after an error may change the dialect, so it cannot be skipped."""
    data = LINE + b'# @message\noops\nVERSION "1.2-messages"\nMESSAGE\n' + LINE
    split = Split(1, None, 1, "nq", "comment")
    settings = ReadSettings("nq", split=split)
    for skip_lines in (False, True):
        settings = ReadSettings("nq", split=split, skip_lines=skip_lines)
        items = list(islice(Driver([data], settings), 20))
        assert len(items) < 20
        failures = [item for item in items if isinstance(item, ReadError)]
        assert not failures[-1].resumable
