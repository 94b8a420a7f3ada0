"""Sums of a query over many multisets: `csrc/online/multisets.c` with typed buffers."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint8_t

cdef extern from "online/multisets.h" nogil:
    void dpf_multisets_sums(const uint8_t *counts, size_t stride, const int32_t *weights,
                            size_t universe, size_t begin, size_t end, int32_t *out)


def sums(const uint8_t[:, ::1] counts not None, const int32_t[::1] weights not None,
         int32_t[::1] out not None, Py_ssize_t begin, Py_ssize_t end):
    """out[i] = the sum of ``weights[u] * counts[u, i]``, for begin <= i < end.

    Sums must stay below 2**31.
    """
    cdef size_t universe = counts.shape[0], stride = counts.shape[1]
    if <size_t>weights.shape[0] != universe:
        raise ValueError(f"weights must have {universe} values")
    if not 0 <= begin <= end <= <Py_ssize_t>stride or end > out.shape[0]:
        raise ValueError(f"multisets must be among {stride}, with a place in out for each")
    if begin == end or not universe:
        out[begin:end] = 0
        return
    with nogil:
        dpf_multisets_sums(&counts[0, 0], stride, &weights[0], universe, begin, end, &out[0])
