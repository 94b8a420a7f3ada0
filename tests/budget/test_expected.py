"""`expected_error` says what the mechanism of a call says, spends nothing and reads no row."""

import inspect
import math

import numpy as np
import pytest

import dpfast as dp
from dpfast._core.error_bars import ROWS, SECRET, UNKNOWN, ErrorBar
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError
from dpfast.rng import InsecureGenerator

from ..support.battery import CASES
from ..support.pairwise import every_value, quick_rows
from ..support.surface import broken
from ..support.views import quoted

X = np.linspace(0, 100, 400)
BOUNDS = {"bounds": (0, 100)}
MEAN = {**BOUNDS, "epsilon": 1}


def expected(name):
    case = CASES[name]
    return dp.expected_error(case.call, case.data, **case.kw, **case.losses[0])


def says_enough(found):
    """Whether there is an error bar and what it rests on, or a reason of its own for none."""
    return (
        isinstance(found, ErrorBar) and found.note != UNKNOWN and bool(found.note or has_bar(found))
    )


def has_bar(found):
    return found.half_width is not None or found.ranks is not None


def test_bars_of_times_are_durations_and_those_of_bins_are_numbers():
    days = np.full(400, "2020-01-01", "datetime64[D]")
    ends = np.array(["2000-01-01", "2100-01-01"], "datetime64[D]")
    mean = dp.expected_error(dp.mean, days, bounds=tuple(ends), epsilon=1, neighbors="replace")
    assert mean.half_width.dtype == "m8[D]" and str(mean).endswith(" days")
    bar = {"bins": list(ends), "epsilon": 1}
    assert dp.expected_error(dp.histogram, days, **bar).half_width == 3
    assert dp.extend.prepare(dp.histogram, days, **bar).release().bar.half_width == 3


@pytest.mark.parametrize("name", CASES)
def test_every_release_has_a_bar_or_a_reason(name):
    case = CASES[name]
    for loss in case.losses:
        asked = {**case.kw, **loss}
        found = dp.expected_error(case.call, case.data, **asked)
        assert says_enough(found)
        mechanism = quoted(case.call, case.data, **asked)
        if not getattr(mechanism, "known", False):  # of a secret number of rows, none is told
            assert found == mechanism.error(None, 0.95)
        elif not has_bar(found):
            assert not has_bar(dp.expected_error(case.call, case.data, rows=99, **asked))


class Silent:
    loss, neighbors, name = dp.privacy.Pure(1), "replace", "silent"

    def reduce(self, source): ...

    def finish(self, summary, generator): ...


def test_a_release_that_says_nothing_of_its_error_is_caught():
    silent = dp.extend.prepare(dp.extend.release, [1], Silent()).mechanism
    assert not says_enough(silent.error(9, 0.95))
    assert not says_enough(ErrorBar(0.95))


@every_value
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.form == "column"])
def test_the_rows_are_not_looked_at(name, relation):
    case, rng = CASES[name], np.random.default_rng(1)
    if relation not in case.relations or case.kw.get("nan") == relation == "replace":
        return
    given = {} if "neighbors" not in case.parameters else {"neighbors": relation}
    asked = {**case.kw, **case.losses[0], **given}
    if asked.get("nan") == "drop" and relation == "replace" and "bounds" in asked:
        return
    other = {key: rng.permutation(asked[key]) for key in case.rows}
    if "where" in other:
        other["where"] = np.zeros(len(case.data), bool)  # another number of rows
    spoilt = np.full_like(case.data, np.nan) if case.data.dtype.kind == "f" else case.data[::-1]
    same = dp.expected_error(case.call, spoilt, **{**asked, **other})
    assert dp.expected_error(case.call, case.data, **asked) == same


def test_the_number_of_rows_is_that_of_the_data_where_it_is_public():
    public = dp.expected_error(dp.mean, X, **MEAN, neighbors="replace")
    mechanism = quoted(dp.mean, X, **MEAN, neighbors="replace")
    assert public == mechanism.error(400, 0.95)
    assert dp.expected_error(dp.mean, X, **MEAN, neighbors="replace", rows=100) == mechanism.error(
        100, 0.95
    )
    for private in (
        {"neighbors": "add-remove"},
        {"neighbors": "replace", "where": X > 50},
        {"neighbors": "replace", "ids": np.arange(400), "max_rows": 2},
    ):
        found = dp.expected_error(dp.mean, X, **MEAN, **private)
        assert found.half_width is None and found.note == ROWS
        assert dp.expected_error(dp.mean, X, **MEAN, **private, rows=400).half_width > 0
    empty = dp.expected_error(dp.mean, X[:0], **MEAN, neighbors="replace")
    assert empty == mechanism.error(1, 0.95)  # of no rows no more is said than of one


def test_a_budget_says_the_relation_and_is_not_spent():
    budget = dp.Budget(epsilon=1, neighbors="replace")
    found = dp.expected_error(dp.mean, X, **MEAN, budget=budget)
    assert found == dp.expected_error(dp.mean, X, **MEAN, neighbors="replace")
    assert found.half_width > 0 and budget.history == () and budget.spent["epsilon"] == 0
    # Nor does a call need more than there is, or private bits.
    assert dp.expected_error(dp.count, X, epsilon=9, budget=budget, rng=InsecureGenerator(1))


def test_what_is_said_where_there_is_none():
    assert dp.expected_error(dp.median, X, **MEAN, method="smooth").note == SECRET
    assert "bounds" in dp.expected_error(dp.mean, X, bounds="auto", epsilon=1).note
    drawn = {"sensitivity": 1, "epsilon": 1}
    based = dp.expected_error(dp.selection.exponential, [1, 2], base=[0, 1], **drawn)
    assert not has_bar(based) and "base" in based.note
    runs = dp.expected_error(dp.selection.best_of, len, run_loss=dp.privacy.Pure(1), gamma=0.1)
    later = dp.expected_error(dp.online.RunningCount, 9, epsilon=1)
    assert says_enough(runs) and says_enough(later) and not has_bar(runs) and not has_bar(later)
    ranks = dp.expected_error(dp.quantiles, X, [0.2, 0.5], **MEAN)
    assert ranks.half_width is None and len(ranks.ranks) == 2 and "ranks" in ranks.note


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2, math.nan, "x", None, True])
def test_a_confidence_is_a_share(confidence):
    with pytest.raises((ArgumentError, ArgumentTypeError), match="confidence must be"):
        dp.expected_error(dp.count, X, epsilon=1, confidence=confidence)


def test_every_confidence_has_a_bar():
    for confidence in (1e-300, 0.5, 1 - 2**-53):
        for call, more in ((dp.mean, BOUNDS), (dp.quantile, {**BOUNDS, "q": 0.1}), (dp.count, {})):
            for loss in ({"epsilon": 1}, {"rho": 0.1}):
                asked = {"rows": 400, "confidence": confidence, **more, **loss}
                found = dp.expected_error(call, X, **asked)
                size = found.ranks if found.half_width is None else found.half_width
                assert 0 <= size < math.inf


def test_what_is_refused():
    with pytest.raises(ArgumentError, match="rows must be"):
        dp.expected_error(dp.count, X, epsilon=1, rows=-1)
    with pytest.raises(ArgumentTypeError, match="budget must be"):
        dp.expected_error(dp.count, X, epsilon=1, budget=3)
    for wrong in (print, dp.expected_error, 3, dp.scan, broken("__repr__")):
        for ask in (dp.expected_error, dp.Budget(epsilon=1).cost):
            with pytest.raises(ArgumentError, match="function must be a release"):
                ask(wrong, X)
    with pytest.raises(ArgumentError, match="epsilon must be"):
        dp.expected_error(dp.count, X, epsilon=-1)


def test_no_release_has_arguments_of_these_names():
    own = {"confidence", "rows"}
    assert own <= set(inspect.signature(dp.expected_error).parameters)
    for case in CASES.values():
        assert own.isdisjoint(case.parameters)


RUNS = 600
#: With 5 standard deviations of what is seen.
LIMIT = 0.05 + 5 * math.sqrt(0.05 * 0.95 / RUNS)
TRUTHS = {
    "count": (dp.count, {}, 400),
    "sum": (dp.sum, BOUNDS, X.sum()),
    "mean": (dp.mean, {**BOUNDS, "neighbors": "replace"}, X.mean()),
    "variance": (dp.variance, {**BOUNDS, "neighbors": "replace"}, X.var()),
    "histogram": (dp.histogram, {**BOUNDS, "bins": 2}, [200, 200]),
}


@quick_rows(3)
@pytest.mark.parametrize("loss", [{"epsilon": 1.0}, {"rho": 0.1}], ids=str)
@pytest.mark.parametrize("name", TRUTHS)
def test_answers_are_within_the_bar_as_often_as_it_says(name, loss):
    call, asked, truth = TRUTHS[name]
    asked = {**asked, **loss}
    bar = dp.expected_error(call, X, **asked).half_width
    rng = InsecureGenerator(3)
    answers = [call(X, **asked, rng=rng) for _ in range(RUNS)]
    counts = [one[0] if name == "histogram" else one for one in answers]
    off = np.abs(np.array(counts, float) - truth).reshape(RUNS, -1)[:, 0]
    assert np.mean(off > bar * (1 + 1e-9)) <= LIMIT
    assert np.mean(off > bar / 2) > LIMIT  # a bar that is too short by 2 does not pass


def test_a_budget_that_is_too_small_is_not_asked():
    budget = dp.Budget(rho=1)
    with pytest.raises(BudgetError):
        budget.cost(dp.ptr.mean, X, **BOUNDS, proposed=1.0, epsilon=1, delta=1e-6)
    found = dp.expected_error(
        dp.ptr.mean, X, **BOUNDS, proposed=1.0, epsilon=1, delta=1e-6, budget=budget
    )
    assert "if there is an answer" in found.note


TRUE = {dp.variance: np.var, dp.std: np.std}


@pytest.mark.parametrize("loss", [{"epsilon": 0.1}, {"epsilon": 1}, {"rho": 0.1}], ids=str)
@pytest.mark.parametrize("call", [dp.variance, dp.std])
def test_a_sample_variance_of_hardly_any_rows_may_be_twice_as_large(call, loss):
    """That of two rows is up to half of the squared distance of the bounds, and not a quarter."""
    rows, rng = np.array([0.0, 100.0]), InsecureGenerator(4)
    given = {**BOUNDS, "ddof": 1, **loss}
    bar = dp.expected_error(call, rows, **given, rows=2).half_width
    off = [abs(call(rows, **given, rng=rng) - TRUE[call](rows, ddof=1)) for _ in range(200)]
    assert np.mean(np.array(off) > bar) <= 0.05 + 5.5 * math.sqrt(0.05 * 0.95 / 200)
    assert np.mean(np.array(off) > bar / 2) > 0.2  # half the bar is found to be too short
