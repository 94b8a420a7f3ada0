"""Answers, prices and error bars are those that are kept, and planted faults are caught."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp

from ..support.pairwise import quick_rows
from .compare import calls, differences, read, recorded
from .digest import digest

#: Each part is spread over all calls, and takes about two seconds.
PARTS = 24
KEPT = read()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return calls(tmp_path_factory.mktemp("frozen"))


def changed(made, names):
    before = {name: KEPT[name] for name in names if name in KEPT}
    return [*differences(before, recorded(made, names))]


@quick_rows(1)
@pytest.mark.parametrize("part", range(PARTS))
def test_what_is_kept_is_the_same(made, part):
    assert changed(made, sorted({*made, *KEPT})[part::PARTS]) == []


# --- planted faults ------------------------------------------------------------------------------

MEAN, SUM = "mean, epsilon 2, replace", "sum, rho 0.5, replace"
NAMES = [MEAN, SUM, "count by group, epsilon 2, add-remove"]


def parts(lines):
    """Which parts of which calls are others."""
    return {(name, part.split()[0]) for name, _, part in (line.partition(": ") for line in lines)}


def test_without_a_fault_nothing_is_listed(made):
    assert changed(made, NAMES) == []


def test_a_thousandth_of_the_noise_is_caught(made, monkeypatch):
    right = dp.extend.IntegerNoise.add

    def planted(self, values, generator):
        return right(replace(self, scale=self.scale * Fraction(1001, 1000)), values, generator)

    monkeypatch.setattr(dp.extend.IntegerNoise, "add", planted)
    found = parts(changed(made, NAMES))
    assert {(MEAN, "answer"), (SUM, "answer")} <= found <= {(name, "answer") for name in NAMES}


def test_a_cost_that_is_another_is_caught(made, monkeypatch):
    right = dp.Budget.cost
    monkeypatch.setattr(
        dp.Budget, "cost", lambda *args, **kw: dp.privacy.group(right(*args, **kw), 2)
    )
    assert parts(changed(made, [MEAN])) == {(MEAN, "costs")}


def test_an_error_bar_that_is_another_is_caught(made, monkeypatch):
    right = dp.expected_error

    def planted(*args, **kw):
        told = right(*args, **kw)
        return replace(told, half_width=np.multiply(told.half_width, 1 + 1e-9))

    monkeypatch.setattr(dp, "expected_error", planted)
    assert parts(changed(made, [SUM])) == {(SUM, "error")}


@pytest.mark.parametrize(
    "argument, value, due",
    [
        ("epsilon", 2.0000001, {"answer", "price", "costs", "error"}),
        ("bounds", (0, 100.5), {"answer", "error"}),
        ("neighbors", "add-remove", {"answer", "price", "costs", "error"}),
    ],
)
def test_another_argument_is_caught(made, argument, value, due):
    other = replace(made[MEAN], kw={**made[MEAN].kw, argument: value})
    assert parts(changed({MEAN: other}, [MEAN])) == {(MEAN, part) for part in due}


def test_what_is_gone_new_or_broken_is_listed(made):
    broken = replace(made[MEAN], then=lambda answer: answer.no_such_thing)
    assert "AttributeError" in changed({MEAN: broken}, [MEAN])[0]
    refused = replace(made[MEAN], kw={**made[MEAN].kw, "epsilon": -1})
    for now in ({}, {MEAN: refused}):
        assert changed(now, [MEAN]) == [f"{MEAN}: is gone, or refused"]
    assert [*differences({}, recorded(made, [MEAN]))] == [f"{MEAN}: is new"]


def test_digests_are_of_bits_types_and_shapes():
    x = np.array([0.1, 0.2])
    different = [
        x, x[::-1], x[:1], x.astype(np.float32), x[None], np.nextafter(x, 1), x.tolist(), 0.1,
        np.float64(0.1), -0.0, 0.0, math.nextafter(0.1, 1), 1, True, "1", None, dp.NO_ANSWER,
        {"a": x}, {"b": x}, np.array([1, None], object), x.view("M8[s]"),
        np.ma.array(x, mask=[0, 1]), Fraction(1, 3),
    ]  # fmt: skip
    assert len({digest(one) for one in different}) == len(different)
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest(np.repeat(x, 2)[::2]) == digest(x)
    assert digest(0.1, 9) == digest(math.nextafter(0.1, 1), 9) != digest(0.1 + 1e-7, 9)
