"""Compiled kernels: typed buffers in, the caller's buffer filled. No defaults, no messages."""

from importlib.machinery import EXTENSION_SUFFIXES
from os import listdir
from os.path import dirname

_files = listdir(dirname(__file__))
_built = {file.partition(".")[0] for file in _files if file.endswith(tuple(EXTENSION_SUFFIXES))}
if not {file.removesuffix(".pyi") for file in _files if file.endswith(".pyi")} <= _built:
    raise ImportError("dpfast is not built: run pip install -e . where its setup.py is")

from . import rng as rng  # noqa: E402  finds the instruction set, or says that it cannot be had
