"""Files that one name does not tell: on remote places, of several paths, in directories of keys.

They are read as one stream by `pyarrow.dataset`, in the order of their names. What the columns are
is told by the files' own schemas and by the names of directories, which are public.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._core import checks
from .._core.extras import extra
from ..errors import DpfastError, SourceError
from .arrow import kind_of
from .batch_reader import StreamReader
from .forms import pyarrow_for

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}
#: Directories of tables whose files may hold rows that were deleted.
LOGS = {"_delta_log": "Delta", "metadata": "Iceberg", ".hoodie": "Hudi"}


def is_remote(path: Any) -> bool:
    """Tell whether a path is a URI."""
    return isinstance(path, str) and "://" in path


def dataset_reader(paths: Sequence[str | os.PathLike[str]]) -> DatasetReader:
    """Return what reads files, directories of files or URIs of these as one table.

    Raises
    ------
    SourceError
        For files that are not there or cannot be read, no files, a table with a log of deletes, and
        columns whose types have no common one.
    MissingExtraError
        Without pyarrow, or fsspec for places that pyarrow does not know.
    """
    pyarrow_for("path")
    texts = [os.fspath(path) for path in paths]
    name = Path(texts[0] if len(texts) == 1 else f"{texts[0]} and {len(texts) - 1} more")
    why = ""
    try:
        return DatasetReader(texts, name)
    except DpfastError:
        raise
    except Exception as error:
        why = kind_of(error)
    raise SourceError(f"{name} cannot be read: {why}")


def are_widened(schemas: Sequence[Any]) -> bool:
    """Tell whether files have the same columns, of types that differ and have a common one."""
    first = schemas[0]
    if any(schema.names != first.names for schema in schemas):
        return False
    if all(schema.types == first.types for schema in schemas):
        return False
    return _common(schemas) is not None


def _common(schemas: Sequence[Any]) -> Any:
    """Return the schema that numbers are widened to; None if there is none."""
    import pyarrow as pa

    try:
        return pa.unify_schemas(list(schemas), promote_options="permissive")
    except pa.ArrowException:
        return None


class DatasetReader(StreamReader):
    """Files of one table."""

    def __init__(self, texts: Sequence[str], name: Path) -> None:
        from pyarrow import dataset as ds

        self._system, places = _places(texts)
        files = [file for place in places for file in _listed(self._system, place)]
        kinds = {FORMATS.get(os.path.splitext(file)[1].lower()) for file in files}
        if len(kinds) != 1 or None in kinds:
            known = ", ".join(FORMATS)
            raise SourceError(f"{name} must be files of one format, that end in one of {known}")
        self._files = files
        self._stamps = self._stamped()
        keyed = all("=" in os.path.dirname(file) for file in files)
        hive = ds.HivePartitioning.discover() if keyed else None
        arguments = {"format": kinds.pop(), "filesystem": self._system, "partitioning": hive}
        parts = [ds.dataset([file], **arguments) for file in files]
        if any(part.schema.names != parts[0].schema.names for part in parts):
            raise SourceError(f"{name} must have the same columns in every file")
        schema = _common([part.schema for part in parts])
        if schema is None:
            raise SourceError(f"{name} must have columns whose types have a common one")
        whole = ds.dataset(files, schema=schema, **arguments)

        def opened(names: Sequence[str] | None) -> Any:
            return whole.scanner(columns=names and list(names)).to_reader()

        super().__init__(opened, whole.schema, name)

    def check_unchanged(self) -> None:
        if self._stamped() != self._stamps:
            raise SourceError(f"{self.paths[0]} was changed after it was scanned: scan it again")

    def _stamped(self) -> list[tuple[str, int | None, int | None]]:
        found, why = [], ""
        try:
            found = self._system.get_file_info(self._files)
        except Exception as error:
            why = kind_of(error)
        if why:
            raise SourceError(f"{self._files[0]} cannot be read: {why}")
        return [(info.path, info.size, info.mtime_ns) for info in found]


def _places(texts: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the file system of some paths, and what they are called there."""
    import pyarrow as pa
    from pyarrow import fs

    schemes = {text.partition("://")[0] if is_remote(text) else "" for text in texts}
    if len(schemes) > 1:
        checks.fail("path", "paths of one place", list(texts))
    if not any(schemes):
        return fs.LocalFileSystem(), [os.path.abspath(text) for text in texts]
    try:
        found = [fs.FileSystem.from_uri(text) for text in texts]
        return found[0][0], [place for _, place in found]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # a scheme that it does not know
        pass
    url_to_fs = extra("fsspec", f"reading {schemes.pop()}://").core.url_to_fs
    known = [url_to_fs(text) for text in texts]
    return fs.PyFileSystem(fs.FSSpecHandler(known[0][0])), [place for _, place in known]


def _listed(system: Any, place: str) -> list[str]:
    """Return the files of a place in the order of their names."""
    from pyarrow import fs

    info = system.get_file_info(place)
    if info.type == fs.FileType.File:
        return [place]
    if info.type == fs.FileType.NotFound:
        raise SourceError(f"{place!r} is not there")
    inside = system.get_file_info(fs.FileSelector(place, recursive=True))
    refuse_logs(place, [one.path for one in inside])
    files = [
        one.path
        for one in inside
        if one.type == fs.FileType.File
        and not any(part[:1] in "._" for part in one.path[len(place) :].strip("/").split("/"))
        and os.path.splitext(one.path)[1].lower() in FORMATS
    ]
    if not files:
        raise SourceError(f"{place!r} holds no files that can be read")
    return sorted(files)


def refuse_logs(place: str, inside: Sequence[str]) -> None:
    """Refuse a table whose files may hold rows that were deleted: only its log tells which."""
    for path in inside:
        folder = os.path.basename(os.path.dirname(path))
        is_log = folder in LOGS and (folder != "metadata" or path.endswith(".metadata.json"))
        if is_log:
            raise SourceError(
                f"{place!r} is a {LOGS[folder]} table, whose files may hold deleted rows: read it "
                "with a library for such tables, and give its batches to dpfast.stream"
            )
