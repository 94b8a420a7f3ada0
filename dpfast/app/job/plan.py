"""The plan of a job: a mechanism, a share of the loss and a key for each release; no row is read.

The loss of the job is divided by weights, exactly. Epsilon, or rho, is divided among all releases.
Delta is divided among the releases that use it. At first these are all releases whose function
takes a delta. If a mechanism leaves its part of delta unspent, because its noise is smaller without
delta, delta is divided again among the others. This is repeated until all of them use it. A release
whose function refuses epsilon alone keeps its part. So the shares of epsilon, of rho, and of delta
(if any release uses it) add up to the whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from ... import STATISTICS, Budget
from ...errors import ArgumentError, BudgetError, DpfastError, LedgerError
from ...extend import Files, Mechanism, checks, data_version, prepare
from ...privacy import ZCDP, Approx, Loss, Pure
from ..entry import Entry
from ..files import existing, other_file
from ..functions import check_where, error_of
from . import job_file

#: The version of keys. It must change if a key is made from other facts.
KEY_VERSION = "dpfast job 1"

#: The arguments of contribution bounding by group, besides `by` and `where`.
BOUNDS = ("keys", "other_key", "ids", "max_groups", "max_rows", "rows_limit")

#: The loss of one release, as arguments of its function.
Share = dict[str, Fraction]


@dataclass(frozen=True, slots=True)
class Release:
    """One release: the function and its arguments, its share of the loss, and the mechanism.

    `record` has all public facts of the release, as the ledger has them.
    """

    entry: Entry
    arguments: dict[str, Any]
    share: Share
    mechanism: Mechanism[Any]
    record: dict[str, Any]
    key: str

    @property
    def loss(self) -> Loss:
        """The privacy loss of the release's mechanism."""
        return self.mechanism.loss

    @property
    def ids(self) -> str | None:
        """The ids that define the privacy unit of the release, or None if the unit is a row."""
        return self.mechanism.ids

    @property
    def holds(self) -> tuple[str | None, bool]:
        """The contribution bounding as text (None without ids); whether the release holds rows."""
        by, written, of_ranks = self.entry.by, self.entry.written, self.mechanism.of_ranks
        if self.ids is None:
            return None, bool(by) and of_ranks
        bounds = {name: written["arguments"].get(name) for name in BOUNDS}
        words = [by, bounds, written.get("where")]
        alike = json.dumps(words, sort_keys=True, default=str)
        return alike, bool(by) or not of_ranks


@dataclass(frozen=True, slots=True)
class Plan:
    """A job, its data, and its releases."""

    job: job_file.Job
    files: Files
    releases: tuple[Release, ...]

    @property
    def columns(self) -> int:
        """The number of different columns that the releases of the job read."""
        return len({name for release in self.releases for name in release.entry.reads})

    @property
    def rows(self) -> int | None:
        """The number of rows: the public one, else the guess in the job file, else None."""
        public = self.files.length if self.job.neighbors == "replace" else None
        return self.job.rows if public is None else public

    def facts(self, release: Release) -> dict[str, Any]:
        """Return the public facts of a release, with its expected error for `rows_of` rows."""
        # Gives advice: no group has more rows than there are.
        if (rows := self.rows_of(release)) is None:
            error_of(release.mechanism, self.rows)
        bar = error_of(release.mechanism, rows)
        return {"name": release.entry.name, **release.record, "error": asdict(bar)}

    def rows_of(self, release: Release) -> int | None:
        """Return the number of rows that a release reads; None for groups, conditions or blocks."""
        entry, mechanism = release.entry, release.mechanism
        return None if entry.by or entry.where or mechanism.of_parts else self.rows

    def budget(self, *, make: bool) -> Budget | None:
        """Return the job's budget; None if its ledger is missing and `make` is False.

        The limit of a new ledger is the loss of the job.
        """
        loss, about = self.job.loss, {"ids": self.job.ids, "period": self.job.period}
        limit: dict[str, Any] = {name: getattr(loss, name) for name in loss.amounts}
        limit |= {**about, "max_rows": self.job.max_rows}
        checked = Budget(**limit, neighbors=self.job.neighbors)
        if self.job.ledger is None:
            return checked
        if not make:
            return existing(self.job.ledger, **about)
        try:  # without a check whether the file exists, because another process may create it now
            return Budget(**limit, name=self.job.name, path=self.job.ledger.absolute())
        except ArgumentError:  # the file exists, with another limit or name
            return Budget(**about, path=self.job.ledger)

    def affords(
        self, budget: Budget
    ) -> tuple[list[tuple[int, Any] | None], dict[str, Fraction] | BudgetError]:
        """Return the ledger entries of paid releases, and what is left after paying the others.

        If a BudgetError is returned, too little is left even after a second look at the ledger, in
        which another process may have paid for releases meanwhile.
        """
        while True:
            entries = [budget.entry(release.key) for release in self.releases]
            paid = zip(self.releases, entries, strict=True)
            unpaid = [release.mechanism for release, entry in paid if not entry]
            try:
                return entries, budget.left_after(unpaid)
            except BudgetError as error:
                again = [budget.entry(release.key) for release in self.releases]
                if again.count(None) == len(unpaid):
                    return entries, error


def plan(path: Any, report: Any = None) -> Plan:
    """Read a job file, check all arguments of all releases, and return the plan of the job."""
    job = job_file.read(path)
    try:
        files = Files(job.data, **job.text) if job.sql is None else job.sql.open()
    except ArgumentError as error:
        raise type(error)(f"data.{error}") from None
    if report is not None:
        page = job_file.written_to("report", checks.path("report", report), Path(), [".html"])
        job = replace(job, outputs={**job.outputs, **page})
    _check_outputs(job, files)
    for entry in job.entries:
        if isinstance(job.loss, ZCDP) and "rho" not in entry.takes:
            raise ArgumentError(
                f"release {entry.name!r}: statistic must be one that can spend rho, as [budget] "
                f"does, got {entry.statistic!r}"
            )

    def release(number: int, share: Share) -> Release:
        return _release(job.entries[number], share, job, files)

    weights = [entry.weight for entry in job.entries]
    takes_delta = ["delta" in entry.takes for entry in job.entries]
    lines = [STATISTICS.get(entry.statistic) for entry in job.entries]
    needs_delta = [bool(line and line.kind and line.kind.needs_delta) for line in lines]
    return Plan(job, files, tuple(allocated(job.loss, weights, takes_delta, release, needs_delta)))


def divided(loss: Loss, weights: Sequence[Fraction], delta: Sequence[bool]) -> list[Share]:
    """Divide a loss among releases by weight, and delta among the releases marked in `delta`."""
    whole = sum(weights, Fraction(0))
    name, size = ("rho", loss.rho) if isinstance(loss, ZCDP) else ("epsilon", loss.epsilon)
    shares = [{name: size * weight / whole} for weight in weights]
    if isinstance(loss, Approx):
        users = [i for i, uses in enumerate(delta) if uses]
        part = sum((weights[i] for i in users), Fraction(0))
        for i in users:
            shares[i]["delta"] = loss.delta * weights[i] / part
    return shares


def allocated(
    loss: Loss,
    weights: Sequence[Fraction],
    takes_delta: Sequence[bool],
    make: Callable[[int, Share], Release],
    needs_delta: Sequence[bool] = (),
) -> list[Release]:
    """Divide a loss by weight, and return the releases that ``make(i, share)`` makes of the shares.

    A release that leaves delta unspent gets no delta, unless its function refuses epsilon alone.
    """
    uses, needs = list(takes_delta), needs_delta or [False] * len(weights)
    while True:
        releases = [make(i, share) for i, share in enumerate(divided(loss, weights, uses))]
        spends = [
            is_given and (need or isinstance(release.loss, Approx))
            for is_given, need, release in zip(uses, needs, releases, strict=True)
        ]
        if not isinstance(loss, Approx) or spends == uses:
            return releases
        uses = spends


def _check_outputs(job: job_file.Job, files: Files) -> None:
    """Refuse an output that would replace the data, the job or the ledger, or be read as data."""
    data = [path.resolve() for path in files.paths]
    used: list[tuple[Path, str]] = [(path, "the data") for path in data]
    used += [(job.path, "the job"), (job.ledger or job.path, "the ledger")]
    used += [(file, "the keys") for entry in job.entries for file in entry.files]
    wholes = [] if job.sql else [job.data] if isinstance(job.data, str) else job.data
    folders = [path.resolve() for path in map(Path, wholes) if not path.is_file()]
    parts = {(path.parent, path.suffix) for path in data if folders and path.is_file()}
    for field, output in job.outputs.items():
        out = output.resolve()
        other_file(field, output, used)
        used.append((out, "output.path"))
        # The output would be read as part of a directory, or of a pattern.
        is_part = out.suffix in (".parquet", ".csv") and any(map(out.is_relative_to, folders))
        if is_part or (out.parent, out.suffix) in parts:
            checks.fail(field, "outside the directory of the data", str(output))


def _release(entry: Entry, share: Share, job: job_file.Job, files: Files) -> Release:
    """Return a release of the plan, whose function has checked the arguments."""
    where = entry.written.get("where")
    check_where(f"release {entry.name!r}: where", where, entry.by, job.neighbors)
    neighbors = {"neighbors": job.neighbors} if "neighbors" in entry.takes else {}
    try:
        arguments = entry.call(files, **share, **neighbors)
        prepared = prepare(entry.function, entry.data(files), **arguments)
        with data_version(job.version):
            record = prepared.to_record().to_dict()
    except LedgerError:
        raise
    except DpfastError as error:
        raise type(error)(f"release {entry.name!r}: {error}") from None
    key = _key(entry, prepared.mechanism, record, files, job.version)
    return Release(entry, arguments, share, prepared.mechanism, record, key)


def _key(entry: Entry, mechanism: Any, record: Any, files: Files, version: str) -> str:
    """Return the key of a release: a digest of its name, statistic, mechanism, loss, and files.

    Two releases with one key are the same statistic of the same data at the same loss. The key
    contains the share of the release, as the loss of its mechanism, and nothing else about the rest
    of the job. Files are distinguished by path and by the version that the job gives them; without
    a version, by path, size and time of change. The key keeps answers apart. Privacy requires only
    that one answer is published for one spend.
    """
    loss = record["loss"]
    # Cells and draws give a smaller rho, but do not change answers.
    if isinstance(mechanism.loss, Pure):
        loss = {"kind": "Pure", "epsilon": loss["epsilon"]}
    words = [
        KEY_VERSION,
        entry.name,
        entry.written,
        mechanism.name,
        mechanism.neighbors,
        json.dumps(loss),
        [[path, version] for path, *_ in files.identity()] if version else files.identity(),
    ]
    return hashlib.sha256(json.dumps(words, sort_keys=True, default=str).encode()).hexdigest()
