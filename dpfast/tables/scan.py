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
        The file. The ending of its name says the format:

        - Parquet: ``.parquet`` or ``.pq``.
        - Arrow, in its file or stream format: ``.arrow``, ``.arrows``, ``.feather`` or ``.ipc``.
        - Text: ``.csv`` or ``.tsv``, also compressed as ``.csv.gz``, ``.bz2``, ``.zst``, ``.lz4``,
          or as a ``.zip`` of one file.
        - NumPy: ``.npy``.

        Several files of one format can be one table, in which the rows of the files follow one
        another. For Parquet, Arrow and text, give a list of paths, or a directory. For Parquet and
        text, a pattern such as ``"sales/2024-*.parquet"`` works, too. Subdirectories with names
        such as ``year=2024`` become a column ``year``.

        Parquet, Arrow and text files may be remote (``"s3://..."``, ``"gs://..."``). Storage that
        pyarrow does not support needs fsspec.
    column : str, int, or list of these, optional
        The name of the column, or its index from 0. A list of these makes a table. If left out, the
        result is a table of all columns, or the column if the file has only one. ``table["pay"]``
        is a column of a table, and ``table[["pay", "age"]]`` is a smaller table.
    where : dict, pyarrow.compute.Expression, or list of these, optional
        Keep only the rows that satisfy these conditions, such as ``{"column": "day", "at_least":
        "2024-01-01"}``; see `dpfast.extend.conditions`. A missing value satisfies no condition. The
        number of kept rows is private, so releases with neighbors="replace" are refused.

        A condition may also be an expression of Arrow, such as ``pc.field("delay") > 0``. A row is
        dropped if the expression is false or null, or fails on this row (for example, in a
        division). The columns of a text file are text: ``pc.field("delay").cast("float64") > 0``.
    **options
        The format of a text file. It is never guessed from the rows.

        ``quotes``
            False if a quote is an ordinary character. Then each line is a row.
        ``missing``
            The list of cells that are missing values. By default these are the empty cell and the
            usual words (NA, NaN, null, None, ...). Cells are compared exactly, quoted or not.
        ``delimiter``
            The character between cells: by default ``","``, in ``.tsv`` a tab.
        ``encoding``
            By default ``"utf-8"``. Any other encoding must keep ASCII, such as ``"cp1252"``,
            ``"latin-1"``, ``"shift_jis"`` or ``"gbk"``.
        ``decimal``
            The decimal mark: ``"."`` by default, or ``","``.
        ``thousands``
            The separator between groups of digits: ``","``, ``"."``, ``" "``, ``"'"``, ``"_"``, or
            one of their typographic forms. The last group has three digits, the others two or
            three.
        ``symbols``
            A list of texts such as ``["$", "%", "EUR"]``. One of them may stand before or after a
            number, and is ignored: 12 % is 12.
        ``dates``
            The format of each column of dates or times, as for `datetime.strptime`: ``{"day":
            "%d.%m.%Y"}``. The column has times if the format has a time of the day, and times with
            a zone if the format has ``%z``; otherwise it has dates.

        Options for remote files:

        ``storage_options``
            Options of fsspec for the storage, such as ``{"anon": True}`` or a key. With them fsspec
            reads all storage, even storage that pyarrow supports. No error shows these options.

    Returns
    -------
    Source
        For one column: data for any number of calls of `dpfast.median` and similar functions. The
        header of the file is read now. The rows are read by each release.
    Table
        For several columns: data for statistics of each column (``axis=0``), `dpfast.group_by`,
        `dpfast.covariance`, `dpfast.histogram` and `dpfast.sample_and_aggregate`. A release reads
        only the columns that it uses. Its argument `ids` may also name a column of the file that is
        not listed in `column`.

    Raises
    ------
    SourceError
        If a file or column does not exist, an ending is unknown, a header cannot be read, or a
        column holds neither numbers nor text. These errors depend on the schema only, and come
        before anything is spent. If the file is damaged, or changes after the scan, the error may
        come only while rows are read, after the spend. No message quotes the library that read the
        file, because its words may show a row.
    ArgumentTypeError
        If `path` or `column` is of another type.
    MissingExtraError
        If pyarrow is not installed; ``.npy`` needs no extra.

    Notes
    -----
    *Types.* Integers and floats keep their type, booleans become uint8, and decimals become
    float64. Dates and times keep their type. Columns of several files are matched by name, and get
    a type that can hold the values of all files. A release that needs numbers refuses a column of
    text before the spend. A null counts as a row, and the `nan` argument of the release says how
    nulls and NaN are treated. Where whole rows are read, a null is NaN.

    *Columns of text files* have no declared types, so the use of a column decides how its cells are
    read, and the rows never do:

    - As numbers, cells are read as float64, so integers beyond 2**53 are rounded.
    - As text, for example if `categories` are text, cells are compared exactly. The ids ``7`` and
      ``07`` are two ids.
    - A cell that means "missing", such as ``NA``, is in no category. A category ``"NA"`` would
      always be empty, so it is refused before the spend.

    *Rows of text files.* An empty line is skipped, except in a file of one column: there it is a
    row with an empty cell. If all quotes are closed, no row changes how another row is read. A
    quote that stays open makes one cell of all rows after it, unless ``quotes`` is False.

    *Names.* The first line that is not empty holds the names of the columns. It must be one line of
    less than half a megabyte. Names are public: a file without a header shows its first row as
    names. If a name occurs more than once, choose the column by its index, ``0``, or as ``"pay
    (place 0)"``.

    *Errors in rows of text files.* The following faults stop a release with `DataError`, after the
    spend: a cell that is neither a number (or a date) nor missing, text in another encoding, a row
    with too few or too many cells, a row of over 64 megabytes, and an open quote. The error does
    not show the row. But it is an answer about the data, so the spent budget is not refunded. The
    owner of the data can find such cells with ``dpfast check FILE``.

    Cost: up to `dpfast.threads` threads decode a column (by default one a core, at most four). A
    median of a text file takes two passes, because text cannot be sampled cheaply. Each thread
    holds two chunks of 65,536 numbers, or of 4,096 rows in a table of more than sixteen columns.
    Parquet adds the pages being decoded. An Arrow file holds one record batch in memory, ``.npy`` a
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

    Only some rows of a file. The argument `where` of a release takes an expression, too:

    >>> some = dp.scan(path, where={"column": "0", "above": 100_000})
    >>> 19_900 < dp.count(some, epsilon=1.0) < 20_100
    True
    >>> import pyarrow.compute as pc
    >>> 9_900 < dp.count(some, where=pc.field("0") >= 110_000, epsilon=1.0) < 10_100
    True

    A text file as German spreadsheets write it:

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
