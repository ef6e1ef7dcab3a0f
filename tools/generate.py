"""Generates tables in the docs and types for editors, from the declared formats and options.

Out: `rdfm/formats/options_generated.py`, `rdfm/formats/formats_generated.py`,
`docs/options-generated.md`, the tables in `docs/spark-reference.md` and `docs/spark-streaming.md`,
`rdfm/live/descriptors_generated.py` from `proto`, and the man pages and completion scripts in
`wheel`. With `--check`, nothing is written, and
the exit status is 1 if a file is out of date.
"""

import base64
import importlib
import inspect
import json
import pkgutil
import re
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import click
import manual
from grpc_tools import protoc

import rdfm
from rdfm import formats
from rdfm.cli.app import app
from rdfm.conversion.convert_options import STAGES
from rdfm.conversion.filter import FILTER
from rdfm.formats import FormatSpec, OptionSpec
from rdfm.logs.options import STAGE_OPTIONS
from rdfm.logs.stages.criteria import FILTERING
from rdfm.patch.patch_options import CHANGING, SHARED
from rdfm.spark.spark_options import (
    FILE_SOURCE,
    FILES,
    READING,
    STREAMING,
    WRITE_ID,
    WRITING,
    camel_case,
)
from rdfm.sparql.query_options import QUERYING

# Options of stages that formats may have too, with the same meaning.
ALSO_OF_FORMATS = {"namespaces", "options_from", "prefixes"}
ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
SHARE = ROOT / "wheel/data/share"
SPARK_PAGES = (ROOT / "docs/spark-reference.md", ROOT / "docs/spark-streaming.md")
SPARK = {"reading": READING | FILES, "writing": WRITING | WRITE_ID, "streaming": STREAMING}
SPECS = [format.spec for format in formats.built_in()]
BATCHES = {"messages": "MessageBatch", "patches": "PatchBatch", "results": "ResultBatch"}
TYPES = {
    "switch": "bool | str",
    "count": "int | str",
    "bytes": "int | str",
    "namespaces": "Mapping[str, str]",
    "files": "Mapping[str, str]",
    "context": "str | os.PathLike[str] | Mapping[str, Any]",
    "file": "str | os.PathLike[str]",
    "log": "str | os.PathLike[str]",
}


def options_of_side(side: str) -> dict[str, list[tuple[FormatSpec, OptionSpec]]]:
    """The options of one side by name, with the formats that have them."""
    found: dict[str, list[tuple[FormatSpec, OptionSpec]]] = {}
    for spec in SPECS:
        for name, option in spec.options(side).items():  # type: ignore[arg-type]  # one of the two
            found.setdefault(name, []).append((spec, option))
    return found


def type_of(options: Iterable[OptionSpec]) -> str:
    """The type of an option's value, combined from the specs of several formats."""
    options = list(options)
    words = dict.fromkeys(word for option in options for word in option.choices)
    if words and not any(option.levels for option in options):
        numbers = " | int" if any(option.numbers for option in options) else ""
        return f"Literal[{', '.join(repr(word) for word in words)}]{numbers} | None".replace(
            "'", '"'
        )
    return f"{TYPES.get(options[0].kind, 'str')} | None"


def typed(name: str, doc: str, fields: dict[str, str], base: str = "TypedDict") -> str:
    """The source of a TypedDict."""
    lines = "".join(f"    {field}: {type}\n" for field, type in fields.items())
    return f'class {name}({base}, total=False):\n    """{doc}"""\n\n{lines}'


def reserved_names() -> set[str]:
    """The names of the parameters and options of functions, commands and Spark."""
    for module in pkgutil.walk_packages(rdfm.__path__, "rdfm."):
        if not module.name.startswith("rdfm.spark."):
            importlib.import_module(module.name)
    spark = set(FILE_SOURCE).union(*SPARK.values(), ("path", "paths", "schema"))
    functions = (getattr(rdfm, name) for name in rdfm.__all__)
    parameters = {
        parameter.name
        for function in functions
        if inspect.isfunction(function)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
    }
    flags = {
        flag[2:].replace("-", "_")
        for flag in options_of_command(click.Context(app, **app.context_settings))
        if flag[:2] == "--"
    }
    of_formats = {*options_of_side("read"), *options_of_side("write")}
    found = (parameters | flags) - of_formats | spark | set(STAGE_OPTIONS)
    return {name for name in found - ALSO_OF_FORMATS if not name.startswith(("from_", "to_"))}


def options_of_command(context: click.Context) -> Iterator[str]:
    """The options of a command and its subcommands."""
    command = context.command
    for parameter in command.get_params(context):
        yield from (*parameter.opts, *parameter.secondary_opts)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None:
                yield from options_of_command(click.Context(found, parent=context))


def types() -> str:
    """The module of types."""
    reads = {
        name: type_of(o for _, o in found)
        for name, found in sorted(options_of_side("read").items())
    }
    writes = {
        name: type_of(o for _, o in found)
        for name, found in sorted(options_of_side("write").items())
    }
    conversion = {
        name: type_of(
            o for side in ("read", "write") for _, o in options_of_side(side).get(name, [])
        )
        for name in sorted({*reads, *writes})
    }
    conversion |= {f"from_{name}": type for name, type in reads.items()}
    conversion |= {f"to_{name}": type for name, type in writes.items()}
    convert, filtering, changes = (
        {name: type_of([option]) for name, option in options.items() if name not in conversion}
        for options in (STAGES, FILTER, SHARED)
    )
    scanning = {option.name: type_of([option]) for option in FILTERING}
    classes = [
        typed("ReadOptions", "Reading options: the options of all decoders.", reads),
        typed("WriteOptions", "Writing options: the options of all encoders.", writes),
        typed("_BothOptions", "The options of an input and an output format.", conversion),
        typed(
            "ConvertOptions",
            "The options of a conversion, with those of its input and output formats.",
            convert,
            "_BothOptions",
        ),
        typed(
            "FilterOptions",
            "The options of `filter`, with those of its input and output formats.",
            filtering,
            "_BothOptions",
        ),
        typed(
            "ScanOptions",
            "The options of `scan`: the criteria of a filter, with the options of all decoders.",
            scanning,
            "ReadOptions",
        ),
        typed(
            "ChangeOptions",
            "The options of all functions of `rdfm.patch`, with those of their input and output formats.",
            changes,
            "_BothOptions",
        ),
    ]
    names = textwrap.fill(" ".join(sorted(reserved_names())), 96)
    return (
        '"""Types of the format options, for editors. Generated by `make generate`: do not edit.\n\n'
        'Plug-ins have further options, which work in the same way.\n"""\n\n'
        "from __future__ import annotations\n\nimport os\nfrom collections.abc import Mapping\n"
        "from typing import Any, Literal, TypedDict\n\n"
        '__all__ = ["RESERVED", "ChangeOptions", "ConvertOptions", "FilterOptions", "ReadOptions", "ScanOptions", "WriteOptions"]\n\n'
        "# Names that options of plug-ins must not have, because functions and commands use them.\n"
        f'_NAMES = """\n{names}\n"""\nRESERVED = frozenset(_NAMES.split())\n\n\n'
        + "\n\n".join(classes)
    )


def attributes() -> str:
    """The module with format names and aliases as attributes, with `_` for `-`."""
    declared = {
        name: BATCHES[spec.kinds[0]] if len(spec.kinds) == 1 else "AnyBatch"
        for spec in SPECS
        for name in (alias.replace("-", "_") for alias in (spec.name, *spec.aliases))
        if name.isidentifier()
    }
    return (
        '"""Attributes of `rdfm.formats`, for editors. Generated by `make generate`: do not edit.\n\n'
        "Type checkers read this module; plug-ins are found by `rdfm.formats.find`.\n"
        '"""\n\n'
        "from __future__ import annotations\n\n"
        "from typing import TYPE_CHECKING\n\n"
        "from rdfm.formats.format import Format\n\n"
        "if TYPE_CHECKING:\n"
        "    from rdfm._core import MessageBatch, PatchBatch, ResultBatch\n"
        "    from rdfm.message import AnyBatch\n\n"
        f"__all__: list[str] = {json.dumps(sorted(declared))}\n\n"
        + "".join(f"{name}: Format[{batch}]\n" for name, batch in declared.items())
    )


def cell(text: str) -> str:
    """Escape a string for a table cell."""
    return text.replace("|", r"\|").replace("<", r"\<")


def value_of(option: OptionSpec) -> str:
    """The values of an option, for a table."""
    if option.choices:
        levels = {word: f"`{word}` `{word}:{low}…{high}`" for word, low, high in option.levels}
        return " ".join(levels.get(word, f"`{word}`") for word in option.choices)
    if option.kind in ("count", "bytes"):
        highest = "" if option.maximum >= 2**31 - 1 else f" to {option.maximum}"
        return f"{'bytes' if option.kind == 'bytes' else 'number'} from {option.minimum}{highest}"
    return {
        "switch": "`true` `false`",
        "iri": "IRI",
        "namespaces": "names and IRIs",
        "files": "URLs and files",
        "context": "file, JSON or dict",
        "log": "file",
        "moment": "date and time",
        "object": "JSON object",
    }.get(option.kind, option.kind)


def default_of(option: OptionSpec) -> str:
    """The default of an option, for a table."""
    if option.default_from:
        return {"input": "detected", "source": "same as input"}[option.default_from]
    if option.default is None:
        return ""
    if option.kind == "bytes":
        return f"`{size(int(option.default))}`"
    if option.printed is not None:
        return f"`{option.default}`, on standard output `{option.printed}`"
    return f"`{str(option.default).lower() if option.kind == 'switch' else option.default}`"


def size(number: int) -> str:
    """A number of bytes in its shortest form."""
    for unit, shift in (("M", 20), ("K", 10)):
        if number and number % (1 << shift) == 0:
            return f"{number >> shift}{unit}"
    return str(number)


def flags_of(option: OptionSpec) -> str:
    """The form of an option on the command line, for a table."""
    if option.python_only:
        return "Python only"
    return " ".join(f"`--{flag}`" for flag in (option.option, option.off) if flag)


def formats_of(specs: list[FormatSpec]) -> str:
    """The formats that have an option, for a table."""
    others = [spec for spec in SPECS if spec not in specs]
    if not others:
        return "all"
    words = " ".join(f"`{spec.name}`" for spec in min(specs, others, key=len))
    return words if len(specs) <= len(others) else f"all but {words}"


def row(*cells: str) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def table(found: dict[str, list[tuple[FormatSpec, OptionSpec]]]) -> list[str]:
    """A table of the options of one side, with one row for each declaration."""
    lines = [
        row("option", "command line", "value", "default", "formats", ""),
        row(*["---"] * 6),
    ]
    for name, declared in sorted(found.items()):
        specs_by_option: dict[OptionSpec, list[FormatSpec]] = {}
        for spec, option in declared:
            specs_by_option.setdefault(option, []).append(spec)
        lines += [
            row(
                f"`{name}`",
                flags_of(option),
                cell(value_of(option)),
                default_of(option),
                formats_of(specs),
                cell(option.help),
            )
            for option, specs in specs_by_option.items()
        ]
    return lines


def stages(options: Iterable[OptionSpec]) -> list[str]:
    """The table of stage options."""
    return [
        row("option", "command line", "value", "default", ""),
        row(*["---"] * 5),
        *(
            row(
                f"`{option.name}`",
                flags_of(option),
                cell(value_of(option)),
                default_of(option),
                cell(option.help),
            )
            for option in options
        ),
    ]


def by_format() -> list[str]:
    """A section for each format, with the names of its options."""
    lines = []
    for spec in SPECS:
        names = {side: sorted(spec.options(side)) for side in ("read", "write")}
        lines += [
            f"### {spec.title}",
            "",
            *(
                f"- {doing}: {', '.join(f'`{name}`' for name in names[side]) or 'none'}"
                for side, doing in (("read", "reading"), ("write", "writing"))
            ),
            "",
        ]
    return lines


def two_sided() -> tuple[str, str]:
    """The names that both sides have: those of shared options, and those of other options."""
    reads, writes = options_of_side("read"), options_of_side("write")
    names: dict[bool, list[str]] = {True: [], False: []}
    for name in sorted(reads.keys() & writes.keys()):
        names[all(option.shared for _, option in reads[name] + writes[name])].append(f"`{name}`")
    return ", ".join(names[True]), ", ".join(names[False])


def docs() -> str:
    """The page about options."""
    shared, one_sided = two_sided()
    return "\n".join(
        [
            "# Options",
            "",
            "Generated by `make generate` from the declarations of the formats: do not edit.",
            "",
            "[By format](#by-format) · [Reading](#reading) · [Writing](#writing) · [Conversions](#conversions) · [Changes](#changes) · [Queries](#queries)",
            "",
            "Option names are those of the Python API. The tables also show the command-line form. In Spark,",
            "case and `_` are ignored (`maxMessageBytes`). Every value can be given as text, and numbers of bytes",
            "with a suffix, such as `64M` (powers of 1024). For the meaning of an option in a particular format,",
            "see [the page of that format](index.md).",
            "",
            "In a conversion, `from_NAME` (`--from-NAME`) applies to the input and `to_NAME` (`--to-NAME`) to the",
            "output. A plain `NAME` applies to the side whose format supports it. If both formats support it:",
            "",
            f"- Shared options apply to both: {shared}.",
            f"- Other options are an error without the prefix: {one_sided}.",
            "",
            "## By format",
            "",
            *by_format(),
            "## Reading",
            "",
            *table(options_of_side("read")),
            "",
            "## Writing",
            "",
            *table(options_of_side("write")),
            "",
            "## Conversions",
            "",
            "These options of `rdfm convert` and `rdfm.convert` are the same for all formats.",
            "",
            *stages(STAGES.values()),
            "",
            "## Changes",
            "",
            "`rdfm patch` and `rdfm.patch` have these options, the options for reading and writing, and the",
            "conversion options `from_format`, `to`, `compression`, `split_messages`, `split_bytes`,",
            "`overwrite` and `keep_partial`.",
            "",
            *stages(CHANGING),
            "",
            "## Queries",
            "",
            "`rdfm query` and `rdfm.query` have these options and the options for reading. `rdfm query` also has",
            "the options for writing.",
            "",
            *stages(QUERYING),
            "",
        ]
    )


def spark_table(options: Mapping[str, OptionSpec]) -> str:
    """A table of Spark's options."""
    lines = [row("option", "value", "default", ""), row(*["---"] * 4)]
    for name, option in options.items():
        cells = cell(value_of(option)), default_of(option), cell(option.help)
        lines.append(row(f"`{camel_case(name)}`", *cells))
    return "\n".join(lines)


def spark_page(path: Path) -> str:
    """A page about Spark, with its tables."""

    def table(found: re.Match[str]) -> str:
        return f"{found[1]}\n{spark_table(SPARK[found[2]])}\n\n"

    begin = r"(<!-- made by `make generate`: (\w+) -->\n)"
    return re.sub(begin + r"\n(?:\|.*\n)*\n", table, path.read_text("utf-8"))


def formatted(text: str) -> str:
    """Format a module."""
    import subprocess

    run = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--quiet",
        "--stdin-filename",
        "generated.py",
        "-",
    ]
    return subprocess.run(
        run, input=text, capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout


def descriptors() -> str:
    """The module with the descriptors of `proto/grpc.proto` and its import."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "grpc.binpb"
        options = ["--include_imports", f"-I{PROTO}", f"--descriptor_set_out={out}"]
        if protoc.main(["protoc", *options, "grpc.proto"]):
            raise RuntimeError("proto/grpc.proto does not compile")
        data = out.read_bytes()
    lines = textwrap.wrap(base64.b64encode(data).decode(), 88)
    return (
        '"""Descriptors of `proto/grpc.proto` and its import. Generated by `make generate`: do not edit.\n\n'
        "A `FileDescriptorSet` in base64, for reflection.\n"
        '"""\n\n'
        '__all__ = ["DESCRIPTORS"]\n\n'
        "DESCRIPTORS = (\n" + "".join(f'    "{line}"\n' for line in lines) + ")\n"
    )


def main() -> int:
    """Write the files, or check them."""
    files = {
        ROOT / "rdfm/formats/options_generated.py": formatted(types()),
        ROOT / "rdfm/formats/formats_generated.py": formatted(attributes()),
        ROOT / "docs/options-generated.md": docs(),
        **{path: spark_page(path) for path in SPARK_PAGES},
        ROOT / "rdfm/live/descriptors_generated.py": formatted(descriptors()),
        **{SHARE / name: text for name, text in manual.files().items()},
    }
    superfluous = [path for path in SHARE.rglob("*.*") if path.is_file() and path not in files]
    outdated = [
        path for path, text in files.items() if not path.exists() or path.read_text("utf-8") != text
    ]
    if "--check" in sys.argv[1:]:
        for path in outdated:
            print(f"{path.relative_to(ROOT)} is outdated; run make generate")
        for path in superfluous:
            print(f"{path.relative_to(ROOT)} is not generated any more; run make generate")
        return 1 if outdated or superfluous else 0
    for path in superfluous:
        path.unlink()
    for path in outdated:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path], "utf-8")
        print(f"{path.relative_to(ROOT)} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
