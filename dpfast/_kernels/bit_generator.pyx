"""The ChaCha20 bit stream behind the interface of NumPy's bit generators.

It is a separate module, because it imports NumPy's generators, which few programs need.
"""

import os

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport abort, free, malloc
from numpy.random cimport BitGenerator

from .rng cimport dpf_rng, dpf_rng_fill, dpf_rng_seed, dpf_rng_wipe, forks_seen

cdef extern from "rng/rng_process.h" nogil:
    uint64_t dpf_rng_process()


cdef struct Source:
    dpf_rng *rng
    uint64_t process
    uint64_t forks
    void *key  # a borrowed reference: the object that owns it outlives its callbacks


cdef int _seed(Source *source) except -1:
    """Get a new key from the caller's function, which may raise."""
    cdef const unsigned char[::1] key = (<object>source.key)()
    if key.shape[0] != 32:
        raise ValueError(f"key must have 32 bytes, got {key.shape[0]}")
    dpf_rng_seed(source.rng, &key[0])
    source.process = dpf_rng_process()
    source.forks = forks_seen
    return 0


cdef void _rekey(Source *source) noexcept with gil:
    """Get a new key in a forked child, or end it: NumPy's loops cannot raise an error."""
    try:
        _seed(source)
    except BaseException as error:
        os.write(2, f"dpfast: a forked process got no key ({error}) and ends\n".encode())
        abort()


cdef inline void _fill(void *state, void *out, size_t size) noexcept nogil:
    cdef Source *source = <Source *>state
    if source.process != dpf_rng_process() or source.forks != forks_seen:
        _rekey(source)
    dpf_rng_fill(source.rng, out, size)


cdef uint64_t _next_64(void *state) noexcept nogil:
    cdef uint64_t value
    _fill(state, &value, 8)
    return value


cdef uint32_t _next_32(void *state) noexcept nogil:
    cdef uint32_t value
    _fill(state, &value, 4)
    return value


cdef double _next_double(void *state) noexcept nogil:
    return (_next_64(state) >> 11) * (1.0 / 9007199254740992.0)


cdef class ChaCha20(BitGenerator):
    """One stream for NumPy's loops, which hold its lock. `key` returns 32 new bytes each time."""

    cdef Source source
    cdef object key
    cdef bint made

    def __cinit__(self, key: Callable[[], bytes]):
        self.source.rng = <dpf_rng *>malloc(sizeof(dpf_rng))
        if self.source.rng == NULL:
            raise MemoryError()
        BitGenerator.__init__(self, 0)  # NumPy's own seed is not used
        self._seed_seq = None
        self.key = key
        self.source.key = <void *>key
        _seed(&self.source)
        self._bitgen.state = <void *>&self.source
        self._bitgen.next_uint64 = _next_64
        self._bitgen.next_uint32 = _next_32
        self._bitgen.next_double = _next_double
        self._bitgen.next_raw = _next_64

    def __init__(self, key: Callable[[], bytes]):
        # A second call would replace objects that other threads may be reading, even NumPy's lock.
        if self.made:
            raise TypeError("a secure bit generator is made once: make a new one")
        self.made = True

    def __dealloc__(self):
        if self.source.rng != NULL:
            dpf_rng_wipe(self.source.rng)
            free(self.source.rng)

    def __reduce__(self):
        raise TypeError("a secure bit generator can be neither pickled nor copied: it would repeat")

    def __reduce_ex__(self, protocol):
        return self.__reduce__()

    def __copy__(self):
        return self.__reduce__()

    def __deepcopy__(self, memo):
        return self.__reduce__()

    def __getstate__(self):
        return self.__reduce__()

    @property
    def state(self) -> Any:
        raise TypeError("a secure bit generator shows no state, and takes none")

    @state.setter
    def state(self, value: Any):
        raise TypeError("a secure bit generator shows no state, and takes none")

    def spawn(self, n_children: int) -> NoReturn:
        raise TypeError("a secure bit generator has no seed to spawn from: make a new one")
