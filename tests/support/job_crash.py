"""Processes run one job and are killed; a program, for systems that can fork.

    python -m tests.support.job_crash random FOLDER FAULT KILLS SEED
    python -m tests.support.job_crash steps FOLDER FAULT FIRST STEP
    python -m tests.support.job_crash making FOLDER FAULT FIRST STEP

A process runs the job of a folder, and then tells its answers to a file. With `random` two at a
time do, and are killed at random moments, until one comes to its end; then the next job begins,
until so many have been killed. With `steps` one is killed before its n-th statement to SQLite (or
after a commit), for n = FIRST, FIRST + STEP, ...; then another one runs the job to its end. With
`making` the ledger is not there before, and n goes on until it has been made. Prints one JSON
object whose `violations` are to be empty, unless a fault was planted:

    told    an answer is told the moment it is there, before the ledger has it
    paid    every attempt pays
    blank   a file without a ledger in it counts as one
"""

import json
import os
import random
import signal
import time

import numpy as np
import pandas  # noqa: F401 (once, and not in every child, for pyarrow imports it)
import pyarrow.parquet  # noqa: F401

from dpfast import job
from dpfast.app.files import existing
from dpfast.app.job import job_file, plan
from dpfast.budget.budget import Budget
from dpfast.budget.ledger.file import File

from .crashes import appended, ended, light, main, start

STATISTICS = {
    "mean": "",
    "sum": "",
    "variance": "",
    "median": "",
    "quantiles": "qs = [0.25, 0.75]\n",
    "histogram": "bins = 4\n",
    "agg": 'by = "1"\nkeys = [0, 1, 2]\n[release.agg.n]\nstatistic = "count"\n'
    '[release.agg.mean]\nstatistic = "mean"\ncolumn = "0"\n',
}
AMPLE = 1000


def prepare(folder, is_made=True):
    """Data, and a job whose ledger could pay for many, or is not there."""
    folder.mkdir()
    rows = np.zeros(20_000, [("0", float), ("1", np.int8)])
    rows["0"], rows["1"] = np.random.default_rng(0).normal(50, 20, 20_000), np.arange(20_000) % 3
    np.save(folder / "data.npy", rows)
    lines = ['[data]\npath = "data.npy"\n[budget]\nepsilon = 3\npath = "study.db"\n']
    lines += ['[output]\npath = "out.json"\n[defaults]\nbounds = [0, 100]\n']
    for statistic, more in STATISTICS.items():
        column = "" if "by" in more else 'column = "0"\n'
        lines.append(f'[[release]]\nstatistic = "{statistic}"\n{column}{more}')
    (folder / "job.toml").write_text("".join(lines))
    if is_made:
        Budget(epsilon=AMPLE, path=folder / "study.db")
    return folder / "job.toml"


def plant(fault, out):
    """Put the fault into this process."""
    if fault == "told":
        settle = Budget.settle

        def early(self, answer):
            line = self.history[self._here.entry - 1]
            name = line.note.split(": ")[1]
            tell(out, {name: json.loads(json.dumps(answer, default=np.ndarray.tolist))["value"]})
            return settle(self, answer)

        Budget.settle = early
    if fault == "blank":
        plan.existing = job_file.existing = lambda path, ids=None: (
            Budget(path=path, ids=ids) if path.exists() else None
        )
    if fault == "paid":
        append = File.append
        File.append = lambda self, decide, key=None: append(self, decide)


def tell(out, answers):
    os.write(out, (json.dumps(answers) + "\n").encode())


def life(path, told, fault, fuse):
    light(fuse)
    out = appended(told)
    plant(fault, out)
    results = job.run(path)
    results.check()
    tell(out, {o.release.entry.name: results[o.release.entry.name] for o in results.outcomes})


def looked_at(folder):
    """What is wrong at this moment. What was told is read first, and the ledger after."""
    told = [json.loads(line) for file in folder.glob("*.told") for line in file.open()]
    written = folder / "out.json"
    if written.exists():  # whole, or not there
        shown = json.loads(written.read_text())
        told.append({release["name"]: release["value"] for release in shown["releases"]})
    budget = existing(folder / "study.db")
    history = () if budget is None else budget.history
    names = [line.note.split(": ")[1] for line in history]
    kept = {n: line.answer["value"] for n, line in zip(names, history, strict=True) if line.answer}
    wrong = []
    if len(set(names)) < len(names):
        wrong.append("paid twice")
    if any(answers[name] != kept.get(name) for answers in told for name in answers):
        wrong.append("told what is not recorded")
    return wrong


def to_the_end(folder, fault):
    """What is wrong when one more process has come to its end."""
    violations = []
    ended(start(life, folder / "job.toml", folder / "last.told", fault, -1), violations)
    violations += looked_at(folder)
    budget = existing(folder / "study.db")
    if budget is None or budget.spent["epsilon"] != 3:
        violations.append("spent another amount than that of the job")
    return violations


def one_job(folder, fault, chance, long):
    path = prepare(folder)
    killed = number = 0
    violations = []
    lived = False
    while not lived and not violations:
        pair = []
        for _ in range(2):
            number += 1
            pair.append(start(life, path, folder / f"{number}.told", fault, -1))
        for child in pair:
            time.sleep(chance.random() * long)
            os.kill(child, signal.SIGKILL)
            own = ended(child, violations)
            lived, killed = lived or own, killed + (not own)
            violations += looked_at(folder)
    return killed, violations or to_the_end(folder, fault)


def at_random(folder, fault, kills, seed):
    chance = random.Random(seed)
    prepare(folder / "0")
    began = time.monotonic()
    violations = to_the_end(folder / "0", "none")
    long = time.monotonic() - began
    killed = jobs = 0
    while killed < kills and not violations:
        jobs += 1
        more, violations = one_job(folder / str(jobs), fault, chance, long)
        killed += more
    return {"kills": killed, "jobs": jobs, "violations": violations}


def by_steps(folder, fault, first, step, is_made=True):
    kills, violations = 0, []
    for fuse in range(first, 100_000, step):
        place = folder / str(fuse)
        child = start(life, prepare(place, is_made), place / "0.told", fault, fuse)
        lived = ended(child, violations)
        was_made = existing(place / "study.db") is not None
        violations += looked_at(place)
        violations = violations or to_the_end(place, fault)
        kills += not lived
        if lived or violations or (was_made and not is_made):
            break
    return {"kills": kills, "violations": violations}


def by_making(folder, fault, first, step):
    return by_steps(folder, fault, first, step, False)


if __name__ == "__main__":
    main(random=at_random, steps=by_steps, making=by_making)
