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
        "duckdb_elastic",
        "equal_groups",
        "the seed is made of the true value: groups of one size have the same noise",
        "a query for each group",
        DUCKDB + "aggregates/dp_laplace_noise.cpp",
    ),
    Fault(
        "duckdb_elastic",
        "largest_unit",
        "the most rows of a person are counted in the data, and one person changes them by 99",
        "a person of one row",
        DUCKDB + "compiler/dp_elastic_compiler.cpp",
    ),
    Fault(
        "duckdb_elastic",
        "private_keys",
        "a group is shown that one person is in",
        "a group of two persons",
        DUCKDB + "compiler/dp_elastic_compiler.cpp",
    ),
    Fault(
        "qrlew",
        "rows_counted",
        "a count is clamped to the number of rows, as `from_database` reads it",
        "1,000 rows, whatever there are",
        "https://github.com/Qrlew/qrlew/blob/main/src/differential_privacy/aggregates.rs",
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
        SMARTNOISE + "622",
        recorded=1,
    ),
    Fault(
        "synthcity",
        "rows_counted",
        "`PrivBayes` chooses the most parents of a column by the number of rows",
        "a public number",
        SYNTHCITY,
        recorded=3,
    ),
    Fault(
        "synthcity",
        "zero_scale",
        "the noise of `PrivBayes` is 0 if a column may have all as parents",
        "noise for a table of each column",
        SYNTHCITY,
        recorded=4,
    ),
    Fault(
        "synthcity",
        "weak_dependence",
        "`PrivBayes` compares the true mutual information with a threshold",
        "a threshold below all",
        SYNTHCITY,
        recorded=5,
    ),
    Fault(
        "diffprivlib",
        "upper_bound",
        "`LinearRegression` takes the lower limit of a feature for the upper one, too",
        "limits -1 and 1",
        DIFFPRIVLIB + "105",
        recorded=6,
    ),
    Fault(
        "diffprivlib",
        "labels",
        "`LogisticRegression` takes its classes from the rows",
        "a public row of each class",
        DIFFPRIVLIB + "106",
        recorded=7,
    ),
    Fault(
        "numpy",
        "joint_selection",
        "scores that a row changes by 4 have noise for 2",
        "noise for 4",
        "https://github.com/ryan112358/mbi/issues/65",
        recreated="JAM of Private-PGM (re-created)",
        recorded=8,
    ),
    Fault(
        "mostlyai",
        "each_position",
        "each position of a text spends the epsilon of its column",
        "a share for each",
        MOSTLYAI + "_encoding_types/tabular/character.py#L72",
        recorded=9,
    ),
    Fault(
        "mostlyai",
        "fewer_than_twenty",
        "a column has noisy limits if it has 20 values, and none if it has fewer",
        "noisy limits in either case",
        MOSTLYAI + "_encoding_types/tabular/numeric.py#L250",
        recorded=10,
    ),
    Fault(
        "opacus",
        "rows_in_scale",
        "a step is divided by the number of rows over that of batches",
        "a public number",
        "https://github.com/meta-pytorch/opacus/issues/571",
        recorded=11,
    ),
    Fault(
        "dpmm",
        "domain_of_aim",
        "`AIM` takes its domain from the rows",
        "a stated domain",
        DPMM,
        recorded=12,
    ),
    Fault(
        "dpmm",
        "domain_of_privbayes",
        "`PrivBayes` takes its domain from the rows",
        "a stated domain",
        DPMM,
        recorded=13,
    ),
    Fault(
        "opacus",
        "not_a_number",
        "a gradient that is NaN is not clipped",
        "NaN read as 0",
        PAPER,
    ),
    Fault(
        "diffprivlib",
        "not_a_number",
        "the mean of rows of which one is NaN is NaN",
        "`nanmean`",
        DIFFPRIVLIB + "80",
    ),
    Fault(
        "smartnoise",
        "delta_of_many",
        "the delta that `Odometer` reports of many queries falls",
        "`OdometerHeterogeneous`",
        "https://arxiv.org/abs/1311.0776",
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
    head = ["Release", "re:cord-play", "What is wrong", "Not refuted"]
    head += ["Claimed", "Shown", "p-value", "Time"]
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
