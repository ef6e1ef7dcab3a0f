"""The event log of a server: one line per event.

In: events with fields. Out: lines on a text stream, such as standard error.
Cost: a thread, and at most `MAX_WAITING` lines. If the stream blocks, further lines are dropped and
counted; the server never waits for its log.
Law: an event is one line, in both formats. Fields that clients choose are shortened, and cannot
contain control characters.
"""

from __future__ import annotations

import contextlib
import json
import queue
import re
import threading
from datetime import UTC, datetime
from typing import Literal, TextIO

__all__ = ["EventLog", "Level", "LogFormat"]

Level = Literal["info", "warning", "error"]
LogFormat = Literal["text", "json"]

MAX_WAITING = 10_000
MAX_FIELD_CHARACTERS = 500
_END_SECONDS = 2.0
_PLAIN = re.compile(r"[^\s\"=]+")


class EventLog:
    """Writes events as lines of `key=value` pairs, or as JSON objects.

    Attributes:
        dropped: Number of lines that were dropped because the stream blocked.
    """

    def __init__(
        self, stream: TextIO, format: LogFormat = "text", *, errors_only: bool = False
    ) -> None:
        """Start the thread that writes.

        Args:
            stream: Receives the lines.
            format: "text" or "json".
            errors_only: Whether only events of the level "error" are written.
        """
        self.dropped = 0
        self._stream = stream
        self._format = format
        self._errors_only = errors_only
        self._lines: queue.Queue[str | None] = queue.Queue(MAX_WAITING)
        self._thread = threading.Thread(target=self._run, name="rdfm-log", daemon=True)
        self._thread.start()

    def write(self, level: Level, event: str, **fields: str | int | float | bool | None) -> None:
        """Write an event, without waiting.

        Args:
            level: The level.
            event: The name of the event, such as "start".
            **fields: The fields in their order; those that are None are omitted.
        """
        if self._errors_only and level != "error":
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        present_fields = {name: value for name, value in fields.items() if value is not None}
        for name, value in present_fields.items():
            if isinstance(value, str) and len(value) > MAX_FIELD_CHARACTERS:
                present_fields[name] = f"{value[:MAX_FIELD_CHARACTERS]}…"
        if self._format == "json":
            line = json.dumps({"time": now, "level": level, "event": event, **present_fields})
        else:
            pairs = (f"{name}={_as_text(value)}" for name, value in present_fields.items())
            line = " ".join((now, level, event, *pairs))
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            self.dropped += 1

    def close(self) -> None:
        """Write the remaining lines, for at most two seconds."""
        with contextlib.suppress(queue.Full):
            self._lines.put(None, timeout=_END_SECONDS)
        self._thread.join(_END_SECONDS)

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                self._stream.write(f"{line}\n")
                self._stream.flush()
            except (OSError, ValueError):  # a full disk, or a closed pipe or terminal
                self.dropped += 1


def _as_text(value: str | int | float | bool) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    plain = value.isprintable() and _PLAIN.fullmatch(value) is not None
    # Escapes all characters outside ASCII if one of them is not printable.
    return value if plain else json.dumps(value, ensure_ascii=not value.isprintable())
