"""PipelineDP's aggregations of a whole table, computed by `dpfast.group_by`."""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from threading import Lock
from typing import Any

import dpfast as dp
from dpfast.errors import BudgetError
from dpfast.extend import checks, extra
from dpfast.rng import Generator, check

from .parameters import Names, names_of, refuse_strategy, refuse_unknown, statistics_of


def once(ready: Callable[[], Any], compute: Callable[[Any], list[Any]]) -> Callable[[], list[Any]]:
    """Return a function that runs a paid release at most once, and then returns its answer."""
    released: list[Any] | None = None
    begun, process, lock = False, os.getpid(), Lock()

    def release() -> list[Any]:
        nonlocal released, begun
        with lock:
            if released is None:
                loss = ready()
                if begun or os.getpid() != process:
                    raise BudgetError(
                        "this aggregation was paid for once: it has failed before, or this process "
                        "is a fork"
                    )
                begun = True
                released = compute(loss)
            return released

    return release


class Partitions:
    """The lazy result of an aggregation: pairs of a partition key and its metrics, or keys alone.

    The result is computed when it is first read, after ``compute_budgets()``. It is computed once:
    after a failure, and in a forked process, reading it raises an error.
    """

    def __init__(self, ready: Callable[[], Any], compute: Callable[[Any], list[Any]]) -> None:
        self._release = once(ready, compute)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._release())


class ColumnarEngine:
    """PipelineDP's engine for whole tables: each call is one release by `dpfast.group_by`.

    Privacy
    -------
    Neighbors are tables that differ in all rows of one privacy id, which are added or removed. An
    aggregation is one release of `dpfast.group_by` with `max_groups` and `max_rows`. The release is
    (epsilon, delta)-DP for the loss that the accountant assigns to it (McSherry, SIGMOD 2009, and
    the proofs in ``dpfast/groups/step.py``).

    Parameters
    ----------
    budget_accountant : pipeline_dp.NaiveBudgetAccountant
    budget : Budget, optional
        A budget of dpfast that pays, too.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Raises
    ------
    ArgumentTypeError
        If the accountant, the budget or the generator is of another type.
    MissingExtraError
        If PipelineDP is not installed.

    Examples
    --------
    >>> from dpfast.adapters.pipelinedp import ColumnarEngine
    >>> result = ColumnarEngine(own).aggregate(table, params, extractors)  # doctest: +SKIP
    >>> own.compute_budgets()  # doctest: +SKIP
    """

    def __init__(
        self,
        budget_accountant: Any,
        *,
        budget: dp.Budget | None = None,
        rng: Generator | None = None,
    ) -> None:
        self._mechanisms = extra("pipeline_dp.aggregate_params", "this adapter").MechanismType
        naive = extra("pipeline_dp", "this adapter").NaiveBudgetAccountant
        if not isinstance(budget_accountant, naive):
            rule = "a pipeline_dp.NaiveBudgetAccountant"
            checks.fail_type("budget_accountant", rule, budget_accountant)
        if budget is not None and not isinstance(budget, dp.Budget):
            checks.fail_type("budget", "a dpfast.Budget or None", budget)
        if rng is not None:
            check(rng)
        self._accountant = budget_accountant
        self._paid: dict[str, Any] = {"budget": budget, "rng": rng}

    def aggregate(
        self, table: Any, params: Any, data_extractors: Any, public_partitions: Any = None
    ) -> Partitions:
        """Return the metrics of all partitions of a table, computed when first read.

        Parameters
        ----------
        table : table
            As for `dpfast.group_by`.
        params : pipeline_dp.AggregateParams
            The metrics may be COUNT, PRIVACY_ID_COUNT, SUM, MEAN, VARIANCE and PERCENTILE.
        data_extractors : pipeline_dp.DataExtractors
            Extractors that hold names of columns in place of functions. The partition extractor
            may be a list of names.
        public_partitions : iterable, optional
            The public partition keys. If several columns name the partition, each key is a tuple.

        Returns
        -------
        Partitions
            Pairs of a key and a MetricsTuple.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If an argument is wrong, or dpfast does not support an option, which the message names.
            Nothing is requested of the accountant.
        """
        refuse_unknown(params, "AggregateParams")
        names, keys = names_of(data_extractors), _listed(public_partitions)
        if keys is None:
            refuse_strategy(params)
        statistics = statistics_of(params, names.value)
        groups = dp.group_by(
            table,
            list(names.by),
            keys=keys,
            ids=names.ids,
            max_groups=params.max_partitions_contributed,
            max_rows=params.max_contributions_per_partition,
            neighbors="add-remove",
        )
        # Raises if an argument is wrong, before anything is requested.
        dp.expected_error(groups.agg, statistics, epsilon=1, delta=1e-6)
        kind = "TRUNCATED_GEOMETRIC" if keys is None else params.noise_kind.name
        spec = self._requested(kind, params)
        return Partitions(
            partial(_loss, spec), lambda loss: self._computed(groups, statistics, names, loss)
        )

    def select_partitions(self, table: Any, params: Any, data_extractors: Any) -> Partitions:
        """Return the keys of partitions that enough privacy ids have, selected when first read.

        Parameters
        ----------
        table : table
        params : pipeline_dp.SelectPartitionsParams
        data_extractors : pipeline_dp.DataExtractors
            As for `aggregate`.

        Returns
        -------
        Partitions
            The keys of the partitions.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            As `aggregate`.
        """
        refuse_unknown(params, "SelectPartitionsParams")
        refuse_strategy(params)
        names = names_of(data_extractors)
        groups = dp.group_by(
            table,
            list(names.by),
            ids=names.ids,
            max_groups=params.max_partitions_contributed,
            neighbors="add-remove",
        )
        spec = self._requested("TRUNCATED_GEOMETRIC", params)

        def compute(loss: dict[str, Any]) -> list[Any]:
            return list(_keys(groups.keys(**loss, **self._paid), names))

        return Partitions(partial(_loss, spec), compute)

    def _requested(self, kind: str, params: Any) -> Any:
        """Request an aggregation's part of the budget from PipelineDP's accountant."""
        weight = params.budget_weight
        with self._accountant.scope(weight=weight):
            spec = self._accountant.request_budget(getattr(self._mechanisms, kind), name="dpfast")
            self._accountant._compute_budgets_for_aggregation(weight)
        return spec

    def _computed(
        self, groups: Any, statistics: dict[str, Any], names: Names, loss: Any
    ) -> list[Any]:
        answer = groups.agg(statistics, **loss, **self._paid)
        columns = [answer[name].tolist() for name in statistics]
        metrics = metrics_tuple(tuple(statistics))
        return list(zip(_keys(answer, names), map(metrics, *columns), strict=True))


def _keys(answer: Any, names: Names) -> Iterable[Any]:
    """Return the partition keys of an answer: values, or tuples if `by` has several columns."""
    columns: list[list[Any]] = [answer[name].tolist() for name in names.by]
    return columns[0] if names.is_single else zip(*columns, strict=True)


def _loss(spec: Any) -> dict[str, Any]:
    """Return the loss that PipelineDP's accountant has assigned, as arguments of a release."""
    try:
        return {"epsilon": float(spec.eps), "delta": float(spec.delta or 0.0)}
    except AssertionError:
        pass
    raise BudgetError("the accountant has assigned nothing yet: call compute_budgets() first")


def _listed(keys: Any) -> list[Any] | None:
    """Return public partition keys as a list without duplicates."""
    if keys is None:
        return None
    try:
        return list(dict.fromkeys(getattr(keys, "tolist", lambda: keys)()))
    except TypeError:
        pass
    checks.fail_kind("public_partitions", "a list of partition keys", keys)


@lru_cache(maxsize=64)
def metrics_tuple(fields: tuple[str, ...]) -> Any:
    """Return the named tuple type of the metrics of a partition."""
    return namedtuple("MetricsTuple", fields)
