"""Quantiles among few numbers by permute-and-flip: against the text of it, and its loss."""

from __future__ import annotations

import functools
import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

import dpfast as dp
from dpfast.noise.grid import lattice
from dpfast.privacy import ZCDP, Draws, Pure
from dpfast.rng import InsecureGenerator
from dpfast.statistics.quantiles import draws
from dpfast.statistics.quantiles.exponential import FLIPPED, ExponentialQuantile

from ..reference.statistics import exponential_quantiles as reference
from .test_exponential_quantiles import LEVEL, p_value

HALF = Fraction(1, 2)
PLACES = [Fraction(0), Fraction(1, 3), HALF, Fraction(9, 10)]
COLUMNS = {
    "none": [],
    "gaps": [1, 5],
    "ties": [0, 1, 1, 1, 1, 1, 3, 3, 3, 3, 5],
    "a far tie": [0] * 3 + [5] * 12,
}


def made_for(q, neighbors, loss, last=5):
    return ExponentialQuantile(
        0.0, float(last), neighbors, "raise", loss, False, lattice(0.0, last, Fraction(1)), q=q
    )


def drawn(made, data, size):
    summary = made.reduce(dp.tables.as_source(np.array(data, float)))
    generator = InsecureGenerator(5)
    return Counter(int(made.finish(summary, generator)) for _ in range(size))


def law(made, data, last=5):
    aim = made.aim
    return reference.flipped(data, made.q, aim.rate, last, aim.share, aim.ties)


@pytest.mark.parametrize("name", list(COLUMNS))
@pytest.mark.parametrize("epsilon", [Fraction(1, 5), 3], ids=str)
@pytest.mark.parametrize("q", PLACES[1:3], ids=str)
def test_draws_have_the_law(name, q, epsilon):
    made = made_for(q, "add-remove", Pure(epsilon))
    pmf = dict(enumerate(law(made, COLUMNS[name])))
    assert p_value(drawn(made, COLUMNS[name], 800), pmf) > LEVEL


REAL = draws.shows_tails
FAULTS = {
    "nothing": {},
    "no tails": {"shows_tails": lambda *_: False},
    "too few tries": {"shows_tails": lambda tries, *more: REAL(tries - 1, *more)},
    "each call": {"shows_tails": lambda _, coins, *more: REAL(1, coins, *more)},
    "all exact": {"CLOSE": 4.0},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_would_be_caught(fault, monkeypatch):
    """Tails that are not seen are the exponential mechanism; coins may be decided by any digits."""
    made, data = made_for(HALF, "add-remove", Pure(Fraction(3, 4))), COLUMNS["ties"]
    for name, value in FAULTS[fault].items():
        monkeypatch.setattr(draws, name, value)
    size = {"each call": 12_000, "all exact": 1_000}.get(fault, 4_000)
    fits = p_value(drawn(made, data, size), dict(enumerate(law(made, data)))) > LEVEL
    assert fits == (fault in ("nothing", "all exact"))


def worst(q, neighbors, last=3, most=4, factor=1.0, fault=None):
    """The largest loss of all data of a few rows with all neighbors, over what is claimed."""
    made = made_for(q, neighbors, Pure(2), last)
    aim = made.aim

    @functools.cache
    def law(data):
        rate, share = factor * aim.rate, aim.share
        return np.log(reference.flipped(data, q, rate, last, share, 1, fault))

    largest = 0.0
    for size in range(most):
        for data in combinations_with_replacement(range(last + 1), size):
            more = [tuple(sorted((*data, x))) for x in range(last + 1)]
            pairs = [(data, other) for other in more]
            if neighbors == "replace":
                pairs += [(one, other) for one in more for other in more]
            largest = max(largest, *(np.abs(law(a) - law(b)).max() for a, b in pairs))
    return largest / float(made.loss.epsilon)


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("q", PLACES, ids=str)
def test_all_neighbors_are_within_the_loss(q, neighbors):
    """Rows that are replaced may also come and go, as those of people that are kept."""
    assert 0.5 < worst(q, neighbors) <= 1 + 1e-12


@pytest.mark.parametrize("change", [{"factor": 1.3}, {"fault": "ties"}])
def test_a_larger_loss_shows(change):
    assert worst(HALF, "add-remove", **change) > 1.1


def test_which_draws_flip():
    few, many = lattice(0.0, 5.0, Fraction(1)), lattice(0.0, 5.0, Fraction(5, FLIPPED))
    for numbers, loss, flips in (
        (few, Pure(1), True),
        (few, ZCDP(1), False),
        (many, Pure(1), False),
        (None, Pure(1), False),
    ):
        made = ExponentialQuantile(0.0, 5.0, "replace", "raise", loss, False, numbers, q=HALF)
        assert made.flips == flips
        assert (type(made.loss) is Draws) == (not flips and isinstance(loss, Pure))
        assert made.base.total == 6 or not flips


def test_errors_are_less_than_those_of_the_exponential_mechanism():
    """The means of errors by the laws themselves."""
    data = np.repeat(range(6), [12, 10, 16, 10, 8, 4]).tolist()
    made = made_for(HALF, "replace", Pure(Fraction(1, 2)))
    aim = made.aim
    other = np.exp(reference.column(data, HALF, aim.rate, 5, aim.share, ties=aim.ties))
    truth = float(np.median(data))
    means = [math.fsum(p * np.abs(np.arange(6) - truth)) for p in (law(made, data), other)]
    assert means[0] < 0.8 * means[1]
