"""Sensitivities of the minimum and the maximum: the quantiles 0 and 1."""

from __future__ import annotations

from typing import Any

from .._core.types import Bounds, NanPolicy, Neighbors, Number
from .quantile import global_quantile, local_at, smooth_at


def global_minimum(*, bounds: Bounds, neighbors: Neighbors = "add-remove") -> float:
    """NOT PRIVATE if `bounds` are not public. Return the global sensitivity of the minimum.

    Parameters
    ----------
    bounds : (float, float)
        Public limits; values outside count as the limit.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The same under both; the minimum of no rows is the lower limit.

    Returns
    -------
    float
        ``hi - lo``, rounded up.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    Cost: negligible.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.global_minimum(bounds=(0, 10))
    10.0
    """
    return global_quantile(bounds=bounds, neighbors=neighbors)


def local_minimum(
    data: Any,
    *,
    bounds: Bounds,
    at_distance: int = 0,
    neighbors: Neighbors = "add-remove",
    assume_sorted: bool = False,
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return the local sensitivity of the minimum: `local_quantile` at 0.

    Parameters
    ----------
    data : array_like, shape (n,), or source
    bounds : (float, float)
    at_distance : int, default 0
    neighbors, assume_sorted, nan
        As in `local_quantile`.

    Returns
    -------
    float
        As for `local_quantile`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Exact. Cost: a pass over unsorted data, then O(k).

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.local_minimum([1, 2, 4, 8, 16], bounds=(0, 20))
    1.0
    """
    return local_at(data, 0, bounds, at_distance, neighbors, assume_sorted, nan)


def smooth_minimum(
    data: Any,
    *,
    beta: Number,
    bounds: Bounds,
    neighbors: Neighbors = "add-remove",
    assume_sorted: bool = False,
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return the smooth sensitivity of the minimum: `smooth_quantile` at 0.

    Parameters
    ----------
    data : array_like, shape (n,), or source
    beta : float
    bounds : (float, float)
    neighbors, assume_sorted, nan
        As in `smooth_quantile`.

    Returns
    -------
    float
        As for `smooth_quantile`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Exact for both relations. Cost: a pass over unsorted data, then O(w), as `smooth_quantile`.

    Examples
    --------
    >>> import dpfast as dp
    >>> round(dp.sensitivity.smooth_minimum([1, 2, 4, 8, 16], beta=0.5, bounds=(0, 20)), 3)
    3.347
    """
    return smooth_at(data, 0, beta, bounds, neighbors, assume_sorted, nan)


def global_maximum(*, bounds: Bounds, neighbors: Neighbors = "add-remove") -> float:
    """NOT PRIVATE if `bounds` are not public. Return the global sensitivity of the maximum.

    Parameters
    ----------
    bounds : (float, float)
        Public limits; values outside count as the limit.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The same under both; the maximum of no rows is the upper limit.

    Returns
    -------
    float
        ``hi - lo``, rounded up.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    Cost: negligible.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.global_maximum(bounds=(0, 10))
    10.0
    """
    return global_quantile(bounds=bounds, neighbors=neighbors)


def local_maximum(
    data: Any,
    *,
    bounds: Bounds,
    at_distance: int = 0,
    neighbors: Neighbors = "add-remove",
    assume_sorted: bool = False,
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return the local sensitivity of the maximum: `local_quantile` at 1.

    Parameters
    ----------
    data : array_like, shape (n,), or source
    bounds : (float, float)
    at_distance : int, default 0
    neighbors, assume_sorted, nan
        As in `local_quantile`.

    Returns
    -------
    float
        As for `local_quantile`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Exact. Cost: a pass over unsorted data, then O(k).

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sensitivity.local_maximum([1, 2, 4, 8, 16], bounds=(0, 20))
    8.0
    """
    return local_at(data, 1, bounds, at_distance, neighbors, assume_sorted, nan)


def smooth_maximum(
    data: Any,
    *,
    beta: Number,
    bounds: Bounds,
    neighbors: Neighbors = "add-remove",
    assume_sorted: bool = False,
    nan: NanPolicy = "raise",
) -> float:
    """NOT PRIVATE. Return the smooth sensitivity of the maximum: `smooth_quantile` at 1.

    Parameters
    ----------
    data : array_like, shape (n,), or source
    beta : float
    bounds : (float, float)
    neighbors, assume_sorted, nan
        As in `smooth_quantile`.

    Returns
    -------
    float
        As for `smooth_quantile`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, DataError
        As for `smooth_quantile`.

    Notes
    -----
    Exact for both relations. Cost: a pass over unsorted data, then O(w), as `smooth_quantile`.

    Examples
    --------
    >>> import dpfast as dp
    >>> round(dp.sensitivity.smooth_maximum([1, 2, 4, 8, 16], beta=0.5, bounds=(0, 20)), 3)
    8.0
    """
    return smooth_at(data, 1, beta, bounds, neighbors, assume_sorted, nan)
