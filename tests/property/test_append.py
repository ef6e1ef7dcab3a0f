"""Random logs that are written in several runs equal logs that are written at once."""

import gzip
import tempfile
from pathlib import Path

import patches
import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import logs_for
from support import as_batch, assert_same, decoded, ordered

import rdfm
from rdfm import formats

SPECS = {name: formats.find(name).spec for name in formats.names()}
APPENDABLE = [name for name, spec in SPECS.items() if spec.append != "never"]
MESSAGE_FORMATS = [name for name in APPENDABLE if SPECS[name].kinds == ("messages",)]
PATCH_FORMATS = [name for name in APPENDABLE if SPECS[name].kinds == ("patches",)]
FORMATS_WITH_SAME_BYTES = ("nt", "nq", "rdfxml")
WRITE_OPTIONS = {
    "jelly": {"generalized": True, "rdf_star": True},
    "jelly-patch": {"generalized": True, "rdf_star": True, "statement_type": "quads"},
}
READ_OPTIONS = {"nt": {"generalized": True}, "nq": {"generalized": True}}
DIALECTS = [(name, None) for name in MESSAGE_FORMATS] + [
    (name, "directive") for name in MESSAGE_FORMATS if "dialect" in SPECS[name].options("write")
]


def test_every_format_that_can_be_appended_to_is_tested():
    assert set(APPENDABLE) == set(MESSAGE_FORMATS) | set(PATCH_FORMATS)
    assert set(MESSAGE_FORMATS) == {
        *("nt", "nq", "ttl", "trig", "jelly", "ndjsonld", "yamlld", "rdf-protobuf", "rdfxml"),
    }
    assert set(PATCH_FORMATS) == {"rdf-patch", "jelly-patch"}


def random_runs(draw, log):
    """Divides the log into random runs, some of them empty."""
    boundaries = sorted(draw(st.lists(st.integers(0, len(log)), max_size=4)))
    return [log[a:b] for a, b in zip([0, *boundaries], [*boundaries, len(log)], strict=True)]


def append(path, name, runs, **options):
    # The first run with messages determines the options of the log.
    first_options = WRITE_OPTIONS.get(name, {})
    for run in runs:
        batch = patches.as_batch(run) if name in PATCH_FORMATS else as_batch(run)
        kind = batch.kind
        with rdfm.create_log(path, name, kind=kind, append=True, **first_options, **options) as log:
            log.write_batch(batch)
        first_options = {} if run else first_options


@pytest.mark.parametrize(("name", "dialect"), DIALECTS)
@given(data=st.data())
def test_a_log_written_in_several_runs_equals_a_log_written_at_once(name, dialect, data):
    log = data.draw(logs_for(name))
    options = {} if dialect is None else {"dialect": dialect}
    sync = data.draw(st.booleans())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log")
        append(path, name, random_runs(data.draw, log), sync=sync, **options)
        found = path.read_bytes()
        assert [file.name for file in Path(folder).iterdir()] == ["log"]
    assert_same(decoded(name, found, **READ_OPTIONS.get(name, {})), log, order=ordered(name))
    if name in FORMATS_WITH_SAME_BYTES:
        single_run = formats.find(name).encode(as_batch(log), **options)
        assert found == single_run


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
@pytest.mark.parametrize("name", MESSAGE_FORMATS)
@given(data=st.data())
def test_appending_to_a_compressed_log_adds_members(name, compression, data):
    log = data.draw(logs_for(name))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.gz" if compression == "gzip" else "log.zst")
        append(path, name, random_runs(data.draw, log))
        if compression == "gzip":
            found = gzip.decompress(path.read_bytes())
            assert_same(
                decoded(name, found, **READ_OPTIONS.get(name, {})), log, order=ordered(name)
            )
        with rdfm.open_log(path, name, **READ_OPTIONS.get(name, {})) as reader:
            assert sum(len(batch) for batch in reader.batches()) == len(log)


@pytest.mark.parametrize("name", PATCH_FORMATS)
@given(data=st.data())
def test_patches_written_in_several_runs_equal_patches_written_at_once(name, data):
    log = data.draw(patches.patches(graphs=True, plain=True))
    sync = data.draw(st.booleans())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log")
        append(path, name, random_runs(data.draw, log), sync=sync)
        with rdfm.open_log(path, name, kind="patches") as reader:
            found = [[patches.from_operation(tuple(each)) for each in patch] for patch in reader]
    assert found == log


@pytest.mark.parametrize("name", ["nq", "trig"])
@given(data=st.data())
def test_logs_of_other_programs_are_continued(name, data):
    """Such logs may have other line breaks, comments, or no line feed at the end."""
    log = data.draw(logs_for(name))
    addition = data.draw(logs_for(name))
    dialect = data.draw(st.sampled_from(["comment", "directive"]))
    text = formats.find(name).encode(as_batch(log), dialect=dialect)
    delimiter = b"# @message" if dialect == "comment" else b"MESSAGE"
    text += data.draw(st.sampled_from([b"", b"\n", b"# a comment", b" \n\n", delimiter, b"\n#"]))
    line_break = data.draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    if data.draw(st.booleans()):
        text = text.removesuffix(b"\n")
    text = text.replace(b"\n", line_break)
    existing = decoded(name, text, **READ_OPTIONS.get(name, {}))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log")
        path.write_bytes(text)
        append(path, name, [addition])
        found = path.read_bytes()
    if text.strip():  # otherwise the log is replaced like an empty file
        assert found.startswith(text) or not addition
    assert_same(decoded(name, found, **READ_OPTIONS.get(name, {})), existing + addition)
