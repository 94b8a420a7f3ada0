"""Damaged files of each format: an answer or one of the package's errors, and no row is shown."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from ..support.damage import FORMATS, ROOT, run
from ..support.pairwise import quick_rows

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits the memory of a process")
TYPED = ["npy", "arrow", "arrows", "feather"]
GOOD = {"answer", "SourceError", "DataError", "ArgumentError", "ArgumentTypeError"}


@pytest.mark.full
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("count", [120, pytest.param(20_000, marks=pytest.mark.slow)])
def test_a_damaged_file_is_an_error_of_ours_or_an_answer(form, count):
    found, bad = run(form, count)
    assert bad == [] and set(found) <= GOOD
    assert found["SourceError"] > count // 20
    assert form in ("npz", "csv.gz") or found["answer"] > count // 40


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize(
    "form, fault, seen",
    [
        *((form, "foreign", "FOREIGN") for form in ("arrow", "npy", "csv.gz")),
        ("csv", "signal", f"SIGNAL:{int(signal.SIGBUS)}"),
        ("arrow", "shown", "SHOWN"),
        ("csv", "hang", f"SIGNAL:{int(signal.SIGKILL)}"),
        pytest.param(
            *("parquet", "statistics", f"SIGNAL:{int(signal.SIGABRT)}"), marks=pytest.mark.slow
        ),
    ],
)
def test_planted_faults_are_seen(form, fault, seen):
    count = {"hang": 1, "signal": 2, "statistics": 5000}.get(fault, 40)
    found, bad = run(form, count, fault, patience=5 if fault == "hang" else 60)
    assert bad and any(word.startswith(seen) for word in found), found


METADATA = """
import sys
import dpfast as dp
if sys.argv[2] == "planted":
    from tests.support.damage import plant
    plant("statistics")
try:
    found = dp.median(dp.scan(sys.argv[1], "v"), bounds=(0, 999), epsilon=1, nan=0)
except dp.errors.SourceError as error:
    found = type(error).__name__
print(type(found).__name__)
"""


@quick_rows(1)
@pytest.mark.parametrize("fault", ["none", "planted"])
def test_parquet_whose_column_metadata_disagree_with_its_schema(tmp_path, fault):
    """pyarrow ends the process as soon as anybody asks for the statistics of such a column."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"v": [1.5, None, 3.5] * 100}), path, row_group_size=100)
    data = path.read_bytes()
    double, integer = b"\x15\x0a\x19", b"\x15\x04\x19"  # the type of a column chunk, in Thrift
    assert data.count(double) in (3, 6)  # older versions write them beside the chunks, too
    path.write_bytes(data.replace(double, integer))
    command = [sys.executable, "-c", METADATA, str(path), fault]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    if fault == "none":
        assert made.returncode == 0 and made.stdout.strip() in ("float", "str"), made.stderr
    else:
        assert made.returncode == -signal.SIGABRT


CUT = """
import os, sys
import numpy as np
import dpfast as dp
from dpfast.tables import ipc, npy
path, when, planted = sys.argv[1:]
if planted == "map":  # as files were read once
    import pyarrow as pa
    pa.OSFile = pa.memory_map
    whole = np.load(path, mmap_mode="r") if path.endswith("npy") else None
    npy.NpyFile._read = lambda self, names, start, stop: [whole[start:stop]]
budget = dp.Budget(epsilon=9)
source = dp.scan(path, 0)
def cut():
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) // 3)
seen = []
def look(chunk):
    if when == "during" and not seen:
        cut()
    seen.append(chunk.values.sum())
if when == "before":
    cut()
try:
    if when == "during":
        source.reduce(look, lambda a, b: None)
    else:
        dp.mean(source, bounds=(0, 1), epsilon=9, budget=budget)
except dp.errors.SourceError as error:
    print("SourceError", budget.remaining["epsilon"])
"""


@quick_rows(1)
@pytest.mark.skipif(sys.platform == "win32", reason="a file that is mapped cannot be cut there")
@pytest.mark.parametrize(
    "name, when, fault",
    [
        *((f"t.{form}", when, "none") for form in TYPED for when in ("before", "during")),
        # Not "before": a pass compares the size of its file before it reads.
        *((f"t.{form}", "during", "map") for form in TYPED),
    ],
)
def test_a_file_that_is_cut_short_is_an_error(tmp_path, name, when, fault):
    path, values = tmp_path / name, np.random.default_rng(0).random(1 << 20)
    if name == "t.npy":
        np.save(path, values)
    else:
        new = pa.ipc.new_stream if name == "t.arrows" else pa.ipc.new_file
        table = pa.table({"v": values})
        with new(path, table.schema) as out:
            out.write_table(table, max_chunksize=1 << 16)
    command = [sys.executable, "-c", CUT, str(path), when, fault]
    env = {**os.environ, "DPFAST_NUM_THREADS": "1"}
    made = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
    if fault == "none":
        left = "0" if when == "before" else "9"
        assert (made.returncode, made.stdout.split()) == (0, ["SourceError", left]), made.stderr
    else:
        assert made.returncode == -signal.SIGBUS
