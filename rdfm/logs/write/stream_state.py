"""The state of a log to which a stream of events is appended: the file `LOG.state.json`.

In: the URL of the stream, and the id of the last event before each commit. Out: the id of the event
after which the next run continues.
Cost: one small file, which is replaced atomically before each commit.
Law: at every moment, the state contains the id that belongs to the committed log. It is saved
before the log is committed, with the last commit and the next one. The length and the checksum of
the log decide which of them applies.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from rdfm.errors import OptionError, Remedy
from rdfm.logs.journal import checksum_before
from rdfm.storage.addresses import redact_url
from rdfm.storage.files import LocalStorage
from rdfm.storage.paths import STATE_SUFFIX

__all__ = ["StreamState"]

_VERSION = 1


class _Position(NamedTuple):
    """A commit of the log.

    Attributes:
        length: The length of the log in bytes.
        checksum: The checksum of the last bytes of the log.
        last_event_id: The id of the last event in the log; empty if there is none.
    """

    length: int
    checksum: int
    last_event_id: str

    @classmethod
    def of_log(cls, file: int | None, length: int, last_event_id: str) -> _Position:
        """Return the position of a log, given by its file descriptor; None if there is no log."""
        checksum = 0 if file is None or not length else checksum_before(file, length)
        return cls(length, checksum, last_event_id)


class StreamState:
    """The state of a log.

    Attributes:
        last_event_id: The id of the last event in the log; empty if there is none.
    """

    def __init__(
        self,
        log: Path,
        name: str,
        url: str,
        file: int | None,
        length: int,
        last_event_id: str | None,
    ) -> None:
        """Load the state of a log that this process has locked.

        Args:
            log: The log, not a symbolic link.
            name: The name of the log, for errors.
            url: The URL of the stream.
            file: The file descriptor of the log; None if there is no log.
            length: The committed length of the log in bytes.
            last_event_id: The id of the event after which the stream begins; None means that the
                state determines it.

        Raises:
            OptionError: If the log has messages and the state is missing, or if the state is
                invalid, or belongs to another stream or to other content of the log.
            OSError: If a file cannot be read.
        """
        self._path = str(log) + STATE_SUFFIX
        self._url = redact_url(url)
        state_name = name + STATE_SUFFIX
        self._has_two = False  # whether the file also contains the commit before the last one
        self._last = _Position.of_log(file, length, last_event_id or "")
        if last_event_id is None:
            loaded = self._load(state_name)
            if loaded is None and length:
                raise OptionError(
                    f"{name} has messages, but the file {state_name} with the id of its last event "
                    "is missing; restore that file, or append to a new log",
                    remedies=[_create_remedy("")],
                )
            if loaded is not None:
                url, positions = loaded
                remedy = _create_remedy(positions[-1].last_event_id)
                if url != self._url:
                    raise OptionError(
                        f"{name} contains the events of {url}, not of {self._url}; append to "
                        "another log",
                        remedies=[remedy],
                    )
                matching = [each for each in positions if each[:2] == self._last[:2]]
                if not matching:
                    raise OptionError(
                        f"{name} was changed after its last event was appended: it has {length:,} "
                        f"bytes, and {positions[-1].length:,} according to {state_name}; restore "
                        "the log, or append to a new one",
                        remedies=[remedy],
                    )
                self._last = matching[-1]
        self.last_event_id = self._last.last_event_id

    def _load(self, name: str) -> tuple[str, list[_Position]] | None:
        """Return the URL and the positions in the file; None if there is no file."""
        try:
            content = json.loads(Path(self._path).read_bytes())
            positions = [_Position(**position) for position in content["positions"]]
            if content["version"] == _VERSION and positions and all(map(_is_valid, positions)):
                return str(content["stream"]), positions
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError, RecursionError):
            pass
        raise OptionError(
            f"{name} is not the state of a log with the events of a stream; append to another log"
        )

    def save(self, file: int | None, length: int, last_event_id: str) -> None:
        """Save the id of the last event, before the log is committed.

        Args:
            file: The file descriptor of the log; None if nothing was written.
            length: The length of the log that will be committed.
            last_event_id: The id of the last event before that.
        """
        new = _Position.of_log(file, length, last_event_id)
        if new == self._last:
            return
        self._write([new] if new.length == self._last.length else [self._last, new])
        self._last = new

    def end(self) -> None:
        """Save the last commit alone, so that a log without it, such as a new one, is an error."""
        if self._has_two:
            self._write([self._last])

    def _write(self, positions: list[_Position]) -> None:
        content = {
            "version": _VERSION,
            "stream": self._url,
            "positions": [position._asdict() for position in positions],
        }
        text = json.dumps(content, indent=1)
        LocalStorage().write_file(self._path, text.encode() + b"\n")
        self._has_two = len(positions) > 1


def _create_remedy(last_event_id: str) -> Remedy:
    # The server chooses the id, so it may contain anything.
    is_plain = re.fullmatch("[A-Za-z0-9._:-]{1,100}", last_event_id) is not None
    value = last_event_id if is_plain else "ID"
    return Remedy("stage", "last_event_id", value, "starts after the event with that id")


def _is_valid(position: _Position) -> bool:
    numbers: list[Any] = [position.length, position.checksum]
    return isinstance(position.last_event_id, str) and all(
        type(number) is int and number >= 0 for number in numbers
    )
