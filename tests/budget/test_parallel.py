"""Parts of the rows: disjoint by construction, and charged as the dearest of them."""

import copy
import datetime
import itertools
import os
import pickle
import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.budget import parallel
from dpfast.budget.ledger import Amounts
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError
from dpfast.privacy import ZCDP, Approx, Pure

from ..support.crashes import MEMORY, crash
from ..support.lazy import pl

REP, AR = "replace", "add-remove"
TOWNS = ["Ulm", "Bonn", None, "Ulm", "Kiel", "Bonn", "Ulm"]
TEXT = [str(town) for town in TOWNS]
AGES = [23.0, 35.0, 41.0, 58.0, 62.0, 33.0, 18.0]


def masks(column, groups):
    with dp.Budget(epsilon=1).parallel(column, groups) as parts:
        return {group: np.flatnonzero(part._where.array).tolist() for group, part in parts.items()}


FORMS = [
    *(TOWNS, tuple(TOWNS), np.array(TOWNS, object), np.array(TEXT)),
    np.ma.array(TEXT, mask=[town is None for town in TOWNS]),
    *(pd.Series(TOWNS, dtype=kind) for kind in (None, "category", "string")),
    pa.array(TOWNS),
    *(pa.chunked_array([TOWNS[:3], TOWNS[3:]]), pa.array(TOWNS).dictionary_encode()),
]


def test_the_rows_of_a_part_are_those_of_its_value_in_any_form():
    where = {"Bonn": [1, 5], "Ulm": [0, 3, 6]}
    for column in (*FORMS, pl.Series(TOWNS), pl.Series(TOWNS, dtype=pl.Categorical)):
        assert masks(column, ["Bonn", "Ulm"]) == where
        assert masks(column, np.array(["Ulm", "Bonn", "Rom"])) == {**where, "Rom": []}


def test_integers_booleans_bytes_and_dates():
    assert masks([1, 2, True, None, 2.0, "2"], [2, 1]) == {2: [1], 1: [0, 2]}
    assert masks(np.array([2**63, 5], np.uint64), [2**63]) == {2**63: [0]}
    assert masks([b"a", b"b"], [b"b"]) == {b"b": [1]}
    first = datetime.date(2024, 1, 1)
    rows = [first, datetime.date(2024, 1, 2), None, first]
    assert masks(rows, [first]) == masks(np.array(rows, "M8[D]"), [first]) == {first: [0, 3]}
    days = np.array(rows[:2], "M8[D]")
    assert masks(np.array(rows, "M8[s]"), days) == {days[0]: [0, 3], days[1]: [1]}


def overlapping(column, groups):
    found = masks(column, groups)
    pairs = itertools.combinations(found, 2)
    return [(a, b) for a, b in pairs if not set(found[a]).isdisjoint(found[b])]


def test_no_row_is_of_two_parts_and_a_planted_overlap_is_seen(monkeypatch):
    chance, groups = random.Random(7), ["", "a", "b", "é" * 30, b"a", 1, 0]
    column = [chance.choice([*groups, True, None, 2**70]) for _ in range(500)]
    assert not overlapping(column, groups)
    assert sum(map(len, masks(column, groups).values())) == sum(one in groups for one in column)

    def reach(part):
        """The planted fault: the parts reach one value too far."""
        rows = part._block.codes >= part._number
        return parallel.Values(rows, rows)

    monkeypatch.setattr(parallel.Part, "_where", property(reach))
    assert overlapping(column, groups)


def test_what_a_row_holds_is_never_an_error():
    places = pa.array([0, 7, -1, 1, None])
    broken = pa.DictionaryArray.from_arrays(places, ["Ulm", "Bonn"], safe=False)
    assert masks(broken, ["Ulm", "Bonn"]) == {"Ulm": [0], "Bonn": [3]}
    assert masks([object(), float("nan"), [], "Ulm"], ["Ulm"]) == {"Ulm": [3]}


@pytest.mark.parametrize("column, groups, said", [
    *((TOWNS, bad, "groups") for bad in ([], ["Ulm", None], "Ulm", {"Ulm"}, [0.5])),
    (TOWNS, ["Ulm", "Ulm"], "different"), ([1, 0], [1, True], "different"),
    (pa.array(TOWNS), [1], "groups must be text"),
    (np.array([1, 2]), ["1"], "groups must be integers"), ("town", ["Ulm"], "column"),
    *((bad, [1], "column") for bad in
      (np.array([1.0]), pd.DataFrame({"a": [1]}), np.zeros((2, 2), int))),
])  # fmt: skip
def test_bad_arguments_are_refused(column, groups, said):
    budget = dp.Budget(epsilon=1)
    with pytest.raises((ArgumentError, ArgumentTypeError), match=said):
        budget.parallel(column, groups).__enter__()
    assert not budget.history


@pytest.mark.parametrize("relation", [AR, REP])
def test_only_the_parts_of_the_row_that_differs_see_a_neighbor(relation):
    """For all neighbors of a small table: which releases are about other rows than before."""
    towns, ages, groups, most = ["a", "b", "c", "b"], AGES[:4], ["a", "b"], 0
    for row, other in itertools.product(range(4), ["a", "b", "c"]):
        changed, aged = [*towns], [*ages]
        new = ([other], [99.0]) if relation == REP else ([], [])
        changed[row : row + 1], aged[row : row + 1] = new
        before, after = masks(towns, groups), masks(changed, groups)
        seen = [g for g in groups if [ages[i] for i in before[g]] != [aged[i] for i in after[g]]]
        most = max(most, len(seen))
    assert most == parallel.TOUCHED[relation]


LOSSES = {
    "epsilon": [Pure(0.25), Pure(0.1), Approx(0.2, 1e-6), Approx(0.05, 1e-3), Pure(1)],
    "rho": [ZCDP(0.1), ZCDP(0.03), Pure(0.5)],
}


def replayed(kind, relation, seed):
    """Random spends of a ledger, in and beside blocks: what it says, and what each pair loses."""
    chance = random.Random(seed)
    limit = {"epsilon": 30, "delta": 0.5} if kind == "epsilon" else {"rho": 30}
    budget = dp.Budget(neighbors=relation, **limit)
    told, wrong, outside = [], [], Amounts()
    for _ in range(3):
        sums = {}
        with budget.parallel(["a"], ["a", "b", "c"]) as parts:
            for _ in range(12):
                loss, group = chance.choice(LOSSES[kind]), chance.choice(["a", "b", "c", None])
                given = chance.choice([AR, relation])
                payer = budget if group is None else budget._as(parts[group])
                payer.spend(loss, neighbors=given)
                alone = dp.Budget(neighbors=relation, **limit)
                alone.spend(loss, neighbors=given)
                counted = alone.history[0].counted
                if group is None:
                    outside += counted
                else:
                    sums[group] = sums.get(group, Amounts()) + counted
                # Each pair of neighbors touches a part, or under replace one or two.
                pairs = [Amounts(), *sums.values()]
                if relation == REP:
                    pairs += [x + y for x, y in itertools.combinations(sums.values(), 2)]
                lost = [past + own + outside for past in (told or [Amounts()]) for own in pairs]
                state = budget._storage.state().spent
                wrong += [one for one in lost if not one.fits(state)]
        past = told or [Amounts()]
        told = [before + own for before in past for own in pairs]
    return wrong, state, told, outside


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("relation", [AR, REP])
def test_the_ledger_is_at_no_moment_below_what_any_pair_of_neighbors_loses(kind, relation):
    for seed in range(2):
        wrong, state, told, outside = replayed(kind, relation, seed)
        assert not wrong
        # It is no more either, amount by amount, than what some pair loses.
        for name in ("epsilon", "delta", "rho"):
            assert getattr(state, name) == max(getattr(one + outside, name) for one in told)


def test_a_block_that_counts_too_little_is_caught(monkeypatch):
    """Planted: one part under replace; all amounts of the part that has the largest epsilon."""
    with monkeypatch.context() as patch:
        patch.setitem(parallel.TOUCHED, REP, 1)
        assert replayed("epsilon", REP, 1)[0]

    def of_one_part(sums, relation):
        return max(sums.values(), key=lambda own: own.epsilon, default=Amounts())

    monkeypatch.setattr(parallel, "counted", of_one_part)
    assert replayed("epsilon", AR, 1)[0]


def test_a_release_of_a_part_pays_as_the_part_and_nothing_else_does(monkeypatch):
    """Not what a signal handler, say, spends from the budget while the release is prepared."""
    budget = dp.Budget(epsilon=5)
    with budget.parallel(TOWNS, ["Ulm", "Bonn"]) as parts:
        parts["Ulm"](dp.count, AGES, epsilon=0.5)
        given = parallel.Part._arguments

        def interrupted(part, *arguments):
            dp.count(AGES, epsilon=0.25, budget=budget)
            return given(part, *arguments)

        monkeypatch.setattr(parallel.Part, "_arguments", interrupted)
        parts["Bonn"](dp.count, AGES, epsilon=0.5)  # free
        dp.count(AGES, epsilon=1, budget=budget)
        with pytest.raises(ArgumentError):  # before it could spend
            parts["Bonn"](dp.count, AGES, epsilon=-1)
        budget.spend(Pure(1), neighbors=AR)
    assert budget.spent["epsilon"] == Fraction(3)


def test_the_methods_of_groups_are_releases_of_a_part():
    budget = dp.Budget(epsilon=800, neighbors=AR)
    table = {"sex": ["f", "m", "f", "f", "m", "f", "m"], "age": AGES}
    groups = dp.group_by(table, "sex", keys=["f", "m"])
    with budget.parallel(TOWNS, ["Ulm", "Bonn"]) as parts:
        assert parts["Ulm"].cost(groups.count, epsilon=400)["epsilon"] == 400
        counts = {town: part(groups.count, epsilon=400) for town, part in parts.items()}
        mean = parts["Bonn"](groups.mean, "age", bounds=(0, 100), epsilon=400)
    assert counts["Ulm"]["count"].tolist() == [2, 1]
    assert counts["Bonn"]["count"].tolist() == [1, 1] and abs(mean["mean"][0] - 33) < 1
    assert budget.spent["epsilon"] == 800


def test_groups_of_all_rows_in_each_part_are_noticed(monkeypatch):
    """Planted: a part passes the rows of all parts."""
    monkeypatch.setattr(parallel.Part, "_where", np.ones(len(AGES), bool))
    with pytest.raises(AssertionError, match=r"\[4, 3\]"):
        test_the_methods_of_groups_are_releases_of_a_part()


def test_what_is_no_release_with_where_is_refused():
    def own(data, *, where=None, budget=None):
        raise AssertionError

    budget = dp.Budget(epsilon=1)
    with budget.parallel(TOWNS, ["Ulm"]) as parts:
        for function in (own, len, dp.sample_and_aggregate, dp.suggest_blocks, None):
            with pytest.raises(ArgumentError, match="function must be a release"):
                parts["Ulm"](function, AGES)
        for name in ("where", "budget"):
            with pytest.raises(ArgumentError, match=f"{name} must be left out"):
                parts["Ulm"](dp.count, AGES, epsilon=1, **{name: None})
        with pytest.raises(ArgumentError):  # rows of another number, which is public under replace
            parts["Ulm"](dp.count, AGES[:3], epsilon=1, neighbors=REP)
    assert not budget.history


def test_people_may_be_in_several_parts():
    refused = pytest.raises(BudgetError, match="several parts")
    with refused:
        dp.Budget(epsilon=1, ids="who").parallel(TOWNS, ["Ulm"]).__enter__()
    unsaid, table = dp.Budget(epsilon=1), {"x": AGES, "who": list("abcabcd")}
    with unsaid.parallel(TOWNS, ["Ulm"]) as parts, refused:
        parts["Ulm"](dp.count, table, ids="who", max_rows=1, epsilon=0.5)
    assert not unsaid.history


def test_a_block_ends_and_has_no_copies(tmp_path):
    budget = dp.Budget(epsilon=1, path=tmp_path / "study.db")
    with budget.parallel(TOWNS, ["Ulm"]) as parts:
        for way in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError):
                way(parts["Ulm"])
        with budget.once("key"), pytest.raises(BudgetError, match="not work for a part"):
            parts["Ulm"](dp.count, AGES, epsilon=0.5)
    with pytest.raises(BudgetError, match="has ended"):
        parts["Ulm"](dp.count, AGES, epsilon=0.5)
    with budget.parallel(TOWNS, ["Ulm"]) as parts:
        parts["Ulm"](dp.count, AGES, epsilon=0.5)
    with budget.parallel(TOWNS, ["Bonn"]) as parts:  # another block, which is paid for anew
        parts["Bonn"](dp.count, AGES, epsilon=0.5)
    assert dp.Budget(path=tmp_path / "study.db").remaining["epsilon"] == 0


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork or kill")
@pytest.mark.parametrize("kills", [8, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_at_any_moment_the_ledger_holds_what_the_parts_released(kills):
    found = crash("parts_crash", "random", "none", kills, 1, folder=MEMORY)
    assert found["violations"] == [] and found["kills"] == kills
    assert found["releases"] > kills
    found = crash("parts_crash", "steps", "none", 45, folder=MEMORY)  # those of the spends
    assert found["violations"] == [] and found["kills"] > 40


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork or kill")
def test_a_planted_fault_of_the_parts_is_caught():
    for fault in ("late", "forked"):
        # Which rule is the first to be broken hangs on the moment: a late line may cost nothing.
        assert crash("parts_crash", "random", fault, 200, 1, folder=MEMORY)["violations"]
    found = crash("parts_crash", "steps", "late", 110, folder=MEMORY)
    assert found["violations"][0].startswith("more released than spent")
