"""The text of pretty Turtle and TriG, and its limits."""

import io

import pytest
from support import decoded, encode

import rdfm

TWO_MESSAGES = b"""@prefix z: <urn:z:> . @prefix a: <urn:a:> . @prefix unused: <urn:u:> .
z:s z:p z:o, z:o .
# @message
a:s z:p _:x . _:y a:p _:y .
# @message
a:s a:p 2 .
"""


def converted(data, **options):
    """Returns the text and the summary of a conversion to pretty TriG."""
    out = io.BytesIO()
    options = {"from_format": "trig", "to": "trig", "pretty": True} | options
    summary = rdfm.convert(data, out, **options)
    return out.getvalue().decode(), summary


def test_prefixes_precede_the_first_message_that_uses_them():
    text, summary = converted(TWO_MESSAGES)
    assert text == (
        "PREFIX z: <urn:z:>\n\nz:s\n    z:p z:o ;\n.\n# @message\n"
        "PREFIX a: <urn:a:>\n\na:s\n    z:p [] ;\n.\n\n_:b0\n    a:p _:b0 ;\n.\n# @message\n"
        "a:s\n    a:p 2 ;\n.\n"
    )
    assert (summary.messages, summary.quads) == (3, 4)
    assert summary.dropped == {"namespaces": 1, "repeated quads": 1}


@pytest.mark.parametrize("options", [{"flat": True}, {"to_dialect": "plain"}])
def test_messages_without_delimiters_are_one_pretty_message(options):
    text, _ = converted(TWO_MESSAGES, **options)
    assert "@message" not in text
    assert text == converted(TWO_MESSAGES, group_by="all")[0]
    assert text.count("_:b0") == 2
    assert converted(text.encode(), **options)[0] == text


def test_graphs_subjects_predicates_and_objects_are_sorted():
    text, _ = converted(
        b"""@prefix e: <urn:e:> . _:g { _:s e:p e:o } e:g { e:s e:p e:o } _:g e:p _:s .
e:s2 e:p 1 . e:s e:b 1 ; a e:c ; e:a "b"@en, "a", _:s, [ e:p 2 ], ( 1 [ e:p ( ) ] ), e:x .
"""
    )
    assert text == (
        """PREFIX e: <urn:e:>

e:s
    a e:c ;
    e:a
        "a" ,
        "b"@en ,
        (
            1
            [
                e:p () ;
            ]
        ) ,
        e:x ,
        [
            e:p 2 ;
        ] ,
        _:b0 ;
    e:b 1 ;
.

e:s2
    e:p 1 ;
.

_:b1
    e:p _:b0 ;
.

e:g {
    e:s
        e:p e:o ;
    .
}

_:b1 {
    _:b0
        e:p e:o ;
    .
}
"""
    )


def test_nodes_deeper_than_max_depth_are_not_nested():
    data = b"<urn:s> <urn:p> [ <urn:p> [ <urn:p> [ ] ] ] ."
    assert converted(data)[0].count("[") == 3
    text, _ = converted(data, to_max_depth=2)
    assert "_:b0" in text
    assert decoded("trig", text.encode(), max_depth=2)


def test_equal_nested_nodes_need_no_steps():
    children = ", ".join(["[ <urn:q> 1 ]"] * 9)
    data = f"[] <urn:p> {children} . [] <urn:p> {children}, [ ] .".encode()
    assert converted(data)[0].count("<urn:q>") == 18


def test_labels_that_need_too_many_steps_are_an_error():
    nodes = [("bnode", f"n{index}") for index in range(9)]
    quads = [(a, ("iri", "urn:p"), b, None) for a in nodes for b in nodes if a != b]
    with pytest.raises(
        rdfm.EncodeError, match="labels of the blank nodes need more than 2000000 steps"
    ):
        encode("ttl", [quads], pretty=True)


def test_a_message_must_fit_in_max_message_bytes():
    data = b"".join(b"<urn:s> <urn:p> <urn:%d> .\n" % number for number in range(1000))
    options = {"from_format": "nt", "max_message_bytes": 1000}
    with pytest.raises(rdfm.LimitError) as error:
        converted(data, **options)
    assert "pretty=False allows messages in parts" in str(error.value)
    assert converted(data, **options, to_pretty=False, pretty=None)[1].quads == 1000
    with pytest.raises(rdfm.LimitError) as error:
        rdfm.filter(data, io.BytesIO(), to="trig", any="<urn:1>", **options)
    assert "pretty" not in str(error.value)
