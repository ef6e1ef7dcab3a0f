"""Log fragments are joined into one log with all messages, in every format that allows joining."""

import itertools

import pytest

from rdfm import (
    BlankNode,
    Iri,
    Literal,
    MessageBatch,
    OptionError,
    PatchBatch,
    Quad,
    formats,
    open_log,
)
from rdfm.spark.writers.commit import CommitTarget
from rdfm.spark.writers.single import FragmentWriter, check_single, join_fragments
from rdfm.storage.compression import COMPRESSIONS

S, P = Iri("http://example.org/s"), Iri("http://example.org/p")
FIRST_MESSAGE = [Quad(S, P, Literal("a\nb")), Quad(S, P, BlankNode("b"))]
SECOND_MESSAGE = [Quad(Iri("http://other.example/s"), P, BlankNode("b"))]
PARTS = [
    [FIRST_MESSAGE],
    [[]],
    [[], SECOND_MESSAGE],
    [FIRST_MESSAGE, []],
    [SECOND_MESSAGE, FIRST_MESSAGE, [], SECOND_MESSAGE],
]
JOINABLE_FORMATS = [
    each.name
    for each in formats.all()
    if each.spec.append != "never" and each.spec.kinds[0] == "messages"
]
OPTIONS = [{}, {"dialect": "directive"}, {"prefixes": {"ex": "http://example.org/"}}]


ADD = ("A", None, S, P, BlankNode("b"), None)
BEGIN, COMMIT = ((code, None, None, None, None, None) for code in ("TX", "TC"))
PATCHES = [
    [[BEGIN, ADD, COMMIT]],
    [[ADD]],
    [[]],
    [[], [ADD]],
    [[ADD], []],
    [[ADD], [BEGIN, COMMIT]],
]


def write(
    folder, format, parts, compression="none", options=None, create_batch=MessageBatch.from_messages
):
    """Writes a fragment for each list of messages and joins them. Returns the path of the log."""
    target = CommitTarget.from_path(str(folder))
    target.begin("job")
    fragments = []
    for number, messages in enumerate(parts):
        name = f"part-{number:05d}-x.log"
        attempt = f"{number}"
        path = target.create_attempt("job", attempt)
        file = target.storage.open_new(f"{path}/{name}")
        writer = FragmentWriter(file, format, compression, options or {})
        for message in messages:
            writer.write_batch(create_batch([message]))
        writer.close()
        target.storage.finish(file)
        fragments.append(writer.fragment(f"{attempt}/{name}"))
    (part,) = join_fragments(
        target,
        "job",
        reversed(fragments),
        format=format,
        compression=compression,
        options=options or {},
    )
    return folder / "_rdfm/staging/job" / part


@pytest.mark.parametrize("options", OPTIONS, ids=["plain", "directive", "prefixes"])
@pytest.mark.parametrize("name", JOINABLE_FORMATS)
def test_joined_fragments_contain_all_messages(tmp_path, name, options):
    if set(options) - set(formats.find(name).spec.options("write")):
        pytest.skip("the format does not have the option")
    for number, parts in enumerate(itertools.product(PARTS, repeat=2)):
        path = write(tmp_path / str(number), name, parts, options=options)
        expected = [message for part in parts for message in part]
        with open_log(path, name) as log:
            found = list(log)
        assert [len(message) for message in found] == [len(message) for message in expected]
        for message, expected_message in zip(found, expected, strict=True):
            assert message.isomorphic(expected_message)
        if not formats.find(name).spec.binary:
            assert path.read_bytes().count(b"VERSION") == ("dialect" in options)


@pytest.mark.parametrize("name", ["rdf-patch", "jelly-patch"])
def test_joined_fragments_contain_all_patches(tmp_path, name):
    for number, parts in enumerate(itertools.product(PATCHES, repeat=2)):
        path = write(tmp_path / str(number), name, parts, create_batch=PatchBatch.from_patches)
        with open_log(path, name, kind="patches") as log:
            found = [len(list(patch)) for patch in log]
        assert found == [len(patch) for part in parts for patch in part]


@pytest.mark.parametrize("compression", ["none", *COMPRESSIONS, "gzip:9"])
def test_compressed_fragments_become_members(tmp_path, compression):
    options = {"dialect": "directive"}
    path = write(tmp_path, "nq", [[FIRST_MESSAGE], [[], SECOND_MESSAGE]], compression, options)
    with open_log(path, "nq") as log:
        assert [len(message) for message in log] == [2, 0, 1]


def test_fragments_with_different_headers_are_rejected(tmp_path):
    target = CommitTarget.from_path(str(tmp_path))
    target.begin("job")
    fragments = []
    for number, options in enumerate(({}, {"jelly_version": 2})):
        path = target.create_attempt("job", str(number))
        file = target.storage.open_new(f"{path}/part-{number:05d}-x.jelly")
        writer = FragmentWriter(file, "jelly", "none", options)
        writer.write_batch(MessageBatch.from_messages([FIRST_MESSAGE]))
        writer.close()
        target.storage.finish(file)
        fragments.append(writer.fragment(f"{number}/part-{number:05d}-x.jelly"))
    with pytest.raises(
        OptionError, match=r"the partitions 0 and 1 differ in .*nothing was written"
    ):
        join_fragments(target, "job", fragments, format="jelly", compression="none", options={})


@pytest.mark.parametrize(
    "name",
    [
        each.name
        for each in formats.all()
        if each.spec.append == "never" and each.spec.kinds[0] == "messages"
    ],
)
def test_formats_that_cannot_be_joined_are_rejected(name):
    with pytest.raises(OptionError, match=f"single=true cannot write {name}: .*; omit single"):
        check_single(name, {})


@pytest.mark.parametrize(
    ("name", "options"), [("jelly", {"flat": True}), ("jelly", {"delimited": False})]
)
def test_options_that_do_not_allow_another_message_are_rejected(name, options):
    with pytest.raises(OptionError):
        check_single(name, options)
