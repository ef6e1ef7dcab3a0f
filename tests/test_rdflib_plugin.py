"""The methods `parse` and `serialize` of rdflib with the formats of rdfm."""

import pytest
import rdflib
import rdflib.compare
from rdflib import plugin
from rdflib.parser import Parser
from rdflib.serializer import Serializer

from rdfm import rdflib_plugin

# rdflib's own Dataset.parse and Dataset.serialize use names that rdflib has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:Dataset:DeprecationWarning")
CLASSES = {"nt": "NTriples", "nq": "NQuads", "ttl": "Turtle", "trig": "TriG", "jelly": "Jelly"}
LOG = b"_:b <http://e/p> <http://e/o> .\n# @message\n_:b <http://e/p> <http://e/o> <http://e/g> .\n"
E = rdflib.Namespace("http://e/")


@pytest.fixture(autouse=True)
def registered():
    """Registers the plug-ins as the entry points of an installed rdfm do."""
    for name, title in CLASSES.items():
        plugin.register(f"rdfm-{name}", Parser, "rdfm.rdflib_plugin", f"{title}Parser")
        plugin.register(f"rdfm-{name}", Serializer, "rdfm.rdflib_plugin", f"{title}Serializer")


def test_every_format_has_a_parser_and_a_serializer():
    for name, title in CLASSES.items():
        assert getattr(rdflib_plugin, f"{title}Parser").format == name
        assert getattr(rdflib_plugin, f"{title}Serializer").format == name


def test_blank_nodes_of_different_messages_stay_distinct():
    dataset = rdflib.Dataset()
    dataset.parse(data=LOG, format="rdfm-nq")
    quads = list(dataset.quads())
    assert len(quads) == 2
    assert len({subject for subject, *_ in quads}) == 2
    assert len(dataset.graph(E.g)) == 1


@pytest.mark.parametrize("name", CLASSES)
def test_graphs_round_trip(name):
    graph = rdflib.Graph()
    graph.bind("ex", E)
    graph.add((E.s, E.p, rdflib.Literal("x", lang="en")))
    graph.add((E.s, E.p, rdflib.BNode()))
    data = graph.serialize(format=f"rdfm-{name}", encoding="utf-8")
    back = rdflib.Graph().parse(data=data, format=f"rdfm-{name}")
    assert rdflib.compare.isomorphic(graph, back)


@pytest.mark.parametrize("name", ["nq", "trig", "jelly"])
def test_datasets_round_trip(name):
    dataset = rdflib.Dataset()
    dataset.graph(E.g).add((E.s, E.p, E.o))
    dataset.default_graph.add(
        (E.s, E.p, rdflib.Literal("01", datatype=rdflib.XSD.integer, normalize=False))
    )
    data = dataset.serialize(format=f"rdfm-{name}", encoding="utf-8")
    back = rdflib.Dataset()
    back.parse(data=data, format=f"rdfm-{name}")
    assert set(back.quads()) == set(dataset.quads())


def test_relative_iris_are_resolved_and_prefixes_are_bound():
    data = "PREFIX ex: <http://e/> <s> ex:p <o> ."
    graph = rdflib.Graph().parse(data=data, format="rdfm-ttl", publicID="http://base/")
    assert list(graph) == [(rdflib.URIRef("http://base/s"), E.p, rdflib.URIRef("http://base/o"))]
    assert dict(graph.namespaces())["ex"] == rdflib.URIRef("http://e/")


def test_options_reach_the_codec():
    graph = rdflib.Graph()
    graph.add((E.s, E.p, E.o))
    text = graph.serialize(format="rdfm-nt", dialect="directive")
    assert text.startswith('VERSION "1.2-messages"')
