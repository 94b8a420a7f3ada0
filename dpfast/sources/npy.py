"""NumPy's own format, memory-mapped: an array in a file is read like an array in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, SourceError
from .array import ArraySource

__all__ = ["npy_source"]


def npy_source(path: Path, pick: Any) -> ArraySource:
    """A one-dimensional array, one column of a two-dimensional one, or one field of records."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        # A header only, or Python objects, cannot be mapped; the first can be read.
        try:
            array = np.load(path, allow_pickle=False)
        except (ValueError, OSError, EOFError):
            raise SourceError(f"{path.name} cannot be read as .npy: {error}") from None
    if array.dtype.names is not None:
        array = array[pick(list(array.dtype.names), path)]
    elif array.ndim == 2:
        names = [str(number) for number in range(array.shape[1])]
        array = array[:, int(pick(names, path))]
    elif array.ndim == 1:
        pick(["0"], path)
    if array.ndim != 1:
        raise SourceError(
            f"{path.name} must hold an array of one or two dimensions, got shape {array.shape}"
        )
    try:
        return ArraySource(array, name=path.name)
    except ArgumentTypeError:
        raise SourceError(
            f"{path.name} must hold integers, floats or booleans, got {array.dtype}"
        ) from None
