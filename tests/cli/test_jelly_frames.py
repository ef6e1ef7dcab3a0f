"""What frames of Jelly mean on the command line: the logical type says it, and --frames."""

from pathlib import Path

ASKED = (
    "flat_quads, as asked: readers, rdfm too, will read one message, in which equal blank node "
    "labels are one node"
)


def notes(run):
    """The notes of a summary."""
    assert run.code == 0, run.err
    lines = run.err.splitlines()
    return [line.removeprefix("rdfm: note: ") for line in lines if line.startswith("rdfm: note: ")]


def test_a_flat_type_for_several_messages_is_written_as_asked_with_a_note(rdfm):
    asked = ("--logical-type", "flat-quads")
    assert notes(rdfm("convert", "a.nq", "out.jelly", *asked)) == [ASKED]
    assert notes(rdfm("convert", "a.nq", "-o", "again.jelly", "--options-from", "out.jelly")) == [
        ASKED
    ]
    assert rdfm("convert", "a.nq", "-o", "out.jelly", "-q", *asked).err == ""
    # Of one message nothing need be said, in a file or in each of a folder.
    assert notes(rdfm("convert", "b.nq", "-o", "out.jelly", *asked)) == []
    assert notes(rdfm("convert", "a.nq", "-o", "each/", "--to", "jelly", *asked)) == []
    assert len(list(Path("each").rglob("*.jelly"))) == 3
    some = ("--to", "jelly", "--split-messages", "2")
    assert notes(rdfm("convert", "a.nq", "-o", "some/", *some, *asked)) == [ASKED]
