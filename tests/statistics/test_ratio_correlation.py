"""Ratios and correlations: by definition, for rows, people and groups; error bars that hold."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.groups.pairs import GroupCorrelation
from dpfast.groups.step import Step
from dpfast.rng import InsecureGenerator

from ..support.pairwise import every_value, quick_rows

RNG = np.random.default_rng(9)
SIZE = 2000
X = RNG.uniform(-1, 1, SIZE)
XY = np.stack([X, X / 2 + RNG.uniform(0, 1, SIZE)], axis=1)
KEYS = RNG.integers(0, 2, SIZE)
TABLE = {"x": XY[:, 0], "y": XY[:, 1], "key": KEYS, "who": np.arange(SIZE) // 2}
BOUNDS = [(-1, 1), (-0.5, 1.5)]
#: So much that there is no noise.
LOUD = {"epsilon": 400}
UNITS = ["add-remove", "replace", dp.Unit(ids="", max_rows=2), dp.Unit("replace", "", 2)]


def ratio(rows):
    return rows[:, 0].sum() / rows[:, 1].sum()


def correlation(rows):
    return np.corrcoef(rows.T)[0, 1]


KINDS = [(dp.Ratio, ratio), (dp.Correlation, correlation)]
BOTH = pytest.mark.parametrize(("kind", "by_definition"), KINDS)


@quick_rows(3)
@BOTH
@pytest.mark.parametrize("unit", UNITS)
def test_it_is_what_numpy_says(kind, by_definition, unit):
    people = {"ids": TABLE["who"]} if isinstance(unit, dp.Unit) else {}
    measured = pickle.loads(pickle.dumps(kind(bounds=BOUNDS).measure(**LOUD, unit=unit)))
    table = {"x": XY[:, 0], "y": XY[:, 1]}
    for data in (XY, table, pa.table(table)):
        found = measured(data, **people)
        assert isinstance(found, float) and found == pytest.approx(by_definition(XY), abs=1e-4)
    masked = kind(bounds=BOUNDS).measure(**LOUD, unit=unit, where=True)
    found = masked(XY, where=KEYS > 0, **people)
    assert found == pytest.approx(by_definition(XY[KEYS > 0]), abs=1e-4)


@BOTH
@pytest.mark.parametrize("people", [{}, {"ids": "who", "max_rows": 2, "max_groups": 2}])
def test_by_group(kind, by_definition, people):
    groups = dp.group_by(TABLE, "key", keys=[1, 0, 7], **people)
    name = kind.__name__.lower()
    given = {"other": "y", "bounds": BOUNDS, "rng": InsecureGenerator(2), **LOUD}
    answer = getattr(groups, name)("x", **given)
    for i, key in enumerate((1, 0)):
        assert answer[name][i] == pytest.approx(by_definition(XY[key == KEYS]), abs=1e-3)
    assert np.isfinite(answer[name][2]) and answer[f"{name} error"][2] >= 2  # nothing is known
    assert (answer[f"{name} error"][:2] < 0.01).all()
    missing = {**TABLE, "x": np.where(np.arange(SIZE) % 7 == 0, np.nan, TABLE["x"])}
    groups = dp.group_by(missing, "key", keys=[1], **people)
    kept = (KEYS == 1) & ~np.isnan(missing["x"])
    if kind is dp.Correlation:
        found = groups.correlation("x", nan="drop", **given)
        assert found[name][0] == pytest.approx(correlation(XY[kept]), abs=1e-3)


def test_each_of_several_columns_has_a_ratio_to_the_last():
    rows = np.column_stack([XY, XY[:, 0] + 2])
    bounds = [*BOUNDS, (1, 3)]
    due = rows.sum(axis=0)[:2] / rows.sum(axis=0)[2]
    assert dp.ratio(rows, bounds=bounds, **LOUD) == pytest.approx(due)
    measured = dp.Ratio(bounds=bounds).measure(epsilon=1, columns=3)
    assert measured(rows) == pytest.approx(due, abs=0.1)
    assert len(measured.error(SIZE, 0.95).half_width) == 2


def test_what_is_not_defined():
    rows, bounds = np.zeros((100, 2)), [(0, 1), (0, 1)]
    assert [dp.ratio(rows, bounds=bounds, epsilon=0.1) for _ in range(200)].count(0) > 100
    assert dp.ratio(rows, bounds=bounds, **LOUD) == 0
    assert dp.correlation(rows, bounds=bounds, **LOUD) == 0
    assert dp.correlation(rows[:0], bounds=bounds, epsilon=1, neighbors="replace") == 0
    assert dp.correlation(rows + 1, bounds=[(0, 1), (1, 1)], epsilon=1) == 0
    answers = [dp.correlation(XY[:9], bounds=BOUNDS, epsilon=0.1) for _ in range(50)]
    assert all(-1 <= answer <= 1 for answer in answers)
    unknown = dp.Ratio(bounds=[(0, 1), (-1, 1)]).measure(epsilon=1).error(1000, 0.95)
    assert unknown.half_width is None and "may be 0" in unknown.note
    assert dp.Ratio(bounds=bounds).measure(epsilon=1).error(None, 0.95).half_width is None


LOSSES = [{"epsilon": 1}, {"rho": 0.02}]
EVEN = np.stack([np.linspace(0, 1, 1500), 2 * np.linspace(0, 1, 1500) % 1], axis=1)


@every_value
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("unit", ["add-remove", "replace"])
@BOTH
def test_error_bars_hold_and_a_part_of_them_does_not(kind, by_definition, unit, loss):
    measured, generator = kind(bounds=[(0, 1)] * 2).measure(**loss, unit=unit), InsecureGenerator(5)
    bar = measured.error(len(EVEN), 0.9).half_width
    errors = [abs(measured(EVEN, rng=generator) - by_definition(EVEN)) for _ in range(400)]
    # Of 400 with a chance of at most 1/10 each, 74 are exceeded less than once in 1e7 runs.
    assert np.count_nonzero(np.array(errors) > bar) <= 74
    assert np.count_nonzero(np.array(errors) > bar / 10) > 74


def shapes(n):
    """Columns of at least the variance of even ones, of any correlation and mean."""
    x, some = (np.arange(n) + 0.5) / n, np.random.default_rng(3)
    corner, half = (x < 0.908) * 1.0, (x < 0.5) * 1.0
    other = (some.random(n) < 0.908) * 1.0
    yield from (
        [x, x],
        [x, 1 - x],
        [x, some.permutation(x)],
        [x, np.where(half, x, some.random(n))],
    )
    yield from ([corner, corner], [corner, other], [corner, 1 - other], [half, 1 - half])


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("loss", [{"rho": 0.1}, {"epsilon": 6}, {"epsilon": 1}])
@pytest.mark.parametrize("unit", ["add-remove", "replace"])
def test_error_bars_of_correlations_hold_for_all_that_vary_as_much(unit, loss):
    measured = dp.Correlation(bounds=[(0, 1)] * 2).measure(**loss, unit=unit)
    generator, reached, draws = InsecureGenerator(7), 0, 60
    for n in (300, 1500):
        bar = measured.error(n, 0.8).half_width
        for columns in shapes(n):
            rows = np.stack(columns, axis=1)
            due = correlation(rows)
            off = np.array([abs(measured(rows, rng=generator) - due) for _ in range(draws)])
            # Of 60 with a chance of at most 1/5 each, 31 are exceeded less than once in 1e7 runs.
            assert np.count_nonzero(off > bar) <= 31
            reached = max(reached, np.count_nonzero(off > bar / 4))
    assert reached > 31  # the control: a quarter of the bar would not hold


@every_value
@pytest.mark.parametrize("loss", LOSSES)
@BOTH
def test_error_bars_by_group_hold_and_a_part_of_them_does_not(kind, by_definition, loss):
    table = {"key": np.zeros(SIZE, int), "x": XY[:, 0], "y": XY[:, 1]}
    groups, generator = dp.group_by(table, "key", keys=[0]), InsecureGenerator(6)
    statistics, due = {"a": kind("x", other="y", bounds=BOUNDS)}, by_definition(XY)
    found = [groups.agg(statistics, **loss, rng=generator) for _ in range(300)]
    errors = np.array([abs(one["a"][0] - due) / one["a error"][0] for one in found])
    # Of 300 with a chance of at most 1/20 each, 39 are exceeded less than once in 1e7 runs.
    assert np.count_nonzero(errors > 1) <= 39 < np.count_nonzero(errors > 1 / 40)


@BOTH
def test_a_public_number_of_rows_is_known(kind, by_definition):
    function = getattr(dp, kind.__name__.lower())
    for loss in ({"epsilon": 1}, {"rho": 0.5}):
        ask = {"bounds": BOUNDS, **loss, "neighbors": "replace"}
        due = kind(bounds=BOUNDS).measure(**loss, unit="replace").error(SIZE, 0.95)
        assert dp.expected_error(function, XY, **ask) == due
        for private in ({"where": KEYS > 0}, {"ids": TABLE["who"], "max_rows": 2}):
            assert dp.expected_error(function, XY, **ask, **private).half_width is None
    assert dp.expected_error(function, XY, bounds=BOUNDS, epsilon=1).half_width is None


def test_no_row_adds_more_to_the_sums_of_a_group_than_their_noise_is_for():
    statistic = dp.Correlation("x", other="y", bounds=[(-3, 7), (0.1, 0.7)])
    made = GroupCorrelation(statistic, step=Step("add-remove"), loss=dp.privacy.Pure(1))
    x, y = (one.ravel() for one in np.meshgrid(np.linspace(-3, 7, 41), np.linspace(0.1, 0.7, 41)))
    each = zip((x, y), made.parts, strict=True)
    features = made.of_rows(*((z - least) / size for z, (least, size) in each))
    cells = sum(np.rint(feature * (1 << 28)) for feature in features)
    assert all(feature.min() >= 0 for feature in features) and cells.max() <= made.largest
    assert cells.max() > 0.99 * made.largest  # what less noise would be too little for
    assert made.sensitivity.l1 == made.largest


@pytest.mark.parametrize(
    "call",
    [
        lambda: dp.Ratio(bounds=(0, 1)),
        lambda: dp.Ratio(bounds=[(0, 1)]),
        lambda: dp.Correlation(bounds=[(0, 1)] * 3),
        lambda: dp.ratio(XY, bounds=[(0, 1)] * 3, epsilon=1),
        lambda: dp.Ratio(bounds=BOUNDS).measure(epsilon=1, columns=3),
        lambda: dp.group_by(TABLE, "key", keys=[0]).ratio("x", bounds=BOUNDS, epsilon=1),
        lambda: dp.group_by(TABLE, "key", keys=[0]).ratio("x", other="z", bounds=BOUNDS, epsilon=1),
        lambda: dp.Ratio("x", other=3, bounds=BOUNDS),
    ],
)
def test_what_is_refused(call):
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        call()


@pytest.mark.parametrize("bounds", [[(0, 1), (0, 0)], [(3, 3), (0, 1)]])
@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": 0.5}, {"epsilon": 1, "delta": 1e-6}])
def test_bounds_that_are_equal_are_an_answer_under_every_loss(bounds, loss):
    """A sum without noise has an error bar of 0, of Gaussian noise too."""
    rows = np.tile([bounds[0][1], bounds[1][1]], (50, 1))
    for neighbors in "add-remove", "replace":
        assert np.isfinite(dp.ratio(rows, bounds=bounds, neighbors=neighbors, **loss))
