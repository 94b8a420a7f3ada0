"""`describe`, and `marginals` of people, in a database: what memory answers, bit by bit."""

import math

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.rng import InsecureGenerator
from dpfast.tables.columns import Rows
from dpfast.tables.data import form_of
from dpfast.tables.words import Words

from ...support.databases import connect, ibis, table

RNG = np.random.default_rng(36)
N = 300
HERE = {
    "pay": RNG.integers(-8, 900, N) / 256,  # beside the ends of cells, too
    "age": RNG.integers(18, 200_000, N),
    "late": np.where(RNG.random(N) < 0.3, np.nan, RNG.normal(5, 30, N)),
    "is_new": RNG.random(N) < 0.3,
    "town": RNG.choice(["Ulm", "Bonn", "Zell"], N),
    "who": RNG.integers(0, 40, N),
}
HERE["late"][:4] = 100, -math.inf, math.inf, 1e308
KINDS = {"pay": "float64", "age": "int64", "late": "float64", "is_new": "boolean"}
KINDS |= {"town": "string", "who": "int64", "day": "date"}
PUBLIC = {"pay": (0, 60), "age": (0, 120_000), "late": (-100, 100)}
WORDS = {"categories": {"town": ["Bonn", "Ulm"]}}
PEOPLE = {"ids": "who", "max_rows": 60}  # of whom all rows count


def in_database(engine):
    return table(connect(engine), {k: (KINDS[k], column.tolist()) for k, column in HERE.items()})


def expect_same(release, here, there, **call):
    a, b = (release(rows, rng=InsecureGenerator(1), **call) for rows in (here, there))
    assert str(a.to_dict()) == str(b.to_dict())


def test_two_columns_are_those_of_memory():
    some = ["late", "town"]
    here, there = {name: HERE[name] for name in some}, in_database("duckdb")[some]
    expect_same(dp.describe, here, there, epsilon=100, **WORDS)


@pytest.mark.full
@pytest.mark.parametrize("engine", ["duckdb", "sqlite", "postgres"])
def test_columns_and_marginals_of_people_are_those_of_memory(engine):
    there = in_database(engine)
    call = {"bounds": {**PUBLIC, "who": (0, 50)}, **WORDS, "epsilon": 50}
    expect_same(dp.describe, HERE, there, **call)
    expect_same(dp.describe, HERE, there, epsilon=100, **WORDS)
    # No words now: text has a count alone.
    call = {"bounds": PUBLIC, "epsilon": 50, "neighbors": "replace", **PEOPLE}
    young = ((HERE, HERE["age"] < 100_000), (there, there.age < 100_000))
    a, b = (dp.describe(x, where=w, rng=InsecureGenerator(2), **call) for x, w in young)
    assert str(a.to_dict()) == str(b.to_dict())
    axes = {"categories": {**WORDS["categories"], "is_new": [False, True]}, "rho": 1}
    axes |= {"bins": {"age": [18, 90_000, 180_000]}, "ids": "who"}
    expect_same(dp.marginals, HERE, there, **axes, max_rows=60)
    few = dp.marginals(there, **{**axes, "rho": 400}, max_rows=2)
    assert 0 < few.counts() < np.minimum(np.bincount(HERE["who"]), 2).sum() + 2


def test_rows_of_several_columns_are_chosen_whole():
    rows = {"who": ("int64", [1] * 6 + [2]), "x": ("float64", [1.0, 2, 3, 4, None, 6, 7])}
    rows["s"] = ("string", ["a", "b", "c", None, "e", "f", "g"])
    there = table(connect("duckdb"), rows)
    seen = set()
    for _ in range(6):
        secret = str(RNG.integers(1 << 30))
        found = form_of(there, "data", "").store.rows(Rows(("x", "s"), None, {"s": Words(["a"])}))
        kept = found.chosen("who", 2, secret)._rows.to_pandas()
        pairs = set(zip(kept["value0"].fillna(0), kept["value1"].fillna(""), strict=True))
        assert len(kept) == 3 and (7.0, "g") in pairs
        assert pairs <= {(1, "a"), (2, "b"), (3, "c"), (4, ""), (0, "e"), (6, "f"), (7, "g")}
        seen.add(frozenset(pairs))
    assert len(seen) > 1


def test_what_a_database_does_not_tell_is_refused_before_the_spend():
    there, lite, budget = in_database("duckdb"), connect("sqlite"), dp.Budget(epsilon=1)
    zoned = there.mutate(at=ibis.timestamp("2024-01-01 12:00:00").cast("timestamp('UTC')"))
    lite.raw_sql("CREATE TABLE IF NOT EXISTS untyped (x, y REAL)")
    lite.raw_sql("INSERT INTO untyped VALUES (1, 2)")
    untyped = lite.table("untyped"), {"bounds": {"x": (0, 1), "y": (0, 1)}}
    for words, (data, call) in {
        "the name of a column": (there, {"bounds": {**PUBLIC, "what": (0, 1)}}),
        "compares exactly": (zoned[["at"]], {}), "declared with a type": untyped,
        "data must be a table": (there.pay, {}),
    }.items():  # fmt: skip
        with pytest.raises((ArgumentError, ArgumentTypeError), match=words) as error:
            dp.describe(data, epsilon=1, budget=budget, **call)
        assert len(str(error.value).split()) < 30
    assert not budget.history
