"""Pairs of neighbors on which mechanisms are known to go wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dpfast.extend import Neighbors, checks

#: Above this integer, float64 cannot represent every integer.
WHOLE = 2.0**53
#: The end of the name of a pair whose special row is the first row, not the last.
FIRST = ", which is first"


class Pair(NamedTuple):
    """Two neighboring datasets, and a name for how they differ.

    Attributes
    ----------
    name : str
        What is special about the pair.
    x, x2 : array, or dict of arrays
        The two datasets.

    Examples
    --------
    The name of the first pair says how its datasets differ:

    >>> import dpfast as dp
    >>> dp.audit.neighbors((0, 1), rows=2)[0].name
    'all at the lower end, and one at the upper'
    """

    name: str
    x: Any
    x2: Any


def neighbors(
    schema: Any, *, neighbors: Neighbors = "add-remove", nan: bool = True, rows: int = 8
) -> list[Pair]:
    """Return pairs of neighboring datasets on which a mechanism can be audited.

    The datasets of a pair differ in one special row. Its value is an extreme: an end of the bounds,
    beyond the bounds, NaN, infinite, the least or the largest float, or 2**53 + 2. It is the first
    row, the last row, equal to other rows, or the only row. The other rows are at one end of the
    bounds, in the middle, or half at either end. In a column of text, the special text is at an end
    of the list, not in the list, or empty.

    Parameters
    ----------
    schema : pair of numbers, sequence of str, or mapping of names to these
        Bounds ``(lo, hi)`` for a column of numbers, or a list of texts for a column of text. For
        several columns, a mapping of their names to these: the datasets are then dicts of columns.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        "add-remove": `x2` lacks one row of `x`. "replace": `x2` has another row in its place.
    nan : bool, default True
        Whether there are pairs in which a number is NaN.
    rows : int, default 8
        The number of rows of `x`.

    Returns
    -------
    list of Pair
        The pairs, as named tuples ``(name, x, x2)``.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Notes
    -----
    Cost: microseconds for each pair. With several columns, the special row has special values in
    all columns.

    Examples
    --------
    In the first pair, one of three rows moves from the upper bound to the lower bound:

    >>> import dpfast as dp
    >>> pairs = dp.audit.neighbors((0, 100), neighbors="replace", rows=3)
    >>> pairs[0].x, pairs[0].x2
    (array([  0.,   0., 100.]), array([0., 0., 0.]))
    """
    relation = checks.neighbors(neighbors)
    missing = checks.flag("nan", nan)
    n = checks.whole("rows", rows, 1, 1 << 24)
    if not isinstance(schema, Mapping):
        every = [*_of_column(schema, n, relation, missing), _alone(schema, relation)]
        return [Pair(*item) for item in every]
    if not schema:
        checks.fail("schema", "a mapping with at least one column", schema)
    columns = {name: list(_of_column(kind, n, relation, missing)) for name, kind in schema.items()}
    made_pairs = []
    for last in (True, False):  # the special row must be the same in all columns
        some = {name: [p for p in col if (FIRST in p[0]) != last] for name, col in columns.items()}
        for i in range(max(map(len, some.values()))):
            picks = {name: pairs[i % len(pairs)] for name, pairs in some.items()}
            words = f"{i + 1}" + ("" if last else FIRST)
            names = "; ".join(f"{name}: {p[0].removesuffix(FIRST)}" for name, p in picks.items())
            pair = [{name: p[k] for name, p in picks.items()} for k in (1, 2)]
            made_pairs.append(Pair(f"{words}. {names}", *pair))
    single_rows = {name: list(_alone(kind, relation)) for name, kind in schema.items()}
    pair = [{name: p[k] for name, p in single_rows.items()} for k in (1, 2)]
    return [*made_pairs, Pair("one row", *pair)]


def _of_column(schema: Any, n: int, relation: str, nan: bool) -> Iterator[tuple[str, Any, Any]]:
    """Yield a name and two neighboring columns for each kind of pair."""
    for name, others, row, instead in _values(schema):
        if row != row and not nan:
            continue
        array = np.array([*(others[i % len(others)] for i in range(n - 1)), row])
        first = np.array([row, *array[:-1].tolist()], array.dtype)
        for word, at, data in (("", n - 1, array), (FIRST, 0, first)):
            if word and "ends" not in name:
                continue
            if relation == "replace":
                other = data.tolist()
                other[at] = instead
                yield name + word, data, np.array(other, np.array([*other, row]).dtype)
            else:
                yield name + word, data, np.delete(data, at)


def _alone(schema: Any, relation: str) -> tuple[str, Any, Any]:
    """Return a name, a column of one row, and its neighbor: no row, or another row."""
    _, others, row, _ = _values(schema)[0]
    alone = np.array([row])
    return "one row", alone, np.array([others[0]]) if relation == "replace" else alone[:0]


Values = list[tuple[str, list[Any], Any, Any]]


def _values(schema: Any) -> Values:
    """Return for each pair: a name, the usual values, the special value, and its replacement."""
    return _words(schema) or _numbers(schema)


def _words(schema: Any) -> Values:
    """Return the values of pairs for a column of words, as `_values`; none for other columns."""
    if isinstance(schema, str) or not isinstance(schema, (list, tuple)):
        return []
    if not schema or not all(isinstance(word, str) for word in schema):
        return []
    words = [str(word) for word in schema]
    return [
        ("one at the other of the ends", words[:1], words[-1], words[0]),
        ("each word, and the last again", words, words[-1], words[0]),
        ("a word that is not listed", words, "\N{SNOWMAN}", words[0]),
        ("no word", words, "", words[0]),
    ]


def _numbers(schema: Any) -> Values:
    lo, hi = checks.bounds(schema, "schema")
    middle = lo / 2 + hi / 2
    largest = max(abs(lo), abs(hi), 1.0)
    special = {
        "NaN": math.nan,
        "inf": math.inf,
        "-inf": -math.inf,
        "the largest float": 1.7976931348623157e308,
        "the least float": 5e-324,
        "minus zero": -0.0,
        "2**53 + 2": WHOLE + 2,
        "beyond the upper end": 2 * min(largest, 1e307) + hi / 2,
        "beyond the lower end": lo / 2 - 2 * min(largest, 1e307),
    }
    return [
        ("all at the lower end, and one at the upper", [lo], hi, lo),
        ("all at the upper end, and one at the lower", [hi], lo, hi),
        ("half at either of the ends", [lo, hi], hi, lo),
        ("all in the middle, and one at an end", [middle], hi, lo),
        ("ties", [middle], middle, lo),
        ("evenly between the ends", np.linspace(lo, hi, 7).tolist(), hi, lo),
        *((f"one of them {name}", [lo, middle], value, hi) for name, value in special.items()),
        ("2**53 and odd numbers", [WHOLE, 1.0, -WHOLE, 1.0], 1.0, lo),
    ]
