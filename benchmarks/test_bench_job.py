"""A job of 10 columns with 4 statistics each, in shared passes, beside one call after the other."""

import numpy as np
import pytest

import dpfast as dp

from .conftest import rows

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

COLUMNS = [f"c{i}" for i in range(10)]
#: Each statistic, and what it takes beside bounds.
ASKED = {
    "sum": {},
    "mean": {},
    "variance": {},
    "histogram": {"bins": 20},
}
EACH = 0.5
ROUNDS = {"rounds": 3, "warmup_rounds": 1}


@pytest.fixture(scope="module", params=["plain", "zstd"])
def job(request, tmp_path_factory):
    """A Parquet file of 3e6 rows, and the job over it."""
    place = tmp_path_factory.mktemp("job")
    rng = np.random.default_rng(0)
    table = pa.table({c: np.round(rng.normal(50, 12, rows(3_000_000)), 2) for c in COLUMNS})
    kind = "none" if request.param == "plain" else "zstd"
    pq.write_table(table, place / "t.parquet", compression=kind)
    text = [f'[data]\npath = "t.parquet"\n[budget]\nepsilon = {EACH * 40}\nneighbors = "replace"\n']
    for column in COLUMNS:
        for name, arguments in ASKED.items():
            more = "".join(f"{k} = {v}\n" for k, v in arguments.items())
            text.append(
                f'[[release]]\nname = "{name} {column}"\nstatistic = "{name}"\n'
                f'column = "{column}"\nbounds = [0, 100]\n{more}'
            )
    (place / "job.toml").write_text("".join(text))
    return place


@pytest.mark.benchmark(group="40 releases of a file")
def test_job(benchmark, job):
    found = benchmark.pedantic(dp.job.run, (job / "job.toml",), **ROUNDS)
    assert found.passes == 1
    assert all(abs(found[f"mean {c}"] - 50) < 1 for c in COLUMNS)


@pytest.mark.benchmark(group="40 releases of a file")
def test_one_call_after_the_other(benchmark, job):
    def calls():
        return {
            (name, c): getattr(dp, name)(
                dp.scan(job / "t.parquet", c),
                bounds=(0, 100),
                epsilon=EACH,
                neighbors="replace",
                **arguments,
            )
            for c in COLUMNS
            for name, arguments in ASKED.items()
        }

    found = benchmark.pedantic(calls, **ROUNDS)
    assert all(abs(found["mean", c] - 50) < 1 for c in COLUMNS)


@pytest.mark.benchmark(group="40 releases of a file")
def test_floor_read_the_file(benchmark, job):
    """pyarrow reads every batch, and nothing is done with it."""

    def read():
        return sum(b.num_rows for b in pq.ParquetFile(job / "t.parquet").iter_batches(1 << 16))

    assert benchmark.pedantic(read, **ROUNDS) == rows(3_000_000)
