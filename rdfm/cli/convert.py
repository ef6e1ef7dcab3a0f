"""`rdfm convert`: logs to logs in another format."""

from __future__ import annotations

import sys
from typing import Any

import click

from rdfm.cli._options import (
    FormatName,
    GroupedCommand,
    Number,
    Prefix,
    Size,
    context_options,
    option,
)

_FORMATS = "Formats"
_TEXT = "Text formats (nt, nq, ttl, trig)"
_JSON = "JSON-LD"
_JELLY = "Jelly"
_BINARY = "RDF Protobuf and RDF Thrift"
_MESSAGES = "Which messages"
_LIMITS = "Limits that protect memory"
_OTHER = "Other options"
_EPILOG = """Examples:
  rdfm convert nanopubs.jelly.gz nanopubs.trig
  rdfm convert monday.nq tuesday.nq -o week.jelly
  rdfm convert --message-per-file sensors/*.ttl -o sensors.jelly
  rdfm convert stream_full.tar.gz stream.jelly
  rdfm convert week.jelly week/ --to ttl
  curl -s https://example.org/log.nq | rdfm convert - - --from nq --to trig | less
  rdfm convert --on-error skip dirty.nq clean.nq.zst

Formats are found from the suffix, then from the content; rdfm formats lists them. Compression (.gz .zst .bz2
.xz) is read by content and written by suffix. Exit codes: 0 done, 1 bad data, 2 bad usage."""

_Choice = click.Choice
# What one of the things is called that a summary counts as dropped, where it is not the name without its s.
_DROPPED = {"boundaries": "boundary", "metadata": "metadata entry", "keys": "JSON-LD key"}
# What standard output is written in: it holds what RDF 1.2 does.
_SHOWN_FORMAT = "trig"


@click.command(
    "convert",
    cls=GroupedCommand,
    epilog=_EPILOG,
    short_help="Convert message logs from one format to another.",
)
@click.argument("files", nargs=-1, metavar="IN... [OUT]", type=click.Path())
@option(
    "-o",
    "--output",
    group=_FORMATS,
    metavar="OUT",
    type=click.Path(),
    help="The file to write (- for standard output); needed with several inputs. Of exactly two names the second is the output, which is replaced, as by cp.",
)
@option(
    "--from",
    "from_format",
    group=_FORMATS,
    type=FormatName(),
    help="Format of the inputs, such as nq.",
)
@option(
    "--to",
    "to_format",
    group=_FORMATS,
    type=FormatName(),
    help="Format of the output, such as jelly; else as its suffix says, and on standard output trig.",
)
@option(
    "--compression",
    group=_FORMATS,
    type=_Choice(["gzip", "zstd", "bzip2", "xz", "none"]),
    help="Compression of the output, or of each file of a folder; else as its suffix says.",
)
@option(
    "--split-messages",
    group=_FORMATS,
    type=Number(1),
    metavar="N",
    help="Write a folder of logs with at most N messages each; without, a folder has one each.",
)
@option(
    "--split-bytes",
    group=_FORMATS,
    type=Size(),
    help="Write a folder of logs that each end at about this size, not compressed.",
)
@option(
    "--overwrite",
    group=_FORMATS,
    is_flag=True,
    help="Replace a folder that holds something: everything in it is removed.",
)
@option(
    "--message-per-file",
    group=_MESSAGES,
    is_flag=True,
    help="Each input is one message, also an empty one.",
)
@option(
    "--group-by",
    group=_MESSAGES,
    metavar="HOW",
    help="Other messages of the same quads: subject or graph (consecutive quads with the same one), count=N (N quads each), bytes=N (of the terms' text), all; message is as before.",
)
@option(
    "--skolemize",
    group=_MESSAGES,
    metavar="IRI",
    help="Replace blank nodes with IRIs that begin with this one and /.well-known/genid/.",
)
@option(
    "--skip",
    group=_MESSAGES,
    type=Number(0),
    metavar="N",
    show_default=False,
    help="Leave out the first N messages.",
)
@option("--take", group=_MESSAGES, type=Number(0), metavar="N", help="Write at most N messages.")
@option(
    "--on-error",
    group=_MESSAGES,
    type=_Choice(["fail", "skip"]),
    help="What to do at broken data: stop (default), or leave it out and go on.",
)
@option(
    "--keep-partial",
    group=_MESSAGES,
    is_flag=True,
    help="After an error keep what came before it, as OUT.partial, or OUT.partial.1 and so on.",
)
@option(
    "--dialect",
    group=_TEXT,
    type=_Choice(["comment", "directive", "plain"]),
    help="How messages are delimited in the input: # @message comments, MESSAGE directives, or not at all; detected if not given. comment and directive are also how the output is written.",
)
@option(
    "--to-dialect",
    group=_TEXT,
    type=_Choice(["comment", "directive"]),
    help="How messages are delimited in the output; else as in the input, else comment.",
)
@option(
    "--announced",
    group=_TEXT,
    metavar="LABEL",
    help="A version label announced outside the log, such as 1.2-messages.",
)
@option(
    "--version-label",
    group=_TEXT,
    metavar="LABEL",
    help="The version label to write in the directive dialect (1.2-messages).",
)
@option("--flat", group=_TEXT, is_flag=True, help="Write nothing between messages: all become one.")
@option(
    "--base",
    group=_TEXT,
    metavar="IRI",
    help="Base of relative IRIs, also in RDF/XML and JSON-LD; else the file's URL.",
)
@option(
    "--prefix",
    "prefixes",
    group=_TEXT,
    multiple=True,
    type=Prefix(),
    help="A namespace to declare at the start, in formats that have some; may be repeated.",
)
@option(
    "--lenient",
    group=_TEXT,
    is_flag=True,
    help="Accept, and escape on writing, the deviations that the formats' pages list.",
)
@option(
    "--generalized",
    group=_TEXT,
    is_flag=True,
    help="Read generalized quads and RDF-star in nt and nq.",
)
@option(
    "--rdf-star-syntax",
    group=_TEXT,
    is_flag=True,
    help="Write triple terms as << s p o >> in nt and nq.",
)
@option(
    "--merge-graphs",
    group=_TEXT,
    is_flag=True,
    help="Drop graph names on purpose where the output has none.",
)
@context_options(_JSON)
@option(
    "--context-lines",
    group=_JSON,
    type=_Choice(["first", "every", "none"]),
    help="Where namespaces are written: before the messages that need them (first), in every message (for jq and grep), "
    "or nowhere (expanded form).",
)
@option(
    "--compact-with",
    group=_JSON,
    metavar="FILE",
    type=click.Path(),
    help="Write with the JSON-LD context in this file instead of one of the namespaces.",
)
@option(
    "--options-from",
    group=_JELLY,
    metavar="FILE",
    type=click.Path(),
    help="Write with the stream options of this Jelly file.",
)
@option(
    "--physical-type",
    group=_JELLY,
    type=_Choice(["triples", "quads", "graphs"]),
    help="How statements are encoded.",
)
@option(
    "--logical-type",
    group=_JELLY,
    type=_Choice(
        [
            "unspecified",
            "flat-triples",
            "flat-quads",
            "graphs",
            "datasets",
            "subject-graphs",
            "named-graphs",
            "timestamped-named-graphs",
        ]
    ),
    help="What the stream says it is.",
)
@option(
    "--frames",
    group=_JELLY,
    type=_Choice(["auto", "message", "flat"]),
    help="A frame is a message, or frames are mere transport: the log read is one message, and one is written over many frames. By default (auto) as the logical type of the input says.",
)
@option(
    "--frame-rows",
    group=_JELLY,
    type=Number(1),
    metavar="N",
    help="Rows a frame with --frames flat.",
)
@option(
    "--name-table",
    group=_JELLY,
    type=Number(0),
    metavar="N",
    help="Size of the name lookup (4000).",
)
@option(
    "--prefix-table",
    group=_JELLY,
    type=Number(0),
    metavar="N",
    help="Size of the prefix lookup (150).",
)
@option(
    "--datatype-table",
    group=_JELLY,
    type=Number(0),
    metavar="N",
    help="Size of the datatype lookup (32).",
)
@option(
    "--namespaces/--no-namespaces",
    group=_JELLY,
    default=None,
    help="Write namespace declarations (for Parquet and Arrow a column); else if the input has them.",
)
@option("--stream-name", group=_JELLY, metavar="NAME", help="The stream's name.")
@option(
    "--delimited/--undelimited",
    group=_JELLY,
    default=None,
    help="Write length-prefixed frames (default), or one bare frame.",
)
@option(
    "--from-delimited/--from-undelimited",
    group=_JELLY,
    default=None,
    help="How frames of the input are written; detected if not given.",
)
@option(
    "--framing",
    group=_BINARY,
    type=_Choice(["messages", "rows"]),
    help="Protobuf: each message behind its length (default), or rows that are one message, as Jena writes them.",
)
@option(
    "--from-framing",
    group=_BINARY,
    type=_Choice(["messages", "rows"]),
    help="Protobuf: the framing of the input; detected if not given.",
)
@option(
    "--prefixed-names/--full-iris",
    group=_BINARY,
    default=None,
    help="Abbreviate IRIs with the namespaces (default for Thrift), or write them in full (for Protobuf).",
)
@option(
    "--values",
    group=_BINARY,
    is_flag=True,
    help="Write numbers as values where they say the lexical form.",
)
@option(
    "--max-message-bytes",
    group=_LIMITS,
    type=Size(),
    help="Largest message, in decoded bytes (64M).",
)
@option(
    "--max-depth",
    group=_LIMITS,
    type=Number(1),
    metavar="N",
    help="Deepest nesting of triple terms and brackets (64).",
)
@option("--max-frame-bytes", group=_LIMITS, type=Size(), help="Jelly: largest frame (64M).")
@option(
    "--max-name-table",
    group=_LIMITS,
    type=Number(0),
    metavar="N",
    help="Jelly: largest name lookup of an input (65536).",
)
@option(
    "--max-prefix-table",
    group=_LIMITS,
    type=Number(0),
    metavar="N",
    help="Jelly: largest prefix lookup of an input (65536).",
)
@option(
    "--max-datatype-table",
    group=_LIMITS,
    type=Number(0),
    metavar="N",
    help="Jelly: largest datatype lookup of an input (4096).",
)
@option(
    "-q",
    "--quiet",
    group=_OTHER,
    is_flag=True,
    help="Print errors only: no summary, no progress bar.",
)
def command(files: tuple[str, ...], output: str | None, quiet: bool, **options: Any) -> None:
    """Convert message logs to one log in another format.

    IN is a file, a folder, a glob, a tar archive, a URL, or - for standard input; several are read one
    after the other. OUT is a file; a folder such as out/, which gets a file for each message; a tar
    archive, which gets a member for each; or - for standard output. It appears only when it is complete,
    and replaces a file that is there: of exactly two names the second is OUT, as with cp.
    """
    from rdfm.cli._bar import Bar
    from rdfm.cli._io import standard_input, standard_output
    from rdfm.cli._signals import unwinding
    from rdfm.conversion.convert import convert

    inputs, target = _files(files, output)
    if target == "-":
        options["to_format"] = options["to_format"] or _SHOWN_FORMAT
        _refuse_terminal(options)
    options["prefixes"] = dict(options["prefixes"]) or None
    options["context"] = dict(options["context"]) or None
    given = {
        name: value for name, value in options.items() if value is not None and value is not False
    }
    given |= {
        name: False
        for name in ("namespaces", "delimited", "from_delimited", "prefixed_names")
        if options[name] is False
    }
    bar = None if quiet or (target == "-" and _is_terminal(sys.stdout)) else Bar.on_terminal()
    try:
        with unwinding():
            summary = convert(
                [standard_input() if name == "-" else name for name in inputs],
                standard_output() if target == "-" else target,
                **given,
                progress=bar,
            )
    finally:
        if bar is not None:
            bar.close()
    _report(summary, quiet)


def _files(files: tuple[str, ...], output: str | None) -> tuple[list[str], str]:
    """The inputs and the output of the words on the command line."""
    names = list(files)
    if not names:
        raise click.UsageError(
            "nothing to convert: name an input and an output, as in: rdfm convert IN OUT"
        )
    if output is None:
        if len(names) == 1:
            raise click.UsageError(
                f"no output: name it after {names[0]}, or write -o FILE (- for standard output)"
            )
        if len(names) > 2:
            raise click.UsageError(
                f"{len(names)} files and no -o: with several inputs name the output with -o FILE"
            )
        output = names.pop()
    if names.count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    return names, output


def _refuse_terminal(options: dict[str, Any]) -> None:
    from rdfm import formats

    what = None
    if formats.find(options["to_format"]).FORMAT.binary:
        what = f"{options['to_format']} is binary"
    elif options["compression"] not in (None, "none"):
        what = "what is compressed is binary"
    if what is not None and _is_terminal(sys.stdout):
        raise click.UsageError(
            f"{what} and standard output is a terminal; write to a file or a pipe"
        )


def _is_terminal(stream: Any) -> bool:
    return stream is not None and bool(stream.isatty())


def _report(summary: Any, quiet: bool) -> None:
    """What was done and what was left out, on standard error."""
    from rdfm.cli._io import plural, safe, size

    for fault in summary.faults:
        click.echo(f"rdfm: skipped: {safe(fault)}", err=True)
    if summary.skipped > len(summary.faults):
        click.echo(f"rdfm: skipped: and {summary.skipped - len(summary.faults):,} more", err=True)
    for name in summary.abandoned:
        click.echo(
            f"rdfm: skipped: the rest of {safe(name)}, since its format cannot resume", err=True
        )
    if quiet:
        return
    speed = ""
    if summary.seconds >= 0.5 and summary.quads >= 10_000:
        speed = f" ({summary.quads / summary.seconds / 1e6:.2f} M quads/s)"
    line = (
        f"{plural(summary.messages, 'message')}, {plural(summary.quads, 'quad')}: "
        f"{size(summary.bytes_in)} read, {size(summary.bytes_out)} written in {summary.seconds:.2f} s{speed}"
    )
    if summary.skipped:
        line += f", {plural(summary.skipped, 'error')} skipped"
    click.echo(f"rdfm: {line}", err=True)
    if summary.dropped:
        dropped = ", ".join(
            plural(count, _DROPPED.get(name, name.removesuffix("s").replace("_", " ")))
            for name, count in summary.dropped.items()
        )
        if summary.dropped_key is not None:
            dropped += f" without an IRI, such as {safe(summary.dropped_key)}"
        click.echo(f"rdfm: dropped: {dropped}", err=True)
    for note in summary.notes:
        click.echo(f"rdfm: note: {safe(note)}", err=True)
