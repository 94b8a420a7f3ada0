"""The kinds of privacy loss, and their conversions."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field, fields, replace
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from .._core import checks
from .._core.types import Number
from . import conversions, prices

#: Decimals with any exponent: float64 would round small amounts to 0.
_FEW = Context(prec=15, Emin=MIN_EMIN, Emax=MAX_EMAX)


def _positive(name: str, value: Any) -> Fraction:
    amount = checks.fraction(name, value)
    if amount <= 0:
        checks.fail(name, "a finite number greater than 0", value)
    return amount


def _delta(value: Any) -> Fraction:
    delta = _positive("delta", value)
    if delta >= 1:
        checks.fail("delta", "greater than 0 and less than 1", value)
    return delta


def shown(amount: Fraction) -> tuple[str, str]:
    """Return an amount as a decimal and as a ratio ("" for an exact decimal, "..." if too long)."""
    text = repr(float(amount)).removesuffix(".0")
    if Fraction(text) == amount:
        return text, ""
    if abs(float(amount)) < sys.float_info.min:
        near = _FEW.divide(Decimal(amount.numerator), Decimal(amount.denominator))
        text = str(near.normalize(_FEW)).lower()
    bits = amount.numerator.bit_length() + amount.denominator.bit_length()
    return text, str(amount) if bits < 700 else "..."


def _show(amount: Fraction) -> str:
    """Return an amount as text: a decimal if it is exact and short, else a ratio with its value."""
    text, ratio = shown(amount)
    if not ratio:
        return text
    return f"about {text}" if ratio == "..." else f"{ratio} (about {text})"


@dataclass(frozen=True, slots=True, repr=False)
class _Amounts:
    """The base class of losses: exact amounts, shown as decimals."""

    #: The names of the amounts.
    amounts: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        for name in self.amounts:
            value = getattr(self, name)
            exact = _delta(value) if name == "delta" else _positive(name, value)
            object.__setattr__(self, name, exact)

    def __repr__(self) -> str:
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.repr}
        said = (
            f"{name}={_show(value) if isinstance(value, Fraction) else value}"
            for name, value in values.items()
            if value is not None and value is not False
        )
        return f"{type(self).__name__}({', '.join(said)})"


def _float_up(amount: Fraction) -> float:
    """Return a fraction as a float, rounded up."""
    near = float(amount)
    return near if near >= amount else math.nextafter(near, math.inf)


@dataclass(frozen=True, slots=True, repr=False)
class Pure(_Amounts):
    """Pure epsilon-DP: on a neighbor no event is more than exp(epsilon) times as likely.

    ``float(loss)`` is the least float that is not below epsilon.

    Parameters
    ----------
    epsilon : int, float, Decimal or Fraction
        Greater than 0. A float means the decimal that Python prints for it: 0.1 is one tenth.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `epsilon` is not a number, or not above 0.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.privacy.Pure(0.1)
    Pure(epsilon=0.1)
    """

    epsilon: Fraction

    amounts: ClassVar[tuple[str, ...]] = ("epsilon",)
    #: The delta of this kind of loss.
    delta: ClassVar[Fraction] = Fraction(0)

    # Each field becomes a Fraction; this signature shows type checkers the types that are accepted.
    if TYPE_CHECKING:

        def __init__(self, epsilon: Number) -> None: ...

    def __float__(self) -> float:
        return _float_up(self.epsilon)

    def to_zcdp(self) -> ZCDP:
        """Convert to zCDP: rho = epsilon tanh(epsilon / 2), the least rho for any pure loss.

        The rho of `Draws` is at most as large, because more is known of its distribution.

        Returns
        -------
        ZCDP
            Rounded up at the 15th digit.

        Notes
        -----
        This rho is never more than the published epsilon**2 / 2 (Bun and Steinke, TCC 2016). Proof:
        every pair of distributions within this epsilon is a post-processing of randomized response
        with this epsilon. For randomized response the supremum of D_a / a over all orders a is its
        Kullback-Leibler divergence, epsilon tanh(epsilon / 2).

        Examples
        --------
        >>> import dpfast as dp
        >>> dp.privacy.Pure(1.0).to_zcdp()
        ZCDP(rho=0.46211715726001)
        """
        return ZCDP.of_pure(self)

    def to_approx(self, delta: Number) -> Approx:
        """Convert to (epsilon, delta), with the least epsilon at `delta`.

        Parameters
        ----------
        delta : float, Fraction or Decimal
            Greater than 0, less than 1.

        Returns
        -------
        Approx
            Its epsilon is ln(e**epsilon - delta (1 + e**epsilon)), rounded up at the 15th digit.
            This is tight, but hardly less than the pure epsilon: keep a pure loss if you can.

        Examples
        --------
        >>> import dpfast as dp
        >>> dp.privacy.Pure(1.0).to_approx(0.01)
        Approx(epsilon=0.986226788886893, delta=0.01)
        """
        amount = _delta(delta)
        return Approx(conversions.pure_epsilon(self.epsilon, amount), amount)


@dataclass(frozen=True, slots=True, repr=False)
class Draws(Pure):
    """The pure loss of draws from a known distribution, which costs less in rho.

    Each draw has a loss of e = epsilon / draws. The rho of a draw is the exact supremum of D_a / a
    over all orders a, rounded up (proofs in ``dpfast/privacy/prices.py``). At most one of
    `bounded_range`, `cells` and `categories` describes the distribution.

    Parameters
    ----------
    epsilon : int, float, Decimal or Fraction
        The loss of all draws together; greater than 0.
    draws : int
        The number of draws, at least 1. Each may depend on earlier answers.
    bounded_range : bool
        Whether the privacy loss of each draw lies in an interval of length e, as for the
        exponential mechanism. (For pure privacy in general the length is 2 e.) With x = (exp(e) -
        1) / e, such a draw is (ln x - 1 + 1 / x)-zCDP, which is at most ``e**2 / 8`` (Cesar and
        Rogers, ALT 2021).
    cells : int, optional
        Given if each draw is Laplace noise on a separate number. 0 means continuous noise, rounded
        to a grid or not: it is (e - 1 + exp(-e))-zCDP. Otherwise the number is an integer with the
        sensitivity `cells`, and the noise is an integer z with probability proportional to ``exp(-h
        |z|)``, where h = e / cells: it is (e - (1 - exp(-e)) h / sinh(h))-zCDP (Harrison and
        Manurangsi, FORC 2026).
    categories : int, optional
        Given if each draw is a randomized response with this many possible answers, as in
        `dpfast.response.kary`. For up to ``2 + 2 exp(e / 2)`` answers a draw is e (exp(e) - 1) /
        (exp(e) - 1 + categories)-zCDP. For more answers, a search finds the supremum.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument is not a number or is out of its range, or if more than one of
        `bounded_range`, `cells` and `categories` is given.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.privacy.Draws(1, draws=2, bounded_range=True).to_zcdp()
    ZCDP(rho=0.0622841845223118)
    >>> dp.privacy.Draws(1, cells=0).to_zcdp()
    ZCDP(rho=0.367879441171443)
    """

    draws: int = 1
    bounded_range: bool = False
    cells: int | None = None
    categories: int | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            epsilon: Number,
            draws: int = 1,
            bounded_range: bool = False,
            cells: int | None = None,
            categories: int | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        _Amounts.__post_init__(self)
        checks.whole("draws", self.draws, 1)
        checks.flag("bounded_range", self.bounded_range)
        if self.cells is not None:
            checks.whole("cells", self.cells)
        if self.categories is not None:
            checks.whole("categories", self.categories, 1)
        if self.bounded_range + (self.cells is not None) + (self.categories is not None) > 1:
            checks.fail(
                "draws", "of one kind: give one of bounded_range, cells, categories", repr(self)
            )


@dataclass(frozen=True, slots=True, repr=False)
class Approx(_Amounts):
    """Approximate differential privacy, (epsilon, delta).

    A loss with two amounts has no ``float(loss)``.

    Parameters
    ----------
    epsilon, delta : int, float, Decimal or Fraction
        ``epsilon > 0`` and ``0 < delta < 1``.
    rho : int, float, Decimal or Fraction, optional
        For a mechanism that is also rho-zCDP, for example because its noise is Gaussian: the rho
        that a budget in rho charges. By default no rho is known. There is none if delta is the
        probability of a failure. Two losses with the same epsilon and delta are equal, whatever
        their rho.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an amount is not a number, or is out of its range.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.privacy.Approx(1, 1e-9)
    Approx(epsilon=1, delta=1e-09)
    """

    epsilon: Fraction
    delta: Fraction
    rho: Any = field(default=None, repr=False, compare=False)

    amounts: ClassVar[tuple[str, ...]] = "epsilon", "delta"

    if TYPE_CHECKING:

        def __init__(self, epsilon: Number, delta: Number, rho: Number | None = None) -> None: ...

    def __post_init__(self) -> None:
        _Amounts.__post_init__(self)
        if self.rho is not None:
            object.__setattr__(self, "rho", _positive("rho", self.rho))

    def of_zcdp(self) -> Approx:
        """Return this loss with the largest rho that is within it, for a mechanism with that rho.

        Returns
        -------
        Approx

        Examples
        --------
        >>> import dpfast as dp
        >>> loss = dp.privacy.Approx(1, 1e-6).of_zcdp()
        >>> loss.rho == dp.privacy.ZCDP.largest(1, 1e-6).rho
        True
        """
        return replace(self, rho=ZCDP.largest(self.epsilon, self.delta).rho)


@dataclass(frozen=True, slots=True, repr=False)
class ZCDP(_Amounts):
    """Zero-concentrated differential privacy: the Renyi divergence of order a is at most rho a.

    ``float(loss)`` is the least float that is not below rho.

    Parameters
    ----------
    rho : int, float, Decimal or Fraction
        Greater than 0.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `rho` is not a number, or not above 0.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.privacy.ZCDP(0.5)
    ZCDP(rho=0.5)
    >>> round(float(dp.privacy.ZCDP.of_pure(dp.privacy.Pure(1)).rho), 4)
    0.4621
    """

    rho: Fraction

    amounts: ClassVar[tuple[str, ...]] = ("rho",)
    delta: ClassVar[Fraction] = Pure.delta

    if TYPE_CHECKING:

        def __init__(self, rho: Number) -> None: ...

    def __float__(self) -> float:
        return _float_up(self.rho)

    @classmethod
    def of_pure(cls, pure: Pure) -> ZCDP:
        """Convert a pure loss to zCDP, rounded up.

        For `Draws` the rho follows from their distribution. For other pure losses it is epsilon
        tanh(epsilon / 2), which is tight; see `Pure.to_zcdp`.

        Parameters
        ----------
        pure : Pure

        Returns
        -------
        ZCDP
        """
        if not isinstance(pure, Pure):
            checks.fail_type("pure", "a Pure loss", pure)
        if not isinstance(pure, Draws):
            return cls(conversions.rho_of_pure(pure.epsilon))
        of_draw = pure.epsilon / pure.draws
        if pure.bounded_range:
            rho = prices.rho_of_range(of_draw)
        elif pure.cells is not None:
            rho = prices.rho_of_laplace(of_draw, pure.cells)
        elif pure.categories is not None:
            rho = prices.rho_of_response(of_draw, pure.categories)
        else:
            rho = conversions.rho_of_pure(of_draw)
        return cls(pure.draws * rho)

    @classmethod
    def largest(cls, epsilon: Number, delta: Number) -> ZCDP:
        """Return the largest zero-concentrated loss that is within (epsilon, delta).

        Parameters
        ----------
        epsilon, delta : float, Fraction or Decimal
            ``epsilon >= 1e-300`` and ``0 < delta < 1``.

        Returns
        -------
        ZCDP
            Rounded down by at most a factor of 1 - 2**-40. So ``largest(epsilon,
            delta).to_approx(delta).epsilon <= epsilon``.

        Examples
        --------
        >>> import dpfast as dp
        >>> dp.privacy.ZCDP.largest(1.0, 1e-6)
        ZCDP(rho=0.0243559703595381)
        """
        target = Approx(epsilon, delta)
        if target.epsilon < conversions.LEAST_EPSILON:
            checks.fail("epsilon", "at least 1e-300", epsilon)
        return cls(conversions.rho_within(target.epsilon, target.delta))

    def to_approx(self, delta: Number) -> Approx:
        """Convert to (epsilon, delta), with the least epsilon that is known for `delta`.

        Parameters
        ----------
        delta : float, Fraction or Decimal
            Greater than 0, less than 1.

        Returns
        -------
        Approx
            Its epsilon is the minimum of ``a rho + ln(1 - 1/a) - ln(a delta) / (a - 1)`` over all
            orders a > 1, rounded up at the 15th digit. If the minimum is not above 0, epsilon is a
            tiny positive number.

        Notes
        -----
        Canonne, Kamath and Steinke, NeurIPS 2020 (Proposition 12 of arXiv:2004.00010v4). ``rho + 2
        sqrt(rho ln(1/delta))`` is larger. The best order solves ``rho (a - 1)**2 = ln(1 / (a
        delta))``. Cost: about a millisecond.

        Examples
        --------
        >>> import dpfast as dp
        >>> dp.privacy.ZCDP(0.5).to_approx(1e-6)
        Approx(epsilon=5.22153444453017, delta=1e-06)
        """
        amount = _delta(delta)
        return Approx(conversions.epsilon_of_rho(self.rho, amount), amount)

    def to_approx_delta(self, epsilon: Number) -> Approx:
        """Convert to (epsilon, delta), with the least delta that is known for `epsilon`.

        Parameters
        ----------
        epsilon : float, Fraction or Decimal
            Greater than 0.

        Returns
        -------
        Approx
            Its delta is the minimum of ``exp((a - 1)(a rho - epsilon)) / (a - 1) (1 - 1/a)**a``
            over all orders a > 1, rounded up at the 15th digit.

        Raises
        ------
        ArgumentError
            If epsilon is so far below rho that no delta below 1 is known.

        Notes
        -----
        Canonne, Kamath and Steinke, NeurIPS 2020 (Proposition 12 of arXiv:2004.00010v4).

        Examples
        --------
        >>> import dpfast as dp
        >>> dp.privacy.ZCDP(0.5).to_approx_delta(4.0)
        Approx(epsilon=4, delta=0.000195795416957722)
        """
        amount = _positive("epsilon", epsilon)
        delta = conversions.delta_of_rho(self.rho, amount)
        if delta is None:
            checks.fail("epsilon", f"larger for a delta below 1 at rho={_show(self.rho)}", epsilon)
        return Approx(amount, delta)


Loss = Pure | Approx | ZCDP


def loss(epsilon: Number | None = None, delta: Number = 0, rho: Number | None = None) -> Loss:
    """Return the loss for the keyword arguments `epsilon`, `delta` and `rho` of a release.

    Parameters
    ----------
    epsilon, delta, rho : float, Fraction or Decimal, optional
        `epsilon` alone, `epsilon` with `delta`, or `rho` alone.

    Returns
    -------
    Pure, Approx or ZCDP

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule, or neither `epsilon` nor `rho` is given.

    Notes
    -----
    A float means the decimal that Python prints for it: 0.1 is one tenth.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.privacy.loss(0.1, 1e-6)
    Approx(epsilon=0.1, delta=1e-06)
    """
    if epsilon is None and rho is None:
        checks.fail("epsilon", "given (or rho instead)", epsilon)
    if epsilon is not None and rho is not None:
        checks.fail("rho", "left out if epsilon is given: a call has one kind of loss", rho)
    amount = checks.fraction("delta", delta)
    if not 0 <= amount < 1:
        checks.fail("delta", "at least 0 and less than 1", delta)
    if rho is not None:
        if amount:
            checks.fail("delta", "left out if rho is given: a zCDP loss has no delta", delta)
        return ZCDP(rho)
    assert epsilon is not None
    return Approx(epsilon, amount) if amount else Pure(epsilon)
