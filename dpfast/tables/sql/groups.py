"""Sums by group, and by group and unit, that a database adds up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from ..._core.extras import extra
from ...errors import DataError
from ..base import Feature, Groups, Term, Units
from ..forms import Arrow, Piece
from .keys import asked, exact
from .sums import sums_by
from .units import HALF, MOST, Part, bounded, first_groups, units_of

#: What the upper half of a total is cut at: a total beyond is beyond all ends.
BEYOND = 1 << 29


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
    above = {f"above{i}": feature.above for i, feature in enumerate(features)}
    for name, listed in by.items():
        condition = None if listed is None else asked(columns[name], listed)
        table = table if condition is None else table.filter(condition)
    table = table.filter(*(column.notnull() for column in (*keys.values(), *whose.values())))
    rows = table.select(**keys, **whose, **places, **above)
    if units is None:
        parts = [_parts(rows[f"above{i}"], feature) for i, feature in enumerate(features)]
    else:
        rows = units_of(rows, [*whose, *keys], features)
        if units.max_groups is not None:
            rows = first_groups(rows, "unit", list(keys), units.max_groups, units.secret, dialect)
        whole = {i: feature for i, feature in enumerate(features) if feature.ends is not None}
        rows = rows.mutate(**{f"total{i}": _within(rows, i, one) for i, one in whole.items()})
        rows, parts = bounded(rows, [*keys, *(f"total{i}" for i in whole)], features)
        for i, feature in whole.items():
            parts[i] = _parts(rows[f"total{i}"], _whole(feature))
    if bins is not None:
        rows = rows.drop_null(["bin"])
    terms = [part.term for some in parts for part in some]
    found, totals = sums_by(rows, terms, [*keys, *places])
    sums = iter(totals)
    return Groups(
        {name: _keys(found[key], columns[name]) for key, name in zip(keys, by, strict=True)},
        None if bins is None else found["bin"].to_numpy().astype("int64"),
        [sum(part.factor * next(sums) for part in some) for some in parts],
    )


def _keys(found: Any, column: Any) -> Piece:
    """Return keys in the type that their column declares; text comes as bytes."""
    kind, keys = column.type().to_pyarrow(), found.combine_chunks()
    try:
        return Arrow.of(keys.view(kind) if column.type().is_string() else keys.cast(kind))
    except ValueError:
        pass  # its message quotes a key
    raise DataError("keys must be of the type that their column declares, and are not")


def _whole(feature: Feature) -> Feature:
    """Return what a unit adds whose total is clamped, in place of what its rows do."""
    assert feature.ends is not None
    least, most = feature.ends
    return Feature(None, most - least, least)


def _within(units: Any, place: int, feature: Feature) -> Any:
    """Return the total of each unit within the ends of a feature, above the lower one.

    It is missing where a unit has no rows, or more than count. The halves of a total are those of
    the rows and what each adds at least, in halves alike.
    """
    ibis = extra("ibis", "data in a database")
    assert feature.ends is not None
    least, most = feature.ends
    rows = units[f"rows{place}"]
    counts = (rows > 0) & (rows < MOST)
    rows = counts.ifelse(rows, 0)
    upper, lower = (rows * half for half in divmod(feature.least, 1 << HALF))
    if feature.most:
        upper, lower = units[f"high{place}"] + upper, units[f"low{place}"] + lower
    upper = ibis.greatest(ibis.least(upper + (lower >> HALF), BEYOND), -BEYOND)
    total = upper * (1 << HALF) + (lower & (1 << HALF) - 1)
    return counts.ifelse(ibis.greatest(ibis.least(total, most), least) - least, None)


def _parts(above: Any, feature: Feature) -> list[Part]:
    """Return the parts of the sum of a feature of rows."""
    rows = Term(above.notnull().ifelse(1, 0), 1)
    parts = [Part(Term(above, feature.most), bool(feature.most)), Part(rows, feature.least)]
    return [part for part in parts if part.factor] or [Part(rows, 0)]
