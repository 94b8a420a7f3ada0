"""The command line: it parses options and prints one JSON object or a table."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterable, Sequence
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
from .shared import TEXT, TEXT_DEFAULTS, Delta, Epsilon, Json, Rho, number, option, set_options

# What a command needs of the library is imported when it runs, so that help appears at once.

#: What the shell sees; the command's help lists them.
ARGUMENT, FILE, BUDGET, OTHER, INTERRUPTED = 2, 3, 4, 1, 130

EXITS = (
    "Exit codes: 0 done, 2 a bad argument, 3 a file or column that cannot be read, 4 the budget "
    "is too small, 5 the data hold what is not allowed (missing values under --nan raise), "
    "1 anything else."
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
    """Return a replacement number, or a word."""
    try:
        return float(text)
    except ValueError:
        return text


def _edge(text: str) -> Any:
    """Return a number, or a date or time."""
    try:
        return float(text)
    except ValueError:
        return datetime.fromisoformat(text) if len(text) > 10 else date.fromisoformat(text)


def _limit(text: str) -> Any:
    """Return a bound on rows or groups, or the word for one of the data's own."""
    if text == AUTO:
        return AUTO
    if not (text.isascii() and text.isdecimal()):
        raise typer.BadParameter(f"it must be a whole number or auto, got {text!r}")
    return int(text)


def _bounds(text: str) -> Any:
    """Return a pair of numbers or times, or several, or the word for bounds of the data's own."""
    if text == AUTO:
        return AUTO
    try:
        first, last, *more = map(_edge, text.split(","))
        pairs = list(zip(more[::2], more[1::2], strict=True))
    except ValueError:
        raise typer.BadParameter(f"it must be two numbers, got {text!r}") from None
    return [(first, last), *pairs] if pairs else (first, last)


def _value(text: str) -> Any:
    """Return a truth value, a number, or else the text; what is in quotes is text."""
    from ..words import truth_or_value

    return truth_or_value(text)


def _bins(text: str) -> Any:
    """Return the number of bins, or their edges."""
    edges = [number(edge) for edge in text.split(",")]
    return int(text) if text.isascii() and text.isdecimal() else edges


def _spelled(arguments: Sequence[str]) -> list[str]:
    """Return arguments in which two words for bounds, or one, are one as "LO,HI"."""
    words, found = list(arguments), []
    while words:
        found.append(words.pop(0))
        if found[-1] in ("--bounds", "--per-unit") and words:
            first = words.pop(0)
            is_whole = first == AUTO or "," in first or not words
            found[-1] += f"={first}" if is_whole else f"={first},{words.pop(0)}"
    return found


def _version(asked: bool) -> None:
    if asked:
        from importlib import metadata

        print(f"dpfast {metadata.version('dpfast')}")
        raise typer.Exit


#: The options of all statistics, in the order of their help.
OPTIONS: dict[str, Any] = {
    "files": Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="A .parquet, .arrow, .feather, .csv (also .csv.gz, .csv.zip) or .npy file; a "
            "directory of Parquet, Arrow or text files; or several of these.",
        ),
    ],
    "of": option(
        str, "STATISTIC", "What is compared, such as mean: it takes the options of its own command."
    ),
    "q": option(
        Any, "NUMBER", "From 0 to 1, of a percentile to 100; 2/3 is exact.", parser=number
    ),
    "qs": option(
        list[Any], "NUMBER", "From 0 to 1; once for each quantile.", "--q", parser=number
    ),
    "k": option(int, "N", "How many keys."),
    "bins": option(
        Any,
        "N or EDGES",
        "The number of bins between the bounds, or public edges such as 0,15,60.",
        parser=_bins,
    ),
    "categories": option(
        str,
        "WORDS",
        "Instead of bins: public words or numbers such as UA,AA,DL; in quotes what has a comma.",
    ),
    "bounds": option(
        Any,
        "LO HI",
        "Public limits of the values, known without looking at the data, also as LO,HI, or "
        "LO,HI,LO,HI of two columns; or auto, for a quarter of the loss.",
        parser=_bounds,
    ),
    "per_unit": option(
        Any,
        "LO HI",
        "Instead of --max-rows: public limits of the total of a person, also as LO,HI; or auto, "
        "for a quarter of the loss.",
        parser=_bounds,
    ),
    "nonnegative": Annotated[
        bool, typer.Option("--nonnegative", help="Answer counts below 0 as 0; that biases them.")
    ],
    "equal": option(
        Any, "VALUE", "What a row has to equal: true, a number or a word.", parser=_value
    ),
    "fan_out": option(int, "N", "How many children a node of the tree has."),
    "proportion": option(
        Any,
        "NUMBER",
        "The share of the rows that is left out, or moved, at either end; by default 0.1.",
        parser=number,
    ),
    "other": option(str, None, "The second column."),
    "columns": option(str, "COLUMNS", "The columns, such as pay,age."),
    "column": option(str | None, None, "The column; not needed when there is only one."),
    "where": option(
        list[str],
        "CONDITION",
        "Only the rows that pass: 'carrier = UA', 'delay >= 15' (also != < <= >), "
        "'carrier in UA,AA' (also not in). If given again, all must hold.",
    ),
    "epsilon": Epsilon,
    "delta": Delta,
    "rho": Rho,
    "ledger": option(
        str | None,
        "FILE",
        "Spend from this ledger, before a row is read: see dpfast budget create.",
    ),
    "neighbors": option(
        str | None,
        "add-remove|replace",
        "What one person may change: the number of rows too, or a row's content only. By default "
        "as the ledger says, else add-remove.",
    ),
    "noise": option(
        str,
        "DISTRIBUTION",
        "The noise distribution: auto, polyplace, cauchy, student-t, generalized-cauchy; with "
        "--delta also laplace, gaussian; with --rho also arsinh-normal.",
        show_default=True,
    ),
    "method": option(
        str,
        "METHOD",
        "smooth (noise), exponential (an exact draw), or auto: by the loss alone. Of several "
        "quantiles: recursive, joint or auto.",
        show_default=True,
    ),
    "granularity": option(
        Any, "NUMBER", "The answer is a public multiple of this; left out, 2 to some power.",
        parser=number,
    ),
    "nan": option(
        Any,
        "POLICY",
        "What becomes of missing values: drop, raise, lower, upper or a public number. Left out: "
        "drop where the number of rows is private, else raise. A count has keep, drop and "
        "only.",
        parser=_nan,
        show_default=True,
    ),
    "by": option(
        list[str],
        "COLUMN",
        "Release it for each group of rows: the column of their keys, once for each.",
    ),
    "keys": option(
        list[str],
        "KEYS",
        "The public keys, such as UA,AA,DL, once for each --by; or @FILE with one a line. Left "
        "out, keys are private, which takes --delta.",
    ),
    "other_key": option(
        list[str],
        "KEY",
        "With --keys: the key of one more group, of all rows with other keys or none, once for "
        "each --by.",
    ),
    "ids": option(str | None, "COLUMN", "Whose row it is. The loss is one of people then."),
    "max_groups": option(
        Any,
        "N",
        "With --by and --ids: a person counts in so many groups; or auto, for a quarter of the "
        "loss.",
        parser=_limit,
    ),
    "max_rows": option(
        Any,
        "N",
        "With --ids: so many rows of a person count, in each group of --by; or auto, for a quarter "
        "of the loss.",
        parser=_limit,
    ),
    "rows_limit": option(
        int | None,
        "N",
        "With --max-rows, and public keys: how many rows of a person there are in a group at most, "
        "where that is public; error bars then hold what is lost.",
    ),
    "rows": option(int | None, "N", "A public guess of the number of rows, for the error bar."),
    **TEXT,
    "as_json": Json,
    "as_csv": Annotated[bool, typer.Option("--csv", help="The answer alone, as a table.")],
}  # fmt: skip
#: What they are if nobody says it; others are left out.
USUAL: dict[str, Any] = {
    **{"files": Parameter.empty, "as_json": False, "as_csv": False, "nonnegative": False},
    **{"noise": "auto", "method": "auto"},
    **dict.fromkeys(("qs", "where", "by", "keys", "other_key"), ()),
    **TEXT_DEFAULTS,
}
#: What every statistic has, and what it has if there are groups of it.
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
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


# --- commands -----------------------------------------------------------------------------------


def _command(statistic: str, what: str, options: str, groups: bool = True) -> None:
    """Add the command of a statistic, with its `options` and the shared ones.

    A statistic with the option `columns` has no option `column`.
    """
    own = {
        name: default or USUAL.get(name)
        for name, _, default in (one.partition("=") for one in options.split())
    }
    has = own | {name: USUAL.get(name) for name in (*SHARED, *(GROUPS if groups else ()))}
    if "columns" in has:
        del has["column"]
    usual = {name: has[name] for name in OPTIONS if name in has}

    def command(files: list[str], **given: Any) -> None:
        from .answer import answer

        answer(statistic, files, given, usual)

    set_options(command, OPTIONS, usual)
    name = statistic.replace("_", "-")
    epilog = f"Example: dpfast {name} {_example(statistic, own)}\n\n{EXITS}"
    app.command(name, help=f"Release {what}.\n\n{PUBLIC}", epilog=epilog)(command)


def _example(statistic: str, options: Iterable[str]) -> str:
    """Return the arguments of an example."""
    if statistic in EXAMPLES:
        return EXAMPLES[statistic]
    given = [SAMPLES[name] for name in options if name in SAMPLES]
    return " ".join(["flights.parquet --column arr_delay", *given, "--epsilon 1"])


PUBLIC = (
    "What is released satisfies the privacy loss that you ask for and may be published; nothing "
    "else that depends on the rows is printed."
)
#: What examples give.
SAMPLES = {
    "q": "--q 0.9",
    "qs": "--q 0.1 --q 0.5 --q 0.9",
    "bins": "--bins 24",
    "bounds": "--bounds -60 300",
    "equal": "--equal UA",
}
#: Examples that show more.
EXAMPLES = {
    "count": "flights.parquet --by carrier --keys UA,AA,DL --epsilon 1",
    "sum": "flights.parquet --column arr_delay --bounds -60 300 --where 'carrier = UA' --epsilon 1",
    "mean": "flights.parquet --column arr_delay --bounds -60 300 --by carrier "
    "--keys @carriers.txt --ids tailnum --max-groups 3 --max-rows 20 --epsilon 1",
    "median": "jan.parquet feb.parquet --column arr_delay --bounds -60 300 --epsilon 1 "
    "--ledger study.db",
    "proportion": "flights.parquet --column carrier --equal UA --epsilon 1",
    "ratio": "flights.parquet --column arr_delay --other distance --bounds=-60,300,0,5000 "
    "--epsilon 1",
    "correlation": "flights.parquet --column arr_delay --other distance "
    "--bounds=-60,300,0,5000 --epsilon 1",
    "count_distinct": "flights.parquet --column tailnum --epsilon 1",
    "percentile": "flights.parquet --column arr_delay --q 90 --bounds -60 300 --epsilon 1",
    "covariance": "flights.parquet --columns arr_delay,distance --bounds=-60,300,0,5000 "
    "--epsilon 1",
    "difference": "flights.parquet --column arr_delay --of mean --by carrier --keys AA,UA "
    "--bounds -60 300 --epsilon 1",
    "top_k": "flights.parquet --by dest --k 5 --epsilon 1 --delta 1e-6",
    "describe": "flights.parquet --columns arr_delay,distance --epsilon 1",
    "bounds": "flights.parquet --column arr_delay --q 0.01 --epsilon 0.1",
}
for _entry in STATISTICS.values():
    if _entry.options is not None:
        _command(_entry.name, _entry.what, _entry.options, _entry.by_group)
_command("top_k", "the most frequent keys, roughly the most frequent first", "k")


@app.command()
def demo() -> None:
    """Show private medians of a public table (UCI Adult, 32,561 ages) and their costs."""
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
    """Run the command line; every error is one line on standard error, and an exit code.

    So is every warning, but for that of a call without a budget: a ledger is an option.
    """
    # The base of the parser's own errors; typer carries its copy of click or imports it.
    usage: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
    if sys.stdout is None:  # closed by the caller: a released answer would be lost
        return _fail("standard output is closed", OTHER)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name that the terminal cannot show
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
        # Keep the interpreter from complaining on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader of the output has gone
            return OTHER
        return _fail(f"the answer cannot be written: {error.strerror}", OTHER)
    except usage as error:
        message = error.format_message()  # empty when the help was asked for by no arguments
        return _fail(message, ARGUMENT) if message.strip() else ARGUMENT
    except Exception as error:  # of a library, whose text may quote a row
        from ...extend import hide_error

        return _fail(f"a fault of dpfast or a library (DPFAST_LOG): {hide_error(error)}", OTHER)
    # Some versions of typer make an exit code of Ctrl-C, others an exception.
    return _fail("interrupted", INTERRUPTED) if code == INTERRUPTED else int(code)


def _fail(message: str, code: int, kind: str = "error") -> int:
    if sys.stderr is not None:  # print() would take standard output instead
        with suppress(OSError):
            print(f"dpfast: {kind}:", printable(" ".join(message.split())), file=sys.stderr)
    return code
