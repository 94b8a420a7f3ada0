"""Exact sensitivities of statistics. None of these numbers is private: they scale noise, inside."""

from .quantile import local_median, local_quantile, smooth_median, smooth_quantile

__all__ = ["local_median", "local_quantile", "smooth_median", "smooth_quantile"]
