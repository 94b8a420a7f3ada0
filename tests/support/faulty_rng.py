"""Generators with planted faults, which the tests of `dpfast.rng` have to catch."""

import os

from dpfast._kernels.rng import BitStream
from dpfast.rng import Generator


class ProcessGlobal(Generator):
    """Keyed from the system, but once: it notices neither forks nor copies nor threads."""

    __slots__ = ("_key", "_stream")
    private = True

    def __init__(self, key=None):
        self._key = os.urandom(32) if key is None else key
        self._stream = BitStream(self._key)

    def stream(self):
        return self._stream

    def __reduce__(self):
        return type(self), (self._key,)
