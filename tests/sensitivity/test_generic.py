"""The open door: a user's own local sensitivity at a distance."""

import math
from itertools import pairwise

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpfast as dp
from dpfast import sensitivity
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError

from ..support.sensitivities import smooth_of

EXCESS = 1 + 2.0**-41


def by_definition(A, beta, last):
    return max(math.exp(-beta * k) * A(k) for k in range(last + 1))


def close(got, want):
    return want <= got * (1 + 1e-15) and got <= want * EXCESS * (1 + 1e-12)


@given(
    values=st.lists(st.floats(0, 1e6), min_size=1, max_size=60).map(sorted),
    beta=st.floats(1e-4, 20),
)
def test_every_way_to_stop(values, beta):
    last, top = len(values) - 1, max(values[-1], 1.0)

    def A(k):
        return values[min(k, last)]

    want = max(by_definition(A, beta, last), 2.0**-1022)
    assert close(sensitivity.smooth(A, beta=beta, stop=last), want)
    assert close(sensitivity.smooth(A, beta=beta, stop=last + 9), want)
    bounded = max(want, top * math.exp(-beta * (last + 1)))
    assert close(sensitivity.smooth(A, beta=beta, stop=last, most=top), bounded)


@pytest.mark.full
def test_compiled_functions_give_the_same():
    beta = 0.05
    data = np.sort(np.random.default_rng(0).random(500))
    m = 250

    def A(k, x):
        best = 0.0
        for t in range(k + 2):
            low, high = m + t - k - 1, m + t
            a = x[low - 1] if low >= 1 else 0.0
            b = x[high - 1] if high <= len(x) else 1.0
            best = max(best, b - a)
        return best

    plain = sensitivity.smooth(A, data, beta=beta, most=1.0)
    fast = numba.njit(A)
    compiled = sensitivity.smooth(fast, data, beta=beta, most=1.0)
    want = smooth_of(dp.Median, data, beta=beta, bounds=(0, 1), neighbors="replace")
    assert plain == compiled == pytest.approx(want, rel=2.0**-40)
    assert sensitivity.smooth(fast, data, beta=beta, stop=501) == compiled
    counted = sensitivity.smooth(numba.njit(lambda k: k + 1), beta=beta, stop=10_000)
    assert close(counted, by_definition(lambda k: k + 1, beta, 10_000))


def smoothness(A):
    """The largest growth of the result over all neighboring counts v of 30 rows."""
    S = [sensitivity.smooth(lambda k, v=v: A(v, k), beta=0.2, stop=40) for v in range(31)]
    ratio = max(max(a / b, b / a) for a, b in pairwise(S))
    covers = all(S[v] >= abs(v * (30 - v) - (v + 1) * (29 - v)) for v in range(30))
    return ratio <= math.exp(0.2) * EXCESS and covers


def test_a_proved_function_is_smooth_and_a_local_one_is_not():
    """Obligation 2: the local sensitivity at distance 0, taken for all k, is no such function."""
    assert smoothness(lambda v, k: min(abs(30 - 2 * v) + 2 * k + 1, 31))
    assert not smoothness(lambda v, k: abs(30 - 2 * v) + 1)
    assert not smoothness(lambda v, k: min(abs(30 - 2 * v) + k, 31))


def test_nothing_is_lost_where_the_weight_alone_would_vanish():
    got = sensitivity.smooth(lambda k: 1e300 if k == 1000 else 1e-30, beta=0.75, stop=1000)
    assert got == pytest.approx(math.exp(300 * math.log(10) - 750), rel=1e-11)
    assert sensitivity.smooth(lambda k: 0.0, beta=1, stop=3) >= 2.0**-1022


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, "no", None, 10**400])
def test_what_is_no_sensitivity(bad):
    with pytest.raises(DataError) as error:
        sensitivity.smooth(lambda k: bad, beta=1, stop=3)
    assert "no" not in str(error.value).split() and "inf" not in str(error.value)
    with pytest.raises(DataError):
        sensitivity.smooth(lambda k: 2.0, beta=1, stop=3, most=1)


def test_bad_arguments():
    with pytest.raises(ArgumentError, match="stop must be given"):
        sensitivity.smooth(lambda k: 1.0, beta=1)
    for compiled in (lambda k: (k, k), lambda k, x: x):
        with pytest.raises(ArgumentTypeError, match="statistic"):
            sensitivity.smooth(numba.njit(compiled), beta=1, stop=1)
