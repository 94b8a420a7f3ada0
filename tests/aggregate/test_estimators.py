"""The named estimators as arguments: names, parameters, and what does not fit the data."""

import dataclasses
import math

import numpy as np
import pytest

import dpfast as dp
from dpfast.aggregate.estimators import (
    Correlation,
    LeastSquares,
    LogisticRegression,
    Maximum,
    Mean,
    Median,
    Minimum,
    Mode,
    Quantile,
    StandardDeviation,
    TrimmedMean,
    Variance,
    resolve,
)
from dpfast.errors import ArgumentError, ArgumentTypeError

LIMITS = (0.0, 100.0)
KINDS = [Mean, Variance, StandardDeviation, Minimum, Maximum, Median, Mode, TrimmedMean]
KINDS += [Correlation, LeastSquares, LogisticRegression]
WORDS = ["mean", "var", "std", "min", "max", "median", "mode", "trimmed-mean", "correlation"]
WORDS += ["least-squares", "logistic-regression"]


def test_names():
    for name, kind in zip(WORDS, KINDS, strict=True):
        assert resolve(name) == resolve(name.replace("-", "_")) == kind()
    for wrong, due in [
        ("mean ", "estimator must be one of 'mean', .*'median', 'mode'"),
        ("quantile", r"dpfast\.estimators\.Quantile\(q\)"),
    ]:
        with pytest.raises(ArgumentError, match=due):
            resolve(wrong)


def test_they_are_values_and_have_names_in_the_ledger():
    assert Variance(ddof=1) == Variance(1) != Variance() != StandardDeviation()
    assert hash(LeastSquares(np.int64(2))) == hash(LeastSquares(2))
    assert LeastSquares() != LogisticRegression()
    with pytest.raises(dataclasses.FrozenInstanceError):
        Variance().ddof = 2
    assert TrimmedMean(0.1).name == "trimmed-mean(0.1)"
    budget = dp.Budget(epsilon=1.0)
    release(np.arange(1000.0), Quantile(0.25), LIMITS, budget=budget)
    assert "quantile(0.25)" in str(budget.history)


@pytest.mark.parametrize(
    ("kind", "kw", "error", "due"),
    [
        (Variance, {"ddof": -1}, ArgumentError, "ddof must be an integer of at least 0, got -1"),
        (StandardDeviation, {"ddof": 1.5}, ArgumentTypeError, "ddof must be an integer of at le"),
        *[
            (kind, {"target": x}, ArgumentTypeError, "target must be the index of a")
            for kind, x in ((LeastSquares, 1.0), (LeastSquares, True), (LogisticRegression, 1.0))
        ],
        (LeastSquares, {"intercept": 1}, ArgumentTypeError, "intercept must be True or False"),
        *[(Quantile, {"q": q}, ArgumentError, "q must be") for q in (1.5, -0.1, math.nan)],
        (Quantile, {"q": "half"}, ArgumentTypeError, "q must be"),
        (Quantile, {"q": 0.5, "method": "x"}, ArgumentError, "method must be one of 'linear'"),
        (TrimmedMean, {"proportion": 0.5}, ArgumentError, "proportion must be .* less than 0.5"),
        (TrimmedMean, {"proportion": -0.01}, ArgumentError, "proportion must be"),
        (TrimmedMean, {"proportion": None}, ArgumentTypeError, "proportion must be"),
        *[
            (LogisticRegression, {name: x}, ArgumentError, f"{name} must be")
            for name, x in [("penalty", math.inf), ("tolerance", 0), ("max_iterations", 0)]
        ],
        (LogisticRegression, {"penalty": 0}, ArgumentError, "penalty must be .* greater than 0"),
        (LogisticRegression, {"max_iterations": 1.5}, ArgumentTypeError, "max_iterations"),
    ],
)
def test_parameters_out_of_range(kind, kw, error, due):
    with pytest.raises(error, match=f"^{due}"):
        kind(**kw)


def release(data, estimator, bounds, **kw):
    kw = {"blocks": 5, "epsilon": 1.0, "bounds": bounds, **kw}
    return dp.sample_and_aggregate(data, estimator, **kw)


TABLE = np.zeros(50, [("a", "f8"), ("b", "i4")])
ONE, TWO, FOUR = np.zeros(50), np.zeros((50, 2)), np.zeros((50, 4))


@pytest.mark.parametrize(
    ("data", "estimator", "bounds", "due"),
    [
        (ONE, "mean", [LIMITS] * 2, "bounds must be one pair .lo, hi. for 'mean'"),
        (ONE, "median", [LIMITS], "bounds must be one pair .lo, hi. for 'median'"),
        (TWO, "var", LIMITS, "bounds must be a sequence of 2 pairs .* for 'var' .* got one pair"),
        (TWO, Quantile(0.1), [LIMITS] * 3, "bounds must be a sequence of 2 pairs .* of 3 pairs"),
        (ONE[:, None], "min", LIMITS, "bounds must be a sequence of 1 pair .lo, hi. for 'min'"),
        (TABLE, TrimmedMean(0.1), LIMITS, "bounds must be a sequence of 2 pairs"),
        (TWO, "correlation", [LIMITS], "bounds must be one pair"),
        (FOUR, "correlation", LIMITS, "bounds must be a sequence of 6 pairs"),
        (FOUR, "least-squares", [LIMITS] * 2, "bounds must be a sequence of 4 pairs"),
        (FOUR, LeastSquares(intercept=False), [LIMITS] * 4, "bounds must be a sequence of 3 pairs"),
        (TWO, LogisticRegression(intercept=False), [LIMITS] * 2, "bounds must be .* of 1 pair "),
        (ONE, "correlation", LIMITS, "data must be rows of two columns or more"),
        (ONE, "least-squares", [LIMITS], "data must be rows of a target and at least one feature"),
        (TWO, LeastSquares(2), [LIMITS] * 2, "target must be from -2 to 1, got 2"),
        (TWO, LogisticRegression(-3), [LIMITS] * 2, "target must be from -2 to 1, got -3"),
        (TWO, LeastSquares("y"), [LIMITS] * 2, "target must be the index of a column.*no names"),
        (TABLE, LogisticRegression("y"), [LIMITS] * 2, r"target must be .* its name \(\('a', 'b'"),
        (TWO, "quantile", [LIMITS] * 2, r"estimator must be dpfast\.estimators\.Quantile\(q\)"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_spent(data, estimator, bounds, due):
    budget = dp.Budget(epsilon=1.0)
    with pytest.raises((ArgumentError, ArgumentTypeError), match=f"^{due}") as caught:
        release(data, estimator, bounds, budget=budget)
    assert len(str(caught.value).splitlines()) == 1
    assert budget.spent["epsilon"] == 0 and not budget.history


@pytest.mark.parametrize("estimator", [Mean(), Maximum(), Mode(), LeastSquares()])
@pytest.mark.parametrize("kind", ["U3", "S3", "M8[s]", ("f8", (2,)), "c16"])
def test_named_columns_must_be_numbers(estimator, kind):
    field = ("b", *kind) if isinstance(kind, tuple) else ("b", kind)
    with pytest.raises(ArgumentTypeError, match=r"^column 'b' of data must be numbers"):
        release(np.zeros(9, [("a", "f8"), field]), estimator, [LIMITS] * 2)
