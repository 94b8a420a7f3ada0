"""Draws of quantiles on real neighbors: exact pmfs at length, and a black-box look at the loss."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from dpfast.privacy import Pure
from dpfast.rng import InsecureGenerator
from dpfast.statistics.quantiles.draws import PARTS, Aim, Column, draw
from dpfast.statistics.quantiles.recursive import draw_all, plan
from dpfast.summaries.order import Ranks

from ..reference.statistics import exponential_quantiles as reference
from .kit import lower_bound

pytestmark = pytest.mark.slow

QS = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
#: Neighbors that one outcome, the cells 0, 1 and 2, tells apart well.
PAIR = [0] * 3 + [1] * 4 + [2] * 6 + [3, 4], [0] * 4 + [1] * 4 + [2] * 6 + [3, 4]


def column(data, last=4):
    return Column(Ranks(np.array(data, np.float64)), 0.0, float(last), 1.0)


def draws(data, root, size, seed):
    col, bits = column(data), InsecureGenerator(seed).stream()
    return [tuple(draw_all(col, len(data), root, len(QS), bits)) for _ in range(size)]


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_no_outcome_exceeds_epsilon(neighbors):
    epsilon = 1.5
    a, b = PAIR
    if neighbors == "replace":
        a = [*a, 4]
    root = plan(tuple(QS), Pure(epsilon), neighbors)
    sample = [draws(d, root, 10_000, i) for i, d in enumerate((a, b))]
    assert lower_bound(*sample) <= epsilon


def test_a_lie_about_the_loss_is_caught():
    """Draws at five times the loss that is claimed."""
    root = plan(tuple(QS), Pure(7.5), "add-remove")
    sample = [draws(d, root, 10_000, i) for i, d in enumerate(PAIR)]
    assert lower_bound(*sample) > 1.5


@pytest.mark.parametrize("scale, fits", [(1.0, True), (0.95, False)])
def test_a_long_column(scale, fits):
    """Hundreds of cells and rows; a rate that is five in a hundred too small is told apart."""
    rng = np.random.default_rng(0)
    data = np.floor(rng.normal(150, 40, 400).clip(0, 300))
    c, size, share = 0.1, 100_000, 1 << 18
    rows = data.astype(int).tolist()
    pmf = np.exp(reference.column(rows, Fraction(1, 2), c * scale, 300, share))
    col, bits = column(data, 300), InsecureGenerator(1).stream()
    ends, aim = col.ends(400), Aim(PARTS // 2, 0, c, share)
    found = Counter(draw(col, ends, aim, 400, bits).cell for _ in range(size))
    keys = [o for o in range(301) if pmf[o] * size >= 10]
    seen, wanted = [found[o] for o in keys], [size * pmf[o] for o in keys]
    p = chisquare([*seen, size - sum(seen)], [*wanted, size - sum(wanted)]).pvalue
    assert (p > 1e-6) == fits
