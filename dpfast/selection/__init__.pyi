"""Made by tools/stubs.py."""

from collections.abc import Sequence
from typing import Any, Literal, overload

from numpy.typing import ArrayLike

from dpfast._core.types import Floats, Neighbors, Number, Size
from dpfast.budget.budget import Budget
from dpfast.rng import Generator
from dpfast.selection.api import Function, Indices, Scores
from dpfast.selection.api import top_k as top_k
from dpfast.selection.best_of import best_of as best_of
from dpfast.selection.utility import Mechanism
from dpfast.selection.utility import probabilities as probabilities
from dpfast.selection.utility import utility_bound as utility_bound

__all__ = [
    "best_of",
    "expected_error",
    "exponential",
    "noisy_max",
    "permute_and_flip",
    "probabilities",
    "top_k",
    "utility_bound",
]

@overload
def expected_error(
    scores: Sequence[Number],
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    base: ArrayLike | None = None,
    axis: int = -1,
    mechanism: Mechanism = "exponential",
) -> float: ...
@overload
def expected_error(
    scores: Scores,
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    base: ArrayLike | None = None,
    axis: int = -1,
    mechanism: Mechanism = "exponential",
) -> float | Floats: ...
@overload
def exponential(
    scores: Function | Sequence[Number],
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    base: ArrayLike | None = None,
    size: None = None,
    axis: int = -1,
    neighbors: Neighbors | None = None,
    data: Any = None,
    candidates: int | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> int: ...
@overload
def exponential(
    scores: Function | Scores,
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    base: ArrayLike | None = None,
    size: int | tuple[int, ...],
    axis: int = -1,
    neighbors: Neighbors | None = None,
    data: Any = None,
    candidates: int | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Indices: ...
@overload
def exponential(
    scores: Function | Scores,
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    base: ArrayLike | None = None,
    size: Size = None,
    axis: int = -1,
    neighbors: Neighbors | None = None,
    data: Any = None,
    candidates: int | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> int | Indices: ...
@overload
def noisy_max(
    scores: Sequence[Number],
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    size: None = None,
    axis: int = -1,
    neighbors: Neighbors | None = None,
    noise: Literal["auto", "exponential", "gumbel"] = "auto",
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> int: ...
@overload
def noisy_max(
    scores: Scores,
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    size: int | tuple[int, ...],
    axis: int = -1,
    neighbors: Neighbors | None = None,
    noise: Literal["auto", "exponential", "gumbel"] = "auto",
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Indices: ...
@overload
def noisy_max(
    scores: Scores,
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    size: Size = None,
    axis: int = -1,
    neighbors: Neighbors | None = None,
    noise: Literal["auto", "exponential", "gumbel"] = "auto",
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> int | Indices: ...
@overload
def permute_and_flip(
    scores: Sequence[Number],
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    size: None = None,
    axis: int = -1,
    neighbors: Neighbors | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> int: ...
@overload
def permute_and_flip(
    scores: Scores,
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    size: int | tuple[int, ...],
    axis: int = -1,
    neighbors: Neighbors | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Indices: ...
@overload
def permute_and_flip(
    scores: Scores,
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    size: Size = None,
    axis: int = -1,
    neighbors: Neighbors | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> int | Indices: ...
