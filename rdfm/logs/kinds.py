"""The kinds of logs: the default format of each, and the error for a wrong kind.

In: kinds. Out: names of formats, errors.
"""

from __future__ import annotations

from rdfm.errors import OptionError

__all__ = ["DEFAULT_FORMATS", "MESSAGE_WORDS", "wrong_kind_error"]

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


def wrong_kind_error(source: str, found: str, reason: str, wanted: str = "messages") -> OptionError:
    """Return the error for a log of the wrong kind.

    Args:
        source: Name of the log.
        found: Its kind.
        reason: The reason why the kind is wrong, as the middle of a sentence.
        wanted: The required kind.

    Example:
        >>> print(wrong_kind_error("a.srj", "results", "N-Quads is for messages"))
        a.srj contains results, but N-Quads is for messages; results can only be converted to a result format, such as results-json
    """
    return OptionError(f"{source} contains {found}, but {reason}; {_CONVERSIONS[found][wanted]}")
