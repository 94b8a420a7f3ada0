"""The examples for contributors run, and do what they say."""

import re

import numpy as np
import pytest

import dpfast as dp
from dpfast.noise import samplers
from dpfast.rng import InsecureGenerator

from ..support.pages import ROOT

pytestmark = pytest.mark.skipif(
    not (ROOT / "CONTRIBUTING.md").exists(), reason="the page is not here"
)


@pytest.fixture(scope="module")
def names():
    """What the blocks define, in one namespace each as in a file of their own."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = {"__name__": "contributing"}
    for block in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S):
        exec(block, found)
    return found


def test_the_statistic(names):
    rows, budget = np.stack([np.arange(1000), np.full(1000, 500)], axis=1), dp.Budget(epsilon=2)
    given = {"bounds": [(0, 1000), (1, 900)], "epsilon": 2}
    found = names["ratio"](rows, **given, budget=budget)
    assert abs(found - 0.999) < 0.05 and budget.remaining["epsilon"] == 0
    mine, theirs = (f(rows, **given, rng=InsecureGenerator(1)) for f in (names["ratio"], dp.ratio))
    assert mine == theirs
    measured = names["Ratio"](bounds=given["bounds"]).measure(epsilon=2)
    assert measured.error(1000, 0.95).half_width < 1
    with pytest.raises(dp.errors.ArgumentError, match="bounds must"):
        names["ratio"](rows, bounds=(0, 1), epsilon=1)


def test_the_source(names, tmp_path):
    path, values = tmp_path / "x.f8", np.random.default_rng(0).normal(50, 9, 200_000)
    values.tofile(path)
    source, given = names["RawFile"](path), {"bounds": (0, 100), "epsilon": 1}
    for release in (dp.median, dp.mean, dp.sum):
        mine, theirs = (release(x, **given, rng=InsecureGenerator(1)) for x in (source, values))
        assert mine == theirs
    path.write_bytes(b"")
    with pytest.raises(dp.errors.SourceError, match="cut short"):
        dp.sum(source, **given)
    assert abs(dp.sum(names["RawFile"](path), bounds=(0, 1), epsilon=1)) < 40


def test_the_distribution(names):
    one, grid = np.ones(1), np.full(1, 2.0**-20)
    given = {"value": 0 * one, "scale": one, "granularity": grid, "shape": (20_000,)}
    z = np.abs(samplers.draw_array(names["Lomax"](), **given, generator=InsecureGenerator(1)))
    for at in (0.1, 1.0, 10.0):
        share = (1 + at) ** -2
        assert abs(np.mean(z > at) - share) < 5 * np.sqrt(share / len(z))
    draft, x = names["lomax"](1.0), np.linspace(-50, 50, 100_001)
    assert 3 * draft.alpha + 2 * draft.beta == pytest.approx(1)
    grown, density = np.exp(draft.beta), lambda z: (1 + np.abs(z)) ** -3
    worst = np.abs(np.log(density(x) / (density((x - draft.alpha) / grown) / grown))).max()
    assert 0.5 < worst <= 1


def test_the_learner(names):
    x = np.random.default_rng(0).normal([0.0, 1.0], 1.0, (50_000, 2))
    budget = dp.Budget(rho=1)
    found = names["PositiveShares"](rho=1).fit(x, budget=budget)
    assert np.abs(found.shares_ - [0.5, 0.841]).max() < 0.01
    assert found.n_features_in_ == 2 and budget.remaining["rho"] == 0
