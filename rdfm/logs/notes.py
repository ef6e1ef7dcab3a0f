"""Notes: information for readers of a valid log.

In: the entry `notes` of a decoder's `header()`. Out: the listed notes.
Cost: the first `MAX_LISTED` notes; the others are only counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

__all__ = ["MAX_LISTED", "Notes"]

MAX_LISTED = 10


class _NamedLog(Protocol):
    @property
    def name(self) -> str: ...


class Notes:
    """Collects the notes of logs that are read one after the other."""

    def __init__(self) -> None:
        """Start without notes."""
        self._log: _NamedLog | None = None
        self._logs = 0
        self._current: tuple[str, ...] = ()  # of the current log; more may follow
        self._listed: list[tuple[str, str]] = []
        self._more = 0

    def update(self, log: _NamedLog, notes: Iterable[str]) -> None:
        """Set the notes of a log so far, replacing its earlier notes."""
        if log is not self._log:
            self._store_current()
            self._log = log
            self._logs += 1
        self._current = tuple(notes)

    def texts(self) -> tuple[str, ...]:
        """Return the notes, each with the name of its log if several logs were read."""
        self._store_current()
        texts = [note if self._logs == 1 else f"{name}: {note}" for name, note in self._listed]
        if self._more:
            texts.append(f"and {self._more:,} more")
        return tuple(texts)

    def _store_current(self) -> None:
        if self._log is not None:
            for note in self._current:
                if len(self._listed) < MAX_LISTED:
                    self._listed.append((self._log.name, note))
                else:
                    self._more += 1
        self._current = ()
