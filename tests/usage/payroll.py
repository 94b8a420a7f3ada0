"""Another package: a statistic, and a family of noise, by public names of dpfast."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import dpfast as dp
from dpfast.extend import Basis, Feature


@dataclass(frozen=True, kw_only=True)
class Excess(dp.extend.Linear):
    """The sum over clamped rows of what each is above a target; below it that is negative.

    A row adds its cell less that of the target. That is what it changes the sum by when it comes or
    goes, and the noise is for the largest size of it within the bounds.
    """

    target: float

    name: ClassVar[str] = "excess"
    needs_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "target", dp.extend.checks.number("target", self.target))

    def forms(self, column: Any, is_public: bool) -> list[Basis]:
        shift = column.cells.first - round(Fraction(self.target) / column.unit)
        low, high = shift, shift + column.span
        if column.misses:  # a row that counts for nothing adds 0
            low, high = min(low, 0), max(high, 0)
        return [Basis((Feature((1, shift, 0), low, high),), (Fraction(1),), (Fraction(1),))]

    def answer(self, column: Any, form: Basis, sums: Sequence[Any], rows: int | None) -> Any:
        return column.total(form, sums)

    def bar(self, column: Any, noise: Any, rows: Any, is_public: bool) -> Any:
        return column.scaled(noise.total(noise.basis.estimate))


@dataclass(frozen=True)
class UniformNoise:
    """Each sum gets an integer of -m .. m, all alike.

    Uniform integers and those moved by d are apart by d / (2 m + 1) in total variation, sums of k
    together by no more than the sum of that. With (2 m + 1) delta >= k d it is at most delta, and
    the release (0, delta)-private, so it is (epsilon, delta)-private for any epsilon (Geng and
    Viswanath, "Optimal noise adding mechanisms for approximate differential privacy", 2016).
    """

    loss: dp.privacy.Approx
    reach: tuple[int, ...]
    distribution: str = "uniform"

    @property
    def deviations(self) -> list[float]:
        return [math.sqrt(((2 * m + 1) ** 2 - 1) / 12) for m in self.reach]

    def add(self, values: Sequence[int], generator: dp.rng.Generator) -> list[int]:
        return [
            value + draw(2 * m + 1, generator) - m
            for value, m in zip(values, self.reach, strict=True)
        ]

    def sum_half_width(self, failure: float, factors: Mapping[int, Fraction]) -> Fraction:
        return sum((abs(factor) * self.reach[i] for i, factor in factors.items()), Fraction(0))


def draw(size: int, generator: dp.rng.Generator) -> int:
    """Return a number of 0 .. size - 1, all alike: bits are thrown away until one is in range."""
    while True:
        number = generator.random_raw() & ((1 << (size - 1).bit_length()) - 1)
        if number < size:
            return number


def uniform(
    loss: dp.privacy.Loss, size: Fraction, moves: dp.extend.Moves
) -> Iterator[dp.extend.NoiseCandidate]:
    """Yield uniform noise for a loss with a delta, of which each sum that moves has a part."""
    if not isinstance(loss, dp.privacy.Approx) or not moves.moving:
        return
    most = len(moves.moving) / loss.delta
    reach = tuple(math.ceil((most * size - 1) / 2) if size else 0 for size in moves.sizes)
    if max(reach) >= 1 << 60:  # more than the bits of one word
        return
    noise = UniformNoise(loss, reach)
    each = zip(noise.deviations, moves.sizes, strict=True)
    squares = [(deviation / size) ** 2 if size else 0.0 for deviation, size in each]
    error = math.sqrt(sum(moves.weight(i) * squares[i] for i in moves.moving))
    yield dp.extend.NoiseCandidate(error, lambda: noise)
