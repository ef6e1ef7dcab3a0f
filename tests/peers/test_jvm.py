"""Logs exchanged with Jena and Jelly-JVM in both directions."""

import gzip
import json
import re

import pytest
import suites
from datasets import datasets
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonld_documents import BASE
from jsonld_reading import Outcome, batches, compare, normalized, well_formed
from logs import logs
from nquads import isomorphic, read_expected, read_quads, relabelled
from samples import LOG_NAMES, generated, log_of, lowercase_languages, merge, text_cases
from support import FIXTURES, assert_same, decoded, encode

from rdfm import formats

pytestmark = pytest.mark.peers

# Sizes of the name, prefix and datatype tables.
BIG, TINY, NO_PREFIXES = (4000, 150, 32), (8, 4, 1), (16, 0, 8)
DELIMITER = "--- message\n"


def physical_types(log):
    """Returns the Jelly types that can represent a log."""
    graphs = any(quad[3] for message in log for quad in message)
    return ["quads", "graphs"] if graphs else ["triples", "quads", "graphs"]


def jelly(log, physical, tables):
    """Returns the log as Jelly written by rdfm."""
    names, prefixes, datatypes = tables
    sizes = {"name_table": names, "prefix_table": prefixes, "datatype_table": datatypes}
    return encode("jelly", log, physical_type=physical, generalized=True, rdf_star=True, **sizes)


def messages_text(log):
    """Returns the log in the JVM's format "messages"."""
    return "".join(
        DELIMITER + encode("nq", [message], dialect="plain").decode() for message in log
    ).encode()


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("*/*.jelly")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_jelly_jvm_reads_fixtures_like_rdfm(jvm, path):
    found = jvm.messages(path.read_bytes(), "jelly")
    if path.stem == "flat":  # Jelly-JVM returns this log frame by frame
        found = [merge(found)]
    expected = read_expected(path.parent / "expected.txt")
    assert_same(lowercase_languages(found), lowercase_languages(expected))


def assert_round_trip(jvm, log, physical, tables):
    """Checks that each side reads the output of the other."""
    written = jelly(log, physical, tables)
    assert_same(lowercase_languages(jvm.messages(written, "jelly")), lowercase_languages(log))
    converted = jvm.convert(written, "jelly", "jelly", physical, "all", *tables)
    assert_same(
        lowercase_languages(decoded("jelly", converted)), lowercase_languages(log, directions=False)
    )


@pytest.mark.parametrize("tables", [BIG, TINY, NO_PREFIXES], ids=["big", "tiny", "no-prefixes"])
@pytest.mark.parametrize("name", LOG_NAMES)
def test_jelly_round_trips_through_jelly_jvm(jvm, name, tables):
    log = log_of(name)
    for physical in physical_types(log):
        assert_round_trip(jvm, log, physical, tables)


@pytest.mark.parametrize("tables", [BIG, TINY, NO_PREFIXES], ids=["big", "tiny", "no-prefixes"])
@pytest.mark.parametrize("name", [name for name in LOG_NAMES if name != "generalized"])
def test_rdfm_reads_the_output_of_jelly_jvm(jvm, name, tables):
    log = log_of(name)
    for physical in physical_types(log):
        converted = jvm.convert(messages_text(log), "messages", "jelly", physical, "all", *tables)
        expected = lowercase_languages(log, directions=False)
        assert_same(lowercase_languages(decoded("jelly", converted)), expected)
        assert_same(lowercase_languages(jvm.messages(converted, "jelly")), expected)


@pytest.mark.parametrize("physical", ["triples", "quads", "graphs"])
@given(data=st.data())
def test_random_jelly_round_trips_through_jelly_jvm(jvm, physical, data):
    log = data.draw(logs(graphs=physical != "triples", generalized=True, plain="terms"))
    assume(log)
    assert_round_trip(jvm, log, physical, BIG)


def assert_as_compact(jvm, capsys, name, messages, physical):
    """Checks that Jelly-JVM reads rdfm's output, which is at most 1% larger than Jelly-JVM's."""
    text = "".join(DELIMITER + message for message in messages).encode()
    batch = formats.find("nq").decode("# @message\n".join(messages).encode())
    written = formats.find("jelly").encode(batch, physical_type=physical)
    assert jvm.convert(written, "jelly", "messages") == jvm.convert(text, "messages", "messages")
    converted = jvm.convert(text, "messages", "jelly", physical, "strict", *BIG)
    ours, theirs = len(written) / batch.quad_count, len(converted) / batch.quad_count
    with capsys.disabled():
        print(f"\n{name} {physical}: rdfm {ours:.3f}, Jelly-JVM {theirs:.3f} bytes per quad")
    assert ours <= 1.01 * theirs


@pytest.mark.parametrize("physical", ["triples", "quads", "graphs"])
@pytest.mark.parametrize(("name", "count"), [("osm", 2000), ("iot", 5000)])
def test_rdfm_encodes_triples_as_compactly_as_jelly_jvm(jvm, capsys, name, count, physical):
    assert_as_compact(jvm, capsys, name, generated(name, count), physical)


@pytest.mark.parametrize("physical", ["quads", "graphs"])
def test_rdfm_encodes_quads_as_compactly_as_jelly_jvm(jvm, capsys, physical):
    assert_as_compact(jvm, capsys, "nanopubs", generated("nanopubs", 1000), physical)


def real_logs():
    """Yields real logs: name, format, bytes."""
    weather = suites.path("data", "jelly", "assist-iot-weather_100kt.jelly.gz")
    yield "weather", "jelly", gzip.decompress(weather.read_bytes())
    samples = sorted(suites.path("data", "riverbench", "osm2rdf-denmark").glob("*.ttl"))
    yield "osm2rdf", "ttl", b"\n# @message\n".join(path.read_bytes() for path in samples)


@pytest.mark.suites
def test_rdfm_encodes_real_logs_as_compactly_as_jelly_jvm(jvm, capsys):
    for name, format, data in real_logs():
        log = formats.find(format).decode(data)
        messages = ["".join(f"{quad}\n" for quad in log.quads(at)) for at in range(len(log))]
        assert_as_compact(jvm, capsys, name, messages, "triples")


@pytest.mark.parametrize(("name", "format"), [*text_cases("nt", "nq", "ttl", "trig")])
def test_text_round_trips_through_jena(jvm, name, format):
    log = lowercase_languages(log_of(name))
    written = encode(format, log_of(name), dialect="comment")
    assert relabelled(*lowercase_languages([jvm.quads(written, format)])) == relabelled(merge(log))
    converted = lowercase_languages(decoded(format, jvm.convert(written, format, format)))
    assert relabelled(merge(converted)) == relabelled(merge(log))


@pytest.mark.parametrize(("name", "format"), [*text_cases("ttl", "trig")])
def test_rdfm_reads_pretty_printed_output_of_jena(jvm, name, format):
    for message in log_of(name)[:10]:
        pretty = jvm.convert(encode("nq", [message]), "nq", f"{format}-pretty")
        found = merge(lowercase_languages(decoded(format, pretty)))
        assert isomorphic(found, merge(lowercase_languages([message])))


@pytest.mark.parametrize("format", ["nt", "nq", "ttl", "trig"])
@given(data=st.data())
def test_random_text_round_trips_through_jena(jvm, format, data):
    message = merge(data.draw(logs(graphs=format in ("nq", "trig"), plain="terms")))
    written = encode(format, [message])
    # In Turtle and TriG, Jena removes dot segments even from absolute IRIs.
    assume(format in ("nt", "nq") or not re.search(rb"/\.{1,2}[/?#>]", written))
    expected = relabelled(merge(lowercase_languages([message])))
    assert relabelled(merge(lowercase_languages([jvm.quads(written, format)]))) == expected
    converted = decoded(format, jvm.convert(written, format, format))
    assert relabelled(merge(lowercase_languages(converted))) == expected


@pytest.mark.parametrize(("name", "format"), [*text_cases("ttl", "trig")])
def test_jena_reads_pretty_output(jvm, name, format):
    for message in log_of(name):
        found = jvm.quads(encode(format, [message], pretty=True), format)
        expected = merge(lowercase_languages([message]))
        assert isomorphic(set(merge(lowercase_languages([found]))), set(expected))


@pytest.mark.parametrize("format", ["ttl", "trig"])
@given(data=st.data())
def test_jena_reads_random_pretty_output(jvm, format, data):
    message = data.draw(datasets(graphs=format == "trig"))
    found = jvm.quads(encode(format, [message], pretty=True), format)
    assert isomorphic(set(found), set(message))


def outcome(text):
    """Returns Jena's result for a JSON-LD document."""
    if not text.startswith("#"):
        return Outcome(normalized(well_formed(read_quads(text))))
    code = re.search(r"code=([A-Z_]+)\]", text)
    return Outcome(None, text, code and code[1])


@pytest.mark.parametrize("numbers", batches(), ids=str)
def test_rdfm_reads_json_ld_like_jena(jvm, numbers):
    def read(documents):
        data = "".join(json.dumps(document) + "\n" for document in documents).encode()
        answers = jvm.convert(data, "jsonld-lines", "messages", BASE).decode()
        return [outcome(text) for text in answers.split(DELIMITER)[1:]]

    compare("Jena", numbers, read)
