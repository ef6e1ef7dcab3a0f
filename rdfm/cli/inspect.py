"""`rdfm inspect`: describe logs."""

from __future__ import annotations

from typing import Any

import click

from rdfm.cli.parameters import FormatName, Number, OutputPath, option
from rdfm.cli.specs import SpecCommand, given

_EPILOG = """Examples:
  rdfm inspect log.jelly.gz
  rdfm inspect --json *.nq | jq .messages
  rdfm inspect --stats nanopubs.jelly
  rdfm inspect --html report.html nanopubs.jelly"""


@click.command(
    "inspect",
    cls=SpecCommand,
    epilog=_EPILOG,
    short_help="Describe a log: format, counts, sizes, predicates, first error.",
)
@click.argument("logs", nargs=-1, required=True, metavar="LOG...", type=click.Path(readable=False))
@option(
    "--from",
    "from_format",
    group="Options",
    type=FormatName(),
    help="Format of the logs, such as nq (default: detected).",
)
@option(
    "--json",
    "as_json",
    group="Options",
    is_flag=True,
    help="Print JSON lines, one object per log.",
)
@option(
    "--top",
    group="Options",
    type=Number(0),
    metavar="N",
    help="Maximum length of lists, such as predicates (default: 10; with --rdf: unlimited).",
)
@option(
    "--stats",
    group="Statistics",
    is_flag=True,
    help="Print statistics: quads and bytes per message, terms, distinct terms, frequent names.",
)
@option(
    "--rdf",
    "as_rdf",
    group="Statistics",
    is_flag=True,
    help="Print the statistics as Turtle, in the VoID, DCAT and RiverBench vocabularies.",
)
@option(
    "--iri",
    group="Statistics",
    metavar="IRI",
    help="IRI of the dataset for --rdf (default: a blank node).",
)
@option(
    "--html",
    group="Statistics",
    metavar="FILE",
    type=OutputPath(readable=False),
    help="Write the statistics as an HTML page with charts (- for standard output).",
)
def command(
    logs: tuple[str, ...],
    from_format: str | None,
    as_json: bool,
    top: int | None,
    stats: bool,
    as_rdf: bool,
    iri: str | None,
    html: str | None,
    **options: Any,
) -> int:
    """Describe each LOG: its format, counts, sizes, predicates, and first error.

    --stats, --rdf and --html produce detailed statistics. LOG is a file, folder, tar archive, URL,
    or - for standard input. The exit status is 1 if a log has an error or cannot be read; the other
    logs are still inspected.
    """
    from rdfm.analysis.inspect import TOP, inspect
    from rdfm.cli.bar import Bar
    from rdfm.cli.stdio import inputs_of, json_line, print_text, safe
    from rdfm.errors import UnknownFormatError

    stats |= as_rdf or html is not None
    if stats:
        from rdfm.analysis.report_file import check_report, write_report
        from rdfm.analysis.statistics import statistics
        from rdfm.analysis.statistics_rdf import check_iri
        from rdfm.cli.statistics import lines as statistics_lines

        check_iri(iri)
        _reject_conflicts(logs, as_json, as_rdf, html)
    if iri is not None and not as_rdf:
        raise click.UsageError("--iri requires --rdf")
    has_errors = False
    options = {name.removeprefix("from_"): value for name, value in given(options).items()}
    if html is not None and html != "-":
        check_report(html, logs, options)
    options_by_log = _options_by_log(logs, from_format, options)
    list_options: dict[str, Any] = {"top": TOP if top is None and not as_rdf else top}
    if as_rdf:
        list_options["checksum"] = True
    for index, (log, source) in enumerate(zip(logs, inputs_of(logs), strict=True)):
        bar = Bar.on_terminal()
        try:
            report: Any = (statistics if stats else inspect)(
                source, from_format, progress=bar, **list_options, **options_by_log[log]
            )
        except (OSError, UnknownFormatError) as error:
            if len(logs) == 1 or isinstance(error, BrokenPipeError):
                raise
            has_errors = True
            reason = str(error)
            if isinstance(error, OSError) and error.strerror:
                reason = f"{log}: {error.strerror}"
            click.echo(f"rdfm: error: {safe(reason)}", err=True)
            continue
        finally:
            if bar is not None:
                bar.close()
        has_errors |= report.error is not None
        if as_json:
            click.echo(json_line(report.to_dict()))
        elif as_rdf:
            print_text(report.to_rdf(iri))
        elif html is not None:
            if html == "-":
                print_text(report.to_html())
            else:
                write_report(report.to_html(), html)
        else:
            lines = (statistics_lines if stats else _lines)(report)
            click.echo(("\n" if index else "") + "\n".join(lines))
        if stats and report.error and (as_rdf or html is not None):
            click.echo(f"rdfm: error: {safe(report.error)}", err=True)
    return 1 if has_errors else 0


def _reject_conflicts(logs: tuple[str, ...], as_json: bool, as_rdf: bool, html: str | None) -> None:
    """Reject conflicting options before a log is read.

    Raises:
        UsageError: If options conflict; the text names them.
    """
    forms = [
        name
        for name, is_set in (("--json", as_json), ("--rdf", as_rdf), ("--html", html is not None))
        if is_set
    ]
    if len(forms) > 1:
        raise click.UsageError(f"{' and '.join(forms)} cannot be combined")
    if len(logs) > 1 and not as_json and forms:
        raise click.UsageError(f"{forms[0]} requires a single log, found {len(logs)}")


def _options_by_log(
    logs: tuple[str, ...], from_format: str | None, options: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the options of each log. With several logs, each gets those that its format supports.

    Raises:
        OptionError: If one of the options is not supported by any format of the logs.
    """
    from rdfm import formats
    from rdfm.errors import OptionError

    formats_by_log = {
        log: formats.find(from_format) if from_format else formats.by_path(log) for log in logs
    }
    specs = [format.spec for format in formats_by_log.values() if format is not None]
    if len(specs) == len(formats_by_log):
        for name in options:
            if not any(name in spec.options("read") for spec in specs):
                raise OptionError(specs[0].unsupported_option_text("read", name))
    return {
        log: {
            name: value
            for name, value in options.items()
            if len(logs) == 1 or format is None or name in format.spec.options("read")
        }
        for log, format in formats_by_log.items()
    }


def _lines(report: Any) -> list[str]:
    """Return a report as lines of text."""
    from rdfm.analysis.inspect import LISTS
    from rdfm.cli.stdio import WORDS, plural, plural_of, safe, size

    title = (report.format or "none") + (f", {report.compression}" if report.compression else "")
    rows: list[tuple[str, str]] = [("format", title)]
    if report.dialect:
        label = f' (VERSION "{report.version_label}")' if report.version_label else ""
        rows.append(("dialect", report.dialect + label))
    elif report.version_label:
        rows.append(("version label", report.version_label))
    if report.options:
        values = [
            f"{name} {value}" for name, value in report.options.items() if value not in (None, "")
        ]
        rows.append(("stream options", ", ".join(values)))
    if report.column_bytes:
        sizes = (f"{name} {size(count)}" for name, count in report.column_bytes.items())
        rows.append(("columns", ", ".join(sizes)))
    if report.logs != 1:
        rows.append(("logs", f"{report.logs:,}"))
    bytes_ = size(report.bytes)
    if report.bytes_total not in (None, report.bytes):
        bytes_ += f" of {size(report.bytes_total)}"
    if report.compression:
        bytes_ += f", {size(report.decompressed_bytes)} decompressed"
    rows.append(("read" if report.error else "size", bytes_))
    rows += _content(report)
    if report.dropped_keys:
        keys = plural(report.dropped_keys, "JSON-LD key")
        rows.append(("dropped", f"{keys} without an IRI, such as {report.dropped_key}"))
    if report.quads_per_message:
        low, mean, high = report.quads_per_message
        message, record = WORDS[report.kind]
        name = "operations/patch" if report.kind == "patches" else f"{plural_of(record)}/{message}"
        rows.append((name, f"{low:,} to {high:,}, {mean:,} on average"))
    if report.counters:
        rows.append(("counters", "{} to {}".format(*report.counters)))
    lines = [safe(report.source), *(f"  {name:16} {safe(value)}" for name, value in rows)]
    for heading in LISTS:
        rest = []
        if more := report.more.get(heading):
            rest.append(f"and {more:,} more")
        if others := report.others.get(heading):
            rest.append(f"{others:,} occurrences of other names")
        entries = [
            f"{count:>10,}  {safe(name)}" for name, count in getattr(report, heading).items()
        ]
        if rest:
            entries.append(f"{'':10}  {'; '.join(rest)}")
        for position, line in enumerate(entries):
            lines.append(f"  {'' if position else heading:16} {line}")
    for position, (name, iri) in enumerate(report.namespaces.items()):
        lines.append(f"  {'' if position else 'namespaces':16} {safe(name)}: {safe(iri)}")
    for position, note in enumerate(report.notes):
        lines.append(f"  {'' if position else 'notes':16} {safe(note)}")
    if report.error:
        lines.append(f"  {'first error':16} {safe(report.error)}")
    return lines


def _content(report: Any) -> list[tuple[str, str]]:
    """Return rows with the number of messages and their content."""
    from rdfm.cli.stdio import WORDS, plural, plural_of

    empty = f" ({report.empty_messages:,} empty)" if report.empty_messages else ""
    rows = [(plural_of(WORDS[report.kind][0]), f"{report.messages:,}{empty}")]
    graphs = "" if not report.has_graphs else ", some in named graphs"
    if report.kind == "results":
        if report.boolean is not None:
            return [("answer", str(report.boolean).lower())]
        if report.variables is not None:
            names = " ".join(f"?{name}" for name in report.variables)
            rows.append(("variables", names or "none"))
    elif report.kind == "patches":
        counts = report.operations
        by_code = ", ".join(f"{count:,} {code}" for code, count in counts.items())
        rows.append(("operations", (by_code or "0") + graphs))
        if transactions := counts.get("TX", 0):
            committed, aborted = counts.get("TC", 0), counts.get("TA", 0)
            outcomes = f"{committed:,} committed, {aborted:,} aborted"
            if report.unfinished:
                outcomes += f", {report.unfinished:,} unfinished"
            rows.append(("transactions", f"{transactions:,}: {outcomes}"))
        if report.misplaced_rows:
            misplaced = plural(report.misplaced_rows, "row")
            rows.append(("out of order", f"{misplaced}; {report.misplaced_row}"))
        if report.broken_links:
            links = plural(report.broken_links, "broken link")
            rows.append(("chain", f"{links}; {report.broken_link}"))
        elif report.links:
            rows.append(("chain", "complete: each prev is the id of the previous patch"))
    else:
        rows.append(("quads", f"{report.quads:,}{graphs}"))
    return rows
