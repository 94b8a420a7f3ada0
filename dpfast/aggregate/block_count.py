"""The number of blocks with the least error of bias and noise together, from public numbers."""

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

#: If nothing is known about the outputs, aggregators with a smooth sensitivity get so many blocks
#: that the number of blocks times epsilon is this.
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

    With few blocks there is much noise, because one row can change a whole block. With many blocks
    each block has few rows. Then the estimator may be biased, and averaging does not reduce bias.
    The result is the number of blocks k for which ``(bias k / n)**2 + error(k)**2`` is least. Here
    error(k) is the standard error of the answer with k blocks.

    Nothing is spent, because no data are read. All arguments must be public numbers, guesses or
    results of releases. A number of blocks that was chosen by looking at the data is not private.

    Parameters
    ----------
    n : int
        The number of rows, or with ``partition="key"`` of people. If this number is private
        (``neighbors="add-remove"``), a public guess, rather too low than too high.
    bounds : pair of float, or sequence of pairs
        Public bounds of the answer, as in `sample_and_aggregate`: for a vector one pair for each
        coordinate. The errors of several coordinates are divided by the widths of their bounds and
        added up.
    epsilon, delta, rho : real
        The loss of the release, as in `sample_and_aggregate`. With ``partition="key"`` and
        ``neighbors="replace"`` two blocks may change: then pass half of epsilon, or a quarter of
        rho.
    aggregator : str, default "mean"
        The aggregator of `sample_and_aggregate`.
    bias : float or sequence of float, default 0.0
        A number of at least 0, in units of the answer, such that the estimator's bias on a block of
        m rows is about ``bias / m``. One number, or one for each coordinate. For a smooth function
        f of an average, `bias` is about ``f''`` times half the variance of a row. Aggregators other
        than "mean" are biased if the block outputs are skewed. For an average of rows with standard
        deviation s and skewness g, this adds at most ``g s / 6``.
    spread : float or sequence of float, optional
        A guess of the estimator's standard deviation on all `n` rows, above 0, in units of the
        answer. With k blocks, block outputs then have a standard deviation of ``spread * sqrt(k)``.
        The aggregator "mean" needs no `spread`, because its noise does not depend on the outputs.
        The notes say what other aggregators do without it.
    smallest_block : int, default 1
        The least average number of rows of a block for which the estimator makes sense.

    Returns
    -------
    int
        The number of blocks, from 1 to ``n // smallest_block``.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule, or the aggregator needs a `spread` for this `bias`.

    Notes
    -----
    Cost: microseconds for "mean", some tens of milliseconds for other aggregators, for any n.

    *Error of "mean".* It is ``hypot(spread, c (hi - lo) / k)``, where c is the standard deviation
    of the noise for a sensitivity of 1 (``sqrt(2) / epsilon`` for Laplace noise). The best number
    of blocks is ``k = sqrt(c (hi - lo) n / bias)``, and without a bias the largest possible number.

    *Error of other aggregators.* It is computed for normal block outputs in the middle of the
    bounds, and may be wrong by some tenths. This matters little, because near the best number the
    error hardly depends on the number of blocks. Blocks of random sizes are treated like blocks of
    equal size, so choose `smallest_block` somewhat larger than necessary.

    *Without a spread.* An aggregator other than "mean" then gets the number of blocks that its
    noise needs, ``64 / epsilon``. For rho, epsilon is ``sqrt(2 rho)``; for vectors it is the share
    of one coordinate. The number is at least ``n**0.4`` and at most ``n**0.5``. Between these
    limits the utility theorem of Smith (STOC 2011) applies, and for large n the bias does not
    matter.

    References
    ----------
    A. Smith, "Privacy-preserving statistical estimation with optimal convergence rates", STOC 2011.

    Examples
    --------
    An unbiased estimator gets blocks of the smallest allowed size:

    >>> import dpfast as dp
    >>> dp.suggest_blocks(32_561, bounds=(20, 80), epsilon=1.0, smallest_block=50)
    651

    Maximum likelihood for a logistic regression has a bias of about 10 / m on m rows:

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
            rule = f"given, because bias is given and aggregator={aggregator!r} needs both"
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
    """The error as a function of the number of blocks, in units of the widths of the bounds."""

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
        """Return the number k of blocks, up to `most`, that minimizes off k**2 + noise / k**2."""
        off, noise = self._off(), self._noise()
        if off * most**4 <= noise:
            return most
        low = max(1, math.floor(math.sqrt(math.sqrt(noise / off))))
        return min(low, low + 1, key=lambda k: off * k * k + noise / k / k)


def _least(error: Callable[[int], float], low: int, high: int) -> int:
    """Return an integer from `low` to `high` that nearly minimizes a function with one minimum."""
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
