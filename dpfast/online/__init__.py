"""Streams of queries, each free to depend on the answers before it, for one loss paid beforehand.

Independent noise for each query runs out of budget; here only those queries cost that cannot be
answered from what is public already.
"""

from .answer import Answer
from .median import MedianMechanism
from .mwem import MWEM
from .published_constants import published
from .sparse import AboveThreshold, Finding, Findings, SparseVector
from .weights import PrivateMultiplicativeWeights

__all__ = [
    "MWEM",
    "AboveThreshold",
    "Answer",
    "Finding",
    "Findings",
    "MedianMechanism",
    "PrivateMultiplicativeWeights",
    "SparseVector",
    "published",
]
