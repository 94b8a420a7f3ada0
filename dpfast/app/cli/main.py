"""The command line: it parses options and prints one JSON object or a table."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer

from ...errors import ArgumentError, BudgetError, DataError, DpfastError, LedgerError, SourceError
from . import job
from .budget import app as budget
from .shared import Delta, Epsilon, Json, Rho, number

# What a command needs of the library is imported when it runs, so that help appears at once.

#: What the shell sees; the command's help lists them.
ARGUMENT, FILE, BUDGET, DATA, OTHER, INTERRUPTED = 2, 3, 4, 5, 1, 130

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


def _bounds(lo: str, hi: str) -> Any:
    """Return a pair of numbers, or the word that `_spelled` has made two."""
    if lo == hi == AUTO:
        return AUTO
    try:
        return float(lo), float(hi)
    except ValueError:
        raise typer.BadParameter(f"'--bounds' must be two numbers, got {lo!r} {hi!r}") from None


def _spelled(arguments: Sequence[str]) -> list[str]:
    """Return arguments in which the bounds "auto" are two words, as bounds are for the parser."""
    found: list[str] = []
    for word in arguments:
        after = found[-1:] == ["--bounds"]
        if after and word == AUTO:
            found += [AUTO, AUTO]
        elif word == f"--bounds={AUTO}":
            found += ["--bounds", AUTO, AUTO]
        else:
            found.append(word)
    return found


def _version(asked: bool) -> None:
    if asked:
        from importlib import metadata

        print(f"dpfast {metadata.version('dpfast')}")
        raise typer.Exit


def _option(
    kind: Any, metavar: str | None, help: str, default: Any = Parameter.empty, **more: Any
) -> tuple[Any, Any]:
    return Annotated[kind, typer.Option(metavar=metavar, help=help, **more)], default


def _q(kind: Any, help: str) -> tuple[Any, Any]:
    return _option(kind, "NUMBER", help, parser=number, show_default=False)


#: The options of a statistic, in the order of their help: what each is, and its default.
OPTIONS: dict[str, Any] = {
    "file": (
        Annotated[
            str,
            typer.Argument(
                metavar="FILE",
                show_default=False,
                help="A .parquet, .arrow, .feather, .csv (also .csv.gz, .csv.zip) or .npy file; or "
                "a directory of Parquet or Arrow files.",
            ),
        ],
        Parameter.empty,
    ),
    "q": None,
    "bounds": _option(
        tuple[str, str],
        "LO HI",
        "Public limits of the values, known without looking at the data; or auto, for a quarter of "
        "the loss.",
        show_default=False,
    ),
    "column": _option(
        str | None, None, "The column; not needed when there is only one.", None, show_default=False
    ),
    "epsilon": (Epsilon, None),
    "delta": (Delta, "0"),
    "rho": (Rho, None),
    "neighbors": _option(
        str,
        "add-remove|replace",
        "What one person may change: the number of rows too, or a row's content only.",
        "add-remove",
    ),
    "noise": _option(
        str,
        "DISTRIBUTION",
        "The noise distribution: auto, polyplace, cauchy, student-t, generalized-cauchy; with "
        "--delta also laplace, gaussian; with --rho also arsinh-normal.",
        "auto",
    ),
    "method": _option(
        str,
        "METHOD",
        "smooth (noise), exponential (an exact draw), or auto: by the loss alone.",
        "auto",
    ),
    "nan": _option(
        Any,
        "POLICY",
        "What becomes of missing values: raise, lower, upper, a public number, or (with "
        "add-remove) drop.",
        "raise",
        parser=_nan,
    ),
    "by": _option(
        list[str],
        "COLUMN",
        "Release it for each group of rows: the column of their keys, once for each.",
        (),
        show_default=False,
    ),
    "keys": _option(
        list[str],
        "KEYS",
        "The public keys, such as UA,AA,DL, once for each --by; or @FILE with one a line. Left "
        "out, keys are private, which takes --delta.",
        (),
        show_default=False,
    ),
    "ids": _option(
        str | None,
        "COLUMN",
        "With --by: whose row it is. The loss is one of people then.",
        None,
        show_default=False,
    ),
    "max_groups": _option(
        int | None, "N", "With --ids: a person counts in so many groups.", None, show_default=False
    ),
    "max_rows": _option(
        int | None,
        "N",
        "With --ids: so many rows of a person count in a group.",
        None,
        show_default=False,
    ),
    "as_json": (Json, False),
}
#: What only some statistics take.
NO_METHOD: dict[str, Any] = {"noise": None, "method": None}


app.add_typer(budget, name="budget")
app.command("run", epilog="Example: dpfast run job.toml --json\n\n" + EXITS)(job.run)
app.command("explain", epilog="Example: dpfast explain job.toml\n\n" + EXITS)(job.explain)


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


# --- commands -----------------------------------------------------------------------------------


def _command(statistic: str, help: str, example: str, **other: Any) -> None:
    """Add the command of a statistic. Its options are `OPTIONS`, but for the `other` ones."""

    def command(file: str, column: str | None, as_json: bool, **arguments: Any) -> None:
        from .answer import answer

        groups = {name: arguments.pop(name) for name in GROUPS}
        if "bounds" in arguments:
            arguments["bounds"] = _bounds(*arguments["bounds"])
        answer(statistic, arguments, groups, file, column, as_json)

    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=option[0], default=option[1])
        for name, option in {**OPTIONS, **other}.items()
        if option is not None
    ]
    vars(command).update(__signature__=Signature(options))
    epilog = f"Example: dpfast {statistic} {example}\n\n{EXITS}"
    app.command(statistic, help=f"{help}\n\n{PUBLIC}", epilog=epilog)(command)


GROUPS = ("by", "keys", "ids", "max_groups", "max_rows")
PUBLIC = (
    "What is released satisfies the privacy loss that you ask for and may be published; nothing "
    "else that depends on the rows is printed."
)
_command(
    "count",
    "Release the private number of rows of a column, or of each group of rows.",
    "flights.parquet --by carrier --keys UA,AA,DL --epsilon 1",
    bounds=None,
    nan=None,
    **NO_METHOD,
)
_command(
    "sum",
    "Release the private sum of a column.",
    "flights.parquet --column arr_delay --bounds -60 300 --epsilon 1 --nan 0",
    **NO_METHOD,
)
_command(
    "mean",
    "Release the private mean of a column.",
    "flights.parquet --column arr_delay --bounds -60 300 --by carrier --keys @carriers.txt "
    "--ids tailnum --max-groups 3 --max-rows 20 --epsilon 1 --nan 0",
    **NO_METHOD,
)
_command(
    "variance",
    "Release the private variance of a column.",
    "flights.parquet --column arr_delay --bounds -60 300 --epsilon 1 --nan 0 --json",
    **NO_METHOD,
)
_command(
    "median",
    "Release the private (lower) median of a column.",
    "flights.parquet --column arr_delay --bounds -60 300 --epsilon 1 --nan 0",
)
_command(
    "quantile",
    "Release a private quantile of a column.",
    "flights.csv --column arr_delay --q 0.9 --bounds -60 300 --epsilon 1 --nan 0 --json",
    q=_q(Any, "From 0 to 1; 2/3 is exact."),
)
_command(
    "quantiles",
    "Release several private quantiles of a column for one privacy loss.",
    "flights.csv --column arr_delay --q 0.1 --q 0.5 --q 0.9 --bounds -60 300 --epsilon 1 --nan 0 "
    "--json",
    q=_q(list[Any], "From 0 to 1; once for each quantile."),
    delta=None,
    noise=None,
    method=_option(str, "auto|recursive|joint", "How the quantiles are drawn.", "auto"),
)


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
    """Run the command line; every error is one line on standard error, and an exit code."""
    # The base of the parser's own errors; typer carries its copy of click or imports it.
    usage: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
    if sys.stdout is None:  # closed by the caller: a released answer would be lost
        return _fail("standard output is closed", OTHER)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name that the terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
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
    # Some versions of typer make an exit code of Ctrl-C, others an exception.
    return _fail("interrupted", INTERRUPTED) if code == INTERRUPTED else int(code)


def _fail(message: str, code: int) -> int:
    if sys.stderr is not None:  # print() would take standard output instead
        with suppress(OSError):
            print("dpfast: error:", " ".join(message.split()), file=sys.stderr)
    return code
