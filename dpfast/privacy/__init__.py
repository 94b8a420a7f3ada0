"""Privacy losses, their composition and their conversions.

A loss holds under one neighboring relation. Amounts are exact fractions: ``0.1`` means one tenth,
so ten times 0.1 is one. A result that is not a fraction, such as a hyperbolic tangent, is rounded
up, towards more loss. Where a mechanism needs a float epsilon, `float_down` rounds it down. So no
mechanism spends more than it is charged.

`LossDistribution` (privacy-loss distributions) needs ``pip install dp-accounting``.
"""

from .calibration import float_down, laplace_within, pure_within, range_within
from .composition import (
    advanced_composition,
    compose,
    convert,
    group,
    group_within,
    parallel,
    post_processing,
)
from .distributions import LossDistribution
from .filter import Filter
from .losses import ZCDP, Approx, Draws, Loss, Pure, loss
from .optimal import optimal_composition
from .repetition import repeated_selection

__all__ = [
    "ZCDP",
    "Approx",
    "Draws",
    "Filter",
    "Loss",
    "LossDistribution",
    "Pure",
    "advanced_composition",
    "compose",
    "convert",
    "float_down",
    "group",
    "group_within",
    "laplace_within",
    "loss",
    "optimal_composition",
    "parallel",
    "post_processing",
    "pure_within",
    "range_within",
    "repeated_selection",
]
