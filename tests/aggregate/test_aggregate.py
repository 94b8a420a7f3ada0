"""`dp.sample_and_aggregate`: arguments, the ledger, outputs by definition, and who sees what."""

from __future__ import annotations

import gc
import json
import logging
import math
import threading
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast.aggregate.aggregators import AGGREGATORS
from dpfast.aggregate.blocks.partition import ContiguousLabels, KeyedLabels, RandomLabels
from dpfast.errors import ArgumentError, ArgumentTypeError, DpfastError
from dpfast.privacy import Pure
from dpfast.rng import Generator, InsecureGenerator

from ..support.names import shown
from ..support.pairwise import pairwise, quick_rows
from ..support.paths import on_every_path
from .test_replay import BOUNDS, KEY, ids_for, recorded

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


# --- bad arguments --------------------------------------------------------------------------------

NAN, INF = math.nan, math.inf

BAD = [
    # what is wrong, the argument that the message names
    ({"blocks": N + 1}, "blocks"),
    ({"blocks": True}, "blocks"),
    ({"blocks": 1 << 25, "neighbors": "add-remove"}, "blocks"),
    ({"bounds": []}, "bounds"),
    ({"bounds": (0, 1, 2)}, "bounds"),
    ({"bounds": [(0, 1), (2, 3)]}, "bounds"),  # two pairs, one column
    ({"bounds": [(0, 1)]}, "bounds"),  # a vector of one is none
    ({"bounds": [(0, 1), 5], "data": PAIRS}, "bounds"),
    ({"bounds": [(0, 1), (1, 0)], "data": PAIRS}, "bounds"),
    ({"bounds": [(0, 1), (0, NAN)], "data": PAIRS}, "bounds"),
    ({"bounds": [(0, 1), (0, 1, 2)], "data": PAIRS}, "bounds"),
    ({"bounds": (0, 1), "data": PAIRS}, "bounds"),  # one pair, two columns
    ({"bounds": np.zeros((2, 2, 2)), "data": PAIRS}, "bounds"),
    ({"default": -10.5}, "default"),
    ({"default": NAN}, "default"),
    ({"default": "0"}, "default"),
    ({"default": [0]}, "default"),
    ({"default": [0, 0, 0], "data": PAIRS, "bounds": [BOUNDS] * 2}, "default"),
    ({"default": [0, 11], "data": PAIRS, "bounds": [BOUNDS] * 2}, "default"),
    ({"default": [[0, 0]], "data": PAIRS, "bounds": [BOUNDS] * 2}, "default"),
    ({"epsilon": 1e-12}, "epsilon"),
    ({"epsilon": 1e9}, "epsilon"),
    ({"estimator": dp.estimators.Mean}, "estimator"),
    ({"estimator": dp.estimators.Quantile}, "estimator"),
    ({"aggregator": "average", "data": PAIRS, "bounds": [BOUNDS] * 2}, "aggregator"),
    ({"partition": "contiguous", "neighbors": "add-remove"}, "partition"),
    ({"nan": "raise"}, "nan"),
    ({"nan": 0}, "nan"),
    ({"workers": True}, "workers"),
    ({"partition": "key"}, "ids"),
    ({"partition": "random", "ids": IDS}, "ids"),
    ({"partition": "contiguous", "ids": IDS}, "ids"),
    ({"centres": [[0.0, 0.0]], "data": PAIRS, "bounds": [BOUNDS] * 2}, "centres"),
    ({"data": np.zeros((5, 2, 2))}, "data"),
    ({"data": np.float64(3)}, "data"),
    ({"data": np.array(["a", "b"]), "blocks": 2}, "data"),
    ({"data": np.array([1 + 2j, 3]), "blocks": 2}, "data"),
    ({"ids": IDS[None]}, "ids"),
    ({"ids": IDS / 3}, "ids"),
    ({"ids": "person"}, "ids"),  # these data have no columns with names
    ({"ids": "person", "data": np.zeros(N, [("age", "f8")]), "estimator": fails}, "ids"),
    ({"executor": "processes", "estimator": "median"}, "executor"),  # nothing to guard against
    ({"time_limit": 1, "executor": "threads", "estimator": fails}, "time_limit"),
    ({"time_limit": 1, "estimator": "mean"}, "time_limit"),  # nothing there can be stopped
]


@pytest.mark.parametrize(("kw", "name"), BAD, ids=shown)
def test_a_bad_argument_is_one_clear_error_before_the_spend(kw, name):
    budget = dp.Budget(epsilon=1e6)
    with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
        call(**{"budget": budget, **kw})
    assert name in str(caught.value).split(" must be ")[0]
    assert "\n" not in str(caught.value)
    assert budget.spent["epsilon"] == 0 and budget.history == ()
    # The same call without what is wrong is none of these errors.
    call(budget=budget)
    assert budget.spent["epsilon"] == 1


def test_no_message_repeats_an_id_or_a_row():
    names = [f"alice{i}" for i in range(N)]
    for kw in ({"partition": "random"}, {"partition": "contiguous"}, {"data": X.reshape(2, -1)}):
        with pytest.raises(ArgumentTypeError if "partition" in kw else ArgumentError) as caught:
            call(ids=names, **kw)
        assert "alice" not in str(caught.value)
    with pytest.raises(ArgumentTypeError) as caught:
        call("mean", np.array([1234.5] * N))  # the wrong way round
    assert "1234" not in str(caught.value)


def test_contiguous_blocks_under_add_remove_say_why():
    with pytest.raises(ArgumentError, match=r"pass neighbors='replace'; .* changes every"):
        call(partition="contiguous", neighbors="add-remove")


# --- the ledger -----------------------------------------------------------------------------------


def stops(block):
    raise SystemExit(3)


def ragged(block):
    return [[1.0], [2.0, 3.0]]


@pytest.mark.parametrize(
    "estimator",
    [fails, stops, ragged],
    ids=lambda f: f.__name__,
)
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


def test_half_an_answer_is_none():
    def half(block):
        return [block[0], math.nan]

    z = recorded(X, half, blocks=4, bounds=[BOUNDS] * 2, default=[1, 2]).z
    np.testing.assert_array_equal(z, [[1, 2]] * 4)


def test_infinite_answers_are_clipped_and_stay_answers():
    def endless(block):
        return [math.inf, -math.inf]

    z = recorded(X, endless, blocks=4, bounds=[(-1, 3), (-5, 2)]).z
    np.testing.assert_array_equal(z, [[3, -5]] * 4)


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
    ("asked", "limit"),
    [
        ({"epsilon": Fraction(1, 3)}, {"epsilon": Fraction(1, 3)}),
        (
            {"epsilon": Fraction(1, 3), "delta": Fraction(1, 1000)},
            {"epsilon": Fraction(1, 3), "delta": Fraction(1, 1000)},
        ),
        ({"epsilon": None, "rho": Fraction(1, 7)}, {"rho": Fraction(1, 7)}),
    ],
)
def test_a_call_never_costs_more_than_it_asks_for(asked, limit, relation):
    for ids in (None, IDS):
        for aggregator in AGGREGATORS:
            budget = dp.Budget(**limit)
            cost = budget.cost(
                dp.sample_and_aggregate,
                X,
                fails,
                blocks=20,
                bounds=BOUNDS,
                aggregator=aggregator,
                ids=ids,
                neighbors=relation,
                **asked,
            )
            assert budget.history == ()
            call(
                aggregator=aggregator,
                ids=ids,
                neighbors=relation,
                blocks=20,
                budget=budget,
                **asked,
            )
            (line,) = budget.history
            assert line.loss == cost and line.neighbors == relation
            assert all(left >= 0 for left in budget.remaining.values())
            if "epsilon" in limit:  # nor less of what it has a use for
                assert budget.remaining["epsilon"] == 0


def test_auto_says_what_it_chose(caplog):
    caplog.set_level(logging.INFO, "dpfast")
    for kw, partition, aggregator in [
        ({}, "random", "mean"),
        ({"ids": IDS}, "key", "mean"),
        ({"aggregator": "auto", "blocks": 15}, "random", "mean"),
        ({"aggregator": "auto", "blocks": 16}, "random", "trimmed-mean"),
        # Half of the loss, for two blocks, is too little for the trimmed mean of so few.
        ({"aggregator": "auto", "blocks": 16, "ids": IDS}, "key", "mean"),
        (
            {"aggregator": "auto", "blocks": 16, "ids": IDS, "neighbors": "add-remove"},
            "key",
            "trimmed-mean",
        ),
        ({"partition": "contiguous"}, "contiguous", "mean"),
    ]:
        budget = dp.Budget(epsilon=1)
        caplog.clear()
        call(budget=budget, **kw)
        (line,) = budget.history
        (record,) = caplog.records
        assert record.levelno == logging.INFO and record.name == "dpfast"
        for text in (line.what, record.getMessage()):
            assert f" {partition} " in text and text.startswith(aggregator + " of")
            assert str(N) not in text  # the number of rows need not be public


# --- outputs --------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("aggregator", AGGREGATORS)
@pytest.mark.parametrize("d", [None, 1, 2, 5])
def test_answers_are_numbers_or_vectors_within_the_bounds(aggregator, d):
    def spread(block):
        return block.mean() if d is None else np.full(d, block.mean())

    bounds = (-0.5, 0.25) if d is None else [(-0.5 - i, 0.25) for i in range(d)]
    for loss in ({"epsilon": 0.1}, {"epsilon": 1, "delta": 1e-6}, {"epsilon": None, "rho": 0.01}):
        got = call(estimator=spread, bounds=bounds, aggregator=aggregator, **loss)
        if d is None:
            assert type(got) is float and -0.5 <= got <= 0.25
        else:
            assert got.shape == (d,) and got.dtype == np.float64
            assert all(lo <= g <= hi for g, (lo, hi) in zip(got, bounds, strict=True))


@pytest.mark.parametrize("aggregator", AGGREGATORS)
def test_the_answer_is_near_for_much_epsilon(aggregator):
    x = np.random.default_rng(0).normal(2, 1, 40_000)
    for kw in ({}, {"ids": np.arange(40_000)}, {"partition": "contiguous"}):
        got = call(x, blocks=100, epsilon=100, aggregator=aggregator, **kw)
        assert abs(got - 2) < 0.1


def test_bounds_and_defaults_come_in_many_forms():
    for bounds in ([BOUNDS, BOUNDS], (list(BOUNDS),) * 2, np.array([BOUNDS, BOUNDS])):
        for default in (None, 0, [0, 1], (0, 1), np.array([0.0, 1.0])):
            assert call(PAIRS, bounds=bounds, default=default).shape == (2,)
    for bounds in (list(BOUNDS), np.array(BOUNDS), (Fraction(-10), 10)):
        assert isinstance(call(bounds=bounds), float)
    assert isinstance(call(blocks=np.int64(10)), float)


def tail(block):
    return float(np.sort(block)[-3]) if len(block) > 2 else 0.0


def forms(x, folder):
    """The same numbers in memory and in files, in chunks of many sizes."""
    yield from (x, x[::-1][::-1], np.repeat(x, 2)[::2], x.astype(">f8"), x.tolist(), pd.Series(x))
    yield pa.chunked_array([x[:1], x[1:1], x[1:1234], x[1234:]])
    pq.write_table(pa.table({"x": x}), folder / "x.parquet", row_group_size=700)
    yield dp.scan(folder / "x.parquet", "x")
    np.save(folder / "x.npy", x)
    yield dp.scan(folder / "x.npy")


@pytest.mark.full
@quick_rows(2)
@pytest.mark.parametrize("estimator", ["mean", "var", "median", tail], ids=shown)
def test_the_same_seed_gives_the_same_bits(estimator, tmp_path):
    """Over forms of the data and numbers of workers; another seed gives others."""
    x = np.random.default_rng(5).normal(0, 3, 5000)
    for kw in ({}, {"ids": np.arange(5000) // 3}, {"partition": "contiguous"}):
        kw = {"blocks": 50, "estimator": estimator, **kw}
        expected = call(x, rng=InsecureGenerator(3), **kw)
        for data in forms(x, tmp_path):
            for workers in (None, 1, 2, 4):
                assert call(data, rng=InsecureGenerator(3), workers=workers, **kw) == expected
        assert call(x, rng=InsecureGenerator(4), **kw) != expected


def everything():
    """Answers for every named estimator, partition and aggregator, of a seed."""
    rng = np.random.default_rng(6)
    x = rng.normal(0, 3, 9000)
    table = np.column_stack([x, rng.normal(0, 1, 9000), rng.normal(0, 1, 9000) + x > 0])
    narrow = x.astype(np.float32)
    one = ["mean", "var", "std", "min", "max", "median", "mode", "trimmed-mean", tail]
    several = [("correlation", 3), ("least-squares", 3), ("logistic-regression", 3), ("median", 3)]
    kinds = [{}, {"ids": np.arange(9000) // 3}, {"ids": (np.arange(9000) // 3).astype(str)}]
    kinds += [{"partition": "contiguous"}, {"blocks": 4000}, {"nan": "drop"}]
    found = []

    def take(data, estimator, **kw):
        kw = {"blocks": 60, "epsilon": 9.0, "rng": InsecureGenerator(8), **kw}
        found.append(np.atleast_1d(call(data, estimator, **kw)))

    for kind in kinds:
        for data in (x, narrow):
            for estimator in one:
                take(data, estimator, **kind)
        for estimator, d in several:
            take(table, estimator, bounds=[BOUNDS] * d, **kind)
    for aggregator in AGGREGATORS:
        take(x, "mean", aggregator=aggregator)
        take(table, "mean", aggregator=aggregator, bounds=[BOUNDS] * 3)
        take(x, "mean", aggregator=aggregator, epsilon=None, rho=2.0)
    return [answer.tobytes().hex() for answer in found]


PROBE = """
import json
from tests.aggregate.test_aggregate import everything
print(json.dumps(everything()))
"""


@pytest.mark.full
def test_all_instruction_sets_give_the_same_bits():
    expected = everything()
    assert len(set(expected)) > len(expected) / 2
    assert json.loads(on_every_path(PROBE)) == expected


def test_the_same_bits_from_tables():
    """Columns by name, with the ids among them or beside them."""
    x = np.random.default_rng(5).normal(0, 3, (3000, 2))
    ids = np.arange(3000) // 2
    columns = {"a": x[:, 0], "b": x[:, 1], "who": ids}
    table = np.empty(3000, [("a", "f8"), ("b", "f8"), ("who", "i8")])
    for name, values in columns.items():
        table[name] = values

    def product(block):
        assert block.dtype.names == ("a", "b")
        return float((block["a"] * block["b"]).sum())

    answers = {
        call(data, product, ids="who", blocks=20, rng=InsecureGenerator(3), workers=workers)
        for data in (table, columns, pd.DataFrame(columns), pa.table(columns))
        for workers in (1, 3)
    }
    beside = call(
        pd.DataFrame({"a": x[:, 0], "b": x[:, 1]}),
        product,
        ids=ids,
        blocks=20,
        rng=InsecureGenerator(3),
    )
    assert answers == {beside}


@pytest.mark.parametrize("estimator", ["var", "max", "correlation", "median", tail], ids=shown)
def test_progress_counts_the_blocks(estimator):
    seen = []
    data = PAIRS if estimator == "correlation" else X
    call(data, estimator, blocks=30, progress=lambda *done_and_total: seen.append(done_and_total))
    assert seen == sorted(seen) and seen[-1] == (30, 30)


def test_blocks_are_drawn_anew_for_each_call():
    seen = []

    def first(block):
        seen.append(float(block[0]))
        return 0.0

    for _ in range(4):
        call(estimator=first, workers=1)
    assert len({tuple(seen[i : i + 10]) for i in range(0, 40, 10)}) == 4


# --- what the estimator is handed -----------------------------------------------------------------


def handed(data, **kw):
    blocks = []

    def look(block):
        blocks.append(block)
        return 0.0

    recorded(data, look, **{"blocks": 7, "workers": 1, **kw})
    return blocks


@pytest.mark.parametrize("partition", ["random", "contiguous", "key"])
def test_blocks_hold_their_rows_in_order(partition):
    kw = {"partition": partition, **({"ids": IDS} if partition == "key" else {})}
    for data in (X, X.astype("f4"), np.arange(N), PAIRS, np.arange(N) % 2 == 0):
        blocks = handed(data, **kw)
        labels = {
            "random": lambda: RandomLabels(7, KEY).read(0, N),
            "contiguous": lambda: np.arange(N) * 7 // N,
            "key": lambda: KeyedLabels(7, KEY).read(IDS),
        }[partition]()
        if partition == "contiguous":
            labels = ContiguousLabels(7, N).read(0, N)
        for b, block in enumerate(blocks):
            np.testing.assert_array_equal(block, data[labels == b])
            assert block.ndim == data.ndim and block.flags.c_contiguous


def test_named_columns_keep_their_names():
    table = np.empty(N, [("age", "f8"), ("pay", "i4")])
    table["age"], table["pay"] = X, np.arange(N)
    blocks = handed(table)
    assert {b.dtype.names for b in blocks} == {("age", "pay")}
    assert sorted(np.concatenate([b["pay"] for b in blocks]).tolist()) == list(range(N))

    def pay_of_the_old(block):
        return block["pay"][block["age"] > 0].mean()

    got = call(table, estimator=pay_of_the_old, bounds=(0, N), epsilon=100)
    assert abs(got - 149.5) < 20


@pytest.mark.parametrize("partition", ["random", "contiguous"])
def test_what_an_estimator_writes_stays_with_it(partition):
    """Neither the caller's data nor another block, nor a later call, sees it."""

    def vandal(block):
        found = float(block.sum())
        whole = block if block.base is None else block.base
        block[...] = 1e9
        if isinstance(whole, np.ndarray) and whole.flags.writeable:
            whole[...] = 1e9
        return found

    x = X.copy()
    kw = {"blocks": 10, "bounds": (-1e6, 1e6), "partition": partition}
    expected = recorded(X, lambda block: float(block.sum()), **kw).z
    for workers in (1, 3):
        np.testing.assert_array_equal(recorded(x, vandal, workers=workers, **kw).z, expected)
        np.testing.assert_array_equal(x, X)


def test_an_estimator_never_meets_the_generator_or_the_ledger():
    """What it is handed leads to no generator, key, budget or mechanism in any number of steps.

    (Python hides nothing from code that walks the stack: see docs/theory/threat-model.md.)
    """
    found = []

    def curious(*args, **kwargs):
        assert len(args) == 1 and not kwargs
        found.append(reachable(args[0]))
        return 0.0

    budget = dp.Budget(epsilon=1)
    call(estimator=curious, budget=budget, workers=1)
    assert len(found) == 10
    for kinds in found:
        assert not [k for k in kinds if issubclass(k, (Generator, dp.Budget, DpfastError))]
        assert not [k for k in kinds if k.__name__ in ("Key", "BitStream", "SampleAndAggregate")]
    # The control: the same walk finds what is there.
    assert dp.Budget in reachable([{"a": (budget,)}])


def reachable(start):
    """The types of all objects that references lead to, other than by way of modules and types."""
    kinds, seen, todo = set(), set(), [start]
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, type) or type(one).__name__ == "module":
            continue
        seen.add(id(one))
        kinds.add(type(one))
        base = getattr(one, "base", None)
        todo += gc.get_referents(one) + ([] if base is None else [base])
    return kinds


def test_a_callable_with_a_method_of_the_same_name_is_a_callable():
    class Socket:
        def bind(self):
            raise AssertionError

        def __call__(self, block):
            return block.max()

    assert (recorded(X, Socket(), blocks=10).z > 0).all()


@pytest.mark.parametrize("estimator", ["mean", "min", "median", tail], ids=shown)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_without_rows_whose_ids_are_a_column(estimator, suffix, tmp_path):
    table = pa.table({"age": pa.array([], pa.float64()), "who": pa.array([], pa.string())})
    path = tmp_path / f"none.{suffix}"
    (pq.write_table if suffix == "parquet" else pc.write_csv)(table, path)
    kw = {"neighbors": "add-remove", "ids": "who", "default": 7, "blocks": 5}
    for column, bounds in (("age", BOUNDS), (["age"], [BOUNDS])):
        if estimator is tail and column != "age":
            continue
        found = recorded(dp.scan(path, column), estimator, bounds=bounds, **kw)
        assert (found.z == 7).all() and found.z.shape[0] == 5


@pytest.mark.parametrize("kind", [np.uint8, np.int64])
@pytest.mark.parametrize("estimator", ["mean", "median", tail], ids=shown)
def test_counts_may_be_integers_of_numpy(kind, estimator):
    """Also those that would overflow where they are multiplied."""
    plain, given = (
        recorded(X, estimator, blocks=number(200), workers=number(2)).z for number in (int, kind)
    )
    np.testing.assert_array_equal(given, plain)


def test_labels_that_are_replayed_are_those_that_were_recorded():
    """The tool of the replay tests."""
    labels = RandomLabels(13, KEY).read(0, N)
    ids = ids_for(labels, 13)
    np.testing.assert_array_equal(KeyedLabels(13, KEY).read(ids), labels)


def test_a_loss_of_one_block_is_what_the_aggregator_gets():
    assert recorded(X, "mean", blocks=10).loss == Pure(1)
    assert recorded(X, "mean", blocks=10, ids=IDS).loss == Pure(Fraction(1, 2))
