"""`package` writes the files that RiverBench documents, and other libraries can read them."""

import gzip
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pyoxigraph as ox
import pytest
import rdflib
import riverbench
from nquads import isomorphic, read_quads
from pyjelly.integrations.generic.parse import parse_jelly_grouped
from riverbench import DCAT, RB, SPDX
from support import FIXTURES

import rdfm as rdfm_package
from rdfm import DecodeError, EncodeError, OptionError, open_log, statistics
from rdfm._core import StreamRules, TripleTerm
from rdfm.riverbench import check, package
from rdfm.riverbench.declared import COMMENT, Facts
from rdfm.riverbench.names import create_sizes, levels, member_name

XSD = "http://www.w3.org/2001/XMLSchema#"
NANOPUBS = FIXTURES / "nanopubs" / "log.trig"
EMPTY_AND_FULL = b"# @message\n<http://ex/s> <http://ex/p> <http://ex/o> .\n# @message\n"


def message(number):
    node = f"<http://ex/{number}>"
    return (
        f'{node} <http://ex/p> "v{number % 7}" .\n{node} <http://ex/q> _:b .\n'
        f'_:b <http://ex/r> "{number}"^^<{XSD}integer> .\n'
    )


def log_of(count, text=message):
    return "# @message\n".join(map(text, range(count))).encode()


def short_message(number):
    return f'<http://ex/{number}> <http://ex/p> "{number % 977}" .\n'


def content(path):
    return gzip.decompress(path.read_bytes())


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def flat_messages(folder, name):
    """Returns the messages of a flat file, split at its delimiter lines."""
    first, *parts = content(folder / name).decode().split("\n", 1)
    assert first.startswith('VERSION "')
    text = parts[0]
    messages = text.split("MESSAGE\n")
    if len(messages) > 1 and messages[-1] == "":
        messages.pop()  # the delimiter that follows an empty last message
    return [read_quads(each) for each in messages]


def archived(folder, name):
    """Returns the names and contents of the members of an archive."""
    with tarfile.open(folder / name, "r:gz") as archive:
        return {each.name: archive.extractfile(each).read() for each in archive if each.isfile()}


def assert_same_messages(found, expected):
    assert len(found) == len(expected)
    for number, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert isomorphic(a, b), number


def oxigraph_quads(data, format):
    return read_quads("".join(riverbench.line(quad) for quad in ox.parse(data, format)))


def source_messages(path):
    with open_log(path) as log:
        return [read_quads("".join(f"{quad}\n" for quad in each)) for each in log]


@pytest.fixture(scope="module")
def nanopubs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nanopubs") / "package"
    result = package(NANOPUBS, folder, stream_type="datasets")
    return folder, result, source_messages(NANOPUBS)


# --- the files, read by other libraries ---


def test_flat_files_are_n_quads_with_announced_messages(nanopubs):
    folder, _, expected = nanopubs
    assert content(folder / "flat_full.nq.gz").startswith(b'VERSION "1.1-messages"\n')
    assert_same_messages(flat_messages(folder, "flat_full.nq.gz"), expected)


def test_archives_are_read_by_tarfile_and_oxigraph(nanopubs):
    folder, _, expected = nanopubs
    files = archived(folder, "stream_full.tar.gz")
    assert list(files) == [f"{number:010}.trig" for number in range(len(expected))]
    found = [oxigraph_quads(text, ox.RdfFormat.TRIG) for text in files.values()]
    assert_same_messages(found, expected)
    assert files["0000000002.trig"] == b""  # an empty message is an empty file
    with tarfile.open(folder / "stream_full.tar.gz") as archive:
        assert {each.mtime for each in archive} == {0}


def test_jelly_files_are_read_by_pyjelly(nanopubs):
    folder, _, expected = nanopubs
    frames = [
        [str(quad) for quad in sink]
        for sink in parse_jelly_grouped(io.BytesIO(content(folder / "jelly_full.jelly.gz")))
    ]
    assert [len(frame) for frame in frames] == [len(each) for each in expected]
    with open_log(folder / "jelly_full.jelly.gz") as log:
        options = log.header["options"]
        assert len(list(log)) == len(expected)
    assert (options["physical_type"], options["logical_type"]) == ("quads", "datasets")
    assert [options[name] for name in ("name_table", "prefix_table", "datatype_table")] == [
        4000,
        150,
        32,
    ]
    assert not options.get("generalized")
    assert not options.get("rdf_star")


def test_each_sample_is_the_message_with_the_number_in_its_name(tmp_path):
    package(log_of(12), tmp_path / "p", stream_type="graphs", format="nt")
    files = archived(tmp_path / "p", "stream_full.tar.gz")
    assert (tmp_path / "p/sample_0000000010.ttl").read_bytes() == files["0000000010.ttl"]
    assert (tmp_path / "p/sample_0000000100.ttl").read_bytes() == b""
    samples = sorted(path.name for path in (tmp_path / "p").glob("sample_*"))
    assert samples == [f"sample_{n:010}.ttl" for n in (0, 10, 100, 1000, 10_000)]


def test_quads_are_sorted_as_jena_sorts_strings(tmp_path):
    objects = [
        '"b"',
        '"a"@en',
        '"a"',
        '"a\\"x"',
        f'"a"^^<{XSD}token>',
        "<http://ex/\U0001f600>",
        "<http://ex/\uff5e>",
        "_:b0",
        "<http://ex/a>",
        '"\U0001f600"',
        '"\uff5e"',
    ]
    lines = [f"<http://ex/s> <http://ex/p> {each} .\n" for each in objects]
    lines += ["<http://ex/s> <http://ex/o> <http://ex/x> .\n", lines[0]]
    lines += [line.replace(" .\n", " <http://ex/g> .\n") for line in lines]
    lines += [line.replace("ex/s>", "ex/a>") for line in lines]
    package("".join(lines).encode(), tmp_path / "p", stream_type="datasets", format="nq")
    _, *found = content(tmp_path / "p/flat_full.nq.gz").decode().splitlines(keepends=True)
    expected = sorted(riverbench.parse("".join(lines).encode()), key=riverbench.key)
    assert found == [riverbench.line(quad) for quad in expected]


def test_repeated_quads_are_omitted(tmp_path):
    text = "<http://ex/s> <http://ex/p> <http://ex/o> .\n"
    result = package((text * 3).encode(), tmp_path / "p", stream_type="graphs", format="nt")
    assert (result.statements, result.repeated) == (1, 2)
    assert content(tmp_path / "p/flat_full.nt.gz").decode() == f'VERSION "1.1-messages"\n{text}'


@pytest.mark.parametrize("count", [1, 1000, 1001])
def test_folders_in_archives_depend_on_the_number_of_messages(tmp_path, count):
    package(log_of(count, short_message), tmp_path / "p", stream_type="graphs", format="nt")
    names = list(archived(tmp_path / "p", "stream_full.tar.gz"))
    assert names == [riverbench.path_of(number, count, "ttl") for number in range(count)]
    assert not list((tmp_path / "p").glob("*.old"))


@pytest.mark.parametrize("number", [999, 1000, 999_999, 1_000_000, 999_999_999, 1_000_000_000])
def test_archive_member_names_follow_the_documentation(number):
    size = number + 1
    assert member_name(number, levels(size), "ttl") == riverbench.path_of(number, size, "ttl")


def test_a_size_equal_to_the_number_of_messages_is_included():
    assert create_sizes(9_999) == {"full": 9_999}
    assert create_sizes(100_000) == {"10K": 10_000, "100K": 100_000, "full": 100_000}


@pytest.fixture(scope="module")
def two_sizes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sizes") / "package"
    package(log_of(10_500, short_message), folder, stream_type="graphs", format="nt")
    return folder


@pytest.mark.slow
def test_partial_distributions_are_packages_of_the_first_messages(two_sizes, tmp_path):
    package(log_of(10_000, short_message), tmp_path / "p", stream_type="graphs", format="nt")
    for name in ("flat_10K.nt.gz", "stream_10K.tar.gz", "jelly_10K.jelly.gz"):
        data = (two_sizes / name).read_bytes()
        assert data == (tmp_path / "p" / name).read_bytes()
        full = (tmp_path / "p" / name.replace("10K", "full")).read_bytes()
        assert gzip.decompress(data) == gzip.decompress(full)
    assert len(archived(two_sizes, "stream_full.tar.gz")) == 10_500


@pytest.mark.slow
def test_partial_distributions_can_end_with_an_empty_message(tmp_path):
    texts = [b""] * 10_001
    texts[5] = b"<http://ex/s> <http://ex/p> <http://ex/o> .\n"
    log = b"# @message\n" + b"# @message\n".join(texts) + b"# @message\n"
    package(log, tmp_path / "p", stream_type="graphs", format="nt")
    for name, count in (("flat_10K.nt.gz", 10_000), ("flat_full.nt.gz", 10_001)):
        with open_log(tmp_path / "p" / name) as found:
            assert sum(1 for _ in found) == count


@pytest.mark.slow
def test_partial_distributions_have_separate_statistics(two_sizes):
    graph = rdflib.Graph().parse(two_sizes / "package_metadata.ttl")
    base = "https://w3id.org/riverbench/temp"
    for size, count in (("10k", 10_000), ("full", 10_500)):
        node = rdflib.URIRef(f"{base}#stream-{size}")
        assert graph.value(node, RB.hasStreamElementCount).toPython() == count
        sets = graph.value(node, RB.hasStatisticsSet)
        assert sets == rdflib.URIRef(f"{base}#statistics-{size}")
        sums = {
            graph.value(each, rdflib.RDF.type): graph.value(each, RB["sum"])
            for each in graph.objects(sets, RB.hasStatistics)
        }
        assert len(sums) == 15
        assert sums[RB.StatementCountStatistics].toPython() == count


def test_empty_messages_are_packaged(tmp_path):
    log = b"# @message\n# @message\n<http://ex/s> <http://ex/p> <http://ex/o> .\n# @message\n# @message\n"
    result = package(log, tmp_path / "p", stream_type="graphs", format="nt")
    with open_log(log, "nt") as expected:
        assert result.messages == sum(1 for _ in expected)
    for name in ("flat_full.nt.gz", "jelly_full.jelly.gz"):
        with open_log(tmp_path / "p" / name) as found:
            assert [len(each) for each in found] == [0, 1, 0]
    assert list(map(len, archived(tmp_path / "p", "stream_full.tar.gz").values()))[::2] == [0, 0]


# --- metadata ---


def test_the_metadata_describes_the_files(nanopubs):
    folder, result, expected = nanopubs
    graph = rdflib.Graph().parse(folder / "package_metadata.ttl")
    (dataset,) = set(graph.subjects(DCAT.distribution))
    found = set(graph.objects(dataset, DCAT.distribution))
    assert len(found) == 3 == len(result.distributions)
    for node in found:
        data = (folder / graph.value(node, RB.hasFileName)).read_bytes()
        assert graph.value(node, DCAT.byteSize).toPython() == len(data)
        assert graph.value(node, RB.hasStreamElementCount).toPython() == len(expected)
        sums = {
            str(graph.value(each, SPDX.algorithm))[-4:]: str(graph.value(each, SPDX.checksumValue))
            for each in graph.objects(node, SPDX.checksum)
        }
        assert sums == {
            "_md5": hashlib.md5(data).hexdigest(),
            "sha1": hashlib.sha1(data).hexdigest(),
        }


def facts_of(folder):
    """Returns the facts in a package's metadata, without sizes and checksums."""
    graph = rdflib.Graph().parse(folder / "package_metadata.ttl")
    skipped = {DCAT.byteSize, SPDX.checksumValue, riverbench.RBDOC.hasDocWeight}
    void = rdflib.Namespace("http://rdfs.org/ns/void#")
    found = set()
    for s, p, o in graph:
        if p not in skipped and not isinstance(s, rdflib.BNode) and not isinstance(o, rdflib.BNode):
            name = str(s).rpartition("#")[2]
            value = str(o).rpartition("#")[2] if isinstance(o, rdflib.URIRef) else o.toPython()
            if p not in void and not (name.startswith("statistics") and p == rdflib.DCTERMS.title):
                found.add((name, str(p), value))
    for node in graph.subjects(RB["mean"]):
        kind = str(graph.value(node, rdflib.RDF.type))
        for p, o in graph.predicate_objects(node):
            if isinstance(o, rdflib.Literal) and p not in skipped:
                found.add((kind, str(p), round(float(o), 4)))
    return found


def test_the_metadata_equals_that_of_an_independent_writer(tmp_path):
    texts = [message(number) for number in range(12)]
    riverbench.write_package(tmp_path / "a", texts)
    package("# @message\n".join(texts).encode(), tmp_path / "b", stream_type="graphs", format="nt")
    assert facts_of(tmp_path / "b") == facts_of(tmp_path / "a")
    assert set(files_of(tmp_path / "a")) == set(files_of(tmp_path / "b"))


def test_the_statistics_equal_those_of_inspect(nanopubs):
    _, result, _ = nanopubs
    expected = statistics(NANOPUBS, top=None)
    assert result.statistics.series == expected.series
    assert result.statistics.predicates == expected.predicates
    assert len(expected.predicates.counts) == 17


def test_the_metadata_lists_all_predicates(nanopubs):
    folder, result, _ = nanopubs
    graph = rdflib.Graph().parse(folder / "package_metadata.ttl")
    void = rdflib.Namespace("http://rdfs.org/ns/void#")
    found = {
        str(graph.value(each, void.property)): graph.value(each, void.triples).toPython()
        for each in graph.objects(None, void.propertyPartition)
    }
    assert found == result.statistics.predicates.counts


def test_the_dataset_can_have_the_iri_of_a_release(tmp_path):
    iri = "https://w3id.org/riverbench/datasets/x/dev"
    package(log_of(1), tmp_path / "p", stream_type="graphs", format="nt", iri=iri)
    graph = rdflib.Graph().parse(tmp_path / "p/package_metadata.ttl")
    found = {str(each) for each in graph.objects(rdflib.URIRef(iri), DCAT.distribution)}
    assert found == {f"{iri}#{kind}-full" for kind in ("flat", "stream", "jelly")}


# --- determinism ---


def test_packages_are_reproducible(tmp_path, nanopubs):
    folder, _, _ = nanopubs
    package(NANOPUBS, tmp_path / "again", stream_type="datasets")
    assert files_of(tmp_path / "again") == files_of(folder)


def test_the_division_into_batches_does_not_change_the_output(tmp_path, monkeypatch):
    log = log_of(30)

    class SmallReads(io.RawIOBase):
        """A file that returns a few bytes per read, so that batches are small."""

        name = "slow"

        def __init__(self):
            self.rest = io.BytesIO(log)

        def readable(self):
            return True

        def readinto(self, buffer):
            data = self.rest.read(min(len(buffer), 700))
            buffer[: len(data)] = data
            return len(data)

    package(log, tmp_path / "a", stream_type="graphs", format="nt")
    package(SmallReads(), tmp_path / "b", stream_type="graphs", format="nt")
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


# --- plain flat files ---


def test_plain_flat_files_have_no_boundaries(tmp_path):
    result = package(log_of(3), tmp_path / "p", stream_type="graphs", format="nt", plain_flat=True)
    data = content(tmp_path / "p/flat_full.nt.gz")
    assert b"MESSAGE" not in data
    assert b"VERSION" not in data
    assert len(list(ox.parse(data, ox.RdfFormat.N_TRIPLES))) == 9
    assert (
        len(
            {
                quad.object
                for quad in ox.parse(data, ox.RdfFormat.N_TRIPLES)
                if isinstance(quad.object, ox.BlankNode)
            }
        )
        == 3
    )
    assert result.statistics.series["byte_density"].sum is None
    with_boundaries = package(log_of(3), tmp_path / "q", stream_type="graphs", format="nt")
    densities = [each.statistics.series["byte_density"].mean for each in (result, with_boundaries)]
    assert densities[1] - densities[0] == pytest.approx(8 / 3)


# --- stream types ---


def assert_rejected(tmp_path, text, sentence, **options):
    with pytest.raises(EncodeError) as error:
        package(text.encode(), tmp_path / "p", format="nq", **options)
    assert str(error.value) == sentence
    assert list(tmp_path.iterdir()) == []


TRIPLE = "<http://ex/s> <http://ex/p> <http://ex/o>"


def test_a_named_graph_in_a_graph_stream_is_rejected(tmp_path):
    assert_rejected(
        tmp_path,
        f"{TRIPLE} .\n# @message\n{TRIPLE} <http://ex/g> .\n",
        "bytes: the message has the named graph 'http://ex/g', expected only a default graph, since the stream "
        'type is graphs; stream_type="datasets" accepts messages with any graphs (message 1)',
        stream_type="graphs",
    )


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"{TRIPLE} .\n", "no named graph"),
        (f"{TRIPLE} <http://ex/g> .\n{TRIPLE} <http://ex/h> .\n", "2 named graphs"),
    ],
)
def test_messages_without_exactly_one_named_graph_are_rejected(tmp_path, text, count):
    assert_rejected(
        tmp_path,
        text,
        f"bytes: the message has {count}, expected exactly one, since the stream type is "
        'named-graphs; stream_type="datasets" accepts messages with any graphs (message 0)',
        stream_type="named-graphs",
    )


@pytest.mark.parametrize(("times", "count"), [((), "no value"), ((1, 2), "2 values")])
def test_messages_without_exactly_one_time_value_are_rejected(tmp_path, times, count):
    text = f'{TRIPLE} <http://ex/g> .\n<http://ex/other> <http://ex/t> "0" .\n'
    text += "".join(f'<http://ex/g> <http://ex/t> "{time}" .\n' for time in times)
    assert_rejected(
        tmp_path,
        text,
        f"bytes: the message has {count} of the time property 'http://ex/t' for its graph "
        "'http://ex/g' in the default graph, expected exactly one, since the stream type is "
        "timestamped-named-graphs (message 0)",
        stream_type="timestamped-named-graphs",
        time_property="http://ex/t",
    )


def test_timestamped_named_graphs_are_packaged(tmp_path):
    text = f'{TRIPLE} <http://ex/g> .\n<http://ex/g> <http://ex/t> "1" .\n'
    package(
        text.encode(),
        tmp_path / "p",
        format="nq",
        stream_type="timestamped-named-graphs",
        time_property="http://ex/t",
    )
    with open_log(tmp_path / "p/jelly_full.jelly.gz") as log:
        assert log.header["options"]["logical_type"] == "timestamped_named_graphs"


@pytest.mark.parametrize(
    ("text", "is_connected"),
    [
        ("<a:s> <a:p> <a:o> .\n<a:o> <a:p> <a:x> .\n", True),
        ("<a:x> <a:p> <a:y> .\n<a:s> <a:p> <a:x> .\n", True),
        ("<a:s> <a:p> <a:t> .\n<a:t> <a:p> <a:s> .\n", True),
        ("<a:s> <a:p> <a:o> .\n<a:t> <a:p> <a:o> .\n", False),
        ("", False),
    ],
)
def test_a_subject_graph_needs_a_node_that_reaches_all_others(tmp_path, text, is_connected):
    log = text.encode() or b"# @message\n# @message\n"
    if is_connected:
        package(log, tmp_path / "p", format="nt", stream_type="subject-graphs")
    else:
        expected = "has no node" if text else "is empty, expected a node"
        with pytest.raises(EncodeError) as caught:
            package(log, tmp_path / "p", format="nt", stream_type="subject-graphs")
        assert f"the message {expected} from which all others can be reached" in str(caught.value)
        assert '; stream_type="graphs" accepts messages with any nodes (' in str(caught.value)
        package(log, tmp_path / "p", format="nt", stream_type="graphs")


def test_triple_terms_are_rejected_unless_declared(tmp_path):
    text = "<http://ex/s> <http://ex/p> <<( <http://ex/a> <http://ex/b> <http://ex/c> )>> .\n"
    assert_rejected(
        tmp_path,
        text,
        "bytes: the message has a triple term, but RDF 1.2 is not declared; rdf12=True declares it (message 0)",
        stream_type="graphs",
    )
    package(text.encode(), tmp_path / "p", format="nq", stream_type="graphs", rdf12=True)
    assert content(tmp_path / "p/flat_full.nt.gz").startswith(b'VERSION "1.2-messages"\n')
    with open_log(tmp_path / "p/jelly_full.jelly.gz") as log:
        assert log.header["options"]["rdf_star"] is True


def test_base_directions_are_rejected_unless_declared(tmp_path):
    text = '<http://ex/s> <http://ex/p> "x"@en--ltr .\n'
    with pytest.raises(EncodeError, match="has the literal 'x' with a base direction"):
        package(text.encode(), tmp_path / "p", format="nq", stream_type="graphs")


def violations(text, graphs="any", **options):
    with open_log(text.encode(), "nq", generalized=True) as log:
        (batch,) = log.batches()
    _, found = StreamRules(graphs, **options).apply(batch)
    return [(index, rule, text) for index, rule, text in found]


def test_generalized_terms_are_rejected_unless_declared():
    text = '"s" <http://ex/p> <http://ex/o> .\n'
    reason = "has the literal 's' as a subject, but generalized triples are not declared"
    assert violations(text) == [(0, "generalized", reason)]
    assert violations(text, generalized_triples=True) == []
    text = '<http://ex/s> _:p <http://ex/o> "g" .\n'
    assert [each[1] for each in violations(text)] == ["generalized"]
    assert violations(text, generalized_triples=True) == [
        (
            0,
            "generalized",
            "has the literal 'g' as a graph name, but generalized datasets are not declared",
        )
    ]


@pytest.mark.parametrize(
    ("shape", "count"),
    [
        (("class", "a:C"), 1),
        (("class", "a:D"), 0),
        (("subjects-of", "a:p"), 2),
        (("objects-of", "a:p"), 1),
        (("objects-of", "a:q"), 0),
    ],
)
def test_a_subject_shape_selects_exactly_one_node(shape, count):
    text = (
        "<a:s> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <a:C> .\n"
        "<a:s> <a:p> <a:o> .\n<a:t> <a:p> <a:o> .\n"
    )
    found = violations(text, subjects=[shape])
    reasons = {0: "no node that matches", 2: "several nodes that match"}
    expected = f"has {reasons.get(count)} the subject shape, expected exactly one"
    assert found == ([] if count == 1 else [(0, "subject", expected)])


# --- the metadata of the source ---

SOURCE = """
@prefix rb: <https://w3id.org/riverbench/schema/metadata#> .
@prefix stax: <https://w3id.org/stax/ontology#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
<> a rb:Dataset ;
  rb:hasStreamElementCount %d ;
  rb:usesRdfStar %s ;
  stax:hasStreamTypeUsage
    [ a stax:RdfStreamTypeUsage ; stax:hasStreamType stax:%s ] ,
    [ a stax:RdfStreamTypeUsage ; stax:hasStreamType stax:flatTripleStream ] ;
  rb:hasStreamElementSplit [ a rb:TopicStreamElementSplit ;
    rb:hasSubjectShape [ sh:targetSubjectsOf <http://ex/p> ] ] .
"""


def source(tmp_path, count=3, rdf_star="false", stream_type="subjectGraphStream"):
    path = tmp_path / "metadata.ttl"
    path.write_text(SOURCE % (count, rdf_star, stream_type))
    return path


def test_the_metadata_of_the_source_declares_the_stream_type(tmp_path):
    path = source(tmp_path)
    package(log_of(3), tmp_path / "p", metadata=path, format="nt")
    with open_log(tmp_path / "p/jelly_full.jelly.gz") as log:
        assert log.header["options"]["logical_type"] == "subject_graphs"


def test_the_shapes_in_the_metadata_of_the_source_are_checked(tmp_path):
    path = source(tmp_path, count=1)
    log = f"{TRIPLE} .\n<http://ex/x> <http://ex/p> <http://ex/o> .\n".encode()
    with pytest.raises(
        EncodeError, match="has several nodes that match the subject shape"
    ) as caught:
        package(log, tmp_path / "p", metadata=path, format="nt")
    assert caught.value.remedies == ()  # the file declares the stream type


def test_the_metadata_of_the_source_declares_rdf_star(tmp_path):
    path = source(tmp_path, rdf_star="true")
    package(log_of(3), tmp_path / "p", metadata=path, format="nt")
    assert content(tmp_path / "p/flat_full.nt.gz").startswith(b'VERSION "1.2-messages"\n')


def test_a_wrong_number_of_messages_in_the_metadata_is_rejected(tmp_path):
    path = source(tmp_path, count=4)
    with pytest.raises(DecodeError, match=r"contains 3 messages, but .*metadata.ttl declares 4"):
        package(log_of(3), tmp_path / "p", metadata=path, format="nt")
    with pytest.raises(DecodeError, match=r"declares 4 \(.*\); correct the file$"):
        package(log_of(5), tmp_path / "p", metadata=path, format="nt")
    assert not (tmp_path / "p").exists()


def test_contradictory_stream_types_are_rejected(tmp_path):
    path = source(tmp_path)
    with pytest.raises(
        OptionError, match=r"stream_type is datasets, but .* declares subject-graphs"
    ):
        package(log_of(3), tmp_path / "p", metadata=path, stream_type="datasets", format="nt")


def test_metadata_without_a_dataset_is_rejected(tmp_path):
    path = tmp_path / "metadata.ttl"
    path.write_text("<http://ex/s> <http://ex/p> <http://ex/o> .")
    with pytest.raises(
        DecodeError, match=r"describes no datasets \(rb:Dataset\), expected exactly one"
    ):
        package(log_of(3), tmp_path / "p", metadata=path, format="nt")


# --- errors ---


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "the stream type is not given, and it cannot be inferred"),
        ({"stream_type": "triples"}, "stream_type must be one of 'graphs'"),
        ({"stream_type": "timestamped-named-graphs"}, "need a time property"),
        (
            {"stream_type": "graphs", "time_property": "http://ex/t"},
            "time_property applies to streams of named graphs, not to graphs",
        ),
        ({"stream_type": "graphs", "iri": "dataset"}, "iri is 'dataset', expected an absolute IRI"),
        ({"stream_type": "graphs", "indent": 2}, "indent"),
    ],
)
def test_invalid_options_are_rejected(tmp_path, options, sentence):
    with pytest.raises(OptionError, match=sentence):
        package(log_of(1), tmp_path / "p", format="nt", **options)
    assert list(tmp_path.iterdir()) == []


def test_a_log_without_messages_is_rejected(tmp_path):
    with pytest.raises(DecodeError, match="contains no messages, but a dataset has at least one"):
        package(b"", tmp_path / "p", stream_type="graphs", format="jelly")


def test_an_invalid_log_leaves_no_folder(tmp_path):
    with pytest.raises(DecodeError, match=r"\(.*message 3\)"):
        package(log_of(3) + b"# @message\noops", tmp_path / "p", stream_type="graphs", format="nt")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_files_is_replaced_only_on_request(tmp_path):
    (tmp_path / "p").mkdir()
    (tmp_path / "p/notes").write_text("notes")
    with pytest.raises(OptionError, match="is not empty"):
        package(log_of(1), tmp_path / "p", stream_type="graphs", format="nt")
    package(log_of(1), tmp_path / "p", stream_type="graphs", format="nt", overwrite=True)
    assert not (tmp_path / "p/notes").exists()


def test_a_log_of_patches_is_rejected(tmp_path):
    with pytest.raises(OptionError, match="contains patches, but a dataset consists of messages"):
        package(b"TX .\nTC .\n", tmp_path / "p", stream_type="graphs", format="rdf-patch")


def test_each_file_of_a_folder_can_be_a_message(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for number, text in enumerate(["<a:s> <a:p> <a:o> .", "", "<a:s> <a:p> <a:q> ."]):
        (folder / f"{number:010}.ttl").write_text(text)
    result = package(folder, tmp_path / "p", stream_type="graphs", message_per_file=True)
    assert (result.messages, result.statements) == (3, 2)


def test_a_note_reports_an_archive_that_is_not_in_number_order(tmp_path):
    path = tmp_path / "in.tar"
    with tarfile.open(path, "w") as archive:
        for name in (
            "000/0000000000.ttl",
            "000/0000000002.ttl",
            "000/0000000001.ttl",
            "readme.ttl",
        ):
            entry = tarfile.TarInfo(name)
            entry.size = 19
            archive.addfile(entry, io.BytesIO(b"<a:s> <a:p> <a:o> ."))
    result = package(path, tmp_path / "p", stream_type="graphs", message_per_file=True)
    (note,) = result.notes
    assert note == (
        f"{path}!000/0000000001.ttl follows file 2: messages are in archive order, not in the "
        "order of the file numbers"
    )


def test_member_numbers_restart_in_each_archive(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("a.tar", "b.tar"):
        with tarfile.open(tmp_path / "in" / name, "w") as archive:
            for number in range(2):
                entry = tarfile.TarInfo(f"{number:010}.ttl")
                entry.size = 19
                archive.addfile(entry, io.BytesIO(b"<a:s> <a:p> <a:o> ."))
    result = package(tmp_path / "in", tmp_path / "p", stream_type="graphs", message_per_file=True)
    assert (result.messages, result.notes) == (4, ())


def test_predicates_that_are_not_counted_are_reported(tmp_path):
    count = 16_384 + 3
    log = "".join(f"<a:s> <a:p{i}> <a:o> .\n" for i in range(count)).encode()
    result = package(log, tmp_path / "p", stream_type="graphs", format="nt")
    text = "the metadata lists the first 16,384 predicates; 3 more statements have other predicates"
    assert result.notes == (text,)
    metadata = (tmp_path / "p/package_metadata.ttl").read_text()
    assert f'<http://www.w3.org/2000/01/rdf-schema#comment> "T{text[1:]}."' in metadata
    assert metadata.count("void:propertyPartition") == 16_384
    assert list(check(tmp_path / "p")) == []


def test_errors_recommend_only_useful_remedies(tmp_path):
    for options in ({}, {"generalized": True}):
        with pytest.raises(rdfm_package.RdfmError) as caught:
            package(
                b"_:s _:p <a:o> .", tmp_path / "p", stream_type="graphs", format="nt", **options
            )
        assert [each.option for each in caught.value.remedies] == []


# --- interrupted runs and full disks ---

LINE = "<http://e/s> <http://e/p> <http://e/o> .\n# @message\n"


def start_packaging(tmp_path):
    """Starts packaging. Returns the process once it has written a file and waits for input."""
    command = [sys.executable, "-m", "rdfm", "riverbench", "package", "-"]
    command += ["--stream-type", "graphs", "--from", "nt", "-o", str(tmp_path / "out")]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(rdfm_package.__file__).parent.parent)},
    )
    process.stdin.write(LINE.encode() * 200_000)
    process.stdin.flush()
    deadline = time.monotonic() + 30
    while not list(tmp_path.glob(".out*/flat_10K*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert list(tmp_path.glob(".out*/flat_10K*"))
    return process


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs Unix signals")
@pytest.mark.parametrize("stop_signal", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_packaging_leaves_no_folder_with_the_final_name(tmp_path, stop_signal):
    process = start_packaging(tmp_path)
    process.send_signal(stop_signal)
    _, errors = process.communicate(timeout=30)
    assert process.returncode != 0
    assert not (tmp_path / "out").exists()
    assert b"Traceback" not in errors
    if stop_signal != signal.SIGKILL:
        assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_full_disk_leaves_no_folder(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", fail)
    with pytest.raises(OSError, match="No space left") as error:
        package(log_of(10_001, short_message), tmp_path / "p", stream_type="graphs", format="nt")
    assert str(tmp_path / "p") in str(error.value)
    assert ".tmp" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_the_result_can_be_written_as_json(nanopubs):
    _, result, _ = nanopubs
    assert (
        json.loads(json.dumps([each.__dict__ for each in result.distributions]))[0]["size"]
        == "full"
    )


STAR = "<http://ex/s> <http://ex/p> <http://ex/o> .\n<< <http://ex/s> <http://ex/p> <http://ex/o> >> <http://ex/q> 1 .\n"


def star_source(tmp_path):
    path = source(tmp_path, count=1, rdf_star="true", stream_type="graphStream")
    path.write_text(path.read_text().partition(";\n  rb:hasStreamElementSplit")[0] + ".\n")
    return path


@pytest.mark.parametrize("format", ["ttl", "trig"])
def test_turtle_with_quoted_triples_is_not_packaged_as_reifiers(tmp_path, format):
    path = star_source(tmp_path)
    with pytest.raises(EncodeError, match=r"contains a reifier .*rb:usesRdfStar.*rdf12=True pac"):
        package(STAR.encode(), tmp_path / "p", metadata=path, format=format)
    assert not (tmp_path / "p").exists()
    package(STAR.encode(), tmp_path / "p", metadata=path, format=format, rdf12=True)
    assert b"reifies" in content(tmp_path / "p/flat_full.nt.gz")


def test_quoted_triples_of_n_triples_are_packaged(tmp_path):
    log = b"<http://ex/s> <http://ex/q> << <http://ex/s> <http://ex/p> <http://ex/o> >> .\n"
    package(log, tmp_path / "p", metadata=star_source(tmp_path), format="nt")
    with open_log(tmp_path / "p/jelly_full.jelly.gz") as opened:
        [[quad]] = opened
    assert isinstance(quad.object, TripleTerm)


def test_comments_on_stream_types_are_kept(tmp_path):
    path = star_source(tmp_path)
    comment = 'stax:hasStreamType stax:graphStream ; rdfs:comment "one"@en , "eins"@de ]'
    text = path.read_text().replace("stax:hasStreamType stax:graphStream ]", comment)
    path.write_text("@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n" + text)
    package(log_of(1), tmp_path / "p", metadata=path, format="nt")
    facts = Facts(tmp_path / "p/package_metadata.ttl")
    nodes = [facts.subjects("dcat:distribution")[0], *facts.subjects("rb:hasFileName")]
    assert len(nodes) == 4
    for node in nodes:
        usages = facts.objects(node, "stax:hasStreamTypeUsage")
        comments = {each.language for usage in usages for each in facts.objects_of(usage, COMMENT)}
        is_flat = "flat" in (facts.text(node, "rb:hasFileName") or "")
        assert comments == (set() if is_flat else {"en", "de"})
