"""Outputs that would destroy or feed their own inputs."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rdfm.errors import OptionError
from rdfm.logs.output import Writable
from rdfm.storage.files import storage_of
from rdfm.storage.listing import is_glob, matches
from rdfm.storage.paths import local_path, local_target

__all__ = ["refuse_own_input"]


def refuse_own_input(inputs: list[Any], output: Writable) -> None:
    """Refuse an output that is, holds or lies in an input.

    Raises:
        OptionError: It does.
    """
    target = None
    if isinstance(output, (str, os.PathLike)):
        shown = os.fspath(output)
        target = Path(local_target(shown) or shown)
    else:
        shown = str(getattr(output, "name", "the output"))
    file = _file_status(target or output)
    opened = [given for given in inputs if not isinstance(given, (str, os.PathLike))]
    for given in (*_local_paths(inputs), *opened):
        other = _file_status(given)
        if file is not None and other is not None and os.path.samestat(file, other):
            raise OptionError(f"{shown} is also an input; write to another file")
    if target is None:
        return
    for path in _local_paths(inputs):
        if path.is_dir() and path.resolve() in target.resolve().parents:
            raise OptionError(f"{shown} is in the folder {path}, which is read; write elsewhere")
        if target.is_dir() and target.resolve() in path.resolve().parents:
            raise OptionError(f"{path}, which is read, is in the folder {shown}; write elsewhere")


def _file_status(given: Any) -> os.stat_result | None:
    """What the system knows about a regular file, by its path or opened."""
    try:
        status = (
            Path(given).stat()
            if isinstance(given, (str, os.PathLike))
            else os.fstat(given.fileno())
        )
    except (AttributeError, OSError, ValueError, TypeError):  # not there, or no file of the system
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _local_paths(inputs: list[Any]) -> Iterator[Path]:
    """The files and folders among the inputs that are on this machine, those of globs too."""
    for given in inputs:
        if not isinstance(given, (str, os.PathLike)):
            continue
        path = local_path(os.fspath(given))
        if path is None:
            continue
        if Path(path).exists():
            yield Path(path)
        elif is_glob(path):
            yield from map(Path, matches(*storage_of(path)))
