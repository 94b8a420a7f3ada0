"""PipelineDP over dpfast: PipelineDP's mechanisms, and its aggregations for whole tables.

    import pipeline_dp
    from dpfast.adapters.pipelinedp import installed

    with installed():
        result = pipeline_dp.DPEngine(accountant, backend).aggregate(rows, params, extractors)
        accountant.compute_budgets()
        result = dict(result)  # here noise is drawn, so inside of the block

`installed` replaces the functions of PyDP that PipelineDP calls: Laplace and Gaussian noise on
numbers and on vectors, percentiles, partition selection and the exponential mechanism.
`ColumnarEngine` takes PipelineDP's parameters and accountant, and computes an aggregation of a
table by `dpfast.group_by`.

PipelineDP's accountant pays. Neighbors are tables that differ in all rows of one privacy id, which
are added or removed.
"""

from .columnar import ColumnarEngine, Partitions
from .install import installed
from .mechanisms import GaussianMechanism, LaplaceMechanism
from .partitions import PartitionSelection, create_partition_strategy

__all__ = [
    "ColumnarEngine", "GaussianMechanism", "LaplaceMechanism", "PartitionSelection",
    "Partitions", "create_partition_strategy", "installed",
]  # fmt: skip
