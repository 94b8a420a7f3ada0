"""Numbers of rows, of one column or of each of several."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..._core.error_bars import NOISE, Expected
from ...budget.mechanism import Mechanism
from ...measurement.choice import Moves, choose_noise
from ...noise.box import BoxNoise
from ...noise.calibrated_integer import WORTH, IntegerNoise, integer_noise
from ...noise.choice import below
from ...noise.sensitivity import Sensitivity
from ...privacy import Loss
from ...rng import Generator
from ...sources.intake import View
from ...summaries.totals import Totals, column_totals, totals

HALF = Fraction(1, 2)
#: The variance of what rounding of a half adds, where every other number is one.
ROUNDING = 1 / 8


@dataclass(frozen=True, slots=True)
class Count(Mechanism[int]):
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
    def integer_noise(self) -> IntegerNoise:
        return self.noise

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
class EachCount(Mechanism[NDArray[np.int64]]):
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
            return self.released(summaries, [summary.rows for summary in summaries])
        return [summaries[0].rows + summaries[0].missing]

    def released(self, summaries: list[Totals], counts: list[int]) -> list[int]:
        """Return the integers that get noise: counts, or the number of rows and 2 q - n of each."""
        if not self.is_centered:
            return counts
        n = summaries[0].rows + summaries[0].missing
        return [n, *(2 * count - n for count in counts)]

    @property
    def joint(self) -> tuple[BoxNoise, bool]:
        """The noise of counts that each column has for itself, and whether they are centered."""
        return noise_of_counts(self.loss, self.width, self.rows, self.neighbors == "add-remove")

    @property
    def is_centered(self) -> bool:
        """Tell whether the number of rows gets noise, and what counts are away from half of it."""
        return self.apart and self.joint[1]

    @property
    def noise(self) -> BoxNoise | IntegerNoise:
        """Return the noise of all counts, or of the one that there is."""
        if self.apart:
            return self.joint[0]
        private = int(self.neighbors == "add-remove" or self.masked)
        return integer_noise(self.loss, Sensitivity.of_one(self.rows * private))

    @property
    def integer_noise(self) -> BoxNoise | IntegerNoise:
        return self.noise

    @property
    def noise_parameters(self) -> dict[str, Any]:
        return {"noise": self.noise.distribution, "deviation": self.deviations}

    @property
    def deviations(self) -> float | list[float]:
        """Return the standard deviation of the noise of each count."""
        noise = self.noise
        if isinstance(noise, IntegerNoise):
            return noise.deviation
        first, *others = noise.deviations
        if not self.is_centered:
            return [first, *others]
        return [math.sqrt((first**2 + other**2) / 4 + ROUNDING) for other in others]

    def charged(self) -> Self:
        """Return the mechanism with the loss that it is charged for."""
        noise = self.joint[0] if self.apart else noise_of_counts(self.loss, 1, self.rows, False)[0]
        return replace(self, loss=noise.loss)

    def finish(self, summary: list[int], generator: Generator) -> NDArray[np.int64]:
        noisy = self.noise.add(summary, generator)
        if self.is_centered:
            rows, *away = noisy
            noisy = [half_of(rows + noise, generator) for noise in away]
        return np.array(noisy if self.apart else noisy * self.width, np.int64)

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of each, that of the noise."""
        noise, failure = self.noise, 1 - confidence
        if isinstance(noise, BoxNoise) and self.is_centered:
            size = noise.sum_within(failure, {0: HALF, 1: HALF})
            return Expected(confidence, float(math.floor(size + HALF)), note=NOISE)
        size = noise.within(failure) * Fraction(self.rows if isinstance(noise, BoxNoise) else 1)
        return Expected(confidence, float(math.ceil(size)), note=NOISE)


@lru_cache(maxsize=256)
def noise_of_counts(loss: Loss, width: int, rows: int, comes: bool) -> tuple[BoxNoise, bool]:
    """Return the noise of counts of columns, and whether they are centered by the number of rows.

    A row adds 0 or 1 to each, so where it `comes` or goes, 2 q_i - n and n differ by 1. A count is
    half of their sum, and a half is rounded up or down alike.
    """
    error, make = choose_noise(loss, Moves((rows,) * width))
    if comes and width > 1:
        weights = (width / 4,) + (1 / 4,) * width
        centered = choose_noise(loss, Moves((rows,) * (width + 1), weights, 1))
        rounding = math.sqrt(width * ROUNDING) / rows
        if math.hypot(centered.error, rounding) < WORTH * error:
            return centered.noise(), True
    return make(), False


def half_of(number: int, generator: Generator) -> int:
    """Return half of a whole number, rounded up or down alike."""
    return number // 2 + (below(2, generator.stream()) if number % 2 else 0)


@dataclass(frozen=True, slots=True)
class EachCountNonzero(EachCount):
    """Number of rows that are not 0 in each column; see `dpfast.count_nonzero`."""

    name: ClassVar[str] = "count of what is not 0 in each column"

    @property
    def apart(self) -> bool:
        return True

    def reduce(self, source: View) -> list[int]:
        summaries = column_totals(source.source, [Nonzero] * self.width, source.where)
        counts = [nonzero(summary, self.present) for summary in summaries]
        return self.released(summaries, counts)
