"""The plain slow twin of words of keys: SipHash from its paper, one key at a time."""

import datetime
import struct

MASK = 2**64 - 1
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def _rotl(x, n):
    return (x << n | x >> (64 - n)) & MASK


def siphash(key, message, wide=False):
    """SipHash-2-4 of 64 bits, or the low and the high word of that of 128."""
    k0, k1 = struct.unpack("<2Q", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ (0xEE if wide else 0),
        k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]  # fmt: skip

    def rounds(count):
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
    v[2] ^= 0xEE if wide else 0xFF
    rounds(4)
    found = [v[0] ^ v[1] ^ v[2] ^ v[3]]
    if wide:
        v[1] ^= 0xDD
        rounds(4)
        found.append(v[0] ^ v[1] ^ v[2] ^ v[3])
    return tuple(found)


def hash_of(key, low, high=0):
    """SipHash-2-4 of two words, under a key of 32 bytes."""
    return siphash(key[:16], struct.pack("<2Q", low, high))[0]


def words(key, one):
    """The low and the high word of a key, under a secret of 32 bytes; None if it is none."""
    if isinstance(one, (str, bytes)):
        raw = one.encode("utf-8", "surrogatepass") if isinstance(one, str) else one
        kind = b"\2" if isinstance(one, str) else b"\3"
        raw, top = raw.rstrip(b"\0"), (2 + isinstance(one, bytes)) << 62
        if len(raw) < 16:
            low, high = struct.unpack("<2Q", raw.ljust(16, b"\0"))
            return low, high | top | (32 + len(raw)) << 56
        low, high = siphash(key[:16], raw + kind, wide=True)
        return low, high % 2**61 | top
    if isinstance(one, int) and -(2**63) <= one < 2**64:
        return one % 2**64, int(one >= 2**63)
    if isinstance(one, datetime.date):
        if not isinstance(one, datetime.datetime):
            one = datetime.datetime(one.year, one.month, one.day)
        since = (one if one.tzinfo else one.replace(tzinfo=datetime.UTC)) - EPOCH
        seconds, rest = divmod(since, datetime.timedelta(seconds=1))
        return seconds % 2**64, 2**32 + 1000 * rest.microseconds
    return None
