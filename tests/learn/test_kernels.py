"""Kernels of learners: against one row at a time, on every instruction set, and refusals."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpfast._kernels import learn as kernels
from dpfast._kernels.rng import isa_paths
from dpfast.learn import gram_matrix
from dpfast.learn.columns import Classes, columns_of
from dpfast.learn.gram_matrix import GramMatrix
from dpfast.learn.naive_bayes import ClassSums
from dpfast.learn.rows import added, carry, labeled_rows, unlabeled_rows, wholes
from dpfast.noise.wishart import matrix_noise
from dpfast.privacy import Pure
from dpfast.sulq.parts import Matrix
from dpfast.summaries.cells import SQUARES, cells
from dpfast.tables import Chunk

from ..reference.learn import classes, decision_tree, gram, margin, nearest
from ..support.pairwise import every_value, pairwise
from ..support.paths import quick_tests_hold

SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 5e-324, 1e308, -1e308, 0.5, 1.5, 2.5, 2.0**52 + 1]
REACH, STRETCH = kernels.MARGIN_REACH, kernels.GRAM_STRETCH
SHAPES = [(0, 2), (1, 1), (63, 3), (64, 8), (65, 5), (200, 1), (130, 17), (37, 33)]
OF_EACH_SHAPE = pytest.mark.parametrize(("n", "d"), SHAPES)


def numbers(g, n, d, scale):
    rows = g.normal(0, scale, (n, d))
    odd = g.uniform(size=(n, d)) < 0.05
    rows[odd] = g.choice(SPECIAL, int(odd.sum()))
    return rows


def u4(values):
    return np.array(values, np.uint32)


def boxes(n, d):
    g = np.random.default_rng(n + d)
    lo, hi = -g.integers(0, 1000, d), g.integers(0, 1000, d)
    limits = (np.tile(x.astype(float), (3, 1)) for x in (lo, hi, (lo + hi) // 2))
    return numbers(g, n, d, 200), *limits


@OF_EACH_SHAPE
def test_integers_are_those_of_exact_arithmetic(n, d):
    rows, lo, hi, middle = boxes(n, d)
    out = np.full((n + 2, d), 7.0)
    assert kernels.box_whole(rows, 4.0, lo, hi, middle, out) == np.isnan(rows).sum()
    for row, result in zip(rows.tolist(), out.tolist(), strict=False):
        for x, a, b, m, z in zip(row, lo[0], hi[0], middle[0], result, strict=True):
            x = -np.inf if x != x else x
            scaled = Fraction(4 * x) if np.isfinite(4 * x) else Fraction(b if x > 0 else a)
            assert z == round(min(max(scaled, Fraction(a)), Fraction(b))) - m
    assert (out[n:] == 7).all()


def products(rows, limits, scale=4.0):
    d = rows.shape[1]
    sums, both = np.zeros(d, np.int64), np.zeros((d, d), np.int64)
    return kernels.gram_add(rows, scale, *limits, sums, both), sums.tolist(), both.tolist()


@every_value
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 23])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 200])
def test_products_are_those_of_integers(n, d):
    rows, *limits = boxes(n, d)
    rows = np.nan_to_num(rows, nan=0.0, posinf=np.inf, neginf=-np.inf)
    assert products(rows, limits) == gram.plain(rows, limits)


def test_products_stop_before_a_stretch_with_a_missing_number():
    rows, *limits = boxes(3 * STRETCH + 5, 3)
    rows[np.isnan(rows)] = 0.0
    rows[STRETCH + 17, 1] = np.nan
    assert products(rows, limits) == gram.plain(rows[:STRETCH], limits)
    assert products(rows[STRETCH:], limits)[0] == 0
    rows[STRETCH + 17, 1] = np.inf  # which is a number
    assert products(rows, limits)[0] == len(rows)


@pairwise
@pytest.mark.parametrize("nan", ["raise", "drop", 0.3])
@pytest.mark.parametrize("kind", ["f8", "f4"])
@pytest.mark.parametrize("n", [0, 1, 9001])
def test_a_library_for_matrices_finds_the_same_products(nan, kind, n, monkeypatch):
    rows = np.random.default_rng(n).normal(0.5, 0.4, (n, 6)).astype(kind)
    if n > 1 and nan != "raise":
        rows[::1700, 2], rows[-1] = np.nan, np.nan
    matrix = GramMatrix([(0.0, 1.0)] * 6, nan, True)
    found = {}
    for isa in "avx2", "baseline":
        monkeypatch.setattr(gram_matrix, "isa", lambda isa=isa: isa)
        found[isa] = matrix.total(unlabeled_rows(rows))
    assert found["avx2"] == found["baseline"]
    monkeypatch.setattr(gram_matrix, "NARROW", 2000)  # and where 64 bits could be too few
    assert matrix.total(unlabeled_rows(rows)) == found["avx2"]


class OneChunk:
    dtype, nulls = np.dtype(np.float64), 0

    def __init__(self, rows):
        self._rows, self.length = rows, len(rows)

    def reduce(self, summarise, merge):
        return summarise(Chunk(self._rows, 0))

    def sample(self, count, words):
        return None


@pytest.mark.full
def test_a_source_may_bring_any_number_of_rows_at_a_time():
    """2**23 and more squares of 40 bits are beyond an int64, as are 2**25 of 38 bits."""
    bound, rows = 1.999999, np.full((1 << 23) + 5000, 1.999999)
    matrix = GramMatrix([(-bound, bound)], "raise", False)
    total = matrix.total(unlabeled_rows(OneChunk(rows)))
    assert total == matrix.total(unlabeled_rows(rows.reshape(-1, 1))) and max(total) > 2**63
    n = (1 << 25) + 5000
    sums = ClassSums(columns_of((-bound, bound), None).for_width(1), Classes([0, 1]), "raise")
    many = labeled_rows(OneChunk(np.broadcast_to(bound, n)), np.broadcast_to(np.uint8(1), n))
    square = sums.layout.numbers[0].reach ** 2
    assert n * square > 2**63 and sums.total(many) == [0, n, 0, n * square, 0, 0]


@pytest.mark.parametrize("d", [1, 3, 11, 101])
def test_a_round_of_several_has_noise_for_what_rounding_down_adds(d):
    """A change of that trace, plus one of a matrix of entries below 1: its part of the loss."""
    loss, trace, rounds, uses = Pure(1), 3 * d << 41, 4, Fraction(3)

    def part(noise):
        assert noise.shift
        change = Fraction(trace, 1 << noise.shift) + Fraction(float(d**1.5))
        return change / noise.scale / loss.epsilon

    assert 0.99 * uses / rounds < part(Matrix(d, trace, share=uses).noise(loss, rounds))
    assert part(Matrix(d, trace, share=uses).noise(loss, rounds)) <= uses / rounds
    # Planted: noise for a larger trace, to which what is rounded down is added but once.
    assert part(matrix_noise(loss, d, trace * rounds / uses)) > uses / rounds


def test_sums_in_two_halves_may_be_larger_than_64_bits():
    g = np.random.default_rng(0)
    total, exact = np.zeros((2, 5), np.int64), [0] * 5
    for _ in range(120):
        more = g.integers(-(2**62), 2**62, 5)
        more[0], more[1] = 2**62, -(2**62)
        total[1] += more
        carry(total)
        exact = [a + int(b) for a, b in zip(exact, more, strict=True)]
    assert wholes(total).tolist() == exact and exact[0] == 120 * 2**62 == -exact[1]
    total = plain = np.array([[3, -5], [2**32 - 1, 7]])
    exact = [int(x) << 60 for x in wholes(total)]
    for _ in range(60):  # as often as weights ask
        total, plain = added(total, total), plain + plain
    assert wholes(total).tolist() == exact != wholes(plain).tolist()


@OF_EACH_SHAPE
def test_sums_of_classes_are_those_of_the_definition(n, d):
    g = np.random.default_rng(n + d)
    first = g.integers(-60, 0, d)
    last = first + g.integers(0, 90, d)
    limits = np.array([2.0 ** g.integers(-3, 4, d), first, last, (first + last) // 2])
    rows, key = numbers(g, n, d, 30), u4(g.integers(0, 6, n))
    sums, expected = np.zeros((4, 2, d)), classes.sums(rows, limits, key, 3)
    for times in 1, 2:  # they are added to
        missing = kernels.class_totals(rows, limits, key, sums)
        assert (missing, (sums / times).tolist()) == expected


#: A root of two values, whose second child has three, and what is none of them.
NODES = [(0, 1, 2), (0, 1, 0), (1, 4, 3), (0, 3, 0), *((0, i, 0) for i in range(4, 8))]


@pytest.mark.parametrize("n", [0, 1, 500])
def test_rows_walk_down_a_tree(n):
    g, none = np.random.default_rng(n), kernels.NONE
    codes = u4(g.integers(0, 5, (n, 2)))
    codes[:1] = 2**32 - 1
    made = kernels.Tree(*map(u4, zip(*NODES, strict=True)), 2)
    label, slot = u4(g.integers(0, 4, n)), u4([none, 0, none, 1, 2, 3, 4, none])
    for steps in range(4):
        node, key = np.full(n, 7, np.uint32), np.empty(n, np.uint32)
        made.walk(codes, steps, node)
        assert node.tolist() == [decision_tree.walked(c, NODES, steps) for c in codes.tolist()]
        made.keys(node, label, slot, 3, key)
        pairs = zip(slot[node].tolist(), label.tolist(), strict=True)
        assert key.tolist() == [s * 3 + c if s != none and c < 3 else none for s, c in pairs]


@pytest.mark.parametrize("width", [1, 2, 5, 256, 300])  # more than 256 are counted by turns
def test_joint_counts(width):
    g = np.random.default_rng(width)
    values, keys, n = g.integers(1, 5, width), 6, 700
    codes, key = u4(g.integers(0, 7, (n, width))), u4(g.integers(0, 9, n))
    codes[3], key[5] = 2**32 - 1, kernels.NONE
    at, size = kernels.cells(u4(values), keys)
    counts = np.ones(size, np.int64)  # they are added to
    kernels.count(codes, key, keys, u4(values), counts)
    expected = decision_tree.crossed(codes.tolist(), key.tolist(), values.tolist(), keys)
    for a, v in enumerate(values.tolist()):
        own = counts[at[a] : at[a] + (v + 1) * (keys + 1)].reshape(v + 1, keys + 1) - 1
        assert own.tolist() == expected[a]


def sides(n, d):
    g = np.random.default_rng(n)
    middle, half = g.normal(0, 3, d), g.uniform(0.1, 5, d)
    columns = np.array([middle - half, middle + half, middle, REACH / half, g.normal(0, 3, d)])
    labels = np.where(g.uniform(size=n) < 0.5, 1.0, -1.0)
    return numbers(g, n, d, 4), labels, columns, g.integers(-3, 4, d) / 4


def wrong(rows, labels, columns, w, bias, length, skip, step=10**6):
    sums, found = np.zeros(len(w)), np.zeros(3, object)
    for i in range(0, len(rows), step):
        part = np.ascontiguousarray(rows[i : i + step])
        some = part, labels[i : i + step], columns, w, bias, length, skip, sums
        found += kernels.margin_wrong(*some)
    return (*found.tolist(), [int(x) for x in sums])


@pairwise
@pytest.mark.parametrize("length", [0.0, float(REACH), REACH / 3])
@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_wrong_rows_are_those_of_one_at_a_time(shape, skip, length):
    case = sides(*shape)
    rows, labels, columns, w = (x.tolist() for x in (*case[:2], case[2].T, case[3]))
    expected = margin.step(rows, labels, columns, w, REACH / 4, length, skip)
    for step in 10**6, 37:
        assert wrong(*case, REACH / 4, length, skip, step) == expected
    # Whatever the numbers, no row is longer than it may be; of a label only the sign counts.
    for row, label in zip(*case[:2], strict=True):
        alone = row[None].copy(), np.array([label * 1e9])
        *_, sums = wrong(*alone, case[2], 0 * case[3], 0.0, length, False)
        assert max(map(abs, sums)) <= REACH
        if length:
            assert math.hypot(*sums) <= length + math.sqrt(len(sums)) / 2 + 1


LINE = np.array([[-1.0], [1], [0], [REACH], [0]])


def test_a_row_on_the_hyperplane_is_wrong():
    rows, labels = np.array([[1.0], [-1.0], [0.5]]), np.array([1.0, -1.0, -1.0])
    for w, bias, count in (0, 0, 3), (1, 0, 1), (1, -REACH / 2, 1), (1, -REACH / 2 - 1, 0):
        assert wrong(rows, labels, LINE, np.array([float(w)]), bias, 0.0, False)[0] == count
    assert wrong(rows, labels, LINE, np.array([math.nan]), 0.0, 0.0, False)[0] == 3


MOST_PAIRS, REACH_PAIRS = kernels.PAIRS_MOST_ROWS, kernels.PAIRS_REACH


def paired(rows, labels, columns, skip, step=MOST_PAIRS):
    size, missing = columns.shape[1], 0
    sums, both = np.zeros(size, np.int64), np.zeros(size * (size + 1) // 2, np.int64)
    for i in range(0, len(rows), step):
        part = np.ascontiguousarray(rows[i : i + step])
        missing += kernels.pairs_add(part, labels[i : i + step], columns, skip, sums, both)
    return sums.tolist(), both.tolist(), missing


@pairwise
@pytest.mark.parametrize("missing", ["some", "one"])
@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("shape", [*SHAPES, *((100, d) for d in (2, 4, 7, 9, 11, 14, 24))])
def test_products_with_a_target_are_those_of_one_row_at_a_time(shape, skip, missing):
    n, d = shape
    rows, _, columns, _ = sides(n, d + 1)
    columns[3] *= REACH_PAIRS / REACH
    rows, target = rows[:, :d].copy(), rows[:, d].copy()
    if missing == "one" and len(rows):
        rows, target = np.nan_to_num(rows, nan=0.5), np.nan_to_num(target, nan=0.5)
        rows[n // 2, d // 2] = math.nan
    joined = np.column_stack([rows, target]).tolist()
    expected = margin.pairs(joined, columns.T.tolist(), skip)
    for step in MOST_PAIRS, 37:
        assert paired(rows, target, columns, skip, step) == expected


def clusters(n, d, k):
    g = np.random.default_rng(n)
    bounds = [(a, a + w) for a, w in zip(g.normal(0, 3, d), g.uniform(0.1, 5, d), strict=True)]
    own, fill = [cells(lo, hi, SQUARES) for lo, hi in bounds], g.normal(0, 3, d)
    middle = [(c.first + c.span / 2) * c.grid for c in own]
    columns = [
        (c.first * c.grid, c.last * c.grid, m, c.grid, f)
        for c, m, f in zip(own, middle, fill.tolist(), strict=True)
    ]
    at = g.integers(-4, 5, (k, d)) / 4  # coarse, so that there are ties
    at[k // 2] = at[0]
    known = map(np.array, zip(*((1 / c.grid, c.first, c.span) for c in own), strict=True))
    return numbers(g, n, d, 4), at, columns, (*known, np.array(middle), fill)


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize(("shape", "k"), [*zip(SHAPES, itertools.cycle((3, 1, 7, 19)))])
def test_the_nearest_centers_are_those_of_one_row_at_a_time(shape, k, skip):
    rows, at, own, known = clusters(*shape, k)
    expected = nearest.step(rows.tolist(), at.tolist(), own, 0.25, skip)
    columns = kernels.NearestColumns(*known, 0.25, skip)
    half = np.array([0.5 * math.fsum(c * c for c in row) for row in at.tolist()])
    labels = np.empty(len(rows), np.int64)
    for step in 10**6, 37:
        counts, sums = np.zeros(k + 1, np.uint64), np.zeros((k + 1, at.shape[1]), np.uint64)
        for i in range(0, len(rows), step):
            part = np.ascontiguousarray(rows[i : i + step])
            columns.labels(part, at, half, labels[i : i + step])
            columns.totals(part, at, half, counts, sums)
        assert (labels.tolist(), counts.tolist(), sums.tolist()) == expected


def test_sums_stay_exact_at_the_edge():
    """The largest integers there can be, all of one sign, in more rows than 53 bits hold."""
    most, n, d = float(1 << 20), 2 * STRETCH + 3, 9
    limits = [np.full((1, d), x) for x in (-most + 1, most - 1, 0.0)]
    rows = np.full((n, d), np.inf)
    rows[-1] = 3.0  # an odd number at the end
    done, sums, both = products(rows, limits, 1.0)
    assert done == n and sums == [(n - 1) * (int(most) - 1) + 3] * d
    upper = {both[i][j] for i, j in itertools.combinations_with_replacement(range(d), 2)}
    assert upper == {(n - 1) * (int(most) - 1) ** 2 + 9}

    n, edge = kernels.MARGIN_MOST_ROWS, np.ones(1)
    labels = np.where(np.arange(n) > 0, 1.0, -1.0)
    found = wrong(np.ones((n, 1)), labels, LINE, 0 * edge, 0.0, 0.0, False)
    assert found == (n, n - 2, 0, [(n - 2) * REACH]) and n * REACH <= 2**53

    n, size = 2 * kernels.PAIRS_STRETCH + 3, 10
    columns = np.array([[x] * size for x in (-1.0, 1.0, 0.0, REACH_PAIRS, 0.0)])
    ones = np.ones((n, size))
    ones[-1] = 3 / REACH_PAIRS
    sums, both, _ = paired(ones[:, 1:].copy(), -ones[:, 0], columns, False)
    plain, squares = (n - 1) * REACH_PAIRS + 3, (n - 1) * REACH_PAIRS**2 + 9
    assert sums == [plain] * 9 + [-plain]
    at = itertools.combinations_with_replacement(range(size), 2)
    assert both == [-squares if i < j == size - 1 else squares for i, j in at]

    n, reach = kernels.CLASSES_MOST_ROWS, kernels.CLASSES_REACH
    rows = np.where(np.arange(n) % 2, float(reach), 1 - float(reach))[:, None]
    sums, limits = np.zeros((1, 2, 1)), np.array([[1.0], [-reach], [reach], [0.0]])
    kernels.class_totals(rows, limits, np.zeros(n, np.uint32), sums)
    assert sums.ravel().tolist() == [n // 2, n // 2 * (reach**2 + (reach - 1) ** 2)]


@pytest.mark.full
@pytest.mark.parametrize("path", isa_paths())
def test_every_instruction_set_gives_the_bits_of_the_twins(path):
    """By the quick tests of this file, which compare all bits."""
    quick_tests_hold(path, __file__)
