"""The arguments that statistics share: one record of them, and their types."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from .. import privacy
from .._core import checks
from .._core.types import Bounds, NanPolicy, Neighbors, NoiseName, Number
from ..budget.budget import Budget
from ..budget.release import relation_of
from ..privacy import Approx, Loss
from ..rng import Generator

Floats: TypeAlias = NDArray[np.float64]


class Keywords(TypedDict, total=False):
    """Keyword arguments of every release of columns, for overloads on `axis`."""

    epsilon: Number | None
    delta: Number
    rho: Number | None
    neighbors: Neighbors | None
    where: Any
    budget: Budget | None
    rng: Generator | None


class NanKeywords(Keywords, total=False):
    """The same with what becomes of missing numbers."""

    nan: NanPolicy


class WeightKeywords(NanKeywords, total=False):
    """The same with a weight for each row."""

    weights: Any
    weight_bounds: Bounds | None


class NoiseKeywords(NanKeywords, total=False):
    """The same with the distribution of noise for a smooth sensitivity."""

    noise: NoiseName


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments of a call: each property checks its part and returns it.

    The neighboring relation is settled when the record is made.
    """

    bounds: Any
    epsilon: Any
    delta: Any
    rho: Any
    neighbors: Any
    axis: Any = None
    noise: Any = "auto"
    method: Any = "auto"
    nan: Any = "raise"
    where: Any = None
    budget: Budget | None = None
    rng: Generator | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbors", relation_of(self.neighbors, self.budget))

    @property
    def interval(self) -> tuple[float, float]:
        """Return the bounds of one column."""
        return checks.bounds(self.bounds)

    @property
    def loss(self) -> Loss:
        """Return the privacy loss that is asked for."""
        return privacy.loss(self.epsilon, self.delta, self.rho)

    @property
    def relation(self) -> str:
        """Return the neighboring relation."""
        return checks.neighbors(self.neighbors)

    @property
    def policy(self) -> str | float:
        """Return what becomes of missing numbers."""
        return checks.nan_policy(self.nan, self.relation)

    @property
    def two_steps(self) -> bool:
        """Tell whether a replaced row may also leave or enter, as it may with `where`."""
        return self.where is not None and self.relation == "replace"

    @property
    def columns(self) -> int | None:
        """Return how many columns the bounds are for; None if one pair stands for all."""
        return said(self.bounds)

    def pairs(self, width: int) -> tuple[tuple[float, float], ...]:
        """Return the bounds of each of some columns."""
        pairs, several = checks.pairs(self.bounds)
        if several and len(pairs) != width:
            rule = f"one pair, or one for each column of the data, {width}"
            checks.fail("bounds", rule, f"{len(pairs)} of them")
        return pairs if several else pairs * width

    def of_columns(self, width: int) -> list[Arguments]:
        """Return the arguments of each column: its bounds, and an equal part of the loss."""
        loss = self.loss
        if isinstance(loss, privacy.ZCDP):
            part = replace(self, rho=loss.rho / width)
        else:
            delta = loss.delta / width if isinstance(loss, Approx) else 0
            part = replace(self, epsilon=loss.epsilon / width, delta=delta)
        return [replace(part, bounds=pair) for pair in self.pairs(width)]


def said(bounds: Any) -> int | None:
    """Return how many columns the bounds are for; None if one pair stands for all."""
    pairs, several = checks.pairs(bounds)
    return len(pairs) if several else None
