"""Many draws at once: one for each row of a table of scores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _check, _choice
from ._native.rng import BitStream
from ._scores.based import slack, tilted
from ._scores.stored import distances

__all__ = ["Rows", "Table"]

#: Scores that are looked at together: half a megabyte of float64.
STRETCH = 1 << 16


class Table:
    """The last axis of an array of two or more dimensions, row by row, never copied whole."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.lead = array.shape[:-1]
        self.rows = math.prod(self.lead)
        self.count = array.shape[-1]

    def part(self, start: int, stop: int) -> NDArray[Any]:
        """Rows `start` to `stop`, in the order of a C array, as a table of two dimensions."""
        if self.array.ndim == 2:
            return self.array[start:stop]
        place = np.unravel_index(np.arange(start, stop), self.lead)
        found: NDArray[Any] = self.array[place]
        return found

    def row(self, i: int) -> NDArray[Any]:
        """One row, where it is."""
        found: NDArray[Any] = self.array[np.unravel_index(i, self.lead)]
        return found

    def parts(self) -> Iterator[slice]:
        step = max(STRETCH // self.count, 1)
        for start in range(0, self.rows, step):
            yield slice(start, min(start + step, self.rows))


class Rows:
    """Draws from the exponential mechanism of each row; the pass that looks for the best is made.

    Parameters
    ----------
    table : Table
        Rows of some thousand candidates at most.
    c : float
    base : Table of float64, optional
        Public log-weights of the same shape, as `dpfast._scores.based.Based` takes them.

    Raises
    ------
    ArgumentError
        A score is NaN or plus infinity, or all of a row are excluded.
    """

    def __init__(self, table: Table, c: float, base: Table | None = None) -> None:
        self.table = table
        self.c = c
        self.base = base
        self.best = np.empty(table.rows, table.array.dtype.newbyteorder("="))
        self.reach = 0.0
        for part in table.parts():
            self.best[part] = self._best(part)

    def _best(self, rows: slice) -> NDArray[Any]:
        values = self.table.part(rows.start, rows.stop)
        best: NDArray[Any] = values.max(axis=1)
        if best.dtype.kind == "f":
            top = best.max()
            if top != top or top == math.inf:
                _check.fail("scores", "numbers below infinity", top)
        if self.base is not None:
            base = self.base.part(rows.start, rows.stop)
            allowed = base > -math.inf
            if not allowed.all():
                least = -math.inf if best.dtype.kind == "f" else _least(best.dtype)
                best = np.where(allowed, values, best.dtype.type(least)).max(axis=1)
                if not allowed.any(axis=1).all():
                    self._none()
            self.reach = max(self.reach, float(np.abs(base[allowed]).max()))
        if best.dtype.kind == "f" and best.min() == -math.inf:
            self._none()
        return best

    def _none(self) -> None:
        what = "scores" if self.base is None else "scores and base"
        _check.fail(what, "above minus infinity for one candidate of each row", -math.inf)

    def draw(self, size: int, stream: BitStream) -> NDArray[np.int64]:
        """`size` draws a row, shape (rows, size)."""
        out = np.empty((self.table.rows, size), np.int64)
        for part in self.table.parts():
            out[part] = self._draw(part, size, stream)
        return out

    def _draw(self, at: slice, size: int, stream: BitStream) -> NDArray[np.int64]:
        values = self.table.part(at.start, at.stop)
        best = self.best[at]

        def exact(i: int, j: int) -> Fraction:
            return Fraction(best[i].item()) - Fraction(values[i, j].item())

        if self.base is None and values.dtype.kind == "f":
            scores = np.ascontiguousarray(values, np.float64)
            wide = best.astype(np.float64, copy=False)
            return _choice.rows(scores, wide, self.c, exact, stream, draws=size)
        below = distances(best[:, None], values)
        if self.base is None:
            none = np.zeros(len(best))
            return _choice.rows(-below, none, self.c, exact, stream, draws=size)
        base = self.base.part(at.start, at.stop)
        error = slack(self.reach)
        tilt = np.ascontiguousarray(tilted(base, self.c, below))
        reference = np.nextafter(tilt.max(axis=1) + error, math.inf)

        def exact_tilt(i: int, j: int) -> Fraction:
            weight = Fraction(float(base[i, j]))
            return Fraction(float(reference[i])) - weight + Fraction(self.c) * exact(i, j)

        return _choice.rows(tilt, reference, 1.0, exact_tilt, stream, error, size)


def _least(dtype: np.dtype[Any]) -> int:
    return 0 if dtype.kind == "b" else int(np.iinfo(dtype).min)
