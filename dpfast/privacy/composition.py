"""Composition of losses, group privacy, and other neighboring relations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from operator import attrgetter
from typing import Any, Literal

from .._core import checks
from .._core.types import Neighbors, Number
from . import conversions
from .losses import ZCDP, Approx, Draws, Loss, Pure, _delta


def _checked(losses: tuple[Any, ...]) -> list[Loss]:
    if not losses:
        checks.fail("losses", "at least one loss", losses)
    return [check_loss(loss, "losses", "Pure, Approx or ZCDP losses") for loss in losses]


def check_loss(amount: Any, name: str = "loss", rule: str = "a Pure, Approx or ZCDP loss") -> Loss:
    if not isinstance(amount, (Pure, Approx, ZCDP)):
        checks.fail_type(name, rule, amount)
    return amount


def rho_of(loss: Loss) -> Fraction | None:
    """Return the rho of a loss, or None if no rho is known."""
    return loss.to_zcdp().rho if isinstance(loss, Pure) else loss.rho


def _combined(losses: list[Loss], how: Callable[[list[Fraction]], Fraction]) -> Loss:
    """Combine losses amount by amount, in rho if one is a ZCDP."""
    sizes = [size_of(loss) for loss in losses]
    if all(isinstance(loss, Pure) for loss in losses):
        return Pure(how(sizes))
    rhos = [rho for rho in map(rho_of, losses) if rho is not None]
    rho = how(rhos) if len(rhos) == len(losses) else None
    if any(isinstance(loss, ZCDP) for loss in losses):
        if rho is None:
            rule = "all in epsilon or all in rho: convert each ZCDP with to_approx(delta)"
            checks.fail("losses", rule, losses)
        return ZCDP(rho)
    delta = how([amount.delta for amount in losses])
    if delta >= 1:
        checks.fail("losses", "small enough for a total delta below 1", float(delta))
    return Approx(how(sizes), delta, rho)


def _sum(losses: list[Loss]) -> Loss:
    return _combined(losses, lambda amounts: sum(amounts, Fraction(0)))


def compose(*losses: Loss) -> Loss:
    """Return the loss of several releases about the same data: their amounts add up.

    Each release may depend on earlier answers, but its loss must be fixed before the first release.
    (If the losses depend on earlier answers, check them with a `Filter` or a `dpfast.Budget`.)

    Parameters
    ----------
    *losses : Pure, Approx or ZCDP
        Losses under one neighboring relation, which is also the relation of the result. If one loss
        is a ZCDP, the others are converted.

    Returns
    -------
    Pure, Approx or ZCDP
        The exact sums.

    Raises
    ------
    ArgumentError
        If there is no loss, if there are both a ZCDP and an Approx without a rho, or if the deltas
        add up to 1 or more.

    Notes
    -----
    Dwork, McSherry, Nissim and Smith, TCC 2006; for zCDP Bun and Steinke, TCC 2016.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.privacy.compose(*[dp.privacy.Pure(0.1)] * 10)
    Pure(epsilon=1)
    >>> dp.privacy.compose(dp.privacy.Pure(0.5), dp.privacy.Approx(0.5, 1e-6))
    Approx(epsilon=1, delta=1e-06)
    """
    return _sum(_checked(losses))


def parallel(
    *losses: Loss,
    neighbors: Neighbors,
    parts: Literal["content", "position"] = "content",
    staying: Sequence[Loss | None] | None = None,
) -> Loss:
    """Return the loss of releases about disjoint parts of the rows, one release a part.

    Parameters
    ----------
    *losses : Pure, Approx or ZCDP
        For each part the loss of its release, under add-remove (with ``parts="position"``, under
        replace).
    neighbors : {"replace", "add-remove"}
        The relation of the result.
    parts : {"content", "position"}, default "content"
        Whether the part of a row depends on its content alone (such as its age group), or on its
        position in a list of public length.
    staying : sequence of losses or None, optional
        Only under replace with parts by content: for each release its loss, under replace, if a row
        is replaced by another row of the same part. None means that such a replacement changes
        nothing, as for a count of rows. By default these losses are derived from `losses`.

    Returns
    -------
    Pure, Approx or ZCDP
        Under add-remove, or with parts by position, neighbors differ in one part: the result is the
        largest loss. Under replace a row may also leave one part and enter another: the result is
        the largest sum of two losses, or the loss for a row that stays in its part if that is
        larger.

    Raises
    ------
    ArgumentError
        If there is no loss, if there are both a ZCDP and an Approx without a rho, if the delta of
        the result is not below 1, or if `staying` is given for add-remove or for parts by position.
        Also for parts by position under add-remove: there an added row moves all later rows.

    Notes
    -----
    The rule for add-remove is by McSherry, SIGMOD 2009. `proofs/composition.v` proves it for
    epsilon and delta. Under replace, let a row be r in x and r' in its neighbor x'. If r is in part
    a and r' in part b, part a loses a row and part b gains a row. The two releases draw
    independently, so their losses add up: e_a + e_b, delta_a + delta_b, rho_a + rho_b. If r' is in
    no part, only part a changes, and the loss is e_a. If a = b, the release has a group of two
    changes: 2 e, delta (1 + exp(e)) or 4 rho, unless `staying` gives a smaller loss. A loss under
    replace says nothing about a part that grows or shrinks, so it is not allowed in `losses`.

    Examples
    --------
    >>> import dpfast as dp
    >>> each = [dp.privacy.Pure(1), dp.privacy.Pure(0.25)]
    >>> dp.privacy.parallel(*each, neighbors="add-remove")
    Pure(epsilon=1)
    >>> dp.privacy.parallel(*each, neighbors="replace")
    Pure(epsilon=2)
    >>> dp.privacy.parallel(*each, neighbors="replace", staying=[None, None])  # counts
    Pure(epsilon=1.25)
    >>> dp.privacy.parallel(*each, neighbors="replace", parts="position")
    Pure(epsilon=1)
    """
    checked = _checked(losses)
    checks.neighbors(neighbors)
    checks.choice("parts", parts, ("content", "position"))
    if parts == "position" and neighbors == "add-remove":
        rule = "'content' under add-remove: an added row moves others to other positions"
        checks.fail("parts", rule, parts)
    if neighbors == "add-remove" or parts == "position":
        if staying is not None:
            checks.fail("staying", "left out except for parts by content under replace", staying)
        return _combined(checked, max)
    if staying is None:
        candidates = [_doubled(loss) for loss in checked]
    else:
        candidates = _staying_losses(staying, len(checked))
    # For each amount (size, delta, rho), the sum of the two largest bounds every sum of two. A loss
    # without a rho counts as infinite.
    by_amounts = size_of, attrgetter("delta"), lambda loss: rho_of(loss) or math.inf
    candidates += [_sum(sorted(checked, key=key)[-2:]) for key in by_amounts]
    return _combined(candidates, max)


def _doubled(loss: Loss) -> Loss:
    doubled = _grouped(loss, 2)
    if doubled is None:
        checks.fail("losses", "small enough for a delta below 1 under replace", loss)
    return doubled


def _staying_losses(staying: Sequence[Loss | None], parts: int) -> list[Loss]:
    if not isinstance(staying, Sequence) or isinstance(staying, str):
        checks.fail_type("staying", "a list of losses or None, one for each part", staying)
    if len(staying) != parts:
        checks.fail("staying", f"{parts} losses or None, one for each part", staying)
    return [check_loss(loss, "staying", "losses or None") for loss in staying if loss is not None]


def size_of(loss: Loss) -> Fraction:
    return loss.rho if isinstance(loss, ZCDP) else loss.epsilon


def group(loss: Loss, size: int) -> Loss:
    """Return the loss for a group: for datasets that differ in up to `size` rows.

    Parameters
    ----------
    loss : Pure, Approx or ZCDP
        The loss for one row.
    size : int
        At least 1.

    Returns
    -------
    Pure, Approx or ZCDP
        The loss under the same relation. For Pure it is ``size epsilon``. For Approx it is ``size
        epsilon`` with ``delta (exp(size epsilon) - 1) / (exp(epsilon) - 1)``, rounded up at the
        15th digit. For ZCDP it is ``size**2 rho``.

    Raises
    ------
    ArgumentError
        If the delta for the group is 1 or more, which promises nothing.

    Notes
    -----
    Two such datasets are the ends of a chain of `size` steps from neighbor to neighbor (Dwork,
    McSherry, Nissim and Smith, TCC 2006). The delta is the sum of delta exp(i epsilon) over all i <
    size. For rho see Bun and Steinke, TCC 2016. The result for `Draws` is again `Draws`: with
    bounded range the ranges add up along the chain, and Laplace noise counts with `size` times the
    cells. For randomized responses only epsilon is used.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.privacy.group(dp.privacy.Pure(0.1), 5)
    Pure(epsilon=0.5)
    >>> dp.privacy.group(dp.privacy.ZCDP(0.1), 5)
    ZCDP(rho=2.5)
    """
    check_loss(loss)
    checks.whole("size", size, 1)
    grouped = _grouped(loss, size)
    if grouped is None:
        checks.fail("size", f"smaller, so that the delta of {loss!r} stays below 1", size)
    return grouped


def group_within(loss: Loss, size: int) -> Loss:
    """Return the largest loss for one row that keeps groups of `size` rows within `loss`.

    This is the inverse of `group`.

    Parameters
    ----------
    loss : Pure, Approx or ZCDP
        The loss for groups. For `Draws` only epsilon is used.
    size : int
        At least 1.

    Returns
    -------
    Pure, Approx or ZCDP
        The loss under the same relation. For Pure it is ``epsilon / size``. For Approx it is
        ``epsilon / size`` with ``delta (exp(epsilon / size) - 1) / (exp(epsilon) - 1)``, rounded
        down so that `group` does not exceed `loss`. For ZCDP it is ``rho / size**2``.

    Raises
    ------
    ArgumentError
        If `loss` has a delta and an epsilon of more than a million.

    Notes
    -----
    Noise that is calibrated to this loss for a sensitivity of 1 is the noise for a sensitivity of
    `size`: Laplace noise of scale ``size / epsilon``, or Gaussian noise of standard deviation
    ``size / sqrt(2 rho)``. So the result also fits sums to which one person adds up to `size` rows.
    For (epsilon, delta), noise that is calibrated to such sums directly is smaller.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.privacy.group_within(dp.privacy.Pure(0.5), 5)
    Pure(epsilon=0.1)
    >>> loss = dp.privacy.group_within(dp.privacy.Approx(1, 1e-6), 20)
    >>> loss.epsilon, dp.privacy.group(loss, 20)
    (Fraction(1, 20), Approx(epsilon=1, delta=1e-06))
    """
    check_loss(loss)
    checks.whole("size", size, 1)
    if isinstance(loss, ZCDP):
        return ZCDP(loss.rho / size**2)
    if isinstance(loss, Pure):
        return Pure(loss.epsilon / size)
    if loss.epsilon > 10**6:  # the largest epsilon for which `group` computes delta
        checks.fail("loss", "a loss with an epsilon of at most a million if it has a delta", loss)
    delta = conversions.group_delta_within(loss.epsilon, loss.delta, size)
    return Approx(loss.epsilon / size, delta)


def _grouped(loss: Loss, size: int) -> Loss | None:
    # Bounded range and cells also hold for a group of neighbors; categories do not.
    if isinstance(loss, Draws):
        cells = None if loss.cells is None else size * loss.cells
        return replace(loss, epsilon=size * loss.epsilon, cells=cells, categories=None)
    if isinstance(loss, Pure):
        return Pure(size * loss.epsilon)
    if isinstance(loss, ZCDP):
        return ZCDP(size**2 * loss.rho)
    delta = conversions.group_delta(loss.epsilon, loss.delta, size)
    rho = None if loss.rho is None else size**2 * loss.rho
    return None if delta is None else Approx(size * loss.epsilon, delta, rho)


def steps(relation: Neighbors, wanted: Neighbors, max_rows: int | None = None) -> int | None:
    """Return how many steps of one neighboring relation make one step of another, or None.

    Without `max_rows` both relations have the same privacy unit. With `max_rows`, `relation` is
    about rows, and `wanted` is about people with at most `max_rows` rows. None means that no number
    of steps is enough.

    Notes
    -----
    To replace a row is to remove one row and to add one: two steps. To add or remove a person is to
    add or remove up to `max_rows` rows. To replace a person takes twice as many steps. A loss under
    replace says nothing about datasets of different sizes, nor about people with different numbers
    of rows.
    """
    if max_rows is None and relation == wanted:
        return 1
    if relation == "replace":
        return None
    return (max_rows or 1) * (2 if wanted == "replace" else 1)


def convert(
    loss: Loss, relation: Neighbors, wanted: Neighbors, *, max_rows: int | None = None
) -> Loss | None:
    """Return the loss under another neighboring relation, or None if no loss can be derived.

    To replace a row is to remove one row and to add one. So under replace, a loss under add-remove
    becomes the loss for a group of two: 2 epsilon with delta (1 + e^epsilon), or 4 rho. A loss
    under replace says nothing about datasets of different sizes, so it cannot be converted to
    add-remove.

    Parameters
    ----------
    loss : Pure, Approx or ZCDP
    relation, wanted : {"replace", "add-remove"}
        The relation of the loss, and the relation of the result.
    max_rows : int, optional
        If given, a loss per row is converted to a loss per person, where a person has at most
        `max_rows` rows. This bound must be public, and hold for everybody who may be in the data. A
        person who is added or removed counts as a group of `max_rows` rows, and a person who is
        replaced as a group of twice as many rows. A loss per row under replace cannot be converted,
        because people may have different numbers of rows.

    Returns
    -------
    Pure, Approx, ZCDP or None
        None if there is no such loss, or if its delta would be 1 or more.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Notes
    -----
    Group privacy: see `group`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.privacy.convert(dp.privacy.Pure(1), "add-remove", "replace")
    Pure(epsilon=2)
    >>> dp.privacy.convert(dp.privacy.ZCDP(0.1), "add-remove", "add-remove", max_rows=5)
    ZCDP(rho=2.5)
    """
    check_loss(loss)
    for name, value in (("relation", relation), ("wanted", wanted)):
        checks.choice(name, value, ("replace", "add-remove"))
    if max_rows is not None:
        max_rows = checks.rows_each(max_rows)
    size = steps(relation, wanted, max_rows)
    if size is None:
        return None
    return loss if size == 1 else _grouped(loss, size)


def post_processing(loss: Loss) -> Loss:
    """Return the loss unchanged, because whatever is computed from an answer alone costs nothing.

    The computation may use fresh randomness and public numbers, and it may be chosen after the
    answer was seen. It must not use the data again, nor anything that was computed from them and
    not released. Call this function in a privacy account to show where post-processing was used.

    Parameters
    ----------
    loss : Pure, Approx or ZCDP

    Returns
    -------
    Pure, Approx or ZCDP
        `loss`.

    Raises
    ------
    ArgumentTypeError
        If `loss` is not a loss.

    Notes
    -----
    Dwork, McSherry, Nissim and Smith, TCC 2006.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.privacy.post_processing(dp.privacy.Pure(1))
    Pure(epsilon=1)
    """
    return check_loss(loss)


def advanced_composition(*losses: Pure | Approx, delta: Number) -> Approx:
    """Return a smaller total epsilon for many releases, at the cost of a further delta.

    Parameters
    ----------
    *losses : Pure or Approx
        The losses of the releases, under one neighboring relation. They must be fixed before the
        first release; the releases themselves may depend on earlier answers.
    delta : float, Fraction or Decimal
        A delta in addition to the deltas of the losses. Greater than 0, less than 1.

    Returns
    -------
    Approx
        Its epsilon is sqrt(2 ln(1/delta) sum epsilon_i**2) + sum epsilon_i tanh(epsilon_i / 2),
        rounded up at the 15th digit, or the sum of all epsilon_i if that is less. Its delta is
        delta + sum delta_i.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If there is no loss, if a loss is a ZCDP (add these up and convert the sum), or if the
        deltas add up to 1 or more.

    Notes
    -----
    If all losses are equal, `optimal_composition` is better. A conversion to rho and back
    (`Pure.to_zcdp`, `compose`, `ZCDP.to_approx`) is mostly better too. The theorem is by Dwork,
    Rothblum and Vadhan, FOCS 2010, with the tight mean of Kairouz, Oh and Viswanath, ICML 2015.
    Proof: whatever came before, the privacy loss of release i is at most epsilon_i in size, and its
    mean is at most epsilon_i tanh(epsilon_i / 2). So the Azuma-Hoeffding inequality bounds the sum.

    Examples
    --------
    >>> import dpfast as dp
    >>> each = [dp.privacy.Pure(0.1)] * 100
    >>> total = dp.privacy.advanced_composition(*each, delta=1e-6)
    >>> f"{float(total.epsilon):.4f}"
    '5.7561'
    """
    checked = _checked(losses)
    extra = _delta(delta)
    for loss in checked:
        if isinstance(loss, ZCDP):
            rule = "Pure or Approx: ZCDP losses add up, and the sum has to_approx(delta)"
            checks.fail_type("losses", rule, loss)
    in_all = extra + _sum(checked).delta
    if in_all >= 1:
        checks.fail("delta", "less than 1 in total with the deltas of all losses", delta)
    return Approx(conversions.advanced_epsilon([size_of(loss) for loss in checked], extra), in_all)
