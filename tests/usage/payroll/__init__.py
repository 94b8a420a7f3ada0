"""Another package: a statistic, a family of noise and a source, by public names of dpfast."""

from __future__ import annotations

from .excess import Excess, excess
from .payslips import Payslips
from .uniform import UniformNoise, uniform

__all__ = ["Excess", "Payslips", "UniformNoise", "excess", "uniform"]
