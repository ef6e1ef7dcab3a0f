"""The file that a report is written to.

In: its name, and what the report is made from. Out: the file, complete under its name.
Law: only a report of rdfm is replaced. Logs are written to files named after their formats, reports never are.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rdfm import formats
from rdfm.analysis.report_html import GENERATOR
from rdfm.errors import DecodeError, OptionError
from rdfm.logs.input import Input
from rdfm.logs.likely import to_write
from rdfm.logs.output import Output
from rdfm.logs.own_input import refuse_own_input
from rdfm.storage import archive
from rdfm.storage.paths import local_target

__all__ = ["check_report", "write_report"]

_HEAD_BYTES = 4096


def check_report(path: str, inputs: Iterable[Any], options: Mapping[str, Any]) -> None:
    """Refuse a file that a page must not be written to, before an input is read.

    Args:
        path: The name of the page.
        inputs: The inputs of the report.
        options: The options of reading, which may name other files that are read.

    Raises:
        OptionError: The file is read, its name has the suffix of a format or an archive, or it
            exists and is not a page that rdfm wrote.
        FileNotFoundError: There is no such folder.
        IsADirectoryError: The file is a folder.
    """
    refuse_own_input(inputs, path, options)
    if (local := local_target(path)) is None:
        raise OptionError(f"{path} is a URL, which rdfm does not write; write a file, then copy it")
    if (format := formats.by_path(local)) is not None:
        raise OptionError(
            f"{path} has the suffix of {format.spec.title}, and a page in HTML is written; "
            "name it with .html"
        )
    if archive.stem(local) is not None or to_write(local) is not None:
        raise OptionError(
            f"{path} has the suffix of another kind of file, and a page in HTML is written; "
            "name it with .html"
        )
    file = Path(local)
    if not file.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(file.parent))
    if file.is_dir():
        raise IsADirectoryError(errno.EISDIR, "Is a folder", path)
    if file.is_file() and not _is_page(local):
        raise OptionError(
            f"{path} exists and is not a page that rdfm wrote; name another file, or remove it first"
        )


def write_report(text: str, path: str) -> None:
    """Write a page, compressed if its name says so.

    Raises:
        OSError: The file cannot be written.
    """
    output = Output(local_target(path) or path)
    try:
        output.write(text.encode())
        output.commit()
    except BaseException:
        output.discard()
        raise


def _is_page(path: str) -> bool:
    """Whether a file is a page that rdfm wrote, or is empty."""
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
