"""Pretty Turtle and TriG: equal datasets have the same bytes, and the bytes have the same data."""

import io

import pyoxigraph as ox
import pytest
import rdflib
from datasets import datasets
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import logs
from nquads import isomorphic, labels, with_labels
from rdflib.compare import isomorphic as isomorphic_graphs
from support import decode, decoded, encode

import rdfm

FORMATS = {"ttl": ox.RdfFormat.TURTLE, "trig": ox.RdfFormat.TRIG}


def pretty(name, messages, **options):
    return encode(name, messages, pretty=True, **options)


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_order_repetitions_and_labels_do_not_change_the_text(name, data):
    quads = data.draw(datasets(graphs=name == "trig"))
    repeated = quads + data.draw(st.lists(st.sampled_from(quads))) if quads else []
    used = sorted(set(labels(quads)))
    renamed = dict(
        zip(used, data.draw(st.permutations([f"x{label}" for label in used])), strict=True)
    )
    changed = [with_labels(quad, renamed.get) for quad in data.draw(st.permutations(repeated))]
    assert pretty(name, [changed]) == pretty(name, [quads])


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_readers_get_the_same_datasets(name, data):
    log = data.draw(st.lists(datasets(graphs=name == "trig"), max_size=3))
    text = pretty(name, log)
    found = decoded(name, text)
    assert pretty(name, found) == text
    assert len(found) == len(log)
    assert all(isomorphic(set(a), set(b)) for a, b in zip(found, log, strict=True))


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_pyoxigraph_reads_the_same_dataset(name, data):
    quads = data.draw(datasets(graphs=name == "trig"))
    assert _canonical(pretty(name, [quads]), FORMATS[name]) == _canonical(
        encode("nq", [quads]), ox.RdfFormat.N_QUADS
    )


def _canonical(text, format):
    dataset = ox.Dataset(
        quad if isinstance(quad, ox.Quad) else ox.Quad(*quad) for quad in ox.parse(text, format)
    )
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return sorted(map(str, dataset))


@given(quads=datasets(graphs=False, with_triples=False))
def test_rdflib_reads_the_same_graph(quads):
    found, expected = rdflib.Graph(), rdflib.Graph()
    found.parse(data=pretty("ttl", [quads]), format="turtle")
    expected.parse(data=encode("nt", [quads]), format="nt")
    assert isomorphic_graphs(found, expected)


@given(log=logs(), name=st.sampled_from(sorted(FORMATS)))
def test_any_log_stays_the_same_data(log, name):
    text = pretty(name, log, **({"merge_graphs": True} if name == "ttl" else {}))
    found, error = decode(name, text)
    assert error is None
    graphs = name == "trig"
    for message, other in zip(found, log, strict=True):
        assert isomorphic(set(message), {quad if graphs else (*quad[:3], None) for quad in other})


DECLARATIONS = [
    b"PREFIX e: <http://example.org/>",
    b"@prefix r: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .",
    b"PREFIX unused: <urn:u:>",
]
STATEMENTS = [
    (b"e:a e:p e:b .", b"<http://example.org/a> <http://example.org/p> <http://example.org/b> ."),
    (b"e:a a e:c .", b"<http://example.org/a> r:type e:c ."),
    (
        b"e:b e:p [ e:p 1 ] .",
        b'e:b e:p [ <http://example.org/p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> ] .',
    ),
]


@settings(max_examples=20)
@given(
    declarations=st.permutations(DECLARATIONS),
    statements=st.permutations(STATEMENTS),
    choices=st.tuples(*[st.integers(0, 1)] * len(STATEMENTS)),
)
def test_the_use_of_prefixes_in_the_input_does_not_change_the_text(
    declarations, statements, choices
):
    text = b"\n".join(
        [
            *declarations,
            *(forms[choice] for forms, choice in zip(statements, choices, strict=True)),
        ]
    )
    out = io.BytesIO()
    rdfm.convert(text, out, from_format="ttl", to="ttl", pretty=True)
    assert out.getvalue() == (
        b"PREFIX e: <http://example.org/>\n\ne:a\n    a e:c ;\n    e:p e:b ;\n.\n\n"
        b"e:b\n    e:p [\n        e:p 1 ;\n    ] ;\n.\n"
    )
