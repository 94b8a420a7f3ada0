from typing import Any

from numpy.typing import NDArray

NAN: int
INFINITE: int
ABOVE: int

def block_peaks(values: NDArray[Any], block: int, out: NDArray[Any]) -> int: ...
