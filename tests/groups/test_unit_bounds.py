"""`max_groups="auto"` and `max_rows="auto"` by group: one integer of each unit."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError
from dpfast.groups import automatic_bounds
from dpfast.measurement.tails import beyond
from dpfast.measurement.unit_bounds import WithUnitBound, tails_of
from dpfast.rng import InsecureGenerator

RNG = np.random.default_rng(35)
N = 600
TABLE = {
    "who": RNG.integers(0, 60, N).astype(object),
    "shop": np.array(["x", "y", "z", "?"])[RNG.integers(0, 4, N)],
    "pay": RNG.random(N),
}
TABLE["who"][RNG.random(N) < 0.1] = None
WHERE = RNG.random(N) < 0.8
KEYS = ["x", "y", "z"]
BOUNDS = ("max_groups", "max_rows")
TWO_EACH = dict.fromkeys(BOUNDS, 2)
STATISTICS = {
    "n": dp.Count(),
    "mean": dp.Mean("pay", bounds=(0, 1)),
    "median": dp.Median("pay", bounds=(0, 1)),
    "bins": dp.Histogram("pay", bins=3, bounds="auto"),
}


@pytest.fixture
def seen(monkeypatch):
    """The tails that bounds are drawn from, all of which are 2 then."""
    tails = []
    monkeypatch.setattr(
        WithUnitBound, "bound", lambda self, found, generator: tails.append(found) or 2
    )
    return tails


def group_by(table, keys=KEYS, **bounds):
    return dp.group_by(table, "shop", keys=keys, ids="who", **bounds)


def due(argument, keys, where):
    """The integer of each unit, by definition."""
    groups = defaultdict(Counter)
    for who, shop, counts in zip(TABLE["who"], TABLE["shop"], where, strict=True):
        if who is not None and counts and (keys is None or shop in keys):
            groups[who][shop] += 1
    integer = len if argument == "max_groups" else lambda own: max(own.values())
    return [integer(own) for own in groups.values()]


def arrow(chunk=N):
    whole = pa.table({name: pa.array(column.tolist()) for name, column in TABLE.items()})
    return pa.concat_tables([whole.slice(i, chunk) for i in range(0, N, chunk)])


@pytest.mark.parametrize("argument", BOUNDS)
@pytest.mark.parametrize("keys", [KEYS, None])
@pytest.mark.parametrize("where", [None, WHERE])
def test_each_unit_has_one_integer(seen, argument, keys, where):
    bounds = TWO_EACH | {argument: "auto"}
    loss = {"epsilon": 1, "delta": 0 if keys else 1e-5}
    for table in (arrow(), arrow(37)):
        group_by(table, keys, **bounds).count(**loss, where=where)
    sizes = due(argument, keys, np.ones(N, bool) if where is None else where)
    for tails in seen:
        assert np.array_equal(tails[:-1], tails_of(np.array(sizes))[:-1])


@pytest.mark.parametrize("argument", [*BOUNDS, "per_unit"])
def test_what_is_drawn_is_used_as_if_it_had_been_given(seen, argument):
    first = InsecureGenerator(5)
    first.stream().take(64)
    drawn, given = (group_by(arrow()), LIMITED), (group_by(arrow()), GIVEN)
    if argument != "per_unit":
        drawn = group_by(arrow(), **TWO_EACH | {argument: "auto"}), STATISTICS
        given = group_by(arrow(), **TWO_EACH), STATISTICS
    found = drawn[0].agg(drawn[1], epsilon=8, rng=InsecureGenerator(5))
    assert str(found) == str(given[0].agg(given[1], epsilon=6, rng=first))


ENDS = (-0.25, 0.75)
LIMITED = {
    "n": dp.Count(per_unit="auto"),
    "high": dp.CountNonzero("pay", per_unit="auto"),
    "sum": dp.Sum("pay", bounds=ENDS, per_unit="auto"),
}
GIVEN = {
    "n": dp.Count(per_unit=(0, 2)),
    "high": dp.CountNonzero("pay", per_unit=(0, 2)),
    "sum": dp.Sum("pay", bounds=ENDS, per_unit=(-1.5 / 256, 1.5 / 256)),
}


@pytest.mark.parametrize("keys", [KEYS, None])
@pytest.mark.parametrize("where", [None, WHERE])
def test_each_unit_has_its_largest_total(seen, keys, where):
    loss = {"epsilon": 1, "delta": 0 if keys else 1e-5}
    for table in (arrow(), arrow(37)):
        group_by(table, keys, max_groups=1).agg(LIMITED, **loss, where=where)
    totals = [defaultdict(Counter) for _ in LIMITED]
    counted = np.ones(N, bool) if where is None else where
    for who, shop, pay in zip(*(TABLE[name][counted] for name in TABLE), strict=True):
        if who is not None and (keys is None or shop in keys):
            for own, size in zip(totals, (1, pay != 0, min(pay, 0.75) * 256 / 0.75), strict=True):
                own[who][shop] += size
    due = [np.ceil([max(one.values()) - 1e-9 for one in own.values()]) for own in totals]
    assert len(seen) == 2 * len(due)
    for tails, sizes in zip(seen, due * 2, strict=True):
        assert np.array_equal(tails[:-1], tails_of(sizes)[:-1])


def largest_difference(seen):
    """The largest difference of counts beyond each candidate, and whether some have two signs."""
    above = np.array([beyond(tails, above=True) for tails in seen])[:, 7362:8002]
    differences = above[:, None] - above[None]
    return np.abs(differences).max(), np.any((differences > 0).any(-1) & (differences < 0).any(-1))


def moves_of_totals(seen):
    """By how much a unit moves the number of units whose totals are beyond each candidate."""
    others = [("b", "x", 0.5), ("b", "y", -1.0), ("c", "x", 0.1)]
    rows = [("a", "x", -1.0), ("a", "x", 0.5), ("a", "y", 0.5), ("a", "y", np.nan), ("a", "?", 0.5)]
    for some in (some for n in (0, 1, 2) for some in combinations_with_replacement(rows, n)):
        who, shop, pay = zip(*others, *some, strict=True)
        table = {"who": list(who), "shop": list(shop), "pay": np.array(pay)}
        group_by(table).sum("pay", bounds=ENDS, nan="drop", per_unit="auto", epsilon=1)
    return largest_difference(seen)


def test_no_unit_moves_more_than_one_total(seen):
    assert moves_of_totals(seen) == (1, False)


def test_totals_of_a_unit_in_each_group_are_found(seen, monkeypatch):
    """The planted fault: a unit in two groups is two units."""

    def bound(self, room, codes, groups):
        sizes = automatic_bounds.total_sizes(room, self.like.cells.first, self.part)
        return automatic_bounds.Tails(tails_of(sizes)[None])

    monkeypatch.setattr(automatic_bounds.UnitTails, "bound", bound)
    assert moves_of_totals(seen)[0] > 1


UNITS = [rows for n in (0, 1, 3) for rows in combinations_with_replacement("xyz?", n)]


def moves(seen, argument):
    """By how much a unit moves the number of units beyond each candidate, at most and at least."""
    bounds = TWO_EACH | {argument: "auto"}
    others = [("b", "x"), ("b", "y"), ("c", "x"), ("c", "x")]
    for rows in UNITS:
        who, shop = zip(*others, *(("a", shop) for shop in rows), strict=True)
        group_by({"who": list(who), "shop": list(shop)}, **bounds).count(epsilon=1)
    return largest_difference(seen)


@pytest.mark.parametrize("argument", BOUNDS)
def test_no_unit_moves_more_than_the_loss_is_for(seen, argument):
    """Whoever comes, goes or is replaced: by 1, and everywhere in one direction."""
    assert moves(seen, argument) == (1, False)


@pytest.mark.parametrize(("relation", "span"), [("add-remove", 64), ("replace", 80)])
def test_the_relation_is_that_of_the_groups(monkeypatch, relation, span):
    """A unit that is replaced does more to the law than one that comes, and the draw knows."""
    spans = []
    monkeypatch.setattr(WithUnitBound, "bound", lambda self, *_: spans.append(self.span) or 2)
    bounds = {"max_groups": "auto", "max_rows": "auto", "neighbors": relation}
    group_by(TABLE, **bounds).count(epsilon=1)
    group_by(TABLE, max_groups=1, neighbors=relation).agg(LIMITED, epsilon=1)
    assert spans == [span] * (2 + len(LIMITED))


@pytest.mark.parametrize("argument", BOUNDS)
def test_integers_of_a_unit_in_each_group_are_found(seen, monkeypatch, argument):
    """The planted fault: a unit in three groups is three units."""

    def bound(self, room, codes, groups):
        return automatic_bounds.Tails(tails_of(room[:, 0])[None])

    monkeypatch.setattr(automatic_bounds.UnitTails, "bound", bound)
    assert moves(seen, argument)[0] > 1


@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": 0.5}])
def test_one_spend_pays_for_all(loss):
    groups = group_by(arrow(), max_groups="auto", max_rows="auto")
    budget = dp.Budget(**loss, ids="who")
    groups.agg(STATISTICS, budget=budget, **loss)
    (entry,) = budget.history
    assert not any(budget.remaining.values())
    assert "a quarter of it for max_rows, a quarter of it for max_groups" in entry.what
    parts = dp.Budget(**loss, ids="who").cost(groups.agg, STATISTICS, parts=True, **loss)
    amounts = [getattr(part, "rho", None) or part.epsilon for part in parts.values()]
    assert list(parts)[:2] == ["max_groups", "max_rows"]
    whole = Fraction(str(*loss.values()))
    assert amounts[:2] == [whole / 4, whole * 3 / 16] and sum(amounts) == whole


@pytest.mark.parametrize("keys", [KEYS, pytest.param(None, marks=pytest.mark.full)])
def test_no_bound_that_can_be_drawn_is_refused(keys):
    groups = group_by(arrow(), keys, max_groups="auto", max_rows="auto")
    loss = {"epsilon": 1} if keys else {"epsilon": 1, "delta": 1e-6}
    outer = dp.extend.prepare(groups.agg, STATISTICS, **loss).mechanism
    for most in (1, 5, 1 << outer.octaves):
        inner = outer.make(most)
        for rows in (1, 5, 1 << inner.octaves):
            loss = inner.make(rows).loss
            assert loss.epsilon <= Fraction(9, 16)


def test_what_is_drawn_is_told_and_stays_below_a_public_limit(seen):
    bounds = {"max_groups": 3, "max_rows": "auto", "rows_limit": 2}
    found = group_by(arrow(), **bounds).count(epsilon=40)
    assert "at most 1 rows of each 'who' in a group" in found.note and "rows lost" in found
    found = group_by(arrow(), max_groups="auto", max_rows="auto").count(epsilon=1)
    assert found.note.startswith("at most 2 rows of each 'who' in a group and 2 groups")
    with pytest.raises((ArgumentError, dp.errors.ArgumentTypeError), match="rows_limit"):
        group_by(arrow(), **bounds | {"rows_limit": "auto"})


def test_people_are_counted_without_a_bound_on_rows():
    groups = group_by(arrow(), max_groups="auto", max_rows="auto")
    parts = dp.Budget(epsilon=1, ids="who").cost(groups.count_distinct, epsilon=1, parts=True)
    assert "max_rows" not in parts
