"""Quantiles among the multiples of a public number: rows on it, laws, and answers."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.noise.grid import lattice
from dpfast.privacy import ZCDP
from dpfast.rng import InsecureGenerator
from dpfast.statistics.quantiles.exponential import ExponentialQuantile

from ..reference.statistics import exponential_quantiles as reference
from ..support.pairwise import quick_rows
from .test_exponential_quantiles import LEVEL, p_value

STEPS = [Fraction(1), Fraction(1, 4), Fraction(1, 100), Fraction(7, 3), Fraction(1, 3)]
AGES = np.repeat(np.arange(18.0, 91), 400)


@quick_rows(3)
@pytest.mark.parametrize("step", STEPS, ids=str)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u2", "i8", "u8"])
def test_rows_are_on_the_nearest_multiple(dtype, step):
    lo, hi = -9.5, 120.0
    rng = np.random.default_rng(0)
    if dtype[0] == "f":
        near = np.array([(k + h) * float(step) for k in range(-50, 60) for h in (0, 0.5)])
        values = np.concatenate([near, np.nextafter(near, 9e9), np.nextafter(near, -9e9)])
        values = np.concatenate([values, [-np.inf, np.inf, -1e30, 1e30]])
    else:
        info = np.iinfo(dtype)
        near = rng.integers(max(info.min, -200), min(info.max, 300), 200).tolist()
        values = np.array([info.min, info.max, *near], dtype)
    values = np.sort(values.astype(dtype))
    made = lattice(lo, hi, step)
    first, last = math.ceil(Fraction(lo) / step), math.floor(Fraction(hi) / step)
    assert (made.first, made.last) == (first, last)
    numbers = [float(k * step) for k in range(first, last + 1)]
    assert [made.value(k) for k in range(first, last + 1)] == numbers
    edges = [float((k - Fraction(1, 2)) * step) for k in range(first, last + 2)]
    wanted = [
        min(max(first - 1 + sum(x >= edge for edge in edges), first), last) for x in values.tolist()
    ]
    assert made.cells(values).tolist() == wanted


def test_bounds_are_among_the_multiples():
    """0.7 as a bound is a little less than seven tenths, and 0.3 as well, and 0.1 a little more."""
    given = {"epsilon": 50, "granularity": 0.1, "method": "exponential"}
    assert dp.median(np.full(900, 0.7), bounds=(0, 0.7), **given) == 0.7
    assert dp.median(np.full(900, 0.1), bounds=(0.1, 0.9), **given) == 0.1
    assert dp.median(np.full(900, 0.1), bounds=(0.3, 0.3), **given) == 0.3
    for k in range(1, 10_000):
        made = lattice(k / 100, 100.0, Fraction(1, 100)), lattice(-1.0, k / 100, Fraction(1, 100))
        assert (made[0].first, made[1].last) == (k, k)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_draws_have_the_law_of_the_lattice(neighbors):
    """Rows of halves and thirds among whole numbers, each as the nearest one."""
    data = [0.2, 3.5, 3.4, *np.linspace(7.6, 8.4, 9), *np.linspace(8.6, 9.4, 7), 11.9]
    rows = [math.floor(x + 0.5) for x in data]
    q, step = Fraction(1, 2), lattice(0.0, 12.0, Fraction(1))
    loss = ZCDP(Fraction(1, 8))
    made = ExponentialQuantile(0.0, 12.0, neighbors, "raise", loss, False, step, q=q)
    assert made.base.each == 1 and not made.base.above and made.cells == (0, 12)
    aim = made.aim
    law = np.exp(reference.column(rows, q, made.rate, 12, aim.share, ties=aim.ties))
    generator = InsecureGenerator(3)
    summary = made.reduce(dp.tables.as_source(np.array(data)))
    found = Counter(made.finish(summary, generator) for _ in range(3000))
    assert p_value(found, dict(enumerate(law))) > LEVEL
    floors = list(map(int, data))
    faults = [  # rows at or next below, and ties that have all their ranks
        reference.column(floors, q, made.rate, 12, aim.share, ties=aim.ties),
        reference.column(rows, q, made.rate, 12, aim.share),
    ]
    assert all(p_value(found, dict(enumerate(np.exp(law)))) < LEVEL for law in faults)


@pytest.mark.parametrize("granularity", [1, 0.25, Decimal("0.01"), Fraction(1, 3)])
def test_all_answers_are_multiples(granularity):
    step = Fraction(str(granularity)) if isinstance(granularity, float) else Fraction(granularity)
    given = {"bounds": (0, 120), "granularity": granularity}
    answers = [
        *(dp.median(AGES, epsilon=e, method=m, **given) for e in (0.1, 9) for m in WAYS),
        *dp.quantiles(AGES, [0.1, 0.5], epsilon=0.3, **given),
        *dp.quantiles(AGES[:900], [0.1, 0.5], epsilon=0.3, method="joint", **given),
        *dp.percentile(AGES, [5, 95], epsilon=0.3, **given),
        dp.minimum(AGES, epsilon=0.3, **given),
        dp.maximum(AGES, epsilon=0.3, method="smooth", **given),
    ]
    multiples = {float(k * step) for k in range(int(120 / step) + 1)}
    assert set(answers) <= multiples
    for method in ("smooth", "recursive", "joint"):
        assert dp.iqr(AGES[::7], epsilon=1, method=method, **given) in multiples


WAYS = ("smooth", "exponential")


def test_a_tie_is_hit_where_all_candidates_would_be_too_many():
    """Cents: no number is round, and each is shared by some rows."""
    rng = np.random.default_rng(1)
    prices = np.round(rng.lognormal(3, 0.1, 20_000), 2)
    middle = np.sort(prices)[9_999]
    given = {"bounds": (0, 10_000), "epsilon": 1.0}
    on, off = (
        np.mean([abs(dp.median(prices, **given, **kw) - middle) < 1e-9 for _ in range(100)])
        for kw in ({"granularity": 0.01}, {})
    )
    assert on > 0.9 > 0.5 > off  # chances of a hit are 0.999 or more, and 0.001 or less


@pytest.mark.parametrize("shape", ["file", "sorted", "integers"])
def test_other_data(shape, tmp_path):
    x = AGES + (0.0 if shape == "integers" else 0.2)
    given = {"bounds": (0, 120), "epsilon": 5.0, "granularity": 1, "method": "exponential"}
    if shape == "file":
        np.save(tmp_path / "ages.npy", x)
        assert dp.median(dp.scan(tmp_path / "ages.npy"), **given) == 54
    elif shape == "sorted":
        assert dp.median(np.sort(x), assume_sorted=True, **given) == 54
    else:
        assert dp.median(x.astype(np.uint8), **given) == 54


@pytest.mark.parametrize(
    ("granularity", "error", "text"),
    [
        (0, ArgumentError, "None or a positive number"),
        (-1, ArgumentError, "None or a positive number"),
        (math.nan, ArgumentError, "granularity"),
        ("1", ArgumentTypeError, "granularity"),
        (1e-30, ArgumentError, "larger number"),
        (Fraction(1, 2**60), ArgumentError, "larger number"),
        (50, ArgumentError, "multiples of which are within the bounds"),
        (1e-12, ArgumentError, "multiples at most"),
    ],
)
def test_bad_numbers_are_refused_before_the_spend(granularity, error, text):
    budget = dp.Budget(epsilon=1)
    given = {"bounds": (10, 20), "epsilon": 0.5, "granularity": granularity, "budget": budget}
    for call in (dp.median, dp.minimum, dp.iqr):
        with pytest.raises(error, match=text):
            call(AGES, **given)
    with pytest.raises(error, match=text):
        dp.quantiles(AGES, [0.1], **given)
    assert budget.spent == dp.Budget(epsilon=1).spent


def test_bounds_that_are_found_and_times_take_none():
    budget = dp.Budget(epsilon=1)
    with pytest.raises(ArgumentError, match="bounds='auto'"):
        dp.median(AGES, bounds="auto", epsilon=0.5, granularity=1, budget=budget)
    days = np.arange("2024-01-01", "2024-02-01", dtype="M8[D]")
    with pytest.raises(ArgumentError, match="left out for times"):
        dp.median(days, bounds=(days[0], days[-1]), epsilon=0.5, granularity=1, budget=budget)
    assert budget.spent == dp.Budget(epsilon=1).spent


def test_groups_have_the_same_candidates():
    rng = np.random.default_rng(2)
    table = {"k": np.repeat([0, 1], 4000), "x": np.round(rng.lognormal(3, 0.1, 8000), 2)}
    groups = dp.group_by(table, "k", keys=[0, 1])
    given = {"bounds": (0, 10_000), "epsilon": 2.0}
    middle = [np.sort(table["x"][table["k"] == k])[1999:2001].tolist() for k in (0, 1)]
    found = groups.median("x", granularity=Decimal("0.01"), **given)
    for got, rows in zip(found["median"].tolist(), middle, strict=True):
        assert got == round(got, 2) and abs(got - rows[0]) < 0.1
    several = groups.agg(
        {
            "low": dp.stat.minimum("x", bounds=(0, 100), granularity=5),
            "some": dp.stat.quantiles("x", [0.2, 0.6], bounds=(0, 100), granularity=0.25),
            "many": dp.stat.percentile("x", 90, bounds=(0, 100), granularity=1),
        },
        epsilon=3.0,
    )
    for name, step in {"low": 5, "some 0.2": 0.25, "some 0.6": 0.25, "many": 1}.items():
        assert (np.asarray(several[name]) % step == 0).all(), name
    for bad, text in ((0, "positive"), (1e-7, "multiples between"), (3e4, None)):
        if text is None:
            assert groups.median("x", granularity=bad, **given)["median"].tolist() == [0, 0]
            continue
        with pytest.raises(ArgumentError, match=text):
            groups.median("x", granularity=bad, **given)
    days = {"k": [0], "d": np.array(["2024-01-01"], "M8[D]")}
    ends = (days["d"][0], days["d"][0] + 60)
    with pytest.raises(ArgumentError, match="left out for times"):
        dp.group_by(days, "k", keys=[0]).median("d", bounds=ends, epsilon=1.0, granularity=1)


INTEGERS = np.random.default_rng(4).integers(-40, 80, 900)


def test_integers_have_integers_as_answers(tmp_path):
    """By the type of the column, whatever the method, and never by its values."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": INTEGERS}), tmp_path / "x.parquet")
    given = {"bounds": (-50.5, 90), "epsilon": 2.0}
    for data in (INTEGERS, INTEGERS.astype("i1"), dp.scan(tmp_path / "x.parquet", "x")):
        found = [
            *(dp.quantile(data, 0.3, method=method, **given) for method in WAYS),
            *dp.quantiles(data, [0.1, 0.5], **given),
            dp.minimum(data, **given),
            dp.iqr(data, **given),
            dp.median(data, bounds="auto", epsilon=5.0),
        ]
        assert all(answer == int(answer) for answer in found), found
    several = dp.median(np.stack([INTEGERS, 9 * INTEGERS], axis=1), axis=0, **given)
    assert (several % 1 == 0).all()
    floats = [dp.quantile(INTEGERS.astype(float), 0.3, method=way, **given) for way in WAYS]
    assert floats[0] % 1  # noise of which a multiple of 1 is as good as never
    measured = dp.Median(bounds=(-50, 90)).measure(epsilon=2, dtype="i8")
    assert measured(INTEGERS) % 1 == 0
    for bounds in ((0.2, 0.7), (-1e18, 1e18)):  # none, and too many
        low, high = bounds
        assert low <= dp.median(INTEGERS, bounds=bounds, epsilon=1) <= high


def test_integers_have_the_law_of_their_lattice():
    """That of `granularity=1`, draw by draw."""
    given = {"bounds": (-50, 90), "epsilon": 0.3, "neighbors": "replace"}
    for function, more in ((dp.median, {}), (dp.quantiles, {"qs": [0.2, 0.7]})):
        plain, told = (
            function(INTEGERS, rng=InsecureGenerator(5), **given, **more, **kw)
            for kw in ({}, {"granularity": 1})
        )
        assert np.array_equal(plain, told)
