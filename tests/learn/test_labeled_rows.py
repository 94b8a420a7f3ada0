"""Rows with labels in their forms, and both as numbers of public values."""

import numpy as np
import pytest

from dpfast.errors import ArgumentError, DataError
from dpfast.learn import ID3Classifier, NaiveBayes
from dpfast.learn.columns import Classes, Coder, attributes
from dpfast.learn.rows import labeled_rows
from dpfast.rng import InsecureGenerator
from dpfast.tables.base import RowChunk

from ..reference.learn import decision_tree as reference

X = np.arange(60.0).reshape(20, 3) % 7
Y = np.arange(20.0) % 3 - 1


def read(made, most=1 << 14):
    found = made.reduce(
        lambda pieces: [(x.copy(), np.array(y, np.float64)) for x, y in pieces],
        lambda a, b: a + b,
        most,
    )
    if not found:
        return np.empty((0, made.width)), np.empty(0)
    return np.concatenate([x for x, _ in found]), np.concatenate([y for _, y in found])


@pytest.mark.parametrize("most", [1 << 14, 7])
def test_records_of_several_types_are_their_columns(most):
    kinds = [("a", "f4"), ("y", "i8"), ("b", ">f8"), ("c", "f8")]
    rows = np.array(list(zip(X[:, 0], Y, X[:, 1], X[:, 2], strict=True)), kinds)
    x, y = read(labeled_rows(rows, "y"), most)
    assert (x == X).all() and (y == Y).all()
    with pytest.raises(ArgumentError, match="y must be one of several columns: X needs"):
        labeled_rows(rows[["y"]], "y")


PARTS = slice(0, 8), slice(8, 20)


class Unknown:
    """Rows whose number nobody knows before they are read."""

    def __init__(self, rows):
        self.rows, self.dtype, self.width, self.length, self.array = rows, rows.dtype, 3, None, None

    def reduce(self, summarize, merge):
        return merge(*(summarize(RowChunk(self.rows[own], own.start)) for own in PARTS))


@pytest.mark.parametrize("labels", [Y[:-1], np.append(Y, 1.0)])
def test_another_number_of_labels(labels):
    with pytest.raises(ArgumentError, match="y must be as long as the data, 20 rows"):
        labeled_rows(X, labels)
    for made in labeled_rows(Unknown(X), labels), labeled_rows(X, labels, relation="add-remove"):
        with pytest.raises(DataError, match="y must have one entry for each row"):
            read(made)
    assert (read(labeled_rows(Unknown(X), Y))[1] == Y).all()


VALUES = [[0, 1, 2], [-2, -1], [7], [0, 2], [3, 4, 6], [0.5, 1.5], [1, 1.5, 2]]  # some with a hole
VALUES += [[2.0**52, 2.0**52 + 1], [-(2.0**53), 2.0**53]]
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


@pytest.mark.parametrize(("given", "kind"), [
    *(([-1, 1], np.int64), ([0.0, 2.0], np.int64), ([0.5, 1], np.float64)),
    *(([False, True], np.bool_), ([2**63, 2**63 + 2**12 + 1], np.uint64)),
    (np.array([2**63 + 2**13, 2**64 - 1], np.uint64), np.uint64),
    *(([-(2**63), 2**53 + 1], np.int64), ([-1, 2**63], np.float64)), ([2**70, 2**71], np.float64),
])  # fmt: skip
def test_labels_are_given_as_they_were_written(given, kind):
    labels = Classes(given).labels
    assert labels.dtype == kind and labels.tolist() == list(given)
    assert Classes(["a", "b", "c"]).labels.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("learner", [ID3Classifier, NaiveBayes])
def test_large_classes_are_predicted(learner):
    labels = np.array([2**63 + 2**13, 2**64 - 2**12], np.uint64)
    rows = np.tile([[0.0], [1.0]], (500, 1))
    made = learner(categories=[[0, 1]], classes=labels, epsilon=5)
    made.fit(rows, np.tile(labels, 500), rng=InsecureGenerator(1))
    assert made.predict(rows[:2]).tolist() == labels.tolist()
    assert made.predict(rows[:2]).dtype == np.uint64
    assert made.score(rows, np.tile(labels, 500)) == 1
