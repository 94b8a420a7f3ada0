"""The owner's log: a file for the owner of the data, which the variable `DPFAST_LOG` names.

The log is NOT PRIVATE: it has the full errors of libraries, which may quote rows, and the time of
each pass. So it is a regular file that only its owner can read, and its logger passes nothing on to
other loggers. If the file cannot be written, the text is not shown anywhere else.
"""

from __future__ import annotations

import json
import logging
import os
import stat
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeVar

from ..errors import ArgumentError, DpfastError
from . import checks

T = TypeVar("T")
FILE, LEVEL = "DPFAST_LOG", "DPFAST_LOG_LEVEL"
LEVELS = ("debug", "info", "error")
#: The largest number of chained errors (cause or context) in a record.
MOST = 20

_logger = logging.getLogger("dpfast.owner")
_logger.propagate = False
_opening = threading.Lock()


class _Lines(logging.Handler):
    """A handler that writes each record at once, as a line of JSON, to a shared file."""

    def __init__(self, file: int) -> None:
        super().__init__()
        self._file = file

    def emit(self, record: logging.LogRecord) -> None:
        try:
            os.write(self._file, json.dumps(_facts(record), default=str).encode() + b"\n")
        except Exception:  # the text of the error may contain a part of the record
            if sys.stderr is not None:
                print("dpfast: the owner's log cannot be written", file=sys.stderr)

    def close(self) -> None:
        # Wait until no record is being written, because the next open file may get the same number.
        self.acquire()
        os.close(self._file)
        self._file = -1
        self.release()
        super().close()


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    facts = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
        "level": record.levelname.lower(),
        "event": record.getMessage(),
        **vars(record).get("facts", {}),
        "process": record.process,
        "thread": record.threadName,
    }
    error, errors = record.exc_info[1] if record.exc_info else None, list[str]()
    while error is not None and len(errors) < MOST:  # also causes that `from None` hides elsewhere
        errors.append("".join(traceback.format_exception(error, chain=False)))
        error = error.__cause__ or error.__context__
    return facts | ({"errors": errors} if errors else {})


@lru_cache(1)
def _opened(path: str, level: str) -> logging.Logger:
    """Open the owner's log; refuse a bad file or level in the environment."""
    checks.choice(LEVEL, level, LEVELS)
    try:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    except (OSError, ValueError):
        checks.fail(FILE, "a writable file", path)
    mode = os.fstat(file).st_mode
    if not stat.S_ISREG(mode) or (os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO)):
        os.close(file)
        checks.fail(FILE, "a regular file that nobody else can read (mode 0600)", path)
    for before in list(_logger.handlers):
        _logger.removeHandler(before)
        before.close()
    lines = _Lines(file)
    _logger.addHandler(lines)
    _logger.setLevel(level.upper())
    return _logger


#: The file and the level from the environment, if there are any.
named: tuple[str, str] | None = None


def read_environment() -> None:
    """Read the file and the level of the log from the environment, only once, which is fast."""
    global named
    path = os.environ.get(FILE)
    named = (path, os.environ.get(LEVEL, "info")) if path else None


read_environment()


def _log() -> logging.Logger | None:
    """Return the owner's log, or None if the environment names no file."""
    if named is None:
        return None
    with _opening:  # without the lock, two threads could open the file, and one close the other's
        return _opened(*named)


def _peak_memory() -> int | None:
    """Return the peak memory of this process in bytes, None if the system does not report it."""
    try:
        import resource
    except ImportError:  # on Windows
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10


def write(event: str, level: int = logging.INFO, **facts: Any) -> None:
    """Write a record to the owner's log, if there is one."""
    log = _log()
    if log is not None:
        log.log(level, event, extra={"facts": facts})


def begin() -> float:
    """Return the time now, for `end`; refuse a log that cannot be written.

    Raises
    ------
    ArgumentError
        If the environment names a file that cannot be the log.
    """
    _log()
    return time.perf_counter()


def end(event: str, began: float, **facts: Any) -> None:
    """Write to the log, if there is one, how long an event took, and any error in flight."""
    log, error = _log(), sys.exc_info()[1]
    if log is not None:
        facts |= {"seconds": time.perf_counter() - began, "peak_memory": _peak_memory()}
        level = logging.INFO if error is None else logging.ERROR
        log.log(level, event, exc_info=error, extra={"facts": facts})


@contextmanager
def timed(event: str, **facts: Any) -> Iterator[dict[str, Any]]:
    """Write to the log, if there is one, how long a ``with`` block took, and its error.

    Yields
    ------
    dict
        The facts of the record, to which the block may add.
    """
    began = begin()
    try:
        yield facts
    finally:
        end(event, began, **facts)


def hide_error(error: BaseException) -> str:
    """Return a safe message for an error whose text may quote rows, and log the whole error.

    Raise your own error with this message *after* the ``except`` block. Otherwise Python shows the
    first error as the context of yours.

    Parameters
    ----------
    error : BaseException

    Returns
    -------
    str
        The class name of the error; for an error of the operating system, its reason. If there is
        an owner's log (the variable ``DPFAST_LOG``), the message says that the log has the full
        error.

    Raises
    ------
    ArgumentTypeError
        If `error` is not an exception.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.extend.hide_error(ValueError("row 7 holds 'Ada'"))
    'ValueError'
    """
    if not isinstance(error, BaseException):
        checks.fail_type("error", "an exception", error)
    kind = type(error).__name__
    if isinstance(error, OSError) and error.errno:
        kind = os.strerror(error.errno)
    with suppress(ArgumentError):  # a release has refused a bad log before its spend
        log = _log()
        if log is not None:
            log.error("hidden error", exc_info=error)
            return f"{kind}; the owner's log has it in full"
    return kind


def hiding(run: Callable[[], T], refusal: Callable[[str], Exception]) -> T:
    """Return the result of `run`; in place of an error that may quote rows, raise `refusal`.

    The first error is dropped before, so that it is not the context of the second.
    """
    try:
        return run()
    except (DpfastError, MemoryError):
        raise
    except Exception as error:
        kind = hide_error(error)
    raise refusal(kind)
