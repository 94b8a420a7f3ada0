"""A quantile of each group between two ends that hold it, as often as they say."""

import math

import numpy as np
import pytest

import dpfast as dp
from dpfast.rng import InsecureGenerator

#: Groups of very different sizes.
SIZES = [3, 100, 1000, 4000] * 25
BITS = np.random.default_rng(3)
KEYS = list(range(len(SIZES)))
TABLE = {
    "key": np.repeat(KEYS, SIZES),
    "x": BITS.normal(50, 10, sum(SIZES)),
    "who": np.arange(sum(SIZES)) // 2,
}
PEOPLE = {"ids": "who", "max_groups": 2, "max_rows": 2}
B = {"bounds": (0, 100)}


def groups(table=TABLE, **more):
    return dp.group_by(table, "key", keys=KEYS, **more)


def ends_of(found, name="quantile_interval"):
    return [np.asarray(found[f"{name}{end}"]) for end in (" low", "", " high")]


def test_each_group_has_its_own():
    budget = dp.Budget(epsilon=1)
    found = groups().quantile_interval("x", 0.5, budget=budget, epsilon=1, **B)
    assert list(found) == [
        "key", "quantile_interval low", "quantile_interval", "quantile_interval high",
    ]  # fmt: skip
    assert budget.remaining["epsilon"] == 0 and len(budget.history) == 1
    rng = InsecureGenerator(2)
    low, middle, high = ends_of(groups().quantile_interval("x", 0.5, epsilon=1, rng=rng, **B))
    assert ((low <= middle) & (middle <= high)).all()
    lengths = np.median((high - low).reshape(-1, 4), axis=0)
    assert lengths[0] == 100 and (lengths[1:] < [25, 2, 0.5]).all()


def true_quantiles(x, q):
    return np.array([np.quantile(own, q) for own in np.split(x, np.cumsum(SIZES)[:-1])])


def held(part, of, runs, q=0.5, **asked):
    """The share of groups of each size whose quantile is within a part of both distances."""
    x = np.round(TABLE["x"]) if "granularity" in asked else TABLE["x"]
    true = true_quantiles(x, q)
    rng, shares = InsecureGenerator(6), []
    for _ in range(runs):
        found = groups({**TABLE, "x": x}, **of).quantile_interval("x", q, rng=rng, **B, **asked)
        low, middle, high = ends_of(found)
        low, high = (middle + (end - middle) * part for end in (low, high))
        shares.append(((low <= true) & (true <= high)).reshape(-1, 4))
    return np.mean(shares, axis=(0, 1))


@pytest.mark.parametrize(
    "of, asked",
    [
        ({}, {"epsilon": 1.0}),
        (PEOPLE, {"epsilon": 2.0}),
        ({"neighbors": "replace"}, {"rho": 0.2}),
        ({}, {"epsilon": 1.0, "granularity": 1, "q": 0.9}),
    ],
    ids=["rows", "people", "rho", "lattice"],
)
def test_intervals_hold(of, asked):
    least = 0.95 - 5.3 * math.sqrt(0.95 * 0.05 / (2 * 25))
    assert (held(1, of, 2, **asked) >= least).all()
    assert (held(1 / 8, of, 2, **asked)[1:] < least).any()  # planted


def test_one_group_has_the_draws_of_the_plain_function():
    """The same distances for the same rows, of which a group has no others."""
    plain = dp.QuantileInterval(q=0.3, **B).measure(epsilon=1, dtype="int64")
    column = {"key": np.zeros(500, int), "x": TABLE["x"][:500].astype(int)}
    mechanism = dp.extend.prepare(
        dp.group_by(column, "key", keys=[0]).quantile_interval, "x", 0.3, epsilon=1, **B
    ).mechanism.statistics["quantile_interval"]
    own, (other,) = mechanism.widths(*mechanism.qs), plain.inner.inner.widths
    assert (own.rate, own.margin, own.reach) == (other.rate, other.margin, other.reach)
    assert own.steps.tolist() == other.steps.tolist()


def test_ends_are_multiples_where_rows_are():
    table = {**TABLE, "age": TABLE["x"].astype(int)}
    of = dp.QuantileInterval("age", 0.5, **B), dp.QuantileInterval("x", 0.5, granularity=1, **B)
    found = groups(table).agg({"age": of[0], "x": of[1]}, epsilon=20, rng=InsecureGenerator(3))
    ages, x = np.array(ends_of(found, "age"))[:, 3::4], np.array(ends_of(found, "x"))[:, 3::4]
    assert (ages == ages.round()).all() and np.median(ages[2] - ages[0]) <= 1
    assert (x[::2] % 1 == 0.5).all() and (x[1] % 1 == 0).all() and np.median(x[2] - x[0]) == 1
