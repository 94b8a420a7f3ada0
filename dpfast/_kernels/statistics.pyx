"""Bins with public edges, draws of quantiles, randomized response (see csrc/statistics)."""

from libc.math cimport INFINITY, floor
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

import numpy as np

cimport numpy as cnp

from .core cimport check_status
from .noise cimport check, dpf_words, source
from .summaries cimport kind_of

cnp.import_array()


# --- draw -----------------------------------------------------------------------------------------

cdef bint _plain(cnp.ndarray a):
    return a.ndim == 1 and a.flags.c_contiguous and a.flags.aligned


cdef int take_base(dpf_draw *given, base) except -1:
    """Set the base measure, a `noise.grid.Base`, which must exist as long as the draw."""
    cdef cnp.ndarray spacing = base.round_steps, weight = base.weights
    given.base.shift, given.base.each, given.base.zero = base.shift, base.uniform, base.zero
    given.base.above, given.base.below = base.above, base.below
    given.base.floor, given.base.top = base.floor, base.top
    if not (spacing.dtype == np.float64 and weight.dtype == np.int64 and _plain(spacing)
            and _plain(weight) and spacing.shape[0] == weight.shape[0]):
        raise ValueError("there must be a weight for each spacing")
    given.base.spacings = spacing.shape[0]
    given.base.spacing = <const double *>cnp.PyArray_DATA(spacing)
    given.base.weight = <const int64_t *>cnp.PyArray_DATA(weight)
    return 0


cdef void divide_room(dpf_draw_room *room, int64_t *memory, size_t runs) noexcept:
    """Divide memory of 9 numbers for each run among the arrays of `room`."""
    room.start, room.end, room.low = memory, memory + runs, memory + 2 * runs
    room.high, room.mass = memory + 3 * runs, memory + 4 * runs
    room.begin, room.size = memory + 5 * runs, memory + 6 * runs
    room.distance, room.total = <double *>(memory + 7 * runs), <uint64_t *>(memory + 8 * runs)


cdef tuple told(const dpf_draw_found *found, int status):
    """Return the numbers by which the caller of a draw decides about a proposal."""
    word = None if status == DPF_DRAW_LUMP else found.word
    far = int(found.far) << 64 | int(found.further) if status == DPF_DRAW_OPEN else None
    return found.mass, found.scale, found.bound, far, word


cdef bint _end(dpf_draw_end end, int64_t n):
    return -1 <= end.less <= n and -1 <= end.leq <= n and 0 <= end.part <= <int64_t>1 << 32


def draw_node(const int64_t[::1] rows not None, int64_t before, int64_t n,
              low not None: tuple[int, int, int, int], high not None: tuple[int, int, int, int],
              int64_t whole, uint64_t rest, double c, int64_t share, bint divides,
              base not None: Any, stream not None: BitStream | Script, bint narrow=False,
              int64_t under=-1, int64_t over=-1, int64_t place=0, int64_t ties=0,
              bint flips=False) -> tuple[
                  int, int, int, int, tuple[int, int, int, int, int] | None,
                  tuple[int, int, int, int, int | None] | None] | None:
    """Draw a cell of a node, and if it `divides` a part of the cell, by the exponential mechanism.

    `rows` are the ascending cells of the ranks from ``before + 1`` on, of `n` ranks. `low` and `high` are
    the ends (csrc/statistics/draw.h). The target is ``whole + rest / 2**64``, and c is the rate of half a
    rank. `base` is a `noise.grid.Base`. `narrow` says that the caller can pass a wider window, or `under`
    and `over`. Then the result is None if too much weight is outside of the window. For a node that does
    not divide, ``place / 2**32`` is q and `ties` the limit of r.

    Return ``(cell, part, less, leq, coins, None)``. If the caller has to decide about the cell, the last
    item is ``(mass, scale, bound, far, word)`` instead; its word is None if the ranks of the cell are
    unknown. `coins` is None, except for a node that does not divide, with `flips`: then it is ``(proposals,
    sum of bounds, scale, least u, u)``, where u is in units of 2**-64, and None if it is unknown.
    """
    cdef dpf_words own
    cdef dpf_words *words = source(stream, &own)
    cdef dpf_draw given
    cdef dpf_draw_room room
    cdef dpf_draw_found found
    cdef size_t w = rows.shape[0], most = dpf_draw_runs(w, divides)
    cdef const int64_t *x = &rows[0] if w else NULL
    cdef int status
    given.low.cell, given.low.less, given.low.leq, given.low.part = low
    given.high.cell, given.high.less, given.high.leq, given.high.part = high
    if not (given.low.cell < given.high.cell and 0 <= before <= n - <int64_t>w and n <= 1 << 53
            and -1 <= whole <= n and 0 < c < INFINITY and 0 <= share <= 1 << 19 and _end(given.low, n)
            and _end(given.high, n) and given.low.less >= 0 and given.high.leq >= 0
            and 0 <= place <= <int64_t>1 << 32 and 0 <= ties <= <int64_t>1 << 53
            and not (divides and (ties or flips)) and -1 <= under <= before and (over == -1 or before + <int64_t>w <= over <= n)):
        raise ValueError("the ends, ranks or rate are outside their limits")
    given.before, given.n, given.under, given.over = before, n, under, over
    given.whole, given.rest, given.c, given.share = whole, rest, c, share
    given.divides, given.narrow, given.place, given.ties = divides, narrow, place, ties
    given.flips = flips
    take_base(&given, base)
    if given.low.cell < base.first or given.high.cell > base.last:
        raise ValueError("the cells must be those of the base")
    cdef int64_t *memory = <int64_t *>malloc(72 * most)
    if memory == NULL:
        raise MemoryError()
    divide_room(&room, memory, most)
    with nogil:
        status = dpf_draw_node(&given, x, w, words, &room, &found)
    free(memory)
    check(words)
    if status == DPF_DRAW_NARROW:
        return None
    if status < 0:
        raise ValueError("the rows must be ascending cells on either side of the target")
    open_ = None if status == DPF_DRAW_DONE else told(&found, status)
    coins = None
    if flips:
        near, far = int(found.near) << 64 | int(found.nearer), int(found.far) << 64 | int(found.further)
        coins = found.tries, found.all, found.scale, near, far
    return found.cell, found.part, found.less, found.leq, coins, open_


def cells(const double[::1] values not None, double lo, double hi, double grid, int64_t first,
          int64_t last) -> NDArray[np.int64]:
    """Return for each value its cell on a grid, a power of two, rounded down.

    Values are clamped to ``lo .. hi``, and cells to ``first .. last``.
    """
    cdef Py_ssize_t i, n = values.shape[0]
    cdef cnp.ndarray found = np.empty(n, np.int64)
    cdef int64_t *out = <int64_t *>cnp.PyArray_DATA(found)
    cdef double x, cell
    for i in range(n):
        x = values[i]
        x = hi if x > hi else x if x > lo else lo
        cell = floor(x / grid)  # the quotient is exact, unless it underflows to 0
        if cell * grid > x:
            cell -= 1
        out[i] = min(max(<int64_t>cell, first), last)
    return found


# --- magnitudes -----------------------------------------------------------------------------------

cdef extern from "statistics/magnitudes.h" nogil:
    size_t DPF_MAGNITUDES_CELLS
    int dpf_magnitudes_count(int kind, const void *x, size_t n, int64_t *counts, int64_t *nan)

MAGNITUDES = DPF_MAGNITUDES_CELLS


def magnitudes(cnp.ndarray values not None, int64_t[::1] counts not None) -> int:
    """Count each value in its cell, the upper 16 bits of a float64; return how many are NaN."""
    cdef int kind = kind_of(values), status
    cdef const void *x = cnp.PyArray_DATA(values)
    cdef size_t n = values.shape[0]
    cdef int64_t nan = 0
    if <size_t>counts.shape[0] != DPF_MAGNITUDES_CELLS:
        raise ValueError("counts must have a number for each cell")
    with nogil:
        status = dpf_magnitudes_count(kind, x, n, &counts[0], &nan)
    check_status(status)
    return nan


# --- bins -----------------------------------------------------------------------------------------

cdef extern from "statistics/bins.h" nogil:
    uint32_t DPF_BINS_MOST
    ctypedef struct dpf_bins_axis:
        double lo, hi, scale
        const double *edges
        const uint32_t *first
        uint32_t bins, near
        int exact
    int dpf_bins_place(int kind, const void *x, size_t n, const dpf_bins_axis *axis,
                       uint32_t stride, uint32_t *place)
    void dpf_bins_tally(const uint32_t *place, size_t n, uint32_t cells, int64_t *counts)
    void dpf_bins_marginals(const uint32_t *codes, size_t n, size_t stride, const uint32_t *subset,
                            size_t many, size_t of, const uint32_t *size, size_t cells,
                            int64_t *counts)
    int dpf_bins_histogram(int kind, const void *x, size_t n, const dpf_bins_axis *axis,
                           int64_t *counts)

MOST_CELLS = DPF_BINS_MOST


cdef class Axis:
    """Bins with the lower edges `lower`, finite and ascending without ties, up to `hi`.

    `hi` is the largest number in a bin. With `exact`, a bin is its lower edge alone. `cells` is the size
    of the table from which a search starts.
    """

    cdef dpf_bins_axis axis
    cdef object held, given
    cdef readonly uint32_t bins

    def __cinit__(self, cnp.ndarray lower not None: NDArray[np.float64], double hi, uint32_t cells,
                  bint exact):
        cdef const double[::1] edges = lower
        cdef Py_ssize_t i, bins = edges.shape[0]
        if not 1 <= bins < DPF_BINS_MOST or not 1 <= cells < DPF_BINS_MOST:
            raise ValueError("there must be at least one bin and less than 2**30")
        for i in range(bins - 1):
            if not edges[i] < edges[i + 1]:
                raise ValueError("edges must ascend without ties")
        cdef double lo = edges[0], scale
        if not (edges[bins - 1] <= hi and hi - lo < INFINITY):
            raise ValueError("hi must lie at or above the last edge, and hi - lo must be finite")
        scale = cells / (hi - lo) if hi > lo else 0.0
        if not scale < INFINITY:
            scale = 0.0
        # The same operations as in the kernel, so that rounding is the same.
        cell = ((lower[1:] - lo) * scale).astype(np.int64)
        most = int((np.float64(hi - lo) * scale).astype(np.int64))
        counts = np.bincount(cell, minlength=most + 1)
        near = int(counts.max())
        first = np.zeros(most + 1, np.uint32)
        np.cumsum(counts[:most], out=first[1:])
        cdef const double[::1] padded = np.concatenate([lower, np.full(near + 1, INFINITY)])
        cdef const uint32_t[::1] table = first
        self.held = padded, table
        self.bins = <uint32_t>bins
        self.axis.lo, self.axis.hi, self.axis.scale = lo, hi, scale
        self.axis.edges, self.axis.first = &padded[0], &table[0]
        self.axis.bins, self.axis.near, self.axis.exact = self.bins, near, exact
        self.given = lower, hi, cells, exact

    def __reduce__(self):
        return type(self), self.given

    def histogram(self, cnp.ndarray values not None, int64_t[::1] counts not None):
        """Add 1 to the count of each value's bin, or to ``counts[bins]`` if it is in none."""
        cdef int kind = kind_of(values), status
        cdef const void *x = cnp.PyArray_DATA(values)
        cdef size_t n = values.shape[0]
        if counts.shape[0] != <Py_ssize_t>self.bins + 1:
            raise ValueError("counts must have one number more than there are bins")
        with nogil:
            status = dpf_bins_histogram(kind, x, n, &self.axis, &counts[0])
        check_status(status)

    def place(self, cnp.ndarray values not None, uint32_t stride, uint32_t[::1] place not None):
        """Add `stride` times the bin of each value to `place`, or mark it there as outside."""
        cdef int kind = kind_of(values), status
        cdef const void *x = cnp.PyArray_DATA(values)
        cdef size_t n = values.shape[0]
        if <size_t>place.shape[0] != n:
            raise ValueError("place must be as long as the values")
        if n == 0:
            return
        with nogil:
            status = dpf_bins_place(kind, x, n, &self.axis, stride, &place[0])
        check_status(status)


def tally(const uint32_t[::1] place not None, int64_t[::1] counts not None):
    """Add 1 to ``counts[p]`` for each p of `place`, or to the last count if p is outside."""
    cdef uint32_t cells = <uint32_t>(counts.shape[0] - 1)
    cdef size_t n = place.shape[0]
    if not 1 <= counts.shape[0] <= <Py_ssize_t>DPF_BINS_MOST + 1:
        raise ValueError("counts must have at least one number, and at most 2**30")
    if n == 0:
        return
    with nogil:
        dpf_bins_tally(&place[0], n, cells, &counts[0])


def marginals(const uint32_t[:, ::1] codes not None, const uint32_t[:, ::1] subsets not None,
              const uint32_t[::1] sizes not None, int64_t[:, ::1] counts not None):
    """Add rows to the counts of several marginals with the same shape.

    `codes` has a line for each column. A line of `subsets` has the columns of a marginal. Their sizes are
    `sizes`, and their codes are below these.
    """
    cdef size_t n = codes.shape[1], many = subsets.shape[0], of = subsets.shape[1], cells = 1, i
    for i in range(<size_t>sizes.shape[0]):
        cells *= sizes[i]
    if <size_t>sizes.shape[0] != of or <size_t>counts.shape[0] != many:
        raise ValueError("there must be a size for each column, and counts for each marginal")
    if <size_t>counts.shape[1] != cells or not 1 <= cells <= DPF_BINS_MOST:
        raise ValueError("counts must have a number for each cell, and at most 2**30")
    if n == 0 or many == 0:
        return
    with nogil:
        dpf_bins_marginals(&codes[0, 0], n, n, &subsets[0, 0] if of else NULL, many, of,
                           &sizes[0] if of else NULL, cells, &counts[0, 0])


# --- joint ----------------------------------------------------------------------------------------

cdef extern from "statistics/joint.h" nogil:
    ctypedef struct dpf_wide:
        double m
        int64_t e
    ctypedef struct dpf_wide2:
        double h, l
        int64_t e
    ctypedef struct dpf_joint_step:
        int64_t first
        dpf_wide far_side, near_side
    enum:
        DPF_JOINT_POWERS
    ctypedef struct dpf_joint:
        int64_t runs, m, n
        const int64_t *at
        const int64_t *length
        const dpf_joint_step *step
        const dpf_wide *stay
        dpf_wide2 *power
        double *mantissa
        int32_t *exponent
        dpf_wide *most
    dpf_wide dpf_wide_mul(dpf_wide a, dpf_wide b)
    dpf_wide dpf_joint_kernel(const dpf_joint *g, int64_t s, int64_t d)
    void dpf_joint_terms(const dpf_joint *g, int64_t s, int64_t i, dpf_wide *terms)
    dpf_wide dpf_joint_here(const dpf_joint *g, int64_t s, int64_t i)
    void dpf_joint_fill(dpf_joint *g, dpf_wide *here, dpf_wide2 *sums, dpf_wide2 *decays,
                        dpf_wide *total)
    uint64_t dpf_joint_bounds(const dpf_joint *g, int64_t s, int64_t stop, int64_t position,
                              dpf_wide scale, uint64_t *w, int64_t *low, int64_t *high)

#: Differences of `at` are below 2**JOINT_POWERS.
JOINT_POWERS = DPF_JOINT_POWERS


cdef class JointTable:
    """The table B_s(i) of csrc/statistics/joint.h: runs of `length` cells with `at` values below.

    Step s = 1 .. m + 1 has the integer `first[s]`, and the wide numbers (mantissa, exponent of 2**512)
    `far[s]` and `near[s]`. `stay[s][r]` is a wide number. `power` has exp(-c 2**b) as (high, low,
    exponent).
    """
    cdef dpf_joint g
    cdef dpf_wide total
    cdef cnp.ndarray at, length, mantissa, exponent, bounds
    cdef int64_t low, high, stop
    cdef uint64_t all
    cdef public bint filled

    def __cinit__(self, cnp.ndarray at not None: NDArray[np.int64],
                  cnp.ndarray length not None: NDArray[np.int64], int64_t m, int64_t n,
                  list first not None: list[int], list far not None: list[tuple[float, int]],
                  list near not None: list[tuple[float, int]], list stay not None: list[Any],
                  list power not None: list[tuple[float, float, int]]):
        cdef int64_t runs = at.shape[0], s, r
        cdef dpf_joint_step *step
        cdef dpf_wide *stays
        self.g.step = NULL
        self.g.stay = NULL
        self.g.most = NULL
        for array in (at, length):
            if array.dtype != np.int64 or array.ndim != 1 or not array.flags.c_contiguous:
                raise ValueError("at and length must be contiguous int64 arrays")
        if runs < 1 or length.shape[0] != runs or m < 1 or n < 0 or n >= (<int64_t>1) << (DPF_JOINT_POWERS - 1):
            raise ValueError("bad shapes")
        if (len(first) != m + 2 or len(far) != m + 2 or len(near) != m + 2 or len(stay) != m + 1
                or len(power) != DPF_JOINT_POWERS):
            raise ValueError("bad lists")
        self.at, self.length = at, length
        self.mantissa = np.empty((m, runs), np.float64)
        self.exponent = np.empty((m, runs), np.int32)
        self.bounds = np.empty(runs, np.uint64)
        step = <dpf_joint_step *>malloc((m + 2) * sizeof(dpf_joint_step))
        self.g.step = step
        stays = <dpf_wide *>malloc((m + 1) * (m + 1) * sizeof(dpf_wide))
        self.g.stay = stays
        self.g.most = <dpf_wide *>malloc((m + 1) * sizeof(dpf_wide))
        if step == NULL or stays == NULL or self.g.most == NULL:
            raise MemoryError()
        memset(stays, 0, (m + 1) * (m + 1) * sizeof(dpf_wide))
        for s in range(1, m + 2):
            step[s].first = first[s]
            if step[s].first < 1:
                raise ValueError("first must be at least 1")
            step[s].far_side.m, step[s].far_side.e = far[s]
            step[s].near_side.m, step[s].near_side.e = near[s]
        for s in range(1, m + 1):
            for r in range(1, s + 1):
                stays[s * (m + 1) + r].m, stays[s * (m + 1) + r].e = stay[s][r]
        for s in range(DPF_JOINT_POWERS):
            self.g.power[s].h, self.g.power[s].l, self.g.power[s].e = power[s]
        self.g.runs, self.g.m, self.g.n = runs, m, n
        self.g.at = <const int64_t *>cnp.PyArray_DATA(at)
        self.g.length = <const int64_t *>cnp.PyArray_DATA(length)
        self.g.mantissa = <double *>cnp.PyArray_DATA(self.mantissa)
        self.g.exponent = <int32_t *>cnp.PyArray_DATA(self.exponent)

    def __dealloc__(self):
        free(<void *>self.g.step)
        free(<void *>self.g.stay)
        free(<void *>self.g.most)

    def fill(self):
        """Compute the table."""
        cdef int64_t s, room = 1
        for s in range(1, self.g.m + 2):
            room = max(room, self.g.step[s].first)
        room = min(room, self.g.runs) + 1
        cdef cnp.ndarray here = np.empty(2 * self.g.runs, np.float64)
        cdef cnp.ndarray sums = np.empty(3 * room, np.float64)
        cdef cnp.ndarray decays = np.empty(3 * room, np.float64)
        cdef dpf_wide *h = <dpf_wide *>cnp.PyArray_DATA(here)
        cdef dpf_wide2 *a = <dpf_wide2 *>cnp.PyArray_DATA(sums)
        cdef dpf_wide2 *b = <dpf_wide2 *>cnp.PyArray_DATA(decays)
        with nogil:
            dpf_joint_fill(&self.g, h, a, b, &self.total)
        self.filled = True

    cdef int _place(self, int64_t s, int64_t i) except -1:
        if not self.filled:
            raise ValueError("fill() comes first")
        if not (1 <= s <= self.g.m and 0 <= i < self.g.runs):
            raise ValueError("no such place")
        return 0

    def total_weight(self) -> tuple[float, int]:
        """Return the sum of all weights, as (mantissa, exponent)."""
        return self.total.m, self.total.e

    def before(self, int64_t s, int64_t i) -> tuple[float, int]:
        """Return B_s(i), for 0 <= s < m."""
        if not (self.filled and 0 <= s < self.g.m and 0 <= i < self.g.runs):
            raise ValueError("no such place")
        return float(self.mantissa[s, i]), int(self.exponent[s, i])

    def terms(self, int64_t s, int64_t i) -> list[tuple[float, int]]:
        """Return the terms of A_s(i): the weights with the last r = 1 .. s quantiles in run i."""
        self._place(s, i)
        cdef dpf_wide *found = <dpf_wide *>malloc(s * sizeof(dpf_wide))
        if found == NULL:
            raise MemoryError()
        try:
            dpf_joint_terms(&self.g, s, i, found)
            return [(found[r].m, found[r].e) for r in range(s)]
        finally:
            free(found)

    def look(self, int64_t s, int64_t stop, int64_t position) -> tuple[int, tuple[float, int]]:
        """Bound the weights of runs 0 .. stop - 1 for quantile s - 1; return their sum and scale.

        Quantile s has `position` values below it. It is in run `stop`, or for s = m + 1 at the end.
        """
        cdef dpf_wide scale = self.total
        self._place(s - 1, stop - 1)
        if s <= self.g.m:
            scale.m, scale.e = self.before(s - 1, stop)
        cdef uint64_t *w = <uint64_t *>cnp.PyArray_DATA(self.bounds)
        with nogil:
            self.all = dpf_joint_bounds(&self.g, s, stop, position, scale, w, &self.low,
                                        &self.high)
        self.stop = stop
        return int(self.all), (scale.m, scale.e)

    def find(self, uint64_t place) -> tuple[int, int]:
        """Return the first run at which the sum of bounds is above `place`, and its bound."""
        cdef uint64_t far = <uint64_t>(self.stop - (self.high - self.low))
        cdef uint64_t *w = <uint64_t *>cnp.PyArray_DATA(self.bounds)
        cdef int64_t i
        if place >= self.all:
            raise ValueError("place must be below the sum")
        if place < far:
            i = <int64_t>place
            return (i if i < self.low else i - self.low + self.high), 1
        place -= far
        i = self.low
        while place >= w[i]:
            place -= w[i]
            i += 1
        return i, int(w[i])

    def weight(self, int64_t s, int64_t position, int64_t i) -> tuple[float, int]:
        """Return the weight of run i, for which `look` has a bound, as (mantissa, exponent)."""
        self._place(s - 1, i)
        cdef dpf_wide x = dpf_wide_mul(dpf_joint_here(&self.g, s - 1, i),
                                       dpf_joint_kernel(&self.g, s, position - self.g.at[i]))
        return x.m, x.e


# --- response -------------------------------------------------------------------------------------

cdef extern from "statistics/response.h" nogil:
    enum:
        DPF_RESPONSE_OPEN, DPF_RESPONSE_BLOCK
    uint32_t DPF_RESPONSE_MOST
    size_t dpf_response_flip(dpf_words *words, uint8_t first, uint64_t second, uint8_t *bits,
                             size_t n)
    size_t dpf_response_binary_8(dpf_words *words, uint8_t first, uint64_t second,
                                 const uint8_t *values, size_t n, uint8_t *out)
    size_t dpf_response_binary_16(dpf_words *words, uint8_t first, uint64_t second,
                                 const uint16_t *values, size_t n, uint16_t *out)
    size_t dpf_response_binary_32(dpf_words *words, uint8_t first, uint64_t second,
                                 const uint32_t *values, size_t n, uint32_t *out)
    size_t dpf_response_binary_64(dpf_words *words, uint8_t first, uint64_t second,
                                 const uint64_t *values, size_t n, uint64_t *out)
    void dpf_response_others_8(dpf_words *words, uint32_t categories, uint32_t instead,
                               const uint8_t *values, const uint8_t *other, size_t n, uint8_t *out)
    void dpf_response_others_16(dpf_words *words, uint32_t categories, uint32_t instead,
                                const uint16_t *values, const uint8_t *other, size_t n,
                                uint16_t *out)
    void dpf_response_others_32(dpf_words *words, uint32_t categories, uint32_t instead,
                                const uint32_t *values, const uint8_t *other, size_t n,
                                uint32_t *out)
    void dpf_response_others_64(dpf_words *words, uint32_t categories, uint32_t instead,
                                const uint64_t *values, const uint8_t *other, size_t n,
                                uint64_t *out)
    void dpf_response_own(dpf_words *words, const int64_t *value, size_t n, size_t width,
                          uint8_t *bits)

OPEN = DPF_RESPONSE_OPEN
BLOCK = DPF_RESPONSE_BLOCK
MOST = DPF_RESPONSE_MOST

ctypedef fused code:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


def flip(uint8_t first, uint64_t second, uint8_t[::1] bits not None,
         stream not None: BitStream | Script) -> int:
    """Flip bits by coins of probability ``(first + second / 2**64 + ...) / 256``.

    Add `OPEN` to a bit whose coin is undecided; return how many are.
    """
    cdef dpf_words own
    cdef dpf_words *words = source(stream, &own)
    cdef size_t n = bits.shape[0], left = 0
    if n:
        with nogil:
            left = dpf_response_flip(words, first, second, &bits[0], n)
    check(words)
    return left


def binary(uint8_t first, uint64_t second, const code[::1] values not None,
           code[::1] out not None, stream not None: BitStream | Script) -> int:
    """Write whether values are not 0, as 0 or 1, flipped by coins as in `flip`.

    Add `OPEN` to a number whose coin is undecided; return how many are.
    """
    cdef dpf_words own
    cdef dpf_words *words = source(stream, &own)
    cdef size_t n = values.shape[0], left = 0
    if <size_t>out.shape[0] != n:
        raise ValueError(f"out must have {n} values")
    if n:
        with nogil:
            if code is uint8_t:
                left = dpf_response_binary_8(words, first, second, &values[0], n, &out[0])
            elif code is uint16_t:
                left = dpf_response_binary_16(words, first, second, &values[0], n, &out[0])
            elif code is uint32_t:
                left = dpf_response_binary_32(words, first, second, &values[0], n, &out[0])
            else:
                left = dpf_response_binary_64(words, first, second, &values[0], n, &out[0])
    check(words)
    return left


def others(uint32_t categories, uint32_t instead, const code[::1] values not None,
           const uint8_t[::1] other not None, code[::1] out not None,
           stream not None: BitStream | Script):
    """Copy values, `instead` for a value that is not below `categories`; or if `other` is set, a
    uniform one of the other categories."""
    cdef dpf_words own
    cdef dpf_words *words = source(stream, &own)
    cdef size_t n = values.shape[0]
    cdef uint64_t largest = <uint64_t>(<code>-1)
    if not (2 <= categories <= DPF_RESPONSE_MOST and categories - 1 <= largest):
        raise ValueError(f"categories must be 2 .. {DPF_RESPONSE_MOST} and fit the type of values")
    if instead >= categories:
        raise ValueError("instead must be a category")
    if <size_t>other.shape[0] != n or <size_t>out.shape[0] != n:
        raise ValueError(f"other and out must have {n} values")
    if n:
        with nogil:
            if code is uint8_t:
                dpf_response_others_8(words, categories, instead, &values[0], &other[0], n, &out[0])
            elif code is uint16_t:
                dpf_response_others_16(words, categories, instead, &values[0], &other[0], n,
                                       &out[0])
            elif code is uint32_t:
                dpf_response_others_32(words, categories, instead, &values[0], &other[0], n,
                                       &out[0])
            else:
                dpf_response_others_64(words, categories, instead, &values[0], &other[0], n,
                                       &out[0])
    check(words)


def own(const int64_t[::1] values not None, uint8_t[:, ::1] bits not None,
        stream not None: BitStream | Script):
    """Write a fair bit to column ``values[i]`` of each row i, unless there is no such column."""
    cdef dpf_words room
    cdef dpf_words *words = source(stream, &room)
    cdef size_t n = values.shape[0], width = bits.shape[1]
    if <size_t>bits.shape[0] != n:
        raise ValueError(f"bits must have {n} rows")
    if n and width:
        with nogil:
            dpf_response_own(words, &values[0], n, width, &bits[0, 0])
    check(words)
