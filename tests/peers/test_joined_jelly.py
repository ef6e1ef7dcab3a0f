"""Jelly-JVM reads logs with restart frames, joined logs and appended logs as rdfm does."""

import itertools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from logs import logs
from samples import LOG_NAMES, generated, log_of, lowercase_languages
from support import as_batch, assert_same, decoded, encode

import rdfm
from rdfm import formats

pytestmark = pytest.mark.peers

TABLE_SIZES = {
    "big": {"name_table": 4000, "prefix_table": 150, "datatype_table": 32},
    "tiny": {"name_table": 8, "prefix_table": 4, "datatype_table": 1},
    "no-prefixes": {"name_table": 8, "prefix_table": 0, "datatype_table": 8},
}
QUAD = (("iri", "http://e/s"), ("iri", "http://e/p"), ("iri", "http://e/o"), None)


def physical_types(log):
    """Returns the Jelly types that can represent a log."""
    graphs = any(quad[3] for message in log for quad in message)
    return ["quads", "graphs"] if graphs else ["triples", "quads", "graphs"]


def written(log, **options):
    """Returns the log as Jelly, with a restart frame for each message."""
    return encode(
        "jelly", log, **{"restart_bytes": 1, "generalized": True, "rdf_star": True, **options}
    )


def appended(path, data, batches):
    """Returns the bytes of a log after a second run has appended the batches."""
    path.write_bytes(data)
    with rdfm.create_log(path, append=True) as log:
        for batch in batches:
            log.write_batch(batch)
    return path.read_bytes()


def assert_read_alike(jvm, data, expected):
    """Checks that Jelly-JVM and rdfm read the expected messages."""
    assert_same(lowercase_languages(jvm.messages(data, "jelly")), lowercase_languages(expected))
    assert_same(lowercase_languages(decoded("jelly", data)), lowercase_languages(expected))


@pytest.mark.parametrize("tables", TABLE_SIZES.values(), ids=TABLE_SIZES)
@pytest.mark.parametrize("name", LOG_NAMES)
def test_jelly_jvm_reads_restarts_joined_logs_and_appended_logs(jvm, tmp_path, name, tables):
    log = log_of(name)
    for physical in physical_types(log):
        data = written(log, physical_type=physical, **tables)
        assert_read_alike(jvm, data, log)
        assert_read_alike(jvm, data + data, log + log)
        assert_read_alike(jvm, appended(tmp_path / "log.jelly", data, [as_batch(log)]), log + log)


@pytest.mark.parametrize("physical", ["triples", "quads", "graphs"])
@given(data=st.data())
def test_jelly_jvm_reads_random_joined_logs(jvm, physical, data):
    first, second = (
        data.draw(logs(graphs=physical != "triples", generalized=True, plain="terms"))
        for _ in range(2)
    )
    assume(first and second)
    joined = b"".join(written(log, physical_type=physical) for log in (first, second))
    assert_read_alike(jvm, joined, first + second)


@pytest.mark.parametrize("log", [[[], [QUAD], [QUAD]], [[], []], [[QUAD], [], [QUAD]]])
def test_jelly_jvm_reads_restarts_after_an_empty_message(jvm, tmp_path, log):
    data = written(log)
    assert_read_alike(jvm, data + data, log + log)
    assert_read_alike(jvm, appended(tmp_path / "log.jelly", data, [as_batch(log)]), log + log)


def test_jelly_jvm_reads_restarts_with_namespaces(jvm, tmp_path):
    text = b"@prefix e: <http://e/> . e:s e:p e:o .\n# @message\n@prefix f: <http://f/> . f:s e:p e:o ."
    batch = formats.find("trig").decode(text)
    log = decoded("trig", text)
    data = formats.find("jelly").encode(batch, namespaces=True, restart_bytes=1)
    assert_read_alike(jvm, data + data, log + log)
    assert_read_alike(jvm, appended(tmp_path / "log.jelly", data, [batch]), log + log)


def test_logs_of_several_sources_can_be_joined(jvm, tmp_path):
    """Sensor readings, map data and nanopublications, each written separately."""
    sources = [log_of(name) for name in ("iot", "osm", "nanopubs")]
    parts = [written(log, physical_type="quads") for log in sources]
    for order in itertools.permutations(range(3)):
        expected = [message for at in order for message in sources[at]]
        assert_read_alike(jvm, b"".join(parts[at] for at in order), expected)


def test_rdfm_appends_to_logs_of_jelly_jvm(jvm, tmp_path):
    log = log_of("nanopubs")
    text = "".join(
        "--- message\n" + encode("nq", [message], dialect="plain").decode() for message in log
    )
    sizes = TABLE_SIZES["big"].values()
    converted = jvm.convert(text.encode(), "messages", "jelly", "quads", "all", *sizes)
    batch = as_batch(log)
    assert_read_alike(jvm, appended(tmp_path / "log.jelly", converted, [batch, batch]), log * 3)


def test_jelly_jvm_reads_a_log_with_a_restart_every_64_kib(jvm):
    """Many restarts between messages that share terms."""
    text = "# @message\n".join(generated("iot", 3000)).encode()
    batch = formats.find("nq").decode(text)
    data = formats.find("jelly").encode(batch, restart_bytes=64 * 1024)
    assert data.count(b"rdfm.restart") > 2
    assert_same(jvm.messages(data, "jelly"), decoded("nq", text))
