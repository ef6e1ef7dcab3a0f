"""Topics as streams of events over HTTP.

In: a log that may grow, and the position of a client. Out: pieces of the stream.
Cost: a feed, which clients with the same format share.
Law: a client receives each message once and in order. A stream of which nothing is sent for
`HEARTBEAT_SECONDS` gets a comment, so that proxies and clients keep it open.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import NamedTuple

from rdfm.errors import OptionError
from rdfm.live.calls import run_until
from rdfm.live.documents import parse_number
from rdfm.live.event_stream import HEARTBEAT, EventForm, EventId
from rdfm.live.feeds import Member, TopicLog
from rdfm.live.following import LogOptions

__all__ = ["EventParameters", "EventSource"]

HEARTBEAT_SECONDS = 15.0
_RETRY = b"retry: 1000\n\n"
_SWITCH = {"true": True, "false": False}


class EventParameters(NamedTuple):
    """The parameters of a request.

    Attributes:
        first: The index of the first message; None for the first new message.
        follow: Whether the stream continues at the end of the log.
        last_id: The id of the last event that the client has received; None if there is none.
        format: The name of the format; None if `Accept` determines it.
    """

    first: int | None
    follow: bool
    last_id: EventId | None = None
    format: str | None = None

    @classmethod
    def parse(
        cls, query: Mapping[str, str], last_event_id: str | None, *, follow: bool, from_end: bool
    ) -> EventParameters:
        """Return the parameters of a query.

        Args:
            query: The query.
            last_event_id: The header `Last-Event-ID`, which takes precedence; None if there is
                none.
            follow: Whether streams continue at the end of a log by default.
            from_end: Whether streams begin with new messages by default.

        Raises:
            OptionError: If a parameter is unknown or invalid.
        """
        for name in query:
            if name not in ("from", "follow", "format", "last-event-id"):
                raise OptionError(
                    f"the parameter {name[:40]!r} is unknown; expected from, follow, format or "
                    "last-event-id"
                )
        start = query.get("from", "end" if from_end else "0")
        following = query.get("follow", str(follow).lower())
        if following not in _SWITCH:
            raise OptionError(f"follow must be true or false, not {following[:40]!r}")
        id_text = last_event_id or query.get("last-event-id")
        return cls(
            None if start == "end" else parse_number("from", start),
            _SWITCH[following],
            EventId.parse(id_text) if id_text else None,
            query.get("format"),
        )

    async def find_start(self, path: Path, topic: TopicLog, log: LogOptions) -> int:
        """Return the index of the first message to send.

        Raises:
            ReplacedError: If the log is not the one of the last event.
        """
        if self.last_id is not None:
            return await asyncio.to_thread(self.last_id.find_next, path)
        return await topic.count(log) if self.first is None else self.first


class EventSource:
    """The events of a topic for a client."""

    def __init__(
        self,
        topic: TopicLog,
        form: EventForm,
        log: LogOptions,
        stopping: asyncio.Event,
        *,
        follow: bool,
    ) -> None:
        """Initialize without a position."""
        self._topic = topic
        self._form = form
        self._log = log
        self._stopping = stopping
        self._follow = follow
        self._member: Member | None = None
        self._first: list[bytes] = []

    async def begin(self, position: int) -> None:
        """Encode the first events, so that their error can still be reported.

        Raises:
            DecodeError, EncodeError, ReplacedError, OSError: If the first message cannot be sent.
        """
        self._member = self._topic.join(self._form, self._log, position)
        try:
            self._first = await self._next()
        except BaseException:
            self.close()
            raise

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the events after `begin`."""
        try:
            yield _RETRY
            events, self._first = self._first, []
            while True:
                if events:
                    yield b"".join(events)
                    assert self._member is not None
                    self._member.resume_feed()
                elif not self._follow:
                    await asyncio.to_thread(self._check_end)
                    return
                elif not await self._wait():
                    if self._stopping.is_set():
                        return
                    yield HEARTBEAT
                    continue
                events = await self._next()
        finally:
            self.close()

    async def _next(self) -> list[bytes]:
        """Return the next events; an empty list at the end."""
        member = self._member
        assert member is not None
        while (events := await member.next_frames()) is None:
            member = self._move(member)
        for _ in events:
            member.mark_frame_sent()
        return events

    def _move(self, member: Member) -> Member:
        """Continue with another feed."""
        self._member = self._topic.join(self._form, self._log, member.position)
        member.leave()
        return self._member

    async def _wait(self) -> bool:
        """Wait until the log has grown. Return False after some time, and at the end."""
        member = self._member
        assert member is not None
        try:
            async with asyncio.timeout(HEARTBEAT_SECONDS):
                return await run_until(self._topic.wait_for_growth(member.is_ready), self._stopping)
        except TimeoutError:
            return False

    def _check_end(self) -> None:
        assert self._member is not None
        if (source := self._member.feed.source) is not None:
            source.check_end()

    def close(self) -> None:
        """Leave the feed."""
        member, self._member = self._member, None
        if member is not None:
            member.leave()
