"""A ledger as HTML, for notebooks: limit, spent, left, and the releases without answers."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .._core.html import table

#: How many releases are shown, the last ones.
SHOWN = 50


def page(title: str, facts: str, sums: dict[str, list[str]], releases: Sequence[list[str]]) -> str:
    """Return the HTML of a ledger.

    Parameters
    ----------
    title, facts : str
        Its name, and what else is said of it.
    sums : dict
        Limit, spent and left of each amount, by its name.
    releases : sequence of list of str
        What, loss, what it counted, note and time of each.
    """
    head = table(["", "limit", "spent", "left"], [[name, *own] for name, own in sums.items()])
    shown = releases[-SHOWN:]
    before = len(releases) - len(shown)
    lines = [[str(before + i + 1), *one] for i, one in enumerate(shown)]
    titles = ["", "release", "loss", "counted", "note", "time (UTC)"]
    rows = table(titles, lines) if lines else "<p>No release yet.</p>"
    earlier = f"<p>{before} earlier ones are not shown.</p>" if before else ""
    return (
        f"<div><p><b>{escape(title)}</b> {escape(facts)}</p>{head}"
        f"<details open><summary>Releases: {len(releases)}</summary>{earlier}{rows}</details></div>"
    )
