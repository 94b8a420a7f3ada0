"""Intervals of two more quantiles hold the one between them as often as they say."""

import datetime as dt
import math
import re
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.rng import InsecureGenerator

from ..support.views import innermost, quoted

X = np.random.default_rng(1).normal(50, 10, 4000)
ASKED = {"bounds": (0, 100), "least_rows": 4000, "epsilon": 1}
RUNS = 200


def made_for(q, function=dp.quantile_interval, **asked):
    """The quantiles of a call."""
    return innermost(quoted(function, X, q, **asked))


@pytest.mark.full
@pytest.mark.parametrize("loss", [{"epsilon": 1.0}, {"rho": 0.1}], ids=str)
@pytest.mark.parametrize("side", [-1, 1])
def test_the_worst_data(side, loss):
    """All rows on one side on a cell of little weight, beside a gap that is nearly all cells."""
    # A share of failures of an eighth, for all of it can be of one end.
    asked = {"bounds": (0, 100), "least_rows": 4000, "coverage": 7 / 8, **loss}
    low, middle, high = made_for(0.5, **asked).qs
    assert middle == Fraction(1, 2) == (low + high) / 2
    grid = made_for([0.5], dp.quantiles, bounds=(0, 100), epsilon=1).grid
    cell = 12_345_677 * grid
    data = np.repeat([cell, 100 - cell], 2000)
    true = data[0] if side < 0 else data[-1]

    def missed(found):
        return sum(found[0] > true if side < 0 else found[2] < true)

    rng, same = InsecureGenerator(5), {"bounds": (0, 100), "method": "recursive", **loss}
    own = [dp.quantile_interval(data, 0.5, rng=rng, **asked) for _ in range(RUNS)]
    most = 1 / 8 + 5 * math.sqrt(1 / 8 * 7 / 8 / RUNS)
    assert missed(np.transpose(own)) <= RUNS * most
    # Planted: ends that are a quarter as far from the middle.
    near = [(low + 3 * middle) / 4, middle, (3 * middle + high) / 4]
    planted = [dp.quantiles(data, near, rng=rng, **same) for _ in range(RUNS)]
    assert missed(np.transpose(planted)) > RUNS * most


def test_the_three_are_those_of_one_release():
    budget = dp.Budget(epsilon=1)
    assert budget.cost(dp.quantile_interval, X, 0.5, **ASKED).epsilon == 1
    found = dp.quantile_interval(X, 0.5, budget=budget, **ASKED)
    assert budget.remaining["epsilon"] == 0 and len(budget.history) == 1
    # They are 1.5 apart, and each is off by 0.03 or so, with an exponential tail.
    assert found.shape == (3,) and 40 < found[0] < found[1] < found[2] < 60
    made = made_for(0.5, **ASKED)
    ranks = made.error(None, 0.975).ranks
    assert min(made.qs[1] - made.qs[0], made.qs[2] - made.qs[1]) * 4000 > max(ranks)
    fewer = made_for(0.5, **ASKED, granularity=1)
    assert fewer.qs[2] < made.qs[2] < made_for(0.5, coverage=0.999, **ASKED).qs[2]


def test_people_and_times():
    days = np.datetime64("2020-01-01") + (X * 10).astype(int)
    limits = (dt.date(2020, 1, 1), dt.date(2022, 9, 1))
    found = dp.quantile_interval(days, 0.5, **{**ASKED, "bounds": limits})
    assert found.dtype.kind == "M" and found[0] <= found[1] <= found[2]
    asked = {**ASKED, "ids": np.arange(4000) // 2, "max_rows": 2}
    assert made_for(0.5, **asked).qs[2] > made_for(0.5, **ASKED).qs[2]
    assert quoted(dp.quantile_interval, X, 0.5, **asked).loss.epsilon == 1


@pytest.mark.parametrize(
    "given, named",
    [
        ({"least_rows": 200}, "least_rows must be at least [23]..,"),
        ({"q": 0}, "q must be greater than 0"),
        ({"q": 0.999}, "least_rows must be"),
        ({"bounds": "auto"}, "bounds must be a pair"),
        ({"coverage": 1}, "coverage must be"),
        ({"epsilon": None}, "epsilon must be"),
    ],
)
def test_what_is_refused_costs_nothing(given, named):
    budget, asked = dp.Budget(epsilon=1), {"q": 0.5, **ASKED, **given}
    with pytest.raises((ArgumentError, ArgumentTypeError), match=f"^{named}"):
        dp.quantile_interval(X, budget=budget, **asked)
    assert not budget.history


def test_the_rows_that_are_asked_for_are_enough():
    with pytest.raises(ArgumentError) as caught:
        made_for(0.3, **{**ASKED, "least_rows": 99})
    enough = int(re.search(r"at least (\d+)", str(caught.value))[1])
    assert made_for(0.3, **{**ASKED, "least_rows": enough}).qs[0] > 0
    with pytest.raises(ArgumentError, match="least_rows"):
        made_for(0.3, **{**ASKED, "least_rows": enough * 3 // 4})
