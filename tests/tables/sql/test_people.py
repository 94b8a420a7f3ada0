"""People in a database: the answers of rows in memory, bit by bit."""

import math

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentTypeError, DataError
from dpfast.rng import InsecureGenerator

from ...support.databases import ENGINES, HOSTILE, connect, table
from ...support.pairwise import quick_rows

RNG = np.random.default_rng(34)
DATA = {"who": RNG.integers(0, 30, 200), "x": RNG.normal(size=200), "n": RNG.integers(-5, 6, 200)}
NUMBERS = [math.nan if one is None else one for one in HOSTILE["float64"][1]]
HOSTILE_ROWS = {
    "who": [i % 40 for i in range(len(NUMBERS) ** 2)],
    "x": [x for x in NUMBERS for _ in NUMBERS],
    "w": [w for _ in NUMBERS for w in NUMBERS],
}
TWO, W = {"bounds": [(-20, 80), (0, 60)]}, {"weights": "w", "weight_bounds": (1, 2)}
#: Releases that the battery does not have, with other bounds of rows, about hostile numbers too.
RELEASES = {
    "sum": (dp.sum, ["x"], {"bounds": (-1, 2)}),
    "mean": (dp.mean, ["x"], {"bounds": (-1, 2), "nan": "upper"}),
    "two counts": (dp.count_nonzero, ["x", "n"], {"axis": 0}),
    "total": (dp.sum, ["x"], {"bounds": (-1, 2), "per_unit": (-2.5, 4), "max_rows": None}),
    "total of counts": (
        dp.count_nonzero, ["x", "n"], {"axis": 0, "per_unit": (2, 5), "max_rows": None}
    ),
    "weighted sum": (dp.sum, ["x", "w"], {**W, "bounds": (-20, 80), "nan": "drop"}),
    "weighted mean": (dp.mean, ["x", "w"], {**W, "bounds": (60, 80), "nan": "upper"}),
    "correlation": (dp.correlation, ["x", "w"], {**TWO, "nan": 7.5}),
    "ratio": (dp.ratio, ["x", "w"], {"bounds": [(-20, 80), (1, 60)], "nan": "lower"}),
    "histogram": (dp.histogram, ["x", "w"], {"bins": [[-20, 10, 80], [0, 1, 50]]}),
    "categories": (dp.histogram, ["w"], {"categories": [0.5, 7.0, 50.0]}),
    "tree": (dp.tree_histogram, ["w"], {"bins": 16, "bounds": (-20, 80)}),
}  # fmt: skip
QUICK = [
    *(("duckdb", "total", None), ("duckdb", "tree", 3), ("duckdb", "weighted mean", 1)),
    *(("sqlite", "two counts", 1), ("sqlite", "histogram", 50)),
]
FULL = [
    pytest.param(engine, name, most, marks=pytest.mark.full)
    for engine in ("duckdb", "sqlite", "postgres")
    for name in RELEASES
    for most in (1, 4)
]


def in_database(engine, data=None):
    kinds = {"who": "int64", "x": "float64", "n": "int64", "w": "float64"}
    columns = {k: (kinds[k], np.asarray(values).tolist()) for k, values in (data or DATA).items()}
    return table(connect(engine), columns)


def plain(answer):
    answer = answer[0] if isinstance(answer, tuple) else getattr(answer, "counts", answer)
    return np.asarray(answer)


@pytest.mark.parametrize("engine, name, most", QUICK + FULL)
def test_answers_are_those_of_memory(engine, name, most):
    release, columns, kw = RELEASES[name]
    hostile = "w" in columns
    data = {k: np.array(v) for k, v in HOSTILE_ROWS.items()} if hostile else DATA
    rows = in_database(engine, data)[["who", *columns] if hostile else ["who", "x", "n"]]
    masks = ((None, None),) if hostile else ((None, None), (DATA["n"] > 0, rows.n > 0))
    for mask, where in masks:
        same = {"epsilon": 1, "max_rows": most, **kw}
        if not hostile and len(columns) == 1:
            here, ids, there = data[columns[0]], data["who"], rows[columns[0]]
        else:
            here, ids, there = {k: data[k] for k in ("who", *columns)}, "who", rows
            there = rows[["who", *columns]]
        a = release(here, ids=ids, where=mask, rng=InsecureGenerator(1), **same)
        b = release(there, ids="who", where=where, rng=InsecureGenerator(1), **same)
        np.testing.assert_array_equal(plain(a), plain(b))


@quick_rows(1)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("loss", [{"epsilon": 3}, {"epsilon": 30}, {"rho": 9}])
def test_parts_of_rows_that_match_do_not_overflow(engine, loss):
    """For some losses the noise is for twice the cells of a row, which no 32 bits hold."""
    rows = in_database(engine)
    rows = rows.mutate(word=(rows.n == 5).ifelse("a", "b"))
    for equal, column in ((5, "n"), ("a", "word")):
        unit = {"equal": equal, "max_rows": 2, "ids": "who", **loss}
        a = dp.proportion(rows[["who", column]], rng=InsecureGenerator(1), **unit)
        here = {"who": DATA["who"], "n": DATA["n"]}
        b = dp.proportion(here, rng=InsecureGenerator(1), **unit | {"equal": 5})
        assert a == b
    unit = {"keys": [0, 1], "ids": "who", "max_groups": 1, "max_rows": 2}
    dp.group_by(rows, "n", **unit).proportion("x", equal=1, **loss)


def test_missing_numbers_and_ids():
    columns = {"who": ("int64", [1, 1, None, 2]), "x": ("float64", [1.0, None, 1.0, 1.0])}
    rows = table(connect("duckdb"), columns)
    unit = {"bounds": (0, 1), "ids": "who", "max_rows": 5, "epsilon": 100}
    for nan, due in (("drop", 2), ("upper", 3)):
        assert abs(dp.sum(rows.x, nan=nan, **unit) - due) < 1
    for call in (
        lambda: dp.sum(rows.x, nan="raise", **unit),
        lambda: dp.covariance(rows.mutate(y=1), nan="raise", **unit | {"bounds": [(0, 1)] * 2}),
    ):
        with pytest.raises(DataError, match="NaN or null"):
            call()


def test_what_no_database_bounds_is_refused_before_the_spend():
    rows, budget = in_database("duckdb"), dp.Budget(epsilon=1)
    unit, w = {"ids": "who", "max_rows": 1, "epsilon": 1, "budget": budget}, W | {"weights": "n"}
    for call, words in (
        (lambda: dp.histogram(rows, bins=[0, 1], **w, **unit), "rows stay in a database"),
        (lambda: dp.count(rows.x, **unit | {"ids": DATA["who"]}), "ids must be the name"),
        (lambda: dp.count(rows.n, **unit | {"ids": "x"}), "column 'x' must be a column of integ"),
    ):
        with pytest.raises(ArgumentTypeError, match=words):
            call()
    assert budget.remaining["epsilon"] == 1
