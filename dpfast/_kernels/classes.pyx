"""Sums of cells and of their squares by class (see csrc/sulq/classes.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint32_t

from ..errors import NativeError

cdef extern from "sulq/classes.h" nogil:
    size_t DPF_CLASSES_ROWS
    int64_t DPF_CLASSES_REACH
    ctypedef struct dpf_classes_limits:
        const double *scale
        const double *lo
        const double *hi
        const double *middle
    int dpf_classes(const double *x, size_t n, size_t width, const dpf_classes_limits *limits,
                    const uint32_t *key, uint32_t keys, double *sums, size_t *nan)

#: The most rows of a call, and the largest distance of a cell from the middle.
MOST_ROWS, REACH = DPF_CLASSES_ROWS, DPF_CLASSES_REACH


def totals(const double[:, ::1] rows not None, const double[:, ::1] limits not None,
           const uint32_t[::1] key not None, double[:, :, ::1] sums not None):
    """Add each row to the sums of its key; how many numbers were NaN.

    `limits` are scales, first and last cells and middles, a row of each. `sums` has shape
    (keys + 1, 2, columns): cells, then their squares; the last of them is for other keys.
    """
    cdef size_t n = rows.shape[0], width = rows.shape[1], found = 0
    cdef size_t keys = sums.shape[0] - 1
    cdef dpf_classes_limits own
    cdef int status
    cdef Py_ssize_t j
    if sums.shape[0] < 1 or keys >= 0xffffffff or <size_t>key.shape[0] != n or sums.shape[1] != 2 \
            or limits.shape[0] != 4 or width < 1 or \
            not (width == <size_t>limits.shape[1] == <size_t>sums.shape[2]):
        raise ValueError("there must be a key a row, and limits and sums for each column")
    if n > DPF_CLASSES_ROWS:
        raise ValueError("too many rows at a time")
    for j in range(limits.shape[1]):
        if not (limits[1, j] >= limits[3, j] - REACH and limits[2, j] <= limits[3, j] + REACH):
            raise ValueError("cells must not be too far from the middle")
    if n == 0:
        return 0
    own = dpf_classes_limits(&limits[0, 0], &limits[1, 0], &limits[2, 0], &limits[3, 0])
    with nogil:
        status = dpf_classes(&rows[0, 0], n, width, &own, &key[0], <uint32_t>keys,
                             &sums[0, 0, 0], &found)
    if status:
        raise NativeError("DPFAST_ISA asks for an instruction set that cannot be had")
    return found
