"""`other_key`: one more group, of all rows without a public key, where each row is in one group."""

import datetime
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError
from dpfast.extend import prepare
from dpfast.groups.keys import CoderOfOthers
from dpfast.groups.step import Step
from dpfast.rng import InsecureGenerator
from dpfast.tables.sql import groups as sql
from dpfast.tables.sql import keys

from ..support.databases import connect, table
from ..support.refused import refused
from .test_in_a_database import DATA, FEW, ROWS, THREE, expect_same, full, in_database

B = {"bounds": (-3, 3)}
DAYS = np.array(["2024-02-28", "2024-02-29"], "M8[D]")
KEYS = {
    "text": (("word",), ["é", "A", "none"], "rest"),
    "integers": (("number",), [1, 0], -1),
    "booleans": (("is_old",), [True], False),
    "dates": (("day",), DAYS, datetime.date(2000, 1, 1)),
    "all combinations": (("word", "number"), [["a", "A"], [0, 1]], ("rest", 9)),
    "some of them": (("word", "number"), [("é", 1), ("a", 2)], ("rest", 9)),
}
UNITS = {"ids": "who", "max_rows": 2}


def group_by(name, data=DATA, **people):
    by, keys, other = KEYS[name]
    return dp.group_by(data, list(by), keys=keys, other_key=other, **people)


@pytest.mark.parametrize("name", KEYS)
def test_each_row_is_in_one_group(name):
    found = group_by(name).agg({"n": dp.stat.count(), "m": dp.stat.mean("x", **B)}, epsilon=400)
    by, _, other = KEYS[name]
    assert found["n"].sum() == ROWS
    labels = other if isinstance(other, tuple) else (other,)
    assert tuple(found[column][-1] for column in by) == labels
    plain = dp.group_by(DATA, list(by), keys=KEYS[name][1]).count(epsilon=400)
    assert found["n"][:-1].tolist() == plain["count"].tolist()
    for column in by:
        assert found[column].dtype.kind == plain[column].dtype.kind
        assert found[column][:-1].tolist() == plain[column].tolist()


def test_null_keys_are_others_and_rows_that_are_not_used_are_none():
    data = {"k": ["a", None, "b", "z", "rest"] * 10, "who": [1, 2, None, 4, 5] * 10}
    some, ids = np.arange(50) % 5 >= 3, {"ids": "who", "max_rows": 10}
    for where, people, counts in ((None, {}, [10, 40]), (some, {}, [0, 20]), (None, ids, [10, 30])):
        groups = dp.group_by(data, "k", keys=["a"], other_key="rest", **people)
        assert groups.count(where=where, epsilon=400)["count"].tolist() == counts


@pytest.mark.parametrize(
    ("engine", "name"), [("duckdb", "some of them"), *(full(*p) for p in product(THREE, KEYS))]
)
def test_a_database_has_the_answers_of_memory(engine, name):
    if (engine, name) == ("sqlite", "dates"):
        pytest.skip("its dates are text")
    rows = in_database(engine)
    few = FEW | {"bins": dp.stat.histogram("n", categories=[0, 1])}
    for people in ({}, UNITS):
        groups = (group_by(name, form, **people) for form in (DATA, rows))
        expect_same(*(own.agg(few, epsilon=1, rng=InsecureGenerator(1)) for own in groups))
    here, there = (
        group_by(name, form).median("x", **B, granularity=0.5, epsilon=400)["median"]
        for form in (DATA, rows)
    )
    off = abs(here - there)
    assert off[:-1].max() <= 0.5 or name in ("text", "all combinations")
    assert off[-1] <= 0.5


LISTED, PLACES = ["a", "b"], ["a", "b", "x", "y", None]
OTHERS = {"who": [0, 0, 1, 2], "k": ["a", "x", "y", "b"]}


def sums(form, max_groups, rows, data):
    unit = {"ids": "who", "max_groups": max_groups, "max_rows": rows}
    groups = dp.group_by(form(data), "k", keys=LISTED, other_key="rest", **unit)
    prepared = prepare(groups.count, epsilon=1)
    coder, found = prepared.mechanism.group_sums(prepared.source, InsecureGenerator(5).stream())
    return found.rooms["count"][: coder.groups].astype(int).ravel()


def expect_a_step(form, cases, max_groups, rows):
    """Neighbors that differ in a person differ by no more than the sensitivity says."""
    step, largest = Step("add-remove", max_groups, rows, every=3), 0
    before = sums(form, max_groups, rows, OTHERS)
    for case in cases:
        more = {"who": [7] * len(case), "k": [*case]}
        moved = sums(form, max_groups, rows, more)
        both = {name: OTHERS[name] + more[name] for name in more}
        assert (sums(form, max_groups, rows, both) - before == moved).all()
        assert np.count_nonzero(moved) <= max_groups and moved.max() <= rows
        largest = max(largest, moved.sum())
    assert largest == step.numbers(0, 1).l1


CASES = [case for n in (1, 2, 3) for case in combinations_with_replacement(PLACES, n)]


def in_duckdb(data):
    return database({"who": ("int64", data["who"]), "k": ("string", data["k"])})


def database(columns):
    return table(connect("duckdb"), columns)


@pytest.mark.parametrize(
    ("form", "cases"), [(dict, CASES), (in_duckdb, [("x", "y", None), ("a", "x", "y")])]
)
def test_a_person_moves_what_the_step_says(form, cases):
    for most in ((1, 1), (1, 2), (2, 1)) if form is dict else ((1, 2), (2, 1)):
        expect_a_step(form, cases, *most)


def test_others_that_a_database_takes_for_many_groups_are_found(monkeypatch):
    """Planted: keys as they are, of which the others are put together after bounding."""

    def apart(columns, listed, dialect):
        return [keys.exact(column, dialect, "k") for column in columns]

    monkeypatch.setattr(sql, "others_apart", apart)
    with pytest.raises(AssertionError):
        expect_a_step(in_duckdb, [("x", "y")], 2, 1)


def test_others_that_have_several_codes_are_found(monkeypatch):
    """Planted: null keys are of the group before the last."""
    codes = CoderOfOthers.codes

    def apart(self, batch):
        found = codes(self, batch)
        nulls = [i for i, key in enumerate(batch.columns["k"].rows) if key is None]
        found[nulls] = -1
        return found

    monkeypatch.setattr(CoderOfOthers, "codes", apart)
    with pytest.raises(AssertionError):
        test_null_keys_are_others_and_rows_that_are_not_used_are_none()


WORD, NUMBER = {"by": "word", "keys": ["a"]}, {"by": "number", "keys": [1]}
DAY, BOTH = {"by": "day", "keys": DAYS}, {"by": ["word", "number"], "keys": [("a", 1)]}
REFUSED = [
    ({"by": "word", "other_key": "x"}, "left out if keys are private"),
    ({**WORD, "other_key": "a"}, "a key that is not among"),
    ({**WORD, "other_key": 3}, "must be text, as the column of keys is"),
    ({**NUMBER, "other_key": "x"}, "must be integers"),
    ({**NUMBER, "other_key": True}, "a key that is not among"),
    ({**NUMBER, "keys": np.array([1], np.uint8), "other_key": -1}, "must be integers of uint8"),
    ({**DAY, "other_key": 5}, "must be dates or times"),
    ({**DAY, "other_key": np.datetime64("NaT")}, "other_key"),
    ({**DAY, "other_key": DAYS[1]}, "a key that is not among"),
    ({**BOTH, "other_key": "x"}, "a tuple with a key"),
    ({**BOTH, "other_key": ("x", 1)}, "a key that is not among"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_labels_that_are_refused(given, message):
    told = refused(lambda **loss: dp.group_by(DATA, **given).count(**loss), message, epsilon=1)
    assert len(str(told).split()) < 30


@pytest.mark.parametrize(
    ("column", "keys", "label"),
    [("who", list(range(5000)), -1), ("k", ["a\0b"], "x"), ("when", [DAYS[0]], DAYS[1])],
)
def test_keys_that_no_statement_has_words_for_are_refused(column, keys, label):
    kinds = {"who": ("int64", [1]), "k": ("string", ["a"]), "when": ("timestamp(6)", [None])}
    rows = database(kinds)
    with pytest.raises(ArgumentError, match="other_key must be left out in a database"):
        dp.group_by(rows, column, keys=keys, other_key=label)
