"""The rows that a mask keeps, and the bits that sets have in common, beside NumPy's own."""

import numpy as np
import pytest

from dpfast._kernels.tables import both, pick

from ..support.paths import on_every_path


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u4", "i2", "u1"])
def test_beside_numpy(dtype):
    rng = np.random.default_rng(0)
    for n in [0, 1, 5, 63, 64, 65, 640, 1001]:
        values, runs = rng.integers(0, 100, n).astype(dtype), np.arange(n) // 97 % 2 == 0
        for keep in (*(rng.random(n) < share for share in (0, 0.01, 0.4, 1)), runs):
            out = np.full(n + 3, 77, dtype)
            found = pick(values, keep.view(np.uint8), out)
            assert out[:found].tolist() == values[keep].tolist()
            assert (out[n:] == 77).all()


def test_what_is_refused():
    values, keep, read_only = np.arange(4.0), np.ones(4, np.uint8), np.empty(4)
    read_only.flags.writeable = False
    wrong = [np.empty(4, np.float32), np.empty((4, 1)), np.empty(8)[::2], np.empty(3), read_only]
    for out in wrong:
        with pytest.raises(ValueError, match=r"must be|contiguous"):
            pick(values, keep, out)
    with pytest.raises(ValueError, match="bytes each"):
        pick(np.zeros(4, complex), keep, np.zeros(4, complex))
    with pytest.raises(ValueError, match="as long as"):
        pick(values, keep[1:], np.empty(4))
    words, bits = np.zeros((2, 4), np.uint64), np.zeros(3, np.uint64)
    for first, counts in ((2, 2), (2**63, 2), (0, 3)):
        with pytest.raises(ValueError, match="words for all bits"):
            both(words, first, bits, np.zeros(counts, np.int64))


def test_bits_in_common():
    for n in [0, 1, 2, 63, 2048, 2100]:  # stretches have 2048 words
        g = np.random.default_rng(n)
        words = g.integers(0, 2**64, (3, n + 5), np.uint64)
        bits = g.integers(0, 2**64, n, np.uint64)
        for first in (0, 2, 5):
            counts = np.full(3, 77)
            both(words, first, bits, counts)
            rows = (own & bits for own in words[:, first : first + n])
            assert counts.tolist() == [sum(map(int.bit_count, row.tolist())) for row in rows]


BITS = """
import numpy as np
from dpfast._kernels.tables import both
words = np.random.default_rng(0).integers(0, 2**64, (20, 9001), np.uint64)
counts = np.zeros(20, np.int64)
both(words, 1, words[3, 1:].copy(), counts)
print(counts.tolist())
"""


@pytest.mark.full
def test_every_instruction_set_counts_the_same_bits():
    assert on_every_path(BITS).startswith("[")
