"""Warnings about public facts, which point at the line of the caller.

A warning depends on arguments and types, never on rows, and comes before the spend.
"""

from __future__ import annotations

import os
import sys
import warnings
from contextvars import ContextVar

from ..errors import PrivacyAdvice

#: Whether calls are parts of one release. Such calls do not warn: the release has done so, and the
#: number of the calls may be secret.
SILENT: ContextVar[bool] = ContextVar("silent", default=False)
#: The directory of this package.
PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


def advise(text: str) -> None:
    """Warn about a public fact, at the innermost line of code outside of this package.

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
