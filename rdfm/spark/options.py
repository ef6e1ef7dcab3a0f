"""Spark's options: what is declared about them, and their values, from text under names without case.

In: what stands in `.option(…)`. Out: values; what nobody took belongs to the format.
Law: an option that nobody knows, or a value that does not fit, is an error that says what does. An option that means
what one of `convert` means is declared there; Spark's name for it is its key here.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from rdfm import formats
from rdfm.conversion.options import STAGES
from rdfm.errors import OptionError
from rdfm.formats import FormatSpec, OptionSpec
from rdfm.formats.rows import ROWS, TERMS
from rdfm.formats.spec import key

__all__ = [
    "CORRUPT_RECORD",
    "FILES",
    "FILE_SOURCE",
    "MODE",
    "OF_FUNCTIONS",
    "READING",
    "SAME",
    "STREAMING",
    "WRITE_ID",
    "WRITING",
    "Options",
    "as_text",
    "camel",
    "compression",
]

CORRUPT_RECORD = "_corrupt_record"
MODE = OptionSpec(
    "mode",
    "choice",
    "What happens at an error: the query fails, a row holds it, or the message is left out.",
    choices=("FAILFAST", "PERMISSIVE", "DROPMALFORMED"),
    default="FAILFAST",
)
# What options of a conversion with other words are here: name and value of both.
SAME = {("on_error", "skip"): (MODE.name, "DROPMALFORMED")}
# What the functions of columns take, besides the options of the format.
OF_FUNCTIONS = (STAGES["from_format"], STAGES["to_format"], MODE)
_COMPRESSION = STAGES["compression"]
_COMPRESSIONS = (*_COMPRESSION.choices, "uncompressed")
_STORAGE = OptionSpec(
    "storage_options",
    "object",
    "For fsspec: credentials, endpoints.",
)


def _by_name(*specs: OptionSpec) -> dict[str, OptionSpec]:
    return {spec.name: spec for spec in specs}


# How the files of every read are read.
READING = {
    "format": STAGES["from_format"],
    **_by_name(
        replace(
            _COMPRESSION,
            help="Compression of the files, where their content should not tell.",
            choices=("auto", *_COMPRESSIONS),
            levels=(),
            default="auto",
        ),
        MODE,
        OptionSpec(
            "column_name_of_corrupt_record",
            help="The column that takes what could not be read.",
            default=CORRUPT_RECORD,
        ),
        OptionSpec(
            "ignore_missing_files",
            "switch",
            "Pass over paths that are not there, and files that vanish meanwhile.",
            default=False,
        ),
        OptionSpec(
            "ignore_corrupt_files",
            "switch",
            "An error ends its file, with a warning, not the query; with FAILFAST files are not split then.",
            default=False,
        ),
        replace(ROWS, group=""),
        replace(TERMS, group=""),
        OptionSpec(
            "columns",
            help="The columns wanted, by name, separated by commas; else those of the schema, or the usual ones.",
            metavar="NAMES",
        ),
        OptionSpec(
            "filter",
            "object",
            "Only messages that hold what is asked for: what LogReader.filter takes, by name.",
        ),
        OptionSpec(
            "query",
            help="A SPARQL query of each message: rows are its solutions; the text, or JSON with its options.",
            metavar="QUERY",
        ),
        _STORAGE,
    ),
}
# Which files `format("rdfm")` reads, and in which tasks.
FILES = _by_name(
    OptionSpec(
        "path_glob_filter", help="A glob that the names of files must match.", metavar="PATTERN"
    ),
    OptionSpec(
        "recursive_file_lookup",
        "switch",
        "Files in folders of folders too; a link to a folder is followed only where a path or glob names it.",
        default=False,
    ),
    OptionSpec(
        "modified_after",
        "moment",
        "Only files written after, such as 2026-06-01T13:00:00, in UTC unless it carries a zone.",
    ),
    OptionSpec("modified_before", "moment", "Only files written before."),
    OptionSpec(
        "split_bytes",
        "bytes",
        "Size of the parts that large files are split into, where the format allows; 0 never splits.",
        default=64 << 20,
    ),
    OptionSpec(  # a task costs Spark about 50 ms, in which some MB of a log are read
        "pack_bytes",
        "bytes",
        "Small files are put together into even tasks of about this many bytes.",
        least=1,
        default=64 << 20,
    ),
    OptionSpec(  # opening a file of this machine takes about 0.1 ms
        "open_cost_bytes",
        "bytes",
        "What opening one more file counts for in that sum.",
        default=4 << 10,
    ),
    OptionSpec(
        "min_partitions",
        "count",
        "Tasks at least, and a multiple of it, where there are as many files; else the cores, which rdfm.spark.read asks "
        'of the session, and format("rdfm") of the driver\'s machine.',
        least=1,
    ),
)
STREAMING = _by_name(
    OptionSpec(
        "state_location",
        help='The folder for the list of files; format("rdfm") requires it, and rdfm.spark.read_stream has none.',
    ),
    OptionSpec("max_files_per_trigger", "count", "Files in one batch; else all.", least=1),
    OptionSpec(
        "max_bytes_per_trigger",
        "bytes",
        'Bytes of files in one batch, one file at least; else all. With format("rdfm") only one of both.',
        least=1,
    ),
    OptionSpec(
        "changed_files",
        "choice",
        "What happens to a file that is not as it was found.",
        choices=("error", "skip", "read"),
        default="error",
    ),
)
# What Spark's own file source takes, which checks it: of `rdfm.spark.read_stream`.
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
    "to": replace(STAGES["to_format"], help="The format, such as jelly; required."),
    **_by_name(
        replace(
            _COMPRESSION,
            help="Compression of the part files, perhaps with a level, such as zstd:19.",
            choices=_COMPRESSIONS,
            default="none",
        ),
    ),
    "max_records_per_file": replace(
        STAGES["split_messages"], help="Messages a part file; 0 for any number.", least=0, default=0
    ),
    **_by_name(_STORAGE),
}
# Of batch writes alone.
WRITE_ID = _by_name(
    OptionSpec(
        "write_id",
        help="A name for this write: done once, however often it is tried; not of streams.",
    )
)


def camel(name: str) -> str:
    """Give an option's name as users of Spark write it.

    Example:
        >>> camel("max_message_bytes")
        'maxMessageBytes'
    """
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def compression(word: str) -> str | None:
    """Give a word of the option as `open_log` and `create_log` take it."""
    return {"auto": None, "uncompressed": "none"}.get(word, word)


class Options:
    """The options of one read or write. Names are compared without case and underscores.

    Attributes:
        rest: Those that were not taken yet: name as it is compared, and value.
        taken: The names that were asked for, given or not, as users of Spark write them.

    Example:
        >>> options = Options({"splitBytes": "16m", "lenient": "true"})
        >>> options.take(FILES)["split_bytes"], options.rest
        (16777216, {'lenient': 'true'})
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        """Take Spark's map.

        Raises:
            OptionError: An option is given twice.
        """
        self.rest: dict[str, str] = {}
        self.taken: list[str] = []
        for name, value in given.items():
            if key(name) in self.rest:
                raise OptionError(f"the option {name} is given twice; leave one out")
            self.rest[key(name)] = value

    def pop(self, name: str) -> str | None:
        """Take a text that Spark itself gives."""
        return self.rest.pop(key(name), None)

    def texts(self, names: Iterable[str]) -> dict[str, str]:
        """Take those that were given of some names, as texts for Spark itself."""
        self.taken += map(camel, names)
        found = {camel(name): self.pop(name) for name in names}
        return {name: text for name, text in found.items() if text is not None}

    def take(self, specs: Mapping[str, OptionSpec]) -> dict[str, Any]:
        """Take the values of some options, by their keys; of those that are not given the defaults.

        Raises:
            OptionError: A value does not fit.
        """
        values = {}
        for name, spec in specs.items():
            self.taken.append(camel(name))
            text = self.pop(name)
            called = f"the option {camel(name)}"
            values[name] = spec.default if text is None else spec.value(text, called)
        return values

    def of_formats(self, specs: list[FormatSpec], side: Literal["read", "write"]) -> dict[str, Any]:
        """Take what is left: options of formats, as text that fits.

        Raises:
            OptionError: None of the formats takes one of them, or not that value.
        """
        known: dict[str, OptionSpec] = {}
        for spec in specs:
            for name, option in spec.options(side).items():
                if not option.python_only:
                    known.setdefault(key(name), option)
        values = {}
        for written, text in self.rest.items():
            if written not in known:
                raise OptionError(self._refusal(written, specs, side))
            option = known[written]
            values[option.name] = option.value(text)
        return values

    def _refusal(
        self, written: str, specs: list[FormatSpec], side: Literal["read", "write"]
    ) -> str:
        """Say that there is no such option, and what there is."""
        for spec in formats.specs():
            for name in spec.options(side):
                if key(name) == written and len(specs) == 1:
                    return specs[0].refusal(side, name)
        names = sorted(
            {
                name
                for spec in specs
                for name, option in spec.options(side).items()
                if not option.python_only
            }
        )
        from difflib import get_close_matches  # costly to import

        known = {key(name): camel(name) for name in (*self.taken, *names)}
        if meant := [known[name] for name in get_close_matches(key(written), known)]:
            return f"there is no option '{written[:40]}'; did you mean {' or '.join(meant)}?"
        doing = "reading" if side == "read" else "writing"
        whose = f"the format {specs[0].name}" if len(specs) == 1 else "the formats"
        own = f"{doing} takes {', '.join(sorted(self.taken))}, and " if self.taken else ""
        return f"there is no option '{written[:40]}'; {own}{whose} {', '.join(names) or 'none'}"

    def paths(self) -> list[str]:
        """Take the paths of `load`: one, or several as Spark hands them over.

        Raises:
            OptionError: There is none, or it is empty, which would mean the process's own folder.
        """
        one = self.pop("path")
        several: Any = self.pop("paths")
        found = [one] if one is not None else []
        if several is not None:
            with contextlib.suppress(ValueError):
                several = json.loads(several)
            if not isinstance(several, list):
                raise OptionError(
                    "the option paths is Spark's own, a JSON array; give load(path) or load([path, …])"
                )
            found += several
        # Where a table is made Spark shows its properties, but where it is read nothing at all.
        if not found or {"owner", "provider"} <= self.rest.keys():
            raise OptionError(
                "there is no path: load(path) needs one; a table of the catalog passes no options "
                "to Python sources, so make a view instead: "
                "CREATE TEMPORARY VIEW name USING rdfm OPTIONS (path '...')"
            )
        if "" in found:
            raise OptionError("the path is an empty text; a folder of this machine is '.' at least")
        return found


def as_text(given: Mapping[str, Any]) -> dict[str, str]:
    """Give typed options as Spark takes them; those that are None are left out.

    Example:
        >>> as_text({"lenient": True, "split_bytes": 1000, "base": None})
        {'lenient': 'true', 'split_bytes': '1000'}
    """
    return {name: _as_text(value) for name, value in given.items() if value is not None}


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return json.dumps(dict(value))
    return value.isoformat() if isinstance(value, datetime) else str(value)
