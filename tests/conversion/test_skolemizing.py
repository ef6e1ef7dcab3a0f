"""Blank nodes that several runs replace with IRIs in one log."""

import gzip
import io

import pytest

import rdfm
from rdfm import formats
from rdfm.logs.write.append import AppendOutput, AppendSettings

BASE = "http://e"
RUN = b'_:x <http://e/p> "%d" .\n# @message\n_:x <http://e/p> "%d" .\n_:y <http://e/q> _:x .\n'
EMPTY = b"# @message\n"
LOGS = [
    format.name
    for format in formats.specs()
    if format.append != "never" and "messages" in format.kinds
]
COUNTED_LOGS = {
    "one message": RUN[:25] % 1,
    "empty messages": EMPTY * 3 + RUN % (1, 2) + EMPTY * 2,
    "delimiter at the end": RUN % (1, 2) + EMPTY,
    "comment at the end": RUN % (1, 2) + b"# comment\n\n",
    "no line feed": (RUN % (1, 2)).rstrip(),
    "announced": b'VERSION "1.2-messages"\n' + (RUN % (1, 2)).replace(EMPTY, b"MESSAGE\n"),
    "announced, delimiter at the end": b'VERSION "1.2-messages"\n' + RUN[:25] % 1 + b"MESSAGE\n",
    "announced, empty": b'VERSION "1.2-messages"\nMESSAGE\nMESSAGE\n',
    "many": (RUN % (1, 2) + EMPTY) * 5000,
}


def append(path, number, **options):
    rdfm.convert(
        RUN % (number, number), path, from_format="nq", append=True, skolemize=BASE, **options
    )


def nodes(path):
    """Returns the subject of each value."""
    with rdfm.open_log(path) as log:
        quads = [quad for message in log for quad in message if quad.predicate.value[-1] == "p"]
    return [quad.subject.value for quad in quads]


@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize("compression", ["", ".gz"])
@pytest.mark.parametrize("name", LOGS)
def test_nodes_of_different_runs_are_different(tmp_path, name, compression, sync):
    path = tmp_path / f"log{formats.find(name).spec.suffixes[0]}{compression}"
    for number in range(3):
        append(path, number, sync=sync)
    found = nodes(path)
    assert found == [f"{BASE}/.well-known/genid/{number}/x" for number in range(6)]


@pytest.mark.parametrize("selection", [{"skip": 1}, {"messages": "1:"}, {"sample": "1"}])
def test_selected_messages_are_numbered_as_they_are_written(tmp_path, selection):
    path = tmp_path / "log.nq"
    for number in range(9):
        append(path, number, **selection)
    found = nodes(path)
    assert found == [f"{BASE}/.well-known/genid/{number}/x" for number in range(len(found))]
    assert len(found) >= 9


def test_regrouped_messages_are_not_skolemized_in_an_existing_log(tmp_path):
    path = tmp_path / "log.nq"
    append(path, 0)
    before = path.read_bytes()
    with pytest.raises(rdfm.OptionError, match=r"group_by.*IRIs of different runs could be equal"):
        append(path, 1, group_by="all")
    assert path.read_bytes() == before


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize("log", COUNTED_LOGS)
@pytest.mark.parametrize("name", LOGS)
def test_the_messages_of_a_log_are_counted(tmp_path, name, log, compress):
    data = COUNTED_LOGS[log]
    if name != "nq":
        if formats.find(name).spec.binary and not data.strip(b"# @mesag\n"):
            pytest.skip("nothing to write")
        converted = io.BytesIO()
        rdfm.convert(data, converted, from_format="nq", to=name)
        data = converted.getvalue()
    path = tmp_path / f"log{formats.find(name).spec.suffixes[0]}"
    path.write_bytes(compress(data))
    with rdfm.open_log(path) as opened:
        count = len(list(opened))
    if count == 0:
        pytest.skip("an empty log is replaced")
    output = AppendOutput(path, None, AppendSettings(formats.find(name)))
    try:
        assert output.count_messages() == count
    finally:
        output.discard()


def test_labels_do_not_grow_with_each_conversion(tmp_path):
    for name in ("nq", "trig", "jelly", "rdf-protobuf"):
        log = RUN % (1, 2)
        given = "nq"
        for _ in range(12):
            output = io.BytesIO()
            rdfm.convert(log, output, from_format=given, to=name, flat=True)
            log, given = output.getvalue(), name
        (message,) = rdfm.open_log(log, name)
        labels = {quad.subject.value for quad in message}
        assert labels == {"x", "_gm0x11__gm1_x", "_gm0x11__gm1_y"}
