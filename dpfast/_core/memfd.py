"""Memory without a name that other processes may map and nobody can cut short.

Of a map of a file that is cut short, a look is the end of the process. A worker runs a function of
the user's, and whatever that does to files, its parent lives on.
"""

from __future__ import annotations

import os
from contextlib import suppress

#: F_SEAL_FUTURE_WRITE of Linux, which Python does not name.
FUTURE_WRITE = 0x10


def memfd() -> int | None:
    """The descriptor of new memory, still empty; None where there is no such thing."""
    if not hasattr(os, "memfd_create"):
        return None
    return os.memfd_create("dpfast", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)


def seal(fd: int, *, written: bool) -> None:
    """Keep memory at its size; once it is `written`, from new hands too.

    Maps that are there already may still be written to.
    """
    import fcntl

    if written:
        with suppress(OSError):  # before Linux 5.1
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, FUTURE_WRITE)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
