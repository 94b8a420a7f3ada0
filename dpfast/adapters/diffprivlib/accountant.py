"""diffprivlib's accountant over a budget of dpfast; the default accountant in a ``with`` block."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import dpfast as dp
from dpfast import errors
from dpfast.extend import checks
from dpfast.privacy import float_down

from .refusals import Budget, BudgetError, loss_amounts, payable, real, refuse

#: The epsilon and delta of an accountant without limits, which no sum of losses reaches.
_EPSILON, _DELTA = 1 << 60, 1 - 2.0**-53


class BudgetAccountant:
    """A limit on the total loss, by exact basic composition; it is checked before rows are read.

    Parameters
    ----------
    epsilon : float, default inf
        The limit of the sum of all epsilons.
    delta : float, default 1
        The limit of the sum of all deltas. (diffprivlib counts less: 1 - (1 - a)(1 - b) for a and
        b.)
    slack : float, default 0
        Must be 0.
    spent_budget : list of (float, float), optional
        Losses that were spent before, as pairs of an epsilon and a delta.

    Examples
    --------
    >>> from dpfast.adapters.diffprivlib import BudgetAccountant, tools
    >>> with BudgetAccountant(epsilon=1, delta=0) as accountant:
    ...     answer = tools.mean([3.0, 4.0], epsilon=0.25, bounds=(0, 5))
    >>> accountant.total(), accountant.remaining()
    ((epsilon=0.25, delta=0.0), (epsilon=0.75, delta=0.0))
    """

    _default: ClassVar[BudgetAccountant | None] = None

    def __init__(
        self,
        epsilon: Any = float("inf"),
        delta: Any = 1.0,
        slack: Any = 0.0,
        spent_budget: Any = None,
    ) -> None:
        size, share = loss_amounts(epsilon, delta)
        if size == 0:
            refuse("zero")
        self._limits = epsilon, delta
        self.slack = slack
        limit: Any = {
            "epsilon": epsilon if size <= _EPSILON else _EPSILON,
            "delta": delta if share < 1 else _DELTA,
        }
        with warnings.catch_warnings():  # such a large limit would give advice
            warnings.simplefilter("ignore", dp.PrivacyAdvice)
            self.budget = dp.Budget(**limit, neighbors="replace")
        if spent_budget is not None:
            if not isinstance(spent_budget, list):
                checks.fail_type("spent_budget", "a list of (epsilon, delta)", spent_budget)
            for spend in spent_budget:
                if not isinstance(spend, tuple) or len(spend) != 2:
                    checks.fail("spent_budget", "a list of (epsilon, delta)", spent_budget)
                self.spend(*spend)

    def __repr__(self, n_budget_max: int = 5) -> str:
        spent: list[Any] = self.spent_budget
        if len(spent) > n_budget_max:
            spent = [*spent[:n_budget_max], "..."]
        plain = (float("inf"), 1.0)
        names = ("epsilon", "delta")
        parts = [f"{n}={v}" for n, v, d in zip(names, self._limits, plain, strict=True) if v != d]
        parts += [f"spent_budget={spent}".replace("'", "")] if spent else []
        return f"BudgetAccountant({', '.join(parts)})"

    def __len__(self) -> int:
        return len(self.budget.history)

    def __enter__(self) -> BudgetAccountant:
        self._before = self.pop_default()
        return self.set_default()

    def __exit__(self, *_: object) -> None:
        self.pop_default()
        if self._before is not None:
            self._before.set_default()

    @property
    def epsilon(self) -> Any:
        """The limit of the total epsilon."""
        return self._limits[0]

    @property
    def delta(self) -> Any:
        """The limit of the total delta."""
        return self._limits[1]

    @property
    def slack(self) -> float:
        """The slack of advanced composition, always 0."""
        return 0.0

    @slack.setter
    def slack(self, slack: Any) -> None:
        if not 0 <= real("slack", slack) <= self.delta:
            checks.fail("slack", f"between 0 and {self.delta}", slack)
        if slack:
            refuse("slack")

    @property
    def spent_budget(self) -> list[tuple[float, float]]:
        """The losses of all spends as pairs (epsilon, delta), in their order."""
        counted = (spend.counted for spend in self.budget.history)
        return [(float(amounts.epsilon), float(amounts.delta)) for amounts in counted]

    def total(self, spent_budget: Any = None, slack: Any = None) -> Budget:
        """Return the sum of all spends, or of the losses in `spent_budget`, if given."""
        if spent_budget is not None:
            return BudgetAccountant(spent_budget=spent_budget).total()
        if slack is not None:
            self.slack = slack
        spent = self.budget.spent
        return Budget(float(spent["epsilon"]), float(spent["delta"]))

    def check(self, epsilon: Any, delta: Any) -> bool:
        """Return True if at least this loss remains, or raise BudgetError."""
        cost, left = _loss(epsilon, delta), self.budget.remaining
        if left["epsilon"] < cost.epsilon or left["delta"] < cost.delta:
            raise BudgetError(f"{cost} is more than what remains: {self.remaining()}")
        return True

    def remaining(self, k: Any = 1) -> Budget:
        """Return the loss that remains for each of `k` equal spends."""
        parts, left = checks.whole("k", k, 1), self.budget.remaining
        endless = self.epsilon == float("inf"), self.delta == 1
        parts_left = [
            limit if free else float_down(left[name] / parts)
            for name, limit, free in zip(("epsilon", "delta"), self._limits, endless, strict=True)
        ]
        return Budget(*parts_left)

    def spend(self, epsilon: Any, delta: Any) -> BudgetAccountant:
        """Record a spend of this loss, or raise BudgetError if less remains."""
        with spending():
            self.budget.spend(_loss(epsilon, delta), neighbors="replace", what="spend")
        return self

    @staticmethod
    def load_default(accountant: Any) -> BudgetAccountant:
        """Return the given accountant, or for None the default one; create it if it is missing."""
        if accountant is not None:
            if not isinstance(accountant, BudgetAccountant):
                checks.fail_type("accountant", "a BudgetAccountant", accountant)
            return accountant
        if BudgetAccountant._default is None:
            BudgetAccountant._default = BudgetAccountant()
        return BudgetAccountant._default

    def set_default(self) -> BudgetAccountant:
        """Make this accountant the default one."""
        BudgetAccountant._default = self
        return self

    @staticmethod
    def pop_default() -> BudgetAccountant | None:
        """Return the default accountant, and remove it as the default."""
        accountant, BudgetAccountant._default = BudgetAccountant._default, None
        return accountant


@contextmanager
def spending() -> Iterator[None]:
    """Raise a BudgetError of a dpfast budget in a ``with`` block as diffprivlib's BudgetError."""
    try:
        yield
    except errors.BudgetError as refusal:
        text = str(refusal)
    else:
        return
    raise BudgetError(text)


def _loss(epsilon: Any, delta: Any) -> Any:
    payable(epsilon, delta)
    return dp.privacy.loss(epsilon, delta)
