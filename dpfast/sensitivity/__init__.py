"""Global, local and smooth sensitivities of statistics. NOT PRIVATE: publish only global ones."""

from .tree import TreeCost
from .triangles import Triangles
from .verbs import global_, local, smooth

__all__ = ["TreeCost", "Triangles", "global_", "local", "smooth"]
