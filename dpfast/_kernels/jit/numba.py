"""Numba, only when it is needed, and what every loop over a user's function asks of it."""

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
    """Return the module.

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
    """Tell whether it is made by ``numba.njit`` or ``numba.jit``. Numba is not imported for the
    answer.

    A ``numba.cfunc`` or ``numba.vectorize`` object is not: it has forgotten the types of its
    arguments or brings a loop of its own, and can be called like a plain function.
    """
    if sys.modules.get("numba") is None:
        return False  # then nothing can have been made by it
    from numba.extending import is_jitted

    return bool(is_jitted(function))


@contextmanager
def compiling(name: str, rule: str, function: Any) -> Iterator[None]:
    """Whatever goes wrong inside is the one error about the argument `name`.

    Numba's own errors are one family, but its passes let those of Python through as well, and
    ``typeof`` has none of its own.
    """
    try:
        yield
    except Exception as error:
        fail_kind(name, rule, function, f": {error}")


def returned(call: Any, types: tuple[Any, ...]) -> Any:
    """Return the Numba type that `call` returns for arguments of these types.

    It is compiled for them the first time, under Numba's own lock. A function that was given
    signatures of its own is fitted to them by its caller, and so can only be asked through one.
    """
    if types not in call.overloads:
        call.compile(types)
    return call.overloads[types].signature.return_type


def is_real(numba: Any, kind: Any) -> bool:
    """Tell whether a Numba type is that of a real number, or of a truth value."""
    return isinstance(kind, (numba.types.Float, numba.types.Integer, numba.types.Boolean))
