"""A privacy filter, for losses that depend on earlier answers."""

from __future__ import annotations

import threading
from fractions import Fraction
from typing import Any, NoReturn

from .._core import checks
from ..errors import BudgetError
from .composition import check_loss, size_of
from .losses import ZCDP, Approx, Loss, Pure


class Filter:
    """A privacy filter: it allows a release if the sum of all losses stays within a limit.

    Use it if each loss may depend on earlier answers; composition theorems are about losses that
    are fixed beforehand. The limit is fixed. Before a release, call `spend` or `require` with its
    loss.

    Parameters
    ----------
    limit : Pure, ZCDP or Approx
        The loss of all releases together. An `Approx` limit is a filter in rho for the largest rho
        within it (`ZCDP.largest`). All releases together are then (epsilon, delta)-DP.

    Raises
    ------
    ArgumentTypeError
        If `limit` is not a loss.

    Notes
    -----
    All losses must be for one neighboring relation, and none may have a delta. A refused loss is
    not counted, so a smaller one may follow. Several threads may share a filter. It can be neither
    pickled nor copied. `dpfast.Budget` is a filter with a ledger.

    Proof for a pure limit (Rogers, Roth, Ullman and Vadhan, NeurIPS 2016): for any sequence of
    answers the log-likelihood ratio is at most the sum of the epsilons spent, which is within the
    limit. For rho (Feldman and Zrnic, NeurIPS 2021; Whitehouse, Ramdas, Rogers and Wu, ICML 2023):
    for each order a > 1, exp((a - 1) (loss so far - a rho so far)) is a supermartingale, whatever
    the next loss depends on. So D_a is at most a times the limit.

    Examples
    --------
    >>> import dpfast as dp
    >>> limit = dp.privacy.Filter(dp.privacy.Pure(1))
    >>> limit.spend(dp.privacy.Pure(0.75))
    True
    >>> limit.spend(dp.privacy.Pure(0.5))
    False
    >>> limit.remaining
    Pure(epsilon=0.25)
    >>> limit.require(dp.privacy.Pure(0.5))
    Traceback (most recent call last):
    ...
    dpfast.errors.BudgetError: the filter refused Pure(epsilon=0.5): only Pure(epsilon=0.25) remains
    """

    def __init__(self, limit: Loss) -> None:
        self.limit = limit = check_loss(limit, "limit")
        held = ZCDP.largest(limit.epsilon, limit.delta) if isinstance(limit, Approx) else limit
        self._by_rho = isinstance(held, ZCDP)
        self._most = size_of(held)
        self._spent = Fraction(0)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Filter({self.limit!r}, spent={self.spent!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a filter can be neither pickled nor copied: both copies could be spent")

    def _price(self, loss: Any) -> Fraction:
        if not isinstance(loss, (Pure, ZCDP)):
            checks.fail_type("loss", "a Pure or ZCDP loss", loss)
        if self._by_rho:
            return (loss if isinstance(loss, ZCDP) else loss.to_zcdp()).rho
        if isinstance(loss, ZCDP):
            checks.fail("loss", "Pure for a Pure limit: a ZCDP has no finite epsilon", loss)
        return loss.epsilon

    def _of(self, amount: Fraction) -> Loss | None:
        if not amount:
            return None
        return ZCDP(amount) if self._by_rho else Pure(amount)

    @property
    def spent(self) -> Loss | None:
        """The sum of all losses so far, or None if nothing was spent."""
        return self._of(self._spent)

    @property
    def remaining(self) -> Loss | None:
        """The largest loss that is still allowed, or None if nothing is left."""
        return self._of(self._most - self._spent)

    def spend(self, loss: Pure | ZCDP) -> bool:
        """Count a loss and return True, or return False if the sum would exceed the limit.

        Call it before a release. If it returns False, do not release.

        Parameters
        ----------
        loss : Pure or ZCDP

        Returns
        -------
        bool
        """
        price = self._price(loss)
        with self._lock:
            if self._spent + price > self._most:
                return False
            self._spent += price
            return True

    def require(self, loss: Pure | ZCDP) -> None:
        """Count a loss, or raise an error if the sum would exceed the limit.

        Parameters
        ----------
        loss : Pure or ZCDP

        Raises
        ------
        BudgetError
            If the loss is more than what remains.
        """
        if not self.spend(loss):
            raise BudgetError(f"the filter refused {loss!r}: only {self.remaining!r} remains")
