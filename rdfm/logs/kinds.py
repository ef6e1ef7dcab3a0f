"""The kinds of log: the default format of each, and the error for the wrong kind.

In: kinds. Out: names of formats, errors.
"""

from __future__ import annotations

from rdfm.errors import OptionError

__all__ = ["MESSAGE_WORDS", "USUAL", "other_kind"]

# The default formats of standard output and of archives.
USUAL = {"messages": "trig", "patches": "rdf-patch", "results": "results-tsv"}
# The word for a single message of each kind.
MESSAGE_WORDS = {"messages": "message", "patches": "patch", "results": "row"}
# Remedies for a log of the wrong kind, by its kind and by the wanted kind.
_WAYS = {
    "messages": {
        "patches": "rdfm patch from-log makes patches of messages",
        "results": "rdfm query makes results, such as CSV, of messages",
    },
    "patches": {
        "messages": "rdfm patch to-log makes messages of patches, and rdfm patch apply a dataset",
        "results": "rdfm patch to-log makes messages of patches, and rdfm query results of messages",
    },
    "results": {
        "messages": "write a format of results, such as results-json",
        "patches": "write a format of results, such as results-json",
    },
}


def other_kind(source: str, found: str, reason: str, wanted: str = "messages") -> OptionError:
    """Return the error for a log of the wrong kind.

    Args:
        source: Name of the log.
        found: Its kind.
        reason: Why that is wrong, as the middle of a sentence.
        wanted: The kind that fits.

    Example:
        >>> print(other_kind("a.srj", "results", "N-Quads is for messages"))
        a.srj contains results, and N-Quads is for messages; write a format of results, such as results-json
    """
    return OptionError(f"{source} contains {found}, and {reason}; {_WAYS[found][wanted]}")
