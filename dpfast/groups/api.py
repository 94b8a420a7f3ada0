"""`group_by`: statistics of groups of rows, and of people, for one loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from numpy.typing import NDArray

from .. import privacy
from .._core import checks
from .._core.types import Bounds, NanPolicy, Neighbors, Number
from ..budget.budget import Budget
from ..budget.release import relation_of, release
from ..noise.additive import amount
from ..privacy import Approx, Loss
from ..rng import Generator
from ..sources.batches import IDS, WHERE, Batches
from ..sources.data import form_of
from ..sources.engine import EngineColumns
from ..sources.files import Columns
from ..sources.forms import Named, Values, column_form, index_of, is_distributed, is_lazy
from ..sources.ids import id_name
from ..sources.key_words import KEYS_RULE, key_kind
from ..sources.key_words import RULE as IDS_RULE
from ..sources.masked import mask
from ..sources.public_values import expect_matches
from ..statistics.histogram import Bins, axes_of
from . import stat
from .answer import Answer
from .counts import Histogram
from .key_coins import KeyRule
from .key_selection import choose_rule
from .keys import MOST, PrivateKeys, PublicKeys
from .of_times import Asked, binned, settled
from .ranks import Quantiles
from .step import Step, part
from .sums import Sums
from .table import Persons, Statistic, Table
from .top import Top
from .weighted import WeightedMean, WeightedSum, fitting

#: The name under which the rule of private keys has a weight.
KEYS = "keys"


def group_by(
    data: Any,
    by: str | Sequence[str],
    *,
    keys: Any = None,
    ids: Any = None,
    max_groups: int | None = None,
    max_rows: int | None = None,
    neighbors: Neighbors | None = None,
) -> GroupBy:
    """Group the rows of a table, for statistics of all groups that together cost one loss.

    Nothing is read and nothing is spent before a statistic is asked for.

    Privacy
    -------
    Without `ids` neighbors are tables that differ in one row; with `ids`, in all rows of a person.
    These are added or removed, or replaced (`neighbors`). A row has one group, so under add-remove
    each group costs the whole loss and all of them together no more (parallel composition,
    McSherry, SIGMOD 2009); a replaced row may touch two. Which group a row is of, and how many rows
    a group has, is private under both. ``dpfast/groups/step.py`` derives the sensitivities.

    Parameters
    ----------
    data : table
        A mapping of names to columns, a structured array, a table of pandas, Polars or Arrow, or
        what `dpfast.scan` finds in a file, of which all columns can be named.
    by : str or sequence of str
        The columns of keys: integers, text, bytes, booleans, categories, dates or times.
    keys : list, array or table, optional
        The public keys. Every one of them has a row in the answer, in this order, also those of
        empty groups; rows with other keys, and with null, count nowhere. For several columns a
        table, a list of tuples with a key each, or a list of lists, one a column, of which all
        combinations are keys. Keys must not be read off the data. Left out, keys are private: those
        that enough people have are shown, which takes a `delta`, and they ascend. A date is the
        whole day in a column of times without a zone. A key that the type of its column cannot hold
        is refused; of a column without a type, like a list, nothing can be told.
    ids : str or array_like, optional
        Whose row it is: the name of a column, or one id for each row. The loss is one of people
        then. Rows without an id count nowhere.
    max_groups : int, optional
        With `ids`, in how many groups a person counts at most: needed for private keys, by default
        all public ones. Which of more are kept is random.
    max_rows : int, optional
        With `ids`, how many rows of a person count in a group at most. Needed for all that is not
        counted by person. Which of more are kept is random.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation, by default that of the budget, and "add-remove" without one.

    Returns
    -------
    GroupBy
        Its methods release one statistic, `agg` several.

    Raises
    ------
    ArgumentError, ArgumentTypeError, SourceError
        For a column that is not there or holds no keys, keys that are given twice or are of another
        type, bounds of people without `ids`.

    See Also
    --------
    dpfast.select_keys, dpfast.sample_and_aggregate, dpfast.histogram

    Notes
    -----
    Cost: one read of the table, or two with `ids`; some bytes a group for sums, twenty bytes a row
    for quantiles, one byte a row with `ids`.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> flights = {
    ...     "carrier": np.tile(["AA", "DL", "UA"], 20_000),
    ...     "delay": np.tile([3.0, -2.0, 9.0], 20_000),
    ... }
    >>> groups = dp.group_by(flights, "carrier", keys=["AA", "DL", "UA", "WN"])
    >>> found = groups.mean("delay", bounds=(-60, 300), epsilon=1.0)
    >>> list(found), found["carrier"].tolist()
    (['carrier', 'mean', 'mean error'], ['AA', 'DL', 'UA', 'WN'])
    >>> found["mean"][:3].round().tolist()
    [3.0, -2.0, 9.0]
    """
    names = (by,) if isinstance(by, str) else by
    rule = "the name of a column, or a list of different names"
    if not isinstance(names, (list, tuple)) or not names:
        checks.fail_type("by", rule, by)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        checks.fail("by", rule, by)
    relation = None if neighbors is None else checks.neighbors(neighbors)
    beside, person = {}, None
    if ids is None:
        for name, value in (("max_groups", max_groups), ("max_rows", max_rows)):
            if value is not None:
                checks.fail(name, "left out without ids, which say whose rows they are", value)
    else:
        most, rows = _limit("max_groups", max_groups), _limit("max_rows", max_rows)
        if not isinstance(ids, str):
            beside[IDS] = column_form(ids, "ids", IDS_RULE)
        person = Persons(ids if isinstance(ids, str) else IDS, most, rows, id_name(ids))
    batches = Batches(data, beside)
    found = PrivateKeys(names) if keys is None else PublicKeys(names, keys)
    found.check(batches)
    if person is not None:
        key_kind(batches.typed(person.column, "ids", True), "ids", is_id=True)
        if most is None and isinstance(found, PrivateKeys):
            checks.fail("max_groups", "given with ids, where keys are private", max_groups)
    return GroupBy(batches, found, person, relation)


def _limit(name: str, value: Any) -> int | None:
    """Return a bound of what counts of a person."""
    if value is not None and checks.whole(name, value, 1) > MOST:
        checks.fail(name, f"at most {MOST}", value)
    return None if value is None else int(value)


def select_keys(
    column: Any,
    *,
    ids: Any = None,
    max_groups: int | None = None,
    epsilon: Number,
    delta: Number,
    neighbors: Neighbors | None = None,
    where: Any = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[Any]:
    """Release the keys of a column that enough people have (partition selection).

    Privacy
    -------
    Neighbors differ in one row, or with `ids` in all rows of one person, added or removed, or
    replaced. The call is (`epsilon`, `delta`)-DP. For one key a person the rule is the optimal one
    (Desfontaines, Voss, Gipson and Mandayam, PoPETs 2022); for more, keys share the loss (Kairouz,
    Oh and Viswanath, ICML 2015) or a divergence, whichever shows keys of fewer people, see
    ``dpfast/groups/key_selection.py``. All coins are exact. A key that nobody has is never shown.

    Parameters
    ----------
    column : array_like
        The key of each row: integers, text, bytes, booleans, categories, dates or times.
    ids : array_like, optional
        Whose row it is. Without it each row is of another person.
    max_groups : int, optional
        With `ids`, how many keys of a person count at most. Which of more is random.
    epsilon, delta : float, Fraction or Decimal
        The loss.
    neighbors : {"add-remove", "replace"}, optional
        By default that of the budget, and "add-remove" without one.
    where : array_like of bool, optional
        The rows to use, each a function of that row alone.
    budget : Budget, optional
        Pays for the call before data or randomness are touched.
    rng : Generator, optional
        By default the secure one.

    Returns
    -------
    ndarray
        The keys, ascending, in the type of the column; of one without a type, Python objects. Text
        that is no UTF-8 is its bytes, which are public keys of such a column in turn.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        For a bad argument, or too small a budget; nothing has been spent.

    Notes
    -----
    Cost: one read of the column, or two with `ids`.

    Examples
    --------
    >>> import dpfast as dp
    >>> words = ["the"] * 500 + ["of"] * 300 + ["zyzzyva"]
    >>> dp.select_keys(words, epsilon=1, delta=1e-9).tolist()
    ['of', 'the']
    """
    form, by = one_column(column, "column")
    groups = group_by(form, by, ids=ids, max_groups=max_groups, neighbors=neighbors)
    answer = groups.keys(epsilon=epsilon, delta=delta, where=where, budget=budget, rng=rng)
    keys: NDArray[Any] = answer[by]
    return keys


def one_column(column: Any, name: str) -> tuple[Any, str]:
    """Return a column of keys as a table, and its name there."""
    form = column
    if is_distributed(column) or is_lazy(column):
        form = form_of(column, name, KEYS_RULE)
        if not isinstance(form, (Columns, EngineColumns)) or len(form.names) != 1:
            checks.fail_kind(name, "one column of a table", column)
    if isinstance(form, (Columns, EngineColumns)) and len(form.names) == 1:
        return form, form.names[0]
    own = column_form(column, name, KEYS_RULE)
    key_kind(own, name)
    return Named({KEYS: own}, column), KEYS


@dataclass(frozen=True, slots=True)
class GroupBy:
    """Groups of the rows of a table; `group_by` makes it.

    Every method takes the arguments of the plain function of its name, and a loss for all groups
    together: `epsilon` alone, `epsilon` with `delta`, or `rho`. Private keys take `delta`, and half
    of the loss of a method. The answer is a dict of arrays: the keys, the statistic under the name
    of the method, and half the width of its error bar (of 95 percent) where public or noisy numbers
    tell it.
    Of a column of dates, times or durations bounds and answers are of its kind; a sum is one of
    durations, and a standard deviation is a duration.
    Bounding leaves out rows of people who have more than is allowed: no error bar knows of that.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> rows = np.arange(30_000)
    >>> flights = {
    ...     "carrier": np.array(["AA", "DL", "UA"])[rows % 3],
    ...     "delay": rows % 60 - 20.0,
    ...     "plane": rows % 900,
    ... }
    >>> groups = dp.group_by(flights, "carrier", keys=["AA", "DL", "UA"])
    >>> groups.count(epsilon=1.0)["count"].round(-3).tolist()
    [10000, 10000, 10000]
    >>> late = {"bounds": (-60, 300), "epsilon": 1.0}
    >>> totals = groups.sum("delay", **late), groups.count_nonzero("delay", epsilon=1.0)
    >>> means = groups.mean("delay", **late), groups.variance("delay", **late)
    >>> bool((abs(groups.std("delay", **late)["std"] - 17.3) < 5).all())
    True
    >>> middle = groups.median("delay", **late)["median"], groups.quantile("delay", 0.5, **late)
    >>> bool((abs(middle[0] - 9.5) < 6).all())
    True
    >>> quartiles = groups.quantiles("delay", [0.25, 0.5, 0.75], **late)
    >>> high = groups.percentile("delay", 90, **late), groups.maximum("delay", **late)
    >>> low = groups.minimum("delay", **late)
    >>> bins = groups.histogram("delay", bins=4, bounds=(-20, 40), epsilon=1.0)
    >>> bins["histogram -20"].round(-2).tolist()
    [2500, 2500, 2500]
    >>> list(groups.top_k(2, epsilon=1.0))
    ['carrier']

    With `ids` the loss is one of people, here of planes:

    >>> planes = dp.group_by(flights, "carrier", keys=["AA", "DL", "UA"], ids="plane", max_groups=1)
    >>> planes.count_distinct(epsilon=1.0)["count_distinct"].round(-2).tolist()
    [300, 300, 300]
    """

    _batches: Batches
    _keys: PublicKeys | PrivateKeys
    _persons: Persons | None
    _neighbors: Neighbors | None

    def __repr__(self) -> str:
        whose = (
            "" if self._persons is None else f", people of {self._persons.column.strip(chr(0))!r}"
        )
        size = f"{self._keys.groups:,} public" if isinstance(self._keys, PublicKeys) else "private"
        return f"GroupBy({', '.join(map(repr, self._keys.by))}; {size} keys{whose})"

    def agg(
        self,
        statistics: Mapping[str, object],
        *,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        weights: Mapping[str, Number] | None = None,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release several statistics of all groups for one loss, in one pass.

        Parameters
        ----------
        statistics : mapping of str to what `dpfast.stat` makes
            By the names of their columns in the answer.
        epsilon, delta, rho : float, Fraction or Decimal, optional
            The loss of all of it.
        weights : mapping of str to number, optional
            The shares of the loss, by the same names; "keys" is that of private keys. 1 if left
            out. What a statistic has no use for (delta, where noise without it is smaller) is not
            spent.
        where : array_like of bool, shape (n,), optional
            The rows to use, each a function of that row alone.
        budget : Budget, optional
            Pays for the call before data or randomness are touched.
        rng : Generator, optional
            By default the secure one.

        Returns
        -------
        Answer
            A dict of arrays: the keys; each statistic, under its name (several quantiles, and bins,
            under the name with theirs behind it); its error bar, under the name and " error", or of
            quantiles under the name and " ranks": so many rows lie between, at most, in 95 of 100
            answers.

        Raises
        ------
        ArgumentError, ArgumentTypeError, SourceError, BudgetError
            For a bad argument, or too small a budget; nothing has been spent.
        DataError
            NaN or null under ``nan="raise"``.

        Examples
        --------
        >>> import numpy as np, dpfast as dp
        >>> rows = np.arange(9000)
        >>> table = {"sex": rows % 2, "age": 20.0 + rows % 50}
        >>> found = dp.group_by(table, "sex", keys=[0, 1]).agg(
        ...     {"n": dp.stat.count(), "old": dp.stat.quantile("age", 0.9, bounds=(0, 120))},
        ...     epsilon=1.0,
        ... )
        >>> list(found)
        ['sex', 'n', 'n error', 'old', 'old ranks']
        """
        table, batches = self._table(
            "agg", statistics, (epsilon, delta, rho), weights, where, budget
        )
        return release(batches, table, budget=budget, rng=rng)

    def count(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release the number of rows of each group.

        Parameters
        ----------
        epsilon, delta, rho, where, budget, rng
            As in `agg`.

        Returns
        -------
        Answer
            `count`: int64, unbiased, so it may be negative.
        """
        own = stat.count()
        return self._one("count", own, (epsilon, delta, rho), where, budget, rng)

    def count_distinct(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release the number of people of each group; with `ids` alone.

        Parameters
        ----------
        epsilon, delta, rho, where, budget, rng
            As in `agg`.

        Returns
        -------
        Answer
            `count_distinct`: int64, unbiased, so it may be negative.
        """
        own = stat.count_distinct()
        return self._one("count_distinct", own, (epsilon, delta, rho), where, budget, rng)

    def count_nonzero(
        self,
        column: str,
        *,
        nan: Literal["keep", "drop"] = "keep",
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release the number of rows of each group that are not 0.

        Parameters
        ----------
        column : str
        nan : {"keep", "drop"}
            As in `dpfast.count_nonzero`.
        epsilon, delta, rho, where, budget, rng
            As in `agg`.

        Returns
        -------
        Answer
            `count_nonzero`: int64, unbiased, so it may be negative.
        """
        own = stat.count_nonzero(column, nan=nan)
        return self._one("count_nonzero", own, (epsilon, delta, rho), where, budget, rng)

    def sum(
        self,
        column: str,
        *,
        bounds: Bounds,
        nan: NanPolicy = "raise",
        weights: str | None = None,
        weight_bounds: Bounds | None = None,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release the sum of a column in each group.

        Parameters
        ----------
        column : str
        bounds : (float, float)
        nan : {"raise", "lower", "upper", "drop"} or float
        weights : str, optional
        weight_bounds : (float, float), optional
            As in `dpfast.sum`.
        epsilon, delta, rho, where, budget, rng
            As in `agg`.

        Returns
        -------
        Answer
            `sum`: float64, unbiased up to the grid.
        """
        more: Any = {"weights": weights, "weight_bounds": weight_bounds}
        own = stat.sum(column, bounds=bounds, nan=nan, **more)
        return self._one("sum", own, (epsilon, delta, rho), where, budget, rng)

    def mean(
        self,
        column: str,
        *,
        bounds: Bounds,
        nan: NanPolicy = "raise",
        weights: str | None = None,
        weight_bounds: Bounds | None = None,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release the mean of a column in each group.

        Parameters
        ----------
        column : str
        bounds : (float, float)
        nan : {"raise", "lower", "upper", "drop"} or float
        weights : str, optional
        weight_bounds : (float, float), optional
            As in `dpfast.mean`.
        epsilon, delta, rho, where, budget, rng
            As in `agg`.

        Returns
        -------
        Answer
            `mean`: float64, within the bounds, of an empty group anywhere.
        """
        more: Any = {"weights": weights, "weight_bounds": weight_bounds}
        own = stat.mean(column, bounds=bounds, nan=nan, **more)
        return self._one("mean", own, (epsilon, delta, rho), where, budget, rng)

    def variance(
        self,
        column: str,
        *,
        bounds: Bounds,
        ddof: int = 0,
        nan: NanPolicy = "raise",
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release the variance of a column in each group.

        Parameters
        ----------
        column : str
        bounds : (float, float)
        ddof : int
        nan : {"raise", "lower", "upper", "drop"} or float
            As in `dpfast.variance`.
        epsilon, delta, rho, where, budget, rng
            As in `agg`.

        Returns
        -------
        Answer
            `variance`: float64.
        """
        own = stat.variance(column, bounds=bounds, ddof=ddof, nan=nan)
        return self._one("variance", own, (epsilon, delta, rho), where, budget, rng)

    def std(
        self,
        column: str,
        *,
        bounds: Bounds,
        ddof: int = 0,
        nan: NanPolicy = "raise",
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release the standard deviation of a column in each group.

        Parameters
        ----------
        column : str
        bounds : (float, float)
        ddof : int
        nan : {"raise", "lower", "upper", "drop"} or float
            As in `dpfast.std`.
        epsilon, delta, rho, where, budget, rng
            As in `agg`.

        Returns
        -------
        Answer
            `std`: float64; of dates and times a duration.
        """
        own = stat.std(column, bounds=bounds, ddof=ddof, nan=nan)
        return self._one("std", own, (epsilon, delta, rho), where, budget, rng)

    def median(
        self,
        column: str,
        *,
        bounds: Bounds,
        nan: NanPolicy = "raise",
        granularity: Number | None = None,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release the median of a column in each group.

        Parameters
        ----------
        column : str
        bounds : (float, float)
        nan : {"raise", "lower", "upper", "drop"} or float
        granularity : float, Fraction or Decimal, optional
            As in `dpfast.median`.
        epsilon, delta, rho, where, budget, rng
            As in `agg`.

        Returns
        -------
        Answer
            `median`: float64, within the bounds, of an empty group anywhere.
        """
        own = stat.median(column, bounds=bounds, nan=nan, granularity=granularity)
        return self._one("median", own, (epsilon, delta, rho), where, budget, rng)

    def quantile(
        self,
        column: str,
        q: Number,
        *,
        bounds: Bounds,
        nan: NanPolicy = "raise",
        granularity: Number | None = None,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release a quantile of a column in each group.

        Parameters
        ----------
        column : str
        q : float or Fraction
        bounds : (float, float)
        nan : {"raise", "lower", "upper", "drop"} or float
        granularity : float, Fraction or Decimal, optional
            As in `dpfast.quantile`.
        epsilon, delta, rho, where, budget, rng
            As in `agg`.

        Returns
        -------
        Answer
            `quantile`: float64, within the bounds, of an empty group anywhere.
        """
        own = stat.quantile(column, q, bounds=bounds, nan=nan, granularity=granularity)
        return self._one("quantile", own, (epsilon, delta, rho), where, budget, rng)

    def quantiles(
        self,
        column: str,
        qs: Sequence[Number],
        *,
        bounds: Bounds,
        nan: NanPolicy = "raise",
        granularity: Number | None = None,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release several quantiles of a column in each group.

        Parameters
        ----------
        column : str
        qs : sequence of float or Fraction
        bounds : (float, float)
        nan : {"raise", "lower", "upper", "drop"} or float
        granularity : float, Fraction or Decimal, optional
            As in `dpfast.quantiles`.
        epsilon, delta, rho, where, budget, rng
            As in `agg`.

        Returns
        -------
        Answer
            ``quantiles 0.5`` and the like: float64, which ascend with the quantile.
        """
        own = stat.quantiles(column, qs, bounds=bounds, nan=nan, granularity=granularity)
        return self._one("quantiles", own, (epsilon, delta, rho), where, budget, rng)

    def percentile(
        self,
        column: str,
        q: Number | Sequence[Number],
        *,
        bounds: Bounds,
        nan: NanPolicy = "raise",
        granularity: Number | None = None,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release a percentile of a column in each group, or several.

        Parameters
        ----------
        column : str
        q : float or Fraction, or sequence of these
        bounds : (float, float)
        nan : {"raise", "lower", "upper", "drop"} or float
        granularity : float, Fraction or Decimal, optional
            As in `dpfast.percentile`.
        epsilon, delta, rho, where, budget, rng
            As in `agg`.

        Returns
        -------
        Answer
            `percentile`, or ``percentile 0.5`` and the like, by quantile: float64.
        """
        own = stat.percentile(column, q, bounds=bounds, nan=nan, granularity=granularity)
        return self._one("percentile", own, (epsilon, delta, rho), where, budget, rng)

    def minimum(
        self,
        column: str,
        *,
        bounds: Bounds,
        nan: NanPolicy = "raise",
        granularity: Number | None = None,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release a low value of a column in each group.

        Parameters
        ----------
        column : str
        bounds : (float, float)
        nan : {"raise", "lower", "upper", "drop"} or float
        granularity : float, Fraction or Decimal, optional
            As in `dpfast.minimum`.
        epsilon, delta, rho, where, budget, rng
            As in `agg`.

        Returns
        -------
        Answer
            `minimum`: float64, within the bounds.
        """
        own = stat.minimum(column, bounds=bounds, nan=nan, granularity=granularity)
        return self._one("minimum", own, (epsilon, delta, rho), where, budget, rng)

    def maximum(
        self,
        column: str,
        *,
        bounds: Bounds,
        nan: NanPolicy = "raise",
        granularity: Number | None = None,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release a high value of a column in each group.

        Parameters
        ----------
        column : str
        bounds : (float, float)
        nan : {"raise", "lower", "upper", "drop"} or float
        granularity : float, Fraction or Decimal, optional
            As in `dpfast.maximum`.
        epsilon, delta, rho, where, budget, rng
            As in `agg`.

        Returns
        -------
        Answer
            `maximum`: float64, within the bounds.
        """
        own = stat.maximum(column, bounds=bounds, nan=nan, granularity=granularity)
        return self._one("maximum", own, (epsilon, delta, rho), where, budget, rng)

    def histogram(
        self,
        column: str,
        *,
        bins: Any = None,
        bounds: Any = None,
        categories: Any = None,
        weights: str | None = None,
        weight_bounds: Bounds | None = None,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release how many rows of each group are in each of some public bins, or their weights.

        Parameters
        ----------
        column : str
        bins : int or sequence of float, optional
        bounds : (float, float), optional
        categories : sequence of str, float or bool, optional
        weights : str, optional
        weight_bounds : (float, float), optional
            As in `dpfast.histogram`, of one column.
        epsilon, delta, rho, where, budget, rng
            As in `agg`.

        Returns
        -------
        Answer
            ``histogram 18`` and the like, by lower edge or category: int64, of weights float64.
        """
        more: Any = {"weights": weights, "weight_bounds": weight_bounds}
        own = stat.histogram(column, bins=bins, bounds=bounds, categories=categories, **more)
        return self._one("histogram", own, (epsilon, delta, rho), where, budget, rng)

    def top_k(
        self,
        k: int,
        *,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release the most frequent keys, roughly the most frequent first.

        Each is a draw of the exponential mechanism among the counts of those that are left, as in
        `dpfast.selection.top_k`. How many groups a person is in does not matter for that.

        Parameters
        ----------
        k : int
            How many; of private keys there may be fewer.
        epsilon, delta, rho, where, budget, rng
            As in `agg`.

        Returns
        -------
        Answer
            The keys alone.
        """
        size = checks.whole("k", k, 1)
        among = self._keys.groups if isinstance(self._keys, PublicKeys) else None
        if among is not None and size > among:
            checks.fail("k", f"at most the number of keys, {among}", k)
        own = Top(None, k=size, among=among)
        return self._one(f"top-{size}", own, (epsilon, delta, rho), where, budget, rng)

    def keys(
        self,
        *,
        epsilon: Number,
        delta: Number,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Answer:
        """Release the keys that enough rows or people have, and no statistic of them.

        Privacy
        -------
        As `dpfast.select_keys`, which is this for one column.

        Parameters
        ----------
        epsilon, delta : float, Fraction or Decimal
            The loss.
        where, budget, rng : optional
            As `dpfast.select_keys`.

        Returns
        -------
        dict of arrays
            The keys, by the names of their columns.

        Raises
        ------
        ArgumentError, ArgumentTypeError, BudgetError
            For a bad argument, or too small a budget; nothing has been spent.

        Examples
        --------
        >>> import dpfast as dp
        >>> words = {"word": ["the"] * 500 + ["of"] * 300 + ["zyzzyva"]}
        >>> dp.group_by(words, "word").keys(epsilon=1, delta=1e-9)["word"].tolist()
        ['of', 'the']
        """
        table, batches = self._table(KEYS, {}, (epsilon, delta, None), None, where, budget)
        return release(batches, table, budget=budget, rng=rng)

    def _one(
        self, name: str, statistic: Statistic, loss: Any, where: Any, budget: Any, rng: Any
    ) -> Answer:
        table, batches = self._table(name, {name: statistic}, loss, None, where, budget)
        return release(batches, table, budget=budget, rng=rng)

    def _table(
        self,
        name: str,
        statistics: Any,
        asked: tuple[Any, Any, Any],
        weights: Any,
        where: Any,
        budget: Budget | None,
    ) -> tuple[Table, Batches]:
        """Return the mechanism, and the rows that it reads."""
        loss = privacy.loss(*asked)
        amount(loss)
        relation = relation_of(self._neighbors, budget)
        if name != KEYS:
            statistics = self._checked(statistics)
        shares = self._shares(statistics, weights)
        rule = self._rule(loss, shares.pop(KEYS), relation) if KEYS in shares else None
        made: dict[str, Statistic] = {}
        for key, statistic in statistics.items():
            step = self._step(statistic, relation)
            own = replace(statistic, step=step, loss=part(loss, shares[key]))
            amount(own.loss)
            if isinstance(own, Quantiles):
                is_whole = own.times is not None or self._batches.is_whole(own.column)
                own = replace(own, whole=is_whole)
            made[key] = own.charged()
        title = "keys" if name == KEYS else f"{name} by {', '.join(self._keys.by)}"
        table = Table(title, self._keys, made, relation, self._persons, rule, self._whose)
        return table, self._masked(where, relation)

    @property
    def _whose(self) -> str | None:
        """Return whose loss it is, for the budget."""
        persons = self._persons
        return None if persons is None else persons.name

    def _masked(self, where: Any, relation: Neighbors) -> Batches:
        """Return the rows with the mask of those that are used."""
        if where is None:
            return self._batches.once()
        # The number of all rows is private where people have different numbers of them.
        relation = relation if self._persons is None else "add-remove"
        own = mask(where, self._batches.length, relation)
        assert own is not None
        own_rows = Values(own, own, row_index=index_of(where))
        return self._batches.with_beside(WHERE, own_rows).once()

    def _settled(self, statistic: Statistic) -> Statistic:
        """Return a statistic whose bounds are numbers; those of times are told by the column."""
        times, column = statistic.times, statistic.column
        if isinstance(statistic, Histogram) and times is not None:
            assert column is not None
            found = binned(self._batches.typed(column, "column"), times)
            units, shown = found
            (axis,), _ = axes_of(range(len(shown)), None, None)
            return replace(statistic, axis=axis, shown=shown, times=units)
        if column is None or statistic.kind is None:
            return statistic
        asked = Asked(statistic.bounds, statistic.nan) if times is None else times
        typed = self._batches.typed(column, "column")
        own = replace(statistic, **settled(column, typed, statistic.kind, asked))
        return fitting(own) if isinstance(own, (WeightedSum, WeightedMean)) else own

    def _checked(self, statistics: Any) -> dict[str, Statistic]:
        """Return the statistics with bounds of their columns."""
        rule = "a mapping of names to what dpfast.stat makes"
        if not isinstance(statistics, Mapping) or not statistics:
            checks.fail_kind("statistics", rule, statistics)
        for name, statistic in statistics.items():
            if not isinstance(name, str) or not isinstance(statistic, (Sums, Quantiles)):
                checks.fail_kind("statistics", rule, statistic)
        made = {name: self._settled(statistic) for name, statistic in statistics.items()}
        taken = set(self._keys.by)
        told = [one for one in made.values() if isinstance(one, Histogram) and one.is_text]
        text = {*self._keys.by, *(one.column for one in told)}
        if self._persons is not None:
            text.add(self._persons.column)
        for name, statistic in made.items():
            names = statistic.names(name)
            if not taken.isdisjoint(names) or len(set(names)) < len(names):
                checks.fail("statistics", "named so that no two columns have one name", name)
            taken.update(names)
            if name == KEYS and isinstance(self._keys, PrivateKeys):
                checks.fail("statistics", "named otherwise than private keys", name)
            column = statistic.column
            if isinstance(statistic, Histogram) and not isinstance(self._keys, PublicKeys):
                made[name] = replace(statistic, sparse=True)
            elif isinstance(statistic, Histogram) and isinstance(self._keys, PublicKeys):
                most = MOST // self._keys.groups
                if statistic.axis.native.bins > most:
                    rule = f"at most {most} for {self._keys.groups} groups"
                    checks.fail("bins", rule, statistic.axis.native.bins)
            if isinstance(statistic, Histogram):
                self._expect(statistic.axis, column or "")
            is_words = isinstance(statistic, Histogram) and statistic.is_text
            for one in statistic.reads:
                if one == column and is_words:
                    continue
                if one != column or statistic.times is None:
                    self._batches.numbers(one)
                if one in text and self._batches.is_text(one):
                    rule = "no column of keys, ids or text, where a file of text holds it"
                    checks.fail("column", rule, one)
        return made

    def _expect(self, axis: Bins, column: str) -> None:
        """Refuse categories that can equal nothing in a column."""
        words, name, values = axis.words, axis.name, axis.edges.tolist()
        if words is not None:
            name, values = words.name, words.words
        if name:
            typed = self._batches.typed(column, "column", words is not None)
            missing = self._batches.missing(column)
            expect_matches(name, values, typed, f"the column {column!r}", missing)

    def _shares(self, statistics: Mapping[str, Any], weights: Any) -> dict[str, Fraction]:
        """Return the share of the loss of each statistic, and of private keys."""
        names = [*statistics, *([KEYS] if isinstance(self._keys, PrivateKeys) else [])]
        if weights is not None:
            rule = "a mapping of names to numbers greater than 0"
            if not isinstance(weights, Mapping):
                checks.fail_type("weights", rule, weights)
            for name in weights:
                if name not in names:
                    checks.fail("weights", f"for {', '.join(map(repr, names))}", name)
        sizes = {}
        for name in names:
            value = 1 if weights is None else weights.get(name, 1)
            checks.positive(f"weights[{name!r}]", value)
            sizes[name] = checks.fraction(f"weights[{name!r}]", value)
        total = sum(sizes.values(), Fraction(0))
        return {name: size / total for name, size in sizes.items()}

    def _rule(self, loss: Loss, share: Fraction, relation: Neighbors) -> KeyRule:
        """Return the rule of private keys."""
        if not isinstance(loss, Approx):
            rule = "greater than 0 where keys are private, with epsilon (or give public keys)"
            checks.fail("delta", rule, 0 if isinstance(loss, privacy.Pure) else "rho")
        most = 1 if self._persons is None else self._persons.max_groups
        own = part(loss, share)
        assert isinstance(own, Approx) and most is not None
        return choose_rule(own, most, relation)

    def _step(self, statistic: Statistic, relation: Neighbors) -> Step:
        """Return what a step touches."""
        persons = self._persons
        if persons is None:
            if statistic.per_person:
                checks.fail("ids", "given, for people are counted by them", None)
            return Step(relation)
        every = self._keys.groups if isinstance(self._keys, PublicKeys) else MOST
        groups = min(persons.max_groups or every, every)
        rows = 1 if statistic.per_person else persons.max_rows
        if rows is None:
            checks.fail("max_rows", "given, for more than people is counted", None)
        return Step(relation, groups, rows)
