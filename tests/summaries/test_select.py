"""Windows of a copy put in order, without a sort: what sorting would put there."""

import numpy as np
import pytest

from dpfast._kernels.summaries import order_part
from dpfast.summaries import order
from dpfast.summaries.order import Ranks

from ..support.pairwise import quick_rows

KINDS = ["f8", "f4", "i8", "u8", "i4", "u4"]


def made(kind, n, levels, seed):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(kind)
    if dtype.kind == "f":
        return np.round(rng.normal(0, levels, n)).astype(dtype)
    low = 0 if dtype.kind == "u" else -levels
    return rng.integers(low, levels, n).astype(dtype)


@quick_rows(8)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("levels", [1, 2, 10, 10**9])
def test_windows_are_those_of_sorting(levels, kind):
    rng = np.random.default_rng(levels)
    for seed in range(100):
        n = int(rng.integers(0, (900, 9_000)[seed % 2]))
        x = made(kind, n, levels, seed)
        start, stop = sorted(rng.integers(0, n + 1, 2).tolist())
        if seed % 3:
            stop = min(stop, start + 99)
        kept = x.copy()
        np.testing.assert_array_equal(order_part(x, start, stop), np.sort(x)[start:stop])
        np.testing.assert_array_equal(x, kept)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["ascending", "descending", "organ pipe", "killer", "ends"])
def test_windows_of_rows_in_a_bad_order(order, kind):
    """Rows made to divide badly are sorted by heaps, and give the same."""
    n = 20_000
    x = np.arange(n).astype(kind)
    if order == "descending":
        x = x[::-1].copy()
    elif order == "organ pipe":
        x = np.minimum(x, n - x)
    elif order == "killer":  # of the middle of three (Musser, 1997)
        half = n // 2
        x[:half:2], x[1:half:2] = np.arange(1, half, 2), np.arange(half + 1, n, 2)[: half // 2]
        x[half:] = 2 * np.arange(n - half)
    elif order == "ends" and np.dtype(kind).kind != "f":
        x[::2], x[1::2] = np.iinfo(x.dtype).max, np.iinfo(x.dtype).min
    elif order == "ends":
        x[::2], x[1::2] = np.inf, -np.inf
    for start, stop in ((n // 2 - 50, n // 2 + 50), (0, 9), (n - 9, n)):
        assert (order_part(x, start, stop) == np.sort(x)[start:stop]).all()


def test_arrays_that_cannot_be_read_are_refused():
    for x in (np.zeros(9, np.int16), np.zeros(9)[::2], np.zeros(9, ">f8"), np.zeros((3, 3))):
        with pytest.raises(ValueError, match="contiguous"):
            order_part(x, 0, 1)
    with pytest.raises(ValueError, match="within"):
        order_part(np.zeros(9), 3, 10)


@pytest.mark.parametrize("missing", ["drop", "raise", -3.0, 1e9])
@pytest.mark.parametrize("kind", [*KINDS, "f2", "i2", "u1"])
def test_a_window_is_that_of_the_other_ways(kind, missing, monkeypatch):
    """By a select, by a sort and by a search, with and without values that are missing."""
    for seed, n in enumerate((1, 30, 3_000, 40_000)):
        x = made(kind, n, 90, seed)
        if x.dtype.kind == "f":
            x[:: 7 + seed] = np.nan
        for middle in (1, n // 3 + 1, n):
            found = []
            for most in (1 << 21, 0):
                monkeypatch.setattr(order, "MIDDLE", most)
                ranks = Ranks(x, missing=missing)
                found.append(ranks.window(lambda n, m=middle: min(m, n), 25))
                again = ranks.window(lambda n, m=middle: min(m, n), 60)
                assert set(found[-1].values) <= set(again.values)
            a, b = found
            assert (a.first, a.n, a.nan) == (b.first, b.n, b.nan)
            np.testing.assert_array_equal(a.values, b.values)


def test_a_planted_fault_is_found(monkeypatch):
    """A kernel that leaves one number out of its place."""

    def careless(values, start, stop):
        found = order_part(values, start, stop)
        if found is not None:
            found[:1] = found[-1:]
        return found

    monkeypatch.setattr(order, "sorted_part", careless)
    with pytest.raises(AssertionError):
        test_a_window_is_that_of_the_other_ways("i4", "drop", monkeypatch)
