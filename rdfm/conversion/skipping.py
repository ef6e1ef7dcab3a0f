"""Skipped data: stops a run that skips too much, and writes what was skipped to a file.

In: items after `SkipErrors`. Out: the same items, without skipped lines and the bytes of skipped
messages.
Law: the file appears when the run is complete or stops at `max_errors`, even if nothing was
skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from copy import copy
from types import TracebackType
from typing import Any, Self

from rdfm.errors import DecodeError, OptionError, RdfmError, spell_option
from rdfm.formats import OptionSpec
from rdfm.logs.input.driver import Item, SkippedData, SkippedLines, Source
from rdfm.logs.options import declare
from rdfm.logs.stages.stage import Stage, Tally
from rdfm.logs.write.output import Output, Writable
from rdfm.logs.write.own_input import reject_own_input
from rdfm.logs.write.parts import Part

__all__ = ["SKIPPING", "Skipping", "check_skipping"]

_SKIPPED = "Skipped data"

SKIPPING = declare(
    OptionSpec(
        "max_errors",
        "count",
        "Stop at the Nth skipped line or message.",
        minimum=1,
        metavar="N",
        group=_SKIPPED,
    ),
    OptionSpec(
        "rejects",
        "file",
        "Write skipped lines or messages to FILE (N-Triples, N-Quads).",
        group=_SKIPPED,
    ),
)


def check_skipping(
    inputs: Iterable[Any], output: Writable | None, stages: Mapping[str, Any]
) -> None:
    """Check the options of skipped data.

    Args:
        inputs: The inputs.
        output: The output; None if there is none.
        stages: Options of the stages.

    Raises:
        OptionError: If there is no skipped data, or its file is an input or the output.
    """
    for option in SKIPPING:
        if stages.get(option.name) is not None and stages.get("on_error", "fail") == "fail":
            raise OptionError(
                f"{spell_option(option.name)} is about skipped data; add an option such as "
                f"{spell_option('on_error', 'skip-line')}"
            )
    rejects = stages.get("rejects")
    if rejects is None:
        return
    reject_own_input(inputs, rejects)
    if isinstance(output, (str, os.PathLike)) and os.path.realpath(output) == os.path.realpath(
        rejects
    ):
        raise OptionError(f"{rejects} is also the output; write the skipped data to another file")


class Skipping(Stage):
    """Counts skipped lines, stops at a number of errors, and writes the skipped data to a file.

    Use it in a `with` block around the run.
    """

    def __init__(
        self, tally: Tally, max_errors: int | None = None, rejects: str | None = None
    ) -> None:
        """Initialize without skipped data.

        Args:
            tally: Counter of the skipped lines.
            max_errors: Number of skipped lines and messages at which to raise an error.
            rejects: Path of the file for the skipped data.
        """
        self._tally = tally
        self._max_errors = max_errors
        self._rejects = rejects
        self._output: Output | None = None
        self._errors = 0
        self._last_error: RdfmError | None = None  # at `max_errors`
        self._message: tuple[Source, int | None] | None = None  # of the last rejected data

    def __enter__(self) -> Self:
        """Create the file under a temporary name.

        Raises:
            OSError: If the file cannot be created.
        """
        if self._rejects is not None:
            self._output = Output(self._rejects)
        return self

    def __exit__(
        self,
        _: type[BaseException] | None,
        error: BaseException | None,
        __: TracebackType | None,
    ) -> None:
        """Give the file its name, or remove it after an error other than reaching `max_errors`."""
        if self._output is None:
            return
        if error is None or error is self._last_error:
            self._output.end()
            self._output.commit()
        else:
            self._output.discard()

    def process(self, item: Item) -> Iterable[Item]:
        """Process an item.

        Raises:
            DecodeError: At the last error that is allowed.
        """
        if isinstance(item, SkippedLines):
            self._process_lines(item)
            return ()
        if isinstance(item, SkippedData) and item.errors:
            self._write(self._rejected_message(item))
            self._count(item.error)
            return (item._replace(data=b""),)
        return (item,)

    def _process_lines(self, item: SkippedLines) -> None:
        rejected: list[bytes] = []
        try:
            for error, text in item.lines:
                self._tally.count_line(item.source, error)
                if self._output is not None:
                    rejected += self._rejected(item.source, error, text)
                self._count(error)
        finally:
            self._write(rejected)

    def _rejected_message(self, item: SkippedData) -> list[bytes]:
        if self._output is None or not isinstance(item.error, DecodeError):
            return []
        cut = "; a part of the message is missing here" if item.cut else ""
        return self._rejected(item.source, item.error, item.data, cut)

    def _rejected(
        self, source: Source, error: DecodeError, data: bytes, note: str = ""
    ) -> list[bytes]:
        """Return skipped data after a comment, with a delimiter if its message is another one."""
        texts = []
        if self._message != (message := (source, error.message_index)):
            self._message = message
            number = "" if error.message_index is None else f" {error.message_index}"
            texts.append(f"# @message{number}\n".encode())
        comment = f"# Skipped: {error}{note}"
        printable = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in comment)
        texts += (printable.encode(), b"\n", data)
        if data and not data.endswith((b"\n", b"\r")):
            texts.append(b"\n")
        return texts

    def _write(self, texts: list[bytes]) -> None:
        if self._output is not None and texts:
            self._output.write([Part("", b"".join(texts))])

    def _count(self, error: RdfmError | None) -> None:
        """Count an error.

        Raises:
            DecodeError: The error with a note, if it is the last one that is allowed.
        """
        self._errors += 1
        if self._errors == self._max_errors and error is not None:
            last = copy(error)
            if isinstance(last, DecodeError):
                last.reason += (
                    f"; stopped because of {spell_option('max_errors', str(self._errors))}"
                )
            self._last_error = last
            raise last
