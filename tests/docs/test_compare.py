"""The comparison of systems: its questions, its judge, its verdicts, and its page in a browser."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.compare import __main__ as command
from benchmarks.compare import page, worker, workloads

from ..support.browser import asked, chromium

HERE = Path(worker.__file__).parent
SYSTEMS = command.systems()
browser = chromium()


def parts(system):
    """The functions of a system, and the words in what it offers and does not."""
    tree = ast.parse((HERE / system / "system.py").read_text(encoding="utf-8"))
    functions = {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
    words = {}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            words[ast.unparse(target)] = ast.unparse(node.value)
    offers = words["OFFERS"].replace("*ROWS", words.get("ROWS", ""))
    return functions, offers, words["ABSENT"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_answers_each_question_or_says_why_not(system):
    functions, offers, absent = parts(system)
    assert (HERE / system / "requirements.txt").read_text().strip()
    for workload in workloads.WORKLOADS:
        assert (workload in functions) != (f"'{workload}'" in absent), workload
        assert (workload in functions) == (f"'{workload}'" in offers), workload


@pytest.mark.full
@pytest.mark.parametrize("workload", workloads.WORKLOADS)
def test_dpfast_answers_each_question(workload, tmp_path):
    relation = next(iter(workloads.WORKLOADS[workload].pairs))
    kept = tmp_path / "answers.npz"
    given = ("dpfast", workload, relation, "--rows", 2000, "--seconds", 0.2, "--runs", 2)
    arguments = command.command(Path(sys.executable), *given, "--answers", kept)
    made = subprocess.run(arguments, capture_output=True, text=True, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    found = json.loads(made.stdout.splitlines()[-1])
    assert found["warm"]["seconds"] > 0 and found["lines"] >= 1
    assert (workload == "noise") == ("errors" not in found)
    answers = np.load(kept)
    assert len(answers["x"]) == len(answers["x2"]) == found["answers"] / 2 > 0


@pytest.mark.parametrize(("share", "refuted"), [(0.5, True), (1.0, False)])
def test_the_judge_finds_half_of_the_noise_and_nothing_in_the_whole(share, refuted, tmp_path):
    rng = np.random.default_rng(1)
    p = 1 - np.exp(-1 / share)
    x, x2 = (at + rng.geometric(p, 20_000) - rng.geometric(p, 20_000) for at in (3, 2))
    np.savez(tmp_path / "answers.npz", x=x, x2=x2)
    found = command.audit(tmp_path / "answers.npz", workloads.WORKLOADS["count"])
    assert found["refuted"] == refuted
    assert (found["epsilon"] > 1) == refuted


def row(system, warm, error, runs=200, **more):
    spread = error / 10
    return {
        "system": system,
        "workload": "sum",
        "relation": "replace",
        "warm": {"seconds": warm, "best": warm, "calls": 3},
        "whole": 1.0,
        "memory": 1e8,
        "lines": 1,
        "error": {"mean": error, "se": spread, "runs": runs, "q50": 0, "q90": 0, "q99": 0},
        **more,
    }


def result(*rows):
    systems = {name: {"name": name.title(), "version": "1", "absent": {}} for name in SYSTEMS}
    titles = {
        name: {"title": one.title, "measure": "", "delta": 0}
        for name, one in workloads.WORKLOADS.items()
    }
    growth = [{"system": "dpfast", "relation": "replace", "rows": 1e3, "warm": {"seconds": 1e-3}}]
    return {
        "command": "run", "date": "today", "commit": "0", "machine": "one", "python": "3",
        "scale": 1e6, "error_rows": 100, "epsilon": 1, "seed": 1, "workloads": titles,
        "systems": systems, "rows": list(rows), "growth": growth,
    }  # fmt: skip


def test_verdicts_are_of_private_rivals_the_worst_first():
    made = page.verdicts(
        [row("dpfast", 2e-3, 1.0), row("opendp", 1e-3, 0.9), row("duckdb", 1e-6, 0)]
    )
    first = made[0]
    assert (first["column"], first["ratio"], first["best"]) == ("warm", 2, "opendp")
    assert [one["column"] for one in made if one["lost"]] == [
        "warm"
    ]  # the errors are not told apart
    clear = page.verdicts([row("dpfast", 1e-3, 2.0), row("opendp", 1e-3, 1.0)])
    assert [one["column"] for one in clear if one["lost"]] == ["error"]
    few = page.verdicts([row("dpfast", 1e-3, 2.0), row("opendp", 1e-3, 1.0, runs=5)])
    assert "error" not in [one["column"] for one in few]


@pytest.fixture
def shown(tmp_path):
    """A page of two systems, one of which is refuted and one of which fails elsewhere."""
    audit = {"epsilon": 2.5, "refuted": True, "witness": "an event", "samples": 2000}
    rows = [
        row("dpfast", 2e-3, 1.0, audit=audit | {"epsilon": 0.9, "refuted": False}),
        row("opendp", 1e-3, 1.0, audit=audit | {"differences": ["low bits"]}),
        {"system": "pydp", "workload": "sum", "relation": "add-remove", "failure": "</script> no"},
    ]
    path = tmp_path / "compare.json"
    path.write_text(json.dumps(result(*rows)), encoding="utf-8")
    page.write(path)
    return path.with_suffix(".html")


@pytest.mark.full
def test_a_page_and_a_picture_are_written_and_no_text_ends_the_script(shown):
    text = shown.read_text(encoding="utf-8")
    assert text.count("</script>") == 1 and "http://" not in text.replace("http://www.w3.org", "")
    assert shown.with_suffix(".png").stat().st_size > 5000


@pytest.mark.full
def test_the_page_sorts_filters_and_plots(shown, browser):
    asked(browser)
    browser.get(shown.as_uri())
    assert asked(browser) <= {"file"} and not browser.get_log("browser")

    def cells(table):
        script = """return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)]
            .map(r => [...r.cells].map(c => c.textContent))"""
        return browser.execute_script(script, table)

    assert cells("losses") == [["sum", "replace", "time of a warm call", "2", "Opendp"]]
    assert [line[2] for line in cells("all")] == ["Dpfast", "Opendp", "Pydp"]
    heads = browser.find_elements("css selector", "#all th button")
    heads[3].click()  # warm
    assert [line[3] for line in cells("all")] == ["1 ms", "2 ms", "</script> no"]
    browser.find_elements("css selector", "#all th button")[3].click()
    assert [line[3] for line in cells("all")] == ["2 ms", "1 ms", "</script> no"]
    assert (
        browser.find_elements("css selector", "#all th")[3].get_attribute("ariaSort")
        == "descending"
    )
    browser.execute_script(
        "const s = document.getElementById('system'); s.value = 'opendp'; s.onchange()"
    )
    assert [line[8:11] for line in cells("all")] == [["200", "2.50", "differs"]]
    assert len(browser.find_elements("css selector", "#plot circle")) == 2
    browser.execute_script(
        "const s = document.getElementById('column'); s.value = 'error'; s.onchange()"
    )
    titles = browser.find_elements("css selector", "#plot circle title")
    assert titles[1].get_attribute("textContent") == "Opendp: 1, 1 times dpfast"
    assert cells("growth") == [["Dpfast", "1 ms"]]
