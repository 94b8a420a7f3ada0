"""Statistics of each column of a table: exact answers, missing numbers, weights, errors."""

from __future__ import annotations

import math
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError, DataError
from dpfast.measurement import linear, statistic
from dpfast.rng import InsecureGenerator
from dpfast.statistics.totals import api
from dpfast.summaries import side_by_side
from dpfast.tables import Chunk, memory

from ..support.noise import Recorder, box_noise
from ..support.pairwise import every_value, pairwise, quick_rows
from ..support.views import quoted
from .test_totals import RELATIONS, STATISTICS, expected
from .test_totals import recorded as of_one_column

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

BOUNDS = [(-1.0, 2.5), (0.0, 1000.0), (-7.0, -3.0)]


def recorded(name, data, axis=0, **kw):
    """What each integer may move, the integers that noise is added to, and the exact answers."""
    recorder = Recorder()
    if name == "count":
        kw.pop("bounds", None)
    else:
        kw = {"bounds": BOUNDS[: np.shape(data)[1] if np.ndim(data) == 2 else 3], **kw}
    with (
        patch.object(linear, "plan", linear.plan.__wrapped__),
        patch.object(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__),
        patch.object(linear, "choose_noise", recorder),
    ):
        found = STATISTICS[name](data, epsilon=1, axis=axis, **kw)
    return recorder.asked, recorder.values, found


# ---- Neighbors ----


def test_a_count_of_all_rows_is_drawn_once():
    """Columns are equally long, so a row moves one number."""
    data = np.zeros((50, 3))
    rng = InsecureGenerator(1)
    for kw in [{}, {"where": np.arange(50) < 20}]:
        found = api.count(data, axis=0, epsilon=0.1, rng=rng, **kw)
        assert found.shape == (3,) and len(set(found.tolist())) == 1
    assert api.count(data, axis=0, epsilon=1, neighbors="replace").tolist() == [50] * 3
    spread = [api.count(data, axis=-2, epsilon=0.1, rng=rng)[0] for _ in range(2000)]
    assert np.var(spread) == pytest.approx(200, rel=0.2)


# ---- Exact answers ----


@pairwise
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", ["sum", "mean", "variance"])
@pytest.mark.parametrize("masked", [False, True])
def test_without_noise_it_is_the_statistic_of_each_column(name, relation, masked):
    data = np.random.default_rng(0).normal(0, 1, (300, 3)) * [1, 500, 2] - [0, 0, 5]
    where = data[:, 0] > 0 if masked else None
    found = recorded(name, data, neighbors=relation, where=where)[2]
    assert found.dtype == np.float64
    for j, bounds in enumerate(BOUNDS):
        assert found[j] == expected(name, data[:, j], relation, where, bounds)
        alone = of_one_column(name, data[:, j], bounds=bounds, neighbors=relation, where=where)[2]
        assert found[j] == alone


def files(data, path, names=("a", "b", "c")):
    """Scans of every format that holds a table."""
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet as pq

    table = pa.table({name: data[:, j] for j, name in enumerate("abc"[: data.shape[1]])})
    pq.write_table(table, path / "t.parquet", row_group_size=300)
    pyarrow.feather.write_feather(table, path / "t.feather", compression="uncompressed")
    pyarrow.csv.write_csv(table, path / "t.csv")
    np.save(path / "t.npy", data)
    for ending in ("parquet", "feather", "csv"):
        yield dp.scan(path / f"t.{ending}", list(names))
    yield dp.scan(path / "t.npy", ["abc".index(name) for name in names])


@pytest.mark.parametrize("name", list(STATISTICS))
def test_missing_numbers(name):
    data = np.array([[0.0, 1.0], [math.nan, 5.0], [2.0, math.nan], [1.0, 3.0]])
    holes = {
        "a": pa.array([0.0, None, 2.0, 1.0]),
        "b": pa.array([1.0, 5.0, None, 3.0]),
    }
    kw = {"neighbors": "add-remove", "bounds": (0, 10)}
    if name == "count":
        kw = {"neighbors": "add-remove", "nan": "drop"}
    for where in [None, np.array([True, True, True, False])]:
        found = recorded(name, data, where=where, **kw)[2]
        for form in [
            np.asfortranarray(data),
            pa.table(holes),
            holes,
            pd.DataFrame(data, columns=["a", "b"]),
        ]:
            assert recorded(name, form, where=where, **kw)[2].tolist() == found.tolist()
        kept = data if where is None else data[where]
        exact = {
            "count": lambda x: np.count_nonzero(x == x, axis=0),
            "sum": lambda x: np.nansum(x, axis=0),
            "mean": lambda x: np.nanmean(x, axis=0),
            "variance": lambda x: np.nanvar(x, axis=0),
        }[name](kept)
        np.testing.assert_allclose(found, exact, atol=1e-6)
    if name == "count":
        return
    for nan, value in [("lower", 0.0), ("upper", 10.0), (7, 7.0)]:
        given = {**kw, "nan": nan}
        filled = np.where(np.isnan(data), value, data)
        assert recorded(name, data, **given)[1:2] == recorded(name, filled, **given)[1:2]
    with pytest.raises(DataError, match="nan='raise'"):
        recorded(name, data, bounds=(0, 10), nan="raise")


# ---- Traps ----


# ---- How much noise ----


@quick_rows(1)
@pytest.mark.parametrize("loss", [{"epsilon": 1.0}, {"rho": 0.1}, {"epsilon": 0.3, "delta": 1e-6}])
@pytest.mark.parametrize("relation", RELATIONS)
def test_errors_are_the_same_in_units_of_each_column(loss, relation):
    width, n, draws = 6, 500, 600
    bounds = [(-1.0, 10.0**j) for j in range(width)]
    data = np.full((n, width), 0.0)
    spans = np.array([hi - lo for lo, hi in bounds])
    rng = InsecureGenerator(3)
    kw = {"bounds": bounds, "axis": 0, "neighbors": relation, "rng": rng, **loss}
    found = np.array([api.sum(data, **kw) for _ in range(draws)])
    unit = spans if relation == "replace" else np.array([max(-lo, hi) for lo, hi in bounds])
    deviation = box_noise(
        dp.privacy.loss(loss.get("epsilon"), loss.get("delta", 0), loss.get("rho")), [1] * width
    ).deviation
    if relation == "add-remove":  # centered, where that is less
        made = quoted(api.sum, data, **{**kw, "rng": None})
        np.testing.assert_allclose(found.std(axis=0), made.deviations, rtol=0.12)
        return
    np.testing.assert_allclose(found.std(axis=0) / unit, deviation, rtol=0.12)
    if "delta" not in loss and "epsilon" in loss:  # the norm of the box, and not Laplace noise
        assert deviation == pytest.approx(math.sqrt(56 / 3)) and deviation < 0.52 * 6 * math.sqrt(2)


# ---- Weights ----


@pytest.mark.full
@pytest.mark.parametrize("name", ["sum", "mean"])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("masked", [False, True])
def test_weights_by_name_or_as_an_array(name, relation, masked, tmp_path, monkeypatch):
    monkeypatch.setattr(side_by_side, "BLOCK", 100)
    rng = np.random.default_rng(5)
    data = np.column_stack([rng.normal(0, 2, (700, 2)), rng.uniform(0, 3, 700)])
    rows, weights = data[:, :2], data[:, 2]
    where = rows[:, 1] > 0 if masked else None

    def run(given, weights, axis=0, bounds=((-1.0, 2.5), (0.0, 1.0))):
        recorder = Recorder()
        with (
            patch.object(linear, "plan", linear.plan.__wrapped__),
            patch.object(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__),
            patch.object(linear, "choose_noise", recorder),
        ):
            found = STATISTICS[name](
                given,
                weights=weights,
                weight_bounds=(0.5, 2.0),
                axis=axis,
                bounds=bounds,
                epsilon=1,
                neighbors=relation,
                where=where,
            )
        return recorder.values, np.array(found).tolist()

    whole = run(rows, weights)
    x, w = np.clip(rows, [-1, 0], [2.5, 1]), np.clip(weights, 0.5, 2)
    x, w = (x, w) if where is None else (x[where], w[where])
    exact = w @ x if name == "sum" else np.average(x, axis=0, weights=w)
    np.testing.assert_allclose(whole[1], exact, rtol=1e-7)
    assert run(np.asfortranarray(rows), weights.tolist()) == whole
    assert run(rows, pa.array(weights)) == whole
    table = {"a": data[:, 0], "c": weights, "b": data[:, 1]}
    records = np.rec.fromarrays(list(table.values()), names="a,c,b")
    for form in [table, pa.table(table), pd.DataFrame(table), records]:
        assert run(form, "c") == whole
    for form in files(data, tmp_path):
        assert run(form, "2" if "0" in getattr(form, "names", ()) else "c") == whole
    for form in files(data, tmp_path, names=("a", "b")):
        assert run(form, "2" if "0" in getattr(form, "names", ()) else "c") == whole
        assert run(form, weights) == whole
    one = run(rows[:, 0], weights, None, (-1.0, 2.5))
    assert one[1] == whole[1][0]
    for form in [dp.scan(tmp_path / "t.parquet", "a"), dp.scan(tmp_path / "t.csv", "a")]:
        assert run(form, "c", None, (-1.0, 2.5)) == one
        assert run(form, weights, None, (-1.0, 2.5)) == one
    assert run(dp.scan(tmp_path / "t.npy", 0), "2", None, (-1.0, 2.5)) == one
    assert run({"a": rows[:, 0], "c": weights}, "c", None, (-1.0, 2.5)) == one


def test_weights_that_are_not_as_many_as_the_rows_of_a_text_file(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n2\n3\n")
    for count in [2, 4]:
        with pytest.raises(DataError, match="weights must be as many as the rows"):
            api.sum(
                dp.scan(tmp_path / "t.csv", "a"),
                weights=np.ones(count),
                weight_bounds=(0, 1),
                bounds=(0, 1),
                epsilon=1,
            )


# ---- The ledger, arguments ----


def test_what_is_spent():
    data = np.zeros((20, 3))
    budget = dp.Budget(epsilon=3, delta=1e-6, neighbors="replace")
    kw = {"axis": 0, "bounds": (0, 1), "budget": budget}
    api.mean(data, epsilon=1, delta=1e-8, **kw)  # without delta there is less noise
    assert budget.remaining == {"epsilon": 2, "delta": Fraction(1, 10**6)}
    api.sum(np.zeros((20, 2000)), epsilon=1, delta=1e-6, **kw)
    assert budget.remaining == {"epsilon": 1, "delta": 0}
    with pytest.raises(BudgetError):
        api.variance(data, epsilon=1.5, **kw)
    api.count(data, axis=0, nan="drop", epsilon=1, neighbors="replace", budget=budget)
    assert [line.what for line in budget.history] == [
        "mean of each column, nan=raise",
        "sum of each column, nan=raise",
        "count of each column, nan=drop",
    ]


MATRIX = np.zeros((3, 2))


@every_value
@pytest.mark.parametrize("name", list(STATISTICS))
@pytest.mark.parametrize(
    ("kw", "error", "words"),
    [
        ({"axis": None}, ArgumentError, "got 2: take one, as data.*, or pass axis=0 for each"),
        ({"axis": 1}, ArgumentError, "axis must be 0 .or -2. .* a row has no answer, got 1"),
        ({"axis": -1}, ArgumentError, "axis must be 0"),
        ({"axis": (0, 1)}, ArgumentError, "axis must be 0"),
        ({"data": np.zeros(3)}, ArgumentError, "left out for one"),
        ({"data": [1.0, 2.0, 3.0]}, ArgumentTypeError, "does not say what its columns are"),
        ({"data": np.zeros((2, 1)), "axis": None}, ArgumentError, "got 1: take one, as data"),
        ({"data": {"a": [1.0]}, "axis": None}, ArgumentError, "got a dict of 1: name one"),
        (
            {"data": pa.table({"a": [1.0]}), "axis": None},
            ArgumentError,
            "a Table of 1: name",
        ),
        (
            {"data": pd.DataFrame({"a": [1.0]}), "axis": None},
            ArgumentError,
            "a DataFrame of 1: ",
        ),
        ({"data": {"a": [1.0], "b": np.array(["x"])}}, ArgumentTypeError, "column 'b' of data"),
        ({"data": {}}, ArgumentTypeError, "a column of numbers"),
        ({"data": np.zeros((3, 0))}, ArgumentTypeError, "without columns"),
        ({"data": np.zeros((3, 0), order="F")}, ArgumentTypeError, "without columns"),
        ({"data": np.zeros((3, 2), complex, order="F")}, ArgumentTypeError, "real numbers"),
        ({"data": np.zeros((3, 2), complex)}, ArgumentTypeError, "complex"),
        ({"data": np.zeros((3, 2, 2))}, ArgumentError, "axis must be 0|dimensions"),
        ({"bounds": [(0, 1)] * 3}, ArgumentError, "one for each column of the data, 2"),
        ({"bounds": [(0, 1), (1, 0)]}, ArgumentError, "bounds"),
        ({"bounds": [(0, 1)] * 2, "data": np.zeros(3), "axis": None}, ArgumentTypeError, "bounds"),
    ],
)
def test_bad_arguments_cost_nothing(name, kw, error, words):
    budget = dp.Budget(epsilon=1)
    given = {"data": MATRIX, "axis": 0, "bounds": (0, 5), "epsilon": 0.5, **kw}
    if name == "count":
        del given["bounds"]
        if "bounds" in kw:
            return
        budget = dp.Budget(epsilon=1, neighbors="add-remove")
        if given["axis"] is None:
            given["nan"] = "drop"  # else rows are counted
    with pytest.raises(error, match=words) as caught:
        STATISTICS[name](**given, budget=budget)
    assert "\n" not in str(caught.value)
    assert budget.remaining["epsilon"] == 1


@pytest.mark.parametrize(
    ("data", "weights", "axis", "words"),
    [
        ({"a": [1.0], "b": [2.0], "w": [1.0]}, "w", None, "axis must be 0"),
        ({"a": [1.0], "w": [1.0]}, "x", 0, "name of a column"),
        ({"w": [1.0]}, "w", 0, "a column beside those of the data"),
        (MATRIX, "w", 0, "name of a column"),
        (np.zeros(3), "w", None, "name of a column"),
        (MATRIX, np.ones(2), 0, "weights must be as long as the data, 3 rows"),
        (MATRIX, np.ones(3), None, "or pass axis=0"),
        (MATRIX, MATRIX, 0, "one number for each row"),
        (MATRIX, np.ones(3), 1, "axis must be 0"),
    ],
)
def test_bad_weights_cost_nothing(data, weights, axis, words):
    budget = dp.Budget(epsilon=1)
    with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
        api.mean(
            data,
            axis=axis,
            weights=weights,
            weight_bounds=(0, 1),
            bounds=(0, 1),
            epsilon=1,
            neighbors="replace",
            budget=budget,
        )
    assert budget.remaining["epsilon"] == 1


def test_a_source_is_one_column_whatever_it_calls_its_own():
    class Own:
        dtype, length, nulls, columns = np.dtype(np.float64), 3, 0, ["x"]

        def reduce(self, summarise, merge):
            return summarise(Chunk(np.ones(3), 0))

        def sample(self, count, words):
            return None

    assert of_one_column("sum", Own(), bounds=(0, 1))[2] == 3
    with pytest.raises(ArgumentError, match="left out for one"):
        api.sum(Own(), axis=0, bounds=(0, 1), epsilon=1)


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(memory, "SLICE", 1 << 8)
    monkeypatch.setattr(memory, "SLICE", 1 << 8)
    data = np.random.default_rng(4).normal(0, 1, (5000, 3))
    found = recorded("variance", data, neighbors="add-remove")[:2]
    for workers in ["2", "5"]:
        monkeypatch.setenv("DPFAST_NUM_THREADS", workers)
        for form in [data, np.asfortranarray(data)]:
            assert recorded("variance", form, neighbors="add-remove")[:2] == found
