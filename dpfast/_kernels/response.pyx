"""Randomized response: `csrc/statistics/response.c` with typed buffers."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from dpfast._kernels.choice cimport check, dpf_words, source

cdef extern from "statistics/response.h" nogil:
    enum:
        DPF_RESPONSE_OPEN, DPF_RESPONSE_BLOCK
    uint32_t DPF_RESPONSE_MOST
    size_t dpf_response_flip(dpf_words *words, uint8_t first, uint64_t second, uint8_t *bits,
                             size_t n)
    size_t dpf_response_binary_8(dpf_words *words, uint8_t first, uint64_t second,
                                 const uint8_t *values, size_t n, uint8_t *out)
    size_t dpf_response_binary_16(dpf_words *words, uint8_t first, uint64_t second,
                                 const uint16_t *values, size_t n, uint16_t *out)
    size_t dpf_response_binary_32(dpf_words *words, uint8_t first, uint64_t second,
                                 const uint32_t *values, size_t n, uint32_t *out)
    size_t dpf_response_binary_64(dpf_words *words, uint8_t first, uint64_t second,
                                 const uint64_t *values, size_t n, uint64_t *out)
    void dpf_response_others_8(dpf_words *words, uint32_t categories, uint32_t instead,
                               const uint8_t *values, const uint8_t *other, size_t n, uint8_t *out)
    void dpf_response_others_16(dpf_words *words, uint32_t categories, uint32_t instead,
                                const uint16_t *values, const uint8_t *other, size_t n,
                                uint16_t *out)
    void dpf_response_others_32(dpf_words *words, uint32_t categories, uint32_t instead,
                                const uint32_t *values, const uint8_t *other, size_t n,
                                uint32_t *out)
    void dpf_response_others_64(dpf_words *words, uint32_t categories, uint32_t instead,
                                const uint64_t *values, const uint8_t *other, size_t n,
                                uint64_t *out)
    void dpf_response_own(dpf_words *words, const int64_t *value, size_t n, size_t width,
                          uint8_t *bits)

OPEN = DPF_RESPONSE_OPEN
BLOCK = DPF_RESPONSE_BLOCK
MOST = DPF_RESPONSE_MOST

ctypedef fused code:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


def flip(uint8_t first, uint64_t second, uint8_t[::1] bits not None, stream not None):
    """Flip bits by coins of probability ``(first + second / 2**64 + ...) / 256``.

    `OPEN` is added to a bit whose coin is still open; returns how many are.
    """
    cdef dpf_words own
    cdef dpf_words *words = source(stream, &own)
    cdef size_t n = bits.shape[0], left = 0
    if n:
        with nogil:
            left = dpf_response_flip(words, first, second, &bits[0], n)
    check(words)
    return left


def binary(uint8_t first, uint64_t second, const code[::1] values not None,
           code[::1] out not None, stream not None):
    """Whether values are not 0, as 0 or 1, flipped by coins as in `flip`.

    `OPEN` is added to one whose coin is still open; returns how many are.
    """
    cdef dpf_words own
    cdef dpf_words *words = source(stream, &own)
    cdef size_t n = values.shape[0], left = 0
    if <size_t>out.shape[0] != n:
        raise ValueError(f"out must have {n} values")
    if n:
        with nogil:
            if code is uint8_t:
                left = dpf_response_binary_8(words, first, second, &values[0], n, &out[0])
            elif code is uint16_t:
                left = dpf_response_binary_16(words, first, second, &values[0], n, &out[0])
            elif code is uint32_t:
                left = dpf_response_binary_32(words, first, second, &values[0], n, &out[0])
            else:
                left = dpf_response_binary_64(words, first, second, &values[0], n, &out[0])
    check(words)
    return left


def others(uint32_t categories, uint32_t instead, const code[::1] values not None,
           const uint8_t[::1] other not None, code[::1] out not None, stream not None):
    """Copy values (`instead` for one that is not below `categories`), and where `other` is set a
    uniform one of the other categories."""
    cdef dpf_words own
    cdef dpf_words *words = source(stream, &own)
    cdef size_t n = values.shape[0]
    cdef uint64_t largest = <uint64_t>(<code>-1)
    if not (2 <= categories <= DPF_RESPONSE_MOST and categories - 1 <= largest):
        raise ValueError(f"categories must be 2 .. {DPF_RESPONSE_MOST} and fit the type of values")
    if instead >= categories:
        raise ValueError("instead must be a category")
    if <size_t>other.shape[0] != n or <size_t>out.shape[0] != n:
        raise ValueError(f"other and out must have {n} values")
    if n:
        with nogil:
            if code is uint8_t:
                dpf_response_others_8(words, categories, instead, &values[0], &other[0], n, &out[0])
            elif code is uint16_t:
                dpf_response_others_16(words, categories, instead, &values[0], &other[0], n,
                                       &out[0])
            elif code is uint32_t:
                dpf_response_others_32(words, categories, instead, &values[0], &other[0], n,
                                       &out[0])
            else:
                dpf_response_others_64(words, categories, instead, &values[0], &other[0], n,
                                       &out[0])
    check(words)


def own(const int64_t[::1] values not None, uint8_t[:, ::1] bits not None, stream not None):
    """Put a fair bit into column ``values[i]`` of each row i, if there is that column."""
    cdef dpf_words room
    cdef dpf_words *words = source(stream, &room)
    cdef size_t n = values.shape[0], width = bits.shape[1]
    if <size_t>bits.shape[0] != n:
        raise ValueError(f"bits must have {n} rows")
    if n and width:
        with nogil:
            dpf_response_own(words, &values[0], n, width, &bits[0, 0])
    check(words)
