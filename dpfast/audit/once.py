"""Audits by one run: a lower bound on a loss from one run with many canaries (made-up rows)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpfast import privacy
from dpfast import rng as _rng
from dpfast.extend import Number, checks, extra

from .binomial import Claim, narrowed
from .measured import Audit


def one_run(
    run: Callable[[NDArray[np.bool_]], Any],
    canaries: int,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    guesses: int | None = None,
    confidence: float = 1 - 1e-6,
    rng: _rng.Generator | None = None,
) -> Audit:
    """Test a privacy claim by a single run on data with many made-up rows (canaries).

    A fair coin decides for each canary whether it takes part in the run. Your function returns a
    score for each canary: a high score is a guess that the canary took part, a low score a guess
    that it did not. The loss for one row that is added or removed limits how many guesses can be
    right. If more are right, the claim is refuted.

    NOT PRIVATE: the scores show which canaries took part.

    Parameters
    ----------
    run : callable
        ``run(included)`` runs the mechanism and returns a score for each canary. `included` is a
        bool array, and the canaries whose entry is True take part.
    canaries : int
        The number of canaries.
    epsilon, delta : float, Fraction or Decimal
        The claimed loss, for neighbors that differ in one canary.
    guesses : int, optional
        The number of guesses: half for the canaries with the highest scores, half for the canaries
        with the lowest. By default one guess for each canary. The number must not depend on the
        scores.
    confidence : float, default 1 - 1e-6
        The confidence of a refutation, and of the bound.
    rng : Generator, optional
        The source of the coins. By default the secure one.

    Returns
    -------
    Audit
        The result, as in `measure`, but without a bound on rho.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule, or the scores are not a number for each canary.
    MissingExtraError
        If SciPy is missing.

    Notes
    -----
    The number of right guesses is stochastically no larger than a binomial number with probability
    ``exp(epsilon) / (1 + exp(epsilon))``, up to a term of ``2 canaries delta`` (Steinke, Nasr and
    Jagielski, NeurIPS 2023, theorem 5.2). The bound is weaker than the bound of `measure`, but
    needs one run only.

    Cost: the run, and O(guesses) for each of some 50 candidates of epsilon.

    Examples
    --------
    Scores that reveal every canary refute the claim:

    >>> import dpfast as dp
    >>> dp.audit.one_run(lambda included: 1.0 * included, 1000, epsilon=1).refuted
    True
    """
    loss = privacy.loss(epsilon, delta, None)
    m = checks.whole("canaries", canaries, 1, 1 << 24)
    r = m if guesses is None else checks.whole("guesses", guesses, 1)
    if r > m:
        checks.fail("guesses", f"at most the number of canaries, {m}", guesses)
    sure = checks.share("confidence", confidence)
    generator = _rng.check(rng)
    if not callable(run):
        checks.fail_type("run", "a function of the canaries that take part", run)
    random_bytes = np.frombuffer(generator.bytes(-(-m // 8)), np.uint8)
    included = np.unpackbits(random_bytes, count=m).view(np.bool_)
    rule = f"a function that returns a number for each of {m} canaries"
    scores = checks.array("run", run(included.copy()), rule)
    if scores.dtype.kind not in "biuf" or scores.shape != (m,):
        checks.fail_kind("run", rule, scores)
    order = np.argsort(np.nan_to_num(scores.astype(np.float64), nan=0.0), kind="stable")
    low, high = order[: r // 2], order[m - (r - r // 2) :]
    right = int(np.count_nonzero(~included[low]) + np.count_nonzero(included[high]))
    claim = Claim.of(loss)
    p = chance(right, r, m, claim.amount, claim.delta)

    def is_likely(epsilon: float) -> bool:
        return chance(right, r, m, epsilon, claim.delta) > 1 - sure

    bound = 0.0 if is_likely(0.0) else narrowed(is_likely, 0.0, 40.0, 50)[0]
    return Audit(
        claim=loss,
        epsilon=bound,
        delta=claim.delta,
        rho=0.0,
        p_value=p,
        refuted=p <= 1 - sure,
        witness=f"{right} of {r} guesses are right",
        samples=1,
        confidence=sure,
        rounds=((1, bound),),
    )


def chance(right: int, guesses: int, canaries: int, epsilon: float, delta: float) -> float:
    """Return an upper bound on the probability of `right` or more right guesses under a loss."""
    special = extra("scipy.special", "an audit")
    q = 1 / (1 + math.exp(-epsilon))
    if not right:
        return 1.0

    def tail(least: Any) -> Any:  # the probability of as many right guesses or more
        k = np.maximum(least, 1)
        return np.where(least <= 0, 1.0, special.betainc(k, guesses - k + 1, q))

    first = float(tail(np.array(right)))
    if not delta:
        return min(1.0, first)
    i = np.arange(1, right + 1)
    most = float(np.max((tail(right - i) - first) / i))
    return min(1.0, first + 2 * canaries * delta * most)
