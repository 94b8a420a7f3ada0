"""The ChaCha20 bit stream that every sampler draws from."""

import os

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdlib cimport free, malloc

from ..errors import NativeError

cdef extern from "core/isa.h" nogil:
    int dpf_isa()
    int dpf_isa_best()
    const char *dpf_isa_name(int isa)

cdef extern from "rng/rng_process.h" nogil:
    uint64_t dpf_rng_process()


def isa() -> str:
    """Return the name of the instruction set that the kernels of this process use."""
    return dpf_isa_name(dpf_isa()).decode()


def isa_paths() -> list[str]:
    """Return the values of DPFAST_ISA that work on this processor, the narrowest first."""
    return [dpf_isa_name(path).decode() for path in range(dpf_isa_best() + 1)]


if dpf_isa() < 0:
    raise NativeError(
        f"DPFAST_ISA must be unset or one of {', '.join(isa_paths())}, which this processor has, "
        f"got {os.environ.get('DPFAST_ISA')!r}"
    )


forks_seen = 0


def forked():
    """Count one more fork. A child calls it before anything else."""
    global forks_seen
    forks_seen += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forked)


def witnesses() -> tuple[int, int]:
    """Return two numbers by which processes differ: the process number, and the count of forks."""
    return dpf_rng_process(), forks_seen


cdef class BitStream:
    """One ChaCha20 stream, for one thread: each thread gets another stream from a generator."""

    def __cinit__(self, const uint8_t[::1] key not None: Buffer):
        if key.shape[0] != 32:
            raise ValueError(f"key must have 32 bytes, got {key.shape[0]}")
        self.state = <dpf_rng *>malloc(sizeof(dpf_rng))
        if self.state == NULL:
            raise MemoryError()
        dpf_rng_seed(self.state, &key[0])
        self.process = dpf_rng_process()
        self.forks = forks_seen

    def __dealloc__(self):
        if self.state != NULL:
            dpf_rng_wipe(self.state)
            free(self.state)

    def __reduce__(self):
        raise TypeError("a bit stream can be neither pickled nor copied: it would repeat its noise")

    def here(self) -> bool:
        """Whether this process created the stream, by two independent checks for a fork.

        The number from the operating system notices forks that bypass Python. The count of Python's
        fork hook notices a child with the process id of a dead ancestor.
        """
        return self.process == dpf_rng_process() and self.forks == forks_seen

    def fill(self, uint8_t[::1] out not None: Buffer):
        """Overwrite `out` with the next bytes of the stream."""
        cdef size_t n = out.shape[0]
        if n == 0:
            return
        with nogil:
            dpf_rng_fill(self.state, &out[0], n)

    def take(self, Py_ssize_t n) -> bytes:
        """The next `n` bytes of the stream."""
        if n < 0:
            raise ValueError(f"n must be at least 0, got {n}")
        made = PyBytes_FromStringAndSize(NULL, n)
        cdef char *to = PyBytes_AS_STRING(made)
        with nogil:
            dpf_rng_fill(self.state, to, n)
        return made

    def word(self) -> int:
        """The next 8 bytes of the stream as an integer, low byte first."""
        cdef uint8_t raw[8]
        cdef uint64_t value = 0
        cdef int i
        dpf_rng_fill(self.state, raw, 8)
        for i in range(8):
            value |= <uint64_t>raw[i] << (8 * i)
        return value


def wipe(bytes secret not None):
    """Overwrite the storage of a bytes object that nobody else holds (a key from the system).

    Lengths 0 and 1 are shared by the interpreter and left alone.
    """
    if len(secret) > 1:
        dpf_wipe(PyBytes_AS_STRING(secret), len(secret))


def chacha_group(const uint32_t[::1] key not None: Buffer, uint32_t counter,
                 const uint32_t[::1] nonce not None: Buffer, uint8_t[::1] out not None: Buffer):
    """Write blocks `counter` .. `counter + 15`, in the order of `rng/rng.h` (for tests)."""
    if key.shape[0] != 8 or nonce.shape[0] != 3 or out.shape[0] != 1024:
        raise ValueError("key and nonce must have 8 and 3 words, out 1024 bytes")
    dpf_chacha_group(&key[0], counter, &nonce[0], &out[0])


def inspect(BitStream stream not None) -> tuple[bytes, int, bytes]:
    """Return the key, the read position and the buffer of a stream (for tests of key erasure)."""
    key = b"".join((<object>stream.state.key[i]).to_bytes(4, "little") for i in range(8))
    return key, stream.state.at, stream.state.buffer[:DPF_RNG_BYTES]
