"""The median mechanism: candidates, the twin, accuracy, its use, and the paper's test."""

import itertools
import math
import pickle
from fractions import Fraction

import numba
import numpy as np
import pytest

import dpfast as dp
from dpfast._kernels.online import multiset_sums as sums
from dpfast.errors import ArgumentError, BudgetError, StreamError
from dpfast.noise.distributions.discrete import laplace_integers
from dpfast.online import multisets
from dpfast.online import plan as _plan
from dpfast.online.plan import plan
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.rng import InsecureGenerator

from ..reference.online import median as reference
from ..support import streams
from ..support.names import shown
from ..support.pages import program
from ..support.pairwise import quick_rows
from ..support.refused import refused

G = np.random.default_rng(0)


@pytest.mark.parametrize(("universe", "size"), [(1, 1), (2, 1), (2, 7), (4, 5), (6, 3), (3, 60)])
def test_every_multiset_is_a_candidate_once(universe, size):
    found = multisets.enumerated(universe, size)
    assert found.dtype == np.uint8 and found.shape == (universe, multisets.number(universe, size))
    assert found.T.tolist() == reference.multisets(universe, size)
    most = multisets.largest(universe, 10_000)
    assert most == 255 or multisets.number(universe, most) <= 10_000 < multisets.number(
        universe, most + 1
    )
    assert multisets.largest(16, 500_000) == 8 and multisets.number(16, 8) == 490_314


@pytest.mark.parametrize(("universe", "size"), [(2, 3), (3, 2), (3, 4), (4, 3), (5, 2)])
def test_the_net_is_as_fine_as_it_says(universe, size):
    """Every database of 60 rows, every query, which is worst at 0 or 1; and hardly finer."""
    candidates = multisets.enumerated(universe, size).T / size
    shares = [*G.multinomial(60, G.dirichlet(np.ones(universe) / 2, 400)) / 60]
    for j in range(min(universe, size) + 1):  # equal remainders are the worst
        shares.append(np.full(universe, j / universe) / size)
        shares[-1][0] += 1 - shares[-1].sum()
    worst = max(np.maximum(share - candidates, 0).sum(axis=1).min() for share in shares)
    assert 0.6 * multisets.net(universe, size) < worst <= multisets.net(universe, size) + 1e-12


def test_random_candidates_are_uniform_multisets():
    found = multisets.sampled(3, 8, 30_000, InsecureGenerator(1).stream())
    assert (found.sum(axis=0) == 8).all()
    np.testing.assert_allclose(found.mean(axis=1), 8 / 3, atol=0.05)
    np.testing.assert_allclose(found.var(axis=1), 8 * 2 / 9, rtol=0.05)


@pytest.mark.parametrize("count", [1, 2, 63, 2048, 2049, 10_000])
@pytest.mark.parametrize("universe", [1, 3, 16])
def test_sums_are_those_of_the_definition(universe, count, monkeypatch):
    counts = G.integers(0, 256, (universe, count)).astype(np.uint8)
    weights = G.integers(0, 1 << 19, universe).astype(np.int32)
    weights[G.random(universe) < 0.3] = 0
    out = np.full(count, -1, np.int32)
    first, last = count // 3, count - count // 5
    sums(counts, weights, out, first, last)
    expected = (counts.T.astype(np.int64) @ weights).tolist()
    assert out[first:last].tolist() == expected[first:last]
    assert (out[:first] == -1).all() and (out[last:] == -1).all()
    for threads in "13":
        monkeypatch.setenv("DPFAST_NUM_THREADS", threads)
        assert multisets.Multisets(counts).sums(weights.astype(np.int64)).tolist() == expected
    most = np.array([(2**31 - 1) // 127], np.int32)  # up to the end of the integers
    sums(np.array([[127]], np.uint8), most, out, 0, 1)
    assert out[0] == most[0] * 127


@pytest.mark.parametrize("bounds", [(-1, 1), (2, 1), (0, 6), (0, 5)])
def test_the_kernel_refuses_what_does_not_fit(bounds):
    with pytest.raises(ValueError, match="multisets"):
        sums(np.zeros((2, 5), np.uint8), np.zeros(2, np.int32), np.empty(4, np.int32), *bounds)
    with pytest.raises(ValueError, match="weights"):
        sums(np.zeros((2, 5), np.uint8), np.zeros(3, np.int32), np.empty(5, np.int32), 0, 5)


@pytest.mark.parametrize("count", [1, 2, 7, 1 << 14, (1 << 14) + 1, 50_000])
@pytest.mark.parametrize("values", [2, 1000, 2**31 - 1])
def test_the_lower_median_is_the_one_of_the_sorted(count, values):
    found = np.random.default_rng(count).integers(0, values, count).astype(np.int32)
    assert multisets.Multisets.median(found) == sorted(found.tolist())[(count - 1) // 2]


@pytest.mark.parametrize("seed", range(6))
def test_answers_are_those_of_the_twin(seed):
    """The same draws, fractions and lists: answers, kinds and candidates that are left."""
    g = np.random.default_rng(seed)
    universe, size = [(2, 9), (3, 6), (4, 4)][seed % 3]
    histogram = g.multinomial(3000, g.dirichlet(np.ones(universe) / 3))
    shipped = dp.online.MedianMechanism(
        histogram, epsilon=2, queries=40, accuracy=0.15, size=size, rng=InsecureGenerator(seed)
    )
    bits = shipped._plan.bits
    twin = reference.Median(histogram, reference.multisets(universe, size), bits)
    hard = 0
    for found, expected, told in streams.beside(shipped, twin, g, seed):
        hard += expected
        assert found.hard == expected and found.remaining == shipped.hard - hard
        assert found == min(max(told / (3000 << bits), 0), 1)
        assert shipped._alive._counts.T.tolist() == twin.alive
        if not twin.alive:
            break
    assert hard


@pytest.mark.full
@quick_rows(9)
@pytest.mark.parametrize("name", streams.NAMES)
@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": 0.1}, {"epsilon": 1, "delta": 1e-6}])
def test_accuracy_is_kept_and_hard_answers_are_few(name, loss):
    """Also by multiplicative weights."""
    g = np.random.default_rng(17)
    few = g.multinomial(200_000, g.dirichlet(np.ones(4)))
    many = g.multinomial(10**7, g.dirichlet(np.ones(50) / 10))
    median = dp.online.MedianMechanism(
        few, queries=500, accuracy=0.08, size=30, rng=InsecureGenerator(3), **loss
    )
    assert median.lasts and median.net_error == 1 / 30
    hard, worst = streams.run(name, median, few, g)
    assert worst <= 0.08 and hard <= math.log2(multisets.number(4, 30))
    assert median.remaining == median.hard - hard
    assert name != "correlated" or hard <= 6
    weights = dp.online.PrivateMultiplicativeWeights(
        many, queries=400, accuracy=0.08, rng=InsecureGenerator(3), **loss
    )
    hard, worst = streams.run(name, weights, many, g)
    assert worst <= 0.08 and (name == "correlated" or hard)
    assert hard <= math.log(50) / (2 * weights.gap**2)


@pytest.mark.parametrize("loss", [Pure(1), ZCDP(Fraction(1, 10))], ids=str)
def test_bounds_of_the_noise_hold_as_often_as_they_say(loss):
    """All noise of a stream within the bounds of its plan, but for `failure`; not within thirds."""
    failure, queries, hard, rows, runs = 0.3, 200, 10, 10_000, 300
    made = plan(loss, rows, hard, queries, failure, 10)
    unit, stream = rows << made.bits, InsecureGenerator(4)

    def draw(size, scale):
        out, bits = np.empty(size, np.int64), stream.stream()
        laplace_integers(out, scale, bits, None, bits.word)
        return np.abs(out).reshape(runs, -1).max(axis=1) / unit

    draws = hard if made.scales.renewed else 1
    gate = draw(runs * draws, made.scales.threshold) + draw(runs * queries, made.scales.query)
    answers = np.abs(made.noise.draw(runs * hard, stream)).reshape(runs, -1).max(axis=1) / unit
    for part in (1, 3):
        wrong = (gate > made.comparison / part) | (answers > made.answer / part)
        assert (wrong.mean() <= failure) == (part == 1)


@pytest.mark.parametrize("loss", [Pure(1), ZCDP(Fraction(1, 5)), Approx(1, Fraction(1, 10**6))])
def test_a_plan_spends_what_it_is_given(loss):
    made = plan(loss, 1000, 12, 100, 0.05, 20)
    unit = 1 << made.bits
    if isinstance(made.spent, Pure):
        total = unit / made.scales.threshold + 2 * 12 * unit / made.scales.query
        total += 12 * unit / made.noise.scale
        assert total == loss.epsilon
    else:
        assert made.spent == loss and made.scales.renewed
        one = unit / made.scales.threshold + 2 * unit / made.scales.query
        rho = 12 * (ZCDP.of_pure(Pure(one)).rho + Fraction(unit) ** 2 / (2 * made.noise.scale**2))
        limit = loss.rho if isinstance(loss, ZCDP) else ZCDP.largest(loss.epsilon, loss.delta).rho
        assert rho <= limit


def test_queries_are_rounded_more_where_noise_is_large():
    assert plan(Pure(1), 1000, 12, 100, 0.05, 24).bits == 24
    tiny = plan(Pure(Fraction(1, 2**20)), 1 << 40, 12, 100, 0.05, 24)
    assert _plan.LEAST_BITS <= tiny.bits < 24
    assert max(tiny.scales.query, tiny.scales.threshold) <= 2**40
    with pytest.raises(ArgumentError, match="epsilon or rho"):
        plan(Pure(Fraction(1, 2**30)), 1 << 40, 1000, 100, 0.05, 24)


HISTOGRAM = [7000, 2000, 600, 400]
GIVEN = {"epsilon": 2, "queries": 20, "accuracy": 0.1, "size": 12}


def weights(stream, query, bits):
    return stream._universe.weights(stream._universe.values(query), bits)


def test_queries_of_all_kinds_are_the_same_query():
    def plain(element):
        return 0.25 * (element > 15)

    values, found = np.array([0.0, 0.25, 0.0, 0.25]), []
    for query in (values, values.tolist(), values.astype(np.float32), plain, numba.njit(plain)):
        stream = dp.online.MedianMechanism(
            HISTOGRAM, universe=[10, 20, 15, 30], rng=InsecureGenerator(5), **GIVEN
        )
        found.append(stream.answer(query))
        assert weights(stream, query, 4).tolist() == [0, 4, 0, 4]
    assert len(set(found)) == 1
    stream = dp.online.MedianMechanism(HISTOGRAM, **GIVEN)
    assert weights(stream, lambda i: i == 3, 0).tolist() == [0, 0, 0, 1]
    assert weights(stream, np.array([True, False, False, True]), 3).tolist() == [8, 0, 0, 8]


def test_an_answer_is_a_float_that_tells_more_until_the_last_query():
    budget = dp.Budget(epsilon=2, neighbors="replace")
    stream = dp.online.MedianMechanism(HISTOGRAM, budget=budget, **{**GIVEN, "queries": 2})
    answer = stream.answer([1, 0, 0, 0])
    assert answer + 0 == float(answer) and round(answer) in (0, 1)
    assert answer.spent == stream.spent == Pure(2) and answer.remaining == stream.remaining
    assert "hard" in repr(answer) or "easy" in repr(answer)
    again = pickle.loads(pickle.dumps(answer))
    assert (again, again.hard, again.remaining) == (answer, answer.hard, answer.remaining)
    assert len(budget.history) == 1 and budget.remaining["epsilon"] == 0
    assert budget.history[0].what == f"median mechanism, 2 queries, {stream.hard} hard"
    with pytest.raises(BudgetError):
        dp.online.MedianMechanism(HISTOGRAM, budget=budget, **GIVEN)
    assert budget.cost(dp.online.MedianMechanism, HISTOGRAM, **GIVEN) == Pure(2)
    stream.answer([1, 0, 0, 0])
    before = stream.alive, stream.remaining
    with pytest.raises(StreamError, match="all its queries"):
        stream.answer([1, 0, 0, 0])
    assert (stream.alive, stream.remaining, stream.left) == (*before, 0)


def test_the_stream_halts_where_no_candidate_is_right():
    """Candidates of one row cannot be like three elements, so they die: an end, no wrong answer."""
    stream = dp.online.MedianMechanism(
        [5000, 3000, 2000], epsilon=5, queries=100, accuracy=0.05, size=1
    )
    assert not stream.lasts
    with pytest.raises(StreamError, match="halted"):
        for query in itertools.cycle(np.eye(3)):
            assert abs(stream.answer(query) - query @ [0.5, 0.3, 0.2]) <= 0.05
    assert stream.alive == 0 or stream.remaining == 0


def test_random_candidates_serve_a_large_universe():
    g = np.random.default_rng(2)
    histogram = g.multinomial(10**6, np.full(200, 1 / 200))
    stream = dp.online.MedianMechanism(
        histogram, epsilon=1, queries=50, accuracy=0.05, size=200, candidates=4000
    )
    assert stream.alive == 4000 and stream.net_error is None and not stream.lasts
    for _ in range(50):
        query = g.integers(0, 2, 200)
        assert abs(stream.answer(query) - query @ histogram / 10**6) <= 0.05


ONE = 1 << multisets.BITS
LARGE = [13_000_000, 4_000_000, 2_000_000, 1_000_000]
CLOSE = {"epsilon": 1, "accuracy": 0.1, "test": "closeness"}


def cases():
    g = np.random.default_rng(3)
    for universe, size, rows in ((2, 3, 5), (3, 2, 4), (3, 4, 7)):
        candidates = reference.multisets(universe, size)
        for _ in range(4):
            weights = [int(w) for w in g.integers(0, 17, universe)]
            left = candidates if g.random() < 0.5 else candidates[:1]
            yield left, weights, rows, float(g.choice([0.1, 0.7]))


def tables(universe, rows):
    return [c for c in itertools.product(range(rows + 1), repeat=universe) if sum(c) == rows]


def doubts(candidates, weights, rows, accuracy):
    """The shipped number for every table."""
    test = multisets.Closeness(size=sum(candidates[0]), rows=rows, bits=4, accuracy=accuracy)
    found = np.array([reference.total(weights, s) for s in candidates], np.int32)
    return {
        table: test.doubt(found, reference.total(weights, table))
        for table in tables(len(weights), rows)
    }


@pytest.mark.parametrize("case", range(12))
def test_a_doubt_is_what_it_says(case):
    candidates, weights, rows, accuracy = list(cases())[case]
    for table, found in doubts(candidates, weights, rows, accuracy).items():
        size = sum(candidates[0]) << 4
        truth = Fraction(reference.total(weights, table), sum(table) << 4)
        far = [abs(truth - Fraction(reference.total(weights, s), size)) for s in candidates]
        exact = 1 - math.fsum(math.exp(-float(d) / accuracy) for d in far) / len(far)
        assert 0 <= found / ONE - exact <= 2.1 / ONE


def furthest(case, claimed):
    """By how much any neighbors move the doubt, in units of what is claimed."""
    candidates, weights, rows, accuracy = list(cases())[case]
    found = doubts(candidates, weights, rows, accuracy)
    moved = [
        abs(found[a] - found[b])
        for a, b in itertools.combinations(found, 2)
        if sum(abs(x - y) for x, y in zip(a, b, strict=True)) == 2
    ]
    return max(moved) / claimed(rows, accuracy)


def test_no_neighbors_move_a_doubt_by_more_than_the_noise_is_for():
    """All tables of a few rows over a few elements. Half the claim is exceeded."""
    moved = [furthest(i, lambda n, a: multisets.doubt_of(n, a).sensitivity) for i in range(12)]
    assert 0.5 < max(moved) <= 1
    assert (
        max(furthest(i, lambda n, a: multisets.doubt_of(2 * n, a).sensitivity) for i in range(12))
        > 1
    )


def test_rounding_is_paid_for():
    """Many rows: the slope is below a unit, and what is left is rounding."""
    assert multisets.doubt_of(10**12, 0.1).sensitivity == 5
    g = np.random.default_rng(1)
    found = g.integers(0, 1 << 20, 1001).astype(np.int32)
    test = multisets.Closeness(size=1, rows=1 << 30, bits=20, accuracy=0.05)
    exact = int(g.integers(0, 1 << 50))
    near_by = [test.doubt(found, exact + d * (1 << 20)) for d in (-1, 0, 1)]
    assert np.abs(np.diff(near_by)).max() <= multisets.doubt_of(1 << 30, 0.05).sensitivity


def test_an_easy_median_is_near_and_a_hard_answer_gives_candidates_up():
    """The two claims about any candidates, by random ones: the worst are spread at two places."""
    g = np.random.default_rng(4)
    accuracy, worst, least = 0.1, 0.0, 1.0
    for _ in range(1500):
        spread = g.choice([0.001, 0.05, 0.2, 1.0])
        far = np.clip(0.5 + spread * g.normal(size=25) * g.integers(0, 2, 25), 0, 1)
        if g.random() < 0.2:  # no more than half of them are right
            far = np.where(np.arange(25) < 12, 0.5, 0.5 + g.random() * accuracy)
        truth = float(np.clip(0.5 + g.choice([0, g.normal()]) * g.choice([0.01, 0.1]), 0, 1))
        level = 1 - np.exp(-np.abs(far - truth) / accuracy).mean()
        if level < 5 / 16:
            worst = max(worst, abs(np.sort(far)[12] - truth))
        if level >= 1 / 4:
            told = truth + g.uniform(-1, 1) * accuracy / 50
            least = min(least, np.mean(np.abs(far - told) > accuracy / 50))
    assert 0.5 * accuracy < worst < accuracy
    assert least > 0.219


def test_what_is_near_is_kept():
    found = np.arange(0, 61, dtype=np.int32)  # candidates of ten rows, queries in eighths
    test = multisets.Closeness(size=10, rows=100, bits=3, accuracy=0.5)
    kept = test.near(found, 400)  # a half; 0.5 / 50 = 0.01 on either side
    assert np.flatnonzero(kept).tolist() == [40]
    # A hundredth of all rows; candidates are at 0, 1 / 80, 2 / 80 and so on, kept within 0.02.
    assert np.flatnonzero(test._replace(accuracy=1.0).near(found, 8)).tolist() == [0, 1, 2]
    assert not test.near(found, 10**30).any() and not test.near(found, -(10**30)).any()


@pytest.mark.parametrize("name", list(streams.STREAMS))
def test_by_closeness_accuracy_is_kept_and_hard_answers_are_few(name):
    stream = dp.online.MedianMechanism(
        LARGE, queries=200, size=60, rng=InsecureGenerator(3), **CLOSE
    )
    assert stream.hard == multisets.hard_answers(39_711) and stream.spent == Pure(1)
    assert stream._plan.comparison <= multisets.MARGIN
    hard, worst = streams.run(name, stream, np.array(LARGE), np.random.default_rng(5))
    assert worst <= 0.1 and 1 <= hard <= math.log(39_711) / 0.247 + 1
    assert hard == stream.hard - stream.remaining


def test_it_halts_cleanly_and_lasts_is_honest():
    stream = dp.online.MedianMechanism(LARGE, queries=50, size=10, **CLOSE)
    assert not stream.lasts  # ten rows are too few for a fiftieth of the accuracy
    given = {**CLOSE, "accuracy": 0.5}
    assert dp.online.MedianMechanism([10**9, 10**9], queries=50, size=255, **given).lasts
    stream.answer([1, 0, 0, 0])
    while stream.alive:
        stream.answer(np.random.default_rng(stream.left).random(4))
    left = stream.left
    with pytest.raises(dp.errors.StreamError, match="no candidate agrees"):
        stream.answer([1, 0, 0, 0])
    assert stream.left == left


@quick_rows(1)
@pytest.mark.parametrize("wrong", [{"accuracy": a} for a in (0.1, 1e-6, 1.5)], ids=shown)
def test_an_accuracy_that_cannot_be_kept(wrong):
    given = {"histogram": [1300, 400], "queries": 50, **CLOSE}
    for other, words in ((wrong, "accuracy must be at least"), ({"test": "x"}, "test must be")):
        refused(dp.online.MedianMechanism, words, **{**given, **other})


def test_the_published_constants():
    found = program("published").median_mechanism(16, queries=1000, epsilon=0.5, accuracy=0.1)
    m = 160000 * math.log(1000) * math.log(10) * 100
    assert found.size == math.ceil(m)
    assert found.epsilon == pytest.approx(0.5 / (720 * m * math.log(16)))
    assert found.slack == pytest.approx(4 * math.log(4000) / (found.epsilon * 0.1))
    assert found.hard == pytest.approx(20 * m * math.log(16)) and found.kept == 0.1 / 50
    # At this number of rows the threshold is 3/4 or 3/4 + 3/20.
    assert found.slack / found.rows == pytest.approx(3 / 20)
