"""Private medians and quantiles, end to end."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpfast as dp
from dpfast.errors import ArgumentError, DataError
from dpfast.statistics.quantiles.smooth import spacing

from ..support.pairwise import pairwise
from ..support.paths import on_every_path
from ..support.sensitivities import smooth_of
from ..support.views import innermost

GRID_OF_UNIT = 2.0**-40


def rng(seed=0):
    return dp.rng.InsecureGenerator(seed)


def mechanism_of(bounds, epsilon, **kw):
    return innermost(dp.Median(bounds=bounds, **kw).measure(epsilon=epsilon, unit="replace").inner)


@pairwise
@pytest.mark.parametrize(
    "loss",
    [{"epsilon": 1}, {"epsilon": 0.2}, {"epsilon": 1, "delta": 1e-6}, {"rho": 0.5}],
    ids=str,
)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("q", [0.1, 0.5, Fraction(2, 3), 0.99])
def test_close_to_the_truth_on_many_rows(loss, neighbors, q):
    data = np.linspace(0, 1, 200_001)
    got = [
        dp.quantile(data, q, bounds=(-1, 2), neighbors=neighbors, rng=rng(s), **loss)
        for s in range(7)
    ]
    assert abs(np.median(got) - float(q)) < 2e-3


PURE = {"epsilon": 4}
APPROXIMATE = {"epsilon": 4, "delta": 1e-6}
NOISES = {
    "polyplace": PURE,
    "polyplace-finite-variance": PURE,
    "cauchy": PURE,
    "student-t": PURE,
    "generalized-cauchy": PURE,
    "laplace": APPROXIMATE,
    "gaussian": APPROXIMATE,
}


@pytest.mark.parametrize("noise", NOISES)
def test_every_distribution_of_noise(noise):
    data, kw = np.linspace(0, 1, 200_001), {"bounds": (0, 1), "noise": noise, **NOISES[noise]}
    got = [dp.median(data, rng=rng(s), **kw) for s in range(9)]
    assert abs(np.median(got) - 0.5) < 0.01


def test_values_lie_on_a_public_grid_inside_the_bounds():
    """Neighbors with very different smooth sensitivities must have the same support."""
    for data in (np.zeros(5), np.array([0, 0, 0.3, 0.9, 1]), np.array([]), np.array([0.123456789])):
        out = np.array(
            [
                dp.median(data, bounds=(0, 1), epsilon=0.5, method="smooth", rng=rng(s))
                for s in range(400)
            ]
        )
        assert ((out >= 0) & (out <= 1)).all()
        assert (out / GRID_OF_UNIT == np.rint(out / GRID_OF_UNIT)).all()
        inner = out[(out > 0) & (out < 1)] / GRID_OF_UNIT
        assert len(inner) > 20
        assert 0.2 < np.mean(inner % 2) < 0.8, "odd multiples are as likely as even ones"
    # The control: noise added in floating point is off the grid.
    off = 0.123456789 + np.random.default_rng(0).laplace(size=100)
    assert (off / GRID_OF_UNIT != np.rint(off / GRID_OF_UNIT)).any()


@given(lo=st.floats(-1e300, 1e300), width=st.floats(0, 1e300), widest=st.floats(1e-300, 1e300))
@settings(max_examples=300)
def test_the_grid_is_a_usable_power_of_two(lo, width, widest):
    hi = lo + width
    if not lo < hi:
        return
    g = spacing(lo, hi, max(widest, hi - lo))
    assert math.frexp(g)[0] == 0.5
    assert max(abs(lo), abs(hi)) / g <= 2.0**53


def test_the_grid_and_the_law_ignore_the_data():
    """The mechanism is chosen before the data are seen: its constructor has no data argument."""
    a, b = (mechanism_of((0, 1), 1) for _ in range(2))
    assert a == b and a.grid == GRID_OF_UNIT


@pytest.mark.parametrize("epsilon", [50, 90, 110, 140, 500])
@pytest.mark.parametrize("bounds", [(0, 2.0**-930), (0, 1e-290), (-(2.0**-990), 2.0**-990)])
def test_a_noise_scale_never_underflows(bounds, epsilon):
    # S / alpha underflowed for close data and not for spread data: an error that told them apart.
    said = set()
    for data in (np.full(2000, bounds[1] / 2), np.linspace(*bounds, 7), np.array(bounds)):
        budget = dp.Budget(epsilon=epsilon)
        try:
            mechanism = mechanism_of(bounds, epsilon, noise="cauchy")
            dp.median(data, bounds=bounds, epsilon=epsilon, budget=budget, noise="cauchy")
        except ArgumentError as error:
            said.add(str(error))
            assert "apart" in str(error) and budget.remaining["epsilon"] == epsilon
        else:
            said.add("")
            assert mechanism.grid / mechanism.calibration.alpha >= 2.0**-1022
    assert len(said) == 1


def test_sorted_data_are_taken_at_their_word_but_not_blindly():
    data = np.arange(100_000.0)
    kw = dict(bounds=(0, 2e5), epsilon=1)
    assert dp.median(data, assume_sorted=True, rng=rng(3), **kw) == dp.median(
        data, rng=rng(3), **kw
    )
    lie = data.copy()
    lie[49_990:50_010] = lie[49_990:50_010][::-1]
    with pytest.raises(DataError, match="sorted"):
        dp.median(lie, assume_sorted=True, **kw)


def test_neighbors_use_the_same_randomness():
    """Record and replay: on any neighbor the release draws the same bits, in the same number."""

    class Counting(dp.rng.InsecureGenerator):
        calls = 0

        def stream(self):
            self.calls += 1
            return super().stream()

    data = np.linspace(0, 1, 101)
    seen = set()
    for changed in (0.0, 0.5, 1.0):
        for row in (0, 50, 100):
            other = data.copy()
            other[row] = changed
            g = Counting(9)
            dp.median(other, bounds=(0, 1), epsilon=1, method="smooth", rng=g)
            seen.add((g.calls, g.bytes(8)))
    assert len(seen) == 1


@pytest.mark.full
def test_release_is_the_ideal_mechanism_rounded():
    """The draw equals median + (S / alpha) Z rounded to the grid, for the S and alpha claimed."""
    from scipy.stats import ks_2samp

    data, bounds = np.linspace(0, 1, 101), (-5, 5)
    mechanism = mechanism_of(bounds, 2, noise="cauchy")
    c = mechanism.calibration
    asked = {"bounds": bounds, "neighbors": "replace"}
    S = smooth_of(dp.Median, data, beta=c.beta, **asked)
    z = dp.noise.cauchy(S / c.alpha, size=100_000, granularity=mechanism.grid, rng=rng(4))
    one = rng(5)
    out = [dp.median(data, epsilon=2, noise="cauchy", rng=one, **asked) for _ in range(20_000)]

    def agrees(factor):  # distances from the truth: both tails tell of the scale
        ideal = np.clip(0.5 + factor * z, *bounds)
        return ks_2samp(np.abs(np.array(out) - 0.5), np.abs(ideal - 0.5)).pvalue > 1e-6

    assert agrees(1.0)
    # The controls: noise a tenth larger, and a tenth smaller.
    assert not agrees(1.1) and not agrees(0.9)


WHOLE_RELEASE = """
import numpy as np, dpfast as dp
data = np.random.default_rng(0).normal(0, 1, 300_001)
g = dp.rng.InsecureGenerator(11)
for dtype in ("f8", "f4", "i4", "u1"):
    column = (data * 20 + 100).astype(dtype)
    for noise, loss in (("polyplace", {"epsilon": 1}), ("cauchy", {"epsilon": 0.3}),
                        ("gaussian", {"epsilon": 1, "delta": 1e-9}), ("arsinh-normal", {"rho": 1})):
        for neighbors in ("replace", "add-remove"):
            print(dp.quantile(column, 0.3, bounds=(0, 200), noise=noise, neighbors=neighbors,
                              rng=g, **loss).hex())
"""


@pytest.mark.full
def test_every_instruction_set_gives_the_same_release():
    assert len(on_every_path(WHOLE_RELEASE).split()) == 32


@pytest.mark.parametrize("method", ["smooth", "exponential"])
@pytest.mark.parametrize("bounds", [(-1e130, -1e-206), (1e-206, 1e130)])
def test_within_bounds_so_near_to_0_that_a_quotient_underflows(method, bounds):
    x = np.full(1000, min(bounds, key=abs))
    lo, hi = bounds
    assert lo <= dp.median(x, bounds=bounds, epsilon=20, method=method) <= hi
