"""Units in a database: the amount that each adds to a group, after contribution bounding.

Let a unit have c rows with a number in a group, and let their features add up to T. The unit counts
as T min(c, m) / c, rounded towards zero. This is within m times the amount that a row may add. If
rows are bounded, a unit with `MOST` rows or more in a group does not count there. So T m has at
most 127 bits, and some databases compute with as many. The database computes totals of the columns
behind features, and several features may use one total.

Sums of other databases have 64 bits. Let l be the least amount that a row adds, and k = min(c, m).
Then t = T - c l is not negative, and the count is computed in halves of 32 bits:

    T k / c = l k + (t div c) k + (t mod c) k / c.

This is rounded down. If T is negative and there is a remainder, 1 is added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import add
from typing import Any

from ..._core.extras import extra
from ..base import Feature, Term
from .cells import exactly
from .dialects import DIALECTS, quotient
from .keys import digest
from .sums import linear

#: A unit has fewer rows than this in a group, and fewer can count.
MOST = 1 << 29
#: The number of bits in the lower half of a total.
HALF = 32
#: The upper half of a total is clamped to this, which is beyond all bounds.
BEYOND = 1 << 29


def units_of(rows: Any, names: Sequence[str], features: Sequence[Feature], dialect: str) -> Any:
    """Return units by group, each with its number of rows and the totals of its features.

    Parameters
    ----------
    rows : ibis table
        The features are of its columns.
    names : sequence of str
        The columns of ids and of keys.
    features : sequence of Feature
    dialect : str
        The kind of the database, by Ibis's name.
    """
    sums: dict[str, Any] = {}
    is_wide = bool(DIALECTS[dialect].quotient)
    for name, base, factor, _ in _bases(features, is_wide):
        sums[f"rows{name}"] = base.count()
        if factor and is_wide:
            sums[f"sum{name}"] = base.sum()
        elif factor:
            low = base & (1 << HALF) - 1
            sums[f"high{name}"] = as_int64(((base - low) >> HALF).sum())
            sums[f"low{name}"] = as_int64(low.sum())
    return rows.aggregate(**sums, by=list(names))


def totals_of(units: Any, features: Sequence[Feature], dialect: str) -> list[Any]:
    """Return the totals of the features of units, from `units_of`, in float64."""
    is_wide, totals = bool(DIALECTS[dialect].quotient), []
    for feature, (name, _, factor, offset) in zip(features, _bases(features, is_wide), strict=True):
        sums = {f"rows{name}": offset + feature.least}
        if factor:
            halves = {f"high{name}": 1 << HALF, f"low{name}": 1}
            sums |= {f"sum{name}": factor} if is_wide else halves
        parts = (units[sum].cast("float64") * exactly(float(by)) for sum, by in sums.items())
        totals.append(reduce(add, parts).fill_null(exactly(0.0)))
    return totals


def first_groups(
    units: Any, ids: str, by: Sequence[str], most: int, secret: str, dialect: str
) -> Any:
    """Return the rows of at most `most` groups of each unit, chosen by a fresh secret.

    The choice for a unit does not depend on other units.
    """
    ibis = extra("ibis", "data in a database")
    keys = [units[name] for name in by]
    order = [digest(secret, [units[ids], *keys], dialect), *keys]
    rank = ibis.dense_rank().over(group_by=ids, order_by=order)
    return units.mutate(place=rank).filter(lambda rows: rows.place < most)


def first_rows(
    rows: Any, by: Sequence[str], values: Sequence[str], most: int, secret: str, dialect: str
) -> Any:
    """Return at most `most` rows of each unit in a group, chosen by a fresh secret.

    The choice for a unit does not depend on other units. It depends only on the values of its rows.
    Rows whose values have the same text are numbered by their values.

    Parameters
    ----------
    rows : ibis table
    by : sequence of str
        The columns of ids and of keys, none of them NULL.
    values : sequence of str
        The only other columns that matter.
    most : int
    secret : str
    dialect : str
        The kind of the database, by Ibis's name.
    """
    ibis = extra("ibis", "data in a database")
    texts = {f"text_{name}": rows[name].cast("string").fill_null("") for name in values}
    table = rows.mutate(**texts)
    copy = ibis.row_number().over(group_by=[*by, *texts], order_by=list(values))
    table = table.mutate(copy=copy)
    row_order = [*(table[text] for text in texts), table.copy]
    order = [digest(secret, [*(table[name] for name in by), *row_order], dialect), *row_order]
    table = table.mutate(place=ibis.row_number().over(group_by=by, order_by=order))
    return table.filter(table.place < most)


def bounded(
    units: Any, keys: Sequence[str], features: Sequence[Feature], dialect: str
) -> tuple[Any, list[list[Term]]]:
    """Return units after contribution bounding, and the terms of the sum of each feature.

    Parameters
    ----------
    units : ibis table
        The result of `units_of`.
    keys : sequence of str
        The columns of it to keep.
    features : sequence of Feature
    dialect : str
    """
    if not DIALECTS[dialect].quotient:
        return _in_halves(units, keys, features)
    ibis, terms = extra("ibis", "data in a database"), []
    for feature, (name, _, factor, offset) in zip(features, _bases(features, True), strict=True):
        rows, most, least = units[f"rows{name}"], feature.rows, offset + feature.least
        total = rows * least
        if factor:  # a product has the type of its sum, which is wide enough
            total = units[f"sum{name}"] * factor
            total += (units[f"sum{name}"] * 0 + rows) * least if least else 0
        if feature.ends is not None:
            total = (rows > 0).ifelse(_clamped(total, feature.ends), None)
        elif most is not None and not factor:
            total = ibis.least(rows, most) * least
        elif most is not None:
            bounded_rows = (rows < MOST).ifelse(total, 0) * min(most, MOST)
            total = (rows <= most).ifelse(total, quotient(bounded_rows, rows.nullif(0), dialect))
        terms.append([Term(total, 0)])
    return units, terms


def _bases(features: Sequence[Feature], is_wide: bool) -> list[tuple[str, Any, int, int]]:
    """Return, for each feature, its base with a name, its factor and its offset."""
    names: dict[Any, str] = {}
    parts = [
        linear(feature.above) if is_wide else (feature.above, int(feature.most > 0), 0)
        for feature in features
    ]
    return [
        (names.setdefault(base.op(), str(len(names))), base, factor, offset)
        for base, factor, offset in parts
    ]


def _in_halves(
    units: Any, keys: Sequence[str], features: Sequence[Feature]
) -> tuple[Any, list[list[Term]]]:
    """Return the result of `bounded`, in a database whose integers have 64 bits."""
    ibis = extra("ibis", "data in a database")
    names = [name for name, *_ in _bases(features, False)]
    most = [
        MOST if of_feature.rows is None else min(of_feature.rows, MOST) for of_feature in features
    ]
    shared = {}
    for i, (name, feature) in enumerate(zip(names, features, strict=True)):
        rows = units[f"rows{name}"]
        shared[f"kept{i}"] = ibis.least((rows < MOST).ifelse(rows, 0), most[i])
        shared |= {f"by{i}": rows.nullif(0)}
        if feature.most:
            shared |= {f"high{i}": units[f"high{name}"], f"low{i}": units[f"low{name}"]}
        if feature.ends is not None:
            shared[f"total{i}"] = _total(units, name, feature)
    table = units.select(*keys, **shared)
    for step, make in STEPS.items():
        table = table.mutate(
            **{
                f"{step}{i}": make(partial(_column, table, i))
                for i, of_feature in enumerate(features)
                if of_feature.most and of_feature.ends is None
            }
        )
    numbered = enumerate(zip(features, most, strict=True))
    return table, [
        _parts(partial(_column, table, i), feature, some) for i, (feature, some) in numbered
    ]


#: The columns that are computed from the halves of totals, in order. `of` returns an earlier
#: column.
STEPS: dict[str, Callable[[Callable[[str], Any]], Any]] = {
    "upper": lambda of: floored(of("high"), of("by")),
    "left": lambda of: (of("high") - of("upper") * of("by")) * (1 << HALF) + of("low"),
    "lower": lambda of: floored(of("left"), of("by")),
    "rest": lambda of: (of("left") - of("lower") * of("by")) * of("kept"),
    "share": lambda of: floored(of("rest"), of("by")),
}


def _parts(of: Callable[[str], Any], feature: Feature, most: int) -> list[Term]:
    """Return the terms that add up to the sum of a feature."""
    if feature.ends is not None:
        least, largest = feature.ends
        return [Term(of("total"), largest - least, least)]
    kept = Term(of("kept") * feature.least, most * abs(feature.least), min(0, most * feature.least))
    if not feature.most:
        return [kept]
    upper, lower = of("upper") * of("kept"), of("lower") * of("kept") + of("share")
    if feature.least < 0:  # negative totals are rounded up if there is a remainder
        is_negative = of("upper") * (1 << HALF) + of("lower") < -feature.least
        lower += (is_negative & (of("rest") > of("share") * of("by"))).ifelse(1, 0)
    return [kept, Term(upper * (1 << HALF), most << 31 + HALF), Term(lower, most << HALF + 1)]


def _total(units: Any, name: str, feature: Feature) -> Any:
    """Return the total of each unit, clamped to the ends of a feature.

    The total is missing if a unit has no rows, or more rows than may count. Its halves are the
    halves of the column of totals, plus the halves of the number of rows times the least amount
    that a row adds.
    """
    rows = units[f"rows{name}"]
    counts = (rows > 0) & (rows < MOST)
    rows = counts.ifelse(rows, 0)
    upper, lower = (rows * half for half in divmod(feature.least, 1 << HALF))
    if feature.most:
        upper, lower = units[f"high{name}"] + upper, units[f"low{name}"] + lower
    upper = _clamped(upper + (lower >> HALF), (-BEYOND, BEYOND))
    total = upper * (1 << HALF) + (lower & (1 << HALF) - 1)
    return counts.ifelse(_clamped(total, feature.ends), None)


def _clamped(total: Any, ends: tuple[int, int] | None) -> Any:
    ibis, (least, most) = extra("ibis", "data in a database"), ends or (0, 0)
    return ibis.greatest(ibis.least(total, most), least)


def _column(table: Any, index: int, name: str) -> Any:
    return table[f"{name}{index}"]


def as_int64(total: Any) -> Any:
    """Return a sum as int64; for a unit with too many rows, it may be any number.

    Databases give sums a wider type. Ibis does not know this, so it would drop a plain cast.
    """
    ibis = extra("ibis", "data in a database")
    least = ibis.least(total.fill_null(0), (1 << 62))
    return ibis.expr.operations.Cast(least, ibis.dtype("int64")).to_expr()


def floored(whole: Any, by: Any) -> Any:
    """Return the floor of a quotient, below 2^50, of nonnegative integers.

    Dialects differ in how they divide integers. A quotient in float64, or with some decimals, has
    an error of less than a half.
    """
    near = (whole / by - 0.5).floor().cast("int64")
    return near + ((near + 1) * by <= whole).ifelse(1, 0)
