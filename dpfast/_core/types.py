"""Types of the arguments that many public functions take, for type checkers."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray


class HasArray(Protocol):
    """What NumPy makes an array of: one of NumPy itself, or a column of another library."""

    def __array__(self) -> NDArray[Any]: ...


#: A real number. What is written is taken exactly: 0.1 is one tenth.
Number: TypeAlias = int | float | Fraction | Decimal | np.integer | np.floating
#: One number, or an array of them.
Numbers: TypeAlias = Number | Sequence[Number] | Sequence[Sequence[Number]] | HasArray
#: Neighboring relations: one row is replaced, or added or removed.
Neighbors: TypeAlias = Literal["replace", "add-remove"]
#: Public limits of one column.
Bounds: TypeAlias = tuple[Number, Number] | Sequence[Number]
#: Public limits of one column or of each of several.
BoundsEach: TypeAlias = Bounds | Sequence[Bounds]
#: What becomes of NaN and null: an error, a bound, no row, or a public number.
NanPolicy: TypeAlias = Literal["raise", "lower", "upper", "drop"] | Number
#: Shape of what is returned; a single number where it is None.
Size: TypeAlias = int | tuple[int, ...] | None
