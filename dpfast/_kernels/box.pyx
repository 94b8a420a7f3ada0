"""Rows as small integers around a public middle, in float64 (see csrc/sulq/box.h)."""

from libc.stddef cimport size_t

from ..errors import NativeError

cdef extern from "sulq/box.h" nogil:
    ctypedef struct dpf_box_limits:
        double scale
        size_t rows
        const double *lo
        const double *hi
        const double *middle
    int dpf_box(const double *x, size_t n, size_t width, const dpf_box_limits *limits, double *out,
                size_t *nan)


def whole(const double[:, ::1] rows not None, double scale, const double[:, ::1] lo not None,
          const double[:, ::1] hi not None, const double[:, ::1] middle not None,
          double[:, ::1] out not None):
    """Write the integers of some rows to `out`; how many numbers were NaN.

    `lo`, `hi` and `middle`, in cells, are the same for every row: so many rows of them lie side by
    side that a loop over them is long.
    """
    cdef size_t n = rows.shape[0], width = rows.shape[1], found = 0
    cdef dpf_box_limits limits
    cdef int status
    if not (lo.shape[0] == hi.shape[0] == middle.shape[0] and lo.shape[0] > 0):
        raise ValueError("as many rows of each limit, and at least one")
    if not (rows.shape[1] == lo.shape[1] == hi.shape[1] == middle.shape[1] == out.shape[1]
            and width > 0) or out.shape[0] < rows.shape[0]:
        raise ValueError("out and the limits must have as many columns as the rows")
    if n == 0:
        return 0
    limits = dpf_box_limits(scale, lo.shape[0], &lo[0, 0], &hi[0, 0], &middle[0, 0])
    with nogil:
        status = dpf_box(&rows[0, 0], n, width, &limits, &out[0, 0], &found)
    if status:
        raise NativeError("DPFAST_ISA asks for an instruction set that cannot be had")
    return found
