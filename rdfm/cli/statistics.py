"""Text output of `rdfm inspect --stats`.

In: `Statistics`. Out: lines of text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rdfm.cli.stdio import WORDS, escape_controls, plural, plural_noun, size_text

if TYPE_CHECKING:
    from rdfm.analysis.statistics import Names, Sizes, Statistics

__all__ = ["lines"]

# Maximum length of histogram bars, which fits most terminals.
_BAR_LENGTH = 32
_TITLES = {
    "iris": "IRIs",
    "blank_nodes": "blank nodes",
    "simple_literals": "simple literals",
    "datatype_literals": "datatype literals",
    "language_literals": "language literals",
    "ascii_control_characters": "control characters",
    "quoted_triples": "quoted triples",
    "byte_density": "bytes/statement",
}


def lines(statistics: Statistics) -> list[str]:
    """Return the statistics as lines of text."""
    message, record = WORDS[statistics.kind]
    empty = f" ({statistics.empty_messages:,} empty)" if statistics.empty_messages else ""
    rows = [("format", statistics.format or "none")]
    if statistics.logs != 1:
        rows.append(("logs", f"{statistics.logs:,}"))
    rows += [
        ("size", size_text(statistics.bytes)),
        (plural_noun(message), f"{statistics.messages:,}{empty}"),
    ]
    if statistics.kind == "patches":
        counts = ", ".join(f"{count:,} {code}" for code, count in statistics.operations.items())
        rows.append(("operations", counts or "0"))
    elif statistics.kind == "messages":
        rows.append(("quads", f"{statistics.quads:,}"))
    output_lines = [
        escape_controls(statistics.source),
        *(f"  {name:18} {escape_controls(value)}" for name, value in rows),
    ]
    sizes = (
        "bound cells/row" if statistics.kind == "results" else f"{plural_noun(record)}/{message}"
    )
    output_lines += _sizes(sizes, statistics.quads_per_message)
    for name, distribution in (
        ("bytes/message", statistics.bytes_per_message),
        ("adds/patch", statistics.adds_per_patch),
        ("deletes/patch", statistics.deletes_per_patch),
    ):
        if distribution is not None:
            output_lines += _sizes(name, distribution)
    output_lines += _table(statistics, message)
    for variable in statistics.variables:
        distinct = "" if variable.distinct is None else f", {variable.distinct.number:,} distinct"
        output_lines.append(
            f"  {escape_controls('?' + variable.name):18} bound in {plural(variable.bound, 'row')}{distinct}"
        )
    by_iri = {iri: name for name, iri in statistics.prefixes.items()}
    for heading, names in (
        ("predicates", statistics.predicates),
        ("types", statistics.types),
        ("namespaces", statistics.namespaces),
        ("datatypes", statistics.datatypes),
        ("languages", statistics.languages),
    ):
        output_lines += _names(heading, names, by_iri if heading == "namespaces" else {})
    if statistics.approximate_messages:
        number = plural(statistics.approximate_messages, message)
        output_lines.append(
            f"  {'estimated':18} some counts of {number} with more than 65,536 terms or 262,144 quads"
        )
    for position, note in enumerate(statistics.notes):
        output_lines.append(f"  {'' if position else 'notes':18} {escape_controls(note)}")
    if statistics.error:
        output_lines.append(f"  {'first error':18} {escape_controls(statistics.error)}")
    return output_lines


def _sizes(title: str, sizes: Sizes) -> list[str]:
    """Return a distribution as lines of text: numbers and a histogram."""
    if not sizes.histogram:
        return []
    numbers = [
        f"{_number(sizes.minimum)} to {_number(sizes.maximum)}",
        f"median {_number(sizes.median)}",
        f"mean {_number(sizes.mean)}",
        f"deviation {_number(sizes.standard_deviation)}",
    ]
    output_lines = ["", f"  {title:18} {', '.join(numbers)}"]
    percentiles = ", ".join(f"{name} {_number(value)}" for name, value in sizes.percentiles.items())
    output_lines.append(f"  {'':18} {percentiles}")
    if len(sizes.histogram) == 1:
        return output_lines
    max_count = max(count for _, _, count in sizes.histogram)
    for minimum, maximum, count in sizes.histogram:
        span = f"{minimum:,}" if minimum == maximum else f"{minimum:,} to {maximum:,}"
        bar = "#" * max(round(_BAR_LENGTH * count / max_count), 1 if count else 0)
        output_lines.append(f"  {span:>18} {bar:{_BAR_LENGTH}} {count:>10,}")
    return output_lines


def _table(statistics: Statistics, message: str) -> list[str]:
    """Return a table of the series, one per line, with the number of distinct terms in the log."""
    head = ["min", "mean", "max", "deviation", "sum", "distinct"]
    rows = []
    for name in (
        *statistics.series,
        *(name for name in statistics.distinct if name not in statistics.series),
    ):
        series, distinct = statistics.series.get(name), statistics.distinct.get(name)
        distinct_text = "" if distinct is None else f"{distinct.number:,}"
        if distinct is not None and distinct.lower != distinct.upper:
            distinct_text += f" ({distinct.lower:,} to {distinct.upper:,})"
        if series is None:
            if distinct is None or not distinct.number:
                continue
            cells = ["", "", "", "", "", distinct_text]
        else:
            values = (
                series.minimum,
                series.mean,
                series.maximum,
                series.standard_deviation,
                series.sum,
            )
            cells = [*("" if value is None else _number(value) for value in values), distinct_text]
        rows.append((_TITLES.get(name, name.replace("_", " ")), cells))
    if not rows or not statistics.messages:
        return []
    widths = [
        max(len(cells[index]) for _, cells in (*rows, ("", head))) for index in range(len(head))
    ]

    def line(name: str, cells: list[str]) -> str:
        return f"  {name:18} " + "  ".join(
            f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)
        )

    return ["", line(f"per {message}", head), *(line(*row).rstrip() for row in rows), ""]


def _names(heading: str, names: Names, prefixes: dict[str, str]) -> list[str]:
    output_lines = []
    for position, (name, count) in enumerate(names.counts.items()):
        prefix = f" ({prefixes[name]}:)" if name in prefixes else ""
        output_lines.append(
            f"  {'' if position else heading:18} {count:>10,}  {escape_controls(name + prefix)}"
        )
    if names.others:
        output_lines.append(f"  {'':18} {names.others:>10,}  occurrences of other names")
    return output_lines


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
