"""Private selection: draw a candidate with a high score, where scores depend on the data.

The functions for the exponential mechanism, permute-and-flip and top-k draw exactly, and mostly
read the scores once. The caller computes the scores and states how much a score can change between
neighboring datasets (`sensitivity`). If this number is wrong, the draw is not as private as it
says. If each candidate is itself a private answer, see `best_of`.
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
