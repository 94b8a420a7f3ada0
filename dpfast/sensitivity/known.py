"""The protocol by which a statistic returns its global, local and smooth sensitivities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from .._core import checks
from .._core.types import Neighbors


class KnownSensitivity(ABC):
    """Base of statistics with known sensitivities, for the functions of `dpfast.sensitivity`.

    The statistics of one column inherit this class, and your own statistics may do so. The methods
    are called with checked arguments, and whoever writes a method has to prove its sensitivity. No
    float that a method returns may be below the proved number.

    Examples
    --------
    The statistic is the number of rows above 5, times the number of other rows, and a row is
    replaced. One row changes this product by at most the difference of the two numbers plus 1, and
    by less than the number of rows:

    >>> import dpfast as dp
    >>> class Split(dp.extend.KnownSensitivity):
    ...     def global_sensitivity(self, rows, neighbors):
    ...         return rows - 1.0
    ...
    ...     def local_sensitivity(self, data, at_distance, neighbors):
    ...         difference = abs(len(data) - 2 * sum(x > 5 for x in data))
    ...         return min(difference + 2 * at_distance + 1.0, len(data) - 1.0)
    ...
    ...     def smooth_sensitivity(self, data, beta, neighbors):
    ...         def at_distance(k):
    ...             return self.local_sensitivity(data, k, neighbors)
    ...
    ...         return dp.sensitivity.smooth(at_distance, beta=beta, most=len(data) - 1)
    >>> rows = [3] * 30 + [8] * 70
    >>> dp.sensitivity.local(Split(), rows, at_distance=2, neighbors="replace")
    45.0
    >>> round(dp.sensitivity.smooth(Split(), rows, beta=0.1, neighbors="replace"), 2)
    41.0
    """

    @abstractmethod
    def global_sensitivity(self, rows: int | None, neighbors: Neighbors) -> float:
        """Return the global sensitivity: the most one row can change the statistic of any data.

        Parameters
        ----------
        rows : int or None
            The public number of rows.
        neighbors : {"add-remove", "replace"}

        Returns
        -------
        float
        """

    @abstractmethod
    def local_sensitivity(self, data: Any, at_distance: int, neighbors: Neighbors) -> float:
        """Return the largest local sensitivity of any data within a distance; NOT PRIVATE.

        Parameters
        ----------
        data : Any
        at_distance : int
            The number of rows that may be changed first.
        neighbors : {"add-remove", "replace"}

        Returns
        -------
        float
        """

    @abstractmethod
    def smooth_sensitivity(self, data: Any, beta: float, neighbors: Neighbors) -> float:
        """Return a beta-smooth upper bound on the local sensitivity of data; NOT PRIVATE.

        Parameters
        ----------
        data : Any
        beta : float
            Neighbors' bounds differ by a factor of at most ``exp(beta)``.
        neighbors : {"add-remove", "replace"}

        Returns
        -------
        float
        """


def only(relation: Neighbors, statistic: str, neighbors: str) -> None:
    """Raise an error unless `neighbors` is the only `relation` that a statistic supports."""
    if neighbors != relation:
        checks.fail("neighbors", f"{relation!r} for {statistic}", neighbors)
