"""Bounds for statistics where rows come and go: by the definition of a smooth bound, and twins."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpfast as dp
from dpfast.sensitivity import trimmed_add_remove
from dpfast.sensitivity.trimmed_add_remove import largest_pair

from ..reference.sensitivity import statistics as reference
from ..support.pairwise import quick_rows
from ..support.sensitivities import smooth_of

BETAS = (0.05, 0.3, 1.0, 3.0)
SHARES = [Fraction(0), *(Fraction(*s) for s in ((1, 10), (1, 5), (1, 3), (2, 5), (49, 100)))]
DOMAINS = {"many values": ((0, 1, 3, 9), range(7)), "many rows": ((0, 10), range(21))}


def with_none(statistic):
    """The mean of no rows is the middle."""
    return lambda data, lo, hi: statistic(data, lo, hi) if data else Fraction(lo + hi, 2)


def is_smooth_bound(every, bound, beta):
    """Whether `bound` is one, of all datasets and all their neighbors among them."""
    got = np.array([bound(data, bounds=(every.lo, every.hi)) for data in every.datasets])
    if not np.all(got >= every.local * (1 - 1e-13)):
        return False
    grown = [(got[link] / got[i]).max() for i, link in enumerate(every.links) if len(link)]
    return max(grown) <= math.exp(beta) * (1 + 2.0**-41)


MEANS = {
    "trimmed": (reference.trimmed, partial(smooth_of, dp.TrimmedMean)),
    "winsorized": (reference.winsorized, partial(smooth_of, dp.WinsorizedMean)),
}


@quick_rows(1)
@pytest.mark.parametrize("size", list(DOMAINS))
@pytest.mark.parametrize("share", SHARES, ids=str)
@pytest.mark.parametrize("name", list(MEANS))
def test_means(name, share, size):
    statistic, smooth = MEANS[name]
    every = reference.Every(with_none(statistic(share)), *DOMAINS[size], "add-remove")
    for beta in BETAS:

        def bound(data, bounds, b=beta):
            return smooth(data, proportion=share, beta=b, bounds=bounds, neighbors="add-remove")

        assert is_smooth_bound(every, bound, beta)


@quick_rows(1)
@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("size", list(DOMAINS))
def test_variance(size, ddof):
    every = reference.Every(reference.variance(ddof), *DOMAINS[size], "add-remove")
    for beta in BETAS:

        def bound(data, bounds, b=beta):
            return smooth_of(
                dp.Variance, data, ddof=ddof, beta=b, bounds=bounds, neighbors="add-remove"
            )

        assert is_smooth_bound(every, bound, beta)
        if beta < 0.1:
            assert not is_smooth_bound(every, lambda d, bounds: bound(d, bounds, 2 * beta), beta)  # noqa: B023
        assert not is_smooth_bound(every, lambda d, bounds: bound(d, bounds) / 20, beta)


def faulty(monkeypatch, fault):
    if fault == "a third of a pair":
        monkeypatch.setattr(
            trimmed_add_remove, "_pair", lambda *a, f=trimmed_add_remove._pair: f(*a) / 3
        )
    elif fault == "ends do not move":
        monkeypatch.setattr(trimmed_add_remove, "_ends", lambda *a: 1e-300)
    elif fault == "as many rows as there are":
        monkeypatch.setattr(
            trimmed_add_remove, "_over", lambda d, slope, beta: 1 / max(1.0, float(d))
        )


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize(
    "fault",
    ["none", "a third of a pair", "ends do not move", "as many rows as there are", "another beta"],
)
def test_faults_are_caught(fault, monkeypatch):
    faulty(monkeypatch, fault)
    statistic, smooth = MEANS["winsorized"]
    share = Fraction(1, 3)
    beta = 0.05 if fault == "as many rows as there are" else 1.0
    # Two values, and so many rows that what cannot vanish counts.
    every = reference.Every(with_none(statistic(share)), (0, 10), range(41), "add-remove")

    def bound(data, bounds):
        used = 2 * beta if fault == "another beta" else beta
        return smooth(data, proportion=share, beta=used, bounds=bounds, neighbors="add-remove")

    assert is_smooth_bound(every, bound, beta) == (fault == "none")


@pytest.mark.full
@settings(deadline=None, max_examples=200)
@given(
    lower=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=40),
    upper=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=40),
    ahead=st.floats(0, 1),
    rate=st.floats(1e-4, 20),
)
def test_the_largest_pair_is_the_twins(lower, upper, ahead, rate):
    lower, upper = -np.sort(-np.array(lower)), np.sort(upper) + 2e3
    weight = np.exp(-rate * np.maximum(np.arange(max(len(lower), len(upper))) - ahead, 0))
    every = np.outer(weight[: len(lower)], weight[: len(upper)]) * (upper - lower[:, None])
    want, got = every.max(), largest_pair(lower, upper, weight)
    assert want * (1 - 2.0**-43) <= got <= want * (1 + 2.0**-50)


@quick_rows(2)
@pytest.mark.parametrize("name", list(MEANS))
@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 10), Fraction(2, 5)], ids=str)
def test_a_window_is_as_good_as_all_rows(name, share, monkeypatch):
    """The same to the last bit, whether ranks are found by pivots or the data are sorted."""
    smooth = MEANS[name][1]
    x = np.exp(np.random.default_rng(0).normal(10, 1, 60_000))
    for beta in (0.05, 1.0):
        kw = dict(proportion=share, beta=beta, bounds=(0, 1e6), neighbors="add-remove")
        got = smooth(x, **kw)
        monkeypatch.setattr(trimmed_add_remove, "first_width", lambda *a: 1 << 20)
        assert smooth(x, **kw) == pytest.approx(got, rel=1e-12)
        monkeypatch.undo()
        # With rows enough it is what one replaced row asks for, or less.
        if share:
            del kw["neighbors"]
            assert 0.4 < got / smooth(x, **kw) < 1.05


@pytest.mark.parametrize("beta", [0.02, 0.1, 0.5])
def test_from_some_hundred_over_beta_rows_on_it_costs_nothing_that_rows_come_and_go(beta):
    def ratios(n):
        rows = np.linspace(25, 75, n)
        for _, function in MEANS.values():
            given = {"proportion": 0.1, "beta": beta, "bounds": (0, 100)}
            replaced = function(rows, neighbors="replace", **given)
            yield function(rows, neighbors="add-remove", **given) / replaced

    assert max(ratios(math.ceil(100 / beta))) < 1.05
    assert min(ratios(math.ceil(10 / beta))) > 2  # of fewer it does
