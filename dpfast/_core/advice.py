"""Advice about public facts: warnings that point at the line of the caller.

Advice depends on arguments and types alone, never on rows, and is given before a spend.
"""

from __future__ import annotations

import os
import sys
import warnings
from contextvars import ContextVar

from ..errors import PrivacyAdvice

#: Whether the calls are parts of one release, which has already given all advice. The number of
#: these calls may be secret, so they give none.
SILENT: ContextVar[bool] = ContextVar("silent", default=False)
#: The directory of this package.
PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


def advise(text: str) -> None:
    """Warn of a public fact, at the innermost line of code outside of this package.

    Parameters
    ----------
    text : str
        The problem, the reason and a remedy, in under 30 words.
    """
    if SILENT.get():
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, PrivacyAdvice, stacklevel=level)
