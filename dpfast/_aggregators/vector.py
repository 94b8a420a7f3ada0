"""Vectors of block outputs: one joint release, or one release for each coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..privacy import ZCDP, Approx, Loss, Pure
from ..rng import Generator
from . import Aggregator, make

__all__ = ["Coordinates", "VectorAggregator", "make_vector"]


class VectorAggregator(Protocol):
    """A checked mechanism on vectors; `loss` is what its one release costs."""

    @property
    def loss(self) -> Loss: ...
    def release(self, z: NDArray[np.float64], generator: Generator) -> NDArray[np.float64]: ...


@dataclass(frozen=True, slots=True)
class Coordinates:
    """One release a coordinate, each with an equal share of the loss (sequential composition)."""

    parts: tuple[Aggregator, ...]
    loss: Loss

    def release(self, z: NDArray[np.float64], generator: Generator) -> NDArray[np.float64]:
        """The private coordinates of ``z``, shape (blocks, d)."""
        return np.array(
            [
                part.release(np.ascontiguousarray(z[:, i]), generator)
                for i, part in enumerate(self.parts)
            ]
        )


def _share(loss: Loss, d: int) -> Loss:
    if isinstance(loss, ZCDP):
        return ZCDP(loss.rho / d)
    if isinstance(loss, Approx):
        return Approx(loss.epsilon / d, loss.delta / d)
    return Pure(loss.epsilon / d)


def make_vector(
    name: str,
    blocks: int,
    bounds: Sequence[tuple[float, float]],
    loss: Loss,
    centres: Any = None,
) -> VectorAggregator:
    """The aggregator of a name for vectors of ``len(bounds)`` coordinates."""
    if centres is not None:
        _check.fail("centres", "left out", centres)
    share = _share(loss, len(bounds))
    parts = tuple(make(name, blocks, lo, hi, share) for lo, hi in bounds)
    return Coordinates(parts, loss)
