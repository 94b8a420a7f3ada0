"""Programs whose children are killed, apart from tests, which have threads; and the children."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import dpfast as dp
from dpfast.budget.ledger.file import File
from dpfast.privacy import Pure

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
        done = subprocess.run(
            [
                *under,
                sys.executable,
                "-m",
                f"tests.support.{program}",
                way,
                place,
                *map(str, arguments),
            ],
            capture_output=True,
            text=True,
            timeout=1200,
            cwd=Path(__file__).parents[2],
        )
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


def main(**ways):
    """Go the way that is named on the command line; print what was found."""
    way, folder, fault, *numbers = sys.argv[1:]
    print(json.dumps(ways[way](Path(folder), fault, *map(int, numbers))))
