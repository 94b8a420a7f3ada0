"""What mechanisms share."""

from __future__ import annotations

import copy
import inspect
from abc import ABC, abstractmethod
from typing import Any

from dpfast.extend import checks

from ..refusals import Untold, generator_of, loss_amounts, real, refuse


class DPMachine(ABC):
    """What randomises a value."""

    @abstractmethod
    def randomise(self, value: Any) -> Any:
        """Return a private value."""

    def copy(self) -> Any:
        """Return a copy."""
        return copy.copy(self)


class DPMechanism(DPMachine):
    """A machine with a loss.

    Parameters
    ----------
    epsilon, delta : float
    random_state : None
    """

    def __init__(self, *, epsilon: Any, delta: Any = 0.0, random_state: Any = None) -> None:
        loss_amounts(epsilon, delta)
        self.epsilon, self.delta, self.random_state = epsilon, delta, random_state
        self._rng = generator_of(random_state)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self) and not name.startswith("_"):
            refuse("fixed", name)  # the noise would stay what it is
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        names = inspect.signature(type(self)).parameters
        shown = ", ".join(f"{n}={getattr(self, n, None)!r}" for n in names)
        return f"{type(self).__module__}.{type(self).__name__}({shown})"

    def bias(self, value: Any) -> Any:
        """Return how far answers are off on average, or raise `Untold`."""
        raise Untold

    def variance(self, value: Any) -> Any:
        """Return the variance of answers, or raise `Untold`."""
        raise Untold

    def mse(self, value: Any) -> Any:
        """Return the mean squared error, or raise `Untold`."""
        return self.variance(value) + self.bias(value) ** 2


class TruncationAndFoldingMixin:
    """Limits of the answers."""

    def __init__(self, *, lower: Any, upper: Any) -> None:
        if not isinstance(self, DPMechanism):
            checks.fail_type("self", "a DPMechanism", self)
        if real("lower", lower) > real("upper", upper):
            checks.fail("lower", "at most upper", lower)
        self.lower, self.upper = lower, upper
