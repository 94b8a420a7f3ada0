"""Losses in budgets of another kind, and what a budget says would fit."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import BudgetError
from dpfast.groups.marginals import squared_move
from dpfast.privacy import ZCDP, Approx, Draws, Pure

DELTA = Fraction(1, 10**6)


def delta_of_gaussians(rhos, epsilon):
    """The least delta of Gaussian noise of all these rho together (Balle and Wang, ICML 2018)."""
    move, e = mpmath.sqrt(2 * mpmath.mpf(float(sum(rhos)))), mpmath.mpf(float(epsilon))
    tail = mpmath.ncdf
    return tail(move / 2 - e / move) - mpmath.exp(e) * tail(-move / 2 - e / move)


@pytest.mark.parametrize("rhos", [[1e-4], [0.01], [0.5], [2.0], [0.01, 0.02, 0.5], [1e-3] * 100])
def test_rho_counts_no_less_than_gaussian_noise_loses(rhos):
    budget = dp.Budget(epsilon=1000, delta=DELTA)
    for rho in rhos:
        budget.spend(ZCDP(rho), neighbors="replace")
    spent = budget.spent
    assert spent["delta"] == DELTA * len(rhos) / 100
    with mpmath.workdps(40):
        most = mpmath.mpf(float(spent["delta"]))
        assert delta_of_gaussians(rhos, spent["epsilon"]) <= most
        if len(rhos) == 1:  # a planted fault: a price that is too low by a fifth
            assert delta_of_gaussians(rhos, spent["epsilon"] * Fraction(4, 5)) > most


def test_no_more_rho_fits_than_there_is_delta():
    budget = dp.Budget(epsilon=1000, delta=DELTA)
    for _ in range(100):
        budget.spend(ZCDP(1e-6), neighbors="replace")
    with pytest.raises(BudgetError, match=r"left .*, delta=0; delta <= 0 in all would fit"):
        budget.spend(ZCDP(1e-6), neighbors="replace")


PEOPLE = {"ids": "who", "max_rows": 3}
TIGHT = [
    ({"epsilon": 1}, Pure(7)),
    ({"epsilon": 1}, Draws(7, bounded_range=True)),
    ({"epsilon": Fraction(1, 3), "delta": DELTA}, Approx(7, 1e-9)),
    ({"epsilon": 1, "delta": DELTA}, Approx(7, 1e-3)),
    ({"epsilon": 1, "delta": DELTA}, Approx(0.1, 1e-3)),
    ({"epsilon": 1, "delta": DELTA}, ZCDP(3)),
    ({"epsilon": 1, "delta": DELTA, **PEOPLE}, ZCDP(3)),
    ({"epsilon": 1, "delta": DELTA, **PEOPLE}, Approx(3, 1e-6)),
    ({"epsilon": 1, **PEOPLE}, Pure(3)),
    ({"epsilon": 1, "neighbors": "replace"}, Pure(3)),
    ({"rho": 0.01}, ZCDP(0.5)),
    ({"rho": 0.01, **PEOPLE, "neighbors": "replace"}, ZCDP(0.5)),
    ({"rho": 0.01}, Pure(1)),
    ({"rho": 0.01}, Draws(1, draws=3, cells=5)),
    ({"rho": 0.01, "neighbors": "replace"}, Draws(1, bounded_range=True)),
]


@pytest.mark.parametrize(("limit", "loss"), TIGHT)
def test_what_is_said_to_fit_does_and_hardly_more(limit, loss):
    budget = dp.Budget(**limit)
    with pytest.raises(BudgetError, match="would fit") as caught:
        budget.spend(loss, neighbors="add-remove")
    said = {n: Fraction(x) for n, x in re.findall(r"(\w+) <= ([\w.-]+)", str(caught.value))}
    assert said and budget.history == ()
    assert len(str(caught.value).split()) <= 30
    for name in said:
        more = {**said, name: said[name] * Fraction(1002, 1000)}
        if not (name == "delta" and "ids" in limit):  # which is for the epsilon that was asked
            with pytest.raises(BudgetError):
                budget.spend(replace(loss, **more), neighbors="add-remove")
    budget.spend(replace(loss, **said), neighbors="add-remove")


def test_a_part_of_the_rows_says_what_would_fit_and_a_group_why_nothing_does():
    budget = dp.Budget(epsilon=0.5, neighbors="add-remove")
    with budget.parallel(["a", "b"] * 9, ["a", "b"]) as parts:
        parts["a"](dp.count, range(18), epsilon=0.4)
        with pytest.raises(BudgetError, match=r"; epsilon <= 0\.5 in all would fit"):
            parts["b"](dp.count, range(18), epsilon=0.6)
        parts["b"](dp.count, range(18), epsilon=0.5)
    people = dp.Budget(epsilon=900, delta=0.5, **PEOPLE)
    with pytest.raises(BudgetError, match=r"no meaning .* of up to 3 rows: pass a smaller loss"):
        people.spend(Approx(300, 1e-6), neighbors="add-remove")


MANY = {"epsilon": 0.5, "delta": 1e-6}


def test_a_number_and_marginals_have_one():
    budget = dp.Budget(rho=1)
    moved = {"sensitivity": 1, "noise": "gaussian", **MANY, "budget": budget}
    one, other = (dp.extend.prepare(dp.additive_release, x, **moved) for x in (0.0, 1.0))
    cells = [each.mechanism.reduce(each.source) for each in (one, other)]
    noise = one.mechanism.noise
    lost = [Fraction((cells[1] - cells[0]) ** 2, 1 << 2 * noise.shift) / noise.scale**2 / 2]
    table = {name: [0, 1, 1] for name in "abc"}
    asked = {"ways": 2, "categories": {"a": [0, 1], "b": [0, 1], "c": [0, 1, 2]}, "budget": budget}
    counted = dp.extend.prepare(dp.marginals, table, **asked, **MANY)
    of_parts = [
        len(part.subsets) * squared_move(part.shape, "add-remove") / part.noise.scale**2
        for part in counted.mechanism.residuals
    ]
    lost.append(Fraction(sum(of_parts), 2))
    for prepared, least in zip((one, counted), lost, strict=True):
        before, charged = budget.spent["rho"], ZCDP(prepared.mechanism.loss.rho)
        assert 0.95 * charged.rho < least <= charged.rho
        prepared.run()
        assert budget.spent["rho"] == before + charged.rho


def test_what_is_more_than_gaussian_noise_has_none():
    budget = dp.Budget(rho=1)
    rows = np.zeros((9, 60))
    for call in (
        lambda: dp.mean(rows, axis=0, bounds="auto", **MANY, budget=budget),
        lambda: dp.select_keys([1, 2], **MANY, budget=budget),
        lambda: dp.group_by({"k": [1]}, "k").count(**MANY, budget=budget),
    ):
        with pytest.raises(BudgetError, match="no price in a rho budget: use a budget with delta"):
            call()
    assert budget.history == ()
