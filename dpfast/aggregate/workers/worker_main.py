"""The program of a worker process: it calls the function on ranges of blocks, until told to stop.

The program is run as a file, not as a module. It never imports the other modules of this package,
and until it knows the module search path of the parent it imports the standard library only. It
gets the function, the rows of the blocks and the offsets of the blocks.

A message of the parent is a length and a pickle, with file descriptors attached. The worker replies
in single bytes: READY when it has loaded the function, and DONE after each range. If it cannot load
the function, it sends FAILED and the reason. Everything else is in memory that both share
(`pool.Board`): the answers, the current block, and the time at which its call began.
"""

from __future__ import annotations

import array
import contextlib
import importlib.util
import mmap
import os
import pickle
import queue
import select
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

READY, DONE, FAILED = b"+", b".", b"-"
#: An option of prctl(2): whether memory may be dumped, or read by other processes of the user.
PR_SET_DUMPABLE = 4
#: Bytes of the length before a message.
HEAD = 8


def main(argument: str, parent: str) -> None:
    """Serve the process `parent` through the socket that `argument` names."""
    if sys.platform == "win32":
        control = socket.fromshare(sys.stdin.buffer.read())
    else:
        control = socket.socket(fileno=int(argument))
    control.set_inheritable(False)
    _no_core_dump()
    if not _watched(int(parent), control):
        return  # the parent has ended
    warnings.simplefilter("ignore")
    try:
        (paths, payload, size, limit), fds = _receive(control)
    except (EOFError, OSError):
        return  # the parent has ended
    sys.path[:] = paths
    try:
        import numpy as np

        calls = _load_neighbor("calls")
        function = pickle.loads(_mapped(payload, fds, size)[:size])
        _close(fds)
    except BaseException as error:
        _give_up(control, error)
        return
    orders: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(control, orders), daemon=True).start()
    window: Any = None
    with np.errstate(all="ignore"), contextlib.suppress(OSError):
        control.sendall(READY)
        while True:
            order, fds = orders.get()
            if order[0] == "window":
                window = None  # frees the mapping of the window before
                try:
                    window = _window(np, order[1:], fds)
                except Exception as error:
                    _give_up(control, error)
                    return
            else:
                _run(np, calls.attempt, function, window, order[1], order[2], limit)
                control.sendall(DONE)


def _give_up(control: socket.socket, error: BaseException) -> None:
    """Tell the parent why this worker cannot call the function."""
    with contextlib.suppress(Exception):
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        control.sendall(FAILED + reason.encode(errors="replace")[:500])


def _run(
    np: Any,
    attempt: Callable[..., None],
    function: Callable[[Any], Any],
    window: Any,
    first: int,
    last: int,
    limit: int | None,
) -> None:
    """Call the function on blocks `first` to ``last - 1`` of a window.

    One word of the slot shows the current block (2 b + 1) or the next block (2 b). The answer of a
    block is written before this word advances. So the answers of all blocks before it are complete.
    The other word is the time at which the call began.
    """
    rows, offsets, out, slot = window
    clock = time.monotonic_ns
    edges = offsets[first : last + 1].tolist()
    began, this = 0, os.getpid()
    for b in range(first, last):
        lo, hi = edges[b - first], edges[b - first + 1]
        if lo == hi:
            continue
        if limit is not None:
            slot[1] = began = clock()
        slot[0] = 2 * b + 1
        row = out[b]
        try:
            attempt(function, rows[lo:hi], row)
        except BaseException:  # the function raised KeyboardInterrupt
            row[:] = np.nan
        if os.getpid() != this:
            os._exit(0)  # the function forked, and this is the child, in which it returned, too
        if limit is not None and clock() - began > limit:
            row[:] = np.nan  # it was too late, although it ended before the parent checked
        slot[0] = 2 * b + 2


def _window(np: Any, order: Any, fds: list[int]) -> Any:
    """Map the rows and the board of a window, and close the files."""
    (rows_path, length, dtype, shape), (board_path, slots, blocks, d, slot) = order
    held = _mapped(board_path, fds[1:], 0, writable=True)
    states, offsets, out = parts(np.frombuffer(held, np.int64), slots, blocks, d)
    rows = np.empty(shape, dtype)
    if length:
        rows = np.ndarray(shape, dtype, _mapped(rows_path, fds[:1], length))
    _close(fds)
    return rows, offsets, out, memoryview(states[slot])


def _close(fds: list[int]) -> None:
    """Close descriptors, so that the function cannot use them."""
    for fd in fds:
        os.close(fd)


def parts(words: Any, slots: int, blocks: int, d: int) -> tuple[Any, Any, Any]:
    """Return the arrays in the words of a board: states of workers, offsets, answers."""
    offsets = words[2 * slots : 2 * slots + blocks + 1]
    out = words[2 * slots + blocks + 1 :][: blocks * d].view("f8").reshape(blocks, d)
    return words[: 2 * slots].reshape(slots, 2), offsets, out


def _mapped(path: str | None, fds: list[int], length: int, writable: bool = False) -> mmap.mmap:
    """Map a file, given by its path or, if it has none, by the first descriptor."""
    access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
    if path is None:
        return mmap.mmap(fds[0], length, access=access)
    with open(path, "r+b" if writable else "rb") as file:
        return mmap.mmap(file.fileno(), length, access=access)


def _listen(control: socket.socket, orders: queue.SimpleQueue[Any]) -> None:
    """Put orders on a queue; end the process when the parent can send no more."""
    try:
        while True:
            orders.put(_receive(control))
    except BaseException:  # the parent has ended or closed the socket, or memory is exhausted
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
    finally:
        os._exit(0)


def _receive(control: socket.socket) -> tuple[Any, list[int]]:
    """Return one message and the descriptors attached to it."""
    head, fds = b"", array.array("i")
    while len(head) < HEAD:
        if sys.platform == "win32":
            some = control.recv(HEAD - len(head))
        else:
            some, received, _, _ = socket.recv_fds(control, HEAD - len(head), 8)
            fds.extend(received)
        if not some:
            raise EOFError
        head += some
    body = bytearray()
    left = int.from_bytes(head, "little")
    while left:
        some = control.recv(min(left, 1 << 16))
        if not some:
            raise EOFError
        body += some
        left -= len(some)
    return pickle.loads(body), list(fds)


def _load_neighbor(name: str) -> ModuleType:
    """Load a module by the name of its file in this directory, without importing dpfast."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
    spec = importlib.util.spec_from_file_location(f"_dpfast_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _watched(parent: int, control: socket.socket) -> bool:
    """Start a watchdog that ends this process group once this process or the parent is dead.

    The watchdog works however either process ends: the function may block the interpreter, and
    processes that it started may hold rows. Return whether the parent is still alive. On systems
    without `pidfd_open`, no watchdog is started.
    """
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return True
    with contextlib.suppress(OSError):
        watched = [os.pidfd_open(pid) for pid in (parent, os.getpid())]
        # The parent has ended, so its number may belong to another process.
        if os.getppid() != parent:
            return False
        child = os.fork()
        if child == 0:
            try:
                if os.fork() == 0:  # a grandchild, for which the function cannot wait
                    control.close()
                    _close([0, 1, 2])
                    select.select(watched, [], [])
                    os.killpg(0, signal.SIGKILL)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        _close(watched)
    return True


def _no_core_dump() -> None:
    """Prevent core dumps, so that a crash of the function leaves no file with rows.

    Systems that pass dumps to a program ignore a size limit of 0. So on Linux the process is also
    marked as not dumpable.
    """
    if sys.platform != "win32":
        import resource

        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(Exception):
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
