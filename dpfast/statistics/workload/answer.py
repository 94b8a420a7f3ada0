"""The answer of a workload, whose methods are post-processing of noisy sums."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.html import facts, table
from ..._core.types import Floats
from ...noise.calibrated_integer import IntegerNoise
from ..range_counts import SHOWN, RangeCounts
from ..tree.consistency import shares
from .queries import Queries
from .strategy import Strategy


class _Fields(NamedTuple):
    counts: Floats
    edges: NDArray[Any]
    queries: Queries
    strategy: Strategy
    noise: IntegerNoise
    unit: float


class WorkloadCounts(_Fields, RangeCounts):
    """The answer of `dpfast.workload`: private counts of bins, made for its queries.

    Attributes
    ----------
    counts : ndarray of float64, shape (bins,) or one bin count for each dimension
        The private number of rows in each bin, by least squares from all noisy sums. They are
        unbiased, so they may be negative. Use them for answers to the queries, whose errors are
        small.
    edges : ndarray
        The edges or the categories, as in `dpfast.histogram`.
    queries : Queries
        The queries for which the noise was planned.
    strategy : Strategy
        The sums of bins that got noise. Its ``certificate`` is the mean squared error of all
        queries divided by a lower bound that holds for every strategy with Gaussian noise.
    noise : IntegerNoise
        The noise of each sum.
    unit : float
        The unit of the noise: a row, or with `ids` a small part of a row.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> known = [[1, 1, 0, 0], [0, 1, 1, 1], [1, 0, 0, -1]]
    >>> answer = dp.workload(ages, known, bins=4, bounds=(0, 100), rho=0.1)
    >>> answer.answers.shape, bool(abs(answer.answers - [12_800, 26_400, -3600]).max() < 50)
    ((3,), True)
    >>> bool((answer.half_widths() < 8).all()), answer.strategy.certificate < 1.01
    (True, True)
    >>> abs(answer.range(0, 50) - 12_800) < 50, answer.half_width(0, 50) < 8
    (True, True)
    >>> abs(answer.cdf(50) - 12_800 / 29_200) < 0.01, 50 < answer.quantile(0.5) < 60
    (True, True)
    """

    __slots__ = ()

    @property
    def answers(self) -> Floats:
        """The private answer to each query; for the queries "ranges", each prefix sum.

        The answers are sums of ``counts``. They are unbiased and consistent with one another.
        """
        return np.asarray(self.queries.rows(self.counts.size) @ self.counts.ravel())

    @property
    def deviations(self) -> Floats:
        """The public standard deviation of the error of each of the `answers`."""
        return np.asarray(self.unit * self.noise.deviation * np.linalg.norm(self._weights, axis=1))

    @property
    def covariance(self) -> Floats:
        """The public covariance matrix C of the errors of the counts, of shape (bins, bins).

        For a matrix Q of queries, the errors of the answers have the covariance matrix Q C Q'.
        """
        inverse = self.unit * self.noise.deviation * self.strategy.inverse
        return np.asarray(inverse @ inverse.T)

    def half_widths(self, confidence: float = 0.95) -> Floats:
        """Return the half-width of the error bar of each of the `answers`.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence of each error bar by itself.

        Returns
        -------
        ndarray of float64
            Bounds on the errors that the noise causes, from public numbers alone.
        """
        failure = 1 - checks.share("confidence", confidence)
        widths = [self.noise.weighted_half_width(factors, failure) for factors in self._weights]
        return self.unit * np.array(widths)

    @property
    def _weights(self) -> Floats:
        """The weight of the noise of each sum in each answer."""
        return np.asarray(self.queries.rows(self.counts.size) @ self.strategy.inverse)

    def _factors(self, first: float, stop: float) -> Floats:
        return np.asarray(shares(len(self.counts), first, stop) @ self.strategy.inverse)

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows: answers with their deviations, and the noise."""
        answers, deviations = self.answers, self.deviations
        about = {
            "queries": str(self.queries),
            "noise": self.noise.distribution,
            "squared error over its least": f"{self.strategy.certificate:.4f}",
        }
        rows = (
            [f"{answer:,.1f}", f"{deviation:.3g}"]
            for answer, deviation in zip(answers[:SHOWN], deviations, strict=False)
        )
        head = f"Answers about {self.counts.size:,} bins"
        return facts(head, about, table(["answer", "deviation"], rows))
