"""Range counts, cumulative shares and quantiles, from noisy counts of bins in order.

They are post-processing of the noisy counts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import Floats, Number
from ..measurement.columns_by_name import Answer
from ..noise.calibrated_integer import IntegerNoise

#: A notebook shows this many counts, the first ones.
SHOWN = 20


class RangeCounts(ABC):
    """Base of answers whose noisy counts of bins have small errors when they are added up."""

    __slots__ = ()

    counts: Floats
    edges: NDArray[Any]
    noise: IntegerNoise
    unit: float

    @abstractmethod
    def _factors(self, first: float, stop: float) -> Floats:
        """Return the weight of each noise in the estimate of the bins from `first` to `stop`."""

    def _require_one_column(self) -> None:
        if self.counts.ndim > 1:
            checks.fail("counts", "of one column, to have ranges", f"{self.counts.ndim} columns")

    @property
    def total(self) -> float:
        """The estimate of the number of rows in all bins."""
        return float(self.counts.sum())

    @property
    def cumulative(self) -> Floats:
        """The noisy number of rows below each edge, which ascends from 0.

        The sums of noisy counts may descend. So the result is the mean of two ascending sequences:
        the least sequence that is nowhere below the sums, and the largest that is nowhere above
        them. Its largest error is at most the largest error of the sums.
        """
        self._require_one_column()
        sums = np.concatenate([np.zeros(1), np.cumsum(self.counts)])
        upper, lower = np.maximum.accumulate(sums), np.minimum.accumulate(sums[::-1])[::-1]
        return np.maximum((upper + lower) / 2, 0.0)

    def range(self, lo: Any, hi: Any) -> float:
        """Return the private number of rows from `lo` to below `hi`.

        Parameters
        ----------
        lo, hi : float, or a time or category as the edges are
            If the edges are categories, all from `lo` to `hi` count, both included. Beyond the
            edges there are no rows. A range that ends within a bin takes a share of the bin, as if
            the bin's rows were evenly spread.

        Returns
        -------
        float
            An estimate. It is unbiased if the range divides no bin.
        """
        first, stop = self._ends_of(lo, hi)
        sums = np.concatenate([np.zeros(1), np.cumsum(self.counts)])
        below = np.interp([first, stop], np.arange(len(sums)), sums)
        return float(below[1] - below[0])

    def half_width(self, lo: Any, hi: Any, confidence: float = 0.95) -> float:
        """Return the half-width of the error bar of `range`.

        Parameters
        ----------
        lo, hi : float, or a time or category as the edges are
        confidence : float, default 0.95

        Returns
        -------
        float
            A bound on the error that the noise causes. It depends on public numbers alone.
        """
        share = checks.share("confidence", confidence)
        factors = self._factors(*self._ends_of(lo, hi))
        return self.unit * self.noise.weighted_half_width(factors, 1 - share)

    def cdf(self, x: Any) -> float:
        """Return the private share of rows below `x`, or in categories up to and including `x`.

        The share ascends from 0 to 1. If no rows are estimated, all bins count as equally full.

        Parameters
        ----------
        x : float, or a time or category as the edges are

        Returns
        -------
        float
        """
        offset = self._ends_of(x, x)[1]
        sums = self.cumulative
        if not sums[-1] > 0:
            return offset / len(self.counts)
        return min(float(np.interp(offset, np.arange(len(sums)), sums) / sums[-1]), 1.0)

    def table(self, confidence: float = 0.95) -> Answer:
        """Return a table of the counts and their cumulative shares, each with its error bar.

        Parameters
        ----------
        confidence : float, default 0.95

        Returns
        -------
        Answer
            The columns are ``from`` and ``to``, or ``category``; ``count``; ``share``, the share of
            the rows of all bins that are in this bin or an earlier bin; and the error bars of both.
            A share is a quotient of two sums. Its error bar holds if the error bars of both sums
            hold, and each of these may fail with half of the failure probability.

        Examples
        --------
        >>> import numpy as np, dpfast as dp
        >>> ages = np.repeat(np.arange(18, 91), 400)
        >>> tree = dp.tree_histogram(ages, bins=4, bounds=(0, 120), epsilon=1.0)
        >>> list(tree.table()), tree.table()["share"].round(1).tolist()
        (['from', 'to', 'count', 'count error', 'share', 'share error'], [0.2, 0.6, 1.0, 1.0])
        """
        self._require_one_column()
        share, bins = checks.share("confidence", confidence), len(self.counts)
        sums, ends = self.cumulative[1:], range(1, bins + 1)

        def bars(first: int, stop: int, failure: float) -> float:
            factors = self._factors(float(first), float(stop))
            return self.unit * self.noise.weighted_half_width(factors, failure)

        of_sums = np.array([bars(0, stop, (1 - share) / 2) for stop in ends])
        total, least = max(sums[-1], 1e-300), sums[-1] - of_sums[-1]
        shares = np.minimum(sums / total, 1.0)
        off = (sums + of_sums) / least - shares if least > 0 else np.ones(bins)
        edges = self.edges
        labels = {"category": edges} if self._is_listed else {"from": edges[:-1], "to": edges[1:]}
        return Answer(
            {
                **labels,
                "count": self.counts,
                "count error": np.array([bars(stop - 1, stop, 1 - share) for stop in ends]),
                "share": shares,
                "share error": np.minimum(off, 1.0),
            }
        )

    def quantile(self, q: Number) -> Any:
        """Return the least number, or the first category, at which `cdf` reaches a share.

        Parameters
        ----------
        q : float or Fraction
            The quantile, 0 to 1.

        Returns
        -------
        float, time or category
            In the type of the edges.
        """
        share = float(checks.quantile(q))
        sums = self.cumulative
        if not sums[-1] > 0:
            sums = np.arange(len(sums), dtype=np.float64)
        target = share * sums[-1]
        i = min(max(int(np.searchsorted(sums, target)) - 1, 0), len(self.counts) - 1)
        if self._is_listed:
            return self.edges[i]
        lo, hi, inside = self.edges[i], self.edges[i + 1], sums[i + 1] - sums[i]
        part = min(max((target - sums[i]) / inside, 0.0), 1.0) if inside > 0 else 0.0
        number = lo + part * (hi - lo)
        return float(number) if isinstance(lo, float) else number

    @property
    def _is_listed(self) -> bool:
        """Whether `edges` are categories and not the edges of bins."""
        return len(self.edges) == len(self.counts)

    def _ends_of(self, lo: Any, hi: Any) -> tuple[float, float]:
        """Return the start and the end of a range as offsets in bins."""
        self._require_one_column()
        first, stop = self._offset("lo", lo), self._offset("hi", hi)
        if self._is_listed:
            stop += 1
        if first > stop:
            checks.fail("hi", "at least lo", hi)
        return first, stop

    def _offset(self, name: str, x: Any) -> float:
        edges: list[Any] = list(self.edges)
        if self._is_listed:
            try:
                return float(edges.index(x))
            except ValueError:
                checks.fail(name, "one of the categories", x)
        kind = type(edges[0])
        if issubclass(kind, float):
            x = checks.number(name, x, "a number")
        elif issubclass(kind, np.datetime64 | np.timedelta64):
            try:
                x = kind(x)
            except Exception:  # an object whose conversion raises an error
                checks.fail_type(name, "a time, as the edges are", x)
        elif not isinstance(x, kind):
            checks.fail_type(name, f"a {kind.__name__}, as the edges are", x)
        i = min(bisect_right(edges, x), len(edges) - 1)
        if not i:
            return 0.0
        part = float((x - edges[i - 1]) / (edges[i] - edges[i - 1]))
        return i - 1 + min(part, 1.0)
