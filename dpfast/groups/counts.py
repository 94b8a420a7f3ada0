"""Counts of rows by group and bin: the histogram of each group, in one vector of counts.

With weights it is one vector of sums of their cells. k rows of a step in one group may be in as
many bins. They move all bins together by no more than they would move one sum, in every norm: of
vectors that k rows make up, each of a weight in one bin, those of one bin and one weight are the
corners, and norms are largest there. And they are k moves of one sum by a weight each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import groups as _native
from ..errors import DataError
from ..noise.sensitivity import Sensitivity
from ..rng import Generator
from ..sources.batches import Piece, numbers
from ..sources.words import words_column
from ..statistics.histogram import Bins
from ..summaries.cells import Cells, cells, in_units, nearest
from .answer import labels
from .keys import MOST
from .of_times import read
from .sums import Count, Sums
from .weighted import clamped


@dataclass(frozen=True, slots=True)
class Histogram(Count):
    """Numbers of rows of each group in public bins. A row is in one bin at most."""

    axis: Bins = None  # type: ignore[assignment]
    shown: Any = None  # the edges of bins of times

    @property
    def labels(self) -> list[str]:
        """Return what the bins are called: their categories, or their lower edges."""
        edges = self.axis.edges if self.shown is None else self.shown
        listed = edges.tolist() if len(edges) == self.axis.native.bins else edges[:-1].tolist()
        return labels(listed) if edges.dtype.kind == "f" else list(map(str, listed))

    def names(self, name: str) -> list[str]:
        return [*(f"{name} {label}" for label in self.labels), f"{name} error"]

    @property
    def sensitivity(self) -> Sensitivity:
        return self.step.vectors(1, min(self.step.rows, self.axis.native.bins))

    def room(self, groups: int) -> NDArray[np.uint64]:
        return np.zeros((groups + 1, self.axis.native.bins), np.uint64)

    @property
    def reading(self) -> tuple[Any, ...]:
        words = self.axis.words
        return (self.column, self.times) if words is None else (self.column, words)

    @property
    def is_text(self) -> bool:  # type: ignore[override]
        return self.axis.words is not None

    def read(self, columns: Mapping[str, Piece]) -> NDArray[Any]:
        piece = columns[self.column or ""]
        if self.axis.words is None:
            return read(piece, self.times)
        column = words_column(piece, self.axis.words, f"column {self.column!r}")
        out = np.empty(column.length)
        column.fill(0, column.length, out)
        return out

    def add(self, totals: NDArray[np.uint64], codes: NDArray[np.int32], values: Any) -> int:
        groups = len(totals) - 1
        both = self.within_bins(codes, values, groups)
        _native.count(both, totals.reshape(-1)[: groups * self.axis.native.bins + 1])
        return 0

    def within_bins(self, codes: NDArray[np.int32], values: Any, groups: int) -> NDArray[np.int32]:
        """Return the codes of rows by group and bin, -1 for those of none."""
        bins = self.axis.native.bins
        place = np.zeros(len(codes), np.uint32)
        self.axis.native.place(values, 1, place)
        if groups * bins > MOST:  # of private keys; public ones are refused before the spend
            raise DataError("there are too many keys for so many bins")
        inside = (place < bins) & (codes >= 0) & (codes < groups)
        found: NDArray[np.int32] = np.where(
            inside, codes * np.int32(bins) + place.view(np.int32), np.int32(-1)
        )
        return found

    def answers(
        self, name: str, totals: NDArray[np.uint64], generator: Generator
    ) -> dict[str, NDArray[Any]]:
        counts, noise = totals.view(np.int64), self.noise
        drawn = noise.draw(counts.size, generator).reshape(counts.shape)
        noisy = np.ascontiguousarray((((counts >> noise.shift) + drawn) << noise.shift).T)
        named = zip(self.names(name), noisy, strict=False)
        return {**dict(named), **self.error_bar(name, len(counts))}


@dataclass(frozen=True, slots=True)
class WeightedHistogram(Histogram):
    """Sums of the weights of rows of each group in public bins; one that is NaN is in no bin."""

    weights: str = ""
    limits: tuple[float, float] = (0.0, 1.0)

    @property
    def cells(self) -> Cells:
        return cells(*self.limits)

    @property
    def largest(self) -> int:
        return max(abs(self.cells.first), abs(self.cells.last))

    @property
    def sensitivity(self) -> Sensitivity:
        step, bins = self.step, self.axis.native.bins
        of_one = step.numbers(self.cells.first, self.cells.last)
        moved = step.moves * step.rows, self.largest
        return replace(of_one, l0=of_one.l0 * min(step.rows, bins), moved=moved)

    @property
    def reading(self) -> tuple[Any, ...]:
        return (*Histogram.reading.fget(self), self.weights, self.limits)  # type: ignore[attr-defined]

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.column or "", self.weights)

    def error(self, failure: float) -> float | None:
        return nearest(Fraction(self.within(failure)) * Fraction(self.cells.grid))

    def room(self, groups: int) -> NDArray[np.uint64]:
        return np.zeros((groups + 1, self.axis.native.bins, 2), np.uint64)

    def read(self, columns: Mapping[str, Piece]) -> Any:
        own = numbers(columns[self.weights])
        return Histogram.read(self, columns), clamped(own, self.limits, "raise")

    def add(self, totals: NDArray[np.uint64], codes: NDArray[np.int32], values: Any) -> int:
        own, grid = self.within_bins(codes, values[0], len(totals) - 1), self.cells
        ends = (grid.first, grid.span)
        room = totals.reshape(-1, 2)[: (len(totals) - 1) * self.axis.native.bins + 1]
        _native.add(values[1], own, 1.0 / grid.grid, *ends, -1, room)
        return 0

    def merge(self, room: NDArray[np.uint64], more: NDArray[np.uint64]) -> None:
        Sums.merge(self, room, more)

    def answers(
        self, name: str, totals: NDArray[np.uint64], generator: Generator
    ) -> dict[str, NDArray[Any]]:
        noise, each = self.noise, np.ascontiguousarray(totals.reshape(-1, 2))
        shift, sums = self.shift + noise.shift, np.empty(len(each), np.int64)
        _native.combine(each, 1, self.cells.first, 0, shift, sums)
        sums += noise.draw(len(sums), generator)
        noisy = in_units(np.ldexp(sums + 0.5, shift) if shift else sums, self.cells.grid)
        found = np.ascontiguousarray(noisy.reshape(totals.shape[:2]).T)
        named = zip(self.names(name), found, strict=False)
        return {**dict(named), **self.error_bar(name, len(totals))}
