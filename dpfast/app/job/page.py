"""The answers of a job as one HTML page: a table of each release, with its bars and error bars.

The page has no script, and nothing is loaded from elsewhere. It uses the results of `output.report`
and `output.rows`, which may be published. A bar is drawn from 0 to the answer of its row. Its error
bar has the half-width of the row. All bars of a column of answers have one scale. In a narrow
window bars are shorter, and long names are broken.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import Any

from ...extend import fact_text
from ..texts import data_text, loss_text, number_text, unit_text

#: The style sheet of this page and of ledger reports.
STYLE = data_text("page.css")
#: The size of a drawing, in pixels, where there is room.
WIDTH, HEIGHT = 240, 14

Row = dict[str, Any]


def page(facts: Any, rows: Sequence[Row]) -> str:
    """Return an HTML page made of a job's report and rows of answers."""
    title = escape(facts["job"])
    of = {name: list(lines) for name, lines in groupby(rows, key=lambda row: row["name"])}
    sections = "\n".join(_section(release, of[release["name"]]) for release in facts["releases"])
    releases, data = facts["releases"], facts["data"]
    dates = sorted(release["time"][:10] for release in releases if release["time"])
    about = {
        "date": " to ".join(dict.fromkeys([*dates[:1], *dates[-1:]])),
        "data": ", ".join(data["paths"]),
        "version": data["version"],
        "loss": loss_text(facts["loss"]),
        "neighbors": facts["neighbors"],
        **{name: facts[name] for name in ("ids", "max_rows", "period") if name in facts},
    }
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{title}</title>\n'
        f"<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
        f"<table>\n{''.join(_line(name, fact) for name, fact in about.items() if fact)}</table>\n"
        f"{sections}\n</main>\n</body>\n</html>\n"
    )


def _section(release: Any, rows: list[Row]) -> str:
    """Return the HTML section of a release: heading, parameters, tables of answers, and notes."""
    columns, where = ", ".join(release["data"]["columns"]), release["data"]["where"]
    about = f" of {columns}" * bool(columns) + f" where {where}" * bool(where)
    parts = [
        f"<h2>{escape(release['name'])}</h2>",
        f"<p>{escape(release['statistic'] + about)}; {loss_text(release['loss'])}</p>",
        f'<p class="note">{escape(fact_text(release["parameters"]))}</p>',
    ]
    most = unit_text(release)
    if "failure" in release:
        return "\n".join([*parts, f'<p class="error">{escape(release["failure"])}</p>'])
    if release["value"] is None:
        return "\n".join([*parts, f'<p class="note">{escape(release["note"])}</p>'])
    if isinstance(release["value"], dict):  # answers of several columns: a table for each
        parts += (_table(lines, at, most) for at, lines in groupby(rows, key=lambda row: row["at"]))
    else:
        parts.append(_table(rows, "", most))
    notes = dict.fromkeys(str(row["note"]) for row in rows if row["note"])
    parts += (f'<p class="note">{escape(note)}</p>' for note in notes)
    return "\n".join(parts)


def _table(rows: Any, heading: str, most: str) -> str:
    """Return an HTML table of answers with labels, error bars, and drawn bars on one scale."""
    rows = list(rows)
    ends = [end for row in rows for end in _ends(row)]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    drawn = len(rows) > 1 and low < high
    of, confidence = escape(heading or "answer"), rows[0]["confidence"]
    bars = "<th></th>" if drawn else ""
    names = "".join(f'<th class="n">{title}</th>' for title in (of, f"error ({confidence:.0%})"))
    head = f"<tr><th></th>{names}{bars}</tr>\n"
    lines = (_row(row, _cell(row, low, high) if drawn else "") for row in rows)
    caption = f"<caption>{escape(most)}</caption>\n" if most else ""
    return f"<table>\n{caption}{head}{''.join(lines)}</table>"


def _row(row: Row, drawing: str) -> str:
    number = number_text(row.get("time") or row.get("value"))
    cells = "".join(f'<td class="n">{escape(text)}</td>' for text in (number, row.get("bar", "")))
    return f"<tr><td>{escape(str(row.get('group') or row['at']))}</td>{cells}{drawing}</tr>\n"


def _ends(row: Row) -> list[float]:
    """Return the known ends of a row's drawing: low end, value and high end of its error bar."""
    return [row[name] for name in ("low", "value", "high") if row.get(name) is not None]


def _cell(row: Row, low: float, high: float) -> str:
    """Return a table cell (SVG) with the bar and the error bar of a row between two ends."""
    ends = [(end - low) / (high - low) * WIDTH for end in (0.0, *_ends(row))]
    if len(ends) == 1:
        return "<td></td>"
    zero, value = ends[0], ends[len(ends) // 2]
    width = max(1.0, abs(value - zero))  # at least one pixel, so that 0 is visible
    start = min(zero, value, WIDTH - width)
    bar = f'<rect x="{start:.1f}" y="2" width="{width:.1f}" height="{HEIGHT - 4}"/>'
    if len(ends) > 2:
        bar += f'<path d="M{ends[1]:.1f} {HEIGHT // 2}H{ends[3]:.1f}"/>'
    frame = f'viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none"'
    return f'<td><svg {frame} height="{HEIGHT}" aria-hidden="true">{bar}</svg></td>'


def _line(name: str, value: object) -> str:
    return f"<tr><td>{escape(name)}</td><td>{escape(str(value))}</td></tr>\n"
