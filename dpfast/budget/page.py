"""A ledger as HTML, for notebooks: limit, spent, left, and the releases without answers."""

from __future__ import annotations

from html import escape

from .._core.html import table
from .history import History


def page(title: str, facts: str, sums: dict[str, list[str]], history: History) -> str:
    """Return the HTML of a ledger.

    Parameters
    ----------
    title, facts : str
        Its name, and what else is said of it.
    sums : dict
        Limit, spent and left of each amount, by its name.
    history : History
    """
    head = table(["", "limit", "spent", "left"], [[name, *own] for name, own in sums.items()])
    rows = history.to_html() if history else "<p>No release yet.</p>"
    return (
        f"<div><p><b>{escape(title)}</b> {escape(facts)}</p>{head}"
        f"<details open><summary>Releases: {len(history)}</summary>{rows}</details></div>"
    )
