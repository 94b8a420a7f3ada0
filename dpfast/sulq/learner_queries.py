"""The functions of labeled rows that the learners of `query_learners` ask an oracle about.

A row is (x, c(x)): the label is one of its columns, and says yes where it is greater than 0.
Every step is one operation on each number, column by column, so no value depends on the
place of a row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import Bounds, Number
from .row_functions import Columns, Function, Piece, shortened, told

Numbers = NDArray[np.float64]


class Oracle(Protocol):
    """Anything that answers statistical queries within a tolerance: private, exact, or other."""

    @property
    def remaining(self) -> int: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def columns(self) -> tuple[Any, ...]: ...
    @overload
    def ask(self, f: Any, *, bounds: Bounds) -> float: ...
    @overload
    def ask(self, f: Any, *, l2: Number) -> Numbers: ...
    def batch(self, terms: Sequence[Any]) -> list[Any]: ...


def split_columns(oracle: Oracle, label: Any) -> tuple[tuple[Any, ...], Any]:
    """Return the columns of x, and that of the label, which is the last one if it is not named."""
    if not all(hasattr(oracle, name) for name in ("columns", "remaining", "tolerance", "batch")):
        checks.fail_kind("oracle", "an oracle that answers statistical queries", oracle)
    columns = oracle.columns
    if label is None:
        label = columns[-1]
    named = isinstance(label, str) or checks.is_whole(label)
    if not named or label not in columns:
        checks.fail("label", "one of the columns " + ", ".join(map(repr, columns[:20])), label)
    features = tuple(column for column in columns if column != label)
    if not features:
        checks.fail("data", "rows with at least one column beside the label", columns)
    return features, label


def tolerance_for(oracle: Oracle, queries: int) -> float:
    """Return the tolerance of an oracle, which must have so many questions left."""
    if oracle.remaining < queries:
        checks.fail("oracle", f"one with {queries} questions left", oracle)
    return oracle.tolerance


def lifted(x: Numbers, radius: float, intercept: bool) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return x cut to the radius and divided by it, and which rows had a NaN; see `Halfspace`."""
    z, absent = shortened(x, radius)
    z /= radius
    if intercept:
        z = np.concatenate([z, np.ones((len(z), 1))], axis=1) * math.sqrt(0.5)
    return z, absent


@dataclass(frozen=True, slots=True)
class Broken(Function):
    """1 where the label says yes, and a literal (a column, and whether it must be > 0) is false."""

    literal: tuple[Any, bool]
    label: Any
    size: int = 1

    @property
    def columns(self) -> Columns:
        return frozenset([self.literal[0], self.label])

    def values(self, piece: Piece) -> NDArray[Any]:
        column, wanted = self.literal
        x, y = piece.column(column), piece.column(self.label)
        return told((x <= 0 if wanted else x > 0) & (y > 0), (x, y))


@dataclass(frozen=True, slots=True)
class Wrong(Function):
    """1 where a hypothesis disagrees with the label."""

    hypothesis: Hypothesis
    label: Any
    size: int = 1

    @property
    def columns(self) -> Columns:
        return frozenset([*self.hypothesis.features, self.label])

    def values(self, piece: Piece) -> NDArray[Any]:
        y = piece.column(self.label)
        columns = [piece.column(column) for column in self.hypothesis.features]
        return told(self.hypothesis.of(columns) != (y > 0), (y, *columns))


class Hypothesis(Protocol):
    """A rule that says yes or no of a row."""

    @property
    def features(self) -> tuple[Any, ...]: ...

    def of(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.bool_]: ...


@dataclass(frozen=True, slots=True)
class Pull(Function):
    """y z for rows with y <w, z> below a margin, and 0 for others: no longer than 1.

    It is the negative gradient of the hinge loss, times the margin.
    """

    weights: tuple[float, ...]
    margin: float
    features: tuple[Any, ...]
    label: Any
    radius: float
    intercept: bool

    @property
    def size(self) -> int:
        return len(self.weights)

    @property
    def columns(self) -> Columns:
        return frozenset([*self.features, self.label])

    def values(self, piece: Piece) -> Numbers:
        y = piece.column(self.label)
        columns = [piece.column(column) for column in self.features]
        z, absent = lifted(np.array(columns, np.float64).T, self.radius, self.intercept)
        sign = np.where(y > 0, 1.0, -1.0)
        near = sign * product(z, self.weights) < self.margin
        z *= (sign * near)[:, None]
        z[absent] = np.nan
        if y.dtype.kind == "f":
            z[np.isnan(y)] = np.nan
        return z


def product(z: Numbers, weights: Sequence[float]) -> Numbers:
    """Return <w, z> for each row, one column after the other."""
    products = np.zeros(len(z))
    for column, weight in zip(z.T, weights, strict=True):
        products += column * weight
    return products
