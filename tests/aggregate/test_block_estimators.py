"""Named estimators that need a block side by side: order statistics, mode, logistic regression."""

from __future__ import annotations

import math
import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfast._kernels import aggregate as native
from dpfast._kernels.tables import Key
from dpfast.aggregate.blocks.layout import Window
from dpfast.aggregate.blocks.tallies import Totals
from dpfast.aggregate.estimators import (
    LogisticRegression,
    Median,
    Mode,
    Quantile,
    TrimmedMean,
)
from dpfast.aggregate.estimators.base import BLOCKS, ROWS, Job, by_groups
from dpfast.tables.data import as_rows

from ..reference.aggregate import estimators as twin
from ..support.pairwise import every_value, quick_rows
from ..support.paths import on_every_path, run

KEY = Key(bytes(range(32)))
ORDERED = [Median(), Quantile(0.1), Quantile(0.9, "lower"), TrimmedMean(0.1), Mode()]


def answers(estimator, rows, offsets=None, job=None):
    """The answers of blocks of `rows`, by default of all rows as one block."""
    source = as_rows(rows)
    offsets = np.array([0, len(rows)] if offsets is None else offsets, np.int64)
    form = source.width if source.dtype.names is None else len(source.dtype.names)
    if isinstance(estimator, LogisticRegression):
        form = form - 1 + estimator.intercept
    bound = estimator.bind(source, form)
    found = np.full((len(offsets) - 1, bound.d), np.nan)
    before = rows.copy()
    bound.fill(Window(0, rows, offsets, False), found, job or Job())
    assert rows.tobytes() == before.tobytes()  # rows are only read
    return found


def one(estimator, rows):
    return float(answers(estimator, np.asarray(rows))[0, 0])


def due(estimator, block):
    """What the plain twin says."""
    block = [float(v) for v in block]
    if isinstance(estimator, Median):
        return twin.median(block)
    if isinstance(estimator, Quantile):
        return twin.quantile(block, estimator.q, estimator.method)
    if isinstance(estimator, TrimmedMean):
        return twin.trimmed_mean(block, estimator.proportion)
    return twin.mode(block)


def assert_close(found, expected, block, name=""):
    """Equal, but for a few roundings at the size of the values of the block."""
    if found == expected or (math.isnan(found) and math.isnan(expected)):
        return
    size = max(abs(float(v)) for v in block if math.isfinite(v))
    assert abs(found - expected) <= 4 * math.ulp(min(size, 1.7e308)), (name, len(block))


def offsets_of(sizes):
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


# --- order statistics and the mode, by definition -------------------------------------------------

RNG = np.random.default_rng(4)


def shapes(n):
    """Rows that mislead a selection."""
    up = np.arange(n, dtype=np.float64)
    half = np.arange((n + 1) // 2, dtype=np.float64)
    yield "sorted", up
    yield "reversed", up[::-1].copy()
    yield "organ pipe", np.concatenate([half, half[::-1]])[:n]
    yield "valley", np.concatenate([half[::-1], half])[:n]
    yield "equal", np.full(n, 7.5)
    yield "two values", RNG.integers(0, 2, n).astype(np.float64)
    yield "few values", RNG.integers(0, 5, n).astype(np.float64)
    yield "one apart", np.where(up == n // 3, -1.0, 3.0)
    yield "saw", up % 17
    yield "zeros", np.where(RNG.random(n) < 0.5, -0.0, 0.0)
    yield "zeros and ones", np.copysign(RNG.integers(0, 2, n), RNG.random(n) - 0.5)
    yield "infinite", RNG.choice([-np.inf, np.inf, 0.0, 1.0], n)
    yield "all powers", np.ldexp(RNG.random(n) - 0.5, RNG.integers(-1070, 1020, n))
    yield "largest", RNG.choice([-1.7e308, 1.7e308, 1.6e308], n)
    yield "smallest", RNG.choice([-5e-324, 5e-324, 0.0, 1e-323], n)
    yield "normal", RNG.normal(size=n)
    yield "heavy", RNG.standard_cauchy(n)


SIZES = [*range(1, 20), 31, 32, 33, 63, 64, 65, 66, 100, 127, 255, 256, 257, 1023, 1024, 1025, 3000]


@quick_rows(2)
@pytest.mark.parametrize("estimator", ORDERED, ids=lambda e: e.name)
def test_equal_to_the_definition_on_misleading_rows(estimator):
    for n in SIZES:
        for name, rows in shapes(n):
            assert_close(one(estimator, rows), due(estimator, rows), rows, name)


@every_value
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 1000, 2047, 2048, 8000, 40_000])
@pytest.mark.parametrize("effort", [0, 1, 2, native.EFFORT])
def test_every_rank_is_a_value_of_the_sorted_rows(n, effort):
    """Whatever work the brackets are allowed, before radix selection takes over."""
    scratch = np.empty(n + native.SPARE)
    for name, rows in shapes(n):
        ordered = np.sort(rows)
        for rank in sorted({0, 1, n // 10, (n - 1) // 2, n // 2, n - 2, n - 1}):
            if not 0 <= rank < n:
                continue
            lower, upper = np.empty((2, 1))
            ranks = np.array([rank])
            native.pairs(rows, offsets_of([n]), ranks, scratch, lower, upper, effort)
            assert lower[0] == ordered[rank], (name, rank)
            assert upper[0] == ordered[min(rank + 1, n - 1)], (name, rank)
            # A zero has no sign, so that the bits do not depend on which of two was met.
            assert not (np.signbit(lower) & (lower == 0)).any()


def sampled(n):
    """The places that the first sample of n rows is taken from (csrc/aggregate/select.c)."""
    size = 64 if n < 2048 else 256 if n < 32_768 else 1024
    stretch = n // size
    i = np.arange(size, dtype=np.uint64)
    return i * stretch + ((i * 2654435769 % 2**32) * stretch >> 32)


@pytest.mark.parametrize("n", [100, 1000, 5000, 20_000, 70_000])
def test_rows_made_against_the_sample(n):
    """Each sample is made of the largest rows, or the smallest: brackets miss, answers do not."""
    for sign in (1, -1):
        rows = RNG.normal(size=n)
        places = sampled(n)
        rows[places.astype(np.int64)] = sign * (100 + RNG.random(len(places)))
        left = np.delete(np.arange(n), places.astype(np.int64))
        if len(left) > 64:  # and the sample of what the first miss leaves
            inner = left[sampled(len(left)).astype(np.int64)]
            rows[inner] = sign * (50 + RNG.random(len(inner)))
        for effort in (0, 1, 3, native.EFFORT):
            lower, upper = np.empty((2, 1))
            scratch = np.empty(n + native.SPARE)
            rank = (n - 1) // 2
            native.pairs(rows, offsets_of([n]), np.array([rank]), scratch, lower, upper, effort)
            assert [lower[0], upper[0]] == np.sort(rows)[rank : rank + 2].tolist()


@pytest.mark.parametrize("effort", [0, 1, native.EFFORT])
def test_trimmed_values_are_those_of_the_sorted_rows(effort):
    for n in (1, 2, 3, 64, 65, 1000, 9000):
        for name, rows in shapes(n):
            for cut in {0, 1, n // 10, (n - 1) // 2}:
                if 2 * cut >= n:
                    continue
                out = np.empty(n - 2 * cut)
                scratch = np.empty(n + native.SPARE)
                native.trimmed(rows, offsets_of([n]), np.array([cut]), scratch, out, effort)
                np.testing.assert_array_equal(
                    np.sort(out), np.sort(rows)[cut : n - cut], err_msg=name
                )


@pytest.mark.full
@quick_rows(2)
@pytest.mark.parametrize("estimator", ORDERED, ids=lambda e: e.name)
@given(
    block=st.lists(
        st.floats(allow_nan=False) | st.integers(-3, 3).map(float), min_size=1, max_size=200
    )
)
def test_equal_to_the_definition(estimator, block):
    assert_close(one(estimator, block), due(estimator, block), block)


@given(
    st.fractions(0, 1, max_denominator=10**20),
    st.lists(st.integers(-100, 100), min_size=1, max_size=90),
    st.sampled_from(["linear", "lower"]),
)
def test_any_quantile_of_small_integers(q, block, method):
    """Also those whose place does not fit into 64 bits."""
    found = one(Quantile(q, method), np.array(block, np.float64))
    expected = twin.quantile([float(v) for v in block], q, method)
    if method == "lower":
        assert found == expected
    else:
        assert abs(found - expected) <= 1e-13


def test_numpy_and_scipy_agree():
    stats = pytest.importorskip("scipy.stats")
    for n in (1, 2, 5, 30, 101, 5000, 20_000):
        rows = RNG.normal(size=n)
        assert one(Median(), rows) == np.median(rows)
        for q in (0.0, 0.1, 0.25, 0.37, 0.5, 0.99, 1.0):
            np.testing.assert_allclose(one(Quantile(q), rows), np.quantile(rows, q), rtol=1e-11)
        for q in (0.0, 0.25, 0.5, 1.0):  # exact in binary, so the place is the same
            assert one(Quantile(q, "lower"), rows) == np.quantile(rows, q, method="lower")
        for p in (0.0, 0.05, 0.25, 0.4999):
            expected = stats.trim_mean(rows, p)
            np.testing.assert_allclose(one(TrimmedMean(p), rows), expected, rtol=1e-11, atol=1e-13)
        small = RNG.integers(0, 20, n).astype(np.float64)
        assert one(Mode(), small) == stats.mode(small).mode


@pytest.mark.parametrize("n", [25, 65, 1000, 30_000])
def test_modes_of_rows_made_against_the_parting_of_keys(n):
    """All keys fall into one of the parts (csrc/aggregate/select.c), alone or beside others."""
    inverse = pow(0x9E3779B97F4A7C15, -1, 2**64)
    mixed = [i * inverse % 2**64 for i in range(n)]
    keys = np.array([key ^ key >> 32 for key in mixed], np.uint64)
    top = np.uint64(1 << 63)
    rows = np.where(keys >= top, keys ^ top, ~keys).view(np.float64)
    rows = rows[np.isfinite(rows)]
    for block in (rows, np.append(rows, rows[::3]), np.append(rows, RNG.normal(size=n))):
        block = RNG.permutation(block)
        values, counts = np.unique(block, return_counts=True)
        assert one(Mode(), block) == values[counts.argmax()]


def test_a_share_is_meant_as_written():
    """0.29 of 100 steps is 29, though 0.29 * 100 is less in float64."""
    rows = np.arange(101.0)
    assert 0.29 * 100 < 29
    assert one(Quantile(0.29, "lower"), rows) == 29
    assert one(TrimmedMean(0.29), np.append(np.arange(50.0), np.arange(50.0) * 1e6)) == (
        twin.trimmed_mean([*np.arange(50.0), *(np.arange(50.0) * 1e6)], Fraction(29, 100))
    )
    assert Quantile(0.29).q == Fraction(29, 100) == TrimmedMean(0.29).proportion


def test_the_mean_of_two_large_values_does_not_overflow():
    top = 2.0**1023
    assert one(Median(), [top, 1.5 * top]) == 1.25 * top
    assert one(Median(), [-1.7e308, 1.7e308]) == 0
    assert one(Quantile(0.25), [-top, top]) == -top / 2
    assert one(TrimmedMean(0), [top] * 9) == top


def test_infinities_in_the_middle():
    inf = math.inf
    assert one(Median(), [inf, inf]) == inf
    assert one(Quantile(0.5), [-inf, 3.0]) == -inf == one(Quantile(0.25), [-inf, 3.0])
    assert math.isnan(one(Median(), [-inf, inf])) and math.isnan(one(Quantile(0.9), [-inf, inf]))
    assert one(TrimmedMean(0.2), [-inf, 1, 2, 3, inf]) == 2  # cut off
    assert one(TrimmedMean(0.1), [-inf, 1, 2, 3, 4]) == -inf
    assert one(Mode(), [inf, -inf, inf]) == inf


@pytest.mark.parametrize("estimator", ORDERED, ids=lambda e: e.name)
def test_a_nan_anywhere_and_an_empty_block_have_no_answer(estimator):
    for n in (1, 5, 64, 65, 300, 1500, 9000):
        for at in {0, n // 3, n - 1}:
            for other in (np.full(n, 2.0), RNG.normal(size=n), np.full(n, np.inf)):
                rows = other.copy()
                rows[at] = -np.nan if at else np.nan
                assert math.isnan(one(estimator, rows)), (n, at)
    # Beside others, which it does not touch.
    rows = np.array([1.0, 1.0, np.nan, 3.0, 4.0, 4.0])
    found = answers(estimator, rows, [0, 0, 2, 4, 4, 6, 6])[:, 0]
    np.testing.assert_array_equal(found, [np.nan, 1, np.nan, np.nan, 4, np.nan])
    assert np.isnan(answers(estimator, rows[:0], [0, 0, 0])).all()
    assert answers(estimator, rows, [3]).shape == (0, 1)


@pytest.mark.parametrize("estimator", ORDERED, ids=lambda e: e.name)
def test_the_order_of_rows_does_not_matter(estimator):
    rows = np.ldexp(RNG.random(3000) - 0.5, RNG.integers(-60, 60, 3000))
    first = answers(estimator, rows).tobytes()
    for _ in range(5):
        assert answers(estimator, RNG.permutation(rows)).tobytes() == first
    # Control: a plain sum of what is left does tell the order.
    sums = {float(np.sum(RNG.permutation(rows))) for _ in range(20)}
    assert len(sums) > 1


def test_a_trimmed_mean_that_trims_nothing_is_the_mean():
    rows = RNG.normal(size=5000)
    total = Totals(1)
    total.add_run(0, rows)
    assert one(TrimmedMean(0), rows) == total.means(np.array([5000]))[0]


# --- kinds of rows --------------------------------------------------------------------------------


def test_integers_beyond_float64_are_rounded_first():
    big = 2**60
    assert one(Median(), np.array([big, big + 1, big + 3])) == float(big)
    assert one(Mode(), np.array([big, big + 1, 5, 5])) == 5
    assert one(Mode(), np.array([big, big + 1, 5])) == float(big)  # two equal floats
    assert one(Median(), np.array([2**64 - 1], np.uint64)) == 2.0**64


def test_shares_that_no_machine_number_holds():
    """Their products with the number of rows pass 64 bits, and the places do not."""
    rows = np.arange(101.0)
    below = Fraction(10**18 - 1, 10**18)
    assert answers(Quantile(below, "lower"), rows)[0, 0] == 99
    assert answers(Quantile(below), rows)[0, 0] == pytest.approx(100, abs=1e-13)
    tenth = Fraction(10**18 + 1, 10**19)  # a little more than a tenth
    uneven = rows[:100] ** 2
    expected = answers(TrimmedMean(Fraction(1, 10)), uneven)
    np.testing.assert_array_equal(answers(TrimmedMean(tenth), uneven), expected)
    less = answers(TrimmedMean(tenth - Fraction(1, 10**18)), uneven)  # nine at each end
    np.testing.assert_array_equal(less, answers(TrimmedMean(Fraction(9, 100)), uneven))
    assert less != expected


# --- logistic regression --------------------------------------------------------------------------


def trials(n, width, seed=0):
    """Rows of features and, last, a target that depends on them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, width)) * np.exp(rng.normal(size=width)) + rng.normal(size=width)
    chance = 1 / (1 + np.exp(-(x @ rng.normal(size=width))))
    return np.column_stack([x, rng.random(n) < chance])


def gradient(rows, beta, penalty, intercept=True):
    x, y = rows[:, :-1], rows[:, -1]
    z = x @ beta[intercept:] + (beta[0] if intercept else 0)
    small = np.exp(-abs(z))
    rest = np.where(z < 0, small, 1) / (1 + small) - y
    slopes = x.T @ rest + penalty * beta[intercept:]
    return np.append(slopes, rest.sum()) if intercept else slopes


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    ("n", "width", "penalty"), [(7, 1, 1.0), (40, 3, 0.1), (64, 2, 30), (65, 2, 1), (150, 4, 1e-6)]
)
def test_logistic_equals_the_plain_twin(n, width, penalty, intercept):
    rows = trials(n, width)
    model = LogisticRegression(intercept=intercept, penalty=penalty)
    found = answers(model, rows)[0]
    expected = twin.logistic(rows.tolist(), -1, intercept, penalty)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)
    assert abs(gradient(rows, found, penalty, intercept)).max() < 1e-8
    # Control: the gradient does tell another penalty.
    assert abs(gradient(rows, found, 2 * penalty + 1, intercept)).max() > 1e-8


@quick_rows(1)
@pytest.mark.parametrize("intercept", [True, False])
def test_logistic_equals_scikit_learn(intercept):
    linear = pytest.importorskip("sklearn.linear_model")
    for penalty in (0.01, 1.0, 50.0):
        rows = trials(500, 4, seed=3)
        model = linear.LogisticRegression(
            C=1 / penalty, tol=1e-12, max_iter=10_000, fit_intercept=intercept
        )
        model.fit(rows[:, :-1], rows[:, -1])
        expected = np.append(model.intercept_, model.coef_) if intercept else model.coef_[0]
        found = answers(LogisticRegression(intercept=intercept, penalty=penalty), rows)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_logistic_takes_any_column_for_the_target():
    rows = trials(300, 3)
    expected = answers(LogisticRegression(), rows)
    for place in (0, 1, 2, 3):
        turned = np.insert(rows[:, :-1], place, rows[:, -1], axis=1)
        for target in (place, place - 4):
            found = answers(LogisticRegression(target), turned.copy())
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    named = np.zeros(300, [("a", "f8"), ("y", "?"), ("b", "f8"), ("c", "f8")])
    named["a"], named["b"], named["c"], named["y"] = rows.T
    for target in ("y", 1, -3):
        found = answers(LogisticRegression(target), named)[0]
        np.testing.assert_allclose(found, expected[0], rtol=1e-12)


@pytest.mark.parametrize("dtype", ["f4", "i4", "i1", "u2"])
def test_logistic_reads_other_types_as_floats(dtype):
    rows = np.abs(trials(400, 2) * [10, 10, 1]).astype(dtype)
    np.testing.assert_array_equal(
        answers(LogisticRegression(), rows), answers(LogisticRegression(), rows.astype("f8"))
    )


def test_blocks_without_a_logistic_answer():
    good = trials(100, 2)
    expected = answers(LogisticRegression(), good)[0]
    bad = []
    for value in (np.nan, np.inf, -np.inf):
        rows = good.copy()
        rows[17, 0] = value
        bad.append(rows)
    for value in (2.0, -1.0, 0.5, np.nan):
        rows = good.copy()
        rows[99, 2] = value
        bad.append(rows)
    same = np.column_stack([1e9 * good[:, 0], 1e9 * good[:, 0], good[:, 2]])
    only = [np.column_stack([good[:, :2], np.full(100, v)]) for v in (0, 1)]
    huge = np.column_stack([good[:, :2] * 1e200, good[:, 2]])
    every = [good, *bad, *only, good[:0], same, huge, good]
    found = answers(LogisticRegression(), np.concatenate(every), offsets_of(list(map(len, every))))
    assert np.isnan(found[1:-1]).all()
    np.testing.assert_array_equal(found[[0, -1]], [expected, expected])
    # Without an intercept one kind of rows has a finite optimum.
    for rows in only:
        alone = answers(LogisticRegression(intercept=False), rows)[0]
        assert abs(gradient(rows, alone, 1.0, False)).max() < 1e-8


def test_logistic_of_data_that_a_line_divides():
    """Without a penalty there would be no optimum; with one there is, however small it is."""
    rows = np.column_stack([np.arange(100.0), np.arange(100) >= 50])
    for penalty in (1e-9, 1e-3, 1.0):
        found = answers(LogisticRegression(penalty=penalty), rows)[0]
        assert np.isfinite(found).all() and found[1] > 0
        assert abs(found[0] / found[1] + 49.5) < 0.01
        assert abs(gradient(rows, found, penalty)).max() < 1e-5


def test_logistic_needs_its_iterations():
    rows = trials(200, 2)
    assert np.isnan(answers(LogisticRegression(max_iterations=2), rows)).all()
    rough = answers(LogisticRegression(max_iterations=4, tolerance=1), rows)
    assert np.isfinite(rough).all()
    error = abs(rough - answers(LogisticRegression(), rows)).max()
    assert 1e-6 < error < 0.2


@pytest.mark.full
def test_logistic_with_steps_that_must_be_halved():
    """Rows of very different sizes, which nearly are divided, make full steps fly off."""
    rng = np.random.default_rng(5)
    flown = 0
    for penalty in [1e-2] * 60 + [1e-3] * 60:
        x = rng.normal(size=(20, 3)) * np.exp(3 * rng.normal(size=(20, 1)))
        y = x @ rng.normal(size=3) > 0
        y[:2] = 0, 1
        rows = np.column_stack([x, y])
        found = answers(LogisticRegression(penalty=penalty), rows)[0]
        expected = twin.logistic(rows.tolist(), -1, True, penalty)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
        try:
            flown += not np.allclose(twin.logistic(rows.tolist(), -1, True, penalty, False), found)
        except (ArithmeticError, ValueError):
            flown += 1
    assert flown > 5


def test_logistic_of_columns_that_are_one():
    """What is left of the second column is rounding, whatever the penalty adds to it."""
    rng = np.random.default_rng(6)
    for factor in (1.0, 3.0, 0.1, 7.0):
        x = 1e9 * rng.normal(size=(50, 1))
        rows = np.column_stack([x, factor * x, rng.random(50) < 0.5])
        assert np.isnan(answers(LogisticRegression(), rows)).all()
        assert np.isfinite(answers(LogisticRegression(), rows[:, 1:])).all()


def test_logistic_with_a_tolerance_that_rounding_hides():
    """The loss cannot be seen to fall by as little, and may seem to rise."""
    for seed in range(40):
        rows = trials(3000, 2, seed)
        exact = answers(LogisticRegression(), rows)
        found = answers(LogisticRegression(tolerance=1e-22), rows)
        np.testing.assert_allclose(found, exact, rtol=1e-8)


# --- nothing but the rows decides -----------------------------------------------------------------


def everything():
    """Answers of all estimators on rows of all kinds, as bytes."""
    rng = np.random.default_rng(11)
    rows = rng.normal(size=60_000) * np.exp(3 * rng.normal(size=60_000))
    rows[rng.integers(0, 60_000, 9000)] = 0.5
    rows[:20] = np.nan
    offsets = np.sort(rng.integers(0, 60_001, 40))
    offsets = np.concatenate([[0, 0], offsets, [60_000]])
    found = [answers(e, rows, offsets) for e in [*ORDERED, Quantile(Fraction(1, 7))]]
    found += [answers(e, rows.reshape(-1, 3), offsets // 3) for e in ORDERED]
    for name, some in shapes(700):
        if name != "normal":
            found += [answers(e, some, [0, 64, 200, 700]) for e in ORDERED]
    for width, penalty in [(1, 1.0), (4, 1e-4)]:
        table = trials(9001, width)
        model = LogisticRegression(penalty=penalty)
        found.append(answers(model, table, [0, 5, 63, 64, 129, 1000, 9001]))
    return [f.tobytes() for f in found]


PROBE = """
import hashlib
from tests.aggregate import test_block_estimators as t
print(hashlib.sha256(b"".join(t.everything())).hexdigest())
"""


@pytest.mark.full
def test_all_instruction_sets_give_the_same_bits():
    assert len(on_every_path(PROBE)) == 64


@pytest.mark.parametrize("workers", [2, 3, 16])
def test_workers_do_not_matter(workers, monkeypatch):
    monkeypatch.setattr("dpfast.aggregate.estimators.base.ROWS", 1000)
    rows = RNG.normal(size=30_000)
    offsets = offsets_of([5000, 1, 0, 0, 999, 2000, 12_000, 10_000])
    table = trials(30_000, 2)
    for estimator in [*ORDERED, LogisticRegression()]:
        data = table if isinstance(estimator, LogisticRegression) else rows
        done = []
        job = Job(workers, done.append)
        found = answers(estimator, data, offsets, job)
        assert found.tobytes() == answers(estimator, data, offsets, Job(1)).tobytes()
        assert sum(done) == 8


def test_groups_cover_all_blocks_and_are_worked_on_by_several_threads(monkeypatch):
    sizes = RNG.integers(0, 3 * ROWS // 2, 50)
    offsets = offsets_of([*sizes, *[0] * (2 * BLOCKS), 5])
    seen = np.zeros(len(offsets) - 1, int)
    met = threading.Barrier(3)
    first_calls = threading.local()

    def work(first, last, room):
        if not hasattr(first_calls, "done"):
            first_calls.done = True
            met.wait(timeout=30)  # three threads are here at once
        assert last - first <= BLOCKS
        assert last - first == 1 or offsets[last] - offsets[first] <= ROWS
        seen[first:last] += 1

    by_groups(offsets, work, Job(3))
    assert (seen == 1).all()
    monkeypatch.setenv("DPFAST_NUM_THREADS", "2")
    met = threading.Barrier(2)
    first_calls = threading.local()
    by_groups(offsets, work, Job())
    assert (seen == 2).all()


def test_an_error_in_a_thread_is_not_lost():
    def work(first, last, room):
        raise MemoryError

    for workers in (1, 2):
        with pytest.raises(MemoryError):
            by_groups(offsets_of([ROWS] * 4), work, Job(workers))


# --- through the front door -----------------------------------------------------------------------


# --- the kernels refuse what would read or write elsewhere ----------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"offsets": np.array([0, 9])}, "inside rows"),
        ({"offsets": np.array([-1, 8])}, "inside rows"),
        ({"offsets": np.array([0, 5, 3, 8])}, "not fall"),
        ({"offsets": np.array([], np.int64)}, "inside rows"),
        ({"ranks": np.array([8])}, "ranks must be below"),
        ({"ranks": np.array([-1])}, "ranks must be below"),
        ({"ranks": np.array([1, 2])}, "lengths must agree"),
        ({"scratch": np.empty(8)}, "scratch must have"),
        ({"lower": np.empty(2)}, "lengths must agree"),
        ({"upper": np.empty(0)}, "lengths must agree"),
    ],
)
def test_pairs_refuse(change, message):
    good = dict(
        rows=np.arange(8.0),
        offsets=np.array([0, 8]),
        ranks=np.array([3]),
        scratch=np.empty(8 + native.SPARE),
        lower=np.empty(1),
        upper=np.empty(1),
    )
    native.pairs(**good)
    assert (good["lower"][0], good["upper"][0]) == (3, 4)
    with pytest.raises(ValueError, match=message):
        native.pairs(**(good | change))


def test_other_kernels_refuse():
    rows, offsets, scratch = np.arange(8.0), np.array([0, 8]), np.empty(8 + native.SPARE)
    for cuts, out, message in [
        ([4], 8, "cuts must leave"),
        ([-1], 10, "cuts must leave"),
        ([1], 5, "out must have 6"),
        ([1, 1], 8, "lengths must agree"),
    ]:
        with pytest.raises(ValueError, match=message):
            native.trimmed(rows, offsets, np.array(cuts), scratch, np.empty(out))
    with pytest.raises(ValueError, match="scratch must have"):
        native.trimmed(rows, offsets, np.array([1]), np.empty(8), np.empty(6))
    with pytest.raises(ValueError, match="keys must have 16"):
        native.modes(rows, offsets, np.empty(15, np.uint64), np.empty(1))
    with pytest.raises(ValueError, match="lengths must agree"):
        native.modes(rows, offsets, np.empty(16, np.uint64), np.empty(2))
    table, work = rows.reshape(4, 2), np.empty(native.logistic_work(2))
    good = [table, np.array([0, 4]), 1, True, 1.0, 10, 1e-9, work, np.empty((1, 2))]
    native.logistic(*good)
    for place, value, message in [
        (0, rows.reshape(8, 1), "target must be one"),
        (1, np.array([0, 5]), "inside rows"),
        (2, 2, "target must be one"),
        (4, 0.0, "must be positive"),
        (4, math.nan, "must be positive"),
        (5, 0, "must be positive"),
        (6, 0.0, "must be positive"),
        (7, work[1:], "work must have"),
        (8, np.empty((2, 2)), "lengths must agree"),
        (8, np.empty((1, 1)), "lengths must agree"),
    ]:
        with pytest.raises(ValueError, match=message):
            native.logistic(*good[:place], value, *good[place + 1 :])


def test_a_wrong_wish_for_instructions_is_an_error():
    code = (
        "import numpy as np\nfrom dpfast._kernels import aggregate as e\n"
        "e.pairs(np.zeros(3), np.array([0, 3]), np.array([1]), np.empty(99), np.empty(1), "
        "np.empty(1))"
    )
    done = run(code, "mmx")
    assert done.returncode != 0 and "NativeError" in done.stderr
