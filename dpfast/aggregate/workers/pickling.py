"""Pickling of a function, such that a fresh interpreter can load it."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from typing import Any

from ..._core import checks
from ..._core.extras import extra


def packed(function: Callable[[Any], Any], name: str) -> bytes:
    """Return the pickle of `function`: by reference if its module can be imported, else by value.

    Functions of `__main__`, closures and lambdas go by value, through cloudpickle.

    Raises
    ------
    ArgumentError
        If it cannot be pickled; `name` is the argument.
    MissingExtraError
        If that takes cloudpickle, which is not installed.
    """
    try:
        plain = pickle.dumps(function)
        if b"__main__" not in plain:  # a worker has another __main__
            return plain
    except Exception:  # an object may raise anything where it is pickled
        pass
    cloudpickle = extra(
        "cloudpickle",
        f"a worker process cannot import {name} (put it in a module), and sending its code",
    )
    try:
        by_value: bytes = cloudpickle.dumps(function)
    except Exception as error:
        rule = f"a function that can be sent to a worker process ({reason(error)})"
        checks.fail(name, rule, function)
    return by_value


def reason(error: BaseException) -> str:
    """Return an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def search_path() -> list[str]:
    """Return the module search path of this process, independent of the current directory.

    Entries that are no paths (a hook of an editable installation) stay as they are.
    """
    entries = [entry for entry in sys.path if isinstance(entry, str)]
    try:
        return [os.path.abspath(e) if not e or os.path.exists(e) else e for e in entries]
    except OSError:  # the current directory is gone
        return entries
