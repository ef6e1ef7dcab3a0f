"""convert: its summary, its options, and failures of each stage."""

import contextlib
import gzip
import io
import re
import sys
import threading
from pathlib import Path

import pytest

import rdfm
from rdfm import (
    DecodeError,
    EncodeError,
    OptionError,
    TruncatedError,
    UnknownFormatError,
    convert,
    formats,
)
from rdfm.logs.channel import Channel, ChannelCancelledError

LINE = b"<http://e/s> <http://e/p> <http://e/o> .\n"
DELIMITER = b"# @message\n"
LOG = LINE + DELIMITER + LINE + LINE


def converted(data, **options):
    out = io.BytesIO()
    options = {"from_format": "nq", "to": "nq"} | options
    return convert(data, out, **options), out.getvalue()


def test_the_summary_counts_messages_quads_and_bytes(tmp_path):
    path = tmp_path / "a.nq.gz"
    path.write_bytes(gzip.compress(LOG))
    summary = convert([path, LOG], tmp_path / "out.nt")
    assert (summary.messages, summary.quads, summary.skipped) == (4, 6, 0)
    assert summary.bytes_in == path.stat().st_size + len(LOG)
    assert summary.bytes_out == (tmp_path / "out.nt").stat().st_size
    assert summary.seconds > 0
    assert summary.dropped == {}


def test_a_message_in_parts_is_counted_once():
    """A log without delimiters is one message, which is converted in parts."""
    summary, out = converted(LINE * 50_000, max_message_bytes=1 << 20)
    assert (summary.messages, summary.quads) == (1, 50_000)
    assert out == LINE * 50_000
    summary, out = converted(LINE * 50_000 + DELIMITER + LINE, skip=1)
    assert (summary.messages, out) == (1, LINE)
    summary, out = converted(LINE * 50_000 + DELIMITER + LINE, take=1)
    assert (summary.messages, summary.quads) == (1, 50_000)


def test_namespaces_after_the_last_message_are_dropped_and_counted():
    prefix = b"PREFIX a: <http://a/>\n"
    summary, out = converted(prefix, from_format="ttl", to="ttl")
    assert (summary.dropped, out) == ({"namespaces": 1}, b"")
    turtle = prefix + b"a:s a:p a:o .\n# @message\nPREFIX b: <http://b/>\n"
    summary, _ = converted(turtle, from_format="ttl", to="ttl")
    assert summary.dropped == {"namespaces": 1}
    summary, _ = converted(turtle, from_format="ttl", to="nq")
    assert summary.dropped == {"namespaces": 2}


def test_formats_without_parts_are_subject_to_the_limit():
    with pytest.raises(rdfm.LimitError, match="max_message_bytes"):
        converted(LINE * 50_000, to="jelly", max_message_bytes=1 << 18)
    summary, _ = converted(LINE * 50_000, to="jelly", frames="flat", max_message_bytes=1 << 20)
    assert (summary.messages, summary.quads) == (1, 50_000)


def test_progress_is_reported():
    reported_quads = []
    converted(LOG, progress=lambda progress: reported_quads.append(progress.quads))
    assert reported_quads[-1] == 3


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: rdfm.convert(LOG, io.BytesIO(), to_format="nq"), "'to_format'; did you mean to?"),
        (lambda: rdfm.convert(LOG, io.BytesIO(), format="nq"), "did you mean from_format or to?"),
        (lambda: rdfm.filter(LOG, io.BytesIO(), to_format="nq"), "did you mean to?"),
        (lambda: rdfm.patch.from_log(LOG, io.BytesIO(), to_format="rdf-patch"), "you mean to?"),
        (lambda: rdfm.create_log(io.BytesIO(), to="nq"), "'to'; did you mean format?"),
        (lambda: rdfm.create_log(io.BytesIO(), to_format="nq"), "did you mean format?"),
        (lambda: rdfm.open_log(LOG, from_format="nq"), "'from_format'; did you mean format?"),
    ],
)
def test_other_names_of_the_format_are_corrected(call, text):
    with pytest.raises(OptionError, match=re.escape(text)):
        call()


def test_unknown_options_and_values_are_rejected():
    with pytest.raises(OptionError, match="there is no option 'lenent'; did you mean lenient"):
        converted(LOG, lenent=True)
    with pytest.raises(OptionError, match="on_error must be one of 'fail', 'skip'"):
        converted(LOG, on_error="ignore")
    with pytest.raises(
        OptionError, match="progress must be a function that takes a Progress, or True, not 1"
    ):
        converted(LOG, progress=1)
    with pytest.raises(OptionError, match="take must be a number >= 0, not -1"):
        converted(LOG, take=-1)
    with pytest.raises(
        OptionError, match=r"logical_type must be one of 'unspecified', .*, not 'x'"
    ):
        converted(LOG, to="jelly", logical_type="x")
    with pytest.raises(OptionError, match="no input is given"):
        converted([])


def test_invalid_options_are_rejected_before_reading(tmp_path):
    class UnreadableFile(io.BytesIO):
        def read1(self, size=-1):
            raise AssertionError

    with pytest.raises(OptionError, match="name table size is 1"):
        convert(UnreadableFile(), tmp_path / "out.jelly", from_format="nq", name_table=1)
    assert list(tmp_path.iterdir()) == []


def test_messages_before_an_error_reach_a_file_object():
    out = io.BytesIO()
    with pytest.raises(DecodeError, match=r"^bytes: nq: "):
        convert(LINE + DELIMITER + b"oops\n", out, from_format="nq", to="nq")
    assert out.getvalue() == LINE


def test_messages_before_a_truncation_reach_a_file_object():
    out = io.BytesIO()
    with pytest.raises(TruncatedError):
        convert(gzip.compress((LINE + DELIMITER) * 9)[:-8], out, from_format="nq", to="nq")
    assert out.getvalue().startswith(LINE + DELIMITER + LINE)


def test_errors_are_skipped_message_by_message():
    invalid = b"".join(LINE + DELIMITER + b"oops\n" + DELIMITER for _ in range(20))
    summary, out = converted(invalid + LINE, on_error="skip")
    assert (summary.messages, summary.skipped, len(summary.errors)) == (21, 20, 10)
    assert out == DELIMITER.join([LINE] * 21)
    assert summary.abandoned == ()


RESUMABLE = [
    format
    for format in formats.all()
    if format.spec.resumable and format.spec.kinds[0] == "messages"
]


def test_text_formats_with_delimiters_are_resumable():
    names = {format.name for format in RESUMABLE}
    assert names == {"nt", "nq", "ttl", "trig", "ndjsonld", "yamlld"}


@pytest.mark.parametrize("target", ["nq", "jelly", "trig"])
@pytest.mark.parametrize("source", RESUMABLE, ids=lambda format: format.name)
def test_resumable_formats_skip_only_invalid_messages(source, target):
    quads = [
        rdfm.Quad(rdfm.Iri(f"http://e/{n}"), rdfm.Iri("http://e/p"), rdfm.BlankNode("b"))
        for n in range(6)
    ]
    log = source.encode(rdfm.MessageBatch.from_messages([[quad] for quad in quads]))
    for number in (2, 4):  # makes the first IRI of these messages invalid
        log = log.replace(f"http://e/{number}".encode(), b'http://e/<"\xff', 1)
    for data in (log, io.BytesIO(log)):
        summary, out = converted(data, from_format=source.name, to=target, on_error="skip")
        assert (summary.messages, summary.skipped, summary.abandoned) == (4, 2, ())
        assert "message 2)" in summary.errors[0]
        assert "message 4)" in summary.errors[1]
        found = [quad.subject for message in rdfm.open_log(out, target) for quad in message]
        assert found == [quads[n].subject for n in (0, 1, 3, 5)]


def test_a_truncated_input_is_abandoned_and_the_next_input_is_read():
    truncated = gzip.compress(LOG * 100)[:-8]
    summary, _ = converted([truncated, LINE], on_error="skip")
    assert (summary.skipped, summary.abandoned) == (1, ("bytes",))
    assert summary.messages >= 2


def test_an_invalid_file_is_skipped_with_message_per_file():
    summary, out = converted([LINE, b"oops\n", b"", LINE], on_error="skip", message_per_file=True)
    assert (summary.messages, summary.skipped) == (3, 1)
    assert out == LINE + DELIMITER + DELIMITER + LINE


def test_an_error_in_the_second_input_ends_the_conversion(tmp_path):
    with pytest.raises(FileNotFoundError):
        convert([LOG, tmp_path / "nope.nq"], tmp_path / "out.nq", from_format="nq")
    with pytest.raises(UnknownFormatError):
        convert([LOG, b"s,p,o"], tmp_path / "out.nq")
    assert list(tmp_path.iterdir()) == []


def test_an_encode_error_names_the_input(tmp_path):
    (tmp_path / "in.nq").write_bytes(LOG + DELIMITER + LINE.replace(b" .", b" <http://e/g> ."))
    with pytest.raises(EncodeError, match=r"in\.nq: nt: .*merge_graphs.*\(message 2\)") as caught:
        convert(tmp_path / "in.nq", tmp_path / "out.nt", keep_partial=True)
    assert caught.value.__notes__ == [
        f"the output before the error is in {tmp_path / 'out.nt.partial'}"
    ]
    assert (tmp_path / "out.nt.partial").read_bytes() == LOG


class FailingFile(io.BytesIO):
    """A file that fails after the given number of bytes."""

    def __init__(self, data, good_bytes):
        super().__init__(data)
        self.good_bytes = good_bytes

    def read1(self, size=-1):
        if self.tell() >= self.good_bytes:
            raise OSError(5, "Input/output error")
        return super().read1(100)

    def write(self, data):
        if self.tell() >= self.good_bytes:
            raise OSError(28, "No space left on device")
        return super().write(data)


def test_a_read_error_ends_the_conversion(tmp_path):
    with pytest.raises(OSError, match="Input/output error"):
        convert(FailingFile(LOG * 1000, 5000), tmp_path / "out.nq", from_format="nq")
    assert list(tmp_path.iterdir()) == []


def test_a_write_error_ends_the_conversion():
    log = io.BytesIO((LINE + DELIMITER) * 1_000_000)
    with pytest.raises(OSError, match="No space left"):
        convert(log, FailingFile(b"", 1), from_format="nq", to="nq")
    assert 0 < log.tell() < len(log.getbuffer()) / 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a Linux device")
def test_a_full_device_is_an_error():
    with pytest.raises(OSError, match="No space left"):
        convert(LOG, "/dev/full", from_format="nq", to="nq")


def test_no_threads_remain_after_a_conversion():
    count = threading.active_count()
    for data in (LOG, b"oops"):
        with contextlib.suppress(DecodeError):
            converted(data)
    assert threading.active_count() == count


def test_piece_sizes_do_not_change_the_output():
    class SmallReads(io.BytesIO):
        def read1(self, size=-1):
            return super().read1(7)

    for target in ("nq", "nt", "jelly"):
        assert converted(SmallReads(LOG), to=target)[1] == converted(LOG, to=target)[1]


def test_channels_can_be_cancelled_and_closed():
    channel = Channel(10)
    channel.put("a", 100)  # a single item is always accepted
    threading.Timer(0.1, channel.cancel).start()
    with pytest.raises(ChannelCancelledError):
        channel.put("b", 1)
    closed = Channel(10)
    closed.put("a", 1)
    closed.close(ValueError("x"))
    items = iter(closed)
    assert next(items) == "a"
    with pytest.raises(ValueError, match="x"):
        next(items)


def test_limit_errors_cannot_be_skipped():
    with pytest.raises(rdfm.LimitError, match="max_message_bytes") as caught:
        converted(LINE * 50_000, on_error="skip", max_message_bytes=1 << 20)
    assert 'on_error="fail"' in str(caught.value)
    assert str(caught.value).count("group_by=") == 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(1, 60))
@pytest.mark.parametrize("target", ["out.nq", "out/"])
def test_ctrl_c_at_any_line_leaves_no_files(tmp_path, number, target):
    """The interrupt arrives at the n-th line that rdfm runs after the conversion has started."""
    lines = 0

    def trace(frame, event, argument):
        nonlocal lines
        path = frame.f_code.co_filename
        if (
            not path.endswith(("convert.py", "log.py", "input.py", "output.py"))
            or frame.f_code.co_name == "__init__"
        ):
            return trace if path.endswith(("log.py", "input.py", "output.py")) else None
        if event == "line":
            lines += 1
            if lines == number * 3:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            convert(LOG, f"{tmp_path}/{target}", from_format="nq", to="nq")
    finally:
        sys.settrace(None)
    assert {path.name for path in tmp_path.iterdir()} <= {target.rstrip("/")}


def test_ctrl_c_while_threads_start_leaves_no_files(tmp_path, monkeypatch):
    for limit in range(3):
        started = []

        def start(thread, begin=threading.Thread.start, started=started, limit=limit):
            begin(thread)
            started.append(thread)
            if len(started) > limit:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", start)
            with pytest.raises(KeyboardInterrupt):
                convert(LOG, tmp_path / "out.nq", from_format="nq")
        assert list(tmp_path.iterdir()) == []


def test_inputs_of_the_wrong_type_are_rejected():
    with pytest.raises(OptionError, match=r"cannot read 5 \(int\); expected a path"):
        converted(5)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"take": "five"}, "take must be a number >= 0, not 'five'"),
        ({"skip": 1.5}, "skip must be a number >= 0, not 1.5"),
        ({"group_by": 5}, "group_by must be a string without lone surrogates, not 5"),
        ({"from_format": 5}, "a format name must be a string such as 'nq', not 5"),
        ({"to": 5}, "a format name must be a string such as 'nq', not 5"),
    ],
)
def test_options_of_the_wrong_type_are_rejected(tmp_path, options, text):
    with pytest.raises((OptionError, rdfm.UnknownFormatError)) as caught:
        rdfm.convert(b"<x:s> <x:p> <x:o> .\n", tmp_path / "o.nq", **{"from_format": "nq"} | options)
    assert text in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_split_size_of_the_wrong_type_is_rejected(tmp_path):
    with pytest.raises(OptionError, match="split_messages must be a number >= 1, not 'x'"):
        rdfm.convert(b"", f"{tmp_path}/d/", from_format="nq", to="nq", split_messages="x")


def test_an_empty_path_is_not_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "keep.nq").write_bytes(b"<x:s> <x:p> <x:o> .\n")
    monkeypatch.chdir(tmp_path)
    for call in (
        lambda: rdfm.convert(b"", "", from_format="nq", to="nq", overwrite=True),
        lambda: rdfm.convert("", "o.nq", to="nq"),
        lambda: rdfm.create_log("", "nq", overwrite=True),
        lambda: rdfm.open_log(""),
        lambda: rdfm.inspect(""),
    ):
        with pytest.raises(OptionError, match="the path is empty"):
            call()
    assert [path.name for path in tmp_path.iterdir()] == ["keep.nq"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("nq", {}),
        ("ttl", {}),
        ("trig", {}),
        ("rdfxml", {}),
        ("rdf-thrift", {}),
        ("rdf-protobuf", {"framing": "rows"}),
        ("jelly", {"frames": "flat", "frame_rows": 20}),
    ],
)
def test_a_limit_below_the_batch_size_applies_to_parts(name, options):
    text = "x" * 3000
    lines = [f'_:b{at % 7} <http://e/p> "{text}{at}" .\n' for at in range(600)]
    log = io.BytesIO()
    convert("".join(lines).encode(), log, from_format="nq", to=name, **options)
    for extra in ({}, {"skolemize": "http://e/"}):
        outputs = []
        for limit in ({}, {"max_message_bytes": 100_000}):
            out = io.BytesIO()
            summary = convert(log.getvalue(), out, from_format=name, to="nq", **limit, **extra)
            assert (summary.messages, summary.quads) == (1, 600)
            outputs.append(out.getvalue())
        assert outputs[0] == outputs[1]


EMPTY_MESSAGE = b"# @message\n# @message\n"


@pytest.mark.parametrize(
    ("name", "options", "remedy"),
    [
        ("nq", {"flat": True}, "message_per_file=True"),
        ("nt", {"dialect": "plain"}, "message_per_file=True"),
        ("trig", {"flat": True}, "message_per_file=True"),
        ("ttl", {"flat": True, "prefixes": {"e": "http://e/"}}, "message_per_file=True"),
        ("rdf-protobuf", {"flat": True}, 'framing="rows"'),
        ("rdf-protobuf", {"framing": "rows"}, 'framing="rows"'),
    ],
)
def test_an_unreadable_empty_message_is_counted_and_noted(name, options, remedy):
    options = {f"to_{key}" if key == "dialect" else key: value for key, value in options.items()}
    out = io.BytesIO()
    summary = convert(EMPTY_MESSAGE, out, from_format="nq", to=name, **options)
    assert summary.dropped == {"empty messages": 1}
    (note,) = summary.notes
    assert remedy in note
    assert convert(out.getvalue(), io.BytesIO(), from_format=name, to="nq").messages == 0
    found = convert(out.getvalue(), io.BytesIO(), from_format=name, to="nq", message_per_file=True)
    assert found.messages == 1


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rdf-thrift", {}),
        ("rdf-protobuf", {}),
        ("rdf-protobuf", {"framing": "rows", "prefixes": {"e": "http://e/"}}),
        ("jelly", {"flat": True}),
        ("ndjsonld", {"flat": True}),
        ("rdfxml", {"flat": True}),
    ],
)
def test_a_readable_empty_message_is_not_counted(name, options):
    out = io.BytesIO()
    summary = convert(EMPTY_MESSAGE, out, from_format="nq", to=name, **options)
    assert summary.dropped == {}
    assert [note for note in summary.notes if "Jena" not in note] == []
    assert convert(out.getvalue(), io.BytesIO(), from_format=name, to="nq").messages == 1


@pytest.mark.parametrize("target", ["folder/", "archive.tar"])
def test_empty_messages_in_several_files_are_counted_and_read_with_the_noted_option(
    tmp_path, target
):
    line = b"<http://e/a> <http://e/p> <http://e/b> .\n"
    log = b"# @message\n# @message\n" + line + b"# @message\n# @message\n" + line
    output = f"{tmp_path}/{target}"
    summary = convert(log, output, from_format="nq", to="rdf-protobuf", framing="rows")
    assert (summary.messages, summary.dropped) == (4, {"empty messages": 2})
    (note,) = summary.notes
    assert 'framing="rows"' in note
    for options, messages in (({}, 2), ({"framing": "rows"}, 4), ({"message_per_file": True}, 4)):
        assert convert(output, io.BytesIO(), to="nq", **options).messages == messages
    thrift = f"{tmp_path}/thrift-{target}"
    summary = convert(log, thrift, from_format="nq", to="rdf-thrift")
    assert (summary.messages, summary.dropped, summary.notes) == (4, {}, ())
    assert convert(thrift, io.BytesIO(), to="nq").messages == 4
