"""Sensitivities of answers by group, by brute force over all neighbors of tiny tables.

What a row or a person has is every choice of groups and of rows in them, with numbers in the
corners of the bounds, within and missing. Through the real sums these become the integers that get
noise. Their differences are counted, and each bound is to be attained: for as many groups as both
sides of a step can touch, none of them is loose.
"""

import itertools
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast._core.once import forget
from dpfast._kernels import groups as kernel
from dpfast.groups import plan as plan_module
from dpfast.groups.counts import GroupHistogram
from dpfast.groups.mechanisms import PLAIN
from dpfast.groups.plan import moves_alike, moves_of
from dpfast.groups.step import Step
from dpfast.groups.sums import Counted, OfLinear
from dpfast.measurement.choice import centered_groups, choose_noise
from dpfast.measurement.features import Basis, Feature
from dpfast.noise.calibrated_integer import integer_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.privacy import ZCDP, Approx, Draws, Pure

from ..statistics.test_replay_totals import lost
from ..support.pairwise import pairwise, quick_rows

AR, REP = "add-remove", "replace"
BOUNDS = {"across": (-1.0, 2.0), "above": (0.5, 2.0), "below": (-2.0, -0.25), "one": (1.5, 1.5)}
#: Of which the cells are no multiples of the unit that sums get noise in.
ODD = {"odd": (-1.1, 2.3)}
STEPS = [(1, 1), (1, 2), (2, 1), (2, 2)]
STATISTICS = {
    "count": lambda bounds: dp.stat.count(),
    "people": lambda bounds: dp.stat.count_distinct(),
    "count nonzero": lambda bounds: dp.stat.count_nonzero("x"),
    "sum": lambda bounds: dp.stat.sum("x", bounds=bounds, nan="drop"),
    "sum with a number for NaN": lambda bounds: dp.stat.sum("x", bounds=bounds, nan="upper"),
    "mean": lambda bounds: dp.stat.mean("x", bounds=bounds, nan="drop"),
    "variance": lambda bounds: dp.stat.variance("x", bounds=bounds, nan="drop"),
    "sample variance": lambda bounds: dp.stat.variance("x", bounds=bounds, ddof=1, nan="lower"),
    "histogram": lambda bounds: dp.stat.histogram("x", bins=[-3.0, 0.0, 1.75, 3.0]),
}
NAN = float("nan")


def by_group(statistic, **given):
    for kind, own in PLAIN.items():
        if isinstance(statistic, kind):
            return own(statistic, **given)
    return OfLinear(statistic, **given)


def first_form(statistic):
    """The form that gets independent noise; None of counts."""
    if isinstance(statistic, Counted):
        return None
    return statistic.statistic.forms(statistic.axis, False)[0]


def sensitivity_of(statistic):
    form = first_form(statistic)
    return statistic.sensitivity if form is None else statistic.step.sensitivity(form)


@cache
def sides(groups: int, most: int, rows: int, values: tuple[float, ...]):
    some = [own for n in range(1, rows + 1) for own in combinations_with_replacement(values, n)]
    return [
        [(group, x) for group, own in zip(where, chosen, strict=True) for x in own]
        for touched in range(most + 1)
        for where in itertools.combinations(range(groups), touched)
        for chosen in itertools.product(some, repeat=touched)
    ]


def integers(statistic, groups, rows, shift=0, before=(), factors=None):
    """The integers that get noise, of rows that are added to what is there in two parts."""
    room, more = statistic.room(groups), statistic.room(groups)
    half = len(rows) // 2
    for to, some in ((room, [*before, *rows[:half]]), (more, rows[half:])):
        codes = np.array([group for group, _ in some], np.int32)
        statistic.add(to, codes, np.array([x for _, x in some]))
    statistic.merge(room, more)
    if isinstance(statistic, Counted):
        return room[:groups].astype(np.int64).ravel() >> shift
    factors = first_form(statistic).factors if factors is None else factors
    found = np.empty((len(factors), groups), np.int64)
    for i, ((a, b, c), form) in enumerate(zip(factors, found, strict=True)):
        kernel.combine(statistic.of_kind(room[:groups].copy(), i), a, b, c, shift, form)
    return found.ravel()


def differences(vectors, relation):
    every = np.array(vectors)
    if relation == AR:
        return every - every[0]
    return (every[:, None, :] - every).reshape(-1, every.shape[1])


def largest(apart):
    """The most coordinates, L1, squared L2 and L-infinity of some differences, exactly."""
    rough = apart.astype(float)
    squares = (rough * rough).sum(axis=1)
    near = np.flatnonzero(squares >= squares.max() * (1 - 1e-9))[:50]
    return Sensitivity(
        int(np.count_nonzero(apart, axis=1).max()),
        int(np.abs(apart).sum(axis=1).max()),
        max(sum(x * x for x in apart[i].tolist()) for i in near),
        int(np.abs(apart).max()),
    )


def case(name, relation, most, rows, bounds, every=None):
    """A statistic, how many groups there are, and what a step brings."""
    lo, hi = {**BOUNDS, **ODD}[bounds]
    if name == "people":
        rows = 1
    statistic = by_group(STATISTICS[name]((lo, hi)), step=Step(relation, most, rows, every))
    middle = (lo + hi) / 2
    if name == "histogram":
        lo, middle, hi = -2.0, 1.0, 2.0
    values = (lo - 9, middle, hi, NAN) if rows * most < 4 else (lo, middle, hi)
    groups = every or most * (1 + (relation == REP))
    return statistic, groups, sides(groups, most, rows, values)


@quick_rows(12)
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("relation", [AR, REP])
@pytest.mark.parametrize(("most", "rows"), STEPS)
@pytest.mark.parametrize("bounds", BOUNDS)
def test_the_sensitivity_is_what_neighbors_differ_by(name, relation, most, rows, bounds):
    statistic, groups, every = case(name, relation, most, rows, bounds)
    found = largest(differences([integers(statistic, groups, own) for own in every], relation))
    said = sensitivity_of(statistic)
    assert (found.l0, found.l1, found.l2_squared) <= (said.l0, said.l1, said.l2_squared)
    assert found.l1 <= said.l1 and found.l2_squared <= said.l2_squared
    assert found.linf <= said.largest
    # Where bounds are equal a mean and a variance have nothing to hide.
    assert found == replace(said, moved=None) or not said.l1


SIZES_OF_LOSS = [Pure(1), Pure(60), Pure(Fraction(1, 2**29)), Approx(0.1, 1e-4)]
SIZES_OF_LOSS += [ZCDP(0.02), ZCDP(30)]
JOINT = ("mean", "variance", "sample variance")


@pairwise
@pytest.mark.parametrize("name", JOINT)
@pytest.mark.parametrize("relation", [AR, REP])
@pytest.mark.parametrize(("most", "rows"), STEPS)
@pytest.mark.parametrize("bounds", ["across", "below", "odd"])
@pytest.mark.parametrize("loss", [Pure(40), Approx(40, 1e-5)], ids=repr)
def test_joint_noise_covers_every_move(name, relation, most, rows, bounds, loss):
    """In each group by so many stairs, that of the coordinate with the most; whatever was there."""
    statistic, groups, every = case(name, relation, most, rows, bounds)
    plan = replace(statistic, loss=loss).plan
    noise, shifts = plan.noise.staircase, plan.shifts
    for before in ((), [(0, 1.3), (0, -0.4), (groups - 1, 0.7)]):
        stairs = 0
        for form, shift, step in zip(plan.linear.factors, shifts, noise.steps, strict=True):
            own = np.array([integers(statistic, groups, o, shift, before, [form]) for o in every])
            moved = own - own[0] if relation == AR else own[:, None] - own
            stairs = np.maximum(stairs, -(-np.abs(moved) // step))
        worst = int(stairs.sum(axis=-1).max())
        assert worst * noise.epsilon <= loss.epsilon
        assert worst == most * (1 + (relation == REP))  # attained
    charged = replace(statistic, loss=loss).calibrated().loss
    assert charged == plan.noise.loss == (Draws(40, draws=most) if most > 1 else Pure(40))


@quick_rows(18)
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("relation", [AR, REP])
@pytest.mark.parametrize(("most", "rows"), STEPS)
@pytest.mark.parametrize("loss", SIZES_OF_LOSS, ids=repr)
def test_noise_covers_integers(name, relation, most, rows, loss):
    """In the unit that they get it in; rounding down may make one unit more of a move."""
    statistic, groups, every = case(name, relation, most, rows, "odd")
    statistic = replace(statistic, loss=loss)
    said = sensitivity_of(statistic)
    if (form := first_form(statistic)) is None:
        noise, shift = statistic.noise, statistic.shift
    else:
        moves, (shift, *_) = moves_of(form, statistic.step)
        noise = choose_noise(loss, moves).noise()
    for own in filter(None, (shift, noise.shift)):
        said = said.coarsened(1 << own)
    rng = np.random.default_rng(most + 7 * rows)
    every = [every[0], *(every[i] for i in rng.permutation(len(every))[:120])]
    for size in (0, 1, 7):
        where, x = rng.integers(0, groups, size).tolist(), rng.uniform(-1.1, 2.3, size).tolist()
        before = list(zip(where, x, strict=True))
        vectors = [integers(statistic, groups, own, shift + noise.shift, before) for own in every]
        apart = differences(vectors, relation)
        found = largest(apart)
        assert found.l1 <= said.l1 and found.l2_squared <= said.l2_squared
        assert found.linf <= said.largest
        squares = (apart.astype(float) ** 2).sum(axis=1)
        for at in {int(squares.argmax()), int(np.abs(apart).sum(axis=1).argmax())}:
            moved = np.abs(apart[at]).tolist()
            drawn = [(noise.distribution, noise.scale, 0)] * len(moved)
            if noise.distribution == "staircase":
                stairs = noise.staircase
                assert sum(-(-m // stairs.step) for m in moved) * stairs.epsilon <= loss.epsilon
                continue
            assert lost(drawn, moved, loss) <= 1e-9


@pairwise
@pytest.mark.parametrize("name", ["count", "people", "sum", "mean", "histogram"])
@pytest.mark.parametrize(
    ("most", "rows", "every"), [(1, 1, 1), (1, 2, 1), (2, 1, 2), (2, 2, 2), (2, 1, 3), (3, 1, 4)]
)
@pytest.mark.parametrize("bounds", BOUNDS)
def test_two_sides_share_some(name, most, rows, every, bounds):
    """A replaced person in 2 of 3 groups is in one of them before and after."""
    statistic, _, brought = case(name, REP, most, rows, bounds, every)
    apart = differences([integers(statistic, every, own) for own in brought], REP)
    found, said = largest(apart), sensitivity_of(statistic)
    if name in ("mean", "histogram"):  # a vector may turn
        assert found.l1 <= said.l1 and found.l2_squared <= said.l2_squared
    else:
        assert found == replace(said, moved=None)  # attained
    moves, far = said.moves
    assert int((-(-np.abs(apart) // max(1, far))).sum(axis=1).max()) <= moves


@pairwise
@pytest.mark.parametrize("name", ["count", "sum", "mean", "variance", "histogram"])
@pytest.mark.parametrize(("most", "rows", "every"), [(2, 1, 2), (2, 2, 2), (2, 1, 3)])
@pytest.mark.parametrize("bounds", ["above", "below", "odd"])
@pytest.mark.parametrize("shift", [0, 3])
@pytest.mark.parametrize("off", [Fraction(1, 2), Fraction(1, 4)])
def test_what_is_taken_off_each_sum_leaves_no_more_than_is_said(
    name, most, rows, every, bounds, shift, off
):
    """Of sums that only grow, for noise that groups share; in units of the noise, too."""
    statistic, groups, brought = case(name, AR, most, rows, bounds, every)
    with patch.object(plan_module, "unit_of", lambda size: shift):
        if isinstance(statistic, Counted):
            norm = statistic.sensitivity, statistic.largest, statistic.growing
            moves, _ = moves_alike(statistic.step, *norm)
        else:
            moves, _ = moves_of(first_form(statistic), statistic.step)
    before = [(group, x) for group in range(groups) for x in (-1.7, 0.3, 1.9)] * 2
    vectors = [integers(statistic, groups, own, shift, before) for own in ([], *brought)]
    apart = np.abs(differences(vectors, AR))  # each has one sign
    if name == "sum" and bounds == "odd":  # of numbers of both signs
        assert moves.groups.every == 0
        return
    assert moves.groups.every == apart.shape[1]
    said = centered_groups(moves.groups.every, most, moves.sizes[0], off).norm
    left = np.abs(off.denominator * apart.astype(object) - off.numerator * moves.sizes[0])
    square = (left**2).sum(axis=1).max()
    assert left.sum(axis=1).max() <= said.l1 and square <= said.l2_squared
    if not shift and name in ("count", "mean"):
        assert square > 0.9 * said.l2_squared  # and planted, of one group less:
        less = centered_groups(moves.groups.every - 1, most, moves.sizes[0], off).norm
        assert square > less.l2_squared


TRUE = {"numbers": Step.numbers, "vectors": Step.vectors}


def of_one_side(monkeypatch):
    """The largest group's size where two come and go."""
    monkeypatch.setattr(Step, "sides", property(lambda self: 1))


def without_the_swing(monkeypatch):
    """sqrt(2) of the largest number, where a person's sum goes from the low to the high end."""

    def numbers(self, first, last):
        most, touched = self.rows * max(abs(first), abs(last)), self.groups * self.sides
        return Sensitivity(touched, touched * most, touched * most**2, most)

    monkeypatch.setattr(Step, "numbers", numbers)


def of_another(change):
    """Sensitivities are those of another step."""

    def fault(monkeypatch):
        for name, true in TRUE.items():
            wrong = lambda self, *given, true=true: true(replace(self, **change(self)), *given)  # noqa: E731
            monkeypatch.setattr(Step, name, wrong)

    return fault


without_groups, without_rows = (of_another(lambda self, n=n: {n: 1}) for n in ("groups", "rows"))
#: Both sides are said to share a group more than they have to.
shared = of_another(lambda self: {"every": self.every and self.every - 1})


def one_bin_a_person(monkeypatch):
    """A person's rows in one group may be in different bins."""
    own = property(lambda self: self.step.vectors(1, 1))
    monkeypatch.setattr(GroupHistogram, "sensitivity", own)


def not_rounded(monkeypatch):
    """A unit more, by rounding down, is not thought of."""

    def coarsened(self, unit):
        sizes = -(-self.l1 // unit), self.l2_squared / unit**2, -(-self.largest // unit)
        return Sensitivity(self.l0, *sizes)

    monkeypatch.setattr(Sensitivity, "coarsened", coarsened)


def fewer_moves(monkeypatch):
    """Those of the rows that go are thought of, and not those that come."""
    monkeypatch.setattr(Step, "moves", property(lambda self: self.groups))


def one_row_a_person(monkeypatch):
    """What one row moves is thought of, and not how many a person has."""
    own = plan_module.moves_of
    one = lambda form, step: own(form, replace(step, rows=1))  # noqa: E731
    monkeypatch.setattr(plan_module, "moves_of", one)


SENSITIVITY, SHARED = test_the_sensitivity_is_what_neighbors_differ_by, test_two_sides_share_some
JOINTLY, COARSE = test_joint_noise_covers_every_move, test_noise_covers_integers
SIZES = ("count", "people", "count nonzero", "sum", "mean", "variance", "histogram")
FAULTS = [
    (of_one_side, SENSITIVITY, SIZES, (REP, 1, 1, "across")),
    (without_the_swing, SENSITIVITY, ("sum",), (REP, 1, 1, "across")),
    (without_the_swing, SENSITIVITY, ("sum",), (REP, 2, 2, "across")),
    (without_groups, SENSITIVITY, SIZES, (AR, 2, 1, "above")),
    (without_rows, SENSITIVITY, {*SIZES} - {"people"}, (AR, 1, 2, "above")),
    (one_bin_a_person, SENSITIVITY, ("histogram",), (AR, 1, 2, "across")),
    (shared, SHARED, ("count", "people", "sum"), (2, 1, 3, "above")),
    (fewer_moves, JOINTLY, ("mean", "variance"), (REP, 1, 1, "across", Pure(40))),
    (fewer_moves, JOINTLY, ("mean", "variance"), (REP, 2, 1, "odd", Pure(40))),
    (one_row_a_person, JOINTLY, ("mean", "variance"), (AR, 1, 2, "across", Pure(40))),
    (of_one_side, COARSE, ("variance",), (REP, 2, 1, Pure(1))),
    (not_rounded, COARSE, ("variance",), (REP, 2, 1, Pure(1))),
]


@pytest.mark.parametrize(("fault", "test", "names", "given"), FAULTS)
def test_every_fault_is_found(fault, test, names, given, monkeypatch):
    fault(monkeypatch)
    for name in names:
        integer_noise.cache_clear()
        forget()
        with pytest.raises(AssertionError):
            test(name, *given)
    integer_noise.cache_clear()
    forget()


@pytest.mark.parametrize("loss", [Pure(1), ZCDP(1), Approx(1, 1e-6)], ids=str)
def test_noise_is_for_all_that_a_row_adds_whichever_feature_is_first(loss):
    """Planted: a size that is that of the first feature alone shares no noise."""
    rows, cells = Feature((0, 1, 0), 0, 1), Feature((1, 0, 0), 0, 100)
    step, deviations = Step(AR, groups=4, rows=2, every=4), []
    for features in ((rows, cells), (cells, rows)):
        moves, _ = moves_of(Basis(features, (Fraction(1), Fraction(1)), norm=101), step)
        assert moves.sizes == (202,) and moves.norm.largest == 202
        deviations.append(choose_noise(loss, moves).noise().deviation)
    less = choose_noise(loss, replace(moves, sizes=(2,))).noise()
    assert deviations[0] == deviations[1] > 70 and less.deviation > 70
