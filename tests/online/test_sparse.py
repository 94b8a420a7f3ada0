"""The sparse vector technique: whole transcripts, the published variants, bad input."""

from __future__ import annotations

import itertools
import math
import threading
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chisquare

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError, DataError, StreamError
from dpfast.noise.distributions.discrete import laplace_integers
from dpfast.online import noisy_comparison as _comparison
from dpfast.online.noisy_comparison import MOST_CELLS, allocate, threshold_share
from dpfast.privacy import ZCDP, Approx, Pure, pure_within
from dpfast.rng import InsecureGenerator

from ..reference.online import sparse as reference
from ..support.names import shown
from ..support.pairwise import quick_rows

LOSSES = {"pure": {"epsilon": 1}, "rho": {"rho": 0.2}}


def variant(scales):
    """The shipped scales as a variant of the reference."""
    return reference.Variant(
        float(scales.threshold), float(scales.query), scales.positives, scales.each
    )


def neighbors(length, monotone):
    """Values 0 and 1 on one dataset, and all that they may be on a neighbor."""
    moves = [(0, 1)] if monotone else [(-1, 0, 1)]
    for q in itertools.product((0, 1), repeat=length):
        for move in itertools.product(*moves * length):
            yield q, tuple(a + b for a, b in zip(q, move, strict=True))


# --- the distribution -----------------------------------------------------------------------------


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("c", [1, 2, 3])
def test_no_transcript_of_any_neighbors_costs_more(c, monotone):
    """Exactly: all transcripts of three values, all neighbors."""
    scales, spent, each = allocate(Pure(1), 1, c, monotone, Fraction(0))
    assert spent == Pure(1) and each is None
    shipped = variant(scales)
    distributions = {}

    def distribution(q):
        if q not in distributions:
            distributions[q] = shipped.distribution(q)
        return distributions[q]

    worst = max(reference.loss(distribution(q), distribution(r)) for q, r in neighbors(3, monotone))
    assert worst <= 1 + 1e-9
    assert worst > 0.3


def test_the_loss_is_all_used_by_long_streams():
    """With many values below, the threshold's share is lost as well."""
    scales, _, _ = allocate(Pure(1), 1, 2, False, Fraction(0))
    one, other = [0] * 40 + [1, 1], [1] * 40 + [0, 0]
    told = (False,) * 40 + (True, True)
    distributions = [transcript(variant(scales), q, told, -6) for q in (one, other)]
    assert 0.95 < abs(math.log(distributions[0] / distributions[1])) <= 1


def transcript(shipped, values, told, threshold):
    """The probability of one transcript, without those of all others."""
    rho, k = reference.laplace(shipped.threshold), np.arange(-reference.REACH, 401)
    nu = reference.laplace(shipped.query)
    tail = np.append(np.cumsum(nu[::-1])[::-1], 0.0)
    for q, hit in zip(values, told, strict=False):
        reached = tail[np.clip(threshold + k - q + reference.REACH, 0, len(k))]
        rho = rho * (reached if hit else 1 - reached)
    return float(rho.sum())


def paid_part(one, other, loss):
    """What whole transcripts cost, as a part of rho or delta: exactly."""
    p, q = (np.array([distribution[told] for told in one]) for distribution in (one, other))
    if isinstance(loss, Approx):
        return np.maximum(p - math.exp(loss.epsilon) * q, 0).sum() / float(loss.delta)
    p, q = p[p > 1e-12], q[p > 1e-12]
    worst = max(
        logsumexp(a * np.log(p) + (1 - a) * np.log(q)) / (a - 1) / a
        for a in (1.001, 1.5, 2, 4, 16, 64)
    )
    return worst / float(loss.rho)


@quick_rows(3)
@pytest.mark.parametrize("c", [1, 2, 3])
@pytest.mark.parametrize("asked", [ZCDP(0.2), ZCDP(3), Approx(0.1, 0.2)], ids=str)
def test_transcripts_cost_no_more_in_other_losses(asked, c):
    """Renyi divergences of many orders, or the hockey stick; an eighth of the noise is caught."""
    scales, spent, _ = allocate(asked, 1, c, False, Fraction(0))
    assert spent == asked
    pairs = [([0] * 3 + [1] * 4, [1] * 3 + [0] * 4), ([0, 1] * 3, [1, 0] * 3), ([0] * 6, [1] * 6)]

    def worst(divisor):
        few = reference.Variant(
            float(scales.threshold) / divisor, float(scales.query) / divisor, c, scales.each
        )
        distributions = [
            [few.distribution(q, bar) for q in pair] for pair in pairs for bar in (-2, 0, 2)
        ]
        return max(
            paid_part(*distribution[::turn], asked)
            for distribution in distributions
            for turn in (1, -1)
        )

    assert 0.01 < worst(1) <= 1 < worst(8)


@pytest.mark.parametrize("name", ["1, Lyu, Su and Li 2017", "2, Dwork and Roth 2014"])
def test_private_variants_pass_the_enumeration(name):
    shipped = reference.published(1.0, 2)[name]
    for q, r in neighbors(3, False):
        assert reference.loss(shipped.distribution(q), shipped.distribution(r)) <= 1 + 1e-9
    for q, r in reference.CAUGHT.values():
        assert reference.loss(shipped.distribution(q), shipped.distribution(r)) <= 1 + 1e-9


@pytest.mark.parametrize("name", list(reference.CAUGHT))
def test_broken_variants_are_caught_by_the_enumeration(name):
    c = {"3, Roth 2011": 1, "4, Lee and Clifton 2014": 3}.get(name, 2)
    broken = reference.published(1.0, c)[name]
    q, r = reference.CAUGHT[name]
    assert reference.loss(broken.distribution(q), broken.distribution(r)) > 1.1
    if name.startswith("4"):  # its true loss, of which the paper speaks, is not exceeded
        assert (
            reference.loss(broken.distribution(q), broken.distribution(r)) <= (1 + 6 * c) / 4 + 1e-9
        )


@pytest.mark.parametrize("fault", ["no threshold noise", "unscaled", "half", "no end"])
def test_planted_faults_are_caught_by_the_enumeration(fault):
    c = 3
    scales, _, _ = allocate(Pure(1), 1, c, False, Fraction(0))
    good = variant(scales)
    broken = {
        "no threshold noise": reference.Variant(0, good.query, c),
        "unscaled": reference.Variant(good.threshold, good.query / c, c),
        "half": reference.Variant(good.threshold / 2, good.query / 2, c),
        "no end": reference.Variant(good.threshold, good.query, None),
    }[fault]
    few, many = (False,) * 30, (True,) * (30 if fault == "no end" else 3)
    q, r = [0] * 30 + [1] * len(many), [1] * 30 + [0] * len(many)
    bar = 0 if fault == "no end" else -6

    def lost(version):
        told = (*few, *many[: version.positives])
        return abs(math.log(np.divide(*(transcript(version, x, told, bar) for x in (q, r)))))

    assert lost(good) <= 1 < 1.2 < lost(broken)


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("kind", list(LOSSES))
@pytest.mark.parametrize("many", [False, True])
def test_transcripts_have_the_distribution(kind, many):
    """Chi-square of whole transcripts, and of noise a quarter larger or smaller, which fails."""
    values, size = [-12, 16, -1, 9], 10_000 if many else 3_000
    generator = InsecureGenerator(11)

    def run():
        stream = dp.online.SparseVector(positives=2, threshold=1, rng=generator, **LOSSES[kind])
        if many:
            return tuple(stream.answer_many(values).above.tolist())
        told = []
        for q in values:
            told.append(stream.answer(q).above)
            if not stream.remaining:
                break
        return tuple(told)

    seen = Counter(run() for _ in range(size))
    stream = dp.online.SparseVector(positives=2, rng=generator, **LOSSES[kind])
    scales = stream._comparison.scales
    assert scales.each == (kind != "pure")

    def p_value(factor):
        distribution = variant(scales)
        distribution = reference.Variant(
            distribution.threshold * factor, distribution.query * factor, 2, distribution.fresh
        )
        expected = distribution.distribution(values, 1)
        assert set(seen) <= set(expected)
        told = sorted(expected)
        return chisquare(
            [seen[t] for t in told], [size * expected[t] for t in told], sum_check=False
        ).pvalue

    assert p_value(1.0) > 1e-4
    if many:
        assert p_value(1.25) < 1e-4 and p_value(0.75) < 1e-4


@pytest.mark.parametrize("kind", list(LOSSES))
def test_many_values_are_judged_as_by_the_loop(kind):
    """Stretches, thresholds of their own, the end in the middle; against the plain loop."""
    size, c = 40_000, 700
    g = np.random.default_rng(3)
    values, bars = g.integers(-200, 200, size), g.integers(0, 400, size)
    stream = dp.online.SparseVector(positives=c, rng=InsecureGenerator(4), **LOSSES[kind])
    scales = stream._comparison.scales
    above, numbers = stream.answer_many(values, bars)
    assert numbers is None

    bits = InsecureGenerator(4).stream()

    def draw(n, scale):
        out = np.empty(n, np.int64)
        laplace_integers(out, scale, bits, None, bits.word)
        return out.tolist()

    def fresh():
        return draw(1, scales.threshold)[0]

    rho, told = fresh(), []
    latest = [rho]

    def again():
        latest[0] = fresh()
        return latest[0]

    for at in range(0, size, _comparison.STRETCH):
        part = slice(at, at + _comparison.STRETCH)
        noise = draw(len(values[part]), scales.query)
        told += reference.judge(
            values[part], bars[part], latest[0], noise, c - sum(told),
            again if scales.each else None,
        )  # fmt: skip
        if sum(told) == c:
            break
    assert above.tolist() == told
    assert stream.remaining == c - sum(told)


def test_one_by_one_is_as_many():
    """The same words in the same order, were stretches of one value."""
    values = np.arange(-40, 60)
    both = [
        dp.online.SparseVector(positives=3, threshold=55, epsilon=1, rng=InsecureGenerator(9))
        for _ in range(2)
    ]
    told = []
    for q in values.tolist():
        told.append(both[0].answer(q).above)
        if not both[0].remaining:
            break
    singles = [both[1].answer_many([q]).above.tolist() for q in values[: len(told)].tolist()]
    assert [[x] for x in told] == singles


# --- what it costs, how the loss is divided -------------------------------------------------------


def test_shares_minimize_the_variance():
    for c in (1, 2, 10, 1000):
        for monotone in (False, True):
            own = float(threshold_share(c, monotone))
            reach = (1 if monotone else 2) * c

            def variance(share, reach=reach):
                return 1 / share**2 + (reach / (1 - share)) ** 2

            assert variance(own) <= min(variance(0.99 * own), variance(1.01 * own))


@pytest.mark.parametrize("c", [1, 5, 200])
@pytest.mark.parametrize("answers", [Fraction(0), Fraction(1, 2), Fraction(1, 10)])
def test_what_is_spent_is_what_the_theorem_says(c, answers):
    scales, spent, each = allocate(Pure(2), 3, c, False, answers)
    own, query = 3 / scales.threshold, 2 * c * 3 / scales.query
    rest = 0 if each is None else c * each.epsilon
    assert own + query + rest == 2 and spent == Pure(2)
    for asked in (ZCDP(Fraction(1, 3)), Approx(Fraction(1, 2), Fraction(1, 10**6))):
        scales, spent, each = allocate(asked, 3, c, True, answers)
        assert spent == asked or spent == Pure(asked.epsilon)
        if scales.each:
            one = 3 / scales.threshold + 3 / scales.query
            rho = asked.rho if isinstance(asked, ZCDP) else ZCDP.within(0.5, 1e-6).rho
            gate = c * ZCDP.of_pure(Pure(one)).rho
            rest = 0 if each is None else c * each.rho
            assert rho * (1 - Fraction(1, 2**30)) <= gate + rest <= rho
        elif isinstance(asked, ZCDP):
            total = 3 / scales.threshold + c * 3 / scales.query
            rest = 0 if each is None else c * each.epsilon
            assert total + rest <= pure_within(asked.rho)


def test_the_budget_pays_once_and_beforehand():
    budget = dp.Budget(epsilon=1)
    stream = dp.online.SparseVector(positives=3, epsilon=1, budget=budget)
    assert budget.remaining["epsilon"] == 0
    assert budget.history[0].what == "sparse vector, 3 positives"
    for _ in range(50):
        stream.answer(-1000)
    assert len(budget.history) == 1
    with pytest.raises(BudgetError):
        dp.online.AboveThreshold(epsilon=0.1, budget=budget)
    rho = dp.Budget(rho=1)
    assert rho.cost(dp.online.SparseVector, positives=3, rho=0.5) == ZCDP(Fraction(1, 2))
    with pytest.raises(BudgetError, match="private noise only"):
        dp.online.AboveThreshold(epsilon=1, rng=InsecureGenerator(1), budget=dp.Budget(epsilon=9))
    counts = dp.Budget(epsilon=1, neighbors="add-remove")
    dp.online.AboveThreshold(epsilon=1, monotone=True, budget=counts)
    assert counts.history[0].neighbors == "add-remove"


def test_monotone_values_and_many_positives_in_rho_need_less_noise():
    def scale(**kw):
        return dp.online.SparseVector(**kw)._comparison.scales.query

    assert scale(positives=10, epsilon=1, monotone=True) < scale(positives=10, epsilon=1)
    assert scale(positives=1000, rho=0.5) < scale(positives=1000, epsilon=1) / 10


# --- numbers beside positives ---------------------------------------------------------------------


@pytest.mark.parametrize("sensitivity", [1, 20])
def test_numbers_are_told_with_noise_of_their_own(sensitivity):
    """Unbiased, with the deviation that was paid for, although the comparison was in favor."""
    size = 4000
    generator = InsecureGenerator(21)
    stream = dp.online.SparseVector(
        positives=size,
        epsilon=500,
        threshold=10**6,
        sensitivity=sensitivity,
        answers=Fraction(1, 100),
        rng=generator,
    )
    scale = sensitivity * size / 5  # a hundredth of 500 pays for all of them
    above, numbers = stream.answer_many([10**6] * 20_000)
    assert numbers.dtype == np.int64 and len(numbers) == above.sum() == size
    error = (numbers - 10**6) / math.sqrt(2 * scale**2)
    assert abs(error.mean()) < 5 / math.sqrt(size)
    assert 0.9 < error.std() < 1.1


def test_a_finding_tells_what_is_left():
    stream = dp.online.SparseVector(positives=2, epsilon=100, answers=True, threshold=50)
    low, high = stream.answer(0), stream.answer(100)
    assert not low and low.value is None and low.remaining == 2
    assert high and abs(high.value - 100) < 30 and isinstance(high.value, int)
    assert high.remaining == stream.remaining == 1
    assert high.spent == stream.spent == Pure(100)


def test_granularity_takes_numbers_with_fractions():
    stream = dp.online.SparseVector(
        positives=5,
        epsilon=400,
        sensitivity=0.01,
        granularity=2.0**-20,
        threshold=0.5,
        answers=True,
    )
    assert not stream.answer(0.4) and not stream.answer(Decimal("0.4"))
    found = stream.answer(Fraction(3, 5))
    assert found and abs(found.value - 0.6) < 0.01 and isinstance(found.value, float)
    assert (
        stream.answer_many([0.1, 0.7, -math.inf, 0.3]).above.tolist() == [False, True] + [False] * 2
    )
    assert stream.answer(math.inf).above and stream.answer(10**400).above
    coarse = dp.online.AboveThreshold(epsilon=1, sensitivity=0.1, granularity=0.25)
    whole = dp.online.AboveThreshold(epsilon=1, sensitivity=1)
    assert coarse._comparison.scales == whole._comparison.scales


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble, np.int64])
def test_numbers_of_numpy_are_numbers(kind):
    stream = dp.online.SparseVector(positives=9, epsilon=400, granularity=0.5)
    assert stream._cell(kind(3)) == 6 and stream._cell(kind(-2.5)) == 2 * kind(-2.5)
    assert stream.answer(kind(30)) and not stream.answer(kind(30), kind(60))
    assert stream._cell(np.int64(2**57 + 1)) == 2**58 + 2


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64])
def test_integers_of_numpy_do_not_wrap_around_on_a_grid(kind):
    """Neighbors on both sides of the wrap would be told apart for sure."""
    stream = dp.online.SparseVector(positives=9, epsilon=1, granularity=2.0**-10)
    for value in np.iinfo(kind).max // 3, np.iinfo(kind).max:
        right = min(int(value) << 10, MOST_CELLS)
        assert stream._cell(kind(value)) == right == stream._bar(kind(value))
        assert stream._cell(Fraction(kind(value))) == right


def test_the_least_decimals_are_rounded_down_at_once():
    stream = dp.online.SparseVector(
        positives=9, epsilon=1, sensitivity=2.0**-1000, granularity=2.0**-1000
    )
    assert stream._cell(Decimal("1e-999999999")) == stream._cell(Decimal("0e-999999")) == 0
    assert stream._cell(Decimal("-1e-999999999")) == -1


def test_numbers_beyond_float64_are_its_largest():
    """Noise may lead there: the answer is drawn by then."""
    stream = dp.online.SparseVector(
        positives=40,
        epsilon=1,
        sensitivity=2.0**1000,
        granularity=2.0**1000,
        answers=True,
        rng=InsecureGenerator(1),
    )
    largest = np.finfo(float).max
    _, found = stream.answer_many([largest] * 40)
    assert found.max() == largest and 0 < found.min() < largest


def test_rounding_to_the_grid_moves_by_no_more_than_is_paid_for():
    """Floors of two numbers d apart are at most d, rounded up, apart: numbers, arrays, integers."""
    stream = dp.online.SparseVector(positives=1, epsilon=1, sensitivity=0.3, granularity=2.0**-4)
    cells = stream._cells(0.3)
    assert cells == 5
    g = np.random.default_rng(0)
    x = np.concatenate([g.normal(0, 1e3, 500), g.normal(0, 1e-3, 500), [0.0, -0.0, -5e-324]])
    y = x + g.uniform(-0.3, 0.3, len(x))
    a, b = stream._floors(x), stream._floors(y)
    assert np.abs(a - b).max() <= cells
    assert a.tolist() == [stream._cell(v) for v in x.tolist()]
    assert stream._floors(np.array([1, -3])).tolist() == [16, -48]
    ends = stream._floors(np.array([1e308, -1e308])).tolist()
    assert ends == [_comparison.MOST_CELLS, -_comparison.MOST_CELLS]
    small = np.array([0.5, 7, -0.3], np.float32)
    assert stream._floors(small).tolist() == [8, 112, -5]


# --- the end, and what is refused -----------------------------------------------------------------


def test_after_the_last_positive_nothing_is_answered():
    stream = dp.online.AboveThreshold(threshold=10, epsilon=100)
    above, _ = stream.answer_many([0, 0, 100, 0, 100])
    assert above.tolist() == [False, False, True]
    for ask in (lambda: stream.answer(0), lambda: stream.answer_many([0])):
        with pytest.raises(StreamError, match="halted"):
            ask()
    assert stream.remaining == 0


def test_empty_streams_and_extreme_values():
    stream = dp.online.SparseVector(positives=4, epsilon=1)
    assert stream.answer_many([]).above.tolist() == []
    large = np.array([2**64 - 1, 0], np.uint64)
    assert stream.answer_many(large, [10**6, 10**6]).above.tolist() == [True, False]
    assert stream.answer(10**400).above and not stream.answer(-(10**400))
    ends = np.array([-(2**63), 2**63 - 1])
    assert stream.answer_many(ends, ends[::-1]).above.tolist() == [False, True]
    assert stream.remaining == 1


BAD = [
    ({"positives": 0}, ArgumentError),
    ({"positives": 1.5}, ArgumentTypeError),
    ({"positives": 2**31}, ArgumentError),
    ({"sensitivity": 0}, ArgumentError),
    ({"sensitivity": 0.5}, ArgumentError),
    ({"sensitivity": math.nan}, ArgumentError),
    ({"threshold": 0.5}, ArgumentError),
    ({"threshold": math.nan, "granularity": 0.5}, ArgumentError),
    ({"threshold": "1"}, ArgumentTypeError),
    ({"epsilon": None}, ArgumentError),
    ({"epsilon": 0}, ArgumentError),
    ({"epsilon": 501}, ArgumentError),
    ({"rho": 1}, ArgumentError),
    ({"monotone": 1}, ArgumentTypeError),
    ({"answers": 2}, ArgumentError),
    ({"answers": "yes"}, ArgumentTypeError),
    ({"granularity": 0.3}, ArgumentError),
    ({"neighbors": "both"}, ArgumentError),
    ({"neighbors": ""}, ArgumentError),
    ({"sensitivity": 2**50}, ArgumentError),
    ({"rng": 5}, ArgumentTypeError),
]


@pytest.mark.parametrize(("wrong", "error"), BAD, ids=shown)
def test_bad_arguments_spend_nothing(wrong, error):
    budget = dp.Budget(epsilon=1000)
    given = {"positives": 1, "epsilon": 1, **wrong}
    with pytest.raises(error) as caught:
        dp.online.SparseVector(**given, budget=budget)
    assert next(iter(wrong)) in str(caught.value) or wrong == {"epsilon": None}
    assert not budget.history


@pytest.mark.parametrize("value", [0.5, 1.0, "1", None, True, 1j, [1], np.nan])
def test_bad_values_change_nothing(value):
    stream = dp.online.SparseVector(positives=1, epsilon=1, rng=InsecureGenerator(1))
    before = stream._generator.stream().word
    with pytest.raises(ArgumentTypeError, match="value must be a number") as caught:
        stream.answer(value)
    assert f"got {value!r}" not in str(caught.value)
    for many in ([value], np.array([value])):
        if isinstance(value, list) or (value is True and many == [True]):
            continue
        with pytest.raises(ArgumentTypeError):
            stream.answer_many(many)
    assert stream.remaining == 1
    assert (
        before()
        == dp.online.SparseVector(positives=1, epsilon=1, rng=InsecureGenerator(1))
        ._generator.stream()
        .word()
    )


def test_nan_is_an_answer_and_refused_as_one():
    stream = dp.online.SparseVector(positives=1, epsilon=1, granularity=1.0)
    for ask in (
        lambda: stream.answer(math.nan),
        lambda: stream.answer(Decimal("nan")),
        lambda: stream.answer_many([0.0, math.nan]),
    ):
        with pytest.raises(DataError):
            ask()
    assert stream.remaining == 1


def test_a_threshold_may_be_an_integer_that_is_written_as_a_float():
    """It is public; of a value, which is not, the type alone decides."""
    made = {"positives": 9, "epsilon": 1, "sensitivity": 1.0}
    for threshold in (9545.0, 9545, np.float32(9545), Fraction(9545), Decimal("9545.0")):
        stream = dp.online.SparseVector(threshold=threshold, **made)
        assert stream._threshold == 9545
        stream.answer(1, threshold)
    stream.answer_many([1, 2], [3.0, -2.0])
    with pytest.raises(ArgumentError, match="threshold must be a number without fraction"):
        stream.answer_many([1, 2], [3.0, 2.5])
    for value in (3.0, 3.5):
        with pytest.raises(ArgumentTypeError, match="value must be"):
            stream.answer(value)
    for threshold in (0.5, Fraction(1, 2), Decimal("1e20") + Decimal("0.1")):
        with pytest.raises(ArgumentError, match="threshold must be a number without fraction"):
            dp.online.SparseVector(threshold=threshold, **made)


def test_thresholds_must_fit():
    stream = dp.online.SparseVector(positives=1, epsilon=1)
    for bad in ([1], [1, 2, 3], [0.5, 1.0], [[1, 2]]):
        with pytest.raises(ArgumentError if np.ndim(bad) == 1 else ArgumentTypeError):
            stream.answer_many([1, 2], bad)
    with pytest.raises(ArgumentError, match="threshold"):
        stream.answer(1, 0.5)
    real = dp.online.SparseVector(positives=1, epsilon=1, granularity=1.0)
    with pytest.raises(ArgumentError, match="thresholds"):
        real.answer_many([1.0], [math.inf])


def test_threads_share_the_positives():
    stream = dp.online.SparseVector(positives=100, epsilon=100, threshold=0)
    found, ended = [], []

    def ask():
        try:
            while True:
                found.append(stream.answer(10**6).above)
        except StreamError:
            ended.append(True)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sum(found) == 100 and len(ended) == 4
