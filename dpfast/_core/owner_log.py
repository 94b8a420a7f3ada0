"""The owner's log: text that an analyst must not read, in a file that `DPFAST_LOG` names.

It is NOT PRIVATE: it quotes errors of libraries, which may quote rows, and says how long each pass
took. So it is one regular file that only its owner can read, written by a logger that passes
nothing on to other loggers. If it cannot be written, nothing of the text is shown.
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
#: The most errors of one chain (cause or context) in a record.
MOST = 20

_logger = logging.getLogger("dpfast.owner")
_logger.propagate = False
_opening = threading.Lock()


class _Lines(logging.Handler):
    """A handler that writes each record at once, as a line of JSON, to a file of all processes."""

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
        # Waits until no record is being written: a file opened next could get the same number.
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
    """Open the owner's log, or refuse the file or the level that the environment names."""
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


#: The file and the level that environment variables name, if any.
named: tuple[str, str] | None = None


def read_environment() -> None:
    """Read the log's file and level from the environment, once, to keep small releases fast."""
    global named
    path = os.environ.get(FILE)
    named = (path, os.environ.get(LEVEL, "info")) if path else None


read_environment()


def _log() -> logging.Logger | None:
    """Return the owner's log if the environment names one."""
    if named is None:
        return None
    with _opening:  # without it two threads could each open the file, and close that of the other
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
    """Return the time at which an event begins; refuse a log that cannot be written.

    Raises
    ------
    ArgumentError
        If the environment names a file that is no log.
    """
    _log()
    return time.perf_counter()


def end(event: str, began: float, **facts: Any) -> None:
    """Write to the log, if any, how long an event took and the error that is being raised."""
    log, error = _log(), sys.exc_info()[1]
    if log is not None:
        facts |= {"seconds": time.perf_counter() - began, "peak_memory": _peak_memory()}
        level = logging.INFO if error is None else logging.ERROR
        log.log(level, event, exc_info=error, extra={"facts": facts})


@contextmanager
def timed(event: str, **facts: Any) -> Iterator[dict[str, Any]]:
    """Write to the log, if any, how long a ``with`` block took and the error that it raised.

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
    """Return a message for an error whose text may quote rows, and log the whole error.

    Raise an error of your own with this text *after* the ``except`` block, so that the first one
    is not its context.

    Parameters
    ----------
    error : BaseException

    Returns
    -------
    str
        The operating system's reason, or the class name of the error; if ``DPFAST_LOG`` names a
        log, a remark that the owner's log has more.

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
    with suppress(ArgumentError):  # a release refuses such a log before it spends
        log = _log()
        if log is not None:
            log.error("hidden error", exc_info=error)
            return f"{kind}; the owner's log has it in full"
    return kind


def hiding(run: Callable[[], T], refusal: Callable[[str], Exception]) -> T:
    """Return the result of `run`, or raise `refusal` with the kind of an error that may quote rows.

    The first error is let go before, so that it is no context of the second: it may quote a row.
    """
    try:
        return run()
    except (DpfastError, MemoryError):
        raise
    except Exception as error:
        kind = hide_error(error)
    raise refusal(kind)
