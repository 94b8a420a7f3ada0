"""The public quantiles: which mechanism is meant, what is charged, and the base measure."""

import math
from decimal import Decimal
from fractions import Fraction as F
from itertools import combinations_with_replacement, product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.noise.grid import Base, public_grid
from dpfast.privacy import Pure
from dpfast.statistics.quantiles import recursive
from dpfast.statistics.quantiles.draws import PARTS, draw
from dpfast.statistics.quantiles.exponential import ExponentialQuantile
from dpfast.statistics.quantiles.joint import JointQuantiles
from dpfast.statistics.quantiles.recursive import RecursiveQuantiles
from dpfast.statistics.quantiles.smooth import SmoothQuantile, grid_between

from ..reference.noise import base as twin
from ..reference.statistics import exponential_quantiles as reference
from ..support.pairwise import every_value, quick_rows
from ..support.refused import refused
from ..support.views import innermost
from .test_exponential_quantiles import near_pairs


def rng(seed=0):
    return dp.rng.InsecureGenerator(seed)


def kind(method="auto", noise="auto", **loss):
    median = dp.Median(bounds=(0, 1), method=method, noise=noise)
    return type(innermost(median.measure(unit="replace", **loss).inner))


@pytest.mark.parametrize("loss, chosen", [
    *(({"epsilon": epsilon}, ExponentialQuantile) for epsilon in (0.01, 11.999)),
    *(({"epsilon": epsilon}, SmoothQuantile) for epsilon in (12, 50)),
    ({"epsilon": 0.5, "delta": 1e-6}, ExponentialQuantile),
    ({"epsilon": 12.5, "delta": 1e-6}, SmoothQuantile), ({"rho": 7.999}, ExponentialQuantile),
    ({"rho": 8}, SmoothQuantile),
], ids=str)  # fmt: skip
def test_auto_goes_by_the_loss_alone(loss, chosen):
    assert kind(**loss) is chosen
    assert kind("smooth", **loss) is SmoothQuantile
    assert kind("exponential", **loss) is ExponentialQuantile
    assert kind(noise="cauchy", **loss) is SmoothQuantile, "who names a distribution wants noise"


def test_noise_has_no_place_where_none_is_added():
    method = "exponential"
    with pytest.raises(ArgumentError, match=f"noise must be left out with method='{method}'"):
        dp.median([1.0], bounds=(0, 1), epsilon=0.5, method=method, noise="cauchy")
    near = (1e300, 1e300 * (1 + 2**-52))
    assert dp.median([1.0], bounds=near, epsilon=0.5, method=method) in near  # two are enough


@pytest.mark.parametrize("method", ["recursive", "joint"])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_quantiles_in_any_order_with_duplicates(method, neighbors):
    data = np.random.default_rng(0).permutation(np.linspace(0, 1, 40_001))
    qs = [0.9, 0.1, F(1, 3), 0.9, 0, 1]
    options = {"bounds": (-1, 2), "neighbors": neighbors, "method": method, "rng": rng(1)}
    got = dp.quantiles(data, qs, epsilon=4, **options)
    assert got.shape == (6,) and got.dtype == np.float64
    assert (np.diff(got[np.argsort([float(q) for q in qs], kind="stable")]) >= 0).all()
    assert np.abs(got - [float(q) for q in qs])[:4].max() < 5e-3
    other = dp.quantiles(data, np.array([0.25, 0.75], np.float32), rho=1, **options)
    assert np.abs(other - [0.25, 0.75]).max() < 5e-3
    # A known library's quantile underflows for so many rows, whatever the epsilon.
    many, kw = np.random.default_rng(0).normal(size=100_000), {"bounds": (-10, 10), "epsilon": 0.5}
    got = dp.quantiles(many, [0.25, 0.5], method=method, **kw)
    assert np.abs(got - np.quantile(many, [0.25, 0.5])).max() < 0.05
    for one in ("smooth", "exponential"):
        assert abs(dp.median(many, method=one, rng=rng(1), **kw) - np.median(many)) < 0.01


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
    made = ExponentialQuantile(0.0, 1.0, "add-remove", "raise", Pure(2.0), q=F(9, 10))
    q, on, laws = F(made.params.fraction, PARTS), (0, 3, 700, 2047), {}
    for data in (data for size in range(3) for data in combinations_with_replacement(on, size)):
        given = list(base_of(data).values())
        laws[data] = reference.column(data, q, made.rate, 2047, made.params.share, given)
    return max(np.abs(laws[a] - laws[b]).max() for a, b in near_pairs(laws, "add-remove", on))


TWO = [0.5, 0.2]


@pytest.mark.full
def test_no_neighbors_tell_a_high_quantile_by_more_than_the_loss():
    public = twin.weights(Base(0, 2047, 1.0, F(9, 10)), 0, 2047)
    assert 1.4 < worst_of_bases(lambda data: public) <= 2 * (1 + 1e-12)
    by_rows = [twin.weights(Base(0, 2047, 1.0, q), 0, 2047) for q in (F(1, 2), F(9, 10))]
    assert worst_of_bases(lambda data: by_rows[3 in data]) > 2  # the planted fault


@pytest.mark.parametrize(("kind", "rows", "qs", "given"), [
    (JointQuantiles, 100, TWO, {"epsilon": 1}), (JointQuantiles, 200, TWO, {"epsilon": 1}),
    (JointQuantiles, 100, [*TWO, 0.5], {"rho": 0.1}),
    (JointQuantiles, 1000, TWO, {"epsilon": 9, "method": "joint"}),
    (RecursiveQuantiles, 201, TWO, {"epsilon": 1}), (RecursiveQuantiles, 100, TWO, {"epsilon": 4}),
    (RecursiveQuantiles, 100, [0.5], {"epsilon": 1}), (RecursiveQuantiles, None, TWO, {"rho": 0.1}),
    (RecursiveQuantiles, 100, [i / 11 for i in range(1, 11)], {"epsilon": 1}),
    (RecursiveQuantiles, 100, TWO, {"epsilon": 1e-12}),
    (RecursiveQuantiles, 100, TWO, {"epsilon": 1, "neighbors": "add-remove"}),
    (RecursiveQuantiles, 100, TWO, {"epsilon": 1, "where": np.ones(100, bool)}),
    (RecursiveQuantiles, 100, TWO, {"epsilon": 1, "method": "recursive"}),
])  # fmt: skip
def test_auto_goes_by_public_numbers(kind, rows, qs, given):
    """Of a measurement, too: what is charged was said before there were rows."""
    given = {"neighbors": "replace", **given}
    statistic = dp.Quantiles(qs=qs, bounds=(0, 1), method=given.pop("method", "auto"))
    for data in (np.zeros(rows or 100), np.linspace(0, 1, rows or 100)):
        calls = [statistic.prepare(data, **given)] if rows is not None else []
        if "where" not in given:
            loss = {name: given[name] for name in ("epsilon", "rho") if name in given}
            measured = statistic.measure(**loss, unit=given["neighbors"], rows=rows)
            calls.append(measured.prepare(data))
            assert calls[-1].mechanism.loss == measured.loss
        assert all(type(innermost(one.mechanism)) is kind for one in calls)
        assert len(calls[0].run()) == len(qs)


def test_one_quantile_is_not_many():
    """An epsilon that is too small for one median is not said to be so for their number."""
    for epsilon in (5e-324, Decimal("1e-400")):
        with pytest.raises(ArgumentError, match="epsilon must be larger") as caught:
            dp.median([1.0], bounds=(0, 1), epsilon=epsilon)
        assert "quantiles" not in str(caught.value) and "draws" not in str(caught.value)
    with pytest.raises(ArgumentError, match="larger for 2 draws that share it"):
        dp.quantiles([1.0], [0.3, 0.6], bounds=(0, 1), epsilon=5e-324)


GRID_OF_UNIT = 2.0**-40


def test_values_lie_on_a_public_grid_inside_the_bounds():
    """Neighbors with very different smooth sensitivities must have the same support."""
    kw = {"bounds": (0, 1), "epsilon": 0.5, "method": "smooth"}
    for data in (np.zeros(5), np.array([0, 0, 0.3, 0.9, 1]), np.array([]), np.array([0.123456789])):
        out = np.array([dp.median(data, **kw, rng=rng(seed)) for seed in range(400)])
        assert ((out >= 0) & (out <= 1)).all()
        assert (out / GRID_OF_UNIT == np.rint(out / GRID_OF_UNIT)).all()
        inner = out[(out > 0) & (out < 1)] / GRID_OF_UNIT
        assert len(inner) > 20
        assert 0.2 < np.mean(inner % 2) < 0.8, "odd multiples are as likely as even ones"
    # The control: noise added in floating point is off the grid.
    off = 0.123456789 + np.random.default_rng(0).laplace(size=100)
    assert (off / GRID_OF_UNIT != np.rint(off / GRID_OF_UNIT)).any()


@given(lo=st.floats(-1e300, 1e300), width=st.floats(0, 1e300), widest=st.floats(1e-300, 1e300))
def test_the_grid_is_a_usable_power_of_two(lo, width, widest):
    hi = lo + width
    if lo < hi:
        g = grid_between(lo, hi, max(widest, hi - lo))
        assert math.frexp(g)[0] == 0.5 and max(abs(lo), abs(hi)) / g <= 2.0**53


@pytest.mark.parametrize("epsilon", [50, 90, 110, 140, 500])
@pytest.mark.parametrize("bounds", [(0, 2.0**-930), (0, 1e-290), (-(2.0**-990), 2.0**-990)])
def test_a_noise_scale_never_underflows(bounds, epsilon):
    # S / alpha underflowed for close data and not for spread data: an error that told them apart.
    said, given = set(), {"bounds": bounds, "epsilon": epsilon, "noise": "cauchy"}
    for data in (np.full(2000, bounds[1] / 2), np.linspace(*bounds, 7), np.array(bounds)):
        budget = dp.Budget(epsilon=epsilon)
        try:
            statistic = dp.Median(bounds=bounds, noise="cauchy")
            mechanism = innermost(statistic.measure(epsilon=epsilon, unit="replace").inner)
            dp.median(data, budget=budget, **given)
        except ArgumentError as error:
            said.add(str(error))
            assert "apart" in str(error) and budget.remaining["epsilon"] == epsilon
        else:
            said.add("")
            assert mechanism.grid / mechanism.calibration.alpha >= 2.0**-1022
    assert len(said) == 1


def test_neighbors_use_the_same_randomness():
    """Record and replay: on any neighbor the release draws the same bits, in the same number."""
    seen, kind = set(), dp.rng.InsecureGenerator
    for changed, row in product((0.0, 0.5, 1.0), (0, 50, 100)):
        data, generator = np.linspace(0, 1, 101), rng(9)
        data[row] = changed
        with patch.object(kind, "stream", autospec=True, side_effect=kind.stream) as stream:
            dp.median(data, bounds=(0, 1), epsilon=1, method="smooth", rng=generator)
        seen.add((stream.call_count, generator.bytes(8)))
    assert len(seen) == 1


@every_value
@pytest.mark.parametrize("q", [0, 25, 99.9, F(200, 3), np.float32(12.5), np.array(50)])
@pytest.mark.parametrize("method", ["auto", "smooth", "exponential"])
def test_one_percentile_is_a_quantile(q, method):
    x, exact = np.round(np.random.default_rng(31).normal(30, 20, 500)), F(str(q)) / 100
    given, kw = {"epsilon": 2, "where": x > 5}, {"bounds": (0, 100), "method": method}
    found = dp.percentile(x, q, **given, **kw, rng=rng(1))
    assert found == dp.quantile(x, exact, **given, **kw, rng=rng(1))
    statistic = dp.Percentile(q=100 * exact, **kw)
    assert statistic.q == 100 * exact and statistic.prepare(x, **given, rng=rng(1)).run() == found


def test_several_percentiles_are_quantiles():
    x = np.arange(500.0)
    given = {"bounds": (0, 500), "epsilon": 1, "ids": np.arange(500) // 2, "max_rows": 2}
    for qs in ([10, 90], (50,), np.array([99.9, 1])):
        found = dp.percentile(x, qs, **given, rng=rng(1))
        other = dp.quantiles(x, [F(str(q)) / 100 for q in qs], **given, rng=rng(1))
        assert found.tolist() == other.tolist()
    budget = dp.Budget(epsilon=1, delta=1e-6)
    dp.percentile(x, [5, 95], **given, delta=1e-6, budget=budget)
    assert budget.remaining == {"epsilon": 0, "delta": F(1, 10**6)}
    bad = [([5, 95], kw) for kw in ({"noise": "cauchy"}, {"method": "smooth"})]
    for q, kw in [*bad, *((q, {}) for q in (101, -0.5, [1, 100.5], [], np.array([[1.0]])))]:
        with pytest.raises((ArgumentError, ArgumentTypeError), match=r"^q|noise|method"):
            dp.percentile(x, q, **given, **kw)


def test_bad_lists_of_quantiles():
    bad = [{0.5}, np.array(0.5), np.array([[0.5]]), [-0.1], [float("nan")], [True], [None]]
    for qs, method in product(bad, ("recursive", "joint")):
        refused(dp.quantiles, "qs", data=[1.0], qs=qs, bounds=(0, 1), epsilon=1, method=method)
