"""Processes spend from one ledger as parts of the rows and are killed; for systems that can fork.

    python -m tests.support.parts_crash random FOLDER FAULT KILLS SEED
    python -m tests.support.parts_crash steps FOLDER FAULT FIRST

As in `ledger_crash`, a release appends its cost to a file of its process the moment it is given the
data, and here its part, too. A process has a block. So at any moment the sum, over all processes,
of what each of them has released of two of its parts must not exceed what the ledger says, whose
relation is "replace". Prints one JSON object whose `violations` are to be empty, unless a fault was
planted:

    late     a line is committed after the release
    forked   two processes spend from copies of one block
"""

import os
import random
import signal
import time
from fractions import Fraction

import dpfast as dp
from dpfast.budget.parallel import Block
from dpfast.budget.release import release
from dpfast.errors import BudgetError
from dpfast.privacy import Pure

from .crashes import EXHAUSTED, Telling, appended, ended, figures_of, light, main, start, stepped

PROCESSES = 3
LIMIT = Fraction(40)
COSTS = [Fraction(1, 3), Fraction(1, 7), Fraction(1, 10)]
GROUPS = ["a", "b", "c"]


def opened(ledger, fault):
    budget = dp.Budget(epsilon=LIMIT, path=ledger)
    if fault == "late":
        file, waiting = budget._storage, []

        class Late:
            def append(self, decide, key=None):
                while waiting:
                    file.append(waiting.pop())
                decide(file.state())
                waiting.append(decide)
                return 0

            def __getattr__(self, name):
                return getattr(file, name)

        budget._storage = Late()
    return budget


def tell(budget, part, cost, out):
    """One release about a part."""
    words = f"{part.group} "
    release([0.0], Telling(Pure(cost), out, words), budget=budget._as(part), rng=None)


def spender(ledger, told, fault, seed):
    """Spend until nothing can be spent any more, or for a while."""
    budget = opened(ledger, fault)
    with budget.parallel(["a"], GROUPS) as parts:
        chance, out, groups = random.Random(seed), appended(told), GROUPS
        if fault == "forked":
            Block.pay, groups = blind, ["c"]
            for group in "ab" * 6:
                tell(budget, parts[group], COSTS[0], out)
            os.fork()  # both have as much in reserve for the third part
        try:
            for _ in range(60):
                tell(budget, parts[chance.choice(groups)], chance.choice(COSTS), out)
        except BudgetError:
            pass
    return EXHAUSTED


def blind(block, number, append):
    """Planted: pay without a look at which process it is."""
    from dpfast.budget.parallel import Share

    share = Share(block.sums, number)
    entry = append(share)
    block.sums = share.after
    return entry


def burnt(ledger, told, fault, fuse):
    """Four spends, of which the last two count little or nothing; fewer if the fuse is short."""
    out = appended(told)
    light(fuse)
    budget = opened(ledger, fault)
    with budget.parallel(["a"], GROUPS) as parts:
        for group, cost in zip("abca", (*COSTS, COSTS[1]), strict=True):
            tell(budget, parts[group], cost, out)
    return EXHAUSTED


def released(folder):
    """What neighbors have lost at most, and how many releases there were; a file is of a block."""
    lost, number = Fraction(0), 0
    for told in folder.glob("*.told"):
        sums = {}
        for line in told.read_text().splitlines():
            group, cost = line.split()
            sums[group] = sums.get(group, Fraction(0)) + Fraction(cost)
            number += 1
        lost += sum(sorted(sums.values())[-2:], Fraction(0))
    return lost, number


def looked_at(folder, ledger):
    """What is wrong at this moment, and the figures. The files are read before the ledger."""
    lost, number = released(folder)
    spent, lines, wrong = figures_of(ledger, number)
    if not wrong and lost > spent:
        wrong.append(f"more released than spent: {lost} of {spent}")
    if spent > LIMIT or (not wrong and lines < number):
        wrong.append("beyond the limit, or without a line")
    return wrong, {"lines": lines, "releases": number}


def at_random(folder, fault, kills, seed):
    chance = random.Random(seed)
    found = {"kills": 0, "releases": 0}
    violations = []
    ledgers = 0
    while found["kills"] < kills and not violations:
        ledgers += 1
        place = folder / str(ledgers)
        place.mkdir()
        ledger, number = place / "study.db", 0
        running = []
        figures = {}
        for _ in range(20):
            while len(running) < PROCESSES:
                number += 1
                told = place / f"{number}.told"
                running.append(start(spender, ledger, told, fault, chance.getrandbits(32)))
            time.sleep(chance.random() * 0.1)
            victim = running.pop(chance.randrange(len(running)))
            os.kill(victim, signal.SIGKILL)
            found["kills"] += not ended(victim, violations, EXHAUSTED)
            wrong, figures = looked_at(place, ledger)
            violations += wrong
            if violations or found["kills"] >= kills:
                break
        for child in running:
            os.kill(child, signal.SIGKILL)
            ended(child, violations, EXHAUSTED)
        found["releases"] += figures.get("releases", 0)
    return {**found, "violations": violations}


def by_steps(folder, fault, first):
    """Each statement in turn, of the making of a ledger, too."""
    return stepped(folder, fault, first, burnt, looked_at)


if __name__ == "__main__":
    main(random=at_random, steps=by_steps)
