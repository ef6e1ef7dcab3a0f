"""Readers used by several threads at once."""

import io
import threading

import pyarrow as pa
import pytest

import rdfm
from rdfm.logs.reader_lock import LockedIterator, ReaderLock

MESSAGE = b"<x:s> <x:p> <x:o> .\n# @message\n"
COUNT = 4000
IN_USE = "in use by another thread; open it once for each thread"


class BlockingFile(io.RawIOBase):
    """A file that blocks at its end until it is released."""

    def __init__(self, data):
        self.data = io.BytesIO(data)
        self.reached = threading.Event()
        self.released = threading.Event()

    def readable(self):
        return True

    def readinto(self, buffer):
        size = self.data.readinto(buffer)
        if not size:
            self.reached.set()
            assert self.released.wait(60)
        return size


def blocking_log():
    file = BlockingFile(MESSAGE * COUNT)
    return file, rdfm.open_log(file, "nq", compression="none")


def blocking_results():
    file = BlockingFile(b"?a\n" + b'"x"\n' * COUNT)
    return file, rdfm.open_log(file, "results-tsv", kind="results", compression="none")


def blocking_solutions():
    file = BlockingFile(MESSAGE * COUNT)
    return file, rdfm.select("SELECT ?s { ?s ?p ?o }", file, format="nq", compression="none")


USES = {
    "messages": (blocking_log, iter),
    "batches": (blocking_log, lambda log: log.batches()),
    "Arrow stream": (blocking_log, lambda log: pa.RecordBatchReader.from_stream(log)),
    "rows": (blocking_results, iter),
    "batches of results": (blocking_results, lambda results: results.batches()),
    "solutions": (blocking_solutions, lambda solutions: solutions.rows()),
    "record batches": (blocking_solutions, iter),
}


@pytest.mark.parametrize("is_shared", [True, False], ids=["one loop", "separate loops"])
@pytest.mark.parametrize("use", USES)
def test_a_second_thread_gets_an_error_and_the_first_gets_all_items(use, is_shared):
    open_reader, loop = USES[use]
    file, reader = open_reader()
    items = loop(reader)
    found = []
    first = threading.Thread(target=lambda: found.extend(items))
    first.start()
    try:
        assert file.reached.wait(60)
        with pytest.raises(RuntimeError, match=IN_USE):
            next(iter(items if is_shared and use != "Arrow stream" else loop(reader)))
        with pytest.raises(RuntimeError, match=IN_USE):
            reader.close()
    finally:
        file.released.set()
        first.join(60)
    in_batches = use not in ("messages", "rows", "solutions")
    assert (sum(map(len, found)) if in_batches else len(found)) == COUNT
    reader.close()


def test_a_second_thread_cannot_read_properties_of_a_reader():
    file, log = blocking_log()
    first = threading.Thread(target=lambda: list(log))
    first.start()
    try:
        assert file.reached.wait(60)
        for access in (lambda: log.header, log.skip_message, log.to_arrow):
            with pytest.raises(RuntimeError, match=f"^{log.source} is {IN_USE}"):
                access()
    finally:
        file.released.set()
        first.join(60)


def test_threads_may_take_turns():
    log = rdfm.open_log(MESSAGE * COUNT, "nq")
    indexes = []
    for _ in range(4):
        loop = iter(log)
        thread = threading.Thread(
            target=lambda loop=loop: indexes.extend(next(loop).message_index for _ in range(1000))
        )
        thread.start()
        thread.join()
        del thread, loop
    assert indexes == list(range(COUNT))


def test_a_loop_may_use_its_reader():
    turn = ReaderLock("x")

    def items():
        with turn:
            yield 1

    assert list(LockedIterator(turn, items())) == [1]
