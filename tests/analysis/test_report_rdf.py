"""Statistics in Turtle, read back with rdflib and rdfm and compared with the report."""

from __future__ import annotations

import gzip
import hashlib
import io
import re

import pytest
import rdflib

import rdfm
from rdfm.analysis.statistics_rdf import CLASSES

RB = rdflib.Namespace("https://w3id.org/riverbench/schema/metadata#")
VOID = rdflib.Namespace("http://rdfs.org/ns/void#")
TYPE = rdflib.RDF.type
LOG = "".join(
    f"<urn:s{number}> <{TYPE}> <urn:T{number % 3}> <urn:g> .\n"
    f'_:b <urn:p> "{number}" .\n' + "# @message\n" * (number % 2)
    for number in range(20)
)


@pytest.fixture
def found():
    return rdfm.statistics(LOG.encode(), "nq")


def test_the_series_are_written_as_riverbench_statistics(found):
    graph = rdflib.Graph().parse(data=found.to_rdf("http://example.org/log"), format="turtle")
    log = rdflib.URIRef("http://example.org/log")
    assert (log, TYPE, VOID.Dataset) in graph
    (statistics,) = graph.objects(log, RB.hasStatisticsSet)
    assert (statistics, TYPE, RB.StatisticsSet) in graph
    nodes = list(graph.objects(statistics, RB.hasStatistics))
    assert len(nodes) == len(CLASSES) == 15
    for node in nodes:
        name = str(graph.value(node, TYPE)).removeprefix(str(RB))
        series = found.series[CLASSES[name]]
        for key, value in (
            (RB.minimum, series.minimum),
            (RB.maximum, series.maximum),
            (RB.mean, series.mean),
            (RB.standardDeviation, series.standard_deviation),
            (RB.sum, series.sum),
        ):
            term = graph.value(node, key)
            assert (None if term is None else term.toPython()) == value, (name, key)
        distinct = found.distinct.get(CLASSES[name])
        unique = graph.value(node, RB.uniqueCount)
        if name in UNIQUE:
            assert unique.toPython() == distinct.number
            bounds = (graph.value(node, RB[f"uniqueCount{end}Bound"]) for end in ("Lower", "Upper"))
            found_bounds = [None if bound is None else bound.toPython() for bound in bounds]
            exact = name == "DatatypeCountStatistics"
            assert found_bounds == ([None] * 2 if exact else [distinct.lower, distinct.upper])
        else:
            assert unique is None, name


# Series with a unique count in RiverBench.
UNIQUE = {
    f"{name}Statistics"
    for name in (
        *("IriCount", "LiteralCount", "SimpleLiteralCount", "DatatypeLiteralCount"),
        *("LanguageLiteralCount", "DatatypeCount", "SubjectCount", "PredicateCount"),
        *("ObjectCount", "GraphCount"),
    )
}


def test_the_dataset_is_described(found):
    graph = rdflib.Graph().parse(data=found.to_rdf(), format="turtle")
    (log,) = graph.subjects(TYPE, VOID.Dataset)
    assert isinstance(log, rdflib.BNode)
    for key, value in (
        (VOID.triples, found.series["statements"].sum),
        (VOID.distinctSubjects, found.distinct["subjects"].number),
        (VOID.distinctObjects, found.distinct["objects"].number),
        (VOID.properties, 2),
        (VOID.classes, 3),
        (RB.hasStreamElementCount, found.messages),
    ):
        assert graph.value(log, key).toPython() == value, key
    partitions = {
        str(graph.value(node, VOID["class"])): graph.value(node, VOID.entities).toPython()
        for node in graph.objects(log, VOID.classPartition)
    }
    assert partitions == found.types.counts
    assert len(list(graph.objects(log, VOID.propertyPartition))) == 2


def test_rdfm_reads_the_turtle(found):
    turtle = found.to_rdf()
    peer = rdflib.Graph().parse(data=turtle, format="turtle")
    with rdfm.open_log(turtle.encode(), "ttl") as log:
        (message,) = log
        assert len(message) == len(peer)
    assert found.to_rdf() == turtle


def test_file_names_are_escaped(tmp_path):
    path = tmp_path / 'a"b\\c\n.nq'
    path.write_text(LOG)
    turtle = rdfm.statistics(path).to_rdf()
    graph = rdflib.Graph().parse(data=turtle, format="turtle")
    (title,) = graph.objects(None, rdflib.DCTERMS.title)
    assert str(title) == str(path)


@pytest.mark.parametrize("iri", ["relative", "http://a b", "http://a>", ""])
def test_the_log_iri_must_be_absolute(found, iri):
    with pytest.raises(rdfm.OptionError, match="expected an absolute IRI"):
        found.to_rdf(iri)


def test_only_statistics_of_messages_are_written_as_rdf():
    found = rdfm.statistics(b"A <urn:s> <urn:p> <urn:o> .\n", "rdf-patch")
    with pytest.raises(rdfm.OptionError, match="only statistics of messages can be written as RDF"):
        found.to_rdf()


DCAT = rdflib.Namespace("http://www.w3.org/ns/dcat#")
SPDX = rdflib.Namespace("http://spdx.org/rdf/terms#")


def test_the_size_and_checksum_of_the_file_are_written(tmp_path):
    path = tmp_path / "log.nq.gz"
    path.write_bytes(gzip.compress(LOG.encode()))
    found = rdfm.statistics(path, checksum=True)
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    graph = rdflib.Graph().parse(data=found.to_rdf(), format="turtle")
    (log,) = graph.subjects(TYPE, VOID.Dataset)
    file = graph.value(log, DCAT.distribution)
    assert graph.value(file, DCAT.byteSize).toPython() == path.stat().st_size
    checksum = graph.value(file, SPDX.checksum)
    assert graph.value(checksum, SPDX.algorithm) == SPDX.checksumAlgorithm_sha256
    assert str(graph.value(checksum, SPDX.checksumValue)) == found.sha256
    assert rdfm.statistics(path).sha256 is None
    assert rdfm.statistics(LOG.encode(), "nq", checksum=True).sha256 is not None
    assert rdfm.statistics(io.BytesIO(LOG.encode()), "nq", checksum=True).sha256 is None
    (tmp_path / "broken.nq").write_text(LOG + "oops")
    assert "dcat:distribution" not in rdfm.statistics(tmp_path / "broken.nq").to_rdf()


def test_predicates_beyond_top_are_not_listed():
    log = "".join(
        f"<urn:s> <urn:p{n}> <urn:o> .\n<urn:s> <{TYPE}> <urn:T{n}> .\n" for n in range(50)
    )
    complete = rdfm.statistics(log.encode(), "nq", top=None)
    graph = rdflib.Graph().parse(data=complete.to_rdf(), format="turtle")
    assert len(list(graph.objects(None, VOID.propertyPartition))) == 51
    assert len(list(graph.objects(None, VOID.classPartition))) == 50
    assert "#" not in re.sub("<.*?>", "", complete.to_rdf())
    truncated = rdfm.statistics(log.encode(), "nq").to_rdf()
    assert "# 41 predicates are not listed\n# 40 classes are not listed\n" in truncated
    rdflib.Graph().parse(data=truncated, format="turtle")


def test_a_comment_counts_triples_with_predicates_beyond_the_table_size():
    log = "".join(f"<urn:s> <urn:p{n}> <urn:o> .\n" for n in range(17_000))
    turtle = rdfm.statistics(log.encode(), "nq", top=None).to_rdf()
    assert turtle.count("void:propertyPartition") == 16_384
    assert "# 616 triples with predicates that are not counted" in turtle
