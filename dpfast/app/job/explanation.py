"""What a job would do: its mechanisms, its losses, and the expected errors of its answers.

The rows are not read, and nothing is spent. It tells no more than the schema and the ledger do.
"""

from __future__ import annotations

from typing import NotRequired, cast

from ...errors import BudgetError
from ...privacy import ZCDP
from ...summaries.order import SMALL
from .output import JobFacts, ReleaseFacts, job_facts, release_facts
from .plan import Plan, Release


class ReleaseExplanation(ReleaseFacts):
    """What one release would do, in the types of JSON."""

    mechanism: str
    what: str
    share: str
    passes: int | None


class Explanation(JobFacts):
    """What a job would do, in the types of JSON."""

    data: str
    rows: int | None
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
    releases = [_release(plan, release) for release in plan.releases]
    passes = [release["passes"] for release in releases]
    facts = {
        **job_facts(plan.job),
        "data": plan.job.data,
        "rows": plan.rows,
        "releases": releases,
        "passes": None if None in passes else max(n for n in passes if n is not None),
        "ledger": str(plan.job.ledger),
        "remaining": None,
        "paid": [],
    }
    shown = cast(Explanation, facts)
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
    whole = plan.job.loss
    kind = "rho" if isinstance(whole, ZCDP) else "epsilon"
    return {
        **release_facts(release, plan.rows),
        "mechanism": type(release.mechanism).__name__,
        "what": release.mechanism.name,
        "share": str(release.share[kind] / getattr(whole, kind)),  # exactly
        "passes": passes(plan, release),
    }


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
