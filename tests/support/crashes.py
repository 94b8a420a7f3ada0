"""Programs whose children are killed, apart from tests, which have threads; and the children."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import dpfast as dp
from dpfast.budget.ledger.file import File
from dpfast.errors import LedgerError
from dpfast.privacy import Pure

#: What a process ends with that has spent all.
EXHAUSTED = 7
#: What a kill leaves is what the kernel has, on a disk or not; without a disk it is sooner there.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@dataclass(frozen=True)
class Telling(dp.extend.Mechanism[None]):
    """A mechanism that releases its own cost, after some words, the moment it is given the data."""

    loss: Pure
    out: int
    words: str = ""
    neighbors: str = "replace"
    name: str = "telling"

    def reduce(self, source):
        os.write(self.out, f"{self.words}{self.loss.epsilon}\n".encode())

    def finish(self, summary, generator):
        return None


def crash(program, way, *arguments, folder=MEMORY, under=()):
    """What a program of this folder found, that was given a way, a place and the arguments."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        done = subprocess.run([*under, sys.executable, "-m", f"tests.support.{program}", way, place,
            *map(str, arguments)], capture_output=True, text=True, timeout=1200,
            cwd=Path(__file__).parents[2])  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {"said": done.stderr, **json.loads(done.stdout)}


def start(life, *arguments):
    """A child that leads this life, and ends with the code that it returns."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        code = life(*arguments) or 0
    except BaseException as error:
        print(repr(error), file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def ended(child, violations, code=0):
    """Whether a child came to its end by itself, and not killed."""
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return False
    if os.WEXITSTATUS(status) != code:
        violations.append("a process failed")
    return True


class Fuse:
    """A connection that kills its process before one of all statements, or after a commit."""

    left = -1

    def __init__(self, db):
        self.db = db

    def burn(self):
        if Fuse.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        Fuse.left -= 1

    def __getattr__(self, name):
        return getattr(self.db, name)

    def execute(self, *statement):
        self.burn()
        done = self.db.execute(*statement)
        if statement[0] == "COMMIT":
            self.burn()
        return done

    def close(self):
        self.db.close()


def light(fuse):
    """Let every connection of this process be one with a fuse, unless it is negative."""
    connect, Fuse.left = File._connect, fuse
    if fuse >= 0:
        File._connect = lambda self: Fuse(connect(self))


def appended(told):
    """A file to which each write is added at once."""
    return os.open(told, os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def stepped(folder, fault, first, life, look, data=b""):
    """What is wrong when a life with a ledger is killed before each statement, and led again; what
    `look` says is wrong with a ledger, and its figures. The ledger may be there before."""
    kills, lost, violations = 0, 0, []
    for fuse in range(first, 10_000):
        place = folder / str(fuse)
        place.mkdir()
        ledger = place / "study.db"
        if data:
            ledger.write_bytes(data)
        child = start(life, ledger, place / "0.told", fault, fuse)
        killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        violations += look(place, ledger)[0]
        ended(start(life, ledger, place / "1.told", "none", -1), violations, EXHAUSTED)
        wrong, figures = look(place, ledger)
        violations += wrong
        kills += killed
        if not killed or violations:
            break
        lost += figures["lines"] - figures["releases"]
    return {"kills": kills, "lost": lost, "violations": violations}


def figures_of(ledger, told):
    """What is spent and how many lines there are; or what is wrong, if anything was told."""
    try:
        budget = dp.Budget(path=ledger)
        return budget.spent["epsilon"], len(budget.history), []
    except LedgerError as error:
        if told or not ("is not there" in str(error) or "is empty" in str(error)):
            return Fraction(0), 0, [f"unreadable: {error}"]
        return Fraction(0), 0, []


def main(**ways):
    """Go the way that is named on the command line; print what was found."""
    way, folder, fault, *numbers = sys.argv[1:]
    print(json.dumps(ways[way](Path(folder), fault, *map(int, numbers))))
