"""`session`: answers with their error bars and records, paid for by one budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from .. import STATISTICS, Budget, Release, group_by
from ..extend import checks, data_version, prepare
from ..rng import Generator


class session:
    """Release answers with their error bars and records, paid for by one budget.

    A session has a method for each function of `dpfast.STATISTICS`: ``session.mean(...)`` calls
    ``dpfast.mean(...)``. It returns a `Release`, which holds the answer, its error bar and its
    record. For any other function, ``session.release(function, ...)`` does the same.

    Privacy
    -------
    A method calls the function of the same name. So the loss and the neighbors are the same, and
    `budget` pays. The error bar is post-processing (Dwork and Roth, 2014, proposition 2.1), because
    it is computed from public numbers, and from noisy numbers that the call has paid for.

    Parameters
    ----------
    budget : Budget, optional
        The budget that pays for all calls.
    confidence : float, default 0.95
        The share of answers that lie within their error bar.
    version : str, optional
        A name for the version of the data, which the records show. It must not come from rows.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import dpfast as dp
    >>> ages, budget = [23, 35, 41, 58, 62] * 200, dp.Budget(epsilon=1)
    >>> with dp.session(budget, version="2026") as s:
    ...     mean = s.mean(ages, bounds=(0, 120), epsilon=0.5)
    ...     rows = s.count(ages, epsilon=0.5)
    >>> abs(float(rows) - 1000) < 60
    True
    >>> mean.parameters["bounds"], mean.bar.half_width < 1, budget.history[0].what
    ([0.0, 120.0], True, 'mean, nan=drop')
    """

    def __init__(
        self,
        budget: Budget | None = None,
        *,
        confidence: float = 0.95,
        version: str = "",
        rng: Generator | None = None,
    ) -> None:
        if budget is not None and not isinstance(budget, Budget):
            checks.fail_type("budget", "a dpfast.Budget", budget)
        self._paid = {"budget": budget, "rng": rng}
        self._confidence = checks.share("confidence", confidence)
        self._version = checks.text("version", version)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the ``with`` block; there is nothing to close."""

    def release(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Release[Any]:
        """Run a release, and return its answer with its error bar and record.

        Parameters
        ----------
        function : callable
            A function or method that makes a release, a `Measurement`, or a `dpfast.mechanism`.
        *args, **kwargs
            The arguments of the function, without ``budget`` and ``rng``.

        Returns
        -------
        Release

        Raises
        ------
        ArgumentError, ArgumentTypeError, BudgetError, DataError
            As for the function.

        Examples
        --------
        >>> import dpfast as dp
        >>> s = dp.session(dp.Budget(epsilon=1))
        >>> s.release(dp.count, [1, 2, 3], epsilon=1).bar.half_width
        3.0
        """
        for name in self._paid.keys() & kwargs.keys():
            checks.fail(name, "left out, because the session passes it", kwargs[name])
        with data_version(self._version):
            return prepare(function, *args, **kwargs, **self._paid).release(self._confidence)

    def group_by(self, data: Any, by: Any, **groups: Any) -> Groups:
        """Group the rows of a table, as `dpfast.group_by` does, for releases by group.

        Parameters
        ----------
        data, by, **groups
            The arguments of `dpfast.group_by`.

        Returns
        -------
        object
            An object with the methods of `GroupBy`. Each method returns a `Release`.

        Raises
        ------
        ArgumentError, ArgumentTypeError, SourceError
            As `dpfast.group_by`.

        Examples
        --------
        >>> import dpfast as dp
        >>> table = {"sex": [0, 1] * 500}
        >>> dp.session().group_by(table, "sex", keys=[0, 1]).count(epsilon=1).bar.half_width
        3.0
        """
        return Groups(self, group_by(data, by, **groups))

    def __getattr__(self, name: str) -> Callable[..., Release[Any]]:
        entry = STATISTICS.get(name)
        if entry is None:
            raise AttributeError(f"a session has no method {name!r}; see dpfast.STATISTICS")
        return _released(self, entry.function)

    def __dir__(self) -> list[str]:
        return ["group_by", "release", *STATISTICS]


class Groups:
    """Groups of the rows of a table, whose methods return a `Release` each."""

    def __init__(self, session: session, groups: Any) -> None:
        self._session, self._groups = session, groups

    def __getattr__(self, name: str) -> Callable[..., Release[Any]]:
        return _released(self._session, getattr(self._groups, name))

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._groups) if name[0] != "_"]


def _released(session: session, function: Callable[..., Any]) -> Callable[..., Release[Any]]:
    """Return a release function as one that the session pays for and that returns a `Release`."""

    def call(*args: Any, **kwargs: Any) -> Release[Any]:
        return session.release(function, *args, **kwargs)

    return call
