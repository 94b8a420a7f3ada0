"""Rows that bounding leaves out, below a public limit: sensitivity, law, bars that hold them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError
from dpfast.groups.lost import LOST, Lost
from dpfast.groups.step import Step
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.privacy import Pure
from dpfast.rng import InsecureGenerator

from ..support.databases import connect, table

MOST, LIMIT = 2, 5
KEYS = ["a", "b"]
WHO = {"ids": "who", "max_rows": MOST, "rows_limit": LIMIT}


def grouped(counts, **more):
    """Rows of people by their numbers in each group: a list of pairs."""
    rows = [
        (person, key)
        for person, pair in enumerate(counts)
        for key, many in zip(KEYS, pair, strict=True)
        for _ in range(many)
    ]
    who, keys = ([row[i] for row in rows] for i in (0, 1))
    table = {"who": np.array(who, int), "k": np.array(keys, "U1"), "x": np.full(len(rows), 3.0)}
    table |= {"w": np.full(len(rows), 3, "m8[D]"), "by": np.full(len(rows), 0.5)}
    return dp.group_by(table, "k", keys=KEYS, **WHO | more)


def exact(groups, *statistics):
    """The answers without noise."""
    none = patch.object(IntegerNoise, "draw", lambda self, size, generator: np.zeros(size, int))
    with none:
        return groups.agg(dict(statistics), epsilon=1, rng=InsecureGenerator(1))


def by_definition(counts):
    return [
        sum(min(pair[g], LIMIT) - min(pair[g], MOST) for pair in counts) for g in range(len(KEYS))
    ]


def test_what_is_lost_is_what_the_definition_says():
    rng = np.random.default_rng(1)
    for _ in range(10):
        counts = rng.integers(0, 9, (6, 2)).tolist()
        answer = exact(grouped(counts), ("n", dp.stat.count()))
        assert answer[LOST].tolist() == by_definition(counts)
        assert answer["n"].tolist() == [sum(min(pair[g], MOST) for pair in counts) for g in (0, 1)]
        assert str(LIMIT) in answer.note and answer.note in repr(answer)


def test_no_person_moves_more_than_the_sensitivity():
    """All neighbors: a person with any numbers of rows comes, or is replaced by another."""
    pairs = list(itertools.product(range(8), repeat=2))
    lost = {pair: np.array(by_definition([pair])) for pair in pairs}
    for neighbors, moved in (
        ("add-remove", lost.values()),
        ("replace", (lost[a] - lost[b] for a, b in itertools.product(pairs, repeat=2))),
    ):
        step = Step(neighbors, 2, 1, 2, of_units=True)
        norm = Lost(step=step, loss=Pure(1), most=MOST, limit=LIMIT).sensitivity
        sizes = [(np.abs(m).sum(), (m**2).sum(), np.abs(m).max()) for m in moved]
        l1, square, largest = (max(size) for size in zip(*sizes, strict=True))
        assert (l1, square, largest) == (norm.l1, norm.l2_squared, norm.linf)
        planted = replace(Lost(step=step, loss=Pure(1), most=MOST, limit=LIMIT - 1))
        assert planted.sensitivity.l1 < l1  # the control: a limit that is smaller by one


def test_the_loss_is_that_of_all_and_a_quarter_is_for_rows_lost():
    groups, budget = grouped([(1, 2)]), dp.Budget(epsilon=1)
    groups.count(epsilon=1, budget=budget)
    assert budget.remaining["epsilon"] == 0
    plain = grouped([(1, 2)], rows_limit=None)
    wide = dp.expected_error(groups.count, epsilon=1).half_width
    assert wide["count"] == pytest.approx(
        dp.expected_error(plain.count, epsilon=0.75).half_width, abs=1
    )
    less = {"n": dp.stat.count()}
    few = dp.expected_error(groups.agg, less, weights={LOST: 9}, epsilon=1).half_width
    assert few["n"] > 5 * wide["count"] and few[LOST] < wide[LOST]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"rows_limit": 2}, "rows_limit must be more than max_rows"),
        ({"max_rows": None}, "rows_limit must be more than max_rows"),
        ({"rows_limit": 0}, "rows_limit must be"),
        ({"rows_limit": "many"}, "rows_limit must be"),
        ({"ids": None, "max_rows": None}, "rows_limit must be left out without ids"),
        ({"keys": None, "max_groups": 1}, "rows_limit must be left out where keys are private"),
        ({"max_groups": "auto"}, "rows_limit must be left out with max_groups='auto'"),
    ],
)
def test_what_is_refused(more, words):
    table = {"who": [1, 2], "k": KEYS, "x": [1.0, 2.0]}
    with pytest.raises((ArgumentError, dp.errors.ArgumentTypeError), match=words):
        dp.group_by(table, "k", **{"keys": KEYS, **WHO} | more)


def test_a_limit_without_a_bar_for_it_is_refused_before_the_spend():
    budget = dp.Budget(epsilon=1)
    for call in (
        lambda: grouped([(1, 1)]).mean("x", bounds=(0, 4), epsilon=1, budget=budget),
        lambda: grouped([(1, 1)]).top_k(1, epsilon=1, budget=budget),
        lambda: grouped([(1, 1)]).count(per_unit=(0, 3), epsilon=1, budget=budget),
    ):
        with pytest.raises(ArgumentError, match="rows_limit must be left out: it is for the bars"):
            call()
    with pytest.raises(ArgumentError, match="statistics must be named otherwise"):
        grouped([(1, 1)]).agg({LOST: dp.stat.count()}, epsilon=1, budget=budget)
    assert budget.remaining["epsilon"] == 1


def test_answers_are_those_of_memory():
    rng = np.random.default_rng(2)
    data = {"who": rng.integers(0, 60, 900), "k": np.array(KEYS)[rng.integers(0, 2, 900)]}
    columns = {"who": ("int64", data["who"].tolist()), "k": ("string", data["k"].tolist())}
    answers = [
        dp.group_by(one, "k", keys=KEYS, **WHO).count(epsilon=1, rng=InsecureGenerator(1))
        for one in (data, table(connect("duckdb"), columns))
    ]
    for name, column in answers[0].items():
        assert column.tolist() == answers[1][name].tolist()


def test_bars_of_durations_and_bins_hold_them_too():
    counts, days = [(4, 0), (5, 1), (1, 5)] * 30, np.timedelta64(1, "D")
    asked = {
        "d": dp.stat.sum("w", bounds=(0 * days, 3 * days)),
        "h": dp.stat.histogram("x", bins=[0, 4]),
    }
    answer = grouped(counts).agg(asked, epsilon=300)
    lost = np.array(by_definition(counts))
    assert (answer["d error"] / days >= 3 * lost).all() and (answer["h error"] >= lost).all()
    assert answer.totals()["d error"][0] / days >= 3 * lost.sum()
