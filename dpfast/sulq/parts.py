"""Parts of a round of noisy sums: vectors, matrices and boxes of integers, with their noise.

A part states how far its integers may differ between neighbors, and which noise is enough in one of
several rounds. `rounds` has the proofs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from ..measurement.choice import Moves, least_noise
from ..noise.additive import amount
from ..noise.box import BoxNoise
from ..noise.calibrated_integer import IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..noise.wishart import MatrixNoise, matrix_noise
from ..privacy import ZCDP, Approx, Loss, Pure
from ..rng import Generator

#: The noise of some integers of a round.
Noise: TypeAlias = "IntegerNoise | MatrixNoise | BoxesNoise"
#: Some integers of a round, and by how much one row can change them.
Some: TypeAlias = "Part | Matrix | Boxes"
#: All rounds use the same noise distribution, because losses of different distributions have no
#: exact sum.
_DISTRIBUTIONS: dict[type[Any], str] = {
    Pure: "laplace",
    Approx: "rounded-gaussian",
    ZCDP: "gaussian",
}


@dataclass(frozen=True, slots=True)
class Part:
    """Integers of a round that get noise of the same scale, with their sensitivity.

    Parameters
    ----------
    size : int
        The number of integers.
    l1, l2_squared, l0 : int
        The sensitivity: the largest L1 norm of a change between neighbors, the largest squared L2
        norm, and how many integers may change at once.
    share : Fraction
        The share of the round, if parts have different shares.
    sizes : tuple of int, optional
        The largest change of each integer. With these, noise for a box of changes is used if it is
        less.
    """

    size: int
    l1: int
    l2_squared: int
    l0: int
    share: Fraction = Fraction(1)
    sizes: tuple[int, ...] = ()

    def of_rows(self, times: int, rows: int) -> Part:
        """Return this part with its sensitivity to `rows` rows of weight up to `times`."""
        most = times * rows
        l1, l2_squared, l0 = most * self.l1, most**2 * self.l2_squared, rows * self.l0
        sizes = tuple(most * size for size in self.sizes)
        return replace(self, l1=l1, l2_squared=l2_squared, l0=l0, sizes=sizes)

    @classmethod
    def of_counts(cls, size: int, tables: int, neighbors: str) -> Part:
        """Return the part for `size` cells of several tables; a row is in one cell of each."""
        changed = tables * (2 if neighbors == "replace" else 1)
        return cls(size, changed, changed, changed)

    def noise(self, loss: Loss, rounds: int | Fraction) -> IntegerNoise:
        """Return the noise of this part in one of `rounds` rounds, from public numbers."""
        times, share = rounds * self.share.denominator, self.share.numerator
        sizes = (self.l0, self.l1, self.l2_squared)
        l0, l1, l2_squared = (-(-times * x // share) for x in sizes)  # division that rounds up
        return integer_noise(loss, Sensitivity(l0, l1, l2_squared), _DISTRIBUTIONS[type(loss)])


@dataclass(frozen=True, slots=True)
class Matrix:
    """The matrix of products of some columns, squares first, with noise for its nuclear norm.

    Parameters
    ----------
    width : int
        The number of columns.
    trace : int
        The largest nuclear norm of a change between neighbors.
    public_squares : int
        How many of the first squares do not change.
    share : Fraction
        As in `Part`.
    """

    width: int
    trace: int
    public_squares: int = 0
    share: Fraction = Fraction(1)

    @property
    def size(self) -> int:
        """The number of integers."""
        return self.width * (self.width + 1) // 2

    def of_rows(self, times: int, rows: int) -> Matrix:
        """Return this matrix with the sensitivity to `rows` rows of weight up to `times`."""
        return replace(self, trace=times * rows * self.trace)

    def noise(self, loss: Loss, rounds: int | Fraction) -> MatrixNoise:
        """Return the noise of this matrix in one of `rounds` rounds, from public numbers."""
        assert isinstance(loss, Pure) or (isinstance(loss, Approx) and rounds == 1)
        # The noise is for a part of the loss instead of a larger trace, because it also has to
        # cover rounding.
        part = Pure(loss.epsilon * self.share / rounds)
        return matrix_noise(part, self.width, self.trace, self.public_squares)


@dataclass(frozen=True, slots=True)
class BoxesNoise:
    """Independent noise for each of `many` vectors; entry i of vector j is at i * `many` + j."""

    noise: BoxNoise
    many: int

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of the first entry of a vector."""
        return self.noise.deviations[0]

    def add(self, values: Sequence[int], generator: Generator) -> list[int]:
        """Return the entries of all vectors with noise."""
        vectors = [self.noise.add(values[j :: self.many], generator) for j in range(self.many)]
        return [value for alike in zip(*vectors, strict=True) for value in alike]


@dataclass(frozen=True, slots=True)
class Boxes:
    """Vectors of integers with joint noise for pure epsilon. A row changes a few vectors.

    Parameters
    ----------
    moves : Moves
        The possible changes of a vector in one step.
    many : int
        The number of vectors. The first numbers of all vectors come first.
    steps : int
        The number of steps between two neighbors. Each step changes one vector.
    share : Fraction
        As in `Part`.
    """

    moves: Moves
    many: int = 1
    steps: int = 1
    share: Fraction = Fraction(1)

    @property
    def size(self) -> int:
        """The number of integers."""
        return self.many * len(self.moves.sizes)

    def of_rows(self, times: int, rows: int) -> Boxes:
        """Return these vectors with the sensitivity to `rows` rows of weight up to `times`."""
        sizes = tuple(times * size for size in self.moves.sizes)
        return replace(self, moves=replace(self.moves, sizes=sizes), steps=rows * self.steps)

    def noise(self, loss: Loss, rounds: int | Fraction) -> BoxesNoise:
        """Return the noise of these vectors in one of `rounds` rounds, from public numbers."""
        assert isinstance(loss, Pure)
        step_loss = Pure(loss.epsilon * self.share / (rounds * self.steps))
        return BoxesNoise(choose_noise(step_loss, self.moves), self.many)


@lru_cache(maxsize=256)
def choose_noise(loss: Loss, moves: Moves) -> BoxNoise:
    """Return the box noise with the least error for these moves, within the loss."""
    least = least_noise(loss, moves)
    assert least is not None, "each loss has noise for the sums of one row"
    noise: BoxNoise = least.noise()
    assert isinstance(noise.loss, Pure) and noise.loss.epsilon <= amount(loss)
    return noise
