"""The ledger: a limit, what was spent, and one method that spends before anything runs."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from . import _check
from ._native.rng import witnesses
from .errors import BudgetError
from .privacy import ZCDP, Approx, Loss, Pure, convert, loss

__all__ = ["Budget", "Spend"]


@dataclass(frozen=True, slots=True)
class Spend:
    """One line of the ledger: what was asked, under which relation, for what."""

    loss: Loss
    neighbors: str
    what: str


class _Memory:
    """Where the lines are kept. Another keeper (a file) needs `lines` and `append`, no more."""

    def __init__(self) -> None:
        self.lines: list[Spend] = []

    def append(self, line: Spend) -> None:
        self.lines.append(line)


class _Quote(Exception):
    """Carries the price out of the door; see `Budget.cost`."""

    def __init__(self, line: Spend) -> None:
        self.line = line


class _Probe:
    """Stands in for a budget: the door asks it for the price and gets no further."""

    def spend(self, amount: Loss, *, neighbors: str, what: str = "") -> NoReturn:
        raise _Quote(Spend(amount, neighbors, what))


def _decimal(amount: Fraction) -> str:
    text = repr(float(amount)).removesuffix(".0")
    return text if Fraction(text) == amount else f"{text} (exactly {amount})"


def _words(epsilon: Fraction, delta: Fraction, rho: Fraction | None) -> str:
    if rho is not None:
        return f"rho={_decimal(rho)}"
    return f"epsilon={_decimal(epsilon)}, delta={_decimal(delta)}"


class Budget:
    """A limit on the total privacy loss about one dataset, spent exactly.

    Amounts are fractions: ``0.1`` means one tenth, and ten spends of it out of ``1.0`` leave
    exactly 0. A spend is recorded before data or randomness are touched, by whichever thread comes
    first; it is never given back. A forked child, whose copy its parent would not see, is refused.
    Losses add up by basic composition, and the limit is checked
    before each call (a privacy filter), so the sequence of calls may depend on earlier answers.

    Parameters
    ----------
    epsilon : float, Fraction or Decimal, optional
        Limit of a pure or (epsilon, delta) budget.
    delta : float, Fraction or Decimal, default 0
        Limit on the sum of deltas.
    rho : float, Fraction or Decimal, optional
        Limit of a zero-concentrated budget, instead of `epsilon`. A pure spend counts as
        epsilon tanh(epsilon / 2), rounded up.
    neighbors : {"replace", "add-remove"}, optional
        The relation that the limit speaks of; by default that of the first spend. A loss under
        add-remove counts for replace as twice epsilon or four times rho; the opposite is refused.

    Raises
    ------
    ArgumentError
        When no limit, or two kinds of limit, are given.

    See Also
    --------
    dpfast.privacy.Pure, dpfast.privacy.Approx, dpfast.privacy.ZCDP

    Examples
    --------
    >>> import dpfast as dp
    >>> budget = dp.Budget(epsilon=1.0)
    >>> for _ in range(10):
    ...     budget.spend(dp.privacy.Pure(0.1), neighbors="replace")
    >>> budget.remaining
    {'epsilon': Fraction(0, 1), 'delta': Fraction(0, 1)}
    >>> ages = [23, 35, 41, 58, 62]
    >>> budget.cost(dp.median, ages, bounds=(0, 120), epsilon=0.5)
    Pure(epsilon=0.5)
    """

    def __init__(
        self,
        *,
        epsilon: Any = None,
        delta: Any = 0,
        rho: Any = None,
        neighbors: str | None = None,
    ) -> None:
        self._limit = loss(epsilon, delta, rho)
        self._neighbors = None if neighbors is None else _check.neighbors(neighbors)
        self._lock = threading.Lock()
        self._process = witnesses()
        self._ledger = _Memory()
        self._epsilon = self._delta = self._rho = Fraction(0)

    def __repr__(self) -> str:
        with self._lock:
            return (
                f"Budget(limit: {self._text(self._limit)}; spent: {self._sum()}; "
                f"neighbors={self._neighbors!r})"
            )

    def __reduce__(self) -> NoReturn:
        raise TypeError("a budget can be neither pickled nor copied: both copies could be spent")

    @property
    def neighbors(self) -> str | None:
        """The relation that the ledger speaks of; None before the first spend has settled it."""
        return self._neighbors

    @property
    def spent(self) -> dict[str, Fraction]:
        """The sums so far, as exact fractions by name."""
        with self._lock:
            return self._named(self._epsilon, self._delta, self._rho)

    @property
    def remaining(self) -> dict[str, Fraction]:
        """What is left, as exact fractions by name."""
        limit = self._limit
        with self._lock:
            if isinstance(limit, ZCDP):
                return self._named(Fraction(0), Fraction(0), limit.rho - self._rho)
            return self._named(
                limit.epsilon - self._epsilon, _delta(limit) - self._delta, Fraction(0)
            )

    @property
    def history(self) -> tuple[Spend, ...]:
        """The lines of the ledger in order: what was asked, never what was answered."""
        with self._lock:
            return tuple(self._ledger.lines)

    def spend(self, amount: Loss, *, neighbors: str, what: str = "") -> None:
        """Record a loss, or refuse it.

        Parameters
        ----------
        amount : Pure, Approx or ZCDP
            What the coming release costs.
        neighbors : {"replace", "add-remove"}
            The relation under which it costs that.
        what : str, optional
            A public note for the ledger.

        Raises
        ------
        BudgetError
            When less is left than is asked, the loss cannot be expressed in this budget, or this
            is a forked copy. The message shows spent, asked and left; nothing has been recorded.
        """
        if not isinstance(amount, (Pure, Approx, ZCDP)):
            _check.fail_type("amount", "a Pure, Approx or ZCDP loss", amount)
        _check.neighbors(neighbors)
        if self._process != witnesses():  # before the lock, which may have been copied closed
            raise BudgetError(
                "budget refused the spend: it belongs to the process that was forked, which would "
                "not see it; spend there, or give each process a budget of its own"
            )
        with self._lock:
            relation = self._neighbors or neighbors
            epsilon, delta, rho = self._price(amount, neighbors, relation)
            limit = self._limit
            fits = (
                self._rho + rho <= limit.rho
                if isinstance(limit, ZCDP)
                else self._epsilon + epsilon <= limit.epsilon
                and self._delta + delta <= _delta(limit)
            )
            if not fits:
                self._refuse(amount, neighbors, self._asked(epsilon, delta, rho))
            self._ledger.append(Spend(amount, neighbors, what))
            self._neighbors = relation
            self._epsilon += epsilon
            self._delta += delta
            self._rho += rho

    def cost(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Loss:
        """What a call would cost, without running it: arguments are checked, data are not read.

        (Only the scores of a selection are, since they are an argument that is checked.)

        Parameters
        ----------
        function : callable
            A release of this library, such as ``dp.median``.
        *args, **kwargs
            Its arguments, without ``budget``.

        Returns
        -------
        Pure, Approx or ZCDP
            The loss under the call's own neighbouring relation.

        Raises
        ------
        ArgumentError
            For a bad argument of the call, or a function that spends nothing.
        """
        rule = "a release of dpfast, such as dpfast.median"
        try:
            takes = "budget" in inspect.signature(function).parameters
        except (TypeError, ValueError):
            takes = False
        if not takes:
            _check.fail("function", rule, function)
        if "budget" in kwargs:
            _check.fail("budget", "left out: nothing is spent", kwargs["budget"])
        try:
            function(*args, **kwargs, budget=_Probe())
        except _Quote as quote:
            return quote.line.loss
        _check.fail("function", rule, function)

    def _price(self, amount: Loss, given: str, wanted: str) -> tuple[Fraction, Fraction, Fraction]:
        zero = Fraction(0)
        moved = convert(amount, given, wanted)
        if moved is None:
            self._refuse(amount, given, f"which has no meaning under neighbors={wanted!r}")
        if isinstance(self._limit, ZCDP):
            if isinstance(moved, Approx):
                self._refuse(amount, given, "and delta > 0 has no price in a rho budget")
            return zero, zero, (moved if isinstance(moved, ZCDP) else ZCDP.of_pure(moved)).rho
        if isinstance(moved, ZCDP):
            self._refuse(
                amount, given, "and rho has no price in an epsilon budget: use Budget(rho=...)"
            )
        return moved.epsilon, _delta(moved), zero

    def _refuse(self, amount: Loss, neighbors: str, counted: str) -> NoReturn:
        limit = self._limit
        left = (
            _words(Fraction(0), Fraction(0), limit.rho - self._rho)
            if isinstance(limit, ZCDP)
            else _words(limit.epsilon - self._epsilon, _delta(limit) - self._delta, None)
        )
        raise BudgetError(
            f"budget refused the spend: spent {self._sum()}; asked {self._text(amount)} under "
            f"neighbors={neighbors!r}, {counted}; left {left}"
        )

    def _asked(self, epsilon: Fraction, delta: Fraction, rho: Fraction) -> str:
        return "counted as " + _words(
            epsilon, delta, rho if isinstance(self._limit, ZCDP) else None
        )

    def _sum(self) -> str:
        rho = self._rho if isinstance(self._limit, ZCDP) else None
        return _words(self._epsilon, self._delta, rho)

    def _named(self, epsilon: Fraction, delta: Fraction, rho: Fraction) -> dict[str, Fraction]:
        if isinstance(self._limit, ZCDP):
            return {"rho": rho}
        return {"epsilon": epsilon, "delta": delta}

    @staticmethod
    def _text(amount: Loss) -> str:
        if isinstance(amount, ZCDP):
            return _words(Fraction(0), Fraction(0), amount.rho)
        return _words(amount.epsilon, _delta(amount), None)


def _delta(amount: Pure | Approx) -> Fraction:
    return amount.delta if isinstance(amount, Approx) else Fraction(0)
