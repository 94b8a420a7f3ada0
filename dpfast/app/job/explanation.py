"""What a job would do: its mechanisms, its losses, and what to expect of its answers.

The rows are not read, and nothing is spent. Whoever may see the schema and the ledger may see this.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ...errors import BudgetError
from ...privacy import ZCDP
from ...summaries.order import SMALL
from .output import amounts
from .plan import Plan, Release


def explain(plan: Plan) -> dict[str, Any]:
    """All of it, in the types of JSON."""
    budget = plan.budget(make=False)
    job = plan.job
    rows = plan.rows
    releases = [_release(plan, release, rows) for release in plan.releases]
    known = [release["passes"] for release in releases]
    shown: dict[str, Any] = {
        "job": job.name or job.path.name,
        "data": job.data,
        "neighbors": job.neighbors,
        "rows": rows,
        "loss": amounts(job.loss),
        "releases": releases,
        "passes": max(known) if None not in known else None,
    }
    if budget is None:
        return {**shown, "ledger": str(job.ledger), "remaining": None, "paid": []}
    found, after = plan.affords(budget)
    paid = [r.entry.name for r, there in zip(plan.releases, found, strict=True) if there]
    shown["ledger"] = budget.path
    shown["remaining"] = {name: float(amount) for name, amount in budget.remaining.items()}
    shown["paid"] = paid
    if isinstance(after, BudgetError):
        return {**shown, "refused": str(after)}
    return {**shown, "after": {n: float(a) for n, a in budget._named(after).items()}}


def _release(plan: Plan, release: Release, rows: int | None) -> dict[str, Any]:
    entry, mechanism = release.entry, release.mechanism
    expected = release.expected(rows)
    return {
        "name": entry.name,
        "statistic": entry.statistic,
        "columns": list(entry.columns),
        "mechanism": type(mechanism).__name__,
        "what": mechanism.name,
        "share": _share(plan, release),
        "loss": amounts(mechanism.loss),
        "expected_error": {
            "confidence": expected.confidence,
            "half_width": expected.half_width,
            "ranks": expected.ranks,
            "note": expected.note,
        },
        "passes": passes(plan, release),
    }


def _share(plan: Plan, release: Release) -> str:
    """Its part of the whole, exactly."""
    whole = plan.job.loss
    part = (
        release.share["rho"] / whole.rho
        if isinstance(whole, ZCDP)
        else (release.share["epsilon"] / whole.epsilon)
    )
    return str(Fraction(part))


def passes(plan: Plan, release: Release) -> int | None:
    """How many passes it makes as a rule; None if its blocks decide that.

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
