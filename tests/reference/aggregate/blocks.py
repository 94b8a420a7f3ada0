"""The plain slow twins of labels, sums and scatter: Python numbers, one row at a time."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction

from ..rng import block as chacha_block

MASK = 2**64 - 1


def word(key: bytes, row: int, layer: int = 0) -> int:
    """The 32-bit word that a row reads in a layer, straight from its ChaCha20 block."""
    group, within = divmod(row, 256)
    number, lane = divmod(within, 16)  # sixteen blocks side by side, word by word
    position = 16 * group + lane
    nonce = struct.pack("<3I", position >> 32, layer, int.from_bytes(b"bloc", "little"))
    text = chacha_block(key, position & 0xFFFFFFFF, nonce)
    return struct.unpack_from("<I", text, 4 * number)[0]


def label(
    key: bytes, blocks: int, row: int, read: Callable[[bytes, int, int], int] = word
) -> tuple[int, int]:
    """The label of a row, and the layer that decided it."""
    layer = 0
    while True:
        quotient, low = divmod(read(key, row, layer) * blocks, 2**32)
        if low >= 2**32 % blocks:
            return quotient, layer
        layer += 1


def _rotl(x: int, n: int) -> int:
    return (x << n | x >> (64 - n)) & MASK


def siphash(key: bytes, message: bytes) -> int:
    """SipHash-2-4, from the paper."""
    k0, k1 = struct.unpack("<2Q", key)
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]

    def rounds(count: int) -> None:
        for _ in range(count):
            for a, b, c, d, first, second in ((0, 1, 2, 3, 13, 16), (2, 1, 0, 3, 17, 21)):
                v[a] = (v[a] + v[b]) & MASK
                v[b] = _rotl(v[b], first) ^ v[a]
                v[a] = _rotl(v[a], 32)
                v[c] = (v[c] + v[d]) & MASK
                v[d] = _rotl(v[d], second) ^ v[c]

    full = len(message) // 8 * 8
    last = message[full:].ljust(7, b"\0") + bytes([len(message) % 256])
    for at in range(0, full + 8, 8):
        (m,) = struct.unpack("<Q", (message[:full] + last)[at : at + 8])
        v[3] ^= m
        rounds(2)
        v[0] ^= m
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def message(one: int | str | bytes | None) -> bytes:
    """What is hashed for an id."""
    if one is None:
        return b"\4"
    if isinstance(one, str):
        return one.encode("utf-8", "surrogatepass").rstrip(b"\0") + b"\2"
    if isinstance(one, bytes):
        return one.rstrip(b"\0") + b"\3"
    return (one % 2**64).to_bytes(8, "little") + (b"\1" if one < 0 else b"\0")


def id_label(key: bytes, blocks: int, one: int | str | bytes | None) -> int:
    """The label of an id under a key of 32 bytes."""
    return siphash(key[:16], message(one)) * blocks >> 64


def total(values: Sequence[float]) -> float:
    """The sum of one block, rounded once."""
    if any(math.isnan(v) for v in values):
        return math.nan
    finite = [v for v in values if math.isfinite(v)]
    infinite = {v for v in values if math.isinf(v)}
    if infinite:
        return sum(infinite)  # one sign, or NaN
    if max(map(abs, finite), default=0.0) < 2.0**900:
        return math.fsum(finite)
    exact = sum(map(Fraction, finite))  # fsum stops where a partial sum overflows
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def laid_out(
    rows: Sequence[object], labels: Sequence[int], blocks: int, drop: bool = False
) -> list[list[object]]:
    """The rows of each block, in their order; `rows` are numbers, tuples or lists of them."""
    found: dict[int, list[object]] = {}
    for row, b in zip(rows, labels, strict=True):
        cells = row if isinstance(row, (tuple, list)) else [row]
        if not (drop and any(isinstance(cell, float) and math.isnan(cell) for cell in cells)):
            found.setdefault(int(b), []).append(row)
    return [found.get(b, []) for b in range(blocks)]
