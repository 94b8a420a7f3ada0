"""The rows that a mask keeps (see csrc/dpf_pick.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t

cimport numpy as cnp

cnp.import_array()

cdef extern from "dpf_pick.h" nogil:
    size_t dpf_pick(size_t size, const void *x, const uint8_t *keep, size_t n, void *out)


def pick(cnp.ndarray values not None, const uint8_t[::1] keep not None,
         cnp.ndarray out not None):
    """Write the values whose `keep` is not 0 to the beginning of `out` and return how many.

    Both are contiguous, of one dtype of 1, 2, 4 or 8 bytes; `out` has room for all values.
    """
    cdef size_t size = values.itemsize, n = keep.shape[0], found
    cdef const void *x = cnp.PyArray_DATA(values)
    cdef void *y = cnp.PyArray_DATA(out)
    if values.ndim != 1 or out.ndim != 1 or values.dtype != out.dtype or values.dtype.hasobject:
        raise ValueError("values and out must be one-dimensional and of one dtype")
    if size not in (1, 2, 4, 8) or not (
            values.flags.c_contiguous and values.flags.aligned and out.flags.carray):
        raise ValueError("values and out must be contiguous, of 1, 2, 4 or 8 bytes each")
    if <size_t>values.shape[0] != n or <size_t>out.shape[0] < n:
        raise ValueError("keep must be as long as values, and out no shorter")
    if n == 0:
        return 0
    with nogil:
        found = dpf_pick(size, x, &keep[0], n, y)
    return found
