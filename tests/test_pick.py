"""The rows that a mask keeps, beside NumPy's own."""

import numpy as np
import pytest

from dpfast._native.pick import pick

MASKS = {
    "none": lambda rng, n: np.zeros(n, bool),
    "all": lambda rng, n: np.ones(n, bool),
    "some": lambda rng, n: rng.random(n) < 0.4,
    "few": lambda rng, n: rng.random(n) < 0.01,
    "runs": lambda rng, n: np.arange(n) // 97 % 2 == 0,
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u4", "i2", "u1"])
@pytest.mark.parametrize("mask", MASKS)
def test_beside_numpy(dtype, mask):
    rng = np.random.default_rng(0)
    for n in [0, 1, 5, 63, 64, 65, 640, 1001]:
        values = rng.integers(0, 100, n).astype(dtype)
        keep = MASKS[mask](rng, n)
        out = np.full(n + 3, 77, dtype)
        found = pick(values, keep.view(np.uint8), out)
        assert found == keep.sum()
        assert out[:found].tolist() == values[keep].tolist()
        assert (out[n:] == 77).all()


def test_other_bytes_than_0_and_1_are_kept():
    keep = np.tile(np.array([0, 1, 2, 255], np.uint8), 40)
    values, out = np.arange(160), np.zeros(160, np.int64)
    assert pick(values, keep, out) == 120
    assert out[:120].tolist() == values[keep != 0].tolist()
    assert pick(values, np.full(160, 255, np.uint8), out) == 160


def test_what_is_refused():
    values, keep = np.arange(4.0), np.ones(4, np.uint8)
    for bad in (np.empty(4, np.float32), np.empty((4, 1)), np.empty(8)[::2], np.empty(3)):
        with pytest.raises(ValueError, match="must be"):
            pick(values, keep, bad)
    with pytest.raises(ValueError, match="bytes each"):
        pick(np.zeros(4, complex), keep, np.zeros(4, complex))
    with pytest.raises(ValueError, match="as long as"):
        pick(values, keep[1:], np.empty(4))
    read_only = np.empty(4)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="contiguous"):
        pick(values, keep, read_only)
