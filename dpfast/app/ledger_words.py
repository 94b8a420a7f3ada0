"""A ledger in words: a report for the data's owner, a registry record, a NIST evaluation.

There are three texts: a report; a record in the format of the registry of deployments
(https://github.com/opendp/deployments-registry-data); and a sheet with the headings of NIST SP
800-226. Their templates are in `dpfast/data`, and are filled from the ledger. Facts that a ledger
does not have are marked as open.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from html import escape
from importlib.metadata import version

from .. import Budget
from ..errors import printable
from ..extend import checks
from ..privacy import ZCDP
from .job.page import STYLE
from .texts import data_text, loss_text

#: The delta for which the odds of a loss in rho are stated. The epsilon above which odds are shown
#: as a power of e. The largest epsilon whose odds are computed. The most values that are listed.
DELTA, READ, MOST, FEW = Fraction(1, 10**6), 5, 50, 20
#: The fields of each release that a report in text shows.
SHOWN = ("entry", "time", "what", "parameters", "columns", "where", "loss", "error", "note")


def facts_of(budget: Budget, data_source: str = "", access: str = "") -> dict[str, str]:
    """Return the facts of a ledger as text, by the names that the templates have in braces."""
    checks.choice("data source", data_source or "static", ("static", "dynamic"))
    checks.choice("access", access or "interactive", ("interactive", "non-interactive"))
    words: dict[str, str] = tomllib.loads(data_text("ledger_words.toml"))
    columns, ids, relation = budget.history.to_dict(), budget.ids, budget.neighbors
    dates = sorted(time[:10] for time in columns["time"]) or [budget.created[:10]]
    sums = {"limit": budget.limit, "spent": budget.spent, "remaining": budget.remaining}
    facts = {name: loss_text({n: float(loss[n]) for n in loss}) for name, loss in sums.items()}
    period = words["period"].format(period=budget.period) if budget.period else ""
    unit = words["nobody" if budget.unit is None else "person" if ids else "row"].format(ids=ids)
    further = words["rows"] * (budget.unit == "rows") + words["max_rows"] * bool(budget.max_rows)
    about = {"unit": unit.partition(" (")[0], "max_rows": budget.max_rows}
    neighbors = f"{words[relation or 'unsaid']} {further}".strip().format(**about)
    what = words["content" if relation == "replace" else "there"].format(**about)
    kind = "Approximate DP" if sums["limit"].get("delta") else "Pure DP"

    def listed(*names: str) -> str:
        """Return the different rows of some columns of the ledger, with their counts, as text."""
        rows = zip(*(columns[name] for name in names), strict=True)
        counts = Counter(", ".join(filter(None, row)) for row in rows)
        values = [f"{row} ({n})" for row, n in counts.most_common() if row]
        more = [f"and {len(values) - FEW} more"] * (len(values) > FEW)
        return "; ".join(values[:FEW] + more) or "not recorded"

    facts |= {
        **{"data_source": data_source.capitalize(), "access": access.capitalize()},
        **{"updates": words[data_source or "updates"], "askers": words[access or "askers"]},
        **{"title": budget.name or "Releases", "path": str(budget.path)},
        **{"today": str(date.today()), "program": f"dpfast {version('dpfast')}"},
        **{"unit": unit, "neighbors": neighbors},
        "variant": "Zero-concentrated DP" if "rho" in sums["limit"] else kind,
        "left": words["left"].format(**facts, period=period),
        "odds_so_far": _odds(words, what, sums["spent"]),
        "odds_of_limit": _odds(words, what, sums["limit"]),
        **{"first": dates[0], "last": dates[-1]},
        "release_type": "One release" if len(columns["time"]) == 1 else "Many releases",
        "releases": f"{len(columns['time'])} releases: {listed('what')}.",
        **{"mechanisms": listed("mechanism", "noise"), "errors": listed("what", "error")},
        **{name: listed(name) for name in ("parameters", "columns", "version")},
    }
    shown = {name: printable(fact, len(fact) + 4) for name, fact in (words | facts).items()}
    lines = zip(*(columns[name] for name in SHOWN), strict=True)
    rows = (", ".join(printable(str(cell)) for cell in line if cell) for line in lines)
    return shown | {"table": "\n".join(rows)}


def _odds(words: Mapping[str, str], what: str, amounts: Mapping[str, Fraction]) -> str:
    """Return the promise of a total loss as a bound on odds, rounded towards the weaker promise."""
    if amounts.get("rho"):
        loss = ZCDP(amounts["rho"]).to_approx(DELTA)
        amounts = {"epsilon": loss.epsilon, "delta": loss.delta}
    delta, epsilon = amounts.get("delta"), float(amounts.get("epsilon", 0))
    factor = math.exp(min(epsilon, MOST))
    but = words["but"].format(delta=float(delta)) if delta else ""
    percent = math.ceil(100 * factor / (factor + 9))
    most, power = (epsilon, "e^") if epsilon > READ else (factor, "")
    shown = f"{power}{math.ceil(most * 100) / 100:g}"
    return words["odds"].format(what=what, factor=shown, but=but, percent=percent)


def report(budget: Budget, as_html: bool) -> str:
    """Return a report of a ledger for the data's owner, as an HTML page or as text."""
    page, facts = data_text("report.html"), facts_of(budget)
    if as_html:
        parts = {"style": STYLE, "table": budget.history.to_html()}
        return page.format_map({name: escape(fact) for name, fact in facts.items()} | parts)
    for tag, mark in {"<h1>": "# ", "<h2>": "## ", "<li>": "- ", "</?ul>\n|<.*?>": ""}.items():
        page = re.sub(tag, mark, page.partition("<body>\n")[2] or page)
    return page.strip().format_map(facts)


def sheet(budget: Budget, data_source: str = "", access: str = "") -> str:
    """Return an evaluation of a ledger under the headings of NIST SP 800-226, as Markdown."""
    return data_text("label.md").format_map(facts_of(budget, data_source, access)).strip()


def record(budget: Budget, tier: int, data_source: str = "", access: str = "") -> str:
    """Return a ledger's record for the public registry of deployments, up to a tier, as YAML."""
    facts = facts_of(budget, data_source, access)
    escaped = {name: json.dumps(fact, ensure_ascii=False)[1:-1] for name, fact in facts.items()}
    limit = json.dumps({name: float(amount) for name, amount in budget.limit.items() if amount})
    lines = (line.rpartition(" # ")[::2] for line in data_text("label.yaml").splitlines())
    template = "\n".join(line for line, least in lines if int(least) <= tier)
    text = template.format(
        **escaped,
        tier=tier,
        # YAML reads a number like "1e-6" as text, but "1.0e-6" as a number.
        amounts=re.sub(r"(?<![.\d])(\d+)e", r"\1.0e", limit),
        slug=re.sub(r"\W+", "-", facts["title"].lower()).replace("_", "-"),
        year=facts["first"][:4],
    )
    return re.sub(r'.*_type: ""\n', "", text)  # fields that are not known
