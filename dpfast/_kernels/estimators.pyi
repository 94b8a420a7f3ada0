from typing import Any

from numpy.typing import NDArray

SPARE: int
EFFORT: int

def pairs(
    rows: NDArray[Any],
    offsets: NDArray[Any],
    ranks: NDArray[Any],
    scratch: NDArray[Any],
    lower: NDArray[Any],
    upper: NDArray[Any],
    effort: int = ...,
) -> None: ...
def trimmed(
    rows: NDArray[Any],
    offsets: NDArray[Any],
    cuts: NDArray[Any],
    scratch: NDArray[Any],
    out: NDArray[Any],
    effort: int = ...,
) -> None: ...
def modes(
    rows: NDArray[Any], offsets: NDArray[Any], keys: NDArray[Any], out: NDArray[Any]
) -> None: ...
def logistic(
    rows: NDArray[Any],
    offsets: NDArray[Any],
    target: int,
    intercept: bool,
    penalty: float,
    iterations: int,
    tolerance: float,
    work: NDArray[Any],
    out: NDArray[Any],
) -> None: ...
def logistic_work(width: int) -> int: ...
