"""Readers as tables and data frames of other libraries: pyarrow, pandas and Polars.

In: an object that returns a pyarrow reader. Out: tables and data frames.
Cost: all rows, in memory. Law: the rows and columns are the same for every library.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from rdfm.errors import MissingExtraError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Tabular", "require_package"]

_INSTALLED_AS = {"pyarrow": "'rdfm[arrow]'", "cryptography": "'rdfm[nanopub]'"}


@contextmanager
def require_package(module: str, purpose: str) -> Iterator[None]:
    """If importing an optional package fails, raise an error that says how to install it.

    Args:
        module: The name of the package.
        purpose: The feature that needs the package, for the error.

    Raises:
        MissingExtraError: If the package is not installed.
    """
    try:
        yield
    except ImportError as error:
        package = _INSTALLED_AS.get(module, module)
        raise MissingExtraError(f"{purpose} needs {module}: pip install {package}") from error


class Tabular(ABC):
    """The base of readers whose rows form a table. The rows can be read once, by any method."""

    @abstractmethod
    def _arrow_reader(self) -> pyarrow.RecordBatchReader:
        """Return a pyarrow reader that reads the rows on demand."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Pass the rows to Arrow; they are read as the consumer requests them.

        This lets `pyarrow.table(reader)`, `polars.DataFrame(reader)` and DuckDB read the rows
        directly, in bounded memory.

        Raises:
            MissingExtraError: If pyarrow is not installed.
            RdfmError, OSError: If the log is invalid before its first rows.
            ValueError: If the rows were already read to their end or to an error, or they are the
                answer to an ASK query.
        """
        capsule: object = self._arrow_reader().__arrow_c_stream__(requested_schema)
        return capsule

    def to_arrow(self) -> pyarrow.Table:
        r"""Read all rows into a `pyarrow.Table` (extra: arrow).

        Raises:
            MissingExtraError: If pyarrow is not installed.
            RdfmError, OSError: If an input is invalid or cannot be read.
            ValueError: As for `__arrow_c_stream__`.

        Example:
            >>> import rdfm
            >>> log = b'<x:a> <x:p> "1" .\n# @message\n<x:b> <x:p> "2" .\n'
            >>> with rdfm.select("SELECT ?s { ?s ?p ?o }", log, format="nq") as found:
            ...     found.to_arrow().column("s").to_pylist()
            ['x:a', 'x:b']
        """
        return self._arrow_reader().read_all()

    def to_pandas(self) -> pandas.DataFrame:
        r"""Read all rows into a pandas data frame.

        Integers are `Int64` and booleans `boolean`, so that null stays null. In other columns, null
        becomes the missing value of the column's pandas type: None, NaN or NaT.

        Raises:
            MissingExtraError: If pandas or pyarrow is not installed. Nothing was read.
            RdfmError, OSError: If an input is invalid or cannot be read.
            ValueError: As for `__arrow_c_stream__`.

        Example:
            >>> import rdfm
            >>> log = b'<x:a> <x:p> "1" .\n# @message\n<x:b> <x:p> "2" .\n'
            >>> with rdfm.open_log(log, "nq", rows="quads") as quads:
            ...     quads.to_pandas()[["message_index", "object"]]
               message_index object
            0              0    "1"
            1              1    "2"
        """
        return self._to_pandas(self.to_arrow)

    def _to_pandas(self, read_table: Callable[[], pyarrow.Table]) -> pandas.DataFrame:
        with require_package("pandas", "a pandas data frame"):
            import pandas as pd
        with require_package("pyarrow", "a pandas data frame"):
            import pyarrow as pa
        nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
        frame: pandas.DataFrame = read_table().to_pandas(types_mapper=nullable.get)
        return frame

    def to_polars(self) -> polars.DataFrame:
        r"""Read all rows into a Polars data frame.

        Raises:
            MissingExtraError: If polars or pyarrow is not installed. Nothing was read.
            RdfmError, OSError: If an input is invalid or cannot be read.
            ValueError: As for `__arrow_c_stream__`.

        Example:
            >>> import rdfm
            >>> results = b'?name\t?age\n"Ann"\t41\n"Bob"\t\n'
            >>> with rdfm.open_log(results, "results-tsv", kind="results") as rows:
            ...     rows.to_polars()["name"].to_list()
            ['"Ann"', '"Bob"']
        """
        return self._to_polars(self.to_arrow)

    def _to_polars(self, read_table: Callable[[], pyarrow.Table]) -> polars.DataFrame:
        with require_package("polars", "a Polars data frame"):
            import polars as pl
        frame = pl.from_arrow(read_table())
        assert isinstance(frame, pl.DataFrame)  # from a table
        return frame

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """Reject conversion to an array.

        `pandas.DataFrame(reader)` would otherwise use it, and lose the columns.

        Raises:
            TypeError: Always.
        """
        raise TypeError(
            f"{self!r} is not an array; call its to_pandas() for a pandas data frame, or to_arrow() for a table"
        )
