"""Read Arrow arrays as numbers, and hide row values in the errors of pyarrow.

pyarrow is an extra, so it is imported only when there is something to read with it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.owner_log import hide_error
from ..errors import DataError, DpfastError, SourceError
from .base import Chunk, T, chunk_dtype

#: A decimal of at most this many digits is the quotient of two exact float64 numbers. With more
#: digits, it could be rounded twice.
EXACT_DIGITS = 15
#: Rows of a chunk: half a megabyte of float64, which stays in the cache for the kernel.
BATCH = 1 << 16


class Numbers(NamedTuple):
    """How to read an Arrow column: the dtype, and the Arrow type to cast to first, if any."""

    dtype: np.dtype[Any]
    cast: Any


def arrow_numbers(kind: Any) -> Numbers | None:
    """Return how to read an Arrow column of type `kind` as numbers; None if it holds no numbers.

    Integers and floats keep their type. Booleans become uint8. Decimals become float64, row by row,
    and so does a column of nulls only. A dictionary of numbers is decoded.
    """
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind) and not types.is_dictionary(kind.value_type):
        plain = arrow_numbers(kind.value_type)
        return plain and Numbers(plain.dtype, plain.cast or kind.value_type)
    if types.is_boolean(kind):
        return Numbers(np.dtype(np.uint8), pa.uint8())
    if types.is_decimal(kind) or types.is_null(kind):
        return Numbers(np.dtype(np.float64), pa.float64())
    if types.is_integer(kind) or types.is_floating(kind):
        return Numbers(chunk_dtype(np.dtype(kind.to_pandas_dtype())), None)
    return None


class TimeKind(NamedTuple):
    """How to read an Arrow column of times: its NumPy dtype, whether it has a zone, its counts."""

    dtype: np.dtype[Any]
    aware: bool
    how: Numbers


def arrow_times(kind: Any) -> TimeKind | None:
    """Return how to read an Arrow column of times of type `kind`; None if it holds no times."""
    import pyarrow as pa

    types, whole = pa.types, Numbers(np.dtype(np.int64), pa.int64())
    if types.is_date32(kind):
        return TimeKind(np.dtype("M8[D]"), False, Numbers(np.dtype(np.int32), pa.int32()))
    if types.is_date64(kind):
        return TimeKind(np.dtype("M8[ms]"), False, whole)
    if types.is_timestamp(kind):
        return TimeKind(np.dtype(f"M8[{kind.unit}]"), kind.tz is not None, whole)
    return TimeKind(np.dtype(f"m8[{kind.unit}]"), False, whole) if types.is_duration(kind) else None


def wider(kinds: Sequence[Any]) -> Any:
    """Return the common type to which columns of several Arrow types are cast; None if none exists.

    Integers stay integers if one type can hold all of them. Other numbers of different types become
    float64, as in a table. Times get the finest unit, if all of them have a zone, or none has. Text
    stays text, and bytes stay bytes, in any Arrow type. A column of nulls fits any type.
    """
    import pyarrow as pa

    types = pa.types
    kinds = [kind for kind in kinds if not types.is_null(kind)] or kinds[:1]
    first = kinds[0]
    if all(kind == first for kind in kinds):
        return first
    if all(types.is_integer(kind) for kind in kinds):
        signed = [kind for kind in kinds if types.is_signed_integer(kind)]
        bits = max(kind.bit_width for kind in kinds)
        wide = max((k.bit_width for k in kinds if not types.is_signed_integer(k)), default=0)
        if not signed:
            return getattr(pa, f"uint{bits}")()
        return getattr(pa, f"int{max(bits, min(64, 2 * wide))}")() if wide < 64 else pa.float64()
    if all(types.is_integer(k) or types.is_floating(k) or types.is_decimal(k) for k in kinds):
        return pa.float64()
    times = [kind_of_time for kind in kinds if (kind_of_time := arrow_times(kind)) is not None]
    if times:
        if len(times) < len(kinds) or len({(time.dtype.kind, time.aware) for time in times}) > 1:
            return None
        finest = np.result_type(*(time.dtype for time in times))
        unit = np.datetime_data(finest)[0]
        zone = "UTC" if times[0].aware else None
        return pa.duration(unit) if finest.kind == "m" else pa.timestamp(unit, zone)
    try:
        fields = [pa.schema([pa.field("x", kind)]) for kind in kinds]
        return pa.unify_schemas(fields, promote_options="permissive").types[0]
    except pa.ArrowException:  # for example, text views, or a dictionary of text and plain text
        families = {family(kind) for kind in kinds}
    if families == {"text"}:
        return pa.large_string()
    return pa.large_binary() if families == {"bytes"} else None


def widened(array: Any, kind: Any) -> Any:
    """Return an Arrow column cast to `kind`, the common type of all files; None keeps the type."""
    if kind is None:
        return array
    from pyarrow import types

    if types.is_decimal(array.type) or arrow_times(kind) is not None:
        return arrow_cast(array, kind, "hold times that the finest unit of its files can count")
    return looked_up(array).cast(kind, safe=False)


def nearest_floats(array: Any) -> Any:
    """Return a `pyarrow.Array` of decimals as float64, each rounded to the nearest.

    A decimal of few digits is the quotient of two integers that float64 holds exactly, and is
    rounded once. Longer decimals are read as text. Arrow's cast may miss the nearest float64.
    """
    import pyarrow as pa

    digits, scale = array.type.precision, array.type.scale
    if digits > EXACT_DIGITS or scale < 0:
        return array.cast(pa.string()).cast(pa.float64())
    wide = array.cast(pa.decimal128(digits, scale))
    lower = np.frombuffer(wide.buffers()[1], np.int64)[2 * wide.offset :: 2][: len(wide)]
    return pa.array(lower / 10.0**scale, mask=~arrow_present(wide) if wide.null_count else None)


def arrow_cast(array: Any, kind: Any, rule: str = "have only indices of its dictionary") -> Any:
    """Cast a `pyarrow.Array` to another type, or raise a `DataError` that quotes no row."""
    import pyarrow as pa

    try:
        is_exact = kind == "double" and pa.types.is_decimal(array.type)
        return nearest_floats(array) if is_exact else array.cast(kind)
    except pa.ArrowException as error:
        # The error may quote a row, so it must not even be the context of another one.
        why = hide_error(error)
    raise DataError(f"a column must {rule}, but does not ({why})")


def arrow_chunk(array: Any, start: int, dtype: np.dtype[Any]) -> Chunk:
    """Return a `pyarrow.Array` of numbers as a `Chunk`, without a copy if no number is null."""
    values, present = arrow_values(array)
    if present is not None:
        values = values[present]
    return Chunk(np.ascontiguousarray(values, dtype), start, len(array) - len(values), present)


def arrow_values(array: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return the values of a `pyarrow.Array` of numbers, and a mask of the rows that are not null.

    The mask is None if no row is null. The value of a null is arbitrary. Arrow allows values to lie
    in memory where kernels cannot read them; such values are copied.
    """
    if not array.null_count:
        return np.require(array.to_numpy(zero_copy_only=True), requirements="A"), None
    kind = np.dtype(array.type.to_pandas_dtype())  # the buffer may be longer than the values
    values = np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)
    return np.require(values, requirements="A"), arrow_present(array)


def arrow_present(array: Any) -> NDArray[np.bool_]:
    """Return a mask of the rows of a `pyarrow.Array` that are not null."""
    bits = array.is_valid()  # three times as fast as pyarrow's conversion and filter
    whole = np.unpackbits(np.frombuffer(bits.buffers()[1], np.uint8), bitorder="little")
    return whole[bits.offset : bits.offset + len(bits)].view(np.bool_)


def write_arrow(array: Any, cast: Any, out: NDArray[Any]) -> None:
    """Write the numbers of a `pyarrow.Array` to the array `out`, with NaN for nulls."""
    values, present = arrow_values(array if cast is None else arrow_cast(array, cast))
    with np.errstate(invalid="ignore"):  # the value under a null may be anything
        out[...] = values
    if present is not None:
        out[~present] = np.nan


def family(kind: Any) -> str | None:
    """Return the family of an Arrow type, within which ids can be equal; None for other types."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return None if types.is_dictionary(kind.value_type) else family(kind.value_type)
    if types.is_integer(kind) or types.is_boolean(kind):
        return "integers"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        return "bytes"
    if types.is_fixed_size_binary(kind):
        return "bytes"
    return "nothing" if types.is_null(kind) else None


def looked_up(array: Any) -> Any:
    """Return a `pyarrow.Array` of ids whose dictionary, if any, pyarrow can look up."""
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        return array
    words = without_views(array.dictionary)  # Polars writes categories so
    if words.type == array.type.value_type:
        return array
    # safe=False: indices are checked where they are read.
    return pa.DictionaryArray.from_arrays(array.indices, words, safe=False)


def without_views(array: Any) -> Any:
    """Return a `pyarrow.Array` of a type that pyarrow can look up and filter: no views."""
    import pyarrow as pa

    is_text = pa.types.is_string_view(array.type)
    if not (is_text or pa.types.is_binary_view(array.type)):
        return array
    return array.cast(pa.large_string() if is_text else pa.large_binary())


def numbers(kind: Any, column: str, path: Path) -> Numbers:
    """Return how to read an Arrow column of type `kind`, or raise that it holds no numbers."""
    number_type = arrow_numbers(kind)
    if number_type is None:
        rule = "integers, floats, booleans or decimals"
        raise SourceError(f"column {column!r} of {path.name} must hold {rule}, got {kind}")
    return number_type


def opening(path: Path, format_name: str, open_it: Callable[[], T]) -> T:
    """Open a file by `open_it()`, or raise a `SourceError` that names the expected format."""
    name = path.name
    try:
        return open_it()
    except DpfastError:
        raise
    except UnicodeEncodeError:
        name, why = ascii(name), "the name of the file must be UTF-8"
    except UnicodeDecodeError:
        why = "its names are not UTF-8"
    except Exception as error:
        why = f"damaged, or of another format ({hide_error(error)})"
    raise SourceError(f"{name} cannot be read as {format_name}: {why}")


def guarded(path: Path, rows: Iterator[T]) -> Generator[T]:
    """Yield the items of `rows`; an error becomes a `SourceError` that repeats no row.

    Libraries often quote a row in their errors. Neither the new message nor a chained exception may
    do so. Hence the new error is raised after the ``except`` block of the old one.
    """
    try:
        yield from rows
        return
    except DpfastError:
        raise
    except Exception as error:
        if isinstance(error, MemoryError) and not type(error).__module__.startswith("pyarrow"):
            raise  # pyarrow raises MemoryError if a damaged file states a huge size
        reason = hide_error(error)
    raise SourceError(f"{path.name} cannot be read to its end: damaged, or changed ({reason})")


def legible(schema: Any) -> Any:
    """Return a pyarrow schema, or raise an error here if its column names cannot be decoded."""
    _ = schema.names
    return schema
