"""A draw of a quantile from a window of ranks, run by run and slowly: the twin of `draw_node`. It
reads the same random words in the same order, so its draws are the same."""

import math
from fractions import Fraction

import numpy as np

from dpfast.noise.choice import Weights, below

HALF = Fraction(1, 2)
ONE = 1 << 32
BLOCKS = 8
#: Half ranks from the target within which a gap is three runs, and not one.
CLOSE = 3
GAP = "gap"


def counted(rows, before, n, end):
    """The rows below an end, and with those on it, as far as the window shows."""
    cell, less, leq, _ = end
    if less < 0:
        less = before + sum(x < cell for x in rows)
    if leq < 0:
        leq = before + sum(x <= cell for x in rows)
    return less, leq


def positions(cell, less, leq, ends):
    """(start, rise, first part, parts): of part p the position is start + p rise."""
    for end in ends:
        if cell == end[0]:
            first = end[3] if end is ends[0] else 0
            stop = ONE if end is ends[0] else end[3]
            return Fraction(less), Fraction(leq - less, ONE), first, max(1, stop - first)
    return less + HALF, Fraction(leq - less - 1, ONE), 0, ONE


def beside(start, end, share):
    """How many cells of a gap are next to either side."""
    span = end - start + 2
    return min(share * span // 2**20, (span - 1) // 2)


def lacking(rows, place, ties):
    """What the positions of a cell with so many rows lack on either side."""
    some = min(rows - 1, ties)
    return Fraction(some * place >> 31, 2), Fraction(some * (ONE - place) >> 31, 2)


def runs_of(rows, before, n, ends, target, share, divides, place=0, ties=0):
    """Runs: (start, end, less, leq, low, high, lump), low .. high are None where parts decide."""
    low, high = ends
    a, b = low[0], high[0]
    after = before + len(rows)
    inside = [(x, before + i) for i, x in enumerate(rows) if a < x < b]
    less, _ = counted(rows, before, n, high)
    _, leq = counted(rows, before, n, low)
    if low[2] < 0 and before and not any(x <= a for x in rows):
        leq = 0
    low_lump = not any(x <= a for x in rows) and before > leq
    high_lump = not any(x >= b for x in rows) and after < (n if high[1] < 0 else less)
    cells = {}
    for x, rank in inside:
        cells[x] = (cells.get(x, (rank,))[0], rank + 1)
    kept = dict(cells)
    found, at = [], a
    nearest = Fraction(2 * less + 1, 2), Fraction(2 * leq - 1, 2)
    stop = b - 1
    if cells:
        first, last = min(cells), max(cells)
        nearest = cells[first][0] + HALF, cells[last][1] - HALF
        stop = first - 1
        few = {x: divides or over - under <= ties for x, (under, over) in cells.items()}
        if low_lump and few[first]:
            stop, nearest = first, (cells[first][1] - HALF, nearest[1])
            del kept[first]
        if high_lump and last in kept and few[last]:
            nearest = nearest[0], cells[last][0] + HALF
            del kept[last]
    rank = leq
    if low_lump:
        found.append((a, stop, None, None, -math.inf, nearest[0], True))
        at = stop + 1
        rank = cells[min(cells)][1 if min(cells) not in kept else 0] if cells else before
    else:
        start, rise, first, _ = positions(a, low[1], leq, ends)
        own = (None, None) if divides else (start + first * rise, Fraction(leq))
        found.append((a, a, low[1], leq, *own, False))
        at = a + 1

    def gap(start, end, rank):
        if abs(2 * rank - math.floor(2 * target)) > CLOSE and n < ONE:
            return [(start, end, rank, rank, rank - HALF, rank + HALF, GAP)]
        near = beside(start, end, share)
        cuts = [start, start + near, end + 1 - near, end + 1]
        places = rank - HALF, Fraction(rank), rank + HALF
        return [(cuts[i], cuts[i + 1] - 1, rank, rank, place, place, False)
            for i, place in enumerate(places)]  # fmt: skip

    for cell, (under, over) in kept.items():
        if at <= cell - 1 or not (low_lump and at == cell):
            found += gap(at, cell - 1, rank)
        short = lacking(over - under, place, ties)
        own = (None, None) if divides else (under + HALF + short[0], over - HALF - short[1])
        found.append((cell, cell, under, over, *own, False))
        at, rank = cell + 1, over
    if high_lump:
        left = [x for x in rows if x >= at]
        if left:
            found += gap(at, left[0] - 1, rank)
            at = max(at, left[0])
        found.append((at, b, None, None, nearest[1], math.inf, True))
    else:
        found += gap(at, b - 1, rank)
        start, rise, *_ = positions(b, less, high[2], ends)
        own = (None, None) if divides else (Fraction(less), start + high[3] * rise)
        found.append((b, b, less, high[2], *own, False))
    return [one for one in found if one[0] <= one[1]]


def blocks(cell, less, leq, ends, target, c):
    """(first part, parts) of each block of a cell with parts, in the order of the kernel."""
    start, rise, first, parts = positions(cell, less, leq, ends)
    if float(2 * rise * parts) * c / 2 <= 2:
        return [(first, parts)]
    stop = first + parts
    at = min(max(math.ceil((target - start) / rise), first), stop)
    least = max(1, int(parts / (float(2 * rise * parts) * (c / 2))))
    found = []
    done, size, k = at, least, 1
    while done < stop:
        size = stop - done if k == BLOCKS else min(size, stop - done)
        found.append((done, size))
        done, size, k = done + size, 2 * size, k + 1
    done, size, k = at, least, 1
    while done > first:
        size = done - first if k == BLOCKS else min(size, done - first)
        done -= size
        found.append((done, size))
        size, k = 2 * size, k + 1
    return found


def draw(rows, before, n, ends, target, c, share, divides, base, counts, stream, place=0, ties=0):
    """(cell, part); ``counts(cell)`` tells less, leq and, of a gap, its position."""

    def distance(low, high):
        return max(Fraction(0), low - target, target - high)

    runs = []  # (start, end, nearest, halvings, first part, parts of the block, run)
    for run in runs_of(rows, before, n, ends, target, share, divides, place, ties):
        start, end, less, leq, low, high, _ = run
        if low is not None:
            gone = (high < target) - (low > target)
            away = 2 * (target - high if gone > 0 else low - target if gone < 0 else 0)
            runs.append((start, end, Fraction(away), 0, 0, 0, run))
            continue
        begin, rise, _, parts = positions(start, less, leq, ends)
        for first, size in blocks(start, less, leq, ends, target, c):
            k = int(math.log2(Fraction(parts, size)))
            near = 2 * distance(begin + first * rise, begin + (first + size - 1) * rise)
            runs.append((start, end, near, k, first, size, run))
    half = c / 2

    def seen(away, k):
        return float(away) + k * math.log(2) / half

    near = np.array([seen(away, k) for _, _, away, k, *_ in runs])
    mass = np.array([base.weight(start, end) for start, end, *_ in runs], np.int64)
    weights = Weights(near, half, mass)
    while True:
        proposal = weights.propose(1, stream)
        start, end, away, k, first, size, run = runs[int(proposal[0])]
        cell = start if start == end else base.draw(start, end, int(mass[proposal[0]]), stream)
        part = 0
        if size:
            begin, rise, own, parts = positions(cell, run[2], run[3], ends)
            place = below(parts, stream)
            if place >= size << k:
                continue
            part = first + (place >> k)
            away = 2 * abs(begin + part * rise - target)
        elif run[-1] == GAP:
            near = beside(start, end, share)
            half_ranks = int(end + 1 - cell <= near) - int(cell - start + 1 <= near)
            away = abs(2 * (run[2] - target) + half_ranks)
        elif run[-1]:
            less, leq, low = counts(cell)
            if low is not None:
                away = 2 * abs(low - target)
            else:
                begin, rise, own, parts = positions(cell, less, leq, ends)
                if divides:
                    part = own + below(parts, stream)
                    away = 2 * abs(begin + part * rise - target)
                elif cell in (ends[0][0], ends[1][0]):
                    last = own + parts
                    away = 2 * distance(begin + own * rise, begin + last * rise)
                else:
                    short = lacking(leq - less, place, ties)
                    away = 2 * distance(begin + short[0], begin + ONE * rise - short[1])
        if weights.keep(proposal, np.array([seen(away, k)]), lambda _, d=away: d, stream)[0]:
            return cell, part
