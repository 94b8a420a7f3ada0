"""Statistics as values: questions with public parameters, without a loss, a unit or data.

    statistic.measure(epsilon=1, unit=unit)  ->  Measurement(data)
    dp.mean(data, bounds=b, epsilon=1)       ==  Mean(bounds=b).prepare(data, epsilon=1).run()

Both lines use the same code. A statistic makes a mechanism for rows, from a neighboring relation of
rows, a loss and a layout (`Terms`). Wrappers are added in this order: two steps for a mask
(`around`), bounds that a part of the loss pays for (`automatic_bounds`), several columns
(`equal_parts`), and the privacy unit (`unit`). A column of times is read as whole numbers of its
unit, and the answer is converted back (`times`). The choice of mechanism depends on public values
alone, so it is made once for equal values.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import update_wrapper
from inspect import signature
from typing import Any, ClassVar, Generic, ParamSpec, Self, TypeAlias

import numpy as np

from .. import privacy
from .._core import checks, nan_policy
from .._core.advice import advise
from .._core.attributes import same_as
from .._core.error_bars import CONFIDENCE, ErrorBar
from .._core.once import PLAIN, once, remembered
from .._core.types import Auto, Axis, Bounds, BoundsEach, NanPolicy, Neighbors, Number
from .._kernels.calls import public_part
from ..budget.budget import Budget
from ..budget.expected import expected_error
from ..budget.mechanism import Mechanism, Value
from ..budget.release import Prepared, Preparing, WithBar, relation_of, releases
from ..budget.released import Release
from ..privacy import Loss
from ..rng import Generator
from ..tables.base import NO_ROWS, S
from ..tables.ids import checked, id_name
from ..tables.intake import Public as Sought
from ..tables.intake import View, plain
from ..tables.times import Binned, Clipped, Times
from .around import Around, in_two_steps
from .automatic_bounds import WithBounds, divided, extremes, trial
from .equal_parts import equal_parts
from .outer_bounds import drawn_bounds
from .times import Answer, Units, are_times, clipped, refuse_dates, time_column_of
from .unit import OfUnits, Unit
from .unit_bounds import rows_of_units, with_unit_bound
from .unit_plan import PlanOfBounds, unit_plan

Args = ParamSpec("Args")
#: A statistic of numbers, with the units that convert times to numbers and answers back to times.
InUnits: TypeAlias = tuple[S, Units]


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a call: how many columns have an answer each, and which rows are used.

    Parameters
    ----------
    columns : int, optional
        The number of columns, each with an answer; by default there is one answer.
    masked : bool, default False
        Whether a mask keeps some of the rows.
    rows : int, optional
        The public number of rows, if the choice of the mechanism depends on it.
    is_whole : bool, default False
        Whether all numbers are integers by their types, if the choice of the mechanism depends on
        this.
    """

    columns: int | None = None
    masked: bool = False
    rows: int | None = None
    is_whole: bool = False


#: The layout of a single answer about all rows.
ONE_ANSWER = Layout()
#: The advice on bounds that are so far apart that float64 does not represent every whole number
#: between them.
WIDE = "bounds are over 2**53 apart, and noise grows with that: give limits of what is measured"


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms that a mechanism of rows is made for: loss, neighboring relation and layout.

    Parameters
    ----------
    loss : Loss
        The loss that may be spent.
    neighbors : {"add-remove", "replace"}
        The relation of rows.
    layout : Layout
    rows : int, default 1
        How many rows are added or removed at once. It is above 1 if the noise covers all rows of a
        unit at once.
    ids : str, optional
        The name of the ids, if the loss is for a unit with ids or for one row of such a unit.
    """

    loss: Loss
    neighbors: str
    layout: Layout
    rows: int = 1
    ids: str | None = None

    @property
    def has_ids(self) -> bool:
        return self.ids is not None

    @property
    def may_enter(self) -> bool:
        """Tell whether a replaced row may also enter or leave the rows that the mask keeps."""
        return self.layout.masked and self.neighbors == "replace"

    def missing_rule(self, nan: Any) -> str | float:
        """Return the rule for missing rows, which by default depends on whether `n` is private.

        To drop a row is to mask it by a function of that row alone. So a loss that covers a mask of
        replaced rows covers dropped rows, too.
        """
        is_private = self.layout.masked or self.neighbors == "add-remove"
        return nan_policy.of_rows(nan, is_private=is_private)


def snake_case(kind: type) -> str:
    """Return the name of a class in the snake case of a function's name."""
    return re.sub(r"(?<=.)(?=[A-Z])", "_", kind.__name__).lower()


@dataclass(frozen=True)
class Statistic(ABC, Generic[Value]):
    """Base of statistics: what is to be computed, with public parameters, but without a loss.

    `measure` adds a loss and a privacy unit. `prepare` also adds the data.

    Parameters
    ----------
    column : str, optional
        The column of a table, if the statistic is one of several by group.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If a public parameter breaks its rule.

    Examples
    --------
    >>> import dpfast as dp
    >>> isinstance(dp.Mean(bounds=(0, 120)), dp.Statistic)
    True
    """

    column: str | None = None

    name: ClassVar[str]
    #: The most columns for which a measurement is prepared without data.
    most_columns: ClassVar[int] = 1 << 16
    #: Whether the statistic only reads sums over rows, which a database can compute.
    only_adds: ClassVar[bool] = False
    #: Whether the mechanism depends on whether the data type is an integer.
    chooses_by_type: ClassVar[bool] = False
    #: Whether one noise can cover all rows of a privacy unit at once.
    at_once: ClassVar[bool] = False
    #: Whether the statistic needs a column when it is computed by group.
    needs_column: ClassVar[bool] = True
    #: Whether a loss without delta is refused, even if the noise would not spend delta.
    needs_delta: ClassVar[bool] = False
    #: Whether the mechanism itself bounds the contribution of a privacy unit, and has the loss of a
    #: unit.
    keeps_units: ClassVar[bool] = False
    #: Whether max_rows may be "auto". False if the statistic is about the number of rows of a unit.
    draws_max_rows: ClassVar[bool] = True
    #: Whether one mechanism releases several columns. Otherwise each column gets an equal part of
    #: the loss.
    joins_columns: ClassVar[bool] = True
    #: Arguments of `prepare` that have no meaning for the statistic. Its public function lacks
    #: them.
    leaves_out: ClassVar[tuple[str, ...]] = ()
    #: Whether answers are numbers, so that two can be subtracted.
    subtracts: ClassVar[bool] = True
    #: The public bounds of the weights; None if there are no weights.
    limits: ClassVar[tuple[float, float] | None] = None
    #: The public bounds of a unit's total, or "auto"; None if each row is bounded.
    unit_limits: ClassVar[Any] = None
    #: Whether the bounds are so far apart that float64 does not represent every whole number
    #: between.
    is_wide: ClassVar[bool] = False

    @property
    def reads_numbers(self) -> bool:
        """Tell whether a plain array of numbers may be read by `tables.intake.plain`.

        It is False for a class with its own `read`, unless the class also defines this property.
        """
        return False

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "read" in vars(cls) and "reads_numbers" not in vars(cls):
            type.__setattr__(cls, "reads_numbers", False)

    @property
    def adds_units(self) -> bool:
        """Tell whether a unit's rows are added before they are bounded.

        If not, at most `max_rows` rows of the unit are chosen, and each of them is bounded.
        """
        return self.at_once

    @property
    def word(self) -> str:
        """The name of the public function, as `dpfast.STATISTICS` has it."""
        return snake_case(type(self))

    @property
    def sought(self) -> Sought | None:
        """The name of the argument that rows are compared with, and its public numbers.

        The type of the column must be able to hold the numbers. None if rows are not compared with
        numbers.
        """
        return None

    @property
    def covers_masks(self) -> bool:
        """Tell whether the loss for a replaced row covers a row that a mask starts to include."""
        return True

    @property
    def chooses_by_rows(self) -> bool:
        """Tell whether the mechanism depends on the number of rows, if this number is public."""
        return False

    def with_limit(self, bound: int) -> Self:
        """Return the statistic with a number in place of ``per_unit="auto"``.

        Parameters
        ----------
        bound : int
            The bound on the total of each privacy unit, which an earlier release has drawn.

        Returns
        -------
        Statistic
            The statistic itself if it has no argument `per_unit`.
        """
        return self

    def chosen(self, terms: Terms) -> Self:
        """Return the statistic with its method chosen from public numbers alone.

        Parameters
        ----------
        terms : Terms
            The loss, the neighboring relation of rows, the number of columns, and whether there is
            a mask.

        Returns
        -------
        Statistic
        """
        return self

    def with_interval(self, coverage: float = CONFIDENCE) -> Statistic[Any]:
        """Return the statistic whose answer is an interval: lower end, value, upper end.

        For quantiles and for noise scaled to smooth sensitivity, an error bar in the data's units
        depends on the rows. So the two ends are released, too, for a part of the same loss.
        ``statistic.with_interval().prepare(data, ...).run()`` returns an array of shape (3,), or
        (3, m) for m quantiles; with d columns there is a last dimension of length d.

        Parameters
        ----------
        coverage : float, default 0.95
            The least probability that the interval contains the statistic of the clamped rows.

        Returns
        -------
        Statistic
            The statistic of the interval, or the statistic itself if its error bar does not depend
            on the rows or is unknown.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If the coverage is not a number between 0 and 1.

        Examples
        --------
        >>> import dpfast as dp
        >>> ages = [23, 35, 41, 58, 62] * 2000
        >>> median = dp.Median(bounds=(0, 120)).with_interval()
        >>> low, value, high = median.prepare(ages, epsilon=1).run()
        >>> bool(low <= value <= high)
        True
        """
        return self

    def __post_init__(self) -> None:
        """Check the parameters."""

    @abstractmethod
    def mechanism(self, terms: Terms) -> Mechanism[Value]:
        """Return the mechanism that releases this statistic of the data that `read` returns.

        Parameters
        ----------
        terms : Terms
            The loss, the neighboring relation of rows, the number of columns and the mask.

        Returns
        -------
        Mechanism

        Raises
        ------
        ArgumentError
            If an argument breaks a rule, or the loss is too small.
        """

    @abstractmethod
    def read(
        self, data: Any, *, relation: str, axis: Any, where: Any, ids: Any, weights: Any
    ) -> View:
        """Return typed access to the rows of the data (a view), without reading a row.

        Parameters
        ----------
        data, relation, axis, where, ids, weights
            The arguments of a call, where `relation` is the neighboring relation of rows.

        Returns
        -------
        View
        """

    def in_units(self, times: Times, data: Any) -> InUnits[Self] | None:
        """Return the statistic for the whole numbers that represent a column of times.

        Parameters
        ----------
        times : Times
            The type of the column.
        data : Any
            The column, for error messages.

        Returns
        -------
        Statistic and Units, or None
            The statistic for these numbers, and the units; None if the statistic is not defined for
            times.
        """
        return self, Units(times, Clipped(0, 0, 0), answer="number")

    def in_times(self, answer: Any, units: Units) -> Any:
        """Convert an answer in whole units of time to times or durations.

        Parameters
        ----------
        answer : Any
            The answer as a number of units, such as days.
        units : Units
            The unit of time and the type of the column.

        Returns
        -------
        Any
        """
        return units.back(answer)

    def require_numbers(self) -> None:
        """Refuse public values that are times, if the column does not hold times."""

    def measure(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        unit: Unit | Neighbors = "add-remove",
        columns: int | None = None,
        where: bool = False,
        rows: int | None = None,
        dtype: Any = None,
    ) -> Measurement[Value]:
        """Return the private algorithm (measurement) that releases the statistic for a loss.

        Parameters
        ----------
        epsilon, delta, rho : float, Fraction or Decimal, optional
            The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
        unit : Unit or {"add-remove", "replace"}, default "add-remove"
            The privacy unit of the loss. A relation alone means that a row is the unit.
        columns : int, optional
            The number of columns, each with an answer; by default there is one answer.
        where : bool, default False
            Whether the measurement will be called with a mask.
        rows : int, optional
            The public number of rows. The choice of method may depend on it.
        dtype : dtype, optional
            The type of the column if it holds times, such as "datetime64[D]"; noise is then made
            for its unit. For quantiles also the type of a column of integers.

        Returns
        -------
        Measurement

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If an argument breaks its rule.

        Examples
        --------
        >>> import dpfast as dp
        >>> mean = dp.Mean(bounds=(0, 120)).measure(epsilon=1)
        >>> mean.loss.epsilon, mean.neighbors
        (Fraction(1, 1), 'add-remove')
        >>> 30 < mean([23, 35, 41, 58, 62] * 200) < 60
        True
        """
        whole = unit if isinstance(unit, Unit) else Unit(checks.neighbors(unit))
        offered = offer(epsilon, delta, rho, whole.neighbors, whole.ids, whole.max_rows)
        width = None if columns is None else checks.whole("columns", columns, 1, self.most_columns)
        length = None if rows is None else checks.whole("rows", rows)
        statistic = self._of_type(dtype)
        is_whole = self.chooses_by_type and dtype is not None and np.dtype(dtype).kind in "biumM"
        layout = Layout(width, checks.flag("where", where), length, is_whole)
        layout = ONE_ANSWER if layout == ONE_ANSWER else layout
        mechanism = mechanism_of(statistic, offered, layout)
        return Measurement(mechanism, self, offered, layout, statistic is not self)

    def _of_type(self, dtype: Any) -> Statistic[Value]:
        """Return the statistic of the numbers that a column of type `dtype` is read as."""
        try:
            kind = None if dtype is None else np.dtype(dtype)
        except Exception:  # an object may raise any error here
            checks.fail_kind("dtype", "a type of NumPy", dtype)
        if kind is None or kind.kind not in "mM":
            return self
        in_units = self.in_units(Times(kind), dtype)
        return self if in_units is None else in_units[0]

    def prepare(
        self,
        data: Any,
        *,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        neighbors: Neighbors | None = None,
        axis: Axis | None = None,
        where: Any = None,
        ids: Any = None,
        max_rows: int | Auto | None = None,
        weights: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Prepared[Value]:
        """Check the arguments of a call and the types of the data, and return the release to run.

        Parameters
        ----------
        data
            As in `dpfast.mean`.
        epsilon, delta, rho : float, Fraction or Decimal, optional
            The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
        neighbors : {"add-remove", "replace"}, optional
            The neighboring relation: by default the relation of the budget, else "add-remove".
        axis : {None, 0, -2}, optional
            With 0 there is an answer for each column, and a row is one record; -2 means the same.
        where : array_like of bool, shape (n,), optional
            A mask of the rows to use; each entry must be a function of its row alone. The number of
            these rows is private.
        ids : array_like of shape (n,), or str, optional
            The id of the person that each row belongs to, or the name of the column of ids, which
            is then not part of the data. The privacy unit is a person: neighbors differ in all rows
            of one id.
        max_rows : int or "auto", optional
            With `ids` only: the largest number of rows of a person that count. "auto" draws the
            bound for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).
        weights : array_like of shape (n,), or str, optional
            The weight of each row, which must be a function of that row alone, or the name of the
            column of weights, which is then not part of the data.
        budget : Budget, optional
            The budget that pays, before rows are read or random bits are drawn; by default the
            budget of the ``with`` block.
        rng : Generator, optional
            The source of random bits, by default the secure one. `InsecureGenerator` is for tests;
            a budget refuses it.

        Returns
        -------
        Prepared
        """
        id_column, name = (None, None) if ids is None else (checked(ids), id_name(ids))
        if axis is not None and "axis" in self.leaves_out:
            checks.fail(
                "axis", f"left out, because {self.name} has one answer about all columns", axis
            )
        amounts, relation = (epsilon, delta, rho), relation_of(neighbors, budget)
        offered = offer(*amounts, relation, name, max_rows)
        rows = {"where": where, "ids": id_column, "weights": weights}
        return self.prepared(data, offered, axis, **rows, budget=budget, rng=rng)

    def prepared(
        self,
        data: Any,
        offered: Offer,
        axis: Any,
        *,
        where: Any = None,
        ids: Any = None,
        weights: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
        measured: Measurement[Value] | None = None,
    ) -> Prepared[Value]:
        """Return the release that `prepare` returns, for a loss and a unit that have been checked.

        Parameters
        ----------
        data : Any
        offered : Offer
            The loss and the unit.
        axis : {None, 0, -2}, optional
            With 0 there is an answer for each column, and a row is one record; -2 means the same.
        where : array_like of bool, shape (n,), optional
            A mask of the rows to use; each entry must be a function of its row alone. The number of
            these rows is private.
        weights : array_like of shape (n,), or str, optional
            The weight of each row, which must be a function of that row alone, or the name of the
            column of weights, which is then not part of the data.
        budget : Budget, optional
            The budget that pays, before rows are read or random bits are drawn; by default the
            budget of the ``with`` block.
        rng : Generator, optional
            The source of random bits, by default the secure one. `InsecureGenerator` is for tests;
            a budget refuses it.
        ids : str or form, optional
            The ids of the rows: the name of a column, or a column of a known type.
        measured : Measurement, optional
            The measurement, if it was made before, for this loss, these columns and this mask.

        Returns
        -------
        Prepared
        """
        if (weights is None) != (self.limits is None):
            checks.fail("weight_bounds", "given with weights, and only then", self.limits)
        if self.is_wide:
            advise(WIDE)
        statistic, after = self, None
        view = None
        if self.reads_numbers and axis is where is ids is weights is None:
            view = plain(data)
        if view is None:
            column, data = time_column_of(data, axis, ids, weights)
            in_units = None if column is None else self.in_units(column.times, data)
            if column is not None and in_units is not None:
                statistic, units = in_units
                data = column.read(units.number)
                after = None if units.answer == "number" else InTimes(statistic, units)
            statistic.require_numbers()
            rows = {"where": where, "ids": ids, "weights": weights}
            view = statistic.read(data, relation=offered.unit.of_rows, axis=axis, **rows)
            if view.adds and not self.only_adds:
                checks.fail_kind("data", NO_ROWS, data)
        length = None if measured is None else measured.layout.rows
        if measured is None and offered.unit.of_rows == "replace" and self.chooses_by_rows:
            length = view.length
        columns = None if measured is None else measured.layout.columns
        # Bounds may also state the number of columns.
        if view.by_column and columns not in (None, view.width):
            checks.fail("data", f"a table of {columns} columns, as given to measure()", view.width)
        layout, is_whole = ONE_ANSWER, self.chooses_by_type and view.is_whole
        if view.by_column or where is not None or length is not None or is_whole:
            columns = view.width if view.by_column else None
            layout = Layout(columns, where is not None, length, is_whole)
        mechanism = None
        if measured is not None and statistic is self and layout is measured.layout:
            mechanism = None if measured.of_times else measured.inner
        if mechanism is None:
            mechanism = mechanism_of(statistic, offered, layout)
        return Prepared(
            mechanism,
            view,
            budget,
            rng,
            after,
            lambda: Call(Measurement(mechanism, self, offered, layout), statistic),
        )


@dataclass(frozen=True, slots=True)
class Call:
    """The statistic and the public parameters of a call, for the `Question` of its record.

    Parameters
    ----------
    measurement : Measurement
    statistic : Statistic
        The statistic for the numbers that represent its column.
    """

    measurement: Measurement[Any]
    statistic: Statistic[Any]

    #: The name of the public function.
    name = same_as("measurement.statistic.word")

    parameters = same_as("measurement.parameters")

    def with_ends(self, confidence: float) -> Mechanism[Any] | None:
        """Return the mechanism that also releases the ends of an error bar, None if not needed."""
        statistic = self.statistic.with_interval(confidence)
        if statistic is self.statistic:
            return None
        return mechanism_of(statistic, self.measurement.offered, self.measurement.layout)


@dataclass(frozen=True, slots=True)
class InTimes(WithBar):
    """A function that turns answers in whole units into times, and error bars into durations."""

    statistic: Statistic[Any]
    units: Units

    def __call__(self, answer: Any) -> Any:
        return self.statistic.in_times(answer, self.units)

    def bar(self, bar: ErrorBar) -> ErrorBar:
        if bar.half_width is None or isinstance(self.units.number, Binned):
            return bar  # an answer of bins: its counts are not times
        # Answers in whole units are rounded, by up to half a unit.
        half = 0.0 if self.units.answer == "total" else 0.5
        width = np.ceil(np.asarray(bar.half_width, np.float64) + half)
        return replace(bar, half_width=self.units.times.span(width))


@once
def of_numbers(lo: Any, hi: Any, nan: Any) -> tuple[tuple[float, float], str | float | None]:
    """Check bounds and the policy for missing rows, and return both."""
    return checks.bounds((lo, hi)), nan_policy.checked(nan)


#: The arguments of a call about its rows, its loss and its unit.
OF_CALLS = frozenset(Statistic.prepare.__kwdefaults__ or ())
#: The public part of a call: positional arguments, names and values of the other arguments, and the
#: types of all.
Public: TypeAlias = tuple[tuple[Any, ...], tuple[str, ...], tuple[Any, ...], tuple[type, ...]]
#: Arguments of a call that are not public numbers, and those with an entry for each row.
PAID, OF_ROWS = frozenset(("budget", "rng")), ("axis", "where", "ids", "weights")


@remembered
def public_call(
    ask: Callable[..., Statistic[Any]], public: Public, relation: Neighbors
) -> tuple[Statistic[Any], Offer] | None:
    """Return the statistic of a call and the loss it may spend, from public arguments alone.

    Return None if an axis, a mask, ids or weights are passed, because they are checked with the
    data.
    """
    placed, names, values, _ = public
    named = dict(zip(names, values, strict=True))
    if any(named.get(name) is not None for name in OF_ROWS):
        return None
    statistic = ask(None, *placed, **named)
    loss = named.get("epsilon"), named.get("delta", 0.0), named.get("rho")
    return statistic, offer(*loss, relation, None, named.get("max_rows"))


def measures(ask: Callable[Args, Statistic[Value]]) -> Callable[Args, Value]:
    """Return a public function that releases the statistic which `ask` constructs.

    Parameters
    ----------
    ask : callable
        A function of the data and of the arguments of a call, such as `epsilon`, `budget` and
        `rng`. It returns a `Statistic`, made from the arguments that describe the statistic. It
        must not read the data.

    Returns
    -------
    callable
        A function with the name, the arguments and the docstring of `ask`, which returns the
        private answer. `Budget.cost` and `expected_error` accept it.

    Raises
    ------
    AttributeError
        If `ask` is not a function.

    Examples
    --------
    >>> import dpfast as dp
    >>> @dp.extend.measures
    ... def age(data, *, epsilon=None, budget=None, rng=None):
    ...     return dp.Mean(bounds=(0, 120))
    >>> 30 < age([23, 35, 41, 58, 62] * 200, epsilon=1) < 60
    True
    """

    taken = signature(ask)
    first, *_ = taken.parameters

    def prepare(*args: Any, **kwargs: Any) -> Prepared[Value]:
        bound = taken.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = {**bound.arguments, **bound.kwargs}
        call = {name: arguments[name] for name in OF_CALLS & arguments.keys()}
        return ask(*args, **kwargs).prepare(arguments[first], **call)

    return releases(update_wrapper(prepare, ask))


def measures_once(ask: Callable[..., Statistic[Value]]) -> Callable[..., Value]:
    """Return the public function that `measures` returns; call `ask` once for equal arguments.

    Parameters
    ----------
    ask : callable
        As in `measures`. It is called once for equal arguments.

    Returns
    -------
    callable
    """

    def prepare(*args: Any, **kwargs: Any) -> Prepared[Value]:
        # Read from the arguments, without binding them.
        whole = {"budget": None, "rng": None, "neighbors": None, **kwargs}
        budget, rng = whole["budget"], whole["rng"]
        relation = relation_of(whole["neighbors"], budget)
        public = public_part(args, kwargs, PAID, PLAIN) if args else None
        remembered_call = None if public is None else public_call(ask, public, relation)
        if remembered_call is not None:
            statistic, offered = remembered_call
            return statistic.prepared(args[0], offered, None, budget=budget, rng=rng)
        statistic = ask(*args, **kwargs)
        call = {name: kwargs[name] for name in OF_CALLS & kwargs.keys()} | {"neighbors": relation}
        return statistic.prepare(args[0] if args else kwargs["data"], **call)

    return releases(update_wrapper(prepare, ask))


@dataclass(frozen=True, kw_only=True)
class Weighted(Statistic[Value]):
    """Base of statistics whose rows may have weights.

    Parameters
    ----------
    weights : str, optional
        The column of a table, if the statistic is one of several by group.
    weight_bounds : (float, float), optional
    """

    weights: str | None = None
    weight_bounds: Bounds | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights is not None:
            checks.text("weights", self.weights)
            if self.weight_bounds is None:
                checks.fail("weight_bounds", "given with weights, and only then", None)
        if self.weight_bounds is not None:
            limits = checks.bounds(self.weight_bounds, "weight_bounds")
            checks.assign(self, weight_bounds=limits, limits=limits)


@dataclass(frozen=True, kw_only=True)
class Automatic(Statistic[Value]):
    """Base of statistics whose bounds may be "auto": drawn for a part of the loss.

    Parameters
    ----------
    bounds : bounds of each column, or "auto"
    """

    bounds: Any

    @property
    def is_auto(self) -> bool:
        """Tell whether bounds are "auto": drawn for a part of the loss."""
        return checks.is_auto(self.bounds)

    @property
    def adds_units(self) -> bool:
        return self.at_once and not self.is_auto

    @property
    def bounded(self) -> tuple[str | None, ...]:
        """The columns of a table for which ``bounds="auto"`` draws a pair of bounds each."""
        return (self.column,)

    @property
    def nan(self) -> NanPolicy | None:
        """The policy for missing numbers: by default "lower", so that drawn bounds ignore them."""
        return "lower"


@dataclass(frozen=True, kw_only=True)
class Bounded(Automatic[Value]):
    """Base of statistics of rows that are clamped to bounds.

    Parameters
    ----------
    bounds : (float, float), sequence of d such pairs, or "auto"
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    """

    bounds: BoundsEach | Auto
    nan: NanPolicy | None = None

    #: The kind of answer for a column of times; None if the statistic is for numbers only.
    answer_of_times: ClassVar[Answer | None] = None

    def __post_init__(self) -> None:
        if self.column is not None:
            checks.text("column", self.column)
        bounds: Any = self.bounds
        nan: Any = self.nan
        if type(bounds) is tuple and len(bounds) == 2 and {*map(type, bounds)} <= {int, float}:
            bounds, nan = of_numbers(*bounds, nan)
            pairs: Sequence[Any] = (bounds,)
        elif are_times(bounds) or are_times([bounds]):
            return  # these are checked when a column of times is read
        else:
            pairs = ()
            if not self.is_auto:
                pairs, several = checks.pairs(bounds)
                bounds = pairs if several else pairs[0]
            nan = nan_policy.checked(nan)
        object.__setattr__(self, "bounds", bounds)
        object.__setattr__(self, "nan", nan)
        for lo, hi in pairs:
            if hi - lo > 2.0**53:
                object.__setattr__(self, "is_wide", True)

    @property
    def width(self) -> int | None:
        """The number of columns with separate bounds; None if one pair is for all columns."""
        bounds = self.bounds
        return len(bounds) if type(bounds) is tuple and type(bounds[0]) is tuple else None

    def pairs(self, columns: int | None) -> tuple[tuple[float, float], ...]:
        """Return the bounds of each column.

        Parameters
        ----------
        columns : int or None
            The number of columns that get an answer each; None if there is a single answer.

        Returns
        -------
        tuple of (float, float)
        """
        if columns is None:
            return (checks.bounds(self.bounds),)
        pairs, several = checks.pairs(self.bounds)
        if several and len(pairs) != columns:
            rule = f"one pair, or one for each column of the data, {columns}"
            checks.fail("bounds", rule, f"{len(pairs)} of them")
        return pairs if several else pairs * columns

    def require_numbers(self) -> None:
        bounds = self.bounds
        are_numbers = type(bounds) is tuple and type(bounds[0]) in (float, tuple)
        if not are_numbers and not self.is_auto:
            rule = "numbers, for a column of numbers (or give its dtype)"
            checks.fail_type("bounds", rule, bounds)

    def in_units(self, times: Times, data: Any) -> InUnits[Self] | None:
        answer = self.answer_of_times
        if answer is None:
            return None
        if answer == "total" and times.dtype.kind == "M":
            refuse_dates(self.column, data)
        bounds, nan, units = clipped(times, answer, self.bounds, self.nan)
        return replace(self, bounds=bounds, nan=nan), units


@dataclass(frozen=True, eq=False, slots=True)
class Offer:
    """A loss that may be spent, and its unit: one object for equal arguments, to hash fast."""

    loss: Loss
    unit: Unit


@once
def offer(
    epsilon: Any, delta: Any, rho: Any, neighbors: Neighbors, ids: str | None, max_rows: Any
) -> Offer:
    """Check the arguments of a loss and its privacy unit, and return both."""
    return Offer(privacy.loss(epsilon, delta, rho), Unit(neighbors, ids, max_rows))


@remembered
def mechanism_of(statistic: Statistic[Any], offered: Offer, layout: Layout) -> Mechanism[Any]:
    """Return the mechanism of a statistic for an offered loss and privacy unit."""
    statistic.require_numbers()
    return of_unit(statistic, offered.loss, offered.unit, layout)


def of_unit(statistic: Statistic[Any], loss: Loss, unit: Unit, layout: Layout) -> Mechanism[Any]:
    """Return the mechanism of a statistic for a loss and a unit, whose bounds may be "auto"."""
    limits = statistic.unit_limits
    if unit.ids is None:
        if limits is not None:
            checks.fail("per_unit", "left out without ids: it limits the total of one id", limits)
        return _of_columns(statistic, Terms(loss, unit.neighbors, layout))
    if limits is not None:
        if unit.max_rows is not None:
            rule = "left out with per_unit, which bounds all rows of a unit together"
            checks.fail("max_rows", rule, unit.max_rows)
        if not statistic.adds_units:
            checks.fail("bounds", "numbers, with per_unit", "auto")
        if checks.is_auto(limits):

            def clamped(bound: int, part: Loss) -> Any:
                return of_unit(statistic.with_limit(bound), part, unit, layout)

            tails = clamped(1, loss).inner.tails
            return with_unit_bound("per_unit", loss, unit.neighbors, clamped, tails)
        whole = Terms(loss, unit.neighbors, replace(layout, masked=True), 1, unit.ids)
        return OfUnits(_of_columns(statistic, whole), unit, 0)
    if unit.max_rows is None:
        checks.fail("max_rows", "given with ids, to limit the rows of a person", None)
    if isinstance(unit.max_rows, str):
        if not statistic.draws_max_rows:
            rule = "a whole number: the people with at most that many rows are counted"
            checks.fail_type("max_rows", rule, unit.max_rows)

        def bounded_unit(max_rows: int, part: Loss) -> Mechanism[Any]:
            return of_unit(statistic, part, replace(unit, max_rows=max_rows), layout)

        return with_unit_bound("max_rows", loss, unit.neighbors, bounded_unit, rows_of_units)
    if statistic.keeps_units:
        terms = Terms(loss, unit.neighbors, layout, unit.max_rows, unit.ids)
        return _of_columns(statistic, terms)
    part, rows = unit.part(loss, statistic.adds_units)
    inner = _of_columns(statistic, Terms(part, unit.of_rows, layout, rows, unit.ids))
    return OfUnits(inner, unit, unit.max_rows // rows)


def _of_columns(statistic: Statistic[Any], terms: Terms) -> Mechanism[Any]:
    """Return the mechanism of rows: one for all columns, or one for each column."""
    width = terms.layout.columns
    if width is None or statistic.joins_columns:
        return _with_bounds(statistic, terms)
    alone = replace(terms, layout=replace(terms.layout, columns=None))
    statistics = [statistic] * width
    if isinstance(statistic, Bounded) and not statistic.is_auto:
        bounded: Bounded[Any] = statistic
        statistics = [replace(bounded, bounds=pair) for pair in bounded.pairs(width)]

    def maker(column: Statistic[Any]) -> Callable[[Loss], Mechanism[Any]]:
        return lambda loss: _with_bounds(column, replace(alone, loss=loss))

    return equal_parts(terms.loss, [maker(column) for column in statistics])


def _of_mask(statistic: Statistic[Any], terms: Terms) -> Mechanism[Any]:
    """Return the mechanism of the rows that a mask keeps, in two steps where these are needed."""
    chosen = statistic.chosen(terms)
    if not terms.may_enter or chosen.covers_masks:
        return chosen.mechanism(terms)

    def of(loss: Loss) -> Mechanism[Any]:
        return chosen.mechanism(replace(terms, loss=loss, neighbors="add-remove"))

    return in_two_steps(terms.loss, of)


def _with_bounds(statistic: Statistic[Any], terms: Terms) -> Mechanism[Any]:
    """Return the mechanism of rows; where bounds are "auto" they are drawn first."""
    if not isinstance(statistic, Automatic) or not statistic.is_auto:
        return _of_mask(statistic, terms)
    bounded: Automatic[Any] = statistic
    first, remaining_loss = divided(terms.loss)
    others, columns = replace(terms, loss=remaining_loss), terms.layout.columns

    def of(bounds: Any) -> Mechanism[Any]:
        return _of_mask(replace(bounded, bounds=bounds), others)

    like = trial(of, extremes(columns))
    bounds = drawn_bounds(first, columns, terms.neighbors, terms.missing_rule(bounded.nan))
    return WithBounds(bounds, of, terms.loss, remaining_loss, like.name)


@dataclass(frozen=True, slots=True)
class Measurement(Around[Value], Preparing[Value]):
    """A statistic with a loss and a privacy unit: a private algorithm that is called on data.

    `Statistic.measure` returns a measurement. A measurement is immutable. Its loss, its noise and
    its error bar are known before it is called.

    Privacy
    -------
    A call satisfies `loss` for neighbors that differ in one `unit`. The docstring of the
    statistic's public function states the theorem (for `dpfast.Mean` it is `dpfast.mean`: Ghosh,
    Roughgarden and Sundararajan, STOC 2009; Canonne, Kamath and Steinke, NeurIPS 2020).

    Parameters
    ----------
    inner : Mechanism
    statistic : Statistic
    offered : Offer
        The loss that may be spent, and the unit. The loss that is charged is `loss`.
    layout : Layout
    of_times : bool, default False
        Whether `inner` works on the whole numbers that represent a column of times.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        A call raises the errors of the statistic's public function.

    Examples
    --------
    >>> import dpfast as dp
    >>> mean = dp.Mean(bounds=(0, 120)).measure(epsilon=1)
    >>> mean.parameters
    {'bounds': (0.0, 120.0), 'nan': 'drop', 'neighbors': 'add-remove'}
    >>> round(mean.error(1000, 0.95).half_width, 2)
    0.37
    >>> budget = dp.Budget(epsilon=1)
    >>> 40 < mean([23, 35, 41, 58, 62] * 200, budget=budget) < 48
    True
    """

    statistic: Statistic[Value]
    offered: Offer
    layout: Layout
    of_times: bool = False

    @property
    def unit(self) -> Unit:
        """The privacy unit that the loss holds for."""
        return self.offered.unit

    neighbors = same_as("unit.neighbors")

    @property
    def ids(self) -> str | None:
        """The name of the ids, if all rows of an id are a privacy unit; None if a row is a unit."""
        return self.unit.ids

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters of the statistic and of the unit, by name."""
        names = [field.name for field in fields(self.statistic) if field.init]
        values = {name: getattr(self.statistic, name) for name in names}
        values |= {field.name: getattr(self.unit, field.name) for field in fields(self.unit)}
        values |= {"nan": self.missing} if "nan" in values else {}
        return {name: value for name, value in values.items() if value is not None}

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of the answer.

        Parameters
        ----------
        rows : int or None
            The number of rows to assume; None if no number is known.
        confidence : float

        Returns
        -------
        ErrorBar
            As `dpfast.expected_error` returns it.
        """
        return expected_error(self.inner, rows=rows, confidence=confidence)

    def answered(
        self, summary: Any, generator: Generator, rows: int | None, confidence: float
    ) -> tuple[Value, ErrorBar]:
        """Return the answer with its error bar, as `Mechanism.answered` does.

        Parameters
        ----------
        summary : Any
            The result of `reduce`.
        generator : Generator
        rows : int or None
            The number of rows, if it is public.
        confidence : float

        Returns
        -------
        (object, ErrorBar)
        """
        return self.inner.answered(summary, generator, rows, confidence)

    def plan(self, rows: int, units: int, max_rows: Sequence[int] | None = None) -> PlanOfBounds:
        """Compare bounds on the rows of a unit by their error and by how many rows then count.

        A larger bound needs more noise, and a smaller bound drops more rows. How many rows count
        depends on how rows are spread over units. Most rows count if all units have equally many
        rows. Fewest count if one unit has as many rows as possible.

        Parameters
        ----------
        rows, units : int
            The public or guessed numbers of rows and of units, at least 1. Nothing is read from
            data.
        max_rows : list of int, optional
            The bounds to compare; by default powers of two.

        Returns
        -------
        dict of arrays
            Each array has an entry for each bound. "max_rows" is the bound. "error 95%" is the
            half-width of the error bar if rows are spread evenly (NaN if it is unknown). "rows at
            most" and "rows at least" are the largest and the smallest number of rows that can
            count.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If the unit is a row, or an argument breaks its rule.

        Examples
        --------
        >>> import dpfast as dp
        >>> flights = dp.Count().measure(epsilon=1, unit=dp.Unit(ids="plane", max_rows=1))
        >>> flights.plan(rows=334_264, units=4_043, max_rows=[1, 20, 400])
        max_rows  error 95%  rows at most  rows at least
               1          3          4043           4043
              20         60         80860           4062
             400       1198        334264           4442
        (3 bounds)
        """
        unit = self.unit
        if unit.ids is None or self.statistic.unit_limits is not None:
            checks.fail_kind("unit", "a unit with ids and max_rows", unit)

        def bar(bound: int, kept: int) -> ErrorBar:
            bounded = Offer(self.offered.loss, replace(unit, max_rows=bound))
            return mechanism_of(self.statistic, bounded, self.layout).error(kept, CONFIDENCE)

        return unit_plan(bar, rows, units, max_rows)

    def prepare(
        self,
        data: Any,
        *,
        where: Any = None,
        ids: Any = None,
        weights: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Prepared[Value]:
        """Check data and the arguments of a call, and return the release that it would run.

        Parameters
        ----------
        data : array_like, table, file or source
            The data, in a form that the statistic's public function takes.
        where : array_like of bool, shape (n,), optional
            A mask of the rows to use; each entry must be a function of its row alone. The number of
            these rows is private.
        ids : array_like of shape (n,), or str, optional
            The id of the person that each row belongs to, or the name of the column of ids, which
            is then not part of the data. The privacy unit is a person: neighbors differ in all rows
            of one id. By default the ids are in the column that the unit names.
        weights : array_like of shape (n,), or str, optional
            The weight of each row, which must be a function of that row alone, or the name of the
            column of weights, which is then not part of the data.
        budget : Budget, optional
            The budget that pays, before rows are read or random bits are drawn; by default the
            budget of the ``with`` block.
        rng : Generator, optional
            The source of random bits, by default the secure one. `InsecureGenerator` is for tests;
            a budget refuses it.

        Returns
        -------
        Prepared
        """
        unit, layout = self.offered.unit, self.layout
        if ids is None:
            ids = unit.ids
        elif unit.ids is None:
            rule = "left out: measure(unit=Unit(ids=...)) makes a measurement of people"
            checks.fail_kind("ids", rule, ids)
        elif (name := id_name(ids)) and name != unit.ids:
            checks.fail("ids", f"the ids of the unit, {unit.ids!r}, or ids without a name", name)
        if where is not None and unit.of_rows == "replace" and not layout.masked:
            rule = "left out: measure(where=True) makes a measurement with a mask"
            checks.fail_kind("where", rule, where)
        prepared = self.statistic.prepared(
            data,
            self.offered,
            None if layout.columns is None else 0,
            where=where,
            ids=None if ids is None else checked(ids),
            weights=weights,
            budget=budget,
            rng=rng,
            measured=self,
        )
        if prepared.mechanism is not self.inner and prepared.mechanism.loss != self.inner.loss:
            rule = "as columns, where and dtype of measure() say, because these decide the loss"
            checks.fail_kind("data", rule, data)
        return prepared

    def __call__(
        self,
        data: Any,
        *,
        where: Any = None,
        ids: Any = None,
        weights: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Value:
        """Release the answer of this measurement for some data.

        Parameters
        ----------
        data : array_like, table, file or source
            The data, in a form that the statistic's public function takes.
        where : array_like of bool, shape (n,), optional
            A mask of the rows to use; each entry must be a function of its row alone. The number of
            these rows is private.
        ids : array_like of shape (n,), or str, optional
            The id of the person that each row belongs to, or the name of the column of ids, which
            is then not part of the data. The privacy unit is a person: neighbors differ in all rows
            of one id. By default the ids are in the column that the unit names.
        weights : array_like of shape (n,), or str, optional
            The weight of each row, which must be a function of that row alone, or the name of the
            column of weights, which is then not part of the data.
        budget : Budget, optional
            The budget that pays, before rows are read or random bits are drawn; by default the
            budget of the ``with`` block.
        rng : Generator, optional
            The source of random bits, by default the secure one. `InsecureGenerator` is for tests;
            a budget refuses it.

        Returns
        -------
        The private answer.

        Raises
        ------
        ArgumentError, ArgumentTypeError, BudgetError
            For a bad argument, or too small a budget; nothing has been spent.
        """
        return self.prepare(
            data, where=where, ids=ids, weights=weights, budget=budget, rng=rng
        ).run()

    def release(
        self,
        data: Any,
        *,
        where: Any = None,
        ids: Any = None,
        weights: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Release[Value]:
        """Release the answer for some data, with its error bar and all that is public about it.

        Parameters
        ----------
        data : array_like, table, file or source
            The data, in a form that the statistic's public function takes.
        where : array_like of bool, shape (n,), optional
            A mask of the rows to use; each entry must be a function of its row alone. The number of
            these rows is private.
        ids : array_like of shape (n,), or str, optional
            The id of the person that each row belongs to, or the name of the column of ids, which
            is then not part of the data. The privacy unit is a person: neighbors differ in all rows
            of one id. By default the ids are in the column that the unit names.
        weights : array_like of shape (n,), or str, optional
            The weight of each row, which must be a function of that row alone, or the name of the
            column of weights, which is then not part of the data.
        budget : Budget, optional
            The budget that pays, before rows are read or random bits are drawn; by default the
            budget of the ``with`` block.
        rng : Generator, optional
            The source of random bits, by default the secure one. `InsecureGenerator` is for tests;
            a budget refuses it.

        Returns
        -------
        Release

        Raises
        ------
        ArgumentError, ArgumentTypeError, BudgetError
            For a bad argument, or too small a budget; nothing has been spent.

        Examples
        --------
        >>> import dpfast as dp
        >>> budget = dp.Budget(epsilon=1)
        >>> mean = dp.Mean(bounds=(0, 120)).measure(epsilon=0.5)
        >>> release = mean.release([23, 35, 41, 58, 62] * 200, budget=budget)
        >>> 40 < release.value < 48, release.entry, release.bar.half_width < 1
        (True, 1, True)
        """
        prepared = self.prepare(data, where=where, ids=ids, weights=weights, budget=budget, rng=rng)
        return prepared.release()
