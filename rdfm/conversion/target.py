"""What a conversion writes with: the format, its options, and what the source says about itself.

In: the options of what is written, and the first that is read. Out: encoders.
Law: what was given wins; else what the source says; headers are fixed at the first message, since what follows is
not known then.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rdfm import formats
from rdfm.errors import DecodeError, OptionError
from rdfm.formats import EncoderLike, Format
from rdfm.logs.driver import Read, Source
from rdfm.logs.input import Readable, holds_files
from rdfm.logs.output import Shape, Writable, suffix_options
from rdfm.logs.reader import open_log

__all__ = ["Target"]


class Target:
    """What is written, and how.

    Attributes:
        format: The format.
        template: The stream options of the log that they are to be taken from; empty where there is none.
        takes_parts: Whether the encoder takes every message in parts.
        may_stay_flat: Whether a log of the same format that is one message of many frames may stay that.
    """

    def __init__(
        self, output: Writable, format: Format, given: Mapping[str, Any], shape: Shape
    ) -> None:
        """Take the output, its format, the options of that, and what the output is.

        Raises:
            OptionError: An option does not fit.
            DecodeError, OSError: The log whose stream options are taken cannot be read.
        """
        self.format = format
        self._shape = shape
        self._options = {**suffix_options(output, format.spec), **given}
        self.template: Mapping[str, Any] = {}
        for name, option in format.spec.options("write").items():
            if option.kind == "log" and name in self._options:
                self.template = _stream_options(name, self._options.pop(name), format)
        one_log = not (shape.archive or shape.folder)
        self.takes_parts = one_log and format.spec.takes_parts(self._options)
        frames = format.spec.options("write").get("frames")
        self.may_stay_flat = (
            one_log
            and frames is not None
            and frames.default_from == "source"
            and "frames" not in self._options
            and _may_be_flat({**self.template, **self._options}.get("logical_type"))
        )
        # Whatever the options say wrong is said before anything is read or written.
        self.encoder(None, None)

    def encoder(self, source: Source | None, known: Mapping[str, Any] | None) -> Any:
        """Give the encoder of the output.

        Args:
            source: The log that the first messages are of, if there is one.
            known: What is known about it beside the template: see `_core.Encoder`.
        """
        found: dict[str, Any] | None = None if known is None else dict(known)
        if self.template:
            found = {**(found or {}), "options": self.template, "asked": True}
        elif found is not None and (source is None or source.format.name != self.format.name):
            found.pop("options", None)

        def make(**changed: Any) -> EncoderLike:
            return self.format.encoder({**self._options, **changed}, found)

        return self._shape.encoder(make, self.format.spec, self._options)


def source_of(
    read: Read, first_declares: bool, *, flat: bool, inputs: list[Readable], name: str | None
) -> dict[str, Any]:
    """Give what is known about the log of the first messages.

    Args:
        read: The first that is read.
        first_declares: Whether the first message declares namespaces.
        flat: Whether it is one message of many frames that stays so.
        inputs: All inputs: the others may hold graphs too.
        name: The name of the format of all of them, if it is given.
    """
    carries = dict(read.source.format.spec.carries)
    several = read.source.member or len(inputs) > 1 or any(map(holds_files, inputs))
    if several and _may_hold_graphs(inputs, name):
        carries["graphs"] = True
    return {
        "carries": carries,
        "dialect": read.header.get("dialect"),
        "options": read.header.get("options", {}),
        "namespaces": first_declares,
        "flat": flat,
    }


def _may_hold_graphs(inputs: list[Readable], name: str | None) -> bool:
    """Whether an input may hold graphs, as far as names tell."""
    for given in inputs:
        path = os.fspath(given) if isinstance(given, (str, os.PathLike)) else None
        format = formats.find(name) if name else formats.by_path(path) if path else None
        if format is None or format.spec.carries.get("graphs", True):
            return True
    return False


def _may_be_flat(logical_type: str | int | None) -> bool:
    """Whether a log whose logical type was asked for may be one message of many frames."""
    if logical_type is None:
        return True
    if isinstance(logical_type, int) or logical_type.isdigit():
        return int(logical_type) % 10 in (1, 2)
    return logical_type.lower().startswith("flat")


def _stream_options(name: str, path: str | os.PathLike[str], format: Format) -> dict[str, Any]:
    """The stream options of a log.

    Raises:
        OptionError: The log holds none.
        DecodeError: It is no log of the format.
        OSError: It cannot be read.
    """
    try:
        with open_log(path, format.name) as log:
            if "options" not in log.header:
                for _ in log.batches():
                    pass
                raise OptionError(
                    f"{os.fspath(path)}: the {format.spec.title} log holds no stream options"
                )
            return dict(log.header["options"])
    except DecodeError as error:
        error.add_note(f"{name} takes a {format.spec.title} log")
        raise
