"""A mechanism is the call of its function: the same checks, loss, bits and answer."""

import json
import pickle
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.app.mechanism import OF_CALLS, RELEASES
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError
from dpfast.rng import InsecureGenerator

from ..support.battery import CASES, same
from ..support.pairwise import quick_rows
from ..support.views import quoted
from ..test_doctest import RELEASES as PUBLIC

X = np.linspace(0, 100, 400)
MEAN = dp.mechanism(dp.mean, bounds=(0, 100), epsilon=0.1)
NAMES = {function: name for name, function in RELEASES.items()}


def parted(case, loss):
    with_rows = {name: value for name, value in case.kw.items() if name in OF_CALLS}
    public = {name: value for name, value in case.kw.items() if name not in OF_CALLS}
    data = case.data
    data = np.stack([*data.values()], 1) if isinstance(data, dict) else np.asarray(data)
    own = {} if data.ndim == 1 else {"columns": data.shape[1]}
    kind = "str" if data.dtype.kind in "UO" else data.dtype.name
    return dp.mechanism(case.call, **own, dtype=kind, **public, **loss), with_rows


FED = [
    (name, loss)
    for name, case in CASES.items()
    if case.call in NAMES
    for loss in case.losses
    if not any(map(callable, case.kw.values()))
]


def test_all_but_a_few_releases_can_be_mechanisms():
    left = {f"{f.__module__}.{f.__qualname__}" for f in PUBLIC if f not in NAMES}
    words = "selection response smooth_release bounded_release additive_release online learn sulq "
    words += "sample_and_aggregate difference describe ptr.api.release aggregate audit best_of "
    words += "extend gaussian_scale interval relation_of release.Prepared"
    assert not [one for one in left if not any(word in one for word in words.split())]
    assert len(RELEASES) > 20


@quick_rows(12, full=120)
@pytest.mark.parametrize("name, loss", FED, ids=str)
def test_it_is_the_call_of_its_function(name, loss):
    case = CASES[name]
    made, rows = parted(case, loss)
    answer = made(case.data, **rows, rng=InsecureGenerator(7))
    assert same(answer, case(case.data, loss, rng=InsecureGenerator(7)))
    budget = dp.Budget(rho=100) if "rho" in loss else dp.Budget(epsilon=100, delta=0.1)
    due = budget.cost(case.call, case.data, **case.kw, **loss)
    assert budget.cost(made, case.data, **rows) == due
    made(case.data, **rows, budget=budget)
    other = dp.Budget(rho=100) if "rho" in loss else dp.Budget(epsilon=100, delta=0.1)
    case(case.data, loss, budget=other)
    assert budget.spent == other.spent and budget.history[0].what == other.history[0].what
    assert budget.neighbors == made.neighbors
    called = dp.expected_error(case.call, case.data, **case.kw, **loss, rows=99)
    assert dp.expected_error(made, case.data, **rows, rows=99) == called
    if "ids" not in rows:
        assert made.expected_error(rows=99) == called
    assert made.loss == quoted(case.call, case.data, **case.kw, **loss).loss
    written = json.loads(json.dumps(made.to_dict()))
    for again in (pickle.loads(pickle.dumps(made)), dp.mechanism.from_dict(written)):
        assert again == made and hash(again) == hash(made) and repr(again) == repr(made)
        assert again.loss == made.loss
        assert same(again(case.data, **rows, rng=InsecureGenerator(7)), answer)


def test_the_theorem_is_that_of_the_function():
    made = {CASES[name].call: (CASES[name], loss) for name, loss in FED}
    assert made.keys() == {*RELEASES.values()}
    for function, (case, loss) in made.items():
        mechanism, _ = parted(case, loss)
        assert mechanism.name == NAMES[function]
        assert mechanism.theorem in function.__doc__.replace("\n    ", "\n")
        assert re.search("[Nn]eighbors", mechanism.theorem)


def test_what_it_shows():
    assert repr(MEAN) == "mechanism(mean, bounds=(0, 100), epsilon=0.1, nan='drop')"
    assert MEAN.loss.epsilon == Fraction(1, 10) and MEAN.arguments["epsilon"] == 0.1
    assert MEAN.neighbors == "add-remove"
    assert MEAN.expected_error().half_width is None and MEAN.expected_error(rows=99).half_width
    public = dp.mechanism(dp.mean, bounds=(0, 100), epsilon=0.1, neighbors="replace")
    assert public.neighbors == "replace" and public.expected_error().half_width is None
    found = dp.expected_error(public, X)  # the number of rows is public
    assert found == public.expected_error(rows=400) != MEAN.expected_error(rows=400)
    smooth = dp.mechanism(dp.median, bounds=(0, 1), epsilon=1, method="smooth").calibration
    assert set(smooth) == {"noise", "alpha", "beta"}
    rates = [dp.mechanism(dp.median, bounds=(0, 1), epsilon=e).calibration["rate"] for e in (1, 2)]
    assert rates[1] == 2 * rates[0] == 2


@quick_rows(1)
@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"epsilon": 6}, {"rho": 0.1}], ids=str)
@pytest.mark.parametrize("name", ["sum", "mean", "mean of n rows", "count"])
def test_the_deviations_are_those_of_columns(name, loss):
    """In the units of each column: of sums, and of means times the number of rows at the middle."""
    rows, rng = np.tile([[50.0, -2e5]], (400, 1)), InsecureGenerator(4)
    function = getattr(dp, name.split()[0])
    more = {"neighbors": "replace"} if "rows" in name else {}
    more |= {"nan": "drop"} if name == "count" else {"bounds": [(0, 100), (-4e5, 0)]}
    made = dp.mechanism(function, axis=0, columns=2, **more, **loss)
    said = np.array(made.calibration["deviation"])
    answers = np.array([made(rows, rng=rng) for _ in range(1500)], float)
    seen = answers.std(axis=0) * (400 if "mean" in name else 1)
    if name == "count" and loss == {"epsilon": 6}:  # of few integers, and less than is said
        assert (seen < said).all()
        return
    assert said.shape == (2,) and abs(seen / said - 1).max() < 0.2
    # Planted: the deviation in units of a column's sensitivity, as it was told before.
    assert name == "count" or abs(seen / (said / [100, 4e5]) - 1).min() > 0.2


@pytest.mark.parametrize("function", [dp.mean, dp.variance])
def test_joint_noise_of_one_column_tells_its_deviation(function):
    public = {"bounds": (0, 100), "epsilon": 12}
    one, same = (dp.mechanism(function, **kw, **public) for kw in ({}, {"axis": 0, "columns": 1}))
    assert [one.calibration["deviation"]] == same.calibration["deviation"]
    replaced = dp.mechanism(function, neighbors="replace", **public)
    assert ("deviation" in replaced.calibration) == (function is dp.mean)


def test_it_cannot_be_changed():
    made = dp.mechanism(dp.quantiles, qs=(qs := [0.1, 0.9]), bounds=[0, 1], epsilon=1)
    qs[0] = 0.5
    made.arguments["epsilon"] = 9
    assert made.arguments["qs"] == (0.1, 0.9) and made.loss.epsilon == 1
    with pytest.raises(AttributeError):
        made.name = "mean"
    with pytest.raises(AttributeError):
        del made.columns


@pytest.mark.parametrize(
    "value",
    [1, 0.1, 5e-324, 1 / 3, Fraction(1, 3), Fraction(3), 10**400, 2**70, True, None, "x", "1/3"],
    ids=str,
)
def test_values_are_written_exactly(value):
    from dpfast.app.mechanism import _kept, _read, _written

    kept = _kept("x", [value, [value]])
    again = _read("x", json.loads(json.dumps(_written(kept))))
    assert again == kept and type(again[0]) is type(again[1][0]) is type(value)
    assert _kept("x", Decimal("0.1")) == Fraction(1, 10)
    assert _kept("x", np.array([[1, 2]])) == ((1, 2),)


def test_a_dict_is_of_a_version():
    written = MEAN.to_dict()
    assert written["mechanism"] == 1 and written["arguments"]["epsilon"] == {"number": "0.1"}
    wrong = [
        {**written, "mechanism": 2}, {}, 3, "x", {**written, "function": "median "},
        {**written, "arguments": 3}, {**written, "arguments": {"epsilon": {"number": 1}}},
        {**written, "arguments": {"epsilon": {"number": "1/0"}}}, {**written, "columns": "x"},
        {**written, "dtype": "O"}, {**written, "arguments": {"epsilon": {"number": "1/2/3"}}},
        {**written, "arguments": {"epsilon": {"other": "1"}}}, {**written, "function": ["mean"]},
        {**written, "arguments": {**written["arguments"], "budget": None}},
        {**written, "arguments": {**written["arguments"], "delta": {"number": "2"}}},
    ]  # fmt: skip
    for one in wrong:
        with pytest.raises((ArgumentError, ArgumentTypeError), match=" must be "):
            dp.mechanism.from_dict(one)


def test_what_is_refused():
    for function in (print, 3, dp.ptr.release, dp.sample_and_aggregate, dp.Budget, MEAN):
        with pytest.raises(ArgumentError, match="function must be a release"):
            dp.mechanism(function, epsilon=1)
    for more, words in (
        ({"bounds": (1, 0)}, "bounds must be"),
        ({"where": X > 1}, "where must be left out"),
        ({"budget": None}, "budget must be left out"),
        ({"columns": 0}, "columns must be"),
        ({"dtype": "object"}, "dtype must be"),
        ({"method": "smooth"}, "arguments must be names of arguments of mean, got 'method'"),
        ({"nan": {1}}, "nan must be a number"),
    ):
        with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
            dp.mechanism(dp.mean, **{"bounds": (0, 1), "epsilon": 1, **more})
    with pytest.raises(ArgumentError, match="epsilon must be left out"):
        MEAN(X, epsilon=1)
    budget = dp.Budget(epsilon=0.05)
    with pytest.raises(BudgetError):
        MEAN(X, budget=budget)
    assert budget.history == ()
