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
from ..base import Feature, Term
from .keys import digest

#: More rows than a unit has in a group, and than may count.
MOST = 1 << 29
#: Bits of the lower half of a total.
HALF = 32


class Part(NamedTuple):
    """A part of a sum over units: a term, and how often it counts."""

    term: Term
    factor: int


def units_of(rows: Any, names: Sequence[str], features: Sequence[Feature]) -> Any:
    """Return the units of some rows, by group: how many rows of each, and the halves of totals.

    Parameters
    ----------
    rows : ibis table
        Those of a feature are the column "above" and its place.
    names : sequence of str
        The columns of ids and of keys.
    features : sequence of Feature
    """
    sums: dict[str, Any] = {}
    for i, feature in enumerate(features):
        above = rows[f"above{i}"]
        low = above & (1 << HALF) - 1  # of 64 bits, in PostgreSQL, too
        sums[f"rows{i}"] = above.count()
        if feature.most:
            sums[f"high{i}"] = _within(((above - low) >> HALF).sum())
            sums[f"low{i}"] = _within(low.sum())
    return rows.aggregate(**sums, by=list(names))


def first_groups(
    units: Any, ids: str, by: Sequence[str], most: int, secret: str, dialect: str
) -> Any:
    """Return the rows of at most so many groups of each unit, a random choice by a fresh secret.

    A choice looks at no other unit.
    """
    ibis = extra("ibis", "data in a database")
    keys = [units[name] for name in by]
    order = [digest(secret, [units[ids], *keys], dialect), *keys]
    place = ibis.row_number().over(group_by=ids, order_by=order)
    return units.mutate(place=place).filter(lambda rows: rows.place < most)


def first_rows(rows: Any, column: Any, ids: Any, most: int, secret: str, dialect: str) -> Any:
    """Return the values of at most so many rows of each unit, a random choice by a fresh secret.

    A choice looks at no other unit. Rows of a unit with the same text are numbered by their value,
    so which rows are chosen is a matter of their values alone.
    """
    ibis = extra("ibis", "data in a database")
    table = rows.select(value=column, unit=ids, text=column.cast("string").fill_null(""))
    table = table.filter(table.unit.notnull())
    table = table.mutate(copy=ibis.row_number().over(group_by=["unit", "text"], order_by="value"))
    order = [digest(secret, [table.unit, table.text, table.copy], dialect), table.text, table.copy]
    table = table.mutate(place=ibis.row_number().over(group_by="unit", order_by=order))
    return table.filter(table.place < most).select("value")


def bounded(
    units: Any, keys: Sequence[str], features: Sequence[Feature]
) -> tuple[Any, list[list[Part]]]:
    """Return units with what they count for, and the parts of the sum of each feature over them.

    Parameters
    ----------
    units : ibis table
        As `units_of` returns it.
    keys : sequence of str
        The columns of it that are kept.
    features : sequence of Feature
    """
    ibis = extra("ibis", "data in a database")
    most = [MOST if one.rows is None else min(one.rows, MOST) for one in features]
    summed = [i for i, feature in enumerate(features) if feature.most]

    def step(table: Any, kept: str, **made: Callable[..., Any]) -> Any:
        """Return a table of some columns of each feature, and of more that are made of others."""
        columns = {f"kept{i}": table[f"kept{i}"] for i in range(len(features))}
        for i in summed:
            columns |= {f"{name}{i}": table[f"{name}{i}"] for name in kept.split()}
            of = partial(_column, table, i)
            columns |= {f"{name}{i}": make(of) for name, make in made.items()}
        return table.select(*keys, **columns)

    table = units.mutate(
        **{
            f"kept{i}": (units[f"rows{i}"] < MOST).ifelse(ibis.least(units[f"rows{i}"], some), 0)
            for i, some in enumerate(most)
        },
        **{f"by{i}": units[f"rows{i}"].nullif(0) for i in summed},
    )
    table = step(table, "by high low", upper=lambda of: _quotient(of("high"), of("by")))
    table = step(
        table,
        "by upper",
        left=lambda of: (of("high") - of("upper") * of("by")) * (1 << HALF) + of("low"),
    )
    table = step(table, "by upper left", lower=lambda of: _quotient(of("left"), of("by")))
    table = step(
        table,
        "by upper lower",
        rest=lambda of: (of("left") - of("lower") * of("by")) * of("kept"),
    )
    table = step(table, "by upper lower rest", share=lambda of: _quotient(of("rest"), of("by")))
    each = zip(features, most, strict=True)
    return table, [
        _parts(partial(_column, table, i), feature, some) for i, (feature, some) in enumerate(each)
    ]


def _parts(of: Callable[[str], Any], feature: Feature, most: int) -> list[Part]:
    """Return the parts of the sum of a feature."""
    parts = [Part(Term(of("kept"), most), feature.least)]
    if feature.most:
        upper, lower = of("upper") * of("kept"), of("lower") * of("kept") + of("share")
        if feature.least < 0:  # rounded up then, if there is a remainder
            is_negative = of("upper") * (1 << HALF) + of("lower") < -feature.least
            lower += (is_negative & (of("rest") > of("share") * of("by"))).ifelse(1, 0)
        parts += [Part(Term(upper, most << 31), 1 << HALF), Part(Term(lower, most << HALF + 1), 1)]
    return [part for part in parts if part.factor] or parts[:1]


def _column(table: Any, place: int, name: str) -> Any:
    return table[f"{name}{place}"]


def _within(total: Any) -> Any:
    """Return a sum as an int64; that of a unit that has too many rows is anything.

    Databases make sums wider, which Ibis does not know, so that it would drop a plain cast.
    """
    ibis = extra("ibis", "data in a database")
    least = ibis.least(total.fill_null(0), (1 << 62))
    return ibis.expr.operations.Cast(least, ibis.dtype("int64")).to_expr()


def _quotient(whole: Any, by: Any) -> Any:
    """Return the floor of a quotient below 2^50 of integers that are not negative.

    No two dialects have the same division of integers. One in float64, or to some decimals, is off
    by less than a half.
    """
    near = (whole / by - 0.5).floor().cast("int64")
    return near + ((near + 1) * by <= whole).ifelse(1, 0)
