"""Weights of all placements of ordered quantiles in the runs of a grid (see csrc/statistics/joint.h)."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

import numpy as np

cimport numpy as cnp

cnp.import_array()

cdef extern from "statistics/joint.h" nogil:
    ctypedef struct dpf_wide:
        double m
        int64_t e
    ctypedef struct dpf_wide2:
        double h, l
        int64_t e
    ctypedef struct dpf_joint_step:
        int64_t first
        dpf_wide far_side, near_side
    enum:
        DPF_JOINT_POWERS
    ctypedef struct dpf_joint:
        int64_t runs, m, n
        const int64_t *at
        const int64_t *length
        const dpf_joint_step *step
        const dpf_wide *stay
        dpf_wide2 *power
        double *mantissa
        int32_t *exponent
        dpf_wide *most
    dpf_wide dpf_wide_mul(dpf_wide a, dpf_wide b)
    dpf_wide dpf_joint_kernel(const dpf_joint *g, int64_t s, int64_t d)
    void dpf_joint_terms(const dpf_joint *g, int64_t s, int64_t i, dpf_wide *terms)
    dpf_wide dpf_joint_here(const dpf_joint *g, int64_t s, int64_t i)
    void dpf_joint_fill(dpf_joint *g, dpf_wide *here, dpf_wide2 *sums, dpf_wide2 *decays,
                        dpf_wide *total)
    uint64_t dpf_joint_bounds(const dpf_joint *g, int64_t s, int64_t stop, int64_t position,
                              dpf_wide scale, uint64_t *w, int64_t *low, int64_t *high)

#: Distances are below 2**POWERS.
POWERS = DPF_JOINT_POWERS


cdef class Table:
    """The forward sums for runs of `length` cells with `at` values below them, out of `n`.

    `first[s]` and the wide numbers (mantissa, exponent of 2**512) `far[s]`, `near[s]` describe step
    s = 1 .. m + 1, `stay[s][r]` is a wide number, `power` holds exp(-c 2**b) as (high, low,
    exponent).
    """
    cdef dpf_joint g
    cdef dpf_wide total
    cdef cnp.ndarray at, length, mantissa, exponent, bounds
    cdef int64_t low, high, stop
    cdef uint64_t all
    cdef public bint filled

    def __cinit__(self, cnp.ndarray at not None, cnp.ndarray length not None, int64_t m, int64_t n,
                  list first not None, list far not None, list near not None, list stay not None,
                  list power not None):
        cdef int64_t runs = at.shape[0], s, r
        cdef dpf_joint_step *step
        cdef dpf_wide *stays
        self.g.step = NULL
        self.g.stay = NULL
        self.g.most = NULL
        for array in (at, length):
            if array.dtype != np.int64 or array.ndim != 1 or not array.flags.c_contiguous:
                raise ValueError("at and length must be contiguous int64 arrays")
        if runs < 1 or length.shape[0] != runs or m < 1 or n < 0 or n >= (<int64_t>1) << (DPF_JOINT_POWERS - 1):
            raise ValueError("bad shapes")
        if (len(first) != m + 2 or len(far) != m + 2 or len(near) != m + 2 or len(stay) != m + 1
                or len(power) != DPF_JOINT_POWERS):
            raise ValueError("bad lists")
        self.at, self.length = at, length
        self.mantissa = np.empty((m, runs), np.float64)
        self.exponent = np.empty((m, runs), np.int32)
        self.bounds = np.empty(runs, np.uint64)
        step = <dpf_joint_step *>malloc((m + 2) * sizeof(dpf_joint_step))
        self.g.step = step
        stays = <dpf_wide *>malloc((m + 1) * (m + 1) * sizeof(dpf_wide))
        self.g.stay = stays
        self.g.most = <dpf_wide *>malloc((m + 1) * sizeof(dpf_wide))
        if step == NULL or stays == NULL or self.g.most == NULL:
            raise MemoryError()
        memset(stays, 0, (m + 1) * (m + 1) * sizeof(dpf_wide))
        for s in range(1, m + 2):
            step[s].first = first[s]
            if step[s].first < 1:
                raise ValueError("first must be at least 1")
            step[s].far_side.m, step[s].far_side.e = far[s]
            step[s].near_side.m, step[s].near_side.e = near[s]
        for s in range(1, m + 1):
            for r in range(1, s + 1):
                stays[s * (m + 1) + r].m, stays[s * (m + 1) + r].e = stay[s][r]
        for s in range(DPF_JOINT_POWERS):
            self.g.power[s].h, self.g.power[s].l, self.g.power[s].e = power[s]
        self.g.runs, self.g.m, self.g.n = runs, m, n
        self.g.at = <const int64_t *>cnp.PyArray_DATA(at)
        self.g.length = <const int64_t *>cnp.PyArray_DATA(length)
        self.g.mantissa = <double *>cnp.PyArray_DATA(self.mantissa)
        self.g.exponent = <int32_t *>cnp.PyArray_DATA(self.exponent)

    def __dealloc__(self):
        free(<void *>self.g.step)
        free(<void *>self.g.stay)
        free(<void *>self.g.most)

    def fill(self):
        """The forward sums."""
        cdef int64_t s, room = 1
        for s in range(1, self.g.m + 2):
            room = max(room, self.g.step[s].first)
        room = min(room, self.g.runs) + 1
        cdef cnp.ndarray here = np.empty(2 * self.g.runs, np.float64)
        cdef cnp.ndarray sums = np.empty(3 * room, np.float64)
        cdef cnp.ndarray decays = np.empty(3 * room, np.float64)
        cdef dpf_wide *h = <dpf_wide *>cnp.PyArray_DATA(here)
        cdef dpf_wide2 *a = <dpf_wide2 *>cnp.PyArray_DATA(sums)
        cdef dpf_wide2 *b = <dpf_wide2 *>cnp.PyArray_DATA(decays)
        with nogil:
            dpf_joint_fill(&self.g, h, a, b, &self.total)
        self.filled = True

    cdef int _place(self, int64_t s, int64_t i) except -1:
        if not self.filled:
            raise ValueError("fill() comes first")
        if not (1 <= s <= self.g.m and 0 <= i < self.g.runs):
            raise ValueError("no such place")
        return 0

    def total_weight(self):
        """The sum over everything, as (mantissa, exponent)."""
        return self.total.m, self.total.e

    def before(self, int64_t s, int64_t i):
        """B_s(i), 0 <= s < m."""
        if not (self.filled and 0 <= s < self.g.m and 0 <= i < self.g.runs):
            raise ValueError("no such place")
        return float(self.mantissa[s, i]), int(self.exponent[s, i])

    def terms(self, int64_t s, int64_t i):
        """The weights of r = 1 .. s quantiles sharing run i, the last of them quantile s."""
        self._place(s, i)
        cdef dpf_wide *found = <dpf_wide *>malloc(s * sizeof(dpf_wide))
        if found == NULL:
            raise MemoryError()
        try:
            dpf_joint_terms(&self.g, s, i, found)
            return [(found[r].m, found[r].e) for r in range(s)]
        finally:
            free(found)

    def look(self, int64_t s, int64_t stop, int64_t position):
        """Bound the weights of runs 0 .. stop - 1 for quantile s - 1; their sum and their scale.

        Quantile s is `position` values up: in run `stop`, or for s = m + 1 at the end of all.
        """
        cdef dpf_wide scale = self.total
        self._place(s - 1, stop - 1)
        if s <= self.g.m:
            scale.m, scale.e = self.before(s - 1, stop)
        cdef uint64_t *w = <uint64_t *>cnp.PyArray_DATA(self.bounds)
        with nogil:
            self.all = dpf_joint_bounds(&self.g, s, stop, position, scale, w, &self.low,
                                        &self.high)
        self.stop = stop
        return int(self.all), (scale.m, scale.e)

    def find(self, uint64_t place):
        """The run that holds `place` of the sum that `look` gave, and its bound."""
        cdef uint64_t far = <uint64_t>(self.stop - (self.high - self.low))
        cdef uint64_t *w = <uint64_t *>cnp.PyArray_DATA(self.bounds)
        cdef int64_t i
        if place >= self.all:
            raise ValueError("place must be below the sum")
        if place < far:
            i = <int64_t>place
            return (i if i < self.low else i - self.low + self.high), 1
        place -= far
        i = self.low
        while place >= w[i]:
            place -= w[i]
            i += 1
        return i, int(w[i])

    def weight(self, int64_t s, int64_t position, int64_t i):
        """What `look` has bounded, for run i: (mantissa, exponent)."""
        self._place(s - 1, i)
        cdef dpf_wide x = dpf_wide_mul(dpf_joint_here(&self.g, s - 1, i),
                                       dpf_joint_kernel(&self.g, s, position - self.g.at[i]))
        return x.m, x.e
