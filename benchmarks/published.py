"""Constants as they were published, which are looser than those of dpfast, to compare with.

`calibrate` has those for noise of a smooth sensitivity, `sulq_variance` the noise of the first
analysis of SuLQ, and `median_mechanism` the parameters of the paper on the median mechanism. No
answer of the library has them.
"""

import contextlib
import math
from typing import NamedTuple
from unittest.mock import patch

from dpfast import privacy
from dpfast.noise import smooth
from dpfast.noise.distributions import (
    ArsinhNormal,
    Cauchy,
    Gaussian,
    GeneralizedCauchy,
    Laplace,
    StudentT,
)
from dpfast.noise.smooth import gaussian, laplace, polyplace
from dpfast.noise.smooth.calibration import Draft, finish, floats
from dpfast.noise.smooth.pair import best

NRS = "Nissim, Raskhodnikova and Smith, STOC 2007"
UNDER = 1.0 - 2.0**-48


def hladik_tetek(epsilon):
    """Return alpha = beta = share * epsilon."""
    exact = polyplace.polyplace(epsilon, polyplace.MEDIAN_SHARE)
    return exact._replace(alpha=exact.beta, theorem="Hladik and Tetek, FORC 2025")


def cauchy_nrs(epsilon):
    """Return alpha = beta = epsilon / (2 (gamma + 1)), gamma = 2."""
    return Draft(Cauchy(), epsilon / 6.0, epsilon / 6.0 * UNDER, NRS)


def cauchy_lecture(epsilon):
    """Return alpha = epsilon / (4 gamma), beta = epsilon / gamma, gamma = 2, of lecture notes.

    For larger gamma this loses more than epsilon: from about 8 on, 1.046 epsilon at gamma = 10.
    """
    return Draft(Cauchy(), epsilon / 8.0, epsilon / 2.0 * UNDER, "lecture notes; holds at gamma=2")


def generalized_cauchy_nrs(epsilon, gamma=4):
    """Return alpha = beta = epsilon / (2 (gamma + 1))."""
    share = epsilon / (2.0 * (gamma + 1.0))
    return Draft(GeneralizedCauchy(gamma), share, share * UNDER, NRS)


def student_t_bun_steinke(epsilon, df=3):
    """Return epsilon = (df + 1) (beta + alpha / (2 sqrt(df))), half on each."""
    half = epsilon / (2.0 * (df + 1.0))
    alpha = 2.0 * math.sqrt(df) * half
    return Draft(StudentT(df), alpha, half * UNDER, "Bun and Steinke 2019, Theorem 31")


def laplace_nrs(epsilon, delta):
    """Return alpha = epsilon / 2, beta = epsilon / (2 log(2 / delta)), where that holds."""
    alpha, beta = epsilon / 2.0, epsilon / (2.0 * math.log(2.0 / delta)) * UNDER
    if alpha > laplace.alpha_of_beta(epsilon, delta, beta):
        raise ValueError(f"the published constants do not hold for epsilon={epsilon}")
    return Draft(Laplace(), alpha, beta, NRS + "; checked by the exact divergence")


def gaussian_nrs(epsilon, delta):
    """Return alpha = epsilon / (5 sqrt(2 L)), beta = epsilon / (4 (1 + L)), L = log(2 / delta)."""
    log_term = math.log(2.0 / delta)
    alpha = epsilon / (5.0 * math.sqrt(2.0 * log_term))
    beta = epsilon / (4.0 * (1.0 + log_term)) * UNDER
    if alpha > gaussian.alpha_of_beta(epsilon, delta, beta):
        raise ValueError(f"the published constants do not hold for epsilon={epsilon}")
    return Draft(Gaussian(), alpha, beta, NRS + "; checked by the exact divergence")


def arsinh_normal_bun_steinke(rho):
    """Return the t of least noise in Theorem 25 of Bun and Steinke 2019, sigma = 2 / sqrt(3)."""
    sigma = 2.0 / math.sqrt(3.0)
    e = math.sqrt(2.0 * rho) * (1.0 - 2.0**-50)

    def shift(t):
        left = e - math.sqrt(t * (t / sigma**2 + 1.0 / sigma + 2.0))
        return 6.0 * sigma / (4.0 + 3.0 * sigma**2) * left

    # left > 0 means t^2 / sigma^2 + (1/sigma + 2) t < e^2
    half = 0.5 * (1.0 / sigma + 2.0)
    top = e * e / (half + math.sqrt(half * half + (e / sigma) ** 2))
    alpha, beta = best(shift, top)
    return Draft(ArsinhNormal(sigma), alpha, beta, "Bun and Steinke 2019, Theorem 25")


#: By the name that `dpfast.noise.smooth.calibrate` has for the same noise, and whose constants.
SMOOTH = {
    "polyplace-hladik-tetek": hladik_tetek,
    "cauchy-nrs": cauchy_nrs,
    "cauchy-lecture": cauchy_lecture,
    "student-t-bun-steinke": student_t_bun_steinke,
    "generalized-cauchy-nrs": generalized_cauchy_nrs,
    "laplace-nrs": laplace_nrs,
    "gaussian-nrs": gaussian_nrs,
    "arsinh-normal-bun-steinke": arsinh_normal_bun_steinke,
}


def calibrate(noise, *, epsilon=None, delta=0, rho=None):
    """Calibrate noise to a smooth sensitivity by published constants, for a loss of their kind."""
    loss = privacy.loss(epsilon, delta, rho)
    return finish(noise, SMOOTH[noise](**floats(loss)), loss)


@contextlib.contextmanager
def offered():
    """Let `dp.median(noise=...)` and its like take the published constants by name meanwhile."""
    table = smooth._APPROXIMATE | {name: SMOOTH[name] for name in ("laplace-nrs", "gaussian-nrs")}
    names = patch.object(smooth, "NOISES", (*smooth.NOISES, "laplace-nrs", "gaussian-nrs"))
    with patch.object(smooth, "_APPROXIMATE", table), names:
        yield


def sulq_variance(epsilon, delta, queries):
    """Return the variance of the noise in the original analysis of SuLQ.

    Blum, Dwork, McSherry and Nissim (PODS 2005) ask for ``32 log(2 / delta) log(T / delta) T /
    epsilon**2`` for T sums of values of [0, 1]; the Gaussian noise that (epsilon, delta) really
    needs, that of `dp.sulq.NoisySums`, has a variance 360 to 750 times smaller.
    """
    log_terms = math.log(2.0 / delta) * (math.log(queries) - math.log(delta))
    return 32.0 * log_terms * queries / epsilon**2


class MedianMechanism(NamedTuple):
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


def median_mechanism(universe, *, queries, epsilon, accuracy):
    """Return the constants in the paper on the median mechanism; no table is large enough for them.

    Roth and Roughgarden, "Interactive privacy via the median mechanism", STOC 2010, section 4; in
    the paper they are N, the number of queries, alpha and epsilon. `dp.online.MedianMechanism`
    needs none of them: with ``test="closeness"`` it makes the comparison of the paper with
    constants computed for its own arguments.
    """
    size = math.ceil(160_000 * math.log(queries) * math.log(1 / accuracy) / accuracy**2)
    each = epsilon / (720 * size * math.log(universe))
    slack = 4 * (math.log(2 * queries) - math.log(epsilon)) / (each * accuracy)
    hard = math.ceil(20 * size * math.log(universe))
    return MedianMechanism(size, hard, each, slack, accuracy / 50, math.ceil(slack * 20 / 3))
