"""Writes a report to a file.

In: the file name, the inputs of the report and its text. Out: the file, which appears only once it
is complete.
Law: an existing file is replaced only if rdfm wrote it as a report. The file name must not have the
suffix of a format, so a report never replaces a log.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rdfm import formats
from rdfm.analysis.report_html import GENERATOR
from rdfm.errors import DecodeError, OptionError
from rdfm.logs.file_advice import writing_advice
from rdfm.logs.input.inputs import Input
from rdfm.logs.write.output import Output
from rdfm.logs.write.own_input import reject_own_input
from rdfm.logs.write.parts import Part
from rdfm.storage import archive
from rdfm.storage.addresses import redact_url
from rdfm.storage.paths import local_target

__all__ = ["check_report", "write_report"]

_HEAD_BYTES = 4096


def check_report(path: str, inputs: Iterable[Any], options: Mapping[str, Any]) -> None:
    """Reject an unsuitable file name for a page before any input is read.

    Args:
        path: File name of the page.
        inputs: The inputs of the report.
        options: Options for reading, which may name other input files.

    Raises:
        OptionError: If the file is an input, its name has the suffix of a format or an archive, or
            it exists and rdfm did not write it as a page.
        FileNotFoundError: If the folder does not exist.
        IsADirectoryError: If the path is a folder.
    """
    reject_own_input(inputs, path, options)
    if (local := local_target(path)) is None:
        raise OptionError(
            f"{redact_url(path)} is a URL, which rdfm cannot write to; write a file, then copy it"
        )
    if (format := formats.by_path(local)) is not None:
        raise OptionError(
            f"{path} has the suffix of {format.spec.title}, but the page is HTML; use the suffix .html"
        )
    if archive.stem(local) is not None or writing_advice(local) is not None:
        raise OptionError(
            f"{path} has the suffix of another file type, but the page is HTML; use the suffix .html"
        )
    file = Path(local)
    if not file.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(file.parent))
    if file.is_dir():
        raise IsADirectoryError(errno.EISDIR, "Is a folder", path)
    if file.is_file() and not _is_page(local):
        raise OptionError(
            f"{path} exists and is not a report written by rdfm; "
            "use another name, or remove the file first"
        )


def write_report(text: str, path: str) -> None:
    """Write a page, compressed if its name has a compression suffix.

    Raises:
        OSError: If the file cannot be written.
    """
    output = Output(local_target(path) or path)
    try:
        output.write([Part("", text.encode())])
        output.commit()
    except BaseException:
        output.discard()
        raise


def _is_page(path: str) -> bool:
    """Return whether a file is a page that rdfm wrote, or is empty."""
    data = Input(path)
    try:
        head = b""
        for piece in data:
            head += piece[:_HEAD_BYTES]
            if len(head) >= _HEAD_BYTES:
                break
    except DecodeError:
        return False
    finally:
        data.close()
    return not head or (head.startswith(b"<!DOCTYPE html>") and GENERATOR.encode() in head)
