from typing import Any

import numpy as np
from numpy.typing import NDArray

POWERS: int

Wide = tuple[float, int]

class Table:
    filled: bool
    def __new__(
        cls,
        at: NDArray[np.int64],
        length: NDArray[np.int64],
        m: int,
        n: int,
        first: list[int],
        far: list[Wide],
        near: list[Wide],
        stay: list[Any],
        power: list[tuple[float, float, int]],
    ) -> Table: ...
    def fill(self) -> None: ...
    def total_weight(self) -> Wide: ...
    def before(self, s: int, i: int) -> Wide: ...
    def terms(self, s: int, i: int) -> list[Wide]: ...
    def look(self, s: int, stop: int, position: int) -> tuple[int, Wide]: ...
    def find(self, place: int) -> tuple[int, int]: ...
    def weight(self, s: int, position: int, i: int) -> Wide: ...
