"""Use the package as its users would, and print what came of it as JSON.

python -m tests.usage.payroll
"""

from __future__ import annotations

import json
from typing import Any

import dpfast as dp

from . import Excess, Payslips, excess, uniform

BOUNDS = (0.0, 10_000.0)
RUNS = [(1_500.0, 9_000), (2_500.0, 6_000), (9_500.0, 1_000)]
TARGET = 2_000.0
#: What all payslips are above the target: a public fact of made-up data.
TRUE = sum((pay - TARGET) * many for pay, many in RUNS)


def main() -> dict[str, Any]:
    """Release the statistic in every way, with noise of dpfast and then with that of its own."""
    slips, budget = Payslips(RUNS), dp.Budget(epsilon=2, delta=0.5)
    arguments: dict[str, Any] = {"target": TARGET, "bounds": BOUNDS}
    price = budget.cost(excess, slips, **arguments, epsilon=1)
    bar = dp.expected_error(excess, slips, **arguments, epsilon=1)
    answer = excess(slips, **arguments, epsilon=1, budget=budget)

    measurement = Excess(target=TARGET, bounds=BOUNDS).measure(epsilon=0.5)
    measured = measurement(slips, budget=budget)

    table = {
        "team": [team for team, (_, many) in enumerate(RUNS) for _ in range(many)],
        "pay": [pay for pay, many in RUNS for _ in range(many)],
    }
    teams = dp.group_by(table, "team", keys=list(range(len(RUNS))))
    over = Excess("pay", target=TARGET, bounds=BOUNDS)
    groups = teams.agg({"over": over}, epsilon=0.25, budget=budget)

    loss: dict[str, Any] = {"epsilon": 0.01, "delta": 0.25}  # far too large a delta, but to see it
    statistic = Excess(target=TARGET, bounds=BOUNDS)
    before = statistic.measure(**loss)
    dp.extend.add_noise_family(uniform)
    after = statistic.measure(**loss)
    noisy = after(slips, budget=budget)
    return {
        "true": TRUE,
        "price": float(price),
        "bar": bar.half_width,
        "answer": answer,
        "measured": measured,
        "measured bar": measurement.error(None, 0.95).half_width,
        "groups": [float(number) for number in groups["over"]],
        "groups bar": [float(number) for number in groups["over error"]],
        "noise": [before.noise_parameters["noise"], after.noise_parameters["noise"]],
        "noise bars": [one.error(None, 0.95).half_width for one in (before, after)],
        "noisy": noisy,
        "median": dp.median(slips, bounds=BOUNDS, epsilon=1),
        "rows": dp.count(slips, epsilon=1),
        "spent": [float(amount) for amount in budget.spent.values()],
        "ledger": [entry.what for entry in budget.history],
    }


if __name__ == "__main__":
    print(json.dumps(main()))
