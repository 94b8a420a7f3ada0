"""Estimators that do what estimators should not do. A worker process imports them from here."""

import contextlib
import ctypes
import decimal
import fractions
import os
import subprocess
import sys
import threading
import time

import numpy as np

#: Signalling NaN cannot become a float.
SIGNALLING = decimal.Decimal("sNaN")


def raises(block):
    raise ValueError(block)


def recurses(block):
    return recurses(block)


def exits(block):
    sys.exit(block[0])


def interrupts(block):
    raise KeyboardInterrupt


class Unusual(BaseException):
    pass


def raises_the_unusual(block):
    raise Unusual


def no_memory(block):
    return np.empty(2**62, np.uint8)


def dies(block):
    os._exit(3)


def segfaults(block):
    ctypes.string_at(0)


def hangs(block):
    time.sleep(3600)


def hangs_in_threads(block):
    """Threads that do not end with the one that started them."""
    for _ in range(2):
        threading.Thread(target=time.sleep, args=(3600,)).start()
    time.sleep(3600)


def hangs_in_a_child(block):
    subprocess.run([sys.executable, "-c", "import time; time.sleep(3600)"])


class Evil:
    """An answer that fights back."""

    def __float__(self):
        raise SystemExit

    def __array__(self, dtype=None, copy=None):
        raise MemoryError


def returns(value):
    def f(block):
        return value

    return f


#: What is no answer to anything.
NO_ANSWERS = {
    "nan": float("nan"), "none": None, "text": "1.0", "bytes": b"1", "complex": 1 + 0j,
    "complex array": np.array(1j), "date": np.datetime64("2020-01-01"),
    "duration": np.timedelta64(1, "s"), "two numbers": [1.0, 2.0],
    "a pair of rows": np.ones((2, 1)), "nothing": [], "ragged": [[1.0], [2.0, 3.0]],
    "a number beyond float64": 10**400, "a signalling Decimal": SIGNALLING, "masked": np.ma.masked,
    "mapping": {"a": 1.0}, "set": {1.0}, "function": len, "evil": Evil(),
    "array of text": np.array(["1"]), "objects": np.array([object()]),
    "huge": np.broadcast_to(1.0, 2**40),
}  # fmt: skip

#: What is the number one and a half.
NUMBERS = {
    "float": 1.5, "float64": np.float64(1.5), "float32": np.float32(1.5),
    "float16": np.float16(1.5), "long double": np.longdouble(1.5),
    "decimal": decimal.Decimal("1.5"), "fraction": fractions.Fraction(3, 2), "0-d": np.array(1.5),
    "1-d": np.array([1.5]), "2-d": np.array([[1.5]]), "list": [1.5],
    "tuple": (decimal.Decimal("1.5"),), "masked array": np.ma.array([1.5], mask=[False]),
}  # fmt: skip


def mutates(block):
    """The middle row, and what a block must not be used for on the way."""
    found = float(np.sort(block)[len(block) // 2])
    block.sort()
    block += 1e6
    block.base  # noqa: B018
    return found


KEPT = []


def keeps(block):
    """The sum of a block that is kept and spoilt by the next call."""
    if KEPT:
        KEPT[-1][:] = np.nan
    KEPT.append(block)
    return block.sum()


#: What the first row of a block brings about.
BY_CODE = {
    1: raises, 2: exits, 3: recurses, 4: no_memory, 5: raises_the_unusual, 6: returns(None),
    7: returns("text"), 8: returns(np.ones(3)), 9: returns(1j), 10: returns(np.nan),
}  # fmt: skip
#: The same, of what only a process can survive.
DEADLY = {11: dies, 12: segfaults, 13: interrupts}
HANGING = {14: hangs, 15: hangs_in_threads, 16: hangs_in_a_child}


def by_code(block):
    """The sum of the block, unless its first row is the code of a fault."""
    code = int(block[0])
    for faults in (BY_CODE, DEADLY, HANGING):
        if code in faults:
            return faults[code](block)
    return float(block.sum())


def two_by_code(block):
    found = by_code(block)
    return (found, -found) if isinstance(found, float) else found


def breathes(block):
    time.sleep(0.002)
    return block[0]


def median(block):
    return np.median(block)


def own_rows(block):
    """Whether the block is a writable array of its own, and nothing more."""
    return float(type(block) is np.ndarray and block.flags.writeable and block.flags.c_contiguous
        and block.base is None)  # fmt: skip


def warns(block):
    import warnings

    warnings.warn("mind the data", RuntimeWarning, stacklevel=1)
    return float(np.float64(1.0) / np.float64(0.0)) if block[0] > 0 else 1.0


def dpfast_modules(block):
    """How much of the library a worker process knows."""
    return sum(name.split(".")[0] == "dpfast" for name in sys.modules)


def threads_allowed(block):
    return [float(os.environ.get(n, "nan")) for n in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")]


def standard_input(block):
    return len(sys.stdin.read())


def process(block):
    return os.getpid()


def digits(block):
    """One third to as many digits as the context says."""
    return decimal.Decimal(1) / decimal.Decimal(3)


def leaves_a_child(block):
    """The number of a process that goes on."""
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"]).pid


def dies_and_leaves_a_fork(block):
    """The fork holds the worker's socket open."""
    if os.fork() == 0:
        time.sleep(3600)
    os._exit(3)


def comes_back_twice(block):
    """The sum, of the worker a little later than of its fork."""
    if os.fork():
        time.sleep(0.2)
    return block.sum()


def writes_to_all_files(block):
    """What is said to the parent may be wrong, and what is shared overwritten."""
    for fd in range(3, 64):
        with contextlib.suppress(OSError):
            os.pwrite(fd, b"\xff" * 4096, 0)
    return block.sum()


def cuts_all_files(block):
    """What is shared is cut short, its own and the parent's, as far as the system allows it."""
    for process in ("self", str(os.getppid())):
        for fd in range(3, 64):
            with contextlib.suppress(OSError):
                path = f"/proc/{process}/fd/{fd}"
                if "memfd:dpfast" in os.readlink(path):
                    os.truncate(path, 0)
    return block.sum()


def sees_files(block):
    """How many of the files that are shared are open in the worker."""
    some = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
    return sum("memfd:dpfast" in os.readlink(one) for one in some if os.path.lexists(one))
