"""Notes: what whoever reads a log should know, though nothing is broken.

In: what decoders say in their `header()` under `notes`. Out: texts.
Cost: the first `MAX_LISTED` texts; the others are counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

__all__ = ["MAX_LISTED", "Notes"]

MAX_LISTED = 10


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class Notes:
    """Collects the notes of logs that are read one after the other."""

    def __init__(self) -> None:
        """Begin without any."""
        self._log: _Named | None = None
        self._logs = 0
        self._current: tuple[str, ...] = ()  # of the log that is read; they may grow
        self._listed: list[tuple[str, str]] = []
        self._more = 0

    def update(self, log: _Named, notes: Iterable[str]) -> None:
        """Take the notes of a log, as far as it is read; they replace those it had before."""
        if log is not self._log:
            self._settle()
            self._log = log
            self._logs += 1
        self._current = tuple(notes)

    def texts(self) -> tuple[str, ...]:
        """Give the notes; where several logs were read, each with the name of its log."""
        self._settle()
        texts = [note if self._logs == 1 else f"{name}: {note}" for name, note in self._listed]
        if self._more:
            texts.append(f"and {self._more:,} more")
        return tuple(texts)

    def _settle(self) -> None:
        if self._log is not None:
            for note in self._current:
                if len(self._listed) < MAX_LISTED:
                    self._listed.append((self._log.name, note))
                else:
                    self._more += 1
        self._current = ()
