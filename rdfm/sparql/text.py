"""Query arguments: the text of a query, or a file.

In: an argument. Out: a parsed query.
Law: a string with a brace is a query, since every SELECT, CONSTRUCT and ASK has one. So is a string
with white space, unless a file has that name. Any other string is a file name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import BinaryIO, NamedTuple

from rdfm import formats
from rdfm._core import Query
from rdfm.errors import OptionError, QueryError
from rdfm.formats.spec import decode_text
from rdfm.logs.input.inputs import Input

__all__ = ["QueryLike", "QueryText", "check_order", "is_text", "parse_query", "read_query_text"]

QueryLike = str | os.PathLike[str] | BinaryIO
MAX_BYTES = 16 << 20
_FORM = re.compile(r"\b(?:SELECT|CONSTRUCT|ASK|DESCRIBE)\b", re.IGNORECASE)
_ORDER = "the query comes before the logs"


class QueryText(NamedTuple):
    """The text of a query.

    Attributes:
        text: The text.
        name: Name of the file, if the query is from a file.
        base: URL of the file, the base of relative IRIs.
    """

    text: str
    name: str | None = None
    base: str | None = None


def is_text(query: QueryLike) -> bool:
    """Whether an argument is the text of a query, not a file."""
    # Text with white space, such as DESCRIBE <a:b>, gets a better error as a query than as a file.
    return isinstance(query, str) and (
        not query or "{" in query or (any(map(str.isspace, query)) and not os.path.exists(query))  # noqa: PTH110 - any text
    )


def check_order(query: object, logs: object) -> None:
    """Reject arguments in the wrong order: the logs before the query.

    Raises:
        OptionError: If one of the `logs` is the text of a query and `query` is not, or if `query`
            is a list or another value that can only be logs.
    """
    is_logs = not isinstance(query, (str, os.PathLike)) and not hasattr(query, "read")
    follows = any(
        isinstance(log, str) and "{" in log and _FORM.search(log) is not None
        for log in (logs if isinstance(logs, list) else [logs])
    )
    if follows and not (isinstance(query, str) and is_text(query)):
        if isinstance(query, str) and formats.by_path(query) is not None:
            raise OptionError(_describe_other(query))
        raise OptionError(_ORDER)
    if is_logs and query is not None and isinstance(logs, (str, os.PathLike)):
        raise OptionError(_ORDER)


def read_query_text(query: QueryLike) -> QueryText:
    """Return the text of a query.

    Args:
        query: The text, the path or URL of a file, or a binary file object.

    Raises:
        OptionError: If the file is not UTF-8 text, or is larger than 16 MiB.
        OSError: If the file does not exist or cannot be read.
    """
    if isinstance(query, str) and is_text(query):
        return QueryText(decode_text("the query", query))
    if isinstance(query, str) and query.isalnum() and not os.path.exists(query):  # noqa: PTH110 - any text
        raise OptionError(f"'{query[:40]}' is neither a query (it has no {{…}}) nor a file")
    input = Input(query)
    parts, size = [], 0
    try:
        for piece in input:
            parts.append(piece)
            size += len(piece)
            if size > MAX_BYTES:
                raise OptionError(
                    f"{input.name} is larger than 16 MiB; expected a file with a query"
                )
        return QueryText(b"".join(parts).decode("utf-8-sig"), input.name, input.url)
    except UnicodeDecodeError:
        raise OptionError(_describe_other(input.name)) from None
    finally:
        input.close()


def _describe_other(name: str) -> str:
    if (format := formats.by_path(name)) is not None:
        return (
            f"{name} is a log ({format.spec.title}), not a query; the query comes before the logs"
        )
    return f"{name} is not UTF-8 text; expected a file with a query"


def parse_query(
    query: QueryLike,
    *,
    prefixes: Mapping[str, str] | None = None,
    union_graphs: bool = False,
    timeout: float | None = None,
    max_rows: int | None = None,
    base: str | None = None,
) -> Query:
    """Return the parsed query.

    Args:
        query: As in `read_query_text`.
        prefixes: Namespaces that the query need not declare.
        union_graphs: Whether the query's default graph is the union of all graphs.
        timeout: Time limit per message, in seconds.
        max_rows: Maximum number of solutions per message.
        base: Base for relative IRIs. Defaults to the URL of the file.

    Raises:
        QueryError: If the query is invalid or not supported.
        OptionError, OSError: As in `read_query_text`.
    """
    text, name, text_base = read_query_text(query)
    try:
        return Query(
            text,
            base=base or text_base,
            prefixes=dict(prefixes or {}),
            union_graphs=union_graphs,
            timeout=timeout,
            max_rows=max_rows,
        )
    except QueryError as error:
        if name is None:
            raise
        raise error.with_query_name(name) from None
