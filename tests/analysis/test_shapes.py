"""SHACL validation of messages: results with their nodes, unusable shapes, no network access."""

import socket

import pytest

import rdfm

pytest.importorskip("pyshacl", reason="needs pyshacl")

PREFIXES = """
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix e: <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
SHAPES = (
    PREFIXES
    + """
e:Shape a sh:NodeShape ; sh:targetClass e:Bird ;
  sh:property [ sh:path e:count ; sh:datatype xsd:integer ; sh:minCount 1 ] ;
  sh:property [ sh:path e:name ; sh:minLength 3 ; sh:severity sh:Warning ; sh:message "the name is short" ] ;
  sh:property [ sh:path ( e:place [ sh:inversePath e:near ] ) ; sh:maxCount 0 ; sh:severity sh:Info ] .
"""
)
LOG = """
@prefix e: <http://e/> .
e:a a e:Bird ; e:count 1 ; e:name "crane" .
# @message
e:b a e:Bird ; e:name "ow" .
# @message
GRAPH e:g { e:c a e:Bird } e:c e:count 2 .
# @message
e:d a e:Bird ; e:count "x"^^<http://www.w3.org/2001/XMLSchema#integer> ; e:place e:p . e:q e:near e:p .
"""


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Fails the test if a connection is opened."""

    def fail(*_, **__):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", fail)
    monkeypatch.setattr(socket, "create_connection", fail)
    monkeypatch.setattr(socket, "getaddrinfo", fail)


def shape_findings(log, shapes=SHAPES, format="trig", **options):
    checked = rdfm.validate(log.encode(), format, shapes=shapes.encode(), **options)
    return [each for each in checked if each.rule == "shacl"], checked


def test_each_message_is_validated_separately(capfd, caplog):
    found, checked = shape_findings(LOG)
    assert [
        (each.message_index, each.severity, each.line, each.focus, each.path) for each in found
    ] == [
        (1, "error", 5, "<http://e/b>", "<http://e/count>"),
        (1, "warning", 5, "<http://e/b>", "<http://e/name>"),
        (3, "warning", 9, "<http://e/d>", "(<http://e/place>/^<http://e/near>)"),
        (3, "error", 9, "<http://e/d>", "<http://e/count>"),
    ]
    assert (
        found[1].text
        == 'the name is short; focus node <http://e/b>, path <http://e/name>, value "ow", '
        "constraint sh:MinLengthConstraintComponent, shape <http://e/Shape>"
    )
    assert found[1].value == '"ow"'
    assert checked.not_conforming == 2
    assert (capfd.readouterr().err, caplog.text) == ("", "")
    # The ill-typed literal is also reported by its own rule.
    assert checked.rules == {"shacl": 4, "ill-typed-literal": 1}


def test_the_graphs_of_a_message_are_merged():
    found, _ = shape_findings(
        "@prefix e: <http://e/> . GRAPH e:g { e:c a e:Bird } GRAPH e:h { e:c e:count 2 }"
    )
    assert found == []


def test_a_conforming_log_has_no_findings():
    found, checked = shape_findings("@prefix e: <http://e/> . e:a a e:Bird ; e:count 1 .")
    assert (found, checked.errors, checked.not_conforming) == ([], 0, 0)


def test_a_message_with_triple_terms_is_an_error():
    found, checked = shape_findings("@prefix e: <http://e/> . e:a e:p <<( e:a e:p e:o )>> .")
    assert [each.text for each in found] == [
        "the message cannot be checked: rdflib does not support triple terms: <<( <http://e/a> <http://e/p> <http://e/o> )>>"
    ]
    assert (checked.errors, checked.not_conforming) == (1, 1)


def test_patches_cannot_be_validated_with_shapes():
    with pytest.raises(
        rdfm.OptionError, match="shapes applies to messages, but bytes contains patches"
    ):
        shape_findings(
            "TX .\nA <http://e/s> <http://e/p> <http://e/o> .\nTC .\n", format="rdf-patch"
        )


def test_queries_on_the_message_are_allowed():
    select = "SELECT $this WHERE { # from\\n $this <http://e/service> 'load from' }"
    shapes = (
        PREFIXES
        + f'e:S a sh:NodeShape ; sh:targetNode e:a ; sh:sparql [ sh:message "it serves" ; sh:select "{select}" ] .'
    )
    found, _ = shape_findings("<http://e/a> <http://e/service> 'load from' .", shapes)
    assert [each.text.partition(";")[0] for each in found] == ["it serves"]


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        ("oops", "cannot read shapes"),
        ("", "cannot read shapes"),
        ("<http://e/s> <http://e/p> <http://e/o> .", "contains no SHACL shapes"),
        (PREFIXES + "e:S a sh:NodeShape ; sh:property [ sh:minCount 1 ] .", "are invalid"),
        (
            PREFIXES + 'e:S a sh:NodeShape ; sh:property [ sh:path e:p ; sh:minCount "x" ] .',
            "are invalid",
        ),
    ],
)
def test_unusable_shapes_are_rejected(shapes, text):
    with pytest.raises(rdfm.OptionError, match=text):
        shape_findings(LOG, shapes)


def test_findings_name_the_shape_and_the_constraint():
    shapes = (
        PREFIXES
        + "e:S a sh:NodeShape ; sh:targetNode e:a ; sh:nodeKind sh:Literal ;"
        + " sh:property [ sh:path e:p ; sh:minCount 1 ; sh:name 'p' ] ;"
        + " sh:property e:Q . e:Q sh:path e:q ; sh:minCount 1 ."
        + " [] a sh:NodeShape ; sh:targetNode e:b ; sh:nodeKind sh:Literal ."
    )
    found, _ = shape_findings("<http://e/a> <http://e/b> <http://e/b> .", shapes)
    sources = {
        (each.focus, each.path, each.shape, each.constraint.partition("#")[2]) for each in found
    }
    assert sources == {
        ("<http://e/a>", None, "http://e/S", "NodeKindConstraintComponent"),
        ("<http://e/a>", "<http://e/p>", "http://e/S", "MinCountConstraintComponent"),
        ("<http://e/a>", "<http://e/q>", "http://e/Q", "MinCountConstraintComponent"),
        ("<http://e/b>", None, None, "NodeKindConstraintComponent"),
    }
    assert all(("shape <" in each.text) == (each.shape is not None) for each in found)


@pytest.mark.parametrize("regime", ["RDFS", "OWL-RDF-Based", "Simple"])
def test_shapes_that_require_entailment_are_rejected(regime):
    iri = f"http://www.w3.org/ns/entailment/{regime}"
    with pytest.raises(rdfm.OptionError, match=f"require the entailment regime <{iri}>"):
        shape_findings(LOG, SHAPES + f"e:Shapes sh:entailment <{iri}> .")


def test_a_missing_shapes_file_is_an_error():
    with pytest.raises(rdfm.OptionError, match=r"cannot read shapes: missing\.ttl: No such file"):
        rdfm.validate(LOG.encode(), "trig", shapes="missing.ttl")
