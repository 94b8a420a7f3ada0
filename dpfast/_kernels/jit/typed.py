"""What every loop over a user's function shares: to compile it, and the type that it returns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...errors import fail_kind

#: Functions whose loops are remembered. A loop refers to its function, and Numba's objects are not
#: collected in cycles, so a weak reference would keep every function for ever.
REMEMBERED = 64


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
