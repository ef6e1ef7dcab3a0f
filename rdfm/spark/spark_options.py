"""Declares Spark's options, and parses their values. Names are case-insensitive.

In: the map of `.option(…)`. Out: values; the remaining options belong to the format.
Law: an unknown option or invalid value is an error that names the valid ones. Options that
`convert` also has are declared in `rdfm.conversion.convert_options`, but their keys here are Spark's names.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from rdfm import formats
from rdfm.conversion.convert_options import STAGES
from rdfm.errors import OptionError
from rdfm.formats import FormatSpec, OptionSpec
from rdfm.formats.rows import ROWS, TERMS
from rdfm.formats.spec import key
from rdfm.sparql.query_options import QUERY
from rdfm.storage.pipes import is_pipe

__all__ = [
    "CORRUPT_RECORD",
    "FILES",
    "FILE_SOURCE",
    "FUNCTION_OPTIONS",
    "MODE",
    "READING",
    "RENAMED",
    "SECRET_STORAGE",
    "STORAGE",
    "STREAMING",
    "WRITE_ID",
    "WRITE_MODE",
    "WRITING",
    "Options",
    "as_text",
    "camel_case",
    "compression",
    "split_names",
    "storage_options",
]

CORRUPT_RECORD = "_corrupt_record"
MODE = OptionSpec(
    "mode",
    "choice",
    "How to handle an error: fail the query, return a row for it, or skip the message.",
    choices=("FAILFAST", "PERMISSIVE", "DROPMALFORMED"),
    default="FAILFAST",
)
# Values of `mode` in `rdfm.spark.write`. Spark itself passes only the first two to Python sources.
WRITE_MODE = OptionSpec(
    "mode",
    "choice",
    "How to write to a folder that exists.",
    choices=("append", "overwrite", "errorifexists", "ignore"),
    default="append",
)
# Options of `convert` that have another name in Spark: (name, value) in rdfm and in Spark.
RENAMED = {
    ("on_error", "skip"): (MODE.name, "DROPMALFORMED"),
    ("on_error", "skip-line"): ("skip_lines", "true"),
}
# Options of the functions on columns, in addition to the format's options.
FUNCTION_OPTIONS = (STAGES["from_format"], STAGES["to"], MODE)
_COMPRESSION = STAGES["compression"]
_COMPRESSIONS = (*_COMPRESSION.choices, "uncompressed")
STORAGE = OptionSpec(
    "storage_options",
    "object",
    "Settings for fsspec, such as credentials and endpoints.",
)
# Spark hides the values of options with this word.
SECRET_STORAGE = OptionSpec(
    "secret_storage_options",
    "object",
    "Like storageOptions, but Spark shows the value in no plan or log. The functions of rdfm.spark use this option.",
)


def _index_by_name(*specs: OptionSpec) -> dict[str, OptionSpec]:
    return {spec.name: spec for spec in specs}


# Options of every read.
READING = {
    "format": STAGES["from_format"],
    **_index_by_name(
        replace(
            _COMPRESSION,
            help="Compression of the files. Detected from their content by default.",
            choices=("auto", *_COMPRESSIONS),
            levels=(),
            default="auto",
        ),
        MODE,
        OptionSpec(
            "skip_lines",
            "switch",
            "With DROPMALFORMED, skip only lines that are not statements, and keep the rest of their message (N-Triples, N-Quads).",
            default=False,
        ),
        OptionSpec(
            "column_name_of_corrupt_record",
            help="Name of the column for text that could not be read.",
            default=CORRUPT_RECORD,
        ),
        OptionSpec(
            "ignore_missing_files",
            "switch",
            "Skip paths that do not exist, and files that are deleted during the read.",
            default=False,
        ),
        OptionSpec(
            "ignore_corrupt_files",
            "switch",
            "On an error, skip the rest of the file, with a warning, instead of failing the query. With FAILFAST, this "
            "disables the splitting of files.",
            default=False,
        ),
        OptionSpec(
            "errors_to",
            help="Folder for a Parquet table of the errors that the read skips: source, message_index, byte_offset and error. It has "
            "one file per split. Use a separate folder for each query.",
            metavar="FOLDER",
        ),
        replace(ROWS, group=""),
        replace(TERMS, group=""),
        OptionSpec(
            "columns",
            help="Comma-separated names of the columns to return. Defaults to those of the schema, or to the standard columns.",
            metavar="NAMES",
        ),
        OptionSpec(
            "filter",
            "object",
            "Return only messages that match. The value is an object with arguments of LogReader.filter.",
            example='{"predicate": "<IRI>"}',
        ),
        OptionSpec(
            "query",
            help="SPARQL query to run on each message, as text or as JSON with the query's options. Rows are its solutions.",
            metavar="QUERY",
        ),
        replace(
            QUERY["types"],
            help="Types of the columns of a SELECT query, such as time=dateTime,n=integer.",
            group="",
        ),
        STORAGE,
        SECRET_STORAGE,
    ),
}
# Options that select the files that `format("rdfm")` reads and split them into tasks.
FILES = _index_by_name(
    OptionSpec(
        "path_glob_filter", help="Glob that the names of files must match.", metavar="PATTERN"
    ),
    OptionSpec(
        "recursive_file_lookup",
        "switch",
        "Also read files in subfolders. A link to a folder is followed only if a path or glob names it.",
        default=False,
    ),
    OptionSpec(
        "partitions",
        "object",
        'Read only files in these partition folders: a value, a list of values, or a range {"from": …, "to": …} for each '
        "column.",
    ),
    OptionSpec(
        "modified_after",
        "moment",
        "Read only files modified after this time, such as 2026-06-01T13:00:00. UTC unless it has a time zone.",
    ),
    OptionSpec("modified_before", "moment", "Read only files modified before this time."),
    OptionSpec(
        "split_bytes",
        "bytes",
        "Size of the splits of large files, if the format can be split; 0 never splits. Small files are combined into tasks of about this size, at most 64M.",
        default=64 << 20,
    ),
    OptionSpec(
        "min_partitions",
        "count",
        "Minimum number of tasks. If there are enough files, the number of tasks is a multiple of it. Defaults to the "
        'number of cores of the session (rdfm.spark.read) or of the driver\'s machine (format("rdfm")).',
        minimum=1,
    ),
)
STREAMING = _index_by_name(
    OptionSpec(
        "state_location",
        help='Folder for the list of files. Required by format("rdfm"). Not an option of rdfm.spark.read_stream.',
    ),
    OptionSpec(
        "max_files_per_trigger",
        "count",
        "Maximum number of files in a batch. Unlimited by default.",
        minimum=1,
    ),
    OptionSpec(
        "max_bytes_per_trigger",
        "bytes",
        'Maximum total size of the files in a batch, which has at least one file. With format("rdfm"), set only one of the two limits.',
        minimum=1,
    ),
    OptionSpec(
        "changed_files",
        "choice",
        "How to handle a file that has changed since it was found: fail, skip it with a warning, or read it. A deleted "
        "file is an error with every value, also skip, unless ignoreMissingFiles is set. rdfm.spark.read_stream "
        "accepts only read.",
        choices=("error", "skip", "read"),
        default="error",
    ),
)
# Options of `rdfm.spark.read_stream` that are passed to Spark's file source, which checks them.
FILE_SOURCE = (
    "max_files_per_trigger",
    "max_bytes_per_trigger",
    "max_cached_files",
    "discard_cached_input_ratio",
    "latest_first",
    "max_file_age",
    "file_name_only",
    "clean_source",
    "source_archive_dir",
    "path_glob_filter",
)
WRITING = {
    "to": replace(STAGES["to"], help="Format to write, such as jelly. Required."),
    **_index_by_name(
        replace(
            _COMPRESSION,
            help="Compression of the part files, with an optional level, such as zstd:19.",
            choices=_COMPRESSIONS,
            default="none",
        ),
    ),
    "max_records_per_file": replace(
        STAGES["split_messages"],
        help="Maximum number of messages in a part file; 0 means no limit.",
        minimum=0,
        default=0,
    ),
    **_index_by_name(
        OptionSpec(
            "partition_columns",
            help="Comma-separated columns whose values become folders NAME=VALUE.",
            metavar="NAMES",
        ),
        replace(
            STAGES["split_by"],
            help="Write folders day=…, month=…, named_graph=… or value=… by a key of the messages: day, day:PREDICATE, "
            "month, month:PREDICATE, graph or value:PREDICATE.",
            group="",
        ),
        replace(
            STAGES["max_open"],
            help="Maximum number of open files of a task with partitionColumns or splitBy. If it is reached, the "
            "least recently used file is closed, and its folder gets another file if the value occurs again. Defaults to "
            "100, or to 4 with xz.",
            group="",
        ),
        OptionSpec(
            "single",
            "switch",
            "Write one log, with the messages in row order, instead of one log per partition. Not for streams.",
            default=False,
        ),
        STORAGE,
        SECRET_STORAGE,
    ),
}
# Only for batch writes.
WRITE_ID = _index_by_name(
    OptionSpec(
        "write_id",
        help="Id of this write. Repeating a write with the same id has no effect. Not for streams.",
    ),
)


def camel_case(name: str) -> str:
    """Return an option's name in Spark's spelling.

    Example:
        >>> camel_case("max_message_bytes")
        'maxMessageBytes'
    """
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def storage_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fsspec options from the values of both options."""
    return {**(values[STORAGE.name] or {}), **(values[SECRET_STORAGE.name] or {})}


def compression(word: str) -> str | None:
    """Convert a value of the option to the form that `open_log` and `create_log` accept."""
    return {"auto": None, "uncompressed": "none"}.get(word, word)


def split_names(text: str | None) -> list[str] | None:
    """Return the column names in a comma-separated list; None if no list is given."""
    if text is None:
        return None
    return [name.strip() for name in text.split(",") if name.strip()]


class Options:
    """The options of one read or write. Names are compared ignoring case and underscores.

    Attributes:
        remaining: Options that have not been read yet: normalized name and value.
        requested: Names of the options requested so far, given or not, in Spark's spelling.

    Example:
        >>> options = Options({"splitBytes": "16m", "lenient": "true"})
        >>> options.pop_values(FILES)["split_bytes"], options.remaining
        (16777216, {'lenient': 'true'})
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        """Create the options from Spark's map.

        Raises:
            OptionError: If an option is given twice.
        """
        self.remaining: dict[str, str] = {}
        self.requested: list[str] = []
        for name, value in options.items():
            if key(name) in self.remaining:
                raise OptionError(f"the option {name} is given twice; remove one of them")
            self.remaining[key(name)] = value

    def pop(self, name: str) -> str | None:
        """Take an option, and return its text; None if it is not given."""
        return self.remaining.pop(key(name), None)

    def pop_texts(self, names: Iterable[str]) -> dict[str, str]:
        """Take the given options among these names, as text for Spark."""
        self.requested += map(camel_case, names)
        texts = {camel_case(name): self.pop(name) for name in names}
        return {name: text for name, text in texts.items() if text is not None}

    def pop_values(self, specs: Mapping[str, OptionSpec]) -> dict[str, Any]:
        """Take the values of these options, by key. Options that are not given have their defaults.

        Raises:
            OptionError: If a value is invalid.
        """
        values = {}
        for name, spec in specs.items():
            self.requested.append(camel_case(name))
            text = self.pop(name)
            description = f"the option {camel_case(name)}"
            values[name] = spec.default if text is None else spec.value(text, description)
        return values

    def pop_format_options(
        self, specs: list[FormatSpec], side: Literal["read", "write"]
    ) -> dict[str, Any]:
        """Take the remaining options, which belong to these formats.

        Raises:
            OptionError: If none of the formats has the option, the value is invalid, or it names a
                pipe, which tasks cannot read.
        """
        known_options: dict[str, OptionSpec] = {}
        for spec in specs:
            for name, option in spec.options(side).items():
                if not option.python_only:
                    known_options.setdefault(key(name), option)
        values = {}
        for spelling, text in self.remaining.items():
            if spelling not in known_options:
                raise OptionError(self._unknown_option_text(spelling, specs, side))
            option = known_options[spelling]
            value = values[option.name] = option.value(text)
            # The text of a context is read here. Tasks open all other files.
            paths = {"file": [value], "log": [value]}.get(option.kind, ())
            for path in value.values() if option.kind == "files" else paths:
                if is_pipe(path):
                    raise OptionError(
                        f"the option {camel_case(option.name)} names {path}, a pipe, device or socket, "
                        "which cannot be read in Spark; use a file"
                    )
        return values

    def _unknown_option_text(
        self, spelling: str, specs: list[FormatSpec], side: Literal["read", "write"]
    ) -> str:
        """Return the error text for an unknown option, with the known options."""
        for spec in formats.specs():
            for name in spec.options(side):
                if key(name) == spelling and len(specs) == 1:
                    return specs[0].unsupported_option_text(side, name)
        names = sorted(
            {
                name
                for spec in specs
                for name, option in spec.options(side).items()
                if not option.python_only
            }
        )
        from difflib import get_close_matches  # costly to import

        known_names = {key(name): camel_case(name) for name in (*self.requested, *names)}
        if similar := [known_names[name] for name in get_close_matches(key(spelling), known_names)]:
            return f"there is no option '{spelling[:40]}'; did you mean {' or '.join(similar)}?"
        activity = "reading" if side == "read" else "writing"
        subject = f"the format {specs[0].name}" if len(specs) == 1 else "the formats"
        requested = (
            f"the options for {activity} are {', '.join(sorted(self.requested))}; "
            if self.requested
            else ""
        )
        return f"there is no option '{spelling[:40]}'; {requested}those of {subject} are {', '.join(names) or 'none'}"

    def pop_paths(self) -> list[str]:
        """Take the paths of `load`: one, or several in Spark's JSON form.

        Raises:
            OptionError: If there is no path, or a path is empty. An empty path would mean the
                working folder.
        """
        single_path = self.pop("path")
        path_list: Any = self.pop("paths")
        paths = [single_path] if single_path is not None else []
        if path_list is not None:
            with contextlib.suppress(ValueError):
                path_list = json.loads(path_list)
            if not isinstance(path_list, list):
                raise OptionError(
                    "the option paths is reserved for Spark; use load(path) or load([path, …])"
                )
            paths += path_list
        # Spark passes a table's properties when it creates the table, but not when it reads it.
        if not paths or {"owner", "provider"} <= self.remaining.keys():
            raise OptionError(
                "no path is given; use load(path). Catalog tables pass no options "
                "to Python sources; create a view instead: "
                "CREATE TEMPORARY VIEW name USING rdfm OPTIONS (path '...')"
            )
        if "" in paths:
            raise OptionError("the path is empty; write '.' for the working folder")
        return paths


def as_text(options: Mapping[str, Any]) -> dict[str, str]:
    """Return typed options as text for Spark, without those that are None.

    Example:
        >>> as_text({"lenient": True, "split_bytes": 1000, "base": None})
        {'lenient': 'true', 'split_bytes': '1000'}
    """
    return {name: _as_text(value) for name, value in options.items() if value is not None}


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return json.dumps(dict(value))
    return value.isoformat() if isinstance(value, datetime) else str(value)
