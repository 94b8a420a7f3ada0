"""Proportions, ratios, correlations and differences: by definition, with error bars that hold."""

import datetime
import pickle
from functools import partial
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.groups.pairs import GroupCorrelation
from dpfast.groups.step import Step
from dpfast.rng import InsecureGenerator

from ..support.pairwise import every_value, quick_rows
from ..support.refused import refused

RNG = np.random.default_rng(9)
SIZE = 2000
X = RNG.uniform(-1, 1, SIZE)
XY = np.stack([X, X / 2 + RNG.uniform(0, 1, SIZE)], axis=1)
KEYS, CODES, WEIGHTS = RNG.integers(0, 2, SIZE), RNG.integers(0, 3, SIZE), RNG.random(SIZE)
WORDS = np.array(["tea", "ale", "rye"])[CODES]
IDS = np.arange(SIZE) // 2
TABLE = {"x": XY[:, 0], "y": XY[:, 1], "key": KEYS, "who": IDS, "word": WORDS, "code": CODES}
BOUNDS = [(-1, 1), (-0.5, 1.5)]
#: So much that there is no noise.
LOUD = {"epsilon": 400}
UNITS = ["add-remove", "replace", dp.Unit(ids="", max_rows=2), dp.Unit("replace", "", 2)]
PEOPLE = {"ids": "who", "max_rows": 2, "max_groups": 2}


def ids_of(unit):
    return {"ids": IDS} if isinstance(unit, dp.Unit) else {}


#: What rows have to equal, the rows, and which of them do.
CASES = {
    "truth": (True, CODES == 1, CODES == 1), "one": (True, CODES * 1.0, CODES == 1),
    "number": (2, CODES, CODES == 2), "word": ("tea", WORDS, CODES == 0),
    "arrow": ("ale", pa.array(WORDS.tolist()), CODES == 1),
    "table": ("ale", {"drink": WORDS}, CODES == 1),
}  # fmt: skip


@every_value
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("unit", UNITS[:3])
def test_a_proportion_is_the_share_of_rows_that_match(name, unit):
    equal, data, due = CASES[name]
    people, statistic = ids_of(unit), dp.Proportion(equal=equal)
    assert statistic.measure(**LOUD, unit=unit)(data, **people) == pytest.approx(due.mean())
    masked = pickle.loads(pickle.dumps(statistic.measure(**LOUD, unit=unit, where=True)))
    found = masked(data, where=CODES > 0, **people)
    assert found == pytest.approx(due[CODES > 0].mean())


def test_columns_weights_and_missing_rows_of_proportions():
    for rows in ([True, None, False, True], np.array([1, np.nan, 0, 1]), pa.array([1, None, 0, 1])):
        assert dp.Proportion().measure(**LOUD)(rows) == 0.5
    assert dp.Proportion(equal="a").measure(**LOUD)(["a", None, "b", "c"]) == 0.25
    both = np.stack([CODES, CODES[::-1] // 2], axis=1)
    found = dp.Proportion().measure(**LOUD, columns=2)(both)
    assert found == pytest.approx((both == 1).mean(axis=0))
    weighted = dp.Proportion(equal="tea", weight_bounds=(0, 1)).measure(**LOUD)
    due = pytest.approx(np.average(CODES == 0, weights=WEIGHTS), abs=1e-6)
    assert weighted(WORDS, weights=WEIGHTS) == due
    assert weighted({"x": WORDS, "w": WEIGHTS}, weights="w") == due


@pytest.mark.parametrize("people", [{}, PEOPLE])
def test_proportions_by_group(people):
    groups = dp.group_by({**TABLE, "w": WEIGHTS}, "key", keys=[1, 0], **people)
    weights = {"weights": "w", "weight_bounds": (0, 1)}
    statistics = {
        "tea": dp.Proportion("word", equal="tea"),
        "two": dp.Proportion("code", equal=2),
        "more": dp.Proportion("word", equal="tea", **weights),
    }
    answer = groups.agg(statistics, epsilon=480)
    for i, key in enumerate((1, 0)):
        codes, own = CODES[key == KEYS], WEIGHTS[key == KEYS]
        assert answer["tea"][i] == pytest.approx((codes == 0).mean())
        assert answer["two"][i] == pytest.approx((codes == 2).mean())
        assert answer["more"][i] == pytest.approx(np.average(codes == 0, weights=own), abs=1e-3)
    # What counts of people may be a part of a row, on a grid.
    assert (answer["tea error"] <= (1e-10 if people else 0)).all()


def correlation(rows):
    return np.corrcoef(rows.T)[0, 1]


BOTH = pytest.mark.parametrize(("kind", "by_definition"), [
    (dp.Ratio, lambda rows: np.divide(*rows.sum(axis=0))), (dp.Correlation, correlation),
])  # fmt: skip


@quick_rows(3)
@BOTH
@pytest.mark.parametrize("unit", UNITS)
def test_it_is_what_numpy_says(kind, by_definition, unit):
    people, table = ids_of(unit), {"x": XY[:, 0], "y": XY[:, 1]}
    measured = pickle.loads(pickle.dumps(kind(bounds=BOUNDS).measure(**LOUD, unit=unit)))
    for data in (XY, table, pa.table(table)):
        found = measured(data, **people)
        assert isinstance(found, float) and found == pytest.approx(by_definition(XY), abs=1e-4)
    masked = kind(bounds=BOUNDS).measure(**LOUD, unit=unit, where=True)
    found = masked(XY, where=KEYS > 0, **people)
    assert found == pytest.approx(by_definition(XY[KEYS > 0]), abs=1e-4)


@BOTH
@pytest.mark.parametrize("people", [{}, PEOPLE])
def test_by_group(kind, by_definition, people):
    name, missing = kind.__name__.lower(), np.where(np.arange(SIZE) % 7, TABLE["x"], np.nan)
    given = {"other": "y", "bounds": BOUNDS, "rng": InsecureGenerator(2), **LOUD}
    answer = getattr(dp.group_by(TABLE, "key", keys=[1, 0, 7], **people), name)("x", **given)
    for i, key in enumerate((1, 0)):
        assert answer[name][i] == pytest.approx(by_definition(XY[key == KEYS]), abs=1e-3)
    assert np.isfinite(answer[name][2]) and answer[f"{name} error"][2] >= 2  # nothing is known
    assert (answer[f"{name} error"][:2] < 0.01).all()
    if kind is dp.Correlation:
        groups = dp.group_by({**TABLE, "x": missing}, "key", keys=[1], **people)
        due = correlation(XY[(KEYS == 1) & ~np.isnan(missing)])
        found = groups.correlation("x", nan="drop", **given)
        assert found[name][0] == pytest.approx(due, abs=1e-3)


def test_each_of_several_columns_has_a_ratio_to_the_last():
    rows, bounds = np.column_stack([XY, XY[:, 0] + 2]), [*BOUNDS, (1, 3)]
    due = rows.sum(axis=0)[:2] / rows.sum(axis=0)[2]
    assert dp.ratio(rows, bounds=bounds, **LOUD) == pytest.approx(due)
    measured = dp.Ratio(bounds=bounds).measure(epsilon=1, columns=3)
    assert measured(rows) == pytest.approx(due, abs=0.1)
    assert len(measured.error(SIZE, 0.95).half_width) == 2


def test_what_is_not_defined():
    rows, bounds = np.zeros((100, 2)), [(0, 1), (0, 1)]
    assert [dp.ratio(rows, bounds=bounds, epsilon=0.1) for _ in range(80)].count(0) > 20
    assert dp.ratio(rows, bounds=bounds, **LOUD) == dp.correlation(rows, bounds=bounds, **LOUD) == 0
    assert dp.correlation(rows[:0], bounds=bounds, epsilon=1, neighbors="replace") == 0
    assert dp.correlation(rows + 1, bounds=[(0, 1), (1, 1)], epsilon=1) == 0
    answers = [dp.correlation(XY[:9], bounds=BOUNDS, epsilon=0.1) for _ in range(20)]
    assert all(-1 <= answer <= 1 for answer in answers)
    unknown = dp.Ratio(bounds=[(0, 1), (-1, 1)]).measure(epsilon=1).error(1000, 0.95)
    assert unknown.half_width is None and "may be 0" in unknown.note
    assert dp.Ratio(bounds=bounds).measure(epsilon=1).error(None, 0.95).half_width is None
    # A sum without noise has an error bar of 0, of Gaussian noise too.
    losses = {"epsilon": 1}, {"rho": 0.5}, {"epsilon": 1, "delta": 1e-6}
    for loss, bounds, one in product(losses, ([(0, 1), (0, 0)], [(3, 3), (0, 1)]), UNITS[:2]):
        rows = np.tile([bounds[0][1], bounds[1][1]], (50, 1))
        assert np.isfinite(dp.ratio(rows, bounds=bounds, neighbors=one, **loss))


def shapes(n):
    """Columns of at least the variance of even ones, of any correlation and mean."""
    x, some = (np.arange(n) + 0.5) / n, np.random.default_rng(3)
    corner, half, other = (x < 0.908) * 1.0, (x < 0.5) * 1.0, (some.random(n) < 0.908) * 1.0
    random = some.permutation(x)
    for y in (x, 1 - x, random, np.where(half, x, random)):
        yield [x, y]
    for y in (corner, other, 1 - other):
        yield [corner, y]
    yield [half, 1 - half]


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("loss", [{"rho": 0.1}, {"epsilon": 6}, {"epsilon": 1}])
@pytest.mark.parametrize("unit", UNITS[:2])
def test_error_bars_of_correlations_hold_for_all_that_vary_as_much(unit, loss):
    measured = dp.Correlation(bounds=[(0, 1)] * 2).measure(**loss, unit=unit)
    generator, reached = InsecureGenerator(7), 0
    for n in (300, 1500):
        bar = measured.error(n, 0.8).half_width
        for rows in (np.stack(columns, axis=1) for columns in shapes(n)):
            due = correlation(rows)
            off = np.array([abs(measured(rows, rng=generator) - due) for _ in range(60)])
            # Of 60 with a chance of at most 1/5 each, 31 are exceeded less than once in 1e7 runs.
            assert np.count_nonzero(off > bar) <= 31
            reached = max(reached, np.count_nonzero(off > bar / 4))
    assert reached > 31  # the control: a quarter of the bar would not hold


@BOTH
def test_a_public_number_of_rows_is_known(kind, by_definition):
    function = getattr(dp, kind.__name__.lower())
    for loss in ({"epsilon": 1}, {"rho": 0.5}):
        ask = {"bounds": BOUNDS, **loss, "neighbors": "replace"}
        due = kind(bounds=BOUNDS).measure(**loss, unit="replace").error(SIZE, 0.95)
        assert dp.expected_error(function, XY, **ask) == due
        for private in ({"where": KEYS > 0}, {"ids": IDS, "max_rows": 2}):
            assert dp.expected_error(function, XY, **ask, **private).half_width is None
    assert dp.expected_error(function, XY, bounds=BOUNDS, epsilon=1).half_width is None


def test_no_row_adds_more_to_the_sums_of_a_group_than_their_noise_is_for():
    statistic = dp.Correlation("x", other="y", bounds=[(-3, 7), (0.1, 0.7)])
    made = GroupCorrelation(statistic, step=Step("add-remove"), loss=dp.privacy.Pure(1))
    x, y = (one.ravel() for one in np.meshgrid(np.linspace(-3, 7, 41), np.linspace(0.1, 0.7, 41)))
    each = zip((x, y), made.parts, strict=True)
    features = made.of_rows(*((z - least) / size for z, (least, size) in each))
    cells = np.array([np.rint(feature * (1 << 28)) for feature in features])
    assert all(feature.min() >= 0 for feature in features)
    assert 0.99 * made.largest < cells.sum(0).max() <= made.largest == made.sensitivity.l1
    assert 0.99 * made.sensitivity.l2_squared < (cells**2).sum(0).max()
    assert (cells**2).sum(0).max() <= made.sensitivity.l2_squared < ((1 << 28) + 3) ** 2


@pytest.mark.parametrize("call", [
    lambda: dp.Ratio(bounds=(0, 1)), lambda: dp.Ratio(bounds=[(0, 1)]),
    lambda: dp.Correlation(bounds=[(0, 1)] * 3), lambda: dp.Ratio("x", other=3, bounds=BOUNDS),
    lambda: dp.ratio(XY, bounds=[(0, 1)] * 3, epsilon=1),
    lambda: dp.Ratio(bounds=BOUNDS).measure(epsilon=1, columns=3),
    lambda: dp.Ratio(bounds=BOUNDS).prepare(XY, axis="a", epsilon=1),
    lambda: dp.group_by(TABLE, "key", keys=[0]).ratio("x", bounds=BOUNDS, epsilon=1),
    lambda: dp.group_by(TABLE, "key", keys=[0]).ratio("x", other="z", bounds=BOUNDS, epsilon=1),
])  # fmt: skip
def test_ratios_and_correlations_that_are_refused(call):
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        call()


GROUP = RNG.random(SIZE) < 0.4
PAY = RNG.uniform(0, 0.5, SIZE) + 0.3 * GROUP
FRAME = {"x": PAY, "g": GROUP}
CARRIERS = np.array(["UA", "AA"])[GROUP * 1]
MEAN = dp.Mean(bounds=(0, 1))
STATISTICS = {
    "mean": (MEAN, np.mean), "sum": (dp.Sum(bounds=(0, 1)), np.sum),
    "std": (dp.Std(bounds=(0, 1)), np.std), "median": (dp.Median(bounds=(0, 1)), np.median),
}  # fmt: skip


def due(function, where=True):
    return function(PAY[GROUP & where]) - function(PAY[~GROUP & where])


@every_value
@pytest.mark.parametrize("kind", STATISTICS)
@pytest.mark.parametrize("unit", UNITS[:3])
def test_a_difference_is_that_of_two_answers(kind, unit):
    statistic, function = STATISTICS[kind]
    people, generator = ids_of(unit), InsecureGenerator(3)
    measured = dp.Difference(of=statistic).measure(**LOUD, unit=unit)
    if kind != "median":  # whose rule of ranks is a function
        measured = pickle.loads(pickle.dumps(measured))
    for data in (np.stack([PAY, GROUP], axis=1), FRAME):
        assert measured(data, **people, rng=generator) == pytest.approx(due(function), abs=2e-3)
    masked = dp.Difference(of=statistic).measure(**LOUD, unit=unit, where=True)
    found = masked(FRAME, where=PAY > 0.3, **people, rng=generator)
    assert found == pytest.approx(due(function, PAY > 0.3), abs=2e-3)


def test_groups_of_words_of_files_and_of_several_columns(tmp_path):
    table, keys = {"x": PAY, "carrier": CARRIERS}, {"of": MEAN, "keys": ("AA", "UA"), **LOUD}
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    for data in (table, pa.table(table), dp.scan(tmp_path / "t.parquet", ["x", "carrier"])):
        assert dp.difference(data, **keys) == pytest.approx(due(np.mean))
    few = {"x": PAY, "carrier": np.where(PAY > 0.6, "DL", CARRIERS)}
    assert dp.difference(few, **keys) == pytest.approx(due(np.mean, PAY <= 0.6))
    rows = {"x": PAY, "y": 1 - PAY**2, "g": GROUP}
    found = dp.difference(rows, of=dp.Correlation(bounds=[(0, 1)] * 2), **LOUD)
    first, second = (np.corrcoef(PAY[some], 1 - PAY[some] ** 2)[0, 1] for some in (GROUP, ~GROUP))
    assert found == pytest.approx(first - second, abs=1e-4)


def test_both_answers_cost_one_and_a_replaced_row_two():
    for loss in ({"epsilon": 1}, {"rho": 0.1}):
        for unit in UNITS[:2]:
            alone = dp.Sum(bounds=(0, 1)).measure(**loss, unit="add-remove")
            both = dp.Difference(of=dp.Sum(bounds=(0, 1))).measure(**loss, unit=unit)
            assert all(getattr(both.loss, name) == getattr(alone.loss, name) for name in loss)
            more = both.error(9, 0.9).half_width / alone.error(9, 0.9).half_width
            assert more == pytest.approx(3.3 if unit == "replace" else 1.65, rel=0.1)
    given = {"of": MEAN, "epsilon": 1, "neighbors": "replace"}
    assert dp.expected_error(dp.difference, FRAME, rows=SIZE, **given).half_width > 0


NUMBERS = {"x": GROUP, "g": GROUP}
DAYS = (datetime.date(2020, 1, 1), datetime.date(2030, 1, 1))
OF_DAYS = {"x": np.full(SIZE, np.datetime64("2021-01-01")), "g": GROUP}
BINS = {"bins": 8, "bounds": (0, 1)}
PROPOSED = dp.ptr.Mean(bounds=(0, 1), proposed=0.1)
NO_NUMBER = [dp.Histogram(**BINS), dp.TreeHistogram(**BINS), dp.OuterBounds(), PROPOSED,
             dp.Difference(of=MEAN)]  # fmt: skip


def of(statistic, data=None, **kw):
    if data is None:
        return lambda budget: dp.Difference(of=statistic, **kw)
    return partial(dp.difference, data, of=statistic, epsilon=1, **kw)


@pytest.mark.parametrize(("call", "words"), [
    *((of(kind), "of numbers") for kind in NO_NUMBER), (of(3), "of"), (of(MEAN, PAY), "data"),
    (of({"statistic": "mean"}), "of mean: missing .*'bounds'"), (of({"statistic": "m"}), "of"),
    (of({"statistic": "count", 3: 1}), "of count: keywords"), (of(MEAN, keys=(1, 1)), "keys"),
    (of(dp.Mean(bounds="auto")), "bounds"), (of(MEAN, {"x": CARRIERS, "g": GROUP}), "data"),
    (of(MEAN, FRAME, keys=("a", "b")), "column 'g' of data must be"),
    (lambda budget: dp.Difference(of=MEAN).measure(epsilon=1, columns=3), "columns must be left"),
    (lambda budget: dp.Difference(of=MEAN).prepare(NUMBERS, axis=0, epsilon=1), "axis must be"),
    (of(dp.Proportion(equal=300), NUMBERS), "equal must be booleans"),
    (of(dp.Mean(bounds=DAYS), FRAME), "bounds"),
    (of(dp.Mean(bounds=DAYS), OF_DAYS), "column 'x' of data must be numbers"),
    (of(dp.Count(), CARRIERS, keys=("AA", "UA")), "^keys must be"),
])  # fmt: skip
def test_differences_that_are_refused_before_the_spend(call, words):
    refused(call, words)
