"""Whether a Jelly log stays within given stream options: those of another log.

In: the stream options of both. Out: a sentence for each that differs. Law: a smaller table, an older version and a
feature that is not used are within.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rdfm.errors import OptionError, RdfmError, spelled
from rdfm.logs.input import Readable
from rdfm.logs.reader import open_log

__all__ = ["beyond", "given_options"]

_SAME = ("physical_type", "logical_type", "stream_type")
_AT_MOST = ("name_table", "prefix_table", "datatype_table", "jelly_version")
_ONLY_IF = ("rdf_star", "generalized")
# What they are called in a sentence.
_NAMES = {
    "name_table": "the name table",
    "prefix_table": "the prefix table",
    "datatype_table": "the datatype table",
    "jelly_version": "the version",
    "rdf_star": "triple terms (rdf_star)",
    "generalized": "generalized statements",
}


def given_options(log: Readable) -> tuple[str, dict[str, Any]]:
    """Give the format of a Jelly log, and its stream options.

    Raises:
        OptionError: It cannot be read, or has none.
    """
    try:
        with open_log(log, parts=True) as read:
            options = read.header.get("options")
            if not options:
                for _ in read.batches():
                    pass
                options = read.header.get("options")
            if options and read.format.startswith("jelly"):
                return read.format, dict(options)
            raise OptionError(
                f"{spelled('options_from')} takes a Jelly log, and {read.source} has no stream options"
            )
    except OSError as error:
        raise OptionError(
            f"{spelled('options_from')} cannot be read: {error.filename}: {error.strerror}"
        ) from error
    except OptionError:
        raise
    except RdfmError as error:
        raise OptionError(f"options_from cannot be read: {error}") from error


def beyond(found: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[str]:
    """Say where the stream options of a log go beyond given ones."""
    for name in _SAME:
        if found.get(name) != given.get(name):
            what = name.replace("_", " ")
            yield f"the {what} is {found.get(name)}, expected {given.get(name)}"
    for name in _AT_MOST:
        if (found.get(name) or 0) > (given.get(name) or 0):
            yield f"{_NAMES[name]} is {found[name]}, expected at most {given.get(name) or 0}"
    for name in _ONLY_IF:
        if found.get(name) and not given.get(name):
            yield f"{_NAMES[name]} are declared, and the given options declare none"
