"""Processes spend from one ledger and are killed; a program, for systems that can fork.

    python -m tests.support.ledger_crash random FOLDER FAULT KILLS SEED
    python -m tests.support.ledger_crash steps FOLDER FAULT FIRST
    python -m tests.support.ledger_crash renew FOLDER FAULT FIRST

A release is modelled by what cannot be taken back: the mechanism, when the door hands it the data,
appends its cost to a file of its process. So at any moment the sum of those files must not exceed
what the ledger says; they are read first and the ledger after. With `random` four processes are
killed at random moments, and replaced, while that is looked at. With `steps` one is killed before
each of its statements to SQLite, from the first that is meant, and after those that commit. With
`renew` that is one which spends from a ledger of before, and has to seal it. Prints one JSON object
whose `violations` are to be empty, unless a fault was planted:

    late   the limit is checked before the release, and the line committed after it
    early  a thread whose write another one is to make goes on before the commit
    torn   the statements of a spend are each a transaction of their own
"""

import base64
import json
import lzma
import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from pathlib import Path

import dpfast as dp
from dpfast.budget.ledger import file as ledger_file
from dpfast.budget.ledger.file import File
from dpfast.budget.release import release
from dpfast.errors import BudgetError, LedgerError
from dpfast.privacy import Pure

from .crashes import EXHAUSTED, Telling, appended, ended, figures_of, light, main, start, stepped

PROCESSES = 4
#: Of a process: their writes share transactions. Faults of one write are looked for in one.
THREADS = 3
LIMIT = Fraction(6)
COSTS = [Fraction(1), Fraction(1, 3), Fraction(1, 7), Fraction(1, 10), Fraction(1, 50)]


class Late:
    """Planted: asks whether there is enough, and adds the line when all is over."""

    def __init__(self, file):
        self.file = file
        self.decide = None

    def append(self, decide, key=None):
        decide(self.file.state())
        self.decide = decide
        return 0

    def settle(self):
        self.file.append(self.decide)


class Torn:
    """Planted: a connection that knows no transactions."""

    def __init__(self, db):
        self.db = db

    def __getattr__(self, name):
        return getattr(self.db, name)

    def execute(self, statement, *values):
        begins = statement.startswith(("BEGIN", "COMMIT"))
        return None if begins else self.db.execute(statement, *values)

    def close(self):
        self.db.close()


def early(written):
    """Planted: who finds somebody at work leaves the write to the next one, and goes on."""

    def unwaited(self, job):
        if not ledger_file._ALONE.acquire(blocking=False):
            self._waiting.append(ledger_file._Write(job, self._witnesses()))
            return 0
        try:
            return written(self, job)
        finally:
            ledger_file._ALONE.release()

    return unwaited


def opened(ledger, fault):
    """The ledger with its fault."""
    budget = dp.Budget(epsilon=LIMIT, path=ledger)
    if fault == "torn":
        connect = File._connect
        File._connect = lambda self: Torn(connect(self))
    if fault == "late":
        budget._storage = Late(budget._storage)
    if fault == "early":
        File._written = early(File._written)
    return budget


def tell(budget, cost, out):
    """One release."""
    release([0.0], Telling(Pure(cost), out), budget=budget, rng=None)
    if isinstance(budget._storage, Late):
        budget._storage.settle()


def spender(ledger, told, fault, seed):
    """Spend in some threads until nothing can be spent any more."""
    out, budget = appended(told), opened(ledger, fault)

    def spend(number):
        chance, costs = random.Random(f"{seed} {number}"), list(COSTS)
        while costs:
            cost = chance.choice(costs)
            try:
                tell(budget, cost, out)
            except BudgetError:
                costs.remove(cost)

    many = THREADS if fault in ("none", "early") else 1
    with ThreadPoolExecutor(many) as threads:
        list(threads.map(spend, range(many)))  # raises what a thread raised
    return EXHAUSTED


def burnt(ledger, told, fault, fuse):
    """Two spends, or fewer if the fuse is short."""
    out = appended(told)
    light(fuse)
    budget = opened(ledger, fault)
    for _ in range(2):
        tell(budget, COSTS[0], out)
    return EXHAUSTED


def released(folder):
    return [Fraction(x) for told in folder.glob("*.told") for x in told.read_text().split()]


def looked_at(folder, ledger):
    """What is wrong at this moment, and the figures."""
    told = released(folder)
    spent, lines, wrong = figures_of(ledger, told)
    if not wrong and sum(told) > spent:
        wrong.append("more released than spent")
    if spent > LIMIT or sum(told) > LIMIT:
        wrong.append("beyond the limit")
    return wrong, {"spent": spent, "lines": lines, "releases": len(told)}


def one_ledger(folder, kills, fault, chance):
    """Until the ledger is empty, or so many have been killed."""
    folder.mkdir()
    ledger, number, killed = folder / "study.db", 0, 0
    running = []
    violations = []

    def more():
        nonlocal number
        number += 1
        told = folder / f"{number}.told"
        running.append(start(spender, ledger, told, fault, chance.getrandbits(32)))

    for _ in range(PROCESSES):
        more()
    while running and killed < kills and not violations:
        time.sleep(chance.random() * 0.03)
        victim = running.pop(chance.randrange(len(running)))
        os.kill(victim, signal.SIGKILL)
        if not ended(victim, violations, EXHAUSTED):
            killed += 1
            more()
        violations += looked_at(folder, ledger)[0]
    for child in running:  # these come to their end
        if violations:
            os.kill(child, signal.SIGKILL)
        ended(child, violations, EXHAUSTED)
    wrong, figures = looked_at(folder, ledger)
    violations += wrong
    if not violations:
        # Not too careful either: all but the smallest change can be spent, and a kill loses a line.
        if LIMIT - figures["spent"] >= min(COSTS):
            violations.append("refused what was left")
        if figures["lines"] - figures["releases"] > THREADS * killed:
            violations.append("spent without a release")
    return {"kills": killed, **figures}, violations


def at_random(folder, fault, kills, seed):
    chance, found = random.Random(seed), {"kills": 0, "lines": 0, "releases": 0, "ledgers": 0}
    violations = []
    while found["kills"] < kills and not violations:
        found["ledgers"] += 1
        place = folder / str(found["ledgers"])
        figures, violations = one_ledger(place, kills - found["kills"], fault, chance)
        for name in ("kills", "lines", "releases"):
            found[name] += figures.get(name, 0)
    return {**found, "violations": violations}


def renewer(ledger, told, fault, fuse):
    """One spend from a ledger that is there."""
    out = appended(told)
    connect = File._connect
    if fault == "torn":
        File._connect = lambda self: Torn(connect(self))
    light(fuse)
    tell(dp.Budget(path=ledger), COSTS[3], out)
    return EXHAUSTED


def by_steps(folder, fault, first):
    """Each statement in turn, of the making of a ledger, too."""
    return stepped(folder, fault, first, burnt, looked_at)


def by_renewing(folder, fault, first):
    """Each statement of the spend that seals a ledger of before; then another spend."""
    vectors = Path(__file__).parents[1] / "reference" / "vectors"
    old = json.loads((vectors / "ledgers_form_1.json").read_text("utf-8"))["keyed"]
    data = lzma.decompress(base64.b64decode(old["file"]))
    return stepped(folder, fault, first, renewer, partial(kept_all, old), data)


def kept_all(old, folder, ledger):
    """What is wrong with a ledger of before and what was spent since."""
    none = {"lines": 0, "releases": 0}
    try:
        budget = dp.Budget(path=ledger)
        lines = json.loads(budget.export())["lines"]
        found = {key: list(budget.entry(key)) for key in old["found"]}
    except LedgerError as error:
        return [f"unreadable: {error}"], none
    before = old["export"]["lines"]
    wrong = [] if (lines[: len(before)], found) == (before, old["found"]) else ["lines were lost"]
    if len(released(folder)) > len(lines) - len(before):
        wrong.append("more released than spent")
    return wrong, none


if __name__ == "__main__":
    main(random=at_random, steps=by_steps, renew=by_renewing)
