"""What does a call take of memory beside the data? Measure and print; Linux only.

    python benchmarks/memory.py [--rows 50000000] [--stream PATH]

First sample and aggregate, then counts, sums, means and histograms of a file of Parquet that
streams by; with `--stream`, only these, of a file that `benchmarks/stream.py` has written.

Each line is a process of its own, which has the data (float64 in memory, or a file of Parquet),
makes the same call on a few rows first, so that everything is imported and compiled, and then reads
its own peak of resident memory. Under a limit of address space, extra memory cannot be more than
what the limit leaves, and the call has to spill.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
os.environ.setdefault("DPFAST_NUM_THREADS", "1")

import numpy as np

import dpfast as dp
from benchmarks import stream

MIB = 1 << 20
#: Bytes of address space that a limit leaves. With much less, the interpreter has no room to start
#: the thread that decodes, and may wait for it without end.
SPARE = 150 * MIB
#: An estimator, the number of blocks, and how they are made.
ARRAYS = [
    ("mean", 1000, "random"),
    ("mean", 1_000_000, "random"),
    ("var", 1000, "random"),
    ("median", 1000, "contiguous"),
    ("median", 1000, "random"),
    ("median", 1_000_000, "random"),
    ("median", 1000, "key"),
    ("python", 10_000, "random"),
    ("numba", 10_000, "random"),
]


def estimator_of(name):
    if name == "python":
        return lambda block: block.mean()
    if name == "numba":
        import numba

        return numba.njit(nogil=True)(lambda block: block.mean())
    return name


def status(field):
    """A line of bytes of /proc/self/status."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) << 10
    raise KeyError(field)


def call(data, name, blocks, partition, ids=None):
    asked = {"blocks": blocks, "bounds": (0, 100), "epsilon": 1.0, "neighbors": "replace"}
    return dp.sample_and_aggregate(data, name, partition=partition, ids=ids, **asked)


def array(name, blocks, partition, rows):
    """In a child: bytes of the data, and the peak beside them."""
    estimator, rng = estimator_of(name), np.random.default_rng(0)
    data = rng.normal(50.0, 12.0, rows)
    ids = rng.integers(0, 1000 + rows // 10, rows) if partition == "key" else None
    call(data[:9999], estimator, min(blocks, 99), partition, None if ids is None else ids[:9999])
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = status("VmRSS")
    call(data, estimator, blocks, partition, ids)
    print(data.nbytes, status("VmHWM") - before)


def parquet(path, name, spare):
    """In a child: the peak beside what was there, with `spare` bytes of address space left."""
    import resource

    column = dp.scan(path, "x")
    column.reduce(lambda chunk: 0, lambda a, b: a)  # what pyarrow takes for itself
    call(np.arange(9999.0), name, 99, "random")
    limit = status("VmSize") + spare
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        np.ones(column.length)
    except MemoryError:
        pass
    else:
        sys.exit("the limit does not bind")
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    found = call(column, name, 1000, "random")
    assert 45 < found < 55
    print(os.path.getsize(path), status("VmHWM") - before)


def write(path, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, schema = np.random.default_rng(0), pa.schema([("x", pa.float64())])
    with pq.ParquetWriter(path, schema, use_dictionary=False, compression="none") as out:
        for at in range(0, rows, MIB):
            some = rng.normal(50.0, 12.0, min(MIB, rows - at))
            out.write_table(pa.table({"x": some}))


def read_only(path, column, workers):
    """pyarrow's own scan: every batch of a column, with which nothing is done."""
    import pyarrow.parquet as pq

    def some(first):
        with pq.ParquetFile(path, pre_buffer=False) as opened:
            groups = list(range(first, opened.num_row_groups, workers))
            rows = sum(
                len(batch)
                for batch in opened.iter_batches(
                    1 << 16, row_groups=groups, columns=[column], use_threads=False
                )
            )
        seen.append(rows)

    seen = []
    team = [threading.Thread(target=some, args=(i,)) for i in range(workers)]
    for thread in team:
        thread.start()
    for thread in team:
        thread.join()
    return sum(seen)


def streamed(path, what, column, workers):
    """In a child: nanoseconds and peak of a pass over a file, whose result is checked."""
    import pyarrow as pa

    from dpfast.measurement import linear
    from dpfast.statistics.totals import count
    from dpfast.summaries import cells as _cells

    rows, known = stream.read(path)
    lo, hi = stream.BOUNDS[column]
    loss = {"epsilon": 500}  # so much that counts get no noise at all
    some = {"bounds": (lo, hi), "neighbors": "replace", **loss}
    bins = {"bins": stream.BINS, **some}
    calls = {
        "scan": lambda x: read_only(path, column, workers),
        "count": lambda x: dp.count(x, nan="drop", **loss),
        "sum": lambda x: dp.sum(x, **some),
        "mean": lambda x: dp.mean(x, **some),
        "histogram": lambda x: dp.histogram(x, **bins)[0].tolist(),
    }
    summaries, plain = [], linear.totals
    linear.totals = count.totals = lambda *of: summaries.append(plain(*of)) or summaries[-1]
    for name in calls.keys() - {"scan"}:  # imports and tables, the same for all
        calls[name](pa.array(np.arange(9999.0)))
    source = dp.scan(path, column)
    Path("/proc/self/clear_refs").write_text("5")
    start = time.perf_counter_ns()
    found = calls[what](source)
    spent = time.perf_counter_ns() - start
    if what in ("sum", "mean"):  # noise has hidden the sum, but not from us
        step, cells = stream.STEP if column == "reading" else 1, _cells.cells(lo, hi)
        scale = int(step / cells.grid)
        assert summaries[-1].sum == known[column]["sum"] * scale - rows * cells.first
        right = known[column]["sum"] * step / (rows if what == "mean" else 1)
        assert abs(found - right) < (hi - lo) / (rows if what == "mean" else 1)
    else:
        assert found == (known[column]["counts"] if what == "histogram" else rows)
    print(spent, status("VmHWM"))


def stream_by(path, columns=tuple(stream.BOUNDS), threads=(1, 2)):
    """A table of passes over a file: rows a second, peaks, and those of pyarrow's own scan."""
    rows, _ = stream.read(path)
    size = Path(path).stat().st_size
    print(f"\n{rows:.0e} rows of Parquet, {size / MIB:.0f} MiB, streamed; peak of the process\n")
    print("| column | threads | pass | rows/s | of the scan's time | peak | over the scan's |")
    print("|---|---:|---|---:|---:|---:|---:|")
    for column in columns:
        for workers in threads:
            floor = least = None
            for what in ("scan", "count", "sum", "mean", "histogram"):
                spent, peak = child(
                    "stream", path, what, column, workers, DPFAST_NUM_THREADS=str(workers)
                )
                floor, least = floor or spent, least or peak
                print(
                    f"| {column} | {workers} | {what} | {rows / spent * 1e3:.0f}e6 "
                    f"| {spent / floor:.2f} | {peak / MIB:.1f} MiB "
                    f"| {(peak - least) / MIB:+.1f} MiB |",
                    flush=True,
                )


def child(*what, **environment):
    """What a process that does one thing prints, as two numbers."""
    done = subprocess.run(
        [sys.executable, __file__, "--child", *map(str, what)],
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=600,
    )
    return map(int, done.stdout.split())


def main(rows):
    print(f"{rows:.0e} rows of float64; extra memory at the peak of a call\n")
    print("| estimator | blocks | partition | extra | of the data |")
    print("|---|---:|---|---:|---:|")
    for name, blocks, partition in ARRAYS:
        data, extra = child("array", name, blocks, partition, rows)
        share = f"{extra / MIB:.1f} MiB | {extra / data:.3f}"
        print(f"| {name} | {blocks} | {partition} | {share} |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.parquet"
        write(path, max(rows, SPARE // 4))
        print("\n| a file of Parquet, under a limit | file | left by the limit | extra |")
        print("|---|---:|---:|---:|")
        for name in ("mean", "median"):
            size, extra = child("parquet", path, name, SPARE, TMPDIR=folder)
            sizes = " | ".join(f"{b / MIB:.1f} MiB" for b in (size, SPARE, extra))
            print(f"| {name}, 1000 random blocks | {sizes} |", flush=True)
        path.unlink()
        stream.write(path, rows)
        stream_by(path)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        kind, *rest = sys.argv[2:]
        if kind == "stream":
            streamed(rest[0], rest[1], rest[2], int(rest[3]))
        elif kind == "array":
            array(rest[0], int(rest[1]), rest[2], int(rest[3]))
        else:
            parquet(rest[0], rest[1], int(rest[2]))
    else:
        parser = argparse.ArgumentParser(description=__doc__)
        parser.add_argument("--rows", type=int, default=50_000_000)
        parser.add_argument("--stream", type=Path, help="a file of benchmarks/stream.py")
        options = parser.parse_args()
        if options.stream is None:
            main(options.rows)
        else:
            stream_by(options.stream)
