"""A function called on one block after another, in so many words."""

import contextlib

import numpy as np

from dpfast.tables.row_files import File


def call_blocks(function, rows, offsets, d, copy=True):
    """The answers; without `copy`, with the fault that a function sees the rows themselves."""
    out = np.full((len(offsets) - 1, d), np.nan)
    for b in range(len(out)):
        block = rows[offsets[b] : offsets[b + 1]]
        if len(block) == 0:
            continue
        try:
            value = np.asarray(function(block.copy() if copy else block))
            if value.dtype.kind in "biuf" and value.size == d:
                out[b] = value.ravel()
        except BaseException:
            pass
    return out


def blocks(codes, per=4):
    """Rows whose block b begins with codes[b], and where the blocks begin."""
    rows = np.arange(len(codes) * per, dtype=np.float64) + 100
    rows[::per] = codes
    return rows, np.arange(len(codes) + 1, dtype=np.int64) * per


@contextlib.contextmanager
def in_file(rows):
    """The rows in a file."""
    file = File(rows.nbytes, open_to_all=False)
    view = np.frombuffer(file.map, np.uint8)
    view[: rows.nbytes] = np.ascontiguousarray(rows).view(np.uint8).reshape(-1)
    try:
        yield file
    finally:
        file.close()
