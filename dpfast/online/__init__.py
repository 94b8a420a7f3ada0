"""Streams of adaptive queries for one privacy loss, paid for when the stream is opened.

Independent noise for each query soon uses up a budget. In these streams a query costs something
only if it cannot be answered from public information.
"""

from .linear_stream import Answer
from .median import MedianMechanism
from .multiplicative_weights import PrivateMultiplicativeWeights
from .mwem import MWEM
from .running_count import RunningCount, Total
from .sparse import AboveThreshold, Finding, Findings, SparseVector

__all__ = [
    "MWEM",
    "AboveThreshold",
    "Answer",
    "Finding",
    "Findings",
    "MedianMechanism",
    "PrivateMultiplicativeWeights",
    "RunningCount",
    "SparseVector",
    "Total",
]
