"""Jelly logs that contain more than their stream options declare."""

import io

import jelly_proto
import pytest

import rdfm

KINDS = {
    "jelly": jelly_proto.classes().RdfStreamFrame,
    "jelly-patch": jelly_proto.classes().RdfPatchFrame,
}
TEXTS = {"jelly": "nq", "jelly-patch": "rdf-patch"}
PLAIN = '<http://e/s> <http://e/p> "o" .'
# Each is one statement that has a term in a position where RDF does not allow it.
GENERALIZED = [
    '"s" <http://e/p> <http://e/o> .',
    '"s"@en <http://e/p> <http://e/o> .',
    "<http://e/s> _:p <http://e/o> .",
    '<http://e/s> "p"^^<http://e/d> <http://e/o> .',
    "<http://e/s> <<( <http://e/s> <http://e/p> <http://e/o> )>> <http://e/o> .",
    '<http://e/s> <http://e/p> <http://e/o> "g" .',
    '<http://e/s> <http://e/p> <<( "s" <http://e/p> <http://e/o> )>> .',
    "<http://e/s> <http://e/p> <<( <http://e/s> <http://e/p> <<( _:s _:p _:o )>> )>> .",
    '<<( <http://e/s> "p" <http://e/o> )>> <http://e/p> <http://e/o> .',
]
ALLOWED = [
    PLAIN,
    "_:s <http://e/p> _:o _:g .",
    "<<( _:s <http://e/p> <http://e/o> )>> <http://e/p> <http://e/o> .",
    '<http://e/s> <http://e/p> <<( <http://e/s> <http://e/p> <<( _:s <http://e/p> "o" )>> )>> .',
]


def converted(source, from_format, to, **options):
    out = io.BytesIO()
    rdfm.convert(source, out, from_format=from_format, to=to, **options)
    return out.getvalue()


def text(messages, name):
    """Returns a log in a text format, given the statements of each message."""
    if name == "jelly":
        return "# @message\n".join("".join(f"{s}\n" for s in each) for each in messages).encode()
    patches = ("".join(f"A {s}\n" for s in each) for each in messages)
    return "".join(f'H id "{i}" .\nTX .\n{each}TC .\n' for i, each in enumerate(patches)).encode()


def undeclared(messages, name, **options):
    """Returns a log whose stream options do not declare generalized statements."""
    reading = {"from_generalized": True} if name == "jelly" else {}
    if name == "jelly":
        options["restart_bytes"] = 0
    log = converted(
        text(messages, name),
        TEXTS[name],
        name,
        to_generalized=True,
        rdf_star=True,
        **reading,
        **options,
    )
    frames = jelly_proto.read_delimited(KINDS[name], log)
    for row in frames[0].rows[:1]:
        row.options.generalized_statements = False
    return jelly_proto.delimited(frames)


def warnings(log, name):
    return [(each.rule, each.byte_offset, each.frame) for each in rdfm.validate(log, name)]


def declared(log, name):
    kind = "patches" if name == "jelly-patch" else "messages"
    with rdfm.open_log(log, name, kind=kind) as messages:
        list(messages)
        return messages.header["options"]["generalized"]


def content(log, name):
    reading = {} if name == "jelly-patch" else {"to_lenient": True}
    return converted(log, name, TEXTS[name], **reading)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("statement", GENERALIZED)
def test_undeclared_generalized_statements_are_warned_about_and_copied(name, statement):
    log = undeclared([[PLAIN, statement, statement], [statement]], name)
    assert not declared(log, name)
    assert warnings(log, name) == [("undeclared-generalized", 0, 0)]
    for options in ({}, {"flat": True}):
        if options and name == "jelly-patch":
            continue  # a transaction of each patch
        copy = converted(log, name, name, **options)
        assert declared(copy, name)
        assert warnings(copy, name) == []
        if not options:
            assert content(copy, name) == content(log, name)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("statement", ALLOWED)
def test_other_statements_need_no_declaration(name, statement):
    log = undeclared([[statement]], name)
    assert warnings(log, name) == []
    assert not declared(converted(log, name, name), name)


@pytest.mark.parametrize("name", KINDS)
def test_a_later_generalized_statement_is_an_error_that_names_the_option(name):
    log = undeclared([[PLAIN], [GENERALIZED[0]]], name)
    assert [rule for rule, *_ in warnings(log, name)] == ["undeclared-generalized"]
    with pytest.raises(rdfm.EncodeError) as caught:
        converted(log, name, name)
    assert caught.value.message_index == 1
    assert [(each.option, each.value) for each in caught.value.remedies] == [
        ("generalized", "true")
    ]
    copy = converted(log, name, name, generalized=True)
    assert content(copy, name) == content(log, name)


@pytest.mark.parametrize("name", KINDS)
def test_requested_options_are_kept(name, tmp_path):
    log = undeclared([[GENERALIZED[0]]], name)
    with pytest.raises(rdfm.EncodeError, match="does not declare"):
        converted(log, name, name, generalized=False)
    path = tmp_path / "existing"
    path.write_bytes(undeclared([[PLAIN]], name))
    with pytest.raises(rdfm.EncodeError, match="does not declare"):
        converted(log, name, name, options_from=path)
    with pytest.raises(rdfm.EncodeError, match="does not declare"):
        rdfm.convert(log, path, from_format=name, to=name, append=True)


class Pieces(io.RawIOBase):
    """A stream that returns at most `size` bytes at once."""

    def __init__(self, data, size):
        self.rest, self.size = data, size

    def readable(self):
        return True

    def readinto(self, buffer):
        piece = self.rest[: min(self.size, len(buffer))]
        self.rest = self.rest[len(piece) :]
        buffer[: len(piece)] = piece
        return len(piece)


def test_pieces_do_not_change_the_options_of_a_copy():
    log = undeclared([[PLAIN], [GENERALIZED[0]]], "jelly")
    for size in (1, 7, 60, len(log)):
        with pytest.raises(rdfm.EncodeError, match="does not declare"):
            converted(Pieces(log, size), "jelly", "jelly")


@pytest.mark.parametrize(
    "values", ['"v"', "<_:v>", "<http://e/v>", "<<( <_:s> <http://e/p> <_:o> )>>"]
)
def test_a_header_of_a_patch_is_not_a_statement(values):
    patch = f"H key {values} .\nTX .\nTC .\n".encode()
    log = converted(patch, "rdf-patch", "jelly-patch")
    assert warnings(log, "jelly-patch") == []
    assert converted(log, "jelly-patch", "rdf-patch") == patch


@pytest.mark.parametrize("version", [1, 2])
def test_namespaces_need_version_2(version):
    writer = jelly_proto.Writer(1, version)
    writer.message([])
    for _ in range(2):
        writer.message([], namespaces={"e": "http://e/"})
    log = jelly_proto.delimited(writer.frames)
    found = [("beyond-version", len(log[: 1 + log[0]]), 1)] if version == 1 else []
    assert warnings(log, "jelly") == found
