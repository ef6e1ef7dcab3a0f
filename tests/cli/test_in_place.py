"""rdfm convert --check and --in-place, for several files as in a git hook."""

from pathlib import Path

PRETTY = "PREFIX e: <http://e/>\n\ne:a\n    e:p 1 ;\n.\n"
OTHER = "PREFIX e: <http://e/>\ne:a e:p 1 .\n"


def test_check_names_the_files_that_differ(rdfm):
    for name, text in [("a.ttl", PRETTY), ("b.ttl", OTHER), ("c.trig", f"# c\n{OTHER}")]:
        Path(name).write_text(text)
    run = rdfm("convert", "--pretty", "--check", "a.ttl", "b.ttl", "c.trig")
    assert (run.code, run.out) == (1, "")
    assert run.err == (
        "rdfm: b.ttl differs from its pretty form\n"
        "rdfm: c.trig differs from its pretty form, which has no comments (1 comment)\n"
    )
    quiet = rdfm("convert", "--pretty", "--check", "--quiet", "a.ttl", "b.ttl")
    assert (quiet.code, quiet.out, quiet.err) == (1, "", "")
    same = rdfm("convert", "--pretty", "--check", "a.ttl")
    assert (same.code, same.out, same.err) == (0, "", "")
    assert Path("b.ttl").read_text() == OTHER


def test_in_place_replaces_the_files_that_differ(rdfm):
    for name, text in [("a.ttl", PRETTY), ("b.ttl", f"# b\n{OTHER}")]:
        Path(name).write_text(text)
    assert rdfm("convert", "--pretty", "--in-place", "a.ttl", "b.ttl").error == (
        "b.ttl: ttl: the file contains 1 comment, which cannot be kept; "
        "--drop-comments removes them"
    )
    run = rdfm("convert", "--pretty", "--in-place", "--drop-comments", "a.ttl", "b.ttl")
    assert (run.code, run.out) == (0, "")
    assert run.err == "rdfm: replaced b.ttl: 1 message, 1 quad\nrdfm: dropped: 1 comment\n"
    assert Path("b.ttl").read_text() == PRETTY


def test_in_place_needs_pretty_output_and_a_file(rdfm):
    Path("a.ttl").write_text(OTHER)
    assert rdfm("convert", "--in-place", "a.ttl").error == "--in-place needs --pretty"
    assert rdfm("convert", "--pretty", "--in-place", "-").error == (
        "--in-place needs one file as input"
    )
    assert rdfm("convert", "--pretty", "--check", "a.ttl", "-o", "b.ttl").error == (
        "--check has no output; omit it"
    )
    assert "no input or output given" in rdfm("convert", "--pretty", "--check").error
