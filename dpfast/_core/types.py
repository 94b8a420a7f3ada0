"""Types of the arguments that many public functions take, for type checkers."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray


class HasArray(Protocol):
    """An object that NumPy can convert to an array, such as a column of another library."""

    def __array__(self) -> NDArray[Any]: ...


#: A real number, by its decimal digits: 0.1 means one tenth.
Number: TypeAlias = int | float | Fraction | Decimal | np.integer | np.floating
#: One number, or an array of them.
Numbers: TypeAlias = Number | Sequence[Number] | Sequence[Sequence[Number]] | HasArray
#: Numbers of several columns, or of several draws.
Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
#: Neighboring relations: one row is replaced, or added or removed.
Neighbors: TypeAlias = Literal["replace", "add-remove"]
#: Public lower and upper bounds of one column.
Bounds: TypeAlias = (
    tuple[Number, Number] | Sequence[Number] | np.ndarray[tuple[int, ...], np.dtype[np.generic]]
)
#: Public bounds of one column, or of each of several.
BoundsEach: TypeAlias = Bounds | Sequence[Bounds]
#: Bounds that a part of the loss finds; see `dpfast.bounds`.
Auto: TypeAlias = Literal["auto"]
#: How NaN and null are handled: raise an error, replace by a bound, drop the row, or replace by a
#: public number.
NanPolicy: TypeAlias = Literal["raise", "lower", "upper", "drop"] | Number
#: Shape of the result; None for a single number.
Size: TypeAlias = int | tuple[int, ...] | None
#: The axis of a statistic: the axis of the rows, so each column has an answer.
Axis: TypeAlias = Literal[0, -2]
#: Distributions of noise that is scaled to a smooth sensitivity.
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
