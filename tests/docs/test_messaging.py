"""The page about messages over Kafka, MQTT and HTTP: its blocks with a broker, and cancellation."""

import asyncio
import re
import sys
import threading
import time
from pathlib import Path
from urllib.error import HTTPError

import pytest
from kafka_double import KafkaException, Record, kafka
from mqtt_broker import running_broker

import rdfm
from rdfm.formats import jelly

PAGE = (Path(__file__).parents[2] / "docs/messaging.md").read_text("utf-8")


def blocks(heading):
    """The Python blocks of a section. Those before the first section have no heading."""
    first, *sections = re.split(r"^## ", PAGE, flags=re.M)
    by_heading = {"": first, **{each.partition("\n")[0]: each for each in sections}}
    return re.findall(r"^```python\n(.*?)^```", by_heading[heading], flags=re.M | re.S)


@pytest.fixture
def names(tmp_path, monkeypatch):
    """The names that the first blocks define, in a folder with their log."""
    monkeypatch.chdir(tmp_path)
    defined = {}
    exec("".join(blocks("")), defined)
    return defined


def subjects(log):
    with rdfm.open_log(log) as reader:
        return [str(message[0].subject) for message in reader]


def test_messages_are_sent_and_archived_over_kafka(names, monkeypatch):
    module = kafka()
    monkeypatch.setitem(sys.modules, "confluent_kafka", module)
    produce, consume = blocks("Kafka")
    exec(produce, names)
    assert [len(partition) for partition in module.topics["sensors"]] != [3, 0]
    exec(produce + consume, names)
    expected = sorted(subjects("sensors.jelly"))
    assert sorted(subjects("archive.jelly")) == sorted(expected * 2)
    # The next run begins after the committed offsets.
    exec(produce + consume, names)
    assert sorted(subjects("archive.jelly")) == sorted(expected * 3)


def test_records_with_errors_and_invalid_values_are_not_committed(names, monkeypatch):
    module = kafka()
    monkeypatch.setitem(sys.modules, "confluent_kafka", module)
    produce, consume = blocks("Kafka")
    exec(produce, names)
    partition = module.topics["sensors"][0]
    for record, error in (
        (Record(b"k", None, "broken"), KafkaException),
        (Record(b"k", b"not Jelly"), rdfm.DecodeError),
    ):
        partition.append(record)
        with pytest.raises(error):
            exec("from confluent_kafka import *\n" + consume, names)
        partition.remove(record)
    exec(consume, names)
    assert set(subjects("archive.jelly")) == set(subjects("sensors.jelly"))


def test_messages_are_published_and_received_over_mqtt(names, capsys):
    (program,) = blocks("MQTT")
    connect, _, publish = program.partition("with rdfm.open_log")
    with running_broker() as broker:
        exec(connect.replace("1883", str(broker.port)), names)
        try:
            assert broker.subscribed.wait(10)
            exec("with rdfm.open_log" + publish, names)
            printed, deadline = "", time.monotonic() + 10
            while printed.count("\n") < 3 and time.monotonic() < deadline:
                time.sleep(0.01)
                printed += capsys.readouterr().out
        finally:
            names["client"].disconnect()
            names["client"].loop_stop()
    assert printed.splitlines() == [f"sensors/room1 <http://example.org/s{n}>" for n in range(3)]


def test_a_service_rejects_values_that_are_not_valid(names):
    program = blocks("HTTP")[0].replace("server.shutdown()", "")
    exec(program, names)
    server, urlopen, request = names["server"], names["urlopen"], names["Request"]
    try:
        for body, media_type, status in (
            (b"not Jelly", jelly.spec.media_types[0], 400),
            (b"<x:a> <x:b>", "application/n-quads", 400),
            (b"", "image/png", 415),
        ):
            with pytest.raises(HTTPError) as raised:
                urlopen(
                    request(
                        f"http://127.0.0.1:{server.server_port}/",
                        body,
                        {"Content-Type": media_type},
                    ),
                    timeout=10,
                )
            raised.value.close()
            assert raised.value.code == status
    finally:
        server.shutdown()
        server.server_close()


def test_a_cancelled_task_waits_for_its_batch_and_closes_the_log(names, monkeypatch):
    (program,) = blocks("asyncio")
    exec(program, names)
    entered, released = threading.Event(), threading.Event()
    opened = []

    class SlowLog:
        """A log whose second batch takes until it is released."""

        def __init__(self, log):
            self.log, self.is_reading = log, False

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.was_reading_at_close = self.is_reading
            self.log.close()

        def batches(self):
            for number, batch in enumerate(self.log.batches()):
                if number == 1:
                    self.is_reading = True
                    entered.set()
                    released.wait(10)
                    self.is_reading = False
                yield batch

    open_log = rdfm.open_log

    def open_slowly(path, **options):
        opened.append(SlowLog(open_log(path, batch_messages=1)))
        return opened[-1]

    monkeypatch.setattr(rdfm, "open_log", open_slowly)
    found = []

    async def consume():
        async for batch in names["read_batches"]("sensors.jelly"):
            found.append(batch)

    async def main():
        task = asyncio.create_task(consume())
        await asyncio.to_thread(entered.wait, 10)
        task.cancel()
        await asyncio.sleep(0.05)
        assert not task.done()  # waits for the thread
        released.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert len(found) == 1
    assert opened[0].was_reading_at_close is False
