"""Streams, lazy frames and places: the answers of the same rows in memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError, SourceError
from dpfast.rng import InsecureGenerator

from ..support.lazy import pl
from ..support.pairwise import quick_rows

N = 3000
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "pay": RNG.normal(50, 20, N),
        "age": RNG.integers(0, 100, N),
        "town": RNG.choice(["a", "bb", "a town of many letters"], N),
        "id": RNG.integers(0, 300, N),
    }
)
ARROW = pa.Table.from_pandas(TABLE)
B = {"bounds": (0, 100), "epsilon": 1.0}


def rng():
    return {"rng": InsecureGenerator(5)}


def by_duckdb():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("t", ARROW)
    return lambda: connection.sql("select * from t").to_arrow_reader(500)


#: What makes batches, as a factory.
FACTORIES = {
    "a reader of Arrow": lambda: lambda: ARROW.to_reader(max_chunksize=400),
    "a table": lambda: lambda: ARROW,
    "batches": lambda: lambda: iter(ARROW.to_batches(700)),
    "frames": lambda: lambda: iter([pl.from_arrow(ARROW[:9]), pl.from_arrow(ARROW[9:])]),
    "DuckDB": by_duckdb,
    "Polars": lambda: lambda: pl.from_pandas(TABLE).lazy().collect_batches(chunk_size=900),
}


def answers(column, table):
    return [
        dp.mean(column("pay"), **B, **rng()),
        dp.median(column("pay"), **B, **rng()),
        dp.mean(column("pay"), where=TABLE["age"].to_numpy() > 50, **B, **rng()),
        dp.mean(column(["pay", "age"]), axis=0, bounds=[(0, 100)] * 2, epsilon=1, **rng()),
        dp.histogram(column(["town"]), categories=["a", "bb"], epsilon=1, **rng())[0],
        dp.sample_and_aggregate(column("pay"), "mean", blocks=20, **B, **rng()),
        dp.group_by(table, "town", ids="id", max_groups=2, max_rows=20).median(
            "pay", **B, delta=1e-6, **rng()
        ),
    ]


@quick_rows(2)
@pytest.mark.parametrize("name", FACTORIES)
def test_a_stream_has_the_answers_of_its_rows(name):
    factory = FACTORIES[name]()
    found = answers(lambda names: dp.stream(factory, names), dp.stream(factory, ["pay"]))
    np.testing.assert_equal(found, answers(lambda names: TABLE[names], TABLE))


def test_a_lazy_frame_is_data():
    lazy = pl.from_pandas(TABLE).lazy().with_columns(pl.col("pay") * 1.0).filter(pl.col("age") >= 0)
    found = dp.group_by(lazy, "town", keys=["a"]).mean("pay", **B, **rng())
    due = dp.group_by(TABLE, "town", keys=["a"]).mean("pay", **B, **rng())
    np.testing.assert_equal(found, due)
    both = lazy.select("pay", "age")
    assert dp.covariance(both, bounds=[(0, 100)] * 2, epsilon=1, **rng()).shape == (2, 2)


@pytest.mark.filterwarnings("ignore")  # of pandas about the protocol
def test_the_interchange_protocol():
    def frame(held):
        """What says what it holds by the dataframe interchange protocol and by nothing else."""
        own = {"__dataframe__": lambda self, *given, **more: held.__dataframe__(*given, **more)}
        return type("Frame", (), own)()

    both, two = ["pay", "age"], {"axis": 0, "bounds": [(0, 100)] * 2, "epsilon": 1}
    for some in (lambda names: TABLE[names], ARROW.select):
        found = dp.median(frame(some(["pay"])), **B, **rng())
        assert found == dp.median(TABLE["pay"], **B, **rng())
        means = dp.mean(frame(some(both)), **two, **rng())
        np.testing.assert_array_equal(means, dp.mean(TABLE[both], **two, **rng()))
    for wrong in (frame(5), frame(TABLE[["town"]])):
        with pytest.raises(ArgumentTypeError, match="data must"):
            dp.median(wrong, **B)


def test_what_is_no_stream_is_refused_before_the_spend():
    for factory in (ARROW, 5, None, "x.parquet"):
        with pytest.raises(ArgumentTypeError, match="factory must be a function"):
            dp.stream(factory, "pay")
    for factory in (lambda: 5, lambda: iter([1]), lambda: iter([]), lambda: 1 / 0):
        with pytest.raises((ArgumentTypeError, ArgumentError), match="factory must be") as caught:
            dp.stream(factory, "pay")
        assert caught.value.__context__ is None
    with pytest.raises(SourceError, match=r"column 'nobody' is not in the stream"):
        dp.stream(lambda: ARROW, "nobody")
    with pytest.raises(SourceError, match="'town' of the stream must hold"):
        dp.mean(dp.stream(lambda: ARROW, "town"), **B)


def test_a_stream_that_changes_between_passes_is_an_error_after_the_spend():
    other = ARROW.set_column(0, "pay", ARROW["age"])
    for second in (ARROW[:-1], other, ARROW.drop_columns("pay")):
        budget, left = dp.Budget(epsilon=1), iter((ARROW, ARROW, second))
        data = dp.stream(lambda left=left: next(left), "pay")  # the first one for the schema
        with pytest.raises(DataError, match="changed between two reads"):
            dp.median(data, **B, budget=budget)
        assert budget.spent["epsilon"] == 1


def test_an_error_in_a_pass_tells_no_row():
    def broken():
        yield ARROW.to_batches()[0]
        raise ValueError(f"row {TABLE['town'][0]}")

    budget = dp.Budget(epsilon=1)
    with pytest.raises(SourceError, match=r"cannot be read to its end.*ValueError") as caught:
        dp.mean(dp.stream(broken, "pay"), **B, budget=budget)
    assert caught.value.__context__ is None and "row" not in str(caught.value).split("read")[0]
    assert budget.spent["epsilon"] == 1


def test_directories_of_keys_are_columns(tmp_path):
    for town, own in TABLE.groupby("town"):
        for old in (0, 1):
            folder = tmp_path / f"town={town}" / f"old={old}"
            folder.mkdir(parents=True)
            rows = own[(own["age"] > 50) == old].drop(columns="town")
            pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), folder / "x.parquet")
    found = dp.group_by(dp.scan(tmp_path, ["pay"]), ["town", "old"], keys=[["a", "bb"], [0, 1]])
    plain = TABLE.assign(old=(TABLE["age"] > 50).astype(int))
    due = dp.group_by(plain, ["town", "old"], keys=[["a", "bb"], [0, 1]])
    np.testing.assert_equal(found.mean("pay", **B, **rng()), due.mean("pay", **B, **rng()))
    assert dp.sum(dp.scan(tmp_path, "old"), **B, **rng()) == dp.sum(plain["old"], **B, **rng())
