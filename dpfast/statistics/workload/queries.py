"""Linear queries about the counts of bins: a matrix of numbers, or a word for many of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..._core import checks

Floats = NDArray[np.float64]
#: All prefix sums, the last of which is the total, and all ranges of neighboring bins.
Word: TypeAlias = Literal["prefix", "ranges"]
#: The least and the largest size of the largest number, so that squares and sums are float64.
SIZES = 1e-100, 1e100
#: The most bins that noise is planned for.
MOST = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Queries as `dpfast.workload` takes them, one a row of the matrix, if that is given."""

    word: str
    matrix: Floats | None = None
    hashed: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        if self.matrix is not None:
            self.matrix.flags.writeable = False
            object.__setattr__(self, "hashed", crc32(self.matrix.tobytes()))

    def __repr__(self) -> str:
        if self.matrix is None:
            return repr(self.word)
        return "{} queries about {} bins".format(*self.matrix.shape)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Queries) or (self.word, self.hashed) != (other.word, other.hashed):
            return False
        return self.word != "" or np.array_equal(self.rows(0), other.rows(0))

    def __hash__(self) -> int:
        return hash((self.word, self.hashed))

    def rows(self, bins: int) -> Floats:
        """Return the queries as a matrix, of all ranges the prefix sums that they are made of."""
        return np.tri(bins) if self.matrix is None else self.matrix

    def gram(self, bins: int) -> Floats:
        """Return the sum of the products of what a query has of each two bins.

        It is in units that make the largest number of a query 1. Of two bins i <= j, counted from
        0, bins - j prefix sums have both, and (i + 1) (bins - j) ranges.
        """
        if self.matrix is not None:
            scaled = self.matrix / np.abs(self.matrix).max()
            return np.asarray(scaled.T @ scaled)
        places = np.arange(float(bins))
        before = np.minimum.outer(places, places) + 1
        after = before[::-1, ::-1]
        return np.asarray(before * after if self.word == "ranges" else after)


def queries_of(value: Any) -> Queries:
    """Return queries that are checked."""
    if isinstance(value, Queries):
        return value
    if isinstance(value, str):
        return Queries(checks.choice("queries", value, get_args(Word)))
    rule = "a matrix of finite numbers, a query in each row, or a word: prefix, ranges"
    try:
        matrix = np.array(value)
    except Exception:  # rows of different lengths, or whatever an object thinks of being an array
        checks.fail_type("queries", rule, value)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        checks.fail_type("queries", rule, value)
    matrix = matrix.astype(np.float64)
    if not np.isfinite(matrix).all():
        checks.fail("queries", rule, value)
    if not matrix.any():
        checks.fail("queries", "not all 0", value)
    if not SIZES[0] <= (largest := float(np.abs(matrix).max())) <= SIZES[1]:
        rule = "numbers of which the largest is from {} to {} in size".format(*SIZES)
        checks.fail("queries", rule, largest)
    return Queries("", matrix)
