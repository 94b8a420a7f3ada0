"""Any Python callable as an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._blocks.store import Window
from ..sources.table import RowSource
from ._base import Bound, ByBlock, Job

__all__ = ["Called"]


@dataclass(frozen=True)
class Called:
    """A callable ``f(block) -> float or 1-D array``."""

    function: Callable[[Any], Any]
    executor: str = "auto"
    time_limit: float | None = None

    def bind(self, source: RowSource, width: int | None) -> Bound:
        return _Calls(self.function, width)


class _Calls(ByBlock):
    def __init__(self, function: Callable[[Any], Any], width: int | None) -> None:
        self.function = function
        self.width = width
        self.d = 1 if width is None else width
        self.name = getattr(function, "__name__", type(function).__name__)

    def fill(self, window: Window, out: NDArray[np.float64], job: Job) -> None:
        shape = () if self.width is None else (self.width,)
        for b in range(len(out)):
            rows = window.rows[window.offsets[b] : window.offsets[b + 1]]
            if not len(rows):
                continue
            try:
                value = np.asarray(self.function(rows.copy()))
                if value.shape == shape and value.dtype.kind in "biuf":
                    out[b] = value
            except Exception:
                continue
