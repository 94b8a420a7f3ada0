"""``bounds="auto"`` by group: what bounds cost, whose rows they are of, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast import privacy
from dpfast._core.once import forget
from dpfast.errors import ArgumentError
from dpfast.groups import automatic_bounds
from dpfast.measurement.outer_bounds import WIDEST, DrawnBounds

from ..support.pairwise import every_value, quick_rows

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
    people = PEOPLE if of == "people" else {}
    prepared = dp.extend.prepare(
        groups(neighbors=relation, **people).agg, {"s": statistic}, **(loss or LOSSES[0])
    )
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


CASES = [(r, of) for r in ("add-remove", "replace") for of in ROWS_AT_ONCE]


@quick_rows(4)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("relation, of", CASES)
def test_bounds_and_statistic_cost_no_more_than_is_charged(loss, relation, of):
    for statistic in STATISTICS.values():
        mechanism = mechanism_of(statistic, relation, of, **loss)
        assert overcharged(mechanism, relation, of) <= 0
        assert mechanism.parts[0] == privacy.loss(**{
            name: Fraction(size) / 4 for name, size in loss.items() if name != "delta"
        })  # fmt: skip


@pytest.fixture
def plant(monkeypatch):
    """Change a name of the module; what is made with the fault serves no other test."""
    forget()
    yield lambda name, fault: monkeypatch.setattr(automatic_bounds, name, fault)
    forget()


def test_bounds_that_are_not_charged_are_caught(plant):
    plant("divided", lambda loss: (loss, loss))
    assert overcharged(mechanism_of(STATISTICS["mean"]), "add-remove", "rows") > 0


def test_rows_of_a_person_that_are_counted_as_one_are_caught(plant):
    plant("one_row", lambda loss, neighbors, rows: loss)
    for relation, of in CASES[1:]:
        assert overcharged(mechanism_of(STATISTICS["mean"], relation, of), relation, of) > 0


@every_value
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("more", [{}, PEOPLE, {"keys": None}, {"neighbors": "replace"}], ids=str)
def test_one_spend_pays_for_all(name, more):
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

    def drawn(mechanism, summary, generator):
        asked.append(summary)
        return list(pairs)

    monkeypatch.setattr(DrawnBounds, "pairs", drawn)
    return asked


@pytest.mark.parametrize("name", ["mean", "quantiles", "histogram", "correlation"])
def test_an_answer_is_that_of_the_bounds_that_are_drawn(monkeypatch, name):
    pairs = ((0.0, 80.0), (0.0, 60.0))[: 2 if name == "correlation" else 1]
    within(monkeypatch, *pairs)
    found = groups().agg({"s": STATISTICS[name]}, epsilon=400)
    given = dp.stat.histogram("x", bins=3, bounds=(0, 80))
    if name != "histogram":
        kind, own = type(STATISTICS[name]), {"qs": [0.2, 0.8]} if name == "quantiles" else {}
        own |= {"other": "y", "bounds": pairs} if len(pairs) > 1 else {"bounds": pairs[0]}
        given = kind("x", **own)
    due = groups().agg({"s": given}, epsilon=300)
    assert list(found) == list(due)
    for column in found:
        np.testing.assert_allclose(found[column], due[column], rtol=1e-2, atol=1e-2)


def test_rows_of_all_public_keys_count_and_no_others(monkeypatch):
    asked = within(monkeypatch, (0.0, 100.0))
    used = np.arange(N) % 2 > 0
    for keys, more, due in (
        ((0, 1), {}, 2 * N // 3),
        ((0, 1, 9), {"where": used}, N // 3),
        (None, {"delta": 1e-6}, N),
    ):
        groups(keys=keys).mean("x", **AUTO, epsilon=9, **more)
        assert asked.pop()[:, :-2].sum() == due
    for rows in (1, 2):  # of each person two rows in each of three groups
        people = {"ids": "who", "max_groups": 2, "max_rows": rows}
        groups(**people).mean("x", **AUTO, epsilon=9)
        assert asked.pop()[:, :-2].sum() == N // 6 * 2 * rows
    assert not asked


HEAVY = dp.stat.sum("x", **AUTO, weights="w", weight_bounds=(0, 1e300))
REFUSED = [
    ({"s": dp.stat.mean("day", **AUTO)}, "a pair of dates or times"),
    ({"s": dp.Mean(**AUTO)}, "column must be given"),
    ({"h": STATISTICS["histogram"], "h 3": dp.stat.count()}, "no bins can have their names"),
    ({"s": HEAVY}, "do not overflow float64"),
    ({"s": STATISTICS["quantiles"], "s 0.2": dp.stat.count()}, "no two columns have one name"),
]


@pytest.mark.parametrize("statistics, words", REFUSED)
def test_what_cannot_be_is_refused_before_the_spend(statistics, words):
    data, budget = {**TABLE, "day": TABLE["late"].astype("M8[s]")}, dp.Budget(epsilon=1)
    with pytest.raises(ArgumentError, match=words):
        groups(data).agg(statistics, epsilon=1, budget=budget)
    assert not budget.history


def test_no_statistic_refuses_bounds_that_can_be_drawn():
    least = 2.0**-40
    pairs = [WIDEST, (0.0, least), (-least, 0.0), (1.0, 1.0625), (1.0, WIDEST[1])]
    for name, statistic in STATISTICS.items():
        mechanism = mechanism_of(statistic)
        for pair in pairs:
            several = mechanism.bounds.mechanism.columns is not None
            made = mechanism.make((pair, pair[:]) if several else pair)
            assert made.names("s"), name
