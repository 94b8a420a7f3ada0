"""Columns of files: what is read, what is refused, how much memory it takes, and how it ends."""

import decimal
import gzip
import os
import pickle
import subprocess
import sys
import threading
import time
import traceback
import zipfile
from pathlib import Path

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import (
    ArgumentError,
    ArgumentTypeError,
    DataError,
    MissingExtraError,
    SourceError,
)
from dpfast.tables import Source, arrow, as_source
from dpfast.tables.columns import Table
from dpfast.tables.scan import scan
from dpfast.tables.threads import overlapped

from ..support.pairwise import quick_rows

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
feather = pytest.importorskip("pyarrow.feather")
pq = pytest.importorskip("pyarrow.parquet")


def write_ipc(table, path, *, stream=False, compression=None, rows=1000):
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.OSFile(str(path), "wb") as file, new(file, table.schema, options=options) as out:
        out.write_table(table, max_chunksize=rows)


def write_csv(table, path, delimiter=","):
    options = csv.WriteOptions(delimiter=delimiter)
    if path.suffix == ".zip":
        plain = path.with_name("inner.csv")
        csv.write_csv(table, plain, options)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(plain, "inner.csv")
    elif path.suffix in (".csv", ".tsv"):
        csv.write_csv(table, path, options)
    else:
        kind = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}[path.suffix]
        with pa.CompressedOutputStream(str(path), kind) as out:
            csv.write_csv(table, out, options)


TYPED = {
    "t.parquet": pq.write_table,
    "groups.parquet": lambda t, p: pq.write_table(t, p, row_group_size=137),
    "plain.pq": lambda t, p: pq.write_table(t, p, use_dictionary=False, compression="none"),
    "t.arrow": write_ipc,
    "lz4.ipc": lambda t, p: write_ipc(t, p, compression="lz4", rows=101),
    "stream.arrow": lambda t, p: write_ipc(t, p, stream=True),
    "stream.arrows": lambda t, p: write_ipc(t, p, stream=True, compression="zstd", rows=101),
    "t.feather": feather.write_feather,
}
TEXT = {f"t.csv{packed}": write_csv for packed in ("", ".gz", ".bz2", ".zst", ".lz4", ".zip")}
TEXT |= {"t.tsv": lambda t, p: write_csv(t, p, "\t"), "T.CSV": csv.write_csv}
EVERY = {**TYPED, **TEXT}


def rows(source):
    """The chunks in the order of the rows: values, nulls, and a check that they tile the file."""

    def summarise(chunk):
        values = chunk.values
        assert values.ndim == 1 and values.dtype == source.dtype
        assert values.dtype.isnative and values.flags.c_contiguous
        return [(chunk.start, np.array(values), chunk.nulls)]

    at, found = 0, sorted(source.reduce(summarise, lambda a, b: a + b), key=lambda part: part[0])
    for start, values, nulls in found:
        assert start == at or not len(values) + nulls
        at += len(values) + nulls
    assert source.length in (None, at)
    return np.concatenate([v for _, v, _ in found]), sum(n for *_, n in found)


def column(n=5000, null_every=7, nan_every=11):
    values = np.random.default_rng(n).normal(50, 12, n)
    values[::nan_every] = np.nan
    null = np.zeros(n, bool)
    null[:: null_every or n + 1] = bool(null_every)
    return values, null


KINDS = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"]


@pytest.mark.parametrize("name", sorted(EVERY))
def test_every_format_reads_back_what_was_written(tmp_path, name):
    (values, null), path = column(), tmp_path / name
    columns = {"id": np.arange(5000), "v": pa.array(values, mask=null)}
    due = {"v": (values, np.dtype("f8"))}
    if name in TYPED:
        whole = np.arange(5000) % 100
        cents = [decimal.Decimal(int(one)) / 100 for one in whole]
        for kind in KINDS:
            read = {"f2": np.float32, "?": np.uint8}.get(kind, np.dtype(kind))
            columns[kind] = pa.array(whole.astype(kind), mask=null)
            due[kind] = whole.astype(kind), read
        columns["cents"] = pa.array(cents, pa.decimal128(12, 2), mask=null)
        columns["code"] = pa.array(whole - 50, pa.int16(), mask=null).dictionary_encode()
        due |= {"cents": (whole / 100, np.float64), "code": (whole - 50, np.int16)}
    EVERY[name](pa.table({**columns, "nothing": pa.nulls(5000)}), path)
    for one, (every, dtype) in due.items():
        source = scan(path, one)
        assert isinstance(source, Source) and as_source(source) is source
        assert source.dtype == dtype and name in repr(source)
        gone = null | np.isnan(every) if name in TEXT else null  # text has one word for both
        for _ in range(2):  # a source is read as often as asked
            got, nulls = rows(source)
            assert nulls == gone.sum() and source.nulls in (None, nulls)
            np.testing.assert_array_equal(got, every[~gone])
    assert rows(scan(path, "nothing"))[1] == 5000


@pytest.mark.parametrize("name", sorted(TYPED))
def test_what_is_not_a_number_is_refused_before_the_spend(tmp_path, name):
    for values in (pa.array([[1], [2]]), pa.array([{"a": 1}, {"a": 2}])):
        TYPED[name](pa.table({"x": values}), tmp_path / name)
        with pytest.raises(SourceError, match=r"column 'x' of .* must hold (integers, fl|one val)"):
            scan(tmp_path / name, "x")
    text = pa.array(["a", "b"])
    for values in (text, text.dictionary_encode(), pa.array([b"a", b"b"])):
        TYPED[name](pa.table({"x": values, "y": [1.0, 2.0]}), tmp_path / name)
        for column in ("x", ["y", "x"]):
            text_is_refused(scan(tmp_path / name, column), r"column 'x' of .* must hold integers")


def text_is_refused(data, words):
    budget = dp.Budget(epsilon=1)
    kw = {"bounds": (0, 1), "epsilon": 1, "budget": budget}
    table = isinstance(data, Table)
    if not table:
        with pytest.raises(SourceError, match=words):
            dp.median(data, **kw)
    with pytest.raises(SourceError, match=words):
        dp.mean(data, axis=0 if table else None, **kw)
    with pytest.raises(SourceError, match=words):
        dp.sample_and_aggregate(data, "mean", blocks=2, **kw)
    assert budget.remaining["epsilon"] == 1


HEADERS = ["(9**9,)", "(10**9", "(100000000000,)", f"({10**22},)", "(-5,)", "(True,)", "('a',)"]


def test_npy_refusals(tmp_path):
    path, bad = tmp_path / "a.npy", [b"", b"no array" * 9]
    odd = [np.array(1.0), np.zeros((2, 2, 2)), np.array([1, "a"], object), np.zeros(3, complex)]
    for array in (*odd, np.zeros(100)):
        np.save(path, array, allow_pickle=True)
        bad.append(path.read_bytes()[: -8 if array.size == 100 else None])
    for shape in HEADERS:
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117)
        size = (len(header) + 1).to_bytes(2, "little")
        bad.append(b"\x93NUMPY\x01\0" + size + f"{header}\n".encode())
    for data in bad:
        path.write_bytes(data)
        with pytest.raises(SourceError, match=r"a\.npy"):
            scan(path)
    with path.open("wb") as file:
        np.savez(file, a=np.arange(3))
    with pytest.raises(SourceError, match="archive"):
        scan(path)


def test_npy_forms(tmp_path):
    path, flat = tmp_path / "a.npy", np.random.default_rng(1).normal(size=3000)
    for array, columns in (
        (flat, {None: flat, 0: flat}),
        *((np.asarray(flat.reshape(-1, 3), order=order), {2: flat[2::3], "1": flat[1::3]})
          for order in "CF"),
        (np.empty(0, np.int32), {None: []}),
    ):  # fmt: skip
        np.save(path, array)
        for column, want in columns.items():
            assert rows(scan(path, column))[0].tolist() == list(want)
    records = np.zeros(1000, [("age", ">i4"), ("pay", "f8"), ("name", "U5")])
    records["age"], records["pay"] = np.arange(1000), flat[:1000]
    np.save(path, records)
    assert scan(path, "age").dtype == np.dtype("i4")
    for name in ("age", "pay"):
        np.testing.assert_array_equal(rows(scan(path, name))[0], records[name])
    np.save(tmp_path / "b.npy", np.zeros((3, 2)))
    with pytest.raises(ArgumentError, match="list of different columns"):
        scan(tmp_path / "b.npy", [1, "1"])
    with pytest.raises(SourceError, match=r"'pay2' is not in a\.npy .did you mean 'pay'"):
        scan(path, "pay2")
    text_is_refused(scan(path, "name"), "must hold integers")
    path.write_bytes(path.read_bytes()[:-8] + b"\xff" * 8)  # no letter has that number
    with pytest.raises(SourceError, match="damaged"):
        dp.histogram(scan(path, "name"), categories=["a"], epsilon=1)


RECORDS = np.zeros(3000, [("v", "f8"), ("name", "U5")])


@quick_rows(9)
@pytest.mark.parametrize("change", ["touched", "replaced", "gone"])
@pytest.mark.parametrize("name", [*sorted(EVERY), "t.npy"])
def test_a_file_that_changes_between_passes(tmp_path, name, change):
    table, path = pa.table({"v": RECORDS["v"], "name": RECORDS["name"]}), tmp_path / name

    def write():
        np.save(path, RECORDS) if name == "t.npy" else EVERY[name](table, path)

    write()
    source, both = scan(path, "v"), scan(path, ["v", "name"])
    again = pickle.loads(pickle.dumps(source))
    assert len(rows(source)[0]) == len(rows(again)[0]) == 3000
    words = "was changed after it was scanned"
    if change == "touched":
        os.utime(path, ns=(1, 1))
    elif change == "replaced":
        path.rename(tmp_path / f"old-{name}")
        write()
    else:
        path.unlink()
        words = "No such file"
    with pytest.raises(SourceError, match=words):
        rows(source)
    with pytest.raises(SourceError, match=words):
        dp.histogram(both, categories=[None, ["a"]], bins=[[0, 1], None], epsilon=1)


@pytest.mark.parametrize("name", ["f.parquet", "f.arrow", "f.csv"])
def test_columns_by_name_and_place_and_a_table_of_all(tmp_path, name):
    path, listing = tmp_path / name, "carrier, arr_delay, dep_delay"
    flights = pa.table({"carrier": ["UA", "AA"], "arr_delay": [11, 20], "dep_delay": [1, 2]})
    EVERY["t" + name[1:]](flights, path)
    for wanted in ("arr_delay", 1, np.int64(1)):
        assert rows(scan(path, wanted))[0].tolist() == [11, 20]
    for kind, wrong, words in (
        (SourceError, "arr_dely", rf"'arr_dely' is not in {name} .*'arr_delay'.*{listing}"),
        (SourceError, "zzz", rf"'zzz' is not in {name}, which has: {listing}"),
        *((SourceError, i, f"from 0 to 2 in {name}, got {i}") for i in (3, -1)),
        *((ArgumentTypeError, one, "column must be") for one in (True, 1.0, b"arr_delay", [1.0])),
        *((ArgumentTypeError, one, "an index from 0, a l") for one in ([None], [True], {"v"})),
        *((ArgumentError, none, "must be a list of at least one name") for none in ([], ())),
        *((ArgumentError, [1, one], "list of different columns") for one in (1, "arr_delay")),
    ):
        with pytest.raises(kind, match=words):
            scan(path, wrong)
    table, ask = scan(path), {"bounds": (0, 20), "epsilon": 400}
    assert table.names == ("carrier", "arr_delay", "dep_delay")
    for wanted in ("dep_delay", 2):
        assert rows(table[wanted])[0].tolist() == [1, 2]
    assert table[["dep_delay", "carrier"]].names == ("dep_delay", "carrier")
    assert dp.sum(table["arr_delay"], **ask) == pytest.approx(31)
    assert dp.sum(table["arr_delay"], ids="carrier", max_rows=1, **ask) == pytest.approx(31)
    means = dp.group_by(table, "carrier", keys=["AA", "UA"]).mean("dep_delay", **ask)
    assert means["mean"] == pytest.approx([2, 1])
    assert dp.count(table, epsilon=400) == 2
    with pytest.raises(SourceError, match=rf"'zzz' is not in {name}"):
        table["zzz"]
    for beside in ({"ids": table["carrier"], "max_rows": 1}, {"where": table["carrier"]}):
        with pytest.raises(ArgumentTypeError, match="pass columns of the same table by name"):
            dp.sum(table["arr_delay"], **beside, **ask)
    with pytest.raises(ArgumentTypeError, match=r"not a table.* as data\['carrier'\]"):
        dp.tree_histogram(table, bins=2, bounds=(0, 1), epsilon=1)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_a_name_that_stands_twice_spoils_itself_alone(tmp_path, name):
    table = pa.table([[1, 2], [3, 4], [5, 6]], names=["v", "w", "w"])
    EVERY[name](table, tmp_path / name)
    assert scan(tmp_path / name).names == ("v",)
    assert rows(scan(tmp_path / name, "v"))[0].tolist() == [1, 2]
    with pytest.raises(SourceError, match="more than once"):
        scan(tmp_path / name, "w")


def test_a_dotted_name_is_not_a_path(tmp_path):
    for i, more in enumerate(({}, {"a": [{"b": 3}, {"b": 4}]})):
        path = tmp_path / f"{i}.parquet"
        pq.write_table(pa.table({"a.b": [1, 2], **more}), path)
        if not more:
            assert rows(scan(path, "a.b"))[0].tolist() == [1, 2]
    with pytest.raises(SourceError, match=r"a\.b"):
        scan(path, "a.b")


def test_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("flights.csv").write_text("v\n1\n")
    with pytest.raises(SourceError, match=r"does not exist; did you mean '.*flights\.csv'"):
        scan("flihgts.csv", "v")
    with pytest.raises(SourceError, match=r"does not exist$"):
        scan("no/such/place.parquet", "v")
    for name in ("t.xlsx", "t", "t.gz", "t.parquet.gz"):
        Path(name).write_text("v\n1\n")
        with pytest.raises(SourceError, match=r"must end in one of \.parquet"):
            scan(name, "v")
    if hasattr(os, "mkfifo"):
        os.mkfifo("pipe.csv")
        with pytest.raises(SourceError, match="must be a regular file"):
            scan("pipe.csv", "v")
    with pytest.raises(ArgumentError, match="path must be the name of a file, got ''"):
        scan("")  # not the directory that one happens to be in
    with pytest.raises(SourceError, match=r"^file 'aaa.*cannot be read"):
        scan("a" * 5000 + ".csv")
    with pytest.raises(ArgumentError, match="path must be a list of at least one path"):
        scan([], "v")
    assert rows(scan(["flights.csv", "flights.csv"], "v"))[0].tolist() == [1.0, 1.0]
    assert rows(scan(["flights.csv"]))[0].tolist() == [1.0]
    for wrong in (3, None, b"flights.csv", [3], ["flights.csv", None]):
        with pytest.raises(ArgumentTypeError, match="path must be"):
            scan(wrong, "v")
    assert rows(scan("flights.csv"))[0].tolist() == [1.0]


def test_a_directory_of_arrow_files(tmp_path):
    for i, place in enumerate(("a.arrow", "b.feather", "more/c.ipc")):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        feather.write_feather(pa.table({"v": np.arange(10 * i, 10 * i + 10)}), tmp_path / place)
    (tmp_path / "_metadata.arrow").write_bytes(b"not data")
    (tmp_path / "notes.txt").write_text("not data")
    for path in (tmp_path, [tmp_path], f"file://{tmp_path}"):
        assert rows(scan(path, "v"))[0].tolist() == list(range(30))
    pq.write_table(pa.table({"v": np.arange(3.0)}), tmp_path / "p.parquet")
    with pytest.raises(SourceError, match=r"files of one format, not \.arrow and .*\.parquet"):
        scan(tmp_path, "v")
    for path in (tmp_path / "**" / "[p].parquet", tmp_path / "*.parquet"):
        assert rows(scan(path, "v"))[0].tolist() == [0, 1, 2]
    (tmp_path / "none").mkdir()
    with pytest.raises(SourceError, match="holds no Parquet, Arrow or text file"):
        scan(tmp_path / "none", "v")
    with pytest.raises(SourceError, match="no file matches"):
        scan(tmp_path / "*.xyz", "v")
    np.save(tmp_path / "a.npy", np.arange(3.0))
    with pytest.raises(SourceError, match="only Parquet and text can be read from several files"):
        scan(tmp_path / "a*", "v")


def test_a_directory_of_text(tmp_path):
    place = tmp_path / "sales.csv"  # as Spark calls one
    (place / "deep").mkdir(parents=True)
    (place / "part-0.csv").write_text("v,w\n1,a\n2,b\n")
    (place / "deep" / "part-1.CSV").write_text("w,v\nc,3\n")
    with gzip.open(place / "part-2.csv.gz", "wt") as file:
        file.write("v,w\n4,d\n")
    for name in ("_SUCCESS", ".part-0.csv.crc", "_old.csv", "read.me", "part-0.csv.bak", "x.gz"):
        (place / name).write_text("not data")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "1.csv").write_text("v\n5\n")
    assert sorted(rows(scan(place, "v"))[0].tolist()) == [1, 2, 3, 4]
    assert sorted(rows(scan([place, tmp_path / "more"], "v"))[0].tolist()) == [1, 2, 3, 4, 5]
    with pytest.raises(SourceError, match=r"'w' is not in 1\.csv"):
        scan([place, tmp_path / "more"], "w")
    some = scan(place, where={"column": "w", "in": ["a", "c"]})["v"]
    assert sorted(rows(some)[0].tolist()) == [1, 3]
    assert sorted(rows(scan(place, "v", missing=["3"]))[0].tolist()) == [1, 2, 4]
    (place / "x.parquet").write_bytes(b"")
    with pytest.raises(SourceError, match=r"files of one format, not .*\.csv and \.csv\.gz and"):
        scan(place, "v")
    (place / "x.parquet").unlink()
    (place / "x.tsv").write_text("v\n1\n")
    with pytest.raises(SourceError, match=r"must all end in"):
        scan(place, "v")


@pytest.mark.parametrize("name", sorted(EVERY))
def test_an_empty_file_and_garbage(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"")
    with pytest.raises(SourceError, match=path.name):
        scan(path, "v")
    if name not in ("t.csv", "t.tsv", "T.CSV"):  # to these, any bytes are a header
        path.write_bytes(b"\x00\x01garbage" * 50)
        with pytest.raises(SourceError, match=path.name):
            scan(path, "v")
    if name == "t.feather":
        path.write_bytes(b"FEA1" + bytes(100))
        with pytest.raises(SourceError, match="version 1"):
            scan(path, "v")


def test_a_header_that_announces_other_rows(tmp_path):
    pq.write_table(pa.table({"v": np.arange(5000.0)}), tmp_path / "t.parquet")
    source = scan(tmp_path / "t.parquet", "v")
    source.store._rows += 1
    with pytest.raises(SourceError, match="its header states another number of rows"):
        source.reduce(lambda c: len(c.values), lambda a, b: a + b)


def text(tmp_path, content):
    (tmp_path / "t.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    return scan(tmp_path / "t.csv", "v")


CELLS = [
    ("v\n1\n2.5\n-3e2\n", [1, 2.5, -300], 0),
    ("v\r\n1\r\n2\r\n", [1, 2], 0),
    ("v\n1\n2", [1, 2], 0),
    ("\ufeffv,w\n1,2\n", [1], 0),
    ("w,v\nx,1\ny,\nz,NA\n,NaN\n,null\n,None\n,N/A\n", [1], 6),
    ('w,v\n"a,b",1\n"two\nlines",2\n"say ""hi""",3\n', [1, 2, 3], 0),
    ('v\n"1"\n"2"\n""\n', [1, 2], 1),
    ("w,v\n1, 7 \n2,\t8\n", [7, 8], 0),
    ("v\ninf\n-inf\n1e400\n-1e400\n1e-400\n", [np.inf, -np.inf, np.inf, -np.inf, 0], 0),
    ("v\n9007199254740993\n0.1\n", [9007199254740992, 0.1], 0),
    ("w,v\n,\n,\n", [], 2),
    ("v\n1\n\n3\n\n", [1, 3], 2),  # of one column: an empty cell, as databases write null
    ("\r\n\nv\r\n1\r\n\r\n3", [1, 3], 1),
    ("v,w\n1,2\n\n3,4\n\n", [1, 3], 0),  # no row
    ("v,w", [], 0),
    (b"\xef\xbb\xbfv\r", [], 0),
    ("w,v\n\xe9t\xe9,1\n".encode("latin-1"), [1], 0),  # another encoding elsewhere
]


def test_cells(tmp_path):
    for content, want, nulls in CELLS:
        got = rows(text(tmp_path, content))
        np.testing.assert_array_equal(got[0], want)
        assert got[1] == nulls


@quick_rows(2)
@pytest.mark.parametrize("place", [3, 99_000])
@pytest.mark.parametrize("bad", ["SECRET", "1,SECRET", "12.5.SECRET", '"SEC\nRET"'])
def test_a_bad_row_is_an_answer_that_repeats_nothing_of_it(tmp_path, place, bad):
    cells = [f"{i}.25" for i in range(100_000)]  # several blocks of the parser
    cells[place] = bad
    lines = "".join(f"{i},{cell}\n" for i, cell in enumerate(cells))
    source = text(tmp_path, f"w,v\n{lines}")  # wherever it stands, it is no error of the scan
    before = threading.active_count()
    with pytest.raises(DataError, match="is not refunded") as caught:
        rows(source)
    shown = "".join(traceback.format_exception(caught.value))
    assert "SEC" not in shown and str(place) not in str(caught.value)
    error = caught.value
    while error is not None:  # not even where only a debugger looks
        assert "SEC" not in str(error)
        error = error.__context__
    assert threading.active_count() == before


def sample_of(values, path, count=2000):
    table, bits = pa.table({"v": values}), np.random.default_rng(1)
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=500)
    else:
        write_ipc(table, path, rows=100)
    source = scan(path, "v")
    return source, source.sample(count, lambda k: bits.integers(0, 2**64, k, dtype=np.uint64))


@pytest.mark.parametrize("name", ["s.parquet", "s.arrow"])
def test_a_sample_is_of_the_column_and_spread_or_is_not_given(tmp_path, name):
    values, null = column(50_000)
    source, sample = sample_of(pa.array(values, mask=null), tmp_path / name)
    assert 1000 < len(sample) < 4000 and sample.dtype == source.dtype
    kept = values[~null]
    assert np.isin(sample[~np.isnan(sample)], kept).all()
    assert abs(np.isnan(sample).mean() - np.isnan(kept).mean()) < 0.04
    assert abs(np.nanmedian(sample) - 50) < 2
    assert abs(source.nulls / len(values) - null.mean()) < 0.04  # by the sample
    values = np.random.default_rng(5).normal(50, 12, 50_000)
    up, saw = np.sort(values), np.tile(np.arange(500.0), 100)
    for ordered in (up, up[::-1], values + np.linspace(0, 60, 50_000), saw):
        _, sample = sample_of(ordered, tmp_path / name)
        # Random rows of batches of 100 see no more than drift.
        of_drift = ordered is saw and name == "s.arrow"
        assert sample is None or (of_drift and set(sample) <= set(saw))


def test_no_sample_of_few_row_groups_or_of_text(tmp_path):
    assert set(sample_of(np.full(10_000, 7, np.int32), tmp_path / "s.parquet", 500)[1]) == {7}
    table = pa.table({"v": np.random.default_rng(0).normal(size=3000)})
    for name in ("t.parquet", "t.arrow", "stream.arrow", "t.csv"):
        EVERY[name](table, tmp_path / name)
        assert scan(tmp_path / name).sample(100, None) is None


@quick_rows(1)
@pytest.mark.parametrize("ahead", [2, 1, 6])
def test_no_more_is_made_ahead_than_asked(ahead):
    live = {"now": 0, "most": 0, "lock": threading.Lock()}

    def make():
        for i in range(40):
            with live["lock"]:
                live["now"] += 1
                live["most"] = max(live["most"], live["now"])
            yield i

    for _ in overlapped([make() for _ in range(3)], ahead):
        time.sleep(0.001)  # a slow kernel
        with live["lock"]:
            live["now"] -= 1
    assert live["most"] == ahead  # tight, so the test would see one more


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_of_the_kernel_ends_the_threads(tmp_path, error):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"v": np.arange(90_000.0)}), path, row_group_size=3000)
    before, calls = threading.active_count(), []

    def summarise(chunk):
        calls.append(chunk.start)
        if len(calls) == 3:
            raise error("stop")
        return 0

    with pytest.raises(error):
        scan(path, "v").reduce(summarise, lambda a, b: 0)
    assert len(calls) == 3 and threading.active_count() == before
    if os.path.isdir("/proc/self/fd"):  # and the file is closed
        opened = [os.path.realpath(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")]
        assert str(path) not in opened


MEASURE = """
import sys
import numpy as np, pyarrow.parquet as pq
from dpfast.tables.scan import scan
from dpfast.tables.data import as_rows

def now():
    # Megabytes of our own; pages of mapped files, which the system may drop, are not.
    lines = open("/proc/self/status").read().splitlines()
    return int(next(l for l in lines if l.startswith("RssAnon")).split()[1]) / 1024

def most(path):
    def summarise(chunk):
        values = chunk[0]["v"] if ids else chunk[0]
        return float(values.max(initial=-np.inf)), now()
    source = as_rows(scan(path, ["a", "b", "v"]), ids) if ids else scan(path, "v")
    return source.reduce(summarise, lambda a, b: (max(a[0], b[0]), max(a[1], b[1])))

small, large, ids, whole = sys.argv[1:]
most(small)
before = now()
if whole:
    held = pq.read_table(large)
    got, peak = np.max(held["v"].to_numpy()), now()
else:
    got, peak = most(large)
print(peak - before, got)
"""


def extra_megabytes(small, large, ids="", whole=""):
    out = subprocess.run(
        [sys.executable, "-c", MEASURE, small, large, ids, whole],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "DPFAST_NUM_THREADS": "2"},
    )
    extra, got = map(float, out.stdout.split())
    assert got == 1.0
    return extra


GROUPS = {"groups.parquet": 1 << 20, "one-group.parquet": 1 << 30, "table.parquet": 1 << 19}
SLOW = [pytest.param(name, 50_000_000, marks=pytest.mark.slow) for name in [*GROUPS][:2]]
SIZES = [("groups.parquet", 8_000_000), ("one-group.parquet", 8_000_000), ("t.arrow", 8_000_000)]


@pytest.mark.full
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="measures on Linux")
@pytest.mark.parametrize(
    "name, count", [*SIZES, ("t.csv", 4_000_000), ("table.parquet", 4_000_000), *SLOW]
)
def test_memory_does_not_grow_with_the_file(tmp_path, name, count):
    ids, paths = "user" if name == "table.parquet" else "", []
    for n in (100_000, count):
        path, values = tmp_path / f"{n}-{name}", np.random.default_rng(n).random(n)
        values[n // 2] = 1.0
        table = pa.table({"v": values})
        if ids:  # a row has three numbers, and an id that is text
            users = pa.array(np.random.default_rng(n).integers(0, 10**6, n)).cast(pa.string())
            table = pa.table({"a": values, "b": values, "v": values, ids: users})
        if path.suffix == ".parquet":
            pq.write_table(table, path, row_group_size=GROUPS[name], use_dictionary=False)
        elif path.suffix == ".arrow":
            write_ipc(table, path, compression="lz4", rows=1 << 16)
        else:
            write_csv(table, path)
        paths.append(str(path))
    limit = {"t.csv": 48, "table.parquet": 64}.get(name, 24)
    assert extra_megabytes(*paths, ids) < limit < os.path.getsize(paths[1]) / 2**20
    if name in ("groups.parquet", "table.parquet"):  # the measurement sees a file that is held
        held = 0.8 * count * (24 if ids else 8) / 2**20
        assert extra_megabytes(*paths, ids, "whole") > held


def test_without_pyarrow(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", np.arange(10.0))
    for name in ("t.parquet", "t.arrow", "t.csv"):
        EVERY[name](pa.table({"v": [1.0]}), tmp_path / name)
    for name in [m for m in sys.modules if m.split(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("t.parquet", "t.arrow", "t.csv"):
        with pytest.raises(MissingExtraError, match="needs pyarrow: pip install pyarrow"):
            scan(tmp_path / name, "v")
    assert len(rows(scan(tmp_path / "a.npy"))[0]) == 10


def test_whatever_a_library_raises_is_one_error(tmp_path):
    def fails(error):
        raise error
        yield

    for error in (
        pa.ArrowMemoryError("malloc of size 9"),
        ValueError("Mary"),
        UnicodeError("Mary"),
    ):
        for call in (
            lambda: list(arrow.guarded(tmp_path / "x", fails(error))),  # noqa: B023
            lambda: arrow.opening(tmp_path / "x", "a table", lambda: list(fails(error))),  # noqa: B023
        ):
            with pytest.raises(SourceError, match=type(error).__name__) as caught:
                call()
            assert caught.value.__context__ is None and "Mary" not in str(caught.value)


def test_a_sample_is_no_larger_than_the_batches(tmp_path):
    # A damaged header once announced 10**14 rows: a release then drew indices for minutes.
    path = tmp_path / "t.arrow"
    table = pa.table({"v": np.arange(80_000.0) % 977})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)
    asked = []

    def words(count):
        asked.append(count)
        assert count <= 1000
        return np.arange(count, dtype=np.uint64)

    sample = scan(path, "v").sample(10**9, words)
    assert len(sample) <= 80_000 and max(asked) == 1000


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "stream.arrow", "t.csv"])
def test_names_that_are_not_utf8_are_one_error(tmp_path, name):
    EVERY[name](pa.table({"patient": [1], "v": [1.0]}), tmp_path / name)
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data.replace(b"patient", b"p\xfftient"))
    with pytest.raises(SourceError, match="not UTF-8") as caught:
        scan(tmp_path / name, 0)
    assert caught.value.__context__ is None


def test_a_zip_of_two_files(tmp_path):
    path = tmp_path / "t.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "v\n1\n")
        archive.writestr("__MACOSX/a.csv", "x")
    assert rows(scan(path, "v"))[0].tolist() == [1.0]
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("b.csv", "v\n1\n")
    with pytest.raises(SourceError, match="exactly one file, got 2"):
        scan(path, "v")
