"""Noise on a grid: `csrc/noise/grid.c` with typed buffers."""

from cpython.long cimport PyLong_FromUnsignedLongLong
from libc.math cimport remainder
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from dpfast._kernels.rng cimport BitStream, dpf_rng

cdef extern from "core/isa.h" nogil:
    int dpf_isa()

cdef extern from "noise/grid.h" nogil:
    enum:
        DPF_GRID_SPLIT
        DPF_GRID_OCTAVE
        DPF_GRID_WIDTH
        DPF_GRID_ROWS
        DPF_GRID_BLOCK
    ctypedef struct dpf_grid_table:
        const double *rows
        double knee
    ctypedef struct dpf_grid_input:
        const double *ratio
        const double *grid
        const double *frac
        const double *whole
        int ratio_stride, grid_stride, frac_stride, whole_stride
    size_t dpf_grid_fill(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table,
                         const dpf_grid_input *inputs, double *out, size_t start, size_t n,
                         int64_t *lane, uint64_t *word, size_t room, size_t *found)
    size_t dpf_grid_integers(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table,
                             double ratio, double frac, int64_t *out, size_t start, size_t n,
                             int64_t *lane, uint64_t *word, size_t room, size_t *found)

    size_t dpf_grid_accept(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table,
                           const int64_t *y, double centre, double half_precision,
                           uint64_t *drawn, uint8_t *keep, size_t n)

SPLIT = DPF_GRID_SPLIT
OCTAVE = DPF_GRID_OCTAVE
WIDTH = DPF_GRID_WIDTH
ROWS = DPF_GRID_ROWS
BLOCK = DPF_GRID_BLOCK


cdef class Table:
    """A law's rows, copied to 64-byte alignment."""
    cdef dpf_grid_table c
    cdef void *memory

    def __cinit__(self, const double[:, ::1] rows not None, double knee):
        if rows.shape[0] != DPF_GRID_ROWS or rows.shape[1] != DPF_GRID_WIDTH:
            raise ValueError(f"rows must be {DPF_GRID_ROWS} by {DPF_GRID_WIDTH}")
        if dpf_isa() < 0:
            raise RuntimeError("DPFAST_ISA names an instruction set that this processor lacks")
        cdef size_t size = DPF_GRID_ROWS * DPF_GRID_WIDTH * sizeof(double)
        self.memory = malloc(size + 63)
        if self.memory == NULL:
            raise MemoryError()
        self.c.rows = <double *>((<uintptr_t>self.memory + 63) & ~<uintptr_t>63)
        memcpy(<void *>self.c.rows, &rows[0, 0], size)
        self.c.knee = knee

    def __dealloc__(self):
        free(self.memory)

    def __reduce__(self):
        raise TypeError("a native table cannot be pickled")


cdef int _stride(const double[::1] values, Py_ssize_t n, str name) except -1:
    if values.shape[0] == n:
        return n != 1
    if values.shape[0] == 1:
        return 0
    raise ValueError(f"{name} must have 1 or {n} values")


def fill(BitStream stream, const uint64_t[::1] given, Table table not None,
         const double[::1] ratio not None, const double[::1] grid not None,
         const double[::1] frac not None, const double[::1] whole not None,
         double[::1] out not None, Py_ssize_t start, int64_t[::1] lane not None,
         uint64_t[::1] word not None):
    """Fill `out` from index `start`; return (next index, undecided lanes).

    Bits come from `stream`, or from `given` (one word per sample, for tests) when `stream` is None.
    """
    cdef dpf_grid_input inputs
    cdef size_t n = out.shape[0], done = start, found = 0, room = lane.shape[0]
    cdef dpf_rng *rng = NULL
    cdef const uint64_t *words = NULL
    if stream is not None:
        rng = stream.state
    elif given is None or <size_t>given.shape[0] != n:
        raise ValueError("given must have one word per sample")
    elif n:
        words = &given[0]
    if room < DPF_GRID_BLOCK or <size_t>word.shape[0] < room or start < 0:
        raise ValueError(f"lane and word must have at least {DPF_GRID_BLOCK} places")
    inputs.ratio_stride = _stride(ratio, n, "ratio")
    inputs.grid_stride = _stride(grid, n, "grid")
    inputs.frac_stride = _stride(frac, n, "frac")
    inputs.whole_stride = _stride(whole, n, "whole")
    if done >= n:
        return n, 0
    inputs.ratio = &ratio[0]
    inputs.grid = &grid[0]
    inputs.frac = &frac[0]
    inputs.whole = &whole[0]
    with nogil:
        done = dpf_grid_fill(rng, words, &table.c, &inputs, &out[0], done, n, &lane[0], &word[0], room,
                             &found)
    return done, found


def integers(BitStream stream, const uint64_t[::1] given, Table table not None, double ratio,
             double frac, int64_t[::1] out not None, Py_ssize_t start, int64_t[::1] lane not None,
             uint64_t[::1] word not None):
    """The same for sign * max(0, nearest integer of ratio * quantile + frac)."""
    cdef size_t n = out.shape[0], done = start, found = 0, room = lane.shape[0]
    cdef dpf_rng *rng = NULL
    cdef const uint64_t *words = NULL
    if stream is not None:
        rng = stream.state
    elif given is None or <size_t>given.shape[0] != n:
        raise ValueError("given must have one word per sample")
    elif n:
        words = &given[0]
    if room < DPF_GRID_BLOCK or <size_t>word.shape[0] < room or start < 0:
        raise ValueError(f"lane and word must have at least {DPF_GRID_BLOCK} places")
    if done >= n:
        return n, 0
    with nogil:
        done = dpf_grid_integers(rng, words, &table.c, ratio, frac, &out[0], done, n, &lane[0], &word[0],
                                 room, &found)
    return done, found


def accept(BitStream stream, const uint64_t[::1] given, Table table not None,
           const int64_t[::1] y not None, double centre, double half_precision,
           uint64_t[::1] drawn not None, uint8_t[::1] keep not None):
    """Verdicts 1 (keep), 0 (reject) or 2 (open) on candidates; return how many are open."""
    cdef size_t n = y.shape[0], undecided = 0
    cdef dpf_rng *rng = NULL
    cdef const uint64_t *words = NULL
    if <size_t>drawn.shape[0] < n or <size_t>keep.shape[0] < n:
        raise ValueError("drawn and keep must have a place for every candidate")
    if n == 0:
        return 0
    if stream is not None:
        rng = stream.state
    elif given is None or <size_t>given.shape[0] != n:
        raise ValueError("given must have one word per candidate")
    else:
        words = &given[0]
    with nogil:
        undecided = dpf_grid_accept(rng, words, &table.c, &y[0], centre, half_precision, &drawn[0],
                                    &keep[0], n)
    return undecided


def one(BitStream stream not None, Table table not None, double value, double scale,
        double granularity):
    """One sample as a float, or its 64 bits as an int when they leave it undecided."""
    cdef dpf_grid_input inputs
    cdef double ratio = scale / granularity, frac, whole, out, place = value / granularity
    cdef int64_t lane[DPF_GRID_BLOCK]
    cdef uint64_t word[DPF_GRID_BLOCK]
    cdef size_t found = 0
    frac = remainder(place, 1.0)
    whole = place - frac
    inputs.ratio = &ratio
    inputs.grid = &granularity
    inputs.frac = &frac
    inputs.whole = &whole
    inputs.ratio_stride = inputs.grid_stride = inputs.frac_stride = inputs.whole_stride = 0
    dpf_grid_fill(stream.state, NULL, &table.c, &inputs, &out, 0, 1, lane, word, DPF_GRID_BLOCK, &found)
    if found:
        return PyLong_FromUnsignedLongLong(word[0])
    return out
