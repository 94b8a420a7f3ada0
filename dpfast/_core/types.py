"""Types of the arguments that many public functions take, for type checkers."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray


class HasArray(Protocol):
    """An object that NumPy makes an array of: a NumPy array, or a column of another library."""

    def __array__(self) -> NDArray[Any]: ...


#: A real number. What is written is taken exactly: 0.1 is one tenth.
Number: TypeAlias = int | float | Fraction | Decimal | np.integer | np.floating
#: One number, or an array of them.
Numbers: TypeAlias = Number | Sequence[Number] | Sequence[Sequence[Number]] | HasArray
#: Numbers of several columns, or of several draws.
Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
#: Neighboring relations: one row is replaced, or added or removed.
Neighbors: TypeAlias = Literal["replace", "add-remove"]
#: Public limits of one column.
Bounds: TypeAlias = (
    tuple[Number, Number] | Sequence[Number] | np.ndarray[tuple[int, ...], np.dtype[np.generic]]
)
#: Public limits of one column or of each of several.
BoundsEach: TypeAlias = Bounds | Sequence[Bounds]
#: Bounds that a part of the loss pays for; see `dpfast.bounds`.
Auto: TypeAlias = Literal["auto"]
#: What becomes of NaN and null: an error, a bound, no row, or a public number.
NanPolicy: TypeAlias = Literal["raise", "lower", "upper", "drop"] | Number
#: Shape of what is returned; a single number where it is None.
Size: TypeAlias = int | tuple[int, ...] | None
#: A row is a record, so the only axis is that of the rows: each column has an answer of its own.
Axis: TypeAlias = Literal[0, -2]
#: Distributions of the noise for a smooth sensitivity, each with its calibration.
NoiseName: TypeAlias = Literal[
    "auto",
    "polyplace",
    "polyplace-finite-variance",
    "cauchy",
    "student-t",
    "generalized-cauchy",
    "laplace",
    "gaussian",
    "arsinh-normal",
]
