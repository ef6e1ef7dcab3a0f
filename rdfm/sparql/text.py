"""Queries as users give them: the text itself, or a file.

In: what a user names. Out: a parsed query.
Law: a text with a brace is a query, since every SELECT, CONSTRUCT and ASK has one; another one is the name of a file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import BinaryIO, NamedTuple

from rdfm import formats
from rdfm._core import Query
from rdfm.errors import OptionError, QueryError
from rdfm.formats.spec import decoded
from rdfm.logs.input import Input

__all__ = ["QueryLike", "Text", "is_text", "parsed", "text_of"]

QueryLike = str | os.PathLike[str] | BinaryIO
MAX_BYTES = 16 << 20


class Text(NamedTuple):
    """The text of a query.

    Attributes:
        text: The text.
        name: The name of its file, if it is one.
        base: The URL of its file, which relative IRIs are relative to.
    """

    text: str
    name: str | None = None
    base: str | None = None


def is_text(query: QueryLike) -> bool:
    """Whether a query is given as its text, not as a file."""
    # What has a blank and is not a file, such as DESCRIBE <a:b>, gets a better error as a query.
    return isinstance(query, str) and (
        not query or "{" in query or (any(map(str.isspace, query)) and not os.path.exists(query))  # noqa: PTH110 - any text
    )


def text_of(query: QueryLike) -> Text:
    """Give the text of a query.

    Args:
        query: The text; or the path or URL of a file, or a binary file object.

    Raises:
        OptionError: The file is not a text in UTF-8, or too large.
        OSError: There is no such file, or it cannot be read.
    """
    if isinstance(query, str) and is_text(query):
        return Text(decoded("the query", query))
    if isinstance(query, str) and query.isalnum() and not os.path.exists(query):  # noqa: PTH110 - any text
        raise OptionError(f"'{query[:40]}' is neither a query, which has a {{…}}, nor a file")
    given = Input(query)
    parts, size = [], 0
    try:
        for piece in given:
            parts.append(piece)
            size += len(piece)
            if size > MAX_BYTES:
                raise OptionError(f"{given.name} is larger than 16 MiB; name a file with a query")
        return Text(b"".join(parts).decode("utf-8-sig"), given.name, given.url)
    except UnicodeDecodeError:
        raise OptionError(_not_text(given.name)) from None
    finally:
        given.close()


def _not_text(name: str) -> str:
    if (format := formats.by_path(name)) is not None:
        return (
            f"{name} is a log ({format.spec.title}), not a query; the query comes before the logs"
        )
    return f"{name} is not a text in UTF-8; name a file with a query"


def parsed(
    query: QueryLike,
    *,
    prefixes: Mapping[str, str] | None = None,
    union_graphs: bool = False,
    timeout: float | None = None,
    max_rows: int | None = None,
    base: str | None = None,
) -> Query:
    """Give a query that can be evaluated.

    Args:
        query: As in `text_of`.
        prefixes: Namespaces that it need not declare.
        union_graphs: Whether its default graph is all graphs together.
        timeout: Seconds for a message.
        max_rows: Solutions of a message.
        base: What relative IRIs are relative to; else the URL of the file.

    Raises:
        QueryError: It is no query, or one that rdfm does not evaluate.
        OptionError, OSError: As `text_of`.
    """
    text, name, found = text_of(query)
    try:
        return Query(
            text,
            base=base or found,
            prefixes=dict(prefixes or {}),
            union_graphs=union_graphs,
            timeout=timeout,
            max_rows=max_rows,
        )
    except QueryError as error:
        if name is None:
            raise
        raise QueryError(f"{name}: {error.reason}", line=error.line, column=error.column) from None
