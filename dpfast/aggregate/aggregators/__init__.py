"""Aggregators of sample and aggregate: one private number from the outputs of all blocks.

An aggregator does not depend on data and estimators. Its input is one float64 for each of `blocks`
blocks. Neighbors are inputs that differ in one number: the partition has to guarantee that one row
affects one block only. The number of blocks, the bounds and the loss are public. Numbers that are
not finite have been replaced by a public default before.

`make` builds an aggregator by name, and `default` chooses the one for `"auto"`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

from ..._core import checks
from ...privacy import ZCDP, Loss
from .attention import Attention
from .mean import Mean
from .median import ExponentialMedian, SmoothMedian
from .output_grid import Aggregator
from .trimmed import TrimmedMean
from .winsorized import WidenedWinsorizedMean

_MAKERS: dict[str, Callable[[int, float, float, Loss], Aggregator]] = {
    "mean": Mean,
    "smooth-median": SmoothMedian,
    "exponential-median": ExponentialMedian,
    "trimmed-mean": TrimmedMean,
    "winsorized-mean": WidenedWinsorizedMean,
    "attention": Attention,
}

AggregatorName: TypeAlias = Literal[
    "auto",
    "mean",
    "smooth-median",
    "exponential-median",
    "trimmed-mean",
    "winsorized-mean",
    "attention",
]
AGGREGATORS: tuple[str, ...] = get_args(AggregatorName)

#: If the number of blocks, and this number times epsilon, are at least this, "auto" is the trimmed
#: mean.
TRIM_FROM = 16


def as_epsilon(loss: Loss) -> float:
    """Return the epsilon of a loss, or for rho the epsilon with similar noise, ``sqrt(2 rho)``."""
    return math.sqrt(2.0 * float(loss.rho)) if isinstance(loss, ZCDP) else float(loss.epsilon)


def default(blocks: int, loss: Loss) -> str:
    """Return the aggregator for "auto", chosen by public numbers only.

    It is the trimmed mean if `blocks` and ``blocks * epsilon`` are both at least 16, where epsilon
    is ``sqrt(2 rho)`` for rho. Otherwise it is the mean.

    The noise of the mean is ``(hi - lo) / (blocks epsilon)`` for any outputs, so its accuracy
    depends on tight bounds. The noise of the trimmed mean depends on the outputs, and with enough
    blocks the bounds hardly matter. At 100 blocks and epsilon = 1, take normal outputs with a
    standard deviation of a fiftieth, a tenth or three tenths of the range. The median error of the
    trimmed mean is then 0.3, 0.8 or 1.1 times that of the mean. With fewer blocks, its smooth
    sensitivity reaches the two ends of the bounds. If the outputs are far from symmetric, use the
    mean: only the mean has no bias.
    """
    enough = blocks >= TRIM_FROM and blocks * as_epsilon(loss) >= TRIM_FROM
    return "trimmed-mean" if enough else "mean"


def choose(name: str, blocks: int, loss: Loss) -> str:
    """Return the checked name of an aggregator, with "auto" resolved for the loss."""
    checks.choice("aggregator", name, AGGREGATORS)
    return default(blocks, loss) if name == "auto" else name


def make(name: str, blocks: int, lo: float, hi: float, loss: Loss) -> Aggregator:
    """Return the aggregator with this name for checked public numbers."""
    return _MAKERS[choose(name, blocks, loss)](blocks, lo, hi, loss)
