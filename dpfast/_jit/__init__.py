"""A user's own function inside a compiled loop.

Numba is imported when the first function that it has compiled comes along, and not before. One file
a loop: here the scores of candidates.
"""

from ._numba import is_compiled, load
from .tiles import Tiles

__all__ = ["Tiles", "is_compiled", "load"]
