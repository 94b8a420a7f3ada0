"""Draws for each row of a table of scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels.rng import BitStream
from ..noise import choice
from .scores import CHUNK, aligned, difference, distances
from .scores.stored import Stored, row_peaks, slack, tilted


class Table:
    """An array of scores as rows along its last axis; it is never copied as a whole."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array if array.ndim > 1 else array[None]
        self.lead = self.array.shape[:-1]
        self.rows = math.prod(self.lead)
        self.count = array.shape[-1]

    def part(self, at: slice) -> NDArray[Any]:
        """Return some rows, in C order, as a matrix."""
        if self.array.ndim == 2:
            return self.array[at]
        return np.asarray(self.array[np.unravel_index(np.arange(at.start, at.stop), self.lead)])

    def row(self, i: int) -> NDArray[Any]:
        """Return a view of one row."""
        return np.asarray(self.array[np.unravel_index(i, self.lead)])

    def stored(self, i: int) -> Stored:
        """Return one row as scores to draw from."""
        return Stored(self.row(i))

    def parts(self) -> Iterator[slice]:
        step = max(CHUNK // self.count, 1)
        for start in range(0, self.rows, step):
            yield slice(start, min(start + step, self.rows))


class Rows:
    """The sampler of all rows of a table. It first finds the best score of each row.

    Parameters
    ----------
    table : Table
        Rows of some thousand candidates at most.
    c : float
    base : Table of float64, optional
        Public log-weights in the same shape; see `scores.stored.TiltedScores`.

    Raises
    ------
    ArgumentError
        If a score is NaN or plus infinity, or if all candidates of a row are excluded.
    """

    def __init__(self, table: Table, c: float, base: Table | None = None) -> None:
        self.table, self.c, self.base = table, c, base
        self.reach = 0.0
        if table.rows == 1:
            row = Stored(table.row(0))
            row.peaks(min(table.count, CHUNK))
            objects = table.array.dtype.kind == "O"
            self.best = np.array([row.best], object if objects else None)
        else:
            parts = [row_peaks(table.part(part), part.start) for part in table.parts()]
            self.best = np.concatenate(parts)
        if base is not None:
            for part in table.parts():
                self._tilt(part, base.part(part))

    def _tilt(self, rows: slice, base: NDArray[np.float64]) -> None:
        """Find the best score of each row among those that `base` allows."""
        allowed = base > -math.inf
        self.reach = max(self.reach, float(np.abs(base[allowed]).max(initial=0.0)))
        if allowed.all():
            return
        kind = self.best.dtype
        least = np.iinfo(kind).min if kind.kind in "iu" else -math.inf
        values = self.table.part(rows).astype(kind, copy=False)
        best = np.where(allowed, values, np.array(least, kind)).max(axis=1)
        if not allowed.any(axis=1).all() or (kind.kind in "fO" and best.min() == -math.inf):
            rule = "above minus infinity for at least one candidate of each row"
            checks.fail("scores and base", rule, -math.inf)
        self.best[rows] = best

    def draw(self, size: int, stream: BitStream) -> NDArray[np.int64]:
        """Return `size` draws for each row from the exponential mechanism, shape (rows, size)."""
        out = np.empty((self.table.rows, size), np.int64)
        for part in self.table.parts():
            out[part] = self._draw(part, size, stream)
        return out

    def flip(self, size: int, stream: BitStream) -> NDArray[np.int64]:
        """Return `size` draws for each row by permute-and-flip (no `base`), shape (rows, size)."""
        out = np.empty((self.table.rows, size), np.int64)
        for part in self.table.parts():
            scores, best = self._wide(part)
            for i in range(size):
                out[part, i] = choice.subset_rows(scores, best, self.c, self._exact(part), stream)
        return out

    def _wide(self, at: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return float64 scores and row maxima; for integers, minus the exact row maximum."""
        values, best = self.table.part(at), self.best[at]
        if best.dtype.kind == "f":
            return aligned(values, np.float64), best.astype(np.float64, copy=False)
        below = distances(best[:, None], values)
        scores = -np.minimum(below, np.finfo(np.float64).max)
        scores[below < 0] = -math.inf
        return np.ascontiguousarray(scores), np.zeros(len(best))

    def _exact(self, at: slice) -> Callable[[int, int], Fraction]:
        values, best = self.table.part(at), self.best[at]
        return lambda i, j: difference(best[i], values[i, j])

    def _draw(self, at: slice, size: int, stream: BitStream) -> NDArray[np.int64]:
        exact = self._exact(at)
        if self.base is None:
            scores, best = self._wide(at)
            return choice.rows(scores, best, self.c, exact, stream, draws=size)
        base = self.base.part(at)
        tilt = tilted(base, self.c, distances(self.best[at, None], self.table.part(at)))
        error = slack(self.reach)
        reference = np.nextafter(tilt.max(axis=1) + error, math.inf)

        def exact_tilt(i: int, j: int) -> Fraction:
            weight = Fraction(float(base[i, j]))
            return Fraction(float(reference[i])) - weight + Fraction(self.c) * exact(i, j)

        tilt = np.ascontiguousarray(tilt)
        return choice.rows(tilt, reference, 1.0, exact_tilt, stream, error, size)
