from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t

cdef extern from "dpf_rng.h" nogil:
    ctypedef struct dpf_rng:
        pass
    void dpf_chacha_group(const uint32_t *key, uint32_t counter, const uint32_t *nonce, uint32_t *out)
    void dpf_rng_seed(dpf_rng *rng, const uint8_t *key)
    void dpf_rng_fill(dpf_rng *rng, void *out, size_t bytes)
    void dpf_rng_wipe(dpf_rng *rng)


cdef class BitStream:
    """One ChaCha20 state. A kernel takes it as an argument and calls `dpf_rng_fill(stream.state, ...)`."""
    cdef dpf_rng *state
