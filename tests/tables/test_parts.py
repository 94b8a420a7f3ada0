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
from dpfast.tables import arrow, dataset, npy
from dpfast.tables.batches import Batches
from dpfast.tables.scan import scan

from ..support.pairwise import every_value

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
#: A second part, that differs from the first in what nobody asks for.
SECOND = {
    "one more": {"v": [3, 4], "k": ["a", "b"], "more": [1.0, 2.0], "new": [0, 0]},
    "one less": {"v": [3, 4], "k": ["a", "b"]},
    "another order": {"more": [1.0, 2.0], "k": ["a", "b"], "v": [3, 4]},
    "another type": {"v": [3, 4], "k": ["a", "b"], "more": ["x", "y"]},
    "a wider type": {"v": [3, 4], "k": ["a", "b"], "more": [1, 2]},
    "another type, and the wanted one wider": {
        "v": [3.0, 4.0],
        "k": ["a", "b"],
        "more": ["x", "y"],
    },
    "one more, and the wanted one wider": {"v": [3.0, 4.0], "k": ["a", "b"], "new": [0, 0]},
}


def parts(folder, route, second, first=FIRST):
    ending, write, given = ROUTES[route]
    files = [folder / f"{i}.{ending}" for i in range(2)]
    for file, columns in zip(files, (first, second), strict=True):
        write(pa.table(columns), file)
    return given(folder, files)


def wanted_columns_are_read(folder, route, second):
    place = parts(folder, route, SECOND[second])
    assert dp.sum(scan(place, "v"), bounds=(0, 9), epsilon=400) == pytest.approx(10)
    assert dp.sum(
        scan(place, "v"), bounds=(0, 9), ids="k", max_rows=2, epsilon=800
    ) == pytest.approx(10)
    table = dp.group_by(scan(place, ["k", "v"]), "k", keys=["a", "b"])
    assert table.sum("v", bounds=(0, 9), epsilon=400)["sum"] == pytest.approx([4, 6], abs=1e-3)


@every_value
@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("route", ROUTES)
def test_columns_that_nobody_asks_for_decide_nothing(tmp_path, route, second):
    wanted_columns_are_read(tmp_path, route, second)


def test_all_columns_by_the_types_of_all_is_seen(tmp_path, monkeypatch):
    """The fault: one column without a common type spoils all."""
    wider = arrow.wider
    monkeypatch.setattr(arrow, "wider", lambda kinds: None)
    with pytest.raises(SourceError, match="'v' must be the same in every file"):
        wanted_columns_are_read(tmp_path, "directory", "another type, and the wanted one wider")
    monkeypatch.setattr(arrow, "wider", wider)
    wanted_columns_are_read(tmp_path, "directory", "another type, and the wanted one wider")


@pytest.mark.parametrize("route", ROUTES)
def test_wanted_columns_are_in_every_part_and_of_one_type(tmp_path, route):
    place = parts(tmp_path, route, SECOND["one less"])
    with pytest.raises(SourceError, match=r"'more' is not in 1\.(parquet|arrow)"):
        scan(place, "more")
    place = parts(tmp_path, route, SECOND["another type"])
    with pytest.raises(SourceError, match=r"'more'.*1\.(parquet|arrow)|'more' .*same in every"):
        scan(place, "more")
    place = parts(tmp_path, route, SECOND["another order"])
    with pytest.raises(SourceError, match="must be the same in every file, but in"):
        scan(place, 0)


TEXT = ["ab", None, "c", "ab"]
DAYS = [dt.date(2024, 1, 1), None, dt.date(2024, 3, 1), dt.date(1969, 12, 31)]
MOMENTS = [None if day is None else dt.datetime(day.year, day.month, day.day) for day in DAYS]
TEXTS = ["string", "large_string", "string_view"]


def coded(values, kind):
    """Text as a dictionary."""
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
    """Dates as their midnights."""
    return [
        dt.datetime(row.year, row.month, row.day) if type(row) is dt.date else row for row in rows
    ]


@pytest.mark.parametrize("pair", PAIRS)
def test_columns_of_one_meaning_are_one_column(tmp_path, pair):
    """They are what each is alone, times in the finest unit."""
    rows, route = [], "arrow" if "dictionar" in pair else "directory"  # Parquet has fewer types
    ending, write, _ = ROUTES[route]
    for i, column in enumerate(PAIRS[pair]):
        write(pa.table({"v": column, "n": range(len(column))}), tmp_path / f"{i}.{ending}")
        rows += column.to_pylist()
    found = Batches(scan(tmp_path)).reduce(
        ["v"],
        ["v"],
        lambda batch: [(batch.start, batch.columns["v"].chunked.to_pylist())],
        operator.add,
    )
    assert plain(row for _, some in sorted(found) for row in some) == plain(rows)
    if pair != "durations":
        rows = plain(rows)
        keys = list(dict.fromkeys(row for row in rows if row is not None))
        due = [sum(i % 4 for i, row in enumerate(rows) if row == key) for key in keys]
        table = dp.group_by(scan(tmp_path), "v", keys=keys).sum("n", bounds=(0, 9), epsilon=400)
        assert table["sum"] == pytest.approx(due, abs=0.5)


@pytest.mark.parametrize(
    "kinds",
    [
        (pa.timestamp("us"), pa.timestamp("us", "UTC")),
        (pa.date32(), pa.duration("s")),
        (pa.string(), pa.binary_view()),
        (pa.timestamp("s"), pa.int64()),
    ],
)
def test_columns_of_two_meanings_are_refused(tmp_path, kinds):
    for i, kind in enumerate(kinds):
        pq.write_table(pa.table({"v": pa.nulls(2, kind), "n": [1, 2]}), tmp_path / f"{i}.parquet")
    budget = dp.Budget(epsilon=1)
    with pytest.raises(SourceError, match="'v' must be the same in every file"):
        dp.group_by(scan(tmp_path), "v", keys=["a"]).count(epsilon=1, budget=budget)
    assert not budget.history


def test_a_time_that_the_finest_unit_cannot_hold(tmp_path):
    """It is an error, and never another time."""
    far = pa.array([dt.datetime(9999, 1, 1)], pa.timestamp("s"))
    for i, column in enumerate((far, far[:0].cast(pa.timestamp("ns")))):
        pq.write_table(pa.table({"v": column}), tmp_path / f"{i}.parquet")
    bounds = (dt.datetime(2000, 1, 1), dt.datetime(2100, 1, 1))
    budget = dp.Budget(epsilon=1)
    with pytest.raises(DataError, match="finest unit") as caught:
        dp.mean(scan(tmp_path), bounds=bounds, epsilon=1, budget=budget)
    assert (
        len(budget.history) == 1
        and caught.value.__context__ is None
        and "9999" not in str(caught.value)
    )


def a_link(path):
    path.symlink_to("nowhere")


def a_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


ODD = {"link": a_link, "pipe": os.mkfifo, "socket": a_socket} if hasattr(os, "mkfifo") else {}


def every_part_counts(folder, route, odd):
    place = parts(folder, route, FIRST)
    part = folder / f"0-more.{ROUTES[route][0]}"
    ODD[odd](part)
    places = [*place, part] if isinstance(place, list) else place
    with pytest.raises(SourceError, match=r"0-more\.(parquet|arrow)' must be a regular file"):
        scan(places, "v")


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("route", ROUTES)
def test_a_part_that_is_no_file_is_refused_and_not_opened(tmp_path, monkeypatch, route, odd):
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    every_part_counts(tmp_path, route, odd)


@pytest.mark.skipif(not ODD, reason="makes links and pipes")
@pytest.mark.parametrize("route", ["directory", "arrow"])
def test_parts_that_are_left_out_are_seen(tmp_path, monkeypatch, route):
    monkeypatch.setattr(
        dataset, "parts_of", lambda place: [p for p in sorted(place.rglob("*.*")) if p.is_file()]
    )
    monkeypatch.setattr("dpfast.tables.scan.parts_of", dataset.parts_of)
    with pytest.raises(pytest.fail.Exception):
        every_part_counts(tmp_path, route, "link")


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
def test_columns_that_only_a_header_has(tmp_path, shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    header = header.ljust(-(-(len(header) + 11) // 64) * 64 - 11) + "\n"
    path = tmp_path / "w.npy"
    path.write_bytes(b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header.encode())
    for column in (0, None, "x"):
        with pytest.raises(SourceError, match=r"w\.npy must have at most 1,048,576 columns"):
            scan(path, column)
    np.save(path, np.ones((0, 1000)))
    assert scan(path, 999).length == 0


@pytest.mark.full
def test_columns_without_a_limit_are_noticed(tmp_path, monkeypatch):
    """Planted: as many columns as the header says, if each can be named."""
    monkeypatch.setattr(npy, "COLUMNS", 1 << 21)
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        test_columns_that_only_a_header_has(tmp_path, (0, (1 << 20) + 1))


@pytest.mark.parametrize("parts", [1, 2])
def test_text_that_reaches_beyond_its_buffer_is_damage(tmp_path, parts):
    """In one file and in several alike: pyarrow reads offsets without a look at them."""
    table = pa.table({"k": ["key"] * 1000})
    paths = [tmp_path / f"{i}.arrow" for i in range(parts)]
    for path in paths:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    ends, wrong = (b"".join(n.to_bytes(4, "little") for n in (297, end)) for end in (300, 1 << 30))
    data = paths[0].read_bytes()
    assert data.count(ends) == 1
    paths[0].write_bytes(data.replace(ends, wrong))
    with pytest.raises(SourceError, match=r"0\.arrow cannot be read to its end: damaged"):
        dp.histogram(scan(paths, "k"), categories=["key"], epsilon=1)


@pytest.mark.parametrize("parts", [1, 2])
def test_a_page_that_does_not_add_up_is_damage(tmp_path, parts):
    """In one file of Parquet and in several alike, where its writer noted checksums."""
    values = np.arange(1000.0)
    paths = [tmp_path / f"{i}.parquet" for i in range(parts)]
    for path in paths:
        options = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
        pq.write_table(pa.table({"v": values}), path, **options)
    data, some = paths[0].read_bytes(), values[500:502].tobytes()
    assert data.count(some) == 1
    paths[0].write_bytes(data.replace(some, values[600:602].tobytes()))
    with pytest.raises(SourceError, match=r"0\.parquet cannot be read to its end: damaged"):
        dp.sum(scan(paths, "v"), bounds=(0, 1), epsilon=1)
