"""Tables of HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

__all__ = ["facts", "table"]

#: A longer text of a value is cut.
LONGEST = 200


def table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table with a head.

    Parameters
    ----------
    titles : iterable of str
    rows : iterable of iterables of str

    Returns
    -------
    str

    Raises
    ------
    AttributeError
        If a cell is no text.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.extend.html.table(["a"], [["<"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def facts(title: str, about: Mapping[str, Any], rest: str = "") -> str:
    """Return a title, a table of names with their values, and further HTML.

    Parameters
    ----------
    title : str
    about : mapping
    rest : str, optional

    Returns
    -------
    str

    Raises
    ------
    AttributeError
        If a name is no text.

    Examples
    --------
    >>> import dpfast as dp
    >>> "<th>n</th><td>3</td>" in dp.extend.html.facts("rows", {"n": 3})
    True
    """
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(_short(value))}</td></tr>"
        for name, value in about.items()
    )
    return f"<div><p><b>{escape(title)}</b></p><table><tbody>{rows}</tbody></table>{rest}</div>"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
