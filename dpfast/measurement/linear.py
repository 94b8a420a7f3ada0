"""Linear statistics: exact sums of features, integer noise, and an answer made of both alone.

A statistic says which forms of features it can be released by (`features`), and what its answer and
its error bar are, from noisy moments. Everything else is said here once: what is read, by how much
neighbors differ, which noise that needs and what it costs, for one answer or one a column, for rows
or all rows of a person at once, with weights or without.

*One column.* The form with a norm has independent noise, which costs what noise for one number of
that size does. The form with the number of rows and centered sums has joint noise of a box, and is
taken for a large epsilon, where that is a staircase and less (`noise.stairs`).

*Each of several columns.* A row may change in all of its columns at once, so all features of all
columns are one vector, with noise in proportion to what a row can do to each (`noise.box`). The
columns share one number of rows, unless each drops missing numbers of its own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.error_bars import BOUND, NOISE, ROWS, Expected, unknown
from ..noise.box import BoxNoise, box_noise, count_shares
from ..noise.calibrated_integer import IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..privacy import Loss
from ..rng import Generator
from ..sources.intake import View, read
from ..summaries.cells import SQUARES, Cells, cells, nearest
from ..summaries.moments import weighted_moments
from ..summaries.totals import Totals, column_totals, settled, totals
from .features import Form
from .statistic import Bounded, Terms

#: One answer, or one for each column.
Answers: TypeAlias = float | NDArray[np.float64]
#: What a row moves, where a distribution is chosen for any number of rows.
FAR = 1 << 30


@dataclass(frozen=True, slots=True)
class Column:
    """Bounds and cells of a column, and the cells of its weights, if it has some."""

    lo: float
    hi: float
    cells: Cells
    weights: Cells | None = None

    @property
    def span(self) -> int:
        return self.cells.span

    @property
    def unit(self) -> Fraction:
        """The width of a cell."""
        return Fraction(self.cells.grid)

    @property
    def product(self) -> Fraction:
        """A cell times a cell of the weights, or a cell alone, in units of the data."""
        return self.unit * (1 if self.weights is None else Fraction(self.weights.grid))

    def at(self, place: Fraction) -> float:
        """Return the number at a place between the bounds, 0 for the lower and 1 for the upper."""
        place = min(max(place, Fraction(0)), Fraction(1))
        value = nearest(self.unit * (self.cells.first + place * self.span))
        return min(max(value, self.lo), self.hi)

    def width(self, part: Fraction) -> float:
        """Return a part of the distance of the bounds, at most all of it."""
        return nearest(self.unit * self.span * min(part, Fraction(1)))


@dataclass(frozen=True, slots=True)
class Setting:
    """What neighbors are, in public words.

    Parameters
    ----------
    neighbors : {"add-remove", "replace"}
    masked : bool
        Whether a mask keeps some of the rows.
    rows : int
        How many rows come or go at once: those of a person.
    """

    neighbors: str
    masked: bool = False
    rows: int = 1

    @property
    def is_public(self) -> bool:
        """Tell whether the number of rows is public."""
        return self.neighbors == "replace" and not self.masked

    def sizes(self, form: Form) -> list[int]:
        """Return by how much each sum of a form differs."""
        return [
            self.rows * feature.sensitivity(self.neighbors, self.is_public)
            for feature in form.features
        ]

    def noise(self, loss: Loss, form: Form, pairs: int = 0) -> IntegerNoise:
        """Return independent noise for the sums of a form.

        Of sums of pairs the distribution is one for any number of rows: what is charged for two
        rows must be the price of what is drawn for more.
        """
        if form.norm is not None:
            vectors, size = 2 if self.neighbors == "replace" else 1, self.rows * form.norm
            moved = Sensitivity(len(form.features), vectors * size, vectors * size**2, size)
            return integer_noise(loss, moved)
        (size,) = self.sizes(form)
        if not pairs:
            return integer_noise(loss, Sensitivity.of_one(size))
        far = integer_noise(loss, Sensitivity.of_one(FAR))
        return integer_noise(loss, Sensitivity.of_one(pairs * size), far.distribution)


@dataclass(frozen=True, kw_only=True)
class Linear(Bounded[Answers]):
    """Base of statistics of clamped rows that are functions of noisy moments of their cells."""

    at_once: ClassVar[bool] = True
    #: Whether sums of squares are read.
    squares: ClassVar[bool] = False
    #: Whether the error bar depends on the number of rows.
    needs_rows: ClassVar[bool] = True
    #: Whether the answer is linear in its noise where the number of rows is public.
    is_linear: ClassVar[bool] = True

    @abstractmethod
    def forms(self, column: Column, is_public: bool) -> list[Form]:
        """Return the forms that it can be released by: independent noise first, joint noise last.

        Of joint noise the number of rows is the first feature, unless that `is_public`.

        Parameters
        ----------
        column : Column
        is_public : bool
            Whether the number of rows is public.

        Returns
        -------
        list of Form
        """

    @abstractmethod
    def answer(self, column: Column, form: Form, sums: Sequence[int], rows: int | None) -> float:
        """Return the answer from noisy sums.

        Parameters
        ----------
        column : Column
        form : Form
            What the sums are of.
        sums : sequence of int
        rows : int or None
            How many rows there are, where that is public.

        Returns
        -------
        float
        """

    @abstractmethod
    def bar(self, column: Column, noise: Sizes, rows: int, is_public: bool) -> float:
        """Return how far the answer of some rows is off, but with a failure probability.

        Parameters
        ----------
        column : Column
        noise : Sizes
            What noise exceeds with shares of that probability.
        rows : int
        is_public : bool
            Whether the number of rows is public.

        Returns
        -------
        float
        """

    def row_pairs(self, rows: int) -> int:
        """Return in how many pairs of public `rows` a row is, if sums are of pairs; else 0.

        Parameters
        ----------
        rows : int

        Returns
        -------
        int
        """
        return 0

    def grid(self, lo: float, hi: float, is_public: bool) -> Cells:
        """Return the cells of a column.

        Parameters
        ----------
        lo, hi : float
        is_public : bool
            Whether the number of rows is public.

        Returns
        -------
        Cells
        """
        is_fine = self.squares or self.limits is not None
        return cells(lo, hi, SQUARES) if is_fine else cells(lo, hi)

    def read(
        self, data: Any, *, relation: str, axis: Any, where: Any, ids: Any, weights: Any
    ) -> View:
        rows = {"where": where, "ids": ids, "weights": weights}
        return read(data, relation=relation, axis=axis, columns=self.width, **rows)

    def mechanism(self, terms: Terms) -> LinearMeasurement:
        neighbors, layout, limits = terms.neighbors, terms.layout, self.limits
        setting = Setting(neighbors, layout.masked, terms.rows)
        weights = None if limits is None else cells(*limits, SQUARES)
        columns = tuple(
            Column(lo, hi, self.grid(lo, hi, setting.is_public), weights)
            for lo, hi in self.pairs(layout.columns)
        )
        policy = checks.nan_policy(self.nan, neighbors)
        single = layout.columns is None
        measurement = LinearMeasurement(self, columns, single, setting, policy, terms.loss)
        _ = measurement.loss  # a loss that is too small is refused before the spend
        return measurement


@dataclass(frozen=True, slots=True)
class Plan:
    """The form of each column, and the noise of all sums together.

    `counts` is how many numbers of rows come first, that columns share or have for themselves.
    """

    forms: tuple[Form, ...]
    sizes: tuple[int, ...]
    noise: IntegerNoise | BoxNoise
    counts: int = 0

    def totals(self, summary: Sequence[Totals]) -> list[int]:
        """Return the exact sums that get noise: numbers of rows, and then kind by kind."""
        each = [form.totals(totals) for form, totals in zip(self.forms, summary, strict=True)]
        kinds = [list(kind) for kind in zip(*each, strict=True)]
        if self.counts:
            kinds[0] = kinds[0][: self.counts]
        return [total for kind in kinds for total in kind]

    def sums(self, noisy: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the sums of each column's form."""
        width, rows = len(self.forms), list(noisy[: self.counts])
        kinds = [rows * (width // self.counts)] if self.counts else []
        kinds += [list(noisy[i : i + width]) for i in range(self.counts, len(noisy), width)]
        return list(zip(*kinds, strict=True))

    def size(self, column: int, kind: int, failure: float) -> Fraction:
        """Return what the noise of a sum exceeds in size with a failure probability."""
        if isinstance(self.noise, IntegerNoise):
            return Fraction(self.noise.within(failure))
        width = len(self.forms)
        place = self.counts + (kind - bool(self.counts)) * width + column
        if kind == 0 and self.counts:
            place = column % self.counts
        return self.noise.within(failure, 1, place) * self.sizes[place]


@dataclass(frozen=True, slots=True)
class Sizes:
    """What noise of one column exceeds but with a failure probability, for its error bar."""

    plan: Plan
    column: int
    failure: float

    @property
    def form(self) -> Form:
        return self.plan.forms[self.column]

    def of(self, kind: int, share: float = 1.0) -> Fraction:
        """Return the size of the noise of a sum, for a share of the failure probability."""
        return self.plan.size(self.column, kind, share * self.failure)


@lru_cache(maxsize=1024)
def plan(
    statistic: Linear,
    columns: tuple[Column, ...],
    single: bool,
    setting: Setting,
    loss: Loss,
    drops: bool,
    pairs: int = 0,
) -> Plan:
    """Choose the form of each column and the noise, from public numbers alone.

    A row is in so many `pairs`, if sums are those of pairs.
    """
    has_weights = columns[0].weights is not None
    is_public = setting.is_public and not has_weights  # the sum of all weights is not
    forms = [
        [weighted(form, column) for form in statistic.forms(column, is_public)]
        for column in columns
    ]
    if single and not has_weights:
        independent, *joint = forms[0]
        for form in joint:
            sizes = tuple(setting.sizes(form))
            box = box_noise(loss, sizes)
            if box.distribution == "stairs":
                return Plan((form,), sizes, box, 1)
        return Plan((independent,), (), setting.noise(loss, independent, pairs))
    chosen = tuple(each[-1] for each in forms)
    kinds = [list(kind) for kind in zip(*map(setting.sizes, chosen), strict=True)]
    counts = 0
    if chosen[0].has_rows:
        counts = len(columns) if drops else 1
        kinds[0] = [max(kinds[0]) if any(kinds[1]) else 0] * counts
    sizes = tuple(max(1, pairs) * size for kind in kinds for size in kind)
    shares = count_shares(counts, len(sizes) - counts) if counts else None
    return Plan(chosen, sizes, box_noise(loss, sizes, shares), counts)


def weighted(form: Form, column: Column) -> Form:
    """Return the form of rows with weights, if the column has some."""
    weights = column.weights
    if weights is None:
        return form
    return Form(tuple(one.weighted(weights.first, weights.last) for one in form.features))


@dataclass(frozen=True, slots=True)
class LinearMeasurement:
    """A linear statistic with its noise, of one column or of each of several.

    Parameters
    ----------
    statistic : Linear
    columns : tuple of Column
    single : bool
        Whether there is one answer, and not an array.
    setting : Setting
    nan : str or float
    offered_loss : Loss
        What may be spent; what is charged is the loss of the noise.
    """

    statistic: Linear
    columns: tuple[Column, ...]
    single: bool
    setting: Setting
    nan: str | float
    offered_loss: Loss

    @property
    def loss(self) -> Loss:
        return self.plan().noise.loss

    @property
    def name(self) -> str:
        if self.has_weights:
            return f"weighted {self.statistic.name}"
        return self.statistic.name if self.single else f"{self.statistic.name} of each column"

    @property
    def neighbors(self) -> str:
        return self.setting.neighbors

    @property
    def known(self) -> bool:
        return self.setting.is_public and not self.has_weights

    @property
    def has_weights(self) -> bool:
        return self.columns[0].weights is not None

    def plan(self, rows: int = 2) -> Plan:
        """Return forms and noise, for a public number of rows if they depend on it."""
        pairs = self.statistic.row_pairs(rows) if self.known else 0
        drops = self.nan == "drop"
        return plan(
            self.statistic, self.columns, self.single, self.setting, self.offered_loss, drops, pairs
        )

    @property
    def noise(self) -> IntegerNoise | BoxNoise | None:
        """The noise, unless it depends on the number of rows."""
        return None if self.known and self.statistic.row_pairs(2) else self.plan().noise

    @property
    def deviations(self) -> float | list[float] | None:
        """The standard deviation of the noise of each sum of rows, in units of the data."""
        noise = self.noise
        if noise is None:
            return None
        if isinstance(noise, IntegerNoise):  # that of a variance is one of sums of squares
            unit = float(self.columns[0].product)
            return None if self.statistic.squares else noise.deviation * unit
        first = self.plan().counts  # centered sums, after numbers of rows, are of half cells
        each = zip(noise.deviations[first:], self.columns, strict=False)
        found = [width * float(column.product) / (2 if first else 1) for width, column in each]
        return found[0] if self.single else found

    def reduce(self, source: View) -> list[Totals]:
        grids, squares = [column.cells for column in self.columns], self.statistic.squares
        if self.has_weights:
            return self._weighted(source)
        if self.single:
            found = [totals(source.source, grids[0], source.where, squares)]
        else:
            found = column_totals(source.source, grids, source.where, squares)
        return [
            settled(totals, self.nan, column.lo, column.hi, column.cells)
            for totals, column in zip(found, self.columns, strict=True)
        ]

    def _weighted(self, source: View) -> list[Totals]:
        """Return the sums of weights, as numbers of rows, and of weights times cells."""
        weights, limits, rows = self.columns[0].weights, self.statistic.limits, source.source
        assert weights is not None and limits is not None
        bounds = [*((column.lo, column.hi) for column in self.columns), limits]
        grids = [*(column.cells for column in self.columns), weights]
        products = weighted_moments(rows, source.weights, bounds, grids, self.nan, source.where)
        return [
            Totals(
                sums.sums[1] + sums.rows * weights.first,
                sum=sums.products[0] + weights.first * sums.sums[0],
            )
            for sums in products
        ]

    def finish(self, summary: list[Totals], generator: Generator) -> Answers:
        plan = self.plan(summary[0].rows)
        noisy = plan.noise.add(plan.totals(summary), generator)
        each = zip(self.columns, plan.forms, plan.sums(noisy), summary, strict=True)
        answers = [
            self.statistic.answer(column, form, sums, totals.rows if self.known else None)
            for column, form, sums, totals in each
        ]
        return answers[0] if self.single else np.array(answers, np.float64)

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of each column."""
        if self.statistic.needs_rows and self.has_weights:
            return unknown(confidence, "the sum of the weights is private")
        moves = any(column.span for column in self.columns)
        if self.statistic.needs_rows and rows is None and moves:
            return unknown(confidence, ROWS)
        plan = self.plan(2 if rows is None else rows)
        widths = [
            self.statistic.bar(column, Sizes(plan, i, 1 - confidence), rows or 1, self.known)
            for i, column in enumerate(self.columns)
        ]
        is_bound = self.statistic.needs_rows and not (self.known and self.statistic.is_linear)
        note = BOUND if is_bound else NOISE
        return Expected(confidence, widths[0] if self.single else widths, note=note)
