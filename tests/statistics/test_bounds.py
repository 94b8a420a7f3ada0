"""Private bounds: exact counts, the law by its definition, its loss over all neighbors."""

import itertools
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest

import dpfast as dp
from dpfast._kernels.statistics import MAGNITUDES, magnitudes
from dpfast.measurement import outer_bounds, tails
from dpfast.measurement.automatic_bounds import SHARE
from dpfast.rng import InsecureGenerator

from ..reference.statistics import bounds as twin
from ..support.pairwise import every_value, quick_rows
from ..support.refused import refused
from ..support.views import quoted

SPECIAL = [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.0**-40, 2.0**380, 1.7e308, -1.7e308]
WHAT_IS_NO_NUMBER = [np.inf, -np.inf, np.nan]
KINDS = ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"]


def rows_of(kind, size):
    random = np.random.default_rng(size)
    if kind[0] == "f":
        rows = random.lognormal(0, 9, size) * random.choice([-1, 1], size)
        rows[: len(SPECIAL + WHAT_IS_NO_NUMBER)] = (SPECIAL + WHAT_IS_NO_NUMBER)[:size]
        # A NaN that an infinity differs from in its last bits only.
        if kind == "f8" and size > 20:
            rows[20] = np.array([0x7FF0000000000001], np.uint64).view(np.float64)[0]
    else:
        limits = np.iinfo(kind)
        rows = random.integers(limits.min, limits.max, size, kind, endpoint=True)
    with np.errstate(over="ignore"):
        return rows.astype(kind)


@every_value
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0, 1, 1_501])
def test_the_kernel_counts_as_its_twin(kind, size):
    """Many rows are counted in several tables."""
    rows = rows_of(kind, size)
    cells = [twin.cell(float(x)) for x in rows]
    due = np.bincount([k for k in cells if k is not None], minlength=MAGNITUDES)
    for times in (1, 200):
        counts = np.zeros(MAGNITUDES, np.int64)
        counts[0x7FF0] = 3  # what was counted before is kept
        assert magnitudes(np.tile(rows, times), counts) == times * cells.count(None)
        counts[0x7FF0] -= 3
        assert np.array_equal(counts, times * due)


def test_tails_are_counts_of_rows():
    rows = rows_of("f8", 60)
    summary = tails.of_chunk(tails.Chunk(rows, 0))
    here = [x for x in rows.tolist() if x == x]
    assert np.array_equal(tails.NUMBERS, twin.NUMBERS)
    assert np.array_equal(tails.beyond(summary, above=True), twin.above(here))
    assert np.array_equal(tails.beyond(summary, above=False), twin.above([-x for x in here])[::-1])
    assert tails.rows(summary) == len(here)
    assert summary[tails.MISSING] == 60 - len(here)


DATA = {
    "none": [], "one": [3.0], "mixed": [-2.5] * 30 + [0.0] * 5 + list(np.linspace(0.1, 90, 200)),
    "two cells": [1.0] * 40 + [1.07] * 40, "negative": list(np.linspace(-900, -30, 100)),
}  # fmt: skip


@every_value
@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(("share", "c"), [(0.0, 0.25), (0.25, 3.0)])
def test_the_sampler_has_the_weights_of_the_definition(name, share, c):
    rows = np.array(DATA[name], np.float64)
    summary = tails.of_chunk(tails.Chunk(rows, 0))
    both = outer_bounds.sides(summary, Fraction(share), c)
    for side, expected in zip(both, twin.both_ends(rows.tolist(), share, c), strict=True):
        places = np.unique(np.r_[np.argsort(expected)[:40], np.arange(0, len(expected), 500)])
        exact = np.array([float(side.exact(i)) for i in places.tolist()])
        assert np.allclose(exact, expected[places], rtol=1e-12)
        assert np.all(np.abs(side.about - expected) <= side.slack)


#: Those of columns of tables, by name: beyond 1 they fall by a factor of e^2 and of e^4 an octave.
OTHERS = {"any size": (1 / 256, 1 / 8, 640), "about 1": (1 / 256, 1 / 2, 640)}


@quick_rows(1)
@pytest.mark.parametrize("name", OTHERS)
def test_other_priors_are_as_defined_and_cost_the_same(name, monkeypatch):
    weights = twin.prior(*OTHERS[name])
    assert outer_bounds.PRIORS[name].tolist() == weights.tolist()
    monkeypatch.setattr(twin, "prior", lambda: weights)
    rows = np.array(DATA["mixed"])
    summary = tails.of_chunk(tails.Chunk(rows, 0))
    both = outer_bounds.sides(summary, Fraction(0), 0.25, outer_bounds.PRIORS[name])
    for side, expected in zip(both, twin.both_ends(rows.tolist(), 0, 0.25), strict=True):
        assert np.all(np.abs(side.about - expected) <= side.slack)
    test_no_neighbors_differ_by_more_than_the_loss(0, 0.0, 1.0)


@pytest.mark.full
@pytest.mark.parametrize(("rows", "share"), [
    ([5.0] * 30 + [5.5] * 3 + [6.0] * 2, 0.0), (list(np.linspace(-900, -30, 100)), 0.25),
], ids=["spread", "one end is sure"])  # fmt: skip
def test_draws_have_the_law_of_the_definition_and_another_rate_is_caught(rows, share):
    summary, size = tails.of_chunk(tails.Chunk(np.array(rows), 0)), 4_000
    found = outer_bounds.draw(summary, Fraction(share), 1.0, InsecureGenerator(4).stream(), size)
    assert np.all(found[:, 0] < found[:, 1])
    sides = (found[:, 1], rows), (len(twin.NUMBERS) - 1 - found[:, 0], [-x for x in rows])

    def far_off(rate):
        worst = 0.0
        for places, given in sides:
            due = twin.marginal(given, share, rate) * size
            seen = np.bincount(places, minlength=len(due))
            octaves = np.arange(0, len(due), 16)  # where no number is much likelier than others
            for parts in (np.arange(len(due)), octaves):
                here, wanted = np.add.reduceat(seen, parts), np.add.reduceat(due, parts)
                off = np.abs(here - wanted)[wanted > 30] / np.sqrt(wanted[wanted > 30])
                worst = max(worst, float(off.max(initial=0)))
        return worst

    assert far_off(1.0) < 5
    assert share or far_off(0.6) > 5


def test_counts_of_numbers_are_those_of_rows():
    numbers, counts = np.array([-3.0, -0.0, 2.0**-50, 1.5, 1e300]), np.array([2, 1, 0, 5, 3])
    rows = tails.of_chunk(tails.Chunk(np.repeat(numbers, counts), 0))
    assert tails.of_counts(numbers, counts).tolist() == rows.tolist()


VALUES = [-3.0, 2.0**-50, 1.0, 1.03, 1.07, 5.0]
MANY = [
    ([1.0] * 9 + [1.07] * 9, 1.07), ([1.0] * 9 + [1.07] * 9, 1.03),
    ([1.0] * 7 + [1.07] * 30 + [1.13] * 7, 1.07), ([-3.0] * 6 + [5.0] * 6, 1.0),
    ([-3.0] * 20 + [5.0] * 20, 5.0), ([1.0] * 100, 5.0), ([1.0] * 100, -1.0),
]  # fmt: skip
LOSSES = [(0, 0.0, 1.0), (0, 0.25, 4.0), (1, 0.25, 4.0), (1, 0.0, 0.3)]
LONG = [*((3, 0.0, c) for c in (0.3, 1.0, 6.0)), (3, 0.25, 4.0)]


@pytest.mark.parametrize(
    ("most", "share", "c"),
    [
        *(pytest.param(*one, marks=[pytest.mark.full] * (one != LOSSES[0])) for one in LOSSES),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in LONG),
    ],
)
def test_no_neighbors_differ_by_more_than_the_loss(most, share, c):
    every = itertools.combinations_with_replacement
    pairs = [
        *((rows, value) for n in range(most + 1) for rows in every(VALUES, n) for value in VALUES),
        *MANY,
    ]

    def worst(**planted):
        return max(twin.loss([*a], [*a, more], share, c, **planted) for a, more in pairs) / c

    assert worst() <= 1 + 1e-9
    # Planted: two draws that do not know of each other, for the loss of one.
    assert (share, c) != (0.0, 1.0) or worst(apart=None) > 1.05


def test_the_loss_is_that_of_one_draw():
    rows = [1.0, 2.0]
    budget = dp.Budget(rho=10)
    pure = quoted(dp.bounds, rows, epsilon=1, relation="add-remove")
    assert pure.rate == 1
    assert quoted(dp.bounds, rows, epsilon=1, relation="replace").rate == 0.5
    assert (
        budget.cost(dp.bounds, rows, epsilon=1) == dp.privacy.Draws(1, bounded_range=True).to_zcdp()
    )
    both = quoted(dp.bounds, np.ones((2, 2)), axis=0, epsilon=1, relation="add-remove")
    assert both.rate == 0.5
    assert both.loss.epsilon == 1


STATISTICS = {
    "mean": (dp.mean, {}), "sum": (dp.sum, {}), "variance": (dp.variance, {}),
    "median": (dp.median, {}), "quantiles": (dp.quantiles, {"qs": [0.2, 0.8]}), "iqr": (dp.iqr, {}),
    "trimmed mean": (dp.trimmed_mean, {}), "histogram": (dp.histogram, {"bins": 4}),
    "tree histogram": (dp.tree_histogram, {"bins": 4}), "covariance": (dp.covariance, {}),
}  # fmt: skip


def amount(loss):
    return getattr(loss, "rho", None) or loss.epsilon


def test_auto_refuses_what_it_does_not_know():
    days = np.array(["2020-01-01"], "datetime64[s]")
    for call in (
        partial(dp.median, days, bounds="auto"), partial(dp.mean, days, bounds="auto"),
        partial(dp.bounds, days), partial(dp.histogram, [1.0], bins=[0, 1], bounds="auto"),
        partial(dp.mean, [1.0], bounds="automatic"),
        partial(dp.covariance, [[1.0, 2]], bounds="auto"), partial(dp.bounds, [1.0], q=0.3),
        partial(dp.bounds, [1.0], epsilon=2.0**-1000),
    ):  # fmt: skip
        refused(call, **({"epsilon": 1} | call.keywords))


def test_nothing_costs_more_than_its_part_and_no_bounds_that_can_be_drawn_are_refused():
    numbers = tails.NUMBERS
    places = [p % len(numbers) for p in (0, 1, 6720, 6721, -1)]
    pairs = [(i, j) for i in places for j in places if i < j]
    for name, (release, kw) in STATISTICS.items():
        rows = [[1.0, 2.0]] if name == "covariance" else [1.0]
        for loss, relation in product(({"epsilon": 2.0}, {"rho": 0.3}), ("replace", "add-remove")):
            found = quoted(release, np.array(rows), bounds="auto", relation=relation, **loss, **kw)
            assert amount(found.remaining_loss) == (1 - SHARE) * amount(dp.privacy.loss(**loss))
            for i, j in pairs:
                pair = outer_bounds.widened(float(numbers[i]), float(numbers[j]))
                inner = found.make([pair, (0.0, 1.0)] if name == "covariance" else pair)
                assert amount(inner.loss) <= amount(found.remaining_loss)
                assert inner.neighbors == found.neighbors


def test_durations_have_bounds_that_are_durations():
    spans = np.random.default_rng(3).exponential(3600, 2_000).astype("m8[s]")
    for call in (dp.bounds, partial(dp.mean, bounds="auto"), partial(dp.median, bounds="auto")):
        found, due = (
            call(rows, epsilon=2, rng=InsecureGenerator(1)) for rows in (spans, spans.astype(int))
        )
        due = [int(due[0]), round(due[1])] if call is dp.bounds else [round(due)]
        assert np.ravel(found).astype(int).tolist() == due
