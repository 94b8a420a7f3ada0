"""`scan(path, column)`: make columns of files data for a release, by file ending."""

from __future__ import annotations

import difflib
import glob
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from .._core import checks
from ..errors import SourceError
from .base import Source
from .columns import Table, TableColumn
from .dataset import (
    COMPRESSIONS,
    FORMATS,
    dataset_reader,
    ending_of,
    format_of,
    is_remote,
    parts_of,
    regular,
    remote_files,
)
from .forms import pyarrow_for
from .pick import distinct, wanted_columns
from .text_format import TextFormat, TextOptions, text_format

if TYPE_CHECKING:
    from .files import Reader

#: The usual delimiter of a file of text, by its ending.
DELIMITERS = {".csv": ",", ".tsv": "\t"}

Path_ = str | os.PathLike[str]
Paths = Path_ | Sequence[Path_]
Columns = list[str] | list[int] | list[str | int] | tuple[str | int, ...]


class ScanOptions(TextOptions, total=False):
    """The keyword options of `scan`: the format of text files, and access to remote files."""

    storage_options: Mapping[str, Any]


@overload
def scan(
    path: Paths, column: None = None, *, where: Any = None, **options: Unpack[ScanOptions]
) -> Any: ...


@overload
def scan(
    path: Paths, column: str | int, *, where: Any = None, **options: Unpack[ScanOptions]
) -> Source: ...


@overload
def scan(
    path: Paths, column: Columns, *, where: Any = None, **options: Unpack[ScanOptions]
) -> Table: ...


def scan(
    path: Paths,
    column: str | int | Columns | None = None,
    *,
    where: Any = None,
    **options: Unpack[ScanOptions],
) -> Source | Table:
    """Make columns of files the data of releases: read in small blocks, never held whole.

    Parameters
    ----------
    path : str or path-like, or a list of these
        A file that ends in ``.parquet`` or ``.pq``; in ``.arrow``, ``.arrows``, ``.feather`` or
        ``.ipc`` (the Arrow file or stream format); in ``.csv`` or ``.tsv``, also compressed
        (``.csv.gz``, ``.bz2``, ``.zst``, ``.lz4``, or a ``.zip`` of one file); or in ``.npy``.
        All but the last may also be a directory of parts, whose endings say which of its files
        belong, and Parquet and text a pattern such as ``"sales/2024-*.parquet"``.
        Several files of one format are one table, whose rows follow one another. Parquet, Arrow and
        text may lie in remote places (``"s3://..."``, ``"gs://..."``, ``"memory://..."``): those
        that pyarrow knows, and with fsspec many more. Directories like ``year=2024`` are a column
        of that name.
    column : str, int, or list of these, optional
        The name of the column, or its place from 0. A list makes a table. Left out: the table of
        all columns, or the only one. ``table["pay"]`` is a column of a table, and a list of names
        between the brackets makes another table.
    where : dict, pyarrow.compute.Expression, or list of these, optional
        Conditions of the rows to keep, as in `dpfast.extend.conditions`, such as
        ``{"column": "day", "at_least": "2024-01-01"}``: each looks at one row alone, and a missing
        value passes none. How many rows are kept is private, so neighbors="replace" is refused. An
        expression of Arrow is ``(pc.field("delay") > 0) & pc.starts_with(pc.field("to"), "N")``: a
        row passes for which it is true, and neither null nor a failure, as of a cast or division.
        Columns of a text file are text there: ``pc.field("delay").cast("float64") > 0``.
    **options
        How a file of text is written; nothing of this is told by its rows.

        ``quotes``
            False where a quote is a letter like any other: each line is a row.
        ``missing``
            The list of cells that are missing values: by default the empty cell and the usual words
            (NA, NaN, null, None, ...). They are taken as they stand, quoted or not.
        ``delimiter``
            The character between cells: by default ``","``, in ``.tsv`` a tab.
        ``encoding``
            By default ``"utf-8"``; else one that keeps ASCII, such as ``"cp1252"``, ``"latin-1"``,
            ``"shift_jis"`` or ``"gbk"``.
        ``decimal``
            The decimal mark: ``"."`` by default, or ``","``.
        ``thousands``
            What may stand between groups of digits, the last of three and the others of two or
            three: ``","``, ``"."``, ``" "``, ``"'"``, ``"_"``, or one of their typographic forms.
        ``symbols``
            A list of texts such as ``["$", "%", "EUR"]``, of which one may stand before or after a
            number. They are left out: 12 % is 12.
        ``dates``
            The columns of dates or times and how they are written, in the words of
            `datetime.strptime`: ``{"day": "%d.%m.%Y"}``. They are dates, times if the format has a
            time of the day, and times with a zone if it has ``%z``.

        And of remote files:

        ``storage_options``
            What fsspec is told of the place, such as ``{"anon": True}`` or a key; then it reads
            places that pyarrow knows, too. No error shows it.

    Returns
    -------
    Source
        One column, to be given to `dpfast.median` and the like, as often as wanted. The file is
        opened and its header read now; its rows are read by the release.
    Table
        Several, all of them, or one in a list, for statistics of each column (``axis=0``),
        `dpfast.group_by`, `dpfast.covariance`, `dpfast.histogram`, and
        `dpfast.sample_and_aggregate`, whose estimator gets records of float64 with the names of the
        columns. Only columns that a release uses are read, and only their types matter. There `ids`
        may name a further column of the file, of a table as of a single column: integers, text or
        bytes, which need not be listed.

    Raises
    ------
    SourceError
        A file or column that is not there or holds neither numbers nor text, an ending that is not
        known, a header that cannot be read. All of that depends on the schema only, and comes
        before anything is spent. A damaged file may show only while its rows are read, and so does
        one that is changed or cut short after it was scanned. No message repeats the words of the
        library that read the file.
    ArgumentTypeError
        When `path` or `column` is of another type.
    MissingExtraError
        When pyarrow is not installed; ``.npy`` needs no extra.

    Notes
    -----
    Integers and floats keep their type, booleans become uint8, decimals float64;
    dictionary-encoded numbers are looked up; dates and times are keys of groups. Columns of several
    files are matched by name, and have a type that holds those of all: times the finest unit. Text
    is for `dpfast.histogram` with `categories`; every other release refuses it, before it spends. A
    null counts as a row, and the `nan` argument of the release says what becomes of it and of NaN.
    In a table, and wherever whole rows are read, a null is NaN.

    A text file declares no types, so what is asked of a column decides, and never its rows: every
    cell is read as float64, so integers beyond 2**53 are rounded; only where `categories` are text,
    cells are compared with them as they stand. Missing values are in no category, not even in one
    of that name (in other formats they are text), so public words that are missing values, or
    cannot be written in the encoding, are refused before the spend. In a file of one column an
    empty line is a row, whose cell is empty; in others it is no row. Any other cell that is no
    number or date, text that is not in the encoding, a row of another width, one of over 64
    megabytes, and a quote that is not closed stop the release with `DataError`, also where a whole
    column is text. It says nothing of the row, but it is an answer about the data: the spent budget
    is not refunded. ``dpfast check FILE`` shows the owner of the data where such cells are. How a
    row is read depends on no other, as long as quotes are closed: an open one makes a cell of the
    rows that follow, unless ``quotes`` is False. Names are the first line that is not empty, of
    less than half a megabyte; one that goes on in the next line is refused. A name that stands more
    than once is told by its place: ``0``, or ``"pay (place 0)"``. Names are public: a file without
    a header shows its first row as names. Ids in a text file are their cells, so ``7`` and ``07``
    are two; those of missing values are one.

    Cost: a pass decodes the column in up to `dpfast.threads` (by default one a core,
    at most four) while the kernel works on what they have finished. A file of text takes two
    passes, for there is no cheap sample of it. Memory: two pieces of 65,536 numbers (of 4,096
    rows, in a table of more than sixteen columns) for each thread and, in Parquet, the pages being
    decoded; in an Arrow file, one record batch of the columns that are read; in ``.npy``, a
    megabyte for each thread. No file is mapped.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np, dpfast as dp
    >>> path = os.path.join(tempfile.mkdtemp(), "salaries.npy")
    >>> np.save(path, np.arange(20_000.0, 120_000.0))
    >>> salaries = dp.scan(path)
    >>> 65_000 < dp.median(salaries, bounds=(0, 1e6), epsilon=1.0) < 75_000
    True

    Some of its rows; `where` of a release takes such an expression, too:

    >>> some = dp.scan(path, where={"column": "0", "above": 100_000})
    >>> 19_900 < dp.count(some, epsilon=1.0) < 20_100
    True
    >>> import pyarrow.compute as pc
    >>> 9_900 < dp.count(some, where=pc.field("0") >= 110_000, epsilon=1.0) < 10_100
    True

    A text file as spreadsheets in Germany write it:

    >>> text = "Tag;Umsatz\\n" + "31.12.2024;1.234,50 €\\n02.01.2025;k. A.\\n" * 1000
    >>> path = os.path.join(tempfile.mkdtemp(), "umsatz.csv")
    >>> with open(path, "w", encoding="cp1252") as file:
    ...     _ = file.write(text)
    >>> form = {"delimiter": ";", "encoding": "cp1252", "decimal": ",", "thousands": "."}
    >>> form |= {"symbols": ["€"], "missing": ["k. A."], "dates": {"Tag": "%d.%m.%Y"}}
    >>> sales = dp.scan(path, "Umsatz", **form)
    >>> 1230 < dp.mean(sales, bounds=(0, 10_000), nan="drop", epsilon=10) < 1240
    True
    """
    several = isinstance(path, (list, tuple))
    for file in path if several else [path]:  # type: ignore[union-attr]
        if not (isinstance(file, (str, os.PathLike)) and isinstance(os.fspath(file), str)):
            checks.fail_type("path", "a string or a path, or a list of these", path)
    if several and not (path and all(os.fspath(file) for file in path)):  # type: ignore[union-attr]
        checks.fail("path", "at least one path, and none empty, if it is a list", path)
    wanted_columns(column)
    rows = _reader(path, options)
    if where is not None:
        from .filtered import conditions, filtered

        rows = filtered(rows, conditions(where))
    return data_of(rows, column)


def data_of(reader: Reader, column: Any) -> TableColumn | Table:
    """Return the columns named by `column` as data; all columns of the file if it is None."""
    wanted = wanted_columns(column)
    if column is None and len(reader.names) != 1:
        # A name that stands twice, or a type that cannot be read, is an error when it is used.
        return Table(reader, [name for name, many in Counter(reader.names).items() if many == 1])
    names = [reader.find(wanted_column) for wanted_column in wanted]
    return columns(reader, distinct(names) if isinstance(column, (list, tuple)) else names[0])


def columns(reader: Reader, names: str | list[str]) -> TableColumn | Table:
    """Return one column of a file as data, or a table of several, by names in the file.

    A type that cannot be read is an error now for one column, and for a table when it is used.
    """
    if not isinstance(names, str):
        return Table(reader, names)
    # What text and dates are good for is for a release to say.
    if not (reader.holds_text(names) or reader.holds_times(names)):
        reader.numbers(names)
    return TableColumn(reader, names)


def reader(path: Paths, **options: Unpack[ScanOptions]) -> Reader:
    """Return a reader of any columns of files, for a caller that makes the passes itself."""
    reader_of_files = _reader(path, options)
    pyarrow_for(reader_of_files.paths[0].name)
    return reader_of_files


def _paths(path: str | os.PathLike[str]) -> list[Path]:
    name = os.fspath(path)
    if not name:
        checks.fail("path", "the name of a file", path)
    try:
        return _files(name)
    except SourceError:
        raise
    except OSError as error:  # a name that is too long, a directory that may not be entered
        raise SourceError(f"file {name[:200]!r} cannot be read: {error.strerror}") from None


def _reader(path: Paths, options: Mapping[str, Any]) -> Reader:
    """Return the reader for the ending of some files."""
    text = dict(options)
    storage = text.pop("storage_options", None) or {}
    format = text_format(text)
    paths: Sequence[Any] = path if isinstance(path, (list, tuple)) else [path]
    if not (isinstance(storage, Mapping) and all(isinstance(name, str) for name in storage)):
        checks.fail_kind("storage_options", "a mapping of fsspec's options to values", storage)
    if storage and not any(map(is_remote, paths)):
        checks.fail("storage_options", "left out for files that are not remote", [*storage])
    if any(_is_text(name, storage) for name in paths):
        if any(map(is_remote, paths)):
            system, files = remote_files(paths, storage)
            return _text_reader([Path(file) for file in files], format, system)
        return _text_reader([file for name in paths for file in _paths(name)], format)
    for name, value in format.declared.items():
        checks.fail(name, "left out for a file that is not text", value)
    if len(paths) > 1 or is_remote(paths[0]):
        return dataset_reader(paths, storage)
    return _typed_reader(paths[0], _paths(paths[0]))


def _text_reader(files: Sequence[Path], format: TextFormat, system: Any = None) -> Reader:
    from .text import TextReader

    pyarrow_for(files[0].name)
    ends = [_ending(file) for file in files]
    ending = ends[0][0]
    if any(other != ending for other, _ in ends):
        raise SourceError(f"{files[0].name} and what is read with it must all end in {ending}")
    compressed = [compression for _, compression in ends]
    parts = list(zip(files, compressed, strict=True))
    return TextReader(parts, DELIMITERS[ending], format, system)


def _typed_reader(path: str | os.PathLike[str], files: list[Path]) -> Reader:
    """Return the reader of files in a format that declares the types of columns."""
    if os.path.isdir(path):
        root = Path(path)
        if format_of(files[0]) == "ipc" or all(
            "=" in str(p.relative_to(root).parent) for p in files
        ):
            return dataset_reader([path])
    first = files[0]
    kind = FORMATS[_ending(first)[0]]
    if kind == "npy":
        from .npy import NpyFile

        return NpyFile(first)
    pyarrow_for(first.name)
    if kind == "parquet":
        from .parquet import ParquetReader

        return ParquetReader(files)
    from .ipc import IpcReader

    return IpcReader(first)


def _files(text: str) -> list[Path]:
    """Return the files for which a path, directory or pattern stands, in order of name."""
    path = Path(text)
    if path.is_dir():
        return parts_of(path)
    files = [path]
    if not path.exists() and glob.has_magic(text):
        files = sorted(Path(p) for p in glob.glob(text, recursive=True))
        if not files:
            raise SourceError(f"no file matches {text!r}")
        if len(files) > 1 and not {"parquet", "text"}.issuperset(map(format_of, files)):
            raise SourceError(f"only Parquet and text can be read from several files, got {text!r}")
    elif not path.exists():
        near = []
        if path.parent.is_dir():
            near = difflib.get_close_matches(path.name, os.listdir(path.parent), 1, 0.75)
        if near and near[0] != path.name:
            hint = f"; did you mean {str(path.parent / near[0])!r}?"
            raise SourceError(f"file {text!r} does not exist{hint}")
    return [regular(file) for file in files]


def _is_text(path: Path_, storage: Mapping[str, Any]) -> bool:
    """Tell whether a file, or the first file of a directory, is text, by its ending."""
    file: Path_ = path
    if is_remote(path) and format_of(path) is None:
        file = remote_files([path], storage)[1][0]
    elif os.path.isdir(path):
        file = _paths(path)[0]
    return format_of(file) == "text"


def _ending(path: Path) -> tuple[str, str | None]:
    """Return the ending that tells a file's format, and its compression; refuse others."""
    ending, compression = ending_of(path)
    if ending not in FORMATS:
        raise SourceError(
            f"file {path.name!r} must end in one of {', '.join(FORMATS)} (.csv and .tsv also "
            f"compressed: {', '.join(COMPRESSIONS)})"
        )
    return ending, compression
