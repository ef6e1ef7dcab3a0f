"""The kind of log that a read returns: messages, patches or results.

In: the unit of a row, the format and the schema of a query, and the first file if these do not
determine the kind. Out: the kind, and the variables of results.
Cost: at most one batch of the first file.
Law: a problem with the first file is reported when the file is read. For results, it is reported
immediately, because the first file determines their columns.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rdfm import formats
from rdfm._core import ResultBatch
from rdfm.errors import DecodeError, MissingExtraError, OptionError, UnknownFormatError
from rdfm.spark.schema import columns_of, kind_of

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from rdfm.logs.read.reader import LogReader

__all__ = ["KindFinder", "LogKind", "check_has_rows"]


class LogKind(NamedTuple):
    """The kind of log that a read returns.

    Attributes:
        name: "messages", "patches" or "results"; None if the columns fit both messages and patches.
        variables: The variables of results.
    """

    name: str | None
    variables: tuple[str, ...] = ()


_MESSAGES = LogKind("messages")


@dataclass(frozen=True)
class KindFinder:
    """Determines the kind of log.

    Attributes:
        format: The format of every file; None if it is detected for each file.
        terms: The form of terms: "ntriples" or "structs".
        corrupt: The name of the column of corrupt records.
        first: Returns the first file. None if results cannot be read here, so that no file is
            needed.
        open: Opens a file.
    """

    format: str | None
    terms: str
    corrupt: str
    first: Callable[[], str | None] | None
    open: Callable[[str], LogReader]

    def find(self, schema: StructType | None) -> LogKind:
        """Return the kind of log.

        Raises:
            OptionError: If the schema has columns of two kinds, or results cannot be read here, or
                are the answer to an ASK query.
            DecodeError: If the first file contains results and is invalid.
        """
        kinds = _kinds(None if self.format is None else formats.find(self.format))
        kind = _find_by_schema(schema)
        if kind is None and kinds == ("results",) and self.first is None:
            raise OptionError("SPARQL results cannot be read as a stream; use spark.read")
        kind = kind or _find_by_format(kinds)
        if kind is None and schema is not None and self._is_ambiguous(schema, kinds):
            kind = LogKind(None)
        return kind or self._find_by_first_file(schema, kinds)

    def _is_ambiguous(self, schema: StructType, kinds: tuple[str, ...]) -> bool:
        """Whether a schema contains only columns that both messages and patches have."""
        if "results" not in kinds or len(kinds) == 1:
            return False
        with contextlib.suppress(OptionError):
            columns_of(schema, self.corrupt, terms=self.terms)
            return True
        return False

    def _find_by_first_file(self, schema: StructType | None, kinds: tuple[str, ...]) -> LogKind:
        path = None
        with contextlib.suppress(FileNotFoundError):  # reported when the file is read
            path = self.first() if self.first is not None else None
        if path is None:
            if kinds == ("results",):
                raise OptionError(
                    "the columns of results are the variables of the first file, but there is no file"
                )
            return _MESSAGES if schema is None else LogKind(None)
        if self.format is None:
            kinds = _kinds(formats.by_path(path))
        return _find_by_format(kinds) or self._find_by_content(path, kinds)

    def _find_by_content(self, path: str, kinds: tuple[str, ...]) -> LogKind:
        try:
            with self.open(path) as log:
                batch = next(log.batches(), None)
        except (DecodeError, UnknownFormatError, OSError, MissingExtraError):
            if kinds == ("results",):
                raise
            return _MESSAGES  # reported when the file is read
        if isinstance(batch, ResultBatch):
            check_has_rows(batch, path)
            return LogKind("results", batch.variables)
        return _MESSAGES if batch is None else LogKind(batch.kind)


def _find_by_schema(schema: StructType | None) -> LogKind | None:
    """The kind of a schema with a column that only one kind has."""
    kind = None if schema is None else kind_of(schema)
    return None if kind is None else LogKind(kind)


def _find_by_format(kinds: tuple[str, ...]) -> LogKind | None:
    """The only kind of a format. The variables of results are not known from the format."""
    return LogKind(kinds[0]) if len(kinds) == 1 and kinds != ("results",) else None


def _kinds(format: formats.Format | None) -> tuple[str, ...]:
    """The kinds of log that can be read in a format; all kinds if the format is None."""
    if format is None:
        return ("messages", "patches", "results")
    spec = format.spec
    return tuple(kind for kind in spec.kinds if kind not in spec.written_only)


def check_has_rows(batch: ResultBatch, source: str) -> None:
    """Check that results have rows.

    Raises:
        OptionError: If the results are the answer to an ASK query.
    """
    if batch.boolean is not None:
        raise OptionError(
            f"{source} is the answer to an ASK query, which has no rows; use rdfm.open_log with kind='results'"
        )
