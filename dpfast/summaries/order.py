"""Windows of order statistics of unsorted data in about one pass. Exact, and NOT PRIVATE.

Smooth sensitivities are computed from such windows.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import Number
from ..errors import DataError
from ..tables import ArraySource, Source, as_source
from ..tables.sql.store import SqlRows
from .counted import CountedRanks
from .floyd_rivest import Target, collect, count, find, find_all, known_ranks
from .order_statistics import KnownRanks, Multiset, SortedRows, least_from, sorted_part

__all__ = ["SMALL", "Ranks", "Window", "window"]

#: Up to this many values, sorting a copy is faster than searching for pivots.
SMALL = 1 << 14
#: Up to this many values of an array, and on one thread, a single kernel that selects the window is
#: faster.
MIDDLE = 1 << 21


class Window(NamedTuple):
    """Consecutive order statistics of `n` values; NOT PRIVATE.

    Attributes
    ----------
    values : ndarray
        The order statistics of ranks ``first .. first + len(values) - 1``, sorted.
    first : int
        Rank of ``values[0]``, counted from 1.
    n : int
        The number of values: all rows, or without the rows that are NaN or null if these are
        dropped.
    nan : int
        The number of rows that are NaN or null.

    Examples
    --------
    >>> import dpfast as dp
    >>> found = dp.order.window([5.0, 1.0, 4.0, 2.0, float("nan")], 3, 1, nan="drop")
    >>> found.values, found.first, found.n, found.nan
    (array([2., 4., 5.]), 2, 4, 1)
    """

    values: NDArray[Any]
    first: int
    n: int
    nan: int

    @property
    def reaches_start(self) -> bool:
        """Whether the window starts with the first value."""
        return self.first == 1

    @property
    def reaches_end(self) -> bool:
        """Whether the window ends with the last value."""
        return self.first + len(self.values) == self.n + 1


class Ranks:
    """Order statistics (values by rank) of one column, computed when needed; NOT PRIVATE.

    Parameters
    ----------
    data : array-like or Source
        One-dimensional data of an integer, bool or float dtype of at most 64 bits, a masked array,
        an Arrow column, or a source. bool is read as uint8, float16 as float32.
    missing : "drop", "raise" or float
        How a row that is NaN or null counts: as this number, which may be infinite; otherwise it is
        left out. `Window.nan` is the number of such rows. With "raise" the caller has to raise the
        error.
    assume_sorted : bool
        Whether to trust that an array ascends (NaN last, as after `numpy.sort`). Then only the
        window and a few other rows are read.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If the data cannot be read, or `missing` is none of these options.

    Examples
    --------
    >>> import dpfast as dp
    >>> ranks = dp.order.Ranks([5.0, 1.0, 4.0])
    >>> ranks.window(lambda n: n, 1).values
    array([4., 5.])

    Notes
    -----
    A pass collects a few times more rows than the window has, so that a somewhat wider second
    window needs no second pass. No row is read before the first window is requested.
    """

    __slots__ = ("_held", "_missing", "_sorted", "_source")

    def __init__(
        self, data: Any, *, missing: str | float = "drop", assume_sorted: bool = False
    ) -> None:
        self._source = as_source(data)
        self._missing = _counted_as("missing", missing)
        self._sorted = checks.flag("assume_sorted", assume_sorted)
        self._held: list[KnownRanks] = []

    @property
    def length(self) -> int | None:
        """The number of rows, including missing rows; None if only a pass can find the number."""
        return self._source.length

    def window(
        self,
        rank_rule: Callable[[int], int],
        width: int,
        convert: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
    ) -> Window:
        """Return the order statistics of ranks ``m - width .. m + width``, ``m = rank_rule(n)``.

        Parameters
        ----------
        rank_rule : callable
            A function of the number of values that returns the rank, counted from 1. It is also
            called with estimates of that number, but never with 0.
        width : int
            The number of ranks on either side.
        convert : callable, optional
            An increasing function of arrays, which is applied to the window. It gets the data in
            their dtype, also if a replacement for missing rows has another dtype.

        Returns
        -------
        Window

        Raises
        ------
        dpfast.errors.DataError
            If the data are not sorted under `assume_sorted`.
        """
        if not callable(rank_rule):
            checks.fail_type("rank_rule", "a function of the number of values", rank_rule)
        if convert is not None and not callable(convert):
            checks.fail_type("convert", "a function of arrays", convert)
        return window_of(self, rank_rule, checks.whole("width", width), convert)

    def prefetch(
        self,
        windows: Iterable[tuple[Callable[[int], int], int]],
        thresholds: Callable[[Any], Iterable[float]] | None = None,
    ) -> None:
        """Collect several windows, given by rank rule and width, in one pass.

        If a window may end among equal values, the same pass counts the values below the thresholds
        that ``thresholds(value)`` returns for this value, so that `less` needs no pass. If the pass
        misses a window, the window takes another pass when it is needed.

        Parameters
        ----------
        windows : iterable of (callable, int)
            The rank rule and the width of each window, as in `window`.
        thresholds : callable, optional
            A function that returns thresholds for the value where a window ends.

        Examples
        --------
        >>> import dpfast as dp
        >>> ranks = dp.order.Ranks([5.0, 1.0, 4.0])
        >>> ranks.prefetch([(lambda n: 1, 0), (lambda n: n, 0)])
        >>> ranks.window(lambda n: n, 0).values
        array([5.])
        """
        targets = [Target(rule, width, self._missing) for rule, width in windows]
        if targets and not self._held:
            ranks = self._cheap(targets[0])
            self._keep(find_all(self._source, targets, thresholds) if ranks is None else [ranks])

    def less(self, value: float) -> int:
        """Count the values below `value`; this may need a pass.

        Parameters
        ----------
        value : float

        Returns
        -------
        int

        Examples
        --------
        >>> import dpfast as dp
        >>> dp.order.Ranks([5.0, 1.0, 4.0]).less(4.5)
        2
        """
        edge = least_from(self._source.dtype, value)
        missing = self._missing
        if edge is not None and (missing is None or not value <= missing < edge.item()):
            # As many values are below, and this one is of the dtype of the pivots.
            value = edge.item()
        for ranks in self._held:
            less = ranks.less(value)
            if less is not None:
                return less
        if isinstance(self._source, CountedRanks):
            return self._source.less(value)
        return count(self._source, value, self._missing)

    def _keep(self, new: list[KnownRanks]) -> None:
        """Store new order statistics, and discard old order statistics that they include."""
        old = [a for a in self._held if not a.size or not any(b.covers(*a.ends) for b in new)]
        self._held = old + new

    def _selected(
        self,
        rank_rule: Callable[[int], int],
        width: int,
        convert: Callable[[NDArray[Any]], NDArray[Any]] | None,
    ) -> Window | None:
        """Return the window of a small array by one kernel; None for NaN or other data."""
        source = self._source
        if self._sorted or self._held or not isinstance(source, ArraySource):
            return None
        n = source.length
        if not 0 < n <= MIDDLE or source.dtype.itemsize < 4 or not source.direct:
            return None
        rank = int(rank_rule(n))
        first, last = max(1, rank - width), min(n, rank + width)
        values = sorted_part(source.array, first - 1 if first <= n else n, last)
        if values is None:
            return None
        if values.dtype.kind == "f":
            values += 0.0  # -0.0 and 0.0 are one value whose order is random
        return Window(values if convert is None else convert(values), first, n, 0)

    def _cheap(self, target: Target) -> KnownRanks | None:
        """Return order statistics that need no search (sorted, few or counted rows), or None."""
        source = self._source
        if isinstance(source, CountedRanks):
            return source.known_ranks(target)
        if self._sorted and isinstance(source, ArraySource) and source.mask is None:
            return _known_sorted(source, target)
        if source.length is not None and source.length <= SMALL:
            return collect(source, target)
        return None


def window_of(
    ranks: Ranks,
    rank_rule: Callable[[int], int],
    width: int,
    convert: Callable[[NDArray[Any]], NDArray[Any]] | None,
) -> Window:
    """Return the window of order statistics of `Ranks.window`, for checked arguments."""
    selected = ranks._selected(rank_rule, width, convert)
    if selected is not None:
        return selected
    target = Target(rank_rule, width, ranks._missing)
    for held in ranks._held:
        if held.covers(*target.ends(held.n)):
            break
    else:
        held = ranks._cheap(target) or find(ranks._source, target)
        ranks._keep([held])
    first, last = target.ends(held.n)
    return Window(held.ranks(first, last, convert), first, held.n, held.nan)


def ranks_of(
    source: Source | SqlRows, missing: float | None, is_sorted: bool, bounds: tuple[float, float]
) -> Ranks:
    """Return the `Ranks` of a source; a missing row counts as `missing`, or not at all.

    The caller clamps to `bounds`, so a database may count all numbers beyond a bound together.
    """
    ranks = Ranks.__new__(Ranks)
    read: Any = source
    if source.length is None and isinstance(source, SqlRows):
        read, missing = CountedRanks(source.counting(0, bounds, missing)), None
    ranks._source, ranks._missing, ranks._sorted = read, missing, is_sorted
    ranks._held = []
    return ranks


def ranks_of_counts(values: NDArray[Any], counts: NDArray[np.int64]) -> Ranks:
    """Return the `Ranks` of ascending values, each of which occurs as often as its count."""
    ranks, held = Ranks(values[:0]), Multiset(values, counts)
    ranks._held.append(KnownRanks([held], 0, held.count, 0, values.dtype))
    return ranks


def _counted_as(name: str, value: str | Number) -> float | None:
    """Return the number that a missing row counts as; None for "raise" or "drop"."""
    rule = "'raise', 'drop' or a number"
    if isinstance(value, str):
        checks.choice(name, value, ("raise", "drop"))
        return None
    number = checks.real(value)
    if number is None:
        checks.fail_type(name, rule, value)
    if math.isnan(number):
        checks.fail(name, rule, value)
    return number


def _known_sorted(source: ArraySource, target: Target) -> KnownRanks:
    array, n = source.array, source.length
    present = n
    if n and array.dtype.kind == "f" and np.isnan(array[-1]):
        present = bisect_left(array, True, 0, n - 1, key=np.isnan)  # index of the first NaN
    sorted_rows = SortedRows(array, source.dtype, 0, present)
    return known_ranks([sorted_rows], 0, 0, n - present, target.missing, source)


def window(
    data: Any,
    rank: int | Callable[[int], int],
    width: int,
    *,
    nan: Literal["raise", "drop"] | Number = "raise",
    assume_sorted: bool = False,
) -> Window:
    """NOT PRIVATE. Return the values of ranks ``rank - width .. rank + width``, without sorting.

    Parameters
    ----------
    data : array-like
        One column: an array of any integer, bool or float dtype up to 64 bits, a masked array, an
        Arrow column, or what `dpfast.scan` returns.
    rank : int or callable
        The rank in the middle of the window, counted from 1, or a function of the number of values
        that returns this rank.
    width : int
        The number of ranks on either side; the window ends where the data end.
    nan : "raise", "drop" or float, optional
        How NaN and null are treated: "raise" raises an error, "drop" leaves them out, and a number,
        which may be infinite, replaces them.
    assume_sorted : bool, optional
        Whether to trust that the data ascend (NaN last). Then only the window is read. Disorder
        inside the window is always detected; elsewhere only a few random rows are checked. Data
        without random access, such as files and masked arrays, are read as a whole.

    Returns
    -------
    Window
        It has the sorted ``values``, the rank ``first`` of the first of them, and the numbers ``n``
        of values and ``nan`` of missing rows. The values have the data's dtype, or float64 if that
        dtype cannot hold the replacement.

    Raises
    ------
    dpfast.errors.ArgumentError, dpfast.errors.ArgumentTypeError
        For a bad argument.
    dpfast.errors.DataError
        For NaN or null under ``nan="raise"``, or unsorted data under `assume_sorted`.

    Notes
    -----
    The expected time is linear for every input. One pass collects the values between two random
    pivots. If the window is not between them, another pass is needed; for any data this has a
    probability of about one in a million. Extra memory is O(window + n**(2/3)). An array in memory
    is read by `dpfast.threads` threads.

    References
    ----------
    R. W. Floyd and R. L. Rivest, "Expected time bounds for selection", Comm. ACM 18 (1975) 165-172.

    Examples
    --------
    >>> import dpfast as dp
    >>> found = dp.order.window([5, 1, 4, 2, 3], rank=3, width=1)
    >>> found.values, found.first, found.n
    (array([2., 3., 4.]), 2, 5)
    """
    width = checks.whole("width", width)
    trusted = checks.flag("assume_sorted", assume_sorted)
    middle = rank if callable(rank) else checks.whole("rank", rank, 1)

    def rule(n: int) -> int:
        return checks.whole("rank(n)", middle(n), 1) if callable(middle) else middle

    missing = _counted_as("nan", nan)
    counted_as = "drop" if missing is None else missing
    result = Ranks(data, missing=counted_as, assume_sorted=trusted).window(rule, width)
    if result.nan and isinstance(nan, str) and nan == "raise":
        raise DataError("nan must be 'drop' or a number where data hold NaN or null, got 'raise'")
    return result
