"""Dates, times and durations in functions of numbers, with bounds of their own kind."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import numpy as np

from .._core import checks
from ..sources.times import Times, time_column

F = TypeVar("F", bound=Callable[..., Any])

#: What an answer about times is: a time, the time between two, or a sum of durations.
Answer = Literal["point", "span", "total"]


def takes_times(answer: Answer) -> Callable[[F], F]:
    """Return a decorator of a release that takes a column of numbers and its `bounds`.

    A column of times is read as the whole numbers of its units above the lower bound, and the
    answer is turned back into a time. Which columns are such, and which bounds and answers they
    have, depends on their declared type alone.
    """

    def decorate(release: F) -> F:
        @functools.wraps(release)
        def call(*args: Any, **kwargs: Any) -> Any:
            data = args[0] if args else kwargs.get("data")
            column = time_column(data)
            if column is None or "bounds" not in kwargs:
                return release(*args, **kwargs)
            times, bounds = column.times, kwargs["bounds"]
            if answer == "total" and times.dtype.kind == "M":
                checks.fail_kind(
                    "data", "numbers or durations", data, " of dates, whose sum is none"
                )
            lo, hi = limits(times, bounds)
            shift = 0 if answer == "total" else lo
            kwargs["bounds"] = lo - shift, hi - shift
            nan = kwargs.get("nan", "raise")
            if not isinstance(nan, str):
                kwargs["nan"] = times.count("nan", nan) - shift
            kwargs.pop("data", None)
            found = release(column.between(lo, hi, shift), *args[1:], **kwargs)
            return times.point(found, lo, _zone(bounds)) if answer == "point" else times.span(found)

        return call  # type: ignore[return-value]

    return decorate


def counts_times(release: F) -> F:
    """Decorate a count, which takes a column of times as it is."""

    @functools.wraps(release)
    def call(*args: Any, **kwargs: Any) -> Any:
        column = time_column(args[0]) if args else None
        return release(*args, **kwargs) if column is None else release(column.whole(), **kwargs)

    return call  # type: ignore[return-value]


def bins_times(release: F) -> F:
    """Decorate a histogram, which takes a column of times with edges or bounds of their kind."""

    @functools.wraps(release)
    def call(*args: Any, **kwargs: Any) -> Any:
        column = time_column(args[0]) if args else None
        if column is None or kwargs.get("bins") is None:
            return release(*args, **kwargs)
        times, bins = column.times, kwargs["bins"]
        if isinstance(bins, (Sequence, np.ndarray)):
            zone, edges = _zone(bins), [times.count("bins", edge) for edge in bins]
        else:
            bounds = kwargs.pop("bounds", None)
            (lo, hi), zone = limits(times, bounds), _zone(bounds)
            parts = checks.whole("bins", bins, 1)
            edges = [lo + (hi - lo) * i // parts for i in range(parts + 1)]
        first = edges[0] if edges else 0
        kwargs["bins"] = [edge - first for edge in edges]
        # What is outside stays outside.
        source = column.between(first - 1, max(edges, default=0) + 1, first)
        found, made = release(source, **kwargs)
        return found, times.point(made, first, zone)

    return call  # type: ignore[return-value]


def limits(times: Times, bounds: Any) -> tuple[int, int]:
    """Return public bounds of a column of times as whole numbers of its unit."""
    rule = f"a pair of {times.several}, the lower one first"
    try:
        lo, hi = bounds
    except (TypeError, ValueError):
        lo = hi = None
    if hi is None:
        checks.fail("bounds", rule, bounds)
    first, last = times.count("bounds", lo), times.count("bounds", hi)
    if first > last or last - first >= 2**62:
        checks.fail("bounds", rule, bounds)
    return first, last


def _zone(bounds: Any) -> dt.tzinfo | None:
    zone = getattr(bounds[0], "tzinfo", None)
    return zone if isinstance(zone, dt.tzinfo) else None
