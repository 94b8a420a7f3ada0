"""A limit that renews with each period of the calendar: what each period adds up to."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

import dpfast as dp
from dpfast.budget import budget as budgets
from dpfast.budget.ledger import entries
from dpfast.errors import ArgumentError, BudgetError, LedgerError
from dpfast.privacy import Pure


@pytest.fixture(params=["memory", "file"])
def make(request, tmp_path):
    path = {} if request.param == "memory" else {"path": tmp_path / "study.db"}
    return lambda **limit: dp.Budget(**limit, **path)


@pytest.fixture
def clock(monkeypatch):
    def put(time):
        monkeypatch.setattr(budgets, "now", lambda: time)

    put("2024-01-31T12:00:00.000000Z")
    return put


def spend(budget, amount=1):
    budget.spend(Pure(amount), neighbors="replace")


def test_a_month_that_is_over_leaves_its_entries_and_no_sum(make, clock):
    budget = make(epsilon=2, period="month")
    spend(budget, 1.5)
    with pytest.raises(BudgetError, match=r"left epsilon=0\.5, delta=0 this month"):
        spend(budget)
    clock("2024-02-01T00:00:00.000000Z")
    assert budget.spent["epsilon"] == 0 and budget.remaining["epsilon"] == 2
    spend(budget, 2)
    with pytest.raises(BudgetError):
        spend(budget, 0.001)
    assert [entry.loss.epsilon for entry in budget.history] == [1.5, 2]
    said = budget.to_dict()
    assert (said["period"], said["since"]) == ("month", "2024-02-01")
    assert said["spent"]["epsilon"] == "2/1" and said["spends"] == 2
    assert "period='month', since='2024-02-01'" in repr(budget)
    assert "period=&#x27;month&#x27;" in budget._repr_html_()


def test_a_clock_that_is_set_back_stands_still(make, clock):
    budget = make(epsilon=2, period="month")
    spend(budget)
    clock("2023-12-31T23:59:59.999999Z")
    assert budget.remaining["epsilon"] == 1
    with pytest.raises(BudgetError):
        spend(budget, 2)
    spend(budget)
    assert budget.history[1].time == budget.history[0].time


def at(day, hour=0):
    time = datetime(2024, 1, 1, hour, tzinfo=UTC) + timedelta(days=day)
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")


#: Periods by the calendar of Python alone.
SINCE = {
    "day": lambda day: day,
    "week": lambda day: day.isocalendar()[:2],
    "month": lambda day: (day.year, day.month),
    "year": lambda day: day.year,
}


@pytest.mark.parametrize("period", SINCE)
def test_no_period_has_more_than_the_limit(period, clock):
    """Whatever the clock does: by the times of entries, which never go back."""
    chance, day = random.Random(period), 0
    budget, refused, sums = dp.Budget(epsilon=3, period=period), 0, defaultdict(Fraction)
    for _ in range(80):
        day = max(0, day + chance.choice([0, 0, 0, 1, 1, 7, 90, -20]))
        clock(at(day, chance.randrange(24)))
        try:
            spend(budget, chance.choice([0.5, 1, 2]))
        except BudgetError:
            refused += 1
    history = budget.history
    for entry in history:
        sums[SINCE[period](datetime.fromisoformat(entry.time).date())] += entry.loss.epsilon
    assert max(sums.values()) <= 3 and len(sums) > 2 and refused > 2
    assert [entry.time for entry in history] == sorted(entry.time for entry in history)


def test_a_state_that_renews_at_any_clock_is_noticed(clock, monkeypatch):
    """Planted: a clock that is set back begins a new period."""

    def at_any(self, period, time):
        same = self.time and entries.began(period, self.time) == entries.began(period, time)
        return entries.State(
            self.spent if same else entries.Amounts(), self.neighbors, self.entries, self.ids, time
        )

    monkeypatch.setattr(entries.State, "at", at_any)
    with pytest.raises(AssertionError):
        test_a_clock_that_is_set_back_stands_still(dp.Budget, clock)


def test_a_ledger_says_with_which_period_it_renews(tmp_path, clock):
    path = tmp_path / "study.db"
    spend(dp.Budget(epsilon=1, period="week", path=path))
    assert dp.Budget(path=path).period == "week" == dp.Budget(path=path, period="week").period
    clock("2024-02-05T00:00:00.000000Z")  # a Monday
    spend(dp.Budget(path=path))
    assert dp.Budget(path=path).spent["epsilon"] == 1  # and it is sound
    with pytest.raises(ArgumentError, match=r"period must be left out, or as in .*: 'week'"):
        dp.Budget(path=path, period="month")
    dp.Budget(epsilon=1, path=tmp_path / "all.db")
    with pytest.raises(ArgumentError, match=r"period must be left out, or as in .*: None"):
        dp.Budget(path=tmp_path / "all.db", period="month")


def test_a_period_over_its_limit_is_damage(tmp_path, clock, monkeypatch):
    path = tmp_path / "study.db"
    budget = dp.Budget(epsilon=1, period="month", path=path)
    monkeypatch.setattr(entries.Amounts, "fits", lambda self, limit: True)
    spend(budget)
    spend(budget)
    clock("2024-02-01T00:00:00.000000Z")
    spend(budget)
    monkeypatch.undo()
    with pytest.raises(LedgerError, match="more than its limit is spent"):
        dp.Budget(path=path)


def test_parts_are_refused():
    """Two parts in two periods would count as one of them, in neither."""
    budget = dp.Budget(epsilon=1, period="month")
    with pytest.raises(BudgetError, match=r"budget with a period does not allow Budget\.parallel"):
        budget.parallel([1, 2], [1, 2]).__enter__()


def test_what_was_paid_for_is_not_paid_again_in_the_next_period(clock):
    budget = dp.Budget(epsilon=1, period="month")
    for time in at(0), at(40):
        clock(time)
        with budget.once("June"):
            assert budget.settle(dp.count([1, 2], epsilon=1, budget=budget)) is not None
    assert len(budget.history) == 1
