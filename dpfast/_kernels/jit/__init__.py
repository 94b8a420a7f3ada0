"""A user's own function inside a compiled loop.

Numba is imported when the first function that it has compiled comes along, and not before. The
loops: scores of candidates, answers for blocks of rows, values of rows, local sensitivities at a
distance, queries over a universe.
"""

from .blocks import BlockLoop
from .calls import DistanceLoop, QueryLoop
from .numba import is_compiled, load
from .rows import RowLoop
from .tiles import Tiles

__all__ = ["BlockLoop", "DistanceLoop", "QueryLoop", "RowLoop", "Tiles", "is_compiled", "load"]
