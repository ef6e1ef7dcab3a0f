"""Bar charts of the tables in docs/performance.md, and the landing page, for the site.

The tables are the record of `make bench`, with machine, versions and date, so a chart cannot differ
from its table. Colours are those of the theme.
"""

import re
from html import escape
from pathlib import Path
from typing import NamedTuple

TABLE = re.compile(r"^\|.*rdfm, M quads/s.*\|\n\|[ -|]+\|\n(?:\|.*\n)+", re.MULTILINE)
WIDTH, LABEL, ROW, BAR = 760, 350, 38, 13
# Rows of the landing page.
HIGHLIGHTS = {
    "jelly read, batches (iot)": "read Jelly",
    "jelly write, batches (iot)": "write Jelly",
    "nq read, batches (iot)": "read N-Quads",
    "nq write, batches (iot)": "write N-Quads",
}


class Comparison(NamedTuple):
    """A row of a table: a task, and the rates of rdfm and of another program in M quads/s."""

    task: str
    rate: float
    other: str
    other_rate: float
    ratio: float


def comparisons(table: str) -> list[Comparison]:
    """The rows of a Markdown table."""
    header, _, *rows = (
        [cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()
    )
    rate = next(index for index, name in enumerate(header) if name.startswith("rdfm, M quads/s"))
    other = rate + 1
    if "compared with" in header:
        named = header.index("compared with")
        return [
            Comparison(row[0], float(row[rate]), row[named], float(row[named + 1]), float(row[-1]))
            for row in rows
        ]
    name = header[other].split(",")[0]
    return [
        Comparison(row[0], float(row[rate]), name, float(row[other]), float(row[-1]))
        for row in rows
    ]


def chart(rows: list[Comparison]) -> str:
    """Two bars for each row, with their figures."""
    longest = max(max(row.rate, row.other_rate) for row in rows)
    scale = (WIDTH - LABEL - 190) / longest
    height = ROW * len(rows) + 4
    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" '
        'aria-label="Bar chart of the following table, in million quads per second" '
        'font-size="13" fill="currentColor">'
    ]
    for index, row in enumerate(rows):
        top = index * ROW + 4
        parts.append(
            f'<text x="{LABEL - 10}" y="{top + 19}" text-anchor="end">{escape(row.task)}</text>'
        )
        bars = ((row.rate, "rdfm", 1.0), (row.other_rate, row.other, 0.35))
        for place, (rate, name, opacity) in enumerate(bars):
            y, length = top + place * (BAR + 2), max(rate * scale, 1)
            parts.append(
                f'<rect x="{LABEL}" y="{y}" width="{length:.1f}" height="{BAR}" '
                f'fill="var(--md-primary-fg-color)" opacity="{opacity}"/>'
                f'<text x="{LABEL + length + 6:.1f}" y="{y + 11}">{rate:g} {escape(name)}</text>'
            )
    return "\n".join([*parts, "</svg>"])


def with_charts(page: str) -> str:
    """The page with a chart before each table of rates."""
    return TABLE.sub(lambda match: f"{chart(comparisons(match[0]))}\n\n{match[0]}", page)


def landing(template: Path, performance: str) -> str:
    """The landing page: the template with the figures of the highlights."""
    rows: dict[str, Comparison] = {}
    for table in TABLE.findall(performance):
        for row in comparisons(table):
            rows.setdefault(row.task, row)  # the table of Jelly-JVM repeats some tasks
    lines = ["| one core, M quads/s | rdfm | other library | ratio |", "| --- | --- | --- | --- |"]
    for task, name in HIGHLIGHTS.items():
        row = rows[task]
        lines.append(f"| {name} | {row.rate:g} | {row.other} {row.other_rate:g} | {row.ratio:g} |")
    return template.read_text("utf-8").replace("<!-- figures -->", "\n".join(lines))
