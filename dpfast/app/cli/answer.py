"""The release of a column of a file: its answer beside what is public, as JSON or a table."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ...budget.budget import quoted
from ...budget.release import release
from ...sources import Chunk, Source
from ...sources.scan import scan
from ...statistics.quantiles import api
from ...statistics.quantiles.exponential import ExponentialQuantile
from ...statistics.quantiles.joint import JointQuantiles
from ...statistics.quantiles.recursive import RecursiveQuantiles
from ...statistics.quantiles.smooth import SmoothQuantile
from .shared import print_pairs

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
    statistic: str, arguments: dict[str, Any], file: str, column: str | None, as_json: bool
) -> None:
    """Release a statistic of a file's column; show the answer beside the public parameters."""
    q = arguments.pop("q", None)
    made = quoted(getattr(api, statistic), (), *([] if q is None else [q]), **arguments)
    with progress(scan(file, column)) as data:
        value = release(data, made, budget=None, rng=None)
    loss = made.loss
    shown: dict[str, Any] = {
        **({"value": value} if isinstance(value, float) else {"values": value.tolist()}),
        "statistic": statistic,
        **({} if q is None else {"q": [float(e) for e in q] if isinstance(q, list) else float(q)}),
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
    if statistic == "quantiles":
        answers = [
            (f"{level:g}", each)
            for level, each in zip(shown.pop("q"), shown.pop("values"), strict=True)
        ]
    else:
        answers = [("value", shown.pop("value"))]
    shown["bounds"] = f"{made.lo:g} to {made.hi:g}"
    print_pairs([*answers, *shown.items()], bold=len(answers))


@contextmanager
def progress(source: Source) -> Iterator[Source]:
    """Yield the source, watched by a bar on standard error if that is a terminal and it takes long.

    The bar is for the one who holds the data. It is not part of the answer.
    """
    if sys.stderr is None or not sys.stderr.isatty() or not hasattr(source, "makers"):
        yield source
        return
    bar = Progress(
        SpinnerColumn(),
        TextColumn("reading"),
        *([] if source.length is None else [BarColumn()]),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("reading", total=source.length)
    began = time.monotonic()

    def reduce(summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        bar.update(task, completed=0)

        def counted(chunk: Chunk) -> S:
            summary = summarise(chunk)
            if not bar.live.is_started and time.monotonic() - began > PATIENCE:
                bar.start()
            bar.advance(task, len(chunk.values) + chunk.nulls)
            return summary

        return source.reduce(counted, merge)

    watched = copy(source)
    vars(watched).update(reduce=reduce)
    try:
        yield watched
    finally:
        bar.stop()
