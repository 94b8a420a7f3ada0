"""Quantiles by the exponential mechanism: against their definition, cell by cell."""

import functools
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import dpfast as dp
from dpfast.noise import grid as _grid
from dpfast.noise.grid import lattice
from dpfast.privacy import ZCDP, Draws, Pure
from dpfast.rng import InsecureGenerator
from dpfast.statistics.quantiles import draws
from dpfast.statistics.quantiles.draws import PARTS, Column, DrawParams, draw
from dpfast.statistics.quantiles.exponential import FLIPPED, ExponentialQuantile, share_of
from dpfast.statistics.quantiles.recursive import RecursiveQuantiles, draw_all, plan
from dpfast.summaries.order import Ranks
from dpfast.tables import as_source

from ..reference.statistics import exponential_quantiles as reference
from ..reference.statistics import recursive_quantiles as recursive
from ..support.noise import p_value
from ..support.pairwise import every_value, full_rows, quick_rows
from ..support.refused import refused

HALF = Fraction(1, 2)
#: A correct distribution fails a test with this probability.
LEVEL = 1e-5


def stream(seed=0):
    return InsecureGenerator(seed).stream()


def column(data, last=4):
    """Data in units of the grid, cells 0 .. last."""
    return Column(Ranks(np.array(data, np.float64)), 0.0, float(last), 1.0)


COLUMNS = {
    "none": [], "one": [1.5], "ties": [0, 1, 1, 1, 2.5, 2.5, 3, 4], "all equal": [2] * 7,
    "all between": [2.5] * 7, "outside": [-9, -3, 0.5, 7, 9],
    "many": [0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4],
}  # fmt: skip


def drawn(data, q, c, share, size, seed=1, last=4, cut=draws.CUT):
    place, col, bits, n = round(q * PARTS), column(data, last), stream(seed), len(data)
    aim = DrawParams(place, (PARTS - 2 * place) * (PARTS // 2), c, share)
    return Counter(draw(col, col.ends(n), aim, n, bits, cut=cut).cell for _ in range(size))


def likely(logs):
    return dict(enumerate(np.exp(logs)))


@quick_rows(5)
@pytest.mark.parametrize("share", [0, 1 << 17, 1 << 18, 1 << 19], ids=bin)
@pytest.mark.parametrize("q", [Fraction(0), Fraction(1, 3), HALF, Fraction(9, 10), 1])
@pytest.mark.parametrize("name", list(COLUMNS))
@pytest.mark.parametrize("cut", [draws.CUT, -100.0], ids=["wide", "tiny window"])
def test_draws_have_the_distribution(name, q, share, cut):
    """Cells four times as fine, so that gaps have a middle, against the text of the mechanism."""
    data, c = [4 * x for x in COLUMNS[name]], 0.75
    rows = np.floor(np.clip(np.array(data, float), 0, 16)).astype(int).tolist()
    pmf = likely(reference.column(rows, q, c, 16, share))
    assert p_value(drawn(data, q, c, share, 800, last=16, cut=cut), pmf) > LEVEL


def test_a_fault_of_those_would_be_caught():
    data, c, share = [1, 9, 9, 30, 30, 30, 31], 0.9, 1 << 17
    found = drawn(data, HALF, c, share, 6000, last=31)
    given = {"data": data, "q": HALF, "c": c, "last": 31, "share": share}
    faults = {"c": 0.7 * c, "q": Fraction(2, 5), "share": 1 << 19, "data": [*data, 1, 1]}
    assert p_value(found, likely(reference.column(**given))) > LEVEL
    for name, fault in faults.items():
        assert p_value(found, likely(reference.column(**{**given, name: fault}))) < LEVEL, name


@quick_rows(3)
@pytest.mark.parametrize("parts", [None, 2])
@pytest.mark.parametrize("fault", [None, "not monotone", "ends"])
def test_a_row_moves_all_positions_of_a_node_by_no_more_than_its_mass(fault, parts):
    """All nodes of a few rows, of which the ends keep a part, with all neighbors."""
    inside, some, most = (1, 3, 4, 8), Fraction(1, 4), Fraction(3, 4)

    @functools.cache
    def law(own, low, high):
        rows = [(x, 1) for x in own] + [(0, some)] * low + [(9, most)] * high
        given = (0, 9), HALF * sum(mass for _, mass in rows) + Fraction(1, 3), 1.0, 1 << 19
        if parts is None:
            return reference.leaf(rows, *given, fault=fault)
        return reference.divided(rows, *given, parts, fault=fault)

    worst = 0.0
    for size, low, high in product(range(3), range(3), range(2)):
        for own in combinations_with_replacement(inside, size):
            more = [(law(tuple(sorted((*own, x))), low, high), 1) for x in inside]
            more += [(law(own, low + 1, high), some), (law(own, low, high + 1), most)]
            here = law(own, low, high)
            worst = max(worst, *(np.abs(p - here).max() / float(mass) for p, mass in more))
    assert worst > 1.1 if fault else worst <= 1 + 1e-12


LOSSES = [
    (Pure(3), recursive.Loss("pure", 3.0, "add-remove")),
    (Pure(3), recursive.Loss("pure", 3.0, "replace")),
    (ZCDP(1), recursive.Loss("zcdp", 1.0, "add-remove")),
    (ZCDP(1), recursive.Loss("zcdp", 1.0, "replace")),
]
QS = [
    [Fraction(1, 2)], [Fraction(1, 3), Fraction(2, 3)], [Fraction(0), Fraction(1, 2), Fraction(1)],
    [Fraction(1, 10), Fraction(1, 5), Fraction(1, 2), Fraction(9, 10)],
]  # fmt: skip


@pytest.mark.parametrize("loss, plain", LOSSES, ids=lambda x: getattr(x, "neighbors", ""))
@pytest.mark.parametrize("qs", QS, ids=len)
def test_rates(loss, plain, qs):
    widths = recursive.sizes(len(qs))

    def walk(node, low, high, level):
        if node is None:
            return
        q, params, alone = qs[node.number], node.params, widths[level] == 1
        assert params.fraction == round((q - low) / (high - low) * PARTS)
        assert params.share == share_of(params.rate)
        place = Fraction(params.fraction, PARTS)
        wanted = recursive.rate(plain, len(widths), float(place), alone)
        assert params.rate == pytest.approx(wanted, rel=2**-39)
        # Not above the wanted number: k**2 is rational.
        k2 = Fraction(recursive.divisor(plain, place, alone) ** 2).limit_denominator(10**6)
        square = Fraction(params.rate) ** 2 * 4 * k2
        if plain.kind == "pure":
            assert square <= (loss.epsilon / len(widths)) ** 2
        else:
            nodes = 2 if plain.neighbors == "replace" and not alone else 1
            each = Fraction(math.sqrt(square / nodes)) * (1 - Fraction(1, 2**51))
            assert nodes * Draws(each, 1, True).to_zcdp().rho <= loss.rho / len(widths)
        walk(node.left, low, q, level + 1)
        walk(node.right, q, high, level + 1)

    walk(plan(tuple(qs), loss, plain.neighbors), Fraction(0), Fraction(1), 0)


@quick_rows(2)
@pytest.mark.parametrize("cut", [draws.CUT, -100.0], ids=["wide", "tiny window"])
@pytest.mark.parametrize("name", ["none", "ties", "outside", "many"])
@pytest.mark.parametrize("qs", QS, ids=len)
def test_recursion_has_the_distribution(name, qs, cut):
    assert fit_of_recursion(name, qs, LOSSES[len(qs) % 2 * 2], 500, cut) > LEVEL


@pytest.mark.full
@pytest.mark.parametrize("fault", ["both", "free"])
def test_recursion_would_be_caught(fault):
    assert fit_of_recursion("many", QUARTERS, LOSSES[0], 2000, fault=fault) < LEVEL


#: Cells that rows are on, and all cells: gaps of many lengths, with all that h can be.
ON, CELLS = (0, 1, 4, 6, 11), range(13)


def laws(q, rate, share, sizes=range(5), fault=None, ties=0):
    return {
        d: reference.column(d, q, rate, CELLS[-1], share, fault=fault, ties=ties)
        for n in sizes
        for d in combinations_with_replacement(ON, n)
    }


def near_pairs(datasets, neighbors, on=ON, order=None):
    """Neighbors among sorted datasets: of "both", a row that is replaced may come or go, too."""
    known = set(datasets)
    for d in datasets:
        near = [(*d, v) for v in on] if neighbors != "replace" else []
        if neighbors != "add-remove":
            near += [(*d[:i], *d[i + 1 :], v) for i in range(len(d)) for v in on]
        near = {tuple(sorted(rows, key=order)) for rows in near}
        yield from ((d, e) for e in near & known)


#: How near to a row a gap's ends are, and how many ranks each side of ties lacks on a lattice.
SHARES = [(None, 0), (0, 0), (1 << 18, 0), (1 << 19, 0), (None, 1), (None, 2), (None, 50)]


@quick_rows(7, full=12)
@pytest.mark.parametrize("share, ties", SHARES)
@pytest.mark.parametrize("q", [0, Fraction(1, 3), HALF, Fraction(9, 10), 1], ids=str)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_one_quantile_is_private(q, neighbors, share, ties):
    """No cell is more than e**epsilon times likelier; the bound is nearly reached.

    So is the range of the log-ratios, by which a budget in rho is charged. On a lattice there are
    ties of up to five rows, whose positions stop short of their ends. Of some rows, one that is
    replaced may leave them or enter: the same rate covers that.
    """
    epsilon, numbers = 2.0, lattice(0.0, 2.0, Fraction(1)) if ties else None
    given = 0.0, 2.0, neighbors, "raise", Pure(epsilon), False, numbers
    made = ExponentialQuantile(*given, q=Fraction(q))
    assert not ties or made.params.ties == math.ceil(6 / made.rate)
    assert ties or made.loss == Draws(epsilon, bounded_range=True)
    q, share = Fraction(made.params.fraction, PARTS), made.params.share if share is None else share

    near = "both" if neighbors == "replace" else neighbors

    def worst(measure, rate=made.rate, fault=None):
        pmf = laws(q, rate, share, range(6 if ties else 5), fault, ties)
        return max(measure(pmf[d] - pmf[e]) for d, e in near_pairs(pmf, near))

    most = epsilon * (1 + 1e-12)
    assert 0.7 * epsilon < worst(np.ptp) <= most and worst(largest) <= most
    planted = {"fault": "ties"} if ties else {"rate": 2.2 * made.rate}
    assert worst(np.ptp if ties else largest, **planted) > epsilon


def largest(moved):
    return np.abs(moved).max()


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
        made = ExponentialQuantile(0.0, 1.0, "replace", "raise", Pure(epsilon), q=HALF)
        share = made.params.share
        assert 0 <= share <= 1 << 18

        def near(s, share=share):
            return np.minimum(share * s >> 20, (s - 1) // 2)

        aim = near(span + 1) - near(span)
        assert ((aim == 0) | (aim == 1)).all() and (2 * near(span) < span).all()


#: Cells that rows are on, of six: an end, two beside each other, and one alone.
PLACES = (0, 1, 3, 4)
THIRDS = [Fraction(1, 3), Fraction(2, 3)]
QUARTERS = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
UNEVEN = [Fraction(0), Fraction(1, 10), Fraction(1, 5), Fraction(9, 10)]


@pytest.fixture(scope="module", params=["add-remove", "replace"])
def worst(request):
    """The largest losses over all neighbors, for quantiles, a loss and a fault."""
    # Few rows, and many on one or two cells, so that every release can be a surprise.
    datasets = [d for n in range(6) for d in combinations_with_replacement(PLACES, n)]
    datasets += [(1,) * a + (3,) * b for a, b in product(range(12), range(12)) if a + b > 5]
    near = "both" if request.param == "replace" else request.param
    near = list(near_pairs(datasets, near, PLACES))

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


@full_rows(2)
@pytest.mark.parametrize("qs", [THIRDS, QUARTERS, UNEVEN], ids=["thirds", "quarters", "uneven"])
def test_recursion_is_private(worst, qs):
    epsilon = 4.0
    levels, total = worst(qs, "pure", epsilon)
    assert levels.max() <= epsilon / len(levels) * (1 + 1e-12)
    assert total <= epsilon * (1 + 1e-12)
    # What "both" may cost where rows are replaced is reached in larger nodes only.
    faults = ("both", "free") if worst.neighbors == "add-remove" else ("free",)
    for fault in faults if qs is QUARTERS else ():
        levels, total = worst(qs, "pure", epsilon, fault)
        assert levels.max() > 2.01 or total > 4.01


@full_rows(2)
@pytest.mark.parametrize("order", [1.01, 2, 8, 64])
@pytest.mark.parametrize("kind, amount", [("zcdp", 2.0), ("pure", 4.0)])
def test_recursion_is_concentrated(worst, order, kind, amount):
    price = amount
    if kind == "pure":
        given = (0.0, 2.0, worst.neighbors, "raise", Pure(amount))
        loss = RecursiveQuantiles(*given, qs=tuple(QUARTERS)).loss
        assert loss == Draws(amount, 2, bounded_range=True)
        price = float(loss.to_zcdp().rho)
        assert price < 0.5 * float(Pure(amount).to_zcdp().rho)
    assert worst(QUARTERS, kind, amount, order=order) <= price * order * (1 + 1e-9)
    if order == 1.01:  # planted: too high a rate
        assert worst(QUARTERS, kind, amount, fault="free", order=order) > price * order


INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
BOUNDS = [
    (0.0, 100.0), (-1e-3, 1e-3), (0.5, 77.25), (-1e19, 1e19), (-(2.0**63), 2.0**63),
    (2.0**53 + 2, 2.0**60), (1e300, 1.5e300), (-1e-300, 2e-300),
]  # fmt: skip


@every_value
@pytest.mark.parametrize("lo, hi", BOUNDS)
@pytest.mark.parametrize("dtype", [*INTEGERS, "f4", "f8"])
def test_cells_are_exact(dtype, lo, hi):
    rng, kind = np.random.default_rng(0), np.dtype(dtype)
    if kind.kind == "f":
        with np.errstate(over="ignore"):
            edges = np.array([lo, hi, 0, -0.0, 5e-324, -5e-324, np.inf, -np.inf, 1.5], kind)
            inside = np.clip(rng.uniform(lo, hi, 50), lo, hi).astype(kind)
        near = np.nextafter(edges, np.array(np.inf, kind))
        values = np.concatenate([edges, near, rng.normal(0, 50, 50).astype(kind), inside])
    else:
        info, ends = np.iinfo(kind), [math.floor(b) for b in (lo, hi) if abs(b) < 2**70]
        known = rng.integers(info.min, info.max, 50, kind, endpoint=True).tolist()
        known += [b + k for b in (*ends, info.min, info.max, 2**53, 2**60) for k in (-1, 0, 1, 2)]
        values = np.array([v for v in {0, *known} if info.min <= v <= info.max], kind)
    values.sort()
    grid = _grid.public_grid(lo, hi)
    low, high, step = Fraction(lo), Fraction(hi), Fraction(grid)
    first, last = math.ceil(low / step), math.floor(high / step)

    def cell(value):
        value = min(max(value, lo), hi)  # infinities are no fractions
        return min(max(math.floor(min(max(Fraction(value), low), high) / step), first), last)

    found = Column(Ranks(values), lo, hi, grid).cells(values)
    assert found.dtype == np.int64 and found.tolist() == list(map(cell, values.tolist()))


def test_equal_quantiles_cost_nothing():
    one, other = (
        RecursiveQuantiles(0.0, 100.0, "replace", "raise", Pure(1), qs=qs)
        for qs in ((HALF, Fraction(0), HALF), (Fraction(0), HALF))
    )
    assert one.rate == other.rate


def fit_of_recursion(name, qs, loss, size, cut=draws.CUT, fault=None):
    loss, plain = loss
    data = np.floor(np.clip(np.array(COLUMNS[name], np.float64), 0, 4))
    col, bits, root = column(data), stream(7), plan(tuple(qs), loss, plain.neighbors)
    found = Counter(
        tuple(draw_all(col, len(data), root, len(qs), bits, cut=cut)) for _ in range(size)
    )
    return p_value(
        found, recursive.marginal(recursive.recursive(data, qs, plain, range(5), 12, fault))
    )


FRACTIONS = [Fraction(0), Fraction(1, 3), HALF, Fraction(9, 10)]
FEW_NUMBERS = {
    "none": [], "gaps": [1, 5], "ties": [0, 1, 1, 1, 1, 1, 3, 3, 3, 3, 5],
    "a far tie": [0] * 3 + [5] * 12,
}  # fmt: skip


def made_for(q, neighbors, loss, last=5):
    return ExponentialQuantile(
        0.0, float(last), neighbors, "raise", loss, False, lattice(0.0, last, Fraction(1)), q=q
    )


def law(made, data, last=5):
    aim = made.params
    pmf = reference.flipped(data, made.q, aim.rate, last, aim.share, aim.ties)
    return dict(enumerate(pmf))


def drawn_by(made, data, size):
    summary, generator = made.reduce(as_source(np.array(data, float))), InsecureGenerator(5)
    return Counter(int(made.finish(summary, generator)) for _ in range(size))


@every_value
@pytest.mark.parametrize("name", list(FEW_NUMBERS))
@pytest.mark.parametrize("epsilon", [Fraction(1, 5), 3], ids=str)
@pytest.mark.parametrize("q", FRACTIONS[1:3], ids=str)
def test_draws_have_the_law(name, q, epsilon):
    made, data = made_for(q, "add-remove", Pure(epsilon)), FEW_NUMBERS[name]
    assert p_value(drawn_by(made, data, 800), law(made, data)) > LEVEL


REAL = draws.shows_tails
FAULTS = {
    "nothing": {},
    "no tails": {"shows_tails": lambda *_: False},
    "too few tries": {"shows_tails": lambda tries, *more: REAL(tries - 1, *more)},
    "each call": {"shows_tails": lambda _, coins, *more: REAL(1, coins, *more)},
    "all exact": {"CLOSE": 4.0},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_would_be_caught(fault, monkeypatch):
    """Tails that are not seen are the exponential mechanism; coins may be decided by any digits."""
    made, data = made_for(HALF, "add-remove", Pure(Fraction(3, 4))), FEW_NUMBERS["ties"]
    for name, value in FAULTS[fault].items():
        monkeypatch.setattr(draws, name, value)
    size = {"each call": 12_000, "all exact": 1_000}.get(fault, 4_000)
    fits = p_value(drawn_by(made, data, size), law(made, data)) > LEVEL
    assert fits == (fault in ("nothing", "all exact"))


def largest_loss(q, neighbors, factor=1.0, fault=None, last=3):
    """The largest loss of up to four rows with all neighbors, over what is claimed.

    Rows that are replaced may also come and go, as those of people that are kept.
    """
    made, cells = made_for(q, neighbors, Pure(2), last), range(last + 1)
    rate, share = factor * made.params.rate, made.params.share
    law = {
        data: np.log(reference.flipped(data, q, rate, last, share, 1, fault))
        for size in range(5)
        for data in combinations_with_replacement(cells, size)
    }
    near = near_pairs(law, "both" if neighbors == "replace" else neighbors, cells)
    return max(largest(law[a] - law[b]) for a, b in near) / float(made.loss.epsilon)


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("q", FRACTIONS, ids=str)
def test_all_neighbors_are_within_the_loss(q, neighbors):
    assert 0.5 < largest_loss(q, neighbors) <= 1 + 1e-12
    for planted in ({"factor": 1.3}, {"fault": "ties"}) if q == HALF else ():
        assert largest_loss(q, "add-remove", **planted) > 1.1


def test_which_draws_flip():
    few, many = lattice(0.0, 5.0, Fraction(1)), lattice(0.0, 5.0, Fraction(5, FLIPPED))
    for numbers, loss in (few, Pure(1)), (few, ZCDP(1)), (many, Pure(1)), (None, Pure(1)):
        made = ExponentialQuantile(0.0, 5.0, "replace", "raise", loss, False, numbers, q=HALF)
        assert made.flips == (numbers is few and loss == Pure(1))
        assert (type(made.loss) is Draws) == (not made.flips and loss == Pure(1))
        assert made.base.total == 6 or not made.flips


STEPS = [Fraction(1), Fraction(1, 4), Fraction(1, 100), Fraction(7, 3), Fraction(1, 3)]
AGES = np.repeat(np.arange(18.0, 91), 400)
DAYS = np.arange("2024-01-01", "2024-02-01", dtype="M8[D]")


@quick_rows(3)
@pytest.mark.parametrize("step", STEPS, ids=str)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u2", "i8", "u8"])
def test_rows_are_on_the_nearest_multiple(dtype, step):
    lo, hi = -9.5, 120.0
    if dtype[0] == "f":
        near = np.array([k * float(step) / 2 for k in range(-100, 120)])
        far = [-np.inf, np.inf, -1e30, 1e30]
        values = np.concatenate([near, np.nextafter(near, 9e9), np.nextafter(near, -9e9), far])
    else:
        info = np.iinfo(dtype)
        few = np.random.default_rng(0).integers(max(info.min, -200), min(info.max, 300), 200)
        values = np.array([info.min, info.max, *few.tolist()], dtype)
    values = np.sort(values.astype(dtype))
    made = lattice(lo, hi, step)
    first, last = math.ceil(Fraction(lo) / step), math.floor(Fraction(hi) / step)
    assert (made.first, made.last) == (first, last)
    cells = range(first, last + 1)
    assert [made.value(k) for k in cells] == [float(k * step) for k in cells]
    edges = [float((k + Fraction(1, 2)) * step) for k in cells[:-1]]
    wanted = [first + sum(x >= edge for edge in edges) for x in values.tolist()]
    assert made.cells(values).tolist() == wanted


def test_bounds_are_among_the_multiples():
    """0.7 as a bound is a little less than seven tenths, and 0.3 as well, and 0.1 a little more."""
    given = {"epsilon": 50, "granularity": 0.1, "method": "exponential"}
    assert dp.median(np.full(900, 0.7), bounds=(0, 0.7), **given) == 0.7
    assert dp.median(np.full(900, 0.1), bounds=(0.1, 0.9), **given) == 0.1
    assert dp.median(np.full(900, 0.1), bounds=(0.3, 0.3), **given) == 0.3
    for k in range(1, 10_000, 3):
        made = lattice(k / 100, 100.0, Fraction(1, 100)), lattice(-1.0, k / 100, Fraction(1, 100))
        assert (made[0].first, made[1].last) == (k, k)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_draws_have_the_law_of_the_lattice(neighbors):
    """Rows of halves and thirds among whole numbers, each as the nearest one."""
    data = [0.2, 3.5, 3.4, *np.linspace(7.6, 8.4, 9), *np.linspace(8.6, 9.4, 7), 11.9]
    loss, step = ZCDP(Fraction(1, 8)), lattice(0.0, 12.0, Fraction(1))
    made = ExponentialQuantile(0.0, 12.0, neighbors, "raise", loss, False, step, q=HALF)
    assert made.base.uniform == 1 and not made.base.above and made.cells == (0, 12)
    found, aim = drawn_by(made, data, 3000), made.params
    rows, floors = [math.floor(x + 0.5) for x in data], list(map(int, data))
    # Planted: rows at or next below, and ties that have all their ranks.
    for given, ties, fits in (rows, aim.ties, True), (floors, aim.ties, False), (rows, 0, False):
        pmf = reference.column(given, HALF, made.rate, 12, aim.share, ties=ties)
        assert (p_value(found, likely(pmf)) > LEVEL) == fits


WAYS = ("smooth", "exponential")


@pytest.mark.parametrize("granularity", [1, 0.25, Decimal("0.01"), Fraction(1, 3)])
def test_all_answers_are_multiples(granularity):
    step = Fraction(str(granularity)) if isinstance(granularity, float) else Fraction(granularity)
    given = {"bounds": (0, 120), "granularity": granularity}
    answers = [
        *(dp.median(AGES, epsilon=e, method=m, **given) for e in (0.1, 9) for m in WAYS),
        *dp.quantiles(AGES, [0.1, 0.5], epsilon=0.3, **given),
        *dp.quantiles(AGES[:900], [0.1, 0.5], epsilon=0.3, method="joint", **given),
        dp.minimum(AGES, epsilon=0.3, **given),
        dp.maximum(AGES, epsilon=0.3, method="smooth", **given),
        *(
            dp.iqr(AGES[::7], epsilon=1, method=m, **given)
            for m in ("smooth", "recursive", "joint")
        ),
    ]
    assert set(answers) <= {float(k * step) for k in range(int(120 / step) + 1)}


@pytest.mark.parametrize(("granularity", "kw", "text"), [
    (Fraction(1, 2**60), {}, "larger number"),
    (50, {}, "a multiple within the bounds"), (1e-12, {}, "at most 2.*multiples"),
    (1, {"bounds": "auto"}, "bounds='auto'"),
    (1, {"bounds": (DAYS[0], DAYS[-1])}, "left out for times"),
])  # fmt: skip
def test_bad_numbers_are_refused_before_the_spend(granularity, kw, text):
    data = DAYS if "times" in text else AGES
    kw = {"data": data, "bounds": (10, 20), "epsilon": 0.5, "granularity": granularity, **kw}
    for call in (dp.median, dp.minimum, dp.iqr, functools.partial(dp.quantiles, qs=[0.1])):
        refused(call, text, **kw)


WHOLE = np.random.default_rng(4).integers(-40, 80, 900)


def test_integers_have_integers_as_answers(tmp_path):
    """By the type of the column, whatever the method, and never by its values."""
    np.save(tmp_path / "x.npy", WHOLE)
    given = {"bounds": (-50.5, 90), "epsilon": 2.0}
    for data in (WHOLE, WHOLE.astype("i1"), dp.scan(tmp_path / "x.npy")):
        found = [
            *(dp.quantile(data, 0.3, method=method, **given) for method in WAYS),
            *dp.quantiles(data, [0.1, 0.5], **given),
            *(call(data, **given) for call in (dp.minimum, dp.iqr)),
            dp.median(data, bounds="auto", epsilon=5.0),
        ]
        assert all(answer == int(answer) for answer in found), found
    several = dp.median(np.stack([WHOLE, 9 * WHOLE], axis=1), axis=0, **given)
    assert (several % 1 == 0).all()
    # Noise of which a multiple of 1 is as good as never.
    assert dp.quantile(WHOLE.astype(float), 0.3, method="smooth", **given) % 1
    measured = dp.Median(bounds=(-50, 90)).measure(epsilon=2, dtype="i8")
    assert measured(WHOLE) % 1 == 0
    for low, high in ((0.2, 0.7), (-1e18, 1e18)):  # none, and too many
        assert low <= dp.median(WHOLE, bounds=(low, high), epsilon=1) <= high
