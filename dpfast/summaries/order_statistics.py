"""Consecutive order statistics in segments: ties as counts, other values sorted when needed.

`KnownRanks` holds the ranks ``below + 1 .. below + size`` of n values, in segments. Ranks of a
segment are counted from 0.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels.summaries import order_part
from ..errors import DataError
from ..rng import default_generator

#: The number of indices outside the window where ``assume_sorted=True`` is checked.
PROBES = 64


def random_words(count: int) -> NDArray[np.uint64]:
    """Return unpredictable random words, so that nobody can construct data for the worst case."""
    words = np.empty(count, np.uint64)
    default_generator().stream().fill(words.view(np.uint8))
    return words


class Segment(ABC):
    """Base of segments: consecutive order statistics whose ranks are counted from 0."""

    count: int

    @abstractmethod
    def take(self, a: int, b: int) -> NDArray[Any]:
        """Return the ranks ``a .. b - 1`` of the segment, sorted."""

    @abstractmethod
    def less(self, value: float) -> int | None:
        """Count the segment's values below `value`; return None if some are not in memory."""

    @property
    def whole(self) -> bool:
        """Whether all values of the segment are in memory."""
        return True


@dataclass(eq=False)
class Run(Segment):
    """A segment that holds one value `count` times."""

    value: Any
    count: int

    def take(self, a: int, b: int) -> NDArray[Any]:
        return np.full(b - a, self.value)

    def less(self, value: float) -> int:
        return self.count if self.value.item() < value else 0


class Multiset(Segment):
    """A segment of ascending values, each of which occurs as often as its count."""

    def __init__(self, values: NDArray[Any], counts: NDArray[np.int64]) -> None:
        self._values, self._upto = values, np.cumsum(counts)
        self.count = int(counts.sum())

    def take(self, a: int, b: int) -> NDArray[Any]:
        upto = np.clip(self._upto, a, b)
        return np.repeat(self._values, upto - np.append(a, upto[:-1]))

    def less(self, value: float) -> int:
        i = int(np.searchsorted(self._values, value))
        return int(self._upto[i - 1]) if i else 0


@dataclass(eq=False)
class Stretch(Segment):
    """A part of a segment: `count` ranks from rank `start` on."""

    segment: Segment
    start: int
    count: int

    def take(self, a: int, b: int) -> NDArray[Any]:
        return self.segment.take(self.start + a, self.start + b)

    def less(self, value: float) -> int | None:
        less = self.segment.less(value)
        return None if less is None else min(max(less - self.start, 0), self.count)


def sorted_part(values: NDArray[Any], start: int, stop: int) -> NDArray[Any] | None:
    """Return ``sorted(values)[start:stop]``, for values of at least 4 bytes each.

    None if there is a NaN among the values.
    """
    if 4 * (stop - start) < len(values):
        return order_part(values, start, stop)
    ordered = values.copy()
    ordered.sort()
    return None if len(ordered) and ordered[-1] != ordered[-1] else ordered[start:stop]


class Block(Segment):
    """A segment of `count` values without NaN, sorted if `ordered`. Not all may be in memory."""

    def __init__(
        self, values: NDArray[Any], count: int | None = None, ordered: bool = False
    ) -> None:
        self.values, self.ordered = values, ordered
        self.count = len(values) if count is None else count

    @property
    def whole(self) -> bool:
        return self.count == len(self.values)

    def take(self, a: int, b: int) -> NDArray[Any]:
        if self.values.itemsize < 4 and not self.ordered:
            self.values, self.ordered = np.sort(self.values), True
        taken = self.values[a:b].copy() if self.ordered else sorted_part(self.values, a, b)
        assert taken is not None, "no value of a block is NaN"
        return taken

    def less(self, value: float) -> int | None:
        if not self.whole:
            return None
        edge = least_from(self.values.dtype, value)
        if edge is None:
            return self.count
        if self.ordered:
            return int(np.searchsorted(self.values, edge))
        return int(np.count_nonzero(self.values < edge))


@dataclass(eq=False)
class SortedRows(Segment):
    """A segment of `count` rows, from `start` on, of an array that is claimed to be sorted."""

    array: NDArray[Any]
    dtype: np.dtype[Any]
    start: int
    count: int

    def take(self, a: int, b: int) -> NDArray[Any]:
        values = self.array[self.start + a : self.start + b].astype(self.dtype)
        if values.shape[0] == 0:
            return values
        left = self.array[_probes(self.start, self.start + a)]
        right = self.array[_probes(self.start + b, self.start + self.count)]
        if not (
            (values[:-1] <= values[1:]).all()
            and (left <= values[0]).all()
            and (right >= values[-1]).all()
        ):
            raise DataError("data must ascend with assume_sorted=True, got unsorted data")
        return values

    def less(self, value: float) -> int:
        end = self.start + self.count
        return bisect_left(self.array, value, self.start, end, key=np.generic.item) - self.start


def _probes(start: int, stop: int) -> NDArray[np.int64]:
    """Return the two ends of range(start, stop), and random indices in it."""
    if start >= stop:
        return np.empty(0, np.int64)
    inside = (random_words(PROBES) % np.uint64(stop - start)).astype(np.int64) + start
    return np.concatenate([inside, [start, stop - 1]])


def least_from(dtype: np.dtype[Any], value: float) -> Any:
    """Return the least number of `dtype` that is >= `value`; None if there is none."""
    if dtype.kind == "f":
        with np.errstate(over="ignore", under="ignore"):
            edge = dtype.type(value)
        return np.nextafter(edge, dtype.type(math.inf)) if float(edge) < value else edge
    info = np.iinfo(dtype)
    if value > info.max:
        return None
    return dtype.type(info.min if value <= info.min else math.ceil(value))


def insert(
    segments: list[Segment], below: int, above: int, value: float, count: int, dtype: np.dtype[Any]
) -> tuple[list[Segment], int]:
    """Insert `count` copies of `value` in order; return the new segments and the new `below`.

    `below` values come before all segments and `above` values after them. The copies have `dtype`
    if it can hold the value, and otherwise float64.
    """
    if count == 0:
        return segments, below
    edge = least_from(dtype, value)
    run = Run(edge if edge is not None and edge.item() == value else np.float64(value), count)
    result: list[Segment] = []
    for i, segment in enumerate(segments):
        less, after = segment.less(value), segments[i + 1 :]
        if less is None:  # the values between the pivots on either side were not kept
            assert isinstance(segment, Block)
            if not after[0].less(value):
                return [*result, Block(segment.values, segment.count + count), *after], below
            less = segment.count
        same = segment.value.item() if isinstance(segment, Run) else None
        if less == segment.count and (same is None or same < value):
            result.append(segment)
        elif less == 0 and i == 0 and below and same != value:
            return segments, below + count
        elif less == 0:
            return [*result, run, segment, *after], below
        else:
            ends = Stretch(segment, 0, less), Stretch(segment, less, segment.count - less)
            return [*result, ends[0], run, ends[1], *after], below
    return (segments if above else [*segments, run]), below


@dataclass(eq=False)
class KnownRanks:
    """Order statistics ``below + 1 .. below + size`` of `n` values."""

    segments: list[Segment]
    below: int
    n: int
    nan: int
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        return sum(segment.count for segment in self.segments)

    @property
    def ends(self) -> tuple[int, int]:
        """The first and last rank of the segments."""
        return self.below + 1, self.below + self.size

    def _cut(self, first: int, last: int) -> list[tuple[Segment, int, int]] | None:
        """Return the parts of segments with ranks first..last; None if some are not known."""
        if first > last:
            return []
        at, cuts = self.below + 1, []
        if first < at:
            return None
        for segment in self.segments:
            a, b = max(first - at, 0), min(last + 1 - at, segment.count)
            if a < b:
                if not segment.whole:
                    return None
                cuts.append((segment, a, b))
            at += segment.count
        return cuts if last < at else None

    def covers(self, first: int, last: int) -> bool:
        """Tell whether the order statistics first..last are known."""
        return self._cut(first, last) is not None

    def less(self, value: float) -> int | None:
        """Count the values, of all n, that are below `value`; None if the segments do not show it.

        A value before or after all segments differs from the pivot at that end, which is a `Run`.
        """
        outside = self.below, self.n - self.ends[1]
        for count, end, sign in zip(outside, (0, -1), (1, -1), strict=True):
            if count:
                segment = self.segments[end]
                if not isinstance(segment, Run) or sign * segment.value.item() > sign * value:
                    return None
        total = self.below
        for segment in self.segments:
            less = segment.less(value)
            if less is None:
                return None
            total += less
        return total

    def ranks(
        self, first: int, last: int, convert: Callable[[NDArray[Any]], NDArray[Any]] | None = None
    ) -> NDArray[Any]:
        """Return the order statistics first..last (from 1), sorted.

        `convert`, an increasing function, is applied to each segment in the segment's dtype.
        """
        cuts = self._cut(first, last)
        assert cuts is not None, "these ranks are not covered"
        parts = [segment.take(a, b) for segment, a, b in cuts] or [np.empty(0, self.dtype)]
        if convert is not None:
            return np.concatenate([convert(part) for part in parts])
        values = parts[0] if len(parts) == 1 else np.concatenate(parts)
        if values.dtype.kind == "f":
            values += 0.0  # -0.0 and 0.0 are one value whose order is random
        return values
