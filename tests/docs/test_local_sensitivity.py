"""The figures of the page on local sensitivity can be made again."""

import math
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest

import dpfast as dp
from dpfast.rng import InsecureGenerator
from dpfast.statistics.ptr.proposal import threshold

from ..support.pages import figures, program, quick_run

every_way = program("every_way")
quick = quick_run(every_way)


def test_the_threshold_of_the_page_is_that_of_the_library():
    assert threshold(Fraction(1, 2), Fraction(1, 32_561**2)) == 41


def ways(*folder):
    result = figures("every-way", *folder)
    found = {(w["column"], w["statistic"], w["loss"], w["way"]): w for w in result["ways"]}
    assert len(found) == len(result["ways"])
    return result, found


def number(x):
    return math.inf if x is None else x


@pytest.mark.full
def test_the_figures_of_the_page_are_those_of_the_library(quick):
    """The least of a few errors is within nine tenths of those kept, the largest above a tenth."""
    (few, again), (kept, shown) = ways(quick), ways()
    assert kept["epsilon"] == list(every_way.EPSILONS) and few["delta"] == kept["delta"]
    assert set(few["epsilon"]) < set(kept["epsilon"])
    assert few["repeats"] == every_way.QUICK and kept["repeats"] >= 200
    assert list(again) == list(shown)
    for name, way in shown.items():
        for i, epsilon in enumerate(few["epsilon"]):
            j = kept["epsilon"].index(epsilon)
            low, high = number(again[name]["q10"][i]), number(again[name]["q90"][i])
            assert low <= number(way["q90"][j]), (name, epsilon)
            assert high >= number(way["q10"][j]), (name, epsilon)


def test_every_way_is_there():
    """Each noise that serves a loss, each method, each aggregator, under a name of its own."""
    from dpfast.aggregate.aggregators import AGGREGATORS
    from dpfast.noise.smooth import _APPROXIMATE, _CONCENTRATED, _PURE
    from dpfast.statistics.quantiles.statistic import Method

    names = {(w.statistic, w.loss, w.name) for w in every_way.ways()}
    assert len(names) == len(every_way.ways())
    for loss, noises in (("pure", _PURE), ("approx", {**_APPROXIMATE, **_CONCENTRATED})):
        for noise in noises:
            assert ("median", loss, f"smooth, {noise}") in names
        for method in set(get_args(Method)) - {"auto", "smooth"}:
            assert ("median", loss, method) in names
        for aggregator in set(AGGREGATORS) - {"auto"}:
            for statistic in ("median", "mean"):
                assert (statistic, loss, f"blocks, {aggregator}") in names


def test_the_threshold_in_print_falls_short_of_its_delta():
    """The audit behind the page, at a delta that can be seen: data at distance 0 pass too often."""
    delta, tries, rng = 0.02, 20_000, InsecureGenerator(7)
    noisy = dp.noise.laplace(1.0, tries, rng=rng)
    passed = np.mean(noisy >= math.log(2 / delta) / 2)
    assert abs(passed - math.sqrt(delta / 8)) < 5 * math.sqrt(passed / tries)
    assert passed > 2 * delta
    correct = np.mean(noisy >= math.log(1 / (2 * delta)))
    assert abs(correct - delta) < 5 * math.sqrt(delta / tries)
