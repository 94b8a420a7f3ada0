"""What the columns of an answer are called: no two have one name."""

import numpy as np
import pytest

import dpfast as dp
from dpfast._core.once import forget
from dpfast.errors import ArgumentError
from dpfast.measurement import columns_by_name

TABLE = {"k": [1, 2] * 50, "n error": [1, 2] * 50, "x": np.arange(100.0)}
GROUPS = dp.group_by(TABLE, "k", keys=[1, 2])


def edges():
    return list(GROUPS.histogram("x", bins=[1234567, 1234568, 1234569], epsilon=1))


def test_numbers_are_short_where_that_tells_them_apart():
    assert edges() == ["k", "histogram 1234567.0", "histogram 1234568.0", "histogram error"]
    qs = [1 / 3, 0.33333]
    assert list(GROUPS.quantiles("x", qs, bounds=(0, 9), epsilon=1))[1:] == [
        "quantiles 0.333333",
        "quantiles 0.33333",
        "quantiles error in ranks",
    ]
    close = [0.33333331, 0.33333332]
    found = GROUPS.quantiles("x", close, bounds=(0, 9), epsilon=1)
    assert list(found)[1:-1] == [f"quantiles {q}" for q in close]


def test_a_bin_that_another_hides_is_found(monkeypatch):
    monkeypatch.setattr("dpfast.groups.counts.labels", lambda some: [f"{x:g}" for x in some])
    forget()
    with pytest.raises(ArgumentError, match="no two columns have one name"):
        edges()
    forget()
    assert columns_by_name.labels([0.5, 18.0]) == ["0.5", "18"]


@pytest.mark.parametrize(
    ("by", "statistics"),
    [
        ("k", {"k": dp.stat.count()}),
        ("k", {"n": dp.stat.count(), "n error": dp.stat.count()}),
        ("n error", {"n": dp.stat.count()}),
        ("k", {"q 0.5": dp.stat.count(), "q": dp.stat.quantiles("x", [0.5, 0.1], bounds=(0, 1))}),
        ("k", {"h": dp.stat.histogram("k", categories=["error", "other"])}),
    ],
)
def test_two_columns_of_one_name_are_refused(by, statistics):
    budget = dp.Budget(epsilon=1)
    table = {**TABLE, "k": ["error", "b"] * 50}
    with pytest.raises(ArgumentError, match="no two columns have one name"):
        dp.group_by(table, by, keys=[1] if by != "k" else ["b"]).agg(
            statistics, epsilon=1, budget=budget
        )
    assert not budget.history
