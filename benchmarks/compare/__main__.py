"""Run the comparison of all systems, and write its results and its page.

    python -m benchmarks.compare [--scale 1e6] [--growth 1e9] [--minutes 60]
        [--only SYSTEM/WORKLOAD ... [--keep]]

needs `pip install -e ".[audit,plot]" psutil`, the package index, and Java for Tumult Analytics.
Each system is a folder here: `requirements.txt` pins its environment, which is made once in
`build/compare`, and `system.py` has one function for each workload. Each pair is asked twice, in
processes of their own: once as a whole, for the time from start to end and the peak of memory, and
once for warm calls, the errors of 200 answers on 10,000 rows, and answers on two neighbors, which
`dp.audit` judges here. A histogram is asked of ever more rows, in memory, until a system takes too
long for its share of the time, or more memory than four fifths of the machine's. The minutes are
shared by all pairs, and do not count the installation. With --keep, rows of the results that are
not asked stay as they are, and the new ones say when they were made.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import dpfast as dp

from . import page, workloads
from .worker import ERROR_ROWS

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "figures" / "compare.json"
BUILD = ROOT / "build" / "compare"
RUNS = 200
#: The share of the machine's memory that a process may take.
MEMORY = 0.8
#: The fewest answers that an audit can say something about.
FEWEST = 1024


def systems() -> list[str]:
    return sorted(path.parent.name for path in HERE.glob("*/system.py"))


def environment(name: str, into: Path) -> Path:
    """The Python of a system, in an environment that is made if it is not there."""
    home = into / name
    python, done = home / "bin" / "python", home / "installed"
    if not done.exists():
        print(f"installing {name}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        given = ["-q", "-r", HERE / name / "requirements.txt"]
        subprocess.run([python, "-m", "pip", "install", *given], cwd=ROOT, check=True)
        alone = HERE / name / "alone.txt"  # without what they require
        if alone.exists():
            given = ["-q", "--no-deps", "-r", alone]
            subprocess.run([python, "-m", "pip", "install", *given], cwd=ROOT, check=True)
        done.touch()
    return python


def command(python: Path, *arguments: Any) -> list[str]:
    return [str(x) for x in (python, "-P", HERE / "worker.py", *arguments)]


def offers(python: Path, name: str) -> dict[str, Any]:
    made = subprocess.run(command(python, name), capture_output=True, text=True, check=True)
    return json.loads(made.stdout.splitlines()[-1])


def watch(arguments: list[str], limit: float) -> dict[str, Any]:
    """Run a process: its time, the peak of memory of it and all its children, its last line."""
    import psutil

    start, peak = time.perf_counter(), 0
    most = MEMORY * psutil.virtual_memory().total
    BUILD.mkdir(parents=True, exist_ok=True)
    process = psutil.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=BUILD
    )
    family: list[Any] = [process]
    while process.poll() is None:
        now = 0
        try:
            family = [process, *process.children(recursive=True)]
            now = sum(one.memory_info().rss for one in family)
        except psutil.Error:
            pass
        peak = max(peak, now)
        late, much = time.perf_counter() - start > limit, peak > most
        if late or much:
            for one in family:
                one.kill()
            process.communicate()
            gives_up = f"more than {most / 1e9:.0f} GB" if much else f"no answer in {limit:.0f} s"
            return {"failure": gives_up}
        time.sleep(0.01)
    seconds = time.perf_counter() - start
    out, error = process.communicate()
    if process.returncode:
        last = (error.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
        return {"failure": last[:200], "out": out}
    return {"seconds": seconds, "memory": peak, "out": out}


def audit(answers: Path, workload: workloads.Workload, delta: float = 0.0) -> dict[str, Any]:
    """What the kit says of the answers on two neighbors, of a system that always has a delta."""
    kept = np.load(answers)
    x, x2 = kept["x"], kept["x2"]
    if 2 * len(x) < FEWEST:
        return {"samples": 2 * len(x)}
    claim = {"epsilon": workloads.EPSILON, "delta": max(delta, workload.delta)}
    found = dp.audit.measure_answers(x, x2, **claim).to_dict()
    if x.dtype.kind == "f":
        found["differences"] = differences(x, x2, claim)
    found["epsilon"] = min(found["epsilon"], 1e9)
    return found


def differences(x: Any, x2: Any, claim: dict[str, float]) -> list[str]:
    """What only one of two neighbors has, of answers that are there."""
    rest = {0: iter(x), 1: iter(x2)}
    support = dp.audit.support(lambda i: next(rest[i]), 0, 1, **claim, samples=2 * len(x))
    return list(support.differences)


def errors(each: list[float]) -> dict[str, float | None]:
    x = np.array(each)
    spread = float(x.std(ddof=1) / np.sqrt(len(x))) if len(x) > 1 else None
    at = {f"q{q}": float(np.quantile(x, q / 100)) for q in (50, 90, 99)}
    return {"mean": float(x.mean()), "se": spread, "runs": len(x), **at}


def limit(seconds: float) -> float:
    """The most seconds of a process whose share is so many: a start may take half a minute."""
    return max(30.0, 2 * seconds)


def text(result: dict[str, Any]) -> str:
    """Results as JSON that any reader takes."""
    return json.dumps(result, indent=1, allow_nan=False) + "\n"


def ask(
    python: Path,
    system: str,
    workload: str,
    relation: str,
    rows: float,
    seconds: float,
    delta: float = 0.0,
) -> dict[str, Any]:
    """One row of the results; `delta` is the one that the system always has."""
    row: dict[str, Any] = {"system": system, "workload": workload, "relation": relation}
    arguments = (system, workload, relation, "--rows", rows)
    whole = watch(command(python, *arguments), limit(seconds))
    if "failure" in whole:
        return row | {"failure": whole["failure"]}
    row |= {"whole": whole["seconds"], "memory": whole["memory"]}
    answers = BUILD / "answers.npz"
    answers.unlink(missing_ok=True)
    more = ("--seconds", seconds / 3, "--runs", RUNS, "--answers", answers)
    made = watch(command(python, *arguments, *more), limit(2 * seconds))
    lines = [line for line in made.get("out", "").splitlines() if line.startswith("{")]
    if lines:
        found = json.loads(lines[-1])
        row |= {"warm": found["warm"], "lines": found["lines"]}
        if "errors" in found:
            row["error"] = errors(found["errors"])
    if "failure" in made:
        row["failure"] = made["failure"]
    elif answers.exists():
        row["audit"] = audit(answers, workloads.WORKLOADS[workload], delta)
    return row


def grown(python: Path, system: str, relation: str, rows: float, seconds: float) -> dict[str, Any]:
    """The time of a histogram of so many rows."""
    given = ("histogram", relation, "--rows", rows, "--seconds", seconds / 3, "--runs", 1)
    made = watch(command(python, system, *given), limit(2 * seconds))
    row: dict[str, Any] = {"system": system, "relation": relation, "rows": rows}
    lines = [line for line in made.get("out", "").splitlines() if line.startswith("{")]
    if not lines:
        return row | {"failure": made["failure"]}
    return row | {"warm": json.loads(lines[-1])["warm"], "memory": made.get("memory")}


def commit() -> str:
    made = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT
    )
    return made.stdout.strip()


def machine() -> str:
    """Cores, kind and model of the processor."""
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text().splitlines() if listed.exists() else []
    model = next((x.partition(": ")[2] for x in lines if x.startswith("model name")), "")
    return f"{os.cpu_count()} cores, {platform.machine()}, {model}"


def is_asked(system: str, workload: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatch(f"{system}/{workload}", pattern) for pattern in patterns)


def kept(old: dict[str, Any], new: dict[str, Any], patterns: list[str]) -> dict[str, Any]:
    """The results of two runs: of the old one what is not asked, and how the new one was made."""
    later = {name: new[name] for name in ("command", "date", "commit", "machine", "python")}
    return {
        **old,
        "workloads": new["workloads"],
        "systems": old["systems"] | new["systems"],
        "rows": [r for r in old["rows"] if not is_asked(r["system"], r["workload"], patterns)],
        "growth": [r for r in old["growth"] if not is_asked(r["system"], "histogram", patterns)],
        "later": [*old.get("later", []), later],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=float, default=1e6, help="rows of the data")
    parser.add_argument("--growth", type=float, default=1e9, help="rows of the last histogram")
    parser.add_argument("--minutes", type=float, default=60, help="for all, once all is installed")
    parser.add_argument("--only", nargs="*", default=["*"], help='patterns as "opendp/median"')
    parser.add_argument("--keep", action="store_true", help="keep the rows that are not asked")
    parser.add_argument("--environments", type=Path, default=BUILD)
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    about: dict[str, Any] = {}
    pythons: dict[str, Path] = {}
    for name in systems():
        if not any(is_asked(name, workload, given.only) for workload in workloads.WORKLOADS):
            continue
        try:
            pythons[name] = environment(name, given.environments)
            about[name] = offers(pythons[name], name)
        except subprocess.CalledProcessError as error:
            about[name] = {"name": name, "missing": str(error)[:300]}
    pairs = [
        (system, workload, relation)
        for workload in workloads.WORKLOADS
        for relation in (workloads.ADD, workloads.REPLACE)
        for system, own in about.items()
        if relation in own.get("offers", {}).get(workload, ())
        and is_asked(system, workload, given.only)
    ]
    result: dict[str, Any] = {
        "command": f"python -m benchmarks.compare --scale {given.scale:g} "
        f"--minutes {given.minutes:g}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "machine": machine(),
        "python": platform.python_version(),
        "scale": given.scale,
        "error_rows": ERROR_ROWS,
        "epsilon": workloads.EPSILON,
        "seed": workloads.SEED,
        "workloads": {
            name: {"title": w.title, "measure": w.measure, "delta": w.delta}
            for name, w in workloads.WORKLOADS.items()
        },
        "systems": {
            name: {key: own[key] for key in own if key != "offers"} for name, own in about.items()
        },
        "rows": [],
        "growth": [],
    }
    if given.keep:
        asked = " ".join(f"'{pattern}'" for pattern in given.only)
        result["command"] += f" --only {asked} --keep"
        date = {"date": result["date"]}
        result = kept(json.loads(given.results.read_text(encoding="utf-8")), result, given.only)
    else:
        date = {}
    sizes = [10.0**k for k in range(3, 10) if 10**k <= given.growth]
    growth = [
        (system, relation, rows)
        for rows in sizes
        for system, workload, relation in pairs
        if workload == "histogram" and relation == workloads.ADD
    ]
    end, left = time.monotonic() + 60 * given.minutes, len(pairs) + len(growth)

    def keep(part: str, row: dict[str, Any]) -> None:
        nonlocal left
        left -= 1
        result[part].append(row | date)
        given.results.write_text(text(result), encoding="utf-8")
        told = row.get("failure") or f"{row['warm']['seconds']:.3g} s"
        what = row.get("workload") or f"histogram of {row['rows']:g} rows"
        print(f"{left} left: {what}, {row['relation']}, {row['system']}: {told}", flush=True)

    for system, *asked in pairs:
        share = max(1.0, (end - time.monotonic()) / left)
        delta = about[system]["delta"]
        keep("rows", ask(pythons[system], system, *asked, given.scale, share, delta))
    ended: set[str] = set()
    for system, relation, rows in growth:
        if system in ended:
            left -= 1
            continue
        share = max(1.0, (end - time.monotonic()) / left)
        row = grown(pythons[system], system, relation, rows, share)
        if "failure" in row:
            ended.add(system)
        keep("growth", row)
    page.write(given.results)


if __name__ == "__main__":
    main()
