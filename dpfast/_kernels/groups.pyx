"""Exact sums by group, and exact draws of a quantile for each group (see csrc/groups)."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

import numpy as np

cimport numpy as cnp

from .core cimport check_status
from .noise cimport check, dpf_words, source
from .summaries cimport kind_of

cnp.import_array()


# --- sums -----------------------------------------------------------------------------------------

cdef extern from "groups/sums.h" nogil:
    int64_t DPF_QUANTISE_SPAN, DPF_QUANTISE_SQUARES, DPF_QUANTISE_REACH
    ctypedef struct dpf_quantise_cells:
        double lo, hi, scale
        int64_t first
    ctypedef struct dpf_groups_total:
        uint64_t sum, rows
    ctypedef struct dpf_groups_moments:
        uint64_t sum, rows, low, high
    int dpf_groups_sum(int kind, const void *x, size_t n, const int32_t *codes, uint32_t groups,
                       const dpf_quantise_cells *cells, int64_t filler, dpf_groups_total *out,
                       uint64_t *nan)
    int dpf_groups_square(int kind, const void *x, size_t n, const int32_t *codes, uint32_t groups,
                          const dpf_quantise_cells *cells, int64_t filler, dpf_groups_moments *out,
                          uint64_t *nan)
    void dpf_groups_count(const int32_t *codes, size_t n, uint32_t groups, uint64_t *counts)
    int dpf_groups_cells(int kind, const void *x, size_t n, int32_t *codes, uint32_t groups,
                         const dpf_quantise_cells *cells, int64_t filler, int64_t *out,
                         uint64_t *nan)
    ctypedef struct dpf_groups_form:
        int64_t a, b, c
    void dpf_groups_combine(const uint64_t *totals, size_t groups, size_t columns,
                            dpf_groups_form form, unsigned shift, int64_t *out)


cdef dpf_quantise_cells cells_of(double scale, int64_t first, int64_t span, int64_t filler,
                                 bint squares) except *:
    cdef dpf_quantise_cells cells
    if not 0 <= span <= (DPF_QUANTISE_SQUARES if squares else DPF_QUANTISE_SPAN) or filler > span:
        raise ValueError("span and filler must be within the limits of cells")
    if first < -DPF_QUANTISE_REACH or first + span > DPF_QUANTISE_REACH:
        raise ValueError("cells must lie between -2**51 and 2**51")
    cells.scale, cells.first = scale, first
    cells.lo, cells.hi = first / scale, (first + span) / scale
    return cells


def add(cnp.ndarray values not None, const int32_t[::1] codes not None, double scale,
        int64_t first, int64_t span, int64_t filler, uint64_t[:, ::1] out not None):
    """Add the cells of `values` to the sums of their groups; return how many are NaN.

    `out` has a row for each group and one for rows of none: the sum of cells, counted from `first`,
    and the number of rows, and with four columns also the sums of the lower and of the upper halves
    of their squares. Above its lower 40 bits, a number of rows has the carries of the sum. A NaN is
    cell `filler`, or no row if that is negative.
    """
    cdef int kind = kind_of(values), status
    cdef size_t n = values.shape[0]
    cdef uint64_t nan = 0
    cdef bint squares = out.shape[1] == 4
    cdef dpf_quantise_cells cells = cells_of(scale, first, span, filler, squares)
    if <size_t>codes.shape[0] != n:
        raise ValueError("there must be as many codes as values")
    if out.shape[0] < 1 or out.shape[1] not in (2, 4):
        raise ValueError("out must have a row more than groups, and 2 or 4 columns")
    if n == 0:
        return 0
    cdef const void *x = cnp.PyArray_DATA(values)
    cdef uint32_t groups = <uint32_t>(out.shape[0] - 1)
    with nogil:
        if squares:
            status = dpf_groups_square(kind, x, n, &codes[0], groups, &cells, filler,
                                       <dpf_groups_moments *>&out[0, 0], &nan)
        else:
            status = dpf_groups_sum(kind, x, n, &codes[0], groups, &cells, filler,
                                    <dpf_groups_total *>&out[0, 0], &nan)
    check_status(status)
    return nan


def cells(cnp.ndarray values not None, int32_t[::1] codes not None, uint32_t groups, double scale,
          int64_t first, int64_t span, int64_t filler, int64_t[::1] out not None):
    """Write the cells of `values`, and `groups` as the code of each row of none; count NaN.

    A NaN is the cell `filler` behind the first, or a row of none if that is negative.
    """
    cdef int kind = kind_of(values), status
    cdef size_t n = values.shape[0]
    cdef uint64_t nan = 0
    cdef dpf_quantise_cells own = cells_of(scale, first, span, filler, False)
    if <size_t>codes.shape[0] != n or <size_t>out.shape[0] != n or groups >= 1 << 31:
        raise ValueError("there must be as many codes and places as values")
    if n == 0:
        return 0
    cdef const void *x = cnp.PyArray_DATA(values)
    with nogil:
        status = dpf_groups_cells(kind, x, n, &codes[0], groups, &own, filler, &out[0], &nan)
    check_status(status)
    return nan


def combine(const uint64_t[:, ::1] totals not None, int64_t a, int64_t b, int64_t c,
            unsigned shift, int64_t[::1] out not None):
    """Write the floor of ``(a sum + b rows + c squares) / 2**shift`` of each group.

    `totals` is as `add` fills it, without the row of no group. A number beyond 2**62 is cut there.
    """
    if totals.shape[0] < out.shape[0] or totals.shape[1] not in (2, 4) or shift > 100:
        raise ValueError("there must be totals for each group, of 2 or 4 columns")
    if out.shape[0]:
        with nogil:
            dpf_groups_combine(&totals[0, 0], out.shape[0], totals.shape[1],
                               dpf_groups_form(a, b, c), shift, &out[0])


def count(const int32_t[::1] codes not None, uint64_t[::1] out not None):
    """Add the number of rows of each group to `out`, whose last place is for rows of none."""
    cdef size_t n = codes.shape[0]
    if out.shape[0] < 1:
        raise ValueError("out must have a place more than groups")
    if n:
        with nogil:
            dpf_groups_count(&codes[0], n, <uint32_t>(out.shape[0] - 1), &out[0])


# --- quantile -------------------------------------------------------------------------------------

cdef extern from "groups/order.h" nogil:
    void dpf_order_window(int64_t *x, size_t n, size_t start, size_t stop)

cdef extern from "groups/quantile.h" nogil:
    ctypedef struct dpf_groups_quantile:
        int64_t first, last
        double q, c, inside
        size_t reach
    ctypedef struct dpf_groups_room:
        double *distance
        int64_t *start
        int64_t *count
        uint64_t *total
    ctypedef struct dpf_groups_proposal:
        int64_t start, count, scale
        uint64_t bound, word
    enum:
        DPF_GROUPS_DONE, DPF_GROUPS_OPEN, DPF_GROUPS_LUMP
    size_t dpf_groups_runs(size_t rows, size_t reach)
    int dpf_groups_quantiles(const dpf_groups_quantile *given, int64_t *rows,
                             const int64_t *offsets, size_t groups, dpf_words *words,
                             const dpf_groups_room *room, int64_t *out, size_t *at,
                             dpf_groups_proposal *proposal)


def window(int64_t[::1] x not None, size_t start, size_t stop):
    """Reorder `x` so that ``x[start:stop]`` is what it would be if all were sorted."""
    if start > stop or stop > <size_t>x.shape[0]:
        raise ValueError("the window must lie within the numbers")
    if x.shape[0]:
        with nogil:
            dpf_order_window(&x[0], x.shape[0], start, stop)


def quantiles(int64_t[::1] rows not None, const int64_t[::1] offsets not None, int64_t first,
              int64_t last, double q, double c, double inside, size_t reach,
              int64_t[::1] out not None, size_t at, stream not None):
    """Draw a cell for each group from `at` on, by the exponential mechanism; `rows` are reordered.

    The target rank is q n, or if `inside` is not 0, so many ranks from an end, for q = 0 or 1.

    Return ``(at, None)`` when all are drawn. Else `at` is a group that the caller has to decide,
    and beside it stands what was proposed: the first cell of a run, how many cells it has, their
    scale and bound, and the word of its coin, or None where the ranks of the run are not known.
    """
    cdef dpf_words own
    cdef dpf_words *words = source(stream, &own)
    cdef dpf_groups_quantile given = dpf_groups_quantile(first, last, q, c, inside, reach)
    cdef dpf_groups_proposal proposal
    cdef dpf_groups_room room
    cdef size_t groups = out.shape[0], most = 0, i
    cdef int status
    if <size_t>offsets.shape[0] != groups + 1 or offsets[0] < 0 or offsets[groups] > rows.shape[0]:
        raise ValueError("offsets must be one more than the groups, and within the rows")
    for i in range(groups):
        if offsets[i + 1] < offsets[i]:
            raise ValueError("offsets must ascend")
        most = max(most, <size_t>(offsets[i + 1] - offsets[i]))
    if inside < 0 or inside > 1e15 or (inside and q not in (0, 1)):
        raise ValueError("inside is for q = 0 or 1")
    if not (0 <= q <= 1 and 0 < c < float("inf") and reach >= 1 and 0 <= last - first < 1 << 53):
        raise ValueError("q, c, reach or the cells are outside their limits")
    if at >= groups:
        return groups, None
    most = dpf_groups_runs(most, reach)
    cdef int64_t *memory = <int64_t *>malloc(32 * most)
    if memory == NULL:
        raise MemoryError()
    room.start, room.count = memory, memory + most
    room.distance, room.total = <double *>(memory + 2 * most), <uint64_t *>(memory + 3 * most)
    cdef int64_t nothing = 0
    cdef int64_t *x = &rows[0] if rows.shape[0] else &nothing
    with nogil:
        status = dpf_groups_quantiles(&given, x, &offsets[0], groups, words, &room, &out[0], &at,
                                      &proposal)
    free(memory)
    check(words)
    if status == DPF_GROUPS_DONE:
        return groups, None
    if status < 0:
        raise ValueError("the rows must be cells from first to last")
    word = None if status == DPF_GROUPS_LUMP else proposal.word
    return at, (proposal.start, proposal.count, proposal.scale, proposal.bound, word)
