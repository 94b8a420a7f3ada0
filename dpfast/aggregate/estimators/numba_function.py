"""A function compiled by Numba as an estimator."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ..._core import checks
from ..._kernels.jit import BlockLoop
from ...sources.array import threads
from ...sources.base import RowSource
from ..blocks.layout import Window
from ..workers.pool import cores
from .base import Bound, ByBlock, Floats, Job


@dataclass(frozen=True)
class NumbaFunction:
    """A function ``f(block)`` made by ``numba.njit``, called inside a compiled loop.

    Parameters
    ----------
    function : Numba dispatcher
        Takes a block: a 1-D array of numbers, a 2-D array in C order, or a 1-D array of records
        (``block["age"]``); never an empty one. Returns a real number for one pair of bounds; for d
        pairs a 1-D array, or a tuple, of d real numbers. Instead of a number or an array it may
        return None.

    Notes
    -----
    The function is compiled before anything is spent, once for each type of block, which takes a
    second or so (more if it calls much of ``np.linalg``).

    A block has no answer, and counts as the public default, if the function raises or asserts, or
    returns None, a NaN or an array of another length. An index out of range is noticed only if the
    function was compiled with ``boundscheck=True``; else memory there is read, as everywhere in
    Numba. Return NaN rather than raise if many blocks may fail: Numba does not free the memory of
    calls that an exception passes through (about 500 bytes for a singular matrix in
    ``np.linalg.inv``, plus the temporary arrays of those calls).

    It may write to its block. Random and keyed blocks are part of a sorted copy of the data, which
    the function gets without another copy. Contiguous blocks are the caller's memory, so the
    function gets a copy of them.

    NumPy's random numbers inside the function come from a generator of Numba, one for each thread.
    That does not affect privacy, but the answers are not reproducible.

    A function made with ``parallel=True`` is called from one thread, since Numba's threads cannot
    be started from several. There is no time limit for a block, as compiled code cannot be
    stopped from outside; ``executor="processes"`` calls the function like any other, with one.
    """

    function: Any

    def bind(self, source: RowSource, width: int | None) -> Bound:
        loop = BlockLoop(self.function, source.dtype, source.width is not None)
        given = "one pair" if width is None else f"{width} pairs"
        if loop.length is None and width is not None:
            checks.fail("bounds", "one pair for an estimator that returns one number", given)
        if loop.length is not None and width is None:
            rule = "a pair for each number, in a list, for an estimator that returns several"
            checks.fail("bounds", rule, given)
        if loop.length not in (None, -1, width):
            rule = f"{loop.length} pairs for an estimator that returns {loop.length} numbers"
            checks.fail("bounds", rule, given)
        is_parallel = bool(self.function.targetoptions.get("parallel"))

        def fill(window: Window, out: Floats, job: Job) -> None:
            workers = 1 if is_parallel else job.workers or _cores()
            loop.fill(window.rows, window.offsets, window.ours, out, workers, job.tick)

        return ByBlock(self.function.__name__, 1 if width is None else width, fill)


def _cores() -> int:
    """Return one for each core, or fewer if ``DPFAST_NUM_THREADS`` says so."""
    most = cores()
    return min(most, threads()) if os.environ.get("DPFAST_NUM_THREADS", "").strip() else most
