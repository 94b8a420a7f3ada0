"""Releases about disjoint parts of the rows: together they cost as much as the most expensive part.

`Budget.parallel` reads a column once. It numbers the public values and returns a `Part` for each. A
row belongs to the part whose value it has, or to none. A `Part` runs a release about its rows: it
passes them as `where`, and records the loss for itself. So no two parts share a row, whatever the
caller does.

*Proof.* Take two neighbors x and x' of the relation of the ledger. Under add-remove one of them has
one more row r. Under replace the row at one position is r in x and r' in x'. The part of a row is a
function of that row alone, because the values are public. A release with `where` reads the rows
that it keeps and, under replace, the public number of all rows. So the releases about parts without
r and r' have the same distribution on x and x', and no loss. A release about the part of r (or r')
has at most the loss between x and x' that the ledger counts for it. These losses add up: to at most
the sum S_a of one part a under add-remove, and to at most S_a + S_b for two parts a and b under
replace. So a block counts as the largest sum (add-remove) or as the two largest together (replace),
for each of epsilon, delta and rho separately. This bounds the loss of every pair.
`dpfast.privacy.parallel` is the same rule (McSherry, SIGMOD 2009).

*Later releases may depend on earlier answers.* Fix a pair x, x'. Only the releases about the parts
of r and r' have a loss. All others can be simulated from the rows that x and x' share. So each pair
has its own adaptive sequence of releases. Their losses, with everything that is paid outside of the
block, never exceed the amount in the ledger. The limit is checked before each release, so it is a
privacy filter for each pair.

*Kills.* Each release first adds the increase of the block's total to the ledger. Increases are not
negative, and add up to the total. The sums of the parts are in the memory of this process alone.
After a kill the ledger holds the total, and a new block begins at 0. The sum of a part grows after
the entry is written. If the process is interrupted in between, the next release pays for the
increase again. A forked process is refused, because it would spend from a copy of the sums.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import nlargest
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import Neighbors
from .._kernels.groups import Codes
from .._kernels.rng import witnesses
from .._kernels.tables import Key
from ..errors import BudgetError
from ..tables.forms import Arrow, Objects, Values, column_form, index_of, title_of
from ..tables.key_words import KEYS_RULE, TIMES, KeyWords, key_kind, span_of, zone_kind
from ..tables.public_values import expect_matches
from .ledger import Amounts

GROUPS = "a list of different public values: integers, text, bytes or dates"
RELEASE = "a release of dpfast that takes where, such as dpfast.median"
#: The number of parts whose rows can differ between neighbors.
TOUCHED: dict[Neighbors, int] = {"add-remove": 1, "replace": 2}


class Payer(Protocol):
    """The methods of a budget that a block of parts calls."""

    def _as(self, part: Part) -> Payer: ...
    def _quote(
        self, share: Share, function: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> dict[str, Fraction]: ...
    def _named(self, amounts: Amounts) -> dict[str, Fraction]: ...
    def _words(self, amounts: Amounts) -> str: ...


def counted(sums: Mapping[int, Amounts], relation: Neighbors) -> Amounts:
    """Return the loss of a block of disjoint parts, from the sum of the losses of each part."""

    def largest(name: str) -> Fraction:
        amounts = (getattr(spent, name) for spent in sums.values())
        return sum(nlargest(TOUCHED[relation], amounts), Fraction(0))

    return Amounts(largest("epsilon"), largest("delta"), largest("rho"))


@dataclass(slots=True)
class Share:
    """The loss of a spend about a part: `full` for the part, and `more` added to the ledger."""

    sums: Mapping[int, Amounts]
    number: int
    full: Amounts = field(default=Amounts(), init=False)
    more: Amounts = field(default=Amounts(), init=False)

    @property
    def after(self) -> dict[int, Amounts]:
        """The sum of the losses of each part after this spend."""
        before = self.sums.get(self.number, Amounts())
        return {**self.sums, self.number: before + self.full}

    def increase(self, full: Amounts, relation: Neighbors) -> Amounts:
        self.full = full
        self.more = counted(self.after, relation) - counted(self.sums, relation)
        return self.more


class Block:
    """The disjoint parts of rows by the values of a column, and the loss spent for each part."""

    def __init__(self, budget: Payer, column: Any, groups: Any) -> None:
        self.budget = budget
        self.groups, self.codes = _coded(column, groups)
        self.title = title_of(column) or "column"
        self.row_index = index_of(column)
        self.sums: dict[int, Amounts] = {}
        self.spent_in_all = Amounts()
        self.is_open = True
        self._process = witnesses()
        self._lock = threading.RLock()
        self._is_paying = False

    def pay(self, number: int, append: Callable[[Share], int]) -> int:
        """Add the entry of a spend about a part, then the loss of the spend to the part's sum."""
        if not self.is_open:
            raise BudgetError("budget refused the spend: the block of this part has ended")
        # Before the lock: a fork may have copied it while it was held.
        if self._process != witnesses():
            raise BudgetError(
                "budget refused the spend: this process is a fork and does not see the spends of "
                "its parent; make a block in each process"
            )
        with self._lock:
            if self._is_paying:
                raise BudgetError(
                    "budget refused the spend: a signal handler or finalizer called it during "
                    "another spend of this block; spend before or after that"
                )
            self._is_paying = True
            try:
                share = Share(self.sums, number)
                entry = append(share)
                self.sums, self.spent_in_all = share.after, self.spent_in_all + share.more
                return entry
            finally:
                self._is_paying = False


class Part:
    """The rows of one group, and the loss spent for them.

    Created by `Budget.parallel`. ``part(dp.median, ages, bounds=(0, 120), epsilon=1)`` is the
    private median of the rows of the part.
    """

    def __init__(self, block: Block, number: int) -> None:
        self._block, self._number = block, number
        #: The public value of `column` in the rows of this part.
        self.group = block.groups[number]

    def __repr__(self) -> str:
        return f"Part({self.label}; spent: {self._block.budget._words(self._paid)})"

    @property
    def label(self) -> str:
        """The name of the part in the ledger."""
        return f"{self._block.title} = {self.group!r}"

    @property
    def _paid(self) -> Amounts:
        return self._block.sums.get(self._number, Amounts())

    @property
    def spent(self) -> dict[str, Fraction]:
        """The sum of the losses of releases about this part, as exact fractions by name."""
        return self._block.budget._named(self._paid)

    def __call__(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run a release on the rows of this part.

        Parameters
        ----------
        function : callable
            A release of this library that takes `where`, such as ``dp.median``, or a method of
            `dpfast.group_by`.
        *args, **kwargs
            The arguments of `function`, without ``where`` and ``budget``. The data are all rows, in
            the order of the column.

        Returns
        -------
        object
            The answer of the release.

        Raises
        ------
        BudgetError
            If the release would cost more than what remains of the budget, if the privacy unit of
            the budget is a person, if the block has ended, or if this process is a fork.
        """
        arguments = self._arguments(function, kwargs)
        return function(*args, **arguments, budget=self._block.budget._as(self))

    def cost(
        self, function: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> dict[str, Fraction]:
        """Return the loss that a call would add to the ledger, without running it.

        Parameters
        ----------
        function : callable
        *args, **kwargs
            As for a call of the part.

        Returns
        -------
        dict
            By how much the release would increase the loss of the block: exact fractions by name.
        """
        arguments = self._arguments(function, kwargs)
        share = Share(self._block.sums, self._number)
        return self._block.budget._quote(share, function, *args, **arguments)

    @property
    def _where(self) -> Values:
        rows = np.equal(self._block.codes, self._number)
        return Values(rows, rows, row_index=self._block.row_index)

    def _arguments(self, function: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments by name of a release about this part."""
        try:
            takes = set(inspect.signature(function).parameters)
        except (TypeError, ValueError):
            takes = set()
        is_ours = str(getattr(function, "__module__", "")).startswith("dpfast.")
        if not (is_ours and {"where", "budget"} <= takes):
            checks.fail("function", RELEASE, function)
        for name, instead in (
            ("budget", "the part pays from the budget of its block"),
            ("where", "the part keeps its own rows (for fewer, divide by a finer column)"),
        ):
            if name in kwargs:
                checks.fail(name, f"left out: {instead}", kwargs[name])
        return {**kwargs, "where": self._where}


class Parts(Mapping[Any, Part]):
    """The parts of a block: a mapping from each group to its part, in the order of the groups."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._parts = {group: Part(block, i) for i, group in enumerate(block.groups)}

    def __getitem__(self, group: Any) -> Part:
        return self._parts[group]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        words = self._block.budget._words(self._block.spent_in_all)
        return f"Parts({len(self)} of {self._block.title}; spent together: {words})"

    @property
    def spent(self) -> dict[str, Fraction]:
        """The loss spent for all parts together, as exact fractions by name."""
        return self._block.budget._named(self._block.spent_in_all)


def _coded(column: Any, groups: Any) -> tuple[list[Any], NDArray[np.int32]]:
    """Return the public values, and for each row the index of its value, or -1.

    A missing or unlisted value is never an error: its row belongs to no part.
    """
    listed, data = (column_form(groups, "groups", GROUPS), column_form(column, "column", KEYS_RULE))
    zone = zone_kind(listed, "groups")
    # No secret key is needed: even if the words of two values collide, parts are disjoint.
    key = Key(bytes(32))
    table, words = Codes(key), KeyWords(key, "groups").of(listed)
    table.add(*words, np.empty(len(words.low), np.int32))
    values, kind = _values(listed), key_kind(data, "column")
    if not (len(values) and bool(words.presence().all()) and len(table) == len(values)):
        checks.fail("groups", GROUPS, groups)
    expect_matches("groups", values, data, "the column", is_key=True, kind=zone)
    public = np.fromiter(values, object, len(values))
    span = span_of("groups", public) if kind in (TIMES, "objects") else None
    key_words = KeyWords(key, "column", is_lenient=True, span=span).of(data)
    codes = np.empty(len(key_words.low), np.int32)
    table.find(*key_words, codes)
    return values, codes


def _values(data: Objects | Values | Arrow) -> list[Any]:
    """Return public values as a list of objects that a dictionary takes as keys."""
    if isinstance(data, Objects):
        return [bytes(value) if isinstance(value, bytearray) else value for value in data.rows]
    if isinstance(data, Arrow):
        return list(data.chunked.to_pylist())
    return list(data.array) if data.array.dtype.kind == "M" else list(data.array.tolist())
