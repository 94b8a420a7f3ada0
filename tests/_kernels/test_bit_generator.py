"""NumPy's `Generator` over the secure stream."""

import copy
import importlib
import os
import pickle
import pkgutil
import subprocess
import sys

import numpy as np
import pytest

import dpfast as dp
from dpfast import _kernels
from dpfast._kernels.bit_generator import ChaCha20
from dpfast._kernels.rng import BitStream


def test_numpys_generator_draws_the_bits_of_the_stream():
    key = bytes(range(32))
    bits = ChaCha20(lambda: key)
    assert isinstance(bits, np.random.BitGenerator)
    stream = BitStream(key)
    assert bits.random_raw(9).tolist() == [stream.word() for _ in range(9)]
    assert np.random.Generator(bits).random() == (stream.word() >> 11) * 2.0**-53
    drawn = np.random.Generator(dp.rng.SecureBitGenerator()).normal(size=1000)
    assert abs(drawn.mean()) < 0.3 and 0.7 < drawn.std() < 1.3


REFUSED = {
    "pickle": pickle.dumps,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "generator": lambda bits: pickle.dumps(np.random.Generator(bits)),
    "state": lambda bits: bits.state,
    "set state": lambda bits: setattr(bits, "state", {}),
    "spawn": lambda bits: np.random.Generator(bits).spawn(1),
    "seed": lambda bits: dp.rng.SecureBitGenerator(3),
}


@pytest.mark.parametrize("way", REFUSED)
def test_nothing_repeats_its_bits(way):
    with pytest.raises(TypeError):
        REFUSED[way](dp.rng.SecureBitGenerator())
    assert pickle.dumps(np.random.PCG64())  # which NumPy's own do not refuse


def test_one_generator_is_made_once():
    """A second key would be read by other threads under another lock."""
    bits = dp.rng.SecureBitGenerator()
    lock = bits.lock
    for _ in range(2):
        with pytest.raises(TypeError, match="made once"):
            bits.__init__(lambda: bytes(32))
    assert bits.lock is lock and bits.random_raw() != ChaCha20(lambda: bytes(32)).random_raw()


def remade(kinds):
    """Extension classes that could be made again under those who read them."""
    return {kind.__name__ for kind in kinds if "__init__" in vars(kind)}


def test_what_the_kernels_hold_is_made_once():
    """In `__cinit__`, which runs once, whatever a subclass does; `ChaCha20` is tried above."""
    names = [one.name for one in pkgutil.iter_modules(_kernels.__path__) if not one.ispkg]
    modules = [importlib.import_module(f"dpfast._kernels.{name}") for name in names]
    kinds = {
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__.startswith("dpfast._kernels")
    }
    assert len(kinds) > 9 and remade(kinds) == {"ChaCha20"}


def test_what_is_made_in_init_is_caught():
    class Remade:
        def __init__(self, size):
            self.size = size

    assert remade([Remade, ChaCha20]) == {"Remade", "ChaCha20"}


FORK = """
import os
import numpy as np
import dpfast as dp
rng = np.random.Generator({bits})
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, rng.bytes(8))
    os._exit(0)
print(os.read(read, 8) == rng.bytes(8))
"""


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.parametrize(
    ("bits", "same"), [("dp.rng.SecureBitGenerator()", "False"), ("np.random.PCG64()", "True")]
)
def test_a_forked_child_draws_other_bits(bits, same):
    code = FORK.format(bits=bits)
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == same
