"""How many blocks: against trying all of them, and against errors that are measured."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpfast as dp
from dpfast.aggregate import aggregators, block_count
from dpfast.aggregate.aggregators import expected_error
from dpfast.aggregate.aggregators.mean import deviation_of
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.privacy import ZCDP, Pure
from dpfast.rng import InsecureGenerator

from ..support.pairwise import every_value, pairwise, quick_rows

NAMES = [name for name in aggregators.AGGREGATORS if name != "auto"]
#: Their noise has tails that are no heavier than those of Laplace noise.
LIGHT = ("mean", "winsorized-mean")
PROBABLE = 0.6744897501960817


def suggest(n=10_000, **change):
    return dp.suggest_blocks(n, **({"bounds": (0, 1), "epsilon": 1.0} | change))


@pairwise
@pytest.mark.parametrize("loss", [{"epsilon": 0.3}, {"epsilon": 2, "delta": 1e-3}, {"rho": 0.1}])
@pytest.mark.parametrize("bias", [0.01, 1.0, 30.0, 1e6])
@pytest.mark.parametrize("n, smallest", [(1, 1), (10, 1), (1000, 1), (1000, 7), (40_000, 20)])
def test_the_mean_by_brute_force(n, smallest, bias, loss):
    deviation = deviation_of(dp.privacy.loss(**loss)) * 60
    k = np.arange(1, n // smallest + 1)
    error = (bias * k / n) ** 2 + (deviation / k) ** 2
    found = dp.suggest_blocks(n, bounds=(20, 80), bias=bias, smallest_block=smallest, **loss)
    assert found == k[np.argmin(error)]


@quick_rows(2)
@pytest.mark.parametrize("loss", [{"epsilon": 0.3}, {"epsilon": 5}, {"rho": 0.1}])
@pytest.mark.parametrize("bias, spread", [(0.3, 0.001), (3.0, 0.02), (0.0, 0.01)])
@pytest.mark.parametrize("name", aggregators.AGGREGATORS)
def test_every_aggregator_by_brute_force(name, bias, spread, loss):
    """Ripples of rounding aside, no other number of blocks has a smaller error."""
    n = 400
    asked = dp.privacy.loss(**loss)
    trade = block_count.Trade(n, asked, ((0.0, 1.0),), (bias,), (spread,))
    error = [
        trade.squared(aggregators.default(k, asked) if name == "auto" else name, k)
        for k in range(1, n + 1)
    ]
    found = dp.suggest_blocks(n, bounds=(0, 1), aggregator=name, bias=bias, spread=spread, **loss)
    assert error[found - 1] <= 1.01 * min(error)


@pytest.mark.parametrize("name", ["mean", "trimmed-mean", "exponential-median", "winsorized-mean"])
def test_without_a_bias_blocks_are_as_small_as_they_may_be(name):
    found = suggest(aggregator=name, spread=None if name == "mean" else 0.001, smallest_block=30)
    assert found == 10_000 // 30


def test_a_vector_is_its_coordinates():
    """Equal coordinates, each with the loss of the one; bounds that are equal do not count."""
    one = suggest(bias=3.0)
    assert one == suggest(bias=3.0, spread=1e-9)  # which a mean does not need
    for vector in (
        {"bounds": [(0, 1)]},
        {"bounds": [(0, 1)] * 4, "epsilon": 4.0, "bias": [3.0] * 4},
        {"bounds": [(0, 1), (5, 5)], "bias": [3.0, 1e9]},
        {"bounds": np.array([[0, 1], [0, 10]]), "epsilon": 2.0, "bias": (3.0, 30.0)},
    ):
        assert one == suggest(**({"bias": 3.0} | vector))
    assert suggest(bounds=[(5, 5)] * 2, bias=9.0) == 10_000
    kw = {"bias": 3.0, "spread": 0.01, "aggregator": "trimmed-mean"}
    assert suggest(**kw) == suggest(bounds=[(0, 1)] * 3, epsilon=3.0, **kw)
    assert suggest(10, **{**kw, "aggregator": "auto"}) == suggest(10, bias=3.0)  # a mean


@every_value
@pytest.mark.parametrize("n", [1, 2, 17, 10**4, 10**6, 10**12])
@pytest.mark.parametrize("name", [name for name in aggregators.AGGREGATORS if name != "mean"])
def test_the_fallback(name, n):
    """Without a bias the number of blocks hangs on the number of rows and the share of the loss."""
    low, high = math.ceil(n**0.4), math.isqrt(n - 1) + 1
    for epsilon, wanted in ((1e-6, high), (400, low), (1, min(max(64, low), high))):
        assert suggest(n, aggregator=name, epsilon=epsilon) == min(wanted, 1 << 24)
    assert suggest(n, aggregator=name, smallest_block=max(1, n // 3)) <= 3
    assert suggest(10**6, aggregator="trimmed-mean", rho=0.02, epsilon=None) == 320
    assert suggest(10**6, aggregator="trimmed-mean", bounds=[(0, 1)] * 4) == 256


#: Not 0: small and round numbers are found better by draws.
TRUTH = 0.0172


def measured(name, errors):
    """The size of errors as `expected_error` means it."""
    if name in LIGHT:
        return math.sqrt(float(np.mean(errors**2)))
    return float(np.median(np.abs(errors))) / PROBABLE


@quick_rows(12)
@pytest.mark.parametrize("loss, k", [(Pure(1), 60), (Pure(1), 600), (ZCDP(Fraction(1, 20)), 300)])
@pytest.mark.parametrize("name", NAMES)
def test_the_expected_error(name, loss, k):
    rng, generator = np.random.default_rng(k), InsecureGenerator(k)
    made = aggregators.make(name, k, -0.5, 0.5, loss)
    z = np.clip(rng.normal(TRUTH, 0.03, (250, k)), -0.5, 0.5)
    error = np.array([made.release(row, generator) for row in z]) - TRUTH
    assert expected_error.expected_error(name, k, 1.0, loss, 0.03) == pytest.approx(
        measured(name, error), rel=0.35
    )


@pytest.mark.full
@settings(max_examples=150, deadline=None)
@given(
    n=st.integers(1, 10**12),
    block=st.integers(1, 10**4),
    width=st.sampled_from([0.0, 1e-6, 1.0, 1e300]),
    kw=st.fixed_dictionaries(
        {
            "aggregator": st.sampled_from(aggregators.AGGREGATORS),
            "bias": st.sampled_from([0.0, 1e-300, 0.1, 1e9]),
            "spread": st.sampled_from([1e-12, 0.01, 1e9]),
            "epsilon": st.sampled_from([1e-6, 0.1, 1, 500]),
        }
    ),
)
def test_always_a_number_of_blocks(n, block, width, kw):
    block = min(n, block)
    found = dp.suggest_blocks(n, bounds=(0.0, width), smallest_block=block, **kw)
    assert type(found) is int and 1 <= found <= n // block


@pytest.mark.parametrize(
    "change, word",
    [
        *[({"n": n}, "n") for n in (0, 2.5, True)],
        *[({"bounds": b}, "bounds") for b in (None, (1, 0), "01", [], [(0, 1)] * 5000)],
        *[({"epsilon": e}, "epsilon") for e in (None, 1000)],
        ({"rho": 1}, "rho"),
        *[({"delta": d}, "delta") for d in (1, -0.1)],
        ({"aggregator": "medium"}, "aggregator"),
        *[({"bias": b}, "bias") for b in (-1, math.nan, "1", None, [1, 2], [[1]])],
        *[({"spread": s}, "spread") for s in (0, math.inf, [1, 2])],
        ({"bias": 1, "aggregator": "auto"}, "spread"),
        *[({"smallest_block": s}, "smallest_block") for s in (0, 1.5, 10_001)],
    ],
)
def test_bad_arguments(change, word):
    with pytest.raises((ArgumentError, ArgumentTypeError), match=f"^{word}"):
        suggest(**({"n": 10_000} | change))
