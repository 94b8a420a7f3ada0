"""Run the releases of a job, each paid and answered once over any number of runs and processes.

Each release has a key. The steps of a release, in this order:

1. One transaction of the ledger spends for the key, or finds that it is paid for.
2. The mechanism runs, with independent randomness.
3. One transaction records its answer with the spend; an answer that is already there wins.
4. Only recorded answers are printed or written.

So at most one answer is published for one spend: the recorded answer. If a process is killed
between steps 1 and 3, its answer is lost, and nobody has seen it. Neither the value of the answer
nor the fact that it was drawn changes what another process draws. Hence a later process may run the
mechanism again without paying, and all runs together cost the loss of one run. If two processes run
at the same time, one records its answer. The other draws an answer, finds the recorded one, and
discards its own answer unseen.

A `DataError` is an answer, too (for example, for missing values where none are allowed), and is
recorded in the same way. Other errors (a changed file, a full memory) are not recorded, and the
release can be tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ... import Budget
from ...errors import BudgetError, DataError, DpfastError
from ...extend import Files, SharedPasses, data_version, hide_error, prepare
from ..functions import bar_of, encoded
from .plan import Plan, Release

#: A number, a vector, a matrix, or the columns of a table by group; None without an answer.
Answer: TypeAlias = float | list[float] | list[list[float]] | dict[str, list[Any]] | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one release: an answer as the ledger holds it, or an error."""

    release: Release
    kept: dict[str, Any] | None
    error: DpfastError | None


def run(plan: Plan, budget: Budget, progress: Any = None) -> tuple[tuple[Outcome, ...], int]:
    """Run the releases without a recorded answer; return all outcomes and the number of passes."""
    entries, left = plan.affords(budget)
    note, version = plan.job.title, plan.job.version
    if isinstance(left, BudgetError):
        raise BudgetError(f"{left}{_anew(plan, budget, entries, note)}")
    answers: list[Any] = [None if entry is None else entry[1] for entry in entries]
    todo = [i for i, answer in enumerate(answers) if answer is None]

    def work(release: Release) -> Callable[[Files], Any]:
        about = f"{note}: {release.entry.name}"
        return lambda files: _answered(release, release.entry.data(files), budget, about, version)

    releases = [plan.releases[i] for i in todo]
    works, passes = [work(release) for release in releases], 0
    if plan.job.sql is None:
        shared = SharedPasses(plan.files, plan.columns, progress)
        ran = shared.run(works, [release.holds for release in releases])
        passes = shared.passes
    else:
        ran = [_tried(work, plan.files) for work in works]
    for i, answer in zip(todo, ran, strict=True):
        answers[i] = answer
    return tuple(map(_outcome, plan.releases, answers)), passes


def _tried(work: Callable[[Files], Any], table: Files) -> Any:
    """Run one release over a database table; return its answer, or the error that it raised."""
    try:
        return work(table)
    except Exception as error:
        return error


def _anew(plan: Plan, budget: Budget, entries: Sequence[Any], note: str) -> str:
    """Return a note on the first release that would be paid for again, and what has changed."""
    before = {entry.note: entry for entry in budget.history}
    for release, paid in zip(plan.releases, entries, strict=True):
        entry = before.get(f"{note}: {release.entry.name}")
        if paid is None and entry is not None:
            mechanism = release.mechanism
            if (entry.what, entry.neighbors, entry.ids) != (
                mechanism.what,
                mechanism.neighbors,
                mechanism.ids,
            ):
                what = "its mechanism"
            elif entry.loss != mechanism.loss:
                what = "its loss, so the shares"
            else:
                what = "its arguments or its data"
                if not plan.job.version:
                    what += " (their path, size or time of change; [data] version stands for these)"
            return f"; release {release.entry.name!r} was paid for, but {what} changed since"
    return ""


def _outcome(release: Release, answer: Any) -> Outcome:
    """Return the outcome of a release; other libraries' errors keep their type, and no text."""
    if isinstance(answer, DpfastError):
        return Outcome(release, None, answer)
    if isinstance(answer, Exception):
        return Outcome(release, None, DpfastError(hide_error(answer)))
    return Outcome(release, answer, DataError(answer["error"]) if "error" in answer else None)


def _answered(release: Release, source: Any, budget: Budget, note: str, version: str) -> Any:
    """Return the recorded answer of one release; pay for it, compute and record it if missing.

    The record also has the error bar, which may be made of noisy numbers, and the time.
    """
    with budget.once(release.key), budget.noted(note), data_version(version):
        try:
            prepared = prepare(release.entry.function, source, **release.arguments, budget=budget)
            answer = release.entry.release(prepared)
            dated = {name: getattr(answer, name) for name in ("entry", "time", "is_noise")}
            kept = {**encoded(answer.value), **dated}
            # Tables by group contain their error bars.
            if not isinstance(answer.bar.half_width, dict):
                kept["bar"] = bar_of(answer.bar, answer.ends)
        except DataError as error:
            if budget.last_entry is None:
                raise
            kept = {"error": str(error)}
        return budget.settle(kept)
