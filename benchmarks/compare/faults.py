"""Show known faults of released libraries by the answers they give, and write the results.

    python -m benchmarks.compare.faults [--environments DIR] [--only SYSTEM/FAULT ...]

needs `pip install -e ".[audit]"` and the package index. A library is asked in an environment of its
own, which is made if it is not there. Each fault has a function in `faults.py` of its system, which
draws answers on two neighbors and says what the library claims of them, and a clean control: the
same question asked, or claimed, as it should be. `dp.audit.measure_answers` judges both, and is
wrong in one of a million runs.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import platform
import subprocess
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import dpfast as dp

from . import __main__ as compare
from .page import GUIDE, blocks, table

RESULTS = compare.ROOT / "docs" / "figures" / "faults.json"
CONFIDENCE = 1 - 1e-6


@dataclass(frozen=True)
class Fault:
    """What is wrong in a release, how the control asks, and where the fault was told."""

    system: str
    name: str
    title: str
    meant: str
    source: str = ""


OPENDP = "https://github.com/opendp/opendp/issues/"
FAULTS = (
    Fault(
        "opendp",
        "laplace_threshold",
        "`make_laplace_threshold` leaves the mass at the threshold out of its delta",
        "the delta of the threshold less 1",
        OPENDP + "2922",
    ),
    Fault(
        "opendp",
        "gaussian_threshold",
        "`make_gaussian_threshold` does so, too",
        "the delta of the threshold less 1",
        OPENDP + "2922",
    ),
    Fault(
        "opendp",
        "merged_groups",
        "a column that is made anew keeps the bounds on rows in its old groups",
        "made before the bounds",
        OPENDP + "2949",
    ),
    Fault(
        "opendp",
        "length_as_change",
        "the greatest length of a group is taken for the most rows that change in it",
        "a length that does not bind",
        OPENDP + "2945",
    ),
    Fault(
        "opendp",
        "codes_of_categories",
        "codes of `cut` follow the order of the rows, and are taken for functions of a row",
        "a comparison with the edge",
        OPENDP + "2944",
    ),
    Fault(
        "diffprivlib",
        "same_seed",
        "two answers with one `random_state` have the same noise",
        "no `random_state`",
    ),
    Fault(
        "diffprivlib",
        "data_changed",
        "`PCA(copy=True).fit` centers the rows of the caller",
        "`LinearRegression`",
    ),
    Fault(
        "synth",
        "unclipped",
        "`DPcovariance` clips the rows, and uses those that it was given",
        "rows clipped before",
        "https://github.com/opendp/smartnoise-sdk/issues/622",
    ),
    Fault(
        "numpy",
        "low_bits",
        "Laplace noise in float64, added to a number",
        "Laplace noise on a grid",
        "https://doi.org/10.1145/2382196.2382264",
    ),
)


def judge(x: Any, x2: Any, claim: dict[str, float] | None) -> dict[str, Any]:
    """What the kit says of a claim. Without one, x2 is to be x: this is sure."""
    if claim is None:
        changed = int(np.sum(x != x2))
        told = f"{changed:,} of {x.size:,} numbers changed"
        return {"refuted": changed > 0, "p_value": 0.0 if changed else 1.0, "witness": told}
    found = dp.audit.measure_answers(x, x2, **claim, confidence=CONFIDENCE).to_dict()
    if x.dtype.kind == "f" and x.ndim == 1:
        found["differences"] = compare.differences(x, x2, claim)
    return {**found, "claim": claim}


def ask(python: Path, fault: Fault, control: bool, answers: Path) -> dict[str, Any]:
    """The verdict on a fault or its control, and the seconds from the first import to it."""
    start = time.perf_counter()
    given = (fault.system, "--fault", fault.name, *["--control"] * control, "--answers", answers)
    made = subprocess.run(
        compare.command(python, *given), stdout=subprocess.PIPE, text=True, check=True
    )
    told = json.loads(made.stdout.splitlines()[-1])
    kept = np.load(answers)
    found = judge(kept["x"], kept["x2"], told["claim"])
    seconds = round(time.perf_counter() - start, 1)
    return {"release": told["release"], **found, "seconds": seconds}


def loss(row: dict[str, Any], values: dict[str, float]) -> str:
    """A claimed loss, or what was shown of its parts."""
    return ", ".join(f"{name} {values[name]:.3g}" for name in row["claim"] if values[name])


def lines(result: dict[str, Any]) -> str:
    """The table of the guide."""
    head = ["Release", "What is wrong", "Not refuted", "Claimed", "Shown", "p-value", "Time"]
    made = []
    for one in result["faults"]:
        row = one["fault"]
        claimed = loss(row, row["claim"]) if "claim" in row else "rows stay as they are"
        shown = loss(row, row) if "claim" in row else row["witness"]
        what = f"{one['title']} ([source]({one['source']}))" if one["source"] else one["title"]
        p_value, seconds = f"{row['p_value']:.1g}", f"{row['seconds']:.1f} s"
        made.append([row["release"], what, one["meant"], claimed, shown, p_value, seconds])
    return table(head, made, words=3)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--environments", type=Path, default=compare.BUILD)
    parser.add_argument("--only", nargs="*", default=["*"], help='patterns as "opendp/*"')
    given = parser.parse_args()
    compare.BUILD.mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = {
        "command": "python -m benchmarks.compare.faults",
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": compare.commit(),
        "machine": compare.machine(),
        "python": platform.python_version(),
        "confidence": CONFIDENCE,
        "faults": [],
    }
    kept = RESULTS if given.only == ["*"] else compare.BUILD / RESULTS.name
    for fault in FAULTS:
        name = f"{fault.system}/{fault.name}"
        if not any(fnmatch.fnmatch(name, pattern) for pattern in given.only):
            continue
        python = compare.environment(fault.system, given.environments)
        row = {"name": name, "title": fault.title, "source": fault.source, "meant": fault.meant}
        for part in ("fault", "control"):
            row[part] = ask(python, fault, part == "control", compare.BUILD / "answers.npz")
            told = "REFUTED" if row[part]["refuted"] else "not refuted"
            print(f"{name}, {part}: {told} in {row[part]['seconds']:.0f} s", flush=True)
        result["faults"].append(row)
        kept.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if kept == RESULTS:
        blocks(GUIDE, {"faults": lines(result)})


if __name__ == "__main__":
    main()
