"""Nameless files of rows, which do not fit in memory or which workers share.

No library does this. `numpy.lib.format`, Arrow's IPC and `joblib` write from one thread at a time,
and to named files, which remain after the process is killed.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import tempfile
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.memfd import memfd, seal
from ..errors import SourceError


def directory(spill: Any) -> str:
    """Return the directory for rows beyond memory: `spill`, or the directory for temporary files.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If it is not a directory in which files can be made.
    """
    if spill is None:
        return tempfile.gettempdir()
    rule = "a directory in which files can be created"
    if not isinstance(spill, (str, os.PathLike)):
        checks.fail_type("spill", rule, spill)
    try:
        path = os.fspath(spill)
    except Exception:  # the __fspath__ of an object may raise any error
        checks.fail_kind("spill", rule, spill)
    if (
        not isinstance(path, str)
        or not os.path.isdir(path)
        or not os.access(path, os.W_OK | os.X_OK)
    ):
        checks.fail("spill", rule, spill)
    return path


class Spill:
    """A store of bytes beyond memory, in a nameless file that only its owner may read.

    The file disappears when it is closed, and when the process ends in any way.

    Parameters
    ----------
    where : str
        The directory of the file.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._end = 0
        self._lock = threading.Lock()
        try:
            self._file = tempfile.TemporaryFile(buffering=0, prefix="dpfast-", dir=where)  # noqa: SIM115
        except OSError as error:
            failed = error.errno
        else:
            return
        raise _failed(where, failed)

    def close(self) -> None:
        self._file.close()

    def append(self, array: NDArray[Any]) -> int:
        """Write an array in C order, and return its offset; several threads may call this."""
        left = memoryview(array.reshape(-1).view(np.uint8))
        with self._lock:
            start = self._end
            self._end += len(left)
        self._transfer(self._write, left, start)
        return start

    def read(self, at: int, into: NDArray[Any]) -> None:
        """Fill an array in C order with the bytes of the file from offset `at` on."""
        self._transfer(self._read, memoryview(into.reshape(-1).view(np.uint8)), at)

    def _transfer(self, move: Callable[[memoryview, int], int], left: memoryview, at: int) -> None:
        """Move all bytes of a buffer by `move`, which reads or writes some of them in each call."""
        failed = None
        try:
            while left:
                done = move(left, at)
                if done == 0:
                    failed = errno.EIO
                    break
                at, left = at + done, left[done:]
        except OSError as error:
            failed = error.errno
        if failed is not None:
            raise _failed(self._where, failed)

    if hasattr(os, "pwrite") and hasattr(os, "preadv"):

        def _write(self, some: memoryview, at: int) -> int:
            return os.pwrite(self._file.fileno(), some, at)

        def _read(self, some: memoryview, at: int) -> int:
            return os.preadv(self._file.fileno(), [some], at)

    else:

        def _write(self, some: memoryview, at: int) -> int:
            with self._lock:
                self._file.seek(at)
                return self._file.write(some)

        def _read(self, some: memoryview, at: int) -> int:
            with self._lock:
                self._file.seek(at)
                return int(self._file.readinto(some) or 0)


class File:
    """A file of `size` bytes for other processes to map, without a name except on Windows.

    `map` is the whole file, to read and write. It is unmapped with its last reference. If the file
    is in memory, no process can change its size, and others can write to it only if it is
    `open_to_all`.

    Parameters
    ----------
    size : int
        Bytes.
    open_to_all : bool
    where : str, optional
        The directory, used if the system has no anonymous memory. By default it is the directory
        for temporary files.
    in_memory : bool
        Whether memory is preferred to a file.
    """

    def __init__(
        self, size: int, *, open_to_all: bool, where: str | None = None, in_memory: bool = True
    ) -> None:
        self.path: str | None = None
        sealable = memfd() if in_memory else None
        if sealable is not None:
            self.fd = sealable
        else:
            self.fd, path = tempfile.mkstemp(prefix="dpfast-", dir=where)
            if os.name == "nt":  # Windows can neither pass on descriptors nor remove open files
                self.path = path
            else:
                os.unlink(path)
        try:
            _reserve(self.fd, max(1, size))
            self.map = mmap.mmap(self.fd, max(1, size))
            if sealable is not None:
                seal(self.fd, written=not open_to_all)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file; a process that has mapped it keeps its contents until it unmaps them."""
        os.close(self.fd)
        if self.path is not None:
            _named.add(self.path)
        for path in list(_named):
            with contextlib.suppress(OSError):
                os.unlink(path)
                _named.discard(path)


#: Files that could not be deleted so far: Windows keeps a file while a process maps it.
_named: set[str] = set()


def shared_file(size: int, where: str, in_memory: bool = True) -> File:
    """Return a new file for rows that other processes only read.

    Raises
    ------
    SourceError
        If it cannot be made.
    """
    try:
        return File(size, open_to_all=False, where=where, in_memory=in_memory)
    except OSError as error:
        failed = error.errno
    raise _failed(where, failed)


def _reserve(fd: int, size: int) -> None:
    """Allocate all bytes of a file now, so that a full disk is an error and not a crash."""
    os.ftruncate(fd, size)
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, 0, size)
        return
    zeros = bytes(1 << 20)
    for at in range(0, size, len(zeros)):
        os.write(fd, zeros[: size - at])


def _failed(where: str, number: int | None) -> SourceError:
    """Return the error that a file of rows cannot be made or used, without row values."""
    why = os.strerror(number) if number else "an input or output error"
    return SourceError(f"rows cannot be kept in {where!r}: {why} (spill can name another)")
