"""Libraries that only some calls need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import MissingExtraError


def extra(name: str, purpose: str) -> Any:
    """Return the module `name`, which `purpose` needs.

    Raises
    ------
    MissingExtraError
        It cannot be imported; the message has the line that installs it.
    """
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0].replace("_", "-")
        raise MissingExtraError(f"{purpose} needs {package}: pip install {package}") from None
