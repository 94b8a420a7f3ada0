"""Private selection: which candidate is about the best, by scores that depend on the data.

The exponential mechanism, permute-and-flip and top-k, drawn exactly for about one read of the
scores. Scores are the caller's: `sensitivity` says by how much any one of them can move between
neighbouring datasets, and the privacy of a draw is worth as much as that number.
"""

from .api import exponential, noisy_max, permute_and_flip, top_k
from .utility import expected_error, probabilities, utility_bound

__all__ = [
    "expected_error",
    "exponential",
    "noisy_max",
    "permute_and_flip",
    "probabilities",
    "top_k",
    "utility_bound",
]
