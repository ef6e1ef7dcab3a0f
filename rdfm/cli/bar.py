"""The progress bar, on standard error."""

from __future__ import annotations

import sys
import time
from typing import Any

from rdfm.cli.stdio import message_counts_text


class Bar:
    """A progress bar that appears after a second, and stays until it is closed."""

    def __init__(self, unit: str = "B") -> None:
        """Start the delay of one second. `unit` is the unit of the total."""
        self._unit = unit
        self._start = time.monotonic()
        self._bar: Any = None
        self._ended = False

    @classmethod
    def create_if_terminal(cls, unit: str = "B") -> Bar | None:
        """Return a bar if standard error is a terminal; otherwise None."""
        return cls(unit) if sys.stderr is not None and sys.stderr.isatty() else None

    def __call__(self, progress: Any) -> None:
        """Show the progress.

        Query evaluation is shown immediately, because it reports no progress until it ends.
        """
        if self._ended:
            return
        if self._bar is None:
            if time.monotonic() - self._start < 1 and not progress.evaluating:
                return
            from tqdm import tqdm

            self._bar = tqdm(
                total=progress.bytes_total,
                initial=progress.bytes_in,
                unit=self._unit,
                unit_scale=True,
                leave=False,
                mininterval=0,  # updates are already rare
                miniters=0,
                file=sys.stderr,
            )
        counts_text = message_counts_text(progress.kind, progress.messages, progress.quads)
        self._bar.set_postfix_str(
            "evaluating" if progress.evaluating else counts_text, refresh=False
        )
        self._bar.update(progress.bytes_in - self._bar.n)
        if progress.evaluating:
            self._bar.refresh()

    def end(self) -> None:
        """Remove the bar, and ignore all later progress."""
        self._ended = True
        self.close()

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
