"""diffprivlib's mechanisms that choose, and the names of those that dpfast has no sampler for."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from dpfast.extend import checks

from ....budget.budget import quote
from ....budget.release import release
from ....selection import api as _selection
from ....statistics import response as _response
from ..refusals import payable, real, refuse
from .base import DPMechanism


def _numbers(name: str, value: Any) -> list[float]:
    if not isinstance(value, list):
        checks.fail_type(name, "a list of numbers", value)
    return [checks.number(name, one) for one in value]


class _Choice(DPMechanism):
    """A release of dpfast for each value, all of which are prepared at the first call."""

    @abstractmethod
    def _release(self, value: Any) -> Any:
        """Return the release of a value, as a function, its data and its arguments."""

    def _values(self) -> Any:
        return (None,)

    @cached_property
    def _ready(self) -> dict[Any, Any]:
        asked = {"epsilon": self.epsilon, "rng": self._rng}
        calls = ((value, self._release(value)) for value in self._values())
        return {v: quote(f, None, (data,), asked | more) for v, (f, data, more) in calls}

    def _drawn(self, value: Any = None) -> int:
        mechanism, source = self._ready[value]
        return int(release(source, mechanism, budget=None, rng=self._rng))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made again."""
        return {name: own for name, own in vars(self).items() if name != "_ready"}


class _OfLabels(_Choice):
    """A label for a label."""

    _labels: Any = ()

    def _values(self) -> Any:
        return self._labels

    def randomise(self, value: Any) -> Any:
        """Return one of the labels."""
        if not isinstance(value, str):
            checks.fail_kind("value", "one of the labels", value)
        if value not in self._ready:
            checks.fail("value", "one of the labels", type(value).__name__)
        return self._labels[self._drawn(value)]


class Binary(_OfLabels):
    """Randomized response between two labels."""

    def __init__(self, *, epsilon: Any, value0: Any, value1: Any, random_state: Any = None) -> None:
        super().__init__(epsilon=epsilon, random_state=random_state)
        payable(epsilon)
        labels = [checks.text(f"value{i}", one) for i, one in enumerate((value0, value1))]
        if not all(labels) or labels[0] == labels[1]:
            checks.fail("value1", "two different labels, not empty", value1)
        self.value0, self.value1 = self._labels = labels

    def _release(self, value: Any) -> Any:
        return _response.binary, np.bool_(value == self.value1), {}


class Exponential(_Choice):
    """The exponential mechanism over a list of utilities."""

    _select: Any = staticmethod(_selection.exponential)

    def __init__(
        self,
        *,
        epsilon: Any,
        sensitivity: Any,
        utility: Any,
        monotonic: Any = False,
        candidates: Any = None,
        measure: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(epsilon=epsilon, random_state=random_state)
        payable(epsilon)
        if real("sensitivity", sensitivity) < 0:
            checks.fail("sensitivity", "at least 0", sensitivity)
        if not sensitivity:
            refuse("scores")
        self.sensitivity, self.monotonic = sensitivity, bool(monotonic)
        self.utility = _numbers("utility", utility)
        if not self.utility:
            checks.fail("utility", "a list of one number at least", utility)
        self.measure = None if measure is None else _numbers("measure", measure)
        if candidates is not None and not isinstance(candidates, list):
            checks.fail_type("candidates", "a list", candidates)
        self.candidates = candidates
        for name in ("candidates", "measure"):
            given = getattr(self, name)
            if given is not None and len(given) != len(self.utility):
                checks.fail(name, f"of {len(self.utility)} entries", f"{len(given)} of them")
        if self.measure is not None and not (min(self.measure) >= 0 < max(self.measure)):
            checks.fail("measure", "numbers of at least 0, not all 0", measure)

    def _release(self, value: Any) -> Any:
        asked = {"sensitivity": self.sensitivity, "monotone": self.monotonic}
        asked["neighbors"] = "replace"
        if self.measure is not None:
            with np.errstate(divide="ignore"):
                asked["base"] = np.log(self.measure)
        return self._select, self.utility, asked

    def randomise(self, value: Any = None) -> Any:
        """Return the index of a candidate, or the candidate."""
        if value is not None:
            checks.fail("value", "None: utilities are in the constructor", type(value).__name__)
        index = self._drawn()
        return index if self.candidates is None else self.candidates[index]


class PermuteAndFlip(Exponential):
    """Permute-and-flip over a list of utilities."""

    _select: Any = staticmethod(_selection.permute_and_flip)

    def __init__(
        self,
        *,
        epsilon: Any,
        sensitivity: Any,
        utility: Any,
        monotonic: Any = False,
        candidates: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            sensitivity=sensitivity,
            utility=utility,
            monotonic=monotonic,
            candidates=candidates,
            random_state=random_state,
        )


class ExponentialCategorical(_OfLabels):
    """A label near the true one, by the exponential mechanism over distances."""

    def __init__(self, *, epsilon: Any, utility_list: Any, random_state: Any = None) -> None:
        super().__init__(epsilon=epsilon, random_state=random_state)
        payable(epsilon)
        if not isinstance(utility_list, list):
            checks.fail_type("utility_list", "a list of (label, label, distance)", utility_list)
        self._distances: dict[tuple[str, str], float] = {}
        for first, second, distance in utility_list:
            if not isinstance(first, str) or not isinstance(second, str):
                checks.fail_type("utility_list", "labels that are text", (first, second))
            size = checks.number("utility_list", distance)
            if size < 0:
                checks.fail("utility_list", "distances of at least 0", distance)
            if first != second:
                self._distances[first, second] = self._distances[second, first] = size
        self.utility_list = [[a, b, d] for (a, b), d in self._distances.items() if a < b]
        self._labels = sorted({label for pair in self._distances for label in pair})
        pairs = [(a, b) for a in self._labels for b in self._labels if a != b]
        if any(pair not in self._distances for pair in pairs):
            checks.fail("utility_list", "the distance of each two labels", utility_list)

    def _release(self, value: Any) -> Any:
        scores = [-self._distances.get((value, other), 0.0) for other in self._labels]
        asked = {"sensitivity": max(self._distances.values()), "neighbors": "replace"}
        return _selection.exponential, scores, asked


class ExponentialHierarchical(ExponentialCategorical):
    """The same over the leaves of a tree, which are as far apart as their common node is high."""

    def __init__(self, *, epsilon: Any, hierarchy: Any, random_state: Any = None) -> None:
        if not isinstance(hierarchy, list):
            checks.fail_type("hierarchy", "nested lists of labels", hierarchy)
        self.hierarchy = hierarchy
        leaves = list(_leaves(hierarchy, ()))
        if len({len(path) for _, path in leaves}) > 1:
            checks.fail("hierarchy", "a tree whose leaves are equally deep", hierarchy)
        pairs = [
            [a, b, len(p) - next(i for i, (x, y) in enumerate(zip(p, q, strict=True)) if x != y)]
            for n, (a, p) in enumerate(leaves)
            for b, q in leaves[:n]
        ]
        super().__init__(epsilon=epsilon, utility_list=pairs, random_state=random_state)


def _leaves(node: list[Any], path: tuple[int, ...]) -> Any:
    for place, child in enumerate(node):
        if isinstance(child, str):
            yield child, (*path, place)
        elif isinstance(child, list):
            yield from _leaves(child, (*path, place))
        else:
            checks.fail_type("hierarchy", "nested lists of labels", child)


class _Missing(DPMechanism):
    """A mechanism that dpfast has no exact sampler for."""

    def __init__(self, **_: Any) -> None:
        self.randomise()

    def randomise(self, value: Any = None) -> NoReturn:
        """Refuse."""
        refuse("law", type(self).__name__)


class Bingham(_Missing):
    """Refused: components come from `models.PCA`."""


class LaplaceBoundedNoise(_Missing):
    """Refused: `LaplaceTruncated` bounds the answer."""


class Uniform(_Missing):
    """Refused: its loss is (0, delta)."""


class Vector(_Missing):
    """Refused: coefficients come from `models.LogisticRegression`."""
