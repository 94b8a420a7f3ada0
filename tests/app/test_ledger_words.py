"""A ledger in words: a report, the record for the public registry, the sheet of NIST SP 800-226."""

import json
import math
import re
import tempfile
from pathlib import Path

import pytest

import dpfast as dp
from dpfast.app import ledger_words
from dpfast.privacy import ZCDP, Approx, Pure

from ..support.crashes import MEMORY

SCHEMA = Path(__file__).parents[1] / "reference" / "registry" / "deployments-schema.yaml"
HOSTILE = 'größe \x1b[2J <b>{unit}\\n" # 2: \U0001f4a5'
RECORD = {
    "mechanism": "Laplace noise",
    "parameters": {"bounds": [0.0, 120.0], "nan": "drop"},
    "data": {"columns": ["age"], "where": None, "version": "June"},
    "noise": {"scale": 1 / 3},
    "error": {"confidence": 0.95, "half_width": 0.25, "ranks": None, "note": "of the noise"},
}
#: Choices of tier 2 that no ledger knows: a text of tier 3 says that they are open.
OPEN_CHOICES = {"data_source_type_details", "access_type_details"}
#: These choices, and one of tier 1 that is not asked for.
LEFT = {"data_source_type", "access_type", "data_product_sector"}
#: Budgets, and what is spent from each.
BUDGETS = {
    "nothing yet": ({"epsilon": 1}, ()),
    "rows": ({"epsilon": 1, "period": "month"}, [(Pure(0.5), None)]),
    "people": (
        {"epsilon": 2, "delta": 1e-6, "ids": "who", "max_rows": 3, "name": HOSTILE},
        [(Approx(0.5, 1e-7), "who"), (Pure(0.1), "who"), (Pure(0.1), "who")],
    ),
    "rho": ({"rho": 1e-5, "neighbors": "replace"}, [(ZCDP(1e-6), None)]),
}


@pytest.fixture(params=BUDGETS)
def budget(request):
    limit, spends = BUDGETS[request.param]
    folder = tempfile.TemporaryDirectory(dir=MEMORY)
    budget = dp.Budget(**limit, path=f"{folder.name}/study.db")
    relation = budget.neighbors or "add-remove"
    for loss, ids in spends:
        budget.spend(loss, neighbors=relation, ids=ids, what="mean", note=HOSTILE, record=RECORD)
    yield budget
    folder.cleanup()


def odds(budget):
    return {
        name: re.search(r"factor of at most ([e^\d.]*\d)", fact).group(1)
        for name, fact in ledger_words.facts_of(budget).items()
        if name.startswith("odds_")
    }


def test_the_record_passes_the_check_of_the_registry(budget):
    """Its schema, the form of its slugs, and quotes; also what PyYAML takes for numbers."""
    yaml, jsonschema = pytest.importorskip("yaml"), pytest.importorskip("jsonschema")
    schema = yaml.safe_load(SCHEMA.read_text("utf-8"))
    check = jsonschema.Draft7Validator(
        schema, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER
    )
    said = ledger_words.record(budget, 3, "dynamic", "interactive")
    assert list(check.iter_errors(yaml.safe_load(said))) == []
    for tier in (1, 2, 3):
        written = ledger_words.record(budget, tier)
        record = yaml.safe_load(written)
        assert list(check.iter_errors(record)) == [] and record["tier"] == tier
        styles = {
            token.style for token in yaml.scan(written) if isinstance(token, yaml.ScalarToken)
        }
        assert styles <= {None, '"'}
        basic = record["deployment"]["basic"]
        words = (basic["name"], "-".join(basic["data_curators"]), basic["publication_date"][:4])
        slug = "_".join(re.sub(r"\W+", "_", word.lower()) for word in words).replace("_", "-")
        assert record["url_slug"] == slug
        beyond = {name for name, least in fields(schema, record).items() if least > tier}
        assert beyond == (OPEN_CHOICES if tier == 2 else set())
    assert fields(schema).keys() - fields(schema, record).keys() == LEFT
    limit = {name: float(amount) for name, amount in budget.limit.items() if amount}
    assert record["deployment"]["privacy_loss"]["privacy_parameters"] == limit
    bad = json.loads(json.dumps(record))
    bad["deployment"]["basic"]["publication_date"] = "1.1.2026"
    assert list(check.iter_errors(bad))


def fields(schema, record=None):
    """The fields of a schema, or of a record of it, with the tiers that ask for them."""
    tiers = {}
    for name, node in schema["properties"].items():
        if record is None or name in record:
            if "tier" in node:
                tiers[name] = node["tier"]
            elif "properties" in node:
                tiers |= fields(node, None if record is None else record[name])
    return tiers


def test_odds_are_rounded_towards_less_promise():
    budget = dp.Budget(epsilon=2)
    budget.spend(Pure(1), neighbors="add-remove")
    assert odds(budget) == {"odds_so_far": "2.72", "odds_of_limit": "7.39"}  # e and e^2, up
    assert odds(dp.Budget(epsilon=800.001))["odds_of_limit"] == "e^800.01"
    budget = dp.Budget(rho=0.5)
    assert odds(budget)["odds_so_far"] == "1"
    epsilon = float(ZCDP(0.5).to_approx(1e-6).epsilon)
    assert odds(budget)["odds_of_limit"] == f"e^{math.ceil(epsilon * 100) / 100:g}"


def test_a_report_says_for_whom_and_what_is_left(budget):
    text, page = (ledger_words.report(budget, is_page) for is_page in (False, True))
    for heading in ("For whom the promise holds", "What is left", "What was released"):
        assert f"## {heading}\n" in text and f"<h2>{heading}</h2>" in page
    words = {"rows": "For a person with k rows", "people": "at most 3 rows"}.get(str(budget.unit))
    assert words is None or words in text
    assert ("for each month" in text) == (budget.period is not None)
    assert "is replaced by another" in text if budget.neighbors == "replace" else "without" in text
    if budget.history:
        assert "± 0.25 (95 %)" in text and "± 0.25 (95 %)" in page and "bounds=(0, 120)" in text
    assert "<main>\n<h1>" in page and page.endswith("</main>\n</body>\n</html>\n")
    if budget.name:
        assert "<b>" not in page and "\x1b" not in text + page and "{unit}" in text


def test_of_many_kinds_of_releases_the_most_frequent_are_listed():
    budget = dp.Budget(epsilon=99)
    for number in [*range(30), 29]:
        budget.spend(Pure(1), neighbors="replace", what=f"question {number}")
    listed = ledger_words.facts_of(budget)["releases"]
    assert "question 29 (2); question 0 (1)" in listed and listed.endswith("; and 10 more.")


def test_the_sheet_has_the_blocks_of_nist_and_says_what_is_open(budget):
    sheet = ledger_words.sheet(budget)
    blocks = re.findall(r"^## (.*)$", sheet, re.M)
    assert blocks == [
        "Privacy parameters", "Unit of privacy", "Algorithms and correctness", "Utility", "Bias",
        "Access control", "Trust models", "Side channels", "Data collection exposure",
    ]  # fmt: skip
    assert sheet.count("OPEN: ") == 7


@pytest.mark.parametrize("budget", ["people"], indirect=True)
def test_the_commands(shell, budget):
    path = budget.path
    assert shell("budget", "report", path)[:2] == (0, ledger_words.report(budget, False) + "\n")
    code, out, _ = shell("budget", "report", path, "--html")
    assert code == 0 and out.startswith("<!doctype html>")
    for tier, words in (3, ()), (1, ("--tier", 1)):
        assert shell("label", path, *words)[1] == ledger_words.record(budget, tier) + "\n"
    assert shell("label", path, "--sheet")[1] == ledger_words.sheet(budget) + "\n"
    chosen = ("--access", "non-interactive", "--data-source")
    code, out, _ = shell("label", path, *chosen, "static")
    assert code == 0 and 'data_source_type: "Static"\n' in out
    assert 'access_type: "Non-interactive"\n' in out
    assert "how often" not in out and "analysts ask" not in out  # so nothing of both is open
    code, out, _ = shell("label", path, "--sheet", *chosen, "dynamic")
    assert code == 0 and "OPEN: how often new data come in.\n" in out
    assert "Analysts do not ask for answers themselves." in out
    for bad in ("--tier", 4), ("--sheet", "--access", "sometimes"), ("--access", "sometimes"):
        assert shell("label", path, *bad)[0] == 2
