"""The nearest of some centres, and exact sums of the rows of each (see csrc/sulq/nearest.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free

import numpy as np

from ..errors import NativeError

cdef extern from "sulq/nearest.h" nogil:
    int64_t DPF_NEAREST_SPAN, DPF_NEAREST_REACH
    size_t DPF_NEAREST_ROWS
    ctypedef struct dpf_nearest_column:
        double lo, hi, middle, fill, scale
        int64_t first
    ctypedef struct dpf_nearest_model:
        size_t width, centres
        double unit
        int skip
        const dpf_nearest_column *columns
        const double *at
        const double *half
    size_t DPF_NEAREST_SCRATCH(size_t width, size_t centres)
    int dpf_nearest(const double *rows, size_t n, const dpf_nearest_model *model, int64_t *labels,
                    uint64_t *counts, uint64_t *sums, uint64_t *scratch)

MOST_ROWS = DPF_NEAREST_ROWS


cdef class Columns:
    """What is known of the columns: cells ``first .. first + span`` of width ``1 / scale``.

    The number of a row in column j is clamped to the first and the last cell; its coordinate is its
    distance from ``middle[j]``, times `unit`. A NaN counts as ``fill[j]``, or leaves its row without
    a centre.
    """

    cdef dpf_nearest_column *columns
    cdef readonly size_t width
    cdef double unit
    cdef int skip

    def __cinit__(self, const double[::1] scale not None, const int64_t[::1] first not None,
                  const int64_t[::1] span not None, const double[::1] middle not None,
                  const double[::1] fill not None, double unit, bint skip):
        cdef Py_ssize_t j
        self.width = scale.shape[0]
        if not self.width or not (first.shape[0] == span.shape[0] == middle.shape[0]
                                  == fill.shape[0] == scale.shape[0]):
            raise ValueError("one number for each column, and at least one column")
        self.columns = <dpf_nearest_column *>calloc(self.width, sizeof(dpf_nearest_column))
        if self.columns == NULL:
            raise MemoryError
        self.unit, self.skip = unit, skip
        for j in range(scale.shape[0]):
            if not (0 <= span[j] <= DPF_NEAREST_SPAN and -DPF_NEAREST_REACH <= first[j]
                    and first[j] + span[j] <= DPF_NEAREST_REACH):
                raise ValueError("cells must be few enough and not too far from 0")
            if not scale[j] > 0 or fill[j] != fill[j]:
                raise ValueError("scale must be positive, and fill a number")
            self.columns[j] = dpf_nearest_column(
                first[j] / scale[j], (first[j] + span[j]) / scale[j], middle[j], fill[j], scale[j],
                first[j])

    def __dealloc__(self):
        free(self.columns)

    cdef int run(self, const double[:, ::1] rows, const double[:, ::1] at, const double[::1] half,
                 int64_t *labels, uint64_t *counts, uint64_t *sums) except -1:
        cdef size_t n = rows.shape[0]
        cdef int status
        cdef dpf_nearest_model model
        cdef uint64_t[::1] scratch
        if not (<size_t>rows.shape[1] == <size_t>at.shape[1] == self.width) or \
                half.shape[0] != at.shape[0] or at.shape[0] < 1:
            raise ValueError("rows and centres must have as many columns")
        if n > DPF_NEAREST_ROWS:
            raise ValueError("too many rows at a time")
        if n == 0:
            return 0
        scratch = np.empty(DPF_NEAREST_SCRATCH(self.width, at.shape[0]), np.uint64)
        model = dpf_nearest_model(self.width, at.shape[0], self.unit, self.skip, self.columns,
                                  &at[0, 0], &half[0])
        with nogil:
            status = dpf_nearest(&rows[0, 0], n, &model, labels, counts, sums, &scratch[0])
        if status:
            raise NativeError("DPFAST_ISA asks for an instruction set that cannot be had")
        return 0

    def totals(self, const double[:, ::1] rows not None, const double[:, ::1] at not None,
               const double[::1] half not None, uint64_t[::1] counts not None,
               uint64_t[:, ::1] sums not None):
        """Add the number of rows of each centre, and the sums of their cells.

        The last entry of each is for rows without a centre; `half` is half of the squared length of
        each centre.
        """
        cdef Py_ssize_t k = at.shape[0]
        if counts.shape[0] != k + 1 or sums.shape[0] != k + 1 or \
                <size_t>sums.shape[1] != self.width:
            raise ValueError("counts and sums must have an entry for each centre and one more")
        self.run(rows, at, half, NULL, &counts[0], &sums[0, 0])

    def labels(self, const double[:, ::1] rows not None, const double[:, ::1] at not None,
               const double[::1] half not None, int64_t[::1] out not None):
        """The number of each row's nearest centre; the number of centres where there is none."""
        if out.shape[0] != rows.shape[0]:
            raise ValueError("out must be as long as the rows")
        if out.shape[0]:
            self.run(rows, at, half, &out[0], NULL, NULL)
