"""Units in a database: what the rows of one id add to a group, bounded by their count and totals.

A unit with c rows in a group that have a number, whose feature adds up to T, counts as
T min(c, m) / c, rounded towards zero: within m times what a row may add. That is worked out for
t = T - c l, l being the least that a row adds, which is not negative, in halves of 32 bits, and for
k = min(c, m):

    T k / c = l k + (t div c) k + (t mod c) k / c,

which is rounded down, and then up by 1 if T is negative and there is a remainder. A unit has fewer
than `MOST` rows in a group, or does not count there: so nothing overflows int64 whatever rows hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from ..._core.extras import extra
from ..base import Term
from .keys import digest

#: More rows than a unit has in a group, and than may count.
MOST = 1 << 29
#: Bits of the lower half of a total.
HALF = 32


class Feature(NamedTuple):
    """An integer of a row: by how much it is above `least`, which is 0 or negative.

    `above` is less than 2^63, and NULL for a row that does not count.
    """

    above: Any
    least: int = 0


class Part(NamedTuple):
    """A part of a sum over units: a term, and how often it counts."""

    term: Term
    factor: int


def first_groups(
    units: Any, ids: str, by: Sequence[str], most: int, secret: str, dialect: str
) -> Any:
    """Return the rows of at most so many groups of each unit, a random choice by a fresh secret.

    `units` has a row for each unit and group. A choice looks at no other unit.
    """
    ibis = extra("ibis", "data in a database")
    order = [
        digest(secret, [units[name] for name in (ids, *by)], dialect),
        *(units[name] for name in by),
    ]
    place = ibis.row_number().over(group_by=ids, order_by=order)
    return units.mutate(place=place).filter(lambda rows: rows.place < most)


def bounded(units: Any, features: Sequence[Feature], most: int) -> tuple[Any, list[list[Part]]]:
    """Return units with what they count for, and the parts of the sum of each feature over them.

    Parameters
    ----------
    units : grouped ibis table
        The rows by unit and group.
    features : sequence of Feature
        Of the rows.
    most : int
        How many rows of a unit count in a group.
    """
    ibis = extra("ibis", "data in a database")
    sums = {}
    for i, (above, _) in enumerate(features):
        halves = {"high": above >> HALF, "low": above & (1 << HALF) - 1}
        sums[f"rows{i}"] = above.count()
        sums |= {f"{half}{i}": _within(bits.sum()) for half, bits in halves.items()}
    table = units.aggregate(**sums)

    def add(name: str, of: Callable[[Callable[[str], Any]], Any]) -> None:
        nonlocal table
        each = {f"{name}{i}": of(partial(_column, table, i)) for i in range(len(features))}
        table = table.mutate(**each)

    add("by", lambda of: ibis.greatest(of("rows"), 1))
    add("kept", lambda of: (of("rows") < MOST).ifelse(ibis.least(of("rows"), most), 0))
    add("upper", lambda of: _quotient(of("high"), of("by")))
    add("left", lambda of: (of("high") - of("upper") * of("by")) * (1 << HALF) + of("low"))
    add("lower", lambda of: _quotient(of("left"), of("by")))
    add("rest", lambda of: (of("left") - of("lower") * of("by")) * of("kept"))
    add("share", lambda of: _quotient(of("rest"), of("by")))
    return table, [
        _parts(partial(_column, table, i), least, most) for i, (_, least) in enumerate(features)
    ]


def _parts(of: Callable[[str], Any], least: int, most: int) -> list[Part]:
    """Return the parts of the sum of a feature."""
    upper, lower = of("upper") * of("kept"), of("lower") * of("kept") + of("share")
    if least:
        is_negative = of("upper") * (1 << HALF) + of("lower") < -least
        lower += (is_negative & (of("rest") > of("share") * of("by"))).ifelse(1, 0)
    terms = [
        (upper, most << 31, 1 << HALF),
        (lower, most << HALF + 1, 1),
        (of("kept"), most, least),
    ]
    return [Part(Term(term, limit), factor) for term, limit, factor in terms if factor]


def _column(table: Any, place: int, name: str) -> Any:
    return table[f"{name}{place}"]


def _within(total: Any) -> Any:
    """Return a sum as an int64; that of a unit that has too many rows is anything."""
    ibis = extra("ibis", "data in a database")
    return ibis.least(total.fill_null(0), (1 << 62)).cast("int64")


def _quotient(whole: Any, by: Any) -> Any:
    """Return the floor of a quotient below 2^51 of integers that are not negative.

    No two dialects have the same division of integers. A quotient in float64, or of some decimals,
    is off by less than 1, and what is left tells on which side.
    """
    quotient = (whole / by).floor().cast("int64")
    left = whole - quotient * by
    return quotient + (left >= by).ifelse(1, 0) - (left < 0).ifelse(1, 0)
