"""The constants in the paper on the median mechanism, for which no table is large enough."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from .. import privacy as _privacy
from .._core import checks
from .._core.types import Number

#: Up to here logarithms and products stay finite.
MOST = 1 << 62


class Published(NamedTuple):
    """The published parameters of a median mechanism.

    Attributes
    ----------
    size : int
        Rows of a candidate (m in the paper).
    hard : int
        The most hard answers (20 m log N).
    epsilon : float
        The loss of one hard answer (alpha').
    slack : float
        The step between the thresholds 3/4, 3/4 + slack, and so on, for one row (gamma n).
    kept : float
        Candidates this near to a hard answer are kept (accuracy / 50).
    rows : int
        The least number of rows for which there is more than one threshold up to 9/10.
    """

    size: int
    hard: int
    epsilon: float
    slack: float
    kept: float
    rows: int


def published(universe: int, *, queries: int, epsilon: Number, accuracy: Number) -> Published:
    """Return the constants that were published for the median mechanism.

    They are public: they are computed from public numbers alone, without data.

    Parameters
    ----------
    universe : int
        The number of elements (N), at least 2.
    queries : int
        The number of queries.
    epsilon : float, Fraction or Decimal
        The loss of all answers (alpha in the paper).
    accuracy : float
        The largest error of an answer, less than 1 (epsilon in the paper).

    Returns
    -------
    Published

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    Cost: negligible. `MedianMechanism` needs none of these: with ``test="closeness"`` it makes the
    comparison of the paper with constants computed for its own arguments.

    References
    ----------
    Roth and Roughgarden, "Interactive privacy via the median mechanism", STOC 2010, section 4.

    Examples
    --------
    >>> import dpfast as dp
    >>> paper = dp.online.published(16, queries=1000, epsilon=1, accuracy=0.1)
    >>> paper.size > 10**8, paper.rows > 10**12
    (True, True)
    """
    elements = checks.whole("universe", universe, 2, MOST)
    count = checks.whole("queries", queries, 2, MOST)
    loss: Any = epsilon  # `Pure` takes any number
    alpha = float(_privacy.Pure(loss).epsilon)
    if not 1 / MOST <= alpha <= count:
        checks.fail("epsilon", "at least 2**-62 and at most the number of queries", epsilon)
    wanted = checks.positive("accuracy", accuracy)
    if not 1 / MOST <= wanted < 1:
        checks.fail("accuracy", "at least 2**-62 and less than 1", accuracy)
    size = math.ceil(160_000 * math.log(count) * math.log(1 / wanted) / wanted**2)
    each = alpha / (720 * size * math.log(elements))
    try:
        slack = 4 * (math.log(2 * count) - math.log(alpha)) / (each * wanted)
        rows = math.ceil(slack * 20 / 3)
    except (OverflowError, ZeroDivisionError, ValueError):
        checks.fail("epsilon", "so large that the constants are numbers of float64", epsilon)
    hard = math.ceil(20 * size * math.log(elements))
    return Published(size, hard, each, slack, wanted / 50, rows)
