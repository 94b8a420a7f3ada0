"""Made by tools/stubs.py."""

from collections.abc import Callable
from typing import Any, NoReturn

from numpy.random import BitGenerator

class ChaCha20(BitGenerator):
    def __init__(self, key: Callable[[], bytes]) -> None: ...
    @property
    def state(self) -> Any: ...
    @state.setter
    def state(self, value: Any) -> None: ...
    def spawn(self, n_children: int) -> NoReturn: ...
