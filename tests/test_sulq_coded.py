"""Rows and labels as numbers of public values, against one number at a time."""

from __future__ import annotations

import numpy as np
import pytest

from dpfast.sulq._coded import Attributes, Classes, Coder

from .reference import tree as reference

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
    coder = Coder(Attributes(None, None, VALUES[-many:]).axes(many))
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
        assert Classes(given).given.dtype.kind == kind and len(Classes(given)) == 2
    assert Classes(["a", "b", "c"]).given.tolist() == ["a", "b", "c"]
