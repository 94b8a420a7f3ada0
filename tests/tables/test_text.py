"""Tables of text: how a record is read depends on no other, and columns are read by place."""

import contextlib
import gc
import gzip
import random
import tracemalloc

import pytest

import dpfast as dp
from dpfast._kernels.tables import records
from dpfast.errors import DataError, SourceError
from dpfast.tables import text
from dpfast.tables.scan import reader as reader_of
from dpfast.tables.scan import scan
from dpfast.tables.text_format import TextFormat

from ..reference.tables import records as twin
from ..support.paths import on_every_path
from .test_text_options import all_rows, alone, read_shifted, store

pa = pytest.importorskip("pyarrow")
arrow_csv = pytest.importorskip("pyarrow.csv")
PIECES = [
    '"', '""', '"', "a", "b", "\r", "\n", "\r\n", "\n\n", "x" * 70, "y" * 200, '"x\r\ny"',
    '"a"b', 'a"', "\u00e9", "\ufeff", "\0",
]  # fmt: skip


def odd(seed, *more):
    dice = random.Random(seed)
    return "".join(dice.choices([*PIECES, *more], k=dice.randrange(40))).encode()


def beside_the_twin(kernel, count):
    for seed in range(count):
        data = odd(seed, ",", ",")
        for setting in range(8):
            quotes, empty, last = (bool(setting & bit) for bit in (1, 2, 4))
            found, end = twin.records(data, ",", quotes, empty, last)
            assert kernel(data, ord(","), quotes, empty, last) == (end, len(found)), data


@pytest.mark.parametrize("count", [100, pytest.param(20_000, marks=pytest.mark.slow)])
def test_ends_of_records_beside_the_twin(count):
    beside_the_twin(records, count)
    assert records(b"", ord(","), True, True, True) == (0, 0)


@pytest.mark.parametrize("fault", ["a quote amid a cell", "half of a line end", "an open quote"])
def test_the_comparison_sees_planted_faults(fault):
    def wrong(data, delimiter, quotes, empty, last):
        if fault == "a quote amid a cell":
            data = data.replace(b'a"', b'a,"')
        if fault == "half of a line end":
            last = True
        end, rows = records(data, delimiter, quotes, empty, last)
        return (len(data), rows) if fault == "an open quote" and last else (end, rows)

    with pytest.raises(AssertionError):
        beside_the_twin(wrong, 1000)


@pytest.mark.full
def test_ends_of_records_on_every_path():
    on_every_path("""
import random
from dpfast._kernels.tables import records
for seed in range(99):
    data = bytes(random.Random(seed).choices(b'a",\\r\\n' + b"x" * (seed % 40), k=seed))
    print(records(data, 44, True, seed % 2, False))
""")


@pytest.mark.full
def test_a_record_ends_where_pyarrow_and_python_say():
    """Of one column every record has the right width, so all that can differ is where it ends."""
    for seed in range(1000):
        data = odd(seed)
        found, end = twin.records(data, ",", True, True, True)
        if end < len(data) or not data:
            continue
        options = (
            arrow_csv.ReadOptions(column_names=["v"], use_threads=False, skip_rows=1),
            arrow_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            arrow_csv.ConvertOptions(column_types={"v": pa.binary()}),
        )
        cells = arrow_csv.read_csv(pa.BufferReader(b"\n" + data), *options)[0].to_pylist()
        assert cells == [
            (alone(record.decode(), TextFormat(delimiter=",")) or [""])[0].encode()
            for record in found
        ], data


def rows_of(path, **options):
    return all_rows(path, options, reader_of(path, **options).files[0].names)


def _by_bytes(data, delimiter, quotes, empty, last):
    return len(data), len(twin.records(bytes(data), chr(delimiter), quotes, empty, True)[0])


def _after_half_a_line_end(data, delimiter, quotes, empty, last):
    end, rows = records(data, delimiter, quotes, empty, last)
    whole = records(data, delimiter, quotes, empty, True)
    return whole if bytes(data).endswith(b"\r") and whole[0] else (end, rows)


FAULTS = [_by_bytes, _after_half_a_line_end]
FAULTS += [lambda data, delimiter, quotes, *more: records(data, delimiter, False, *more)]


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_readers_are_seen(tmp_path, monkeypatch, fault):
    monkeypatch.setattr(text, "records", fault)
    with pytest.raises((AssertionError, DataError, SourceError)):
        read_shifted(tmp_path, monkeypatch, 400)


def test_a_parser_that_goes_on_from_block_to_block_is_seen(tmp_path, monkeypatch):
    """The fault: pyarrow's own reader loses a line end in a cell where a block of it ends."""
    monkeypatch.setattr(text, "BLOCK", 1 << 7)
    differ, record, path = 0, '"AAAAAA\r\nBBB",1\r\n', tmp_path / "t.csv"
    for shift in range(1, 40, 3):
        path.write_bytes(f"k,v\r\n{'x' * shift},1\r\n{record * 50}".encode())
        rows = [("x" * shift, "1"), *[("AAAAAA\r\nBBB", "1")] * 50]
        assert rows_of(path) == rows
        options = arrow_csv.ReadOptions(block_size=200)
        parse = arrow_csv.ParseOptions(newlines_in_values=True)
        with arrow_csv.open_csv(path, options, parse) as batches:
            found = [word for batch in batches for word in batch[0].to_pylist()]
        differ += found != [word for word, _ in rows]
    assert differ


def test_rows_that_are_none_are_an_error_and_show_nothing(tmp_path):
    path = tmp_path / "t.csv"
    for rows, words in (
        *((f'SECRET,"2{end}', "a quote that is not closed") for end in ("", "\n", "\nb,2\n")),
        *((f"{row}\n", "too few or too many") for row in ("SECRET", "1,2,SECRET", '"1,2"')),
    ):
        budget = dp.Budget(epsilon=400)
        path.write_text(f"k,v\na,1\n{rows}")
        with pytest.raises(DataError, match=words) as caught:
            dp.count(dp.scan(path, "v"), epsilon=400, budget=budget)
        assert "SECRET" not in str(caught.value) and not budget.remaining["epsilon"]


def test_a_row_of_many_blocks_and_its_limit(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_bytes(b'k,v\n"' + b"a\n" * 2000 + b'",1\nb,2\n')
    monkeypatch.setattr(text, "BLOCK", 16)
    assert rows_of(path) == [("a\n" * 2000, "1"), ("b", "2")]
    monkeypatch.setattr(text, "LONGEST", 1000)
    with pytest.raises(DataError, match="a quote that is not closed, or a row of over"):
        rows_of(path)


def test_rows_that_the_parser_counts_otherwise_are_an_error(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("k,v\na,1\nb,2\n")
    monkeypatch.setattr(text, "records", lambda *a: (lambda end, n: (end, n + 1))(*records(*a)))
    with pytest.raises(DataError, match="too few or too many cells"):
        rows_of(tmp_path / "t.csv")


NAMES = ["v,v,k", "k,,", ",,k", ",k", '"v","v",k', "k,v,v (place 1),v"]


def test_names_that_stand_more_than_once_spoil_only_themselves(tmp_path, monkeypatch):
    def rows_are_read(names, ending):
        place = [name.strip('"') for name in names.split(",")].index("k")
        after = ["9"] * (names.count(",") - place)
        lines = [",".join([str(i)] * place + ["ab"[i]] + after) for i in (0, 1)]
        data, path = "\n".join([names, *lines, ""]), tmp_path / f"t{ending}"
        store(path, (data.replace(",", "\t") if ending == ".tsv" else data).encode())
        groups = dp.group_by(dp.scan(path, ["k"]), "k", keys=["a", "b"])
        assert groups.count(epsilon=400)["count"].tolist() == [1, 1]
        if place:
            assert dp.sum(dp.scan(path, 0), bounds=(0, 9), epsilon=400) == 1

    for i, names in enumerate(NAMES):
        rows_are_read(names, [".csv", ".tsv", ".csv.zip"][i % 3])
    # Planted: rows that are read by their names alone.
    monkeypatch.setattr(text, "labels", lambda names: list(dict.fromkeys(names)))
    with pytest.raises((AssertionError, DataError)):
        rows_are_read("v,v,k", ".csv")


def test_a_name_that_stands_twice_is_told_by_its_place(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("v,v,k\n1,2,a\n3,4,b\n")
    with pytest.raises(SourceError, match=r"'v' occurs more than once .* as 'v \(place 0\)'"):
        scan(path, "v")
    for column in (1, "v (place 1)"):
        assert dp.sum(scan(path, column), bounds=(0, 9), epsilon=400) == 6
    both = scan(path, [0, 1])
    assert both.names == ("v (place 0)", "v (place 1)")
    assert dp.sum(both, axis=0, bounds=(0, 9), epsilon=400).tolist() == [4, 6]


def kept_by_failures(path, times=8):
    for i in range(times + 1):
        with pytest.raises(dp.errors.DpfastError):
            dp.count(dp.scan(path, "v"), nan="drop", epsilon=1)
        if not i:  # which imports
            tracemalloc.start()
            before = tracemalloc.get_traced_memory()[0]
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return after - before


@pytest.mark.parametrize("fault", ["none", "planted"])
def test_a_block_that_cannot_be_unpacked_is_let_go(tmp_path, monkeypatch, fault):
    """Planted: `read` of pyarrow, which keeps what it would have filled."""
    packed = gzip.compress(b"v\n" + b"1.5\n" * (1 << 18), mtime=0)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(packed[:1000] + bytes(50) + packed[1050:])

    @contextlib.contextmanager
    def keeping(path, compression, system):
        with pa.CompressedInputStream(pa.OSFile(str(path)), "gzip") as file:
            yield file.read

    if fault == "planted":
        monkeypatch.setattr(text, "_bytes", keeping)
    kept = kept_by_failures(path)
    assert (kept > 1 << 20) == (fault == "planted"), kept
