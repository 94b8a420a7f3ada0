"""A large file of Parquet whose exact sums are known, for streamed passes.

    python benchmarks/stream.py PATH [--rows 1000000000]

Row groups of about a million rows are made and written one at a time, with the encodings that a
writer chooses by default: `reading`, a float64 of many values (plain pages), and `age`, an int32 of
0 .. 119 (a dictionary). Readings are multiples of 2**-20, so that their sum is an exact integer.
What is known of the clamped rows is written beside the rows, as metadata.
"""

import argparse
import json
from pathlib import Path

import numpy as np

#: Rows of a group, and what a reading is a multiple of.
GROUP, STEP = 1 << 20, 2.0**-20
#: Bounds by column, and bins of a histogram between them.
BOUNDS, BINS = {"reading": (20, 80), "age": (18, 90)}, 64


def known(x, lo, hi, step):
    """What is known of integers x, which stand for x * step, as integers."""
    edges = np.linspace(lo, hi, BINS + 1)
    return {
        "sum": int(np.clip(x, int(lo / step), int(hi / step)).sum()),
        "counts": np.histogram(x * step, edges)[0].tolist(),
    }


def merged(a, b):
    counts = [x + y for x, y in zip(a["counts"], b["counts"], strict=True)]
    return {"sum": a["sum"] + b["sum"], "counts": counts}


def group(seed, rows):
    """The columns of one row group, and what is known of them."""
    rng = np.random.default_rng(seed)
    reading = np.rint(rng.normal(50.0 / STEP, 12.0 / STEP, rows)).astype(np.int64)
    age = rng.binomial(119, 0.35, rows).astype(np.int32)
    found = {"reading": known(reading, *BOUNDS["reading"], STEP), "age": known(age, 18, 90, 1)}
    return {"reading": reading * STEP, "age": age}, found


def write(path, rows):
    """Write the file and return what is known of it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema, total = pa.schema([("reading", pa.float64()), ("age", pa.int32())]), {}
    with pq.ParquetWriter(path, schema) as out:
        for at in range(0, rows, GROUP):
            columns, found = group(at, min(GROUP, rows - at))
            out.write_table(pa.table(columns, schema), row_group_size=GROUP)
            total = {name: merged(total[name], found[name]) for name in found} if at else found
        out.add_key_value_metadata({"known": json.dumps(total)})
    return total


def read(path):
    """Rows of such a file, and what is known of them."""
    import pyarrow.parquet as pq

    footer = pq.read_metadata(path)
    return footer.num_rows, json.loads(footer.metadata[b"known"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000_000)
    options = parser.parse_args()
    write(options.path, options.rows)
    print(f"{options.rows:.0e} rows, {options.path.stat().st_size / (1 << 30):.2f} GiB")
