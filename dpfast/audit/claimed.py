"""Tests of a privacy claim on many pairs of neighbors, with a planted fault that must be found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dpfast import privacy
from dpfast import rng as _rng
from dpfast.errors import ArgumentError
from dpfast.extend import Neighbors, Number, checks
from dpfast.privacy import Loss

from .answers import takes_size
from .binomial import Claim
from .measured import Audit, measure
from .pairs import Pair
from .pairs import neighbors as pairs_of

Mechanism = Callable[..., Any]


def claims(
    *,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    schema: Any = (0.0, 1.0),
    neighbors: Neighbors = "add-remove",
    pairs: Sequence[tuple[str, Any, Any]] | None = None,
    nan: bool = False,
    rows: int = 8,
    samples: int = 20_000,
    confidence: float = 1 - 1e-6,
) -> Callable[[Mechanism], Callable[[], None]]:
    """Make a test of a privacy claim from a mechanism, for pytest or another runner: a decorator.

    The test audits the mechanism on several pairs of neighboring datasets, and fails if the claim
    is refuted on one of them. It also fails if it could not have found a fault. To check this, it
    plants a fault: on the first pair, a leak is added to each answer. The loss of the leak is twice
    the claim plus 1, and the audit must refute the claim for the mechanism with the leak.

    NOT PRIVATE: use data that are made up for the test.

    Parameters
    ----------
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The claim: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    schema, neighbors, nan, rows : optional
        The bounds or texts of the columns, from which pairs are made: as in
        `dpfast.audit.neighbors`.
    pairs : sequence of tuples (name, x, x2), optional
        Pairs of neighbors to try, instead of pairs made from `schema`.
    samples : int, default 20,000
        The largest number of answers for each pair of datasets.
    confidence : float, default 1 - 1e-6
        The confidence of a refutation, for all pairs together.

    Returns
    -------
    callable
        A decorator. It takes a mechanism, which is a function of the data as in `measure`, and
        returns the test, which is a function without arguments. The attribute `mechanism` of the
        test is the mechanism. After a run, its attribute `refutable` is the largest
        `Audit.refutable` of all pairs: events that are rarer were not tested. Its attribute
        `largest` is the largest loss that the answers could show on every pair.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Notes
    -----
    Cost: up to `samples` answers for each of about 20 pairs, and some for the planted fault.

    Examples
    --------
    Test a noisy count of rows between 0 and 9. The test passes:

    >>> import dpfast as dp
    >>> @dp.audit.claims(epsilon=1, schema=(0, 9), samples=2_000, confidence=1 - 1e-9)
    ... def test_count(data, size):
    ...     return len(data) + dp.noise.discrete_laplace(1, size)
    >>> test_count()
    """
    claim = privacy.loss(epsilon, delta, rho)
    number = checks.whole("samples", samples, 1024)
    sure = checks.share("confidence", confidence)
    tried = pairs_of(schema, neighbors=neighbors, nan=nan, rows=rows)
    tried = tried if pairs is None else _listed(pairs)
    amounts = {"epsilon": epsilon, "delta": delta, "rho": rho}

    def decorate(mechanism: Mechanism) -> Callable[[], None]:
        if not callable(mechanism):
            checks.fail_type("mechanism", "a function of the data", mechanism)

        def test() -> None:
            shared = 1 - (1 - sure) / len(tried)
            options: Any = {**amounts, "samples": number, "confidence": shared}
            reports = measure_pairs(mechanism, tried, **options)
            largest = min((audit.largest for _, audit in reports), default=0.0)
            vars(test).update(refutable=_worst(reports), largest=largest)
            broken = [f"{name}: {audit!r}" for name, audit in reports if audit.refuted]
            assert not broken, "\n".join(broken)
            assert reports, "the mechanism fails on all pairs: each call raises an error"
            control = measure_pairs(planted(mechanism, tried, claim), tried[:1], **options)
            blind = f"{number} answers are too few to find a loss of twice the claim"
            assert any(audit.refuted for _, audit in control), blind

        named = {"__name__", "__qualname__", "__module__", "__doc__"}
        vars(test).update(mechanism=mechanism, claim=claim)
        for name in named & set(dir(mechanism)):
            setattr(test, name, getattr(mechanism, name))
        return test

    return decorate


def _worst(reports: list[tuple[str, Audit]]) -> float | None:
    """Return the largest `refutable` of all pairs, or None if a pair has none."""
    bounds = [audit.refutable for _, audit in reports if audit.refutable is not None]
    return max(bounds) if bounds and len(bounds) == len(reports) else None


def _listed(pairs: Any) -> list[Pair]:
    """Check pairs of datasets, and return them as a list of at least one `Pair`."""
    rule = "at least one tuple (name, x, x2)"
    try:
        listed = [Pair(str(name), x, x2) for name, x, x2 in pairs]
    except Exception:  # an object may raise any error here
        checks.fail_kind("pairs", rule, pairs)
    if not listed:
        checks.fail("pairs", rule, pairs)
    return listed


def measure_pairs(
    mechanism: Mechanism,
    pairs: Iterable[Pair],
    *,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    samples: int = 20_000,
    confidence: float = 1 - 1e-6,
) -> list[tuple[str, Audit]]:
    """Audit a mechanism on several pairs of neighbors; skip a pair if it fails on both datasets.

    NOT PRIVATE: use data that are made up for the test.

    Parameters
    ----------
    mechanism : callable
        A function of the data, as `measure` takes it.
    pairs : iterable of Pair
        Pairs of neighboring datasets, as `neighbors` returns them.
    epsilon, delta, rho, samples, confidence : optional
        As in `measure`.

    Returns
    -------
    list of (str, Audit)
        The name of each pair, and the result of `measure` for this pair.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `measure` refuses an argument, or `pairs` is not a list of such pairs.

    Notes
    -----
    Cost: for each pair, as for `measure`.

    Examples
    --------
    Audit a noisy sum on two pairs. Neither audit refutes the claim:

    >>> import dpfast as dp
    >>> pairs = dp.audit.neighbors((0, 9))[:2]
    >>> def total(data, size):
    ...     return sum(data) + dp.noise.laplace(9, size)
    >>> audits = dp.audit.measure_pairs(total, pairs, epsilon=1, samples=2_000, confidence=1 - 1e-9)
    >>> len(audits), any(audit.refuted for _, audit in audits)
    (2, False)
    """
    options: Any = {"epsilon": epsilon, "delta": delta, "rho": rho}
    options |= {"samples": samples, "confidence": confidence}
    audits = []
    for name, x, x2 in _listed(pairs):
        try:
            audits.append((name, measure(mechanism, x, x2, **options)))
        except ArgumentError as error:
            if "from each call" not in str(error):
                raise
    return audits


def planted(mechanism: Mechanism, pairs: Sequence[Pair], loss: Loss) -> Mechanism:
    """Return a mechanism with a planted fault: randomized response reveals the dataset."""
    claim = Claim.of(loss)
    epsilon = math.sqrt(2 * claim.amount) if claim.by_rho else claim.amount
    lie = 1 / (1 + math.exp(min(2 * epsilon + 1, 700.0)))
    generator = _rng.default_generator()

    def bits(data: Any, size: int) -> Any:
        words = np.frombuffer(generator.bytes(8 * size), np.uint64)
        return (data is pairs[0].x) ^ (words < lie * 2.0**64)

    if takes_size(mechanism):

        def many(data: Any, size: int) -> Any:
            answers = np.asarray(mechanism(data, size))
            return np.column_stack([answers.reshape(size, -1), bits(data, size)])

        return many
    return lambda data: (mechanism(data), int(bits(data, 1)[0]))
