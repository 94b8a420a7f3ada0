"""A user's function inside a compiled loop.

Numba is imported only when the first function arrives that it has compiled. The loops: scores of
candidates, answers for blocks of rows, values of rows, local sensitivities at a distance, queries
over a universe.
"""

from .blocks import BlockLoop
from .calls import DistanceLoop, QueryLoop
from .numba import is_compiled, load
from .rows import RowLoop
from .tiles import Tiles

__all__ = ["BlockLoop", "DistanceLoop", "QueryLoop", "RowLoop", "Tiles", "is_compiled", "load"]
