"""Vectors of block outputs: one joint release, or one release for each coordinate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...noise.additive import amount, several
from ...privacy import ZCDP, Approx, Loss, Pure, float_down
from ...rng import Generator
from . import choose, make
from .attention import VectorAttention
from .mean import VectorMean
from .output_grid import Aggregator, check_coordinates, outputs

#: A smaller rho would hardly allow any smoothing.
_LEAST_RHO = Fraction(1, 2**40)


@dataclass(frozen=True, slots=True)
class Coordinates:
    """A vector aggregator that releases each coordinate alone, with an equal share of the loss.

    Privacy: neighbors differ in one of the `blocks` output vectors, which is replaced. This may
    change every coordinate. By sequential composition the losses of the coordinates add up, and the
    shares (`share`) add up to the loss. A coordinate with equal bounds is known beforehand, and
    gets no share.

    Parameters
    ----------
    name : str
        A name for `make`.
    blocks : int
        The public number of block outputs, at least 1.
    bounds : tuple of pairs of float
        Public bounds of each coordinate.
    loss : Pure, Approx or ZCDP
        The loss that the release may use; afterwards the loss that it does use, without an unused
        delta.
    """

    name: str
    blocks: int
    bounds: tuple[tuple[float, float], ...]
    loss: Loss
    parts: tuple[Aggregator, ...] = field(init=False)

    def __post_init__(self) -> None:
        of_coordinate = share(self.name, self.bounds, self.loss)
        parts = tuple(make(self.name, self.blocks, lo, hi, of_coordinate) for lo, hi in self.bounds)
        part, loss = parts[0].loss, self.loss
        if isinstance(part, Pure):  # pure noise, which would not spend the delta
            loss = several(part, _varying(self.bounds))
        elif isinstance(part, ZCDP) and isinstance(loss, Approx):
            loss = replace(loss, rho=part.rho * _varying(self.bounds))
        checks.assign(self, parts=parts, loss=loss)

    def release(self, z: NDArray[np.float64], generator: Generator) -> NDArray[np.float64]:
        """Return the private coordinates of `z`, shape (blocks, d), within the bounds."""
        columns = np.ascontiguousarray(outputs(z, self.blocks, len(self.parts)).T)
        return np.array(
            [part.release(z, generator) for part, z in zip(self.parts, columns, strict=True)]
        )


def _varying(bounds: Sequence[tuple[float, float]]) -> int:
    """Return the number of coordinates whose bounds differ, at least 1."""
    return max(1, sum(lo != hi for lo, hi in bounds))


def share(name: str, bounds: Sequence[tuple[float, float]], loss: Loss) -> Loss:
    """Return each coordinate's share of the loss, if coordinates are released one by one.

    For d such coordinates it is epsilon / d or rho / d. For (epsilon, delta) it is the better of
    (epsilon / d, delta / d) and rho / d, where rho = (sqrt(ln(1/delta) + epsilon) -
    sqrt(ln(1/delta)))**2. Then rho + 2 sqrt(rho ln(1/delta)) = epsilon. So d releases of rho / d
    are rho-zCDP together, and therefore (epsilon, delta)-DP (Bun and Steinke, TCC 2016, lemma 2.3
    and proposition 1.3). The better share allows a larger epsilon for one release. For rho / d this
    epsilon is sqrt(2 rho / d), or sqrt(8 rho / d) for the exponential mechanism, whose range is
    bounded. Only public numbers decide.
    """
    d = _varying(bounds)
    if isinstance(loss, ZCDP):
        return ZCDP(loss.rho / d)
    if isinstance(loss, Pure):
        return Pure(loss.epsilon / d)
    amount(loss, d)  # raises if delta could not be represented by a float
    rho = _rho_within(loss) / d
    gain = 8 if name == "exponential-median" else 2
    if rho >= _LEAST_RHO and gain * rho > (loss.epsilon / d) ** 2:
        return ZCDP(rho)
    return Approx(loss.epsilon / d, loss.delta / d)


def _rho_within(loss: Approx) -> Fraction:
    """Return a rho, rounded down, such that rho-zCDP implies the (epsilon, delta) of `loss`."""
    epsilon, log = float_down(loss.epsilon), -math.log(float_down(loss.delta))
    root = epsilon / (math.sqrt(log + epsilon) + math.sqrt(log))
    # This covers at most a dozen roundings, each of less than 2**-52.
    return Fraction(root * root * (1.0 - 2.0**-46))


#: A checked mechanism on vectors; `loss` is the loss of one release.
VectorAggregator: TypeAlias = VectorMean | VectorAttention | Coordinates


def make_vector(
    name: str,
    blocks: int,
    bounds: Sequence[tuple[float, float]],
    loss: Loss,
    centres: Any = None,
) -> VectorAggregator:
    """Return the aggregator with this name for vectors of ``len(bounds)`` coordinates.

    The mean, and the center of attention among given candidates, are one joint release. All other
    aggregators make one release for each coordinate (`Coordinates`).
    """
    pairs = tuple(bounds)
    check_coordinates(len(pairs))
    amount(loss, _varying(pairs))
    name = choose(name, blocks, share(name, pairs, loss))
    if centres is not None and name != "attention":
        checks.fail("centres", "left out unless aggregator='attention'", centres)
    if name == "mean":
        return VectorMean(blocks, pairs, loss)
    if centres is not None:
        return VectorAttention(blocks, pairs, centres, loss)
    return Coordinates(name, blocks, pairs, loss)
