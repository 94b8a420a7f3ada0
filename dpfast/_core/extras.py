"""The import of optional libraries, which only some calls need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import MissingExtraError


def extra(name: str, purpose: str) -> Any:
    """Return a module of an optional library, or raise an error with the command to install it.

    Parameters
    ----------
    name : str
        The name of the module.
    purpose : str
        The feature that needs the module, for the message.

    Returns
    -------
    module

    Raises
    ------
    MissingExtraError
        If the module cannot be imported.

    Examples
    --------
    >>> from dpfast.extend import extra
    >>> extra("math", "an example").sqrt(4)
    2.0
    """
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0].replace("_", "-")
        raise MissingExtraError(f"{purpose} needs {package}: pip install {package}") from None
