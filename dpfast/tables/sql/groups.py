"""Sums by group, and by group and unit, that a database computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import extra
from ...errors import DataError
from ..base import Feature, Groups, Near, Term, Units
from ..forms import Arrow, MemoryColumn
from .cells import exactly
from .keys import Listed, any_of, exact, is_listed, others_apart
from .sums import answer, linear, sums_by
from .units import MOST, as_int64, bounded, first_groups, first_rows, floored, units_of


def groups_of(
    table: Any,
    columns: Mapping[str, Any],
    dialect: str,
    by: Mapping[str, NDArray[Any] | None],
    features: Sequence[Feature],
    units: Units | None,
    bins: Any,
    near: Sequence[Near] = (),
) -> Groups:
    """Return sums by group over the rows of a table, as `SqlRows.groups` describes.

    Public keys only filter the rows, because the database may treat other keys as equal to them.
    """
    ids = units and units.ids
    rows, keys, features = selected(table, columns, dialect, by, features, ids, bins)
    columns_of_bins = [] if bins is None else ["bin"]
    terms = [
        [Term(of_feature.above + of_feature.least, of_feature.most, of_feature.least)]
        for of_feature in features
    ]
    if near:
        rows, columns_of_bins = rows.mutate(bin=terms[0][0].integer), ["bin"]
    if units is not None:
        if not near:
            rows = units_of(rows, ["unit", *keys, *columns_of_bins], features, dialect)
        if units.max_groups is not None:
            rows = first_groups(rows, "unit", keys, units.max_groups, units.secret, dialect)
        if near:
            most = features[0].rows or MOST
            rows = first_rows(rows, ["unit", *keys], ["bin"], most, units.secret, dialect)
        elif bins is None:
            rows, terms = bounded(rows, keys, features, dialect)
        else:
            (feature,) = features
            rows, terms = in_bins(rows.drop_null(["bin"]), ["unit", *keys], feature)
    if near:
        answers = answer(numbers_near(rows, keys, near))
        sums = [answers[name].to_numpy() for name in ("rows", "upto", "size", "all")]
    else:
        every = [term for some in terms for term in some]
        answers, totals = sums_by(rows, every, [*keys, *columns_of_bins])
        by_term = iter(totals)
        sums = [reduce(add, (next(by_term) for _ in some)) for some in terms]
    is_key = np.ones(len(answers), bool)
    # Fixed-width arrays drop a NUL at the end, so two such keys would become equal.
    for key in keys:
        if rows[key].type().is_binary():
            entries = answers[key].to_pylist()
            is_key &= np.array([entry[-1:] != b"\0" for entry in entries], bool)
    answers = answers.filter(is_key)
    return Groups(
        {name: _keys(answers[key], columns[name]) for key, name in zip(keys, by, strict=True)},
        answers["bin"].fill_null(-1).to_numpy().astype("int64") if columns_of_bins else None,
        [by_term[is_key] for by_term in sums],
    )


def selected(
    table: Any,
    columns: Mapping[str, Any],
    dialect: str,
    by: Mapping[str, NDArray[Any] | None],
    features: Sequence[Feature],
    ids: str | None = None,
    bins: Any = None,
) -> tuple[Any, list[str], list[Feature]]:
    """Return the rows that have group keys and ids, the names of key columns, and the features."""
    if isinstance(by, Listed) and by.others:
        exact_keys = others_apart([columns[name] for name in by], by, dialect)
        by = dict.fromkeys(by)  # rows with unlisted keys count, too
    else:
        exact_keys = [exact(columns[name], dialect, f"column {name!r}") for name in by]
    keys = {f"key{i}": key for i, key in enumerate(exact_keys)}
    units = {} if ids is None else {"unit": exact(columns[ids], dialect, "ids")}
    columns_of_bins = {} if bins is None else {"bin": bins}
    parts = [linear(feature.above) for feature in features]
    bases = {base.op(): f"base{i}" for i, (base, _, _) in enumerate(parts)}
    sums = {name: base.to_expr() for base, name in bases.items()}
    for name, listed in by.items():
        condition = None if listed is None else is_listed(columns[name], listed)
        table = table if condition is None else table.filter(condition)
    table = table.filter(*(column.notnull() for column in (*keys.values(), *units.values())))
    rows = table.select(**keys, **units, **columns_of_bins, **sums)
    features = [
        feature._replace(above=rows[bases[base.op()]] * factor + offset)
        for feature, (base, factor, offset) in zip(features, parts, strict=True)
    ]
    return rows, list(keys), features


def numbers_near(rows: Any, keys: Sequence[str], near: Sequence[Near]) -> Any:
    """Return how many rows of each group have each number, for numbers near some ranks."""
    ibis = extra("ibis", "data in a database")
    cells = rows.group_by([*keys, "bin"]).aggregate(rows=rows.count())
    cells = cells.mutate(some=cells.bin.notnull().ifelse(cells.rows, 0))
    upto, every = ibis.cumulative_window(group_by=keys, order_by="bin"), ibis.window(group_by=keys)
    sums = {"upto": (cells.some, upto), "size": (cells.some, every), "all": (cells.rows, every)}
    cumulated = {name: as_int64(count.sum().over(which)) for name, (count, which) in sums.items()}
    cells = cells.mutate(**cumulated)
    before, upto, size = (
        count.cast("float64") for count in (cells.upto - cells.some, cells.upto, cells.size)
    )
    tests = [cells.bin.isnull()]
    for quantile, ranks in near:
        middle, reach = size * exactly(quantile), exactly(ranks)
        tests.append((upto > middle - reach) & (before < middle + reach))
    return cells.filter(any_of(tests))


def in_bins(units: Any, names: Sequence[str], feature: Feature) -> tuple[Any, list[list[Term]]]:
    """Return how many rows of each unit in a bin count after bounding, in equal parts of a row.

    Let a unit have n rows in a bin, and c rows in all bins of a group. Then n min(c, most) / c rows
    count in the bin, rounded down.

    Parameters
    ----------
    units : ibis table
        The result of `units_of`, by bin.
    names : sequence of str
        The columns of ids and of keys.
    feature : Feature
        Its `least` is the number of parts of a row.
    """
    ibis, parts = extra("ibis", "data in a database"), feature.least
    most = MOST if feature.rows is None else min(feature.rows, MOST)
    whole = as_int64(units.rows0.sum().over(ibis.window(group_by=list(names))))
    units = units.mutate(whole=whole)
    counts = (units.whole < MOST).ifelse(units.rows0, 0)
    units = units.mutate(times=counts * ibis.least(units.whole, most))
    units = units.mutate(rows=floored(units.times, units.whole))
    remainder = (units.times - units.rows * units.whole) * parts
    return units, [[Term(units.rows * parts + floored(remainder, units.whole), most * parts)]]


def _keys(array: Any, column: Any) -> MemoryColumn:
    """Return group keys in the type that their column declares; text comes as bytes."""
    kind, keys = column.type().to_pyarrow(), array.combine_chunks()
    try:
        return Arrow.of(keys.view(kind) if column.type().is_string() else keys.cast(kind))
    except ValueError:
        pass  # the message quotes a key
    raise DataError("keys in the data have another type than their column declares")
