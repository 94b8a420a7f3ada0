"""Twelve tasks of an analyst of a statistics office, each of at most five lines.

Flights are those of New York in 2013, adults those of a census of 1994.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import dpfast as dp

#: All carriers that fly from New York: public.
CARRIERS = ["9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX"]
CARRIERS += ["WN", "YV"]
#: Minutes of delay, years of age, and hours of work in a week, as far as they count.
DELAYS, AGES, HOURS = (-60, 300), (17, 90), (0, 100)
SEXES = ["Female", "Male"]


def carriers(flights: Any, budget: dp.Budget) -> dict[str, Any]:
    """Flights and arrivals of each carrier, for a loss of planes: none has 576, or 3 carriers."""
    planes: Any = {"ids": "tailnum", "max_groups": 2, "max_rows": "auto", "rows_limit": 575}
    groups = dp.group_by(flights, "carrier", keys=CARRIERS, **planes)
    asked = {"flights": dp.stat.count(), "arrivals": dp.stat.count("arr_delay")}
    return groups.agg(asked, epsilon=1, budget=budget)


def planes_by_month(flights: Any, budget: dp.Budget) -> dict[str, Any]:
    """How many planes flew in each month."""
    months = dp.group_by(flights, "month", keys=range(1, 13), ids="tailnum")
    return months.count_distinct(epsilon=1, budget=budget)


def ages(adults: Any, budget: dp.Budget) -> dict[str, Any]:
    """A histogram of ages with cumulative shares."""
    tree = dp.tree_histogram(adults["age"], bins=16, bounds=(10, 90), epsilon=1, budget=budget)
    return tree.table()


def destinations(flights: Any, budget: dp.Budget) -> Any:
    """The ten destinations with the most planes, of which none is known beforehand."""
    groups = dp.group_by(flights, "dest", ids="tailnum", max_groups=47)
    planes = groups.count_distinct(epsilon=1, delta=1e-6, budget=budget)
    return planes.to_pandas().nlargest(10, "count_distinct")


def hours_by_age(adults: Any, budget: dp.Budget) -> tuple[Any, Any]:
    """A regression of hours on age and years of education: coefficients, and intervals."""
    line = dp.learn.LinearRegression(bounds=[AGES, (1, 16)], y_bounds=HOURS, epsilon=1)
    line.fit(adults[["age", "education_num"]], adults["hours_per_week"], budget=budget)
    return line.coef_, line.conf_int()


def table_one(adults: Any, budget: dp.Budget) -> dict[str, Any]:
    """Adults of each sex: how many, their ages, hours and incomes."""
    age, sd = dp.Mean("age", bounds=AGES), dp.Std("age", bounds=AGES)
    hours = dp.stat.quantile_interval("hours_per_week", 0.5, bounds=HOURS)
    rich = dp.stat.proportion("income", equal=">50K")
    asked = {"n": dp.Count(), "age": age, "sd": sd, "hours": hours, "rich": rich}
    return dp.group_by(adults, "sex", keys=SEXES).agg(asked, epsilon=1, budget=budget)


def ages_with_hours(adults: Any, budget: dp.Budget) -> dp.Release[float]:
    """How far older adults work longer."""
    columns = adults[["age", "hours_per_week"]]
    return dp.session(budget).correlation(columns, bounds=[AGES, HOURS], epsilon=1)


def rich(adults: Any, budget: dp.Budget) -> dp.Release[float]:
    """The share of adults with more than 50,000 dollars a year."""
    return dp.session(budget).proportion(adults["income"], equal=">50K", epsilon=0.1)


def hours_of_men(adults: Any, budget: dp.Budget) -> dp.Release[float]:
    """How much longer men work than women."""
    pair, hours = adults[["hours_per_week", "sex"]], dp.Mean(bounds=HOURS)
    return dp.session(budget).difference(pair, of=hours, keys=["Male", "Female"], epsilon=0.1)


def in_two_processes(numbers: Sequence[float], path: Path) -> list[float]:
    """Two means from two processes that spend from one ledger."""
    budget = dp.Budget(epsilon=1, path=path)
    mean = partial(dp.mean, bounds=(0, 100), epsilon=0.5, budget=budget)
    with ProcessPoolExecutor(2) as pool:
        return list(pool.map(mean, [numbers, numbers]))


def export(answer: Any, folder: Path) -> Any:
    """A table by group for pandas, as CSV and for Excel."""
    table = answer.to_pandas()
    table.to_csv(folder / "answer.csv", index=False)
    table.to_excel(folder / "answer.xlsx", index=False)
    return table


def for_the_auditor(ledger: Path) -> tuple[Any, str]:
    """All that was released: a table, and a page to read."""
    command = [sys.executable, "-m", "dpfast", "budget", "report", str(ledger), "--html"]
    page = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    return dp.Budget(path=ledger).history.to_pandas(), page


TASKS: list[Callable[..., Any]] = [
    *(carriers, planes_by_month, ages, destinations, hours_by_age, table_one),
    *(ages_with_hours, rich, hours_of_men, in_two_processes, export, for_the_auditor),
]
