"""diffprivlib's mechanisms: each call answers one number, label or choice.

`randomise` is a release of dpfast. As in diffprivlib, no accountant pays for it, and the
constructor states its loss. The arguments of a mechanism cannot be changed.
"""

from __future__ import annotations

import copy
import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, NoReturn, dataclass_transform

import numpy as np

import dpfast as dp
from dpfast.extend import checks

from ..scaled_noise import finite
from .refusals import NoFormulaError, generator_of, loss_amounts, payable, real, refuse

__all__ = [
    "Binary", "Bingham", "DPMachine", "DPMechanism", "Exponential", "ExponentialCategorical",
    "ExponentialHierarchical", "Gaussian", "GaussianAnalytic", "GaussianDiscrete", "Geometric",
    "GeometricFolded", "GeometricTruncated", "Laplace", "LaplaceBoundedDomain",
    "LaplaceBoundedNoise", "LaplaceFolded", "LaplaceTruncated", "PermuteAndFlip", "Snapping",
    "Staircase", "TruncationAndFoldingMixin", "Uniform", "Vector",
]  # fmt: skip

_ENDLESS = float("inf")


class DPMachine(ABC):
    """The base of diffprivlib's mechanisms, which randomise a value."""

    @abstractmethod
    def randomise(self, value: Any) -> Any:
        """Return a private value made from `value` by the mechanism."""

    def copy(self) -> Any:
        """Return a copy of the mechanism."""
        return copy.copy(self)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
@dataclass(kw_only=True, eq=False, repr=False)
class DPMechanism(DPMachine):
    """A mechanism with a loss; its annotated fields are the constructor's arguments, by name.

    Parameters
    ----------
    epsilon, delta : float
    random_state : None
    """

    epsilon: Any
    delta: Any = 0.0
    random_state: Any = None

    def __init_subclass__(cls) -> None:
        dataclass(kw_only=True, eq=False, repr=False)(cls)

    def __post_init__(self) -> None:
        loss_amounts(self.epsilon, self.delta)
        self._rng = generator_of(self.random_state)
        self._check()

    def _check(self) -> None:
        """Check the arguments that this mechanism adds to epsilon, delta and random_state."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self) and not name.startswith("_"):
            refuse("fixed", name)  # the noise is already calibrated and would not change
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        names = sorted(inspect.signature(type(self)).parameters, key="random_state".__eq__)
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__module__}.{type(self).__name__}({shown})"

    def bias(self, value: Any) -> Any:
        """Return the bias of the answers for a value, or raise `NoFormulaError`."""
        raise NoFormulaError

    def variance(self, value: Any) -> Any:
        """Return the variance of the answers for a value, or raise `NoFormulaError`."""
        raise NoFormulaError

    def mse(self, value: Any) -> Any:
        """Return the mean squared error of the answers for a value, or raise `NoFormulaError`."""
        return self.variance(value) + self.bias(value) ** 2


class TruncationAndFoldingMixin:
    """Lower and upper limits of a mechanism's answers."""

    lower: Any
    upper: Any

    def __init__(self, *, lower: Any, upper: Any) -> None:
        if not isinstance(self, DPMechanism):
            checks.fail_type("self", "a DPMechanism", self)
        self.lower, self.upper = lower, upper
        self._check_limits()

    def _check_limits(self) -> None:
        if real("lower", self.lower) > real("upper", self.upper):
            checks.fail("lower", "at most upper", self.lower)


# ---- Noise on a number. ----


class _Additive(DPMechanism):
    """Additive noise on a number of a stated sensitivity."""

    sensitivity: Any

    _whole: ClassVar[bool] = False
    _noise: ClassVar[str] = "auto"

    def _check(self) -> None:
        size = real("sensitivity", self.sensitivity)
        if self._whole and not isinstance(self.sensitivity, Integral):
            checks.fail_type("sensitivity", "an integer", self.sensitivity)
        if size < 0:
            checks.fail("sensitivity", "at least 0", self.sensitivity)
        payable(self.epsilon, self.delta)
        self._noisy = self._mechanism() if size else None  # a number that no row changes is public

    def _mechanism(self) -> Any:
        return self._prepared(dp.additive_release, noise=self._noise, whole=self._whole)

    def _prepared(self, release: Any, **more: Any) -> Any:
        loss = {"epsilon": self.epsilon, "delta": self.delta, "neighbors": "replace"}
        prepared = dp.extend.prepare(release, 0, sensitivity=self.sensitivity, **loss, **more)
        return prepared.mechanism

    def randomise(self, value: Any) -> Any:
        """Return a number with noise, within the limits of the mechanism if it has any."""
        if not isinstance(value, Integral if self._whole else (float, Real)):
            checks.fail_kind("value", "an integer" if self._whole else "a number", value)
        if not self._whole:
            value = finite(value)
        if self._noisy is not None:
            value = dp.extend.release(value, self._noisy, read=False, rng=self._rng)
        return self._limited(value)

    def _limited(self, answer: Any) -> Any:
        return answer

    def bias(self, value: Any) -> Any:
        """Return the bias of the answers for a value, which is 0: the noise is symmetric."""
        return 0.0

    def variance(self, value: Any) -> Any:
        """Return the variance of the noise."""
        return 0.0 if self._noisy is None else self._noisy.deviation**2


class Laplace(_Additive):
    """Exact Laplace noise on a grid; a delta may make the noise smaller.

    Examples
    --------
    >>> from dpfast.adapters.diffprivlib.mechanisms import Laplace
    >>> 60 < Laplace(epsilon=1, sensitivity=1).randomise(100) < 140
    True
    """

    _noise = "laplace"


class Staircase(_Additive):
    """Staircase noise, with the best step for the epsilon; `gamma` is checked and has no effect."""

    delta: Any = field(init=False, default_factory=float)  # always 0
    gamma: Any = None

    _noise = "staircase"

    def _check(self) -> None:
        if self.gamma is not None and not 0 <= real("gamma", self.gamma) <= 1:
            checks.fail("gamma", "between 0 and 1", self.gamma)
        super()._check()


class _Gaussian(_Additive):
    """Gaussian noise, which needs both an epsilon and a delta."""

    delta: Any = field()

    _noise = "gaussian"

    def _check(self) -> None:
        if not (self.epsilon and self.delta):
            checks.fail("delta", "greater than 0, like epsilon", self.delta)
        super()._check()


class Gaussian(_Gaussian):
    """The least Gaussian noise for (epsilon, delta), for any epsilon."""


class GaussianAnalytic(Gaussian):
    """Gaussian noise: another name of `Gaussian`."""


class GaussianDiscrete(_Gaussian):
    """Gaussian noise on integers."""

    sensitivity: Any = 1

    _whole = True


class Geometric(_Additive):
    """Discrete Laplace noise on integers."""

    delta: Any = field(init=False, default_factory=float)  # always 0
    sensitivity: Any = 1

    _whole, _noise = True, "laplace"


# ---- Noise on a number, and limits. ----


class _Limited(_Additive, TruncationAndFoldingMixin):
    """A number with Laplace noise, clamped to the limits."""

    lower: Any
    upper: Any

    _noise = "laplace"

    def _check(self) -> None:
        self._check_limits()
        super()._check()

    def _limited(self, answer: Any) -> Any:
        return min(max(answer, self.lower), self.upper)

    def _finite(self) -> None:
        if not abs(self.lower) < _ENDLESS > abs(self.upper):
            refuse("range")

    def bias(self, value: Any) -> NoReturn:
        """Raise `NoFormulaError`: there is none for the bias and variance of limited answers."""
        raise NoFormulaError

    variance = bias


class LaplaceTruncated(_Limited):
    """A number with Laplace noise, clamped to the limits."""


class LaplaceFolded(LaplaceTruncated):
    """A number with Laplace noise, reflected at the limits."""

    _method: ClassVar[str] = "folded"

    def _mechanism(self) -> Any:
        self._finite()
        limits = (self.lower, self.upper)
        return self._prepared(dp.bounded_release, bounds=limits, method=self._method)


class LaplaceBoundedDomain(LaplaceFolded):
    """A number with Laplace noise that is drawn again until the answer is within the limits."""

    _method = "domain"

    def effective_epsilon(self) -> Any:
        """Return the epsilon if delta is 0, else None; the noise is calibrated to this epsilon."""
        return None if self.delta else self.epsilon


class Snapping(LaplaceTruncated):
    """A number with exact Laplace noise on a grid, clamped to the limits; no snapping is needed."""

    delta: Any = field(init=False, default_factory=float)  # always 0

    def effective_epsilon(self) -> Any:
        """Return the epsilon: snapping costs nothing here."""
        return self.epsilon


class GeometricTruncated(_Limited):
    """An integer with discrete Laplace noise, clamped to the limits."""

    delta: Any = field(init=False, default_factory=float)  # always 0
    sensitivity: Any = 1

    _whole = True

    def _check_limits(self) -> None:
        super()._check_limits()
        limits = self.lower, self.upper
        if not all(isinstance(end, Integral) or abs(end) == _ENDLESS for end in limits):
            checks.fail_type("bounds", "integers, or infinite", limits)


class GeometricFolded(GeometricTruncated):
    """An integer with discrete Laplace noise, reflected at limits that are integers or halves."""

    def _check_limits(self) -> None:
        TruncationAndFoldingMixin._check_limits(self)
        self._finite()
        if any(2 * end != int(2 * end) for end in (self.lower, self.upper)):
            checks.fail("bounds", "integers or half integers", (self.lower, self.upper))

    def _limited(self, answer: Any) -> Any:
        if self.lower == self.upper:
            return self.lower
        first, size = int(2 * self.lower), int(2 * (self.upper - self.lower))
        away = (2 * answer - first) % (2 * size)
        return (first + min(away, 2 * size - away)) // 2


# ---- Choices. ----


class _Choice(DPMechanism):
    """A choice among candidates: a release for each possible value, prepared at the first call."""

    delta: Any = field(init=False, default_factory=float)  # 0

    @abstractmethod
    def _release(self, value: Any) -> Any:
        """Return a release function, its data and its arguments, for a value."""

    def _values(self) -> Any:
        return (None,)

    def _check(self) -> None:
        payable(self.epsilon)

    @cached_property
    def _ready(self) -> dict[Any, Any]:
        calls = ((value, self._release(value)) for value in self._values())
        return {
            value: dp.extend.prepare(release, data, epsilon=self.epsilon, rng=self._rng, **more)
            for value, (release, data, more) in calls
        }

    def _drawn(self, value: Any = None) -> int:
        return int(self._ready[value].run())

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, without the prepared releases, which are made again."""
        return {name: value for name, value in vars(self).items() if name != "_ready"}


class _OfLabels(_Choice):
    """A mechanism that answers a label with one of the labels, at random."""

    _labels: Any = field(default=(), init=False)

    def _values(self) -> Any:
        return self._labels

    def randomise(self, value: Any) -> Any:
        """Return one of the labels, drawn for the label `value`."""
        if not isinstance(value, str):
            checks.fail_kind("value", "one of the labels", value)
        if value not in self._ready:
            checks.fail("value", "one of the labels", type(value).__name__)
        return self._labels[self._drawn(value)]


class Binary(_OfLabels):
    """Randomized response between two labels."""

    value0: Any
    value1: Any

    def _check(self) -> None:
        super()._check()
        self._labels = [self.value0, self.value1]
        for i, label in enumerate(self._labels):
            if not isinstance(label, str):
                checks.fail_type(f"value{i}", "text", label)
        if not all(self._labels) or self.value0 == self.value1:
            checks.fail("value1 and value2", "two different labels, not empty", self.value1)

    def _release(self, value: Any) -> Any:
        return dp.response.binary, np.bool_(value == self.value1), {}


class Exponential(_Choice):
    """The exponential mechanism over a list of utilities."""

    sensitivity: Any
    utility: Any
    monotonic: Any = False
    candidates: Any = None
    measure: Any = None

    _select: ClassVar[Any] = staticmethod(dp.selection.exponential)

    def _check(self) -> None:
        super()._check()
        if real("sensitivity", self.sensitivity) < 0:
            checks.fail("sensitivity", "at least 0", self.sensitivity)
        if not self.sensitivity:
            refuse("scores")
        if not _numbers("utility", self.utility):
            checks.fail("utility", "a list of at least one number", self.utility)
        weights = None if self.measure is None else _numbers("measure", self.measure)
        if self.candidates is not None and not isinstance(self.candidates, list):
            checks.fail_type("candidates", "a list", self.candidates)
        for name, entries in (("candidates", self.candidates), ("measure", weights)):
            if entries is not None and len(entries) != len(self.utility):
                checks.fail(
                    name, f"a list of {len(self.utility)} entries", f"{len(entries)} entries"
                )
        if weights is not None and not (min(weights) >= 0 < max(weights)):
            checks.fail("measure", "numbers of at least 0, not all 0", self.measure)

    def _release(self, value: Any) -> Any:
        arguments = {"sensitivity": self.sensitivity, "monotone": bool(self.monotonic)}
        arguments["neighbors"] = "replace"
        if self.measure is not None:
            with np.errstate(divide="ignore"):
                arguments["base"] = np.log(np.array(self.measure, np.float64))
        return self._select, np.array(self.utility, np.float64), arguments

    def randomise(self, value: Any = None) -> Any:
        """Return a drawn candidate, or the index of a drawn utility if there are no candidates."""
        if value is not None:
            checks.fail("value", "None (the constructor has the utilities)", type(value).__name__)
        index = self._drawn()
        return index if self.candidates is None else self.candidates[index]


class PermuteAndFlip(Exponential):
    """Permute-and-flip over a list of utilities."""

    measure: Any = field(init=False, default=None)

    _select = staticmethod(dp.selection.permute_and_flip)


def _numbers(name: str, value: Any) -> list[float]:
    if not isinstance(value, list):
        checks.fail_type(name, "a list of numbers", value)
    return [checks.number(name, entry) for entry in value]


class ExponentialCategorical(_OfLabels):
    """A random label near the true one, by the exponential mechanism over distances."""

    utility_list: Any

    def _check(self) -> None:
        super()._check()
        self._measure(self.utility_list)

    def _measure(self, distances: Any) -> None:
        """Check the distances of all pairs of labels, and store them, for both orders of a pair."""
        if not isinstance(distances, list):
            checks.fail_type("utility_list", "a list of (label, label, distance)", distances)
        self._distances: dict[tuple[str, str], float] = {}
        for first, second, distance in distances:
            if not isinstance(first, str) or not isinstance(second, str):
                checks.fail_type("utility_list", "labels that are text", (first, second))
            size = checks.number("utility_list", distance)
            if size < 0:
                checks.fail("utility_list", "distances of at least 0", distance)
            if first != second:
                self._distances[first, second] = self._distances[second, first] = size
        self._labels = sorted({label for pair in self._distances for label in pair})
        pairs = [(a, b) for a in self._labels for b in self._labels if a != b]
        if any(pair not in self._distances for pair in pairs):
            checks.fail("utility_list", "a distance for each pair of labels", distances)
        shown = [[a, b, d] for (a, b), d in self._distances.items() if a < b]
        vars(self)["utility_list"] = shown

    def _release(self, value: Any) -> Any:
        scores = [-self._distances.get((value, other), 0.0) for other in self._labels]
        arguments = {"sensitivity": max(self._distances.values()), "neighbors": "replace"}
        return dp.selection.exponential, scores, arguments


class ExponentialHierarchical(ExponentialCategorical):
    """A random leaf near the true one; the distance is the height of the lowest common node."""

    utility_list: Any = field(init=False)
    hierarchy: Any

    def _check(self) -> None:
        if not isinstance(self.hierarchy, list):
            checks.fail_type("hierarchy", "nested lists of labels", self.hierarchy)
        leaves = list(_leaves(self.hierarchy, ()))
        if len({len(path) for _, path in leaves}) > 1:
            checks.fail("hierarchy", "a tree whose leaves are equally deep", self.hierarchy)
        payable(self.epsilon)
        self._measure(
            [[a, b, _height(p, q)] for n, (a, p) in enumerate(leaves) for b, q in leaves[:n]]
        )


def _height(path: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Return the height of the lowest common node of two leaves, given by their paths."""
    same = (a == b for a, b in zip(path, other, strict=True))
    return len(path) - next(depth for depth, is_same in enumerate(same) if not is_same)


def _leaves(node: list[Any], path: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    for child_index, child in enumerate(node):
        if isinstance(child, str):
            yield child, (*path, child_index)
        elif isinstance(child, list):
            yield from _leaves(child, (*path, child_index))
        else:
            checks.fail_type("hierarchy", "nested lists of labels", child)


# ---- What dpfast has no exact sampler for. ----


class _Missing(DPMechanism):
    """A mechanism of diffprivlib that is refused, since dpfast has no exact sampler for it."""

    def __new__(cls, **_: Any) -> Any:
        """Refuse to make the mechanism."""
        refuse("sampler", cls.__name__)


class Bingham(_Missing):
    """Refused: components come from `models.PCA`."""


class LaplaceBoundedNoise(_Missing):
    """Refused: `LaplaceTruncated` bounds the answer."""


class Uniform(_Missing):
    """Refused: its loss is (0, delta)."""


class Vector(_Missing):
    """Refused: coefficients come from `models.LogisticRegression`."""
