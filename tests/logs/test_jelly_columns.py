"""Jelly 1.2: messages that share frames are appended, joined, counted and read in splits."""

import pytest

import rdfm
from rdfm.logs import plan_splits

S, P = rdfm.Iri("http://e/s"), rdfm.Iri("http://e/p")


def message(number, quads=1):
    return [rdfm.Quad(S, P, rdfm.Literal(f"{number} {n}")) for n in range(quads)]


def write(path, *messages, **options):
    options = {"jelly_version": "1.2", **options}
    with rdfm.create_log(path, **options) as log:
        for each in messages:
            log.write(each)


def sizes(path, **options):
    with rdfm.open_log(path, **options) as log:
        return [len(each) for each in log]


@pytest.mark.parametrize("options", [{}, {"frame_rows": 2}, {"restart_bytes": 1}])
def test_messages_are_appended_in_the_same_version(tmp_path, options):
    path = tmp_path / "log.jelly"
    write(path, message(0), [], message(1, 5), **options)
    for number in range(2, 5):
        with rdfm.create_log(path, append=True) as log:
            log.write(message(number))
            log.write([])
    assert sizes(path) == [1, 0, 5, 1, 0, 1, 0, 1, 0]
    with rdfm.open_log(path) as log:
        assert log.header["options"]["jelly_version"] == 3
        assert "frames" not in log.header


def test_appended_options_must_be_those_of_the_log(tmp_path):
    path = tmp_path / "log.jelly"
    write(path, message(0))
    before = path.read_bytes()
    for options, reason in (
        ({"jelly_version": "1.1"}, "has jelly_version=3"),
        ({"name_table": 200}, "has name_table=4000"),
        ({"frames": "flat"}, "only to a log of messages"),
    ):
        with pytest.raises(rdfm.OptionError, match=reason):
            rdfm.create_log(path, append=True, **options).close()
    assert path.read_bytes() == before


def test_flat_logs_stay_as_they_are(tmp_path):
    path = tmp_path / "log.jelly"
    write(path, message(0), flat=True)
    with pytest.raises(rdfm.OptionError, match="all its frames are one message"):
        rdfm.create_log(path, append=True).close()


@pytest.mark.parametrize("rows", [1, 3, 8192])
def test_messages_of_a_log_are_counted(tmp_path, rows):
    path = tmp_path / "log.jelly"
    write(path, *(message(n, n % 4) for n in range(30)), frame_rows=rows, restart_bytes=100)
    joined = tmp_path / "joined.jelly"
    joined.write_bytes(path.read_bytes() * 2)
    assert sizes(joined) == [n % 4 for n in range(30)] * 2
    splits = plan_splits(joined, split_bytes=200, count=True)
    assert len(splits) > 3
    found = []
    for split in splits:
        with rdfm.open_log(joined, split=split) as log:
            for batch in log.batches():
                assert batch.first_message_index == len(found)
                found.extend(len(each) for each in batch)
    assert found == sizes(joined)


def test_a_log_that_ends_inside_a_message_is_repaired_only_between_messages(tmp_path):
    path = tmp_path / "log.jelly"
    write(path, message(0), message(1, 10), frame_rows=4)
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    with pytest.raises(rdfm.TruncatedError, match="the log ends inside a message") as error:
        rdfm.create_log(path, append=True).close()
    assert [remedy.option for remedy in error.value.remedies] == ["repair"]
    with pytest.raises(rdfm.TruncatedError, match="only a part of a message"):
        rdfm.create_log(path, append=True, repair=True).close()
    assert path.read_bytes() == data[:-1]
    write(path, message(0), frame_rows=4)
    end = path.stat().st_size
    with rdfm.create_log(path, append=True) as log:
        log.write(message(1))
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 1)
    with rdfm.create_log(path, append=True, repair=True) as log:
        log.write(message(2))
    assert path.stat().st_size > end
    assert sizes(path) == [1, 1]
