"""Rows made up from a public distribution: what is done with an answer costs nothing."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .queries import MOST_ROWS, Universe


def whole(distribution: NDArray[np.float64], rows: int) -> NDArray[np.int64]:
    """Counts that add up to `rows` and are as near to a distribution as whole numbers can be.

    Rounded down, and those with the largest remainders up instead (the first of equal ones), until
    the sum is right.
    """
    shares = distribution * rows
    counts = np.floor(shares).astype(np.int64)
    missing = rows - int(counts.sum())  # less than the universe; less than 0 by rounding alone
    order = np.argsort(counts - shares, kind="stable")
    if missing < 0:
        order = order[counts[order] > 0][::-1]
    counts[order[: abs(missing)]] += 1 if missing > 0 else -1
    return counts


class Synthetic:
    """What has a public distribution over a universe."""

    _universe: Universe
    _rows: int

    @property
    @abstractmethod
    def distribution(self) -> NDArray[np.float64]:
        """Public probabilities of the elements."""

    def synthetic(self, rows: int | None = None) -> NDArray[Any]:
        """Rows that are distributed as nearly as can be like the distribution.

        Privacy
        -------
        They are made of the distribution alone, without chance, so they cost nothing and may be
        shown to anybody.

        Parameters
        ----------
        rows : int, optional
            How many; by default as many as the data have.

        Returns
        -------
        ndarray, shape (rows,)
            Elements of the universe in its order; their numbers 0 .. N - 1 if they have no names.
            A mean over them of a number between 0 and 1 differs from that under the distribution
            by at most ``N / (4 * rows)``.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If `rows` is no positive integer.
        """
        count = self._rows if rows is None else checks.whole("rows", rows, 1)
        if count >= MOST_ROWS:
            checks.fail("rows", "fewer than 2**36", rows)
        universe, distribution = self._universe, self.distribution
        elements = np.arange(universe.size) if universe.elements is None else universe.elements
        return np.repeat(elements, whole(distribution, count))
