"""The kinds of logs: the default format of each, and the error for a wrong kind.

In: kinds. Out: names of formats, errors.
"""

from __future__ import annotations

from rdfm.errors import OptionError, Remedy
from rdfm.formats import FormatSpec

__all__ = [
    "DEFAULT_FORMATS",
    "MESSAGE_WORDS",
    "check_kind",
    "format_of_other_kind_error",
    "log_of_other_kind_error",
    "unread_kind_error",
    "wrong_kind_error",
]

# The default formats of standard output and of archives.
DEFAULT_FORMATS = {"messages": "trig", "patches": "rdf-patch", "results": "results-tsv"}
# The noun for a single message of each kind.
MESSAGE_WORDS = {"messages": "message", "patches": "patch", "results": "row"}
# Remedies for a log of the wrong kind, by its kind and by the wanted kind.
_CONVERSIONS = {
    "messages": {
        "patches": "rdfm patch from-log converts messages to patches",
        "results": "rdfm query writes the results of a query on messages, for example as CSV",
    },
    "patches": {
        "messages": "rdfm patch to-log converts patches to messages, and rdfm patch apply applies them to a dataset",
        "results": "rdfm patch to-log converts patches to messages, which rdfm query can read",
    },
    "results": {
        "messages": "results can only be converted to a result format, such as results-json",
        "patches": "results can only be converted to a result format, such as results-json",
    },
}


def wrong_kind_error(
    source: str, kind: str, reason: str, expected: str = "messages"
) -> OptionError:
    """Return the error for a log of the wrong kind.

    Args:
        source: Name of the log.
        kind: Its kind.
        reason: The reason why the kind is wrong, as the middle of a sentence.
        expected: The required kind.

    Example:
        >>> print(wrong_kind_error("a.srj", "results", "N-Quads is for messages"))
        a.srj contains results, but N-Quads is for messages; results can only be converted to a result format, such as results-json
    """
    return OptionError(f"{source} contains {kind}, but {reason}; {_CONVERSIONS[kind][expected]}")


def check_kind(kind: object) -> None:
    """Check the value of an argument `kind`.

    Raises:
        OptionError: If there is no such kind.
    """
    if kind not in DEFAULT_FORMATS:
        raise OptionError(f"kind must be 'messages', 'patches' or 'results', not {kind!r}")


def format_of_other_kind_error(spec: FormatSpec, kind: str) -> OptionError:
    """Return the error for a format that cannot write a kind, the value of the argument `kind`."""
    return OptionError(
        f"{spec.title} is for {' and '.join(spec.kinds)}, not for {kind}",
        remedies=(Remedy("stage", "kind", spec.kinds[0], "writes them"),),
    )


def log_of_other_kind_error(source: str, actual_kind: str, kind: str) -> OptionError:
    """Return the error for a log that does not contain the kind that the argument `kind` says."""
    return OptionError(
        f"{source} contains {actual_kind}, not {kind}",
        remedies=(Remedy("stage", "kind", actual_kind, "reads them"),),
    )


def unread_kind_error(source: str, spec: FormatSpec, kind: str) -> OptionError:
    """Return the error for a kind that a format can store, but not return."""
    return OptionError(
        f"{source}: {kind} in {spec.title} cannot be read back, because nothing marks the values of "
        "the table as terms; store results in a result format, such as results-thrift (.srt)"
    )
