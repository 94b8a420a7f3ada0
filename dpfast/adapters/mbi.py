"""Noisy marginals and selection for select-measure-generate programs (mbi, private-pgm, dpsynth).

    budget = dp.Budget(rho=0.1)
    noisy = measure(data.project(clique).datavector(), ZCDP(0.01), budget=budget)
    measurements.append(mbi.LinearMeasurement(noisy, clique, stddev=deviation(ZCDP(0.01))))
    clique = exponential_mechanism(errors, epsilon=0.1, budget=budget)

AIM and MST select a marginal by the exponential mechanism, measure it with noise, and fit a model
to the measurements. The first two steps are releases here, and a budget pays for them. Fitting
costs nothing. A program that draws its own noise can take `dpfast.rng.generator` in place of a
NumPy generator (``mechanism.prng``, or the `rng` of dpsynth). Then samples are exact on a grid, and
the program states the loss.

A row is in one cell of a marginal. So counts differ by 1 in one cell if a row is added or removed,
and by 1 in two cells if a row is replaced. No value is refused: values are rounded down to whole
numbers and clamped to counts from 0 to 2**53. Both steps never increase the difference of two
counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

import dpfast as dp
from dpfast.extend import (
    ErrorBar,
    IntegerNoise,
    Neighbors,
    Number,
    Prepared,
    checks,
    prepare,
    releases,
)
from dpfast.privacy import Loss
from dpfast.rng import Generator

from .scaled_noise import finite

#: The largest count, and the number of counts that are processed at a time.
_MOST, _BLOCK = 1 << 53, 1 << 14
#: The most marginals of one call.
_MANY = 1 << 32
#: From this scale on, Gaussian noise is rounded, which increases its standard deviation by 1/400.
_WIDE = 4


@dataclass(frozen=True, slots=True)
class Marginals:
    """The mechanism that adds noise to the counts of several marginals; see `measure`.

    Parameters
    ----------
    sizes : tuple of int
        The numbers of cells.
    neighbors : str
    noise : IntegerNoise
    """

    sizes: tuple[int, ...]
    neighbors: Neighbors
    noise: IntegerNoise

    name: ClassVar[str] = "marginals"

    @property
    def loss(self) -> Loss:
        """The privacy loss of the noise on all counts."""
        return self.noise.loss

    def reduce(self, source: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        """Return the counts of all marginals as one array, one marginal after the other."""
        counts = np.empty(sum(self.sizes), np.int64)
        stop = 0
        for size, marginal in zip(self.sizes, source, strict=True):
            start, stop = stop, stop + size
            flat, out = marginal.reshape(-1), counts[start:stop]
            for at in range(0, size, _BLOCK):  # blocks stay in the cache
                out[at : at + _BLOCK] = _whole(flat[at : at + _BLOCK])
        return counts

    def finish(self, summary: NDArray[np.int64], generator: Generator) -> NDArray[np.int64]:
        """Add integer noise to each count.

        A count plus rounded noise is a rounded sum. So Gaussian noise that is rounded to integers
        has the loss of Gaussian noise. Wide noise is drawn in this way, because discrete Gaussian
        noise takes twice the time.
        """
        noise = self.noise
        assert noise.shift == 0
        if _is_rounded(noise):
            width = math.nextafter(float(noise.scale), math.inf)
            drawn = dp.noise.gaussian(width, len(summary), granularity=1.0, rng=generator)
            return np.add(summary, drawn, out=drawn).astype(np.int64)
        noisy_counts = noise.draw(len(summary), generator)
        noisy_counts += summary
        return noisy_counts

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of each count, from the distribution of the noise."""
        width = float(self.noise.half_width(1 - confidence))
        return ErrorBar(confidence, width, note="by the distribution of the noise")


def _whole(values: NDArray[Any]) -> NDArray[Any]:
    """Return values rounded down and clamped to counts from 0 to `_MOST`; NaN becomes 0."""
    if values.dtype.kind == "b":
        return values
    counts: NDArray[Any]
    if values.dtype.kind != "f":
        counts = np.clip(values, 0, min(_MOST, np.iinfo(values.dtype).max))
        return counts
    with np.errstate(over="ignore"):  # wider floats may overflow
        counts = np.fmax(values.astype(np.float64, copy=False), 0)
    np.floor(np.fmin(counts, _MOST, out=counts), out=counts)
    return counts


def _is_rounded(noise: IntegerNoise) -> bool:
    """Return whether noise is drawn as rounded Gaussian noise, of a variance larger by 1/12."""
    return noise.distribution == "gaussian" and noise.scale >= _WIDE


def _noise(loss: Any, neighbors: str, marginals: int) -> IntegerNoise:
    if not isinstance(loss, Loss):
        checks.fail_type("loss", "a Pure, Approx or ZCDP loss", loss)
    return dp.extend.integer_noise(loss, marginals * (2 if neighbors == "replace" else 1), linf=1)


def _prepared(
    marginals: list[NDArray[Any]], loss: Any, neighbors: Any, budget: Any, rng: Any
) -> Prepared[list[NDArray[np.int64]]]:
    """Prepare the release of the counts of several marginals, each in its shape."""
    relation = dp.extend.relation_of(neighbors, budget)
    sizes = tuple(counts.size for counts in marginals)
    mechanism = Marginals(sizes, relation, _noise(loss, relation, len(sizes)))

    def parts(noisy_counts: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        parts = np.split(noisy_counts, np.cumsum(sizes)[:-1])
        return [part.reshape(counts.shape) for part, counts in zip(parts, marginals, strict=True)]

    released: Any = {"read": False, "budget": budget, "rng": rng}
    return prepare(dp.extend.release, marginals, mechanism, **released).then(parts)


@releases
def measure(
    counts: ArrayLike,
    loss: Loss,
    *,
    neighbors: Neighbors | None = None,
    budget: dp.Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[NDArray[np.int64]]:
    """Release the noisy counts of one marginal.

    Privacy
    -------
    Neighbors differ in one row: counts differ by 1 in one cell under add-remove, and by 1 in two
    cells under replace. Integer noise for this sensitivity satisfies the loss (Ghosh, Roughgarden
    and Sundararajan, STOC 2009; Canonne, Kamath and Steinke, NeurIPS 2020).

    Parameters
    ----------
    counts : array_like of numbers
        The number of rows in each cell, in any shape. A row may count in one cell only.
    loss : Pure, Approx or ZCDP
        The loss of all counts together.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    budget : Budget, optional
        The budget that pays, before noise is drawn.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    numpy.ndarray of int64
        The noisy counts, in the shape of `counts`. They may be negative.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule. Nothing has been spent.
    BudgetError
        If too little of the budget is left. Nothing has been spent.

    Examples
    --------
    >>> import dpfast as dp
    >>> from dpfast.adapters.mbi import measure
    >>> budget = dp.Budget(rho=1)
    >>> measure([[900, 30], [4, 66]], dp.privacy.ZCDP(0.5), budget=budget).shape
    (2, 2)
    """
    marginals = [_counts("counts", counts)]
    return _prepared(marginals, loss, neighbors, budget, rng).then(lambda parts: parts[0])


@releases
def measure_all(
    marginals: Sequence[ArrayLike],
    loss: Loss,
    *,
    neighbors: Neighbors | None = None,
    budget: dp.Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[list[NDArray[np.int64]]]:
    """Release the noisy counts of several marginals of one table, for one loss together.

    Privacy
    -------
    As `measure`. A row is in one cell of each marginal, and the noise is for the joint sensitivity
    of all marginals (Canonne, Kamath and Steinke, NeurIPS 2020).

    Parameters
    ----------
    marginals : sequence of array_like
        The counts of each marginal, as in `measure`.
    loss : Pure, Approx or ZCDP
        The loss of all marginals together.
    neighbors, budget, rng
        As for `measure`.

    Returns
    -------
    list of numpy.ndarray of int64

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule. Nothing has been spent.
    BudgetError
        If too little of the budget is left. Nothing has been spent.

    Examples
    --------
    >>> import dpfast as dp
    >>> from dpfast.adapters.mbi import measure_all
    >>> [one.shape for one in measure_all([[50, 3], [20, 30, 3]], dp.privacy.ZCDP(0.5))]
    [(2,), (3,)]
    """
    rule = "a list of at least one marginal"
    if not isinstance(marginals, (list, tuple)) or not marginals:
        checks.fail_kind("marginals", rule, marginals)
    arrays = [_counts(f"marginals[{i}]", marginal) for i, marginal in enumerate(marginals)]
    return _prepared(arrays, loss, neighbors, budget, rng)


def deviation(loss: Loss, *, neighbors: Neighbors = "add-remove", marginals: int = 1) -> float:
    """Return the standard deviation of the noise of `measure` or `measure_all`.

    Parameters
    ----------
    loss : Pure, Approx or ZCDP
        The loss of all marginals together.
    neighbors : {"add-remove", "replace"}, default "add-remove"
    marginals : int, default 1
        The number of marginals that are measured for this loss.

    Returns
    -------
    float
        The argument `stddev` of ``LinearMeasurement(noisy, clique, stddev)`` of mbi.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import dpfast as dp
    >>> from dpfast.adapters.mbi import deviation
    >>> round(deviation(dp.privacy.ZCDP(0.005)), 6)
    10.004166
    """
    number = checks.whole("marginals", marginals, 1, _MANY)
    noise = _noise(loss, checks.neighbors(neighbors), number)
    return math.hypot(noise.deviation, _is_rounded(noise) * math.sqrt(1 / 12))


def exponential_mechanism(
    qualities: Any,
    epsilon: Number,
    sensitivity: Number = 1.0,
    base_measure: Any = None,
    *,
    monotonic: bool = False,
    neighbors: Neighbors | None = None,
    budget: dp.Budget | None = None,
    rng: Generator | None = None,
) -> Any:
    """Select a candidate by its quality, as ``Mechanism.exponential_mechanism`` of mbi does.

    Privacy
    -------
    On neighboring datasets every quality differs by at most `sensitivity`. The draw has
    epsilon-bounded range. So it costs epsilon (McSherry and Talwar, FOCS 2007), or at most
    epsilon**2 / 8 in rho (Cesar and Rogers, ALT 2021).

    Parameters
    ----------
    qualities : mapping of candidates to numbers, or array_like
        The private quality of each candidate.
    epsilon : float, Fraction or Decimal
    sensitivity : float, default 1.0
    base_measure : mapping of candidates to weights, or array_like of log-weights, optional
        Public weights of the candidates. A mapping of qualities takes a mapping of weights, and an
        array of qualities takes an array of log-weights.
    monotonic : bool, default False
        Whether all qualities move in the same direction, as in `dpfast.selection.exponential`.
    neighbors : {"add-remove", "replace"}, optional
        The relation for which the sensitivity holds.
    budget : Budget, optional
        The budget that pays, before anything is drawn.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    The drawn candidate of a mapping, or the index of the drawn quality of an array.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule. Nothing has been spent.
    BudgetError
        If too little of the budget is left. Nothing has been spent.

    Examples
    --------
    >>> import dpfast as dp
    >>> from dpfast.adapters.mbi import exponential_mechanism
    >>> budget = dp.Budget(rho=1)
    >>> errors = {("age", "sex"): 10.0, ("age", "race"): 900.0}
    >>> exponential_mechanism(errors, epsilon=1.0, budget=budget)
    ('age', 'race')
    """
    keys, base = None, base_measure
    if isinstance(qualities, Mapping):
        keys, qualities = list(qualities), list(qualities.values())
        if base is not None:
            base = _log_weights(base, keys)
    scores = checks.array("qualities", qualities, "numbers in one dimension")
    if scores.ndim != 1:
        checks.fail_kind("qualities", "numbers in one dimension", qualities)
    index = int(
        dp.selection.exponential(
            scores,
            sensitivity=sensitivity,
            epsilon=epsilon,
            base=base,
            monotone=monotonic,
            neighbors=neighbors,
            budget=budget,
            rng=rng,
        )
    )
    return index if keys is None else keys[index]


def _counts(name: str, value: Any) -> NDArray[Any]:
    rule = "an array of counts"
    counts = checks.array(name, value, rule)
    # An object array may contain integers beyond 64 bits.
    if counts.dtype.kind == "O" and counts.ndim:
        counts = np.array([finite(count) for count in counts.ravel()]).reshape(counts.shape)
    if counts.dtype.kind not in "biuf" or not counts.size:
        checks.fail_kind(name, rule, value)
    return counts


def _log_weights(base: Any, keys: list[Any]) -> NDArray[np.float64]:
    rule = "a mapping with a weight above 0 for each candidate"
    if not isinstance(base, Mapping) or any(key not in base for key in keys):
        checks.fail_kind("base_measure", rule, base)
    return np.log([checks.positive("base_measure", base[key]) for key in keys])
