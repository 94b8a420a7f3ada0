"""One worker process: a fresh interpreter that runs `worker_main.py`, and the socket to it.

It does not use `multiprocessing`, which runs the caller's main module again in each process, and
sends blocks in messages. On Windows the socket is passed through standard input, and files have
names. This part follows the manual and has not been run.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...errors import WorkerError
from .worker_main import HEAD

PROGRAM = str(Path(__file__).with_name("worker_main.py"))
#: Environment variables of libraries that start a thread for each core by default.
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
#: Seconds in which a worker should end by itself.
GRACE = 2.0


@contextlib.contextmanager
def no_resources() -> Iterator[None]:
    """Raise a `WorkerError` for system errors when no worker process can be started."""
    try:
        yield
    except OSError as error:
        raise WorkerError(f"no worker process can be started: {error}") from error


class Worker:
    """A worker process that leads a separate process group.

    So Ctrl-C at the terminal reaches only the parent, which ends its workers. Killing a worker also
    kills the processes that the function has started.

    Attributes
    ----------
    ready : bool
        Whether the worker has loaded the function.
    slot : int
        The index of the worker on a board.
    busy : bool
        Whether the worker has a range of blocks to work on.
    useful : bool
        Whether the worker has begun to call the function.
    board : object
        The last board that was sent to the worker.
    trouble : str
        The reason why the worker cannot continue, if it has reported a reason.
    """

    def __init__(self, slot: int) -> None:
        self.slot = slot
        self.ready = False
        self.busy = False
        self.useful = False
        self.trouble = ""
        self.board: Any = None
        with no_resources():
            self.control, theirs = socket.socketpair()
            try:
                self.process = _started(theirs)
            except BaseException:
                self.control.close()
                raise
            finally:
                theirs.close()

    def send(self, order: Any, fds: Sequence[int] = ()) -> None:
        """Send an order to the worker, ignoring a dead worker, which is noticed elsewhere."""
        body = pickle.dumps(order)
        head = len(body).to_bytes(HEAD, "little")
        with contextlib.suppress(OSError):
            if fds and sys.platform != "win32":
                socket.send_fds(self.control, [head], fds)
            else:
                self.control.sendall(head)
            self.control.sendall(body)

    def receive(self) -> bytes:
        """Return the next messages of the worker, one byte each; empty if the worker is dead."""
        try:
            return self.control.recv(4096)
        except OSError:
            return b""

    def ended(self) -> bool:
        """Return whether the worker is dead, even if a child of it still holds the socket."""
        if not hasattr(os, "waitid"):
            return self.process.poll() is not None
        try:  # Popen.poll would release the process id, which is also that of the process group
            status = os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return True
        return status is not None

    def kill(self) -> bytes:
        """Kill the worker if it is alive, and return its last messages."""
        self._kill()
        self.process.wait()
        messages = b""
        with contextlib.suppress(OSError):
            # A process that the worker has started may still hold the other end.
            self.control.setblocking(False)
            while more := self.control.recv(4096):
                messages += more
        self.control.close()
        return messages

    def dismiss(self) -> None:
        """Tell the worker to flush printed text and exit; do not wait for it."""
        if self.ready and not self.busy:
            with contextlib.suppress(OSError):
                self.control.shutdown(socket.SHUT_WR)
        else:
            self._kill()

    def wait(self) -> None:
        """Wait for a dismissed worker to end, and kill the processes it has started."""
        with contextlib.suppress(OSError):
            self.control.settimeout(GRACE)
            while self.control.recv(4096):
                pass
        self._kill()
        self.process.wait()
        self.control.close()

    def _kill(self) -> None:
        """Kill the worker and its process group, whose processes may outlive it.

        Do nothing after the worker has been waited for, because its number may then belong to
        another process.
        """
        if self.process.returncode is not None:
            return
        with contextlib.suppress(OSError):
            if sys.platform != "win32":
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()


def _started(control: socket.socket) -> subprocess.Popen[bytes]:
    env = dict(os.environ)
    if THREADS[0] not in env:  # otherwise the user has chosen the number of threads
        for name in THREADS:
            env.setdefault(name, "1")
    command = [sys.executable or "python", *_flags(), PROGRAM]
    if sys.platform != "win32":
        fd = control.fileno()
        return subprocess.Popen(
            [*command, str(fd), str(os.getpid())],
            stdin=subprocess.DEVNULL,
            pass_fds=(fd,),
            process_group=0,
            env=env,
        )
    base = getattr(sys, "_base_executable", sys.executable)
    # The python.exe of a virtual environment only starts another process.
    if base != sys.executable:
        env["__PYVENV_LAUNCHER__"] = sys.executable
        command[0] = base
    process = subprocess.Popen(
        [*command, "-", str(os.getpid())],
        stdin=subprocess.PIPE,
        creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
        env=env,
    )
    assert process.stdin is not None
    with process.stdin:
        process.stdin.write(control.share(process.pid))
    return process


def _flags() -> list[str]:
    """Return the options of this interpreter that change semantics or the module search path."""
    optimize = ["-" + "O" * sys.flags.optimize] if sys.flags.optimize else []
    options = {
        "-E": sys.flags.ignore_environment,
        "-s": sys.flags.no_user_site,
        "-B": sys.flags.dont_write_bytecode,
    }
    return ["-P", *optimize, *(option for option, is_set in options.items() if is_set)]
