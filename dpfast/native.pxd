"""The C interface of dpfast for Cython; see `include/dpfast.h` for what each function does."""

from libc.stdint cimport int64_t

cdef int bits(object rng, void *out, Py_ssize_t bytes) except -1
cdef int laplace(object rng, double scale, double granularity, double *out,
                 Py_ssize_t n) except -1
cdef int gaussian(object rng, double scale, double granularity, double *out,
                  Py_ssize_t n) except -1
cdef int discrete_laplace(object rng, double scale, int64_t *out, Py_ssize_t n) except -1
cdef int discrete_gaussian(object rng, double sigma, int64_t *out, Py_ssize_t n) except -1
cdef int choose(object rng, const double *distance, const int64_t *count, Py_ssize_t runs,
                double c, int64_t *out, Py_ssize_t n) except -1
cdef int ranks_f64(const double *x, Py_ssize_t n, Py_ssize_t start, Py_ssize_t stop,
                   double *out) except -1
cdef int ranks_i64(const int64_t *x, Py_ssize_t n, Py_ssize_t start, Py_ssize_t stop,
                   int64_t *out) except -1
