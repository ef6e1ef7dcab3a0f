"""Default output format.

In: logs. Out: the name of a text format for their kind.
Cost: none if the names show the kind; otherwise reading the beginning of the first log.
Law: an input that can be read only once is not opened here.
"""

from __future__ import annotations

from collections.abc import Sequence

from rdfm.conversion.convert_options import input_formats
from rdfm.errors import RdfmError
from rdfm.logs.input.inputs import Readable, is_read_once
from rdfm.logs.kinds import DEFAULT_FORMATS

__all__ = ["default_format"]


def default_format(inputs: Sequence[Readable], from_format: str | None) -> str:
    """Return the default format for the kind of logs.

    If the kind cannot be detected, the default format for messages is returned.

    Args:
        inputs: The logs.
        from_format: Format of all inputs, if given.

    Raises:
        UnknownFormatError: If `from_format` is unknown.
    """
    others = [given for given in inputs if not is_read_once(given)]
    known = input_formats(others or inputs, from_format)
    if known and len(known[0].kinds) == 1:
        return DEFAULT_FORMATS[known[0].kinds[0]]
    return DEFAULT_FORMATS[_kind(others[0], from_format) if others else "messages"]


def _kind(log: Readable, from_format: str | None) -> str:
    """Return the kind of a log. Errors are ignored here and raised when the log is converted."""
    from rdfm.logs.input.driver import Driver, ReadSettings
    from rdfm.logs.read.reader import LogReader  # costly to import

    try:
        with LogReader(Driver([log], ReadSettings(from_format))) as opened:
            for batch in opened.batches():
                return batch.kind
            return "messages" if opened._format is None else opened._format.spec.kinds[0]
    except (RdfmError, OSError):
        return "messages"
