"""The kernels of multiplicative weights: the twin, every path, numbers that are none, and sums that
are exact."""

import itertools
import math

import numpy as np
import pytest

from dpfast._kernels import online as native
from dpfast._kernels.online import weights_products as products
from dpfast.online import queries as _queries
from dpfast.online.public_distribution import PublicDistribution

from ..reference.online import weights as reference
from ..support.pairwise import every_value
from ..support.paths import on_every_path

SIZES = [1, 7, 8, 9, 255, 256, 257, 1000]
ODD = [math.nan, -0.1, 1.0000001, math.inf, -math.inf, -5e-324, 1e308]


def compare(part, counts, query, unit, begin, end):
    """Of one block."""
    out, cut = np.empty((1, 3)), slice(begin, end)
    known = None if counts is None else counts[cut]
    native.compare(part[cut], known, query[cut], unit, 0, end - begin, 1 << 20, out)
    return tuple(out[0].tolist())


def move(log, part, query, unit, step, bound, later, begin, end):
    out = np.empty((1, 3))
    native.move(log, part, query, unit, step, bound, later, begin, end, 1 << 20, out)
    return tuple(out[0].tolist())


def query_of(g, size):
    """Halves of units among them, which are rounded to even, and both ends."""
    query = g.random(size)
    query[g.random(size) < 0.2] = 0.0
    query[g.random(size) < 0.2] = 1.0
    halves = g.random(size) < 0.2
    query[halves] = (g.integers(0, 15, size)[halves] + 0.5) / 16
    return query


@pytest.mark.parametrize("unit", [2.0, 16.0, 2.0**24])
@pytest.mark.parametrize("size", SIZES)
def test_sums_are_those_of_the_twin(size, unit):
    """Numbers that are none are told, and count as the nearer end."""
    g = np.random.default_rng(size)
    part, query = g.random(size).astype(np.float32), query_of(g, size)
    counts = g.integers(0, 1 << 20, size).astype(np.int32)

    def expect(odd, begin=0, end=size):
        cut = [x[begin:end].tolist() for x in (part, counts, query)]
        due = reference.compare(*cut, unit)
        assert compare(part, counts, query, unit, begin, end) == due and due[2] == odd
        assert compare(part, None, query, unit, begin, end) == (due[0], 0.0, odd)
        return due[:2]

    expect(0)
    if size > 8:
        expect(0, 3, size - 2)
    for stranger, place in itertools.product(ODD, {0, size // 2, size - 1}):
        known, query[place] = query[place], stranger
        found = expect(1)
        query[place] = min(max(stranger, 0), 1) if stranger == stranger else 0
        assert expect(0) == found
        query[place] = known


@every_value
@pytest.mark.parametrize("step", [0.5, -3.0, 1e-3, 700.0, -2000.0])
@pytest.mark.parametrize("size", SIZES)
def test_a_move_is_that_of_the_twin(size, step):
    g = np.random.default_rng(size)
    log, query, later = g.normal(size=size) * 10, query_of(g, size), query_of(g, size)
    bound = float(log.max()) + max(step, 0)
    moved, arguments, top = reference.move(log.tolist(), query.tolist(), 16.0, step, bound)
    part = np.full(size, np.nan, np.float32)
    total, told, found = move(log, part, query, 16.0, step, bound, later, 0, size)
    assert log.tolist() == moved and found == top
    exact = [math.exp(a) for a in arguments]
    np.testing.assert_allclose(part, exact, rtol=2.0**-24 * 1.001, atol=0)
    assert total == reference.added(part.tolist())
    assert told == compare(part, None, later, 16.0, 0, size)[0]


def test_the_exponential_is_that_of_float32():
    """From 0 to -87, close to 0, and at the multiples of ln 2 and between them: rounded once."""
    from mpmath import mp

    g = np.random.default_rng(0)
    k = np.arange(125)
    a = -np.concatenate([
        g.random(2000) * 87, 2.0 ** -g.integers(1, 1070, 500), k * math.log(2),
        (k + 0.5) * math.log(2), [0.0, 87.0],
    ])  # fmt: skip
    log, part = a.copy(), np.empty(len(a), np.float32)
    move(log, part, np.zeros_like(a), 2.0, 0.0, 0.0, None, 0, len(a))
    with mp.workdps(40):
        exact = [mp.exp(mp.mpf(x)) for x in a.tolist()]
        off = [abs(mp.mpf(p) / e - 1) for p, e in zip(part.tolist(), exact, strict=True)]
    assert 0.9 * 2.0**-24 < max(off) < 2.0**-24 * 1.00001
    far = np.full(9, -1000.0)  # no weight is lost, and none is subnormal
    move(far, part[:9], np.zeros(9), 2.0, 0.0, 0.0, None, 0, 9)
    assert (part[:9] == np.float32(math.exp(-87))).all() and (far == -1000).all()


@pytest.mark.parametrize("count, size", [(1, 1), (3, 7), (4, 8), (9, 1000), (6, 4099)])
def test_products_are_exact_for_integers(count, size):
    g = np.random.default_rng(2)
    rows = g.integers(0, 1 << 24, (count, size)).astype(np.float32)
    p = g.integers(0, 1 << 16, size).astype(float)
    exact = [sum(int(w) * int(c) for w, c in zip(row, p, strict=True)) for row in rows]
    for first in (0, count // 2):
        out = np.full(count, -1.0)
        products(rows, p, out, first, count)
        assert out.tolist() == [-1.0] * first + exact[first:]


@pytest.mark.parametrize("number", [1, 2, 3, 7])
def test_any_number_of_threads_makes_the_same_bits(monkeypatch, number):
    """Blocks are the same, and so is the order in which they are put together."""
    g = np.random.default_rng(3)
    size = 5 * (1 << 16) + 77
    queries, counts = g.random((3, size)), g.integers(0, 99, size).astype(np.int32)
    found = []
    for workers in (1, number):
        monkeypatch.setattr(_queries, "threads", lambda workers=workers: workers)
        monkeypatch.setattr(_queries.spread, "__defaults__", (1, 1000))
        hypothesis = PublicDistribution(size)
        told = [hypothesis.move(0.7, queries[0], 24, queries[1])]
        told.append(hypothesis.move(-0.4, queries[1], 24))
        told += list(hypothesis.sums(queries[2], 24, counts))
        found.append((told, hypothesis.distribution.tobytes()))
    assert found[0] == found[1]


PROBE = """
import hashlib
import numpy as np
from dpfast._kernels.online import compare, move, multiset_sums, weights_products as products
places = np.empty((1, 3))
g = np.random.default_rng(5)
done = hashlib.sha256()
for size in (1, 5, 8, 63, 256, 300, 5001):
    log, part = g.normal(size=size), np.ones(size, np.float32)
    query, later = g.random(size), g.random(size)
    counts = g.integers(0, 1 << 31, size).astype(np.int32)
    for step in (0.3, -2.0, 900.0):
        bound = float(log.max()) + max(step, 0)
        move(log, part, query, 2.0**24, step, bound, later, 0, size, size, places)
        print(places.tolist())
        compare(part, counts, later, 2.0**20, 0, size, size, places)
        print(places.tolist())
    rows, out = g.random((7, size)).astype(np.float32), np.empty(7)
    products(rows, log, out, 0, 7)
    bytes_, sums = g.integers(0, 256, (7, size)).astype(np.uint8), np.empty(size, np.int32)
    multiset_sums(bytes_, g.integers(0, 1 << 20, 7).astype(np.int32), sums, 0, size)
    for array in (log, part, out, sums):
        done.update(array.tobytes())
print(done.hexdigest())
"""


@pytest.mark.full
def test_all_paths_agree():
    assert len(on_every_path(PROBE).splitlines()) == 43


def test_bad_shapes_are_refused():
    a, b, out, narrow = np.ones(4), np.ones(5), np.empty((2, 3)), np.ones((2, 4), np.float32)
    p, c = np.ones(4, np.float32), np.ones(5, np.int32)
    good = {
        native.compare: [p, None, a, 2.0, 0, 4, 4, out],
        native.move: [a, p, a, 2.0, 1.0, 1.0, None, 0, 4, 4, out],
        products: [narrow, a, np.ones(2), 0, 2],
    }
    for kernel, places in [
        *[(native.compare, {i: x}) for i, x in ((1, c), (2, b), (5, 5), (6, 0), (6, 1))],
        *[(native.compare, x) for x in ({4: 2, 5: 2, 6: 1}, {4: 1, 6: 2}, {7: np.empty((2, 2))})],
        *[(native.move, x) for x in ({0: b}, {6: b}, {7: -4})],
        *[(products, x) for x in ({1: b}, {2: np.ones(3)}, {3: 1, 4: 1})],
    ]:
        with pytest.raises(ValueError, match="must"):
            kernel(*[places.get(i, x) for i, x in enumerate(good[kernel])])
