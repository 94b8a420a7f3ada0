"""Selection by Floyd and Rivest, for a window of order statistics in about one pass.

A random sample of about n**(2/3) / 2 values gives a bracket that contains the window very likely,
within a few standard deviations. The pass counts the values outside of the bracket and collects the
values inside. The counts are exact, so a bad sample can only cost another pass, never a wrong
answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels.summaries import (
    bracket_pass,
    bracket_passes,
    count_bytes,
    histogram_bytes,
)
from ..tables import ArraySource, Chunk, Source
from .order_statistics import (
    Block,
    KnownRanks,
    Run,
    Segment,
    insert,
    least_from,
    random_words,
)

#: A bracket allows for this many standard deviations of the error of the sample: it misses once in
#: a million.
SLACK = 5.0
#: The same for single bytes, where thresholds cost more and a miss costs little.
SLACK_BYTES = 4.0
#: Longer arrays of values are not concatenated with others.
SHORT = 1 << 15
#: With at most this many thresholds, counting bytes is faster than a histogram.
THRESHOLDS = 24


class Target(NamedTuple):
    """The ranks to find: rank ``rule(n)`` and `width` ranks on either side of it.

    A missing row (NaN or null) counts as the value `missing`, or not at all if `missing` is None.
    The rule is also called with estimates of n.
    """

    rule: Callable[[int], int]
    width: int
    missing: float | None

    def ends(self, n: int) -> tuple[int, int]:
        """Return the first and the last rank; without any rank, the last is below the first."""
        if n == 0:
            return 1, 0
        rank = int(self.rule(n))
        return max(1, rank - self.width), min(n, rank + self.width)


# --- samples ------------------------------------------------------------------------------------


class Sample(NamedTuple):
    """A sample of rows, each drawn with probability ``2**-shift``, and the counts of all rows."""

    parts: list[NDArray[Any]]
    shift: int
    rows: int
    nulls: int


def thin(values: NDArray[Any], shift: int) -> NDArray[Any]:
    """Draw one value at random from each ``2**shift`` consecutive values."""
    if shift == 0:
        return values
    strata = -(-values.shape[0] >> shift)
    index = np.arange(strata, dtype=np.int64) << shift
    index += (random_words(strata) >> np.uint64(64 - shift)).astype(np.int64)
    return np.asarray(values[index[index < len(values)]])


def draw(source: Source, windows: int = 1) -> Sample:
    """Draw an unbiased sample of any source in a pass; its size suits the number of rows."""

    def summarize(chunk: Chunk) -> Sample:
        rows = chunk.values.shape[0]
        most, shift = 2 * sample_size(rows, windows), 0
        while rows >> shift > most:
            shift += 1
        part = thin(chunk.values, shift) if shift else chunk.values.copy()
        return Sample([part], shift, rows + chunk.nulls, chunk.nulls)

    def merge(a: Sample, b: Sample) -> Sample:
        shift = max(a.shift, b.shift)
        rows = a.rows + b.rows
        thinned = [thin(p, shift - sample.shift) for sample in (a, b) for p in sample.parts]
        parts = gathered(thinned)
        if sum(map(len, parts)) > 2 * sample_size(rows, windows):
            shift += 1
            parts = [thin(np.concatenate(parts), 1)]
        return Sample(parts, shift, rows, a.nulls + b.nulls)

    return source.reduce(summarize, merge)


def gathered(parts: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return the values of some arrays in fewer arrays, with short neighbors joined.

    Then each short array is at least twice as long as the next, so each value is copied only a few
    times.
    """
    joined: list[NDArray[Any]] = []
    for part in parts:
        while joined and len(joined[-1]) < 2 * len(part) and len(joined[-1]) + len(part) <= SHORT:
            part = np.concatenate([joined.pop(), part])
        if len(part):
            joined.append(part)
    return joined or list(parts[:1])


def sample_size(rows: int, windows: int = 1) -> int:
    """Return the sample size that costs the least: a larger sample makes smaller brackets."""
    return max(1024, min(rows, int(0.5 * (rows * windows) ** (2 / 3))))


# --- pivots -------------------------------------------------------------------------------------


class Bracket(NamedTuple):
    """Two pivots, and room for the values between them. A pivot of None is no limit.

    `share` is an estimate of the share of the rows between the pivots. `tied` tells whether a pivot
    is the value of many rows.
    """

    lo: Any
    hi: Any
    room: int
    share: float = 0.0
    tied: bool = False


def _sorted(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.itemsize > 1:
        return np.sort(values)
    # NumPy has no vectorized sort for bytes.
    floor = int(np.iinfo(values.dtype).min)
    every = np.arange(floor, floor + 256).astype(values.dtype)
    return every.repeat(histogram_bytes(values).astype(np.int64))


def brackets_of(sample: Sample, targets: list[Target], slack: float) -> list[Bracket]:
    """Return the brackets in which the windows of targets likely lie, estimated from a sample."""
    values = np.concatenate(sample.parts)
    drawn = len(values)
    if values.dtype.kind == "f":
        values = values[values == values]
    few = len(targets) <= 2 and values.dtype.itemsize >= 4
    block = Block(values) if few else Block(_sorted(values), ordered=True)
    return [_bracket_of(block, drawn, sample, target, slack) for target in targets]


def _bracket_of(values: Block, drawn: int, sample: Sample, target: Target, slack: float) -> Bracket:
    rows = sample.rows
    size = values.count
    present = rows - sample.nulls
    if drawn:
        present = round(present * (size / drawn))
    # A sample in which all values are missing still shows that few are present.
    grain = rows // max(drawn, 1) + 1
    spare = 4096 + 32 * grain
    if size == 0 or present == 0:
        return Bracket(None, None, min(rows, spare))
    missing = 0 if target.missing is None else rows - present
    whole = rows - sample.nulls

    def error(rank: int) -> float:
        # The error of a rank among all values that were drawn, because the share of NaN is
        # estimated, too.
        part = min(max(rank / whole, 0.0), 1.0)
        return slack * math.sqrt(drawn * part * (1 - part)) + slack * slack / 2

    first, last = target.ends(present + missing)
    first = min(first, last + 1)  # a rank that does not depend on n may lie far beyond it
    errors = error(first), error(last)
    if missing and target.missing is not None:
        lower = values.less(target.missing)
        assert lower is not None, "a sample is whole"
        before = present * lower / size
        first, last = (round(min(max(r - missing, before), r)) for r in (first, last))
        errors = max(errors[0], error(first)), max(errors[1], error(last))
    i = math.floor(first / present * size - errors[0]) - 1
    j = math.ceil(last / present * size + errors[1])
    i = min(i, size - 1)  # a rank that does not depend on n may lie beyond the estimate of n
    low = values.take(i, min(i + 2, size)) if i >= 0 else None
    high = values.take(max(j - 1, 0), j + 1) if 0 <= j < size else None
    lo = None if low is None else low[0]
    hi = None if high is None else high[-1]
    share = (min(j, size) - max(i, 0)) / size
    room = int(1.25 * share * present + 4 * slack * present / math.sqrt(size)) + spare
    # Three times the number that follows from a sample of the requested size, so that a source that
    # returns fewer values than requested does not fill the memory.
    most = 2 * (last - first) + int(24 * rows ** (2 / 3) * slack / SLACK) + spare
    tied = any(pair is not None and bool(pair[0] == pair[-1]) for pair in (low, high))
    return Bracket(lo, hi, min(rows, room, most), share, tied)


def merged_brackets(brackets: list[Bracket], dtype: np.dtype[Any]) -> list[Bracket]:
    """Return the brackets in ascending order, with brackets that meet merged."""
    least, most = _limits(dtype)
    closed = [
        b._replace(lo=least if b.lo is None else b.lo, hi=most if b.hi is None else b.hi)
        for b in brackets
    ]
    result: list[Bracket] = []
    for b in sorted(closed, key=lambda b: (b.lo, b.hi)):
        if result and b.lo <= result[-1].hi:
            a = result.pop()
            b = Bracket(a.lo, max(a.hi, b.hi), a.room + b.room, a.share + b.share)
        result.append(b)
    return result


# --- the pass: types of two bytes and more ------------------------------------------------------


class Tally(NamedTuple):
    """Counts around two pivots, and the values between them: parts of at most `room` in total."""

    counts: tuple[int, ...]  # of values below lo, at lo, between, at hi, above hi, and of NaN
    parts: list[NDArray[Any]]
    nulls: int


def _limits(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    if dtype.kind == "f":
        return dtype.type(-math.inf), dtype.type(math.inf)
    info = np.iinfo(dtype)
    return dtype.type(info.min), dtype.type(info.max)


def tally(source: Source, brackets: list[Bracket], missing: float | None) -> list[KnownRanks]:
    """Make a pass that finds the ranks at and between the pivots of each bracket."""
    kept = np.dtype(np.int32) if source.dtype.itemsize == 2 else source.dtype
    brackets = merged_brackets(brackets, source.dtype)
    pivots = [np.array([b.lo, b.hi], kept) for b in brackets]

    def summarize(chunk: Chunk) -> list[Tally]:
        rows = chunk.values.shape[0]
        outs = [np.empty(min(rows, b.room) + 64, kept) for b in brackets]
        if len(brackets) == 1:
            totals = [bracket_pass(chunk.values, pivots[0], outs[0])]
        else:
            totals = bracket_passes(chunk.values, pivots, outs)
        result = []
        for b, out, total in zip(brackets, outs, totals, strict=True):
            between = out[: total[2]]
            if 4 * between.shape[0] < out.shape[0] and rows < b.room:
                # Release the unused memory, since there may be many chunks.
                between = between.copy()
            result.append(Tally(total, [between], chunk.nulls))
        return result

    def join(a: Tally, b: Tally, room: int) -> Tally:
        counts = tuple(map(add, a.counts, b.counts))
        fits = a.parts and b.parts and counts[2] <= room
        return Tally(counts, gathered([*a.parts, *b.parts]) if fits else [], a.nulls + b.nulls)

    def merge(a: list[Tally], b: list[Tally]) -> list[Tally]:
        return [join(x, y, k.room) for x, y, k in zip(a, b, brackets, strict=True)]

    def ranks_of_total(total: Tally, bracket: Bracket) -> KnownRanks:
        below, at_lo, between, at_hi, above, nan = total.counts
        parts = total.parts or [np.empty(0, kept)]
        between_values = parts[0] if len(parts) == 1 else np.concatenate(parts)
        lo, hi = (source.dtype.type(pivot) for pivot in (bracket.lo, bracket.hi))
        block = Block(between_values.astype(source.dtype, copy=False), between)
        segments: list[Segment] = [Run(lo, at_lo), block, Run(hi, at_hi)]
        return known_ranks(segments, below, above, nan + total.nulls, missing, source)

    totals: list[Tally] = source.reduce(summarize, merge)
    return [ranks_of_total(*pair) for pair in zip(totals, brackets, strict=True)]


def known_ranks(
    segments: list[Segment], below: int, above: int, nan: int, missing: float | None, source: Source
) -> KnownRanks:
    """Return the order statistics of segments, with missing rows inserted if they count."""
    n = below + sum(segment.count for segment in segments) + above
    if missing is not None:
        n += nan
        segments, below = insert(segments, below, above, missing, nan, source.dtype)
    return KnownRanks(segments, below, n, nan, source.dtype)


# --- the pass: types of one byte ----------------------------------------------------------------


class Bytes(NamedTuple):
    """For a column of bytes: counts up to thresholds or of each value, of rows, and of nulls."""

    counts: NDArray[np.uint64]
    rows: int
    nulls: int


def tally_bytes(source: Source, bracket: Bracket | None, missing: float | None) -> KnownRanks:
    """Make a pass that counts each value between the pivots, or every value without pivots."""
    floor = int(np.iinfo(source.dtype).min)
    first, last = 0, 255
    if bracket is not None:
        first = 0 if bracket.lo is None else int(bracket.lo) - floor
        last = 255 if bracket.hi is None else int(bracket.hi) - floor
    start = max(first - 1, 0)
    thresholds = last - start + 1

    def summarize(chunk: Chunk) -> Bytes:
        if thresholds <= THRESHOLDS:
            counts = count_bytes(chunk.values, start, thresholds)
        else:
            counts = histogram_bytes(chunk.values)
        return Bytes(counts, chunk.values.shape[0], chunk.nulls)

    def merge(a: Bytes, b: Bytes) -> Bytes:
        return Bytes(a.counts + b.counts, a.rows + b.rows, a.nulls + b.nulls)

    total = source.reduce(summarize, merge)
    if thresholds <= THRESHOLDS:
        upto = [int(c) for c in total.counts]
        below = upto[0] if first > start else 0
        upto = upto[first - start :]
        counts = [b - a for a, b in zip([below, *upto], upto, strict=False)]
    else:
        below, first = 0, 0
        counts = [int(c) for c in total.counts]
    segments: list[Segment] = [
        Run(source.dtype.type(first + i + floor), c) for i, c in enumerate(counts)
    ]
    above = total.rows - below - sum(counts)
    return known_ranks(segments, below, above, total.nulls, missing, source)


# --- together -----------------------------------------------------------------------------------


def collect(source: Source, target: Target) -> KnownRanks:
    """Return all values of a small source, as sorted order statistics."""
    if isinstance(source, ArraySource) and source.direct:
        values, nulls = source.array.copy(), 0
    else:
        parts, nulls = source.reduce(
            lambda chunk: ([chunk.values.copy()], chunk.nulls),
            lambda a, b: (a[0] + b[0], a[1] + b[1]),
        )
        values = np.concatenate(parts)
    values.sort()  # sorts NaN last
    present = values.shape[0]
    if present and values.dtype.kind == "f" and values[-1] != values[-1]:
        present -= int(np.count_nonzero(np.isnan(values)))
    block = Block(values[:present], ordered=True)
    return known_ranks([block], 0, 0, nulls + values.shape[0] - present, target.missing, source)


def _sample(source: Source, windows: int = 1) -> Sample:
    """Draw a sample of a source; if the source can sample its rows, without a pass."""
    length = source.length
    if length is None:
        return draw(source, windows)
    size = sample_size(length, windows)
    values = source.sample(min(size, 1 << 15) if source.dtype.itemsize == 1 else size, random_words)
    if values is None:
        return draw(source, windows)
    return Sample([values], 0, length, source.nulls or 0)


def _tally_one(source: Source, bracket: Bracket, missing: float | None) -> KnownRanks:
    if source.dtype.itemsize == 1:
        return tally_bytes(source, bracket, missing)
    return tally(source, [bracket], missing)[0]


def find(source: Source, target: Target) -> KnownRanks:
    """Return order statistics that cover a target: mostly in one pass, after a miss in more."""
    small = source.dtype.itemsize == 1
    sample, slack = _sample(source), SLACK_BYTES if small else SLACK
    while True:
        (bracket,) = brackets_of(sample, [target], slack)
        ranks = _tally_one(source, bracket, target.missing)
        if ranks.covers(*target.ends(ranks.n)):
            return ranks
        if small:
            return tally_bytes(source, None, target.missing)
        # The sample was biased, or unlucky: draw another one in a further pass.
        sample, slack = draw(source), slack * 1.5


def find_all(
    source: Source, targets: list[Target], limits_of: Callable[[Any], Iterable[float]] | None
) -> list[KnownRanks]:
    """Return order statistics that mostly cover all targets (of one `missing`), from one pass.

    If a pivot is the value of many rows, the values below its thresholds are counted, too.
    """
    missing = targets[0].missing
    if source.dtype.itemsize == 1:
        return [tally_bytes(source, None, missing)]
    brackets = brackets_of(_sample(source, len(targets)), targets, SLACK)
    if sum(b.share for b in merged_brackets(brackets, source.dtype)) > 0.5:
        return [collect(source, targets[0])]
    pivots = {p for b in brackets if b.tied for p in (b.lo, b.hi) if p is not None}
    values = {v for pivot in pivots for v in limits_of(pivot)} if limits_of is not None else set()
    edges = (least_from(source.dtype, value) for value in values)
    brackets += [Bracket(edge, edge, 0) for edge in edges if edge is not None]
    return tally(source, brackets, missing)


def count(source: Source, value: float, missing: float | None) -> int:
    """Count the values below `value`, by a pass."""
    edge = least_from(source.dtype, value)
    pivot = _limits(source.dtype)[1] if edge is None else edge
    ranks = _tally_one(source, Bracket(pivot, pivot, 0), None)
    below = ranks.n if edge is None else ranks.below
    return below + ranks.nan if missing is not None and missing < value else below
