"""Rows and labels as numbers of public values, against one number at a time."""

from __future__ import annotations

import numpy as np
import pytest

from dpfast.learn import ID3Classifier, NaiveBayes
from dpfast.learn.columns import Classes, Coder, attributes
from dpfast.rng import InsecureGenerator

from ..reference.learn import decision_tree as reference

VALUES = [
    [0, 1, 2],
    [-2, -1],
    [7],
    [0, 2],  # with a hole
    [3, 4, 6],
    [0.5, 1.5],
    [1, 1.5, 2],
    [2.0**52, 2.0**52 + 1],
    [-(2.0**53), 2.0**53],
]
ODD = [np.nan, np.inf, -np.inf, 1.0 - 2**-53, 5.0, -1e-300, 2.0**53 + 2]


@pytest.mark.parametrize("many", [1, 3, len(VALUES)])
def test_codes_are_those_of_the_definition(many):
    """Of columns whose values follow one another, and of others, beside one another."""
    domain = np.array(sorted({float(x) for own in VALUES for x in own} | set(ODD)))
    rows = np.random.default_rng(many).choice(domain, (500, many))
    values = [[float(x) for x in own] for own in VALUES[-many:]]
    coder = Coder(attributes(None, None, VALUES[-many:]).for_width(many))
    out = np.full(rows.shape, 77, np.uint32)
    coder.codes(rows, out)
    found = np.minimum(out, coder.values)  # any code beyond them stands for none of the values
    assert found.tolist() == [reference.coded(row, values) for row in rows.tolist()]
    assert coder.values.tolist() == [len(own) for own in values]


@pytest.mark.parametrize("values", VALUES, ids=str)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_codes_of_labels(values, dtype):
    labels = np.array([*values, *values, 5, -7], dtype)
    expected = [reference.coded([float(x)], [[float(v) for v in values]])[0] for x in labels]
    found = np.minimum(Classes(values).codes(labels), len(values))
    assert found.tolist() == expected


def test_labels_are_given_as_they_are_meant():
    for given, kind in ([-1, 1], "i"), ([0.0, 2.0], "i"), ([0.5, 1], "f"), ([False, True], "b"):
        assert Classes(given).labels.dtype.kind == kind and len(Classes(given)) == 2
    assert Classes(["a", "b", "c"]).labels.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ([2**63, 2**63 + 2**12 + 1], np.uint64),
        (np.array([2**63 + 2**13, 2**64 - 1], np.uint64), np.uint64),
        ([-(2**63), 2**53 + 1], np.int64),
        ([-1, 2**63], np.float64),
        ([2**70, 2**71], np.float64),
    ],
)
def test_large_integers_are_given_as_they_were_written(given, kind):
    classes = Classes(given)
    assert classes.labels.dtype == kind
    assert [int(one) for one in classes.labels] == [int(one) for one in given]


@pytest.mark.parametrize("learner", [ID3Classifier, NaiveBayes])
def test_large_classes_are_predicted(learner):
    labels = np.array([2**63 + 2**13, 2**64 - 2**12], np.uint64)
    rows = np.tile([[0.0], [1.0]], (500, 1))
    made = learner(categories=[[0, 1]], classes=labels, epsilon=5)
    made.fit(rows, np.tile(labels, 500), rng=InsecureGenerator(1))
    assert made.predict(rows[:2]).tolist() == labels.tolist()
    assert made.predict(rows[:2]).dtype == np.uint64
    assert made.score(rows, np.tile(labels, 500)) == 1
