"""Arrays of any shape as rows and columns: what is reduced is a row, what is left a column."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpfast.errors import ArgumentError
from dpfast.extend import checks

from .refusals import refuse

RULE = "an array of numbers"


def numbers(value: Any, name: str = "array") -> NDArray[Any]:
    """Return an array of numbers. What has no dtype, like a list, is read entry by entry.

    No entry decides how another is read: each is a float64, and NaN if it is no number.
    """
    given = checks.array(name, value, RULE)
    declared = getattr(value, "dtype", None)
    if declared is not None and given.dtype != object:
        if given.dtype.kind not in "biuf":
            checks.fail_kind(name, RULE, value)
        return given
    if given.dtype.kind in "biuf":
        return given.astype(np.float64)
    return _each(given if declared is not None else np.asarray(value, object), _number, float)


def truths(value: Any, name: str = "array") -> NDArray[Any]:
    """Return an array of numbers, or which entries are neither 0 nor empty text."""
    given = checks.array(name, value, RULE)
    if getattr(value, "dtype", None) is not None and given.dtype != object:
        return given != given.dtype.type() if given.dtype.kind in "SU" else numbers(value, name)
    objects = given if given.dtype == object else np.asarray(value, object)
    return _each(objects, _truth, bool)


def _each(objects: NDArray[Any], read: Callable[[Any], Any], kind: type) -> NDArray[Any]:
    return np.array([read(one) for one in objects.ravel()], kind).reshape(objects.shape)


def _number(one: Any) -> float:
    found = float(one) if isinstance(one, (bool, np.bool_)) else checks.real(one)
    return np.nan if found is None else found


def _truth(one: Any) -> bool:
    if isinstance(one, (str, bytes)):
        return len(one) > 0
    return abs(_number(one)) > 0  # what is no number is not


@dataclass(frozen=True, slots=True)
class Layout:
    """The rows of an array, a view of it where that can be, and the shape of the answer.

    Parameters
    ----------
    rows : numpy.ndarray
        A column, or with `columns` a matrix.
    columns : int or None
        How many answers there are; None for one number.
    shape : tuple of int
        That of the answer.
    """

    rows: NDArray[Any]
    columns: int | None
    shape: tuple[int, ...]

    @classmethod
    def of(cls, array: Any, axis: Any, keepdims: Any, words: bool = False) -> Layout:
        """Lay out an array, of which the type and the shape are looked at."""
        given = truths(array) if words else numbers(array)
        if axis is None:
            shape = (1,) * given.ndim if keepdims else ()
            return cls(given.reshape(-1), None, shape)
        axes = axis if isinstance(axis, tuple) else (axis,)
        whole = [checks.whole("axis", one, -given.ndim) for one in axes]
        if any(one >= given.ndim for one in whole):
            checks.fail("axis", f"between {-given.ndim} and {given.ndim - 1}", axis)
        gone = sorted({one % given.ndim for one in whole})
        kept = [one for one in range(given.ndim) if one not in gone]
        columns = math.prod(given.shape[one] for one in kept)
        rows = given.transpose(gone + kept)
        shape = tuple(
            1 if one in gone else size
            for one, size in enumerate(given.shape)
            if keepdims or one not in gone
        )
        if not kept:
            return cls(rows.reshape(-1), None, shape)
        return cls(rows.reshape(-1, columns), columns, shape)

    @property
    def axis(self) -> int | None:
        """The axis of dpfast."""
        return None if self.columns is None else 0

    def answer(self, found: NDArray[Any], kind: np.dtype[Any] | None = None) -> Any:
        """Return private numbers in the shape and of the type that was asked for."""
        if kind is not None:
            found = (np.rint(found) if kind.kind in "iu" else found).astype(kind)
        return found.reshape(self.shape) if self.shape else found.reshape(())[()].item()


def limits(bounds: Any, columns: int | None) -> Any:
    """Return public limits as a pair, or as a list of pairs with one for each column.

    The release checks the numbers themselves.
    """
    if bounds is None:
        refuse("bounds")
    if not isinstance(bounds, tuple):
        checks.fail_type("bounds", "a tuple (min, max)", bounds)
    if len(bounds) != 2:
        checks.fail("bounds", "a tuple (min, max)", bounds)
    try:
        ends = [np.asarray(end) for end in bounds]
    except ValueError:
        raise ArgumentError("bounds must be numbers, or arrays of them") from None
    if not any(end.ndim for end in ends):
        return bounds
    if any(end.dtype.kind not in "biuf" for end in ends):
        checks.fail_type("bounds", "a tuple (min, max) of numbers", bounds)
    size = max(end.size for end in ends)
    if {end.size for end in ends} - {1, size} or size not in (1, columns or 1):
        checks.fail("bounds", f"one pair, or {columns or 1} of them", bounds)
    low, high = (np.broadcast_to(end.ravel(), size).tolist() for end in ends)
    pairs = list(zip(low, high, strict=True))
    return pairs[0] if size == 1 else pairs
