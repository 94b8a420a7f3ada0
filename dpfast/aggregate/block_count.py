"""The best number of blocks for a trade-off of bias and noise, from public numbers."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import privacy
from .._core import checks
from .._core.types import BoundsEach, Number
from ..noise.additive import additive, amount
from ..privacy import Loss
from .aggregators import AGGREGATORS, AggregatorName, as_epsilon, default
from .aggregators.expected_error import expected_error
from .aggregators.mean import deviation_of
from .aggregators.output_grid import MOST_BLOCKS, check_coordinates
from .aggregators.vector import share

#: If nothing is known of the outputs, noise scaled to a smooth sensitivity needs blocks times
#: epsilon of at least this.
ENOUGH = 64


def suggest_blocks(
    n: int,
    *,
    bounds: BoundsEach,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    aggregator: AggregatorName = "mean",
    bias: Number | Sequence[Number] = 0.0,
    spread: Number | Sequence[Number] | None = None,
    smallest_block: int = 1,
) -> int:
    """Suggest a number of blocks for `sample_and_aggregate`, from public numbers alone.

    Few blocks mean much noise, because one row can change a whole block. Many blocks are small, and
    averaging does not reduce the bias of an estimator on few rows. The result is the number of
    blocks k with the least ``(bias k / n)**2 + error(k)**2``.

    Nothing is spent, because no data are read. All arguments must be public, guesses or results of
    releases; a number of blocks that was chosen from the data is not private.

    Parameters
    ----------
    n : int
        The number of rows, or of people where blocks are made of people (``partition="key"``). If
        it is private (``neighbors="add-remove"``), a public guess, better too low than too high.
    bounds : pair of float, or sequence of pairs
        Public bounds of the answer, as for `sample_and_aggregate`; for a vector one pair for each
        coordinate. Errors of several coordinates are added up in units of their ranges.
    epsilon, delta, rho : real
        The loss of the release, as for `sample_and_aggregate`. With ``partition="key"`` and
        ``neighbors="replace"`` two blocks may change, so give half of epsilon or a quarter of rho.
    aggregator : str, default "mean"
        As for `sample_and_aggregate`.
    bias : float or sequence of float, default 0.0
        The estimator's bias on a block of m rows is about ``bias / m``, at least 0, in units of the
        answer; one number or one for each coordinate. For a smooth function f of an average it is
        about ``f''`` times half the variance of a row. An aggregator that is no mean adds the
        skewness of the block outputs; for an average of rows with standard deviation s and
        skewness g that is ``g s / 6`` at most.
    spread : float or sequence of float, optional
        A guess of the estimator's standard deviation on all `n` rows, above 0, in units of the
        answer. Block outputs then have a standard deviation of ``spread * sqrt(k)``. The aggregator
        "mean" needs none: its noise does not depend on the outputs. For another aggregator without
        a `spread`, see the notes.
    smallest_block : int, default 1
        Average number of rows that a block must have for the estimator to make sense.

    Returns
    -------
    int
        Between 1 and ``n // smallest_block``.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule, or a bias is given without a spread that it needs.

    Notes
    -----
    Cost: microseconds for the mean, otherwise some tens of milliseconds, for any n.

    The error of the mean is ``hypot(spread, c (hi - lo) / k)``, where c is the standard deviation
    of its noise for a sensitivity of 1 (``sqrt(2) / epsilon`` for Laplace noise). The result is
    least at ``k = sqrt(c (hi - lo) n / bias)``, and without a bias at the largest number there is.
    The error of every other aggregator is worked out for normal block outputs in the middle of the
    bounds. This error is right to some tenths, and near the minimum the error hardly depends on the
    number of blocks. Blocks of random sizes are taken to be of equal size, so `smallest_block`
    should leave some room.

    Without a `spread`, every aggregator but the mean gets as many blocks as its noise needs, 64 /
    epsilon (epsilon is ``sqrt(2 rho)`` for rho, and the share of one coordinate for vectors), but
    at least ``n**0.4`` and at most ``n**0.5``: between these limits the utility theorem of Smith
    (STOC 2011) applies, and the bias does not matter for large n.

    References
    ----------
    A. Smith, "Privacy-preserving statistical estimation with optimal convergence rates", STOC 2011.

    Examples
    --------
    An unbiased estimator gets the smallest blocks that are allowed:

    >>> import dpfast as dp
    >>> dp.suggest_blocks(32_561, bounds=(20, 80), epsilon=1.0, smallest_block=50)
    651

    Maximum likelihood of a logistic regression is biased by about 10 / m:

    >>> dp.suggest_blocks(32_561, bounds=(-5, 5), epsilon=1.0, bias=10.0)
    215
    >>> dp.suggest_blocks(32_561, bounds=(-5, 5), epsilon=1.0, bias=10.0, spread=0.02,
    ...                   aggregator="trimmed-mean")
    32
    """
    total = privacy.loss(epsilon, delta, rho)
    rows = checks.whole("n", n, 1, 1 << 62)
    checks.choice("aggregator", aggregator, AGGREGATORS)
    pairs = checks.pairs(bounds)[0]
    check_coordinates(len(pairs))
    amount(total)
    biases = _checked("bias", bias, len(pairs), _at_least_0)
    spreads = None if spread is None else _checked("spread", spread, len(pairs), checks.positive)
    least = checks.whole("smallest_block", smallest_block, 1)
    if least > rows:
        checks.fail("smallest_block", f"at most n, {rows}", smallest_block)
    most = min(rows // least, MOST_BLOCKS)
    if aggregator != "mean" and spreads is None:
        if any(biases):
            rule = f"given together with bias for aggregator={aggregator!r}"
            checks.fail("spread", rule, spread)
        return min(most, _unknown(rows, share(aggregator, pairs, total)))
    varying = [i for i, (lo, hi) in enumerate(pairs) if lo < hi]
    if not varying:
        return most

    def relative(values: list[float], least: float) -> tuple[float, ...]:
        return tuple(
            min(max(values[i] / (pairs[i][1] - pairs[i][0]), least), 2.0**80) for i in varying
        )

    varying_pairs = tuple(pairs[i] for i in varying)
    trade = Trade(
        rows, total, varying_pairs, relative(biases, 0.0), relative(spreads or biases, 2.0**-80)
    )
    return trade.best(aggregator, most)


@dataclass(frozen=True, slots=True)
class Trade:
    """The error as a function of the number of blocks, in units of each coordinate's range."""

    rows: int
    loss: Loss
    pairs: tuple[tuple[float, float], ...]
    biases: tuple[float, ...]
    spreads: tuple[float, ...]

    def squared(self, name: str, k: int) -> float:
        """Return the squared error of an aggregator with k blocks; its name is not "auto"."""
        off = self._off() * k * k
        if name == "mean":
            return off + sum(s * s for s in self.spreads) + self._noise() / k / k
        loss = share(name, self.pairs, self.loss)
        return off + sum(
            expected_error(name, k, 1.0, loss, s * math.sqrt(k)) ** 2 for s in self.spreads
        )

    def best(self, name: str, most: int) -> int:
        """Return the number of blocks, 1 to `most`, with the least error."""
        if name == "mean":
            return self._mean(most)
        if name != "auto":
            return _least(lambda k: self.squared(name, k), 1, most)
        # "auto" means one aggregator up to some number of blocks, and another one beyond.
        loss = share(name, self.pairs, self.loss)
        below, above = default(1, loss), default(MOST_BLOCKS, loss)
        turn = 1 + bisect_left(range(1, most + 1), True, key=lambda k: default(k, loss) == above)
        tried: list[tuple[str, int]] = [(below, self.best(below, turn - 1))] if turn > 1 else []
        if turn <= most:
            tried.append((above, _least(lambda k: self.squared(above, k), turn, most)))
        return min(tried, key=lambda choice: self.squared(*choice))[1]

    def _off(self) -> float:
        return sum((bias / self.rows) ** 2 for bias in self.biases)

    def _noise(self) -> float:
        d = len(self.pairs)
        if d == 1:
            return deviation_of(self.loss) ** 2
        return d * additive(self.loss, d).deviation ** 2

    def _mean(self, most: int) -> int:
        """Return the number of blocks k up to `most` that minimizes off k**2 + noise / k**2."""
        off, noise = self._off(), self._noise()
        if off * most**4 <= noise:
            return most
        low = max(1, math.floor(math.sqrt(math.sqrt(noise / off))))
        return min(low, low + 1, key=lambda k: off * k * k + noise / k / k)


def _least(error: Callable[[int], float], low: int, high: int) -> int:
    """Return the integer from `low` to `high` that nearly minimizes a function with one minimum."""
    while high - low > 16:
        steps = sorted({round(k) for k in np.geomspace(low, high, 33).tolist()})
        errors = [error(k) for k in steps]
        at = errors.index(min(errors))
        low, high = steps[max(0, at - 1)], steps[min(at + 1, len(steps) - 1)]
    return min(range(low, high + 1), key=error)


def _unknown(rows: int, loss: Loss) -> int:
    """Return the number of blocks for an unknown bias, within the range of the utility theorem."""
    root = math.isqrt(rows - 1) + 1
    return min(max(math.ceil(ENOUGH / as_epsilon(loss)), math.ceil(math.pow(rows, 0.4))), root)


def _checked(name: str, value: Any, d: int, check: Callable[[str, Any], float]) -> list[float]:
    """Return one checked number for each coordinate, from one number or a list."""
    if not isinstance(value, (list, tuple, np.ndarray)) or getattr(value, "ndim", 1) == 0:
        return [check(name, value)] * d
    values = checks.items(value)
    if len(values) != d:
        checks.fail(name, f"one number, or {d} numbers", value)
    return [check(f"{name}[{i}]", number) for i, number in enumerate(values)]


def _at_least_0(name: str, value: Any) -> float:
    rule = "a finite number of at least 0"
    number = checks.number(name, value, rule)
    if number < 0:
        checks.fail(name, rule, value)
    return number
