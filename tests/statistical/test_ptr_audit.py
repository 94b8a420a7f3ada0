"""Black-box lower bounds on what propose-test-release and smooth releases lose.

Passing proves nothing; failing is a bug. Each audit also has to catch a mechanism with a fault.
"""

import numpy as np
import pytest

import dpfast as dp
from dpfast.audit.binomial import at_least
from dpfast.statistics.ptr.proposal import DistanceTest

from ..support.sensitivities import smooth_of
from .kit import lower_bound, repeated


def passes_seldom(size=6000, delta=0.05):
    """Whether data at distance 0 pass no more often than delta allows."""
    data = np.r_[np.zeros(3), np.ones(3)]
    kw = dict(bounds=(0, 1), proposed=0.1, epsilon=1.0, delta=delta, neighbors="replace")
    found = repeated(lambda: dp.ptr.quantile(data, 0.5, **kw), size)
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


def smooth(data, size, S=1.0):
    """The trimmed mean of five rows, by a bound from outside."""
    value = np.sort(data)[1:4].mean()

    def bound(beta):
        return S * smooth_of(
            dp.TrimmedMean, data, proportion=0.2, beta=beta, bounds=(0, 1), neighbors="replace"
        )

    kw = dict(bounds=(0, 1), epsilon=1.0, neighbors="replace")
    return np.array(repeated(lambda: dp.smooth_release(value, bound, **kw), size))


FIVE = np.array([0.0, 0, 0, 0.01, 1]), np.array([0.0, 0, 0.01, 1, 1])


def test_a_smooth_release_loses_no_more_than_epsilon():
    assert lower_bound(*(smooth(x, 6000) for x in FIVE), 0.0) <= 1.0


def test_the_audit_catches_a_bound_that_is_too_small():
    assert lower_bound(*(smooth(x, 6000, 0.05) for x in FIVE), 0.0) > 1.0
