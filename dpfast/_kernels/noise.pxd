from libc.stddef cimport size_t
from libc.stdint cimport uint64_t

from dpfast._kernels.rng cimport dpf_rng

cdef extern from "noise/choice_words.h" nogil:
    ctypedef struct dpf_words:
        dpf_rng *rng
        const uint64_t *given
        size_t at, end
        int short_of


cdef class Script:
    """Words to be drawn instead of those of a bit stream, for tests. NOT PRIVATE."""
    cdef dpf_words words


cdef dpf_words *source(object stream, dpf_words *own) except NULL
cdef int check(dpf_words *words) except -1
