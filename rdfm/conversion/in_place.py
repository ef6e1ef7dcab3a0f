"""Conversion of a file to its own format: comparison, and replacement.

In: one file. Out: whether the output differs from the file; with `in_place` the output is then the
file.
Cost: one pass over the file. Nothing is buffered.
Law: the file is replaced only when the conversion is complete, and only if it changes. Comments are
removed only on request. The text does not depend on the location of the file.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from rdfm import formats
from rdfm.conversion.summary import ConversionSummary
from rdfm.errors import EncodeError, OptionError, Remedy, name_in_errors, spell_option, visible
from rdfm.formats import OptionSpec
from rdfm.logs.input.inputs import Readable
from rdfm.logs.options import declare
from rdfm.logs.write.output import Output, Writable
from rdfm.logs.write.parts import Part
from rdfm.storage.compression import find_by_suffix
from rdfm.storage.paths import local_path

__all__ = ["REWRITING", "open_in_place"]

_FILES = "Pretty files"
REWRITING = declare(
    OptionSpec(
        "check",
        "switch",
        "Write nothing, and fail if an input differs from its pretty form.",
        default=False,
        group=_FILES,
    ),
    OptionSpec(
        "in_place",
        "switch",
        "Replace each input that differs from its pretty form.",
        default=False,
        group=_FILES,
    ),
    OptionSpec(
        "drop_comments",
        "switch",
        "Also replace files with comments, which are removed.",
        default=False,
        group=_FILES,
    ),
)
_NAMES = frozenset(option.name for option in REWRITING)
# Options of the conversion that can be combined with these.
_ACCEPTED = frozenset({"from_format", "jobs", *_NAMES})
_DROP_COMMENTS = Remedy("stage", "drop_comments", "true", "removes them")


class InPlace(io.RawIOBase):
    """A file that is converted to its own format, and the binary file object for the output.

    Attributes:
        input: The file, without the URL that would be the base of its relative IRIs.
        options: The options of the conversion.
    """

    input: BinaryIO
    options: dict[str, Any]

    def __init__(self, path: str, options: Mapping[str, Any]) -> None:
        """Open the file.

        Args:
            path: The file.
            options: Options of the conversion, as given.

        Raises:
            OptionError, UnknownFormatError: If the file cannot be converted to its own format.
            OSError: If the file cannot be opened.
        """
        name = options.get("from_format")
        format = formats.find(name) if name else formats.by_path(path)
        if format is None:
            raise OptionError(
                f"the suffix of {visible(path)} is not that of a format; name it with {spell_option('from_format')}"
            )
        if find_by_suffix(path) is not None:
            raise OptionError(f"{visible(path)} is compressed; decompress it")
        self.options = {
            **{name: value for name, value in options.items() if name not in _NAMES},
            "from_format": format.spec.name,
            "to": format.spec.name,
        }
        self._drops_comments = bool(options.get("drop_comments"))
        self._format = format.spec.name
        self._name = visible(path)
        self._output: Output | None = None
        self._is_same = True
        with name_in_errors(self._name):
            self.input = Path(path).open("rb")  # noqa: SIM115 - closed below
            self._original = Path(path).open("rb")  # noqa: SIM115
        if options.get("in_place"):
            self._output = Output(path, "none")

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Compare bytes with those of the file, and write them."""
        self._is_same = self._is_same and self._original.read(len(data)) == data
        if self._output is not None:
            self._output.write([Part("", data)])
        return len(data)

    def finish(self, summary: ConversionSummary) -> ConversionSummary:
        """Replace the file if necessary.

        Args:
            summary: Summary of the conversion.

        Raises:
            EncodeError: If the file contains comments, and they must not be dropped.
            OSError: If the file cannot be replaced.
        """
        is_same = self._is_same and not self._original.read(1)
        if not is_same and self._output is not None:
            if (comments := summary.dropped.get("comments", 0)) and not self._drops_comments:
                raise EncodeError(
                    f"the file contains {comments} comment{'s' * (comments > 1)}, which cannot be kept",
                    format=self._format,
                    source=self._name,
                    remedies=[_DROP_COMMENTS],
                )
            self._output.commit()
            self._output = None
        return replace(summary, changed=not is_same)

    def __enter__(self) -> Self:
        """Return the file object for the output."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the files. The file remains unchanged unless `finish` replaced it."""
        self.input.close()
        self._original.close()
        if self._output is not None:
            self._output.discard()


def open_in_place(
    inputs: list[Readable],
    output: Writable | None,
    options: Mapping[str, Any],
    declared: Mapping[str, OptionSpec],
) -> InPlace | None:
    """Open the file to compare or to replace; None if the output is another file.

    Args:
        inputs: The inputs.
        output: The output, if it is given.
        options: Options of the conversion, as given.
        declared: Options of the stages.

    Raises:
        OptionError, UnknownFormatError: If options cannot be combined, or the file cannot be
            converted to its own format.
        OSError: If the file cannot be opened.
    """
    values = {
        option.name: option.value(options[option.name])
        for option in REWRITING
        if options.get(option.name) is not None
    }
    requested = [name for name in ("check", "in_place") if values.get(name)]
    if not requested:
        if values.get("drop_comments"):
            raise OptionError(
                f"{spell_option('drop_comments', 'true')} applies to {spell_option('in_place', 'true')}; add it"
            )
        return None
    option = spell_option(requested[0], "true")
    if len(requested) > 1:
        raise OptionError(f"{option} cannot be combined with {spell_option(requested[1], 'true')}")
    if output is not None:
        raise OptionError(f"{option} has no output; omit it")
    for name, value in options.items():
        if name in declared and name not in _ACCEPTED and value not in (None, False):
            raise OptionError(f"{option} cannot be combined with {spell_option(name)}")
    pretty = next((options[name] for name in ("pretty", "to_pretty") if options.get(name)), False)
    if str(pretty).lower() != "true":
        raise OptionError(f"{option} needs {spell_option('pretty', 'true', 'write')}")
    path = inputs[0] if len(inputs) == 1 else None
    local = local_path(os.fspath(path)) if isinstance(path, (str, os.PathLike)) else None
    if local is None or not Path(local).is_file():
        raise OptionError(f"{option} needs one file as input")
    return InPlace(local, {**options, **values})
