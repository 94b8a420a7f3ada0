"""What units count for in a database is what a slow twin says, for all that rows can hold."""

import math
import random
from fractions import Fraction

import pytest

from dpfast.tables.base import Feature
from dpfast.tables.sql import units
from dpfast.tables.sql.sums import sums_by
from dpfast.tables.sql.units import MOST, bounded, first_groups, units_of

from ...support.databases import ENGINES, connect, table


def twin(rows, least, most):
    """The sums by key of what units count for, by definition."""
    of_units, found = {}, {}
    for unit, key, above in rows:
        if above is not None:
            of_units.setdefault((unit, key), []).append(above + least)
    for (_, key), features in of_units.items():
        rows = len(features)
        part = math.trunc(Fraction(sum(features) * min(rows, most), rows))
        found[key] = found.get(key, 0) + part
    return found


def sums_of(engine, rows, least, most):
    """The same in a database."""
    kinds = {"unit": "int64", "key": "int64", "above": "int64"}
    columns = zip(kinds.items(), zip(*rows, strict=True), strict=True)
    data = table(connect(engine), {name: (kind, own) for (name, kind), own in columns})
    features = [Feature(None, 2**63 - 1, least, most)]
    data = data.rename(above0="above")
    some, (parts,) = bounded(units_of(data, ["unit", "key"], features), ["key"], features)
    found, totals = sums_by(some, [part.term for part in parts], ["key"])
    sums = sum(part.factor * total for part, total in zip(parts, totals, strict=True))
    return dict(zip(found["key"].to_pylist(), sums, strict=True))


SMALL, LARGE = [None, *range(8)], [None, 0, 1, 2**40, 2**53 + 1, 2**62, 2**63 - 1]

CASES = [
    (SMALL, -3, 1),
    (LARGE, -(2**62), 5),
    *(
        pytest.param(values, least, most, marks=pytest.mark.full)
        for values, least in [(SMALL, -3), (LARGE, 0), (LARGE, -(2**62))]
        for most in [1, 5, MOST]
    ),
]


def rows_of(values, seed=1):
    draw = random.Random(seed)
    return [(draw.randrange(9), draw.randrange(2), draw.choice(values)) for _ in range(120)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("values, least, most", CASES)
def test_units_count_as_their_rows_and_totals_say(engine, values, least, most):
    rows = rows_of(values)
    assert sums_of(engine, rows, least, most) == twin(rows, least, most)


def test_a_unit_that_rounds_away_from_zero_is_caught(monkeypatch):
    right = units._quotient
    monkeypatch.setattr(units, "_quotient", lambda whole, by: right(whole + by - 1, by))
    rows = rows_of(SMALL)
    assert sums_of("duckdb", rows, 0, 1) != twin(rows, 0, 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_unit_has_so_many_groups_whatever_others_have(engine):
    draw = random.Random(2)
    rows = sorted({(draw.randrange(6), draw.randrange(9)) for _ in range(40)})

    def kept(rows):
        columns = dict(zip(("unit", "key"), zip(*rows, strict=True), strict=True))
        data = table(connect(engine), {name: ("int64", own) for name, own in columns.items()})
        found = first_groups(data, "unit", ["key"], 3, "secret", engine).to_pyarrow().to_pylist()
        return {(row["unit"], row["key"]) for row in found}

    every = kept(rows)
    for unit in range(6):
        keys = {key for own, key in rows if own == unit}
        own = {key for other, key in every if other == unit}
        assert own <= keys and len(own) == min(3, len(keys))
    assert kept([row for row in rows if row[0] != 4]) == {row for row in every if row[0] != 4}
