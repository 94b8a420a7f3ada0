"""Show known faults of released libraries by the answers they give, and write the results.

    python -m benchmarks.compare.faults [--environments DIR] [--only SYSTEM/FAULT ...]

needs `pip install -e ".[audit]"` and the package index; `--only` leaves the other rows as they are.
A library is asked in an environment of its own, which is made if it is not there. Each fault has a
function in `faults.py` of its system, which draws answers on two neighbors and says what the
library claims of them, and a clean control: the same question asked, or claimed, as it should be.
`dp.audit.measure_answers` judges both, and is wrong in one of a million runs.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
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
    #: The system of which a few lines of our own have the fault, because no package has it.
    recreated: str = ""
    #: The number among those that re:cord-play found.
    recorded: int = 0


OPENDP = "https://github.com/opendp/opendp/issues/"
SMARTNOISE = "https://github.com/opendp/smartnoise-sdk/issues/"
DIFFPRIVLIB = "https://github.com/IBM/differential-privacy-library/issues/"
MOSTLYAI = "https://github.com/mostly-ai/mostlyai-engine/blob/2.5.0/mostlyai/engine/"
SYNTHCITY = (
    "https://github.com/vanderschaarlab/synthcity/blob/main/src/synthcity/plugins/privacy/"
    "plugin_privbayes.py"
)
DPMM = "https://github.com/sassoftware/dpmm/issues/18"
PAPER = "https://arxiv.org/abs/2602.17454"
DUCKDB = "https://github.com/cwida/pac/blob/5286893/src/"
FAULTS = (
    Fault(
        "opendp",
        "laplace_threshold",
        "`make_laplace_threshold` omits from its delta that a noisy count equals the threshold",
        "delta of a threshold that is 1 lower",
        OPENDP + "2922",
    ),
    Fault(
        "opendp",
        "gaussian_threshold",
        "`make_gaussian_threshold` has the same fault",
        "delta of a threshold that is 1 lower",
        OPENDP + "2922",
    ),
    Fault(
        "opendp",
        "merged_groups",
        "rows are bounded in each group; a column that merges all groups keeps this bound",
        "groups are merged before the bound",
        OPENDP + "2949",
    ),
    Fault(
        "opendp",
        "length_as_change",
        "`max_length` is used as the number of rows that change; a replacement changes two",
        "`max_length=2`",
        OPENDP + "2945",
    ),
    Fault(
        "opendp",
        "codes_of_categories",
        "codes of `cut` depend on the order of the rows, and count as functions of one row",
        "the row is compared with the edge",
        OPENDP + "2944",
    ),
    Fault(
        "duckdb_elastic",
        "equal_groups",
        "the true value is part of the seed: groups of equal size get the same noise",
        "one query for each group",
        DUCKDB + "aggregates/dp_laplace_noise.cpp",
    ),
    Fault(
        "duckdb_elastic",
        "largest_unit",
        "the noise follows the largest number of rows of a person, which one person changes by 99",
        "the person has one row",
        DUCKDB + "compiler/dp_elastic_compiler.cpp",
    ),
    Fault(
        "duckdb_elastic",
        "private_keys",
        "a group of one person is shown",
        "a group of two people",
        DUCKDB + "compiler/dp_elastic_compiler.cpp",
    ),
    Fault(
        "qrlew",
        "rows_counted",
        "`from_database` reads the number of rows from the table, and counts are clamped to it",
        "1,000 for every table",
        "https://github.com/Qrlew/qrlew/blob/main/src/differential_privacy/aggregates.rs",
    ),
    Fault(
        "diffprivlib",
        "same_seed",
        "two answers with the same `random_state` have the same noise",
        "no `random_state`",
    ),
    Fault(
        "diffprivlib",
        "data_changed",
        "`PCA(copy=True).fit` changes the caller's array",
        "`LinearRegression`",
    ),
    Fault(
        "synth",
        "unclipped",
        "`DPcovariance` clips a copy of the rows, and uses the rows that are not clipped",
        "rows are clipped before the call",
        SMARTNOISE + "622",
        recorded=1,
    ),
    Fault(
        "synthcity",
        "rows_counted",
        "`PrivBayes` derives the most parents of a column from the private number of rows",
        "a public number of rows",
        SYNTHCITY,
        recorded=3,
    ),
    Fault(
        "synthcity",
        "zero_scale",
        "`PrivBayes` adds no noise if a column may have all columns as parents",
        "noise for one table per column",
        SYNTHCITY,
        recorded=4,
    ),
    Fault(
        "synthcity",
        "weak_dependence",
        "`PrivBayes` compares the mutual information with a threshold, without noise",
        "a threshold below every value",
        SYNTHCITY,
        recorded=5,
    ),
    Fault(
        "diffprivlib",
        "upper_bound",
        "`LinearRegression` uses the lower bound of a feature as its upper bound, too",
        "bounds -1 and 1",
        DIFFPRIVLIB + "105",
        recorded=6,
    ),
    Fault(
        "diffprivlib",
        "labels",
        "`LogisticRegression` reads its classes from the rows",
        "one public row of each class",
        DIFFPRIVLIB + "106",
        recorded=7,
    ),
    Fault(
        "numpy",
        "joint_selection",
        "a row changes scores by 4, and their noise is for a sensitivity of 2",
        "noise for 4",
        "https://github.com/ryan112358/mbi/issues/65",
        recreated="JAM of Private-PGM (re-created)",
        recorded=8,
    ),
    Fault(
        "mostlyai",
        "each_position",
        "each position of a text spends the whole epsilon of its column",
        "a share for each position",
        MOSTLYAI + "_encoding_types/tabular/character.py#L72",
        recorded=9,
    ),
    Fault(
        "mostlyai",
        "fewer_than_twenty",
        "a column of 20 or more values gets noisy limits, a shorter one none: this shows its size",
        "noisy limits for every size",
        MOSTLYAI + "_encoding_types/tabular/numeric.py#L250",
        recorded=10,
    ),
    Fault(
        "opacus",
        "rows_in_scale",
        "a step is divided by the private number of rows / number of batches",
        "a public divisor",
        "https://github.com/meta-pytorch/opacus/issues/571",
        recorded=11,
    ),
    Fault(
        "dpmm",
        "domain_of_aim",
        "`AIM` reads its domain from the rows",
        "a stated domain",
        DPMM,
        recorded=12,
    ),
    Fault(
        "dpmm",
        "domain_of_privbayes",
        "`PrivBayes` reads its domain from the rows",
        "a stated domain",
        DPMM,
        recorded=13,
    ),
    Fault(
        "opacus",
        "not_a_number",
        "a NaN gradient is not clipped",
        "NaN becomes 0",
        PAPER,
    ),
    Fault(
        "diffprivlib",
        "not_a_number",
        "one NaN row makes the mean NaN",
        "`nanmean`",
        DIFFPRIVLIB + "80",
    ),
    Fault(
        "smartnoise",
        "delta_of_many",
        "`Odometer` reports a smaller delta after more queries",
        "`OdometerHeterogeneous`",
        "https://arxiv.org/abs/1311.0776",
    ),
    Fault(
        "numpy",
        "low_bits",
        "float64 Laplace noise, added to a number",
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
        found["differences"] = compare.differences(x, x2, claim, CONFIDENCE)
    return {**found, "claim": claim}


def ask(python: Path, fault: Fault, control: bool, answers: Path) -> dict[str, Any]:
    """The verdict on a fault or its control, and the seconds from the first import to it."""
    start = time.perf_counter()
    given = (fault.system, "--fault", fault.name, *["--control"] * control, "--answers", answers)
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}  # small matrices
    made = subprocess.run(
        compare.command(python, *given), stdout=subprocess.PIPE, text=True, check=True, env=alone
    )
    told = json.loads(made.stdout.splitlines()[-1])
    with np.load(answers) as kept:
        found = judge(kept["x"], kept["x2"], told["claim"])
    seconds = round(time.perf_counter() - start, 1)
    return {"release": told["release"], **found, "seconds": seconds}


def in_order(rows: dict[str, Any]) -> list[tuple[Fault, dict[str, Any]]]:
    """The faults that have a row, with it."""
    named = {f"{fault.system}/{fault.name}": fault for fault in FAULTS}
    return [(fault, rows[name]) for name, fault in named.items() if name in rows]


def about(fault: Fault) -> dict[str, Any]:
    """What a row says of its fault."""
    words = ("title", "source", "meant", "recreated", "recorded")
    return {word: getattr(fault, word) for word in words}


def loss(row: dict[str, Any], values: dict[str, float]) -> str:
    """A claimed loss, or what was shown of its parts."""
    return ", ".join(f"{name} {values[name]:.3g}" for name in row["claim"] if values[name])


def lines(result: dict[str, Any]) -> str:
    """The table of the guide."""
    head = ["release", "re:cord-play", "fault", "control"]
    head += ["claimed loss", "shown loss", "p-value", "time"]
    made = []
    for one in result["faults"]:
        row = one["fault"]
        claimed = loss(row, row["claim"]) if "claim" in row else "rows stay as they are"
        shown = loss(row, row) if "claim" in row else row["witness"]
        what = f"{one['title']} ([source]({one['source']}))" if one["source"] else one["title"]
        p_value, seconds = f"{row['p_value']:.1g}", f"{row['seconds']:.1f} s"
        release, number = one["recreated"] or row["release"], one["recorded"] or ""
        made.append([release, number, what, one["meant"], claimed, shown, p_value, seconds])
    return table(head, made, words=4)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--environments", type=Path, default=compare.BUILD)
    parser.add_argument("--only", nargs="*", default=["*"], help='patterns as "opendp/*"')
    given = parser.parse_args()
    compare.BUILD.mkdir(parents=True, exist_ok=True)
    rows: dict[str, Any] = {}
    missed: list[str] = []
    if RESULTS.exists():
        rows = {row["name"]: row for row in json.loads(RESULTS.read_text("utf-8"))["faults"]}
    for fault in FAULTS:
        name = f"{fault.system}/{fault.name}"
        if not any(fnmatch.fnmatch(name, pattern) for pattern in given.only):
            continue
        row = {"name": name, "commit": compare.commit()}
        try:
            python = compare.environment(fault.system, given.environments)
            for part in ("fault", "control"):
                row[part] = ask(python, fault, part == "control", compare.BUILD / "answers.npz")
                told = "REFUTED" if row[part]["refuted"] else "not refuted"
                print(f"{name}, {part}: {told} in {row[part]['seconds']:.0f} s", flush=True)
        except subprocess.CalledProcessError:  # its own text stands above
            print(f"{name}: NOT asked, its row stays as it was", flush=True)
            missed.append(name)
            continue
        rows[name] = row
        result = {
            "command": "python -m benchmarks.compare.faults",
            "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "machine": compare.machine(),
            "python": platform.python_version(),
            "confidence": CONFIDENCE,
            "faults": [row | about(fault) for fault, row in in_order(rows)],
        }
        RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if rows:
        blocks(GUIDE, {"faults": lines(json.loads(RESULTS.read_text("utf-8")))})
    if missed:
        raise SystemExit(f"not asked: {', '.join(missed)}")


if __name__ == "__main__":
    main()
