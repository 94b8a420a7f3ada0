"""Keep what `report.py --keep` has measured, and draw the ratios of all that was kept.

    python benchmarks/history.py

rewrites the table and the figure of `docs/guide/speed-history.md` from `benchmarks/history.jsonl`,
which has a line for each run: the commit, the date, the machine, and seconds of both sides of each
row. A ratio of both sides in one run says more than a time, as machines and their loads differ.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "benchmarks" / "history.jsonl"
PAGE = ROOT / "docs" / "guide" / "speed-history.md"
FIGURE = ROOT / "docs" / "figures" / "speed-history.png"


def commit() -> str:
    """Return the commit that is checked out."""
    command = ["git", "log", "-1", "--format=%h", "--abbrev=10"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def keep(rows: Iterable[tuple[str, float, str, float]], machine: str, path: Path = KEPT) -> None:
    """Append a run: the work, our seconds, what is beside it, its seconds, of each row."""
    run = {
        "commit": commit(),
        "date": datetime.date.today().isoformat(),
        "machine": machine,
        "rows": [
            [work, float(f"{ours:.3g}"), label, float(f"{other:.3g}")]
            for work, ours, label, other in rows
        ],
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(run, ensure_ascii=False) + "\n")


def runs(path: Path = KEPT) -> list[dict[str, Any]]:
    """Return all runs, the oldest first."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def ratios(kept: list[dict[str, Any]]) -> dict[tuple[str, str], list[float]]:
    """Return our time over that of the reference, of each row in each run, NaN for none."""
    found: dict[tuple[str, str], list[float]] = {}
    for at, run in enumerate(kept):
        for work, ours, label, other in run["rows"]:
            name = (work, re.sub(r" [\d.]+$", "", label))  # a rival without its version
            found.setdefault(name, [float("nan")] * len(kept))[at] = ours / other
    return found


def changes(kept: list[dict[str, Any]]) -> list[tuple[int, float, float, str]]:
    """Return of each run how its ratios compare with the last ones before it.

    That is the number of rows that both have, the geometric mean of the quotients, and the largest
    one with its row.
    """
    last: dict[tuple[str, str], float] = {}
    found = []
    table = ratios(kept)
    for at in range(len(kept)):
        now = {name: line[at] for name, line in table.items() if line[at] == line[at]}
        quotients = {name: now[name] / last[name] for name in now.keys() & last.keys()}
        if quotients:
            worst = max(quotients, key=lambda name: quotients[name])
            mean = float(np.exp(np.mean(np.log(list(quotients.values())))))
            found.append((len(quotients), mean, quotients[worst], " | ".join(worst)))
        else:
            found.append((0, 1.0, 1.0, ""))
        last |= now
    return found


def lines(kept: list[dict[str, Any]]) -> list[str]:
    """Return the table of the page."""
    head = (
        "| date | commit | machine | rows | also before | mean change | slowest row | its change |"
    )
    shown = [head, "|---|---|---|---:|---:|---:|---|---:|"]
    for run, (both, mean, most, worst) in zip(kept, changes(kept), strict=True):
        row = [run["date"], f"`{run['commit']}`", run["machine"], len(run["rows"])]
        name = worst.replace(" | ", " beside ")
        row += [both, f"{mean:.2f}", name, f"{most:.2f}"] if both else ["", "", "", ""]
        shown.append(f"| {' | '.join(map(str, row))} |")
    return shown


def draw(kept: list[dict[str, Any]], path: Path = FIGURE) -> None:
    """Draw a line for each row that stands in two runs or more, in the order of the runs."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    table = {name: line for name, line in ratios(kept).items() if np.isfinite(line).sum() > 1}
    figure, axis = plt.subplots(figsize=(9, 5), layout="constrained")
    for line in table.values():
        at = np.flatnonzero(np.isfinite(line))
        axis.plot(at, np.array(line)[at], "o-", c="C0", ms=3.5, lw=1, alpha=0.5)
    ticks = [f"{run['date']}\n{run['commit']}" for run in kept]
    axis.set_xticks(range(len(kept)), ticks, fontsize=8)
    axis.set(yscale="log", ylabel="time of dpfast / time of the compared library")
    axis.grid(alpha=0.3)
    figure.savefig(path, dpi=80)
    plt.close(figure)


def write(kept: list[dict[str, Any]], page: Path = PAGE) -> None:
    """Rewrite the table between the two marks of the page."""
    new, count = re.subn(
        r"(<!-- history -->\n).*?(<!-- /history -->)",
        lambda m: m[1] + "\n".join(lines(kept)) + "\n" + m[2],
        page.read_text(encoding="utf-8"),
        flags=re.S,
    )
    if count != 1:
        sys.exit(f"{page.name} has no pair of <!-- history --> marks")
    page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    write(runs())
    draw(runs())
