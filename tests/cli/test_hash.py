"""rdfm hash: hashes of messages."""

from hashlib import sha256
from pathlib import Path

import pytest


@pytest.mark.parametrize("number", range(3))
def test_the_hash_is_that_of_the_canonical_output(rdfm, number):
    output = rdfm("convert", "a.nq", "-", "--to", "nq", "--canonical", "-m", number, "--quiet").out
    run = rdfm("hash", "a.nq", "-m", number)
    assert (run.code, run.err) == (0, "")
    assert run.out == f"{sha256(output.encode()).hexdigest()}  a.nq#{number}\n"


def test_lines_name_each_message_in_its_log(rdfm):
    lines = rdfm("hash", "a.nq", "b.nq").out.splitlines()
    assert [line[64:] for line in lines] == [f"  a.nq#{index}" for index in range(3)] + ["  b.nq#0"]
    sample = rdfm("hash", "a.nq", "b.nq", "--sample", "2", "--seed", "4").out.splitlines()
    assert len(sample) == 2
    assert set(sample) < set(lines)


def test_the_hash_of_a_log_is_that_of_all_messages(rdfm):
    lines = rdfm("hash", "a.nq", "b.nq").out.splitlines()
    digests = b"".join(bytes.fromhex(line[:64]) for line in lines)
    assert rdfm("hash", "--log", "a.nq", "b.nq").out == sha256(digests).hexdigest() + "\n"
    rdfm("convert", "a.nq", "b.nq", "-o", "both.jelly.gz")
    assert rdfm("hash", "--log", "both.jelly.gz").out == sha256(digests).hexdigest() + "\n"


def test_invalid_messages_are_an_error_or_skipped(rdfm):
    run = rdfm("hash", "bad.nq")
    assert run.code == 1
    assert run.out[64:] == "  bad.nq#0\n"
    assert "(line 3, column 27, byte 78, message 1)" in run.error
    run = rdfm("hash", "bad.nq", "--on-error", "skip")
    assert (run.code, [line[64:] for line in run.out.splitlines()]) == (
        0,
        ["  bad.nq#0", "  bad.nq#2"],
    )
    assert run.err.startswith("rdfm: skipped: bad.nq: ")


def test_the_error_about_steps_names_the_option(rdfm):
    clique = "".join(f"_:b{a} <x:p> _:b{b} .\n" for a in range(9) for b in range(9) if a != b)
    Path("clique.nq").write_text(clique)
    run = rdfm("hash", "clique.nq", "--max-steps", "1000")
    assert (run.code, run.out) == (1, "")
    assert "more than 1000 steps; a larger --max-steps allows it (message 0)" in run.error


def test_the_hash_of_an_invalid_log_is_not_printed(rdfm):
    run = rdfm("hash", "--log", "bad.nq")
    assert (run.code, run.out) == (1, "")


def test_patches_have_no_hashes(rdfm):
    Path("a.rdfp").write_text("TX .\nTC .\n")
    assert "only messages have a canonical form" in rdfm("hash", "a.rdfp").error


def test_file_names_cannot_move_the_cursor(rdfm):
    Path("a.nq").rename("\x1b[2J.nq")
    assert "  \\u001b[2J.nq#0\n" in rdfm("hash", "\x1b[2J.nq").out
