"""Columns stretch by stretch: the rows that a mask keeps are those that NumPy's indexing keeps."""

from __future__ import annotations

import numpy as np
import pytest

from dpfast.errors import DataError
from dpfast.summaries.side_by_side import BLOCK, flat, stretches
from dpfast.tables.base import RowChunk
from dpfast.tables.forms import as_column

from ..support.pairwise import every_value

ROWS = BLOCK + 777


def matrix(width, dtype):
    rng = np.random.default_rng(width)
    return rng.integers(-100, 100, (ROWS, width)).astype(dtype)


def records(names):
    kind = [(f"c{i}", name) for i, name in enumerate(names)]
    out = np.zeros(ROWS, kind)
    for name, _ in kind:
        out[name] = matrix(1, out.dtype[name])[:, 0]
    return out


FORMS = {
    "one column": lambda: matrix(1, "f8")[:, 0],
    "every other": lambda: matrix(2, "f8")[:, 1],
    "backwards": lambda: matrix(3, "i4")[::-1],
    "bytes": lambda: matrix(4, "i1"),
    "truth": lambda: matrix(2, "i8") > 0,
    "the other order of bytes": lambda: matrix(2, ">f8"),
    "a line": lambda: matrix(8, "f8"),
    "wider than a line": lambda: matrix(9, "f8"),
    "wide and backwards": lambda: matrix(9, "f8")[::-1],
    "Fortran": lambda: np.asfortranarray(matrix(50, "f4")),
    "no columns side by side": lambda: matrix(20, "i2")[:, ::2],
    "records": lambda: records(["f8", "i1", ">i4"]),
    "long records": lambda: records(["f8"] * 9 + ["i1"]),
}


def gathered(rows, where, beside=None, start=0):
    found = list(stretches(RowChunk(rows, start), where, beside))
    assert sum(read for _, read in found) == len(rows)
    return [np.concatenate([*map(flat, each)]) for each in zip(*(c for c, _ in found), strict=True)]


@every_value
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [None, 0, 0.01, 0.5, 1])
def test_the_rows_that_numpy_keeps(form, share):
    rows, start = FORMS[form](), 5
    weights = np.arange(ROWS + start, dtype=np.float32)
    own = slice(None) if share is None else np.random.default_rng(1).random(ROWS) < share
    where = None if share is None else np.concatenate([np.ones(start, bool), own])
    *found, heavy = gathered(rows, where, as_column(weights, "weights", "numbers"), start)
    expected = [rows[name] for name in rows.dtype.names or ()] or list(np.atleast_2d(rows.T))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other[own])
    np.testing.assert_array_equal(heavy, weights[start:][own])


@pytest.mark.parametrize("width", [2, 20])
def test_a_mask_that_is_too_short_is_refused(width):
    with pytest.raises(DataError, match="one entry for each row"):
        gathered(matrix(width, "f8"), np.ones(ROWS - 1, bool))
