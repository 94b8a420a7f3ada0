"""Quantiles by the exponential mechanism: against their definition, cell by cell."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy.stats import chisquare

import dpfast as dp
from dpfast import _intervals, intervals
from dpfast._intervals import Column, choose, divide
from dpfast.errors import ArgumentError, DataError
from dpfast.intervals import ExponentialQuantile, RecursiveQuantiles, draw_all, plan
from dpfast.order import Ranks
from dpfast.privacy import ZCDP, Pure
from dpfast.release import release
from dpfast.rng import InsecureGenerator

from .reference import intervals as reference

#: A correct law fails a test with this probability.
LEVEL = 1e-5


def stream(seed=0):
    return InsecureGenerator(seed).stream()


def column(data, last=4):
    """Data in units of the grid, cells 0 .. last."""
    return Column(Ranks(np.array(data, np.float64)), 0.0, float(last), 1.0)


def p_value(found, law):
    """Chi-square of counted outcomes against ``{outcome: probability}``, rare ones together."""
    size = sum(found.values())
    assert set(found) <= set(law)
    big = [k for k, p in law.items() if p * size >= 8]
    seen, wanted = [found[k] for k in big], [law[k] * size for k in big]
    if size - sum(wanted) > 1e-6 * size:
        seen.append(size - sum(seen))
        wanted.append(size - sum(wanted))
    if len(seen) == 1:
        return 1.0
    return chisquare(seen, np.array(wanted) * size / sum(wanted)).pvalue


COLUMNS = {
    "none": [],
    "one": [1.5],
    "ties": [0, 1, 1, 1, 2.5, 2.5, 3, 4],
    "all equal": [2] * 7,
    "all between": [2.5] * 7,
    "outside": [-9, -3, 0.5, 7, 9],
    "many": [0.5, 0.5, 1, 1.5, 1.5, 2, 2, 2, 2, 3, 3.5, 3.5, 3.5, 3.7, 4],
}


# --- one quantile ---------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), 1])
@pytest.mark.parametrize("name", list(COLUMNS))
@pytest.mark.parametrize("cut", [_intervals.CUT, -100.0], ids=["wide", "tiny window"])
def test_choose_has_the_law(name, q, cut):
    data, c, size = COLUMNS[name], 0.75, 800
    clipped = np.clip(data, 0, 4)
    law = dict(enumerate(np.exp(reference.quantile(clipped, q, c, range(5)))))
    col, bits = column(data), stream(1)
    target = Fraction(q) * len(data)
    found = Counter(choose(col, target, c, (0, 4), bits, cut=cut) for _ in range(size))
    assert p_value(found, law) > LEVEL


@pytest.mark.parametrize("fault", ["rate", "target", "neighbour"])
def test_choose_would_be_caught(fault):
    data = COLUMNS["many"]
    c = 0.75 * (0.7 if fault == "rate" else 1)
    q = Fraction(1, 2) + Fraction(fault == "target", 10)
    if fault == "neighbour":
        data = [*data, 1, 1]
    law = dict(enumerate(np.exp(reference.quantile(data, q, c, range(5)))))
    col, bits = column(COLUMNS["many"]), stream(1)
    found = Counter(choose(col, Fraction(15, 2), 0.75, (0, 4), bits) for _ in range(2000))
    assert p_value(found, law) < LEVEL


def test_a_part_of_the_cells():
    data, c = COLUMNS["many"], 0.3
    u = reference.utilities([(x, 1) for x in data], Fraction(1, 2), range(1, 4))
    law = dict(zip(range(1, 4), np.exp(reference.log_softmax(u, c)), strict=True))
    col, bits = column(data), stream(2)
    found = Counter(choose(col, Fraction(15, 2), c, (1, 3), bits) for _ in range(1500))
    assert p_value(found, law) > LEVEL


def test_long_runs_and_far_cells():
    """Runs of many cells, of which the farthest are lumps that a pass must settle."""
    data, c = [100, 100.5, 300, 700, 700, 900.5], 0.4
    cells = range(1024)
    pmf = np.exp(reference.quantile(data, Fraction(1, 2), c, cells))
    bins = np.searchsorted([0, 100, 101, 300, 301, 500, 700, 701, 901], cells, side="right")
    law = {b: math.fsum(pmf[bins == b]) for b in set(bins)}
    for cut in (_intervals.CUT, -100.0):
        col, bits = column(data, 1023), stream(3)
        calls = []
        count = col.upto
        col.upto = lambda *a, count=count, calls=calls: calls.append(a) or count(*a)
        found = Counter(
            bins[choose(col, Fraction(3), c, (0, 1023), bits, cut=cut)] for _ in range(1500)
        )
        assert p_value(found, law) > LEVEL
        assert bool(calls) == (cut < 0)


# --- where to divide ------------------------------------------------------------------------------


def divided(rows, q, c, cells, parts):
    u = reference.divided_utilities(rows, q, cells, parts)
    keys = [(o, j) for o in cells for j in range(parts)]
    return dict(zip(keys, np.exp(reference.log_softmax(u, c)), strict=True))


@pytest.mark.parametrize("c, cut", [(0.1, -99.0), (0.75, -99.0), *((c, 28.0) for c in (0.1, 1, 4))])
@pytest.mark.parametrize("name", list(COLUMNS))
def test_divide_has_the_law(name, c, cut):
    data, parts, q = np.clip(COLUMNS[name], 0, 4), 5, Fraction(2, 5)
    rows = [(x, Fraction(1)) for x in data.tolist()]
    law = {}  # of the cell and the position; where no row is, all parts of a cell have one
    for (o, j), p in divided(rows, q, c, range(5), parts).items():
        less, tie = np.sum(data < o), np.sum(data == o)
        key = o, int(less) + Fraction(2 * j + 1, 2 * parts) * int(tie)
        law[key] = law.get(key, 0) + p
    col, bits, n = column(data), stream(4), len(data)
    ends = Fraction(0), Fraction(n)
    found = Counter(
        divide(col, q * n, c, (0, 4), ends, bits, parts=parts, cut=cut) for _ in range(400)
    )
    assert p_value(found, law) > LEVEL


@pytest.mark.parametrize("q", [Fraction(1, 100), Fraction(1, 2), Fraction(4, 5)])
@pytest.mark.parametrize("c", [0.05, 0.5])
def test_a_heavy_tie_is_divided_near_the_target(q, c):
    """Hundreds of rows in a cell, and 256 parts: blocks of parts."""
    data = [0.5] * 30 + [1] * 400 + [1.5] * 2 + [2] * 100 + [2.5] * 40
    parts, n = 256, len(data)
    pmf = divided([(x, 1) for x in data], q, c, range(4), parts)
    col, bits = column(data, 3), stream(5)

    def part(o, p):
        less, tie = sum(x < o for x in data), sum(x == o for x in data)
        return o, math.floor((p - less) / tie * parts) // 8 if tie else -1

    law = {}
    for (o, j), p in pmf.items():
        key = o, j // 8 if o in (1, 2) else -1
        law[key] = law.get(key, 0) + p
    found = Counter(
        part(*divide(col, q * n, c, (0, 3), (Fraction(0), Fraction(n)), bits, parts=parts))
        for _ in range(1200)
    )
    assert p_value(found, law) > LEVEL


def test_ends_take_a_part_of_the_rows():
    """A node between two released cells, each of which keeps a fraction of its rows."""
    data = [0, 1, 1, 1, 1.5, 2, 2, 2.5, 3, 3, 3, 3, 4]
    bottom, top = 1 + Fraction(3, 4) * 3, 8 + Fraction(1, 8) * 4
    rows = (
        [(1, Fraction(1, 4))] * 3 + [(1.5, 1), (2, 1), (2, 1), (2.5, 1)] + [(3, Fraction(1, 8))] * 4
    )
    assert sum(mass for _, mass in rows) == top - bottom
    q, c, parts = Fraction(1, 3), 0.8, 4
    law = {}
    base = {o: bottom + sum(m for x, m in rows if x < o) for o in (1, 2, 3)}
    tie = {o: sum(m for x, m in rows if x == o) for o in (1, 2, 3)}
    for (o, j), p in divided(rows, q, c, range(1, 4), parts).items():
        law[o, base[o] + Fraction(2 * j + 1, 2 * parts) * tie[o]] = p
    col, bits = column(data), stream(6)
    target = bottom + q * (top - bottom)
    found = Counter(
        divide(col, target, c, (1, 3), (bottom, top), bits, parts=parts) for _ in range(1500)
    )
    assert p_value(found, law) > LEVEL
    leaf = dict(
        zip((1, 2, 3), np.exp(reference.log_softmax(reference.utilities(rows, q, (1, 2, 3)), c)))
    )
    found = Counter(choose(col, target, c, (1, 3), bits) for _ in range(1500))
    assert p_value(found, leaf) > LEVEL


# --- the recursion --------------------------------------------------------------------------------

LOSSES = [
    (Pure(3), reference.Loss("pure", 3.0, "add-remove")),
    (Pure(3), reference.Loss("pure", 3.0, "replace")),
    (ZCDP(1), reference.Loss("zcdp", 1.0, "add-remove")),
    (ZCDP(1), reference.Loss("zcdp", 1.0, "replace")),
]
QS = [
    [Fraction(1, 2)],
    [Fraction(1, 3), Fraction(2, 3)],
    [Fraction(0), Fraction(1, 2), Fraction(1)],
    [Fraction(1, 10), Fraction(1, 5), Fraction(1, 2), Fraction(9, 10)],
]


@pytest.mark.parametrize("loss, plain", LOSSES, ids=lambda x: getattr(x, "neighbors", ""))
@pytest.mark.parametrize("qs", QS, ids=len)
def test_rates(loss, plain, qs):
    """Those of the reference, rounded down by less than two units in the last place."""
    widths = reference.sizes(len(qs))

    def walk(node, low, high, level):
        if node is None:
            return
        q = qs[node.number]
        place = (q - low) / (high - low)
        assert node.place == place
        alone = widths[level] == 1
        wanted = reference.rate(plain, len(widths), float(place), alone)
        assert node.rate == pytest.approx(wanted, rel=2**-50)
        # Not above the wanted number: k**2 is rational.
        k2 = Fraction(reference.divisor(plain, place, alone) ** 2).limit_denominator(10**6)
        e2 = (
            (loss.epsilon / len(widths)) ** 2
            if plain.kind == "pure"
            else 8 * loss.rho / len(widths)
        )
        assert Fraction(node.rate) ** 2 <= e2 / 4 / k2
        walk(node.left, low, q, level + 1)
        walk(node.right, q, high, level + 1)

    walk(plan(qs, loss, plain.neighbors), Fraction(0), Fraction(1), 0)


@pytest.mark.parametrize("loss, plain", LOSSES[:3:2], ids=["pure", "zcdp"])
@pytest.mark.parametrize("qs", QS, ids=len)
@pytest.mark.parametrize("name", ["none", "ties", "outside", "many"])
@pytest.mark.parametrize("cut", [_intervals.CUT, -100.0], ids=["wide", "tiny window"])
def test_recursion_has_the_law(name, loss, plain, qs, cut):
    data = np.clip(COLUMNS[name], 0, 4)
    law = reference.marginal(reference.recursive(data, qs, plain, range(5), 2))
    col, bits, root = column(data), stream(7), plan(qs, loss, plain.neighbors)
    found = Counter(
        tuple(draw_all(col, len(data), root, len(qs), bits, parts=2, cut=cut)) for _ in range(500)
    )
    assert p_value(found, law) > LEVEL


@pytest.mark.parametrize("fault", ["both", "free"])
def test_recursion_would_be_caught(fault):
    qs, plain = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)], LOSSES[0][1]
    data = COLUMNS["many"]
    law = reference.marginal(reference.recursive(data, qs, plain, range(5), 2, fault))
    col, bits, root = column(data), stream(8), plan(qs, Pure(3), "add-remove")
    found = Counter(tuple(draw_all(col, len(data), root, 3, bits, parts=2)) for _ in range(2000))
    assert p_value(found, law) < LEVEL


# --- privacy, by enumeration ----------------------------------------------------------------------

PLACES = (0, 0.5, 1, 1.5, 2)


def multisets(sizes):
    return [d for n in sizes for d in combinations_with_replacement(PLACES, n)]


def pairs(datasets, neighbors):
    known = set(datasets)
    for d in datasets:
        if neighbors == "add-remove":
            near = [tuple(sorted((*d, v))) for v in PLACES]
        else:
            near = [tuple(sorted((*d[:i], *d[i + 1 :], v))) for i in range(len(d)) for v in PLACES]
        yield from ((d, e) for e in set(near) & known)


@pytest.mark.parametrize("q", [0, Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), 1], ids=str)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_one_quantile_is_private(q, neighbors):
    """No cell is more than e**epsilon times likelier; the bound is nearly reached."""
    epsilon = 2.0
    mechanism = ExponentialQuantile(Fraction(q), 0.0, 2.0, neighbors, "raise", Pure(epsilon))
    datasets = multisets(range(6))
    law = {d: reference.quantile(d, q, mechanism.rate, range(3)) for d in datasets}
    worst = max(np.abs(law[d] - law[e]).max() for d, e in pairs(datasets, neighbors))
    assert worst <= epsilon * (1 + 1e-12)
    law = {d: reference.quantile(d, q, 2 * mechanism.rate, range(3)) for d in datasets}
    assert max(np.abs(law[d] - law[e]).max() for d, e in pairs(datasets, neighbors)) > epsilon


def heavy():
    """Columns whose rows are mostly between the cells, so that every release can be a surprise."""
    for a, b, ends in product(range(0, 6), range(0, 6), product(range(2), range(4), range(2))):
        yield (0,) * ends[0] + (0.5,) * a + (1,) * ends[1] + (1.5,) * b + (2,) * ends[2]


THIRDS = [Fraction(1, 3), Fraction(2, 3)]
QUARTERS = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
UNEVEN = [Fraction(0), Fraction(1, 10), Fraction(1, 5), Fraction(9, 10)]


@pytest.fixture(scope="module", params=["add-remove", "replace"])
def worst(request):
    """The largest losses over all neighbours, for quantiles, a loss and a fault."""
    datasets = list(heavy()) + [d for d in multisets(range(4)) if d not in set(heavy())]
    near = list(pairs(datasets, request.param))

    def find(qs, kind, amount, fault=None, order=None):
        plain = reference.Loss(kind, amount, request.param)
        law = {d: reference.recursive(d, qs, plain, range(3), 2, fault) for d in datasets}
        if order:
            return max(reference.renyi(law[d], law[e], order) for d, e in near)
        found = [reference.losses(law[d], law[e]) for d, e in near]
        return np.max([levels for levels, _ in found], axis=0), max(total for _, total in found)

    find.neighbors = request.param
    return find


@pytest.mark.parametrize("qs", [THIRDS, QUARTERS, UNEVEN], ids=["thirds", "quarters", "uneven"])
def test_recursion_is_private(worst, qs):
    epsilon = 4.0
    levels, total = worst(qs, "pure", epsilon)
    assert levels.max() <= epsilon / len(levels) * (1 + 1e-12)
    assert total <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize("fault", ["both", "free"])
def test_a_fault_of_the_recursion_shows(worst, fault):
    levels, total = worst(QUARTERS, "pure", 4.0, fault)
    assert levels.max() > 2.01 or total > 4.01


def test_recursion_is_tight(worst):
    if worst.neighbors == "add-remove":
        assert worst(QUARTERS, "pure", 4.0)[1] > 0.99 * 4.0
    else:
        assert worst(QUARTERS, "pure", 8.0)[0][1] > 0.9 * 4.0


@pytest.mark.parametrize("order", [1.01, 2, 8, 64])
def test_recursion_is_concentrated(worst, order):
    rho = 2.0
    assert worst(QUARTERS, "zcdp", rho, order=order) <= rho * order * (1 + 1e-9)


def test_too_high_a_rate_is_not_concentrated(worst):
    assert worst(QUARTERS, "zcdp", 2.0, fault="free", order=1.01) > 2.0 * 1.01
