"""What logs are written in where nobody says it.

In: the names of logs. Out: the name of a text format of their kind.
Cost: none where their names say the kind; else the head of the first of them is read.
"""

from __future__ import annotations

from collections.abc import Sequence

from rdfm.conversion.options import readers
from rdfm.errors import RdfmError
from rdfm.logs.kinds import USUAL
from rdfm.logs.reader import open_log

__all__ = ["usual_format"]


def usual_format(inputs: Sequence[str], from_format: str | None) -> str:
    """Give the usual format of the kind of logs; that of messages, where the kind cannot be told before they are read.

    Args:
        inputs: Their names; `-` stands for standard input.
        from_format: The format of all of them, if it is given.

    Raises:
        UnknownFormatError: There is no format of that name.
    """
    names = [name for name in inputs if name != "-"]
    known = readers(names, from_format)
    if known and len(known[0].kinds) == 1:
        return USUAL[known[0].kinds[0]]
    return USUAL[_kind(names[0], from_format) if names else "messages"]


def _kind(name: str, from_format: str | None) -> str:
    """What the messages of a log are; whatever is wrong with it shows when it is read."""
    try:
        with open_log(name, from_format) as log:
            for batch in log.batches():
                return batch.kind
            return "messages" if log.found is None else log.found.spec.kinds[0]
    except (RdfmError, OSError):
        return "messages"
