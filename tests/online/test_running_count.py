"""Running totals: the nodes that a row is in, estimates, error bars, and a stream that is kept."""

import contextlib
import itertools
import json
import math
import sqlite3
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, StreamError
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.online.running_count import RunningCount, _mean_variance, _Root, _weights
from dpfast.rng import InsecureGenerator

from ..support.pairwise import quick_rows

LOSSES = [{"epsilon": 1.0}, {"rho": 0.3}, {"epsilon": 0.5, "delta": 1e-6}]
SILENT = patch.object(IntegerNoise, "draw", lambda self, size, generator: np.zeros(size, np.int64))


def nodes(values, **kw):
    """The exact sums that noise is added to, in order, and the stream."""
    stream, found = RunningCount(len(values), epsilon=1, **kw), []

    def seen(answer, formatted=stream._formatted):
        found.extend(answer["nodes"])
        return formatted(answer)

    stream._formatted = seen
    with SILENT:
        for value in values:
            stream.add(value)
    return np.array(found), stream


def sums(values, **kw):
    """The same of the square root of the matrix of prefix sums."""
    stream = RunningCount(len(values), rho=0.1, **kw)
    with SILENT:
        assert np.allclose([stream.add(value).total for value in values], np.cumsum(values))
    assert len(stream._noisy) == len(values)
    return np.array(stream._noisy[::-1]), stream


def moved(sums_of, steps, most, relation, **kw):
    """How one row moves the sums, whatever it adds to which step; and a stream."""
    kw |= {"sensitivity": most, "neighbors": relation}
    base, stream = sums_of([4] * steps, **kw)
    moves = []
    for step, added in itertools.product(range(steps), range(most + 1)):
        values = [4] * steps
        values[step] += added
        moves.append(sums_of(values, **kw)[0] - base)
    if relation == "replace":
        moves = [a - b for a, b in itertools.combinations(moves, 2)]
    return moves, stream


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 8, 13, 100])
@pytest.mark.parametrize("fan_out", [None, 2, 3, 100])
def test_without_noise_it_is_the_total(steps, fan_out):
    values = np.random.default_rng(steps).integers(-5, 10**9, steps)
    stream = RunningCount(steps, epsilon=1, fan_out=fan_out)
    with SILENT:
        found = [stream.add(int(value)) for value in values]
    assert [one.total for one in found] == np.cumsum(values).tolist()
    assert [one.step for one in found] == list(range(1, steps + 1))
    assert [one.remaining for one in found] == list(range(steps))[::-1]
    assert float(found[-1]) == found[-1].total
    with pytest.raises(StreamError, match="all its steps"):
        stream.add(1)


@quick_rows(8)
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize(("steps", "fan_out"), [(1, 2), (2, 2), (3, 2), (5, 2), (8, 2), (9, 3)])
@pytest.mark.parametrize("most", [1, 3])
def test_no_row_moves_further_than_the_noise_is_made_for(relation, steps, fan_out, most):
    """By enumeration: every step and every number that a row may add, or take elsewhere."""
    moves, stream = moved(nodes, steps, most, relation, fan_out=fan_out)
    l1, l2 = (max(np.sum(np.abs(m) ** k) for m in moves) for k in (1, 2))
    levels = sum(fan_out**j <= steps for j in range(9))
    said = levels * (2 if relation == "replace" else 1)
    assert l1 <= said * most and l2 <= said * most**2
    assert max(np.max(np.abs(m)) for m in moves) <= most
    assert stream._noise.scale == said * most  # of Laplace noise for an epsilon of 1
    if relation == "add-remove":
        assert l1 == levels * most  # planted: a level less would not cover it
    elif steps in (5, 8):  # where two steps share no node
        assert l1 >= (said - 2) * most


def errors(steps, draws, **kw):
    """Totals of 0, draw by draw, what is said of their deviations, and a stream."""
    rng, totals = InsecureGenerator(9), []
    for _ in range(draws):
        stream = RunningCount(steps, rng=rng, **kw)
        totals.append([stream.add(0) for _ in range(steps)])
    found = np.array([[one.total for one in own] for own in totals])
    said = np.array([one.deviation for one in totals[0]])
    assert (np.abs(found.mean(axis=0)) < 5 * said / math.sqrt(draws)).all()
    return found, said, stream


@quick_rows(1)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_errors_are_those_that_are_said(loss):
    found, said, stream = errors(13, 300, fan_out=2, **loss)
    assert (np.abs(found.var(axis=0) / said**2 - 1) < 0.3).all()
    # Planted: sums of noisy nodes, of which nodes below tell nothing.
    plain = stream._noise.deviation**2 * np.array([t.bit_count() for t in range(1, 14)])
    assert (found.var(axis=0)[[1, 3, 7]] < 0.75 * plain[[1, 3, 7]]).all()
    limit = 0.05 + 5 * math.sqrt(0.05 / 300)
    for step in (1, 8, 13):
        off, bar = np.abs(found[:, step - 1]), stream.half_width(step)
        assert np.mean(off > bar) <= limit < np.mean(off > 0.35 * bar)


@quick_rows(1)
@pytest.mark.parametrize("b", [2, 3, 5])
def test_the_weights_of_nodes_are_those_of_least_squares(b):
    for step in (1, 2, 3, 8, 18):
        rows = []
        for size in (b**j for j in range(6) if b**j <= step):
            for end in range(size, step + 1, size):
                rows.append([float(end - size < t <= end) for t in range(1, step + 1)])
        matrix = np.array(rows)
        best = np.ones(step) @ np.linalg.inv(matrix.T @ matrix) @ np.ones(step)
        weights, times = _weights(step, b)
        assert float(times @ weights**2) == pytest.approx(best)
        each = [_weights(t, b) for t in range(1, step + 1)]
        mean = np.mean([times @ weights**2 for weights, times in each])
        assert _mean_variance(step, b) == pytest.approx(mean)
    if b == 5:  # no array of so many
        assert RunningCount(1 << 40, rho=1).half_width((1 << 40) - 1) < 2000


@quick_rows(1)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_fan_out_is_the_best_one(loss):
    """By the deviations that are told; for pure noise more than two are better by far."""

    def mean(fan_out):
        stream, rng = RunningCount(300, fan_out=fan_out, **loss), InsecureGenerator(1)
        stream._generator = rng
        return np.mean([stream.add(0).deviation ** 2 for _ in range(300)])

    best = mean(None)
    assert best <= min(mean(b) for b in (2, 3, 5, 8, 17)) * (1 + 1e-9)
    assert mean(300) > 3 * best  # planted: a sum of noisy steps
    assert "epsilon" not in loss or len(loss) > 1 or mean(2) > 1.5 * best


@pytest.mark.parametrize("steps", [1, 2, 5, 12, 40])
def test_few_steps_have_no_tree_if_that_is_better(steps):
    def mean(fan_out):
        stream = RunningCount(steps, epsilon=0.1, fan_out=fan_out)
        return np.mean([stream.add(0).deviation ** 2 for _ in range(steps)])

    best = mean(None)
    assert best <= min(mean(b) for b in (2, 3, 6, steps + 1)) * (1 + 1e-9)
    assert steps == 1 or steps > 5 or mean(2) > 1.2 * best  # planted: always a tree


GAUSSIAN = [{"rho": 0.1}, {"epsilon": 0.1, "delta": 1e-3}]


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("most", [1, 3])
def test_no_row_moves_the_sums_of_a_root_further_than_the_noise_is_made_for(relation, most):
    """By enumeration, in integers."""
    moves, stream = moved(sums, 6, most, relation)
    reached = max(sum(int(x) ** 2 for x in m) for m in moves)
    allowed = stream._noise.scale**2 * 2 * Fraction("0.1")
    assert stream._noise.distribution == "gaussian" and reached <= allowed
    if relation == "add-remove":  # planted: a part in 1e9 less would not cover it
        assert reached > allowed * (1 - Fraction(1, 10**9))


@pytest.mark.parametrize("loss", GAUSSIAN, ids=str)
def test_a_root_errs_as_it_says_and_by_much_less_than_a_tree(loss):
    found, said, stream = errors(12, 150, **loss)
    assert stream._root is not None
    assert (np.abs(found.var(axis=0) / said**2 - 1) < 0.4).all()
    tree = RunningCount(12, fan_out=stream._b, **loss)
    of_tree = np.array([tree.add(0).deviation for _ in range(12)])
    assert np.mean(said**2) < 0.7 * np.mean(of_tree**2)
    off = [np.mean(np.abs(found[:, t - 1]) > stream.half_width(t)) for t in (1, 8, 12)]
    assert min(off) > 0.01 and max(off) < 0.05 + 5 * math.sqrt(0.05 / 150)


@pytest.mark.parametrize("steps", [1, 2, 17, 64])
def test_a_root_is_near_the_least_error(steps):
    """A bound by weights of the steps: see `dpfast.statistics.workload.strategy`."""
    root = _Root(steps)
    error = float(root.sensitivity(1, 1).l2_squared) * root.mean_variance * steps
    weights = np.sqrt(np.arange(steps, 0, -1.0))
    singular = np.linalg.svd(np.tri(steps) * np.sqrt(weights), compute_uv=False)
    least = singular.sum() ** 2 / weights.sum()
    assert 1 - 1e-9 <= error / least < 1.2


def test_where_there_is_a_tree(tmp_path):
    budget = dp.Budget(rho=9, path=tmp_path / "study.db")
    for kw in ({"epsilon": 1}, {"rho": 1, "name": "n", "budget": budget}, {"rho": 1, "fan_out": 2}):
        assert RunningCount(99, **kw)._root is None
    assert RunningCount(1 << 15, rho=1)._root is None
    stream = RunningCount(3, rho=1, rng=InsecureGenerator(1))
    before = stream._comparison.rho
    with patch.object(IntegerNoise, "add", side_effect=MemoryError), pytest.raises(MemoryError):
        stream.add(5)
    assert stream._comparison.rho == before == [] and stream.remaining == 3


def test_it_goes_on_in_another_process_by_a_secret_that_no_answer_has(tmp_path):
    path = tmp_path / "study.db"

    def opened():
        budget = dp.Budget(epsilon=2, path=path)
        return RunningCount(9, epsilon=1, fan_out=2, name="visits", budget=budget)

    def stored(query):
        with contextlib.closing(sqlite3.connect(path)) as db:
            return [column for row in db.execute(query).fetchall() for column in row]

    one = opened()
    answers = [one.add(123_456_789, number=0)]
    assert json.loads(*stored("SELECT state FROM secrets"))[:3] == [0, 123_456_789, 123_456_789]
    assert set(json.loads(*stored("SELECT answer FROM turns"))) == {"nodes", "total", "left"}
    answers += [one.add(k, number=k) for k in range(1, 5)]
    two = opened()
    assert two.past == tuple(answers) and two.remaining == 4
    assert two._done == one._done and two._comparison.rho == one._comparison.rho
    assert [two.add(99, number=k) for k in range(5)] == answers  # the record's
    answers.append(two.add(5))
    assert one.add(7).step == 7 and one.past[:6] == tuple(answers)  # it has caught up
    with SILENT:
        exact = opened()
        assert exact._comparison.rho[2] == 4 + 5 + 7 and exact._comparison.rho[0] == 0
    for _ in range(2):
        two.add(1)
    assert stored("SELECT count(*) FROM secrets") == [0]
    with pytest.raises(StreamError, match="all its steps"):
        one.add(1)
    assert len(dp.Budget(path=path).history) == 1


def test_what_is_refused():
    stream = RunningCount(4, epsilon=1)
    for value in (0.5, "x", True, [1], math.nan):
        with pytest.raises(ArgumentTypeError, match="value must be") as caught:
            stream.add(value)
        assert "0.5" not in str(caught.value)
    assert stream.remaining == 4
    for step in (0, 5, 1.5):
        with pytest.raises((ArgumentError, ArgumentTypeError), match="step must be"):
            stream.half_width(step)
    with pytest.raises(ArgumentError, match="confidence"):
        stream.half_width(1, 1)
