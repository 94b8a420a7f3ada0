"""Exceptions and warnings of dpfast.

Errors about arguments come before any budget is spent. `DataError` depends on the data, so it is an
answer: it comes after the spend, and the spent budget is not refunded.
"""

from __future__ import annotations

import datetime
import numbers
import os
from itertools import chain, islice
from types import BuiltinFunctionType, FunctionType, NoneType
from typing import NoReturn

import numpy as np

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "BudgetError",
    "DataError",
    "DpfastError",
    "EntropyError",
    "LedgerBusyError",
    "LedgerError",
    "LedgerMissingError",
    "MissingExtraError",
    "NativeError",
    "PrivacyAdvice",
    "SlowWarning",
    "SourceError",
    "StreamError",
    "WorkerError",
    "printable",
]


#: The most characters of a text that is printed on a terminal.
MOST = 2000
#: The most characters of a value in a message.
SHOWN = 80
#: Types whose values a message may show. Other objects, such as a series that was passed by
#: mistake, could show rows.
ARGUMENTS = (
    *(str, bytes, bytearray, range, slice, type, NoneType, FunctionType, BuiltinFunctionType),
    *(numbers.Number, np.generic, datetime.date, datetime.time, datetime.timedelta, os.PathLike),
)


def printable(text: str, most: int = MOST) -> str:
    """Return a text that a terminal can show, for any name of a column or a key.

    Characters that are not printable are escaped, as ``\\x1b``; a long text is cut in its middle.

    Parameters
    ----------
    text : str
    most : int, optional
        The largest number of characters, at least 4.

    Returns
    -------
    str

    Raises
    ------
    TypeError
        If `text` is not a string.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.errors.printable("a" + chr(27) + "b")
    'a\\\\x1bb'
    """
    if len(text) > most:
        text = f"{text[: most * 3 // 4]}...{text[-(most // 4 - 3) :]}"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class DpfastError(Exception):
    """Base class of all errors raised on purpose by dpfast."""

    def __str__(self) -> str:
        return printable(super().__str__())


class ArgumentError(DpfastError, ValueError):
    """An argument breaks a rule. The message names the argument, the rule and the value."""


class ArgumentTypeError(DpfastError, TypeError):
    """An argument has a type that cannot be used."""


class SourceError(DpfastError, OSError):
    """A file or a column does not exist, or cannot be read."""


class MissingExtraError(DpfastError, ImportError):
    """An optional library is missing. The message shows the command that installs it."""


class EntropyError(DpfastError, RuntimeError):
    """The operating system gave no random bytes. Nothing was released."""


class NativeError(DpfastError, RuntimeError):
    """The compiled kernels cannot run, for instance because of a forced instruction set."""


class BudgetError(DpfastError):
    """A spend was refused. No rows were read, and no random bits were drawn.

    A forked child process also gets this error if its parent has paid for the release.
    """


class LedgerError(DpfastError, OSError):
    """The file of a ledger is missing, damaged, of a newer version, not writable, or not a ledger.

    No rows were read, and no random bits were drawn. Whether the spend was recorded is certain only
    after the file can be read again. A ledger always has an entry for each release.
    """


class LedgerBusyError(LedgerError, TimeoutError):
    """Another process kept the ledger locked for longer than `timeout`. Nothing was spent."""


class LedgerMissingError(LedgerError):
    """There is no ledger: no file, or a blank one that a kill during its creation has left."""


class DataError(DpfastError):
    """The data hold something that the call does not allow, such as NaN under ``nan="raise"``.

    It is also raised if a function of the user gives two answers to one query. If the number of
    rows is private, it is also raised for a mask or a column of another length. Such an error
    depends on the data, so it is an answer, and the spent budget is not refunded. Every message
    says so.
    """

    def __str__(self) -> str:
        text = super().__str__()
        said = "This depends on the data, so a spent budget is not refunded"
        return text if said in text else f"{text}. {said}"


class StreamError(DpfastError):
    """A stream of queries gives no more answers, because it has halted, or because of a fork.

    The state of the stream has not changed.
    """


class WorkerError(DpfastError, RuntimeError):
    """No worker process can be started, or no worker process can load the function of the user.

    The first worker starts before the spend. If the system refuses a later worker, the spend is not
    refunded.
    """


class SlowWarning(UserWarning):
    """A warning: the call is correct but slow. The message names a much faster way."""


class PrivacyAdvice(UserWarning):
    """A warning: the call is correct, but promises little privacy, or gives mostly noise.

    The warning comes before the spend. It depends on public arguments and types, never on rows. The
    message names the problem, the reason and a remedy. Silence it like any warning:
    ``warnings.simplefilter("ignore", dp.PrivacyAdvice)``.
    """


def _holds_no_rows(value: object) -> bool:
    """Tell whether a value may be shown in a message, because it cannot show rows."""
    if isinstance(value, dict):
        value = list(chain(value, value.values()))
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(_holds_no_rows, islice(value, SHOWN)))
    return isinstance(value, ARGUMENTS) or type(value).__module__.startswith("dpfast.")


def _show(value: object) -> str:
    try:
        text = repr(value) if _holds_no_rows(value) else f"<{type(value).__name__}>"
    except ValueError:  # Python refuses to print such long integers
        text = f"<{type(value).__name__} too long to show>"
    except Exception:  # objects of other libraries may raise any error
        text = f"<{type(value).__name__}>"
    text = " ".join(text.split()) if "\n" in text else text  # a message is one line
    return printable(text if len(text) <= SHOWN else text[: SHOWN - 3] + "...")


def fail(name: str, rule: str, value: object, more: str = "") -> NoReturn:
    """Raise an error about a bad value, without a preceding error as its context.

    Parameters
    ----------
    name, rule : str
        The name of the argument, and its rule.
    value : object
        The value of the argument.
    more : str, optional
        Text that is added at the end of the message.

    Returns
    -------
    Never.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> from dpfast.extend import checks
    >>> checks.fail("scale", "greater than 0", -1)
    Traceback (most recent call last):
    dpfast.errors.ArgumentError: scale must be greater than 0, got -1
    """
    raise ArgumentError(f"{name} must be {rule}, got {_show(value)}{more}") from None


def fail_type(name: str, rule: str, value: object) -> NoReturn:
    """Raise an error about a value of the wrong type.

    Parameters
    ----------
    name, rule : str
        The name of the argument, and its rule.
    value : object
        The value of the argument.

    Returns
    -------
    Never.

    Raises
    ------
    ArgumentTypeError

    Examples
    --------
    >>> from dpfast.extend import checks
    >>> checks.fail_type("scale", "a number", "1")
    Traceback (most recent call last):
    dpfast.errors.ArgumentTypeError: scale must be a number, got '1' (str)
    """
    kind = type(value).__name__
    raise ArgumentTypeError(f"{name} must be {rule}, got {_show(value)} ({kind})") from None


def fail_kind(name: str, rule: str, data: object, why: str = "") -> NoReturn:
    """Raise an error about data of the wrong type. The message shows the type and no data.

    Parameters
    ----------
    name, rule : str
        The name of the argument, and its rule.
    data : object
        The value of the argument.
    why : str, optional
        Text that is added at the end of the message.

    Returns
    -------
    Never.

    Raises
    ------
    ArgumentTypeError

    Examples
    --------
    >>> from dpfast.extend import checks
    >>> checks.fail_kind("rows", "an array", None)
    Traceback (most recent call last):
    dpfast.errors.ArgumentTypeError: rows must be an array, got an object of type NoneType
    """
    kind = f"an object of type {type(data).__name__}"
    raise ArgumentTypeError(f"{name} must be {rule}, got {kind}{why}") from None
