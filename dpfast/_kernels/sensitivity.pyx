"""Kernels of local and smooth sensitivity (see csrc/sensitivity/envelope.h), and e^x with a proved
error bound."""

from libc.stdint cimport int64_t

import numpy as np

cimport numpy as cnp

from .core cimport dtype_of

cnp.import_array()

cdef extern from "sensitivity/exp.h" nogil:
    ctypedef struct dpf_pair:
        double hi, lo
    dpf_pair dpf_product(double a, double b)
    double dpf_exp_pair(dpf_pair x)
    double dpf_inverse_expm1_pair(dpf_pair y)

cdef extern from "sensitivity/envelope.h" nogil:
    ctypedef struct dpf_column:
        const void *values
        int kind
        int64_t count, first, n
        double lo, hi
    double dpf_envelope_value(const dpf_column *x, int64_t m)
    int dpf_envelope_replace(const dpf_column *x, int64_t m, double beta, double floor, int method,
                             double *out)
    double dpf_envelope_median(const dpf_column *x, double beta, double floor)
    int dpf_envelope_quantile(const dpf_column *x, const int64_t *starts, int64_t first_start,
                              int64_t starts_count, double beta, double floor, double *out)
    double dpf_local_replace(const dpf_column *x, int64_t m, int64_t k)
    double dpf_local_median(const dpf_column *x, int64_t k)
    int dpf_local_quantile(const dpf_column *x, const int64_t *starts, int64_t first_start,
                           int64_t starts_count, int64_t k, double *out)
    enum:
        DPF_DIVIDE, DPF_FORWARD, DPF_MIRRORED

# Values of `method` of Column.smooth_replace, for tests.
DIVIDE = DPF_DIVIDE
FORWARD = DPF_FORWARD
MIRRORED = DPF_MIRRORED


cdef class Column:
    """Sorted `values` of ranks first .. first + len(values) - 1 out of n, clipped to [lo, hi]."""
    cdef dpf_column c
    cdef cnp.ndarray values

    def __cinit__(self, cnp.ndarray values not None, int64_t first, int64_t n, double lo,
                  double hi):
        self.c.kind = dtype_of(values.descr.kind, values.itemsize)
        if (self.c.kind < 0 or values.ndim != 1 or not cnp.PyArray_ISCARRAY_RO(values)):
            raise ValueError("values must be a contiguous native 1-d array of real numbers")
        if first < 1 or n < 0 or first - 1 + values.shape[0] > n:
            raise ValueError("the ranks of values must lie in 1..n")
        if not lo <= hi:
            raise ValueError("lo must not be above hi")
        self.values = values
        self.c.values = cnp.PyArray_DATA(values)
        self.c.count = values.shape[0]
        self.c.first = first
        self.c.n = n
        self.c.lo = lo
        self.c.hi = hi

    cdef int _holds(self, int64_t m) except -1:
        if not (self.c.first <= m < self.c.first + self.c.count):
            raise ValueError("the rank lies outside of the window")
        return 0

    def value(self, int64_t m) -> float:
        """The value of rank m."""
        self._holds(m)
        return dpf_envelope_value(&self.c, m)

    def smooth_replace(self, int64_t m, double beta, double floor, int method=0) -> float:
        """Smooth sensitivity of rank m, one row replaced; tests may force a `method`."""
        cdef double out
        cdef int status
        self._holds(m)
        with nogil:
            status = dpf_envelope_replace(&self.c, m, beta, floor, method, &out)
        if status:
            raise MemoryError()
        return out

    def smooth_median(self, double beta, double floor) -> float:
        """Smooth sensitivity of the lower median, one row added or removed."""
        cdef double out
        with nogil:
            out = dpf_envelope_median(&self.c, beta, floor)
        return out

    cdef int _covers(self, const int64_t[::1] starts, int64_t first_start) except -1:
        cdef int64_t first = self.c.first if self.c.first > 1 else 0
        cdef int64_t last = self.c.first + self.c.count - 1
        if last == self.c.n:
            last += 1
        if first_start < 0 or first_start > first or first_start + starts.shape[0] - 2 <= last:
            raise ValueError("starts must cover the window and two ranks more")
        return 0

    def smooth_quantile(self, const int64_t[::1] starts not None, int64_t first_start, double beta,
                        double floor) -> float:
        """Smooth sensitivity of a quantile, one row added or removed."""
        cdef double out
        cdef int status
        self._covers(starts, first_start)
        with nogil:
            status = dpf_envelope_quantile(&self.c, &starts[0], first_start, starts.shape[0], beta,
                                           floor, &out)
        if status:
            raise MemoryError()
        return out

    def local_replace(self, int64_t m, int64_t k) -> float:
        """Local sensitivity of rank m at distance k, one row replaced."""
        cdef double out
        self._holds(m)
        with nogil:
            out = dpf_local_replace(&self.c, m, k)
        return out

    def local_median(self, int64_t k) -> float:
        """Local sensitivity of the lower median at distance k, one row added or removed."""
        return dpf_local_median(&self.c, k)

    def local_quantile(self, const int64_t[::1] starts not None, int64_t first_start,
                       int64_t k) -> float:
        """Local sensitivity of a quantile at distance k, one row added or removed."""
        cdef double out
        cdef int status
        self._covers(starts, first_start)
        with nogil:
            status = dpf_local_quantile(&self.c, &starts[0], first_start, starts.shape[0], k, &out)
        if status:
            raise MemoryError()
        return out


def rank_starts(int64_t p, int64_t r, int64_t first, int64_t stop) -> NDArray[np.int64]:
    """``(rank - 1) r // p + 1`` for ranks first .. stop - 1; first >= 0, p > 0, stop r < 2^62."""
    cdef cnp.npy_intp rank, count = stop - first
    found = cnp.PyArray_SimpleNew(1, &count, cnp.NPY_INT64)
    cdef int64_t *at = <int64_t *>cnp.PyArray_DATA(found)
    for rank in range(count):
        at[rank] = (first + rank - 1) * r // p + 1
    return found


cdef cnp.ndarray _of_products(const double[::1] a, const double[::1] b,
                              double (*function)(dpf_pair) noexcept nogil):
    """Return a function of the exact products of two arrays."""
    cdef Py_ssize_t t, n = a.shape[0]
    if b.shape[0] != n:
        raise ValueError("a and b must have the same length")
    out = np.empty(n)
    cdef double[::1] to = out
    with nogil:
        for t in range(n):
            to[t] = function(dpf_product(a[t], b[t]))
    return out


def exp_product(const double[::1] a not None, const double[::1] b not None) -> NDArray[np.float64]:
    """Return e^(a b) for a b <= 0, with the exact product."""
    return _of_products(a, b, dpf_exp_pair)


def inverse_expm1_product(const double[::1] a not None,
                          const double[::1] b not None) -> NDArray[np.float64]:
    """Return 1 / (e^(a b) - 1) for a b > 0, with the exact product."""
    return _of_products(a, b, dpf_inverse_expm1_pair)
