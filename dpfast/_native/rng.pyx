"""The ChaCha20 bit stream that every sampler draws from."""

from libc.stdlib cimport free, malloc


cdef class BitStream:
    def __cinit__(self, const uint8_t[::1] key not None):
        if key.shape[0] != 32:
            raise ValueError(f"key must have 32 bytes, got {key.shape[0]}")
        self.state = <dpf_rng *>malloc(sizeof(dpf_rng))
        if self.state == NULL:
            raise MemoryError()
        dpf_rng_seed(self.state, &key[0])

    def __dealloc__(self):
        if self.state != NULL:
            dpf_rng_wipe(self.state)
            free(self.state)

    def __reduce__(self):
        raise TypeError("a bit stream can be neither pickled nor copied: it would repeat its noise")

    def fill(self, uint8_t[::1] out not None):
        """Overwrite `out` with the next bytes of the stream."""
        cdef size_t n = out.shape[0]
        if n == 0:
            return
        with nogil:
            dpf_rng_fill(self.state, &out[0], n)


def chacha_group(const uint32_t[::1] key not None, uint32_t counter,
                 const uint32_t[::1] nonce not None, uint32_t[::1] out not None):
    """Sixteen blocks at `counter` .. `counter + 15`, interleaved as `dpf_rng.h` says (for tests)."""
    if key.shape[0] != 8 or nonce.shape[0] != 3 or out.shape[0] != 256:
        raise ValueError("key, nonce and out must have 8, 3 and 256 words")
    dpf_chacha_group(&key[0], counter, &nonce[0], &out[0])
