"""Logs as tables that can be read any number of times: `scan`.

In: the name of a log, or its bytes. Out: Arrow streams, each of which opens the log again.
Cost: per stream, that of an open log. Only the requested columns are built.
Law: a stream has the rows of `open_log` with the same options, after `LogReader.filter`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Unpack

from rdfm._core import ArrowBatch, MessageBatch
from rdfm.errors import OptionError
from rdfm.logs.input.driver import Driver, ReadSettings
from rdfm.logs.input.inputs import Readable, input_list, is_read_once
from rdfm.logs.read.arrow import TableForm
from rdfm.logs.read.frames import Tabular, require_package
from rdfm.logs.read.reader import LogReader
from rdfm.logs.stages.criteria import FILTERING, FilterStage, filter_values
from rdfm.logs.stages.stage import Stage

if TYPE_CHECKING:
    import pyarrow

    from rdfm.formats.options_generated import ScanOptions

__all__ = ["LogScan", "scan"]


def scan(
    log: Readable | Sequence[Readable],
    format: str | None = None,
    *,
    rows: Literal["messages", "quads"] = "quads",
    terms: Literal["ntriples", "structs"] = "ntriples",
    columns: Sequence[str] | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[ScanOptions],
) -> LogScan:
    r"""Return a log as a table that DuckDB, Polars and pyarrow can read any number of times.

    Each of them opens the log when it needs rows, and reads it in bounded memory.

    Args:
        log: A path, URL or bytes, as in `open_log`, or a list of them. Streams that can be read
            only once, such as file objects, are rejected.
        format: The format. Detected from the suffix, then the content, by default.
        rows: "quads" for a row per quad, or "messages".
        terms: Terms as canonical N-Triples, or as "structs" of kind, value, datatype, language and
            direction.
        columns: The columns, in order; only these are built. See `open_log`.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        **options: The criteria of `LogReader.filter`, such as `predicate="<http://ex/p>"`, and
            options of the format's decoder. With quad rows, `quads` is True by default: the rows
            are the matching quads.

    Raises:
        OptionError: If an option, a column or a criterion is invalid, or the log can be read only
            once.

    Example:
        >>> log = b'<x:a> <x:p> "1" .\n# @message\n<x:b> <x:p> "2" .\n'
        >>> quads = scan(log, "nq", subject="<x:b>", columns=["message_index", "object"])
        >>> quads.to_arrow().to_pylist() == quads.to_arrow().to_pylist()
        True
        >>> quads.to_arrow().to_pylist()
        [{'message_index': 1, 'object': '"2"'}]
    """
    criteria = {option.name for option in FILTERING} & options.keys()
    filters = filter_values({name: options[name] for name in criteria})  # type: ignore[literal-required]
    if filters and rows == "quads":
        filters.setdefault("quads", True)
    settings = ReadSettings(
        format,
        {name: value for name, value in options.items() if name not in criteria},
        compression,
        storage_options,
    )
    return LogScan(
        input_list(log), settings, TableForm.from_options(rows, terms, columns, "messages"), filters
    )


class LogScan(Tabular):
    """A log as a table that can be read any number of times. Created by `rdfm.scan`."""

    def __init__(
        self,
        inputs: list[Readable],
        settings: ReadSettings,
        table: TableForm,
        criteria: Mapping[str, Any],
    ) -> None:
        """Check the arguments. Nothing is opened.

        Args:
            inputs: The logs.
            settings: Settings for reading them.
            table: The form of the rows.
            criteria: Values of `FILTERING`.

        Raises:
            OptionError: If a criterion is invalid, or an input can be read only once.
        """
        for each in inputs:
            if is_read_once(each):
                name = each if isinstance(each, (str, os.PathLike)) else type(each).__name__
                raise OptionError(
                    f"{name} can be read only once, but a scan opens its log for each query; pass a file, a URL or bytes"
                )
        if not inputs:
            raise OptionError("no input is given")
        self._inputs = inputs
        self._settings = settings
        self._table = table
        self._criteria = criteria
        self._filters()  # which checks the criteria

    def _filters(self) -> list[FilterStage]:
        return [FilterStage(self._criteria)] if self._criteria else []

    def open(self, *stages: Stage, columns: Sequence[str] | None = None) -> LogReader:
        """Open the log.

        Args:
            *stages: Stages that process the messages, after the filter.
            columns: Columns to build instead of those of the scan.

        Raises:
            OptionError: If a column is unknown, or as in `open_log`.
            RdfmError, OSError: As in `open_log`.
        """
        table = self._table if columns is None else self._table.select(columns, "messages")
        filters = self._filters()
        in_parts = table.rows == "quads" and all(stage.accepts_parts for stage in filters)
        settings = replace(self._settings, parts="always" if in_parts else "never")
        return LogReader(
            Driver(self._inputs, settings), (*filters, *stages), table=table, kind="messages"
        )

    @property
    def has_quad_terms(self) -> bool:
        """Whether rows are quads, with terms as N-Triples."""
        return self._table.rows == "quads" and self._table.terms == "ntriples"

    def empty_rows(self) -> ArrowBatch:
        """Return a batch without rows. The log is not opened."""
        return self._table.batch_rows(MessageBatch.from_messages([]), "")

    def __arrow_c_schema__(self) -> object:
        """Pass the names and types of the columns to Arrow. The log is not opened."""
        capsule: object = self.empty_rows().__arrow_c_schema__()
        return capsule

    @property
    def schema(self) -> pyarrow.Schema:
        """Names and types of the columns. The log is not opened.

        Raises:
            MissingExtraError: If pyarrow is not installed.
        """
        with require_package("pyarrow", "the schema of a table"):
            import pyarrow as pa
        return pa.schema(self)

    def _arrow_reader(self) -> pyarrow.RecordBatchReader:
        """Return a pyarrow reader of the rows, which opens the log and closes it at its end."""
        with require_package("pyarrow", "reading a log as an Arrow stream"):
            import pyarrow as pa
        log = self.open()

        def rows() -> Iterator[pyarrow.RecordBatch]:
            with log:
                yield from log._arrow_reader()

        reader: pyarrow.RecordBatchReader = pa.RecordBatchReader.from_batches(self.schema, rows())
        return reader

    def __repr__(self) -> str:
        """Return a string such as `<LogScan of a.jelly: subject, object>`."""
        names = ", ".join(
            "bytes" if isinstance(each, bytes) else str(each) for each in self._inputs
        )
        return f"<LogScan of {names:.60}: {', '.join(self.empty_rows().column_names)}>"
