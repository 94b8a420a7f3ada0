"""A job that pays once and answers once, however often it is started, and by how many processes.

Each release has a key. What happens to it, in this order:

1. One transaction of the ledger spends for the key, or finds that it is paid for.
2. The mechanism runs, with randomness of its own.
3. One transaction records its answer beside the spend; an answer that is there already wins.
4. What the ledger holds is printed or written, and nothing else.

So at most one answer leaves for one spend, the one that was recorded. A process that is killed
between 1 and 3 takes its answer along: nobody has seen it, and neither its value nor its having
been drawn changes what another process draws. Hence whoever comes later runs the mechanism again
without paying, and the loss is that of one run. Of two processes that run at once, one records; the
other draws, finds the answer of the first, and throws its own away unseen.

A `DataError` is an answer as well (missing values where none are allowed). It is recorded in the
same way. Other errors (a file that was changed, a full memory) are not, and the release can be
tried again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...budget.budget import Budget
from ...errors import BudgetError, DataError, DpfastError
from ...statistics.ptr import NoAnswer
from .plan import Plan, Release
from .shared_pass import Failure, Together


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one release: an answer as the ledger holds it, or an error."""

    release: Release
    kept: dict[str, Any] | None
    error: Exception | None


@dataclass(frozen=True, slots=True)
class Results:
    """The answers of a job.

    Attributes
    ----------
    outcomes : tuple of Outcome
        In the order of the job file.
    passes : int
        How often the file was read. That may depend on the rows: NOT PRIVATE.
    """

    plan: Plan
    outcomes: tuple[Outcome, ...]
    passes: int

    def rows(self, release: Release) -> int | None:
        """The number of rows that the error bar of a release is for: public, guessed, or released.

        A count of all rows is none of those that are left where missing numbers are dropped: that
        is a count of the numbers of the same column.
        """
        if self.plan.rows is not None:
            return self.plan.rows
        drops = release.arguments.get("nan") == "drop"
        for outcome in self.outcomes:
            entry, mechanism = outcome.release.entry, outcome.release.mechanism
            if entry.statistic != "count" or mechanism.present != drops:
                continue
            found = (outcome.kept or {}).get("value")
            if isinstance(found, list) and not drops:  # one number, repeated
                found = found[0]
            if isinstance(found, int) and (not drops or entry.columns == release.entry.columns):
                return max(1, found)
        return None

    def check(self) -> None:
        """Raise what went wrong with the first release that has no answer, if there is one."""
        failed = {o.release.entry.name: o.error for o in self.outcomes if o.error is not None}
        if not failed:
            return
        (name, error), *others = failed.items()
        more = f" (and no answer from {', '.join(map(repr, dict(others)))})" if others else ""
        kind = type(error) if isinstance(error, DpfastError) else DpfastError
        # From elsewhere it may quote a row, so it must not survive, not even as a cause.
        raise kind(f"release {name!r}: {words(error)}{more}") from (
            error if isinstance(error, DpfastError) else None
        )

    def __getitem__(self, name: str) -> Any:
        """The answer of a name: a number, or a list of them; None for no answer.

        Raises
        ------
        KeyError
            There is no such release.
        DpfastError
            What went wrong with it.
        """
        for outcome in self.outcomes:
            if outcome.release.entry.name == name:
                if outcome.error is not None:
                    told = isinstance(outcome.error, DpfastError)
                    raise outcome.error if told else DpfastError(words(outcome.error))
                assert outcome.kept is not None
                return outcome.kept.get("value")
        raise KeyError(name)


def run(plan: Plan, budget: Budget, progress: Any = None) -> Results:
    """Run what has no answer yet, and return the answers of all."""
    releases = plan.releases
    found, left = plan.affords(budget)
    if isinstance(left, BudgetError):
        raise left
    kept: list[Any] = [None if there is None else there[1] for there in found]
    todo = [i for i, answer in enumerate(kept) if answer is None]
    together = Together(plan.reader, plan.columns, progress)
    note = plan.job.name or plan.job.path.name

    def work(place: int) -> Callable[[], Any]:
        release = releases[todo[place]]
        source = release.source(together.reader(place))
        return lambda: _one(release, source, budget, f"{note}: {release.entry.name}")

    failed: dict[int, Exception] = {}
    for i, answer in zip(todo, together.run([work(p) for p in range(len(todo))]), strict=True):
        if isinstance(answer, Failure):
            failed[i] = answer.error
        else:
            kept[i] = answer
    outcomes = tuple(
        Outcome(release, kept[i], failed.get(i) or _data_error(kept[i]))
        for i, release in enumerate(releases)
    )
    return Results(plan, outcomes, together.passes)


def _one(release: Release, source: Any, budget: Budget, note: str) -> Any:
    """The recorded answer of one release, which this call computes unless somebody else has."""
    with budget._once(release.key), budget.noted(note):
        try:
            answer = release.entry.function(source, **release.arguments, budget=budget)
            kept = encoded(answer)
        except DataError as error:
            if not budget._paid:
                raise
            kept = {"error": str(error)}
        return budget._settle(kept)


def encoded(answer: Any) -> dict[str, Any]:
    """An answer as the ledger keeps it."""
    if isinstance(answer, NoAnswer):
        return {"no_answer": True}
    if isinstance(answer, tuple):
        counts, edges = answer
        return {"value": counts, "edges": edges}
    return {"value": answer}


def words(error: Exception) -> str:
    """What is said of an error: of one from elsewhere only its kind, for it may quote a row."""
    return str(error) if isinstance(error, DpfastError) else type(error).__name__


def _data_error(kept: Any) -> Exception | None:
    return DataError(kept["error"]) if kept is not None and "error" in kept else None
