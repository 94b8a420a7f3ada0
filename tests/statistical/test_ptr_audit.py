"""Black-box lower bounds on what propose-test-release and smooth releases lose.

Passing proves nothing; failing is a bug. Each audit also has to catch a mechanism with a fault.
"""

import numpy as np
import pytest

import dpfast as dp
from dpfast.audit.binomial import at_least
from dpfast.statistics.ptr.proposal import DistanceTest

from ..support.pairwise import quick_rows
from ..support.sensitivities import smooth_of
from . import repeated
from .kit import lower_bound


def answers(call, data, size):
    """Answers as numbers, "no answer" as one far beyond them."""
    found = repeated.answers(lambda: call(data), size)
    return np.array([1e9 if x is dp.NO_ANSWER else x for x in found])


KW = dict(bounds=(0, 1), epsilon=1.0, delta=0.01)
#: Beside the threshold, so that half of the data pass, and the answers differ by the proposal.
NEAR = {
    "quantile": (
        lambda x: dp.ptr.quantile(x, 0.5, proposed=0.5, **KW, neighbors="replace"),
        np.r_[np.zeros(9), np.ones(9)],
        np.r_[np.zeros(10), np.ones(8)],
    ),
    "iqr": (
        lambda x: dp.ptr.iqr(x, proposed=0.25, **KW, neighbors="replace"),
        np.r_[np.zeros(10), 0.25 * np.ones(20), 0.5 * np.ones(10)],
        np.r_[np.zeros(9), 0.25 * np.ones(21), 0.5 * np.ones(10)],
    ),
    "iqr without a scale": (
        lambda x: dp.ptr.iqr(x, ratio=2, **{"neighbors": "replace", **KW, "bounds": (0, 8)}),
        np.r_[np.zeros(14), np.full(6, 1.0), np.full(17, 2.0), np.full(3, 4.0)],
        np.r_[np.zeros(14), np.full(6, 1.0), np.full(16, 2.0), np.full(4, 4.0)],
    ),
    "release": (
        lambda x: dp.ptr.release(
            x,
            lambda d: d[0],
            lambda d, b: d[1],
            proposed=0.5,
            **{"neighbors": "replace", **KW, "bounds": (0, 1)},
        ),
        (0.0, 8),
        (0.5, 9),
    ),
    "mean": (
        lambda x: dp.ptr.mean(x, proposed=0.05, neighbors="add-remove", **KW),
        np.zeros(27),
        np.r_[np.zeros(27), 1.0],
    ),
}


@quick_rows(1)
@pytest.mark.parametrize("name", list(NEAR))
def test_neighbors_lose_no_more_than_epsilon_and_delta(name):
    call, a, b = NEAR[name]
    got = [answers(call, x, 6000) for x in (a, b)]
    assert lower_bound(*got, 0.01) <= 1.0


def passes_seldom(size=6000, delta=0.05):
    """Whether data at distance 0 pass no more often than delta allows."""
    data = np.r_[np.zeros(3), np.ones(3)]
    kw = dict(bounds=(0, 1), proposed=0.1, epsilon=1.0, delta=delta, neighbors="replace")
    found = repeated.answers(lambda: dp.ptr.quantile(data, 0.5, **kw), size)
    hits = sum(answer is not dp.NO_ANSWER for answer in found)
    return at_least(hits, size, 1e-6) <= delta


def test_data_that_should_be_refused_pass_no_more_often_than_delta():
    assert passes_seldom()


@pytest.mark.parametrize(
    "fault", ["the textbook's threshold", "two less", "the whole epsilon for the threshold"]
)
def test_the_audit_catches_thresholds_that_are_too_low(fault, monkeypatch):
    right = DistanceTest(dp.privacy.Pure(0.5).epsilon, dp.privacy.Approx(1, 0.05).delta).threshold
    wrong = {
        "the textbook's threshold": int(np.log(2 / 0.05) / 2),
        "two less": right - 2,
        "the whole epsilon for the threshold": int(np.log(1 / 0.1)),
    }[fault]
    monkeypatch.setattr(DistanceTest, "threshold", wrong)
    assert not passes_seldom()  # "two less" is missed with a probability of 2e-9


def test_the_audit_catches_too_little_noise():
    """The planted fault: answers with a fifth of the noise, for a test that mostly passes."""
    kw = dict(proposed=0.05, bounds=(0, 1), epsilon=1.0, delta=0.01)
    data = [np.zeros(60), np.r_[np.zeros(60), 1.0]]
    true = [0.0, 1 / 61]

    def fifth(x, centre):
        found = answers(lambda d: dp.ptr.mean(d, **kw), x, 3000)
        return np.where(found < 1e9, centre + (found - centre) / 30, found)

    got = [fifth(x, c) for x, c in zip(data, true, strict=True)]
    assert lower_bound(*got, 0.01) > 1.0


def smooth(data, size, S=1.0):
    """The trimmed mean of five rows, by a bound from outside."""
    value = np.sort(data)[1:4].mean()

    def bound(beta):
        return S * smooth_of(
            dp.TrimmedMean, data, proportion=0.2, beta=beta, bounds=(0, 1), neighbors="replace"
        )

    kw = dict(bounds=(0, 1), epsilon=1.0, neighbors="replace")
    return np.array(repeated.answers(lambda: dp.smooth_release(value, bound, **kw), size))


FIVE = np.array([0.0, 0, 0, 0.01, 1]), np.array([0.0, 0, 0.01, 1, 1])


def test_a_smooth_release_loses_no_more_than_epsilon():
    assert lower_bound(*(smooth(x, 6000) for x in FIVE), 0.0) <= 1.0


def test_the_audit_catches_a_bound_that_is_too_small():
    assert lower_bound(*(smooth(x, 6000, 0.05) for x in FIVE), 0.0) > 1.0
