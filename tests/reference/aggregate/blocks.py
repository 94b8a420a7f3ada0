"""The plain slow twins of labels, sums and scatter: Python numbers, one row at a time."""

import math
import struct
from fractions import Fraction

from ..rng import block as chacha_block
from ..tables.key_words import hash_of, words


def word(key, row, layer=0):
    """The 32-bit word that a row reads in a layer, straight from its ChaCha20 block."""
    group, within = divmod(row, 256)
    number, lane = divmod(within, 16)  # sixteen blocks side by side, word by word
    position = 16 * group + lane
    nonce = struct.pack("<3I", position >> 32, layer, int.from_bytes(b"bloc", "little"))
    text = chacha_block(key, position & 0xFFFFFFFF, nonce)
    return struct.unpack_from("<I", text, 4 * number)[0]


def label(key, blocks, row, read=word):
    """The label of a row, and the layer that decided it."""
    layer = 0
    while True:
        quotient, low = divmod(read(key, row, layer) * blocks, 2**32)
        if low >= 2**32 % blocks:
            return quotient, layer
        layer += 1


def id_label(key, blocks, one):
    """The label of an id under a key of 32 bytes; a null has words of its own."""
    return hash_of(key, *(words(key, one) or (0, 2))) * blocks >> 64


def total(values):
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


def laid_out(rows, labels, blocks, drop=False):
    """The rows of each block, in their order; `rows` are numbers, tuples or lists of them."""
    found = {}
    for row, b in zip(rows, labels, strict=True):
        cells = row if isinstance(row, (tuple, list)) else [row]
        if not (drop and any(isinstance(cell, float) and math.isnan(cell) for cell in cells)):
            found.setdefault(int(b), []).append(row)
    return [found.get(b, []) for b in range(blocks)]
