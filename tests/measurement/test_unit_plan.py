"""A plan of bounds: its error bars are those of each bound, and what is kept is by definition."""

import itertools

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError

PEOPLE = dp.Unit(ids="who", max_rows=1)


def test_the_bars_are_those_of_each_bound():
    mean = dp.Mean(bounds=(0, 9))
    plan = mean.measure(rho=0.5, unit=PEOPLE).plan(1000, 100, [1, 3, 50])
    assert plan["rows at most"].tolist() == [100, 300, 1000]
    for bound, error, kept in zip(
        plan["max_rows"], plan["error 95%"], plan["rows at most"], strict=True
    ):
        bounded = mean.measure(rho=0.5, unit=dp.Unit(ids="who", max_rows=int(bound)))
        assert error == bounded.error(int(kept), 0.95).half_width


def test_what_is_kept_is_between_its_ends_for_all_numbers_of_rows():
    count = dp.Count().measure(epsilon=1, unit=PEOPLE)
    for rows, units in ((6, 2), (7, 3), (5, 5), (1, 1)):
        plan = count.plan(rows, units)
        kept = [
            [sum(min(c, bound) for c in each) for bound in plan["max_rows"].tolist()]
            for each in itertools.product(range(1, rows + 1), repeat=units)
            if sum(each) == rows
        ]
        assert np.min(kept, axis=0).tolist() == plan["rows at least"].tolist()
        assert np.max(kept, axis=0).tolist() == plan["rows at most"].tolist()
        assert plan["rows at least"][-1] == rows


def test_nothing_is_spent_and_nothing_drawn():
    plan = dp.Median(bounds=(0, 9)).measure(epsilon=1, unit=PEOPLE).plan(100, 10)
    assert np.isnan(plan["error 95%"]).all() and "(8 bounds)" in repr(plan)
    columns = dp.Sum(bounds=(0, 9)).measure(epsilon=1, unit=PEOPLE, columns=2).plan(100, 10, [2])
    assert columns["error 95%"].shape == (1,)


def test_what_is_refused():
    count = dp.Count().measure(epsilon=1, unit=PEOPLE)
    for more, words in (
        ({"rows": 0}, "rows must be"),
        ({"units": 11}, "units must be at most the number of rows, 10"),
        ({"max_rows": []}, "max_rows must be a list"),
        ({"max_rows": [0]}, "max_rows must be"),
        ({"max_rows": 3}, "max_rows must be a list"),
    ):
        with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
            count.plan(**{"rows": 10, "units": 5} | more)
    total = dp.Count(per_unit=(0, 3)).measure(epsilon=1, unit=dp.Unit(ids="who"))
    for measured in (dp.Count().measure(epsilon=1), total):
        with pytest.raises(ArgumentTypeError, match="unit must be one of ids"):
            measured.plan(10, 5)
