"""HTML tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from itertools import islice
from typing import Any

from ..errors import printable

__all__ = ["facts", "table"]

#: Longer texts of values are cut.
LONGEST = 200
#: The most rows that unfold; further rows are left out.
MOST = 10_000


def table(titles: Iterable[str], rows: Iterable[Iterable[str]], shown: int | None = None) -> str:
    """Return an HTML table with a row of titles.

    Parameters
    ----------
    titles : iterable of str
    rows : iterable of iterables of str
    shown : int, optional
        How many rows are shown at first; a click unfolds the others, without a script.

    Returns
    -------
    str

    Raises
    ------
    AttributeError
        If a cell is not a string.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.extend.html.table(["a"], [["<"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{_escaped(title)}</th>" for title in titles)
    body = (f"<tr>{''.join(f'<td>{_escaped(c)}</td>' for c in row)}</tr>" for row in rows)
    first, folded = _table(head, islice(body, shown)), list(islice(body, MOST))
    if not folded:
        return first
    more = "<p>More are left out.</p>" if next(body, None) else ""
    title = f"<summary>{len(folded):,} more</summary>"
    return f"{first}<details>{title}{_table(head, folded)}{more}</details>"


def _table(head: str, lines: Iterable[str]) -> str:
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def facts(title: str, about: Mapping[str, Any], details: str = "") -> str:
    """Return HTML with a title, a table of names and values, and the HTML text `details`.

    Parameters
    ----------
    title : str
    about : mapping
    details : str, optional

    Returns
    -------
    str

    Raises
    ------
    AttributeError
        If a name is not a string.

    Examples
    --------
    >>> import dpfast as dp
    >>> "<th>n</th><td>3</td>" in dp.extend.html.facts("rows", {"n": 3})
    True
    """
    rows = "".join(
        f"<tr><th>{_escaped(name)}</th><td>{_escaped(_short(value))}</td></tr>"
        for name, value in about.items()
    )
    return (
        f"<div><p><b>{_escaped(title)}</b></p><table><tbody>{rows}</tbody></table>{details}</div>"
    )


def _escaped(text: str) -> str:
    """Return a text escaped for HTML; characters that hide or reverse text are shown as codes."""
    # A no-break space stays: it keeps words together.
    parts = (printable(part, len(part) + 4) for part in text.split("\xa0"))
    return escape("\xa0".join(parts))


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
