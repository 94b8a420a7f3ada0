"""The bit stream of `csrc/rng/rng.h`, written from RFC 8439 with Python integers."""

import hashlib
import struct

MASK = 0xFFFFFFFF
REFILL_BLOCKS = 128


def _rotl(x, n):
    return ((x << n) | (x >> (32 - n))) & MASK


def _quarter(x, a, b, c, d):
    for first, second in ((16, 12), (8, 7)):
        x[a] = (x[a] + x[b]) & MASK
        x[d] = _rotl(x[d] ^ x[a], first)
        x[c] = (x[c] + x[d]) & MASK
        x[b] = _rotl(x[b] ^ x[c], second)


def block(key, counter, nonce):
    """RFC 8439, section 2.3."""
    text = b"expand 32-byte k" + key + struct.pack("<I", counter) + nonce
    start = list(struct.unpack("<16I", text))
    x = start.copy()
    for _ in range(10):
        _quarter(x, 0, 4, 8, 12)
        _quarter(x, 1, 5, 9, 13)
        _quarter(x, 2, 6, 10, 14)
        _quarter(x, 3, 7, 11, 15)
        _quarter(x, 0, 5, 10, 15)
        _quarter(x, 1, 6, 11, 12)
        _quarter(x, 2, 7, 8, 13)
        _quarter(x, 3, 4, 9, 14)
    return struct.pack("<16I", *((u + v) & MASK for u, v in zip(x, start, strict=True)))


def refill(key):
    """The next key, and the bytes that are handed out under this one."""
    blocks = [block(key, counter, bytes(12)) for counter in range(REFILL_BLOCKS)]
    stored = b"".join(blocks[first + b][4 * w : 4 * w + 4] for first in range(0, REFILL_BLOCKS, 16)
        for w in range(16) for b in range(16))  # fmt: skip
    return stored[:32], stored[32:]


def stream(key):
    """The stream in chunks of one refill."""
    while True:
        key, out = refill(key)
        yield out


def insecure_key(seed, thread=0):
    """The key that `InsecureGenerator(seed)` gives to the thread that draws as number `thread`."""
    digits = seed.to_bytes((seed.bit_length() + 7) // 8, "big")
    return hashlib.sha256(
        b"dpfast insecure stream" + thread.to_bytes(8, "little") + digits
    ).digest()
