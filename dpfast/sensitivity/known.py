"""What a statistic says about its sensitivities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from .._core import checks
from .._core.types import Neighbors


class KnownSensitivity(ABC):
    """Base of statistics that know their sensitivities, for `dpfast.sensitivity`.

    The statistics of one column inherit it; so may yours. Its functions are called with checked
    arguments, and the proofs of what they return are those of whoever writes them. No float that
    they return may be below the proved number.

    Examples
    --------
    The number of rows above 5 times the number of the others, where a row is replaced. One row
    changes it by at most the difference of the two numbers and 1, and by less than the number of
    rows:

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
        """Return the most that one row can change the statistic of any data.

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
        """Return the most that one row can change it, of any data within a distance; NOT PRIVATE.

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
        """Return a smooth upper bound on the local sensitivity; NOT PRIVATE.

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
    """Refuse the other relation for a statistic."""
    if neighbors != relation:
        checks.fail("neighbors", f"{relation!r} for {statistic}", neighbors)
