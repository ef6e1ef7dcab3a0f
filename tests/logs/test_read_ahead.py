"""Decoding ahead in a thread yields the same items and errors as the driver."""

import threading
import time

import pytest

import rdfm
from rdfm.logs.input.driver import Driver, ReadBatch, ReadError, ReadSettings
from rdfm.logs.read.read_ahead import read_ahead

LOG = b"# @message\n".join(b'<http://e/s> <http://e/p> "%d" .\n' % at for at in range(30_000))


def message_count(items):
    return sum(len(item.batch) for item in items if isinstance(item, ReadBatch) and item.batch)


def test_items_equal_those_of_the_driver():
    driver = Driver([LOG], ReadSettings("nq"))
    assert message_count(read_ahead(driver)) == 30_000
    invalid = LOG + b"oops\n# @message\n" + LOG
    kinds = [
        [type(item) for item in iterate(Driver([invalid], ReadSettings("nq")))]
        for iterate in (iter, read_ahead)
    ]
    assert kinds[0] == kinds[1]
    assert ReadError in kinds[0]


def test_errors_follow_earlier_items():
    driver = Driver([LOG, "/nowhere/a.nq"], ReadSettings("nq"))
    items = read_ahead(driver)
    count = 0
    with pytest.raises(FileNotFoundError):
        for item in items:
            count += message_count([item])
    assert count == 30_000


def test_the_thread_ends_with_its_reader():
    thread_count = threading.active_count()
    items = read_ahead(Driver([LOG * 20], ReadSettings("nq")))
    next(items)
    items.close()
    deadline = time.monotonic() + 10
    while threading.active_count() > thread_count and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == thread_count


def test_statistics_end_at_an_error(tmp_path):
    found = rdfm.statistics(LOG + b"oops\n", "nq")
    assert found.error is not None
    assert found.messages == 29_999
