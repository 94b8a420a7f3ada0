"""Rows with labels within public limits: those that a hyperplane has wrong, and products of columns
(see csrc/sulq/margin.h and csrc/sulq/pairs.h).
"""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t

import numpy as np

from ..errors import NativeError

cdef extern from "sulq/margin.h" nogil:
    size_t DPF_MARGIN_ROWS
    double DPF_MARGIN_REACH
    ctypedef struct dpf_place:
        size_t width
        const double *lo
        const double *hi
        const double *middle
        const double *scale
        const double *fill
    ctypedef struct dpf_margin_model:
        dpf_place place
        const double *w
        double bias, length
        int skip
    ctypedef struct dpf_margin_found:
        size_t wrong, missing
        double labels
    size_t DPF_MARGIN_SCRATCH(size_t width)
    int dpf_margin(const double *rows, const double *labels, size_t n,
                   const dpf_margin_model *model, double *sums, double *scratch,
                   dpf_margin_found *found)

cdef extern from "sulq/pairs.h" nogil:
    size_t DPF_PAIRS_CALL, DPF_PAIRS_ROWS
    double DPF_PAIRS_REACH
    size_t DPF_PAIRS_SCRATCH(size_t width)
    int dpf_pairs(const double *rows, const double *labels, size_t n, const dpf_place *place,
                  int skip, int64_t *sums, int64_t *products, double *scratch, size_t *missing)

MOST_ROWS, MOST_PAIRS, STRETCH = DPF_MARGIN_ROWS, DPF_PAIRS_CALL, DPF_PAIRS_ROWS
REACH, REACH_PAIRS = int(DPF_MARGIN_REACH), int(DPF_PAIRS_REACH)


cdef int check(const double[:, ::1] columns, double reach) except -1:
    """Whether limits are in order and no coordinate is larger than it may be."""
    cdef Py_ssize_t j
    for j in range(columns.shape[1]):
        if not (columns[0, j] <= columns[1, j] and columns[3, j] >= 0
                and (columns[1, j] - columns[2, j]) * columns[3, j] <= reach + 0.25
                and (columns[2, j] - columns[0, j]) * columns[3, j] <= reach + 0.25
                and columns[4, j] == columns[4, j]):
            raise ValueError("limits must be in order, and no coordinate too large")
    return 0


def wrong(const double[:, ::1] rows not None, const double[::1] labels not None,
          const double[:, ::1] columns not None, const double[::1] w not None, double bias,
          double length, bint skip, double[::1] sums not None):
    """How many rows are on the wrong side, the sum of their labels, and how many had a NaN.

    `columns` has lo, hi, middle, scale and fill, one row of each; no coordinate may be larger than
    `REACH`. The sums of the coordinates of the rows that are wrong are added to `sums`.
    """
    cdef size_t n = rows.shape[0], width = rows.shape[1]
    cdef double[::1] scratch
    cdef dpf_margin_model model
    cdef dpf_margin_found found
    cdef int status
    if not width or columns.shape[0] != 5 or not (
            columns.shape[1] == w.shape[0] == sums.shape[0] == rows.shape[1]):
        raise ValueError("five numbers of each column, and one of w and of sums")
    if labels.shape[0] != rows.shape[0]:
        raise ValueError("one label for each row")
    if n > DPF_MARGIN_ROWS:
        raise ValueError("too many rows at a time")
    check(columns, DPF_MARGIN_REACH)
    if n == 0:
        return 0, 0, 0
    scratch = np.empty(DPF_MARGIN_SCRATCH(width))
    model = dpf_margin_model(
        dpf_place(width, &columns[0, 0], &columns[1, 0], &columns[2, 0], &columns[3, 0],
                  &columns[4, 0]), &w[0], bias, length, skip)
    found = dpf_margin_found(0, 0, 0)
    with nogil:
        status = dpf_margin(&rows[0, 0], &labels[0], n, &model, &sums[0], &scratch[0], &found)
    if status:
        raise NativeError("DPFAST_ISA asks for an instruction set that cannot be had")
    return found.wrong, int(found.labels), found.missing


def pairs(const double[:, ::1] rows not None, const double[::1] labels not None,
          const double[:, ::1] columns not None, bint skip, int64_t[::1] sums not None,
          int64_t[::1] products not None):
    """Add the sums of the coordinates of all columns, labels as the last, and of the products of
    each two, row by row of an upper triangle; how many rows had a NaN.

    `columns` is as in `wrong`, with one more for the labels; no coordinate may be larger than
    `REACH_PAIRS`.
    """
    cdef size_t n = rows.shape[0], width = columns.shape[1], missing = 0
    cdef double[::1] scratch
    cdef dpf_place place
    cdef int status
    if columns.shape[0] != 5 or rows.shape[1] < 1 or not (
            columns.shape[1] == sums.shape[0] == rows.shape[1] + 1):
        raise ValueError("five numbers of each column and of the labels, and a sum for each")
    if <size_t>products.shape[0] != width * (width + 1) // 2:
        raise ValueError("one product of each two columns")
    if labels.shape[0] != rows.shape[0]:
        raise ValueError("one label for each row")
    if n > DPF_PAIRS_CALL:
        raise ValueError("too many rows at a time")
    check(columns, DPF_PAIRS_REACH)
    if n == 0:
        return 0
    scratch = np.empty(DPF_PAIRS_SCRATCH(width))
    place = dpf_place(width, &columns[0, 0], &columns[1, 0], &columns[2, 0], &columns[3, 0],
                      &columns[4, 0])
    with nogil:
        status = dpf_pairs(&rows[0, 0], &labels[0], n, &place, skip, &sums[0], &products[0],
                           &scratch[0], &missing)
    if status:
        raise NativeError("DPFAST_ISA asks for an instruction set that cannot be had")
    return missing
