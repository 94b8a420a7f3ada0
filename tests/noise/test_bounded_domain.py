"""Laplace noise in a domain: its loss by enumeration of the law that is shipped, and the law."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from dpfast.noise.bounded_domain import DomainNoise, domain_noise, loss_above
from dpfast.rng import InsecureGenerator

from ..support.pairwise import quick_rows

DOMAINS = [(1, 1), (2, 1), (5, 1), (5, 2), (5, 5), (40, 3), (40, 39)]
EPSILONS = [Fraction(1, 20), Fraction(1), Fraction(6)]


def law(most, scale):
    """The probability of each answer from each value, by definition."""
    places = np.arange(most + 1)
    weights = np.exp(-np.abs(places[:, None] - places) / float(scale))
    return weights / weights.sum(axis=1, keepdims=True)


def worst(most, moved, scale):
    """The largest log-ratio of any answer, of any two values that are so near."""
    table = np.log(law(most, scale))
    pairs = itertools.combinations(range(most + 1), 2)
    return max(np.abs(table[u] - table[v]).max() for u, v in pairs if abs(u - v) <= moved)


@quick_rows(7)
@pytest.mark.parametrize(("most", "moved"), DOMAINS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_loss_is_reached_and_not_passed(most, moved, epsilon):
    noise = domain_noise(most, moved, epsilon)
    found = worst(most, moved, noise.scale)
    assert found <= float(epsilon) * (1 + 1e-12)
    assert found > float(epsilon) * (1 - 1e-9)  # and no more noise than that takes
    assert float(loss_above(most, moved, noise.scale)) == pytest.approx(found, rel=1e-12)
    assert moved / epsilon < noise.scale <= 2 * moved / epsilon * (1 + Fraction(1, 10**9))
    # Planted: the scale of noise that knows no domain, which is right for values at both ends only.
    fault = worst(most, moved, moved / epsilon)
    assert fault > float(epsilon) * (1 + 1e-9) or moved == most
    assert fault > float(epsilon) * 1.1 or moved > most / 2 or epsilon == 6


@quick_rows(3)
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(7, 2), Fraction(50)])
@pytest.mark.parametrize("u", [0, 2, 7])
def test_draws_have_the_law_that_was_derived(scale, u):
    noise, rng = DomainNoise(7, scale), InsecureGenerator(4)
    counts = np.bincount([noise.draw(u, rng) for _ in range(4000)], minlength=8)

    def misfit(pmf):
        seen = pmf > 1e-3
        due = counts.sum() * np.append(pmf[seen], 1 - pmf[seen].sum() + 1e-9)
        real = np.append(counts[seen], counts[~seen].sum())
        return ((real - due) ** 2 / due).sum() / special.chdtri(len(due) - 1, 1e-9)

    assert misfit(law(7, scale)[u]) < 1
    if scale > 1:
        far = np.arange(-2000, 2001)
        weights = np.exp(-np.abs(far) / float(scale))
        truncated = np.bincount(np.clip(far + u, 0, 7), weights / weights.sum())
        assert misfit(truncated) > 1  # planted: brought back to the nearest end


def test_the_error_is_what_is_said_at_most():
    for scale, most in itertools.product([0.4, 3, 30], [1, 9, 40]):
        table, noise = law(most, scale), DomainNoise(most, Fraction(scale))
        off = np.abs(np.arange(most + 1)[:, None] - np.arange(most + 1))
        for failure in (0.2, 0.05, 1e-4):
            bar = noise.half_width(failure)
            assert np.max((table * (off > bar)).sum(axis=1)) <= failure * (1 + 1e-9)
    p = math.exp(-1 / 3)
    assert DomainNoise(40, Fraction(3)).half_width(0.05) == math.ceil(
        3 * math.log(40 / (1 + p)) - 1
    )


def test_large_domains_are_priced_without_loss_of_digits():
    most = 1 << 31
    for moved, epsilon in ((1, Fraction(1, 2**20)), (most, Fraction(1, 128)), (3, Fraction(200))):
        noise = domain_noise(most, moved, epsilon)
        assert loss_above(most, moved, noise.scale) <= epsilon
        assert loss_above(most, moved, noise.scale * (1 - Fraction(1, 10**9))) > epsilon
