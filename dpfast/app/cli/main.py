"""The command line: it parses options and prints one JSON object or a table."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from importlib import metadata
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from ...budget.release import release
from ...errors import ArgumentError, BudgetError, DataError, DpfastError, LedgerError, SourceError
from ...sources import Chunk, RandomWords, Source
from ...sources.scan import scan
from ...statistics.quantiles.api import many, one
from ...statistics.quantiles.exponential import ExponentialQuantile, RecursiveQuantiles
from ...statistics.quantiles.joint import JointQuantiles
from ...statistics.quantiles.smooth import SmoothQuantile
from . import job
from .budget import app as budget
from .options import Delta, Epsilon, Json, Rho, number

S = TypeVar("S")

#: What the shell sees; the command's help lists them.
ARGUMENT, FILE, BUDGET, DATA, OTHER, INTERRUPTED = 2, 3, 4, 5, 1, 130
#: What `--method` calls the mechanisms that have one name.
METHODS = {SmoothQuantile: "smooth", RecursiveQuantiles: "recursive", JointQuantiles: "joint"}
HALF = Fraction(1, 2)
#: Seconds before a progress bar appears.
PATIENCE = 1.0

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
    delta = 0 if delta is None else delta
    mechanism = one(HALF, bounds, epsilon, delta, rho, neighbors, noise, method, nan, False)
    _release("median", {}, mechanism, file, column, as_json)


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
    delta = 0 if delta is None else delta
    mechanism = one(q, bounds, epsilon, delta, rho, neighbors, noise, method, nan, False)
    _release("quantile", {"q": float(q)}, mechanism, file, column, as_json)


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
    mechanism = many(q, bounds, epsilon, rho, neighbors, method, nan, False)
    _release("quantiles", {"q": [float(each) for each in q]}, mechanism, file, column, as_json)


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


def _method(mechanism: Any) -> str:
    if isinstance(mechanism, ExponentialQuantile):
        return "exponential-round" if mechanism.rounded else "exponential"
    return METHODS[type(mechanism)]


def _release(
    statistic: str,
    asked: dict[str, Any],
    mechanism: Any,
    file: str,
    column: str | None,
    as_json: bool,
) -> None:
    """Run a mechanism on a file's column, and show the answer beside the public parameters."""
    source = scan(file, column)
    with _progress(source) as data:
        answer = release(data, mechanism, budget=None, rng=None)
    values, loss = [answer] if isinstance(answer, float) else answer.tolist(), mechanism.loss
    shown: dict[str, Any] = {
        **({"value": answer} if isinstance(answer, float) else {"values": values}),
        "statistic": statistic,
        **asked,
        "file": file,
        "column": column,
        "bounds": [mechanism.lo, mechanism.hi],
        **{
            name: float(getattr(loss, name))
            for name in ("epsilon", "delta", "rho")
            if hasattr(loss, name)
        },
        "neighbors": mechanism.neighbors,
        "method": _method(mechanism),
    }
    if isinstance(mechanism, SmoothQuantile):
        shown["noise"] = mechanism.calibration.noise
    shown["nan"] = mechanism.nan
    if as_json:
        print(json.dumps(shown, allow_nan=False))
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column()
    table.add_column(overflow="fold")
    if "values" in shown:
        for level, value in zip(shown.pop("q"), shown.pop("values"), strict=True):
            table.add_row(f"{level:g}", f"[bold]{value}[/]")
    for name, entry in shown.items():
        if entry is not None:
            text = " to ".join(f"{e:g}" for e in entry) if isinstance(entry, list) else str(entry)
            table.add_row(name, f"[bold]{text}[/]" if name == "value" else escape(text))
    Console(highlight=False, soft_wrap=True).print(table)


# --- progress -----------------------------------------------------------------------------------


class _Watched:
    """A source that reports after every chunk how many rows of the pass are done."""

    def __init__(self, source: Source, tell: Callable[[int], None]) -> None:
        self._source = source
        self._tell = tell

    @property
    def dtype(self) -> Any:
        return self._source.dtype

    @property
    def length(self) -> int | None:
        return self._source.length

    @property
    def nulls(self) -> int | None:
        return self._source.nulls

    def sample(self, count: int, words: RandomWords) -> Any:
        return self._source.sample(count, words)

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        done = 0

        def watched(chunk: Chunk) -> S:
            nonlocal done
            summary = summarise(chunk)
            done += len(chunk.values) + chunk.nulls
            self._tell(done)
            return summary

        return self._source.reduce(watched, merge)


@contextmanager
def _progress(source: Source) -> Iterator[Source]:
    """Yield the source, watched by a bar on standard error if that is a terminal and it is slow.

    The bar is for the one who holds the data. It is not part of the answer.
    """
    if sys.stderr is None or not sys.stderr.isatty() or not hasattr(source, "makers"):
        yield source
        return
    known = source.length is not None
    bar = Progress(
        SpinnerColumn(),
        TextColumn("reading"),
        *([BarColumn()] if known else []),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("reading", total=source.length)
    began = time.monotonic()

    def tell(done: int) -> None:
        if not bar.live.is_started and time.monotonic() - began > PATIENCE:
            bar.start()
        bar.update(task, completed=done)

    try:
        yield _Watched(source, tell)
    finally:
        bar.stop()


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
