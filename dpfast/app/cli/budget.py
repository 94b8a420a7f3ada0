"""`dpfast budget`: make or move a ledger; show its sums, its entries and a plot of them."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from ...errors import LedgerError, printable
from ...extend import exact
from ..texts import loss_text
from .shared import Delta, Epsilon, Json, Rho, Terminal, groups_of, named, print_pairs, shown

if TYPE_CHECKING:
    from ... import Budget

app = typer.Typer(
    help="A ledger in a file: how much loss may be spent on a dataset, and what was spent.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

#: The headings of facts of a ledger that differ from their names.
WORDS = {"path": "file", "created": "made"}
#: The number of numbers of an answer that the history shows.
FEW = 5

File = Annotated[str, named("FILE", "The file of the ledger.")]
Plot = Annotated[
    str | None,
    shown("PICTURE", "Also draw what was spent over time to this file (.png, .svg, .pdf)."),
]
Html = Annotated[bool, typer.Option("--html", help="Print an HTML page in place of text.")]
Tier = Annotated[
    int, typer.Option(min=1, max=3, metavar="1|2|3", help="How detailed the record is; 3 is all.")
]
Source = Annotated[
    str, typer.Option(metavar="static|dynamic", help="Whether new data come in (dynamic) or not.")
]
Access = Annotated[
    str,
    typer.Option(
        metavar="interactive|non-interactive",
        help="Whether analysts may ask for answers themselves (interactive) or not.",
    ),
]
Sheet = Annotated[
    bool,
    typer.Option("--sheet", help="Print an evaluation by NIST SP 800-226 instead, as Markdown."),
]


@app.command(epilog="Example: dpfast budget create study.db --epsilon 1 --name 'ages, 2024'")
def create(
    file: File,
    epsilon: Epsilon = None,
    delta: Delta = "0",
    rho: Rho = None,
    neighbors: Annotated[
        str | None,
        shown("replace|add-remove", "How neighbors differ. If left out, the first spend decides."),
    ] = None,
    ids: Annotated[
        str | None,
        shown(
            "NAME",
            "The column of ids, if the loss is of people. If left out, the first spend decides.",
        ),
    ] = None,
    max_rows: Annotated[
        int | None, shown("N", "The largest number of rows of a person, if publicly known.")
    ] = None,
    period: Annotated[
        str | None,
        shown(
            "day|week|month|year",
            "The limit holds for each such calendar period (UTC), and not for all time.",
        ),
    ] = None,
    name: Annotated[str, typer.Option(show_default=False, help="What the ledger is for.")] = "",
    as_json: Json = False,
) -> None:
    """Make a ledger. Its limit cannot be changed later."""
    from ... import Budget
    from ...extend import checks
    from ...privacy import loss
    from ..files import existing

    amounts = {"epsilon": epsilon, "delta": delta, "rho": rho}
    loss(**amounts)
    if existing(file) is not None:
        raise LedgerError(f"ledger {file} exists already: choose another path")
    relation = None if neighbors is None else checks.neighbors(neighbors)
    about: Any = {"ids": ids, "max_rows": max_rows, "period": period}
    budget = Budget(**amounts, neighbors=relation, **about, name=name, path=os.path.abspath(file))
    _show(budget, as_json)


@app.command(epilog="Example: dpfast budget move /data/study.db")
def move(file: File, as_json: Json = False) -> None:
    """Record the new place of a ledger that you moved, or restored from a backup.

    With this command you state that nobody spends from a copy of the ledger, here or elsewhere, and
    that this file (with its -wal file, if there is one) holds all spends. No program can check
    this. If two copies are in use, the limit can be spent twice.
    """
    from ... import Budget

    _show(Budget.move(file), as_json)


@app.command(epilog="Example: dpfast budget show study.db")
def show(file: File, as_json: Json = False, plot: Plot = None) -> None:
    """Show the limit, the spent loss and the remaining loss."""
    _show(_opened(file, plot), as_json)


@app.command(epilog="Example: dpfast budget history study.db --plot spent.png")
def history(file: File, as_json: Json = False, plot: Plot = None) -> None:
    """Show every entry, oldest first: the release, its loss, and its answer if recorded."""
    budget = _opened(file, plot)
    if as_json:
        print(json.dumps(json.loads(budget.export())))
        return
    entries, relation, people = budget.history, budget.neighbors, budget.ids
    unit = "" if people is None else f"the people of {people!r}"
    title = ": ".join(filter(None, (budget.name, unit)))
    table = Table(title=title or None, title_justify="left", box=box.SIMPLE, pad_edge=False)
    table.add_column("line", justify="right", no_wrap=True)
    table.add_column("time (UTC)", no_wrap=True)
    table.add_column("loss", overflow="fold")
    table.add_column("what, parameters, note, answer", overflow="fold", min_width=23)
    parameters = entries.to_dict()["parameters"]
    for number, (entry, words) in enumerate(zip(entries, parameters, strict=True), 1):
        other = ["rows"] * (entry.ids != people) + [entry.neighbors] * (entry.neighbors != relation)
        loss = {name: float(getattr(entry.loss, name)) for name in entry.loss.amounts}
        cost = loss_text(loss)
        cost += f" ({', '.join(other)})" if other else ""
        what = "\n".join(
            map(printable, filter(None, (entry.what, words, entry.note, _in_words(entry.answer))))
        )
        table.add_row(str(number), _when(entry.time), cost, Text(what))
    Terminal().print(table)


@app.command(epilog="Example: dpfast budget report study.db --html > report.html")
def report(file: File, as_html: Html = False) -> None:
    """Print a report in words: what was released, whom the loss protects, and what remains."""
    from .. import ledger_words

    print(ledger_words.report(_opened(file, None), as_html))


def label(
    file: File,
    tier: Tier = 3,
    data_source: Source = "",
    access: Access = "",
    as_sheet: Sheet = False,
) -> None:
    """Write the record of a ledger for the public registry of deployments, as YAML.

    The record comes from the ledger and from the options below. Facts that a ledger does not have,
    such as who publishes, begin with OPEN.
    """
    from ..ledger_words import record, sheet

    budget = _opened(file, None)
    said = data_source, access
    print(sheet(budget, *said) if as_sheet else record(budget, tier, *said))


def _opened(file: str, plot: str | None) -> Budget:
    """Return the budget of a ledger file; also plot its spends over time if `plot` names a file."""
    from ... import Budget

    budget = Budget(path=file)
    if plot is not None:
        from ..files import other_file
        from .plot import draw

        other_file("plot", plot, [(file, "the ledger")])
        draw(budget, plot)
    return budget


def _in_words(answer: Any) -> str:
    """Return a recorded answer as short text; of groups, their number and the column names."""
    value = answer.get("value", answer) if isinstance(answer, dict) else answer
    if isinstance(value, dict) and isinstance(value.get("error"), str):
        return f"error: {value['error']}"
    if isinstance(value, dict) and value and all(isinstance(c, list) for c in value.values()):
        return f"= {groups_of(value)}: {', '.join(value)}"
    if isinstance(value, list):
        few = ", ".join(map(_number, value[:FEW]))
        return f"= {few}, ... ({len(value):,} in all)" if value[FEW:] else f"= {few}"
    return "" if answer is None else f"= {_number(value)}"


def _number(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else json.dumps(value)


def _when(time: str) -> str:
    return time[:19].replace("T", " ")


def _show(budget: Budget, as_json: bool) -> None:
    facts = budget.summary()
    if as_json:
        print(json.dumps(facts))
        return
    facts["created"] = _when(budget.created) + " UTC"
    facts["neighbors"] = facts["neighbors"] or "as the first spend will say"
    for name in ("limit", "spent", "remaining"):
        amounts = getattr(budget, name).items()
        facts[name] = ", ".join(f"{kind}={_amount(amount)}" for kind, amount in amounts)
    print_pairs((WORDS.get(name, name), fact) for name, fact in facts.items())


def _amount(amount: Fraction) -> str:
    """Return an amount of a loss as a short decimal, with the exact ratio where they differ."""
    text = repr(float(amount)).removesuffix(".0")
    return text if Fraction(text) == amount else f"{text} (exactly {exact(amount)})"
