"""Processes ask one stream that is kept in a ledger and are killed; for systems that can fork.

    python -m tests.support.stream_crash random FOLDER FAULT KILLS SEED
    python -m tests.support.stream_crash steps FOLDER FAULT FIRST STRIDE

Each process opens three streams by name and puts the same questions by their numbers, and appends
every answer to a file of its own the moment it has it: that cannot be taken back. So for each
question all answers that were told have to be one, that of the record, whichever processes got them
and however many were killed on the way; each stream is paid once; and the noise of a threshold is
the same in all processes. With `random` two processes at a time are killed at random moments. With
`steps` one is killed before each of its statements to SQLite, or each so many, and another one
comes to the end. Prints one JSON object whose `violations` are to be empty, unless a fault was
planted:

    told   answers are told before their turn is written
    fresh  turns are neither read nor written
    rho    each process goes on with a threshold noise of its own
"""

import json
import os
import random
import signal
import time

import dpfast as dp
from dpfast.budget.ledger.streams import Record

from .crashes import appended, ended, light, main, start

HISTOGRAM = [13_000, 4_000, 2_000, 1_000]
QUERIES = [[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1]]
VALUES = [3, 900, 4, 1000]
COUNTS = [5, 7, 0, 11, 2]
TURNS = len(QUERIES) + len(VALUES) + len(COUNTS)


def tell(out, *what):
    os.write(out, (json.dumps(what) + "\n").encode())


def plant(fault, out):
    """Put the fault into this process."""
    begin, later, add = Record.begin, Record.later, Record.add
    if fault == "told":

        def early(self, turn, secret):
            answer = turn.answer
            shown = answer["told"] / 20_000 / 2**24 if "told" in answer else None
            shown = answer.get("total", answer.get("values")) if shown is None else shown
            tell(out, "early", self.name, self._seen, shown)
            time.sleep(0.01)
            return add(self, turn, secret)

        Record.add = early
    if fault == "fresh":
        Record.later = lambda self: ([], later(self)[1])
        Record.add = lambda self, turn, secret: True
    if fault == "rho":
        own = {}

        def mine(self, start, secret):
            own[self.name] = secret
            return begin(self, start, secret)

        Record.begin = mine
        Record.later = lambda self: (later(self)[0], own[self.name])


def life(folder, told, fault, fuse):
    out = appended(told)
    plant(fault, out)
    light(fuse)
    budget = dp.Budget(epsilon=3, path=folder / "study.db")
    shares = dp.online.MedianMechanism(
        HISTOGRAM, epsilon=1, queries=30, accuracy=0.1, size=10, budget=budget, name="shares"
    )
    alarms = dp.online.SparseVector(
        positives=3, threshold=500, epsilon=1, answers=True, budget=budget, name="alarms"
    )
    totals = dp.online.RunningCount(9, epsilon=1, budget=budget, name="totals")
    tell(out, "rho", shares._comparison.rho, alarms._comparison.rho)
    for number, query in enumerate(QUERIES):
        answer = shares.answer(query, number=number)
        tell(out, "answer", "shares", number, float(answer))
    for number, value in enumerate(VALUES):
        answer = alarms.answer(value, number=number)
        tell(out, "answer", "alarms", number, [] if answer.value is None else [answer.value])
    for number, count in enumerate(COUNTS):
        tell(out, "answer", "totals", number, totals.add(count, number=number).total)


def looked_at(folder):
    """What is wrong with what was told."""
    answers = {}
    noise = set()
    wrong = []
    for file in folder.glob("*.told"):
        for kind, *told in map(json.loads, file.open()):
            if kind == "rho":
                noise.add(tuple(told))
            else:
                answers.setdefault(tuple(told[:2]), set()).add(json.dumps(told[2]))
    if any(len(found) > 1 for found in answers.values()):
        wrong.append("two answers to one question")
    if len(noise) > 1:
        wrong.append("two noises of one threshold")
    if (folder / "study.db").exists() and len(
        dp.Budget(epsilon=3, path=folder / "study.db").history
    ) > 3:
        wrong.append("paid twice")
    return wrong


def to_the_end(folder, fault):
    """What is wrong when one more process has come to its end."""
    violations = []
    ended(start(life, folder, folder / "last.told", fault, -1), violations)
    last = (folder / "last.told").read_text().splitlines()
    if sum('"answer"' in line for line in last) != TURNS:
        violations.append("an answer is missing")
    return violations + looked_at(folder)


def at_random(folder, fault, kills, seed):
    chance, violations, killed, streams = random.Random(seed), [], 0, 0
    while killed < kills and not violations:
        streams += 1
        place = folder / str(streams)
        place.mkdir()
        for number in range(chance.randrange(1, 5)):
            pair = [start(life, place, place / f"{number}{x}.told", fault, -1) for x in "ab"]
            time.sleep(chance.random() * 0.6)
            for child in pair:
                os.kill(child, signal.SIGKILL)
                ended(child, violations)
                killed += 1
        violations += to_the_end(place, fault)
    return {"kills": killed, "streams": streams, "violations": violations}


def step_by_step(folder, fault, first, stride):
    violations = []
    fuse = first
    while not violations:
        place = folder / str(fuse)
        place.mkdir()
        lived = ended(start(life, place, place / "first.told", fault, fuse), [])
        violations += to_the_end(place, fault)
        if lived:
            break
        fuse += stride
    return {"steps": fuse, "violations": violations}


if __name__ == "__main__":
    main(random=at_random, steps=step_by_step)
