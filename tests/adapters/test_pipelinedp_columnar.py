"""Whole tables under PipelineDP's parameters, beside its own engine."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest

import dpfast as dp
from dpfast.adapters.pipelinedp import ColumnarEngine
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError
from dpfast.rng import InsecureGenerator

pytestmark = pytest.mark.full

PEOPLE = 3000
TABLE = {
    "who": np.append(np.repeat(np.arange(PEOPLE), 4), 0),
    "day": np.append(np.tile([1, 1, 2, 3], PEOPLE), 9),
    "spent": np.append(np.tile([13.0, 15.0, 10.0, 40.0], PEOPLE), 1.0),
}
ALL = ("COUNT", "PRIVACY_ID_COUNT", "SUM", "MEAN", "VARIANCE", 50, 99.5)
NAMES = SimpleNamespace(
    privacy_id_extractor="who", partition_extractor="day", value_extractor="spent"
)


@pytest.fixture(autouse=True)
def _tool():
    global pipeline
    pipeline = pytest.importorskip("pipeline_dp", reason="needs pipeline-dp")


def parameters(metrics=ALL, **more):
    asked = {
        "noise_kind": pipeline.NoiseKind.LAPLACE,
        "max_partitions_contributed": 3,
        "max_contributions_per_partition": 2,
        "min_value": 0.0,
        "max_value": 20.0,
    } | more
    own = pipeline.Metrics
    metrics = [getattr(own, m) if isinstance(m, str) else own.PERCENTILE(m) for m in metrics]
    return pipeline.AggregateParams(metrics=metrics, **asked)


def aggregated(params, public=None, table=TABLE, names=NAMES, epsilon=300, seed=1, **more):
    accountant = pipeline.NaiveBudgetAccountant(epsilon, 1e-6)
    engine = ColumnarEngine(accountant, rng=InsecureGenerator(seed), **more)
    result = engine.aggregate(table, params, names, public)
    accountant.compute_budgets()
    return result


def beside(params, public=None):
    """The same by PipelineDP's own engine, row by row."""
    accountant = pipeline.NaiveBudgetAccountant(300, 1e-6)
    engine = pipeline.DPEngine(accountant, pipeline.LocalBackend())
    extractors = pipeline.DataExtractors(*(lambda row, i=i: row[i] for i in range(3)))
    rows = list(zip(*(column.tolist() for column in TABLE.values()), strict=True))
    result = engine.aggregate(rows, params, extractors, public)
    accountant.compute_budgets()
    return dict(result)


@pytest.mark.parametrize("noise", ["LAPLACE", "GAUSSIAN"])
@pytest.mark.parametrize("public", [None, [3, 1, 7, 1]])
def test_answers_are_those_of_their_engine(noise, public):
    params = parameters(noise_kind=getattr(pipeline.NoiseKind, noise))
    found, known = dict(aggregated(params, public)), beside(params, public)
    assert set(found) == set(known) == ({1, 2, 3} if public is None else {1, 3, 7})
    for key in set(found) - {7}:
        assert found[key]._fields == known[key]._fields
        for name, a, b in zip(found[key]._fields, found[key], known[key], strict=True):
            assert a == pytest.approx(b, rel=0.03, abs=3), (key, name)
    for metrics in (["SUM", "MEAN", "COUNT"], ["SUM", "COUNT"]):
        few = parameters(metrics)
        assert dict(aggregated(few, [1]))[1]._fields == beside(few, [1])[1]._fields
    planted = dict(aggregated(parameters(max_value=14.0), public))
    assert planted[3].sum != pytest.approx(known[3].sum, rel=0.03)
    assert public is None or abs(found[7].count) < 50


def test_a_result_is_released_once():
    result = aggregated(parameters(["COUNT"]), epsilon=1)
    assert list(result) == list(result)
    other = aggregated(parameters(["COUNT"]), epsilon=1, seed=2)
    assert list(result) != list(other)


def test_a_release_that_fails_is_not_tried_again(monkeypatch):
    calls = []

    def failing(*given, **named):
        calls.append(1)
        raise dp.errors.DataError("planted")

    result = aggregated(parameters(["COUNT"]), [1])
    twin = copy.copy(result)
    with monkeypatch.context() as patched:
        patched.setattr("dpfast.groups.api.release", failing)
        with pytest.raises(dp.errors.DataError):
            list(result)
    for one in (result, twin):
        with pytest.raises(BudgetError, match="once"):
            list(one)
    assert len(calls) == 1


def test_a_fork_has_no_release_of_its_own(monkeypatch):
    result = aggregated(parameters(["COUNT"]), [1])
    monkeypatch.setattr("os.getpid", lambda: -1)
    with pytest.raises(BudgetError, match="fork"):
        list(result)
    monkeypatch.undo()
    assert len(list(copy.copy(result))) == 1 and list(copy.copy(result)) == list(result)


def test_the_accountant_divides_the_loss():
    """Two aggregations of weights 1 and 3; both are paid from a budget of dpfast too."""
    accountant = pipeline.NaiveBudgetAccountant(2, 1e-6)
    budget = dp.Budget(epsilon=2, delta=1e-6)
    engine = ColumnarEngine(accountant, budget=budget)
    one = engine.aggregate(TABLE, parameters(["COUNT"]), NAMES, [1])
    two = engine.aggregate(TABLE, parameters(["SUM"], budget_weight=3), NAMES, [1])
    with pytest.raises(BudgetError, match="compute_budgets"):
        list(one)
    accountant.compute_budgets()
    list(one)
    assert float(budget.spent["epsilon"]) == 0.5
    list(two)
    assert float(budget.spent["epsilon"]) == 2 and float(budget.spent["delta"]) == 0


def test_keys_of_several_columns_are_tuples():
    table = TABLE | {"shop": np.where(TABLE["spent"] > 14, "a", "b")}
    names = pipeline.DataExtractors("who", ["day", "shop"], None)
    found = dict(aggregated(parameters(["PRIVACY_ID_COUNT"]), None, table, names))
    assert set(found) == {(1, "a"), (1, "b"), (2, "b"), (3, "a")}
    assert found[1, "a"].privacy_id_count == pytest.approx(PEOPLE, rel=0.3)


def test_partitions_are_selected():
    accountant = pipeline.NaiveBudgetAccountant(1, 1e-6)
    engine = ColumnarEngine(accountant)
    params = pipeline.SelectPartitionsParams(max_partitions_contributed=3)
    result = engine.select_partitions(TABLE, params, NAMES)
    accountant.compute_budgets()
    assert list(result) == [1, 2, 3]


@pytest.mark.parametrize(
    "name, value",
    [
        ("min_sum_per_partition", 0.0),
        ("pre_threshold", 5),
        ("output_noise_stddev", True),
        ("partition_selection_strategy", "LAPLACE_THRESHOLDING"),
    ],
)
def test_what_is_not_computed_is_refused_by_name(name, value):
    if isinstance(value, str):
        value = getattr(pipeline.PartitionSelectionStrategy, value)
    more = {name: value}
    if name.startswith("min_sum"):
        more |= {"min_value": None, "max_value": None, "max_sum_per_partition": 9.0}
    accountant = pipeline.NaiveBudgetAccountant(1, 1e-6)
    with pytest.raises(ArgumentError, match=name):
        ColumnarEngine(accountant).aggregate(TABLE, parameters(["SUM"], **more), NAMES)
    assert not accountant.mechanism_specs


def test_vectors_and_other_accountants_are_refused():
    vector = parameters(
        ["VECTOR_SUM"],
        vector_size=2,
        vector_max_norm=1.0,
        vector_norm_kind=pipeline.aggregate_params.NormKind.L1,
    )
    engine = ColumnarEngine(pipeline.NaiveBudgetAccountant(1, 1e-6))
    with pytest.raises(ArgumentError, match="VECTOR_SUM"):
        engine.aggregate(TABLE, vector, NAMES)
    for bad in (None, "naive"):
        for call in (
            lambda bad: ColumnarEngine(bad),
            lambda bad: engine.aggregate(TABLE, bad, NAMES),
            lambda bad: engine.aggregate(TABLE, parameters(), bad),
            lambda bad: engine.aggregate(bad, parameters(), NAMES),
        ):
            with pytest.raises((ArgumentError, ArgumentTypeError)):
                call(bad)
    with pytest.raises(ArgumentTypeError, match="value_extractor"):
        engine.aggregate(TABLE, parameters(), pipeline.DataExtractors("who", "day", None))
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        engine.aggregate(TABLE, parameters(), NAMES, 3)
