"""Progress reports: a bar on stderr, or calls of a user's function.

NOT PRIVATE: the speed of the work depends on the data. Show progress only to people who may see the
data.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import checks
from .extras import extra

#: Seconds between two progress reports.
PERIOD = 0.05


def check(progress: Any) -> None:
    """Check a `progress` argument, before anything is spent.

    Raises
    ------
    ArgumentTypeError
        If `progress` is neither None, a bool nor a callable.
    MissingExtraError
        If `progress` is True and Rich is not installed.
    """
    if progress is True:
        _rich()
    elif progress is not None and progress is not False and not callable(progress):
        checks.fail_type("progress", "True, False, None or a function of (done, total)", progress)


@contextmanager
def reporter(
    progress: Any, total: int | None, unit: str = "blocks"
) -> Iterator[Callable[[int], None] | None]:
    """Yield a function ``tick(blocks)``, which adds to the number of blocks that are done.

    Parameters
    ----------
    progress : None, bool or callable
        None and False show nothing. True shows a bar of Rich on stderr. A callable is called as
        ``progress(done, total)``, at most about twenty times a second and once at the end. Calls
        may come from any thread, but never two at a time. If the callable raises an exception,
        `tick` raises it too.
    total : int or None
        The number of blocks, if it is known.
    unit : str
        The name of the units of work.

    Yields
    ------
    callable or None
        The function `tick`, which any thread may call; None if nothing is shown.
    """
    if progress is None or progress is False:
        yield None
    elif progress is True:
        with _bar(total, unit) as show, _counted(show, total) as tick:
            yield tick
    else:
        with _counted(progress, total) as tick:
            yield tick


@contextmanager
def _counted(
    show: Callable[[int, int | None], Any], total: int | None
) -> Iterator[Callable[[int], None]]:
    """Yield a function that counts blocks; show the count every `PERIOD` and at the end."""
    lock = threading.Lock()
    done, due = 0, time.monotonic() + PERIOD

    def tick(blocks: int) -> None:
        nonlocal done, due
        with lock:
            done += blocks
            if time.monotonic() >= due:
                show(done if total is None else min(done, total), total)
                due = time.monotonic() + PERIOD

    yield tick
    show(done if total is None else total, total)


@contextmanager
def _bar(total: int | None, unit: str) -> Iterator[Callable[[int, int | None], None]]:
    console, progress = _rich()
    with progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        console=console.Console(stderr=True),
    ) as bar:
        task = bar.add_task(unit, total=total)
        yield lambda done, _: bar.update(task, completed=done)


def _rich() -> Any:
    purpose = "progress=True (instead of a function of done and total)"
    return extra("rich.console", purpose), extra("rich.progress", purpose)
