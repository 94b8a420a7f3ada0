"""One worker process: a fresh interpreter that runs `worker_main.py`, and the socket to it.

Not `multiprocessing`: that runs the caller's main module again in each process, and hands blocks
over by message. On Windows the socket goes through standard input and files have names; that part
is written after the manual and has not been run.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import WorkerError
from .worker_main import HEAD

PROGRAM = str(Path(__file__).with_name("worker_main.py"))
#: Libraries that start a thread for each core, unless they are told not to.
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
#: Seconds that a worker has to end by itself.
GRACE = 2.0


class Worker:
    """A process, which leads a group of its own.

    So Ctrl-C at the terminal goes to the parent alone, which ends its workers itself, and with a
    worker that is killed go the processes that the function has started.

    Attributes
    ----------
    ready : bool
        It has loaded the function.
    slot : int
        Its place on a board.
    busy : bool
        It has a range of blocks to work on.
    useful : bool
        It has come as far as to call the function.
    board : object
        The board that it has been shown last.
    trouble : str
        Why it cannot go on, if it has said so.
    """

    def __init__(self, slot: int) -> None:
        self.slot = slot
        self.ready = False
        self.busy = False
        self.useful = False
        self.trouble = ""
        self.board: Any = None
        self.control, theirs = socket.socketpair()
        try:
            self.process = _started(theirs)
        except OSError as error:
            self.control.close()
            raise WorkerError(f"no worker process can be started: {error}") from error
        finally:
            theirs.close()

    def send(self, order: Any, fds: Sequence[int] = ()) -> None:
        """Send an order; a worker that is dead will be missed elsewhere."""
        body = pickle.dumps(order)
        head = len(body).to_bytes(HEAD, "little")
        with contextlib.suppress(OSError):
            if fds and sys.platform != "win32":
                socket.send_fds(self.control, [head], fds)
            else:
                self.control.sendall(head)
            self.control.sendall(body)

    def hear(self) -> bytes:
        """What it says next; nothing if it has gone."""
        try:
            return self.control.recv(4096)
        except OSError:
            return b""

    def ended(self) -> bool:
        """Whether it is dead, be it that its socket lives on in a process that it left behind."""
        if not hasattr(os, "waitid"):
            return self.process.poll() is not None
        try:  # Popen.poll would give its number free, which is that of its group
            found = os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return True
        return found is not None

    def bury(self) -> bytes:
        """Make sure that it is dead, and return what it has said before."""
        self._kill()
        self.process.wait()
        said = b""
        with contextlib.suppress(OSError):
            self.control.setblocking(False)  # a process that it left behind may hold the other end
            while more := self.control.recv(4096):
                said += more
        self.control.close()
        return said

    def dismiss(self) -> None:
        """Let it end by itself, after flushing what the function printed; do not wait for it."""
        if self.ready and not self.busy:
            with contextlib.suppress(OSError):
                self.control.shutdown(socket.SHUT_WR)
        else:
            self._kill()

    def part(self) -> None:
        """Wait for the end of a worker that was dismissed, and end what it has started."""
        with contextlib.suppress(OSError):
            self.control.settimeout(GRACE)
            while self.control.recv(4096):
                pass
        self._kill()
        self.process.wait()
        self.control.close()

    def _kill(self) -> None:
        """End the worker and its group, of which processes may be left when it is dead itself.

        Not after it has been waited for, when its number may be that of somebody else.
        """
        if self.process.returncode is not None:
            return
        with contextlib.suppress(OSError):
            if sys.platform != "win32":
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()


def _started(control: socket.socket) -> subprocess.Popen[bytes]:
    env = dict(os.environ)
    if THREADS[0] not in env:  # whoever sets it has thought about cores
        for name in THREADS:
            env.setdefault(name, "1")
    command = [sys.executable or "python", *_flags(), PROGRAM]
    if sys.platform != "win32":
        fd = control.fileno()
        return subprocess.Popen(
            [*command, str(fd)],
            stdin=subprocess.DEVNULL,
            pass_fds=(fd,),
            process_group=0,
            env=env,
        )
    base = getattr(sys, "_base_executable", sys.executable)
    if base != sys.executable:  # the python.exe of a virtual environment starts another process
        env["__PYVENV_LAUNCHER__"] = sys.executable
        command[0] = base
    process = subprocess.Popen(
        [*command, "-"],
        stdin=subprocess.PIPE,
        creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
        env=env,
    )
    assert process.stdin is not None
    with process.stdin:
        process.stdin.write(control.share(process.pid))
    return process


def _flags() -> list[str]:
    """Options of this interpreter that change what code does or which modules are found."""
    flags = ["-P"]
    if sys.flags.optimize:
        flags.append("-" + "O" * sys.flags.optimize)
    for option, given in (
        ("-E", sys.flags.ignore_environment),
        ("-s", sys.flags.no_user_site),
        ("-B", sys.flags.dont_write_bytecode),
    ):
        if given:
            flags.append(option)
    return flags
