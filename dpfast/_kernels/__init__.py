"""Compiled kernels: typed buffers in, the caller's buffer filled. No defaults, no messages."""

try:
    from . import rng as _built  # noqa: F401
except ImportError as error:
    if getattr(error, "name", None) != __name__:
        raise
    raise ImportError("dpfast is not built: run pip install -e . where its setup.py is") from None
