"""Rare coins for many candidates (see csrc/selection/coins.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint64_t

import numpy as np

from .rng cimport BitStream, dpf_rng

cdef extern from "selection/coins.h" nogil:
    void dpf_coins_exponents(const double *distance, size_t blocks, double c, double slack,
                             uint8_t *exponents, uint64_t *counts)
    size_t dpf_coins_flip(const uint8_t *exponents, size_t blocks, unsigned shift, size_t *at,
                          int64_t *out, size_t room, dpf_rng *rng)
    enum:
        DPF_COINS_MOST, DPF_COINS_NONE, DPF_COINS_RUN

BLOCK = 64
MOST = DPF_COINS_MOST
NONE = DPF_COINS_NONE
LEAST_ROOM = 64 * DPF_COINS_RUN


def exponents(const double[::1] distance not None, double c, double slack):
    """For each distance, an integer that is surely not above ``c d / ln 2`` (at most `MOST`).

    Returns the integers (`NONE` for a negative distance) and how often each of 0 .. 255 occurs.
    """
    cdef size_t blocks = distance.shape[0]
    found = np.empty(blocks, np.uint8)
    counts = np.zeros(256, np.uint64)
    cdef uint8_t[::1] e = found
    cdef uint64_t[::1] occurs = counts
    if blocks:
        with nogil:
            dpf_coins_exponents(&distance[0], blocks, c, slack, &e[0], &occurs[0])
    return found, counts


def flip(const uint8_t[::1] exponents not None, unsigned shift, size_t at,
         int64_t[::1] out not None, BitStream stream not None):
    """Flip 64 coins of probability ``2**-(exponents[b] + shift)`` for each block b from `at` on.

    Writes ``64 b + slot`` of those with heads to `out`. Returns how many they are and the block to
    go on with, which is ``len(exponents)`` at the end.
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
