"""What a job comes to: a mechanism, a share and a key for each release; no row is read."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._core import checks
from ..._core.error_bars import Expected, unknown
from ...budget.budget import Budget, quoted
from ...budget.ledger import Amounts, Spend
from ...budget.ledger.text import loss as loss_text
from ...errors import ArgumentError, BudgetError, DpfastError, LedgerError
from ...privacy import ZCDP, Approx, Pure
from ...sources.arrow import Reader
from ...sources.files import FileSource
from ...sources.pick import distinct, picker
from ...sources.row_source import Table, Text
from ...sources.scan import columns
from ...sources.scan import reader as reader_of
from . import job_file
from . import shares as _shares

#: Of the error bars.
CONFIDENCE = 0.95
#: Of a key. A later form of the same words would be another one.
FORM = "dpfast job 1"


@dataclass(frozen=True, slots=True)
class Release:
    """One release: what is called, with which share of the loss, and what that comes to."""

    entry: job_file.Entry
    arguments: dict[str, Any]
    share: _shares.Share
    mechanism: Any
    key: str

    def source(self, reader: Reader) -> FileSource | Table | Text:
        """Its columns, read by `reader`."""
        names = [reader.find(picker(name)) for name in self.entry.columns]
        return columns(reader, distinct(names) if self.entry.is_table else names[0])

    def expected(self, rows: int | None) -> Expected:
        """The error of its answer, as far as public numbers tell."""
        if not hasattr(self.mechanism, "error"):
            return unknown(CONFIDENCE, "no bound of public numbers is known")
        some = None if rows is None else max(1, rows)  # of no rows, no more is said than of one
        found: Expected = self.mechanism.error(some, CONFIDENCE)
        return found

    @property
    def spend(self) -> Spend:
        """What it will ask of a budget."""
        return Spend(self.mechanism.loss, self.mechanism.neighbors, self.mechanism.name)


@dataclass(frozen=True, slots=True)
class Plan:
    """A job, its data, and its releases."""

    job: job_file.Job
    reader: Reader
    releases: tuple[Release, ...]

    @property
    def columns(self) -> int:
        """How many columns are read."""
        return len({name for release in self.releases for name in release.entry.columns})

    @property
    def rows(self) -> int | None:
        """The number of rows that may be known: a public one, or the guess of the job."""
        known = self.reader.length if self.job.neighbors == "replace" else None
        return self.job.rows if known is None else known

    def budget(self, *, make: bool) -> Budget | None:
        """The budget that pays; None if its ledger is not there and is not to be made.

        A new ledger has the loss of the job for its limit.
        """
        loss, neighbors = self.job.loss, self.job.neighbors
        limit: dict[str, Any] = (
            {"rho": loss.rho}
            if isinstance(loss, ZCDP)
            else {
                "epsilon": loss.epsilon,
                "delta": loss.delta if isinstance(loss, Approx) else 0,
            }
        )
        if self.job.ledger is None:
            return Budget(**limit, neighbors=neighbors)
        if not make:
            return Budget(path=self.job.ledger) if self.job.ledger.exists() else None
        try:  # not: look whether it is there, for somebody may be making it at this moment
            return Budget(**limit, name=self.job.name, path=self.job.ledger)
        except ArgumentError:  # it is there, with another limit or name
            return Budget(path=self.job.ledger)

    def affords(self, budget: Budget) -> tuple[list[tuple[int, Any] | None], Amounts | BudgetError]:
        """The line and answer of each release that is paid for, and what the others would leave.

        If that is refused, it was not because somebody else paid for one of them in the meantime.
        """
        while True:
            found = [budget._found(release.key) for release in self.releases]
            unpaid = [r.spend for r, there in zip(self.releases, found, strict=True) if not there]
            try:
                return found, budget._afford(unpaid)
            except BudgetError as error:
                again = [budget._found(release.key) for release in self.releases]
                if again.count(None) == len(unpaid):
                    return found, error


def plan(path: Any) -> Plan:
    """The plan of a job file; every argument of every release has been checked."""
    job = job_file.read(path)
    reader = reader_of(job.data)
    _apart(job, reader)
    taken = [entry.takes for entry in job.entries]
    for entry, takes in zip(job.entries, taken, strict=True):
        if isinstance(job.loss, ZCDP) and "rho" not in takes:
            raise ArgumentError(
                f"release {entry.name!r}: statistic must be one that can spend rho, as [budget] "
                f"does, got {entry.statistic!r}"
            )
    made: list[dict[str, Any]] = [{} for _ in job.entries]

    def make(number: int, share: _shares.Share) -> Any:
        entry = job.entries[number]
        made[number] = {**entry.arguments, **share}
        if "neighbors" in taken[number]:
            made[number]["neighbors"] = job.neighbors
        return _mechanism(entry, made[number], reader)

    shares, mechanisms = _shares.settled(
        job.loss,
        [entry.weight for entry in job.entries],
        ["delta" in takes for takes in taken],
        make,
    )
    releases = [
        Release(entry, arguments, share, mechanism, _key(entry, mechanism, reader))
        for entry, arguments, share, mechanism in zip(
            job.entries, made, shares, mechanisms, strict=True
        )
    ]
    return Plan(job, reader, tuple(releases))


def _apart(job: job_file.Job, reader: Reader) -> None:
    """Refuse an output that would take the place of what the job is made of, or be read with it."""
    if job.output is None:
        return
    out, data = job.output.resolve(), [path.resolve() for path in reader.paths]
    used = [(path, "the data") for path in data]
    used += [(job.path.resolve(), "the job"), ((job.ledger or job.path).resolve(), "the ledger")]
    for path, what in used:
        if out == path:
            checks.fail("output.path", f"another file than {what}", str(job.output))
    whole = Path(job.data)
    several = not whole.is_file() and out.suffix.lower() == ".parquet"  # a directory, or a pattern
    folders = [whole.resolve(), *(path.parent for path in data)]
    if several and (out.parent in folders or out.is_relative_to(folders[0])):
        checks.fail("output.path", "outside the directory of the data", str(job.output))


def _mechanism(entry: job_file.Entry, arguments: dict[str, Any], reader: Reader) -> Any:
    release = Release(entry, arguments, {}, None, "")
    try:
        return quoted(entry.function, release.source(reader), **arguments)
    except LedgerError:
        raise
    except DpfastError as error:
        raise type(error)(f"release {entry.name!r}: {error}") from None


def _key(entry: job_file.Entry, mechanism: Any, reader: Reader) -> str:
    """A digest of the name, of the question, and of the data as far as they are known unread.

    Two releases with one key ask the same of the same data for the same loss. The share is in it by
    way of the mechanism's loss; the rest of the job is not. Files are told apart by their place,
    size and time of change. That is for the sake of the answers: privacy needs only that one answer
    leaves for one spend.
    """
    loss = mechanism.loss
    if isinstance(loss, Pure):  # what zCDP knows besides is of no answer, and may become more
        loss = Pure(loss.epsilon)
    words = [
        FORM,
        entry.name,
        entry.written,
        mechanism.name,
        mechanism.neighbors,
        loss_text(loss),
        reader.identity(),
    ]
    return hashlib.sha256(json.dumps(words, sort_keys=True, default=str).encode()).hexdigest()
