"""The number of distinct values of a column or a table, with noise.

A row that is added or removed changes the number by at most 1. A replaced row does so, too:
removing the old value lowers the number by at most 1, and adding the new value raises it by at most
1. A person of whom at most L values count changes the number by at most L. If a person is replaced
by another, at most L values are removed and at most L are added. These changes have opposite signs,
so the number again changes by at most L.

A fresh secret key chooses uniformly which values of a person count, and the choice does not depend
on other people (`tables.bounding`). So there is a coupling in which the kept values of all other
people stay the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.attributes import same_as
from .._core.error_bars import NOISE, ErrorBar
from .._core.types import Neighbors, Number
from ..budget.budget import Budget
from ..budget.mechanism import Mechanism
from ..budget.release import Prepared, releases
from ..measurement.statistic import InUnits, Statistic, Terms
from ..noise.calibrated_integer import IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..rng import Generator
from ..tables.batches import IDS, Batches
from ..tables.columns import Columns
from ..tables.data import form_of
from ..tables.forms import columns_of_table, is_distributed, is_lazy
from ..tables.ids import checked
from ..tables.intake import View
from ..tables.key_words import KEYS_RULE, key_kind
from ..tables.people import IdColumn
from ..tables.times import Times
from .keys import PrivateKeys, one_column
from .sums import Counted
from .table import Persons, Table, used


@dataclass(frozen=True, slots=True)
class Values(Table):
    """The table of private keys behind `Distinct`, with the exact number of rows of each key."""

    @property
    def counted(self) -> dict[str | None, Any]:
        return {None: Counted()}


@dataclass(frozen=True)
class CountDistinct(Statistic[int]):
    """The number of distinct values, as a statistic to measure; in groups, the number of people.

    If the unit is a person, at most `max_rows` distinct values of each person count. For the
    theorem see `dpfast.count_distinct`.

    Parameters
    ----------
    column : None
        Must be left out, because all columns of the data count.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If a column is given.

    Examples
    --------
    >>> import dpfast as dp
    >>> distinct = dp.CountDistinct().measure(epsilon=1)
    >>> abs(distinct(["tea", "ale", "rye"] * 40) - 3) < 20
    True
    """

    name: ClassVar[str] = "count of distinct values"
    needs_column: ClassVar[bool] = False
    keeps_units: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.column is not None:
            rule = "left out, because all columns count (by group, the ids count)"
            checks.fail("column", rule, self.column)

    def mechanism(self, terms: Terms) -> Distinct:
        noise = integer_noise(terms.loss, Sensitivity.of_one(terms.rows))
        return Distinct(noise, terms.neighbors, terms.ids, terms.rows)

    def in_units(self, times: Times, data: Any) -> InUnits[Self] | None:
        return None  # times are compared as key words, so they need no units

    def read(self, data: Any, *, relation: str, where: Any, ids: Any, **others: Any) -> View:
        if ids is None or isinstance(ids, str):
            rows, column = Batches(_table(data, ids)), ids
        else:
            rows, column = Batches(_table(data, None), {IDS: ids}), IDS
        _keys(rows, column)
        if column is not None:
            key_kind(rows.typed(column, "ids", True), "ids", is_id=True)
        rows = used(rows, where, relation)
        unit_ids = None if column is None else IdColumn(rows, column, column)
        return View(rows, False, 1, None, ids=unit_ids)


@dataclass(frozen=True, slots=True)
class Distinct(Mechanism[int]):
    """The mechanism that releases the number of distinct values, with calibrated integer noise.

    Parameters
    ----------
    noise : IntegerNoise
        Noise for the number of values that one step between neighbors can add or remove.
    neighbors : {"add-remove", "replace"}
    ids : str or None
        The name of the ids; None if the privacy unit is a row.
    most : int
        How many values of a person count.
    """

    noise: IntegerNoise
    neighbors: str
    ids: str | None = None
    most: int = 1

    name: ClassVar[str] = CountDistinct.name

    loss = same_as("noise.loss")
    integer_noise = same_as("noise")

    def reduce(self, source: View) -> View:
        """Return the rows unchanged: `finish` draws which values of a person count."""
        return source

    def finish(self, summary: View, generator: Generator) -> int:
        rows, persons, column = summary.source, None, None
        if summary.ids is not None:
            column = summary.ids.column
            persons = Persons(column, self.most, None, self.ids or "")
        table = Values(self.name, _keys(rows, column), {}, self.neighbors, persons)
        coder, summed = table.group_sums(rows, generator.stream())
        counts: NDArray[np.uint64] = summed.rooms[None][: coder.groups]
        return self.noise.add([int(np.count_nonzero(counts))], generator)[0]

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of the noise, about the number of distinct values that count."""
        return ErrorBar(confidence, float(self.noise.half_width(1 - confidence)), note=NOISE)


@releases
def count_distinct(
    data: Any,
    *,
    ids: Any = None,
    max_groups: int | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    where: Any = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[int]:
    """Release how many distinct values a column has, or how many distinct rows a table has.

    Privacy
    -------
    Neighbors differ in one row, or with `ids` in all rows of one person. The rows are added or
    removed, or replaced. The call satisfies the requested loss. Under both relations a row changes
    the number by at most 1, and a person changes it by at most `max_groups`
    (``dpfast/groups/distinct.py``). Integer noise for this sensitivity is added to the exact number
    (Dwork, McSherry, Nissim and Smith, TCC 2006; discrete Gaussian: Canonne, Kamath and Steinke,
    NeurIPS 2020).

    Parameters
    ----------
    data : array_like, table, or source
        Integers, text, bytes, booleans, categories, dates or times. Floating-point numbers are
        refused, because their equality is unreliable. A null is not a value. In a table each row is
        one value, made of all columns. A row with a null is not a value.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id. Rows without an id are ignored.
    max_groups : int, optional
        With `ids` only: the largest number of distinct values of a person that count. If a person
        has more, a random choice of them counts. Values that few people have may then be lost, and
        error bars do not include this bias.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
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
    int
        The private number of distinct values. It is unbiased, so it may be negative.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        If an argument breaks a rule, or too little of the budget is left. Nothing has been spent.
    DataError
        If there are more values than fit in memory.

    See Also
    --------
    dpfast.select_keys : Release the values that enough people have.
    dpfast.group_by : Release the number of people of each group.

    Notes
    -----
    Each value is held as 128 bits. Long text is held as a hash of that size under a secret key.

    Cost: one read of the data, or two with `ids`. Each distinct value takes some 80 to 160 bytes
    of memory, whatever its length. With `ids` each row takes one byte more.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> visits = np.repeat(np.arange(2_000), 5)
    >>> 1_980 < dp.count_distinct(visits, epsilon=1.0) < 2_020
    True
    >>> words = ["tea", "ale", "rye"] * 40
    >>> abs(dp.count_distinct(words, epsilon=1.0) - 3) < 20
    True
    """
    if (ids is None) != (max_groups is None):
        if ids is not None:
            checked(ids)
        rule = "given if ids are, and only then, because it limits the values of one id"
        checks.fail("max_groups", rule, max_groups)
    most = None if max_groups is None else checks.whole("max_groups", max_groups, 1)
    return CountDistinct().prepare(
        data, epsilon=epsilon, delta=delta, rho=rho, neighbors=neighbors, where=where, ids=ids,
        max_rows=most, budget=budget, rng=rng,
    )  # fmt: skip


def _table(data: Any, ids: str | None) -> Any:
    """Return the data as a table: an array of values becomes a table of one column."""
    columns = form_of(data, "data", KEYS_RULE) if is_distributed(data) or is_lazy(data) else data
    if isinstance(columns, Columns):
        names = list(columns.names)
    elif (table := columns_of_table(columns, "data")) is not None:
        names = list(table)
    else:
        columns, name = one_column(data, "data")
        names = [name]
    if names == [ids]:
        rule = "one of several columns, because no other column would be left as data"
        checks.fail("ids", rule, ids)
    return columns


def _keys(rows: Batches, ids: str | None) -> PrivateKeys:
    """Return private keys made of all columns except the column of ids."""
    by = [name for name in rows.names if name != ids]
    return PrivateKeys(by, rows, named=rows.of_engine is not None)
