"""Anonymous memory that other processes may map and cannot truncate.

Reading a mapped file that was truncated kills the process. A worker runs a function of the user,
and the parent must survive whatever that function does to files.
"""

from __future__ import annotations

import os
from contextlib import suppress

#: F_SEAL_FUTURE_WRITE of Linux, which Python does not name.
FUTURE_WRITE = 0x10


def memfd() -> int | None:
    """Return a descriptor of new, empty memory, or None where the system has no memfd."""
    if not hasattr(os, "memfd_create"):
        return None
    return os.memfd_create("dpfast", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)


def seal(fd: int, *, written: bool) -> None:
    """Forbid to resize a memory file and, once it is `written`, to map it for writing.

    Existing maps may still be written to.
    """
    import fcntl

    if written:
        with suppress(OSError):  # before Linux 5.1
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, FUTURE_WRITE)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
