from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cimport numpy as cnp

from .core cimport dtype_of

cdef extern from "tables/keys.h" nogil:
    enum:
        DPF_KEY_TEXT, DPF_KEY_BYTES
    ctypedef struct dpf_keys_key:
        uint64_t k0, k1
    void dpf_keys_bytes(const dpf_keys_key *key, const uint8_t *data, const int64_t *first,
                        unsigned kind, size_t n, uint64_t *low, uint64_t *high)
    int dpf_keys_views(const dpf_keys_key *key, const uint8_t *views, const uint8_t *const *buffers,
                       const int64_t *sizes, size_t count, const uint8_t *present, unsigned kind,
                       size_t n, uint64_t *low, uint64_t *high)
    void dpf_keys_padded(const dpf_keys_key *key, const uint8_t *data, size_t width, size_t n,
                         uint64_t *low, uint64_t *high)
    void dpf_keys_text(const dpf_keys_key *key, const uint32_t *codes, size_t width,
                       uint8_t *scratch, size_t n, uint64_t *low, uint64_t *high)
    void dpf_keys_hash(const dpf_keys_key *key, const uint64_t *low, const uint64_t *high, size_t n,
                       uint64_t *out)
    uint64_t dpf_siphash(const dpf_keys_key *key, const uint8_t *data, size_t bytes, uint64_t *high)


cdef class Key:
    """32 secret bytes, which are overwritten at the end."""
    cdef uint32_t words[8]
    cdef dpf_keys_key sip


cdef inline int kind_in_place(cnp.ndarray values) noexcept:
    """Return the dtype of a column of numbers that kernels can read without a copy, or -1."""
    if (cnp.PyArray_NDIM(values) != 1 or not cnp.PyArray_IS_C_CONTIGUOUS(values)
            or not cnp.PyArray_ISALIGNED(values) or not cnp.PyArray_ISNOTSWAPPED(values)):
        return -1
    return dtype_of(values.descr.kind, values.itemsize)
