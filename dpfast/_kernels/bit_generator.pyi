from collections.abc import Callable

from numpy.random import BitGenerator

def forked() -> None: ...

class ChaCha20(BitGenerator):
    def __init__(self, key: Callable[[], bytes]) -> None: ...
