"""Windows of order statistics against a sort, on every dtype, pattern, chunking and code path."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpfast import order
from dpfast._kernels.summaries import (
    bracket_pass,
    bracket_passes,
    count_bytes,
    histogram_bytes,
    order_part,
)
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.summaries import floyd_rivest
from dpfast.summaries.order import Ranks, Window
from dpfast.tables import CHUNK_DTYPES, Chunk

from ..reference.summaries import order as reference
from ..support.memory import peak
from ..support.pairwise import quick_rows


@pytest.fixture(autouse=True)
def searched(monkeypatch):
    """Arrays of a middle size are searched, too."""
    monkeypatch.setattr(order, "MIDDLE", 0)


DTYPES = [d.str for d in CHUNK_DTYPES]


def median(n):
    return (n + 1) // 2


def same(found: Window, expected) -> None:
    values, first, n, nan = expected
    assert (found.first, found.n, found.nan) == (first, n, nan)
    if found.values.dtype == np.float64:  # holds a replacement that the data's dtype lacks
        values = [float(v) for v in values]
    assert found.values.tolist() == values
    assert found.reaches_start == (first == 1)
    assert found.reaches_end == (first + len(values) == n + 1)


class Pieces:
    """A source in given pieces that counts its passes; its sample can lie or be refused."""

    def __init__(self, parts, nulls=(), sample=None, known=False):
        self.parts = [np.ascontiguousarray(p) for p in parts]
        self.dtype = self.parts[0].dtype
        self.missing = list(nulls) + [0] * (len(self.parts) - len(nulls))
        total = sum(len(p) for p in self.parts) + sum(self.missing)
        self.length = total if known else None
        self.nulls = sum(self.missing) if known else None
        self.lie = sample
        self.passes = 0

    def reduce(self, summarize, merge):
        self.passes += 1
        total, start = None, 0
        for part, nulls in zip(self.parts, self.missing, strict=True):
            buffer = part.copy()
            one = summarize(Chunk(buffer, start, nulls))
            buffer[...] = 0  # chunks are only lent
            start += len(part) + nulls
            total = one if total is None else merge(total, one)
        return total

    def sample(self, count, words):
        return None if self.lie is None else np.asarray(self.lie, self.dtype)


def limits(dtype):
    d = np.dtype(dtype)
    info = np.finfo(d) if d.kind == "f" else np.iinfo(d)
    return info.min, info.max


def patterns(n, dtype, seed=0):
    rng = np.random.default_rng(seed)
    d = np.dtype(dtype)
    low, high = limits(dtype)
    spread = rng.normal(size=n)
    if d.kind == "f":
        random = spread.astype(d)
    else:
        random = (spread / 8 + 0.5) * (float(high) - float(low)) + float(low)
        random = np.clip(random, low / 2, high / 2).astype(d)
    ramp = np.linspace(float(low) / 4, float(high) / 4, n).astype(d)
    ties, ends = random.copy(), random.copy()
    ties[rng.random(n) < 0.6] = np.sort(random)[n // 2]
    ends[: n // 2 - 2], ends[n // 2 + 2 :] = low, high
    yield from {
        "random": random,
        "sorted": np.sort(random),
        "reverse": np.sort(random)[::-1].copy(),
        "ramp": ramp,
        "all equal": np.full(n, 7, d),
        "all least": np.full(n, low, d),
        "all most": np.full(n, high, d),
        "two values": rng.choice(np.array([3, 4], d), n),
        "two values, uneven": (rng.random(n) < 0.4999).astype(d),
        "organ pipe": np.concatenate([ramp[: n // 2], ramp[: n - n // 2][::-1]]),
        "ties at the median": ties,
        "four between the ends": ends,
    }.items()
    if d.kind == "f":
        yield "infinities", np.where(rng.random(n) < 0.5, np.inf, -np.inf).astype(d)
        yield "some infinite", np.where(rng.random(n) < 0.2, -np.inf, random).astype(d)
        yield "zeros", np.where(rng.random(n) < 0.5, 0.0, -0.0).astype(d)
        tiny = np.finfo(d).smallest_subnormal
        yield "subnormal", (rng.integers(-4, 5, n) * tiny).astype(d)


@quick_rows(4)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_and_pattern_against_a_sort(dtype):
    n = 40_001  # above order.SMALL: pivots and passes
    assert n > order.SMALL
    for name, data in patterns(n, dtype):
        whole = np.sort(data)
        for rule, width in [(median, 50), (lambda n: 1, 7), (lambda n: n, 0), (median, 3000)]:
            found = Ranks(data).window(rule, width)
            m = rule(n)
            first, last = max(1, m - width), min(n, m + width)
            assert (found.first, found.n, found.nan) == (first, n, 0), name
            assert found.values.dtype == data.dtype
            np.testing.assert_array_equal(found.values, whole[first - 1 : last], err_msg=name)


def numbers(dtype):
    d = np.dtype(dtype)
    few = st.sampled_from([0, 1, 2, 3])
    if d.kind != "f":
        return few | st.integers(*(int(v) for v in limits(d)))
    special = [math.nan, -0.0, 0.0, math.inf, -math.inf, float(np.finfo(d).smallest_subnormal)]
    return few.map(float) | st.sampled_from(special) | st.floats(width=8 * d.itemsize)


@st.composite
def columns(draw):
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    array = draw(hnp.arrays(dtype, st.integers(0, 60), elements=numbers(dtype)))
    form = draw(st.sampled_from(["plain", "swapped", "strided", "reversed", "read-only"]))
    if form == "swapped":
        array = array.astype(dtype.newbyteorder())
    elif form == "strided":
        array = array.repeat(3)[::3]
    elif form == "reversed":
        array = array[::-1].copy()[::-1]
    elif form == "read-only":
        array.flags.writeable = False
    return array


@given(
    data=columns(),
    share=st.fractions(0, 1),
    width=st.integers(0, 70),
    missing=st.sampled_from(["drop", 0.0, 2.0, 1.5, -1e300, math.inf, -math.inf]),
    small=st.sampled_from([-1, order.SMALL]),
)
def test_anything(data, share, width, missing, small):
    """With small = -1 even three rows go through pivots, passes and brackets."""

    def rule(n):
        return min(max(1, math.ceil(share * n)), n)

    with patch.object(order, "SMALL", small):
        found = Ranks(data, missing=missing).window(rule, width)
    same(found, reference.window(data, rule, width, None if missing == "drop" else missing))


@pytest.mark.full
@settings(deadline=None, max_examples=200)
@given(
    data=columns(),
    cuts=st.lists(st.integers(0, 60), max_size=4),
    nulls=st.lists(st.integers(0, 5), max_size=2),
    width=st.integers(0, 9),
    missing=st.sampled_from(["drop", 1.0, 1.5, math.inf, -math.inf]),
    sample=st.sampled_from(["none", "liar", "empty"]),
    known=st.booleans(),
)
def test_any_chunking_gives_the_same(data, cuts, nulls, width, missing, sample, known):
    data = data.astype(data.dtype.newbyteorder("="))
    parts = np.split(data, sorted(c for c in cuts if c <= len(data)))
    nulls = nulls[: len(parts)]
    lie = {"none": None, "liar": [3] * 9, "empty": []}[sample]
    source = Pieces(parts, nulls, lie, known)
    with patch.object(order, "SMALL", -1):
        found = Ranks(source, missing=missing).window(median, width)
    policy = None if missing == "drop" else missing
    same(found, reference.window(data, median, width, policy, sum(nulls)))


@pytest.mark.parametrize("dtype", ["<f8", "<i2", "|i1"])
def test_a_lying_sample_costs_passes_and_nothing_else(dtype):
    for name, data in patterns(60_000, dtype, seed=3):
        whole = np.sort(data)
        lie = np.full(5000, limits(dtype)[1], data.dtype)
        source = Pieces(np.split(data, 6), sample=lie, known=True)
        found = Ranks(source).window(median, 100)
        np.testing.assert_array_equal(found.values, whole[29_899:30_100], err_msg=name)
        assert source.passes <= 3, name  # the third misses by chance: 7.5 deviations, 2e-13


def test_a_good_sample_needs_one_pass_and_two_rounds_share_it():
    data = np.random.default_rng(6).normal(size=100_000)
    source = Pieces(np.split(data, 10), sample=data[:5000], known=True)
    ranks = Ranks(source)
    for width in (10, 200, 3):
        same(ranks.window(median, width), reference.window(data, median, width))
    assert source.passes == 1
    assert len(ranks.window(median, 40_000).values) == 80_001
    assert source.passes > 1


@pytest.mark.usefixtures("same_pivots")
@quick_rows(3)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "u1", "i8", "u4"])
@pytest.mark.parametrize("shape", ["spread", "ties", "NaN"])
def test_windows_that_are_fetched_together_take_one_pass(dtype, shape):
    rng = np.random.default_rng(2)
    data = rng.normal(100, 30, 200_000).clip(0, 250)
    data = np.where((rng.random(len(data)) < 0.5) & (shape != "spread"), 7, data).astype(dtype)
    if shape == "NaN" and dtype[0] == "f":
        data[::3] = np.nan
    source = Pieces(np.array_split(data, 7), sample=rng.choice(data, 5000), known=True)
    ranks, whole = Ranks(source), np.sort(data[data == data])
    rules = [lambda n, k=k: max(1, k * n // 10) for k in range(1, 10)]
    ranks.prefetch([(rule, 100) for rule in rules])
    for rule in rules:
        found, first = ranks.window(rule, 100), rule(len(whole)) - 100
        assert (found.first, found.n) == (first, len(whole))
        np.testing.assert_array_equal(found.values, whole[first - 1 : first + 200])
    assert source.passes == 1


def test_misses_are_rare(monkeypatch):
    rng = np.random.default_rng(17)
    data = rng.normal(size=20_000)

    def misses():
        count = 0
        for _ in range(200):
            source = Pieces([data], sample=rng.choice(data, 1024), known=True)
            Ranks(source).window(median, 20)
            count += source.passes > 1
        return count

    assert misses() == 0
    monkeypatch.setattr(floyd_rivest, "SLACK", 0.5)
    assert misses() > 20


def test_only_missing_values():
    nothing = np.full(20_000, np.nan)
    same(Ranks(nothing).window(median, 3), ([], 1, 0, 20_000))
    same(Ranks(nothing, missing=2.0).window(median, 1), ([2.0] * 3, 9_999, 20_000, 20_000))


def test_a_replacement_keeps_the_dtype_when_it_can():
    ints = np.ma.masked_equal(np.arange(9), 4)
    for missing, rule, width, dtype in ((4.0, median, 9, "i8"), (4.5, median, 9, "f8")):
        assert Ranks(ints, missing=missing).window(rule, width).values.dtype == dtype
    assert Ranks(ints, missing=4.5).window(lambda n: 1, 1).values.dtype == np.int64
    due = [0, 1, 2, 3, 5, 6, 7, 8, math.inf], 1, 9, 1
    same(Ranks(ints, missing=math.inf).window(median, 9), due)


def test_a_replacement_above_both_pivots_is_above_values_that_found_no_room():
    data = np.repeat([0.5, 1.0, 2.0, np.nan], 1000)
    bracket = floyd_rivest.Bracket(0.0, 1.0, 10)
    (known,) = floyd_rivest.tally(Pieces([data]), [bracket], 3.0)
    assert not known.covers(500, 500) and not known.covers(2500, 2500)
    assert known.covers(1001, 2000) and set(known.ranks(1001, 2000)) == {1.0}
    (known,) = floyd_rivest.tally(Pieces([data]), [bracket], 0.75)
    assert not known.covers(1500, 1500) and set(known.ranks(2001, 3000)) == {1.0}


@pytest.mark.usefixtures("same_pivots")
def test_without_a_sample_the_second_pass_finds_it():
    data = np.sort(np.random.default_rng(5).normal(size=300_000))
    source = Pieces(np.split(data, 30))
    assert Ranks(source).window(median, 100).values.tolist() == data[149_899:150_100].tolist()
    assert source.passes == 2


@pytest.mark.usefixtures("same_pivots")
def test_memory_is_bounded():
    n = 2_000_000
    rng = np.random.default_rng(10)
    for data in (rng.normal(size=n), np.full(n, 1.0), np.arange(float(n))):
        ranks = Ranks(data[::-1])  # not contiguous
        assert peak(lambda ranks=ranks: ranks.window(median, 1000))[0] < data.nbytes / 4


@quick_rows(2)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sorted_data_are_sliced(dtype):
    for _, data in patterns(6_000, dtype, seed=12):
        data = np.sort(data)
        for form in (data, data.repeat(2)[::2], data.astype(data.dtype.newbyteorder())):
            found = Ranks(form, assume_sorted=True).window(median, 60)
            same(found, reference.window(data, median, 60))
            assert found.values.dtype.isnative


def test_sorted_data_with_nan_at_the_end():
    data = np.sort(np.random.default_rng(13).normal(size=1000))
    for count in (0, 1, 400, 1000):
        data[1000 - count :] = np.nan
        for missing in ("drop", 0.0, -9.0, 9.0, math.inf):
            none = None if missing == "drop" else missing
            found = Ranks(data, missing=missing, assume_sorted=True).window(median, 30)
            same(found, reference.window(data, median, 30, none))


def test_a_lie_inside_the_window_or_a_gross_one_outside_is_found():
    rng, window = np.random.default_rng(14), np.arange(1000.0)
    gross = rng.permutation(1000.0 * np.arange(-500, 500))
    lies = [(np.concatenate([gross, window, [9e9] * 1000]), 20)]
    lies += [(np.concatenate([[np.nan], window]), 20), (np.concatenate([window, [0.0]]), 20)]
    for at, value in itertools.product(range(451, 550), (-1.0, 2000.0, math.nan)):
        lies.append((np.where(window == at, value, window), 50))
    for data, width in lies:
        with pytest.raises(DataError, match="assume_sorted=True"):
            Ranks(data, assume_sorted=True).window(median, width)
    assert Ranks(window, assume_sorted=True).window(median, 50).first == 450


def check_pass(data, *pairs, room, kernel=bracket_pass):
    """One pass for each pair of pivots, and one for all of them, against the definition."""
    pairs = np.array(pairs, np.int32 if data.dtype.itemsize == 2 else data.dtype)
    outs = [[np.zeros(room, pairs.dtype) for _ in pairs] for _ in range(2)]
    alone = [kernel(data, pivots, out) for pivots, out in zip(pairs, outs[0], strict=True)]
    for counts, kept in zip((alone, bracket_passes(data, list(pairs), outs[1])), outs, strict=True):
        for pivots, own, out in zip(pairs, counts, kept, strict=True):
            expected, inside = reference.bracket(data, *pivots.tolist())
            assert tuple(own) == tuple(expected)
            got = out[: min(room, len(inside))].tolist()
            assert not Counter(got) - Counter(inside)


@settings(deadline=None)
@given(data=st.data(), dtype=st.sampled_from([d for d in CHUNK_DTYPES if d.itemsize > 1]))
def test_brackets_by_definition(data, dtype):
    few = data.draw(hnp.arrays(dtype, st.integers(1, 12), elements=numbers(dtype)))
    values = np.tile(few, data.draw(st.sampled_from([1, 7, 40, 300])))
    values = values[data.draw(st.integers(0, 3)) :]
    known = numbers(dtype).filter(lambda v: v == v)
    pairs = data.draw(st.lists(st.tuples(known, known).map(sorted), min_size=1, max_size=4))
    check_pass(values, *pairs, room=data.draw(st.sampled_from([0, 1, 5, 70, 5000])))


def test_the_check_of_the_pass_catches_planted_faults():
    data = np.array([1.0, 2.0, 2.0, 3.0, np.nan, 4.0, 4.0, 9.0] * 9)
    check_pass(data, (2.0, 4.0), room=100)
    for off in np.eye(6, dtype=int):
        wrong = lambda *given, off=off: tuple((bracket_pass(*given) + off).tolist())  # noqa: E731
        with pytest.raises(AssertionError):
            check_pass(data, (2.0, 4.0), room=100, kernel=wrong)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_bytes_by_definition(dtype):
    rng = np.random.default_rng(16)
    floor = int(np.iinfo(dtype).min)
    for n in (0, 1, 31, 63, 64, 65, 1000, 255 * 32 + 7, 8192, 20_001):
        data = rng.integers(floor, floor + 256, n).astype(dtype)
        histogram = [int((data == floor + v).sum()) for v in range(256)]
        assert histogram_bytes(data).tolist() == histogram
        upto = np.cumsum(histogram).tolist()
        for first, count in [(0, 1), (0, 256), (255, 1), (100, 8), (101, 9), (250, 6)]:
            assert count_bytes(data, first, count).tolist() == upto[first : first + count]
    worst = np.full(255 * 32 * 3 + 5, floor, dtype)  # counters of a byte must not overflow
    assert count_bytes(worst, 0, 1).tolist() == [len(worst)]


def test_kernels_refuse_what_they_cannot_read():
    good, pivots, out = np.arange(9.0), np.array([1.0, 2.0]), np.empty(9)
    locked = np.empty(9)
    locked.flags.writeable = False
    wrong = [(values, pivots, out) for values in (good[::2], good.astype(">f8"), np.int8([1]))]
    wrong += [(good, pivots, wrong_out) for wrong_out in (out.astype("f4"), locked)]
    wrong += [(good, p, out) for p in (pivots.astype("f4"), pivots[:1], pivots[::-1].copy())]
    for args in wrong:
        with pytest.raises(ValueError):
            bracket_pass(*args)
    for args in ((np.int8([1]), 250, 7), (np.int8([1]), -1, 2), (np.int16([1]), 0, 1)):
        with pytest.raises(ValueError):
            count_bytes(*args)
    with pytest.raises(ValueError):
        histogram_bytes(np.int16([1]))
    for x in (np.zeros(9, np.int16), np.zeros(9)[::2], np.zeros(9, ">f8"), np.zeros((3, 3))):
        with pytest.raises(ValueError, match="contiguous"):
            order_part(x, 0, 1)
    with pytest.raises(ValueError, match="within"):
        order_part(np.zeros(9), 3, 10)


def test_edges():
    same(order.window([], 1, 5), ([], 1, 0, 0))
    same(order.window([2.5], median, 0), ([2.5], 1, 1, 0))
    same(order.window(np.array([True, False, True]), median, 9), ([0, 1, 1], 1, 3, 0))
    assert order.window(np.float16([1, 2]), 1, 0).values.dtype == np.float32
    beyond = order.window([1, 2, 3], 9, 2)
    assert (beyond.values.tolist(), beyond.first) == ([], 7)


def test_nan_under_raise():
    for data in ([1.0, math.nan], np.ma.masked_equal([1, 2], 2), np.r_[np.zeros(50_000), np.nan]):
        with pytest.raises(DataError, match="NaN or null"):
            order.window(data, 1, 1)
    assert order.window([1.0, math.nan], 1, 1, nan="drop").n == 1
    assert order.window([1.0, math.nan], 1, 1, nan=3).values.tolist() == [1.0, 3.0]
    for bad in ("ignore", None, math.nan):
        with pytest.raises((ArgumentError, ArgumentTypeError), match="nan must be"):
            order.window([1.0], 1, 1, nan=bad)


def test_the_sample_is_unbiased():
    def deviation(thinned):
        data = np.arange(4096) % 16
        hits = np.zeros(16)
        for _ in range(100):
            hits += np.bincount(thinned(data), minlength=16)
        return np.abs(hits / hits.sum() - 1 / 16).max()

    assert deviation(lambda d: floyd_rivest.thin(d, 4)) < 0.01  # binomial, fails by chance: 2e-9
    assert deviation(lambda d: d[::16]) > 0.01


#: Of arrays whose middle is partly sorted.
KINDS = ["f8", "f4", "i8", "u8", "i4", "u4"]


def rows_of(kind, n, levels, seed):
    rng, dtype = np.random.default_rng(seed), np.dtype(kind)
    if dtype.kind == "f":
        return np.round(rng.normal(0, levels, n)).astype(dtype)
    return rng.integers(0 if dtype.kind == "u" else -levels, levels, n).astype(dtype)


def check_part(x, start, stop):
    kept = x.copy()
    np.testing.assert_array_equal(order_part(x, start, stop), np.sort(x)[start:stop])
    np.testing.assert_array_equal(x, kept)


@quick_rows(8)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("levels", [1, 2, 10, 10**9])
def test_windows_are_those_of_sorting(levels, kind):
    rng = np.random.default_rng(levels)
    for seed in range(60):
        n = int(rng.integers(0, (900, 9_000)[seed % 2]))
        start, stop = sorted(rng.integers(0, n + 1, 2).tolist())
        check_part(
            rows_of(kind, n, levels, seed), start, min(stop, start + 99) if seed % 3 else stop
        )


@pytest.mark.parametrize("kind", KINDS)
def test_windows_of_rows_in_a_bad_order(kind):
    """Rows made to divide badly are sorted by heaps, and give the same."""
    n, half = 20_000, 10_000
    ramp, killer = np.arange(n).astype(kind), np.arange(n).astype(kind)
    # Of the middle of three (Musser, 1997).
    killer[:half:2], killer[1:half:2] = (
        np.arange(1, half, 2),
        np.arange(half + 1, n, 2)[: half // 2],
    )
    killer[half:] = 2 * np.arange(n - half)
    low, high = (-np.inf, np.inf) if kind[0] == "f" else limits(kind)
    ends = np.array([high, low] * half, kind)
    for x in (ramp, ramp[::-1].copy(), np.minimum(ramp, n - ramp), killer, ends):
        for start, stop in ((half - 50, half + 50), (0, 9), (n - 9, n)):
            check_part(x, start, stop)


@pytest.mark.parametrize("missing", ["drop", "raise", -3.0, 1e9])
@pytest.mark.parametrize("kind", [*KINDS, "f2", "i2", "u1"])
def test_a_window_is_that_of_the_other_ways(kind, missing, monkeypatch):
    for seed, n in enumerate((1, 30, 3_000, 40_000)):
        x = rows_of(kind, n, 90, seed)
        if x.dtype.kind == "f" and seed:
            x[:: 7 + seed] = np.nan
        x = np.ma.masked_equal(x, 7) if seed % 2 else x
        gone = np.ma.getmaskarray(x) | np.isnan(x).data
        rest = [] if isinstance(missing, str) else [missing] * int(gone.sum())
        whole = np.sort([*np.asarray(x)[~gone].astype(float), *rest])
        for middle in (1, n // 3 + 1, n):
            found = []
            for most in (1 << 21, 0):
                monkeypatch.setattr(order, "MIDDLE", most)
                ranks = Ranks(x, missing=missing)
                found.append(ranks.window(lambda n, m=middle: min(m, n), 25))
                again = ranks.window(lambda n, m=middle: min(m, n), 60)
                assert set(found[-1].values) <= set(again.values)
                for value in (-1e300, -90.5, -0.5, 0.0, 3.0, 41.25, 1e9, 1e300):
                    assert ranks.less(value) == np.searchsorted(whole, value)
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
