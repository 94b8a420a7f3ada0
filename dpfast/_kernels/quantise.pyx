"""Rows as cells of a public grid, and exact sums of cells (see csrc/summaries/quantise.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cimport numpy as cnp

from .kinds cimport kind_of

from ..errors import NativeError

cnp.import_array()

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


cdef int _status(int status) except -1:
    if status:
        raise NativeError("DPFAST_ISA asks for an instruction set that cannot be had")
    return 0


cdef class Grid:
    """Cells ``first .. first + span`` of a public grid ``1 / scale``, made once and read often."""

    cdef dpf_quantise_cells cells
    cdef readonly int64_t span

    def __init__(self, double scale, int64_t first, int64_t span):
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

    def totals(self, cnp.ndarray values not None, bint squares=False):
        """``(NaN, sum of cells, sum of their squares)``; a NaN is cell 0.

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
        _status(status)
        return (found.nan, found.sum.low | <object>found.sum.high << 64,
                found.squares.low | <object>found.squares.high << 64)

    def each(self, cnp.ndarray values not None, uint32_t[::1] out not None,
             uint8_t[::1] missing not None):
        """The cell of each value, and 1 in `missing` for each NaN; span must be below ``2**32``."""
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
        _status(status)


def products(const uint32_t[::1] a not None, const uint32_t[::1] b not None):
    """The sum of ``a[i] * b[i]`` as an exact integer."""
    cdef dpf_quantise_whole found = dpf_quantise_whole(0, 0)
    cdef size_t n = a.shape[0]
    cdef int status
    if <size_t>b.shape[0] != n:
        raise ValueError("both must be equally long")
    if n == 0:
        return 0
    with nogil:
        status = dpf_quantise_products(&a[0], &b[0], n, &found)
    _status(status)
    return found.low | <object>found.high << 64
