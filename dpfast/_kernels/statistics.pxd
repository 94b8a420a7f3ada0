from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint64_t

from .noise cimport dpf_words

cdef extern from "statistics/draw.h" nogil:
    ctypedef struct dpf_draw_base:
        int64_t shift, each, zero
        int above, below, floor, top
        size_t spacings
        const double *spacing
        const int64_t *weight
    ctypedef struct dpf_draw_end:
        int64_t cell, less, leq, part
    ctypedef struct dpf_draw:
        dpf_draw_end low, high
        int64_t before, n, under, over, whole
        uint64_t rest
        double c
        int64_t share, place, ties
        int divides, narrow, flips
        dpf_draw_base base
    ctypedef struct dpf_draw_room:
        double *distance
        int64_t *start
        int64_t *end
        int64_t *low
        int64_t *high
        int64_t *mass
        int64_t *begin
        int64_t *size
        uint64_t *total
    ctypedef struct dpf_draw_found:
        int64_t cell, part, less, leq, mass, scale, far
        uint64_t further, bound, word, all, nearer
        int64_t tries, near
    enum:
        DPF_DRAW_DONE, DPF_DRAW_OPEN, DPF_DRAW_LUMP, DPF_DRAW_NARROW
    size_t dpf_draw_runs(size_t rows, int divides)
    int dpf_draw_node(const dpf_draw *given, const int64_t *rows, size_t w, dpf_words *words,
                      const dpf_draw_room *room, dpf_draw_found *found)


cdef int take_base(dpf_draw *given, object base) except -1
cdef void divide_room(dpf_draw_room *room, int64_t *memory, size_t runs) noexcept
cdef tuple told(const dpf_draw_found *found, int status)
