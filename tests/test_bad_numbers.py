"""What is no release is called with everything that is no number: one of our errors, or an answer.

The releases have the same in `test_conformance.py`. Here are losses, conversions, limits, what is
computed from public numbers, noise, streams and learners: a bad argument gets one of the package's
errors with nothing behind it, whatever hangs on a hash, a length or a float.
"""

from __future__ import annotations

import inspect
import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DpfastError
from dpfast.rng import InsecureGenerator

from .battery import NO_RELEASES, UNHASHABLE

P = dp.privacy
X = np.linspace(0, 9, 50)
TABLE = np.stack([X, X], axis=1)
LABELS = (X > 3).astype(int)
COUNTS = np.array([5, 3, 2, 8])
QUERIES = np.array([[0, 1, 1, 0], [1, 0, 0, 1]])
BOX = [(0, 9)] * 2
PURE = P.Pure(1)

BAD = [
    None, math.nan, math.inf, -1, 0, "x", b"x", (), {1}, *UNHASHABLE, np.array([1, 2]), True, 1j,
    Decimal("sNaN"), Decimal("1e-5000"), 5e-324, 1e308, 10**400, Fraction(1, 10**400),
    PURE, P.ZCDP(1), P.Approx(1, 0.1), object(), int,
]  # fmt: skip


def fitted(make, *data):
    def call(**kw):
        return make(**kw).fit(*data, rng=InsecureGenerator(1))

    return call


def made(make, *first):
    def call(**kw):
        return make(*first, rng=InsecureGenerator(1), **kw)

    return call


def asked(**kw):
    stream = dp.online.SparseVector(
        positives=9, epsilon=1, granularity=0.5, rng=InsecureGenerator(1)
    )
    return stream.answer(3.0, **kw)


SULQ, ONLINE, NOISE = dp.sulq, dp.online, dp.noise
LAW = {"scale": 1.0, "size": 3, "granularity": 0.5}
#: A call for each, with the arguments of which one at a time is made bad.
CALLS = {
    "dp.Budget": (dp.Budget, {"epsilon": 1, "delta": 0.0, "neighbors": "replace", "name": "a"}),
    "dp.Budget of rho": (dp.Budget, {"rho": 1}),
    "dp.audit.recovery_bound": (dp.audit.recovery_bound, {"epsilon": 1, "delta": 0.1, "steps": 1}),
    "dp.audit.expected_recovery": (
        dp.audit.expected_recovery,
        {"n": 5, "queries": 10, "deviation": 1.0},
    ),
    "dp.privacy.Pure": (P.Pure, {"epsilon": 1}),
    "dp.privacy.Approx": (P.Approx, {"epsilon": 1, "delta": 0.1}),
    "dp.privacy.ZCDP": (P.ZCDP, {"rho": 1}),
    "dp.privacy.ZCDP.of_pure": (P.ZCDP.of_pure, {"pure": PURE}),
    "dp.privacy.ZCDP.within": (P.ZCDP.within, {"epsilon": 1, "delta": 0.1}),
    "dp.privacy.ZCDP.to_approx": (P.ZCDP(1).to_approx, {"delta": 0.1}),
    "dp.privacy.ZCDP.to_approx_delta": (P.ZCDP(1).to_approx_delta, {"epsilon": 9}),
    "dp.privacy.Pure.to_approx": (PURE.to_approx, {"delta": 0.1}),
    "dp.privacy.Draws": (P.Draws, {"epsilon": 1, "draws": 2, "bounded_range": False, "cells": 3}),
    "dp.privacy.Draws of answers": (P.Draws, {"epsilon": 1, "categories": 3}),
    "dp.privacy.loss": (P.loss, {"epsilon": 1, "delta": 0.1}),
    "dp.privacy.loss of rho": (P.loss, {"rho": 0.1}),
    "dp.privacy.float_down": (P.float_down, {"amount": 0.1}),
    "dp.privacy.range_within": (P.range_within, {"rho": 0.1}),
    "dp.privacy.pure_within": (P.pure_within, {"rho": 0.1}),
    "dp.privacy.laplace_within": (P.laplace_within, {"rho": 0.1, "draws": 1, "cells": 0}),
    "dp.privacy.compose": (lambda one: P.compose(one, PURE), {"one": PURE}),
    "dp.privacy.parallel": (
        lambda one, **kw: P.parallel(one, **kw),
        {"one": PURE, "neighbors": "replace", "parts": "content", "staying": [PURE]},
    ),
    "dp.privacy.group": (P.group, {"loss": PURE, "size": 2}),
    "dp.privacy.convert": (
        P.convert,
        {"amount": PURE, "given": "add-remove", "wanted": "replace"},
    ),
    "dp.privacy.post_processing": (P.post_processing, {"loss": PURE}),
    "dp.privacy.advanced_composition": (
        lambda one, delta: P.advanced_composition(one, delta=delta),
        {"one": PURE, "delta": 0.1},
    ),
    "dp.privacy.optimal_composition": (
        P.optimal_composition,
        {"loss": PURE, "times": 3, "delta": 0.1},
    ),
    "dp.privacy.optimal_composition for epsilon": (
        P.optimal_composition,
        {"loss": PURE, "times": 3, "epsilon": 2},
    ),
    "dp.privacy.Filter": (P.Filter, {"limit": PURE}),
    "dp.privacy.Filter.charge": (lambda loss: P.Filter(PURE).charge(loss), {"loss": PURE}),
    "dp.selection.expected_error": (
        dp.selection.expected_error,
        {"scores": [1, 2], "sensitivity": 1, "epsilon": 1, "mechanism": "exponential"},
    ),
    "dp.selection.probabilities": (
        dp.selection.probabilities,
        {"scores": [1, 2], "sensitivity": 1, "epsilon": 1, "monotone": False},
    ),
    "dp.selection.utility_bound": (
        dp.selection.utility_bound,
        {"candidates": 5, "sensitivity": 1, "epsilon": 1, "monotone": False, "t": 1.0},
    ),
    "dp.smooth_beta": (dp.smooth_beta, {"noise": "auto", "epsilon": 1, "delta": 0.0}),
    "dp.suggest_blocks": (
        dp.suggest_blocks,
        {"n": 1000, "bounds": (0, 1), "epsilon": 1, "bias": 0.1, "spread": 1.0},
    ),
    "dp.response.estimate_binary": (
        lambda **kw: dp.response.estimate_binary([1, 0], **kw),
        {"epsilon": 1},
    ),
    "dp.response.estimate_kary": (
        lambda **kw: dp.response.estimate_kary([1, 0], **kw),
        {"epsilon": 1, "categories": 3},
    ),
    "dp.response.estimate_unary": (
        lambda **kw: dp.response.estimate_unary(np.eye(3, dtype=bool), **kw),
        {"epsilon": 1},
    ),
    "dp.sulq.original_variance": (
        SULQ.original_variance,
        {"epsilon": 1, "delta": 0.1, "queries": 3},
    ),
    "dp.sulq.ID3Classifier": (
        fitted(lambda **kw: SULQ.ID3Classifier([0, 1], **kw), TABLE > 3, LABELS),
        {"classes": [0, 1], "epsilon": 1, "max_depth": 2, "neighbors": "replace"},
    ),
    "dp.sulq.KMeans": (
        fitted(lambda **kw: SULQ.KMeans(2, **kw), TABLE),
        {"bounds": BOX, "epsilon": 1, "delta": 0.0, "neighbors": "replace", "max_iter": 2},
    ),
    "dp.sulq.PCA": (
        fitted(SULQ.PCA, TABLE),
        {"n_components": 1, "bounds": BOX, "epsilon": 1, "neighbors": "replace"},
    ),
    "dp.sulq.TruncatedSVD": (
        fitted(SULQ.TruncatedSVD, TABLE),
        {"n_components": 1, "bounds": BOX, "epsilon": 1, "neighbors": "replace"},
    ),
    "dp.sulq.LinearRegression": (
        fitted(SULQ.LinearRegression, TABLE, X),
        {"bounds": BOX, "y_bounds": (0, 9), "epsilon": 1, "neighbors": "replace"},
    ),
    "dp.sulq.NaiveBayes": (
        fitted(SULQ.NaiveBayes, TABLE, LABELS),
        {"bounds": BOX, "classes": [0, 1], "epsilon": 1, "neighbors": "replace"},
    ),
    "dp.sulq.Perceptron": (
        fitted(SULQ.Perceptron, TABLE, 2 * LABELS - 1),
        {"radius": 20, "epsilon": 1, "max_iter": 2, "neighbors": "replace"},
    ),
    "dp.sulq.NoisySums": (
        made(SULQ.NoisySums, X),
        {"epsilon": 1, "queries": 2, "delta": 0.0, "neighbors": "replace"},
    ),
    "dp.sulq.StatisticalQueryOracle": (
        made(SULQ.StatisticalQueryOracle, X),
        {"tolerance": 0.5, "queries": 2, "confidence": 0.9, "epsilon": 9, "neighbors": "replace"},
    ),
    "dp.online.AboveThreshold": (
        ONLINE.AboveThreshold,
        {"threshold": 5, "sensitivity": 1, "epsilon": 1},
    ),
    "dp.online.SparseVector": (
        ONLINE.SparseVector,
        {"positives": 2, "threshold": 5, "sensitivity": 1, "epsilon": 1, "answers": False},
    ),
    "dp.online.SparseVector.answer": (asked, {"threshold": 1.0}),
    "dp.online.MWEM": (
        made(ONLINE.MWEM, COUNTS, QUERIES),
        {"rounds": 2, "epsilon": 1, "delta": 0.0, "replays": 1, "average": False},
    ),
    "dp.online.MedianMechanism": (
        made(ONLINE.MedianMechanism, COUNTS * 1000),
        {"epsilon": 9, "queries": 3, "accuracy": 0.3, "size": 3, "candidates": 5},
    ),
    "dp.online.PrivateMultiplicativeWeights": (
        made(ONLINE.PrivateMultiplicativeWeights, COUNTS * 1000),
        {"epsilon": 9, "delta": 0.0, "queries": 3, "accuracy": 0.3, "failure": 0.05},
    ),
    "dp.online.published": (
        ONLINE.published,
        {"universe": 5, "queries": 3, "epsilon": 1, "accuracy": 0.3},
    ),
    "dp.noise.laplace": (NOISE.laplace, LAW),
    "dp.noise.laplace of two": (NOISE.laplace, {"scale": [1.0, 2.0], "granularity": [0.5, 0.25]}),
    "dp.noise.gaussian": (NOISE.gaussian, LAW),
    "dp.noise.cauchy": (NOISE.cauchy, LAW),
    "dp.noise.student_t": (NOISE.student_t, {"df": 3, **LAW}),
    "dp.noise.polyplace": (NOISE.polyplace, {"shape": 3.0, **LAW}),
    "dp.noise.arsinh_normal": (NOISE.arsinh_normal, {"sigma": 1.0, **LAW}),
    "dp.noise.generalized_cauchy": (NOISE.generalized_cauchy, {"gamma": 4, **LAW}),
    "dp.noise.discrete_laplace": (NOISE.discrete_laplace, {"scale": 1.0, "size": 3}),
    "dp.noise.discrete_gaussian": (NOISE.discrete_gaussian, {"sigma": 1.0, "size": 3}),
}  # fmt: skip


def functions(module):
    for name in module.__all__:
        found = getattr(module, name)
        if inspect.isfunction(found) or inspect.isclass(found):
            yield f"dp.{module.__name__.removeprefix('dpfast.')}.{name}"


def test_none_is_left_out():
    """Whatever takes an epsilon and is no release, all of `dp.privacy` and all noise."""
    needed = {*NO_RELEASES, *functions(dp.privacy), *functions(dp.noise)}
    # A type of losses, an adapter with a library behind it, and what kernels are called with.
    needed -= {"dp.privacy.LossDistribution", "dp.noise.draw", "dp.noise.draw_array"}
    assert needed <= set(CALLS)


def foreign(call, arguments):
    """The bad arguments that get another error than ours, or one with a history."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(**arguments)
        for name in arguments:
            for bad in BAD:
                try:
                    call(**{**arguments, name: bad})
                except DpfastError as error:
                    shown = error.__cause__
                    if not error.__suppress_context__:
                        shown = error.__context__
                    if shown is not None:
                        found.append((name, repr(bad), "a history", repr(shown)))
                except Exception as error:
                    found.append((name, repr(bad), repr(error)))
    return found


@pytest.mark.parametrize("name", CALLS)
def test_a_bad_argument_gets_one_of_our_errors(name):
    assert foreign(*CALLS[name]) == []


def test_a_foreign_error_is_found():
    """The faults: arguments that are looked up before they are looked at, and a shown history."""

    def hashed(epsilon):
        return {1: 2}.get(epsilon)

    def explained(epsilon):
        try:
            return float(epsilon)
        except Exception as error:
            raise ArgumentError("epsilon must be a number") from error

    assert len(foreign(hashed, {"epsilon": 1})) >= len(UNHASHABLE)
    assert len(foreign(explained, {"epsilon": 1})) > 5


@pytest.mark.parametrize("word", ["range_within", "pure_within", "laplace_within", "float_down"])
def test_what_is_no_fraction_is_read_as_it_is_written(word):
    within = getattr(dp.privacy, word)
    assert within(0.1) == within(Fraction(1, 10)) == within(Decimal("0.1"))
    for bad in (PURE, "0.1", None, [0.1], True):
        with pytest.raises(ArgumentTypeError, match=r"(rho|amount) must be a finite real number"):
            within(bad)
    with pytest.raises(ArgumentError, match="must be"):
        within(math.nan)


@pytest.mark.parametrize(
    "scale, grid", [([1, 2], ()), ([1, 2], [1, 1, 1]), ([[1, 2]] * 3, [1] * 3)]
)
def test_a_granularity_of_another_shape(scale, grid):
    with pytest.raises(ArgumentError, match="granularity must be of a shape that goes with"):
        dp.noise.laplace(scale, granularity=grid)


def test_one_quantile_is_not_many():
    """An epsilon that is too small for one median is not said to be so for their number."""
    for epsilon in (5e-324, Fraction(1, 10**400)):
        with pytest.raises(ArgumentError, match="epsilon must be larger") as caught:
            dp.median([1.0], bounds=(0, 1), epsilon=epsilon)
        assert "quantiles" not in str(caught.value) and "draws" not in str(caught.value)
    with pytest.raises(ArgumentError, match="larger for 2 draws that share it"):
        dp.quantiles([1.0], [0.3, 0.6], bounds=(0, 1), epsilon=5e-324)
