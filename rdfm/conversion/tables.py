"""Tables as the output of a conversion.

In: record batches. Out: the bytes of a table format, such as Parquet.
Cost: that of the format's encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rdfm.conversion.target import Target
from rdfm.errors import OptionError
from rdfm.formats import Format
from rdfm.logs.read.rows import ComputedBatch
from rdfm.logs.write.output import OutputShape, Writable

if TYPE_CHECKING:
    import pyarrow

__all__ = ["TableBatch", "TableEncoder", "TableTarget", "create_computed_output"]


def create_computed_output(
    output: Writable,
    format: Format,
    stages: Mapping[str, Any],
    writes: Mapping[str, Any],
    make_schema: Callable[[], pyarrow.Schema] | None = None,
    make_notes: Callable[[], list[str]] = list,
) -> tuple[OutputShape, Any]:
    """Return the shape and the target of an output that is computed from logs, such as rows.

    Args:
        output: The output.
        format: Format of the output.
        stages: Options of the output that are not options of formats.
        writes: Options of the format.
        make_schema: Function that returns the columns, if the output is a table. Called when the
            first rows have arrived.
        make_notes: Function that returns notes about the columns, called at the end.

    Raises:
        OptionError: If an option does not apply.
    """
    if "lossy" in format.spec.options("write"):  # users of CSV expect plain values
        writes = {"lossy": True, **writes}
    shape = OutputShape(
        output,
        stages.get("compression"),
        stages.get("split_messages"),
        stages.get("split_bytes"),
        stages.get("overwrite", False),
    )
    target = Target(output, format, writes, shape)
    if make_schema is None:
        return shape, target
    if shape.folder or shape.archive:
        raise OptionError("a table must be a single file, such as out.parquet")
    return shape, TableTarget(target, make_schema, make_notes)


class TableBatch(ComputedBatch):
    """The rows of a table as a batch.

    Attributes:
        table: The record batch.
        memory_bytes: Size in bytes.
    """

    def __init__(self, table: pyarrow.RecordBatch) -> None:
        """Create a batch from the record batch of its rows."""
        self.table = table
        self.memory_bytes = table.nbytes

    def __len__(self) -> int:
        """Number of rows."""
        rows: int = self.table.num_rows
        return rows


class TableTarget:
    """A conversion target for tables."""

    encoder_accepts_parts = accepts_parts = False

    def __init__(
        self,
        target: Target,
        make_schema: Callable[[], pyarrow.Schema],
        make_notes: Callable[[], list[str]],
    ) -> None:
        self.format = target.format
        self._target = target
        self._make_schema = make_schema
        self._make_notes = make_notes

    def encoder(self, source: object, known: object) -> TableEncoder:
        """Return the encoder. The arguments are ignored."""
        encoder = self._target.encoder(None, None)
        return TableEncoder(encoder, self._make_schema(), self._make_notes)


class TableEncoder:
    """Encodes rows with the encoder of a table format."""

    def __init__(
        self, encoder: Any, schema: pyarrow.Schema, make_notes: Callable[[], list[str]]
    ) -> None:
        """Start a table with the columns of a schema."""
        self._encoder = encoder
        self._make_notes = make_notes
        encoder.begin_table(schema)

    def encode(self, batch: TableBatch, /, source: str | None = None) -> bytes:
        """Encode rows, and return the bytes that are complete. The encoder buffers some rows."""
        encoded: bytes = self._encoder.encode_table(batch.table)
        return encoded

    def finish(self) -> bytes:
        """Return the remaining bytes of the table."""
        finished: bytes = self._encoder.finish()
        return finished

    def dropped(self) -> dict[str, int]:
        """Return an empty dict: tables store every value."""
        return {}

    def notes(self) -> list[str]:
        """Return notes about the columns."""
        return self._make_notes()
