"""The test of the paper on the median mechanism: what it adds up, by how much neighbors move it,
what it promises; and the published constants."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError
from dpfast.online.multisets import BITS, MARGIN, Closeness, doubt_of, hard_answers
from dpfast.privacy import Pure
from dpfast.rng import InsecureGenerator

from ..reference.online import median as reference
from ..support import streams
from ..support.names import shown
from ..support.pages import program
from ..support.pairwise import quick_rows

ONE = 1 << BITS
HISTOGRAM = [13_000_000, 4_000_000, 2_000_000, 1_000_000]
GIVEN = {"epsilon": 1, "accuracy": 0.1, "test": "closeness"}


def by_definition(candidates, weights, counts, bits, accuracy):
    """One less the mean over candidates of exp(-distance / accuracy)."""
    rows, size = sum(counts), sum(candidates[0])
    truth = Fraction(reference.total(weights, counts), rows << bits)
    far = [abs(truth - Fraction(reference.total(weights, s), size << bits)) for s in candidates]
    return 1 - math.fsum(math.exp(-float(d) / accuracy) for d in far) / len(far)


def cases():
    g = np.random.default_rng(3)
    for universe, size, rows in ((2, 3, 5), (3, 2, 4), (3, 4, 7)):
        candidates = reference.multisets(universe, size)
        for _ in range(4):
            weights = [int(w) for w in g.integers(0, 17, universe)]
            left = candidates if g.random() < 0.5 else candidates[:1]
            yield left, weights, rows, float(g.choice([0.1, 0.7]))


def tables(universe, rows):
    return [c for c in itertools.product(range(rows + 1), repeat=universe) if sum(c) == rows]


def doubts(candidates, weights, rows, accuracy):
    """The shipped number for every table."""
    test = Closeness(size=sum(candidates[0]), rows=rows, bits=4, accuracy=accuracy)
    found = np.array([reference.total(weights, s) for s in candidates], np.int32)
    return {
        table: test.doubt(found, reference.total(weights, table))
        for table in tables(len(weights), rows)
    }


@pytest.mark.parametrize("case", range(12))
def test_a_doubt_is_what_it_says(case):
    candidates, weights, rows, accuracy = list(cases())[case]
    for table, found in doubts(candidates, weights, rows, accuracy).items():
        exact = by_definition(candidates, weights, table, 4, accuracy)
        assert 0 <= found / ONE - exact <= 2.1 / ONE


def furthest(case, claimed):
    """By how much any neighbors move the doubt, in units of what is claimed."""
    candidates, weights, rows, accuracy = list(cases())[case]
    found = doubts(candidates, weights, rows, accuracy)
    moved = [
        abs(found[a] - found[b])
        for a, b in itertools.combinations(found, 2)
        if sum(abs(x - y) for x, y in zip(a, b, strict=True)) == 2
    ]
    return max(moved) / claimed(rows, accuracy)


def test_no_neighbors_move_a_doubt_by_more_than_the_noise_is_for():
    """All tables of a few rows over a few elements. Half the claim is exceeded."""
    moved = [furthest(i, lambda n, a: doubt_of(n, a).sensitivity) for i in range(12)]
    assert 0.5 < max(moved) <= 1
    assert max(furthest(i, lambda n, a: doubt_of(2 * n, a).sensitivity) for i in range(12)) > 1


def test_rounding_is_paid_for():
    """Many rows: the slope is below a unit, and what is left is rounding."""
    assert doubt_of(10**12, 0.1).sensitivity == 5
    g = np.random.default_rng(1)
    found = g.integers(0, 1 << 20, 1001).astype(np.int32)
    test = Closeness(size=1, rows=1 << 30, bits=20, accuracy=0.05)
    exact = int(g.integers(0, 1 << 50))
    near_by = [test.doubt(found, exact + d * (1 << 20)) for d in (-1, 0, 1)]
    assert np.abs(np.diff(near_by)).max() <= doubt_of(1 << 30, 0.05).sensitivity


def test_an_easy_median_is_near_and_a_hard_answer_gives_candidates_up():
    """The two claims about any candidates, by random ones: the worst are spread at two places."""
    g = np.random.default_rng(4)
    accuracy, worst, least = 0.1, 0.0, 1.0
    for _ in range(3000):
        spread = g.choice([0.001, 0.05, 0.2, 1.0])
        far = np.clip(0.5 + spread * g.normal(size=25) * g.integers(0, 2, 25), 0, 1)
        if g.random() < 0.2:  # no more than half of them are right
            far = np.where(np.arange(25) < 12, 0.5, 0.5 + g.random() * accuracy)
        truth = float(np.clip(0.5 + g.choice([0, g.normal()]) * g.choice([0.01, 0.1]), 0, 1))
        level = 1 - np.exp(-np.abs(far - truth) / accuracy).mean()
        if level < 5 / 16:
            worst = max(worst, abs(np.sort(far)[12] - truth))
        if level >= 1 / 4:
            told = truth + g.uniform(-1, 1) * accuracy / 50
            least = min(least, np.mean(np.abs(far - told) > accuracy / 50))
    assert 0.5 * accuracy < worst < accuracy
    assert least > 0.219


def test_what_is_near_is_kept():
    found = np.arange(0, 61, dtype=np.int32)  # candidates of ten rows, queries in eighths
    test = Closeness(size=10, rows=100, bits=3, accuracy=0.5)
    kept = test.near(found, 400)  # a half; 0.5 / 50 = 0.01 on either side
    assert np.flatnonzero(kept).tolist() == [40]
    # A hundredth of all rows; candidates are at 0, 1 / 80, 2 / 80 and so on, kept within 0.02.
    assert np.flatnonzero(test._replace(accuracy=1.0).near(found, 8)).tolist() == [0, 1, 2]
    assert not test.near(found, 10**30).any() and not test.near(found, -(10**30)).any()


@pytest.mark.parametrize("name", list(streams.STREAMS))
def test_accuracy_is_kept_and_hard_answers_are_few(name):
    stream = dp.online.MedianMechanism(
        HISTOGRAM, queries=200, size=60, rng=InsecureGenerator(3), **GIVEN
    )
    assert stream.hard == hard_answers(39_711) and stream.spent == Pure(1)
    assert stream._plan.comparison <= MARGIN
    hard, worst = streams.run(name, stream, np.array(HISTOGRAM), np.random.default_rng(5))
    assert worst <= 0.1 and 1 <= hard <= math.log(39_711) / 0.247 + 1
    assert hard == stream.hard - stream.remaining


def test_it_halts_cleanly_and_lasts_is_honest():
    stream = dp.online.MedianMechanism(HISTOGRAM, queries=50, size=10, **GIVEN)
    assert not stream.lasts  # ten rows are too few for a fiftieth of the accuracy
    given = {**GIVEN, "accuracy": 0.5}
    assert dp.online.MedianMechanism([10**9, 10**9], queries=50, size=255, **given).lasts
    stream.answer([1, 0, 0, 0])
    while stream.alive:
        stream.answer(np.random.default_rng(stream.left).random(4))
    left = stream.left
    with pytest.raises(dp.errors.StreamError, match="no candidate agrees"):
        stream.answer([1, 0, 0, 0])
    assert stream.left == left


@quick_rows(1)
@pytest.mark.parametrize("wrong", [{"accuracy": a} for a in (0.1, 1e-6, 1.5)], ids=shown)
def test_an_accuracy_that_cannot_be_kept(wrong):
    budget = dp.Budget(epsilon=1)
    for other, match in ((wrong, "accuracy must be at least"), ({"test": "x"}, "test must be")):
        with pytest.raises(ArgumentError, match=match):
            dp.online.MedianMechanism([1300, 400], queries=50, budget=budget, **{**GIVEN, **other})
    assert not budget.history


def test_the_published_constants():
    found = program("published").median_mechanism(16, queries=1000, epsilon=0.5, accuracy=0.1)
    m = 160000 * math.log(1000) * math.log(10) * 100
    assert found.size == math.ceil(m)
    assert found.epsilon == pytest.approx(0.5 / (720 * m * math.log(16)))
    assert found.slack == pytest.approx(4 * math.log(4000) / (found.epsilon * 0.1))
    assert found.hard == pytest.approx(20 * m * math.log(16)) and found.kept == 0.1 / 50
    # At this number of rows the threshold is 3/4 or 3/4 + 3/20.
    assert found.slack / found.rows == pytest.approx(3 / 20)
