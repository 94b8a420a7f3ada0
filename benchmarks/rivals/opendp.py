"""OpenDP: the exponential mechanism over a public grid of candidates (add-remove)."""

import math
from functools import lru_cache

import numpy as np
import opendp.prelude as dp

NAME, DISTRIBUTION = "OpenDP", "opendp"
dp.enable_features("contrib")
CANDIDATES = 1001


@lru_cache
def _quantile(bounds, epsilon, candidates=CANDIDATES):
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()

    def make(scale):
        return dp.m.make_private_quantile(
            *space,
            dp.max_divergence(),
            candidates=np.linspace(*bounds, candidates),
            alpha=0.5,
            scale=scale,
        )

    return dp.binary_search_chain(make, d_in=1, d_out=epsilon)


def median(data, bounds, epsilon):
    return _quantile(tuple(map(float, bounds)), float(epsilon))(data)


def accurate_median(data, bounds, epsilon):
    """With the candidates that a careful user would give: integers, or ten thousand steps."""
    steps = 120 if bounds == (0.0, 120.0) else 10_000
    return _quantile(tuple(map(float, bounds)), float(epsilon), steps + 1)(data)


@lru_cache
def _noise(maker, scale):
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    if maker == "gaussian":
        space = space[0], dp.l2_distance(T=float)
    return getattr(dp.m, f"make_{maker}")(*space, scale=scale)


def laplace(scale, size):
    return _noise("laplace", float(scale))([0.0] * size)


def gaussian(scale, size):
    return _noise("gaussian", float(scale))([0.0] * size)


@lru_cache
def _noisy_max(scale, distribution):
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    return dp.m.make_noisy_max(*space, getattr(dp, distribution)(), scale=scale)


def noisy_max(scores, sensitivity, epsilon):
    """With Gumbel noise: the exponential mechanism."""
    return _noisy_max(2 * sensitivity / epsilon, "zero_concentrated_divergence")(scores)


def permute_and_flip(scores, sensitivity, epsilon):
    """With exponential noise, which has that distribution."""
    return _noisy_max(2 * sensitivity / epsilon, "max_divergence")(scores)


@lru_cache
def _total(bounds, epsilon, rows):
    """A sum under the replace relation, the number of rows being public."""
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=rows), dp.symmetric_distance()
    return dp.binary_search_chain(
        lambda scale: (
            space >> dp.t.then_clamp(bounds) >> dp.t.then_sum() >> dp.m.then_laplace(scale)
        ),
        d_in=2,
        d_out=epsilon,
    )


def sum(data, bounds, epsilon):
    return _total(tuple(map(float, bounds)), float(epsilon), len(data))(data)


def mean(data, bounds, epsilon):
    return sum(data, bounds, epsilon) / len(data)


@lru_cache
def _histogram(bounds, epsilon, bins):
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    edges = np.linspace(*bounds, bins + 1).tolist()
    return dp.binary_search_chain(
        lambda scale: (
            space
            >> dp.t.then_find_bin(edges)
            >> dp.t.then_count_by_categories(list(range(1, bins + 1)), null_category=False)
            >> dp.m.then_laplace(scale)
        ),
        d_in=2,
        d_out=epsilon,
    )


def histogram(data, bounds, epsilon):
    return _histogram(tuple(map(float, bounds)), float(epsilon), 100)(data)


def response(bits, epsilon):
    """One answer a call."""
    mechanism = dp.m.make_randomized_response_bool(1 / (1 + math.exp(-epsilon)))
    return [mechanism(bool(bit)) for bit in bits]
