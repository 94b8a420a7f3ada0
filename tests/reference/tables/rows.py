"""Rows one by one, in plain Python: what a source of rows should have said."""

import math

import numpy as np


def number(one):
    """A cell as a float; NaN for a missing one."""
    return math.nan if one is None else float(one)


def single(cells):
    """A column of cells."""
    out = np.empty(len(cells))
    for i, one in enumerate(cells):
        out[i] = number(one)
    return out


def matrix(rows, width):
    """A list of rows."""
    out = np.empty((len(rows), width))
    for i, row in enumerate(rows):
        for j in range(width):
            out[i, j] = number(None if row is None else row[j])
    return out


def table(columns):
    """Columns with names."""
    out = np.empty(len(next(iter(columns.values()))), [(name, float) for name in columns])
    for name, cells in columns.items():
        for i, one in enumerate(cells):
            out[name][i] = number(one)
    return out


def gather(source):
    """All rows of a source in their order, and the ids of each chunk with its first row. It checks
    what a source promises: that its chunks number every row once, are of its dtype and width, in
    native byte order and in C order; and that a second pass makes the same chunks."""

    def summarise(chunk):
        rows = chunk.rows
        assert type(rows) is np.ndarray
        assert rows.dtype == source.dtype and rows.dtype.isnative and rows.flags.c_contiguous
        assert rows.shape[1:] == (() if source.width is None else (source.width,))
        return [(chunk.start, rows.copy(), chunk.ids)]

    parts = sorted(source.reduce(summarise, lambda a, b: a + b), key=lambda part: part[0])
    again = source.reduce(lambda c: [(c.start, len(c.rows))], lambda a, b: a + b)
    assert sorted(again) == [(start, len(rows)) for start, rows, _ in parts], "other chunks"
    at = 0
    for start, rows, _ in parts:
        assert start == at, "rows are left out or come twice"
        at += len(rows)
    assert source.length in (None, at), "the length is wrong"
    whole = np.concatenate([rows for _, rows, _ in parts])
    if source.array is not None:
        assert source.array.dtype == source.dtype and source.array.flags.c_contiguous
        same(source.array, whole)
    return whole, [(start, ids) for start, _, ids in parts]


def same(got, want):
    """Equal in shape, names and every number; NaN where there should be one."""
    assert got.shape == want.shape and got.dtype.names == want.dtype.names
    if want.dtype.names is None:
        np.testing.assert_array_equal(got, want)
    else:
        for name in want.dtype.names:
            np.testing.assert_array_equal(got[name], want[name])
