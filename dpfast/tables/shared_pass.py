"""Share each pass over a file among many releases.

A release reads its data through a source, by `reduce(summarise, merge)`, as often as its mechanism
needs. Here each release runs in a separate thread. The `reduce` of its source waits until every
running release waits, too. Then the file is read once, with all requested columns, and each batch
of rows is passed to every release that requested these columns. So there are as many passes as the
release with the most passes needs, and a mechanism cannot notice the other releases.

At most `TEAM` releases run at the same time, because a thread takes address space. Each of the
others starts when a release has ended. Releases that hold rows, or sums of people, share the
available memory. If there are too many of them, they run in waves. Releases of one grouping (the
same keys, ids, bounds and conditions) share the bounding of people.

An error of one release is raised in its thread and nowhere else. If the file cannot be read to its
end, the fault may be in a column of another release. So each release starts again, alone. (Running
a release twice costs nothing, because its spend has a key, and nothing of the first run was
published.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeAlias, cast

from .._core.progress import check, reporter
from .._core.threads import alone, threads
from .arrow import BATCH
from .available_memory import share, shared_by
from .base import T
from .columns import Want
from .files import Convert, Reader
from .forms import MemoryColumn
from .opened import Files
from .text import TextReader

#: Seconds after which a waiting main thread checks for an interrupt.
LOOK = 0.5
#: Up to this many columns, whole batches are decoded together; with more, fewer rows at a time.
NARROW = 16
#: The most releases that run at the same time.
TEAM = 64
#: A batch has at least this many rows.
LEAST = 1 << 12
#: Each release that keeps rows, or sums of people, gets at least this many bytes, if several do.
ENOUGH = 1 << 26
#: What a release keeps in memory: its grouping, if it bounds people; and whether it keeps rows
#: instead of sums.
Holds: TypeAlias = tuple[Hashable | None, bool]
#: Stands for a result of a grouping that another release is computing.
COMING = object()


class _Again(BaseException):
    """Raised to run a release once more by itself, after a shared pass failed."""


class _Stopped(BaseException):
    """Raised in the thread of each release when the job is interrupted."""


@dataclass(eq=False)
class _Request:
    """A release's request for one pass: its columns, functions and result."""

    want: Want
    convert: Convert[Any]
    summarise: Callable[[Any], Any]
    merge: Callable[[Any, Any], Any]
    workers: int | None = None
    parts: int = 0
    result: Any = None
    error: BaseException | None = None
    #: Set when the pass is over, or the job was stopped. Each request has an event, so that a pass
    #: does not wake others.
    over: threading.Event = field(default_factory=threading.Event)

    def tried(self, work: Callable[[], list[Any]]) -> list[Any]:
        """Return the result of `work`, or an empty list after an error, which is stored."""
        try:
            return [] if self.error is not None else work()
        except Exception as error:
            self.error = error
            return []

    def look(self, start: int, columns: Sequence[MemoryColumn]) -> list[Any]:
        """Return the summaries of some rows for this request; several threads may call."""
        return self.tried(lambda: [self.summarise(item) for item in self.convert(start, columns)])

    def add(self, summaries: list[Any]) -> None:
        """Merge summaries into the result of this request; one thread at a time."""

        def merged() -> list[Any]:
            for summary in summaries:
                self.result = self.merge(self.result, summary) if self.parts else summary
                self.parts += 1
            return []

        self.tried(merged)


class _Looked(NamedTuple):
    """The summaries of some rows, a list for each request of a pass."""

    rows: int
    summaries: list[list[Any]]


def _holders(holds: Sequence[Holds]) -> int:
    """Return the number of holders of rows: groupings of ids, and releases that keep rows."""
    groupings = {grouping for grouping, _ in holds if grouping is not None}
    return len(groupings) + sum(has_rows for _, has_rows in holds)


def _agree(first: Want, second: Want) -> bool:
    """Tell whether two requests read the cells of a text file alike, so that they share a pass."""
    both = set(first.names) & set(second.names)
    return first.text & both == second.text & both


class SharedPasses:
    """Run several releases over the same files, which share each pass over the rows.

    There are as many passes as the release with the most passes needs.

    Parameters
    ----------
    files : Files
    columns : int, default 1
        The number of different columns that all releases together read.
    progress : bool or callable, optional
        True shows a bar on the standard error stream, which needs Rich. A function is called as
        ``progress(done, total)``, with numbers of rows of the current pass.

    Attributes
    ----------
    passes : int
        NOT PRIVATE. The number of passes, which may depend on the rows.

    Raises
    ------
    ArgumentTypeError, MissingExtraError
        If `progress` is neither a bool nor a function, or if Rich is not installed for a bar.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np, dpfast as dp
    >>> path = os.path.join(tempfile.mkdtemp(), "ages.npy")
    >>> np.save(path, np.repeat(np.arange(18, 91), 400))
    >>> shared = dp.extend.SharedPasses(dp.extend.Files(path))
    >>> ask = {"bounds": (0, 120), "epsilon": 1}
    >>> works = [lambda files, f=f: f(files.data(["0"]), **ask) for f in (dp.mean, dp.sum)]
    >>> mean, total = shared.run(works)
    >>> 53 < mean < 55, shared.passes, shared.together([1, 3])
    (True, 1, 3)
    """

    def __init__(self, files: Files, columns: int = 1, progress: Any = None) -> None:
        check(progress)
        self._files = files
        self._reader = files._reader
        # Every pass has the same chunks, as some releases need.
        self._rows = max(BATCH * NARROW // max(NARROW, columns), min(LEAST, BATCH))
        self._progress = progress
        self._turn = threading.Condition()
        self._running: set[int] = set()  # releases that run or have not begun
        self._waiting: dict[int, _Request] = {}
        self._alone: set[int] = set()
        self._grouped: dict[Hashable, Any] = {}
        # Releases that wait for what another one computes for their grouping.
        self._blocked: dict[int, Hashable] = {}
        self._stopped = False
        self._spread: Callable[[], AbstractContextManager[None]] = nullcontext
        self.passes = 0

    @staticmethod
    def together(passes: Sequence[int]) -> int:
        """Return how many passes releases share.

        Parameters
        ----------
        passes : sequence of int
            The number of passes of each release.

        Returns
        -------
        int
        """
        return max(*passes, -(-sum(passes) // TEAM))

    @staticmethod
    def memory() -> int:
        """Return the bytes for all releases that hold rows: half of the available memory.

        Returns
        -------
        int

        Examples
        --------
        >>> import dpfast as dp
        >>> dp.extend.SharedPasses.memory() > 0
        True
        """
        return share()

    @staticmethod
    def waves(holds: Sequence[Holds]) -> list[list[int]]:
        """Divide releases into waves that fit in the available memory.

        Parameters
        ----------
        holds : sequence of (hashable or None, bool)
            As in `run`.

        Returns
        -------
        list of list of int
            The numbers of the releases that run at the same time, wave by wave.

        Examples
        --------
        >>> import dpfast as dp
        >>> dp.extend.SharedPasses.waves([(None, False), ("people by key", False), (None, False)])
        [[0, 2, 1]]
        """
        most, waves = max(1, share() // ENOUGH), list[list[int]]()
        groupings = list(dict.fromkeys(grouping for grouping, _ in holds))
        for i in sorted(range(len(holds)), key=lambda i: groupings.index(holds[i][0])):
            more = [*(waves[-1] if waves else []), i]
            if not waves or (any(holds[i]) and _holders([holds[j] for j in more]) > most):
                waves.append([i])
            else:
                waves[-1] = more
        return waves

    def _shared(self, number: int, grouping: Hashable | None) -> Reader:
        """Return a reader for release `number`, whose passes are shared with other releases."""
        shared = copy(self._reader)
        shared.share = lambda *request: self._ask(number, _Request(*request))
        if grouping is not None:
            vars(shared).update(alike=partial(self._alike, number, grouping))
        return shared

    def _alike(self, number: int, grouping: Hashable, key: Hashable, make: Callable[[], T]) -> T:
        """Return ``make()``, made once for each `key` by the first release of a grouping."""
        grouping = grouping, key
        with self._turn:
            while self._grouped.get(grouping) is COMING:
                self._blocked[number] = grouping
                self._turn.notify_all()
                self._turn.wait()
                if self._stopped:
                    raise _Stopped
            grouped = self._grouped.setdefault(grouping, COMING)
        if grouped is COMING:
            try:
                grouped = make()
            finally:
                # All waiting releases continue at once, so that the next pass does not begin
                # without them.
                with self._turn:
                    self._grouped[grouping] = grouped
                    if grouped is COMING:
                        del self._grouped[grouping]
                    for other in [
                        n
                        for n, other_grouping in self._blocked.items()
                        if other_grouping == grouping
                    ]:
                        del self._blocked[other]
                    self._turn.notify_all()
        return cast(T, grouped)

    def run(
        self, works: Sequence[Callable[[Files], T]], holds: Sequence[Holds] | None = None
    ) -> list[T | Exception]:
        """Run functions that read the files at the same time, each in a separate thread.

        Parameters
        ----------
        works : sequence of callable
            Each function takes `Files`, and reads the rows through it.
        holds : sequence of (hashable or None, bool), optional
            What each function keeps in memory, as a pair. The first is None, or a label if the
            function bounds the contributions of people. Functions of one label share the bounding,
            so they must have the same keys, ids, bounds and conditions. The second tells whether
            the function keeps rows, or sums for each person, in memory.

        Returns
        -------
        list
            The result of each function, or the exception that the function raised.
        """
        held = [(None, False)] * len(works) if holds is None else list(holds)
        results: dict[int, T | Exception] = {}
        for wave in self.waves(held):
            self._grouped.clear()
            with shared_by(_holders([held[i] for i in wave])):
                answers = self._wave([works[i] for i in wave], [held[i][0] for i in wave])
            results.update(zip(wave, answers, strict=True))
        return [results[i] for i in range(len(works))]

    def _wave(
        self, works: Sequence[Callable[[Files], T]], groupings: Sequence[Hashable | None]
    ) -> list[T | Exception]:
        self._running, self._stopped = set(range(len(works))), False
        self._alone.clear()
        requests: list[_Request] = []
        self._spread = alone if len(works) >= threads() else nullcontext
        with ThreadPoolExecutor(max(1, min(len(works), TEAM)), "dpfast-job") as team:
            try:
                results = [
                    team.submit(self._work, i, work, grouping)
                    for i, (work, grouping) in enumerate(zip(works, groupings, strict=True))
                ]
                while requests := self._next():
                    self._pass(requests)
                    for request in requests:
                        request.over.set()
            finally:
                with self._turn:
                    self._stopped = True
                    left = list(self._waiting.values())
                    self._turn.notify_all()
                for request in (*left, *requests):
                    request.over.set()
        return [result.result() for result in results]

    def _work(
        self, number: int, work: Callable[[Files], T], grouping: Hashable | None
    ) -> T | Exception:
        try:
            if self._stopped:  # the job was stopped while this thread was started
                raise _Stopped
            files = self._files._read_by(self._shared(number, grouping))
            with self._spread():
                try:
                    return work(files)
                except _Again:
                    return work(files)
        except Exception as error:
            return error
        finally:
            with self._turn:
                self._running.discard(number)
                self._turn.notify_all()

    def _ask(self, number: int, request: _Request) -> Any:
        with self._turn:
            if self._stopped:
                raise _Stopped
            self._waiting[number] = request
            self._turn.notify_all()
        request.over.wait()
        if self._stopped:
            raise _Stopped
        if isinstance(request.error, _Again):
            self._alone.add(number)
        if request.error is not None:
            raise request.error
        return request.result

    def _next(self) -> list[_Request]:
        """Return the requests of the next pass, after every running release has made one.

        The first request is among them, and every other request that agrees with those before it.
        At the end the list is empty.
        """
        with self._turn:
            while len(self._waiting) < min(len(self._running), TEAM) - len(self._blocked):
                self._turn.wait(LOOK)
            for number in self._waiting:
                if number in self._alone:
                    return [self._waiting.pop(number)]
            chosen: list[int] = []
            wants: set[Want] = set()  # many releases often read the same columns
            is_text = isinstance(self._reader, TextReader)
            for number, request in self._waiting.items():
                want = request.want
                if not is_text or want in wants or all(_agree(want, other) for other in wants):
                    chosen.append(number)
                    wants.add(want)
            return [self._waiting.pop(number) for number in chosen]

    def _pass(self, requests: Sequence[_Request]) -> None:
        names = tuple(dict.fromkeys(name for r in requests for name in r.want.names))
        text: frozenset[str] = frozenset().union(*(r.want.text for r in requests))
        words: frozenset[str] = frozenset().union(*(r.want.words for r in requests))
        want = Want(names, text, words)
        index_of = {name: i for i, name in enumerate(names)}
        columns = [[index_of[name] for name in r.want.names] for r in requests]
        # If a request needs the rows in order, to number them, then one thread reads them.
        workers = min((r.workers for r in requests if r.workers is not None), default=None)

        def convert(start: int, pass_columns: Sequence[MemoryColumn]) -> Iterator[_Looked]:
            yield _Looked(
                pass_columns[0].length,
                [
                    request.look(start, [pass_columns[i] for i in indices])
                    for request, indices in zip(requests, columns, strict=True)
                ],
            )

        self.passes += 1
        try:
            with reporter(self._progress, self._reader.length, "rows") as tick:

                def gather(looked: _Looked) -> None:
                    for request, summaries in zip(requests, looked.summaries, strict=True):
                        request.add(summaries)
                    if tick is not None:
                        tick(looked.rows)

                self._reader.reduce(want, convert, gather, lambda a, b: None, self._rows, workers)
            for request in requests:
                if not request.parts:  # no row passes its conditions
                    request.add(request.look(0, self._reader.no_rows(request.want)))
        except Exception as error:
            for request in requests:
                request.error = error if len(requests) == 1 else _Again()
