"""A quantile of each group between two more that hold it, as often as they say."""

import datetime as dt
import math
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError
from dpfast.rng import InsecureGenerator

N, GROUPS, RUNS = 2000, 20, 15
BITS = np.random.default_rng(3)
TABLE = {
    "key": np.repeat(np.arange(GROUPS), N),
    "x": BITS.normal(50, 10, N * GROUPS),
    "who": np.arange(N * GROUPS) // 2,
}
ASKED = {"bounds": (0, 100), "least_rows": N}
PEOPLE = {"ids": "who", "max_groups": 1, "max_rows": 2}


def groups(table=TABLE, **more):
    return dp.group_by(table, "key", keys=list(range(GROUPS)), **more)


def quantiles_of(of=None, q=0.5, epsilon=1, **more):
    """The quantiles that are drawn."""
    prepared = dp.extend.prepare(
        (of or groups()).quantile_interval, "x", q, epsilon=epsilon, **{**ASKED, **more}
    )
    return prepared.mechanism.statistics["quantile_interval"]


@pytest.mark.full
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("of", [{}, PEOPLE], ids=["rows", "people"])
def test_the_worst_data(side, of):
    """All rows on one side on a cell of little weight, beside a gap that is nearly all cells."""
    asked = {"bounds": (0, 100), "least_rows": N, "coverage": 7 / 8, "epsilon": 1.0}
    own = quantiles_of(groups(**of), **asked)
    low, middle, high = own.qs
    assert middle == Fraction(1, 2) == (low + high) / 2
    cell = 12_345_677 * own.cells.grid
    data = {**TABLE, "x": np.tile(np.repeat([cell, 100 - cell], N // 2), GROUPS)}
    true, rng = data["x"][0 if side < 0 else -1], InsecureGenerator(6)

    def missed(call, column):
        found = np.concatenate([call()[column] for _ in range(RUNS)])
        return np.mean(found > true if side < 0 else found < true)

    def interval():
        return groups(data, **of).quantile_interval("x", 0.5, rng=rng, **asked)

    end = "low" if side < 0 else "high"
    most = 1 / 8 + 5 * math.sqrt(1 / 8 * 7 / 8 / (RUNS * GROUPS))
    assert missed(interval, f"quantile_interval {end}") <= most
    # Planted: ends that are a sixteenth as far from the middle.
    near = [middle + (one - middle) / 16 for one in (low, middle, high)]

    def planted():
        return groups(data, **of).quantiles("x", near, bounds=(0, 100), epsilon=1.0, rng=rng)

    assert missed(planted, list(planted())[1 if side < 0 else 3]) > most


def test_the_three_are_those_of_one_release():
    budget = dp.Budget(epsilon=1)
    found = groups().quantile_interval("x", 0.5, budget=budget, epsilon=1, **ASKED)
    assert budget.remaining["epsilon"] == 0 and len(budget.history) == 1
    low, middle, high = (found[f"quantile_interval{end}"] for end in (" low", "", " high"))
    assert ((low < middle) & (middle < high) & (low > 40) & (high < 60)).all()
    own = quantiles_of()
    ranks = own.expected(None, 0.975).ranks
    assert min(own.qs[1] - own.qs[0], own.qs[2] - own.qs[1]) * N > ranks
    assert own.qs[2] < quantiles_of(coverage=0.999).qs[2]
    assert own.qs[2] < quantiles_of(groups(**PEOPLE)).qs[2]


def test_times_and_several_statistics():
    start = np.datetime64("2020-01-01")
    table = {**TABLE, "x": start + (TABLE["x"] * 10).astype(int)}
    asked = {**ASKED, "bounds": (dt.date(2020, 1, 1), dt.date(2022, 9, 1))}
    statistics = {"q": dp.QuantileInterval("x", 0.5, **asked), "n": dp.stat.count()}
    found = groups(table).agg(statistics, epsilon=3)
    assert list(found) == ["key", "q low", "q", "q high", "q ranks", "n", "n error"]
    assert found["q"].dtype == "M8[D]" and (found["q low"] <= found["q high"]).all()


@pytest.mark.parametrize(
    "given, named",
    [
        ({"least_rows": 100}, "least_rows must be at least"),
        ({"q": 0}, "q must be greater than 0"),
        ({"bounds": "auto"}, "bounds must be a pair"),
        ({"coverage": 1}, "coverage must be"),
    ],
)
def test_what_is_refused_costs_nothing(given, named):
    budget, asked = dp.Budget(epsilon=1), {"q": 0.5, **ASKED, **given}
    with pytest.raises(ArgumentError, match=f"^{named}"):
        groups().quantile_interval("x", epsilon=1, budget=budget, **asked)
    assert not budget.history
