"""Proportions: by definition, in all layouts and forms, with error bars that hold."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.rng import InsecureGenerator

RNG = np.random.default_rng(8)
SIZE = 1001
CODES, KEYS, WEIGHTS = RNG.integers(0, 3, SIZE), RNG.integers(0, 2, SIZE), RNG.random(SIZE)
WORDS = np.array(["tea", "ale", "rye"])[CODES]
#: So much that there is no noise.
LOUD = {"epsilon": 400}

#: What rows have to equal, the rows, and which of them do.
CASES = {
    "truth": (True, CODES == 1, CODES == 1),
    "one": (True, CODES * 1.0, CODES == 1),
    "number": (2, CODES, CODES == 2),
    "word": ("tea", WORDS, CODES == 0),
    "list": ("rye", WORDS.tolist(), CODES == 2),
    "arrow": ("ale", pa.array(WORDS.tolist()), CODES == 1),
    "table": ("ale", {"drink": WORDS}, CODES == 1),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("unit", ["add-remove", "replace", dp.Unit(ids="", max_rows=2)])
def test_it_is_the_share_of_rows_that_match(name, unit):
    equal, data, due = CASES[name]
    people = {"ids": np.arange(SIZE) // 2} if isinstance(unit, dp.Unit) else {}
    statistic = dp.Proportion(equal=equal)
    assert statistic.measure(**LOUD, unit=unit)(data, **people) == pytest.approx(due.mean())
    masked = pickle.loads(pickle.dumps(statistic.measure(**LOUD, unit=unit, where=True)))
    found = masked(data, where=CODES > 0, **people)
    assert found == pytest.approx(due[CODES > 0].mean())


def test_missing_rows_equal_nothing():
    for rows in ([True, None, False, True], np.array([1, np.nan, 0, 1]), pa.array([1, None, 0, 1])):
        assert dp.Proportion().measure(**LOUD)(rows) == 0.5
    assert dp.Proportion(equal="a").measure(**LOUD)(["a", None, "b", "c"]) == 0.25


def test_columns_and_weights():
    both = np.stack([CODES, CODES[::-1] // 2], axis=1)
    found = dp.Proportion().measure(**LOUD, columns=2)(both)
    assert found == pytest.approx((both == 1).mean(axis=0))
    weighted = dp.Proportion(equal="tea", weight_bounds=(0, 1)).measure(**LOUD)
    due = np.average(CODES == 0, weights=WEIGHTS)
    assert weighted(WORDS, weights=WEIGHTS) == pytest.approx(due, abs=1e-6)
    assert weighted({"x": WORDS, "w": WEIGHTS}, weights="w") == pytest.approx(due, abs=1e-6)


@pytest.mark.parametrize("people", [{}, {"ids": "who", "max_rows": 2, "max_groups": 2}])
def test_by_group(people):
    table = {"key": KEYS, "word": WORDS, "code": CODES, "w": WEIGHTS, "who": np.arange(SIZE) // 2}
    groups = dp.group_by(table, "key", keys=[1, 0], **people)
    weights = {"weights": "w", "weight_bounds": (0, 1)}
    answer = groups.agg(
        {
            "tea": dp.Proportion("word", equal="tea"),
            "two": dp.Proportion("code", equal=2),
            "more": dp.Proportion("word", equal="tea", **weights),
        },
        epsilon=480,
    )
    for i, key in enumerate((1, 0)):
        assert answer["tea"][i] == pytest.approx((CODES[key == KEYS] == 0).mean())
        assert answer["two"][i] == pytest.approx((CODES[key == KEYS] == 2).mean())
        due = np.average(CODES[key == KEYS] == 0, weights=WEIGHTS[key == KEYS])
        assert answer["more"][i] == pytest.approx(due, abs=1e-3)
    # What counts of people may be a part of a row, on a grid.
    assert (answer["tea error"] <= (1e-10 if people else 0)).all()


@pytest.mark.parametrize("loss", [{"epsilon": 0.3}, {"rho": 0.02}])
@pytest.mark.parametrize("unit", ["add-remove", "replace"])
def test_error_bars_hold_and_half_of_them_do_not(loss, unit):
    measured, generator = dp.Proportion().measure(**loss, unit=unit), InsecureGenerator(4)
    bar = measured.error(200, 0.9).half_width
    for matching in (198, 100):
        rows, due = np.arange(200) < matching, matching / 200
        errors = np.array([abs(measured(rows, rng=generator) - due) for _ in range(800)])
        # Of 800 with a chance of at most 1/10 each, 127 are exceeded less than once in 1e7 runs.
        assert np.count_nonzero(errors > bar) <= 127
    assert np.count_nonzero(errors > bar / 4) > 127


@pytest.mark.parametrize("equal", [None, [1], float("nan"), 1 + 0j, b"a"])
def test_what_no_row_can_equal_is_refused(equal):
    with pytest.raises((ArgumentError, ArgumentTypeError), match="equal must be a truth value"):
        dp.Proportion(equal=equal)


def test_columns_of_another_kind_are_refused_before_the_spend():
    budget = dp.Budget(epsilon=1)
    table = {"key": KEYS, "word": WORDS, "code": CODES}
    groups = dp.group_by(table, "key", keys=[0, 1])
    calls = [
        lambda **kw: dp.Proportion(equal="tea").measure(epsilon=1)(CODES, **kw),
        lambda **kw: dp.Proportion(equal=1).measure(epsilon=1)(WORDS, **kw),
        lambda **kw: dp.Proportion(equal="tea").prepare(table, epsilon=1, axis=0, **kw).run(),
        lambda **kw: groups.agg({"p": dp.Proportion("code", equal="tea")}, epsilon=1, **kw),
        lambda **kw: groups.agg({"p": dp.Proportion("word")}, epsilon=1, **kw),
    ]
    for call in calls:
        with pytest.raises((ArgumentError, ArgumentTypeError)):
            call(budget=budget)
    assert budget.remaining["epsilon"] == 1
