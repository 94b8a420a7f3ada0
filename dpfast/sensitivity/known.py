"""The base class of statistics that know their global, local and smooth sensitivities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from .._core import checks
from .._core.types import Neighbors


class KnownSensitivity(ABC):
    """Base of statistics with known sensitivities, for the functions of `dpfast.sensitivity`.

    Inherit it to use your own statistic with these functions. The methods get checked arguments.
    You have to prove the sensitivities that they return, and no returned float may be below the
    proved number.

    Examples
    --------
    The statistic is the number of rows above 5, times the number of other rows. If one row is
    replaced, this product changes by at most the difference of the two numbers plus 1, and by at
    most the number of rows minus 1:

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
        """Return the global sensitivity: the largest change of the statistic between any neighbors.

        Parameters
        ----------
        rows : int or None
            The public number of rows, if it is given.
        neighbors : {"add-remove", "replace"}

        Returns
        -------
        float
        """

    @abstractmethod
    def local_sensitivity(self, data: Any, at_distance: int, neighbors: Neighbors) -> float:
        """NOT PRIVATE. Return the largest local sensitivity within a distance of the data.

        Parameters
        ----------
        data : Any
        at_distance : int
            The number of rows in which other datasets may differ from the data.
        neighbors : {"add-remove", "replace"}

        Returns
        -------
        float
        """

    @abstractmethod
    def smooth_sensitivity(self, data: Any, beta: float, neighbors: Neighbors) -> float:
        """NOT PRIVATE. Return a beta-smooth upper bound on the local sensitivity of the data.

        Parameters
        ----------
        data : Any
        beta : float
            The bounds for two neighbors differ by a factor of at most ``exp(beta)``.
        neighbors : {"add-remove", "replace"}

        Returns
        -------
        float
        """


def only(relation: Neighbors, statistic: str, neighbors: str) -> None:
    """Raise an error unless `neighbors` is the only `relation` that a statistic supports."""
    if neighbors != relation:
        checks.fail("neighbors", f"{relation!r} for {statistic}", neighbors)
