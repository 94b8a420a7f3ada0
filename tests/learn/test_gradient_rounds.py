"""Sums and gradients of a design: equal to their definition, and as sensitive as is said."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpfast.learn.columns import Classes, attributes, columns_of
from dpfast.learn.design import FINE, LARGEST, REACH, ROWS, SCALE, Design, whole
from dpfast.learn.gradient_rounds import ClassAnswers, Gradients, TargetAnswers, learned
from dpfast.learn.rows import labeled_rows
from dpfast.privacy import ZCDP

from ..reference.learn import logistic as reference
from ..support.learners import rounds_of
from ..support.pairwise import every_value

RELATIONS = ["replace", "add-remove"]
COLUMNS = columns_of([(0, 4), None, (-1, 1)], [None, [0.0, 1.0, 5.0], None])
ANSWERS = {
    "two classes": lambda: ClassAnswers(Classes([-1, 1])),
    "three classes": lambda: ClassAnswers(Classes([0, 1, 2])),
    "a target": lambda: TargetAnswers((-1.0, 3.0), "drop"),
}
#: Corners, the middle, beyond the bounds, a value that is none of them.
DOMAIN = [
    (x, value, z)
    for x, z in ((0.0, -1.0), (4.0, 1.0), (4.0, -1.0), (2.0, 0.0), (-np.inf, 0.3), (1.3, 9.0))
    for value in (0.0, 5.0, 3.0)
]
LABELS = {
    "two classes": [-1.0, 1.0, 7.0],
    "three classes": [0.0, 2.0, 7.0],
    "a target": [-1.0, 3.0, 0.7, np.nan],
}


def asked_of(kind, relation="add-remove"):
    return Gradients(Design(COLUMNS.for_width(3), "lower"), ANSWERS[kind](), "drop", relation)


def weights_of(asked, seed, size):
    g = np.random.default_rng(seed)
    return whole(g.normal(0, size, (asked.design.size, asked.answers.outputs)))


def rows_of(records):
    table = np.array(records, np.float64).reshape(-1, 4)
    return labeled_rows(table[:, :3], table[:, 3])


@pytest.mark.parametrize("kind", list(ANSWERS))
def test_sums_and_gradients_are_those_of_the_definition(kind):
    g = np.random.default_rng(0)
    places = g.integers(0, len(DOMAIN), 200)
    records = [(*DOMAIN[i], LABELS[kind][i % len(LABELS[kind])]) for i in places]
    records += [(np.nan, 5.0, 0.1, LABELS[kind][0])]
    asked = asked_of(kind)
    assert asked.totals(rows_of(records)) == reference.totals(kind, records)
    for size in (0.3, 5.0, 1e5):
        w = weights_of(asked, 3, size)
        assert np.abs(w).sum(axis=0).max() <= LARGEST / FINE
        exact = reference.gradient(kind, records, w.astype(object))
        off = np.array(asked.gradient(rows_of(records), w)) - np.array(exact)
        # The reference has probabilities of arbitrary precision, and rounds them alike.
        assert np.abs(off).max() <= len(records) * REACH * (2e-3 * SCALE)
        assert kind != "a target" or not off.any()


def test_no_order_and_no_neighbor_changes_a_sum():
    """A row adds the same whatever stands beside it, in blocks of any length."""
    g = np.random.default_rng(1)
    x = np.column_stack([g.uniform(0, 4, 9001), g.integers(0, 6, 9001), g.normal(0, 1, 9001)])
    records = np.column_stack([x, g.choice([0.0, 1.0, 2.0], 9001)])
    asked = asked_of("three classes")
    w = weights_of(asked, 5, 300.0)
    together = np.array(asked.gradient(rows_of(records), w))
    cuts = [0, 1, 2, 5, 700, ROWS, ROWS + 1, 9001]
    parts = [asked.gradient(rows_of(records[a:b]), w) for a, b in itertools.pairwise(cuts)]
    assert (np.sum(parts, axis=0) == together).all()
    shuffled = asked.gradient(rows_of(records[g.permutation(9001)]), w)
    assert (np.array(shuffled) == together).all()


@every_value
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", list(ANSWERS))
def test_a_row_changes_sums_by_no_more_than_is_said(kind, relation):
    asked = asked_of(kind, relation)
    records = [(*row, label) for row in DOMAIN for label in LABELS[kind]]
    far = [whole(s * np.eye(asked.design.size, asked.answers.outputs) * 100) for s in (1.0, -1.0)]
    every = [weights_of(asked, 1, 40.0), *far]
    questions = [asked.totals, *(lambda rows, w=w: asked.gradient(rows, w) for w in every)]
    for part, some in ((asked.parts[0], questions[:1]), (asked.parts[1], questions[1:])):
        largest = [0, 0]
        for question in some:
            added = [np.array(question(rows_of([one])), object) for one in records]
            pairs = itertools.combinations(added, 2)
            for move in added if relation == "add-remove" else (a - b for a, b in pairs):
                sizes = [abs(int(x)) for x in move]
                largest = [max(largest[0], sum(sizes)), max(largest[1], sum(x * x for x in sizes))]
                assert np.count_nonzero(move) <= part.l0
                assert max(sizes) <= min(part.sizes, default=math.inf)
        assert largest[0] <= part.l1 and largest[1] <= part.l2_squared
        assert largest[1] > 0.6 * part.l2_squared  # less than half of it would be caught


def test_steps_are_shorter_where_columns_say_the_same():
    """Fifty copies of a column have fifty times the curvature along their sum."""
    x = np.linspace(-1, 1, 2001)
    rows = labeled_rows(np.repeat(x[:, None], 50, axis=1), x)
    design = Design(columns_of((-1, 1), None).for_width(50), "raise")
    asked = Gradients(design, TargetAnswers((-1.0, 1.0), "raise"), "raise", "replace")
    found = learned(rounds_of(ZCDP(Fraction(400)), "replace", 6), rows_source(asked, rows))
    assert math.isclose(float(found.weights[1:].sum()), 1.0, abs_tol=0.1)


def rows_source(asked, rows):
    """The same questions about these rows, for rounds that have no source."""
    totals, gradient = asked.totals, asked.gradient
    asked.totals = lambda _: totals(rows)
    asked.gradient = lambda _, weights: gradient(rows, weights)
    return asked


def test_numbers_outside_of_bins_count_as_the_nearest_one():
    design = Design(attributes(2, (0, 1), None).for_width(1), "drop")
    rows = np.array([[-np.inf], [-3.0], [0.0], [0.5], [1.0], [5.0], [np.nan]])
    assert design.vectors(rows).indices[:, 0].tolist() == [1, 1, 1, 2, 2, 2, design.size]
