"""Headers of text files: no byte of a row is ever shown, whatever stands in the first line."""

import gzip
import io
import logging
import random
import re
import traceback

import pytest

import dpfast as dp
from dpfast.app.cli import main
from dpfast.errors import DpfastError, SourceError
from dpfast.tables import arrow, text
from dpfast.tables.forms import Arrow
from dpfast.tables.scan import scan
from dpfast.tables.text_format import TextFormat

from ..support.pairwise import quick_rows

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.csv")

MARKER = "HIV-positive"
PIECES = [
    '"', '""', '"""', "'", "a", "b", "patient", '5" pipe', " ", "\t", ";", ",", ",", ",", "\\",
    '\\"', "\0", "\r", "\n", "\r\n", "\u00e9", "\ufeff", "\u2028", "\x85", "\x1a", "NA", "1",
    "-3.5", '"x,y"', '"x\ny"', '"x""y"', '"x" ', "#", "=", "\U0001f600",
]  # fmt: skip


def hostile(dice):
    """A text file with an odd header, of which every row shows itself, and its ending."""
    ending = dice.choice([".csv", ".csv", ".csv", ".tsv", ".csv.gz"])
    mark = dice.choice([b"", b"", b"", b"\xef\xbb\xbf", b"\xff\xfe"])
    empty = dice.choice(["", "", "", "\n", "\r\n", "\r\r\n\n"])
    header = "".join(dice.choices(PIECES, k=dice.randrange(1, 9)))
    if not header.lstrip("\ufeff").strip("\r\n"):
        header += "v"  # else the first row is the header
    codec = dice.choice(["utf-8", "utf-8", "utf-8", "utf-16-le", "cp1252"])
    end = dice.choice(["\n", "\r\n", "\r"])
    kinds = [f"3,4,{MARKER}", f"{MARKER},1", MARKER, f'"{MARKER}",2', f'3,"{MARKER}', f'{MARKER}"']
    rows = dice.choices(kinds, k=dice.choice([1, 2, 5]))
    delimited = end.join([*rows, ""]).replace(",", "\t" if ending == ".tsv" else ",")
    data = mark + empty.encode() + header.encode(codec, "replace") + (end + delimited).encode()
    return (gzip.compress(data) if ending.endswith("gz") else data), ending


def looks(path):
    kw = {"bounds": (0, 9), "epsilon": 1}
    mean = {"estimator": "mean", "blocks": 2, "ids": "patient"}
    line = ["median", str(path), "--column", "a", "--bounds", "0", "9", "--epsilon", "1"]
    yield lambda: scan(path)
    yield lambda: scan(path, "patient")
    yield lambda: scan(path, 10**6)
    yield lambda: repr(scan(path, [0]))
    yield lambda: dp.median(scan(path, 0), nan=0, **kw)
    yield lambda: dp.mean(scan(path, [0, 1]), axis=0, nan=0, **kw)
    yield lambda: dp.histogram(scan(path, 0), categories=["a"], epsilon=1)
    yield lambda: dp.sample_and_aggregate(scan(path, 0), **mean, **kw)
    yield lambda: main.run(line)


def shown(call):
    """All that somebody sees of an error, or whom it remembers."""
    try:
        call()
    except DpfastError as error:
        words = "".join(traceback.format_exception(error))
        seen, left = [], [error]
        while left:
            one = left.pop()
            if one is not None and one not in seen:
                seen.append(one)
                left += [one.__cause__, one.__context__]
        return words + "".join(map(repr, seen))
    return ""


def leaks(count, folder, capfd, caplog, first=0):
    caplog.set_level(logging.DEBUG)
    found = []
    for number in range(first, first + count):
        dice = random.Random(number)
        data, ending = hostile(dice)
        path = folder / f"t{ending}"
        path.write_bytes(data)
        words = "".join(map(shown, dice.sample(list(looks(path)), 4)))
        words += "".join(capfd.readouterr()) + caplog.text
        caplog.clear()
        if MARKER in words:
            found.append((number, data))
    return found


@pytest.mark.full
@pytest.mark.parametrize("count", [200, pytest.param(20_000, marks=pytest.mark.slow)])
def test_no_row_is_shown_whatever_the_header_is(tmp_path, capfd, caplog, count):
    assert leaks(count, tmp_path, capfd, caplog, first=count) == []


def _quotes_anywhere(block, path):
    """The line as it was found once: a quote within a name opened one, too."""
    quoted, end = False, len(block)
    for found in re.finditer(rb'["\r\n]', block):
        if found[0] == b'"':
            quoted = not quoted
        elif not quoted and block[: found.start()].strip(b"\r\n"):
            end = found.start()
            break
    return block[:end], end + 1


def _by_the_library(line, form, path):
    """The names as they were found once, with the words of the library in the error."""
    from pyarrow import csv

    try:
        parse = csv.ParseOptions(delimiter=form.delimiter, newlines_in_values=True)
        return list(csv.open_csv(pa.BufferReader(line), parse_options=parse).schema.names)
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise SourceError(f"{path.name} cannot be read as a table of text: {error}") from None


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("fault", ["quotes", "words", "context"])
def test_the_faults_of_before_are_found(tmp_path, capfd, caplog, monkeypatch, fault):
    if fault == "quotes":
        monkeypatch.setattr(text, "_first_line", _quotes_anywhere)
        monkeypatch.setattr(text, "_names", _by_the_library)
    else:
        monkeypatch.setattr(text.TextReader, "_row_batches", _as_they_come)
        if fault == "words":
            monkeypatch.setattr(arrow, "hide_error", str)
        else:
            monkeypatch.setattr(text, "guarded", _chained)
    assert leaks(60, tmp_path, capfd, caplog)


def _as_they_come(reader, blocks, turn, want):
    """Rows without the care for what pyarrow says of them."""
    parse = reader.parser(reader.files[0], dict.fromkeys(want.names, pa.float64()))
    for block in blocks:
        for batch in parse(block.data).to_batches():
            yield 0, list(map(Arrow.of, batch.columns))


def _chained(path, rows):
    """An error that is raised while the other is held."""
    try:
        yield from rows
    except pa.ArrowInvalid:
        raise SourceError("cannot be read") from None


def test_a_name_of_two_lines_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    for line in ('a,"b', '"a""', '"', 'a,"b"",c'):
        path.write_text(line + f'\n3,"{MARKER}",5\n')
        with pytest.raises(SourceError, match=r"x\.csv must be one line, but a quoted name"):
            scan(path)


def test_names_agree_with_the_parser_on_odd_lines(tmp_path):
    """Where a name ends in its line, pyarrow and this package take a header apart alike."""
    from pyarrow import csv

    compared = 0
    for number in range(800):
        dice = random.Random(number)
        some = [piece for piece in PIECES if not {"\r", "\n", "\ufeff"} & set(piece)]
        line = "v" * dice.randrange(2) + "".join(dice.choices(some, k=dice.randrange(1, 9)))
        try:
            names = text._names(line.encode(), TextFormat(delimiter=","), tmp_path / "x.csv")
        except SourceError:
            continue
        assert csv.read_csv(io.BytesIO(line.encode() + b"\n")).column_names == names
        compared += 1
    assert compared > 500


@quick_rows(1)
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_a_header_that_is_too_long_is_one_error(tmp_path, ending):
    def write(data):
        path = tmp_path / ("x" + ending)
        path.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
        return path

    wide = ",".join(f"column {i}" for i in range(40_000)).encode()
    assert len(wide) < text.HEADER
    row = b",".join([b"7"] * 40_000)
    source = scan(write(wide + b"\r\n" + row + b"\n"), "column 39999")
    assert source.reduce(lambda c: c.values.sum(), lambda a, b: a + b) == 7
    empty = b"\n" * (text.HEADER + 1) + b"a\n1"
    for data in (wide + b"," + wide + b"\n", b"a" * text.HEADER, empty):
        with pytest.raises(SourceError, match="must be one line of less than 524,288 bytes"):
            scan(write(data), 0)
    with pytest.raises(SourceError, match="a column name has over 131,072 characters"):
        scan(write(b"v," + b"a" * 200_000 + b"\n1,2\n"), 0)
    for data in (b"", b"\n\r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"):
        with pytest.raises(SourceError, match="must begin with a header line"):
            scan(write(data), 0)
