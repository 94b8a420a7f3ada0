"""Exact global, local and smooth sensitivities of statistics. NOT PRIVATE: do not publish them."""

from .extremes import (
    global_maximum,
    global_minimum,
    local_maximum,
    local_minimum,
    smooth_maximum,
    smooth_minimum,
)
from .generic import smooth
from .iqr import global_iqr, local_iqr, smooth_iqr
from .mean import global_mean, local_mean, smooth_mean
from .quantile import (
    global_median,
    global_quantile,
    local_median,
    local_quantile,
    smooth_median,
    smooth_quantile,
)
from .tree import global_tree_cost, local_tree_cost, smooth_tree_cost
from .triangles import global_triangles, local_triangles, smooth_triangles
from .trimmed import (
    global_trimmed_mean,
    global_winsorized_mean,
    local_trimmed_mean,
    local_winsorized_mean,
    smooth_trimmed_mean,
    smooth_winsorized_mean,
)
from .variance import global_variance, local_variance, smooth_variance

__all__ = [
    "global_iqr",
    "global_maximum",
    "global_mean",
    "global_median",
    "global_minimum",
    "global_quantile",
    "global_tree_cost",
    "global_triangles",
    "global_trimmed_mean",
    "global_variance",
    "global_winsorized_mean",
    "local_iqr",
    "local_maximum",
    "local_mean",
    "local_median",
    "local_minimum",
    "local_quantile",
    "local_tree_cost",
    "local_triangles",
    "local_trimmed_mean",
    "local_variance",
    "local_winsorized_mean",
    "smooth",
    "smooth_iqr",
    "smooth_maximum",
    "smooth_mean",
    "smooth_median",
    "smooth_minimum",
    "smooth_quantile",
    "smooth_tree_cost",
    "smooth_triangles",
    "smooth_trimmed_mean",
    "smooth_variance",
    "smooth_winsorized_mean",
]
