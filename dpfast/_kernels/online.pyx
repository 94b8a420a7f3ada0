"""Sums of a query over multisets, and multiplicative weights of a universe (see csrc/online)."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint8_t


# --- multisets ------------------------------------------------------------------------------------

cdef extern from "online/multisets.h" nogil:
    void dpf_multisets_sums(const uint8_t *counts, size_t stride, const int32_t *weights,
                            size_t universe, size_t begin, size_t end, int32_t *out)


def multiset_sums(const uint8_t[:, ::1] counts not None, const int32_t[::1] weights not None,
         int32_t[::1] out not None, Py_ssize_t begin, Py_ssize_t end):
    """Set out[i] to the sum of ``weights[u] * counts[u, i]``, for begin <= i < end.

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


# --- weights --------------------------------------------------------------------------------------

cdef extern from "online/weights.h" nogil:
    ctypedef struct dpf_weights_sums:
        double told, exact, odd
    ctypedef struct dpf_weights_moved:
        double total, told, top
    dpf_weights_sums dpf_weights_compare(const float *part, const int32_t *counts,
                                         const double *query, size_t n, double unit)
    dpf_weights_moved dpf_weights_move(double *log, float *part, const double *query, size_t n,
                                       double unit, double step, double bound, const double *next)
    void dpf_weights_products(const float *rows, size_t count, size_t n, const double *p, double *out)


def compare(const float[::1] part not None, const int32_t[::1] counts,
            const double[::1] query not None, double unit, Py_ssize_t begin, Py_ssize_t end,
            Py_ssize_t block, double[:, ::1] out not None):
    """Write the sums of ``w part`` and ``w counts`` of each block, and count its invalid numbers.

    w is `query` in integers of ``1 / unit`` (csrc/online/weights.h). The blocks are those from `begin`, a
    multiple of `block`, to `end`. Row i of `out` is for the elements from ``i * block`` on.
    """
    cdef Py_ssize_t size = part.shape[0], at = begin
    if query.shape[0] != size or (counts is not None and counts.shape[0] != size):
        raise ValueError(f"query and counts must have {size} numbers")
    _look(size, begin, end, block, out)
    cdef const int32_t *known = NULL
    cdef const int32_t *here = NULL
    if counts is not None:
        known = &counts[0]
    cdef dpf_weights_sums found
    with nogil:
        while at < end:
            if known != NULL:
                here = known + at
            found = dpf_weights_compare(&part[at], here, &query[at], min(block, end - at), unit)
            out[at // block, 0] = found.told
            out[at // block, 1] = found.exact
            out[at // block, 2] = found.odd
            at += block


def move(double[::1] log not None, float[::1] part not None, const double[::1] query not None,
         double unit, double step, double bound, const double[::1] next, Py_ssize_t begin,
         Py_ssize_t end, Py_ssize_t block, double[:, ::1] out not None):
    """Add ``step w / unit`` to the logarithms of begin <= u < end, and compute the new weights.

    Write for each block, as in `compare`: the sum of its weights, the sum of ``w part`` for the query
    `next`, if there is one, and its largest logarithm.
    """
    cdef Py_ssize_t size = log.shape[0], at = begin
    if part.shape[0] != size or query.shape[0] != size or (next is not None and next.shape[0] != size):
        raise ValueError(f"weights and queries must have {size} numbers")
    _look(size, begin, end, block, out)
    cdef const double *later = NULL
    cdef const double *here = NULL
    if next is not None:
        later = &next[0]
    cdef dpf_weights_moved found
    with nogil:
        while at < end:
            if later != NULL:
                here = later + at
            found = dpf_weights_move(&log[at], &part[at], &query[at], min(block, end - at), unit, step,
                                     bound, here)
            out[at // block, 0] = found.total
            out[at // block, 1] = found.told
            out[at // block, 2] = found.top
            at += block


cdef _look(Py_ssize_t size, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t block, double[:, ::1] out):
    if not (0 <= begin < end <= size and block > 0 and begin % block == 0):
        raise ValueError(f"elements must be among {size}, from a multiple of a block")
    if out.shape[1] != 3 or out.shape[0] < (end - 1) // block + 1:
        raise ValueError("out must have three places for each block")


def weights_products(const float[:, ::1] rows not None, const double[::1] p not None,
                     double[::1] out not None, Py_ssize_t begin, Py_ssize_t end):
    """Set out[i] to the sum of ``rows[i, u] p[u]``, for begin <= i < end."""
    cdef Py_ssize_t size = p.shape[0]
    if rows.shape[1] != size or out.shape[0] != rows.shape[0] or not size:
        raise ValueError(f"rows must have {size} numbers, and a place in out each")
    if not 0 <= begin < end <= rows.shape[0]:
        raise ValueError(f"rows must be among {rows.shape[0]}")
    with nogil:
        dpf_weights_products(&rows[begin, 0], end - begin, size, &p[0], &out[begin])
