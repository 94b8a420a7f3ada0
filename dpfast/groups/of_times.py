"""Columns of dates, times and durations in statistics by group, with bounds of their own kind.

What such bounds are in units of a column is told by the declared type of the column. A row is read
as the whole number of units that it lies above the lower bound (of a sum: above 0), clipped to the
bounds first, as float64, and as NaN where it has no time. That is a function of the row alone,
which never falls: so all that is proved of numbers between bounds holds. Answers are turned back.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..measurement.times import Answer, are_times, edges_of, limits
from ..sources.batches import Piece, numbers
from ..sources.engine import refuse_type
from ..sources.forms import Arrow, Values
from ..sources.times import Binned, Clipped, Numbering, Times, local_times, numbered
from ..statistics.arguments import Arguments


@dataclass(frozen=True, slots=True)
class Asked:
    """Bounds, and what stands for what is missing, of which some are times."""

    bounds: Any
    nan: Any = "raise"
    bins: Any = None


@dataclass(frozen=True, slots=True)
class Units:
    """How a column of times is read, and its answers are told."""

    times: Times
    number: Numbering
    zone: dt.tzinfo | None
    #: What an answer is, and the number of units that it counts from.
    answer: Answer = "span"
    lower: int = 0

    def read(self, piece: Piece) -> NDArray[np.float64]:
        """Return numbers of a piece of the column.

        Raises
        ------
        DataError
            If the piece is not of the declared type, as a partition of an engine may be.
        """
        column = local_times(piece) if isinstance(piece, (Arrow, Values)) else None
        if column is None or column.times != self.times:
            refuse_type()
        assert isinstance(piece, (Arrow, Values))
        found = numbered(piece, column.how, self.number)
        values = found.array.astype(np.float64)
        assert found.mask is not None
        values[found.mask] = np.nan
        return values

    def told(self, found: NDArray[Any]) -> NDArray[Any]:
        """Return answers as times."""
        if self.answer == "point":
            return np.asarray(self.times.point(found, self.lower, self.zone))
        return np.asarray(self.times.span(found))


def read(piece: Piece, units: Any) -> NDArray[Any]:
    """Return the numbers of a piece, which may be those of times."""
    return numbers(piece) if units is None else units.read(piece)


def asked(bounds: Any, nan: Any) -> Asked | None:
    """Return bounds that are times; None for all others."""
    return Asked(bounds, nan) if are_times(bounds) or are_times([nan]) else None


def settled(column: str, typed: Piece, answer: Answer, asked: Asked) -> dict[str, Any]:
    """Return the bounds of a column of times, what stands for a missing one, and its units.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For bounds that are not of the kind of the column.
    """
    own = local_times(typed) if isinstance(typed, (Arrow, Values)) else None
    if own is None:
        plain = Arguments(asked.bounds, None, 0, None, "add-remove", nan=asked.nan)
        return {"bounds": plain.interval, "nan": plain.policy, "times": None}
    times = own.times
    if answer == "total" and times.dtype.kind == "M":
        rule = "a column of numbers or durations, for dates have no sum"
        checks.fail("column", rule, column)
    lo, hi, zone = limits(times, asked.bounds)
    shift = 0 if answer == "total" else lo
    nan = asked.nan
    if not isinstance(nan, str):
        nan = float(times.count("nan", nan) - shift)
    units = Units(times, Clipped(lo, hi, shift), zone, answer, lo)
    return {"bounds": (float(lo - shift), float(hi - shift)), "nan": nan, "times": units}


def binned(typed: Piece, asked: Asked) -> tuple[Units, NDArray[Any]]:
    """Return how a column of times is read as numbers of bins, and the edges of these.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a column of another kind, and edges that are not of the kind of the column.
    """
    own = local_times(typed) if isinstance(typed, (Arrow, Values)) else None
    if own is None:
        given = asked.bins if asked.bounds is None else asked.bounds
        name = "bins" if asked.bounds is None else "bounds"
        checks.fail_type(name, "numbers, as the column holds no times", given)
    edges, zone = edges_of(own.times, asked.bins, asked.bounds)
    shown = np.asarray(own.times.point(np.array(edges, object) - edges[0], edges[0], zone))
    return Units(own.times, Binned(tuple(edges)), zone), shown
