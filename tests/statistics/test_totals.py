"""Counts, sums, means, variances: exact answers, missing rows, weights, how much noise."""

import math
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast._core.error_bars import BOUND
from dpfast.errors import ArgumentTypeError, BudgetError, DataError
from dpfast.measurement import choice, linear, statistic
from dpfast.measurement.linear import LinearMeasurement
from dpfast.noise.calibrated_integer import integer_noise
from dpfast.rng import InsecureGenerator
from dpfast.statistics.totals import api, moments
from dpfast.tables import Chunk

from ..reference.summaries import quantise as reference
from ..support.noise import Recorder
from ..support.pairwise import quick_rows
from ..support.refused import refused
from ..support.views import prepared, quoted

STATISTICS = {"count": api.count, "sum": api.sum, "mean": api.mean, "variance": api.variance}
RELATIONS = ["replace", "add-remove"]
X = np.round(np.random.default_rng(31).normal(30, 20, 500))
X[::7] = 0.0
BOUNDS = {"bounds": (0, 100)}


def recorded(name, data, **kw):
    """``(l1, l2 squared, moved, most)``, the vector that noise is added to, the exact answer."""
    recorder = Recorder()
    if name != "count":
        kw = {"bounds": (-1.0, 2.5), **kw}
    with (
        patch.object(linear, "plan", linear.plan.__wrapped__),
        patch.object(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__),
        patch.object(linear, "choose_noise", recorder),
    ):
        found = STATISTICS[name](data, epsilon=1, **kw)
    return recorder.norms, recorder.values, found


KINDS = {"sum": moments.Sum, "mean": moments.Mean, "variance": moments.Variance}


def expected(name, values, relation, where, bounds=(-1.0, 2.5)):
    made = KINDS[name](bounds=bounds).measure(epsilon=1, unit=relation, where=where is not None)
    grid = made.inner.columns[0].cells
    kept = values if where is None else values[where]
    cells = reference.cells(kept.tolist(), grid.grid, grid.first, grid.span)
    rows = [Fraction(grid.grid) * (grid.first + u) for u in cells]
    if name == "sum":
        return float(sum(rows))
    mean = sum(rows) / len(rows)
    return float(mean if name == "mean" else sum((x - mean) ** 2 for x in rows) / len(rows))


@pytest.mark.parametrize("relation", RELATIONS)
def test_degrees_of_freedom(relation):
    values, ends = np.random.default_rng(0).normal(1, 2, 50), np.array([-9.0, 9.0])
    found = recorded("variance", values, neighbors=relation, ddof=1)[2]
    assert found == pytest.approx(np.clip(values, -1, 2.5).var(ddof=1), rel=1e-8)
    assert recorded("variance", ends, neighbors=relation, ddof=1)[2] == 3.5**2 / 2
    for n in [0, 1]:
        found = recorded("variance", ends[:n], neighbors=relation, ddof=1)[2]
        assert found == (0.0 if relation == "replace" else 3.5**2 / 8)


@pytest.mark.parametrize("form", ["nan", "null"])
def test_missing_rows(form):
    values = [0.0, None, 2.0, None, 1.0]
    data = pa.array(values)
    if form == "nan":
        data = np.array([math.nan if v is None else v for v in values])
    where, whole = np.array([1, 1, 0, 0, 1], bool), np.array([1, 0, 1, 0, 1], bool)
    for name, kw, due in (
        ("sum", {"nan": "drop"}, 3), ("mean", {"nan": "drop"}, 1), ("sum", {"nan": "lower"}, 1),
        ("sum", {"nan": "upper"}, 8), ("sum", {"nan": 0.5}, 4), ("mean", {"nan": "upper"}, 1.6),
        ("sum", {"nan": 77}, 8), ("variance", {"nan": 1}, 0.4),  # clipped like a row
        ("count", {}, 5), ("count", {"nan": "drop"}, 3), ("count", {"where": where}, 3),
        ("sum", {"nan": "upper", "where": where}, 3.5), ("sum", {}, 3),
        ("count", {"where": where, "nan": "drop"}, 2),
        ("sum", {"where": whole, "nan": "raise"}, 3),  # no missing row is asked for
    ):  # fmt: skip
        found = recorded(name, data, neighbors="add-remove", **kw)[2]
        assert found == pytest.approx(due, abs=1e-7), (name, kw)
    with pytest.raises(DataError, match="nan='raise'"):
        recorded("sum", data, neighbors="replace")


class Stream:
    """A source that does not know its length, and may lose sight of its nulls."""

    dtype = np.dtype(np.float64)
    length = nulls = None

    def __init__(self, chunks):
        self.chunks = chunks

    def reduce(self, summarise, merge):
        total, *parts = [summarise(chunk) for chunk in self.chunks]
        for part in parts:
            total = merge(total, part)
        return total

    def sample(self, count, words):
        return None


def test_masks_of_streams():
    ones, where = np.ones(3), np.array([1, 0, 1, 0, 1, 1], bool)
    chunks = [Chunk(ones, 0), Chunk(ones[:2], 3, 1, np.array([True, False, True]))]
    assert recorded("count", Stream(chunks))[2] == 6
    assert recorded("count", Stream(chunks), where=where)[2] == 4
    assert recorded("count", Stream(chunks), where=where, nan="drop")[2] == 3
    for length in [5, 7]:
        with pytest.raises(DataError, match="one entry for each row"):
            recorded("count", Stream(chunks), where=np.ones(length, bool))
    lost = [Chunk(ones, 0), Chunk(ones[:2], 3, 1)]
    assert recorded("count", Stream(lost))[2] == 6
    with pytest.raises(DataError, match="which rows are null"):
        recorded("count", Stream(lost), where=where)


def test_answers_lie_on_a_grid_that_knows_no_data():
    """Odd multiples of the public grid turn up for either of two neighbors."""
    for data in [np.zeros(9), np.array([0.3] + [0.0] * 8)]:
        rng = InsecureGenerator(3)
        units = [api.sum(data, bounds=(0, 1), epsilon=1.0, rng=rng) * 2.0**40 for _ in range(200)]
        assert all(u == int(u) for u in units)
        assert 70 < sum(int(u) % 2 for u in units) < 130


NARROW, WEIGHTED = (1.0, math.nextafter(1.0, 2)), {"weights": [1.0] * 3, "weight_bounds": (0, 1)}


@pytest.mark.parametrize(("name", "kw", "words"), [
    *((name, *case) for name in KINDS for case in (
        ({"bounds": NARROW}, "apart"), ({"epsilon": 501}, "epsilon"), ({"nan": "drop"}, "nan"),
        ({"data": np.ones((3, 2))}, "or pass axis=0"))),
    *(("mean", {**WEIGHTED, "weight_bounds": pair}, "at least 0, and not both 0")
      for pair in ((-1, 1), (0, 0))),
    *(("mean", {one: WEIGHTED[one]}, "weight_bounds must be given with weights")
      for one in WEIGHTED),
])  # fmt: skip
def test_bad_arguments_cost_nothing(name, kw, words):
    given = {"data": [1.0, 2.0, 3.0], "bounds": (0, 5), "epsilon": 0.5, **kw}
    refused(STATISTICS[name], words, **given, neighbors="replace")


@quick_rows(2)
@pytest.mark.parametrize("width", [16, 32, 64, 16_000])
def test_a_variance_is_charged_what_is_drawn_for_any_number_of_rows(width, monkeypatch):
    """In rho, on few cells: the choice of a distribution must not change with what a row moves."""

    def most():
        over, ends = [], (1e16, 1e16 + width)
        for thousandths in range(1500, 1640, 4):
            asked = {"epsilon": Fraction(thousandths, 1000), "neighbors": "replace"}
            made = quoted(dp.variance, np.array(ends), bounds=ends, **asked)
            drawn = (made.plan(n).noise.loss for n in (2, 3, 100, 10**6))
            over.append(max(loss.to_zcdp().rho for loss in drawn) / made.loss.to_zcdp().rho)
        return max(over)

    assert most() <= 1
    if width <= 32:  # the planted fault: chosen anew for each number of rows
        monkeypatch.setattr(linear, "plan", linear.plan.__wrapped__)
        monkeypatch.setattr(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__)
        anew = lambda loss, moved, *pinned: integer_noise(loss, moved)  # noqa: E731
        monkeypatch.setattr(choice, "integer_noise", anew)
        assert most() > 1.1


@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": 0.3}, {"epsilon": 0.5, "delta": 1e-6}])
@pytest.mark.parametrize("relation", RELATIONS)
def test_std_is_the_root_of_the_variance(loss, relation):
    given, both = {**BOUNDS, **loss, "neighbors": relation}, np.stack([X, X / 2], axis=1)
    for data, kw in [(X, {}), (X, {"where": X > 5, "ddof": 1}), (both, {"axis": 0}),
                     (X, {"ids": np.arange(500) // 2, "max_rows": 2})]:  # fmt: skip
        std, variance = (
            f(data, **given, **kw, rng=InsecureGenerator(3)) for f in (dp.std, dp.variance)
        )
        assert np.array_equal(std, np.sqrt(variance))
    one, other = (quoted(f, X, **given) for f in (dp.std, dp.variance))
    assert one.loss == other.loss


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_error_bar_of_std(relation):
    limit, worst = 0.05 + 5 * math.sqrt(0.05 / 500), 0.0
    asked = {**BOUNDS, "epsilon": 1, "neighbors": relation}
    for data in (np.zeros(400), np.full(400, 50.0), np.repeat([0.0, 100.0], 200)):
        mechanism, rows = prepared(dp.std, data, **asked)
        summary, rng, bar = mechanism.reduce(rows), InsecureGenerator(5), mechanism.error(400, 0.95)
        off = np.abs([mechanism.finish(summary, rng) - data.std() for _ in range(500)])
        assert bar.note == BOUND and np.mean(off > bar.half_width * (1 + 1e-9)) <= limit
        worst = max(worst, np.mean(off > 0.5 * bar.half_width))
    assert worst > limit
    each, other = (quoted(f, np.zeros((400, 2)), axis=0, **asked) for f in (dp.std, dp.variance))
    widths = each.error(400, 0.9).half_width
    assert widths == [math.sqrt(w) for w in other.error(400, 0.9).half_width]
    if relation == "add-remove":
        assert each.error(None, 0.9).half_width is mechanism.error(None, 0.9).half_width is None


LIMITS = {"sum": (-0.5, 2.0), "mean": (0.25, 2.0)}


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", LIMITS)
def test_with_weights_and_without_noise_it_is_the_statistic(name, relation):
    def weighted(data, weights, **kw):
        kw = {"weights": weights, "weight_bounds": LIMITS[name], "neighbors": relation, **kw}
        return recorded(name, data, **kw)

    data, weights = np.random.default_rng(0).normal(1, 2, (2, 30_000))
    x, w = np.clip(data, -1, 2.5), np.clip(weights, *LIMITS[name])
    vector = weighted(data, weights)[1]
    assert weighted(data[::-1], weights[::-1])[1] == vector
    assert weighted(pa.array(data), weights.tolist())[1] == vector
    for where, kw in ((data > -99, {}), (data > 0, {"where": data > 0})):
        due = (w * x)[where].sum() if name == "sum" else np.average(x[where], weights=w[where])
        assert weighted(data, weights, **kw)[2] == pytest.approx(due, rel=1e-7)
    assert weighted([], [])[2] == (0 if name == "sum" else 0.75)
    if name == "sum":
        rows = [0.0, math.nan, 1.0, 2.0], [1.0, 1.0, math.nan, 2.0]
        with pytest.raises(DataError):
            weighted(*rows, nan="raise")
        assert weighted(*rows, nan="drop", neighbors="add-remove")[2] == 4.0
        assert weighted(*rows, nan="upper")[2] == 2.5 + 2 + 4


def counted(data, **kw):
    mechanism, rows = prepared(dp.count_nonzero, data, epsilon=1, **kw)
    (count,) = mechanism.plan.totals(mechanism.reduce(rows))
    return count


def test_what_is_missing_counts_unless_it_is_dropped():
    for dtype in ("f8", "f4", "i8", "u1", "i2", "?"):
        data = (X % 3).astype(dtype)[::-2]
        assert counted(data) == np.count_nonzero(data) != 0
    data = np.array([0.0, -0.0, 5e-324, -1.0, math.inf, math.nan])
    where = np.array([1, 0, 1, 1, 0, 1], bool)
    assert counted(data) == np.count_nonzero(data) == 4 and counted(data, nan="drop") == 3
    assert counted(data, where=where) == 3 and counted(data, where=where, nan="drop") == 2
    nulls = pa.array([0, 0, None, 7, None])
    assert counted(nulls) == 3 and counted(nulls, nan="drop") == 1
    both = np.stack([X, X % 2, np.full(len(X), np.nan)], axis=1)
    for kw, due in ({}, both), ({"nan": "drop", "where": X > 9}, np.nan_to_num(both)[X > 9]):
        found = dp.count_nonzero(both, axis=0, epsilon=500, **kw)
        assert found.tolist() == np.count_nonzero(due, axis=0).tolist()
    with pytest.raises(ArgumentTypeError, match="numbers"):
        dp.count_nonzero(np.array(["2020-01-01"], "M8[D]"), epsilon=1)


SIZES = np.arange(400) % 7 + 1
WHO = np.repeat(np.arange(400), SIZES)
VISITS = {"who": WHO, "x": WHO / 2}


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_share_of_people_of_whom_all_rows_count(neighbors):
    loud = {"epsilon": 40, "ids": "who", "neighbors": neighbors}
    for most in (1, 4, 7):
        found = dp.kept_whole(VISITS, max_rows=most, rng=InsecureGenerator(1), **loud)
        assert found == pytest.approx(np.mean(most >= SIZES), abs=1e-2)
    where = np.arange(len(WHO)) % 2 == 0
    sizes = np.bincount(WHO[where])
    found = dp.kept_whole(WHO, ids=WHO, max_rows=2, where=where, epsilon=40)
    assert found == pytest.approx(np.mean(sizes[sizes > 0] <= 2), abs=1e-2)


def test_a_person_is_one_number_whatever_rows_there_are():
    """What is summed up moves as the mean of one number more: also for a person of 1,000 rows."""
    seen, finish = [], LinearMeasurement.finish

    def watched(self, summary, generator):
        seen.append((summary[0].rows, summary[0].sum))
        return finish(self, summary, generator)

    for ids in (WHO, np.r_[WHO, np.full(1000, 999)], np.r_[WHO, [999]]):
        measured = dp.KeptWhole().measure(epsilon=1, unit=dp.Unit(ids="", max_rows=3))
        with patch.object(LinearMeasurement, "finish", watched):
            measured(ids, ids=ids, rng=InsecureGenerator(1))
    (rows, kept), large, small = seen
    assert large[0] == small[0] == rows + 1
    assert large[1] == kept and small[1] > kept


def test_the_loss_of_the_share_is_one_of_people():
    budget, asked = dp.Budget(epsilon=1, ids="who"), {"ids": "who", "max_rows": 3}
    dp.kept_whole(VISITS, epsilon=1, budget=budget, **asked)
    with pytest.raises(BudgetError):
        dp.kept_whole(VISITS, epsilon=0.1, budget=budget, **asked)
    for data, kw, text in (
        (WHO, {}, "ids must be given, with the id of each row"),
        (WHO, {"ids": WHO}, "max_rows must be given with ids"),
        (VISITS, {"ids": "who", "max_rows": "auto"}, "max_rows must be a whole number"),
    ):
        refused(dp.kept_whole, text, data=data, epsilon=1, **kw)
    bar = dp.expected_error(dp.kept_whole, WHO, ids=WHO, max_rows=3, epsilon=1, rows=400)
    assert bar.half_width is None and "people" in bar.note
