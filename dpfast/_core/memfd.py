"""Anonymous memory that other processes can map, but not truncate.

A process that reads a mapped file is killed if the file was truncated. A worker process runs a
function of the user, and its parent must survive whatever this function does to files.
"""

from __future__ import annotations

import os
from contextlib import suppress

#: F_SEAL_FUTURE_WRITE of Linux, which Python does not name.
FUTURE_WRITE = 0x10


def memfd() -> int | None:
    """Return a file descriptor of new, empty memory; None if the system has no memfd."""
    if not hasattr(os, "memfd_create"):
        return None
    return os.memfd_create("dpfast", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)


def seal(fd: int, *, written: bool) -> None:
    """Forbid to resize a memory file and, if it is `written`, to map it for writing.

    Existing maps can still be written.
    """
    import fcntl

    if written:
        with suppress(OSError):  # before Linux 5.1
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, FUTURE_WRITE)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
