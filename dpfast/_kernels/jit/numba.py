"""Numba, only when it is needed."""

from __future__ import annotations

import sys
from typing import Any

from ...errors import MissingExtraError


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
    if "numba" not in sys.modules:
        return False  # then nothing can have been made by it
    from numba.extending import is_jitted

    return bool(is_jitted(function))
