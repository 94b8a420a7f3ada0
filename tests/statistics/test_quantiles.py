"""The public quantiles: which mechanism is meant, what is charged, and the base measure."""

import math
from bisect import bisect_right
from collections import Counter
from decimal import Decimal
from fractions import Fraction as F
from itertools import combinations_with_replacement

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.noise.grid import Base, public_grid
from dpfast.privacy import Pure
from dpfast.statistics.quantiles import recursive
from dpfast.statistics.quantiles.draws import PARTS, Aim, Column, draw
from dpfast.statistics.quantiles.exponential import ExponentialQuantile
from dpfast.statistics.quantiles.joint import JointQuantiles
from dpfast.statistics.quantiles.recursive import RecursiveQuantiles
from dpfast.statistics.quantiles.smooth import SmoothQuantile
from dpfast.summaries.order import Ranks

from ..reference.noise import base as twin
from ..reference.statistics import exponential_quantiles as reference
from ..support.pairwise import quick_rows
from ..support.views import innermost
from .test_exponential_quantiles import LEVEL, p_value


def rng(seed=0):
    return dp.rng.InsecureGenerator(seed)


def kind(method="auto", noise="auto", **loss):
    median = dp.Median(bounds=(0, 1), method=method, noise=noise)
    return type(innermost(median.measure(unit="replace", **loss).inner))


# --- which mechanism ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "loss, chosen",
    [
        ({"epsilon": 0.01}, ExponentialQuantile),
        ({"epsilon": 11.999}, ExponentialQuantile),
        ({"epsilon": 12}, SmoothQuantile),
        ({"epsilon": 50}, SmoothQuantile),
        ({"epsilon": 0.5, "delta": 1e-6}, ExponentialQuantile),
        ({"epsilon": 12.5, "delta": 1e-6}, SmoothQuantile),
        ({"rho": 7.999}, ExponentialQuantile),
        ({"rho": 8}, SmoothQuantile),
    ],
    ids=str,
)
def test_auto_goes_by_the_loss_alone(loss, chosen):
    assert kind(**loss) is chosen
    assert kind("smooth", **loss) is SmoothQuantile
    assert kind("exponential", **loss) is ExponentialQuantile
    assert kind(noise="cauchy", **loss) is SmoothQuantile, "who names a distribution wants noise"


@pytest.mark.full
@quick_rows(4)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("loss", [{"epsilon": 0.1}, {"epsilon": 12}, {"rho": 0.004}, {"rho": 90}])
def test_auto_is_about_the_better_of_the_two(neighbors, loss):
    """Far from where they cross, on evenly and on unevenly spaced values."""
    # The even values have an odd middle: the exponential mechanism has a liking for 0.5.
    for data in (
        np.linspace(0.0137, 0.9211, 2001),
        np.random.default_rng(1).exponential(0.2, 2001),
    ):
        options, errors = {"bounds": (-4, 4), "neighbors": neighbors, **loss}, {}
        for method in ("auto", "smooth", "exponential"):
            got = [dp.median(data, method=method, rng=rng(s), **options) for s in range(120)]
            errors[method] = np.median(np.abs(np.array(got) - np.median(data)))
        assert errors["auto"] <= 1.2 * min(errors["smooth"], errors["exponential"])
        assert max(errors.values()) > 2 * errors["auto"], "and it makes a difference"


def test_what_is_charged():
    budget = dp.Budget(epsilon=1, delta=1e-6)
    dp.median([1.0], bounds=(0, 1), epsilon=0.5, delta=1e-6, budget=budget)
    assert budget.spent == {"epsilon": F(1, 2), "delta": 0}
    dp.quantiles([1.0], [0.1, 0.9, 0.5], bounds=(0, 1), epsilon=0.25, budget=budget)
    dp.quantiles([1.0], [0.1, 0.9], bounds=(0, 1), epsilon=0.25, method="joint", budget=budget)
    assert budget.spent == {"epsilon": 1, "delta": 0}
    budget = dp.Budget(rho=1)
    dp.median([1.0], bounds=(0, 1), rho=0.1, budget=budget)
    dp.quantiles([1.0], [0.1, 0.9], bounds=(0, 1), rho=0.3, budget=budget)
    assert budget.spent == {"rho": F(4, 10)}


def test_noise_has_no_place_where_none_is_added():
    method = "exponential"
    with pytest.raises(ArgumentError, match=f"noise must be left out with method='{method}'"):
        dp.median([1.0], bounds=(0, 1), epsilon=0.5, method=method, noise="cauchy")
    near = (1e300, 1e300 * (1 + 2**-52))
    assert dp.median([1.0], bounds=near, epsilon=0.5, method=method) in near  # two are enough


#: What `test_conformance` does not try.
BAD = [{0.5}, np.array(0.5), np.array([[0.5]]), [-0.1], [float("nan")], [True], [None]]


@pytest.mark.parametrize("qs", BAD, ids=repr)
@pytest.mark.parametrize("method", ["recursive", "joint"])
def test_bad_lists_of_quantiles(qs, method):
    budget = dp.Budget(epsilon=1)
    with pytest.raises((ArgumentError, ArgumentTypeError), match="qs"):
        dp.quantiles([1.0], qs, bounds=(0, 1), epsilon=1, method=method, budget=budget)
    assert budget.spent["epsilon"] == 0


def test_the_method_of_quantiles_is_that_of_its_name():
    for name, kind in {"recursive": RecursiveQuantiles, "joint": JointQuantiles}.items():
        statistic = dp.Quantiles(qs=[0.5], bounds=(0, 1), method=name)
        assert isinstance(innermost(statistic.measure(epsilon=1, unit="replace").inner), kind)


@pytest.mark.parametrize("method", ["recursive", "joint"])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_quantiles_in_any_order_with_duplicates(method, neighbors):
    data = np.random.default_rng(0).permutation(np.linspace(0, 1, 40_001))
    qs = [0.9, 0.1, F(1, 3), 0.9, 0, 1]
    options = {"bounds": (-1, 2), "neighbors": neighbors, "method": method}
    got = dp.quantiles(data, qs, epsilon=4, rng=rng(1), **options)
    assert got.shape == (6,) and got.dtype == np.float64
    assert (np.diff(got[np.argsort([float(q) for q in qs], kind="stable")]) >= 0).all()
    assert np.abs(got - [float(q) for q in qs])[:4].max() < 5e-3
    other = dp.quantiles(data, np.array([0.25, 0.75], np.float32), rho=1, rng=rng(1), **options)
    assert np.abs(other - [0.25, 0.75]).max() < 5e-3


def test_the_rivals_crash_is_answered():
    """A known library's quantile underflows for these: many rows, whatever the epsilon."""
    data = np.random.default_rng(0).normal(size=100_000)
    for method in ("smooth", "exponential"):
        got = dp.median(data, bounds=(-10, 10), epsilon=0.5, method=method, rng=rng(1))
        assert abs(got - np.median(data)) < 0.01
    for method in ("recursive", "joint"):
        got = dp.quantiles(data, [0.25, 0.5], bounds=(-10, 10), epsilon=0.5, method=method)
        assert np.abs(got - np.quantile(data, [0.25, 0.5])).max() < 0.05


# --- the base measure ---------------------------------------------------------------------------


WIDE = [(-5, 2300), (0, 2047), (1, 4000), (-9000, -1), (-3000, 3100), (70_000, 73_000)]


@quick_rows(8)
@pytest.mark.parametrize("first, last", [*WIDE, (0, 0), (7, 8)])
@pytest.mark.parametrize("grid", [None, 1.0, 0.125, 2.0**70])
@pytest.mark.parametrize("q", [F(1, 2), F(9, 10), F(0)])
def test_the_base_by_definition(first, last, grid, q):
    base = Base(first, last, grid, q)
    want = twin.weights(base, first, last)
    assert base.total == sum(want.values())
    cells = np.arange(first, last + 1)
    assert base.mass(cells, cells).tolist() == list(want.values())
    assert (base.mass(np.full(len(cells), first), cells) == np.cumsum(list(want.values()))).all()
    for a, b in np.random.default_rng(1).integers(first, last + 1, (20, 2)).tolist():
        a, b = min(a, b), max(a, b)
        assert base.weight(a, b) == sum(want[cell] for cell in range(a, b + 1))
    if grid is None or last - first < 2047:
        assert set(want.values()) == {1}


@pytest.mark.parametrize(("q", "share"), [(F(1, 2), 2.1), (F(1, 10), 4.2), (F(1), 6), (F(0), 6)])
def test_the_base_of_a_real_grid(q, share):
    for lo, hi in [(0, 120), (-1e6, 3), (1e15, 1e15 + 8), (0.1, 0.3), (-1e308, 0), (0, 5e-300)]:
        grid = public_grid(lo, hi)
        first, last = math.ceil(F(lo) / F(grid)), math.floor(F(hi) / F(grid))
        base, cells = Base(first, last, grid, q), last - first + 1
        assert base.total < 2**52
        middle = (first + last) // 2
        parts = base.mass(np.array([first, middle + 1]), np.array([middle, last]))
        assert parts.sum() == base.total
        # Any interval keeps a part of its share, and no cell has more than a 100th of all.
        for start in np.linspace(first, last - 1, 50).astype(int).tolist():
            for length in (1, 9, cells >> 20, cells >> 6):
                end = min(start + max(length, 1), last)
                part = base.weight(start, end - 1)
                assert share * part * cells > base.total * (end - start)
        for cell in {first, middle, min(max(first, 0), last)}:
            assert cells < 1 << 30 or 100 * base.weight(cell, cell) < base.total


def test_high_quantiles_prefer_what_is_near_0_on_the_upper_side():
    last, grid = (1 << 30) - 1, 2.0**-20
    for q, share in ((F(9, 10), 1 / 2), (F(3, 4), 5 / 16), (F(1), 5 / 8)):
        for first in (0, -1 - last):
            base, low = Base(first, last, grid, q), Base(-1 - last, -1 - first, grid, 1 - q)
            usual = Base(first, last, grid)
            near = last >> 8  # half of the octaves
            more = base.weight(0, near) / base.total - usual.weight(0, near) / usual.total
            assert abs(more - share * 9 / 17) < 0.04 * share
            assert abs(low.weight(-1 - near, -1) / base.weight(0, near) - 1) < 1e-3
            assert base.weight(first, -1) <= usual.weight(first, -1)  # and nothing on the other
    tiny = Base(-3, last, grid, F(1, 10))  # where hardly a cell is no half of them is
    assert tiny.weight(-3, -1) < tiny.total / 1000


def test_each_of_several_quantiles_has_the_base_of_its_own(monkeypatch):
    seen, qs = {}, (F(1, 10), F(1, 2), F(9, 10))

    def drawn(column, *given, **more):
        seen[column.base] = column.base.above, column.base.below
        return draw(column, *given, **more)

    monkeypatch.setattr(recursive, "draw", drawn)
    dp.quantiles(np.arange(100.0), qs, bounds=(0, 1e6), epsilon=1, method="recursive")
    grid = public_grid(0, 1e6)
    want = [Base(0, int(1e6 / grid), grid, q) for q in qs]
    assert sorted(seen.values()) == sorted((one.above, one.below) for one in want)
    assert len(set(seen.values())) == 3


def worst_of_bases(base_of):
    """The largest log-ratio of a high quantile of two neighbors, over all its cells."""
    made = ExponentialQuantile(0.0, 1.0, "add-remove", "raise", Pure(2.0), q=F(9, 10))
    q, worst = F(made.aim.place, PARTS), 0.0
    laws = {}
    for size in range(3):
        for data in combinations_with_replacement((0, 3, 700, 2047), size):
            given = list(base_of(data).values())
            laws[data] = reference.column(data, q, made.rate, 2047, made.aim.share, given)
    for data in laws:
        for row in set(data):
            fewer = list(data)
            fewer.remove(row)
            worst = max(worst, np.abs(laws[data] - laws[tuple(fewer)]).max())
    return worst


@pytest.mark.full
def test_no_neighbors_tell_a_high_quantile_by_more_than_the_loss():
    public = twin.weights(Base(0, 2047, 1.0, F(9, 10)), 0, 2047)
    assert 1.4 < worst_of_bases(lambda data: public) <= 2 * (1 + 1e-12)
    by_rows = [twin.weights(Base(0, 2047, 1.0, q), 0, 2047) for q in (F(1, 2), F(9, 10))]
    assert worst_of_bases(lambda data: by_rows[3 in data]) > 2  # the planted fault


def test_round_numbers_weigh_more():
    grid = public_grid(0, 1000)
    base = Base(0, math.floor(1000 / grid), grid)

    def weight(x):
        cell = math.floor(F(str(x)) / F(grid))
        return base.weight(cell, cell) / base.each

    assert weight(256) > 1e6 and weight(300) > 1e6 and weight("0.1") > 100  # of a plain cell
    assert weight("300.01") > 1e4 and weight("300.0123456") < 2 and weight(1 / 3) < 100


@pytest.mark.full
def test_cells_are_drawn_by_their_weight():
    base, draws = Base(-9, 2300, 1.0), 40_000
    assert base.above and base.zero and len(base.spacing)
    want = {c: w for c, w in twin.weights(base, -9, 2300).items() if -3 <= c <= 40}
    stream = rng(2).stream()
    seen = Counter(base.draw(-3, 40, base.weight(-3, 40), stream) for _ in range(draws))
    assert p_value(seen, {c: w / sum(want.values()) for c, w in want.items()}) > LEVEL
    assert p_value(seen, dict.fromkeys(want, 1 / len(want))) < LEVEL


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_tie_is_found(neighbors):
    """Ages: billions of cells between two of them, and yet the median year is the likeliest."""
    ages = np.random.default_rng(3).integers(17, 91, 30_000)
    middle = np.sort(ages)[14_999]
    options = {"bounds": (0, 120), "epsilon": 0.2, "neighbors": neighbors}
    got = [dp.median(ages, method="exponential", **options) for _ in range(60)]
    assert np.mean(np.array(got) == middle) > 0.8  # each is with 0.998: binomial, 1e-22
    options["epsilon"] = 0.05  # where few rows are as nothing against billions of cells
    got = [dp.median(ages, method="exponential", **options) for _ in range(300)]
    assert middle in got  # each answer is with a chance of 0.09; fails: 0.91**300 < 1e-12


DATA = [400.0, 700.5, 6901.0, 6901.0, 7004.0, 9200.0, 11_500.5, 15_999.0]
LAST = (1 << 14) - 1
#: Where bins of cells begin: those of the rows, and parts of the gaps.
BINS = sorted({*map(int, DATA), *(int(x) + 1 for x in DATA), 900, 1200, 2000, 4000})


def in_bins(pmf):
    """The probabilities, or counts, of bins of cells; some numbers are round."""
    found = Counter()
    for cell, p in pmf.items():
        found[bisect_right(BINS, cell), cell % 16 == 0, cell % 10 == 0] += p
    return found


#: The draw of a median, at a rate of 0.8.
STEP = Aim(PARTS // 2, 0, 0.8, 1 << 17)


@pytest.mark.full
@pytest.mark.parametrize("cut", [1.0, 28.0])
def test_draws_of_one_quantile_have_the_base(cut):
    """With windows that leave most of the rows out, too: then cells of a lump are drawn."""
    n, base = len(DATA), Base(0, LAST, 1.0)
    column = Column(Ranks(np.array(DATA)), 0.0, float(LAST), 1.0, base)
    rows = [(math.floor(x), 1) for x in DATA]

    def law(weights):
        log = reference.leaf(rows, (0, LAST), F(n, 2), STEP.rate, STEP.share, weights)
        return in_bins(dict(enumerate(np.exp(log))))

    ends, stream = column.ends(n), rng(5).stream()
    seen = in_bins(Counter(draw(column, ends, STEP, n, stream, cut=cut).cell for _ in range(3000)))
    assert p_value(seen, law(twin.weights(base, 0, LAST))) > LEVEL
    assert p_value(seen, law(dict.fromkeys(range(LAST + 1), 1))) < LEVEL


@pytest.mark.full
@pytest.mark.parametrize("cut", [1.0, 28.0])
def test_draws_that_divide_the_rows_have_the_base(cut):
    data = [x if x < 6901 or x > 7004 else 6901.0 for x in DATA]
    n, parts, base = len(data), 12, Base(0, LAST, 1.0)
    column = Column(Ranks(np.array(data)), 0.0, float(LAST), 1.0, base)
    rows = [(math.floor(x), 1) for x in data]
    on = {x for x, _ in rows}
    ends, stream, law, seen = column.ends(n), rng(6).stream(), Counter(), Counter()

    def key(cell, third):  # without rows the parts are alike
        return bisect_right(BINS, cell), third if cell in on else 0

    weights = twin.weights(base, 0, LAST)
    log = reference.divided(rows, (0, LAST), F(n, 2), STEP.rate, STEP.share, parts, weights)
    for i, p in enumerate(np.exp(log)):
        law[key(i // parts, i % parts * 3 // parts)] += p
    for _ in range(3000):
        end = draw(column, ends, STEP, n, stream, divides=True, cut=cut)
        seen[key(end.cell, end.part * 3 // PARTS)] += 1
    assert p_value(seen, law) > LEVEL


@pytest.mark.parametrize(
    ("kind", "rows", "qs", "given"),
    [
        (JointQuantiles, 100, [0.5, 0.2], {"epsilon": 1}),
        (JointQuantiles, 100, [0.5, 0.2, 0.5], {"rho": 0.1}),
        (JointQuantiles, 200, [0.5, 0.2], {"epsilon": 1}),
        (RecursiveQuantiles, 201, [0.5, 0.2], {"epsilon": 1}),
        (RecursiveQuantiles, 100, [0.5, 0.2], {"epsilon": 4}),
        (RecursiveQuantiles, 100, [0.5], {"epsilon": 1}),
        (RecursiveQuantiles, 100, [i / 11 for i in range(1, 11)], {"epsilon": 1}),
        (RecursiveQuantiles, 100, [0.5, 0.2], {"epsilon": 1e-12}),
        (RecursiveQuantiles, 100, [0.5, 0.2], {"epsilon": 1, "neighbors": "add-remove"}),
        (RecursiveQuantiles, 100, [0.5, 0.2], {"epsilon": 1, "where": np.ones(100, bool)}),
        (RecursiveQuantiles, 100, [0.5, 0.2], {"epsilon": 1, "method": "recursive"}),
        (JointQuantiles, 1000, [0.5, 0.2], {"epsilon": 9, "method": "joint"}),
    ],
)
def test_auto_goes_by_public_numbers(kind, rows, qs, given):
    given = {"neighbors": "replace", **given}
    statistic = dp.Quantiles(qs=qs, bounds=(0, 1), method=given.pop("method", "auto"))
    for data in (np.zeros(rows), np.linspace(0, 1, rows)):
        prepared = statistic.prepare(data, **given)
        assert type(innermost(prepared.mechanism)) is kind
        assert len(prepared.run()) == len(qs)


def test_a_measurement_chooses_before_it_is_called():
    """What is charged was said before there were rows: so is the method."""
    statistic = dp.Quantiles(qs=[0.5, 0.2], bounds=(0, 1))
    for rows, kind in ((None, RecursiveQuantiles), (100, JointQuantiles)):
        measured = statistic.measure(rho=0.1, unit="replace", rows=rows)
        prepared = measured.prepare(np.zeros(100))
        assert type(innermost(prepared.mechanism)) is kind
        assert prepared.mechanism.loss == measured.loss


def test_one_quantile_is_not_many():
    """An epsilon that is too small for one median is not said to be so for their number."""
    for epsilon in (5e-324, Decimal("1e-400")):
        with pytest.raises(ArgumentError, match="epsilon must be larger") as caught:
            dp.median([1.0], bounds=(0, 1), epsilon=epsilon)
        assert "quantiles" not in str(caught.value) and "draws" not in str(caught.value)
    with pytest.raises(ArgumentError, match="larger for 2 draws that share it"):
        dp.quantiles([1.0], [0.3, 0.6], bounds=(0, 1), epsilon=5e-324)
