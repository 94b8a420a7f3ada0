"""`add_noise_family`: noise of another package joins the choice of noise."""

from __future__ import annotations

from .._core import checks
from .choice import OF_USERS, NoiseFamily
from .linear import plan
from .statistic import mechanism_of


def add_noise_family(family: NoiseFamily, *, margin: float = 1.0) -> None:
    """Add a family of noise, which dpfast from then on also tries when it chooses noise for sums.

    The family is tried for counts, sums, means, variances, covariances and statistics that are
    computed from these, for one answer or for an answer for each column. It is not tried for groups
    and learners.

    Parameters
    ----------
    family : callable
        ``family(loss, size, moves)`` yields a `NoiseCandidate` for each noise that suits the
        `Moves`, or nothing. `size` is the epsilon or the rho of the loss. The candidates must
        depend on these arguments alone.
    margin : float, default 1.0
        A candidate is used if its error is below this fraction of the least error of all others.

    Returns
    -------
    None

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `family` is not a function, or `margin` is not above 0 and at most 1.

    Notes
    -----
    You have to prove that the noise satisfies its stated `loss` for all sums that differ by the
    moves. This loss is charged. Measurements that already exist keep their noise.

    Examples
    --------
    >>> import dpfast as dp
    >>> def nothing(loss, size, moves):
    ...     return []
    >>> dp.extend.add_noise_family(nothing)
    """
    if not callable(family):
        checks.fail_type("family", "a function family(loss, size, moves)", family)
    part = checks.number("margin", margin)
    if not 0 < part <= 1:
        checks.fail("margin", "above 0 and at most 1", margin)
    OF_USERS.append((family, part, False))
    mechanism_of.cache_clear()
    plan.cache_clear()
