"""Divisions that no row has a part in, and counts at their leaves."""

from __future__ import annotations

import numpy as np

from dpfast.learn import RandomForestClassifier
from dpfast.learn.columns import columns_of
from dpfast.learn.random_forest import RandomSplits

from ..support.learners import recorded

EACH = columns_of([(0, 4), None, (-1, 1)], [None, [0.0, 1.0, 5.0], None]).for_width(3)
G = np.random.default_rng(0)
ROWS = np.column_stack(
    [G.uniform(-1, 5, 500), G.choice([0.0, 1.0, 5.0, 7.0], 500), G.normal(0, 1, 500)]
)
LABELS = G.choice([0, 1, 2, 9], 500)
MIXED = {"bounds": [(0, 4), None, (-1, 1)], "categories": [None, [0.0, 1.0, 5.0], None]}


def leaf_of(splits, tree, row):
    """The leaf by definition: a walk from the root, one row at a time."""
    values = list(row)
    known = [0.0, 1.0, 5.0]
    values[1] = splits._ranks[0][tree][known.index(row[1]) if row[1] in known else 3]
    node = 0
    for _ in range(splits.depth):
        right = values[splits.feature[tree, node]] > splits.threshold[tree, node]
        node = 2 * node + 1 + int(right)
    return node - (2**splits.depth - 1)


def test_divisions_are_drawn_within_what_has_come_to_a_node():
    splits = RandomSplits(EACH, 40, 6, 1)
    ends = np.array([(0.0, 4.0), (-0.5, 2.5), (-1.0, 1.0)])
    for feature, threshold in zip(splits.feature, splits.threshold, strict=True):
        boxes = {0: ends}
        for node in range(len(feature)):
            j, (lo, hi) = feature[node], boxes[node][feature[node]]
            assert lo <= threshold[node] <= hi
            for child, side in ((2 * node + 1, 1), (2 * node + 2, 0)):
                boxes[child] = boxes[node].copy()
                boxes[child][j, side] = threshold[node]
    first = splits.threshold[:, 0] - ends[splits.feature[:, 0], 0]
    part = first / np.ptp(ends[splits.feature[:, 0]], axis=1)
    assert 0.3 < part.mean() < 0.7 and set(splits.feature[:, 0]) == {0, 1, 2}
    for ranks in splits._ranks[0]:
        assert sorted(ranks[:3]) == [0, 1, 2] and ranks[3] == -1
    assert len({tuple(ranks) for ranks in splits._ranks[0]}) == 6


def test_divisions_depend_on_the_seed_alone():
    one, same, other = (RandomSplits(EACH, 3, 3, seed) for seed in (1, 1, 2))
    assert (one.threshold == same.threshold).all() and (one.threshold != other.threshold).any()


def test_counts_are_those_of_the_definition_with_the_noise_of_all_trees():
    used, values, _ = recorded(
        RandomForestClassifier, ROWS, LABELS, **MIXED, classes=[0, 1, 2], n_estimators=3,
        max_depth=2, random_state=4,
    )  # fmt: skip
    splits = RandomSplits(EACH, 3, 2, 4)
    counts = np.zeros((3, 4, 3), int)
    for tree in range(3):
        for row, label in zip(ROWS, LABELS, strict=True):
            if label < 3:
                counts[tree, leaf_of(splits, tree, row), label] += 1
    assert np.array(values[0]).reshape(3, 4, 3).tolist() == counts.tolist()
    assert len(used) == 1
