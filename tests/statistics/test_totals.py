"""Count, sum, mean, variance, std: exact answers, missing rows, how much noise, what is spent."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast._core.error_bars import BOUND
from dpfast.errors import ArgumentError, BudgetError, DataError
from dpfast.measurement import choice, linear, statistic
from dpfast.noise.calibrated_integer import integer_noise
from dpfast.rng import InsecureGenerator
from dpfast.statistics.totals import api, moments
from dpfast.tables import Chunk, memory

from ..reference.summaries import quantise as reference
from ..support.noise import Recorder
from ..support.pairwise import every_value, pairwise, quick_rows
from ..support.views import prepared, quoted

pa = pytest.importorskip("pyarrow")

STATISTICS = {
    "count": api.count,
    "sum": api.sum,
    "mean": api.mean,
    "variance": api.variance,
}
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


@quick_rows(2)
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_variance_with_a_public_n(n):
    """The extremes of the square domain: the sensitivity (n - 1) s^2 is reached, never passed."""
    worst = 0
    for rest in itertools.product([-1.0, 0.75, 2.5], repeat=n - 1):
        found = [recorded("variance", np.array([x, *rest])) for x in (-1.0, 0.1, 2.5)]
        asked = found[0][0]
        for a, b in itertools.combinations(found, 2):
            worst = max(worst, abs(a[1][0] - b[1][0]))
    assert worst == asked[0] and asked[1] == worst**2


# ---- Exact answers ----


KINDS = {"sum": moments.Sum, "mean": moments.Mean, "variance": moments.Variance}


def expected(name, values, relation, where, bounds=(-1.0, 2.5)):
    """By definition, from the cells of the plain twin."""
    made = KINDS[name](bounds=bounds).measure(epsilon=1, unit=relation, where=where is not None)
    grid = made.inner.columns[0].cells
    kept = values if where is None else values[where]
    cells = reference.cells(kept.tolist(), grid.grid, grid.first, grid.span)
    rows = [Fraction(grid.grid) * (grid.first + u) for u in cells]
    if name == "sum":
        return float(sum(rows))
    mean = sum(rows) / len(rows)
    return float(mean if name == "mean" else sum((x - mean) ** 2 for x in rows) / len(rows))


@pairwise
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", ["sum", "mean", "variance"])
@pytest.mark.parametrize("masked", [False, True])
def test_without_noise_it_is_the_statistic(name, relation, masked):
    values = np.random.default_rng(0).normal(1, 2, 500)
    where = np.ones(500, bool) if masked else None
    found = recorded(name, values, neighbors=relation, where=where)[2]
    assert found == expected(name, values, relation, where)
    clipped = np.clip(values, -1, 2.5)
    assert found == pytest.approx(
        {"sum": clipped.sum(), "mean": clipped.mean(), "variance": clipped.var()}[name], rel=1e-8
    )


@pytest.mark.parametrize("relation", RELATIONS)
def test_degrees_of_freedom(relation):
    values = np.random.default_rng(0).normal(1, 2, 50)
    found = recorded("variance", values, neighbors=relation, ddof=1)[2]
    assert found == pytest.approx(np.clip(values, -1, 2.5).var(ddof=1), rel=1e-8)
    ends = np.array([-9.0, 9.0])
    assert recorded("variance", ends, neighbors=relation, ddof=1)[2] == 3.5**2 / 2
    for n in [0, 1]:
        found = recorded("variance", ends[:n], neighbors=relation, ddof=1)[2]
        assert found == (0.0 if relation == "replace" else 3.5**2 / 8)


@pytest.mark.parametrize("workers", ["1", "3"])
def test_threads_change_nothing(workers, monkeypatch):
    monkeypatch.setenv("DPFAST_NUM_THREADS", workers)
    monkeypatch.setattr(memory, "SLICE", 1 << 10)
    data = np.random.default_rng(4).normal(0, 1, 10_000)
    data[7] = math.nan
    found = recorded("variance", data, nan="lower", neighbors="add-remove")
    monkeypatch.setenv("DPFAST_NUM_THREADS", "1")
    assert recorded("variance", data, nan="lower", neighbors="add-remove") == found


# ---- Missing rows, masks ----


@pytest.mark.parametrize("form", ["nan", "null"])
def test_missing_rows(form):
    values = [0.0, None, 2.0, None, 1.0]
    data = pa.array(values)
    if form == "nan":
        data = np.array([math.nan if v is None else v for v in values])
    kw = {"neighbors": "add-remove"}
    assert recorded("sum", data, nan="drop", **kw)[2] == 3.0
    assert recorded("mean", data, nan="drop", **kw)[2] == pytest.approx(1.0, abs=1e-9)
    assert recorded("sum", data, nan="lower", **kw)[2] == 1.0
    assert recorded("sum", data, nan="upper", **kw)[2] == 8.0
    assert recorded("sum", data, nan=0.5, **kw)[2] == 4.0
    assert recorded("sum", data, nan=77, **kw)[2] == 8.0  # clipped like a row
    assert recorded("mean", data, nan="upper")[2] == pytest.approx(1.6, abs=1e-9)
    assert recorded("variance", data, nan=1)[2] == pytest.approx(0.4, abs=1e-7)
    assert recorded("count", data)[2] == 5
    assert recorded("count", data, nan="drop")[2] == 3
    where = np.array([True, True, False, False, True])
    assert recorded("sum", data, nan="upper", where=where, **kw)[2] == 3.5
    assert recorded("count", data, where=where)[2] == 3
    assert recorded("count", data, where=where, nan="drop")[2] == 2
    with pytest.raises(DataError, match="nan='raise'"):
        recorded("sum", data, neighbors="replace")
    assert recorded("sum", data)[2] == 3.0
    whole = np.array([True, False, True, False, True])
    assert recorded("sum", data, where=whole)[2] == 3.0  # no missing row is asked for


class Stream:
    """A source that does not know its length, and may lose sight of its nulls."""

    dtype = np.dtype(np.float64)
    length = nulls = None

    def __init__(self, chunks):
        self.chunks = chunks

    def reduce(self, summarise, merge):
        found = [summarise(chunk) for chunk in self.chunks]
        total = found[0]
        for part in found[1:]:
            total = merge(total, part)
        return total

    def sample(self, count, words):
        return None


def test_masks_of_streams():
    ones = np.ones(3)
    chunks = [Chunk(ones, 0), Chunk(ones[:2], 3, 1, np.array([True, False, True]))]
    where = np.array([True, False, True, False, True, True])
    assert recorded("count", Stream(chunks))[2] == 6
    assert recorded("count", Stream(chunks), where=where)[2] == 4
    assert recorded("count", Stream(chunks), where=where, nan="drop")[2] == 3
    for length in [5, 7]:
        with pytest.raises(DataError, match="one entry for each row"):
            recorded("count", Stream(chunks), where=np.ones(length, bool))
    lost = [Chunk(ones, 0), Chunk(ones[:2], 3, 1)]
    assert recorded("count", Stream(lost))[2] == 6
    with pytest.raises(DataError, match="nulls have no place"):
        recorded("count", Stream(lost), where=where)


# ---- Traps of floating point ----


def test_answers_lie_on_a_grid_that_knows_no_data():
    """Odd multiples of the public grid turn up for either of two neighbors."""
    for data in [np.zeros(9), np.array([0.3] + [0.0] * 8)]:
        rng = InsecureGenerator(3)
        units = [api.sum(data, bounds=(0, 1), epsilon=1.0, rng=rng) * 2.0**40 for _ in range(200)]
        assert all(u == int(u) for u in units)
        assert 70 < sum(int(u) % 2 for u in units) < 130


def test_bounds_that_are_one_number():
    ones = np.ones(10)
    kw = {"bounds": (2.5, 2.5), "epsilon": 1.0}
    assert api.sum(ones, neighbors="replace", **kw) == 25.0
    for relation in RELATIONS:
        assert api.mean(ones, neighbors=relation, **kw) == 2.5
        assert api.variance(ones, neighbors=relation, **kw) == 0.0
    noisy = api.sum(ones, neighbors="add-remove", rng=InsecureGenerator(1), **kw)
    assert noisy != 25.0 and abs(noisy - 25) < 50
    nothing = {"bounds": (0, 0), "epsilon": 1.0, "neighbors": "add-remove"}
    assert api.sum(ones, **nothing) == 0.0


# ---- How much noise ----


def test_the_pair_of_a_mean_has_half_the_variance_of_the_best_split():
    """The derivation of `totals.moments`, in units of v / n^2, on a grid of splits and means."""
    splits = np.linspace(0.001, 0.999, 999)
    places = np.linspace(0, 1, 101)
    pair = (1 - places) ** 2 + places**2
    split = (1 / (1 - splits[:, None]) ** 2 + (2 * places - 1) ** 2 / splits[:, None] ** 2) / 4
    best = split.max(axis=1).argmin()
    assert splits[best] == pytest.approx(0.5, abs=2e-3)
    np.testing.assert_allclose(split[best], 2 * pair, rtol=1e-2)
    # With Gaussian noise rho is what is split, and variances go with 1 / rho.
    gauss = (1 / (1 - splits[:, None]) + (2 * places - 1) ** 2 / splits[:, None]) / 4
    best = gauss.max(axis=1).argmin()
    np.testing.assert_allclose(gauss[best], pair, rtol=1e-2)


@quick_rows(2)
@pytest.mark.parametrize("place", [0.0, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("loss", [{"epsilon": 0.5}, {"rho": 0.1}])
def test_the_variance_of_a_mean_is_the_one_derived(place, loss):
    n, draws = 2000, 1500
    data = np.full(n, place)
    rng = InsecureGenerator(11)
    # Bounds further out than the data, so that clamping to them cuts nothing off.
    found = [
        api.mean(2 * data, bounds=(-1, 3), neighbors="add-remove", rng=rng, **loss)
        for _ in range(draws)
    ]
    m = (2 * place + 1) / 4
    v = 2 / 0.25 if "epsilon" in loss else 1 / 0.2
    derived = 16 * v * ((1 - m) ** 2 + m**2) / n**2
    assert np.var(found) == pytest.approx(derived, rel=0.2)
    assert np.mean(found) == pytest.approx(2 * place, abs=5 * math.sqrt(derived / draws))


# ---- The ledger, arguments ----


def test_what_is_spent():
    data = np.arange(100.0)
    budget = dp.Budget(epsilon=2, delta=1e-6, neighbors="add-remove")
    api.count(data, epsilon=1, budget=budget)
    assert budget.remaining["epsilon"] == 1
    kw = {"bounds": (0, 100), "neighbors": "add-remove", "budget": budget}
    api.mean(data, epsilon=Fraction(1, 2), delta=1e-7, **kw)  # Laplace: delta is left
    assert budget.remaining == {"epsilon": Fraction(1, 2), "delta": Fraction(1, 10**6)}
    api.sum(data, epsilon=0.001, delta=1e-7 * 5, **kw)
    assert budget.remaining["epsilon"] == Fraction(499, 1000)
    with pytest.raises(BudgetError):
        api.variance(data, epsilon=1, **kw)
    names = [line.what for line in budget.history]
    assert names == ["count, nan=keep", "mean, nan=drop", "sum, nan=drop"]


@every_value
@pytest.mark.parametrize("name", ["sum", "mean", "variance"])
@pytest.mark.parametrize(
    ("kw", "error", "words"),
    [
        ({"bounds": (1.0, math.nextafter(1.0, 2))}, ArgumentError, "apart"),
        ({"epsilon": 501}, ArgumentError, "epsilon"),
        ({"nan": "drop"}, ArgumentError, "nan"),
        ({"data": np.ones((3, 2))}, ArgumentError, "or pass axis=0"),
    ],
)
def test_bad_arguments_cost_nothing(name, kw, error, words):
    budget = dp.Budget(epsilon=1)
    given = {"data": [1.0, 2.0, 3.0], "bounds": (0, 5), "epsilon": 0.5, **kw}
    with pytest.raises(error, match=words) as caught:
        STATISTICS[name](**given, neighbors="replace", budget=budget)
    assert "\n" not in str(caught.value)
    assert budget.remaining["epsilon"] == 1


@quick_rows(2)
@pytest.mark.parametrize("width", [16, 32, 64, 16_000])
def test_a_variance_is_charged_what_is_drawn_for_any_number_of_rows(width, monkeypatch):
    """In rho, on few cells: the choice of a distribution must not change with what a row moves."""

    def most():
        over = []
        for thousandths in range(1500, 1640, 4):
            made = quoted(
                dp.variance, np.array([1e16, 1e16 + width]), bounds=(1e16, 1e16 + width),
                epsilon=Fraction(thousandths, 1000), neighbors="replace",
            )  # fmt: skip
            charged = made.loss.to_zcdp().rho
            drawn = (made.plan(n).noise.loss for n in (2, 3, 100, 10**6))
            over.append(max(loss.to_zcdp().rho for loss in drawn) / charged)
        return max(over)

    assert most() <= 1
    if width <= 32:  # the planted fault: chosen anew for each number of rows
        monkeypatch.setattr(linear, "plan", linear.plan.__wrapped__)
        monkeypatch.setattr(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__)
        anew = lambda loss, moved, *pinned: integer_noise(loss, moved)  # noqa: E731
        monkeypatch.setattr(choice, "integer_noise", anew)
        assert most() > 1.1


# ---- std ----


@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": 0.3}, {"epsilon": 0.5, "delta": 1e-6}])
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_std_is_the_root_of_the_variance(loss, relation):
    for kw in [{}, {"where": X > 5, "ddof": 1}, {"ids": np.arange(500) // 2, "max_rows": 2}]:
        given = {**BOUNDS, **loss, "neighbors": relation, **kw}
        variance = dp.variance(X, **given, rng=InsecureGenerator(3))
        assert dp.std(X, **given, rng=InsecureGenerator(3)) == math.sqrt(variance)
    table, given = np.stack([X, X / 2], axis=1), {**BOUNDS, **loss, "neighbors": relation}
    variances = dp.variance(table, axis=0, **given, rng=InsecureGenerator(3))
    found = dp.std(table, axis=0, **given, rng=InsecureGenerator(3))
    assert found.tolist() == np.sqrt(variances).tolist()
    one, other = (quoted(f, X, **given) for f in (dp.std, dp.variance))
    assert one.loss == other.loss


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_the_error_bar_of_std(relation):
    """It holds for all data, and some would not keep within half of it."""
    limit, worst = 0.05 + 5 * math.sqrt(0.05 / 500), 0.0
    for data in (np.zeros(400), np.full(400, 50.0), np.repeat([0.0, 100.0], 200)):
        asked = {**BOUNDS, "epsilon": 1, "neighbors": relation}
        mechanism, rows = prepared(dp.std, data, **asked)
        summary, rng = mechanism.reduce(rows), InsecureGenerator(5)
        bar = mechanism.error(400, 0.95)
        assert bar.note == BOUND
        off = np.abs([mechanism.finish(summary, rng) - data.std() for _ in range(500)])
        assert np.mean(off > bar.half_width * (1 + 1e-9)) <= limit
        worst = max(worst, np.mean(off > 0.5 * bar.half_width))
    assert worst > limit
    table = np.zeros((400, 2))
    each = quoted(dp.std, table, axis=0, **BOUNDS, epsilon=1, neighbors=relation)
    other = quoted(dp.variance, table, axis=0, **BOUNDS, epsilon=1, neighbors=relation)
    widths = each.error(400, 0.9).half_width
    assert widths == [math.sqrt(w) for w in other.error(400, 0.9).half_width]
    if relation == "add-remove":
        assert each.error(None, 0.9).half_width is mechanism.error(None, 0.9).half_width is None


def test_std_of_days_is_a_duration():
    days = np.datetime64("2024-01-01") + (X % 100).astype(int)
    limits = (np.datetime64("2024-01-01"), np.datetime64("2024-04-10"))
    found = dp.std(days, bounds=limits, epsilon=500)
    assert abs(found / np.timedelta64(1, "D") - np.std(X % 100)) <= 1
