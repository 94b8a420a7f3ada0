"""Nameless files that hold rows: those that do not fit in memory, and those that workers share."""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.memfd import memfd, seal
from ...errors import SourceError


class SharedRows(NamedTuple):
    """The place of the rows of a window in a file that other processes can map.

    `fd` is open in this process until the context of `laid_out` ends; `path` is the name of the
    file where a descriptor cannot be handed on (Windows), else None: the file has no name.
    ``window.rows[0]`` begins at byte `start`, a multiple of `mmap.ALLOCATIONGRANULARITY`.
    """

    fd: int
    path: str | None
    start: int


def directory(spill: Any, name: str = "spill") -> str:
    """Return the directory for rows beyond memory: `spill`, or the one for temporary files.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If it is not a directory in which files can be made.
    """
    if spill is None:
        return tempfile.gettempdir()
    rule = "a directory that files can be made in"
    if not isinstance(spill, (str, os.PathLike)):
        checks.fail_type(name, rule, spill)
    try:
        path = os.fspath(spill)
    except Exception:  # the __fspath__ of an object may raise anything
        checks.fail_kind(name, rule, spill)
    if (
        not isinstance(path, str)
        or not os.path.isdir(path)
        or not os.access(path, os.W_OK | os.X_OK)
    ):
        checks.fail(name, rule, spill)
    return path


class Spill:
    """Bytes beyond memory, in a nameless file that only its owner may read.

    It is gone when it is closed, and whenever the process ends, in any way.

    Parameters
    ----------
    where : str
        Its directory.
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
        """Write an array in C order, and return where it begins. Several threads may."""
        left = memoryview(array.reshape(-1).view(np.uint8))
        with self._lock:
            start = self._end
            self._end += len(left)
        self._transfer(self._write, left, start)
        return start

    def read(self, at: int, into: NDArray[Any]) -> None:
        """Fill an array in C order with the bytes from `at` on."""
        self._transfer(self._read, memoryview(into.reshape(-1).view(np.uint8)), at)

    def _transfer(self, move: Callable[[memoryview, int], int], left: memoryview, at: int) -> None:
        """Read or write all bytes; one call of the system may move fewer."""
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
                done = self._file.readinto(some)
                return int(done or 0)


class SharedMemory:
    """Memory that other processes can map: nameless, gone when it is closed and unmapped.

    Parameters
    ----------
    size : int
        Bytes.
    where : str
        The directory of the file where there is no memory without one.
    in_memory : bool
        Prefer memory to a file.
    """

    def __init__(self, size: int, where: str, in_memory: bool = True) -> None:
        self._path: str | None = None
        self._fd = -1
        size = max(1, size)
        try:
            sealable = memfd() if in_memory else None
            if sealable is not None:
                self._fd = sealable
            else:
                self._fd, path = tempfile.mkstemp(prefix="dpfast-", dir=where)
                if os.name == "nt":  # which can neither hand on descriptors nor unlink open files
                    self._path = path
                else:
                    os.unlink(path)
            _reserve(self._fd, size)
            self._map = mmap.mmap(self._fd, size)
            if sealable is not None:
                seal(self._fd, written=True)  # others read
        except OSError as error:
            failed = error.errno
            self.close()
        else:
            return
        raise _failed(where, failed)

    @property
    def rows(self) -> SharedRows:
        """The place of its rows."""
        return SharedRows(self._fd, self._path, 0)

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return the beginning of the memory as an array, which keeps it mapped."""
        return np.ndarray(shape, dtype, self._map)

    def close(self) -> None:
        """Close the file. The memory itself goes with the last array that looks at it."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        if self._path is not None:
            path = Path(self._path)
            self._path = None
            if hasattr(self, "_map"):
                try:
                    self._map.close()
                except BufferError:  # an array still looks at it
                    return
            path.unlink(missing_ok=True)


def _reserve(fd: int, size: int) -> None:
    """Allocate the file now: writing to a map of a file on a full disk would end the process."""
    os.ftruncate(fd, size)
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, 0, size)
        return
    zeros = bytes(1 << 20)
    for at in range(0, size, len(zeros)):
        os.write(fd, zeros[: size - at])


def _failed(where: str, number: int | None) -> SourceError:
    """Return the error that a file could not be made or used. It tells nothing of the rows."""
    why = os.strerror(number) if number else "an input or output error"
    return SourceError(
        f"the rows of the blocks cannot be kept in {where!r}: {why}. spill= names another directory"
    )
