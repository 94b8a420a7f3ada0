"""Quantiles by the exponential mechanism: against their definition, cell by cell."""

from __future__ import annotations

import functools
import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy.stats import chisquare

import dpfast as dp
from dpfast._kernels.summaries import bracket_passes
from dpfast.budget.release import release
from dpfast.errors import ArgumentError, DataError
from dpfast.noise import grid as _grid
from dpfast.privacy import ZCDP, Draws, Pure
from dpfast.rng import InsecureGenerator
from dpfast.sources import Chunk
from dpfast.statistics.quantiles import draws
from dpfast.statistics.quantiles.draws import Column, choose, divide
from dpfast.statistics.quantiles.exponential import ExponentialQuantile
from dpfast.statistics.quantiles.recursive import RecursiveQuantiles, draw_all, plan
from dpfast.summaries import floyd_rivest
from dpfast.summaries.order import Ranks

from ..reference.statistics import exponential_quantiles as reference
from ..reference.statistics import recursive_quantiles as recursive
from ..reference.summaries import order as order_reference
from ..support.pairwise import every_value, pairwise, quick_rows

#: A correct distribution fails a test with this probability.
LEVEL = 1e-5


def stream(seed=0):
    return InsecureGenerator(seed).stream()


def column(data, last=4):
    """Data in units of the grid, cells 0 .. last."""
    return Column(Ranks(np.array(data, np.float64)), 0.0, float(last), 1.0)


def on_cells(data):
    return np.floor(np.clip(np.array(data, np.float64), 0, 4))


def p_value(found, pmf):
    """Chi-square of counted outcomes against ``{outcome: probability}``, rare ones together."""
    size = sum(found.values())
    assert set(found) <= set(pmf)
    big = [k for k, p in pmf.items() if p * size >= 8]
    seen, wanted = [found[k] for k in big], [pmf[k] * size for k in big]
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
    "many": [0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4],
}


# --- one quantile ---------------------------------------------------------------------------------


@quick_rows(13)
@pytest.mark.parametrize("q", [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), 1])
@pytest.mark.parametrize("name", list(COLUMNS))
@pytest.mark.parametrize("cut", [draws.CUT, -100.0], ids=["wide", "tiny window"])
def test_choose_has_the_distribution(name, q, cut):
    data, c, size = COLUMNS[name], 0.75, 800
    clipped = on_cells(data)
    pmf = dict(enumerate(np.exp(reference.quantile(clipped, q, c, range(5)))))
    col, bits = column(data), stream(1)
    target = Fraction(q) * len(data)
    found = Counter(choose(col, target, c, (0, 4), bits, cut=cut) for _ in range(size))
    assert p_value(found, pmf) > LEVEL


@quick_rows(9)
@pytest.mark.parametrize("share", [0, 1 << 17, 1 << 18, 1 << 19], ids=bin)
@pytest.mark.parametrize("q", [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), 1])
@pytest.mark.parametrize("name", list(COLUMNS))
@pytest.mark.parametrize("cut", [draws.CUT, -100.0], ids=["wide", "tiny window"])
def test_draws_on_an_interpolated_rank_have_the_distribution(name, q, share, cut):
    """Cells four times as fine, so that gaps have a middle, against the text of the mechanism."""
    data, c = [4 * x for x in COLUMNS[name]], 0.75
    rows = np.floor(np.clip(np.array(data, float), 0, 16)).astype(int).tolist()
    target = Fraction(q) * (len(data) - 1) + 1
    pmf = dict(enumerate(np.exp(reference.interpolated(rows, target, c, range(17), share))))
    col, bits = column(data, 16), stream(1)
    found = Counter(choose(col, target, c, (0, 16), bits, share=share, cut=cut) for _ in range(800))
    assert p_value(found, pmf) > LEVEL


@pytest.mark.parametrize("fault", ["rate", "target", "share"])
def test_a_fault_of_those_would_be_caught(fault):
    data, c, share, target = [1, 9, 9, 30, 30, 30, 31], 0.9, 1 << 17, Fraction(3)
    col, bits = column(data, 31), stream(1)
    found = Counter(choose(col, target, c, (0, 31), bits, share=share) for _ in range(6000))
    changed = {"rate": 0.7 * c, "target": target + Fraction(1, 3), "share": 1 << 19}
    given = {"rate": c, "target": target, "share": share}

    def pmf(rate, target, share):
        return dict(enumerate(np.exp(reference.interpolated(data, target, rate, range(32), share))))

    assert p_value(found, pmf(**given)) > LEVEL
    assert p_value(found, pmf(**{**given, fault: changed[fault]})) < LEVEL


@pytest.mark.parametrize("fault", ["rate", "target", "neighbor"])
def test_choose_would_be_caught(fault):
    data = COLUMNS["many"]
    c = 0.75 * (0.7 if fault == "rate" else 1)
    q = Fraction(1, 2) + Fraction(fault == "target", 10)
    if fault == "neighbor":
        data = [*data, 1, 1]
    pmf = dict(enumerate(np.exp(reference.quantile(data, q, c, range(5)))))
    col, bits = column(COLUMNS["many"]), stream(1)
    found = Counter(choose(col, Fraction(15, 2), 0.75, (0, 4), bits) for _ in range(2000))
    assert p_value(found, pmf) < LEVEL


def test_a_part_of_the_cells():
    data, c = COLUMNS["many"], 0.3
    u = reference.utilities([(x, 1) for x in data], Fraction(1, 2), range(1, 4))
    pmf = dict(zip(range(1, 4), np.exp(reference.log_softmax(u, c)), strict=True))
    col, bits = column(data), stream(2)
    found = Counter(choose(col, Fraction(15, 2), c, (1, 3), bits) for _ in range(1500))
    assert p_value(found, pmf) > LEVEL


def test_long_runs_and_far_cells():
    """Runs of many cells, of which the farthest are lumps that a pass must settle."""
    data, c = [100, 100, 300, 700, 700, 900], 0.4
    cells = range(1024)
    fine = np.exp(reference.quantile(data, Fraction(1, 2), c, cells))
    bins = np.searchsorted([0, 100, 101, 300, 301, 500, 700, 701, 900, 901], cells, side="right")
    pmf = {b: math.fsum(fine[bins == b]) for b in set(bins)}
    for cut in (draws.CUT, -100.0):
        col, bits = column(data, 1023), stream(3)
        calls = []
        count = col.less
        col.less = lambda *a, count=count, calls=calls: calls.append(a) or count(*a)
        found = Counter(
            bins[choose(col, Fraction(3), c, (0, 1023), bits, cut=cut)] for _ in range(1500)
        )
        assert p_value(found, pmf) > LEVEL
        assert bool(calls) == (cut < 0)


# --- where to divide ------------------------------------------------------------------------------


def divided(rows, q, c, cells, parts):
    u = recursive.divided_utilities(rows, q, cells, parts)
    keys = [(o, j) for o in cells for j in range(parts)]
    return dict(zip(keys, np.exp(reference.log_softmax(u, c)), strict=True))


@quick_rows(4)
@pytest.mark.parametrize("c, cut", [(0.1, -99.0), (0.75, -99.0), *((c, 28.0) for c in (0.1, 1, 4))])
@pytest.mark.parametrize("name", list(COLUMNS))
def test_divide_has_the_distribution(name, c, cut):
    data, parts, q = on_cells(COLUMNS[name]), 5, Fraction(2, 5)
    rows = [(x, Fraction(1)) for x in data.tolist()]
    pmf = {}  # of the cell and the position; where no row is, all parts of a cell have one
    for (o, j), p in divided(rows, q, c, range(5), parts).items():
        less, tie = np.sum(data < o), np.sum(data == o)
        key = o, int(less) + Fraction(2 * j + 1, 2 * parts) * int(tie)
        pmf[key] = pmf.get(key, 0) + p
    col, bits, n = column(data), stream(4), len(data)
    ends = Fraction(0), Fraction(n)
    found = Counter(
        divide(col, q * n, c, (0, 4), ends, bits, parts=parts, cut=cut) for _ in range(400)
    )
    assert p_value(found, pmf) > LEVEL


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("q", [Fraction(1, 100), Fraction(1, 2), Fraction(4, 5)])
@pytest.mark.parametrize("c", [0.05, 0.5])
def test_a_heavy_tie_is_divided_near_the_target(q, c):
    """Hundreds of rows in a cell, and 256 parts: blocks of parts."""
    data = [0] * 30 + [1] * 402 + [2] * 100 + [3] * 40
    parts, n = 256, len(data)
    fine = divided([(x, 1) for x in data], q, c, range(4), parts)
    col, bits = column(data, 3), stream(5)

    def part(o, p):
        less, tie = sum(x < o for x in data), sum(x == o for x in data)
        return o, math.floor((p - less) / tie * parts) // 8

    pmf = {}
    for (o, j), p in fine.items():
        key = o, j // 8
        pmf[key] = pmf.get(key, 0) + p
    found = Counter(
        part(*divide(col, q * n, c, (0, 3), (Fraction(0), Fraction(n)), bits, parts=parts))
        for _ in range(1200)
    )
    assert p_value(found, pmf) > LEVEL


def test_ends_take_a_part_of_the_rows():
    """A node between two released cells, each of which keeps a fraction of its rows."""
    data = [0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4]
    bottom, top = 1 + Fraction(3, 4) * 3, 8 + Fraction(1, 8) * 4
    rows = [(1, Fraction(1, 4))] * 3 + [(2, 1)] * 4 + [(3, Fraction(1, 8))] * 4
    assert sum(mass for _, mass in rows) == top - bottom
    q, c, parts = Fraction(1, 3), 0.8, 4
    pmf = {}
    base = {o: bottom + sum(m for x, m in rows if x < o) for o in (1, 2, 3)}
    tie = {o: sum(m for x, m in rows if x == o) for o in (1, 2, 3)}
    for (o, j), p in divided(rows, q, c, range(1, 4), parts).items():
        pmf[o, base[o] + Fraction(2 * j + 1, 2 * parts) * tie[o]] = p
    col, bits = column(data), stream(6)
    target = bottom + q * (top - bottom)
    found = Counter(
        divide(col, target, c, (1, 3), (bottom, top), bits, parts=parts) for _ in range(1500)
    )
    assert p_value(found, pmf) > LEVEL
    ends = np.exp(reference.log_softmax(reference.utilities(rows, q, (1, 2, 3)), c))
    leaf = dict(zip((1, 2, 3), ends, strict=True))
    found = Counter(choose(col, target, c, (1, 3), bits) for _ in range(1500))
    assert p_value(found, leaf) > LEVEL


# --- the recursion --------------------------------------------------------------------------------

LOSSES = [
    (Pure(3), recursive.Loss("pure", 3.0, "add-remove")),
    (Pure(3), recursive.Loss("pure", 3.0, "replace")),
    (ZCDP(1), recursive.Loss("zcdp", 1.0, "add-remove")),
    (ZCDP(1), recursive.Loss("zcdp", 1.0, "replace")),
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
    """Those of the reference, rounded down by less than a part in 2**39."""
    widths = recursive.sizes(len(qs))

    def walk(node, low, high, level):
        if node is None:
            return
        q = qs[node.number]
        place = (q - low) / (high - low)
        assert node.place == place
        alone = widths[level] == 1
        wanted = recursive.rate(plain, len(widths), float(place), alone)
        assert node.rate == pytest.approx(wanted, rel=2**-39)
        # Not above the wanted number: k**2 is rational.
        k2 = Fraction(recursive.divisor(plain, place, alone) ** 2).limit_denominator(10**6)
        square = Fraction(node.rate) ** 2 * 4 * k2
        if plain.kind == "pure":
            assert square <= (loss.epsilon / len(widths)) ** 2
        else:
            nodes = 2 if plain.neighbors == "replace" and not alone else 1
            each = Fraction(math.sqrt(square / nodes)) * (1 - Fraction(1, 2**51))
            assert nodes * Draws(each, 1, True).to_zcdp().rho <= loss.rho / len(widths)
        walk(node.left, low, q, level + 1)
        walk(node.right, q, high, level + 1)

    walk(plan(qs, loss, plain.neighbors), Fraction(0), Fraction(1), 0)


def every_way():
    """All cases; by day half of them, in which every two of the four parameters meet."""
    names, losses = ["none", "ties", "outside", "many"], {"pure": LOSSES[0], "zcdp": LOSSES[2]}
    cuts = {"wide": draws.CUT, "tiny window": -100.0}
    for at in product(*map(enumerate, (cuts, names, QS, losses))):
        cut, name, qs, loss = (value for _, value in at)
        yield pytest.param(
            name, *losses[loss], qs, cuts[cut], id=f"{cut}-{name}-{len(qs)}-{loss}",
            marks=[pytest.mark.slow] if sum(i for i, _ in at) % 2 else [],
        )  # fmt: skip


@quick_rows(2)
@pytest.mark.parametrize("name, loss, plain, qs, cut", list(every_way()))
def test_recursion_has_the_distribution(name, loss, plain, qs, cut):
    data = on_cells(COLUMNS[name])
    pmf = recursive.marginal(recursive.recursive(data, qs, plain, range(5), 2))
    col, bits, root = column(data), stream(7), plan(qs, loss, plain.neighbors)
    found = Counter(
        tuple(draw_all(col, len(data), root, len(qs), bits, parts=2, cut=cut)) for _ in range(500)
    )
    assert p_value(found, pmf) > LEVEL


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("fault", ["both", "free"])
def test_recursion_would_be_caught(fault):
    qs, plain = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)], LOSSES[0][1]
    data = COLUMNS["many"]
    pmf = recursive.marginal(recursive.recursive(data, qs, plain, range(5), 2, fault))
    col, bits, root = column(data), stream(8), plan(qs, Pure(3), "add-remove")
    found = Counter(tuple(draw_all(col, len(data), root, 3, bits, parts=2)) for _ in range(2000))
    assert p_value(found, pmf) < LEVEL


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


#: Cells that rows are on, and all cells: gaps of many lengths, with all that h can be.
ON, CELLS = (0, 1, 4, 6, 11), range(13)


def laws(q, rate, share, sizes=range(5), fault=None):
    """log-probability of each cell, for all columns on `ON`."""
    step = 2 if fault == "target" else 1
    return {
        d: reference.interpolated(
            d, step * Fraction(q) * (len(d) - 1) + 1, rate, CELLS, share, fault=fault
        )
        for n in sizes
        for d in combinations_with_replacement(ON, n)
    }


def near_pairs(datasets, neighbors):
    known = set(datasets)
    for d in datasets:
        if neighbors == "add-remove":
            near = [tuple(sorted((*d, v))) for v in ON]
        else:
            near = [tuple(sorted((*d[:i], *d[i + 1 :], v))) for i in range(len(d)) for v in ON]
        yield from ((d, e) for e in set(near) & known)


@quick_rows(8)
@pytest.mark.parametrize("share", [None, 0, 1 << 18, 1 << 19])
@pytest.mark.parametrize("q", [0, Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), 1], ids=str)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_one_quantile_is_private(q, neighbors, share):
    """No cell is more than e**epsilon times likelier; the bound is nearly reached."""
    epsilon = 2.0
    mechanism = ExponentialQuantile(Fraction(q), 0.0, 2.0, neighbors, "raise", Pure(epsilon))
    share = mechanism.share if share is None else share
    pmf = laws(q, mechanism.rate, share)
    worst = max(np.abs(pmf[d] - pmf[e]).max() for d, e in near_pairs(pmf, neighbors))
    assert worst <= epsilon * (1 + 1e-12)
    # So is the range of the log-ratios, by which a budget in rho is charged.
    assert mechanism.loss == Draws(epsilon, bounded_range=True)
    worst = max(np.ptp(pmf[d] - pmf[e]) for d, e in near_pairs(pmf, neighbors))
    assert 0.7 * epsilon < worst <= epsilon * (1 + 1e-12)
    pmf = laws(q, 2.2 * mechanism.rate, share)
    assert max(np.abs(pmf[d] - pmf[e]).max() for d, e in near_pairs(pmf, neighbors)) > epsilon


@pytest.mark.parametrize(
    "fault", ["not monotone", "target", "base of the data", "lattice of the data"]
)
def test_a_fault_of_one_quantile_shows(fault):
    """A rank that falls in a gap, a target that moves too far, and measures that look."""
    q, share, epsilon = HALF, 1 << 18, 2.0
    rate = ExponentialQuantile(q, 0.0, 2.0, "add-remove", "raise", Pure(epsilon)).rate
    pmf = laws(q, rate, share, fault=fault)
    assert max(np.abs(pmf[d] - pmf[e]).max() for d, e in near_pairs(pmf, "add-remove")) > epsilon


def test_the_shares_of_a_gap_grow_by_no_more_than_its_length():
    """What the proof of sensitivity asks of w, of the kernel's own integers, for all gaps."""
    span = np.unique(
        np.concatenate([np.arange(1, 5000), 2 ** np.arange(12, 42), 3 ** np.arange(26)])
    )
    for epsilon in (1e-6, 0.3, 1, 7, 100, 1e9):
        share = ExponentialQuantile(HALF, 0.0, 1.0, "replace", "raise", Pure(epsilon)).share
        assert 0 <= share <= 1 << 18

        def near(s, share=share):
            return np.minimum(share * s >> 20, (s - 1) // 2)

        step = near(span + 1) - near(span)
        assert ((step == 0) | (step == 1)).all() and (2 * near(span) < span).all()


# Rows between the cells, as no column of the mechanism has, make these domains larger than need be.


def heavy():
    """Columns whose rows are mostly between the cells, so that every release can be a surprise."""
    for a, b, ends in product(range(0, 6), range(0, 6), product(range(2), range(4), range(2))):
        yield (0,) * ends[0] + (0.5,) * a + (1,) * ends[1] + (1.5,) * b + (2,) * ends[2]


THIRDS = [Fraction(1, 3), Fraction(2, 3)]
QUARTERS = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
UNEVEN = [Fraction(0), Fraction(1, 10), Fraction(1, 5), Fraction(9, 10)]


@pytest.fixture(scope="module", params=["add-remove", "replace"])
def worst(request):
    """The largest losses over all neighbors, for quantiles, a loss and a fault."""
    datasets = list(heavy()) + [d for d in multisets(range(4)) if d not in set(heavy())]
    near = list(pairs(datasets, request.param))

    @functools.cache
    def pmfs(qs, kind, amount, fault):
        plain = recursive.Loss(kind, amount, request.param)
        return {d: recursive.recursive(d, qs, plain, range(3), 2, fault) for d in datasets}

    def find(qs, kind, amount, fault=None, order=None):
        pmf = pmfs(tuple(qs), kind, amount, fault)
        if order:
            return max(recursive.renyi(pmf[d], pmf[e], order) for d, e in near)
        found = [recursive.losses(pmf[d], pmf[e]) for d, e in near]
        return np.max([levels for levels, _ in found], axis=0), max(total for _, total in found)

    find.neighbors = request.param
    return find


@quick_rows(1)
@pytest.mark.parametrize("qs", [THIRDS, QUARTERS, UNEVEN], ids=["thirds", "quarters", "uneven"])
def test_recursion_is_private(worst, qs):
    epsilon = 4.0
    levels, total = worst(qs, "pure", epsilon)
    assert levels.max() <= epsilon / len(levels) * (1 + 1e-12)
    assert total <= epsilon * (1 + 1e-12)


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("fault", ["both", "free"])
def test_a_fault_of_the_recursion_shows(worst, fault):
    levels, total = worst(QUARTERS, "pure", 4.0, fault)
    assert levels.max() > 2.01 or total > 4.01


@pytest.mark.full
def test_recursion_is_tight(worst):
    if worst.neighbors == "add-remove":
        assert worst(QUARTERS, "pure", 4.0)[1] > 0.99 * 4.0
    else:
        assert worst(QUARTERS, "pure", 8.0)[0][1] > 0.9 * 4.0


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("order", [1.01, 2, 8, 64])
def test_recursion_is_concentrated(worst, order):
    rho = 2.0
    assert worst(QUARTERS, "zcdp", rho, order=order) <= rho * order * (1 + 1e-9)


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("order", [1.01, 2, 8, 64])
def test_what_a_budget_in_rho_is_charged_for_a_pure_recursion(worst, order):
    """Each level is a draw of bounded range: less than half of what any pure loss would cost."""
    epsilon = 4.0
    made = RecursiveQuantiles(tuple(QUARTERS), 0.0, 2.0, worst.neighbors, "raise", Pure(epsilon))
    assert made.loss == Draws(epsilon, 2, bounded_range=True)
    price = float(made.loss.to_zcdp().rho)
    assert price < 0.5 * float(Pure(epsilon).to_zcdp().rho)
    assert worst(QUARTERS, "pure", epsilon, order=order) <= price * order * (1 + 1e-9)
    if order == 1.01:  # the control
        assert worst(QUARTERS, "pure", epsilon, fault="free", order=order) > price * order


@pytest.mark.full
def test_too_high_a_rate_is_not_concentrated(worst):
    assert worst(QUARTERS, "zcdp", 2.0, fault="free", order=1.01) > 2.0 * 1.01


# --- columns --------------------------------------------------------------------------------------


def cell_by_definition(value, lo, hi, grid):
    x = min(max(Fraction(value), Fraction(lo)), Fraction(hi)) / Fraction(grid)
    first, last = (
        math.ceil(Fraction(lo) / Fraction(grid)),
        math.floor(Fraction(hi) / Fraction(grid)),
    )
    return min(max(math.floor(x), first), last)


INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
BOUNDS = [
    (0.0, 100.0),
    (-1e-3, 1e-3),
    (0.5, 77.25),
    (-1e19, 1e19),
    (-(2.0**63), 2.0**63),
    (2.0**53 + 2, 2.0**60),
    (1e300, 1.5e300),
    (-1e-300, 2e-300),
]


@every_value
@pytest.mark.parametrize("lo, hi", BOUNDS)
@pytest.mark.parametrize("dtype", [*INTEGERS, "f4", "f8"])
def test_cells_are_exact(dtype, lo, hi):
    rng = np.random.default_rng(0)
    if dtype[0] == "f":
        with np.errstate(over="ignore"):
            edges = np.array([lo, hi, 0, -0.0, 5e-324, -5e-324, np.inf, -np.inf, 1.5], dtype)
            near = np.nextafter(edges, np.array(np.inf, dtype))
            values = np.concatenate([edges, near, rng.normal(0, 50, 50).astype(dtype)])
            inside = np.clip(rng.uniform(lo, hi, 50), lo, hi).astype(dtype)
            values = np.concatenate([values, inside])
    else:
        info = np.iinfo(dtype)
        known = {info.min, info.min + 1, info.max - 1, info.max, 0, 1, 2**53, 2**53 + 1, 2**60 + 1}
        for b in (lo, hi):
            known |= {math.floor(b) + k for k in (-1, 0, 1, 2)} if abs(b) < 2**70 else set()
        known |= set(map(int, rng.integers(info.min, info.max, 50, dtype=dtype, endpoint=True)))
        values = np.array([v for v in known if info.min <= v <= info.max], dtype)
    values.sort()
    grid = _grid.public_grid(lo, hi)
    found = Column(Ranks(values), lo, hi, grid).cells(values)

    def number(v):
        return min(max(v, lo), hi) if isinstance(v, float) and math.isinf(v) else v

    wanted = [cell_by_definition(number(v), lo, hi, grid) for v in values.tolist()]
    assert found.dtype == np.int64 and found.tolist() == wanted


@pytest.mark.parametrize("lo, hi", BOUNDS)
def test_the_grid_is_public_and_fits(lo, hi):
    grid = _grid.public_grid(lo, hi)
    first, last = math.ceil(lo / grid), math.floor(hi / grid)
    assert math.frexp(grid)[0] == 0.5
    assert 1 <= last - first + 1 <= 2**41 + 1 and max(abs(first), abs(last)) <= 2**53
    assert Fraction(first) * Fraction(grid) >= Fraction(lo) > Fraction(first - 1) * Fraction(grid)
    assert Fraction(last) * Fraction(grid) <= Fraction(hi) < Fraction(last + 1) * Fraction(grid)


# --- ranks ----------------------------------------------------------------------------------------


@pairwise
@pytest.mark.parametrize("dtype", [*INTEGERS, "f4", "f8"])
@pytest.mark.parametrize("missing", ["drop", 3.5, 0.0, -1e30, 1e30])
@pytest.mark.parametrize("size", [0, 3, 60_000])
def test_less_counts(dtype, missing, size):
    rng = np.random.default_rng(1)
    values = rng.normal(3, 40, size)
    if dtype[0] == "f":
        data = np.where(rng.random(size) < 0.3, np.nan, np.round(values, 1)).astype(dtype)
        kept = data[~np.isnan(data)]
    else:
        info = np.iinfo(dtype)
        plain = np.clip(np.round(values), max(info.min, -1000), min(info.max, 1000)).astype(dtype)
        mask = rng.random(size) < 0.3
        data, kept = np.ma.masked_array(plain, mask), plain[~mask]
    numbers = np.sort(kept.astype(np.float64))
    gone = 0 if missing == "drop" else size - len(kept)
    for warm in ([], [0.0], [0.5, 0.6], [1.0]):
        ranks = Ranks(data, missing=missing)
        for part in warm:
            ranks.window(lambda n, part=part: 1 + int(part * (n - 1)), 5)
        for value in (-1e300, -1000.0, -0.5, 0.0, 3.0, 3.5, 41.25, 255.0, 1e300):
            wanted = int(np.searchsorted(numbers, value))
            if gone and missing < value:
                wanted += gone
            assert ranks.less(value) == wanted


def test_less_is_known_from_sorted_data():
    data = np.repeat(np.arange(1000), 50)
    ranks = Ranks(data, assume_sorted=True)
    ranks.window(lambda n: n // 2, 10)
    for value in (-1.0, 0.0, 0.5, 17.0, 999.0, 5000.0):
        assert ranks.less(value) == np.sum(data < value)


class Chunks:
    """A source in pieces that counts how often it is read; its length is a secret if asked."""

    def __init__(self, data, rows, secret=False):
        self.data, self.rows, self.passes = data, rows, 0
        self.dtype, self.length, self.nulls = data.dtype, None if secret else len(data), 0

    def reduce(self, summarise, merge):
        self.passes += 1
        total = None
        for at in range(0, max(len(self.data), 1), self.rows):
            part = summarise(Chunk(np.ascontiguousarray(self.data[at : at + self.rows]), at))
            total = part if total is None else merge(total, part)
        return total

    def sample(self, count, words):
        if self.length is None:
            return None
        return self.data[np.sort(words(count) % np.uint64(max(len(self.data), 1)))]


@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "u1", "i8", "u4"])
@pytest.mark.parametrize("shape", ["spread", "ties", "NaN"])
def test_prefetch_is_one_pass(dtype, shape):
    rng = np.random.default_rng(2)
    values = rng.normal(100, 30, 200_000).clip(0, 250)
    data = np.where(rng.random(len(values)) < 0.5, 7, values).astype(dtype)
    if shape == "spread":
        data = values.astype(dtype)
    if shape == "NaN" and dtype[0] == "f":
        data[::3] = np.nan
    source = Chunks(data, 30_001)
    ranks = Ranks(source)
    rules = [lambda n, k=k: max(1, k * n // 10) for k in range(1, 10)]
    ranks.prefetch([(rule, 100) for rule in rules])
    whole = np.sort(data[data == data])
    for rule in rules:
        found = ranks.window(rule, 100)
        first = rule(len(whole)) - 100
        assert found.first == first and found.n == len(whole)
        np.testing.assert_array_equal(found.values, whole[first - 1 : first + 200])
    assert source.passes == 1


def test_a_missed_prefetch_costs_a_pass_and_no_more(monkeypatch):
    monkeypatch.setattr(floyd_rivest, "SLACK", 0.01)
    data = np.random.default_rng(3).normal(size=300_000)
    source = Chunks(data, 10_000)
    ranks = Ranks(source)
    rules = [lambda n, k=k: k * n // 10 for k in range(1, 10)]
    ranks.prefetch([(rule, 1) for rule in rules])
    whole = np.sort(data)
    for rule in rules:
        first = rule(len(whole)) - 400
        found = ranks.window(rule, 400)
        np.testing.assert_array_equal(found.values, whole[first - 1 : first + 800])
    assert source.passes > 1


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "i2", "u8", "u4", "u2"])
def test_bracket_passes_are_bracket_pass(dtype):
    rng = np.random.default_rng(4)
    data = rng.integers(0, 200, 10_007).astype(dtype)
    if dtype[0] == "f":
        data[::17] = np.nan
    kept = np.dtype("i4") if data.itemsize == 2 else data.dtype
    pivots = [np.array(p, kept) for p in ([5, 5], [20, 60], [40, 90], [199, 199], [100, 130])]
    for room in (20_000, 700, 0):
        outs = [np.zeros(room, kept) for _ in pivots]
        counts = bracket_passes(data, pivots, outs)
        for pivot, out, count in zip(pivots, outs, counts, strict=True):
            wanted, inside = order_reference.bracket(data, *pivot.tolist())
            assert count == wanted
            got = out[: min(room, count[2])].tolist()
            assert not Counter(got) - Counter(inside) and len(got) == min(room, len(inside))


def test_bracket_passes_refuses_bad_arrays():
    x = np.zeros(3)
    for pivots, outs in (
        ([], []),
        ([np.zeros(2)], []),
        ([np.zeros(3)], [x]),
        ([np.array([2.0, 1])], [x]),
    ):
        with pytest.raises(ValueError):
            bracket_passes(x, pivots, outs)


# --- the mechanisms -------------------------------------------------------------------------------

HALF = Fraction(1, 2)
DECILES = tuple(Fraction(k, 10) for k in range(1, 10))


def one(data, q=HALF, lo=0.0, hi=100.0, neighbors="replace", nan="raise", loss=None, **kw):
    mechanism = ExponentialQuantile(q, lo, hi, neighbors, nan, loss or Pure(1), **kw)
    return release(data, mechanism, budget=None, rng=None)


def many(data, qs=DECILES, lo=0.0, hi=100.0, neighbors="replace", nan="raise", loss=None, **kw):
    mechanism = RecursiveQuantiles(qs, lo, hi, neighbors, nan, loss or Pure(1), **kw)
    return release(data, mechanism, budget=None, rng=None)


@pytest.mark.parametrize(
    "loss", [Pure(1), ZCDP(0.1), Pure(1e-12), Pure(1e12), ZCDP(1e-9), ZCDP(1e6)]
)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_any_loss(loss, neighbors):
    data = np.random.default_rng(6).normal(50, 10, 5000)
    for q in (0, HALF, 1):
        assert 0 <= one(data, q=Fraction(q), neighbors=neighbors, loss=loss) <= 100
    found = many(data, neighbors=neighbors, loss=loss)
    assert (np.diff(found) >= 0).all() and found[0] >= 0 and found[-1] <= 100


def test_of_no_rows_the_base_measure_is_left():
    """Three quarters are spread over the bounds, and a quarter lies around 0."""
    found = np.array([one([], nan="drop", neighbors="add-remove") for _ in range(500)])
    assert abs(found.mean() - 38.5) < 8 and 0.1 < np.mean(found < 1) < 0.35


@pytest.mark.parametrize("bound", [0.3, -0.0, 2.0**63, -1e30, 1.7e308, 5e-324])
@pytest.mark.parametrize("dtype", [float, np.int64, np.uint64])
def test_equal_bounds_wherever_they_lie_on_the_grid(bound, dtype):
    """Also where no int64 holds the number of their cell."""
    rows = np.arange(100).astype(dtype)
    given = {"bounds": (bound, bound), "epsilon": 1}
    assert dp.quantile(rows, 0.3, method="exponential", **given) == bound
    assert dp.minimum(rows, method="exponential", **given) == bound
    for method in ("recursive", "joint"):
        assert dp.quantiles(rows, [0.2, 0.8], method=method, **given).tolist() == [bound] * 2
        assert dp.iqr(rows, method=method, **given) == 0


def test_a_tie_does_not_shift_the_quantiles_above_it():
    """Half of the rows are 0, so seven tenths of them are not above 40 of the others' 100."""
    rng = np.random.default_rng(8)
    data = np.where(np.arange(100_000) < 50_000, 0.0, rng.uniform(0, 100, 100_000))
    found = many(data, loss=Pure(10))
    assert found[:4].max() == 0.0
    np.testing.assert_allclose(found[5:], [20, 40, 60, 80], atol=1)


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_extreme_integers(dtype):
    info = np.iinfo(dtype)
    data = np.array([info.min] * 2000 + [info.max] * 2000, dtype)
    lo, hi = float(info.min), float(info.max)
    low, high = many(data, qs=(Fraction(1, 4), Fraction(3, 4)), lo=lo, hi=hi, loss=Pure(20))
    assert low == lo
    assert hi * (1 - 2**-38) <= high < hi  # which is one more than the largest integer
    assert one(data, q=Fraction(1, 4), lo=lo, hi=hi, loss=Pure(20)) == lo
    wide = one(data, lo=-1e300, hi=1e300, q=Fraction(1, 100), loss=Pure(20))
    assert abs(wide) <= _grid.public_grid(-1e300, 1e300)


def test_a_file_is_read_once_for_all_quantiles():
    data = np.random.default_rng(10).normal(50, 15, 300_000)
    source = Chunks(data, 50_000)
    many(source)
    assert source.passes == 1
    one(source)
    assert source.passes == 2
    # Pivots are drawn: the first, the last or any of the rows of a year may be one.
    for _ in range(15):
        ages = Chunks(data.astype(np.int32), 50_000)
        many(ages)
        assert ages.passes == 1


@pytest.mark.parametrize("call", [one, many])
def test_missing_rows_are_refused_between_equal_bounds_too(call):
    with pytest.raises(DataError):
        call([1.0, math.nan], lo=3.5, hi=3.5)


def test_duplicates_cost_nothing():
    qs = (Fraction(9, 10), HALF, HALF, Fraction(0), Fraction(1), Fraction(1, 10), HALF)
    rates = [
        RecursiveQuantiles(tuple(asked), 0.0, 100.0, "replace", "raise", Pure(1)).rate
        for asked in (qs, sorted(set(qs)))
    ]
    assert rates[0] == rates[1]


def test_bad_arguments_are_refused_before_the_spend():
    with pytest.raises(ArgumentError, match="qs"):
        RecursiveQuantiles((), 0.0, 1.0, "replace", "raise", Pure(1))
    with pytest.raises(ArgumentError, match="bounds"):
        RecursiveQuantiles(DECILES, 0.0, 5e-324, "replace", "raise", Pure(1))
    with pytest.raises(ArgumentError, match="epsilon must be larger"):
        ExponentialQuantile(HALF, 0.0, 1.0, "replace", "raise", Pure(Fraction(1, 10**300)))
