"""Notes: remarks about valid logs in summaries and reports."""

import contextlib
import io

import pytest

import rdfm
from rdfm.logs.input.inputs import Input
from rdfm.logs.notes import Notes

QUAD = rdfm.Quad(rdfm.BlankNode("b"), rdfm.Iri("http://e/p"), rdfm.Iri("http://e/o"))


def make_input(name):
    return Input(io.BytesIO(name.encode()))


def test_later_notes_on_a_log_replace_earlier_notes():
    notes, source = Notes(), make_input("one")
    notes.update(source, ["3 seen"])
    notes.update(source, ["5 seen", "odd"])
    assert notes.texts() == ("5 seen", "odd")
    assert notes.texts() == ("5 seen", "odd")


def test_notes_on_several_logs_include_the_log_name():
    notes = Notes()
    notes.update(make_input("one"), [])
    notes.update(make_input("other"), ["odd"])
    assert notes.texts() == ("input: odd",)


def test_ten_notes_are_listed_and_the_others_are_counted():
    notes = Notes()
    for number in range(1500):
        notes.update(make_input(str(number)), ["odd"])
    assert len(notes.texts()) == 11
    assert notes.texts()[-1] == "and 1,490 more"


def test_a_note_explains_how_readers_interpret_the_log():
    def notes(messages, **options):
        with rdfm.create_log(io.BytesIO(), "jelly", **options) as writer:
            for _ in range(messages):
                writer.write([QUAD])
        return writer.notes

    settings = {"logical_type": "flat_quads"}
    assert notes(2) == notes(1, **settings) == notes(2, **settings, frames="flat") == ()
    (note,) = notes(2, **settings)
    assert note.startswith(
        "flat_quads was requested: readers, including rdfm, will read one message"
    )


@pytest.mark.parametrize("name", ["jelly", "trig"])
def test_a_writer_notes_a_message_that_readers_reject_by_default(name):
    """In one piece or in several."""
    halves = [
        [rdfm.Quad(rdfm.Iri("a:s"), rdfm.Iri("a:p"), rdfm.Literal(letter * (33 << 20)))]
        for letter in "ab"
    ]
    for messages, is_large in ((halves, False), ([halves[0] + halves[1]], True)):
        file = io.BytesIO()
        with rdfm.create_log(file, name) as log:
            for message in messages:
                log.write(message)
        note = "; a larger max_message_bytes allows it, or maxMessageBytes in Spark"
        assert [text.endswith(note) for text in log.notes] == [True] * is_large
        expected = pytest.raises(rdfm.LimitError) if is_large else contextlib.nullcontext()
        file.seek(0)
        with expected, rdfm.open_log(file, name) as found:
            assert len(list(found)) == 2
        file.seek(0)
        with rdfm.open_log(file, name, max_message_bytes=1 << 30) as found:
            assert len(list(found)) == len(messages)
