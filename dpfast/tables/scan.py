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

#: The default delimiter of a text file, by its ending.
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
    """Open columns of files as data for releases, which read the rows in small blocks.

    Parameters
    ----------
    path : str or path-like, or a list of these
        A file that ends in ``.parquet`` or ``.pq``; in ``.arrow``, ``.arrows``, ``.feather`` or
        ``.ipc`` (the Arrow file or stream format); in ``.csv`` or ``.tsv``, also compressed
        (``.csv.gz``, ``.bz2``, ``.zst``, ``.lz4``, or a ``.zip`` of one file); or in ``.npy``. All
        but ``.npy`` may also be a directory of parts, where the file endings decide which files
        belong; Parquet and text may be a pattern such as ``"sales/2024-*.parquet"``. Several files
        of one format are one table, whose rows follow one another. Parquet, Arrow and text files
        may be remote (``"s3://..."``, ``"gs://..."``, ``"memory://..."``): in storage that pyarrow
        supports, or with fsspec many more. Directories like ``year=2024`` become a column of that
        name.
    column : str, int, or list of these, optional
        The name of the column, or its index from 0. A list makes a table. If left out: the table of
        all columns, or the only column. ``table["pay"]`` is a column of a table, and a list of
        names between the brackets makes another table.
    where : dict, pyarrow.compute.Expression, or list of these, optional
        Conditions of the rows to keep, as in `dpfast.extend.conditions`, such as ``{"column":
        "day", "at_least": "2024-01-01"}``: each condition looks at one row alone, and a missing
        value satisfies no condition. How many rows are kept is private, so neighbors="replace" is
        refused. An expression of Arrow is ``(pc.field("delay") > 0) &
        pc.starts_with(pc.field("to"), "N")``. A row is kept if the expression is true, and not if
        it is null or fails, for example in a cast or a division. Columns of a text file are text in
        an expression: ``pc.field("delay").cast("float64") > 0``.
    **options
        The format of a text file; the rows do not decide it.

        ``quotes``
            False if a quote is an ordinary character: then each line is a row.
        ``missing``
            The list of cells that are missing values: by default the empty cell and the usual words
            (NA, NaN, null, None, ...). Cells are compared exactly, quoted or not.
        ``delimiter``
            The character between cells: by default ``","``, in ``.tsv`` a tab.
        ``encoding``
            By default ``"utf-8"``; otherwise an encoding that keeps ASCII, such as ``"cp1252"``,
            ``"latin-1"``, ``"shift_jis"`` or ``"gbk"``.
        ``decimal``
            The decimal mark: ``"."`` by default, or ``","``.
        ``thousands``
            The separator between groups of digits, where the last group has three digits and the
            others two or three: ``","``, ``"."``, ``" "``, ``"'"``, ``"_"``, or one of their
            typographic forms.
        ``symbols``
            A list of texts such as ``["$", "%", "EUR"]``, of which one may stand before or after a
            number. They are ignored: 12 % is 12.
        ``dates``
            The columns of dates or times and their formats, as for `datetime.strptime`: ``{"day":
            "%d.%m.%Y"}``. Such a column has dates, times if the format has a time of the day, and
            times with a zone if the format has ``%z``.

        Options for remote files:

        ``storage_options``
            Options of fsspec for the storage, such as ``{"anon": True}`` or a key; then fsspec also
            reads storage that pyarrow supports. No error shows these options.

    Returns
    -------
    Source
        For one column: data for `dpfast.median` and similar functions, for any number of calls. The
        file is opened and its header read now; its rows are read by the release.
    Table
        For several columns, for all of them, or for a list: a table for statistics of each column
        (``axis=0``), `dpfast.group_by`, `dpfast.covariance`, `dpfast.histogram`, and
        `dpfast.sample_and_aggregate`, whose estimator gets records of float64 with the names of the
        columns. Only columns that a release uses are read, and only their types matter. In a
        release `ids` may name another column of the file (integers, text or bytes), which need not
        be listed in `column`.

    Raises
    ------
    SourceError
        For a file or column that does not exist or holds neither numbers nor text, an unknown file
        ending, or a header that cannot be read. These errors depend on the schema only, and come
        before anything is spent. Damage to a file may be found only while its rows are read, and so
        may a change of the file after it was scanned. No message repeats the words of the library
        that read the file.
    ArgumentTypeError
        If `path` or `column` is of another type.
    MissingExtraError
        If pyarrow is not installed; ``.npy`` needs no extra.

    Notes
    -----
    Integers and floats keep their type, booleans become uint8, decimals float64; dictionary-encoded
    numbers are looked up; dates and times are keys of groups. Columns of several files are matched
    by name, and have a type that can hold the values of all files; times have the finest unit. Text
    is for `dpfast.histogram` with `categories`; every other release refuses it before the spend. A
    null counts as a row; the `nan` argument of the release says how nulls and NaN are treated. In a
    table, and wherever whole rows are read, a null is NaN.

    A text file declares no types. So the use of a column decides its type, and its rows never do.
    Every cell is read as float64, so integers beyond 2**53 are rounded; only if `categories` are
    text, cells are compared with them exactly. Missing values are in no category, not even in one
    with the same name (in other formats they are text), so public words that are missing values, or
    cannot be written in the encoding, are refused before the spend. In a file of one column an
    empty line is a row with an empty cell; in other files it is skipped. Any other cell that is not
    a number or a date, text that is not in the encoding, a row with too few or too many cells or
    over 64 megabytes, and an open quote stop the release with `DataError`, also if a whole column
    is text. The error does not show the row, but it is an answer about the data: the spent budget
    is not refunded. ``dpfast check FILE`` shows the owner of the data where such cells are. How a
    row is read does not depend on other rows, as long as quotes are closed: an open quote makes one
    cell of the rows that follow, unless ``quotes`` is False. The names of the columns are the first
    line that is not empty, of less than half a megabyte; a name that continues in the next line is
    refused. A name that occurs more than once is replaced by its index: ``0``, or ``"pay (place
    0)"``. Names are public: a file without a header shows its first row as names. Ids in a text
    file are compared as text, so ``7`` and ``07`` are two ids; all missing values are one id.

    Cost: in a pass, up to `dpfast.threads` threads (by default one a core, at most four) decode the
    column, while the kernel works on the finished pieces. A text file needs two passes, because it
    cannot be sampled cheaply. Memory: two pieces of 65,536 numbers (of 4,096 rows, in a table of
    more than sixteen columns) for each thread and, in Parquet, the pages being decoded; in an Arrow
    file, one record batch of the columns that are read; in ``.npy``, a megabyte for each thread. No
    file is mapped.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np, dpfast as dp
    >>> path = os.path.join(tempfile.mkdtemp(), "salaries.npy")
    >>> np.save(path, np.arange(20_000.0, 120_000.0))
    >>> salaries = dp.scan(path)
    >>> 65_000 < dp.median(salaries, bounds=(0, 1e6), epsilon=1.0) < 75_000
    True

    Only some rows of a file (the argument `where` of a release takes such an expression, too):

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
        checks.fail("path", "a list of at least one path, none of them empty", path)
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
        # A repeated name is left out here. Using it raises an error, as does a column whose type
        # cannot be read.
        return Table(reader, [name for name, many in Counter(reader.names).items() if many == 1])
    names = [reader.find(wanted_column) for wanted_column in wanted]
    return columns(reader, distinct(names) if isinstance(column, (list, tuple)) else names[0])


def columns(reader: Reader, names: str | list[str]) -> TableColumn | Table:
    """Return one column of a file as data, or a table of several, by names in the file.

    A type that cannot be read is an error now for one column, and for a table when it is used.
    """
    if not isinstance(names, str):
        return Table(reader, names)
    # A release decides whether it can use text or dates.
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
    except OSError as error:  # a name that is too long, or a directory that may not be read
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
        raise SourceError(f"{files[0].name} and the files read with it must all end in {ending}")
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
    """Return the files of a path, directory or pattern, in order of name."""
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
    """Return the ending that shows a file's format, and its compression; refuse others."""
    ending, compression = ending_of(path)
    if ending not in FORMATS:
        raise SourceError(
            f"file {path.name!r} must end in one of {', '.join(FORMATS)} (.csv and .tsv also "
            f"compressed: {', '.join(COMPRESSIONS)})"
        )
    return ending, compression
