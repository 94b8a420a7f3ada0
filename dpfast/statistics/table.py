"""The table of all statistics: an entry with the name, class and command options of each.

From this table come the exports of `dpfast`, the names in jobs, the commands with their options,
the arguments of `dpfast.mechanism`, the methods of groups with `dpfast.stat`, the reference, the
types of the stubs (`tools/stubs.py`), and the tests that every release must pass. A new statistic
is a file and an entry here. `dpfast` reads this module first, so the module imports nothing of
`dpfast`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal, NamedTuple, cast


class Entry(NamedTuple):
    """A statistic's entry in the table: its names, its command options, and its kind of data.

    Attributes
    ----------
    word : str
        The name in jobs: the name of the public function, preceded by its module if that is not
        `dpfast`.
    home : str
        The module of `dpfast` that has the function and the class.
    statistic : str or None
        The class of the statistic; None if there is no class.
    what : str
        A description of the statistic that can follow "Release".
    options : str or None
        The arguments that are options of the command, each with its default if the usual default
        does not hold; None if there is no command.
    data : {"column", "columns", "words", "groups"}, default "column"
        The data of one answer; with "groups" the last column is the group of a row.
    by_group : bool, default True
        Whether `GroupBy` has a method of this name, and `dpfast.stat` has the class.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.STATISTICS["mean"].function is dp.mean
    True
    """

    word: str
    home: str
    statistic: str | None
    what: str
    options: str | None = None
    data: Literal["column", "columns", "words", "groups"] = "column"
    by_group: bool = True

    @property
    def name(self) -> str:
        """The name of the public function, without its module."""
        return self.word.rpartition(".")[2]

    @property
    def function(self) -> Callable[..., Any]:
        """The public function that releases the statistic."""
        return self._of_home(self.name)

    @property
    def kind(self) -> Any:
        """The class of the statistic; None if there is no class."""
        return None if self.statistic is None else self._of_home(self.statistic)

    def _of_home(self, name: str) -> Callable[..., Any]:
        return cast("Callable[..., Any]", getattr(import_module(f"dpfast.{self.home}"), name))


class Table(dict[str, Entry]):
    """All statistics by their names in jobs: each has a `function`, and most a class `kind`."""

    def __repr__(self) -> str:
        return f"Table({', '.join(self)})"


TOTALS, RANKS, TRIMMED = "statistics.totals.api", "statistics.quantiles.api", "statistics.trimmed"
#: The options of statistics with smooth sensitivity noise or a draw.
RANKED = "bounds granularity noise method nan"

#: The statistics: word, module, class, phrase after "Release", options, and fields that differ from
#: their defaults.
TABLE = (
    Entry("count", TOTALS, "Count", "the number of rows", "nan per_unit nonnegative"),
    Entry("count_nonzero", TOTALS, "CountNonzero", "the number of rows that are not 0",
          "nan=keep per_unit nonnegative"),
    Entry("count_distinct", "groups.distinct", "CountDistinct", "the number of distinct values", "",
          data="words"),
    Entry("kept_whole", "statistics.kept_whole", "KeptWhole",
          "the share of people none of whose rows contribution bounding drops", "", data="words",
          by_group=False),
    Entry("sum", TOTALS, "Sum", "the sum of a column", "bounds nan per_unit"),
    Entry("mean", TOTALS, "Mean", "the mean of a column", "bounds nan"),
    Entry("variance", TOTALS, "Variance", "the variance of a column", "bounds nan"),
    Entry("std", TOTALS, "Std", "the standard deviation of a column", "bounds nan"),
    Entry("proportion", "statistics.proportion", "Proportion",
          "the proportion of rows that are true, or equal a public value", "equal"),
    Entry("ratio", "statistics.ratio", "Ratio", "the ratio of the sums of two columns",
          "other bounds nan", data="columns"),
    Entry("correlation", "statistics.correlation", "Correlation",
          "the correlation of two columns", "other bounds nan", data="columns"),
    Entry("difference", "statistics.difference", "Difference",
          "the difference of a statistic between two groups",
          f"of by keys other equal q proportion {RANKED}", data="groups", by_group=False),
    Entry("median", RANKS, "Median", "the (lower) median of a column", f"interval {RANKED}"),
    Entry("quantile", RANKS, "Quantile", "a quantile of a column", f"q interval {RANKED}"),
    Entry("quantiles", RANKS, "Quantiles", "several quantiles of a column, for one loss",
          "qs interval bounds granularity method nan"),
    Entry("quantile_interval", "statistics.quantiles.interval", "QuantileInterval",
          "a quantile of a column, with an interval that contains it", f"q coverage {RANKED}"),
    Entry("percentile", RANKS, "Percentile", "a percentile of a column", f"q interval {RANKED}"),
    Entry("minimum", RANKS, "Minimum", "the approximate minimum of a column",
          f"interval {RANKED}"),
    Entry("maximum", RANKS, "Maximum", "the approximate maximum of a column",
          f"interval {RANKED}"),
    Entry("histogram", "statistics.histogram", "Histogram",
          "the number of rows in each public bin or category",
          "bins categories bounds nonnegative"),
    Entry("iqr", RANKS, "Iqr", "the interquartile range of a column", RANKED, by_group=False),
    Entry("trimmed_mean", TRIMMED, "TrimmedMean", "the mean of a column without its tails",
          "bounds proportion noise nan", by_group=False),
    Entry("winsorized_mean", TRIMMED, "WinsorizedMean", "the winsorized mean of a column",
          "bounds proportion noise nan", by_group=False),
    Entry("covariance", "statistics.covariance", "Covariance", "the covariances of columns",
          "columns bounds nan", data="columns", by_group=False),
    Entry("tree_histogram", "statistics.tree.api", "TreeHistogram",
          "a tree of counts, for the number of rows in any range", "bins categories bounds fan_out",
          by_group=False),
    Entry("marginals", "groups.marginals", "Marginals", "the marginals of a table", data="columns",
          by_group=False),
    Entry("workload", "statistics.workload.api", "Workload",
          "the answers to linear queries that are known in advance", by_group=False),
    Entry("bounds", "statistics.bounds", "OuterBounds",
          "bounds that contain nearly all values of a column", "q nan", by_group=False),
    Entry("describe", "statistics.describe", "Describe",
          "summary statistics of each column of a table", "columns", data="columns",
          by_group=False),
    Entry("sample_and_aggregate", "aggregate.api", None,
          "an aggregate of estimates on random blocks of rows", by_group=False),
    Entry("ptr.mean", "statistics.ptr", "Mean", "a mean by propose-test-release", by_group=False),
    Entry("ptr.quantile", "statistics.ptr", "Quantile", "a quantile by propose-test-release",
          by_group=False),
    Entry("ptr.iqr", "statistics.ptr", "Iqr", "an interquartile range by propose-test-release",
          by_group=False),
    Entry("ptr.release", "statistics.ptr", None, "a number by propose-test-release",
          by_group=False),
)  # fmt: skip

#: The statistics by word.
STATISTICS = Table({entry.word: entry for entry in TABLE})
