"""Rejects outputs that would overwrite an input, or be read as one.

In: the inputs, the output, and the options, some of which name input files. Out: an error, or
nothing.
Law: files are compared by their identity in the file system, so links and different spellings of a
name are recognized.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rdfm import formats
from rdfm.errors import OptionError
from rdfm.formats import OptionSpec
from rdfm.logs.write.output import Writable
from rdfm.storage.files import storage_of
from rdfm.storage.listing import find_matches, is_glob
from rdfm.storage.paths import is_live, local_path, local_target

__all__ = ["reject_own_input"]


def reject_own_input(
    inputs: Iterable[Any],
    output: Writable,
    options: Mapping[str, Any] | None = None,
    declared: Mapping[str, OptionSpec] | None = None,
    *,
    append: bool = False,
    folder: bool = False,
) -> None:
    """Reject an output that is an input, contains one, or is inside one.

    Files named by options count as inputs. The output may be a new file in a folder named by an
    option.

    Args:
        inputs: The inputs: paths, and file objects.
        output: The output.
        options: The options as given, by name; `from_NAME` and `to_NAME` apply to one side.
        declared: The options that do not belong to a format.
        append: Whether the output is appended to. The log whose options are used may then be the
            output itself.
        folder: Whether the output is always a folder.

    Raises:
        OptionError: If the output is rejected.
    """
    target = None
    if isinstance(output, (str, os.PathLike)):
        output_path = os.fspath(output)
        if is_live(output_path):
            return
        target = Path(local_target(output_path) or output_path)
    else:
        output_path = str(getattr(output, "name", "the output"))
    file = _file_status(target or output)
    log_inputs = list(inputs)
    option_files = list(_named_files(options or {}, declared or {}, logs=not append))
    open_files = [
        source
        for source in (*log_inputs, *option_files)
        if not isinstance(source, (str, os.PathLike))
    ]
    paths, named_paths = list(_local_paths(log_inputs)), list(_local_paths(option_files))
    for source in (*paths, *named_paths, *open_files):
        status = _file_status(source)
        if file is not None and status is not None and os.path.samestat(file, status):
            alternative = "a folder" if folder else "another file"
            raise OptionError(f"{output_path} is also an input; write to {alternative}")
    if target is None:
        return
    resolved = target.resolve()
    for path in paths:
        if path.is_dir() and path.resolve() in resolved.parents:
            raise OptionError(
                f"{output_path} is in the input folder {path}; write to another folder"
            )
    for path in (*paths, *named_paths):
        if target.is_dir() and path.is_dir() and target.samefile(path):
            raise OptionError(f"{output_path} is also an input; write to another folder")
        if target.is_dir() and resolved in path.resolve().parents:
            raise OptionError(
                f"the input {path} is in the output folder {output_path}; write to another folder"
            )


def _named_files(
    options: Mapping[str, Any], declared: Mapping[str, OptionSpec], *, logs: bool
) -> Iterator[Any]:
    """Yield the files that options name; with `logs`, including logs whose options are used."""
    for name, value in options.items():
        if value is None:
            continue
        kind = _kind(name, declared)
        if kind == "file" or (kind == "log" and logs):
            yield value
        elif kind == "context":
            from rdfm.storage.contexts import is_context_text  # costly to import

            if not is_context_text(value):
                yield value
        elif kind == "files":
            yield from OptionSpec(name, kind).value(value).values()


def _kind(name: str, declared: Mapping[str, OptionSpec]) -> str | None:
    """Return the kind of an option; None if it is not declared."""
    if name in declared:
        return declared[name].kind
    for bare in (name, name.removeprefix("from_"), name.removeprefix("to_")):
        for spec in formats.specs():
            option = spec.options("read").get(bare) or spec.options("write").get(bare)
            if option is not None:
                return option.kind
    return None


def _file_status(source: Any) -> os.stat_result | None:
    """Return the status of a regular file, by path or open file; None for anything else."""
    try:
        status = (
            Path(source).stat()
            if isinstance(source, (str, os.PathLike))
            else os.fstat(source.fileno())
        )
    except (AttributeError, OSError, ValueError, TypeError):  # missing, or not a system file
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _local_paths(inputs: Iterable[Any]) -> Iterator[Path]:
    """Yield the local files and folders, including the matches of globs."""
    for path_or_file in inputs:
        if not isinstance(path_or_file, (str, os.PathLike)):
            continue
        path = local_path(os.fspath(path_or_file))
        if path is None:
            continue
        if Path(path).exists():
            yield Path(path)
        elif is_glob(path):
            yield from map(Path, find_matches(*storage_of(path)))
