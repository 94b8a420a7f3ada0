"""The rows that a mask keeps, and how many that several sets have (see csrc/sources/pick.h, core/both.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint64_t

cimport numpy as cnp

from .core cimport check_status

cnp.import_array()

cdef extern from "sources/pick.h" nogil:
    size_t dpf_pick(size_t size, const void *x, const uint8_t *keep, size_t n, void *out)

cdef extern from "core/both.h" nogil:
    int dpf_both(const uint64_t *words, size_t sets, size_t stride, const uint64_t *bits, size_t n,
                 int64_t *counts)


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


def both(const uint64_t[:, ::1] words not None, size_t first, const uint64_t[::1] bits not None,
         int64_t[::1] counts not None):
    """Write how many bits each row of `words`, from word `first` on, has in common with `bits`."""
    cdef size_t sets = words.shape[0], stride = words.shape[1], n = bits.shape[0]
    cdef int status
    if first > stride or n > stride - first or <size_t>counts.shape[0] != sets:
        raise ValueError("there must be words for all bits, and a count for each row")
    if sets == 0 or n == 0:
        counts[:] = 0
        return
    with nogil:
        status = dpf_both(&words[0, first], sets, stride, &bits[0], n, &counts[0])
    check_status(status)
