"""`describe`: private summary statistics of each column of a table, for one loss.

*Parts.* Each part of a description is a measurement that is proved elsewhere:

* bounds of the columns without public bounds (`outer_bounds.DrawnBounds`);
* the number of rows (`totals.count`);
* for all columns in one vector, the number of rows with a value, and the sums of cells and of their
  squares (`linear.LinearMeasurement` with the features of a variance);
* quartiles of each column (`quantiles.recursive`);
* the number of rows with each word of a text column. Words are public, or partition selection shows
  them.

The parts have public shares of the loss. Losses add up, although later parts depend on the bounds
that the first part releases (Dwork, McSherry, Nissim and Smith, TCC 2006; for rho Bun and Steinke,
TCC 2016).

*Which loss.* The loss is divided equally among d columns. The error of each column then grows by a
factor of d for epsilon, and of sqrt(d) for rho. With a delta, the largest rho that implies
(epsilon, delta) may be spent instead (`conversions.rho_within`). That is done if a column's draw
then has the higher rate.

*Words.* With t columns of words, an added or removed row changes t counts by 1, and a replaced row
changes at most 2 t counts. If no words are public, a share of a loss with a delta shows the words
of enough rows. The keys of this partition selection are pairs of a column and a word, of which a
row has at most one for each column (`selection.key_selection`). Shown words are a private answer,
so they can be used as public words for counts with other noise.

*Neighbors.* Whether a row misses a value is a function of that row alone. So missing values are
masked, and the number of rows with a value in a column is private under both relations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._core import checks
from ..budget.mechanism import Mechanism
from ..errors import ArgumentError
from ..measurement.automatic_bounds import ANY, NOT_DRAWN
from ..measurement.columns_by_name import Answer
from ..measurement.equal_parts import part
from ..measurement.features import Basis
from ..measurement.functions import function_of
from ..measurement.linear import Column, LinearMeasurement, Setting
from ..measurement.outer_bounds import DrawnBounds, drawn_bounds
from ..measurement.statistic import Layout, Statistic, Terms
from ..measurement.tails import counts as tails_of
from ..measurement.tails import of_counts
from ..measurement.times import Units, are_times, clipped
from ..noise.calibrated_integer import IntegerNoise, integer_noise
from ..noise.grid import Lattice
from ..noise.sensitivity import Sensitivity
from ..privacy import ZCDP, Approx, Loss, Pure, compose, range_within
from ..privacy.conversions import rho_within
from ..rng import Generator
from ..selection.key_coins import PartitionSelection
from ..selection.key_selection import choose_rule
from ..summaries.cell_counts import CellCounts, cell_counts
from ..summaries.cells import Cells, cells
from ..summaries.order import ranks_of_counts
from ..tables.data import form_of
from ..tables.engine import of_engine
from ..tables.ids import no_column
from ..tables.intake import View, read
from ..tables.kinds import RULE, ColumnKind, as_numbers, kinds_of
from ..tables.public_values import listed
from ..tables.times import AsNumbers, Clipped
from ..tables.words import Words
from .consistent import items_of, not_below_0
from .quantiles import draws
from .quantiles.recursive import RecursiveQuantiles
from .totals.count import Count
from .totals.moments import Variance

#: There are about 2**BITS cells between the bounds.
BITS = 14
#: The two draws of bounds: of the numbers, and of the numbers in units of the interquartile range.
#: For each, the share of the loss, and the prior.
BOUNDS = {
    "bounds": (Fraction(1, 8), "any size"),
    "bounds around the median": (Fraction(1, 6), "about 1"),
}
#: If the loss has a delta: the share for the selection of words, in columns without public words.
OF_KEYS = Fraction(1, 8)
#: The shares of the remaining loss for the number of rows, and for counts of words if there are any
#: (`benchmarks/describe.py`).
OF_ROWS, OF_WORDS = Fraction(1, 20), Fraction(1, 4)
QUARTILES = Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)
#: The bounds of columns without numbers, and of boolean columns.
NONE, TRUTHS = (0.0, 0.0), (0.0, 1.0)
#: How times are read if they are only counted.
PRESENT = Clipped(0, 0, 0)
#: The columns of an answer that are numbers within the bounds, and all columns.
POINTS = "mean", "25%", "50%", "75%", "lower", "upper"
NAMES = ("column", "type", "count", "missing", "mean", "std", *POINTS[1:], "top", "freq")


class Columns(Answer):
    """An answer with a row for each column of a table."""

    unit: ClassVar[str] = "column"


@dataclass(frozen=True)
class Described:
    """A column of the table, with the public bounds or words that decide how it is described.

    `limits` are public bounds, None where bounds are to be drawn. `words` are public words, None if
    partition selection shows some of the rows' words. `units` turn numbers back into times.
    """

    name: str
    kind: str
    limits: tuple[float, float] | None
    words: Sequence[str] | None = ()
    units: Units | None = None

    @property
    def has_numbers(self) -> bool:
        return self.limits != NONE

    def cells(self, limits: tuple[float, float]) -> Cells:
        """Return the cells between bounds, at least 1 wide for a column of whole numbers."""
        if self.words:
            return Cells(1.0, 0, len(self.words))
        lo, hi = limits
        return cells(lo, hi, BITS, max(hi - lo, 2.0**BITS) if self.kind == "whole" else None)

    def points(self, points: Sequence[float], deviation: float) -> dict[str, Any]:
        """Return mean, quartiles, bounds and standard deviation by name; of times, as times."""
        if self.units is not None:
            points = list(map(self.units.back, points))
            deviation = self.units.times.span(deviation)
        return dict(zip(POINTS, points, strict=True)) | {"std": deviation}


@dataclass(frozen=True, kw_only=True)
class Moments(Variance):
    """The number of rows, the mean and the standard deviation of the clamped rows of a column."""

    def forms(self, column: Column, is_public: bool) -> list[Basis]:
        part = Fraction(1, column.span or 1)
        (_, formula) = super().forms(column, False)
        return [replace(formula, squares=(Fraction(1), part**2, part**4))]

    def answer(self, column: Column, formula: Basis, sums: Sequence[Any], rows: int | None) -> Any:
        moments = formula.moments(sums, rows)
        mean = column.at(moments.first, moments.rows * column.span)
        deviation = column.root(super().answer(column, formula, sums, rows))
        return max(0, round(Fraction(moments.rows, moments.whole))), mean, deviation


def spent_as(loss: Loss, columns: int) -> Loss:
    """Return the loss to divide among the parts: epsilon, or rho if its draws have less error."""
    if not isinstance(loss, Approx):
        return loss
    rho = rho_within(loss.epsilon, loss.delta)
    is_better = range_within(rho / columns) > loss.epsilon / columns
    return ZCDP(rho) if is_better else Pure(loss.epsilon)


@dataclass(frozen=True)
class Description(Mechanism[Answer]):
    """The mechanism of `describe`: one measurement for each part of a description, with its loss.

    Parameters
    ----------
    columns : tuple of Described
    neighbors : {"add-remove", "replace"}
    offered : Loss
        The loss that is charged, except for a delta that is not spent.
    spent : Pure or ZCDP
        The loss that the parts are made for: no more than `offered` allows.
    rule : PartitionSelection, optional
        The mechanism that shows words that are not public, for a separate loss.
    """

    columns: tuple[Described, ...]
    neighbors: str
    offered: Loss
    spent: Loss
    rule: PartitionSelection | None = None

    name: ClassVar[str] = "description"
    passes: ClassVar[int] = 2
    _no_bar: ClassVar[str] = NOT_DRAWN

    @property
    def loss(self) -> Loss:
        if isinstance(self.spent, ZCDP):
            loss = self.offered
            return loss.of_zcdp() if isinstance(loss, Approx) and not self.rule else loss
        return compose(self.spent, self.rule.loss) if self.rule else self.spent

    @cached_property
    def unknown(self) -> list[int]:
        """The indices of the columns whose bounds are drawn."""
        return [i for i, column in enumerate(self.columns) if column.limits is None]

    @cached_property
    def parts(self) -> dict[str, Loss]:
        """The loss of each part of the description, by name."""
        shares = {name: share * bool(self.unknown) for name, (share, _) in BOUNDS.items()}
        left = 1 - sum(shares.values(), Fraction(0))
        words = left * OF_WORDS * any(column.words != () for column in self.columns)
        rows = left * OF_ROWS
        quartiles = (left - rows - words) / 2 * any(column.has_numbers for column in self.columns)
        shares |= {"quartiles": quartiles, "rows": rows, "words": words}
        shares["sums"] = 1 - sum(shares.values(), Fraction(0))
        return {name: part(self.spent, share) for name, share in shares.items() if share}

    def bounds(self, name: str) -> DrawnBounds:
        """Return the measurement that draws the bounds of columns without public bounds."""
        loss, (_, prior) = self.parts[name], BOUNDS[name]
        return drawn_bounds(loss, len(self.unknown), self.neighbors, "drop", prior=prior)

    @cached_property
    def rows(self) -> Mechanism[Any]:
        """The measurement of the number of rows."""
        layout = Layout(None, masked=True)
        return Count().mechanism(Terms(self.parts["rows"], self.neighbors, layout))

    @cached_property
    def words(self) -> IntegerNoise:
        """The noise of the number of rows with each word."""
        changes = 2 if self.neighbors == "replace" else 1
        changes *= sum(column.words != () for column in self.columns)
        return integer_noise(self.parts["words"], Sensitivity(changes, changes, changes, 1))

    def sums(self, grids: Sequence[Cells]) -> LinearMeasurement:
        """Return the measurement of row count, mean and standard deviation of columns on cells."""
        columns = tuple(
            Column(cell.first * cell.grid, cell.last * cell.grid, cell, misses=True)
            for cell in grids
        )
        setting, loss = Setting(self.neighbors, masked=True), self.parts["sums"]
        return LinearMeasurement(Moments(bounds=ANY), columns, False, setting, "drop", loss)

    def quartiles(self, cells: Cells) -> RecursiveQuantiles:
        """Return the measurement of the quartiles of one column, whose rows are cells."""
        numbers = sum(column.has_numbers for column in self.columns)
        loss: Any = part(self.parts["quartiles"], Fraction(1, numbers))
        lattice = Lattice(Fraction(cells.grid), cells.first, cells.last)
        ends = lattice.value(lattice.first), lattice.value(lattice.last)
        public: dict[str, Any] = {"lattice": lattice, "qs": QUARTILES}
        return RecursiveQuantiles(*ends, self.neighbors, "drop", loss, **public)

    def tried(self) -> Description:
        """Return this description after a trial of each measurement, to refuse too small a loss."""
        grids = [column.cells(column.limits or ANY) for column in self.columns]
        _ = self.rows, self.sums(grids).loss, "words" in self.parts and self.words
        _ = [self.bounds(name) for name in BOUNDS.keys() & self.parts.keys()]
        for column, grid in zip(self.columns, grids, strict=True):
            if column.has_numbers:
                self.quartiles(grid)
        return self

    def reduce(self, source: View) -> tuple[View, Any]:
        """Return the unread rows, and the tail counts of columns whose bounds are to be drawn."""
        some, width = self.unknown, len(self.columns)
        return source, (some or self.rule) and tails_of(source.source, source.where, width)[some]

    def finish(self, summary: tuple[View, Any], generator: Generator) -> Answer:
        source, tails = summary
        drawn = iter(self.bounds("bounds").pairs(tails, generator) if self.unknown else ())
        words = source.words
        columns = [replace(column, words=words.get(column.name, ())) for column in self.columns]
        grids = [column.cells(column.limits or next(drawn)) for column in columns]
        counts = cell_counts(source.source, source.where, grids)
        quartiles: dict[int, list[float]] = {}
        for i, column in enumerate(columns):
            if column.has_numbers:
                quantiles = self.quartiles(grids[i])
                quartiles[i] = quantiles.finish(column_of(quantiles, counts[i]), generator).tolist()
        if self.unknown:
            self.narrow(counts, quartiles, generator)
        summed = [held if i in quartiles else held.clamped(0, 0) for i, held in enumerate(counts)]
        every = max(1, self.rows.finish([summed[0].totals], generator))
        sums = self.sums([held.cells for held in summed])
        moments: Any = sums.finish([held.totals for held in summed], generator)
        shown: list[dict[str, Any]] = []
        for i, (column, held) in enumerate(zip(columns, counts, strict=True)):
            count, mean, deviation = moments[i].tolist()
            row = column.name, column.kind, int(count), min(max(1 - count / every, 0.0), 1.0)
            shown.append(dict(zip(NAMES, row, strict=False)))
            if i in quartiles:
                points = [mean, *quartiles[i], *held.numbers[[0, -1]].tolist()]
                shown[i] |= column.points(points, deviation)
            elif self.columns[i].words != ():
                shown[i] |= self.top(self.columns[i], column.words, held.held, generator)
        answer = Columns()
        for name in NAMES:
            values = [column.get(name, "" if name == "top" else np.nan) for column in shown]
            if any(name in column for column in shown):
                answer[name] = np.array(values, object if are_times(values) else None)
        return answer

    def top(self, column: Described, words: Any, held: Any, generator: Generator) -> dict[str, Any]:
        """Return the public or selected word of the largest noisy count, with the count; or ""."""
        noise, held = self.words, held[: len(words)]
        # Sorted, so that the order does not depend on that of the rows.
        if column.words is None and self.rule:
            order = sorted(np.flatnonzero(held).tolist(), key=words.__getitem__)
            kept = np.array(order, np.int64)[self.rule.keep(held[order], generator.stream())]
            words, held = [words[i] for i in kept], held[kept]
        if not words:
            return {"top": "", "freq": np.nan}
        noisy = not_below_0((held >> noise.shift) + noise.draw(len(held), generator))
        most = int(np.argmax(noisy))
        return {"top": words[most], "freq": int(noisy[most]) << noise.shift}

    def narrow(
        self, counts: list[CellCounts], quartiles: dict[int, list[float]], generator: Generator
    ) -> None:
        """Clamp rows to narrower bounds, which are drawn around the median.

        Rows are in units of the interquartile range. The bounds are at least half an interquartile
        range below the lower and above the upper quartile.
        """
        scales, tails = [], []
        for i in self.unknown:
            numbers, (first, middle, last) = counts[i].numbers, quartiles[i]
            scales.append((last - first) or float(numbers[-1] - numbers[0]) or 1.0)
            with np.errstate(over="ignore"):
                tails.append(of_counts((numbers - middle) / scales[-1], counts[i].held))
        pairs = self.bounds("bounds around the median").pairs(np.stack(tails), generator)
        for i, scale, (lo, hi) in zip(self.unknown, scales, pairs, strict=True):
            first, middle, last = quartiles[i]
            beyond = (last - first) / 2
            ends = min(middle + lo * scale, first - beyond), max(middle + hi * scale, last + beyond)
            counts[i] = counts[i].clamped(*ends)


class CellsOfRows(draws.Column):
    """A column for quantile draws whose rows are numbers of cells; NOT PRIVATE."""

    def cells(self, values: Any) -> Any:
        return values


def column_of(quantiles: RecursiveQuantiles, counts: CellCounts) -> tuple[CellsOfRows, int]:
    """Return a column for quantile draws, and its number of rows, from cell counts; NOT PRIVATE."""
    first, last = counts.cells.first, counts.cells.last
    ranks = ranks_of_counts(np.arange(first, last + 1), counts.held)
    return CellsOfRows(ranks, first, last, 1.0, quantiles.base), int(counts.held.sum())


@dataclass(frozen=True, kw_only=True)
class Describe(Statistic[Answer]):
    """Summary statistics of each column of a table, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        Must be left out: the description is of all columns.
    bounds : mapping of str to (float, float), optional
    categories : mapping of str to sequence of str, optional
        As in `dpfast.describe`, which has the theorem.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.describe`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.Describe().measure(epsilon=1, columns=3).name
    'description'
    """

    bounds: Mapping[str, Any] | None = None
    categories: Mapping[str, Sequence[str]] | None = None
    #: The plan for each column of the data of a call.
    described: tuple[Described, ...] = field(init=False, repr=False, default=())

    name: ClassVar[str] = "description"
    leaves_out: ClassVar[tuple[str, ...]] = ("axis",)
    subtracts: ClassVar[bool] = False
    only_adds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("bounds", "categories"):
            object.__setattr__(self, name, _pairs(name, getattr(self, name)))

    def columns(self, kinds: Sequence[ColumnKind], none: Any = ()) -> tuple[Described, ...]:
        """Return the description plan of each column of a table, from the columns' kinds.

        `none` is the `words` of a text column without public words: None to select some privately.
        """
        bounds, words = dict(self.bounds or ()), dict(self.categories or ())
        names = [kind.name for kind in kinds]
        for argument, columns in (("bounds", bounds), ("categories", words)):
            for name in columns:
                if name not in names:
                    no_column(name, names, argument)
        if not kinds:
            raise ArgumentError("data must be a table with at least one column besides ids")
        return tuple(described(k, bounds.get(k.name), words.get(k.name, none)) for k in kinds)

    def prepared(self, data: Any, offered: Any, axis: Any, **rows: Any) -> Any:
        ids, of_columns = rows.get("ids"), copy(self)
        kinds = kinds_of(data, ids if isinstance(ids, str) else None)
        is_public = not isinstance(offered.loss, Approx) or of_engine(form_of(data, "data", RULE))
        object.__setattr__(of_columns, "described", self.columns(kinds, () if is_public else None))
        return super(Describe, of_columns).prepared(data, offered, 0, **rows)

    def read(self, data: Any, **rows: Any) -> View:
        words = {k.name: Words(k.words, others=True) for k in self.described if k.kind == "text"}
        units = {column.name: column.units for column in self.described if column.units is not None}
        times = {name: AsNumbers(column.times, column.number) for name, column in units.items()}
        met = {name: column.words for name, column in words.items()}
        return replace(read(data, as_numbers, words, times, **rows | {"axis": 0}), words=met)

    def mechanism(self, terms: Terms) -> Description:
        columns = self.described or self.columns(
            [ColumnKind(str(i), "number") for i in range(terms.layout.columns or 0)]
        )
        texts, keys = sum(column.words is None for column in columns), part(terms.loss, OF_KEYS)
        rule = choose_rule(keys, texts, checks.neighbors(terms.neighbors)) if texts else None
        spent = spent_as(part(terms.loss, 1 - OF_KEYS * bool(texts)), len(columns))
        return Description(columns, terms.neighbors, terms.loss, spent, rule).tried()


def described(column: ColumnKind, bounds: Any, words: Any) -> Described:
    """Return the description plan of one column, from its kind, public bounds and public words.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If bounds or words are not of its kind.
    """
    name, kind, times = column
    title = f"bounds[{name!r}]"
    if words and (kind not in ("text", "number") or bounds is not None):
        checks.fail(f"categories[{name!r}]", "left out except for a column of text", list(words))
    kind = "text" if words else kind
    if kind == "text" and bounds is not None:
        checks.fail(title, "left out for a column of text", bounds)
    if times is not None and (bounds is not None or times.dtype.kind == "m"):
        limits, _, units = clipped(times, "point", "auto" if bounds is None else bounds, "raise")
        return Described(name, kind, None if bounds is None else limits, units=units)
    if bounds is not None:
        return Described(name, kind, checks.bounds(bounds, title))
    limits = {"truth": TRUTHS, "text": NONE, "time": NONE}.get(kind)
    words = words if kind == "text" else ()
    return Described(name, kind, limits, words, Units(times, PRESENT) if times else None)


def _pairs(name: str, value: Any) -> Any:
    """Return a checked mapping of bounds or words as an immutable tuple of pairs, None if empty."""
    pairs = []
    for key, items in checks.mapping(name, value).items():
        title = f"{name}[{checks.text(name, key)!r}]"
        rule = "a pair" if name == "bounds" else "a list of words"
        items = listed(title, items)
        values = tuple(items_of(name, items, f"{rule} for {key!r}"))
        if name == "categories":
            words = {checks.text(title, word) for word in values}
            if not words or len(words) < len(values):
                checks.fail(title, "a list of one or more different words", items)
        pairs.append((key, values))
    return tuple(pairs) or None


@function_of(Describe)
def describe(data: Any, **arguments: Any) -> Any:
    """Release summary statistics of each column of a table, for one loss.

    Use it as a first look at a table: nothing but the types of the columns has to be known.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed, or replaced. The call satisfies
    the requested loss, for all columns together. It consists of several releases, each of which is
    charged a public share of the loss (``dpfast/statistics/describe.py``): bounds, drawn as in
    `dpfast.bounds`, first for all numbers and then around the private median; the number of rows;
    for all columns together, the numbers of rows with a value, the means and the standard
    deviations; quartiles, drawn as in `quantiles`; and counts of words (different texts), which are
    public or, with a `delta`, private (see Notes). The shares add up to the loss, although later
    releases use the bounds and words of earlier releases (Dwork, McSherry, Nissim and Smith, TCC
    2006; for `rho` Bun and Steinke, TCC 2016).

    The loss is divided among the d columns. Errors grow in proportion to d for `epsilon`, and to
    the square root of d for `rho`. With a `delta`, the largest rho that implies (epsilon, delta) is
    used if its errors are smaller.

    Parameters
    ----------
    data : table, matrix of numbers, or source
        Numbers of any type, truth values, text, dates, times and durations; their types decide how
        a column is described. A column without a type, such as a list or a column of a CSV file,
        counts as numbers, unless it has `categories`; a column of pandas objects counts as text.
    bounds : mapping of str to (float, float), optional
        Public bounds of the columns with these names, which are then not drawn. Bounds of dates and
        times have the type of the column. Without bounds, such a column has only a count.
    categories : mapping of str to sequence of str, optional
        Public words of the text columns with these names, for `top` and `freq`. With a `delta`, the
        words of other text columns are private, and words of enough rows are shown.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a person that count. "auto" draws the bound
        for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    dict of arrays, one entry for each column of the data
        The keys are: `column`; `type` ("number", "whole", "truth", "text" or "time"); `count`, the
        number of rows with a value; `missing`, the share of rows without a value; `mean`; `std`;
        the quartiles "25%", "50%" and "75%"; and `lower` and `upper`, the bounds that rows were
        clamped to. Numbers that a column does not have are NaN. With `categories` or a `delta`
        there are also `top`, the word with the largest noisy count, and `freq`, this count; they
        are "" and NaN if no word is shown. ``pandas.DataFrame(answer)`` makes a table.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `sum`.

    Notes
    -----
    Numbers are clamped to the bounds and rounded to a public grid of about 2**14 cells between the
    bounds; for whole numbers, a cell is at least 1 wide. The bounds cost 7/24 of the loss. With d
    columns and n rows, n epsilon / d should be at least about a thousand (n epsilon / sqrt(d) with
    a `delta`). With fewer rows the results are near 0.

    Private words are selected like the private keys of `group_by`, for an eighth of `epsilon` and
    of `delta`. `delta` bounds the probability that a word of few rows, or of only one person, is
    shown (``dpfast/selection/key_selection.py``). The selection needs memory for all distinct
    words. Databases and partitions of Dask and Spark support only public words.

    Cost: two reads of the data, or one read if all columns have `bounds` and no words are private,
    and some milliseconds for each column.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> table = {"age": np.repeat(np.arange(18, 91), 400), "town": ["Ulm", "Bonn"] * 14_600}
    >>> answer = dp.describe(table, categories={"town": ["Bonn", "Ulm", "Zell"]}, epsilon=1.0)
    >>> [str(name) for name in answer["column"]], [str(kind) for kind in answer["type"]]
    (['age', 'town'], ['whole', 'text'])
    >>> bool(53 < answer["mean"][0] < 55), bool(34 <= answer["25%"][0] <= 38)
    (True, True)
    >>> bool(abs(answer["freq"][1] - 14_600) < 200)
    True

    With a delta the words need not be known:

    >>> table["town"] = np.repeat(["Ulm", "Bonn"], [20_000, 9_200])
    >>> str(dp.describe(table, epsilon=1.0, delta=1e-6)["top"][1])
    'Ulm'
    """
