"""Arrays of any shape as rows (the axes that a statistic reduces) and columns (the other axes)."""

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
    """Return a value as an array of numbers; a value without a dtype, as a list, entry by entry.

    No entry changes how another entry is read. Each is a float64, or NaN if it is not a number.
    """
    entries = checks.array(name, value, RULE)
    declared = getattr(value, "dtype", None)
    if declared is not None and entries.dtype != object:
        if entries.dtype.kind not in "biuf":
            checks.fail_kind(name, RULE, value)
        return entries
    if entries.dtype.kind in "biuf":
        return entries.astype(np.float64)
    return _entries(entries if declared is not None else np.asarray(value, object), _number, float)


def truths(value: Any, name: str = "array") -> NDArray[Any]:
    """Return an array of numbers, or of whether entries are neither 0 nor empty text."""
    entries = checks.array(name, value, RULE)
    if getattr(value, "dtype", None) is not None and entries.dtype != object:
        return (
            entries != entries.dtype.type() if entries.dtype.kind in "SU" else numbers(value, name)
        )
    objects = entries if entries.dtype == object else np.asarray(value, object)
    return _entries(objects, _truth, bool)


def _entries(objects: NDArray[Any], read: Callable[[Any], Any], kind: type) -> NDArray[Any]:
    return np.array([read(entry) for entry in objects.ravel()], kind).reshape(objects.shape)


def _number(entry: Any) -> float:
    number = float(entry) if isinstance(entry, (bool, np.bool_)) else checks.real(entry)
    return np.nan if number is None else number


def _truth(entry: Any) -> bool:
    if isinstance(entry, (str, bytes)):
        return len(entry) > 0
    return abs(_number(entry)) > 0  # raises an error if the entry is not a number


@dataclass(frozen=True, slots=True)
class Layout:
    """The rows and columns of an array for a statistic along some axes, and the answer's shape.

    Parameters
    ----------
    rows : numpy.ndarray
        A column, or with `columns` a matrix.
    columns : int or None
        The number of answers; None for a single number.
    shape : tuple of int
        The shape of the answer.
    """

    rows: NDArray[Any]
    columns: int | None
    shape: tuple[int, ...]

    @classmethod
    def of(cls, array: Any, axis: Any, keepdims: Any, words: bool = False) -> Layout:
        """Lay out an array for a statistic along `axis`, by the array's type and shape alone."""
        entries = truths(array) if words else numbers(array)
        if axis is None:
            shape = (1,) * entries.ndim if keepdims else ()
            return cls(entries.reshape(-1), None, shape)
        axes = axis if isinstance(axis, tuple) else (axis,)
        whole = [checks.whole("axis", dimension, -entries.ndim) for dimension in axes]
        if any(dimension >= entries.ndim for dimension in whole):
            checks.fail("axis", f"between {-entries.ndim} and {entries.ndim - 1}", axis)
        gone = sorted({dimension % entries.ndim for dimension in whole})
        kept = [dimension for dimension in range(entries.ndim) if dimension not in gone]
        columns = math.prod(entries.shape[dimension] for dimension in kept)
        rows = entries.transpose(gone + kept)
        shape = tuple(
            1 if dimension in gone else size
            for dimension, size in enumerate(entries.shape)
            if keepdims or dimension not in gone
        )
        if not kept:
            return cls(rows.reshape(-1), None, shape)
        return cls(rows.reshape(-1, columns), columns, shape)

    @property
    def axis(self) -> int | None:
        """The argument `axis` of a release of these rows: None for one column, 0 for several."""
        return None if self.columns is None else 0

    def answer(self, answers: NDArray[Any], kind: np.dtype[Any] | None = None) -> Any:
        """Return private numbers in the shape of the answer, as the dtype `kind` if given."""
        if kind is not None:
            answers = (np.rint(answers) if kind.kind in "iu" else answers).astype(kind)
        return answers.reshape(self.shape) if self.shape else answers.reshape(())[()].item()


def limits(bounds: Any, columns: int | None) -> Any:
    """Return diffprivlib's bounds as one pair, or as a list of pairs, one for each column.

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
        checks.fail("bounds", f"one pair, or {columns or 1} pairs", bounds)
    low, high = (np.broadcast_to(end.ravel(), size).tolist() for end in ends)
    pairs = list(zip(low, high, strict=True))
    return pairs[0] if size == 1 else pairs
