"""`scan(path, column)`: the source that reads one column of a file, by the file's ending."""

from __future__ import annotations

import difflib
import glob
import numbers
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .. import _check
from ..errors import SourceError
from ._base import Source

__all__ = ["scan"]

PARQUET = (".parquet", ".pq")
IPC = (".arrow", ".arrows", ".feather", ".ipc")
TEXT = {".csv": ",", ".tsv": "\t"}
NPY = (".npy",)

#: How many names an error message lists.
LISTED = 30

Pick = Callable[[Sequence[str], Path], str]


def scan(path: str | os.PathLike[str], column: str | int | None = None) -> Source:
    """A column of a file as data for a release, read in small pieces and never held whole.

    Parameters
    ----------
    path : str or path-like
        A file that ends in ``.parquet`` or ``.pq``; in ``.arrow``, ``.arrows``, ``.feather`` or
        ``.ipc`` (the Arrow file or stream format); in ``.csv`` or ``.tsv``, also compressed
        (``.csv.gz``, ``.bz2``, ``.zst``, ``.lz4``, or a ``.zip`` of one file); or in ``.npy``.
        Parquet may also be a directory of parts, or a pattern such as ``"sales/2024-*.parquet"``.
    column : str or int, optional
        The name of the column, or its place from 0. It may be left out when there is only one.

    Returns
    -------
    Source
        To be given to `dpfast.median` and the like, as often as wanted. The file is opened and its
        header read now; its rows are read by the release.

    Raises
    ------
    SourceError
        A file or column that is not there or does not hold numbers, an ending that is not known, a
        header that cannot be read. All of that depends on the schema only, and comes before
        anything is spent. A damaged file may show only while its rows are read.
    ArgumentTypeError
        When `path` or `column` is of another type.
    MissingExtraError
        When pyarrow is not installed; ``.npy`` needs no extra.

    Notes
    -----
    Integers and floats keep their type, booleans become uint8, decimals float64;
    dictionary-encoded numbers are looked up; text, dates and times are refused. A null counts as a
    row, and the `nan` argument of the release says what becomes of it and of NaN.

    Every cell of a text file is read as float64, so integers beyond 2**53 are rounded. Empty cells
    and the usual words (NA, NaN, null, None, ...) are missing values. Any other cell that is no
    number, a row of another width, and one of over half a megabyte stop the release with
    `DataError`. It says nothing of the row, but it is an answer about the data: what was spent
    stays spent. A column with some text and no number in the first half megabyte is taken for a
    column of text; like its name, that is held to be public.

    Cost: a pass decodes the column in up to ``DPFAST_NUM_THREADS`` threads (by default one a core,
    at most four) while the kernel works on what they have finished. A file of text takes two
    passes, for there is no cheap sample of it. Memory: two pieces of 65,536 rows for each thread
    and, in Parquet, the pages being decoded; in a compressed Arrow file, one record batch.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np, dpfast as dp
    >>> path = os.path.join(tempfile.mkdtemp(), "salaries.npy")
    >>> np.save(path, np.arange(20_000.0, 120_000.0))
    >>> salaries = dp.scan(path)
    >>> 65_000 < dp.median(salaries, bounds=(0, 1e6), epsilon=1.0) < 75_000
    True
    """
    if not isinstance(path, (str, os.PathLike)):
        _check.fail_type("path", "a string or a path", path)
    if isinstance(column, bool) or not isinstance(column, (str, numbers.Integral, type(None))):
        _check.fail_type("column", "a name, a place from 0, or None", column)
    pick = _picker(column)
    name = os.fspath(path)
    if not name:
        _check.fail("path", "the name of a file", path)
    try:
        paths = _files(name)
    except SourceError:
        raise
    except OSError as error:  # a name that is too long, a directory that may not be entered
        raise SourceError(f"file {name[:200]!r} cannot be read: {error.strerror}") from None
    first = paths[0]
    ending, compression = _ending(first)
    if ending in PARQUET:
        from .parquet import ParquetSource

        return ParquetSource(paths, pick)
    if ending in IPC:
        from .ipc import IpcSource

        return IpcSource(first, pick)
    if ending in TEXT:
        from .text import TextSource

        return TextSource(first, pick, TEXT[ending], compression)
    from .npy import npy_source

    return npy_source(first, pick)


def _picker(column: Any) -> Pick:
    """What finds the wanted column among the names of a file."""

    def pick(names: Sequence[str], path: Path) -> str:
        shown = ", ".join(names[:LISTED]) + (
            f", ... ({len(names)} in all)" if names[LISTED:] else ""
        )
        if column is None:
            if len(names) == 1:
                return names[0]
            raise SourceError(f"column must be named for {path.name}, which has: {shown}")
        if not isinstance(column, str):
            if not 0 <= column < len(names):
                raise SourceError(
                    f"column must be a name or a place from 0 to {len(names) - 1} in {path.name}, "
                    f"got {column}"
                )
            name = names[int(column)]
        else:
            name = column
        if name not in names:
            near = difflib.get_close_matches(name, names, 3, 0.6)
            hint = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
            raise SourceError(f"column {name!r} is not in {path.name}{hint}, which has: {shown}")
        if names.count(name) > 1:
            raise SourceError(f"column {name!r} stands more than once in {path.name}")
        return name

    return pick


def _files(text: str) -> list[Path]:
    """The files that `text` stands for, in the order of their names."""
    path = Path(text)
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if _is_part(p.relative_to(path)) and p.is_file())
        if not found:
            raise SourceError(f"directory {text!r} holds no Parquet file")
        return found
    if not path.exists() and glob.has_magic(text):
        found = sorted(Path(p) for p in glob.glob(text, recursive=True))
        if not found:
            raise SourceError(f"no file matches {text!r}")
        if len(found) > 1 and not all(p.suffix.lower() in PARQUET for p in found):
            raise SourceError(f"only Parquet can be read from several files, got {text!r}")
        path = found[0]
        if len(found) > 1:
            return found
    if not path.exists():
        near = []
        if path.parent.is_dir():
            near = difflib.get_close_matches(path.name, os.listdir(path.parent), 1, 0.75)
        hint = f"; did you mean {str(path.parent / near[0])!r}?" if near else ""
        raise SourceError(f"file {text!r} is not there{hint}")
    if not path.is_file():
        raise SourceError(f"file {text!r} must be a regular file, for it is read more than once")
    return [path]


def _is_part(path: Path) -> bool:
    """Whether a file below a directory is data: ``_metadata`` and hidden files are not."""
    return path.suffix.lower() in PARQUET and not any(p[0] in "._" for p in path.parts)


def _ending(path: Path) -> tuple[str, str | None]:
    """The ending that says the format, and the compression of a text file."""
    from .text import COMPRESSIONS

    suffixes = [s.lower() for s in path.suffixes]
    last = suffixes[-1] if suffixes else ""
    if last in (*PARQUET, *IPC, *TEXT, *NPY):
        return last, None
    if last in COMPRESSIONS and len(suffixes) > 1 and suffixes[-2] in TEXT:
        return suffixes[-2], COMPRESSIONS[last]
    known = ", ".join((*PARQUET, *IPC, *TEXT, *NPY))
    raise SourceError(
        f"file {path.name!r} must end in one of {known} (.csv and .tsv also compressed: "
        f"{', '.join(COMPRESSIONS)})"
    )
