"""NumPy's own format, memory-mapped: an array in a file is read like an array in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentTypeError, SourceError
from .array import ArraySource

__all__ = ["npy_source"]


def _mapped(path: Path) -> NDArray[Any]:
    """The array of a file, mapped; an empty one, which cannot be, is read."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:
        # NumPy evaluates the header, so a damaged one may raise nearly anything.
        try:
            with path.open("rb") as file:
                version = np.lib.format.read_magic(file)
                read = {(1, 0): np.lib.format.read_array_header_1_0}.get(
                    version, np.lib.format.read_array_header_2_0
                )
                shape, _, dtype = read(file)
                if 0 in shape and not dtype.hasobject:
                    return np.empty(shape, dtype)
        except Exception:
            pass
        raise SourceError(f"{path.name} cannot be read as .npy: {error}") from None
    if not isinstance(array, np.ndarray):
        raise SourceError(f"{path.name} is an archive of arrays (.npz), not one array")
    return array


def npy_source(path: Path, pick: Any) -> ArraySource:
    """A one-dimensional array, one column of a two-dimensional one, or one field of records."""
    array = _mapped(path)
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
