"""Sensitivities of means, variances and ranges: all small datasets, twins, inequalities."""

import math
import operator
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.sensitivity import trimmed_add_remove
from dpfast.sensitivity.trimmed_add_remove import largest_pair

from ..reference.sensitivity import statistics as reference
from ..support.pairwise import quick_rows
from ..support.sensitivities import EXCESS, close, global_of, local_of, smooth_of

BETAS = (0.05, 0.3, 1.0, 7.0)
TENTH, FIFTH, FOUR = Fraction(1, 10), Fraction(1, 5), Fraction(2, 5)
HALF = Fraction(49, 100)
ADDED, REPLACE = {"neighbors": "add-remove"}, {"neighbors": "replace"}


def agrees(every, local, smooth, fits=close):
    kw = {"bounds": (every.lo, every.hi), "neighbors": "replace"}
    for k in range(7):
        for data, want in zip(every.datasets, every.at_distance[k], strict=True):
            if not fits(local(data, at_distance=k, **kw), want):
                return False
    for beta in BETAS:
        for data, want in zip(every.datasets, every.smooth(beta), strict=True):
            if not fits(smooth(data, beta=beta, **kw), want):
                return False
    return True


def about(most):
    """For bounds: not below, and not above by more than this factor."""
    return lambda got, want: want * (1 - 1e-13) <= got <= want * most * (1 + 1e-12)


def total(data, lo, hi):
    return sum(map(Fraction, data))


def is_smooth(every, beta, smooth):
    """Whether a bound is above the local sensitivity and obeys the inequality of smoothness."""
    values = np.array([smooth(d, beta=beta, bounds=(every.lo, every.hi)) for d in every.datasets])
    grow = math.exp(beta) * EXCESS * (1 + 1e-15)
    inside = [i for i, d in enumerate(every.datasets) if len(d) < every.most or len(every.links[i])]
    return bool(np.all(values >= every.local * (1 - 1e-15))) and all(
        np.all(values[i] <= grow * values[every.links[i]]) for i in inside
    )


@pytest.mark.parametrize("lo", [-9, -3, 0, 1])
def test_sum_add_remove(lo):
    every, kw = reference.Every(total, (lo, 2, 5), range(6), "add-remove"), {"bounds": (lo, 5)}
    want = global_of(dp.Sum, **kw)
    assert want == max(abs(lo), 5)
    for k in range(3):
        for data, largest in zip(every.datasets, every.at_distance[k], strict=True):
            if len(data) + k < every.most:
                assert largest == want == local_of(dp.Sum, data, at_distance=k, **kw)
                assert smooth_of(dp.Sum, data, beta=0.3, **kw) == want


@quick_rows(2)
@pytest.mark.parametrize("name", ["trimmed", "winsorized"])
@pytest.mark.parametrize("proportion", [0, TENTH, FIFTH, FOUR, HALF])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_trimmed_and_winsorized_means(n, proportion, name):
    domain = (-1, 0, 2, 5, 9) if n < 6 else (0, 1, 5, 9)
    every = reference.Every(getattr(reference, name)(proportion), domain, [n])
    kind = partial(KINDS[f"{name}_mean"], proportion=proportion)
    one_kept = n - 2 * math.floor(proportion * n) == 1
    fits = close if name == "trimmed" or one_kept or proportion == 0 else about(3.0)
    assert agrees(every, partial(local_of, kind), partial(smooth_of, kind), fits)
    got = global_of(kind, n, bounds=(every.lo, every.hi), neighbors="replace")
    assert close(got, every.at_distance[-1].max())


@quick_rows(2)
@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_variance(n, ddof):
    """A neighbor's new row may want to be the mean of the others."""
    domain = (-1, 0, 2, 5, 9) if n < 5 else (0, 1, 5, 8)
    finer = [Fraction(s, n - 1) for s in range(domain[0] * (n - 1), domain[-1] * (n - 1) + 1)]
    every = reference.Every(reference.variance(ddof), domain, [n], finer=finer)
    kw = {"ddof": ddof, "bounds": (domain[0], domain[-1]), "neighbors": "replace"}
    for data, want in zip(every.datasets, every.local, strict=True):
        assert close(local_of(dp.Variance, data, **kw), want), data
    assert close(global_of(dp.Variance, n, **kw), every.at_distance[-1].max())


@quick_rows(1)
@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_variance_at_distance(n, ddof):
    """A changed row goes to a bound or to the mean of the others, which is on the grid here."""
    hi = 3 * (n - 1)
    grid = range(hi + 1)
    full = reference.Every(reference.variance(ddof), grid, [n], finer=grid)
    keep = [i for i, d in enumerate(full.datasets) if all(x % (n - 1) == 0 for x in d)]
    full.datasets = [full.datasets[i] for i in keep]
    full.at_distance = [a[keep] for a in full.at_distance]
    local, smooth = partial(local_of, dp.Variance), partial(smooth_of, dp.Variance)
    assert agrees(full, partial(local, ddof=ddof), partial(smooth, ddof=ddof))


@quick_rows(2)
@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_std(n, ddof):
    """Upper bounds, which are smooth; the global one is exact."""
    replace = {"ddof": ddof, "neighbors": "replace"}

    def std(data, lo, hi):
        return math.sqrt(reference.variance(ddof)(data, lo, hi))

    def smooth(data, *, beta, bounds, times=1):
        return smooth_of(dp.Std, data, beta=times * beta, bounds=bounds, **replace)

    every = reference.Every(std, (-1, 0, 2, 5, 9), [n])
    local, own = partial(local_of, dp.Std, ddof=ddof), partial(smooth_of, dp.Std, ddof=ddof)
    assert agrees(every, local, own, about(math.inf))
    assert close(global_of(dp.Std, n, bounds=(-1, 9), **replace), every.at_distance[-1].max())
    # Twice the beta, and the root grows too fast.
    assert is_smooth(every, 0.4, smooth)
    assert n < 3 or not is_smooth(every, 0.2, partial(smooth, times=3))
    if n == 2:
        every = reference.Every(std, (0, 1, 3, 7), range(6), "add-remove")
        assert all(is_smooth(every, beta, own) for beta in (0.05, 0.5, 2.0))


@quick_rows(2)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_iqr_replace(n):
    every = reference.Every(reference.iqr, (-1, 0, 2, 5, 9) if n < 6 else (0, 1, 5, 9), [n])
    kw = {"bounds": (every.lo, every.hi), "neighbors": "replace"}
    if n >= 4:
        found = [local_of(dp.Iqr, data, **kw) for data in every.datasets]
        assert found == list(every.local)
    fits = about(2.0) if n > 2 else operator.ge
    assert agrees(every, partial(local_of, dp.Iqr), partial(smooth_of, dp.Iqr), fits)


def test_iqr_add_remove():
    every = reference.Every(reference.iqr, (0, 1, 3, 7), range(8), "add-remove")
    iqr = {"bounds": (0, 7), "neighbors": "add-remove"}
    for k in range(4):
        for data, want in zip(every.datasets, every.at_distance[k], strict=True):
            if len(data) + k <= every.most:
                assert want <= local_of(dp.Iqr, data, at_distance=k, **iqr) <= 7
    for beta in (0.8, 2.0):
        for data, want in zip(every.datasets, every.smooth(beta), strict=True):
            assert smooth_of(dp.Iqr, data, beta=beta, **iqr) >= want * (1 - 1e-13)
    assert is_smooth(every, 0.5, partial(smooth_of, dp.Iqr, neighbors="add-remove"))


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("end, q", [(dp.Minimum, 0), (dp.Maximum, 1)])
def test_extremes_are_quantiles(end, q, neighbors):
    kw = {"bounds": (0, 7), "neighbors": neighbors}
    assert global_of(end, **kw) == 7
    percentile, quantile = partial(dp.Percentile, q=100 * q), partial(dp.Quantile, q=q)
    assert local_of(percentile, [1, 3, 5], **kw) == local_of(end, [1, 3, 5], **kw)
    for data in ([], [3], [0, 1, 1], [1, 3, 7, 7, 2], np.arange(40) % 9):
        for k in range(4):
            one, other = (local_of(kind, data, at_distance=k, **kw) for kind in (end, quantile))
            assert one == other
        one, other = (smooth_of(kind, data, beta=0.3, **kw) for kind in (end, quantile))
        assert one == other


@pytest.fixture(scope="module")
def coming_and_going():
    return reference.Every(reference.mean, (0, 1, 3, 7), range(8), "add-remove")


def bounds_the_mean(every, at):
    """Whether ``at(n, k)`` is never below A(k), and is A(k) of the worst data."""
    worst = {}
    for data, k in product(range(len(every.datasets)), range(4)):
        n = len(every.datasets[data])
        if n + k <= every.most:
            worst[n, k] = max(every.at_distance[k][data], worst.get((n, k), 0))
    return all(close(at(*place), a) for place, a in worst.items())


def test_the_local_sensitivity_of_a_moving_mean_and_that_of_the_textbook(coming_and_going):
    """Which divides by n - k + 1, and by zero in the end."""
    every, kw = coming_and_going, {"bounds": (0, 7), "neighbors": "add-remove"}
    for k in range(6):
        for data, want in zip(every.datasets, every.at_distance[k], strict=True):
            if len(data) + k <= every.most:
                got = local_of(dp.Mean, data, at_distance=k, **kw)
                assert close(got, want) and got <= 7 / max(len(data) - k, 2) * (1 + 1e-12)
    textbook = reference.textbook_mean_at_distance
    assert bounds_the_mean(every, lambda n, k: 7 / max(n - k, 2))
    assert not bounds_the_mean(every, lambda n, k: textbook(n, min(k, n), 7))
    five = [i for i, d in enumerate(every.datasets) if len(d) == 5]
    worst = max(every.local[i] for i in five)
    assert worst == pytest.approx(1.4) and textbook(5, 0, 7) == pytest.approx(7 / 6)


smooth_mean = partial(smooth_of, dp.Mean, neighbors="add-remove")


def test_the_smooth_mean_is_smooth_and_that_of_the_textbook_is_not(coming_and_going):
    """Which is below the local sensitivity, and stops after a fixed number of distances."""
    assert all(is_smooth(coming_and_going, beta, smooth_mean) for beta in (0.01, 0.2, 0.5, 2.0))

    def textbook(data, *, beta, bounds):
        return reference.textbook_smooth_mean(len(data), beta, 7) if data else 7.0

    assert not is_smooth(coming_and_going, 0.2, textbook)
    # 200 distances are not enough where the last of all decides.
    stopped = reference.textbook_smooth_mean(2000, 0.0001, 1.0)
    assert smooth_mean(np.zeros(2000), beta=0.0001, bounds=(0, 1)) > 100 * stopped
    # At 1/n at the first distance it is too small by one row, whatever the steps.
    assert smooth_mean(np.zeros(5), beta=9.0, bounds=(0, 7)) >= 1.4 > 7 / 6


def test_the_trimmed_mean_equals_its_pairs_and_the_corner_pair_fails_the_same_test():
    def trimmed(data, share, beta, lo, hi):
        kw = {"proportion": share, "beta": beta, "bounds": (lo, hi), "neighbors": "replace"}
        return smooth_of(dp.TrimmedMean, data, **kw)

    for function, right in (trimmed, True), (partial(by_pairs, corner=True), False):
        bounds = (-0.5, 1.5)
        found = [close(function(*one, *bounds), by_pairs(*one, *bounds)) for one in instances()]
        assert all(found) == right


def test_equal_bounds_and_no_rows():
    for name in LOCAL:
        for data, bounds in (([1, 2, 3], (2, 2)), ([], (2, 5))):
            assert LOCAL[name](data, bounds=bounds) == 0
            assert SMOOTH[name](data, beta=0.1, bounds=bounds) == 0
    assert local_of(dp.Mean, [1], bounds=(2, 2)) == 0
    assert smooth_of(dp.Mean, [1], beta=1, bounds=(2, 2)) == 0
    assert close(local_of(dp.Mean, [], bounds=(2, 5)), 1.5)


KINDS = {
    "sum": dp.Sum, "mean": dp.Mean, "trimmed_mean": dp.TrimmedMean, "variance": dp.Variance,
    "winsorized_mean": dp.WinsorizedMean, "std": dp.Std, "iqr": dp.Iqr, "minimum": dp.Minimum,
    "maximum": dp.Maximum,
}  # fmt: skip
SMOOTH, LOCAL = (
    {name: partial(verb, kind, neighbors="replace") for name, kind in KINDS.items()}
    for verb in (smooth_of, local_of)
)
rows = st.lists(st.floats(-3, 12), min_size=1, max_size=25)


@quick_rows(1)
@pytest.mark.parametrize("name", list(SMOOTH))
@given(data=rows, place=st.integers(0, 24), new=st.floats(-3, 12), beta=st.floats(0.01, 5))
def test_neighbors_have_smooth_bounds(name, data, place, new, beta):
    """And the bound is the largest weighted local one.

    The winsorized sum and the quartiles may be larger: theirs are sums of largest ones.
    """
    other = [*data]
    other[place % len(data)] = new
    a, b = (SMOOTH[name](x, beta=beta, bounds=(0, 9)) for x in (data, other))
    assert a <= math.exp(beta) * EXCESS * (1 + 1e-14) * b
    want = max(
        math.exp(-beta * k) * LOCAL[name](data, bounds=(0, 9), at_distance=k)
        for k in range(len(data) + 2)
    )
    assert a >= want * (1 - 1e-12)
    assert name == "winsorized_mean" or a <= max(want, 1e-300) * (1 + 1e-12)


def by_pairs(data, proportion, beta, lo, hi, corner=False):
    """By definition. The fault to be caught: the corner pair, one rank too near, is taken along."""
    n = len(data)
    m = math.floor(proportion * n)
    kept = n - 2 * m
    x = [lo, *np.clip(np.sort(data), lo, hi), hi]
    return max(
        (x[j] - x[i]) * math.exp(-beta * (j - i - kept)) / kept
        for i in range(m + 2)
        for j in range(n - m, n + 2)
        if corner or j - i >= kept
    )


def instances():
    rng = np.random.default_rng(3)
    for t in range(150):
        n = int(rng.integers(1, 60))
        data = [rng.random(n), rng.integers(0, 5, n) / 4, rng.standard_cauchy(n)][t % 3]
        yield data, Fraction(int(rng.integers(0, 49)), 100), float(10 ** rng.uniform(-3, 0.7))


def test_a_second_window_where_the_first_does_not_decide():
    """Some 60 ranks beyond the ends the rows are 1e15 away, and that is worth more than all near.

    The first window is 20 / beta = 40 ranks wide; its lower bound shows that it is not enough.
    """
    n, beta, near, cut = 100_001, 0.5, 60, 10_000
    data = np.linspace(0, 1, n)
    data[: cut - near], data[n - cut + near :] = -1e15, 1e15
    x = np.sort(data)
    i, j = np.arange(cut - 200, cut + 1)[:, None], np.arange(n - cut - 1, n - cut + 200)
    spare = j - i - (n - 2 * cut)
    value = np.where(spare >= 0, (x[j] - x[i]) * np.exp(-beta * spare), 0.0)
    assert value[spare > 41].max() == value.max() > 2 * value[spare <= 41].max()
    kw = {"beta": beta, "bounds": (-1e15, 1e15), "neighbors": "replace"}
    got = smooth_of(dp.TrimmedMean, np.random.default_rng(0).permutation(data), **kw)
    assert close(got, value.max() / (n - 2 * cut))


@pytest.mark.parametrize("name", list(SMOOTH))
def test_nan(name):
    data = [1.0, math.nan, 3.0]
    for bounds in ((0, 9), (2, 2)):
        for call in (partial(SMOOTH[name], beta=1), LOCAL[name]):
            with pytest.raises(DataError):
                call(data, bounds=bounds)
    got = SMOOTH[name](data, beta=1, bounds=(0, 9), nan="upper")
    assert got == SMOOTH[name]([1.0, 9.0, 3.0], beta=1, bounds=(0, 9))


@pytest.mark.parametrize(
    "call, words",
    [
        *((partial(LOCAL[name], [1, 2], bounds=(0, 1), neighbors="add-remove"), "must be 'replace'")
          for name in ("trimmed_mean", "winsorized_mean", "variance")),
        (partial(smooth_of, dp.Variance, [1], ddof=2, beta=1, bounds=(0, 1), **REPLACE), "ddof"),
        (partial(smooth_of, dp.Variance, [1, 2], beta=1, bounds=(0, 1e200), **REPLACE), "overflow"),
        (partial(global_of, dp.Mean, 3, bounds=(0, 1)), "rows must be"),
        (partial(global_of, dp.Mean, bounds=(0, 1), **REPLACE), "rows must be"),
        *((partial(dp.sensitivity.smooth, dp.Median(bounds=(0, 1)), [1], beta=1, **kw), "left out")
          for kw in ({"stop": 3}, {"most": 2})),
        *((partial(dp.sensitivity.smooth, dp.Median(bounds=(0, 1)), *data, beta=1), "one argument")
          for data in ((), ([1], [2]))),
    ],
)  # fmt: skip
def test_bad_arguments(call, words):
    with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
        call()


def test_what_has_no_known_sensitivity():
    local, smooth = dp.sensitivity.local, partial(dp.sensitivity.smooth, beta=1)
    unknown, median = "statistic must be a statistic of known sensitivity", dp.Median
    for statistic, words in (
        (dp.Median, unknown),
        (dp.Quantiles(qs=[0.5], bounds=(0, 1)), unknown),
        (median(bounds="auto"), "bounds must be a pair"),
        (median(bounds=[(0, 1), (0, 2)]), r"bounds\[0\] must be a finite real number"),
        (dp.Mean(bounds=(0, 1), weight_bounds=(0, 2)), "weight_bounds must be left out"),
    ):
        for verb, *data in ((dp.sensitivity.global_,), (local, [0, 1]), (smooth, [0, 1])):
            with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
                verb(statistic, *data)


@pytest.mark.parametrize("equal, rows", [
    (True, [True, False, True, True, False]), (3, [3.0, math.nan, 1.0, 3.0, 7.0]),
    ("tea", ["tea", None, "ale", "tea", "tea"]),
])  # fmt: skip
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_proportion_is_the_mean_of_what_matches(equal, rows, neighbors):
    ones, verbs, kw = (
        [float(row == equal) for row in rows], dp.sensitivity, {"neighbors": neighbors},
    )  # fmt: skip
    mine, theirs = (
        (
            *(verbs.local(kind, data, at_distance=k, **kw) for k in (0, 2)),
            verbs.smooth(kind, data, beta=0.3, **kw),
            verbs.global_(kind, rows=5 if neighbors == "replace" else None, **kw),
        )
        for kind, data in ((dp.Proportion(equal=equal), rows), (dp.Mean(bounds=(0, 1)), ones))
    )
    assert mine == theirs


def test_no_statistic_inherits_the_numbers_of_another_untested():
    """A new kind of a statistic has other answers; here it is listed once it has its own test."""
    known = dp.extend.KnownSensitivity
    public = [kind for kind in map(partial(getattr, dp), dp.__all__) if isinstance(kind, type)]
    found = {kind for kind in public if issubclass(kind, known)}
    assert found == {*KINDS.values(), dp.Median, dp.Quantile, dp.Percentile, dp.Proportion}


SHARES = [Fraction(0), *(Fraction(*s) for s in ((1, 10), (1, 5), (1, 3), (2, 5), (49, 100)))]


def with_none(statistic):
    return lambda data, lo, hi: statistic(data, lo, hi) if data else Fraction(lo + hi, 2)


DOMAINS = {"many values": ((0, 1, 3, 9), range(6)), "many rows": ((0, 10), range(21))}
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
        assert is_smooth(every, beta, partial(smooth, proportion=share, **ADDED))


@quick_rows(1)
@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("size", list(DOMAINS))
def test_variance_of_moving_rows(size, ddof):
    every = reference.Every(reference.variance(ddof), *DOMAINS[size], "add-remove")

    def smooth(data, *, beta, bounds, times=1, part=1):
        kw = {"ddof": ddof, "bounds": bounds, **ADDED}
        return smooth_of(dp.Variance, data, beta=times * beta, **kw) / part

    for beta in BETAS:
        assert is_smooth(every, beta, smooth)
        assert beta > 0.1 or not is_smooth(every, beta, partial(smooth, times=2))
        assert not is_smooth(every, beta, partial(smooth, part=20))


FAULTS = {
    "none": (1.0, 1, None, None),
    "a third of a pair": (1.0, 1, "_pair", lambda *a, f=trimmed_add_remove._pair: f(*a) / 3),
    "ends do not move": (1.0, 1, "_ends", lambda *a: 1e-300),
    "as many rows as there are": (0.05, 1, "_over", lambda d, *_: 1 / max(1.0, float(d))),
    "another beta": (1.0, 2, None, None),
}


@pytest.mark.full
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_caught(fault, monkeypatch):
    beta, times, name, function = FAULTS[fault]
    if name:
        monkeypatch.setattr(trimmed_add_remove, name, function)
    statistic, smooth = MEANS["winsorized"]
    share = Fraction(1, 3)
    # Two values, and so many rows that what cannot vanish counts.
    every = reference.Every(with_none(statistic(share)), (0, 10), range(41), "add-remove")

    def bound(data, *, beta, bounds):
        return smooth(data, proportion=share, beta=times * beta, bounds=bounds, **ADDED)

    assert is_smooth(every, beta, bound) == (fault == "none")


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


@quick_rows(2)
@pytest.mark.parametrize("kind", ["mean", "total"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5])
def test_means_and_sums_under_replacement(n, kind):
    statistic, made = {"mean": (reference.mean, dp.Mean), "total": (total, dp.Sum)}[kind]
    every = reference.Every(statistic, (-1, 0, 2, 5, 9), [n])
    assert agrees(every, partial(local_of, made), partial(smooth_of, made))
    got = global_of(made, n, bounds=(-1, 9), neighbors="replace")
    assert close(got, every.at_distance[-1].max())


def test_exact_sums_do_not_lose_small_moves():
    data = np.random.default_rng(6).random(4001) * 1e-3 + 0.1
    exact, n, best = [Fraction(x) for x in np.sort(data)], len(data), 0
    total = sum(exact)
    for u in exact:
        c = (total - u) / (n - 1)
        up, down = max(1 - c, c) ** 2, (u - c) ** 2
        best = max(best, up - down, down)
    want = float(best * Fraction(n - 1, n * n))
    got = local_of(dp.Variance, data, bounds=(0, 1), neighbors="replace")
    assert want <= got <= want * (1 + 2.0**-43)
