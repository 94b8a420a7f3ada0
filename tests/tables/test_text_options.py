"""How a file of text is written, by declaration: beside Python's csv, on each record alone."""

import csv
import datetime as dt
import gzip
import io
import json
import math
import random
import re
import zipfile

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError, SourceError
from dpfast.tables import text
from dpfast.tables.columns import Want
from dpfast.tables.scan import reader as reader_of
from dpfast.tables.text_format import ENCODINGS, MISSING, THOUSANDS, TextFormat, text_format

from ..support.pairwise import quick_rows

pa = pytest.importorskip("pyarrow")
arrow_csv = pytest.importorskip("pyarrow.csv")


def number(cell, form):
    """What a cell is as a number; None if it is none. By definition, one letter after another."""
    cell, sign = cell.strip(" \t"), ""

    def without_symbol(cell, before):
        for symbol in form.symbols:
            if before and cell.startswith(symbol):
                return cell[len(symbol) :].lstrip(" \t")
            if not before and cell.endswith(symbol):
                return cell[: -len(symbol)].rstrip(" \t")
        return cell

    rest = without_symbol(cell, True)
    if rest[:1] in ("+", "-"):
        rest, sign = rest[1:], rest[0]
        if rest[:1] and len(rest) + 1 == len(cell):  # there was no symbol before the sign
            rest = without_symbol(rest, True)
    cell = without_symbol(rest, False)
    is_plain = not (form.symbols or form.thousands)
    if is_plain and cell.lower() in ("inf", "infinity", "nan"):
        return float(sign + cell)
    mantissa, *power = re.split("[eE]", cell, maxsplit=1)
    whole, *part = mantissa.split(form.decimal, 1)
    groups = whole.split(form.thousands) if form.thousands else [whole]
    if len(groups) > 1:
        sizes = [len(group) for group in groups]
        if not (1 <= sizes[0] <= 3 and sizes[-1] == 3 and set(sizes[1:-1]) <= {2, 3}):
            return None
    digits = ["".join(groups), *part]
    plain = re.compile("[0-9]*").fullmatch
    if not all(map(plain, [*groups, *part])) or not "".join(digits):
        return None
    if power and not re.fullmatch("[-+]?[0-9]+", power[0]):
        return None
    return float(sign + ".".join(digits) + "".join("e" + p for p in power))


FORMATS = {
    "%d.%m.%Y": ["31.12.2024", "1.2.2024", "31.02.2024", "29.02.2024"],
    "%Y-%m-%dT%H:%M": ["2024-02-29T23:59", "2023-02-29T00:00", "2024-02-29T24:00"],
    "%d/%b/%y %H:%M:%S %z": ["03/Feb/24 01:02:03 +0200", "03/Feb/24 01:02:03"],
}


def moment(cell, layout):
    try:
        found = dt.datetime.strptime(cell, layout)
    except ValueError:
        return None
    return found if "%H" in layout else found.date()


PARTS = ["1", "12", "234", "0", "007", ".", ",", "'", " ", "-", "+", "e5", "E-2", "$", "%", "EUR",
         "inf", "NaN", "x", "\u00a0", "\u0661", "1_000", "567", "\t"]  # fmt: skip
NUMBERS = [
    TextFormat(),
    TextFormat(decimal=","),
    TextFormat(thousands=","),
    TextFormat(decimal=",", thousands="."),
    TextFormat(thousands=" ", symbols=("%",)),
    TextFormat(thousands="'", symbols=("$", "EUR")),
    TextFormat(decimal=",", symbols=("$", "%")),
    *(TextFormat(thousands=one) for one in THOUSANDS[4:]),
]


def read_as_numbers(form, cells):
    try:
        return form.numbers(pa.array(cells, pa.string())).to_pylist()
    except ValueError:
        return None


def same(a, b):
    return a == b or (a is not None and b is not None and math.isnan(a) and math.isnan(b))


def parsed(cell, form):
    """The number that the parser takes a cell for; where nothing is declared, each is read so."""
    convert = arrow_csv.ConvertOptions(
        column_types={"v": pa.float64()}, decimal_point=form.decimal, null_values=[]
    )
    read = arrow_csv.ReadOptions(column_names=["v"], skip_rows=1)
    try:
        data = pa.BufferReader(f'\n"{cell}"\n'.encode())
        return arrow_csv.read_csv(data, read, None, convert)[0][0].as_py()
    except pa.ArrowInvalid:
        return None


@quick_rows(4)
@pytest.mark.parametrize("form", NUMBERS, ids=lambda form: str(form.declared))
def test_a_cell_is_the_number_of_its_definition(form):
    """Where a condition wants text and a release numbers, the same cells are the same numbers."""
    dice = random.Random(str(form))
    groups = ["1T234T567D5", "-12T34T567", "1T23", "1T2345T678", "1TT234", "T123", "1;234"]
    cells = [one.replace("T", form.thousands or "").replace("D", form.decimal) for one in groups]
    cells += ["".join(dice.choices(PARTS, k=dice.randrange(1, 6))) for _ in range(400)]
    for cell in cells:
        found = read_as_numbers(form, [cell, None])
        twin = number(cell, form)
        assert (found is None) == (twin is None), (cell, twin)
        assert found is None or (same(found[0], twin) and found[1] is None), cell
        if not (form.symbols or form.thousands):
            assert same(parsed(cell, form), twin), cell


CELLS = [
    "", "NA", "?", "-999", "7", "1.234,5", "1,5", "$ 12", "12 %", "x", "\u00e9", "a;b", 'say "hi"',
    "two\r\nlines", "31.12.2024", "31.02.2024", "03/Feb/24 01:02:03 +0200", "\n", " 7 ",
]  # fmt: skip
#: Letters of some encodings.
LEGIBLE = {
    "utf-8": "\u00e9\u20ac", "cp1252": "\u00e9\u20ac", "iso8859-1": "\u00e9", "gbk": "\u4e2d",
    "shift_jis": "\u30a2\u8868", "cp437": "\u00e9", "ascii": "",
}  # fmt: skip


def declared(dice):
    options = {}
    if dice.random() < 0.6:
        options["missing"] = dice.sample(["", "NA", "?", "-999", "x"], dice.randrange(4))
    if dice.random() < 0.7:
        options["delimiter"] = dice.choice(";,\t|:~ ")
    options["encoding"] = dice.choice(list(LEGIBLE))
    options["decimal"] = dice.choice(".,")
    if dice.random() < 0.4:
        options["thousands"] = dice.choice([one for one in ",. '" if one != options["decimal"]])
    if dice.random() < 0.4:
        options["symbols"] = ["$", "%"]
    options["quotes"] = dice.random() < 0.7
    if dice.random() < 0.5:
        options["dates"] = {"b": dice.choice(list(FORMATS))}
    return options


def written(cells, form, dice):
    """A record of cells; in quotes where it must, and now and then where it need not."""
    special = {form.delimiter, '"', "\r", "\n"}

    def quoted(cell):
        needs = special.intersection(cell) or dice.random() < 0.2
        return '"' + cell.replace('"', '""') + '"' if form.quotes and needs else cell

    return form.delimiter.join(map(quoted, cells))


def alone(record, form):
    if not form.quotes:
        return record.rstrip("\r\n").split(form.delimiter)
    (row,) = csv.reader(io.StringIO(record, newline=""), delimiter=form.delimiter)
    return row


def wanted(cells, form, names, kinds):
    row = []
    for name, kind, cell in zip(names, kinds, cells, strict=True):
        if cell in form.missing:
            row.append(None)
            continue
        is_date = name in form.dates
        found = moment(cell, form.dates[name]) if is_date else number(cell, form)
        row.append(cell if kind == "text" and not is_date else found)
        if row[-1] is None:
            raise DataError("a cell")
    return tuple(row)


def all_rows(path, options, text_columns, names=None):
    """Return the rows of a file as a pass finds them."""
    reader = reader_of(path, **options)
    names = tuple(names or reader.files[0].names)

    def cells(start, pieces):
        columns = [piece.chunked.to_pylist() for piece in pieces]
        yield start, list(zip(*columns, strict=True))

    want = Want(names, frozenset(text_columns))
    found = reader.reduce(want, cells, lambda some: [some], lambda a, b: a + b, 99)
    rows = []
    for start, some in sorted(found, key=lambda piece: piece[0]):
        assert start == len(rows) or not some
        rows += some
    return rows


def store(path, data):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("t.csv", data)
    else:
        path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)


def read_shifted(folder, monkeypatch, count, first=0):
    """Read odd files of odd formats in small blocks; before their records stand other bytes.

    Each record is read alone by Python: the rows are those, or the error that one of them makes.
    Returns how many files were read without an error.
    """
    good = 0
    for seed in range(first, first + count):
        dice = random.Random(seed)
        names = dice.choice([("a",), ("a", "b", "c"), ("a", "b", "c")])
        options = declared(dice)
        if len(names) == 1:
            options.pop("dates", None)
        form = text_format({"delimiter": ",", **options})
        end = dice.choice(["\n", "\r\n", "\r"])
        text_columns = dice.choice([("a", "c"), ("a",), ("a", "b", "c")])[: len(names)]
        kinds = ["text" if name in text_columns else "number" for name in names]
        pools = [pool(name, kind, form) for name, kind in zip(names, kinds, strict=True)]
        rows = [[dice.choice(cells) for cells in pools] for _ in range(dice.randrange(2, 9))]
        if dice.random() < 0.3:  # one that is no number or date; as text it is as good as others
            dice.choice(rows)[dice.randrange(len(names))] = dice.choice(
                ["x", "31.02.2024", "1.2.3"]
            )
        if kinds[0] == "text":  # the first record is of any number of bytes
            rows[0][0] = "x" * (seed % 61) + "y"
        records = [written(row, form, dice) + end for row in rows]
        records += [end] * dice.choice([0, 0, 1, 2])  # of one column a row, else none
        dice.shuffle(records)
        if dice.random() < 0.2 and records[-1].strip("\r\n"):
            records[-1] = records[-1].rstrip("\r\n")  # the last line end may be left out
        mark = "\ufeff" if form.encoding == "utf-8" and dice.random() < 0.2 else ""
        path = folder / f"t.csv{dice.choice(['', '', '', '.gz', '.zip'])}"
        data = (mark + form.delimiter.join(names) + end + "".join(records)).encode(form.encoding)
        store(path, data)
        monkeypatch.setattr(text, "BLOCK", dice.choice([1, 2, 3, 7, 16, 33, 100]))
        try:
            rows = [
                wanted(alone(record, form) or [""], form, names, kinds)
                for record in records
                if len(names) == 1 or record.strip("\r\n")
            ]
        except DataError:
            with pytest.raises(DataError):
                all_rows(path, options, text_columns)
            continue
        good += 1
        assert all_rows(path, options, text_columns) == rows, (seed, options, data)
    return good


def pool(name, kind, form):
    barred = "" if form.quotes else form.delimiter + '\r\n"'
    cells = [*CELLS, *LEGIBLE.get(form.encoding, "")]
    if name in form.dates:
        cells = [cell for cell in FORMATS[form.dates[name]] if moment(cell, form.dates[name])]
    elif kind != "text":
        cells = [cell for cell in CELLS if number(cell, form) is not None]
    cells = [cell for cell in [*cells, *form.missing] if not set(barred).intersection(cell)]
    codec = form.encoding
    return [one for one in cells if one.encode(codec, "replace").decode(codec) == one] or ["x"]


@pytest.mark.parametrize("count", [40, pytest.param(20_000, marks=pytest.mark.slow)])
def test_a_record_is_read_alike_whatever_stands_before_it(tmp_path, monkeypatch, count):
    assert read_shifted(tmp_path, monkeypatch, count, first=count) > count // 5


FAULTS = {
    "the missing words of before": ("missing", lambda form: MISSING),
    "a point is a point": ("decimal", lambda form: "."),
    "no symbols": ("symbols", lambda form: ()),
    "any encoding": ("encoding", lambda form: "iso8859-1"),
}


@quick_rows(1)
@pytest.mark.parametrize("fault", FAULTS)
def test_an_option_that_is_lost_is_seen(tmp_path, monkeypatch, fault):
    name, other = FAULTS[fault]

    class Lost(text.TextReader):
        def __init__(self, files, delimiter, form, *more):
            object.__setattr__(form, name, other(form))
            super().__init__(files, delimiter, form, *more)

    monkeypatch.setattr(text, "TextReader", Lost)
    with pytest.raises((AssertionError, DataError, SourceError, pytest.fail.Exception)):
        read_shifted(tmp_path, monkeypatch, 100)


@quick_rows(3)
@pytest.mark.parametrize("encoding", ["utf-8", *sorted({*ENCODINGS} - {"utf-8"})])
def test_broken_letters_spoil_their_own_cells_alone(tmp_path, monkeypatch, encoding):
    """In every encoding, each byte and pair of bytes is a fault of its cell or none."""
    path, dice = tmp_path / "t.csv", random.Random(7)
    monkeypatch.setattr(text, "BLOCK", 1 << 12)
    cells = [bytes([b]) for b in range(128, 256)]
    cells += [bytes(dice.choices(range(128, 256), k=dice.randrange(1, 4))) for _ in range(99)]
    cells += [cell + b"x" for cell in cells]
    lines = [b"%d,%s,7\n" % (i, cell) for i, cell in enumerate(cells)]

    def read(some, text_columns, names):
        path.write_bytes(b"i,word,v\n" + b"".join(some))
        return all_rows(path, {"encoding": encoding}, text_columns, names)

    assert read(lines, (), ["i", "v"]) == [(float(i), 7.0) for i in range(len(cells))]
    legible = [i for i, cell in enumerate(cells) if is_legible(cell, encoding)]
    found = read([lines[i] for i in legible], ["word"], ["word"])
    assert found == [(cells[i].decode(encoding),) for i in legible]
    broken = [i for i in range(len(cells)) if i not in legible]
    for i in dice.sample(broken, min(3, len(broken))):
        with pytest.raises(DataError, match="text in "):
            read([lines[i]], ["word"], ["word"])


def is_legible(cell, encoding):
    try:
        return bool(cell.decode(encoding))
    except UnicodeDecodeError:
        return False


BAD = {
    "quotes": ["no", 1],
    "missing": ["NA", [1], 3, ["\ud800"]],
    "delimiter": ["", ";;", "a", "7", '"', "\n", "\u00a6", 3],
    "encoding": ["utf-16", "utf-7", "iso2022_jp", "hex", "nonsense", "unicode_escape", 3],
    "decimal": [";", "", 3],
    "thousands": [".", "", "x", 3],
    "symbols": ["$", ["-"], [""], ["1"], [" $"], ["e"], [3]],
    "dates": ["%d", {"v": 3}, {3: "%Y"}, {"v": "%d.%m."}, {"v": "%Q%Y"}, {"v": "%Y %Z"}],
    "quote": [True],
}


def test_bad_options_are_refused_in_one_line_that_names_them(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("v\n1\n")
    for name, value in ((name, value) for name, values in BAD.items() for value in values):
        with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
            dp.scan(path, "v", **{name: value})
        words = str(caught.value)
        assert name in words and " must be " in words and len(words.split()) < 45, words
    with pytest.raises(SourceError, match=r"column 'day' is not in t\.csv"):
        dp.scan(path, "v", dates={"day": "%Y-%m-%d"})


def test_options_are_for_text_alone(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3.0))
    odd = {"missing": ["?"], "delimiter": ";", "dates": {"0": "%Y"}, "quotes": False}
    for name, value in odd.items():
        with pytest.raises(ArgumentError, match=f"{name} must be left out for a file that is not"):
            dp.scan(tmp_path / "a.npy", **{name: value})
    usual = {"missing": None, "encoding": "UTF8", "quotes": True, "decimal": "."}
    assert dp.scan(tmp_path / "a.npy", **usual).length == 3


@pytest.fixture
def german(tmp_path):
    """A file as a German spreadsheet writes it, and its options."""
    path = tmp_path / "t.csv"
    lines = ["tag;ort;umsatz"]
    lines += ["31.12.2024;M\u00fcnchen;1.234,50 \u20ac", "1.1.2025;K\u00f6ln;k. A."] * 50
    path.write_bytes("\r\n".join(lines).encode("cp1252"))
    options = {"delimiter": ";", "encoding": "cp1252", "decimal": ",", "thousands": "."}
    options |= {"symbols": ["\u20ac"], "missing": ["k. A."], "dates": {"tag": "%d.%m.%Y"}}
    return path, options


def test_a_file_of_another_country(german):
    path, options = german
    table = dp.scan(path, ["ort", "tag", "umsatz"], **options)
    days = [dt.date(2024, 12, 31), dt.date(2025, 1, 1)]
    for by, keys in (("ort", ["M\u00fcnchen", "K\u00f6ln"]), ("tag", days)):
        found = dp.group_by(table, by, keys=keys).count(epsilon=400)["count"]
        assert found.tolist() == [50, 50]
    year = (dt.date(2024, 7, 1), dt.date(2025, 7, 1))
    last = dp.median(dp.scan(path, "tag", **options), bounds=year, epsilon=400)
    assert last in map(np.datetime64, days)


def test_keys_that_no_cell_can_be_are_refused_before_the_spend(german):
    path, options = german
    table, words = (dp.scan(path, name, **options) for name in (["ort", "umsatz"], "ort"))
    loss = {"epsilon": 1, "budget": dp.Budget(epsilon=1)}
    for keys in (["k. A."], ["\u03a9"], ["M\u00fcnchen", "\u4e2d"]):
        for call in (
            lambda: dp.group_by(table, "ort", keys=keys).count(**loss),  # noqa: B023
            lambda: dp.histogram(words, categories=keys, **loss),  # noqa: B023
            lambda: dp.proportion(words, equal=keys[-1], **loss),  # noqa: B023
        ):
            with pytest.raises(ArgumentError, match=r"does not read as missing|text in CP1252"):
                call()
    with pytest.raises(ArgumentTypeError, match="must be dates or times"):
        dp.group_by(dp.scan(path, ["tag"], **options), "tag", keys=["31.12.2024"]).count(**loss)
    assert not loss["budget"].history


def test_a_cell_that_is_not_as_declared_is_paid_for_and_shows_nothing(tmp_path):
    path, options = tmp_path / "t.csv", {"decimal": ",", "dates": {"day": "%d.%m.%Y"}}
    for cell in (b"\xff", b"1.5", b"SECRET", b"31.02.2024"):
        bad, ask = b",".join([cell] * 3), {"epsilon": 1, "budget": dp.Budget(epsilon=2)}
        path.write_bytes(b"word,day,v,w\na,1.1.2024,1,2\n" + bad + b",3\n")
        v, day, w = (dp.scan(path, name, **options) for name in ("v", ["day"], "w"))
        for call in (
            lambda: dp.sum(v, bounds=(0, 9), **ask),  # noqa: B023
            lambda: dp.group_by(day, "day", keys=[dt.date(2024, 1, 1)]).count(**ask),  # noqa: B023
        ):
            words = r"neither a (number|date in its format) nor"
            with pytest.raises(DataError, match=words) as caught:
                call()
            error = caught.value
            assert error.__context__ is None and error.__cause__ is None
            assert repr(cell)[2:-1] not in str(error)
        assert not ask["budget"].remaining["epsilon"]
        assert dp.sum(w, bounds=(0, 9), epsilon=400) == pytest.approx(5, abs=0.5)


def test_a_job_and_the_command_line_have_the_same_words(german, capsys):
    from dpfast.app.cli import main

    path, options = german
    release = '[[release]]\nstatistic = "sum"\ncolumn = "umsatz"\nbounds = [0, 10000]\n'
    words = "".join(f"{k} = {json.dumps(v)}\n" for k, v in options.items() if k != "dates")
    job = path.with_name("job.toml")
    made = f'[data]\npath = "t.csv"\n{words}dates = {{tag = "%d.%m.%Y"}}\n[budget]\nepsilon = 400\n'
    job.write_text(f'{made}{release}nan = "drop"\n')
    assert abs(dp.job.run(job)["sum of umsatz"] - 50 * 1234.5) < 999
    job.write_text(made.replace('decimal = ","', 'decimal = "x"') + release)
    with pytest.raises(ArgumentError, match=r"data\.decimal must be one of"):
        dp.job.run(job)
    given = ["sum", str(path), "--column", "umsatz", "--bounds", "0", "10000", "--nan", "drop"]
    given += ["--epsilon", "400", "--delimiter", ";", "--encoding", "cp1252", "--decimal", ","]
    given += ["--thousands", ".", "--symbols", "\u20ac", "--missing", "'k. A.',''", "--json"]
    assert main.run([*given, "--dates", "tag=%d.%m.%Y"]) == 0
    assert abs(json.loads(capsys.readouterr().out)["value"] - 50 * 1234.5) < 999
    assert main.run([*given, "--dates", "tag"]) == 2
    assert "dates must be" in capsys.readouterr().err


def test_a_condition_reads_text_and_numbers_of_one_column_alike(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('v,w\n"1,5",1\n"2,5",2\nNA,4\n')
    files = dp.extend.Files(path, decimal=",")
    where = dp.extend.conditions({"column": "v", "not_in": ["2,5"]})
    both = [*where, *dp.extend.conditions({"column": "v", "above": 1})]
    for conditions, sum_ in ((where, 1.5), (both, 1.5)):
        data = files.data(["v"], where=conditions)
        assert dp.sum(data, bounds=(0, 9), nan="drop", epsilon=400) == pytest.approx(sum_, abs=0.5)
