"""The loss of the best of a random number of runs of a private mechanism.

Each answer of a mechanism M has a score. M runs K times, and the answer with the highest score is
released (the first one, if several are equal). K has the truncated negative binomial distribution
with parameters eta > -1 and g = gamma:

    P(K = k) = (1 - g)^k / (g^-eta - 1) prod_(l < k) (l + eta) / (l + 1),   k = 1, 2, ...

(eta = 1: geometric, with mean 1 / g; eta = 0, by continuity: logarithmic). Its generating function
has the derivative f'(s) = E[K] (g / (g + (1 - g) (1 - s)))^(1 + eta).

*The distribution.* Let Q(y) be the probability that M answers y. Let Q(s) be the probability of all
answers with the score s of y, and Q(<) of all answers with lower scores. Given that s is the
highest score, the first answer with this score is y with probability Q(y) / Q(s). So y is released
with probability

    A(y) = (f(Q(<) + Q(s)) - f(Q(<))) Q(y) / Q(s) = Q(y) E_u f'(1 - x_u),
    x_u = 1 - Q(<) - u Q(s),   u uniform on 0 .. 1,

and x_u is the probability of an event of M and a coin. On a neighbor this event has the probability
x'_u.

*Pure.* If M is epsilon-DP, then Q(y) <= e^epsilon Q'(y) and x'_u <= e^epsilon x_u, so

    f'(1 - x_u) / f'(1 - x'_u) = ((g + (1 - g) x'_u) / (g + (1 - g) x_u))^(1 + eta)
                              <= e^((1 + eta) epsilon),

and the best is (2 + eta) epsilon-DP (Liu and Talwar, STOC 2019; Papernot and Steinke, ICLR 2022).

*Renyi divergence.* Let the divergence of M of order a be at most D(a). By Hoelder's inequality, the
probabilities of an event satisfy x' <= (e^D(b) x)^t with t = 1 - 1/b, for any b >= 1. The power t
is concave, so

    (g + (1 - g) x) g^(-1/b) e^(t D(b)) >= e^(t D(b)) (g + (1 - g) x)^t
                                        >= g + (1 - g) (e^D(b) x)^t >= g + (1 - g) x',

because g + (1 - g) x >= g. So the quotient of derivatives is at most R = (g^(-1/b) e^(t
D(b)))^(1+eta). The function p^a q^(1-a) is jointly convex, so it may be averaged over u:

    sum_y A(y)^a A'(y)^(1-a) <= sum_y Q(y)^a Q'(y)^(1-a) E_u f'(1 - x_u) R^(a-1)
                             <= e^((a-1) D(a)) E[K] R^(a-1),

    D_A(a) <= D(a) + (1 + eta) ((1 - 1/b) D(b) + ln(1/g) / b) + ln E[K] / (a - 1)

(Papernot and Steinke, theorem 2). For rho-zCDP, D(a) = rho a. Then the middle term is least for b =
sqrt(ln(1/g) / rho), or for b = 1 if that is less. Call this least value c. The last term only adds
to the term ln(1 / delta) / (a - 1) of the conversion to epsilon. So the best is (c + e, delta)-DP,
where e is the epsilon of rho-zCDP at delta / E[K].
"""

from __future__ import annotations

from fractions import Fraction

from .._core import checks
from .._core.types import Number
from .conversions import LEAST_EPSILON, epsilon_of_rho
from .enclosure import Interval, down, exp, log_of, up
from .losses import ZCDP, Approx, Loss, Pure, _delta

#: The least stopping probability gamma, and the least and largest eta other than 0.
LEAST_GAMMA, LEAST_ETA, MOST_ETA = Fraction(1, 10**6), Fraction(1, 10**6), 100


def run_parameters(gamma: Number, eta: Number) -> tuple[Fraction, Fraction]:
    """Return gamma and eta, the checked parameters of a random number of runs."""
    g, n = checks.fraction("gamma", gamma), checks.fraction("eta", eta)
    if not LEAST_GAMMA <= g < 1:
        checks.fail("gamma", "at least 1e-6 and less than 1", gamma)
    if not LEAST_ETA - 1 <= n <= MOST_ETA or 0 < abs(n) < LEAST_ETA:
        rule = f"0, or greater than -1, at most {MOST_ETA}, and at least 1e-6 in size"
        checks.fail("eta", rule, eta)
    return g, n


def mean_runs(gamma: Fraction, eta: Fraction) -> Interval:
    """Return the mean number of runs, E[K]."""
    g, bits = Interval.of(gamma), -log_of(gamma)
    odds = (1 - g) / g
    if not eta:
        return odds / bits
    size = abs(eta)
    power = exp(bits * Interval.of(size))  # gamma^-|eta|
    if eta > 0:
        return odds * Interval.of(size) * power / (power - 1)
    return odds * Interval.of(size) / (power - 1)


def repeated_selection(
    run_loss: Loss, *, gamma: Number, eta: Number = 1, delta: Number | None = None
) -> Loss:
    """Return the loss of the best of a random number of runs (`dpfast.selection.best_of`).

    Parameters
    ----------
    run_loss : Pure or ZCDP
        The loss of one run.
    gamma : float, Fraction or Decimal
        From 1e-6 to below 1. A smaller gamma means more runs.
    eta : float, Fraction or Decimal, default 1
        Greater than -1. With 1 the number of runs is geometric, with the mean ``1 / gamma``; with 0
        it is logarithmic, with the mean ``(1 / gamma - 1) / ln(1 / gamma)``.
    delta : float, Fraction or Decimal, optional
        The delta of the result. It is required if `run_loss` is in rho. With a pure `run_loss` it
        may give a smaller epsilon.

    Returns
    -------
    Pure or Approx
        For a pure loss, ``(2 + eta)`` times its epsilon. For rho and delta, the epsilon is a sum of
        two terms. The first is ``(1 + eta) (2 sqrt(rho ln(1 / gamma)) - rho)``, or ``(1 + eta) ln(1
        / gamma)`` if rho is larger than this logarithm. The second is the epsilon of rho-zCDP at
        delta / (mean number of runs).

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, for a `run_loss` in rho without `delta`, or for a `run_loss` with a
        delta.

    Notes
    -----
    Liu and Talwar, STOC 2019; Papernot and Steinke, ICLR 2022. The proofs are in
    ``dpfast/privacy/repetition.py``.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.privacy.repeated_selection(dp.privacy.Pure(0.1), gamma=0.01)
    Pure(epsilon=0.3)
    >>> dp.privacy.repeated_selection(dp.privacy.ZCDP(0.005), gamma=0.01, eta=0, delta=1e-6)
    Approx(epsilon=0.79263809776088, delta=1e-06)
    """
    g, n = run_parameters(gamma, eta)
    if not isinstance(run_loss, (Pure, ZCDP)):
        checks.fail_type("run_loss", "a Pure or a ZCDP loss", run_loss)
    limit = None if delta is None else _delta(delta)
    pure = Pure((2 + n) * run_loss.epsilon) if isinstance(run_loss, Pure) else None
    if limit is None:
        if pure is None:
            checks.fail("delta", "given if the loss of a run is in rho", delta)
        return pure
    rho = run_loss.rho if isinstance(run_loss, ZCDP) else run_loss.to_zcdp().rho
    approx = Approx(_epsilon(rho, g, n, limit), limit)
    return pure if pure is not None and pure.epsilon <= approx.epsilon else approx


def _epsilon(rho: Fraction, gamma: Fraction, eta: Fraction, delta: Fraction) -> Fraction:
    """Return the epsilon, at delta, of the best of a random number of rho-zCDP runs."""
    bits, r = -log_of(gamma), Interval.of(rho)
    middle = bits if bits.high <= r.low else (r * bits).sqrt() * 2 - r
    part = down((Interval.of(delta) / mean_runs(gamma, eta)).low)
    whole = middle * Interval.of(1 + eta) + Interval.of(epsilon_of_rho(rho, part))
    return up(whole.high, LEAST_EPSILON)
