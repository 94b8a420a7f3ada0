"""Files that one name does not tell: on remote places, of several paths, in directories of keys.

They are read as one stream by `pyarrow.dataset`, in the order of their names. What the columns are
is told by the files' own schemas and by the names of directories, which are public.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .._core import checks
from .._core.extras import extra
from ..errors import DpfastError, SourceError
from .arrow import arrow_times, kind_of
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
    return common(schemas) is not None


def common(schemas: Sequence[Any]) -> Any:
    """Return the schema of all files, numbers widened; None if there is none.

    Integers stay integers where one type holds all. Other numbers of different types are float64,
    as each of them would be in a table. Times of different units have none.
    """
    import pyarrow as pa

    fields = []
    for i, name in enumerate(schemas[0].names):
        kinds = [schema.types[i] for schema in schemas]
        nullable = any(schema.field(i).nullable for schema in schemas)
        kind = _wider(kinds)
        if kind is None:
            return None
        fields.append(pa.field(name, kind, nullable))
    return pa.schema(fields)


def _wider(kinds: Sequence[Any]) -> Any:
    """Return a type that holds what those of some types are read as; None if there is none."""
    import pyarrow as pa

    first = kinds[0]
    if all(kind == first for kind in kinds):
        return first
    types = pa.types
    if all(types.is_integer(kind) for kind in kinds):
        signed = [kind for kind in kinds if types.is_signed_integer(kind)]
        bits = max(kind.bit_width for kind in kinds)
        wide = max((k.bit_width for k in kinds if not types.is_signed_integer(k)), default=0)
        if not signed:
            return getattr(pa, f"uint{bits}")()
        if wide < 64:
            return getattr(pa, f"int{max(bits, min(64, 2 * wide))}")()
        return pa.float64()
    if all(types.is_integer(k) or types.is_floating(k) or types.is_decimal(k) for k in kinds):
        return pa.float64()
    if any(arrow_times(kind) is not None for kind in kinds):
        return None
    try:
        fields = [pa.schema([pa.field("x", kind)]) for kind in kinds]
        return pa.unify_schemas(fields, promote_options="permissive").types[0]
    except pa.ArrowException:
        return None


class DatasetReader(StreamReader):
    """Files of one table, read one after the other."""

    in_order = True

    def __init__(self, texts: Sequence[str], name: Path) -> None:
        from pyarrow import dataset as ds

        self._system, places = _places(texts)
        listed = [(place, _listed(self._system, place)) for place in places]
        self._files = [file for _, files in listed for file in files]
        kinds = {FORMATS.get(os.path.splitext(file)[1].lower()) for file in self._files}
        if len(kinds) != 1 or None in kinds:
            known = ", ".join(FORMATS)
            raise SourceError(f"{name} must be files of one format, that end in one of {known}")
        self._stamps = self._stamped()
        form = ds.ParquetFileFormat() if kinds == {"parquet"} else ds.IpcFileFormat()
        given, parts = {"format": form, "filesystem": self._system}, []
        for place, files in listed:
            keys = self._keys(place, files, form)
            hive = None if keys is None else ds.HivePartitioning(keys)
            for file in files:
                if keys is not None and not set(keys.names).isdisjoint(
                    ds.dataset([file], **given).schema.names
                ):
                    raise SourceError(
                        f"{name} must have no column that is also a key in the names of directories"
                    )
                part = ds.dataset([file], partitioning=hive, partition_base_dir=place, **given)
                parts.append(part)
        if any(part.schema.names != parts[0].schema.names for part in parts):
            raise SourceError(f"{name} must have the same columns in every file")
        schema = common([part.schema for part in parts])
        if schema is None:
            raise SourceError(f"{name} must have columns whose types have a common one")

        def opened(names: Sequence[str] | None) -> Iterator[Any]:
            for part in parts:
                yield from _widened(part, schema.names if names is None else names, schema)

        super().__init__(opened, schema, name)

    def _keys(self, place: str, files: Sequence[str], form: Any) -> Any:
        """Return the keys in the names of directories below a place, told by all names at once."""
        from pyarrow import dataset as ds

        if not all("=" in os.path.dirname(file[len(place) :]) for file in files):
            return None
        options = ds.FileSystemFactoryOptions(place)
        options.partitioning_factory = ds.HivePartitioning.discover()
        made = ds.FileSystemDatasetFactory(self._system, list(files), form, options)
        return made.inspect_schemas()[-1]

    def identity(self) -> list[tuple[str, int, int]]:
        return [(path, size or 0, changed or 0) for path, size, changed in self._stamps]

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


def _widened(part: Any, names: Sequence[str], schema: Any) -> Iterator[Any]:
    """Yield the batches of a file, its columns in the types of a schema."""
    import pyarrow as pa

    fields = [schema.field(name) for name in names]
    for batch in part.to_batches(columns=list(names)):
        arrays = [
            array if array.type == field.type else array.cast(field.type, safe=False)
            for array, field in zip(batch.columns, fields, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


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
    return sorted(files, key=lambda file: file.split("/"))


def refuse_logs(place: str, inside: Iterable[str]) -> None:
    """Refuse a table whose files may hold rows that were deleted: only its log tells which."""
    for path in inside:
        folder = os.path.basename(os.path.dirname(path))
        is_log = folder in LOGS and (folder != "metadata" or path.endswith(".metadata.json"))
        if is_log:
            raise SourceError(
                f"{place!r} is a {LOGS[folder]} table, whose files may hold deleted rows: read it "
                "with a library for such tables, and give its batches to dpfast.stream"
            )
