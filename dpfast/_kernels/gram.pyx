"""Exact sums of columns and of products of two columns (see csrc/sulq/gram.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t

import numpy as np

from ..errors import NativeError

cdef extern from "sulq/gram.h" nogil:
    int64_t DPF_GRAM_REACH
    size_t DPF_GRAM_ROWS, DPF_GRAM_CALL, DPF_GRAM_WIDTH
    ctypedef struct dpf_box_limits:
        double scale
        size_t rows
        const double *lo
        const double *hi
        const double *middle
    size_t DPF_GRAM_SCRATCH(size_t width)
    int dpf_gram(const double *rows, size_t n, size_t width, const dpf_box_limits *limits,
                 int64_t *sums, int64_t *products, double *scratch, size_t *done)

#: Rows of a stretch, the most rows of a call, and the most columns.
STRETCH, MOST_ROWS, MOST_COLUMNS = DPF_GRAM_ROWS, DPF_GRAM_CALL, DPF_GRAM_WIDTH


def add(const double[:, ::1] rows not None, double scale, const double[:, ::1] lo not None,
        const double[:, ::1] hi not None, const double[:, ::1] middle not None,
        int64_t[::1] sums not None, int64_t[:, ::1] products not None):
    """Add the sums of all columns to `sums`, and those of ``z_i z_j``, i <= j, to `products`.

    Stops before the first stretch of rows that has a NaN; how many rows have been added. What z is,
    and the limits, are those of `box.whole`.
    """
    cdef size_t n = rows.shape[0], width = rows.shape[1], done = 0
    cdef dpf_box_limits limits
    cdef double[::1] scratch
    cdef Py_ssize_t i, j
    cdef int status
    if not (lo.shape[0] == hi.shape[0] == middle.shape[0] and lo.shape[0] > 0):
        raise ValueError("as many rows of each limit, and at least one")
    if not (rows.shape[1] == lo.shape[1] == hi.shape[1] == middle.shape[1] == sums.shape[0]
            == products.shape[0] == products.shape[1] and 0 < width <= DPF_GRAM_WIDTH):
        raise ValueError("limits and sums must have as many columns as the rows, and not too many")
    for i in range(lo.shape[0]):
        for j in range(lo.shape[1]):
            if not (middle[i, j] - DPF_GRAM_REACH <= lo[i, j] <= hi[i, j]
                    <= middle[i, j] + DPF_GRAM_REACH):
                raise ValueError("limits must be in order, and near their middle")
    if n > DPF_GRAM_CALL:
        raise ValueError("too many rows at a time")
    if n == 0:
        return 0
    scratch = np.empty(DPF_GRAM_SCRATCH(width))
    limits = dpf_box_limits(scale, lo.shape[0], &lo[0, 0], &hi[0, 0], &middle[0, 0])
    with nogil:
        status = dpf_gram(&rows[0, 0], n, width, &limits, &sums[0], &products[0, 0], &scratch[0],
                          &done)
    if status:
        raise NativeError("DPFAST_ISA asks for an instruction set that cannot be had")
    return done
