"""Feeds: subscribers that share a feed, slow subscribers, and subscribers that leave."""

import asyncio

import pytest
from jelly_grpc import message, numbers
from jelly_proto import Reader, read_frames
from support import as_batch

import rdfm
from rdfm.live import feeds, following
from rdfm.live.following import describe
from rdfm.live.requests import respond
from rdfm.storage.jelly_wire import StreamOptions, delimited

COUNT = 3000
BATCH_BYTES = 1500  # encoded size of the messages in a piece
REQUEST = StreamOptions("", 2, False, False, 64, 8, 8, 0, 1)


@pytest.fixture
def topic(tmp_path, monkeypatch):
    """A topic whose feeds buffer only a few kilobytes."""
    monkeypatch.setattr(feeds, "RING_BYTES", 4000)
    monkeypatch.setattr(feeds, "MIN_RING_BYTES", 1000)
    monkeypatch.setattr(feeds, "_GROUP_BYTES", 1000)
    monkeypatch.setattr(following, "PIECE_BYTES", 1000)
    monkeypatch.setattr(feeds, "MAX_DELAY_SECONDS", 0.05)
    path = tmp_path / "a.jelly"
    with rdfm.create_log(path, restart_bytes=5000) as log:
        for start in range(0, COUNT, 50):
            log.write_batch(as_batch([message(n) for n in range(start, start + 50)]))
    return path


class Subscriber:
    """Reads a topic as the service does."""

    def __init__(self, log, response, found, position=0):
        self.log, self.response, self.found = log, response, found
        self.member = log.join(response, found, position)
        self.reader, self.numbers = Reader(), []
        self.joins = 1

    async def step(self):
        """Reads the available frames, or joins another feed if the subscriber is too slow.

        Returns False at the end of the log.
        """
        frames = await self.member.next_frames()
        if frames is None:
            member = self.log.join(self.response, self.found, self.member.position)
            self.member.leave()
            self.member = member
            self.joins += 1
            return True
        for frame in frames:
            (parsed,) = read_frames(delimited(frame))
            self.numbers += numbers([self.reader.frame(parsed)])
            self.member.mark_frame_sent()
        self.member.resume_feed()
        return bool(frames)

    async def read_all(self, pause=0.0):
        while await self.step():
            await asyncio.sleep(pause)
        self.member.leave()


def run(path, work):
    async def main():
        log = feeds.TopicLog(path)
        found = describe(path)
        await work(
            log, lambda position=0: Subscriber(log, respond(REQUEST, found), found, position)
        )
        assert not log.feeds

    asyncio.run(main())


def test_subscribers_at_the_same_position_share_a_feed(topic):
    async def work(log, subscribe):
        subscribers = [subscribe() for _ in range(5)]
        assert len(log.feeds) == 1
        await asyncio.gather(*(subscriber.read_all() for subscriber in subscribers))
        assert [subscriber.numbers for subscriber in subscribers] == [list(range(COUNT))] * 5
        assert {subscriber.joins for subscriber in subscribers} == {1}

    run(topic, work)


def test_a_slow_subscriber_gets_a_separate_feed_and_loses_nothing(topic):
    async def work(log, subscribe):
        fast, slow = subscribe(), subscribe()
        await slow.step()
        await asyncio.wait_for(fast.read_all(), 20)
        await slow.read_all()
        assert fast.numbers == slow.numbers == list(range(COUNT))
        assert fast.joins == 1
        assert slow.joins > 1

    run(topic, work)


def test_the_memory_of_a_feed_is_bounded(topic):
    async def work(log, subscribe):
        fast, slow = subscribe(), subscribe()
        await slow.step()
        sizes = []
        while await fast.step():
            sizes.append(sum(map(len, fast.member.feed._ring)))
        assert max(sizes) < 4000 + 2 * BATCH_BYTES
        assert max(sizes) > 3000
        fast.member.leave()
        slow.member.leave()

    run(topic, work)


def test_the_feeds_of_a_topic_share_a_memory_limit(topic):
    async def work(log, subscribe):
        subscribers = [subscribe(position) for position in range(0, 500, 50)]
        assert len(log.feeds) == 10
        sizes = []
        for _ in range(200):
            for subscriber in subscribers:
                await subscriber.step()
            sizes.append(sum(len(frame) for feed in log.feeds for frame in feed._ring))
        assert max(sizes) < 10 * (1000 + 2 * BATCH_BYTES)
        for subscriber in subscribers:
            subscriber.member.leave()

    run(topic, work)


@pytest.mark.parametrize("position", [1, 17, 1500, COUNT - 1, COUNT])
def test_a_feed_can_begin_at_any_position(topic, position):
    async def work(log, subscribe):
        subscriber = subscribe(position)
        await subscriber.read_all()
        assert subscriber.numbers == list(range(position, COUNT))

    run(topic, work)


def test_other_members_do_not_lose_frames_if_one_leaves_during_encoding(topic):
    async def work(log, subscribe):
        leaving, staying = subscribe(), subscribe()
        for _ in range(20):
            task = asyncio.create_task(leaving.step())
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await staying.step()
        leaving.member.leave()
        await staying.read_all()
        assert staying.numbers == list(range(COUNT))

    run(topic, work)


def test_a_member_that_joins_at_the_end_restarts_the_feed(topic):
    async def work(log, subscribe):
        first = subscribe()
        while await first.step():
            pass
        second = subscribe(COUNT)
        assert second.member.feed is first.member.feed
        with rdfm.create_log(topic, append=True) as appended:
            appended.write_batch(as_batch([message(COUNT), message(COUNT + 1)]))
        await asyncio.gather(first.read_all(), second.read_all())
        assert first.numbers == list(range(COUNT + 2))
        assert second.numbers == [COUNT, COUNT + 1]

    run(topic, work)
