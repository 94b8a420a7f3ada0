"""The compiled draw of a quantile is its slow twin, word by word, and open coins are decided."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import dpfast as dp
from dpfast._kernels.noise import Script
from dpfast._kernels.statistics import draw_cell
from dpfast.noise.distributions.exact import context
from dpfast.noise.grid import Base
from dpfast.rng import InsecureGenerator
from dpfast.statistics.quantiles import draws
from dpfast.statistics.quantiles.draws import Column, choose
from dpfast.summaries.order import Ranks

from ..reference.statistics import quantile_draws as twin


def pairs(trials, cut, change=lambda c: c):
    """Draws of the function and of the twin, for random columns, targets, rates and cells."""
    rng = np.random.default_rng(1)
    for trial in range(trials):
        n, last = int(rng.integers(0, 40)), int(rng.choice([3, 40, 5000]))
        rows = np.sort(rng.integers(0, last + 1, n) if trial % 3 else rng.choice([0, 1, last], n))
        share = [-1, 0, 1 << 17, 1 << 19][trial % 4]
        part = share < 0 and trial % 8 == 4
        a, b = sorted(rng.integers(0, last + 1, 2).tolist()) if part else (0, last)
        base = Base(0, last, [None, 1.0, 2.0**-7][trial % 3])
        column = Column(Ranks(rows.astype(float)), 0.0, float(last), 1.0, base)
        low, high = int((rows < a).sum()), int((rows <= b).sum())
        target = min(max(Fraction(int(rng.integers(0, 7 * n + 1)), 7), low), high) + Fraction(0)
        c = float(rng.choice([0.02, 0.3, 2.0]))
        if a == b:
            continue
        window = column.look(
            lambda n, t=target: min(max(1, -(-t.numerator // t.denominator)), n),
            draws.width(c, column.base.weight(a, b), cut),
        )
        known = column.counts if share < 0 else partial(column.halves, share=share)
        due = [
            twin.draw(
                window.values.tolist(), window.first - 1, n, a, b, target, change(c), column.base,
                lambda cell, known=known, n=n: known(cell, n), stream, share,
            )
            for stream in [InsecureGenerator(trial).stream()] for _ in range(9)
        ]  # fmt: skip
        stream = InsecureGenerator(trial).stream()
        found = [choose(column, target, c, (a, b), stream, share=share, cut=cut) for _ in due]
        yield found, due


@pytest.mark.parametrize("cut", [draws.CUT + 1, -1.0, -100.0], ids=["wide", "narrow", "tiny"])
def test_draws_are_those_of_the_twin(cut):
    for found, due in pairs(160, cut):
        assert found == due


def test_a_window_too_narrow_is_told():
    """Rows in a corner of wide bounds: the cells beyond a few ranks weigh more than all others."""
    rows, base = np.arange(1 << 20, (1 << 20) + 400), Base(0, 1 << 40)
    far = [rows, 0, 400, 0, 1 << 40, 400, 0.5, 0.5, 0.25, 1 << 17, base]
    few = [rows[190:210], 190, *far[2:]]
    assert draw_cell(*few, InsecureGenerator(1).stream(), True) is None
    assert draw_cell(*few, InsecureGenerator(1).stream()) is not None
    near = np.linspace(0, 1 << 40, 400).astype(np.int64)
    inner = [near[100:300], 100, *far[2:]]
    stream = InsecureGenerator(1).stream()
    assert draw_cell(*inner, stream, True)[0] in range(near[150], near[250])


@pytest.mark.parametrize("reach", [1, 3, 40])
def test_the_window_that_is_tried_first_has_the_target(reach):
    """Wherever the data end: the rows at and before the middle, and as many on either side."""
    for n in (1, 2, 50, 200):
        for middle in range(1, n + 1):
            for wide in (reach, 60):
                first, last = max(1, middle - wide), min(n, middle + wide)
                skip, stop = draws.inner(last - first + 1, middle - first + 1, reach)
                near = range(first + skip, first + stop)
                due = range(max(first, middle - reach), min(last, middle + reach) + 1)
                assert near == due and middle in near


@pytest.mark.parametrize("share", [-1, 0, 1 << 18])
def test_windows_beside_the_target_are_refused(share):
    """Cells beyond the window would be nearer to it than the rank that their lump is told."""
    rows, base = np.arange(100, 200), Base(0, 5000)
    for place, whole, rest in ((100, 80, 0.0), (100, 99, 0.5), (100, 201, 0.0), (100, 200, 0.5)):
        unit = 1 if share < 0 else 2
        given = [rows, place, 300, 0, 5000, unit * whole, rest, 1 - rest, 0.3, share, base]
        stream = InsecureGenerator(1).stream()
        with pytest.raises(ValueError, match="either side"):
            draw_cell(*given, stream)
        assert draw_cell(*given, stream, True) is None


@pytest.mark.parametrize("method", ["exponential", "recursive"])
def test_a_row_near_the_end_of_the_data_changes_little(method):
    """All ranks above the target are ties on the last cell, whose weight is far below a gap's."""
    a = np.array([0.0] * 680 + [1 - 2.0**-20] + [1.0] * 81)
    b = a.copy()
    b[680] = 0.9
    for x in (a, b):
        given = {"bounds": (0, 1), "epsilon": 1, "neighbors": "replace", "method": method}
        ask = (
            dp.quantile
            if method == "exponential"
            else lambda x, q, **kw: dp.quantiles(x, [q], **kw)
        )
        found = [np.ravel(ask(x, 0.95, rng=InsecureGenerator(i), **given))[0] for i in range(60)]
        assert np.mean(np.array(found) == 1) > 0.9


def test_a_rate_that_is_too_large_is_caught():
    same = [found == due for found, due in pairs(60, draws.CUT + 1, lambda c: 1.1 * c)]
    assert not all(same)


ROWS = np.array([5], np.int64)


def proposed(word, rows=ROWS):
    """What one row at 5 makes of the word of a coin: True, False, or what is open."""
    script = Script([0, 0, word, 0, 0])
    try:
        cell, found = draw_cell(rows, 0, 1, 0, 9, 0, 0.75, 0.25, 1.0, -1, Base(0, 9), script)
    except EOFError:  # not kept, so another proposal is asked for
        return False
    return True if found is None else (cell, found)


def test_open_coins_are_decided_by_the_exact_probability():
    low, high = 0, 2**64 - 1
    assert proposed(low) is True and proposed(high) is False
    while isinstance(found := proposed((low + high) // 2), bool):
        low, high = ((low + high) // 2, high) if found else (low, (low + high) // 2)
    cell, (less, leq, mass, scale, bound, bottom, top, _) = found
    assert (cell, less, leq, mass, bottom, top) == (0, 0, 0, 5, 0, 1)
    mp = context(300)
    edge = int(mp.floor(mass * mp.exp(-0.75) * mp.ldexp(1, scale + 64) / bound))
    for word, kept in [(edge - 1, True), (edge + 1, False)]:
        assert not isinstance(proposed(word), bool)
        column = Column(Ranks(np.array([5.0])), 0.0, 9.0, 1.0)
        script = Script([0, 0, word, 0, *[0] * 3])
        assert choose(column, Fraction(3, 4), 1.0, (0, 9), script) == 0
        assert script.used == (3 if kept else 6)


def test_targets_that_no_float_tells_from_a_rank():
    column = Column(Ranks(np.arange(9.0)), 0.0, 8.0, 1.0)
    for target in (3 - Fraction(1, 10**40), 3 + Fraction(1, 10**40)):
        cells = {choose(column, target, 400.0, (0, 8), InsecureGenerator(i).stream())
                 for i in range(9)}  # fmt: skip
        assert cells == {2, 3}  # one is nearer by less than any float tells


@pytest.mark.parametrize(
    "change",
    [
        {"rows": np.array([5, 4])},
        {"before": -1},
        {"before": 1},
        {"first": 10},
        {"rest": 1.5},
        {"rest": np.nan},
        {"c": 0.0},
        {"c": np.inf},
        {"last": 10},
        {"share": (1 << 19) + 1},
        {"share": 0, "last": 4},
    ],
)
def test_what_is_out_of_range_is_refused(change):
    given = {
        "rows": ROWS, "before": 0, "n": 1, "first": 0, "last": 9, "whole": 0, "rest": 0.5,
        "more": 0.5, "c": 1.0, "share": -1, "base": Base(0, 9),
        "stream": InsecureGenerator(1).stream(),
    }  # fmt: skip
    if "rows" in change:
        given["n"] = 2
    with pytest.raises(ValueError):
        draw_cell(*{**given, **change}.values())
