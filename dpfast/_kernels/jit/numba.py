"""Numba, imported only when needed, and helpers for every loop over a user's function."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...errors import MissingExtraError, fail_kind

#: Functions whose loops are remembered. A loop refers to its function, and Numba's objects are not
#: collected in cycles, so a weak reference would keep every function for ever.
REMEMBERED = 64


def load() -> Any:
    """Return the Numba module, imported when it is needed first.

    Raises
    ------
    MissingExtraError
        Numba is not there or cannot be imported.
    """
    try:
        import numba
    except ImportError as error:
        raise MissingExtraError(
            "a compiled function needs Numba: pip install 'numba>=0.61'"
        ) from error
    return numba


def is_compiled(function: Any) -> bool:
    """Tell whether ``numba.njit`` or ``numba.jit`` made a function, without importing Numba.

    A ``numba.cfunc`` or ``numba.vectorize`` object does not count: it has lost the types of its
    arguments or contains a loop, and can be called like a plain function.
    """
    if sys.modules.get("numba") is None:
        return False  # then no function is of Numba
    from numba.extending import is_jitted

    return bool(is_jitted(function))


@contextmanager
def compiling(name: str, rule: str, function: Any) -> Iterator[None]:
    """Turn every error inside a ``with`` block into one error about the argument `name`.

    Numba's errors have one base class, but its passes also let Python's errors through, and
    ``typeof`` has no error class.
    """
    try:
        yield
    except Exception as error:
        fail_kind(name, rule, function, f": {error}")


def returned(call: Any, types: tuple[Any, ...]) -> Any:
    """Return the Numba type that `call` returns for arguments of these types.

    `call` is compiled for these types the first time, under Numba's lock. A function with given
    signatures is called with converted arguments, so `call` has to be a function that calls it.
    """
    if types not in call.overloads:
        call.compile(types)
    return call.overloads[types].signature.return_type


def is_real(numba: Any, kind: Any) -> bool:
    """Tell whether a Numba type is that of a real number, or of a truth value."""
    return isinstance(kind, (numba.types.Float, numba.types.Integer, numba.types.Boolean))
