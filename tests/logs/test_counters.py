"""Counters of messages: a package of a service says how its metadata represents them."""

import subprocess
import sys

import rdfm
from rdfm import Message
from rdfm.logs import counters
from rdfm.nanopub.counters import find_counter


def log_with(path, *metadata):
    with rdfm.create_log(path) as log:
        for entries in metadata:
            log.write(Message([], metadata=entries))
    return path


def test_conversion_and_inspection_return_the_counters_of_registries(tmp_path):
    log = log_with(tmp_path / "a.jelly", {"c": b"\x05"}, {"c": b"\x80"}, {"c": b"\xac\x02"})
    assert rdfm.convert(log, tmp_path / "b.nq").counters == (5, 300)
    assert rdfm.inspect(log).counters == (5, 300)
    without = log_with(tmp_path / "c.jelly", {"c": b"\x05"}, {})
    assert rdfm.convert(without, tmp_path / "d.nq").counters is None


def test_another_service_can_define_its_counters(tmp_path):
    log = log_with(tmp_path / "a.jelly", {"number": b"7"}, {"number": b"9"})
    assert rdfm.convert(log, tmp_path / "b.nq").counters is None
    counters.set_counter_reader(lambda metadata: int(metadata["number"]))
    try:
        assert rdfm.convert(log, tmp_path / "c.nq").counters == (7, 9)
    finally:
        counters.set_counter_reader(find_counter)


def test_registries_are_not_loaded_for_logs_without_metadata(tmp_path):
    program = """
import sys, rdfm
assert not [name for name in sys.modules if name.startswith(("rdfm._core", "rdfm.nanopub"))]
rdfm.convert(sys.argv[1], sys.argv[2])
assert "rdfm.nanopub" not in sys.modules
"""
    log = log_with(tmp_path / "a.jelly", {}, {})
    command = [sys.executable, "-c", program, log, tmp_path / "b.nq"]
    subprocess.run(command, check=True, timeout=60)
