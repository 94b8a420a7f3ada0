"""Every exception and warning that a user of dpfast can meet.

Errors about arguments come before any budget is spent. `DataError` is different: it depends on the
data, so it is an answer; it comes after the spend, and the spend stands.
"""

from __future__ import annotations

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
    budget that was spent stays spent.
    """


class StreamError(DpfastError):
    """A stream of queries gives no more answers: it has halted, or this is a forked copy of it.

    Nothing of its state has changed.
    """


class WorkerError(DpfastError, RuntimeError):
    """No worker process can be started, or none gets as far as the user's function."""


class SlowWarning(UserWarning):
    """The call does what it should, but there is a much faster way, which the message names."""
