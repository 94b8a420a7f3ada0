"""`count_nonzero` and `percentile`: what NumPy calls so, by the bits of their siblings."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.rng import InsecureGenerator

from ..support.views import prepared

RNG = np.random.default_rng(31)
X = np.round(RNG.normal(30, 20, 500))
X[::7] = 0.0
BOUNDS = {"bounds": (0, 100)}


def counted(data, **kw):
    """What noise is added to."""
    mechanism, rows = prepared(dp.count_nonzero, data, epsilon=1, **kw)
    return exact(mechanism, rows)


def exact(mechanism, rows):
    (count,) = mechanism.plan.totals(mechanism.reduce(rows))
    return count


# ---- count_nonzero ----

ROWS = [0.0, -0.0, 5e-324, -1.0, math.inf, math.nan]


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "i2", "?"])
def test_it_counts_as_numpy_does(dtype):
    data = (X % 3).astype(dtype)
    assert counted(data) == np.count_nonzero(data) != 0
    assert counted(data[::-2]) == np.count_nonzero(data[::-2])


def test_what_is_missing_counts_unless_it_is_dropped():
    data = np.array(ROWS)
    assert counted(data) == np.count_nonzero(data) == 4
    assert counted(data, nan="drop") == 3
    nulls = pa.array([0, 0, None, 7, None])
    assert counted(nulls) == 3 and counted(nulls, nan="drop") == 1
    where = np.array([True, False, True, True, False, True])
    assert counted(data, where=where) == 3 and counted(data, where=where, nan="drop") == 2


def test_each_column():
    table = np.stack([X, X % 2, np.full(len(X), np.nan)], axis=1)
    found = dp.count_nonzero(table, axis=0, epsilon=500)
    assert found.tolist() == np.count_nonzero(table, axis=0).tolist()
    found = dp.count_nonzero(table, axis=0, nan="drop", where=X > 9, epsilon=500)
    some = np.nan_to_num(table)[X > 9]
    assert found.tolist() == np.count_nonzero(some, axis=0).tolist()
    with pytest.raises(ArgumentTypeError, match="numbers"):
        dp.count_nonzero(np.array(["2020-01-01"], "M8[D]"), epsilon=1)


# ---- percentile ----


@pytest.mark.parametrize("q", [0, 25, 99.9, Fraction(200, 3), np.float32(12.5), np.array(50)])
@pytest.mark.parametrize("method", ["auto", "smooth", "exponential"])
def test_one_is_a_quantile(q, method):
    exact = Fraction(str(q)) / 100
    given = {**BOUNDS, "epsilon": 2, "method": method, "where": X > 5}
    found = dp.percentile(X, q, **given, rng=InsecureGenerator(1))
    assert found == dp.quantile(X, exact, **given, rng=InsecureGenerator(1))
    statistic = dp.Percentile(q=100 * exact, bounds=BOUNDS["bounds"], method=method)
    rest = {"epsilon": 2, "where": X > 5, "rng": InsecureGenerator(1)}
    assert statistic.q == 100 * exact and statistic.prepare(X, **rest).run() == found


@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": 0.3}])
@pytest.mark.parametrize("qs", [[10, 90], (50,), np.array([99.9, 1])], ids=str)
def test_several_are_quantiles(loss, qs):
    exact = [Fraction(str(q)) / 100 for q in qs]
    for method in ("recursive", "joint"):
        given = {**BOUNDS, **loss, "method": method, "ids": np.arange(500) // 2, "max_rows": 2}
        found = dp.percentile(X, qs, **given, rng=InsecureGenerator(1))
        other = dp.quantiles(X, exact, **given, rng=InsecureGenerator(1))
        assert found.tolist() == other.tolist()
    auto = dp.percentile(X, qs, **BOUNDS, **loss, rng=InsecureGenerator(1))
    assert auto.tolist() == dp.quantiles(
        X, exact, **BOUNDS, **loss, rng=InsecureGenerator(1)
    ).tolist()  # fmt: skip


def test_several_leave_delta_unspent_and_take_no_noise():
    budget = dp.Budget(epsilon=1, delta=1e-6)
    dp.percentile(X, [5, 95], **BOUNDS, epsilon=1, delta=1e-6, budget=budget)
    assert budget.remaining == {"epsilon": 0, "delta": Fraction(1, 10**6)}
    for kw in ({"noise": "cauchy"}, {"method": "smooth"}):
        with pytest.raises(ArgumentError, match=r"noise|method"):
            dp.percentile(X, [5, 95], **BOUNDS, epsilon=1, **kw)
    for q in (101, -0.5, [1, 100.5], [], np.array([[1.0]])):
        with pytest.raises((ArgumentError, ArgumentTypeError), match=r"^q"):
            dp.percentile(X, q, **BOUNDS, epsilon=1)
