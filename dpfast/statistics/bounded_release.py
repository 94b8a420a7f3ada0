"""Release a number that the caller computed, within public bounds, with noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

from .._core import checks
from .._core.error_bars import BOUND, ErrorBar
from .._core.types import Bounds, Neighbors, Number
from ..budget.budget import Budget
from ..budget.release import Prepared, relation_of_proof, releases
from ..budget.watched import OfNumbers
from ..errors import DataError
from ..noise.additive import amount
from ..noise.bounded_domain import DomainNoise, domain_noise
from ..noise.calibrated_integer import IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..privacy import ZCDP, Loss, Pure, pure_within
from ..privacy import loss as loss_of
from ..rng import Generator
from ..summaries.cells import Cells, cells, nearest

METHODS = ("domain", "truncated", "folded")
#: The range has about 2**FINE cells.
FINE = 30


@dataclass(frozen=True, slots=True)
class BoundedRelease(OfNumbers[float]):
    """The mechanism of `bounded_release`: noise is added to a cell, and the answer is a cell, too.

    `moved` is the sensitivity of the number, in cells.
    """

    lo: float
    hi: float
    neighbors: str
    loss: Loss
    cells: Cells
    moved: int
    method: str

    name: ClassVar[str] = "bounded release"

    @property
    def noise(self) -> IntegerNoise:
        """The integer noise of an answer that is then truncated or folded into the bounds."""
        return integer_noise(self.loss, Sensitivity.of_one(self.moved))

    @property
    def domain(self) -> DomainNoise:
        """The noise that never takes an answer out of the bounds, for `method` "domain"."""
        return domain_noise(self.cells.span, self.moved, pure_part(self.loss))

    def with_loss_of_noise(self) -> BoundedRelease:
        """Return this mechanism with the loss of its noise in place of the requested loss."""
        if self.method != "domain":
            return replace(self, loss=self.noise.loss)
        return self if isinstance(self.loss, ZCDP) else replace(self, loss=Pure(self.loss.epsilon))

    def reduce(self, source: Any) -> int:
        """Return the cell of the caller's number, clamped to the bounds."""
        number = checks.real(source)
        if number is None or math.isnan(number):
            raise DataError("value must be a number, not NaN; its value is not shown")
        return self.cells.cell(min(max(number, self.lo), self.hi))

    def finish(self, summary: int, generator: Generator) -> float:
        most = self.cells.span
        if not most:
            return self.lo
        if self.method == "domain":
            u = self.domain.draw(summary, generator)
        else:
            (u,) = self.noise.add([summary], generator)
            u = min(max(u, 0), most) if self.method == "truncated" else folded(u, most)
        value = nearest(Fraction(self.cells.grid) * (self.cells.first + u))
        return min(max(value, self.lo), self.hi)

    def excess(self, source: Any, other: Any) -> str:
        share = abs(self.reduce(source) - self.reduce(other)) / self.moved
        return "" if share <= 1 else f"the value moved by {share:.4g} times its sensitivity"

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of the noise; to keep answers within bounds adds no error."""
        noise = self.domain if self.method == "domain" and self.cells.span else self.noise
        size = min(noise.half_width(1 - confidence), self.cells.span)
        return ErrorBar(confidence, nearest(Fraction(self.cells.grid) * size), note=BOUND)


def folded(u: int, most: int) -> int:
    """Reflect a number at 0 and at `most` until it lies between them."""
    phase = u % (2 * most)
    return min(phase, 2 * most - phase)


def pure_part(loss: Loss) -> Fraction:
    """Return the largest epsilon that a pure mechanism may have under a loss."""
    return pure_within(loss.rho) if isinstance(loss, ZCDP) else loss.epsilon


@releases
def bounded_release(
    value: Number,
    *,
    bounds: Bounds,
    sensitivity: Number,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    method: Literal["domain", "truncated", "folded"] = "domain",
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[float]:
    """Release a number that you computed, within public bounds, with noise for its sensitivity.

    Privacy
    -------
    The call satisfies the requested loss if the values of neighboring datasets differ by at most
    `sensitivity`, which the caller has to prove. The value is clamped to `bounds` and rounded to a
    cell of a public grid.

    ``method="domain"`` is the bounded-domain Laplace mechanism (Holohan, Antonatos, Braghin and Mac
    Aonghusa, "The bounded Laplace mechanism in differential privacy", JPC 2020): exact discrete
    Laplace noise is drawn again until the answer is within the bounds. Drawing again costs privacy,
    so the scale of the noise is larger, by a factor of less than 2. The loss is computed exactly
    for the discrete distribution (``dpfast/noise/bounded_domain.py``). The mechanism is pure: it
    leaves `delta` unspent, and for `rho` it uses the largest epsilon that rho allows.

    The other methods add discrete Laplace or Gaussian noise for the sensitivity (Dwork, McSherry,
    Nissim and Smith, TCC 2006), and then map the answer into the bounds. This is post-processing,
    which costs nothing.

    Parameters
    ----------
    value : float
        The exact value on the data.
    bounds : (float, float)
        Public limits of the value and of the answer. The bounds must not come from the data.
    sensitivity : float, Fraction or Decimal
        The largest difference of the value between neighbors.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The relation for which the loss is proved: by default "add-remove"; in a budget for
        "replace" it must be given. `sensitivity` must hold for this relation.
    method : {"domain", "truncated", "folded"}, default "domain"
        How a noisy value outside the bounds is treated. "truncated" returns the nearest bound, so
        answers often equal a bound; it has the least error if the value is near a bound. "folded"
        reflects the noisy value at the bound, and "domain" draws again. With these two a bound is
        no more likely than other points.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    float
        The private value, within `bounds`, on a public grid of about ``2**-30`` of their distance.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        For a bad argument, or too small a budget; nothing has been spent.
    DataError
        If the value is NaN or not a number. The message does not show the value, and the spent
        budget is not refunded.

    Notes
    -----
    All methods are biased towards the middle of the bounds.

    Cost: one noise sample; with "domain" a few. Their number depends on the private value's
    distance from the bounds.

    Examples
    --------
    >>> import dpfast as dp
    >>> share = 431 / 20_000
    >>> found = dp.bounded_release(share, bounds=(0, 1), sensitivity=1 / 20_000, epsilon=1)
    >>> 0.019 < found < 0.024
    True
    """
    loss = loss_of(epsilon, delta, rho)
    amount(loss)
    lo, hi = checks.bounds(bounds)
    relation = relation_of_proof(neighbors, budget)
    kind = checks.choice("method", method, METHODS)
    checks.positive("sensitivity", sensitivity)
    # The number as written, or the float64 by which values change, whichever is larger.
    change = max(checks.fraction("sensitivity", sensitivity), Fraction(float(sensitivity)))
    grid = cells(lo, hi, FINE)
    moved = min(max(1, math.ceil(change / Fraction(grid.grid))), max(grid.span, 1))
    mechanism = BoundedRelease(lo, hi, relation, loss, grid, moved, kind).with_loss_of_noise()
    return Prepared(mechanism, value, budget, rng)
