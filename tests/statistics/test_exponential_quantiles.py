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
from dpfast.noise.grid import lattice
from dpfast.privacy import ZCDP, Draws, Pure
from dpfast.rng import InsecureGenerator
from dpfast.statistics.quantiles import draws
from dpfast.statistics.quantiles.draws import PARTS, RANK, Aim, Column, End, draw
from dpfast.statistics.quantiles.exponential import ExponentialQuantile, share_of
from dpfast.statistics.quantiles.recursive import RecursiveQuantiles, draw_all, plan
from dpfast.summaries import floyd_rivest
from dpfast.summaries.order import Ranks
from dpfast.tables import Chunk, as_source

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


def at(q, c, share):
    """The draw of a quantile of a whole column."""
    place = round(q * PARTS)
    return Aim(place, (PARTS - 2 * place) * (PARTS // 2), c, share)


def drawn(data, aim, size, seed=1, last=4, cut=draws.CUT):
    col, bits, n = column(data, last), stream(seed), len(data)
    return Counter(draw(col, col.ends(n), aim, n, bits, cut=cut).cell for _ in range(size))


@quick_rows(5)
@pytest.mark.parametrize("share", [0, 1 << 17, 1 << 18, 1 << 19], ids=bin)
@pytest.mark.parametrize("q", [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), 1])
@pytest.mark.parametrize("name", list(COLUMNS))
@pytest.mark.parametrize("cut", [draws.CUT, -100.0], ids=["wide", "tiny window"])
def test_draws_have_the_distribution(name, q, share, cut):
    """Cells four times as fine, so that gaps have a middle, against the text of the mechanism."""
    data, c = [4 * x for x in COLUMNS[name]], 0.75
    rows = np.floor(np.clip(np.array(data, float), 0, 16)).astype(int).tolist()
    pmf = dict(enumerate(np.exp(reference.column(rows, q, c, 16, share))))
    assert p_value(drawn(data, at(q, c, share), 800, last=16, cut=cut), pmf) > LEVEL


@pytest.mark.parametrize("fault", ["rate", "target", "share", "neighbor"])
def test_a_fault_of_those_would_be_caught(fault):
    data, c, share, q = [1, 9, 9, 30, 30, 30, 31], 0.9, 1 << 17, Fraction(1, 2)
    found = drawn(data, at(q, c, share), 6000, last=31)
    given = {"data": data, "q": q, "c": c, "last": 31, "share": share}
    more = [*data, 1, 1]
    changed = {"rate": {"c": 0.7 * c}, "target": {"q": Fraction(2, 5)},
               "share": {"share": 1 << 19}, "neighbor": {"data": more}}  # fmt: skip
    for change, fits in (({}, True), (changed[fault], False)):
        pmf = dict(enumerate(np.exp(reference.column(**{**given, **change}))))
        assert (p_value(found, pmf) > LEVEL) == fits


def test_long_runs_and_far_cells():
    """Runs of many cells, of which the farthest are lumps that a pass must settle."""
    data, c, share = [100, 100, 300, 700, 700, 900], 0.4, 1 << 18
    cells = range(1024)
    fine = np.exp(reference.column(data, Fraction(1, 2), c, 1023, share))
    bins = np.searchsorted([0, 100, 101, 300, 301, 500, 700, 701, 900, 901], cells, side="right")
    pmf = {b: math.fsum(fine[bins == b]) for b in set(bins)}
    for cut in (draws.CUT, -100.0):
        col, bits = column(data, 1023), stream(3)
        calls = []
        count = col.less
        col.less = lambda *a, count=count, calls=calls: calls.append(a) or count(*a)
        aim = at(Fraction(1, 2), c, share)
        found = Counter(
            bins[draw(col, col.ends(6), aim, 6, bits, cut=cut).cell] for _ in range(1500)
        )
        assert p_value(found, pmf) > LEVEL
        assert bool(calls) == (cut < 0)


# --- where to divide ------------------------------------------------------------------------------

#: Parts of a cell are counted by so many together.
TOGETHER = 8


def divided(rows, ends, target, c, share, fine=16):
    """Probabilities of a cell, and of one of `TOGETHER` stretches of parts where rows are on it.

    `fine` times as many fractions stand for the parts, which are many more.
    """
    parts = fine * TOGETHER
    log_p = reference.divided(rows, ends, target, c, share, parts)
    on = {x for x, _ in rows}
    pmf = {}
    for i, p in enumerate(np.exp(log_p)):
        o, j = ends[0] + i // parts, i % parts // fine
        key = o, j if o in on else 0
        pmf[key] = pmf.get(key, 0) + p
    return pmf


def stretch(end, low, high):
    """The key of a draw."""
    if end.less == end.leq:
        return end.cell, 0
    first = low.part if end.cell == low.cell else 0
    stop = high.part if end.cell == high.cell else PARTS
    return end.cell, (end.part - first) * TOGETHER // (stop - first)


@quick_rows(4)
@pytest.mark.parametrize("c, cut", [(0.1, -99.0), (0.75, -99.0), *((c, 28.0) for c in (0.1, 1, 4))])
@pytest.mark.parametrize("name", list(COLUMNS))
def test_a_division_has_the_distribution(name, c, cut):
    data, q, share = [2 * x for x in COLUMNS[name]], Fraction(2, 5), 1 << 18
    rows = [(int(x), 1) for x in np.floor(np.clip(np.array(data, float), 0, 8))]
    n, aim = len(data), at(q, c, share)
    pmf = divided(rows, (0, 8), q * (n - 1) + Fraction(1, 2), c, share)
    col, bits = column(data, 8), stream(4)
    ends = col.ends(n)
    found = Counter(
        stretch(draw(col, ends, aim, n, bits, divides=True, cut=cut), *ends) for _ in range(400)
    )
    assert p_value(found, pmf) > LEVEL


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("q", [Fraction(1, 100), Fraction(1, 2), Fraction(4, 5)])
@pytest.mark.parametrize("c", [0.05, 0.5])
def test_a_heavy_tie_is_divided_near_the_target(q, c):
    """Hundreds of rows on a cell: blocks of parts."""
    data, share = [0] * 30 + [1] * 402 + [2] * 100 + [3] * 40, 1 << 18
    n = len(data)
    pmf = divided([(x, 1) for x in data], (0, 3), q * (n - 1) + Fraction(1, 2), c, share, 64)
    col, bits, aim = column(data, 3), stream(5), at(q, c, share)
    ends = col.ends(n)
    found = Counter(
        stretch(draw(col, ends, aim, n, bits, divides=True), *ends) for _ in range(1200)
    )
    assert p_value(found, pmf) > LEVEL


def inner_node():
    """A node between two released cells, each of which keeps a fraction of its rows."""
    data = [0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 5, 5, 5, 5, 6]
    low, high = End(1, 1, 4, 3 * PARTS // 4), End(5, 11, 15, PARTS // 8)
    quarter, eighth = Fraction(1, 4), Fraction(1, 8)
    rows = [(1, quarter)] * 3 + [(2, 1)] * 4 + [(3, 1)] * 3 + [(5, eighth)] * 4
    return data, (low, high), rows


def test_ends_take_a_part_of_the_rows():
    data, ends, rows = inner_node()
    c, share, n = 0.8, 1 << 18, len(data)
    mass = sum(mass for _, mass in rows)
    assert mass * PARTS == ends[1].position - ends[0].position
    aim = Aim(PARTS // 4, RANK // 8, c, share)
    target = mass / 4 + Fraction(1, 8)
    assert aim.target(*ends) == target * RANK + ends[0].position * PARTS
    pmf = divided(rows, (1, 5), target, c, share)
    col, bits = column(data, 6), stream(6)
    found = Counter(
        stretch(draw(col, ends, aim, n, bits, divides=True), *ends) for _ in range(1500)
    )
    assert p_value(found, pmf) > LEVEL
    pmf = dict(enumerate(np.exp(reference.leaf(rows, (1, 5), target, c, share)), 1))
    found = Counter(draw(col, ends, aim, n, bits).cell for _ in range(1500))
    assert p_value(found, pmf) > LEVEL


# --- positions ------------------------------------------------------------------------------------

NODE, INSIDE = (0, 9), (1, 3, 4, 8)


def worst_of_a_node(place, share, parts, fault=None):
    """The largest loss over its bound, of all nodes of a few rows with all neighbors."""
    c, d = 1.0, max(place, 1 - place)
    some, most = Fraction(1, 4), Fraction(3, 4)

    @functools.cache
    def law(inside, low, high):
        rows = [(x, 1) for x in inside] + [(0, some)] * low + [(9, most)] * high
        target = place * sum(mass for _, mass in rows) + Fraction(1, 3)
        if parts is None:
            return reference.leaf(rows, NODE, target, c, share, fault=fault)
        return reference.divided(rows, NODE, target, c, share, parts, fault=fault)

    found = 0.0
    for size in range(3):
        for inside, low, high in product(
            combinations_with_replacement(INSIDE, size), range(3), range(2)
        ):
            here = law(inside, low, high)
            more = [(law(tuple(sorted((*inside, x))), low, high), 1) for x in INSIDE]
            more += [(law(inside, low + 1, high), some), (law(inside, low, high + 1), most)]
            found = max(found, *(np.abs(p - here).max() / (2 * c * float(d * s)) for p, s in more))
    return found


@quick_rows(3)
@pytest.mark.parametrize("parts", [None, 2, 3])
@pytest.mark.parametrize("place", [Fraction(0), HALF := Fraction(1, 2), Fraction(9, 10)], ids=str)
@pytest.mark.parametrize("share", [0, 1 << 18, 1 << 19])
def test_a_row_moves_all_positions_by_no_more_than_its_mass(place, share, parts):
    assert worst_of_a_node(place, share, parts) <= 1 + 1e-12


@pytest.mark.parametrize("fault", ["not monotone", "ends"])
@pytest.mark.parametrize("parts", [None, 2])
def test_positions_that_move_farther_show(fault, parts):
    assert worst_of_a_node(HALF, 1 << 19, parts, fault) > 1.1


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
        aim = node.aim
        assert aim.place == round(place * PARTS) and aim.share == share_of(aim.rate)
        place, alone = Fraction(aim.place, PARTS), widths[level] == 1
        wanted = recursive.rate(plain, len(widths), float(place), alone)
        assert aim.rate == pytest.approx(wanted, rel=2**-39)
        # Not above the wanted number: k**2 is rational.
        k2 = Fraction(recursive.divisor(plain, place, alone) ** 2).limit_denominator(10**6)
        square = Fraction(aim.rate) ** 2 * 4 * k2
        if plain.kind == "pure":
            assert square <= (loss.epsilon / len(widths)) ** 2
        else:
            nodes = 2 if plain.neighbors == "replace" and not alone else 1
            each = Fraction(math.sqrt(square / nodes)) * (1 - Fraction(1, 2**51))
            assert nodes * Draws(each, 1, True).to_zcdp().rho <= loss.rho / len(widths)
        walk(node.left, low, q, level + 1)
        walk(node.right, q, high, level + 1)

    walk(plan(tuple(qs), loss, plain.neighbors), Fraction(0), Fraction(1), 0)


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
    pmf = recursive.marginal(recursive.recursive(data, qs, plain, range(5), 12))
    col, bits, root = column(data), stream(7), plan(tuple(qs), loss, plain.neighbors)
    found = Counter(
        tuple(draw_all(col, len(data), root, len(qs), bits, cut=cut)) for _ in range(500)
    )
    assert p_value(found, pmf) > LEVEL


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("fault", ["both", "free"])
def test_recursion_would_be_caught(fault):
    qs, plain = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)], LOSSES[0][1]
    data = COLUMNS["many"]
    pmf = recursive.marginal(recursive.recursive(data, qs, plain, range(5), 12, fault))
    col, bits, root = column(data), stream(8), plan(tuple(qs), Pure(3), "add-remove")
    found = Counter(tuple(draw_all(col, len(data), root, 3, bits)) for _ in range(2000))
    assert p_value(found, pmf) < LEVEL


# --- privacy, by enumeration ----------------------------------------------------------------------

#: Cells that rows are on, and all cells: gaps of many lengths, with all that h can be.
ON, CELLS = (0, 1, 4, 6, 11), range(13)


def laws(q, rate, share, sizes=range(5), fault=None, ties=0):
    """log-probability of each cell, for all columns on `ON`."""
    return {
        d: reference.column(d, q, rate, CELLS[-1], share, fault=fault, ties=ties)
        for n in sizes
        for d in combinations_with_replacement(ON, n)
    }


def near_pairs(datasets, neighbors, on=ON):
    known = set(datasets)
    for d in datasets:
        if neighbors == "add-remove":
            near = [tuple(sorted((*d, v))) for v in on]
        else:
            near = [tuple(sorted((*d[:i], *d[i + 1 :], v))) for i in range(len(d)) for v in on]
        yield from ((d, e) for e in set(near) & known)


@quick_rows(3)
@pytest.mark.parametrize("share", [None, 0, 1 << 18, 1 << 19])
@pytest.mark.parametrize("q", [0, Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), 1], ids=str)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_one_quantile_is_private(q, neighbors, share):
    """No cell is more than e**epsilon times likelier; the bound is nearly reached."""
    epsilon = 2.0
    mechanism = ExponentialQuantile(0.0, 2.0, neighbors, "raise", Pure(epsilon), q=Fraction(q))
    share = mechanism.aim.share if share is None else share
    q = Fraction(mechanism.aim.place, PARTS)
    pmf = laws(q, mechanism.rate, share)
    worst = max(np.abs(pmf[d] - pmf[e]).max() for d, e in near_pairs(pmf, neighbors))
    assert worst <= epsilon * (1 + 1e-12)
    # So is the range of the log-ratios, by which a budget in rho is charged.
    assert mechanism.loss == Draws(epsilon, bounded_range=True)
    worst = max(np.ptp(pmf[d] - pmf[e]) for d, e in near_pairs(pmf, neighbors))
    assert 0.7 * epsilon < worst <= epsilon * (1 + 1e-12)
    pmf = laws(q, 2.2 * mechanism.rate, share)
    assert max(np.abs(pmf[d] - pmf[e]).max() for d, e in near_pairs(pmf, neighbors)) > epsilon


@quick_rows(2)
@pytest.mark.parametrize("ties", [1, 2, 50])
@pytest.mark.parametrize("q", [0, Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)], ids=str)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_quantile_on_a_lattice_is_private(q, neighbors, ties):
    """Ties of up to five rows, whose positions stop short of their ends."""
    epsilon, numbers = 2.0, lattice(0.0, 2.0, Fraction(1))
    own = ExponentialQuantile(
        0.0, 2.0, neighbors, "raise", Pure(epsilon), False, numbers, q=Fraction(q)
    )
    assert own.aim.ties == math.ceil(6 / own.rate)
    q = Fraction(own.aim.place, PARTS)
    pmf = laws(q, own.rate, own.aim.share, range(6), ties=ties)
    near = list(near_pairs(pmf, neighbors))
    assert 0.7 * epsilon < max(np.ptp(pmf[d] - pmf[e]) for d, e in near) <= epsilon * (1 + 1e-12)
    pmf = laws(q, own.rate, own.aim.share, range(6), "ties", ties)
    assert max(np.ptp(pmf[d] - pmf[e]) for d, e in near) > epsilon  # a planted fault


@pytest.mark.parametrize(
    "fault", ["not monotone", "target", "base of the data", "lattice of the data"]
)
def test_a_fault_of_one_quantile_shows(fault):
    """A rank that falls in a gap, a target that moves too far, and measures that look."""
    q, share, epsilon = HALF, 1 << 18, 2.0
    rate = ExponentialQuantile(0.0, 2.0, "add-remove", "raise", Pure(epsilon), q=q).rate
    pmf = laws(q, rate, share, fault=fault)
    assert max(np.abs(pmf[d] - pmf[e]).max() for d, e in near_pairs(pmf, "add-remove")) > epsilon


def test_the_shares_of_a_gap_grow_by_no_more_than_its_length():
    """What the proof of sensitivity asks of w, of the kernel's own integers, for all gaps."""
    span = np.unique(
        np.concatenate([np.arange(1, 5000), 2 ** np.arange(12, 42), 3 ** np.arange(26)])
    )
    for epsilon in (1e-6, 0.3, 1, 7, 100, 1e9):
        share = ExponentialQuantile(0.0, 1.0, "replace", "raise", Pure(epsilon), q=HALF).aim.share
        assert 0 <= share <= 1 << 18

        def near(s, share=share):
            return np.minimum(share * s >> 20, (s - 1) // 2)

        aim = near(span + 1) - near(span)
        assert ((aim == 0) | (aim == 1)).all() and (2 * near(span) < span).all()


#: Cells that rows are on, of six: an end, two beside each other, and one alone.
PLACES = (0, 1, 3, 4)


def surprising():
    """Few rows, and many on one or two cells, so that every release can be a surprise."""
    yield from (d for n in range(6) for d in combinations_with_replacement(PLACES, n))
    yield from ((1,) * a + (3,) * b for a, b in product(range(12), range(12)) if a + b > 5)


THIRDS = [Fraction(1, 3), Fraction(2, 3)]
QUARTERS = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
UNEVEN = [Fraction(0), Fraction(1, 10), Fraction(1, 5), Fraction(9, 10)]


@pytest.fixture(scope="module", params=["add-remove", "replace"])
def worst(request):
    """The largest losses over all neighbors, for quantiles, a loss and a fault."""
    datasets = list(surprising())
    near = list(near_pairs(datasets, request.param, PLACES))

    @functools.cache
    def pmfs(qs, kind, amount, fault):
        plain = recursive.Loss(kind, amount, request.param)
        return {d: recursive.recursive(d, qs, plain, range(6), 2, fault) for d in datasets}

    def find(qs, kind, amount, fault=None, order=None):
        pmf = pmfs(tuple(qs), kind, amount, fault)
        if order:
            return max(recursive.renyi(pmf[d], pmf[e], order) for d, e in near)
        found = [recursive.losses(pmf[d], pmf[e]) for d, e in near]
        return np.max([levels for levels, _ in found], axis=0), max(total for _, total in found)

    find.neighbors = request.param
    return find


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize(
    "qs",
    [
        pytest.param(THIRDS, id="thirds"),
        pytest.param(QUARTERS, id="quarters"),
        pytest.param(UNEVEN, id="uneven", marks=pytest.mark.full),
    ],
)
def test_recursion_is_private(worst, qs):
    epsilon = 4.0
    levels, total = worst(qs, "pure", epsilon)
    assert levels.max() <= epsilon / len(levels) * (1 + 1e-12)
    assert total <= epsilon * (1 + 1e-12)


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("fault", ["both", "free"])
def test_a_fault_of_the_recursion_shows(worst, fault):
    if fault == "both" and worst.neighbors == "replace":
        return  # what it may cost is reached in larger nodes only
    levels, total = worst(QUARTERS, "pure", 4.0, fault)
    assert levels.max() > 2.01 or total > 4.01


@pytest.mark.full
def test_recursion_is_tight(worst):
    if worst.neighbors == "add-remove":
        levels, total = worst(QUARTERS, "pure", 4.0)
        assert levels[0] > 0.99 * 2.0 and total > 0.8 * 4.0
    else:
        assert worst(QUARTERS, "pure", 8.0)[0][0] > 0.85 * 4.0


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
    made = RecursiveQuantiles(0.0, 2.0, worst.neighbors, "raise", Pure(epsilon), qs=tuple(QUARTERS))
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


@pytest.mark.usefixtures("same_pivots")
@quick_rows(6)
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


@quick_rows(3)
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

DECILES = tuple(Fraction(k, 10) for k in range(1, 10))


def one(data, q=HALF, lo=0.0, hi=100.0, neighbors="replace", nan="raise", loss=None, rng=None):
    mechanism = ExponentialQuantile(lo, hi, neighbors, nan, loss or Pure(1), q=q)
    return release(as_source(data), mechanism, budget=None, rng=rng)


def many(data, qs=DECILES, lo=0.0, hi=100.0, neighbors="replace", nan="raise", loss=None, rng=None):
    mechanism = RecursiveQuantiles(lo, hi, neighbors, nan, loss or Pure(1), qs=qs)
    return release(as_source(data), mechanism, budget=None, rng=rng)


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
    """Half of it is spread over the bounds, and half is on round numbers."""
    found = np.array([one([], nan="drop", neighbors="add-remove") for _ in range(500)])
    # Fails by chance: 6 deviations of a mean of 49.4, and of a share of 0.44.
    assert abs(found.mean() - 49.4) < 8
    assert 0.3 < np.mean(np.abs(found - found.round(4)) < 1e-9) < 0.58


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


@pytest.mark.usefixtures("same_pivots")
def test_a_file_is_read_once_for_all_quantiles():
    data, rng = np.random.default_rng(10).normal(50, 15, 300_000), InsecureGenerator(2)
    source = Chunks(data, 50_000)
    many(source, rng=rng)
    assert source.passes == 1
    one(source, rng=rng)
    assert source.passes == 2
    # Pivots are drawn: the first, the last or any of the rows of a year may be one.
    for _ in range(15):
        ages = Chunks(data.astype(np.int32), 50_000)
        many(ages, rng=rng)
        assert ages.passes == 1


@pytest.mark.parametrize("call", [one, many])
def test_missing_rows_are_refused_between_equal_bounds_too(call):
    with pytest.raises(DataError):
        call([1.0, math.nan], lo=3.5, hi=3.5)


def test_duplicates_cost_nothing():
    qs = (Fraction(9, 10), HALF, HALF, Fraction(0), Fraction(1), Fraction(1, 10), HALF)
    rates = [
        RecursiveQuantiles(0.0, 100.0, "replace", "raise", Pure(1), qs=tuple(asked)).rate
        for asked in (qs, sorted(set(qs)))
    ]
    assert rates[0] == rates[1]


def test_bad_arguments_are_refused_before_the_spend():
    with pytest.raises(ArgumentError, match="qs"):
        RecursiveQuantiles(0.0, 1.0, "replace", "raise", Pure(1), qs=())
    with pytest.raises(ArgumentError, match="bounds"):
        RecursiveQuantiles(0.0, 5e-324, "replace", "raise", Pure(1), qs=DECILES)
    with pytest.raises(ArgumentError, match="epsilon must be larger"):
        ExponentialQuantile(0.0, 1.0, "replace", "raise", Pure(Fraction(1, 10**300)), q=HALF)
