"""Counts of rows by group and bin: the histogram of each group, in one vector of counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import groups as _native
from ..errors import DataError
from ..noise.sensitivity import Sensitivity
from ..rng import Generator
from ..sources.batches import Piece
from ..sources.words import words_column
from ..statistics.histogram import Bins
from .answer import labels
from .keys import MOST
from .of_times import read
from .sums import Count


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
        bins, groups = self.axis.native.bins, len(totals) - 1
        place = np.zeros(len(codes), np.uint32)
        self.axis.native.place(values, 1, place)
        if groups * bins > MOST:  # of private keys; public ones are refused before the spend
            raise DataError("there are too many keys for so many bins")
        inside = (place < bins) & (codes >= 0) & (codes < groups)
        both = np.where(inside, codes * np.int32(bins) + place.view(np.int32), np.int32(-1))
        _native.count(both, totals.reshape(-1)[: groups * bins + 1])
        return 0

    def answers(
        self, name: str, totals: NDArray[np.uint64], generator: Generator
    ) -> dict[str, NDArray[Any]]:
        counts, noise = totals.view(np.int64), self.noise
        drawn = noise.draw(counts.size, generator).reshape(counts.shape)
        noisy = np.ascontiguousarray((((counts >> noise.shift) + drawn) << noise.shift).T)
        named = zip(self.names(name), noisy, strict=False)
        return {**dict(named), **self.error_bar(name, len(counts))}
