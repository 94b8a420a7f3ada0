"""`dp.sample_and_aggregate`: arguments, the ledger, outputs by definition, and who sees what."""

import gc
import itertools
import logging
import math
import threading
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast.aggregate.aggregators import AGGREGATORS
from dpfast.aggregate.blocks.partition import ContiguousLabels, KeyedLabels, RandomLabels
from dpfast.errors import DpfastError
from dpfast.rng import Generator, InsecureGenerator

from ..support.names import shown
from ..support.pairwise import pairwise
from ..support.refused import refused
from .test_replay import BOUNDS, KEY, recorded

N = 200
X = np.linspace(-9, 9, N)
PAIRS = np.stack([X, X[::-1]], axis=1)
IDS = np.arange(N) // 4


def call(data=X, estimator="mean", **kw):
    return dp.sample_and_aggregate(
        data,
        estimator,
        **{"neighbors": "replace", "blocks": 10, "bounds": BOUNDS, "epsilon": 1, **kw},
    )


def fails(block):
    raise ZeroDivisionError("no")


NAN, INF = math.nan, math.inf
TWO = {"data": PAIRS, "bounds": [BOUNDS] * 2}
BAD = [
    # what is wrong, the argument that the message names
    *[({"blocks": b}, "blocks") for b in (N + 1, True)],
    ({"blocks": 1 << 25, "neighbors": "add-remove"}, "blocks"),
    # two pairs for one column; a vector of one is none
    *[({"bounds": b}, "bounds") for b in ([], (0, 1, 2), [(0, 1), (2, 3)], [(0, 1)])],
    *[
        ({"bounds": b, "data": PAIRS}, "bounds")
        for b in ([(0, 1), 5], [(0, 1), (1, 0)], (0, 1), np.zeros((2, 2, 2)))
    ],
    *[({"default": x}, "default") for x in (-10.5, NAN, "0", [0])],
    *[({**TWO, "default": x}, "default") for x in ([0, 0, 0], [[0, 0]])],
    ({"epsilon": 1e-12}, "epsilon"),
    ({"estimator": dp.estimators.Mean}, "estimator"),
    ({**TWO, "aggregator": "average"}, "aggregator"),
    ({"partition": "contiguous", "neighbors": "add-remove"}, "partition"),
    ({"nan": "raise"}, "nan"),
    ({"workers": True}, "workers"),
    ({"partition": "key"}, "ids"),
    *[({"partition": p, "ids": IDS}, "ids") for p in ("random", "contiguous")],
    ({**TWO, "centres": [[0.0, 0.0]]}, "centres"),
    ({"data": np.zeros((5, 2, 2))}, "data"),
    ({"data": np.array(["a", "b"]), "blocks": 2}, "data"),
    *[({"ids": ids}, "ids") for ids in (IDS / 3, "person")],  # there are no columns with names
    ({"ids": "person", "data": np.zeros(N, [("age", "f8")]), "estimator": fails}, "ids"),
    ({"executor": "processes", "estimator": "median"}, "executor"),  # nothing to guard against
    ({"time_limit": 1, "executor": "threads", "estimator": fails}, "time_limit"),
    ({"time_limit": 1, "estimator": "mean"}, "time_limit"),  # nothing there can be stopped
]


@pytest.mark.parametrize(("kw", "name"), BAD, ids=shown)
def test_a_bad_argument_is_one_clear_error_before_the_spend(kw, name):
    budget = dp.Budget(epsilon=1e6)
    caught = refused(lambda **paid: call(**{**paid, **kw}), budget=budget)
    assert name in str(caught).split(" must be ")[0]
    # The same call without what is wrong is none of these errors.
    call(budget=budget)
    assert budget.spent["epsilon"] == 1


def stops(block):
    raise SystemExit(3)


def ragged(block):
    return [[1.0], [2.0, 3.0]]


@pytest.mark.parametrize("estimator", [fails, stops, ragged], ids=lambda f: f.__name__)
@pytest.mark.parametrize("default", [None, 0.75])
def test_an_estimator_that_fails_everywhere_costs_its_price(estimator, default):
    """The answer is noise round the public default, and no error says that all was in vain."""
    budget = dp.Budget(epsilon=400)
    got = call(
        estimator=estimator, bounds=(0, 1), epsilon=400, blocks=100, default=default, budget=budget
    )
    assert budget.remaining["epsilon"] == 0
    assert abs(got - (0.5 if default is None else default)) < 0.01
    z = recorded(X, estimator, blocks=100, bounds=(0, 1), default=default).z
    assert (z == (0.5 if default is None else default)).all()


def test_half_an_answer_is_none_and_infinite_ones_are_clipped():
    for answer, due in (([0.5, math.nan], [1, 2]), ([math.inf, -math.inf], [3, -5])):
        kw = {"blocks": 4, "bounds": [(-1, 3), (-5, 2)], "default": [1, 2]}
        z = recorded(X, lambda block, answer=answer: answer, **kw).z
        np.testing.assert_array_equal(z, [due] * 4)


def hostile(dtype):
    """Rows of three columns that raise every flag a processor has, the last one 0 and 1."""
    x = np.random.default_rng(3).choice(
        np.array([0, -0.0, 0.5, 1, NAN, INF, -INF, 2.0**127, 2.0**-149, 2.0**-75], dtype), (N, 3)
    )
    if dtype == np.float64:
        x[::3] *= 2.0**890
        x[1::3] *= 2.0**-900
    bits = x.view(f"u{x.itemsize}")
    bits[::7, 1] = np.array(INF, dtype).view(bits.dtype) + 1  # a signalling NaN
    x[:, 2] = np.arange(N) % 2
    return x


ONE_COLUMN = [dp.estimators.Quantile(0.3), "mean", "var", "std", "min", "max", "median", "mode"]
ONE_COLUMN.append("trimmed-mean")
SEVERAL = ["correlation", "least-squares", "logistic-regression"]


@pytest.mark.full
@pairwise
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("estimator", [*ONE_COLUMN, *SEVERAL], ids=str)
def test_no_value_decides_an_error_or_a_warning(estimator, dtype, workers, tmp_path):
    """Whatever the caller has told NumPy to do about floating-point errors."""
    x = hostile(dtype)
    columns = dict(zip("abc", x.T, strict=True))
    pq.write_table(pa.table({k: pa.array(v) for k, v in columns.items()}), tmp_path / "x.parquet")
    for data in (x, np.asfortranarray(x), columns, dp.scan(tmp_path / "x.parquet", list("abc"))):
        for partition in ("random", "contiguous"):
            with np.errstate(all="raise"):
                call(data, estimator, bounds=[BOUNDS] * 3, partition=partition, workers=workers)
    if estimator in ONE_COLUMN:
        with np.errstate(all="raise"):
            call(dp.scan(tmp_path / "x.parquet", "b"), estimator, workers=workers)
            call(x[:, 1], estimator, nan="drop", workers=workers)


@pytest.mark.parametrize("workers", [1, 3])
def test_an_interrupt_passes_on_and_the_spend_stands(workers):
    def interrupted(block):
        raise KeyboardInterrupt

    budget = dp.Budget(epsilon=2)
    threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        call(estimator=interrupted, budget=budget, workers=workers)
    assert budget.spent["epsilon"] == 1 and len(budget.history) == 1
    assert threading.active_count() == threads


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize(
    "loss",
    [
        {"epsilon": Fraction(1, 3)},
        {"epsilon": Fraction(1, 3), "delta": Fraction(1, 1000)},
        {"rho": Fraction(1, 7)},
    ],
)
def test_a_call_never_costs_more_than_it_asks_for(loss, relation):
    for ids, aggregator in itertools.product((None, IDS), AGGREGATORS):
        kw = {"bounds": BOUNDS, "blocks": 20, "neighbors": relation, **loss}
        kw |= {"ids": ids, "aggregator": aggregator}
        budget = dp.Budget(**loss)
        cost = budget.cost(dp.sample_and_aggregate, X, "mean", **kw)
        dp.sample_and_aggregate(X, "mean", budget=budget, **kw)
        (line,) = budget.history
        assert line.loss == cost and line.neighbors == relation
        assert all(left >= 0 for left in budget.remaining.values())
        assert "epsilon" not in loss or budget.remaining["epsilon"] == 0


def test_auto_says_what_it_chose(caplog):
    caplog.set_level(logging.INFO, "dpfast")
    auto = {"aggregator": "auto", "blocks": 16}
    for kw, partition, aggregator in [
        ({}, "random", "mean"),
        ({"ids": IDS}, "key", "mean"),
        ({**auto, "blocks": 15}, "random", "mean"),
        (auto, "random", "trimmed-mean"),
        ({**auto, "ids": IDS}, "key", "mean"),  # half of the loss, for two blocks
        ({**auto, "ids": IDS, "neighbors": "add-remove"}, "key", "trimmed-mean"),
        ({"partition": "contiguous"}, "contiguous", "mean"),
    ]:
        budget = dp.Budget(epsilon=1)
        caplog.clear()
        call(budget=budget, **kw)
        for text in (budget.history[0].what, caplog.records[0].getMessage()):
            assert f" {partition} " in text and text.startswith(aggregator + " of")
            assert str(N) not in text  # the number of rows need not be public


@pairwise(drop=True)
@pytest.mark.parametrize("n", [0, 1, 3, 10, 200])
@pytest.mark.parametrize("blocks", [1, 2, 10, 37])
@pytest.mark.parametrize("partition", ["random", "key", "contiguous"])
def test_there_are_always_as_many_outputs_as_blocks(n, blocks, partition):
    """By definition: label the rows, compute on each block, the default where there is no row."""
    x = np.sin(np.arange(n))
    kw = {"neighbors": "add-remove"} if partition != "contiguous" else {}
    labels = RandomLabels(blocks, KEY).read(0, n)
    if partition == "key":
        kw["ids"] = ids = np.arange(n) % 7
        labels = KeyedLabels(blocks, KEY).read(ids)
    elif partition == "contiguous":
        if blocks > n:
            return
        labels = ContiguousLabels(blocks, n).read(0, n)
    expected = [np.mean(x[labels == b]) if (labels == b).any() else 0.25 for b in range(blocks)]
    for estimator in ("mean", np.mean):
        z = recorded(x, estimator, blocks=blocks, partition=partition, default=0.25, **kw).z
        assert z.shape == (blocks, 1)
        np.testing.assert_allclose(z[:, 0], expected, rtol=1e-13, atol=1e-15)
    got = call(x, blocks=blocks, partition=partition, **kw)
    assert isinstance(got, float) and BOUNDS[0] <= got <= BOUNDS[1]


def test_bounds_and_defaults_come_in_many_forms():
    for bounds in ([BOUNDS, BOUNDS], (list(BOUNDS),) * 2, np.array([BOUNDS, BOUNDS])):
        for default in (None, 0, [0, 1], (0, 1), np.array([0.0, 1.0])):
            assert call(PAIRS, bounds=bounds, default=default).shape == (2,)
    for bounds in (list(BOUNDS), np.array(BOUNDS), (Fraction(-10), 10)):
        assert isinstance(call(bounds=bounds, blocks=np.int64(10)), float)


def tail(block):
    return float(np.sort(block)[-3]) if len(block) > 2 else 0.0


def test_the_same_bits_from_tables_and_any_number_of_workers():
    """Columns by name, with the ids among them or apart; another seed gives others."""
    a, b = np.random.default_rng(5).normal(0, 3, (2, 3000))
    columns = {"a": a, "b": b, "who": np.arange(3000) // 2}
    table = pd.DataFrame(columns).to_records(index=False).view(np.ndarray)

    def product(block):
        assert block.dtype.names == ("a", "b")
        return float((block["a"] * block["b"]).sum())

    def answer(data, ids="who", seed=3, workers=None):
        kw = {"blocks": 20, "rng": InsecureGenerator(seed), "workers": workers}
        return call(data, product, ids=ids, **kw)

    tables = (table, columns, pd.DataFrame(columns), pa.table(columns))
    without_ids = answer(table[["a", "b"]], columns["who"])
    assert {answer(data, workers=w) for data in tables for w in (1, 3)} == {without_ids}
    assert answer(table, seed=4) != without_ids


@pytest.mark.parametrize("estimator", ["var", "max", "correlation", "median", tail], ids=shown)
def test_progress_counts_the_blocks(estimator):
    seen = []
    data = PAIRS if estimator == "correlation" else X
    call(data, estimator, blocks=30, progress=lambda *done_and_total: seen.append(done_and_total))
    assert seen == sorted(seen) and seen[-1] == (30, 30)


def test_blocks_are_drawn_anew_for_each_call():
    seen = []
    for _ in range(4):
        call(estimator=lambda block: seen.append(float(block[0])) or 0.0, workers=1)
    assert len({tuple(seen[i : i + 10]) for i in range(0, 40, 10)}) == 4


def test_an_estimator_never_meets_the_generator_or_the_ledger():
    """References from a block lead to no generator, key, budget or mechanism (but the stack does:
    see docs/theory/threat-model.md)."""
    kinds = []
    budget = dp.Budget(epsilon=1)
    call(estimator=lambda *args: kinds.append(reachable(args)) or 0.0, budget=budget, workers=1)
    assert len(kinds) == 10
    for kind in set().union(*kinds):
        assert not issubclass(kind, (Generator, dp.Budget, DpfastError))
        assert kind.__name__ not in ("Key", "BitStream", "SampleAndAggregate")
    assert dp.Budget in reachable([{"a": (budget,)}])  # the control


def reachable(start):
    """The types of all objects that references lead to, other than by way of modules and types."""
    kinds, seen, left = set(), set(), [start]
    while left:
        thing = left.pop()
        if id(thing) in seen or isinstance(thing, type) or type(thing).__name__ == "module":
            continue
        seen.add(id(thing))
        kinds.add(type(thing))
        base = getattr(thing, "base", None)
        left += gc.get_referents(thing) + ([] if base is None else [base])
    return kinds
