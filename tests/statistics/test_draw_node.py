"""The compiled draw of a quantile is its slow twin, word by word, and open coins are decided."""

from fractions import Fraction

import numpy as np
import pytest

from dpfast._kernels.noise import Script
from dpfast._kernels.statistics import draw_node
from dpfast.noise.distributions.exact import context
from dpfast.noise.grid import Base
from dpfast.rng import InsecureGenerator
from dpfast.statistics.quantiles import draws
from dpfast.statistics.quantiles.draws import PARTS, RANK, Column, DrawParams, End, draw
from dpfast.summaries.order import Ranks

from ..reference.statistics import quantile_draws as twin
from ..support.pairwise import quick_rows


def nodes(trials):
    """Random columns, and a node of each: all of it, or one between ends that rows are on."""
    rng = np.random.default_rng(1)
    for trial in range(trials):
        n, last = int(rng.integers(0, 40)), int(rng.choice([3, 40, 5000]))
        few = [0, 1, last - 1, last]
        rows = np.sort(rng.integers(0, last + 1, n) if trial % 3 else rng.choice(few, n))
        base = Base(0, last, [None, 1.0, 2.0**-7][trial % 3])
        column = Column(Ranks(rows.astype(float)), 0.0, float(last), 1.0, base)
        ends = column.ends(n)
        if trial % 2:
            cells, parts = np.sort(rng.integers(0, last + 1, 2)), rng.integers(0, PARTS, 2)
            less, leq = np.searchsorted(rows, cells), np.searchsorted(rows, cells, "right")
            inner = [End(*map(int, one)) for one in zip(cells, less, leq, parts, strict=True)]
            ends = (inner[0] if trial % 4 == 1 else ends[0], inner[1])
        aim = DrawParams(
            int(rng.integers(0, PARTS + 1)), int(rng.integers(-1, 2)) * RANK // 3,
            float(rng.choice([0.02, 0.3, 2.0])), int(rng.choice([0, 1 << 17, 1 << 19])),
            int(rng.choice([0, 2, 50])),
        )  # fmt: skip
        if ends[0].cell < ends[1].cell:
            yield rows, column, ends, aim


def counts(rows, ends, share):
    """What a pass tells of a cell: less, leq, and of one in a gap its position."""
    low, high = ends[0].cell, ends[1].cell

    def count(cell):
        less, leq = int(np.sum(rows < cell)), int(np.sum(rows <= cell))
        if less < leq or cell in (low, high):
            return less, leq, None
        a = max([x for x in rows.tolist() if x < cell and x > low], default=low)
        b = min([x for x in rows.tolist() if x > cell and x < high], default=high)
        near = min(share * (b - a) >> 20, (b - a - 1) // 2)
        return less, leq, less + Fraction(int(b - cell <= near) - int(cell - a <= near), 2)

    return count


def pairs(trials, divides, monkeypatch, reach=None, change=lambda c: c):
    """Draws of the function and of the twin, which sees as much of the column."""
    seen = []

    def view(column, window, ends, middle, few, divides):
        seen.append(window)
        yield draws._View(*ends, window.values, window.first - 1)

    monkeypatch.setattr(draws, "_views", view)
    for trial, (rows, column, ends, aim) in enumerate(nodes(trials)):
        aim = aim._replace(ties=0) if divides else aim
        n, stream = len(rows), InsecureGenerator(trial).stream()
        try:
            found = [
                draw(column, ends, aim, n, stream, divides=divides, reach=reach) for _ in range(5)
            ]
        except ValueError:  # the window cuts the rows on an end, which is then to be counted
            assert divides and reach is not None
            continue
        window = seen[-1]
        given = window.values.tolist(), window.first - 1, n, ends
        target = Fraction(aim.target(*ends), RANK)
        stream, c = InsecureGenerator(trial).stream(), change(aim.rate)
        known, public = counts(rows, ends, aim.share), (aim.share, divides, column.base)
        due = [
            twin.draw(*given, target, c, *public, known, stream, aim.fraction, aim.ties)
            for _ in found
        ]
        yield [(end.cell, end.part) for end in found], due


@quick_rows(1)
@pytest.mark.parametrize("divides", [False, True], ids=["leaf", "divides"])
@pytest.mark.parametrize("reach", [None, 12, 3, 1])
def test_draws_are_those_of_the_twin(reach, divides, monkeypatch):
    compared = list(pairs(60, divides, monkeypatch, reach))
    assert len(compared) > 40
    for found, due in compared:
        assert found == due


@quick_rows(1)
@pytest.mark.parametrize("divides", [False, True], ids=["leaf", "divides"])
def test_a_rate_that_is_too_large_is_caught(divides, monkeypatch):
    same = [
        found == due for found, due in pairs(60, divides, monkeypatch, change=lambda c: 1.1 * c)
    ]
    assert not all(same)


ENDS = (0, 0, -1, 0), (1 << 40, -1, 400, PARTS)


@pytest.mark.parametrize("divides", [False, True], ids=["leaf", "divides"])
def test_a_window_too_narrow_is_told(divides):
    """Rows in a corner of wide bounds: the cells beyond a few ranks weigh more than all others."""
    rows, base = np.arange(1 << 20, (1 << 20) + 400), Base(0, 1 << 40)
    rest = [400, *ENDS, 200, 1 << 63, 0.125, 1 << 17, divides, base]
    few = [rows[190:210], 190, *rest]
    assert draw_node(*few, InsecureGenerator(1).stream(), True) is None
    assert draw_node(*few, InsecureGenerator(1).stream()) is not None
    near = np.linspace(0, 1 << 40, 400).astype(np.int64)
    inner = [near[100:300], 100, *rest]
    stream = InsecureGenerator(1).stream()
    assert draw_node(*inner, stream, True)[0] in range(near[150], near[250])


def test_windows_beside_the_target_are_refused():
    """Cells beyond the window would be nearer to it than the position that their lump is told."""
    rows, base = np.arange(100, 200), Base(0, 5000)
    ends = (0, 0, -1, 0), (5000, -1, 300, PARTS)
    for *place, rest in (100, 80, 0), (100, 100, 0), (100, 200, 0), (100, 199, 1 + (1 << 63)):
        at, whole = place
        given = [rows, at, 300, *ends, whole, rest, 0.15, 1 << 18, False, base]
        stream = InsecureGenerator(1).stream()
        with pytest.raises(ValueError, match="either side"):
            draw_node(*given, stream)
        assert draw_node(*given, stream, True) is None


ROWS, LOW, HIGH = np.array([5], np.int64), (0, 0, -1, 0), (9, -1, 1, PARTS)


def proposed(word):
    script = Script([0, word])
    try:
        *_, told = draw_node(
            ROWS, 0, 1, LOW, HIGH, 0, 1 << 63, 0.5, 1 << 18, False, Base(0, 9), script
        )
    except EOFError:  # not kept, so another proposal is asked for
        return False
    return True if told is None else told


def test_open_coins_are_decided_by_the_exact_probability():
    low, high = 0, 2**64 - 1
    assert proposed(low) is True and proposed(high) is False
    while isinstance(found := proposed((low + high) // 2), bool):
        low, high = ((low + high) // 2, high) if found else (low, (low + high) // 2)
    mass, scale, bound, far, _ = found
    assert (mass, far) == (1, RANK // 2)  # the low end, half a rank from the row's middle
    mp = context(300)
    edge = int(mp.floor(mass * mp.exp(-0.5) * mp.ldexp(1, scale + 64) / bound))
    aim = DrawParams(PARTS // 2, 0, 1.0, 1 << 18)
    for word, kept in [(edge - 1, True), (edge + 1, False)]:
        assert not isinstance(proposed(word), bool)
        column = Column(Ranks(np.array([5.0])), 0.0, 9.0, 1.0)
        script = Script([0, word, 0, 0, 0])
        assert draw(column, column.ends(1), aim, 1, script).cell == 0
        assert script.used == (2 if kept else 4)


def test_targets_that_no_float_tells_from_a_rank():
    column, aim = Column(Ranks(np.arange(9.0)), 0.0, 8.0, 1.0), DrawParams(0, 0, 400.0, 0)
    for target in (3 * RANK - 1, 3 * RANK + 1):  # between the middles of two rows
        streams = (InsecureGenerator(i).stream() for i in range(9))
        found = [draw(column, column.ends(9), aim, 9, one, target=target) for one in streams]
        assert {one.cell for one in found} == {2, 3}  # one is nearer by less than any float tells


@pytest.mark.parametrize("name, bad", [
    *(("rows", [5, 4]), ("before", -1), ("before", 1), ("low", (9, 0, -1, 0))),
    *(("low", (0, -1, -1, 0)), ("high", (9, -1, -1, PARTS)), ("high", (9, 2, 1, PARTS))),
    *(("high", (9, -1, 1, PARTS + 1)), ("high", (10, -1, 1, PARTS)), ("whole", -2)),
    *(("whole", 2), ("c", 0.0), ("c", np.inf), ("share", (1 << 19) + 1), ("share", -1)),
    *(("under", 1), ("over", 0)),
])  # fmt: skip
def test_what_is_out_of_range_is_refused(name, bad):
    given = {
        "rows": ROWS, "before": 0, "n": 1, "low": LOW, "high": HIGH, "whole": 0, "rest": 1 << 63,
        "c": 1.0, "share": 1 << 18, "divides": False, "base": Base(0, 9),
        "stream": InsecureGenerator(1).stream(), "narrow": False, "under": -1, "over": -1,
    }  # fmt: skip
    if name == "rows":
        given |= {"n": 2, "high": (9, -1, 2, PARTS)}
    with pytest.raises(ValueError):
        draw_node(*{**given, name: np.array(bad) if name == "rows" else bad}.values())


@pytest.mark.parametrize("further", [False, True])
def test_a_coin_that_64_bits_leave_open_is_decided_by_more(further):
    scale, near, distance, rate = 3, RANK // 4, RANK, 0.75
    mp = context(400)
    chance = mp.ldexp(-mp.exp(-rate * mp.mpf(near) / RANK), scale)
    visits = int(mp.ceil(-chance * (1 + mp.mpf(2) ** -10)))
    chance *= mp.expm1(-rate * mp.mpf(distance - near) / RANK) / visits
    known = int(mp.floor(mp.ldexp(chance, 64)))
    more = int(mp.floor(mp.ldexp(chance, 128))) - (known << 64)
    stream = Script([0, known, more + 3 if further else more - 3, (1 << 64) - 1])
    shown = draws.shows_tails(1, (0, 16 - visits, scale, near, 0), distance, rate, stream)
    assert visits > 1 and shown != further
