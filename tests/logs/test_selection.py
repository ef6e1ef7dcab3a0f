"""Slices select messages like list slices, and samples have the requested size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdfm import Iri, MessageBatch, OptionError, Quad
from rdfm.formats import nquads
from rdfm.logs.input.driver import ReadBatch
from rdfm.logs.stages import selection
from rdfm.logs.stages.selection import (
    parse_messages,
    parse_sample,
    random_share,
    random_subset,
    select_slice,
)

P = Iri("http://e/p")


def batches(sizes):
    """Yields batches with the given numbers of messages, whose objects are consecutive numbers."""
    number = 0
    for count in sizes:
        numbers = range(number, number + count)
        yield MessageBatch.from_messages([[Quad(P, P, Iri(f"http://e/{n}"))] for n in numbers])
        number += count


def select(selector, source):
    """Returns the numbers of the selected messages. Stops when the selection is complete."""
    out = []
    for batch in source:
        out += selector.process(ReadBatch(None, batch, {}, 0))
        if selector.done:
            break
    else:
        out += selector.finish()
    return [
        int(quad.object.value.rpartition("/")[2])
        for item in out
        for message in item.batch
        for quad in message.quads
    ]


bound = st.none() | st.integers(-30, 30)


@given(st.lists(st.integers(0, 7), max_size=8), st.builds(slice, bound, bound, st.integers(1, 7)))
def test_slices_select_messages_like_list_slices(sizes, bounds):
    assert select(select_slice(bounds), batches(sizes)) == list(range(sum(sizes)))[bounds]


@given(st.lists(st.integers(1, 7), min_size=1, max_size=8), st.integers(-60, 60))
def test_a_number_selects_one_message_or_is_an_error(sizes, index):
    numbers = list(range(sum(sizes)))
    if -len(numbers) <= index < len(numbers):
        assert select(select_slice(index), batches(sizes)) == [numbers[index]]
    else:
        with pytest.raises(
            OptionError, match=f"there is no message {index}; the last one is message"
        ):
            select(select_slice(index), batches(sizes))


def in_parts(sizes):
    """Yields batches of messages with the given numbers of quads, in parts of about ten quads."""
    log = b"# @message\n".join(
        b"".join(b"<http://e/p> <http://e/p> <http://e/%d> .\n" % at for _ in range(size))
        for at, size in enumerate(sizes)
    )
    from rdfm.formats import Opening

    decoder = nquads.decoder({}, Opening("always", batches={"batch_quads": 10}))
    decoder.feed(log)
    decoder.finish()
    while (batch := decoder.next_batch()) is not None:
        yield batch


@given(
    st.lists(st.integers(1, 35), min_size=1, max_size=6),
    st.builds(slice, bound, bound, st.integers(1, 3)),
)
def test_a_message_in_parts_is_selected_completely_or_not_at_all(sizes, bounds):
    parts = list(in_parts(sizes))
    expected = [at for at in range(len(sizes))[bounds] for _ in range(sizes[at])]
    assert select(select_slice(bounds), parts) == expected


def test_in_parts_yields_incomplete_messages():
    assert any(batch.continues for batch in in_parts([35]))


@pytest.mark.parametrize("text", ["", "a", "1-2", "::-1", "--1", "-:", "1:2:3:4", "1:2:0", "1.5"])
def test_invalid_slices_are_rejected(text):
    with pytest.raises(OptionError, match=r"messages must be (a number such as 5000|at least 1)"):
        parse_messages(text)


def test_counting_from_the_end_is_limited(monkeypatch):
    monkeypatch.setattr(selection, "MAX_BUFFERED_BYTES", 1000)
    with pytest.raises(OptionError, match=r"the last 100 messages take more than .* count from"):
        select(select_slice(slice(-100, None)), batches([10] * 20))


@pytest.mark.slow
def test_a_share_is_approximate_and_reproducible():
    counts = [3000] * 10
    sample = select(random_share(0.1, 7), batches(counts))
    assert 2700 < len(sample) < 3300
    assert sample == sorted(set(sample)) == select(random_share(0.1, 7), batches([30000]))
    assert sample != select(random_share(0.1, 8), batches(counts))
    # Each third of the log contributes about equally.
    for third in range(3):
        assert 850 < sum(third * 10000 <= each < (third + 1) * 10000 for each in sample) < 1150
    assert select(random_share(1.0, 1), batches([5, 5])) == list(range(10))


@given(st.integers(1, 50), st.lists(st.integers(0, 9), max_size=8), st.integers(0, 3))
def test_the_requested_number_of_messages_is_drawn(count, sizes, seed):
    sample = select(random_subset(count, sum(sizes), seed), batches(sizes))
    assert len(sample) == len(set(sample)) == min(count, sum(sizes))
    assert sample == sorted(sample)


@pytest.mark.parametrize(
    ("text", "value"), [("1%", 0.01), ("0.5%", 0.005), (".5%", 0.005), ("100%", 1.0), ("12", 12)]
)
def test_samples_are_given_as_shares_or_numbers(text, value):
    assert parse_sample(text) == value
    assert type(parse_sample(text)) is type(value)


@pytest.mark.parametrize("text", ["", "0", "0%", "101%", "-1", "1.5", "%", "1 %", "many"])
def test_invalid_samples_are_rejected(text):
    with pytest.raises(OptionError, match=r"sample must be (a percentage such as 1%|at most 100%)"):
        parse_sample(text)
