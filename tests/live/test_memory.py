"""The limit on buffered bytes per connection."""

import pytest

from rdfm.live.memory import ClientMemory, MemoryLimitError


def test_the_calls_of_a_connection_share_its_limit():
    memory = ClientMemory(100)
    with memory.call("a") as first, memory.call("a") as second, memory.call("b") as other:
        first.set(60)
        second.set(40)
        other.set(100)
        with pytest.raises(MemoryLimitError, match="100 bytes"):
            second.set(41)
        assert memory.buffered == {"a": 100, "b": 100}
        first.set(59)
        second.set(41)
    assert not memory.buffered


def test_bytes_of_an_ended_call_are_not_counted():
    memory = ClientMemory(100)
    with memory.call("a") as call:
        call.set(60)
    call.set(50)
    assert not memory.buffered
