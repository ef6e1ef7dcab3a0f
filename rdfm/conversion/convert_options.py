"""Conversion options: the options of the stages, and the assignment of options to the formats.

In: options by name, as values or as text. Out: options of the stages, the input and the output.
Law: `from_NAME` applies to the input and `to_NAME` to the output. A plain name applies to the side
that has the option. An option that neither side has is rejected. An option that both sides have is
rejected unless it is a shared option.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rdfm import formats
from rdfm.conversion.canonical_stage import CANONICAL
from rdfm.conversion.in_place import REWRITING
from rdfm.conversion.regroup import REGROUPING
from rdfm.conversion.skipping import SKIPPING
from rdfm.errors import OptionError, Remedy, spell_option
from rdfm.formats import FormatSpec, OptionSpec
from rdfm.formats.spec import join_words, requires_side
from rdfm.logs.input.inputs import Readable, is_folder_or_glob
from rdfm.logs.options import APPENDING, LIVE, READING, RUNNING, SPLITTING, WRITING
from rdfm.logs.stages.selection import SELECTING
from rdfm.storage.addresses import is_web
from rdfm.storage.paths import is_live
from rdfm.storage.pipes import mark_pipes

__all__ = [
    "SHOWING",
    "SHOWING_FIRST",
    "STAGES",
    "OptionsByComponent",
    "input_formats",
    "live_options",
    "may_be_stream",
    "split_options",
]

STAGES: dict[str, OptionSpec] = {
    option.name: option
    for option in (
        *READING,
        *SKIPPING,
        *LIVE,
        *WRITING,
        *SPLITTING,
        *APPENDING,
        *REGROUPING,
        *SELECTING,
        *CANONICAL,
        *REWRITING,
        *RUNNING,
    )
}
# Options of `rdfm head` and `rdfm tail`. `rdfm cat` also has options that select messages.
SHOWING_FIRST = {
    name: STAGES[name]
    for name in (
        "from_format",
        "to",
        "message_per_file",
        "default_graph_as",
        "on_error",
        *(option.name for option in LIVE),
    )
}
SHOWING_FIRST["to"] = replace(
    STAGES["to"], help="Format to print, such as nq (default: TriG, RDF Patch or TSV)."
)
SHOWING = {
    **SHOWING_FIRST,
    **{name: STAGES[name] for name in ("messages", "sample", "seed", "distinct", "max_steps")},
}


@dataclass
class OptionsByComponent:
    """Conversion options, by the component that they apply to.

    Attributes:
        stages: Options of the stages, as values.
        reads: Options of the input, as given.
        hints: Options of the input that formats without these options ignore.
        writes: Options of the output, as given.
    """

    stages: dict[str, Any] = field(default_factory=dict)
    reads: dict[str, Any] = field(default_factory=dict)
    hints: dict[str, Any] = field(default_factory=dict)
    writes: dict[str, Any] = field(default_factory=dict)


def input_formats(inputs: Sequence[Readable], name: str | None) -> list[FormatSpec] | None:
    """Return the formats of the inputs, or None if the name of an input does not show its format.

    Args:
        inputs: The inputs.
        name: Name of the format of all inputs, if given.

    Raises:
        UnknownFormatError: If there is no format with that name.
    """
    if name is not None:
        return [formats.find(name).spec]
    specs = []
    for input in inputs:
        if not isinstance(input, (str, os.PathLike)) or is_folder_or_glob(input):
            return None
        if is_live(input):
            specs.append(formats.find("jelly").spec)
            continue
        format = formats.by_path(os.fspath(input))
        if format is None:
            return None
        specs.append(format.spec)
    return specs


def may_be_stream(log: Readable) -> bool:
    """Whether an input is a live stream, or a URL that may have events."""
    return is_live(log) or is_web(str(log))


def live_options(
    inputs: Sequence[Readable], output: object, options: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the options of live streams as values, or None if there are none.

    Raises:
        OptionError: If an option is invalid, if only some inputs are live streams, or if neither
            the inputs nor the output is one.
    """
    values = {
        option.name: option.value(options[option.name])
        for option in LIVE
        if options.get(option.name) is not None
    }
    live_values = mark_pipes(values)
    if not live_values:
        return None
    are_live = [may_be_stream(log) for log in inputs]
    if not (all(are_live) or (is_live(output) and not any(are_live))):
        name, value = next(iter(live_values.items()))
        option_text = (
            spell_option(name, str(value).lower())
            if isinstance(value, bool)
            else spell_option(name)
        )
        raise OptionError(
            f"{option_text} is for live streams, such as grpc://host:9090/topic; remove it"
        )
    return live_values


def split_options(
    options: Mapping[str, Any],
    readers: list[FormatSpec] | None,
    writer: FormatSpec,
    stages: Mapping[str, OptionSpec] = STAGES,
) -> OptionsByComponent:
    """Split options by the component that they apply to. Options that are None are omitted.

    Args:
        options: Options by name.
        readers: Formats of the input, or None if they are not known yet.
        writer: Format of the output.
        stages: Options of the stages.

    Raises:
        OptionError: If neither side has an option, or both have it and it is not shared.
    """
    by_component = OptionsByComponent()
    possible_readers = formats.specs() if readers is None else readers
    for name, value in mark_pipes(options).items():
        if name in stages:
            if value is not None:
                by_component.stages[name] = stages[name].value(value)
            continue
        side, plain_name = _split_side(name)
        matching_readers = [spec for spec in possible_readers if plain_name in spec.options("read")]
        applies_to_output = plain_name in writer.options("write")
        if side == "read" and value is not None and (hint := _find_hint(plain_name)) is not None:
            by_component.hints[plain_name] = hint.value(value)
        elif side == "read" or (side is None and matching_readers and not applies_to_output):
            if not matching_readers:
                raise OptionError(possible_readers[0].unsupported_option_text("read", plain_name))
            _assign(by_component.reads, plain_name, value)
        elif side == "write" or (applies_to_output and not matching_readers):
            if not applies_to_output:
                raise OptionError(writer.unsupported_option_text("write", plain_name))
            _assign(by_component.writes, plain_name, value)
        elif matching_readers and applies_to_output:
            if requires_side(
                [
                    matching_readers[0].options("read")[plain_name],
                    writer.options("write")[plain_name],
                ]
            ):
                if value is None:
                    continue
                titles = (
                    ""
                    if readers is None
                    else f" ({join_words([spec.title for spec in matching_readers])})"
                )
                value_text = str(value).lower() if isinstance(value, bool) else str(value)
                raise OptionError(
                    f"{spell_option(plain_name)} is ambiguous: both the input{titles} and the output ({writer.title}) have this option",
                    remedies=(
                        Remedy("read", f"from_{plain_name}", value_text, "applies to the input"),
                        Remedy("write", f"to_{plain_name}", value_text, "applies to the output"),
                    ),
                )
            _assign(by_component.reads, plain_name, value)
            _assign(by_component.writes, plain_name, value)
        elif not _has_no_effect(plain_name, value):
            raise OptionError(
                _unsupported_option_text(plain_name, possible_readers[0], writer, stages)
            )
    return by_component


def _split_side(name: str) -> tuple[str | None, str]:
    """Return the side that a prefixed name selects, or None, and the plain name."""
    for prefix, side in (("from_", "read"), ("to_", "write")):
        if name.startswith(prefix):
            return side, name.removeprefix(prefix)
    return None, name


def _find_hint(name: str) -> OptionSpec | None:
    """Return the reading option with this name if formats without it ignore it; otherwise None."""
    options = (spec.options("read").get(name) for spec in formats.specs())
    return next((option for option in options if option is not None and option.hint), None)


def _assign(options: dict[str, Any], name: str, value: Any) -> None:
    if value is None:
        return
    if name in options:
        raise OptionError(
            f"{spell_option(name)} is given with and without a prefix; remove one of them"
        )
    options[name] = value


def _has_no_effect(name: str, value: Any) -> bool:
    """Whether an option that neither side has can be ignored: it is None or a disabled switch."""
    known = [
        spec.options(side)[name]
        for spec in formats.specs()
        for side in ("read", "write")
        if name in spec.options(side)
    ]
    return bool(known) and (
        value is None or any(value is option.default is False for option in known)
    )


def _unsupported_option_text(
    name: str, reader: FormatSpec, writer: FormatSpec, stages: Mapping[str, OptionSpec]
) -> str:
    """Return the error text for an option that neither side supports."""
    specs = formats.specs()
    if any(name in spec.options("write") for spec in specs):
        return writer.unsupported_option_text("write", name)
    if any(name in spec.options("read") for spec in specs):
        return reader.unsupported_option_text("read", name)
    known = {*stages, *reader.options("read"), *writer.options("write")}
    from difflib import get_close_matches  # costly to import

    similar = get_close_matches(name, known)
    advice = (
        f"; did you mean {' or '.join(similar)}?"
        if similar
        else f"; the options are {', '.join(sorted(known))}"
    )
    return f"there is no option '{name[:40]}'{advice}"
