"""Randomized response by definition: big integers and mpmath, one row after the other. Bits are
taken by ``stream.word()`` in the order in which the kernels take them."""

import mpmath

BLOCK = 4096
mp = mpmath.MPContext()


def leading(epsilon, others, bits):
    """The first bits of others / (exp(epsilon) + others)."""
    mp.prec = bits + 100 + 2 * int(epsilon).bit_length()
    e = mp.mpf(epsilon.numerator) / epsilon.denominator
    return int(mp.floor(mp.ldexp(others / (mp.exp(e) + others), bits)))


def heads(epsilon, others, drawn, bits, stream):
    """Whether U < P for a U of which so many bits are drawn; draws more words as it must."""
    while True:
        p = leading(epsilon, others, bits)
        if drawn != p:
            return drawn < p
        drawn, bits = drawn << 64 | stream.word(), bits + 64


def coins(epsilon, others, n, stream):
    """n coins. The words of open ones come last."""
    found = [None] * n
    still = []
    first = leading(epsilon, others, 8)
    second = leading(epsilon, others, 72) & (1 << 64) - 1
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        words = [stream.word() for _ in range((m + 7) // 8)]
        bytes_ = [words[i // 8] >> 8 * (i % 8) & 255 for i in range(m)]
        for i, byte in enumerate(bytes_):
            found[start + i] = byte < first
            if byte == first:
                word = stream.word()
                found[start + i] = word < second
                if word == second:
                    still.append(start + i)
    for i in still:
        found[i] = heads(epsilon, others, first << 64 | second, 72, stream)
    return found


def ranks(others, n, stream):
    """n uniform integers below `others`."""
    found = []
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        words = [stream.word() for _ in range((m + 1) // 2)]
        halves = [words[i // 2] >> 32 * (i % 2) & 0xFFFFFFFF for i in range(m)]
        refused = (1 << 32) % others
        for half in halves:
            product = half * others
            while product & 0xFFFFFFFF < refused:
                product = (stream.word() & 0xFFFFFFFF) * others
            found.append(product >> 32)
    return found


def binary(bits, epsilon, stream):
    flips = coins(epsilon, 1, len(bits), stream)
    return [bool(b) != flip for b, flip in zip(bits, flips, strict=True)]


def kary(values, k, epsilon, stream, default=0):
    other = coins(epsilon, k - 1, len(values), stream)
    answers = []
    for value, tell_other, rank in zip(
        values, other, ranks(k - 1, len(values), stream), strict=True
    ):
        value = value if 0 <= value < k else default
        rest = [c for c in range(k) if c != value]
        answers.append(rest[rank] if tell_other else value)
    return answers


def unary(values, k, epsilon, stream):
    flat = coins(epsilon, 1, len(values) * k, stream)
    rows = [flat[i * k : (i + 1) * k] for i in range(len(values))]
    word = 0
    for i, value in enumerate(values):
        if i % 64 == 0:
            word = stream.word()
        if 0 <= value < k:
            rows[i][value] = bool(word >> i % 64 & 1)
    return rows
