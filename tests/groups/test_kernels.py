"""The kernels of groups beside their twins: sums by group, windows, and draws of quantiles."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpfast._kernels import groups as kernel
from dpfast._kernels.noise import Script
from dpfast.groups.quantile import Others, draw_quantiles
from dpfast.noise.distributions.base import context
from dpfast.noise.grid import Base
from dpfast.rng import InsecureGenerator
from dpfast.statistics.quantiles.draws import RANK
from dpfast.statistics.quantiles.exponential import aim_at
from dpfast.tables.base import Near

from ..reference.groups import quantile as quantile_twin
from ..reference.groups import sums as sums_twin
from ..support.pairwise import quick_rows

GRID = 2.0**-10
DTYPES = ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"]


def added(values, codes, groups, first, span, filler=-1, squares=True):
    out = np.zeros((groups + 1, 4 if squares else 2), np.uint64)
    nan = kernel.add(values, codes, 1 / GRID, first, span, filler, out)
    columns = [out[:-1, 0].tolist(), out[:-1, 1].tolist()]
    if squares:
        columns.append([int(low) + (int(high) << 32) for low, high in out[:-1, 2:]])
    return [list(group) for group in zip(*columns, strict=True)], nan


@pytest.mark.full
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("filler", [-1, 0, 700])
def test_sums_are_those_of_the_twin(dtype, filler):
    rng = np.random.default_rng(3)
    for n in (0, 1, 1023, 2500):
        values = rng.normal(0, 2, n) if dtype[0] == "f" else rng.integers(-9, 9, n)
        values = values.astype(dtype)
        if dtype[0] == "f":
            values[rng.random(n) < 0.1] = math.nan
            values[rng.random(n) < 0.01] = math.inf
        codes = rng.integers(-3, 9, n).astype(np.int32)
        first, span = -1024, 4096
        twin, missing = sums_twin.totals(
            values.tolist(), codes.tolist(), 7, GRID, first, span, filler
        )
        assert added(values, codes, 7, first, span, filler) == (twin, missing)
        plain, again = added(values, codes, 7, first, span, filler, squares=False)
        assert (plain, again) == ([group[:2] for group in twin], missing)


def test_a_fault_in_the_sums_would_be_caught():
    """The control: a row of no group that counts, and a NaN that is dropped silently."""
    values, codes = np.array([1.0, math.nan, 2.0]), np.array([0, 0, 9], np.int32)
    found = added(values, codes, 1, 0, 4096)
    assert found == ([[1024, 1, 1024**2]], 1)
    assert found != sums_twin.totals([1.0, 2.0], [0, 0], 1, GRID, 0, 4096, -1)


def test_sums_beyond_64_bits_carry():
    rows, half = np.full(1 << 20, 1e9), 1 << 40
    out = np.zeros((2, 2), np.uint64)
    codes = np.zeros(len(rows), np.int32)
    for _ in range(20):
        kernel.add(rows, codes, 1.0, -half, 2 * half, -1, out)
    n = 20 * len(rows)
    exact = n * (half + 10**9)
    assert exact >= 1 << 64 and int(out[0, 1]) >> 40 == exact >> 64
    found = np.empty(1, np.int64)
    for a, b, shift in [(1, 0, 10), (1, -half, 0), (-1, 2 * half, 7), (0, 1, 0)]:
        kernel.combine(out, a, b, 0, shift, found)
        assert found[0] == (a * exact + b * n) >> shift
    kernel.combine(out, 1, 0, 0, 0, found)
    assert found[0] == 1 << 62  # cut


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("filler", [-1, 700])
def test_cells_are_those_of_the_sums(dtype, filler):
    rng = np.random.default_rng(5)
    values = (rng.normal(0, 2, 3000) if dtype[0] == "f" else rng.integers(-9, 9, 3000)).astype(
        dtype
    )
    if dtype[0] == "f":
        values[::7] = math.nan
    codes = rng.integers(-2, 9, 3000).astype(np.int32)
    sums, missing = added(values, codes, 6, -1024, 4096, filler, squares=False)
    own, out = codes.copy(), np.empty(3000, np.int32)
    assert kernel.cells(values, own, 6, 1 / GRID, -1024, 4096, filler, out) == missing
    for group, (total, rows) in enumerate(sums):
        assert [int(out[own == group].sum()), int((own == group).sum())] == [total, rows]
    assert own.min() >= 0 and own.max() == 6
    with pytest.raises(ValueError, match="codes"):
        kernel.cells(values, own[1:], 6, 1 / GRID, -1024, 4096, filler, out)


def chi_square(out, law, first):
    counts = np.bincount(out - first, minlength=len(law))
    due = np.array([float(p) for p in law]) * len(out)
    assert not counts[due == 0].any()
    return float(((counts - due) ** 2 / due).sum())


def worst_of(change=lambda c: c, draws=20_000, inside=0, share=1 << 18):
    """The largest chi-square, of 11 degrees of freedom, over small groups, reaches and rates."""
    rng, worst = np.random.default_rng(0), 0.0
    stream = InsecureGenerator(1).stream()
    for trial in range(24):
        rows = rng.integers(-3, 9, trial % 9)
        q, rate = Fraction(int(rng.integers(0, 11)), 10), [0.3, 1.0, 2.5][trial % 3]
        reach = [1, 2, 50][trial // 3 % 3]  # few ranks: lumps are proposed often
        offsets = np.arange(draws + 1) * len(rows)
        if inside:
            q = Fraction(trial % 2)
        tiled = np.tile((rows + 3).astype(np.int32), draws)
        aim = aim_at(q, change(rate))._replace(share=1 << 18)
        aim = aim._replace(ties=[0, 1, 4][trial % 3] if not inside else 0)
        out = draw_quantiles(tiled, offsets, aim, Base(-3, 8), reach, stream, inside)
        terms = q, rate, share, -3, 8, inside, None, aim.ties
        law = quantile_twin.probabilities(rows.tolist(), *terms)
        worst = max(worst, chi_square(out, law, 0))
    return worst


@pytest.mark.parametrize("inside", [pytest.param(0, marks=pytest.mark.full), 2])
def test_draws_have_the_law_of_the_twin(inside):
    """Of quantiles, and of extremes."""
    assert worst_of(inside=inside, draws=8000) < 44  # 1 in 1e5 for each


@pytest.mark.full
@pytest.mark.parametrize("fault", [{"change": lambda rate: 1.1 * rate}, {"share": 1 << 19}])
def test_a_fault_would_be_caught(fault):
    """A rate a tenth too large, and another share of a gap."""
    assert worst_of(**fault) > 70


def test_draws_of_groups_have_the_base():
    """Cells that stand for round numbers, and those near 0, weigh more."""
    base, rows = Base(-40, 8_200, 1.0), [300, 301, 1000]
    assert base.above and len(base.round_steps)
    offsets = np.arange(20_001) * len(rows)
    tiled = np.tile((np.array(rows) + 40).astype(np.int32), 20_000)
    aim = aim_at(Fraction(1, 2), 0.7)
    out = draw_quantiles(tiled, offsets, aim, base, 50, InsecureGenerator(2).stream())
    weights = [base.weight(cell, cell) for cell in range(-40, 8_201)]
    bins = np.searchsorted([299, 300, 301, 302, 500, 1000, 1001], np.arange(-40, 8_201), "right")
    for own, fits in ((weights, True), (None, False)):
        law = quantile_twin.probabilities(
            rows, aim.fraction / 2**32, 0.7, aim.share, -40, 8_200, 0, own
        )
        due = np.bincount(bins, law)
        assert (chi_square(bins[out], due, 0) < 35) == fits


ROW, ONE, AIM = np.array([5], np.int32), np.array([0, 1]), aim_at(Fraction(1, 2), 1.0)


def proposed(word):
    """What one row makes of the word of a coin: True, False, or what is open."""
    out, script = np.zeros(1, np.int32), Script([0, word])
    try:
        given = AIM.fraction, AIM.shift // 2, 0, True, 0.5, AIM.share, Base(0, 9), 5
        found = kernel.quantiles(ROW, ONE, *given, out, 0, script)[1]
    except EOFError:  # not kept, so another proposal is asked for
        return False
    return True if found is None else found


def test_open_coins_are_decided_by_the_exact_probability():
    low, high = 0, 2**64 - 1
    assert proposed(low) is True and proposed(high) is False
    while isinstance(found := proposed((low + high) // 2), bool):
        low, high = ((low + high) // 2, high) if found else (low, (low + high) // 2)
    cell, mass, scale, bound, far, _ = found
    assert (cell, mass, far) == (0, 1, RANK // 2)
    mp = context(300)
    edge = int(mp.floor(mass * mp.exp(-0.5) * mp.ldexp(1, scale + 64) / bound))
    for word, kept in [(edge - 1, True), (edge + 1, False)]:
        assert not isinstance(proposed(word), bool)
        script = Script([0, word, 0, 0, 0])
        out = draw_quantiles(ROW, ONE, AIM, Base(0, 9), 5, script)
        assert out.tolist() == [0] and script.used == (2 if kept else 4)


WRONG = [{"offsets": [0, 2]}, {"offsets": [1, 0]}, {"place": -1}, {"place": 2**32 + 1}, {"c": 0.0}]
WRONG += [{"share": -1}, {"reach": 0}, {"inside": -1}, {"base": Base(3, 3)}]


@pytest.mark.parametrize("change", WRONG)
def test_bad_arguments(change):
    given = {
        "offsets": [0, 1], "place": 0, "shift": 0, "inside": 0, "high": False, "c": 1.0,
        "share": 1, "base": Base(0, 9), "reach": 3, **change,
    }  # fmt: skip
    offsets, stream = np.array(given.pop("offsets")), InsecureGenerator(1).stream()
    rows, out = np.zeros((2, 1), np.int32)
    with pytest.raises(ValueError, match=r"offsets|limits"):
        kernel.quantiles(rows, offsets, *given.values(), out, 0, stream)


@quick_rows(2)
@pytest.mark.parametrize("reach", [50, 1])
@pytest.mark.parametrize("inside", [0, 2])
def test_rows_near_the_rank_are_as_good_as_all(reach, inside):
    """Rows that are left out are told by their number, and of a lump by a call."""
    rng, base = np.random.default_rng(4), Base(0, 999)
    groups = [np.sort(rng.integers(0, 1000, size)).astype(np.int32) for size in (0, 1, 7, 300, 999)]
    aim = aim_at(Fraction(1) if inside else Fraction(7, 10), 0.5)
    ends = [Near(aim.fraction / 2**32, 60).ends(np.array([len(rows)])) for rows in groups]
    own = [rows[int(a[0]) : int(b[0])] for rows, (a, b) in zip(groups, ends, strict=True)]

    def offsets(some):
        return np.cumsum([0, *map(len, some)])

    before = np.array([a[0] for a, _ in ends])
    others = Others(before, np.array([*map(len, groups)]), lambda group: groups[group])
    for seed in range(5):
        whole, near = (InsecureGenerator(seed).stream() for _ in range(2))
        a = draw_quantiles(np.concatenate(groups), offsets(groups), aim, base, reach, whole, inside)
        b = draw_quantiles(
            np.concatenate(own), offsets(own), aim, base, reach, near, inside, others
        )
        assert a.tolist() == b.tolist() and whole.take(8) == near.take(8)
