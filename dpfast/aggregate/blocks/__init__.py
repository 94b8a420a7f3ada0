"""Rows in blocks: which block a row belongs to, tallies of the blocks, and the rows block by block.

Nothing here is private or draws noise. A partition is a function of public numbers and one secret
key that is drawn once, so that every pass, worker and chunk sees the same blocks.
"""

from .counting_sort import scatter
from .ids import KeyedLabels
from .labels import ContiguousLabels, RandomLabels, RowLabels
from .tallies import Extremes, Moments, Totals

__all__ = [
    "ContiguousLabels",
    "Extremes",
    "KeyedLabels",
    "Moments",
    "RandomLabels",
    "RowLabels",
    "Totals",
    "scatter",
]
