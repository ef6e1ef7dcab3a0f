"""Checks that a Jelly log does not exceed the stream options of another log.

In: the stream options of both logs. Out: a sentence for each violation.
Law: smaller tables, older versions and unused features are allowed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rdfm.errors import OptionError, RdfmError, spell_option
from rdfm.logs.input.driver import Driver, ReadSettings
from rdfm.logs.input.inputs import Readable
from rdfm.logs.read.reader import LogReader

__all__ = ["exceeded_options", "read_stream_options"]

_MUST_BE_EQUAL = ("physical_type", "logical_type", "stream_type")
_HAVE_MAXIMUM = ("name_table", "prefix_table", "datatype_table", "jelly_version")
_MUST_BE_ALLOWED = ("rdf_star", "generalized")
# Names of the options in error texts.
_NAMES = {
    "name_table": "the name table",
    "prefix_table": "the prefix table",
    "datatype_table": "the datatype table",
    "jelly_version": "the version",
    "rdf_star": "triple terms (rdf_star)",
    "generalized": "generalized statements",
}


def read_stream_options(log: Readable) -> tuple[str, dict[str, Any]]:
    """Return the format of a Jelly log and its stream options.

    Raises:
        OptionError: If the log cannot be read, or has no stream options.
    """
    try:
        with LogReader(Driver([log], ReadSettings(parts="always"))) as read:
            options = read.header.get("options")
            if not options:
                for _ in read.batches():
                    pass
                options = read.header.get("options")
            if options and read.format.startswith("jelly"):
                return read.format, dict(options)
            raise OptionError(
                f"{spell_option('options_from')} requires a Jelly log, but {read.source} has no stream options"
            )
    except OSError as error:
        raise OptionError(
            f"cannot read {spell_option('options_from')}: {error.filename}: {error.strerror}"
        ) from error
    except OptionError:
        raise
    except RdfmError as error:
        raise OptionError(f"cannot read {spell_option('options_from')}: {error}") from error


def exceeded_options(found: Mapping[str, Any], allowed: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each stream option of a log that exceeds the allowed value."""
    for name in _MUST_BE_EQUAL:
        # Jelly 1.2 has a stream type instead of a logical type.
        if name in found and name in allowed and found[name] != allowed[name]:
            label = name.replace("_", " ")
            yield f"the {label} is {found[name]}, expected {allowed[name]}"
    for name in _HAVE_MAXIMUM:
        if (found.get(name) or 0) > (allowed.get(name) or 0):
            yield f"{_NAMES[name]} is {found[name]}, expected at most {allowed.get(name) or 0}"
    for name in _MUST_BE_ALLOWED:
        if found.get(name) and name in allowed and not allowed[name]:
            yield f"{_NAMES[name]} are declared, but the given options do not allow them"
