"""An analyst's day: how many flights has each carrier, and how late are they? A table, and a plot.

python analyst.py FLIGHTS PLOT
"""

from __future__ import annotations

import sys
from typing import Any

import matplotlib.pyplot as plt

import dpfast as dp

#: All carriers that fly from New York: public.
CARRIERS = ["9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX"]
CARRIERS += ["WN", "YV"]


def report(path: str, budget: dp.Budget) -> dict[str, Any]:
    """Counts, medians and means of each carrier, with their error bars, for an epsilon of 1."""
    late: dict[str, Any] = {"column": "arr_delay", "bounds": (-60, 300), "nan": "drop"}
    flights = dp.scan(path, ["carrier", "arr_delay"])
    groups = dp.group_by(flights, "carrier", keys=CARRIERS)
    n, mean, median = dp.stat.count(), dp.stat.mean(**late), dp.stat.median(**late)
    return groups.agg({"flights": n, "mean": mean, "median": median}, epsilon=1, budget=budget)


def plot(answer: dict[str, Any], path: str) -> None:
    """Draw the flights and the delays of all carriers."""
    figure, (above, below) = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
    carriers = answer["carrier"]
    above.bar(carriers, answer["flights"], yerr=answer["flights error"])
    above.set_ylabel("flights")
    below.errorbar(carriers, answer["mean"], answer["mean error"], fmt="o", label="mean")
    below.plot(carriers, answer["median"], "k_", ms=12, label="median")
    below.set_ylabel("minutes late")
    below.legend()
    figure.savefig(path)
    plt.close(figure)


def main(flights: str, picture: str) -> dict[str, Any]:
    """Print the table, and draw it."""
    budget = dp.Budget(epsilon=1, name="flights")
    answer = report(flights, budget)
    print(answer)
    print(f"spent: epsilon = {budget.spent['epsilon']}")
    plot(answer, picture)
    return answer


if __name__ == "__main__":
    main(*sys.argv[1:])
