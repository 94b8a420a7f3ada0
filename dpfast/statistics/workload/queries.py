"""Linear queries about counts of bins: a matrix of numbers, or the word "prefix" or "ranges"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from ..._core import checks
from ..._core.types import Floats

#: Workloads by name: all prefix sums (the last is the total), or all ranges of neighboring bins.
Word: TypeAlias = Literal["prefix", "ranges"]
#: The largest coefficient must be between these, so that squares and sums are normal float64.
SIZES = 1e-100, 1e100
#: The most bins for which noise is planned.
MOST = 4096


@dataclass(frozen=True, slots=True)
class Queries:
    """Checked queries of `dpfast.workload`: a word, or the numbers of a matrix, row by row."""

    word: str
    numbers: bytes = b""
    bins: int = 0

    @property
    def matrix(self) -> Floats | None:
        """The read-only matrix, one query a row, or None for a word."""
        return np.frombuffer(self.numbers).reshape(-1, self.bins) if self.numbers else None

    def __repr__(self) -> str:
        if self.matrix is None:
            return repr(self.word)
        return "{} queries about {} bins".format(*self.matrix.shape)

    def rows(self, bins: int) -> Floats:
        """Return the queries as a matrix; for "ranges", the prefix sums that ranges are made of."""
        return np.tri(bins) if self.matrix is None else self.matrix

    def gram(self, bins: int) -> Floats:
        """Return the Gram matrix W'W of the queries W, of shape (bins, bins).

        The queries are scaled so that their largest number is 1. Two bins i <= j, counted from 0,
        are both in bins - j prefix sums, and in (i + 1) (bins - j) ranges.
        """
        if self.matrix is not None:
            scaled = self.matrix / np.abs(self.matrix).max()
            return np.asarray(scaled.T @ scaled)
        indices = np.arange(float(bins))
        before = np.minimum.outer(indices, indices) + 1
        after = before[::-1, ::-1]
        return np.asarray(before * after if self.word == "ranges" else after)


def queries_of(value: Any) -> Queries:
    """Return checked queries from a word or a matrix, or raise an error."""
    if isinstance(value, Queries):
        return value
    if isinstance(value, str):
        return Queries(checks.choice("queries", value, get_args(Word)))
    rule = "a matrix of finite numbers, a query in each row, or a word: prefix, ranges"
    matrix = checks.array("queries", value, rule, "biuf")
    if matrix.ndim != 2:
        checks.fail_type("queries", rule, value)
    matrix = matrix.astype(np.float64)
    if not np.isfinite(matrix).all():
        checks.fail("queries", rule, value)
    if not matrix.any():
        checks.fail("queries", "not all 0", value)
    if not SIZES[0] <= (largest := float(np.abs(matrix).max())) <= SIZES[1]:
        rule = "numbers of which the largest absolute value is from {} to {}".format(*SIZES)
        checks.fail("queries", rule, largest)
    return Queries("", matrix.tobytes(), matrix.shape[1])
