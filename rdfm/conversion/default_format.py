"""Default output format.

In: the names of logs. Out: the name of a text format for their kind.
Cost: none if the names show the kind; otherwise reading the beginning of the first log.
"""

from __future__ import annotations

from collections.abc import Sequence

from rdfm.conversion.options import input_formats
from rdfm.errors import RdfmError
from rdfm.logs.kinds import DEFAULT_FORMATS

__all__ = ["default_format"]


def default_format(inputs: Sequence[str], from_format: str | None) -> str:
    """Return the default format for the kind of logs.

    If the kind cannot be detected, the default format for messages is returned.

    Args:
        inputs: Names of the logs; `-` is standard input.
        from_format: Format of all inputs, if given.

    Raises:
        UnknownFormatError: If `from_format` is unknown.
    """
    names = [name for name in inputs if name != "-"]
    known = input_formats(names, from_format)
    if known and len(known[0].kinds) == 1:
        return DEFAULT_FORMATS[known[0].kinds[0]]
    return DEFAULT_FORMATS[_kind(names[0], from_format) if names else "messages"]


def _kind(name: str, from_format: str | None) -> str:
    """Return the kind of a log. Errors are ignored here and raised when the log is converted."""
    from rdfm.logs.reader import open_log  # costly to import

    try:
        with open_log(name, from_format) as log:
            for batch in log.batches():
                return batch.kind
            return "messages" if log.found is None else log.found.spec.kinds[0]
    except (RdfmError, OSError):
        return "messages"
