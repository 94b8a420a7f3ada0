"""Statistics of each column, each for an equal part of the loss."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.privacy import ZCDP, Approx, Draws
from dpfast.rng import InsecureGenerator

from ..support.pairwise import every_value, pairwise

N = 3000
ROWS = np.random.default_rng(3).normal([[40, 1.5, -7]], [[10, 0.5, 2]], (N, 3)).round(2)
BOUNDS = [(0.0, 120.0), (-10.0, 10.0), (-50.0, 50.0)]
RELEASES = {
    "minimum": {},
    "maximum": {"method": "smooth"},
    "iqr": {},
    "trimmed_mean": {"proportion": 0.2},
    "winsorized_mean": {},
}
#: What is asked, and a column's part of it, for three columns.
LOSSES = {
    "pure": ({"epsilon": 3}, {"epsilon": 1}),
    "approximate": ({"epsilon": 3, "delta": 3e-6}, {"epsilon": 1, "delta": Fraction("1e-6")}),
    "rho": ({"rho": 1.5}, {"rho": 0.5}),
}


@pytest.fixture(params=RELEASES)
def name(request):
    return request.param


def released(name, data, seed=5, **given):
    arguments = {"bounds": BOUNDS, "epsilon": 3, **RELEASES[name], **given}
    return getattr(dp, name)(data, axis=0, rng=InsecureGenerator(seed), **arguments)


@pairwise
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("masked", [False, True])
def test_a_column_is_answered_as_if_alone(name, loss, relation, masked):
    """Column by column, from one stream of random bits, with a third of the loss."""
    whole, part = LOSSES[loss]
    where = np.arange(N) % 3 > 0 if masked else None
    rest = {**RELEASES[name], "neighbors": relation, "where": where}
    got = getattr(dp, name)(ROWS, bounds=BOUNDS, axis=0, rng=InsecureGenerator(5), **whole, **rest)
    one_stream = InsecureGenerator(5)
    alone = [
        getattr(dp, name)(np.array(ROWS[:, j]), bounds=pair, rng=one_stream, **part, **rest)
        for j, pair in enumerate(BOUNDS)
    ]
    assert got.dtype == np.float64 and got.tolist() == alone


@every_value
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("masked", [False, True])
def test_the_parts_add_up_to_what_was_asked(name, loss, masked):
    whole, part = LOSSES[loss]
    where = np.arange(N) % 2 > 0 if masked else None
    rest = {**RELEASES[name], "where": where}
    function = getattr(dp, name)
    budget = dp.Budget(**({"rho": 9} if loss == "rho" else {"epsilon": 9, "delta": 1e-3}))
    together = budget.cost(function, ROWS, bounds=BOUNDS, axis=0, **whole, **rest)
    alone = budget.cost(function, ROWS[:, 0], bounds=BOUNDS[0], **part, **rest)
    if loss == "rho":
        assert isinstance(together, ZCDP)
        assert together.rho == 3 * alone.rho <= Fraction(3, 2)
        return
    assert together.epsilon == 3 * alone.epsilon == 3
    if isinstance(alone, Approx):
        assert together.delta == 3 * alone.delta <= Fraction("3e-6")
    else:
        assert isinstance(together, Draws)
        assert together.draws == 3 * getattr(alone, "draws", 1)
        assert together.to_zcdp().rho == 3 * alone.to_zcdp().rho


def test_the_parts_of_delta_add_up():
    """Noise that spends delta spends a third of it in each of three columns."""
    budget = dp.Budget(epsilon=9, delta=1e-3)
    for noise in ("laplace", "gaussian"):
        given = {"noise": noise, "epsilon": 3, "delta": 3e-6}
        together = budget.cost(dp.trimmed_mean, ROWS, bounds=BOUNDS, axis=0, **given)
        assert together == Approx(3, Fraction("3e-6"))


def test_a_budget_in_rho_adds_draws_up_one_by_one():
    budget = dp.Budget(rho=1)
    dp.minimum(ROWS, bounds=BOUNDS, axis=0, epsilon=0.3, budget=budget)
    alone = ZCDP.of_pure(Draws(Fraction(1, 10), bounded_range=True)).rho
    assert alone * 2 < budget.spent["rho"] <= alone * 3 * (1 + Fraction(1, 10**9))


def test_one_pair_of_bounds_is_for_all_columns(name):
    pair = (-50.0, 120.0)
    assert (
        released(name, ROWS, bounds=pair).tolist()
        == released(name, ROWS, bounds=[pair] * 3).tolist()
    )


def test_missing_numbers_of_one_column():
    rows = ROWS.copy()
    rows[7, 1] = np.nan
    budget = dp.Budget(epsilon=3)
    with pytest.raises(DataError):
        dp.minimum(rows, bounds=BOUNDS, axis=0, epsilon=1, nan="raise", budget=budget)
    assert budget.spent["epsilon"] == 1
    found = dp.minimum(rows, bounds=BOUNDS, axis=0, epsilon=1, nan="upper", budget=budget)
    assert found.shape == (3,)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"axis": 1}, "axis"),
        ({"axis": None}, "data must be one column"),
        ({"bounds": BOUNDS[:2]}, "bounds"),
        ({"bounds": [*BOUNDS[:2], (3, 2)]}, "bounds"),
        ({"data": ROWS[:, 0]}, "axis"),
        ({"data": np.array([["a", "b"]])}, "data"),
        ({"data": np.empty((4, 0))}, "data"),
    ],
)
def test_bad_arguments_cost_nothing(name, given, named):
    budget = dp.Budget(epsilon=100)
    given = {"axis": 0, "bounds": BOUNDS, "epsilon": 1, **RELEASES[name], **given}
    with pytest.raises((ArgumentError, ArgumentTypeError), match=f"^{named}"):
        getattr(dp, name)(given.pop("data", ROWS), budget=budget, **given)
    assert not budget.history


@every_value
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("method", ["auto", "recursive", "joint"])
@pytest.mark.parametrize("whole", [{"epsilon": 3}, {"rho": 1.5}], ids=str)
def test_several_quantiles_of_a_column_are_those_of_it_alone(relation, method, whole):
    """An answer is as NumPy's: a row for each quantile and a column for each column."""
    qs, rows = [0.9, 0.25, 0.5], ROWS[:40]
    rest = {"neighbors": relation, "method": method}
    whole_loss = {"bounds": BOUNDS, **whole, **rest}
    got = dp.quantiles(rows, qs, axis=0, rng=InsecureGenerator(5), **whole_loss)
    assert got.shape == np.quantile(rows, qs, axis=0).shape == (3, 3)
    one_stream = InsecureGenerator(5)
    part = {name: number / 3 for name, number in whole.items()}
    for j, pair in enumerate(BOUNDS):
        column = np.array(rows[:, j])
        alone = dp.quantiles(column, qs, bounds=pair, rng=one_stream, **part, **rest)
        assert got[:, j].tolist() == alone.tolist()
    named = dp.percentile(rows, [90, 25, 50], axis=0, rng=InsecureGenerator(5), **whole_loss)
    assert named.tolist() == got.tolist()
    # Planted: the columns in another order have other answers.
    turned = dp.quantiles(rows[:, ::-1], qs, axis=0, rng=InsecureGenerator(5), **whole_loss)
    assert turned.tolist() != got.tolist()


def test_error_bars_are_those_of_the_columns():
    """Each for its part of the loss; of no columns with a secret scale."""
    given = {"bounds": BOUNDS, "axis": 0, "columns": 3}
    for function, more in ((dp.minimum, {}), (dp.quantiles, {"qs": [0.1, 0.5]})):
        made = dp.mechanism(function, epsilon=3, **given, **more).expected_error()
        alone = [
            dp.mechanism(function, epsilon=1, bounds=pair, **more).expected_error().ranks
            for pair in BOUNDS
        ]
        assert made.ranks == np.array(alone).T.tolist() and made.half_width is None
    none = dp.mechanism(dp.quantiles, epsilon=3, **(given | {"bounds": [(1, 1)] * 3}), qs=[0.1])
    assert none.expected_error().half_width == [0, 0, 0]
    secret = dp.mechanism(dp.median, epsilon=3, **given, method="smooth").expected_error()
    assert secret.ranks is None and "secret" in secret.note
