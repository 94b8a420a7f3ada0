"""Named estimators that need a block side by side: order statistics, mode, logistic regression."""

import math
import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfast._kernels import aggregate as native
from dpfast.aggregate.blocks.layout import Window
from dpfast.aggregate.estimators import LogisticRegression, Median, Mode, Quantile, TrimmedMean
from dpfast.aggregate.estimators.base import BLOCKS, ROWS, Job, by_groups
from dpfast.tables.data import as_rows

from ..reference.aggregate import estimators as twin
from ..support.pairwise import every_value, quick_rows
from ..support.paths import on_every_path

ORDERED = [Median(), Quantile(0.1), Quantile(0.9, "lower"), TrimmedMean(0.1), Mode()]


def answers(estimator, rows, offsets=None, job=None):
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


def assert_close(found, expected, block, name=""):
    """Equal, but for a few roundings at the size of the values of the block."""
    if found == expected or (math.isnan(found) and math.isnan(expected)):
        return
    size = max(abs(float(v)) for v in block if math.isfinite(v))
    assert abs(found - expected) <= 4 * math.ulp(min(size, 1.7e308)), (name, len(block))


def due(estimator, block):
    block = [float(v) for v in block]
    if isinstance(estimator, Quantile):
        return twin.quantile(block, estimator.q, estimator.method)
    if isinstance(estimator, TrimmedMean):
        return twin.trimmed_mean(block, estimator.proportion)
    return (twin.median if isinstance(estimator, Median) else twin.mode)(block)


def offsets_of(sizes):
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def sampled(n):
    """The places that the first sample of n rows is taken from (csrc/aggregate/select.c)."""
    size = 64 if n < 2048 else 256 if n < 32_768 else 1024
    stretch = n // size
    i = np.arange(size, dtype=np.uint64)
    return (i * stretch + ((i * 2654435769 % 2**32) * stretch >> 32)).astype(np.int64)


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
    for sign in (1, -1) if n > 64 else ():  # made against the sample: brackets miss
        rows, places = RNG.normal(size=n), sampled(n)
        rows[places] = sign * (100 + RNG.random(len(places)))
        left = np.delete(np.arange(n), places)
        if len(left) > 64:  # and the sample of what the first miss leaves
            inner = left[sampled(len(left))]
            rows[inner] = sign * (50 + RNG.random(len(inner)))
        yield f"sample {sign}", rows


SIZES = [*range(1, 20), 31, 32, 33, 63, 64, 65, 66, 100, 127, 255, 256, 257, 1023, 1024, 1025, 3000]


@quick_rows(2)
@pytest.mark.parametrize("estimator", ORDERED, ids=lambda e: e.name)
def test_equal_to_the_definition_on_misleading_rows(estimator):
    for n in SIZES:
        for name, rows in shapes(n):
            assert_close(one(estimator, rows), due(estimator, rows), rows, name)


@every_value
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 1000, 2047, 2048, 8000, 40_000])
@pytest.mark.parametrize("effort", [0, 1, 3, native.EFFORT])
def test_every_rank_is_a_value_of_the_sorted_rows(n, effort):
    """Whatever work the brackets are allowed, before radix selection takes over."""
    scratch = np.empty(n + native.SPARE)
    for name, rows in shapes(n):
        ordered = np.sort(rows)
        for rank in {0, 1, n // 10, (n - 1) // 2, n // 2, n - 2, n - 1} & set(range(n)):
            low, high = np.empty((2, 1))
            native.pairs(rows, offsets_of([n]), np.array([rank]), scratch, low, high, effort)
            assert [*low, *high] == [ordered[rank], ordered[min(rank + 1, n - 1)]], (name, rank)
            # A zero has no sign, so that the bits do not depend on which of two was met.
            assert low[0] or not np.signbit(low[0])
        for cut in {0, 1, n // 10, (n - 1) // 2} & set(range((n + 1) // 2)):
            out = np.empty(n - 2 * cut)
            native.trimmed(rows, offsets_of([n]), np.array([cut]), scratch, out, effort)
            np.testing.assert_array_equal(np.sort(out), ordered[cut : n - cut], name)


@given(
    st.fractions(0, 1, max_denominator=10**20),
    st.lists(st.integers(-100, 100), min_size=1, max_size=90),
    st.sampled_from(["linear", "lower"]),
)
def test_any_quantile_of_small_integers(q, block, method):
    """Also those whose place does not fit into 64 bits."""
    found = one(Quantile(q, method), np.array(block, np.float64))
    expected = twin.quantile([float(v) for v in block], q, method)
    assert abs(found - expected) <= (0 if method == "lower" else 1e-13)


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
    """0.29 of 100 steps is 29, though 0.29 * 100 is less in float64; also beyond 64 bits."""
    rows, uneven = np.arange(101.0), np.arange(100.0) ** 2
    assert 0.29 * 100 < 29 == one(Quantile(0.29, "lower"), rows)
    assert Quantile(0.29).q == Fraction(29, 100) == TrimmedMean(0.29).proportion
    for share in (0.29, Fraction(29 * 10**17 + 1, 10**19)):
        due = twin.trimmed_mean(uneven.tolist(), Fraction(29, 100))
        assert one(TrimmedMean(share), uneven) == due
    less = Fraction(29 * 10**17 - 1, 10**19)  # 28 at each end
    assert one(TrimmedMean(less), uneven) == twin.trimmed_mean(uneven.tolist(), Fraction(28, 100))


def test_large_values_do_not_overflow_and_infinities_are_values():
    top, inf = 2.0**1023, math.inf
    for estimator, rows, due in [
        (Median(), [top, 1.5 * top], 1.25 * top),
        (Median(), [-1.7e308, 1.7e308], 0),
        (Quantile(0.25), [-top, top], -top / 2),
        (TrimmedMean(0), [top] * 9, top),
        (Median(), [inf, inf], inf),
        (Quantile(0.5), [-inf, 3.0], -inf),
        (Quantile(0.25), [-inf, 3.0], -inf),
        (Median(), [-inf, inf], math.nan),
        (Quantile(0.9), [-inf, inf], math.nan),
        (TrimmedMean(0.2), [-inf, 1, 2, 3, inf], 2),  # cut off
        (TrimmedMean(0.1), [-inf, 1, 2, 3, 4], -inf),
        (Mode(), [inf, -inf, inf], inf),
    ]:
        np.testing.assert_equal(one(estimator, rows), due)


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
    orders = [RNG.permutation(rows) for _ in range(20)]
    assert len({answers(estimator, order).tobytes() for order in orders}) == 1
    assert len({float(np.sum(order)) for order in orders}) > 1  # the control


def test_integers_beyond_float64_are_rounded_first():
    big = 2**60
    assert one(Median(), np.array([big, big + 1, big + 3])) == float(big)
    assert one(Mode(), np.array([big, big + 1, 5, 5])) == 5
    assert one(Mode(), np.array([big, big + 1, 5])) == float(big)  # two equal floats
    assert one(Median(), np.array([2**64 - 1], np.uint64)) == 2.0**64


def trials(n, width, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, width)) * np.exp(rng.normal(size=width)) + rng.normal(size=width)
    chance = 1 / (1 + np.exp(-(x @ rng.normal(size=width))))
    return np.column_stack([x, rng.random(n) < chance])


def gradient(rows, beta, penalty, intercept=True):
    x, y = rows[:, :-1], rows[:, -1]
    z = x @ beta[intercept:] + beta[0] * intercept
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


def test_logistic_takes_any_column_for_the_target_and_any_type_of_number():
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
    for dtype in ("f4", "i4", "i1", "u2"):
        some = np.abs(trials(400, 2) * [10, 10, 1]).astype(dtype)
        floats = answers(LogisticRegression(), some.astype("f8"))
        np.testing.assert_array_equal(answers(LogisticRegression(), some), floats)


def test_blocks_without_a_logistic_answer():
    good = trials(100, 2)
    expected = answers(LogisticRegression(), good)[0]
    bad = []
    cells = [(17, 0, v) for v in (np.nan, np.inf, -np.inf)]
    for row, column, value in [*cells, *((99, 2, v) for v in (2.0, -1.0, 0.5, np.nan))]:
        bad.append(good.copy())
        bad[-1][row, column] = value
    same = np.column_stack([1e9 * good[:, 0], 1e9 * good[:, 0], good[:, 2]])
    only = [np.column_stack([good[:, :2], np.full(100, v)]) for v in (0, 1)]
    huge = np.column_stack([good[:, :2] * 1e200, good[:, 2]])
    every = [good, *bad, *only, good[:0], same, huge, good]
    found = answers(LogisticRegression(), np.concatenate(every), offsets_of(list(map(len, every))))
    assert np.isnan(found[1:-1]).all()
    np.testing.assert_array_equal(found[[0, -1]], [expected, expected])
    for rows in only:  # without an intercept one kind of rows has a finite optimum
        alone = answers(LogisticRegression(intercept=False), rows)[0]
        assert abs(gradient(rows, alone, 1.0, False)).max() < 1e-8


def test_logistic_needs_its_iterations():
    rows = trials(200, 2)
    assert np.isnan(answers(LogisticRegression(max_iterations=2), rows)).all()
    rough = answers(LogisticRegression(max_iterations=4, tolerance=1), rows)
    assert np.isfinite(rough).all()
    error = abs(rough - answers(LogisticRegression(), rows)).max()
    assert 1e-6 < error < 0.2
    # Of data that a line divides there is no optimum without a penalty, however small it is.
    rows = np.column_stack([np.arange(100.0), np.arange(100) >= 50])
    for penalty in (1e-9, 1e-3, 1.0):
        found = answers(LogisticRegression(penalty=penalty), rows)[0]
        assert np.isfinite(found).all() and found[1] > 0
        assert abs(found[0] / found[1] + 49.5) < 0.01
        assert abs(gradient(rows, found, penalty)).max() < 1e-5


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


def test_logistic_with_a_tolerance_that_rounding_hides():
    """The loss cannot be seen to fall by as little, and may seem to rise."""
    for seed in range(40):
        rows = trials(3000, 2, seed)
        found = answers(LogisticRegression(tolerance=1e-22), rows)
        np.testing.assert_allclose(found, answers(LogisticRegression(), rows), rtol=1e-8)


def everything():
    rng = np.random.default_rng(11)
    rows = rng.normal(size=60_000) * np.exp(3 * rng.normal(size=60_000))
    rows[rng.integers(0, 60_000, 9000)] = 0.5
    rows[:20] = np.nan
    offsets = np.concatenate([[0, 0], np.sort(rng.integers(0, 60_001, 40)), [60_000]])
    some = [rows for name, rows in shapes(700) if name != "normal"]
    found = [answers(e, rows, offsets) for e in [*ORDERED, Quantile(Fraction(1, 7))]]
    found += [answers(e, rows.reshape(-1, 3), offsets // 3) for e in ORDERED]
    found += [answers(e, x, [0, 64, 200, 700]) for x in some for e in ORDERED]
    for width, penalty in [(1, 1.0), (4, 1e-4)]:
        model = LogisticRegression(penalty=penalty)
        found.append(answers(model, trials(9001, width), [0, 5, 63, 64, 129, 1000, 9001]))
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
    offsets = offsets_of([5000, 1, 0, 0, 999, 2000, 12_000, 10_000])
    for estimator in [*ORDERED, LogisticRegression()]:
        is_logistic = isinstance(estimator, LogisticRegression)
        rows = trials(30_000, 2) if is_logistic else RNG.normal(size=30_000)
        done = []
        found = answers(estimator, rows, offsets, Job(workers, done.append))
        assert found.tobytes() == answers(estimator, rows, offsets, Job(1)).tobytes()
        assert sum(done) == 8


def test_groups_cover_all_blocks_and_are_worked_on_by_several_threads(monkeypatch):
    offsets = offsets_of([*RNG.integers(0, 3 * ROWS // 2, 50), *[0] * (2 * BLOCKS), 5])
    seen = np.zeros(len(offsets) - 1, int)
    monkeypatch.setenv("DPFAST_NUM_THREADS", "2")
    for job, threads in ((Job(3), 3), (Job(), 2)):
        met, local = threading.Barrier(threads), threading.local()

        def work(first, last, room, met=met, local=local):
            if not hasattr(local, "done"):
                local.done = True
                met.wait(timeout=30)  # so many threads are here at once
            assert last - first <= BLOCKS
            assert last - first == 1 or offsets[last] - offsets[first] <= ROWS
            seen[first:last] += 1

        by_groups(offsets, work, job)
    assert (seen == 2).all()


def test_what_the_kernels_refuse():
    """Arrays that are too short by one, each, and numbers out of range."""
    rows, offsets, scratch = np.arange(8.0), np.array([0, 8]), np.empty(8 + native.SPARE)
    table, one, cells = rows.reshape(4, 2), np.array([1]), [np.empty(1), np.empty(1)]
    work, numbers = np.empty(native.logistic_work(2)), [1, True, 1.0, 10, 1e-9]
    for kernel, good, wrong in [
        (native.pairs, [rows, offsets, one, scratch, *cells],
         [(1, [0, 9]), (1, [-1, 8]), (1, [0, 5, 3, 8]), (2, [8]), (2, [-1]), (2, [1, 2])]),
        (native.trimmed, [rows, offsets, one, scratch, np.empty(6)],
         [(2, [4]), (2, [-1]), (2, [1, 1])]),
        (native.modes, [rows, offsets, np.empty(16, np.uint64), np.empty(1)], []),
        (native.logistic, [table, np.array([0, 4]), *numbers, work, np.empty((1, 2))],
         [(0, rows.reshape(8, 1)), (2, 2), (4, 0.0), (4, math.nan), (5, 0), (6, 0.0),
          (8, np.empty((2, 2))), (8, np.empty((1, 1)))]),
    ]:  # fmt: skip
        kernel(*good)
        short = [(i, own[:-1]) for i, own in enumerate(good) if isinstance(own, np.ndarray)]
        for i, value in short + wrong:
            bad = np.array(value, np.int64) if isinstance(value, list) else value
            with pytest.raises(ValueError, match="must"):
                kernel(*good[:i], bad, *good[i + 1 :])
