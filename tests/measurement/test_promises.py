"""A call of a measurement costs what it says, of the unit that it is for; a plan of bounds."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError

from ..support.refused import refused

N = 2000
#: One person has all the rows, each of which has an id of its own.
ROWS = {"x": np.ones(N), "who": np.zeros(N, int), "row": np.arange(N)}
OF_PEOPLE = {"epsilon": 1, "unit": dp.Unit(ids="who", max_rows=1)}


def some(*names):
    return {name: ROWS[name] for name in names}


STATISTICS = {
    "sum": (dp.Sum(bounds=(0, 1)), some("x", "row")),
    "count": (dp.Count(), some("x", "row")),
    "median": (dp.Median(bounds=(0, 1)), some("x", "row")),
    "ratio": (dp.Ratio(bounds=[(0, 1), (0, 1)]), {"y": ROWS["x"], **some("x", "row")}),
    "distinct": (dp.CountDistinct(), some("x", "row")),
}


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("unit", [dp.Unit(ids="who", max_rows=1), dp.Unit(ids="", max_rows=1)])
def test_people_of_other_ids_are_refused(name, unit):
    statistic, data = STATISTICS[name]
    given = {"budget": dp.Budget(epsilon=10, ids="who"), "data": data, "ids": "row"}
    words = r"^ids must be the ids of the unit, '(who)?'.*row"
    refused(statistic.measure(epsilon=1, unit=unit), words, **given)


def test_ids_without_a_name_are_those_of_the_unit():
    measured = dp.Sum(bounds=(0, 1)).measure(**OF_PEOPLE)
    budget = dp.Budget(epsilon=10, ids="who")
    assert abs(measured(ROWS["x"], ids=ROWS["who"], budget=budget)) < 40
    assert [entry.ids for entry in budget.history] == ["who"]


def test_ids_that_nobody_compares_are_seen(monkeypatch):
    """The planted fault: a sum of all rows of a person, of whom one should count."""
    monkeypatch.setattr("dpfast.measurement.statistic.id_name", lambda ids: "")
    measured = dp.Sum(bounds=(0, 1)).measure(epsilon=1, unit=dp.Unit(ids="who", max_rows=1))
    assert measured(some("x", "row"), ids="row") > N - 40


@pytest.mark.parametrize("statistic", [dp.Mean, dp.Sum, dp.Variance])
@pytest.mark.parametrize("columns, width", [(1, 60), (60, 1), (2, 3)])
def test_other_columns_than_were_said_are_refused(statistic, columns, width):
    loss = {"epsilon": 1, "delta": 1e-6}
    measured = statistic(bounds=(0, 1)).measure(**loss, columns=columns)
    budget = dp.Budget(epsilon=10, delta=0.1)
    words = rf"^data must be a table of {columns} columns"
    refused(measured, words, budget=budget, data=np.ones((50, width)))
    measured(np.ones((50, columns)), budget=budget)
    assert budget.history[0].loss == measured.loss


def test_another_loss_than_was_said_is_refused():
    """The planted fault: a mechanism that costs more is made for the rows."""
    measured = dp.Mean(bounds=(0, 1)).measure(epsilon=1)
    more = dp.Mean(bounds=(0, 1)).measure(epsilon=2)
    planted = replace(measured, offered=more.offered, of_times=True)  # so it is made anew
    with pytest.raises(ArgumentTypeError, match="as measure"):
        planted([0.5] * 9)


def test_a_function_of_somebody_else_is_asked_at_every_call():
    bounds = [(0, 10)]

    @dp.extend.measures
    def age(data, *, epsilon=400, ids=None, max_rows=None, budget=None, rng=None):
        assert len(data) == 50
        return dp.Mean(bounds=bounds[0])

    assert age([50.0] * 50) == pytest.approx(10, abs=1)
    bounds[0] = (0, 100)
    assert age([50.0] * 50) == pytest.approx(50, abs=5)


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
        with pytest.raises(ArgumentTypeError, match="unit must be a unit with ids"):
            measured.plan(10, 5)
