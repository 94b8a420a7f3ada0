"""The public quantiles: which mechanism is meant, what is charged, and the base measure."""

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction as F

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.noise.grid import Base, public_grid
from dpfast.statistics.arguments import Arguments
from dpfast.statistics.quantiles.api import many, one
from dpfast.statistics.quantiles.draws import Column, choose, divide
from dpfast.statistics.quantiles.exponential import ExponentialQuantile
from dpfast.statistics.quantiles.joint import JointQuantiles
from dpfast.statistics.quantiles.recursive import RecursiveQuantiles
from dpfast.statistics.quantiles.smooth import SmoothQuantile
from dpfast.summaries.order import Ranks

from ..reference.statistics import exponential_quantiles as reference
from ..reference.statistics import recursive_quantiles as recursive
from ..support.pairwise import quick_rows
from .test_exponential_quantiles import LEVEL, p_value


def rng(seed=0):
    return dp.rng.InsecureGenerator(seed)


def kind(method="auto", noise="auto", **loss):
    asked = {"epsilon": None, "delta": 0, "rho": None, **loss}
    return type(one(0.5, (0, 1), *asked.values(), "replace", noise, method, "raise", False))


# --- which mechanism ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "loss, chosen",
    [
        ({"epsilon": 0.01}, ExponentialQuantile),
        ({"epsilon": 0.999}, ExponentialQuantile),
        ({"epsilon": 1}, SmoothQuantile),
        ({"epsilon": 50}, SmoothQuantile),
        ({"epsilon": 0.5, "delta": 1e-6}, ExponentialQuantile),
        ({"epsilon": 1.5, "delta": 1e-6}, SmoothQuantile),
        ({"rho": 0.399}, ExponentialQuantile),
        ({"rho": 0.4}, SmoothQuantile),
    ],
    ids=str,
)
def test_auto_goes_by_the_loss_alone(loss, chosen):
    assert kind(**loss) is chosen
    assert kind("smooth", **loss) is SmoothQuantile
    assert kind("exponential", **loss) is kind("exponential-round", **loss) is ExponentialQuantile
    assert kind(noise="cauchy", **loss) is SmoothQuantile, "who names a distribution wants noise"


@pytest.mark.full
@quick_rows(4)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("loss", [{"epsilon": 0.1}, {"epsilon": 12}, {"rho": 0.004}, {"rho": 9}])
def test_auto_is_about_the_better_of_the_two(neighbors, loss):
    """Far from where they cross, on evenly and on unevenly spaced values."""
    # The even values have an odd middle: the exponential mechanism has a liking for 0.5.
    for data in (
        np.linspace(0.0137, 0.9211, 2001),
        np.random.default_rng(1).exponential(0.2, 2001),
    ):
        options, errors = {"bounds": (-4, 4), "neighbors": neighbors, **loss}, {}
        for method in ("auto", "smooth", "exponential-round"):
            got = [dp.median(data, method=method, rng=rng(s), **options) for s in range(120)]
            errors[method] = np.median(np.abs(np.array(got) - np.median(data)))
        assert errors["auto"] == min(errors["smooth"], errors["exponential-round"])
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


@pytest.mark.parametrize("method", ["exponential", "exponential-round"])
def test_noise_has_no_place_where_none_is_added(method):
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
        asked = Arguments((0, 1), 1, 0, None, "replace", method=name)
        assert isinstance(many([0.5], asked, False), kind)


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
    for method in ("smooth", "exponential", "exponential-round"):
        got = dp.median(data, bounds=(-10, 10), epsilon=0.5, method=method)
        assert abs(got - np.median(data)) < 0.01
    for method in ("recursive", "joint"):
        got = dp.quantiles(data, [0.25, 0.5], bounds=(-10, 10), epsilon=0.5, method=method)
        assert np.abs(got - np.quantile(data, [0.25, 0.5])).max() < 0.05


# --- the base measure ---------------------------------------------------------------------------


def weights(first, last, levels):
    return {
        cell: sum(2**k for k in range(levels + 1) if cell % 2**k == 0)
        for cell in range(first, last + 1)
    }


@quick_rows(9)
@pytest.mark.parametrize("first, last", [(-5, 9), (0, 0), (1, 63), (-64, -1), (-100, 37), (7, 8)])
@pytest.mark.parametrize("levels", [None, 0, 1, 3])
def test_the_base_by_definition(first, last, levels):
    base = Base(first, last, levels)
    want = weights(first, last, base.levels)
    assert base.total == sum(want.values())
    for a in range(first, last + 1):
        for b in range(a, last + 1):
            got = base.mass(np.array([a]), np.array([b]))[0]
            assert got == sum(want[cell] for cell in range(a, b + 1))


def test_the_base_of_a_real_grid():
    for lo, hi in [(0, 120), (-1e6, 3), (1e15, 1e15 + 8), (0.1, 0.3), (-1e308, 0)]:
        grid = public_grid(lo, hi)
        first, last = math.ceil(F(lo) / F(grid)), math.floor(F(hi) / F(grid))
        base = Base(first, last)
        assert base.total < 2**50
        assert base.total <= 2 * (base.levels + 1) * (last - first + 1)
        middle = (first + last) // 2
        parts = base.mass(np.array([first, middle + 1]), np.array([middle, last]))
        assert parts.sum() == base.total
        # An interval of a 2**-20th of the range keeps its share, but for a factor levels + 1.
        length = (last - first) >> 20
        if length:
            part = int(base.mass(np.array([middle]), np.array([middle + length - 1]))[0])
            assert part * (last - first + 1) * (base.levels + 1) > base.total * length / 2


def test_cells_are_drawn_by_their_weight():
    base, draws = Base(-9, 30), 40_000
    want = {c: w for c, w in weights(-9, 30, base.levels).items() if -3 <= c <= 20}
    stream = rng(2).stream()
    seen = Counter(base.draw(-3, 20, base.weight(-3, 20), stream) for _ in range(draws))
    assert p_value(seen, {c: w / sum(want.values()) for c, w in want.items()}) > LEVEL
    assert p_value(seen, dict.fromkeys(want, 1 / len(want))) < LEVEL


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_tie_is_found(neighbors):
    """Ages: billions of cells between two of them, and yet the median year is the likeliest."""
    ages = np.random.default_rng(3).integers(17, 91, 30_000)
    middle = np.sort(ages)[14_999]
    options = {"bounds": (0, 120), "epsilon": 0.2, "neighbors": neighbors}
    got = [dp.median(ages, method="exponential-round", **options) for _ in range(60)]
    assert np.mean(np.array(got) == middle) > 0.8
    options["epsilon"] = 0.05  # where few rows are as nothing against billions of cells
    for method, low, high in (("exponential", 0, 0.1), ("exponential-round", 0.15, 1)):
        got = [dp.median(ages, method=method, **options) for _ in range(60)]
        assert low <= np.mean(np.array(got) == middle) <= high


def based(data, target, c, first, last, levels, parts=None):
    """{cell, or (cell, part)}: probability, by definition."""
    q, found = target / len(data), {}
    rows = [(math.floor(x), 1) for x in data]  # every row is put on a cell
    base = weights(first, last, levels)
    for cell in range(first, last + 1):
        if parts is None:
            found[cell] = base[cell] * math.exp(-c * reference.utilities(rows, q, [cell])[0])
        else:
            u = recursive.divided_utilities(rows, q, [cell], parts)
            found |= {(cell, j): base[cell] * math.exp(-c * x) for j, x in enumerate(u)}
    total = math.fsum(found.values())
    return {k: w / total for k, w in found.items()}


@quick_rows(1)
@pytest.mark.parametrize("cut", [1.0, 28.0])
def test_draws_of_one_quantile_have_the_base(cut):
    """With windows that leave most of the rows out, too: then cells of a lump are drawn."""
    data, c, target = [1.0, 2.5, 4.0, 4.0, 4.5, 6.0, 7.5, 9.0], 0.5, F(3)
    column = Column(Ranks(np.array(data)), 0.0, 10.0, 1.0, Base(0, 10))
    pmf = based(data, target, c, 0, 10, column.base.levels)
    stream = rng(5).stream()
    seen = Counter(choose(column, target, c, (0, 10), stream, cut=cut) for _ in range(6000))
    assert p_value(seen, pmf) > LEVEL
    assert p_value(seen, based(data, target, c, 0, 10, 0)) < LEVEL


@pytest.mark.full
@pytest.mark.parametrize("cut", [1.0, 28.0])
def test_draws_that_divide_the_rows_have_the_base(cut):
    data, c, target, parts = [1.0, 2.5, 4.0, 4.0, 4.0, 4.0, 4.0, 6.0], 0.5, F(3), 3
    column = Column(Ranks(np.array(data)), 0.0, 7.0, 1.0, Base(0, 7))
    pmf = based(data, target, c, 0, 7, column.base.levels, parts)
    stream, seen = rng(6).stream(), Counter()
    ends = F(0), F(len(data))
    for _ in range(6000):
        cell, p = divide(column, target, c, (0, 7), ends, stream, parts=parts, cut=cut)
        less, leq = sum(x < cell for x in data), sum(x < cell + 1 for x in data)
        j = int((p - less) / (leq - less) * parts) if leq > less else None
        seen[cell, j] += 1
    for (cell, j), count in list(seen.items()):
        if j is None:  # without rows the parts are alike
            seen[cell, 0] += count
            del seen[cell, None]
    merged = {}
    for (cell, j), p in pmf.items():
        key = (cell, j if cell in map(math.floor, data) else 0)
        merged[key] = merged.get(key, 0) + p
    assert p_value(seen, merged) > LEVEL


def test_one_quantile_is_not_many():
    """An epsilon that is too small for one median is not said to be so for their number."""
    for epsilon in (5e-324, Decimal("1e-400")):
        with pytest.raises(ArgumentError, match="epsilon must be larger") as caught:
            dp.median([1.0], bounds=(0, 1), epsilon=epsilon)
        assert "quantiles" not in str(caught.value) and "draws" not in str(caught.value)
    with pytest.raises(ArgumentError, match="larger for 2 draws that share it"):
        dp.quantiles([1.0], [0.3, 0.6], bounds=(0, 1), epsilon=5e-324)
