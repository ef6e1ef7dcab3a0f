"""The output and summary of `convert` do not depend on the slowest stage or the piece sizes."""

import dataclasses
import gzip
import importlib
import io
import random
import tarfile

import pytest

import rdfm
from rdfm import convert
from rdfm.formats import jelly, nquads
from rdfm.logs.channel import Channel

stages = importlib.import_module("rdfm.conversion.pipeline")
LINE = b"<http://e/s> <http://e/p> <http://e/o> .\n"
DELIMITER = b"# @message\n"
MANY_MESSAGES = (LINE + DELIMITER) * 9000  # more messages than fit in a batch
INVALID_MESSAGE = b"oops\n" + DELIMITER


class SlowConsumer(Channel):
    """A channel whose consumer starts only after its producer has ended."""

    def put(self, item, cost, mark=None, meanwhile=lambda: None):
        super().put(item, 0, mark, meanwhile)

    def __iter__(self):
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._cancelled, timeout=60)
        yield from super().__iter__()


class SlowProducer(Channel):
    """A channel whose producer continues only after its consumer has processed all items."""

    def put(self, item, cost, mark=None, meanwhile=lambda: None):
        super().put(item, cost, mark, meanwhile)
        self.wait_until_drained()


def archive(*logs):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for number, log in enumerate(logs):
            entry = tarfile.TarInfo(f"{number}.nq")
            entry.size = len(log)
            tar.addfile(entry, io.BytesIO(log))
    return file.getvalue()


LATE_VERSION = MANY_MESSAGES + b'VERSION "1.2-messages"\n' + LINE + b"MESSAGE\n" + LINE
TURTLE = b"PREFIX a: <http://a/>\n" + (b"a:s a:p a:o .\n# @message\n" * 9000)
JELLY = jelly.encode(nquads.decode(MANY_MESSAGES), stream_name="x")
TRUNCATED = gzip.compress(MANY_MESSAGES, 1)[:-8]
CASES = {
    "a late version label": ([LATE_VERSION], {}),
    "a late version label, skolemized": ([LATE_VERSION], {"skolemize": "http://e"}),
    "a late version label in an archive": ([archive(LATE_VERSION, LINE)], {}),
    "another dialect in the second input": (
        [LINE, b'VERSION "1.2-messages"\n' + LINE],
        {"group_by": "count=2"},
    ),
    "an error after take": (
        [MANY_MESSAGES + INVALID_MESSAGE + LINE],
        {"on_error": "skip", "take": 9000},
    ),
    "an abandoned input after take": ([TRUNCATED, MANY_MESSAGES], {"on_error": "skip", "take": 10}),
    "an abandoned input": ([JELLY[:-9], JELLY], {"on_error": "skip", "from_format": None}),
    "namespaces after take": (
        [TURTLE + b"PREFIX b: <http://b/>\n"],
        {"from_format": "ttl", "to": "ttl", "take": 9},
    ),
    "Jelly stream options": ([JELLY, MANY_MESSAGES], {"to": "jelly", "from_format": None}),
    "notes after take": (
        [MANY_MESSAGES + (LINE + b"# @Message\n" + DELIMITER) * 9000],
        {"take": 10},
    ),
    "empty and invalid members of an archive": (
        [archive(*[LINE, b"", INVALID_MESSAGE + LINE, LINE + DELIMITER + INVALID_MESSAGE] * 50)],
        {"on_error": "skip", "take": 90},
    ),
}


def outcome(inputs, **options):
    out = io.BytesIO()
    options = {"from_format": "nq", "to": "nq"} | options
    summary = convert(inputs, out, **options)
    return out.getvalue(), dataclasses.replace(summary, seconds=0)


@pytest.mark.parametrize("case", CASES)
def test_output_does_not_depend_on_which_stage_is_slow(case, monkeypatch):
    inputs, options = CASES[case]
    outcomes = []
    for channel in (Channel, SlowConsumer, SlowProducer):
        monkeypatch.setattr(stages, "Channel", channel)
        outcomes.append(outcome(inputs, **options))
    assert outcomes[0] == outcomes[1] == outcomes[2]


class Trickle(io.BytesIO):
    """A pipe that returns little data per read."""

    def read1(self, size=-1):
        return super().read1(1000)


@pytest.mark.parametrize("format", ["nq", "ttl"])
def test_the_dialect_of_the_first_message_is_written(format):
    """The place where the other dialect starts does not matter, nor the size of the pieces."""
    for messages in (1, 20, 9000):
        log = (
            (LINE + DELIMITER) * messages + b'VERSION "1.2-messages"\n' + LINE + b"MESSAGE\n" + LINE
        )
        expected = DELIMITER.join([LINE] * (messages + 2))
        for data in (log, Trickle(log)):
            assert outcome([data], from_format=format)[0] == expected
        with rdfm.open_log(log, format) as reader:
            assert reader.header["dialect"] == "comment"
    announced = LINE + b'VERSION "1.2-messages"\nMESSAGE\n' + LINE
    assert outcome([announced], from_format=format)[0].startswith(b'VERSION "1.2-messages"\n')


def test_errors_after_take_are_not_counted():
    invalid = LINE + DELIMITER + INVALID_MESSAGE
    skip = {"on_error": "skip"}
    for group_by in ("message", "count=1", "bytes=1"):
        summaries = [
            outcome([invalid * 20], **skip, take=n, group_by=group_by)[1] for n in range(4)
        ]
        assert [summary.messages for summary in summaries] == [0, 1, 2, 3]
        assert [summary.skipped for summary in summaries] == [0, 0, 1, 2]
        assert [len(summary.errors) for summary in summaries] == [0, 0, 1, 2]
    # All errors are counted except the one after the last quad.
    assert outcome([invalid * 20], **skip, take=1, group_by="all")[1].skipped == 19
    summary = outcome([INVALID_MESSAGE + b"<http://e/s> <http://e/p"], **skip, take=0)[1]
    assert (summary.skipped, summary.abandoned) == (0, ())
    assert outcome([INVALID_MESSAGE + DELIMITER + DELIMITER + LINE], **skip, take=1)[1].skipped == 1
    # The end of the first message is known only after the error, which is still not counted.
    summary = outcome(
        [LINE + DELIMITER + INVALID_MESSAGE + LINE.replace(b"/s>", b"/t>")],
        **skip,
        take=1,
        group_by="subject",
    )[1]
    assert (summary.messages, summary.skipped) == (1, 0)


def test_progress_reports_written_messages(monkeypatch):
    """Data that has only been read or encoded does not count, and reports do not change later."""
    monkeypatch.setattr(stages, "Channel", SlowConsumer)
    monkeypatch.setattr("rdfm.logs.input.progress.PROGRESS_SECONDS", 0)

    class CountingFile(io.BytesIO):
        def write(self, data):
            self.quads = getattr(self, "quads", 0) + bytes(data).count(b" .\n")
            return super().write(data)

    out, reports = CountingFile(), []

    def progress(report):
        reports.append((report, report.quads, report.bytes_in))
        assert report.quads <= getattr(out, "quads", 0)

    convert(MANY_MESSAGES * 10, out, from_format="nq", to="nq", progress=progress)
    assert all(report.quads == quads for report, quads, _ in reports)
    assert [bytes_in for *_, bytes_in in reports] == sorted(bytes_in for *_, bytes_in in reports)
    assert reports[0][1:] == (0, 0)
    last, total = reports[-1][0], len(MANY_MESSAGES) * 10
    assert (last.messages, last.bytes_in, last.bytes_total) == (90_000, total, total)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["log.nq.gz", "log.nq.bz2", "log.nq.xz", "log.parquet", "log.arrow"]
)
def test_progress_of_small_files_reports_written_messages(tmp_path, name, monkeypatch):
    """A file read at once, or by the decoder itself, is not immediately reported as complete."""
    monkeypatch.setattr("rdfm.logs.input.progress.PROGRESS_SECONDS", 0)
    numbers = random.Random(1)
    count = 60_000 if "nq" in name else 200_000
    lines = (b'<http://e/s> <http://e/p> "%x" .\n' % numbers.getrandbits(64) for _ in range(count))
    path = tmp_path / name
    convert(DELIMITER.join(lines), path, from_format="nq")
    total = path.stat().st_size
    assert total < 1 << 20 or "nq" not in name
    conversion_reports = []
    convert(path, tmp_path / "out.nq", progress=conversion_reports.append)
    inspection_reports = []
    rdfm.inspect(path, progress=inspection_reports.append)
    for reports in (conversion_reports, inspection_reports):
        assert len(reports) > 4
        for report in reports:
            assert abs(report.bytes_in / total - report.messages / count) < 0.25
        assert (reports[-1].bytes_in, reports[-1].messages) == (total, count)
