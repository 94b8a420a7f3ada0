"""Workloads: the least error and its certificate, what a row changes, answers and their bars."""

import itertools
import math
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.rng import InsecureGenerator
from dpfast.statistics.workload import strategy as plans
from dpfast.statistics.workload.queries import Queries, queries_of
from dpfast.statistics.workload.strategy import best_strategy

from ..reference.statistics import workload as reference
from ..support.pairwise import quick_rows
from ..support.refused import refused
from ..support.views import prepared, quoted, replaced
from .test_histogram import farthest

RNG = np.random.default_rng(34)
X = RNG.integers(0, 100, 4000).astype(float)
LOSSES = [{"rho": 0.3}, {"epsilon": 0.5, "delta": 0.01}]
MATRICES = {
    "prefix": np.tri(5, dtype=int),
    "ranges": np.array([[a <= i < b for i in range(5)] for a in range(5) for b in range(a + 1, 6)]),
    "total": np.ones((1, 4), int),
    "bins and ten totals": np.vstack([np.eye(4, dtype=int), np.full((10, 4), 1)]),
    "any": RNG.integers(-3, 4, (7, 5)),
    "of few": RNG.integers(0, 2, (2, 5)),
    "a bin that no query has": np.array([[1, 1, 0, 0], [1, 0, 0, 1]]),
}


def exact(data, queries, **kw):
    with patch.object(IntegerNoise, "draw", lambda self, size, generator: np.zeros(size, int)):
        return dp.workload(data, queries, rho=1, **kw)


@quick_rows(3)
@pytest.mark.parametrize("name", MATRICES)
def test_no_strategy_errs_by_a_hundredth_less(name):
    matrix = MATRICES[name].astype(int)
    made = best_strategy(queries_of(matrix), matrix.shape[1])
    error = reference.exact_error(made.sums, matrix.tolist())
    assert 1 <= made.certificate <= 1.01
    gram = matrix.T @ matrix + 1e-9 * np.eye(matrix.shape[1])
    least = reference.least_error(gram.astype(float))
    assert 0.995 * least < error < 1.01 * least
    roots = [Fraction(float(root)) for root in np.sqrt(made.weights)]
    bound = reference.exact_bound(matrix.tolist(), roots)
    assert bound <= error <= bound * Fraction(101, 100)
    assert float(error / bound) == pytest.approx(made.certificate, abs=1e-5)
    # Planted: the bins by themselves.
    flat = reference.exact_error(np.eye(matrix.shape[1]), matrix.tolist())
    assert flat > (1.2 if name in ("prefix", "ranges", "total") else 0.999) * error


def test_queries_of_few_and_wild_sizes_are_planned():
    wild = RNG.normal(size=(40, 32)) * np.exp(3 * RNG.normal(size=32))
    for matrix in (RNG.normal(size=(5, 32)), wild, RNG.random((60, 32)) < 0.05, 1e-90 * wild):
        assert 1 <= best_strategy(queries_of(matrix), 32).certificate < 1.01
    # Planted: without a part of the unit matrix there is no way back from few queries.
    with patch.object(plans, "RIDGE", 0.0), pytest.raises(np.linalg.LinAlgError):
        best_strategy.__wrapped__(queries_of(np.ones((1, 6))), 6)


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("grid", [20, 8])
def test_no_neighbor_moves_further_than_the_noise_is_made_for(relation, grid):
    """Of all bins, and of rows in none, by integers; on a coarse grid rounding shows."""
    edges, queries = np.arange(7.0), MATRICES["ranges"][:, [0, 1, 2, 3, 4, 4]] * 1.0
    best_strategy.cache_clear()
    with replaced(plans, "GRID", grid):

        def sums(*rows):
            how = {"bins": edges.tolist(), "rho": 0.1, "neighbors": relation}
            made, read = prepared(dp.workload, [*rows, 0.5], queries, **how)
            noises.append(made.noise)
            return np.array(made.statistic.strategy.add(made.reduce(read)), object)

        noises, values = [], [*(edges[:-1] + 0.5), -1.0, math.nan]
        _, most, _ = farthest(sums, values, relation)
    best_strategy.cache_clear()
    noise = noises[0]
    assert noise.distribution == "gaussian" and not noise.shift
    allowed = noise.scale**2 * 2 * Fraction("0.1")  # enough, in fractions, and no more
    assert most <= allowed < most * (1 + Fraction(1, 10**9))
    # Planted: the sensitivity of the strategy before it is rounded.
    assert grid == 20 or most != (2 if relation == "replace" else 1) << 2 * grid


def test_no_person_moves_further_than_the_noise_is_made_for():
    edges, most = [0.0, 1, 2, 3], 0
    queries = np.tri(3)

    def sums(rows, who):
        made, read = prepared(
            dp.workload, np.array(rows), queries, bins=edges, rho=0.1, ids=np.array(who), max_rows=2
        )
        inner, drawn = made.inner, []
        with patch.object(type(inner), "finish", lambda self, counts, _: drawn.append(counts)):
            made.finish(made.reduce(read), InsecureGenerator(1))
        return np.array(inner.statistic.strategy.add(drawn[0]), object), inner

    others, made = sums([0.5, 1.5], [7, 8])
    for count in (1, 2, 3, 4):
        for rows in itertools.combinations_with_replacement([0.5, 1.5, 2.5, 9.0], count):
            whole, _ = sums([0.5, 1.5, *rows], [7, 8, *[9] * count])
            most = max(most, int(((whole - others) ** 2).sum()))
    allowed = (made.noise.scale * 2**made.noise.shift) ** 2 * 2 * Fraction("0.1")
    assert most <= allowed < most * (1 + Fraction(1, 10**9))


def test_sums_are_exact_for_counts_of_any_size():
    made = best_strategy(Queries("ranges"), 64)
    counts = RNG.integers(0, 1 << 62, 64)
    due = [sum(int(a) * int(b) for a, b in zip(row, counts, strict=True)) for row in made.sums]
    assert made.add(counts) == due
    assert [int(total) for total in made.sums @ counts.astype(float)] != due  # planted: floats


def test_without_noise_it_is_the_truth():
    counts, edges = np.histogram(X, 20, (0, 100))
    matrix = RNG.normal(size=(9, 20))
    for queries, due in (
        (matrix, matrix @ counts), ("prefix", np.cumsum(counts)), ("ranges", np.cumsum(counts)),
    ):  # fmt: skip
        found = exact(X, queries, bins=20, bounds=(0, 100))
        assert np.allclose(found.answers, due) and np.allclose(found.counts, counts)
        assert found.edges.tolist() == edges.tolist()
    assert found.range(20, 65) == pytest.approx(np.sum((X >= 20) & (X < 65)))
    assert found.cdf(50) == pytest.approx(np.mean(X < 50))
    assert found.quantile(0.5) == pytest.approx(np.quantile(X, 0.5), abs=1)
    words = np.array(["bad", "fair", "good"])[RNG.integers(0, 3, 900)]
    some = exact(words, np.eye(3), categories=["bad", "fair", "good"], where=words != "fair")
    assert np.allclose(some.answers, [np.sum(words == "bad"), 0, np.sum(words == "good")])
    days = np.datetime64("2024-01-01") + RNG.integers(0, 100, 2000)
    bounds = (np.datetime64("2024-01-01"), np.datetime64("2024-04-10"))
    dated = exact(days, "ranges", bins=10, bounds=bounds)
    assert dated.edges.dtype.kind == "M" and dated.total == pytest.approx(2000)


def test_of_two_columns():
    table = {"x": X, "word": np.array(["a", "b"])[RNG.integers(0, 2, len(X))]}
    how = {"bins": [4, None], "bounds": [(0, 100), None], "categories": [None, ["a", "b"]]}
    due, matrix = dp.histogram(table, **how, epsilon=500)[0], RNG.integers(-2, 3, (5, 8))
    found = exact(table, matrix, **how)
    assert np.allclose(found.counts, due) and np.allclose(found.answers, matrix @ due.ravel())
    assert [len(one) for one in found.edges] == [5, 2] and found.total == pytest.approx(len(X))
    bars = dp.expected_error(dp.workload, table, matrix, **how, rho=1).half_width
    assert np.shape(bars) == (4, 2) and found.deviations.shape == (5,)
    for call in (found.range, found.half_width, lambda *x: found.quantile(0.5)):
        with pytest.raises(ArgumentError, match="of one column"):
            call(0, 9)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_errors_are_those_that_are_said(loss, relation):
    matrix = np.vstack([np.tri(16), RNG.normal(size=(4, 16))])
    how = {"bins": 16, "bounds": (0, 16), "neighbors": relation, **loss}
    mechanism, rng = quoted(dp.workload, X, matrix, **how), InsecureGenerator(4)
    found = [mechanism.finish(np.zeros(16, np.int64), rng) for _ in range(1000)]
    answers, first = np.array([one.answers for one in found]), found[0]
    assert np.abs(answers.std(axis=0) / first.deviations - 1).max() < 0.1
    assert np.abs(answers.mean(axis=0) / first.deviations).max() < 5 / math.sqrt(1000)
    joint = matrix @ first.covariance @ matrix.T
    assert np.allclose(joint.diagonal(), first.deviations**2)
    scale = np.outer(first.deviations, first.deviations)
    assert (np.abs(np.cov(answers.T) - joint) / scale).max() < 0.15
    off = (np.abs(answers) > first.half_widths()).mean(axis=0)
    assert off.min() > 0.02 and off.max() < 0.05 + 5 * math.sqrt(0.05 / 1000)
    bars = mechanism.error(None, 0.95).half_width
    assert bars == pytest.approx([first.half_width(i, i + 1) for i in range(16)])
    # Planted: bars of independent counts.
    alone = math.sqrt(float((np.array(bars) ** 2).sum()))
    assert first.half_width(0, 16) < 0.7 * alone


def test_what_is_refused():
    given = {"data": X, "bins": 4, "bounds": (0, 1), "rho": 1}
    for queries, kw, words in [
        ([[1, 0, 0, math.inf]], {}, "finite numbers"),
        ([[1, 0, 0, -1e308]], {}, r"largest absolute value is from .*, got 1e\+308"),
        ([[1e-308, 0, 0, 0]], {}, "largest absolute value is from .*, got 1e-308"),
        ([[1, 0, 0]], {}, r"each of 4 bins in each row, got .*\(1, 3\)"),
        ("ranges", {"bins": 5000}, "bins must be at most 4096.*got 5000"),
        ("ranges", {"bins": [[0, 1], [0, 1]], "bounds": None}, "of one column"),
        ("ranges", {"rho": None, "epsilon": 1}, "rho given instead.*tree_histogram"),
    ]:
        limit = dp.Budget(rho=9) if "epsilon" not in kw else None
        told = refused(dp.workload, words, budget=limit, queries=queries, **{**given, **kw})
        assert len(str(told).split()) < 30
    with pytest.raises(TypeError, match="weights"):
        dp.workload(**given, queries="ranges", weights=X)
    with pytest.raises(ArgumentError, match="confidence"):
        exact(X, "prefix", bins=4, bounds=(0, 1)).half_widths(1)


@pytest.mark.parametrize("bins", [1, 4])
@pytest.mark.parametrize("epsilon", [0.1, 20])
def test_few_bins_have_the_noise_of_laplace_and_leave_delta(bins, epsilon):
    how = {"bins": bins, "bounds": (0, 100), "epsilon": epsilon, "delta": 1e-6}
    mechanism, budget = quoted(dp.workload, X, "prefix", **how), dp.Budget(epsilon=20, delta=1e-6)
    assert mechanism.noise.distribution == "laplace"
    assert isinstance(mechanism.loss, dp.privacy.Pure) and mechanism.loss.epsilon <= epsilon
    dp.workload(X, "prefix", **how, budget=budget)
    assert budget.spent == {"epsilon": Fraction(str(epsilon)), "delta": 0}
