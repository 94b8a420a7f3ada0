"""Streams, lazy frames and places: the answers of the same rows in memory."""

import datetime as dt

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
from ..support.refused import refused

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


# ---- Faults that were found, each as what it has to be. ----

LO, HI = dt.date(2020, 1, 1), dt.date(2022, 1, 1)
DAYS = np.datetime64(LO) + np.arange(500)
US = DAYS.astype("M8[us]")
BOTH = {"bounds": (LO, HI), "epsilon": 1}
SURE = {"bounds": (0, 9), "epsilon": 400}


def write(path, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def test_a_key_is_told_by_what_lies_below_the_place(tmp_path):
    place = tmp_path / "k=7"
    write(place / "a.parquet", k=pa.array([1, 2, 3], pa.int32()))
    write(place / "b.parquet", k=pa.array([4, 5, 6], pa.int32()))
    files = [str(place / "a.parquet"), str(place / "b.parquet")]
    for path in (place, files, place.as_uri(), str(place / "*.parquet")):
        assert round(dp.sum(dp.scan(path, "k"), **SURE)) == 21
    for path in (tmp_path, tmp_path.as_uri()):
        with pytest.raises(SourceError, match="not have a column that directories name"):
            dp.scan(path, "k")


def test_keys_that_are_null_or_of_two_kinds(tmp_path):
    for key in ("5", "__HIVE_DEFAULT_PARTITION__", "3000000000"):
        write(tmp_path / f"k={key}" / "x.parquet", x=[1.0, 2.0])
    assert round(dp.sum(dp.scan(tmp_path, "x"), **SURE)) == 9
    groups = dp.group_by(dp.scan(tmp_path, ["x"]), "k", keys=["5", "3000000000"])
    assert groups.count(epsilon=400)["count"].tolist() == [2, 2]


def test_answers_about_times_are_recorded_as_text():
    budget = dp.Budget(epsilon=5)
    zoned = pd.Series(US).dt.tz_localize("UTC")
    answers = [
        dp.median(DAYS, **BOTH, budget=budget),
        dp.iqr(DAYS, **BOTH, budget=budget),
        dp.median(zoned, **{**ZONED, "epsilon": 1}, budget=budget),
    ]
    for answer in answers:
        dp.count(DAYS, epsilon=0.1, budget=budget)
        budget.record(answer)
        assert isinstance(budget.history[-1].answer, str)
    dp.count(DAYS, epsilon=0.1, budget=budget)
    budget.record(np.array([LO, HI], "M8[D]"))
    assert budget.history[-1].answer == ["2020-01-01", "2022-01-01"]


def test_the_order_of_rows_is_that_of_the_names_whatever_the_path(tmp_path):
    write(tmp_path / "a" / "x.parquet", x=np.zeros(100))
    write(tmp_path / "a-b" / "x.parquet", x=np.ones(100))
    first = np.arange(200) < 100
    for path in (tmp_path, tmp_path.as_uri(), [tmp_path, tmp_path][:1]):
        assert round(dp.sum(dp.scan(path, "x"), where=first, bounds=(0, 1), epsilon=400)) == 0


KINDS = [
    (("int16", "int64"), (1, 2), np.int64), (("uint32", "int32"), (2**32 - 1, 2), np.int64),
    (("uint64", "int64"), (2**63 + 2048, 2), np.float64),
    (("float64", "int64"), (1, 2**53 + 1), np.float64),
    (("float32", "int64"), (1, 2), np.float64), (("decimal", "int64"), (1, 2), np.float64),
]  # fmt: skip


def test_parts_are_widened_to_what_holds_them(tmp_path):
    for kinds, rows, dtype in KINDS:
        for i, (kind, row) in enumerate(zip(kinds, rows, strict=True)):
            own = pa.decimal128(5, 2) if kind == "decimal" else getattr(pa, kind)()
            write(tmp_path / f"{i}.parquet", x=pa.array([row], own))
        data = dp.scan(tmp_path, "x")
        found = dp.sum(data, bounds=(0, 2.0**64), epsilon=400)
        assert data.dtype == dtype and abs(found - float(sum(rows))) <= 2.0**64 / 20


def test_logs_of_deletes_are_seen_on_either_way(tmp_path):
    logs = "_delta_log/0.json", "_delta_log/0.checkpoint.parquet", ".hoodie/hoodie.properties"
    for i, log in enumerate(logs):
        place = tmp_path / str(i)
        write(place / "x.parquet", x=[1.0])
        (place / log).parent.mkdir()
        (place / log).write_text("{}")
        for path in (place, place.as_uri()):
            with pytest.raises(SourceError, match=r"is a (Delta|Hudi) table"):
                dp.scan(path, "x")


def test_lazy_frames_that_cannot_be_planned():
    for frame in (pl.LazyFrame({"x": [1.0]}).select("nobody"), pl.scan_parquet("nofile.parquet")):
        with pytest.raises(ArgumentTypeError, match="data must be a lazy frame"):
            dp.mean(frame, axis=0, bounds=(0, 1), epsilon=1)
    frame = pl.DataFrame({"x": [1.0, 2.0] * 50, "l": [[1], [2]] * 50, "c": ["a", "b"] * 50})
    counts = dp.group_by(frame.lazy(), "c", keys=["a", "b"]).count(epsilon=400)
    assert counts["count"].tolist() == [50, 50]
    odd = frame.lazy().select("x", (-pl.col("x")).alias("^x$"))
    means = dp.mean(odd, axis=0, bounds=[(-5, 3)] * 2, epsilon=400)
    np.testing.assert_allclose(means, [1.5, -1.5], atol=0.2)


def aware(day):
    return dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC)


ZONED = {"bounds": (aware(LO), aware(HI)), "epsilon": 100}
NO_BINS = [
    {"bins": 2, "bounds": {LO, HI}},
    *({"bins": bins} for bins in ([], b"", np.array(5), [HI, LO], [LO, LO, HI])),
    {"bins": 1000, "bounds": (LO, HI)},
]


def test_what_is_no_list_of_times_is_one_error_before_the_spend():
    for bins in NO_BINS:
        refused(dp.histogram, "^(bounds|bins) must be", data=DAYS, epsilon=1, **bins)


def test_edges_of_bins_are_exact():
    edges = np.array(["2020-01-01T00:00:00.000000001", "2022-03-04T05:06:07.123456789",
                      "2024-01-01T00:00:00.000000003"], "M8[ns]")  # fmt: skip
    for row, due in (
        (edges[1] - 1, [50, 0]), (edges[1], [0, 50]), (edges[2], [0, 50]),
        (edges[0] - 1, [0, 0]), (edges[2] + 1, [0, 0]),
    ):  # fmt: skip
        counts, made = dp.histogram(np.repeat(row, 50), bins=edges, epsilon=400)
        np.testing.assert_array_equal(counts, due)
        np.testing.assert_array_equal(made, edges)


def test_an_iterator_that_goes_on_is_not_from_the_beginning():
    batches = iter(pa.table({"x": np.arange(10.0)}).to_batches(2))
    data = dp.stream(lambda: batches, "x")
    with pytest.raises(DataError, match="must start at its first row"):
        dp.count(data, epsilon=1)
