"""A call of a measurement costs what the measurement says, of the unit that it is for."""

from dataclasses import replace

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError

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
    measured, budget = statistic.measure(epsilon=1, unit=unit), dp.Budget(epsilon=10, ids="who")
    with pytest.raises(ArgumentError, match=r"^ids must be those of the unit, '(who)?', or .*row"):
        measured(data, ids="row", budget=budget)
    assert not budget.history


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
    with pytest.raises(ArgumentError, match=rf"^data must be of {columns} columns"):
        measured(np.ones((50, width)), budget=budget)
    assert not budget.history
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
