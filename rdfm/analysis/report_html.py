"""Statistics as HTML: a self-contained page, or a fragment for notebooks.

In: `Statistics`. Out: HTML with charts as inline SVG, without scripts, fonts or external resources.
Law: all text from a log is escaped. Tooltips are the only attributes that contain text from a log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from rdfm._core import __version__

if TYPE_CHECKING:
    from rdfm.analysis.statistics import Names, Sizes, Statistics

__all__ = ["GENERATOR", "fragment", "page"]

# Marker at the beginning of each page, followed by the version. rdfm replaces only files that
# contain it.
GENERATOR = '<meta name="generator" content="rdfm '

# Maximum length of a name, and of its tooltip. Longer text is shortened in the middle.
_MAX_NAME = 90
_MAX_TOOLTIP = 500
# Histograms with at most this number of bars show both bounds in their labels.
_MAX_RANGES = 6

_STYLE, _PAGE = (
    Path(__file__).with_name(name).read_text("utf-8") for name in ("report.css", "report_page.css")
)

_TITLES = {
    "iris": "IRIs",
    "blank_nodes": "Blank nodes",
    "literals": "Literals",
    "simple_literals": "Simple literals",
    "datatype_literals": "Datatype literals",
    "language_literals": "Language literals",
    "datatypes": "Datatypes",
    "ascii_control_characters": "ASCII control characters",
    "quoted_triples": "Quoted triples",
    "subjects": "Subjects",
    "predicates": "Predicates",
    "objects": "Objects",
    "graphs": "Graphs",
    "statements": "Statements",
    "byte_density": "Bytes per statement",
}
_LISTS = {
    "predicates": ("Predicates", "statements"),
    "types": ("Types", "statements"),
    "namespaces": ("Namespaces", "occurrences"),
    "datatypes": ("Datatypes", "occurrences"),
    "languages": ("Languages", "occurrences"),
}
# The plural of "message", and the heading and unit of the sizes, by kind.
_WORDS = {
    "messages": ("messages", ("Quads per message", "quads")),
    "patches": ("patches", ("Operations per patch", "operations")),
    "results": ("rows", ("Bound cells per row", "bound cells")),
}


def page(statistics: Statistics) -> str:
    """Return a complete page."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'{GENERATOR}{__version__}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src'
        " 'unsafe-inline'; img-src data:\">\n"
        f'<link rel="icon" href="data:,">\n<title>{_text(statistics.source)}: statistics</title>\n'
        f"<style>{_PAGE}</style>\n</head>\n<body>\n{fragment(statistics)}</body>\n</html>\n"
    )


def fragment(statistics: Statistics) -> str:
    """Return the content of a page: a style element and a block."""
    return f'<style>{_STYLE}</style>\n<main class="rdfm-stats">\n{"".join(_parts(statistics))}</main>\n'


def _parts(statistics: Statistics) -> Iterator[str]:
    plural, heading = _WORDS[statistics.kind]
    facts = [statistics.format or "no format", f"{_size(statistics.bytes)} read"]
    if statistics.logs != 1:
        facts.append(f"{statistics.logs:,} logs")
    if statistics.empty_messages:
        facts.append(f"{statistics.empty_messages:,} empty {plural}")
    yield f"<h1>{_text(statistics.source)}</h1>\n<p>{_text(', '.join(facts))}</p>\n"
    if statistics.error:
        yield f'<div class="bad">Reading stopped at the first error: {_text(statistics.error)}</div>\n'
    yield _tiles(statistics, plural)
    charts = (
        (*heading, statistics.quads_per_message),
        ("Bytes per message, as N-Quads", "bytes", statistics.bytes_per_message),
        ("Adds per patch", "adds", statistics.adds_per_patch),
        ("Deletes per patch", "deletes", statistics.deletes_per_patch),
    )
    histograms = [
        _histogram(name, unit, distribution, plural)
        for name, unit, distribution in charts
        if distribution is not None and distribution.histogram
    ]
    if histograms:
        yield f'<div class="two">{"".join(histograms)}</div>\n'
    yield _shares("Terms, by occurrences", _add_titles(statistics.occurrences))
    yield _shares("Operations, by code", statistics.operations)
    yield _variables(statistics)
    if statistics.messages and statistics.series:
        yield _series(statistics)
    yield _distinct(statistics)
    lists = [
        _names(
            *_LISTS[name],
            getattr(statistics, name),
            statistics.prefixes if name == "namespaces" else {},
        )
        for name in _LISTS
        if getattr(statistics, name).counts
    ]
    if lists:
        yield f'<div class="two">{"".join(lists)}</div>\n'
    if statistics.approximate_messages:
        yield (
            f"<p>{statistics.approximate_messages:,} {plural} have more than 65,536 distinct terms or 262,144 distinct quads."
            " Some of their numbers are estimates.</p>\n"
        )
    for note in statistics.notes:
        yield f"<p>{_text(note)}</p>\n"


def _tiles(statistics: Statistics, plural: str) -> str:
    tiles = [(f"{statistics.messages:,}", plural)]
    if statistics.kind != "results":
        tiles.append(
            (
                f"{statistics.quads:,}",
                "quads" if statistics.kind == "messages" else "quads added or deleted",
            )
        )
    else:
        tiles.append((f"{len(statistics.variables):,}", "variables"))
    for name, title in (
        ("iris", "distinct IRIs"),
        ("literals", "distinct literals"),
        ("subjects", "distinct subjects"),
        ("predicates", "distinct predicates"),
        ("graphs", "distinct graphs"),
    ):
        distinct = statistics.distinct[name]
        if statistics.kind == "results" and name in ("subjects", "predicates", "graphs"):
            continue
        approximately = "" if distinct.lower == distinct.upper else "≈ "
        tiles.append((f"{approximately}{distinct.number:,}", title))
    cells = "".join(
        f'<div class="card"><b>{number}</b><span>{title}</span></div>' for number, title in tiles
    )
    return f'<div class="tiles">{cells}</div>\n'


def _histogram(title: str, unit: str, sizes: Sizes, plural: str) -> str:
    """Return a histogram, followed by its statistics."""
    bars = sizes.histogram
    width, height, base = 420, 190, 150
    step = min((width - 16) / len(bars), 64)
    left = (width - step * len(bars)) / 2
    max_count = max(count for _, _, count in bars)
    shapes = []
    label_interval = max(1, -(-len(bars) // 8))  # bars per label, so that labels do not overlap
    for number, (minimum, maximum, count) in enumerate(bars):
        x = left + number * step
        bar_height = 130 * count / max_count
        if count:
            bar_height = max(bar_height, 1.5)
            span = f"{minimum:,}" if minimum == maximum else f"{minimum:,} to {maximum:,}"
            shapes.append(
                f'<rect class="bar" x="{x + step * 0.08:.1f}" y="{base - bar_height:.1f}" width="{step * 0.84:.1f}"'
                f' height="{bar_height:.1f}" rx="2"><title>{span}: {count:,} {plural}</title></rect>'
            )
        if number % label_interval == 0:
            label = _short(minimum)
            if len(bars) <= _MAX_RANGES and maximum > minimum:
                label += f"–{_short(maximum)}"
            shapes.append(
                f'<text x="{x + step / 2:.1f}" y="{base + 16}" text-anchor="middle">{label}</text>'
            )
    shapes.append(f'<line class="axis" x1="0" x2="{width}" y1="{base}" y2="{base}"/>')
    shapes.append(
        f'<text x="{width / 2}" y="{base + 35}" text-anchor="middle">{unit}, by powers of two</text>'
    )
    shapes.append(f'<text x="0" y="12">up to {max_count:,} {plural} per bar</text>')
    numbers = [("min", sizes.minimum), *sizes.percentiles.items(), ("max", sizes.maximum)]
    numbers += [("mean", sizes.mean), ("std. dev.", sizes.standard_deviation)]
    spans = "".join(f"<span>{name} <b>{_number(value)}</b></span>" for name, value in numbers)
    return (
        f'<section class="card"><h2>{title}</h2><svg viewBox="0 0 {width} {height}" role="img"'
        f' aria-label="{title}: histogram">{"".join(shapes)}</svg><div class="nums">{spans}</div></section>'
    )


def _add_titles(counts: Mapping[str, int]) -> dict[str, int]:
    return {_TITLES[name]: count for name, count in counts.items()}


def _shares(title: str, counts: Mapping[str, int]) -> str:
    """Return a stacked bar with its legend."""
    total = sum(counts.values())
    if not total:
        return ""
    x, shapes, keys = 0.0, [], []
    for number, (name, count) in enumerate(item for item in counts.items() if item[1]):
        colour = f"k{min(number, 5)}"
        bar_width = 1000 * count / total
        shapes.append(
            f'<rect class="{colour}" x="{x:.2f}" y="0" width="{bar_width:.2f}" height="26">'
            f"<title>{_text(name)}: {count:,}</title></rect>"
        )
        keys.append(
            f'<span><i class="{colour}"></i>{_text(name)} <b>{count:,}</b> ({_share(count, total)})</span>'
        )
        x += bar_width
    return (
        f'<section class="card"><h2>{title}</h2><svg viewBox="0 0 1000 26" preserveAspectRatio="none"'
        f' style="height:26px" role="img" aria-label="{title}">{"".join(shapes)}</svg>'
        f'<div class="key">{"".join(keys)}</div></section>\n'
    )


def _names(title: str, unit: str, names: Names, prefixes: Mapping[str, str]) -> str:
    """Return the most frequent names, with a bar for each."""
    by_iri = {iri: name for name, iri in prefixes.items()}
    max_count = max(names.counts.values())
    rows = []
    for name, count in names.counts.items():
        label = _text(_truncate(name, _MAX_NAME))
        prefix = f" <small>{_text(by_iri[name])}:</small>" if name in by_iri else ""
        rows.append(
            f'<div class="row"><div><span title="{_text(_truncate(name, _MAX_TOOLTIP))}">{label}{prefix}</span>'
            f"<span>{count:,}</span></div>{_bar(count, max_count)}</div>"
        )
    more = names.number - len(names.counts)
    if more:
        rows.append(f"<p>and {more:,} more</p>")
    if names.others:
        rows.append(f"<p>{names.others:,} {unit} of names without a separate count</p>")
    return f'<section class="card"><h2>{title}, by {unit}</h2>{"".join(rows)}</section>'


def _bar(count: int, max_count: int) -> str:
    bar_width = max(1000 * count / max_count, 3)
    return (
        '<svg viewBox="0 0 1000 6" preserveAspectRatio="none" style="height:6px" aria-hidden="true">'
        f'<rect class="track" width="1000" height="6"/><rect class="bar" width="{bar_width:.1f}" height="6"/></svg>'
    )


def _variables(statistics: Statistics) -> str:
    if not statistics.variables:
        return ""
    rows = (
        (
            f"?{_text(variable.name)}",
            f"{variable.bound:,}",
            _share(variable.bound, statistics.messages),
            "–" if variable.distinct is None else f"{variable.distinct.number:,}",
        )
        for variable in statistics.variables
    )
    return _table("Variables", ("", "bound", "of rows", "distinct terms"), rows)


def _series(statistics: Statistics) -> str:
    rows = (
        (
            _TITLES[name],
            *(_number(value) for value in (series.minimum, series.mean, series.maximum)),
            _number(series.standard_deviation),
            _number(series.sum),
        )
        for name, series in statistics.series.items()
    )
    head = ("", "min", "mean", "max", "std. dev.", "sum")
    message = "patch" if statistics.kind == "patches" else "message"
    return _table(f"Distinct terms and other numbers per {message}", head, rows)


def _distinct(statistics: Statistics) -> str:
    rows = (
        (
            _TITLES[name],
            f"{distinct.number:,}",
            "exact"
            if distinct.lower == distinct.upper
            else f"{distinct.lower:,} to {distinct.upper:,}",
        )
        for name, distinct in statistics.distinct.items()
        if distinct.number
    )
    return _table("Distinct terms in the log", ("", "number", "± 2 standard deviations"), rows)


def _table(title: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table. The caller must escape its strings."""
    names = "".join(f'<th scope="col">{name}</th>' for name in head)
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    if not lines:
        return ""
    return (
        f'<section class="card"><h2>{title}</h2><div class="scroll"><table><thead><tr>{names}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div></section>\n"
    )


def _text(text: str) -> str:
    """Escape a string for HTML, and replace control characters and bidirectional controls."""
    visible = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return escape(visible, quote=True)


def _truncate(text: str, max_length: int) -> str:
    return (
        text if len(text) <= max_length else f"{text[: max_length // 2]}…{text[-max_length // 2 :]}"
    )


def _share(count: int, total: int) -> str:
    return f"{100 * count / total:.1f} %" if total else "–"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:,.2f}"


def _short(value: int) -> str:
    """Return a number in short form, with a binary unit prefix."""
    for unit in ("", "Ki", "Mi", "Gi", "Ti", "Pi"):
        if value < 1024:
            return f"{value}{unit}"
        value //= 1024
    return f"{value}Ei"


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
