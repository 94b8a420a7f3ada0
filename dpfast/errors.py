"""Every exception and warning that a user of dpfast can meet.

Errors about arguments come before any budget is spent. `DataError` is different: it depends on the
data, so it is an answer; it comes after the spend, and the spend stands.
"""

from __future__ import annotations

from typing import NoReturn

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "BudgetError",
    "DataError",
    "DpfastError",
    "EntropyError",
    "LedgerBusyError",
    "LedgerError",
    "MissingExtraError",
    "NativeError",
    "SlowWarning",
    "SourceError",
    "StreamError",
    "WorkerError",
]


class DpfastError(Exception):
    """Base class of all errors raised on purpose by dpfast."""


class ArgumentError(DpfastError, ValueError):
    """An argument breaks a rule; the message names the argument, the rule and the value."""


class ArgumentTypeError(DpfastError, TypeError):
    """An argument is of a kind that cannot be used at all."""


class SourceError(DpfastError, OSError):
    """A file or a column is not there, or cannot be read."""


class MissingExtraError(DpfastError, ImportError):
    """An optional library is missing; the message carries the line that installs it."""


class EntropyError(DpfastError, RuntimeError):
    """The operating system gave no random bytes; nothing was released."""


class NativeError(DpfastError, RuntimeError):
    """The compiled kernels cannot run as asked, for instance on a forced instruction set."""


class BudgetError(DpfastError):
    """A spend was refused. Neither data nor randomness were touched.

    Or this is a forked copy of a release or of rounds that another process has paid for.
    """


class LedgerError(DpfastError, OSError):
    """The file of a ledger cannot be used: not there, no ledger, damaged, newer, or not writable.

    Neither data nor randomness were touched. Whether the spend was recorded is certain only when
    the file can be read again; it is never less than what was released.
    """


class LedgerBusyError(LedgerError, TimeoutError):
    """Another process has kept the ledger locked for longer than `timeout`. Nothing was spent."""


class DataError(DpfastError):
    """The data hold what the call does not allow (NaN under ``nan="raise"``).

    Or a function of the user's gave two answers to one question about them, or what stands beside
    rows whose number is private is not as many. That is an answer which depends on the data, so the
    spent budget is not refunded, which every message says.
    """

    def __str__(self) -> str:
        return f"{super().__str__()}. This depends on the data: the spent budget is not refunded"


class StreamError(DpfastError):
    """A stream of queries gives no more answers: it has halted, or this is a forked copy of it.

    Nothing of its state has changed.
    """


class WorkerError(DpfastError, RuntimeError):
    """No worker process can be started, or none gets as far as the user's function."""


class SlowWarning(UserWarning):
    """The call does what it should, but there is a much faster way, which the message names."""


def _show(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python is willing to print
        text = f"<{type(value).__name__} too long to show>"
    except Exception:  # objects of other libraries may raise anything
        text = f"<{type(value).__name__}>"
    text = " ".join(text.split()) if "\n" in text else text  # a message is one line
    return text if len(text) <= 80 else text[:77] + "..."


def fail(name: str, rule: str, value: object) -> NoReturn:
    """Raise the one message about a bad value, and no other that led to it."""
    raise ArgumentError(f"{name} must be {rule}, got {_show(value)}") from None


def fail_type(name: str, rule: str, value: object) -> NoReturn:
    """Raise the one message about a value of the wrong kind."""
    kind = type(value).__name__
    raise ArgumentTypeError(f"{name} must be {rule}, got {_show(value)} ({kind})") from None


def fail_kind(name: str, rule: str, data: object, why: str = "") -> NoReturn:
    """Raise the one message about data of the wrong kind. It shows their type and none of them."""
    kind = f"an object of type {type(data).__name__}"
    raise ArgumentTypeError(f"{name} must be {rule}, got {kind}{why}") from None
