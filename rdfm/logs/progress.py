"""How far a conversion or an inspection is, told to a function about ten times a second.

In: what was done so far. Out: calls of the function that the caller gave.
Cost: a look at the clock. Law: each call gets a `Progress` of its own, which nobody changes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rdfm.errors import OptionError
from rdfm.logs.input import holds_files
from rdfm.storage.listing import find_files
from rdfm.storage.paths import local_path

__all__ = ["Progress", "Reporter", "total_bytes"]

PROGRESS_SECONDS = 0.1


@dataclass(frozen=True)
class Progress:
    """How far a conversion or an inspection is.

    Attributes:
        bytes_in: Bytes of the inputs (compressed) that are done: what was read there is written, or
            by `inspect` counted.
        bytes_total: Bytes of all inputs; None where one of them does not say.
        messages: Messages written, or by `inspect` counted: patches, rows of results.
        quads: Quads written, or by `inspect` counted; of patches operations, of results rows.
        kind: What the messages are: "messages", "patches" or "results".
        evaluating: Whether all inputs are read, and a query over all messages is evaluated.
    """

    bytes_in: int = 0
    bytes_total: int | None = None
    messages: int = 0
    quads: int = 0
    kind: str = "messages"
    evaluating: bool = False

    def towards(self, later: Progress, share: float) -> Progress:
        """Give how far it is about, after a share of the way to `later`."""
        return replace(
            later,
            bytes_in=self.bytes_in + int((later.bytes_in - self.bytes_in) * share),
            messages=self.messages + int((later.messages - self.messages) * share),
            quads=self.quads + int((later.quads - self.quads) * share),
        )


class Reporter:
    """Calls a function with a `Progress`, if there is one, and not too often."""

    def __init__(self, function: Callable[[Progress], None] | None) -> None:
        """Take the function.

        Raises:
            OptionError: It is none.
        """
        if function is not None and not callable(function):
            raise OptionError(
                f"progress is a function that takes a Progress, not {repr(function)[:40]}"
            )
        self._function = function
        self._next = 0.0

    def __call__(self, progress: Callable[[], Progress], *, force: bool = False) -> None:
        """Tell what `progress` gives, if it is time for that."""
        if self._function is None:
            return
        now = time.perf_counter()
        if now >= self._next or force:
            self._next = now + PROGRESS_SECONDS
            self._function(progress())


def total_bytes(inputs: Iterable[Any]) -> int | None:
    """Give the bytes of all inputs, if all are bytes, or files, folders and globs of this machine."""
    total = 0
    for given in inputs:
        if isinstance(given, (bytes, bytearray, memoryview)):
            total += len(given)
            continue
        path = local_path(os.fspath(given)) if isinstance(given, (str, os.PathLike)) else None
        if path is None:
            return None
        if Path(path).is_file():
            total += Path(path).stat().st_size
        elif holds_files(path):
            found, _ = find_files([path], recursive=True)
            total += sum(file.size for file in found)
        else:
            return None
    return total
