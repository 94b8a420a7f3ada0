"""Staircase noise: its exact law, its loss for every move, its samples, its error bars."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction as F
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.noise import stairs as room
from dpfast.noise.calibrated_integer import integer_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.noise.stairs import JointStaircase, Staircase
from dpfast.privacy import Draws, Pure
from dpfast.rng import InsecureGenerator

from ..reference.noise import stairs as reference
from ..support.noise import box_noise, p_value
from ..support.pairwise import quick_rows

STAIRS = 4
SMALL = [(1, 0), (2, 0), (2, 1), (3, 1), (5, 0), (5, 2), (7, 3), (7, 6)]


def shipped(monkeypatch, step, core, b, stairs=STAIRS):
    """The law of `fill`, up to a factor: all that its random bits can be, one after the other."""
    noise, found = Staircase(1.25, step, core), {}
    far = 2 * step * b / (2 * step * b + (2 * core + 1) * (1 - b))

    class Other:  # the formula for what is beyond is that of this law, with another b
        mpf, exp, expm1 = float, lambda x: b, lambda x: b - 1

    with mpmath.workdps(50):
        assert noise.part_beyond(Other) == far
    for beyond, k in [(False, 0), *((True, k) for k in range(stairs))]:
        limits = []

        def every(n, size, stream, kept=limits):
            """Each of the n numbers once, if as many are asked for."""
            if size:
                assert n == size
                kept.append(n)
            return np.arange(size)

        monkeypatch.setattr(room, "uniform", every)
        monkeypatch.setattr(Staircase, "beyond", lambda *a, far=beyond: np.full(a[1], far))
        monkeypatch.setattr(Staircase, "levels", lambda *a, k=k: np.full(a[1], k))
        out = np.empty(2 * step if beyond else 2 * core + 1, np.int64)
        noise.fill(out, None)
        assert limits == [out.size]
        share = (far * (1 - b) * b**k if beyond else 1 - far) / out.size
        for z in out.tolist():
            found[z] = found.get(z, 0) + share
    return found


@pytest.mark.parametrize(("step", "core"), SMALL)
@pytest.mark.parametrize("b", [F(1, 3), F(9, 10)])
def test_what_is_drawn_is_the_staircase(step, core, b, monkeypatch):
    """Every input of the sampler, with exact weights: b to the stair, and so every move costs."""
    found = shipped(monkeypatch, step, core, b)
    wanted = reference.law(b, [core], [step], STAIRS)
    assert len(found) == len(wanted) == 2 * core + 1 + 2 * STAIRS * step
    assert {z: p / found[0] for z, p in found.items()} == {z: p for (z,), p in wanted.items()}
    listed = {(z,): p for z, p in found.items()}
    assert reference.worst_ratio(listed, [step]) == 1 / b
    assert reference.worst_ratio(listed, [step + 1]) > 1 / b  # the control


def test_a_sampler_with_a_fault_would_be_caught(monkeypatch):
    """As if stair 0 had no factor 1 - b, with stairs too narrow, and with a number twice."""
    b, step, core = F(1, 3), 5, 1
    more, narrow, twice = (shipped(monkeypatch, step - wide, core, b) for wide in (0, 1, 0))
    more = {z: p / (1 - b) if abs(z) <= core else p for z, p in more.items()}
    twice[7] += twice.pop(8)
    twice[8] = twice[-8] / 1000
    for found in (more, narrow, twice):
        assert reference.worst_ratio({(z,): p for z, p in found.items()}, [step]) > 1 / b


@pytest.mark.parametrize("epsilon", [0.01, 1.7, 60.0])
def test_bits_about_the_border_are_decided_exactly(epsilon):
    """Against the probability in 300 digits: words next to it, further bits on either side."""
    noise = Staircase.of(F(epsilon), 1000)
    with mpmath.workdps(300):
        border = mpmath.ldexp(noise.part_beyond(mpmath.mp), 64)
        near = int(border)
        words = [w for w in range(near - 3, near + 4) if 0 <= w < 2**64] + [0, 2**64 - 1]
        bits = np.array(words, np.uint64).tobytes()
        for after in (0, 1, 2**63, 2**64 - 1):
            stream = SimpleNamespace(take=lambda n: bits[:n], word=lambda after=after: after)
            # All further bits are the same, so the number is this one.
            tail = mpmath.mpf(after) / (2**64 - 1)
            wanted = [mpmath.mpf(w) + tail < border for w in words]
            assert noise.beyond(len(words), stream).tolist() == wanted


def law(noise, reach):
    z = np.arange(-reach, reach + 1)
    stairs = np.maximum(0, -((noise.core - abs(z)) // noise.step))
    inside, beyond = noise.weights
    return z, np.exp(-noise.epsilon * stairs) * -math.expm1(-noise.epsilon) / (inside + beyond)


@pytest.mark.parametrize(("epsilon", "step", "core"), [(0.5, 4, 2), (1.6, 7, 2), (4.0, 30, 6)])
def test_samples_fit_and_those_of_other_stairs_do_not(epsilon, step, core):
    drawn = np.empty(100_000, np.int64)
    Staircase(epsilon, step, core).fill(drawn, InsecureGenerator(11).stream())
    counts = np.bincount(drawn[abs(drawn) <= 400] + 400, minlength=801)

    def fit(*other):
        return p_value(counts, law(Staircase(*other), 400)[1], len(drawn))

    assert fit(epsilon, step, core) > 1e-3
    assert max(fit(epsilon * 1.05, step, core), fit(epsilon, step, core - 1)) < 1e-6


@pytest.mark.parametrize("step", [1, 2, 9, 40])
@pytest.mark.parametrize("epsilon", [0.3, 1.7, 5.0])
def test_deviation_and_error_bars_are_those_of_the_law(epsilon, step):
    noise = Staircase.of(F(epsilon), step)
    z, p = law(noise, math.ceil(60 / epsilon) * step)
    assert noise.deviation == pytest.approx(math.sqrt((p * z * z).sum()), rel=1e-9)
    for failure in (0.9, 0.5, 0.3, 0.1, 0.05, 1e-3, 1e-9):
        size = noise.half_width(failure)
        assert p[abs(z) > size].sum() <= failure * (1 + 1e-9)
        assert size < 2 or p[abs(z) > size - 2].sum() > failure  # and hardly more
        assert size == 0 or p[abs(z) > 0.6 * size - 1].sum() > failure  # the control
    if step == 1:
        assert noise.core == 0
        geometric = np.exp(-noise.epsilon * abs(z)) * math.tanh(noise.epsilon / 2)
        np.testing.assert_allclose(p, geometric, rtol=1e-9)


@pytest.mark.parametrize("bits", [10, 40, 70, 140])
def test_large_integers_are_divided_first(bits):
    noise = integer_noise(Pure(3), Sensitivity.of_one(3 << bits))
    assert noise.distribution == "staircase" and noise.scale <= 1 << 40
    # The noise covers what is left of a move after rounding down.
    assert noise.staircase.step >= -(-(3 << bits) >> noise.shift) + (noise.shift > 0)
    small = integer_noise(Pure(3), Sensitivity.of_one(3 << 20))
    assert noise.deviation == pytest.approx(math.ldexp(small.deviation, bits - 20), rel=1e-3)
    values = np.array(noise.add([0] * 4000, InsecureGenerator(3)), float)
    assert values.std() == pytest.approx(noise.deviation, rel=0.1)
    assert abs(values).max() >= noise.half_width(0.05)
    assert np.mean(abs(values) > noise.half_width(0.05)) == pytest.approx(0.05, abs=0.02)


def test_noise_on_a_grid_is_that_of_the_integers():
    def drawn(*given, **more):
        return dp.noise.staircase(*given, **more, rng=InsecureGenerator(2))

    grid, wanted, noise = (
        {"granularity": 2.0**-5},
        np.empty(9_000, np.int64),
        Staircase.of(F(3), 16),
    )
    z = drawn(3, 0.5, 9_000, **grid)
    noise.fill(wanted, InsecureGenerator(2).stream())
    assert np.array_equal(z * 32, wanted)
    # Between multiples the next one counts.
    assert np.array_equal(drawn(3, 0.48, 9_000, **grid), z)
    fine = drawn(F(1, 2**30), 1.0, 100)
    assert abs(fine).max() > 2.0**29 and (fine % 1 == 0).all()


@pytest.mark.parametrize("args, kw, match", [
    ((0,), {}, "epsilon"), ((501,), {}, "epsilon must be at least"), (("x",), {}, "epsilon"),
    ((1, -1.0), {}, "sensitivity must be"),
    ((1, 1.0), {"granularity": 3}, "granularity must be"),
    ((1, 1.0), {"granularity": 2.0**-53}, "granularity must be at least"),
    ((2.0**-20, 1.0), {"granularity": 2.0**-40}, "granularity must be at least"),
])  # fmt: skip
def test_bad_arguments(args, kw, match):
    with pytest.raises((ArgumentError, ArgumentTypeError), match=match):
        dp.noise.staircase(*args, **kw)


JOINT = [((1, 4), (0, 1)), ((2, 3), (0, 2)), ((1, 1, 2), (0, 0, 1)), ((3, 3), (1, 1))]


def joint_law(noise, stairs=3):
    """The probabilities of points from those of the stairs, and of points on a stair or below."""
    with mpmath.workdps(40):
        tails = map(mpmath.mp.make_mpf, room._tails(noise, 400))
        reach = [mpmath.mpf(1), *(tail for tail in tails if tail > 1e-30)]
        part = [a - b for a, b in zip(reach, [*reach[1:], 0], strict=True)]
        of_point = [p / noise.size(stair) for stair, p in enumerate(part)]
        ends = [r + stairs * d for r, d in zip(noise.cores, noise.steps, strict=True)]
        return {
            z: float(mpmath.fsum(of_point[reference.stair(z, noise.cores, noise.steps) :]))
            for z in itertools.product(*(range(-end, end + 1) for end in ends))
        }


@quick_rows(2)
@pytest.mark.parametrize(("steps", "cores"), JOINT)
@pytest.mark.parametrize("epsilon", [0.7, 2.5])
def test_every_move_within_the_box_is_covered(steps, cores, epsilon):
    """The law of what is drawn, point by point: uniform boxes mixed by exact probabilities."""
    found = joint_law(JointStaircase(epsilon, steps, cores))
    wanted, middle = reference.law(math.exp(-epsilon), cores, steps, 3), (0,) * len(steps)
    assert sum(found.values()) < 1
    for z, p in found.items():
        assert p / found[middle] == pytest.approx(wanted[z], rel=1e-9)
    most = math.exp(epsilon)
    assert reference.worst_ratio(found, steps) == pytest.approx(most, rel=1e-9)
    # Planted: a larger move, and a core that does not grow by the sensitivity.
    assert reference.worst_ratio(found, [*steps[:-1], steps[-1] + 1]) > 1.5 * most
    found = joint_law(JointStaircase(2.0, (1, 3), (0, 1)))
    assert reference.worst_ratio(found, (1, 4)) > math.exp(2) * 1.5


def test_joint_samples_fit_and_those_of_other_stairs_do_not():
    drawn, stream = JointStaircase(1.5, (1, 4), (0, 1)), InsecureGenerator(5).stream()
    counts = Counter(tuple(drawn.draw(stream)) for _ in range(6_000))

    def fit(*other):
        return p_value(counts, joint_law(JointStaircase(*other), 5), 6_000)

    assert fit(1.5, (1, 4), (0, 1)) > 1e-3
    assert max(fit(1.7, (1, 4), (0, 1)), fit(1.5, (1, 4), (0, 0))) < 1e-6


@quick_rows(1)
@pytest.mark.parametrize("epsilon", [3.0, 6.0])
def test_error_bars_of_joint_noise(epsilon):
    moves = [1, 1 << 40, 3 << 50]
    noise, rng = box_noise(Pure(epsilon), moves), InsecureGenerator(8)
    drawn = np.array([noise.add([0] * 3, rng) for _ in range(3000)]) / np.array(moves, float)
    for place, failure in itertools.product(range(3), (0.3, 0.05)):
        size = float(noise.half_width(failure, place))
        assert np.mean(abs(drawn[:, place]) > size) <= failure + 0.02
        assert size == 0 or np.mean(abs(drawn[:, place]) >= 0.6 * size) > failure


def test_bits_that_decide_no_stair_take_more(monkeypatch):
    """The edges of all stairs but the first: one below is further out, one above is not."""
    noise, asked = JointStaircase(1.5, (1, 4), (0, 1)), []
    ends = room._ends(noise)[:5]
    words = np.array([w for a, b in ends for w in (a - 1, a, b, b + 1)], np.uint64)
    stream = SimpleNamespace(take=lambda size: words.tobytes(), word=lambda: 1 << 63)
    monkeypatch.setattr(room, "uniform", lambda n, size, stream: np.full(size, n // 2))
    noise.fill(np.empty((2, len(words)), np.int64), stream)  # makes the tables that are kept
    true = JointStaircase._level

    def noted(self, tail):
        asked.append(tail.k)
        return true(self, tail)

    monkeypatch.setattr(JointStaircase, "_level", noted)
    seen = []
    monkeypatch.setattr(JointStaircase, "sides", lambda self, stair: seen.append(stair) or [0, 0])
    noise.fill(np.empty((2, len(words)), np.int64), stream)
    inside = {int(w) for a, b in ends for w in (a, b)}
    assert set(asked) == inside
    assert max(seen) == len(ends)


@pytest.mark.parametrize(("moves", "step"), [(1, 1000), (2, 1000), (6, 7)])
def test_moves_of_one_number_are_covered_and_charged(moves, step):
    """However they fall on numbers: exact losses of the laws themselves, in pure and in zCDP."""
    most = Sensitivity(moves, moves * step, moves * step**2, step, (moves, step))
    noise = integer_noise(Pure(5 * moves), most)
    assert noise.distribution == "staircase" and noise.moves == moves
    _, p = law(noise.staircase, 9 * step)
    a, b = np.log(p[step:]), np.log(p[:-step])  # of one move
    assert np.abs(a - b).max() * moves == pytest.approx(5 * moves, rel=1e-9)
    assert noise.loss == (Draws(5 * moves, draws=moves) if moves > 1 else Pure(5))
    price = float(noise.loss.to_zcdp().rho)
    for order in (1.01, 1.5, 3.0, 10.0, 100.0):
        inner = order * a + (1 - order) * b
        divergence = (inner.max() + math.log(np.exp(inner - inner.max()).sum())) / (order - 1)
        assert moves * divergence / order <= price * (1 + 1e-9)
    # Two moves of one number, which differ in sign from none of it, cost as much as one of twice.
    twice = Sensitivity(moves, moves * step, 2 * moves * step**2, 2 * step, (moves, step))
    assert integer_noise(Pure(5 * moves), twice).loss.to_zcdp().rho >= noise.loss.to_zcdp().rho
    assert twice.coarsened(3).moves == (moves, -(-step // 3))


def test_the_bound_of_a_weighted_sum_of_staircases():
    noise = integer_noise(Pure(8), Sensitivity.of_one(1000))
    assert noise.distribution == "staircase"
    own = np.array([1.0, -0.5, 0.25, 0])
    drawn = noise.draw(400_000, InsecureGenerator(1)).reshape(-1, 4) @ own
    for failure in (0.1, 0.001):
        bar = noise.weighted_half_width(own, failure)
        missed, limit = np.mean(np.abs(drawn) > bar), 5.5 * math.sqrt(failure / 100_000)
        assert missed < failure + limit and failure - limit < np.mean(np.abs(drawn) > 0.9 * bar)
    z, p = law(noise.staircase, 60_000)
    for u in (1e-6, 0.003, 1.0, math.pi):
        due = (p * np.cos(u * z)).sum()
        assert noise.staircase.waves(np.array([u]))[0] == pytest.approx(due, abs=1e-9)
    assert noise.staircase.waves(np.array([0.0]))[0] == 1
