"""Measure the memory that this process may still take, from public facts of the machine.

No library does this. `psutil` reports the memory of the machine, but not the limits of control
groups, which limit a container, nor what `ulimit` leaves.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KIB = 1 << 10
#: For each open ``with`` block: the number of objects in it that hold rows at the same time.
_holders: list[int] = []


def share() -> int:
    """Return how many bytes of rows one holder may keep: its part of half the available memory."""
    return available() // 2 // max(1, sum(_holders))


@contextmanager
def shared_by(holders: int) -> Iterator[None]:
    """Divide the available memory among `holders` that hold rows side by side."""
    _holders.append(holders)
    try:
        yield
    finally:
        _holders.remove(holders)


def available(root: Path = Path("/")) -> int:
    """Return how many bytes of memory this process may still take: the least of all limits.

    These are the limits of the machine, of the control groups of the process, and of its address
    space and data.
    """
    return max(0, min([_machine(root), *_groups(root), *_limits(root)]))


def _machine(root: Path) -> int:
    """Return the available memory of the machine; half of all memory if that is not known."""
    left = _field(root / "proc/meminfo", "MemAvailable:")
    if left is not None:
        return left * KIB
    if sys.platform == "win32":
        return _windows()
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return sys.maxsize


def _windows() -> int:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ulong), ("load", ctypes.c_ulong)] + [
            (name, ctypes.c_ulonglong)
            for name in ("total", "left", "pages", "pages_left", "space", "space_left", "more")
        ]

    status = Status(ctypes.sizeof(Status))
    kernel = ctypes.__dict__["windll"].kernel32
    if not kernel.GlobalMemoryStatusEx(ctypes.byref(status)):
        return sys.maxsize
    return int(min(status.left, status.space_left))


def _groups(root: Path) -> Iterator[int]:
    """Yield the memory left in each control group of this process, of version 1 or 2."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, kinds, name = [*line.split(":", 2), "", ""][:3]
        if kinds == "":
            top, most, used, cache = "", "memory.max", "memory.current", "inactive_file"
        elif "memory" in kinds.split(","):
            top, most, used = "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
            cache = "total_inactive_file"
        else:
            continue
        base = root / "sys/fs/cgroup" / top
        inside = base / name.strip("/")
        for folder in [inside, *inside.parents]:
            limit, taken = _read(folder / most).strip(), _read(folder / used).strip()
            if limit.isdigit() and taken.isdigit():
                spare = _field(folder / "memory.stat", cache) or 0
                yield int(limit) - int(taken) + min(spare, int(taken))
            if folder == base:
                break


def _limits(root: Path) -> Iterator[int]:
    """Yield the memory left under each limit of `ulimit` on this process."""
    try:
        import resource
    except ImportError:  # on Windows
        return
    for limit, field in (("RLIMIT_AS", "VmSize:"), ("RLIMIT_DATA", "VmData:")):
        kind = getattr(resource, limit, None)
        if kind is None:
            continue
        most, _ = resource.getrlimit(kind)
        if most != resource.RLIM_INFINITY:
            yield most - (_field(root / "proc/self/status", field) or 0) * KIB


def _field(path: Path, name: str) -> int | None:
    """Return the number behind `name` at the beginning of a line of a file, or None."""
    for line in _read(path).splitlines():
        words = line.split()
        if len(words) > 1 and words[0] == name and words[1].isdigit():
            return int(words[1])
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
