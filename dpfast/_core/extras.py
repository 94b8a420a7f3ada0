"""Optional libraries, which only some calls need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import MissingExtraError


def extra(name: str, purpose: str) -> Any:
    """Return a module of an optional library, or raise an error that says how to install it.

    Parameters
    ----------
    name : str
        The name of the module.
    purpose : str
        The feature that needs it, for the message.

    Returns
    -------
    module

    Raises
    ------
    MissingExtraError
        If it cannot be imported; the message shows the command that installs it.

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
