"""Jelly frames on the command line: the logical type and --frames determine their meaning."""

import io
import json
from pathlib import Path

import pytest

import rdfm as package
from rdfm import BlankNode, Iri, Message, Quad

READ_AS_ONE = (
    "frames read as one message; --from-frames message reads each frame as a message, "
    "so blank nodes and queries no longer span frames"
)
FLAT = f"flat_triples: {READ_AS_ONE}"
FLAT_REQUESTED = (
    "flat_quads was requested: readers, including rdfm, will read one message, in which equal blank "
    "node labels denote the same node"
)


P = Iri("http://e/p")


def flat_log(path, quads=600, **options):
    """Writes a log like those of other writers: frames of 256 rows that share a blank node."""
    lines = "".join(f"_:b <http://e/p> <http://e/{number}> .\n" for number in range(quads))
    package.convert(lines.encode(), path, from_format="nt", frames="flat", **options)


def sizes(path, **options):
    """Returns the number of quads of each message."""
    with package.open_log(path, **options) as log:
        return [len(message) for message in log]


def logical_type(path):
    with package.open_log(path, "jelly") as log:
        return log.header["options"]["logical_type"]


def notes(run):
    """Returns the notes of a summary."""
    assert run.code == 0, run.err
    lines = run.err.splitlines()
    return [line.removeprefix("rdfm: note: ") for line in lines if line.startswith("rdfm: note: ")]


def test_a_flat_type_for_several_messages_is_noted(rdfm):
    flat_type = ("--logical-type", "flat-quads")
    assert notes(rdfm("convert", "a.nq", "out.jelly", *flat_type)) == [FLAT_REQUESTED]
    assert notes(rdfm("convert", "a.nq", "-o", "again.jelly", "--options-from", "out.jelly")) == [
        FLAT_REQUESTED
    ]
    assert rdfm("convert", "a.nq", "-o", "out.jelly", "-q", *flat_type).err == ""
    # A single message needs no note, in a file or in each file of a folder.
    assert notes(rdfm("convert", "b.nq", "-o", "out.jelly", *flat_type)) == []
    assert notes(rdfm("convert", "a.nq", "-o", "each/", "--to", "jelly", *flat_type)) == []
    assert len(list(Path("each").rglob("*.jelly"))) == 3
    split = ("--to", "jelly", "--split-messages", "2")
    assert notes(rdfm("convert", "a.nq", "-o", "some/", *split, *flat_type)) == [FLAT_REQUESTED]


def test_flat_frames_that_will_be_read_as_messages_are_noted(rdfm):
    flat = ("--frames", "flat", "--frame-rows", "4")
    note = (
        "datasets was requested: readers, including rdfm, will read each frame as a message with its "
        "own blank nodes"
    )
    arguments = ("--logical-type", "datasets")
    assert notes(rdfm("convert", "b.nq", "out.jelly", *flat)) == []
    assert sizes("out.jelly") == [sum(sizes("b.nq"))]
    assert notes(rdfm("convert", "a.nq", "out.jelly", *flat, *arguments)) == [note]
    assert len(sizes("out.jelly")) > 1
    rdfm("convert", "a.nq", "type.jelly")
    type_options = ("--options-from", "type.jelly")
    assert notes(rdfm("convert", "a.nq", "-o", "out.jelly", *flat, *type_options)) == [note]
    # A single frame is one message.
    assert notes(rdfm("convert", "a.nq", "out.jelly", "--frames", "flat", *arguments)) == []
    assert len(sizes("out.jelly")) == 1


def test_a_flat_log_is_one_message(rdfm):
    flat_log("flat.jelly")
    # 256 rows per frame, including lookup entries.
    assert sizes("flat.jelly", frames="message") == [127, 128, 128, 128, 89]
    assert notes(rdfm("convert", "flat.jelly", "out.nq")) == [FLAT]
    assert sizes("out.nq") == [600]
    with package.open_log("out.nq") as log:
        (message,) = log
    assert {quad.subject for quad in message.quads} == {BlankNode("b")}
    assert notes(rdfm("convert", "flat.jelly", "out.nq", "--frames", "auto")) == [FLAT]
    # There is no note if --frames is flat or message.
    assert notes(rdfm("convert", "flat.jelly", "out.nq", "--frames", "flat")) == []
    assert sizes("out.nq") == [600]
    assert notes(rdfm("convert", "flat.jelly", "out.nq", "--frames", "message")) == []
    assert sizes("out.nq") == [127, 128, 128, 128, 89]


def test_inspect_notes_that_frames_are_one_message(rdfm):
    flat_log("flat.jelly")
    run = rdfm("inspect", "flat.jelly")
    assert "  messages         1\n" in run.out
    assert f"  notes            {FLAT}\n" in run.out
    report = json.loads(rdfm("inspect", "flat.jelly", "--json").out)
    assert (report["messages"], report["notes"]) == (1, [FLAT])
    report = json.loads(rdfm("inspect", "flat.jelly", "--json", "--frames", "message").out)
    assert (report["messages"], report["notes"]) == (5, [])
    Path("logs").mkdir()
    flat_log("logs/a.jelly")
    flat_log("logs/b.jelly", logical_type="graphs")
    report = json.loads(rdfm("inspect", "logs", "--json").out)
    assert report["messages"] == 1 + 5
    assert report["notes"] == [f"{Path('logs/a.jelly')}: {FLAT}"]


def test_a_single_flat_log_stays_flat(rdfm):
    flat_log("flat.jelly")
    flat = Path("flat.jelly").read_bytes()
    for arguments in ([], ["--from-frames", "auto"], ["--take", "1"], ["--message-per-file"]):
        assert notes(rdfm("convert", "flat.jelly", "-o", "out.jelly", *arguments)) == [FLAT]
        assert Path("out.jelly").read_bytes() == flat
    for arguments in (["--on-error", "skip"], ["--logical-type", "flat-triples"]):
        rdfm("convert", "flat.jelly", "-o", "out.jelly", *arguments)
        assert Path("out.jelly").read_bytes() == flat
    rdfm("convert", "flat.jelly", "-o", "out.jelly", "--skolemize", "http://e/")
    assert (logical_type("out.jelly"), sizes("out.jelly")) == ("flat_triples", [600])
    rdfm("convert", "flat.jelly", "-o", "out.jelly", "--physical-type", "quads")
    assert (logical_type("out.jelly"), sizes("out.jelly")) == ("flat_quads", [600])
    rdfm("convert", "flat.jelly", "-o", "out.jelly", "--options-from", "flat.jelly")
    assert Path("out.jelly").read_bytes() == flat
    rdfm("convert", "flat.jelly", "-o", "out.jelly", "--skip", "1")
    assert Path("out.jelly").read_bytes() == b""


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        (["flat.jelly", "--from-frames", "message"], [127, 128, 128, 128, 89]),
        (["flat.jelly", "flat.jelly"], [600, 600]),
        (["logs"], [600]),
        (["flat.tar"], [600]),
        (["flat.jelly", "--group-by", "all"], [600]),
        (["flat.jelly", "--group-by", "count=300", "--skolemize", "http://e/"], [300, 300]),
        (["flat.jelly", "--logical-type", "graphs"], [600]),
    ],
)
def test_a_flat_type_is_inherited_only_from_a_single_unchanged_log(rdfm, arguments, messages):
    flat_log("flat.jelly")
    Path("logs").mkdir()
    flat_log("logs/a.jelly")
    rdfm("convert", "flat.jelly", "flat.tar", "--to", "jelly")
    flat_log("flat.jelly")
    rdfm("convert", *arguments, "-o", "out.jelly")
    assert logical_type("out.jelly") == "graphs"
    assert sizes("out.jelly") == messages


@pytest.mark.parametrize("output", ["out/", "out.tar"])
def test_output_with_one_file_per_message_does_not_inherit_a_flat_type(rdfm, output):
    flat_log("flat.jelly", logical_type="flat_quads", physical_type="quads")
    rdfm("convert", "flat.jelly", "-o", output, "--to", "jelly")
    assert sizes(output) == [600]
    assert logical_type(output) == "datasets"


def test_the_note_on_a_flat_log_says_that_the_option_changes_query_results(rdfm):
    Path("flat.nt").write_text("<x:a> <x:p> _:b .\n_:b <x:q> 'c' .\n".replace("'", '"'))
    rdfm("convert", "flat.nt", "flat.jelly", "--to-frames", "flat", "--frame-rows", "1")
    query = ("query", "SELECT ?o { ?s <x:p>/<x:q> ?o }", "flat.jelly", "--to", "results-csv")
    one = rdfm(*query)
    assert (one.out.splitlines()[1:], notes(one)) == (["flat.jelly,0,c"], [FLAT])
    assert rdfm(*query, "--from-frames", "message").out.splitlines()[1:] == []


def test_an_extended_flat_type_is_flat(rdfm):
    # The number is part of the options; 111 is not a registered type.
    for number, messages in ((111, [600]), (113, [127, 128, 128, 128, 89])):
        flat_log("flat.jelly", logical_type="flat_triples" if number == 111 else "graphs")
        data = Path("flat.jelly").read_bytes()
        field = bytes([0x70, number % 10, 0x78])
        Path("extension.jelly").write_bytes(data.replace(field, bytes([0x70, number, 0x78]), 1))
        found = notes(rdfm("convert", "extension.jelly", "-o", "out.jelly"))
        note = f"logical type 111: {READ_AS_ONE}"
        assert found == ([note] if number == 111 else [])
        assert sizes("extension.jelly") == sizes("out.jelly") == messages
        # The output has the base type, which every reader supports.
        assert logical_type("out.jelly") == ("flat_triples" if number == 111 else "graphs")


def test_a_flat_log_above_the_message_limit_is_converted_in_parts(rdfm):
    """Memory is bounded if the output format can continue a message, as flat Jelly can."""
    flat_log("flat.jelly", 60_000)
    flat = Path("flat.jelly").read_bytes()
    limit = ("--max-message-bytes", "1M")
    assert package.convert(flat, io.BytesIO(), from_format="jelly", to="nq").messages == 1
    for output in ("out.jelly", "out.nq", "out.trig"):
        run = rdfm("convert", "flat.jelly", "-o", output, *limit)
        assert (run.code, notes(run)) == (0, [FLAT]), run.err
    assert Path("out.jelly").read_bytes() == flat
    assert rdfm("inspect", "flat.jelly", *limit).code == 0
    run = rdfm("convert", "flat.jelly", "-o", "out.jelly", "--skolemize", "http://e/", *limit)
    assert run.code == 0, run.err
    grouping = ("--group-by", "count=1000", "--skolemize", "http://e/")
    assert rdfm("convert", "flat.jelly", "-o", "out.yamlld", *grouping, *limit).code == 0


def test_the_error_names_remedies_if_parts_are_not_possible(rdfm):
    flat_log("flat.jelly", 60_000)
    limit = ("--max-message-bytes", "1M")
    for arguments in (
        ["-o", "out.yamlld"],
        ["-o", "out/", "--to", "jelly"],
        ["-o", "out.jelly", "--logical-type", "graphs"],
        ["flat.jelly", "-o", "out.jelly"],
        ["-o", "out.jelly", "--on-error", "skip"],
    ):
        run = rdfm("convert", "flat.jelly", *arguments, *limit)
        assert run.code == 1
        assert "its type flat_triples makes all frames one message" in run.err
        for remedy in ("--from-frames message", "--group-by count=N"):
            assert remedy in run.err
        text = "--on-error fail avoids buffering complete messages"
        assert (text in run.err) == ("--on-error" in arguments)
    # Reading does not split messages.
    with (
        package.open_log("flat.jelly", max_message_bytes=1 << 20) as log,
        pytest.raises(
            package.LimitError, match=r'frames="message" reads each frame as a message'
        ) as caught,
    ):
        list(log)
    assert "group_by" not in str(caught.value)
    # The error does not mention the logical type if --frames is given.
    run = rdfm("convert", "flat.jelly", "-o", "out.yamlld", "--frames", "flat", *limit)
    assert "makes all frames" not in run.err


def test_metadata_of_later_frames_is_dropped_and_counted(rdfm):
    def write_frames(logical_type):
        with package.create_log("m.jelly", logical_type=logical_type) as out:
            for value in (b"one", b"two"):
                quads = [Quad(BlankNode("b"), P, Iri(f"http://e/{at}")) for at in range(300)]
                out.write(Message(quads, metadata={"k": value}))

    write_frames("flat_quads")
    with package.open_log("m.jelly") as log:
        assert [dict(message.metadata) for message in log] == [{"k": b"one"}]
        assert log.header["dropped_metadata"] == 1
    for arguments in ([], ["--take", "1"], ["--max-message-bytes", "60K"]):
        run = rdfm("convert", "m.jelly", "-o", "out.jelly", *arguments)
        assert "rdfm: dropped: 1 metadata entry" in run.err, run.err
        with package.open_log("out.jelly") as log:
            assert [dict(message.metadata) for message in log] == [{"k": b"one"}]
    # Nothing is dropped from skipped messages.
    for skipped, is_reported in ((1, True), (2, False)):
        arguments = ("m.jelly", "m.jelly", "-o", "out.jelly", "--skip", skipped)
        run = rdfm("convert", *arguments)
        assert ("rdfm: dropped: 1 metadata entry" in run.err) == is_reported, run.err
        assert ("dropped" in run.err) == is_reported, run.err
    rdfm("convert", "m.jelly", "-o", "m.tar", "--to", "jelly", "--from-frames", "message")
    with package.open_log("m.tar") as log:
        assert [dict(message.metadata) for message in log] == [{"k": b"one"}, {"k": b"two"}]
    write_frames("datasets")
    run = rdfm(
        "convert", "m.jelly", "-o", "out.jelly", "--from-frames", "flat", "--to-frames", "flat"
    )
    assert "rdfm: dropped: 1 metadata entry" in run.err, run.err


def test_joined_flat_logs_stay_separate_messages(rdfm):
    for name in ("a", "b"):
        Path(f"{name}.nt").write_text(f"<http://e/{name}> <http://e/p> <http://e/o> .\n")
        assert rdfm("convert", f"{name}.nt", f"{name}.jelly", "--flat").code == 0
    Path("ab.jelly").write_bytes(Path("a.jelly").read_bytes() + Path("b.jelly").read_bytes())
    run = rdfm("convert", "ab.jelly", "new.jelly", "--joins", "new")
    assert run.code == 0
    assert "dropped" not in run.err
    assert sizes("new.jelly") == [1, 1]
