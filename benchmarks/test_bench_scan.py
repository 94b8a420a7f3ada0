"""Columns of files: a private median beside reading the file for its maximum, and whole rows."""

import numpy as np
import pytest

import dpfast as dp
from dpfast.tables.data import as_rows

from .conftest import rows

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
pytest.importorskip("pyarrow.compute")
pq = pytest.importorskip("pyarrow.parquet")

BOUNDS = (0.0, 100.0)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same kind of column as Parquet, Arrow and .npy (2e7 rows) and as text (2e6 rows)."""
    place = tmp_path_factory.mktemp("scan")
    values = np.random.default_rng(0).normal(50.0, 12.0, rows(20_000_000))
    values[0] = 1000.0
    table = pa.table({"v": values})
    pq.write_table(table, place / "v.parquet", use_dictionary=False)
    with (
        pa.OSFile(str(place / "v.arrow"), "wb") as file,
        pa.ipc.new_file(file, table.schema) as out,
    ):
        out.write_table(table, max_chunksize=1 << 20)
    np.save(place / "v.npy", values)
    csv.write_csv(table.slice(0, rows(2_000_000)), place / "v.csv")
    return place


FLOORS = {
    "parquet": lambda p: np.max(pq.read_table(p, columns=["v"])["v"].to_numpy()),
    "arrow": lambda p: np.max(pa.ipc.open_file(pa.memory_map(str(p))).read_all()["v"].to_numpy()),
    "npy": lambda p: np.max(np.load(p, mmap_mode="r")),
    "csv": lambda p: np.max(csv.read_csv(p)["v"].to_numpy()),
}


@pytest.mark.parametrize("form", FLOORS)
@pytest.mark.benchmark(group="a column of a file")
def test_private_median(benchmark, files, form):
    source = dp.scan(files / f"v.{form}")
    value = benchmark.pedantic(
        dp.median,
        (source,),
        {"bounds": BOUNDS, "epsilon": 1.0, "neighbors": "replace"},
        rounds=5,
        warmup_rounds=1,
    )
    assert abs(value - 50) < 1


@pytest.mark.parametrize("form", FLOORS)
@pytest.mark.benchmark(group="a column of a file")
def test_one_pass(benchmark, files, form):
    """What a pass costs without the release: the largest value, chunk by chunk."""
    source = dp.scan(files / f"v.{form}")
    found = benchmark.pedantic(
        source.reduce, (lambda chunk: np.max(chunk.values), max), rounds=5, warmup_rounds=1
    )
    assert found == 1000.0


@pytest.mark.parametrize("form", FLOORS)
@pytest.mark.benchmark(group="a column of a file")
def test_floor_read_and_max(benchmark, files, form):
    found = benchmark.pedantic(FLOORS[form], (files / f"v.{form}",), rounds=5, warmup_rounds=1)
    assert found == 1000.0


@pytest.fixture(scope="module")
def text_files(tmp_path_factory):
    """About 200 megabytes of text: six columns, as pyarrow writes them and as in Germany."""
    place, n = tmp_path_factory.mktemp("text"), rows(4_000_000)
    dice = np.random.default_rng(0)
    delays = np.round(dice.normal(5, 40, n), 2)
    columns = {
        "id": np.arange(n),
        "carrier": np.array(["UA", "AA", "DL", "WN", "B6"])[dice.integers(0, 5, n)],
        "delay": delays,
        "distance": dice.integers(50, 5000, n),
        "note": np.array(["on time", "late", "cancelled, weather", "x"])[dice.integers(0, 4, n)],
        "z": dice.normal(size=n),
    }
    csv.write_csv(pa.table(columns), place / "plain.csv")
    shown = pa.array(delays).cast(pa.string())
    columns["delay"] = pa.compute.binary_join_element_wise(
        pa.compute.replace_substring(shown, ".", ","), "min", " "
    )
    german = csv.WriteOptions(delimiter=";")
    csv.write_csv(pa.table(columns), place / "german.csv", german)
    return place


#: How the files are written.
WRITTEN = {"plain": {}, "german": {"delimiter": ";", "decimal": ",", "symbols": ["min"]}}


@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.benchmark(group="one column of 200 megabytes of text")
def test_sum_of_a_column_of_text(benchmark, text_files, form):
    source = dp.scan(text_files / f"{form}.csv", "delay", **WRITTEN[form])
    ask = {"bounds": (-100, 500), "nan": 0, "epsilon": 1}
    assert benchmark.pedantic(dp.sum, (source,), ask, rounds=5, warmup_rounds=1) > 0


@pytest.mark.benchmark(group="one column of 200 megabytes of text")
def test_floor_sum_of_a_column_of_text(benchmark, text_files):
    """pyarrow's own reader, batch by batch; in several threads, as it does by default."""

    def floor():
        convert = csv.ConvertOptions(include_columns=["delay"])
        with csv.open_csv(text_files / "plain.csv", convert_options=convert) as batches:
            return sum(pa.compute.sum(batch[0]).as_py() for batch in batches)

    assert benchmark.pedantic(floor, rounds=5, warmup_rounds=1) > 0


@pytest.mark.benchmark(group="one column of 200 megabytes of text")
def test_floor_sum_of_a_whole_column_of_text(benchmark, text_files):
    """pyarrow's reader of whole columns."""

    def floor():
        convert = csv.ConvertOptions(include_columns=["delay"])
        table = csv.read_csv(text_files / "plain.csv", convert_options=convert)
        return pa.compute.sum(table["delay"]).as_py()

    assert benchmark.pedantic(floor, rounds=5, warmup_rounds=1) > 0


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Three columns of numbers and one of ids (4e6 rows) as Parquet and as Arrow."""
    place = tmp_path_factory.mktemp("tables")
    n = rows(4_000_000)
    rng = np.random.default_rng(1)
    table = pa.table({**{c: rng.normal(size=n) for c in "abc"}, "user": rng.integers(0, n, n)})
    pq.write_table(table, place / "t.parquet", use_dictionary=False)
    with (
        pa.OSFile(str(place / "t.arrow"), "wb") as file,
        pa.ipc.new_file(file, table.schema) as out,
    ):
        out.write_table(table, max_chunksize=1 << 20)
    return place, float(table["b"].to_numpy().sum())


def whole(path):
    """The rows of a whole table in memory, by pyarrow."""
    if path.suffix == ".parquet":
        held = pq.read_table(path, columns=list("abc"))
    else:
        held = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    found = np.empty(len(held), [(c, float) for c in "abc"])
    for name in "abc":
        found[name] = held[name].to_numpy()
    return float(found["b"].sum())


def by_chunks(path, ids):
    source = as_rows(dp.scan(path, list("abc")), ids)
    return source.reduce(lambda chunk: float(chunk.rows["b"].sum()), lambda a, b: a + b)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("how", ["rows", "rows and ids", "floor: read whole"])
@pytest.mark.benchmark(group="a table of a file")
def test_rows_of_a_table(benchmark, tables, form, how):
    place, total = tables
    path = place / f"t.{form}"
    if how.startswith("floor"):
        found = benchmark.pedantic(whole, (path,), rounds=5, warmup_rounds=1)
    else:
        ids = "user" if how.endswith("ids") else None
        found = benchmark.pedantic(by_chunks, (path, ids), rounds=5, warmup_rounds=1)
    assert abs(found - total) < 1e-3
