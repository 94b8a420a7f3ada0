"""A nightly job on a machine that is not to be relied on: killed, resumed, and paid for once.

python nightly.py FOLDER

The night's job is killed in the middle, somebody touches the data meanwhile, and the job is run
again. `[data]` gives the data a version, so touched data are the same data.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import dpfast as dp

JOB = """
[data]
path = "pay.csv"
version = "monday"
[budget]
epsilon = 2
path = "nightly.db"
[output]
path = "answers.csv"
[defaults]
column = "pay"
bounds = [0, 100]
[[release]]
statistic = "count"
[[release]]
statistic = "mean"
[[release]]
statistic = "sum"
[[release]]
statistic = "median"
weight = 2
[[release]]
statistic = "quantiles"
qs = [0.1, 0.9]
"""


def prepare(folder: Path) -> Path:
    """Write the data and the job."""
    pay = np.random.default_rng(7).normal(50, 15, 200_000).clip(0, 100)
    np.savetxt(folder / "pay.csv", pay, fmt="%.2f", header="pay", comments="")
    (folder / "job.toml").write_text(JOB, encoding="utf-8")
    return folder / "job.toml"


def answered(ledger: Path) -> dict[str, Any]:
    """The answers that are recorded, by what the ledger says of them."""
    history = dp.Budget(path=ledger).history if ledger.exists() else ()
    return {line.note: line.answer for line in history if line.answer is not None}


def half_a_night(job: Path) -> None:
    """Run the job until some have their answers, while medians need one more pass; be killed."""

    def watch(done: int, total: int | None) -> None:
        if answered(job.with_name("nightly.db")):
            os.kill(os.getpid(), signal.SIGKILL)

    dp.job.run(job, progress=watch)


def main(folder: Path) -> dict[str, Any]:
    """Be killed, touch the data, resume, and run once more; what happened."""
    job = folder / "job.toml"
    night = subprocess.run([sys.executable, __file__, str(folder), "half"])
    before = answered(folder / "nightly.db")
    os.utime(folder / "pay.csv", (0, 0))
    results, again = dp.job.run(job), dp.job.run(job)
    ledger = dp.Budget(path=folder / "nightly.db")
    for line in ledger.history:
        print(f"{line.note:24} {line.loss}")
    return {
        "killed": night.returncode == -signal.SIGKILL,
        "before": before,
        "after": answered(folder / "nightly.db"),
        "paid": [line.note for line in ledger.history],
        "spent": ledger.spent["epsilon"],
        "answers": dict(results),
        "again": dict(again),
        "rows": results.table().num_rows,
    }


if __name__ == "__main__":
    place = Path(sys.argv[1])
    if sys.argv[2:] == ["half"]:
        half_a_night(place / "job.toml")
    else:
        prepare(place)
        main(place)
