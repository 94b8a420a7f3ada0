"""The median mechanism: candidates, the twin, whole transcripts, accuracy, how it is used."""

from __future__ import annotations

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
from dpfast.online import plan as _plan
from dpfast.online.multisets import Multisets, enumerated, largest, net, number, sampled
from dpfast.online.plan import plan
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.rng import InsecureGenerator

from ..reference.online import median as reference
from ..support import streams
from ..support.pairwise import quick_rows

G = np.random.default_rng(0)


@pytest.mark.parametrize(("universe", "size"), [(1, 1), (2, 1), (2, 7), (4, 5), (6, 3), (3, 60)])
def test_every_multiset_is_a_candidate_once(universe, size):
    found = enumerated(universe, size)
    assert found.dtype == np.uint8 and found.shape == (universe, number(universe, size))
    assert found.T.tolist() == reference.multisets(universe, size)


def test_the_largest_size_that_fits():
    assert largest(16, 500_000) == 8 and number(16, 8) == 490_314
    assert largest(2, 10**9) == 255
    for universe in (2, 5, 9):
        size = largest(universe, 10_000)
        assert number(universe, size) <= 10_000
        assert size == 255 or number(universe, size + 1) > 10_000


@pytest.mark.parametrize(("universe", "size"), [(2, 3), (3, 2), (3, 4), (4, 3), (5, 2)])
def test_the_net_is_as_fine_as_it_says(universe, size):
    """Every database of 60 rows, every query, which is worst at 0 or 1; and hardly finer."""
    candidates = enumerated(universe, size).T / size
    shares = [*G.multinomial(60, G.dirichlet(np.ones(universe) / 2, 400)) / 60]
    for j in range(min(universe, size) + 1):  # equal remainders are the worst
        shares.append(np.full(universe, j / universe) / size)
        shares[-1][0] += 1 - shares[-1].sum()
    worst = max(np.maximum(share - candidates, 0).sum(axis=1).min() for share in shares)
    assert 0.6 * net(universe, size) < worst <= net(universe, size) + 1e-12


def test_random_candidates_are_uniform_multisets():
    found = sampled(3, 8, 30_000, InsecureGenerator(1).stream())
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
        assert Multisets(counts).sums(weights.astype(np.int64)).tolist() == expected
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
    assert Multisets.median(found) == sorted(found.tolist())[(count - 1) // 2]


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
    assert worst <= 0.08 and hard <= math.log2(number(4, 30))
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
        limit = loss.rho if isinstance(loss, ZCDP) else ZCDP.within(loss.epsilon, loss.delta).rho
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


def test_an_answer_is_a_float_that_tells_more():
    budget = dp.Budget(epsilon=2, neighbors="replace")
    stream = dp.online.MedianMechanism(HISTOGRAM, budget=budget, **GIVEN)
    answer = stream.answer([1, 0, 0, 0])
    assert answer + 0 == float(answer) and round(answer) in (0, 1)
    assert answer.spent == stream.spent == Pure(2) and answer.remaining == stream.remaining
    assert "hard" in repr(answer) or "easy" in repr(answer)
    again = pickle.loads(pickle.dumps(answer))
    assert (again, again.hard, again.remaining) == (answer, answer.hard, answer.remaining)
    assert len(budget.history) == 1 and budget.remaining["epsilon"] == 0
    assert budget.history[0].what == f"median mechanism, 20 queries, {stream.hard} hard"
    with pytest.raises(BudgetError):
        dp.online.MedianMechanism(HISTOGRAM, budget=budget, **GIVEN)
    assert budget.cost(dp.online.MedianMechanism, HISTOGRAM, **GIVEN) == Pure(2)


def test_the_stream_halts_at_its_last_query():
    stream = dp.online.MedianMechanism(HISTOGRAM, **{**GIVEN, "queries": 2})
    for _ in range(2):
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
