"""Private selection: draw a candidate with a high score, where scores depend on the data.

Functions for the exponential mechanism, permute-and-flip and top-k draw exactly, for about one read
of the scores. The caller computes the scores and states how much a score can change between
neighboring datasets (`sensitivity`). A draw is only as private as that number is right. For
candidates that are private answers themselves, see `best_of`.
"""

from .api import exponential, noisy_max, permute_and_flip, top_k
from .best_of import best_of
from .utility import expected_error, probabilities, utility_bound

__all__ = [
    "best_of",
    "expected_error",
    "exponential",
    "noisy_max",
    "permute_and_flip",
    "probabilities",
    "top_k",
    "utility_bound",
]
