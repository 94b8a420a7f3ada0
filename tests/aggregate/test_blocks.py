"""Rows in blocks: labels and their twins, exact tallies, the stable counting sort."""

from __future__ import annotations

import copy
import hashlib
import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfast._kernels import aggregate as native
from dpfast._kernels.tables import Key
from dpfast.aggregate.blocks.counting_sort import scatter
from dpfast.aggregate.blocks.partition import ContiguousLabels, KeyedLabels, RandomLabels
from dpfast.aggregate.blocks.tallies import Extremes, Moments, Totals
from dpfast.errors import ArgumentTypeError, DataError
from dpfast.rng import InsecureGenerator
from dpfast.tables.key_words import secret

from ..reference.aggregate import blocks as twin
from ..support.pairwise import every_value, quick_rows
from ..support.paths import on_every_path

SECRET = bytes(range(32))
KEY = Key(SECRET)


def random(blocks: int) -> RandomLabels:
    return RandomLabels(blocks, KEY)


# --- random labels --------------------------------------------------------------------------------


@every_value
@pytest.mark.parametrize("blocks", [1, 2, 3, 1000, 65_537, 2**31])
@pytest.mark.parametrize("start", [0, 509, 2**36 - 3, 2**36 * 5 + 2**35 - 1, 2**62])
def test_labels_equal_the_plain_twin(blocks, start):
    got = random(blocks).read(start, 20)
    assert got.tolist() == [twin.label(SECRET, blocks, start + i)[0] for i in range(20)]


def test_refused_words_go_to_further_layers():
    """A third of the words is refused here, so two layers and more are needed now and then."""
    blocks = (1 << 31) - (1 << 31) // 3
    decided = [twin.label(SECRET, blocks, row) for row in range(60)]
    assert max(layer for _, layer in decided) >= 2
    assert random(blocks).read(0, 60).tolist() == [label for label, _ in decided]


def test_a_chosen_stream_of_words_is_uniform():
    """Of all words of a smaller machine each label gets as many, and the rest are refused."""
    for bits, blocks in [(8, 3), (8, 7), (8, 100), (10, 1000)]:
        kept = [
            word * blocks >> bits
            for word in range(2**bits)
            if word * blocks % 2**bits >= 2**bits % blocks
        ]
        counts = np.bincount(kept, minlength=blocks)
        assert (counts == 2**bits // blocks).all()
        # Control: without the refusal some labels get one more.
        every = np.bincount([word * blocks >> bits for word in range(2**bits)], minlength=blocks)
        assert len(set(every.tolist())) == 2


WHOLE = random(1000).read(0, 10_000)


@given(st.lists(st.integers(0, 3000), max_size=6))
def test_labels_do_not_depend_on_the_cut(sizes):
    at = 0
    for size in [*sizes, 10_000]:
        size = min(size, 10_000 - at)
        np.testing.assert_array_equal(random(1000).read(at, size), WHOLE[at : at + size])
        at += size


def test_another_key_gives_other_labels():
    one, two = (RandomLabels(1000, secret(InsecureGenerator(s).stream())) for s in (1, 2))
    same = (one.read(0, 10_000) == two.read(0, 10_000)).sum()
    assert same < 60  # ten are due
    again = RandomLabels(1000, secret(InsecureGenerator(1).stream()))
    np.testing.assert_array_equal(one.read(0, 100), again.read(0, 100))


def test_a_key_is_a_secret():
    for make in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="it is a secret"):
            make(KEY)
    with pytest.raises(ValueError, match="32 bytes, got 16"):
        Key(bytes(16))


def test_what_the_kernel_refuses():
    out = np.empty(3, np.uint32)
    for blocks in (0, -1, 2**31 + 1):
        with pytest.raises(ValueError, match="blocks must be from 1"):
            native.random_labels(KEY, blocks, 0, out)
    with pytest.raises(ValueError, match="start must be from 0"):
        native.random_labels(KEY, 2, -1, out)
    x = np.zeros(3)
    with pytest.raises(ValueError, match="labels must be below 2"):
        Totals(2).add(np.array([0, 1, 2], np.uint32), x)
    with pytest.raises(ValueError, match="lengths must agree"):
        Totals(2).add(out[:2], x)
    with pytest.raises(ValueError, match="block must be from 0 to 1"):
        Totals(2).add_run(2, x)
    for first, cuts, why in [
        (1, [0, 1, 2], "a block for each"),
        (-1, [0, 1], "a block for each"),
        (0, [0, 2, 1], "not fall"),
        (0, [-1, 2], "stay inside"),
        (0, [0, 4], "stay inside"),
        (0, [], "a block for each"),
    ]:
        with pytest.raises(ValueError, match=why):
            Totals(2).add_runs(first, np.array(cuts, np.int64), x)
    with pytest.raises(ValueError, match="labels must be below 2"):
        native.count(np.array([7], np.uint32), np.zeros(2, np.int64))


# --- contiguous blocks ----------------------------------------------------------------------------


@quick_rows(2)
@pytest.mark.parametrize("n, blocks", [(10, 3), (10, 10), (7, 1), (100, 7), (3, 5), (12, 4)])
def test_ranges(n, blocks):
    labels = ContiguousLabels(blocks, n)
    edges = [j * n // blocks for j in range(blocks + 1)]
    expected = np.repeat(np.arange(blocks), np.diff(edges))
    for start, stop in itertools.combinations(range(n + 1), 2):
        np.testing.assert_array_equal(labels.read(start, stop - start), expected[start:stop])
    assert labels.offsets().tolist() == edges
    assert labels.runs(n, 0)[1].tolist() == [0]


# --- labels of ids --------------------------------------------------------------------------------


IDS: list = [0, 1, -1, 127, -128, 2**31 - 1, -(2**63), 2**63 - 1, 2**63, 2**64 - 1]
TEXTS = ["", "a", "1", "anna", "sevenby", "eight by", "nine byte", "Zoë", "日本", "𝄞" * 9, "\ud800"]


def keyed(ids, blocks: int = 2**31):
    return KeyedLabels(blocks, KEY).read(ids).tolist()


def test_labels_of_ids_equal_the_plain_twin():
    every = [*IDS, *TEXTS, *[t.encode("utf-8", "surrogatepass") for t in TEXTS], None]
    for blocks in (1, 3, 1000, 2**31):
        assert keyed(every, blocks) == [twin.id_label(SECRET, blocks, one) for one in every]
    assert len(set(keyed(every))) == len(every)  # 1, "1" and b"1" are three ids


def test_equal_numbers_meet_whatever_their_dtype():
    for value in (0, 1, 100, -1, -100):
        expected = [twin.id_label(SECRET, 2**31, value)]
        for dtype in "bhiqBHIQ":
            if dtype.isupper() and value < 0:
                continue
            assert keyed(np.array([value], dtype)) == expected
            assert keyed(np.array([value], np.dtype(dtype).newbyteorder(">"))) == expected
        assert keyed([value]) == keyed(np.array([value], object)) == expected
    assert keyed([True, False]) == keyed(np.array([True, False])) == keyed([1, 0])
    assert keyed(np.array([2**64 - 1], np.uint64)) != keyed(np.array([-1]))


def test_equal_texts_meet_whatever_their_form():
    pa = pytest.importorskip("pyarrow")
    texts = [t for t in TEXTS if t != "\ud800"]
    expected = keyed(texts)
    assert keyed(np.array(texts)) == keyed(np.array(texts, object)) == expected
    assert keyed(np.array(texts, ">U9")) == keyed(np.array(texts, "<U30")) == expected
    assert keyed(np.array(texts, np.dtypes.StringDType())) == expected
    assert keyed(np.array(texts)[::-1]) == expected[::-1]
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())):
        assert keyed(pa.array(texts).cast(kind)) == expected
        assert keyed(pa.array(["x", *texts, "y"]).cast(kind)[1:-1]) == expected
    assert keyed(pa.chunked_array([texts[:3], [], texts[3:]])) == expected
    raw = [t.encode() for t in texts]
    expected = keyed(raw)
    assert keyed(np.array(raw)) == keyed(pa.array(raw)) == keyed(np.array(raw, "S40")) == expected
    assert keyed(pa.array([b"ab", b"cd"], pa.binary(2))) == keyed([b"ab", b"cd"])


def test_zeros_at_the_end_do_not_count():
    pa = pytest.importorskip("pyarrow")
    assert keyed(["a\0", "\0"]) == keyed(["a", ""]) == keyed(pa.array(["a\0\0", "\0"]))
    assert keyed([b"a\0"]) == keyed([b"a"])
    assert keyed(["a\0b"]) != keyed(["ab"])


def test_nulls_are_one_id():
    pa = pytest.importorskip("pyarrow")
    none = keyed([None])
    for column in (
        pa.array([None, 5, None]),
        pa.array([None, 5, None], pa.uint8()),
        np.ma.array([1, 5, 2], mask=[1, 0, 1]),
        [None, 5, None],
        [math.nan, 5, None],
    ):
        assert keyed(column) == none + keyed([5]) + none
    assert keyed(pa.array([None, "x"])) == none + keyed(["x"])
    assert keyed(pa.nulls(2)) == none * 2
    truths = pa.array([None, True, False, None])
    assert keyed(truths) == none + keyed([1, 0]) + none
    assert keyed(truths.dictionary_encode()) == keyed(truths)


def test_arrow_text_that_is_not_aligned():
    pa = pytest.importorskip("pyarrow")
    texts = pa.array(["a", "bc", ""], pa.large_string())
    _, offsets, data = texts.buffers()
    odd = pa.py_buffer(b"." + offsets.to_pybytes()[:32] + b".").slice(1)
    assert keyed(pa.Array.from_buffers(texts.type, 3, [None, odd, data])) == keyed(texts)
    assert keyed(pa.Array.from_buffers(texts.type, 2, [None, odd, data], offset=1)) == keyed(
        texts[1:]
    )


def test_ids_that_stand_in_no_dictionary_are_an_answer_that_repeats_nothing():
    pa = pytest.importorskip("pyarrow")
    for place in (7, -1):
        places = pa.array([0, place, 1], pa.int32())
        ids = pa.DictionaryArray.from_arrays(places, pa.array(["a", "b"]), safe=False)
        with pytest.raises(DataError, match="must stand in their dictionary") as caught:
            keyed(ids)
        assert caught.value.__context__ is None and str(place) not in str(caught.value)


def test_a_pandas_column_of_ids():
    pd = pytest.importorskip("pandas")
    assert keyed(pd.Series([3, 1, 2])) == keyed([3, 1, 2])
    assert keyed(pd.Series(["b", "a"])) == keyed(["b", "a"])
    assert keyed(pd.Series([3, None], dtype="Int64")) == keyed([3, None])


def test_chunks_of_ids_give_the_same_labels():
    ids = np.random.default_rng(0).integers(-50, 50, 150_000)
    whole = KeyedLabels(1000, KEY).read(ids)
    parts = [KeyedLabels(1000, KEY).read(ids[at : at + 999]) for at in range(0, len(ids), 999)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    by_id = {one: twin.id_label(SECRET, 1000, one) for one in range(-50, 50)}
    np.testing.assert_array_equal(whole, [by_id[one] for one in ids.tolist()])


def test_floats_are_no_ids():
    pa = pytest.importorskip("pyarrow")
    for ids in (np.zeros(3), np.zeros(3, "M8[s]"), np.zeros((2, 2), int), pa.array([1.5])):
        with pytest.raises(ArgumentTypeError, match="ids must be a one-dimensional column of int"):
            keyed(ids)
    for ids in ([1, 2.5], [2**64], [object()], np.array([(1,), "a"], object)):
        with pytest.raises(DataError, match="ids must be integers of at most 64 bits") as caught:
            keyed(ids)
        assert "2.5" not in str(caught.value)


def test_no_ids():
    pa = pytest.importorskip("pyarrow")
    for none in ([], np.array([], "U"), np.array([], "S3"), np.array([], int), pa.array([], "str")):
        assert keyed(none) == []
    assert keyed(np.array(["", ""])) == keyed(["", ""])


# --- exact sums -----------------------------------------------------------------------------------


NASTY = [0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 1.7976931348623157e308, 5e-324, -5e-324, 2.0**-1022]
NASTY += [1e16, 1.0 + 2**-52, 0.1, -0.1, 2.0**-1000, 3e-310, 2.0**1000, 2.0**53, 1e300, -1e300]
doubles = st.one_of(
    st.sampled_from(NASTY),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-100, 100),
)


def same(found, expected) -> None:
    """Bit for bit, with all NaNs alike and -0 like 0."""
    found, expected = np.asarray(found) + 0.0, np.asarray(expected) + 0.0
    np.testing.assert_array_equal(found, expected)


@pytest.mark.full
@given(st.lists(doubles, max_size=60), st.randoms(use_true_random=False))
def test_sums_are_rounded_once_and_have_no_order(values, order):
    expected = twin.total(values)
    for _ in range(3):
        x = np.array(values)
        one, two, three = Totals(2), Totals(2), Totals(2)
        one.add(np.ones(len(x), np.uint32), x)
        two.add_run(1, x)
        three.add_runs(0, np.array([0, 0, len(x)]), x)
        for total in (one, two, three):
            same(total.sums(), [0.0, expected])
        order.shuffle(values)


@given(st.lists(st.sampled_from([*NASTY, math.inf, -math.inf, math.nan]), max_size=30))
def test_nan_and_infinity(values):
    x = np.array(values)
    one, two = Totals(1), Totals(1)
    one.add(np.zeros(len(x), np.uint32), x)
    two.add_run(0, np.repeat(x, 16))
    same(one.sums(), [twin.total(values)])
    same(two.sums(), [twin.total(values * 16)])


def spreads():
    rng = np.random.default_rng(3)
    z = rng.standard_normal(5000)
    return {
        "plain": z * 12 + 50,
        "near zero": z,
        "mixed signs that cancel": np.concatenate([z * 1e9, -z * 1e9, [1e-9]]),
        "many magnitudes": z * 2.0 ** rng.integers(-300, 300, 5000),
        "all magnitudes": z * 2.0 ** rng.integers(-1074, 1000, 5000),
        "huge": np.sign(z) * 1.7e308,
        "all huge": np.full(5000, 1.7e308),
        "tiny": z * 2.0**-1070,
        "one outlier": np.append(z, 1e308),
        "zeros": np.zeros(5000),
        "negative zeros": -np.zeros(5000),
        "integers": np.floor(z * 1e6),
        "tiles of many sizes": np.concatenate(
            [z[:1024] * 2.0**p for p in (0, 60, -60, -1080, 990, 1010, 3, 995, 0, 1, -1)]
        ),
        "widest that is split": np.where(z > 0, 2.0**40, 2.0**-40),
    }


@quick_rows(4)
@pytest.mark.parametrize("name", spreads())
def test_runs_of_all_lengths(name):
    x = spreads()[name]
    for n in (0, 1, 15, 16, 17, 1023, 1024, 1025, 2047, 2049, 4999, len(x)):
        total = Totals(1)
        total.add_run(0, x[:n])
        same(total.sums(), [twin.total(x[:n].tolist())])
    counts = np.array([len(x)])
    exact = sum(map(Fraction, x.tolist())) / len(x)
    mean = total.means(counts)[0]
    assert abs(Fraction(float(mean)) - exact) <= abs(exact) / 2**51 + Fraction(5e-324)


def test_a_run_with_one_odd_value_anywhere():
    for odd in (math.nan, math.inf, -math.inf):
        for at in (0, 7, 500, 1023, 1024, 1040):
            x = np.ones(1041)
            x[at] = odd
            total = Totals(1)
            total.add_run(0, x)
            same(total.sums(), [odd])


NEAR = {"near": 3, "planes only": native.NEAR + 1}


def under_labels(blocks, labels, x, step):
    total = Totals(blocks)
    for at in range(0, len(x), step):
        total.add(labels[at : at + step], x[at : at + step])
    return total


@quick_rows(2)
@pytest.mark.parametrize("blocks", NEAR.values(), ids=NEAR)
@pytest.mark.parametrize("step", [1000, 1 << 20])
def test_sums_that_fill_what_is_gathered_near(blocks, step):
    """The largest values that an exponent allows, as many as fit before a settlement and more."""
    n = (1 << 18) + 700
    for x in (
        np.full(n, np.nextafter(2.0, 0)),
        np.full(n, -np.nextafter(1.0, 0)),
        np.full(n, 2 - 2.0**-35),  # odd, in units of the upper part
        np.random.default_rng(1).uniform(-1, 1, n),
        1 + np.random.default_rng(2).integers(0, 4, n) * 2.0**-52,
    ):
        total = under_labels(blocks, np.ones(n, np.uint32), x, step)
        same(total.sums()[:3], [0.0, math.fsum(x.tolist()), 0.0])


@pytest.mark.parametrize("blocks", NEAR.values(), ids=NEAR)
def test_sums_of_values_whose_scale_changes(blocks):
    """Rising, falling, and mixed, far beyond what two doubles could hold side by side."""
    rng = np.random.default_rng(3)
    scale = [0, 5, -3, 60, 300, -300, -80, 899, 901, -899, -905, -1000, 12, 1000, -1074, 3]
    x = np.concatenate([rng.standard_normal(700) * 2.0**k for k in scale])
    mixed = rng.standard_normal(9000) * 2.0 ** rng.integers(-120, 120, 9000)
    x = np.concatenate([x, mixed, np.zeros(2000), -x[:600]])
    labels = rng.integers(0, 3, len(x)).astype(np.uint32)
    for step in (77, 5000, len(x)):
        total = under_labels(blocks, labels, x, step)
        same(total.sums()[:3], [math.fsum(x[labels == b].tolist()) for b in range(3)])


@pytest.mark.parametrize("blocks", NEAR.values(), ids=NEAR)
def test_sums_of_what_is_left_when_the_large_values_are_gone(blocks):
    """Bits far below the largest value of their batch, which only then decide the sum."""
    rng = np.random.default_rng(4)
    for below in (30, 60, 90, 400):
        large, small = rng.standard_normal(200), rng.standard_normal(100) * 2.0**-below
        x = rng.permutation(np.concatenate([large, small, -large]))
        total = under_labels(blocks, np.ones(len(x), np.uint32), x, 1 << 20)
        same(total.sums()[:3], [0.0, math.fsum(small.tolist()), 0.0])


def test_sums_may_be_looked_at_and_go_on():
    total, other = Totals(2), Totals(2)
    one = np.ones(1, np.uint32)
    for i in range(1, 5):
        total.add(one, np.array([float(i)]))
        same(total.sums(), [0.0, i * (i + 1) / 2])
    other.add(one, np.array([2.0**-70]))
    total.merge(other)
    total.merge(other)
    same(total.sums(), [0.0, 10.0])
    total.add(one, np.array([-10.0]))
    same(total.sums(), [0.0, 2.0**-69])


def test_sums_want_memory_of_the_right_size():
    planes, used = np.zeros((native.PLANES, 3, 2), np.uint64), np.zeros(native.PLANES, np.uint8)
    with pytest.raises(ValueError, match="near must have two numbers for each block"):
        native.Sums(planes, used, np.zeros(3, np.uint8), np.zeros((2, 2)))


def test_sums_after_very_many_values_carry():
    """Full limbs in both directions: 2**-1074 less than a power of two, and over it again."""
    total = Totals(1)
    x = np.full(100_000, np.nextafter(2.0, 0))
    total.add_run(0, x)
    total.add(np.zeros(100_000, np.uint32), -x)
    same(total.sums(), [0.0])
    total.add_run(0, np.array([-5e-324]))
    same(total.sums(), [-5e-324])
    total.add_run(0, np.array([1.0, 5e-324]))
    same(total.sums(), [1.0])
    total.add_run(0, np.array([2.0**-53]))  # a tie goes to the even neighbor
    same(total.sums(), [1.0])
    total.add_run(0, np.array([5e-324]))  # and anything more upwards
    same(total.sums(), [1.0 + 2**-52])


def test_means_do_not_overflow():
    total = Totals(2)
    total.add_run(1, np.full(10, 1.5e308))
    same(total.sums(), [0.0, math.inf])
    same(total.means(np.array([0, 10])), [math.nan, 1.5e308])


# --- moments --------------------------------------------------------------------------------------


def table(n: int = 6000, columns: int = 3) -> np.ndarray:
    rng = np.random.default_rng(5)
    return rng.normal(10, 3, (n, columns)) * 2.0 ** rng.integers(-8, 8, (n, 1))


def moments_of(rows, labels, blocks, cuts, shift=None):
    """In pieces that are merged."""
    total = None
    for start, stop in itertools.pairwise([0, *cuts, len(rows)]):
        part = Moments(blocks, rows.shape[1], products=True, shift=shift)
        part.add(labels[start:stop], rows[start:stop])
        total = part if total is None else total.merge(part)
    return total


@pytest.mark.parametrize("shifted", [None, "one", "each"])
def test_moments_do_not_depend_on_the_cut_and_are_right(shifted):
    rows, k = table(), 20
    labels = random(k).read(0, len(rows))
    shift = {None: None, "one": np.full(3, 9.5), "each": np.linspace(8, 12, 3 * k).reshape(k, 3)}
    shift = shift[shifted]
    whole = moments_of(rows, labels, k, [], shift)
    for cuts in ([1], [3000], [17, 18, 5999]):
        part = moments_of(rows, labels, k, cuts, shift)
        for of in (Moments.means, Moments.products, Moments.covariances):
            np.testing.assert_array_equal(of(part), of(whole))
        np.testing.assert_array_equal(part.counts, whole.counts)
    for b in range(k):
        x = rows[labels == b]
        y = x if shift is None else x - (shift if shift.ndim == 1 else shift[b])
        assert [total.sums()[b] for total in whole._first] == [twin.total(c.tolist()) for c in y.T]
        exact = [[twin.total((u * v).tolist()) / len(x) for u in y.T] for v in y.T]
        np.testing.assert_allclose(whole.products()[b], exact, rtol=1e-15)
        np.testing.assert_allclose(whole.means()[b], x.mean(0), rtol=1e-13)
        np.testing.assert_allclose(whole.covariances(1)[b], np.cov(x.T), rtol=1e-11)


@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize("shift", [None, np.array([9.0]), np.linspace(8, 12, 7)[:, None]])
def test_ranges_and_labels_of_ranges_agree(products, shift):
    x, k = table(40_000, 1)[:, 0], 7
    fixed = ContiguousLabels(k, len(x))
    ranges, labeled = (Moments(k, 1, products, shift) for _ in range(2))
    for start, stop in [(5000, 40_000), (0, 3), (3, 3), (3, 5000)]:
        ranges.add_ranges(fixed, start, x[start:stop])
    labeled.add(fixed.read(0, len(x)), x)
    for of in (Moments.residuals, Moments.means, Moments.products):
        if products or of != Moments.products:
            np.testing.assert_array_equal(of(ranges), of(labeled))
    np.testing.assert_array_equal(ranges.counts, labeled.counts)


# --- extremes -------------------------------------------------------------------------------------


def test_extremes_of_runs_look_no_further_than_the_last_cut():
    ends = Extremes(3)
    ends.add_runs(1, np.array([1, 3, 4]), np.array([-9.0, 2.0, 1.0, 5.0, 99.0]))
    same(ends.least(), [math.inf, 1.0, 5.0])
    same(ends.most(), [-math.inf, 2.0, 5.0])


@given(st.lists(st.tuples(st.integers(0, 3), st.floats()), max_size=50), st.integers(0, 50))
def test_extremes(pairs, cut):
    labels = np.array([b for b, _ in pairs], np.uint32)
    x = np.array([v for _, v in pairs], np.float64)
    by_label, by_run = Extremes(4), Extremes(4)
    by_label.add(labels[:cut], x[:cut])
    rest = Extremes(4)
    rest.add(labels[cut:], x[cut:])
    by_label.merge(rest)
    for b in range(4):
        for piece in (slice(cut), slice(cut, None)):
            mine = x[piece][labels[piece] == b]
            by_run.add_runs(b, np.array([0, len(mine)]), mine)
        own = x[labels == b]
        nan = bool(np.isnan(own).any())
        least = math.nan if nan else min(own, default=math.inf)
        most = math.nan if nan else max(own, default=-math.inf)
        for tally in (by_label, by_run):
            same(tally.least()[b], least)
            same(tally.most()[b], most)
            for end in (tally.least()[b], tally.most()[b]):
                assert end != 0 or not np.signbit(end)


# --- scatter --------------------------------------------------------------------------------------


def sorted_by(labels, rows):
    return rows[np.argsort(labels, kind="stable")]


STRUCT = np.dtype([("age", "i2"), ("name", "S5")])


@every_value
@pytest.mark.parametrize(
    "rows",
    [
        np.arange(9999.0),
        np.arange(9999, dtype=">i8"),
        np.arange(9999, dtype=np.float32),
        np.arange(9999, dtype=np.uint16),
        np.arange(9999).astype(np.uint8),
        np.arange(9999).astype(np.complex128),
        np.arange(2 * 9999.0).reshape(-1, 2),
        np.arange(3 * 9999.0).reshape(-1, 3),
        np.arange(4 * 9999.0).reshape(-1, 4),
        np.arange(35 * 9999, dtype=np.int8).reshape(-1, 5, 7),
        np.arange(2 * 9999.0)[::2],
        np.asfortranarray(np.arange(3 * 9999.0).reshape(-1, 3)),
        np.arange(9999).astype(STRUCT["age"]).astype("U7"),
        np.array([(i % 99, b"x") for i in range(9999)], STRUCT),
    ],
    ids=lambda rows: f"{rows.dtype.kind}{rows.dtype.itemsize}{rows.shape[1:]}",
)
@pytest.mark.parametrize("blocks", [1, 7, 2000])
def test_scatter_is_the_stable_sort(rows, blocks):
    labels = random(blocks).read(0, len(rows))
    expected = sorted_by(labels, rows)
    edges = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=blocks))])
    for by in (labels, random(blocks)):
        for workers in (1, 3):
            found, offsets = scatter(rows, by, blocks, workers=workers)
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(offsets, edges)


# --- instruction sets -----------------------------------------------------------------------------

PROBE = """
import hashlib
import numpy as np
from dpfast.aggregate.blocks.partition import KeyedLabels
from dpfast.aggregate.blocks.tallies import Moments, Totals
from dpfast.aggregate.blocks.partition import RandomLabels
from dpfast._kernels.tables import Key

key = Key(bytes(range(32)))
rng = np.random.default_rng(1)
x = rng.standard_normal(50_001) * 2.0 ** rng.integers(-60, 60, 50_001)
total = Totals(5)
for block in range(5):
    total.add_run(block, np.concatenate([x[block:], x[:1025] * 2.0**-1000 if block > 2 else []]))
moments = Moments(100, 1, products=True)
moments.add_rows(RandomLabels(100, key), 77, x)
labels = [RandomLabels(k, key).read(k, 30_001) for k in (3, 1000, 2**30 + 1)]
labels.append(KeyedLabels(1000, key).read(rng.integers(-9, 9**9, 9_999)))
found = [*labels, total.sums(), moments.means(), moments.products()]
print(hashlib.sha256(b"".join(a.tobytes() for a in found)).hexdigest())
"""


@pytest.mark.full
def test_every_path_gives_the_same_bits():
    assert len(on_every_path(PROBE)) == 64


def test_the_partition_of_a_seed_stays_what_it_is():
    """A stored hash: labels are a function of the key and the row, in every version."""
    labels = random(1000).read(0, 100_000)
    assert hashlib.sha256(labels.astype("<u4").tobytes()).hexdigest() == STORED


STORED = "7e0e6cea58ca5007a8a71be3fa69bcf0ffe7960074c26b97c0acb04c3c853a04"
