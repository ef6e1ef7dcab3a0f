"""What a converted log says about itself: its dialect, or its Jelly stream options.

In: the options of `convert`, and what the first input says about itself and can carry.
Out: options of the encoder. Law: an explicit option always wins; headers are fixed at the first
message, since what follows is not known then.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rdfm.errors import DecodeError, OptionError
from rdfm.formats import Format
from rdfm.formats.jelly import LOGICAL_TYPES
from rdfm.logs.log import open_log

__all__ = [
    "dialect",
    "jelly",
    "may_stay_flat",
    "read_jelly_options",
    "refuse_idle_label",
    "refuse_idle_options",
    "refuse_jelly_options",
]

_SIZES_AND_NAME = ("stream_name", "name_table", "prefix_table", "datatype_table", "frame_rows")
_JSON = "NDJSON-LD, JSON-LD and YAML-LD"
_BINARY = "RDF Protobuf and RDF Thrift"
# Options of few writers: their name there, and who they are for.
_OF_FEW = {
    "context_lines": ("context_lines", _JSON),
    "compact_with": ("compact_with", _JSON),
    "framing": ("framing", "RDF Protobuf"),
    "prefixed_names": ("prefixed_names", _BINARY),
    "values": ("values", _BINARY),
    "to_dialect": ("dialect", "N-Triples, N-Quads, Turtle and TriG"),
    "rdf_star_syntax": ("rdf_star_syntax", "N-Triples and N-Quads"),
}
_TYPES = ("physical_type", "logical_type")
_JELLY_ONLY = ("options_from", "delimited", "namespaces", *_TYPES, *_SIZES_AND_NAME)
# The largest lookup tables that rdfm reads unless told otherwise.
_READ_BY_DEFAULT = {"name_table": 65536, "prefix_table": 65536, "datatype_table": 4096}
# Logical types of streams of triples; the others are of quads.
_OF_TRIPLES = (1, 3, 13)


def dialect(given: Mapping[str, Any], header: Mapping[str, Any]) -> str:
    """Give the dialect to write: as asked, as read on request, as the source's, else comments."""
    if given.get("flat"):
        return "plain"
    asked = given.get("to_dialect") or given.get("dialect")
    if asked in ("comment", "directive"):
        return str(asked)
    return "directive" if header.get("dialect") == "directive" and asked is None else "comment"


def jelly(
    given: Mapping[str, Any],
    *,
    template: Mapping[str, Any] | None,
    carries: Mapping[str, Any],
    declares: bool,
    stays_flat: bool = False,
) -> dict[str, Any]:
    """Give the options of a Jelly encoder.

    Args:
        given: The options of `convert`.
        template: The stream options of `options_from` or of a source in Jelly, if there are any.
        carries: What the source's format can hold.
        declares: Whether the source declares namespaces at its first message.
        stays_flat: Whether the source is one message of many frames, and is written as one.
    """
    options: dict[str, Any] = dict(template or {})
    own = given.get("options_from") is not None
    if template:
        options["namespaces"] = options.get("version", 1) >= 2
    else:
        graphs = carries.get("graphs", True) and not given.get("merge_graphs")
        options["physical_type"] = "quads" if graphs else "triples"
        options["rdf_star"] = carries.get("triple_terms", "no") != "no"
        options["generalized"] = False
        options["namespaces"] = declares
    wanted = given.get("namespaces")
    if wanted is None and given.get("prefixes"):
        wanted = True
    if wanted is not None:
        options["namespaces"] = wanted
    if options["namespaces"]:
        options["version"] = 2
    elif wanted is False and not own:
        options["version"] = 1
    if given.get("generalized"):
        options["generalized"] = True
    options["delimited"] = given.get("delimited")
    flat = given.get("frames") == "flat" or stays_flat
    options["frames"] = "flat" if flat else "message"
    _types(options, given, own=own, flat=flat)
    options |= {name: given[name] for name in _SIZES_AND_NAME if given.get(name) is not None}
    # Numbers, so that any spelling of a name will do.
    options["logical_type"] = _logical_type(options["logical_type"])
    return options


def may_stay_flat(given: Mapping[str, Any], template: Mapping[str, Any]) -> bool:
    """Whether a Jelly log of a flat type is written as one, as far as options say.

    Args:
        given: The options of `convert`.
        template: The stream options of `options_from`, if they are given.
    """
    if given.get("frames") not in (None, "auto"):
        return False
    asked = given.get("logical_type")
    if asked is None:
        asked = template.get("logical_type")
    return asked is None or _is_flat(_logical_type(asked))


def _types(options: dict[str, Any], given: Mapping[str, Any], *, own: bool, flat: bool) -> None:
    """Sets physical and logical type, so that the one that is not asked for fits the other."""
    physical, logical = given.get("physical_type"), given.get("logical_type")
    if logical is not None:
        options["logical_type"] = logical
        triples = _logical_type(logical) in _OF_TRIPLES
        if triples != (options["physical_type"] == "triples") and _logical_type(logical) != 0:
            options["physical_type"] = "triples" if triples else "quads"
    if physical is not None:
        if physical != options["physical_type"] and logical is None:
            options.pop("logical_type", None)
        options["physical_type"] = physical
    if logical is not None:
        return
    found = options.get("logical_type")
    if isinstance(found, int) and found not in LOGICAL_TYPES.values():
        # An extension, which the encoder does not know: its base type.
        found = options["logical_type"] = found % 10 if found % 10 <= 4 else 0
    # Frames that are messages are not told to be mere transport, unless that was asked for.
    if found is None or (not own and flat != _is_flat(_logical_type(found))):
        kind = "triples" if options["physical_type"] == "triples" else "quads"
        whole = {"quads": "datasets", "triples": "graphs"}
        options["logical_type"] = f"flat_{kind}" if flat else whole[kind]


def _is_flat(logical_type: int) -> bool:
    """Whether frames of the type are transport: its base type, the last digit, is flat."""
    return logical_type % 10 in (1, 2)


def read_jelly_options(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Give the stream options of a Jelly log.

    Raises:
        OptionError: The log holds none.
        DecodeError: It is no Jelly log.
        OSError: It cannot be read.
    """
    try:
        with open_log(path, "jelly") as log:
            found = log.header.get("jelly")
            if found is None:
                for _ in log.batches():
                    pass
                raise OptionError(f"{os.fspath(path)}: the Jelly log holds no stream options")
    except DecodeError as error:
        error.add_note("--options-from (options_from) takes a Jelly log")
        raise
    return dict(found)


def refuse_jelly_options(given: Mapping[str, Any], target: Format) -> None:
    """Refuse options of Jelly's writer for other targets.

    Raises:
        OptionError: One is given and the target is not Jelly.
    """
    for name in _JELLY_ONLY:
        others = target.name != "jelly" and name not in target.encode_options
        if given.get(name) is not None and others:
            option = "--" + name.replace("_", "-")
            raise OptionError(
                f"{option} ({name}) is for writing Jelly, and the output is {target.name}"
            )


def refuse_idle_options(given: Mapping[str, Any], target: Format) -> None:
    """Refuse options that would do nothing, and tables that no reader takes by itself.

    Raises:
        OptionError: One is given.
    """
    if given.get("flat") and target.name == "jelly":
        raise OptionError("--flat (flat) is for writing text; for Jelly say --frames flat (frames)")
    if given.get("flat") and not {"flat", "dialect"} & set(target.encode_options):
        raise OptionError(
            f"--flat (flat) does nothing in {target.name}; --group-by all (group_by) makes one message "
            "of all"
        )
    if given.get("prefixes") and "prefixes" not in target.encode_options:
        has = "those of the messages alone" if target.carries.get("namespaces") else "none"
        raise OptionError(
            f"--prefix (prefixes) declares namespaces, and {target.name} has {has}; leave it out"
        )
    for name, (its_name, holders) in _OF_FEW.items():
        value = given.get(name)
        # A switch that is off asks for nothing, but that is no default of prefixed_names.
        asked = value is not None and (value is not False or name == "prefixed_names")
        if asked and its_name not in target.encode_options:
            option = "--" + name.replace("_", "-")
            raise OptionError(
                f"{option} ({name}) is for writing {holders}, and the output is {target.name}"
            )
    for name, most in _READ_BY_DEFAULT.items():
        if (given.get(name) or 0) > most:
            option = "--" + name.replace("_", "-")
            raise OptionError(
                f"{option} ({name}) is {given[name]}, and readers take {most} at most unless told "
                f"otherwise (max_{name})"
            )


def refuse_idle_label(given: Mapping[str, Any], written: str) -> None:
    """Refuse a version label where the dialect writes none.

    Raises:
        OptionError: One is given, and messages are not delimited by directives.
    """
    if given.get("version_label") is not None and written != "directive":
        raise OptionError(
            "--version-label (version_label) is written in the directive dialect only; "
            "add --to-dialect directive (to_dialect)"
        )


def _logical_type(value: str | int) -> int:
    if isinstance(value, int):
        return value
    key = value.lower().replace("-", "_")
    if key not in LOGICAL_TYPES:
        known = ", ".join(LOGICAL_TYPES)
        raise OptionError(f"no logical type is called '{value[:40]}'; there are {known}")
    return LOGICAL_TYPES[key]
