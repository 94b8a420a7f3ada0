"""A private median straight from a file, beside reading the file and asking for its maximum."""

import numpy as np
import pytest

import dpfast as dp

from .conftest import rows

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
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
        dp.median, (source,), {"bounds": BOUNDS, "epsilon": 1.0}, rounds=5, warmup_rounds=1
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
