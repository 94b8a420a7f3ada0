"""Exact totals of one column: rows, missing rows, sums of cells and of their squares.

A `Totals` is a handful of integers that can be merged in any order. `where`, a mask as long as the
column, leaves rows out before anything is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import nan_policy
from ..sources import Chunk, Source
from ..sources.masked import kept, refuse_mask
from .cells import Cells


@dataclass(frozen=True, slots=True)
class Totals:
    """What is summed of some rows. `rows` are those with a number; a missing one is no number."""

    rows: int = 0
    missing: int = 0
    sum: int = 0
    squares: int = 0
    read: int = 0  # rows looked at, those that `where` leaves out too

    def merge(self, other: Totals) -> Totals:
        return Totals(
            self.rows + other.rows,
            self.missing + other.missing,
            self.sum + other.sum,
            self.squares + other.squares,
            self.read + other.read,
        )


def totals(
    source: Source, cells: Cells | None, where: NDArray[np.bool_] | None, squares: bool = False
) -> Totals:
    """Totals of the rows that `where` keeps; without `cells` they are only counted.

    Raises
    ------
    DataError
        If the data turn out to be of another length than `where`.
    """

    def summarise(chunk: Chunk) -> Totals:
        read = len(chunk.values) + chunk.nulls
        if where is None:
            return totals_of(chunk.values, chunk.nulls, read, cells, squares)
        found = Totals()
        for piece in kept(chunk, where):
            found = found.merge(totals_of(piece.values, piece.nulls, 0, cells, squares))
        return replace(found, read=read)

    found = source.reduce(summarise, Totals.merge)
    if where is not None and found.read != len(where):
        refuse_mask()
    return found


def totals_of(
    values: NDArray[Any], nulls: int, read: int, cells: Cells | None, squares: bool
) -> Totals:
    """Totals of some values, beside which `nulls` rows were null and `read` were looked at."""
    if cells is None:
        nan = int(np.count_nonzero(values != values)) if values.dtype.kind == "f" else 0
        return Totals(len(values) - nan, nulls + nan, 0, 0, read)
    nan, total, square = cells.native.totals(values, squares)
    return Totals(len(values) - nan, nulls + nan, total, square, read)


def settled(found: Totals, policy: str | float, lo: float, hi: float, cells: Cells) -> Totals:
    """Return the totals once missing rows count as the policy says.

    Raises
    ------
    DataError
        Under ``nan="raise"``, if there are any.
    """
    nan_policy.refuse(policy, found.missing)
    value = nan_policy.replacement(policy, lo, hi)
    if isinstance(value, str) or not found.missing:
        return Totals(found.rows, 0, found.sum, found.squares, found.read)
    u = cells.cell(value)
    return Totals(
        found.rows + found.missing,
        0,
        found.sum + found.missing * u,
        found.squares + found.missing * u * u,
        found.read,
    )
