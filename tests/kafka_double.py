"""The part of `confluent_kafka` that pages use, with topics in memory.

A consumer begins at the committed offset of its group. It reads values of several partitions, which
the key selects.
"""

import types
import zlib

PARTITIONS = 2


class KafkaException(Exception):
    """An error of a record."""


class Record:
    """A record of a topic."""

    def __init__(self, key, value, error=None):
        self._key, self._value, self._error = key, value, error

    def key(self):
        return self._key

    def value(self):
        return self._value

    def error(self):
        return self._error


def kafka():
    """The module. `topics` maps names to lists of partitions."""
    topics, committed = {}, {}

    class Producer:
        def __init__(self, settings):
            assert "bootstrap.servers" in settings
            self._pending = []

        def produce(self, topic, value=None, key=None):
            assert isinstance(value, bytes)
            self._pending.append((topic, Record(key.encode(), value)))

        def poll(self, timeout):
            return 0

        def flush(self):
            for topic, record in self._pending:
                partitions = topics.setdefault(topic, [[] for _ in range(PARTITIONS)])
                partitions[zlib.crc32(record.key()) % PARTITIONS].append(record)
            self._pending.clear()
            return 0

    class Consumer:
        def __init__(self, settings):
            assert settings["enable.auto.commit"] is False
            assert settings["auto.offset.reset"] == "earliest"
            self._group = settings["group.id"]

        def subscribe(self, names):
            self._positions = {
                (name, number): committed.get((self._group, name, number), 0)
                for name in names
                for number in range(PARTITIONS)
            }

        def consume(self, num_messages=1, timeout=-1):
            found = []
            for (name, number), position in self._positions.items():
                rest = topics[name][number][position : position + num_messages - len(found)]
                self._positions[name, number] += len(rest)
                found += rest
            return found

        def commit(self, asynchronous=True):
            for (name, number), position in self._positions.items():
                committed[self._group, name, number] = position

        def close(self):
            self._positions = None

    module = types.ModuleType("confluent_kafka")
    module.Producer, module.Consumer, module.KafkaException = Producer, Consumer, KafkaException
    module.topics = topics
    return module
