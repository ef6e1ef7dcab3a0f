"""`rdfm.filter`: writes or counts the messages that match."""

import io

import pytest

import rdfm

LOG = b"".join(b'<x:s%d> <x:p> "%d" .\n# @message\n' % (number % 3, number) for number in range(9))


def test_matching_messages_are_written():
    out = io.BytesIO()
    summary = rdfm.filter(LOG, out, from_format="nq", to="nt", subject="<x:s1>")
    assert (summary.messages, summary.quads) == (3, 3)
    with rdfm.open_log(out.getvalue(), "nt") as log:
        assert [message[0].object.value for message in log] == ["1", "4", "7"]


def test_several_inputs_are_filtered_in_order():
    out = io.BytesIO()
    rdfm.filter([LOG, LOG], out, from_format="nq", to="nq", regex="^[08]$", take=3)
    with rdfm.open_log(out.getvalue(), "nq") as log:
        assert [message[0].object.value for message in log] == ["0", "8", "0"]


def test_messages_are_counted_without_an_output():
    assert rdfm.filter(LOG, from_format="nq", subject="<x:s1>").messages == 3
    assert rdfm.filter([LOG, LOG], from_format="nq", subject="<x:s1>", invert=True).messages == 12
    for option in ("to", "compression"):
        with pytest.raises(rdfm.OptionError, match=f"{option}.* applies to output"):
            rdfm.filter(LOG, from_format="nq", subject="<x:s1>", **{option: "none"})


@pytest.mark.parametrize("output", [None, io.BytesIO()])
def test_wrong_arguments_are_rejected(output):
    options = {"from_format": "nq"} | ({} if output is None else {"to": "nq"})
    with pytest.raises(rdfm.OptionError, match="no input is given"):
        rdfm.filter([], output, **options)
    with pytest.raises(rdfm.OptionError):
        rdfm.filter(LOG, output, subject="s 1", **options)
    with pytest.raises(rdfm.OptionError):
        rdfm.filter(b"TX .\n", output, subject="<x:s>", **{**options, "from_format": "rdf-patch"})
