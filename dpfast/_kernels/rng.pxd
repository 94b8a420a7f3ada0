from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef extern from "rng/rng.h" nogil:
    size_t DPF_RNG_BYTES
    ctypedef struct dpf_rng:
        uint32_t key[8]
        size_t at
        uint8_t buffer[1]  # of DPF_RNG_BYTES bytes
    void dpf_chacha_group(const uint32_t *key, uint32_t counter, const uint32_t *nonce, uint8_t *out)
    void dpf_rng_seed(dpf_rng *rng, const uint8_t *key)
    void dpf_rng_fill(dpf_rng *rng, void *out, size_t bytes)
    void dpf_rng_wipe(dpf_rng *rng)
    void dpf_wipe(void *p, size_t bytes)


cdef uint64_t forks_seen


cdef class BitStream:
    """One ChaCha20 state. A kernel takes it as an argument and calls `dpf_rng_fill(stream.state, ...)`."""
    cdef dpf_rng *state
    cdef uint64_t process
    cdef uint64_t forks
