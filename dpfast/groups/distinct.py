"""How many distinct values there are.

A row that comes or goes changes the number by at most 1. So does one that is replaced: the value
that goes takes at most 1 away, and the one that comes adds at most 1. A person of whom at most L
values count changes it by at most L, and so does one who is replaced by another, since up to L
values go and up to L come, with differences of opposite sign.

Which values of a person count is a uniform choice by a fresh secret key that nobody else has a say
in (`sources.bounding`), so there is a coupling in which all others keep what they had.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import privacy
from .._core import checks
from .._core.error_bars import NOISE, Expected
from .._core.types import Neighbors, Number
from ..budget.budget import Budget
from ..budget.mechanism import Mechanism
from ..budget.release import Prepared, relation_of, releases
from ..noise.additive import amount
from ..noise.calibrated_integer import IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..privacy import Loss
from ..rng import Generator
from ..sources.batches import Batches
from ..sources.data import form_of
from ..sources.engine import EngineColumns
from ..sources.files import Columns
from ..sources.forms import columns_of_table, is_distributed, is_lazy
from ..sources.key_words import KEYS_RULE
from .api import group_by, one_column
from .keys import PrivateKeys
from .sums import Count
from .table import Table


@dataclass(frozen=True, slots=True)
class Distinct(Mechanism[int]):
    """The number of keys of a table that a row has; see `dpfast.count_distinct`.

    Parameters
    ----------
    table : Table
        Of private keys, without statistics. It reads, and bounds the keys of a person.
    loss : Loss
    """

    table: Table
    loss: Loss

    name: ClassVar[str] = "count of distinct values"

    @property
    def neighbors(self) -> str:
        return self.table.neighbors

    @property
    def ids(self) -> str | None:
        return self.table.ids

    @property
    def columns(self) -> Any:
        return self.table.columns

    @property
    def persons(self) -> Any:
        return self.table.persons

    @property
    def integer_noise(self) -> IntegerNoise:
        """Return the noise, for as many values as a step may take away or bring."""
        persons = self.table.persons
        most = 1 if persons is None else persons.max_groups
        assert most is not None
        return integer_noise(self.loss, Sensitivity.of_one(most))

    def charged(self) -> Distinct:
        """Return the mechanism with the loss of its noise."""
        return replace(self, loss=self.integer_noise.loss)

    def reduce(self, source: Batches) -> Batches:
        """Return the rows as they are: which of a person's count is random."""
        return source

    def finish(self, summary: Batches, generator: Generator) -> int:
        coder, found = self.table.told(summary, generator.stream())
        rows: NDArray[np.uint64] = found.rooms[None][: coder.groups]
        return self.integer_noise.add([int(np.count_nonzero(rows))], generator)[0]

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar, that of the noise, about the values that count."""
        return Expected(confidence, float(self.integer_noise.within(1 - confidence)), note=NOISE)


@dataclass(frozen=True, slots=True)
class Values(Table):
    """A table of private keys, of each of which it is known how many rows have it."""

    @property
    def counted(self) -> dict[str | None, Any]:
        return {None: Count(None)}


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
    Neighbors differ in one row, or with `ids` in all rows of one person, added or removed, or
    replaced. The call satisfies the loss that it is asked for. A row changes the number by at most
    1 under both relations, and a person of whom `max_groups` values count by at most that many
    (``dpfast/groups/distinct.py``). The number is exact, and the noise is an exact integer for that
    (Dwork, McSherry, Nissim and Smith, TCC 2006; discrete Gaussian: Canonne, Kamath and Steinke,
    NeurIPS 2020).

    Parameters
    ----------
    data : array_like, table, or source
        Integers, text, bytes, booleans, categories, dates or times, as `dpfast.select_keys` reads
        them: floating-point numbers have no equality to rely on. What is null is no value. Of a
        table the values of all columns together are one, unless one of them is null.
    ids : array_like or str, optional
        Whose row it is: one id for each row, or the name of the column of a table, or of a scanned
        file, that holds them and is no part of the values. Rows without an id count nowhere.
    max_groups : int, optional
        With `ids`, and only then: how many distinct values of a person count at most. Which of more
        is random, so that values that few have may be lost; no error bar knows of that.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        By default that of the budget, and "add-remove" without one.
    where : array_like of bool, optional
        The rows to use, each a function of that row alone.
    budget : Budget, optional
        Pays for the call before data or randomness are touched.
    rng : Generator, optional
        By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.

    Returns
    -------
    int
        The private number of distinct values. It is unbiased, so it may be negative.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        For a bad argument, or too small a budget; nothing has been spent.
    DataError
        When there are more values than memory is for.

    See Also
    --------
    dpfast.select_keys : The values themselves, of those that enough people have.
    dpfast.group_by : How many people each group has.

    Notes
    -----
    Values are held as 128 bits each, those of long text as hashes of that size under a secret key.

    Cost: one read of the data, or two with `ids`; some 80 to 160 bytes of memory for each distinct
    value, whatever its length, and a byte a row with `ids`.

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
    loss = privacy.loss(epsilon, delta, rho)
    amount(loss)
    form, by = _columns(data, ids)
    groups = group_by(form, by, ids=ids, max_groups=max_groups, neighbors=neighbors)
    relation = relation_of(neighbors, budget)
    keys = PrivateKeys(by, named=groups._batches.of_engine is not None).checked(groups._batches)
    table = Values(Distinct.name, keys, {}, relation, groups._persons)
    mechanism = Distinct(table, loss).charged()
    return Prepared(mechanism, groups._masked(where, relation), budget, rng)


def _columns(data: Any, ids: Any) -> tuple[Any, list[str]]:
    """Return data as a table, and the columns whose values are counted."""
    form = form_of(data, "data", KEYS_RULE) if is_distributed(data) or is_lazy(data) else data
    if isinstance(form, (Columns, EngineColumns)):
        names = list(form.names)
    elif (table := columns_of_table(form, "data")) is not None:
        names = list(table)
    else:
        form, name = one_column(data, "data")
        names = [name]
    counted = [name for name in names if not (isinstance(ids, str) and name == ids)]
    if not counted:
        checks.fail("ids", "a column beside those of the data", ids)
    return form, counted
