"""Jena and Jelly-JVM read packages written by rdfm."""

import gzip
import tarfile

import pytest
from nquads import read_quads
from samples import generated, log_of, lowercase_languages
from support import FIXTURES, assert_same, encode

from rdfm.riverbench import package

pytestmark = pytest.mark.peers

STREAM_TYPES = {"nanopubs": "datasets", "graphs": "datasets", "iot": "graphs", "literals": "graphs"}
SUFFIXES = {"datasets": ("nq", "trig"), "graphs": ("nt", "ttl")}


@pytest.fixture(scope="module", params=STREAM_TYPES)
def packaged(request, tmp_path_factory):
    """A package, its stream type, and its messages."""
    log = log_of(request.param)
    folder = tmp_path_factory.mktemp("packages") / "package"
    stream_type = STREAM_TYPES[request.param]
    package(encode("nq", log), folder, stream_type=stream_type, format="nq")
    # Packages omit repeated quads.
    return folder, stream_type, [list(dict.fromkeys(message)) for message in log]


def test_jelly_jvm_reads_jelly_files(jvm, packaged):
    folder, _, expected = packaged
    data = gzip.decompress((folder / "jelly_full.jelly.gz").read_bytes())
    assert_same(
        lowercase_languages(jvm.messages(data, "jelly")), lowercase_languages(expected), order=False
    )


def test_jena_reads_archive_members(jvm, packaged):
    folder, stream_type, expected = packaged
    _, suffix = SUFFIXES[stream_type]
    with tarfile.open(folder / "stream_full.tar.gz") as archive:
        found = [jvm.quads(archive.extractfile(each).read(), suffix) for each in archive]
    assert_same(lowercase_languages(found), lowercase_languages(expected), order=False)


def test_jena_reads_the_messages_of_flat_files(jvm, packaged):
    folder, stream_type, expected = packaged
    suffix, _ = SUFFIXES[stream_type]
    text = gzip.decompress((folder / f"flat_full.{suffix}.gz").read_bytes()).decode()
    announcement, _, rest = text.partition("\n")
    assert announcement == 'VERSION "1.1-messages"'
    found = [jvm.quads(each.encode(), suffix) for each in rest.split("MESSAGE\n")]
    assert_same(lowercase_languages(found), lowercase_languages(expected), order=False)


def test_jena_reads_plain_flat_files(jvm, tmp_path):
    texts = generated("iot", 20)
    data = "# @message\n".join(texts).encode()
    package(data, tmp_path / "p", stream_type="graphs", format="nt", plain_flat=True)
    found = jvm.quads(gzip.decompress((tmp_path / "p/flat_full.nt.gz").read_bytes()), "nt")
    assert len(found) == sum(len(read_quads(text)) for text in texts)
    assert len({quad[0] for quad in found}) == 40  # blank nodes of messages stay distinct


def test_jena_reads_the_metadata(jvm, tmp_path):
    package(FIXTURES / "nanopubs/log.trig", tmp_path / "p", stream_type="datasets")
    found = jvm.quads((tmp_path / "p/package_metadata.ttl").read_bytes(), "ttl")
    distribution = ("iri", "http://www.w3.org/ns/dcat#distribution")
    assert sum(quad[1] == distribution for quad in found) == 3
