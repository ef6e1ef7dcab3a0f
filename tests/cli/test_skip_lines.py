"""`--on-error skip-line` keeps the good lines of bad messages; `--rejects` writes the others."""

import gzip
import re
from pathlib import Path

import pytest

GOOD = "<http://e/{}> <http://e/p> <http://e/o> .\n"
LINES = [GOOD.format(number) for number in range(3)]
DUMP = f'{LINES[0]}oops\n{LINES[1]}# @message\n<http://e/s> <http://e/p> "1 .\nbad\n{LINES[2]}'


@pytest.fixture
def dump(tmp_path):
    (tmp_path / "dump.nq").write_text(DUMP)
    return "dump.nq"


def test_the_good_lines_are_kept_and_the_others_counted(rdfm, dump):
    run = rdfm("convert", dump, "out.nq", "--on-error", "skip-line")
    assert run.code == 0
    *skipped, summary = run.err.splitlines()
    assert [line.rpartition("(")[2].partition(",")[0] for line in skipped] == [
        "line 2",
        "line 5",
        "line 6",
    ]
    assert all(line.startswith("rdfm: skipped: dump.nq: nq: ") for line in skipped)
    assert summary.startswith("rdfm: 2 messages, 3 quads: ")
    assert summary.endswith(", 3 lines skipped in 2 messages")
    assert Path("out.nq").read_text() == f"{LINES[0]}{LINES[1]}# @message\n{LINES[2]}"


def test_only_the_first_ten_lines_are_listed(rdfm, tmp_path):
    (tmp_path / "dump.nt").write_text("bad\n" * 12 + LINES[0])
    run = rdfm("convert", "dump.nt", "out.nt", "--on-error", "skip-line")
    assert run.err.count("expected") == 10
    assert "\nrdfm: skipped: and 2 more\n" in run.err
    assert "12 lines skipped in 1 message\n" in run.err


def test_an_incomplete_last_line_is_noted(rdfm, tmp_path):
    (tmp_path / "cut.nq").write_text(LINES[0] + "<http://e/s> <http://e/p> <htt")
    run = rdfm("convert", "cut.nq", "out.nq", "--on-error", "skip-line")
    assert run.code == 0
    assert run.err.endswith(
        "rdfm: note: cut.nq: the last line is incomplete, so the input may be truncated\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        "filter {} --any <http://e/0> --count",
        "filter {} --any <http://e/0> -o out.nq",
        "query CONSTRUCT{{?s?p?o}}WHERE{{?s?p?o}} {} -o out.nq",
        "query SELECT(COUNT(*)AS?n){{?s?p?o}} {} --whole -o out.srj",
        "query ASK{{?s?p?o}} {}",
        "cat {} --to nq",
    ],
)
def test_other_commands_skip_lines(rdfm, dump, arguments):
    run = rdfm(*arguments.format(dump).split(), "--on-error", "skip-line")
    assert run.code == 0, run.err
    assert run.err.count("rdfm: skipped: dump.nq: nq: ") == 3
    if "cat" not in arguments and "--count" not in arguments:
        assert "3 lines skipped in 2 messages\n" in run.err


@pytest.mark.parametrize(
    "command", ["convert {} -o out.nq", "filter {} --any <x:s> --count", "query ASK{{?s?p?o}} {}"]
)
def test_other_formats_are_rejected(rdfm, tmp_path, command):
    (tmp_path / "a.trig").write_text(LINES[0])
    run = rdfm(*command.format("a.trig").split(), "--on-error", "skip-line")
    assert run.code == 2
    assert run.error == (
        "--on-error skip-line is for N-Triples and N-Quads, but a.trig is in TriG; "
        "--on-error skip skips complete messages"
    )


def test_a_message_in_parts_cannot_be_skipped(rdfm, tmp_path):
    many = "".join(GOOD.format(number) for number in range(20_000))
    (tmp_path / "big.nq").write_text(f"{many}oops # @message\n# @message\n{LINES[0]}")
    run = rdfm("convert", "big.nq", "out.nq", "--on-error", "skip-line")
    assert run.code == 1
    assert "earlier parts of this message have been processed" in run.error
    assert not Path("out.nq").exists()
    run = rdfm("convert", "big.nq", "out.nq", "--on-error", "skip")
    assert (run.code, Path("out.nq").read_text()) == (0, LINES[0])


def test_a_message_larger_than_the_limit_is_kept(rdfm, tmp_path):
    many = "".join(GOOD.format(number) for number in range(2000))
    (tmp_path / "big.nq").write_text(f"{many}oops\n{many}")
    limit = ("--max-message-bytes", "50000")
    run = rdfm("convert", "big.nq", "out.nq", "--on-error", "skip", *limit)
    assert run.code == 1
    assert "--on-error skip-line skips only invalid lines" in run.error
    run = rdfm("convert", "big.nq", "out.nq", "--on-error", "skip-line", *limit)
    assert (run.code, Path("out.nq").read_text()) == (0, many * 2)
    (tmp_path / "line.nq").write_text(LINES[0] + "x" * 60_000 + "\n" + LINES[1])
    run = rdfm("convert", "line.nq", "line.out.nq", "--on-error", "skip-line", *limit)
    assert run.code == 1
    assert "the line is longer than 50000 bytes" in run.error


# --- --max-errors ---


def test_max_errors_stops_without_an_output(rdfm, dump):
    arguments = ("--on-error", "skip-line", "--max-errors", "2", "--rejects", "bad.nq")
    run = rdfm("convert", dump, "out.nq", *arguments)
    assert run.code == 1
    assert "; stopped because of --max-errors 2 (line 5, " in run.error
    assert not Path("out.nq").exists()
    rejects = Path("bad.nq").read_text()
    assert [line for line in rejects.splitlines() if not line.startswith("#")] == [
        "oops",
        '<http://e/s> <http://e/p> "1 .',
    ]
    run = rdfm("convert", dump, "out.nq", "--on-error", "skip-line", "--max-errors", "4")
    assert (run.code, Path("out.nq").exists()) == (0, True)


@pytest.mark.parametrize(
    "command", ["filter {} --any <http://e/0> --count", "query ASK{{?s?p?o}} {}"]
)
def test_max_errors_stops_other_commands(rdfm, dump, command):
    arguments = ("--on-error", "skip-line", "--max-errors", "1", "--rejects", "r.nq")
    run = rdfm(*command.format(dump).split(), *arguments)
    assert run.code == 1
    assert "stopped because of --max-errors 1" in run.error
    assert Path("r.nq").read_text().endswith("\noops\n")


def test_max_errors_counts_skipped_messages(rdfm):
    run = rdfm("convert", "bad.nq", "out.nq", "--on-error", "skip", "--max-errors", "1")
    assert (run.code, Path("out.nq").exists()) == (1, False)


@pytest.mark.parametrize("option", ["--max-errors 1", "--rejects r.nq"])
def test_options_of_skipped_data_need_it(rdfm, dump, option):
    run = rdfm("convert", dump, "out.nq", *option.split())
    assert run.code == 2
    assert run.error.endswith("is about skipped data; add an option such as --on-error skip-line")
    assert not Path("r.nq").exists()


# --- --rejects ---


def test_rejects_contain_the_lines_after_their_errors(rdfm, dump):
    rdfm("convert", dump, "out.nq", "--on-error", "skip-line", "--rejects", "rejects.nq")
    comments = [
        line for line in Path("rejects.nq").read_text().splitlines() if line.startswith("#")
    ]
    assert comments[0] == "# @message 0"
    assert comments[1].startswith("# Skipped: dump.nq: nq: ")
    assert comments[1].endswith(" (line 2, column 1, byte 41, message 0)")
    assert comments[2] == "# @message 1"
    assert len(comments) == 5


def test_rejects_are_the_bytes_of_the_lines(rdfm, tmp_path):
    bad = b"  caf\xe9 \x00\x1b[1m"
    (tmp_path / "dump.nq").write_bytes(LINES[0].encode() + bad + b"\r\n" + b"\xff")
    run = rdfm("convert", "dump.nq", "out.nq", "--on-error", "skip-line", "--rejects", "r.nq.gz")
    assert run.code == 0
    lines = gzip.decompress(Path("r.nq.gz").read_bytes()).split(b"\n")
    assert [line for line in lines if not line.startswith(b"#")] == [bad, b"\xff", b""]


def test_rejects_appear_if_nothing_was_skipped(rdfm):
    run = rdfm("convert", "a.nq", "out.nq", "--on-error", "skip-line", "--rejects", "r.nq")
    assert (run.code, Path("r.nq").read_bytes()) == (0, b"")


def test_rejects_do_not_appear_after_an_error(rdfm, dump):
    run = rdfm(
        "convert",
        dump,
        "out.ttl",
        "b.nq",
        "-o",
        "b.ttl",
        "--on-error",
        "skip-line",
        "--rejects",
        "r.nq",
    )
    assert run.code != 0
    assert not list(Path().glob("*r.nq*"))


def test_rejected_messages_are_cut_after_one_mebibyte(rdfm, tmp_path):
    long = "".join(GOOD.format(number) for number in range(40_000))
    messages = (LINES[0], f"{LINES[1]}oops\n", f"oops\n{long}", f"{long}oops\n")
    (tmp_path / "log.nq").write_text("# @message\n".join(messages))
    run = rdfm("convert", "log.nq", "out.nq", "--on-error", "skip", "--rejects", "r.nq")
    assert run.code == 0
    rejects = Path("r.nq").read_text()
    whole, start, end = re.split("# @message [1-9]\n", rejects)[1:]
    assert whole.endswith(f"message 1)\n{LINES[1]}oops\n")
    for part, text in (start, f"oops\n{long}"), (end, "oops\n"):
        comment, _, rest = part.partition("\n")
        assert comment.endswith("; a part of the message is missing here")
        assert rest == text[: 1 << 20] + "\n" * (len(text) > 1 << 20)
    assert Path("out.nq").read_text() == LINES[0]


def test_rejects_are_only_for_formats_of_lines(rdfm, tmp_path):
    (tmp_path / "a.trig").write_text(LINES[0])
    run = rdfm("convert", "a.trig", "out.nq", "--on-error", "skip", "--rejects", "r.nq")
    assert run.code == 2
    assert run.error == "--rejects is for N-Triples and N-Quads, but a.trig is in TriG"
    assert not Path("r.nq").exists()


@pytest.mark.parametrize("name", ["dump.nq", "out.nq"])
def test_rejects_are_a_separate_file(rdfm, dump, name):
    run = rdfm("convert", dump, "out.nq", "--on-error", "skip-line", "--rejects", name)
    assert run.code == 2
    assert f"{name} is also " in run.error
    assert Path(dump).read_text() == DUMP


def test_repaired_rejects_can_be_converted(rdfm, dump):
    rdfm("convert", dump, "out.nq", "--on-error", "skip-line", "--rejects", "r.nq")
    text = (
        Path("r.nq")
        .read_text()
        .replace('"1 .', '"1" .')
        .replace("oops", LINES[0].strip())
        .replace("\nbad", "")
    )
    Path("r.nq").write_text(text)
    run = rdfm("convert", "r.nq", "-", "--to", "nq")
    assert run.out == f'{LINES[0]}# @message\n<http://e/s> <http://e/p> "1" .\n'
