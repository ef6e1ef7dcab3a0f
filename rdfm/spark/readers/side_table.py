"""The side table of errors: a Parquet file for each split that had errors.

In: the errors of one split. Out: a file in the folder `errorsTo`, named after the log and the
offset of the first byte of the split.
Cost: one small write for each split with errors, and one removal for each split without errors.
Law: a retried task replaces its file atomically, so every error is in the table exactly once.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rdfm.storage.files import find_storage

if TYPE_CHECKING:
    from rdfm.errors import DecodeError, RdfmError
    from rdfm.logs.input.splits import Split

__all__ = ["SideTable"]

_MAX_ROWS = 10_000
_MAX_TEXT = 2_000
_SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        ("message_index", pa.int64()),
        ("byte_offset", pa.int64()),
        ("error", pa.string()),
    ]
)


class SideTable:
    """The errors of one split."""

    def __init__(
        self, folder: str, options: Mapping[str, Any], path: str, split: Split | None
    ) -> None:
        """Create the part of the table for a split."""
        self._storage, self._folder = find_storage(folder, options)
        start = 0 if split is None else split.start
        name = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._file = f"{self._folder.rstrip('/')}/errors-{name}-{start}.parquet"
        self._path = path
        self._rows: list[tuple[str, int | None, int | None, str]] = []
        self._more = 0

    def add(self, error: DecodeError | RdfmError, source: str | None = None) -> None:
        """Add an error."""
        if len(self._rows) >= _MAX_ROWS:
            self._more += 1
            return
        index = getattr(error, "message_index", None)
        offset = getattr(error, "byte_offset", None)
        self._rows.append((source or self._path, index, offset, str(error)[:_MAX_TEXT]))

    def write(self) -> None:
        """Replace the file of the split, or remove it if there were no errors."""
        if not self._rows:
            self._storage.remove(self._file)
            return
        rows = list(self._rows)
        if self._more:
            errors = "error" if self._more == 1 else "errors"
            rows.append((self._path, None, None, f"{self._more:,} more {errors}"))
        import pyarrow.parquet as pq

        columns = [
            pa.array(values, field.type)
            for values, field in zip(zip(*rows, strict=True), _SCHEMA, strict=True)
        ]
        packed = io.BytesIO()
        pq.write_table(pa.Table.from_arrays(columns, schema=_SCHEMA), packed)
        self._storage.make_folder(self._folder)
        self._storage.write_file(self._file, packed.getvalue())
