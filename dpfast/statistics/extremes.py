"""Low and high values of a column, in the place of its minimum and maximum."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any, Unpack, overload

from .._core.types import Axis, Bounds, BoundsEach, NanPolicy, Neighbors, NoiseName, Number
from ..budget.budget import Budget
from ..budget.release import Mechanism
from ..rng import Generator
from .arguments import Arguments, Floats, NoiseKeywords
from .parts import calibrated, released
from .quantiles.api import METHODS, Method, chosen, pure
from .quantiles.exponential import ExponentialExtreme
from .quantiles.smooth import SmoothExtreme


class ExtremeKeywords(NoiseKeywords, total=False):
    """Keyword arguments of `minimum` and `maximum`."""

    method: Method


@overload
def minimum(
    data: Any, *, bounds: Bounds, axis: None = None, **others: Unpack[ExtremeKeywords]
) -> float: ...
@overload
def minimum(
    data: Any, *, bounds: BoundsEach, axis: Axis, **others: Unpack[ExtremeKeywords]
) -> Floats: ...
def minimum(
    data: Any,
    *,
    bounds: BoundsEach,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors = "replace",
    axis: Axis | None = None,
    noise: NoiseName = "auto",
    method: Method = "auto",
    nan: NanPolicy = "raise",
    where: Any = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float | Floats:
    """Release a low value of a column, in the place of its minimum.

    No private answer can follow one row. By default this is the value some ranks inside, about
    ``28 / epsilon`` of them, where that is no more than half of the rows: few enough that it is
    near the least where many rows are, and enough that the gap below all rows is not taken for it.
    A value that at least as many rows share as the least of all is found exactly.

    Privacy
    -------
    Neighbors are datasets that differ in one row, replaced (`n` is public) or added or removed
    (`n` is private). The call satisfies the loss that it is asked for.

    ``method="exponential"`` draws a point ``o`` of a public grid with probability proportional to
    ``exp(-epsilon u(o) / 2)``, ``u(o) = max(0, #{x < o} - t, t - #{x <= o})`` and ``t = min(T,
    n / 2)``, where T depends on the loss alone. A row changes u by at most 1, whether it is
    replaced, comes or goes, so this is `epsilon`-DP (McSherry and Talwar, FOCS 2007) and of bounded
    range, at less than ``epsilon**2 / 8`` in zCDP (Cesar and Rogers, ALT 2021; exactly:
    `dpfast.privacy.Draws`). "exponential-round" has a public base measure that favors round
    numbers besides, as in `quantile`.

    ``method="smooth"`` adds noise to the least row itself, of a scale that its smooth sensitivity
    asks for (Nissim, Raskhodnikova and Smith, STOC 2007).

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
        As in `quantile`.
    bounds, epsilon, delta, rho, neighbors, axis, noise, nan, where, budget, rng
        As in `trimmed_mean`; `noise` is for ``method="smooth"``.
    method : {"auto", "smooth", "exponential", "exponential-round"}, default "auto"
        "auto" is "exponential-round" whatever the loss, or "smooth" if a `noise` distribution is
        named. The noise of "smooth" is never scaled to less than the distance of the least row from
        the lower limit, which one row might be at; it is better only where a row lies near the
        limit, or, for an epsilon of some 3 and more, where the last rows are far apart
        (``benchmarks/crossings.py``).

    Returns
    -------
    float, or ndarray of float64 with `axis`
        The private value, within `bounds`, on a public grid of about ``2**-40`` of their distance.
        Of no rows it is one that the bounds alone decide.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `trimmed_mean`.

    Notes
    -----
    The empty range between the limit and the least row counts for about a millionth of its width.
    Where rows are so many that they lie closer together than that, it is still taken for their
    place now and then, the more often the wider it is: keep the limit near what can occur.

    Cost: one read of the data. ``dp.quantile(data, 0, method="exponential")`` has the same target
    as the minimum itself, T = 0, and twice the rate: its answer lies anywhere between the lower
    limit and the least rows.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> dp.minimum(ages, bounds=(0, 120), epsilon=1.0)
    18.0
    """
    loss = epsilon, delta, rho
    asked = Arguments(bounds, *loss, neighbors, axis, noise, method, nan, where, budget, rng)
    return released(data, asked, partial(_extreme, Fraction(0)))


@overload
def maximum(
    data: Any, *, bounds: Bounds, axis: None = None, **others: Unpack[ExtremeKeywords]
) -> float: ...
@overload
def maximum(
    data: Any, *, bounds: BoundsEach, axis: Axis, **others: Unpack[ExtremeKeywords]
) -> Floats: ...
def maximum(
    data: Any,
    *,
    bounds: BoundsEach,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors = "replace",
    axis: Axis | None = None,
    noise: NoiseName = "auto",
    method: Method = "auto",
    nan: NanPolicy = "raise",
    where: Any = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float | Floats:
    """Release a high value of a column, in the place of its maximum.

    The mirror image of `minimum`: by default the value about ``28 / epsilon`` ranks below the
    largest.

    Privacy
    -------
    As `minimum`: neighbors by `neighbors`, loss as asked, by an exact draw of the exponential
    mechanism (McSherry and Talwar, FOCS 2007) or by smooth sensitivity (Nissim, Raskhodnikova and
    Smith, STOC 2007).

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
    bounds : (float, float)
    epsilon, delta, rho, neighbors, axis, noise, method, nan, where, budget, rng
        As in `minimum`.

    Returns
    -------
    float, or ndarray of float64 with `axis`
        The private value, within `bounds`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `minimum`.

    Notes
    -----
    Cost: one read of the data. As in `minimum`, keep the limit near what can occur.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> dp.maximum(ages, bounds=(0, 120), epsilon=1.0)
    90.0
    """
    loss = epsilon, delta, rho
    asked = Arguments(bounds, *loss, neighbors, axis, noise, method, nan, where, budget, rng)
    return released(data, asked, partial(_extreme, Fraction(1)))


def _extreme(q: Fraction, asked: Arguments) -> Mechanism[float]:
    """Make the mechanism from unchecked arguments."""
    lo, hi = asked.interval
    relation, policy, loss = asked.relation, asked.policy, asked.loss
    kind = chosen(asked.method, asked.noise, METHODS, "exponential-round")
    if kind != "smooth":
        rounded = kind != "exponential"
        return ExponentialExtreme(q, lo, hi, relation, policy, pure(loss), rounded=rounded)
    return calibrated(asked, partial(SmoothExtreme, q=q))
