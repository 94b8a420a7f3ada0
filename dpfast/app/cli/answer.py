"""The release of a column of a file: its answer beside what is public, as JSON or a table."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from ...budget.release import release
from ...sources import Chunk, RandomWords, Source
from ...sources.scan import scan
from ...statistics.quantiles.exponential import ExponentialQuantile, RecursiveQuantiles
from ...statistics.quantiles.joint import JointQuantiles
from ...statistics.quantiles.smooth import SmoothQuantile

S = TypeVar("S")

#: What `--method` calls the mechanisms that have one name.
METHODS = {SmoothQuantile: "smooth", RecursiveQuantiles: "recursive", JointQuantiles: "joint"}
#: Seconds before a progress bar appears.
PATIENCE = 1.0


def _method(made: Any) -> str:
    if isinstance(made, ExponentialQuantile):
        return "exponential-round" if made.rounded else "exponential"
    return METHODS[type(made)]


def answer(
    statistic: str,
    asked: dict[str, Any],
    made: Any,
    file: str,
    column: str | None,
    as_json: bool,
) -> None:
    """Run a mechanism on a file's column, and show the answer beside the public parameters."""
    source = scan(file, column)
    with progress(source) as data:
        value = release(data, made, budget=None, rng=None)
    values, loss = [value] if isinstance(value, float) else value.tolist(), made.loss
    shown: dict[str, Any] = {
        **({"value": value} if isinstance(value, float) else {"values": values}),
        "statistic": statistic,
        **asked,
        "file": file,
        "column": column,
        "bounds": [made.lo, made.hi],
        **{
            name: float(getattr(loss, name))
            for name in ("epsilon", "delta", "rho")
            if hasattr(loss, name)
        },
        "neighbors": made.neighbors,
        "method": _method(made),
        **({"noise": made.calibration.noise} if isinstance(made, SmoothQuantile) else {}),
        "nan": made.nan,
    }
    if as_json:
        print(json.dumps(shown, allow_nan=False))
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column()
    table.add_column(overflow="fold")
    if statistic == "quantiles":
        for level, value in zip(shown.pop("q"), shown.pop("values"), strict=True):
            table.add_row(f"{level:g}", f"[bold]{value}[/]")
    for name, entry in shown.items():
        if entry is not None:
            text = " to ".join(f"{e:g}" for e in entry) if isinstance(entry, list) else str(entry)
            table.add_row(name, f"[bold]{text}[/]" if name == "value" else escape(text))
    Console(highlight=False, soft_wrap=True).print(table)


class _Watched:
    """A source that tells after every chunk how many rows of the pass are behind it."""

    def __init__(self, source: Source, tell: Callable[[int], None]) -> None:
        self._source = source
        self._tell = tell

    @property
    def dtype(self) -> Any:
        return self._source.dtype

    @property
    def length(self) -> int | None:
        return self._source.length

    @property
    def nulls(self) -> int | None:
        return self._source.nulls

    def sample(self, count: int, words: RandomWords) -> Any:
        return self._source.sample(count, words)

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        done = 0

        def watched(chunk: Chunk) -> S:
            nonlocal done
            found = summarise(chunk)
            done += len(chunk.values) + chunk.nulls
            self._tell(done)
            return found

        return self._source.reduce(watched, merge)


@contextmanager
def progress(source: Source) -> Iterator[Source]:
    """Yield the source, watched by a bar on standard error if that is a terminal and it takes long.

    The bar is for the one who holds the data. It is not part of the answer.
    """
    if sys.stderr is None or not sys.stderr.isatty() or not hasattr(source, "makers"):
        yield source
        return
    known = source.length is not None
    bar = Progress(
        SpinnerColumn(),
        TextColumn("reading"),
        *([BarColumn()] if known else []),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("reading", total=source.length)
    began = time.monotonic()

    def tell(done: int) -> None:
        if not bar.live.is_started and time.monotonic() - began > PATIENCE:
            bar.start()
        bar.update(task, completed=done)

    try:
        yield _Watched(source, tell)
    finally:
        bar.stop()
