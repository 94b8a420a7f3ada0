"""The entries of a ledger as a table: for pandas, as CSV text and in notebooks."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .._core.error_bars import ErrorBar
from .._core.extras import extra
from .._core.html import table
from ..privacy import Loss
from ..privacy.losses import shown
from .ledger import Amounts, Spend

#: A text that begins with one of these is a formula for a spreadsheet program.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
#: A notebook shows this many of the last entries. A click shows all.
SHOWN = 50
#: The fields of `ErrorBar` that a record contains.
BAR = {"confidence", "half_width", "ranks", "note"}
#: The fields of a record that become columns of the table. The column has the last word as its
#: name.
RECORDED = (
    *("error", "parameters", "data.columns", "data.where", "data.version"),
    *("mechanism", "noise", "program"),
)


def decimal(amount: Fraction) -> str:
    """Return an amount as decimal text, with the exact ratio if the decimal is rounded."""
    text, ratio = shown(amount)
    if not ratio:
        return text
    return f"about {text}" if ratio == "..." else f"{text} (exactly {ratio})"


def amount_words(amounts: Mapping[str, Fraction]) -> str:
    """Return amounts by name as text."""
    return ", ".join(f"{name}={decimal(amount)}" for name, amount in amounts.items())


def loss_words(loss: Loss) -> str:
    """Return the amounts of a loss as text."""
    return amount_words(Amounts.of(loss).named(loss))


class History(tuple[Spend, ...]):
    """The entries of a ledger in order: a tuple of `Spend`, which can be shown as a table.

    The table has these columns: ``entry`` (the number), ``time`` (in UTC), ``what`` was released,
    the ``loss`` of the call, the amounts that the ledger ``counted`` for it (as floats), and the
    ``note``. Then come facts from the record of the release, as text: ``error``, ``parameters``,
    ``columns``, ``where``, ``version``, ``mechanism``, ``noise`` and ``program``. They are empty
    for an entry without a record. The last columns are ``ids`` (empty if the privacy unit is a
    row), ``neighbors`` and ``process``. The table has no answers.

    Examples
    --------
    >>> import dpfast as dp
    >>> budget = dp.Budget(epsilon=1)
    >>> with budget.noted("a first look"):
    ...     count = dp.count([23, 35, 41], epsilon=0.5, budget=budget)
    >>> budget.history[0].loss, budget.history.to_dict()["note"]
    (Pure(epsilon=0.5), ['a first look'])
    """

    __slots__ = ()

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns of the table as lists, by name.

        Returns
        -------
        dict
            ``polars.DataFrame`` and ``pyarrow.table`` accept this dict.
        """
        records = [{} if entry.record is None else dict(entry.record) for entry in self]
        amounts = ["rho"] if any(entry.counted.rho for entry in self) else ["epsilon", "delta"]
        return {
            "entry": list(range(1, len(self) + 1)),
            "time": [entry.time for entry in self],
            "what": [entry.what for entry in self],
            "loss": [loss_words(entry.loss) for entry in self],
            **{
                f"counted {name}": [float(getattr(entry.counted, name)) for entry in self]
                for name in amounts
            },
            "note": [entry.note for entry in self],
            **{
                path.split(".")[-1]: [fact_text(_fact_at(record, path)) for record in records]
                for path in RECORDED
            },
            "ids": [entry.ids or "" for entry in self],
            "neighbors": [entry.neighbors for entry in self],
            "process": [entry.process for entry in self],
        }

    def to_pandas(self) -> Any:
        """Return the table as a ``pandas.DataFrame``.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return extra("pandas", "a table of pandas").DataFrame(self.to_dict())

    def to_csv(self) -> str:
        """Return the table as comma-separated text with a header line.

        Returns
        -------
        str
            If a spreadsheet program would run a text as a formula, the text gets a leading
            apostrophe.
        """
        text, columns = io.StringIO(), self.to_dict()
        rows = (map(_no_formula, row) for row in zip(*columns.values(), strict=True))
        csv.writer(text).writerows([list(columns), *rows])
        return text.getvalue()

    def to_html(self) -> str:
        """Return the table as HTML: the last entry first, and only columns that are not empty.

        Returns
        -------
        str
        """
        columns = self.to_dict()
        times = [time[:19].replace("T", " ") for time in columns["time"]]
        columns |= {"time": times, "process": []}
        filled = {name: column[::-1] for name, column in columns.items() if any(column)}
        rows = ([fact_text(cell) for cell in row] for row in zip(*filled.values(), strict=True))
        return f'<div tabindex="0" style="overflow-x: auto">{table(filled, rows, SHOWN)}</div>'

    _repr_html_ = to_html


def _no_formula(cell: Any) -> Any:
    """Return a table cell, with an apostrophe before what a spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def _fact_at(record: Any, path: str) -> Any:
    """Return the value at a dotted path of a record, or None."""
    for name in path.split("."):
        record = record.get(name) if isinstance(record, dict) else None
    return record


def fact_text(fact: Any) -> str:
    """Return a fact of a record as readable text, empty for None.

    Parameters
    ----------
    fact : dict, list, str, bool, int, float or None
        A part of the result of `Release.to_dict`, such as its parameters.

    Returns
    -------
    str

    Raises
    ------
    RecursionError
        If `fact` contains itself.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.extend.fact_text({"bounds": [0.0, 120.0], "nan": "drop", "method": None})
    'bounds=(0, 120), nan=drop'
    """
    if isinstance(fact, dict) and fact.keys() >= BAR:
        bar = str(ErrorBar(**{name: fact[name] for name in BAR}))
        return bar if bar.startswith("not known") else f"{bar} ({fact['confidence'] * 100:.4g} %)"
    if isinstance(fact, dict):
        return ", ".join(f"{n}={_nested(part)}" for n, part in fact.items() if part is not None)
    if isinstance(fact, list):
        return ", ".join(map(_nested, fact))
    return "" if fact is None else f"{fact:g}" if isinstance(fact, float) else str(fact)


def _nested(fact: Any) -> str:
    return f"({fact_text(fact)})" if isinstance(fact, (dict, list)) else fact_text(fact)
