"""Processes spend from one ledger under three names and are killed; a program, for Linux.

    unshare -m python -m tests.support.mount_crash random FOLDER FAULT KILLS SEED

The names are that of the ledger, that in a bind mount of its directory, and a bind mount of the
file. Processes of the first two share it; one of the third has to be refused. As in `ledger_crash`
each release appends its cost to a file of its process, and the sum of those files must exceed
neither the limit nor what the ledger says. Prints one JSON object whose `violations` are to be
empty, unless a fault was planted:

    named   a ledger is whatever has its name
"""

import os
import random
import signal
import subprocess
import time
from fractions import Fraction

import dpfast as dp
from dpfast.budget.ledger import chain
from dpfast.budget.ledger.file import File
from dpfast.budget.release import release
from dpfast.errors import BudgetError, LedgerError
from dpfast.privacy import Pure

from .crashes import EXHAUSTED, Telling, appended, ended, main, start
from .ledger_crash import released

PROCESSES, COST, LIMIT = 4, Fraction(1, 400), Fraction(1)
REFUSED = 8


def named(folder):
    """Three names of one ledger, which is made under the first."""
    names = [folder / place / "study.db" for place in ("study", "directory", "file")]
    for name in names:
        name.parent.mkdir(parents=True)
    dp.Budget(epsilon=LIMIT, path=names[0])
    names[2].touch()
    for name, other in ((names[0].parent, names[1].parent), (names[0], names[2])):
        subprocess.run(["mount", "--bind", name, other], check=True)
    return names


def spender(name, told, fault):
    """Spend until nothing can be spent any more."""
    if fault == "named":
        chain.places, File._is_mounted = lambda db, first: [], lambda self: False
    out = appended(told)
    try:
        budget = dp.Budget(path=name)
        while True:
            release([0.0], Telling(Pure(COST), out), budget=budget, rng=None)
    except BudgetError:
        return EXHAUSTED
    except LedgerError as error:
        return REFUSED if "is a mount point" in str(error) else 1


def one_ledger(folder, fault, kills, chance):
    """Until the ledger is empty, or enough were killed: kills, refusals, and what is wrong."""
    names, violations = named(folder), []
    killed = refused = number = 0
    running = {}
    is_empty = False
    while not violations and (running or not is_empty):
        while len(running) < PROCESSES and not is_empty and killed < kills:
            number += 1
            name = chance.choice(names)
            running[start(spender, name, folder / f"{number}.told", fault)] = name
        is_empty = is_empty or killed >= kills
        victim = chance.choice(list(running))
        if not is_empty:
            time.sleep(chance.random() * 0.03)
            os.kill(victim, signal.SIGKILL)
        is_refused = running.pop(victim) == names[2] and fault == "none"
        if not ended(victim, violations, REFUSED if is_refused else EXHAUSTED):
            killed += 1
        else:
            refused, is_empty = refused + is_refused, is_empty or not is_refused
        told = sum(released(folder), Fraction(0))
        try:
            spent = dp.Budget(path=names[0]).spent["epsilon"]
            violations += ["beyond the limit"] * (max(told, spent) > LIMIT)
            violations += ["more released than spent"] * (told > spent)
        except LedgerError as error:
            violations.append(f"unreadable: {error}")
    for child in running:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if is_empty and killed < kills and not violations and spent < LIMIT:
        violations.append("refused what was left")
    for name in (names[1].parent, names[2]):
        subprocess.run(["umount", name], check=True)
    return killed, refused, violations


def at_random(folder, fault, kills, seed):
    chance = random.Random(seed)
    found = {"kills": 0, "refused": 0, "ledgers": 0, "violations": []}
    while found["kills"] < kills and not found["violations"]:
        place = folder / str(found["ledgers"])
        killed, refused, found["violations"] = one_ledger(
            place, fault, kills - found["kills"], chance
        )
        found["kills"] += killed
        found["refused"] += refused
        found["ledgers"] += 1
    return found


if __name__ == "__main__":
    main(random=at_random)
