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

    Composition theorems are about losses that are fixed beforehand. A filter also holds if the next
    loss depends on earlier answers. The limit is fixed, and a release is made only if the sum of
    all losses, including its loss, is within the limit.

    Parameters
    ----------
    limit : Pure, ZCDP or Approx
        The loss of all releases together. An `Approx` limit allows the largest `ZCDP` within it
        (`ZCDP.largest`): the releases together are (epsilon, delta)-DP, and their number grows with
        the square of epsilon.

    Raises
    ------
    ArgumentTypeError
        If `limit` is not a loss.

    Notes
    -----
    Pure: Rogers, Roth, Ullman and Vadhan, NeurIPS 2016. On every path of answers the log-likelihood
    ratio is at most the sum of the epsilons on that path, which is within the limit. ZCDP: Feldman
    and Zrnic, NeurIPS 2021 (a filter at each order of the Renyi divergence); Whitehouse, Ramdas,
    Rogers and Wu, ICML 2023. For each order a > 1, exp((a - 1) (loss so far - a rho so far)) is a
    supermartingale whatever the next loss depends on, so that D_a is at most a times the limit. A
    filter with an Approx limit is the ZCDP filter followed by the conversion. No filter takes a
    loss with a delta. All losses are for one neighboring relation. `dpfast.Budget` is a Pure or
    ZCDP filter with a ledger. A refused release is not counted, and a smaller one may follow.

    Several threads may share a filter. It can be neither pickled nor copied.

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
            checks.fail("loss", "Pure: a ZCDP loss has no finite epsilon", loss)
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
        """Count a loss and return True, or return False if it would exceed the limit.

        Call it before the release, and do not make the release if the result is False.

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
        """Count a loss, or raise an error if it would exceed the limit.

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
