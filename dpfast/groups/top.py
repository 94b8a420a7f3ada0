"""The most frequent keys: draws of the exponential mechanism among exact counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._core.error_bars import COUNTS, KEYS, ErrorBar, shortfall, unknown
from ..privacy import ZCDP, Draws, Loss, float_down, range_within
from ..rng import Generator
from ..selection.exponential_race import Top as Race
from ..selection.scores.stored import Stored
from .sums import Counted


@dataclass(frozen=True)
class Top(Counted):
    """The `k` keys with the most rows.

    Privacy: a step between neighbors changes the count of a key by at most the number of its rows
    in one group. This holds for any number of groups. Under add-remove all counts change in the
    same direction, so each draw may have twice the rate of a draw under replace (McSherry and
    Talwar, FOCS 2007). The k draws share the loss (Durfee and Rogers, NeurIPS 2019); in zCDP their
    bounded range gives the loss (Cesar and Rogers, ALT 2021).

    Parameters
    ----------
    k : int
    among : int, optional
        The number of all keys, if it is public.
    """

    k: int = 1
    among: int | None = None

    #: Never, because there are no bounds.
    is_wide: ClassVar[bool] = False

    def calibrated(self) -> Self:
        loss: Loss = self.loss
        if not isinstance(loss, ZCDP):
            loss = Draws(loss.epsilon, self.k, True)
        return replace(self, loss=loss)

    @property
    def rate(self) -> float:
        """Return the rate c of a draw's weights exp(c count), rounded down."""
        loss = self.loss
        if isinstance(loss, ZCDP):
            draw_epsilon = range_within(loss.rho / self.k)
        else:
            draw_epsilon = Fraction(loss.epsilon) / self.k
        return float_down(draw_epsilon / (self.step.rows * self.step.sides))

    def expected(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar: by how many rows a drawn key may miss the best remaining key."""
        if self.among is None:
            return unknown(confidence, KEYS)
        return shortfall(self.among, self.rate, confidence, COUNTS)

    def answers(
        self, name: str, totals: NDArray[np.uint64], generator: Generator
    ) -> dict[str, NDArray[Any]]:
        """Draw keys, as indices among the groups, roughly the most frequent first."""
        counts = totals.reshape(-1).view(np.int64)
        k = min(self.k, len(counts))
        if not k:
            return {name: np.empty(0, np.int64)}
        return {name: Race(Stored(counts), self.rate, k).first(generator.stream())}
