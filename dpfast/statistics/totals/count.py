"""Numbers of rows, of one column or of each of several."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..._core.error_bars import NOISE, Expected
from ...noise.box import BoxNoise, box_noise
from ...noise.calibrated_integer import IntegerNoise, integer_noise
from ...noise.sensitivity import Sensitivity
from ...privacy import Loss
from ...rng import Generator
from ...sources.intake import View
from ...summaries.totals import Totals, column_totals, totals


@dataclass(frozen=True, slots=True)
class Count:
    """Number of rows, or of those that `where` keeps; see `dpfast.count`."""

    neighbors: str
    loss: Loss
    present: bool
    masked: bool
    rows: int = field(default=1, kw_only=True)

    name: ClassVar[str] = "count"

    @property
    def sensitivity(self) -> int:
        """Return that of a row: 0 where a row is replaced and nothing of it is looked at."""
        return int(self.neighbors == "add-remove" or self.masked or self.present)

    def reduce(self, source: View) -> int:
        where = source.where
        if not self.present and source.length is not None:
            if where is None:
                return source.length
            if len(where) == source.length:
                return int(np.count_nonzero(where))
        summary = totals(source.source, None, where)
        return summary.rows + (0 if self.present else summary.missing)

    @property
    def noise(self) -> IntegerNoise:
        return integer_noise(self.loss, Sensitivity.of_one(self.rows * self.sensitivity))

    def finish(self, summary: int, generator: Generator) -> int:
        return self.noise.add([summary], generator)[0]

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar, that of the noise."""
        return Expected(confidence, float(self.noise.within(1 - confidence)), note=NOISE)


class _Nonzero:
    """Counts the numbers that are not 0, as cells of which 0 is the first and all else the last."""

    @staticmethod
    def totals(values: NDArray[Any], squares: bool) -> tuple[int, int, int]:
        """Return how many are NaN, how many others are not 0, and 0."""
        nan = int(np.count_nonzero(values != values)) if values.dtype.kind == "f" else 0
        return nan, int(np.count_nonzero(values)) - nan, 0


class Nonzero:
    """Two cells: 0 and everything else."""

    native = _Nonzero


@dataclass(frozen=True, slots=True)
class CountNonzero(Count):
    """Number of rows that are not 0; see `dpfast.count_nonzero`.

    A row that comes or goes, or is replaced by one of another kind, changes it by 1.
    """

    name: ClassVar[str] = "count of what is not 0"

    @property
    def sensitivity(self) -> int:
        return 1

    def reduce(self, source: View) -> int:
        return nonzero(totals(source.source, Nonzero, source.where), self.present)


def nonzero(summary: Totals, present: bool) -> int:
    """Return how many rows are not 0; a missing one is not, unless only those `present` count."""
    return summary.sum + (0 if present else summary.missing)


@dataclass(frozen=True, slots=True)
class EachCount:
    """Number of rows, or of those that have a number, in each column; see `dpfast.count`."""

    neighbors: str
    loss: Loss
    present: bool
    masked: bool
    width: int
    rows: int = field(default=1, kw_only=True)

    name: ClassVar[str] = "count of each column"

    @property
    def apart(self) -> bool:
        """Tell whether columns have counts of their own: without a look at numbers they do not."""
        return self.present

    def reduce(self, source: View) -> list[int]:
        if not self.present and source.where is None and source.length is not None:
            return [source.length]
        summaries = column_totals(source.source, [None] * self.width, source.where)
        if self.present:
            return [summary.rows for summary in summaries]
        return [summaries[0].rows + summaries[0].missing]

    @property
    def noise(self) -> BoxNoise | IntegerNoise:
        """Return the noise of all counts, or of the one that there is."""
        if self.apart:
            return box_noise(self.loss, [self.rows] * self.width)
        private = int(self.neighbors == "add-remove" or self.masked)
        return integer_noise(self.loss, Sensitivity.of_one(self.rows * private))

    @property
    def deviations(self) -> float | list[float]:
        """Return the standard deviation of the noise of each count."""
        noise = self.noise
        return noise.deviations if isinstance(noise, BoxNoise) else noise.deviation

    def charged(self) -> Self:
        """Return the mechanism with the loss that it is charged for; see `_Each.charged`."""
        counts = self.width if self.apart else 1
        return replace(self, loss=box_noise(self.loss, [self.rows] * counts).loss)

    def finish(self, summary: list[int], generator: Generator) -> NDArray[np.int64]:
        noisy = self.noise.add(summary, generator)
        return np.array(noisy if self.apart else noisy * self.width, np.int64)

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of each, that of the noise."""
        noise = self.noise
        size = noise.within(1 - confidence) * (self.rows if isinstance(noise, BoxNoise) else 1)
        return Expected(confidence, float(math.ceil(size)), note=NOISE)


@dataclass(frozen=True, slots=True)
class EachCountNonzero(EachCount):
    """Number of rows that are not 0 in each column; see `dpfast.count_nonzero`."""

    name: ClassVar[str] = "count of what is not 0 in each column"

    @property
    def apart(self) -> bool:
        return True

    def reduce(self, source: View) -> list[int]:
        summaries = column_totals(source.source, [Nonzero] * self.width, source.where)
        return [nonzero(summary, self.present) for summary in summaries]
