"""`Budget`: a limit on the privacy loss about one dataset, and a ledger of what was spent."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, ROUND_DOWN, Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, cast, overload
from weakref import ref

from .._core import checks
from .._core.advice import advise
from .._core.html import table
from .._core.owner_log import write
from .._core.types import Neighbors, Number
from ..errors import BudgetError, LedgerError
from ..privacy import ZCDP, Approx, Loss, Pure, convert, loss
from ..privacy.composition import rho_of
from .history import History, amount_words, decimal, loss_words
from .ledger import Amounts, Memory, Spend, State, Unit
from .ledger.entries import PERIODS, began, now, process
from .ledger.text import exact, parts_of, plain
from .ledger.text import record as record_text
from .mechanism import Mechanism
from .parallel import Block, Part, Parts, Share
from .record import Record as ReleaseRecord
from .release import Payer, advise_loss, prepare

if TYPE_CHECKING:
    from .ledger.chain import LastRow
    from .ledger.file import File
    from .ledger.streams import Record


#: The part of the limit's delta that one rho loss takes when it is converted to epsilon, so that
#: 100 such losses fit. A larger part would save little epsilon, because epsilon grows only with the
#: root of ln(1 / delta).
RHO_DELTA = Fraction(1, 100)
_DOWN = Context(prec=4, rounding=ROUND_DOWN, Emin=MIN_EMIN, Emax=MAX_EMAX)


def _both(amount: Fraction) -> dict[str, Any]:
    return {"value": float(amount), "exact": exact(amount)}


@dataclass(frozen=True, slots=True)
class _Here:
    """The pending and the last spend of a thread or task from a budget."""

    notes: tuple[str, ...] = ()
    #: The keys that are left in a block of `Budget.once`; None outside of one.
    keys: list[str] | None = None
    #: The number of the entry that was added last.
    entry: int | None = None


#: The state of each budget in this context. A ContextVar for each budget would never be freed while
#: a context that used it exists.
_HERE: ContextVar[Mapping[ref[Budget], _Here]] = ContextVar("dpfast budgets")


class Budget(Payer):
    """A limit on the total privacy loss of all releases about one dataset, summed exactly.

    Amounts are exact fractions: ``0.1`` means one tenth, and ten spends of 0.1 leave exactly 0 of
    1.0. A spend is recorded before data are read or random bits are drawn, and it is never
    refunded. Losses add up by basic composition. The limit is checked before each call (a privacy
    filter), so later calls may depend on earlier answers.

    Without `path` the ledger is in memory. A forked child process cannot spend from it, because the
    parent would not see these spends. With `path` the ledger is a file, and a spend is on the disk
    before the data are read. Any number of objects, threads and processes (forked or not) may spend
    from one file at the same time. Even if a process is killed, the file has an entry for each
    release.

    In a ``with budget:`` block, the budget pays for every release that is called without the
    argument `budget`; in nested blocks, the innermost budget pays. A block holds for its context
    (`contextvars`): for an asyncio task and the tasks that it starts, also by
    ``asyncio.to_thread``. It does not hold in a new ``threading.Thread``: start a block in that
    thread, or run it in ``contextvars.copy_context()``.

    Parameters
    ----------
    epsilon : float, Fraction or Decimal, optional
        Limit of a pure or (epsilon, delta) budget.
    delta : float, Fraction or Decimal, default 0
        Limit on the sum of deltas.
    rho : float, Fraction or Decimal, optional
        Limit of a zero-concentrated (zCDP) budget, instead of `epsilon`. In such a budget a pure
        loss counts as a rho of epsilon tanh(epsilon / 2), or less if the distribution of its noise
        is known (`dpfast.privacy.Draws`). A loss of epsilon and delta is accepted only from
        Gaussian noise, as in counts, sums, means, histograms and marginals. In an (epsilon, delta)
        budget, each loss of rho takes a hundredth of the limit's delta and the epsilon of
        `dpfast.privacy.ZCDP.to_approx` for it: this is valid but not tight.
    neighbors : {"replace", "add-remove"}, optional
        The neighboring relation of the limit, by default the relation of the first spend. It is
        also the default for every call that this budget pays for. In a budget for "replace", a loss
        under "add-remove" counts as twice its epsilon, or as four times its rho. A budget for
        "add-remove" refuses a loss under "replace".
    ids : str, optional
        The name of the column of ids, if the privacy unit of the limit is a person, that is all
        rows of one id. Neighbors then differ in one person, whose rows are added or removed
        ("add-remove"), or are replaced by the rows of another person ("replace"). By default the
        first spend decides whether the unit is a row or a person, and which column has the ids. A
        loss for another unit or another column of ids is refused.
    max_rows : int, optional
        Only with `ids`: the largest number of rows that one person has. It must be publicly known,
        and not be computed from the data. With it, the budget also accepts a loss whose privacy
        unit is a row, under "add-remove", and charges more for it (group privacy; see Notes).
        Without `max_rows` such a loss is refused, because it protects a person with many rows too
        little.
    period : {"day", "week", "month", "year"}, optional
        If given, the limit renews with each day, week, month or year, in UTC. The spends of k
        periods then add up to at most k times the limit. By default the limit is for all time.
        Entries of earlier periods stay in the history. If the clock is set back, the period does
        not change. If the clock is set ahead, the limit renews too early.
    name : str, optional
        A name for the ledger, for people who read it.
    path : str or path-like, optional
        The file of the ledger. A new file is made if there is none. For an existing file, the
        limit, the relation and the name may be left out; if given, they must equal the values in
        the file.
    timeout : float, default 30
        How many seconds to wait while other processes write to the file.

    Raises
    ------
    ArgumentError
        If no limit or two kinds of limit are given, or if the file has another limit.
    LedgerError
        If the file is not a ledger, is damaged, was created by a newer version, or cannot be
        written. `LedgerBusyError` if another process keeps it locked for longer than `timeout`.

    See Also
    --------
    dpfast.privacy.Pure, dpfast.privacy.Approx, dpfast.privacy.ZCDP

    Notes
    -----
    Group privacy (`dpfast.privacy.group`): a person has at most k rows, where k is `max_rows`. So a
    loss per row under "add-remove" counts for a person as k epsilon, as k**2 rho, or as delta
    (exp(k epsilon) - 1) / (exp(epsilon) - 1). In a budget for "replace" k is twice `max_rows`,
    because the rows of one person are removed and the rows of another are added. A loss per row
    under "replace" is refused, because it says nothing about two people with different numbers of
    rows.

    The file is an SQLite database. Keep it on a local disk: the locks of network drives are not
    reliable. While the ledger is in use, it has a second file, whose name ends in ``-wal``; after a
    kill this file stays until the next use. To move a ledger, move both files together and then run
    ``dpfast budget move FILE``. Without this command a moved or copied ledger is refused, because
    both copies could be spent. Only their owner can read the two files. Restoring an old copy
    undoes spends: a process that has seen later entries refuses the old copy, but a new process
    cannot notice it. A pickle of a budget with a path opens that path again. A budget in memory
    cannot be pickled.

    Cost: a spend takes some microseconds in memory. In a file it takes less than a millisecond and
    five synchronous writes to the disk, for any number of entries. Opening a ledger checks its sums
    and its last 1,000 entries, in some hundredths of a second. `history`, `export` and `to_dict`
    read and check all entries, about 40,000 a second.

    Examples
    --------
    >>> import dpfast as dp
    >>> budget = dp.Budget(epsilon=1.0)
    >>> for _ in range(10):
    ...     budget.spend(dp.privacy.Pure(0.1), neighbors="add-remove")
    >>> budget.remaining
    {'epsilon': Fraction(0, 1), 'delta': Fraction(0, 1)}
    >>> ages = [23, 35, 41, 58, 62]
    >>> budget.cost(dp.count, ages, epsilon=0.5)
    Pure(epsilon=0.5)

    A block of calls:

    >>> with dp.Budget(epsilon=1) as of_block:
    ...     answers = dp.count(ages, epsilon=0.5), dp.mean(ages, bounds=(0, 120), epsilon=0.5)
    >>> of_block.remaining["epsilon"]
    Fraction(0, 1)

    A budget whose unit is a person with at most 20 rows:

    >>> flights = dp.Budget(epsilon=1, ids="tailnum", max_rows=20)
    >>> flights.spend(dp.privacy.Pure(0.01), neighbors="add-remove")  # a loss of rows
    >>> flights.spend(dp.privacy.Pure(0.5), neighbors="add-remove", ids="tailnum")
    >>> flights.spent["epsilon"]
    Fraction(7, 10)

    A budget that outlives the program:

    >>> import os, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> study = os.path.join(folder.name, "study.db")
    >>> budget = dp.Budget(epsilon=1, path=study, name="ages of the study")
    >>> with budget.noted("a first look"):
    ...     answer = dp.median(ages, bounds=(0, 120), epsilon=0.25, budget=budget)
    >>> again = dp.Budget(path=study)
    >>> again.remaining["epsilon"], again.history[0].note
    (Fraction(3, 4), 'a first look')
    >>> folder.cleanup()
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        rho: Number | None = None,
        neighbors: Neighbors | None = None,
        ids: str | None = None,
        max_rows: int | None = None,
        period: Literal["day", "week", "month", "year"] | None = None,
        name: str = "",
        path: str | os.PathLike[str] | None = None,
        timeout: Number = 30.0,
    ) -> None:
        has_loss = epsilon is not None or rho is not None or checks.fraction("delta", delta) != 0
        limit = loss(epsilon, delta, rho) if has_loss or path is None else None
        self._wanted = None if neighbors is None else checks.neighbors(neighbors)
        self._ids = None if ids is None else checks.text("ids", ids)
        if self._ids == "":
            checks.fail("ids", "a name that is not empty", ids)
        self._max_rows = None if max_rows is None else _rows_each(max_rows, ids)
        self._period = None if period is None else checks.choice("period", period, PERIODS)
        self._name = checks.text("name", name)
        self._timeout = checks.positive("timeout", timeout)
        if limit is not None:
            advise_loss(limit)
        self._ref = ref(self)
        self._relation: Neighbors | None = None
        self._part: Part | None = None
        self._file: File | None = None
        self._storage: Memory | File
        if path is None:
            assert limit is not None
            self._limit, self._created = limit, now()
            self._storage = Memory(self._wanted, self._ids)
            return
        self._open(checks.path("path", path), limit)

    def _open(self, path: str, limit: Loss | None) -> None:
        from .ledger.file import File, Header  # imported here: most budgets do not need sqlite3

        about = self._wanted, self._name, self._ids, self._max_rows, self._period
        header = None if limit is None else Header(limit, *about)
        if header is not None and not os.path.isabs(path) and not os.path.exists(path):
            why = "which a run in another folder does not find: give the whole path"
            advise(f"a new ledger at a relative path, {path!r}, {why}")
        self._file = self._storage = file = File(path, header, self._timeout)
        head, state = file.header, file.at_first
        unit = None if state.unit is None else f"it is for {state.unit}"
        for name, value, kept, words in (
            ("limit", limit, head.limit, str(head.limit)),
            ("neighbors", self._wanted, state.neighbors or self._wanted, repr(state.neighbors)),
            ("ids", self._ids, state.ids if unit else self._ids, unit),
            ("max_rows", self._max_rows, head.max_rows, str(head.max_rows)),
            ("period", self._period, head.period, repr(head.period)),
            ("name", self._name or None, head.name, repr(head.name)),
        ):
            if value not in (None, kept):
                checks.fail(name, f"left out, or as in {file.path}: {words}", value)
        self._limit, self._name, self._created = head.limit, head.name, head.created
        self._max_rows, self._period = head.max_rows, head.period

    def __repr__(self) -> str:
        where = "" if self._file is None else f"; path={self._file.path!r}"
        try:
            state = self._state()
        except LedgerError:
            return f"Budget(limit: {loss_words(self._limit)}{where}, which cannot be read)"
        people = "".join(f", {name}={value!r}" for name, value in self._about(state).items())
        return (
            f"Budget(limit: {loss_words(self._limit)}; spent: {self._words(state.spent)}; "
            f"neighbors={state.neighbors or self._wanted!r}{people}{where})"
        )

    def __reduce__(self) -> Any:
        if self._file is None:
            raise TypeError(
                "a budget can be neither pickled nor copied: both copies could be spent"
            )
        file = self._file
        seal, last = file.header.seal, file.last_row
        return _again, (file.path, seal, self._wanted, self._timeout, last, self._ids)

    @property
    def name(self) -> str:
        """The name of the ledger, or an empty text."""
        return self._name

    @property
    def path(self) -> str | None:
        """The file of the ledger, or None."""
        return None if self._file is None else self._file.path

    @property
    def created(self) -> str:
        """The time at which the ledger was made, in UTC (ISO 8601)."""
        return self._created

    @property
    def limit(self) -> dict[str, Fraction]:
        """The limit, as exact fractions by name."""
        return self._named(self._ceiling)

    @property
    def neighbors(self) -> Neighbors | None:
        """The neighboring relation of the ledger, or None before the first spend."""
        if self._relation is None:  # it never changes once it is declared
            self._relation = self._state().neighbors
        return self._relation or self._wanted

    @property
    def unit(self) -> Literal["rows", "people"] | None:
        """The privacy unit: "rows", "people" (all rows of one id), or None if undeclared."""
        unit = self._unit(self._state())
        return None if unit is None else "rows" if unit.ids is None else "people"

    @property
    def ids(self) -> str | None:
        """The column of ids if the privacy unit is a person, or None if it is a row."""
        unit = self._unit(self._state())
        return None if unit is None else unit.ids

    @property
    def max_rows(self) -> int | None:
        """The public bound on the rows of one person (the argument `max_rows`), or None."""
        return self._max_rows

    @property
    def period(self) -> str | None:
        """The calendar period after which the limit renews, such as "month", or None."""
        return self._period

    @property
    def spent(self) -> dict[str, Fraction]:
        """The loss spent (in this period, if the limit renews), as exact fractions by name."""
        return self._named(self._state().spent)

    @property
    def remaining(self) -> dict[str, Fraction]:
        """The loss that is left, as exact fractions by name."""
        return self._named(self._left(self._state()))

    @property
    def history(self) -> History:
        """The ledger entries in order. An entry has an answer only if it was recorded.

        For a ledger in a file this reads and checks every entry, so it finds all damage. Opening a
        ledger checks only the sums and the last 1,000 entries.
        """
        return History(self._storage.history())

    def spend(
        self,
        amount: Loss,
        *,
        neighbors: Neighbors,
        what: str = "",
        note: str = "",
        ids: str | None = None,
        record: Mapping[str, Any] | None = None,
    ) -> None:
        """Record a loss, or refuse it.

        Parameters
        ----------
        amount : Pure, Approx or ZCDP
            The loss of the coming release.
        neighbors : {"replace", "add-remove"}
            The neighboring relation of that loss.
        what : str, optional
            A public description for the ledger.
        note : str, optional
            A note for the ledger, by default the note of `noted`.
        ids : str, optional
            The name of the column of ids, if the loss protects all rows of one id. By default the
            loss protects one row. An empty text stands for ids without a name, such as an array:
            they count as the ids of the budget, or get the name "ids" if this is the first spend.
        record : mapping, optional
            Public facts of the release, as JSON types, which the ledger shows.

        Raises
        ------
        BudgetError
            If the loss is more than what remains, cannot be converted for this budget, or is for
            another privacy unit. Also if this process is a fork and the ledger is in memory. The
            message shows the spent, requested and remaining loss, and what would fit. Nothing was
            recorded.
        LedgerError
            If the file of the ledger cannot be used. Nothing may be released.
        """
        if not isinstance(amount, (Pure, Approx, ZCDP)):
            checks.fail_type("amount", "a Pure, Approx or ZCDP loss", amount)
        checks.neighbors(neighbors)
        here = self._here
        note = checks.text("note", note) or (here.notes[-1] if here.notes else "")
        column = None if ids is None else checks.text("ids", ids)
        words = checks.text("what", what)
        # The record of a statistic of data in memory never changes, so it is formatted only when
        # somebody reads it. Other records may refer to objects of the caller, or to data that
        # change, so they are formatted now.
        is_kept = (
            isinstance(record, ReleaseRecord)
            and record.question is not None
            and record.source["engine"] == "memory"
        )
        if record is not None and not is_kept:
            record = json.loads(record_text(record))
        loss = self._loss_of(amount)
        spend = Spend(loss, neighbors, words, note, now(), process(), ids=column, record=record)
        entry = None
        try:
            entry = self._entered(spend, here.keys)
        finally:
            self._put(_Here(here.notes, here.keys, entry))
        write("spend", what=words, loss=loss, note=note, entry=entry, ledger=self.path)

    def _entered(self, spend: Spend, keys: list[str] | None) -> int:
        """Add the entry of a spend and return its number, or refuse the spend."""
        part = self._part
        if keys == []:
            raise BudgetError(
                "budget refused the spend: a key pays for one spend, so use Budget.once again"
            )
        if part is None:
            key = keys.pop() if keys else None
            return self._storage.append(lambda state: self._decide(state, spend), key)
        if keys:
            raise BudgetError(
                "budget refused the spend: Budget.once does not work for a part of Budget.parallel"
            )
        named = replace(spend, what=f"{spend.what} where {part.label}".lstrip())
        return part._block.pay(
            part._number,
            lambda share: self._storage.append(lambda state: self._decide(state, named, share)),
        )

    @contextmanager
    def noted(self, note: str) -> Iterator[None]:
        """Add a note to every spend in the block of a ``with``.

        The note belongs to the context (`contextvars`): to this thread, or to this asyncio task.

        Parameters
        ----------
        note : str
            Any text, such as the reason for the spends. It must not come from the data.

        Returns
        -------
        context manager

        Examples
        --------
        >>> import dpfast as dp
        >>> budget = dp.Budget(epsilon=1)
        >>> with budget.noted("chapter 2"):
        ...     age = dp.median([23, 35, 41], bounds=(0, 120), epsilon=0.5, budget=budget)
        >>> budget.history[0].note
        'chapter 2'
        """
        before = self._here.notes
        self._set(notes=(*before, checks.text("note", note)))
        try:
            yield
        finally:
            self._set(notes=before)

    @contextmanager
    def parallel(self, column: Any, groups: Any) -> Iterator[Parts]:
        """Spend only the largest loss of releases about disjoint parts of the rows.

        ``parts[group](dp.median, ages, ...)`` is a release about the rows whose value in `column`
        is `group`. It passes the arguments `where` and `budget` for you. For each part, the losses
        of its releases add up to a total. Under "add-remove" the ``with`` block costs the largest
        of these totals. Under "replace" it costs the sum of the two largest, because a replaced row
        may leave one part and enter another. For statistics of many groups at once, or if the
        privacy unit is a person, use `dpfast.group_by`.

        Parameters
        ----------
        column : array_like
            One value for each row, in the order of the rows: integers, text, bytes or dates. Each
            value must depend on its row alone, as in a column of the table. The column is read
            once.
        groups : array_like
            Different values of `column`. They must be public, and not be taken from the data. A row
            with any other value, or with a missing value, belongs to no part.

        Yields
        ------
        mapping
            The part of each group. ``part(function, data, ...)`` runs a release that takes `where`.
            ``part.cost(...)`` returns the loss that this release would add to the ledger.
            ``part.spent`` is the sum of the losses of the part, and ``parts.spent`` is the loss
            that the whole block has cost so far.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If an argument breaks its rule.
        BudgetError
            If the privacy unit of the budget is a person: a person may have rows in several parts.

        Notes
        -----
        Privacy: neighbors differ in one row, which is in one part (under "replace", in two). Only
        the releases about these parts have a loss, and their losses add up. The proof is in
        ``dpfast/budget/parallel.py``; see also McSherry, SIGMOD 2009. `dpfast.privacy.parallel` is
        the same rule for losses. Each release is charged before it runs, by the increase of the
        block's cost, so later releases may depend on earlier answers. Threads may share a block. A
        forked process cannot use it. A second block about the same column is paid for anew.

        Examples
        --------
        >>> import dpfast as dp
        >>> budget = dp.Budget(epsilon=1, neighbors="add-remove")
        >>> town = ["Ulm", "Bonn", "Ulm", "Ulm", "Bonn"]
        >>> ages = [23, 35, 41, 58, 62]
        >>> with budget.parallel(town, ["Bonn", "Ulm"]) as parts:
        ...     count = {name: part(dp.count, ages, epsilon=0.5) for name, part in parts.items()}
        ...     age = parts["Ulm"](dp.median, ages, bounds=(0, 120), epsilon=0.25)
        >>> budget.spent["epsilon"], parts["Bonn"].spent["epsilon"]
        (Fraction(3, 4), Fraction(1, 2))
        >>> budget.history[2].what
        "quantile 1/2, nan=drop where column = 'Ulm'"
        """
        self._refuse_parts(self._unit(self._state()))
        block = Block(self, column, groups)
        try:
            yield Parts(block)
        finally:
            block.is_open = False

    def _as(self, part: Part) -> Self:
        """Return this budget, with each spend charged to one part of disjoint rows."""
        payer = object.__new__(type(self))
        vars(payer).update(vars(self), _part=part)
        return payer

    @property
    def _here(self) -> _Here:
        """The pending and the last spend of this thread or task."""
        return _HERE.get({}).get(self._ref, _Here())

    def _set(self, **changes: Any) -> None:
        self._put(replace(self._here, **changes))

    def _put(self, state: _Here) -> None:
        others = {budget: here for budget, here in _HERE.get({}).items() if budget() is not None}
        _HERE.set({**others, self._ref: state})

    @contextmanager
    def once(self, key: str) -> Iterator[None]:
        """Pay only once for the spend in the ``with`` block, however often the block is run.

        If the ledger already has an entry with this key, nothing is charged.

        Privacy
        -------
        Release nothing except the return value of `settle`. Then only one answer is released for
        one spend, even if the block runs several times. Each run draws its own noise, and `settle`
        returns the answer of the run that recorded first. That choice does not depend on the
        answers, and nobody sees the answers of the other runs.

        Parameters
        ----------
        key : str
            An identifier of this spend, such as a digest of the query and of the version of the
            data. It must not be computed from the rows.

        Returns
        -------
        context manager

        Examples
        --------
        >>> import dpfast as dp
        >>> budget = dp.Budget(epsilon=1)
        >>> def count():
        ...     with budget.once("rows, June"):
        ...         return budget.settle(dp.count([1, 2, 3], epsilon=0.5, budget=budget))
        >>> count() == count(), budget.spent["epsilon"]
        (True, Fraction(1, 2))
        >>> budget.entry("rows, July") is None
        True
        """
        self._set(keys=[checks.text("key", key)], entry=None)
        try:
            yield
        finally:
            self._set(keys=None)

    @property
    def last_entry(self) -> int | None:
        """The number of the entry of the last spend of this thread or task, if there is one."""
        return self._here.entry

    def settle(self, answer: object) -> Any:
        """Return the answer stored with this thread's last entry; if there is none, store this one.

        Parameters
        ----------
        answer : number, text, NumPy array, or a nested list or dict of these and None
            As in `record`.

        Returns
        -------
        The stored answer, made of numbers, texts, lists and dicts.

        Raises
        ------
        ArgumentError
            If this thread or task has spent nothing yet.

        Examples
        --------
        >>> import dpfast as dp
        >>> budget = dp.Budget(epsilon=1)
        >>> budget.spend(dp.privacy.Pure(0.5), neighbors="replace")
        >>> budget.settle(3.5), budget.settle(9.5)
        (3.5, 3.5)
        """
        return self._recorded(plain(answer))[1]

    def entry(self, key: str) -> tuple[int, Any] | None:
        """Return the number and the stored answer of the entry that `once` made for a key.

        Parameters
        ----------
        key : str
            As in `once`.

        Returns
        -------
        (int, answer or None), or None
            None if no spend has the key.

        Examples
        --------
        >>> import dpfast as dp
        >>> budget = dp.Budget(epsilon=1)
        >>> with budget.once("June"):
        ...     budget.spend(dp.privacy.Pure(0.5), neighbors="replace")
        >>> budget.entry("June"), budget.entry("July")
        ((1, None), None)
        """
        return self._storage.find(checks.text("key", key))

    def left_after(self, mechanisms: Iterable[Mechanism[Any]]) -> dict[str, Fraction]:
        """Return the loss that would remain after releases of several mechanisms, without spending.

        Parameters
        ----------
        mechanisms : iterable of Mechanism
            Mechanisms, as in ``dpfast.extend.prepare(...).mechanism``.

        Returns
        -------
        dict of str to Fraction

        Raises
        ------
        BudgetError
            If the loss of a mechanism does not fit into what the mechanisms before it leave.

        Examples
        --------
        >>> import dpfast as dp
        >>> count = dp.extend.prepare(dp.count, [1, 2], epsilon=0.25).mechanism
        >>> dp.Budget(epsilon=1).left_after([count, count])["epsilon"]
        Fraction(1, 2)
        """
        state = self._state()
        for mechanism in mechanisms:
            _, state = self._decide(state, self._spend_of(mechanism))
        return self._named(self._left(state))

    def _stream(self, name: str, facts: str) -> Record:
        """Return the record of a stream, for a ledger in a file."""
        from .ledger.streams import Record

        assert self._file is not None
        return Record(self._file, name, facts)

    @classmethod
    def move(cls, path: str | os.PathLike[str]) -> Self:
        """Record that a ledger file was moved to this path, or is a restored backup.

        By this call you state that the file holds all spends, and that nobody spends from another
        copy of the file. dpfast cannot check this.

        Parameters
        ----------
        path : str or path-like
            The file of the ledger, at its new place.

        Returns
        -------
        Budget

        Raises
        ------
        LedgerError
            If the file is not a ledger, or is damaged.

        Examples
        --------
        >>> import os, tempfile, dpfast as dp
        >>> folder = tempfile.TemporaryDirectory()
        >>> study = os.path.join(folder.name, "study.db")
        >>> made = dp.Budget(epsilon=1, path=study)
        >>> dp.Budget.move(study).remaining["epsilon"]
        Fraction(1, 1)
        >>> folder.cleanup()
        """
        from .ledger.file import move

        move(checks.path("path", path))
        return cls(path=path)

    def record(self, answer: object) -> None:
        """Record a released answer with the last entry of this thread, or of this asyncio task.

        Without this call a ledger holds no answers. So it can be shown to people who must not see
        the answers.

        Parameters
        ----------
        answer : number, text, NumPy array, or a nested list or dict of these and None
            The result of the release. It must be finite.

        Raises
        ------
        ArgumentError
            If this thread or task has spent nothing yet, or the entry has an answer already.

        Examples
        --------
        >>> import dpfast as dp
        >>> budget = dp.Budget(epsilon=1)
        >>> age = dp.median([23, 35, 41], bounds=(0, 120), epsilon=0.5, budget=budget)
        >>> budget.record(age)
        >>> budget.history[0].answer == age
        True
        """
        kept = plain(answer)
        new, _ = self._recorded(kept)
        if not new:
            checks.fail("answer", f"recorded once: entry {self._here.entry} has an answer", kept)

    def _recorded(self, answer: Any) -> tuple[bool, Any]:
        """Record an answer with the last entry if it has none; return whether, and the one kept."""
        number = self._here.entry
        if number is None:
            rule = "recorded after a spend, by the thread or task that spent"
            checks.fail("answer", rule, answer)
        return self._storage.settle(number, answer)

    def export(self) -> str:
        """Return the whole ledger as JSON: its limit, its sums and its entries, in order.

        Returns
        -------
        str
            One JSON object; its ``lines`` are the entries, with stored answers. Each amount is a
            pair of ``value``, a float, and ``exact``, a ratio.

        Examples
        --------
        >>> import dpfast as dp, json
        >>> json.loads(dp.Budget(epsilon=0.1).export())["limit"]["epsilon"]
        {'value': 0.1, 'exact': '1/10'}
        """
        return json.dumps(self._listed(_both), indent=2)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole ledger, as `export` does, as a dict whose amounts are exact strings.

        Returns
        -------
        dict
            A dict that ``json.dumps`` accepts. ``fractions.Fraction(text)`` reads an amount;
            amounts of more than 3000 digits are hexadecimal. A dict cannot be made into a budget
            again, because both could be spent. ``dp.Budget(path=...)`` opens a ledger that is in a
            file.

        Examples
        --------
        >>> import dpfast as dp
        >>> dp.Budget(epsilon=0.1).to_dict()["limit"]
        {'epsilon': '1/10', 'delta': '0/1'}
        """
        return self._listed(exact)

    def summary(self) -> dict[str, Any]:
        """Return the ledger's limit and sums, as `export` does, without reading the entries.

        Returns
        -------
        dict
            Each amount is a pair of ``value``, a float, and ``exact``, a text.

        Examples
        --------
        >>> import dpfast as dp
        >>> dp.Budget(epsilon=0.1, ids="who").summary()["limit"]["epsilon"]
        {'value': 0.1, 'exact': '1/10'}
        """
        return self._facts(self._state())

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: limit, spent, left and the releases without answers."""
        try:
            state, entries = self._after_all()
        except LedgerError:
            return f"<p>{escape(repr(self))}</p>"
        sums = (self._ceiling, state.spent, self._left(state))
        named = [self._named(amounts) for amounts in sums]
        rows = [[name, *(decimal(amounts[name]) for amounts in named)] for name in named[0]]
        known_facts = {"neighbors": state.neighbors or self._wanted, **self._about(state)}
        facts = [f"{n}={v!r}" for n, v in known_facts.items() if v is not None]
        where = ", ".join(facts) + ("" if self.path is None else f" {self.path}")
        releases = entries.to_html() if entries else "<p>No release yet.</p>"
        return (
            f"<div><p><b>{escape(self._name or 'Budget')}</b> {escape(where)}</p>"
            f"{table(['', 'limit', 'spent', 'left'], rows)}<details open><summary>Releases: "
            f"{len(entries)}</summary>{releases}</details></div>"
        )

    def _after_all(self) -> tuple[State, History]:
        """Return the state of the ledger after its last entry, and all entries."""
        entries, state = self.history, self._state()
        amounts = [
            entry.counted
            for entry in entries
            if self._period is None or str(began(self._period, state.time)) <= entry.time
        ]
        return replace(state, spent=sum(amounts, Amounts()), entries=len(entries)), entries

    def _listed(self, show: Callable[[Fraction], Any]) -> dict[str, Any]:
        """Return the whole ledger, with amounts as `show` formats them."""
        state, entries = self._after_all()
        lines = [
            {
                "time": entry.time,
                "what": entry.what,
                "note": entry.note,
                "loss": parts_of(entry.loss, show),
                "neighbors": entry.neighbors,
                **({} if entry.ids is None else {"ids": entry.ids}),
                "counted": self._formed(entry.counted, show),
                "process": entry.process,
                **({} if entry.answer is None else {"answer": entry.answer}),
                **({} if entry.record is None else {"record": dict(entry.record)}),
            }
            for entry in entries
        ]
        return {**self._facts(state, show), "lines": lines}

    def _facts(self, state: State, show: Callable[[Fraction], Any] = _both) -> dict[str, Any]:
        return {
            "name": self._name,
            "path": self.path,
            "created": self._created,
            "neighbors": state.neighbors or self._wanted,
            **self._about(state),
            "limit": self._formed(self._ceiling, show),
            "spent": self._formed(state.spent, show),
            "remaining": self._formed(self._left(state), show),
            "spends": state.entries,
        }

    def _formed(self, amounts: Amounts, show: Callable[[Fraction], Any]) -> dict[str, Any]:
        return {name: show(amount) for name, amount in self._named(amounts).items()}

    @overload
    def cost(
        self,
        function: Callable[..., object],
        /,
        *args: Any,
        parts: Literal[False] = False,
        **kwargs: Any,
    ) -> Loss: ...
    @overload
    def cost(
        self, function: Callable[..., object], /, *args: Any, parts: Literal[True], **kwargs: Any
    ) -> dict[str, Loss]: ...
    def cost(
        self, function: Callable[..., object], /, *args: Any, parts: bool = False, **kwargs: Any
    ) -> Loss | dict[str, Loss]:
        """Return the loss that a call would spend from this budget, without running it.

        The arguments are checked, including the scores of a selection, but no rows are read. The
        loss may be more than what remains of the budget.

        Parameters
        ----------
        function : callable
            A release of this library, such as ``dp.median``.
        *args, **kwargs
            The arguments of `function`, without ``budget``.
        parts : bool, default False
            Whether to return the parts into which the call divides its loss. For instance, with
            ``bounds="auto"`` one part of the loss is for the bounds.

        Returns
        -------
        Pure, Approx or ZCDP, or a dict of them by name
            The loss as this budget counts it: under the neighboring relation of the budget, and in
            rho if the limit is in rho. If the budget has no relation yet, the relation of the call
            is used.

        Raises
        ------
        ArgumentError
            If an argument of the call breaks its rule, or if `function` is not a release.
        BudgetError
            If the loss cannot be converted for this budget.
        """
        wanted = checks.flag("parts", parts)
        if "budget" in kwargs:
            checks.fail("budget", "left out, because nothing is spent", kwargs["budget"])
        mechanism = prepare(function, *args, **kwargs, budget=self).mechanism
        if wanted:
            return mechanism.parts
        state, spend = self._state(), self._spend_of(mechanism)
        return self._price(state, spend, self._units(state, spend))[1]

    def _quote(
        self, share: Share, function: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> dict[str, Fraction]:
        """Return the loss that a release about a part would add to the ledger."""
        spend = self._spend_of(prepare(function, *args, **kwargs, budget=self).mechanism)
        state = self._state()
        return self._named(self._counted(state, spend, share, self._units(state, spend))[1])

    def _loss_of(self, loss: Loss) -> Loss:
        """Return a loss, in rho where this budget is in rho and the rho of the loss is known."""
        rho = loss.rho if isinstance(self._limit, ZCDP) and isinstance(loss, Approx) else None
        return ZCDP(rho) if rho else loss

    def _spend_of(self, mechanism: Mechanism[Any]) -> Spend:
        """Return the spend that `release` would make for a mechanism."""
        relation = checks.neighbors(mechanism.neighbors)
        return Spend(self._loss_of(mechanism.loss), relation, mechanism.what, ids=mechanism.ids)

    # --- the decision ---------------------------------------------------------------------------

    def _decide(
        self, state: State, spend: Spend, share: Share | None = None
    ) -> tuple[Spend, State]:
        """Return the entry of a spend and the state after it, or refuse the spend."""
        time = spend.time
        if self._period is not None:
            state = state.at(self._period, time)
            time = state.time
        unit, call = units = self._units(state, spend)
        if self._ids not in (None, unit.ids):
            self._refuse_late(state, spend, f"ids={self._ids!r}", str(unit))
        relation, counted = self._counted(state, spend, share, units)
        total = state.spent + counted
        if not total.fits(self._ceiling):
            less = self._fitting(state, spend, counted, share)
            self._refuse(state, spend, "counted as " + self._words(counted), less)
        after = State(total, relation, state.entries + 1, unit.ids, time)
        return replace(spend, counted=counted, ids=call.ids, time=time), after

    def _counted(
        self, state: State, spend: Spend, share: Share | None, units: tuple[Unit, Unit]
    ) -> tuple[Neighbors, Amounts]:
        """Return the ledger's relation and the amounts that a spend adds, or refuse the spend."""
        if share is not None:
            self._refuse_parts(units[0])
        relation, loss = self._price(state, spend, units)
        full = Amounts.of(loss)
        return relation, full if share is None else share.increase(full, relation)

    def _price(
        self, state: State, spend: Spend, units: tuple[Unit, Unit]
    ) -> tuple[Neighbors, Loss]:
        """Return the ledger's relation and the loss of a spend under it, or refuse the spend."""
        wanted = state.neighbors or self._wanted or spend.neighbors
        if self._wanted not in (None, wanted):
            self._refuse_late(state, spend, f"neighbors={self._wanted!r}", repr(wanted))
        unit, call = units
        rows = None if unit.ids == call.ids else self._max_rows
        if unit.ids != call.ids and (rows is None or call.ids is not None):
            self._refuse_unit(unit, call)
        loss: Loss | None = spend.loss
        if rows is not None or spend.neighbors != wanted:
            loss = convert(spend.loss, spend.neighbors, wanted, max_rows=rows)
        if loss is None:
            people = "" if rows is None else f" for {unit} of up to {rows} rows"
            mend = "a smaller loss" if spend.neighbors == "add-remove" else "that to the call"
            words = f"which says nothing about neighbors={wanted!r}{people}: pass {mend}"
            self._refuse(state, spend, words)
        if isinstance(self._limit, ZCDP):
            rho, call_loss = rho_of(loss), cast(Any, spend.loss)
            if rho is None:
                least_rho = decimal(_four(ZCDP.largest(call_loss.epsilon, call_loss.delta).rho))
                mend = f"use a budget with delta, or rho={least_rho} if the call takes it"
                self._refuse(state, spend, f"but a budget in rho cannot count this delta: {mend}")
            return wanted, ZCDP(rho)
        if isinstance(loss, ZCDP):
            if not self._limit.delta:
                words = "but a budget without delta cannot count a loss in rho: use Budget(rho=...)"
                self._refuse(state, spend, words)
            return wanted, in_epsilon(loss, self._limit.delta * RHO_DELTA)
        return wanted, loss

    def _fitting(self, state: State, spend: Spend, counted: Amounts, share: Share | None) -> str:
        """Describe which smaller loss would fit, in 4 digits, if a spend exceeds what remains.

        The result is in the units of the call: its epsilon or rho, and its delta, are reduced until
        the loss that the ledger would count fits.
        """
        left, words, loss = self._left(state), list[str](), cast(Any, spend.loss)
        main = "rho" if isinstance(self._limit, ZCDP) else "epsilon"
        name, most, units = loss.amounts[0], getattr(left, main), self._units(state, spend)
        high, low = getattr(loss, name), Fraction(0)

        def fits(size: Fraction) -> bool:
            less = replace(spend, loss=replace(loss, **{name: size}))
            return bool(getattr(self._counted(state, less, share, units)[1], main) <= most)

        if getattr(counted, main) > most:
            for _ in range(50):
                middle = (low + high) / 2
                low, high = (middle, high) if fits(middle) else (low, middle)
            if not low:
                return "; nothing would fit"
            words.append(f"{name} <= {decimal(_four(high if fits(_four(high)) else low))}")
        if counted.delta > left.delta:
            words.append(f"delta <= {decimal(_four(loss.delta * left.delta / counted.delta))}")
        return f"; {', '.join(words)} in total would fit"

    def _unit(self, state: State) -> Unit | None:
        """Return the privacy unit of the limit, or None if none is declared yet."""
        return state.unit or (None if self._ids is None else Unit(self._ids))

    def _units(self, state: State, spend: Spend) -> tuple[Unit, Unit]:
        """Return the privacy unit of the limit after a spend, and the unit of the spend."""
        unit, ids = self._unit(state), spend.ids
        if ids == "":  # ids were passed without a name
            ids = (unit and unit.ids) or "ids"
        return unit or Unit(ids), Unit(ids)

    def _state(self) -> State:
        """Return the state of the ledger now."""
        state = self._storage.state()
        return state if self._period is None else state.at(self._period, now())

    def _about(self, state: State) -> dict[str, Any]:
        """Return the privacy unit of the limit and the period with which it renews, if any."""
        unit = self._unit(state)
        facts = {"ids": unit and unit.ids, "max_rows": self._max_rows, "period": self._period}
        if self._period is not None:
            facts["since"] = str(began(self._period, state.time))
        return {name: fact for name, fact in facts.items() if fact is not None}

    def _refuse_late(self, state: State, spend: Spend, wanted: str, present: str) -> NoReturn:
        self._refuse(
            state, spend, f"but this budget is for {wanted}, and the first spend from its file was "
            f"for {present}"
        )  # fmt: skip

    def _refuse_unit(self, unit: Unit, call: Unit) -> NoReturn:
        if unit == Unit():
            owner, instead = "rows (the unit of its first spend)", "leave ids out of the call"
        else:
            owner, instead = str(unit), f"pass ids={unit.ids!r} to the call"
        if call == Unit():
            other = (
                f"use Budget(ids={unit.ids!r}, max_rows=...) with a publicly known limit on the "
                "rows of a person"
            )
        else:
            other = f"use another budget, Budget(ids={call.ids!r})"
        raise BudgetError(f"budget for {owner} refused a loss of {call}: {instead}, or {other}")

    def _refuse_parts(self, unit: Unit | None) -> None:
        if self._period is not None:  # a block could count spends of more than one period
            raise BudgetError(
                "budget with a period does not allow Budget.parallel: pass where and budget to "
                "the call"
            )
        if unit not in (None, Unit()):
            raise BudgetError(
                f"budget for {unit} does not allow Budget.parallel, because a person may have rows "
                "in several parts: use dpfast.group_by with ids"
            )

    def _refuse(self, state: State, spend: Spend, counted: str, less: str = "") -> NoReturn:
        spent, left = self._words(state.spent), self._words(self._left(state))
        amount, this = loss_words(spend.loss), f" this {self._period}" if self._period else ""
        if spend.ids is not None:
            amount += f" for {self._units(state, spend)[1]}"
        raise BudgetError(
            f"budget refused the spend: spent {spent}; requested {amount} under "
            f"neighbors={spend.neighbors!r}, {counted}; left {left}{this}{less}"
        )

    # --- amounts --------------------------------------------------------------------------------

    @cached_property
    def _ceiling(self) -> Amounts:
        return Amounts.of(self._limit)

    def _left(self, state: State) -> Amounts:
        return self._ceiling - state.spent

    def _words(self, amounts: Amounts) -> str:
        return amount_words(self._named(amounts))

    def _named(self, amounts: Amounts) -> dict[str, Fraction]:
        return amounts.named(self._limit)


def _four(amount: Fraction) -> Fraction:
    """Return the largest decimal of 4 digits that is not above an amount."""
    return Fraction(_DOWN.divide(Decimal(amount.numerator), Decimal(amount.denominator)))


@lru_cache(maxsize=1024)
def in_epsilon(loss: ZCDP, delta: Fraction) -> Approx:
    """Return the loss of a rho, with a `delta`, as it counts in a budget of epsilon and delta.

    Each rho-zCDP release is (epsilon', delta)-DP for any delta (`ZCDP.to_approx`, rounded up). The
    delta used here is a fixed part of the limit, so it does not depend on answers. So basic
    composition holds, also if each loss is chosen after earlier answers. The sum is valid but not
    tight: a budget in rho, converted once to epsilon, has room for more releases.
    """
    return loss.to_approx(delta)


def _rows_each(max_rows: Any, ids: str | None) -> int:
    """Check and return the bound `max_rows` on the number of rows of a person."""
    if ids is None:
        checks.fail("max_rows", "left out without ids: it limits the rows of one id", max_rows)
    return checks.rows_each(max_rows)


def _again(
    path: str,
    seal: str,
    neighbors: Neighbors | None,
    timeout: float,
    entry: LastRow | None = None,
    ids: str | None = None,
) -> Budget:
    """Return a budget from its pickle: open the same ledger file, and check for lost entries."""
    budget = Budget(path=path, neighbors=neighbors, ids=ids, timeout=timeout)
    assert budget._file is not None
    if budget._file.header.seal != seal:
        raise LedgerError(f"ledger {budget.path} is not the file that was pickled")
    if entry is not None:
        budget._file.since(entry)
    return budget
