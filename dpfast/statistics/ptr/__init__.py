"""Propose-test-release: noise for a proposed local sensitivity, if a private test accepts it.

The test adds noise to a distance: from the data to the nearest data whose local sensitivity is
above the proposal. If the noisy distance is below a threshold, the answer is `dpfast.NO_ANSWER`.
The module `proposal` has the theorem.
"""

from .answer import NO_ANSWER, NoAnswer
from .api import iqr, mean, quantile, release
from .statistics import Iqr, Mean, Quantile

__all__ = [
    "NO_ANSWER",
    "Iqr",
    "Mean",
    "NoAnswer",
    "Quantile",
    "iqr",
    "mean",
    "quantile",
    "release",
]
