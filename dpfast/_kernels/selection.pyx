"""Rare coins for many candidates, and the largest of each block of scores (see csrc/selection)."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint64_t

import numpy as np

cimport numpy as cnp

from .core cimport check_status, dtype_of
from .rng cimport BitStream, dpf_rng

cnp.import_array()


# --- coins ----------------------------------------------------------------------------------------

cdef extern from "selection/permute.h" nogil:
    void dpf_coins_exponents(const double *distance, size_t blocks, double c, uint8_t *exponents,
                             uint64_t *counts)
    size_t dpf_coins_flip(const uint8_t *exponents, size_t blocks, unsigned shift, size_t *at,
                          int64_t *out, size_t room, dpf_rng *rng)
    enum:
        DPF_COINS_MOST, DPF_COINS_NONE, DPF_COINS_RUN

BLOCK = 64
MOST = DPF_COINS_MOST
NONE = DPF_COINS_NONE
LEAST_ROOM = 64 * DPF_COINS_RUN


def exponents(const double[::1] distance not None,
              double c) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
    """Return for each distance d an integer certainly not above ``c d / ln 2``, at most `MOST`.

    A negative distance has the integer `NONE`. The second array is how often each of 0 .. 255 occurs.
    """
    cdef size_t blocks = distance.shape[0]
    found = np.empty(blocks, np.uint8)
    counts = np.zeros(256, np.uint64)
    cdef uint8_t[::1] e = found
    cdef uint64_t[::1] occurs = counts
    if blocks:
        with nogil:
            dpf_coins_exponents(&distance[0], blocks, c, &e[0], &occurs[0])
    return found, counts


def flip(const uint8_t[::1] exponents not None, unsigned shift, size_t at,
         int64_t[::1] out not None, BitStream stream not None) -> tuple[int, int]:
    """Flip 64 coins of probability ``2**-(exponents[b] + shift)`` for each block b from `at` on.

    Write ``64 b + slot`` of the coins with heads to `out`. Return how many they are, and the next block,
    which is ``len(exponents)`` if all are done.
    """
    cdef size_t blocks = exponents.shape[0], room = out.shape[0], written = 0
    if room < 64 * DPF_COINS_RUN:
        raise ValueError(f"out must have at least {LEAST_ROOM} places")
    if shift > 64:
        raise ValueError("shift must be at most 64")
    if at < blocks:
        with nogil:
            written = dpf_coins_flip(&exponents[0], blocks, shift, &at, &out[0], room, stream.state)
    return written, at


# --- peaks ----------------------------------------------------------------------------------------

cdef extern from "selection/peaks.h" nogil:
    int dpf_peaks(int kind, const void *x, size_t n, size_t block, void *out)
    enum:
        DPF_PEAKS_NAN, DPF_PEAKS_INFINITE, DPF_PEAKS_ABOVE

NAN = DPF_PEAKS_NAN
INFINITE = DPF_PEAKS_INFINITE
ABOVE = DPF_PEAKS_ABOVE


cdef bint _plain(cnp.ndarray a):
    return a.ndim == 1 and a.flags.c_contiguous and a.flags.aligned and a.dtype.isnative


def block_peaks(cnp.ndarray values not None, Py_ssize_t block, cnp.ndarray out not None) -> int:
    """Write the largest of each `block` consecutive `values` to `out`, which has their dtype.

    Return flags: there is a NaN, which is ignored (`NAN`); there is plus infinity (`INFINITE`); there is
    a value above minus infinity (`ABOVE`).
    """
    cdef char letter = values.descr.kind
    cdef int kind = dtype_of(b"u" if letter == b"b" else letter, values.itemsize), flags
    cdef size_t n = values.shape[0] if values.ndim else 0
    if kind < 0 or not (_plain(values) and _plain(out)):
        raise ValueError("block_peaks needs contiguous native arrays of numbers of 1 to 8 bytes")
    if block < 1:
        raise ValueError("block must be at least 1")
    if out.dtype != values.dtype or not out.flags.writeable:
        raise ValueError(f"out must be writeable and have dtype {values.dtype}")
    if <size_t>out.shape[0] != (n // <size_t>block) + (n % <size_t>block != 0):
        raise ValueError("out must have one place a block")
    cdef const void *x = cnp.PyArray_DATA(values)
    cdef void *o = cnp.PyArray_DATA(out)
    with nogil:
        flags = dpf_peaks(kind, x, n, <size_t>block, o)
    check_status(flags < 0)
    return flags
