"""What a workload tells, which is post-processing of noisy sums."""

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
    """The answer of `dpfast.workload`.

    Attributes
    ----------
    counts : ndarray of float64, shape (bins,) or one bin count for each dimension
        The private number of rows in each bin, by least squares from all noisy sums. They are
        unbiased, so they may be negative; the queries are what they are for.
    edges : ndarray
        As of `dpfast.histogram`.
    queries : Queries
        What was known beforehand.
    strategy : Strategy
        The sums of bins that got noise; its ``certificate`` is the mean squared error of all
        queries over a bound that no strategy with Gaussian noise is below.
    noise : IntegerNoise
        The noise of each sum.
    unit : float
        What the noise is in parts of: a row, or of people a small part of one.

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
        """The private answer of each query; of all ranges, those of the prefix sums.

        They are sums of ``counts``, unbiased, and agree with one another.
        """
        return np.asarray(self.queries.rows(self.counts.size) @ self.counts.ravel())

    @property
    def deviations(self) -> Floats:
        """The standard deviation of the error of each of the `answers`, which is public."""
        return np.asarray(self.unit * self.noise.deviation * np.linalg.norm(self._weights, axis=1))

    @property
    def covariance(self) -> Floats:
        """The covariance of the errors of the counts, of shape (bins, bins), which is public.

        With queries Q it is Q C Q' of their answers, whichever they are.
        """
        inverse = self.unit * self.noise.deviation * self.strategy.inverse
        return np.asarray(inverse @ inverse.T)

    def half_widths(self, confidence: float = 0.95) -> Floats:
        """Bound the error of each of the `answers`, with a probability.

        Parameters
        ----------
        confidence : float, default 0.95
            For each answer by itself.

        Returns
        -------
        ndarray of float64
            Bounds of the errors that noise makes, from public numbers alone.
        """
        failure = 1 - checks.share("confidence", confidence)
        widths = [self.noise.weighted_half_width(factors, failure) for factors in self._weights]
        return self.unit * np.array(widths)

    @property
    def _weights(self) -> Floats:
        """The weight of each noise in each answer."""
        return np.asarray(self.queries.rows(self.counts.size) @ self.strategy.inverse)

    def _factors(self, first: float, stop: float) -> Floats:
        return np.asarray(shares(len(self.counts), first, stop) @ self.strategy.inverse)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the first answers with their deviations, and the noise."""
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
