"""What units count for in a database is what a slow twin says, for all that rows can hold."""

import math
import random
from fractions import Fraction

import pytest

from dpfast.tables.base import Feature, Units
from dpfast.tables.sql import units
from dpfast.tables.sql.groups import groups_of
from dpfast.tables.sql.sums import sums_by
from dpfast.tables.sql.units import MOST, bounded, first_groups, units_of

from ...support.databases import ENGINES, connect, table
from ...support.pairwise import every_value, quick_rows


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


def table_of(engine, rows):
    kinds = {"unit": "int64", "key": "int64", "above": "int64"}
    columns = zip(kinds.items(), zip(*rows, strict=True), strict=False)
    return table(connect(engine), {name: (kind, own) for (name, kind), own in columns})


def sums_of(engine, rows, least, most):
    data = table_of(engine, rows).rename(above0="above")
    features = [Feature(data.above0, 2**63 - 1, least, most)]
    some = units_of(data, ["unit", "key"], features, engine)
    some, (terms,) = bounded(some, ["key"], features, engine)
    found, totals = sums_by(some, terms, ["key"])
    return dict(zip(found["key"].to_pylist(), sum(totals), strict=True))


SMALL, LARGE = [None, *range(8)], [None, 0, 1, 2**40, 2**53 + 1, 2**62, 2**63 - 1]

CASES = [(SMALL, -3, 1), (LARGE, -(2**62), 5)] + [
    pytest.param(values, least, most, marks=pytest.mark.full)
    for values, least in [(SMALL, -3), (LARGE, 0), (LARGE, -(2**62))]
    for most in [1, 5, MOST]
]


def rows_of(values, seed=1):
    draw = random.Random(seed)
    return [(draw.randrange(9), draw.randrange(2), draw.choice(values)) for _ in range(120)]


@quick_rows(2)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("values, least, most", CASES)
def test_units_count_as_their_rows_and_totals_say(engine, values, least, most):
    rows = rows_of(values)
    assert sums_of(engine, rows, least, most) == twin(rows, least, most)


def test_a_unit_that_rounds_away_from_zero_is_caught(monkeypatch):
    rows = rows_of(SMALL)[:40]
    for name, engine in (("quotient", "duckdb"), ("floored", "sqlite")):
        right = getattr(units, name)
        fault = lambda whole, by, *more, right=right: right(whole + by - 1, by, *more)  # noqa: E731
        monkeypatch.setattr(units, name, fault)
        assert sums_of(engine, rows, 0, 1) != twin(rows, 0, 1)


ENDS = [
    (SMALL, -3, (-4, 9)),
    (SMALL, 2, (5, 5)),
    (LARGE, -(2**62), (-(2**60) + 1, 2**59)),
    (LARGE, 0, (3, 2**60 - 1)),
    (LARGE, -(2**63) + 1, (-(2**50), -1)),
]


def totals_of(engine, rows, least, ends):
    data = table_of(engine, rows)
    features = [Feature(data.above, 2**63 - 1, least, ends=ends), Feature(data.above * 0, 0, 1, 1)]
    columns = {name: data[name] for name in ("unit", "key", "above")}
    found = groups_of(data, columns, engine, {"key": None}, features, Units("unit"), None)
    return dict(zip(found.keys["key"].chunked.to_pylist(), found.sums[0], strict=True))


def clamped(rows, least, ends):
    found, of_units = {}, {}
    for unit, key, above in rows:
        found.setdefault(key, 0)
        if above is not None:
            of_units[unit, key] = of_units.get((unit, key), 0) + above + least
    for (_, key), total in of_units.items():
        found[key] += min(max(total, ends[0]), ends[1])
    return found


@every_value
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("values, least, ends", ENDS)
def test_totals_of_units_are_clamped(engine, values, least, ends):
    rows = [*rows_of(values), (9, 0, None)]
    assert totals_of(engine, rows, least, ends) == clamped(rows, least, ends)


def test_units_of_too_many_rows_count_nowhere(monkeypatch):
    monkeypatch.setattr(units, "MOST", 3)
    rows = [(0, 0, 5)] * 2 + [(1, 0, 5)] * 3
    assert totals_of("sqlite", rows, 0, (-7, 7)) == {0: 7}
    assert [sums_of(engine, rows, 0, 2)[0] for engine in ("duckdb", "sqlite")] == [10, 10]


def test_a_total_that_is_cut_within_its_ends_is_caught(monkeypatch):
    monkeypatch.setattr(units, "BEYOND", 1 << 8)
    values, least, ends = ENDS[2]
    rows = rows_of(values)
    assert totals_of("sqlite", rows, least, ends) != clamped(rows, least, ends)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_unit_has_so_many_groups_whatever_others_have(engine):
    draw = random.Random(2)
    rows = sorted({(draw.randrange(6), draw.randrange(9)) for _ in range(40)})

    def kept(rows):
        found = first_groups(table_of(engine, rows), "unit", ["key"], 3, "secret", engine)
        return {(row["unit"], row["key"]) for row in found.to_pyarrow().to_pylist()}

    every = kept(rows)
    for unit in range(6):
        keys, own = ({key for other, key in some if other == unit} for some in (rows, every))
        assert own <= keys and len(own) == min(3, len(keys))
    assert kept([row for row in rows if row[0] != 4]) == {row for row in every if row[0] != 4}
