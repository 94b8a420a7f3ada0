"""Run the comparison of all systems, and write its results and its page.

    python -m benchmarks.compare [--scale 1e6] [--growth 1e9] [--minutes 60]
        [--only SYSTEM/WORKLOAD ... [--keep]] [--audits]

needs `pip install -e ".[audit,plot]" psutil`, the package index, and Java for Tumult Analytics.
Each system is a folder here: `requirements.txt` pins its environment, which is made once in
`build/compare`, and `system.py` has one function for each workload. Each pair is asked twice, in
processes of their own: once as a whole, for the time from start to end and the peak of memory, and
once for warm calls and the errors of 200 answers on 10,000 rows. Then each is asked for answers on
neighbors, which `dp.audit` judges here. A histogram is asked of ever more rows, in memory, until a
system takes too long for its share of the time, or more memory than four fifths of the machine's.
The minutes are shared by all pairs, and do not count the installation. With --keep, rows of the
results that are not asked stay as they are, and the new ones say when they were made. With --audits
only the audits are made anew, in the results that are there: load on the machine changes how many
answers they have, and nothing else.
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

from . import page, power, workloads
from .worker import ERROR_ROWS, FEWEST

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "figures" / "compare.json"
BUILD = ROOT / "build" / "compare"
RUNS = 200
#: The share of the machine's memory that a process may take.
MEMORY = 0.8
#: The part of all the time that one audit may take if its answers are slow.
LONGEST = 1 / 20


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


def audit(
    answers: Path, workload: workloads.Workload, relation: str, delta: float = 0.0
) -> dict[str, Any]:
    """What the kit says of answers on neighbors: the greatest bound that a pair of them shows.

    A system may always have a delta.
    """
    kept, pairs = np.load(answers), workload.pairs[relation]
    claim = {"epsilon": workloads.EPSILON, "delta": max(delta, workload.delta)}
    samples = sum(len(kept[name]) for name in kept)
    made: dict[str, Any] = {"samples": samples, "pairs": len(pairs)}
    if samples < FEWEST * len(pairs):
        return made
    audits, told = [], []
    for i, pair in enumerate(pairs):
        x, x2 = kept[f"x{i}"], kept[f"y{i}"]
        more = leaning(workload, pair, x, x2)
        confidence = 1 - power.WRONG / len(pairs)
        audits.append(dp.audit.measure_answers(*more, **claim, confidence=confidence).to_dict())
        if x.dtype.kind == "f":
            told += differences(x, x2, claim, confidence)
    found = max(audits, key=lambda one: (one["refuted"], one["epsilon"]))
    found |= made | {"differences": told}
    found["epsilon"] = min(found["epsilon"], 1e9)
    return found


def leaning(workload: workloads.Workload, pair: Any, *answers: Any) -> list[Any]:
    """Answers with one more number, by which all their numbers speak for one of the data."""
    if workload.lean is None:
        return list(answers)
    flat = [x.reshape(len(x), -1) for x in answers]
    return [np.column_stack([workload.lean(pair, x), x]) for x in flat]


def differences(x: Any, x2: Any, claim: dict[str, float], confidence: float) -> list[str]:
    """What only one of two neighbors has, of answers that are there."""
    rest, given = {0: iter(x), 1: iter(x2)}, {"samples": 2 * len(x), "confidence": confidence}
    support = dp.audit.support(lambda i: next(rest[i]), 0, 1, **claim, **given)
    return list(support.differences)


def errors(each: list[float]) -> dict[str, float | None]:
    x = np.array(each)
    spread = float(x.std(ddof=1) / np.sqrt(len(x))) if len(x) > 1 else None
    at = {f"q{q}": float(np.quantile(x, q / 100)) for q in (50, 90, 99)}
    return {"mean": float(x.mean()), "se": spread, "runs": len(x), **at}


def limit(seconds: float) -> float:
    """The most seconds of a process whose share is so many: a start may take a minute."""
    return max(120.0, 2 * seconds)


def text(result: dict[str, Any]) -> str:
    """Results as JSON that any reader takes."""
    return json.dumps(result, indent=1, allow_nan=False) + "\n"


def ask(
    python: Path, system: str, workload: str, relation: str, rows: float, seconds: float
) -> dict[str, Any]:
    """One row of the results, without its audit."""
    row: dict[str, Any] = {"system": system, "workload": workload, "relation": relation}
    arguments = (system, workload, relation, "--rows", rows)
    whole = watch(command(python, *arguments), limit(seconds))
    if "failure" in whole:
        return row | {"failure": whole["failure"]}
    row |= {"whole": whole["seconds"], "memory": whole["memory"]}
    more = ("--seconds", seconds / 3, "--runs", RUNS)
    made = watch(command(python, *arguments, *more), limit(2 * seconds))
    lines = [line for line in made.get("out", "").splitlines() if line.startswith("{")]
    if lines:
        found = json.loads(lines[-1])
        row |= {"warm": found["warm"], "lines": found["lines"]}
        if "errors" in found:
            row["error"] = errors(found["errors"])
    if "failure" in made:
        row["failure"] = made["failure"]
    return row


def audited(
    python: Path, row: dict[str, Any], parts: int, seconds: float, longest: float, delta: float
) -> dict[str, Any]:
    """The audit of a row of the results."""
    workload = workloads.WORKLOADS[row["workload"]]
    answers = BUILD / "answers.npz"
    answers.unlink(missing_ok=True)
    given = row["system"], row["workload"], row["relation"], "--answers", answers
    needed = power.needed(parts, len(workload.pairs[row["relation"]])) or power.MOST
    more = ("--seconds", seconds, "--needed", power.MARGIN * needed, "--longest", longest)
    made = watch(command(python, *given, *more), limit(2 * max(seconds, longest)))
    if "failure" in made or not answers.exists():
        return {"samples": 0, "failure": made.get("failure", "no answers")}
    each = json.loads(made["out"].splitlines()[-1])["each"]
    return audit(answers, workload, row["relation"], delta) | {"each": each}


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


def fresh(given: argparse.Namespace, about: dict[str, Any]) -> dict[str, Any]:
    """Results without any rows."""
    return {
        "command": f"python -m benchmarks.compare --scale {given.scale:g} "
        f"--minutes {given.minutes:g}",
        "date": now(),
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


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


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
    parser.add_argument(
        "--audits", action="store_true", help="only these, of results that are there"
    )
    given = parser.parse_args()
    result = json.loads(given.results.read_text(encoding="utf-8")) if given.audits else {}
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
    result, date = result or fresh(given, about), {}
    if given.keep and not given.audits:
        asked = " ".join(f"'{pattern}'" for pattern in given.only)
        result["command"] += f" --only {asked} --keep"
        date = {"date": result["date"]}
        result = kept(json.loads(given.results.read_text(encoding="utf-8")), result, given.only)
    sizes = [10.0**k for k in range(3, 10) if 10**k <= given.growth]
    growth = [
        (system, relation, rows)
        for rows in sizes
        for system, workload, relation in pairs
        if workload == "histogram" and relation == workloads.ADD
    ]
    start = time.monotonic()
    end, left = start + 60 * given.minutes, 2 * len(pairs) + len(growth)
    if given.audits:
        left = len(pairs)

    def share() -> float:
        return max(1.0, (end - time.monotonic()) / left)

    def keep(row: dict[str, Any], told: str) -> None:
        nonlocal left
        left -= 1
        given.results.write_text(text(result), encoding="utf-8")
        what = row.get("workload") or f"histogram of {row['rows']:g} rows"
        print(f"{left} left: {what}, {row['relation']}, {row['system']}: {told}", flush=True)

    def add(part: str, row: dict[str, Any]) -> None:
        result[part].append(row | date)
        keep(row, row.get("failure") or f"{row['warm']['seconds']:.3g} s")

    if not given.audits:
        for system, *asked in pairs:
            add("rows", ask(pythons[system], system, *asked, given.scale, share()))
    for row in result["rows"]:
        system, workload = row["system"], row["workload"]
        if (system, workload, row["relation"]) not in pairs:
            continue
        if "failure" in row:
            left -= 1
            continue
        parts = page.hidden(about[system], row)[0]
        longest = LONGEST * 60 * given.minutes
        delta = about[system]["delta"]
        row["audit"] = audited(pythons[system], row, parts, share(), longest, delta)
        keep(row, f"audited {row['audit'].get('epsilon', 0):.2f} of {row['audit']['samples']:,}")
    if given.audits:
        for system, own in about.items():
            result["systems"][system]["hides"] = own["hides"]
        result["audits"] = {"date": now(), "commit": commit(), "minutes": given.minutes}
        growth = []
    ended: set[str] = set()
    for system, relation, rows in growth:
        if system in ended:
            left -= 1
            continue
        row = grown(pythons[system], system, relation, rows, share())
        if "failure" in row:
            ended.add(system)
        add("growth", row)
    given.results.write_text(text(result), encoding="utf-8")
    page.write(given.results)


if __name__ == "__main__":
    main()
