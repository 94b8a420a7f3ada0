"""What is drawn by group: bounds of numbers and of units: cost, whose rows, and refusals."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast import privacy
from dpfast._core.once import forget
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.groups import automatic_bounds
from dpfast.measurement.outer_bounds import WIDEST, DrawnBounds
from dpfast.measurement.tails import beyond
from dpfast.measurement.unit_bounds import WithUnitBound, tails_of
from dpfast.rng import InsecureGenerator

from ..support.pairwise import every_value, quick_rows
from ..support.refused import refused

N = 9000
BITS = np.random.default_rng(7)
TABLE = {
    "key": np.arange(N) % 3,
    "x": BITS.normal(40, 10, N),
    "y": BITS.lognormal(1, 1, N),
    "w": BITS.random(N),
    "late": BITS.exponential(3600, N).astype("m8[s]"),
    "who": np.arange(N) // 6,
}
AUTO = {"bounds": "auto"}
PAIR = {"other": "y", **AUTO}
WEIGHTS = {"weights": "w", "weight_bounds": (0, 1)}
STATISTICS = {
    "mean": dp.stat.mean("x", **AUTO),
    "sum": dp.stat.sum("x", **AUTO),
    "std": dp.stat.std("x", **AUTO),
    "mean with weights": dp.stat.mean("x", **AUTO, **WEIGHTS),
    "median": dp.stat.median("x", **AUTO),
    "quantiles": dp.stat.quantiles("x", [0.2, 0.8], **AUTO),
    "maximum": dp.stat.maximum("x", **AUTO),
    "histogram": dp.stat.histogram("x", bins=3, **AUTO),
    "bins of weights": dp.stat.histogram("x", bins=3, **AUTO, **WEIGHTS),
    "ratio": dp.stat.ratio("x", **PAIR),
    "correlation": dp.stat.correlation("x", **PAIR),
}
PEOPLE = {"ids": "who", "max_groups": 2, "max_rows": 2}
ROWS_AT_ONCE = {"rows": 1, "people": 4}
LOSSES = [{"epsilon": 2}, {"epsilon": 2, "delta": 1e-6}, {"rho": 0.5}]


def groups(data=TABLE, keys=(0, 1, 2), **more):
    return dp.group_by(data, "key", keys=None if keys is None else list(keys), **more)


def mechanism_of(statistic, relation="add-remove", of="rows", **loss):
    asked = groups(neighbors=relation, **(PEOPLE if of == "people" else {})).agg
    prepared = dp.extend.prepare(asked, {"s": statistic}, **(loss or LOSSES[0]))
    return prepared.mechanism.statistics["s"]


def overcharged(mechanism, relation, of):
    """By how much the parts of the loss of a release are more than what is charged for it."""

    def size(loss):
        return Fraction(loss.rho if isinstance(loss, privacy.ZCDP) else loss.epsilon)

    each = mechanism.bounds.mechanism
    assert each.neighbors == "add-remove"
    drawn = privacy.convert(each.loss, "add-remove", relation, max_rows=ROWS_AT_ONCE[of])
    inner = mechanism.make((0.0, 1.0) if each.columns is None else ((0.0, 1.0), (-2.0, 5.0)))
    for part, cost in zip(mechanism.parts, (drawn, inner.loss), strict=True):
        assert getattr(cost, "delta", 0) <= getattr(part, "delta", 0)
    return size(drawn) + size(inner.loss) - size(mechanism.loss)


CASES = list(product(("add-remove", "replace"), ROWS_AT_ONCE))


@quick_rows(3)
@pytest.mark.parametrize("relation, of", CASES)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_bounds_and_statistic_cost_no_more_than_is_charged(loss, relation, of):
    quarter = {name: Fraction(size) / 4 for name, size in loss.items() if name != "delta"}
    for statistic in STATISTICS.values():
        mechanism = mechanism_of(statistic, relation, of, **loss)
        assert overcharged(mechanism, relation, of) <= 0
        assert mechanism.parts[0] == privacy.loss(**quarter)


@pytest.mark.parametrize(
    "name, fault, cases",
    [
        ("divided", lambda loss: (loss, loss), CASES[:1]),  # bounds that are not charged
        ("one_row", lambda loss, neighbors, rows: loss, CASES[1:]),  # nor all rows of a person
    ],
)
def test_what_is_not_charged_is_caught(name, fault, cases, monkeypatch):
    forget()
    monkeypatch.setattr(automatic_bounds, name, fault)
    for case in cases:
        assert overcharged(mechanism_of(STATISTICS["mean"], *case), *case) > 0
    forget()


@every_value
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("more", [{}, PEOPLE, {"keys": None}, {"neighbors": "replace"}], ids=str)
def test_one_spend_pays_for_bounds(name, more):
    loss = {"epsilon": 200, "delta": 1e-6}
    budget = dp.Budget(**loss, neighbors=more.get("neighbors", "add-remove"))
    found = groups(**more).agg({"s": STATISTICS[name]}, budget=budget, **loss)
    (entry,) = budget.history
    assert entry.what.startswith("agg by key, a part of it for bounds")
    assert not budget.remaining["epsilon"] and found["key"].tolist() == [0, 1, 2]
    parts = budget.cost(groups(**more).agg, {"s": STATISTICS[name]}, parts=True, **loss)
    assert sum(part.epsilon for part in parts.values()) == 200
    assert list(parts) == ["s", "bounds of s", *(["keys"] if "keys" in more else [])]
    assert parts["bounds of s"].epsilon * 4 == (100 if "keys" in more else 200)
    if name in ("mean", "median"):
        assert (abs(found["s"] - 40) < 2).all()


def within(monkeypatch, *pairs):
    """Make the draw of bounds these, and return what it is asked for."""
    asked = []
    drawn = lambda self, summary, generator: asked.append(summary) or list(pairs)  # noqa: E731
    monkeypatch.setattr(DrawnBounds, "pairs", drawn)
    return asked


@pytest.mark.parametrize("name", ["mean", "quantiles", "histogram", "correlation"])
def test_an_answer_is_that_of_the_bounds_that_are_drawn(monkeypatch, name):
    own = {"quantiles": {"qs": [0.2, 0.8]}, "histogram": {"bins": 3}, "correlation": {"other": "y"}}
    pairs = ((0.0, 80.0), (0.0, 60.0)) if name == "correlation" else ((0.0, 80.0),)
    within(monkeypatch, *pairs)
    found = groups().agg({"s": STATISTICS[name]}, epsilon=400)
    bounds = pairs if len(pairs) > 1 else pairs[0]
    given = getattr(dp.stat, name)("x", **own.get(name, {}), bounds=bounds)
    due = groups().agg({"s": given}, epsilon=300)
    assert list(found) == list(due)
    for column in found:
        np.testing.assert_allclose(found[column], due[column], rtol=1e-2, atol=1e-2)


def test_rows_of_all_public_keys_count_and_no_others(monkeypatch):
    asked = within(monkeypatch, (0.0, 100.0))
    for more, given, due in (
        ({"keys": (0, 1)}, {}, 2 * N // 3),
        ({"keys": (0, 1, 9)}, {"where": np.arange(N) % 2 > 0}, N // 3),
        ({"keys": None}, {"delta": 1e-6}, N),
        (PEOPLE | {"max_rows": 1}, {}, N // 6 * 2),  # of each person two rows in three groups
        (PEOPLE, {}, N // 6 * 4),
    ):
        groups(**more).mean("x", **AUTO, epsilon=9, **given)
        assert asked.pop()[:, :-2].sum() == due
    assert not asked


HEAVY = dp.stat.sum("x", **AUTO, weights="w", weight_bounds=(0, 1e300))
REFUSED = [
    ({"s": dp.stat.mean("day", **AUTO)}, "a pair of dates or times"),
    ({"s": dp.Mean(**AUTO)}, "column must be given"),
    ({"h": STATISTICS["histogram"], "h 3": dp.stat.count()}, "named differently from all bins"),
    ({"s": HEAVY}, "do not overflow float64"),
    ({"s": STATISTICS["quantiles"], "s 0.2": dp.stat.count()}, "no two columns have the same name"),
]


@pytest.mark.parametrize("statistics, words", REFUSED)
def test_what_cannot_be_is_refused_before_the_spend(statistics, words):
    data = {**TABLE, "day": TABLE["late"].astype("M8[s]")}
    refused(groups(data).agg, words, statistics=statistics, epsilon=1)


def test_no_statistic_refuses_bounds_that_can_be_drawn():
    least = 2.0**-40
    pairs = [WIDEST, (0.0, least), (-least, 0.0), (1.0, 1.0625), (1.0, WIDEST[1])]
    for name, statistic in STATISTICS.items():
        mechanism = mechanism_of(statistic)
        several = mechanism.bounds.mechanism.columns is not None
        for pair in pairs:
            assert mechanism.make((pair, pair[:]) if several else pair).names("s"), name


# ---- One integer of each unit, and its largest total. ----

ROWS = 600
RNG = np.random.default_rng(35)
SHOPS = {
    "who": RNG.integers(0, 60, ROWS).astype(object),
    "shop": np.array(["x", "y", "z", "?"])[RNG.integers(0, 4, ROWS)],
    "pay": RNG.random(ROWS),
}
SHOPS["who"][RNG.random(ROWS) < 0.1] = None
WHERE = RNG.random(ROWS) < 0.8
KEYS = ["x", "y", "z"]
BOUNDS = ("max_groups", "max_rows")
TWO_EACH = dict.fromkeys(BOUNDS, 2)
BOTH = dict.fromkeys(BOUNDS, "auto")
ASKED = {
    "n": dp.Count(),
    "mean": dp.Mean("pay", bounds=(0, 1)),
    "median": dp.Median("pay", bounds=(0, 1)),
    "bins": dp.Histogram("pay", bins=3, bounds="auto"),
}
ENDS = (-0.25, 0.75)
LIMITED, GIVEN = (
    {
        "n": dp.Count(per_unit=rows),
        "high": dp.CountNonzero("pay", per_unit=rows),
        "sum": dp.Sum("pay", bounds=ENDS, per_unit=total),
    }
    for rows, total in (("auto", "auto"), ((0, 2), (-1.5 / 256, 1.5 / 256)))
)


@pytest.fixture
def seen(monkeypatch):
    """The tails that bounds are drawn from, all of which are 2 then."""
    tails = []
    two = lambda self, found, generator: tails.append(found) or 2  # noqa: E731
    monkeypatch.setattr(WithUnitBound, "bound", two)
    return tails


def by_shop(table=SHOPS, keys=KEYS, **bounds):
    return dp.group_by(table, "shop", keys=keys, ids="who", **bounds)


def arrow(chunk=ROWS):
    whole = pa.table({name: pa.array(column.tolist()) for name, column in SHOPS.items()})
    return pa.concat_tables([whole.slice(i, chunk) for i in range(0, ROWS, chunk)])


@every_value
@pytest.mark.parametrize("argument", [*BOUNDS, "per_unit"])
@pytest.mark.parametrize("keys", [KEYS, None])
@pytest.mark.parametrize("where", [None, WHERE])
def test_each_unit_has_one_integer_or_one_total(seen, argument, keys, where):
    of_totals, loss = argument == "per_unit", {"epsilon": 1, "delta": 0 if keys else 1e-5}
    asked = LIMITED if of_totals else {"n": dp.Count()}
    bounds = {"max_groups": 1} if of_totals else TWO_EACH | {argument: "auto"}
    for table in (arrow(), arrow(37)):
        by_shop(table, keys, **bounds).agg(asked, **loss, where=where)
    totals = [defaultdict(Counter) for _ in asked]  # by definition
    counted = np.ones(ROWS, bool) if where is None else where
    for who, shop, pay in zip(*(SHOPS[name][counted] for name in SHOPS), strict=True):
        if who is not None and (keys is None or shop in keys):
            sizes = (1, pay != 0, min(pay, 0.75) * 256 / 0.75)
            for own, size in zip(totals, sizes, strict=False):
                own[who][shop] += size
    integer = len if argument == "max_groups" else lambda own: max(own.values())
    due = [np.ceil([integer(own) - 1e-9 for own in one.values()]) for one in totals]
    assert len(seen) == 2 * len(due)
    for tails, sizes in zip(seen, due * 2, strict=True):
        assert np.array_equal(tails[:-1], tails_of(sizes)[:-1])


@pytest.mark.parametrize("argument", [*BOUNDS, "per_unit"])
def test_what_is_drawn_is_used_as_if_it_had_been_given(seen, argument):
    first = InsecureGenerator(5)
    first.stream().take(64)
    drawn, given, asked, more = by_shop(), by_shop(), LIMITED, GIVEN
    if argument != "per_unit":
        drawn, given = by_shop(**TWO_EACH | {argument: "auto"}), by_shop(**TWO_EACH)
        asked = more = ASKED
    found = drawn.agg(asked, epsilon=8, rng=InsecureGenerator(5))
    assert str(found) == str(given.agg(more, epsilon=6, rng=first))


def moves(seen, argument):
    """The most that a unit moves how many are beyond each candidate, and whether two ways."""
    if argument == "per_unit":
        others = [("b", "x", 0.5), ("b", "y", -1.0), ("c", "x", 0.1)]
        own = [
            ("a", *row) for row in (("x", -1.0), ("x", 0.5), ("y", 0.5), ("y", np.nan), ("?", 0.5))
        ]
        bounds, asked = {}, dp.Sum("pay", bounds=ENDS, nan="drop", per_unit="auto")
    else:
        others = [(who, shop, 0.5) for who, shop in ("bx", "by", "cx", "cx")]
        own = [("a", shop, 0.5) for shop in "xyz?"]
        bounds, asked = TWO_EACH | {argument: "auto"}, dp.Count()
    for n in (0, 1, 2) if argument == "per_unit" else (0, 1, 3):
        for some in combinations_with_replacement(own, n):
            who, shop, pay = zip(*others, *some, strict=True)
            table = {"who": list(who), "shop": list(shop), "pay": np.array(pay)}
            by_shop(table, **bounds).agg({"s": asked}, epsilon=1)
    above = np.array([beyond(tails, above=True) for tails in seen])[:, 7362:8002]
    differences = above[:, None] - above[None]
    return np.abs(differences).max(), np.any((differences > 0).any(-1) & (differences < 0).any(-1))


@pytest.mark.parametrize("argument", [*BOUNDS, "per_unit"])
def test_no_unit_moves_more_than_the_loss_is_for(seen, argument, monkeypatch):
    """Whoever comes, goes or is replaced: by 1, and everywhere in one direction."""
    assert moves(seen, argument) == (1, False)

    def bound(self, room, codes, groups):
        sizes = room[:, 0]
        if argument == "per_unit":
            sizes = automatic_bounds.total_sizes(room, self.like.cells.first, self.part)
        return automatic_bounds.Tails(tails_of(sizes)[None])

    seen.clear()  # planted: a unit in each of its groups is a unit
    monkeypatch.setattr(automatic_bounds.UnitTails, "bound", bound)
    assert moves(seen, argument)[0] > 1


@pytest.mark.parametrize(("relation", "span"), [("add-remove", 64), ("replace", 80)])
def test_the_relation_is_that_of_the_groups(monkeypatch, relation, span):
    """A unit that is replaced does more to the law than one that comes, and the draw knows."""
    spans = []
    monkeypatch.setattr(WithUnitBound, "bound", lambda self, *_: spans.append(self.span) or 2)
    by_shop(**BOTH, neighbors=relation).count(epsilon=1)
    by_shop(max_groups=1, neighbors=relation).agg(LIMITED, epsilon=1)
    assert spans == [span] * (2 + len(LIMITED))


@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": 0.5}])
def test_one_spend_pays_for_bounds_of_units(loss):
    budget = dp.Budget(**loss, ids="who")
    by_shop(**BOTH).agg(ASKED, budget=budget, **loss)
    (entry,) = budget.history
    assert not any(budget.remaining.values())
    assert "a quarter of it for max_rows, a quarter of it for max_groups" in entry.what
    parts = dp.Budget(**loss, ids="who").cost(by_shop(**BOTH).agg, ASKED, parts=True, **loss)
    amounts = [getattr(part, "rho", None) or part.epsilon for part in parts.values()]
    assert list(parts)[:2] == ["max_groups", "max_rows"]
    whole = Fraction(str(*loss.values()))
    assert amounts[:2] == [whole / 4, whole * 3 / 16] and sum(amounts) == whole
    people = dp.Budget(epsilon=1, ids="who").cost(
        by_shop(**BOTH).count_distinct, epsilon=1, parts=True
    )
    assert "max_rows" not in people


@quick_rows(1)
@pytest.mark.parametrize("keys", [KEYS, None])
def test_no_bound_that_can_be_drawn_is_refused(keys):
    loss = {"epsilon": 1} if keys else {"epsilon": 1, "delta": 1e-6}
    outer = dp.extend.prepare(by_shop(SHOPS, keys, **BOTH).agg, ASKED, **loss).mechanism
    for most in (1, 5, 1 << outer.octaves):
        inner = outer.make(most)
        for rows in (1, 5, 1 << inner.octaves):
            assert inner.make(rows).loss.epsilon <= Fraction(9, 16)


def test_what_is_drawn_is_told_and_stays_below_a_public_limit(seen):
    bounds = {"max_groups": 3, "max_rows": "auto", "rows_limit": 2}
    found = by_shop(**bounds).count(epsilon=40)
    assert "at most 1 rows of each 'who' in a group" in found.note and "rows lost" in found
    found = by_shop(**BOTH).count(epsilon=1)
    assert found.note.startswith("at most 2 rows of each 'who' in a group and 2 groups")
    with pytest.raises((ArgumentError, ArgumentTypeError), match="rows_limit"):
        by_shop(**bounds | {"rows_limit": "auto"})
