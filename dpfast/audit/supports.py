"""Answers that only one of two neighbors can have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpfast import privacy
from dpfast.extend import Number

from .measured import rounds_of, setting_of


@dataclass(frozen=True)
class Support:
    """Answers that one of two neighbors gives, and the other hardly ever.

    Attributes
    ----------
    same : bool
        Whether nothing was found.
    differences : tuple of str
        A sentence for each statistic of the answers that tells the neighbors apart.
    samples : int
        The answers on both data together.
    confidence : float
        How sure all differences together are.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.audit.support(lambda data: 1.0 * sum(data), [1], [1, 1], epsilon=1).same
    False
    """

    same: bool
    differences: tuple[str, ...]
    samples: int
    confidence: float


def support(
    mechanism: Callable[..., Any],
    x: Any,
    x2: Any,
    *,
    epsilon: Number = 1.0,
    delta: Number = 0.0,
    samples: int | None = None,
    confidence: float = 1 - 1e-6,
    workers: int = 1,
) -> Support:
    """Find answers that only one of two neighbors can have.

    NOT PRIVATE: it is for data that are made up for the test. What is looked at is the kind of an
    answer (its type, shape, keys, or error), NaN, infinities and minus zero, single values, the
    exponent of the lowest bit, and the last bits of a float: what does not depend on the data if
    noise is drawn on a public grid (Mironov, CCS 2012, on noise that is not).

    Parameters
    ----------
    mechanism, x, x2, samples, confidence, workers : optional
        As in `measure`.
    epsilon, delta : float, Fraction or Decimal, default 1 and 0
        The claim. A difference is what it does not allow.

    Returns
    -------
    Support
        All differences, the most significant first.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.
    MissingExtraError
        If SciPy is missing.

    Notes
    -----
    Exact limits of probabilities, as in `measure`; the error probability is shared equally by up to
    40 events a round. It does not stop early. Cost: the calls of the mechanism, and some more.

    Examples
    --------
    >>> import dpfast as dp
    >>> def typed(data):  # an int or a float: it depends on the last row
    ...     return dp.noise.discrete_laplace(3) + data[-1]
    >>> dp.audit.support(typed, [0, 1], [0, 1.0], epsilon=1, samples=2048).same
    False
    """
    claim = privacy.loss(epsilon, delta, None)
    setting = setting_of(mechanism, samples, confidence, workers, support=True)
    audit, shown = rounds_of(setting, x, x2, claim)
    best: dict[str, Any] = {}
    for event in sorted(shown, key=lambda event: event.p_value):
        if event.p_value <= 1 - setting.confidence:
            best.setdefault(event.event.statistic.words, event)
    return Support(not best, tuple(map(str, best.values())), audit.samples, audit.confidence)
