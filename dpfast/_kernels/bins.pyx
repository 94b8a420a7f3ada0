"""Rows to numbered bins with public edges, and counts (see csrc/statistics/bins.h)."""

from libc.math cimport INFINITY
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint32_t

import numpy as np

cimport numpy as cnp

from .kinds cimport kind_of

from ..errors import NativeError

cnp.import_array()

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
    int dpf_bins_histogram(int kind, const void *x, size_t n, const dpf_bins_axis *axis,
                           int64_t *counts)

MOST_CELLS = DPF_BINS_MOST


cdef int _status(int status) except -1:
    if status:
        raise NativeError("DPFAST_ISA asks for an instruction set that cannot be had")
    return 0


cdef class Axis:
    """Bins with the lower edges `lower`, finite and ascending without ties, up to `hi`.

    `hi` is the last number that is in a bin. With `exact`, a bin is its lower edge alone. `cells`
    says how fine the table is from which a search starts.
    """

    cdef dpf_bins_axis axis
    cdef object held
    cdef readonly uint32_t bins

    def __init__(self, cnp.ndarray lower not None, double hi, uint32_t cells, bint exact):
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
        # The very operations of the kernel, so that rounding is the same.
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

    def histogram(self, cnp.ndarray values not None, int64_t[::1] counts not None):
        """Add each value to its number in `counts`, or to the last one, ``counts[bins]``."""
        cdef int kind = kind_of(values), status
        cdef const void *x = cnp.PyArray_DATA(values)
        cdef size_t n = values.shape[0]
        if counts.shape[0] != <Py_ssize_t>self.bins + 1:
            raise ValueError("counts must have one number more than there are bins")
        with nogil:
            status = dpf_bins_histogram(kind, x, n, &self.axis, &counts[0])
        _status(status)

    def place(self, cnp.ndarray values not None, uint32_t stride, uint32_t[::1] place not None):
        """Add `stride` times the bin of each value to its number in `place`, or mark it outside."""
        cdef int kind = kind_of(values), status
        cdef const void *x = cnp.PyArray_DATA(values)
        cdef size_t n = values.shape[0]
        if <size_t>place.shape[0] != n:
            raise ValueError("place must be as long as the values")
        if n == 0:
            return
        with nogil:
            status = dpf_bins_place(kind, x, n, &self.axis, stride, &place[0])
        _status(status)


def tally(const uint32_t[::1] place not None, int64_t[::1] counts not None):
    """Add 1 to ``counts[p]`` for each p of `place`, to the last one if it is outside."""
    cdef uint32_t cells = <uint32_t>(counts.shape[0] - 1)
    cdef size_t n = place.shape[0]
    if not 1 <= counts.shape[0] <= <Py_ssize_t>DPF_BINS_MOST + 1:
        raise ValueError("counts must have at least one number, and at most 2**30")
    if n == 0:
        return
    with nogil:
        dpf_bins_tally(&place[0], n, cells, &counts[0])
