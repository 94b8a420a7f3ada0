"""`max_rows="auto"`: the law of the bound, its loss over all neighbors, and its use."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

import dpfast as dp
from dpfast.measurement import unit_bounds
from dpfast.measurement.automatic_bounds import SHARE
from dpfast.measurement.outer_bounds import Draw
from dpfast.measurement.tails import NUMBERS, of_chunk
from dpfast.rng import InsecureGenerator
from dpfast.tables import Chunk

from ..reference.measurement import unit_bounds as twin
from ..support.battery import CASES, PEOPLE
from ..support.pairwise import every_value, quick_rows
from ..support.refused import refused
from ..support.views import quoted

RNG = np.random.default_rng(34)
IDS = np.repeat(np.arange(400), RNG.poisson(6, 400))
X = RNG.random(len(IDS))
OCTAVES = 6
RELATIONS = ["add-remove", "replace"]
#: The cases of the battery about one column of people, and what it does not ask of these.
STATISTICS = {
    name: (case.call, {word: own for word, own in case.kw.items() if word not in PEOPLE})
    for name, case in CASES.items()
    if (case.rows, case.form, case.kw.get("max_rows")) == (("ids",), "column", 2)
    and len(case.losses) == 3
}
STATISTICS |= {
    "sum": (dp.sum, {"bounds": (0, 1)}),
    "mean within found bounds": (dp.mean, {"bounds": "auto"}),
    "variance": (dp.variance, {"bounds": (0, 1)}),
    "histogram": (dp.histogram, {"bounds": (0, 1), "bins": 3}),
}


def tails(sizes):
    return of_chunk(Chunk(np.array(sizes, np.float64), 0))


@cache
def made(rate=1.0, octaves=OCTAVES, neighbors="add-remove", **more):
    kw = {"ids": IDS, "max_rows": "auto", "epsilon": 1, "neighbors": neighbors}
    return replace(quoted(dp.count, X, **kw), rate=rate, octaves=octaves, **more)


def law(sizes, rate=1.0, tails_of=tails, **kw):
    side = made(rate, **kw).weighed(tails_of(sizes))
    weights = np.bincount(BOUNDS, np.exp(-side.about), minlength=BOUNDS[-1] + 1)[1:]
    return (weights / weights.sum())[weights > 0]


NUMBERS = unit_bounds.candidates(NUMBERS, OCTAVES)
BOUNDS = np.ceil(NUMBERS).astype(int) - 1
SIZES = (0, 1, 2, 8, 40)
TABLES = [units for n in range(4) for units in combinations_with_replacement(SIZES, n)]
#: All tables of a few units, and what else one unit of them may be: 0 is one that is not there.
NEIGHBORS = [(units, (*units[:-1], other)) for units in TABLES if units for other in SIZES]
#: Tables of crowds, of which a draw of rate 6 takes more than two units for some.
CROWDS = [units * 4 for units in TABLES]
PAIRS = [*combinations(SIZES, 2)]
CROWDED = [((*units, a), (*units, b)) for units in CROWDS for a, b in PAIRS]
BOTH = {"add-remove": [(a, b) for a, b in CROWDED if a[-1] == 0], "replace": CROWDED}


@pytest.mark.parametrize("rate", [0.25, 9.0])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_law_is_that_of_the_definition(rate, relation):
    for units in [(), (1,), (3, 3, 2), (8, 40, 1, 1, 2, 17, 16, 15), (5,) * 50 + (9,) * 20]:
        expected = twin.law(units, rate, OCTAVES, replaced=relation == "replace")
        assert [*expected] == np.unique(BOUNDS).tolist()
        found = law(units, rate, neighbors=relation)
        assert found == pytest.approx(np.array(list(expected.values())), rel=1e-9)
        side = made(rate, neighbors=relation).weighed(tails(units))
        exact = [float(side.exact(i)) for i in range(0, len(NUMBERS), 7)]
        assert np.all(abs(side.about[::7] - exact) <= side.slack)


def test_the_sampler_has_that_law():
    sizes, size = [8, 40, 1, 1, 2, 17, 16, 15, *[5] * 12], 40_000
    found, stream = made(2.0), InsecureGenerator(7).stream()
    bounds = BOUNDS[Draw(found.weighed(tails(sizes)), len(NUMBERS)).draw(size, stream)]
    for bound, weight in twin.law(sizes, 2.0, OCTAVES).items():
        off = abs(np.sum(bounds == bound) - size * weight)
        assert off < 6 * math.sqrt(size * weight) + 6
    generator = InsecureGenerator(7)
    assert found.bound(tails(sizes), generator) in set(bounds)


def widest(pairs, **kw):
    """The widest range of the logarithm of the ratio of two neighbors' laws, and its largest."""
    laws = {units: np.log(law(units, **kw)) for pair in pairs for units in pair}
    ratios = np.array([laws[a] - laws[b] for a, b in pairs])
    return np.ptp(ratios, axis=1).max(), abs(ratios).max()


def test_no_unit_moves_the_law_by_more_than_the_loss():
    """Whoever comes, goes, gets other rows or is replaced: of bounded range r, and nearly r."""
    width, largest = widest(NEIGHBORS)
    assert 0.999 < width <= 1 + 1e-9
    assert 0.9 < largest <= 1 + 1e-9
    # Planted: half the sensitivity; a unit of c rows as c integers; the rows that a bound loses.
    few = [pair for pair in NEIGHBORS if len(pair[0]) < 3]
    assert widest(few, rate=2.0)[0] > 1.9
    lost = lambda sizes: tails(np.concatenate([*(np.arange(1, s + 1) for s in sizes), []]))  # noqa: E731
    for faulty in (lambda sizes: tails(np.repeat(sizes, sizes)), lost):
        assert widest(few, tails_of=faulty)[0] > 1.9


@pytest.mark.parametrize("relation", RELATIONS)
def test_nor_does_a_unit_of_a_crowd(relation, monkeypatch):
    """Planted: what a unit does beyond c is free when it comes; or weighs less than up to c."""
    width, largest = widest(BOTH[relation], rate=6.0, neighbors=relation)
    assert 5.8 < width <= 6 + 1e-9 and largest <= 6 + 1e-9
    if relation == "replace":
        assert widest(BOTH[relation][::7], rate=6.0, neighbors=relation, span=64)[0] > 7
    else:
        monkeypatch.setattr(unit_bounds, "BEYOND", 8)
        assert widest(BOTH[relation][::7], rate=4.0, span=8)[0] > 6


@quick_rows(4)
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("loss", [{"epsilon": 1.0}, {"rho": 0.3}])
def test_one_spend_pays_for_the_bound_and_the_answer(name, loss):
    release, kw = STATISTICS[name]
    kw, table = {**kw, **loss, "ids": "who", "max_rows": "auto"}, {"who": IDS, "x": X}
    budget, whole = dp.Budget(**loss, ids="who"), Fraction(str(*loss.values()))
    parts = budget.cost(release, table, parts=True, **kw)
    release(table, budget=budget, **kw)
    (entry,) = budget.history
    assert not any(budget.remaining.values())
    assert "a quarter of it for max_rows" in entry.what
    amounts = [getattr(part, "rho", None) or part.epsilon for part in parts.values()]
    assert next(iter(parts)) == "max_rows"
    assert amounts[0] == SHARE * whole and sum(amounts) == whole


@every_value
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", STATISTICS)
def test_no_statistic_refuses_a_bound_or_is_charged_more_than_is_left(name, relation):
    release, kw = STATISTICS[name]
    kw = {**kw, "ids": IDS, "max_rows": "auto", "neighbors": relation}
    for loss in ({"epsilon": 1}, {"epsilon": 0.5, "delta": 1e-9}, {"rho": 0.1}):
        found = quoted(release, X, **kw, **loss)
        left = (1 - SHARE) * Fraction(str(loss.get("rho") or loss["epsilon"]))
        for most in (1, 3, 1 << found.octaves):
            inner = found.make(most)
            assert inner.neighbors == relation and inner.ids == ""
            assert (getattr(inner.loss, "rho", None) or inner.loss.epsilon) <= left


def test_what_is_drawn_is_used_as_if_it_had_been_given(monkeypatch):
    monkeypatch.setattr(unit_bounds.WithUnitBound, "bound", lambda self, tails, generator: 3)
    for release, kw in STATISTICS.values():
        found = release(X, max_rows="auto", epsilon=4, rng=InsecureGenerator(5), ids=IDS, **kw)
        assert str(found) == str(release(X, max_rows=3, epsilon=3, rng=after(), ids=IDS, **kw))


def test_units_are_those_that_count(seen):
    ids = ["a", "a", None, "b", "a", "b", "c"]
    where = [True, True, True, True, False, True, False]
    data = np.arange(7.0)
    dp.sum(data, ids=ids, where=where, max_rows="auto", bounds=(0, 9), epsilon=1)
    assert np.array_equal(seen[0][:-1], tails([2, 2])[:-1])


@pytest.mark.parametrize("kw", [
    {"ids": None}, {"max_rows": "automatic"}, {"per_unit": (0, 3)}, {"epsilon": 2.0**-1000},
    {"bounds": (3, 1)},
], ids=str)  # fmt: skip
def test_it_is_refused_before_the_spend(kw):
    asked = {"data": X, "bounds": (0, 1), "epsilon": 1, "ids": IDS, "max_rows": "auto", **kw}
    assert len(str(refused(dp.sum, **asked)).split()) < 30


PAY = RNG.integers(-4, 13, len(IDS)) / 4
PAY[::50] = np.nan
ENDS = [(-1, 3), (0, 3), (-3, 0), (0, 4096)]


@pytest.fixture
def seen(monkeypatch):
    """The tails that bounds are drawn from, all of which are 300 then."""
    tails = []
    monkeypatch.setattr(
        unit_bounds.WithUnitBound, "bound", lambda self, found, rng: tails.append(found) or 300
    )
    return tails


@pytest.mark.parametrize("bounds", ENDS)
def test_a_unit_has_the_size_of_its_total(seen, bounds):
    dp.sum(PAY, bounds=bounds, ids=IDS, per_unit="auto", epsilon=1)
    size, present = max(map(abs, bounds)), PAY == PAY
    totals = np.bincount(IDS[present], np.clip(PAY[present], *bounds))
    sizes = np.ceil(np.abs(totals[np.unique(IDS[present])]) * 256 / size)
    assert np.array_equal(seen[0][:-1], tails(sizes)[:-1])


def after():
    """A generator from which the key of a bound was drawn."""
    generator = InsecureGenerator(5)
    generator.stream().take(32)
    return generator


def test_limits_that_are_drawn_are_used_as_if_they_had_been_given(seen):
    def alike(call, limits, **kw):
        found = call(PAY, per_unit="auto", epsilon=4, ids=IDS, rng=InsecureGenerator(5), **kw)
        assert found == call(PAY, per_unit=limits, epsilon=3, ids=IDS, rng=after(), **kw)

    for lo, hi in ENDS:
        size = 300 / 256 * max(-lo, hi)
        limits = (-size if lo < 0 else 0.0, size if hi > 0 else 0.0)
        alike(dp.sum, limits, bounds=(lo, hi))
    for count in (dp.count, dp.count_nonzero):
        alike(count, (0, 300))


def test_no_unit_moves_more_than_one_total(seen):
    others = [(1, 3.0), (1, -1.0), (2, 0.5)]
    for rows in [(), (3.0,), (3.0, 3.0), (-1.0,), (0.0,), (np.nan,), (3.0, -1.0)]:
        ids, pay = zip(*others, *((3, x) for x in rows), strict=True)
        dp.sum(np.array(pay), ids=list(ids), bounds=(-1, 3), per_unit="auto", epsilon=1)
    above = np.array([made().weighed(one).outside for one in seen])
    differences = above[:, None] - above[None]
    assert np.abs(differences).max() == unit_bounds.BEYOND
    assert not np.any((differences > 0).any(-1) & (differences < 0).any(-1))


def test_of_columns_the_total_with_the_most_parts_counts(seen):
    two = np.stack([PAY, 10 * X], axis=1)
    kw = {"axis": 0, "bounds": [(-1, 3), (0, 8)], "ids": IDS, "nan": 0}
    found = dp.sum(two, per_unit="auto", epsilon=400, rng=InsecureGenerator(1), **kw)
    rows = np.clip(np.nan_to_num(two), [-1, 0], [3, 8])
    totals = np.stack([np.bincount(IDS, row) for row in rows.T])[:, np.unique(IDS)]
    sizes = np.ceil(np.abs(totals) * 256 / [[3], [8]]).max(0)
    assert np.array_equal(seen[0][:-1], tails(sizes)[:-1])
    most = np.array([[3.515625], [9.375]])  # 300 parts of a row
    assert found == pytest.approx(np.clip(totals, -most, most).sum(1), abs=1.5)
    equal = {**kw, "bounds": (-1, 3)}
    limited = dp.sum(two, per_unit=(-3.515625, 3.515625), epsilon=3, **equal, rng=after())
    drawn = dp.sum(two, per_unit="auto", epsilon=4, **equal, rng=InsecureGenerator(5))
    assert drawn.tolist() == limited.tolist()
