"""The command line: it parses options and prints one JSON object or a table."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import cache
from inspect import Parameter
from typing import Annotated, Any

import typer

from ... import STATISTICS
from ...errors import (
    ArgumentError,
    BudgetError,
    DataError,
    DpfastError,
    LedgerError,
    SourceError,
    printable,
)
from . import job
from .audit import audit
from .budget import app as budget
from .budget import label
from .check import DATA, check
from .shared import ABOUT, TEXT, TEXT_DEFAULTS, number, option, set_options

# What a command needs of the library is imported when it runs, so that help appears at once.

#: Exit codes; the help of each command lists them.
ARGUMENT, FILE, BUDGET, OTHER, INTERRUPTED = 2, 3, 4, 1, 130

EXITS = (
    "Exit codes: 0 done, 2 a bad argument, 3 a file or column that cannot be read, 4 the budget "
    "is too small, 5 the data hold values that are not allowed (such as missing ones under --nan "
    "raise), 1 anything else."
)

#: Bounds that are found in the data.
AUTO = "auto"

app = typer.Typer(
    name="dpfast",
    help="Differentially private statistics of columns of any size.",
    epilog="Start with: dpfast demo",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


# --- options ------------------------------------------------------------------------------------


def _nan(text: str) -> Any:
    """Read the option --nan: a number that replaces NaN, or a word such as "drop"."""
    try:
        return float(text)
    except ValueError:
        return text


def _edge(text: str) -> Any:
    """Read one bound: a number, a date or a time."""
    try:
        return float(text)
    except ValueError:
        return datetime.fromisoformat(text) if len(text) > 10 else date.fromisoformat(text)


def _limit(text: str) -> Any:
    """Read a bound on rows or groups: a whole number, or "auto" to draw one from the data."""
    if text == AUTO:
        return AUTO
    if not (text.isascii() and text.isdecimal()):
        raise typer.BadParameter(f"it must be a whole number, or auto, got {text!r}")
    return int(text)


def _bounds(text: str) -> Any:
    """Read bounds: one or more pairs of numbers or times, or "auto" to draw them from the data."""
    if text == AUTO:
        return AUTO
    try:
        first, last, *more = map(_edge, text.split(","))
        pairs = list(zip(more[::2], more[1::2], strict=True))
    except ValueError:
        raise typer.BadParameter(f"it must be two numbers, got {text!r}") from None
    return [(first, last), *pairs] if pairs else (first, last)


def _value(text: str) -> Any:
    """Read a value: true or false, a number, or else a text; a text in quotes stays a text."""
    from ..words import truth_or_value

    return truth_or_value(text)


def _bins(text: str) -> Any:
    """Read the option --bins: the number of bins, or their edges."""
    edges = [number(edge) for edge in text.split(",")]
    return int(text) if text.isascii() and text.isdecimal() else edges


def _spelled(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with ``--bounds LO HI`` joined into ``--bounds=LO,HI``, for Typer."""
    words, spelled = list(arguments), []
    while words:
        spelled.append(words.pop(0))
        if spelled[-1] in ("--bounds", "--per-unit") and words:
            first = words.pop(0)
            is_whole = first == AUTO or "," in first or not words
            spelled[-1] += f"={first}" if is_whole else f"={first},{words.pop(0)}"
    return spelled


def _version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib import metadata

        print(f"dpfast {metadata.version('dpfast')}")
        raise typer.Exit


#: The functions that convert the texts of options to values.
PARSERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("q", "qs", "proportion", "granularity", "epsilon", "delta", "rho"), number),
    **{"coverage": number, "bins": _bins, "equal": _value, "nan": _nan},
    **{"bounds": _bounds, "per_unit": _bounds, "max_groups": _limit, "max_rows": _limit},
}
#: The options of all statistics, in the order of their help.
OPTIONS = {name: option(name, PARSERS.get(name)) for name in ABOUT["options"]}
#: The defaults of options; an option without one here is left out if it is not given.
USUAL: dict[str, Any] = {
    **{"files": Parameter.empty, "as_json": False, "as_csv": False, "nonnegative": False},
    **{"interval": False, "noise": "auto", "method": "auto"},
    **dict.fromkeys(("qs", "where", "by", "keys", "other_key"), ()),
    **TEXT_DEFAULTS,
}
#: The options of every statistic, and the options of statistics that have groups.
SHARED = (
    *("files", "column", "where", "epsilon", "delta", "rho", "ledger", "neighbors"),
    *("ids", "max_rows", "rows", *TEXT, "as_json", "as_csv"),
)
GROUPS = ("by", "keys", "other_key", "max_groups", "rows_limit")


app.add_typer(budget, name="budget")
app.command("label", epilog="Example: dpfast label study.db > study.yaml")(label)
app.command("run", epilog="Example: dpfast run job.toml --json\n\n" + EXITS)(job.run)
app.command("explain", epilog="Example: dpfast explain job.toml\n\n" + EXITS)(job.explain)

app.command(
    "check",
    epilog="Example: dpfast check flights.csv --columns arr_delay,distance --missing NA,-\n\n"
    "Exit codes: 0 no faults, 5 faults, 2 a bad argument, 3 a file or column that cannot be read.",
)(check)

app.command(
    "audit",
    epilog="Example: dpfast audit mine.statistics:mean --epsilon 1 --bounds 0 120\n\n"
    "Exit codes: 0 not refuted, 6 refuted, 2 a bad argument.",
)(audit)


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


# --- commands -----------------------------------------------------------------------------------


def _command(statistic: str, what: str, options: str, groups: bool = True) -> None:
    """Add the command of a statistic, with its `options` and the shared ones.

    A statistic with the option `columns` has no option `column`.
    """
    defaults = {
        name: default or USUAL.get(name)
        for name, _, default in (word.partition("=") for word in options.split())
    }
    has = defaults | {name: USUAL.get(name) for name in (*SHARED, *(GROUPS if groups else ()))}
    if "columns" in has:
        del has["column"]
    usual = {name: has[name] for name in OPTIONS if name in has}

    def command(files: list[str], **values: Any) -> None:
        from .answer import answer

        answer(statistic, files, values, usual)

    set_options(command, OPTIONS, usual)
    name = statistic.replace("_", "-")
    epilog = f"Example: dpfast {name} {_example(statistic, defaults)}\n\n{EXITS}"
    app.command(name, help=f"Release {what}.\n\n{PUBLIC}", epilog=epilog)(command)


def _example(statistic: str, options: Iterable[str]) -> str:
    """Return the arguments of the example in the help of a statistic's command."""
    samples = ABOUT["samples"]
    sampled = [samples[name] for name in options if name in samples]
    usual = " ".join(["flights.parquet --column arr_delay", *sampled, "--epsilon 1"])
    return str(ABOUT["examples"].get(statistic, usual))


PUBLIC = (
    "The answer satisfies the privacy loss that you ask for, and may be published. Nothing else "
    "that depends on the rows is printed."
)
for _entry in STATISTICS.values():
    if _entry.options is not None:
        _command(_entry.name, _entry.what, _entry.options, _entry.by_group)
_command("top_k", "the most frequent keys, roughly the most frequent first", "k")


@app.command()
def demo() -> None:
    """Show private medians of a public table (UCI Adult, 32,561 ages) with losses and errors."""
    from .demo import show

    show()


# --- errors -------------------------------------------------------------------------------------


#: Exit codes by kind of error; the first that fits counts.
CODES: dict[Any, int] = {
    (SourceError, LedgerError): FILE,
    BudgetError: BUDGET,
    DataError: DATA,
    (ArgumentError, TypeError, ImportError): ARGUMENT,
    DpfastError: OTHER,
}


def run(arguments: Sequence[str]) -> int:
    """Run the command line. Every error is one line on standard error, with an exit code.

    Every warning is one line, too. The warning about a call without a budget is not shown, because
    a ledger is an option.
    """
    # The base class of the parser's errors. Typer contains a copy of click, or imports it.
    usage: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
    if sys.stdout is None:  # the caller has closed it: a released answer would be lost
        return _fail("standard output is closed", OTHER)
    # So that names the terminal cannot show do not raise an error.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no budget pays")
            say: Any = cache(_fail)
            warnings.showwarning = lambda text, *_, **more: say(str(text), OTHER, "warning")
            code = app(args=_spelled(arguments), prog_name="dpfast", standalone_mode=False) or 0
        sys.stdout.flush()
    except DpfastError as error:
        code = next(code for kinds, code in CODES.items() if isinstance(error, kinds))
        return _fail(str(error), code)
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except OSError as error:
        # So that the interpreter does not report an error when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the program that reads the output has ended
            return OTHER
        return _fail(f"the answer cannot be written: {error.strerror}", OTHER)
    except usage as error:
        # Empty if the command was called without arguments and printed its help.
        message = error.format_message()
        return _fail(message, ARGUMENT) if message.strip() else ARGUMENT
    except Exception as error:  # an error of a library, whose text may quote a row
        from ...extend import hide_error

        return _fail(f"a fault of dpfast or a library (DPFAST_LOG): {hide_error(error)}", OTHER)
    # Typer returns an exit code for Ctrl-C in some versions, and raises an exception in others.
    return _fail("interrupted", INTERRUPTED) if code == INTERRUPTED else int(code)


def _fail(message: str, code: int, kind: str = "error") -> int:
    if sys.stderr is not None:  # print(file=None) would write to standard output
        with suppress(OSError):
            print(f"dpfast: {kind}:", printable(" ".join(message.split())), file=sys.stderr)
    return code
