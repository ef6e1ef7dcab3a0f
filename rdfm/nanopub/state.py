"""The state of a mirror: the file `LOG.state.json`.

In: the path of a log. Out: `MirrorState`, and the keys of messages that a killed run appended.
Cost: one small file, which is replaced atomically.
Law: the state is never ahead of the log. If the log is ahead, the keys of its last messages
identify the messages that must not be appended again.
"""

from __future__ import annotations

import json
import os
from collections import deque
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import rdfm.logs.read.reader as readers
from rdfm.errors import Remedy, visible
from rdfm.logs.input.driver import Driver, ReadSettings
from rdfm.logs.journal import checksum_before
from rdfm.logs.read.plan import plan_whole_split
from rdfm.nanopub.counters import counter_of
from rdfm.nanopub.errors import MirrorError
from rdfm.nanopub.identity import key_of
from rdfm.storage.files import LocalStorage
from rdfm.storage.paths import STATE_SUFFIX

__all__ = ["MAX_AHEAD_MESSAGES", "RESTART", "MirrorState", "content_of", "keys_after", "state_path"]

RESTART = Remedy("stage", "restart", "true", "begins a new log, and removes the old one")
_VERSION = 1
# Number of additional bytes to read before the committed length; more than the distance between
# restart frames.
_MARGIN_BYTES = 64 << 20
# Maximum number of messages by which a log can be ahead of its state, with a margin.
MAX_AHEAD_MESSAGES = 200_000
# Minimum number of counters that are removed at once, so that the cost per message is constant.
_PRUNED_MESSAGES = 1000


@dataclass(frozen=True)
class MirrorState:
    """The position of a mirror.

    Attributes:
        registry: The URL of the registry.
        setup_id: The setup id of the registry, to which the counters belong.
        counter: The highest counter that was fetched; -1 if there is none.
        length: The committed length of the log in bytes.
        checksum: The checksum of the last bytes of the log before `length`.
        recent_after: All fetched messages with a counter greater than this are in `recent`.
        recent: The keys and counters of these messages.
    """

    registry: str
    setup_id: str
    counter: int = -1
    length: int = 0
    checksum: int = 0
    recent_after: int = -1
    recent: dict[str, int] = field(default_factory=dict)

    def pruned(self, overlap: int) -> MirrorState:
        """Return the state with only the last `overlap` counters in `recent`."""
        after = max(self.counter - overlap, self.recent_after)
        recent = {key: counter for key, counter in self.recent.items() if counter > after}
        return replace(self, recent_after=after, recent=recent)

    def with_length(self, log: str, length: int) -> MirrorState:
        """Return the state for a new length of the log."""
        return replace(self, length=length, checksum=_checksum(log, length))

    def belongs_to(self, log: str) -> bool:
        """Whether the log still has the bytes that it had when the state was saved."""
        return self.checksum == _checksum(log, self.length)

    def save(self, log: str) -> None:
        """Write the state of a log atomically."""
        text = json.dumps({"version": _VERSION, **asdict(self)}, indent=1)
        LocalStorage().write_file(state_path(log), text.encode() + b"\n")

    @classmethod
    def load(cls, log: str) -> MirrorState | None:
        """Return the state of a log; None if there is none.

        Raises:
            MirrorError: If the file is not a valid state.
        """
        path = state_path(log)
        try:
            found = json.loads(Path(path).read_bytes())
            version = found.pop("version")
            state = cls(**found)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise _invalid(path) from error
        if version != _VERSION or not state._is_valid():
            raise _invalid(path)
        return state

    def _is_valid(self) -> bool:
        numbers: list[Any] = [self.counter, self.length, self.checksum, self.recent_after]
        if not isinstance(self.recent, dict):
            return False
        numbers += self.recent.values()
        return (
            isinstance(self.registry, str)
            and isinstance(self.setup_id, str)
            and all(type(number) is int and number >= -1 for number in numbers)
        )


def state_path(log: str) -> str:
    """Return the path of a log's state; symbolic links to the log are resolved."""
    return os.path.realpath(log) + STATE_SUFFIX


def _checksum(log: str, length: int) -> int:
    if length == 0:
        return 0
    with Path(log).open("rb", buffering=0) as file:
        return checksum_before(file.fileno(), length)


def _invalid(path: str) -> MirrorError:
    return MirrorError(
        f"{visible(path)} is not the state of a mirror; remove it, and it is rebuilt from the log",
        remedies=[RESTART],
    )


def content_of(log: str, format: str, overlap: int) -> tuple[dict[str, int], set[str]]:
    """Return the last counters of a log by key or, if it has none, the keys of all messages.

    Args:
        log: The log.
        format: Its format.
        overlap: The counters that differ from the highest one by less than this are returned, and
            perhaps others.

    Raises:
        DecodeError: If the log is invalid.
    """
    counters: dict[str, int] = {}
    keys: set[str] = set()
    highest = -1
    with readers.LogReader(Driver([log], ReadSettings(format))) as opened:
        for message in opened:
            key = key_of(message)
            if (counter := counter_of(message.metadata)) is not None:
                counters[key] = counter
                highest = max(highest, counter)
                keys.clear()
                if len(counters) > 2 * (overlap + _PRUNED_MESSAGES):
                    after = highest - max(overlap, 1)
                    counters = {
                        key: counter for key, counter in counters.items() if counter > after
                    }
            elif not counters:
                keys.add(key)
    return counters, keys


def keys_after(log: str, format: str, length: int) -> set[str]:
    """Return the keys of the messages after an offset in a log, and of some messages before it.

    At most the last `MAX_AHEAD_MESSAGES` are returned, unless the offset is 0.

    Raises:
        DecodeError: If the log is invalid.
    """
    settings = ReadSettings(format)
    with readers.LogReader(Driver([log], settings)) as opened:
        split = plan_whole_split(opened, settings)
    if split is not None and length > _MARGIN_BYTES:
        settings = replace(
            settings, split=replace(split, start=length - _MARGIN_BYTES, first_message_index=None)
        )
    with readers.LogReader(Driver([log], settings)) as opened:
        return set(
            deque((key_of(message) for message in opened), MAX_AHEAD_MESSAGES if length else None)
        )
