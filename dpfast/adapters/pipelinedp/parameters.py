"""Conversion of PipelineDP's parameters to statistics of `dpfast.group_by`, or refusals of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpfast import stat
from dpfast.extend import checks

#: Parameters that are refused, unless they have these values.
ABSENT = {
    "max_contributions": None,
    "min_sum_per_partition": None,
    "max_sum_per_partition": None,
    "custom_combiners": None,
    "pre_threshold": None,
    "contribution_bounds_already_enforced": False,
    "post_aggregation_thresholding": False,
    "output_noise_stddev": False,
    "perform_cross_partition_contribution_bounding": True,
}
#: The order of metrics in PipelineDP's answers, with a variance and without.
WITH_VARIANCE = ("VARIANCE", "COUNT", "SUM", "MEAN", "PRIVACY_ID_COUNT")
ORDER = ("MEAN", "COUNT", "SUM", "PRIVACY_ID_COUNT")


@dataclass(frozen=True)
class Names:
    """The column names of PipelineDP's data extractors: of ids, partition keys and values."""

    ids: str
    by: tuple[str, ...]
    value: str | None

    @property
    def is_single(self) -> bool:
        """Whether a partition key is one value and not a tuple."""
        return len(self.by) == 1


def names_of(extractors: Any) -> Names:
    """Return the column names of PipelineDP's data extractors: of ids, keys and values."""
    columns = []
    for name in ("privacy_id_extractor", "partition_extractor", "value_extractor"):
        if not hasattr(extractors, name):
            checks.fail_type("data_extractors", "pipeline_dp.DataExtractors", extractors)
        columns.append(getattr(extractors, name))
    ids, by, value = columns
    rule = "the name of a column"
    if not isinstance(ids, str):
        checks.fail_type("privacy_id_extractor", rule, ids)
    keys = (by,) if isinstance(by, str) else by
    if not isinstance(keys, (list, tuple)) or not all(isinstance(key, str) for key in keys):
        checks.fail_type("partition_extractor", f"{rule}, or a list of them", by)
    if value is not None and not isinstance(value, str):
        checks.fail_type("value_extractor", rule, value)
    return Names(ids, tuple(keys), value)


def refuse_unknown(params: Any, kind: str) -> None:
    """Refuse parameters of a wrong type, and options of PipelineDP that are not supported."""
    if type(params).__name__ != kind:
        checks.fail_type("params", f"pipeline_dp.{kind}", params)
    for name, only in ABSENT.items():
        value = getattr(params, name, only)
        if value is not only and value != only:
            checks.fail(name, f"left out ({only}) for a whole table", value)


def refuse_strategy(params: Any) -> None:
    """Refuse rules for private partitions that differ from `dpfast.select_keys`."""
    if params.partition_selection_strategy.name != "TRUNCATED_GEOMETRIC":
        rule = "TRUNCATED_GEOMETRIC for a whole table"
        checks.fail("partition_selection_strategy", rule, params.partition_selection_strategy)


def statistics_of(params: Any, value: str | None) -> dict[str, Any]:
    """Return the `dpfast.stat` statistics of PipelineDP's metrics, by field, in their order."""
    plain = {metric.name for metric in params.metrics if not metric.is_percentile}
    unknown = sorted(plain.difference(WITH_VARIANCE))
    if unknown or not params.metrics:
        checks.fail("metrics", f"some of {', '.join(WITH_VARIANCE)} and PERCENTILE", unknown)
    percentiles = [metric.parameter for metric in params.metrics if metric.is_percentile]
    bounds = params.min_value, params.max_value
    if value is None and (percentiles or plain & {"SUM", "MEAN", "VARIANCE"}):
        checks.fail_type("value_extractor", "the name of a column for these metrics", value)
    column = str(value)
    makers: dict[str, Any] = {
        "COUNT": stat.count,
        "PRIVACY_ID_COUNT": stat.count_distinct,
        "SUM": lambda: stat.sum(column, bounds=bounds, nan="drop"),
        "MEAN": lambda: stat.mean(column, bounds=bounds, nan="drop"),
        "VARIANCE": lambda: stat.variance(column, bounds=bounds, nan="drop"),
    }
    order = WITH_VARIANCE if "VARIANCE" in plain else ORDER
    statistics = {name.lower(): makers[name]() for name in order if name in plain}
    for percent in percentiles:
        statistics[percentile_name(percent)] = stat.percentile(
            column, percent, bounds=bounds, nan="drop"
        )
    return statistics


def percentile_name(percent: float) -> str:
    """Return PipelineDP's name of the field of a percentile, such as "percentile_50"."""
    whole = round(percent)
    return f"percentile_{whole if whole == percent else str(percent).replace('.', '_')}"
