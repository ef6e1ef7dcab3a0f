"""Canonical output and distinct messages in `convert`."""

import io
from hashlib import sha256

import pytest

from rdfm import LimitError, OptionError, convert, open_log

LOG = b"""_:a <x:p> _:b .
_:b <x:p> "x" .
_:b <x:p> "x" .
# @message
<x:s> <x:p> <x:o> <x:g> .
# @message
_:z <x:p> "x" .
_:y <x:p> _:z .
"""
CODE = "RAH-UOollyCX32XCS7iHNUded59E3pDpu4wrHPcB-yy-8"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
NANOPUB = "http://www.nanopub.org/nschema#Nanopublication"


def converted(log=LOG, **options):
    """Returns the output in N-Quads, and the summary."""
    output = io.BytesIO()
    summary = convert(log, output, from_format="nq", to="nq", **options)
    return output.getvalue(), summary


@pytest.mark.parametrize("number", range(3))
def test_the_canonical_output_of_a_message_has_its_canonical_hash(number):
    with open_log(LOG, "nq") as log:
        message = list(log)[number]
    output, _ = converted(canonical=True, messages=str(number))
    assert output.decode() == message.canonical()
    assert sha256(output).hexdigest() == message.canonical_hash()


def test_canonical_output_does_not_depend_on_the_dialect_of_the_input():
    directive = b'VERSION "1.2-messages"\n' + LOG.replace(b"# @message", b"MESSAGE")
    for options in ({}, {"messages": "1"}):
        expected, _ = converted(canonical=True, **options)
        assert converted(directive, canonical=True, **options)[0] == expected
    output, _ = converted(canonical=True, to_dialect="directive")
    assert output.startswith(b"VERSION")


def test_repeated_quads_are_counted_and_canonical_output_is_stable():
    output, summary = converted(canonical=True)
    assert summary.dropped == {"repeated quads": 1}
    assert converted(output, canonical=True)[0] == output


def test_distinct_keeps_the_first_of_equal_messages_over_all_batches():
    output, summary = converted(LOG + b"# @message\n" + LOG, distinct="dataset", batch_messages=1)
    assert summary.messages == 2
    assert summary.dropped == {"repeated messages": 4}
    assert output == LOG.rpartition(b"# @message\n")[0]


def test_distinct_nanopublications_have_different_artifact_codes():
    head = f"<x:{CODE}> <{TYPE}> <{NANOPUB}> <x:{CODE}#h> .\n"
    other = head.replace("-8", "-4")
    plain = "<x:s> <x:p> <x:o> .\n"
    changed = head + f'<x:s> <x:p> "changed" <x:{CODE}#a> .\n'
    log = "# @message\n".join([head, other, plain, changed, plain])
    output, _ = converted(log.encode(), distinct="nanopub")
    assert output.decode() == "# @message\n".join([head, other, plain])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"canonical": True, "to": "trig"}, "needs N-Triples or N-Quads"),
        ({"canonical": True, "flat": True}, "cannot be combined with flat"),
        ({"canonical": True, "rdf_star_syntax": True}, "cannot be combined with rdf_star_syntax"),
        ({"max_steps": 5}, "max_steps applies to"),
        ({"distinct": "dataset", "append": True}, "append=True cannot|append cannot"),
    ],
)
def test_options_without_an_effect_are_rejected(options, reason, tmp_path):
    options = {"to": "nq", **options}
    with pytest.raises(OptionError, match=reason):
        convert(LOG, tmp_path / "out.nq", from_format="nq", **options)


def test_the_error_about_steps_names_the_message():
    nodes = range(9)
    clique = "".join(f"_:b{a} <x:p> _:b{b} .\n" for a in nodes for b in nodes if a != b)
    log = LOG + b"# @message\n" + clique.encode()
    text = r"more than 1000 steps; a larger max_steps allows it \(message 3\)"
    with pytest.raises(LimitError, match=text):
        converted(log, canonical=True, max_steps=1000)
