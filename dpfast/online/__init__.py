"""Streams of queries that share one privacy loss, which is paid when the stream is opened.

Independent noise for each query soon uses up a budget. A stream answers many more queries for the
same loss. `MedianMechanism` and `PrivateMultiplicativeWeights` answer most linear queries from
public information. `SparseVector` says which values are above a threshold, and the loss does not
grow with the values below it. `RunningCount` releases a total after each step. `MWEM` answers
linear queries that are all known beforehand.
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
