"""Rows in blocks: labels and their twins, exact tallies, the stable counting sort."""

import hashlib
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfast._kernels import aggregate as native
from dpfast._kernels.rng import isa_paths
from dpfast._kernels.tables import Key
from dpfast.aggregate.blocks.counting_sort import scatter
from dpfast.aggregate.blocks.partition import ContiguousLabels, KeyedLabels, RandomLabels
from dpfast.aggregate.blocks.tallies import Extremes, Totals

from ..reference.aggregate import blocks as twin
from ..support.pairwise import every_value, quick_rows
from ..support.paths import quick_tests_hold

SECRET = bytes(range(32))
KEY = Key(SECRET)


def random(blocks: int) -> RandomLabels:
    return RandomLabels(blocks, KEY)


@every_value
@pytest.mark.parametrize("blocks", [1, 2, 3, 1000, 65_537, 2**31])
@pytest.mark.parametrize("start", [0, 509, 2**36 - 3, 2**36 * 5 + 2**35 - 1, 2**62])
def test_labels_equal_the_plain_twin(blocks, start):
    got = random(blocks).read(start, 20)
    assert got.tolist() == [twin.label(SECRET, blocks, start + i)[0] for i in range(20)]
    # A third of the words is refused here, so two layers and more are needed now and then.
    blocks = (1 << 31) - (1 << 31) // 3
    decided = [twin.label(SECRET, blocks, row) for row in range(60)]
    assert max(layer for _, layer in decided) >= 2
    assert random(blocks).read(0, 60).tolist() == [label for label, _ in decided]


def test_what_the_kernels_refuse():
    out, x, two = np.empty(3, np.uint32), np.zeros(3), Totals(2)
    planes, used = np.zeros((native.PLANES, 3, 2), np.uint64), np.zeros(native.PLANES, np.uint8)
    counts = np.zeros(3, np.int64)
    labels, few = np.array([0, 1, 2], np.uint32), (np.zeros(3, np.uint8), np.zeros((2, 2)))
    for call, of, why in [
        *[(native.random_labels, (KEY, b, 0, out), "blocks must be") for b in (0, -1, 2**31 + 1)],
        (native.random_labels, (KEY, 2, -1, out), "start must be from 0"),
        (two.add, (labels, x), "labels must be below 2"),
        (two.add, (out[:2], x), "lengths must agree"),
        (two.add_run, (2, x), "block must be from 0 to 1"),
        *[
            (two.add_runs, (first, np.array(cuts, np.int64), x), why)
            for first, cuts, why in [
                *[(1, [0, 1, 2], "a block for each"), (-1, [0, 1], "a block for each")],
                *[(0, [], "a block for each"), (0, [0, 2, 1], "not fall")],
                *[(0, [-1, 2], "stay inside"), (0, [0, 4], "stay inside")],
            ]
        ],
        (native.count, (labels, np.zeros(2, np.int64)), "labels must be below 2"),
        (native.Sums, (planes, used, *few), "near must have two numbers for each block"),
        *[
            (Totals(3).add_random, (KEY, 0, np.zeros(4), counts, *more), "lengths must agree")
            for more in ((np.zeros(2),), (None, two))
        ],
    ]:
        with pytest.raises(ValueError, match=why):
            call(*of)


@pytest.mark.parametrize("n, blocks", [(10, 3), (10, 10), (7, 1), (40, 7), (3, 5), (12, 4)])
def test_ranges(n, blocks):
    labels = ContiguousLabels(blocks, n)
    edges = [j * n // blocks for j in range(blocks + 1)]
    expected = np.repeat(np.arange(blocks), np.diff(edges))
    for start, stop in itertools.combinations(range(n + 1), 2):
        assert (labels.read(start, stop - start) == expected[start:stop]).all()
    assert labels.offsets().tolist() == edges
    assert labels.runs(n, 0)[1].tolist() == [0]


TEXTS = ["", "a", "1", "anna", "sevenby", "eight by", "nine byte", "Zoë", "日本", "𝄞" * 9, "\ud800"]


def test_labels_of_ids_equal_the_plain_twin():
    ids = [0, 1, -1, 127, -128, 2**31 - 1, -(2**63), 2**63 - 1, 2**63, 2**64 - 1, None]
    every = [*ids, *TEXTS, *[t.encode("utf-8", "surrogatepass") for t in TEXTS]]
    for blocks in (1, 3, 1000, 2**31):
        found = KeyedLabels(blocks, KEY).read(every).tolist()
        assert found == [twin.id_label(SECRET, blocks, one) for one in every]
    assert len(set(found)) == len(every)  # 1, "1" and b"1" are three ids


def test_chunks_of_ids_give_the_same_labels():
    ids = np.random.default_rng(0).integers(-50, 50, 150_000)
    by_id = {one: twin.id_label(SECRET, 1000, one) for one in range(-50, 50)}
    for size in (999, 150_000):
        parts = [KeyedLabels(1000, KEY).read(ids[at : at + size]) for at in range(0, 150_000, size)]
        np.testing.assert_array_equal(np.concatenate(parts), [by_id[one] for one in ids.tolist()])


NASTY = [0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 1.7976931348623157e308, 5e-324, -5e-324, 2.0**-1022]
NASTY += [1e16, 1.0 + 2**-52, 0.1, -0.1, 2.0**-1000, 3e-310, 2.0**1000, 2.0**53, 1e300, -1e300]
doubles = st.one_of(st.sampled_from(NASTY), st.floats(), st.floats(-100, 100))


def same(found, expected) -> None:
    found, expected = np.asarray(found) + 0.0, np.asarray(expected) + 0.0
    np.testing.assert_array_equal(found, expected)


@pytest.mark.full
@given(st.lists(doubles, max_size=60), st.randoms(use_true_random=False), st.integers(1, 16))
def test_sums_are_rounded_once_and_have_no_order(values, order, times):
    expected = twin.total(values * times)
    for _ in range(3):
        x = np.repeat(values, times)
        one, two, three = Totals(2), Totals(2), Totals(2)
        one.add(np.ones(len(x), np.uint32), x)
        two.add_run(1, x)
        three.add_runs(0, np.array([0, 0, len(x)]), x)
        for total in (one, two, three):
            same(total.sums(), [0.0, expected])
        order.shuffle(values)


def summed(x):
    """The sum, rounded once; the slow twin for what is beyond float64."""
    try:
        return math.fsum(x.tolist())
    except OverflowError:
        return twin.total(x.tolist())


def gathered():
    """Numbers that are hard to gather: in runs, and in two doubles a block."""
    n, rng = (1 << 18) + 700, np.random.default_rng(3)
    z = rng.standard_normal(5000)
    # The largest values that an exponent allows, as many as fit before a settlement and more.
    yield np.full(n, np.nextafter(2.0, 0))
    yield np.full(n, -np.nextafter(1.0, 0))
    yield np.full(n, 2 - 2.0**-35)  # odd, in units of the upper part
    yield rng.uniform(-1, 1, n)
    yield 1 + rng.integers(0, 4, n) * 2.0**-52
    # Rising, falling, and mixed, far beyond what two doubles could hold side by side.
    scale = [0, 5, -3, 60, 300, -300, -80, 899, 901, -899, -905, -1000, 12, 1000, -1074, 3]
    x = np.concatenate([rng.standard_normal(700) * 2.0**k for k in scale])
    mixed = rng.standard_normal(9000) * 2.0 ** rng.integers(-120, 120, 9000)
    yield np.concatenate([x, mixed, np.zeros(2000), -x[:600]])
    # Bits far below the largest value of their batch, which only then decide the sum.
    for below in (30, 60, 90, 400):
        large, small = rng.standard_normal(200), rng.standard_normal(100) * 2.0**-below
        yield rng.permutation(np.concatenate([large, small, -large]))
    tiles = [z[:1024] * 2.0**p for p in (0, 60, -60, -1080, 990, 1010, 3, 995, 0, 1, -1)]
    yield from (z * 12 + 50, np.concatenate([z * 1e9, -z * 1e9, [1e-9]]), np.concatenate(tiles))
    yield z * 2.0 ** rng.integers(-1074, 1000, 5000)
    yield from (np.sign(z) * 1.7e308, z * 2.0**-1070, np.append(z, 1e308), np.floor(z * 1e6))
    yield from (np.zeros(5000), -np.zeros(5000), np.where(z > 0, 2.0**40, 2.0**-40))


@quick_rows(2)
@pytest.mark.parametrize("step", [1000, 1 << 20, 77])
@pytest.mark.parametrize("blocks", [3, native.NEAR + 1], ids=["near", "planes only"])
def test_sums_of_what_is_gathered(blocks, step):
    def under(labels, x):
        total = Totals(blocks)
        for at in range(0, len(x), step):
            total.add(labels[at : at + step], x[at : at + step])
        return total

    rng = np.random.default_rng(4)
    for x in gathered():
        for labels in (np.ones(len(x), np.uint32), rng.integers(0, 3, len(x)).astype(np.uint32)):
            exact = np.array([summed(x[labels == b]) for b in range(3)])
            total = under(labels, x)
            same(total.sums()[:3], exact)
            total.merge(under(labels, x))  # after sums were looked at
            with np.errstate(over="ignore"):
                same(total.sums()[:3], 2 * exact)


def test_runs_of_all_lengths():
    for x in (x[:5000] for x in [*gathered(), np.full(5000, 1.7e308)]):
        for n in (0, 1, 15, 16, 17, 1023, 1024, 1025, 2047, 2049, 4999, len(x)):
            total = Totals(1)
            total.add_run(0, x[:n])
            same(total.sums(), [summed(x[:n])])
        few, total = x[-400:], Totals(1)
        total.add_run(0, few)
        exact = sum(map(Fraction, few.tolist())) / len(few)
        mean = total.means(np.array([len(few)]))[0]  # of huge values too, whose sum overflows
        assert abs(Fraction(float(mean)) - exact) <= abs(exact) / 2**51 + Fraction(5e-324)
    for odd, at in itertools.product((math.nan, math.inf, -math.inf), (0, 7, 500, 1024, 1040)):
        total, ones = Totals(1), np.ones(1041)
        ones[at] = odd
        total.add_run(0, ones)
        same(total.sums(), [odd])


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


@given(st.lists(st.tuples(st.integers(0, 3), st.floats()), max_size=50), st.integers(0, 50))
def test_extremes(pairs, cut):
    labels = np.array([b for b, _ in pairs], np.uint32)
    x = np.array([v for _, v in pairs], np.float64)
    by_label, by_run, rest = Extremes(4), Extremes(4), Extremes(4)
    by_label.add(labels[:cut], x[:cut])
    rest.add(labels[cut:], x[cut:])
    by_label.merge(rest)
    for b, part in itertools.product(range(4), (slice(cut), slice(cut, None))):
        mine = x[part][labels[part] == b]  # and behind the last cut a value that does not count
        by_run.add_runs(b, np.array([0, len(mine)]), np.append(mine, 1e9))
    for b, tally in itertools.product(range(4), (by_label, by_run)):
        own, (least, most) = x[labels == b], (tally.least()[b], tally.most()[b])
        nan = bool(np.isnan(own).any())
        same(least, math.nan if nan else min(own, default=math.inf))
        same(most, math.nan if nan else max(own, default=-math.inf))
        assert not any(end == 0 and np.signbit(end) for end in (least, most))


@every_value
@pytest.mark.parametrize(
    "rows",
    [
        *[np.arange(9999).astype(kind) for kind in ("f8", ">i8", "f4", "u2", "u1", "c16", "U7")],
        *[np.arange(k * 9999.0).reshape(-1, k) for k in (2, 3, 4)],
        np.arange(35 * 9999, dtype=np.int8).reshape(-1, 5, 7),
        np.arange(2 * 9999.0)[::2],
        np.asfortranarray(np.arange(3 * 9999.0).reshape(-1, 3)),
        np.array([(i % 99, b"x") for i in range(9999)], [("age", "i2"), ("name", "S5")]),
    ],
    ids=lambda rows: f"{rows.dtype.kind}{rows.dtype.itemsize}{rows.shape[1:]}",
)
@pytest.mark.parametrize("blocks", [1, 7, 2000])
def test_scatter_is_the_stable_sort(rows, blocks):
    labels = random(blocks).read(0, len(rows))
    edges = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=blocks))])
    for by, workers in itertools.product((labels, random(blocks)), (1, 3)):
        found, offsets = scatter(rows, by, blocks, workers=workers)
        np.testing.assert_array_equal(found, rows[np.argsort(labels, kind="stable")])
        np.testing.assert_array_equal(offsets, edges)


@pytest.mark.full
@pytest.mark.parametrize("path", isa_paths())
def test_every_instruction_set_gives_the_bits_of_the_twins(path):
    """By the quick tests of this file, and by that of squares, which compare all bits."""
    more = __file__.replace("test_blocks", "test_streaming_estimators")
    more += "::test_one_loop_and_numpy_make_the_same_terms"
    quick_tests_hold(path, __file__, more)


def test_the_partition_of_a_seed_stays_what_it_is():
    """A stored hash: labels are a function of the key and the row, in every version."""
    labels = random(1000).read(0, 100_000)
    assert hashlib.sha256(labels.astype("<u4").tobytes()).hexdigest() == STORED


STORED = "7e0e6cea58ca5007a8a71be3fa69bcf0ffe7960074c26b97c0acb04c3c853a04"
