"""Types that overloads on `axis` share: of keyword arguments, and of answers."""

from __future__ import annotations

from typing import Any, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from .._core.types import Bounds, NanPolicy, Neighbors, NoiseName, Number
from ..budget.budget import Budget
from ..rng import Generator

Floats: TypeAlias = NDArray[np.float64]


class Keywords(TypedDict, total=False):
    """Keyword arguments of every release of columns."""

    epsilon: Number | None
    delta: Number
    rho: Number | None
    neighbors: Neighbors | None
    where: Any
    ids: Any
    max_rows: int | None
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
