"""The target of a conversion: the format, its options, and properties of the source.

In: the options of the output, and the first item read. Out: encoders.
Law: given options take precedence over those of the source. The header is fixed at the first
message, because later messages are not known yet.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rdfm import formats
from rdfm.errors import DecodeError, OptionError, spell_option
from rdfm.formats import EncoderLike, Format
from rdfm.logs.input.driver import Driver, ReadBatch, ReadSettings, Source
from rdfm.logs.input.inputs import Readable, is_folder_or_glob
from rdfm.logs.write.output import OutputShape, Writable, suffix_options

__all__ = ["Target"]


class Target:
    """Format and options of the output.

    Attributes:
        format: The format.
        template: Stream options of the template log; empty without a template.
        encoder_accepts_parts: Whether the encoder accepts every message in parts.
        accepts_parts: The same for the output. A folder or archive does not accept parts.
        may_stay_flat: Whether an input log that is one message in many frames may keep that form,
            if it has the same format.
    """

    def __init__(
        self, output: Writable, format: Format, options: Mapping[str, Any], shape: OutputShape
    ) -> None:
        """Check the options of the output.

        Args:
            output: The output.
            format: Format of the output.
            options: Options of the format.
            shape: Whether the output is a log, a folder or an archive.

        Raises:
            OptionError: If an option does not apply.
            DecodeError, OSError: If the template log cannot be read.
        """
        self.format = format
        self._shape = shape
        self._options = {**suffix_options(output, format.spec), **options}
        self.template: Mapping[str, Any] = {}
        for name, option in format.spec.options("write").items():
            if option.kind == "log" and name in self._options:
                self.template = _stream_options(name, self._options.pop(name), format)
        one_log = not (shape.archive or shape.folder)
        self.encoder_accepts_parts = format.spec.accepts_parts(self._options)
        self.accepts_parts = one_log and self.encoder_accepts_parts
        frames = format.spec.options("write").get("frames")
        self.may_stay_flat = (
            one_log
            and not shape.appends
            and frames is not None
            and frames.default_from == "source"
            and "frames" not in self._options
            and _may_be_flat({**self.template, **self._options}.get("logical_type"))
        )
        # Reports invalid options before anything is read or written.
        self.encoder(None, None)

    def encoder(self, source: Source | None, known: Mapping[str, Any] | None) -> Any:
        """Return the encoder of the output.

        Args:
            source: The log that contains the first messages, if there is one.
            known: Known properties of that log, in addition to the template; see `_core.Encoder`.
        """
        properties: dict[str, Any] | None = None if known is None else dict(known)
        if self.template:
            properties = {**(properties or {}), "options": self.template, "requested": True}
        elif properties is not None and (source is None or source.format.name != self.format.name):
            properties.pop("options", None)
        if continued := self._shape.continued_header:
            if self.template and self.template != continued.get("options"):
                raise OptionError(_difference_text(continued.get("options", {}), self.template))
            properties = {**(properties or {}), **continued}

        def make(continued: Mapping[str, Any] | None = None, **changed: Any) -> EncoderLike:
            known = {**(properties or {}), **continued} if continued else properties
            return self.format.encoder({**self._options, **changed}, known)

        return self._shape.create_encoder(make, self.format.spec, self._options)


def _difference_text(log_options: Mapping[str, Any], template: Mapping[str, Any]) -> str:
    """Return the error text for a log whose stream options differ from those of the template."""

    def values_text(options: Mapping[str, Any], others: Mapping[str, Any]) -> str:
        return " and ".join(
            spell_option(name, value if isinstance(value, str) else str(value).lower(), "write")
            for name, value in options.items()
            if others.get(name) != value
        )

    return (
        f"the log has {values_text(log_options, template)}, but the log given by "
        f"{spell_option('options_from', side='write')} has {values_text(template, log_options)}; the stream options "
        f"of a log cannot change, so omit {spell_option('options_from', side='write')} or write a new "
        "log"
    )


def describe_source(
    item: ReadBatch, first_declares: bool, *, flat: bool, inputs: list[Readable], name: str | None
) -> dict[str, Any]:
    """Return the known properties of the log that contains the first messages.

    Args:
        item: The first item that was read.
        first_declares: Whether the first message declares namespaces.
        flat: Whether the log is one message in many frames and keeps that form.
        inputs: All inputs, because any of them may contain named graphs.
        name: Name of the format of all inputs, if given.
    """
    carries = dict(item.source.format.spec.carries)
    has_several_logs = item.source.member or len(inputs) > 1 or any(map(is_folder_or_glob, inputs))
    if has_several_logs and _may_contain_graphs(inputs, name):
        carries["graphs"] = True
    return {
        "carries": carries,
        "dialect": item.header.get("dialect"),
        "options": item.header.get("options", {}),
        "namespaces": first_declares,
        "flat": flat,
    }


def _may_contain_graphs(inputs: list[Readable], name: str | None) -> bool:
    """Whether an input may contain named graphs, according to format names and suffixes."""
    for input in inputs:
        path = os.fspath(input) if isinstance(input, (str, os.PathLike)) else None
        format = formats.find(name) if name else formats.by_path(path) if path else None
        if format is None or format.spec.carries.get("graphs", True):
            return True
    return False


def _may_be_flat(logical_type: str | int | None) -> bool:
    """Whether a log of the requested logical type may be one message in many frames."""
    if logical_type is None:
        return True
    if isinstance(logical_type, int) or logical_type.isdigit():
        return int(logical_type) % 10 in (1, 2)
    return logical_type.lower().startswith("flat")


def _stream_options(name: str, path: str | os.PathLike[str], format: Format) -> dict[str, Any]:
    """Return the stream options of a log.

    Raises:
        OptionError: If the log has no stream options.
        DecodeError: If the log has another format or is invalid.
        OSError: If the log cannot be read.
    """
    from rdfm.logs.read.reader import LogReader  # costly to import

    try:
        with LogReader(Driver([path], ReadSettings(format.name))) as log:
            if "options" not in log.header:
                for _ in log.batches():
                    pass
                raise OptionError(
                    f"{os.fspath(path)}: the {format.spec.title} log has no stream options"
                )
            return dict(log.header["options"])
    except DecodeError as error:
        error.add_note(f"{name} requires a {format.spec.title} log")
        raise
