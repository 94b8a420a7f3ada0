"""One pass over a source: pivots from a sample, counts and candidates from the kernels.

Floyd and Rivest's selection, cut down to what a window needs: a random sample of about n**(2/3) / 2
values says where the window must lie, up to a slack of a few standard deviations; the pass counts
what is outside, and collects what is inside. The counts are exact, so a bad sample can only cost
another pass, never a wrong answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._layout import Block, Layout, Piece, Run, insert, least_from
from ._native.order import bracket_pass, count_bytes, histogram_bytes
from .rng import default_generator
from .sources import ArraySource, Chunk, Source

__all__ = ["Target", "collect", "find", "laid", "random_words"]

#: Standard deviations of the sample's error that the bracket allows for: a miss is then one in a
#: million.
SLACK = 5.0
#: For bytes each threshold costs, and a miss is cheap.
SLACK_BYTES = 4.0
#: With at most this many thresholds, counting bytes is faster than their histogram.
THRESHOLDS = 24


class Target(NamedTuple):
    """What is looked for: rank ``rule(n)`` and `width` ranks on either side of it.

    A missing row (NaN or null) counts as the value `missing`, or not at all if that is None. The
    rule is also asked about estimates of n.
    """

    rule: Callable[[int], int]
    width: int
    missing: float | None

    def ends(self, n: int) -> tuple[int, int]:
        if n == 0:
            return 1, 0
        rank = int(self.rule(n))
        return max(1, rank - self.width), min(n, rank + self.width)


def random_words(count: int) -> NDArray[np.uint64]:
    """Random words that whoever made the data cannot foresee, hence no worst case by design."""
    words = np.empty(count, np.uint64)
    default_generator().stream().fill(words.view(np.uint8))
    return words


# --- samples ------------------------------------------------------------------------------------


class Sample(NamedTuple):
    """Rows drawn with probability ``2**-shift`` each, and the counts of all rows."""

    parts: list[NDArray[Any]]
    shift: int
    rows: int
    nulls: int


def thin(values: NDArray[Any], shift: int) -> NDArray[Any]:
    """Each value with probability ``2**-shift``: one at random of every ``2**shift`` in turn."""
    if shift == 0:
        return values
    strata = -(-values.shape[0] >> shift)
    index = np.arange(strata, dtype=np.int64) << shift
    index += (random_words(strata) >> np.uint64(64 - shift)).astype(np.int64)
    chosen: NDArray[Any] = values[index[index < values.shape[0]]]
    return chosen


def draw(source: Source) -> Sample:
    """A sample by a pass: unbiased, whatever the source, and of a size that suits its rows."""

    def summarise(chunk: Chunk) -> Sample:
        rows = chunk.values.shape[0]
        most, shift = 2 * sample_size(rows), 0
        while rows >> shift > most:
            shift += 1
        part = thin(chunk.values, shift) if shift else chunk.values.copy()
        return Sample([part], shift, rows + chunk.nulls, chunk.nulls)

    def merge(a: Sample, b: Sample) -> Sample:
        if len(b.parts) > len(a.parts):
            a, b = b, a
        shift = max(a.shift, b.shift)
        rows = a.rows + b.rows
        parts = a.parts if a.shift == shift else [thin(p, shift - a.shift) for p in a.parts]
        parts += b.parts if b.shift == shift else [thin(p, shift - b.shift) for p in b.parts]
        if len(parts) > 64:  # many tiny chunks: else every merge would walk them all
            parts = [np.concatenate(parts)]
        if sum(map(len, parts)) > 2 * sample_size(rows):
            shift += 1
            parts = [thin(np.concatenate(parts), 1)]
        return Sample(parts, shift, rows, a.nulls + b.nulls)

    return source.reduce(summarise, merge)


def sample_size(rows: int) -> int:
    return max(1024, int(0.5 * rows ** (2 / 3)))


# --- pivots -------------------------------------------------------------------------------------


class Bracket(NamedTuple):
    """Two pivots (None: no limit on that side), and room for the values between them."""

    lo: Any
    hi: Any
    room: int


def _sorted(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.itemsize > 1:
        return np.sort(values)
    # NumPy has no vector code for sorting bytes.
    floor = int(np.iinfo(values.dtype).min)
    every = np.arange(floor, floor + 256).astype(values.dtype)
    return every.repeat(histogram_bytes(values).astype(np.int64))


def place(sample: Sample, target: Target, slack: float) -> Bracket:
    """Where the window lies, as far as the sample can tell."""
    values, rows = np.concatenate(sample.parts), sample.rows
    values = _sorted(values)
    drawn = size = values.shape[0]
    if size and values[-1] != values[-1]:
        size = int(np.searchsorted(values, np.nan))
        values = values[:size]
    present = rows - sample.nulls
    if drawn:
        present = round(present * (size / drawn))
    # A sample without any value present still says that there are few of them.
    grain = rows // max(drawn, 1) + 1
    spare = 4096 + 32 * grain
    if size == 0 or present == 0:
        return Bracket(None, None, min(rows, spare))
    missing = 0 if target.missing is None else rows - present
    whole = rows - sample.nulls

    def error(rank: int) -> float:
        # Of a place among all that was drawn: how much of it is NaN is an estimate as well.
        part = min(max(rank / whole, 0.0), 1.0)
        return slack * math.sqrt(drawn * part * (1 - part)) + slack * slack / 2

    first, last = target.ends(present + missing)
    errors = error(first), error(last)
    if missing and target.missing is not None:
        edge = least_from(values.dtype, target.missing)
        lower = size if edge is None else int(np.searchsorted(values, edge))
        before = present * lower / size
        first, last = (round(min(max(r - missing, before), r)) for r in (first, last))
        errors = max(errors[0], error(first)), max(errors[1], error(last))
    i = math.floor(first / present * size - errors[0]) - 1
    j = math.ceil(last / present * size + errors[1])
    i = min(i, size - 1)  # a rank that does not follow n may lie beyond the estimate of n
    lo = values[i] if i >= 0 else None
    hi = values[j] if j < size else None
    share = (min(j, size) - max(i, 0)) / size
    room = int(1.25 * share * present + 4 * slack * present / math.sqrt(size)) + spare
    # What a sample of the right size leads to, three times over. A source that gives fewer values
    # than it was asked for must not fill the memory.
    most = 2 * (last - first) + int(24 * rows ** (2 / 3) * slack / SLACK) + spare
    return Bracket(lo, hi, min(rows, room, most))


# --- the pass: types of two bytes and more ------------------------------------------------------


class Tally(NamedTuple):
    """Counts round two pivots, and candidates between them in parts of at most `room` in all."""

    counts: tuple[int, int, int, int, int, int]  # below, at_lo, between, at_hi, above, nan
    parts: list[NDArray[Any]]
    nulls: int


def _limits(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    if dtype.kind == "f":
        return dtype.type(-math.inf), dtype.type(math.inf)
    info = np.iinfo(dtype)
    return dtype.type(info.min), dtype.type(info.max)


def tally(source: Source, bracket: Bracket, target: Target) -> Layout:
    """One pass: what is at and between the pivots, as a layout."""
    least, most = _limits(source.dtype)
    lo = least if bracket.lo is None else bracket.lo
    hi = most if bracket.hi is None else bracket.hi
    kept = np.dtype(np.int32) if source.dtype.itemsize == 2 else source.dtype
    pivots = np.array([lo, hi], kept)
    room = bracket.room

    def summarise(chunk: Chunk) -> Tally:
        rows = chunk.values.shape[0]
        out = np.empty(min(rows, room) + 64, kept)
        counts = bracket_pass(chunk.values, pivots, out)
        found = out[: counts[2]]
        if 4 * found.shape[0] < out.shape[0] and rows < room:
            found = found.copy()  # many chunks: do not hold on to their empty room
        return Tally(counts, [found], chunk.nulls)

    def merge(a: Tally, b: Tally) -> Tally:
        if len(b.parts) > len(a.parts):
            a, b = b, a
        c = a.counts, b.counts
        counts = tuple(x + y for x, y in zip(*c, strict=True))
        parts = a.parts
        if parts and b.parts and counts[2] <= room:
            parts.extend(b.parts)
        else:
            parts = []
        return Tally(counts, parts, a.nulls + b.nulls)  # type: ignore[arg-type]

    total = source.reduce(summarise, merge)
    below, at_lo, between, at_hi, above, nan = total.counts
    found = np.empty(0, kept)
    if len(total.parts) == 1:
        found = total.parts[0]
    elif total.parts:
        found = np.concatenate(total.parts)
    if kept != source.dtype:
        found = found.astype(source.dtype)
    pieces: list[Piece] = [
        Run(source.dtype.type(lo), at_lo),
        Block(found, between),
        Run(source.dtype.type(hi), at_hi),
    ]
    return laid(pieces, below, above, nan + total.nulls, target, source)


def laid(
    pieces: list[Piece], below: int, above: int, nan: int, target: Target, source: Source
) -> Layout:
    """The layout of `pieces`, with the missing rows in their place if they count."""
    n = below + sum(piece.count for piece in pieces) + above
    if target.missing is not None:
        n += nan
        pieces, below = insert(pieces, below, above, target.missing, nan, source.dtype)
    return Layout(pieces, below, n, nan, source.dtype)


# --- the pass: types of one byte ----------------------------------------------------------------


class Bytes(NamedTuple):
    """Counts at thresholds or of values, rows that are not null, and nulls."""

    counts: NDArray[np.uint64]
    rows: int
    nulls: int


def tally_bytes(source: Source, bracket: Bracket | None, target: Target) -> Layout:
    """One pass: how often each value between the pivots occurs (without pivots: every value)."""
    floor = int(np.iinfo(source.dtype).min)
    first, last = 0, 255
    if bracket is not None:
        first = 0 if bracket.lo is None else int(bracket.lo) - floor
        last = 255 if bracket.hi is None else int(bracket.hi) - floor
    start = max(first - 1, 0)
    thresholds = last - start + 1

    def summarise(chunk: Chunk) -> Bytes:
        if thresholds <= THRESHOLDS:
            counts = count_bytes(chunk.values, start, thresholds)
        else:
            counts = histogram_bytes(chunk.values)
        return Bytes(counts, chunk.values.shape[0], chunk.nulls)

    def merge(a: Bytes, b: Bytes) -> Bytes:
        return Bytes(a.counts + b.counts, a.rows + b.rows, a.nulls + b.nulls)

    total = source.reduce(summarise, merge)
    if thresholds <= THRESHOLDS:
        upto = [int(c) for c in total.counts]
        below = upto[0] if first > start else 0
        upto = upto[first - start :]
        counts = [b - a for a, b in zip([below, *upto], upto, strict=False)]
    else:
        below, first = 0, 0
        counts = [int(c) for c in total.counts]
    pieces: list[Piece] = [
        Run(source.dtype.type(first + i + floor), c) for i, c in enumerate(counts)
    ]
    above = total.rows - below - sum(counts)
    return laid(pieces, below, above, total.nulls, target, source)


# --- together -----------------------------------------------------------------------------------


def collect(source: Source, target: Target) -> Layout:
    """All values of a small source."""

    if isinstance(source, ArraySource) and source.direct:
        values, nulls = source.array.copy(), 0
    else:
        parts, nulls = source.reduce(
            lambda chunk: ([chunk.values.copy()], chunk.nulls),
            lambda a, b: (a[0] + b[0], a[1] + b[1]),
        )
        values = np.concatenate(parts)
    values.sort()  # NaN last
    present = values.shape[0]
    if present and values.dtype.kind == "f" and values[-1] != values[-1]:
        present -= int(np.count_nonzero(np.isnan(values)))
    block = Block(values[:present], ordered=True)
    return laid([block], 0, 0, nulls + values.shape[0] - present, target, source)


def find(source: Source, target: Target) -> Layout:
    """A layout that covers the target: one pass as a rule, another for each miss."""
    length, small = source.length, source.dtype.itemsize == 1
    sample: Sample | None = None
    if length is not None:
        size = min(sample_size(length), 1 << 15) if small else sample_size(length)
        values = source.sample(size, random_words)
        if values is not None:
            sample = Sample([values], 0, length, source.nulls or 0)
    slack = SLACK_BYTES if small else SLACK
    while True:
        if sample is None:
            sample = draw(source)
        if small:
            layout = tally_bytes(source, place(sample, target, slack), target)
        else:
            layout = tally(source, place(sample, target, slack), target)
        if layout.covers(*target.ends(layout.n)):
            return layout
        if small:
            return tally_bytes(source, None, target)
        # The sample was biased, or unlucky: draw one by a pass of its own.
        sample = None
        slack *= 1.5
