"""`group_by`: statistics of all groups of rows for one loss. `select_keys`: private group keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from .._core import checks
from .._core.advice import advise
from .._core.types import Auto, Neighbors, Number
from ..budget.budget import Budget
from ..budget.record import Parameters
from ..budget.release import Prepared, prepare, relation_of, releases
from ..measurement.columns_by_name import Answer
from ..measurement.statistic import WIDE, offer
from ..rng import Generator
from ..tables.batches import IDS, Batches
from ..tables.forms import column_form
from ..tables.ids import id_name
from ..tables.key_words import RULE as IDS_RULE
from .grouping import RULE, Grouping, Statistics, grouping
from .keys import KEYS, MOST, PublicKeys, one_column
from .methods import Methods
from .table import Persons, used
from .top import Top


def group_by(
    data: Any,
    by: str | Sequence[str],
    *,
    keys: Any = None,
    other_key: Any = None,
    ids: Any = None,
    max_groups: int | Auto | None = None,
    max_rows: int | Auto | None = None,
    rows_limit: int | None = None,
    neighbors: Neighbors | None = None,
) -> GroupBy:
    """Group the rows of a table, so that one loss pays for a statistic of every group.

    Nothing is read and nothing is spent before a statistic is computed.

    Privacy
    -------
    Without `ids`, neighbors are tables that differ in one row. With `ids`, they differ in all rows
    of one person. The rows are added or removed, or they are replaced (`neighbors`). A row is in
    one group. So under add-remove all groups together cost as much as one group (parallel
    composition, McSherry, SIGMOD 2009). Under replace a row may change two groups. The group of a
    row, and the number of rows of a group, are private under both relations.
    ``dpfast/groups/step.py`` derives the sensitivities.

    Parameters
    ----------
    data : table
        A mapping of names to columns, a structured array, a table of pandas, Polars or Arrow, or a
        file opened by `dpfast.scan`. All columns of a file can be named.
    by : str or sequence of str
        The columns whose values are the group keys: integers, text, bytes, booleans, categories,
        dates or times.
    keys : list, array or table, optional
        The public keys. Do not read them off the data. The answer has a row for every key, in this
        order, even if no row of the data has the key. Rows with other keys, and with a null key,
        are ignored.

        For several columns, pass a table, a list of tuples (each tuple is a key), or a list of
        lists. A list of lists has the values of each column, and all combinations are keys. In a
        column of times without a zone, a date stands for the whole day. A key that the type of its
        column cannot hold is refused.

        If `keys` is left out, the keys are private. The answer then has only keys that enough
        people have, in ascending order. Private keys need a `delta`.
    other_key : key or tuple, optional
        With `keys`: the name of one more group, for all rows whose key is null or not among `keys`.
        This group is the last row of the answer, and counts as a group for `max_groups`. The name
        must have the type of the keys, and not be among them. For several columns it is a tuple.
        With private keys, there cannot be such a group.
    ids : str or array_like, optional
        The id of the person of each row: the name of a column, or one id for each row. Then the
        privacy unit of the loss is a person. Rows without an id are ignored.
    max_groups : int or "auto", optional
        With `ids`: the largest number of groups in which a person counts. If a person has more
        groups, a random choice of them counts. Private keys need `max_groups`. With public keys the
        default is the number of keys. "auto" draws the bound for a quarter of the loss
        (``dpfast/measurement/unit_bounds.py``).
    max_rows : int or "auto", optional
        With `ids`: the largest number of rows of a person that count in a group. If a person has
        more rows, each row counts in part in sums, counts and bins; in ranks a random choice of the
        rows counts. All statistics except numbers of people need `max_rows`, unless `per_unit`
        of `dpfast.Sum` or `dpfast.Count` bounds the total of a person. "auto" draws the bound for a
        quarter of the loss; if `max_groups` is drawn too, for a quarter of the remaining loss.
    rows_limit : int, optional
        With `max_rows` and public keys: the largest number of rows that any person has in a group,
        if this limit is publicly known. Also, no person may be in more than `max_groups` groups.
        With `rows_limit`, the error bars of counts and sums include the bias of leaving out rows
        beyond `max_rows`. A quarter of the loss pays for an estimate of the number of these rows.
        The weight "rows lost" in `weights` of `agg` changes this share.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".

    Returns
    -------
    GroupBy
        Each method releases one statistic of all groups; `GroupBy.agg` releases several.

    Raises
    ------
    ArgumentError, ArgumentTypeError, SourceError
        If a column does not exist or cannot hold keys, if a key occurs twice or has another type
        than its column, or if a bound on people is given without `ids`.

    See Also
    --------
    dpfast.select_keys, dpfast.sample_and_aggregate, dpfast.histogram

    Notes
    -----
    Cost: one read of the table; with `ids`, ranks and bins take a second one. Sums take some
    bytes of memory for each group, or with `ids` for each person in each group. Quantiles take
    twenty bytes a row.

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
    names = [by] if isinstance(by, str) else by
    rule = "the name of a column, or a list of different names"
    if not isinstance(names, (list, tuple)) or not names:
        checks.fail_type("by", rule, by)
    if [name for name in names if not isinstance(name, str)] or len({*names}) < len(names):
        checks.fail("by", rule, by)
    if keys is None and other_key is not None:
        rule = "left out if keys are private: other keys are those that are not public"
        checks.fail("other_key", rule, other_key)
    relation = None if neighbors is None else checks.neighbors(neighbors)
    extra_columns, person = {}, None
    if ids is None:
        limits = {"max_groups": max_groups, "max_rows": max_rows, "rows_limit": rows_limit}
        for name, value in limits.items():
            if value is not None:
                rule = "left out without ids, because it limits the rows of one id"
                checks.fail(name, rule, value)
    else:
        most, n_rows = _limit("max_groups", max_groups), _limit("max_rows", max_rows)
        limit = _limit("rows_limit", rows_limit)
        if limit is not None and limit <= (1 if checks.is_auto(n_rows) else n_rows or limit):
            checks.fail("rows_limit", "greater than max_rows, and max_rows must be given", limit)
        if not isinstance(ids, str):
            extra_columns[IDS] = column_form(ids, "ids", IDS_RULE)
        person = Persons(ids if isinstance(ids, str) else IDS, most, n_rows, id_name(ids), limit)
    rows = Batches(data, extra_columns)
    return GroupBy(rows, grouping(rows, tuple(names), keys, person, other_key), relation)


def _limit(name: str, value: Any) -> Any:
    """Return a checked contribution bound of a person: a positive integer, "auto" or None."""
    if value is None or (checks.is_auto(value) and name != "rows_limit"):
        return value
    return checks.whole(name, value, 1, MOST)


@releases
def select_keys(
    column: Any,
    *,
    ids: Any = None,
    max_groups: int | Auto | None = None,
    epsilon: Number,
    delta: Number,
    neighbors: Neighbors | None = None,
    where: Any = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[NDArray[Any]]:
    """Release the keys of a column that enough people have (partition selection).

    Privacy
    -------
    Neighbors differ in one row, or with `ids` in all rows of one person: these rows are added or
    removed, or are replaced. The call is (`epsilon`, `delta`)-DP. Each key is shown at random, with
    a probability that grows with the number of people who have the key. These probabilities are
    exact. A key that nobody has is never shown.

    If each person has one key, the probabilities are the largest that any (`epsilon`, `delta`)-DP
    rule allows (Desfontaines, Voss, Gipson and Mandayam, PoPETs 2022). If a person may have more
    keys, there are two rounds: the second one skips the keys that the first one has shown, and in
    each round a person with fewer keys counts more. In a database, and for an epsilon of less than
    about .03, there is one round, in which every person counts the same (composition by Kairouz, Oh
    and Viswanath, ICML 2015). The proofs are in ``dpfast/selection/key_selection.py``.

    Parameters
    ----------
    column : array_like
        The key of each row: integers, text, bytes, booleans, categories, dates or times.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id. Without `ids` each row is another person.
    max_groups : int or "auto", optional
        With `ids`: the largest number of keys of a person that count. If a person has more keys, a
        random choice of them counts. "auto" draws the bound for a quarter of the loss.
    epsilon, delta : float, Fraction or Decimal
        The loss: both numbers together.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    ndarray
        The keys in ascending order and in the type of the column. A column without a type, such as
        a list, gives Python objects. Text that is not UTF-8 is returned as bytes, which
        `dpfast.group_by` takes as public keys of the column.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        If an argument breaks a rule, or too little of the budget is left. Nothing has been spent.

    Notes
    -----
    Cost: one read of the column, or two with `ids` in Dask or Spark.

    Examples
    --------
    >>> import dpfast as dp
    >>> words = ["the"] * 500 + ["of"] * 300 + ["zyzzyva"]
    >>> dp.select_keys(words, epsilon=1, delta=1e-9).tolist()
    ['of', 'the']
    """
    table, by = one_column(column, "column")
    groups = group_by(table, by, ids=ids, max_groups=max_groups, neighbors=neighbors)
    call: Any = {"epsilon": epsilon, "delta": delta, "where": where, "budget": budget, "rng": rng}
    return prepare(groups.keys, **call).then(lambda answer: answer[by])


@dataclass(frozen=True, slots=True)
class GroupBy(Methods):
    """The groups of the rows of a table, as `group_by` returns them.

    Every method takes the arguments of the function of the same name in dpfast, and one loss for
    all groups together: `epsilon` alone, `epsilon` with `delta`, or `rho`. Private keys need
    `delta`, and take half of the loss of a method.

    The answer is a dict of arrays: the keys, the statistic under the name of the method, and the
    half-width of its 95 % error bar, if public or noisy numbers determine it. For a column of
    dates, times or durations, bounds and answers have the type of the column. Its sums and standard
    deviations are durations.

    If a person has more rows or groups than allowed, some rows are left out. Error bars include
    this bias only with `rows_limit`.

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
    >>> ends = groups.quantile_interval("delay", 0.5, **late)
    >>> list(ends)[1:4]
    ['quantile_interval low', 'quantile_interval', 'quantile_interval high']
    >>> high = groups.percentile("delay", 90, **late), groups.maximum("delay", **late)
    >>> low = groups.minimum("delay", **late)
    >>> bins = groups.histogram("delay", bins=4, bounds=(-20, 40), epsilon=1.0)
    >>> bins["histogram -20"].round(-2).tolist()
    [2500, 2500, 2500]
    >>> early = groups.proportion("delay", equal=-20, epsilon=1.0)["proportion"]
    >>> pair = {"other": "plane", "bounds": [(-60, 300), (0, 900)], "epsilon": 1.0}
    >>> list(groups.ratio("delay", **pair)), list(groups.correlation("delay", **pair))[1]
    (['carrier', 'ratio', 'ratio error'], 'correlation')
    >>> list(groups.top_k(2, epsilon=1.0))
    ['carrier']

    With `ids` the privacy unit is a person, in this example a plane:

    >>> planes = dp.group_by(flights, "carrier", keys=["AA", "DL", "UA"], ids="plane", max_groups=1)
    >>> planes.count_distinct(epsilon=1.0)["count_distinct"].round(-2).tolist()
    [300, 300, 300]
    """

    _rows: Batches
    _grouping: Grouping
    _neighbors: Neighbors | None

    def __repr__(self) -> str:
        keys, persons = self._grouping.keys, self._grouping.persons
        of_people = "" if persons is None else f", people of {persons.column.strip(chr(0))!r}"
        size = f"{keys.groups:,} public" if isinstance(keys, PublicKeys) else "private"
        return f"GroupBy({', '.join(map(repr, keys.by))}; {size} keys{of_people})"

    @releases
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
    ) -> Prepared[Answer]:
        """Release several statistics of all groups for one loss, in one pass.

        Parameters
        ----------
        statistics : mapping of str to Statistic
            The statistics, by the names that they get in the answer: ``{"n": dp.stat.count()}``. A
            statistic is a result of a function in `dpfast.stat`, which are the classes such as
            `dpfast.Mean` under other names.
        epsilon, delta, rho : float, Fraction or Decimal, optional
            The loss of all statistics together.
        weights : mapping of str to number, optional
            The weight of each statistic when the loss is divided, by the same names; by default 1.
            The name "keys" stands for private keys. If a statistic does not use its part of
            `delta`, because noise without it is smaller, that part is not spent.
        where : array_like of bool, shape (n,), optional
            A mask of the rows to use; each entry must be a function of its row alone.
        budget : Budget, optional
            The budget that pays, before rows are read or random bits are drawn; by default the
            budget of the ``with`` block.
        rng : Generator, optional
            The source of random bits, by default the secure one.

        Returns
        -------
        Answer
            A dict of arrays. First come the columns of keys. A statistic ``"x"`` is the column
            ``"x"``, and the half-width of its error bar is ``"x error"``. Several quantiles, and
            bins, have a column each, such as ``"x 0.25"``.

            For quantiles ``"x error in ranks"`` is a number of rows: in 95 of 100 answers, at most
            so many rows lie between the answer and the quantile. The ends of `quantile_interval`
            are in units of the data.

        Raises
        ------
        ArgumentError, ArgumentTypeError, SourceError, BudgetError
            If an argument breaks a rule, or too little of the budget is left. Nothing has been
            spent.
        DataError
            If there is a NaN or null under ``nan="raise"``.

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
        ['sex', 'n', 'n error', 'old', 'old error in ranks']
        """
        if not isinstance(statistics, Mapping) or not statistics:
            checks.fail_kind("statistics", RULE, statistics)
        loss, listed = (epsilon, delta, rho), tuple(statistics.items())
        return self._prepare("agg", listed, loss, weights, where, budget, rng)

    @releases
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
    ) -> Prepared[Answer]:
        """Release the most frequent keys, roughly the most frequent first.

        The exponential mechanism draws one key after the other, by the counts of the keys that
        remain, as in `dpfast.selection.top_k`. A person may be in any number of groups: the loss is
        the same.

        Parameters
        ----------
        k : int
            The number of keys. If keys are private, there may be fewer.
        epsilon, delta, rho, where, budget, rng
            As in `agg`.

        Returns
        -------
        Answer
            The keys, without their counts.
        """
        size = checks.whole("k", k, 1)
        keys = self._grouping.keys
        among = keys.groups if isinstance(keys, PublicKeys) else None
        if among is not None and size > among:
            checks.fail("k", f"at most the number of keys, {among}", k)
        top = Top(k=size, among=among)
        return self._single(f"top-{size}", top, (epsilon, delta, rho), where, budget, rng)

    @releases
    def keys(
        self,
        *,
        epsilon: Number,
        delta: Number,
        where: Any = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Prepared[Answer]:
        """Release the keys that enough rows or people have, without a statistic.

        Privacy
        -------
        As `dpfast.select_keys`, which does the same for one column.

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
            If an argument breaks a rule, or too little of the budget is left. Nothing has been
            spent.

        Examples
        --------
        >>> import dpfast as dp
        >>> words = {"word": ["the"] * 500 + ["of"] * 300 + ["zyzzyva"]}
        >>> dp.group_by(words, "word").keys(epsilon=1, delta=1e-9)["word"].tolist()
        ['of', 'the']
        """
        return self._prepare(KEYS, (), (epsilon, delta, None), None, where, budget, rng)

    def _single(
        self, name: str, statistic: object, loss: Any, where: Any, budget: Any, rng: Any
    ) -> Prepared[Answer]:
        return self._prepare(name, ((name, statistic),), loss, None, where, budget, rng)

    def _prepare(
        self,
        name: str,
        statistics: Statistics,
        loss: tuple[Any, Any, Any],
        weights: Any,
        where: Any,
        budget: Budget | None,
        rng: Generator | None,
    ) -> Prepared[Answer]:
        """Prepare the release of some statistics of all groups, for one loss."""
        relation, of = relation_of(self._neighbors, budget), self._grouping
        table = of.table(name, statistics, offer(*loss, relation, None, None), weights)
        for _, statistic in statistics:
            if statistic.is_wide:
                advise(WIDE)
        # The number of all rows is private where people have different numbers of rows.
        rows = used(self._rows, where, relation if of.persons is None else "add-remove")
        return Prepared(
            table,
            rows,
            budget,
            rng,
            question=lambda: Parameters(table.name, of.parameters(dict(statistics), weights)),
        )
