"""`release`: check, spend, reduce, finish. Nothing else spends a budget or draws noise.

A mechanism has a `loss`, its neighboring relation, a name for the ledger, a `reduce(source)` that
makes a noise-free summary, and a `finish(summary, generator)` that turns the summary into the
answer. If its loss is of people and not of rows, it also has `ids`: the name of their id, or "" for
ids without a name. Its constructor has checked every argument, so any error in `reduce` or `finish`
depends on the data and comes after the spend: what is raised there about an argument becomes a
`DataError`. Only two kinds come before it: the intake refuses data of a type that cannot be read,
and a selection refuses scores that are none. `reduce` and `finish` may call functions of the user.
If such a function forks, the child is refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from .. import rng as _rng
from .._core import checks
from .._core.types import Neighbors
from .._kernels.rng import witnesses
from ..errors import ArgumentError, ArgumentTypeError, BudgetError, DataError
from ..privacy import Loss
from .budget import Budget, _Probe

Value = TypeVar("Value", covariant=True)
Args = ParamSpec("Args")


class Mechanism(Protocol[Value]):
    """What `release` needs of a mechanism. It checks its arguments when it is made."""

    @property
    def loss(self) -> Loss:
        """What is spent for a call."""
        ...

    @property
    def neighbors(self) -> str:
        """The neighboring relation that the loss is for: "add-remove" or "replace"."""
        ...

    @property
    def name(self) -> str:
        """What the ledger calls it."""
        ...

    def reduce(self, source: Any) -> Any:
        """Return a noise-free summary of a `source`. It sees rows and no randomness.

        Parameters
        ----------
        source : Source
            The rows.

        Returns
        -------
        Any
            What `finish` takes. It leaves by no other way.
        """
        ...

    def finish(self, summary: Any, generator: _rng.Generator) -> Value:
        """Turn a `summary` into the answer with the bits of a `generator`. It sees no rows.

        Parameters
        ----------
        summary : Any
            What `reduce` has returned.
        generator : Generator
            Where the noise comes from.

        Returns
        -------
        Any
            The answer, which may be published.
        """
        ...


class Tape(Protocol):
    """What `dpfast.audit.replay` shows the releases of a program, and their answers."""

    def turn(self, mechanism: Any, data: Any, summary: Any, answer: Any) -> Any: ...


#: Set by `dpfast.audit.replay` alone. A release is paid for and run before it is asked.
TAPE: ContextVar[Tape | None] = ContextVar("dpfast tape", default=None)


def release(
    data: Any,
    mechanism: Mechanism[Value],
    *,
    budget: Budget | None,
    rng: _rng.Generator | None,
    prepare: Callable[[Any], Any] | None = None,
) -> Value:
    """Spend the loss of a mechanism, then run it on `data`, as the intake has read them.

    Only a selection has something to `prepare` before the spend: it passes over its scores and
    refuses what are no scores.
    """
    generator = _rng.check(rng)
    _check(budget)
    if budget is not None and not generator.private:
        raise BudgetError(f"a budget pays for private noise only, got rng={generator!r}")
    source = data if prepare is None else prepare(data)
    if isinstance(budget, _Probe):
        budget.quote(mechanism, source)
    here = witnesses()
    if budget is not None:
        stated = checks.neighbors(mechanism.neighbors)
        ids = getattr(mechanism, "ids", None)
        budget.spend(mechanism.loss, neighbors=stated, what=mechanism.name, ids=ids)
    late = ""
    try:
        summary = mechanism.reduce(source)
        _refuse_copies(here, mechanism)
        answer = mechanism.finish(summary, generator)
    except (ArgumentError, ArgumentTypeError) as error:
        late = type(error).__name__  # which promises that nothing was spent, and may quote a row
    if late:
        raise DataError(f"{mechanism.name}: a function that was given the rows raised {late}")
    _refuse_copies(here, mechanism)
    tape = TAPE.get()
    if tape is not None:
        answer = tape.turn(mechanism, data, summary, answer)
    return answer


@dataclass(frozen=True, slots=True)
class Prepared(Generic[Value]):
    """A release whose arguments are checked, before anything is spent or any row is read.

    Parameters
    ----------
    mechanism : Mechanism
    source : Any
        What the mechanism reads.
    budget : Budget, optional
    rng : Generator, optional
    ready : callable, optional
        As `prepare` of `release`.
    after : callable, optional
        Turns the answer of the mechanism into what the caller gets.
    """

    mechanism: Mechanism[Any]
    source: Any
    budget: Budget | None
    rng: _rng.Generator | None
    ready: Callable[[Any], Any] | None = None
    after: Callable[[Any], Value] | None = None

    def run(self) -> Value:
        """Spend, read, and return the answer."""
        answer: Any = release(
            self.source, self.mechanism, budget=self.budget, rng=self.rng, prepare=self.ready
        )
        return answer if self.after is None else self.after(answer)


class Preparing(ABC, Generic[Value]):
    """Base of objects that are called on data, and can say before what that costs."""

    __slots__ = ()

    @abstractmethod
    def prepare(self, *args: Any, **kwargs: Any) -> Prepared[Value]:
        """Check the arguments of a call, and return what it would run."""


#: How each public function that releases prepares its release.
_PREPARE: dict[Callable[..., Any], Callable[..., Prepared[Any]]] = {}


def releases(prepare: Callable[Args, Prepared[Value]]) -> Callable[Args, Value]:
    """Return the public function that runs what `prepare` has prepared, and can quote it."""

    def call(*args: Args.args, **kwargs: Args.kwargs) -> Value:
        return prepare(*args, **kwargs).run()

    update_wrapper(call, prepare)
    _PREPARE[call] = prepare
    return call


def relation_of(neighbors: Any = None, budget: Any = None) -> Neighbors:
    """Return the neighboring relation of a call: what is said, else that of its budget.

    Where there is no budget, or it has none yet, it is "add-remove". The relation of a budget may
    be settled by another process at any time, so a call asks once.

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
        If one of them is none.

    Notes
    -----
    NOT PRIVATE by itself: it is a fact about public arguments, and nothing is spent.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.extend.relation_of(None, dp.Budget(epsilon=1, neighbors="replace"))
    'replace'
    """
    if neighbors is not None:
        return checks.neighbors(neighbors)
    _check(budget)
    return (None if budget is None else budget.neighbors) or "add-remove"


def relation_of_proof(neighbors: Any, budget: Any) -> Neighbors:
    """Return the relation that a proof of the caller is for, which "replace" is only if it is said.

    What was proved of a row that comes or goes (that counts are monotone, or a sensitivity as
    `dpfast.sensitivity` returns it by default) may be wrong of one that is replaced, and would be
    charged at half of its loss there.
    """
    found = relation_of(neighbors, budget)
    if neighbors is None and found == "replace":
        rule = (
            "'add-remove' or 'replace', whichever you have proved it for (the budget, which is for "
            "'replace', does not tell)"
        )
        checks.fail("neighbors", rule, neighbors)
    return found


def _check(budget: Any) -> None:
    if budget is not None and not isinstance(budget, (Budget, _Probe)):
        checks.fail_type("budget", "a dpfast.Budget or None", budget)


def _refuse_copies(here: tuple[int, int], mechanism: Mechanism[Any]) -> None:
    """Refuse a fork in a function of the user: it would release twice for one spend."""
    if witnesses() != here:
        raise BudgetError(
            f"{mechanism.name}: this process is a fork, and its parent has paid for the release "
            "and has the answer"
        )
