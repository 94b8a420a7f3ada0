"""Sensitivities of quantiles: by definition, by a quadratic twin, by their defining inequality."""

import math
from fractions import Fraction
from functools import partial
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpfast as dp
from dpfast._kernels.sensitivity import DIVIDE, FORWARD, MIRRORED, Column
from dpfast.errors import DataError
from dpfast.sensitivity.quantile import BETA_SLACK, SmoothBound
from dpfast.sensitivity.ranks import column, effective_floor, rank_rule, starts
from dpfast.summaries.order import Ranks

from ..reference.sensitivity import quantile as reference
from ..support.pairwise import pairwise, quick_rows
from ..support.sensitivities import EXCESS, close, local_of, smooth_of

HALF = Fraction(1, 2)
METHODS = [0, FORWARD, MIRRORED, DIVIDE | FORWARD, DIVIDE | MIRRORED]
QUANTILES = [Fraction(q) for q in ("0", "0.1", "1/4", "1/3", "0.5", "0.6", "3/4", "0.9", "1")]


def smooth(data, q, beta, lo, hi, neighbors="replace"):
    return smooth_of(dp.Quantile, data, q=q, beta=beta, bounds=(lo, hi), neighbors=neighbors)


@quick_rows(2)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_replace_equals_its_definition(n):
    kw = {"bounds": (-1, 9), "neighbors": "replace"}
    for m in range(1, n + 1):
        q = Fraction(m, n)
        universe = reference.Universe((-1, 0, 2, 5, 9), [n], q, "replace")
        if n <= 3:
            assert np.allclose(universe.smooth(0.3), universe.smooth_literally(0.3), rtol=1e-14)
        for beta in (0.05, 0.3, 1.0, 7.0):
            for data, want in zip(universe.datasets, universe.smooth(beta), strict=True):
                assert close(smooth(data, q, beta, -1, 9), want), (data, q, beta)
        for k in range(n + 2):
            for data, want in zip(universe.datasets, universe.at_distance[k], strict=True):
                assert local_of(dp.Quantile, data, q=q, at_distance=k, **kw) == want, (data, q, k)


def kernel(method):
    return lambda x, m, beta, lo, hi: Column(x, 1, len(x), lo, hi).smooth_replace(
        m, beta, effective_floor(0.0, lo, hi), method
    )


def mirrored_by_hand(x, m, beta, lo, hi):
    return kernel(FORWARD)(-x[::-1], len(x) + 1 - m, beta, -hi, -lo)


@pytest.fixture(scope="module")
def universes():
    found = []
    for n in range(1, 5):
        for m in range(1, n + 1):
            every = reference.Universe((-1, 0, 2, 5, 9), [n], Fraction(m, n), "replace")
            for beta in (0.05, 0.3, 1.0, 7.0):
                found.append((m, beta, np.array(every.datasets, float), every.smooth(beta)))
    return found


def agrees_with_its_definition(function, universes):
    return all(
        close(function(x, m, beta, -1.0, 9.0), want)
        for m, beta, data, wanted in universes
        for x, want in zip(data, wanted, strict=True)
    )


@pytest.mark.parametrize("function", [*map(kernel, METHODS), mirrored_by_hand])
def test_both_sides_equal_the_definition(function, universes):
    assert agrees_with_its_definition(function, universes)


@pytest.mark.parametrize(
    "fault",
    [
        lambda x, m, b, lo, hi: kernel(FORWARD)(-x[::-1], m, b, -hi, -lo),
        lambda x, m, b, lo, hi: kernel(FORWARD)(-x[::-1], max(1, len(x) - m), b, -hi, -lo),
        lambda x, m, b, lo, hi: kernel(FORWARD)(-x[::-1], len(x) + 1 - m, b, lo, hi),
        lambda x, m, b, lo, hi: kernel(FORWARD)(-x[::-1], len(x) + 1 - m, b, -hi, -x[0]),
        lambda x, m, b, lo, hi: kernel(FORWARD)(hi + lo - x, len(x) + 1 - m, b, lo, hi),
    ],
    ids=["rank kept", "rank off by one", "bounds kept", "bound lost", "order kept"],
)
def test_a_faulty_mirror_fails_the_same_test(fault, universes):
    assert not agrees_with_its_definition(fault, universes)


@quick_rows(1)
@pytest.mark.parametrize("q", QUANTILES)
def test_add_remove_equals_its_definition(q):
    most, compared = 8, set()
    universe = reference.Universe((0, 1, 3, 7), range(most + 1), q, "add-remove")
    for beta in (0.3, 0.8, 2.0):
        for data, want in zip(universe.datasets, universe.smooth(beta), strict=True):
            # Datasets of more than `most` rows are missing in the enumeration; they are at least
            # this far away, and matter only below this.
            if len(data) <= 5 and want >= 7 * math.exp(-beta * (most + 1 - len(data))):
                compared.add(len(data))
                assert close(smooth(data, q, beta, 0, 7, "add-remove"), want), (data, q, beta)
    assert compared == set(range(6))
    kw = {"bounds": (0, 7), "neighbors": "add-remove"}
    for k in range(5):
        for data, want in zip(universe.datasets, universe.at_distance[k], strict=True):
            if len(data) + k <= most:
                assert local_of(dp.Quantile, data, q=q, at_distance=k, **kw) == want, (data, q, k)


def test_no_rows_and_equal_bounds():
    """Under replacement nothing can change; under add-remove one row can change everything."""
    for q in (0, 0.5, 0.6, 1):
        assert smooth([], q, 0.1, 2, 5) == 0
        assert close(smooth([], q, 0.1, 2, 5, "add-remove"), 3.0)
        kw = {"q": q, "bounds": (2, 5), "at_distance": 3, "neighbors": "replace"}
        assert local_of(dp.Quantile, [], **kw) == 0
        for relation in ("replace", "add-remove"):
            given = {"beta": 0.1, "lo": 2.0, "hi": 5.0, "neighbors": relation, "floor": 0.5}
            found = SmoothBound(Fraction(q), **given).of(Ranks(np.array([])))
            assert found.value == (2 if q <= 0.5 else 5) and found.n == 0
            assert found.sensitivity >= 0.5
            assert smooth([1, 2, 3], q, 0.1, 2, 2, relation) == 0
            assert local_of(dp.Median, [1, 2], bounds=(2, 2), neighbors=relation) == 0


def test_the_lecture_formula_fails_the_same_test():
    """It is too small: 1 for the data 1 to 101, whatever beta is."""

    def agrees(function):
        return all(
            abs(function(range(1, 102), HALF, beta, 0, 102) - want) < 0.005 * want
            for beta, want in [(0.02, 18.766), (0.05, 7.7348), (0.1, 4.0657), (0.5, 1.2131)]
        )

    assert agrees(smooth) and agrees(reference.smooth_replace)
    assert not agrees(reference.lecture_formula)


def instances(count, seed, most):
    """(data, q, beta, lo, hi): heavy ties, gaps of all sizes, negatives, clipping, all betas."""
    rng = np.random.default_rng(seed)
    columns = (
        lambda n, b: rng.random(n), lambda n, b: rng.integers(-2, 3, n).astype(float),
        lambda n, b: rng.standard_cauchy(n) * 0.01, lambda n, b: np.repeat(rng.normal(), n),
        lambda n, b: np.exp(np.minimum(b * np.arange(n), 600)),
        lambda n, b: -np.cumsum(rng.exponential(size=n)),
        lambda n, b: 1e9 + rng.integers(0, 40, n) * 2.0**-23,
        lambda n, b: np.linspace(-1, 1, n) ** 3,
    )  # fmt: skip
    for t in range(count):
        n, beta = int(rng.integers(1, most)), float(10 ** rng.uniform(-6, 1))
        data = columns[t % 8](n, beta)
        spread = max(float(np.ptp(data)), 1e-3)
        lo, hi = float(data.min() - spread), float(data.max() + spread)
        if t % 3 == 0:  # let the bounds cut
            lo, hi = lo + 1.2 * spread, hi - 0.7 * spread
        yield data, QUANTILES[int(rng.integers(len(QUANTILES)))], beta, lo, hi


@pytest.mark.full
def test_replace_equals_the_twin():
    for data, q, beta, lo, hi in instances(6000, 0, 70):
        floor = effective_floor(0.0, lo, hi)
        want = max(reference.smooth_replace(data, q, beta, lo, hi), floor)
        found = Column(np.sort(data), 1, len(data), lo, hi)
        m = reference.rank(q, len(data))
        for method in METHODS:
            if beta < 1 or not method & DIVIDE:
                assert close(found.smooth_replace(m, beta, floor, method), want), method


@quick_rows(2)
@pytest.mark.parametrize("q", QUANTILES)
def test_add_remove_equals_the_twin(q):
    rng = np.random.default_rng(5)
    for n in (*range(1, 12), 23, 40):
        D = reference.pair_distances(q, n)
        for data, _, beta, lo, hi in instances(8, int(rng.integers(1 << 30)), 3):
            data = np.resize(data, n) + rng.integers(0, 2, n) * rng.random(n)
            want = reference.smooth_add_remove(data, D, beta, lo, hi)
            found = smooth(data, q, beta, lo, hi, "add-remove")
            assert close(found, max(want, effective_floor(0.0, lo, hi)))
            kw = {"q": q, "bounds": (lo, hi), "neighbors": "add-remove"}
            for k in (0, 1, 3, n, n + 2, 10**30):
                got = local_of(dp.Quantile, data, at_distance=k, **kw)
                assert got == reference.local_add_remove(data, D, k, lo, hi)


@pytest.mark.parametrize("q", [Fraction(1, 3), Fraction(9, 10), Fraction(1, 10**12), Fraction(1)])
def test_exact_starts(q):
    """The arrays of a window equal a search, also for denominators that do not fit in 64 bits."""
    window = Ranks(np.arange(50.0)).window(rank_rule(q), 3)
    for nudge in (0, Fraction(1, 10**40)):
        p = min(q + nudge, Fraction(1))
        levels, first = starts(p, window, 5)
        for rank, least in enumerate(levels.tolist(), first):
            if rank >= 1 and least < 10**6:
                assert reference.rank(p, least) == rank
                assert least == 1 or reference.rank(p, least - 1) < rank
    # Below 10**18 rows such a quantile is the minimum; the entry of rank 0 must not overflow.
    given = {"beta": 0.5, "bounds": (0.0, 1.0), "neighbors": "add-remove"}
    for tiny, size in product((Fraction(1, 10**20), Fraction(1, 2**63)), (0, 1, 30)):
        data = np.linspace(0.1, 0.9, size)
        least, found = (smooth_of(dp.Quantile, data, q=own, **given) for own in (0, tiny))
        assert found == least


def shapes(n, rng):
    e = np.arange(n) / n
    ramp = np.where(e < 0.5, e * 1e-9, np.exp(8 * (e - 1)))
    yield from (np.sort(rng.random(n)), e, np.sort(rng.integers(0, 50, n)) / 50)
    yield np.cumsum(rng.exponential(size=n)) / (2 * n)
    yield np.sign(e - 0.5) * (2 * e - 1) ** 2 / 2 + 0.5
    yield np.sign(e - 0.5) * np.sqrt(np.abs(2 * e - 1)) / 2 + 0.5
    yield from (np.exp(3 * e) / 30, ramp, 1 - ramp[::-1], np.where(e < 0.5, 0, 0.9) + e * 1e-3)


@quick_rows(1)
@pytest.mark.parametrize("n", [4500, 40_000])
def test_large_data_by_the_other_method(n):
    for x in shapes(n, np.random.default_rng(n)):
        found = Column(x, 1, n, 0.0, 1.0)
        for beta in (1e-9, 3 / n, 8 / n, 50 / n, 0.02):
            for m in (1, n // 3, n // 2, n):
                want = found.smooth_replace(m, beta, 2.0**-1000, DIVIDE | FORWARD)
                for method in METHODS:
                    got = found.smooth_replace(m, beta, 2.0**-1000, method)
                    assert abs(got / want - 1) < 2.0**-40


@quick_rows(2)
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("q", [Fraction(1, 10), HALF, Fraction(9, 10)])
def test_a_window_gives_what_all_the_data_give(q, relation):
    n, kw = 30_001, {"q": q, "bounds": (0, 1), "neighbors": relation}
    for x in shapes(n, np.random.default_rng(3)):
        shuffled = np.random.default_rng(4).permutation(x)
        everything = Ranks(x).window(rank_rule(q), n)
        found = column(everything, 0.0, 1.0)
        for beta in (0.5, 0.02, 2e-3):
            if relation == "replace":
                want = found.smooth_replace(rank_rule(q)(n), beta, 2.0**-1000)
            elif q == HALF:
                want = found.smooth_median(beta, 2.0**-1000)
            else:
                want = found.smooth_quantile(*starts(q, everything, n + 2), beta, 2.0**-1000)
            for data, is_sorted in ((shuffled, False), (x, True)):
                got = smooth_of(dp.Quantile, data, beta=beta, assume_sorted=is_sorted, **kw)
                assert abs(got / want - 1) < 2.0**-40


def test_the_floor():
    def bound(data, **kw):
        bound = SmoothBound(HALF, beta=0.5, lo=0.0, hi=1.0, neighbors="replace", **kw)
        return bound.of(Ranks(data)).sensitivity

    assert close(bound(np.zeros(1001)), math.exp(-0.5 * 500))
    assert bound(np.zeros(1001), floor=2.0**-40) == 2.0**-40
    assert bound(np.zeros(100_001)) == 2.0**-1000


def true_smooth_replace(x, m, beta):
    """S* as an mpmath number, from the pairs that float64 finds among the best."""
    i, j = np.arange(m + 1)[:, None], np.arange(m, len(x))[None, :]
    value = (x[j] - x[i]) * np.exp(-beta * np.maximum(j - i - 1, 0))
    best = 0
    for a, b in np.argwhere(value > value.max() * (1 - 1e-9)):
        gap = mpmath.mpf(x[m + b]) - mpmath.mpf(x[a])
        best = max(best, gap * mpmath.exp(-mpmath.mpf(beta) * int(m + b - a - 1)))
    return best


def test_never_below_and_hardly_above():
    with mpmath.workprec(150):
        for data, q, beta, lo, hi in instances(400, 11, 40):
            x, m = reference.extended(data, lo, hi), reference.rank(q, len(data))
            true, floor = true_smooth_replace(x, m, beta), effective_floor(0.0, lo, hi)
            column = Column(x[1:-1].copy(), 1, len(data), lo, hi)
            for method in METHODS if beta < 1 else METHODS[:3]:
                got = mpmath.mpf(column.smooth_replace(m, beta, floor, method))
                assert true < floor or true <= got <= true * EXCESS


@pytest.mark.parametrize("beta", [2.0**-50, 2.0**-46, 1e-12, 1e-3])
def test_near_ties_everywhere(beta):
    """All columns tie to the last bits: the envelope's calls are close, the result still holds."""
    n = 301
    t = np.arange(1, n + 1)
    with mpmath.workprec(150):
        rising = (t / 1.0, np.expm1(beta * t) / beta, 7 + np.expm1(beta * (t - 150)) / beta)
        for x in (*rising, *(-x[::-1] for x in rising)):
            lo, hi = float(x[0] - 1), float(x[-1] + 1)
            full = reference.extended(x, lo, hi)
            for m in (1, 151, 301):
                true = true_smooth_replace(full, m, beta)
                for method in METHODS[:3]:
                    got = Column(x.copy(), 1, n, lo, hi).smooth_replace(m, beta, 2.0**-900, method)
                    assert true <= mpmath.mpf(got) <= true * EXCESS


EXTREME = [
    np.nextafter(1e15, np.inf) + np.arange(9.0) * 0.125,
    np.arange(9.0) * 5e-324,
    np.array([-8e307, -1.0, 0.0, 1e-320, 5.0, 8e307]),
    np.array([-np.inf, -1.0, 3.0, np.inf, np.inf]),
]


@pairwise
@pytest.mark.parametrize("data", EXTREME)
@pytest.mark.parametrize("beta", [1e-300, 1e-17, 0.3, 700.0, 1e6, 1e300])
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_extreme_numbers(data, beta, relation):
    finite = data[np.isfinite(data)]
    for lo, hi in ((finite.min(), finite.max()), (-8e307, 8e307)):
        got = smooth(data, HALF, beta, lo, hi, relation)
        assert math.isfinite(got) and got >= local_of(
            dp.Median, data, bounds=(lo, hi), neighbors=relation
        )
        if relation == "replace":
            want = reference.smooth_replace(data, HALF, beta, lo, hi)
            floor = effective_floor(0.0, lo, hi)
            assert close(got, max(want, floor))


@pytest.mark.full
@given(
    data=st.lists(st.floats(-3, 3), min_size=1, max_size=12),
    new=st.floats(-3, 3),
    q=st.sampled_from(QUANTILES),
    beta=st.floats(1e-3, 3),
    relation=st.sampled_from(["replace", "add-remove"]),
)
@settings(max_examples=400, deadline=None)
def test_smooth_and_above_the_change_as_computed(data, new, q, beta, relation):
    lo, hi, other = -2.0, 2.5, [new, *data[1:]] if relation == "replace" else [new, *data]
    a, b = (smooth(d, q, beta, lo, hi, relation) for d in (data, other))
    assert a <= b * math.exp(beta + BETA_SLACK) and b <= a * math.exp(beta + BETA_SLACK)
    clipped = (tuple(sorted(min(max(v, lo), hi) for v in d)) for d in (data, other))
    first, second = (reference.quantile(d, q, lo, hi) for d in clipped)
    assert abs(first - second) <= min(a, b)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"])
def test_every_dtype_is_read_as_float64(dtype):
    x = np.sort(np.random.default_rng(1).integers(0, 100, 999).astype(dtype))
    for first, stop, m in ((1, 999, 1), (1, 999, 999), (1, 700, 300), (200, 999, 600)):
        values = x[first - 1 : stop]
        one, other = (Column(v, first, 999, 3.0, 80.0) for v in (values, values.astype("f8")))
        for method in METHODS:
            got = one.smooth_replace(m, 0.01, 1e-300, method)
            assert got == other.smooth_replace(m, 0.01, 1e-300, method)
    for q in (HALF, Fraction(3, 10)):
        got, due = (smooth(data, q, 0.05, 3, 80, "add-remove") for data in (x, x.astype("f8")))
        assert got == due
    data = 2**60 + np.arange(101)  # beyond 2**53
    due = reference.smooth_replace(data, HALF, 0.1, 0, 2.0**61)
    assert close(smooth(data, HALF, 0.1, 0, 2.0**61), due)


def test_missing_values():
    data = np.array([1.0, 2.0, np.nan, 5.0])
    kw = dict(beta=0.2, bounds=(0, 10))
    for call in (partial(smooth_of, beta=0.2), local_of):
        with pytest.raises(DataError, match="'lower'"):
            call(dp.Median, data, bounds=(0, 10), neighbors="replace")
    for nan, full in (("lower", [0, 1, 2, 5]), ("upper", [1, 2, 5, 10]), (4, [1, 2, 4, 5])):
        assert smooth_of(dp.Median, data, nan=nan, **kw) == smooth_of(dp.Median, full, **kw)
    assert smooth_of(dp.Median, data, **kw) == smooth_of(dp.Median, [1, 2, 5], **kw)
    found = SmoothBound(HALF, beta=0.2, lo=0.0, hi=10.0, neighbors="add-remove").of(Ranks(data))
    assert (found.missing, found.n, found.value) == (1, 3, 2)


def test_the_kernels_refuse_what_would_read_outside():
    x = np.arange(5.0)
    found = Column(x, 2, 9, 0.0, 1.0)
    for call, text in (
        *((partial(Column, x, *at, 0.0, 1.0), "ranks") for at in ((0, 5), (1, 4), (3, 6), (1, -1))),
        (lambda: Column(x[::2], 1, 3, 0.0, 1.0), "contiguous"),
        (lambda: Column(x, 1, 5, 1.0, 0.0), "lo"),
        *((partial(found.smooth_replace, m, 0.1, 1e-300), "window") for m in (1, 7)),
        (lambda: found.smooth_quantile(np.arange(3), 2, 0.1, 1e-300), "starts"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            call()
