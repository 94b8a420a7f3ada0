"""The release of a column of a file: its answer beside what is public, as JSON or a table."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ..._core import checks
from ...budget.budget import quoted
from ...budget.release import release
from ...sources import Chunk, Source
from ...sources.files import Columns
from ...sources.pick import picker
from ...sources.scan import reader as reader_of
from ...sources.scan import scan
from ...statistics.arguments import is_auto
from ...statistics.quantiles import api
from ...statistics.quantiles.exponential import ExponentialQuantile
from ...statistics.quantiles.joint import JointQuantiles
from ...statistics.quantiles.recursive import RecursiveQuantiles
from ...statistics.quantiles.smooth import SmoothQuantile
from ...statistics.totals import api as totals
from ..grouped import STATISTICS, KeyTexts, combined, listed, read_keys
from .shared import groups_table, print_pairs

S = TypeVar("S")

#: What `--method` calls the mechanisms that have one name.
METHODS = {
    SmoothQuantile: "smooth",
    ExponentialQuantile: "exponential",
    RecursiveQuantiles: "recursive",
    JointQuantiles: "joint",
}
#: Seconds before a progress bar appears.
PATIENCE = 1.0


def answer(
    statistic: str,
    arguments: dict[str, Any],
    groups: dict[str, Any],
    file: str,
    column: str | None,
    as_json: bool,
) -> None:
    """Release a statistic of a file's column; show the answer beside the public parameters."""
    q = arguments.get("q")
    if groups["by"]:
        made, shown = _of_groups(statistic, dict(arguments), groups, file, column)
    else:
        made, shown = _of_all(statistic, dict(arguments), groups, file, column)
    loss, bounds = made.loss, arguments.get("bounds")
    shown |= {
        "statistic": statistic,
        **({} if q is None else {"q": [float(e) for e in q] if isinstance(q, list) else float(q)}),
        "file": file,
        "column": column,
        **{name: value for name, value in groups.items() if value not in (None, (), [])},
        **({} if bounds is None else {"bounds": bounds if is_auto(bounds) else list(bounds)}),
        **{
            name: float(getattr(loss, name))
            for name in ("epsilon", "delta", "rho")
            if hasattr(loss, name)
        },
        "neighbors": made.neighbors,
        **({"method": METHODS[type(made)]} if type(made) in METHODS else {}),
        **({"noise": made.calibration.noise} if isinstance(made, SmoothQuantile) else {}),
        **({"nan": arguments["nan"]} if "nan" in arguments else {}),
    }
    if as_json:
        print(json.dumps(shown, allow_nan=False))
        return
    if bounds is not None and not is_auto(bounds):
        shown["bounds"] = f"{bounds[0]:g} to {bounds[1]:g}"
    for name in ("by", "keys"):
        if name in shown:
            shown[name] = ", ".join(shown[name])
    if groups["by"]:
        Console(highlight=False).print(groups_table(shown.pop("groups")))
        shown.pop("q", None)
        answers = []
    elif statistic == "quantiles":
        answers = [
            (f"{level:g}", each)
            for level, each in zip(shown.pop("q"), shown.pop("values"), strict=True)
        ]
    else:
        answers = [("value", shown.pop("value"))]
    print_pairs([*answers, *shown.items()], bold=len(answers))


def _of_all(
    statistic: str,
    arguments: dict[str, Any],
    groups: dict[str, Any],
    file: str,
    column: str | None,
) -> tuple[Any, dict[str, Any]]:
    """Return the mechanism of a column as a whole, and its answer."""
    for name, value in groups.items():
        if value not in (None, (), []):
            checks.fail(name, "left out without by", value)
    q = arguments.pop("q", None)
    function = getattr(totals if hasattr(totals, statistic) else api, statistic)
    made = quoted(function, (), *([] if q is None else [q]), **arguments)
    with progress(scan(file, column)) as data:
        value = release(data, made, budget=None, rng=None)
    return made, {"values": value.tolist()} if statistic == "quantiles" else {"value": value}


def _of_groups(
    statistic: str,
    arguments: dict[str, Any],
    groups: dict[str, Any],
    file: str,
    column: str | None,
) -> tuple[Any, dict[str, Any]]:
    """Return the mechanism of groups of rows, and its answer."""
    for name, usual in (("noise", ("auto",)), ("method", ("auto", "recursive"))):
        value = arguments.pop(name, usual[0])
        if value not in usual:
            checks.fail(name, "left out with by", value)
    function, by = STATISTICS[statistic], groups["by"]
    given = {name: value for name, value in groups.items() if value is not None}
    given["keys"] = _keys(groups["keys"], by)
    if "q" in arguments and statistic == "quantiles":
        arguments["qs"] = arguments.pop("q")
    takes_column = "column" in signature(function).parameters
    if takes_column != (column is not None):
        rule = f"given, for {statistic} needs it" if takes_column else "left out with by"
        checks.fail("column", rule, column)
    if takes_column:
        arguments["column"] = column
    reader = reader_of(file)
    data = Columns(reader, [reader.find(picker(name)) for name in by])
    made = quoted(function, data, **given, **arguments)
    return made, {"groups": listed(function(data, **given, **arguments))}


def _keys(texts: Sequence[str], by: Sequence[str]) -> KeyTexts | None:
    """Return the public keys that are said, or those of the file that is named."""
    if not texts:
        return None
    if len(texts) == 1 and texts[0].startswith("@"):
        return read_keys(Path(texts[0][1:]), by)
    if len(texts) != len(by):
        checks.fail("keys", f"given once for each of {len(by)} columns (by), or @FILE", texts)
    return combined([text.split(",") for text in texts])


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
