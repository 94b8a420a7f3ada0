"""Tables of text: how a record is read depends on no other, and columns are read by place."""

import contextlib
import csv
import gc
import gzip
import io
import random
import tracemalloc
import zipfile

import numpy as np
import pytest

import dpfast as dp
from dpfast._kernels.tables import records
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError, SourceError
from dpfast.tables import text
from dpfast.tables.columns import Want
from dpfast.tables.forms import Arrow
from dpfast.tables.scan import reader as reader_of
from dpfast.tables.scan import scan
from dpfast.tables.text_format import MISSING

from ..reference.tables import records as twin
from ..support.paths import on_every_path

pa = pytest.importorskip("pyarrow")
arrow_csv = pytest.importorskip("pyarrow.csv")

# --- where records end ----------------------------------------------------------------------------

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


@pytest.mark.parametrize("count", [300, pytest.param(20_000, marks=pytest.mark.slow)])
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


def test_ends_of_records_on_every_path():
    on_every_path("""
import random
import tracemalloc
from dpfast._kernels.tables import records
for seed in range(300):
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
        assert cells == [(alone(record.decode()) or [""])[0].encode() for record in found], data


# --- a record is read alone -----------------------------------------------------------------------


def alone(record):
    """Return the cells of a record as Python reads it."""
    (row,) = csv.reader(io.StringIO(record, newline=""))
    return row


CELLS = [
    "", "NA", "7", "x", '"a,b"', '"x\r\ny"', '"\r\n"', '"\n"', '"\r"', '"say ""hi"""', '""""',
    '"a"b', 'in "quotes"', "\u00e9t\u00e9", "\U0001f600", "\ufeffmark", '"\ufeff\r\n\u00e9"',
    '"' + "z\r\n" * 30 + '"',
]  # fmt: skip
LINES = ["", "NA", "7", '"', '""', '"x', 'y"', "\u00e9", "\ufeff", "w" * 80]
NAMES = {1: "k", 3: "k,v,w"}


def sample(dice, width, end, quotes):
    """Return some records, and the rows that they are: cells, None where one is missing."""
    cells = CELLS if quotes else LINES
    some = [",".join(dice.choices(cells, k=width)) + end() for _ in range(dice.randrange(2, 14))]
    some += [end()] * dice.randrange(3)
    dice.shuffle(some)
    read = [alone(r) if quotes else r.rstrip("\r\n").split(",") for r in some]
    rows = [
        (row or [""] * width)
        for row, r in zip(read, some, strict=True)
        if r.strip("\r\n") or width == 1
    ]
    return some, [tuple(None if c in MISSING else c.encode() for c in row) for row in rows]


def shifted(by, width, end):
    """Return records of so many bytes, and the rows that they are."""
    if by < width:
        return end[-1] * by, [(None,)] * by if width == 1 else []
    cell = "x" * (by - width)
    return cell + "," * (width - 1) + end[-1], [(cell.encode() or None, *[None] * (width - 1))]


def store(path, data):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("t.csv", data)
    else:
        path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)


def all_rows(path, **options):
    """Return the rows of a file, whose cells are bytes, as a pass finds them."""
    reader = reader_of(path, **options)
    names = tuple(reader.files[0].names)

    def cells(start, pieces):
        columns = [piece.chunked.cast(pa.binary()).to_pylist() for piece in pieces]
        yield start, list(zip(*columns, strict=True))

    found = reader.reduce(
        Want(names, frozenset(names)), cells, lambda some: [some], lambda a, b: a + b, 99
    )
    rows = []
    for start, some in sorted(found, key=lambda piece: piece[0]):
        assert start == len(rows) or not some
        rows += some
    return rows


def read_shifted(folder, monkeypatch, shifts, first=0):
    """Read odd files in small blocks; before their records stand others of so many bytes."""
    for number in range(first, first + shifts):
        dice = random.Random(number)
        width, quotes = dice.choice([1, 3]), dice.random() < 0.8
        own = dice.choice(["\n", "\r\n", "\r", None])
        some, rows = sample(
            dice, width, lambda own=own, dice=dice: own or dice.choice(["\n", "\r\n"]), quotes
        )
        before, more = shifted(number % 97, width, own or "\n")
        if dice.random() < 0.2 and some[-1].strip("\r\n"):
            some[-1] = some[-1].rstrip("\r\n")  # the last line end may be left out
        head = dice.choice(["", "\ufeff", "\r\n"]) + NAMES[width] + (own or "\r\n")
        path = folder / f"t.csv{dice.choice(['', '', '', '.gz', '.zip'])}"
        store(path, (head + before + "".join(some)).encode())
        monkeypatch.setattr(text, "BLOCK", dice.choice([1, 2, 3, 7, 16, 33, 64, 100, 1000]))
        assert all_rows(path, quotes=quotes) == more + rows, (number, head, before, some)


@pytest.mark.full
@pytest.mark.parametrize("shifts", [400, pytest.param(20_000, marks=pytest.mark.slow)])
def test_a_record_is_read_alike_whatever_stands_before_it(tmp_path, monkeypatch, shifts):
    read_shifted(tmp_path, monkeypatch, shifts, first=shifts)


def _by_bytes(data, delimiter, quotes, empty, last):
    """Return as many bytes as there are, whole records or not."""
    return len(data), len(twin.records(bytes(data), ",", quotes, empty, True)[0])


def _by_lines(data, delimiter, quotes, empty, last):
    return records(data, delimiter, False, empty, last)


def _after_half_a_line_end(data, delimiter, quotes, empty, last):
    end, rows = records(data, delimiter, quotes, empty, last)
    whole = records(data, delimiter, quotes, empty, True)
    return whole if bytes(data).endswith(b"\r") and whole[0] else (end, rows)


def _as_pyarrow_goes_on(reader, blocks, turn, want):
    """Rows as pyarrow's own reader of a whole file makes them."""
    at, names, file = 0, list(want.names), reader.files[0]
    with pa.OSFile(str(file.path)) as data:
        data.read(file.start)
        for batch in arrow_csv.open_csv(
            data,
            arrow_csv.ReadOptions(block_size=max(text.BLOCK, 200), column_names=names),
            arrow_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(names) > 1),
            arrow_csv.ConvertOptions(
                null_values=MISSING,
                strings_can_be_null=True,
                column_types=dict.fromkeys(names, pa.string()),
            ),
        ):
            yield at, list(map(Arrow.of, batch.columns))
            at += batch.num_rows


@pytest.mark.parametrize(
    "fault", [_by_bytes, _by_lines, _after_half_a_line_end, _as_pyarrow_goes_on]
)
def test_planted_readers_are_seen(tmp_path, monkeypatch, fault):
    if fault is _as_pyarrow_goes_on:
        monkeypatch.setattr(text.TextReader, "_pieces", fault)
    else:
        monkeypatch.setattr(text, "records", fault)
    with pytest.raises((AssertionError, DataError, SourceError)):
        read_shifted(tmp_path, monkeypatch, 400)


def test_a_key_with_a_line_end_in_each_of_many_blocks(tmp_path, monkeypatch):
    """An added row leaves the others' keys alone, and an added person counts as one."""
    monkeypatch.setattr(text, "BLOCK", 1 << 12)
    record = b'"AAAAAA\r\nBBB",1\n'
    found = []
    for first in (b"", b"xxxx,1\n"):
        (tmp_path / "t.csv").write_bytes(b"k,v\n" + first + record * (3 * text.BLOCK // 16))
        keys = dp.scan(tmp_path / "t.csv", ["k"])
        one = dp.group_by(keys, "k", keys=["AAAAAA\r\nBBB"]).count(epsilon=400)["count"].item()
        values = dp.scan(tmp_path / "t.csv", "v")
        found.append((one, dp.count(values, ids="k", max_rows=1, epsilon=400)))
    assert found == [(3 * text.BLOCK // 16, 1), (3 * text.BLOCK // 16, 2)]


def test_a_row_of_many_blocks_and_its_limit(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_bytes(b'k,v\n"' + b"a\n" * 2000 + b'",1\nb,2\n')
    monkeypatch.setattr(text, "BLOCK", 16)
    assert all_rows(path) == [(b"a\n" * 2000, b"1"), (b"b", b"2")]
    monkeypatch.setattr(text, "LONGEST", 1000)
    with pytest.raises(DataError, match="a quote that is not closed, or a row of over"):
        all_rows(path)


@pytest.mark.parametrize("end", ["", "\n", "\nb,2\n"])
def test_an_open_quote_is_an_error(tmp_path, end):
    path = tmp_path / "t.csv"
    path.write_text('k,v\na,1\nSECRET,"2' + end)
    with pytest.raises(DataError, match="a quote that is not closed") as caught:
        all_rows(path)
    assert "SECRET" not in str(caught.value)
    assert all_rows(path, quotes=False)[:2] == [(b"a", b"1"), (b"SECRET", b'"2')]


def test_rows_that_the_parser_counts_otherwise_are_an_error(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("k,v\na,1\nb,2\n")
    monkeypatch.setattr(text, "records", lambda *a: (lambda end, n: (end, n + 1))(*records(*a)))
    with pytest.raises(DataError, match="too few or too many cells"):
        all_rows(tmp_path / "t.csv")


def test_quotes_are_for_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"k,v\n5" pipe,1\n"x,2\n')
    counts = dp.histogram(scan(path, '"k', quotes=False), categories=['5" pipe', '"x'], epsilon=400)
    assert counts[0].tolist() == [1, 1]
    assert scan(path, "v", quotes=False).store.identity()[1:] == [("{'quotes': False}", 0, 0)]
    with pytest.raises(ArgumentTypeError, match="quotes must be True or False"):
        scan(path, "v", quotes="no")
    np.save(tmp_path / "a.npy", np.arange(3.0))
    with pytest.raises(ArgumentError, match="quotes must be left out for a file that is not text"):
        scan(tmp_path / "a.npy", quotes=False)


# --- places and names -----------------------------------------------------------------------------


def groups(path, column="k"):
    table = dp.group_by(dp.scan(path, [column]), column, keys=["a", "b"])
    return table.count(epsilon=400)["count"].tolist()


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.zip"])
@pytest.mark.parametrize("names", ["v,v,k", "k,,", ",,k", ",k", '"v","v",k', "k,v,v (place 1),v"])
def test_names_that_stand_more_than_once_spoil_only_themselves(tmp_path, names, ending):
    place = [name.strip('"') for name in names.split(",")].index("k")
    after = ["9"] * (names.count(",") - place)
    lines = [",".join([str(i)] * place + ["ab"[i]] + after) for i in (0, 1)]
    data = "\n".join([names, *lines, ""])
    path = tmp_path / f"t{ending}"
    store(path, (data.replace(",", "\t") if ending == ".tsv" else data).encode())
    assert groups(path) == [1, 1]
    if place:
        assert dp.sum(dp.scan(path, 0), bounds=(0, 9), epsilon=400) == 1


def test_a_name_that_stands_twice_is_told_by_its_place(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("v,v,k\n1,2,a\n3,4,b\n")
    with pytest.raises(SourceError, match=r"'v' stands more than once .* as 'v \(place 0\)'"):
        scan(path, "v")
    for column in (1, "v (place 1)"):
        assert dp.sum(scan(path, column), bounds=(0, 9), epsilon=400) == 6
    both = scan(path, [0, 1])
    assert both.names == ("v (place 0)", "v (place 1)")
    assert dp.sum(both, axis=0, bounds=(0, 9), epsilon=400).tolist() == [4, 6]


@pytest.mark.parametrize("row", ["1,a", "1,2,a,x", "SECRET", '"1,2,a"'])
def test_rows_of_another_width_are_an_error_and_show_nothing(tmp_path, row):
    path, budget = tmp_path / "t.csv", dp.Budget(epsilon=400)
    path.write_text(f"v,v,k\n1,2,a\n{row}\n")
    source = dp.group_by(scan(path, ["k"]), "k", keys=["a", "b"])
    with pytest.raises(DataError, match="too few or too many cells") as caught:
        source.count(epsilon=400, budget=budget)
    assert row not in str(caught.value) and not budget.remaining["epsilon"]


def test_rows_that_are_read_by_the_names_alone_are_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "labels", lambda names: list(dict.fromkeys(names)))
    with pytest.raises((AssertionError, DataError)):
        test_names_that_stand_more_than_once_spoil_only_themselves(tmp_path, "v,v,k", ".csv")


# --- damage ---------------------------------------------------------------------------------------


def kept_by_failures(path, times=8):
    """How many bytes so many failing reads of a file leave behind."""

    def fail(times):
        for _ in range(times):
            with pytest.raises(dp.errors.DpfastError):
                dp.count(dp.scan(path, "v"), nan="drop", epsilon=1)

    fail(1)  # which imports
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        fail(times)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


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
