"""Sums by group, and by group and unit, that a database adds up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from numpy.typing import NDArray

from ...errors import DataError
from ..base import Feature, Groups, Term, Units
from ..forms import Arrow, Piece
from .keys import asked, exact
from .sums import linear, sums_by
from .units import bounded, first_groups, units_of


def groups_of(
    table: Any,
    columns: Mapping[str, Any],
    dialect: str,
    by: Mapping[str, NDArray[Any] | None],
    features: Sequence[Feature],
    units: Units | None,
    bins: Any,
) -> Groups:
    """Return what `SqlRows.groups` says of the rows of a table, of which the columns are given.

    That some keys are asked for is only a filter: the database may call more of them equal.
    """
    keys = {
        f"key{i}": exact(columns[name], dialect, f"column {name!r}") for i, name in enumerate(by)
    }
    whose = {} if units is None else {"unit": exact(columns[units.ids], dialect, "ids")}
    places = {} if bins is None else {"bin": bins}
    parts = [linear(feature.above) for feature in features]
    bases = {base.op(): f"base{i}" for i, (base, _, _) in enumerate(parts)}
    made = {name: base.to_expr() for base, name in bases.items()}
    for name, listed in by.items():
        condition = None if listed is None else asked(columns[name], listed)
        table = table if condition is None else table.filter(condition)
    table = table.filter(*(column.notnull() for column in (*keys.values(), *whose.values())))
    rows = table.select(**keys, **whose, **places, **made)
    features = [
        feature._replace(above=rows[bases[base.op()]] * factor + offset)
        for feature, (base, factor, offset) in zip(features, parts, strict=True)
    ]
    terms = [[Term(one.above + one.least, one.most, one.least)] for one in features]
    if units is not None:
        rows = units_of(rows, [*whose, *keys], features, dialect)
        if units.max_groups is not None:
            rows = first_groups(rows, "unit", list(keys), units.max_groups, units.secret, dialect)
        rows, terms = bounded(rows, list(keys), features, dialect)
    if bins is not None:
        rows = rows.drop_null(["bin"])
    found, totals = sums_by(rows, [term for some in terms for term in some], [*keys, *places])
    sums = iter(totals)
    return Groups(
        {name: _keys(found[key], columns[name]) for key, name in zip(keys, by, strict=True)},
        None if bins is None else found["bin"].to_numpy().astype("int64"),
        [reduce(add, (next(sums) for _ in some)) for some in terms],
    )


def _keys(found: Any, column: Any) -> Piece:
    """Return keys in the type that their column declares; text comes as bytes."""
    kind, keys = column.type().to_pyarrow(), found.combine_chunks()
    try:
        return Arrow.of(keys.view(kind) if column.type().is_string() else keys.cast(kind))
    except ValueError:
        pass  # its message quotes a key
    raise DataError("keys must be of the type that their column declares, and are not")
