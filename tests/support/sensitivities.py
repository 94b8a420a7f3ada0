"""The verbs of `dpfast.sensitivity` for a statistic that is made of its public arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dpfast as dp

Kind = Callable[..., dp.extend.KnownSensitivity]


def global_of(
    kind: Kind, rows: int | None = None, *, neighbors: Any = "add-remove", **public: Any
) -> float:
    return dp.sensitivity.global_(kind(**public), rows=rows, neighbors=neighbors)


def local_of(
    kind: Kind, data: Any, *, at_distance: int = 0, neighbors: Any = "add-remove", **public: Any
) -> float:
    statistic = kind(**public)
    return dp.sensitivity.local(statistic, data, at_distance=at_distance, neighbors=neighbors)


def smooth_of(
    kind: Kind, data: Any, *, beta: Any, neighbors: Any = "add-remove", **public: Any
) -> float:
    return dp.sensitivity.smooth(kind(**public), data, beta=beta, neighbors=neighbors)
