"""One spend, one release: a fork in a function of the user's comes back twice; late errors."""

import itertools
import json
import os
import sys

import pytest

import dpfast as dp
from dpfast.budget import release as door
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError

from ..support.paths import program

can_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

#: Each way calls a function with the data, through the door; `forks` is what it calls there.
PROGRAM = """
import ctypes, json, os, sys, threading, warnings
import numpy as np
import dpfast as dp
from dpfast.budget import release as door

way, fault, path = sys.argv[1:]
warnings.simplefilter("ignore")  # of threads that fork
budget = dp.Budget(epsilon=1, delta=1e-5, path=path or None)
if fault == "old":  # planted: the door as it was
    door._refuse_copy = lambda mechanism: None
rows, child = np.arange(60.0), None
reader, writer = os.pipe()
fork = ctypes.PyDLL(None).fork if way == "past-python" else os.fork

def forks(answer):
    global child
    if child is None:
        child = fork()
    return answer

def blocks():
    return dp.sample_and_aggregate(
        rows, lambda block: forks(block.mean()), blocks=6, bounds=(0, 60), epsilon=1,
        executor="threads", workers=1, budget=budget,
    )

def propose():
    return float(dp.ptr.release(
        rows, lambda given: 60.0, lambda given, wanted: forks(1000), bounds=(0, 100), proposed=1,
        epsilon=0.5, delta=1e-6, budget=budget,
    ))

def reduce():
    class Own(dp.extend.Mechanism):
        loss, neighbors, name = dp.privacy.Pure(1), "replace", "own"
        def reduce(self, source):
            return forks(7.0)
        def finish(self, summary, generator):
            if os.getpid() == home or fault == "old":
                return summary + generator.stream().word() / 2**64
            os._exit(9)  # no noise is drawn where the release does not belong
    return door.release(rows, Own(), budget=budget, rng=None)

def stream():
    stream = dp.online.MedianMechanism(
        [900, 50, 40, 10], epsilon=1, queries=3, accuracy=0.9, budget=budget
    )
    return float(stream.answer(lambda element: forks(1.0) if element == 0 else 0.0))

home = os.getpid()
def told():
    call = globals()[{"past-python": "blocks", "thread": "blocks"}.get(way, way)]
    try:
        said = ["released", call()]
    except dp.errors.DpfastError as error:
        said = [type(error).__name__, str(error)]
    os.write(writer, (json.dumps([os.getpid() == home, *said]) + "\\n").encode())
    if os.getpid() != home:
        os._exit(0)

if way == "thread":
    worker = threading.Thread(target=told)
    worker.start()
    worker.join()
else:
    told()
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
os.close(writer)
found = [json.loads(line) for line in os.fdopen(reader)]
print(json.dumps({"code": code, "told": found, "lines": len(budget.history)}))
"""


def run(way, fault="none", path=""):
    done = program(PROGRAM, way, fault, path)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["code"] == 0 and found["lines"] == 1
    parent = [rest for home, *rest in found["told"] if home]
    child = [rest for home, *rest in found["told"] if not home]
    assert len(parent) == len(child) == 1 and parent[0][0] == "released"
    return parent[0], child[0]


WAYS = ["blocks", "thread", "propose", "reduce", "stream", "ledger"]
WAYS += ["past-python"] if sys.platform == "linux" else []


@pytest.mark.full
@can_fork
@pytest.mark.parametrize("way", WAYS)
def test_the_forked_copy_of_a_release_is_refused(way, tmp_path):
    """Also where both may spend from the ledger."""
    of_file = ("blocks", "none", tmp_path / "study.db")
    _, (kind, said) = run(*of_file) if way == "ledger" else run(way)
    assert kind == ("StreamError" if way == "stream" else "BudgetError")
    assert ("the parent of this fork" if way == "stream" else "this process is a fork") in said


@pytest.mark.full
@can_fork
@pytest.mark.parametrize("way", ["blocks", "thread", "propose", "reduce"])
def test_a_planted_door_releases_twice(way):
    (_, one), (kind, other) = run(way, "old")
    assert kind == "released" and one != other


class Late(dp.extend.Mechanism):
    """A mechanism whose pass, or what follows it, refuses an argument."""

    loss, neighbors, name = dp.privacy.Pure(1), "add-remove", "late"

    def __init__(self, error, in_finish):
        self.refused, self.in_finish = error, in_finish

    def reduce(self, source):
        if not self.in_finish:
            raise self.refused("rows must be others, got a secret")

    def finish(self, summary, generator):
        raise self.refused("rows must be others, got a secret")


def is_hidden(error, in_finish):
    budget = dp.Budget(epsilon=1)
    with pytest.raises(DataError, match="is not refunded") as caught:
        door.release([], Late(error, in_finish), budget=budget, rng=None)
    assert caught.value.__context__ is None and "secret" not in str(caught.value)
    assert budget.spent["epsilon"] == 1


def test_an_argument_that_is_refused_after_the_spend_is_an_error_about_the_data(monkeypatch):
    """Planted: a door that lets these errors through."""
    for error, in_finish in itertools.product((ArgumentError, ArgumentTypeError), (False, True)):
        is_hidden(error, in_finish)
    monkeypatch.setattr(door, "ArgumentError", KeyError)
    with pytest.raises(ArgumentError):
        is_hidden(ArgumentError, False)
