"""MWEM: how choices and measurements are distributed, exact sums, errors that shrink, bad input."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.online import mwem
from dpfast.privacy import ZCDP, Approx, Draws, Pure, range_within
from dpfast.rng import InsecureGenerator

from ..support.pairwise import quick_rows

HISTOGRAM = [130, 40, 20, 10]
QUERIES = np.array([[1, 0, 0, 0], [0, 1, 1, 0], [0.5, 0.5, 0, 0.25], [1, 1, 1, 1]])


@pytest.mark.parametrize("rounds", [1, 7, 30])
def test_shares_add_up(rounds):
    unit = 1 << 20
    c, noise, spent = mwem._shares(Pure(2), rounds, unit)
    assert spent == Draws(2, draws=2 * rounds)
    assert rounds * (2 * unit * Fraction(c) + unit / noise.scale) <= 2
    assert rounds * (2 * unit * c + float(unit / noise.scale)) == pytest.approx(2)
    for loss in (ZCDP(Fraction(1, 3)), Approx(Fraction(1, 2), Fraction(1, 10**6))):
        c, noise, spent = mwem._shares(loss, rounds, unit)
        if isinstance(spent, Pure):  # the better of the two for few rounds
            assert rounds * (2 * unit * Fraction(c) + unit / noise.scale) <= loss.epsilon
            assert noise.distribution == "laplace" and rounds < 30
            assert spent == Draws(loss.epsilon, draws=2 * rounds)
            continue
        assert spent == loss
        rho = loss.rho if isinstance(loss, ZCDP) else ZCDP.largest(loss.epsilon, loss.delta).rho
        chosen = ZCDP.of_pure(Draws(2 * unit * Fraction(c), 1, True)).rho
        if noise.distribution == "laplace":
            measured = ZCDP.of_pure(Draws(unit / noise.scale, cells=unit)).rho
        else:
            measured = Fraction(unit) ** 2 / (2 * noise.scale**2)
        assert rounds * (chosen + measured) <= rho
        assert float(rounds * (chosen + measured)) == pytest.approx(float(rho), rel=1e-6)
        assert range_within(rho / (2 * rounds)) >= 2 * unit * Fraction(c)


def marginals(columns, width=3):
    """Every cell of every marginal of so many of the columns, over all rows of 0 and 1."""
    bits = np.arange(1 << columns)[:, None] >> np.arange(columns) & 1
    return np.array(
        [
            (bits[:, list(some)] == cell).all(axis=1)
            for some in itertools.combinations(range(columns), width)
            for cell in itertools.product((0, 1), repeat=width)
        ],
        float,
    )


def test_no_element_changes_all_answers_by_more_than_is_said():
    g = np.random.default_rng(2)
    for matrix in (marginals(4), QUERIES, g.uniform(size=(7, 9)), np.zeros((2, 3))):
        bits = 20
        held = mwem._Queries(matrix, matrix.shape[1], bits)
        said, columns = held.sensitivity(), held.units.T.astype(float)
        most = [0.0, 0.0]
        for one, other in itertools.product(columns, repeat=2):
            moved = np.abs(one - other)
            most = [max(most[0], moved.sum()), max(most[1], (moved**2).sum())]
        assert most[0] <= said.l1 and most[1] <= said.l2_squared
        assert said.l0 == len(matrix) and np.abs(held.units).max() <= said.largest
    # Two rows that agree nowhere change each marginal twice: no less could be said of them.
    held = mwem._Queries(marginals(4), 16, 20)
    moved = np.abs(held.units[:, 0] - held.units[:, 15]).astype(float)
    assert moved.sum() >= 0.999 * held.sensitivity().l1
    assert (moved**2).sum() >= 0.999 * held.sensitivity().l2_squared


@quick_rows(1)
@pytest.mark.parametrize("loss", [{"rho": 0.5}, {"epsilon": 2}, {"epsilon": 2, "delta": 1e-6}])
def test_all_at_once_are_nearer_than_noisy_answers(loss, monkeypatch):
    """What is fitted agrees with itself, so it has less noise than what it was fitted to."""
    g = np.random.default_rng(5)
    queries, rows = marginals(5), 2000
    histogram = g.multinomial(rows, g.dirichlet(np.full(32, 2.0)))
    true = queries @ histogram / rows

    def error(seed, **kw):
        fitted = dp.online.MWEM(
            histogram, queries, rounds="all", rng=InsecureGenerator(seed), **loss, **kw
        )
        assert fitted.measured == tuple(range(len(queries)))
        return np.abs(queries @ fitted.distribution - true).mean()

    held = mwem._Queries(queries, 32, 20)
    noise = mwem.integer_noise(dp.privacy.loss(**{"delta": 0, "epsilon": None, "rho": None} | loss),
                               held.sensitivity())  # fmt: skip
    plain = noise.deviation / 2**20 / rows * math.sqrt(2 / math.pi)
    errors = [error(seed) for seed in range(3)]
    assert np.mean(errors) < 0.9 * plain
    monkeypatch.setattr(mwem, "LONGEST", 1e-3)  # the negative control: steps that lead nowhere
    assert error(0) > 2 * np.mean(errors)


def test_all_at_once_are_kept(tmp_path):
    budget = dp.Budget(rho=1, path=tmp_path / "study.db", neighbors="replace")
    kw = {"rounds": "all", "rho": 0.5, "budget": budget, "name": "all"}
    one = dp.online.MWEM(HISTOGRAM, QUERIES, **kw)
    again = dp.online.MWEM(HISTOGRAM, QUERIES, **kw)
    assert (one.distribution == again.distribution).all() and len(budget.history) == 1
    assert one.spent == ZCDP(Fraction(1, 2))


def test_sums_are_exact():
    """Integers below 2**53, whatever order they are added in."""
    g = np.random.default_rng(1)
    counts = g.integers(0, 1 << 30, 1000)
    rows = int(counts.sum())
    bits = min(24, 52 - rows.bit_length())
    queries = g.random((20, 1000))
    held = mwem._Queries(queries, 1000, bits)
    exact = [sum(round(Fraction(f) * 2**bits) * int(c) for f, c in zip(q, counts, strict=True))
             for q in queries]  # fmt: skip
    assert held.sums(counts.astype(float)).tolist() == exact
    order = g.permutation(1000)
    other = mwem._Queries(queries[:, order], 1000, bits)
    assert other.sums(counts[order].astype(float)).tolist() == exact
    share = g.dirichlet(np.ones(1000))
    means = np.ldexp(held.sums(share), -bits)
    rounded = np.ldexp(np.rint(np.ldexp(queries, bits)), -bits)
    np.testing.assert_allclose(means, rounded @ share, rtol=1e-12)


@pytest.mark.full
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("loss", [{"epsilon": 2}, {"rho": 0.3}, {"epsilon": 2, "delta": 1e-9}])
def test_the_distribution_learns_the_data(loss, average):
    g = np.random.default_rng(5)
    universe, rows = 60, 10**5
    histogram = g.multinomial(rows, g.dirichlet(np.ones(universe) / 5))
    queries = g.integers(0, 2, (200, universe))
    fitted = dp.online.MWEM(
        histogram, queries, rounds=40, average=average, rng=InsecureGenerator(1), **loss
    )
    truth = queries @ histogram / rows
    before = np.abs(queries.mean(axis=1) - truth)
    after = np.abs(queries @ fitted.distribution - truth)
    assert after.max() < before.max() / (2 if average else 4)
    assert fitted.distribution.sum() == pytest.approx(1) and (fitted.distribution >= 0).all()
    assert len(fitted.measured) == 40 and set(fitted.measured) <= set(range(200))
    answer = fitted.answer(queries[0])
    assert answer == pytest.approx(queries[0] @ fitted.distribution)
    assert not answer.hard and answer.spent == fitted.spent
