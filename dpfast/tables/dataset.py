"""A table of many files: remote, of several paths, or in directories named by keys.

`pyarrow.dataset` reads the files as one stream, in the order of their names. The schemas of the
files and the names of directories determine the columns. Both are public.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .._core import checks
from .._core.extras import extra
from .._core.owner_log import hiding
from ..errors import SourceError
from .arrow import legible
from .base import T
from .batch_reader import StreamReader
from .files import widened
from .forms import pyarrow_for
from .ipc import whole_column

NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})
#: The formats of files by their ending.
FORMATS = {
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **{".arrow": "ipc", ".arrows": "stream", ".feather": "ipc", ".ipc": "ipc"},
    **dict.fromkeys((".csv", ".tsv"), "text"),
    ".npy": "npy",
}
#: The formats in which several files can form one table.
OF_PARTS = ("parquet", "ipc", "text")
#: The endings of compressed files, with pyarrow's names of the compressions.
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".zip": "zip"}
#: Directories of table formats whose data files may contain deleted rows.
LOGS = {"_delta_log": "Delta", "metadata": "Iceberg", ".hoodie": "Hudi"}


def ending_of(file: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Return the ending that shows a file's format, and the compression if the file is text."""
    stem, ending = os.path.splitext(os.fspath(file).lower())
    before = os.path.splitext(stem)[1]
    if ending in COMPRESSIONS and FORMATS.get(before) == "text":
        return before, COMPRESSIONS[ending]
    return ending, None


def format_of(file: str | os.PathLike[str]) -> str | None:
    """Return the format of one file of a table, by its ending; None if the file is no data."""
    kind = FORMATS.get(ending_of(file)[0])
    return kind if kind in OF_PARTS else None


def is_remote(path: Any) -> bool:
    """Tell whether a path is a URI, such as ``s3://bucket/file``."""
    return isinstance(path, str) and "://" in path


def dataset_reader(
    paths: Sequence[str | os.PathLike[str]], options: Mapping[str, Any] = NO_OPTIONS
) -> DatasetReader:
    """Return a reader of files, directories of files, or their URIs as one table.

    `options` are the options of fsspec for remote files.

    Raises
    ------
    SourceError
        If files do not exist or cannot be read, if there are none, or if a table has a log of
        deleted rows.
    MissingExtraError
        If pyarrow is missing, or fsspec for storage that pyarrow does not support.
    """
    return _read(paths, lambda texts, name: DatasetReader(texts, name, options))


def remote_files(
    paths: Sequence[str | os.PathLike[str]], options: Mapping[str, Any]
) -> tuple[Any, list[str]]:
    """Return the file system of some URIs, and the paths of their files, in order.

    Raises
    ------
    SourceError, MissingExtraError
        As of `dataset_reader`.
    """

    def files(texts: Sequence[str], _: Path) -> tuple[Any, list[str]]:
        system, folders = _systems_of(texts, options)
        return system, [file for folder in folders for file in _listed(system, folder)]

    return _read(paths, files)


def _read(paths: Sequence[str | os.PathLike[str]], make: Callable[[Sequence[str], Path], T]) -> T:
    """Return the result of `make` for paths and their name in errors; an error quotes no row."""
    pyarrow_for("path")
    texts = [os.fspath(path) for path in paths]
    name = Path(texts[0] if len(texts) == 1 else f"{texts[0]} and {len(texts) - 1} more")
    return hiding(lambda: make(texts, name), _unreadable(name))


def _unreadable(name: Any) -> Callable[[str], SourceError]:
    return lambda why: SourceError(f"{name} cannot be read: {why}")


class DatasetReader(StreamReader):
    """A reader of the files of one table, one after the other."""

    in_order = True

    def __init__(self, texts: Sequence[str], name: Path, options: Mapping[str, Any]) -> None:
        import pyarrow as pa
        from pyarrow import dataset as ds

        self._system, folders = _systems_of(texts, options)
        listed = [(folder, _listed(self._system, folder)) for folder in folders]
        self._files = [file for _, files in listed for file in files]
        kinds = set(map(format_of, self._files))
        if len(kinds) != 1 or not kinds <= {"parquet", "ipc"}:
            endings = ", ".join(end for end, kind in FORMATS.items() if kind in ("parquet", "ipc"))
            raise SourceError(f"{name} must be files of one format, and end in one of {endings}")
        self._stamps = stamps(self._system, self._files)
        format: Any = ds.IpcFileFormat()
        if kinds == {"parquet"}:
            format = ds.ParquetFileFormat(page_checksum_verification=True)
        options_of_all, parts = {"format": format, "filesystem": self._system}, []
        for folder, files in listed:
            keys = self._keys(folder, files, format)
            hive = None if keys is None else ds.HivePartitioning(keys)
            for file in files:
                if keys is not None and not set(keys.names).isdisjoint(
                    ds.dataset([file], **options_of_all).schema.names
                ):
                    raise SourceError(
                        f"{name} must not have a column that directories name (as year=2024)"
                    )
                part = ds.dataset(
                    [file], partitioning=hive, partition_base_dir=folder, **options_of_all
                )
                parts.append(part)

        def opened(names: Sequence[str] | None) -> Iterator[Any]:
            assert names is not None
            for part, casts in zip(parts, self._casts(names), strict=True):
                for batch in part.to_batches(columns=list(names)):
                    batch_columns = batch.columns
                    if kinds == {"ipc"}:  # buffers may be shorter than they state
                        batch_columns = [whole_column(batch, name) for name in names]
                    columns = [column.array for column in widened(batch_columns, casts)]
                    yield pa.RecordBatch.from_arrays(columns, list(names))

        super().__init__(opened, parts[0].schema, name)
        self.schemas = [legible(part.schema) for part in parts]
        self.paths = [Path(file) for file in self._files]

    def _keys(self, folder: str, files: Sequence[str], format: Any) -> Any:
        """Return the schema of the keys in the names of directories; None without keys."""
        from pyarrow import dataset as ds

        if not all("=" in os.path.dirname(file[len(folder) :]) for file in files):
            return None
        options = ds.FileSystemFactoryOptions(folder)
        options.partitioning_factory = ds.HivePartitioning.discover()
        factory = ds.FileSystemDatasetFactory(self._system, list(files), format, options)
        return factory.inspect_schemas()[-1]

    def identity(self) -> list[tuple[str, int, int]]:
        return [(path, size or 0, changed or 0) for path, size, changed in self._stamps]

    def check_unchanged(self) -> None:
        if stamps(self._system, self._files) != self._stamps:
            raise SourceError(f"{self.paths[0]} was changed after it was scanned: scan it again")


def stamps(system: Any, files: Sequence[str]) -> list[tuple[str, int | None, int | None]]:
    """Return the path, size and time of change of each file, as far as they are known."""
    listed = hiding(lambda: system.get_file_info(list(files)), _unreadable(files[0]))
    return [(info.path, info.size, info.mtime_ns) for info in listed]


def _systems_of(texts: Sequence[str], options: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """Return the file system that holds some paths, and the names of these paths in it."""
    import pyarrow as pa
    from pyarrow import fs

    schemes = {text.partition("://")[0] if is_remote(text) else "" for text in texts}
    if len(schemes) > 1:
        checks.fail("path", "a list of paths in one storage", list(texts))
    if not any(schemes):
        return fs.LocalFileSystem(), [os.path.abspath(text) for text in texts]
    try:
        systems = [] if options else [fs.FileSystem.from_uri(text) for text in texts]
        if systems:
            return systems[0][0], [path for _, path in systems]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # pyarrow does not know the scheme
        pass
    url_to_fs = extra("fsspec", f"reading {schemes.pop()}://").core.url_to_fs
    systems_and_paths = [url_to_fs(text, **options) for text in texts]
    return fs.PyFileSystem(fs.FSSpecHandler(systems_and_paths[0][0])), [
        path for _, path in systems_and_paths
    ]


def _listed(system: Any, folder: str) -> list[str]:
    """Return the files of a folder, or all files that match a pattern, in the order of names."""
    from pyarrow import fs

    if isinstance(system, fs.LocalFileSystem):
        path = Path(folder)
        return [file.as_posix() for file in (parts_of(path) if path.is_dir() else [regular(path)])]
    info = system.get_file_info(folder)
    if info.type == fs.FileType.File:
        return [folder]
    if info.type == fs.FileType.NotFound and glob.has_magic(folder):
        return _matching(system, folder)
    if info.type == fs.FileType.NotFound:
        raise SourceError(f"{folder!r} does not exist")
    inside = system.get_file_info(fs.FileSelector(folder, recursive=True))
    refuse_logs(folder, [entry.path for entry in inside])
    files = [
        entry.path
        for entry in inside
        if entry.type == fs.FileType.File
        and _is_part(entry.path[len(folder) :].strip("/").split("/"))
    ]
    if not files:
        raise SourceError(f"{folder!r} has no files of a known format")
    return sorted(files, key=lambda file: file.split("/"))


def _matching(system: Any, pattern: str) -> list[str]:
    """Return the files whose paths match a pattern, compared folder by folder."""
    from pyarrow import fs

    parts = pattern.split("/")
    fixed = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    base = fs.FileSelector("/".join(parts[:fixed]), recursive=fixed < len(parts) - 1)
    listed = system.get_file_info(base)
    files = [info.path for info in listed if info.type == fs.FileType.File]

    def matches(file: str) -> bool:
        names = file.split("/")
        return len(names) == len(parts) and all(map(fnmatchcase, names, parts))

    if not any(map(matches, files)):
        raise SourceError(f"no file matches {pattern!r}")
    return sorted(filter(matches, files), key=lambda file: file.split("/"))


def parts_of(root: Path) -> list[Path]:
    """Return the data files of a table below a directory, in the order of their names.

    Raises
    ------
    SourceError
        If a part is not a regular file, if a link makes a directory appear twice or inside itself,
        if the table has a log of deleted rows, if parts have two formats, or if there is no part.
    """
    parts, seen = [], set()

    def fail(error: OSError) -> None:
        raise error

    for folder, folders, files in os.walk(root, onerror=fail, followlinks=True):
        at = Path(folder)
        folders[:] = [name for name in folders if name in LOGS or name[0] not in "._"]
        refuse_logs(os.fspath(root), [os.path.join(folder, file) for file in files])
        stat = os.stat(folder)
        if (stat.st_dev, stat.st_ino) in seen:
            raise SourceError(
                f"directory {os.fspath(root)!r} must hold {at.name!r} once, not twice by a link"
            )
        seen.add((stat.st_dev, stat.st_ino))
        parts += [at / file for file in files if _is_part((at / file).relative_to(root).parts)]
    if not parts:
        raise SourceError(f"directory {os.fspath(root)!r} holds no Parquet, Arrow or text file")
    if len(set(map(format_of, parts))) > 1:
        endings = " and ".join(sorted({"".join(file.suffixes) for file in parts}))
        raise SourceError(
            f"directory {os.fspath(root)!r} must hold files of one format, not {endings}: pass "
            "the paths of the wanted files, or a pattern"
        )
    return [regular(file) for file in sorted(parts)]


def regular(file: Path) -> Path:
    """Return `file`, or refuse a path that is not a regular file, such as a pipe."""
    if file.is_file():
        return file
    if not os.path.lexists(file):
        raise SourceError(f"file {os.fspath(file)!r} does not exist")
    raise SourceError(
        f"file {os.fspath(file)!r} must be a regular file, not a pipe, device, directory or broken "
        "link: remove or replace it"
    )


def _is_part(path: Sequence[str]) -> bool:
    """Tell whether a file below a directory is data: ``_metadata`` and hidden files are not."""
    return format_of(path[-1]) is not None and not any(part[:1] in "._" for part in path)


def refuse_logs(root: str, inside: Iterable[str]) -> None:
    """Refuse a table with a log, such as Delta, whose files may hold deleted rows."""
    for path in inside:
        folder = os.path.basename(os.path.dirname(path))
        is_log = folder in LOGS and (folder != "metadata" or path.endswith(".metadata.json"))
        if is_log:
            raise SourceError(
                f"{root!r} is a {LOGS[folder]} table, whose files may hold deleted rows: read it "
                "with a library for such tables, and give its batches to dpfast.stream"
            )
