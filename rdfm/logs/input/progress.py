"""The progress of a conversion or an inspection, reported to a function about ten times a second.

In: the work done so far. Out: calls of the caller's function.
Cost: one clock reading per update. Law: each call gets its own `Progress`, which never changes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from rdfm.errors import OptionError
from rdfm.logs.input.inputs import is_folder_or_glob
from rdfm.storage.listing import find_files
from rdfm.storage.paths import local_path

__all__ = [
    "Progress",
    "ProgressBar",
    "ProgressFunction",
    "Reporter",
    "interpolate",
    "total_bytes",
]

PROGRESS_SECONDS = 0.1


@dataclass(frozen=True)
class Progress:
    """The progress of a conversion or an inspection.

    Attributes:
        bytes_in: Bytes of the inputs (compressed) whose messages are written, or counted by
            `inspect`.
        bytes_total: Bytes of all inputs; None if the size of one of them is unknown.
        messages: Messages (or patches, or result rows) written, or counted by `inspect`.
        quads: Quads (operations for patches, rows for results) written, or counted by `inspect`.
        kind: The kind of the messages: "messages", "patches" or "results".
        evaluating: Whether all inputs have been read, and a query over all messages is being
            evaluated.
    """

    bytes_in: int = 0
    bytes_total: int | None = None
    messages: int = 0
    quads: int = 0
    kind: str = "messages"
    evaluating: bool = False


# A function that is called with the progress, or True for a progress bar.
ProgressFunction: TypeAlias = Callable[[Progress], None] | bool | None


class ProgressBar:
    """A progress bar in a notebook, or on standard error."""

    def __init__(self, unit: str = "B") -> None:
        """Initialize with the unit of the total. The bar appears with the first progress."""
        self._unit = unit
        self._bar: Any = None

    def __call__(self, progress: Progress) -> None:
        """Show the progress."""
        if self._bar is None:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=progress.bytes_total, unit=self._unit, unit_scale=True)
        self._bar.n = progress.bytes_in
        self._bar.set_postfix_str(f"{progress.messages:,} {progress.kind}")

    def close(self) -> None:
        """Stop updating the bar. It stays visible."""
        if self._bar is not None:
            self._bar.close()

    def __del__(self) -> None:
        """Close the bar of a run that an error ended."""
        self.close()


def interpolate(earlier: Progress, later: Progress, share: float) -> Progress:
    """Interpolate the progress: `share` of the way from `earlier` to `later`."""
    return replace(
        later,
        bytes_in=earlier.bytes_in + int((later.bytes_in - earlier.bytes_in) * share),
        messages=earlier.messages + int((later.messages - earlier.messages) * share),
        quads=earlier.quads + int((later.quads - earlier.quads) * share),
    )


class Reporter:
    """Calls a function, if there is one, with a `Progress`, at a limited rate."""

    def __init__(self, function: ProgressFunction) -> None:
        """Initialize with the function, or with True for a progress bar.

        Raises:
            OptionError: If the argument is neither.
        """
        if not (function is None or isinstance(function, bool) or callable(function)):
            raise OptionError(
                f"progress must be a function that takes a Progress, or True, not {repr(function)[:40]}"
            )
        if isinstance(function, bool):
            function = ProgressBar() if function else None
        self._function = function
        self._next = 0.0

    def __call__(self, progress: Callable[[], Progress], *, force: bool = False) -> None:
        """Report the result of `progress` if enough time has passed or `force` is true."""
        if self._function is None:
            return
        now = time.perf_counter()
        if now >= self._next or force:
            self._next = now + PROGRESS_SECONDS
            self._function(progress())


def total_bytes(inputs: Iterable[Any]) -> int | None:
    """Return the total size of all inputs in bytes, or None if the size of any input is unknown.

    The size is known for bytes, and for local files, folders and globs.
    """
    total = 0
    for source in inputs:
        if isinstance(source, (bytes, bytearray, memoryview)):
            total += len(source)
            continue
        path = local_path(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else None
        if path is None:
            return None
        if Path(path).is_file():
            total += Path(path).stat().st_size
        elif is_folder_or_glob(path):
            files, _ = find_files([path], recursive=True)
            total += sum(file.size for file in files)
        else:
            return None
    return total
