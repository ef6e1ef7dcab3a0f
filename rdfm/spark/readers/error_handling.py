"""Handles read errors: according to the mode, they fail the query, become rows, or are skipped.

In: the errors of one file. Out: rows for them, warnings, and the side table of `errorsTo`.
Law: data is omitted only if an option allows it, and then with a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from rdfm.errors import (
    DecodeError,
    LimitError,
    RdfmError,
    UnknownFormatError,
    UnsupportedError,
)
from rdfm.logs.input.driver import Item, SkippedLines
from rdfm.logs.stages.stage import Stage
from rdfm.spark.readers.side_table import SideTable
from rdfm.spark.spark_remedies import MODES_OF_ERRORS, NOT_SPLIT, OTHER_FILES, render_for_spark

if TYPE_CHECKING:
    import pyarrow as pa

    from rdfm.logs.input.splits import Split
    from rdfm.logs.read.reader import LogReader
    from rdfm.spark.readers.collectors import RowCollector
    from rdfm.spark.readers.rows import SparkReading

__all__ = ["ErrorHandler"]

_log = logging.getLogger("rdfm.spark")


class _LineStage(Stage):
    """Removes skipped lines from the items, and calls a function with them."""

    def __init__(self, add: Callable[[SkippedLines], None]) -> None:
        self._add = add

    def process(self, item: Item) -> Iterable[Item]:
        """Process an item."""
        if isinstance(item, SkippedLines):
            self._add(item)
            return ()
        return (item,)


class ErrorHandler:
    """Handles the errors of one file.

    Attributes:
        ended: Whether the rest of the file is skipped.
        stages: Stages that handle skipped lines.
    """

    def __init__(
        self, reading: SparkReading, path: str, split: Split | None, rows: RowCollector
    ) -> None:
        """Create a handler for a file or a split of it. Error rows are added to `rows`."""
        self.ended = False
        self._reading = reading
        self._path = path
        self._is_part = split is not None and not split.whole
        self._has_lines = split is not None and split.has_lines
        self._rows = rows
        self.stages = (_LineStage(self._add_lines),) if reading.skip_lines else ()
        self._dropped = self._dropped_lines = 0
        self._first: DecodeError | None = None
        self._table: SideTable | None = None
        if reading.errors_to is not None:
            options = reading.storage_for(reading.errors_to) or {}
            self._table = SideTable(reading.errors_to, options, path, split)

    def _add_lines(self, item: SkippedLines) -> None:
        """Count and record skipped lines."""
        self._dropped_lines += len(item.lines)
        for error, _ in item.lines:
            error.renderer = render_for_spark
            self._record(error, item.source.name)
            self._first = self._first or error

    def handle(
        self, log: LogReader, error: DecodeError, *, in_message: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """Handle an error according to the mode.

        Args:
            log: The log.
            error: The error.
            in_message: Whether rows of the message with the error have been returned.

        Raises:
            DecodeError: If the mode does not skip the error.
        """
        mode = self._reading.mode
        error.renderer = render_for_spark
        # A message that exceeds a limit may be valid, so it must not be dropped without an error
        # row.
        limit = isinstance(error, LimitError)
        if limit and mode != "PERMISSIVE":
            raise _with_remedies(error)
        if mode == "DROPMALFORMED" and (in_message or self._has_lines):
            error.reason += "; other rows of this message may have been returned"
            raise error
        if mode == "FAILFAST":
            if isinstance(error, UnsupportedError):
                self._skip(log, error)
            if not self._reading.ignore_corrupt:
                raise _with_remedies(error)
            self._record(error, log.source)
            self._skip_rest(error)
            return
        text, error = self._skip(log, error)
        self._record(error, log.source)
        if self.ended:
            self._skip_rest(error)
        if mode == "PERMISSIVE":
            yield from self._rows.add_error(log.source, error, text)
        else:
            self._dropped += 1
            self._first = self._first or error

    def _skip(self, log: LogReader, error: DecodeError) -> tuple[str, DecodeError]:
        """Skip a message. Return its text and the error, or another error if skipping failed.

        Raises:
            UnsupportedError: If the log cannot be read in splits. The log may be valid, and the
                number of messages that would be lost is unknown, so no mode skips this error.
        """
        try:
            skipped = log.skip_message().decode("utf-8", "replace")
            if log.several and not skipped:
                skipped = f"{error}; the rest of {error.source} is skipped"
            return skipped, error
        except DecodeError as last:
            last.renderer = render_for_spark
            # In a split, skipping raises this error only if the log cannot be read in splits: a
            # message with any other unsupported feature can be skipped.
            if self._is_part and isinstance(last, UnsupportedError):
                last.remedies += (NOT_SPLIT,)
                raise
            self.ended = True
            return f"{last}; the rest of the file is skipped", last

    def handle_unreadable(
        self, error: DecodeError | UnknownFormatError
    ) -> Iterator[pa.RecordBatch]:
        """Handle a file that could not be opened.

        Raises:
            DecodeError, UnknownFormatError: If the mode does not skip the error.
        """
        mode = self._reading.mode
        error.renderer = render_for_spark
        if mode == "PERMISSIVE" and isinstance(error, DecodeError):
            text = f"{error}; the file is skipped"
            self._record(error)
            self._skip_rest(error)
            yield from self._rows.add_error(self._path, error, text)
        elif self._reading.ignore_corrupt or (
            mode == "DROPMALFORMED" and isinstance(error, DecodeError)
        ):
            self._record(error)
            self._skip_rest(error)
        else:
            raise _with_remedies(error)

    def _record(self, error: RdfmError, source: str | None = None) -> None:
        """Add an error to the side table."""
        if self._table is not None:
            self._table.add(error, source)

    def _skip_rest(self, error: RdfmError) -> None:
        self.ended = True
        _log.warning("%s; the rest of %s is skipped", error, self._path)

    def finish(self) -> None:
        """Write the side table, and log a warning if messages were dropped."""
        if self._table is not None:
            self._table.write()
        if self._dropped_lines:
            _log.warning(
                "%s: number of invalid lines dropped: %d; first error: %s",
                *(self._path, self._dropped_lines, self._first),
            )
        if self._dropped:
            _log.warning(
                "%s: number of invalid messages dropped: %d; first error: %s",
                *(self._path, self._dropped, self._first),
            )


def _with_remedies(error: DecodeError | UnknownFormatError) -> DecodeError | UnknownFormatError:
    """Add Spark's remedies to an error."""
    if isinstance(error, UnknownFormatError):
        error.remedies += OTHER_FILES
    elif not isinstance(error, LimitError):
        error.remedies += MODES_OF_ERRORS
    return error
