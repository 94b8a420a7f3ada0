"""Windows of order statistics, cells of a public grid and their exact sums (see csrc/summaries)."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

import numpy as np

cimport numpy as cnp

from .core cimport check_status, dtype_of

cnp.import_array()


# --- order ----------------------------------------------------------------------------------------

cdef extern from "summaries/window.h" nogil:
    ctypedef struct dpf_window_counts:
        uint64_t below, at_lo, between, at_hi, above, nan, kept
    void dpf_window_init()
    int dpf_window_pass(int kind, const void *x, size_t n, const void *pivots, void *out,
                        size_t room, dpf_window_counts *counts)
    int dpf_window_passes(int kind, const void *x, size_t n, size_t brackets,
                          const void *const *pivots, void *const *outs, const size_t *rooms,
                          dpf_window_counts *counts)
    int dpf_window_bytes(const uint8_t *x, size_t n, uint8_t flip, uint8_t first,
                         size_t thresholds, uint64_t *counts)
    void dpf_window_histogram(const uint8_t *x, size_t n, uint8_t flip, uint64_t *counts)

dpf_window_init()

cdef extern from "summaries/order.h" nogil:
    int dpf_order_part(int kind, const void *x, size_t n, size_t start, size_t stop, void *out,
                       size_t *nan)


cdef bint _plain(cnp.ndarray a):
    return a.ndim == 1 and a.flags.c_contiguous and a.flags.aligned and a.dtype.isnative


cdef int _ready(cnp.ndarray values, cnp.ndarray pivots, cnp.ndarray out) except -1:
    """Return the kind of a bracket pass; refuse arrays that do not suit it."""
    cdef int kind = -1 if values.itemsize == 1 else dtype_of(values.descr.kind, values.itemsize)
    cdef object expected = np.dtype(np.int32) if values.itemsize == 2 else values.dtype
    if kind < 0 or not (_plain(values) and _plain(pivots) and _plain(out)):
        raise ValueError("bracket_pass needs contiguous native arrays of 2, 4 or 8 bytes")
    if pivots.dtype != expected or out.dtype != expected or pivots.shape[0] != 2:
        raise ValueError(f"pivots (2) and out must have dtype {expected}")
    if not out.flags.writeable:
        raise ValueError("out must be writeable")
    if not pivots[0] <= pivots[1]:
        raise ValueError("the pivots must be in order")
    return kind


def bracket_pass(cnp.ndarray values not None, cnp.ndarray pivots not None,
                 cnp.ndarray out not None) -> tuple[int, int, int, int, int, int]:
    """Count `values` below, at and above two `pivots`, and collect those strictly between in `out`.

    Return ``(below, at_lo, between, at_hi, above, nan)``; ``min(between, len(out))`` values were
    collected. `pivots` (lo <= hi) and `out` have the dtype of `values`, or int32 for 16-bit types.
    """
    cdef int kind = _ready(values, pivots, out), status
    cdef const void *x = cnp.PyArray_DATA(values)
    cdef const void *p = cnp.PyArray_DATA(pivots)
    cdef void *o = cnp.PyArray_DATA(out)
    cdef size_t n = values.shape[0], room = out.shape[0]
    cdef dpf_window_counts c
    with nogil:
        status = dpf_window_pass(kind, x, n, p, o, room, &c)
    check_status(status)
    return c.below, c.at_lo, c.between, c.at_hi, c.above, c.nan


def bracket_passes(cnp.ndarray values not None, list pivots not None: list[NDArray[Any]],
                   list outs not None: list[NDArray[Any]]) -> list[
                       tuple[int, int, int, int, int, int]]:
    """Make a `bracket_pass` for each pair of pivots, with one read of the values."""
    cdef size_t brackets = len(pivots), n = values.shape[0], b
    cdef int kind = 0, status
    cdef const void *x = cnp.PyArray_DATA(values)
    if brackets == 0 or brackets != <size_t>len(outs):
        raise ValueError("bracket_passes needs an output for each of some brackets")
    cdef const void **p = <const void **>malloc(brackets * sizeof(void *))
    cdef void **o = <void **>malloc(brackets * sizeof(void *))
    cdef size_t *rooms = <size_t *>malloc(brackets * sizeof(size_t))
    cdef dpf_window_counts *c = <dpf_window_counts *>malloc(brackets * sizeof(dpf_window_counts))
    try:
        if not (p and o and rooms and c):
            raise MemoryError
        for b in range(brackets):
            kind = _ready(values, pivots[b], outs[b])
            p[b] = cnp.PyArray_DATA(pivots[b])
            o[b] = cnp.PyArray_DATA(outs[b])
            rooms[b] = outs[b].shape[0]
        with nogil:
            status = dpf_window_passes(kind, x, n, brackets, <const void *const *>p, o, rooms, c)
        check_status(status)
        return [(c[b].below, c[b].at_lo, c[b].between, c[b].at_hi, c[b].above, c[b].nan)
                for b in range(brackets)]
    finally:
        free(p)
        free(o)
        free(rooms)
        free(c)


def order_part(cnp.ndarray values not None, size_t start, size_t stop) -> NDArray[Any] | None:
    """Return ``sorted(values)[start:stop]`` as a new array, or None if any value is NaN.

    The values have a type of 4 or 8 bytes.
    """
    if values.itemsize < 4 or not _plain(values):
        raise ValueError("the array must be contiguous and of 4 or 8 bytes")
    cdef int kind = dtype_of(values.descr.kind, values.itemsize), status
    cdef size_t n = values.shape[0], nan = 0
    if not start <= stop <= n:
        raise ValueError("the window must lie within the values")
    cdef cnp.ndarray out = np.empty(stop - start, values.descr)
    cdef const void *x = cnp.PyArray_DATA(values)
    cdef void *o = cnp.PyArray_DATA(out)
    with nogil:
        status = dpf_order_part(kind, x, n, start, stop, o, &nan)
    if status == -2:
        raise MemoryError
    check_status(status)
    return None if nan else out


def count_bytes(cnp.ndarray values not None, int first, int thresholds) -> NDArray[np.uint64]:
    """Return how many `values` (int8 or uint8) are <= each of `thresholds` values from `first` on.

    For int8, `first` counts from -128: value v is number v + 128.
    """
    cdef const uint8_t *x
    cdef size_t n
    cdef uint8_t flip = 0x80 if values.descr.kind == b"i" else 0
    if values.itemsize != 1 or not _plain(values):
        raise ValueError("count_bytes needs a contiguous array of 1-byte integers")
    if first < 0 or thresholds < 1 or first + thresholds > 256:
        raise ValueError("the thresholds must lie in 0..255")
    x = <const uint8_t *>cnp.PyArray_DATA(values)
    n = values.shape[0]
    cdef cnp.ndarray counts = np.empty(thresholds, np.uint64)
    cdef uint64_t *c = <uint64_t *>cnp.PyArray_DATA(counts)
    cdef int status
    with nogil:
        status = dpf_window_bytes(x, n, flip, <uint8_t>first, <size_t>thresholds, c)
    check_status(status)
    return counts


def histogram_bytes(cnp.ndarray values not None) -> NDArray[np.uint64]:
    """Return how many `values` (int8 or uint8) equal each of the 256 values, in ascending order."""
    cdef uint8_t flip = 0x80 if values.descr.kind == b"i" else 0
    if values.itemsize != 1 or not _plain(values):
        raise ValueError("histogram_bytes needs a contiguous array of 1-byte integers")
    cdef const uint8_t *x = <const uint8_t *>cnp.PyArray_DATA(values)
    cdef size_t n = values.shape[0]
    cdef cnp.ndarray counts = np.empty(256, np.uint64)
    cdef uint64_t *c = <uint64_t *>cnp.PyArray_DATA(counts)
    with nogil:
        dpf_window_histogram(x, n, flip, c)
    return counts


# --- quantise -------------------------------------------------------------------------------------

cdef extern from "summaries/quantise.h" nogil:
    int64_t DPF_QUANTISE_SPAN, DPF_QUANTISE_SQUARES, DPF_QUANTISE_REACH
    ctypedef struct dpf_quantise_cells:
        double lo, hi, scale
        int64_t first
    ctypedef struct dpf_quantise_whole:
        uint64_t low, high
    ctypedef struct dpf_quantise_totals:
        uint64_t nan
        dpf_quantise_whole sum, squares
    int dpf_quantise_sum(int kind, const void *x, size_t n, const dpf_quantise_cells *cells,
                         int squares, dpf_quantise_totals *totals)
    int dpf_quantise_each(int kind, const void *x, size_t n, const dpf_quantise_cells *cells,
                          uint32_t *out, uint8_t *missing)
    int dpf_quantise_products(const uint32_t *a, const uint32_t *b, size_t n,
                              dpf_quantise_whole *whole)

MOST_SPAN = DPF_QUANTISE_SPAN
MOST_SPAN_OF_SQUARES = DPF_QUANTISE_SQUARES
MOST_REACH = DPF_QUANTISE_REACH


cdef class Grid:
    """Cells ``first .. first + span`` of a public grid ``1 / scale``, for any number of arrays."""

    cdef dpf_quantise_cells cells
    cdef readonly int64_t span
    cdef object given

    def __cinit__(self, double scale, int64_t first, int64_t span):
        cdef int64_t last = first + span
        if not 0 <= span <= DPF_QUANTISE_SPAN:
            raise ValueError("span must lie between 0 and 2**41")
        if first < -DPF_QUANTISE_REACH or last > DPF_QUANTISE_REACH:
            raise ValueError("cells must lie between -2**51 and 2**51")
        self.cells.scale = scale
        self.cells.first = first
        self.cells.lo = first / scale
        self.cells.hi = last / scale
        self.span = span
        self.given = scale, first, span

    def __reduce__(self):
        return type(self), self.given

    def totals(self, cnp.ndarray values not None, bint squares=False) -> tuple[int, int, int]:
        """Return ``(number of NaN, sum of cells, sum of their squares)``; a NaN is cell 0.

        With `squares`, span must be below ``2**32``; without, their sum is 0.
        """
        cdef int kind = kind_of(values), status
        cdef const void *x = cnp.PyArray_DATA(values)
        cdef size_t n = values.shape[0]
        cdef dpf_quantise_totals found = dpf_quantise_totals(
            0, dpf_quantise_whole(0, 0), dpf_quantise_whole(0, 0))
        if squares and self.span > DPF_QUANTISE_SQUARES:
            raise ValueError("squares need a span below 2**32")
        with nogil:
            status = dpf_quantise_sum(kind, x, n, &self.cells, squares, &found)
        check_status(status)
        return (found.nan, found.sum.low | <object>found.sum.high << 64,
                found.squares.low | <object>found.squares.high << 64)

    def write_cells(self, cnp.ndarray values not None, uint32_t[::1] out not None,
             uint8_t[::1] missing not None):
        """Write each value's cell, and to `missing` 1 for a NaN; span must be below ``2**32``."""
        cdef int kind = kind_of(values), status
        cdef const void *x = cnp.PyArray_DATA(values)
        cdef size_t n = values.shape[0]
        if self.span > DPF_QUANTISE_SQUARES:
            raise ValueError("cells of 32 bits need a span below 2**32")
        if <size_t>out.shape[0] != n or <size_t>missing.shape[0] != n:
            raise ValueError("out and missing must be as long as the values")
        if n == 0:
            return
        with nogil:
            status = dpf_quantise_each(kind, x, n, &self.cells, &out[0], &missing[0])
        check_status(status)


def products(const uint32_t[::1] a not None, const uint32_t[::1] b not None) -> int:
    """Return the sum of ``a[i] * b[i]`` as an exact integer."""
    cdef dpf_quantise_whole found = dpf_quantise_whole(0, 0)
    cdef size_t n = a.shape[0]
    cdef int status
    if <size_t>b.shape[0] != n:
        raise ValueError("both must be equally long")
    if n == 0:
        return 0
    with nogil:
        status = dpf_quantise_products(&a[0], &b[0], n, &found)
    check_status(status)
    return found.low | <object>found.high << 64
