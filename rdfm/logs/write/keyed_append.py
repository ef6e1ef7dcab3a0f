"""Appending to the logs of a folder by key, for example to one log per day.

In: batches, and a folder. Out: the logs of the keys, each continued like a single log.
Cost: as in `keyed`. Messages are written by the thread that encodes them, because a log that was
closed can only be opened again after everything has been written to it.
Law: the name of a log is a function of its key, so all runs use the same log for a key. Each log is
committed separately: when it is closed, and at the end of the run.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rdfm.errors import visible
from rdfm.logs.write.append import AppendOutput, AppendSettings
from rdfm.logs.write.keyed import KeyEncoder, KeyFile
from rdfm.logs.write.parts import Part

if TYPE_CHECKING:
    from collections.abc import Callable

    from rdfm.formats import FormatSpec
    from rdfm.logs.write.keyed import SplitBy

__all__ = ["AppendFolder", "KeyAppender"]

# Logs without new messages for this time are closed at the next commit.
IDLE_SECONDS = 60


class AppendFolder:
    """A folder whose logs are appended to. It is created with its first log.

    Attributes:
        name: The folder's name, for errors.
    """

    def __init__(self, path: str, compression: str | None, appending: AppendSettings) -> None:
        """Initialize with the path of the folder. The arguments are as in `AppendOutput`."""
        self.name = visible(path)
        self._path = Path(path)
        self._compression = compression
        self._appending = appending
        self._open: dict[str, AppendOutput] = {}
        self._closed_bytes = 0

    @property
    def bytes_written(self) -> int:
        """Bytes written so far (compressed)."""
        return self._closed_bytes + sum(output.bytes_written for output in self._open.values())

    def open(self, name: str) -> AppendOutput:
        """Open a log of the folder.

        Raises:
            OptionError, DecodeError, OSError: As in `AppendOutput`.
        """
        self._path.mkdir(exist_ok=True)
        output = AppendOutput(self._path / name, self._compression, self._appending)
        self._open[name] = output
        return output

    def close(self, name: str) -> None:
        """Commit and close a log.

        Raises:
            OptionError: If another program changed the log.
            OSError: If the log cannot be written.
        """
        output = self._open.pop(name)
        output.commit()
        self._closed_bytes += output.bytes_written

    def write(self, parts: list[Part]) -> None:
        """Do nothing, because `KeyAppender` has written the messages."""

    def check_unchanged(self) -> None:
        """Check that no other program has changed or replaced an open log.

        Raises:
            OptionError: If a log was truncated, extended, replaced or removed.
        """
        for output in self._open.values():
            output.check_unchanged()

    def commit(self) -> None:
        """Commit and close all logs."""
        try:
            for name in list(self._open):
                self.close(name)
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Remove the uncommitted messages from the open logs, and close them."""
        with contextlib.ExitStack() as stack:
            while self._open:
                stack.callback(self._open.popitem()[1].discard)

    def keep_partial(self) -> None:
        """Discard the output. No partial file is kept."""
        self.discard()


class KeyAppender(KeyEncoder):
    """Encodes messages, and appends them to the logs of their keys."""

    def __init__(
        self,
        make: Callable[..., Any],
        format: FormatSpec,
        suffix: str,
        split_by: SplitBy,
        folder: AppendFolder,
        options: Mapping[str, Any],
    ) -> None:
        """Initialize as in `KeyEncoder`.

        Args:
            make: Creates an encoder. With the argument `continued`, it has the header of a log.
            format: The format of the logs.
            suffix: The suffix of the names.
            split_by: Settings for splitting the log.
            folder: The folder.
            options: Options of the encoders, which must suit the logs.

        Raises:
            OptionError: If the predicate of the key is not an IRI.
        """
        super().__init__(make, format, suffix, split_by)
        self._folder = folder
        self._options = options
        self._outputs: dict[KeyFile, AppendOutput] = {}
        self._written: dict[KeyFile, float] = {}  # time of the last message

    def pause(self) -> list[Part]:
        """Commit the complete messages of all logs, and close logs without new messages."""
        now = time.monotonic()
        for file in list(self._open):
            self._outputs[file].write(file.encoder.pause())
            if now - self._written[file] >= IDLE_SECONDS:
                self._close(file)
        return []

    def finish(self) -> list[Part]:
        """Write the ends of the open logs.

        Raises:
            OptionError: As in `KeyEncoder.finish`.
        """
        self._check_prefixes()
        for file in self._open:
            self._outputs[file].write(file.encoder.finish())
            self._count(file.encoder)
        self._open.clear()
        return []

    def _add(self, parts: list[Part], file: KeyFile, data: Any) -> None:
        self._written[file] = time.monotonic()
        self._outputs[file].write(data)

    def _begin(self, file: KeyFile, parts: list[Part]) -> Any:
        output = self._outputs[file] = self._folder.open(file.name)
        output.check(self._options)
        file.encoder = output.encoder(self._create_encoder(continued=output.source))
        self._open[file] = None
        return file.encoder

    def _close_oldest(self, parts: list[Part]) -> KeyFile:
        file = next(iter(self._open))
        self._close(file)
        return file

    def _check_continuable(self, message: int) -> None:
        """Do nothing: every log can be continued."""

    def _close(self, file: KeyFile) -> None:
        self._outputs.pop(file).write(file.encoder.finish())
        self._folder.close(file.name)
        self._count(file.encoder)
        del self._open[file]
        file.encoder = None
