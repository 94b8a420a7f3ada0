"""A loss of people: noise is that for k rows of a person, and no more of them are looked at."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast._kernels.tables import Key
from dpfast.errors import ArgumentError
from dpfast.measurement import statistic, unit
from dpfast.measurement.linear import Setting
from dpfast.measurement.unit import OfUnits, Unit
from dpfast.noise.box import BoxNoise
from dpfast.noise.calibrated_integer import IntegerNoise, integer_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.noise.shared import SharedNoise
from dpfast.privacy import ZCDP, Approx, float_down, group_within
from dpfast.statistics import histogram
from dpfast.statistics.quantiles.draws import PARTS
from dpfast.statistics.totals import count
from dpfast.summaries import units
from dpfast.tables import people as ids_of_rows
from dpfast.tables.ids import checked
from dpfast.tables.people import split_units

from ..support.pairwise import every_value
from ..support.refused import refused
from ..support.views import innermost, quoted

RNG = np.random.default_rng(4)
N = 300
IDS = RNG.integers(0, 60, N)
#: The rows of a person are alike, so it does not matter which of them count.
X = np.random.default_rng(5).integers(0, 400, 60)[IDS] / 4
BOUNDS = {"bounds": (0, 100)}
RELATIONS = ["add-remove", "replace"]


def steps(relation, k):
    return 2 * k if relation == "replace" else k


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("k", [1, 40])
def test_what_is_charged_is_what_was_asked(k, relation):
    kw = {**BOUNDS, "ids": IDS, "max_rows": k, "neighbors": relation}
    for loss in ({"epsilon": 0.7}, {"epsilon": 1, "delta": 1e-6}, {"rho": Fraction(1, 3)}):
        asked = dp.privacy.loss(**loss)
        for call, own in ((dp.sum, 1), (dp.mean, 1), (dp.median, k)):
            made = quoted(call, X, **kw, nan="drop", **loss)
            assert isinstance(made, OfUnits) and made.neighbors == relation
            part = group_within(asked, steps(relation, own))
            assert made.steps == own and made.inner.neighbors == "add-remove"
            if isinstance(asked, ZCDP):
                assert made.loss == asked and made.inner.loss == part
            else:
                assert made.loss.epsilon == asked.epsilon
                assert made.inner.loss.epsilon == part.epsilon
        smooth = quoted(dp.median, X, **kw, **loss, method="smooth", noise="auto")
        assert smooth.loss == asked or isinstance(asked, Approx)
    test = quoted(dp.ptr.mean, X, **kw, epsilon=1, delta=1e-6, proposed=3)
    assert test.loss == Approx(1, 1e-6)
    assert test.inner.loss == group_within(test.loss, steps(relation, k))


@every_value
@pytest.mark.parametrize("k", [1, 20])
@pytest.mark.parametrize("loss", [{"epsilon": 0.7}, {"rho": 0.02}], ids=str)
def test_noise_is_that_of_a_person_with_k_rows(k, loss):
    """Additive noise, under add-remove: as if a person's rows were one row k times as large."""
    kw, asked = {"ids": IDS, "max_rows": k, **loss}, dp.privacy.loss(**loss)
    direct, count = integer_noise(asked, Sensitivity.of_one(k)), quoted(dp.count, X, **kw)
    own = count.inner.integer_noise
    assert (own.distribution, own.scale, own.shift) == (
        direct.distribution, direct.scale, direct.shift
    )  # fmt: skip
    assert count.error(N, 0.95).half_width == direct.half_width(0.05)
    for bins in ([0, 9], [0, 3, 9]):  # in parts of a row, which may be in all of them
        own = quoted(dp.histogram, X, bins=bins, **kw).inner.noise
        assert own.distribution == direct.distribution and not own.shift
        assert own.scale == direct.scale * 2**histogram.PARTS
    total, setting = quoted(dp.sum, X, **BOUNDS, **kw).inner, Setting("add-remove")
    (size,) = [size for form in total.plan().forms for size in setting.sizes(form)]
    found = integer_noise(asked, Sensitivity.of_one(k * size))
    assert total.integer_noise.deviation == pytest.approx(found.deviation, rel=1e-9)
    both, of_rows = np.stack([X, X], axis=1), {"neighbors": "add-remove", **loss}
    each: dict = {"axis": 0, "nan": "raise", **BOUNDS}
    table, row = quoted(dp.sum, both, **each, **kw), quoted(dp.sum, both, **each, **of_rows)
    assert table.inner.plan().sizes == tuple(k * size for size in row.plan().sizes)
    bars = table.error(N, 0.95).half_width, row.error(N, 0.95).half_width
    assert bars[0] == pytest.approx(np.multiply(k, bars[1]), rel=0.05)
    # Under add-remove a person moves a rank by D = k max(q, 1 - q).
    made = innermost(quoted(dp.quantile, X, q=0.3, **BOUNDS, epsilon=0.7, ids=IDS, max_rows=k))
    most = 1 - Fraction(made.params.fraction, PARTS)
    assert made.rate == float_down(Fraction(7, 10) / (2 * k * most))


def of_a_draw(relation, k):
    kw = {"bounds": "auto", "ids": IDS, "max_rows": k, "epsilon": 1, "neighbors": relation}
    return quoted(dp.mean, X, **kw).loss.epsilon


def cost(relation, k):
    """How much a person changes the counts of two bins, in units of the noise: a pure loss."""
    rows = {"ids": [7] * 9 + [1, 2, 2, 2, 2], "x": [1.0] * 9 + [5.0] * 5}
    other = {"ids": [8] * 9 + [1, 2, 2, 2, 2], "x": [9.0] * 9 + [5.0] * 5}
    if relation == "add-remove":
        other = {name: column[9:] for name, column in rows.items()}
    bins = {"bins": [0, 3, 6, 9]}
    kw = {"ids": "ids", "max_rows": k, "epsilon": 1, "neighbors": relation, **bins}
    made = quoted(dp.histogram, rows, **kw)
    exact = {"ids": "ids", "max_rows": k, "epsilon": 400, **bins}  # the noise is 0
    change = sum(abs(dp.histogram(rows, **exact)[0] - dp.histogram(other, **exact)[0]))
    return change / made.inner.noise.scale * 2**histogram.PARTS


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_person_costs_what_was_asked(relation):
    for k in (1, 2, 4, 9):
        assert cost(relation, k) == of_a_draw(relation, k) == 1


@pytest.mark.parametrize(
    ("relation", "fault"), [("add-remove", "k"), ("replace", "k"), ("replace", "2")]
)
def test_a_loss_that_forgets_rows_is_caught(relation, fault, monkeypatch):
    """Planted: k forgotten; a factor of 2 forgotten where a person is replaced."""
    right = unit.one_row

    def wrong(loss, people, k):
        return right(loss, people, 1) if fault == "k" else right(loss, "add-remove", k)

    of_people = histogram.of_people
    monkeypatch.setattr(unit, "one_row", wrong)
    if fault == "k":
        wrong_size = lambda size, *more: of_people(1 << histogram.PARTS, *more)  # noqa: E731
        monkeypatch.setattr(histogram, "of_people", wrong_size)
    monkeypatch.setattr(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__)
    assert cost(relation, 4) > 1
    assert of_a_draw(relation, 4) > 1


FEW = [(dp.count, {}), (dp.sum, BOUNDS), (dp.mean, BOUNDS), (dp.variance, BOUNDS)]
SMOOTH, SEVENTHS = {**BOUNDS, "method": "smooth"}, [Fraction(1, 7), Fraction(6, 7)]
FEW += [(dp.median, SMOOTH), (dp.quantile, {**BOUNDS, "q": SEVENTHS[0]}), (dp.maximum, SMOOTH)]
FEW += [(dp.quantiles, {**BOUNDS, "qs": SEVENTHS}), (dp.iqr, SMOOTH), (dp.trimmed_mean, BOUNDS)]
FEW += [(dp.winsorized_mean, BOUNDS), (dp.histogram, {**BOUNDS, "bins": 5})]


@every_value
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("call", "more"), FEW, ids=[call.__name__ for call, _ in FEW])
def test_a_large_loss_gives_the_statistic_of_rows_that_count(call, more, relation):
    frame = pd.DataFrame({"who": IDS, "x": X})
    for k in (2, N):
        left = frame.groupby("who").head(k)["x"].to_numpy()
        assert len(left) == frame["who"].value_counts().clip(upper=k).sum()
        due = call(left, **more, epsilon=500)
        loud = {"epsilon": 500 * steps(relation, k)}  # a chance below 1e-40 of noise that shows
        found = call(frame, ids="who", max_rows=k, **more, **loud, neighbors=relation)
        due, found = (one[0] if isinstance(one, tuple) else one for one in (due, found))
        np.testing.assert_allclose(found, due, atol=0.3, rtol=1e-3)
        if call is dp.count:
            assert found == len(left)


def before_bounding():
    """Everybody has many rows, of which `where` leaves two: both have to count."""
    ids, where = np.repeat(np.arange(30), 10), np.tile(np.arange(10) > 7, 30)
    kw = {"ids": ids, "max_rows": 2, "where": where, "epsilon": 1000}
    found, mean = dp.count(ids, **kw), dp.mean(ids, bounds=(0, 29), **kw)
    (rows,), _ = dp.histogram(ids, bins=[0, 30], **kw)
    assert found == rows == 60 and abs(mean - 14.5) < 0.01
    return (split_units(ids, checked(ids))[1].kept(where, 2, Key(bytes(32))) == where).all()


def test_where_and_rows_of_nobody_come_before_bounding(monkeypatch):
    assert before_bounding()
    ids = [None, 1, None, 1, 1, None]
    assert dp.count(np.arange(6), ids=ids, max_rows=2, epsilon=1000) == 2
    right = ids_of_rows.IdColumn.kept

    def late(self, where, max_rows, key):  # planted
        found = right(self, None, max_rows, key)
        return found if where is None else found & where

    monkeypatch.setattr(ids_of_rows.IdColumn, "kept", late)
    assert not before_bounding()


@pytest.mark.parametrize("kw, rule", [
    ({"ids": IDS}, "max_rows must be given with ids"),
    ({"max_rows": 3}, "max_rows must be left out without ids"),
    ({"ids": X, "max_rows": 3}, "ids must be a one-dimensional column of integers"),
    ({"ids": "who", "max_rows": 3}, "ids must be one id for each row"),
    ({"ids": IDS, "max_rows": 10**10}, "epsilon must be at least .* a row's part of the loss"),
])  # fmt: skip
@pytest.mark.parametrize("call", [dp.mean, dp.median, dp.ptr.mean])
def test_bad_arguments(call, kw, rule):
    if call is dp.mean and kw.get("max_rows") == 10**10:  # noise for all of them at once
        assert quoted(call, X, **BOUNDS, epsilon=1, **kw).loss.epsilon == 1
        return
    more = {"proposed": 3, "delta": 1e-6} if call is dp.ptr.mean else {}
    refused(call, rule, data=X, **BOUNDS, epsilon=1, **more, **kw)


def pair_of(data, *, bounds, **kw):
    if isinstance(data, dict):
        two = {name: column for name, column in data.items() if name != "w"}
        return dp.covariance({**two, "y": data["x"]}, bounds=[bounds, bounds], **kw)
    return dp.covariance(np.stack([data, data], axis=1), bounds=[bounds, bounds], **kw)


SEVERAL = {
    "count": (dp.count, {}),
    "count nonzero": (dp.count_nonzero, {}),
    "sum": (dp.sum, BOUNDS),
    "mean": (dp.mean, BOUNDS),
    "variance": (dp.variance, BOUNDS),
    "std": (dp.std, BOUNDS),
    "covariance": (pair_of, BOUNDS),
    "weighted sum": (dp.sum, {**BOUNDS, "weights": "w", "weight_bounds": (-1, 2)}),
    "weighted mean": (dp.mean, {**BOUNDS, "weights": "w", "weight_bounds": (0, 2)}),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_a_person_moves_integers_by_no_more_than_their_noise_is_for(name, monkeypatch):
    """All rows of a person go: the integers, recorded, differ by at most k sensitivities."""
    (call, more), k, seen = SEVERAL[name], 3, []
    for kind in (IntegerNoise, BoxNoise):
        monkeypatch.setattr(kind, "add", lambda s, values, g: seen.append((s, values)) or values)
    for high in (0.0, 40.0, 100.0):
        rows = {"id": np.repeat([1, 2, 3], 3), "x": np.array([1.0, 50, 99] * 2 + [high] * 3)}
        if "weights" in more:
            rows["w"] = np.array([0.5, 1, 2] * 2 + [2.0] * 3)
        less = {name: column[:6] for name, column in rows.items()}
        for epsilon in (1, 12):
            seen.clear()
            for data in (rows, less):
                call(data, ids="id", max_rows=k, epsilon=epsilon, **more)
            (noise, a), (_, b) = seen
            moved = [abs(x - y) for x, y in zip(a, b, strict=True)]
            if isinstance(noise, BoxNoise):
                assert all(m <= most for m, most in zip(moved, noise.sensitivities, strict=True))
                assert "weighted" in name or moved[0] == k  # the number of rows
            elif noise.distribution == "staircase":
                assert sum(-(-(m >> noise.shift) // noise.staircase.step) for m in moved) <= 1
            else:
                assert sum(moved) <= float(noise.scale * epsilon) * 2.0**noise.shift * (1 + 1e-9)


@pytest.mark.parametrize("name", ["count", "mean"])
def test_noise_for_fewer_rows_is_caught(name, monkeypatch):
    """Planted: noise is for one row, at the loss of a person."""
    part = Unit.part
    monkeypatch.setattr(Unit, "part", lambda self, *loss: (part(self, *loss)[0], 1))
    monkeypatch.setattr(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__)
    monkeypatch.setattr(OfUnits, "loss", property(lambda self: self.inner.loss))
    with pytest.raises(AssertionError):
        test_a_person_moves_integers_by_no_more_than_their_noise_is_for(name, monkeypatch)


# ---- Totals of units. ----

DRAW = np.random.default_rng(35)
ENDS = [(0, 5), (-1, 1), (5, 10), (-7, 2), (-9, -4)]
PAY = DRAW.integers(-2, 4, 60).astype(float)
WHO = DRAW.integers(0, 12, 60)
KEYS = np.array(["a", "b"])[DRAW.integers(0, 2, 60)]


@pytest.fixture
def silent(monkeypatch):
    """No noise."""
    for noise in (IntegerNoise, BoxNoise):
        monkeypatch.setattr(noise, "add", lambda self, values, generator: list(values))
    for noise in (IntegerNoise, SharedNoise):
        monkeypatch.setattr(noise, "draw", lambda self, size, generator: np.zeros(size, np.int64))


def due(x, ids, ends):
    return sum(np.clip(x[ids == who].sum(), *ends) for who in set(ids.tolist()))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("ends", ENDS)
def test_totals_of_units_are_clamped(silent, ends, relation):
    def by_group(x):
        return [due(x[k == KEYS], WHO[k == KEYS], ends) for k in "ab"]

    kw = {"per_unit": ends, "epsilon": 1, "neighbors": relation, "ids": WHO}
    assert dp.sum(PAY, bounds=(-2, 3), **kw) == pytest.approx(due(PAY, WHO, ends))
    both = dp.sum(np.stack([PAY, -PAY], axis=1), axis=0, bounds=[(-2, 3), (-3, 2)], **kw)
    assert both == pytest.approx([due(PAY, WHO, ends), due(-PAY, WHO, ends)])
    groups = dp.group_by({"k": KEYS, "x": PAY, "i": WHO}, "k", keys=["a", "b"], ids="i")
    found = groups.sum("x", bounds=(-2, 3), per_unit=ends, epsilon=1)["sum"]
    assert found == pytest.approx(by_group(PAY), abs=1e-6)
    if ends[0] >= 0:
        ones = np.ones(60)
        assert dp.count(PAY, **kw) == due(ones, WHO, ends)
        assert dp.count_nonzero(PAY, **kw) == due(ones[PAY != 0], WHO[PAY != 0], ends)
        found = groups.agg({"n": dp.Count(per_unit=ends)}, epsilon=1)["n"]
        assert found.tolist() == by_group(ones)


def test_a_unit_without_a_number_counts_nothing(silent):
    x, ids = np.array([1.0, np.nan, np.nan]), [1, 2, None]
    assert dp.sum(x, bounds=(0, 9), ids=ids, per_unit=(5, 9), epsilon=1) == 5
    assert dp.count(x, ids=ids, nan="drop", per_unit=(5, 9), epsilon=1) == 5
    table = {"k": ["a"] * 3, "x": x, "i": ids}
    groups = dp.group_by(table, "k", keys=["a", "b"], ids="i")
    found = groups.sum("x", bounds=(0, 9), per_unit=(5, 9), epsilon=1)["sum"]
    assert found == pytest.approx([5, 0], abs=1e-6)


def swings(call, ends, **kw):
    units_ = [[]] + [
        list(rows) for n in (1, 2, 3) for rows in combinations_with_replacement((-4, 0, 5, 9), n)
    ]
    found = []
    for rows in units_:
        kw |= {"ids": [0] * len(rows), "per_unit": ends, "epsilon": 1}
        found.append(call(np.array(rows, float), **kw))
    return max(map(abs, found)), max(found) - min(found)


@pytest.mark.parametrize("ends", ENDS)
def test_no_unit_moves_the_sum_by_more_than_the_noise_is_for(silent, ends):
    (lo, hi), kw = ends, {"bounds": (-4, 9)}
    alone, replaced = swings(dp.sum, ends, **kw)
    one = max(map(abs, ends))
    assert alone == one or ends == (-9, -4)
    for relation, far, due in zip(
        RELATIONS, (alone, replaced), (one, max(hi - lo, one)), strict=True
    ):
        made = quoted(dp.sum, PAY, epsilon=1, **kw, per_unit=ends, ids=WHO, neighbors=relation)
        (size,), cell = made.inner.plan().sizes, made.inner.columns[0].cells.grid
        assert size * cell >= far - 1e-9 and size * cell == pytest.approx(due)
        assert made.loss.epsilon == 1 and made.neighbors == relation
        plain = integer_noise(dp.privacy.Pure(1), Sensitivity.of_one(size))
        assert made.inner.integer_noise.deviation == pytest.approx(plain.deviation)


def test_planted_faults_are_found(silent, monkeypatch):
    """A unit without rows that counts the lower end, or a total that nothing clamps."""
    right = units.clamped_counts
    assert swings(dp.count, (2, 3))[1] == 3
    x, kw = np.array([1.0, np.nan]), {"ids": [1, 2], "nan": "drop", "per_unit": (2, 3)}
    assert dp.count(x, **kw, epsilon=1) == 2
    missing = lambda counts, most, ends: np.clip(counts, *map(np.uint64, ends))  # noqa: E731
    monkeypatch.setattr(count, "clamped_counts", missing)
    assert dp.count(x, **kw, epsilon=1) == 4
    monkeypatch.setattr(count, "clamped_counts", lambda counts, most, _: right(counts, most, None))
    assert swings(dp.count, (0, 2))[1] > 2


def test_totals_that_are_refused():
    for kw, rule in (
        ({"ids": None}, "left out without ids"),
        ({"max_rows": 3}, "max_rows must be left out with per_unit"),
        ({"bounds": "auto"}, "bounds must be numbers, with per_unit"),
        ({"weights": PAY, "weight_bounds": (0, 1)}, "left out with weights"),
        ({"per_unit": (2, 1)}, "per_unit"),
        ({"per_unit": (1e-15, 1.1e-15)}, "farther apart"),
    ):
        own = {"data": PAY, "bounds": (-2, 3), "ids": WHO, "per_unit": (0, 5), "epsilon": 1}
        refused(dp.sum, rule, ArgumentError, **own | kw)
