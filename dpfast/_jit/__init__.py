"""A user's own function inside a compiled loop.

Numba is imported when the first function that it has compiled comes along, and not before. One file
a loop: scores of candidates, answers for blocks of rows, local sensitivities at a distance.
"""

from ._numba import is_compiled, load
from .blocks import BlockLoop
from .distances import DistanceLoop
from .tiles import Tiles

__all__ = ["BlockLoop", "DistanceLoop", "Tiles", "is_compiled", "load"]
