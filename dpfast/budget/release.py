"""How each release runs: check the arguments, spend the loss, reduce the rows, add noise.

A function that *prepares* a release checks the arguments of a call and returns a `Prepared`, which
has the mechanism, its loss and its error bar. `releases` makes a public function of it, which runs
the `Prepared`. `prepare` returns the `Prepared` without running it: it spends nothing, reads no
rows and draws no bits.

A `Mechanism` has a `loss`, its neighboring relation, a name for the ledger, a `reduce(source)` that
makes a noise-free summary, and a `finish(summary, generator)` that turns the summary into the
answer. Its constructor has checked every argument. So an error in `reduce` or `finish` depends on
the data: it comes after the spend, and `run` turns it into a `DataError`. `reduce` and `finish` may
call functions of the user. If such a function forks the process, the child gets an error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, update_wrapper
from types import FunctionType, MethodType
from typing import Any, Generic, NoReturn, ParamSpec, Self, TypeVar, cast, get_args

import numpy as np

from .. import rng as _rng
from .._core import checks, owner_log
from .._core.advice import SILENT, advise
from .._core.error_bars import CONFIDENCE, ENDS, ErrorBar
from .._core.owner_log import hide_error
from .._core.types import Neighbors
from .._kernels.rng import witnesses
from ..errors import ArgumentError, ArgumentTypeError, BudgetError, DataError
from ..privacy import Loss
from ..privacy.losses import shown
from .ledger.entries import now
from .mechanism import Mechanism, Value
from .record import Question, Record, source_of
from .released import Release

Other = TypeVar("Other")
Args = ParamSpec("Args")


#: A function that gets the mechanism, the data and the answer of each release after its run, and
#: returns the answer for the program. Only `watched` sets it.
WATCHER: ContextVar[Callable[[Any, Any, Any], Any] | None] = ContextVar("watcher", default=None)

#: The budgets of the ``with`` blocks around the call, the innermost last. The first entry is None,
#: because outside of blocks no budget pays. A later None stands for a release that is already paid
#: for: calls inside it are parts of it.
BLOCKS: ContextVar[tuple[Payer | None, ...]] = ContextVar("blocks", default=(None,))
#: Whether the next call without a budget warns. The first such call does. So does the first one
#: after a block began, because a new thread is not in the block.
_warns_unpaid = True
UNPAID = (
    "no budget pays for this call: use `with dp.Budget(...):` (in each thread), or pass budget="
)
#: From this delta on there is a warning, because delta is a chance that a row is not protected.
LARGE_DELTA = Fraction(1, 1000)
#: The last loss that was checked and gave no warning. It is not checked again.
_sensible: Loss | None = None


class Payer(ABC):
    """Base of `Budget`: the methods of a budget that a release uses.

    As a context manager, the budget pays for each release in the block that has no `budget`
    argument.
    """

    @property
    @abstractmethod
    def neighbors(self) -> Neighbors | None:
        """The neighboring relation, or None before the first spend."""

    @abstractmethod
    def spend(
        self,
        loss: Loss,
        *,
        neighbors: Neighbors,
        what: str = "",
        ids: str | None = None,
        record: Mapping[str, Any] | None = None,
    ) -> None:
        """Spend a loss, or refuse it."""

    @property
    @abstractmethod
    def last_entry(self) -> int | None:
        """The number of the entry of the last spend of this thread or task, if there is one."""

    def _loss_of(self, loss: Loss) -> Loss:
        """Return the loss to spend for a mechanism, if several losses are proved for it."""
        return loss

    def __enter__(self) -> Self:
        global _warns_unpaid
        _warns_unpaid = True
        BLOCKS.set((*BLOCKS.get(), self))
        return self

    def __exit__(self, *error: object) -> None:
        # Remove the last block of this budget: with generators, a later block may still be open.
        blocks = BLOCKS.get()
        if self in blocks:
            last = len(blocks) - 1 - blocks[::-1].index(self)
            BLOCKS.set(blocks[:last] + blocks[last + 1 :])


class WithBar(ABC):
    """A function that formats an answer and its error bar for the user."""

    @abstractmethod
    def __call__(self, answer: Any) -> Any:
        """Return the answer in the format that the user gets."""

    @abstractmethod
    def bar(self, bar: ErrorBar) -> ErrorBar:
        """Return the error bar in the units of the formatted answer."""


@contextmanager
def paid() -> Iterator[None]:
    """Let calls without a budget run as parts of a paid release, without a warning."""
    token, spoke = BLOCKS.set((*BLOCKS.get(), None)), SILENT.set(True)
    try:
        yield
    finally:
        BLOCKS.reset(token)
        SILENT.reset(spoke)


def payer_of(budget: Any) -> Any:
    """Return the budget that pays for a call: its argument, or the budget of its block, or None."""
    return BLOCKS.get()[-1] if budget is None else budget


def advise_loss(loss: Loss) -> None:
    """Warn of a loss so large that hardly any privacy remains."""
    global _sensible
    name = loss.amounts[0]
    size: Fraction = getattr(loss, name)
    if size > 10:
        why = "above 10, so a row may change odds over 20,000-fold: choose less, such as 1"
        advise(f"{name}={shown(size)[0]} is {why}")
    elif loss.delta and loss.delta >= LARGE_DELTA:
        why = "1/1000 or more, the chance that a row is not protected: choose far below 1 / rows"
        advise(f"delta={shown(loss.delta)[0]} is {why}")
    else:
        _sensible = loss


@dataclass(frozen=True, slots=True)
class Prepared(Generic[Value]):
    """A release whose arguments are checked, before anything is spent or any row is read.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism that `run` charges and runs. It has the `loss` and the error bar.
    source : object
        The data that the mechanism reads. This makes the object NOT PRIVATE.
    budget : Budget, optional
        The budget that pays when the release runs.
    rng : Generator, optional
    after : callable, optional
        A function that turns the answer of the mechanism into the return value of the call.
    question : callable, optional
        A function that returns the statistic and its unit (a `Question`) for the record. By default
        the record shows the fields of the mechanism.
    confidence : float, optional
        The confidence of the error bar, if `run` returns a `Release`; see `release`.
    has_ends : bool, default False
        Whether the answer is three numbers: a lower end, the value and an upper end.

    Examples
    --------
    >>> import dpfast as dp
    >>> prepared = dp.extend.prepare(dp.count, [1, 2, 3], epsilon=1)
    >>> prepared.mechanism.loss
    Pure(epsilon=1)
    >>> abs(prepared.run() - 3) < 40
    True
    """

    mechanism: Mechanism[Any]
    source: Any
    budget: Payer | None
    rng: _rng.Generator | None
    after: Callable[[Any], Value] | None = None
    question: Callable[[], Question] | None = None
    confidence: float | None = None
    has_ends: bool = False

    def __post_init__(self) -> None:
        generator = self.rng
        if generator is not None:
            _rng.check(generator)
        if self.budget is not None:
            _check(self.budget)
            _expect_private(generator)

    def then(self, after: Callable[[Value], Other]) -> Prepared[Other]:
        """Return the same release, with one more function applied to its answer.

        Parameters
        ----------
        after : callable

        Returns
        -------
        Prepared

        Examples
        --------
        >>> import dpfast as dp
        >>> prepared = dp.extend.prepare(dp.count, [1, 2, 3], epsilon=1)
        >>> isinstance(prepared.then(float).run(), float)
        True
        """
        before = self.after

        def both(answer: Any) -> Other:
            return after(answer if before is None else before(answer))

        return replace(cast(Any, self), after=both)

    def to_record(self) -> Record:
        """Return all public facts about the release, before it runs.

        Returns
        -------
        Record

        Examples
        --------
        >>> import dpfast as dp
        >>> prepared = dp.extend.prepare(dp.mean, [1, 2, 3], bounds=(0, 9), epsilon=1)
        >>> prepared.to_record().parameters
        {'bounds': [0.0, 9.0], 'nan': 'drop'}
        """
        return self._record(BLOCKS.get()[-1] if self.budget is None else self.budget)

    def _record(self, payer: Payer | None) -> Record:
        mechanism, question = self.mechanism, None if self.question is None else self.question()
        loss = mechanism.loss if payer is None else payer._loss_of(mechanism.loss)
        return Record(mechanism, source_of(self.source, mechanism), loss, question)

    def release(self, confidence: float = CONFIDENCE) -> Release[Value]:
        """Spend the loss of the mechanism, run it, and return the answer with its error bar.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence of the error bar.

        Returns
        -------
        Release

        Raises
        ------
        ArgumentError, BudgetError, DataError
            As for `run`.

        Examples
        --------
        >>> import dpfast as dp
        >>> prepared = dp.extend.prepare(dp.count, [1, 2, 3] * 100, epsilon=1)
        >>> prepared.release().bar.half_width
        3.0
        """
        share = checks.share("confidence", confidence)
        question = None if self.question is None else self.question()
        mechanism = None if question is None else question.with_ends(share)
        released: Any = replace(self, confidence=share)
        if mechanism is not None:
            released = replace(released, mechanism=mechanism, has_ends=True)
        return cast("Release[Value]", released.run())

    def run(self) -> Value:
        """Spend the loss of the mechanism, then run it.

        Returns
        -------
        The answer.

        Raises
        ------
        BudgetError
            If the budget has too little left; nothing has been spent.
        DataError
            If a function of the caller that reads rows raises an argument error of dpfast.

        Examples
        --------
        >>> import dpfast as dp
        >>> abs(dp.extend.prepare(dp.count, [1, 2, 3], epsilon=1).run() - 3) < 40
        True
        """
        mechanism, generator, payer = self.mechanism, self.rng, self.budget
        if payer is None and (payer := BLOCKS.get()[-1]) is not None:
            _expect_private(generator)
        if generator is None:
            generator = _rng.default_generator()
        if mechanism.loss is not _sensible:
            advise_loss(mechanism.loss)
        if _warns_unpaid and payer is None and generator.private:
            _advise_payer()
        here = witnesses()
        began = None if owner_log.named is None else owner_log.begin()
        try:
            if payer is not None:
                stated = checks.neighbors(mechanism.neighbors)
                what, ids = mechanism.what, mechanism.ids
                record = self._record(payer)
                payer.spend(record.loss, neighbors=stated, what=what, ids=ids, record=record)
            late, bar = "", None
            # Taken before the rows are read: a later time would show how long the reading took.
            time = "" if self.confidence is None else now()
            try:
                summary = mechanism.reduce(self.source)
                if witnesses() != here:
                    _refuse_copy(mechanism)
                if self.confidence is None:
                    answer = mechanism.finish(summary, generator)
                else:
                    rows = self.source.length if mechanism.has_public_rows else None
                    answer, bar = mechanism.answered(summary, generator, rows, self.confidence)
            except (ArgumentError, ArgumentTypeError) as error:
                # An argument error would promise that nothing was spent, and might quote a row.
                late = hide_error(error)
            if late:
                rule = "a function that read the rows raised"
                raise DataError(f"{mechanism.name}: {rule} {late}")
        finally:
            if began is not None:
                owner_log.end("release", began, what=mechanism.name)
        if witnesses() != here:
            _refuse_copy(mechanism)
        show = WATCHER.get()
        if show is not None:
            answer = show(mechanism, self.source, answer)
        # Round the ends outwards, because answers are whole numbers.
        if self.has_ends and isinstance(self.after, WithBar):
            answer = np.array([np.floor(answer[0]), answer[1], np.ceil(answer[2])])
        value: Value = answer if self.after is None else self.after(answer)
        if bar is not None:
            value = self._released(value, bar, payer, time)
        return value

    def _released(self, value: Any, bar: ErrorBar, payer: Payer | None, time: str) -> Any:
        """Return an answer as a `Release`."""
        ends = None
        if self.has_ends:
            low, value, high = value
            ends, width = (low, high), np.asarray(np.maximum(high - value, value - low))
            # Add the notes about errors that no interval covers.
            note = "; ".join([ENDS, *bar.note.split("; ")[1:]])
            bar = ErrorBar(bar.confidence, width if width.ndim else width[()], note=note)
        elif isinstance(self.after, WithBar):
            bar = self.after.bar(bar)
        entry = None if payer is None else payer.last_entry
        return Release(value, bar, self._record(payer), entry, time, ends)


def release(
    data: Any,
    mechanism: Mechanism[Value],
    *,
    budget: Payer | None,
    rng: _rng.Generator | None,
) -> Value:
    """Spend the loss of a mechanism, then run it on `data` that `read` has returned."""
    prepared: Prepared[Value] = Prepared(mechanism, data, budget, rng)
    with paid():
        return prepared.run()


class Preparing(ABC, Generic[Value]):
    """Base of callable objects that can return the cost of a call before it runs.

    `dpfast.extend.prepare`, `dpfast.Budget.cost` and `dpfast.expected_error` accept such an object
    in place of a function.

    Examples
    --------
    >>> import dpfast as dp
    >>> class Twice(dp.extend.Preparing):
    ...     def prepare(self, data, **call):
    ...         return dp.extend.prepare(dp.count, data, **call).then(lambda count: 2 * count)
    >>> dp.extend.prepare(Twice(), [1, 2], epsilon=1).mechanism.loss
    Pure(epsilon=1)
    >>> Twice().prepare([1, 2], epsilon=1).run() % 2
    0
    """

    __slots__ = ()

    @abstractmethod
    def prepare(self, *args: Any, **kwargs: Any) -> Prepared[Value]:
        """Check the arguments of a call, and return the release that it would run.

        Parameters
        ----------
        *args, **kwargs
            The arguments of the call.

        Returns
        -------
        Prepared
        """


#: For each public function that releases: the function that prepares its release.
_PREPARE: dict[Callable[..., Any], Callable[..., Prepared[Any]]] = {}


def releases(prepare: Callable[Args, Prepared[Value]]) -> Callable[Args, Value]:
    """Make a public release of a function that prepares one; use it as a decorator.

    A call of the public function prepares the release and runs it. The constructor of a class can
    be decorated too: it prepares a release, and sets the attributes of the object in
    `Prepared.then`.

    Parameters
    ----------
    prepare : callable
        A function that checks its arguments, including `budget` and `rng`, and returns a
        `Prepared`, as `dpfast.extend.prepare` does. It spends nothing, reads no rows and draws no
        bits.

    Returns
    -------
    callable
        A function with the name, the arguments and the docstring of `prepare`, which returns the
        answer. `Budget.cost`, `expected_error` and `dpfast.extend.prepare` accept it.

    Raises
    ------
    AttributeError
        If `prepare` is not a function.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> @dp.extend.releases
    ... def tall(heights, *, epsilon, budget=None):
    ...     asked = {"where": heights > 190, "epsilon": epsilon, "budget": budget}
    ...     return dp.extend.prepare(dp.count, heights, **asked)
    >>> dp.Budget(epsilon=1).cost(tall, np.array([180, 192]), epsilon=0.5)
    Pure(epsilon=0.5)
    """

    def call(*args: Args.args, **kwargs: Args.kwargs) -> Value:
        return prepare(*args, **kwargs).run()

    if "return" in prepare.__annotations__:
        prepare.__annotations__["return"] = _answer(prepare.__annotations__["return"])
    update_wrapper(call, prepare)
    _PREPARE[call] = prepare
    return call


def _answer(annotation: Any) -> Any:
    """Return the type of an answer from the annotation of a function that returns a `Prepared`."""
    if isinstance(annotation, str):
        return annotation.partition("[")[2].removesuffix("]") or annotation
    return next(iter(get_args(annotation)), annotation)


def prepare(function: Callable[..., Value], /, *args: Any, **kwargs: Any) -> Prepared[Value]:
    """Check the arguments of a call, and return the release that it would run.

    Nothing is spent, no rows are read and no noise is drawn. A budget only gives its neighboring
    relation.

    Parameters
    ----------
    function : callable
        A function, a method or a class that makes a release; or a `dpfast.Measurement` or
        `dpfast.mechanism`.
    *args, **kwargs
        The arguments of `function`.

    Returns
    -------
    Prepared
        ``prepared.mechanism`` has the loss and the error bar. ``prepared.run()`` runs the call.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `function` makes no release, or an argument breaks its rule.

    Examples
    --------
    >>> import dpfast as dp
    >>> prepared = dp.extend.prepare(dp.additive_release, 0, sensitivity=1, epsilon=1)
    >>> prepared.mechanism.loss, -50 < prepared.run() < 50
    (Draws(epsilon=1, draws=1, cells=1073741824), True)
    """
    if isinstance(function, Preparing):
        return function.prepare(*args, **kwargs)
    if isinstance(function, partial):
        return prepare(function.func, *function.args, *args, **{**function.keywords, **kwargs})
    called: Any = function
    if isinstance(function, MethodType):
        called, args = function.__func__, (function.__self__, *args)
    elif isinstance(function, type):
        called = function.__init__  # type: ignore[misc]  # of this very class
    if not isinstance(called, FunctionType) or called not in _PREPARE:
        checks.fail("function", "a release of dpfast, such as dpfast.median", function)
    if not isinstance(function, type):
        return _PREPARE[called](*args, **kwargs)
    instance: Any = object.__new__(function)
    return _PREPARE[called](instance, *args, **kwargs).then(lambda _: instance)


def relation_of(neighbors: Any = None, budget: Any = None) -> Neighbors:
    """Return the neighboring relation of a call: its argument, else the relation of its budget.

    If `neighbors` is None, it is the relation of `budget`, or of the budget of the ``with`` block.
    Without a budget, or if the budget has no relation yet, it is "add-remove". Call this once in a
    release: another process may set the relation of the budget in between.

    Parameters
    ----------
    neighbors : {"add-remove", "replace"}, optional
    budget : Budget, optional

    Returns
    -------
    str

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `neighbors` is not a relation, or `budget` is not a budget.

    Notes
    -----
    NOT PRIVATE by itself: it depends on public arguments, and nothing is spent.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.extend.relation_of(None, dp.Budget(epsilon=1, neighbors="replace"))
    'replace'
    """
    if neighbors is not None:
        return checks.neighbors(neighbors)
    if budget is None and (budget := BLOCKS.get()[-1]) is None:
        return "add-remove"
    _check(budget)
    return budget.neighbors or "add-remove"


def relation_of_proof(neighbors: Any, budget: Any) -> Neighbors:
    """Return the neighboring relation for a loss that the user has proved.

    In a budget for "replace" the user has to pass the relation. A proof for an added or removed row
    (of a sensitivity, or that scores are monotone) may be wrong for a replaced row. Then only half
    of the actual loss would be charged.
    """
    relation = relation_of(neighbors, budget)
    if neighbors is None and relation == "replace":
        rule = (
            "given in a budget for 'replace': pass 'add-remove' or 'replace', the relation for "
            "which your proof holds"
        )
        checks.fail("neighbors", rule, neighbors)
    return relation


def _advise_payer() -> None:
    """Warn that no budget pays for a call, unless it is part of a paid release."""
    global _warns_unpaid
    _warns_unpaid = SILENT.get()
    advise(UNPAID)


def _expect_private(generator: _rng.Generator | None) -> None:
    """Refuse to spend for a release whose generator has a known seed."""
    if generator is not None and not generator.private:
        raise BudgetError(f"a budget pays for private noise only: leave rng out, got {generator!r}")


def _check(budget: Any) -> None:
    if budget is not None and not isinstance(budget, Payer):
        checks.fail_type("budget", "a dpfast.Budget or None", budget)


def _refuse_copy(mechanism: Mechanism[Any]) -> NoReturn:
    """Refuse a fork inside a function of the user: it would release twice for one spend."""
    raise BudgetError(
        f"{mechanism.name}: this process is a fork, and its parent has paid for the release "
        "and has the answer"
    )
