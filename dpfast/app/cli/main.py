"""The command line: it parses options and prints one JSON object or a table."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ...errors import ArgumentError, BudgetError, DataError, DpfastError, LedgerError, SourceError
from . import job
from .budget import app as budget
from .options import Delta, Epsilon, Json, Rho, number

# What a command needs of the library is imported when it runs, so that help appears at once.

#: What the shell sees; the command's help lists them.
ARGUMENT, FILE, BUDGET, DATA, OTHER, INTERRUPTED = 2, 3, 4, 5, 1, 130
HALF = Fraction(1, 2)

EXITS = (
    "Exit codes: 0 done, 2 a bad argument, 3 a file or column that cannot be read, 4 the budget "
    "is too small, 5 the data hold what is not allowed (missing values under --nan raise), "
    "1 anything else."
)

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


def _version(asked: bool) -> None:
    if asked:
        from importlib import metadata

        print(f"dpfast {metadata.version('dpfast')}")
        raise typer.Exit


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        show_default=False,
        help="A .parquet, .arrow, .feather, .csv (also .csv.gz, .csv.zip) or .npy file; or a "
        "directory of Parquet files.",
    ),
]
Column = Annotated[
    str | None,
    typer.Option(show_default=False, help="The column; not needed when there is only one."),
]
Bounds = Annotated[
    tuple[float, float],
    typer.Option(
        metavar="LO HI",
        show_default=False,
        help="Public limits of the values, known without looking at the data.",
    ),
]
Neighbors = Annotated[
    str,
    typer.Option(
        metavar="replace|add-remove",
        help="What one person may change: a row's content, or also the number of rows.",
    ),
]
Noise = Annotated[
    str,
    typer.Option(
        metavar="DISTRIBUTION",
        help="The noise distribution: auto, polyplace, cauchy, student-t, generalized-cauchy; with "
        "--delta also laplace, gaussian; with --rho also arsinh-normal.",
    ),
]
Method = Annotated[
    str,
    typer.Option(
        metavar="METHOD",
        help="smooth (noise), exponential (an exact draw), exponential-round (one that favors "
        "round numbers), or auto: by the loss alone.",
    ),
]
Nan = Annotated[
    Any,
    typer.Option(
        parser=_nan,
        metavar="POLICY",
        help="What becomes of missing values: raise, lower, upper, a public number, or (with "
        "add-remove) drop.",
    ),
]


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


@app.command(
    epilog="Example: dpfast median flights.parquet --column arr_delay --bounds -60 300 --epsilon 1 "
    "--nan 0\n\n" + EXITS
)
def median(
    file: File,
    bounds: Bounds,
    column: Column = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    neighbors: Neighbors = "replace",
    noise: Noise = "auto",
    method: Method = "auto",
    nan: Nan = "raise",
    as_json: Json = False,
) -> None:
    """Release the private (lower) median of a column.

    The answer satisfies the privacy loss that you ask for and may be published; nothing else
    that depends on the rows is printed.
    """
    from ...statistics.quantiles.api import one
    from .answer import answer

    delta = 0 if delta is None else delta
    made = one(HALF, bounds, epsilon, delta, rho, neighbors, noise, method, nan, False)
    answer("median", {}, made, file, column, as_json)


@app.command(
    epilog="Example: dpfast quantile flights.csv --column arr_delay --q 0.9 --bounds -60 300 "
    "--epsilon 1 --nan 0 --json\n\n" + EXITS
)
def quantile(
    file: File,
    q: Annotated[
        Any,
        typer.Option(
            parser=number, metavar="NUMBER", show_default=False, help="From 0 to 1; 2/3 is exact."
        ),
    ],
    bounds: Bounds,
    column: Column = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    neighbors: Neighbors = "replace",
    noise: Noise = "auto",
    method: Method = "auto",
    nan: Nan = "raise",
    as_json: Json = False,
) -> None:
    """Release a private quantile of a column: the value of rank ceil(q n).

    The answer satisfies the privacy loss that you ask for and may be published; nothing else
    that depends on the rows is printed.
    """
    from ...statistics.quantiles.api import one
    from .answer import answer

    delta = 0 if delta is None else delta
    made = one(q, bounds, epsilon, delta, rho, neighbors, noise, method, nan, False)
    answer("quantile", {"q": float(q)}, made, file, column, as_json)


@app.command(
    epilog="Example: dpfast quantiles flights.csv --column arr_delay --q 0.1 --q 0.5 --q 0.9 "
    "--bounds -60 300 --epsilon 1 --nan 0 --json\n\n" + EXITS
)
def quantiles(
    file: File,
    q: Annotated[
        list[Any],
        typer.Option(
            parser=number,
            metavar="NUMBER",
            show_default=False,
            help="From 0 to 1; once for each quantile.",
        ),
    ],
    bounds: Bounds,
    column: Column = None,
    epsilon: Epsilon = None,
    rho: Rho = None,
    neighbors: Neighbors = "replace",
    method: Annotated[
        str,
        typer.Option(metavar="recursive|joint", help="How the quantiles are drawn."),
    ] = "recursive",
    nan: Nan = "raise",
    as_json: Json = False,
) -> None:
    """Release several private quantiles of a column for one privacy loss.

    The answers together satisfy the privacy loss that you ask for and may be published; nothing
    else that depends on the rows is printed.
    """
    from ...statistics.quantiles.api import many
    from .answer import answer

    made = many(q, bounds, epsilon, rho, neighbors, method, nan, False)
    answer("quantiles", {"q": [float(each) for each in q]}, made, file, column, as_json)


@app.command()
def demo() -> None:
    """Show private medians of a public table (UCI Adult, 32,561 ages) and their costs."""
    from ...budget.budget import Budget
    from . import demo as _demo

    ages = _demo.load()
    budget = Budget(epsilon=sum(map(_exact, _demo.EPSILONS)))
    table = Table(title="Private median age of the UCI Adult table", title_justify="left")
    for heading in ("epsilon", "private median", "error (years)", "time (ms)"):
        table.add_column(heading, justify="right")
    for line in _demo.demo(ages, budget):
        table.add_row(
            f"{line.epsilon:g}",
            f"{line.value:.4f}",
            f"{line.error:.4f}",
            f"{1000 * line.seconds:.3f}",
        )
    out = Console(highlight=False)
    out.print(table)
    out.print(
        f"{len(ages):,} rows; bounds {_demo.BOUNDS[0]:g} to {_demo.BOUNDS[1]:g}; neighbors differ "
        f"in one row. All of it together cost epsilon = {float(budget.spent['epsilon']):g}.\n"
        "The error and the time are shown because this table is public; for private data they "
        "would be answers too.\n"
        f"Data: {_demo.ATTRIBUTION}",
        soft_wrap=True,
    )


def _exact(number: float) -> Fraction:
    return Fraction(repr(number))


# --- errors -------------------------------------------------------------------------------------


#: Exit codes by kind of error; the first that fits counts.
CODES: tuple[tuple[tuple[type[Exception], ...], int], ...] = (
    ((SourceError, LedgerError), FILE),
    ((BudgetError,), BUDGET),
    ((DataError,), DATA),
    ((ArgumentError, TypeError, ImportError), ARGUMENT),
)


def _code(error: DpfastError) -> int:
    return next((code for kinds, code in CODES if isinstance(error, kinds)), OTHER)


def run(arguments: Sequence[str]) -> int:
    """Run the command line; every error is one line on standard error, and an exit code."""
    # The base of the parser's own errors; typer carries its copy of click or imports it.
    usage: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
    if sys.stdout is None:  # closed by the caller: a released answer would be lost
        return _fail("standard output is closed", OTHER)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name that the terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = app(args=list(arguments), prog_name="dpfast", standalone_mode=False) or 0
        sys.stdout.flush()
    except DpfastError as error:
        return _fail(str(error), _code(error))
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
