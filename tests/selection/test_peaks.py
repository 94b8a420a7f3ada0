"""Peaks of blocks against a plain loop: every dtype, layout, block length, tail and code path."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpfast._kernels import selection as native
from dpfast.errors import ArgumentError
from dpfast.selection.scores import stored
from dpfast.selection.scores.stored import Stored, row_peaks
from dpfast.tables import CHUNK_DTYPES

from ..reference.selection import peaks as reference
from ..support.battery import layouts
from ..support.pairwise import quick_rows

DTYPES = [d.str for d in CHUNK_DTYPES]
FLOATS = ["<f8", "<f4"]
ALL = [*DTYPES, "<f2", "|b1"]


def run(values, block):
    out = np.empty(-(-len(values) // block), values.dtype)
    return out, native.block_peaks(values, block, out)


def sample(n, dtype, seed=0):
    """Values over the whole range of the dtype, with ties."""
    rng = np.random.default_rng(seed)
    d = np.dtype(dtype)
    if d.kind == "b":
        return rng.random(n) < 0.5
    if d.kind == "f":
        few = rng.integers(-3, 4, n) * np.finfo(d).smallest_subnormal
        wide = rng.normal(size=n) * rng.choice([1e-6, 1.0, 1e4], n)
        return np.where(rng.random(n) < 0.2, few, wide).astype(d)
    raw = rng.integers(0, 256, n * d.itemsize, dtype=np.uint8).view(d)
    return np.where(rng.random(n) < 0.2, d.type(3), raw)


def check(values, block):
    """The kernel against the loop, to the bit (zeros without their sign)."""
    found, flags = run(values, block)
    expected, seen = reference.block_peaks(values.tolist(), block)
    assert flags == seen
    np.testing.assert_array_equal(found, np.array(expected, values.dtype))
    if values.dtype.kind == "f":
        assert not np.signbit(found[found == 0]).any()


@quick_rows(4)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_short_length_and_block(dtype):
    for n in [*range(0, 40), 63, 64, 65, 127, 129, 257]:
        values = sample(n, dtype, n)
        for block in (1, 2, 3, 7, 8, 9, 16, 17, 33, 64, 100, 256, 1000):
            check(values, block)


@pytest.mark.parametrize("fault", ["no tail", "NaN wins", "NaN hides", "infinity unseen"])
def test_planted_faults_are_caught(fault, monkeypatch):
    """Negative control of `check`."""
    real, values = native.block_peaks, np.arange(300.0)

    def faulty(values, block, out):
        if fault == "no tail":
            for i in range(len(out)):
                part = values[i * block : (i + 1) * block]
                out[i] = part[: max(len(part) // 8 * 8, 1)].max()
            return native.ABOVE
        flags = real(values, block, out)
        if fault == "NaN wins":
            out[...] = np.maximum.reduceat(values, np.arange(0, len(values), block))
        return flags & ~{"NaN hides": native.NAN, "infinity unseen": native.INFINITE}.get(fault, 0)

    if fault != "no tail":
        values[299] = math.nan if "NaN" in fault else math.inf
    check(values, 100)
    monkeypatch.setattr(native, "block_peaks", faulty)
    with pytest.raises(AssertionError):
        check(values, 100)


@quick_rows(1)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("odd", [math.nan, math.inf])
def test_one_bad_value_anywhere_is_seen(dtype, odd):
    flag = native.NAN if odd != odd else native.INFINITE
    for block in [1, 4, 10, 100, 256]:
        for n in [1, 5, 16, 31, 100, 131, 257]:
            values = np.full(n, -2.0, dtype)
            assert run(values, block)[1] == native.ABOVE
            for place in range(n):
                values[place] = odd
                assert run(values, block)[1] & 3 == flag
                if odd != odd and (block == 10 or place % 9 == 0):
                    check(values, block)
                values[place] = -2.0


@pytest.mark.parametrize("dtype", FLOATS)
def test_signs_payloads_and_infinities(dtype):
    bits = 0xFFF8000000000001 if dtype == "<f8" else 0xFF800001
    negative_nan = np.array([bits], dtype.replace("f", "u")).view(dtype)
    for block in [1, 3, 40]:
        check(np.repeat(negative_nan, 100), block)
        check(np.tile(np.array([-0.0, 0.0, -np.inf, np.nan, -1], dtype), 20), block)
        for value in (-np.inf, -0.0):
            check(np.full(100, value, dtype), block)
    out, flags = run(np.full(50, -np.inf, dtype), 7)
    assert flags == 0 and (out == -np.inf).all()


def test_what_the_kernel_refuses():
    good = np.zeros(10)
    fixed = np.empty(2)
    fixed.flags.writeable = False
    for values, block, out in [
        (good[::2], 5, np.empty(1)),
        *((good.astype(kind), 5, np.empty(2, kind[1:])) for kind in (">f8", "<f2", "<c16")),
        (good.reshape(2, 5), 5, np.empty(2)),
        (good, 0, np.empty(10)),
        *((good, 5, out) for out in (np.empty(3), np.empty(2, np.float32), fixed)),
        (np.frombuffer(bytes(81), np.uint8)[1:].view(np.float64), 5, np.empty(2)),
    ]:
        with pytest.raises(ValueError):
            native.block_peaks(values, block, out)


@quick_rows(1)
@pytest.mark.parametrize("dtype", ALL)
def test_stored_scores_of_every_layout(dtype, tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "CHUNK", 128)
    values = sample(1003, dtype, 5)
    numbers = [int(v) if values.dtype.kind != "f" else v for v in values.tolist()]
    best = max(numbers)
    index = np.array([0, 17, 1002, 500, 17])
    exact = [reference.distance(best, v) for v in numbers]
    for name, array in layouts(values, tmp_path):
        if name == "list":
            continue  # which has no dtype
        for block in [1, 7, 64, 128, 129, 5000]:
            scores = Stored(array)
            peaks = scores.peaks(block)
            found, _ = reference.block_peaks(numbers, min(block, 1003))
            near(peaks, [reference.distance(best, v) for v in found])
            assert scores.best == best, name
        near(scores.distance(index), [exact[i] for i in index])
        assert [scores.exact(int(i)) for i in index] == [exact[i] for i in index]


def near(distances, exact):
    """Within the relative 2**-50 that the samplers count on; negative for what is excluded."""
    assert distances.dtype == np.float64 and len(distances) == len(exact)
    for found, true in zip(distances.tolist(), exact, strict=True):
        if true is None:
            assert found < 0
        elif true >= 2**1024 - 2**970:  # what is less rounds to the largest float64
            assert found == math.inf
        else:
            assert found >= 0 and abs(Fraction(found) - true) <= true / 2**50


@example([1.0, -sys.float_info.max], 1)  # whose distance rounds to the largest float64
@given(
    st.lists(st.floats(allow_nan=False, max_value=1.7e308), min_size=1, max_size=40),
    st.integers(1, 45),
)
def test_any_floats(numbers, block):
    scores = Stored(np.array(numbers))
    best = max(numbers)
    if best == -math.inf:
        with pytest.raises(ArgumentError):
            scores.peaks(block)
        return
    found, _ = reference.block_peaks(numbers, block)
    near(scores.peaks(block), [reference.distance(best, v) for v in found])


@pytest.mark.parametrize(("numbers", "words"), [
    ([1.0, math.nan, 2.0], "got nan"), ([math.nan], "got nan"), ([1.0, math.inf], "got inf"),
    ([math.nan, math.inf, -math.inf], "got nan"), ([-math.inf, math.inf], "got inf"),
    ([-math.inf] * 2, "above minus infinity for at least one candidate, got -inf"),
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "<f2"])
def test_scores_that_are_refused(numbers, words, dtype):
    array = np.array(numbers, dtype)
    for form in [array, array.repeat(2)[::2]]:
        with pytest.raises(ArgumentError, match=rf"^scores must be .*{words}"):
            Stored(form).peaks(2)


@pytest.mark.parametrize("dtype", ALL)
def test_the_best_of_each_row(dtype):
    for rows, count in [(1, 1), (50, 10), (7, 300), (301, 3)]:
        matrix = sample(rows * count, dtype, rows).reshape(rows, count)
        expected = matrix.max(axis=1)
        forms = [matrix, np.asfortranarray(matrix), matrix.astype(matrix.dtype.newbyteorder())]
        for form in [*forms, matrix.repeat(2, axis=1)[:, ::2], matrix.repeat(2, axis=0)[::2]]:
            np.testing.assert_array_equal(row_peaks(form), expected)


@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray])
def test_the_first_row_that_is_refused_is_named(form):
    matrix = np.arange(60.0).reshape(20, 3)
    matrix[3, 1] = -math.inf  # one excluded candidate is in order
    for row, bad, words in [
        (17, [-math.inf] * 3, "above minus infinity"),
        (12, [1.0, 2.0, math.inf], "got inf"),
        (9, [math.nan, 2.0, 3.0], "got nan"),
        (4, [-math.inf] * 3, "above minus infinity"),
    ]:
        row_peaks(form(matrix[:4]))
        matrix[row] = bad
        with pytest.raises(ArgumentError, match=rf"^scores\[{row}\] must be .*{words}"):
            row_peaks(form(matrix))
