"""What a job would do: its mechanisms, its losses, and the expected errors of its answers.

The rows are not read, and nothing is spent. It tells no more than the schema and the ledger do.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NotRequired, TypedDict

from ...errors import BudgetError
from ...privacy import ZCDP
from ...summaries.order import SMALL
from .output import ErrorBar, amounts, error_bar
from .plan import Plan, Release


class ReleaseExplanation(TypedDict):
    """What one release would do, in the types of JSON."""

    name: str
    statistic: str
    columns: list[str]
    mechanism: str
    what: str
    share: str
    loss: dict[str, float]
    expected_error: ErrorBar
    passes: int | None


class Explanation(TypedDict):
    """What a job would do, in the types of JSON."""

    job: str
    data: str
    neighbors: str
    rows: int | None
    loss: dict[str, float]
    releases: list[ReleaseExplanation]
    passes: int | None
    ledger: str | None
    remaining: dict[str, float] | None
    paid: list[str]
    refused: NotRequired[str]
    after: NotRequired[dict[str, float]]


def explain(plan: Plan) -> Explanation:
    """Return all of it."""
    budget = plan.budget(make=False)
    job = plan.job
    releases = [_release(plan, release) for release in plan.releases]
    passes = [release["passes"] for release in releases]
    shown: Explanation = {
        "job": job.name or job.path.name,
        "data": job.data,
        "neighbors": job.neighbors,
        "rows": plan.rows,
        "loss": amounts(job.loss),
        "releases": releases,
        "passes": None if None in passes else max(n for n in passes if n is not None),
        "ledger": str(job.ledger),
        "remaining": None,
        "paid": [],
    }
    if budget is None:
        return shown
    entries, after = plan.affords(budget)
    shown["ledger"] = budget.path
    shown["remaining"] = {name: float(amount) for name, amount in budget.remaining.items()}
    paid = zip(plan.releases, entries, strict=True)
    shown["paid"] = [release.entry.name for release, entry in paid if entry]
    if isinstance(after, BudgetError):
        shown["refused"] = str(after)
    else:
        shown["after"] = {name: float(left) for name, left in budget._named(after).items()}
    return shown


def _release(plan: Plan, release: Release) -> ReleaseExplanation:
    entry, mechanism = release.entry, release.mechanism
    return {
        "name": entry.name,
        "statistic": entry.statistic,
        "columns": list(entry.columns),
        "mechanism": type(mechanism).__name__,
        "what": mechanism.name,
        "share": _share(plan, release),
        "loss": amounts(release.loss),
        "expected_error": error_bar(release, plan.rows),
        "passes": passes(plan, release),
    }


def _share(plan: Plan, release: Release) -> str:
    """Return its part of the whole loss, exactly."""
    whole, share = plan.job.loss, release.share
    if isinstance(whole, ZCDP):
        return str(Fraction(share["rho"] / whole.rho))
    return str(Fraction(share["epsilon"] / whole.epsilon))


def passes(plan: Plan, release: Release) -> int | None:
    """Return how many passes a release makes as a rule; None if its blocks decide that.

    Order statistics need pivots: from a sample that the file gives, or from a pass. Where the
    number of rows is private, what depends on it (how many row groups there are) is not looked at.
    """
    mechanism = getattr(release.mechanism, "measure", release.mechanism)
    reader, rows = plan.reader, plan.rows
    counted = reader.length is not None  # by the format
    if hasattr(mechanism, "bound"):
        return None
    if release.entry.statistic == "count" and counted and not mechanism.present:
        return 0
    small = counted and rows is not None and rows <= SMALL
    if not hasattr(mechanism, "assume_sorted") or small:
        return 1
    public = plan.job.neighbors == "replace"
    return 1 if (reader if public else type(reader)).samples else 2
