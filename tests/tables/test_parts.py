"""Parts of one table: only wanted columns are looked at, and no part is left out in silence."""

import datetime as dt
import itertools
import operator
import os
import socket

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import DataError, SourceError
from dpfast.tables import arrow, npy
from dpfast.tables.batches import Batches
from dpfast.tables.scan import scan

from ..support.pairwise import every_value, quick_rows

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
pq = pytest.importorskip("pyarrow.parquet")


def write_arrow(table, path):
    feather.write_feather(table, str(path), compression="uncompressed")


#: How parts are written, and how they are given to `scan`.
ROUTES = {
    "directory": ("parquet", pq.write_table, lambda folder, files: folder),
    "pattern": ("parquet", pq.write_table, lambda folder, files: folder / "*.parquet"),
    "list": ("parquet", pq.write_table, lambda folder, files: files),
    "place": ("parquet", pq.write_table, lambda folder, files: f"file://{folder}"),
    "arrow": ("arrow", write_arrow, lambda folder, files: folder),
    "arrow list": ("arrow", write_arrow, lambda folder, files: files),
}
FIRST = {"v": [1, 2], "k": ["a", "b"], "more": [1.0, 2.0]}
SECOND = {
    "one more": {"v": [3, 4], "k": ["a", "b"], "more": [1.0, 2.0], "new": [0, 0]},
    "one less": {"v": [3, 4], "k": ["a", "b"]},
    "another order": {"more": [1.0, 2.0], "k": ["a", "b"], "v": [3, 4]},
    "another type": {"v": [3, 4], "k": ["a", "b"], "more": ["x", "y"]},
    "a wider type": {"v": [3, 4], "k": ["a", "b"], "more": [1, 2]},
    "another type, and the wanted one wider": {"v": [3.0, 4.0], "k": ["a", "b"], "more": ["x", ""]},
    "one more, and the wanted one wider": {"v": [3.0, 4.0], "k": ["a", "b"], "new": [0, 0]},
}


def parts(folder, route, second):
    ending, write, given = ROUTES[route]
    files = [folder / f"{i}.{ending}" for i in range(2)]
    for file, columns in zip(files, (FIRST, second), strict=True):
        write(pa.table(columns), file)
    return given(folder, files)


def wanted_columns_are_read(folder, route, second):
    place, ask = parts(folder, route, SECOND[second]), {"bounds": (0, 9), "epsilon": 400}
    assert dp.sum(scan(place, "v"), **ask) == pytest.approx(10)
    assert dp.sum(scan(place, "v"), ids="k", max_rows=2, **ask) == pytest.approx(10, abs=0.5)
    table = dp.group_by(scan(place, ["k", "v"]), "k", keys=["a", "b"])
    assert table.sum("v", **ask)["sum"] == pytest.approx([4, 6], abs=1e-3)


@every_value
@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("route", ROUTES)
def test_columns_that_nobody_asks_for_decide_nothing(tmp_path, route, second):
    wanted_columns_are_read(tmp_path, route, second)


def test_all_columns_by_the_types_of_all_is_seen(tmp_path, monkeypatch):
    """The fault: one column without a common type spoils all."""
    monkeypatch.setattr(arrow, "wider", lambda kinds: None)
    with pytest.raises(SourceError, match="'v' must be the same in every file"):
        wanted_columns_are_read(tmp_path, "directory", "another type, and the wanted one wider")


@pytest.mark.parametrize("route", ROUTES)
def test_wanted_columns_are_in_every_part_and_of_one_type(tmp_path, route):
    of_type = r"'more'.*1\.(parquet|arrow)|'more' .*same in every"
    for second, column, words in (
        ("one less", "more", r"'more' is not in 1\.(parquet|arrow)"),
        ("another type", "more", of_type),
        ("another order", 0, "must be the same in every file, but in"),
    ):
        with pytest.raises(SourceError, match=words):
            scan(parts(tmp_path, route, SECOND[second]), column)


TEXT = ["ab", None, "c", "ab"]
DAYS = [dt.date(2024, 1, 1), None, dt.date(2024, 3, 1), dt.date(1969, 12, 31)]
MOMENTS = [None if day is None else dt.datetime(day.year, day.month, day.day) for day in DAYS]
TEXTS = ["string", "large_string", "string_view"]


def coded(values, kind):
    words = list(dict.fromkeys(value for value in values if value is not None))
    places = pa.array([None if v is None else words.index(v) for v in values], pa.uint32())
    return pa.DictionaryArray.from_arrays(places, pa.array(words, kind))


#: Columns of two files of one meaning and different types, and what they are together.
PAIRS = {
    **{
        f"{a}, {b}": (pa.array(TEXT, getattr(pa, a)()), pa.array(TEXT, getattr(pa, b)()))
        for a, b in itertools.permutations(TEXTS, 2)
    },
    **{f"{a} dictionary": (pa.array(TEXT), coded(TEXT, getattr(pa, a)())) for a in TEXTS},
    "two dictionaries": (coded(TEXT, pa.string()), coded(TEXT, pa.string_view())),
    "nulls": (pa.nulls(4), coded(TEXT, pa.string())),
    "units": (pa.array(MOMENTS, pa.timestamp("s")), pa.array(MOMENTS, pa.timestamp("ns"))),
    "dates": (pa.array(DAYS, pa.date32()), pa.array(DAYS, pa.date64())),
    "dates, times": (pa.array(DAYS, pa.date32()), pa.array(MOMENTS, pa.timestamp("us"))),
    "nulls, dates": (pa.nulls(4), pa.array(DAYS, pa.date32())),
    "zones": (
        pa.array(MOMENTS, pa.timestamp("ms", "UTC")),
        pa.array(MOMENTS, pa.timestamp("us", "Europe/Berlin")),
    ),
    "durations": (pa.array([1, None], pa.duration("s")), pa.array([10**9, 0], pa.duration("ns"))),
}


def plain(rows):
    return [
        dt.datetime(row.year, row.month, row.day) if type(row) is dt.date else row for row in rows
    ]


@quick_rows(9)
@pytest.mark.parametrize("pair", PAIRS)
def test_columns_of_one_meaning_are_one_column(tmp_path, pair):
    """They are what each is alone, times in the finest unit."""
    rows, route = [], "arrow" if "dictionar" in pair else "directory"  # Parquet has fewer types
    ending, write, _ = ROUTES[route]
    for i, column in enumerate(PAIRS[pair]):
        write(pa.table({"v": column, "n": range(len(column))}), tmp_path / f"{i}.{ending}")
        rows += column.to_pylist()
    cells = lambda batch: [(batch.start, batch.columns["v"].chunked.to_pylist())]  # noqa: E731
    found = Batches(scan(tmp_path)).reduce(["v"], ["v"], cells, operator.add)
    assert plain(row for _, some in sorted(found) for row in some) == plain(rows)
    if pair != "durations":
        rows = plain(rows)
        keys = list(dict.fromkeys(row for row in rows if row is not None))
        due = [sum(i % 4 for i, row in enumerate(rows) if row == key) for key in keys]
        table = dp.group_by(scan(tmp_path), "v", keys=keys).sum("n", bounds=(0, 9), epsilon=400)
        assert table["sum"] == pytest.approx(due, abs=0.5)


def test_columns_of_two_meanings_and_times_beyond_their_unit_are_refused(tmp_path):
    def scanned(*columns):
        for i, column in enumerate(columns):
            table = pa.table({"v": column, "n": range(len(column))})
            pq.write_table(table, tmp_path / f"{i}.parquet")
        return scan(tmp_path)

    budget = dp.Budget(epsilon=1)
    us, utc = pa.timestamp("us"), pa.timestamp("us", "UTC")
    for kinds in ((us, utc), (pa.date32(), pa.duration("s")), (pa.string(), pa.binary_view()),
                  (pa.timestamp("s"), pa.int64())):  # fmt: skip
        data = scanned(*(pa.nulls(2, kind) for kind in kinds))
        with pytest.raises(SourceError, match="'v' must be the same in every file"):
            dp.group_by(data, "v", keys=["a"]).count(epsilon=1, budget=budget)
    assert not budget.history
    far = pa.array([dt.datetime(9999, 1, 1)], pa.timestamp("s"))
    data = scanned(far, far[:0].cast(pa.timestamp("ns")))["v"]
    with pytest.raises(DataError, match="finest unit") as caught:  # and never another time
        dp.mean(data, bounds=(dt.date(2000, 1, 1), dt.date(2100, 1, 1)), epsilon=1, budget=budget)
    assert caught.value.__context__ is None and "9999" not in str(caught.value)
    assert len(budget.history) == 1


def a_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


ODD = {"link": lambda path: path.symlink_to("nowhere")} if hasattr(os, "mkfifo") else {}
ODD |= {"pipe": os.mkfifo, "socket": a_socket} if ODD else {}


def every_part_counts(folder, route, odd):
    place = parts(folder, route, FIRST)
    part = folder / f"0-more.{ROUTES[route][0]}"
    ODD[odd](part)
    places = [*place, part] if isinstance(place, list) else place
    with pytest.raises(SourceError, match=r"0-more\.(parquet|arrow)' must be a regular file"):
        scan(places, "v")


@quick_rows(6)
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("route", ROUTES)
def test_a_part_that_is_no_file_is_refused_and_not_opened(tmp_path, monkeypatch, route, odd):
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    every_part_counts(tmp_path, route, odd)
    if odd == "link" and route in ("directory", "arrow"):  # planted: such a part is left out
        files = lambda place: [p for p in sorted(place.rglob("*.*")) if p.is_file()]  # noqa: E731
        for module in ("dataset", "scan"):
            monkeypatch.setattr(f"dpfast.tables.{module}.parts_of", files)
        (tmp_path / f"0-more.{ROUTES[route][0]}").unlink()
        with pytest.raises(pytest.fail.Exception):
            every_part_counts(tmp_path, route, odd)


@pytest.mark.skipif(not ODD, reason="makes links")
def test_links_to_parts_are_parts_and_directories_count_once(tmp_path):
    inside, other = tmp_path / "t", tmp_path / "other"
    inside.mkdir()
    other.mkdir()
    for folder in (inside, other):
        pq.write_table(pa.table({"v": [1, 2]}), folder / "a.parquet")
    (inside / "b.parquet").symlink_to(other / "a.parquet")
    (inside / "more").symlink_to(other)
    (inside / "_hidden.parquet").symlink_to("nowhere")
    assert dp.count(scan(inside, "v"), epsilon=400) == 6
    for name, to in (("again", other), ("loop", inside)):
        (inside / name).symlink_to(to)
        with pytest.raises(SourceError, match=f"must hold '{name}' once|must hold 'more' once"):
            scan(inside, "v")
        (inside / name).unlink()


@pytest.mark.parametrize("shape", [(0, 10**12), (0, 10**400), (0, (1 << 20) + 1)])
def test_columns_that_only_a_header_has(tmp_path, monkeypatch, shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    header = header.ljust(-(-(len(header) + 11) // 64) * 64 - 11) + "\n"
    path = tmp_path / "w.npy"
    path.write_bytes(b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header.encode())
    for column in (0, None, "x"):
        with pytest.raises(SourceError, match=r"w\.npy must have at most 1,048,576 columns"):
            scan(path, column)
    np.save(path, np.ones((0, 1000)))
    assert scan(path, 999).length == 0
    monkeypatch.setattr(npy, "COLUMNS", 999)  # the control: it is this limit that refuses
    with pytest.raises(SourceError, match="at most 999 columns"):
        scan(path, 998)


def replaced(path, old, new):
    data = path.read_bytes()
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, new))


@pytest.mark.parametrize("parts", [1, 2])
def test_damage_that_pyarrow_does_not_look_for(tmp_path, parts):
    """In one file and in several alike: offsets beyond a buffer, pages that do not add up."""
    arrows, parquets = (
        [tmp_path / f"{i}.{end}" for i in range(parts)] for end in ("arrow", "parquet")
    )
    values, words = np.arange(1000.0), pa.table({"k": ["key"] * 1000})
    options = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    for path, other in zip(arrows, parquets, strict=True):
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, words.schema) as writer:
            writer.write_table(words)
        pq.write_table(pa.table({"v": values}), other, **options)
    ends = (b"".join(n.to_bytes(4, "little") for n in (297, end)) for end in (300, 1 << 30))
    replaced(arrows[0], *ends)
    replaced(parquets[0], values[500:502].tobytes(), values[600:602].tobytes())
    with pytest.raises(SourceError, match=r"0\.arrow cannot be read to its end: damaged"):
        dp.histogram(scan(arrows, "k"), categories=["key"], epsilon=1)
    with pytest.raises(SourceError, match=r"0\.parquet cannot be read to its end: damaged"):
        dp.sum(scan(parquets, "v"), bounds=(0, 1), epsilon=1)
