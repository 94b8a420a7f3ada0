"""Intervals around a quantile hold it as often as they say, and cost what they say."""

import datetime as dt
import math
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.rng import InsecureGenerator
from dpfast.statistics.quantiles.draws import PARTS
from dpfast.statistics.quantiles.ends import MOST, STEP, Between, widths
from dpfast.statistics.quantiles.exponential import rate_of

from ..support.views import innermost, quoted

X = np.random.default_rng(1).normal(50, 10, 4000)
ASKED = {"bounds": (0, 100), "epsilon": 1}
CELLS, RUNS = 5, 400


def made_for(q, data=X, **asked):
    """The mechanism of a call."""
    found = innermost(quoted(dp.quantile_interval, data, q, **{**ASKED, **asked}))
    assert isinstance(found, Between)
    return found


def widths_for(q, data=X, **asked):
    """Its draw of a distance."""
    (found,) = made_for(q, data, **asked).widths
    return found


# --- the loss -----------------------------------------------------------------------------------


def laws(of, size):
    """The exact laws of the distance from each cell, for all columns of so many rows."""
    found = {}
    for rows in combinations_with_replacement(range(CELLS), size):
        cells = np.array(rows, np.int64)
        for cell in range(CELLS):
            side = of.side(cell, cells, 0, size)
            found[rows, cell] = normalised([side.exact(j) for j in range(len(of.steps))])
    return found


def normalised(exponents):
    """Probabilities of exact exponents."""
    weights = np.array([math.exp(-float(one)) for one in exponents])
    return weights / weights.sum()


def largest_loss(of, relation):
    """The largest log-ratio of probabilities between neighbors of up to four rows."""
    worst = 0.0
    for size in range(1, 5):
        here = laws(of, size)
        there = here if relation == "replace" else laws(of, size - 1)
        for (rows, cell), i in product(here, range(size)):
            less = rows[:i] + rows[i + 1 :]
            others = [less]
            if relation == "replace":
                others = [tuple(sorted((*less, row))) for row in range(CELLS)]
            for other in others:
                ratio = np.log(here[rows, cell] / there[other, cell])
                worst = max(worst, float(np.abs(ratio).max()))
    return worst


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("q", [Fraction(0), Fraction(1, 2), Fraction(9, 10)], ids=str)
def test_the_loss_of_the_distance(q, relation):
    epsilon = 1.5
    within = "replace" if q == 0 else relation  # as extremes have it
    rate = rate_of(dp.privacy.Pure(epsilon), 1, q, within, True)

    def lost(rate):
        return largest_loss(widths(int(q * PARTS), rate, (0, CELLS - 1), 0.5, True), relation)

    assert lost(rate) <= epsilon * (1 + 1e-9)
    # Planted: that of utilities which all change in one direction.
    assert lost(2 * rate) > epsilon * 1.1


def test_rows_far_from_the_quantile_change_nothing():
    of = widths_for(0.3)
    rows = np.sort(np.random.default_rng(2).integers(of.first, of.last, 9000))
    for cell in (int(rows[2700]), int(rows[2900]), of.first):
        whole, first = of.side(cell, rows, 0, 9000).inside, 2699 - of.reach
        seen = of.side(cell, rows[first : 2702 + of.reach], first, 9000).inside
        assert (seen == whole).all() and (np.diff(whole) >= 0).all()


def test_the_draw_has_its_law():
    of, stream = widths_for(0.4, X[:60]), InsecureGenerator(3).stream()
    cells = np.sort((X[:60] / 100 * of.last).astype(np.int64))
    side = of.side(int(cells[24]), cells, 0, 60)
    law = normalised([side.exact(j) for j in range(len(of.steps))])
    found = [of.draw(int(cells[24]), cells, 0, 60, stream) for _ in range(3000)]
    counts = np.array([found.count(step) for step in of.steps.tolist()])
    often = law * 3000 > 10
    off = (counts - law * 3000)[often] / np.sqrt(law * 3000)[often]
    assert sum(counts) == 3000 and (off**2).sum() < often.sum() + 8 * math.sqrt(2 * often.sum())


def test_both_parts_of_the_loss():
    budget = dp.Budget(epsilon=1)
    parts = budget.cost(dp.quantile_interval, X, 0.5, **ASKED, parts=True)
    assert [(name, one.epsilon) for name, one in parts.items()] == [
        ("quantile 1/2", Fraction(1, 2)), ("ends", Fraction(1, 2)),
    ]  # fmt: skip
    low, middle, high = dp.quantile_interval(X, 0.5, budget=budget, **ASKED)
    assert budget.remaining["epsilon"] == 0 and len(budget.history) == 1
    assert 49 < low < middle < high < 51
    assert made_for(0.5, rho=0.1, epsilon=None).loss.rho == Fraction(1, 10)
    noisy = made_for(0.5, epsilon=1, delta=1e-6, noise="gaussian").loss
    assert (noisy.epsilon, noisy.delta) == (1, Fraction(1, 2_000_000))


# --- how often it holds -------------------------------------------------------------------------

#: Ages with many ties, salaries with a long tail, numbers in bounds that are far too wide; and the
#: worst: rows on two cells, so that all short distances miss by one row and the next is far.
KINDS = {
    "ages": (lambda r, n: r.integers(0, 90, n).astype(float), (0, 120)),
    "salaries": (lambda r, n: r.lognormal(10.5, 0.6, n).round(-2), (0, 500_000)),
    "normal": (lambda r, n: r.normal(50, 10, n), (-1e6, 1e6)),
    "two": (lambda r, n: np.where(np.arange(n) < n // 2, 12.3, 77.7), (0, 100)),
}


def held(kind, n, q, epsilon, part=1.0, runs=RUNS):
    """The share of seeded answers within the ends, or a part of the distance to them."""
    make, bounds = KINDS[kind]
    x = make(np.random.default_rng(5), n)
    made = made_for(q, x, bounds=bounds, epsilon=epsilon)
    summary, rng = made.reduce(dp.tables.as_source(x)), InsecureGenerator(7)
    low, middle, high = np.transpose([made.finish(summary, rng) for _ in range(runs)])
    true = np.quantile(np.clip(x, *bounds), q)
    low, high = (middle + (end - middle) * part for end in (low, high))
    return np.mean((low <= true) & (true <= high))


LEAST = 0.95 - 5 * math.sqrt(0.95 * 0.05 / RUNS)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 30, 1001, 20_000])
def test_intervals_hold(kind, n):
    for q, epsilon in product((0, 0.1, 0.5, 0.95, 1), (0.1, 1, 4)):
        assert held(kind, n, q, epsilon) > LEAST, (q, epsilon)


def test_intervals_of_a_quarter_do_not_hold():
    assert held("normal", 1001, 0.5, 1) > LEAST
    assert held("normal", 1001, 0.5, 1, 1 / 4) < LEAST


def test_the_worst_failure_is_what_is_said():
    """For any cell that is far enough, all nearer ones together are as rare as they should be."""
    for failure in (0.2, 0.05, 1e-6):
        of = widths(PARTS // 2, 0.1, (0, 1 << 40), failure, True)
        weights = np.exp(STEP * np.arange(len(of.steps)))
        missed = [
            weights[:j].sum() * math.exp(-0.1 * of.margin / PARTS) / weights[j]
            for j in range(1, len(weights))
        ]
        assert failure * 0.99 < max(missed) <= failure * (1 + 1e-6)


def test_few_rows_have_the_bounds():
    rng = InsecureGenerator(2)
    for data in ([], [3.0], [40.0, 50.0]):
        asked = {"bounds": (0, 100), "epsilon": 0.1, "rng": rng}
        low, middle, high = np.transpose(
            [dp.quantile_interval(data, 0.5, **asked) for _ in range(50)]
        )
        assert ((low <= middle) & (middle <= high)).all()
        assert np.mean((low == 0) & (high == 100)) > 0.75
    assert dp.quantile_interval(X, 0.5, bounds=(0, 100), epsilon=1e-12)[::2].tolist() == [0, 100]
    assert widths_for(0.5, epsilon=1e-12).reach < MOST


# --- where it is asked for ----------------------------------------------------------------------


def released(*args, **asked):
    return dp.quantile_interval(*args, rng=InsecureGenerator(1), **asked)


def test_ends_are_numbers_of_the_column():
    ages = X.astype(int)
    found = released(ages, 0.5, bounds=(0, 120), epsilon=2)
    assert found.tolist() == [49, 49, 49] == [np.median(ages)] * 3
    found = released(X, 0.5, **ASKED, granularity=1).tolist()
    assert found == [49.5, 50, 50.5]  # for rows lie between the multiples
    found = released(ages, 0.5, bounds=(0, 120), granularity=5, epsilon=2).tolist()
    assert found == [47.5, 50, 52.5]
    ties = np.full(999, 37.3)
    low, _, high = released(ties, 0.5, bounds=(0, 100), epsilon=2)
    assert low <= 37.3 <= high < low + 1e-6
    assert released(X, 0.5, bounds=(3, 3), epsilon=1).tolist() == [3, 3, 3]


def test_extremes_have_one_end():
    low, middle, high = released(X, 0, **ASKED)
    assert low == 0 < X.min() < high and middle <= high
    low, middle, high = (
        dp.Maximum(bounds=(0, 100))
        .with_interval()
        .prepare(X, epsilon=1, rng=InsecureGenerator(1))
        .run()
    )
    assert low <= middle and low < X.max() < high == 100


def test_columns_people_masks_and_times():
    both = released(np.c_[X, 2 * X], 0.5, bounds=(0, 200), epsilon=2, axis=0)
    assert both.shape == (3, 2) and (np.diff(both, axis=0) >= 0).all()
    assert (abs(both - [50, 100]) < [2, 4]).all()
    people = {"ids": np.arange(4000) // 2, "max_rows": 2}
    assert widths_for(0.5, **people).margin > widths_for(0.5).margin
    some = released(X, 0.5, where=X > 50, bounds="auto", epsilon=2)
    assert 50 < some[0] < np.median(X[X > 50]) < some[2] < 65
    days = np.datetime64("2020-01-01") + (X * 10).astype(int)
    limits = (dt.date(2020, 1, 1), dt.date(2022, 9, 1))
    found = released(days, 0.5, bounds=limits, epsilon=1)
    assert found.dtype.kind == "M" and found[0] <= np.sort(days)[2000] <= found[2]


@pytest.mark.parametrize(
    "statistic",
    [
        dp.Median(bounds=(0, 100)),
        dp.Quantile(q=0.3, bounds=(0, 100), granularity=0.5),
        dp.Percentile(q=30, bounds=(0, 100), nan="lower"),
        dp.Minimum(bounds=(0, 100)),
        dp.Median(bounds=(0, 100), method="smooth", assume_sorted=True),
    ],
    ids=lambda one: one.name,
)
def test_with_interval_is_the_same_statistic(statistic):
    found = statistic.with_interval(0.9)
    assert isinstance(found, dp.QuantileInterval) and found.coverage == 0.9
    half, whole = statistic.measure(epsilon=0.5), found.measure(epsilon=1)
    assert whole.loss.epsilon == 1 and whole.name == f"{half.name} between two ends"
    own, ends = innermost(half), innermost(whole)
    assert ends.inner == own and ends.coverage == 0.9
    low, middle, high = whole(np.sort(X))
    assert low <= middle <= high
    assert found.with_interval().coverage == 0.95 and found.with_interval(0.8) == found
    mean = dp.Mean(bounds=(0, 100))
    assert mean.with_interval() is mean


def test_several_quantiles_and_their_distance():
    qs, rng = [0, 0.25, 0.75, 0.5], InsecureGenerator(3)
    many = dp.Quantiles(qs=qs, bounds=(0, 100)).with_interval(0.9)
    range_ = dp.Iqr(bounds=(0, 100), granularity=0.5).with_interval(0.9)
    measured = many.measure(epsilon=1)
    assert measured.loss.epsilon == 1 and many.measure(rho=0.1).loss.rho == Fraction(1, 10)
    assert [one.epsilon for one in measured.parts.values()] == [Fraction(1, 2)] * 2
    true, spread = np.quantile(X, qs), np.subtract(*np.quantile(X, [0.75, 0.25]))
    found = np.array([many.prepare(X, epsilon=1, rng=rng).run() for _ in range(100)])
    assert found.shape == (100, 3, 4) and (np.diff(found, axis=1) >= 0).all()
    assert ((found[:, 0] <= true) & (true <= found[:, 2])).mean(axis=0).min() > 0.9 - 0.15
    low, middle, high = np.transpose(
        [range_.prepare(X, epsilon=1, rng=rng).run() for _ in range(100)]
    )
    assert ((low <= middle) & (middle <= high) & (low >= 0) & (high < 20)).all()
    assert np.mean((low <= spread + 0.25) & (spread - 0.25 <= high)) > 0.9 - 0.15
    assert dp.quantile_interval(X, qs, **ASKED, coverage=0.9).shape == (3, 4)
    both = {"bounds": (0, 100), "neighbors": "replace", "rho": 1, "axis": 0}
    assert dp.quantile_interval(np.c_[X, X][:50], qs[1:], **both).shape == (3, 3, 2)


@pytest.mark.parametrize(
    "given, named",
    [
        ({"q": 1.5}, "q must be"),
        ({"coverage": 1}, "coverage must be"),
        ({"epsilon": None}, "epsilon must be"),
        ({"method": "recursive"}, "method must be"),
    ],
)
def test_what_is_refused_costs_nothing(given, named):
    budget, asked = dp.Budget(epsilon=1), {"q": 0.5, **ASKED, **given}
    with pytest.raises((ArgumentError, ArgumentTypeError), match=f"^{named}"):
        dp.quantile_interval(X, budget=budget, **asked)
    assert not budget.history
