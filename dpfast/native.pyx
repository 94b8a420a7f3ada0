"""The C interface of dpfast: what `include/dpfast.h` and ``cimport dpfast.native`` reach.

They call the same code as Python, on buffers of the caller. So the rules, the random bits, and the
exact decisions where float64 is not enough are the same.
"""

from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from fractions import Fraction

import numpy as np

from dpfast import noise
from dpfast._core import checks
from dpfast._kernels.summaries import order_part
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.noise.choice import Weights
from dpfast.rng import check

cdef extern from *:
    """
    #define DPFAST_NO_IMPORT
    #include "dpfast.h"
    """
    ctypedef struct dpfast_table:
        unsigned version
        int (*bits)(object, void *, Py_ssize_t) except -1
        int (*laplace)(object, double, double, double *, Py_ssize_t) except -1
        int (*gaussian)(object, double, double, double *, Py_ssize_t) except -1
        int (*discrete_laplace)(object, double, int64_t *, Py_ssize_t) except -1
        int (*discrete_gaussian)(object, double, int64_t *, Py_ssize_t) except -1
        int (*choose)(object, const double *, const int64_t *, Py_ssize_t, double, int64_t *,
                      Py_ssize_t) except -1
        int (*ranks_f64)(const double *, Py_ssize_t, Py_ssize_t, Py_ssize_t, double *) except -1
        int (*ranks_i64)(const int64_t *, Py_ssize_t, Py_ssize_t, Py_ssize_t,
                         int64_t *) except -1
    unsigned DPFAST_ABI_VERSION

ABI_VERSION = DPFAST_ABI_VERSION


cdef int _given(object rng) except -1:
    """Raise an error for a generator that is NULL, which must not become a Python object."""
    if <PyObject *>rng == NULL:
        raise ArgumentTypeError("rng must be a generator of dpfast.rng or Py_None, got NULL")
    return 0


cdef int _room(str name, const void *pointer, Py_ssize_t n) except -1:
    """Return whether there are elements; raise an error for a pointer that cannot be a buffer."""
    if n < 0 or (n and pointer == NULL):
        raise ArgumentError(f"{name} must be a buffer of at least 0 places, got {n} at "
                            f"{'NULL' if pointer == NULL else 'an address'}")
    return n > 0


cdef int _copy(object made, void *out) except -1:
    cdef const uint8_t[::1] raw = made.view(np.uint8)
    memcpy(out, &raw[0], raw.shape[0])
    return 0


cdef int bits(object rng, void *out, Py_ssize_t bytes) except -1:
    _given(rng)
    generator = check(rng)
    if _room("out", out, bytes):
        generator.stream().fill(<uint8_t[:bytes]>out)
    return 0


cdef int _grid(object draw, object rng, double scale, double granularity, double *out,
               Py_ssize_t n) except -1:
    _given(rng)
    some = _room("out", out, n)
    found = draw(scale, n, granularity=granularity if granularity else None, rng=rng)
    return _copy(found, out) if some else 0


cdef int laplace(object rng, double scale, double granularity, double *out,
                 Py_ssize_t n) except -1:
    return _grid(noise.laplace, rng, scale, granularity, out, n)


cdef int gaussian(object rng, double scale, double granularity, double *out,
                  Py_ssize_t n) except -1:
    return _grid(noise.gaussian, rng, scale, granularity, out, n)


cdef int _whole(object draw, object rng, double scale, int64_t *out, Py_ssize_t n) except -1:
    _given(rng)
    some = _room("out", out, n)
    found = draw(scale, n, rng=rng)
    return _copy(found, out) if some else 0


cdef int discrete_laplace(object rng, double scale, int64_t *out, Py_ssize_t n) except -1:
    return _whole(noise.discrete_laplace, rng, scale, out, n)


cdef int discrete_gaussian(object rng, double sigma, int64_t *out, Py_ssize_t n) except -1:
    return _whole(noise.discrete_gaussian, rng, sigma, out, n)


cdef int choose(object rng, const double *distance, const int64_t *count, Py_ssize_t runs,
                double c, int64_t *out, Py_ssize_t n) except -1:
    _given(rng)
    generator = check(rng)
    checks.positive("c", c)
    if not _room("distance", distance, runs):
        raise ArgumentError("distance must have at least 1 place, got 0")
    apart = np.array(<const double[:runs]>distance)
    if not np.isfinite(apart).all():
        raise ArgumentError("distance must be finite numbers; a negative one is never chosen")
    counts = None
    if count != NULL:
        counts = np.array(<const int64_t[:runs]>count)
        if counts.min() < 1 or counts.max() > 1 << 53:
            raise ArgumentError("count must be numbers from 1 to 2**53")
    if not _room("out", out, n):
        return 0
    try:
        weights = Weights(apart, c, counts)
    except ValueError as error:
        raise ArgumentError(f"distance must leave something to choose: {error}") from None
    return _copy(weights.draw(n, lambda run: Fraction(float(apart[run])), generator.stream()), out)


cdef int _part(object values, Py_ssize_t start, Py_ssize_t stop, void *out) except -1:
    found = order_part(values, start, stop)
    if found is None:
        raise ArgumentError("x must hold no NaN")
    return _copy(found, out)


cdef int _window(const void *x, Py_ssize_t n, Py_ssize_t start, Py_ssize_t stop,
                 const void *out) except -1:
    """Return whether there are elements; refuse a window that is not inside the values."""
    _room("x", x, n)
    if not 0 <= start <= stop <= n:
        raise ArgumentError(f"the window must lie within the {n} values, got {start} to {stop}")
    return _room("out", out, stop - start)


cdef int ranks_f64(const double *x, Py_ssize_t n, Py_ssize_t start, Py_ssize_t stop,
                   double *out) except -1:
    if not _window(x, n, start, stop, out):
        return 0
    return _part(np.asarray(<double[:n]><double *>x), start, stop, out)


cdef int ranks_i64(const int64_t *x, Py_ssize_t n, Py_ssize_t start, Py_ssize_t stop,
                   int64_t *out) except -1:
    if not _window(x, n, start, stop, out):
        return 0
    return _part(np.asarray(<int64_t[:n]><int64_t *>x), start, stop, out)


cdef dpfast_table _table
_table.version = DPFAST_ABI_VERSION
_table.bits = bits
_table.laplace = laplace
_table.gaussian = gaussian
_table.discrete_laplace = discrete_laplace
_table.discrete_gaussian = discrete_gaussian
_table.choose = choose
_table.ranks_f64 = ranks_f64
_table.ranks_i64 = ranks_i64
_C_API = PyCapsule_New(&_table, "dpfast.native._C_API", NULL)
