"""Statistics of quantiles, extremes and interquartile ranges, and the choice of mechanisms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.attributes import same_as
from ..._core.error_bars import CONFIDENCE
from ..._core.once import once
from ..._core.types import Auto, BoundsEach, NanPolicy, NoiseName, Number
from ...budget.mechanism import Mechanism
from ...measurement.around import OfKept
from ...measurement.equal_parts import part
from ...measurement.statistic import Statistic, Terms
from ...measurement.times import Answer
from ...noise.additive import without_delta
from ...noise.grid import Lattice
from ...noise.smooth import calibrate_loss
from ...privacy import ZCDP, range_within
from ...sensitivity.iqr import QUARTILES, IqrSensitivity
from ...sensitivity.quantile import QuantileSensitivity
from ...tables.public_values import listed
from ..ranked import Crossings, OnGrid, SmoothOrDrawn
from .ends import Between, RangeBetween, smooth_interval
from .exponential import ExponentialExtreme, ExponentialQuantile
from .joint import ExponentialRange, JointQuantiles
from .recursive import RecursiveQuantiles
from .smooth import SmoothExtreme, SmoothQuantile, SmoothRange

Method: TypeAlias = Literal["auto", "smooth", "exponential"]
IqrMethod: TypeAlias = Literal["auto", "smooth", "recursive", "joint"]
ManyMethod: TypeAlias = Literal["auto", "recursive", "joint"]
#: The methods for several quantiles.
MANY: dict[str, type[RecursiveQuantiles] | type[JointQuantiles]] = {
    "recursive": RecursiveQuantiles,
    "joint": JointQuantiles,
}
#: "auto" draws quantiles jointly under "replace", if there are at most MOST_JOINT quantiles and
#: ROWS_JOINT rows, and if rows times the range of the draw are at most RANGE_JOINT for each
#: quantile. There the mean errors are 0.25 to 0.9 times those of the recursion
#: (`benchmarks/crossings.py`).
MOST_JOINT, ROWS_JOINT, RANGE_JOINT = 9, 100_000, 100
Like = TypeVar("Like", bound=OnGrid[Any])
#: A joint draw needs an epsilon above this, because it spends a part on rounding.
LEAST_JOINT = Fraction(1, 1 << 30)


@dataclass(frozen=True, kw_only=True)
class OneRank(SmoothOrDrawn[float | NDArray[np.float64]], QuantileSensitivity):
    """Base of quantiles and extremes, whose mechanism adds noise (`smooth`) or draws (`draw`)."""

    method: Method = "auto"

    answer_of_times: ClassVar[Answer] = "point"
    methods: ClassVar[tuple[str, ...]] = get_args(Method)
    smooth: ClassVar[Any] = SmoothQuantile
    draw: ClassVar[Any] = ExponentialQuantile

    def mechanism(self, terms: Terms) -> Mechanism[float]:
        column = self.column_of(terms) | {"q": self.share_below}
        if self.method == "smooth":
            return OfKept(self.smooth(**column, calibration=calibrate_loss(self.noise, terms.loss)))
        return OfKept(self.draw(**column, loss=without_delta(terms.loss)))

    def with_interval(self, coverage: float = CONFIDENCE) -> QuantileInterval:
        return _like(QuantileInterval, self, q=self.share_below, coverage=coverage)


@dataclass(frozen=True, kw_only=True)
class OneQuantile(OneRank):
    """Base of statistics of one quantile: quantile, percentile, median."""

    assume_sorted: bool = False

    #: Smooth sensitivity noise is used where its mean and median errors are both smaller, for
    #: evenly spread and for random rows (`benchmarks/crossings.py`). It is used only beyond an
    #: epsilon of 10: up to there, its errors are larger than those of a plain draw if rows are
    #: tied, or even in number (`benchmarks/accuracy.py`).
    smooth_from: ClassVar[Crossings] = {
        "add-remove": (Fraction(12), Fraction(8)),
        "replace": (Fraction(12), Fraction(8)),
        "two steps": (Fraction(12), math.inf),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.assume_sorted is not False:
            checks.flag("assume_sorted", self.assume_sorted)

    def column_of(self, terms: Terms) -> dict[str, Any]:
        return super().column_of(terms) | {"assume_sorted": self.assume_sorted}


@dataclass(frozen=True)
class Quantile(OneQuantile):
    """A quantile of the clamped rows, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    q : float or Fraction
    bounds : (float, float), sequence of d such pairs, or "auto"
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    granularity : float, Fraction or Decimal, optional
    method : {"auto", "smooth", "exponential"}, default "auto"
    noise : str, default "auto"
    assume_sorted : bool, default False
        As in `dpfast.quantile`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.quantile`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.Quantile(q=0.9, bounds=(0, 120)).measure(epsilon=1).name
    'quantile 9/10'
    """

    q: Number | None = None

    name: ClassVar[str] = "quantile"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "q", self.exact(self.q))

    @staticmethod
    def exact(q: Any) -> Fraction:
        """Return the argument `q` as an exact fraction, or refuse one outside its range."""
        return quantile_of(q)

    @property
    def share_below(self) -> Fraction:
        assert isinstance(self.q, Fraction)
        return self.q


@once
def quantile_of(q: Any) -> Fraction:
    """Return a quantile's `q` as an exact fraction between 0 and 1, or refuse it."""
    return checks.quantile(q)


def percent(q: Any, name: str = "q") -> Fraction:
    """Return a percentile as an exact fraction between 0 and 100, or refuse it."""
    exact = checks.fraction(name, q)
    if not 0 <= exact <= 100:
        checks.fail(name, "a number between 0 and 100", q)
    return exact


@dataclass(frozen=True)
class Percentile(Quantile):
    """A percentile of the clamped rows, as a statistic to measure: the quantile at ``q / 100``.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    q : float or Fraction
        0 to 100.
    bounds : (float, float), sequence of d such pairs, or "auto"
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    granularity : float, Fraction or Decimal, optional
    method : {"auto", "smooth", "exponential"}, default "auto"
    noise : str, default "auto"
    assume_sorted : bool, default False
        As in `dpfast.percentile`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.percentile`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.Percentile(q=90, bounds=(0, 120)).measure(epsilon=1).name
    'quantile 9/10'
    """

    q: Number | Sequence[Number] | NDArray[Any] | None = None  # type: ignore[assignment]
    method: Method | ManyMethod = field(default="auto", kw_only=True)  # type: ignore[assignment]

    @staticmethod
    def exact(q: Any) -> Fraction:
        return percent(q)

    @property
    def share_below(self) -> Fraction:
        return super().share_below / 100


@dataclass(frozen=True)
class Median(OneQuantile):
    """The lower median of the clamped rows, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    bounds : (float, float), sequence of d such pairs, or "auto"
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    granularity : float, Fraction or Decimal, optional
    method : {"auto", "smooth", "exponential"}, default "auto"
    noise : str, default "auto"
    assume_sorted : bool, default False
        As in `dpfast.median`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.median`.

    Examples
    --------
    >>> import dpfast as dp
    >>> 30 < dp.Median(bounds=(0, 120)).measure(epsilon=1)([23, 35, 41, 58, 62] * 200) < 60
    True
    """

    name: ClassVar[str] = "median"

    @property
    def share_below(self) -> Fraction:
        return Fraction(1, 2)


@dataclass(frozen=True)
class Quantiles(OnGrid[NDArray[np.float64]]):
    """Several quantiles of the clamped rows for one loss, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    qs : sequence of float or Fraction
    bounds : (float, float), sequence of d such pairs, or "auto"
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    granularity : float, Fraction or Decimal, optional
    method : {"auto", "recursive", "joint"}, default "auto"
    assume_sorted : bool, default False
        As in `dpfast.quantiles`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.quantiles`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.Quantiles(qs=[0.25, 0.75], bounds=(0, 120)).measure(epsilon=1).name
    'quantiles 1/4, 3/4'
    """

    qs: Sequence[Number] | NDArray[Any] = ()
    assume_sorted: bool = field(default=False, kw_only=True)
    method: ManyMethod = field(default="auto", kw_only=True)

    name: ClassVar[str] = "quantiles"
    answer_of_times: ClassVar[Answer] = "point"
    methods: ClassVar[tuple[str, ...]] = get_args(ManyMethod)
    leaves_out: ClassVar[tuple[str, ...]] = ("delta",)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "qs", several(self.qs))
        if self.assume_sorted is not False:
            checks.flag("assume_sorted", self.assume_sorted)

    @property
    def chooses_by_rows(self) -> bool:
        return self.method == "auto"

    def best_method(self, terms: Terms) -> str:
        rows, loss, m = terms.layout.rows, without_delta(terms.loss), len(set(self.qs))
        if rows is None or terms.layout.masked or terms.neighbors != "replace":
            return "recursive"
        epsilon = range_within(loss.rho) if isinstance(loss, ZCDP) else loss.epsilon
        few = 2 <= m <= MOST_JOINT and rows <= ROWS_JOINT and epsilon > LEAST_JOINT
        return "joint" if few and rows * epsilon <= RANGE_JOINT * m else "recursive"

    def mechanism(self, terms: Terms) -> Mechanism[NDArray[np.float64]]:
        column = self.column_of(terms) | {"qs": self.qs, "assume_sorted": self.assume_sorted}
        return OfKept(MANY[self.method](**column, loss=without_delta(terms.loss)))

    def with_interval(self, coverage: float = CONFIDENCE) -> Statistic[Any]:
        return _like(QuantileInterval, self, q=self.qs, coverage=coverage)


def several(qs: Any) -> tuple[Fraction, ...]:
    """Return a checked list of quantiles as exact fractions, in the given order."""
    rule, qs = "a sequence of numbers between 0 and 1", listed("qs", qs)
    if isinstance(qs, np.ndarray):
        if qs.ndim != 1:
            checks.fail_type("qs", rule, qs)
        qs = list(qs)
    if isinstance(qs, (str, bytes)) or not isinstance(qs, Sequence):
        checks.fail_type("qs", rule, qs)
    if not len(qs):
        checks.fail("qs", rule + ", at least one", qs)
    return tuple(checks.quantile(q, f"qs[{i}]") for i, q in enumerate(qs))


@dataclass(frozen=True)
class Extreme(OneRank):
    """Base of the statistics of a minimum and a maximum."""

    smooth: ClassVar[Any] = SmoothExtreme
    draw: ClassVar[Any] = ExponentialExtreme
    #: 0 for the minimum, and 1 for the maximum.
    end: ClassVar[Fraction]

    share_below = same_as("end")


@dataclass(frozen=True)
class QuantileInterval(SmoothOrDrawn[NDArray[np.float64]]):
    """A quantile with an interval that contains the exact quantile, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    q : float or Fraction, or a sequence of m such numbers
    bounds : (float, float), sequence of d such pairs, or "auto"
    coverage : float, default 0.95
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    granularity : float, Fraction or Decimal, optional
    method : {"auto", "smooth", "exponential", "recursive", "joint"}, default "auto"
    noise : str, default "auto"
    assume_sorted : bool, default False
        As in `dpfast.quantile_interval`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.quantile_interval`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.QuantileInterval(q=0.5, bounds=(0, 120)).measure(epsilon=1).name
    'quantile 1/2 with an interval'
    """

    q: Number | Sequence[Number] | NDArray[Any] | None = None
    coverage: float = field(default=CONFIDENCE, kw_only=True)
    assume_sorted: bool = field(default=False, kw_only=True)
    method: Method | ManyMethod = field(default="auto", kw_only=True)

    name: ClassVar[str] = "quantile with an interval"
    answer_of_times: ClassVar[Answer] = "point"
    methods: ClassVar[tuple[str, ...]] = get_args(Method) + get_args(ManyMethod)[1:]

    def __post_init__(self) -> None:
        super().__post_init__()
        point, coverage = self.point, checks.share("coverage", self.coverage)
        q = point.qs if isinstance(point, Quantiles) else point.share_below
        checks.assign(self, coverage=coverage, q=q)

    @property
    def point(self) -> OneQuantile | Extreme | Quantiles:
        """The statistic without its interval: a quantile, an extreme, or several quantiles."""
        if isinstance(self.q, (list, tuple, np.ndarray)):
            return _like(Quantiles, self, qs=self.q)
        q = quantile_of(self.q)
        if q in (0, 1):
            return _like(Maximum if q else Minimum, self)
        return _like(Quantile, self, q=q)

    chooses_by_rows = same_as("point.chooses_by_rows")

    def best_method(self, terms: Terms) -> str:
        return self.point.best_method(replace(terms, loss=part(terms.loss, Fraction(1, 2))))

    def mechanism(self, terms: Terms) -> Mechanism[NDArray[np.float64]]:
        half = replace(terms, loss=part(terms.loss, Fraction(1, 2)))
        qs: Any = self.q if isinstance(self.q, tuple) else (self.q,)
        terms_of_one = replace(half, loss=part(half.loss, Fraction(1, len(qs))))
        like: Any = {"method": "exponential", "noise": "auto"}
        every: Any = [replace(self, q=q, **like).point.mechanism(terms_of_one) for q in qs]
        point, *ends = (kept.inner for kept in (self.point.mechanism(half), *every))
        lie_between = ends[0].lattice is None or self.granularity is not None
        return OfKept(Between(point, tuple(ends), self.coverage, lie_between))

    def with_interval(self, coverage: float = CONFIDENCE) -> QuantileInterval:
        return replace(self, coverage=max(self.coverage, coverage))


@dataclass(frozen=True)
class IqrInterval(QuantileInterval):
    """An interquartile range with an interval; each quartile's interval has the `coverage`."""

    name: ClassVar[str] = "interquartile range"
    answer_of_times: ClassVar[Answer] = "span"

    def mechanism(self, terms: Terms) -> Mechanism[NDArray[np.float64]]:
        return RangeBetween(super().mechanism(terms))


def _like(kind: type[Like], statistic: OnGrid[Any], **more: Any) -> Like:
    """Return a statistic of class `kind` with the arguments of `statistic`, and more."""
    names = {field.name for field in fields(kind)} & {field.name for field in fields(statistic)}
    return kind(**{name: getattr(statistic, name) for name in names} | more)


@dataclass(frozen=True)
class Minimum(Extreme):
    """A low value of the clamped rows, near their minimum, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    bounds : (float, float), sequence of d such pairs, or "auto"
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    granularity : float, Fraction or Decimal, optional
    method : {"auto", "smooth", "exponential"}, default "auto"
    noise : str, default "auto"
        As in `dpfast.minimum`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.minimum`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.Minimum(bounds=(0, 120)).measure(epsilon=1).name
    'minimum'
    """

    name: ClassVar[str] = "minimum"
    end: ClassVar[Fraction] = Fraction(0)


@dataclass(frozen=True)
class Maximum(Extreme):
    """A high value of the clamped rows, near their maximum, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    bounds : (float, float), sequence of d such pairs, or "auto"
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    granularity : float, Fraction or Decimal, optional
    method : {"auto", "smooth", "exponential"}, default "auto"
    noise : str, default "auto"
        As in `dpfast.maximum`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.maximum`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.Maximum(bounds=(0, 120)).measure(epsilon=1).name
    'maximum'
    """

    name: ClassVar[str] = "maximum"
    end: ClassVar[Fraction] = Fraction(1)


@dataclass(frozen=True)
class Iqr(SmoothOrDrawn[float | NDArray[np.float64]], IqrSensitivity):
    """The interquartile range of the clamped rows, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    bounds : (float, float), sequence of d such pairs, or "auto"
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    granularity : float, Fraction or Decimal, optional
    method : {"auto", "smooth", "recursive", "joint"}, default "auto"
    noise : str, default "auto"
        As in `dpfast.iqr`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.iqr`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.Iqr(bounds=(0, 120)).measure(epsilon=1).name
    'interquartile range'
    """

    method: IqrMethod = field(default="auto", kw_only=True)

    name: ClassVar[str] = "interquartile range"
    answer_of_times: ClassVar[Answer] = "span"
    methods: ClassVar[tuple[str, ...]] = get_args(IqrMethod)
    drawn: ClassVar[str] = "recursive"
    #: Crossings that are chosen as those of `OneQuantile`.
    smooth_from: ClassVar[Crossings] = {
        "add-remove": (Fraction(1, 2), Fraction(1, 4)),
        "replace": (Fraction(1, 2), Fraction(1, 4)),
        "two steps": (Fraction(2), Fraction(6)),
    }

    def mechanism(self, terms: Terms) -> Mechanism[float]:
        column = self.column_of(terms)
        if self.method == "smooth":
            numbers: Lattice | None = column.get("lattice")
            if numbers is not None:  # the lattice of the differences of two points
                column["lattice"] = Lattice(numbers.step, 0, numbers.last - numbers.first)
            return OfKept(SmoothRange(**column, calibration=calibrate_loss(self.noise, terms.loss)))
        quartiles = MANY[self.method](**column, qs=QUARTILES, loss=without_delta(terms.loss))
        return OfKept(ExponentialRange(quartiles, quartiles.loss, terms.neighbors))

    def with_interval(self, coverage: float = CONFIDENCE) -> Statistic[Any]:
        if self.method == "smooth":
            return smooth_interval(self, coverage)
        return _like(IqrInterval, self, q=QUARTILES, coverage=(1 + coverage) / 2)


def percentile(
    column: str | None = None,
    q: Number | Sequence[Number] | NDArray[Any] | None = None,
    *,
    bounds: BoundsEach | Auto,
    nan: NanPolicy | None = None,
    granularity: Number | None = None,
    method: Method | ManyMethod = "auto",
    noise: NoiseName = "auto",
    assume_sorted: bool = False,
) -> Any:
    """Return the statistic of one or several percentiles: quantiles at ``q / 100``.

    Parameters
    ----------
    column : str, optional
    q : float or Fraction, or sequence of these
        0 to 100. Each percentile of a sequence has a column in the answer, named after its
        quantile.
    bounds : (float, float), sequence of d such pairs, or "auto"
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    granularity : float, Fraction or Decimal, optional
    method, noise, assume_sorted
        As in `dpfast.percentile`.

    Returns
    -------
    Quantile or Quantiles
        The statistic, for `GroupBy.agg`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of the plain function; nothing has been spent.

    Examples
    --------
    >>> import dpfast as dp
    >>> table = {"carrier": ["UA", "AA"] * 500, "late": [5.0, 25.0] * 500}
    >>> groups = dp.group_by(table, "carrier", keys=["AA", "UA"])
    >>> answer = groups.agg({"x": dp.stat.percentile("late", 90, bounds=(0, 60))}, epsilon=1)
    >>> len(answer["x"])
    2
    """
    same: Any = {"bounds": bounds, "nan": nan, "granularity": granularity}
    same |= {"method": method, "assume_sorted": assume_sorted}
    q = listed("q", q)
    if isinstance(q, np.ndarray):
        q = list(q) if q.ndim else q[()]
    if isinstance(q, (str, bytes)) or not isinstance(q, Sequence):
        return Quantile(column, percent(q) / 100, noise=noise, **same)
    if not len(q):
        checks.fail("q", "a number between 0 and 100, or a list of at least one", q)
    if not (isinstance(noise, str) and noise == "auto"):
        checks.fail(
            "noise", "left out for several percentiles, which are draws without noise", noise
        )
    qs = [percent(number, f"q[{i}]") / 100 for i, number in enumerate(q)]
    return Quantiles(column, qs, **same)
