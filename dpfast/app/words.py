"""Parsers for values of commands and jobs: numbers, lists, conditions; and answers in JSON.

An item that can be read as a number is a number. Any other item is a text. Text in quotes is kept
exactly. No library does this: Python's `ast` reads neither `carrier = UA` nor `day >= 2024-01-31`.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from ..extend import checks, conditions

#: The tests of a condition, by their signs in a text.
SIGNS = {
    **{"=": "equal", "==": "equal", "!=": "not_in", "in": "in", "not in": "not_in"},
    **{">": "above", ">=": "at_least", "<": "below", "<=": "at_most"},
}
RULE = (
    'a table such as {column = "delay", above = 0}, a text such as "delay > 0", or a list of these'
)
_QUOTED = r"""(?:"[^"]*"|'[^']*')"""
_COLUMN = rf"""\s*({_QUOTED}|[^"'<>=!]+?)\s*"""
_WRITTEN = (
    re.compile(rf"{_COLUMN}([<>!=]=|[<>=])\s*(\S|\S.*\S)\s*", re.DOTALL),
    re.compile(rf"{_COLUMN}\b(in|not\s+in)\b\s*(\S|\S.*\S)\s*", re.DOTALL),
)
#: Signs of a further condition or of a list. A text with one of these must be in quotes.
_SEVERAL = re.compile(r"[<>=!(),\[\]&|]|\s(?:and|or)\s", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_ITEM = re.compile(rf"""\s*({_QUOTED}|[^\s,"'][^,]*?)\s*(?:,|$)""")


def items(text: str, name: str) -> list[str]:
    """Return the items of a list such as "UA, 'A, B'", with their quotes.

    Commas separate items, and blanks around items are ignored. Text in quotes is kept exactly.
    """
    matches = list(_ITEM.finditer(text))
    if "".join(match.group() for match in matches) != text or not text or text[-1] == ",":
        checks.fail(name, """a list such as UA, 'A, B'""", text)
    return [match[1] for match in matches]


def value_of(item: str) -> Any:
    """Read an item as a number, or else as a text; an item in quotes stays a text."""
    if not _NUMBER.fullmatch(item):
        return unquoted(item)
    return int(item) if item.lstrip("+-").isdecimal() and len(item) < 400 else float(item)


def truth_or_value(item: str) -> Any:
    """Read an item as True or False, or else as `value_of` does."""
    return {"true": True, "false": False}.get(item, value_of(item))


def unquoted(item: str) -> str:
    """Return an item without its quotes, if it has any."""
    return item[1:-1] if re.fullmatch(_QUOTED, item) else item


def where_of(where: Any, name: str = "where") -> Any:
    """Read the conditions of `where`: a table, a text, or a list of these; all must hold.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `where` does not hold conditions. Messages call the argument `name`.
    """
    written = where if isinstance(where, (list, tuple)) else [where]
    if not all(isinstance(condition, (str, dict)) for condition in written):
        checks.fail_type(name, RULE, where)
    tables = [_table(part, name) if isinstance(part, str) else part for part in written]
    return conditions(tables, name)


def _table(text: str, name: str) -> dict[str, Any]:
    """Read a condition from a text such as "carrier in UA, AA" as a table of column and test."""
    match = next(filter(None, (pattern.fullmatch(text) for pattern in _WRITTEN)), None)
    if match is None:
        rule = f"a column, one of {', '.join(SIGNS)}, and a value"
        checks.fail(name, f'{rule}, such as "carrier = UA"', text)
    column, sign, compared = match.groups()
    test = SIGNS[" ".join(sign.split())]
    words = items(compared, name) if sign[-1] == "n" else [compared]  # for "in" and "not in"
    if any(_SEVERAL.search(word) for word in words if not re.fullmatch(_QUOTED, word)):
        rule = 'one condition (put a value with signs, commas, "and" or "or" in quotes)'
        checks.fail(name, rule, text)
    values = [value_of(word) for word in words]
    return {"column": unquoted(column), test: values if test in ("in", "not_in") else values[0]}


def plain(value: Any) -> Any:
    """Return a public value in the types of JSON: fractions as floats, times as text, no NaN."""

    def other(item: Any) -> Any:
        if isinstance(item, Fraction):
            return float(item)
        return None if isinstance(item, float) else str(item)

    return checks.plain(value, other)
