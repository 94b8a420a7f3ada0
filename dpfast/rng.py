"""Sources of random bits."""

from __future__ import annotations

import os
import threading

from ._native.rng import BitStream

__all__ = ["InsecureGenerator", "SecureGenerator", "default_generator"]


class SecureGenerator:
    private = True

    def __init__(self) -> None:
        self._local = threading.local()

    def stream(self) -> BitStream:
        made = getattr(self._local, "made", None)
        if made is None or made[0] != os.getpid():
            made = self._local.made = (os.getpid(), BitStream(os.urandom(32)))
        return made[1]


class InsecureGenerator:
    private = False

    def __init__(self, seed: int) -> None:
        self._stream = BitStream(int(seed).to_bytes(32, "little"))

    def stream(self) -> BitStream:
        return self._stream


_default = SecureGenerator()


def default_generator() -> SecureGenerator:
    return _default
