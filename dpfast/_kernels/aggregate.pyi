from typing import Any

from numpy.typing import NDArray

from .tables import Key

PLANES: int
NEAR: int
NAN: int
PLUS: int
MINUS: int
MOST_BLOCKS: int
CHANGED: str

def random_labels(key: Key, blocks: int, start: int, out: NDArray[Any]) -> None: ...
def keyed_labels(
    key: Key, blocks: int, low: NDArray[Any], high: NDArray[Any] | None, out: NDArray[Any]
) -> None: ...

class Sums:
    planes: Any
    used: Any
    seen: Any
    near: Any
    def __init__(
        self,
        planes: NDArray[Any],
        used: NDArray[Any],
        seen: NDArray[Any],
        near: NDArray[Any] | None = None,
    ) -> None: ...
    def add(self, labels: NDArray[Any], values: NDArray[Any]) -> None: ...
    def add_run(self, block: int, values: NDArray[Any]) -> None: ...
    def add_runs(self, first: int, cuts: NDArray[Any], values: NDArray[Any]) -> None: ...
    def add_random(
        self,
        key: Key,
        start: int,
        values: NDArray[Any],
        counts: NDArray[Any],
        shift: NDArray[Any] | None = None,
        squares: Sums | None = None,
    ) -> None: ...
    def merge(self, more: Sums) -> None: ...
    def rounded(self, fraction: NDArray[Any], exponent: NDArray[Any]) -> None: ...

def extremes(
    labels: NDArray[Any],
    values: NDArray[Any],
    least: NDArray[Any],
    most: NDArray[Any],
    seen: NDArray[Any],
) -> None: ...
def count(labels: NDArray[Any], counts: NDArray[Any], shift: int = 0) -> None: ...
def count_random(
    key: Key, blocks: int, start: int, rows: int, counts: NDArray[Any], shift: int = 0
) -> None: ...
def place(
    labels: NDArray[Any],
    rows: NDArray[Any],
    at: NDArray[Any],
    out: NDArray[Any],
    shift: int = 0,
    low: NDArray[Any] | None = None,
) -> None: ...
def place_random(
    key: Key,
    blocks: int,
    start: int,
    rows: NDArray[Any],
    at: NDArray[Any],
    out: NDArray[Any],
    shift: int = 0,
    low: NDArray[Any] | None = None,
) -> None: ...
def refine(
    low: NDArray[Any],
    shift: int,
    rows: NDArray[Any],
    cuts: NDArray[Any],
    offsets: NDArray[Any],
    out: NDArray[Any],
) -> None: ...
def place_runs(
    cuts: NDArray[Any], rows: NDArray[Any], at: NDArray[Any], out: NDArray[Any]
) -> None: ...

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
