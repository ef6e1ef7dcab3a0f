"""Converting real files through every pair of formats preserves the messages and their order."""

import gzip
from pathlib import Path

import pytest
import suites
from support import MULTI_MESSAGE_FORMATS, NATIVE, assert_same, ordered

import rdfm
from rdfm import formats

DATA = suites.path("data")
pytestmark = pytest.mark.slow

# Number of files in each folder.
FOLDERS = {
    "logs": 3,
    "nanopubs": 8,
    "riverbench/nanopubs": 5,
    "riverbench/officegraph": 5,
    "riverbench/osm2rdf-denmark": 5,
}
SUFFIXES = {".trig": "trig", ".ttl": "ttl", ".nt": "nt", ".nq": "nq", ".jelly": "jelly"}


def files() -> list[Path]:
    found = [path for folder in FOLDERS for path in sorted((DATA / folder).glob("*"))]
    return [*found, DATA / "jelly" / "quads_stream_with_metadata.jelly"]


def test_all_files_are_found():
    for folder, count in FOLDERS.items():
        assert len(list((DATA / folder).glob("*"))) == count, folder


def decode_log(data: bytes, name: str, **options) -> rdfm.MessageBatch:
    return formats.find(name).decode(data, **options)


def tuples(batch):
    from support import quads_of

    return [quads_of(batch, at) for at in range(len(batch))]


def read_options(name: str) -> dict:
    return {"generalized": True} if name in ("nt", "nq") else {}


def supported_formats(batch) -> list[str]:
    return [
        name
        for name in (NATIVE if len(batch) == 1 else MULTI_MESSAGE_FORMATS)
        if not batch.has_graphs or formats.find(name).spec.carries["graphs"]
    ]


@pytest.mark.parametrize("path", files(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_round_trips_through_every_pair_of_formats_preserve_messages(path):
    options = {"lenient": True} if path.parent.name == "logs" else {}
    source = decode_log(path.read_bytes(), SUFFIXES[path.suffix], **options)
    expected = tuples(source)
    assert expected
    targets = supported_formats(source)
    for first in targets:
        intermediate = decode_log(formats.find(first).encode(source), first, **read_options(first))
        for second in targets:
            written = formats.find(second).encode(intermediate)
            found = tuples(decode_log(written, second, **read_options(second)))
            assert_same(found, expected, order=ordered(first, second))


def test_a_flat_jelly_log_of_many_frames_is_one_message():
    """One message of 100,000 triples in many frames, converted to other formats and back.

    Only formats that keep the order of quads are tested.
    """
    data = gzip.decompress((DATA / "jelly" / "assist-iot-weather_100kt.jelly.gz").read_bytes())
    source = decode_log(data, "jelly", frames="message")
    assert (len(source), source.quad_count) == (395, 100_000)
    flat_log = decode_log(data, "jelly")
    assert (len(flat_log), flat_log.quad_count) == (1, 100_000)
    for batch in (source, flat_log):
        expected = formats.find("nt").encode(batch)
        for name in filter(ordered, NATIVE if len(batch) == 1 else MULTI_MESSAGE_FORMATS):
            written = formats.find(name).encode(batch)
            decoded = decode_log(written, name, **read_options(name))
            assert decoded.quad_counts() == batch.quad_counts()
            assert formats.find("nt").encode(decoded) == expected
