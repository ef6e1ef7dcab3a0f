"""The kinds of log: what each is written in where nobody says it, and what refuses another kind.

In: kinds. Out: names of formats, errors.
"""

from __future__ import annotations

from rdfm.errors import OptionError

__all__ = ["MESSAGE_WORDS", "USUAL", "other_kind"]

# The formats of standard output and of archives.
USUAL = {"messages": "trig", "patches": "rdf-patch", "results": "results-tsv"}
# The word for one of the messages of a kind.
MESSAGE_WORDS = {"messages": "message", "patches": "patch", "results": "row"}
# What else can be done with a log of a kind.
_WAYS = {
    "messages": "rdfm patch from-log makes patches of messages",
    "patches": "rdfm patch to-log makes messages of patches, and rdfm patch apply a dataset",
    "results": "write a format of results, such as results-json",
}


def other_kind(source: str, found: str, wanted: str) -> OptionError:
    """Make the error about a log of another kind than is wanted.

    Args:
        source: The name of the log.
        found: Its kind.
        wanted: What is wanted, as the middle of a sentence.

    Example:
        >>> print(other_kind("a.srj", "results", "N-Quads holds messages"))
        a.srj holds results, and N-Quads holds messages; write a format of results, such as results-json
    """
    return OptionError(f"{source} holds {found}, and {wanted}; {_WAYS[found]}")
